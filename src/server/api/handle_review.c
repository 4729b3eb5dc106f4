/* Webhooks of Kubernetes: what is added to a pod, and whether it may be created. */
#include "codec/kubernetes/pod_patch.h"
#include "codec/kubernetes/review.h"
#include "core/admission/admit_pod.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/base/daemon.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL_SHOWN = 63 }; /* bytes of a name that is no pool */

#define MESSAGE_ROOM ((size_t)2 * LKS_REVIEW_MESSAGE_MAX)

/* In the thread pool: a pod may have megabytes. --------------------------------------------------
 */

static void drop_review(void *memory)
{
    lks_review_fini(memory);
    free(memory);
}

void lks_handle_review_prepare(struct lks_call *call)
{
    struct lks_review *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        (void)!lks_fail_nomem(&call->failed);
        return;
    }
    call->memory = r;
    call->drop = drop_review;
    call->failed.code = lks_review_parse(lks_buf_view(&call->bytes), r, &call->failed);
}

/* Texts ------------------------------------------------------------------------------------------
 */

/* "node gpu1: drift: ..." */
static void add_reason(struct lks_buf *out, const struct lks_admit_no *no)
{
    struct lks_str of = no->node.len > 0 ? no->node : no->image;
    if (of.len > 0)
        lks_buf_addf(out, "%s %" LKS_STR_FMT ": ", no->node.len > 0 ? "node" : "image",
                     LKS_STR_ARG(of));
    lks_buf_addf(out, "%s: %" LKS_STR_FMT, lks_bar_words[no->bar], LKS_STR_ARG(no->text));
}

/* "pool train: ", where it is one. */
static void add_pool(struct lks_buf *out, const struct lks_admit_pod *a)
{
    if (a->pool_name.len > 0)
        lks_buf_addf(out, "pool %" LKS_STR_FMT ": ", LKS_STR_ARG(a->pool_name));
}

static void write_message(const struct lks_admit_pod *a, struct lks_buf *out)
{
    const struct lks_admit_list *no = &a->answer.refused;
    lks_buf_add(out, LKS_STR("lockstep does not admit this pod: "));
    add_pool(out, a);
    for (size_t i = 0; i < no->count && out->len < LKS_REVIEW_MESSAGE_MAX / 2; i++) {
        if (i > 0)
            lks_buf_add(out, LKS_STR("; "));
        add_reason(out, &no->items[i]);
    }
    if (no->total > 1)
        lks_buf_addf(out, " (%llu reasons)", (unsigned long long)no->total);
}

/* Warnings of one answer: as many as kubectl can show. */
struct warnings {
    struct lks_buf texts[LKS_REVIEW_WARNINGS_MAX];
    size_t count;
};

static struct lks_buf *next_warning(struct warnings *w)
{
    if (w->count == LKS_REVIEW_WARNINGS_MAX)
        return NULL;
    struct lks_buf *out = &w->texts[w->count++];
    lks_buf_init(out, LKS_REVIEW_MESSAGE_MAX);
    lks_buf_add(out, LKS_STR("lockstep: "));
    return out;
}

static void fini_warnings(struct warnings *w)
{
    for (size_t i = 0; i < w->count; i++)
        lks_buf_fini(&w->texts[i]);
}

static void warn_of_pools(const struct lks_admit_pod *a, const struct lks_pod *pod,
                          struct warnings *w)
{
    struct lks_str pool = lks_pod_annotation(pod, LKS_POD_POOL);
    struct lks_buf *out = a->unknown_pool || a->several ? next_warning(w) : NULL;
    pool.len = pool.len < POOL_SHOWN ? pool.len : POOL_SHOWN;
    if (out != NULL && a->unknown_pool)
        lks_buf_addf(out, LKS_POD_POOL " '%" LKS_STR_FMT "' is no pool with sched: kubernetes",
                     LKS_STR_ARG(pool));
    else if (out != NULL)
        lks_buf_add(out, LKS_STR("several pools can take this pod, and not all enforce: name its "
                                 "pool in the annotation " LKS_POD_POOL));
}

static void warn_of_reasons(const struct lks_admit_pod *a, struct warnings *w)
{
    const struct lks_admit_list *no = &a->answer.warned;
    for (size_t i = 0; i < no->count && w->count < LKS_REVIEW_WARNINGS_MAX; i++) {
        struct lks_buf *out = next_warning(w);
        if (!a->enforces)
            lks_buf_add(out, LKS_STR("would refuse this pod if it enforced: "));
        add_pool(out, a);
        add_reason(out, &no->items[i]);
    }
}

static void warn_of_env(const struct lks_authz *authz, const struct lks_admit_pod *a,
                        const struct lks_pod *pod, struct warnings *w)
{
    const struct lks_pod_container *c;
    size_t at = 0;
    while ((c = lks_admit_pod_unset(authz->state, lks_engine_book(authz->engine), a, pod, &at)) !=
           NULL) {
        struct lks_buf *out = next_warning(w);
        if (out == NULL)
            return;
        lks_buf_addf(out,
                     "container '%" LKS_STR_FMT "' has envFrom, so the environment of the stack is "
                     "not added: set its NCCL variables in env",
                     LKS_STR_ARG(c->name));
    }
}

/* Answers ----------------------------------------------------------------------------------------
 */

/* False: it is answered with a problem, and the failure policy of the webhook decides. */
static bool ask(struct lks_authz *authz, struct lks_call *call, struct lks_admit_pod *out)
{
    const struct lks_review *r = call->memory;
    const struct lks_admit_pod_ask about = {
        .pod = &r->pod, .space = r->space, .user = r->user, .behind = authz->behind};
    struct lks_err err = {0};
    if (lks_admit_pod(authz->state, lks_engine_book(authz->engine),
                      lks_engine_now(authz->engine, authz->now), &about, out, &err) == LKS_OK)
        return true;
    lks_call_problem_err(call, &err);
    return false;
}

static void answer(struct lks_call *call, const struct lks_review_answer *a,
                   const struct warnings *w)
{
    struct lks_review_answer with = *a;
    with.uid = ((const struct lks_review *)call->memory)->uid;
    for (; with.warning_count < w->count; with.warning_count++)
        with.warnings[with.warning_count] = lks_buf_view(&w->texts[with.warning_count]);
    lks_buf_truncate(&call->out, 0);
    call->status = 200;
    call->type = "application/json";
    lks_review_answer(&with, &call->out);
}

static void note(struct lks_authz *authz, enum lks_webhook of, enum lks_reviewed how,
                 uint64_t began)
{
    authz->metrics.reviews[of][how]++;
    lks_metrics_histogram_add(&authz->metrics.review, (uv_hrtime() - began) / 1000);
}

/* What refuses nothing and adds nothing rests on no row: it does not wait for the store. */
static void release(struct lks_call *call, const struct lks_admit_pod *a)
{
    if (!a->concerns || !a->enforces)
        call->needs = 0;
}

void lks_handle_review_validate(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
    LKS_CLEANUP(fini_warnings) struct warnings w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf message = LKS_BUF(MESSAGE_ROOM);
    const struct lks_review *r = call->memory;
    uint64_t began = uv_hrtime();
    if (!ask(authz, call, &a))
        return;
    release(call, &a);
    if (a.concerns && !r->dry_run)
        lks_handle_admit_count(
            authz, &(struct lks_authz_asked){a.job, a.user, a.images, a.image_count}, &a.answer);
    if (!a.answer.yes)
        write_message(&a, &message);
    warn_of_pools(&a, &r->pod, &w);
    warn_of_reasons(&a, &w);
    answer(call,
           &(struct lks_review_answer){.allowed = a.answer.yes, .message = lks_buf_view(&message)},
           &w);
    note(authz, LKS_WEBHOOK_VALIDATE,
         !a.answer.yes ? LKS_REVIEWED_REFUSED
         : w.count > 0 ? LKS_REVIEWED_WARNED
                       : LKS_REVIEWED_ALLOWED,
         began);
}

void lks_handle_review_mutate(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
    LKS_CLEANUP(fini_warnings) struct warnings w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf patch = LKS_BUF(LKS_POD_PATCH_MAX);
    const struct lks_review *r = call->memory;
    struct lks_err err = {0};
    uint64_t began = uv_hrtime();
    if (!ask(authz, call, &a))
        return;
    release(call, &a);
    if (lks_admit_pod_patch(authz->state, lks_engine_book(authz->engine), &a, &r->pod, &patch,
                            &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    warn_of_env(authz, &a, &r->pod, &w);
    answer(call, &(struct lks_review_answer){.allowed = true, .patch = lks_buf_view(&patch)}, &w);
    note(authz, LKS_WEBHOOK_MUTATE, patch.len > 0 ? LKS_REVIEWED_PATCHED : LKS_REVIEWED_ALLOWED,
         began);
}
