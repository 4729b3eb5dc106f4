#include "core/plan/plan.h"

#include "codec/time/windows.h"
#include "core/plan/plan_work.h"
#include "core/registry/named.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"

#include <stdlib.h>

enum {
    CONFIDENCE = 950000, /* where only a share of failures is said */
    FAILURES = 50000,    /* where only a confidence is said */
    HOSTS_MAX = 120,     /* bytes of a host list in a line for people */
};

const char *const lks_change_order_words[] = {"start", "pause",    "resume",
                                              "abort", "rollback", NULL};

/* Memory ------------------------------------------------------------------------------------ */

void *lks_plan_array(struct lks_planning *p, size_t count, size_t size)
{
    void *array = lks_arena_array(&p->out->memory, count + 1, size);
    if (array != NULL || lks_arena_fail(&p->out->memory, p->err) != LKS_OK)
        return array;
    return NULL;
}

struct lks_str lks_plan_text(struct lks_planning *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&p->out->memory, fmt, ap);
    va_end(ap);
    return text;
}

enum lks_code lks_plan_note(struct lks_planning *p, enum lks_plan_note kind, const char *fmt, ...)
{
    struct lks_plan *out = p->out;
    if (out->note_count == LKS_CHANGE_NOTES)
        return LKS_OK;
    if (LKS_PLANNING_RESERVE(p, out->notes, p->note_room, out->note_count + 1) != LKS_OK)
        return p->err->code;
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&out->memory, fmt, ap);
    va_end(ap);
    if (text.ptr == NULL)
        return lks_arena_fail(&out->memory, p->err);
    for (size_t i = 0; i < out->note_count; i++) {
        if (lks_str_eq(out->notes[i].text, text))
            return LKS_OK; /* said already, by another recipe or wave */
    }
    out->notes[out->note_count++] = (struct lks_rec_plan_note){.kind = kind, .text = text};
    return LKS_OK;
}

enum lks_code lks_plan_fold(struct lks_planning *p, const struct lks_str *names, size_t count,
                            struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    if (lks_hostlist_fold(names, count, &text, p->err) != LKS_OK ||
        lks_buf_check(&text, p->err) != LKS_OK)
        return p->err->code;
    *out = lks_arena_copy(&p->out->memory, lks_buf_view(&text));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

enum lks_code lks_plan_hosts(struct lks_planning *p, const struct lks_str *names, size_t count,
                             struct lks_str *out)
{
    char many[LKS_COUNT_TEXT_SIZE];
    if (lks_plan_fold(p, names, count, out) != LKS_OK)
        return p->err->code;
    if (out->len > HOSTS_MAX)
        *out = lks_plan_text(p, "%s, %" LKS_STR_FMT " the first",
                             lks_str_count_text(count, "node", many), LKS_STR_ARG(names[0]));
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

const struct lks_pool *lks_plan_pool(const struct lks_planning *p, uint32_t pool)
{
    if (p->fleet == NULL || pool >= p->state->pool_count)
        return NULL;
    return lks_fleet_find_pool(p->fleet, lks_state_text(p->state, p->state->pools[pool].name));
}

/* What is asked for ------------------------------------------------------------------------- */

static enum lks_code check_shares(struct lks_planning *p)
{
    struct lks_plan_wish *w = &p->wish;
    if (w->strength > LKS_PLAN_STRENGTH_MAX)
        return lks_fail(p->err, LKS_E_INVALID, "strength: from 1 to %d", LKS_PLAN_STRENGTH_MAX);
    if (w->failure_share >= LKS_PLAN_MILLION || w->confidence_share >= LKS_PLAN_MILLION)
        return lks_fail(p->err, LKS_E_INVALID,
                        "failure share and confidence: less than all, in millionths");
    if (w->failure_share > 0 || w->confidence_share > 0) {
        w->failure_share = w->failure_share > 0 ? w->failure_share : FAILURES;
        w->confidence_share = w->confidence_share > 0 ? w->confidence_share : CONFIDENCE;
    }
    w->strength = w->strength > 0 ? w->strength : LKS_PLAN_STRENGTH;
    return LKS_OK;
}

static enum lks_code check_wish(struct lks_planning *p)
{
    const struct lks_plan_wish *w = &p->wish;
    struct lks_windows ignored;
    if (w->kind >= LKS_CHANGE_KIND_COUNT)
        return lks_fail(p->err, LKS_E_INVALID, "kind: there is no such kind of change");
    if ((w->hosts.len > 0) == (w->pool.len > 0))
        return lks_fail(p->err, LKS_E_INVALID, "name either hosts or a pool");
    if (w->stack.len == 0)
        return lks_fail(p->err, LKS_E_INVALID, "stack: say where to");
    if (w->not_after > 0 && (w->not_after <= w->not_before || w->not_after <= p->wall))
        return lks_fail(p->err, LKS_E_INVALID, "not_after: that time passes before it starts");
    if (lks_windows_parse(w->windows, &ignored, p->err) != LKS_OK)
        return p->err->code;
    return check_shares(p);
}

/* The stack --------------------------------------------------------------------------------- */

static enum lks_code find_stack(struct lks_planning *p)
{
    const struct lks_state *s = p->state;
    const struct lks_state_stack *known = NULL;
    if (lks_named_stack(s, p->wish.stack, &known, p->err) != LKS_OK)
        return lks_wrap(p->err, "stack");
    if (known->step == LKS_STEP_RETIRED)
        return lks_fail(p->err, LKS_E_REFUSED, "stack: %" LKS_STR_FMT " is retired",
                        LKS_STR_ARG(lks_state_text(s, known->name)));
    p->to_text = known->digest;
    p->out->change.stack = lks_state_text(s, known->digest);
    p->out->change.name = lks_state_text(s, known->name);
    p->to = lks_book_stack(p->book, p->out->change.stack);
    if (p->to == NULL)
        return lks_fail(p->err, LKS_E_NOT_FOUND,
                        "stack: the manifest of %" LKS_STR_FMT " is not here",
                        LKS_STR_ARG(p->out->change.name));
    return LKS_OK;
}

static enum lks_code find_target(struct lks_planning *p)
{
    if (p->wish.kind == LKS_CHANGE_STACK)
        return find_stack(p);
    p->out->change.name = lks_arena_copy(&p->out->memory, p->wish.stack);
    p->out->change.stack = LKS_STR("");
    return p->out->change.name.ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

/* The whole --------------------------------------------------------------------------------- */

/* Times are of sites: where there are windows their clocks have to be known. */
static enum lks_code check_clocks(struct lks_planning *p)
{
    const struct lks_state *s = p->state;
    lks_text site = 0;
    for (uint32_t i = 0; p->fleet != NULL && p->wish.windows.len > 0 && i < p->member_count; i++) {
        lks_text its = s->nodes[p->members[i].node].site;
        struct lks_tz ignored;
        if (its == site)
            continue;
        site = its;
        struct lks_str zone = lks_fleet_timezone(p->fleet, lks_state_text(s, site));
        if (lks_tz_parse(zone, &ignored, p->err) != LKS_OK)
            return lks_wrap(p->err, "windows: site %" LKS_STR_FMT,
                            LKS_STR_ARG(lks_state_text(s, site)));
    }
    return LKS_OK;
}

/* A text of the wish lives no longer than the question. */
static enum lks_code keep(struct lks_planning *p, struct lks_str text, struct lks_str *out)
{
    *out = lks_arena_copy(&p->out->memory, text);
    return out->ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

static enum lks_code describe(struct lks_planning *p)
{
    struct lks_rec_change *c = &p->out->change;
    const struct lks_plan_wish *w = &p->wish;
    c->kind = w->kind;
    c->failures_max = w->failures_max;
    c->rolls_back = w->rolls_back;
    c->one_way = w->one_way;
    c->not_before = w->not_before;
    c->not_after = w->not_after;
    c->by = c->reason = LKS_STR("");
    if (keep(p, w->windows, &c->windows) != LKS_OK)
        return p->err->code;
    if (w->hosts.len > 0)
        return keep(p, w->hosts, &c->hosts);
    c->hosts = lks_plan_text(p, LKS_PLAN_POOL "%" LKS_STR_FMT, LKS_STR_ARG(w->pool));
    return c->hosts.ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

enum lks_code lks_plan_make(const struct lks_state *s, const struct lks_book *book,
                            const struct lks_bundle_set *bundles, lks_ms wall,
                            const struct lks_plan_wish *wish, struct lks_plan *out,
                            struct lks_err *err)
{
    static enum lks_code (*const parts[])(struct lks_planning *) = {
        check_wish,     find_target,    lks_plan_who,   check_clocks, lks_plan_class_whole,
        lks_plan_waves, lks_plan_gates, lks_plan_after, describe,     lks_plan_forecast,
    };
    static const struct lks_bundle_set none = {0};
    LKS_CLEANUP(lks_plan_fini) struct lks_plan plan = {0};
    lks_arena_init(&plan.memory, LKS_PLAN_MEMORY_MAX);
    struct lks_planning p = {.state = s,
                             .book = book,
                             .fleet = lks_book_fleet(book),
                             .bundles = bundles != NULL ? bundles : &none,
                             .wall = wall,
                             .wish = *wish,
                             .out = &plan,
                             .err = err};
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        if (parts[i](&p) != LKS_OK)
            return err->code;
    }
    *out = LKS_MOVE(plan);
    return LKS_OK;
}

void lks_plan_fini(struct lks_plan *plan)
{
    lks_arena_fini(&plan->memory);
    *plan = (struct lks_plan){0};
}
