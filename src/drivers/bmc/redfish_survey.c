/* What the service is and offers, and when it last restarted. */
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

const char *const lks_redfish_apply_words[] = {
    "Immediate",
    "OnReset",
    "OnStartUpdateRequest",
    "AtMaintenanceWindowStart",
    "InMaintenanceWindowOnReset",
    "OnTargetReset",
    NULL,
};

/* Before anything was sent, what cannot be read is a failure of the whole. Later it is asked for
 * again until the deadline. */
static void unusable(struct lks_redfish_update *u, lks_ms now, const char *what,
                     const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    lks_redfish_error(answer, why);
    if (u->sent == LKS_RF_NOTHING)
        lks_conversation_fail(&u->r.head, LKS_E_INVALID, "%s: %s", what, why);
    else
        lks_conversation_go(&u->r.head, u->r.head.step, now + LKS_REDFISH_POLL);
}

void lks_redfish_ask_root(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->r.root), out);
}

void lks_redfish_hear_service_root(struct lks_redfish_update *u, lks_ms now,
                                   const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *root = lks_redfish_read(answer, &docs);
    if (u->gone == 0 && lks_redfish_moved(&u->r, answer)) {
        u->gone++;
        lks_conversation_go(&u->r.head, LKS_RF_ROOT, now);
        return;
    }
    if (root == NULL && answer->status == 404 && u->gone++ == 0) {
        lks_conversation_go(&u->r.head, LKS_RF_VERSIONS, now);
        return;
    }
    if (root == NULL) {
        unusable(u, now, "no Redfish service root", answer);
        return;
    }
    if (!lks_redfish_hear_root(&u->r, root, &err)) {
        lks_conversation_fail(&u->r.head, err.code, "%s", err.msg);
        return;
    }
    u->gone = 0;
    lks_conversation_go(&u->r.head, LKS_RF_SERVICE, now);
}

void lks_redfish_ask_versions(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", LKS_STR("/redfish"), out);
}

void lks_redfish_hear_versions(struct lks_redfish_update *u, lks_ms now,
                               const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (!lks_redfish_keep(u->r.root, sizeof(u->r.root),
                          lks_bmc_json_path(lks_redfish_read(answer, &docs), "v1"))) {
        unusable(u, now, "there is no Redfish service", answer);
        return;
    }
    lks_conversation_go(&u->r.head, LKS_RF_ROOT, now);
}

void lks_redfish_ask_service(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->r.update_service), out);
}

static void keep_applies(struct lks_redfish_update *u, const struct lks_doc *list)
{
    for (unsigned i = 0; lks_redfish_apply_words[i] != NULL; i++) {
        if (lks_doc_has(list, lks_str_from(lks_redfish_apply_words[i])))
            u->applies |= 1U << i;
    }
}

static void keep_etag(struct lks_redfish_update *u, const struct lks_doc *doc,
                      const struct lks_http_response *answer)
{
    struct lks_str etag = lks_http_response_header(answer, "etag");
    if (etag.len == 0)
        etag = lks_bmc_json_text(doc, "@odata.etag");
    lks_redfish_keep(u->etag, sizeof(u->etag), etag);
}

/* What it takes, how much of it, and how. */
static void keep_offers(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    static const char support[] = "@Redfish.OperationApplyTimeSupport/SupportedValues";
    static const char support_multipart[] =
        "MultipartHttpPushUri@Redfish.OperationApplyTimeSupport/SupportedValues";
    static const char support_push[] =
        "HttpPushUriOptions/HttpPushUriApplyTime/ApplyTime@Redfish.AllowableValues";
    const struct {
        char *out;
        struct lks_str value;
    } kept[] = {
        {u->firmware, lks_bmc_json_link(doc, "FirmwareInventory")},
        {u->software, lks_bmc_json_link(doc, "SoftwareInventory")},
        {u->multipart, lks_bmc_json_path(doc, "MultipartHttpPushUri")},
        {u->push, lks_bmc_json_path(doc, "HttpPushUri")},
        {u->simple, lks_bmc_json_path(doc, "Actions/#UpdateService.SimpleUpdate/target")},
        {u->start, lks_bmc_json_path(doc, "Actions/#UpdateService.StartUpdate/target")},
        {u->activate, lks_bmc_json_path(doc, "Actions/#UpdateService.Activate/target")},
    };
    for (size_t i = 0; i < LKS_COUNT(kept); i++)
        lks_redfish_keep(kept[i].out, LKS_REDFISH_URI_SIZE, kept[i].value);
    const struct lks_doc *enabled = lks_doc_member(doc, "ServiceEnabled");
    u->enabled = enabled == NULL || enabled->kind != LKS_DOC_BOOL || enabled->truth;
    u->size_max = lks_bmc_json_number(doc, "MaxImageSizeBytes", 0);
    u->push_targets = lks_doc_member(doc, "HttpPushUriTargets") != NULL;
    u->push_busy = lks_bmc_json_true(doc, "HttpPushUriTargetsBusy");
    u->applies = 0;
    keep_applies(u, lks_bmc_json_at(doc, support));
    keep_applies(u, lks_bmc_json_at(doc, support_multipart));
    keep_applies(u, lks_bmc_json_at(doc, support_push));
}

void lks_redfish_hear_service(struct lks_redfish_update *u, lks_ms now,
                              const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    struct lks_str state = lks_bmc_json_text(doc, "Oem/Hpe/State");
    if (doc == NULL || (u->state_asked && state.len == 0)) {
        unusable(u, now, "the UpdateService cannot be read", answer);
        return;
    }
    keep_offers(u, doc);
    keep_etag(u, doc, answer);
    lks_redfish_keep(u->oem_state_now, sizeof(u->oem_state_now), state);
    if (u->purpose == LKS_RF_SURVEY)
        lks_redfish_keep(u->oem_state, sizeof(u->oem_state), state);
    if (u->state_asked) {
        u->state_asked = false;
        lks_redfish_tasks_known(u, now);
        return;
    }
    if (u->patching) {
        u->patching = false;
        lks_conversation_go(&u->r.head, LKS_RF_PATCH, now);
        return;
    }
    if (u->firmware[0] == '\0' && u->software[0] == '\0') {
        unusable(u, now, "the UpdateService names no inventory", answer);
        return;
    }
    if (u->r.managers[0] != '\0') {
        lks_conversation_go(&u->r.head, LKS_RF_MANAGERS, now);
        return;
    }
    lks_redfish_walk(u, u->purpose, now);
}

/* When the service started tells whether it can have forgotten something. */

void lks_redfish_ask_managers(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->r.managers), out);
}

void lks_redfish_hear_managers(struct lks_redfish_update *u, lks_ms now,
                               const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *members = lks_bmc_json_at(lks_redfish_read(answer, &docs), "Members");
    const struct lks_doc *first = members != NULL ? members->first : NULL;
    if (lks_redfish_keep(u->page, sizeof(u->page), lks_bmc_json_path(first, "@odata.id")))
        lks_conversation_go(&u->r.head, LKS_RF_MANAGER, now);
    else
        lks_redfish_walk(u, u->purpose, now);
}

void lks_redfish_ask_manager(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "GET", lks_str_from(u->page), out);
}

void lks_redfish_hear_manager(struct lks_redfish_update *u, lks_ms now,
                              const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_str booted = lks_bmc_json_text(lks_redfish_read(answer, &docs), "LastResetTime");
    lks_redfish_keep(u->booted_now, sizeof(u->booted_now), booted);
    if (u->purpose == LKS_RF_SURVEY)
        lks_redfish_keep(u->booted, sizeof(u->booted), booted);
    lks_redfish_walk(u, u->purpose, now);
}
