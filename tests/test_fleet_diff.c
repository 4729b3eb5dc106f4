#include "model/manifest/fleet_diff.h"

#include "model/manifest/manifest_docs.h"
#include "tests/manifests.h"
#include "tests/test.h"

#define HEAD               "lockstep: 1\nkind: Fleet\nname: f\n"
#define POOL               "pools:\n  train: {posture: pre-training}\n"
#define TWO                "pools:\n  train: {posture: pre-training}\n  serve: {posture: batch}\n"
#define GROUP(hosts, pool) "  - {hosts: '" hosts "', pool: " pool ", class: hgx-h100-8}\n"
#define NODES              "nodes:\n" GROUP("g[1-4]", "train")
#define FLEET              HEAD POOL NODES
#define STACK(kernel)                                                                              \
    "---\n" LKS_STACK_HGX_OF("s", "hgx-h100-8", kernel, "580.126.20", "2.28.9", "1.19.1", "")

/* Things as "MARK WHAT NAME (HOSTS)", their fields as " MARK PATH: OLD -> NEW @LINE". */
static const struct {
    const char *name, *old, *new, *diff;
} rows[] = {
    {"the same", FLEET, FLEET, ""},
    {"a first fleet", "", FLEET,
     "+ fleet f\n + name:  -> f @3\n"
     "+ pool train\n + posture:  -> pre-training @5\n"
     "+ nodes g[1-4] (4)\n + pool:  -> train @7\n + class:  -> hgx-h100-8 @7\n"},
    {"a field becomes another", HEAD "pools:\n  train: {posture: batch}\n" NODES,
     HEAD "pools:\n  train: {posture: dev}\n" NODES, "~ pool train\n ~ posture: batch -> dev @5\n"},
    {"fields come and go", HEAD "pools:\n  train: {posture: dev, headroom: 3}\n" NODES,
     HEAD "pools:\n  train: {posture: dev,\n    windows: 'Sat 00:00-24:00'}\n" NODES,
     "~ pool train\n - headroom: 3 ->  @0\n + windows:  -> Sat 00:00-24:00 @6\n"},
    {"what absence means is no difference", FLEET,
     HEAD "pools:\n  train: {posture: pre-training, enforce: observe, attested: false}\n" NODES,
     ""},
    {"a form within a form",
     HEAD "pools:\n  train: {posture: dev, version_policy: {minor: false}}\n" NODES,
     HEAD "pools:\n  train: {posture: dev, version_policy: {min_age_days: 3}}\n" NODES,
     "~ pool train\n + version_policy.min_age_days:  -> 3 @5\n"
     " - version_policy.minor: false ->  @0\n"},
    {"a set in another order is none",
     HEAD "pools:\n  train: {posture: dev, on_drift: [alarm, drain]}\n" NODES,
     HEAD "pools:\n  train: {posture: dev, on_drift: [drain, alarm]}\n" NODES, ""},
    {"a set with more", HEAD "pools:\n  train: {posture: dev, on_drift: [alarm]}\n" NODES,
     HEAD "pools:\n  train: {posture: dev, on_drift: [alarm, drain]}\n" NODES,
     "~ pool train\n ~ on_drift: [alarm] -> [alarm, drain] @5\n"},
    {"a pool comes", FLEET, HEAD TWO NODES, "+ pool serve\n + posture:  -> batch @6\n"},
    {"a pool goes", HEAD TWO NODES, FLEET, "- pool serve\n - posture: batch ->  @0\n"},
    {"a group written as two", FLEET,
     HEAD POOL "nodes:\n" GROUP("g[3-4]", "train") GROUP("g2,g1", "train"), ""},
    {"nodes come", FLEET, HEAD POOL "nodes:\n" GROUP("g[1-6]", "train"),
     "+ nodes g[5-6] (2)\n + pool:  -> train @7\n + class:  -> hgx-h100-8 @7\n"},
    {"nodes go", FLEET, HEAD POOL "nodes:\n" GROUP("g[1,3]", "train"),
     "- nodes g[2,4] (2)\n - pool: train ->  @0\n - class: hgx-h100-8 ->  @0\n"},
    {"nodes move", HEAD TWO NODES,
     HEAD TWO "nodes:\n" GROUP("g[1-2]", "train") GROUP("g[3-4]", "serve"),
     "~ nodes g[3-4] (2)\n ~ pool: train -> serve @9\n"},
    {"a note", FLEET, HEAD "description: ours\n" POOL NODES,
     "~ fleet f\n + description:  -> ours @4\n"},
    {"another name", FLEET, "lockstep: 1\nkind: Fleet\nname: g\n" POOL NODES,
     "~ fleet g\n ~ name: f -> g @3\n"},
    {"spare parts", HEAD "spares: {psu: 1, nic: 2}\n" POOL NODES,
     HEAD "spares: {psu: 3}\n" POOL NODES,
     "~ fleet f\n ~ spares.psu: 1 -> 3 @4\n - spares.nic: 2 ->  @0\n"},
    {"items of a list", HEAD POOL NODES "freezes:\n  - {from: '2026-12-24', until: '2026-12-27'}\n",
     HEAD POOL NODES "freezes:\n  - {from: '2026-12-31', until: '2027-01-02'}\n",
     "~ fleet f\n"
     " - freezes: {\"from\":\"2026-12-24\",\"until\":\"2026-12-27\"} ->  @0\n"
     " + freezes:  -> {\"from\":\"2026-12-31\",\"until\":\"2027-01-02\"} @9\n"},
    {"a stack beside it", FLEET, FLEET STACK("6.8.0-71"), "+ Stack s\n"},
    {"a stack beside it goes", FLEET STACK("6.8.0-71"), FLEET, "- Stack s\n"},
    {"a stack becomes another", FLEET STACK("6.8.0-71"), FLEET STACK("6.8.0-72"),
     "~ Stack s\n ~ components.kernel.version: 6.8.0-71 -> 6.8.0-72 @16\n"},
};

static void tell(const struct lks_fleet_diff *diff, struct lks_buf *out)
{
    for (size_t i = 0; i < diff->count; i++) {
        const struct lks_fleet_diff_thing *t = &diff->things[i];
        lks_buf_addf(out, "%c %s %" LKS_STR_FMT, t->mark, t->what, LKS_STR_ARG(t->name));
        if (t->hosts > 0)
            lks_buf_addf(out, " (%zu)", t->hosts);
        lks_buf_addc(out, '\n');
        for (size_t f = 0; f < t->field_count; f++) {
            const struct lks_fleet_diff_field *d = &t->fields[f];
            lks_buf_addf(out, " %c %" LKS_STR_FMT ": %" LKS_STR_FMT, d->mark, LKS_STR_ARG(d->path),
                         LKS_STR_ARG(d->old));
            lks_buf_addf(out, " -> %" LKS_STR_FMT " @%u\n", LKS_STR_ARG(d->new), d->line);
        }
    }
}

static void read_docs(const char *text, struct lks_docs *out)
{
    struct lks_err err = {0};
    enum lks_code code = text[0] == '\0'
                             ? lks_docs_init(out, "f.yaml", &err)
                             : lks_manifest_docs("f.yaml", lks_str_from(text), false, out, &err);
    CHECK(code == LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
}

static void compare(const char *old, const char *new, struct lks_buf *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs a = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs b = {0};
    LKS_CLEANUP(lks_fleet_diff_fini) struct lks_fleet_diff diff = {0};
    struct lks_err err = {0};
    read_docs(old, &a);
    read_docs(new, &b);
    CHECK(lks_fleet_diff(&a, &b, &diff, &err) == LKS_OK);
    tell(&diff, out);
}

static void test_fields(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        lks_test_case("%s", rows[i].name);
        compare(rows[i].old, rows[i].new, &text);
        CHECK_STR(lks_buf_view(&text), rows[i].diff);
    }
}

/* What is added one way is removed the other way, and nothing else is. */
static void test_back(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs a = {0};
        LKS_CLEANUP(lks_docs_fini) struct lks_docs b = {0};
        LKS_CLEANUP(lks_fleet_diff_fini) struct lks_fleet_diff there = {0};
        LKS_CLEANUP(lks_fleet_diff_fini) struct lks_fleet_diff back = {0};
        struct lks_err err = {0};
        size_t marks[2][128] = {{0}};
        lks_test_case("%s", rows[i].name);
        read_docs(rows[i].old, &a);
        read_docs(rows[i].new, &b);
        CHECK(lks_fleet_diff(&a, &b, &there, &err) == LKS_OK);
        CHECK(lks_fleet_diff(&b, &a, &back, &err) == LKS_OK);
        for (size_t t = 0; t < there.count; t++)
            marks[0][(unsigned char)there.things[t].mark]++;
        for (size_t t = 0; t < back.count; t++)
            marks[1][(unsigned char)back.things[t].mark]++;
        CHECK(marks[0]['+'] == marks[1]['-'] && marks[0]['-'] == marks[1]['+'] &&
              marks[0]['~'] == marks[1]['~']);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"fleet_diff: fields that differ", test_fields},
        {"fleet_diff: the other way round has the same things", test_back},
        {0},
    });
}
