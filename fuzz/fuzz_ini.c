/* Any bytes as a configuration of dnf: what a key is found to be is no longer than the text, and
 * written as the only line of its section it is found again. */
#include "codec/format/ini.h"

#include <stdint.h>

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(MEMORY_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MEMORY_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(MEMORY_MAX);
    if (!lks_ini_find((struct lks_str){(const char *)data, size}, "main", "exclude", &value)) {
        LKS_ASSERT(value.len == 0);
        return 0;
    }
    LKS_ASSERT(value.len < size);
    lks_buf_add(&text, LKS_STR("[main]\nexclude="));
    lks_buf_add(&text, lks_buf_view(&value));
    LKS_ASSERT(lks_ini_find(lks_buf_view(&text), "main", "exclude", &again));
    LKS_ASSERT(lks_str_eq(lks_buf_view(&value), lks_buf_view(&again)));
    return 0;
}
