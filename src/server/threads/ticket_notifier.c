#include "server/threads/ticket_notifier.h"

#include "core/decision/size.h"
#include "core/procedure/procedure.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "core/state/tickets.h"
#include "drivers/store/secrets.h"
#include "port/ticket.h"
#include "server/auth/authz.h"
#include "server/form/views_change.h"
#include "server/threads/client_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ASK_MS = 250,        /* between questions whether there is something to tell ... */
    IDLE_MS = 60000,     /* ... and where notifications are off */
    PAUSE_MS = 250,      /* behind a message in vain; then twice as long each time */
    PAUSE_TWICE = 10,    /* so often, which is about four minutes */
    REFUSED_TRIES = 3,   /* a message that is refused is given up behind */
    BODY_MAX = 64 << 10, /* bytes of a message */
    PATIENCE_TIMES = 2,  /* of what one answer may take, for all of it */
    URL_MAX = 2048,
};

struct lks_ticket_notice {
    struct lks_client_dialog talk; /* first: by it the thread finds whose dialog ended */
    struct lks_client_thread *client;
    struct lks_dialog *dialog; /* NULL: over, or not begun */
    uint64_t seq;
    struct lks_buf body;
    char signature[LKS_WEBHOOK_SIZE];
    char peer[URL_MAX], path[URL_MAX];
};

/* The state thread's part ------------------------------------------------------------------- */

static bool is_wanted(const struct lks_config *config)
{
    return config->tickets_url.len > 0 && config->tickets_secret.len > 0;
}

static void put_change(struct lks_json_writer *w, const struct lks_authz *authz,
                       const struct lks_state_change *c)
{
    struct lks_change_size size =
        lks_size_of_change(authz->state, lks_engine_book(authz->engine), c);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    lks_view_text(w, "name", lks_state_text(authz->state, c->name));
    lks_view_text(w, "class", lks_state_text(authz->state, c->class));
    lks_json_int(w, "nodes", size.nodes);
    lks_json_int(w, "gpus", size.gpus);
    if (lks_procedure_plan_digest(authz->state, c, digest, &err) == LKS_OK)
        lks_json_cstr(w, "plan", digest);
    lks_view_change_approvals(w, authz->state, c);
}

/* The message's id is the same however often it is sent, by whichever controller. */
static void put_message(const struct lks_authz *authz, const struct lks_ticket_due *due,
                        struct lks_buf *out)
{
    const struct lks_state *s = authz->state;
    const struct lks_state_change *c = lks_state_change(s, due->change);
    struct lks_json_writer w = {.out = out};
    char id[LKS_JOURNAL_ID_SIZE + 32];
    snprintf(id, sizeof(id), "%s:%llu", s->journal, (unsigned long long)due->seq);
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "event", id);
    lks_view_time(&w, "at", due->at);
    lks_json_int(&w, "change", (int64_t)due->change);
    lks_json_cstr(&w, "state", lks_change_state_words[due->state]);
    lks_view_by(&w, s, due->by, due->reason);
    if (c != NULL)
        put_change(&w, authz, c);
    lks_json_end(&w, '}');
}

void lks_ticket_notifier_tell(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    const struct lks_tickets *t = &authz->state->tickets;
    struct lks_internal *own = call->own;
    bool wanted = is_wanted(lks_daemon_config(authz->daemon));
    call->status = 200;
    if (authz->following)
        return;            /* the leader notifies */
    if (wanted != t->on) { /* events before notifications were turned on are not sent */
        struct lks_event event = {.kind = LKS_EVENT_TICKET_TOLD,
                                  .told = {.row = authz->state->seq, .on = wanted}};
        lks_authz_record(authz, call, &event);
        return;
    }
    if (!wanted || t->due_count == 0)
        return;
    put_message(authz, &t->due[0], &body);
    own->seq = t->due[0].seq;
    own->text = lks_arena_copy(&own->arena, lks_buf_view(&body));
    if (body.failed != LKS_OK || own->text.ptr == NULL)
        lks_call_problem(call, LKS_E_LIMIT, "a message to the ticket system is too large");
}

void lks_ticket_notifier_told(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {.kind = LKS_EVENT_TICKET_TOLD,
                              .told = {.row = call->own->seq, .on = true}};
    lks_authz_record(authz, call, &event);
}

/* Telling ----------------------------------------------------------------------------------- */

static void telling_free(struct lks_ticket_notice *t)
{
    if (t == NULL)
        return;
    if (t->dialog != NULL)
        lks_talks_cancel(t->client->talks, t->dialog);
    lks_buf_fini(&t->body);
    free(t);
}

/* Once, when it begins, and once more when it is over. */
static void log_trouble(struct lks_client_thread *c, const char *now)
{
    struct lks_ticket_notifier *t = &c->notifier;
    struct lks_log_field field = {"cause", lks_str_from(now)};
    if (strcmp(now, t->said) == 0)
        return;
    snprintf(t->said, sizeof(t->said), "%s", now);
    if (now[0] != '\0')
        lks_daemon_log(c->daemon, LKS_LEVEL_WARNING, "the ticket system cannot be notified", &field,
                       1);
    else
        lks_daemon_log(c->daemon, LKS_LEVEL_INFO, "the ticket system is notified again", NULL, 0);
}

/* It was told, or it is given up. */
static void say_told(struct lks_client_thread *c, uint64_t seq)
{
    struct lks_call *call = lks_internal_call(c->daemon, LKS_INTERNAL_TOLD, 0);
    c->notifier.tries = 0;
    if (call == NULL)
        return; /* it is told once more */
    call->own->seq = seq;
    c->notifier.asked = true;
    lks_mailbox_post(&c->daemon->state->box, &call->mail);
}

static void failed(struct lks_client_thread *c, uint64_t seq, const struct lks_err *why)
{
    struct lks_ticket_notifier *t = &c->notifier;
    unsigned twice = t->tries < PAUSE_TWICE ? t->tries : PAUSE_TWICE;
    char text[LKS_TICKET_NOTIFIER_SAID];
    bool refused = why->code == LKS_E_INVALID && ++t->tries >= REFUSED_TRIES;
    snprintf(text, sizeof(text), "%s%s", why->msg, refused ? ": that message is given up" : "");
    log_trouble(c, text);
    if (refused) {
        say_told(c, seq);
        return;
    }
    t->tries += why->code != LKS_E_INVALID;
    t->due = lks_daemon_now().mono + ((lks_ms)PAUSE_MS << twice);
}

static void ended(struct lks_client_dialog *talk, const struct lks_err *why)
{
    struct lks_ticket_notice *t = (struct lks_ticket_notice *)talk;
    struct lks_client_thread *c = t->client;
    uint64_t seq = t->seq;
    t->dialog = NULL; /* it is gone when this returns */
    c->notifier.telling = NULL;
    telling_free(t);
    if (why->code != LKS_OK) {
        failed(c, seq, why);
        return;
    }
    log_trouble(c, "");
    say_told(c, seq);
}

static enum lks_code sign(const struct lks_client_thread *c, struct lks_ticket_notice *t,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    const struct lks_config *config = lks_daemon_config(c->daemon);
    struct lks_str secret = {0}, peer, path;
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (lks_secrets_ticket(config, &space, &secret, err) != LKS_OK)
        return err->code = LKS_E_UNAVAILABLE; /* it may be there later */
    lks_ticket_split(config->tickets_url, &peer, &path);
    if (peer.len >= sizeof(t->peer) || path.len >= sizeof(t->path))
        return lks_fail(err, LKS_E_UNAVAILABLE, "tickets.url is too long");
    snprintf(t->peer, sizeof(t->peer), "%" LKS_STR_FMT, LKS_STR_ARG(peer));
    snprintf(t->path, sizeof(t->path), "%" LKS_STR_FMT, LKS_STR_ARG(path));
    return lks_webhook_sign(secret, lks_daemon_now().wall, lks_buf_view(&t->body), t->signature,
                            err);
}

static enum lks_code begin(struct lks_client_thread *c, struct lks_ticket_notice *t,
                           struct lks_err *err)
{
    const struct lks_config *config = lks_daemon_config(c->daemon);
    if (sign(c, t, err) != LKS_OK)
        return err->code;
    const struct lks_dialog_options options = {
        .peer = {.url = t->peer,
                 .ca = config->tickets_ca.len > 0 ? config->tickets_ca.ptr : NULL,
                 .plain = true},
        .impatient = true,
        .ops = &lks_ticket_talk,
        .ctx = &t->talk,
    };
    const struct lks_ticket_post post = {
        .path = lks_str_from(t->path),
        .signature = t->signature,
        .body = lks_buf_view(&t->body),
        .deadline = lks_talks_now(c->talks) + PATIENCE_TIMES * LKS_TICKET_PATIENCE * c->speed,
    };
    if (lks_talks_add(c->talks, &options, &t->dialog, err) != LKS_OK ||
        lks_ticket_begin(lks_talks_value(t->dialog), &post, err) != LKS_OK)
        return err->code = LKS_E_UNAVAILABLE; /* until the address is changed */
    lks_talks_start(c->talks, t->dialog, false);
    return LKS_OK;
}

static void tell(struct lks_client_thread *c, uint64_t seq, struct lks_str body)
{
    struct lks_ticket_notice *t = calloc(1, sizeof(*t));
    struct lks_err err = {0};
    if (t == NULL)
        return; /* it is asked again */
    *t = (struct lks_ticket_notice){.talk = {.ended = ended}, .client = c, .seq = seq};
    lks_buf_init(&t->body, BODY_MAX);
    lks_buf_add(&t->body, body);
    if (lks_buf_check(&t->body, &err) == LKS_OK && begin(c, t, &err) == LKS_OK) {
        c->notifier.telling = t;
        return;
    }
    telling_free(t);
    failed(c, seq, &err);
}

/* The thread's part ------------------------------------------------------------------------- */

void lks_ticket_notifier_tick(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_ticket_notifier *t = &c->notifier;
    if (c->talks == NULL || t->asked || t->telling != NULL || mono < t->due)
        return;
    t->due = mono + (is_wanted(lks_daemon_config(c->daemon)) ? ASK_MS : IDLE_MS);
    t->asked = lks_internal_send(c->daemon, LKS_INTERNAL_TELL);
}

void lks_ticket_notifier_take(struct lks_client_thread *c, struct lks_call *call, lks_ms mono)
{
    const struct lks_internal *own = call->own;
    if (own->kind != LKS_INTERNAL_TELL && own->kind != LKS_INTERNAL_TOLD)
        return;
    c->notifier.asked = false;
    if (own->kind == LKS_INTERNAL_TOLD && call->status == 200)
        c->notifier.due = mono; /* the next one at once */
    if (own->kind == LKS_INTERNAL_TELL && call->status == 200 && own->seq != 0)
        tell(c, own->seq, own->text);
}

void lks_ticket_notifier_fini(struct lks_client_thread *c)
{
    telling_free(c->notifier.telling);
    c->notifier.telling = NULL;
}
