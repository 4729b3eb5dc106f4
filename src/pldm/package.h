/*
 * PLDM firmware update packages (DMTF DSP0267, chapter 8), all four revisions of the header: read,
 * written, checked.
 *
 * A package is a header of 64 KiB at most and the images of its components behind it. The header is
 * read from the first bytes of the file; the images are never needed whole: the pass below takes
 * the file's bytes as they come and knows every digest and checksum at its end.
 *
 * Shipped packages deviate from the standard in ways that do no harm. A lenient reading accepts
 * those and lists each as a note; a strict one refuses the first. What is written is always strict,
 * and what was read strictly writes back to the same bytes.
 */
#ifndef LKS_PLDM_PACKAGE_H
#define LKS_PLDM_PACKAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/format/digest.h"

#define LKS_PLDM_HEADER_MAX   65535 /* its size is a field of 16 bits */
#define LKS_PLDM_REVISION_MAX 4
#define LKS_PLDM_NOTES_MAX    64 /* kept; more are counted */
#define LKS_PLDM_STAMP_NONE   UINT32_C(0xffffffff)

enum lks_pldm_string_type {
    LKS_PLDM_STRING_UNKNOWN,
    LKS_PLDM_STRING_ASCII,
    LKS_PLDM_STRING_UTF8,
    LKS_PLDM_STRING_UTF16, /* with a byte order mark */
    LKS_PLDM_STRING_UTF16LE,
    LKS_PLDM_STRING_UTF16BE,
    LKS_PLDM_STRING_TYPES
};

struct lks_pldm_string {
    uint8_t type;
    struct lks_str bytes; /* as stored: 255 at the most */
};

enum lks_pldm_descriptor_type {
    LKS_PLDM_PCI_VENDOR = 0x0000,
    LKS_PLDM_IANA = 0x0001,
    LKS_PLDM_UUID = 0x0002,
    LKS_PLDM_PNP_VENDOR = 0x0003,
    LKS_PLDM_ACPI_VENDOR = 0x0004,
    LKS_PLDM_IEEE_COMPANY = 0x0005,
    LKS_PLDM_SCSI_VENDOR = 0x0006,
    LKS_PLDM_PCI_DEVICE = 0x0100,
    LKS_PLDM_PCI_SUBVENDOR = 0x0101,
    LKS_PLDM_PCI_SUBSYSTEM = 0x0102,
    LKS_PLDM_PCI_REVISION = 0x0103,
    LKS_PLDM_PNP_PRODUCT = 0x0104,
    LKS_PLDM_ACPI_PRODUCT = 0x0105,
    LKS_PLDM_MODEL_LONG = 0x0106,
    LKS_PLDM_MODEL_SHORT = 0x0107,
    LKS_PLDM_SCSI_PRODUCT = 0x0108,
    LKS_PLDM_UBM_CONTROLLER = 0x0109,
    LKS_PLDM_EUI64 = 0x010a,
    LKS_PLDM_PCI_REVISIONS = 0x010b, /* a range: lowest, highest */
    LKS_PLDM_VENDOR_DEFINED = 0xffff,
};

/* What identifies a device: in a package, and in its own answer to QueryDeviceIdentifiers. */
struct lks_pldm_descriptor {
    uint16_t type;        /* also ones this list does not know */
    struct lks_str value; /* without type and length */
};

/* The value of a vendor-defined descriptor: a title and what it is. */
struct lks_pldm_vendor {
    struct lks_pldm_string title;
    struct lks_str data;
};

/* Bits of a record's options. */
enum {
    LKS_PLDM_DEVICE_CONTINUES = 1 << 0, /* the other components, after one failed */
    LKS_PLDM_DEVICE_STREAMS = 1 << 1,   /* it has no flash and boots from what is streamed */
    LKS_PLDM_DOWNSTREAM_STAMP = 1 << 0, /* a downstream record has a stamp */
};

/* Which devices a set of components is for. A device record and a downstream one have the same
 * shape. */
struct lks_pldm_record {
    uint32_t options;
    /* The version of the image set; in a downstream record the least version that can activate by
     * itself, which may be empty. */
    struct lks_pldm_string version;
    uint32_t stamp; /* downstream with LKS_PLDM_DOWNSTREAM_STAMP: of that least version */
    struct lks_pldm_descriptor *descriptors;
    size_t descriptor_count;
    uint16_t *components; /* indices of those that apply, ascending */
    size_t component_count;
    struct lks_str data;     /* the package data for the device */
    struct lks_str manifest; /* the reference manifest; revision 4 */
};

/* Bits of a component's options. */
enum {
    LKS_PLDM_COMPONENT_FORCE = 1 << 0,
    LKS_PLDM_COMPONENT_STAMP = 1 << 1, /* its stamp counts; without it LKS_PLDM_STAMP_NONE */
};

struct lks_pldm_component {
    uint16_t classification;
    uint16_t id;
    uint32_t stamp;
    uint16_t options;
    uint16_t activation; /* bits of the methods asked for */
    uint32_t offset;     /* of its image, from the beginning of the file */
    uint32_t size;
    struct lks_pldm_string version;
    struct lks_str opaque; /* revision 3 and later */
};

/* When it was released, as the header has it: nothing is lost, whatever the bytes mean. */
struct lks_pldm_time {
    int16_t utc_offset; /* minutes */
    uint32_t microsecond;
    uint8_t second, minute, hour, day, month;
    uint16_t year;
    uint8_t resolution;
};

/* One way in which a package was read more leniently than the standard allows. */
struct lks_pldm_note {
    struct lks_str text; /* one line: "component 2: classification 16 is reserved" */
};

struct lks_pldm_package {
    struct lks_arena arena; /* owns everything below when it was read; a builder may use it too, or
                               point to memory of its own */
    uint8_t revision;       /* 1 to 4 */
    uint8_t identifier;     /* the revision whose UUID it begins with; 0 when written: the same */
    uint16_t header_size;   /* checksums included */
    struct lks_pldm_time released;
    uint16_t bitmap_bits; /* of "applicable components"; a multiple of 8 */
    struct lks_pldm_string version;
    struct lks_pldm_record *devices;
    size_t device_count;
    struct lks_pldm_record *downstream; /* revision 2 and later */
    size_t downstream_count;
    struct lks_pldm_component *components;
    size_t component_count;
    uint32_t header_crc;
    uint32_t payload_crc; /* revision 4 */
    struct lks_pldm_note *notes;
    size_t note_count; /* listed */
    size_t more_notes; /* not listed */
};

void lks_pldm_package_fini(struct lks_pldm_package *p);

/* Whether a file that begins with `bytes` means to be a package: it has the UUID of one. */
bool lks_pldm_package_is(struct lks_str bytes);

/* Read the header of a file of `file_size` bytes that begins with `bytes`: LKS_PLDM_HEADER_MAX of
 * them, or the whole file, are enough. INVALID for what is no package; REFUSED when the header's
 * checksum is wrong. That of the payload is left to the pass. */
enum lks_code lks_pldm_package_parse(struct lks_str bytes, uint64_t file_size, bool strict,
                                     struct lks_pldm_package *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Where the last image ends, header included. */
uint64_t lks_pldm_package_end(const struct lks_pldm_package *p);

/* True when each descriptor of the record is also one of the device's: the record is for it. */
bool lks_pldm_package_record_matches(const struct lks_pldm_record *record,
                                     const struct lks_pldm_descriptor *device, size_t count);
/* Whether component `index` is for the record's devices. */
bool lks_pldm_package_record_applies(const struct lks_pldm_record *record, size_t index);

/* The title and data in a vendor-defined value; false: it is not built so. */
bool lks_pldm_package_vendor_split(struct lks_str value, struct lks_pldm_vendor *out);

/* The text as UTF-8 that prints as itself, in `a`; what does not is replaced by '?'. Its pointer is
 * NULL when the arena is full. */
struct lks_str lks_pldm_package_string_text(struct lks_pldm_string s, struct lks_arena *a);

/* Append a descriptor's value as people write it: "10de", "5703", a UUID, "SKU=A1"; hexadecimal
 * digits where nothing else is known. */
void lks_pldm_package_descriptor_text(const struct lks_pldm_descriptor *d, struct lks_buf *out);

/* How people call these: "pci-vendor" and "firmware" and "ac-power-cycle"; NULL: no name. And
 * back; false: none of that name. Activation is asked bit by bit. */
const char *lks_pldm_package_descriptor_name(uint16_t type);
bool lks_pldm_package_descriptor_find(struct lks_str name, uint16_t *type);
const char *lks_pldm_package_classification_name(uint16_t classification);
bool lks_pldm_package_classification_find(struct lks_str name, uint16_t *classification);
const char *lks_pldm_package_activation_name(unsigned bit);
bool lks_pldm_package_activation_find(struct lks_str name, unsigned *bit);

/* ---- Writing ---- */

/* Set what follows from the rest: the size of the header, the length of the bitmaps where it is 0,
 * and where each image lies: one after the other behind the header, in the order of the list. LIMIT
 * when the header would be larger than its own size field can say, or the file larger than an
 * offset can. */
enum lks_code lks_pldm_package_layout(struct lks_pldm_package *p,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* The images, asked for in order: set `out` to a view of the bytes of component `index` from `at`
 * on, as many as are at hand and at least one; it must stay until the next call. For revision 4,
 * whose checksum of all images stands before them, each is read twice. */
struct lks_pldm_source {
    enum lks_code (*read)(void *ctx, size_t index, uint32_t at, struct lks_str *out,
                          struct lks_err *err);
    void *ctx;
};
/* Where the package goes, in order. */
struct lks_pldm_sink {
    enum lks_code (*put)(void *ctx, struct lks_str bytes, struct lks_err *err);
    void *ctx;
};

/* Write all of a package that was laid out (or read strictly). Gaps between images are zeroes.
 * Nothing is put when the package breaks a rule of the standard. */
enum lks_code lks_pldm_package_write(const struct lks_pldm_package *p,
                                     const struct lks_pldm_source *source,
                                     const struct lks_pldm_sink *sink,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* The same from images in memory, `images[i]` of component i, into a buffer; lays it out first. */
enum lks_code lks_pldm_package_build(struct lks_pldm_package *p, const struct lks_str *images,
                                     struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Only the header, with `payload_crc` in it where the revision has one. */
enum lks_code lks_pldm_package_header(const struct lks_pldm_package *p, uint32_t payload_crc,
                                      struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* ---- One pass over a file ---- */

#define LKS_PLDM_SIGNED_DIGEST_BYTES 48 /* SHA-384 */

/* What a pass found. */
struct lks_pldm_sums {
    uint8_t whole[LKS_DIGEST_BYTES];
    uint8_t (*components)[LKS_DIGEST_BYTES];           /* in the pass, one for each component */
    uint32_t payload_crc;                              /* to the end of the file */
    uint32_t package_crc;                              /* the same without the trailer */
    uint8_t signed_part[LKS_PLDM_SIGNED_DIGEST_BYTES]; /* SHA-384; zeroes when not asked for */
    /* Bytes that belong to no image and are no padding (they are not zero): before the last image,
     * and behind it where they are not the trailer. */
    uint64_t loose, behind;
};

struct lks_pldm_pass_state;

struct lks_pldm_pass {
    struct lks_pldm_pass_state *state; /* owned */
};

struct lks_pldm_pass_options {
    uint64_t file_size;
    uint64_t trailer_size; /* bytes at the end that are not the package's; 0: none */
    uint64_t signed_size;  /* bytes from the beginning that a signature covers; 0: none */
};

/* `package` must stay until the pass is over. */
enum lks_code lks_pldm_package_pass_init(struct lks_pldm_pass *pass,
                                         const struct lks_pldm_package *package,
                                         const struct lks_pldm_pass_options *options,
                                         struct lks_err *err) LKS_MUST_CHECK;
void lks_pldm_package_pass_fini(struct lks_pldm_pass *pass);

/* The next bytes of the file, in any portions. */
enum lks_code lks_pldm_package_pass_feed(struct lks_pldm_pass *pass, struct lks_str bytes,
                                         struct lks_err *err) LKS_MUST_CHECK;
/* INVALID when fewer bytes were fed than the file was said to have. */
enum lks_code lks_pldm_package_pass_finish(struct lks_pldm_pass *pass, struct lks_pldm_sums *out,
                                           struct lks_err *err) LKS_MUST_CHECK;

/* REFUSED when the payload's checksum is neither form of what the pass found; always good for
 * revisions without one. */
enum lks_code lks_pldm_package_sums_check(const struct lks_pldm_package *p,
                                          const struct lks_pldm_sums *sums,
                                          struct lks_err *err) LKS_MUST_CHECK;

/* A file that is in memory: read its header and check its payload, in one call. */
enum lks_code lks_pldm_package_open(struct lks_str file, bool strict, struct lks_pldm_package *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

#endif
