/* Any bytes at all: a range that is given lies within what it is a range of, and a part of a body
 * that is told is written back as the same text, but for zeroes before numbers. */
#include "codec/format/byterange.h"

#include "base/compiler.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ask(struct lks_str text, uint64_t size)
{
    struct lks_byterange range = {1, 1};
    enum lks_byterange_kind kind = lks_byterange_ask(text, size, &range);
    if (kind == LKS_BYTERANGE_ALL)
        LKS_ASSERT(range.from == 0 && range.len == size);
    if (kind == LKS_BYTERANGE_SOME)
        LKS_ASSERT(range.len > 0 && range.from < size && range.len <= size - range.from);
}

static void check_content(struct lks_str text, uint64_t max)
{
    struct lks_byterange range = {0}, again = {0};
    uint64_t size = 0, size_again = 0;
    char written[96];
    if (!lks_byterange_content(text, max, &range, &size))
        return;
    LKS_ASSERT(size <= max && range.len > 0 && range.from < size && range.len <= size - range.from);
    snprintf(written, sizeof(written), "bytes %llu-%llu/%llu", (unsigned long long)range.from,
             (unsigned long long)(range.from + range.len - 1), (unsigned long long)size);
    LKS_ASSERT(lks_byterange_content(lks_str_from(written), max, &again, &size_again));
    LKS_ASSERT(again.from == range.from && again.len == range.len && size_again == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 100, UINT64_MAX};
    struct lks_str text = {(const char *)data, size};
    for (size_t i = 0; i < LKS_COUNT(sizes); i++) {
        check_ask(text, sizes[i]);
        check_content(text, sizes[i]);
    }
    return 0;
}
