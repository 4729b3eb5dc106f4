/* What was refused since it was last recorded: which row a job counts in. */
#include "core/admission/refused.h"
#include "tests/test.h"

#include <stdio.h>

/* So many jobs, each refused on so many nodes of its own, or on the same ones. */
static const struct {
    const char *name;
    unsigned jobs, nodes;
    bool same;
    uint32_t rows;
    uint64_t first, others; /* jobs of the first row, and of the one for other nodes */
} rows[] = {
    {"a job on a node", 1, 1, true, 1, 1, 0},
    {"a job on some nodes", 1, 20, true, 20, 1, 0},
    {"jobs on the same nodes", 3, 20, true, 20, 3, 0},
    {"a job on more nodes than there are places", 1, 2000, true, 385, 1, 1},
    {"jobs on more nodes than there are places", 3, 2000, true, 385, 3, 3},
    {"jobs on nodes of their own", 10, 100, false, 385, 1, 7},
};

static void add_job(struct lks_refused *r, size_t row, unsigned job)
{
    for (unsigned n = 0; n < rows[row].nodes; n++) {
        char node[16];
        snprintf(node, sizeof(node), "n%u", n + (rows[row].same ? 0 : job * rows[row].nodes));
        lks_refused_add(r, job + 1,
                        &(struct lks_rec_refusal){.pool = LKS_STR("train"),
                                                  .bar = LKS_BAR_DRIFT,
                                                  .node = lks_str_from(node)});
    }
}

static void test_nodes(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_refused r = {0};
        uint64_t others = 0;
        lks_test_case("%s", rows[i].name);
        for (unsigned job = 0; job < rows[i].jobs; job++)
            add_job(&r, i, job);
        for (uint32_t k = 0; k < r.count; k++) {
            if (lks_str_is(r.rows[k].node, LKS_REFUSED_OTHERS))
                others += r.rows[k].count;
        }
        CHECK_INT(r.count, rows[i].rows);
        CHECK_INT(r.count > 0 ? r.rows[0].count : 0, rows[i].first);
        CHECK_INT(others, rows[i].others);
        lks_refused_fini(&r);
    }
}

/* For two reasons it counts twice. */
static void test_reasons(void)
{
    struct lks_refused r = {0};
    for (unsigned bar = 0; bar < 2; bar++)
        for (unsigned again = 0; again < 2; again++)
            lks_refused_add(&r, 7,
                            &(struct lks_rec_refusal){
                                .pool = LKS_STR("train"), .bar = bar, .node = LKS_STR("n1")});
    CHECK_INT(r.count, 2);
    CHECK_INT(r.rows[0].count, 1);
    CHECK_INT(r.rows[1].count, 1);
    lks_refused_fini(&r);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"refused: nodes", test_nodes},
        {"refused: reasons", test_reasons},
        {0},
    };
    return lks_test_main(tests);
}
