/* Any bytes at all: what is taken as base64 is the only way to write what it holds, and whatever is
 * written is taken. */
#include "codec/format/base64.h"
#include "codec/format/hex.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void write_form(struct lks_buf *out, struct lks_str bytes);
typedef enum lks_code read_form(struct lks_str text, struct lks_buf *out, struct lks_err *err);

static void check_form(struct lks_str in, write_form *writes, read_form *reads)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, text = {0}, back = {0};
    lks_buf_init(&bytes, OUT_MAX);
    lks_buf_init(&text, OUT_MAX);
    lks_buf_init(&back, OUT_MAX);
    if (reads(in, &bytes, &err) == LKS_OK) {
        writes(&back, lks_buf_view(&bytes));
        LKS_ASSERT(lks_str_eq(lks_buf_view(&back), in));
        lks_buf_truncate(&back, 0);
    } else {
        LKS_ASSERT(bytes.len == 0);
    }
    writes(&text, in);
    LKS_ASSERT(reads(lks_buf_view(&text), &back, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&back), in));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str in = {(const char *)data, size};
    check_form(in, lks_base64_add, lks_base64_read);
    check_form(in, lks_base64_url_add, lks_base64_url_read);
    uint8_t bytes[32];
    if (lks_hex_read(in, bytes, sizeof(bytes))) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf hex = LKS_BUF(OUT_MAX);
        lks_hex_add(&hex, bytes, sizeof(bytes));
        LKS_ASSERT(lks_str_eq(lks_buf_view(&hex), in));
    }
    return 0;
}
