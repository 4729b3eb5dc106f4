/* lockstep pldm inspect, verify and build, as a user has them. */
#include "base/file.h"
#include "tests/packages.h"
#include "tests/run_cli.h"
#include "tests/tree.h"

#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const char *in(const struct lks_tree *tree, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s%s", tree->path, name);
    return out;
}

static void read_back(const struct lks_tree *tree, const char *name, struct lks_buf *out)
{
    char path[PATH_MAX];
    struct lks_err err = {0};
    lks_buf_init(out, FILE_MAX);
    CHECK_CODE(lks_file_read_plain(in(tree, name, path), out, &err), LKS_OK);
}

/* build -------------------------------------------------------------------------------------- */

#define DIGEST "sha256:05517691c6d5de85b444e9cfdceab9c2821fac939e39be663dab43d0951cad66"

/* Temporary files that are left. */
static int count_new(const struct lks_tree *tree)
{
    glob_t found = {0};
    char pattern[PATH_MAX];
    (void)glob(in(tree, "/*.new", pattern), 0, NULL, &found);
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

/* The example makes the same bytes for ever. */
static void example_builds(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    char path[PATH_MAX];
    in(&tree, "/nic.fwpkg", path);
    struct lks_run run = lks_run(
        (const char *[])ARGS("pldm", "build", "examples/firmware/nic.yaml", "--output", path));
    CHECK_INT(run.exit, 0);
    CHECK_STR(run.err, "");
    CHECK_HAS(run.out, ": 364 bytes, 3 components for 2 kinds of device\n" DIGEST "\n");
    CHECK_INT(count_new(&tree), 0);
    lks_run_fini(&run);
    run = lks_run((const char *[])ARGS("pldm", "inspect", path));
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, "pci-vendor 15b3, pci-device 1021, vendor SKU=EXAMPLE-400G");
    CHECK_HAS(run.out, "28.43.2026");
    lks_run_fini(&run);
    run = lks_run((const char *[])ARGS("pldm", "verify", "--strict", path));
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, DIGEST "\n");
    CHECK_HAS(run.out, "nic.fwpkg: verified\n");
    lks_run_fini(&run);
}

#define RECIPE                                                                                     \
    "revision: 4\n"                                                                                \
    "version: \"1.0\"\n"                                                                           \
    "released: \"2026-11-15\"\n"                                                                   \
    "devices:\n"                                                                                   \
    "  - version: \"set\"\n"                                                                       \
    "    descriptors:\n"                                                                           \
    "      - {type: pci-vendor, value: \"10de\"}\n"                                                \
    "      - {type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"}\n"                      \
    "    components: [one]\n"                                                                      \
    "downstream:\n"                                                                                \
    "  - descriptors: [{type: ieee-company, hex: \"a1b2c3\"}]\n"                                   \
    "components:\n"                                                                                \
    "  - {name: one, file: one.img, version: \"1\", id: 1, stamp: 7}\n"                            \
    "  - {name: two, file: two.img, version: \"2\", id: 2, opaque: opaque.bin}\n"

/* One thing in the recipe replaced. */
static const struct recipe_row {
    const char *name, *old, *new;
    const char *message; /* behind the name of the file; NULL: it builds */
} recipe_rows[] = {
    {"as it is", "", "", NULL},
    {"a vendor's number", "id: 1,", "id: 1, classification: 40000,", NULL},
    {"a reserved number", "id: 1,", "id: 1, classification: 16,",
     "13:53: components[1].classification: no classification 16: there are 0 to 13, and a vendor's "
     "own from 32768 to 65535"},
    {"a misspelled class", "id: 1,", "id: 1, classification: firmwear,",
     "13:53: components[1].classification: no classification 'firmwear'; did you mean 'firmware'?"},
    {"a misspelled key", "revision: 4", "revison: 4",
     "1:1: revison: unknown key; did you mean 'revision'?"},
    {"no such revision", "revision: 4", "revision: 5", "1:1: revision: 5 is not between 1 and 4"},
    {"no date", "\"2026-11-15\"", "\"yesterday\"",
     "3:1: released: is neither a day (\"2026-11-15\") nor a time (\"2026-11-15T08:00:00Z\")"},
    {"a time with a zone", "\"2026-11-15\"", "\"2026-11-15T08:00:00+01:00\"", NULL},
    {"a misspelled descriptor", "pci-vendor", "pci-ventor",
     "7:10: devices[1].descriptors[1].type: no descriptor type 'pci-ventor'; did you mean "
     "'pci-vendor'?"},
    {"a descriptor by number", "type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"",
     "type: \"0x0200\", hex: \"0102\"", NULL},
    {"that with a value", "type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"",
     "type: \"0x0200\", value: \"0102\"",
     "8:26: devices[1].descriptors[2].value: give the bytes of this type as hex: \"...\""},
    {"too many digits", "\"10de\"", "\"10de0\"",
     "7:28: devices[1].descriptors[1].value: expected up to 4 hexadecimal digits in quotes"},
    {"a number without quotes", "\"10de\"", "10",
     "7:28: devices[1].descriptors[1].value: expected up to 4 hexadecimal digits in quotes"},
    {"no UUID", "00112233-4455", "0011223344-55",
     "8:22: devices[1].descriptors[2].value: is no UUID: 32 lower-case hexadecimal digits as "
     "8-4-4-4-12"},
    {"hex of another length", "\"a1b2c3\"", "\"a1b2\"",
     "11:40: downstream[1].descriptors[1].hex: ieee-company has 3 bytes and this has 2"},
    {"both", "value: \"10de\"", "value: \"10de\", hex: \"de10\"",
     "7:9: devices[1].descriptors[1]: give either value or hex"},
    {"neither", ", value: \"10de\"", "",
     "7:9: devices[1].descriptors[1]: give either value or hex"},
    {"a text too short", "type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"",
     "type: model-short, value: \"short\"",
     "8:29: devices[1].descriptors[2].value: model-short has exactly 10 characters and this has 5; "
     "pad it as the device does"},
    {"a vendor's own", "type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"",
     "type: vendor, title: SKU, value: \"A1\"", NULL},
    {"a vendor's own without a title",
     "type: uuid, value: \"00112233-4455-6677-8899-aabbccddeeff\"", "type: vendor, value: \"A1\"",
     "8:9: devices[1].descriptors[2]: a vendor's descriptor needs a title"},
    {"a title elsewhere", "type: uuid,", "type: uuid, title: SKU,",
     "8:22: devices[1].descriptors[2].title: only a vendor's own descriptor has a title"},
    {"the first names no vendor", "type: pci-vendor", "type: pci-device",
     "7:9: devices[1].descriptors[1]: the first descriptor names a vendor: one of pci-vendor, "
     "iana-enterprise, uuid, pnp-vendor, acpi-vendor, ieee-company and scsi-vendor"},
    {"no such component", "[one]", "[onee]",
     "9:18: devices[1].components[1]: no component 'onee'; did you mean 'one'?"},
    {"a component twice", "[one]", "[one, one]",
     "9:23: devices[1].components[2]: this component is named twice"},
    {"a name twice", "name: two", "name: one",
     "14:6: components[2].name: there is already a component of this name"},
    {"no such activation", "id: 1,", "id: 1, activation: [reboot],",
     "13:66: components[1].activation[1]: no way of activation 'reboot'"},
    {"no such file", "one.img", "none.img", "13:17: components[1].file: "},
    {"an empty file", "one.img", "empty.img", "13:17: components[1].file: "},
    {"a folder", "one.img", "folder", "13:17: components[1].file: "},
    {"no such opaque data", "opaque.bin", "none.bin", "14:53: components[2].opaque: "},
    {"opaque data in revision 2", "revision: 4", "revision: 2",
     "14:53: components[2].opaque: opaque data needs revision 3 or later"},
    {"a manifest", "    components: [one]", "    manifest: opaque.bin\n    components: [one]",
     NULL},
    {"a manifest in revision 3",
     "revision: 4\nversion: \"1.0\"\nreleased: \"2026-11-15\"\ndevices:\n  - version: \"set\"\n",
     "revision: 3\nversion: \"1.0\"\nreleased: \"2026-11-15\"\ndevices:\n  - version: \"set\"\n"
     "    manifest: opaque.bin\n",
     "6:5: devices[1].manifest: a reference manifest needs revision 4"},
    {"downstream in revision 1", "revision: 4", "revision: 1",
     "11:5: downstream[1]: downstream devices need revision 2 or later"},
    {"a stamp without its version", "- descriptors: [{type: ieee",
     "- min_stamp: 1\n    descriptors: [{type: ieee",
     "11:5: downstream[1].min_stamp: goes with min_version"},
    {"opaque data beyond a header", "opaque.bin", "large.bin", " the header would have "},
    {"two documents", "revision: 4", "a: 1\n---\nrevision: 4", " holds 2 documents instead of one"},
};

static void put_recipe(const struct lks_tree *tree, const struct recipe_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_MAX);
    struct lks_str recipe = LKS_STR(RECIPE);
    ptrdiff_t at = lks_str_find(recipe, lks_str_from(row->old));
    size_t len = strlen(row->old);
    if (!CHECK(at >= 0))
        return;
    lks_buf_add(&text, (struct lks_str){recipe.ptr, (size_t)at});
    lks_buf_add(&text, lks_str_from(row->new));
    lks_buf_add(&text, (struct lks_str){recipe.ptr + at + len, recipe.len - (size_t)at - len});
    lks_tree_bytes(tree, "/recipe.yaml", lks_buf_view(&text));
}

static void put_files(const struct lks_tree *tree)
{
    static char large[65400];
    memset(large, 'x', sizeof(large));
    lks_tree_file(tree, "/one.img", "the first image");
    lks_tree_file(tree, "/two.img", "the second");
    lks_tree_file(tree, "/opaque.bin", "opaque");
    lks_tree_file(tree, "/empty.img", "");
    lks_tree_dir(tree, "/folder");
    lks_tree_bytes(tree, "/large.bin", (struct lks_str){large, sizeof(large)});
}

static void check_built(const struct lks_tree *tree)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = {0};
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    read_back(tree, "/out.fwpkg", &file);
    if (!CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), true, &p, &err), LKS_OK))
        return;
    CHECK_INT(p.component_count, 2);
    CHECK_STR(((struct lks_str){file.ptr + p.components[0].offset, p.components[0].size}),
              "the first image");
    CHECK_INT(p.components[0].stamp, 7);
    CHECK_STR(p.components[1].opaque, "opaque");
    CHECK_INT(p.devices[0].component_count, 1);
    CHECK_INT(p.downstream[0].component_count, 2);
    CHECK_INT(p.released.year, 2026);
}

static void recipes_are_read(void)
{
    for (size_t i = 0; i < LKS_COUNT(recipe_rows); i++) {
        const struct recipe_row *row = &recipe_rows[i];
        LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
        char recipe[PATH_MAX], out[PATH_MAX];
        lks_test_case("%s", row->name);
        put_files(&tree);
        put_recipe(&tree, row);
        lks_tree_file(&tree, "/out.fwpkg", "what was there");
        in(&tree, "/recipe.yaml", recipe);
        in(&tree, "/out.fwpkg", out);
        struct lks_run run =
            lks_run((const char *[])ARGS("pldm", "build", recipe, "--output", out));
        CHECK_INT(run.exit, row->message != NULL ? 3 : 0);
        if (row->message != NULL) {
            LKS_CLEANUP(lks_buf_fini) struct lks_buf left = {0};
            CHECK_HAS(run.err, "recipe.yaml:");
            CHECK_HAS(run.err, row->message);
            read_back(&tree, "/out.fwpkg", &left);
            CHECK_STR(lks_buf_view(&left), "what was there");
        } else {
            CHECK_STR(run.err, "");
            check_built(&tree);
        }
        CHECK_INT(count_new(&tree), 0);
        lks_run_fini(&run);
    }
}

static void images_are_not_written_over(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    char recipe[PATH_MAX], out[PATH_MAX];
    put_files(&tree);
    put_recipe(&tree, &recipe_rows[0]);
    in(&tree, "/recipe.yaml", recipe);
    in(&tree, "/two.img", out);
    struct lks_run run = lks_run((const char *[])ARGS("pldm", "build", recipe, "--output", out));
    CHECK_INT(run.exit, 3);
    CHECK_HAS(run.err, "components[2].file: the package would be written over this image");
    lks_run_fini(&run);
    run = lks_run((const char *[])ARGS("pldm", "build", recipe, "--output", recipe));
    CHECK_INT(run.exit, 3);
    CHECK_HAS(run.err, "recipe.yaml: the package would be written over its own source");
    lks_run_fini(&run);
    run = lks_run((const char *[])ARGS("pldm", "build", recipe));
    CHECK_INT(run.exit, 2);
    CHECK_HAS(run.err, "pldm build: --output has to name the file to write");
    lks_run_fini(&run);
    run = lks_run((const char *[])ARGS("pldm", "build", recipe, "--output", tree.path));
    CHECK_INT(run.exit, 3);
    CHECK_HAS(run.err, "is there and is not a plain file");
    lks_run_fini(&run);
}

/* verify ------------------------------------------------------------------------------------- */

/* How the file is made. */
enum made {
    SAMPLE,
    SIGNED,
    DAMAGED_IMAGE, /* of revision 4 */
    DAMAGED_HEADER,
    DAMAGED_SIGNED,   /* an image of a signed one */
    BROKEN_SIGNATURE, /* its trailer makes no sense */
    DEVIATES,         /* and signed */
    LOOSE,            /* bytes behind the last image */
    LOOSE_BYTE,       /* one of them */
    PADDED,           /* the same, and they are zero */
    UNCOVERED,        /* the same, and the checksum does not cover them */
    PADDED_SIGNED,    /* zero bytes before the trailer */
    NONE,
    NO_FILE,
};
enum key { NO_KEY, ITS_KEY, OTHER_KEY, NOT_A_KEY };

static const struct verify_row {
    const char *name;
    uint8_t revision;
    enum made made;
    enum key key;
    bool strict;
    int exit;
    const char *says; /* on either stream */
} verify_rows[] = {
    {"revision 1", 1, SAMPLE, NO_KEY, true, 1, "headers before revision 4 have no checksum"},
    {"revision 2", 2, SAMPLE, NO_KEY, true, 1,
     ".fwpkg: cannot be verified: it has neither a checksum of its images nor a signature\n"},
    {"revision 3", 3, SAMPLE, NO_KEY, false, 1,
     ".fwpkg: cannot be verified: it has neither a checksum of its images nor a signature\n"},
    {"revision 2, signed", 2, SIGNED, NO_KEY, true, 0, ".fwpkg: verified\n"},
    {"revision 3, signed", 3, SIGNED, NO_KEY, true, 0, ".fwpkg: verified\n"},
    {"revision 4", 4, SAMPLE, NO_KEY, true, 0, "the images' checksum is right"},
    {"signed", 1, SIGNED, NO_KEY, true, 0, "integrity only"},
    {"signed, with a checksum", 4, SIGNED, NO_KEY, true, 0, "integrity only"},
    {"signed by the pinned key", 4, SIGNED, ITS_KEY, true, 0, "by the pinned key"},
    {"signed by another", 4, SIGNED, OTHER_KEY, false, 1,
     "the signature is not that of this file by the pinned key"},
    {"not signed at all", 4, SAMPLE, ITS_KEY, false, 1,
     "a key was pinned, and the package is not signed"},
    {"a key that is none", 4, SIGNED, NOT_A_KEY, false, 3, "lockstep: "},
    {"an image changed", 4, DAMAGED_IMAGE, NO_KEY, false, 1, "the payload's checksum says "},
    {"an image changed, signed", 1, DAMAGED_SIGNED, NO_KEY, false, 1,
     "the signature is not that of this file by the key that comes with it"},
    {"the header changed", 2, DAMAGED_HEADER, NO_KEY, false, 1, "the header's checksum says "},
    {"a trailer that is none", 1, BROKEN_SIGNATURE, NO_KEY, false, 1, "only version 3 is known"},
    {"a deviation", 1, DEVIATES, NO_KEY, false, 0,
     "note: component 1: classification 16 is reserved\n"},
    {"a deviation, strictly", 1, DEVIATES, NO_KEY, true, 1, "does not verify\n"},
    {"bytes that belong to nothing", 1, LOOSE, NO_KEY, false, 1,
     "5 bytes behind the last image, which are no signature trailer"},
    {"a byte that belongs to nothing", 1, LOOSE_BYTE, NO_KEY, false, 1,
     "1 byte behind the last image, which is no signature trailer"},
    {"the same with a checksum that covers them", 4, LOOSE, NO_KEY, false, 1,
     "5 bytes behind the last image, which are no signature trailer"},
    {"the same with a pinned key", 4, LOOSE, ITS_KEY, false, 1,
     "5 bytes behind the last image, which are no signature trailer"},
    {"padding that the checksum covers", 4, PADDED, NO_KEY, true, 0, ".fwpkg: verified\n"},
    {"padding without a checksum", 1, PADDED, NO_KEY, false, 1,
     "5 bytes behind the last image, which are no signature trailer"},
    {"padding that the checksum does not cover", 4, UNCOVERED, NO_KEY, false, 1,
     "5 bytes behind the last image, which are no signature trailer"},
    {"padding before the signature", 3, PADDED_SIGNED, NO_KEY, false, 1,
     "bytes behind the last image, which are no signature trailer"},
    {"padding before the signature that the checksum covers", 4, PADDED_SIGNED, NO_KEY, true, 0,
     ".fwpkg: verified\n"},
    {"no package", 1, NONE, NO_KEY, false, 3, "does not start with the UUID"},
    {"no file", 1, NO_FILE, NO_KEY, false, 3, "No such file"},
};

static void make_file(const struct verify_row *row, struct lks_buf *file, struct lks_buf *pem)
{
    lks_test_package_sample_file(row->revision, file);
    size_t package = file->len;
    if (row->made == SIGNED || row->made == DAMAGED_SIGNED || row->made == BROKEN_SIGNATURE)
        lks_test_package_sign(file, pem);
    if (row->made == DAMAGED_IMAGE || row->made == DAMAGED_SIGNED)
        file->ptr[package - 1] ^= 1;
    if (row->made == DAMAGED_HEADER)
        file->ptr[40] ^= 1;
    if (row->made == BROKEN_SIGNATURE)
        file->ptr[package + 4] = 1;
    if (row->made == DEVIATES) {
        file->ptr[44 + 33 + 36 + 2] = 16; /* what its first component is */
        CHECK(lks_test_package_mend(file));
    }
    if (row->made == DEVIATES)
        lks_test_package_sign(file, pem);
    if (row->made == LOOSE_BYTE)
        lks_buf_add(file, LKS_STR("x"));
    if (row->made == LOOSE || row->made == PADDED || row->made == UNCOVERED ||
        row->made == PADDED_SIGNED)
        lks_buf_add(file, row->made == LOOSE ? LKS_STR("loose") : LKS_STR("\0\0\0\0\0"));
    if (row->made == LOOSE || row->made == PADDED || row->made == PADDED_SIGNED)
        CHECK(lks_test_package_mend(file));
    if (row->made == PADDED_SIGNED)
        lks_test_package_sign(file, pem);
    if (row->made == NONE) {
        lks_buf_truncate(file, 0);
        lks_buf_pad(file, 'x', 200);
    }
}

static void put_keys(const struct lks_tree *tree, const struct lks_buf *pem)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf other = LKS_BUF(FILE_MAX);
    lks_test_package_sign(&file, &other);
    lks_tree_bytes(tree, "/its.pem", lks_buf_view(pem->len > 0 ? pem : &other));
    lks_tree_bytes(tree, "/other.pem", lks_buf_view(&other));
    lks_tree_file(tree, "/none.pem", "no key");
}

static void files_are_verified(void)
{
    static const char *const keys[] = {"", "/its.pem", "/other.pem", "/none.pem"};
    for (size_t i = 0; i < LKS_COUNT(verify_rows); i++) {
        const struct verify_row *row = &verify_rows[i];
        LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(FILE_MAX);
        char path[PATH_MAX], key[PATH_MAX];
        const char *args[8] = {"pldm", "verify", in(&tree, "/a.fwpkg", path)};
        size_t count = 3;
        lks_test_case("%s", row->name);
        make_file(row, &file, &pem);
        put_keys(&tree, &pem);
        if (row->made != NO_FILE)
            lks_tree_bytes(&tree, "/a.fwpkg", lks_buf_view(&file));
        if (row->strict)
            args[count++] = "--strict";
        if (row->key != NO_KEY) {
            args[count++] = "--key";
            args[count++] = in(&tree, keys[row->key], key);
        }
        struct lks_run run = lks_run(args);
        CHECK_INT(run.exit, row->exit);
        CHECK_HAS(run.err.len > 0 ? run.err : run.out, row->says);
        lks_run_fini(&run);
    }
}

/* What became of the trailer of a signed package. */
static const struct trailer_row {
    const char *name;
    size_t from, to; /* its length, each from here to there */
    size_t changed;  /* the byte that is another one; behind its end: none */
} trailer_rows[] = {
    {"cut short", 1, LKS_PLDM_TRAILER_BYTES - 1, SIZE_MAX},
    {"one byte too long", LKS_PLDM_TRAILER_BYTES + 1, LKS_PLDM_TRAILER_BYTES + 1, SIZE_MAX},
    {"twice as long", 2 * LKS_PLDM_TRAILER_BYTES, 2 * LKS_PLDM_TRAILER_BYTES, SIZE_MAX},
    {"first byte of the magic", LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES, 0},
    {"second byte of the magic", LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES, 1},
    {"third byte of the magic", LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES, 2},
    {"last byte of the magic", LKS_PLDM_TRAILER_BYTES, LKS_PLDM_TRAILER_BYTES, 3},
};

/* `whole` is the signed package, and `package` where its trailer starts. */
static void check_damaged(const struct lks_tree *tree, const struct lks_buf *whole, size_t package,
                          size_t len, size_t changed)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    char path[PATH_MAX];
    size_t keep = len < LKS_PLDM_TRAILER_BYTES ? len : LKS_PLDM_TRAILER_BYTES;
    lks_buf_add(&file, (struct lks_str){whole->ptr, package + keep});
    lks_buf_pad(&file, '\0', (ptrdiff_t)(len - keep));
    if (changed < len)
        file.ptr[package + changed] ^= 1;
    lks_tree_bytes(tree, "/cut.fwpkg", lks_buf_view(&file));
    struct lks_run run =
        lks_run((const char *[])ARGS("pldm", "verify", in(tree, "/cut.fwpkg", path)));
    CHECK_INT(run.exit, 1);
    CHECK_HAS(run.out, ".fwpkg: does not verify\n");
    CHECK_HAS(run.out, " behind the last image");
    lks_run_fini(&run);
}

static void damaged_trailers_do_not_verify(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    for (uint8_t revision = 1; revision <= LKS_PLDM_REVISION_MAX; revision += 3) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = LKS_BUF(FILE_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(FILE_MAX);
        lks_test_package_sample_file(revision, &whole);
        size_t package = whole.len;
        lks_test_package_sign(&whole, &pem);
        for (size_t i = 0; i < LKS_COUNT(trailer_rows); i++) {
            const struct trailer_row *row = &trailer_rows[i];
            for (size_t len = row->from; len <= row->to; len++) {
                lks_test_case("revision %u, trailer of %zu bytes, %s", revision, len, row->name);
                check_damaged(&tree, &whole, package, len, row->changed);
            }
        }
    }
}

/* inspect ------------------------------------------------------------------------------------ */

/* A package whose second image is a package. */
static void put_nested(const struct lks_tree *tree)
{
    struct lks_test_package t = lks_test_package_sample(3);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf inner = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf outer = LKS_BUF(FILE_MAX);
    lks_test_package_sample_file(4, &inner);
    t.images[1] = lks_buf_view(&inner);
    t.package.components[0].version =
        (struct lks_pldm_string){LKS_PLDM_STRING_UTF16LE, LKS_STR("7\0.\0"
                                                                  "1\0")};
    lks_test_package_file(&t, &outer);
    lks_tree_bytes(tree, "/nested.fwpkg", lks_buf_view(&outer));
    lks_pldm_package_fini(&t.package);
}

static void packages_within_are_told(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    char path[PATH_MAX];
    put_nested(&tree);
    in(&tree, "/nested.fwpkg", path);
    for (unsigned width = 0; width <= 120; width += 40) {
        struct lks_run run = lks_run_wide((const char *[])ARGS("pldm", "inspect", path), width);
        lks_test_case("%u columns", width);
        CHECK_INT(run.exit, 0);
        CHECK_HAS(run.out, "component 2 is itself a package: pkg-1.0, 2 components\n");
        CHECK_HAS(run.out, "7.1");
        CHECK_HAS(run.out, "header revision 3 (DSP0267 1.2)");
        lks_run_fini(&run);
    }
}

/* Every member of the JSON is one that help names. */
static void json_is_documented(void)
{
    static const struct {
        const char *command, *args[6];
        const char *has;
        int exit;
    } rows[] = {
        {"pldm inspect", ARGS("pldm", "inspect", "FILE", "--json"),
         "\"package\":{\"revision\":4,\"version\":\"pkg-1.0\",\"components\":2}", 0},
        {"pldm verify", ARGS("pldm", "verify", "FILE", "--json"), "\"verified\":false", 1},
        {"pldm build",
         {"pldm", "build", "examples/firmware/nic.yaml", "--output", "FILE", "--json"},
         "\"digest\":\"" DIGEST "\"",
         0},
        {"pldm verify", ARGS("pldm", "verify", "FILE", "--json"), "\"verified\":true", 0},
    };
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    char path[PATH_MAX];
    put_nested(&tree);
    in(&tree, "/nested.fwpkg", path);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const char *args[8] = {0};
        for (size_t k = 0; k < LKS_COUNT(rows[i].args) && rows[i].args[k] != NULL; k++)
            args[k] = strcmp(rows[i].args[k], "FILE") == 0 ? path : rows[i].args[k];
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        lks_test_case("%s", rows[i].command);
        struct lks_run run = lks_run(args);
        CHECK_INT(run.exit, rows[i].exit);
        CHECK_STR(run.err, "");
        CHECK_HAS(run.out, rows[i].has);
        const struct lks_doc *answer = lks_run_json(&run, &docs);
        if (CHECK(answer != NULL))
            lks_run_check_members(rows[i].command, answer);
        lks_run_fini(&run);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the example builds, to the same bytes each time", example_builds},
        {"a recipe builds, or its fault is told with its place and nothing is written",
         recipes_are_read},
        {"a package is not written over an image", images_are_not_written_over},
        {"what a file is, verify tells", files_are_verified},
        {"a package with a damaged signature trailer does not verify",
         damaged_trailers_do_not_verify},
        {"a package within a package is told, in any width", packages_within_are_told},
        {"JSON is as help says", json_is_documented},
        {0},
    };
    return lks_test_main(tests);
}
