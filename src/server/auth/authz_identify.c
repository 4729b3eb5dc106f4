/* Who asks, and how often they may: the first thing that is decided about a call. */
#include "core/state/state.h"
#include "server/auth/authz_parts.h"
#include "server/auth/forward.h"
#include "server/base/daemon.h"
#include "server/call/internal.h"
#include "server/call/route.h"

#include <stdio.h>
#include <unistd.h>

enum { QUESTION_BYTES = 16 << 10 }; /* each so many of a question count as one more */

/* "controller:NAME", as which the daemon asks itself. */
static void name_ourselves(const struct lks_daemon *daemon, char out[LKS_CALL_IDENTITY_SIZE])
{
    snprintf(out, LKS_CALL_IDENTITY_SIZE, LKS_FORWARD_PEER "%s", lks_daemon_name(daemon));
}

/* Whether a certificate of the site's is over sooner than the one in use on a node that is heard:
 * it is no renewal, and a machine that was replaced may still have it. */
static bool is_of_before(const struct lks_node *node, const struct lks_x509_about *about)
{
    bool heard = node->liveness == LKS_LIVE || node->liveness == LKS_LATE;
    return node->enrolled && heard &&
           (lks_ms)about->not_after * LKS_SECOND < node->certificates[0].expires;
}

/* A node that comes with a certificate of the site's is let in by the site: what a person and a
 * token would be otherwise. The journal says so. A further certificate of the same name is a
 * renewal. */
static bool vouch(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_x509_about *about = &call->credential.certificate;
    const struct lks_node *node = &authz->state->nodes[call->node];
    struct lks_str hash = lks_str_from(about->fingerprint); /* used up in the next turn */
    char shown[LKS_DIGEST_SIZE];
    struct lks_event let_in = {
        .kind = node->enrolled ? LKS_EVENT_RENEW : LKS_EVENT_ENROLL,
        .node = call->node,
        .name = lks_state_name(authz->state, call->node),
        .certificate = {.token_hash = hash,
                        .fingerprint = lks_str_from(about->fingerprint),
                        .serial = lks_str_from(about->serial),
                        .shown =
                            lks_str_from(lks_state_certificate_text(&node->certificates[0], shown)),
                        .expires = (lks_ms)about->not_after * LKS_SECOND},
    };
    if (!node->enrolled) {
        LKS_CLEANUP(lks_decision_fini) struct lks_decision t = {0};
        struct lks_event token = {
            .kind = LKS_EVENT_TOKEN,
            .name = let_in.name,
            .token = {.hash = hash, .expires = authz->now.wall + LKS_SECOND},
        };
        if (!lks_authz_turn(authz, call, &token, NULL, &t))
            return false;
    }
    bool done = lks_authz_turn(authz, call, &let_in, NULL, &d);
    call->epoch = authz->epoch;
    return done;
}

/* A controller that lacks a file asks for it where agents do. It is no node, and gets nothing else
 * there. */
static bool is_peer(const struct lks_call *call)
{
    return lks_forward_controller(&call->credential) && (call->route->flags & LKS_ROUTE_DEPOT) != 0;
}

static bool identify_agent(struct lks_authz *authz, struct lks_call *call)
{
    const char *why = "";
    if (is_peer(call)) {
        call->epoch = UINT64_MAX;
        snprintf(call->identity, sizeof(call->identity), LKS_FORWARD_PEER "%s",
                 call->credential.certificate.name);
        return true;
    }
    call->node = lks_auth_node(authz->state, &call->credential, &why);
    /* Heartbeats are not taken here while another leads: the connection is not remembered. */
    call->epoch = authz->following ? UINT64_MAX : authz->epoch;
    if (call->node == LKS_NO_NODE) {
        lks_call_problem(call, LKS_E_DENIED, "%s", why);
        return false;
    }
    snprintf(call->identity, sizeof(call->identity), "node:%s", call->credential.certificate.name);
    if (lks_auth_knows(authz->state, call->node, &call->credential))
        return true;
    const struct lks_node *node = &authz->state->nodes[call->node];
    if (is_of_before(node, &call->credential.certificate))
        lks_call_problem(call, LKS_E_DENIED,
                         "the node is heard with a certificate that ends later; this one is older");
    else if (vouch(authz, call))
        return true;
    call->node = LKS_NO_NODE; /* or the connection would be remembered as the node's */
    return false;
}

/* An API server: the listener's authority signed its certificate, and the configuration names it.
 * Its own limits bound how often it asks. */
static bool identify_webhook(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    const struct lks_x509_about *about = &call->credential.certificate;
    bool shown = call->credential.kind == LKS_CREDENTIAL_CERTIFICATE && about->name[0] != '\0';
    for (size_t i = 0; i < config->webhook_clients.count && shown; i++) {
        if (!lks_str_is(config->webhook_clients.items[i], about->name))
            continue;
        snprintf(call->identity, sizeof(call->identity), "webhook:%s", about->name);
        authz->metrics.webhook_client_end = about->not_after;
        return true;
    }
    lks_call_problem(call, LKS_E_DENIED,
                     "the certificate is of '%s', and webhook.clients does not name that",
                     shown ? about->name : "");
    return false;
}

static bool answer_too_many(struct lks_call *call, lks_ms wait)
{
    lks_call_problem_http(call, 429, "too-many-requests", "too many requests; try again in %llu ms",
                          (unsigned long long)wait);
    lks_call_header(call, "Retry-After: %llu",
                    (unsigned long long)((wait + LKS_SECOND - 1) / LKS_SECOND));
    return false;
}

bool lks_authz_charge(const struct lks_authz *authz, struct lks_call *call, struct lks_rate *rate,
                      size_t cost)
{
    char key[LKS_CALL_IDENTITY_SIZE + 16];
    lks_ms wait = 0;
    bool left = true;
    snprintf(key, sizeof(key), "%s%s", call->identity[0] != '\0' ? "" : "address ",
             call->identity[0] != '\0' ? call->identity : call->address);
    for (; cost > 0 && left && !call->root; cost--)
        left = lks_rate_take(rate, lks_str_from(key), authz->now.mono, &wait);
    return left || answer_too_many(call, wait);
}

bool lks_authz_charge_minute(const struct lks_authz *authz, struct lks_call *call,
                             struct lks_rate *rate)
{
    lks_ms wait = 0; /* by a clock on which a minute is a second */
    return call->root ||
           lks_rate_take(rate, lks_str_from(call->identity), authz->now.mono / 60, &wait) ||
           answer_too_many(call, wait * 60);
}

static bool in_rate(struct lks_authz *authz, struct lks_call *call)
{
    unsigned flags = call->route->flags;
    uint64_t length = call->unread ? call->length : call->bytes.len;
    if ((flags & LKS_ROUTE_OFTEN) != 0)
        return lks_authz_charge(authz, call, &authz->admits, 1 + (size_t)(length / QUESTION_BYTES));
    if (call->route->listener != LKS_LISTENER_AGENTS)
        return lks_authz_charge(authz, call, &authz->rate, 1);
    return (flags & LKS_ROUTE_REPORT) == 0 || lks_authz_charge(authz, call, &authz->reports, 1);
}

static bool identify_person(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_auth who;
    if (lks_forward_as(call))
        return lks_auth_holds(authz->state, lks_str_from(call->identity), lks_str_from(call->shown),
                              authz->now.wall);
    if (!lks_auth_person(authz->state, &call->credential, geteuid(), authz->now.wall, &who))
        return false;
    snprintf(call->identity, sizeof(call->identity), "%s", who.identity);
    snprintf(call->shown, sizeof(call->shown), "%s", who.credential);
    call->root = who.root;
    return true;
}

bool lks_authz_charge_length(struct lks_authz *authz, struct lks_call *call)
{
    bool due = call->chunked && (call->route->flags & LKS_ROUTE_OFTEN) != 0;
    call->chunked = false;
    return !due || lks_authz_charge(authz, call, &authz->admits, call->bytes.len / QUESTION_BYTES);
}

bool lks_authz_identify(struct lks_authz *authz, struct lks_call *call)
{
    if (call->own != NULL) {
        name_ourselves(authz->daemon, call->identity);
        call->root = true;
        return true;
    }
    if (authz->following && lks_forward_elsewhere(authz, call))
        return false;
    if (call->route->listener == LKS_LISTENER_WEBHOOK)
        return identify_webhook(authz, call);
    if (call->route->listener == LKS_LISTENER_AGENTS)
        return identify_agent(authz, call) && (call->admitted || in_rate(authz, call));
    bool known = identify_person(authz, call);
    if (!known)
        call->identity[0] = call->shown[0] = '\0';
    if (!call->admitted && !in_rate(authz, call))
        return false;
    if (known || call->route->permission == LKS_MAY_NOTHING)
        return true;
    lks_call_problem_http(call, 401, "unauthenticated",
                          call->credential.kind == LKS_CREDENTIAL_NONE
                              ? "show an API token or a certificate"
                              : "the token or certificate is not known, or has expired");
    lks_call_header(call, "WWW-Authenticate: Bearer realm=\"lockstep\"");
    return false;
}
