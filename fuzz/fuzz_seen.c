/* Any text as the content of seen-head: what is taken has a row, and is of one of the two forms. */
#include "drivers/store/seen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    struct lks_seen seen = {.seq = 7};
    if (!lks_seen_parse(text, &seen)) {
        LKS_ASSERT(seen.seq == 7);
        return 0;
    }
    LKS_ASSERT(seen.seq <= INT64_MAX && seen.time <= INT64_MAX && (!seen.plain || seen.time == 0));
    return 0;
}
