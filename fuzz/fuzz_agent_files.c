/* Any bytes as what the agent finds on its disk or hears from the reader and the helper: a report
 * that is accepted is the one that was written, and what was packed is unpacked. */
#include "agent/helper/wire.h"
#include "agent/reading/inventory.h"
#include "agent/state/boot.h"
#include "agent/state/spool.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_packed(enum lks_spool_kind kind, struct lks_str body)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf bytes = LKS_BUF(LKS_SPOOL_BODY_MAX + LKS_SPOOL_HEADER_MAX);
    enum lks_spool_kind back_kind = LKS_SPOOL_KIND_COUNT;
    struct lks_str back = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_spool_pack(kind, body, &bytes, &err) == LKS_OK);
    LKS_ASSERT(lks_spool_unpack(lks_buf_view(&bytes), &back_kind, &back, &err) == LKS_OK);
    LKS_ASSERT(back_kind == kind && lks_str_eq(back, body));
    /* Any byte that changes is noticed. */
    size_t at = body.len > 0 ? bytes.len - 1 : 0;
    bytes.ptr[at] ^= 1;
    LKS_ASSERT(lks_spool_unpack(lks_buf_view(&bytes), &back_kind, &back, &err) != LKS_OK);
}

static void try_spool(struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf again = LKS_BUF(LKS_SPOOL_BODY_MAX + LKS_SPOOL_HEADER_MAX);
    enum lks_spool_kind kind = LKS_SPOOL_TUPLE;
    struct lks_str body = {0};
    struct lks_err err = {0};
    if (text.len <= LKS_SPOOL_BODY_MAX)
        check_packed(LKS_SPOOL_RESULT, text);
    if (lks_spool_unpack(text, &kind, &body, &err) != LKS_OK)
        return;
    LKS_ASSERT(lks_spool_pack(kind, body, &again, &err) == LKS_OK);
}

static void try_wire(struct lks_str text)
{
    struct lks_str content = {0}, rest = {0};
    enum lks_outcome outcome = LKS_OUTCOME_COUNT;
    struct lks_err err = {0};
    bool whole = false;
    if (lks_wire_whole(text, LKS_WIRE_QUESTION_MAX, &whole, &content, &err) == LKS_OK && whole)
        LKS_ASSERT(content.len + LKS_WIRE_LENGTH == text.len);
    if (lks_wire_answer(text, &outcome, &rest, &err) == LKS_OK)
        LKS_ASSERT(outcome < LKS_OUTCOME_COUNT && rest.len < text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    struct lks_inventory found = {0};
    struct lks_err err = {0};
    uint8_t boot[LKS_BOOT_BYTES];
    if (lks_inventory_parse(text, &found, &err) == LKS_OK)
        LKS_ASSERT(lks_inventory_digest(lks_str_from(found.steady), NULL) &&
                   lks_boot_bytes(lks_str_from(found.boot), boot) && found.json.len < text.len);
    try_spool(text);
    try_wire(text);
    return 0;
}
