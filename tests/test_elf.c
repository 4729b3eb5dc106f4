#include "codec/program/elf.h"

#include "base/rng.h"
#include "tests/elf_image.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

enum { IMAGE_MAX = 1024 * 1024, DAMAGES = 20000 };

/* A library with everything. */
static const struct lks_test_elf library = {
    .soname = "libnccl.so.2",
    .build_id = LKS_STR_C("\x9f\xcf\x74\xd9\x00\x8c\x36\x05"),
    .rodata = LKS_STR_C("some text\0and more\0"),
    .symbols = {{"strlen", {0}, true},
                {"ncclGetVersion", LKS_STR_C("\x31\xc0\xc3"), true},
                {"ncclInit", LKS_STR_C("\xb8\x01\x02\x03\x04\xc3"), true},
                {"nccl_version", LKS_STR_C("\x09\x1c\x02\x00"), false},
                {"ncclSend", LKS_STR_C("\x90\xc3"), true},
                {"stderr", {0}, false},
                {"ncclRecv", LKS_STR_C("\x90\x90\xc3"), true}},
};

static enum lks_code open_image(struct lks_test_reader *reader, const struct lks_buf *image,
                                struct lks_elf *elf, struct lks_err *err)
{
    *reader = (struct lks_test_reader){.bytes = lks_buf_view(image), .step = reader->step};
    struct lks_elf_file file = lks_test_reader_file(reader, image->len);
    return lks_elf_read(&file, elf, err);
}

static void test_identity(void)
{
    for (unsigned machine = 0; machine < 2; machine++) {
        lks_test_case("machine %u", machine);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        struct lks_test_elf spec = library;
        struct lks_test_reader reader = {.step = 7};
        struct lks_elf elf;
        struct lks_err err = {0};
        spec.machine = machine == 0 ? LKS_TEST_ELF_X86_64 : LKS_TEST_ELF_AARCH64;
        lks_test_elf_build(&spec, &image);
        if (!CHECK_CODE(open_image(&reader, &image, &elf, &err), LKS_OK))
            continue;
        CHECK_INT(elf.machine, machine == 0 ? LKS_ELF_X86_64 : LKS_ELF_AARCH64);
        CHECK(!elf.relocatable);
        CHECK_STR(lks_str_from(elf.soname), "libnccl.so.2");
        CHECK_STR(lks_str_from(elf.build_id), "9fcf74d9008c3605");
        CHECK_INT(elf.load_count, 2);
        CHECK(elf.loads[0].code && !elf.loads[1].code);
        CHECK(reader.given < 2048); /* of its tables, not of the file */
    }
}

static void test_module(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    struct lks_test_elf spec = {.build_id = LKS_STR("\xab\xcd"),
                                .modinfo = LKS_STR("license=GPL\0vermagic=6.1.0 SMP\0")};
    struct lks_test_reader reader = {0};
    struct lks_elf elf;
    struct lks_elf_part part;
    struct lks_elf_symbol symbol;
    struct lks_err err = {0};
    char bytes[8];
    lks_test_elf_build(&spec, &image);
    if (!CHECK_CODE(open_image(&reader, &image, &elf, &err), LKS_OK))
        return;
    CHECK(elf.relocatable);
    CHECK_STR(lks_str_from(elf.build_id), "abcd");
    CHECK_STR(lks_str_from(elf.soname), "");
    if (CHECK_CODE(lks_elf_section(&elf, ".modinfo", &part, &err), LKS_OK)) {
        CHECK_INT(part.size, spec.modinfo.len);
        CHECK_CODE(lks_elf_bytes(&elf, part.offset, bytes, sizeof(bytes), &err), LKS_OK);
        CHECK_STR(((struct lks_str){bytes, sizeof(bytes)}), "license=");
    }
    CHECK_CODE(lks_elf_symbol(&elf, "init_module", &symbol, &err), LKS_E_NOT_FOUND);
}

static const struct {
    const char *name;
    enum lks_code code;
    const char *message;
} sections[] = {
    {".rodata", LKS_OK, NULL},
    {".text", LKS_OK, NULL},
    {".shstrtab", LKS_OK, NULL},
    {".bss", LKS_E_NOT_FOUND, "section .bss has no bytes in the file"},
    {".data", LKS_E_NOT_FOUND, "no section .data"},
    {"rodata", LKS_E_NOT_FOUND, "no section rodata"},
    {".rodat", LKS_E_NOT_FOUND, "no section .rodat"},
};

static void test_sections(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    struct lks_test_reader reader = {0};
    struct lks_elf elf;
    struct lks_elf_part part = {0};
    struct lks_err err = {0};
    lks_test_elf_build(&library, &image);
    if (!CHECK_CODE(open_image(&reader, &image, &elf, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(sections); i++) {
        lks_test_case("%s", sections[i].name);
        CHECK_CODE(lks_elf_section(&elf, sections[i].name, &part, &err), sections[i].code);
        if (sections[i].message != NULL)
            CHECK_STR(lks_str_from(err.msg), sections[i].message);
    }
    lks_test_case("no section headers");
    struct lks_test_elf spec = library;
    spec.no_sections = true;
    lks_buf_truncate(&image, 0);
    lks_test_elf_build(&spec, &image);
    CHECK_CODE(open_image(&reader, &image, &elf, &err), LKS_OK);
    CHECK_CODE(lks_elf_section(&elf, ".rodata", &part, &err), LKS_E_NOT_FOUND);
    CHECK_STR(lks_str_from(elf.soname), "libnccl.so.2");
}

static void check_symbols(const struct lks_test_elf *spec, const struct lks_buf *image)
{
    struct lks_test_reader reader = {.step = 3};
    struct lks_elf elf;
    struct lks_err err = {0};
    if (!CHECK_CODE(open_image(&reader, image, &elf, &err), LKS_OK))
        return;
    for (size_t i = 0; spec->symbols[i].name != NULL; i++) {
        const struct lks_test_symbol *want = &spec->symbols[i];
        struct lks_elf_symbol symbol;
        char bytes[16];
        bool here = want->bytes.len > 0 && !(spec->no_gnu_hash && spec->no_sysv_hash);
        lks_test_case("%s, gnu %d, sysv %d", want->name, !spec->no_gnu_hash, !spec->no_sysv_hash);
        if (!CHECK_CODE(lks_elf_symbol(&elf, want->name, &symbol, &err),
                        here ? LKS_OK : LKS_E_NOT_FOUND) ||
            !here)
            continue;
        CHECK_INT(symbol.code, want->code);
        CHECK_INT(symbol.address, LKS_TEST_ELF_ADDRESS + symbol.part.offset);
        CHECK_INT(symbol.part.size, want->bytes.len);
        CHECK_CODE(lks_elf_bytes(&elf, symbol.part.offset, bytes, want->bytes.len, &err), LKS_OK);
        CHECK(lks_str_eq((struct lks_str){bytes, want->bytes.len}, want->bytes));
    }
    struct lks_elf_symbol none;
    CHECK_CODE(lks_elf_symbol(&elf, "ncclGetVersio", &none, &err), LKS_E_NOT_FOUND);
    CHECK_CODE(lks_elf_symbol(&elf, "", &none, &err), LKS_E_NOT_FOUND);
    CHECK_STR(lks_str_from(err.msg), "no symbol ");
}

/* Either table finds each of them, what is not defined here is not found. */
static void test_symbols(void)
{
    for (unsigned tables = 0; tables < 4; tables++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        struct lks_test_elf spec = library;
        spec.no_gnu_hash = (tables & 1) != 0;
        spec.no_sysv_hash = (tables & 2) != 0;
        lks_test_elf_build(&spec, &image);
        check_symbols(&spec, &image);
    }
}

enum { CODE = LKS_TEST_ELF_SEGMENTS, DATA = CODE + 56, DYNAMIC = DATA + 56, NOTES = DYNAMIC + 56 };

/* One field of the library is changed; offsets as in the format. */
static const struct {
    const char *name;
    size_t at, len;
    uint64_t value;
    enum lks_code code;
    const char *message; /* or a part of it */
} headers[] = {
    {"another kind of file", 0, 1, '#', LKS_E_INVALID, "not an ELF file"},
    {"32 bits", 4, 1, 1, LKS_E_INVALID, "an ELF file, but not a 64-bit one"},
    {"big-endian", 5, 1, 2, LKS_E_INVALID, "an ELF file, but not a little-endian one"},
    {"a core dump", 16, 2, 4, LKS_E_INVALID, "an ELF file of type 4: no library, program or"},
    {"for RISC-V", 18, 2, 243, LKS_E_INVALID,
     "an ELF file for machine 243, neither x86-64 nor aarch64"},
    {"segment headers of 32 bytes", 54, 2, 32, LKS_E_INVALID,
     "segment headers of 32 bytes, which have 56"},
    {"too many segments", 56, 2, 65, LKS_E_LIMIT, "more than 64 segments"},
    {"segment headers outside", 32, 8, 1 << 20, LKS_E_INVALID,
     "4 segment headers at byte 1048576 do not fit into a file of "},
    {"and far outside", 32, 8, UINT64_MAX - 8, LKS_E_INVALID,
     "4 segment headers at byte 18446744073709551607 do not fit into a file of "},
    {"section headers of 40 bytes", 58, 2, 40, LKS_E_INVALID,
     "section headers of 40 bytes, which have 64"},
    {"section headers outside", 40, 8, 1 << 20, LKS_E_INVALID,
     "7 section headers at byte 1048576 do not fit into a file of "},
    {"more section headers than fit", 60, 2, 65535, LKS_E_INVALID, "65535 section headers at byte"},
    {"names in no section", 62, 2, 7, LKS_E_INVALID,
     "the names of the sections are in section 7, and there are only 7"},
    {"a segment outside", CODE + 32, 8, 1 << 20, LKS_E_INVALID,
     "segment 0, 1048576 bytes at byte 0, does not fit into a file of "},
    {"one whose end overflows", DATA + 8, 8, UINT64_MAX, LKS_E_INVALID, "segment 1, "},
    {"dynamic entries outside", DYNAMIC + 8, 8, 1 << 20, LKS_E_INVALID, "segment 2, "},
    {"notes outside", NOTES + 32, 8, 1 << 20, LKS_E_INVALID, "segment 3, 1048576 bytes at byte "},
    {"no address for the strings", CODE + 16, 8, 1 << 30, LKS_E_INVALID,
     "a dynamic table points to address 0x10"},
};

static void test_headers(void)
{
    for (size_t i = 0; i < LKS_COUNT(headers); i++) {
        lks_test_case("%s", headers[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        struct lks_test_reader reader = {0};
        struct lks_elf elf;
        struct lks_err err = {0};
        lks_test_elf_build(&library, &image);
        lks_test_elf_set(&image, headers[i].at, headers[i].value, headers[i].len);
        CHECK_CODE(open_image(&reader, &image, &elf, &err), headers[i].code);
        CHECK_HAS(lks_str_from(err.msg), headers[i].message);
        CHECK(lks_str_printable(lks_str_from(err.msg)));
    }
}

/* Where in the image the value of a dynamic entry is. */
static size_t dynamic_value(const struct lks_buf *image, uint64_t tag)
{
    size_t at = (size_t)lks_test_elf_get(image, DYNAMIC + 8, 8);
    while (lks_test_elf_get(image, at, 8) != tag)
        at += 16;
    return at + 8;
}

/* And where the table is that it points to. */
static size_t dynamic_table(const struct lks_buf *image, uint64_t tag)
{
    return (size_t)lks_test_elf_get(image, dynamic_value(image, tag), 8) - LKS_TEST_ELF_ADDRESS;
}

enum { HASH = 4, STRINGS = 5, SYMBOLS = 6, STRINGS_SIZE = 10, SONAME = 14 };
static const uint64_t GNU_HASH = 0x6ffffef5;

static enum lks_code find_version(const struct lks_buf *image, struct lks_err *err)
{
    struct lks_test_reader reader = {0};
    struct lks_elf elf;
    struct lks_elf_symbol symbol;
    enum lks_code code = open_image(&reader, image, &elf, err);
    return code == LKS_OK ? lks_elf_symbol(&elf, "ncclGetVersion", &symbol, err) : code;
}

/* Tables that lead nowhere, round in circles, or on and on. */
static const struct {
    const char *name;
    bool sysv;    /* without the GNU table */
    uint64_t tag; /* this entry's value is changed, or with `table` what it points to */
    bool table;
    size_t at, len;
    uint64_t value;
    enum lks_code code;
    const char *message;
} tables[] = {
    {"GNU table nowhere", false, GNU_HASH, false, 0, 8, 0x90000000, LKS_E_INVALID,
     "a dynamic table points to address 0x90000000, which is in no loaded segment"},
    {"no buckets", false, GNU_HASH, true, 0, 4, 0, LKS_E_NOT_FOUND, "no symbol ncclGetVersion"},
    {"a large filter", false, GNU_HASH, true, 8, 4, UINT32_MAX, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
    {"buckets without end", false, GNU_HASH, true, 0, 4, UINT32_MAX, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
    {"first symbol beyond", false, GNU_HASH, true, 4, 4, 1000, LKS_E_NOT_FOUND, "no symbol "},
    {"symbols nowhere", false, SYMBOLS, false, 0, 8, UINT64_MAX, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
    {"strings nowhere", false, STRINGS, false, 0, 8, UINT64_MAX - 3, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
    {"strings too short", false, STRINGS_SIZE, false, 0, 8, 20, LKS_E_NOT_FOUND, "no symbol "},
    {"strings too long", false, STRINGS_SIZE, false, 0, 8, UINT64_MAX, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
    {"name outside the strings", false, SONAME, false, 0, 8, 4096, LKS_E_INVALID,
     "the SONAME lies outside the table of strings"},
    {"name without end", false, STRINGS_SIZE, false, 0, 8, 5, LKS_E_INVALID,
     "the SONAME is not text of up to 255 bytes"},
    {"name that drives a terminal", false, STRINGS, true, 1, 1, 27, LKS_E_INVALID,
     "the SONAME is not text of up to 255 bytes"},
    {"SysV table nowhere", true, HASH, false, 0, 8, 8, LKS_E_INVALID,
     "a dynamic table points to address 0x8, which is in no loaded segment"},
    {"SysV without buckets", true, HASH, true, 0, 4, 0, LKS_E_NOT_FOUND, "no symbol "},
    {"SysV buckets without end", true, HASH, true, 0, 4, UINT32_MAX, LKS_E_INVALID,
     "a dynamic table points to address 0x"},
};

static void test_tables(void)
{
    for (size_t i = 0; i < LKS_COUNT(tables); i++) {
        lks_test_case("%s", tables[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        struct lks_test_elf spec = library;
        struct lks_err err = {0};
        spec.no_gnu_hash = tables[i].sysv;
        lks_test_elf_build(&spec, &image);
        size_t at = tables[i].table ? dynamic_table(&image, tables[i].tag) + tables[i].at
                                    : dynamic_value(&image, tables[i].tag);
        lks_test_elf_set(&image, at, tables[i].value, tables[i].len);
        CHECK_CODE(find_version(&image, &err), tables[i].code);
        CHECK_HAS(lks_str_from(err.msg), tables[i].message);
    }
}

/* Every chain leads back to the first symbol, which is none of those looked for. */
static void test_circle(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    struct lks_test_elf spec = library;
    struct lks_err err = {0};
    spec.no_gnu_hash = true;
    lks_test_elf_build(&spec, &image);
    size_t table = dynamic_table(&image, HASH);
    uint64_t words = lks_test_elf_get(&image, table, 4) + lks_test_elf_get(&image, table + 4, 4);
    for (size_t i = 0; i < words; i++)
        lks_test_elf_set(&image, table + 8 + i * 4, 1, 4);
    CHECK_CODE(find_version(&image, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "a chain of more than 65536 symbols in the hash table");
}

/* Notes that make no sense are as good as none; everything else is still read. */
static void test_notes(void)
{
    static const struct {
        const char *name;
        size_t at; /* in the notes; the first is 24 bytes long */
        uint64_t value;
        const char *build_id;
    } rows[] = {
        {"as built", 0, 4, "9fcf74d9008c3605"},
        {"a name without end", 0, UINT32_MAX, ""},
        {"a first note without end", 4, UINT32_MAX, ""},
        {"an id without end", 28, UINT32_MAX, ""},
        {"an id of no bytes", 28, 0, ""},
        {"another type", 32, 4, ""},
        {"another owner", 36, 0x00554e58, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
        struct lks_test_reader reader = {0};
        struct lks_elf elf;
        struct lks_err err = {0};
        lks_test_elf_build(&library, &image);
        size_t notes = (size_t)lks_test_elf_get(&image, NOTES + 8, 8);
        lks_test_elf_set(&image, notes + rows[i].at, rows[i].value, 4);
        if (!CHECK_CODE(open_image(&reader, &image, &elf, &err), LKS_OK))
            continue;
        CHECK_STR(lks_str_from(elf.build_id), rows[i].build_id);
        CHECK_STR(lks_str_from(elf.soname), "libnccl.so.2");
    }
}

/* Cut anywhere, it is refused with a reason: the table of sections comes last. A file that says it
 * is longer than it is ends where it ends. */
static void test_cut(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    lks_test_elf_build(&library, &image);
    for (size_t len = 0; len < image.len; len++) {
        struct lks_test_reader reader = {.bytes = {image.ptr, len}};
        struct lks_elf elf;
        struct lks_err err = {0};
        struct lks_elf_file file = lks_test_reader_file(&reader, len);
        lks_test_case("%zu bytes", len);
        CHECK_CODE(lks_elf_read(&file, &elf, &err), LKS_E_INVALID);
        CHECK(len < 64 || lks_str_find(lks_str_from(err.msg), LKS_STR("cut short")) > 0);

        lks_test_case("%zu bytes that claim to be all", len);
        file.size = image.len;
        err = (struct lks_err){0};
        struct lks_elf_part part;
        enum lks_code code = lks_elf_read(&file, &elf, &err);
        if (code == LKS_OK)
            code = lks_elf_section(&elf, ".shstrtab", &part, &err);
        CHECK_CODE(code, LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), "the file ends before byte ");
    }
}

/* What the reader says is passed on. */
static void test_failing_reader(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    struct lks_elf elf;
    lks_test_elf_build(&library, &image);
    for (uint64_t after = 1; after < 600; after += 50) {
        lks_test_case("fails after %u bytes", (unsigned)after);
        struct lks_test_reader reader = {.bytes = lks_buf_view(&image), .fail_after = after};
        struct lks_elf_file file = lks_test_reader_file(&reader, image.len);
        struct lks_err err = {0};
        CHECK_CODE(lks_elf_read(&file, &elf, &err), LKS_E_IO);
        CHECK_STR(lks_str_from(err.msg), "the disk is on fire");
    }
}

/* Random damage: read or refused, in one printable line, and never without end. */
static void test_damage(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    for (uint64_t seed = 1; seed <= DAMAGES; seed++) {
        struct lks_rng rng = {seed};
        struct lks_err err = {0};
        lks_test_case("seed %u", (unsigned)seed);
        lks_buf_truncate(&image, 0);
        lks_test_elf_build(&library, &image);
        for (unsigned n = 0; n < 3; n++) {
            size_t len = (size_t)1 << lks_rng_below(&rng, 4);
            size_t at = (size_t)lks_rng_below(&rng, image.len - len);
            uint64_t value = lks_rng_next(&rng) >> lks_rng_below(&rng, 64);
            lks_test_elf_set(&image, at, value, len);
        }
        enum lks_code code = find_version(&image, &err);
        CHECK(code == err.code && (code == LKS_OK) == (err.msg[0] == '\0'));
        CHECK(lks_str_printable(lks_str_from(err.msg)));
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"identity", test_identity}, {"module", test_module},
        {"sections", test_sections}, {"symbols", test_symbols},
        {"headers", test_headers},   {"tables", test_tables},
        {"circle", test_circle},     {"notes", test_notes},
        {"cut", test_cut},           {"failing reader", test_failing_reader},
        {"damage", test_damage},     {NULL, NULL},
    };
    return lks_test_main(tests);
}
