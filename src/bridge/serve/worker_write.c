/* Writes: decided on what slurmctld says now, sent in groups, and read again. */
#include "bridge/serve/clock.h"
#include "bridge/serve/worker.h"
#include "bridge/view/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BODY_MAX  ((size_t)16 << 20) /* a node with all its jobs */
#define HOSTS_MAX ((size_t)1 << 20)
#define RETRY     " Read the node again before the next request."
#define LATER_EPOCH                                                                                \
    "a controller of a later epoch has written: this one no longer leads. If lockstepd has a new " \
    "store, whose epochs start again, see \"Epochs\" in docs/slurm.md"

enum { FEW = 8, DONE = 200, CONFLICT = 409, UNSENT = 503, UNKNOWN = 504 };

/* Answers ----------------------------------------------------------------------------------- */

static void say(struct lks_worker_task *t, int status, const char *error, const char *member,
                uint64_t number)
{
    struct lks_json_writer w = {.out = &t->body};
    lks_buf_truncate(&t->body, 0);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", error);
    if (member != NULL)
        lks_json_int(&w, member, (int64_t)number);
    lks_json_end(&w, '}');
    t->status = status;
    t->sends = false;
}

static void say_failure(struct lks_worker_task *t, int status, const struct lks_err *err)
{
    say(t, status, err->msg, NULL, 0);
}

static void log_task(struct lks_worker *w, const struct lks_worker_task *t)
{
    char epoch[24], status[8];
    const struct lks_bridge_request *r = &t->request;
    snprintf(epoch, sizeof(epoch), "%" PRIu64, r->epoch);
    snprintf(status, sizeof(status), "%d", t->status);
    bool job = r->verb == LKS_BRIDGE_SIGNAL || r->verb == LKS_BRIDGE_REQUEUE;
    bool reservation = r->verb == LKS_BRIDGE_RESERVE || r->verb == LKS_BRIDGE_UNRESERVE;
    struct lks_log_field fields[] = {
        {job           ? "job"
         : reservation ? "reservation"
                       : "node",
         lks_str_from(r->name)},
        {"status", lks_str_from(status)},
        {"epoch", lks_str_from(epoch)},
        {"owner", lks_str_from(r->owner)},
        {"answer", t->status == DONE ? LKS_STR("") : lks_buf_view(&t->body)},
    };
    lks_log_event(w->log, t->status == DONE ? LKS_LEVEL_INFO : LKS_LEVEL_WARNING,
                  lks_bridge_request_words[r->verb], fields, LKS_COUNT(fields));
}

/* The epoch --------------------------------------------------------------------------------- */

/* A controller of an earlier epoch is refused; a later epoch is durable before it is acted on. */
static bool admit(struct lks_worker *w, struct lks_worker_task *t)
{
    struct lks_err err = {0};
    uint64_t epoch = t->request.epoch;
    if (epoch < w->durable.epoch) {
        say(t, CONFLICT, LATER_EPOCH, "epoch", w->durable.epoch);
        return false;
    }
    if (epoch == w->durable.epoch)
        return true;
    if (lks_durable_keep(&w->durable, epoch, w->durable.ceiling, &err) != LKS_OK) {
        enum lks_code code =
            lks_wrap(&err, "the epoch cannot be kept, and nothing was sent to Slurm");
        say_failure(t, lks_err_code_info(code)->http, &err);
        return false;
    }
    uv_mutex_lock(&w->lock);
    w->epoch = epoch;
    uv_mutex_unlock(&w->lock);
    return true;
}

/* The epoch is kept; a leader gives it to bridges that it does not write through. */
static void say_epoch(struct lks_worker_task *t)
{
    t->status = DONE;
    lks_buf_addf(&t->body, "{\"epoch\":%" PRIu64 "}", t->request.epoch);
}

/* Jobs -------------------------------------------------------------------------------------- */

static void refuse_run(struct lks_worker_task *t, lks_ms started)
{
    struct lks_json_writer w = {.out = &t->body};
    char meant[LKS_TIME_TEXT_SIZE], there[LKS_TIME_TEXT_SIZE], text[LKS_ERR_MSG_MAX];
    lks_time_text(t->request.started, meant);
    if (started == 0)
        snprintf(text, sizeof(text), "the run that started at %s has ended", meant);
    else
        snprintf(text, sizeof(text), "the run that started at %s has ended: another started at %s",
                 meant, lks_time_text(started, there));
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "error", text);
    if (started == 0)
        lks_json_null(&w, "started");
    else
        lks_json_int(&w, "started", (int64_t)started);
    lks_json_end(&w, '}');
    t->status = CONFLICT;
}

/* Whether the run that is meant is there, as slurmctld has it now. Else the answer is there. Slurm
 * starts a job again minutes after its requeue: no other run comes between this and the request. */
static bool is_run(struct lks_worker_task *t)
{
    struct lks_err err = {0};
    lks_ms started = 0;
    if (t->request.started == 0)
        return true;
    if (lks_slurm_read_run(t->request.name, &started, &err) != LKS_OK)
        say_failure(t, lks_err_code_info(err.code)->http, &err); /* nothing was sent */
    else if (started != t->request.started)
        refuse_run(t, started);
    else
        return true;
    return false;
}

static void act_on_job(const struct lks_worker *w, struct lks_worker_task *t)
{
    struct lks_err err = {0};
    const struct lks_bridge_request *r = &t->request;
    if (!is_run(t))
        return;
    enum lks_code code = r->verb == LKS_BRIDGE_SIGNAL
                             ? lks_slurm_signal(r->name, r->signal, r->batch, &err)
                             : lks_slurm_requeue(r->name, &err);
    if (code == LKS_E_UNAVAILABLE)
        lks_slurm_doubt(w->slurm); /* another slurmctld may answer the next reading */
    if (code == LKS_OK) {
        t->status = DONE;
        lks_buf_addf(&t->body, "{\"id\":\"%s\"}", r->name);
    } else {
        say_failure(t, code == LKS_E_UNAVAILABLE ? UNKNOWN : lks_err_code_info(code)->http, &err);
    }
}

/* Nodes ------------------------------------------------------------------------------------- */

/* Read the nodes of all tasks that are still to be sent, or were: one by one where they are few. A
 * reading that fails is each task's answer. */
static void read_nodes(struct lks_worker *w, struct lks_worker_task *const *tasks, size_t count,
                       bool sent)
{
    struct lks_err err = {0};
    bool few = count <= FEW;
    enum lks_code code = few ? LKS_OK : lks_worker_read(w, &err);
    for (size_t i = 0; i < count; i++) {
        struct lks_worker_task *t = tasks[i];
        if (!t->sends)
            continue;
        if (few && code != LKS_E_UNAVAILABLE) /* each would wait as long as the first did */
            code = lks_worker_read_node(w, t->request.name, &err);
        if (code != LKS_OK && sent)
            say(t, UNKNOWN, "Slurm was asked, and the outcome is unknown." RETRY, NULL, 0);
        else if (code != LKS_OK)
            say_failure(t, lks_err_code_info(code)->http, &err);
    }
}

static void answer_node(const struct lks_worker *w, struct lks_worker_task *t)
{
    struct lks_str name = lks_str_from(t->request.name);
    const struct lks_bridge_entry *e = lks_bridge_book_find(&w->book, name);
    if (e == NULL) {
        say(t, lks_err_code_info(LKS_E_NOT_FOUND)->http, "Slurm has no node of this name", NULL, 0);
        return;
    }
    t->status = DONE;
    lks_buf_truncate(&t->body, 0);
    lks_bridge_book_node(&w->book, name, e, lks_clock_steady(), &t->body);
}

static void refuse_owner(struct lks_worker_task *t, const struct lks_bridge_entry *e)
{
    char text[LKS_ERR_MSG_MAX];
    if (e->failing && !e->drained)
        snprintf(text, sizeof(text), "the node is in state FAIL, which a drain would end");
    else if (!e->drained)
        snprintf(text, sizeof(text), "the node is not drained");
    else
        snprintf(text, sizeof(text), "the node is drained by '%" LKS_STR_FMT "'",
                 LKS_STR_ARG(e->owner));
    say(t, CONFLICT, text, "revision", e->revision);
}

/* Whether the request may be sent, now that the node was read. Without one, t->sends is false and
 * the answer is there. */
static void decide(const struct lks_worker *w, struct lks_worker_task *t)
{
    const struct lks_bridge_request *r = &t->request;
    const struct lks_bridge_entry *e = lks_bridge_book_find(&w->book, lks_str_from(r->name));
    bool drain = r->verb == LKS_BRIDGE_DRAIN;
    if (e == NULL) {
        answer_node(w, t);
        t->sends = false;
        return;
    }
    bool ours = e->drained && lks_str_is(e->owner, r->owner);
    bool takes_over = e->drained && r->from[0] != '\0' && lks_str_is(e->owner, r->from);
    if (e->revision != r->revision) {
        say(t, CONFLICT, "the node is at another revision", "revision", e->revision);
    } else if (drain && ours) {
        answer_node(w, t); /* it is so already */
        t->sends = false;
    } else if (drain ? (e->drained && !takes_over) || e->failing : !ours) {
        refuse_owner(t, e);
    } else if (drain) {
        lks_drain_reason_write(lks_str_from(r->owner), lks_str_from(r->reason),
                               lks_bridge_ending_before(e), t->reason);
    } else {
        struct lks_bridge_ending end = lks_bridge_ending_of(e);
        memcpy(t->reason, end.reason, sizeof(t->reason));
        t->resume = end.resume;
    }
}

static enum lks_code change(const struct lks_worker *w, const struct lks_worker_task *like,
                            const char *nodes, struct lks_err *err)
{
    const char *reason = like->reason[0] != '\0' ? like->reason : NULL;
    enum lks_code code = like->request.verb == LKS_BRIDGE_DRAIN
                             ? lks_slurm_drain(w->slurm, nodes, like->reason, err)
                         : like->resume ? lks_slurm_resume(w->slurm, nodes, err)
                                        : lks_slurm_undrain(w->slurm, nodes, reason, err);
    if (code == LKS_E_UNAVAILABLE)
        lks_slurm_doubt(w->slurm); /* another slurmctld may answer the next reading */
    return code;
}

static bool is_alike(const struct lks_worker_task *a, const struct lks_worker_task *b)
{
    return b->sends && a->request.verb == b->request.verb && a->resume == b->resume &&
           strcmp(a->reason, b->reason) == 0;
}

static void say_unsent(struct lks_worker_task *t)
{
    say(t, UNSENT,
        "slurmctld did not answer the request before this one; nothing was sent for this node",
        NULL, 0);
}

/* All tasks like the first, as one request; and one by one where Slurm refuses that. UNAVAILABLE:
 * slurmctld did not answer. Then nothing is sent again: each request would wait as long, and what
 * was read before is no longer true. */
static enum lks_code send_group(const struct lks_worker *w, struct lks_worker_task *const *tasks,
                                size_t count, bool *sent)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = LKS_BUF(HOSTS_MAX);
    struct lks_err err = {0};
    size_t members = 0;
    for (size_t i = 0; i < count; i++) {
        if (sent[i] || !is_alike(tasks[0], tasks[i]))
            continue;
        lks_buf_addf(&hosts, "%s%s", members++ > 0 ? "," : "", tasks[i]->request.name);
    }
    bool together = members > 1 && lks_buf_check(&hosts, &err) == LKS_OK;
    enum lks_code code = together ? change(w, tasks[0], hosts.ptr, &err) : LKS_OK;
    together = together && (code == LKS_OK || code == LKS_E_UNAVAILABLE);
    for (size_t i = count; i-- > 0;) { /* the first, which the others are compared with, at last */
        if (sent[i] || !is_alike(tasks[0], tasks[i]))
            continue;
        sent[i] = true;
        if (together)
            tasks[i]->err = err;
        else if (code == LKS_E_UNAVAILABLE)
            say_unsent(tasks[i]);
        else
            code = change(w, tasks[i], tasks[i]->request.name, &tasks[i]->err);
    }
    return code;
}

/* The connection, or slurmctld's version of the protocol: nothing tells what it made of the
 * request.
 */
static void say_unknown(struct lks_worker_task *t)
{
    char text[LKS_ERR_MSG_MAX + 128];
    snprintf(text, sizeof(text),
             "there is no answer of slurmctld (%s), and nothing has changed so far." RETRY,
             t->err.msg);
    say(t, UNKNOWN, text, NULL, 0);
}

/* What was read behind the request decides, not what Slurm said to it: slurmctld ends the drain of
 * a node in state UNKNOWN and calls that an error, and an answer that was lost says nothing. */
static void answer_sent(const struct lks_worker *w, struct lks_worker_task *t)
{
    const struct lks_bridge_request *r = &t->request;
    const struct lks_bridge_entry *e = lks_bridge_book_find(&w->book, lks_str_from(r->name));
    bool ours = e != NULL && e->drained && lks_str_is(e->owner, r->owner);
    bool holds = e != NULL && (r->verb == LKS_BRIDGE_DRAIN ? ours : !ours);
    if (t->err.code == LKS_OK || holds)
        answer_node(w, t);
    else if (t->err.code == LKS_E_UNAVAILABLE)
        say_unknown(t);
    else
        say_failure(t, lks_err_code_info(t->err.code)->http, &t->err);
}

static void act_on_nodes(struct lks_worker *w, struct lks_worker_task *const *tasks, size_t count)
{
    bool sent[LKS_WORKER_BATCH] = {false};
    enum lks_code code = LKS_OK;
    read_nodes(w, tasks, count, false);
    for (size_t i = 0; i < count; i++) {
        if (tasks[i]->sends)
            decide(w, tasks[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!tasks[i]->sends || sent[i])
            continue;
        if (code == LKS_E_UNAVAILABLE)
            say_unsent(tasks[i]);
        else
            code = send_group(w, tasks + i, count - i, sent + i);
    }
    read_nodes(w, tasks, count, true);
    for (size_t i = 0; i < count; i++) {
        if (tasks[i]->sends)
            answer_sent(w, tasks[i]);
    }
}

void lks_worker_write(struct lks_worker *w, struct lks_worker_task *const *tasks, size_t count)
{
    struct lks_worker_task *nodes[LKS_WORKER_BATCH] = {NULL};
    size_t node_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct lks_worker_task *t = tasks[i];
        lks_buf_init(&t->body, BODY_MAX);
        t->sends = true;
        if (!admit(w, t))
            continue;
        if (t->request.verb == LKS_BRIDGE_EPOCH)
            say_epoch(t);
        else if (t->request.verb == LKS_BRIDGE_TRUTH)
            lks_worker_truth(w, t);
        else if (t->request.verb == LKS_BRIDGE_POLICY)
            lks_worker_policy(w, t);
        else if (t->request.verb == LKS_BRIDGE_RESERVE || t->request.verb == LKS_BRIDGE_UNRESERVE)
            lks_worker_reserve(w, t);
        else if (t->request.verb == LKS_BRIDGE_SIGNAL || t->request.verb == LKS_BRIDGE_REQUEUE)
            act_on_job(w, t);
        else
            nodes[node_count++] = t;
    }
    act_on_nodes(w, nodes, node_count);
    for (size_t i = 0; i < count; i++)
        log_task(w, tasks[i]);
}
