/*
 * A review of any API server. What was accepted is within the limits, and its answer is JSON. What
 * is added to its pod applies, and a second time there is nothing to add.
 */
#include "codec/kubernetes/review.h"

#include "codec/format/json.h"
#include "codec/kubernetes/pod_patch.h"
#include "tests/patches.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(struct lks_docs *docs, struct lks_str text)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(docs, "made", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(text, docs, &err) == LKS_OK);
}

static void check_answer(const struct lks_review *r, struct lks_str patch)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF((size_t)16 << 20);
    const struct lks_review_answer a = {
        .uid = r->uid,
        .allowed = patch.len > 0,
        .message = r->pod.containers[0].image,
        .warnings = {r->pod.containers[0].image, r->user},
        .warning_count = 2,
        .patch = patch,
    };
    lks_review_answer(&a, &out);
    parse(&docs, lks_buf_view(&out));
    LKS_ASSERT(lks_str_eq(lks_doc_text(lks_doc_member(docs.first, "response"), "uid"), r->uid));
}

static void check_patch(struct lks_review *r)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs env = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs patch = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_POD_PATCH_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_POD_PATCH_MAX);
    struct lks_err err = {0};
    struct lks_pod pod;
    parse(&env, LKS_STR("{\"NCCL_A\":\"$(x)\",\"NCCL_B\":\"1\"}"));
    const struct lks_pod_patch want = {true, true, env.first};
    if (lks_pod_patch_write(&r->pod, &want, &out, &err) != LKS_OK)
        return;
    check_answer(r, lks_buf_view(&out));
    if (out.len == 0)
        return;
    parse(&patch, lks_buf_view(&out));
    struct lks_doc *object =
        (struct lks_doc *)lks_doc_member(lks_doc_member(r->docs.first, "request"), "object");
    LKS_ASSERT(lks_patches_apply(object, &patch));
    LKS_ASSERT(lks_pod_read(&r->docs, object, &pod, &err) == LKS_OK);
    LKS_ASSERT(lks_pod_patch_write(&pod, &want, &again, &err) == LKS_OK && again.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_review_fini) struct lks_review r = {0};
    struct lks_pod_choice choice;
    struct lks_err err = {0};
    if (lks_review_parse((struct lks_str){(const char *)data, size}, &r, &err) != LKS_OK)
        return 0;
    LKS_ASSERT(r.uid.len > 0 && r.space.len > 0 && r.user.len > 0);
    LKS_ASSERT(lks_str_printable(r.uid) && lks_str_printable(r.user) && lks_str_printable(r.space));
    LKS_ASSERT(r.pod.container_count > 0 && r.pod.container_count <= LKS_POD_CONTAINERS_MAX);
    (void)lks_pod_choose_nodes(&r.pod, &choice);
    LKS_ASSERT(choice.count <= LKS_POD_CHOICES_MAX);
    check_patch(&r);
    return 0;
}
