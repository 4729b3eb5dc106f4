#include "lab/bmcsim/parts.h"

#include <stdio.h>

const char *const lks_bmcsim_apply_words[] = {
    [LKS_APPLY_IMMEDIATE] = "Immediate",
    [LKS_APPLY_ON_RESET] = "OnReset",
    [LKS_APPLY_ON_START] = "OnStartUpdateRequest",
    NULL,
};

static void apply_times(struct lks_bmcsim_call *c)
{
    lks_json_write(&c->w, "'@Redfish.OperationApplyTimeSupport': {'@odata.type': "
                          "'#Settings.v1_3_5.OperationApplyTimeSupport', 'SupportedValues': [");
    for (unsigned i = 0; lks_bmcsim_apply_words[i] != NULL; i++)
        if ((c->b->kind->applies >> i & 1U) != 0)
            lks_json_cstr(&c->w, NULL, lks_bmcsim_apply_words[i]);
    lks_json_write(&c->w, "]}");
}

#define ACTION                                                                                     \
    "'#UpdateService.%s': {'target': '/redfish/v1/UpdateService/Actions/UpdateService.%s'"

static void update_actions(struct lks_bmcsim_call *c)
{
    uint32_t flags = c->b->kind->flags;
    lks_json_begin(&c->w, "Actions", '{');
    if ((flags & LKS_HAS_SIMPLE) != 0) {
        lks_json_write(&c->w,
                       ACTION ", 'TransferProtocol@Redfish.AllowableValues': "
                              "['HTTP', 'HTTPS']",
                       "SimpleUpdate", "SimpleUpdate");
        if ((flags & LKS_HAS_NUMBER_IDS) == 0)
            apply_times(c);
        lks_json_end(&c->w, '}');
    }
    if ((flags & LKS_HAS_START) != 0)
        lks_json_write(&c->w, ACTION "}", "StartUpdate", "StartUpdate");
    if ((flags & LKS_HAS_ACTIVATE) != 0)
        lks_json_write(&c->w, ACTION "}", "Activate", "Activate");
    lks_json_end(&c->w, '}');
}

static void push_targets(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    lks_json_begin(&c->w, "HttpPushUriTargets", '[');
    for (unsigned i = 0; i < b->unit_count; i++) {
        if ((b->push_targets >> i & 1U) != 0)
            lks_bmcsim_reply_textf(&c->w, NULL, "/redfish/v1/UpdateService/FirmwareInventory/%s",
                                   b->units[i].id);
    }
    lks_json_write(&c->w, "], 'HttpPushUriTargetsBusy': %s", LKS_JSON_TRUTH(b->job != NULL));
}

static void oem_update(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    const char *const none[3] = {NULL, NULL, NULL};
    const char *state = c->b->hpe_state;
    lks_json_write(&c->w, "'Oem': {'%s': {", kind->oem);
    if ((kind->flags & LKS_HAS_FORM) != 0)
        lks_json_write(&c->w, "'State': '%s', 'DowngradePolicy': 'AllowDowngrade'",
                       state != NULL ? state : "Idle");
    if ((kind->flags & LKS_HAS_FORM) != 0 && state != NULL) {
        lks_json_begin(&c->w, "Result", '{');
        lks_bmcsim_message_write(&c->w, kind, c->b->hpe_result, none);
        lks_json_write(&c->w, "}, 'FlashProgressPercent': %d", c->b->job != NULL ? 50 : 100);
    }
    lks_json_write(&c->w, "}}");
}

bool lks_bmcsim_tree_get_update_service(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    lks_bmcsim_reply_head(c, "UpdateService.v1_16_0.UpdateService", "UpdateService",
                          "Update service");
    lks_json_write(&c->w, "'ServiceEnabled': true, " LKS_BMCSIM_ENABLED ", 'HttpPushUri'?: '%s'",
                   kind->push);
    if (kind->push != NULL && (kind->flags & LKS_HAS_FORM) == 0) {
        push_targets(c);
        lks_json_write(
            &c->w, "'HttpPushUriOptions': {'HttpPushUriApplyTime': {'ApplyTime': 'Immediate'}}");
    }
    if (kind->multipart != NULL) {
        lks_json_cstr(&c->w, "MultipartHttpPushUri", kind->multipart);
        apply_times(c);
    }
    if ((kind->flags & LKS_HAS_FORM) == 0)
        lks_json_int(&c->w, "MaxImageSizeBytes", (int64_t)kind->max_image);
    lks_bmcsim_reply_link(&c->w, "FirmwareInventory",
                          "/redfish/v1/UpdateService/FirmwareInventory");
    if ((kind->flags & LKS_HAS_SOFTWARE) != 0)
        lks_bmcsim_reply_link(&c->w, "SoftwareInventory",
                              "/redfish/v1/UpdateService/SoftwareInventory");
    update_actions(c);
    oem_update(c);
    return true;
}
