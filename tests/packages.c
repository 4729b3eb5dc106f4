#include "tests/packages.h"

#include "pldm/bytes.h"
#include "tests/test.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#define MEMORY_MAX ((size_t)4 << 20)

enum { HEADER_SIZE_AT = 17, REVISION_AT = 16, ANY_MAX = 6 };

static void *room(struct lks_test_package *t, size_t count, size_t size)
{
    void *made = lks_arena_array(&t->package.arena, count + 1, size);
    LKS_ASSERT(made != NULL);
    return made;
}

static struct lks_str keep(struct lks_test_package *t, struct lks_str s)
{
    struct lks_str copy = lks_arena_copy(&t->package.arena, s);
    LKS_ASSERT(copy.ptr != NULL);
    return copy;
}

static struct lks_pldm_string ascii(const char *text)
{
    return (struct lks_pldm_string){LKS_PLDM_STRING_ASCII, lks_str_from(text)};
}

static void begin(struct lks_test_package *t, uint8_t revision, size_t devices, size_t downstream,
                  size_t components)
{
    *t = (struct lks_test_package){.package = {.revision = revision}};
    lks_arena_init(&t->package.arena, MEMORY_MAX);
    t->package.device_count = devices;
    t->package.devices = room(t, devices, sizeof(*t->package.devices));
    t->package.downstream_count = downstream;
    t->package.downstream = room(t, downstream, sizeof(*t->package.downstream));
    t->package.component_count = components;
    t->package.components = room(t, components, sizeof(*t->package.components));
}

/* The sample --------------------------------------------------------------------------------- */

static void sample_record(struct lks_test_package *t, struct lks_pldm_record *r,
                          const struct lks_pldm_descriptor *descriptors, size_t descriptor_count,
                          unsigned components)
{
    r->descriptor_count = descriptor_count;
    r->descriptors = room(t, descriptor_count, sizeof(*r->descriptors));
    memcpy(r->descriptors, descriptors, descriptor_count * sizeof(*descriptors));
    r->components = room(t, 2, sizeof(*r->components));
    for (uint16_t i = 0; i < 2; i++)
        if ((components >> i & 1) != 0)
            r->components[r->component_count++] = i;
}

static void sample_devices(struct lks_test_package *t)
{
    static const struct lks_pldm_descriptor pci[] = {
        {LKS_PLDM_PCI_VENDOR, LKS_STR_C("\xde\x10")},
        {LKS_PLDM_PCI_DEVICE, LKS_STR_C("\x30\x23")},
    };
    static const struct lks_pldm_descriptor named[] = {
        {LKS_PLDM_IANA, LKS_STR_C("\x47\x16\x00\x00")},
        {LKS_PLDM_VENDOR_DEFINED, LKS_STR_C("\x01\x03SKUA1")},
    };
    static const struct lks_pldm_descriptor uuid[] = {
        {LKS_PLDM_UUID,
         LKS_STR_C("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f")},
    };
    struct lks_pldm_record *d = t->package.devices;
    sample_record(t, &d[0], pci, LKS_COUNT(pci), 3);
    d[0].options = LKS_PLDM_DEVICE_CONTINUES;
    d[0].version = ascii("set-1");
    d[0].data = LKS_STR("data");
    if (t->package.revision >= 4)
        d[0].manifest = LKS_STR("\x01\x04"
                                "ACMEmanifest");
    sample_record(t, &d[1], named, LKS_COUNT(named), 2);
    d[1].version = ascii("set-2");
    if (t->package.revision < 2)
        return;
    sample_record(t, &t->package.downstream[0], uuid, LKS_COUNT(uuid), 2);
    t->package.downstream[0].options = LKS_PLDM_DOWNSTREAM_STAMP;
    t->package.downstream[0].stamp = 0x01020304;
    t->package.downstream[0].version = ascii("0.9");
}

struct lks_test_package lks_test_package_sample(uint8_t revision)
{
    struct lks_test_package t;
    begin(&t, revision, 2, revision >= 2 ? 1 : 0, 2);
    t.package.version = ascii("pkg-1.0");
    t.package.released = (struct lks_pldm_time){
        .utc_offset = 60,
        .microsecond = 123456,
        .second = 30,
        .minute = 45,
        .hour = 8,
        .day = 15,
        .month = 11,
        .year = 2026,
    };
    sample_devices(&t);
    t.package.components[0] = (struct lks_pldm_component){
        .classification = 10,
        .id = 1,
        .stamp = 0x00010000,
        .options = LKS_PLDM_COMPONENT_STAMP,
        .activation = 1 << 5,
        .version = ascii("1.2.3"),
        .opaque = revision >= 3 ? LKS_STR("opq") : LKS_STR(""),
    };
    t.package.components[1] = (struct lks_pldm_component){
        .classification = 0x8001,
        .id = 2,
        .stamp = LKS_PLDM_STAMP_NONE,
        .activation = 1 << 3,
        .version = ascii("2.0"),
    };
    t.images[0] = LKS_STR("first image");
    t.images[1] = LKS_STR("second");
    return t;
}

void lks_test_package_sample_file(uint8_t revision, struct lks_buf *out)
{
    struct lks_test_package t = lks_test_package_sample(revision);
    lks_test_package_file(&t, out);
    lks_pldm_package_fini(&t.package);
}

void lks_test_package_file(struct lks_test_package *t, struct lks_buf *out)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_pldm_package_build(&t->package, t->images, out, &err), LKS_OK))
        lks_test_case("%s", err.msg);
}

/* Any ---------------------------------------------------------------------------------------- */

static struct lks_str any_bytes(struct lks_test_package *t, struct lks_rng *rng, size_t len)
{
    char *bytes = room(t, len, 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)lks_rng_below(rng, 256);
    return (struct lks_str){bytes, len};
}

static struct lks_pldm_string any_string(struct lks_test_package *t, struct lks_rng *rng)
{
    static const struct lks_pldm_string known[] = {
        {LKS_PLDM_STRING_ASCII, LKS_STR_C("28.42.1000")},
        {LKS_PLDM_STRING_UTF8, LKS_STR_C("1.0-\xc3\xa9")},
        {LKS_PLDM_STRING_UTF16, LKS_STR_C("\xff\xfe"
                                          "1\0.\0"
                                          "0\0")},
        {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("1\0.\0"
                                            "2\0")},
        {LKS_PLDM_STRING_UTF16BE, LKS_STR_C("\0"
                                            "1\0.\0"
                                            "3")},
    };
    struct lks_pldm_string s = known[lks_rng_below(rng, LKS_COUNT(known))];
    if (!lks_rng_percent(rng, 30))
        return s;
    char text[UINT8_MAX];
    size_t len = 1 + lks_rng_below(rng, sizeof(text));
    memset(text, 'a' + (int)lks_rng_below(rng, 26), sizeof(text));
    return (struct lks_pldm_string){LKS_PLDM_STRING_ASCII, keep(t, (struct lks_str){text, len})};
}

/* Values of the kinds of descriptors, by length. */
static const struct {
    uint16_t type, len;
} kinds[] = {
    {LKS_PLDM_PCI_VENDOR, 2},
    {LKS_PLDM_IANA, 4},
    {LKS_PLDM_UUID, 16},
    {LKS_PLDM_PNP_VENDOR, 3},
    {LKS_PLDM_ACPI_VENDOR, 4},
    {LKS_PLDM_IEEE_COMPANY, 3},
    {LKS_PLDM_SCSI_VENDOR, 8}, /* the first of a record is one of those up to here */
    {LKS_PLDM_PCI_DEVICE, 2},
    {LKS_PLDM_PCI_SUBVENDOR, 2},
    {LKS_PLDM_PCI_SUBSYSTEM, 2},
    {LKS_PLDM_PCI_REVISION, 1},
    {LKS_PLDM_PNP_PRODUCT, 4},
    {LKS_PLDM_ACPI_PRODUCT, 4},
    {LKS_PLDM_MODEL_LONG, 40},
    {LKS_PLDM_MODEL_SHORT, 10},
    {LKS_PLDM_SCSI_PRODUCT, 16},
    {LKS_PLDM_UBM_CONTROLLER, 4},
    {LKS_PLDM_EUI64, 8},
    {LKS_PLDM_PCI_REVISIONS, 2},
    {0x0200, 5}, /* of a later version of the standard */
};

static struct lks_pldm_descriptor any_descriptor(struct lks_test_package *t, struct lks_rng *rng,
                                                 bool first)
{
    if (!first && lks_rng_percent(rng, 20))
        return (struct lks_pldm_descriptor){LKS_PLDM_VENDOR_DEFINED, LKS_STR("\x01\x02"
                                                                             "APgb200")};
    size_t i = lks_rng_below(rng, first ? 7 : LKS_COUNT(kinds));
    return (struct lks_pldm_descriptor){kinds[i].type, any_bytes(t, rng, kinds[i].len)};
}

static void any_record(struct lks_test_package *t, struct lks_rng *rng, bool downstream,
                       struct lks_pldm_record *r)
{
    r->options = (uint32_t)lks_rng_below(rng, 4);
    r->version = any_string(t, rng);
    if (downstream && (r->options & LKS_PLDM_DOWNSTREAM_STAMP) != 0)
        r->stamp = (uint32_t)lks_rng_next(rng);
    else if (downstream && lks_rng_percent(rng, 50))
        r->version = ascii("");
    r->descriptor_count = 1 + lks_rng_below(rng, ANY_MAX);
    r->descriptors = room(t, r->descriptor_count, sizeof(*r->descriptors));
    for (size_t i = 0; i < r->descriptor_count; i++)
        r->descriptors[i] = any_descriptor(t, rng, i == 0);
    r->components = room(t, t->package.component_count, sizeof(*r->components));
    for (size_t i = 0; i < t->package.component_count; i++)
        if (lks_rng_percent(rng, 50))
            r->components[r->component_count++] = (uint16_t)i;
    r->data = any_bytes(t, rng, lks_rng_below(rng, 40));
    if (t->package.revision >= 4)
        r->manifest = any_bytes(t, rng, lks_rng_below(rng, 300));
}

static void any_component(struct lks_test_package *t, struct lks_rng *rng, size_t index)
{
    static const uint16_t classes[] = {0, 1, 10, 13, 0x8000, 0xfffe, 0xffff};
    struct lks_pldm_component *c = &t->package.components[index];
    c->classification = classes[lks_rng_below(rng, LKS_COUNT(classes))];
    c->id = (uint16_t)lks_rng_below(rng, 65536);
    c->options = (uint16_t)lks_rng_below(rng, 8);
    c->stamp = (c->options & LKS_PLDM_COMPONENT_STAMP) != 0 ? (uint32_t)lks_rng_next(rng)
                                                            : LKS_PLDM_STAMP_NONE;
    c->activation = (uint16_t)lks_rng_below(rng, 256);
    c->version = any_string(t, rng);
    if (t->package.revision >= 3)
        c->opaque = any_bytes(t, rng, lks_rng_below(rng, 50));
    t->images[index] = any_bytes(t, rng, 1 + lks_rng_below(rng, 5000));
}

struct lks_test_package lks_test_package_any(struct lks_rng *rng, uint8_t revision)
{
    struct lks_test_package t;
    begin(&t, revision, 1 + lks_rng_below(rng, ANY_MAX),
          revision >= 2 ? lks_rng_below(rng, ANY_MAX) : 0,
          1 + lks_rng_below(rng, LKS_TEST_IMAGES_MAX));
    if (lks_rng_percent(rng, 20))
        t.package.bitmap_bits = (uint16_t)(8 * (1 + lks_rng_below(rng, 9)));
    t.package.version = any_string(&t, rng);
    t.package.released = (struct lks_pldm_time){
        .utc_offset = (int16_t)((int)lks_rng_below(rng, 1200) - 600),
        .microsecond = (uint32_t)lks_rng_below(rng, 1000000),
        .second = (uint8_t)lks_rng_below(rng, 60),
        .minute = (uint8_t)lks_rng_below(rng, 60),
        .hour = (uint8_t)lks_rng_below(rng, 24),
        .day = (uint8_t)(1 + lks_rng_below(rng, 28)),
        .month = (uint8_t)(1 + lks_rng_below(rng, 12)),
        .year = (uint16_t)(2000 + lks_rng_below(rng, 100)),
        .resolution = (uint8_t)lks_rng_below(rng, 256),
    };
    for (size_t i = 0; i < t.package.device_count; i++)
        any_record(&t, rng, false, &t.package.devices[i]);
    for (size_t i = 0; i < t.package.downstream_count; i++)
        any_record(&t, rng, true, &t.package.downstream[i]);
    for (size_t i = 0; i < t.package.component_count; i++)
        any_component(&t, rng, i);
    return t;
}

/* Mending ------------------------------------------------------------------------------------ */

static uint32_t crc_of(struct lks_str bytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (uint8_t)bytes.ptr[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

bool lks_test_package_mend(struct lks_buf *file)
{
    struct lks_str all = lks_buf_view(file);
    if (all.len < HEADER_SIZE_AT + 2)
        return false;
    const uint8_t *bytes = (const uint8_t *)all.ptr;
    size_t size = bytes[HEADER_SIZE_AT] | (size_t)bytes[HEADER_SIZE_AT + 1] << 8;
    size_t sums = bytes[REVISION_AT] >= 4 ? 8 : 4;
    if (size > all.len || size < sums)
        return false;
    lks_bytes_set_number(file, size - sums, crc_of((struct lks_str){all.ptr, size - sums}), 4);
    if (sums == 8)
        lks_bytes_set_number(file, size - 4,
                             crc_of((struct lks_str){all.ptr + size, all.len - size}), 4);
    return true;
}

/* Comparing ---------------------------------------------------------------------------------- */

static bool same_string(struct lks_pldm_string a, struct lks_pldm_string b)
{
    return a.type == b.type && lks_str_eq(a.bytes, b.bytes);
}

static bool same_record(const struct lks_pldm_record *a, const struct lks_pldm_record *b)
{
    bool same = a->options == b->options && same_string(a->version, b->version) &&
                a->stamp == b->stamp && a->descriptor_count == b->descriptor_count &&
                a->component_count == b->component_count && lks_str_eq(a->data, b->data) &&
                lks_str_eq(a->manifest, b->manifest);
    for (size_t i = 0; same && i < a->descriptor_count; i++)
        same = a->descriptors[i].type == b->descriptors[i].type &&
               lks_str_eq(a->descriptors[i].value, b->descriptors[i].value);
    for (size_t i = 0; same && i < a->component_count; i++)
        same = a->components[i] == b->components[i];
    return same;
}

static bool same_component(const struct lks_pldm_component *a, const struct lks_pldm_component *b)
{
    return a->classification == b->classification && a->id == b->id && a->stamp == b->stamp &&
           a->options == b->options && a->activation == b->activation && a->offset == b->offset &&
           a->size == b->size && same_string(a->version, b->version) &&
           lks_str_eq(a->opaque, b->opaque);
}

static bool same_time(const struct lks_pldm_time *a, const struct lks_pldm_time *b)
{
    return a->utc_offset == b->utc_offset && a->microsecond == b->microsecond &&
           a->second == b->second && a->minute == b->minute && a->hour == b->hour &&
           a->day == b->day && a->month == b->month && a->year == b->year &&
           a->resolution == b->resolution;
}

bool lks_test_packages_equal(const struct lks_pldm_package *a, const struct lks_pldm_package *b)
{
    bool same = a->revision == b->revision && a->header_size == b->header_size &&
                same_time(&a->released, &b->released) && a->bitmap_bits == b->bitmap_bits &&
                same_string(a->version, b->version) && a->device_count == b->device_count &&
                a->downstream_count == b->downstream_count &&
                a->component_count == b->component_count;
    for (size_t i = 0; same && i < a->device_count; i++)
        same = same_record(&a->devices[i], &b->devices[i]);
    for (size_t i = 0; same && i < a->downstream_count; i++)
        same = same_record(&a->downstream[i], &b->downstream[i]);
    for (size_t i = 0; same && i < a->component_count; i++)
        same = same_component(&a->components[i], &b->components[i]);
    return same;
}

/* Signing ------------------------------------------------------------------------------------ */

static void add_big(struct lks_buf *out, uint32_t value, unsigned width)
{
    for (unsigned i = width; i-- > 0;)
        lks_buf_addc(out, (char)(value >> (8 * i) & 0xff));
}

static struct lks_str public_pem(EVP_PKEY *key, BIO *bio)
{
    char *pem = NULL;
    LKS_ASSERT(PEM_write_bio_PUBKEY(bio, key) == 1);
    long len = BIO_get_mem_data(bio, &pem);
    return (struct lks_str){pem, (size_t)len};
}

static size_t make_signature(EVP_PKEY *key, struct lks_str message, unsigned char out[128])
{
    size_t len = 128;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    LKS_ASSERT(EVP_DigestSignInit(ctx, NULL, EVP_sha384(), NULL, key) == 1);
    LKS_ASSERT(EVP_DigestSign(ctx, out, &len, (const unsigned char *)message.ptr, message.len) ==
               1);
    EVP_MD_CTX_free(ctx);
    return len;
}

void lks_test_package_sign(struct lks_buf *file, struct lks_buf *pem)
{
    EVP_PKEY *key = EVP_EC_gen("P-384");
    BIO *bio = BIO_new(BIO_s_mem());
    unsigned char signature[128];
    LKS_ASSERT(key != NULL && bio != NULL);
    struct lks_str public = public_pem(key, bio);
    size_t package = file->len;
    lks_buf_add(file, LKS_STR("\x5f\x32\xcb\x08\x03\x00\x01"));
    add_big(file, (uint32_t)(18 + public.len), 2);
    add_big(file, (uint32_t)package, 4);
    add_big(file, 0, 1);
    add_big(file, 16, 2);
    add_big(file, (uint32_t) public.len, 2);
    lks_buf_add(file, public);
    size_t len = make_signature(key, lks_buf_view(file), signature);
    add_big(file, (uint32_t)len, 2);
    lks_buf_add(file, (struct lks_str){(const char *)signature, len});
    lks_buf_pad(file, '\0', (ptrdiff_t)(package + LKS_PLDM_TRAILER_BYTES - file->len));
    lks_buf_add(pem, public);
    BIO_free(bio);
    EVP_PKEY_free(key);
}
