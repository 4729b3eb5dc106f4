#include "codec/machine/vpd.h"

enum {
    LARGE = 0x80,          /* bit of the tag: two bytes of length follow */
    TAG_PRODUCT = 0x82,    /* large resource 0x02 */
    TAG_READ_ONLY = 0x90,  /* large resource 0x10 */
    TAG_READ_WRITE = 0x91, /* large resource 0x11 */
    SMALL_END = 0x0f,      /* item name of a small resource: tag bits 6 to 3 */
    FIELD_HEADER = 3,
};

static unsigned byte_at(struct lks_str s, size_t at)
{
    return (unsigned char)s.ptr[at];
}

/* One resource: its tag, its data, and where the next one begins. */
struct resource {
    unsigned tag;
    bool end;
    struct lks_str data;
    size_t next;
};

static enum lks_code read_resource(struct lks_str bytes, size_t at, struct resource *out,
                                   struct lks_err *err)
{
    if (at >= bytes.len)
        return lks_fail(err, LKS_E_INVALID, "product data: no end tag in %zu bytes", bytes.len);
    unsigned tag = byte_at(bytes, at);
    size_t header = 1, len = tag & 7;
    if ((tag & LARGE) != 0) {
        if (bytes.len - at < 3)
            return lks_fail(err, LKS_E_INVALID, "product data: cut off at byte %zu", at);
        header = 3;
        len = byte_at(bytes, at + 1) | byte_at(bytes, at + 2) << 8;
    }
    if (bytes.len - at - header < len)
        return lks_fail(err, LKS_E_INVALID, "product data: the item at byte %zu goes past the end",
                        at);
    *out = (struct resource){
        .tag = tag,
        .end = (tag & LARGE) == 0 && tag >> 3 == SMALL_END,
        .data = {bytes.ptr + at + header, len},
        .next = at + header + len,
    };
    return LKS_OK;
}

static bool is_fields(unsigned tag)
{
    return tag == TAG_READ_ONLY || tag == TAG_READ_WRITE;
}

/* Fields fill their section exactly. */
static enum lks_code check_fields(struct lks_str section, size_t where, struct lks_err *err)
{
    for (size_t at = 0; at < section.len;) {
        if (section.len - at < FIELD_HEADER ||
            section.len - at - FIELD_HEADER < byte_at(section, at + 2))
            return lks_fail(err, LKS_E_INVALID, "product data: the field at byte %zu is cut off",
                            where + at);
        at += FIELD_HEADER + byte_at(section, at + 2);
    }
    return LKS_OK;
}

static bool is_padding(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0' || (unsigned char)c == 0xff;
}

/* Boards pad texts with blanks, zeroes or 0xff. */
static struct lks_str trim(struct lks_str s)
{
    while (s.len > 0 && is_padding(s.ptr[s.len - 1]))
        s.len--;
    return lks_str_trim(s);
}

/* The first byte of RV makes all bytes up to and including it add up to zero. */
static bool sums_to_zero(struct lks_str bytes, const char *last)
{
    unsigned sum = 0;
    for (const char *at = bytes.ptr; at <= last; at++)
        sum += (unsigned char)*at;
    return (sum & 0xff) == 0;
}

static void take_field(struct lks_vpd *vpd, const struct lks_vpd_field *f)
{
    const struct {
        const char *keyword;
        struct lks_str *text;
    } texts[] = {{"PN", &vpd->part}, {"SN", &vpd->serial}, {"EC", &vpd->revision}};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (strcmp(f->keyword, texts[i].keyword) == 0 && texts[i].text->len == 0)
            *texts[i].text = trim(f->data);
    }
    if (strcmp(f->keyword, "RV") == 0 && f->data.len > 0 && !vpd->has_checksum) {
        vpd->has_checksum = true;
        vpd->checksum_ok = sums_to_zero(vpd->bytes, f->data.ptr);
    }
}

static bool blank(struct lks_str bytes)
{
    for (size_t i = 1; i < bytes.len; i++) {
        if (bytes.ptr[i] != bytes.ptr[0])
            return false;
    }
    return bytes.len == 0 || byte_at(bytes, 0) == 0 || byte_at(bytes, 0) == 0xff;
}

enum lks_code lks_vpd_parse(struct lks_str bytes, struct lks_vpd *out, struct lks_err *err)
{
    if (blank(bytes))
        return lks_fail(err, LKS_E_NOT_FOUND, "product data: the board has none");
    if (bytes.len > LKS_VPD_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "product data: more than %d bytes", LKS_VPD_BYTES_MAX);
    struct lks_vpd vpd = {.bytes = {bytes.ptr, 0}};
    for (;;) {
        struct resource r = {0};
        if (read_resource(bytes, vpd.bytes.len, &r, err) != LKS_OK)
            return err->code;
        if (r.end)
            break;
        if (is_fields(r.tag) && check_fields(r.data, r.next - r.data.len, err) != LKS_OK)
            return err->code;
        if (r.tag == TAG_PRODUCT && vpd.product.len == 0)
            vpd.product = trim(r.data);
        vpd.bytes.len = r.next;
    }
    struct lks_vpd_field field;
    struct lks_vpd_cursor cursor = {0};
    while (lks_vpd_next(&vpd, &cursor, &field)) {
        if (!field.writable)
            take_field(&vpd, &field);
    }
    *out = vpd;
    return LKS_OK;
}

bool lks_vpd_next(const struct lks_vpd *vpd, struct lks_vpd_cursor *cursor,
                  struct lks_vpd_field *out)
{
    while (cursor->at >= cursor->end) {
        struct resource r = {0};
        struct lks_err err;
        if (cursor->at >= vpd->bytes.len)
            return false;
        enum lks_code code = read_resource(vpd->bytes, cursor->at, &r, &err);
        LKS_ASSERT(code == LKS_OK); /* it was parsed */
        cursor->end = r.next;
        cursor->at = is_fields(r.tag) ? r.next - r.data.len : r.next;
        cursor->writable = r.tag == TAG_READ_WRITE;
    }
    const char *field = vpd->bytes.ptr + cursor->at;
    size_t len = byte_at(vpd->bytes, cursor->at + 2);
    *out = (struct lks_vpd_field){
        .keyword = {field[0], field[1], '\0'},
        .writable = cursor->writable,
        .data = {field + FIELD_HEADER, len},
    };
    cursor->at += FIELD_HEADER + len;
    return true;
}

bool lks_vpd_vendor_has(const struct lks_vpd *vpd, struct lks_str text)
{
    struct lks_vpd_field field;
    struct lks_vpd_cursor cursor = {0};
    while (lks_vpd_next(vpd, &cursor, &field)) {
        if (field.keyword[0] == 'V' && lks_str_find(field.data, text) >= 0)
            return true;
    }
    return false;
}
