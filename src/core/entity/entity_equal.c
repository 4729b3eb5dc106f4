/* Whether two states say the same. Their numbers for texts and their places for nodes and pools may
 * differ, so what a number names is compared, and nodes, pools and bases are found by name. */
#include "core/entity/entity.h"
#include "core/rows/pool.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/state/state_room.h"

struct pair {
    const struct lks_state *a, *b;
    struct lks_err *why;
};

static bool differs(const struct pair *p, const char *what, const char *table, struct lks_str which)
{
    if (p->why != NULL)
        (void)!lks_fail(p->why, LKS_E_INVALID, "%s of %s '%" LKS_STR_FMT "'", what, table,
                        LKS_STR_ARG(which));
    return false;
}

/* Of a row of the state itself. */
static uint32_t place_of(const struct lks_state *s, const struct lks_entity *t, const void *row)
{
    const char *first = lks_entity_row(t, s, 0);
    return (uint32_t)((size_t)((const char *)row - first) / t->size);
}

/* What people call the row: the first of its columns that is a text, where rows have no names. */
static struct lks_str row_name(const struct lks_state *s, const struct lks_entity *t,
                               const void *row)
{
    if (t->key != 0)
        return lks_entity_name(s, t, place_of(s, t, row));
    for (size_t i = 0; i < t->column_count; i++) {
        if (lks_entity_is_text(&t->columns[i]))
            return lks_entity_text(s, &t->columns[i], row, 0);
    }
    return LKS_STR("");
}

static bool same_value(const struct pair *p, const struct lks_column *c, const void *x,
                       const void *y, size_t i)
{
    if (lks_entity_is_text(c))
        return lks_str_eq(lks_entity_text(p->a, c, x, i), lks_entity_text(p->b, c, y, i));
    return lks_entity_number(c, x, i) == lks_entity_number(c, y, i);
}

static bool same_columns(const struct pair *p, const struct lks_entity *t, const void *x,
                         const void *y)
{
    for (size_t k = 0; k < t->column_count; k++) {
        const struct lks_column *c = &t->columns[k];
        for (size_t i = 0; i < c->count; i++) {
            if (!same_value(p, c, x, y, i))
                return differs(p, c->name, t->name, row_name(p->a, t, x));
        }
    }
    return true;
}

/* The next row from `i` on that counts; the number of rows: there is none. */
static uint32_t next(const struct lks_state *s, const struct lks_entity *t, const void *parent,
                     uint32_t i)
{
    uint32_t rows = lks_entity_rows(t, parent);
    while (i < rows && !lks_entity_counts(s, t, lks_entity_row(t, parent, i)))
        i++;
    return i;
}

static bool same_rows(const struct pair *p, const struct lks_entity *t, const void *x,
                      const void *y);

/* The row of `b` that is to be the same as `row`, where `y` has the one at the same place. */
static const void *other(const struct pair *p, const struct lks_entity *t, const void *row,
                         const void *y)
{
    if (t->key != 0)
        return lks_entity_find(p->b, t, lks_entity_name(p->a, t, place_of(p->a, t, row)));
    return t->same != NULL ? t->same(p->a, row, p->b) : y;
}

static bool same_row(const struct pair *p, const struct lks_entity *t, const void *x, const void *y)
{
    if (y == NULL)
        return differs(p, "presence", t->name, row_name(p->a, t, x));
    if (!same_columns(p, t, x, y))
        return false;
    for (size_t i = 0; i < t->child_count; i++) {
        if (!same_rows(p, t->children[i], x, y))
            return false;
    }
    return true;
}

/* All of `x` are in `y`, and there are no more. Depth is that of the tables: three. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool same_rows(const struct pair *p, const struct lks_entity *t, const void *x,
                      const void *y)
{
    uint32_t i = next(p->a, t, x, 0), k = next(p->b, t, y, 0);
    uint32_t ends = lks_entity_rows(t, x), end = lks_entity_rows(t, y);
    for (; i < ends && k < end; i = next(p->a, t, x, i + 1), k = next(p->b, t, y, k + 1)) {
        const void *row = lks_entity_row(t, x, i);
        if (!same_row(p, t, row, other(p, t, row, lks_entity_row(t, y, k))))
            return false;
    }
    return (i == ends && k == end) || differs(p, "number", "rows", lks_str_from(t->name));
}

/* What is no row of a table ----------------------------------------------------------------- */

/* Only what the window still holds counts: the newest ones. */
static bool same_turns(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_state *x = p->a, *y = p->b;
    uint32_t count = lks_mass_count(&x->mass[a], x->turns, x->clock, x->limits.mass_window);
    if (count != lks_mass_count(&y->mass[b], y->turns, y->clock, y->limits.mass_window))
        return false;
    uint32_t n = x->mass[a].newest, k = y->mass[b].newest;
    for (; count > 0; count--, n = x->turns[n].before, k = y->turns[k].before) {
        if (x->turns[n].at != y->turns[k].at ||
            !lks_str_eq(lks_state_name(x, n), lks_state_name(y, k)))
            return false;
    }
    return true;
}

static bool same_mass(const struct pair *p)
{
    for (uint32_t i = 0; i < p->a->pool_count; i++) {
        struct lks_str name = lks_state_text(p->a, p->a->pools[i].name);
        if (p->a->pools[i].known && !same_turns(p, i, lks_state_pool(p->b, name)))
            return differs(p, "turns", "pool", name);
    }
    return true;
}

/* Times are no part of it: bars that follow from them have no bits. */
static bool same_status(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_node_status *x = p->a->standing, *y = p->b->standing;
    for (uint32_t bar = 0; bar < LKS_BAR_NODE_COUNT; bar++) {
        if (lks_bitset_test(&x->bars[bar], a) != lks_bitset_test(&y->bars[bar], b))
            return false;
    }
    return lks_bitset_test(&x->differs, a) == lks_bitset_test(&y->differs, b) &&
           lks_bitset_test(&x->recorded, a) == lks_bitset_test(&y->recorded, b) &&
           lks_bitset_test(&x->deviates, a) == lks_bitset_test(&y->deviates, b) &&
           lks_bitset_test(&x->lacks, a) == lks_bitset_test(&y->lacks, b) &&
           lks_bitset_test(&x->named, a) == lks_bitset_test(&y->named, b);
}

/* A verdict of two nodes is of the same readings, which were compared; so is which stack. */
static bool same_nodes(const struct pair *p)
{
    for (uint32_t n = 0; n < p->a->node_count; n++) {
        struct lks_str name = lks_state_name(p->a, n);
        if (!p->a->nodes[n].placed)
            continue;
        uint32_t k = lks_state_node(p->b, name);
        if ((p->a->nodes[n].verdict == 0) != (p->b->nodes[k].verdict == 0))
            return differs(p, "verdict", "node", name);
        if (!same_status(p, n, k))
            return differs(p, "status", "node", name);
    }
    return p->a->standing->news == p->b->standing->news ||
           differs(p, "number", "nodes", LKS_STR("whose drift is not recorded yet"));
}

bool lks_entity_equal(const struct lks_state *a, const struct lks_state *b, struct lks_err *why)
{
    const struct pair p = {a, b, why};
    for (size_t i = lks_entity_count; i-- > 0;) { /* counts of the whole come last */
        if (!same_rows(&p, lks_entities[i], a, b))
            return false;
    }
    return same_mass(&p) && same_nodes(&p);
}
