/* Any bytes at all: what is accepted has its fields in order inside the input, and its texts,
 * written again as a board would with a checksum, read back as the same texts. */
#include "base/buf.h"
#include "codec/machine/vpd.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(const struct lks_vpd *vpd, struct lks_str input)
{
    struct lks_vpd_cursor cursor = {0};
    struct lks_vpd_field f;
    const char *end = input.ptr;
    while (lks_vpd_next(vpd, &cursor, &f)) {
        LKS_ASSERT(f.data.ptr >= end + 3 && f.data.len <= 255);
        end = f.data.ptr + f.data.len;
        LKS_ASSERT(end <= vpd->bytes.ptr + vpd->bytes.len && vpd->bytes.len < input.len);
    }
}

static void add_item(struct lks_buf *out, unsigned tag, struct lks_str data)
{
    lks_buf_addc(out, (char)tag);
    lks_buf_addc(out, (char)(data.len & 0xff));
    lks_buf_addc(out, (char)(data.len >> 8));
    lks_buf_add(out, data);
}

static void add_field(struct lks_buf *out, const char *keyword, struct lks_str data)
{
    lks_buf_add(out, lks_str_from(keyword));
    lks_buf_addc(out, (char)data.len);
    lks_buf_add(out, data);
}

static void rewrite(const struct lks_vpd *vpd, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fields = LKS_BUF(LKS_VPD_BYTES_MAX);
    add_field(&fields, "PN", vpd->part);
    add_field(&fields, "EC", vpd->revision);
    add_field(&fields, "SN", vpd->serial);
    add_field(&fields, "RV", LKS_STR("\0"));
    add_item(out, 0x82, vpd->product);
    add_item(out, 0x90, lks_buf_view(&fields));
    if (out->failed != LKS_OK)
        return;
    unsigned sum = 0;
    for (size_t i = 0; i < out->len; i++)
        sum += (unsigned char)out->ptr[i];
    out->ptr[out->len - 1] = (char)(0x100 - (sum & 0xff));
    lks_buf_addc(out, 0x78);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_VPD_BYTES_MAX);
    struct lks_str input = {(const char *)data, size};
    struct lks_vpd vpd, back;
    struct lks_err err = {0};
    if (lks_vpd_parse(input, &vpd, &err) != LKS_OK) {
        LKS_ASSERT(lks_str_starts(lks_str_from(err.msg), "product data: "));
        return 0;
    }
    check_fields(&vpd, input);
    rewrite(&vpd, &again);
    if (again.failed != LKS_OK)
        return 0; /* a product name that fills all there is */
    enum lks_code code = lks_vpd_parse(lks_buf_view(&again), &back, &err);
    LKS_ASSERT(code == LKS_OK && back.checksum_ok);
    LKS_ASSERT(lks_str_eq(vpd.product, back.product) && lks_str_eq(vpd.part, back.part));
    LKS_ASSERT(lks_str_eq(vpd.serial, back.serial) && lks_str_eq(vpd.revision, back.revision));
    return 0;
}
