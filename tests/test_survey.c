/* How a fleet compares with a stack that it is not pinned to. */
#include "core/state/lookup.h"
#include "core/view/survey.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

enum { TOLD_MAX = 1 << 16 };

/* Nodes and what they run: lks_test_node, with changes. */
struct group {
    const char *node, *pool;
    const char *runs; /* NULL: nothing was read of it */
    bool gone;        /* it was removed since */
    bool asset;
    bool lost; /* the readings behind its basis are not known */
};

static void say(struct lks_asked *a, struct lks_record r)
{
    lks_asked_apply(a, &r);
}

static void read_node(struct lks_asked *a, const struct group *g)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_test_tuple_with(lks_test_node, g->runs, &tuple);
    CHECK_CODE(lks_basis_of(&tuple, &text, digest, &err), LKS_OK);
    if (!g->lost)
        say(a, (struct lks_record){
                   .kind = LKS_RECORD_BASIS,
                   .basis = {.digest = lks_str_from(digest), .readings = lks_buf_view(&text)}});
    say(a, (struct lks_record){.kind = LKS_RECORD_TUPLE,
                               .tuple = {.node = lks_str_from(g->node),
                                         .basis = lks_str_from(digest),
                                         .whole = lks_str_from(digest)}});
}

static void make(struct lks_asked *a, const struct group *g)
{
    struct lks_str name = lks_str_from(g->node);
    say(a, (struct lks_record){.kind = LKS_RECORD_POOL,
                               .pool = {.name = lks_str_from(g->pool), .sweep = 1}});
    say(a, (struct lks_record){.kind = LKS_RECORD_PLACED,
                               .placed = {.hosts = name,
                                          .pool = lks_str_from(g->pool),
                                          .asset = lks_str_from(g->asset ? "switch-tray" : "")}});
    if (g->runs != NULL)
        read_node(a, g);
    if (g->gone)
        say(a, (struct lks_record){.kind = LKS_RECORD_REMOVED, .removed = {.hosts = name}});
}

#define COUNTS(unjudged, conforms, drift, unmeasured)                                              \
    "{\"unjudged\":" unjudged ",\"conforms\":" conforms ",\"drift\":" drift                        \
    ",\"unmeasured\":" unmeasured ",\"rows\":["
#define ROW(subject, pinned, actual, nodes)                                                        \
    "{\"subject\":\"" subject "\",\"pinned\":\"" pinned "\",\"actual\":\"" actual                  \
    "\",\"nodes\":" nodes "}"
#define KERNEL(actual, nodes) ROW("kernel", "6.8.0-71-generic", actual, nodes)
#define OLD                   "kernel=6.8.0-70-generic"
#define NEW                   "kernel=6.8.0-72-generic"
#define DARK                  "kernel?no access"

static const struct {
    const char *name;
    struct group groups[5];
    const char *pool; /* alone; NULL: all */
    const char *told;
    unsigned bases;
    const char *differs; /* nodes, with a blank behind each */
} rows[] = {
    {"no node", {{0}}, NULL, COUNTS("0", "0", "0", "0") "]}", 0, ""},
    {"one that was never read",
     {{.node = "n1", .pool = "train"}},
     NULL,
     COUNTS("1", "0", "0", "0") "]}",
     0,
     ""},
    {"one whose readings are not known",
     {{.node = "n1", .pool = "train", .runs = "", .lost = true}},
     NULL,
     COUNTS("1", "0", "0", "0") "]}",
     0,
     ""},
    {"two that run the same are judged once",
     {{.node = "n1", .pool = "train", .runs = ""}, {.node = "n2", .pool = "dev", .runs = ""}},
     NULL,
     COUNTS("0", "2", "0", "0") "]}",
     1,
     ""},
    {"one that was not measured",
     {{.node = "n1", .pool = "train", .runs = DARK}, {.node = "n2", .pool = "train", .runs = ""}},
     NULL,
     COUNTS("0", "1", "0", "1") KERNEL("no access", "1") "]}",
     2,
     "n1 "},
    {"what is on most nodes comes first",
     {{.node = "n1", .pool = "train", .runs = OLD},
      {.node = "n2", .pool = "train", .runs = NEW},
      {.node = "n3", .pool = "dev", .runs = NEW},
      {.node = "n4", .pool = "train", .runs = ""}},
     NULL,
     COUNTS("0", "1", "3", "0")
         KERNEL("6.8.0-72-generic", "2") "," KERNEL("6.8.0-70-generic", "1") "]}",
     3,
     "n1 n2 n3 "},
    {"of as many, in order of subjects and then of values",
     {{.node = "n1", .pool = "train", .runs = NEW},
      {.node = "n2", .pool = "train", .runs = OLD},
      {.node = "n3", .pool = "train", .runs = "firmware/bmc=1"}},
     NULL,
     COUNTS("0", "0", "3", "0") ROW("firmware/bmc", "25.02.11", "1", "1") "," KERNEL(
         "6.8.0-70-generic", "1") "," KERNEL("6.8.0-72-generic", "1") "]}",
     3,
     "n1 n2 n3 "},
    {"the same difference in two bases is one",
     {{.node = "n1", .pool = "train", .runs = NEW},
      {.node = "n2", .pool = "train", .runs = NEW "\nfirmware/bmc=1"}},
     NULL,
     COUNTS("0", "0", "2", "0")
         KERNEL("6.8.0-72-generic", "2") "," ROW("firmware/bmc", "25.02.11", "1", "1") "]}",
     2,
     "n1 n2 "},
    {"a pool alone",
     {{.node = "n1", .pool = "train", .runs = OLD},
      {.node = "n2", .pool = "dev", .runs = NEW},
      {.node = "n3", .pool = "dev"}},
     "dev",
     COUNTS("1", "0", "1", "0") KERNEL("6.8.0-72-generic", "1") "]}",
     1,
     "n2 "},
    {"neither assets nor those that are gone",
     {{.node = "n1", .pool = "train", .runs = OLD, .asset = true},
      {.node = "n2", .pool = "train", .runs = NEW, .gone = true},
      {.node = "n3", .pool = "train", .runs = ""}},
     NULL,
     COUNTS("0", "1", "0", "0") "]}",
     1,
     ""},
};

/* Names of nodes in a set, with a blank behind each. */
static void tell_nodes(const struct lks_state *s, const struct lks_bitset *set, struct lks_buf *out)
{
    for (size_t n = lks_bitset_next(set, 0); n < set->size; n = lks_bitset_next(set, n + 1))
        lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(lks_state_name(s, (uint32_t)n)));
}

static void check_row(size_t i, const struct lks_stack *stack)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_survey_fini) struct lks_survey v = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf told = {0}, nodes = {0};
    struct lks_json_writer w = {.out = &told};
    struct lks_err err = {0};
    lks_test_case("%s", rows[i].name);
    lks_asked_init(&a);
    lks_buf_init(&told, TOLD_MAX);
    lks_buf_init(&nodes, TOLD_MAX);
    for (size_t g = 0; g < LKS_COUNT(rows[i].groups) && rows[i].groups[g].node != NULL; g++)
        make(&a, &rows[i].groups[g]);
    uint32_t pool =
        rows[i].pool != NULL ? lks_state_pool(&a.state, lks_str_from(rows[i].pool)) : UINT32_MAX;
    CHECK_CODE(lks_survey_make(&a.state, lks_test_facts(), stack, pool, &v, &err), LKS_OK);
    CHECK_INT(v.bases, rows[i].bases);
    lks_json_begin(&w, NULL, '{');
    lks_survey_json(&v, &w);
    lks_json_end(&w, '}');
    CHECK_STR(lks_buf_view(&told), rows[i].told);
    tell_nodes(&a.state, &v.differs, &nodes);
    CHECK_STR(nodes.ptr != NULL ? lks_buf_view(&nodes) : LKS_STR(""), rows[i].differs);
}

static void test_rows(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_manifest_parse("stack", lks_str_from(lks_test_node_stack), lks_test_facts(),
                                       NULL, &manifest, &err),
                    LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        check_row(i, manifest.stacks);
}

/* Whatever is found, the fleet stays as it was: neither verdicts nor nodes know of it. */
static void test_nothing_changes(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_survey_fini) struct lks_survey v = {0};
    struct lks_err err = {0};
    lks_asked_init(&a);
    make(&a, &(struct group){.node = "n1", .pool = "train", .runs = NEW});
    CHECK_CODE(lks_manifest_parse("stack", lks_str_from(lks_test_node_stack), lks_test_facts(),
                                  NULL, &manifest, &err),
               LKS_OK);
    CHECK_CODE(lks_survey_make(&a.state, lks_test_facts(), manifest.stacks, UINT32_MAX, &v, &err),
               LKS_OK);
    CHECK_INT(a.state.verdict_count, 0);
    CHECK_INT(lks_state_judged(&a.state, lks_fleet_node(&a, "n1")), LKS_JUDGED_NOT);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"survey: nodes, differences and their order", test_rows},
        {"survey: it changes nothing", test_nothing_changes},
        {0},
    });
}
