/*
 * The canary: units that together have every combination of what is there, more of them where a
 * share of failures is to be met with confidence, and matched nodes that do not change meanwhile.
 */
#include "base/intern.h"
#include "core/conform/basis.h"
#include "core/plan/plan_work.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/stats/cover.h"

#include <stdlib.h>

enum {
    PLACES_MAX = 64, /* more power zones or racks than this are not covered one by one */
    SHARE = 10,      /* of the nodes, where no maximum is given */
    NODES_MIN = 8,   /* and at least so many may be */
    CONTROLS_A_NODE = 2,
    GATE_NODES = 8, /* canaries of a pool whose gate compares them, at the least, */
    GATE_SHARE = 4, /* if they are no more than this part of it */
    CONTROLS_MAX = 512,
};

/* What combinations are made of. */
/* A defect can be of those before STRATA; the other ones say where it would show. */
enum attribute { CLASS, REVISION, SUPPLIER, BASE, PLACE, POOL, ATTRIBUTES, STRATA = PLACE };
static const char *const attribute_names[ATTRIBUTES] = {
    "class", "hardware revision", "supplier", "base firmware", "rack or power zone", "pool"};

struct choosing {
    struct lks_planning *p;
    uint32_t *rows; /* by member of a candidate that is a node: ATTRIBUTES values */
    size_t row_count;
    uint32_t *units; /* by candidate */
    struct lks_cover_candidate *candidates;
    size_t count;
    struct lks_intern bases;
    uint32_t *base_of; /* by basis of the state: number + 1 */
    bool *picked;      /* by candidate */
    uint32_t *order;   /* candidates as they were picked, `taken` of them */
    size_t taken;
    uint64_t nodes, weight;
};

/* What is there ----------------------------------------------------------------------------- */

/* The firmware under everything: BMC and BIOS, as they were read last. */
static enum lks_code base_of(struct choosing *c, uint32_t node, uint32_t *out)
{
    const struct lks_state *s = c->p->state;
    uint32_t basis = s->nodes[node].whole;
    *out = 0;
    if (basis == 0 || basis > s->basis_room)
        return LKS_OK;
    if (c->base_of[basis] == 0) {
        struct lks_str text = lks_state_readings(s, basis);
        struct lks_str bmc = lks_basis_value(text, "firmware/bmc");
        struct lks_str bios = lks_basis_value(text, "firmware/bios");
        struct lks_str both =
            lks_plan_text(c->p, "%s%" LKS_STR_FMT "%s%s%" LKS_STR_FMT, bmc.len > 0 ? "bmc " : "",
                          LKS_STR_ARG(bmc), bmc.len > 0 && bios.len > 0 ? ", " : "",
                          bios.len > 0 ? "bios " : "", LKS_STR_ARG(bios));
        if (both.ptr == NULL)
            return lks_arena_fail(&c->p->out->memory, c->p->err);
        uint32_t id;
        if (lks_intern_id(&c->bases, both, &id, c->p->err) != LKS_OK)
            return c->p->err->code;
        c->base_of[basis] = id + 1;
    }
    *out = c->base_of[basis];
    return LKS_OK;
}

static enum lks_code fill_row(struct choosing *c, uint32_t node)
{
    const struct lks_node *n = &c->p->state->nodes[node];
    uint32_t *row = c->rows + c->row_count++ * ATTRIBUTES;
    row[CLASS] = n->class;
    row[REVISION] = n->hardware_revision;
    row[SUPPLIER] = n->supplier;
    row[PLACE] = n->power_zone != 0 ? n->power_zone : n->rack;
    row[POOL] = n->pool;
    return base_of(c, node, &row[BASE]);
}

/* Assets come with their domain; what they are is not covered by itself. */
static enum lks_code add_candidate(struct choosing *c, uint32_t unit)
{
    const struct lks_plan_unit *u = &c->p->units[unit];
    struct lks_cover_candidate *candidate = &c->candidates[c->count];
    *candidate = (struct lks_cover_candidate){.first = (uint32_t)c->row_count,
                                              .weight = u->nodes > 0 ? u->nodes : 1,
                                              .dislike = u->dislike,
                                              .barred = u->barred};
    for (uint32_t i = 0; i < u->count; i++) {
        uint32_t node = c->p->members[u->first + i].node;
        if (c->p->state->nodes[node].asset == 0 && fill_row(c, node) != LKS_OK)
            return c->p->err->code;
    }
    candidate->count = (uint32_t)c->row_count - candidate->first;
    if (candidate->count > 0)
        c->units[c->count++] = unit;
    c->nodes += candidate->count;
    return LKS_OK;
}

static enum lks_code list_candidates(struct choosing *c)
{
    struct lks_planning *p = c->p;
    lks_intern_init(&c->bases, LKS_PLAN_MEMORY_MAX);
    c->rows = lks_plan_array(p, p->member_count, ATTRIBUTES * sizeof(*c->rows));
    c->units = lks_plan_array(p, p->unit_count, sizeof(*c->units));
    c->candidates = lks_plan_array(p, p->unit_count, sizeof(*c->candidates));
    c->base_of = lks_plan_array(p, p->state->basis_room, sizeof(*c->base_of));
    c->picked = lks_plan_array(p, p->unit_count, sizeof(*c->picked));
    c->order = lks_plan_array(p, p->unit_count, sizeof(*c->order));
    if (c->rows == NULL || c->units == NULL || c->candidates == NULL || c->base_of == NULL ||
        c->picked == NULL || c->order == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->unit_count; i++) {
        if (p->units[i].wave == LKS_PLAN_NONE && add_candidate(c, i) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The different values of an attribute, rising. */
static enum lks_code values_of(struct choosing *c, enum attribute attribute, uint32_t **out,
                               size_t *count)
{
    uint32_t *values = lks_plan_array(c->p, c->row_count, sizeof(*values));
    size_t kept = 0;
    if (values == NULL)
        return c->p->err->code;
    for (size_t i = 0; i < c->row_count; i++)
        values[i] = c->rows[i * ATTRIBUTES + attribute];
    if (c->row_count > 1)
        qsort(values, c->row_count, sizeof(*values), by_number);
    for (size_t i = 0; i < c->row_count; i++) {
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    }
    *out = values;
    *count = kept;
    return LKS_OK;
}

/* Thousands of racks would make a canary of thousands. */
static enum lks_code drop_places(struct choosing *c)
{
    uint32_t *values;
    size_t count = 0;
    if (values_of(c, PLACE, &values, &count) != LKS_OK)
        return c->p->err->code;
    if (count <= PLACES_MAX)
        return LKS_OK;
    for (size_t i = 0; i < c->row_count; i++)
        c->rows[i * ATTRIBUTES + PLACE] = 0;
    return lks_plan_note(c->p, LKS_PLAN_UNCOVERED,
                         "%zu racks or power zones are too many for each to be in the canary",
                         count);
}

/* What is not covered ----------------------------------------------------------------------- */

static struct lks_str value_text(const struct choosing *c, uint32_t attribute, uint32_t value)
{
    const struct lks_state *s = c->p->state;
    if (attribute == POOL)
        return value < s->pool_count ? lks_state_text(s, s->pools[value].name) : LKS_STR("");
    if (attribute == BASE)
        return value > 0 ? lks_intern_text(&c->bases, value - 1) : LKS_STR("");
    return lks_state_text(s, value);
}

static bool row_has(const struct choosing *c, size_t row, const struct lks_cover_item *item,
                    unsigned strength)
{
    for (unsigned i = 0; i < strength; i++) {
        if (c->rows[row * ATTRIBUTES + item->attributes[i]] != item->values[i])
            return false;
    }
    return true;
}

static bool has_item(const struct choosing *c, size_t candidate, const struct lks_cover_item *item,
                     unsigned strength)
{
    const struct lks_cover_candidate *who = &c->candidates[candidate];
    for (uint32_t r = 0; r < who->count; r++) {
        if (row_has(c, who->first + r, item, strength))
            return true;
    }
    return false;
}

/* Whether a node that may be picked has it. */
static bool is_there(const struct choosing *c, const struct lks_cover_item *item, unsigned strength)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!c->candidates[i].barred && has_item(c, i, item, strength))
            return true;
    }
    return false;
}

/* Whether a node has it that was picked after the cover, for another reason. */
static bool came_along(const struct choosing *c, const struct lks_cover *cover, size_t item)
{
    for (size_t i = cover->count; i < c->taken; i++) {
        if (has_item(c, c->order[i], &cover->uncovered[item], cover->strength))
            return true;
    }
    return false;
}

static enum lks_code name_uncovered(struct choosing *c, const struct lks_cover_item *item,
                                    unsigned strength)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    enum { BYTES_MAX = 1024 };
    lks_buf_init(&text, BYTES_MAX);
    for (unsigned i = 0; i < strength; i++) {
        struct lks_str value = value_text(c, item->attributes[i], item->values[i]);
        lks_buf_addf(&text, "%s%s '%" LKS_STR_FMT "'", i > 0 ? " with " : "",
                     attribute_names[item->attributes[i]],
                     LKS_STR_ARG(value.len > 0 ? value : LKS_STR("unknown")));
    }
    const char *why = is_there(c, item, strength)
                          ? "the canary would be larger than it may be"
                          : "nodes that have it are on hold, unhealthy, lost, drained or in "
                            "intake";
    return lks_plan_note(c->p, LKS_PLAN_UNCOVERED, "%" LKS_STR_FMT " is not in the canary: %s",
                         LKS_STR_ARG(lks_buf_view(&text)), why);
}

static enum lks_code note_uncovered(struct choosing *c, const struct lks_cover *cover)
{
    size_t count = 0;
    for (size_t i = 0; i < cover->items - cover->covered; i++) {
        if (came_along(c, cover, i) || ++count > LKS_PLAN_NOTES_OF)
            continue;
        if (name_uncovered(c, &cover->uncovered[i], cover->strength) != LKS_OK)
            return c->p->err->code;
    }
    if (count <= LKS_PLAN_NOTES_OF)
        return LKS_OK;
    return lks_plan_note(c->p, LKS_PLAN_UNCOVERED,
                         "%zu more combinations of %zu are not in the canary",
                         count - LKS_PLAN_NOTES_OF, cover->items);
}

/* More of each ------------------------------------------------------------------------------ */

static bool has_value(const struct choosing *c, size_t candidate, enum attribute attribute,
                      uint32_t value, uint64_t *count)
{
    const struct lks_cover_candidate *who = &c->candidates[candidate];
    uint64_t found = 0;
    for (uint32_t i = 0; i < who->count; i++)
        found += c->rows[(who->first + i) * ATTRIBUTES + attribute] == value;
    *count += found;
    return found > 0;
}

static void pick(struct choosing *c, size_t candidate)
{
    c->picked[candidate] = true;
    c->order[c->taken++] = (uint32_t)candidate;
    c->weight += c->candidates[candidate].weight;
}

/* The next that is liked most, of those with this value. */
static size_t next_of(const struct choosing *c, enum attribute attribute, uint32_t value,
                      uint32_t *dislike, size_t from)
{
    uint32_t next = UINT32_MAX;
    for (;;) {
        for (size_t i = from; i < c->count; i++) {
            uint64_t ignored = 0;
            const struct lks_cover_candidate *who = &c->candidates[i];
            if (c->picked[i] || who->barred || who->dislike < *dislike ||
                !has_value(c, i, attribute, value, &ignored))
                continue;
            if (who->dislike == *dislike)
                return i;
            next = who->dislike < next ? who->dislike : next;
        }
        if (next == UINT32_MAX)
            return SIZE_MAX;
        *dislike = next;
        next = UINT32_MAX;
        from = 0;
    }
}

static enum lks_code fill_stratum(struct choosing *c, enum attribute attribute, uint32_t value)
{
    const struct lks_plan_wish *w = &c->p->wish;
    uint64_t all = 0, have = 0;
    uint32_t dislike = 0;
    for (size_t i = 0; i < c->count; i++)
        (void)has_value(c, i, attribute, value, c->picked[i] ? &have : &all);
    uint64_t nodes = all + have;
    uint64_t wanted = lks_cover_size(nodes, w->failure_share, w->confidence_share);
    for (size_t at = 0; have < wanted; at++) {
        at = next_of(c, attribute, value, &dislike, at);
        if (at == SIZE_MAX)
            break;
        if (w->canary_max > 0 && c->weight + c->candidates[at].weight > w->canary_max)
            break;
        pick(c, at);
        (void)has_value(c, at, attribute, value, &have);
    }
    if (have >= wanted)
        return LKS_OK;
    return lks_plan_note(
        c->p, LKS_PLAN_UNCOVERED,
        "%s '%" LKS_STR_FMT "': a fault that %u.%04u %% of its %llu nodes have needs %llu in the "
        "canary to be met, and there are %llu",
        attribute_names[attribute], LKS_STR_ARG(value_text(c, attribute, value)),
        w->failure_share / (LKS_PLAN_MILLION / 100), w->failure_share % (LKS_PLAN_MILLION / 100),
        (unsigned long long)nodes, (unsigned long long)wanted, (unsigned long long)have);
}

/* Where a gate compares nodes, as many as that takes; a quarter of the pool at most, since the
 * others are compared with. */
static enum lks_code fill_gate(struct choosing *c, enum attribute attribute, uint32_t value)
{
    const struct lks_pool *pool = lks_plan_pool(c->p, value);
    uint64_t all = 0, have = 0, most = c->p->wish.canary_max;
    uint32_t dislike = 0;
    if (pool == NULL || pool->gate == NULL)
        return LKS_OK;
    for (size_t i = 0; i < c->count; i++)
        (void)has_value(c, i, attribute, value, c->picked[i] ? &have : &all);
    uint64_t wanted =
        (all + have) / GATE_SHARE < GATE_NODES ? (all + have) / GATE_SHARE : GATE_NODES;
    for (size_t at = 0; have < wanted; at++) {
        at = next_of(c, attribute, value, &dislike, at);
        if (at == SIZE_MAX || (most > 0 && c->weight + c->candidates[at].weight > most))
            break;
        pick(c, at);
        (void)has_value(c, at, attribute, value, &have);
    }
    return LKS_OK;
}

struct stratum {
    struct lks_str text;
    uint32_t value;
};

static int by_text(const void *left, const void *right)
{
    const struct stratum *a = left, *b = right;
    return lks_str_cmp(a->text, b->text);
}

/* By their names: numbers may be others after another start. */
static enum lks_code fill_attribute(struct choosing *c, enum attribute attribute,
                                    enum lks_code (*fill)(struct choosing *, enum attribute,
                                                          uint32_t))
{
    uint32_t *values;
    size_t count = 0;
    if (values_of(c, attribute, &values, &count) != LKS_OK)
        return c->p->err->code;
    struct stratum *strata = lks_plan_array(c->p, count, sizeof(*strata));
    if (strata == NULL)
        return c->p->err->code;
    for (size_t i = 0; i < count; i++)
        strata[i] = (struct stratum){value_text(c, attribute, values[i]), values[i]};
    if (count > 1)
        qsort(strata, count, sizeof(*strata), by_text);
    for (size_t i = 0; i < count; i++) {
        if (fill(c, attribute, strata[i].value) != LKS_OK)
            return c->p->err->code;
    }
    return LKS_OK;
}

static enum lks_code fill_strata(struct choosing *c)
{
    for (enum attribute a = 0; a < STRATA && c->p->wish.failure_share > 0; a++) {
        if (fill_attribute(c, a, fill_stratum) != LKS_OK)
            return c->p->err->code;
    }
    return LKS_OK;
}

/* The whole --------------------------------------------------------------------------------- */

static uint64_t most_of(const struct choosing *c)
{
    uint64_t most = c->nodes / SHARE;
    if (c->p->wish.canary_max > 0)
        return c->p->wish.canary_max;
    return most > NODES_MIN ? most : NODES_MIN;
}

/* Where every node would be a canary, or none can be, the first that may is. */
static void pick_one(struct choosing *c)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < c->count && c->weight == 0; i++) {
        if (!c->candidates[i].barred &&
            (best == SIZE_MAX || c->candidates[i].dislike < c->candidates[best].dislike))
            best = i;
    }
    if (best != SIZE_MAX)
        pick(c, best);
}

static enum lks_code choose(struct choosing *c)
{
    const struct lks_cover_question q = {.rows = c->rows,
                                         .row_count = c->row_count,
                                         .width = ATTRIBUTES,
                                         .strength = c->p->wish.strength,
                                         .candidates = c->candidates,
                                         .count = c->count,
                                         .weight_max = most_of(c)};
    struct lks_cover cover = {0};
    if (drop_places(c) != LKS_OK ||
        lks_cover_choose(&q, &c->p->out->memory, &cover, c->p->err) != LKS_OK)
        return c->p->err->code;
    for (size_t i = 0; i < cover.count; i++)
        pick(c, cover.picked[i]);
    if (fill_strata(c) != LKS_OK || fill_attribute(c, POOL, fill_gate) != LKS_OK)
        return c->p->err->code;
    pick_one(c);
    return note_uncovered(c, &cover);
}

enum lks_code lks_plan_canary(struct lks_planning *p, uint32_t wave, uint32_t *count)
{
    struct choosing c = {.p = p};
    enum lks_code code = list_candidates(&c);
    *count = 0;
    if (code == LKS_OK && c.count > 0)
        code = choose(&c);
    lks_intern_fini(&c.bases);
    if (code != LKS_OK)
        return code;
    for (size_t i = 0; i < c.count; i++) {
        if (!c.picked[i])
            continue;
        p->units[c.units[i]].wave = wave;
        p->out->canaries += c.candidates[i].weight;
        ++*count;
    }
    return LKS_OK;
}

/* Controls ---------------------------------------------------------------------------------- */

/* Nodes that are alike in all of this are compared with each other. */
struct match {
    uint32_t class, revision, place, pool;
    uint32_t wanted;
};

static struct match match_of(const struct lks_planning *p, uint32_t node)
{
    const struct lks_node *n = &p->state->nodes[node];
    const struct lks_pool *pool = lks_plan_pool(p, n->pool);
    uint32_t wanted =
        pool != NULL && pool->gate != NULL ? (uint32_t)pool->gate->controls : CONTROLS_A_NODE;
    return (struct match){n->class, n->hardware_revision,
                          n->power_zone != 0 ? n->power_zone : n->rack, n->pool, wanted};
}

static int by_match(const void *left, const void *right)
{
    const struct match *a = left, *b = right;
    const uint32_t x[] = {a->class, a->revision, a->place, a->pool};
    const uint32_t y[] = {b->class, b->revision, b->place, b->pool};
    for (size_t i = 0; i < LKS_COUNT(x); i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

/* What is looked for: each sort once, with how many of it. */
static size_t list_matches(const struct lks_planning *p, const uint32_t *units, size_t count,
                           uint32_t wave, struct match *out)
{
    size_t listed = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_unit *u = &p->units[units[i]];
        for (uint32_t m = 0; u->wave == wave && m < u->nodes; m++)
            out[listed++] = match_of(p, p->members[u->first + m].node);
    }
    if (listed > 1)
        qsort(out, listed, sizeof(*out), by_match);
    for (size_t i = 0; i < listed; i++) {
        if (kept > 0 && by_match(&out[kept - 1], &out[i]) == 0)
            out[kept - 1].wanted += out[i].wanted;
        else
            out[kept++] = out[i];
    }
    return kept;
}

static bool take(struct match *matches, size_t count, const struct match *node)
{
    struct match *found =
        count > 0 ? bsearch(node, matches, count, sizeof(*matches), by_match) : NULL;
    if (found == NULL || found->wanted == 0)
        return false;
    found->wanted--;
    return true;
}

/* Who was found so far. */
struct controls {
    struct match *matches;
    size_t sorts;
    struct lks_str *names;
    size_t found, max;
};

static void take_unit(const struct lks_planning *p, const struct lks_plan_unit *u,
                      struct controls *c)
{
    for (uint32_t m = 0; !u->barred && m < u->nodes && c->found < c->max; m++) {
        uint32_t node = p->members[u->first + m].node;
        struct match match = match_of(p, node);
        if (take(c->matches, c->sorts, &match))
            c->names[c->found++] = lks_state_name(p->state, node);
    }
}

/* Of a ring with a gate that has fewer controls than nodes, such as the last of its pool: those
 * that earlier waves bring. They have the change all the time that is compared. */
static void take_earlier(const struct lks_planning *p, uint32_t wave, size_t nodes,
                         struct controls *c)
{
    if (p->out->waves[wave].kind != LKS_WAVE_RING)
        return;
    c->max = nodes < c->max ? nodes : c->max;
    for (uint32_t i = 0; i < p->unit_count && c->found < c->max; i++) {
        const struct lks_plan_unit *u = &p->units[i];
        const struct lks_pool *pool = lks_plan_pool(p, u->pool);
        if (u->wave < wave && pool != NULL && pool->gate != NULL)
            take_unit(p, u, c);
    }
}

/* Nodes of later waves, and of none. */
enum lks_code lks_plan_controls(struct lks_planning *p, const uint32_t *units, size_t count,
                                uint32_t wave, size_t max, struct lks_str *out)
{
    size_t nodes = 0;
    for (size_t i = 0; i < count; i++)
        nodes += p->units[units[i]].wave == wave ? p->units[units[i]].nodes : 0;
    struct controls c = {.max = max < CONTROLS_MAX ? max : CONTROLS_MAX};
    c.matches = lks_plan_array(p, nodes, sizeof(*c.matches));
    c.names = lks_plan_array(p, c.max, sizeof(*c.names));
    if (c.matches == NULL || c.names == NULL)
        return p->err->code;
    c.sorts = list_matches(p, units, count, wave, c.matches);
    for (size_t i = 0; i < count && c.found < c.max; i++) {
        if (p->units[units[i]].wave > wave)
            take_unit(p, &p->units[units[i]], &c);
    }
    take_earlier(p, wave, nodes, &c);
    return lks_plan_fold(p, c.names, c.found, out);
}
