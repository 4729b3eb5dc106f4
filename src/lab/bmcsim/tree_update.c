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
    lks_json_begin(&c->w, "@Redfish.OperationApplyTimeSupport", '{');
    lks_json_cstr(&c->w, "@odata.type", "#Settings.v1_3_5.OperationApplyTimeSupport");
    lks_json_begin(&c->w, "SupportedValues", '[');
    for (unsigned i = 0; lks_bmcsim_apply_words[i] != NULL; i++)
        if ((c->b->kind->applies >> i & 1U) != 0)
            lks_json_cstr(&c->w, NULL, lks_bmcsim_apply_words[i]);
    lks_json_end(&c->w, ']');
    lks_json_end(&c->w, '}');
}

static void update_actions(struct lks_bmcsim_call *c)
{
    static const char *const protocols[] = {"HTTP", "HTTPS", NULL};
    uint32_t flags = c->b->kind->flags;
    lks_json_begin(&c->w, "Actions", '{');
    if ((flags & LKS_HAS_SIMPLE) != 0) {
        lks_json_begin(&c->w, "#UpdateService.SimpleUpdate", '{');
        lks_json_cstr(&c->w, "target",
                      "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate");
        lks_bmcsim_reply_texts(&c->w, "TransferProtocol@Redfish.AllowableValues", protocols);
        if ((flags & LKS_HAS_NUMBER_IDS) == 0)
            apply_times(c);
        lks_json_end(&c->w, '}');
    }
    if ((flags & LKS_HAS_START) != 0) {
        lks_json_begin(&c->w, "#UpdateService.StartUpdate", '{');
        lks_json_cstr(&c->w, "target",
                      "/redfish/v1/UpdateService/Actions/UpdateService.StartUpdate");
        lks_json_end(&c->w, '}');
    }
    if ((flags & LKS_HAS_ACTIVATE) != 0) {
        lks_json_begin(&c->w, "#UpdateService.Activate", '{');
        lks_json_cstr(&c->w, "target", "/redfish/v1/UpdateService/Actions/UpdateService.Activate");
        lks_json_end(&c->w, '}');
    }
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
    lks_json_end(&c->w, ']');
    lks_json_bool(&c->w, "HttpPushUriTargetsBusy", b->job != NULL);
}

static void oem_update(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    const char *const none[3] = {NULL, NULL, NULL};
    lks_json_begin(&c->w, "Oem", '{');
    lks_json_begin(&c->w, kind->oem, '{');
    if ((kind->flags & LKS_HAS_FORM) != 0) {
        lks_json_cstr(&c->w, "State", c->b->hpe_state != NULL ? c->b->hpe_state : "Idle");
        lks_json_cstr(&c->w, "DowngradePolicy", "AllowDowngrade");
        if (c->b->hpe_state != NULL) {
            lks_json_begin(&c->w, "Result", '{');
            lks_bmcsim_message_write(&c->w, c->b->hpe_result, none);
            lks_json_end(&c->w, '}');
            const struct lks_bmcsim_job *job = c->b->job;
            lks_json_int(&c->w, "FlashProgressPercent", job != NULL ? 50 : 100);
        }
    }
    lks_json_end(&c->w, '}');
    lks_json_end(&c->w, '}');
}

bool lks_bmcsim_tree_get_update_service(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    lks_bmcsim_reply_head(c, "UpdateService.v1_13_0.UpdateService", "UpdateService",
                          "Update service");
    lks_json_bool(&c->w, "ServiceEnabled", true);
    lks_bmcsim_reply_status(&c->w, "Enabled", "OK");
    if (kind->push != NULL)
        lks_json_cstr(&c->w, "HttpPushUri", kind->push);
    if (kind->push != NULL && (kind->flags & LKS_HAS_FORM) == 0) {
        push_targets(c);
        lks_json_begin(&c->w, "HttpPushUriOptions", '{');
        lks_json_begin(&c->w, "HttpPushUriApplyTime", '{');
        lks_json_cstr(&c->w, "ApplyTime", "Immediate");
        lks_json_end(&c->w, '}');
        lks_json_end(&c->w, '}');
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
