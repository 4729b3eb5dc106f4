/* Reading a switch tray: PLATFORM says what it is, FIRMWARE lists all components in one answer. */
#include "drivers/bmc/nvos.h"

#include "core/firmware/firmware_names.h"
#include "drivers/bmc/bmc_version.h"

#include <stdio.h>

#define AGAIN (2 * LKS_SECOND)

enum { PLATFORM, FIRMWARE };

struct reading {
    struct lks_redfish r;
    const struct lks_facts *facts;
    struct lks_bmc_inventory *out;
};

void lks_nvos_begin(struct lks_redfish *r, const struct lks_bmc_secret *secret, lks_ms deadline)
{
    lks_redfish_begin(r, secret, deadline);
    r->has_root = r->basic = true;
    r->secret.token[0] = '\0';
    lks_redfish_keep(r->vendor, sizeof(r->vendor), LKS_STR("nvos"));
}

/* The first of several names that has a text. */
static struct lks_str text_of(const struct lks_doc *doc, const char *const *names)
{
    struct lks_str text = {"", 0};
    for (; *names != NULL && text.len == 0; names++)
        text = lks_bmc_json_text(doc, *names);
    return text;
}

void lks_nvos_entry(const struct lks_facts *facts, const struct lks_doc *doc,
                    struct lks_nvos_entry *out)
{
    static const char *const running[] = {"actual-firmware", "version", NULL};
    static const char *const next[] = {"installed-firmware", "pending-firmware", "next-firmware",
                                       NULL};
    struct lks_firmware_name name = lks_firmware_name(
        facts, &(struct lks_firmware_hint){.vendor = LKS_STR("nvos"), .id = doc->key});
    *out = (struct lks_nvos_entry){
        .id = doc->key,
        .version = lks_bmc_version_said(text_of(doc, running)),
        .staged = lks_bmc_version_said(text_of(doc, next)),
        .class = name.class,
        .of = name.of,
        .index = name.index,
        .part = lks_bmc_json_text(doc, "part-number"),
    };
}

/* Reading ----------------------------------------------------------------------------------- */

static bool add_item(struct reading *g, const struct lks_nvos_entry *e, enum lks_bmc_bank bank)
{
    struct lks_bmc_inventory *out = g->out;
    struct lks_arena *arena = &out->arena;
    struct lks_bmc_item *item = &out->items[out->count];
    struct lks_redfish_entry like = {.item = {.id = e->id}, .of = e->of, .index = e->index};
    char of[LKS_REDFISH_OF_SIZE];
    like.key = e->id;
    lks_redfish_entry_of(&like, of);
    *item = (struct lks_bmc_item){
        .id = lks_arena_copy(arena, e->id),
        .uri = lks_arena_format(arena, LKS_NVOS_FIRMWARE "/%" LKS_STR_FMT, LKS_STR_ARG(e->id)),
        .version = lks_arena_copy(arena, bank == LKS_BANK_ACTIVE ? e->version : e->staged),
        .class = lks_arena_copy(arena, e->class),
        .of = lks_arena_copy(arena, lks_str_from(of)),
        .software_id = lks_arena_copy(arena, e->part),
        .bank = bank,
    };
    out->count++;
    return item->id.ptr != NULL && item->uri.ptr != NULL && item->version.ptr != NULL &&
           item->class.ptr != NULL && item->of.ptr != NULL && item->software_id.ptr != NULL;
}

static void hear_firmware(struct reading *g, const struct lks_doc *doc)
{
    struct lks_bmc_inventory *out = g->out;
    size_t most = 2 * doc->count;
    out->items = lks_arena_array(&out->arena, most > 0 ? most : 1, sizeof(*out->items));
    bool room = out->items != NULL && most <= LKS_BMC_ITEMS_MAX;
    for (const struct lks_doc *one = doc->first; one != NULL && room; one = one->next) {
        struct lks_nvos_entry e;
        if (one->kind != LKS_DOC_MAP)
            continue;
        lks_nvos_entry(g->facts, one, &e);
        room = add_item(g, &e, LKS_BANK_ACTIVE);
        if (room && e.staged.len > 0)
            room = add_item(g, &e, LKS_BANK_STAGED);
    }
    out->room = most;
    out->requests = g->r.requests;
    if (!room)
        lks_conversation_fail(&g->r.head, LKS_E_LIMIT, "the inventory has more than %d entries",
                              LKS_BMC_ITEMS_MAX / 2);
    else
        lks_conversation_end(&g->r.head);
}

static void hear_platform(struct reading *g, const struct lks_doc *doc)
{
    static const char *const product[] = {"product-name", "platform", NULL};
    static const char *const model[] = {"product-model", "model", "part-number", NULL};
    static const char *const serial[] = {"serial-number", "system-serial", NULL};
    struct lks_arena *arena = &g->out->arena;
    g->out->vendor = LKS_STR("nvos");
    g->out->product = lks_arena_copy(arena, text_of(doc, product));
    g->out->model = lks_arena_copy(arena, text_of(doc, model));
    g->out->serial = lks_arena_copy(arena, text_of(doc, serial));
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct reading *g = value;
    lks_redfish_ask(
        &g->r, "GET",
        g->r.head.step == PLATFORM ? LKS_STR(LKS_NVOS_PLATFORM) : LKS_STR(LKS_NVOS_FIRMWARE), out);
    return LKS_REDFISH_PATIENCE;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct reading *g = value;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char why[LKS_REDFISH_TEXT_SIZE];
    g->r.requests++;
    if (lks_redfish_hear_common(&g->r, now, answer))
        return;
    if (answer == NULL || answer->status >= 500) {
        lks_conversation_retry(&g->r.head, now + (AGAIN << g->r.head.tries));
        return;
    }
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (g->r.head.step == PLATFORM) {
        hear_platform(g, doc);
        lks_conversation_go(&g->r.head, FIRMWARE, now);
    } else if (doc != NULL) {
        hear_firmware(g, doc);
    } else {
        lks_redfish_error(answer, why);
        lks_conversation_fail(&g->r.head, LKS_E_INVALID, "the firmware cannot be listed: %s", why);
    }
}

static const struct lks_conversation_ops read_ops = {
    .name = "nvos-read",
    .size = sizeof(struct reading),
    .ask = ask,
    .hear = hear,
    .hears_all = true,
};

static void read_begin(void *value, const struct lks_facts *facts,
                       const struct lks_bmc_secret *secret, lks_ms deadline,
                       struct lks_bmc_inventory *out)
{
    struct reading *g = value;
    *g = (struct reading){.facts = facts, .out = out};
    lks_nvos_begin(&g->r, secret, deadline);
}

/* There are no sessions. */
static const char *token(const void *value)
{
    (void)value;
    return "";
}

const struct lks_bmc_driver lks_bmc_nvos = {
    .name = "nvos",
    .read = &read_ops,
    .read_begin = read_begin,
    .update = &lks_nvos_update_ops,
    .update_begin = lks_nvos_update_begin,
    .update_status = lks_nvos_update_status,
    .token = token,
};
