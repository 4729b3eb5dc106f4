/* Updates by management endpoints: asked for, looked at, and looked after by a person. */
#include "base/bitset.h"
#include "core/registry/named.h"
#include "core/rows/flash.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/manifest/bundle.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/auth/rows.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCAN_MAX = 20000 };

static struct lks_rec_flash wish_of(const struct lks_authz *authz, const struct lks_ask_flash *ask,
                                    struct lks_str bundle)
{
    return (struct lks_rec_flash){
        .act = ask->act < 0 ? LKS_BMC_UPDATE : (uint64_t)ask->act,
        .component = ask->component,
        .version = ask->version,
        .bundle = bundle,
        .image = ask->image,
        .apply_time = ask->apply_time,
        .force = ask->force,
        .one_way = ask->one_way,
        .deadline = lks_engine_now(authz->engine, authz->now).wall + ask->minutes * 60 * LKS_SECOND,
    };
}

/* What its bundle says, which is read from the store, and so not on the state thread. */
struct asking {
    char manifest[LKS_DIGEST_SIZE];
    struct lks_bundle said;
};

static void drop_asking(void *memory)
{
    struct asking *a = memory;
    lks_bundle_fini(&a->said);
    free(a);
}

static enum lks_code read_manifest(const struct lks_call *call, struct asking *a,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BUNDLE_BYTES_MAX);
    if (lks_daemon_store(call->daemon, false, &store, err) != LKS_OK ||
        store.ops->blob(store.self, a->manifest, &bytes, err) != LKS_OK ||
        lks_bundle_parse(lks_buf_view(&bytes), "the bundle's manifest",
                         lks_daemon_facts(call->daemon), &a->said, err) != LKS_OK)
        return err->code;
    if (strcmp(a->said.digest, a->manifest) != 0)
        return lks_fail(err, LKS_E_IO, "the bundle's manifest is not the one that was signed");
    return LKS_OK;
}

/* Only once the state was asked which manifest it is. */
void lks_handle_flash_prepare(struct lks_call *call)
{
    if (call->memory != NULL)
        (void)!read_manifest(call, call->memory, &call->failed);
}

/* Whether the manifest is still to be read; it is then asked for, or the answer written. */
static bool wants_manifest(const struct lks_authz *authz, struct lks_call *call,
                           struct lks_str digest)
{
    const struct lks_state *s = authz->state;
    const struct lks_state_bundle *bundle = lks_state_bundle(s, digest);
    if (call->memory != NULL || bundle == NULL)
        return false;
    struct asking *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return true;
    }
    snprintf(a->manifest, sizeof(a->manifest), "%" LKS_STR_FMT,
             LKS_STR_ARG(lks_state_text(s, bundle->manifest)));
    call->memory = a;
    call->drop = drop_asking;
    lks_authz_prepare_again(call);
    return true;
}

void lks_handle_flash(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_ask_flash *ask = LKS_ASKED(call, lks_ask_flash);
    struct lks_str bundle = ask->bundle;
    if (!lks_lookup_digest(authz, call, "bundle", &bundle) || wants_manifest(authz, call, bundle))
        return;
    const struct asking *asking = call->memory;
    struct lks_event event = {
        .kind = LKS_EVENT_FLASH,
        .name = ask->where.node,
        .reason = ask->reason,
        .said = asking != NULL ? &asking->said : NULL,
        .flash = wish_of(authz, ask, bundle),
    };
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "id", (int64_t)authz->state->next_flash - 1);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_authz_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

static bool begin_flashes(struct lks_rows_walk *walk)
{
    return lks_lookup_hosts(walk->authz, walk->call, "node",
                            LKS_ASKED(walk->call, lks_query_flashes)->node, LKS_LOOKUP_PAST,
                            walk->own);
}

static void end_flashes(void *own)
{
    lks_bitset_fini(own);
}

static bool shows_flash(struct lks_rows_walk *walk, const void *row)
{
    const struct lks_query_flashes *ask = LKS_ASKED(walk->call, lks_query_flashes);
    const struct lks_state_flash *f = row;
    const struct lks_bitset *nodes = walk->own;
    walk->work++;
    return (ask->open < 0 || (f->outcome == LKS_BMC_OPEN) == ask->open) &&
           (nodes->words == NULL || lks_bitset_test(nodes, f->node)) &&
           lks_authz_sees(&walk->sight, f->node);
}

void lks_handle_flashes(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows flashes = {.view = &lks_view_flashes,
                                            .begin = begin_flashes,
                                            .end = end_flashes,
                                            .own = sizeof(struct lks_bitset),
                                            .shows = shows_flash,
                                            .work_max = SCAN_MAX};
    lks_rows_page(authz, call, &flashes);
}

void lks_handle_flash_get(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_flash *flash = lks_state_flash(authz->state, lks_authz_id(call));
    lks_authz_row(authz, call, &lks_view_flashes, flash);
}

void lks_handle_resolve(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event;
    if (lks_lookup_event(authz, call, LKS_EVENT_FLASH_RESOLVE,
                         LKS_ASKED(call, lks_ask_reason)->reason, &event))
        lks_authz_record(authz, call, &event);
}
