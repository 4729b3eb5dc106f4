/*
 * A fleet of 1,000,000 nodes, each with more than 128 readings, of which 2,000 are distinct: how
 * long the whole of it takes to be held against a stack, everything judged anew, and what it costs
 * in memory. Then the same where no two nodes are alike, on fewer of them. The rival is an array of
 * numbers for each node, 128 of them, compared with the pinned ones and nothing else.
 */
#include "bench/bench.h"
#include "core/state/state.h"

#include "core/campaign/state_apply.h"
#include "core/conform/basis.h"
#include "core/view/survey.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 1000000, GROUP = 100000, READINGS = 128, DISTINCT = 2000, ALONE = 20000 };
enum { RUNS = 5, NAME_SIZE = 16, CHANGE_SIZE = 160 };

#define WALL UINT64_C(1794700000000)

struct fleet {
    struct lks_state s;
    struct lks_manifest manifest;
    uint32_t nodes, distinct;
    uint64_t seq;
    double placed_kib; /* before anything was read of them */
};

static void apply(struct fleet *f, const struct lks_record *r)
{
    struct lks_err err = {0};
    f->seq++;
    if (lks_state_apply(&f->s, f->seq, WALL + f->seq, r, &err) != LKS_OK)
        bench_die("apply", err.msg);
}

/* A node in its place, with what it reads: every other kind has another driver than the pinned. */
static void make_basis(uint32_t i, struct lks_buf *text, char digest[LKS_DIGEST_SIZE])
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    char change[CHANGE_SIZE];
    struct lks_err err = {0};
    snprintf(change, sizeof(change), "platform.os=Ubuntu 24.04 build %" PRIu32 "\n%s", i,
             i % 2 == 0 ? "" : "driver=580.95.05\n");
    lks_test_tuple_with(lks_test_node, change, &tuple);
    if (tuple.count < READINGS)
        bench_die("tuple", "it has too few readings");
    lks_buf_truncate(text, 0);
    if (lks_basis_of(&tuple, text, digest, &err) != LKS_OK)
        bench_die("basis", err.msg);
}

static void place(struct fleet *f)
{
    char hosts[64];
    apply(f, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                  .pool = {.name = LKS_STR("train"),
                                           .posture = LKS_STR("pre-training"),
                                           .deviations = true}});
    for (uint32_t at = 0; at < f->nodes; at += GROUP) {
        uint32_t end = at + GROUP < f->nodes ? at + GROUP : f->nodes;
        snprintf(hosts, sizeof(hosts), "n[%07" PRIu32 "-%07" PRIu32 "]", at, end - 1);
        apply(f, &(struct lks_record){.kind = LKS_RECORD_PLACED,
                                      .placed = {.hosts = lks_str_from(hosts),
                                                 .pool = LKS_STR("train"),
                                                 .class = LKS_STR("hgx-h200-8")}});
    }
}

static void report(struct fleet *f, uint32_t node, const char *digest)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof(name), "n%07" PRIu32, node);
    apply(f, &(struct lks_record){.kind = LKS_RECORD_TUPLE,
                                  .tuple = {.node = lks_str_from(name),
                                            .digest = lks_str_from(digest),
                                            .report = lks_str_from(digest),
                                            .taken = WALL,
                                            .basis = lks_str_from(digest),
                                            .whole = lks_str_from(digest)}});
}

static void fleet_init(struct fleet *f, uint32_t nodes, uint32_t distinct)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    *f = (struct fleet){.nodes = nodes, .distinct = distinct};
    if (lks_state_init(&f->s, 1, &err) != LKS_OK ||
        lks_manifest_parse("stack", lks_str_from(lks_test_node_stack), lks_test_facts(), NULL,
                           &f->manifest, &err) != LKS_OK)
        bench_die("fleet", err.msg);
    lks_buf_init(&text, LKS_BASIS_BYTES_MAX);
    place(f);
    f->placed_kib = bench_private_kib(getpid());
    for (uint32_t i = 0; i < distinct; i++) {
        char digest[LKS_DIGEST_SIZE];
        make_basis(i, &text, digest);
        apply(f, &(struct lks_record){.kind = LKS_RECORD_BASIS,
                                      .basis = {lks_str_from(digest), lks_buf_view(&text)}});
        for (uint32_t n = i; n < nodes; n += distinct)
            report(f, n, digest);
    }
}

static void fleet_fini(struct fleet *f)
{
    lks_state_fini(&f->s);
    lks_manifest_fini(&f->manifest);
}

static double measure(struct fleet *f)
{
    double took[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        LKS_CLEANUP(lks_survey_fini) struct lks_survey v = {0};
        struct lks_err err = {0};
        double begun = bench_now_ms();
        if (lks_survey_make(&f->s, lks_test_facts(), &f->manifest.stacks[0], UINT32_MAX, &v,
                            &err) != LKS_OK)
            bench_die("survey", err.msg);
        took[i] = bench_now_ms() - begun;
        if (v.bases != f->distinct || v.judged[LKS_JUDGED_DRIFT] != f->nodes / 2)
            bench_die("survey", "it found something else than there is");
    }
    return bench_median(took, RUNS);
}

/* Numbers, row by row, against a row. */
static double measure_rival(void)
{
    uint32_t *readings = malloc((size_t)NODES * READINGS * sizeof(readings[0]));
    uint32_t pinned[READINGS];
    double took[RUNS];
    if (readings == NULL)
        bench_die("rival", "no memory");
    for (uint32_t i = 0; i < READINGS; i++)
        pinned[i] = i;
    for (size_t i = 0; i < (size_t)NODES * READINGS; i++)
        readings[i] = i / READINGS % 2 == 0 || i % READINGS != 7 ? (uint32_t)(i % READINGS) : 1000;
    for (size_t run = 0; run < RUNS; run++) {
        uint32_t differ = 0;
        double begun = bench_now_ms();
        for (size_t n = 0; n < NODES; n++) {
            uint32_t wrong = 0;
            for (size_t i = 0; i < READINGS; i++)
                wrong += readings[n * READINGS + i] != pinned[i];
            differ += wrong > 0;
        }
        took[run] = bench_now_ms() - begun;
        if (differ != NODES / 2)
            bench_die("rival", "it found something else than there is");
    }
    free(readings);
    return bench_median(took, RUNS);
}

void bench_drift(struct lks_table *t)
{
    static struct fleet f;
    double rival = measure_rival(), before = bench_private_kib(getpid());
    fleet_init(&f, NODES, DISTINCT);
    double after = bench_private_kib(getpid());
    bench_row(t,
              &(struct bench_figure){"drift of 1,000,000 nodes, 2,000 distinct", "<= 50 ms",
                                     "an array of 128 numbers a node", "ms", measure(&f), rival});
    bench_row(t, &(struct bench_figure){"memory of what they run", "<= 256", "the same array",
                                        "bytes a node", (after - f.placed_kib) * 1024 / NODES,
                                        READINGS * sizeof(uint32_t)});
    bench_row(t, &(struct bench_figure){"memory of all that is known of them", "-", "-",
                                        "bytes a node", (after - before) * 1024 / NODES, 0});
    fleet_fini(&f);
    fleet_init(&f, DISTINCT, DISTINCT);
    bench_row(t, &(struct bench_figure){"  of the first, the judging of 2,000 alone", "-", "-",
                                        "ms", measure(&f), 0});
    fleet_fini(&f);
    fleet_init(&f, ALONE, ALONE);
    bench_row(t, &(struct bench_figure){"20,000 nodes, all distinct: a million of them, scaled",
                                        "-", "an array of 128 numbers a node", "ms",
                                        measure(&f) * NODES / ALONE, rival});
    fleet_fini(&f);
}
