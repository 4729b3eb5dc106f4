#include "base/bitset.h"

#include "base/rng.h"
#include "tests/test.h"

enum { SIZE_MAX_TESTED = 300 };

/* The same set as the plainest thing that works. */
struct model {
    bool in[SIZE_MAX_TESTED];
};

static void check_same(const struct lks_bitset *b, const struct model *m)
{
    size_t count = 0, next = b->size;
    for (size_t i = b->size; i-- > 0;) {
        CHECK(lks_bitset_test(b, i) == m->in[i]);
        count += m->in[i];
        next = m->in[i] ? i : next;
        CHECK_INT(lks_bitset_next(b, i), next);
    }
    CHECK_INT(lks_bitset_count(b), count);
    CHECK(lks_bitset_any(b) == (count > 0));
    CHECK_INT(lks_bitset_next(b, b->size), b->size);
}

static void fill(struct lks_bitset *b, struct model *m, struct lks_rng *rng)
{
    unsigned percent = (unsigned)lks_rng_below(rng, 101);
    for (size_t i = 0; i < b->size; i++) {
        m->in[i] = lks_rng_percent(rng, percent);
        if (m->in[i])
            lks_bitset_set(b, i);
        else
            lks_bitset_clear(b, i);
    }
}

enum verb { AND, OR, ANDNOT, VERB_COUNT };

static void combine(enum verb verb, struct lks_bitset *b, const struct lks_bitset *other,
                    struct model *m, const struct model *n)
{
    static void (*const verbs[VERB_COUNT])(struct lks_bitset *, const struct lks_bitset *) = {
        [AND] = lks_bitset_and, [OR] = lks_bitset_or, [ANDNOT] = lks_bitset_andnot};
    verbs[verb](b, other);
    for (size_t i = 0; i < b->size; i++)
        m->in[i] = verb == AND  ? m->in[i] && n->in[i]
                   : verb == OR ? m->in[i] || n->in[i]
                                : m->in[i] && !n->in[i];
}

static void run_seed(uint64_t seed)
{
    struct lks_rng rng = {seed};
    struct lks_err err = {0};
    size_t size = (size_t)lks_rng_below(&rng, SIZE_MAX_TESTED);
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset a = {0}, b = {0};
    struct model m = {0}, n = {0};
    CHECK_CODE(lks_bitset_init(&a, size, &err), LKS_OK);
    CHECK_CODE(lks_bitset_init(&b, size, &err), LKS_OK);
    CHECK(lks_bitset_equal(&a, &b));
    for (int round = 0; round < 10; round++) {
        fill(&a, &m, &rng);
        fill(&b, &n, &rng);
        combine((enum verb)lks_rng_below(&rng, VERB_COUNT), &a, &b, &m, &n);
        check_same(&a, &m);
        check_same(&b, &n);
        CHECK(lks_bitset_equal(&a, &b) == (memcmp(&m, &n, sizeof(m)) == 0));
    }
}

static void test_property(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        lks_test_case("seed %d", (int)seed);
        run_seed(seed);
    }
}

/* Sizes around a word, where the last bit is. */
static const size_t edges[] = {1, 63, 64, 65, 127, 128, 129};

static void test_edges(void)
{
    for (size_t i = 0; i < LKS_COUNT(edges); i++) {
        lks_test_case("size %zu", edges[i]);
        struct lks_err err = {0};
        LKS_CLEANUP(lks_bitset_fini) struct lks_bitset b = {0};
        CHECK_CODE(lks_bitset_init(&b, edges[i], &err), LKS_OK);
        CHECK(!lks_bitset_any(&b));
        lks_bitset_set(&b, edges[i] - 1);
        CHECK_INT(lks_bitset_next(&b, 0), edges[i] - 1);
        CHECK_INT(lks_bitset_count(&b), 1);
        lks_bitset_clear(&b, edges[i] - 1);
        CHECK(!lks_bitset_any(&b));
    }
}

static void test_empty(void)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset none = {0}, zero = {0}, one = {0};
    CHECK_CODE(lks_bitset_init(&zero, 0, &err), LKS_OK);
    CHECK_CODE(lks_bitset_init(&one, 1, &err), LKS_OK);
    CHECK(!lks_bitset_any(&none));
    CHECK_INT(lks_bitset_count(&zero), 0);
    CHECK(lks_bitset_equal(&none, &zero));
    CHECK(!lks_bitset_equal(&zero, &one));
    lks_bitset_or(&none, &zero);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"bitset: property", test_property},
        {"bitset: edges of words", test_edges},
        {"bitset: the empty state", test_empty},
        {0},
    });
}
