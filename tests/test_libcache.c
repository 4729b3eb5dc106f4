/* What is kept of libraries between runs: which answers, for how long, and who is believed. */
#include "probe/library/libcache.h"

#include "base/file.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOW = 1000000 };

#define HEAD "lockstep library cache 1\n"

/* A file as it could be: device 1, inode 2, size 3, written at 4.5 s, changed at 6.7 s. */
static const struct stat file = {
    .st_dev = 1,
    .st_ino = 2,
    .st_size = 3,
    .st_mtim = {4, 5},
    .st_ctim = {6, 7},
};

static const struct {
    const char *name, *text;
    const char *message; /* NULL: it is taken, and written as it was */
} texts[] = {
    {"nothing in it", HEAD "end 0\n", NULL},
    {"two answers", HEAD "1 2 3 4 5 6 7 elf version=1.2\n1 2 3 4 5 6 7 sha256 00\nend 2\n", NULL},
    {"blanks in an answer", HEAD "1 2 3 4 5 6 7 elf a=1  b=2 \nend 1\n", NULL},
    {"the largest", HEAD "18446744073709551615 2 3 4 5 6 7 elf x\nend 1\n", NULL},

    {"empty", "", "not a library cache of this version"},
    {"another version", "lockstep library cache 2\nend 0\n", "not a library cache of this version"},
    {"no end", HEAD "1 2 3 4 5 6 7 elf x\n", "cut off after 1 entries"},
    {"a cut line", HEAD "1 2 3 4 5 6 7 elf x", "cut off after 0 entries"},
    {"a wrong count", HEAD "1 2 3 4 5 6 7 elf x\nend 2\n", "entry 2 is damaged"},
    {"more behind the end", HEAD "end 0\nx\n", "entry 1 is damaged"},
    {"a number too few", HEAD "1 2 3 4 5 6 elf x\nend 1\n", "entry 1 is damaged"},
    {"a negative number", HEAD "1 2 3 4 5 6 -7 elf x\nend 1\n", "entry 1 is damaged"},
    {"no answer", HEAD "1 2 3 4 5 6 7 elf\nend 1\n", "entry 1 is damaged"},
    {"an empty answer", HEAD "1 2 3 4 5 6 7 elf \nend 1\n", "entry 1 is damaged"},
    {"bytes that do not print", HEAD "1 2 3 4 5 6 7 elf \x1b[31m\nend 1\n", "entry 1 is damaged"},
    {"no table", HEAD "1 2 3 4 5 6 7  x\nend 1\n", "entry 1 is damaged"},
    {"one file twice", HEAD "1 2 3 4 5 6 7 elf x\n1 2 3 4 5 6 7 elf y\nend 2\n",
     "two answers for one file"},
};

static void test_parse(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
        struct lks_err err = {0};
        lks_libcache_init(&c);
        lks_test_case("%s", texts[i].name);
        enum lks_code code = lks_libcache_parse(lks_str_from(texts[i].text), &c, &err);
        CHECK((code == LKS_OK) == (texts[i].message == NULL));
        if (code != LKS_OK) {
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
            CHECK_INT(c.count, 0);
            continue;
        }
        lks_libcache_write(&c, true, &out);
        CHECK_STR(lks_buf_view(&out), texts[i].text);
    }
}

/* An answer is for one state of one file. */
static void test_states(void)
{
    static const struct {
        const char *name;
        struct stat st;
        const char *table;
        const char *want; /* "": it has to be read again */
    } rows[] = {
        {"the same", {0}, "elf", "kept"},
        {"another question", {0}, "sha256", ""},
        {"another device", {.st_dev = 1}, "elf", ""},
        {"another file", {.st_ino = 1}, "elf", ""},
        {"another size", {.st_size = 1}, "elf", ""},
        {"written to", {.st_mtim = {1, 0}}, "elf", ""},
        {"written to a moment later", {.st_mtim = {0, 1}}, "elf", ""},
        {"changed, and its time set back", {.st_ctim = {1, 0}}, "elf", ""},
        {"changed a moment later", {.st_ctim = {0, 1}}, "elf", ""},
    };
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
    struct lks_err err;
    lks_libcache_init(&c);
    CHECK_CODE(lks_libcache_parse(LKS_STR(HEAD "1 2 3 4 5 6 7 elf kept\nend 1\n"), &c, &err),
               LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct stat st = file;
        st.st_dev += rows[i].st.st_dev;
        st.st_ino += rows[i].st.st_ino;
        st.st_size += rows[i].st.st_size;
        st.st_mtim.tv_sec += rows[i].st.st_mtim.tv_sec;
        st.st_mtim.tv_nsec += rows[i].st.st_mtim.tv_nsec;
        st.st_ctim.tv_sec += rows[i].st.st_ctim.tv_sec;
        st.st_ctim.tv_nsec += rows[i].st.st_ctim.tv_nsec;
        lks_test_case("%s", rows[i].name);
        struct lks_str got = lks_libcache_find(&c, &st, rows[i].table);
        CHECK_STR(got.len > 0 ? got : LKS_STR(""), rows[i].want);
    }
}

static void test_add(void)
{
    static const char long_answer[LKS_LIBCACHE_ANSWER_MAX + 1] = {[0] = 'x'};
    static const struct {
        const char *name;
        int64_t changed;
        struct lks_str answer;
        const char *table;
        bool kept;
    } rows[] = {
        {"long ago", 6, LKS_STR_C("x"), "elf", true},
        {"two seconds ago", NOW - 2, LKS_STR_C("x"), "elf", true},
        {"a moment ago", NOW - 1, LKS_STR_C("x"), "elf", false},
        {"tomorrow, by its clock", NOW + 86400, LKS_STR_C("x"), "elf", false},
        {"before 1970", -1, LKS_STR_C("x"), "elf", false},
        {"an empty answer", 6, LKS_STR_C(""), "elf", false},
        {"two lines", 6, LKS_STR_C("a\nb"), "elf", false},
        {"too long", 6, {long_answer, sizeof(long_answer)}, "elf", false},
        {"a table with a blank", 6, LKS_STR_C("x"), "e f", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
        struct stat st = file;
        lks_libcache_init(&c);
        st.st_ctim.tv_sec = rows[i].changed;
        lks_test_case("%s", rows[i].name);
        lks_libcache_add(&c, &st, rows[i].table, rows[i].answer, NOW);
        CHECK_INT(c.count, rows[i].kept);
        CHECK(c.changed == rows[i].kept);
    }
}

/* A file that is met again, by another name, is answered from what was added, and is one entry. */
static void test_again(void)
{
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    struct lks_err err;
    struct stat other = file;
    other.st_ino = 1;
    lks_libcache_init(&c);
    CHECK_CODE(lks_libcache_parse(LKS_STR(HEAD "1 1 3 4 5 6 7 elf loaded\nend 1\n"), &c, &err),
               LKS_OK);
    CHECK(lks_libcache_find(&c, &file, "elf").len == 0);
    lks_libcache_add(&c, &file, "elf", LKS_STR("first"), NOW);
    CHECK_STR(lks_libcache_find(&c, &file, "elf"), "first");
    CHECK(lks_libcache_find(&c, &file, "sha256").len == 0);
    lks_libcache_add(&c, &file, "elf", LKS_STR("second"), NOW);
    lks_libcache_add(&c, &other, "elf", LKS_STR("second"), NOW);
    CHECK_INT(c.count, 2);
    lks_libcache_write(&c, true, &text);
    CHECK_STR(lks_buf_view(&text),
              HEAD "1 1 3 4 5 6 7 elf loaded\n1 2 3 4 5 6 7 elf first\nend 2\n");
    CHECK_CODE(lks_libcache_parse(lks_buf_view(&text), &c, &err), LKS_OK);
}

/* No more than its limit, and what was not used can be left behind. */
static void test_bounds(void)
{
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf used = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    struct lks_err err;
    lks_libcache_init(&c);
    for (unsigned i = 0; i < LKS_LIBCACHE_ENTRIES_MAX + 5; i++) {
        struct stat st = file;
        st.st_ino = i;
        lks_libcache_add(&c, &st, "elf", LKS_STR("x"), NOW);
    }
    CHECK_INT(c.count, LKS_LIBCACHE_ENTRIES_MAX);
    lks_libcache_write(&c, false, &all);
    CHECK_CODE(lks_libcache_parse(lks_buf_view(&all), &c, &err), LKS_OK);
    CHECK_INT(c.loaded, LKS_LIBCACHE_ENTRIES_MAX);
    struct stat st = file;
    st.st_ino = 77;
    CHECK_STR(lks_libcache_find(&c, &st, "elf"), "x");
    lks_libcache_write(&c, false, &used);
    CHECK_STR(lks_buf_view(&used), HEAD "1 77 3 4 5 6 7 elf x\nend 1\n");
}

static void path_in(const struct lks_tree *tree, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", tree->path, name);
}

static void test_files(void)
{
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache d = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    struct lks_tree tree = lks_tree_new();
    struct lks_err err;
    struct stat st;
    char path[128];
    lks_libcache_init(&c);
    lks_libcache_init(&d);
    path_in(&tree, "cache", path);
    CHECK_CODE(lks_libcache_load(&c, path, &err), LKS_E_NOT_FOUND);
    lks_libcache_add(&c, &file, "elf", LKS_STR("version=1"), NOW);
    CHECK_CODE(lks_libcache_save(&c, path, true, &err), LKS_OK);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
    CHECK_CODE(lks_file_read(path, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), HEAD "1 2 3 4 5 6 7 elf version=1\nend 1\n");
    CHECK_CODE(lks_libcache_load(&d, path, &err), LKS_OK);
    CHECK_STR(lks_libcache_find(&d, &file, "elf"), "version=1");
    CHECK(unlink(path) == 0);
    CHECK(rmdir(tree.path) == 0); /* nothing was left beside it */
    CHECK_CODE(lks_libcache_save(&c, path, true, &err), LKS_E_IO);
    CHECK(mkdir(tree.path, 0700) == 0);
    lks_tree_free(&tree);
}

/* Only what is a cache is written over. */
static void test_replaced(void)
{
    static const struct {
        const char *name, *text;
        enum lks_code load;
        bool replaced;
    } rows[] = {
        {"a cache", HEAD "end 0\n", LKS_OK, true},
        {"one of another version", "lockstep library cache 2\n\x01", LKS_E_INVALID, true},
        {"a damaged one", HEAD "1 2", LKS_E_INVALID, true},
        {"one with an answer twice", HEAD "1 2 3 4 5 6 7 elf x\n1 2 3 4 5 6 7 elf y\nend 2\n",
         LKS_E_INVALID, true},
        {"something else", "precious\n", LKS_E_INVALID, false},
        {"something that mentions one", "a " HEAD, LKS_E_INVALID, false},
        {"half a first line", "lockstep library", LKS_E_INVALID, false},
        {"nothing", "", LKS_E_INVALID, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
        struct lks_tree tree = lks_tree_new();
        struct lks_err err;
        char path[128];
        lks_test_case("%s", rows[i].name);
        lks_libcache_init(&c);
        path_in(&tree, "cache", path);
        lks_tree_file(&tree, "/cache", rows[i].text);
        CHECK_CODE(lks_libcache_load(&c, path, &err), rows[i].load);
        lks_libcache_add(&c, &file, "elf", LKS_STR("version=1"), NOW);
        CHECK_CODE(lks_libcache_save(&c, path, true, &err),
                   rows[i].replaced ? LKS_OK : LKS_E_REFUSED);
        CHECK_CODE(lks_file_read(path, &text, &err), LKS_OK);
        CHECK_STR(lks_buf_view(&text),
                  rows[i].replaced ? HEAD "1 2 3 4 5 6 7 elf version=1\nend 1\n" : rows[i].text);
        lks_tree_free(&tree);
    }
}

/* What others can write is not believed, and what is no plain file is not opened. */
static void test_trust(void)
{
    static const struct {
        const char *name;
        enum { PLAIN, LINK, FIFO, DIRECTORY } what;
        mode_t mode;
        enum lks_code code;
    } rows[] = {
        {"ours", PLAIN, 0600, LKS_OK},
        {"readable by all", PLAIN, 0644, LKS_OK},
        {"writable by a group", PLAIN, 0660, LKS_E_DENIED},
        {"writable by all", PLAIN, 0602, LKS_E_DENIED},
        {"a link", LINK, 0, LKS_E_IO},
        {"a pipe", FIFO, 0, LKS_E_DENIED},
        {"a directory", DIRECTORY, 0, LKS_E_DENIED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
        struct lks_tree tree = lks_tree_new();
        struct lks_err err;
        char path[128];
        lks_test_case("%s", rows[i].name);
        lks_libcache_init(&c);
        path_in(&tree, "cache", path);
        lks_tree_file(&tree, "/plain", HEAD "end 0\n");
        if (rows[i].what == PLAIN) {
            lks_tree_file(&tree, "/cache", HEAD "end 0\n");
            CHECK(chmod(path, rows[i].mode) == 0);
        } else if (rows[i].what == LINK) {
            lks_tree_link(&tree, "/cache", "plain");
        } else if (rows[i].what == FIFO) {
            lks_tree_fifo(&tree, "/cache");
        } else {
            lks_tree_dir(&tree, "/cache");
        }
        CHECK_CODE(lks_libcache_load(&c, path, &err), rows[i].code);
        CHECK_CODE(lks_libcache_save(&c, path, true, &err),
                   rows[i].code == LKS_OK ? LKS_OK : LKS_E_REFUSED);
        lks_tree_free(&tree);
    }
}

static const struct lks_test tests[] = {
    {"texts", test_parse},
    {"states of a file", test_states},
    {"what is kept", test_add},
    {"met again", test_again},
    {"bounds", test_bounds},
    {"files", test_files},
    {"what is replaced", test_replaced},
    {"who is believed", test_trust},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
