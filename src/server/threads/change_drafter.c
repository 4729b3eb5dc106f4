#include "server/threads/change_drafter.h"

#include "base/process/log.h"
#include "base/vec.h"
#include "core/exposure/cadence.h"
#include "core/plan/plan.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/api/propose.h"
#include "server/threads/client_parts.h"

#include <inttypes.h>
#include <stdio.h>

#define AGAIN_MS ((lks_ms)24 * 3600 * LKS_SECOND)
enum { TROUBLE_MS = 10000 };

/* The state thread's part ------------------------------------------------------------------- */

/* A pool that wants a draft and was not tried of late; UINT32_MAX: none. */
static enum lks_code find_pool(struct lks_authz *authz, uint32_t *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_cadence_classes_fini) struct lks_pool_classes classes = {0};
    const struct lks_state *s = authz->state;
    lks_ms wall = lks_engine_now(authz->engine, authz->now).wall;
    if (LKS_VEC_RESERVE(authz->drafts, authz->draft_room, s->pool_count + 1, err) != LKS_OK ||
        lks_cadence_classes_all(&classes, s, err) != LKS_OK)
        return err->code;
    for (*out = 0;; ++*out) {
        *out = lks_cadence_wanted(s, lks_engine_book(authz->engine), &classes, *out, wall);
        if (*out == UINT32_MAX || authz->drafts[*out] == 0 ||
            authz->now.mono - authz->drafts[*out] >= AGAIN_MS)
            return LKS_OK;
    }
}

static void log_draft(const struct lks_authz *authz, uint32_t pool, uint64_t before)
{
    const struct lks_state *s = authz->state;
    char id[24] = "none";
    if (s->next_change > before)
        snprintf(id, sizeof(id), "%" PRIu64, s->next_change - 1);
    struct lks_log_field fields[] = {{"pool", lks_state_text(s, s->pools[pool].name)},
                                     {"change", lks_str_from(id)}};
    lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "a pool is behind what is released for too long",
                   fields, LKS_COUNT(fields));
}

void lks_change_drafter_cadence(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_err err = {0};
    struct lks_event event = {.kind = LKS_EVENT_CADENCE, .cadence = {.pool = UINT32_MAX}};
    if (authz->following) {
        call->status = 200; /* the leader drafts */
        return;
    }
    if (find_pool(authz, &event.cadence.pool, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    uint32_t pool = event.cadence.pool;
    if (pool == UINT32_MAX) {
        lks_authz_record(authz, call, &event);
        return;
    }
    if (lks_handle_propose_wants_manifests(authz, call))
        return;
    struct lks_bundle_set known = lks_handle_propose_known(authz, call);
    uint64_t before = authz->state->next_change;
    event.cadence.known = &known;
    authz->drafts[pool] = authz->now.mono > 0 ? authz->now.mono : 1;
    call->own->full = true;
    lks_authz_record(authz, call, &event);
    log_draft(authz, pool, before);
}

/* The thread's part ------------------------------------------------------------------------- */

void lks_change_drafter_tick(struct lks_client_thread *c, lks_ms mono)
{
    struct lks_change_drafter *d = &c->drafter;
    if (d->asked || mono < d->due)
        return;
    d->due = mono + TROUBLE_MS;
    d->asked = lks_internal_send(c->daemon, LKS_INTERNAL_CADENCE);
}

void lks_change_drafter_take(struct lks_client_thread *c, const struct lks_call *call, lks_ms mono)
{
    if (call->own->kind != LKS_INTERNAL_CADENCE)
        return;
    c->drafter.asked = false;
    if (call->status == 200) /* where a pool had its turn, another may wait for one */
        c->drafter.due =
            call->own->full ? mono : mono + lks_daemon_config(c->daemon)->cadence_every_ms;
}
