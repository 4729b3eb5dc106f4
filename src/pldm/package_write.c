#include "pldm/bytes.h"
#include "pldm/package_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PAD_BYTES = 4096 };

#define BUILD_MAX ((uint64_t)UINT32_MAX * 2) /* offset and size are 32 bits each */

/* Sizes -------------------------------------------------------------------------------------- */

static uint64_t record_size(const struct lks_pldm_package *p, const struct lks_pldm_record *r,
                            bool downstream)
{
    uint64_t size = LKS_PLDM_RECORD_FIXED + p->bitmap_bits / 8U;
    size += (uint64_t)r->version.bytes.len + r->data.len;
    if (p->revision >= 4)
        size += 4 + (uint64_t)r->manifest.len;
    if (downstream && (r->options & LKS_PLDM_DOWNSTREAM_STAMP) != 0)
        size += 4;
    for (size_t i = 0; i < r->descriptor_count; i++)
        size += 4 + (uint64_t)r->descriptors[i].value.len;
    return size;
}

static uint64_t header_size(const struct lks_pldm_package *p)
{
    uint64_t size = LKS_PLDM_HEADER_FIXED + (uint64_t)p->version.bytes.len + 1;
    for (size_t i = 0; i < p->device_count; i++)
        size += record_size(p, &p->devices[i], false);
    size += p->revision >= 2 ? 1 : 0;
    for (size_t i = 0; i < p->downstream_count; i++)
        size += record_size(p, &p->downstream[i], true);
    size += 2;
    for (size_t i = 0; i < p->component_count; i++) {
        size += LKS_PLDM_COMPONENT_FIXED + (uint64_t)p->components[i].version.bytes.len;
        size += p->revision >= 3 ? 4 + (uint64_t)p->components[i].opaque.len : 0;
    }
    return size + lks_pldm_package_checksum_bytes(p->revision);
}

static enum lks_code place_images(struct lks_pldm_package *p, struct lks_err *err)
{
    uint64_t at = p->header_size;
    for (size_t i = 0; i < p->component_count; i++) {
        if (at > UINT32_MAX)
            return lks_fail(err, LKS_E_LIMIT,
                            "component %zu would start at %" PRIu64
                            ", and an offset has 32 bits: build several packages",
                            i + 1, at);
        p->components[i].offset = (uint32_t)at;
        at += p->components[i].size;
    }
    return LKS_OK;
}

enum lks_code lks_pldm_package_layout(struct lks_pldm_package *p, struct lks_err *err)
{
    size_t bits = (p->component_count + 7) / 8 * 8;
    if (bits > UINT16_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%zu components are more than a header can list",
                        p->component_count);
    if (p->bitmap_bits == 0)
        p->bitmap_bits = (uint16_t)bits;
    uint64_t size = header_size(p);
    if (size > LKS_PLDM_HEADER_MAX)
        return lks_fail(err, LKS_E_LIMIT,
                        "the header would have %" PRIu64 " bytes, and its size field says %d at "
                        "most: shorten package data, manifests or opaque data",
                        size, LKS_PLDM_HEADER_MAX);
    p->header_size = (uint16_t)size;
    return place_images(p, err);
}

/* What the fields cannot say ----------------------------------------------------------------- */

static enum lks_code check_record(const struct lks_pldm_package *p, const struct lks_pldm_record *r,
                                  struct lks_err *err)
{
    if (r->descriptor_count > UINT8_MAX || r->version.bytes.len > UINT8_MAX ||
        r->data.len > UINT16_MAX)
        return lks_fail(err, LKS_E_LIMIT,
                        "a record has 255 descriptors, a version of 255 bytes and package data of "
                        "65535 bytes at most");
    if (p->revision < 4 && r->manifest.len > 0)
        return lks_fail(err, LKS_E_INVALID, "a reference manifest needs revision 4");
    for (size_t i = 0; i < r->descriptor_count; i++)
        if (r->descriptors[i].value.len > UINT16_MAX)
            return lks_fail(err, LKS_E_LIMIT, "a descriptor has 65535 bytes at most");
    for (size_t i = 1; i < r->component_count; i++)
        if (r->components[i] <= r->components[i - 1])
            return lks_fail(err, LKS_E_INVALID,
                            "the components of a record are listed once each, in order");
    return LKS_OK;
}

static enum lks_code check_records(const struct lks_pldm_package *p, struct lks_err *err)
{
    if (p->device_count > UINT8_MAX || p->downstream_count > UINT8_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a package has 255 records of a kind at most");
    if (p->revision < 2 && p->downstream_count > 0)
        return lks_fail(err, LKS_E_INVALID, "downstream devices need revision 2 or later");
    for (size_t i = 0; i < p->device_count; i++)
        if (check_record(p, &p->devices[i], err) != LKS_OK)
            return lks_wrap(err, "device %zu", i + 1);
    for (size_t i = 0; i < p->downstream_count; i++)
        if (check_record(p, &p->downstream[i], err) != LKS_OK)
            return lks_wrap(err, "downstream device %zu", i + 1);
    return LKS_OK;
}

static enum lks_code check_fields(const struct lks_pldm_package *p, struct lks_err *err)
{
    if (p->version.bytes.len > UINT8_MAX)
        return lks_fail(err, LKS_E_LIMIT, "the package version has 255 bytes at most");
    for (size_t i = 0; i < p->component_count; i++) {
        if (p->components[i].version.bytes.len > UINT8_MAX)
            return lks_fail(err, LKS_E_LIMIT, "component %zu: a version has 255 bytes at most",
                            i + 1);
        if (p->revision < 3 && p->components[i].opaque.len > 0)
            return lks_fail(err, LKS_E_INVALID,
                            "component %zu: opaque data needs revision 3 or later", i + 1);
    }
    if (header_size(p) != p->header_size)
        return lks_fail(err, LKS_E_INVALID,
                        "the header claims to have %u bytes and has %" PRIu64
                        ": lay the package out first",
                        p->header_size, header_size(p));
    return check_records(p, err);
}

/* Encoding ----------------------------------------------------------------------------------- */

static void put_time(struct lks_buf *out, const struct lks_pldm_time *t)
{
    lks_bytes_put_u16(out, (uint16_t)t->utc_offset);
    lks_bytes_put_number(out, t->microsecond, 3);
    lks_bytes_put_u8(out, t->second);
    lks_bytes_put_u8(out, t->minute);
    lks_bytes_put_u8(out, t->hour);
    lks_bytes_put_u8(out, t->day);
    lks_bytes_put_u8(out, t->month);
    lks_bytes_put_u16(out, t->year);
    lks_bytes_put_u8(out, t->resolution);
}

static void put_string_kind(struct lks_buf *out, struct lks_pldm_string s)
{
    lks_bytes_put_u8(out, s.type);
    lks_bytes_put_u8(out, (uint8_t)s.bytes.len);
}

static void put_bitmap(struct lks_buf *out, uint16_t bits, const struct lks_pldm_record *r)
{
    size_t next = 0;
    for (size_t byte = 0; byte < bits / 8U; byte++) {
        unsigned value = 0;
        for (; next < r->component_count && r->components[next] / 8U == byte; next++)
            value |= 1U << r->components[next] % 8;
        lks_bytes_put_u8(out, (uint8_t)value);
    }
}

static void put_record(struct lks_buf *out, const struct lks_pldm_package *p,
                       const struct lks_pldm_record *r, bool downstream)
{
    lks_bytes_put_u16(out, (uint16_t)record_size(p, r, downstream));
    lks_bytes_put_u8(out, (uint8_t)r->descriptor_count);
    lks_bytes_put_u32(out, r->options);
    put_string_kind(out, r->version);
    lks_bytes_put_u16(out, (uint16_t)r->data.len);
    if (p->revision >= 4)
        lks_bytes_put_u32(out, (uint32_t)r->manifest.len);
    put_bitmap(out, p->bitmap_bits, r);
    lks_buf_add(out, r->version.bytes);
    if (downstream && (r->options & LKS_PLDM_DOWNSTREAM_STAMP) != 0)
        lks_bytes_put_u32(out, r->stamp);
    for (size_t i = 0; i < r->descriptor_count; i++) {
        lks_bytes_put_u16(out, r->descriptors[i].type);
        lks_bytes_put_u16(out, (uint16_t)r->descriptors[i].value.len);
        lks_buf_add(out, r->descriptors[i].value);
    }
    lks_buf_add(out, r->data);
    lks_buf_add(out, r->manifest);
}

static void put_component(struct lks_buf *out, uint8_t revision, const struct lks_pldm_component *c)
{
    lks_bytes_put_u16(out, c->classification);
    lks_bytes_put_u16(out, c->id);
    lks_bytes_put_u32(out, c->stamp);
    lks_bytes_put_u16(out, c->options);
    lks_bytes_put_u16(out, c->activation);
    lks_bytes_put_u32(out, c->offset);
    lks_bytes_put_u32(out, c->size);
    put_string_kind(out, c->version);
    lks_buf_add(out, c->version.bytes);
    if (revision >= 3) {
        lks_bytes_put_u32(out, (uint32_t)c->opaque.len);
        lks_buf_add(out, c->opaque);
    }
}

static void put_header(struct lks_buf *out, const struct lks_pldm_package *p)
{
    lks_buf_add(out, (struct lks_str){(const char *)lks_pldm_identifiers[p->revision],
                                      LKS_PLDM_UUID_BYTES});
    lks_bytes_put_u8(out, p->revision);
    lks_bytes_put_u16(out, p->header_size);
    put_time(out, &p->released);
    lks_bytes_put_u16(out, p->bitmap_bits);
    put_string_kind(out, p->version);
    lks_buf_add(out, p->version.bytes);
    lks_bytes_put_u8(out, (uint8_t)p->device_count);
    for (size_t i = 0; i < p->device_count; i++)
        put_record(out, p, &p->devices[i], false);
    if (p->revision >= 2)
        lks_bytes_put_u8(out, (uint8_t)p->downstream_count);
    for (size_t i = 0; i < p->downstream_count; i++)
        put_record(out, p, &p->downstream[i], true);
    lks_bytes_put_u16(out, (uint16_t)p->component_count);
    for (size_t i = 0; i < p->component_count; i++)
        put_component(out, p->revision, &p->components[i]);
}

enum lks_code lks_pldm_package_header(const struct lks_pldm_package *p, uint32_t payload_crc,
                                      struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf header = LKS_BUF(LKS_PLDM_HEADER_MAX);
    struct lks_pldm_package judged = *p;
    struct lks_pldm_judge judge = {.err = err};
    if (judged.identifier == 0)
        judged.identifier = judged.revision;
    if (p->component_count > UINT16_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a package has 65535 components at most");
    if (check_fields(p, err) != LKS_OK ||
        lks_pldm_package_judge(&judged, BUILD_MAX, &judge) != LKS_OK)
        return err->code;
    put_header(&header, p);
    if (lks_buf_check(&header, err) != LKS_OK)
        return err->code;
    lks_bytes_put_u32(&header, lks_pldm_package_crc(0, lks_buf_view(&header)));
    if (p->revision >= 4)
        lks_bytes_put_u32(&header, payload_crc);
    if (lks_buf_check(&header, err) != LKS_OK)
        return err->code;
    LKS_ASSERT(header.len == p->header_size);
    lks_buf_add(out, lks_buf_view(&header));
    return lks_buf_check(out, err);
}

/* Images ------------------------------------------------------------------------------------- */

/* Everything behind the header, in order, to `sink`. */
struct payload {
    const struct lks_pldm_package *p;
    const struct lks_pldm_source *source;
    const struct lks_pldm_sink *sink; /* NULL: nowhere, only the checksum is wanted */
    uint64_t at;
    uint32_t crc;
};

static enum lks_code put_bytes(struct payload *w, struct lks_str bytes, struct lks_err *err)
{
    w->at += bytes.len;
    if (w->p->revision >= 4)
        w->crc = lks_pldm_package_crc(w->crc, bytes);
    return w->sink != NULL ? w->sink->put(w->sink->ctx, bytes, err) : LKS_OK;
}

static enum lks_code put_zeroes(struct payload *w, uint64_t to, struct lks_err *err)
{
    static const char zeroes[PAD_BYTES];
    while (w->at < to) {
        size_t n = to - w->at < PAD_BYTES ? (size_t)(to - w->at) : PAD_BYTES;
        if (put_bytes(w, (struct lks_str){zeroes, n}, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code put_image(struct payload *w, size_t index, struct lks_err *err)
{
    const struct lks_pldm_component *c = &w->p->components[index];
    for (uint32_t at = 0; at < c->size;) {
        struct lks_str bytes = {0};
        if (w->source->read(w->source->ctx, index, at, &bytes, err) != LKS_OK)
            return err->code;
        if (bytes.len == 0)
            return lks_fail(err, LKS_E_INVALID,
                            "component %zu ends after %" PRIu32 " of %" PRIu32 " bytes", index + 1,
                            at, c->size);
        if (bytes.len > c->size - at)
            bytes.len = c->size - at;
        if (put_bytes(w, bytes, err) != LKS_OK)
            return err->code;
        at += (uint32_t)bytes.len;
    }
    return LKS_OK;
}

static enum lks_code put_payload(struct payload *w, struct lks_err *err)
{
    uint16_t *order = lks_pldm_package_order(w->p);
    if (order == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = LKS_OK;
    w->at = w->p->header_size;
    for (size_t i = 0; code == LKS_OK && i < w->p->component_count; i++) {
        code = put_zeroes(w, w->p->components[order[i]].offset, err);
        if (code == LKS_OK)
            code = put_image(w, order[i], err);
    }
    free(order);
    return code;
}

enum lks_code lks_pldm_package_write(const struct lks_pldm_package *p,
                                     const struct lks_pldm_source *source,
                                     const struct lks_pldm_sink *sink, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf header = LKS_BUF(LKS_PLDM_HEADER_MAX);
    struct payload sum = {.p = p, .source = source};
    struct payload images = {.p = p, .source = source, .sink = sink};
    /* Once without, for the checks that come before the first byte of an image is asked for. */
    if (lks_pldm_package_header(p, 0, &header, err) != LKS_OK)
        return err->code;
    if (p->revision >= 4) {
        lks_buf_truncate(&header, 0);
        if (put_payload(&sum, err) != LKS_OK ||
            lks_pldm_package_header(p, sum.crc, &header, err) != LKS_OK)
            return err->code;
    }
    if (sink->put(sink->ctx, lks_buf_view(&header), err) != LKS_OK)
        return err->code;
    if (put_payload(&images, err) != LKS_OK)
        return err->code;
    if (images.crc != sum.crc)
        return lks_fail(err, LKS_E_INVALID, "an image changed while the package was written");
    return LKS_OK;
}

static enum lks_code image_at(void *ctx, size_t index, uint32_t at, struct lks_str *out,
                              struct lks_err *err)
{
    const struct lks_str *image = *(const struct lks_str *const *)ctx + index;
    (void)err;
    *out = (struct lks_str){image->ptr + at, image->len - at};
    return LKS_OK;
}

static enum lks_code add_bytes(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct lks_buf *out = ctx;
    lks_buf_add(out, bytes);
    return lks_buf_check(out, err);
}

enum lks_code lks_pldm_package_build(struct lks_pldm_package *p, const struct lks_str *images,
                                     struct lks_buf *out, struct lks_err *err)
{
    struct lks_pldm_source source = {.read = image_at, .ctx = &images};
    struct lks_pldm_sink sink = {.put = add_bytes, .ctx = out};
    for (size_t i = 0; i < p->component_count; i++) {
        if (images[i].len > UINT32_MAX)
            return lks_fail(err, LKS_E_LIMIT, "component %zu has more than 4 GiB", i + 1);
        p->components[i].size = (uint32_t)images[i].len;
    }
    if (lks_pldm_package_layout(p, err) != LKS_OK)
        return err->code;
    return lks_pldm_package_write(p, &source, &sink, err);
}
