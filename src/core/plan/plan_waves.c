/*
 * Waves: who goes when.
 *
 * First the lab, then the canary, then pool after pool from the least critical one, each in rings
 * of so many percent of what is left of it as the class of change says. Nodes that stop anyway, by
 * a planned outage, go first in their pool, and nodes with a problem last. Within a wave units of
 * one rack take turns with those of others.
 */
#include "base/intern.h"
#include "core/plan/plan_work.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdlib.h>

enum {
    ONE_WAY_SOAK = 2, /* all of them are watched longer where a step is irreversible */
    RING_CONTROLS = 64,
    TURNS_MAX = 32, /* a rack with more of them has several in a turn */
    HOSTS_OF_PART = 20000,
};

/* Waves ------------------------------------------------------------------------------------- */

/* One unit in a list that is to be sorted. */
struct place {
    uint32_t criticality, pool;
    struct lks_str pool_name;
    uint32_t wave;
    bool later; /* proves nothing; or barred */
    lks_ms outage;
    lks_text rack;
    uint32_t turn, recipe, unit;
};

struct waving {
    struct lks_planning *p;
    struct place *places;
    uint32_t *units; /* those of one wave or pool */
    size_t count;
    struct place *scratch;
    uint32_t *slices; /* by unit: which of the waves of its ring */
    bool one_way;
};

static struct lks_rec_plan_wave *add_wave(struct waving *w, enum lks_wave_kind kind)
{
    struct lks_planning *p = w->p;
    if (p->out->wave_count == LKS_CHANGE_WAVES &&
        lks_fail(p->err, LKS_E_LIMIT, "a change has at most %d waves; name fewer pools",
                 LKS_CHANGE_WAVES) != LKS_OK)
        return NULL;
    if (LKS_PLANNING_RESERVE(p, p->out->waves, p->wave_room, p->out->wave_count + 1) != LKS_OK)
        return NULL;
    struct lks_rec_plan_wave *wave = &p->out->waves[p->out->wave_count];
    *wave = (struct lks_rec_plan_wave){.index = p->out->wave_count++,
                                       .kind = kind,
                                       .pool = LKS_STR(""),
                                       .controls = LKS_STR(""),
                                       .width_text = LKS_STR("")};
    wave->soak = p->wish.soak;
    if (kind != LKS_WAVE_CANARY)
        wave->soak = wave->soak / 100 * (uint64_t)p->class->ring_soak;
    wave->soak *= w->one_way ? ONE_WAY_SOAK : 1;
    wave->failures_max = kind == LKS_WAVE_RING ? p->wish.failures_max : 0;
    return wave;
}

/* The units of a wave, as a list; and the pool they are of, where it is one. */
static void list_wave(struct waving *w, uint32_t wave, struct lks_str *pool)
{
    uint32_t one = LKS_PLAN_NONE;
    bool several = false;
    w->count = 0;
    for (uint32_t i = 0; i < w->p->unit_count; i++) {
        const struct lks_plan_unit *u = &w->p->units[i];
        if (u->wave != wave)
            continue;
        several |= w->count > 0 && u->pool != one;
        one = u->pool;
        w->units[w->count++] = i;
    }
    if (!several && one < w->p->state->pool_count)
        *pool = lks_state_text(w->p->state, w->p->state->pools[one].name);
}

static enum lks_code finish_wave(struct waving *w, uint32_t index)
{
    struct lks_rec_plan_wave *wave = &w->p->out->waves[index];
    list_wave(w, index, &wave->pool);
    return lks_plan_width(w->p, w->units, w->count, true, &wave->width, &wave->width_text);
}

static enum lks_code plan_canary(struct waving *w)
{
    struct lks_planning *p = w->p;
    uint32_t index = (uint32_t)p->out->wave_count, count = 0;
    if (lks_plan_canary(p, index, &count) != LKS_OK)
        return p->err->code;
    if (count == 0)
        return LKS_OK;
    struct lks_rec_plan_wave *wave = add_wave(w, LKS_WAVE_CANARY);
    if (wave == NULL || finish_wave(w, index) != LKS_OK)
        return p->err->code;
    for (uint32_t i = 0; i < p->unit_count; i++)
        w->units[i] = i;
    return lks_plan_controls(p, w->units, p->unit_count, index, SIZE_MAX, &wave->controls);
}

/* Rings ------------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* What comes first in the order of several keys: the first key that differs decides. */
static int first_of(const int *orders, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && orders[i] == 0)
        i++;
    return orders[i];
}

/* From the least critical pool on; in a pool outages first, and barred units last. */
static int by_pool(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int orders[] = {
        compare(a->criticality, b->criticality),
        lks_str_cmp(a->pool_name, b->pool_name),
        compare(a->pool, b->pool),
        compare(a->later, b->later),
        compare(a->outage, b->outage),
        compare(a->turn, b->turn),
        compare(a->unit, b->unit),
    };
    return first_of(orders, LKS_COUNT(orders));
}

static int by_rack(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int orders[] = {compare(a->wave, b->wave),     compare(a->pool, b->pool),
                          compare(a->rack, b->rack),     compare(a->later, b->later),
                          compare(a->outage, b->outage), compare(a->unit, b->unit)};
    return first_of(orders, LKS_COUNT(orders));
}

/* Of all pools: they share racks. */
static int by_rack_first(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare(a->rack, b->rack);
    return order != 0 ? order : by_rack(left, right);
}

/* The first of each rack, then the second of each: so a ring has some of all of them, and those
 * that are in progress together are apart. */
static void take_turns(struct place *places, size_t count)
{
    if (count > 1)
        qsort(places, count, sizeof(*places), by_rack);
    for (size_t i = 1; i < count; i++) {
        const struct place *before = &places[i - 1];
        if (places[i].rack != 0 && places[i].rack == before->rack &&
            places[i].pool == before->pool && places[i].wave == before->wave)
            places[i].turn = (before->turn + 1) % TURNS_MAX;
    }
}

/* Units that are in no wave yet; for the lab those of its pools alone. */
static size_t list_rest(struct waving *w, bool lab)
{
    const struct lks_state *s = w->p->state;
    size_t count = 0;
    for (uint32_t i = 0; i < w->p->unit_count; i++) {
        const struct lks_plan_unit *u = &w->p->units[i];
        bool pooled = u->pool < s->pool_count;
        if (u->wave != LKS_PLAN_NONE || (lab && !u->dev))
            continue;
        w->places[count++] = (struct place){
            .criticality = pooled ? s->pools[u->pool].criticality : 0,
            .pool = u->pool,
            .pool_name = pooled ? lks_state_text(s, s->pools[u->pool].name) : LKS_STR(""),
            .later = u->barred,
            .outage = u->outage,
            .rack = u->rack,
            .unit = i};
    }
    take_turns(w->places, count);
    if (count > 1)
        qsort(w->places, count, sizeof(*w->places), by_pool);
    return count;
}

/* Which units of a ring: a wave is as wide as its largest unit allows, so domains have waves of
 * their own where nodes alone could be wider. */
enum size { SIZE_ANY, SIZE_NODE, SIZE_DOMAIN };

/* Those of the size, into `scratch` and `units`; how many at once they may be. */
static enum lks_code width_of(struct waving *w, const struct place *places, size_t count,
                              enum size size, size_t *found, uint64_t *width)
{
    *found = 0;
    for (size_t i = 0; i < count; i++) {
        bool domain = w->p->units[places[i].unit].nodes > 1;
        if (size != SIZE_ANY && domain != (size == SIZE_DOMAIN))
            continue;
        w->units[*found] = places[i].unit;
        w->scratch[(*found)++] = places[i];
    }
    *width = 0;
    return *found == 0 ? LKS_OK : lks_plan_width(w->p, w->units, *found, false, width, NULL);
}

/* Each unit of the size gets the number of its slice, from `first` on; how many there are then.
 * With no more than `width` at once some racks need no cut. */
static uint32_t cut(struct waving *w, size_t count, uint64_t width, uint32_t first)
{
    uint32_t slices = first, before = 0;
    if (count > 1)
        qsort(w->scratch, count, sizeof(*w->scratch), by_rack_first);
    for (size_t i = 0; i < count; i++) {
        const struct place *place = &w->scratch[i];
        bool same = i > 0 && place->rack != 0 && place->rack == w->scratch[i - 1].rack;
        before = same ? before + 1 : 0;
        uint32_t limit = lks_plan_rack_limit(w->p, place->rack);
        uint32_t slice = first + (limit < width ? before / limit : 0);
        w->slices[place->unit] = slice;
        slices = slice + 1 > slices ? slice + 1 : slices;
    }
    return slices;
}

static enum lks_code cut_size(struct waving *w, const struct place *places, size_t count,
                              enum size size, uint32_t *slices)
{
    uint64_t width = 0;
    size_t found = 0;
    if (width_of(w, places, count, size, &found, &width) != LKS_OK)
        return w->p->err->code;
    *slices = cut(w, found, width, *slices);
    return LKS_OK;
}

/* The ring in slices: as one, or nodes alone first, in the first `nodes` of them. */
static enum lks_code cut_ring(struct waving *w, const struct place *places, size_t count,
                              uint32_t *nodes, uint32_t *slices)
{
    uint64_t all = 0, alone = 0;
    size_t found = 0;
    *nodes = *slices = 0;
    if (width_of(w, places, count, SIZE_ANY, &found, &all) != LKS_OK ||
        width_of(w, places, count, SIZE_NODE, &found, &alone) != LKS_OK)
        return w->p->err->code;
    if (found == 0 || found == count || alone <= all)
        return cut_size(w, places, count, SIZE_ANY, slices);
    if (cut_size(w, places, count, SIZE_NODE, slices) != LKS_OK)
        return w->p->err->code;
    *nodes = *slices;
    return cut_size(w, places, count, SIZE_DOMAIN, slices);
}

/* One wave: the units of `places` that are in this slice. */
static enum lks_code plan_slice(struct waving *w, enum lks_wave_kind kind,
                                const struct place *places, size_t count, uint32_t slice)
{
    struct lks_rec_plan_wave *wave = add_wave(w, kind);
    if (wave == NULL)
        return w->p->err->code;
    bool several = false;
    w->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (w->slices[places[i].unit] != slice)
            continue;
        w->p->units[places[i].unit].wave = (uint32_t)wave->index;
        w->units[w->count++] = places[i].unit;
        several |= places[i].pool != places[0].pool;
    }
    wave->pool = several ? LKS_STR("") : places[0].pool_name;
    return lks_plan_width(w->p, w->units, w->count, true, &wave->width, &wave->width_text);
}

/* Whether a gate with metrics decides about a node of these places. */
static bool has_gate(const struct waving *w, const struct place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_pool *pool = lks_plan_pool(w->p, places[i].pool);
        if (pool != NULL && pool->gate != NULL)
            return true;
    }
    return false;
}

/* A ring, or the lab, of the first `to` places but for the first `from`; only behind the last of
 * its waves time passes. A gate compares those of one wave: where nodes alone have their own, it
 * would never see any of them, so there time passes, too. Who is compared is of the same places,
 * and later. */
static enum lks_code plan_ring(struct waving *w, enum lks_wave_kind kind,
                               const struct place *places, size_t from, size_t to, size_t all)
{
    struct lks_planning *p = w->p;
    uint32_t nodes = 0, slices = 0;
    if (cut_ring(w, places + from, to - from, &nodes, &slices) != LKS_OK)
        return p->err->code;
    if (nodes > 0 && !has_gate(w, places + from, to - from))
        nodes = 0;
    for (uint32_t s = 0; s < slices; s++) {
        size_t index = p->out->wave_count;
        if (plan_slice(w, kind, places + from, to - from, s) != LKS_OK)
            return p->err->code;
        if (s + 1 < slices && s + 1 != nodes)
            p->out->waves[index].soak = 0;
        for (size_t i = 0; i < all; i++)
            w->units[i] = places[i].unit;
        if (lks_plan_controls(p, w->units, all, (uint32_t)index, RING_CONTROLS,
                              &p->out->waves[index].controls) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* Where all of it is a lab there is none: it has its canary and rings as any other. */
static enum lks_code plan_lab(struct waving *w)
{
    size_t count = list_rest(w, true);
    if (count == 0 || count == w->p->unit_count)
        return LKS_OK;
    return plan_ring(w, LKS_WAVE_LAB, w->places, 0, count, count);
}

/* The rings of one pool. */
static enum lks_code plan_pool(struct waving *w, const struct place *places, size_t count)
{
    struct lks_str rest = w->p->class->rings, word;
    uint64_t percent = 0;
    size_t done = 0;
    const struct lks_pool *pool = lks_plan_pool(w->p, places[0].pool);
    /* With a budget for losses it is one ring, which the evidence lets grow. */
    bool grows = pool != NULL && pool->gate != NULL && pool->gate->loss_budget > 0;
    if (grows)
        rest = LKS_STR("100");
    while (lks_str_word(&rest, &word) && lks_str_number(word, 100, &percent)) {
        size_t end = (count * percent + 99) / 100;
        if (end > done && plan_ring(w, LKS_WAVE_RING, places, done, end, count) != LKS_OK)
            return w->p->err->code;
        done = end > done ? end : done;
    }
    return LKS_OK;
}

static enum lks_code plan_rings(struct waving *w)
{
    size_t count = list_rest(w, false);
    for (size_t i = 0, n = 0; i < count; i += n) {
        for (n = 1; i + n < count && w->places[i + n].pool == w->places[i].pool;)
            n++;
        if (plan_pool(w, w->places + i, n) != LKS_OK)
            return w->p->err->code;
    }
    return LKS_OK;
}

/* Which units exercise the rollback --------------------------------------------------------- */

/* Its number where the state has it; else 0, which nothing was proven of. */
static lks_text text_of(const struct lks_state *s, struct lks_str text)
{
    uint32_t id = 0;
    return lks_intern_find(&s->texts, text, &id) ? id : 0;
}

static bool is_proven(const struct lks_planning *p, const struct lks_plan_kind *kind)
{
    bool agent = p->wish.kind == LKS_CHANGE_AGENT;
    lks_text from = agent ? text_of(p->state, kind->before) : kind->from;
    lks_text to = agent ? text_of(p->state, p->out->change.name) : p->to_text;
    return from != 0 && to != 0 && lks_state_proven(p->state, kind->class, from, to) != NULL;
}

/* All recipes of that hardware from that stack have their unit. */
static void claim(const struct lks_planning *p, bool *claimed, const struct lks_plan_kind *kind)
{
    for (size_t i = 0; i < p->recipe_count; i++) {
        const struct lks_plan_kind *other = &p->recipes[i].kind;
        claimed[i] |= other->class == kind->class && lks_str_eq(other->before, kind->before);
    }
}

/* The first unit of each wave by wave; those that something is the matter with only where there is
 * no other in the wave. */
static void choose_provers(const struct lks_planning *p, bool *claimed, uint32_t wave, bool barred)
{
    for (uint32_t i = 0; i < p->unit_count; i++) {
        struct lks_plan_unit *u = &p->units[i];
        for (uint32_t m = 0; u->wave == wave && u->barred == barred && m < u->count; m++) {
            const struct lks_plan_recipe *r = &p->recipes[p->members[u->first + m].recipe];
            if (claimed[r - p->recipes])
                continue;
            claim(p, claimed, &r->kind);
            u->proves = true;
        }
    }
}

static bool all_claimed(const struct lks_planning *p, const bool *claimed)
{
    for (size_t i = 0; i < p->recipe_count; i++) {
        if (!claimed[i])
            return false;
    }
    return true;
}

static enum lks_code plan_provers(struct waving *w)
{
    struct lks_planning *p = w->p;
    bool *claimed = lks_plan_array(p, p->recipe_count, sizeof(*claimed));
    if (claimed == NULL)
        return p->err->code;
    for (size_t i = 0; i < p->recipe_count; i++)
        claimed[i] |= !p->recipes[i].reverts || is_proven(p, &p->recipes[i].kind);
    for (uint32_t wave = 0; wave < p->out->wave_count && !all_claimed(p, claimed); wave++) {
        choose_provers(p, claimed, wave, false);
        choose_provers(p, claimed, wave, true);
    }
    return LKS_OK;
}

/* Parts ------------------------------------------------------------------------------------- */

static int by_turn(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    const int orders[] = {compare(a->wave, b->wave),     compare(a->later, b->later),
                          compare(a->outage, b->outage), compare(a->turn, b->turn),
                          compare(a->recipe, b->recipe), compare(a->unit, b->unit)};
    return first_of(orders, LKS_COUNT(orders));
}

/* All units in the order they are to begin. */
static void sort_units(struct waving *w)
{
    struct lks_planning *p = w->p;
    for (uint32_t i = 0; i < p->unit_count; i++) {
        const struct lks_plan_unit *u = &p->units[i];
        w->places[i] = (struct place){.wave = u->wave,
                                      .later = !u->proves,
                                      .outage = u->outage,
                                      .rack = u->rack,
                                      .recipe = p->recipes[u->recipe].number,
                                      .unit = i};
    }
    take_turns(w->places, p->unit_count);
    if (p->unit_count > 1)
        qsort(w->places, p->unit_count, sizeof(*w->places), by_turn);
}

static enum lks_code add_part(struct waving *w, const struct lks_plan_unit *u, uint32_t recipe,
                              const struct lks_str *names, size_t count)
{
    struct lks_plan *out = w->p->out;
    struct lks_rec_plan_part *part = &out->parts[out->part_count++];
    *part = (struct lks_rec_plan_part){
        .wave = u->wave,
        .recipe = w->p->recipes[recipe].number,
        .domain = lks_state_text(w->p->state, u->domain),
        .from = w->p->recipes[recipe].kind.before,
        .proves = u->proves,
    };
    return lks_plan_fold(w->p, names, count, &part->hosts);
}

/* A domain: a part for each recipe, next to each other. `told` is by recipe. */
static enum lks_code add_domain(struct waving *w, const struct lks_plan_unit *u,
                                struct lks_str *names, const struct lks_plan_unit **told)
{
    struct lks_planning *p = w->p;
    const struct lks_plan_member *members = p->members + u->first;
    for (uint32_t i = 0; i < u->count; i++) {
        size_t count = 0;
        if (told[members[i].recipe] == u)
            continue;
        told[members[i].recipe] = u;
        for (uint32_t m = i; m < u->count; m++) {
            if (members[m].recipe == members[i].recipe)
                names[count++] = lks_state_name(p->state, members[m].node);
        }
        if (add_part(w, u, members[i].recipe, names, count) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

static bool goes_along(const struct lks_planning *p, const struct place *a, const struct place *b)
{
    return a->wave == b->wave && a->later == b->later && a->outage == b->outage &&
           a->turn == b->turn && a->recipe == b->recipe && p->units[b->unit].domain == 0;
}

/* Nodes alone: as many in a part as begin one after the other and are alike. */
static enum lks_code add_nodes(struct waving *w, size_t at, struct lks_str *names, size_t *taken)
{
    const struct lks_planning *p = w->p;
    const struct place *first = &w->places[at];
    const struct lks_plan_unit *u = &p->units[first->unit];
    size_t count = 0;
    while (at + count < p->unit_count && count < HOSTS_OF_PART &&
           goes_along(p, first, &w->places[at + count])) {
        names[count] = p->units[w->places[at + count].unit].name;
        count++;
    }
    *taken = count;
    return add_part(w, u, u->recipe, names, count);
}

static enum lks_code plan_parts(struct waving *w)
{
    struct lks_planning *p = w->p;
    struct lks_str *names = lks_plan_array(p, p->member_count, sizeof(*names));
    const struct lks_plan_unit **told =
        lks_plan_array(p, p->recipe_count, sizeof(const struct lks_plan_unit *));
    p->out->parts = lks_plan_array(p, p->member_count, sizeof(*p->out->parts));
    if (names == NULL || told == NULL || p->out->parts == NULL)
        return p->err->code;
    sort_units(w);
    for (size_t i = 0, taken = 1; i < p->unit_count; i += taken) {
        const struct lks_plan_unit *u = &p->units[w->places[i].unit];
        taken = 1;
        if ((u->domain != 0 ? add_domain(w, u, names, told) : add_nodes(w, i, names, &taken)) !=
            LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_plan_waves(struct lks_planning *p)
{
    struct waving w = {.p = p};
    w.places = lks_plan_array(p, p->unit_count, sizeof(*w.places));
    w.units = lks_plan_array(p, p->unit_count, sizeof(*w.units));
    w.scratch = lks_plan_array(p, p->unit_count, sizeof(*w.scratch));
    w.slices = lks_plan_array(p, p->unit_count, sizeof(*w.slices));
    if (w.places == NULL || w.units == NULL || w.scratch == NULL || w.slices == NULL ||
        lks_plan_racks(p) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < p->recipe_count; i++)
        w.one_way |= p->recipes[i].one_way;
    if (plan_lab(&w) != LKS_OK || plan_canary(&w) != LKS_OK || plan_rings(&w) != LKS_OK ||
        plan_provers(&w) != LKS_OK)
        return p->err->code;
    return plan_parts(&w);
}
