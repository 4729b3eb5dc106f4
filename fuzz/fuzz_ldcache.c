/* Any bytes as the loader's cache: it ends, after as many entries as it says, and each of them lies
 * within the bytes. */
#include "codec/program/ldcache.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct lks_str bytes, struct lks_str text)
{
    LKS_ASSERT(text.ptr >= bytes.ptr && text.len < bytes.len &&
               text.ptr + text.len < bytes.ptr + bytes.len);
    LKS_ASSERT(text.ptr[text.len] == '\0' && strlen(text.ptr) == text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str bytes = {(const char *)data, size};
    struct lks_ldcache cache;
    struct lks_ldcache_entry entry;
    struct lks_err err = {0};
    uint32_t seen = 0;
    bool more = true;
    if (lks_ldcache_open(bytes, &cache, &err) != LKS_OK) {
        LKS_ASSERT(err.msg[0] != '\0');
        return 0;
    }
    enum lks_code code = LKS_OK;
    while (code == LKS_OK && more) {
        code = lks_ldcache_next(&cache, &entry, &more, &err);
        if (code != LKS_OK || !more)
            continue;
        seen++;
        check_text(bytes, entry.name);
        check_text(bytes, entry.path);
    }
    LKS_ASSERT(code == LKS_OK ? seen == cache.count : seen < cache.count);
    return 0;
}
