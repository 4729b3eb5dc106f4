#include "core/state/refintern.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>

static uint32_t take(struct lks_refintern *p, const char *text)
{
    struct lks_err err = {0};
    uint32_t id = 0;
    CHECK_CODE(lks_refintern_take(p, lks_str_from(text), &id, &err), LKS_OK);
    return id;
}

static void test_uses(void)
{
    LKS_CLEANUP(lks_refintern_fini) struct lks_refintern p = {0};
    lks_refintern_init(&p, 1);
    uint32_t a = take(&p, "a"), empty = take(&p, "");
    CHECK(a != empty);
    CHECK_INT(take(&p, "a"), a);
    CHECK_STR(lks_refintern_text(&p, a), "a");
    CHECK_STR(lks_refintern_text(&p, empty), "");
    lks_refintern_drop(&p, a);
    CHECK_STR(lks_refintern_text(&p, a), "a");
    lks_refintern_drop(&p, a);
    lks_test_case("its place goes to another");
    CHECK_INT(take(&p, "b"), a);
    CHECK_STR(lks_refintern_text(&p, a), "b");
    CHECK(take(&p, "a") != a);
}

/* Held against a plain list of what is in use, which texts share at random. */
static void test_model(void)
{
    enum { TEXTS = 300, STEPS = 100000 };
    static uint32_t uses[TEXTS], ids[TEXTS];
    LKS_CLEANUP(lks_refintern_fini) struct lks_refintern p = {0};
    struct lks_rng rng = {3};
    lks_refintern_init(&p, 2);
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t t = lks_rng_below(&rng, TEXTS);
        char text[16];
        snprintf(text, sizeof(text), "text %d", (int)t);
        if (uses[t] > 0 && lks_rng_percent(&rng, 50)) {
            if (!CHECK_STR(lks_refintern_text(&p, ids[t]), text))
                return;
            lks_refintern_drop(&p, ids[t]);
            uses[t]--;
        } else {
            uint32_t id = take(&p, text);
            if (!CHECK(uses[t] == 0 || id == ids[t]))
                return;
            ids[t] = id;
            uses[t]++;
        }
    }
    CHECK(p.count <= TEXTS);
    for (size_t t = 0; t < TEXTS; t++) {
        for (; uses[t] > 0; uses[t]--)
            lks_refintern_drop(&p, ids[t]);
    }
    size_t kept = 0;
    for (uint32_t i = 0; i < p.count; i++)
        kept += p.entries[i].text != NULL;
    CHECK_INT(kept, 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"refintern: uses are counted", test_uses},
        {"refintern: as a list would", test_model},
        {0},
    });
}
