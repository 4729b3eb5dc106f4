/* Reservations: decided on what slurmctld has now, sent, and read again. */
#include "bridge/serve/clock.h"
#include "bridge/serve/worker.h"

#include <string.h>

enum { DONE = 200, CONFLICT = 409, UNKNOWN = 504 };

static void say(struct lks_worker_task *t, int status, const char *error)
{
    struct lks_json_writer w = {.out = &t->body};
    lks_buf_truncate(&t->body, 0);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", error);
    lks_json_end(&w, '}');
    t->status = status;
}

static void say_other(struct lks_worker_task *t, const struct lks_bridge_reservation *r)
{
    char text[LKS_ERR_MSG_MAX];
    snprintf(text, sizeof(text),
             "the reservation '%s' is not lockstep's: its users are '%" LKS_STR_FMT "'",
             t->request.name, LKS_STR_ARG(r->users));
    say(t, CONFLICT, text);
}

/* One that starts in the past starts now: Slurm refuses an old start, and moves none that has
 * passed. */
static enum lks_code send_act(struct lks_worker *w, const struct lks_bridge_request *r,
                              enum lks_bridge_reservation_act act, bool started, lks_ms now,
                              struct lks_err *err)
{
    struct lks_bridge_reserve wanted = r->reserve;
    if (wanted.from < now)
        wanted.from = now;
    switch (act) {
    case LKS_BRIDGE_RESERVATION_CREATE:
        return lks_slurm_reserve_create(w->slurm, r->name, &wanted, err);
    case LKS_BRIDGE_RESERVATION_UPDATE:
        return lks_slurm_reserve_update(r->name, &wanted, !started, err);
    case LKS_BRIDGE_RESERVATION_REPLACE:
        if (lks_slurm_reserve_delete(r->name, err) != LKS_OK)
            return err->code;
        return lks_slurm_reserve_create(w->slurm, r->name, &wanted, err);
    case LKS_BRIDGE_RESERVATION_DELETE:
        return lks_slurm_reserve_delete(r->name, err);
    case LKS_BRIDGE_RESERVATION_KEEP:
    case LKS_BRIDGE_RESERVATION_REFUSE:
        break;
    }
    return LKS_OK;
}

static void answer(const struct lks_worker *w, struct lks_worker_task *t)
{
    const struct lks_bridge_reservation *r = lks_slurm_reserve_find(w->slurm, t->request.name);
    struct lks_json_writer j = {.out = &t->body};
    lks_buf_truncate(&t->body, 0);
    t->status = DONE;
    lks_json_begin(&j, NULL, '{');
    lks_json_begin(&j, "reservations", '[');
    if (r != NULL)
        lks_bridge_reservation_json(r, &j);
    lks_json_end(&j, ']');
    lks_json_end(&j, '}');
}

/* Slurm 24.11 leaves out nodes that it does not have, without an error. */
static void say_different(struct lks_worker_task *t, const struct lks_bridge_reservation *r)
{
    char text[LKS_ERR_MSG_MAX];
    if (r == NULL)
        snprintf(text, sizeof(text), "Slurm took the request, and there is no such reservation");
    else
        snprintf(text, sizeof(text),
                 "Slurm took the request, and the reservation is not as it was asked for: its "
                 "nodes are '%" LKS_STR_FMT "'",
                 LKS_STR_ARG(r->nodes));
    say(t, CONFLICT, text);
}

/* What was read behind the request decides, not what Slurm said to it. */
static void answer_sent(const struct lks_worker *w, struct lks_worker_task *t,
                        const struct lks_bridge_reserve *wanted, const struct lks_err *why)
{
    const struct lks_bridge_reservation *r = lks_slurm_reserve_find(w->slurm, t->request.name);
    lks_ms now = lks_clock_wall();
    bool holds = lks_bridge_reservation_act(r, wanted, now) == LKS_BRIDGE_RESERVATION_KEEP;
    if (holds)
        answer(w, t);
    else if (why->code == LKS_E_UNAVAILABLE)
        say(t, UNKNOWN, "slurmctld did not answer, and nothing has changed so far");
    else if (why->code != LKS_OK)
        say(t, lks_err_code_info(why->code)->http, why->msg);
    else
        say_different(t, r);
}

void lks_worker_reserve(struct lks_worker *w, struct lks_worker_task *task)
{
    const struct lks_bridge_request *r = &task->request;
    const struct lks_bridge_reserve *wanted = r->verb == LKS_BRIDGE_RESERVE ? &r->reserve : NULL;
    struct lks_err err = {0}, lost = {0};
    lks_ms now = lks_clock_wall();
    if (lks_worker_read(w, &err) != LKS_OK) {
        say(task, lks_err_code_info(err.code)->http, err.msg);
        return;
    }
    const struct lks_bridge_reservation *is = lks_slurm_reserve_find(w->slurm, r->name);
    enum lks_bridge_reservation_act act = lks_bridge_reservation_act(is, wanted, now);
    if (act == LKS_BRIDGE_RESERVATION_REFUSE) {
        say_other(task, is);
    } else if (wanted != NULL && wanted->until <= now) {
        say(task, lks_err_code_info(LKS_E_INVALID)->http, "until: that is in the past");
    } else if (act == LKS_BRIDGE_RESERVATION_KEEP) {
        answer(w, task);
    } else {
        bool started = is != NULL && is->from <= now;
        if (send_act(w, r, act, started, now, &err) == LKS_E_UNAVAILABLE)
            lks_slurm_doubt(w->slurm); /* another slurmctld may answer the next reading */
        if (lks_worker_read(w, &lost) != LKS_OK)
            say(task, UNKNOWN, "Slurm was asked, and the outcome is unknown");
        else
            answer_sent(w, task, wanted, &err);
    }
}
