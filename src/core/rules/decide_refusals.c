/* Refusals by user, image, node and reason, as records. */
#include "core/admission/refused.h"
#include "core/rules/decide_rules.h"
#include "core/state/refusals.h"
#include "core/state/state.h"

#define DAY (24 * UINT64_C(3600) * LKS_SECOND)

enum { OTHER_ROWS = 32 };

struct taking {
    struct lks_deciding *d;
    /* All of the arena. */
    uint32_t *rows;  /* that a pool has today, with those of this decision: of users at twice the
                        pool's number, of nodes behind it; NOT_COUNTED: see count_rows() */
    uint32_t *slots; /* 1 + the record of the decision, by hash; 0: free */
    size_t slot_count;
};

#define NOT_COUNTED UINT32_MAX

static bool begin(struct taking *t)
{
    struct lks_deciding *d = t->d;
    size_t rows = (size_t)2 * d->state->pool_count;
    t->slot_count = 2 * d->event->refusal_count + 1;
    t->rows = lks_arena_array(&d->out->arena, rows + 1, sizeof(*t->rows));
    t->slots = lks_arena_array(&d->out->arena, t->slot_count, sizeof(*t->slots));
    for (size_t i = 0; t->rows != NULL && i < rows; i++)
        t->rows[i] = NOT_COUNTED;
    return t->rows != NULL && t->slots != NULL;
}

/* Rows that the pool has today: they are counted once. */
static uint32_t *count_rows(const struct taking *t, const struct lks_rec_refusal *of)
{
    const struct lks_deciding *d = t->d;
    bool of_nodes = of->node.len > 0;
    uint32_t pool = lks_state_pool(d->state, of->pool);
    LKS_ASSERT(pool < d->state->pool_count);
    uint32_t *rows = &t->rows[(size_t)2 * pool + of_nodes];
    if (*rows == NOT_COUNTED)
        *rows = lks_refusals_rows(d->state, d->now.wall / DAY, of->pool, of_nodes);
    return rows;
}

/* The slot of the record that counts it, which is free where there is none. */
static uint32_t *find_added(const struct taking *t, const struct lks_rec_refusal *of)
{
    for (uint64_t at = lks_refused_hash(of);; at++) {
        uint32_t *slot = &t->slots[at % t->slot_count];
        if (*slot == 0 || lks_refused_same(&t->d->out->records[*slot - 1].refusal, of))
            return slot;
    }
}

/* The last rows of a pool on a day are for others, of which there is one for each reason. */
static bool take_as(struct taking *t, const struct lks_rec_refusal *made, unsigned n)
{
    static const uint32_t room[LKS_REFUSED_TRIES] = {LKS_REFUSED_DAY - 2 * OTHER_ROWS,
                                                     LKS_REFUSED_DAY - OTHER_ROWS, UINT32_MAX};
    struct lks_deciding *d = t->d;
    uint32_t *slot = find_added(t, made);
    if (*slot != 0) {
        d->out->records[*slot - 1].refusal.count += made->count;
        return true;
    }
    bool known = lks_refusals_find(d->state, d->now.wall / DAY, made) != NULL;
    bool last = n > 0 && made->node.len > 0;
    uint32_t *rows = count_rows(t, made);
    if (!known && !last && *rows >= room[n])
        return false;
    *rows += !known;
    lks_decision_add(d, LKS_RECORD_REFUSAL)->refusal = *made;
    *slot = (uint32_t)d->out->count;
    return true;
}

void lks_decide_refusals(struct lks_deciding *d)
{
    size_t count = d->event->refusal_count;
    struct taking t = {.d = d};
    LKS_ASSERT(d->out->count == 0);
    if (!begin(&t)) {
        d->out->failed = LKS_E_NOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct lks_rec_refusal *seen = &d->event->refusals[i];
        struct lks_rec_refusal made;
        LKS_ASSERT(seen->bar < LKS_BAR_COUNT);
        bool taken = seen->count == 0 || lks_state_pool(d->state, seen->pool) == UINT32_MAX;
        for (unsigned n = 0; !taken && n < LKS_REFUSED_TRIES; n++)
            taken = lks_refused_other(seen, n, &made) && take_as(&t, &made, n);
    }
}
