#include "pldm/package_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INITIAL_DESCRIPTOR_MAX = LKS_PLDM_SCSI_VENDOR,
    RESERVED_FROM = 0x000e, /* of the classifications */
    RESERVED_TO = 0x7fff,
    MINUTES_OF_A_DAY = 24 * 60,
};

/* How long values of known descriptors are. */
static const struct {
    uint16_t type, len;
} lengths[] = {
    {LKS_PLDM_PCI_VENDOR, 2},    {LKS_PLDM_IANA, 4},           {LKS_PLDM_UUID, 16},
    {LKS_PLDM_PNP_VENDOR, 3},    {LKS_PLDM_ACPI_VENDOR, 4},    {LKS_PLDM_IEEE_COMPANY, 3},
    {LKS_PLDM_SCSI_VENDOR, 8},   {LKS_PLDM_PCI_DEVICE, 2},     {LKS_PLDM_PCI_SUBVENDOR, 2},
    {LKS_PLDM_PCI_SUBSYSTEM, 2}, {LKS_PLDM_PCI_REVISION, 1},   {LKS_PLDM_PNP_PRODUCT, 4},
    {LKS_PLDM_ACPI_PRODUCT, 4},  {LKS_PLDM_MODEL_LONG, 40},    {LKS_PLDM_MODEL_SHORT, 10},
    {LKS_PLDM_SCSI_PRODUCT, 16}, {LKS_PLDM_UBM_CONTROLLER, 4}, {LKS_PLDM_EUI64, 8},
    {LKS_PLDM_PCI_REVISIONS, 2},
};

size_t lks_pldm_package_descriptor_len(uint16_t type)
{
    for (size_t i = 0; i < LKS_COUNT(lengths); i++)
        if (lengths[i].type == type)
            return lengths[i].len;
    return 0;
}

static enum lks_code take_note(struct lks_pldm_package *p, const char *text, struct lks_err *err)
{
    if (p->note_count == LKS_PLDM_NOTES_MAX) {
        p->more_notes++;
        return LKS_OK;
    }
    if (p->notes == NULL)
        p->notes = lks_arena_array(&p->arena, LKS_PLDM_NOTES_MAX, sizeof(*p->notes));
    struct lks_str copy = lks_arena_copy(&p->arena, lks_str_from(text));
    if (p->notes == NULL || copy.ptr == NULL)
        return lks_arena_fail(&p->arena, err);
    p->notes[p->note_count++].text = copy;
    return LKS_OK;
}

enum lks_code lks_pldm_package_deviates(const struct lks_pldm_judge *judge, const char *fmt, ...)
{
    char text[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return judge->notes != NULL ? take_note(judge->notes, text, judge->err)
                                : lks_fail(judge->err, LKS_E_INVALID, "%s", text);
}

/* Text --------------------------------------------------------------------------------------- */

static bool is_ascii(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] >= 0x80)
            return false;
    return true;
}

static bool content_fits(struct lks_pldm_string s)
{
    switch ((enum lks_pldm_string_type)s.type) {
    case LKS_PLDM_STRING_ASCII:
        return is_ascii(s.bytes);
    case LKS_PLDM_STRING_UTF8:
        return lks_str_utf8(s.bytes, NULL);
    case LKS_PLDM_STRING_UTF16:
    case LKS_PLDM_STRING_UTF16LE:
    case LKS_PLDM_STRING_UTF16BE:
        return s.bytes.len % 2 == 0;
    case LKS_PLDM_STRING_UNKNOWN:
    case LKS_PLDM_STRING_TYPES:
    default:
        return true;
    }
}

static const char *const type_names[] = {"unknown", "ASCII",    "UTF-8",
                                         "UTF-16",  "UTF-16LE", "UTF-16BE"};

/* `where` is a place such as "device 1: " and `what` the text's name. */
static enum lks_code check_string(const struct lks_pldm_judge *judge, struct lks_pldm_string s,
                                  const char *where, const char *what, bool may_be_empty)
{
    if (s.type >= LKS_PLDM_STRING_TYPES)
        return lks_fail(judge->err, LKS_E_INVALID, "%s%s: no string type %u (there are 1 to 5)",
                        where, what, s.type);
    if (s.type == LKS_PLDM_STRING_UNKNOWN &&
        lks_pldm_package_deviates(judge, "%s%s: the string type is 0, unknown", where, what) !=
            LKS_OK)
        return judge->err->code;
    if (s.bytes.len == 0 && !may_be_empty &&
        lks_pldm_package_deviates(judge, "%s%s: is empty", where, what) != LKS_OK)
        return judge->err->code;
    if (!content_fits(s))
        return lks_pldm_package_deviates(judge, "%s%s: is not the %s it says it is", where, what,
                                         type_names[s.type]);
    return LKS_OK;
}

/* Header ------------------------------------------------------------------------------------- */

static bool is_date(const struct lks_pldm_time *t)
{
    return t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= 31 && t->hour < 24 &&
           t->minute < 60 && t->second <= 60 && t->microsecond < 1000000 &&
           t->utc_offset > -MINUTES_OF_A_DAY && t->utc_offset < MINUTES_OF_A_DAY;
}

static enum lks_code check_header(const struct lks_pldm_package *p,
                                  const struct lks_pldm_judge *judge)
{
    struct lks_err *err = judge->err;
    if (p->revision == 0 || p->revision > LKS_PLDM_REVISION_MAX)
        return lks_fail(err, LKS_E_INVALID, "no header revision %u (there are 1 to 4)",
                        p->revision);
    if (p->identifier != p->revision &&
        lks_pldm_package_deviates(judge,
                                  "the UUID is that of revision %u, the header says it is %u",
                                  p->identifier, p->revision) != LKS_OK)
        return err->code;
    if (!is_date(&p->released) &&
        lks_pldm_package_deviates(judge, "the release date is none: %u-%u-%u %u:%u:%u",
                                  p->released.year, p->released.month, p->released.day,
                                  p->released.hour, p->released.minute,
                                  p->released.second) != LKS_OK)
        return err->code;
    if (check_string(judge, p->version, "", "package version", false) != LKS_OK)
        return err->code;
    if (p->component_count == 0)
        return lks_fail(err, LKS_E_INVALID, "there are no components in it");
    if (p->device_count == 0 && p->downstream_count == 0)
        return lks_fail(err, LKS_E_INVALID, "there are no device records in it");
    if (p->device_count == 0 &&
        lks_pldm_package_deviates(
            judge, "there are downstream records alone and no device record") != LKS_OK)
        return err->code;
    if (p->bitmap_bits == 0 || p->bitmap_bits % 8 != 0)
        return lks_fail(err, LKS_E_INVALID, "bitmaps of %u bits: not a multiple of 8",
                        p->bitmap_bits);
    if (p->bitmap_bits < p->component_count)
        return lks_pldm_package_deviates(judge,
                                         "bitmaps of %u bits are too short for %zu components",
                                         p->bitmap_bits, p->component_count);
    return LKS_OK;
}

/* Records ------------------------------------------------------------------------------------ */

static enum lks_code check_descriptor(const struct lks_pldm_judge *judge, const char *where,
                                      size_t index, const struct lks_pldm_descriptor *d)
{
    struct lks_pldm_vendor vendor;
    const char *name = lks_pldm_package_descriptor_name(d->type);
    if (index == 0 && d->type > INITIAL_DESCRIPTOR_MAX &&
        lks_pldm_package_deviates(judge,
                                  "%sthe first descriptor is of type 0x%04x, which names no vendor",
                                  where, d->type) != LKS_OK)
        return judge->err->code;
    if (d->type == LKS_PLDM_VENDOR_DEFINED && !lks_pldm_package_vendor_split(d->value, &vendor))
        return lks_pldm_package_deviates(
            judge, "%sdescriptor %zu (vendor) is not a title and something behind it", where,
            index + 1);
    size_t len = lks_pldm_package_descriptor_len(d->type);
    if (len != 0 && len != d->value.len)
        return lks_pldm_package_deviates(judge,
                                         "%sdescriptor %zu (%s) has %zu bytes instead of %zu",
                                         where, index + 1, name, d->value.len, len);
    return LKS_OK;
}

static enum lks_code check_record(const struct lks_pldm_package *p, const struct lks_pldm_record *r,
                                  bool downstream, const struct lks_pldm_judge *judge,
                                  const char *where)
{
    bool may_be_empty = downstream && (r->options & LKS_PLDM_DOWNSTREAM_STAMP) == 0;
    if (check_string(judge, r->version, where, downstream ? "least version" : "image set version",
                     may_be_empty) != LKS_OK)
        return judge->err->code;
    if (r->descriptor_count == 0)
        return lks_fail(judge->err, LKS_E_INVALID, "%sthere are no descriptors in it", where);
    for (size_t i = 0; i < r->descriptor_count; i++)
        if (check_descriptor(judge, where, i, &r->descriptors[i]) != LKS_OK)
            return judge->err->code;
    for (size_t i = 0; i < r->component_count; i++)
        if (r->components[i] >= p->component_count)
            return lks_pldm_package_deviates(judge, "%sthe bitmap names component %u of %zu", where,
                                             r->components[i] + 1U, p->component_count);
    return LKS_OK;
}

static enum lks_code check_records(const struct lks_pldm_package *p, bool downstream,
                                   const struct lks_pldm_judge *judge)
{
    size_t count = downstream ? p->downstream_count : p->device_count;
    const struct lks_pldm_record *records = downstream ? p->downstream : p->devices;
    char where[64];
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(where, sizeof(where),
                       "%s %zu: ", downstream ? "downstream device" : "device", i + 1);
        if (check_record(p, &records[i], downstream, judge, where) != LKS_OK)
            return judge->err->code;
    }
    return LKS_OK;
}

/* Components --------------------------------------------------------------------------------- */

static enum lks_code check_place(const struct lks_pldm_package *p,
                                 const struct lks_pldm_component *c, uint64_t file_size,
                                 const char *where, struct lks_err *err)
{
    if (c->size == 0)
        return lks_fail(err, LKS_E_INVALID, "%sits image is empty", where);
    if (c->offset < p->header_size)
        return lks_fail(err, LKS_E_INVALID,
                        "%sits image starts at %" PRIu32 ", within the header of %u bytes", where,
                        c->offset, p->header_size);
    if ((uint64_t)c->offset + c->size > file_size)
        return lks_fail(err, LKS_E_INVALID,
                        "%sits image ends at %" PRIu64 ", behind the end of the file at %" PRIu64,
                        where, (uint64_t)c->offset + c->size, file_size);
    return LKS_OK;
}

static enum lks_code check_component(const struct lks_pldm_package *p,
                                     const struct lks_pldm_component *c, uint64_t file_size,
                                     const char *where, const struct lks_pldm_judge *judge)
{
    bool reserved = c->classification >= RESERVED_FROM && c->classification <= RESERVED_TO;
    bool stamped = (c->options & LKS_PLDM_COMPONENT_STAMP) != 0;
    if (check_place(p, c, file_size, where, judge->err) != LKS_OK)
        return judge->err->code;
    if (reserved && lks_pldm_package_deviates(judge, "%sclassification %u is reserved", where,
                                              c->classification) != LKS_OK)
        return judge->err->code;
    if (!stamped && c->stamp != LKS_PLDM_STAMP_NONE &&
        lks_pldm_package_deviates(
            judge, "%shas the stamp 0x%08" PRIx32 " although its options say it has none", where,
            c->stamp) != LKS_OK)
        return judge->err->code;
    return check_string(judge, c->version, where, "version", false);
}

static int compare_places(const void *a, const void *b, void *ctx)
{
    const struct lks_pldm_component *const *components = ctx;
    uint16_t i = *(const uint16_t *)a, j = *(const uint16_t *)b;
    const struct lks_pldm_component *x = &(*components)[i], *y = &(*components)[j];
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (i > j) - (i < j);
}

uint16_t *lks_pldm_package_order(const struct lks_pldm_package *p)
{
    LKS_ASSERT(p->component_count <= UINT16_MAX);
    uint16_t *order = calloc(p->component_count + 1, sizeof(*order));
    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < p->component_count; i++)
        order[i] = (uint16_t)i;
    const struct lks_pldm_component *components = p->components;
    qsort_r(order, p->component_count, sizeof(*order), compare_places, &components);
    return order;
}

/* Images are one after the other; two may be the very same bytes. */
static enum lks_code check_overlap(const struct lks_pldm_package *p, const uint16_t *order,
                                   const struct lks_pldm_judge *judge)
{
    for (size_t i = 1; i < p->component_count; i++) {
        const struct lks_pldm_component *a = &p->components[order[i - 1]];
        const struct lks_pldm_component *b = &p->components[order[i]];
        if ((uint64_t)a->offset + a->size <= b->offset)
            continue;
        if (a->offset != b->offset || a->size != b->size)
            return lks_fail(judge->err, LKS_E_INVALID, "components %u and %u overlap",
                            order[i - 1] + 1U, order[i] + 1U);
        if (lks_pldm_package_deviates(judge, "components %u and %u share one image",
                                      order[i - 1] + 1U, order[i] + 1U) != LKS_OK)
            return judge->err->code;
    }
    return LKS_OK;
}

static enum lks_code check_components(const struct lks_pldm_package *p, uint64_t file_size,
                                      const struct lks_pldm_judge *judge)
{
    char where[64];
    for (size_t i = 0; i < p->component_count; i++) {
        (void)snprintf(where, sizeof(where), "component %zu: ", i + 1);
        if (check_component(p, &p->components[i], file_size, where, judge) != LKS_OK)
            return judge->err->code;
    }
    uint16_t *order = lks_pldm_package_order(p);
    if (order == NULL)
        return lks_fail_nomem(judge->err);
    enum lks_code code = check_overlap(p, order, judge);
    free(order);
    return code;
}

enum lks_code lks_pldm_package_judge(const struct lks_pldm_package *p, uint64_t file_size,
                                     const struct lks_pldm_judge *judge)
{
    if (check_header(p, judge) != LKS_OK || check_records(p, false, judge) != LKS_OK ||
        check_records(p, true, judge) != LKS_OK)
        return judge->err->code;
    return check_components(p, file_size, judge);
}
