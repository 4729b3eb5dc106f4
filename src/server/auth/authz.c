#include "server/auth/authz.h"

#include "core/state/state.h"
#include "server/auth/authz_parts.h"
#include "server/auth/forward.h"
#include "server/base/daemon.h"
#include "server/call/route.h"
#include "server/form/admit_line.h"

#include <stdio.h>
#include <stdlib.h>

/* A node has a report now and then, and many of them after it was away. One that goes on would fill
 * the disk for all. */
enum { REPORTS_PER_S = 1 };

enum { QUESTION_BURST = 256 }; /* questions whether a job may start */

static uint64_t admit_burst(const struct lks_config *config)
{
    return config->admit_per_s > QUESTION_BURST ? config->admit_per_s : QUESTION_BURST;
}

enum lks_code lks_authz_init(struct lks_authz *authz, const struct lks_config *config,
                             uint64_t seed, struct lks_err *err)
{
    if (lks_rate_init(&authz->rate, config->people_per_s, config->burst, seed, err) != LKS_OK ||
        lks_rate_init(&authz->reports, REPORTS_PER_S, config->burst, seed, err) != LKS_OK ||
        lks_rate_init(&authz->admits, config->admit_per_s, admit_burst(config), seed, err) !=
            LKS_OK ||
        lks_rate_init(&authz->starts, 1, 1, seed, err) != LKS_OK)
        return err->code;
    return lks_decisions_init(&authz->decisions, config->decision_sample, seed, err);
}

void lks_authz_rates_set(struct lks_authz *authz, const struct lks_config *config)
{
    lks_rate_set(&authz->rate, config->people_per_s, config->burst);
    lks_rate_set(&authz->reports, REPORTS_PER_S, config->burst);
    lks_rate_set(&authz->admits, config->admit_per_s, admit_burst(config));
    authz->decisions.sample = config->decision_sample;
}

void lks_authz_fini(struct lks_authz *authz)
{
    lks_rate_fini(&authz->rate);
    lks_rate_fini(&authz->reports);
    lks_rate_fini(&authz->admits);
    lks_rate_fini(&authz->starts);
    lks_decisions_fini(&authz->decisions);
    lks_metrics_fini(&authz->metrics);
    lks_arena_fini(&authz->sweeps.arena);
    lks_sched_book_fini(&authz->sched);
    lks_refused_fini(&authz->refused);
    free(authz->observed);
    authz->observed = NULL;
    free(authz->drafts);
    authz->drafts = NULL;
}

enum lks_code lks_authz_hear(struct lks_authz *authz, uint32_t node, const struct lks_beat *beat,
                             struct lks_err *err)
{
    char key[LKS_CALL_IDENTITY_SIZE];
    uint64_t seq = lks_engine_seq(authz->engine);
    lks_ms wait = 0;
    snprintf(key, sizeof(key), "beat %" LKS_STR_FMT,
             LKS_STR_ARG(lks_state_name(authz->state, node)));
    if (!authz->state->nodes[node].enrolled ||
        !lks_rate_left(&authz->reports, lks_str_from(key), authz->now.mono))
        return LKS_OK;
    enum lks_code code = lks_engine_hear(authz->engine, authz->now, node, beat, err);
    if (lks_engine_seq(authz->engine) != seq)
        (void)lks_rate_take(&authz->reports, lks_str_from(key), authz->now.mono, &wait);
    return code;
}

/* Both sides have the answer already, as long as the journal has no further row and the same one
 * asks: what others may see is another answer. */
/* Lists of jobs are in answers about changes, and are no records. */
static lks_ms lists_of(const struct lks_authz *authz)
{
    const struct lks_sched_sites *sites = &authz->sched.sites;
    lks_ms all = 0;
    for (uint32_t i = 0; i < sites->count; i++)
        all += sites->items[i]->jobs.listed + sites->items[i]->failures;
    return all;
}

static void put_etag(const struct lks_authz *authz, struct lks_call *call)
{
    char etag[sizeof(call->etag)], who[LKS_DIGEST_SIZE] = "", text[2 * LKS_CALL_IDENTITY_SIZE];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), "%s %s", call->identity,
             call->shown); /* a login has its own roles */
    if (lks_digest_text(lks_str_from(text), who, &err) != LKS_OK)
        return;
    snprintf(etag, sizeof(etag), "\"%.8s-%llu-%llx-%.8s\"", authz->state->journal,
             (unsigned long long)lks_engine_seq(authz->engine), (unsigned long long)lists_of(authz),
             who + strlen("sha256:"));
    lks_call_header(call, "ETag: %s", etag);
    lks_call_header(call, "Vary: Authorization, Cookie");
    if (strcmp(etag, call->etag) == 0) {
        call->status = 304;
        call->type = NULL;
    }
}

/* A line of the admission socket is read only once it is known that it may be: it may be long. */
static void read_line(struct lks_call *call)
{
    if (call->asker == NULL)
        return;
    call->failed.code =
        lks_admit_line(lks_buf_view(&call->bytes), &call->docs, &call->ask, &call->failed);
}

/* Whether the body of a call may come; no answer: it may. */
static void admit_ahead(struct lks_authz *authz, struct lks_call *call)
{
    if (lks_authz_identify(authz, call) && lks_authz_permits_ahead(authz, call) &&
        call->failed.code != LKS_OK)
        lks_call_problem_err(call, &call->failed);
    call->admitted = true;
    call->needs = 0;
}

/* True when the call is to be handled. */
static bool admit(struct lks_authz *authz, struct lks_call *call)
{
    if (!lks_authz_identify(authz, call) || !lks_authz_charge_length(authz, call))
        return false;
    read_line(call);
    if ((authz->following && lks_forward_take(authz, call)) || !lks_authz_permits(authz, call))
        return false;
    call->needs = lks_engine_seq(authz->engine);
    if (call->failed.code != LKS_OK) {
        lks_call_problem_err(call, &call->failed);
        return false;
    }
    if ((call->route->flags & LKS_ROUTE_ETAG) != 0)
        put_etag(authz, call);
    return call->status == 0;
}

void lks_authz_prepare_again(struct lks_call *call)
{
    call->to_prepare = true;
    call->needs = 0;
}

static bool decide(struct lks_authz *authz, struct lks_call *call)
{
    if (call->unread) {
        admit_ahead(authz, call);
        return true;
    }
    if (call->cursor == 0 && !admit(authz, call))
        return true;
    call->admitted = true;
    if (call->route->prepare != NULL && !call->prepared)
        lks_authz_prepare_again(call);
    else
        call->route->handle(authz, call);
    return call->status != 0 || call->work != NULL || call->stream || call->at_store != NULL ||
           call->to_prepare;
}

bool lks_authz_decide(struct lks_authz *authz, struct lks_call *call)
{
    bool done = decide(authz, call);
    bool goes_on = call->unread && call->status == 0;
    if (!done || goes_on || call->to_prepare || call->at_store != NULL)
        return done;
    authz->metrics.calls++;
    authz->metrics.refused += call->status >= 400;
    return true;
}

/* Connections look again who they are when a certificate may have ended. */
static void note_records(struct lks_authz *authz, const struct lks_decision *d)
{
    for (size_t i = 0; i < d->count; i++) {
        enum lks_record_kind kind = d->records[i].kind;
        if (kind == LKS_RECORD_REVOKED || kind == LKS_RECORD_REMOVED ||
            kind == LKS_RECORD_ENROLLED || kind == LKS_RECORD_CERTIFIED ||
            kind == LKS_RECORD_REPLACED)
            authz->epoch++;
    }
    lks_daemon_epoch_set(authz->daemon, authz->epoch);
}

void lks_authz_sign(const struct lks_call *call, struct lks_event *event)
{
    event->by = lks_str_from(call->identity);
    event->credential = lks_str_from(call->shown);
    event->root = call->root;
}

bool lks_authz_turn(struct lks_authz *authz, struct lks_call *call, struct lks_event *event,
                    const struct lks_store_blob *blob, struct lks_decision *d)
{
    struct lks_err err = {0};
    lks_decision_init(d);
    lks_authz_sign(call, event);
    enum lks_code code =
        lks_engine_turn(authz->engine, authz->now, event, blob, d, &call->needs, &err);
    if (code == LKS_E_IO)
        lks_daemon_die(authz->daemon, "the journal is in an unknown state", &err);
    if (code != LKS_OK) {
        call->needs = 0; /* nothing was decided, so there is nothing to wait for */
        lks_call_problem_err(call, &err);
        return false;
    }
    note_records(authz, d);
    call->wrote |= d->count > 0;
    if (d->refused.code == LKS_OK)
        return true;
    lks_call_problem_err(call, &d->refused);
    return false;
}

void lks_authz_record(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    if (!lks_authz_turn(authz, call, event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_authz_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

bool lks_authz_report(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_store_blob blob = {.bytes = lks_buf_view(&call->bytes)};
    memcpy(blob.digest, call->digest, sizeof(blob.digest));
    if (!lks_authz_turn(authz, call, event, &blob, &d))
        return false;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_json_end(&w, '}');
    return true;
}

void lks_authz_touched(struct lks_json_writer *w, const struct lks_touched *touched)
{
    if (touched->nodes == 0)
        return;
    lks_json_int(w, "nodes", (int64_t)touched->nodes);
    lks_json_int(w, "gpus", (int64_t)touched->gpus);
}

uint32_t lks_authz_node(const struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_state_node(authz->state, call->named);
    if (node == LKS_NO_NODE)
        lks_call_problem(call, LKS_E_INVALID, "one node is expected here, not a list");
    return node;
}

bool lks_authz_page_begin(struct lks_call *call, const struct lks_ask_page *ask,
                          struct lks_authz_page *page)
{
    *page = (struct lks_authz_page){.after = UINT64_MAX, .left = ask->limit};
    if (ask->after.len > 0 && !lks_str_number(ask->after, UINT64_MAX, &page->after)) {
        lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return false;
    }
    page->w = lks_call_list(call);
    return true;
}

void lks_authz_row(const struct lks_authz *authz, struct lks_call *call,
                   const struct lks_view *view, const void *row)
{
    const struct lks_view_of of = {.s = authz->state, .row = row, .now = authz->now};
    struct lks_json_writer w = lks_call_json(call);
    lks_view_row_put(&w, view, LKS_USE_LISTED | LKS_USE_SHOWN, &of);
    lks_json_end(&w, '}');
}

void lks_authz_page_end(struct lks_authz_page *page)
{
    lks_call_list_end(&page->w, page->next);
}

bool lks_authz_end(const struct lks_authz *authz, struct lks_call *call, const char *key,
                   lks_ms end)
{
    lks_ms now = lks_engine_now(authz->engine, authz->now).wall;
    char text[LKS_TIME_TEXT_SIZE];
    if (end <= authz->wall || end > now)
        return true;
    lks_call_problem(call, LKS_E_INVALID,
                     "%s: the journal's clock says %s: it is ahead by %llu s, as this machine's "
                     "was, and never decreases; give a later time",
                     key, lks_time_text(now, text),
                     (unsigned long long)((now - authz->wall) / LKS_SECOND));
    return false;
}
