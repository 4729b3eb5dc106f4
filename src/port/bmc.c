#include "port/bmc.h"

#include "codec/format/json.h"
#include "model/tuple/tuple.h"

#include <assert.h>
#include <stdio.h>

const char *const lks_bank_words[] = {"active", "staged", "backup", "golden", NULL};
static_assert(LKS_COUNT(lks_bank_words) == LKS_BANK_COUNT + 1, "a word for each");

void lks_bmc_inventory_init(struct lks_bmc_inventory *i)
{
    *i = (struct lks_bmc_inventory){0};
    lks_arena_init(&i->arena, LKS_BMC_MEMORY_MAX);
}

void lks_bmc_inventory_fini(struct lks_bmc_inventory *i)
{
    lks_arena_fini(&i->arena);
    *i = (struct lks_bmc_inventory){0};
}

/* As a tuple -------------------------------------------------------------------------------- */

/* What runs is identity; what lies in the other banks is told beside it. */
static const char *const prefixes[] = {
    [LKS_BANK_ACTIVE] = "firmware/",
    [LKS_BANK_STAGED] = "staged/",
    [LKS_BANK_BACKUP] = "backup/",
    [LKS_BANK_GOLDEN] = "golden/",
};

static void add_item(const struct lks_bmc_item *item, struct lks_tuple *out)
{
    char name[LKS_READING_NAME_MAX + 1];
    bool known = item->class.len > 0;
    snprintf(name, sizeof(name), "%s%.*s", prefixes[item->bank], known ? (int)item->class.len : 7,
             known ? item->class.ptr : "unknown");
    bool measured = item->version.len > 0;
    lks_tuple_add(out, &(struct lks_reading){
                           .name = lks_str_from(name),
                           /* An id may hold the version, and the name of a device may not. */
                           .of = item->of.len > 0 ? item->of : item->id,
                           .state = measured ? LKS_MEASURED : LKS_UNMEASURED,
                           .value = measured ? item->version : LKS_STR("it names no version"),
                           .evidence = item->uri,
                       });
}

/* What the service can do with the other bank: the rollback of a change depends on it. */
static void add_switch(const struct lks_bmc_item *item, struct lks_tuple *out)
{
    char name[LKS_READING_NAME_MAX + 1];
    if (!item->switches || item->class.len == 0)
        return;
    snprintf(name, sizeof(name), "switch/%" LKS_STR_FMT, LKS_STR_ARG(item->class));
    lks_tuple_add(out, &(struct lks_reading){.name = lks_str_from(name),
                                             .of = item->of.len > 0 ? item->of : item->id,
                                             .value = LKS_STR("offered"),
                                             .evidence = item->uri});
}

static void add_text(struct lks_tuple *out, const char *name, struct lks_str value)
{
    if (value.len > 0)
        lks_tuple_add(out, &(struct lks_reading){.name = lks_str_from(name),
                                                 .value = value,
                                                 .evidence = LKS_STR("/redfish/v1")});
}

void lks_bmc_inventory_tuple(const struct lks_bmc_inventory *i, struct lks_str node, int64_t taken,
                             struct lks_tuple *out)
{
    out->node = lks_arena_copy(&out->arena, node);
    out->taken = taken;
    for (size_t k = 0; k < i->count; k++)
        add_item(&i->items[k], out);
    for (size_t k = 0; k < i->count; k++)
        add_switch(&i->items[k], out);
    add_text(out, "endpoint.vendor", i->vendor);
    add_text(out, "endpoint.product", i->product);
    add_text(out, "endpoint.model", i->model);
    add_text(out, "endpoint.serial", i->serial);
}

/* As JSON ----------------------------------------------------------------------------------- */

static void told(struct lks_json_writer *w, const char *key, enum lks_bmc_told value)
{
    if (value != LKS_TOLD_NOT)
        lks_json_bool(w, key, value == LKS_TOLD_YES);
}

static void put_item(const struct lks_bmc_item *item, struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "id", item->id);
    lks_json_text(w, "uri", item->uri);
    lks_json_some(w, "name", item->name);
    lks_json_text(w, "class", item->class.len > 0 ? item->class : LKS_STR("unknown"));
    lks_json_some(w, "of", item->of);
    lks_json_cstr(w, "bank", lks_bank_words[item->bank]);
    lks_json_some(w, "version", item->version);
    told(w, "updateable", item->updateable);
    told(w, "write_protected", item->write_protected);
    if (item->switches)
        lks_json_bool(w, "switches", true);
    LKS_JSON_TEXTS(w, {"lowest", item->lowest}, {"software_id", item->software_id},
                   {"manufacturer", item->manufacturer}, {"released", item->released},
                   {"related", item->related}, {"health", item->health});
    lks_json_end(w, '}');
}

void lks_bmc_inventory_json(const struct lks_bmc_inventory *i, struct lks_json_writer *w)
{
    LKS_JSON_TEXTS(w, {"vendor", i->vendor}, {"product", i->product}, {"model", i->model},
                   {"serial", i->serial}, {"power", i->power});
    lks_json_int(w, "requests", i->requests);
    lks_json_int(w, "missing", i->missing);
    lks_json_begin(w, "notes", '[');
    for (struct lks_str rest = i->notes, line; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        lks_json_text(w, NULL, line);
    }
    lks_json_end(w, ']');
    lks_json_begin(w, "components", '[');
    for (size_t k = 0; k < i->count; k++)
        put_item(&i->items[k], w);
    lks_json_end(w, ']');
}
