#include "tests/elf_image.h"

#include <string.h>

enum { HEADER = 64, SEGMENT = 56, SECTION = 64, BUCKETS = 3, DATA_ADDRESS = 0x200000 };

/* What is known of an image while it grows. */
struct image {
    const struct lks_test_elf *spec;
    struct lks_buf *out;
    const struct lks_test_symbol *order[LKS_TEST_ELF_SYMBOLS_MAX]; /* of the symbol table */
    size_t count, undefined;
    size_t note, note_len, symbols, strings, strings_len, gnu_hash, sysv_hash;
    size_t text, text_len, rodata, rodata_len, dynamic, dynamic_len;
};

void lks_test_elf_set(struct lks_buf *image, size_t at, uint64_t value, size_t len)
{
    LKS_ASSERT(len <= image->len && at <= image->len - len);
    for (size_t i = 0; i < len; i++)
        image->ptr[at + i] = (char)(value >> 8 * i & 0xff);
}

uint64_t lks_test_elf_get(const struct lks_buf *image, size_t at, size_t len)
{
    LKS_ASSERT(len <= image->len && at <= image->len - len);
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)(unsigned char)image->ptr[at + i] << 8 * i;
    return value;
}

static void put(struct lks_buf *out, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        lks_buf_addc(out, (char)(value >> 8 * i & 0xff));
}

static size_t align(struct lks_buf *out, size_t to)
{
    lks_buf_pad(out, '\0', (ptrdiff_t)((to - out->len % to) % to));
    return out->len;
}

static uint32_t hash_gnu(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = (hash << 5) + hash + (unsigned char)*name;
    return hash;
}

/* As the standard writes it. */
static uint32_t hash_sysv(const char *name)
{
    uint32_t hash = 0, high;
    for (; *name != '\0'; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        high = hash & 0xf0000000;
        if (high != 0)
            hash ^= high >> 24;
        hash &= ~high;
    }
    return hash;
}

/* What is not defined comes first, the rest by bucket: so the GNU table wants it. */
static void order_symbols(struct image *im)
{
    const struct lks_test_symbol *all = im->spec->symbols;
    for (unsigned bucket = 0; bucket <= BUCKETS; bucket++) {
        for (size_t i = 0; i < LKS_TEST_ELF_SYMBOLS_MAX && all[i].name != NULL; i++) {
            bool defined = all[i].bytes.len > 0;
            if (bucket == 0 ? !defined : defined && hash_gnu(all[i].name) % BUCKETS + 1 == bucket)
                im->order[im->count++] = &all[i];
        }
        if (bucket == 0)
            im->undefined = im->count;
    }
}

static void put_note(struct image *im)
{
    im->note = align(im->out, 4);
    /* Another note stands before it, as one often does. */
    put(im->out, 4, 4);
    put(im->out, 5, 4);
    put(im->out, 1, 4);
    lks_buf_add(im->out, LKS_STR("GNU\0other\0\0\0"));
    if (im->spec->build_id.len > 0) {
        put(im->out, 4, 4);
        put(im->out, im->spec->build_id.len, 4);
        put(im->out, 3, 4);
        lks_buf_add(im->out, LKS_STR("GNU\0"));
        lks_buf_add(im->out, im->spec->build_id);
    }
    im->note_len = im->out->len - im->note;
}

/* The bytes of all symbols that are code, or of all that are not, and where they went into `at`. */
static size_t put_bytes(struct image *im, bool code, size_t at[LKS_TEST_ELF_SYMBOLS_MAX])
{
    size_t begin = align(im->out, 16);
    for (size_t i = 0; i < im->count; i++) {
        if (im->order[i]->code == code) {
            at[i] = align(im->out, 16);
            lks_buf_add(im->out, im->order[i]->bytes);
        }
    }
    return begin;
}

static void put_symbols(struct image *im, const size_t at[LKS_TEST_ELF_SYMBOLS_MAX])
{
    size_t name = 1 + (im->spec->soname != NULL ? strlen(im->spec->soname) + 1 : 0);
    im->symbols = align(im->out, 8);
    lks_buf_pad(im->out, '\0', 24);
    for (size_t i = 0; i < im->count; i++) {
        const struct lks_test_symbol *s = im->order[i];
        bool defined = s->bytes.len > 0;
        put(im->out, name, 4);
        put(im->out, 0x10 | (s->code ? 2 : 1), 2); /* global function or object */
        put(im->out, defined ? 1 : 0, 2);
        put(im->out, defined ? LKS_TEST_ELF_ADDRESS + at[i] : 0, 8);
        put(im->out, s->bytes.len, 8);
        name += strlen(s->name) + 1;
    }
    im->strings = im->out->len;
    lks_buf_addc(im->out, '\0');
    if (im->spec->soname != NULL)
        lks_buf_add(im->out, (struct lks_str){im->spec->soname, strlen(im->spec->soname) + 1});
    for (size_t i = 0; i < im->count; i++)
        lks_buf_add(im->out, (struct lks_str){im->order[i]->name, strlen(im->order[i]->name) + 1});
    im->strings_len = im->out->len - im->strings;
}

/* Each symbol's hash, the lowest bit saying that it is the last of its bucket. */
static void put_gnu_hash(struct image *im)
{
    uint32_t first = (uint32_t)im->undefined + 1;
    im->gnu_hash = align(im->out, 8);
    put(im->out, BUCKETS, 4);
    put(im->out, first, 4);
    put(im->out, 1, 4); /* words of the filter, which lets everything pass */
    put(im->out, 0, 4);
    put(im->out, UINT64_MAX, 8);
    size_t buckets = im->out->len;
    lks_buf_pad(im->out, '\0', BUCKETS * 4);
    for (size_t i = im->undefined; i < im->count; i++) {
        uint32_t hash = hash_gnu(im->order[i]->name), bucket = hash % BUCKETS;
        bool last = i + 1 == im->count || hash_gnu(im->order[i + 1]->name) % BUCKETS != bucket;
        put(im->out, last ? hash | 1 : hash & ~UINT32_C(1), 4);
        if (lks_test_elf_get(im->out, buckets + (size_t)bucket * 4, 4) == 0)
            lks_test_elf_set(im->out, buckets + (size_t)bucket * 4, i + 1, 4);
    }
}

static void put_sysv_hash(struct image *im)
{
    im->sysv_hash = align(im->out, 8);
    put(im->out, BUCKETS, 4);
    put(im->out, im->count + 1, 4);
    size_t buckets = im->out->len, chains = buckets + (size_t)BUCKETS * 4;
    lks_buf_pad(im->out, '\0', (ptrdiff_t)(BUCKETS + im->count + 1) * 4);
    for (size_t i = 0; i < im->count; i++) {
        size_t bucket = buckets + hash_sysv(im->order[i]->name) % BUCKETS * 4;
        lks_test_elf_set(im->out, chains + (i + 1) * 4, lks_test_elf_get(im->out, bucket, 4), 4);
        lks_test_elf_set(im->out, bucket, i + 1, 4);
    }
}

static void put_entry(struct image *im, uint64_t tag, uint64_t value)
{
    put(im->out, tag, 8);
    put(im->out, value, 8);
}

static void put_dynamic(struct image *im)
{
    uint64_t base = LKS_TEST_ELF_ADDRESS;
    im->dynamic = align(im->out, 8);
    if (im->spec->soname != NULL)
        put_entry(im, 14, 1);
    put_entry(im, 5, base + im->strings);
    put_entry(im, 10, im->strings_len);
    put_entry(im, 6, base + im->symbols);
    if (!im->spec->no_sysv_hash)
        put_entry(im, 4, base + im->sysv_hash);
    if (!im->spec->no_gnu_hash)
        put_entry(im, 0x6ffffef5, base + im->gnu_hash);
    put_entry(im, 0, 0);
    im->dynamic_len = im->out->len - im->dynamic;
}

static void set_segment(struct image *im, size_t index, const uint64_t fields[5])
{
    size_t at = HEADER + index * SEGMENT;
    lks_test_elf_set(im->out, at, fields[0], 4);          /* type */
    lks_test_elf_set(im->out, at + 4, fields[1], 4);      /* flags */
    lks_test_elf_set(im->out, at + 8, fields[2], 8);      /* offset */
    lks_test_elf_set(im->out, at + 16, fields[3], 8);     /* address */
    lks_test_elf_set(im->out, at + 32, fields[4], 8);     /* size in the file */
    lks_test_elf_set(im->out, at + 40, fields[4] + 8, 8); /* and in memory */
    lks_test_elf_set(im->out, at + 48, 4, 8);
}

static void set_segments(struct image *im)
{
    uint64_t base = LKS_TEST_ELF_ADDRESS, data = DATA_ADDRESS;
    lks_test_elf_set(im->out, 32, HEADER, 8);
    lks_test_elf_set(im->out, 54, SEGMENT, 2);
    lks_test_elf_set(im->out, 56, 4, 2);
    set_segment(im, 0, (uint64_t[]){1, 5, 0, base, im->dynamic});
    set_segment(im, 1, (uint64_t[]){1, 6, im->dynamic, data, im->dynamic_len});
    set_segment(im, 2, (uint64_t[]){2, 6, im->dynamic, data, im->dynamic_len});
    set_segment(im, 3, (uint64_t[]){4, 4, im->note, base + im->note, im->note_len});
}

static void put_section(struct image *im, size_t name, uint64_t type, size_t at, size_t len)
{
    put(im->out, name, 4);
    put(im->out, type, 4);
    lks_buf_pad(im->out, '\0', 16);
    put(im->out, at, 8);
    put(im->out, len, 8);
    lks_buf_pad(im->out, '\0', 24);
}

static void put_sections(struct image *im, size_t modinfo, size_t modinfo_len)
{
    static const char names[] = "\0.text\0.bss\0.rodata\0.modinfo\0.note.gnu.build-id\0.shstrtab";
    size_t at = im->out->len;
    lks_buf_add(im->out, (struct lks_str){names, sizeof(names)});
    size_t table = align(im->out, 8);
    lks_buf_pad(im->out, '\0', SECTION);
    put_section(im, 1, 1, im->text, im->text_len);
    put_section(im, 7, 8, im->dynamic, (size_t)1 << 40); /* takes no room in the file */
    put_section(im, 12, 1, im->rodata, im->rodata_len);
    put_section(im, 20, 1, modinfo, modinfo_len);
    put_section(im, 29, 7, im->note, im->note_len);
    put_section(im, 48, 3, at, sizeof(names));
    lks_test_elf_set(im->out, 40, table, 8);
    lks_test_elf_set(im->out, 58, SECTION, 2);
    lks_test_elf_set(im->out, 60, 7, 2);
    lks_test_elf_set(im->out, 62, 6, 2);
}

void lks_test_elf_build(const struct lks_test_elf *spec, struct lks_buf *out)
{
    struct image im = {.spec = spec, .out = out};
    size_t at[LKS_TEST_ELF_SYMBOLS_MAX] = {0};
    bool module = spec->modinfo.len > 0;
    LKS_ASSERT(out->len == 0);
    lks_buf_add(out, LKS_STR("\177ELF\2\1\1"));
    lks_buf_pad(out, '\0', HEADER + 4 * SEGMENT - 7);
    lks_test_elf_set(out, 16, module ? 1 : 3, 2);
    lks_test_elf_set(out, 18, spec->machine != 0 ? spec->machine : LKS_TEST_ELF_X86_64, 2);
    order_symbols(&im);
    put_note(&im);
    im.text = put_bytes(&im, true, at);
    im.text_len = out->len - im.text;
    im.rodata = put_bytes(&im, false, at);
    lks_buf_add(out, spec->rodata);
    im.rodata_len = out->len - im.rodata;
    size_t modinfo = out->len;
    lks_buf_add(out, spec->modinfo);
    if (!module) {
        put_symbols(&im, at);
        put_gnu_hash(&im);
        put_sysv_hash(&im);
        put_dynamic(&im);
        set_segments(&im);
    }
    if (!spec->no_sections)
        put_sections(&im, modinfo, spec->modinfo.len);
    struct lks_err err;
    LKS_ASSERT(lks_buf_check(out, &err) == LKS_OK);
}

static enum lks_code read_at(void *ctx, uint64_t offset, void *buf, size_t len, size_t *got,
                             struct lks_err *err)
{
    struct lks_test_reader *reader = ctx;
    uint64_t size = reader->bytes.len;
    LKS_ASSERT(len > 0);
    if (reader->fail_after > 0 && reader->given >= reader->fail_after)
        return lks_fail(err, LKS_E_IO, "the disk is on fire");
    len = reader->step > 0 && len > reader->step ? reader->step : len;
    len = offset >= size ? 0 : len < size - offset ? len : (size_t)(size - offset);
    if (len > 0)
        memcpy(buf, reader->bytes.ptr + offset, len);
    reader->given += len;
    *got = len;
    return LKS_OK;
}

struct lks_elf_file lks_test_reader_file(struct lks_test_reader *reader, uint64_t size)
{
    return (struct lks_elf_file){.size = size, .ctx = reader, .read_at = read_at};
}
