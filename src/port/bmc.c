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
    struct lks_str class = item->class.len > 0 ? item->class : LKS_STR("unknown");
    lks_json_write(w,
                   "{'id': '%.*s', 'uri': '%.*s', 'name'?: '%.*s', 'class': '%.*s', 'of'?: '%.*s', "
                   "'bank': '%s', 'version'?: '%.*s'",
                   LKS_STR_ARG(item->id), LKS_STR_ARG(item->uri), LKS_STR_ARG(item->name),
                   LKS_STR_ARG(class), LKS_STR_ARG(item->of), lks_bank_words[item->bank],
                   LKS_STR_ARG(item->version));
    told(w, "updateable", item->updateable);
    told(w, "write_protected", item->write_protected);
    lks_json_write(w,
                   "'switches'?: %s, 'lowest'?: '%.*s', 'software_id'?: '%.*s', "
                   "'manufacturer'?: '%.*s', 'released'?: '%.*s', 'related'?: '%.*s', "
                   "'health'?: '%.*s'}",
                   LKS_JSON_TRUTH(item->switches), LKS_STR_ARG(item->lowest),
                   LKS_STR_ARG(item->software_id), LKS_STR_ARG(item->manufacturer),
                   LKS_STR_ARG(item->released), LKS_STR_ARG(item->related),
                   LKS_STR_ARG(item->health));
}

void lks_bmc_inventory_json(const struct lks_bmc_inventory *i, struct lks_json_writer *w)
{
    lks_json_write(w,
                   "'vendor'?: '%.*s', 'product'?: '%.*s', 'model'?: '%.*s', 'serial'?: '%.*s', "
                   "'power'?: '%.*s', 'requests': %u, 'missing': %u, 'notes': [",
                   LKS_STR_ARG(i->vendor), LKS_STR_ARG(i->product), LKS_STR_ARG(i->model),
                   LKS_STR_ARG(i->serial), LKS_STR_ARG(i->power), i->requests, i->missing);
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
