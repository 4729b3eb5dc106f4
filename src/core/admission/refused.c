#include "core/admission/refused.h"

enum { MEMORY_MAX = 8 << 20, SPARE = 64 };

bool lks_refused_other(const struct lks_rec_refusal *of, unsigned n, struct lks_rec_refusal *out)
{
    const struct lks_str others = LKS_STR(LKS_REFUSED_OTHERS);
    *out = *of;
    if (n > 0 && of->node.len > 0)
        out->node = others;
    else if (n > 0)
        out->image = others;
    if (n > 1)
        out->user = others;
    return n == 0 || (n == 1 && (of->node.len > 0 || of->image.len > 0)) ||
           (n == 2 && of->node.len == 0);
}

uint64_t lks_refused_hash(const struct lks_rec_refusal *of)
{
    const struct lks_str texts[] = {of->pool, of->user, of->image, of->node};
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ of->bar;
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        for (size_t k = 0; k < texts[i].len; k++)
            h = (h ^ (uint8_t)texts[i].ptr[k]) * UINT64_C(0x100000001b3);
        h = (h ^ UINT64_C(0x100)) * UINT64_C(0x100000001b3);
    }
    return h ^ h >> 32;
}

bool lks_refused_same(const struct lks_rec_refusal *a, const struct lks_rec_refusal *b)
{
    return a->bar == b->bar && lks_str_eq(a->pool, b->pool) && lks_str_eq(a->user, b->user) &&
           lks_str_eq(a->image, b->image) && lks_str_eq(a->node, b->node);
}

/* Its slot, which is free where there is no row. */
static uint16_t *find(const struct lks_refused *r, const struct lks_rec_refusal *of)
{
    uint64_t at = lks_refused_hash(of);
    for (;; at++) {
        uint16_t *slot = &r->slots[at % LKS_REFUSED_SLOTS];
        if (*slot == 0 || lks_refused_same(&r->rows[*slot - 1], of))
            return slot;
    }
}

/* The n-th try has a place where a few more rows than for the try before are taken. */
static bool has_place(const struct lks_refused *r, const struct lks_rec_refusal *of, unsigned n)
{
    static const uint32_t room[] = {LKS_REFUSED_MAX - 2 * SPARE, LKS_REFUSED_MAX - SPARE,
                                    LKS_REFUSED_MAX};
    uint32_t count = of->node.len > 0 ? r->of_nodes : r->count - r->of_nodes;
    return count < room[n];
}

static bool add_row(struct lks_refused *r, uint64_t job, const struct lks_rec_refusal *of,
                    uint16_t *slot)
{
    struct lks_rec_refusal made = *of;
    struct lks_str *const texts[] = {&made.pool, &made.user, &made.image, &made.node};
    made.count = 1;
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        struct lks_str copy = lks_arena_copy(&r->arena, *texts[i]);
        if (texts[i]->len > 0 && copy.ptr == NULL)
            return false;
        *texts[i] = copy;
    }
    r->jobs[r->count] = job;
    r->rows[r->count++] = made;
    r->of_nodes += made.node.len > 0;
    *slot = (uint16_t)r->count;
    return true;
}

static bool begin(struct lks_refused *r)
{
    if (r->rows != NULL)
        return true;
    lks_arena_init(&r->arena, MEMORY_MAX);
    r->slots = lks_arena_array(&r->arena, LKS_REFUSED_SLOTS, sizeof(*r->slots));
    r->rows = lks_arena_array(&r->arena, (size_t)2 * LKS_REFUSED_MAX, sizeof(*r->rows));
    r->jobs = lks_arena_array(&r->arena, (size_t)2 * LKS_REFUSED_MAX, sizeof(*r->jobs));
    if (r->slots != NULL && r->rows != NULL && r->jobs != NULL)
        return true;
    lks_refused_fini(r);
    return false;
}

static void count(struct lks_refused *r, uint64_t job, uint32_t row)
{
    r->rows[row].count += r->jobs[row] != job;
    r->jobs[row] = job;
}

void lks_refused_add(struct lks_refused *r, uint64_t job, const struct lks_rec_refusal *of)
{
    struct lks_rec_refusal made;
    if (!begin(r))
        return;
    for (unsigned n = 0; n < LKS_REFUSED_TRIES; n++) {
        if (!lks_refused_other(of, n, &made))
            continue;
        uint16_t *slot = find(r, &made);
        if (*slot != 0) {
            count(r, job, *slot - 1U);
            return;
        }
        if (has_place(r, &made, n) && add_row(r, job, &made, slot))
            return;
    }
}

void lks_refused_fini(struct lks_refused *r)
{
    lks_arena_fini(&r->arena);
    *r = (struct lks_refused){0};
}
