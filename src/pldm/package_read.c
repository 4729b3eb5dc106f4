#include "pldm/bytes.h"
#include "pldm/package_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* A header is 64 KiB; the worst it can ask for is bitmaps full of components. */
#define MEMORY_MAX ((size_t)8 << 20)

enum { COUNTS_BYTES = 3 }; /* of devices and of components, in the shortest header there is */

/* clang-format off */
const uint8_t lks_pldm_identifiers[LKS_PLDM_REVISION_MAX + 1][LKS_PLDM_UUID_BYTES] = {
    [1] = {0xf0, 0x18, 0x87, 0x8c, 0xcb, 0x7d, 0x49, 0x43,
           0x98, 0x00, 0xa0, 0x2f, 0x05, 0x9a, 0xca, 0x02},
    [2] = {0x12, 0x44, 0xd2, 0x64, 0x8d, 0x7d, 0x47, 0x18,
           0xa0, 0x30, 0xfc, 0x8a, 0x56, 0x58, 0x7d, 0x5a},
    [3] = {0x31, 0x19, 0xce, 0x2f, 0xe8, 0x0a, 0x4a, 0x99,
           0xaf, 0x6d, 0x46, 0xf8, 0xb1, 0x21, 0xf6, 0xbf},
    [4] = {0x7b, 0x29, 0x1c, 0x99, 0x6d, 0xb6, 0x42, 0x08,
           0x80, 0x1b, 0x02, 0x02, 0x6e, 0x46, 0x3c, 0x78},
};
/* clang-format on */

/* What is read: the header's copy in the package, and how far we are. */
struct reading {
    struct lks_bytes at;
    struct lks_pldm_package *p;
    struct lks_err *err;
};

void lks_pldm_package_fini(struct lks_pldm_package *p)
{
    lks_arena_fini(&p->arena);
    *p = (struct lks_pldm_package){0};
}

size_t lks_pldm_package_checksum_bytes(uint8_t revision)
{
    return revision >= 4 ? 2 * LKS_PLDM_CRC_BYTES : LKS_PLDM_CRC_BYTES;
}

/* The revision whose UUID these bytes begin with; 0: none. */
static uint8_t identify(struct lks_str bytes)
{
    for (uint8_t i = 1; i <= LKS_PLDM_REVISION_MAX; i++)
        if (bytes.len >= LKS_PLDM_UUID_BYTES &&
            memcmp(bytes.ptr, lks_pldm_identifiers[i], LKS_PLDM_UUID_BYTES) == 0)
            return i;
    return 0;
}

bool lks_pldm_package_is(struct lks_str bytes)
{
    return identify(bytes) != 0;
}

uint64_t lks_pldm_package_end(const struct lks_pldm_package *p)
{
    uint64_t end = p->header_size;
    for (size_t i = 0; i < p->component_count; i++) {
        uint64_t image = (uint64_t)p->components[i].offset + p->components[i].size;
        end = image > end ? image : end;
    }
    return end;
}

/* Parts -------------------------------------------------------------------------------------- */

static enum lks_code cut_off(struct reading *r, const char *where)
{
    return lks_fail(r->err, LKS_E_INVALID, "%s goes beyond the header of %u bytes", where,
                    r->p->header_size);
}

static void *make_array(struct reading *r, size_t count, size_t size)
{
    return lks_arena_array(&r->p->arena, count > 0 ? count : 1, size);
}

static struct lks_pldm_time take_time(struct lks_bytes *b)
{
    struct lks_pldm_time t;
    t.utc_offset = (int16_t)lks_bytes_u16(b);
    t.microsecond = (uint32_t)lks_bytes_number(b, 3);
    t.second = lks_bytes_u8(b);
    t.minute = lks_bytes_u8(b);
    t.hour = lks_bytes_u8(b);
    t.day = lks_bytes_u8(b);
    t.month = lks_bytes_u8(b);
    t.year = lks_bytes_u16(b);
    t.resolution = lks_bytes_u8(b);
    return t;
}

/* Behind UUID, revision and size. */
static enum lks_code read_fixed(struct reading *r)
{
    r->p->released = take_time(&r->at);
    r->p->bitmap_bits = lks_bytes_u16(&r->at);
    r->p->version.type = lks_bytes_u8(&r->at);
    uint8_t len = lks_bytes_u8(&r->at);
    r->p->version.bytes = lks_bytes_take(&r->at, len);
    return r->at.failed ? cut_off(r, "the package version") : LKS_OK;
}

static size_t count_bits(struct lks_str bitmap)
{
    size_t n = 0;
    for (size_t i = 0; i < bitmap.len * 8; i++)
        n += (unsigned char)bitmap.ptr[i / 8] >> i % 8 & 1;
    return n;
}

static enum lks_code read_bitmap(struct reading *r, struct lks_str bitmap,
                                 struct lks_pldm_record *out)
{
    out->components = make_array(r, count_bits(bitmap), sizeof(*out->components));
    if (out->components == NULL)
        return lks_arena_fail(&r->p->arena, r->err);
    for (size_t i = 0; i < bitmap.len * 8; i++)
        if (((unsigned char)bitmap.ptr[i / 8] >> i % 8 & 1) != 0)
            out->components[out->component_count++] = (uint16_t)i;
    return LKS_OK;
}

static enum lks_code read_descriptors(struct reading *r, struct lks_bytes *b, const char *where,
                                      struct lks_pldm_record *out)
{
    out->descriptors = make_array(r, out->descriptor_count, sizeof(*out->descriptors));
    if (out->descriptors == NULL)
        return lks_arena_fail(&r->p->arena, r->err);
    for (size_t i = 0; i < out->descriptor_count; i++) {
        out->descriptors[i].type = lks_bytes_u16(b);
        uint16_t len = lks_bytes_u16(b);
        out->descriptors[i].value = lks_bytes_take(b, len);
        if (b->failed)
            return lks_fail(r->err, LKS_E_INVALID, "%s: descriptor %zu goes beyond its record",
                            where, i + 1);
    }
    return LKS_OK;
}

/* All of one record, whose bytes without their length are in `b`. */
static enum lks_code read_fields(struct reading *r, struct lks_bytes *b, bool downstream,
                                 const char *where, struct lks_pldm_record *out)
{
    out->descriptor_count = lks_bytes_u8(b);
    out->options = lks_bytes_u32(b);
    out->version.type = lks_bytes_u8(b);
    uint8_t version_len = lks_bytes_u8(b);
    uint16_t data_len = lks_bytes_u16(b);
    uint32_t manifest_len = r->p->revision >= 4 ? lks_bytes_u32(b) : 0;
    struct lks_str bitmap = lks_bytes_take(b, r->p->bitmap_bits / 8U);
    out->version.bytes = lks_bytes_take(b, version_len);
    if (downstream && (out->options & LKS_PLDM_DOWNSTREAM_STAMP) != 0)
        out->stamp = lks_bytes_u32(b);
    if (b->failed)
        return lks_fail(r->err, LKS_E_INVALID, "%s: its length is too short for its fields", where);
    if (read_bitmap(r, bitmap, out) != LKS_OK || read_descriptors(r, b, where, out) != LKS_OK)
        return r->err->code;
    out->data = lks_bytes_take(b, data_len);
    out->manifest = lks_bytes_take(b, manifest_len);
    if (b->failed)
        return lks_fail(r->err, LKS_E_INVALID, "%s: its data goes beyond its record", where);
    if (b->rest.len > 0)
        return lks_fail(r->err, LKS_E_INVALID, "%s: its length is %zu bytes too long", where,
                        b->rest.len);
    return LKS_OK;
}

static enum lks_code read_record(struct reading *r, bool downstream, const char *where,
                                 struct lks_pldm_record *out)
{
    uint16_t len = lks_bytes_u16(&r->at);
    if (!r->at.failed && len < LKS_PLDM_RECORD_FIXED)
        return lks_fail(r->err, LKS_E_INVALID,
                        "%s: its length is %u bytes, too short for its fields", where, len);
    struct lks_bytes b = lks_bytes_of(lks_bytes_take(&r->at, r->at.failed ? 0 : len - 2U));
    if (r->at.failed)
        return cut_off(r, where);
    return read_fields(r, &b, downstream, where, out);
}

static enum lks_code read_records(struct reading *r, bool downstream)
{
    size_t count = lks_bytes_u8(&r->at);
    const char *what = downstream ? "downstream device" : "device";
    char where[64];
    if (r->at.failed)
        return cut_off(r, "the number of records");
    struct lks_pldm_record *records = make_array(r, count, sizeof(*records));
    if (records == NULL)
        return lks_arena_fail(&r->p->arena, r->err);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(where, sizeof(where), "%s %zu", what, i + 1);
        if (read_record(r, downstream, where, &records[i]) != LKS_OK)
            return r->err->code;
    }
    *(downstream ? &r->p->downstream : &r->p->devices) = records;
    *(downstream ? &r->p->downstream_count : &r->p->device_count) = count;
    return LKS_OK;
}

static void read_component(struct lks_bytes *b, uint8_t revision, struct lks_pldm_component *out)
{
    out->classification = lks_bytes_u16(b);
    out->id = lks_bytes_u16(b);
    out->stamp = lks_bytes_u32(b);
    out->options = lks_bytes_u16(b);
    out->activation = lks_bytes_u16(b);
    out->offset = lks_bytes_u32(b);
    out->size = lks_bytes_u32(b);
    out->version.type = lks_bytes_u8(b);
    uint8_t len = lks_bytes_u8(b);
    out->version.bytes = lks_bytes_take(b, len);
    uint32_t opaque = revision >= 3 ? lks_bytes_u32(b) : 0;
    out->opaque = lks_bytes_take(b, opaque);
}

static enum lks_code read_components(struct reading *r)
{
    size_t count = lks_bytes_u16(&r->at);
    char where[64];
    if (r->at.failed)
        return cut_off(r, "the number of components");
    if (count > r->at.rest.len / LKS_PLDM_COMPONENT_FIXED)
        return lks_fail(r->err, LKS_E_INVALID, "%zu components go beyond the header of %u bytes",
                        count, r->p->header_size);
    r->p->components = make_array(r, count, sizeof(*r->p->components));
    if (r->p->components == NULL)
        return lks_arena_fail(&r->p->arena, r->err);
    r->p->component_count = count;
    for (size_t i = 0; i < count; i++) {
        read_component(&r->at, r->p->revision, &r->p->components[i]);
        (void)snprintf(where, sizeof(where), "component %zu", i + 1);
        if (r->at.failed)
            return cut_off(r, where);
    }
    return LKS_OK;
}

/* The whole ---------------------------------------------------------------------------------- */

/* What must be known before anything else makes sense: which revision, how large. */
static enum lks_code read_beginning(struct lks_str bytes, uint64_t file_size,
                                    struct lks_pldm_package *p, struct lks_err *err)
{
    if (bytes.len < LKS_PLDM_HEADER_FIXED || file_size < LKS_PLDM_HEADER_FIXED)
        return lks_fail(err, LKS_E_INVALID, "%zu bytes are too few for a PLDM package", bytes.len);
    struct lks_bytes b = lks_bytes_of(bytes);
    p->identifier = identify(lks_bytes_take(&b, LKS_PLDM_UUID_BYTES));
    p->revision = lks_bytes_u8(&b);
    p->header_size = lks_bytes_u16(&b);
    if (p->identifier == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "does not start with the UUID of a PLDM firmware update package");
    if (p->revision == 0 || p->revision > LKS_PLDM_REVISION_MAX)
        return lks_fail(err, LKS_E_INVALID, "no header revision %u (there are 1 to 4)",
                        p->revision);
    if (p->header_size > file_size)
        return lks_fail(err, LKS_E_INVALID, "a header of %u bytes in a file of %" PRIu64,
                        p->header_size, file_size);
    if (p->header_size > bytes.len)
        return lks_fail(err, LKS_E_INVALID, "a header of %u bytes of which %zu are here",
                        p->header_size, bytes.len);
    if (p->header_size <
        LKS_PLDM_HEADER_FIXED + COUNTS_BYTES + lks_pldm_package_checksum_bytes(p->revision))
        return lks_fail(err, LKS_E_INVALID, "a header of %u bytes is too short", p->header_size);
    return LKS_OK;
}

/* The checksums at the end; `header` becomes what is in front of them. */
static enum lks_code check_crc(struct lks_pldm_package *p, struct lks_str *header,
                               struct lks_err *err)
{
    size_t len = header->len - lks_pldm_package_checksum_bytes(p->revision);
    struct lks_bytes b = lks_bytes_of((struct lks_str){header->ptr + len, header->len - len});
    header->len = len;
    p->header_crc = lks_bytes_u32(&b);
    p->payload_crc = p->revision >= 4 ? lks_bytes_u32(&b) : 0;
    uint32_t crc = lks_pldm_package_crc(0, *header);
    if (crc != p->header_crc)
        return lks_fail(err, LKS_E_REFUSED,
                        "the header's checksum says %08" PRIx32 ", its bytes give %08" PRIx32
                        ": damaged or changed",
                        p->header_crc, crc);
    return LKS_OK;
}

static enum lks_code read_all(struct reading *r)
{
    (void)lks_bytes_take(&r->at, LKS_PLDM_UUID_BYTES + 3);
    if (read_fixed(r) != LKS_OK || read_records(r, false) != LKS_OK ||
        (r->p->revision >= 2 && read_records(r, true) != LKS_OK) || read_components(r) != LKS_OK)
        return r->err->code;
    if (r->at.rest.len > 0)
        return lks_fail(r->err, LKS_E_INVALID,
                        "the header says %u bytes, of which %zu belong to nothing",
                        r->p->header_size, r->at.rest.len);
    return LKS_OK;
}

/* Bits beyond the components were noted; they are cleared for later readers. */
static void drop_beyond(struct lks_pldm_record *records, size_t count, size_t components)
{
    for (size_t i = 0; i < count; i++)
        while (records[i].component_count > 0 &&
               records[i].components[records[i].component_count - 1] >= components)
            records[i].component_count--;
}

enum lks_code lks_pldm_package_parse(struct lks_str bytes, uint64_t file_size, bool strict,
                                     struct lks_pldm_package *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    if (read_beginning(bytes, file_size, &p, err) != LKS_OK)
        return err->code;
    lks_arena_init(&p.arena, MEMORY_MAX);
    struct lks_str header = lks_arena_copy(&p.arena, (struct lks_str){bytes.ptr, p.header_size});
    if (header.ptr == NULL)
        return lks_arena_fail(&p.arena, err);
    if (check_crc(&p, &header, err) != LKS_OK)
        return err->code;
    struct reading r = {.at = lks_bytes_of(header), .p = &p, .err = err};
    struct lks_pldm_judge judge = {.notes = strict ? NULL : &p, .err = err};
    if (read_all(&r) != LKS_OK || lks_pldm_package_judge(&p, file_size, &judge) != LKS_OK)
        return err->code;
    drop_beyond(p.devices, p.device_count, p.component_count);
    drop_beyond(p.downstream, p.downstream_count, p.component_count);
    *out = LKS_MOVE(p);
    return LKS_OK;
}
