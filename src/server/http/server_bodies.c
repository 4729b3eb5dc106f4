/*
 * Callers and what they send. A request is known by its headers first: the state thread says who
 * asks and whether they may, and only then is its body read, within what its caller may hold. Small
 * bodies are parsed here; all others, and whatever strangers send, in the thread pool.
 */
#include "server/api/routes.h"
#include "server/http/depot.h"
#include "server/http/server_parts.h"

#include <stdio.h>

enum { READ_HERE_MAX = 16 << 10, STRANGER_MAX = 64 << 10 };

enum lks_httpd_how lks_server_how(const char *method, const char *path, bool body)
{
    if (lks_depot_is_large(method, path))
        return LKS_HTTPD_PIECES;
    return body ? LKS_HTTPD_AHEAD : LKS_HTTPD_WHOLE;
}

/* Callers ------------------------------------------------------------------------------------ */

static bool is_stranger(const struct lks_call *call)
{
    return call->identity[0] == '\0';
}

static struct lks_account *open_account(struct lks_server *s, const struct lks_call *call)
{
    char key[LKS_CALL_IDENTITY_SIZE + 16];
    bool people =
        call->route->listener == LKS_LISTENER_PEOPLE; /* API servers do not wait for them */
    snprintf(key, sizeof(key), "%s%s", is_stranger(call) ? "address " : "",
             is_stranger(call) ? call->address : call->identity);
    return lks_intake_open(&s->intake, lks_str_from(key),
                           people ? LKS_SIDE_PEOPLE : LKS_SIDE_AGENTS);
}

/* How many calls it may have in progress; 0: as many as it wants. What is decided cannot be refused
 * any more. A stranger with nothing to read or to prepare asks whether we live. */
static uint64_t calls_of(const struct lks_call *call)
{
    const struct lks_config *c = lks_daemon_config(call->daemon);
    if (call->root || call->wrote || (call->route->flags & LKS_ROUTE_OFTEN) != 0)
        return 0;
    if (is_stranger(call))
        return call->unread || call->route->prepare != NULL ? c->address_calls : 0;
    return c->identity_calls;
}

bool lks_server_enter(struct lks_server *s, struct lks_call *call)
{
    if (call->account != NULL || call->x == NULL || call->status >= 400)
        return true;
    struct lks_link *link = call->peer->memory;
    uint64_t most = calls_of(call);
    call->account = open_account(s, call);
    if (call->account == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    if (!lks_intake_take(&s->intake, call->account, LKS_SHARE_CALL, most)) {
        lks_call_problem_http(call, 429, "too-many-requests",
                              "%s has %llu calls in progress, and that is the most (%s); try again",
                              call->account->key, (unsigned long long)most,
                              is_stranger(call) ? "http.address_calls" : "http.identity_calls");
        lks_call_header(call, "Retry-After: 1");
        return false;
    }
    link->account = lks_intake_ref(call->account);
    link->share = LKS_SHARE_CALL;
    return true;
}

void lks_server_leave(struct lks_server *s, struct lks_call *call)
{
    if (call->account == NULL)
        return;
    lks_intake_free(&s->intake, call->account, call->held);
    lks_intake_close(&s->intake, call->account);
    call->held = 0;
    call->account = NULL;
}

void lks_server_over(void *ctx, struct lks_httpd_peer *peer)
{
    struct lks_server *s = ctx;
    struct lks_link *link = peer->memory;
    if (link == NULL || link->account == NULL)
        return;
    lks_intake_give(link->account, link->share);
    lks_intake_close(&s->intake, link->account);
    link->account = NULL;
}

bool lks_server_streams(struct lks_server *s, struct lks_call *call)
{
    struct lks_link *link = call->peer->memory;
    uint64_t most = lks_daemon_config(call->daemon)->identity_readers;
    LKS_ASSERT(link->account != NULL);
    if (!lks_intake_take(&s->intake, link->account, LKS_SHARE_STREAM, call->root ? 0 : most)) {
        lks_call_problem_http(call, 429, "too-many-requests",
                              "%s reads %llu streams of events, and that is the most "
                              "(events.identity_readers); end one of them",
                              call->identity, (unsigned long long)most);
        lks_call_header(call, "Retry-After: 1");
        return false;
    }
    lks_intake_give(link->account, link->share);
    link->share = LKS_SHARE_STREAM;
    return true;
}

/* Bodies ------------------------------------------------------------------------------------- */

static size_t body_max(const struct lks_call *call)
{
    size_t most = call->route->body_max;
    return is_stranger(call) && most > STRANGER_MAX ? STRANGER_MAX : most;
}

/* Reserve what the body may take; false: it is answered. */
static bool hold(struct lks_server *s, struct lks_call *call)
{
    const struct lks_config *c = lks_daemon_config(call->daemon);
    uint64_t want = call->chunked ? body_max(call) : call->length;
    struct lks_intake_memory most = {call->root ? 0 : c->identity_bodies,
                                     call->root ? 0 : c->bodies_max};
    enum lks_limited why = lks_intake_hold(&s->intake, call->account, want, &most);
    if (why == LKS_LIMITED_COUNT) {
        call->held = want;
        return true;
    }
    bool own = why == LKS_LIMITED_BODIES;
    lks_call_problem_http(
        call, own ? 429 : 503, own ? "too-many-requests" : "unavailable",
        "bodies of %s take %llu bytes, and with %llu more that is beyond %s; try "
        "again",
        own ? call->account->key : "all callers",
        (unsigned long long)(own ? call->account->bytes : s->intake.bytes[call->account->side]),
        (unsigned long long)want, own ? "http.identity_bodies" : "http.bodies_max");
    lks_call_header(call, "Retry-After: 1");
    return false;
}

void lks_server_collect(struct lks_server *s, struct lks_call *call)
{
    if (call->x == NULL || !hold(s, call)) {
        lks_server_answer(s, call);
        return;
    }
    call->collecting = true;
    lks_server_remember(call);
    lks_httpd_collect(call->x, body_max(call));
}

/* Count what the call holds now: the bytes of its body, and what was parsed of them. */
static void recount(struct lks_server *s, struct lks_call *call)
{
    uint64_t holds = call->bytes.len + call->docs.arena.used;
    if (call->account == NULL)
        return;
    lks_intake_free(&s->intake, call->account, call->held);
    lks_intake_add(&s->intake, call->account, holds);
    call->held = holds;
}

void lks_server_collected(struct lks_server *s, struct lks_call *call, struct lks_httpd_exchange *x)
{
    bool plain = call->route->body == NULL || (call->route->flags & LKS_ROUTE_SIGNED) != 0;
    call->collecting = false;
    call->unread = false;
    call->bytes = lks_httpd_body_move(x);
    recount(s, call);
    if (!plain && (is_stranger(call) || call->bytes.len > READ_HERE_MAX)) {
        lks_fair_queue_add(&s->bodies, call);
        return;
    }
    if (!plain)
        call->failed.code = lks_call_read(call, &call->failed);
    recount(s, call);
    lks_server_decide(s, call);
}

/* In the pool: what prepare() has to do, or the first look at a body. */
void lks_server_body_work(struct lks_call *call)
{
    if (call->to_prepare)
        call->route->prepare(call);
    else
        call->failed.code = lks_call_read(call, &call->failed);
}

void lks_server_body_done(struct lks_call *call)
{
    struct lks_server *s = call->daemon->server;
    recount(s, call);
    call->prepared |= call->to_prepare;
    call->to_prepare = false;
    lks_server_decide(s, call);
}
