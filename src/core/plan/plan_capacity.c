/*
 * How many may be out of service together, and what stays in service over time.
 *
 * A wave's width holds whichever units are in progress: so many that, were they all of one pool,
 * that pool would keep what it must (headroom, minimum capacity, the largest gang); were they all
 * of one power zone, its feed would bear their return; were all of them lost, there would be spares
 * for irreversible steps; were they all of one rack, three quarters of it would stay.
 */
#include "core/plan/plan_work.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdlib.h>

enum {
    HEADROOM_SHARE = 10, /* of a pool that does not say */
    RACK_SHARE = 4,
    POOLS_TOLD = 64,
    WATTS = 1000,
    PASSES = 3, /* there, back, and there again */
};

/* Sums ------------------------------------------------------------------------------------------
 *
 * Units of a wave by something they share.
 */

struct sum {
    uint32_t key;
    uint64_t units, nodes, largest;
    struct lks_str name; /* where sums are sorted by it */
};

static uint32_t pool_key(const struct lks_plan_unit *u)
{
    return u->pool;
}

static uint32_t rack_key(const struct lks_plan_unit *u)
{
    return u->rack;
}

static uint32_t zone_key(const struct lks_plan_unit *u)
{
    return u->zone;
}

static int by_key(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static enum lks_code sum_up(struct lks_planning *p, const uint32_t *units, size_t count,
                            uint32_t (*key)(const struct lks_plan_unit *), struct sum **out,
                            size_t *sums)
{
    struct sum *list = lks_plan_array(p, count, sizeof(*list));
    size_t kept = 0;
    if (list == NULL)
        return p->err->code;
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_unit *u = &p->units[units[i]];
        list[i] = (struct sum){.key = key(u), .units = 1, .nodes = u->nodes, .largest = u->nodes};
    }
    if (count > 1)
        qsort(list, count, sizeof(*list), by_key);
    for (size_t i = 0; i < count; i++) {
        struct sum *last = &list[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || last->key != list[i].key) {
            list[kept++] = list[i];
            continue;
        }
        last->units++;
        last->nodes += list[i].nodes;
        last->largest = list[i].largest > last->largest ? list[i].largest : last->largest;
    }
    *out = list;
    *sums = kept;
    return LKS_OK;
}

static int by_sum_name(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    return lks_str_cmp(a->name, b->name);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Limits ------------------------------------------------------------------------------------
 *
 * The width of a wave, and the limit that decided it.
 */

enum limit {
    LIMIT_NONE, /* all of its units */
    LIMIT_TENTH,
    LIMIT_HEADROOM,
    LIMIT_CAPACITY,
    LIMIT_GANG,
    LIMIT_RACK,
    LIMIT_ZONE,
    LIMIT_AGENT,
    LIMIT_SPARES,
};

struct width {
    uint64_t units;
    enum limit by;
    struct lks_str of; /* the pool, rack or zone */
    uint64_t number;   /* what the limit is: nodes, percent, kW, parts */
    uint64_t out;      /* nodes of the pool that are out of service already */
    uint64_t each;     /* nodes of its largest unit */
};

/* The first of equal limits stays. A limit of 0 still is one unit: nothing would change else. */
static void narrow(struct width *w, uint64_t units, struct width by)
{
    by.units = units > 0 ? units : 1;
    if (by.units < w->units)
        *w = by;
}

static struct lks_str limit_text(struct lks_planning *p, const struct width *w)
{
    unsigned long long number = w->number;
    switch (w->by) {
    case LIMIT_TENTH:
        return lks_plan_text(p, "a tenth of the %llu nodes of pool %" LKS_STR_FMT, number,
                             LKS_STR_ARG(w->of));
    case LIMIT_HEADROOM:
        return lks_plan_text(p, "headroom of pool %" LKS_STR_FMT ": %llu", LKS_STR_ARG(w->of),
                             number);
    case LIMIT_CAPACITY:
        return lks_plan_text(p, "minimum capacity of pool %" LKS_STR_FMT ": %llu %%",
                             LKS_STR_ARG(w->of), number);
    case LIMIT_GANG:
        return lks_plan_text(p, "gang of pool %" LKS_STR_FMT ": %llu nodes on either stack",
                             LKS_STR_ARG(w->of), number);
    case LIMIT_RACK:
        return lks_plan_text(p, "a quarter of rack %" LKS_STR_FMT, LKS_STR_ARG(w->of));
    case LIMIT_ZONE:
        return lks_plan_text(p, "feed of power zone %" LKS_STR_FMT ": steps of %llu kW",
                             LKS_STR_ARG(w->of), number);
    case LIMIT_AGENT:
        return LKS_STR("a tenth of the wave, as for every agent");
    case LIMIT_SPARES:
        return lks_plan_text(p, "spare parts for irreversible steps: %llu", number);
    case LIMIT_NONE:
        break;
    }
    return LKS_STR("all units of the wave");
}

/* "headroom of pool train: 8, less 2 out of service, in units of 4 nodes" */
static struct lks_str width_text(struct lks_planning *p, const struct width *w)
{
    struct lks_str text = limit_text(p, w);
    if (w->out > 0)
        text = lks_plan_text(p, "%" LKS_STR_FMT ", less %llu out of service", LKS_STR_ARG(text),
                             (unsigned long long)w->out);
    if (w->each > 1)
        text = lks_plan_text(p, "%" LKS_STR_FMT ", in units of %llu nodes", LKS_STR_ARG(text),
                             (unsigned long long)w->each);
    if (p->class->width != 100 && w->by != LIMIT_SPARES)
        text = lks_plan_text(p, "%" LKS_STR_FMT "; %llu %% of that by class %" LKS_STR_FMT,
                             LKS_STR_ARG(text), (unsigned long long)p->class->width,
                             LKS_STR_ARG(p->out->change.class));
    return text;
}

/* Pools ------------------------------------------------------------------------------------- */

bool lks_plan_out(const struct lks_node *n)
{
    return n->held || n->unhealthy || n->intake || n->drained_by != 0 || n->changing != 0 ||
           n->liveness == LKS_LOST;
}

/* Nodes by pool that are out of service now, whatever is planned. */
static enum lks_code count_out(struct lks_planning *p)
{
    if (p->out_now != NULL)
        return LKS_OK;
    p->out_now = lks_plan_array(p, p->state->pool_count, sizeof(*p->out_now));
    if (p->out_now == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->state->node_count; i++) {
        const struct lks_node *n = &p->state->nodes[i];
        if (n->placed && n->asset == 0 && n->pool < p->state->pool_count && lks_plan_out(n))
            p->out_now[n->pool]++;
    }
    return LKS_OK;
}

/* Nodes that the pool can do without, by its own word; and which word that is: TENTH, if none. */
static uint64_t spared_by(const struct lks_pool *said, uint64_t nodes, struct width *by)
{
    uint64_t spared = (nodes + HEADROOM_SHARE - 1) / HEADROOM_SHARE;
    *by = (struct width){.by = LIMIT_TENTH, .number = nodes};
    if (said != NULL && said->headroom > 0) {
        spared = (uint64_t)said->headroom;
        *by = (struct width){.by = LIMIT_HEADROOM, .number = spared};
    }
    if (said != NULL && said->min_capacity_percent > 0) {
        uint64_t percent = (uint64_t)said->min_capacity_percent;
        uint64_t most = nodes - (nodes * percent + 99) / 100;
        if (by->by == LIMIT_TENTH || most < spared) {
            spared = most;
            *by = (struct width){.by = LIMIT_CAPACITY, .number = percent};
        }
    }
    return spared;
}

uint64_t lks_plan_spared(const struct lks_state *s, const struct lks_book *book, uint32_t pool)
{
    const struct lks_fleet *fleet = lks_book_fleet(book);
    const struct lks_state_pool *p = &s->pools[pool];
    struct width ignored;
    return spared_by(fleet != NULL ? lks_fleet_find_pool(fleet, lks_state_text(s, p->name)) : NULL,
                     p->nodes, &ignored);
}

/* So that half of what is in use is still the gang, where that can be at all: old and new are
 * least when there is as much of either. */
static uint64_t spared_by_gang(const struct lks_pool *said, uint64_t in_use, uint64_t spared,
                               uint64_t largest, struct width *by)
{
    if (said == NULL || said->min_gang == 0)
        return spared;
    uint64_t gang = (uint64_t)said->min_gang;
    if (in_use < 2 * gang || in_use - 2 * gang < largest || in_use - 2 * gang >= spared)
        return spared;
    by->by = LIMIT_GANG;
    by->number = gang;
    return in_use - 2 * gang;
}

/* Units of one pool that may be out together, at least one. */
static enum lks_code limit_pool(struct lks_planning *p, const struct sum *sum, struct width *width)
{
    if (sum->key >= p->state->pool_count || sum->largest == 0)
        return LKS_OK;
    const struct lks_state_pool *pool = &p->state->pools[sum->key];
    const struct lks_pool *said = lks_plan_pool(p, sum->key);
    struct width by;
    uint64_t spared = spared_by(said, pool->nodes, &by), out = p->out_now[sum->key];
    if (by.by != LIMIT_TENTH && spared < sum->largest)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "pool %" LKS_STR_FMT " can do without %llu of its nodes at a time, and one "
                        "unit of it has %llu; its headroom and minimum capacity say so",
                        LKS_STR_ARG(lks_state_text(p->state, pool->name)),
                        (unsigned long long)spared, (unsigned long long)sum->largest);
    spared -= least(out, spared);
    spared = spared_by_gang(said, pool->nodes - least(out, pool->nodes), spared, sum->largest, &by);
    by.of = lks_state_text(p->state, pool->name);
    by.out = out;
    by.each = sum->largest;
    if (spared / sum->largest < sum->units)
        narrow(width, spared / sum->largest, by);
    return LKS_OK;
}

static enum lks_code limit_pools(struct lks_planning *p, const uint32_t *units, size_t count,
                                 struct width *width)
{
    struct sum *sums;
    size_t sum_count = 0;
    if (count_out(p) != LKS_OK || sum_up(p, units, count, pool_key, &sums, &sum_count) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < sum_count; i++) {
        if (limit_pool(p, &sums[i], width) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* Racks, power, spares ---------------------------------------------------------------------- */

static int by_rack(const void *left, const void *right)
{
    const struct lks_plan_rack *a = left, *b = right;
    return (a->rack > b->rack) - (a->rack < b->rack);
}

enum lks_code lks_plan_racks(struct lks_planning *p)
{
    size_t kept = 0;
    p->racks = lks_plan_array(p, p->unit_count, sizeof(*p->racks));
    if (p->racks == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->unit_count; i++)
        p->racks[i] = (struct lks_plan_rack){p->units[i].rack, 1};
    if (p->unit_count > 1)
        qsort(p->racks, p->unit_count, sizeof(*p->racks), by_rack);
    for (uint32_t i = 0; i < p->unit_count; i++) {
        if (kept > 0 && p->racks[kept - 1].rack == p->racks[i].rack)
            p->racks[kept - 1].units++;
        else
            p->racks[kept++] = p->racks[i];
    }
    p->rack_count = kept;
    return LKS_OK;
}

uint32_t lks_plan_rack_limit(const struct lks_planning *p, lks_text rack)
{
    const struct lks_plan_rack wanted = {rack, 0};
    const struct lks_plan_rack *found =
        rack != 0 ? bsearch(&wanted, p->racks, p->rack_count, sizeof(wanted), by_rack) : NULL;
    return found == NULL ? UINT32_MAX : (found->units + RACK_SHARE - 1) / RACK_SHARE;
}

static enum lks_code limit_racks(struct lks_planning *p, const uint32_t *units, size_t count,
                                 struct width *width)
{
    struct sum *sums;
    size_t sum_count = 0;
    if (sum_up(p, units, count, rack_key, &sums, &sum_count) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < sum_count; i++) {
        uint32_t together = lks_plan_rack_limit(p, sums[i].key);
        if (sums[i].units > together)
            narrow(width, together,
                   (struct width){.by = LIMIT_RACK, .of = lks_state_text(p->state, sums[i].key)});
    }
    return LKS_OK;
}

static uint64_t watts_of(const struct lks_planning *p, uint32_t pool)
{
    const struct lks_pool *said = lks_plan_pool(p, pool);
    return said != NULL ? (uint64_t)said->node_power_w : 0;
}

/* The units of the wave that are in this zone draw at most so much each. */
static uint64_t heaviest(const struct lks_planning *p, const uint32_t *units, size_t count,
                         lks_text zone)
{
    uint64_t most = 0, watts = 0;
    uint32_t pool = LKS_PLAN_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_unit *u = &p->units[units[i]];
        if (u->zone != zone)
            continue;
        if (u->pool != pool)
            watts = watts_of(p, u->pool);
        pool = u->pool;
        most = watts * u->nodes > most ? watts * u->nodes : most;
    }
    return most;
}

/* What restarts together comes back together. */
static enum lks_code limit_zones(struct lks_planning *p, const uint32_t *units, size_t count,
                                 struct width *width)
{
    struct sum *sums;
    size_t sum_count = 0;
    if (p->fleet == NULL)
        return LKS_OK;
    if (sum_up(p, units, count, zone_key, &sums, &sum_count) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < sum_count; i++)
        sums[i].name = lks_state_text(p->state, sums[i].key);
    if (sum_count > 1)
        qsort(sums, sum_count, sizeof(*sums), by_sum_name);
    for (size_t i = 0; i < sum_count; i++) {
        struct lks_str zone = sums[i].name;
        int64_t ramp = sums[i].key != 0 ? lks_fleet_power(p->fleet, zone).ramp_kw : 0;
        uint64_t watts = ramp > 0 ? heaviest(p, units, count, sums[i].key) : 0;
        if (watts == 0)
            continue;
        uint64_t together = (uint64_t)ramp * WATTS / watts;
        if (together == 0 &&
            lks_plan_note(p, LKS_PLAN_WARNING,
                          "power zone %" LKS_STR_FMT ": one unit draws %llu W when it returns, "
                          "and the zone bears steps of %lld kW",
                          LKS_STR_ARG(zone), (unsigned long long)watts, (long long)ramp) != LKS_OK)
            return p->err->code;
        if (together < sums[i].units)
            narrow(width, together,
                   (struct width){.by = LIMIT_ZONE, .of = zone, .number = (uint64_t)ramp});
    }
    return LKS_OK;
}

static void limit_spares(const struct lks_planning *p, const uint32_t *units, size_t count,
                         struct width *width)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_unit *u = &p->units[units[i]];
        for (uint32_t m = 0; m < u->count; m++) {
            uint32_t spares = p->recipes[p->members[u->first + m].recipe].spares;
            narrow(width, spares, (struct width){.by = LIMIT_SPARES, .number = spares});
        }
    }
}

enum lks_code lks_plan_width(struct lks_planning *p, const uint32_t *units, size_t count,
                             bool racks, uint64_t *out, struct lks_str *text)
{
    struct width width = {.units = count};
    if (p->wish.kind == LKS_CHANGE_STACK &&
        (limit_pools(p, units, count, &width) != LKS_OK ||
         (racks && limit_racks(p, units, count, &width) != LKS_OK) ||
         limit_zones(p, units, count, &width) != LKS_OK))
        return p->err->code;
    if (p->wish.kind == LKS_CHANGE_AGENT)
        narrow(&width, (count + HEADROOM_SHARE - 1) / HEADROOM_SHARE,
               (struct width){.by = LIMIT_AGENT});
    width.units = width.units * (uint64_t)p->class->width / 100;
    limit_spares(p, units, count, &width);
    *out = width.units > 0 ? width.units : 1;
    if (text != NULL)
        *text = width_text(p, &width);
    return LKS_OK;
}

/* Over time --------------------------------------------------------------------------------- */

/* One pool, on the way. */
struct course {
    uint64_t nodes;   /* that can be in use */
    uint64_t changed; /* so far */
    uint64_t least_in_use, least_gang;
    lks_ms least_at;
    bool touched;
};

struct forecast {
    struct lks_planning *p;
    struct course *courses; /* by pool */
    uint32_t *units;        /* by wave */
    size_t *first;          /* by wave: where its units begin; one more than waves */
    lks_ms now;
};

static enum lks_code add_moment(struct forecast *f, uint32_t pool, lks_ms at, uint64_t out_of_use,
                                uint64_t changed)
{
    struct lks_planning *p = f->p;
    struct course *c = &f->courses[pool];
    if (LKS_PLANNING_RESERVE(p, p->out->moments, p->moment_room, p->out->moment_count + 1) !=
        LKS_OK)
        return p->err->code;
    uint64_t in_use = c->nodes - least(out_of_use, c->nodes);
    uint64_t after = least(changed, in_use), before = in_use - after;
    uint64_t gang = before > after ? before : after;
    p->out->moments[p->out->moment_count++] =
        (struct lks_plan_moment){.pool = lks_state_text(p->state, p->state->pools[pool].name),
                                 .after = at,
                                 .in_use = (uint32_t)in_use,
                                 .before = (uint32_t)before,
                                 .changed = (uint32_t)after,
                                 .gang = (uint32_t)gang};
    c->least_in_use = least(c->least_in_use, in_use);
    if (gang < c->least_gang) {
        c->least_gang = gang;
        c->least_at = at;
    }
    return LKS_OK;
}

/* A pool while one wave goes through it: at its beginning, where old and new are alike, at its end.
 */
static enum lks_code pass_pool(struct forecast *f, const struct sum *sum, uint64_t width,
                               lks_ms takes)
{
    struct course *c = &f->courses[sum->key];
    uint64_t out = least(width * sum->largest, sum->nodes), begun = c->changed;
    uint64_t end = c->changed + sum->nodes;
    uint64_t in_use = c->nodes - least(out, c->nodes), half = in_use / 2;
    c->touched = true;
    if (add_moment(f, sum->key, f->now, out, begun) != LKS_OK)
        return f->p->err->code;
    if (half > begun && half < end && end > begun &&
        add_moment(f, sum->key, f->now + takes * (half - begun) / (end - begun), out, half) !=
            LKS_OK)
        return f->p->err->code;
    c->changed = end;
    return add_moment(f, sum->key, f->now + takes, 0, end);
}

lks_ms lks_plan_wave_takes(uint64_t units, uint64_t width, lks_ms longest, bool proves)
{
    uint64_t at_once = width > 0 ? width : 1;
    return longest * ((units + at_once - 1) / at_once + (proves ? PASSES - 1 : 0));
}

static enum lks_code pass_wave(struct forecast *f, uint32_t wave)
{
    struct lks_planning *p = f->p;
    const struct lks_rec_plan_wave *w = &p->out->waves[wave];
    const uint32_t *units = f->units + f->first[wave];
    size_t count = f->first[wave + 1] - f->first[wave], sum_count = 0;
    struct sum *sums;
    lks_ms longest = 0;
    bool proves = false;
    for (size_t i = 0; i < count; i++) {
        const struct lks_plan_unit *u = &p->units[units[i]];
        longest = u->takes > longest ? u->takes : longest;
        proves |= u->proves;
    }
    lks_ms takes = lks_plan_wave_takes(count, w->width, longest, proves);
    if (sum_up(p, units, count, pool_key, &sums, &sum_count) != LKS_OK)
        return p->err->code;
    for (size_t i = 0; i < sum_count; i++) {
        bool pooled = sums[i].key < p->state->pool_count;
        sums[i].name =
            pooled ? lks_state_text(p->state, p->state->pools[sums[i].key].name) : LKS_STR("");
    }
    if (sum_count > 1)
        qsort(sums, sum_count, sizeof(*sums), by_sum_name);
    for (size_t i = 0; i < sum_count; i++) {
        if (sums[i].key < p->state->pool_count && pass_pool(f, &sums[i], w->width, takes) != LKS_OK)
            return p->err->code;
    }
    f->now += takes + w->soak;
    return LKS_OK;
}

static enum lks_code note_pool(struct forecast *f, uint32_t pool)
{
    struct lks_planning *p = f->p;
    const struct course *c = &f->courses[pool];
    const struct lks_pool *said = lks_plan_pool(p, pool);
    struct lks_str name = lks_state_text(p->state, p->state->pools[pool].name);
    unsigned long long hours = c->least_at / (60 * LKS_PLAN_MINUTE);
    char all[LKS_COUNT_TEXT_SIZE];
    if (lks_plan_note(p, LKS_PLAN_CAPACITY,
                      "pool %" LKS_STR_FMT
                      ": at least %llu of %s stay in service; the largest gang on one "
                      "stack is %llu at the least, after about %llu h",
                      LKS_STR_ARG(name), (unsigned long long)c->least_in_use,
                      lks_str_count_text(c->nodes, "node", all), (unsigned long long)c->least_gang,
                      hours) != LKS_OK)
        return p->err->code;
    if (said == NULL || said->min_gang == 0 || c->least_gang >= (uint64_t)said->min_gang)
        return LKS_OK;
    return lks_plan_note(p, LKS_PLAN_WARNING,
                         "pool %" LKS_STR_FMT ": its min_gang of %lld nodes cannot be kept while "
                         "one part has the old stack and the other the new one; the largest "
                         "gang is %llu for a while",
                         LKS_STR_ARG(name), (long long)said->min_gang,
                         (unsigned long long)c->least_gang);
}

static enum lks_code note_pools(struct forecast *f)
{
    struct lks_planning *p = f->p;
    struct sum *pools = lks_plan_array(p, p->state->pool_count, sizeof(*pools));
    size_t count = 0;
    if (pools == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->state->pool_count; i++) {
        if (f->courses[i].touched)
            pools[count++] =
                (struct sum){.key = i, .name = lks_state_text(p->state, p->state->pools[i].name)};
    }
    if (count > 1)
        qsort(pools, count, sizeof(*pools), by_sum_name);
    for (size_t i = 0; i < count && i < POOLS_TOLD; i++) {
        if (note_pool(f, pools[i].key) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* Units by wave. */
static enum lks_code bucket(struct forecast *f)
{
    struct lks_planning *p = f->p;
    size_t waves = p->out->wave_count;
    f->units = lks_plan_array(p, p->unit_count, sizeof(*f->units));
    f->first = lks_plan_array(p, waves + 1, sizeof(*f->first));
    if (f->units == NULL || f->first == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < p->unit_count; i++)
        f->first[p->units[i].wave + 1]++;
    for (size_t i = 1; i <= waves; i++)
        f->first[i] += f->first[i - 1];
    for (uint32_t i = 0; i < p->unit_count; i++)
        f->units[f->first[p->units[i].wave]++] = i;
    for (size_t i = waves; i > 0; i--)
        f->first[i] = f->first[i - 1];
    f->first[0] = 0;
    return LKS_OK;
}

/* Power ------------------------------------------------------------------------------------- */

int64_t lks_plan_power_limit(const struct lks_stack *stack)
{
    const struct lks_doc *doc = stack != NULL ? lks_stack_setting(stack, "power_limit_w") : NULL;
    return doc != NULL && doc->kind == LKS_DOC_NUMBER ? doc->number : 0;
}

/* By how much the draw of a member rises, in watts. */
static int64_t rise_of(const struct lks_planning *p, const struct lks_plan_member *m)
{
    const struct lks_stack *from = lks_book_stack(p->book, p->recipes[m->recipe].kind.before);
    const struct lks_group *group = p->groups[m->node];
    int64_t before = lks_plan_power_limit(from), after = lks_plan_power_limit(p->to);
    if (group == NULL || group->class == NULL || before == 0 || after == 0)
        return 0;
    return (after - before) * group->class->gpus;
}

struct draw {
    lks_text zone;
    int64_t now, rise;
};

static int by_zone(const void *left, const void *right)
{
    const struct draw *a = left, *b = right;
    return (a->zone > b->zone) - (a->zone < b->zone);
}

static enum lks_code check_zone(struct lks_planning *p, const struct draw *sum)
{
    struct lks_str zone = lks_state_text(p->state, sum->zone);
    int64_t budget = lks_fleet_power(p->fleet, zone).budget_kw * WATTS;
    if (budget == 0 || sum->rise <= 0 || sum->now + sum->rise <= budget)
        return LKS_OK;
    return lks_fail(p->err, LKS_E_REFUSED,
                    "power zone %" LKS_STR_FMT ": with the new power limit its nodes can draw %lld "
                    "kW, and its budget is %lld kW",
                    LKS_STR_ARG(zone), (long long)((sum->now + sum->rise) / WATTS),
                    (long long)(budget / WATTS));
}

/* A higher power limit is paid by the zone. */
static enum lks_code check_power(struct lks_planning *p)
{
    if (p->fleet == NULL || lks_plan_power_limit(p->to) == 0)
        return LKS_OK;
    const struct lks_state *s = p->state;
    struct draw *draws = lks_plan_array(p, s->node_count, sizeof(*draws));
    if (draws == NULL)
        return p->err->code;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->placed && n->asset == 0)
            draws[i] = (struct draw){n->power_zone, (int64_t)watts_of(p, n->pool), 0};
    }
    for (uint32_t i = 0; i < p->member_count; i++)
        draws[p->members[i].node].rise = rise_of(p, &p->members[i]);
    if (s->node_count > 1)
        qsort(draws, s->node_count, sizeof(*draws), by_zone);
    for (uint32_t i = 0, n = 0; i < s->node_count; i += n) {
        struct draw sum = draws[i];
        for (n = 1; i + n < s->node_count && draws[i + n].zone == sum.zone; n++) {
            sum.now += draws[i + n].now;
            sum.rise += draws[i + n].rise;
        }
        if (sum.zone != 0 && check_zone(p, &sum) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_plan_forecast(struct lks_planning *p)
{
    struct forecast f = {.p = p};
    f.courses = lks_plan_array(p, p->state->pool_count, sizeof(*f.courses));
    if (f.courses == NULL || count_out(p) != LKS_OK || bucket(&f) != LKS_OK ||
        check_power(p) != LKS_OK)
        return p->err->code;
    for (uint32_t i = 0; i < p->state->pool_count; i++) {
        uint64_t nodes = p->state->pools[i].nodes;
        f.courses[i].nodes = nodes - least(p->out_now[i], nodes);
        f.courses[i].least_in_use = f.courses[i].least_gang = f.courses[i].nodes;
    }
    for (uint32_t wave = 0; wave < p->out->wave_count; wave++) {
        if (pass_wave(&f, wave) != LKS_OK)
            return p->err->code;
    }
    p->out->takes = f.now;
    return note_pools(&f);
}
