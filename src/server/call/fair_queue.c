#include "server/call/fair_queue.h"

static struct lks_call *call_of(struct lks_mail *mail)
{
    return (struct lks_call *)mail;
}

/* The first that waits, or rather the first of another caller than the last one. */
static struct lks_call *take(struct lks_fair_queue *t)
{
    struct lks_mail **at = &t->first;
    for (struct lks_mail **m = at; *m != NULL; m = &(*m)->next) {
        if (call_of(*m)->account != t->last) {
            at = m;
            break;
        }
    }
    struct lks_call *call = call_of(*at);
    *at = call->mail.next;
    if (*at == NULL)
        t->end = at;
    t->last = call->account;
    return call;
}

static void next(struct lks_fair_queue *t);

static void run(uv_work_t *job)
{
    struct lks_call *call = job->data;
    call->turns->work(call);
}

static void ran(uv_work_t *job, int status)
{
    struct lks_call *call = job->data;
    struct lks_fair_queue *t = call->turns;
    (void)status;
    t->running--;
    t->done(call);
    next(t);
}

static void next(struct lks_fair_queue *t)
{
    while (t->first != NULL && t->running < t->most) {
        struct lks_call *call = take(t);
        if (call->x == NULL && call->own == NULL) {
            t->left(call);
            continue;
        }
        t->running++;
        call->job.data = call;
        uv_queue_work(t->loop, &call->job, run, ran);
    }
}

void lks_fair_queue_add(struct lks_fair_queue *t, struct lks_call *call)
{
    call->turns = t;
    call->mail.next = NULL;
    if (t->first == NULL)
        t->end = &t->first;
    *t->end = &call->mail;
    t->end = &call->mail.next;
    next(t);
}

unsigned lks_fair_queue_waiting(const struct lks_fair_queue *t, const struct lks_call *call)
{
    unsigned waiting = 0;
    for (struct lks_mail *m = t->first; m != NULL; m = m->next)
        waiting += call_of(m)->account == call->account;
    return waiting;
}
