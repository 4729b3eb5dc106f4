#include "codec/package/rpmheader.h"

#include <string.h>

enum {
    INTRO_SIZE = 8,  /* two counts */
    ENTRY_SIZE = 16, /* tag, type, offset, count */
    TYPE_INT32 = 4,
    TYPE_STRING = 6,
    TAG_NAME = 1000,
    TAG_VERSION = 1001,
    TAG_RELEASE = 1002,
    TAG_EPOCH = 1003,
    TAG_ARCH = 1022,
};

#define DATA_MAX ((uint32_t)256 << 20)

struct header {
    struct lks_str bytes;
    size_t entries;
    size_t data; /* where it begins */
    size_t whole;
};

struct entry {
    uint32_t tag, type, offset, count;
};

static uint32_t big32(struct lks_str s, size_t at)
{
    const unsigned char *b = (const unsigned char *)s.ptr + at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static enum lks_code too_short(bool *short_of, struct lks_err *err)
{
    *short_of = true;
    return lks_fail(err, LKS_E_INVALID, "the rpm header is cut off");
}

static enum lks_code read_intro(struct header *h, bool *short_of, struct lks_err *err)
{
    if (h->whole < INTRO_SIZE)
        return lks_fail(err, LKS_E_INVALID, "an rpm header of %zu bytes", h->whole);
    if (h->bytes.len < INTRO_SIZE)
        return too_short(short_of, err);
    uint32_t entries = big32(h->bytes, 0), data = big32(h->bytes, 4);
    if (entries > LKS_RPMHEADER_ENTRIES_MAX || data > DATA_MAX)
        return lks_fail(err, LKS_E_LIMIT, "an rpm header of %u entries and %u bytes", entries,
                        data);
    h->entries = entries;
    h->data = INTRO_SIZE + (size_t)entries * ENTRY_SIZE;
    if (h->whole - INTRO_SIZE != (size_t)entries * ENTRY_SIZE + data)
        return lks_fail(err, LKS_E_INVALID, "an rpm header of %zu bytes says it has %zu", h->whole,
                        h->data + data);
    return h->bytes.len < h->data ? too_short(short_of, err) : LKS_OK;
}

/* Text up to its zero byte, of the characters names and versions have. */
static enum lks_code read_text(const struct header *h, const struct entry *e, struct lks_str *out,
                               bool *short_of, struct lks_err *err)
{
    size_t at = h->data + e->offset;
    if (e->type != TYPE_STRING || e->count != 1 || at >= h->whole)
        return lks_fail(err, LKS_E_INVALID, "tag %u of the rpm header is no text", e->tag);
    for (size_t len = 0; len <= LKS_RPMHEADER_TEXT_MAX; len++) {
        if (at + len == h->whole)
            break;
        if (at + len >= h->bytes.len)
            return too_short(short_of, err);
        char c = h->bytes.ptr[at + len];
        if (c == '\0' && len > 0) {
            *out = (struct lks_str){h->bytes.ptr + at, len};
            return LKS_OK;
        }
        if (c <= ' ' || c > '~')
            break;
    }
    return lks_fail(err, LKS_E_INVALID, "tag %u of the rpm header is no name", e->tag);
}

static enum lks_code read_epoch(const struct header *h, const struct entry *e, int64_t *out,
                                bool *short_of, struct lks_err *err)
{
    size_t at = h->data + e->offset;
    if (e->type != TYPE_INT32 || e->count != 1 || at + 4 > h->whole)
        return lks_fail(err, LKS_E_INVALID, "the epoch of the rpm header is no number");
    if (at + 4 > h->bytes.len)
        return too_short(short_of, err);
    *out = big32(h->bytes, at);
    return LKS_OK;
}

static enum lks_code read_entry(const struct header *h, const struct entry *e,
                                struct lks_rpmheader *out, bool *short_of, struct lks_err *err)
{
    switch (e->tag) {
    case TAG_NAME:
        return read_text(h, e, &out->name, short_of, err);
    case TAG_VERSION:
        return read_text(h, e, &out->version, short_of, err);
    case TAG_RELEASE:
        return read_text(h, e, &out->release, short_of, err);
    case TAG_ARCH:
        return read_text(h, e, &out->arch, short_of, err);
    case TAG_EPOCH:
        return read_epoch(h, e, &out->epoch, short_of, err);
    default:
        return LKS_OK;
    }
}

enum lks_code lks_rpmheader_parse(struct lks_str bytes, size_t whole, struct lks_rpmheader *out,
                                  bool *short_of, struct lks_err *err)
{
    struct header h = {.bytes = bytes, .whole = whole};
    struct lks_rpmheader found = {.epoch = -1};
    *short_of = false;
    if (read_intro(&h, short_of, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < h.entries; i++) {
        size_t at = INTRO_SIZE + i * ENTRY_SIZE;
        struct entry e = {big32(bytes, at), big32(bytes, at + 4), big32(bytes, at + 8),
                          big32(bytes, at + 12)};
        if (read_entry(&h, &e, &found, short_of, err) != LKS_OK)
            return err->code;
    }
    if (found.name.len == 0 || found.version.len == 0 || found.release.len == 0)
        return lks_fail(err, LKS_E_INVALID, "an rpm header without name, version or release");
    *out = found;
    return LKS_OK;
}
