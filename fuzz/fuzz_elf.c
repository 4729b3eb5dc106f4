/* Any bytes as a file: the first says how few the reader gives at a time. That makes no difference
 * to what is read of headers, sections, symbols and versions; what is found lies inside the file;
 * and no header, whatever it claims, makes us read without end. */
#include "codec/program/libver.h"
#include "tests/elf_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read, all that can be compared of it. */
struct outcome {
    enum lks_code code;
    struct lks_err err;
    struct lks_elf elf;
    struct lks_elf_part rodata;
    struct lks_elf_symbol symbol;
    struct lks_libver versions[16];
    enum lks_code codes[16];
};

static void check_inside(struct lks_elf_part part, size_t size)
{
    LKS_ASSERT(part.size <= size && part.offset <= size - part.size);
}

/* Every library we know, as if the file were it. */
static void read_versions(struct outcome *o)
{
    for (size_t i = 0; lks_libver_kind_at(i) != NULL; i++) {
        LKS_ASSERT(i < LKS_COUNT(o->versions));
        struct lks_err err = {0};
        o->codes[i] = lks_libver_read(lks_libver_kind_at(i), &o->elf, LKS_STR("libx.so.1"),
                                      &o->versions[i], &err);
        LKS_ASSERT(o->codes[i] == err.code);
        if (o->codes[i] == LKS_OK) {
            LKS_ASSERT(o->versions[i].version[0] != '\0' && o->versions[i].evidence[0] != '\0');
            LKS_ASSERT(o->versions[i].from != LKS_LIBVER_FILE_NAME);
        }
    }
}

static void read_all(struct lks_str bytes, size_t step, struct outcome *o)
{
    struct lks_test_reader reader = {.bytes = bytes, .step = step};
    struct lks_elf_file file = lks_test_reader_file(&reader, bytes.len);
    struct lks_err err = {0};
    o->code = lks_elf_read(&file, &o->elf, &o->err);
    LKS_ASSERT(o->code == o->err.code && (o->code == LKS_OK) == (o->err.msg[0] == '\0'));
    if (o->code != LKS_OK)
        return;
    if (lks_elf_section(&o->elf, ".rodata", &o->rodata, &err) == LKS_OK)
        check_inside(o->rodata, bytes.len);
    if (lks_elf_symbol(&o->elf, "ncclGetVersion", &o->symbol, &err) == LKS_OK)
        check_inside(o->symbol.part, bytes.len);
    for (size_t i = 0; i < o->elf.load_count; i++)
        check_inside(o->elf.loads[i].part, bytes.len);
    read_versions(o);

    /* Headers and chains have limits of their own; of the rest each rule reads the file once. */
    uint64_t most = (uint64_t)bytes.len * 32 + UINT64_C(64) * 1024 * 1024;
    LKS_ASSERT(reader.given <= most);
}

static bool same_elf(const struct lks_elf *a, const struct lks_elf *b)
{
    return a->machine == b->machine && a->relocatable == b->relocatable &&
           a->load_count == b->load_count && strcmp(a->soname, b->soname) == 0 &&
           strcmp(a->build_id, b->build_id) == 0 &&
           memcmp(&a->sections, &b->sections, sizeof(a->sections)) == 0 &&
           memcmp(&a->names, &b->names, sizeof(a->names)) == 0 &&
           memcmp(&a->dynamic, &b->dynamic, sizeof(a->dynamic)) == 0;
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->code == b->code && strcmp(a->err.msg, b->err.msg) == 0 &&
           same_elf(&a->elf, &b->elf) && memcmp(&a->rodata, &b->rodata, sizeof(a->rodata)) == 0 &&
           a->symbol.address == b->symbol.address && a->symbol.code == b->symbol.code &&
           memcmp(a->versions, b->versions, sizeof(a->versions)) == 0 &&
           memcmp(a->codes, b->codes, sizeof(a->codes)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome whole, pieces;
    if (size == 0)
        return 0;
    struct lks_str bytes = {(const char *)data + 1, size - 1};
    whole = pieces = (struct outcome){0};
    read_all(bytes, 0, &whole);
    read_all(bytes, 1 + (size_t)data[0], &pieces);
    LKS_ASSERT(same(&whole, &pieces));
    return 0;
}
