/* Any bytes as an order: what is taken names files that lead nowhere, and is written as it was. */
#include "model/manifest/order.h"

#include "base/buf.h"
#include "model/manifest/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_ORDER_BYTES_MAX);
    struct lks_str bytes = {(const char *)data, size};
    struct lks_order order = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "fuzz", &err) != LKS_OK)
        return 0;
    if (lks_order_parse(bytes, "fuzz", &docs, &order, &err) != LKS_OK) {
        LKS_ASSERT(order.count == 0 && err.msg[0] != '\0');
        return 0;
    }
    LKS_ASSERT(order.kind < LKS_ORDER_KIND_COUNT && order.count > 0);
    for (size_t i = 0; i < order.count; i++) {
        const struct lks_order_item *item = &order.items[i];
        LKS_ASSERT(item->component.len > 0 && lks_str_printable(item->value));
        LKS_ASSERT(item->file.len == 0 || lks_bundle_file_name(item->file));
        LKS_ASSERT(item->digest.len == 0 || lks_digest_valid(item->digest));
    }
    LKS_ASSERT(lks_order_write(&order, &again, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), bytes));
    return 0;
}
