#include "core/gate/gate.h"
#include "core/rows/command.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "model/tuple/tuple.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/base/daemon.h"
#include "server/form/views.h"
#include "trust/envelope.h"

#include <stdlib.h>

enum { DAY_SECONDS = 86400, VARIABLE_SIZE = 256 };

void lks_handle_issue(struct lks_call *call, enum lks_x509_use use, struct lks_str name,
                      struct lks_str request, int64_t seconds)
{
    const struct lks_secrets *secrets = lks_daemon_secrets(call->daemon);
    struct lks_x509_wish wish = {
        .use = use,
        .name = name,
        .now = (int64_t)(lks_daemon_now().wall / LKS_SECOND),
        .seconds = seconds,
    };
    if (lks_x509_issue(lks_buf_view(&secrets->ca), lks_buf_view(&secrets->ca_key), request, &wish,
                       &call->issued, &call->about, &call->failed) != LKS_OK)
        lks_buf_truncate(&call->issued, 0);
}

static int64_t node_seconds(const struct lks_call *call)
{
    return (int64_t)lks_daemon_config(call->daemon)->node_days * DAY_SECONDS;
}

void lks_handle_enroll_prepare(struct lks_call *call)
{
    struct lks_token token;
    const struct lks_ask_enroll *ask = LKS_ASKED(call, lks_ask_enroll);
    enum lks_code code = lks_token_parse(ask->token, &token, &call->failed);
    if (code == LKS_OK && (token.kind != LKS_TOKEN_NODE || token.id.len > LKS_HOST_NAME_MAX))
        code = lks_fail(&call->failed, LKS_E_DENIED, "the token is not one for enrolling a node");
    if (code != LKS_OK || lks_token_hash(&token, call->token_hash, &call->failed) != LKS_OK)
        return;
    memcpy(call->node_name, token.id.ptr, token.id.len);
    call->node_name[token.id.len] = '\0';
    lks_handle_issue(call, LKS_X509_NODE, lks_str_from(call->node_name), ask->request,
                     node_seconds(call));
}

static struct lks_event certificate_event(const struct lks_call *call, enum lks_event_kind kind)
{
    return (struct lks_event){
        .kind = kind,
        .certificate = {.fingerprint = lks_str_from(call->about.fingerprint),
                        .serial = lks_str_from(call->about.serial),
                        .expires = (lks_ms)call->about.not_after * LKS_SECOND},
    };
}

void lks_handle_enroll(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event = certificate_event(call, LKS_EVENT_ENROLL);
    event.name = lks_str_from(call->node_name);
    event.certificate.token_hash = lks_str_from(call->token_hash);
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    const struct lks_secrets *secrets = lks_daemon_secrets(call->daemon);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "node", call->node_name);
    lks_json_text(&w, "certificate", lks_buf_view(&call->issued));
    lks_json_text(&w, "ca", lks_buf_view(&secrets->ca));
    lks_json_cstr(&w, "journal", authz->state->journal);
    lks_json_cstr(&w, "journal_key", secrets->journal_public);
    lks_json_cstr(&w, "command_key", secrets->command_public);
    lks_json_cstr(&w, "agents", lks_daemon_agents_url(call->daemon));
    lks_json_int(&w, "heartbeat_ms", (int64_t)authz->state->limits.heartbeat);
    lks_json_end(&w, '}');
}

/* The first heartbeat of a connection; the others are answered by the server thread. */
void lks_handle_beat(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_beat beat;
    struct lks_err err = {0};
    call->needs = 0; /* what it changes is not what it is told */
    enum lks_code code = lks_heartbeat_unpack(lks_buf_view(&call->bytes), &beat, &err);
    if (code == LKS_OK) {
        authz->metrics.beats++;
        code = lks_authz_hear(authz, call->node, &beat, &err);
    }
    if (code == LKS_E_IO)
        lks_daemon_die(authz->daemon, "the journal is in an unknown state", &err);
    if (code != LKS_OK && code != LKS_E_UNAVAILABLE) {
        lks_call_problem_err(call, &err);
        return;
    }
    const struct lks_head *head = lks_engine_told(authz->engine);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_HEAD_TEXT_MAX);
    struct lks_json_writer w = lks_call_json(call);
    if (lks_node_status_step(authz->state, call->node, authz->now.wall, NULL) != LKS_BAR_COUNT)
        lks_json_bool(&w, "barred", true);
    if (authz->state->nodes[call->node].changing != 0)
        lks_json_bool(&w, "changing", true);
    if (head->seq != 0) {
        lks_row_head_text(head, &line);
        lks_json_text(&w, "head", lks_buf_view(&line));
    }
    lks_json_int(&w, "heartbeat_ms", (int64_t)authz->state->limits.heartbeat);
    lks_json_bool(&w, "mail", lks_gate_mail(authz->state, call->node));
    lks_json_int(&w, "time", (int64_t)authz->now.wall);
    lks_json_end(&w, '}');
}

void lks_handle_tuple_prepare(struct lks_call *call)
{
    struct lks_str bytes = lks_buf_view(&call->bytes);
    call->tuple = calloc(1, sizeof(*call->tuple));
    enum lks_code code = call->tuple == NULL ? lks_fail_nomem(&call->failed) : LKS_OK;
    if (code == LKS_OK)
        code = lks_digest_text(bytes, call->digest, &call->failed);
    if (code == LKS_OK)
        code = lks_tuple_parse(bytes, "report", call->tuple, &call->failed);
    if (code != LKS_OK) {
        free(call->tuple);
        call->tuple = NULL;
    }
}

void lks_handle_report(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_TUPLE,
        .node = call->node,
        .tuple = {.tuple = call->tuple, .report = lks_str_from(call->digest)},
    };
    (void)lks_authz_report(authz, call, &event);
}

static void copy_text(char *out, size_t size, struct lks_str s)
{
    size_t len = s.len < size ? s.len : size - 1;
    memcpy(out, s.ptr, len);
    out[len] = '\0';
}

static enum lks_code put_command(struct lks_authz *authz, const struct lks_state_command *command,
                                 struct lks_json_writer *w, struct lks_err *err)
{
    const struct lks_state *s = authz->state;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DSSE_MAX);
    struct lks_envelope e = {
        .id = command->id,
        .epoch =
            authz->state->epoch > 0 ? authz->state->epoch : 1, /* 1: there is only one leader */
        .attempt = command->attempt,
        .expires = command->expires,
    };
    copy_text(e.journal, sizeof(e.journal), lks_str_from(s->journal));
    copy_text(e.node, sizeof(e.node), lks_state_name(s, command->node));
    copy_text(e.boot, sizeof(e.boot), lks_state_text(s, command->boot));
    copy_text(e.executor, sizeof(e.executor), lks_state_text(s, command->executor));
    struct lks_str digests = lks_state_text(s, command->digests), digest;
    while (e.digest_count < LKS_ENVELOPE_DIGESTS_MAX && lks_str_word(&digests, &digest))
        copy_text(e.digests[e.digest_count++], sizeof(e.digests[0]), digest);
    if (lks_envelope_sign(&lks_daemon_secrets(authz->daemon)->command, &e, &text, err) != LKS_OK)
        return err->code;
    lks_json_text(w, NULL, lks_buf_view(&text));
    return LKS_OK;
}

/* Where artifacts are near, for agents with a command that names some. */
static void put_mirrors(const struct lks_authz *authz, uint32_t node, struct lks_json_writer *w)
{
    const struct lks_config_list *all = &lks_daemon_config(authz->daemon)->depot_mirrors;
    struct lks_str at = lks_state_text(authz->state, authz->state->nodes[node].site), site, url;
    lks_json_begin(w, "mirrors", '[');
    for (size_t i = 0; i < all->count; i++) {
        if (lks_str_cut(all->items[i], '=', &site, &url) && lks_str_eq(site, at))
            lks_json_text(w, NULL, url);
    }
    lks_json_end(w, ']');
}

void lks_handle_mail(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_err err = {0};
    enum lks_code code = LKS_OK;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "want_tuple", lks_state_wants_tuple(s, call->node));
    lks_json_begin(&w, "commands", '[');
    for (uint32_t i = 0; i < s->command_count && code == LKS_OK; i++) {
        if (s->commands[i].node == call->node && !s->commands[i].ended)
            code = put_command(authz, &s->commands[i], &w, &err);
    }
    lks_json_end(&w, ']');
    put_mirrors(authz, call->node, &w);
    lks_view_text(&w, "load", lks_gate_load(s, call->node));
    lks_json_end(&w, '}');
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
}

/* The environment that the stack pins. */
static void put_environment(const struct lks_stack *stack, struct lks_json_writer *w)
{
    const struct lks_doc *env = stack != NULL ? lks_doc_member(stack->tuning, "env") : NULL;
    lks_json_begin(w, "env", '{');
    for (const struct lks_doc *d = env != NULL ? env->first : NULL; d != NULL; d = d->next) {
        char key[VARIABLE_SIZE];
        if (d->key.len < sizeof(key)) {
            copy_text(key, sizeof(key), d->key);
            lks_json_text(w, key, d->text);
        }
    }
    lks_json_end(w, '}');
}

/* What a job that starts on the node needs to know of it. */
void lks_handle_node_stack(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    const struct lks_node *n = &s->nodes[call->node];
    const char *why = "";
    struct lks_str digest = lks_state_text(s, lks_state_intent(s, call->node));
    const struct lks_stack *stack = lks_book_stack(lks_engine_book(authz->engine), digest);
    enum lks_bar bar = lks_node_status_step(s, call->node, authz->now.wall, &why);
    struct lks_json_writer w = lks_call_json(call);
    if (bar != LKS_BAR_COUNT) {
        lks_json_cstr(&w, "bar", lks_bar_words[bar]);
        lks_json_cstr(&w, "why", why);
    }
    lks_json_some(&w, "digest", digest);
    lks_json_bool(&w, "enforces",
                  n->pool < s->pool_count &&
                      lks_str_is(lks_state_text(s, s->pools[n->pool].enforce), "on"));
    if (stack != NULL) {
        lks_json_text(&w, "name", stack->name);
        lks_json_text(&w, "version", stack->version);
    }
    put_environment(stack, &w);
    lks_json_end(&w, '}');
}

void lks_handle_result(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_result *ask = LKS_ASKED(call, lks_ask_result);
    struct lks_event event = {
        .kind = LKS_EVENT_RESULT,
        .node = call->node,
        .result = {.id = ask->id, .outcome = (enum lks_outcome)ask->outcome, .text = ask->text},
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_check(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_check *ask = LKS_ASKED(call, lks_ask_check);
    struct lks_event event = {
        .kind = LKS_EVENT_CHECK,
        .node = call->node,
        .check = {.passed = ask->passed, .text = ask->text},
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_renew_prepare(struct lks_call *call)
{
    lks_handle_issue(call, LKS_X509_NODE, lks_str_from(call->credential.certificate.name),
                     LKS_ASKED(call, lks_ask_certify)->request, node_seconds(call));
}

void lks_handle_renew(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event = certificate_event(call, LKS_EVENT_RENEW);
    event.node = call->node;
    event.certificate.shown = lks_str_from(call->credential.certificate.fingerprint);
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "certificate", lks_buf_view(&call->issued));
    lks_json_end(&w, '}');
}
