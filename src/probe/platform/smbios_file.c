#include "probe/platform/smbios_file.h"

#define TABLE "smbios" /* of answers */

static enum lks_code ask_memory(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(LKS_SMBIOS_BYTES_MAX);
    struct lks_smbios_memory m = {0};
    if (lks_root_whole(ctx, LKS_SMBIOS_FILE, &table, err) != LKS_OK)
        return err->code;
    if (lks_smbios_memory(lks_buf_view(&table), &m, err) != LKS_OK)
        return lks_wrap(err, "%s", LKS_SMBIOS_FILE);
    lks_buf_addf(out, "%llu %u %u", (unsigned long long)m.bytes, m.modules, m.slots);
    return lks_buf_check(out, err);
}

static enum lks_code ask_bmc(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf table = LKS_BUF(LKS_SMBIOS_BYTES_MAX);
    bool has = false;
    if (lks_root_whole(ctx, LKS_SMBIOS_FILE, &table, err) != LKS_OK)
        return err->code;
    if (lks_smbios_has(lks_buf_view(&table), LKS_SMBIOS_IPMI_DEVICE, &has, err) != LKS_OK)
        return lks_wrap(err, "%s", LKS_SMBIOS_FILE);
    lks_buf_addf(out, "%s", has ? "yes" : "no");
    return lks_buf_check(out, err);
}

enum lks_code lks_smbios_file_memory(struct lks_root *root, struct lks_smbios_memory *out,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_ROOT_LINE_MAX);
    uint64_t n[3];
    if (lks_root_ask_file(root, TABLE, "memory", ask_memory, root, &answer, err) != LKS_OK)
        return err->code;
    struct lks_str rest = lks_buf_view(&answer), word;
    for (size_t i = 0; i < LKS_COUNT(n); i++) {
        uint64_t max = i == 0 ? UINT64_MAX : UINT32_MAX;
        if (!lks_str_word(&rest, &word) || !lks_str_number(word, max, &n[i]))
            return lks_fail(err, LKS_E_INVALID, "the recorded answer is damaged");
    }
    *out = (struct lks_smbios_memory){n[0], (unsigned)n[1], (unsigned)n[2]};
    return LKS_OK;
}

enum lks_code lks_smbios_file_has_bmc(struct lks_root *root, bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(LKS_ROOT_LINE_MAX);
    if (lks_root_ask_file(root, TABLE, "bmc", ask_bmc, root, &answer, err) != LKS_OK)
        return err->code;
    *out = lks_str_is(lks_buf_view(&answer), "yes");
    return LKS_OK;
}
