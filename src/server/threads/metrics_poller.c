#include "server/threads/metrics_poller.h"

#include "core/gate/gate_agents.h"
#include "drivers/http/login.h"
#include "port/measures.h"
#include "server/auth/authz.h"
#include "server/threads/client_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { TROUBLE_MS = 10000, TRIES_TIME = 3 }; /* of what one answer may take */

struct question {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_client_thread *client;
    struct lks_dialog *dialog; /* NULL: over, or not begun */
    struct lks_measures said;
};

/* A round in progress. */
struct lks_metrics_poll {
    struct lks_gate_round *round; /* NULL: it is told */
    struct question *questions;
    uint32_t count, open;   /* of them all, and of those that did not end */
    struct lks_str url;     /* of the configuration they were asked by */
    struct lks_err trouble; /* the first; code LKS_OK: none */
};

/* The state thread's part ------------------------------------------------------------------- */

void lks_metrics_poller_wanted(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_err err = {0};
    call->status = 200;
    if (authz->following)
        return; /* the leader measures */
    own->round = calloc(1, sizeof(*own->round));
    if (own->round == NULL)
        (void)!lks_fail_nomem(&err);
    else
        (void)!lks_gate_round_make(authz->state, lks_daemon_config(authz->daemon)->metrics_load,
                                   lks_engine_now(authz->engine, authz->now).wall, own->round,
                                   &err);
    if (err.code != LKS_OK)
        lks_call_problem(call, err.code, "%s", err.msg);
}

void lks_metrics_poller_measured(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_MEASURED,
        .measured = {.list = call->own->measured, .count = call->own->measured_count},
    };
    lks_authz_record(authz, call, &event);
}

/* Heartbeats come to this thread anyway, so no other thread is asked. */
void lks_metrics_poller_heard(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_internal *own = call->own;
    struct lks_err err = {0};
    struct lks_event event = {.kind = LKS_EVENT_MEASURED};
    struct lks_measured *list = NULL;
    call->status = 200;
    if (authz->following)
        return;
    if (lks_gate_agents(authz->state, lks_engine_now(authz->engine, authz->now).wall, &own->arena,
                        &list, &event.measured.count, &err) != LKS_OK)
        lks_call_problem(call, err.code, "%s", err.msg);
    event.measured.list = list;
    if (err.code == LKS_OK && event.measured.count > 0)
        lks_authz_record(authz, call, &event);
}

/* A round ----------------------------------------------------------------------------------- */

static void watch_free(struct lks_metrics_poll *w)
{
    if (w == NULL)
        return;
    for (uint32_t i = 0; i < w->count; i++) {
        struct question *q = &w->questions[i];
        if (q->dialog != NULL)
            lks_talks_cancel(q->client->talks, q->dialog);
        lks_measures_fini(&q->said);
    }
    if (w->round != NULL)
        lks_gate_round_fini(w->round);
    free(w->round);
    free(w->questions);
    free(w);
}

/* Once, when it begins, and once more when it is over. */
static void log_trouble(struct lks_client_thread *c, const struct lks_metrics_poll *watch)
{
    struct lks_metrics_poller *w = &c->poller;
    const char *now = watch->trouble.code == LKS_OK ? "" : watch->trouble.msg;
    const struct lks_log_field fields[] = {{"url", watch->url}, {"cause", lks_str_from(now)}};
    if (strcmp(now, w->said) == 0)
        return;
    snprintf(w->said, sizeof(w->said), "%s", now);
    if (now[0] != '\0')
        lks_daemon_log(c->daemon, LKS_LEVEL_WARNING, "measurements are missing", fields,
                       LKS_COUNT(fields));
    else
        lks_daemon_log(c->daemon, LKS_LEVEL_INFO, "measurements are back", fields, 1);
}

static bool find(void *ctx, uint32_t question, struct lks_str node, double *out)
{
    const struct lks_metrics_poll *w = ctx;
    return lks_measures_find(&w->questions[question].said, node, out);
}

/* All have ended: what was heard is told. */
static void finish(struct lks_client_thread *c)
{
    struct lks_metrics_poll *w = c->poller.watch;
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_MEASURED, 0);
    struct lks_err err = {0};
    if (w->trouble.code == LKS_OK && w->round->left > 0)
        (void)!lks_fail(&w->trouble, LKS_E_LIMIT,
                        "%u numbers would take more than %d questions: name fewer metrics",
                        w->round->left, LKS_ROUND_QUESTIONS_MAX);
    log_trouble(c, w);
    c->poller.watch = NULL;
    if (call != NULL && lks_gate_round_answer(w->round, find, w, &call->own->measured,
                                              &call->own->measured_count, &err) == LKS_OK) {
        call->own->round = LKS_MOVE(w->round);
        c->poller.asked = true;
        lks_mailbox_post(&c->daemon->state->box, &call->mail);
    } else {
        lks_call_free(call); /* the next round begins anew */
    }
    watch_free(w);
}

static void question_ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct question *q = (struct question *)talk;
    struct lks_client_thread *c = q->client;
    struct lks_metrics_poll *w = c->poller.watch;
    q->dialog = NULL; /* it is gone when this returns */
    if (why->code != LKS_OK && w->trouble.code == LKS_OK)
        w->trouble = *why;
    if (--w->open == 0)
        finish(c);
}

static enum lks_code begin(struct lks_client_thread *c, const struct lks_gate_question *asked,
                           const struct lks_bmc_secret *secret, struct question *q,
                           struct lks_err *err)
{
    const struct lks_config *config = lks_daemon_config(c->daemon);
    const struct lks_measure_driver *driver = &lks_measure_prometheus;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf query = LKS_BUF(LKS_MEASURE_QUERY_MAX);
    const struct lks_dialog_options options = {
        .peer = {.url = config->metrics_url.ptr,
                 .ca = config->metrics_ca.len > 0 ? config->metrics_ca.ptr : NULL,
                 .plain = true},
        .ops = driver->talk,
        .ctx = &q->talk,
    };
    lks_measure_query(asked->query, asked->counts, asked->window, &query);
    if (lks_buf_check(&query, err) != LKS_OK ||
        lks_talks_add(c->talks, &options, &q->dialog, err) != LKS_OK)
        return err->code;
    const struct lks_measure_wish wish = {
        .query = lks_buf_view(&query),
        .at = asked->at,
        .label = config->metrics_label,
        .login = (enum lks_measure_login)config->metrics_login,
        .secret = secret,
        .deadline = lks_talks_now(c->talks) + TRIES_TIME * LKS_MEASURE_PATIENCE * c->speed,
    };
    if (driver->begin(lks_talks_value(q->dialog), &wish, &q->said, err) == LKS_OK) {
        lks_talks_start(c->talks, q->dialog, false);
        return LKS_OK;
    }
    lks_talks_cancel(c->talks, q->dialog);
    q->dialog = NULL;
    return err->code;
}

/* A question that cannot even be asked has no answer, and the others have theirs. */
static void ask_all(struct lks_client_thread *c, struct lks_metrics_poll *w)
{
    const struct lks_config *config = lks_daemon_config(c->daemon);
    struct lks_bmc_secret secret = {0};
    struct lks_err err = {0};
    bool open = config->metrics_login == LKS_MEASURE_OPEN;
    bool known = open || lks_login_get(config->metrics_credentials.ptr, &secret, &err) == LKS_OK;
    for (uint32_t i = 0; i < w->count; i++) {
        struct question *q = &w->questions[i];
        q->talk.ended = question_ended;
        q->client = c;
        lks_measures_init(&q->said);
        if (known && begin(c, &w->round->questions[i], &secret, q, &err) == LKS_OK)
            w->open++;
    }
    w->url = config->metrics_url;
    w->trouble = err;
    lks_login_wipe(&secret);
}

static void begin_round(struct lks_client_thread *c, struct lks_gate_round *round)
{
    struct lks_metrics_poll *w = calloc(1, sizeof(*w));
    struct question *questions = calloc(round->question_count, sizeof(*questions));
    if (w == NULL || questions == NULL) {
        lks_gate_round_fini(round);
        free(round);
        free(w);
        free(questions);
        return;
    }
    w->round = round;
    w->questions = questions;
    w->count = round->question_count;
    c->poller.watch = w;
    ask_all(c, w);
    if (w->open == 0)
        finish(c);
}

/* The thread's part ------------------------------------------------------------------------- */

static void hear(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_metrics_poller *w = &c->poller;
    if (w->hears || mono < w->hear_due || !lks_internal_send(c->daemon, LKS_INTERNAL_HEARD))
        return;
    w->hears = true;
    w->hear_due = mono + lks_daemon_config(c->daemon)->metrics_every_ms;
}

void lks_metrics_poller_tick(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_metrics_poller *w = &c->poller;
    const struct lks_config *config = lks_daemon_config(c->daemon);
    hear(c, mono);
    if (config->metrics_url.len == 0 || c->talks == NULL || w->asked || w->watch != NULL ||
        mono < w->due)
        return;
    w->due = mono + TROUBLE_MS;
    w->asked = lks_internal_send(c->daemon, LKS_INTERNAL_WATCH);
}

void lks_metrics_poller_take(struct lks_client_thread *c, struct lks_call *call, lks_ms mono)
{
    struct lks_internal *own = call->own;
    c->poller.hears = c->poller.hears && own->kind != LKS_INTERNAL_HEARD;
    if (own->kind != LKS_INTERNAL_WATCH && own->kind != LKS_INTERNAL_MEASURED)
        return;
    c->poller.asked = false;
    if (own->kind != LKS_INTERNAL_WATCH || call->status != 200)
        return;
    c->poller.due = mono + lks_daemon_config(c->daemon)->metrics_every_ms;
    if (own->round != NULL && own->round->question_count > 0)
        begin_round(c, LKS_MOVE(own->round));
}

void lks_metrics_poller_fini(struct lks_client_thread *c)
{
    watch_free(c->poller.watch);
    c->poller.watch = NULL;
}
