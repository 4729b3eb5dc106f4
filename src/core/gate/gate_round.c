#include "core/gate/gate_round.h"

#include "core/rows/change.h"
#include "core/state/lookup.h"

#include <math.h>

#define FINE  32 /* windows are the same when they differ by less than this part */
#define LEAST ((lks_ms)LKS_SECOND)

/* Questions --------------------------------------------------------------------------------- */

struct making {
    const struct lks_state *s;
    struct lks_str load;
    struct lks_gate_round *round;
    bool failed;
};

/* The largest power of two seconds that is no more than a fine part of the window. */
static lks_ms grain(lks_ms window)
{
    lks_ms g = LEAST;
    while (2 * g <= window / FINE)
        g *= 2;
    return g;
}

static bool is_same(const struct lks_gate_question *q, const struct lks_gate_question *wanted)
{
    return q->at == wanted->at && q->window == wanted->window && q->counts == wanted->counts &&
           lks_str_eq(q->query, wanted->query);
}

/* The number of the question, which may have been asked for another node already; NONE: there are
 * too many. */
static uint32_t ask(struct making *m, struct lks_gate_question wanted)
{
    struct lks_gate_round *r = m->round;
    for (uint32_t i = r->question_count; i > 0; i--) {
        if (is_same(&r->questions[i - 1], &wanted))
            return i - 1;
    }
    if (r->question_count == LKS_ROUND_QUESTIONS_MAX)
        return LKS_ROUND_NONE;
    wanted.query = lks_arena_copy(&r->arena, wanted.query);
    m->failed = m->failed || wanted.query.ptr == NULL;
    r->questions[r->question_count] = wanted;
    return r->question_count++;
}

/* The window before it began has a grain of its own: where another change left the node shortly
 * before, it is short, and rounded by the grain of a long soak it would be a time under that
 * change. False: too many questions. */
static bool ask_before(struct making *m, const struct lks_gate_want *want,
                       struct lks_gate_question q, struct lks_gate_wanted *w)
{
    lks_ms from = want->before_from, until = want->before_until;
    lks_ms g = grain(until > from ? until - from : 0);
    q.at = until / g * g;
    q.window = q.at > from ? (q.at - from) / g * g : 0;
    if (q.window == 0)
        return true; /* there was no such time, so there is no number of it */
    w->before = ask(m, q);
    return w->before != LKS_ROUND_NONE;
}

/* What there was since it returned, and what there was before it began. False: too many questions.
 */
static bool ask_both(struct making *m, const struct lks_gate_want *want, struct lks_gate_wanted *w)
{
    lks_ms g = grain(want->until > want->from ? want->until - want->from : 0);
    lks_ms from = (want->from + g - 1) / g * g;
    lks_ms window = want->until > from + LEAST ? want->until - from : LEAST;
    struct lks_gate_question q = {
        .query = lks_state_text(m->s, want->metric->query),
        .counts = want->metric->kind != LKS_METRIC_MEAN,
        .at = want->until,
        .window = window,
    };
    w->after = ask(m, q);
    if (m->load.len > 0)
        w->load = ask(m, (struct lks_gate_question){m->load, true, want->until, window});
    return (q.counts || ask_before(m, want, q, w)) && w->after != LKS_ROUND_NONE;
}

static bool add_wanted(void *ctx, const struct lks_gate_want *want)
{
    struct making *m = ctx;
    struct lks_gate_round *r = m->round;
    if (want->metric->source != LKS_SOURCE_PROMETHEUS || want->metric->query == 0)
        return true;
    struct lks_gate_wanted w = {
        .change = want->change,
        .wave = want->wave,
        .node = want->node,
        .name = lks_arena_copy(&r->arena, lks_state_name(m->s, want->node)),
        .metric = lks_arena_copy(&r->arena, lks_state_text(m->s, want->metric->name)),
        .kind = want->metric->kind,
        .before = LKS_ROUND_NONE,
        .load = LKS_ROUND_NONE,
    };
    bool all = ask_both(m, want, &w);
    m->failed = m->failed || w.name.ptr == NULL || w.metric.ptr == NULL;
    if (all && r->wanted_count < LKS_ROUND_WANTED_MAX)
        r->wanted[r->wanted_count++] = w;
    else
        r->left++;
    return !m->failed;
}

/* How many there are at most, so that they are one array. */
static bool count_wanted(void *ctx, const struct lks_gate_want *want)
{
    size_t *count = ctx;
    (void)want;
    return ++*count < LKS_ROUND_WANTED_MAX;
}

enum lks_code lks_gate_round_make(const struct lks_state *s, struct lks_str load, lks_ms wall,
                                  struct lks_gate_round *out, struct lks_err *err)
{
    struct making m = {.s = s, .load = load, .round = out};
    size_t count = 0;
    *out = (struct lks_gate_round){0};
    lks_arena_init(&out->arena, LKS_ROUND_MEMORY_MAX);
    if (lks_gate_wants(s, wall, &out->arena, count_wanted, &count, err) != LKS_OK)
        goto fail;
    out->wanted = lks_arena_array(&out->arena, count + 1, sizeof(out->wanted[0]));
    out->questions =
        lks_arena_array(&out->arena, LKS_ROUND_QUESTIONS_MAX, sizeof(out->questions[0]));
    m.failed = out->wanted == NULL || out->questions == NULL;
    if (!m.failed && lks_gate_wants(s, wall, &out->arena, add_wanted, &m, err) != LKS_OK)
        goto fail;
    if (!m.failed)
        return LKS_OK;
    (void)!lks_arena_fail(&out->arena, err);
fail:
    lks_gate_round_fini(out);
    return err->code;
}

void lks_gate_round_fini(struct lks_gate_round *r)
{
    lks_arena_fini(&r->arena);
    *r = (struct lks_gate_round){0};
}

/* Answers ----------------------------------------------------------------------------------- */

struct answering {
    const struct lks_gate_round *round;
    lks_gate_answer_fn *answer;
    void *ctx;
};

static bool find(const struct answering *a, const struct lks_gate_wanted *w, uint32_t question,
                 double *out)
{
    return question != LKS_ROUND_NONE && a->answer(a->ctx, question, w->name, out) &&
           isfinite(*out);
}

/* A count as a whole number: monitoring systems interpolate. What is no count is none. */
static uint64_t count_of(double value)
{
    return value > 0 && value < 1e15 ? (uint64_t)(value + 0.5) : 0;
}

/* A node counts once, so it is watched until its first event. Of when that was nothing is known; of
 * so many at any moments of the window, the first is on average here. */
static uint64_t until_first(lks_ms window, uint64_t events)
{
    return window / (events + 1);
}

static struct lks_measured measured_of(const struct answering *a, const struct lks_gate_wanted *w)
{
    const struct lks_gate_question *q = &a->round->questions[w->after];
    double after = 0, before = 0, load = 0;
    bool has_after = find(a, w, w->after, &after);
    bool counts = w->kind != LKS_METRIC_MEAN;
    struct lks_measured m = {
        .change = w->change,
        .wave = w->wave,
        .node = w->node,
        .metric = w->metric,
        .has_after = has_after,
        .has_before = find(a, w, w->before, &before),
        .from = q->at - q->window,
        .until = q->at,
        .load = find(a, w, w->load, &load) ? count_of(load) : 0,
        .events = counts && has_after ? count_of(after) : 0,
    };
    m.exposure = counts && has_after ? until_first(q->window, m.events) : 0;
    m.after = counts ? 0 : after;
    m.before = before;
    return m;
}

enum lks_code lks_gate_round_answer(struct lks_gate_round *r, lks_gate_answer_fn *answer, void *ctx,
                                    struct lks_measured **out, size_t *count, struct lks_err *err)
{
    const struct answering a = {r, answer, ctx};
    struct lks_measured *list =
        lks_arena_array(&r->arena, (size_t)r->wanted_count + 1, sizeof(list[0]));
    if (list == NULL)
        return lks_arena_fail(&r->arena, err);
    for (uint32_t i = 0; i < r->wanted_count; i++)
        list[i] = measured_of(&a, &r->wanted[i]);
    *out = list;
    *count = r->wanted_count;
    return LKS_OK;
}
