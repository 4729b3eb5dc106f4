/* Votes that come by way of a ticket system: messages that are signed with a shared secret, of
 * people who have an identity here. */
#include "drivers/store/secrets.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/base/daemon.h"
#include "server/base/secrets.h"
#include "server/form/views_change.h"
#include "trust/webhook.h"

#include <stdio.h>

static void log_refused(const struct lks_daemon *d, const struct lks_call *call, const char *cause)
{
    const struct lks_log_field fields[] = {
        {"cause", lks_str_from(cause)},
        {"address", lks_str_from(call->address)},
        {"event", call->ask != NULL ? LKS_ASKED(call, lks_ask_ticket)->event : LKS_STR("")},
    };
    lks_daemon_log(d, LKS_LEVEL_WARNING, "a message of a ticket system was refused", fields,
                   LKS_COUNT(fields));
}

/* In the thread pool: the secret is read anew each time, so that another one can be put there.
 * Nothing of what a stranger sends is parsed before its signature was found good. */
void lks_handle_ticket_prepare(struct lks_call *call)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    const struct lks_config *config = lks_daemon_config(call->daemon);
    struct lks_str secret = {0};
    struct lks_err err = {0};
    lks_ms at = 0;
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (config->tickets_secret.len == 0) {
        (void)!lks_fail(&call->failed, LKS_E_DENIED, "no ticket system is known here");
    } else if (lks_secrets_ticket(config, &space, &secret, &err) != LKS_OK) {
        /* A caller that is not known yet is not told where it is stored. */
        (void)!lks_fail(&call->failed, LKS_E_UNAVAILABLE, "the shared secret cannot be read");
        log_refused(call->daemon, call, err.msg);
    } else if (lks_webhook_check(secret, lks_str_from(call->signature), lks_buf_view(&call->bytes),
                                 lks_daemon_now().wall, &at, &call->failed) != LKS_OK) {
        log_refused(call->daemon, call, call->failed.msg);
    } else {
        (void)!lks_call_read(call, &call->failed);
    }
}

/* The identity of that person here; an empty text: none. */
static struct lks_str person(const struct lks_config *config, struct lks_str who)
{
    for (size_t i = 0; i < config->tickets_people.count; i++) {
        struct lks_str item = config->tickets_people.items[i], here = lks_str_last(item, '=');
        if (lks_str_eq((struct lks_str){item.ptr, item.len - here.len - 1}, who))
            return here;
    }
    return LKS_STR("");
}

void lks_handle_ticket(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_ticket *ask = LKS_ASKED(call, lks_ask_ticket);
    struct lks_str here = person(lks_daemon_config(authz->daemon), ask->who);
    struct lks_event event = {
        .kind = LKS_EVENT_TICKET,
        .reason = ask->reason,
        .ticket = {.change = ask->change,
                   .nodes = ask->nodes,
                   .yes = ask->decision == LKS_DECISION_APPROVE,
                   .plan = ask->plan,
                   .id = ask->event,
                   .ticket = ask->ticket,
                   .who = ask->who,
                   .until =
                       lks_engine_now(authz->engine, authz->now).wall + 2 * LKS_WEBHOOK_WINDOW},
    };
    if (here.len == 0 || here.len >= sizeof(call->identity)) {
        lks_call_problem(call, LKS_E_DENIED,
                         "'%" LKS_STR_FMT "' is not known here: tickets.people does not name them",
                         LKS_STR_ARG(ask->who));
        log_refused(authz->daemon, call, "tickets.people does not name the voter");
        return;
    }
    snprintf(call->identity, sizeof(call->identity), "%" LKS_STR_FMT, LKS_STR_ARG(here));
    snprintf(call->shown, sizeof(call->shown), "ticket:%" LKS_STR_FMT,
             LKS_STR_ARG(event.ticket.ticket));
    lks_handle_change_act(authz, call, event.ticket.change, &event);
    if (call->status != 200)
        log_refused(authz->daemon, call, lks_buf_view(&call->out).ptr);
}
