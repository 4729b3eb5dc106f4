/*
 * A package from a control stream. Its first byte chooses: the bytes behind it are the file, or
 * they are edits of a package that was good; a trailer, whole or not, is put behind them; checksums
 * are made right again or left; a signature is looked for at the end; or they are a recipe.
 * Whatever is read: what parses strictly writes back to the same bytes, strict and lenient differ
 * by notes alone, everything lies within the file, and what a recipe says is what is in the package
 * it makes.
 */
#include "codec/format/yaml.h"
#include "pldm/recipe.h"
#include "tests/packages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FROM_GOOD = 1 << 0, /* edits of a good package */
    MENDED = 1 << 1,    /* with checksums that are right */
    TRAILED = 1 << 2,   /* the last bytes are a signature trailer */
    REVISION_SHIFT = 3, /* two bits */
    RECIPE = 1 << 5,    /* the rest is YAML */
    CUT = 1 << 6,       /* a trailer of any length is behind it */
    FILE_MAX = 256 << 10,
    EDIT_BYTES = 4, /* kind, place (two bytes), value */
};

enum edit { EDIT_SET, EDIT_ADD, EDIT_INSERT, EDIT_REMOVE, EDIT_WORD, EDITS };

static uint8_t take(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}

static void insert(struct lks_buf *file, size_t at, char value)
{
    lks_buf_addc(file, value);
    if (file->failed != LKS_OK)
        return;
    memmove(file->ptr + at + 1, file->ptr + at, file->len - at - 1);
    file->ptr[at] = value;
}

static void change(struct lks_buf *file, uint8_t kind, size_t at, char value)
{
    if (file->len == 0)
        return;
    at %= file->len;
    switch ((enum edit)(kind % EDITS)) {
    case EDIT_ADD:
        file->ptr[at] = (char)(file->ptr[at] + value);
        break;
    case EDIT_INSERT:
        insert(file, at, value);
        break;
    case EDIT_REMOVE:
        memmove(file->ptr + at, file->ptr + at + 1, file->len - at - 1);
        lks_buf_truncate(file, file->len - 1);
        break;
    case EDIT_WORD: /* a length becomes as large as it can */
        file->ptr[at] = value;
        file->ptr[at + 1 < file->len ? at + 1 : at] = value;
        break;
    case EDIT_SET:
    case EDITS:
    default:
        file->ptr[at] = value;
        break;
    }
}

static void edit_good(struct lks_buf *file, uint8_t control, const uint8_t *data, size_t size)
{
    uint8_t revision = (uint8_t)(1 + (control >> REVISION_SHIFT & 3));
    struct lks_rng rng = {.state = take(&data, &size)};
    struct lks_test_package t = lks_test_package_any(&rng, revision);
    lks_test_package_file(&t, file);
    lks_pldm_package_fini(&t.package);
    while (size >= EDIT_BYTES && file->failed == LKS_OK) {
        uint8_t kind = take(&data, &size);
        size_t at = take(&data, &size);
        at |= (size_t)take(&data, &size) << 8;
        change(file, kind, at, (char)take(&data, &size));
    }
}

/* ---- What holds for whatever was read. ---- */

static void check_records(const struct lks_pldm_package *p, const struct lks_pldm_record *records,
                          size_t count, struct lks_arena *a)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_pldm_record *r = &records[i];
        LKS_ASSERT(r->descriptor_count > 0);
        LKS_ASSERT(lks_pldm_package_record_matches(r, r->descriptors, r->descriptor_count));
        for (size_t k = 0; k < r->component_count; k++) {
            LKS_ASSERT(r->components[k] < p->component_count);
            LKS_ASSERT(k == 0 || r->components[k] > r->components[k - 1]);
            LKS_ASSERT(lks_pldm_package_record_applies(r, r->components[k]));
        }
        struct lks_str text = lks_pldm_package_string_text(r->version, a);
        LKS_ASSERT(text.ptr == NULL || lks_str_printable(text));
        for (size_t k = 0; k < r->descriptor_count; k++) {
            struct lks_pldm_vendor v;
            if (lks_pldm_package_vendor_split(r->descriptors[k].value, &v))
                LKS_ASSERT(v.title.bytes.len > 0 && v.data.len > 0);
        }
    }
}

/* Bytes from the end of the images to that of the file are padding, the trailer or faults. */
static void check_behind(const struct lks_pldm_package *p, struct lks_str file, size_t trailer,
                         const struct lks_pldm_sums *sums)
{
    uint64_t faults = 0;
    for (size_t at = (size_t)lks_pldm_package_end(p); at < file.len - trailer; at++)
        faults += file.ptr[at] != '\0';
    LKS_ASSERT(sums->behind == faults);
}

static size_t trailer_of(const struct lks_pldm_package *p, struct lks_str file)
{
    if (file.len - lks_pldm_package_end(p) < LKS_PLDM_TRAILER_BYTES)
        return 0;
    struct lks_str tail = {file.ptr + file.len - LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES};
    return lks_pldm_trailer_is(tail) ? LKS_PLDM_TRAILER_BYTES : 0;
}

static void check_pass(const struct lks_pldm_package *p, struct lks_str file, size_t portion)
{
    LKS_CLEANUP(lks_pldm_package_pass_fini) struct lks_pldm_pass pass = {0};
    size_t trailer = trailer_of(p, file);
    struct lks_pldm_pass_options options = {.file_size = file.len, .trailer_size = trailer};
    struct lks_pldm_sums sums = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_pldm_package_pass_init(&pass, p, &options, &err) == LKS_OK);
    for (size_t at = 0; at < file.len; at += portion) {
        size_t n = file.len - at < portion ? file.len - at : portion;
        LKS_ASSERT(lks_pldm_package_pass_feed(&pass, (struct lks_str){file.ptr + at, n}, &err) ==
                   LKS_OK);
    }
    LKS_ASSERT(lks_pldm_package_pass_finish(&pass, &sums, &err) == LKS_OK);
    check_behind(p, file, trailer, &sums);
    for (size_t i = 0; i < p->component_count && i < 4; i++) {
        char want[LKS_DIGEST_SIZE], got[LKS_DIGEST_SIZE];
        struct lks_str image = {file.ptr + p->components[i].offset, p->components[i].size};
        LKS_ASSERT(lks_digest_text(image, want, &err) == LKS_OK);
        LKS_ASSERT(strcmp(lks_digest_write(sums.components[i], got), want) == 0);
    }
}

static void check_read(struct lks_pldm_package *p, struct lks_str file)
{
    struct lks_arena a;
    lks_arena_init(&a, 1 << 20);
    LKS_ASSERT(lks_pldm_package_end(p) <= file.len);
    check_records(p, p->devices, p->device_count, &a);
    check_records(p, p->downstream, p->downstream_count, &a);
    for (size_t i = 0; i < p->note_count; i++)
        LKS_ASSERT(p->notes[i].text.len > 0);
    check_pass(p, file, 1000);
    lks_arena_fini(&a);
}

static void check_strict(const struct lks_pldm_package *p, struct lks_str file)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_PLDM_HEADER_MAX);
    struct lks_err err = {0};
    LKS_ASSERT(lks_pldm_package_header(p, p->payload_crc, &again, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), (struct lks_str){file.ptr, p->header_size}));
}

static void check_file(struct lks_str file)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package strict = {0};
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package lenient = {0};
    struct lks_err err = {0};
    bool is_strict = lks_pldm_package_parse(file, file.len, true, &strict, &err) == LKS_OK;
    bool is_lenient = lks_pldm_package_parse(file, file.len, false, &lenient, &err) == LKS_OK;
    LKS_ASSERT(is_lenient || !is_strict);
    LKS_ASSERT(!is_lenient || is_strict == (lenient.note_count == 0));
    if (is_strict) {
        check_strict(&strict, file);
        LKS_ASSERT(lks_test_packages_equal(&strict, &lenient));
    }
    if (is_lenient)
        check_read(&lenient, file);
}

static const char magic[] = {0x5f, 0x32, (char)0xcb, 0x08, 3};

/* A trailer behind a good package, cut short or with bytes behind it as the last two of the input
 * have it. A package whose trailer is not whole has bytes that are at fault. */
static void add_trailer(struct lks_buf *file, const uint8_t *data, size_t size)
{
    size_t want =
        size < 2 ? LKS_PLDM_TRAILER_BYTES
                 : (data[size - 2] | (size_t)data[size - 1] << 8) % (LKS_PLDM_TRAILER_BYTES + 16);
    size_t end = file->len + want;
    for (size_t i = 0; i < sizeof(magic) && file->len < end; i++)
        lks_buf_addc(file, magic[i]);
    lks_buf_pad(file, 'x', (ptrdiff_t)(end - file->len));
}

static void check_trailer(struct lks_buf *file)
{
    static const uint8_t digest[LKS_PLDM_SIGNED_DIGEST_BYTES];
    struct lks_pldm_trailer t;
    struct lks_err err = {0};
    if (file->len < LKS_PLDM_TRAILER_BYTES)
        lks_buf_pad(file, '\0', (ptrdiff_t)(LKS_PLDM_TRAILER_BYTES - file->len));
    size_t at = file->len - LKS_PLDM_TRAILER_BYTES;
    memcpy(file->ptr + at, magic, sizeof(magic));
    struct lks_str tail = {file->ptr + at, LKS_PLDM_TRAILER_BYTES};
    if (lks_pldm_trailer_parse(tail, at, &t, &err) != LKS_OK)
        return;
    LKS_ASSERT(t.key.ptr + t.key.len <= t.signature.ptr);
    LKS_ASSERT(t.signature.ptr + t.signature.len <= tail.ptr + tail.len);
    LKS_ASSERT(t.signed_size <= file->len);
    LKS_ASSERT(lks_pldm_trailer_verify(&t, digest, NULL, &err) != LKS_OK);
}

/* ---- Recipes. ---- */

/* With one byte for each file it names. */
static void check_recipe(struct lks_pldm_recipe *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_str images[LKS_TEST_IMAGES_MAX];
    struct lks_err err = {0};
    if (r->package.component_count > LKS_COUNT(images))
        return;
    for (size_t i = 0; i < r->wanted_count; i++) {
        LKS_ASSERT(r->wanted[i].path.len > 0 && r->wanted[i].at != NULL);
        if (r->wanted[i].into != NULL)
            *r->wanted[i].into = LKS_STR("d");
    }
    for (size_t i = 0; i < r->package.component_count; i++)
        images[i] = LKS_STR("i");
    enum lks_code code = lks_pldm_package_build(&r->package, images, &file, &err);
    LKS_ASSERT(code == LKS_OK || code == LKS_E_LIMIT);
    if (code != LKS_OK)
        return;
    LKS_ASSERT(lks_pldm_package_open(lks_buf_view(&file), true, &p, &err) == LKS_OK);
    LKS_ASSERT(lks_test_packages_equal(&r->package, &p));
}

static void try_recipe(struct lks_str text)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_pldm_recipe_fini) struct lks_pldm_recipe recipe = {0};
    struct lks_err err = {0};
    if (lks_docs_init(&docs, "recipe", &err) == LKS_OK &&
        lks_yaml_parse(text, &docs, &err) == LKS_OK &&
        lks_pldm_recipe_read(&docs, &recipe, &err) == LKS_OK)
        check_recipe(&recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    uint8_t control = take(&data, &size);
    if ((control & RECIPE) != 0) {
        try_recipe((struct lks_str){(const char *)data, size});
        return 0;
    }
    if ((control & FROM_GOOD) != 0)
        edit_good(&file, control, data, size);
    else
        lks_buf_add(&file, (struct lks_str){(const char *)data, size});
    if ((control & CUT) != 0)
        add_trailer(&file, data, size);
    if (file.failed != LKS_OK || file.len == 0)
        return 0;
    if ((control & MENDED) != 0)
        (void)lks_test_package_mend(&file);
    check_file(lks_buf_view(&file));
    if ((control & TRAILED) != 0)
        check_trailer(&file);
    return 0;
}
