#include "core/agentlink/link.h"

#define NEVER UINT64_MAX

static lks_ms later(lks_ms a, lks_ms b)
{
    return a > b ? a : b;
}

static lks_ms sooner(lks_ms a, lks_ms b)
{
    return a < b ? a : b;
}

/* How long to wait after `failures` in a row: between half of a window and all of it. The window
 * starts at one heartbeat, since that is how far apart agents are that fail for the same reason,
 * and doubles up to `ceiling`. */
static lks_ms backoff(lks_ms heartbeat, unsigned failures, lks_ms ceiling, struct lks_rng *rng)
{
    lks_ms window = later(heartbeat, 2 * LKS_LINK_FLOOR);
    for (unsigned i = 1; i < failures && window < ceiling; i++)
        window *= 2;
    window = sooner(window, ceiling);
    return window / 2 + lks_rng_below(rng, window / 2 + 1);
}

/* After this long at the most a controller that is back is found, well before it turns a node late
 * that it has not heard since its start. */
static lks_ms beat_ceiling(lks_ms heartbeat)
{
    lks_ms ceiling = sooner(heartbeat, LKS_LINK_BACKOFF_MAX) * LKS_LINK_BEATS_MAX;
    return sooner(later(ceiling, 2 * LKS_LINK_FLOOR), LKS_LINK_BACKOFF_MAX);
}

void lks_link_init(struct lks_link *link, lks_ms now, lks_ms heartbeat, bool enrolled,
                   struct lks_rng *rng)
{
    LKS_ASSERT(heartbeat > 0);
    *link = (struct lks_link){
        .heartbeat = heartbeat,
        .next_beat = now + lks_rng_below(rng, heartbeat),
        .not_before = now,
        .enrolled = enrolled,
    };
    /* After a power cut a whole site starts at once: what waits in the spools leaves behind the
     * first heartbeats, which are spread. */
    link->work_after = link->next_beat;
}

/* When `act` is due; NEVER where there is nothing to do. While heartbeats fail nothing else is
 * tried: they are how an agent finds out that the controller is back. */
static lks_ms due(const struct lks_link *link, enum lks_link_act act)
{
    lks_ms work = NEVER;
    if (link->enrolled && link->failures == 0)
        work = later(link->work_after, link->not_before);
    switch (act) {
    case LKS_LINK_ENROLL:
        return link->enrolled ? NEVER : link->not_before;
    case LKS_LINK_BEAT:
        return link->enrolled ? later(link->next_beat, link->not_before) : NEVER;
    case LKS_LINK_RENEW:
        return link->renew_at == 0 || work == NEVER ? NEVER : later(work, link->renew_at);
    case LKS_LINK_PUSH:
        return link->spooled > 0 ? work : NEVER;
    case LKS_LINK_FETCH:
        return link->mail ? work : NEVER;
    case LKS_LINK_WAIT:
        break;
    }
    return NEVER;
}

enum lks_link_act lks_link_next(const struct lks_link *link, lks_ms now, lks_ms *at)
{
    static const enum lks_link_act order[] = {LKS_LINK_ENROLL, LKS_LINK_BEAT, LKS_LINK_RENEW,
                                              LKS_LINK_PUSH, LKS_LINK_FETCH};
    lks_ms soonest = NEVER;
    for (size_t i = 0; i < LKS_COUNT(order); i++) {
        lks_ms when = due(link, order[i]);
        if (when <= now) {
            *at = now;
            return order[i];
        }
        if (when < soonest)
            soonest = when;
    }
    *at = soonest;
    return LKS_LINK_WAIT;
}

/* The next heartbeat keeps to the schedule; one that was missed gives up its place in it. */
static void beat_done(struct lks_link *link, lks_ms now, struct lks_rng *rng)
{
    link->failures = 0;
    link->next_beat += link->heartbeat;
    if (link->next_beat <= now)
        link->next_beat = now + link->heartbeat - lks_rng_below(rng, link->heartbeat / 4 + 1);
}

void lks_link_done(struct lks_link *link, lks_ms now, enum lks_link_act act, struct lks_rng *rng)
{
    switch (act) {
    case LKS_LINK_ENROLL:
        link->enrolled = true;
        link->failures = 0;
        link->next_beat = now;
        link->work_after = now;
        return;
    case LKS_LINK_BEAT:
        link->seq++;
        beat_done(link, now, rng);
        return;
    case LKS_LINK_RENEW:
        if (link->renew_at <= now)
            link->renew_at = 0;
        break;
    case LKS_LINK_PUSH:
        link->spooled -= link->spooled > 0;
        break;
    case LKS_LINK_FETCH:
        link->mail = false;
        break;
    case LKS_LINK_WAIT:
        return;
    }
    link->work_failures = 0;
}

/* One more failure in a row; a controller that said no is not asked again as soon as one that was
 * not there. */
static unsigned count_failure(unsigned failures, bool refused)
{
    enum { REFUSED_COUNTS_AS = 3, ENOUGH = 1000 };
    if (refused && failures < REFUSED_COUNTS_AS - 1)
        return REFUSED_COUNTS_AS;
    return failures < ENOUGH ? failures + 1 : failures;
}

void lks_link_failed(struct lks_link *link, lks_ms now, enum lks_link_act act, bool refused,
                     struct lks_rng *rng)
{
    switch (act) {
    case LKS_LINK_WAIT:
        return;
    case LKS_LINK_ENROLL:
    case LKS_LINK_BEAT:
        /* Its number is spent: it may have been heard, and heard again it would be a replay. */
        link->seq += act == LKS_LINK_BEAT;
        link->failures = count_failure(link->failures, refused);
        link->not_before =
            now + backoff(link->heartbeat, link->failures, beat_ceiling(link->heartbeat), rng);
        return;
    case LKS_LINK_RENEW:
    case LKS_LINK_PUSH:
    case LKS_LINK_FETCH:
        /* Heartbeats go on: that a report is not taken does not make the node silent. */
        link->work_failures = count_failure(link->work_failures, refused);
        link->work_after =
            now + backoff(link->heartbeat, link->work_failures, LKS_LINK_BACKOFF_MAX, rng);
        link->not_before = later(link->not_before, now + LKS_LINK_FLOOR);
        return;
    }
}

void lks_link_pace(struct lks_link *link, lks_ms now, lks_ms heartbeat, struct lks_rng *rng)
{
    LKS_ASSERT(heartbeat > 0);
    if (heartbeat == link->heartbeat)
        return;
    link->heartbeat = heartbeat;
    link->next_beat = now + 1 + lks_rng_below(rng, heartbeat);
}

lks_ms lks_link_renew_at(lks_ms from, lks_ms until, struct lks_rng *rng)
{
    if (until <= from)
        return from;
    lks_ms life = until - from;
    return from + life / 3 * 2 + lks_rng_below(rng, life / 10 + 1);
}
