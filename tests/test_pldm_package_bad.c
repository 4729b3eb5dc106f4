/* What is wrong with packages, and what is said about it: in files, and before one is written. */
#include "pldm/bytes.h"
#include "tests/packages.h"
#include "tests/test.h"

enum { FILE_MAX = 1 << 20 };

/* Places in the sample. */
enum place { HEADER, DEVICE_1, DEVICE_2, DOWNSTREAM, COMPONENT_1, COMPONENT_2, PAYLOAD };

static size_t record_len(const struct lks_buf *file, size_t at)
{
    return (uint8_t)file->ptr[at] | (size_t)(uint8_t)file->ptr[at + 1] << 8;
}

static size_t place_at(const struct lks_buf *file, uint8_t revision, enum place place)
{
    size_t device_1 = 36 + 7 + 1;
    size_t device_2 = device_1 + record_len(file, device_1);
    size_t downstream = device_2 + record_len(file, device_2) + 1;
    size_t behind = revision >= 2 ? downstream + record_len(file, downstream) : downstream - 1;
    size_t component_1 = behind + 2;
    size_t component_2 = component_1 + 22 + 5 + (revision >= 3 ? 7 : 0);
    const size_t places[] = {
        [HEADER] = 0,
        [DEVICE_1] = device_1,
        [DEVICE_2] = device_2,
        [DOWNSTREAM] = downstream,
        [COMPONENT_1] = component_1,
        [COMPONENT_2] = component_2,
        [PAYLOAD] = record_len(file, 17),
    };
    return places[place];
}

/* A row changes bytes at a place; checksums are made right again where the row does not say that
 * they are what is wrong. */
static const struct bad_row {
    const char *name;
    uint8_t revision;
    enum place place;
    int at;
    struct lks_str bytes;
    bool lenient; /* it is only noted by a lenient reading */
    bool broken;  /* checksums are left as they were */
    const char *message;
} bad_rows[] = {
    {"UUID unknown", 1, HEADER, 0, LKS_STR_C("\xff"), false, false,
     "does not start with the UUID of a PLDM firmware update package"},
    {"revision 0", 1, HEADER, 16, LKS_STR_C("\x00"), false, false,
     "no header revision 0 (there are 1 to 4)"},
    {"revision 5", 4, HEADER, 16, LKS_STR_C("\x05"), false, false,
     "no header revision 5 (there are 1 to 4)"},
    {"UUID of another revision", 3, HEADER, 0,
     LKS_STR_C("\x12\x44\xd2\x64\x8d\x7d\x47\x18\xa0\x30\xfc\x8a\x56\x58\x7d\x5a"), true, false,
     "the UUID is that of revision 2, the header says it is 3"},
    {"header larger than the file", 1, HEADER, 17, LKS_STR_C("\xff\xff"), false, false,
     "a header of 65535 bytes in a file of 188"},
    {"header too small to be one", 1, HEADER, 17, LKS_STR_C("\x28\x00"), false, false,
     "a header of 40 bytes is too short"},
    {"header one byte too large", 1, HEADER, 17, LKS_STR_C("\xac\x00"), false, false,
     "the header says 172 bytes, of which 1 belong to nothing"},
    {"header one byte too small", 1, HEADER, 17, LKS_STR_C("\xaa\x00"), false, false,
     "component 2 goes beyond the header of 170 bytes"},
    {"no date", 1, HEADER, 28, LKS_STR_C("\x0d"), true, false,
     "the release date is none: 2026-13-15 8:45:30"},
    {"a bitmap of no bits", 1, HEADER, 32, LKS_STR_C("\x00\x00"), false, false,
     "device 1: descriptor 1 goes beyond its record"},
    {"a bitmap of 12 bits", 1, HEADER, 32, LKS_STR_C("\x0c\x00"), false, false,
     "bitmaps of 12 bits: not a multiple of 8"},
    {"a bitmap far too long", 1, HEADER, 32, LKS_STR_C("\xf8\xff"), false, false,
     "device 1: its length is too short for its fields"},
    {"package version of type 0", 1, HEADER, 34, LKS_STR_C("\x00"), true, false,
     "package version: the string type is 0, unknown"},
    {"package version of type 6", 1, HEADER, 34, LKS_STR_C("\x06"), false, false,
     "package version: no string type 6 (there are 1 to 5)"},
    {"package version that is not what it says", 1, HEADER, 36, LKS_STR_C("\xff"), true, false,
     "package version: is not the ASCII it says it is"},
    {"package version in half characters", 1, HEADER, 34, LKS_STR_C("\x04"), true, false,
     "package version: is not the UTF-16LE it says it is"},
    {"package version longer than the header", 1, HEADER, 35, LKS_STR_C("\xff"), false, false,
     "the package version goes beyond the header of 171 bytes"},
    {"no devices", 1, HEADER, 43, LKS_STR_C("\x00"), false, false,
     "33 components go beyond the header of 171 bytes"},
    {"a device too many", 1, HEADER, 43, LKS_STR_C("\x03"), false, false,
     "device 3: its length is 2 bytes, too short for its fields"},
    {"record shorter than its fields", 1, DEVICE_1, 0, LKS_STR_C("\x0a\x00"), false, false,
     "device 1: its length is 10 bytes, too short for its fields"},
    {"record without room for its bitmap", 1, DEVICE_1, 0, LKS_STR_C("\x0b\x00"), false, false,
     "device 1: its length is too short for its fields"},
    {"record one byte too short", 1, DEVICE_1, 0, LKS_STR_C("\x20\x00"), false, false,
     "device 1: its data goes beyond its record"},
    {"record one byte too long", 1, DEVICE_1, 0, LKS_STR_C("\x22\x00"), false, false,
     "device 1: its length is 1 bytes too long"},
    {"record longer than the header", 1, DEVICE_1, 0, LKS_STR_C("\xff\xff"), false, false,
     "device 1 goes beyond the header of 171 bytes"},
    {"manifest longer than its record", 4, DEVICE_1, 11, LKS_STR_C("\xff\xff\xff\xff"), false,
     false, "device 1: its data goes beyond its record"},
    {"no descriptors", 1, DEVICE_2, 2, LKS_STR_C("\x00"), false, false,
     "device 2: its length is 19 bytes too long"},
    {"a descriptor too many", 1, DEVICE_2, 2, LKS_STR_C("\x03"), false, false,
     "device 2: descriptor 3 goes beyond its record"},
    {"descriptor longer than its record", 1, DEVICE_2, 19, LKS_STR_C("\xff\xff"), false, false,
     "device 2: descriptor 1 goes beyond its record"},
    {"first descriptor names no vendor", 1, DEVICE_1, 17, LKS_STR_C("\x00\x01"), true, false,
     "device 1: the first descriptor is of type 0x0100, which names no vendor"},
    {"known descriptor of another length", 1, DEVICE_1, 17, LKS_STR_C("\x01\x00"), true, false,
     "device 1: descriptor 1 (iana-enterprise) has 2 bytes instead of 4"},
    {"vendor's descriptor without data", 1, DEVICE_2, 30, LKS_STR_C("\x05"), true, false,
     "device 2: descriptor 2 (vendor) is not a title and something behind it"},
    {"bits beyond the components", 1, DEVICE_1, 11, LKS_STR_C("\x07"), true, false,
     "device 1: the bitmap names component 3 of 2"},
    {"image set version of type 9", 1, DEVICE_1, 7, LKS_STR_C("\x09"), false, false,
     "device 1: image set version: no string type 9 (there are 1 to 5)"},
    {"downstream version of type 0", 2, DOWNSTREAM, 7, LKS_STR_C("\x00"), true, false,
     "downstream device 1: least version: the string type is 0, unknown"},
    {"classification that is reserved", 1, COMPONENT_1, 0, LKS_STR_C("\x10\x00"), true, false,
     "component 1: classification 16 is reserved"},
    {"the last that is reserved", 1, COMPONENT_1, 0, LKS_STR_C("\xff\x7f"), true, false,
     "component 1: classification 32767 is reserved"},
    {"stamp without its option", 1, COMPONENT_2, 4, LKS_STR_C("\x07\x00\x00\x00"), true, false,
     "component 2: has the stamp 0x00000007 although its options say it has none"},
    {"image within the header", 1, COMPONENT_1, 12, LKS_STR_C("\xaa\x00\x00\x00"), false, false,
     "component 1: its image starts at 170, within the header of 171 bytes"},
    {"image at 0", 1, COMPONENT_1, 12, LKS_STR_C("\x00\x00\x00\x00"), false, false,
     "component 1: its image starts at 0, within the header of 171 bytes"},
    {"image behind the end", 1, COMPONENT_2, 16, LKS_STR_C("\x07\x00\x00\x00"), false, false,
     "component 2: its image ends at 189, behind the end of the file at 188"},
    {"offset and size that overflow", 1, COMPONENT_2, 12,
     LKS_STR_C("\xff\xff\xff\xff\xff\xff\xff\xff"), false, false,
     "component 2: its image ends at 8589934590, behind the end of the file at 188"},
    {"an empty image", 1, COMPONENT_1, 16, LKS_STR_C("\x00\x00\x00\x00"), false, false,
     "component 1: its image is empty"},
    {"images that overlap", 1, COMPONENT_2, 12, LKS_STR_C("\xb5\x00\x00\x00"), false, false,
     "components 1 and 2 overlap"},
    {"one image for two", 1, COMPONENT_2, 12, LKS_STR_C("\xab\x00\x00\x00\x0b\x00\x00\x00"), true,
     false, "components 1 and 2 share one image"},
    {"component version longer than the header", 1, COMPONENT_2, 21, LKS_STR_C("\xff"), false,
     false, "component 2 goes beyond the header of 171 bytes"},
    {"opaque data longer than the header", 3, COMPONENT_2, 25, LKS_STR_C("\x01\x00\x00\x00"), false,
     false, "component 2 goes beyond the header of 222 bytes"},
    {"more components than there is room for", 1, COMPONENT_1, -2, LKS_STR_C("\xff\xff"), false,
     false, "65535 components go beyond the header of 171 bytes"},
    {"no components", 1, COMPONENT_1, -2, LKS_STR_C("\x00\x00"), false, false,
     "the header says 171 bytes, of which 52 belong to nothing"},
    {"header checksum", 1, HEADER, 20, LKS_STR_C("\x01"), false, true,
     "the header's checksum says "},
    {"payload checksum", 4, PAYLOAD, 0, LKS_STR_C("x"), false, true,
     "the payload's checksum says "},
};

static void check_strict(const struct bad_row *row, struct lks_str file)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_pldm_package_open(file, true, &p, &err);
    CHECK(code == LKS_E_INVALID || code == LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), row->message);
    CHECK_INT(p.revision, 0); /* untouched */
}

static void check_lenient(const struct bad_row *row, struct lks_str file)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_pldm_package_open(file, false, &p, &err);
    if (!row->lenient) {
        CHECK(code == LKS_E_INVALID || code == LKS_E_REFUSED);
        CHECK_HAS(lks_str_from(err.msg), row->message);
        return;
    }
    if (!CHECK_CODE(code, LKS_OK)) {
        CHECK_STR(lks_str_from(err.msg), "");
        return;
    }
    CHECK_INT(p.note_count, 1);
    CHECK_STR(p.notes[0].text, row->message);
    for (size_t i = 0; i < p.device_count; i++)
        for (size_t k = 0; k < p.devices[i].component_count; k++)
            CHECK(p.devices[i].components[k] < p.component_count);
}

static void bad_files_are_told(void)
{
    for (size_t i = 0; i < LKS_COUNT(bad_rows); i++) {
        const struct bad_row *row = &bad_rows[i];
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        lks_test_case("%s", row->name);
        lks_test_package_sample_file(row->revision, &file);
        size_t at = place_at(&file, row->revision, row->place) + (size_t)row->at;
        memcpy(file.ptr + at, row->bytes.ptr, row->bytes.len);
        if (!row->broken)
            (void)lks_test_package_mend(&file);
        check_strict(row, lks_buf_view(&file));
        check_lenient(row, lks_buf_view(&file));
    }
}

/* Nothing that ends too early is a package, wherever it ends. */
static void cut_files_are_refused(void)
{
    for (uint8_t revision = 1; revision <= LKS_PLDM_REVISION_MAX; revision++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        lks_test_package_sample_file(revision, &file);
        for (size_t len = 0; len < file.len; len++) {
            LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
            struct lks_err err = {0};
            lks_test_case("revision %u, %zu bytes", revision, len);
            struct lks_str cut = {file.ptr, len};
            CHECK_CODE(lks_pldm_package_open(cut, false, &p, &err), LKS_E_INVALID);
        }
    }
    struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    lks_test_case("35 bytes");
    CHECK_CODE(
        lks_pldm_package_open(LKS_STR("12345678901234567890123456789012345"), false, &p, &err),
        LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "35 bytes are too few for a PLDM package");
    CHECK(!lks_pldm_package_is(LKS_STR("")));
    CHECK(lks_pldm_package_is(
        LKS_STR("\xf0\x18\x87\x8c\xcb\x7d\x49\x43\x98\x00\xa0\x2f\x05\x9a\xca\x02")));
}

/* Nothing of a kind, in headers that are otherwise as they should be. */
static const struct none_row {
    const char *name;
    enum place from, to; /* what is taken out, with the number in front of it 0 instead */
    int number_at;
    unsigned width;
    const char *message;
} none_rows[] = {
    {"no devices", DEVICE_1, COMPONENT_1, -1, 1, "there are no device records in it"},
    {"no components", COMPONENT_1, PAYLOAD, -2, 2, "there are no components in it"},
    {"no descriptors", DEVICE_2, DEVICE_2, 2, 1, "device 2: there are no descriptors in it"},
};

static void take_out(struct lks_buf *file, size_t at, size_t len)
{
    memmove(file->ptr + at, file->ptr + at + len, file->len - at - len);
    lks_buf_truncate(file, file->len - len);
    lks_bytes_set_number(file, 17, record_len(file, 17) - len, 2);
}

static void nothing_of_a_kind(void)
{
    enum { DESCRIPTORS_AT = 17, DESCRIPTORS_LEN = 19, CHECKSUM = 4, COUNT = 2 };
    for (size_t i = 0; i < LKS_COUNT(none_rows); i++) {
        const struct none_row *row = &none_rows[i];
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
        struct lks_err err = {0};
        lks_test_case("%s", row->name);
        lks_test_package_sample_file(1, &file);
        size_t from = place_at(&file, 1, row->from), to = place_at(&file, 1, row->to);
        lks_bytes_set_number(&file, from + (size_t)row->number_at, 0, row->width);
        if (row->from == row->to) {
            lks_bytes_set_number(&file, from, record_len(&file, from) - DESCRIPTORS_LEN, 2);
            take_out(&file, from + DESCRIPTORS_AT, DESCRIPTORS_LEN);
        } else {
            take_out(&file, from, to - from - (row->to == PAYLOAD ? CHECKSUM : COUNT));
        }
        CHECK(lks_test_package_mend(&file));
        CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), false, &p, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), row->message);
    }
}

/* The header is there, but not all of it was handed over. */
static void short_views_are_refused(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_err err = {0};
    lks_test_package_sample_file(1, &file);
    CHECK_CODE(lks_pldm_package_parse((struct lks_str){file.ptr, 100}, file.len, true, &p, &err),
               LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "a header of 171 bytes of which 100 are here");
}

/* A thousand deviations are counted, and as many listed as a person reads. */
static void notes_have_a_limit(void)
{
    struct lks_test_package t = lks_test_package_sample(1);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    struct lks_pldm_descriptor many[200];
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(many); i++)
        many[i] = (struct lks_pldm_descriptor){LKS_PLDM_IANA, LKS_STR("\1\2\3\4")};
    t.package.devices[0].descriptors = many;
    t.package.devices[0].descriptor_count = LKS_COUNT(many);
    lks_test_package_file(&t, &file);
    for (size_t i = 0; i < LKS_COUNT(many); i++)
        file.ptr[44 + 17 + 8 * i] = '\x02'; /* a UUID of four bytes */
    CHECK(lks_test_package_mend(&file));
    CHECK_CODE(lks_pldm_package_open(lks_buf_view(&file), false, &p, &err), LKS_OK);
    CHECK_INT(p.note_count, LKS_PLDM_NOTES_MAX);
    CHECK_INT(p.note_count + p.more_notes, LKS_COUNT(many));
    lks_pldm_package_fini(&t.package);
}

/* Writing ------------------------------------------------------------------------------------ */

static char large[70000];

static void no_components(struct lks_pldm_package *p)
{
    p->component_count = 0;
}
static void no_devices(struct lks_pldm_package *p)
{
    p->device_count = p->downstream_count = 0;
}
static void downstream_alone(struct lks_pldm_package *p)
{
    p->device_count = 0;
}
static void no_descriptors(struct lks_pldm_package *p)
{
    p->devices[1].descriptor_count = 0;
}
static void empty_version(struct lks_pldm_package *p)
{
    p->components[0].version.bytes = LKS_STR("");
}
static void long_version(struct lks_pldm_package *p)
{
    p->version.bytes = (struct lks_str){large, 256};
}
static void long_component_version(struct lks_pldm_package *p)
{
    p->components[1].version.bytes = (struct lks_str){large, 256};
}
static void large_manifest(struct lks_pldm_package *p)
{
    p->devices[0].manifest = (struct lks_str){large, sizeof(large)};
}
static void large_opaque(struct lks_pldm_package *p)
{
    p->components[0].opaque = (struct lks_str){large, 65400};
}
static void old_downstream(struct lks_pldm_package *p)
{
    p->revision = 1;
    p->devices[0].manifest = LKS_STR("");
    p->components[0].opaque = LKS_STR("");
}
static void old_opaque(struct lks_pldm_package *p)
{
    p->revision = 2;
    p->devices[0].manifest = LKS_STR("");
}
static void old_manifest(struct lks_pldm_package *p)
{
    p->revision = 3;
}
static void future(struct lks_pldm_package *p)
{
    p->revision = 5;
}
static void reserved_class(struct lks_pldm_package *p)
{
    p->components[0].classification = 16;
}
static void stamp_without_option(struct lks_pldm_package *p)
{
    p->components[1].stamp = 0;
}
static void unknown_string(struct lks_pldm_package *p)
{
    p->downstream[0].version.type = 0;
}
static void index_beyond(struct lks_pldm_package *p)
{
    p->devices[0].components[1] = 2;
}
static void index_twice(struct lks_pldm_package *p)
{
    p->devices[0].components[1] = 0;
}
static void small_bitmap(struct lks_pldm_package *p)
{
    p->bitmap_bits = 4;
}
static void wrong_descriptor(struct lks_pldm_package *p)
{
    p->devices[0].descriptors[1].value = LKS_STR("\x30");
}

static const struct write_row {
    const char *name;
    void (*spoil)(struct lks_pldm_package *p);
    enum lks_code code;
    const char *message;
} write_rows[] = {
    {"no components", no_components, LKS_E_INVALID, "there are no components in it"},
    {"no devices", no_devices, LKS_E_INVALID, "there are no device records in it"},
    {"downstream devices alone", downstream_alone, LKS_E_INVALID,
     "there are downstream records alone and no device record"},
    {"no descriptors", no_descriptors, LKS_E_INVALID, "device 2: there are no descriptors in it"},
    {"an empty version", empty_version, LKS_E_INVALID, "component 1: version: is empty"},
    {"a version too long", long_version, LKS_E_LIMIT, "the package version has 255 bytes at most"},
    {"a component's too", long_component_version, LKS_E_LIMIT,
     "component 2: a version has 255 bytes at most"},
    {"a manifest larger than a header", large_manifest, LKS_E_LIMIT,
     "the header would have 70238 bytes, and its size field says 65535 at most: shorten package "
     "data, manifests or opaque data"},
    {"opaque data that just does not fit", large_opaque, LKS_E_LIMIT,
     "the header would have 65649 bytes, and its size field says 65535 at most: shorten package "
     "data, manifests or opaque data"},
    {"a downstream device in revision 1", old_downstream, LKS_E_INVALID,
     "downstream devices need revision 2 or later"},
    {"opaque data in revision 2", old_opaque, LKS_E_INVALID,
     "component 1: opaque data needs revision 3 or later"},
    {"a manifest in revision 3", old_manifest, LKS_E_INVALID,
     "device 1: a reference manifest needs revision 4"},
    {"revision 5", future, LKS_E_INVALID, "no header revision 5 (there are 1 to 4)"},
    {"a reserved classification", reserved_class, LKS_E_INVALID,
     "component 1: classification 16 is reserved"},
    {"a stamp without its option", stamp_without_option, LKS_E_INVALID,
     "component 2: has the stamp 0x00000000 although its options say it has none"},
    {"a string of unknown type", unknown_string, LKS_E_INVALID,
     "downstream device 1: least version: the string type is 0, unknown"},
    {"a component that is not there", index_beyond, LKS_E_INVALID,
     "device 1: the bitmap names component 3 of 2"},
    {"a component twice", index_twice, LKS_E_INVALID,
     "device 1: the components of a record are listed once each, in order"},
    {"a bitmap of 4 bits", small_bitmap, LKS_E_INVALID, "bitmaps of 4 bits: not a multiple of 8"},
    {"a descriptor of another length", wrong_descriptor, LKS_E_INVALID,
     "device 1: descriptor 2 (pci-device) has 1 bytes instead of 2"},
};

static void nothing_bad_is_written(void)
{
    memset(large, 'v', sizeof(large));
    for (size_t i = 0; i < LKS_COUNT(write_rows); i++) {
        const struct write_row *row = &write_rows[i];
        struct lks_test_package t = lks_test_package_sample(4);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
        struct lks_err err = {0};
        lks_test_case("%s", row->name);
        row->spoil(&t.package);
        CHECK_CODE(lks_pldm_package_build(&t.package, t.images, &file, &err), row->code);
        CHECK_STR(lks_str_from(err.msg), row->message);
        CHECK_INT(file.len, 0);
        lks_pldm_package_fini(&t.package);
    }
}

/* Offsets have 32 bits: what begins behind them cannot be said. */
static void large_files_have_an_end(void)
{
    struct lks_test_package t = lks_test_package_sample(1);
    struct lks_err err = {0};
    t.package.components[0].size = UINT32_MAX;
    t.package.components[1].size = 1;
    CHECK_CODE(lks_pldm_package_layout(&t.package, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "component 2 would start at 4294967466, and an offset has 32 "
                                     "bits: build several packages");
    t.package.components[0].size = UINT32_MAX - 171;
    CHECK_CODE(lks_pldm_package_layout(&t.package, &err), LKS_OK);
    CHECK_INT(t.package.components[1].offset, UINT32_MAX);
    lks_pldm_package_fini(&t.package);
}

/* An image that is shorter than was said ends the writing. */
static enum lks_code five_bytes(void *ctx, size_t index, uint32_t at, struct lks_str *out,
                                struct lks_err *err)
{
    (void)ctx;
    (void)index;
    (void)err;
    *out = at == 0 ? LKS_STR("12345") : LKS_STR("");
    return LKS_OK;
}

static enum lks_code drop(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    (void)ctx;
    (void)bytes;
    (void)err;
    return LKS_OK;
}

static void short_images_are_told(void)
{
    struct lks_test_package t = lks_test_package_sample(4);
    struct lks_pldm_source source = {.read = five_bytes};
    struct lks_pldm_sink sink = {.put = drop};
    struct lks_err err = {0};
    t.package.components[0].size = 5;
    t.package.components[1].size = 6;
    CHECK_CODE(lks_pldm_package_write(&t.package, &source, &sink, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), ": lay the package out first");
    CHECK_CODE(lks_pldm_package_layout(&t.package, &err), LKS_OK);
    CHECK_CODE(lks_pldm_package_write(&t.package, &source, &sink, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "component 2 ends after 5 of 6 bytes");
    lks_pldm_package_fini(&t.package);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what is wrong with a file is told; what does no harm is noted", bad_files_are_told},
        {"a package has devices, descriptors and components", nothing_of_a_kind},
        {"a file that was cut off is refused", cut_files_are_refused},
        {"so is a header that was not handed over whole", short_views_are_refused},
        {"notes have a limit", notes_have_a_limit},
        {"nothing is written that breaks a rule", nothing_bad_is_written},
        {"offsets have an end", large_files_have_an_end},
        {"images have the size that was said", short_images_are_told},
        {0},
    };
    return lks_test_main(tests);
}
