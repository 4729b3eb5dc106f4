#include "model/manifest/order.h"

#include "base/buf.h"
#include "codec/format/json.h"
#include "codec/notation/glob.h"
#include "model/manifest/bundle.h"

#include <stddef.h>

#define TEXT_MAX ((size_t)8 * 1024) /* of a component, a value or a name */

const char *const lks_order_words[] = {"apt", "dnf", "image", "settings", "firmware", "hook", NULL};

const char *const lks_order_settings[] = {
    "settings.clocks.graphics_mhz",
    "settings.clocks.locked",
    "settings.clocks.memory_mhz",
    "settings.compute_mode",
    "settings.ecc",
    "settings.kernel_cmdline",
    "settings.memory_mode",
    "settings.mig.mode",
    "settings.mig.profiles",
    "settings.persistence",
    "settings.power_limit_w",
    "settings.unattended_upgrades",
    "tuning.env.*",
    NULL,
};

bool lks_order_setting(struct lks_str path)
{
    for (size_t i = 0; lks_order_settings[i] != NULL; i++) {
        if (lks_glob_match(lks_str_from(lks_order_settings[i]), path))
            return true;
    }
    return false;
}

/* The texts of an item, in the order of canonical JSON. */
static const struct {
    const char *key;
    size_t offset;
    bool needed;
} members[] = {
    {"before", offsetof(struct lks_order_item, before), false},
    {"component", offsetof(struct lks_order_item, component), true},
    {"digest", offsetof(struct lks_order_item, digest), false},
    {"file", offsetof(struct lks_order_item, file), false},
    {"value", offsetof(struct lks_order_item, value), false},
};

static struct lks_str *member_of(struct lks_order_item *item, size_t i)
{
    return (struct lks_str *)(void *)((char *)item + members[i].offset);
}

static bool takes_hook(enum lks_order_kind kind)
{
    return kind == LKS_ORDER_HOOK || kind == LKS_ORDER_IMAGE;
}

/* What holds of every order, whichever program made it. */
static enum lks_code check_item(struct lks_order_item *item, size_t index, struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        struct lks_str text = *member_of(item, i);
        if (text.len > TEXT_MAX || !lks_str_printable(text) || (text.len == 0 && members[i].needed))
            return lks_fail(err, LKS_E_INVALID,
                            "items[%zu].%s: a printable text of %d to %zu bytes", index + 1,
                            members[i].key, members[i].needed, TEXT_MAX);
    }
    if (item->digest.len > 0 && !lks_digest_valid(item->digest))
        return lks_fail(err, LKS_E_INVALID, "items[%zu].digest: no digest", index + 1);
    if (item->file.len > 0 && !lks_bundle_file_name(item->file))
        return lks_fail(err, LKS_E_INVALID, "items[%zu].file: no name of a file", index + 1);
    if ((item->file.len > 0) != (item->digest.len > 0))
        return lks_fail(err, LKS_E_INVALID, "items[%zu]: a file has a name and a digest",
                        index + 1);
    return LKS_OK;
}

static enum lks_code check(const struct lks_order *order, struct lks_err *err)
{
    if (order->count == 0 || order->count > LKS_ORDER_ITEMS_MAX)
        return lks_fail(err, LKS_E_INVALID, "an order has 1 to %d items", LKS_ORDER_ITEMS_MAX);
    if (takes_hook(order->kind) ? !lks_schema_is_name(order->hook) : order->hook.len > 0)
        return lks_fail(err, LKS_E_INVALID, "hook: orders for image and hook name one, no others");
    if (order->stack.len > 0 && !lks_digest_valid(order->stack))
        return lks_fail(err, LKS_E_INVALID, "stack: no digest");
    for (size_t i = 0; i < order->count; i++) {
        if (check_item(&order->items[i], i, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static void write_item(struct lks_json_writer *w, struct lks_order_item *item)
{
    lks_json_begin(w, NULL, '{');
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        struct lks_str text = *member_of(item, i);
        if (text.len > 0)
            lks_json_text(w, members[i].key, text);
    }
    lks_json_end(w, '}');
}

static void put(const struct lks_order *order, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "executor", lks_order_words[order->kind]);
    lks_json_some(&w, "hook", order->hook);
    lks_json_begin(&w, "items", '[');
    for (size_t i = 0; i < order->count; i++)
        write_item(&w, &order->items[i]);
    lks_json_end(&w, ']');
    lks_json_int(&w, "lockstep", 1);
    lks_json_some(&w, "stack", order->stack);
    lks_json_end(&w, '}');
}

enum lks_code lks_order_write(const struct lks_order *order, struct lks_buf *out,
                              struct lks_err *err)
{
    LKS_ASSERT(order->kind < LKS_ORDER_KIND_COUNT);
    size_t before = out->len;
    if (check(order, err) != LKS_OK)
        return lks_wrap(err, "order");
    put(order, out);
    if (lks_buf_check(out, err) != LKS_OK)
        return err->code;
    if (out->len - before > LKS_ORDER_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "an order has at most %zu bytes", LKS_ORDER_BYTES_MAX);
    return LKS_OK;
}

/* Reading: what is there is taken, and whether it was all there was shows when it is written
 * again. */

static bool read_kind(struct lks_str word, enum lks_order_kind *out)
{
    for (size_t i = 0; i < LKS_ORDER_KIND_COUNT; i++) {
        if (lks_str_is(word, lks_order_words[i])) {
            *out = (enum lks_order_kind)i;
            return true;
        }
    }
    return false;
}

static enum lks_code read_items(const struct lks_doc *list, struct lks_docs *docs,
                                struct lks_order *order, struct lks_err *err)
{
    bool listed = list != NULL && list->kind == LKS_DOC_LIST;
    if (!listed || list->count == 0 || list->count > LKS_ORDER_ITEMS_MAX)
        return lks_fail(err, LKS_E_INVALID, "items: a list of 1 to %d", LKS_ORDER_ITEMS_MAX);
    order->items = lks_arena_array(&docs->arena, list->count, sizeof(*order->items));
    if (order->items == NULL)
        return lks_arena_fail(&docs->arena, err);
    for (const struct lks_doc *d = list->first; d != NULL; d = d->next) {
        struct lks_order_item *item = &order->items[order->count++];
        *item = (struct lks_order_item){0};
        for (size_t i = 0; i < LKS_COUNT(members); i++)
            *member_of(item, i) = lks_doc_text(d, members[i].key);
    }
    return LKS_OK;
}

static enum lks_code read_order(struct lks_str bytes, struct lks_docs *docs,
                                struct lks_order *order, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_ORDER_BYTES_MAX);
    const struct lks_doc *top = docs->first;
    if (!read_kind(lks_doc_text(top, "executor"), &order->kind))
        return lks_fail(err, LKS_E_INVALID, "executor: none that takes orders");
    order->hook = lks_doc_text(top, "hook");
    order->stack = lks_doc_text(top, "stack");
    if (read_items(lks_doc_member(top, "items"), docs, order, err) != LKS_OK ||
        check(order, err) != LKS_OK)
        return err->code;
    put(order, &again);
    if (lks_buf_check(&again, err) != LKS_OK)
        return err->code;
    if (!lks_str_eq(lks_buf_view(&again), bytes))
        return lks_fail(err, LKS_E_INVALID, "is not written as orders are");
    return LKS_OK;
}

enum lks_code lks_order_parse(struct lks_str bytes, const char *source, struct lks_docs *docs,
                              struct lks_order *out, struct lks_err *err)
{
    struct lks_order order = {0};
    if (bytes.len > LKS_ORDER_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: an order has at most %zu bytes", source,
                        LKS_ORDER_BYTES_MAX);
    if (lks_json_parse(bytes, docs, err) != LKS_OK)
        return err->code;
    if (read_order(bytes, docs, &order, err) != LKS_OK)
        return lks_wrap(err, "%s", source);
    *out = order;
    return LKS_OK;
}
