#include "agent/reading/inventory.h"

#include "agent/state/boot.h"
#include "codec/format/hex.h"
#include "model/record/row.h"

#include <stdio.h>

#define FORMAT     "lockstep-reading-1"
#define HEADER_MAX 256

bool lks_inventory_digest(struct lks_str s, uint8_t *out)
{
    uint8_t bytes[LKS_HASH_BYTES];
    if (s.len != LKS_DIGEST_SIZE - 1 || !lks_str_starts(s, "sha256:") ||
        !lks_hex_read((struct lks_str){s.ptr + 7, s.len - 7}, bytes, sizeof(bytes)))
        return false;
    if (out != NULL)
        memcpy(out, bytes, sizeof(bytes));
    return true;
}

enum lks_code lks_inventory_parse(struct lks_str bytes, struct lks_inventory *out,
                                  struct lks_err *err)
{
    struct lks_str header, json, format, digest, steady;
    uint8_t boot[LKS_BOOT_BYTES];
    if (!lks_str_cut(bytes, '\n', &header, &json) || header.len > HEADER_MAX || json.len == 0 ||
        json.ptr[0] != '{')
        return lks_fail(err, LKS_E_INVALID, "the reading of the machine is not whole");
    lks_str_cut(header, ' ', &format, &header);
    lks_str_cut(header, ' ', &digest, &header);
    lks_str_cut(header, ' ', &steady, &header);
    if (!lks_str_is(format, FORMAT) || !lks_inventory_digest(digest, NULL) ||
        !lks_inventory_digest(steady, NULL) || !lks_boot_bytes(header, boot))
        return lks_fail(err, LKS_E_INVALID, "the reading of the machine has no proper beginning");
    struct lks_inventory found = {.json = json};
    snprintf(found.digest, sizeof(found.digest), "%" LKS_STR_FMT, LKS_STR_ARG(digest));
    snprintf(found.steady, sizeof(found.steady), "%" LKS_STR_FMT, LKS_STR_ARG(steady));
    snprintf(found.boot, sizeof(found.boot), "%" LKS_STR_FMT, LKS_STR_ARG(header));
    *out = found;
    return LKS_OK;
}
