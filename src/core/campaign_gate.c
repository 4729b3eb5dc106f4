/* The gates behind a wave. Each looks at the same wave and says PASS, EXTEND (not yet), HOLD (a
 * person decides) or HALT; the strictest counts. */
#include "core/campaign_evidence.h"
#include "core/campaign_parts.h"
#include "core/govern.h"
#include "core/standing.h"

#define GRACE (3600 * LKS_SECOND) /* behind the soak, for nodes that cannot be judged */
#define S(s)  LKS_STR_ARG(s)

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
               S(lks_state_name(s, f.first->node)), lks_failure_rules[f.first->failure].about,
               S(lks_state_text(s, f.first->text)));
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
    char count[LKS_COUNT_TEXT_SIZE];
    return say(
        arena, LKS_GATE_HALT,
        "%s failed %s, and at most %u may; the first is %" LKS_STR_FMT ": %" LKS_STR_FMT,
        lks_count_text(here ? f.count : all, "node", count),
        here ? "in this wave" : "in this change", here ? w->failures_max : c->failures_max,
        S(f.first != NULL ? lks_state_name(s, f.first->node) : LKS_STR("of an earlier wave")),
        S(f.first != NULL ? lks_state_text(s, f.first->text) : LKS_STR("see there")));
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
    const struct lks_member *bad, *unread;
    const char *why;
};

/* They were accepted when they returned; they have to be as good when the soak is over. */
static bool look_at(void *ctx, const struct lks_member *m)
{
    struct acceptance *a = ctx;
    const struct lks_node *n = &a->s->nodes[m->node];
    if (m->state != LKS_MEMBER_DONE || !n->placed || n->change != 0)
        return true; /* where another change is at it, that one has to see to it */
    const struct lks_state_verdict *v = lks_state_verdict(a->s, m->node);
    if (lks_bitset_test(&a->s->standing->differs, m->node) || n->unhealthy) {
        a->bad = m;
        a->why = n->unhealthy ? "it is not healthy" : "it does not conform any more";
        return false;
    }
    bool lost = n->asset == 0 && n->liveness != LKS_LIVE;
    if (lost || v == NULL || v->unmeasured > 0) {
        a->unread = m;
        a->why = lost ? "it is not heard of" : "what it runs is not judged";
    }
    return true;
}

static struct lks_gate_said acceptance(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t wave, lks_ms wall, struct lks_arena *arena)
{
    const struct lks_wave *w = &c->waves[wave];
    struct acceptance a = {.s = s};
    if (w->state != LKS_WAVE_SOAKS || c->kind != LKS_CHANGE_STACK)
        return pass();
    visit(c, wave, look_at, &a);
    if (a.bad != NULL)
        return say(arena, LKS_GATE_HALT, "%" LKS_STR_FMT ": %s since it was accepted",
                   S(lks_state_name(s, a.bad->node)), a.why);
    if (a.unread == NULL)
        return pass();
    bool over = wall >= w->until && wall - w->until >= GRACE;
    return say(arena, over ? LKS_GATE_HOLD : LKS_GATE_EXTEND, "%" LKS_STR_FMT ": %s",
               S(lks_state_name(s, a.unread->node)), a.why);
}

const struct lks_gate lks_gates[] = {
    {"hard failures", "one node is enough that a person has to go to, or of which nobody can tell",
     false, hard_failures},
    {"failure count", "no more nodes fail than the change, or the wave, says", true, failure_count},
    {"soak", "so much time passed since the last node of the wave", true, soak},
    {"acceptance", "nodes that were accepted conform and are healthy when it is over", true,
     acceptance},
    {"evidence", "what is measured of them is within its margins, beside controls", false,
     lks_gate_evidence},
};
const size_t lks_gate_count = LKS_COUNT(lks_gates);

struct lks_gate_said lks_gate_judge(struct lks_deciding *d, const struct lks_state_change *c,
                                    uint32_t wave)
{
    struct lks_gate_said worst = pass();
    for (size_t i = 0; i < lks_gate_count; i++) {
        struct lks_gate_said said =
            lks_gates[i].look == lks_gate_evidence
                ? lks_evidence_look(d, c, wave)
                : lks_gates[i].look(d->state, c, wave, d->now.wall, &d->out->arena);
        bool waived = said.verdict > LKS_GATE_PASS && lks_gates[i].waivable &&
                      lks_change_waived(d->state, c, lks_str_from(lks_gates[i].name), d->now.wall);
        if (said.verdict > worst.verdict && !waived)
            worst = said;
    }
    return worst;
}
