/* Whether pods of Kubernetes may be created, as a table; and what is added to them. */
#include "core/admission/admit_pod.h"

#include "codec/format/json.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "tests/admits.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 64 << 10 };

#define K                          " sched=kubernetes\n"
#define NODES                      GOOD
#define TRAIN_OF(posture, enforce) "pool train " posture " " enforce " golden" K NODES
#define IMAGES                                                                                     \
    "image r/good:1 nccl=2.28.9 cudnn=9.7.0 cuda=12.8\n"                                           \
    "image r/old:1 nccl=2.20.5 cudnn=9.7.0 cuda=12.8\n"
#define ON      TRAIN_OF("pre-training", "on") IMAGES
#define OBSERVE TRAIN_OF("pre-training", "observe") IMAGES
#define MORE(name, enforce, stack)                                                                 \
    "pool " name " pre-training " enforce " " stack K "nodes " name "1 " name "\nverdict v" name   \
    " " stack " driver=580 nccl=\nrun " name "1 v" name "\n"
#define SLURM "pool other pre-training on golden\nnodes o1 other\n"

#define GPU      "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}"
#define C(image) "{\"name\":\"c\",\"image\":\"" image "\"," GPU "}"
#define POD_OF(meta, containers, spec)                                                             \
    "{\"metadata\":{\"name\":\"p\"" meta "},\"spec\":{\"containers\":[" containers "]" spec "}}"
#define POD(spec)     POD_OF("", C("r/good:1"), spec)
#define ON_NODE(name) ",\"nodeName\":\"" name "\""
#define SELECT(k, v)  ",\"nodeSelector\":{\"" k "\":\"" v "\"}"
#define HOSTS(list)                                                                                \
    ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"kubernetes.io/hostname\","           \
    "\"operator\":\"In\",\"values\":[" list "]}]}]}}}"
#define NOTE(name) ",\"annotations\":{\"lockstep.dev/pool\":\"" name "\"}"
#define OLD(verb)                                                                                  \
    verb " image r/old:1 in train: brings NCCL 2.20.5 (catalogue sbom), pinned 2.28.9\n"

static const struct {
    const char *name, *fleet, *pod;
    lks_ms behind;
    const char *answer;
} rows[] = {
    {"as it should be", ON, POD(""), 0, "yes enforces train\n"},
    {"no GPU", ON, POD_OF("", "{\"name\":\"c\",\"image\":\"r/old:1\"}", ""), 0, "no concern\n"},
    {"of a DaemonSet", ON,
     POD_OF(",\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"controller\":true}]", C("r/old:1"),
            ""),
     0, "no concern\n"},
    {"no pool of Kubernetes", SLURM, POD(""), 0, "no concern\n"},
    {"a pool of Slurm beside it", ON SLURM, POD(""), 0, "yes enforces train\n"},
    {"another NCCL", ON, POD_OF("", C("r/old:1"), ""), 0,
     "no enforces train\n" OLD("refused image")},
    {"another NCCL, observed", OBSERVE, POD_OF("", C("r/old:1"), ""), 0,
     "yes train\n" OLD("warned image")},
    {"an image that is not known", ON, POD_OF("", C("r/x:1"), ""), 0,
     "no enforces train\nrefused image image r/x:1 in train: what it brings is not known: it is "
     "not "
     "in the catalogue (lockstep image add) nor in NVIDIA's tables\n"},
    {"a sidecar may bring anything", ON,
     POD_OF("", C("r/good:1") ",{\"name\":\"s\",\"image\":\"r/old:1\"}", ""), 0,
     "yes enforces train\n"},
    {"a name of an image that is none", ON, POD_OF("", C("a\\u0007"), ""), 0,
     "yes enforces train\n"},
    {"a node", ON, POD(ON_NODE("g1")), 0, "yes enforces train\n"},
    {"a node on hold", ON "hold g1\n", POD(ON_NODE("g1")), 0,
     "no enforces train\nrefused held g1 in train: held by kim: fan\n"},
    {"another node is on hold", ON "hold g2\n", POD(ON_NODE("g1")), 0, "yes enforces train\n"},
    {"no node is named, and one is on hold", ON "hold g1\n", POD(""), 0, "yes enforces train\n"},
    {"a node on hold, observed", OBSERVE "hold g1\n", POD(SELECT("kubernetes.io/hostname", "g1")),
     0, "yes train\nwarned held g1 in train: held by kim: fan\n"},
    {"one of two is on hold", ON "hold g1\n", POD(HOSTS("\"g1\",\"g2\"")), 0,
     "yes enforces train\n"},
    {"both are on hold", ON "hold g1\nhold g2\n", POD(HOSTS("\"g1\",\"g2\"")), 0,
     "no enforces train\nrefused held g1 in train: held by kim: fan\n"
     "refused held g2 in train: held by kim: fan\n"},
    {"a node that the fleet does not have", ON, POD(ON_NODE("x1")), 0, "no concern\n"},
    {"a node of Slurm", ON SLURM, POD(ON_NODE("o1")), 0, "no concern\n"},
    {"an override of a person", ON "hold g1\noverride ml/p g1 60000\n", POD(ON_NODE("g1")), 0,
     "yes enforces train\nwarned held g1 in train: held by kim: fan\n"},
    {"a digest that no stack has", ON, POD(SELECT("lockstep.dev/digest", "0123456789ab")), 0,
     "no enforces train\nrefused stack: no stack of the fleet has the digest '0123456789ab' that "
     "the pod selects by lockstep.dev/digest; a label has the first 12 digits\n"},
    {"that, observed", OBSERVE, POD(SELECT("lockstep.dev/digest", "lks-0123456789abcdef")), 0,
     "yes train\nwarned stack: no stack of the fleet has the digest 'lks-012345678' that the pod "
     "selects by lockstep.dev/digest; a label has the first 12 digits\n"},
    {"the digest of its stack", ON, POD(SELECT("lockstep.dev/digest", "@golden")), 0,
     "yes enforces train\n"},
    {"the digest of a published stack that comes later", ON "publish lax\n",
     POD(SELECT("lockstep.dev/digest", "@lax")), 0, "yes enforces train\n"},
    {"a node that a change brings to the digest", ON "changing g2 lax\n",
     POD(SELECT("lockstep.dev/digest", "@lax")), 0, "yes enforces train\n"},
    {"another stack than the node's", ON,
     POD(",\"nodeName\":\"g1\",\"nodeSelector\":{\"lockstep.dev/digest\":\"0123456789ab\"}"), 0,
     "no enforces train\nrefused stack g1 in train: its stack is 'golden' (sha256:*)\n"},
    {"the only pool with the digest", ON MORE("b", "observe", "lax"),
     POD(SELECT("lockstep.dev/digest", "@lax")), 0, "yes b\n"},
    {"two pools, one that enforces", ON MORE("b", "observe", "golden"),
     POD_OF("", C("r/old:1"), ""), 0,
     "yes several\nwarned image image r/old:1 in b: brings NCCL 2.20.5 (catalogue sbom), pinned "
     "2.28.9\n"},
    {"two pools that enforce", ON MORE("b", "on", "golden"), POD_OF("", C("r/old:1"), ""), 0,
     "no enforces\n" OLD("refused image") "refused image image r/old:1 in b: brings NCCL 2.20.5 "
                                          "(catalogue sbom), pinned 2.28.9\n"},
    {"two pools, one of which takes it", ON MORE("b", "on", "bare"), POD_OF("", C("r/old:1"), ""),
     0, "yes enforces\n"},
    {"two pools, and it names one", ON MORE("b", "observe", "golden"),
     POD_OF(NOTE("train"), C("r/old:1"), ""), 0, "no enforces train\n" OLD("refused image")},
    {"by a selector", ON MORE("b", "observe", "golden"), POD(SELECT("lockstep.dev/pool", "b")), 0,
     "yes b\n"},
    {"it names no pool", ON, POD_OF(NOTE("trian"), C("r/good:1"), ""), 0,
     "yes enforces unknown train\n"},
    {"it names a pool of Slurm", ON SLURM, POD_OF(NOTE("other"), C("r/good:1"), ""), 0,
     "yes enforces unknown train\n"},
    {"a controller that is behind", ON, POD(""), 60000,
     "no enforces train\nrefused behind: this controller's knowledge may be 60000 ms old, and 5000 "
     "ms is the limit\n"},
    {"a controller that is behind, observed", OBSERVE, POD(""), 60000,
     "yes train\nwarned behind: this controller's knowledge may be 60000 ms old, and 5000 ms is "
     "the limit\n"},
};

/* "@STACK" becomes the short digest of it; the rest stays. */
static void write_pod(const struct lks_jobs *j, const char *text, struct lks_buf *out)
{
    struct lks_str head, name, rest;
    char digest[LKS_DIGEST_SIZE];
    bool any = lks_str_cut(lks_str_from(text), '@', &head, &rest);
    lks_buf_add(out, head);
    if (!any)
        return;
    (void)lks_str_cut(rest, '"', &name, &rest);
    lks_jobs_digest(j, name, digest);
    lks_buf_addf(out, "%.12s\"%" LKS_STR_FMT, digest + strlen("sha256:"), LKS_STR_ARG(rest));
}

/* A pod of a row, in `docs`. */
static bool read_pod(const struct lks_jobs *j, const char *text, struct lks_docs *docs,
                     struct lks_pod *pod)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    write_pod(j, text, &bytes);
    return CHECK_CODE(lks_docs_init(docs, "pod", &err), LKS_OK) &&
           CHECK_CODE(lks_json_parse(lks_buf_view(&bytes), docs, &err), LKS_OK) &&
           CHECK_CODE(lks_pod_read(docs, docs->first, pod, &err), LKS_OK);
}

/* A digest as "sha256:*": what it is is for other tests. */
static void add_masked(struct lks_buf *out, struct lks_str text)
{
    ptrdiff_t at = lks_str_find(text, LKS_STR("sha256:"));
    size_t end = at < 0 ? text.len : (size_t)at + strlen("sha256:");
    lks_buf_add(out, (struct lks_str){text.ptr, end});
    if (at >= 0)
        lks_buf_addf(out, "*%" LKS_STR_FMT, (int)(text.len - end - 64), text.ptr + end + 64);
}

static void tell_list(struct lks_buf *out, const char *word, const struct lks_admit_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_admit_no *no = &list->items[i];
        lks_buf_addf(out, "%s %s", word, lks_bar_words[no->bar]);
        if (no->image.len > 0)
            lks_buf_addf(out, " image %" LKS_STR_FMT, LKS_STR_ARG(no->image));
        if (no->node.len > 0)
            lks_buf_addf(out, " %" LKS_STR_FMT, LKS_STR_ARG(no->node));
        if (no->pool.len > 0)
            lks_buf_addf(out, " in %" LKS_STR_FMT, LKS_STR_ARG(no->pool));
        lks_buf_add(out, LKS_STR(": "));
        add_masked(out, no->text);
        lks_buf_addc(out, '\n');
    }
}

static void tell(const struct lks_state *s, const struct lks_admit_pod *a, struct lks_buf *out)
{
    if (!a->concerns) {
        lks_buf_add(out, LKS_STR("no concern\n"));
        return;
    }
    lks_buf_addf(out, "%s%s%s%s", a->answer.yes ? "yes" : "no", a->enforces ? " enforces" : "",
                 a->several ? " several" : "", a->unknown_pool ? " unknown" : "");
    if (a->pool < s->pool_count)
        lks_buf_addf(out, " %" LKS_STR_FMT, LKS_STR_ARG(lks_state_text(s, s->pools[a->pool].name)));
    lks_buf_addc(out, '\n');
    tell_list(out, "refused", &a->answer.refused);
    tell_list(out, "warned", &a->answer.warned);
}

static void check_row(struct lks_jobs *j, size_t i)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    struct lks_pod pod;
    const struct lks_admit_pod_ask ask = {&pod, LKS_STR("ml"), LKS_STR("kim"), rows[i].behind};
    struct lks_book book = lks_jobs_book(j);
    if (!read_pod(j, rows[i].pod, &docs, &pod) ||
        !CHECK_CODE(lks_admit_pod(&j->asked.state, &book, j->asked.now, &ask, &a, &err), LKS_OK))
        return;
    tell(&j->asked.state, &a, &out);
    CHECK_STR(lks_buf_view(&out), rows[i].answer);
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_jobs j;
        lks_test_case("%s", rows[i].name);
        lks_jobs_init(&j, lks_admits_stacks);
        lks_jobs_tell(&j, rows[i].fleet);
        check_row(&j, i);
        lks_jobs_fini(&j);
    }
}

/* A longer name is cut, and never within a character. */
#define TEN "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"

/* Who is counted: of pods that controllers make it is the namespace. */
static void test_names(void)
{
    static const struct {
        const char *user, *labels, *job, *counted;
    } names[] = {
        {"kim", "", "ml/p", "kim"},
        {"system:serviceaccount:kube-system:job-controller",
         ",\"labels\":{\"ray.io/cluster\":\"r\"}", "ml/r", "namespace/ml"},
        {"system:serviceaccount:ml:runner", "", "ml/p", "system:serviceaccount:ml:runner"},
        {"a" TEN TEN TEN TEN, "", "ml/p", "a" TEN TEN TEN "\xc3\xa9"},
    };
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
        char text[1024];
        struct lks_err err = {0};
        struct lks_jobs j;
        struct lks_pod pod;
        lks_test_case("%s", names[i].user);
        lks_jobs_init(&j, lks_admits_stacks);
        lks_jobs_tell(&j, ON);
        struct lks_book book = lks_jobs_book(&j);
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"p\"%s},\"spec\":{\"containers\":[%s]}}",
                 names[i].labels, C("r/good:1"));
        const struct lks_admit_pod_ask ask = {&pod, LKS_STR("ml"), lks_str_from(names[i].user), 0};
        if (read_pod(&j, text, &docs, &pod) &&
            CHECK_CODE(lks_admit_pod(&j.asked.state, &book, j.asked.now, &ask, &a, &err), LKS_OK)) {
            CHECK_STR(a.job, names[i].job);
            CHECK_STR(a.user, names[i].counted);
        }
        lks_jobs_fini(&j);
    }
}

/* Images are looked up in bounded time, and what is not looked up is not admitted. */
static void test_images(void)
{
    static const struct {
        size_t count;
        int width; /* of the number in a name */
        bool more;
    } pods[] = {{LKS_ADMIT_POD_IMAGES_MAX, 1, false},
                {LKS_ADMIT_POD_IMAGES_MAX + 1, 1, true},
                {1, LKS_ADMIT_REF_MAX - 5, false},
                {1, LKS_ADMIT_REF_MAX - 4, true}};
    for (size_t row = 0; row < LKS_COUNT(pods); row++) {
        size_t count = pods[row].count;
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        struct lks_jobs j;
        struct lks_pod pod;
        lks_test_case("%zu images, %d digits", count, pods[row].width);
        lks_jobs_init(&j, lks_admits_stacks);
        lks_jobs_tell(&j, ON);
        struct lks_book book = lks_jobs_book(&j);
        const struct lks_admit_pod_ask ask = {&pod, LKS_STR("ml"), LKS_STR("kim"), 0};
        lks_buf_addf(&text, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[");
        for (size_t i = 0; i < count; i++)
            lks_buf_addf(&text, "%s{\"name\":\"c\",\"image\":\"r/i%0*zu:1\"," GPU "}",
                         i > 0 ? "," : "", pods[row].width, i);
        lks_buf_addf(&text, "]}}");
        if (read_pod(&j, text.ptr, &docs, &pod) &&
            CHECK_CODE(lks_admit_pod(&j.asked.state, &book, j.asked.now, &ask, &a, &err), LKS_OK)) {
            tell(&j.asked.state, &a, &out);
            CHECK(a.image_count <= LKS_ADMIT_POD_IMAGES_MAX);
            CHECK(!a.answer.yes);
            CHECK_INT(lks_str_find(lks_buf_view(&out), LKS_STR("more than 16 different")) >= 0,
                      pods[row].more);
        }
        lks_jobs_fini(&j);
    }
}

/* What is added, by whether the pool enforces and what the pod is. */
static const struct {
    const char *name, *fleet, *pod, *has, *lacks;
} added[] = {
    {"a pool that enforces", ON, POD(""), "lockstep.dev/verdict", "podAffinity"},
    {"a gang there", ON, POD_OF(",\"labels\":{\"ray.io/cluster\":\"r\"}", C("r/good:1"), ""),
     "podAffinity", "LD_"},
    {"a pool that observes", OBSERVE, POD(""), NULL, NULL},
    {"no GPU", ON, POD_OF("", "{\"name\":\"c\"}", ""), NULL, NULL},
    {"a pod that has its node already", ON, POD(ON_NODE("g1")), NULL, NULL},
    {"pools that do not all enforce", ON MORE("b", "warn", "golden"), POD(""), NULL, NULL},
};

static void test_added(void)
{
    for (size_t i = 0; i < LKS_COUNT(added); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_admit_pod_fini) struct lks_admit_pod a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        struct lks_jobs j;
        struct lks_pod pod;
        lks_test_case("%s", added[i].name);
        lks_jobs_init(&j, lks_admits_stacks);
        lks_jobs_tell(&j, added[i].fleet);
        struct lks_book book = lks_jobs_book(&j);
        const struct lks_admit_pod_ask ask = {&pod, LKS_STR("ml"), LKS_STR("kim"), 0};
        if (read_pod(&j, added[i].pod, &docs, &pod) &&
            CHECK_CODE(lks_admit_pod(&j.asked.state, &book, j.asked.now, &ask, &a, &err), LKS_OK) &&
            CHECK_CODE(lks_admit_pod_patch(&j.asked.state, &book, &a, &pod, &out, &err), LKS_OK)) {
            CHECK((out.len > 0) == (added[i].has != NULL));
            if (added[i].has != NULL) {
                CHECK_HAS(lks_buf_view(&out), added[i].has);
                CHECK(lks_str_find(lks_buf_view(&out), lks_str_from(added[i].lacks)) < 0);
            }
        }
        lks_jobs_fini(&j);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"whether pods may be created", test_rows},
        {"who is counted", test_names},
        {"many images", test_images},
        {"what is added", test_added},
        {0},
    });
}
