/* What an admission costs inside, without sockets and threads: 4,096 names among 100,000 nodes, in
 * microseconds. Each time it is about others, as in a fleet where jobs come and go. */
#include "base/rng.h"
#include "bench/measure.h"
#include "codec/notation/hostlist.h"
#include "core/admission/admit.h"
#include "tests/jobs.h"

#include <stdlib.h>

enum { RUNS = 2000, ASKED = 4096, NODES = 100000, MEMORY = 64 << 20, TABLE_BYTES = 1 << 20 };

#define HOSTS "gpu[000001-100000]"

static const char fleet[] = "pool train pre-training on golden\n"
                            "nodes " HOSTS " train\n"
                            "verdict gold golden driver=580.126.20 nccl=2.28.9\n"
                            "verdict also golden driver=580.126.20 nccl=\n"
                            "verdict other golden driver=580.95.05 nccl=2.28.9\n"
                            "run " HOSTS " gold\n"
                            "image r.io/train:1 nccl=2.28.9\n";

/* `told` becomes true before the row and stays so. */
static const struct {
    const char *what, *told;
    bool scattered;
    size_t count, images;
} rows[] = {
    {"yes, 8 nodes", "", false, 8, 0},
    {"yes, names in a row", "", false, ASKED, 0},
    {"yes, names anywhere", "", true, ASKED, 0},
    {"yes, with an image", "", true, ASKED, 1},
    {"yes, some have read an image and some have not", "run gpu[000002-050000] also\n", true, ASKED,
     0},
    {"no, every other node drifts", "run gpu[000002-050000] other\n", true, ASKED, 0},
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct lks_table *t, const struct lks_jobs *j, const char *what,
                    const struct lks_admit_ask *ask)
{
    static double took[RUNS];
    struct lks_book book = lks_jobs_book(j);
    for (size_t i = 0; i < RUNS; i++) {
        struct lks_admit answer = {0};
        struct lks_err err = {0};
        struct lks_admit_ask now = *ask;
        now.names += i % (NODES / ASKED) * ASKED;
        double begun = bench_now_ms();
        if (lks_admit(&j->asked.state, &book, j->asked.now, &now, &answer, &err) != LKS_OK)
            bench_die("admit", err.msg);
        lks_admit_fini(&answer);
        took[i] = (bench_now_ms() - begun) * 1000;
    }
    qsort(took, RUNS, sizeof(took[0]), by_size);
    lks_table_cellf(t, LKS_PLAIN, "%s", what);
    lks_table_cellf(t, LKS_PLAIN, "%zu", ask->count);
    lks_table_cellf(t, LKS_PLAIN, "%.1f", took[RUNS / 2]);
    lks_table_cellf(t, LKS_PLAIN, "%.1f", took[RUNS * 99 / 100]);
}

/* Another order, the same each time; the texts lie one behind the other as those of a question do.
 */
static void scatter(struct lks_arena *arena, struct lks_str *names, size_t count)
{
    struct lks_rng rng = {7};
    for (size_t i = count - 1; i > 0; i--) {
        size_t k = lks_rng_below(&rng, i + 1);
        struct lks_str kept = names[i];
        names[i] = names[k];
        names[k] = kept;
    }
    for (size_t i = 0; i < count; i++)
        names[i] = lks_arena_copy(arena, names[i]);
}

static void measure_rows(struct lks_table *t, struct lks_jobs *j, const struct lks_hostlist *row,
                         const struct lks_hostlist *anywhere)
{
    static const struct lks_admit_image image = {.ref = LKS_STR_C("r.io/train:1")};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_admit_ask ask = {
            .job = LKS_STR("j"),
            .names = (rows[i].scattered ? anywhere : row)->names,
            .count = rows[i].count,
            .images = &image,
            .image_count = rows[i].images,
        };
        lks_jobs_tell(j, rows[i].told);
        measure(t, j, rows[i].what, &ask);
    }
}

int main(void)
{
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    struct lks_hostlist row = {0}, anywhere = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY);
    lks_table_init(&t, TABLE_BYTES);
    lks_table_column(&t, "admission", LKS_COLUMN_WRAP);
    lks_table_column(&t, "nodes", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "median us", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "p99 us", LKS_COLUMN_RIGHT);
    lks_jobs_init(&j, NULL);
    lks_jobs_tell(&j, fleet);
    if (lks_hostlist_parse(LKS_STR(HOSTS), &arena, &row, &err) != LKS_OK ||
        lks_hostlist_parse(LKS_STR(HOSTS), &arena, &anywhere, &err) != LKS_OK)
        bench_die("host list", err.msg);
    scatter(&arena, anywhere.names, anywhere.count);
    measure_rows(&t, &j, &row, &anywhere);
    struct lks_term term = {0};
    if (lks_table_print(&t, stdout, &term, &err) != LKS_OK)
        bench_die("table", err.msg);
    return 0;
}
