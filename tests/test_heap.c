#include "base/heap.h"

#include "base/rng.h"
#include "tests/test.h"

enum { IDS = 200 };

/* The same timers as the plainest thing that works. */
struct model {
    bool set[IDS];
    lks_ms at[IDS];
};

/* The first of the smallest, which is the smallest id of those due together. */
static bool model_peek(const struct model *m, uint32_t *id)
{
    bool any = false;
    for (uint32_t i = 0; i < IDS; i++) {
        if (m->set[i] && (!any || m->at[i] < m->at[*id])) {
            *id = i;
            any = true;
        }
    }
    return any;
}

static void check_pop(struct lks_heap *h, struct model *m, bool take)
{
    uint32_t want = 0, id = IDS;
    lks_ms at = 0;
    bool any = model_peek(m, &want);
    CHECK((take ? lks_heap_pop(h, &at, &id) : lks_heap_peek(h, &at, &id)) == any);
    if (any) {
        CHECK_INT(id, want);
        CHECK_INT(at, m->at[want]);
        m->set[want] = m->set[want] && !take;
    }
}

static void run_seed(uint64_t seed)
{
    struct lks_rng rng = {seed};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_heap_fini) struct lks_heap h = {0};
    struct model m = {0};
    lks_heap_init(&h, IDS);
    for (int step = 0; step < 2000; step++) {
        uint32_t id = (uint32_t)lks_rng_below(&rng, IDS);
        if (lks_rng_percent(&rng, 60)) {
            m.set[id] = true;
            m.at[id] = lks_rng_below(&rng, 50); /* few values, so that many are equal */
            CHECK_CODE(lks_heap_set(&h, id, m.at[id], &err), LKS_OK);
        } else if (lks_rng_percent(&rng, 50)) {
            CHECK(lks_heap_remove(&h, id) == m.set[id]);
            m.set[id] = false;
        } else {
            check_pop(&h, &m, true);
        }
        check_pop(&h, &m, false);
    }
    while (h.count > 0)
        check_pop(&h, &m, true);
    check_pop(&h, &m, true);
}

static void test_property(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        lks_test_case("seed %d", (int)seed);
        run_seed(seed);
    }
}

static void test_empty(void)
{
    LKS_CLEANUP(lks_heap_fini) struct lks_heap h = {0};
    lks_ms at = 7;
    uint32_t id = 7;
    CHECK(!lks_heap_peek(&h, &at, &id));
    CHECK(!lks_heap_pop(&h, &at, &id));
    lks_heap_init(&h, 10);
    CHECK(!lks_heap_remove(&h, 9));
    CHECK(at == 7 && id == 7);
}

/* The largest id and the latest time are ordinary ones. */
static void test_extremes(void)
{
    LKS_CLEANUP(lks_heap_fini) struct lks_heap h = {0};
    struct lks_err err = {0};
    lks_ms at = 0;
    uint32_t id = 0;
    lks_heap_init(&h, 1000003);
    CHECK_CODE(lks_heap_set(&h, 1000002, UINT64_MAX, &err), LKS_OK);
    CHECK_CODE(lks_heap_set(&h, 0, UINT64_MAX, &err), LKS_OK);
    CHECK(lks_heap_pop(&h, &at, &id) && id == 0 && at == UINT64_MAX);
    CHECK(lks_heap_pop(&h, &at, &id) && id == 1000002 && at == UINT64_MAX);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"heap: property", test_property},
        {"heap: the empty state", test_empty},
        {"heap: extremes", test_extremes},
        {0},
    });
}
