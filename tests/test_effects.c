/* What applying a manifest would cause, and that it does cause it. */
#include "core/conform/basis.h"
#include "core/registry/book.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "core/view/effects.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20, NODES = 4, MANY = 100000, MANY_BASES = 40 };

#define FLEET(pools, nodes)                                                                        \
    "---\nlockstep: 1\nkind: Fleet\nname: f\npools: {" pools "}\nnodes: [" nodes "]\n"
#define GROUP(hosts, pool) "{hosts: '" hosts "', pool: " pool ", class: hgx-h200-8}"
#define TRAIN(more)        "train: {posture: pre-training, stack: golden" more "}"
#define BARE(more)         "train: {posture: pre-training" more "}"
#define ON                 ", enforce: 'on'"
#define ALL                GROUP("n[1-4]", "train")
#define OLD                "kernel=6.8.0-70-generic"
#define DARK               "kernel?no access"

struct row {
    const char *name;
    const char *before; /* a fleet, applied and accepted */
    const char
        *runs[NODES];     /* what n1 to n4 run: lks_test_node, with changes; NULL: not enrolled */
    const char *after;    /* the fleet that is tried and then applied */
    const char *told;     /* a line for each effect */
    const char *deviates; /* a host list with a deviation of the kernel; NULL: none */
    const char *changing; /* a host list with an open change; NULL: none */
    const char *pinned;   /* a node that a change brought to another stack; NULL: none */
    bool intake, accept;
};

static const struct row rows[] = {
    {.name = "nothing",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD},
     .after = FLEET(TRAIN(ON), ALL) "# a comment\n",
     .told = ""},
    {.name = "a node that is new",
     .before = FLEET(TRAIN(""), GROUP("n[1-3]", "train")),
     .runs = {""},
     .after = FLEET(TRAIN(""), ALL),
     .told = "joins train 1: n4\n"},
    {.name = "a node that goes",
     .before = FLEET(TRAIN(""), ALL),
     .runs = {"", "", ""},
     .after = FLEET(TRAIN(""), GROUP("n[1-3]", "train")),
     .told = "leaves train 1: n4\n"},
    {.name = "a node of another pool",
     .before = FLEET(TRAIN("") ", dev: {posture: dev, stack: golden}", ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN("") ", dev: {posture: dev, stack: golden}",
                    GROUP("n[1,3-4]", "train") ", " GROUP("n2", "dev")),
     .told = "leaves train 1: n2\njoins dev 1: n2\n"},
    {.name = "a node of a pool that is new and enforces",
     .before = FLEET(TRAIN(""), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN("") ", two: {posture: pre-training, stack: golden" ON "}",
                    GROUP("n[3-4]", "train") ", " GROUP("n[1-2]", "two")),
     .told = "leaves train 2: n1 n2\njoins two 2: n1 n2\nrefused two drift 1: n2\n"},
    {.name = "enforcing begins",
     .before = FLEET(TRAIN(""), ALL),
     .runs = {"", OLD, DARK, NULL},
     .after = FLEET(TRAIN(ON), ALL),
     .told = "refused train stale 1: n4\nrefused train unmeasured 1: n3\n"
             "refused train drift 1: n2\n"},
    {.name = "enforcing ends",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(", enforce: warn"), ALL),
     .told = "admitted train 1: n2\n"},
    {.name = "the first pin",
     .before = FLEET(BARE(""), ALL),
     .runs = {"", OLD, DARK, NULL},
     .after = FLEET(TRAIN(""), ALL),
     .told = "intent train 4: n1 n2 n3 n4\nconforms train 1: n1\ndrifts train 1: n2\n"
             "unmeasured train 1: n3\n"},
    {.name = "the first pin of a pool that enforces",
     .before = FLEET(BARE(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON), ALL),
     .told = "intent train 4: n1 n2 n3 n4\nconforms train 3: n1 n3 n4\ndrifts train 1: n2\n"
             "admitted train 3: n1 n3 n4\n"},
    {.name = "the first pin, with a deviation",
     .before = FLEET(BARE(""), ALL),
     .runs = {"", OLD, OLD, ""},
     .after = FLEET(TRAIN(ON), ALL),
     .told = "intent train 4: n1 n2 n3 n4\nconforms train 3: n1 n2 n4\ndrifts train 1: n3\n"
             "refused train drift 1: n3\ndeviation 1 1: n2\n",
     .deviates = "n2"},
    {.name = "deviations are refused",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON ", deviations: refuse"), ALL),
     .told = "refused train deviation 1: n2\ndeviation 1 1: n2\n",
     .deviates = "n2"},
    {.name = "attestation is asked for",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON ", attested: true"), ALL),
     .told = "refused train unattested 3: n1 n3 n4\n"},
    {.name = "active checks are asked for",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", "", "", ""},
     .after = FLEET(TRAIN(ON ", check_hours: 24"), ALL),
     .told = "refused train unchecked 4: n1 n2 n3 n4\n"},
    {.name = "nodes are accepted",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON), ALL),
     .told = "admitted train 3: n1 n3 n4\n",
     .intake = true,
     .accept = true},
    {.name = "a pool drains what drifts already",
     .before = FLEET(TRAIN(ON), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON ", on_drift: [drain]"), ALL),
     .told = "drains train 1: n2\n"},
    {.name = "a change that is open",
     .before = FLEET(TRAIN(""), ALL),
     .runs = {"", OLD, "", ""},
     .after = FLEET(TRAIN(ON), ALL),
     .told = "refused train drift 1: n2\nchange 1 1: n2\n",
     .changing = "n[2-3]"},
    {.name = "a node whose intent is a change's",
     .before = FLEET(BARE(""), ALL),
     .runs = {"", "", "", ""},
     .after = FLEET(TRAIN(""), ALL),
     .told = "intent train 3: n2 n3 n4\nconforms train 3: n2 n3 n4\n",
     .pinned = "n1"},
};

static void say(struct lks_asked *a, struct lks_record r)
{
    lks_asked_apply(a, &r);
}

static void read_node(struct lks_asked *a, const char *name, const char *changes)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
    char digest[LKS_DIGEST_SIZE], boot[LKS_BOOT_TEXT_SIZE];
    struct lks_err err = {0};
    lks_test_tuple_with(lks_test_node, changes, &tuple);
    CHECK_CODE(lks_basis_of(&tuple, &text, digest, &err), LKS_OK);
    say(a, (struct lks_record){
               .kind = LKS_RECORD_BASIS,
               .basis = {.digest = lks_str_from(digest), .readings = lks_buf_view(&text)}});
    say(a, (struct lks_record){.kind = LKS_RECORD_TUPLE,
                               .tuple = {.node = lks_str_from(name),
                                         .digest = lks_str_from(digest),
                                         .boot = lks_str_from(lks_fleet_boot(1, boot)),
                                         .basis = lks_str_from(digest),
                                         .whole = lks_str_from(digest)}});
}

static struct lks_str apply(struct lks_asked *a, const char *fleet, bool accept)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    const struct lks_event e = {.by = LKS_STR("kim"), .fleet = {.accept = accept}};
    lks_buf_addf(&text, "%s%s", lks_test_node_stack, fleet);
    return lks_asked_fleet(a, text.ptr, &e);
}

static void settle(struct lks_asked *a)
{
    size_t ticks = 0;
    (void)lks_fleet_ticks(a, LKS_RECORD_VERDICT, &ticks);
}

static void change(struct lks_asked *a, const char *hosts)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_CHANGE, .change = {.id = 1, .hosts = LKS_STR("@train")}},
        {.kind = LKS_RECORD_PLAN_STEP, .plan_step = {.change = 1, .kind = LKS_DO_LEAVE}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 1, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART, .plan_part = {.change = 1, .hosts = lks_str_from(hosts)}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        say(a, records[i]);
}

static void begin(struct lks_asked *a, const struct row *row)
{
    lks_asked_init(a);
    CHECK_HAS(apply(a, row->before, true), "fleet name=f");
    for (size_t i = 0; i < NODES; i++) {
        char name[] = {'n', (char)('1' + i), '\0'};
        if (row->runs[i] == NULL)
            continue;
        lks_fleet_live(a, name, 1);
        read_node(a, name, row->runs[i]);
        if (row->intake)
            say(a, (struct lks_record){
                       .kind = LKS_RECORD_INTAKE,
                       .intake = {.node = lks_str_from(name), .why = LKS_STR("new parts")}});
    }
    if (row->deviates != NULL)
        say(a, (struct lks_record){.kind = LKS_RECORD_DEVIATION,
                                   .deviation = {.id = 1,
                                                 .hosts = lks_str_from(row->deviates),
                                                 .subject = LKS_STR("kernel"),
                                                 .expires = UINT64_MAX}});
    if (row->changing != NULL)
        change(a, row->changing);
    if (row->pinned != NULL)
        a->state.nodes[lks_fleet_node(a, row->pinned)].pin = 1;
    settle(a);
}

/* Whether admission refuses a job on the node. */
static bool is_refused(const struct lks_asked *a, uint32_t n)
{
    const struct lks_node *node = &a->state.nodes[n];
    return node->placed && node->pool < a->state.pool_count &&
           lks_str_is(lks_state_text(&a->state, a->state.pools[node->pool].enforce), "on") &&
           lks_node_status_bars(&a->state, n, a->now.wall) != 0;
}

static void tell(const struct lks_effects *e, struct lks_buf *out)
{
    for (size_t i = 0; i < e->count; i++) {
        const struct lks_effect_row *r = &e->rows[i];
        lks_buf_addf(out, "%s", lks_effect_words[r->effect]);
        if (r->pool.len > 0)
            lks_buf_addf(out, " %" LKS_STR_FMT, LKS_STR_ARG(r->pool));
        if (r->effect == LKS_EFFECT_REFUSED)
            lks_buf_addf(out, " %s", lks_bar_words[r->bar]);
        if (r->id != 0)
            lks_buf_addf(out, " %llu", (unsigned long long)r->id);
        lks_buf_addf(out, " %u:", r->nodes);
        for (size_t n = 0; n < LKS_EFFECT_NAMES && n < r->nodes; n++)
            lks_buf_addf(out, " %" LKS_STR_FMT, LKS_STR_ARG(r->first[n]));
        lks_buf_addc(out, '\n');
    }
}

/* The effects of a fleet, which is decided and not applied. */
static void effects(struct lks_asked *a, const char *fleet, bool accept, struct lks_effects *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest wanted = {0};
    const struct lks_book book = {.facts = lks_test_facts(), .manifest = &a->manifest};
    struct lks_err err = {0};
    lks_buf_addf(&text, "%s%s", lks_test_node_stack, fleet);
    CHECK_CODE(
        lks_manifest_parse("new", lks_buf_view(&text), lks_test_facts(), NULL, &wanted, &err),
        LKS_OK);
    const struct lks_event e = {
        .kind = LKS_EVENT_FLEET,
        .by = LKS_STR("kim"),
        .fleet = {.manifest = &wanted, .digest = LKS_STR("new"), .accept = accept, .dry = true}};
    (void)lks_asked_dry(a, &e);
    CHECK_STR(lks_str_from(a->decision.refused.msg), "");
    CHECK_CODE(lks_effects_make(&a->state, &book, &wanted, a->decision.records, a->decision.count,
                                a->now.wall, out, &err),
               LKS_OK);
}

static uint32_t total(const struct lks_effects *e, enum lks_effect effect)
{
    uint32_t nodes = 0;
    for (size_t i = 0; i < e->count; i++)
        nodes += e->rows[i].effect == effect ? e->rows[i].nodes : 0;
    return nodes;
}

/* The manifest is applied: admission and drift are as they were foretold. A node that the fleet did
 * not have was refused before. */
static void check_true(struct lks_asked *a, const struct row *row, const struct lks_effects *e)
{
    bool was[NODES] = {true, true, true, true}, drifted[NODES] = {false};
    uint32_t refused = 0, admitted = 0, drifts = 0, known = a->state.node_count;
    for (uint32_t n = 0; n < known; n++) {
        was[n] = is_refused(a, n);
        drifted[n] = lks_node_status_judged(&a->state, n).differs;
    }
    (void)apply(a, row->after, row->accept);
    CHECK_STR(lks_str_from(a->decision.refused.msg), "");
    settle(a);
    CHECK_INT(a->state.node_count, NODES);
    for (uint32_t n = 0; n < NODES; n++) {
        refused += is_refused(a, n) && !was[n];
        admitted += n < known && was[n] && a->state.nodes[n].placed && !is_refused(a, n);
        drifts += lks_node_status_judged(&a->state, n).differs && !drifted[n];
    }
    CHECK_INT(total(e, LKS_EFFECT_REFUSED), refused);
    CHECK_INT(total(e, LKS_EFFECT_ADMITTED), admitted);
    CHECK_INT(total(e, LKS_EFFECT_DRIFTS), drifts);
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_effects_fini) struct lks_effects e = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf told = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", rows[i].name);
        begin(&a, &rows[i]);
        effects(&a, rows[i].after, rows[i].accept, &e);
        tell(&e, &told);
        CHECK_STR(told.len > 0 ? lks_buf_view(&told) : LKS_STR(""), rows[i].told);
        check_true(&a, &rows[i], &e);
    }
}

static void test_json(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_effects_fini) struct lks_effects e = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    const struct row row = {.before = FLEET(TRAIN(""), GROUP("n[1-9]", "train")),
                            .runs = {"", OLD, "", ""},
                            .deviates = "n2"};
    begin(&a, &row);
    effects(&a, FLEET(TRAIN(ON ", deviations: refuse"), GROUP("n[1-9]", "train")), false, &e);
    struct lks_json_writer w = {.out = &out};
    lks_effects_json(&e, &w);
    CHECK_STR(lks_buf_view(&out),
              "{\"effect\":\"refused\",\"pool\":\"train\",\"reason\":\"stale\",\"nodes\":5,"
              "\"first\":[\"n5\",\"n6\",\"n7\",\"n8\",\"n9\"]},"
              "{\"effect\":\"refused\",\"pool\":\"train\",\"reason\":\"deviation\",\"nodes\":1,"
              "\"first\":[\"n2\"]},"
              "{\"effect\":\"deviation\",\"id\":1,\"nodes\":1,\"first\":[\"n2\"]}");
}

/* A large fleet with few kinds of readings: each kind is compared once. */
static void test_many(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_effects_fini) struct lks_effects e = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf told = LKS_BUF(TEXT_MAX);
    char digest[MANY_BASES][LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_asked_init(&a);
    CHECK_HAS(apply(&a, FLEET(BARE(""), GROUP("n[1-100000]", "train")), true), "fleet name=f");
    for (int b = 0; b < MANY_BASES; b++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
        char kernel[64];
        snprintf(kernel, sizeof(kernel), "kernel=6.8.0-%d-generic", 71 + b);
        lks_test_tuple_with(lks_test_node, kernel, &tuple);
        CHECK_CODE(lks_basis_of(&tuple, &text, digest[b], &err), LKS_OK);
        say(&a, (struct lks_record){
                    .kind = LKS_RECORD_BASIS,
                    .basis = {.digest = lks_str_from(digest[b]), .readings = lks_buf_view(&text)}});
    }
    for (int n = 0; n < MANY; n++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", n + 1);
        struct lks_str basis = lks_str_from(digest[n % MANY_BASES]);
        say(&a, (struct lks_record){.kind = LKS_RECORD_TUPLE,
                                    .tuple = {.node = lks_str_from(name),
                                              .digest = basis,
                                              .basis = basis,
                                              .whole = basis}});
    }
    effects(&a, FLEET(TRAIN(""), GROUP("n[1-100000]", "train")), false, &e);
    tell(&e, &told);
    CHECK_STR(lks_buf_view(&told), "intent train 100000: n1 n2 n3 n4 n5\n"
                                   "conforms train 2500: n1 n41 n81 n121 n161\n"
                                   "drifts train 97500: n2 n3 n4 n5 n6\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"effects: of a manifest", test_rows},
        {"effects: as JSON", test_json},
        {"effects: of a large fleet", test_many},
        {0},
    });
}
