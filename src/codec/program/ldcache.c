#include "codec/program/ldcache.h"

#include <string.h>

/* Offsets in the header and in an entry. */
enum {
    HEADER_COUNT = 20,
    HEADER_FLAGS = 28,
    HEADER_SIZE = 48,
    ENTRY_FLAGS = 0,
    ENTRY_NAME = 4,
    ENTRY_PATH = 8,
    ENTRY_FEATURES = 16,
    ENTRY_SIZE = 24,
    OLD_COUNT = 12,
    OLD_HEADER_SIZE = 16,
    OLD_ENTRY_SIZE = 12,
    ENDIAN_MASK = 3,
    ENDIAN_UNSET = 0,
    ENDIAN_LITTLE = 2,
};

/* The kind of library in the flags of an entry: glibc 2 in the low byte, the machine above it. */
enum {
    KIND_LIBC6 = 0x03,
    MACHINE_X86_64 = 0x0300,
    MACHINE_POWER64 = 0x0500,
    MACHINE_ARM64 = 0x0a00
};

static const char magic[] = "glibc-ld.so.cache1.1";
static const char old_magic[] = "ld.so-1.7.0";

static uint32_t word(struct lks_str bytes, size_t at)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The newer cache begins behind the entries of the older, at a multiple of 8. */
static bool skip_old(struct lks_str *bytes)
{
    if (bytes->len < OLD_HEADER_SIZE)
        return false;
    uint64_t end = OLD_HEADER_SIZE + (uint64_t)word(*bytes, OLD_COUNT) * OLD_ENTRY_SIZE;
    end = (end + 7) / 8 * 8;
    if (end > bytes->len)
        return false;
    bytes->ptr += end;
    bytes->len -= (size_t)end;
    return true;
}

enum lks_code lks_ldcache_open(struct lks_str bytes, struct lks_ldcache *out, struct lks_err *err)
{
    if (bytes.len > LKS_LDCACHE_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %zu bytes", LKS_LDCACHE_BYTES_MAX);
    if (lks_str_starts(bytes, old_magic) && !skip_old(&bytes))
        return lks_fail(err, LKS_E_INVALID, "cut off in its older part");
    if (!lks_str_starts(bytes, magic) || bytes.len < HEADER_SIZE)
        return lks_fail(err, LKS_E_INVALID, "not a cache of libraries as glibc writes it");
    int endian = bytes.ptr[HEADER_FLAGS] & ENDIAN_MASK;
    if (endian != ENDIAN_UNSET && endian != ENDIAN_LITTLE)
        return lks_fail(err, LKS_E_INVALID, "not little-endian");
    uint32_t count = word(bytes, HEADER_COUNT);
    if (count > LKS_LDCACHE_ENTRIES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d entries", LKS_LDCACHE_ENTRIES_MAX);
    if (HEADER_SIZE + (uint64_t)count * ENTRY_SIZE > bytes.len)
        return lks_fail(err, LKS_E_INVALID, "cut off in its entries");
    *out = (struct lks_ldcache){.bytes = bytes, .count = count};
    return LKS_OK;
}

static bool text_at(struct lks_str bytes, uint32_t at, struct lks_str *out)
{
    if (at >= bytes.len)
        return false;
    const char *start = bytes.ptr + at;
    const char *end = memchr(start, '\0', bytes.len - at);
    if (end == NULL)
        return false;
    *out = (struct lks_str){start, (size_t)(end - start)};
    return true;
}

static bool is_wide(uint32_t flags)
{
    uint32_t machine = flags & 0xff00;
    return (flags & 0xff) == KIND_LIBC6 &&
           (machine == MACHINE_X86_64 || machine == MACHINE_ARM64 || machine == MACHINE_POWER64);
}

enum lks_code lks_ldcache_next(struct lks_ldcache *cache, struct lks_ldcache_entry *out, bool *more,
                               struct lks_err *err)
{
    if (cache->at == cache->count) {
        *more = false;
        return LKS_OK;
    }
    size_t base = HEADER_SIZE + (size_t)cache->at * ENTRY_SIZE;
    struct lks_ldcache_entry entry = {
        .wide = is_wide(word(cache->bytes, base + ENTRY_FLAGS)),
        .special = (word(cache->bytes, base + ENTRY_FEATURES) |
                    word(cache->bytes, base + ENTRY_FEATURES + 4)) != 0,
    };
    if (!text_at(cache->bytes, word(cache->bytes, base + ENTRY_NAME), &entry.name) ||
        !text_at(cache->bytes, word(cache->bytes, base + ENTRY_PATH), &entry.path))
        return lks_fail(err, LKS_E_INVALID, "entry %u points outside the file", cache->at);
    cache->at++;
    *out = entry;
    *more = true;
    return LKS_OK;
}
