/* The requests of an update of a switch tray. */
#include "codec/format/http.h"
#include "codec/format/json.h"
#include "drivers/bmc/nvos_update.h"

/* The tray calls a file what the address it was fetched from calls it. */
struct lks_str lks_nvos_file_name(const struct lks_nvos_update *u)
{
    struct lks_str path, rest;
    lks_str_cut(lks_str_from(u->pull), '?', &path, &rest);
    lks_str_cut(path, '#', &path, &rest);
    return lks_str_last(path, '/');
}

static void put_action(struct lks_http_request *out, const char *action, const char *key,
                       const char *value, bool truth)
{
    struct lks_json_writer w = {.out = &out->body};
    lks_json_begin(&w, NULL, '{');
    lks_json_begin(&w, action, '{');
    lks_json_cstr(&w, "state", "start");
    lks_json_begin(&w, "parameters", '{');
    if (value != NULL)
        lks_json_cstr(&w, key, value);
    else
        lks_json_bool(&w, key, truth);
    lks_json_end(&w, '}');
    lks_json_end(&w, '}');
    lks_json_end(&w, '}');
}

static void ask_post(const struct lks_nvos_update *u, struct lks_http_request *out)
{
    uint32_t step = u->r.head.step;
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    bool cold = row != NULL && lks_str_is(row->reset, "ac");
    lks_redfish_ask_json(
        &u->r, "POST",
        step == LKS_NVOS_REBOOT ? LKS_STR(LKS_NVOS_SYSTEM) : LKS_STR(LKS_NVOS_FIRMWARE "/"), out);
    if (step == LKS_NVOS_REBOOT) {
        put_action(out, cold ? "@power-cycle" : "@reboot", "force", NULL, false);
    } else if (step == LKS_NVOS_FETCH) {
        lks_http_escape(&out->path, lks_str_from(u->turn));
        put_action(out, "@fetch", "remote-url", u->pull, false);
    } else {
        lks_http_escape(&out->path, lks_str_from(u->turn));
        lks_buf_add(&out->path, LKS_STR("/files/"));
        lks_http_escape(&out->path, lks_nvos_file_name(u));
        /* Staged means that the tray does not restart by itself. */
        put_action(out, "@install", u->act == LKS_BMC_STAGE ? "skip-reboot" : "force", NULL,
                   u->act == LKS_BMC_STAGE || u->force);
    }
}

lks_ms lks_nvos_ask(const void *value, struct lks_http_request *out)
{
    const struct lks_nvos_update *u = value;
    switch (u->r.head.step) {
    case LKS_NVOS_FETCH:
    case LKS_NVOS_INSTALL:
    case LKS_NVOS_REBOOT:
        ask_post(u, out);
        break;
    case LKS_NVOS_FETCHING:
    case LKS_NVOS_INSTALLING:
        lks_redfish_ask(&u->r, "GET", LKS_STR(LKS_NVOS_ACTION "/"), out);
        lks_http_escape(&out->path, lks_str_from(u->job));
        break;
    default:
        lks_redfish_ask(&u->r, "GET",
                        u->r.head.step == LKS_NVOS_LIST ? LKS_STR(LKS_NVOS_FIRMWARE)
                                                        : LKS_STR(LKS_NVOS_ACTION),
                        out);
        break;
    }
    return LKS_REDFISH_PATIENCE;
}
