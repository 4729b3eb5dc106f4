/* Updates by management endpoints, and these endpoints. */
#include "server/form/forms_words.h"

/* clang-format off */
/* Query parameters -------------------------------------------------------------------------- */

static const struct lks_field lks_query_flashes_fields[] = {
    PAGE,
    MAY("node", TEXT, "of this node or asset"),
    MAY("open", TRUTH, "only those in progress, or only those that ended"),
};
const struct lks_form lks_query_flashes = {"FlashesQuery", "Which updates",
    LKS_FIELDS(lks_query_flashes_fields)};
static const struct lks_field lks_query_endpoints_fields[] = {
    PAGE,
    MAY("node", TEXT, "of this node or asset"),
    MAY("url", TEXT, "at this address"),
};
const struct lks_form lks_query_endpoints = {"EndpointsQuery", "Which endpoints",
    LKS_FIELDS(lks_query_endpoints_fields)};

/* Requests ---------------------------------------------------------------------------------- */

static const struct lks_field lks_ask_flash_fields[] = {
    MUST("node", TEXT, "whose endpoint; it has to be in a change"),
    MAY("act", WORDS(lks_bmc_act_words), "what is to be done (update)"),
    MUST("component", TEXT, "a class of firmware, or an entry of the endpoint's inventory"),
    MAY("version", TEXT, "what it is to run"),
    MAY("bundle", TEXT, "a bundle that was found good: its digest, the beginning of one, or its "
        "name"),
    MAY("image", DIGEST, "which of its artifacts; absent: the only one for this component and this "
        "hardware"),
    MAY("apply_time", TEXT, "when the endpoint applies it, in Redfish's words; absent: by what it "
        "offers"),
    MAY("force", TRUTH, "an older version is meant, or one that the bundle does not let follow "
        "what runs"),
    MAY("one_way", TRUTH, "acknowledge that the update is irreversible"),
    MAY("minutes", LKS_NUMBERS(1, 1440), "until it is given up (120)"),
    REASON,
};
const struct lks_form lks_ask_flash = {"FlashWish", "An update by a management endpoint",
    LKS_FIELDS(lks_ask_flash_fields)};
static const struct lks_field lks_ask_endpoint_fields[] = {
    MAY("fingerprint", DIGEST, "of its certificate's public key; absent: no longer taken for good"),
    REASON,
};
const struct lks_form lks_ask_endpoint = {"EndpointWish", "The identity of an endpoint",
    LKS_FIELDS(lks_ask_endpoint_fields)};

/* Answers ----------------------------------------------------------------------------------- */

static const struct lks_field lks_form_flash_fields[] = {
    MUST("id", COUNT, "its number"),
    MUST("node", TEXT, "the node or asset"),
    MUST("act", WORDS(lks_bmc_act_words), "what is done"),
    MUST("component", TEXT, "to which firmware"),
    MAY("version", TEXT, "what it is to run"),
    MAY("bundle", TEXT, "the bundle the image is from"),
    MAY("image", TEXT, "the image"),
    MAY("apply_time", TEXT, "when the endpoint applies it"),
    MUST("force", TRUTH, "an older version is meant"),
    MUST("one_way", TRUTH, "the irreversibility was acknowledged"),
    MUST("begun", TIME, "when it was asked for"),
    MUST("deadline", TIME, "when it is given up"),
    MAY("by", TEXT, "who asked"),
    MAY("reason", TEXT, "and why"),
    MAY("phase", TEXT, "how far it was when that was last kept"),
    MUST("percent", COUNT, "the same in percent"),
    MUST("outcome", WORDS(lks_bmc_outcome_words), "how it ended; open: it has not"),
    MAY("ended", TIME, "when"),
    MAY("found", TEXT, "the version that was read last"),
    MAY("text", TEXT, "why it ended so"),
    MAY("uploads", COUNT, "how often the image was sent"),
    MAY("resolved", TIME, "unknown: when a person resolved it"),
    MAY("resolved_by", TEXT, "who"),
    MAY("resolved_reason", TEXT, "and what they found"),
};
const struct lks_form lks_form_flash = {"Flash", "An update by a management endpoint",
    LKS_FIELDS(lks_form_flash_fields)};
static const struct lks_field lks_form_flashes_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(lks_form_flash)), "updates"),
    NEXT,
};
const struct lks_form lks_form_flashes = {"Flashes", "A list of updates",
    LKS_FIELDS(lks_form_flashes_fields)};
static const struct lks_field endpoint_fields[] = {
    MUST("node", TEXT, "the node or asset"),
    MUST("url", TEXT, "where it is"),
    MUST("driver", TEXT, "how it is spoken to"),
    MUST("trust", TEXT, "how it is known: by a file of authorities, or a fingerprint"),
    MAY("fingerprint", TEXT, "the one that is recorded"),
    MAY("read", TIME, "when it was last read"),
    MAY("failed", TIME, "when it could not be read; absent: it could, or was not tried here"),
    MAY("failure", TEXT, "and why"),
    MUST("changing", TRUTH, "its node is in a change"),
    MUST("idle", TRUTH, "nodes that it may disrupt are drained and idle, or of posture dev"),
    MAY("flashing", COUNT, "the update that is in progress there, or waits for a person"),
    MUST("managed", TRUTH, "no other client updates it"),
};
static const struct lks_form endpoint = {"Endpoint", "A management endpoint",
    LKS_FIELDS(endpoint_fields)};
static const struct lks_field lks_form_endpoints_fields[] = {
    MUST("items", LKS_LIST(LKS_FORM(endpoint)), "endpoints"),
    NEXT,
};
const struct lks_form lks_form_endpoints = {"Endpoints", "A list of management endpoints",
    LKS_FIELDS(lks_form_endpoints_fields)};
/* clang-format on */
