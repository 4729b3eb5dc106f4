#include "codec/program/ldcache.h"

#include "base/buf.h"
#include "tests/test.h"

#include <stdio.h>

enum { MAX = 1 << 16, X86_64 = 0x0303, AARCH64 = 0x0a03, I386 = 0x0003 };

struct entry {
    unsigned flags;
    const char *name, *path;
    uint64_t features;
};

static void put(struct lks_buf *out, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        lks_buf_addc(out, (char)(value >> 8 * i & 0xff));
}

/* As ldconfig writes it; `endian` is the byte that says how numbers are stored. */
static void build(const struct entry *entries, size_t count, int endian, struct lks_buf *out)
{
    size_t at = 48 + 24 * count;
    lks_buf_add(out, LKS_STR("glibc-ld.so.cache1.1"));
    put(out, count, 4);
    put(out, 0, 4); /* size of the texts, which nobody needs */
    put(out, (uint64_t)endian, 4);
    lks_buf_pad(out, '\0', 16);
    for (size_t i = 0; i < count; i++) {
        put(out, entries[i].flags, 4);
        put(out, at, 4);
        at += strlen(entries[i].name) + 1;
        put(out, at, 4);
        at += strlen(entries[i].path) + 1;
        put(out, 0, 4);
        put(out, entries[i].features, 8);
    }
    for (size_t i = 0; i < count; i++) {
        lks_buf_add(out, (struct lks_str){entries[i].name, strlen(entries[i].name) + 1});
        lks_buf_add(out, (struct lks_str){entries[i].path, strlen(entries[i].path) + 1});
    }
}

static enum lks_code show(struct lks_str bytes, struct lks_buf *out, struct lks_err *err)
{
    struct lks_ldcache cache;
    struct lks_ldcache_entry entry;
    bool more = true;
    enum lks_code code = lks_ldcache_open(bytes, &cache, err);
    while (code == LKS_OK && more) {
        code = lks_ldcache_next(&cache, &entry, &more, err);
        if (code == LKS_OK && more)
            lks_buf_addf(out, "%.*s=%.*s%s%s;", LKS_STR_ARG(entry.name), LKS_STR_ARG(entry.path),
                         entry.wide ? "" : " narrow", entry.special ? " special" : "");
    }
    return code;
}

static const struct entry entries[] = {
    {X86_64, "libnccl.so.2", "/opt/a/libnccl.so.2", 0},
    {X86_64, "libnccl.so.2", "/usr/lib/libnccl.so.2", 0},
    {I386, "libz.so.1", "/usr/lib32/libz.so.1", 0},
    {AARCH64, "libm.so.6", "/usr/lib/libm.so.6", UINT64_C(1) << 62},
};
static const char all[] = "libnccl.so.2=/opt/a/libnccl.so.2;libnccl.so.2=/usr/lib/libnccl.so.2;"
                          "libz.so.1=/usr/lib32/libz.so.1 narrow;libm.so.6=/usr/lib/libm.so.6 "
                          "special;";

static void test_entries(void)
{
    static const struct {
        const char *name;
        size_t count;
        int endian;
        bool old; /* an older cache stands before it */
        const char *want;
    } rows[] = {
        {"none", 0, 2, false, ""},
        {"in their order", 4, 2, false, all},
        {"of an ldconfig that did not say how it stores numbers", 4, 0, false, all},
        {"behind an older cache", 4, 2, true, all},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(MAX);
        struct lks_err err;
        lks_test_case("%s", rows[i].name);
        if (rows[i].old) {
            lks_buf_add(&bytes, (struct lks_str){"ld.so-1.7.0\0", 12});
            put(&bytes, 3, 4);
            lks_buf_pad(&bytes, '?', 36 + 4);
        }
        build(entries, rows[i].count, rows[i].endian, &bytes);
        CHECK_CODE(show(lks_buf_view(&bytes), &got, &err), LKS_OK);
        CHECK_STR(got.ptr != NULL ? lks_buf_view(&got) : LKS_STR(""), rows[i].want);
    }
}

static void test_damage(void)
{
    static const struct {
        const char *name;
        size_t at, len; /* what is overwritten */
        uint64_t value;
        size_t cut; /* bytes that are left, 0: all */
        const char *message;
    } rows[] = {
        {"another file", 0, 1, 'G', 0, "not a cache of libraries as glibc writes it"},
        {"cut in its header", 0, 0, 0, 40, "not a cache of libraries as glibc writes it"},
        {"cut in its entries", 0, 0, 0, 100, "cut off in its entries"},
        {"big-endian", 28, 1, 3, 0, "not little-endian"},
        {"said to be invalid", 28, 1, 1, 0, "not little-endian"},
        {"too many", 20, 4, 1 << 20, 0, "more than 262144 entries"},
        {"a name outside", 52, 4, 1 << 20, 0, "entry 0 points outside the file"},
        {"a path that does not end", 0, 0, 0, 150, "entry 0 points outside the file"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(MAX);
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        build(entries, LKS_COUNT(entries), 2, &bytes);
        for (size_t k = 0; k < rows[i].len; k++)
            bytes.ptr[rows[i].at + k] = (char)(rows[i].value >> 8 * k & 0xff);
        struct lks_str view = lks_buf_view(&bytes);
        view.len = rows[i].cut > 0 ? rows[i].cut : view.len;
        CHECK(show(view, &got, &err) != LKS_OK);
        CHECK_STR(lks_str_from(err.msg), rows[i].message);
    }
}

static const struct lks_test tests[] = {
    {"entries", test_entries},
    {"damage", test_damage},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
