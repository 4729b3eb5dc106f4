/* How long a rehearsal will still take: what is said after a tenth of it, beside what came. */
#include "base/rng.h"
#include "lab/rehearse/eta.h"
#include "tests/test.h"

#include <stdio.h>

enum { RUNS_MAX = 400, JOBS_MAX = 64, GOOD_PERCENT = 20, EVERY = 4 };

/* Milliseconds of runs by seed as they were measured; every fourth has a bad image. */
static const uint32_t large[] = {
    /* 2,000 nodes */
    279, 282, 266, 255, 258, 261, 280, 410, 341, 276, 299, 13,  276, 282, 274, 4,   272, 395, 308,
    11,  354, 275, 348, 7,   379, 353, 377, 5,   291, 267, 300, 11,  347, 261, 285, 11,  369, 268,
    263, 11,  296, 265, 271, 11,  283, 277, 264, 5,   263, 270, 260, 288, 296, 253, 311, 4,   255,
    276, 330, 280, 312, 284, 320, 13,  332, 303, 291, 281, 248, 248, 250, 11,  249, 290, 297, 5,
    301, 304, 273, 14,  265, 301, 265, 12,  266, 252, 252, 92,  249, 266, 250, 11,  250, 278, 275,
    13,  287, 330, 323, 170, 324, 340, 328, 323, 318, 447, 330, 415, 378, 404, 350, 12,  445, 347,
    325, 7,   316, 334, 326, 11,  287, 313, 285, 264, 286, 275, 286, 11,  291, 299, 343, 411, 257,
    289, 267, 11,  256, 274, 252, 5,   305, 336, 232, 12,  244, 251, 249, 90,  257, 279, 412, 16,
    264, 276, 266, 475, 259, 267, 251, 266, 267, 265, 264, 12,  259, 268, 267, 277, 301, 266, 260,
    10,  289, 249, 292, 13,  300, 313, 265, 6,   379, 370, 261, 12,  264, 307, 327, 12,  270, 268,
    274, 11,  245, 253, 262, 12,  250, 314, 252, 17,
};
static const uint32_t small[] = {
    /* 400 nodes */
    65, 62, 61,  58, 59, 62,  61, 62, 88,  79, 57, 61, 75, 75, 58, 3,  59, 78, 60, 8,
    56, 60, 76,  4,  62, 100, 64, 3,  100, 61, 99, 57, 59, 60, 56, 14, 62, 94, 88, 9,
    65, 56, 102, 56, 57, 55,  56, 2,  86,  84, 58, 75, 72, 61, 67, 2,  64, 57, 57, 56,
    54, 64, 54,  7,  55, 56,  68, 56, 58,  55, 61, 63, 57, 60, 55, 3,  57, 58, 56, 61,
    58, 57, 59,  83, 61, 57,  58, 57, 59,  59, 58, 9,  56, 54, 55, 7,  55, 56, 57, 54,
};

/* Runs on `jobs` processors, one after the other: told at `asked` runs over, and what came. */
struct played {
    lks_ms said, came;
};

static bool is_bad(size_t run)
{
    return (run + 1) % EVERY == 0;
}

/* The run that is over next, of those that are under way. */
static size_t next_over(const lks_ms *ends, unsigned jobs)
{
    size_t first = 0;
    for (unsigned i = 1; i < jobs; i++)
        first = ends[i] < ends[first] ? i : first;
    return first;
}

static lks_ms ask(const struct lks_eta *r, const size_t *runs, const lks_ms *begun,
                  const lks_ms *ends, lks_ms now)
{
    struct lks_eta_run running[JOBS_MAX];
    size_t count = 0;
    for (unsigned i = 0; i < r->jobs; i++)
        if (ends[i] != UINT64_MAX)
            running[count++] = (struct lks_eta_run){is_bad(runs[i]), now - begun[i]};
    return lks_eta(r, running, count);
}

static struct played play(const uint32_t *took, size_t count, unsigned jobs, size_t asked)
{
    struct lks_eta r = {.jobs = jobs};
    size_t runs[JOBS_MAX] = {0}, next = 0, over = 0;
    lks_ms begun[JOBS_MAX] = {0}, ends[JOBS_MAX], now = 0, then = 0;
    struct played out = {0};
    for (size_t i = 0; i < count; i++)
        r.kinds[is_bad(i)].waiting++;
    memset(ends, 0xff, sizeof(ends));
    for (unsigned slot = 0; over < count; slot = (unsigned)next_over(ends, jobs)) {
        if (next >= jobs || next == count) {
            now = ends[slot];
            struct lks_eta_kind *kind = &r.kinds[is_bad(runs[slot])];
            kind->done++;
            kind->took += now - begun[slot];
            ends[slot] = UINT64_MAX;
            over++;
        } else {
            slot = (unsigned)next;
        }
        if (next < count) {
            runs[slot] = next;
            begun[slot] = now;
            ends[slot] = now + took[next];
            r.kinds[is_bad(next++)].waiting--;
        }
        if (over == asked && then == 0) {
            then = now;
            out.said = ask(&r, runs, begun, ends, now);
        }
    }
    out.came = now - then;
    return out;
}

static bool is_near(struct played p)
{
    lks_ms off = p.said > p.came ? p.said - p.came : p.came - p.said;
    return off * 100 <= p.came * GOOD_PERCENT;
}

/* After a tenth it is within a fifth. */
static void test_recorded(void)
{
    static const struct {
        const char *name;
        const uint32_t *took;
        size_t count;
        unsigned jobs;
    } rows[] = {
        {"2,000 nodes, one processor", large, 200, 1},
        {"2,000 nodes, two", large, 200, 2},
        {"2,000 nodes, eight", large, 200, 8},
        {"2,000 nodes, more processors than a tenth has runs", large, 200, 32},
        {"2,000 nodes, half as many seeds", large, 100, 2},
        {"400 nodes, two", small, 100, 2},
        {"400 nodes, sixteen", small, 100, 16},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct played p = play(rows[i].took, rows[i].count, rows[i].jobs, rows[i].count / 10);
        if (!CHECK(is_near(p)))
            printf("said %llu, came %llu\n", (unsigned long long)p.said,
                   (unsigned long long)p.came);
    }
}

/* The same runs in other orders, those with a bad image where they were: nearly always. */
static void test_orders(void)
{
    enum { ORDERS = 400, COUNT = 200, RARELY = ORDERS / 20 };
    uint32_t took[COUNT];
    unsigned off = 0;
    for (uint64_t seed = 1; seed <= ORDERS; seed++) {
        struct lks_rng rng = {seed};
        memcpy(took, large, sizeof(took));
        for (size_t i = COUNT; i-- > 1;) {
            size_t other = (size_t)lks_rng_below(&rng, i + 1);
            if (is_bad(i) != is_bad(other))
                continue;
            uint32_t kept = took[i];
            took[i] = took[other];
            took[other] = kept;
        }
        off += !is_near(play(took, COUNT, 1 + (unsigned)(seed % 16), COUNT / 10));
    }
    CHECK(off <= RARELY);
    if (off > RARELY)
        printf("%u of %d were further off\n", off, ORDERS);
}

static void test_ends(void)
{
    static const struct {
        const char *name;
        struct lks_eta r;
        struct lks_eta_run running;
        size_t count;
        lks_ms left;
    } rows[] = {
        {"nothing is over", {2, {{0, 9, 0}, {0}}}, {false, 5}, 1, 0},
        {"all is over", {2, {{9, 0, 900}, {0}}}, {0}, 0, 0},
        {"the last one runs", {2, {{9, 0, 900}, {0}}}, {false, 40}, 1, 60},
        {"and takes long", {2, {{9, 0, 900}, {0}}}, {false, 4000}, 1, 25},
        {"like things", {1, {{10, 90, 1000}, {0}}}, {0}, 0, 9000},
        {"bad images alone", {1, {{0}, {10, 90, 1000}}}, {0}, 0, 9000},
        {"a plain one was not seen", {1, {{0, 10, 0}, {5, 0, 175}}}, {0}, 0, 1000},
        {"a bad one was not seen", {1, {{5, 0, 500}, {0, 10, 0}}}, {0}, 0, 350},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK_INT(lks_eta(&rows[i].r, &rows[i].running, rows[i].count), rows[i].left);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"eta: after a tenth", test_recorded},
        {"eta: in any order", test_orders},
        {"eta: at the ends", test_ends},
        {0},
    });
}
