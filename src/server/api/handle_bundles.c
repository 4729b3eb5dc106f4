/*
 * Bundles, and the keys that a person pinned.
 *
 * A bundle that is brought goes through three hands: its manifest is read in the thread pool, the
 * pinned keys are copied on the state thread, its evidence is looked at in the pool again, and the
 * decision, on the state thread, asks whether the key is still pinned.
 */
#include "core/registry/named.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "port/verifier.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/auth/reads.h"
#include "server/auth/rows.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Keys -------------------------------------------------------------------------------------- */

void lks_handle_keys(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows keys = {.view = &lks_view_keys};
    lks_rows_page(authz, call, &keys);
}

void lks_handle_key_pin(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_key *ask = LKS_ASKED(call, lks_ask_key);
    struct lks_event event = {
        .kind = LKS_EVENT_KEY_PIN,
        .reason = ask->reason,
        .key = {.name = ask->name, .key = ask->key},
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_key_gone(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_KEY_GONE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .name = call->named,
    };
    lks_authz_record(authz, call, &event);
}

/* Bundles there are ------------------------------------------------------------------------- */

void lks_handle_bundles(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows bundles = {.view = &lks_view_bundles};
    lks_rows_page(authz, call, &bundles);
}

/* The bundle {digest}, which may be a name; NULL, and the answer written, where there is none. */
static const struct lks_state_bundle *find_bundle(const struct lks_authz *authz,
                                                  struct lks_call *call)
{
    const struct lks_state_bundle *bundle = NULL;
    struct lks_err err = {0};
    if (lks_named_bundle(authz->state, call->named, &bundle, &err) != LKS_OK)
        lks_call_problem_err(call, &err);
    return bundle;
}

void lks_handle_bundle(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_bundle *bundle = find_bundle(authz, call);
    if (bundle != NULL)
        lks_authz_row(authz, call, &lks_view_bundles, bundle);
}

void lks_handle_bundle_manifest(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_bundle *bundle = find_bundle(authz, call);
    if (bundle != NULL)
        lks_read_from_store(call, lks_state_text(authz->state, bundle->manifest));
}

void lks_handle_bundle_revoke(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_bundle *bundle = find_bundle(authz, call);
    if (bundle == NULL)
        return;
    struct lks_event event = {
        .kind = LKS_EVENT_BUNDLE_REVOKE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .name = lks_state_text(authz->state, bundle->digest),
    };
    lks_authz_record(authz, call, &event);
}

/* A bundle that is brought ------------------------------------------------------------------ */

struct pinned {
    char name[LKS_PIN_NAME_MAX + 1];
    char line[LKS_PIN_LINE_SIZE];
};

struct bringing {
    struct lks_bundle bundle;
    struct lks_buf digests;
    struct pinned *pinned; /* as they were on the state thread */
    size_t pinned_count;
    bool copied;
    struct lks_evidence_answer verdict;
};

static void drop_bringing(void *memory)
{
    struct bringing *b = memory;
    lks_bundle_fini(&b->bundle);
    lks_buf_fini(&b->digests);
    free(b->pinned);
    free(b);
}

/* In the thread pool, first: what it says. */
static enum lks_code read_bundle(struct lks_call *call, struct lks_err *err)
{
    struct bringing *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return lks_fail_nomem(err);
    call->memory = b;
    call->drop = drop_bringing;
    lks_buf_init(&b->digests, LKS_BUNDLE_BYTES_MAX);
    if (lks_bundle_parse(LKS_ASKED(call, lks_ask_bundle)->manifest, "manifest",
                         lks_daemon_facts(call->daemon), &b->bundle, err) != LKS_OK)
        return err->code;
    lks_bundle_digests(&b->bundle, &b->digests);
    return lks_buf_check(&b->digests, err);
}

/* In the thread pool, then: whether it is good by what is pinned. */
static enum lks_code verify_bundle(struct lks_call *call, struct lks_err *err)
{
    struct bringing *b = call->memory;
    struct lks_trusted *trusted = calloc(b->pinned_count + 1, sizeof(*trusted));
    if (trusted == NULL)
        return lks_fail_nomem(err);
    struct lks_evidence_ask ask = {
        .manifest = LKS_ASKED(call, lks_ask_bundle)->manifest,
        .signature = LKS_ASKED(call, lks_ask_bundle)->signature,
        .bundle = &b->bundle,
        .trusted = trusted,
    };
    for (size_t i = 0; i < b->pinned_count; i++) {
        struct lks_trusted *t = &trusted[ask.trusted_count];
        struct lks_err why = {0};
        snprintf(t->name, sizeof(t->name), "%s", b->pinned[i].name);
        ask.trusted_count +=
            lks_signature_pin_parse(lks_str_from(b->pinned[i].line), &t->pin, &why) == LKS_OK;
    }
    lks_verifier_run(&ask, &b->verdict);
    free(trusted);
    if (b->verdict.verdict == LKS_EVIDENCE_GOOD)
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED, "bundle '%" LKS_STR_FMT "': %s",
                    LKS_STR_ARG(b->bundle.name), b->verdict.line);
}

void lks_handle_bundle_prepare(struct lks_call *call)
{
    if (call->memory == NULL)
        (void)!read_bundle(call, &call->failed);
    else
        (void)!verify_bundle(call, &call->failed);
}

static bool copy_keys(const struct lks_state *s, struct bringing *b)
{
    b->pinned = calloc((size_t)s->key_count + 1, sizeof(b->pinned[0]));
    if (b->pinned == NULL)
        return false;
    for (uint32_t i = 0; i < s->key_count; i++) {
        snprintf(b->pinned[i].name, sizeof(b->pinned[i].name), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_state_text(s, s->keys[i].name)));
        snprintf(b->pinned[i].line, sizeof(b->pinned[i].line), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_state_text(s, s->keys[i].key)));
    }
    b->pinned_count = s->key_count;
    b->copied = true;
    return true;
}

/* What is in the depot has the size that the manifest says; false, and the answer written. */
static bool check_sizes(const struct lks_authz *authz, struct lks_call *call,
                        const struct lks_bundle *bundle)
{
    for (size_t i = 0; i < bundle->count; i++) {
        const struct lks_bundle_artifact *a = &bundle->artifacts[i];
        const struct lks_state_artifact *have = lks_state_artifact(authz->state, a->digest);
        if (have == NULL || have->size == a->size)
            continue;
        lks_call_problem(call, LKS_E_REFUSED,
                         "bundle '%" LKS_STR_FMT "': %" LKS_STR_FMT " has %" PRIu64
                         " bytes in the manifest, and here %" PRIu64,
                         LKS_STR_ARG(bundle->name), LKS_STR_ARG(a->name), a->size, have->size);
        return false;
    }
    return true;
}

static void tell_taken(const struct lks_authz *authz, struct lks_call *call, struct lks_str digest)
{
    const struct lks_state *s = authz->state;
    const struct lks_state_bundle *made = lks_state_bundle(s, digest);
    LKS_ASSERT(made != NULL);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "digest", digest);
    lks_json_text(&w, "name", lks_state_text(s, made->name));
    lks_json_text(&w, "version", lks_state_text(s, made->version));
    lks_json_text(&w, "signer", lks_state_text(s, made->signer));
    lks_json_text(&w, "key", lks_state_text(s, made->key));
    lks_json_bool(&w, "site", made->site);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_json_end(&w, '}');
}

void lks_handle_bundle_put(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct bringing *b = call->memory;
    if (!b->copied) {
        if (copy_keys(authz->state, b))
            lks_authz_prepare_again(call);
        else
            lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return;
    }
    if (!check_sizes(authz, call, &b->bundle))
        return;
    struct lks_str digest = lks_str_from(b->bundle.digest);
    struct lks_store_blob blob = {.bytes = LKS_ASKED(call, lks_ask_bundle)->manifest};
    memcpy(blob.digest, b->bundle.digest, sizeof(blob.digest));
    struct lks_event event = {
        .kind = LKS_EVENT_BUNDLE,
        .reason = LKS_ASKED(call, lks_ask_bundle)->reason,
        .bundle = {.digest = digest,
                   .name = b->bundle.name,
                   .version = b->bundle.version,
                   .manifest = digest,
                   .signer = lks_str_from(b->verdict.signer),
                   .key = lks_str_from(b->verdict.key),
                   .artifacts = lks_buf_view(&b->digests),
                   .site = b->verdict.site},
    };
    if (lks_authz_turn(authz, call, &event, &blob, &d))
        tell_taken(authz, call, digest);
}
