#include "server/call/own.h"

#include "server/api/handlers.h"
#include "server/api/routes.h"
#include "server/auth/desk.h"
#include "server/threads/drafter.h"
#include "server/threads/teller.h"
#include "server/threads/threads.h"
#include "server/threads/watcher.h"

#include <stdio.h>
#include <stdlib.h>

#define OWN_MEMORY_MAX ((size_t)64 << 20)

static void flash_saved(struct lks_desk *desk, struct lks_call *call)
{
    struct lks_event event = {.kind = LKS_EVENT_FLASH_SAVED, .flash_saved = call->own->saved};
    lks_desk_record(desk, call, &event);
}

static void log_end(const struct lks_desk *desk, const struct lks_own *own)
{
    const struct lks_state_flash *f = lks_state_flash(desk->state, own->ended.id);
    if (f == NULL)
        return;
    struct lks_log_field fields[] = {
        {"name", lks_state_name(desk->state, f->node)},
        {"component", lks_state_text(desk->state, f->component)},
        {"outcome", lks_str_from(lks_bmc_outcome_words[f->outcome])},
        {"cause", own->ended.text},
    };
    bool fine =
        f->outcome == LKS_BMC_DONE || f->outcome == LKS_BMC_STAGED || f->outcome == LKS_BMC_SAME;
    lks_daemon_log(desk->daemon, fine ? LKS_LEVEL_INFO : LKS_LEVEL_WARNING, "an update ended",
                   fields, LKS_COUNT(fields));
}

static void flash_ended(struct lks_desk *desk, struct lks_call *call)
{
    struct lks_event event = {.kind = LKS_EVENT_FLASH_ENDED, .flash_ended = call->own->ended};
    lks_desk_record(desk, call, &event);
    if (call->status == 200)
        log_end(desk, call->own);
}

/* Readings come by the route that others use, which forwards them. */
static const struct lks_route routes[LKS_OWN_COUNT] = {
    [LKS_OWN_LEASE] = {.method = "POST", .path = "/own/lease", .handle = lks_own_lease},
    [LKS_OWN_FAILED] = {.method = "POST", .path = "/own/failed", .handle = lks_own_failed},
    [LKS_OWN_SAVED] = {.method = "POST", .path = "/own/saved", .handle = flash_saved},
    [LKS_OWN_ENDED] = {.method = "POST", .path = "/own/ended", .handle = flash_ended},
    [LKS_OWN_WATCH] = {.method = "POST", .path = "/own/watch", .handle = lks_own_watch},
    [LKS_OWN_TELL] = {.method = "POST", .path = "/own/tell", .handle = lks_own_tell},
    [LKS_OWN_TOLD] = {.method = "POST", .path = "/own/told", .handle = lks_own_told},
    [LKS_OWN_MEASURED] = {.method = "POST", .path = "/own/measured", .handle = lks_own_measured},
    [LKS_OWN_CADENCE] = {.method = "POST",
                         .path = "/own/cadence",
                         .prepare = lks_prepare_propose,
                         .handle = lks_own_cadence},
    [LKS_OWN_HEARD] = {.method = "POST", .path = "/own/heard", .handle = lks_own_heard},
};

struct lks_call *lks_own_call(struct lks_daemon *daemon, enum lks_own_kind kind, uint64_t job)
{
    struct lks_call *call = lks_call_new(daemon);
    struct lks_own *own = calloc(1, sizeof(*own));
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

enum lks_code lks_own_readings(struct lks_call *call, struct lks_str name, struct lks_str json,
                               struct lks_err *err)
{
    char path[LKS_HOST_NAME_MAX + 64];
    struct lks_route_match match;
    snprintf(path, sizeof(path), "/v1/nodes/%" LKS_STR_FMT "/outband", LKS_STR_ARG(name));
    lks_route_find(LKS_LISTENER_PEOPLE, "PUT", path, &match);
    LKS_ASSERT(match.route != NULL && match.count == 1);
    call->route = match.route;
    if (lks_docs_init(&call->asked, "query", err) != LKS_OK)
        return err->code;
    struct lks_doc *asked = lks_doc_add(&call->asked, NULL, LKS_DOC_MAP);
    struct lks_doc *value = asked == NULL ? NULL : lks_doc_add_text(&call->asked, asked, name);
    if (value == NULL)
        return lks_fail_nomem(err);
    value->key = LKS_STR("name");
    call->path = asked;
    lks_buf_add(&call->bytes, json);
    return lks_buf_check(&call->bytes, err);
}
