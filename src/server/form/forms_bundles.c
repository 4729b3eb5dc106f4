/* Bundles and the keys they are signed with. */
#include "model/manifest/bundle.h"
#include "server/form/forms_words.h"
#include "trust/signature.h"

/* clang-format off */
/* Requests ---------------------------------------------------------------------------------- */

static const struct lks_field lks_ask_bundle_fields[] = {
    MUST("manifest", LINES(LKS_BUNDLE_BYTES_MAX), "bundle.json, byte for byte"),
    MUST("signature", LINES(LKS_SIGNATURE_TEXT_MAX),
        "bundle.sig: its JSON, or a signature in base64"),
};
const struct lks_form lks_ask_bundle = {"BundleWish", "A bundle whose artifacts are in the depot",
    LKS_FIELDS(lks_ask_bundle_fields)};
static const struct lks_field lks_ask_key_fields[] = {
    MUST("name", NAME, "how it is called here"),
    MUST("key", LINES(LKS_PIN_TEXT_MAX), "one line as GET shows it, or PEM"),
    REASON,
};
const struct lks_form lks_ask_key = {"KeyWish", "A public key to trust",
    LKS_FIELDS(lks_ask_key_fields)};

/* Answers ----------------------------------------------------------------------------------- */

static const struct lks_field key_fields[] = {
    MUST("name", NAME, "how it is called here"),
    MUST("key", TEXT, "the key, in one line"),
    MUST("fingerprint", DIGEST, "SHA-256 of its SubjectPublicKeyInfo"),
    MUST("pinned", TIME, "when"),
    MAY("by", TEXT, "by whom"),
    MAY("reason", TEXT, "and why"),
};
static const struct lks_form key = {"PinnedKey", "A public key that is trusted",
    LKS_FIELDS(key_fields)};
static const struct lks_field lks_form_keys_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(key)), "by name"),
    NEXT,
};
const struct lks_form lks_form_keys = {"PinnedKeys", "Whose signatures count",
    LKS_FIELDS(lks_form_keys_fields)};

#define BUNDLE_FIELDS                                                                   \
    MUST("digest", DIGEST, "of its manifest's bytes"),                                  \
    MUST("name", TEXT, "its name"),                                                     \
    MUST("version", TEXT, "its version"),                                               \
    MUST("signer", NAME, "the pinned key that was good for it"),                        \
    MUST("key", DIGEST, "and that key's fingerprint"),                                  \
    MUST("site", TRUTH, "signed by a site, for a vendor that does not sign"),           \
    MUST("added", TIME, "when it was found good"),                                      \
    MAY("by", TEXT, "who brought it"),                                                  \
    MAY("revoked", TIME, "when it was revoked; it is not good any more"),               \
    MAY("revoked_by", TEXT, "by whom"),                                                 \
    MAY("revoked_reason", TEXT, "and why")
static const struct lks_field bundle_fields[] = {BUNDLE_FIELDS};
static const struct lks_form bundle = {"Bundle", "Files with a signature over all of them",
    LKS_FIELDS(bundle_fields)};
static const struct lks_field lks_form_bundles_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(bundle)), "newest first"),
    NEXT,
};
const struct lks_form lks_form_bundles = {"Bundles", "Bundles that were found good",
    LKS_FIELDS(lks_form_bundles_fields)};
static const struct lks_field lks_form_bundle_fields[] = {
    BUNDLE_FIELDS,
    MUST("manifest", DIGEST, "of its manifest, at .../manifest"),
    MUST("artifacts", LKS_LIST(DIGEST), "its files, by digest"),
};
const struct lks_form lks_form_bundle = {"BundleDetail", "A bundle and its files",
    LKS_FIELDS(lks_form_bundle_fields)};
static const struct lks_field lks_form_taken_fields[] = {
    MUST("digest", DIGEST, "of the bundle"),
    MUST("name", TEXT, "its name"),
    MUST("version", TEXT, "its version"),
    MUST("signer", NAME, "the pinned key that is good for it"),
    MUST("key", DIGEST, "and that key's fingerprint"),
    MUST("site", TRUTH, "signed by a site, for a vendor that does not sign"),
    MUST("seq", COUNT, "row of the journal"),
};
const struct lks_form lks_form_taken = {"BundleTaken", "The bundle is verified",
    LKS_FIELDS(lks_form_taken_fields)};
/* clang-format on */
