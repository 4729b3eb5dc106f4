#include "codec/package/rpmheader.h"

#include "base/buf.h"
#include "tests/test.h"

enum { INT32 = 4, STRING = 6, BYTES_MAX = 1 << 20 };

static void add32(struct lks_buf *b, uint32_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        lks_buf_addc(b, (char)(unsigned char)(n >> shift));
}

/* One entry and its data; a number where there is no text. */
struct part {
    uint32_t tag, type, count;
    const char *text;
    uint32_t number;
};

/* A header of these parts, with `filler` bytes in front of the data of the last. */
static void build(struct lks_buf *out, const struct part *parts, size_t count, size_t filler)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf index = LKS_BUF(BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf data = LKS_BUF(BYTES_MAX);
    lks_buf_init(out, BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count)
            lks_buf_pad(&data, 'f', (ptrdiff_t)filler);
        add32(&index, parts[i].tag);
        add32(&index, parts[i].type);
        add32(&index, (uint32_t)data.len);
        add32(&index, parts[i].count);
        if (parts[i].text != NULL)
            lks_buf_add(&data, (struct lks_str){parts[i].text, strlen(parts[i].text) + 1});
        else
            add32(&data, parts[i].number);
    }
    add32(out, (uint32_t)count);
    add32(out, (uint32_t)data.len);
    lks_buf_add(out, lks_buf_view(&index));
    lks_buf_add(out, lks_buf_view(&data));
}

#define NAME                                                                                       \
    {                                                                                              \
        1000, STRING, 1, "libnccl", 0                                                              \
    }
#define VERSION                                                                                    \
    {                                                                                              \
        1001, STRING, 1, "2.28.3", 0                                                               \
    }
#define RELEASE                                                                                    \
    {                                                                                              \
        1002, STRING, 1, "1+cuda13.0", 0                                                           \
    }
#define EPOCH                                                                                      \
    {                                                                                              \
        1003, INT32, 1, NULL, 3                                                                    \
    }
#define ARCH                                                                                       \
    {                                                                                              \
        1022, STRING, 1, "x86_64", 0                                                               \
    }

static const struct {
    const char *name;
    struct part parts[6];
    size_t count;
    const char *shown, *message;
} headers[] = {
    {"all of it",
     {NAME, VERSION, RELEASE, EPOCH, ARCH},
     5,
     "libnccl 3 2.28.3 1+cuda13.0 x86_64",
     NULL},
    {"no epoch", {NAME, VERSION, RELEASE, ARCH}, 4, "libnccl -1 2.28.3 1+cuda13.0 x86_64", NULL},
    {"no architecture", {NAME, VERSION, RELEASE}, 3, "libnccl -1 2.28.3 1+cuda13.0 ", NULL},
    {"in any order",
     {ARCH, RELEASE, VERSION, NAME},
     4,
     "libnccl -1 2.28.3 1+cuda13.0 x86_64",
     NULL},
    {"others between",
     {NAME, {1028, INT32, 1, NULL, 9}, VERSION, RELEASE},
     4,
     "libnccl -1 2.28.3 1+cuda13.0 ",
     NULL},
    {"no version", {NAME, RELEASE}, 2, NULL, "an rpm header without name, version or release"},
    {"nothing", {NAME}, 0, NULL, "an rpm header without name, version or release"},
    {"a name that is a number",
     {{1000, INT32, 1, NULL, 7}, VERSION, RELEASE},
     3,
     NULL,
     "tag 1000 of the rpm header is no text"},
    {"two names",
     {{1000, STRING, 2, "a", 0}, VERSION, RELEASE},
     3,
     NULL,
     "tag 1000 of the rpm header is no text"},
    {"an empty name",
     {{1000, STRING, 1, "", 0}, VERSION, RELEASE},
     3,
     NULL,
     "tag 1000 of the rpm header is no name"},
    {"a name with a blank",
     {{1000, STRING, 1, "a b", 0}, VERSION, RELEASE},
     3,
     NULL,
     "tag 1000 of the rpm header is no name"},
    {"a name beyond ASCII",
     {{1000, STRING, 1, "\xc3\xa9", 0}, VERSION, RELEASE},
     3,
     NULL,
     "tag 1000 of the rpm header is no name"},
    {"an epoch that is text",
     {NAME, VERSION, RELEASE, {1003, STRING, 1, "3", 0}},
     4,
     NULL,
     "the epoch of the rpm header is no number"},
};

static void test_headers(void)
{
    for (size_t i = 0; i < LKS_COUNT(headers); i++) {
        lks_test_case("%s", headers[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(1024);
        struct lks_rpmheader h;
        struct lks_err err = {0};
        bool short_of;
        build(&bytes, headers[i].parts, headers[i].count, 0);
        enum lks_code code =
            lks_rpmheader_parse(lks_buf_view(&bytes), bytes.len, &h, &short_of, &err);
        CHECK(!short_of);
        if (!CHECK_CODE(code, headers[i].shown != NULL ? LKS_OK : LKS_E_INVALID))
            continue;
        if (code != LKS_OK) {
            CHECK_STR(lks_str_from(err.msg), headers[i].message);
            continue;
        }
        lks_buf_addf(&shown,
                     "%" LKS_STR_FMT " %lld %" LKS_STR_FMT " %" LKS_STR_FMT " %" LKS_STR_FMT,
                     LKS_STR_ARG(h.name), (long long)h.epoch, LKS_STR_ARG(h.version),
                     LKS_STR_ARG(h.release), LKS_STR_ARG(h.arch));
        CHECK_STR(lks_buf_view(&shown), headers[i].shown);
    }
}

/* Each beginning of a header is either enough or says that more is wanted; the whole never does. */
static void test_prefixes(void)
{
    static const struct part parts[] = {NAME, VERSION, RELEASE, EPOCH, ARCH};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    build(&bytes, parts, LKS_COUNT(parts), 100);
    for (size_t len = 0; len <= bytes.len; len++) {
        lks_test_case("%zu of %zu bytes", len, bytes.len);
        struct lks_rpmheader h;
        struct lks_err err = {0};
        bool short_of;
        enum lks_code code =
            lks_rpmheader_parse((struct lks_str){bytes.ptr, len}, bytes.len, &h, &short_of, &err);
        CHECK(short_of == (code != LKS_OK));
        CHECK((code == LKS_OK) == (len == bytes.len));
    }
}

/* Counts and offsets that lie. */
static void test_lies(void)
{
    static const struct part parts[] = {NAME, VERSION, RELEASE};
    static const struct {
        const char *name;
        size_t at;
        unsigned char byte;
        enum lks_code code;
    } lies[] = {
        {"one entry more", 3, 4, LKS_E_INVALID},
        {"far too many entries", 1, 0xff, LKS_E_LIMIT},
        {"one byte of data more", 7, 27, LKS_E_INVALID},
        {"far too much data", 4, 0xff, LKS_E_LIMIT},
        {"a text that begins behind the end", 8 + 8, 0x7f, LKS_E_INVALID},
        {"a text that begins at the end", 8 + 11, 26, LKS_E_INVALID},
    };
    for (size_t i = 0; i < LKS_COUNT(lies); i++) {
        lks_test_case("%s", lies[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
        struct lks_rpmheader h;
        struct lks_err err = {0};
        bool short_of;
        build(&bytes, parts, LKS_COUNT(parts), 0);
        bytes.ptr[lies[i].at] = (char)lies[i].byte;
        CHECK_CODE(lks_rpmheader_parse(lks_buf_view(&bytes), bytes.len, &h, &short_of, &err),
                   lies[i].code);
        CHECK(!short_of);
    }
}

static void test_limits(void)
{
    char name[LKS_RPMHEADER_TEXT_MAX + 2];
    for (size_t len = LKS_RPMHEADER_TEXT_MAX; len <= LKS_RPMHEADER_TEXT_MAX + 1; len++) {
        memset(name, 'n', len);
        name[len] = '\0';
        const struct part parts[] = {{1000, STRING, 1, name, 0}, VERSION, RELEASE};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
        struct lks_rpmheader h;
        struct lks_err err = {0};
        bool short_of;
        build(&bytes, parts, LKS_COUNT(parts), 0);
        CHECK_CODE(lks_rpmheader_parse(lks_buf_view(&bytes), bytes.len, &h, &short_of, &err),
                   len == LKS_RPMHEADER_TEXT_MAX ? LKS_OK : LKS_E_INVALID);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"rpm header: tags", test_headers},
                                                   {"rpm header: beginnings", test_prefixes},
                                                   {"rpm header: lies", test_lies},
                                                   {"rpm header: limits", test_limits},
                                                   {0}});
}
