#include "server/auth/forward.h"

#include "core/state/state.h"
#include "server/base/daemon.h"
#include "server/call/route.h"

#include <stdio.h>

enum {
    EXCHANGE_MS = 5000, /* of the whole of one, */
    PLAN_MS = 60000,    /* but for a plan, which takes its time in a large fleet */
    LOGIN_MS = 45000,   /* and an OpenID provider, which is asked up to four times */
    IDENTITY_SECONDS =
        3600, /* a certificate is made for each, and this covers clocks that differ */
    TARGET_MAX = 64 * 1024,
};

/* On the state thread ------------------------------------------------------------------------- */

bool lks_forward_controller(const struct lks_credential *c)
{
    return c->kind == LKS_CREDENTIAL_CERTIFICATE && c->certificate.ours &&
           c->certificate.use == LKS_X509_CONTROLLER;
}

bool lks_forward_as(struct lks_call *call)
{
    if (!lks_forward_controller(&call->credential) || call->as[0] == '\0')
        return false;
    snprintf(call->identity, sizeof(call->identity), "%s", call->as);
    snprintf(call->shown, sizeof(call->shown), "%s", call->as_credential);
    call->root = call->as_root;
    return true;
}

static void name_leader(const struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str url = lks_state_text(authz->state, authz->state->leader_url);
    snprintf(call->leader, sizeof(call->leader), "%" LKS_STR_FMT, LKS_STR_ARG(url));
}

bool lks_forward_elsewhere(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    bool agent = strncmp(call->route->path, "/v1/agent/", strlen("/v1/agent/")) == 0;
    if (!agent)
        return false;
    struct lks_str name = lks_state_text(s, s->leader);
    name_leader(authz, call);
    lks_call_problem_http(
        call, 421, "follows",
        "this controller follows; agents talk to the one that leads%s%" LKS_STR_FMT,
        name.len > 0 ? ", which was last " : "", LKS_STR_ARG(name));
    if (call->leader[0] != '\0')
        lks_call_header(call, "Lockstep-Leader: %s", call->leader);
    return true;
}

static void forward(struct lks_call *call);

/* A question whether a job may start is answered here; that it starts is recorded by the leader. */
static bool is_for_leader(const struct lks_call *call)
{
    if (strcmp(call->route->path, "/v1/admit") == 0)
        return call->failed.code == LKS_OK && LKS_ASKED(call, lks_ask_admit)->start;
    return (call->route->flags & (LKS_ROUTE_WRITE | LKS_ROUTE_LEADER)) != 0;
}

bool lks_forward_take(struct lks_authz *authz, struct lks_call *call)
{
    if (!is_for_leader(call) || call->failed.code != LKS_OK)
        return false; /* what is malformed is answered here, to callers that may ask */
    name_leader(authz, call);
    bool asked_by_us =
        call->as[0] != '\0' || call->credential.certificate.use == LKS_X509_CONTROLLER;
    if (call->leader[0] == '\0' || asked_by_us) {
        lks_call_problem(call, LKS_E_UNAVAILABLE, "no controller leads at the moment; try again");
        lks_call_header(call, "Retry-After: 1");
        return true;
    }
    if ((call->route->flags & LKS_ROUTE_LARGE) != 0) { /* its body was not fetched */
        lks_call_problem_http(call, 421, "misdirected", "put it to the controller that leads, %s",
                              call->leader);
        return true;
    }
    call->needs = 0;
    call->work = forward;
    return true;
}

/* In the thread pool -------------------------------------------------------------------------- */

static void put_value(struct lks_buf *out, const struct lks_doc *doc)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)doc->number);
    if (doc->kind == LKS_DOC_NUMBER)
        lks_http_escape(out, lks_str_from(number));
    else if (doc->kind == LKS_DOC_BOOL)
        lks_http_escape(out, doc->truth ? LKS_STR("true") : LKS_STR("false"));
    else
        lks_http_escape(out, doc->text);
}

/* The path as it was asked for: the route's, with what it names, and the query. */
static enum lks_code make_target(const struct lks_call *call, struct lks_buf *out,
                                 struct lks_err *err)
{
    struct lks_str rest = lks_str_from(call->route->path + 1), part;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '/', &part, &rest);
        lks_buf_addc(out, '/');
        if (lks_str_starts(part, "{"))
            lks_http_escape(out, call->named);
        else
            lks_buf_add(out, part);
    }
    const struct lks_doc *query = call->asked.first != NULL ? call->asked.first->first : NULL;
    for (char sign = '?'; query != NULL; query = query->next, sign = '&') {
        lks_buf_addc(out, sign);
        lks_http_escape(out, query->key);
        lks_buf_addc(out, '=');
        put_value(out, query);
    }
    return lks_buf_check(out, err);
}

/* A key and a certificate for this one client: every controller has the CA's key. */
static enum lks_code make_identity(const struct lks_daemon *d, struct lks_buf *key,
                                   struct lks_buf *pem, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    const struct lks_secrets *secrets = lks_daemon_secrets(d);
    struct lks_str name = lks_str_from(lks_daemon_name(d));
    struct lks_x509_about about;
    struct lks_x509_wish wish = {
        .use = LKS_X509_CONTROLLER,
        .name = name,
        .now = (int64_t)(lks_daemon_now().wall / LKS_SECOND),
        .seconds = IDENTITY_SECONDS,
    };
    if (lks_x509_key(key, err) != LKS_OK ||
        lks_x509_request(lks_buf_view(key), name, &request, err) != LKS_OK)
        return err->code;
    return lks_x509_issue(lks_buf_view(&secrets->ca), lks_buf_view(&secrets->ca_key),
                          lks_buf_view(&request), &wish, pem, &about, err);
}

enum lks_code lks_forward_client(const struct lks_daemon *d, const char *server, int timeout_ms,
                                 size_t body_max, struct lks_client **out, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = LKS_BUF(LKS_X509_PEM_MAX);
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    if (make_identity(d, &key, &certificate, err) != LKS_OK)
        return err->code;
    const struct lks_client_options options = {
        .server = server,
        .ca = lks_daemon_secrets(d)->ca.ptr,
        .certificate = certificate.ptr,
        .key = key.ptr,
        .pem = true,
        .timeout_ms = timeout_ms,
        .body_max = body_max,
    };
    return lks_client_new(&options, out, err);
}

/* A leader that asks others in turn takes longer. */
static int patience(const struct lks_route *route)
{
    if ((route->flags & LKS_ROUTE_PLAN) != 0)
        return PLAN_MS;
    return (route->flags & LKS_ROUTE_POLL) != 0 ? LOGIN_MS : EXCHANGE_MS;
}

static enum lks_code exchange(const struct lks_call *call, const char *target,
                              struct lks_http_answer *answer, struct lks_err *err)
{
    struct lks_client *client = NULL;
    char head[2 * LKS_CALL_IDENTITY_SIZE + LKS_WEBHOOK_SIZE + 160] = "";
    if (lks_forward_client(call->daemon, call->leader, patience(call->route), LKS_CALL_ANSWER_MAX,
                           &client, err) != LKS_OK)
        return err->code;
    if (call->identity[0] != '\0')
        snprintf(head, sizeof(head), LKS_FORWARD_AS ": %s\r\n" LKS_FORWARD_CREDENTIAL ": %s\r\n%s",
                 call->identity, call->shown, call->root ? LKS_FORWARD_ROOT ": yes\r\n" : "");
    if (call->signature[0] != '\0' && lks_str_printable(lks_str_from(call->signature))) {
        size_t len = strlen(head);
        snprintf(head + len, sizeof(head) - len, LKS_WEBHOOK_HEADER ": %s\r\n", call->signature);
    }
    const char *type = call->route->body != NULL ? "application/json" : call->route->body_type;
    enum lks_code code = lks_client_exchange(client, call->route->method, target, type,
                                             lks_buf_view(&call->bytes), head, answer, err);
    lks_client_free(client);
    return code;
}

/* The leader's answer is ours. */
static void pass_on(struct lks_call *call, const struct lks_http_answer *answer)
{
    struct lks_str type = lks_http_answer_header(answer, "content-type");
    struct lks_str wait = lks_http_answer_header(answer, "retry-after");
    const struct lks_route *r = call->route;
    call->status = answer->status;
    call->type = r->answer_type != NULL ? r->answer_type : "application/json";
    if (lks_str_starts(type, "application/problem+json"))
        call->type = "application/problem+json";
    if (answer->body.len == 0)
        call->type = NULL;
    lks_buf_truncate(&call->out, 0);
    lks_buf_add(&call->out, lks_buf_view(&answer->body));
    if (wait.len > 0 && wait.len < 16)
        lks_call_header(call, "Retry-After: %" LKS_STR_FMT, LKS_STR_ARG(wait));
}

static void forward(struct lks_call *call)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf target = LKS_BUF(TARGET_MAX);
    struct lks_err err = {0};
    if (make_target(call, &target, &err) == LKS_OK &&
        exchange(call, target.ptr, &answer, &err) == LKS_OK) {
        pass_on(call, &answer);
        return;
    }
    lks_call_problem(call, LKS_E_UNAVAILABLE,
                     "the controller that leads did not answer (%s); whether this took effect "
                     "shows when one leads again",
                     err.msg);
    lks_call_header(call, "Retry-After: 1");
}
