/* What agents see in the layers of images, and what the catalogue makes of it. */
#include "core/registry/images.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\npools: {dev: {posture: dev}}\n"                            \
    "nodes: [{hosts: 'n[1-3]', pool: dev, class: hgx-h200-8}]\n"

static void make(struct lks_asked *a)
{
    lks_asked_init(a);
    (void)lks_asked_fleet(a, FLEET, NULL);
    const struct lks_record person = {.kind = LKS_RECORD_IMAGE,
                                      .image = {.ref = LKS_STR("r.io/ours:1"),
                                                .nccl = LKS_STR("2.20.5"),
                                                .source = LKS_STR("sbom"),
                                                .by = LKS_STR("kim")}};
    lks_asked_apply(a, &person);
}

/* The lines about images of what a report is answered with. */
static void report(struct lks_asked *a, const char *node, const char *lines, struct lks_buf *out)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple(lines, &t);
    t.node = lks_str_from(node);
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(a, node),
                                    .tuple = {.tuple = &t, .report = LKS_STR("r")}};
    struct lks_str rest = lks_asked(a, &event), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "image") || lks_str_starts(line, "refused"))
            lks_buf_addf(out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
}

#define X(lib, version) "image." lib "@r.io/x:1=" version "\n"
#define LISTED(rest)    "image ref=r.io/x:1 " rest "\n"
#define DIFFER(node)    LISTED("source=layers, nodes differ by=node:" node)
#define ONE             LISTED("nccl=2.28.9 source=layers by=node:n1")

static const struct {
    const char *name;
    const char *reports[3][2]; /* a node, and what it reads */
    const char *listed;        /* by all reports */
    const char *known;         /* r.io/x:1 afterwards */
} cases[] = {
    {"an image nobody listed",
     {{"n1", "image.nccl@r.io/x:1#" D1 "=2.28.9\nimage.cudnn@r.io/x:1#" D1
             "=9.7.0\nimage.cuda@r.io/x:1#" D1 "=12.8\n"}},
     LISTED("digest=" D1 " nccl=2.28.9 cudnn=9.7.0 cuda=12.8 source=layers by=node:n1"),
     "2.28.9 of layers node:n1"},
    {"AMD's",
     {{"n1", X("rccl", "2.27.7")}},
     LISTED("rccl=2.27.7 source=layers by=node:n1"),
     " of layers node:n1"},
    {"said twice",
     {{"n1", X("nccl", "2.28.9")}, {"n1", X("nccl", "2.28.9")}},
     ONE,
     "2.28.9 of layers node:n1"},
    {"a second node agrees, and a third",
     {{"n1", X("nccl", "2.28.9")}, {"n2", X("nccl", "2.28.9")}, {"n3", X("nccl", "2.28.9")}},
     ONE LISTED("nccl=2.28.9 source=layers by=nodes"),
     "2.28.9 of layers nodes"},
    {"a second node differs",
     {{"n1", X("nccl", "2.28.9")}, {"n2", X("nccl", "2.27.3")}, {"n1", X("nccl", "2.28.9")}},
     ONE DIFFER("n2"),
     "unknown: layers, nodes differ"},
    {"a second node has none",
     {{"n1", X("nccl", "2.28.9")}, {"n2", X("cuda", "12.8")}},
     ONE DIFFER("n2"),
     "unknown: layers, nodes differ"},
    {"the only node pulls it anew",
     {{"n1", X("nccl", "2.28.9")}, {"n1", X("nccl", "2.27.3")}},
     ONE LISTED("nccl=2.27.3 source=layers by=node:n1"),
     "2.27.3 of layers node:n1"},
    {"one of several pulls it anew",
     {{"n1", X("nccl", "2.28.9")}, {"n2", X("nccl", "2.28.9")}, {"n1", X("nccl", "2.27.3")}},
     ONE LISTED("nccl=2.28.9 source=layers by=nodes") DIFFER("n1"),
     "unknown: layers, nodes differ"},
    {"a second node could not read all",
     {{"n1", X("nccl", "2.28.9") X("cuda", "12.8")},
      {"n2", X("cuda", "12.8") "image.nccl@r.io/x:1?not read\n"}},
     LISTED("nccl=2.28.9 cuda=12.8 source=layers by=node:n1")
         LISTED("nccl=2.28.9 cuda=12.8 source=layers by=nodes"),
     "2.28.9 of layers nodes"},
    {"a second node could read more",
     {{"n1", X("cuda", "12.8") "image.nccl@r.io/x:1?not read\n"},
      {"n2", X("nccl", "2.28.9") X("cuda", "12.8")}},
     LISTED("cuda=12.8 source=layers by=node:n1")
         LISTED("nccl=2.28.9 cuda=12.8 source=layers by=nodes"),
     "2.28.9 of layers nodes"},
    {"two stores of a node differ",
     {{"n1", "image.nccl@r.io/x:1#" D1 "=2.28.9\nimage.nccl@r.io/x:1=2.27.3\n"}},
     DIFFER("n1"),
     "unknown: layers, nodes differ"},
    {"nothing could be read", {{"n1", "image.nccl@r.io/x:1?not read\n"}}, "", "unknown: "},
    {"no version", {{"n1", X("nccl", "new")}}, "", "unknown: "},
    {"no reference", {{"n1", "image.nccl@r.io/x 1=2.28.9\n"}}, "", "unknown: "},
    {"a command for a shell", {{"n1", "image.nccl@r.io/x$(id)=2.28.9\n"}}, "", "unknown: "},
    {"an option", {{"n1", "image.nccl@--server=2.28.9\n"}}, "", "unknown: "},
    {"every character of references",
     {{"n1", "image.nccl@[fd00::1]:5000/A-b_c/d+e:1.0=2.28.9\n"}},
     "image ref=[fd00::1]:5000/A-b_c/d+e:1.0 nccl=2.28.9 source=layers by=node:n1\n",
     "unknown: "},
    {"what a person listed stays", {{"n1", "image.nccl@r.io/ours:1=2.28.9\n"}}, "", "unknown: "},
    {"and so it does for two nodes",
     {{"n1", "image.nccl@r.io/ours:1=2.28.9\n"}, {"n2", "image.nccl@r.io/ours:1=2.27.3\n"}},
     "",
     "unknown: "},
    {"other readings", {{"n1", "copy.nccl@r.io/x:1#container=2.28.9\n"}}, "", "unknown: "},
};

static void check_known(const struct lks_asked *a, const char *ref, const char *want)
{
    struct lks_image_found f;
    char text[256];
    lks_image_find(&a->state, lks_test_facts(), lks_str_from(ref), &f);
    if (f.known)
        snprintf(text, sizeof(text), "%.*s of %.*s %.*s", LKS_STR_ARG(f.nccl),
                 LKS_STR_ARG(f.source), LKS_STR_ARG(f.detail));
    else
        snprintf(text, sizeof(text), "unknown: %.*s", LKS_STR_ARG(f.source));
    CHECK_STR(lks_str_from(text), want);
}

static void test_seen(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(64 << 10);
        lks_test_case("%s", cases[i].name);
        make(&a);
        for (size_t k = 0; k < 3 && cases[i].reports[k][0] != NULL; k++)
            report(&a, cases[i].reports[k][0], cases[i].reports[k][1], &got);
        CHECK_STR(got.ptr == NULL ? LKS_STR("") : lks_buf_view(&got), cases[i].listed);
        check_known(&a, "r.io/x:1", cases[i].known);
        check_known(&a, "r.io/ours:1", "2.20.5 of catalogue sbom");
    }
}

/* More than 64 of one report are not listed. */
static void test_many(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(64 << 10);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(64 << 10);
    make(&a);
    for (int i = 0; i < 70; i++)
        lks_buf_addf(&lines, "image.nccl@r.io/x:%03d=2.28.9\n", i);
    lks_buf_addc(&lines, '\0');
    report(&a, "n1", lines.ptr, &got);
    CHECK_INT(a.state.image_count, 64 + 1);
    check_known(&a, "r.io/x:063", "2.28.9 of layers node:n1");
    check_known(&a, "r.io/x:064", "unknown: ");
}

/* People's entries come first, then NVIDIA's table, then layers, whatever spelling found them. */
static void test_order(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(64 << 10);
    make(&a);
    const struct lks_record person = {.kind = LKS_RECORD_IMAGE,
                                      .image = {.ref = LKS_STR("docker.io/me/mine:1"),
                                                .nccl = LKS_STR("2.2.2"),
                                                .source = LKS_STR("sbom"),
                                                .by = LKS_STR("kim")}};
    lks_asked_apply(&a, &person);
    report(&a, "n1",
           "image.nccl@me/mine:1=2.28.9\nimage.nccl@nvcr.io/nvidia/pytorch:26.06-py3=2.28.9\n"
           "image.nccl@me/other:1#" D1 "=2.28.9\n",
           &got);
    check_known(&a, "me/mine:1", "2.2.2 of catalogue sbom");
    check_known(&a, "nvcr.io/nvidia/pytorch:26.06-py3", "2.30.5 of NGC 26.06");
    check_known(&a, "me/other:1", "2.28.9 of layers node:n1");
    check_known(&a, "elsewhere.io/y@" D1, "2.28.9 of layers node:n1");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"seen", test_seen}, {"many", test_many}, {"order", test_order}, {0}};
    return lks_test_main(tests);
}
