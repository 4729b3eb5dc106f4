/* Any line at all: a head that is taken is written as that very line. */
#include "model/record/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str line = {(const char *)data, size};
    struct lks_head head = {0};
    struct lks_err err = {0};
    if (lks_row_head_parse(line, &head, &err) != LKS_OK) {
        LKS_ASSERT(err.code == LKS_E_INVALID && head.seq == 0);
        return 0;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HEAD_TEXT_MAX);
    lks_row_head_text(&head, &text);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&text), line));
    return 0;
}
