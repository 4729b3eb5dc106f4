#include "codec/machine/vpd.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/test.h"

enum { ROUNDS = 2000 };

/* A board in the order adapters have it: name, PN, EC, SN, V0, the vendor's mark, checksum, and the
 * section that may be written. */
#define PRODUCT                                                                                    \
    "\x82\x0c\x00"                                                                                 \
    "ConnectX-7 A"
#define FIELDS                                                                                     \
    "PN\x10"                                                                                       \
    "MCX75310AAS-NEAT"                                                                             \
    "EC\x02"                                                                                       \
    "A8"                                                                                           \
    "SN\x0e"                                                                                       \
    "MT2321X01234  "                                                                               \
    "V2\x08"                                                                                       \
    "MLX:SMDL"
#define WRITABLE                                                                                   \
    "\x91\x0b\x00"                                                                                 \
    "SN\x08"                                                                                       \
    "NOT THIS"

/* The tag and length of the read-only section, its fields, and RV that makes the sum fit. */
static void build(struct lks_buf *out, struct lks_str product, struct lks_str fields, bool good)
{
    lks_buf_add(out, product);
    size_t len = fields.len + 4;
    lks_buf_addc(out, (char)0x90);
    lks_buf_addc(out, (char)(len & 0xff));
    lks_buf_addc(out, (char)(len >> 8));
    lks_buf_add(out, fields);
    lks_buf_add(out, LKS_STR("RV\x01"));
    unsigned sum = 0;
    for (size_t i = 0; i < out->len; i++)
        sum += (unsigned char)out->ptr[i];
    lks_buf_addc(out, (char)(0x100 - (sum & 0xff) + (good ? 0 : 1)));
    lks_buf_add(out, LKS_STR(WRITABLE "\x78"));
}

static void test_board(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_VPD_BYTES_MAX);
    struct lks_vpd vpd;
    struct lks_err err = {0};
    build(&bytes, LKS_STR(PRODUCT), LKS_STR(FIELDS), true);
    lks_buf_pad(&bytes, '\xff', 16); /* what comes after the end tag is nobody's */
    if (!CHECK_CODE(lks_vpd_parse(lks_buf_view(&bytes), &vpd, &err), LKS_OK))
        return;
    CHECK_STR(vpd.product, "ConnectX-7 A");
    CHECK_STR(vpd.part, "MCX75310AAS-NEAT");
    CHECK_STR(vpd.revision, "A8");
    CHECK_STR(vpd.serial, "MT2321X01234");
    CHECK(vpd.has_checksum && vpd.checksum_ok);
    CHECK(lks_vpd_vendor_has(&vpd, LKS_STR("SMDL")));
    CHECK(!lks_vpd_vendor_has(&vpd, LKS_STR("SMDL=SW_MNG")));
    CHECK(!lks_vpd_vendor_has(&vpd, LKS_STR("MCX"))); /* there, but in no field of the vendor's */
}

static void test_checksum(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_VPD_BYTES_MAX);
    struct lks_vpd vpd;
    struct lks_err err = {0};
    build(&bytes, LKS_STR(PRODUCT), LKS_STR(FIELDS), false);
    CHECK_CODE(lks_vpd_parse(lks_buf_view(&bytes), &vpd, &err), LKS_OK);
    CHECK(vpd.has_checksum && !vpd.checksum_ok);
    CHECK_STR(vpd.part, "MCX75310AAS-NEAT");
}

static void test_fields(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, shown = {0};
    struct lks_vpd vpd;
    struct lks_vpd_field f;
    struct lks_err err = {0};
    lks_buf_init(&bytes, LKS_VPD_BYTES_MAX);
    lks_buf_init(&shown, 1024);
    build(&bytes, LKS_STR(PRODUCT),
          LKS_STR("PN\x01"
                  "1"
                  "V0\x00"
                  "SN\x02"
                  "22"),
          true);
    CHECK_CODE(lks_vpd_parse(lks_buf_view(&bytes), &vpd, &err), LKS_OK);
    struct lks_vpd_cursor cursor = {0};
    while (lks_vpd_next(&vpd, &cursor, &f))
        lks_buf_addf(&shown, "%s%s%zu ", f.keyword, f.writable ? "+" : "", f.data.len);
    CHECK_STR(lks_buf_view(&shown), "PN1 V00 SN2 RV1 SN+8 ");
}

static const struct {
    const char *name;
    struct lks_str bytes;
    enum lks_code code;
    const char *message;
} texts[] = {
    {"none", LKS_STR_C(""), LKS_E_NOT_FOUND, "product data: the board has none"},
    {"zeroes", LKS_STR_C("\0\0\0\0"), LKS_E_NOT_FOUND, "product data: the board has none"},
    {"a dead device", LKS_STR_C("\xff\xff\xff"), LKS_E_NOT_FOUND,
     "product data: the board has none"},
    {"the end alone", LKS_STR_C("\x78"), LKS_OK, NULL},
    {"the end with a checksum of its own", LKS_STR_C("\x79\x00"), LKS_OK, NULL},
    {"a name alone", LKS_STR_C("\x82\x02\x00NN\x78"), LKS_OK, NULL},
    {"an item of another kind", LKS_STR_C("\x85\x01\x00.\x22..\x78"), LKS_OK, NULL},
    {"no end", LKS_STR_C("\x82\x02\x00NN"), LKS_E_INVALID, "product data: no end tag in 5 bytes"},
    {"cut off in a length", LKS_STR_C("\x82\x02"), LKS_E_INVALID,
     "product data: cut off at byte 0"},
    {"an item past the end", LKS_STR_C("\x82\x03\x00NN"), LKS_E_INVALID,
     "product data: the item at byte 0 goes past the end"},
    {"a small item past the end", LKS_STR_C("\x27."), LKS_E_INVALID,
     "product data: the item at byte 0 goes past the end"},
    {"a field cut off",
     LKS_STR_C("\x90\x04\x00PN\x02"
               "1\x78"),
     LKS_E_INVALID, "product data: the field at byte 3 is cut off"},
    {"half a field at the end",
     LKS_STR_C("\x90\x06\x00PN\x01"
               "1SN\x78"),
     LKS_E_INVALID, "product data: the field at byte 7 is cut off"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        struct lks_vpd vpd;
        struct lks_err err = {0};
        CHECK_CODE(lks_vpd_parse(texts[i].bytes, &vpd, &err), texts[i].code);
        if (texts[i].message != NULL)
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
    }
}

static void test_limit(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_VPD_BYTES_MAX + 1);
    struct lks_vpd vpd;
    struct lks_err err = {0};
    lks_buf_add(&bytes, LKS_STR("\x78"));
    lks_buf_pad(&bytes, 'x', LKS_VPD_BYTES_MAX);
    CHECK_CODE(lks_vpd_parse(lks_buf_view(&bytes), &vpd, &err), LKS_E_LIMIT);
}

/* Cut or changed anywhere it is refused or read, and what is read stays inside. */
static void test_damage(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_VPD_BYTES_MAX);
    build(&bytes, LKS_STR(PRODUCT), LKS_STR(FIELDS), true);
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        struct lks_vpd vpd;
        struct lks_err err = {0};
        size_t at = lks_rng_below(&rng, bytes.len);
        char kept = bytes.ptr[at];
        bytes.ptr[at] = (char)lks_rng_below(&rng, 256);
        struct lks_str cut = {bytes.ptr, 1 + lks_rng_below(&rng, bytes.len)};
        if (lks_vpd_parse(cut, &vpd, &err) == LKS_OK)
            CHECK(vpd.bytes.len < cut.len);
        else
            CHECK_HAS(lks_str_from(err.msg), "product data: ");
        bytes.ptr[at] = kept;
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"vpd board", test_board},
        {"vpd checksum", test_checksum},
        {"vpd fields", test_fields},
        {"vpd texts", test_texts},
        {"vpd limit", test_limit},
        {"vpd damage", test_damage},
        {0},
    });
}
