/* Any bytes at all: attributes lie in the input one after the other, and written again they are
 * found as they were. */
#include "codec/machine/nlattr.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(OUT_MAX);
    struct lks_str input = {(const char *)data, size}, rest = input;
    struct lks_nlattr attr, back;
    const char *end = input.ptr;
    while (lks_nlattr_next(&rest, &attr)) {
        LKS_ASSERT(attr.data.ptr >= end + 4);
        end = attr.data.ptr + attr.data.len;
        LKS_ASSERT(end <= input.ptr + input.len && rest.len < input.len);
        LKS_ASSERT(lks_nlattr_text(attr.data).len <= attr.data.len);
        lks_nlattr_add(&again, attr.type, attr.data);
    }
    if (again.failed != LKS_OK)
        return 0;
    struct lks_str twice = lks_buf_view(&again);
    for (rest = input; lks_nlattr_next(&rest, &attr);) {
        bool found = lks_nlattr_next(&twice, &back);
        LKS_ASSERT(found && attr.type == back.type && lks_str_eq(attr.data, back.data));
    }
    LKS_ASSERT(twice.len == 0);
    return 0;
}
