/* Keys that a person pinned, and bundles that were found good by one of them. The signature was
 * looked at before, where that may take its time; what is decided here is whether the key it is by
 * is still trusted now. What was good stays good when its key goes; only a revocation ends it, and
 * that is final. */
#include "base/near.h"
#include "core/rows/registry.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"
#include "trust/signature.h"

#define TEXT_OF(d, text) LKS_STR_ARG(lks_state_text((d)->state, (text)))

enum { BUNDLE_TEXT_MAX = 127 };

/* Keys -------------------------------------------------------------------------------------- */

/* The same name or the same key was pinned before: an exact repetition is no change, the rest would
 * leave open which key a bundle's signature rests on. */
static bool is_taken(struct lks_deciding *d, struct lks_str name, const char *line)
{
    for (uint32_t i = 0; i < d->state->key_count; i++) {
        const struct lks_state_key *key = &d->state->keys[i];
        bool same_name = lks_str_eq(lks_state_text(d->state, key->name), name);
        bool same_key = lks_str_is(lks_state_text(d->state, key->key), line);
        if (same_name && !same_key)
            lks_decision_refuse(d, LKS_E_REFUSED,
                                "'%" LKS_STR_FMT "' is another key already, pinned by %" LKS_STR_FMT
                                "; give this one another name, or remove that one first",
                                LKS_STR_ARG(name), TEXT_OF(d, key->by));
        else if (same_key && !same_name)
            lks_decision_refuse(d, LKS_E_REFUSED,
                                "this key is pinned already, as '%" LKS_STR_FMT "'",
                                TEXT_OF(d, key->name));
        if (same_name || same_key)
            return true;
    }
    return false;
}

void lks_decide_key_pin(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_pin pin;
    struct lks_err err = {0};
    char line[LKS_PIN_LINE_SIZE];
    if (!lks_decision_reason(d))
        return;
    if (!lks_signature_pin_name(e->key.name)) {
        lks_decision_refuse(d, LKS_E_INVALID,
                            "name: '%" LKS_STR_FMT
                            "' is no name of a key: lower-case letters, digits, '.', '-', '_'",
                            LKS_STR_ARG(e->key.name));
        return;
    }
    if (lks_signature_pin_parse(e->key.key, &pin, &err) != LKS_OK) {
        lks_decision_refuse(d, err.code, "%s", err.msg);
        return;
    }
    lks_signature_pin_text(&pin, line);
    if (is_taken(d, e->key.name, line) ||
        !lks_decision_space(d, "pinned keys", d->state->key_count, LKS_STATE_KEYS_MAX))
        return;
    lks_decision_add(d, LKS_RECORD_KEY_PINNED)->key_pinned =
        (struct lks_rec_key_pinned){.name = e->key.name,
                                    .key = lks_decision_copy(d, lks_str_from(line)),
                                    .by = e->by,
                                    .reason = lks_str_trim(e->reason)};
}

void lks_decide_key_gone(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (!lks_decision_reason(d))
        return;
    if (lks_state_key(d->state, e->name) == NULL) {
        struct lks_near near = lks_near_to(e->name);
        char hint[LKS_NEAR_HINT_SIZE];
        for (uint32_t i = 0; i < d->state->key_count; i++)
            lks_near_try(&near, lks_state_text(d->state, d->state->keys[i].name));
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "no key '%" LKS_STR_FMT "' is pinned%s",
                            LKS_STR_ARG(e->name), lks_near_hint(&near, hint));
        return;
    }
    lks_decision_add(d, LKS_RECORD_KEY_GONE)->key_gone =
        (struct lks_rec_key_gone){.name = e->name, .by = e->by, .reason = lks_str_trim(e->reason)};
}

/* Bundles ----------------------------------------------------------------------------------- */

/* The key that was found to be good is pinned under that name in this very moment. */
static bool check_signer(struct lks_deciding *d)
{
    const struct lks_rec_bundle *bundle = &d->event->bundle;
    const struct lks_state_key *key = lks_state_key(d->state, bundle->signer);
    struct lks_pin pin;
    struct lks_err err = {0};
    if (key != NULL &&
        lks_signature_pin_parse(lks_state_text(d->state, key->key), &pin, &err) == LKS_OK &&
        lks_str_is(bundle->key, pin.fingerprint))
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "bundle '%" LKS_STR_FMT "' was signed with key '%" LKS_STR_FMT
                        "', which is not pinned any more",
                        LKS_STR_ARG(bundle->name), LKS_STR_ARG(bundle->signer));
    return false;
}

static bool check_artifacts(struct lks_deciding *d)
{
    struct lks_str rest = d->event->bundle.artifacts, digest;
    size_t count = 0;
    while (lks_str_word(&rest, &digest)) {
        count++;
        if (!lks_decision_digest(d, "artifact", digest))
            return false;
        if (lks_state_artifact(d->state, digest) != NULL)
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "artifact %" LKS_STR_FMT
                            " is not in the depot; 'lockstep bundle push' puts it there first",
                            LKS_STR_ARG(digest));
        return false;
    }
    if (count == 0)
        lks_decision_refuse(d, LKS_E_INVALID, "bundle: it names no artifact");
    return count > 0;
}

void lks_decide_bundle(struct lks_deciding *d)
{
    const struct lks_rec_bundle *bundle = &d->event->bundle;
    if (!lks_decision_reason_fits(d) || !lks_decision_digest(d, "bundle", bundle->digest) ||
        !lks_decision_digest(d, "manifest", bundle->manifest) ||
        !lks_decision_line(d, "bundle's name", bundle->name, BUNDLE_TEXT_MAX) ||
        !lks_decision_line(d, "bundle's version", bundle->version, BUNDLE_TEXT_MAX))
        return;
    const struct lks_state_bundle *known = lks_state_bundle(d->state, bundle->digest);
    if (known != NULL && known->revoked != 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "bundle '%" LKS_STR_FMT "' (%" LKS_STR_FMT
                            ") was revoked by %" LKS_STR_FMT ", which is final: %" LKS_STR_FMT,
                            LKS_STR_ARG(bundle->name), LKS_STR_ARG(bundle->digest),
                            TEXT_OF(d, known->revoked_by), TEXT_OF(d, known->revoked_reason));
    if (known != NULL || !check_signer(d) || !check_artifacts(d) ||
        !lks_decision_space(d, "bundles", d->state->bundle_count, LKS_STATE_BUNDLES_MAX))
        return;
    struct lks_rec_bundle *record = &lks_decision_add(d, LKS_RECORD_BUNDLE)->bundle;
    *record = *bundle;
    record->by = d->event->by;
    record->reason = lks_str_trim(d->event->reason);
}

void lks_decide_bundle_revoke(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (!lks_decision_reason(d))
        return;
    const struct lks_state_bundle *known = lks_state_bundle(d->state, e->name);
    if (known == NULL) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "no bundle %" LKS_STR_FMT " is known",
                            LKS_STR_ARG(e->name));
        return;
    }
    if (known->revoked == 0)
        lks_decision_add(d, LKS_RECORD_BUNDLE_REVOKED)->bundle_revoked =
            (struct lks_rec_bundle_revoked){
                .digest = e->name, .by = e->by, .reason = lks_str_trim(e->reason)};
}
