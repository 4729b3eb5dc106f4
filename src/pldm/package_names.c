#include "pldm/package_parts.h"

#include "base/term/term.h"
#include "codec/format/hex.h"
#include "pldm/bytes.h"
#include "pldm/words.h"

static const struct lks_pldm_word descriptors[] = {
    {LKS_PLDM_PCI_VENDOR, "pci-vendor"},
    {LKS_PLDM_IANA, "iana-enterprise"},
    {LKS_PLDM_UUID, "uuid"},
    {LKS_PLDM_PNP_VENDOR, "pnp-vendor"},
    {LKS_PLDM_ACPI_VENDOR, "acpi-vendor"},
    {LKS_PLDM_IEEE_COMPANY, "ieee-company"},
    {LKS_PLDM_SCSI_VENDOR, "scsi-vendor"},
    {LKS_PLDM_PCI_DEVICE, "pci-device"},
    {LKS_PLDM_PCI_SUBVENDOR, "pci-subsystem-vendor"},
    {LKS_PLDM_PCI_SUBSYSTEM, "pci-subsystem"},
    {LKS_PLDM_PCI_REVISION, "pci-revision"},
    {LKS_PLDM_PNP_PRODUCT, "pnp-product"},
    {LKS_PLDM_ACPI_PRODUCT, "acpi-product"},
    {LKS_PLDM_MODEL_LONG, "model-long"},
    {LKS_PLDM_MODEL_SHORT, "model-short"},
    {LKS_PLDM_SCSI_PRODUCT, "scsi-product"},
    {LKS_PLDM_UBM_CONTROLLER, "ubm-controller"},
    {LKS_PLDM_EUI64, "eui-64"},
    {LKS_PLDM_PCI_REVISIONS, "pci-revision-range"},
    {LKS_PLDM_VENDOR_DEFINED, "vendor"},
};

static const struct lks_pldm_word classifications[] = {
    {0, "unknown"},
    {1, "other"},
    {2, "driver"},
    {3, "configuration-software"},
    {4, "application-software"},
    {5, "instrumentation"},
    {6, "firmware-or-bios"},
    {7, "diagnostic-software"},
    {8, "operating-system"},
    {9, "middleware"},
    {10, "firmware"},
    {11, "bios"},
    {12, "service-pack"},
    {13, "software-bundle"},
    {0xffff, "downstream-device"},
};

/* By bit. */
static const struct lks_pldm_word activations[] = {
    {0, "automatic"},
    {1, "self-contained"},
    {2, "medium-reset"},
    {3, "system-reboot"},
    {4, "dc-power-cycle"},
    {5, "ac-power-cycle"},
    {6, "activate-pending-image"},
    {7, "activate-pending-set"},
};

static bool find(const struct lks_pldm_word *words, size_t count, struct lks_str name,
                 uint16_t *value)
{
    for (size_t i = 0; i < count; i++)
        if (lks_str_is(name, words[i].text)) {
            *value = (uint16_t)words[i].value;
            return true;
        }
    return false;
}

const char *lks_pldm_package_descriptor_name(uint16_t type)
{
    return lks_words_text(descriptors, LKS_COUNT(descriptors), type, NULL);
}

bool lks_pldm_package_descriptor_find(struct lks_str name, uint16_t *type)
{
    return find(descriptors, LKS_COUNT(descriptors), name, type);
}

const char *lks_pldm_package_classification_name(uint16_t classification)
{
    return lks_words_text(classifications, LKS_COUNT(classifications), classification, NULL);
}

bool lks_pldm_package_classification_find(struct lks_str name, uint16_t *classification)
{
    return find(classifications, LKS_COUNT(classifications), name, classification);
}

const char *lks_pldm_package_activation_name(unsigned bit)
{
    return lks_words_text(activations, LKS_COUNT(activations), bit, NULL);
}

bool lks_pldm_package_activation_find(struct lks_str name, unsigned *bit)
{
    uint16_t found = 0;
    if (!find(activations, LKS_COUNT(activations), name, &found))
        return false;
    *bit = found;
    return true;
}

/* Which devices ------------------------------------------------------------------------------ */

static bool has_descriptor(const struct lks_pldm_descriptor *device, size_t count,
                           const struct lks_pldm_descriptor *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (device[i].type == wanted->type && lks_str_eq(device[i].value, wanted->value))
            return true;
    return false;
}

bool lks_pldm_package_record_matches(const struct lks_pldm_record *record,
                                     const struct lks_pldm_descriptor *device, size_t count)
{
    for (size_t i = 0; i < record->descriptor_count; i++)
        if (!has_descriptor(device, count, &record->descriptors[i]))
            return false;
    return record->descriptor_count > 0;
}

bool lks_pldm_package_record_applies(const struct lks_pldm_record *record, size_t index)
{
    for (size_t i = 0; i < record->component_count; i++)
        if (record->components[i] == index)
            return true;
    return false;
}

bool lks_pldm_package_vendor_split(struct lks_str value, struct lks_pldm_vendor *out)
{
    if (value.len < 2)
        return false;
    const uint8_t *bytes = (const uint8_t *)value.ptr;
    size_t title = bytes[1];
    if (title == 0 || value.len - 2 <= title)
        return false;
    *out = (struct lks_pldm_vendor){
        .title = {.type = bytes[0], .bytes = {value.ptr + 2, title}},
        .data = {value.ptr + 2 + title, value.len - 2 - title},
    };
    return true;
}

/* Text --------------------------------------------------------------------------------------- */

enum { SURROGATE_HIGH = 0xd800, SURROGATE_LOW = 0xdc00, SURROGATE_END = 0xe000, UTF8_MAX = 4 };

static uint32_t unit_at(struct lks_str s, size_t at, bool big)
{
    const uint8_t *b = (const uint8_t *)s.ptr + at;
    return big ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

/* The character at `at`, and the answer is its length in bytes; 0: there is none. */
static size_t utf16_rune(struct lks_str s, size_t at, bool big, uint32_t *point)
{
    if (s.len - at < 2)
        return 0;
    uint32_t unit = unit_at(s, at, big);
    if (unit < SURROGATE_HIGH || unit >= SURROGATE_END) {
        *point = unit;
        return 2;
    }
    if (unit >= SURROGATE_LOW || s.len - at < 4)
        return 0;
    uint32_t low = unit_at(s, at + 2, big);
    if (low < SURROGATE_LOW || low >= SURROGATE_END)
        return 0;
    *point = 0x10000 + ((unit - SURROGATE_HIGH) << 10) + (low - SURROGATE_LOW);
    return 4;
}

static size_t put_rune(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(leads[more] | point >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (point >> (6 * (more - i)) & 0x3f));
    return more + 1;
}

/* Skips a byte order mark and says what the order is. */
static bool is_big(struct lks_pldm_string *s)
{
    if (s->type != LKS_PLDM_STRING_UTF16)
        return s->type == LKS_PLDM_STRING_UTF16BE;
    if (s->bytes.len < 2 || unit_at(s->bytes, 0, true) == 0)
        return false;
    bool big = unit_at(s->bytes, 0, true) == 0xfeff;
    if (big || unit_at(s->bytes, 0, false) == 0xfeff)
        s->bytes = (struct lks_str){s->bytes.ptr + 2, s->bytes.len - 2};
    return big;
}

struct lks_str lks_pldm_package_string_text(struct lks_pldm_string s, struct lks_arena *a)
{
    bool wide = s.type >= LKS_PLDM_STRING_UTF16 && s.type <= LKS_PLDM_STRING_UTF16BE;
    bool big = wide && is_big(&s);
    /* A byte never becomes more than one and a half: 2 of UTF-16 become 3 at the most. */
    char *out = lks_arena_alloc(a, s.bytes.len * 2 + UTF8_MAX);
    size_t len = 0;
    if (out == NULL)
        return (struct lks_str){0};
    for (size_t at = 0; at < s.bytes.len;) {
        uint32_t point = 0;
        size_t took =
            wide ? utf16_rune(s.bytes, at, big, &point) : lks_str_rune(s.bytes, at, &point);
        bool good = took > 0 && lks_str_rune_printable(point);
        len += put_rune(out + len, good ? point : '?');
        at += took > 0 ? took : wide && s.bytes.len - at >= 2 ? 2 : 1;
    }
    return (struct lks_str){out, len};
}

/* Values of descriptors ---------------------------------------------------------------------- */

/* Of all others the bytes. */
static const struct {
    uint16_t type;
    enum lks_pldm_manner manner;
} manners[] = {
    {LKS_PLDM_PCI_VENDOR, LKS_PLDM_AS_HEX_NUMBER},
    {LKS_PLDM_PCI_DEVICE, LKS_PLDM_AS_HEX_NUMBER},
    {LKS_PLDM_PCI_SUBVENDOR, LKS_PLDM_AS_HEX_NUMBER},
    {LKS_PLDM_PCI_SUBSYSTEM, LKS_PLDM_AS_HEX_NUMBER},
    {LKS_PLDM_PCI_REVISION, LKS_PLDM_AS_HEX_NUMBER},
    {LKS_PLDM_IANA, LKS_PLDM_AS_NUMBER},
    {LKS_PLDM_UUID, LKS_PLDM_AS_UUID},
    {LKS_PLDM_PNP_VENDOR, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_ACPI_VENDOR, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_SCSI_VENDOR, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_PNP_PRODUCT, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_ACPI_PRODUCT, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_MODEL_LONG, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_MODEL_SHORT, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_SCSI_PRODUCT, LKS_PLDM_AS_TEXT},
    {LKS_PLDM_VENDOR_DEFINED, LKS_PLDM_AS_VENDOR},
};

enum lks_pldm_manner lks_pldm_package_manner(uint16_t type)
{
    for (size_t i = 0; i < LKS_COUNT(manners); i++)
        if (manners[i].type == type)
            return manners[i].manner;
    return LKS_PLDM_AS_BYTES;
}

static void add_hex(struct lks_buf *out, struct lks_str bytes)
{
    lks_hex_add(out, (const uint8_t *)bytes.ptr, bytes.len);
}

/* Text, or digits where it is not one. */
static void add_text(struct lks_buf *out, struct lks_str bytes)
{
    if (bytes.len > 0 && lks_str_printable(bytes))
        lks_buf_add(out, bytes);
    else
        add_hex(out, bytes);
}

static void add_uuid(struct lks_buf *out, struct lks_str bytes)
{
    static const size_t parts[] = {4, 2, 2, 2, 6};
    struct lks_bytes b = lks_bytes_of(bytes);
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        lks_buf_add(out, i > 0 ? LKS_STR("-") : LKS_STR(""));
        add_hex(out, lks_bytes_take(&b, parts[i]));
    }
}

static void add_vendor(struct lks_buf *out, struct lks_str value)
{
    struct lks_pldm_vendor v;
    if (!lks_pldm_package_vendor_split(value, &v)) {
        add_hex(out, value);
        return;
    }
    lks_term_clean(out, v.title.bytes);
    lks_buf_add(out, lks_str_printable(v.data) ? LKS_STR("=") : LKS_STR("=0x"));
    add_text(out, v.data);
}

void lks_pldm_package_descriptor_text(const struct lks_pldm_descriptor *d, struct lks_buf *out)
{
    size_t len = lks_pldm_package_descriptor_len(d->type);
    struct lks_bytes b = lks_bytes_of(d->value);
    enum lks_pldm_manner manner = lks_pldm_package_manner(d->type);
    if (len != 0 && d->value.len != len)
        manner = LKS_PLDM_AS_BYTES;
    switch (manner) {
    case LKS_PLDM_AS_HEX_NUMBER:
        lks_buf_addf(out, "%0*llx", (int)(2 * len),
                     (unsigned long long)lks_bytes_number(&b, (unsigned)len));
        return;
    case LKS_PLDM_AS_NUMBER:
        lks_buf_addf(out, "%llu", (unsigned long long)lks_bytes_number(&b, (unsigned)len));
        return;
    case LKS_PLDM_AS_UUID:
        add_uuid(out, d->value);
        return;
    case LKS_PLDM_AS_TEXT:
        add_text(out, d->value);
        return;
    case LKS_PLDM_AS_VENDOR:
        add_vendor(out, d->value);
        return;
    case LKS_PLDM_AS_BYTES:
    default:
        add_hex(out, d->value);
        return;
    }
}
