/* What a member waits for, for people who look: it is found when they ask, and kept nowhere. */
#include "core/campaign/campaign_parts.h"
#include "core/rows/node.h"

/* One that has not started, or is done and is to roll back ------------------------------------ */

static struct lks_str turn_of(struct lks_deciding *d, const struct lks_look *k, bool back)
{
    const struct lks_wave *w = &k->c->waves[k->u->wave];
    if (!back && k->c->state != LKS_CHANGE_RUNNING)
        return lks_decision_text(d, "the change is %s", lks_change_state_words[k->c->state]);
    if (!back && w->state != LKS_WAVE_BEGUN)
        return lks_decision_text(d, "for its wave, number %u", k->u->wave);
    struct lks_str barred = lks_campaign_unit_barred(d, k->c, k->u, back);
    if (barred.len > 0)
        return barred;
    struct lks_str all = lks_look_text(k, w->text);
    static const struct lks_str waits = LKS_STR_C(LKS_WAVE_WAITS);
    if (!back && lks_str_starts(all, LKS_WAVE_WAITS))
        return (struct lks_str){all.ptr + waits.len, all.len - waits.len};
    if (back)
        return lks_decision_text(d, "for a slot: its pool rolls back %u at a time",
                                 w->width > 0 ? w->width : 1);
    return lks_decision_text(d, "for its turn: wave %u changes %u at a time, beside other changes",
                             k->u->wave, w->width > 0 ? w->width : 1);
}

/* One that is at a step ----------------------------------------------------------------------- */

static bool by_agent(const struct lks_look *k)
{
    enum lks_step_kind kind = k->step->kind;
    return k->n->asset == 0 && (kind == LKS_DO_APPLY || kind == LKS_DO_REBOOT ||
                                kind == LKS_DO_CHECK || kind == LKS_DO_ACCEPT);
}

static bool is_away(const struct lks_look *k)
{
    return by_agent(k) && (k->n->liveness != LKS_LIVE || k->n->boot == 0 || !k->n->enrolled);
}

static bool is_answering(const struct lks_look *k)
{
    return k->n->pending > 0;
}

static bool is_flashing(const struct lks_look *k)
{
    return k->n->flashing > 0;
}

static bool is_returning(const struct lks_look *k)
{
    return k->step->kind == LKS_DO_RETURN;
}

/* One row a reason; the first that is so. */
static const struct {
    bool (*asks)(const struct lks_look *k);
    const char *why;
} reasons[] = {
    {lks_campaign_unit_stopped,
     "to drain: the change does not run, there is a freeze, or acts wait"},
    {lks_campaign_sched_unheard, "for its scheduler, which gives no answer"},
    {is_away, "for its agent, which is not heard of"},
    {is_answering, "for a command that its agent has not answered"},
    {is_flashing, "for an update of it that is not finished, or that a person must resolve"},
    {is_returning, "to be read as it should be, with all that return together"},
};

/* The one of its domain that keeps it, by name, and what is known of that one. */
static struct lks_str behind_text(struct lks_deciding *d, const struct lks_look *k,
                                  const struct lks_member *other)
{
    char since[LKS_TIME_TEXT_SIZE];
    struct lks_look o = lks_campaign_look_at(k->s, k->c, other);
    struct lks_str name = lks_look_name(&o);
    if (o.n->asset == 0 && o.n->liveness != LKS_LIVE)
        return lks_decision_text(d, "for %" LKS_STR_FMT " of its domain, which is %s since %s",
                                 LKS_STR_ARG(name), lks_liveness_words[o.n->liveness],
                                 lks_time_text(o.n->liveness_since, since));
    if (lks_member_over(other))
        return lks_decision_text(d,
                                 "for %" LKS_STR_FMT " of its domain, which is %s: a person "
                                 "decides",
                                 LKS_STR_ARG(name), lks_member_state_words[other->state]);
    return lks_decision_text(d, "for %" LKS_STR_FMT " of its domain, which is not as far (%s)",
                             LKS_STR_ARG(name),
                             o.step != NULL ? lks_step_kind_titles[o.step->kind] : "end");
}

static struct lks_str step_of(struct lks_deciding *d, const struct lks_look *k)
{
    char at[LKS_TIME_TEXT_SIZE];
    struct lks_next next = lks_campaign_member_next(k);
    if (next.at <= d->now.wall || k->step == NULL)
        return LKS_STR(""); /* it goes on with the next tick */
    if (next.act == LKS_NEXT_BEGIN && next.at == k->m->until && k->m->attempt <= 1)
        return lks_look_text(k, k->m->text); /* it was put off, and says why */
    if (next.at != UINT64_MAX && next.act == LKS_NEXT_BEGIN)
        return lks_decision_text(d,
                                 k->m->attempt > 1
                                     ? "until it is tried again, at %s"
                                     : "until no job that was admitted can start on it, at %s",
                                 lks_time_text(next.at, at));
    const struct lks_member *behind = lks_campaign_look_behind(k);
    if (behind != NULL && !lks_campaign_unit_stopped(k))
        return behind_text(d, k, behind);
    for (size_t i = 0; i < LKS_COUNT(reasons); i++) {
        if (reasons[i].asks(k))
            return lks_str_from(reasons[i].why);
    }
    return LKS_STR("");
}

struct lks_str lks_campaign_waits(const struct lks_state *s, const struct lks_book *book,
                                  struct lks_now now, const struct lks_state_change *c,
                                  const struct lks_member *m, struct lks_decision *space)
{
    static const struct lks_event look = {.kind = LKS_EVENT_TICK};
    struct lks_deciding d = {.state = s, .book = book, .now = now, .event = &look, .out = space};
    struct lks_look k = lks_campaign_look_at(s, c, m);
    bool back = c->state == LKS_CHANGE_ROLLING_BACK && m->state == LKS_MEMBER_DONE;
    if (lks_change_over(c) || !k.n->placed)
        return LKS_STR("");
    if (back || m->state == LKS_MEMBER_PENDING)
        return turn_of(&d, &k, back);
    return m->state == LKS_MEMBER_WAITING ? step_of(&d, &k) : LKS_STR("");
}

/* Who keeps its wave from its end -------------------------------------------------------------- */

/* "lost since TIME", behind what it does. */
static struct lks_str with_liveness(struct lks_deciding *d, const struct lks_look *k,
                                    struct lks_str why)
{
    char since[LKS_TIME_TEXT_SIZE];
    if (k->n->asset != 0 || k->n->liveness == LKS_LIVE)
        return why;
    return lks_decision_text(d, "%s since %s%s%" LKS_STR_FMT, lks_liveness_words[k->n->liveness],
                             lks_time_text(k->n->liveness_since, since), why.len > 0 ? "; " : "",
                             LKS_STR_ARG(why));
}

static bool is_moving(const struct lks_member *m)
{
    return m->state > LKS_MEMBER_PENDING && m->state < LKS_MEMBER_OVER;
}

/* One that did not begin, though its wave did, and that is not there or on hold. */
static bool is_absent(const struct lks_look *k)
{
    return k->m->state == LKS_MEMBER_PENDING && k->n->asset == 0 &&
           k->c->state == LKS_CHANGE_RUNNING && k->c->waves[k->u->wave].state == LKS_WAVE_BEGUN &&
           (k->n->held || k->n->liveness != LKS_LIVE);
}

static lks_ms deadline_of(const struct lks_look *k)
{
    struct lks_next next = lks_campaign_member_next(k);
    if (k->m->state == LKS_MEMBER_PENDING)
        return k->c->waves[k->u->wave].since + LKS_CAMPAIGN_GRACE;
    if ((next.act == LKS_NEXT_LATE || next.act == LKS_NEXT_GONE) && next.at != UINT64_MAX)
        return next.at;
    if (k->step != NULL && k->step->kind == LKS_DO_LEAVE)
        return lks_campaign_leave_ends(k).at; /* also while its agent owes an answer */
    return k->m->until;
}

bool lks_campaign_wait(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                       const struct lks_state_change *c, const struct lks_member *m,
                       struct lks_decision *space, struct lks_wait *out)
{
    static const struct lks_event look = {.kind = LKS_EVENT_TICK};
    struct lks_deciding d = {.state = s, .book = book, .now = now, .event = &look, .out = space};
    struct lks_look k = lks_campaign_look_at(s, c, m);
    if (lks_change_over(c) || !k.n->placed || (!is_moving(m) && !is_absent(&k)))
        return false;
    struct lks_str why = lks_campaign_waits(s, book, now, c, m, space);
    *out = (struct lks_wait){
        .why = with_liveness(&d, &k, why.len > 0 ? why : lks_look_text(&k, m->text)),
        .until = deadline_of(&k),
    };
    return true;
}
