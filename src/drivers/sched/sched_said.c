#include "drivers/sched/sched_said.h"

#include "codec/notation/drain_reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lks_sched_said_keep(char *to, size_t size, struct lks_str from)
{
    size_t len = from.len < size ? from.len : size - 1;
    if (len > 0)
        memcpy(to, from.ptr, len);
    to[len] = '\0';
    lks_str_make_printable(to);
}

void lks_sched_said_owner(struct lks_sched_said *s, struct lks_str owner, struct lks_str wisher)
{
    size_t mark = sizeof(LKS_DRAIN_REASON_MARK) - 1;
    s->lockstep = lks_str_starts(owner, LKS_DRAIN_REASON_MARK) && owner.len > mark &&
                  owner.len - mark <= LKS_SCHED_OWNER_MAX && lks_str_printable(owner);
    if (s->lockstep)
        owner = (struct lks_str){owner.ptr + mark, owner.len - mark};
    s->ours = s->lockstep && wisher.len > 0 && lks_str_eq(owner, wisher);
    lks_sched_said_keep(s->owner, sizeof(s->owner), owner);
}

/* A time is a moment and not how long it is until then, so that the text is the same each time it
 * is asked for. */
static void say_jobs(struct lks_sched_said *s, struct lks_str job, struct lks_str user)
{
    char until[LKS_TIME_TEXT_SIZE], id[LKS_SCHED_OWNER_MAX + 1] = "", of[64] = "";
    char end[LKS_TIME_TEXT_SIZE + 16] = "";
    snprintf(id, sizeof(id), "%" LKS_STR_FMT, LKS_STR_ARG(job));
    if (user.len > 0)
        snprintf(of, sizeof(of), " of %" LKS_STR_FMT, LKS_STR_ARG(user));
    if (s->ends > 0)
        snprintf(end, sizeof(end), s->jobs == 1 ? ", until %s" : ", the last until %s",
                 lks_time_text(s->ends, until));
    snprintf(s->text, sizeof(s->text), "%" PRIu32 " job%s there, the first is %s%s%s", s->jobs,
             s->jobs == 1 ? " runs" : "s run", id, of, end);
}

void lks_sched_said_text(struct lks_sched_said *s, struct lks_str job, struct lks_str user,
                         struct lks_str reason)
{
    char *out = s->text;
    size_t size = sizeof(s->text);
    if (s->closed && !s->lockstep)
        snprintf(out, size, "drained by '%s'%s%" LKS_STR_FMT, s->owner,
                 reason.len > 0 ? ": " : " without a reason", LKS_STR_ARG(reason));
    else if (s->jobs > 0)
        say_jobs(s, job, user);
    else if (s->rotation)
        snprintf(out, size, "a service sends requests there");
    else if (s->requests > 0)
        snprintf(out, size, "requests are not answered yet");
    else
        snprintf(out, size, "%s", s->closed ? "drained" : "idle, and open for work");
    lks_str_make_printable(out);
}

void lks_sched_said_outage(struct lks_sched_said *s, bool down, bool maintenance,
                           struct lks_str reservation)
{
    s->down = down;
    if (down)
        snprintf(s->outage, sizeof(s->outage), "down");
    else if (maintenance)
        snprintf(s->outage, sizeof(s->outage), "in maintenance%s%" LKS_STR_FMT,
                 reservation.len > 0 ? ", by the reservation " : "", LKS_STR_ARG(reservation));
    lks_str_make_printable(s->outage);
}

bool lks_sched_said_is_so(const struct lks_sched_said *s, enum lks_sched_verb verb,
                          const char *from, bool acted)
{
    bool other = s->lockstep && !s->ours && from[0] != '\0' && strcmp(s->owner, from) == 0;
    if (verb == LKS_SCHED_RELEASE)
        return s->owner[0] == '\0' || (acted && !s->ours);
    return verb == LKS_SCHED_LOOK || (s->closed && !other);
}
