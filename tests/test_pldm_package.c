/* Reading, writing and checking packages. tests/test_pldm_package_trailer.c has the signatures, and
 * tests/test_pldm_package_bad.c what is refused. */
#include "codec/format/hex.h"
#include "tests/packages.h"
#include "tests/test.h"

enum { FILE_MAX = 1 << 20, ROUNDS = 150 };

/* The sample of each revision, put together from the standard's tables by other means. */
static const char *const golden[] = {
    [1] = "f018878ccb7d49439800a02f059aca0201ab003c0040e2011e2d080f0bea070008000107706b672d312e"
          "30022100020100000001050400037365742d3100000200de100001020030236461746124000200000000"
          "01050000027365742d320100040047160000ffff07000103534b55413102000a00010000000100020020"
          "00ab0000000b0000000105312e322e3301800200ffffffff00000800b6000000060000000103322e3086"
          "0d5f10666972737420696d6167657365636f6e64",
    [2] = "1244d2648d7d4718a030fc8a56587d5a02d3003c0040e2011e2d080f0bea070008000107706b672d312e"
          "30022100020100000001050400037365742d3100000200de100001020030236461746124000200000000"
          "01050000027365742d320100040047160000ffff07000103534b55413101270001010000000103000002"
          "302e390403020102001000000102030405060708090a0b0c0d0e0f02000a0001000000010002002000d3"
          "0000000b0000000105312e322e3301800200ffffffff00000800de000000060000000103322e303b7566"
          "9e666972737420696d6167657365636f6e64",
    [3] = "3119ce2fe80a4a99af6d46f8b121f6bf03de003c0040e2011e2d080f0bea070008000107706b672d312e"
          "30022100020100000001050400037365742d3100000200de100001020030236461746124000200000000"
          "01050000027365742d320100040047160000ffff07000103534b55413101270001010000000103000002"
          "302e390403020102001000000102030405060708090a0b0c0d0e0f02000a0001000000010002002000de"
          "0000000b0000000105312e322e33030000006f707101800200ffffffff00000800e90000000600000001"
          "03322e30000000004f13d62e666972737420696d6167657365636f6e64",
    [4] = "7b291c996db64208801b02026e463c7804fc003c0040e2011e2d080f0bea070008000107706b672d312e"
          "300233000201000000010504000e000000037365742d3100000200de1000010200302364617461010441"
          "434d456d616e6966657374280002000000000105000000000000027365742d320100040047160000ffff"
          "07000103534b554131012b000101000000010300000000000002302e3904030201020010000001020304"
          "05060708090a0b0c0d0e0f02000a0001000000010002002000fc0000000b0000000105312e322e330300"
          "00006f707101800200ffffffff0000080007010000060000000103322e3000000000068f9ef51b6a49e3"
          "666972737420696d6167657365636f6e64",
};

static void read_golden(unsigned revision, struct lks_buf *out)
{
    struct lks_str hex = lks_str_from(golden[revision]);
    uint8_t bytes[512];
    LKS_ASSERT(hex.len / 2 <= sizeof(bytes));
    LKS_ASSERT(lks_hex_read(hex, bytes, hex.len / 2));
    lks_buf_init(out, FILE_MAX);
    lks_buf_add(out, (struct lks_str){(const char *)bytes, hex.len / 2});
}

static void sample_is_golden(void)
{
    for (uint8_t revision = 1; revision <= LKS_PLDM_REVISION_MAX; revision++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf want = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(FILE_MAX);
        lks_test_case("revision %u", revision);
        read_golden(revision, &want);
        lks_test_package_sample_file(revision, &got);
        CHECK(lks_str_eq(lks_buf_view(&got), lks_buf_view(&want)));
    }
}

/* Fields of the golden bytes, one by one. */
static void golden_is_read(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = {0};
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    read_golden(4, &file);
    if (!CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), true, &p, &err), LKS_OK))
        return;
    CHECK_INT(p.revision, 4);
    CHECK_INT(p.identifier, 4);
    CHECK_INT(p.released.year, 2026);
    CHECK_INT(p.released.utc_offset, 60);
    CHECK_INT(p.released.microsecond, 123456);
    CHECK_STR(p.version.bytes, "pkg-1.0");
    CHECK_INT(p.device_count, 2);
    CHECK_STR(p.devices[0].version.bytes, "set-1");
    CHECK_STR(p.devices[0].data, "data");
    CHECK_STR(p.devices[0].manifest, "\x01\x04"
                                     "ACMEmanifest");
    CHECK_INT(p.devices[0].component_count, 2);
    CHECK(lks_pldm_package_record_applies(&p.devices[0], 0));
    CHECK(!lks_pldm_package_record_applies(&p.devices[1], 0));
    CHECK(lks_pldm_package_record_applies(&p.devices[1], 1));
    CHECK_INT(p.devices[1].descriptors[1].type, LKS_PLDM_VENDOR_DEFINED);
    CHECK_INT(p.downstream_count, 1);
    CHECK_INT(p.downstream[0].stamp, 0x01020304);
    CHECK_STR(p.downstream[0].version.bytes, "0.9");
    CHECK_INT(p.component_count, 2);
    CHECK_INT(p.components[0].classification, 10);
    CHECK_INT(p.components[0].activation, 0x20);
    CHECK_STR(p.components[0].opaque, "opq");
    CHECK_STR(p.components[1].version.bytes, "2.0");
    CHECK_INT(p.components[1].offset, p.header_size + 11);
    CHECK_INT(p.components[1].size, 6);
    CHECK_INT(p.note_count, 0);
    CHECK_INT(lks_pldm_package_end(&p), file.len);
}

/* Round trips -------------------------------------------------------------------------------- */

struct images {
    struct lks_str file;
    const struct lks_pldm_package *p;
};

/* In portions, as from a disk. */
static enum lks_code image_of(void *ctx, size_t index, uint32_t at, struct lks_str *out,
                              struct lks_err *err)
{
    const struct images *images = ctx;
    const struct lks_pldm_component *c = &images->p->components[index];
    (void)err;
    *out = (struct lks_str){images->file.ptr + c->offset + at, c->size - at < 7 ? c->size - at : 7};
    return LKS_OK;
}

static enum lks_code add_to(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct lks_buf *out = ctx;
    lks_buf_add(out, bytes);
    return lks_buf_check(out, err);
}

/* parse(write(x)) is x, and write(parse(bytes)) is bytes. */
static void check_round_trip(struct lks_test_package *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    lks_test_package_file(t, &file);
    if (!CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), true, &p, &err), LKS_OK)) {
        CHECK_STR(lks_str_from(err.msg), "");
        return;
    }
    CHECK(lks_test_packages_equal(&t->package, &p));
    for (size_t i = 0; i < p.component_count; i++) {
        struct lks_str image = {file.ptr + p.components[i].offset, p.components[i].size};
        CHECK(lks_str_eq(image, t->images[i]));
    }
    struct images images = {.file = lks_buf_view(&file), .p = &p};
    struct lks_pldm_source source = {.read = image_of, .ctx = &images};
    struct lks_pldm_sink sink = {.put = add_to, .ctx = &again};
    CHECK_CODE(lks_pldm_package_write(&p, &source, &sink, &err), LKS_OK);
    CHECK(lks_str_eq(lks_buf_view(&file), lks_buf_view(&again)));
}

static void any_goes_round(void)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct lks_rng rng = {.state = seed};
        struct lks_test_package t = lks_test_package_any(&rng, (uint8_t)(1 + seed % 4));
        lks_test_case("seed %u", seed);
        check_round_trip(&t);
        lks_pldm_package_fini(&t.package);
    }
}

/* An image may begin further on than it must. */
static void gaps_are_kept(void)
{
    struct lks_test_package t = lks_test_package_sample(4);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = {0};
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    struct images images = {.p = &t.package};
    struct lks_pldm_source source = {.read = image_of, .ctx = &images};
    struct lks_pldm_sink sink = {.put = add_to, .ctx = &file};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(FILE_MAX);
    lks_buf_init(&file, FILE_MAX);
    lks_test_package_file(&t, &plain);
    lks_buf_pad(&plain, 'x', 512);
    images.file = lks_buf_view(&plain);
    t.package.components[0].offset += 100;
    t.package.components[1].offset += 300;
    CHECK_CODE(lks_pldm_package_write(&t.package, &source, &sink, &err), LKS_OK);
    CHECK_INT(file.len, lks_pldm_package_end(&t.package));
    CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), true, &p, &err), LKS_OK);
    CHECK_INT(p.components[1].offset - p.components[0].offset, 211);
    lks_pldm_package_fini(&t.package);
}

/* Devices ------------------------------------------------------------------------------------ */

#define VENDOR                                                                                     \
    {                                                                                              \
        LKS_PLDM_PCI_VENDOR, LKS_STR_C("\xde\x10")                                                 \
    }
#define DEVICE                                                                                     \
    {                                                                                              \
        LKS_PLDM_PCI_DEVICE, LKS_STR_C("\x30\x23")                                                 \
    }
#define OTHER                                                                                      \
    {                                                                                              \
        LKS_PLDM_PCI_DEVICE, LKS_STR_C("\x31\x23")                                                 \
    }
#define MODEL                                                                                      \
    {                                                                                              \
        LKS_PLDM_VENDOR_DEFINED, LKS_STR_C("\x01\x03SKUA1")                                        \
    }

static const struct match_row {
    const char *name;
    struct lks_pldm_descriptor device[4];
    size_t count;
    bool matches;
} match_rows[] = {
    {"just those", {VENDOR, DEVICE}, 2, true},
    {"in another order", {DEVICE, VENDOR}, 2, true},
    {"and more", {MODEL, VENDOR, DEVICE}, 3, true},
    {"one is missing", {VENDOR}, 1, false},
    {"one is another", {VENDOR, OTHER}, 2, false},
    {"the value under another type",
     {VENDOR, {LKS_PLDM_PCI_SUBSYSTEM, LKS_STR_C("\x30\x23")}},
     2,
     false},
    {"nothing at all", {VENDOR}, 0, false},
};

static void record_matches_device(void)
{
    struct lks_test_package t = lks_test_package_sample(1);
    struct lks_pldm_record none = {0};
    for (size_t i = 0; i < LKS_COUNT(match_rows); i++) {
        const struct match_row *row = &match_rows[i];
        lks_test_case("%s", row->name);
        CHECK(lks_pldm_package_record_matches(&t.package.devices[0], row->device, row->count) ==
              row->matches);
    }
    lks_test_case("a record without descriptors is for nobody");
    CHECK(!lks_pldm_package_record_matches(&none, match_rows[0].device, match_rows[0].count));
    lks_pldm_package_fini(&t.package);
}

/* Words -------------------------------------------------------------------------------------- */

static const struct text_row {
    const char *name;
    struct lks_pldm_string string;
    const char *text;
} text_rows[] = {
    {"ASCII", {LKS_PLDM_STRING_ASCII, LKS_STR_C("1.2.3")}, "1.2.3"},
    {"of unknown type", {LKS_PLDM_STRING_UNKNOWN, LKS_STR_C("1.2")}, "1.2"},
    {"empty", {LKS_PLDM_STRING_ASCII, LKS_STR_C("")}, ""},
    {"UTF-8", {LKS_PLDM_STRING_UTF8, LKS_STR_C("v\xc3\xa9")}, "v\xc3\xa9"},
    {"not UTF-8",
     {LKS_PLDM_STRING_UTF8, LKS_STR_C("a\xff"
                                      "b")},
     "a?b"},
    {"what drives a terminal", {LKS_PLDM_STRING_ASCII, LKS_STR_C("\x1b[2J")}, "?[2J"},
    {"UTF-16LE", {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("1\0.\0\xe9\0")}, "1.\xc3\xa9"},
    {"UTF-16BE",
     {LKS_PLDM_STRING_UTF16BE, LKS_STR_C("\0"
                                         "1\x20\xac")},
     "1\xe2\x82\xac"},
    {"UTF-16 with a mark",
     {LKS_PLDM_STRING_UTF16, LKS_STR_C("\xfe\xff\0"
                                       "7")},
     "7"},
    {"with the other mark",
     {LKS_PLDM_STRING_UTF16, LKS_STR_C("\xff\xfe"
                                       "7\0")},
     "7"},
    {"without a mark", {LKS_PLDM_STRING_UTF16, LKS_STR_C("7\0")}, "7"},
    {"a pair of surrogates",
     {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("\x3d\xd8\x00\xde")},
     "\xf0\x9f\x98\x80"},
    {"half a pair",
     {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("\x3d\xd8"
                                         "1\0")},
     "?1"},
    {"a low one alone",
     {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("\x00\xdc"
                                         "1\0")},
     "?1"},
    {"half a character",
     {LKS_PLDM_STRING_UTF16LE, LKS_STR_C("1\0"
                                         "2")},
     "1?"},
};

static void strings_become_text(void)
{
    for (size_t i = 0; i < LKS_COUNT(text_rows); i++) {
        struct lks_arena arena;
        lks_test_case("%s", text_rows[i].name);
        lks_arena_init(&arena, 4096);
        CHECK_STR(lks_pldm_package_string_text(text_rows[i].string, &arena), text_rows[i].text);
        lks_arena_fini(&arena);
    }
}

static void names_lead_back(void)
{
    unsigned descriptors = 0, classifications = 0, activations = 0;
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        uint16_t found = 0;
        unsigned bit = 0;
        const char *name = lks_pldm_package_descriptor_name((uint16_t)i);
        const char *class = lks_pldm_package_classification_name((uint16_t)i);
        const char *activation = lks_pldm_package_activation_name(i);
        lks_test_case("%u", i);
        if (name != NULL && ++descriptors > 0)
            CHECK(lks_pldm_package_descriptor_find(lks_str_from(name), &found) && found == i);
        if (class != NULL && ++classifications > 0)
            CHECK(lks_pldm_package_classification_find(lks_str_from(class), &found) && found == i);
        if (activation != NULL && ++activations > 0)
            CHECK(lks_pldm_package_activation_find(lks_str_from(activation), &bit) && bit == i);
    }
    CHECK_INT(descriptors, 20);
    CHECK_INT(classifications, 15);
    CHECK_INT(activations, 8);
    uint16_t value = 7;
    CHECK(!lks_pldm_package_descriptor_find(LKS_STR("pci-ventor"), &value));
    CHECK_INT(value, 7);
}

static const struct {
    struct lks_pldm_descriptor descriptor;
    const char *text;
} descriptor_rows[] = {
    {{LKS_PLDM_PCI_VENDOR, LKS_STR_C("\xde\x10")}, "10de"},
    {{LKS_PLDM_PCI_REVISION, LKS_STR_C("\x0a")}, "0a"},
    {{LKS_PLDM_IANA, LKS_STR_C("\x47\x16\x00\x00")}, "5703"},
    {{LKS_PLDM_IANA, LKS_STR_C("\x47\x16")}, "4716"}, /* not as long as it should be */
    {{LKS_PLDM_UUID, LKS_STR_C("0123456789abcdef")}, "30313233-3435-3637-3839-616263646566"},
    {{LKS_PLDM_ACPI_VENDOR, LKS_STR_C("NVDA")}, "NVDA"},
    {{LKS_PLDM_ACPI_VENDOR, LKS_STR_C("\x1b[2J")}, "1b5b324a"},
    {{LKS_PLDM_IEEE_COMPANY, LKS_STR_C("\xa1\xb2\xc3")}, "a1b2c3"},
    {{LKS_PLDM_VENDOR_DEFINED, LKS_STR_C("\x01\x03SKUA1")}, "SKU=A1"},
    {{LKS_PLDM_VENDOR_DEFINED, LKS_STR_C("\x01\x03SKU\x12\x00")}, "SKU=0x1200"},
    {{LKS_PLDM_VENDOR_DEFINED, LKS_STR_C("\x01\x09SKU")}, "0109534b55"},
    {{0x0200, LKS_STR_C("\x01\xff")}, "01ff"},
};

static void descriptors_become_text(void)
{
    for (size_t i = 0; i < LKS_COUNT(descriptor_rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        lks_test_case("%s", descriptor_rows[i].text);
        lks_buf_init(&text, FILE_MAX);
        lks_pldm_package_descriptor_text(&descriptor_rows[i].descriptor, &text);
        CHECK_STR(lks_buf_view(&text), descriptor_rows[i].text);
    }
}

static void vendor_values_split(void)
{
    struct lks_pldm_vendor v = {0};
    CHECK(lks_pldm_package_vendor_split(LKS_STR("\x01\x03SKUA1"), &v));
    CHECK_STR(v.title.bytes, "SKU");
    CHECK_STR(v.data, "A1");
    CHECK(!lks_pldm_package_vendor_split(LKS_STR(""), &v));
    CHECK(!lks_pldm_package_vendor_split(LKS_STR("\x01"), &v));
    CHECK(!lks_pldm_package_vendor_split(LKS_STR("\x01\x00"
                                                 "A"),
                                         &v));
    CHECK(!lks_pldm_package_vendor_split(LKS_STR("\x01\x03SKU"), &v));
    CHECK(!lks_pldm_package_vendor_split(LKS_STR("\x01\xffSKUA1"), &v));
}

/* The pass ----------------------------------------------------------------------------------- */

static void check_digest(const uint8_t got[LKS_DIGEST_BYTES], struct lks_str of)
{
    char want[LKS_DIGEST_SIZE], text[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_digest_text(of, want, &err), LKS_OK);
    CHECK_STR(lks_str_from(lks_digest_write(got, text)), want);
}

/* Whatever the portions are, what comes out is the same. */
static void check_pass(struct lks_str file, const struct lks_pldm_package *p, struct lks_rng *rng)
{
    LKS_CLEANUP(lks_pldm_package_pass_fini) struct lks_pldm_pass pass = {0};
    struct lks_pldm_pass_options options = {.file_size = file.len};
    struct lks_pldm_sums sums = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_pldm_package_pass_init(&pass, p, &options, &err), LKS_OK))
        return;
    for (size_t at = 0; at < file.len;) {
        size_t n = 1 + lks_rng_below(rng, lks_rng_percent(rng, 50) ? 9 : 70000);
        n = n < file.len - at ? n : file.len - at;
        CHECK_CODE(lks_pldm_package_pass_feed(&pass, (struct lks_str){file.ptr + at, n}, &err),
                   LKS_OK);
        at += n;
    }
    if (!CHECK_CODE(lks_pldm_package_pass_finish(&pass, &sums, &err), LKS_OK))
        return;
    check_digest(sums.whole, file);
    for (size_t i = 0; i < p->component_count; i++)
        check_digest(sums.components[i],
                     (struct lks_str){file.ptr + p->components[i].offset, p->components[i].size});
    CHECK_CODE(lks_pldm_package_sums_check(p, &sums, &err), LKS_OK);
    CHECK_INT(sums.loose + sums.behind, 0);
}

static void pass_sums_up(void)
{
    for (unsigned seed = 0; seed < ROUNDS / 3; seed++) {
        struct lks_rng rng = {.state = seed};
        struct lks_test_package t = lks_test_package_any(&rng, (uint8_t)(1 + seed % 4));
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        lks_test_case("seed %u", seed);
        lks_test_package_file(&t, &file);
        LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
        struct lks_err err = {0};
        if (CHECK_CODE(lks_pldm_package_parse(lks_buf_view(&file), file.len, true, &p, &err),
                       LKS_OK))
            check_pass(lks_buf_view(&file), &p, &rng);
        lks_pldm_package_fini(&t.package);
    }
}

/* Two components with one image: each has its digest. */
static void pass_knows_shared_images(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_rng rng = {.state = 1};
    struct lks_err err = {0};
    lks_test_package_sample_file(2, &file);
    CHECK_CODE(lks_pldm_package_parse(lks_buf_view(&file), file.len, true, &p, &err), LKS_OK);
    p.components[1].offset = p.components[0].offset;
    p.components[1].size = p.components[0].size;
    check_pass((struct lks_str){file.ptr, file.len - 6}, &p, &rng);
}

static void pass_sees_what_changed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    LKS_CLEANUP(lks_pldm_package_pass_fini) struct lks_pldm_pass pass = {0};
    struct lks_pldm_sums sums = {0};
    struct lks_err err = {0};
    lks_test_package_sample_file(4, &file);
    lks_buf_add(&file, LKS_STR("\0\0loose"));
    struct lks_pldm_pass_options options = {.file_size = file.len};
    CHECK_CODE(lks_pldm_package_parse(lks_buf_view(&file), file.len, true, &p, &err), LKS_OK);
    CHECK_CODE(lks_pldm_package_pass_init(&pass, &p, &options, &err), LKS_OK);
    CHECK_CODE(lks_pldm_package_pass_feed(&pass, (struct lks_str){file.ptr, 20}, &err), LKS_OK);
    CHECK_CODE(lks_pldm_package_pass_finish(&pass, &sums, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "the file ends after 20 of ");
    CHECK_CODE(lks_pldm_package_pass_feed(&pass, lks_buf_view(&file), &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "grew beyond its ");
    CHECK_CODE(
        lks_pldm_package_pass_feed(&pass, (struct lks_str){file.ptr + 20, file.len - 20}, &err),
        LKS_OK);
    CHECK_CODE(lks_pldm_package_pass_finish(&pass, &sums, &err), LKS_OK);
    CHECK_INT(sums.loose, 0);
    CHECK_INT(sums.behind, 5);
    CHECK_CODE(lks_pldm_package_sums_check(&p, &sums, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "the payload's checksum says ");
    p.revision = 3;
    CHECK_CODE(lks_pldm_package_sums_check(&p, &sums, &err), LKS_OK);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the sample is written byte by byte as the standard has it", sample_is_golden},
        {"and read so", golden_is_read},
        {"whatever is written is read as it was, and writes back to the same bytes",
         any_goes_round},
        {"gaps between images are kept", gaps_are_kept},
        {"a record is for devices that have all its descriptors", record_matches_device},
        {"strings become text that prints", strings_become_text},
        {"names lead back to what they name", names_lead_back},
        {"descriptors become text as people write them", descriptors_become_text},
        {"a vendor's descriptor is a title and data", vendor_values_split},
        {"one pass knows all digests and checksums", pass_sums_up},
        {"an image of two components is hashed for both", pass_knows_shared_images},
        {"the pass sees what was cut off, added or changed", pass_sees_what_changed},
        {0},
    };
    return lks_test_main(tests);
}
