/* The gates behind a wave. Each looks at the same wave and says PASS, EXTEND (not yet), HOLD (a
 * person decides) or HALT; the strictest counts. */
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_gate_plan.h"
#include "core/campaign/campaign_parts.h"
#include "core/gate/gate.h"
#include "core/governance/govern.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

static struct lks_gate_said pass(void)
{
    return (struct lks_gate_said){LKS_GATE_PASS, LKS_STR("")};
}

static struct lks_gate_said say(struct lks_arena *arena, enum lks_gate_verdict verdict,
                                const char *fmt, ...) LKS_PRINTF(3, 4);

/* Where there is no memory for the words, the verdict stands without them. */
static struct lks_gate_said say(struct lks_arena *arena, enum lks_gate_verdict verdict,
                                const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(arena, fmt, ap);
    va_end(ap);
    return (struct lks_gate_said){verdict, text.ptr != NULL ? text : LKS_STR("")};
}

/* Each member of the wave in turn; false: stop. */
typedef bool visit_fn(void *ctx, const struct lks_member *m);
static void visit(const struct lks_state_change *c, uint32_t wave, visit_fn *fn, void *ctx)
{
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            if (!fn(ctx, &c->members[unit->first + i]))
                return;
        }
    }
}

/* Failures ---------------------------------------------------------------------------------- */

/* What a person saw before they let the change go on counts no more. */
struct failures {
    const struct lks_state_change *c;
    bool hard; /* count only those of which one is enough */
    uint32_t count;
    const struct lks_member *first;
};

static bool count_failure(void *ctx, const struct lks_member *m)
{
    struct failures *f = ctx;
    bool ended = lks_member_over(m) && m->state != LKS_MEMBER_DONE &&
                 m->state != LKS_MEMBER_SKIPPED && m->failure != LKS_FAILURE_NONE;
    bool seen = f->c->moved > f->c->started && m->since <= f->c->moved;
    if (!ended || seen || (f->hard && !lks_failure_rules[m->failure].hard))
        return true;
    f->first = f->count++ == 0 ? m : f->first;
    return true;
}

static struct failures count_failures(const struct lks_state_change *c, uint32_t wave, bool hard)
{
    struct failures f = {.c = c, .hard = hard};
    if ((hard ? c->waves[wave].hard : c->waves[wave].failed) > 0)
        visit(c, wave, count_failure, &f);
    return f;
}

static struct lks_gate_said hard_failures(const struct lks_state *s,
                                          const struct lks_state_change *c, uint32_t wave,
                                          lks_ms wall, struct lks_arena *arena)
{
    (void)wall;
    struct failures f = count_failures(c, wave, true);
    if (f.count == 0)
        return pass();
    return say(arena, LKS_GATE_HALT, "%" LKS_STR_FMT ": %s: %" LKS_STR_FMT,
               LKS_STR_ARG(lks_state_name(s, f.first->node)),
               lks_failure_rules[f.first->failure].about,
               LKS_STR_ARG(lks_state_text(s, f.first->text)));
}

/* Of the whole change, over its waves. */
static uint32_t failures_of_all(const struct lks_state_change *c)
{
    uint32_t all = 0;
    for (uint32_t w = 0; w < c->wave_count && c->failed > 0; w++)
        all += count_failures(c, w, false).count;
    return all;
}

static struct lks_gate_said failure_count(const struct lks_state *s,
                                          const struct lks_state_change *c, uint32_t wave,
                                          lks_ms wall, struct lks_arena *arena)
{
    (void)wall;
    const struct lks_wave *w = &c->waves[wave];
    if (w->failed <= w->failures_max && c->failed <= c->failures_max)
        return pass();
    struct failures f = count_failures(c, wave, false);
    uint32_t all = failures_of_all(c);
    if (f.count <= w->failures_max && all <= c->failures_max)
        return pass();
    bool here = f.count > w->failures_max;
    uint32_t most = here ? w->failures_max : c->failures_max;
    char count[LKS_COUNT_TEXT_SIZE], tolerated[LKS_COUNT_TEXT_SIZE];
    return say(
        arena, LKS_GATE_HALT,
        "%s failed %s; %s%s may fail; the first is %" LKS_STR_FMT ": %" LKS_STR_FMT,
        lks_str_count_text(here ? f.count : all, "node", count),
        here ? "in this wave" : "in this change", most == 0 ? "" : "at most ",
        most == 0 ? "no node" : lks_str_count_text(most, "node", tolerated),
        LKS_STR_ARG(f.first != NULL ? lks_state_name(s, f.first->node)
                                    : LKS_STR("of an earlier wave")),
        LKS_STR_ARG(f.first != NULL ? lks_state_text(s, f.first->text) : LKS_STR("see there")));
}

/* Time -------------------------------------------------------------------------------------- */

static struct lks_gate_said soak(const struct lks_state *s, const struct lks_state_change *c,
                                 uint32_t wave, lks_ms wall, struct lks_arena *arena)
{
    (void)s;
    const struct lks_wave *w = &c->waves[wave];
    if (w->state != LKS_WAVE_SOAKS || wall >= w->until)
        return pass();
    return say(arena, LKS_GATE_EXTEND, "it soaks for another %llu s",
               (unsigned long long)((w->until - wall + LKS_SECOND - 1) / LKS_SECOND));
}

/* Acceptance -------------------------------------------------------------------------------- */

struct acceptance {
    const struct lks_state *s;
    const struct lks_state_change *c;
    lks_ms wall;
    struct lks_gate_controls controls;
    bool soaks;
    const struct lks_member *bad, *unread;
    const char *why;
};

static bool is_unhealthy(const struct acceptance *a, uint32_t node)
{
    return a->s->nodes[node].unhealthy;
}

static bool is_different(const struct acceptance *a, uint32_t node)
{
    return lks_bitset_test(&a->s->standing->differs, node);
}

static bool wants_attestation(const struct acceptance *a, const struct lks_node *n)
{
    return n->asset == 0 && n->pool < a->s->pool_count && a->s->pools[n->pool].attested;
}

/* Attestation is withdrawn from a node that does not match. Where controls have none either, the
 * site does not attest them yet, and the change is not at fault. */
static bool is_disowned(const struct acceptance *a, uint32_t node)
{
    if (!wants_attestation(a, &a->s->nodes[node]) || a->s->nodes[node].attested_until != 0)
        return false;
    for (uint32_t i = 0; i < a->controls.untouched; i++) {
        if (a->s->nodes[a->controls.nodes[i]].attested_until > a->wall)
            return true;
    }
    return false;
}

static bool is_lost(const struct acceptance *a, uint32_t node)
{
    const struct lks_node *n = &a->s->nodes[node];
    return n->asset == 0 && n->liveness != LKS_LIVE;
}

static bool is_unjudged(const struct acceptance *a, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(a->s, node);
    return v == NULL || v->unmeasured > 0;
}

static bool is_unattested(const struct acceptance *a, uint32_t node)
{
    const struct lks_node *n = &a->s->nodes[node];
    return wants_attestation(a, n) && n->attested_until <= a->wall;
}

/* They were accepted when they returned; they have to be as good when the soak is over. What halts
 * does so at once; for what is only not known there is time. */
static const struct {
    bool halts;
    bool (*is)(const struct acceptance *a, uint32_t node);
    const char *why;
} signs[] = {
    {true, is_unhealthy, "it is not healthy"},
    {true, is_different, "it does not conform any more"},
    {true, is_disowned, "it lost its attestation, and controls have theirs,"},
    {false, is_lost, "it is not heard of"},
    {false, is_unjudged, "what it runs is not evaluated"},
    {false, is_unattested, "it is not attested, and its pool asks for that"},
};

/* Before all are over, a person who let the change go on has seen who was done by then. */
static bool look_at(void *ctx, const struct lks_member *m)
{
    struct acceptance *a = ctx;
    const struct lks_node *n = &a->s->nodes[m->node];
    bool seen = !a->soaks && a->c->moved > a->c->started && m->since <= a->c->moved;
    if (m->state != LKS_MEMBER_DONE || !n->placed || n->change != 0 || seen)
        return true; /* where another change is at it, that one has to see to it */
    size_t i = 0;
    while (i < LKS_COUNT(signs) && !signs[i].is(a, m->node))
        i++;
    if (i == LKS_COUNT(signs))
        return true;
    *(signs[i].halts ? &a->bad : &a->unread) = m;
    a->why = signs[i].why;
    return !signs[i].halts;
}

/* Elsewhere nothing is asked of controls: they are a list of names to be looked up. */
static bool any_attested(const struct lks_state *s)
{
    for (uint32_t i = 0; i < s->pool_count; i++)
        if (s->pools[i].attested)
            return true;
    return false;
}

/* Of a lab or a canary from the first that is done; of a ring, which may be large and in which
 * something breaks all the time, when all are. */
static struct lks_gate_said acceptance(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t wave, lks_ms wall, struct lks_arena *arena)
{
    const struct lks_wave *w = &c->waves[wave];
    struct acceptance a = {.s = s, .c = c, .wall = wall, .soaks = w->state == LKS_WAVE_SOAKS};
    struct lks_err err = {0};
    bool first = w->state == LKS_WAVE_BEGUN && w->kind != LKS_WAVE_RING;
    if ((!a.soaks && !first) || c->kind != LKS_CHANGE_STACK)
        return pass();
    if (any_attested(s) && lks_gate_controls(s, c, wave, arena, &a.controls, &err) != LKS_OK)
        return say(arena, LKS_GATE_EXTEND, "there was no memory for the evaluation");
    visit(c, wave, look_at, &a);
    if (a.bad != NULL)
        return say(arena, LKS_GATE_HALT, "%" LKS_STR_FMT ": %s since it was accepted",
                   LKS_STR_ARG(lks_state_name(s, a.bad->node)), a.why);
    if (a.unread == NULL || !a.soaks)
        return pass();
    bool over = wall >= w->until && wall - w->until >= LKS_GATE_GRACE;
    return say(arena, over ? LKS_GATE_HOLD : LKS_GATE_EXTEND, "%" LKS_STR_FMT ": %s",
               LKS_STR_ARG(lks_state_name(s, a.unread->node)), a.why);
}

const struct lks_gate lks_gates[] = {
    {"hard failures", "no node of the wave needs manual intervention or has an unknown outcome",
     false, hard_failures, NULL},
    {"failure count", "no more nodes failed than the change and the wave allow", true,
     failure_count, lks_campaign_gate_plan_failures},
    {"soak", "the wave's soak time has passed since its last node was accepted", true, soak,
     lks_campaign_gate_plan_soak},
    {"acceptance",
     "every node that was accepted still conforms, is healthy and attested after the soak", true,
     acceptance, lks_campaign_gate_plan_acceptance},
    {"evidence", "every metric is within its margin, compared with the controls", false,
     lks_campaign_gate_evidence, lks_campaign_gate_plan_evidence},
};
const size_t lks_gate_count = LKS_COUNT(lks_gates);

struct lks_gate_said lks_campaign_gate_judge(struct lks_deciding *d,
                                             const struct lks_state_change *c, uint32_t wave)
{
    struct lks_gate_said worst = pass();
    for (size_t i = 0; i < lks_gate_count; i++) {
        struct lks_gate_said said =
            lks_gates[i].look == lks_campaign_gate_evidence
                ? lks_campaign_evidence_look(d, c, wave)
                : lks_gates[i].look(d->state, c, wave, d->now.wall, &d->out->arena);
        bool waived = said.verdict > LKS_GATE_PASS && lks_gates[i].waivable &&
                      lks_govern_waived(d->state, c, wave, lks_str_from(lks_gates[i].name), NULL,
                                        d->now.wall);
        if (said.verdict > worst.verdict && !waived)
            worst = said;
    }
    return worst;
}
