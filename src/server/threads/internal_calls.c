#include "core/rows/flash.h"
#include "core/state/lookup.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/call/internal.h"
#include "server/threads/change_drafter.h"
#include "server/threads/metrics_poller.h"
#include "server/threads/sched_runner.h"
#include "server/threads/threads.h"
#include "server/threads/ticket_notifier.h"

#include <stdio.h>
#include <stdlib.h>

#define OWN_MEMORY_MAX ((size_t)64 << 20)

static void flash_saved(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {.kind = LKS_EVENT_FLASH_SAVED, .flash_saved = call->own->saved};
    lks_authz_record(authz, call, &event);
}

static void log_end(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_state_flash *f = lks_state_flash(authz->state, own->ended.id);
    if (f == NULL)
        return;
    struct lks_log_field fields[] = {
        {"name", lks_state_name(authz->state, f->node)},
        {"component", lks_state_text(authz->state, f->component)},
        {"outcome", lks_str_from(lks_bmc_outcome_words[f->outcome])},
        {"cause", own->ended.text},
    };
    bool fine =
        f->outcome == LKS_BMC_DONE || f->outcome == LKS_BMC_STAGED || f->outcome == LKS_BMC_SAME;
    lks_daemon_log(authz->daemon, fine ? LKS_LEVEL_INFO : LKS_LEVEL_WARNING, "an update ended",
                   fields, LKS_COUNT(fields));
}

static void flash_ended(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {.kind = LKS_EVENT_FLASH_ENDED, .flash_ended = call->own->ended};
    lks_authz_record(authz, call, &event);
    if (call->status == 200)
        log_end(authz, call->own);
}

#define OWN(name, function)                                                                        \
    {                                                                                              \
        .method = "POST", .path = "/own/" name, .handle = (function)                               \
    }

/* Readings come by the route that others use, which forwards them. */
static const struct lks_route routes[LKS_INTERNAL_COUNT] = {
    [LKS_INTERNAL_LEASE] = OWN("lease", lks_handle_sweep_lease_internal),
    [LKS_INTERNAL_FAILED] = OWN("failed", lks_handle_sweep_failed_internal),
    [LKS_INTERNAL_SAVED] = OWN("saved", flash_saved),
    [LKS_INTERNAL_ENDED] = OWN("ended", flash_ended),
    [LKS_INTERNAL_WATCH] = OWN("watch", lks_metrics_poller_wanted),
    [LKS_INTERNAL_TELL] = OWN("tell", lks_ticket_notifier_tell),
    [LKS_INTERNAL_TOLD] = OWN("told", lks_ticket_notifier_told),
    [LKS_INTERNAL_MEASURED] = OWN("measured", lks_metrics_poller_measured),
    [LKS_INTERNAL_CADENCE] = {.method = "POST",
                              .path = "/own/cadence",
                              .prepare = lks_handle_propose_prepare,
                              .handle = lks_change_drafter_cadence},
    [LKS_INTERNAL_SCHED] = OWN("sched", lks_sched_runner_due),
    [LKS_INTERNAL_SCHED_SAID] = OWN("sched-said", lks_sched_runner_said),
    [LKS_INTERNAL_SCHED_SITE] = OWN("sched-site", lks_sched_runner_site_said),
    [LKS_INTERNAL_HEARD] = OWN("heard", lks_metrics_poller_heard),
};

struct lks_call *lks_internal_call(struct lks_daemon *daemon, enum lks_internal_kind kind,
                                   uint64_t job)
{
    struct lks_call *call = lks_call_new(daemon);
    struct lks_internal *own = calloc(1, sizeof(*own));
    if (call == NULL || own == NULL) {
        lks_call_free(call);
        free(own);
        return NULL;
    }
    own->kind = kind;
    own->job = job;
    lks_arena_init(&own->arena, OWN_MEMORY_MAX);
    call->own = own;
    call->route = &routes[kind];
    call->mail.kind = LKS_MAIL_CALL;
    return call;
}

bool lks_internal_send(struct lks_daemon *daemon, enum lks_internal_kind kind)
{
    struct lks_call *call = lks_internal_call(daemon, kind, 0);
    if (call != NULL)
        lks_mailbox_post(&daemon->state->box, &call->mail);
    return call != NULL;
}

enum lks_code lks_internal_readings(struct lks_call *call, struct lks_str name, struct lks_str json,
                                    struct lks_err *err)
{
    char path[LKS_HOST_NAME_MAX + 64];
    struct lks_route_match match;
    snprintf(path, sizeof(path), "/v1/nodes/%" LKS_STR_FMT "/outband", LKS_STR_ARG(name));
    lks_route_find(LKS_LISTENER_PEOPLE, "PUT", path, &match);
    LKS_ASSERT(match.route != NULL);
    call->route = match.route;
    if (lks_docs_init(&call->asked, "query", err) != LKS_OK)
        return err->code;
    struct lks_doc *query = lks_doc_add(&call->asked, NULL, LKS_DOC_MAP);
    call->named = lks_arena_copy(&call->asked.arena, name);
    if (query == NULL || call->named.ptr == NULL)
        return lks_fail_nomem(err);
    if (lks_call_query_take(call, query, err) != LKS_OK)
        return err->code;
    lks_buf_add(&call->bytes, json);
    return lks_buf_check(&call->bytes, err);
}
