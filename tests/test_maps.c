#include "codec/program/maps.h"

#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>

/* Shown as "start-end major:minor inode path", a star behind what was deleted. */
static const struct {
    const char *name, *line;
    const char *want; /* NULL: no line of a map */
} lines[] = {
    {"a library",
     "7f1000000000-7f1000021000 r-xp 0001f000 fd:01 1835264                   "
     "/usr/lib/libnccl.so.2",
     "7f1000000000-7f1000021000 fd:1 1835264 /usr/lib/libnccl.so.2"},
    {"deleted", "00400000-00401000 r--s 00000000 103:02 7    /a b/libx.so (deleted)",
     "400000-401000 103:2 7 /a b/libx.so*"},
    {"called so", "00400000-00401000 r--p 00000000 00:15 7 /x (deleted) (deleted)",
     "400000-401000 0:15 7 /x (deleted)*"},
    {"no file", "7ffd1000-7ffd2000 rw-p 00000000 00:00 0 ", "7ffd1000-7ffd2000 0:0 0 "},
    {"no file, no blank", "7ffd1000-7ffd2000 rw-p 00000000 00:00 0", "7ffd1000-7ffd2000 0:0 0 "},
    {"the stack", "7ffd1000-7ffd2000 rw-p 00000000 00:00 0     [stack]",
     "7ffd1000-7ffd2000 0:0 0 [stack]"},
    {"the last page", "ffffffffff600000-ffffffffffffffff --xp 00000000 00:00 0 [vsyscall]",
     "ffffffffff600000-ffffffffffffffff 0:0 0 [vsyscall]"},
    {"blanks at the end of a path", "1000-2000 r--p 0 fd:01 9 /x  ", "1000-2000 fd:1 9 /x  "},

    {"empty", "", NULL},
    {"words", "these are some words and 7 more", NULL},
    {"no range", "1000 r--p 00000000 fd:01 9 /x", NULL},
    {"a range that ends first", "2000-1000 r--p 00000000 fd:01 9 /x", NULL},
    {"an empty range", "1000-1000 r--p 00000000 fd:01 9 /x", NULL},
    {"an address too long", "00000000000001000-2000 r--p 0 fd:01 9 /x", NULL},
    {"capitals", "1000-2000 r--p 00000000 FD:01 9 /x", NULL},
    {"rights too short", "1000-2000 r-p 00000000 fd:01 9 /x", NULL},
    {"no offset", "1000-2000 r--p  fd:01 9 /x", NULL},
    {"no device", "1000-2000 r--p 00000000 fd01 9 /x", NULL},
    {"an inode that is no number", "1000-2000 r--p 00000000 fd:01 9x /x", NULL},
    {"an inode too large", "1000-2000 r--p 0 fd:01 18446744073709551616 /x", NULL},
    {"a device too large", "1000-2000 r--p 0 fd:100000000 9 /x", NULL},
};

static void test_lines(void)
{
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        char got[256];
        struct lks_map map = {.inode = 42};
        lks_test_case("%s", lines[i].name);
        bool ok = lks_map_parse(lks_str_from(lines[i].line), &map);
        CHECK(ok == (lines[i].want != NULL));
        CHECK(ok || map.inode == 42);
        snprintf(got, sizeof(got),
                 "%" PRIx64 "-%" PRIx64 " %" PRIx32 ":%" PRIx32 " %" PRIu64 " %.*s%s", map.start,
                 map.end, map.major, map.minor, map.inode, LKS_STR_ARG(map.path),
                 map.deleted ? "*" : "");
        if (ok)
            CHECK_STR(lks_str_from(got), lines[i].want);
    }
}

static void test_limit(void)
{
    static char line[LKS_MAP_LINE_MAX + 2];
    struct lks_map map;
    int len = snprintf(line, sizeof(line), "1000-2000 r--p 00000000 fd:01 9 /");
    memset(line + len, 'x', sizeof(line) - 1 - (size_t)len);
    CHECK(lks_map_parse((struct lks_str){line, LKS_MAP_LINE_MAX}, &map));
    CHECK(!lks_map_parse((struct lks_str){line, LKS_MAP_LINE_MAX + 1}, &map));
}

static const struct lks_test tests[] = {
    {"lines", test_lines},
    {"a line too long", test_limit},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
