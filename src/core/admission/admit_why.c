/* Why a node is barred, in a line. Texts are only made for what is refused or warned about. */
#include "core/admission/admit_parts.h"
#include "core/conform/verdict.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

/* What is asked about: a node of the job. */
struct asked {
    struct lks_admitting *a;
    const struct lks_state *s;
    uint32_t number;
    const struct lks_node *n;
};

static struct lks_str text_of(const struct asked *q, lks_text text)
{
    return lks_state_text(q->s, text);
}

/* "since T", or the word for never. */
static const char *at(lks_ms time, const char *never, char out[LKS_TIME_TEXT_SIZE])
{
    return time == 0 ? never : lks_time_text(time, out);
}

static struct lks_str why_stale(const struct asked *q)
{
    char since[LKS_TIME_TEXT_SIZE];
    if (!q->n->enrolled)
        return LKS_STR("it is not enrolled");
    if (q->n->liveness == LKS_LIVE && q->n->tuple_boot == q->n->boot)
        return LKS_STR("its heartbeats name readings that it does not send");
    if (q->n->liveness == LKS_LIVE && q->n->tuple != 0 && q->n->tuple_boot == 0)
        return LKS_STR("it was not read since the last command or update that could change it");
    if (q->n->liveness == LKS_LIVE)
        return q->n->tuple_boot == 0 ? LKS_STR("nothing was read of it in this boot")
                                     : LKS_STR("what was read of it is of another boot");
    return lks_admit_text(q->a, "%s since %s", lks_liveness_words[q->n->liveness],
                          at(q->n->liveness_since, "it was placed", since));
}

/* The first line of its verdict that is of this kind and that no deviation covers; false: none. */
static bool first_wrong(const struct asked *q, bool unmeasured, struct lks_wrong *out)
{
    const struct lks_state_verdict *v = lks_state_verdict(q->s, q->number);
    struct lks_str lines = v != NULL ? text_of(q, v->wrong) : LKS_STR("");
    while (lks_verdict_wrong_next(&lines, out)) {
        if (lks_str_is(out->cause, "unmeasured") == unmeasured &&
            lks_node_status_covered(q->s, q->number, out->subject, out->actual) == 0)
            return true;
    }
    return false;
}

static struct lks_str why_unmeasured(const struct asked *q)
{
    struct lks_wrong wrong;
    if (lks_state_intent(q->s, q->number) == 0)
        return LKS_STR("it has no stack to be held against: its pool is not pinned");
    if (first_wrong(q, true, &wrong))
        return lks_admit_text(q->a, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
                              LKS_STR_ARG(wrong.subject), LKS_STR_ARG(wrong.actual),
                              LKS_STR_ARG(wrong.pinned));
    return q->n->whole == 0 ? LKS_STR("it was not read yet")
                            : LKS_STR("what was read is not held against its stack yet");
}

static struct lks_str why_drift(const struct asked *q)
{
    struct lks_wrong wrong;
    bool told = q->n->drifting && q->n->drift_cause != LKS_DRIFT_UNKNOWN;
    if (!first_wrong(q, false, &wrong))
        return text_of(q, q->n->drift_text);
    struct lks_str cause = told ? lks_str_from(lks_drift_words[q->n->drift_cause]) : wrong.cause;
    return lks_admit_text(
        q->a, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
        LKS_STR_ARG(wrong.subject), LKS_STR_ARG(wrong.actual), LKS_STR_ARG(wrong.pinned),
        LKS_STR_ARG(cause));
}

static struct lks_str why_unhealthy(const struct asked *q)
{
    struct lks_str text = text_of(q, q->n->condition_text);
    return text.len > 0 ? text : LKS_STR("marked unhealthy");
}

static struct lks_str why_changing(const struct asked *q)
{
    char since[LKS_TIME_TEXT_SIZE];
    if (q->n->changing == 0 && q->n->flashing > 0)
        return LKS_STR("an update of its firmware is open, or its outcome is unknown");
    if (q->n->changing == 0)
        return LKS_STR("it was sent a command and has not answered yet");
    return lks_admit_text(q->a, "changing since %s%s%" LKS_STR_FMT,
                          at(q->n->changing, "now", since), q->n->condition_text != 0 ? ": " : "",
                          LKS_STR_ARG(text_of(q, q->n->condition_text)));
}

static struct lks_str when_last(const struct asked *q, lks_ms time, struct lks_str never,
                                const char *before, const char *after)
{
    char text[LKS_TIME_TEXT_SIZE];
    return time == 0 ? never
                     : lks_admit_text(q->a, "%s %s%s", before, lks_time_text(time, text), after);
}

static struct lks_str why_unattested(const struct asked *q)
{
    return when_last(q, q->n->attested_until, LKS_STR("it was never attested"),
                     "its attestation ended", "");
}

static struct lks_str why_unchecked(const struct asked *q)
{
    return when_last(q, q->n->checked_at, LKS_STR("no active check of it passed yet"),
                     "its last active check passed", ", which is too long ago");
}

static struct lks_str by_for(const struct asked *q, const char *what, lks_text by, lks_text reason)
{
    return lks_admit_text(q->a, "%s by %" LKS_STR_FMT ": %" LKS_STR_FMT, what,
                          LKS_STR_ARG(text_of(q, by)), LKS_STR_ARG(text_of(q, reason)));
}

static struct lks_str why_held(const struct asked *q)
{
    return by_for(q, "held", q->n->held_by, q->n->held_reason);
}

static struct lks_str why_drained(const struct asked *q)
{
    return by_for(q, "drained", q->n->drained_by, q->n->drained_reason);
}

static struct lks_str why_intake(const struct asked *q)
{
    return lks_admit_text(q->a, "not accepted yet: %" LKS_STR_FMT,
                          LKS_STR_ARG(text_of(q, q->n->intake_why)));
}

static struct lks_str why_deviation(const struct asked *q)
{
    const struct lks_state_verdict *v = lks_state_verdict(q->s, q->number);
    struct lks_str lines = v != NULL ? text_of(q, v->wrong) : LKS_STR("");
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        uint64_t id = lks_node_status_covered(q->s, q->number, wrong.subject, wrong.actual);
        if (id != 0)
            return lks_admit_text(q->a,
                                  "runs deviation %llu (%" LKS_STR_FMT " %" LKS_STR_FMT
                                  "), which its pool does not admit",
                                  (unsigned long long)id, LKS_STR_ARG(wrong.subject),
                                  LKS_STR_ARG(wrong.actual));
    }
    return LKS_STR("runs a deviation, which its pool does not admit");
}

static struct lks_str why_domain(const struct asked *q)
{
    struct lks_str domain = text_of(q, q->n->domain);
    uint32_t odd = lks_node_status_domain_odd(q->s, q->number);
    if (odd == LKS_NO_NODE)
        return lks_admit_text(q->a, "its domain '%" LKS_STR_FMT "' serves mixed",
                              LKS_STR_ARG(domain));
    return lks_admit_text(q->a,
                          "its domain '%" LKS_STR_FMT "' serves mixed: see '%" LKS_STR_FMT "'",
                          LKS_STR_ARG(domain), LKS_STR_ARG(lks_state_name(q->s, odd)));
}

static struct lks_str (*const whys[LKS_BAR_NODE_COUNT])(const struct asked *q) = {
    [LKS_BAR_STALE] = why_stale,         [LKS_BAR_UNMEASURED] = why_unmeasured,
    [LKS_BAR_DRIFT] = why_drift,         [LKS_BAR_UNHEALTHY] = why_unhealthy,
    [LKS_BAR_CHANGING] = why_changing,   [LKS_BAR_UNATTESTED] = why_unattested,
    [LKS_BAR_UNCHECKED] = why_unchecked, [LKS_BAR_HELD] = why_held,
    [LKS_BAR_INTAKE] = why_intake,       [LKS_BAR_DRAINED] = why_drained,
    [LKS_BAR_DEVIATION] = why_deviation, [LKS_BAR_DOMAIN] = why_domain,
};

struct lks_str lks_admit_why(struct lks_admitting *a, uint32_t node, enum lks_bar bar)
{
    const struct asked q = {a, a->state, node, &a->state->nodes[node]};
    return whys[bar] != NULL ? whys[bar](&q) : LKS_STR("not in the fleet");
}
