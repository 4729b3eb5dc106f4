/* Any bytes as a notice to the agent: what is accepted prints to the same bytes. As the output of a
 * check they give one printable line that a notice can carry. */
#include "agent/hooks/notice.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bytes(struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_NOTICE_BYTES_MAX);
    struct lks_notice n = {0};
    struct lks_err err = {0};
    if (lks_notice_parse(bytes, &n, &err) != LKS_OK)
        return;
    LKS_ASSERT(lks_str_printable(lks_str_from(n.text)));
    LKS_ASSERT((n.kind == LKS_NOTICE_FAILED) == (n.text[0] != '\0'));
    LKS_ASSERT((n.kind == LKS_NOTICE_ENDED) == (n.job != 0));
    lks_notice_pack(&n, &again);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), bytes));
}

static void check_output(struct lks_str output)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_NOTICE_BYTES_MAX);
    struct lks_notice n = {.kind = LKS_NOTICE_FAILED}, back = {0};
    struct lks_err err = {0};
    lks_notice_line(output, n.text);
    LKS_ASSERT(lks_str_printable(lks_str_from(n.text)));
    if (n.text[0] == '\0')
        return;
    lks_notice_pack(&n, &bytes);
    LKS_ASSERT(lks_notice_parse(lks_buf_view(&bytes), &back, &err) == LKS_OK);
    LKS_ASSERT(strcmp(back.text, n.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str bytes = {size > 0 ? (const char *)data : "", size};
    check_bytes(bytes);
    check_output(bytes);
    return 0;
}
