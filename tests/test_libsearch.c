/* Where the search looks and where it stops, what processes have mapped, and the cache at work. */
#include "base/file.h"
#include "probe/library/libread.h"
#include "probe/library/libsearch.h"
#include "probe/library/toolkit.h"
#include "probe/root/probes.h"
#include "tests/facts.h"
#include "tests/libraries.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20 };

#define LIB "/usr/lib/x86_64-linux-gnu"

/* What one search says: "KIND NAME PATH (USERS)", then "- PLACE: WHY". */
static void search(const char *path, enum lks_place_kind kind, const struct lks_walk_limits *limits,
                   struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_libsearch_fini) struct lks_libsearch s = {0};
    struct lks_root root;
    struct lks_err err;
    struct lks_findings f = {0};
    lks_buf_init(out, TEXT_MAX);
    lks_arena_init(&arena, (size_t)64 << 20);
    if (!CHECK_CODE(lks_root_open(path, NULL, &root, &err), LKS_OK))
        return;
    lks_libsearch_init(&s, &root, &arena, limits);
    CHECK_CODE(lks_libsearch_kind(&s, kind, &f, &err), LKS_OK);
    for (size_t i = 0; i < f.count; i++) {
        const struct lks_found *found = &f.list[i];
        lks_buf_addf(out, "%s%s %.*s %.*s", found->shadow ? "shadow " : "",
                     lks_libplace_kind_name(found->kind), LKS_STR_ARG(found->name),
                     LKS_STR_ARG(found->of));
        if (found->users.len > 0)
            lks_buf_addf(out, " (%.*s) %.*s", LKS_STR_ARG(found->users), LKS_STR_ARG(found->path));
        lks_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < f.left_out_count; i++)
        lks_buf_addf(out, "- %.*s: %.*s\n", LKS_STR_ARG(f.left_out[i].place),
                     LKS_STR_ARG(f.left_out[i].why));
    lks_root_close(&root);
}

static struct lks_str text_of(const struct lks_buf *b)
{
    return b->len > 0 ? lks_buf_view(b) : LKS_STR("");
}

/* Limits ------------------------------------------------------------------------------------- */

static void test_limits(void)
{
    static const struct {
        const char *name;
        struct lks_walk_limits limits;
        const char *want;
    } rows[] = {
        {"none reached", {100, 1000, 60000}, "system nccl /usr/lib64/libnccl.so.2\n"},
        {"directories",
         {1, 1000, 60000},
         "system nccl /usr/lib64/libnccl.so.2\n"
         "- /usr/lib: the search ended at its limit of 1 directories\n"},
        {"names",
         {100, 2, 60000},
         "system nccl /usr/lib64/libnccl.so.2\n"
         "- /usr/lib: the search ended at its limit of 2 names\n"},
        {"time",
         {100, 1000, 0},
         "- /usr/lib/{x86_64-linux-gnu,aarch64-linux-gnu}: the search ended at its limit of 0 "
         "ms\n"},
    };
    struct lks_tree tree = lks_tree_new();
    lks_test_nccl(&tree, "/usr/lib64/libnccl.so.2", "2.1.1", 'a');
    lks_tree_file(&tree, "/usr/lib64/one", "");
    lks_tree_file(&tree, "/usr/lib64/two", "");
    lks_tree_file(&tree, "/usr/lib/three", "");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0};
        lks_test_case("%s", rows[i].name);
        search(tree.path, LKS_PLACE_SYSTEM, &rows[i].limits, &got);
        struct lks_str want = lks_str_from(rows[i].want);
        CHECK(got.len >= want.len);
        CHECK_STR(((struct lks_str){got.ptr, got.len < want.len ? got.len : want.len}),
                  rows[i].want);
    }
    lks_tree_free(&tree);
}

/* However much there is, so much is told, and that there is more. */
static void test_many(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf copies = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf layers = {0};
    struct lks_tree tree = lks_tree_new();
    char path[128], last[256];
    for (int i = 0; i < LKS_LIBSEARCH_COPIES_MAX + 3; i++) {
        snprintf(path, sizeof(path), "/usr/lib64/libnccl.so.%04d", i);
        lks_tree_file(&tree, path, "x");
    }
    for (int i = 0; i < LKS_LIBSEARCH_LAYERS_MAX + 2; i++) {
        snprintf(path, sizeof(path), "/var/lib/docker/overlay2/%04d/diff/etc/none", i);
        lks_tree_file(&tree, path, "");
    }
    search(tree.path, LKS_PLACE_SYSTEM, NULL, &copies);
    snprintf(last, sizeof(last),
             "- /usr/lib64: more copies than are kept: /usr/lib64/libnccl.so.%04d and 2 more\n",
             LKS_LIBSEARCH_COPIES_MAX);
    CHECK_HAS(text_of(&copies), last);
    search(tree.path, LKS_PLACE_CONTAINER, NULL, &layers);
    snprintf(last, sizeof(last),
             "- /var/lib/docker/{overlay2,fuse-overlayfs}/*/diff: more layers than are searched: "
             "/var/lib/docker/overlay2/%04d/diff and 1 more\n",
             LKS_LIBSEARCH_LAYERS_MAX);
    CHECK_STR(text_of(&layers), last);
    lks_tree_free(&tree);
}

/* Refusals are recorded in the tree, as a test that runs as root meets none. */
static void test_not_permitted(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf python = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf container = {0};
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/home/ada/x", "");
    lks_tree_file(&tree, "/home/bob/x", "");
    lks_tree_file(&tree, "/opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib/x", "");
    lks_tree_file(&tree, "/var/lib/docker/overlay2/0a/diff/x", "");
    lks_tree_file(&tree, "/lockstep/link.csv",
                  "key,code,value\n"
                  "/home/ada/miniconda3,denied,\n/home/ada/anaconda3,denied,\n"
                  "/home/ada/.venv,denied,\n/home/bob/.venv,denied,\n/home/bob/.conda,denied,\n");
    lks_tree_file(&tree, "/lockstep/list.csv",
                  "key,code,value\n"
                  "/opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib,denied,\n"
                  "/var/lib/docker/overlay2,denied,\n"
                  "/home/bob,io,/home/bob: Input/output error\n");
    search(tree.path, LKS_PLACE_PYTHON, NULL, &python);
    CHECK_STR(text_of(&python), "- /*/{.venv,venv}: not permitted: "
                                "/opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib\n"
                                "- /home/*: not permitted: /home/ada and 1 more\n"
                                "- /home/*: /home/bob: Input/output error\n");
    search(tree.path, LKS_PLACE_CONTAINER, NULL, &container);
    CHECK_STR(text_of(&container), "- /var/lib/docker/{overlay2,fuse-overlayfs}: not permitted: "
                                   "/var/lib/docker/overlay2\n");
    lks_tree_free(&tree);
}

/* Findings that were recorded and damaged. */
static void test_findings(void)
{
    static const struct {
        const char *name, *text;
        bool ok;
    } rows[] = {
        {"none", "", true},
        {"one of each",
         "copy\tcuda\tnccl\t\t/a\t\tshadow\tpython\tlibcuda\t\t/b\t/b\t"
         "skip\tsystem\t/c\twhy\t\t\t",
         true},
        {"cut off", "copy\tcuda\tnccl\t\t/a\t/a", false},
        {"fields too few", "copy\tcuda\tnccl\t\t/a\t", false},
        {"another word", "find\tcuda\tnccl\t\t/a\t/a\t", false},
        {"another kind", "copy\tattic\tnccl\t\t/a\t/a\t", false},
        {"a relative path", "copy\tcuda\tnccl\t\ta\t/a\t", false},
        {"no path", "copy\tcuda\tnccl\t\t\t/a\t", false},
        {"no name", "copy\tcuda\t\t\t/a\t/a\t", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_findings f;
        struct lks_err err;
        lks_arena_init(&arena, 1 << 16);
        lks_test_case("%s", rows[i].name);
        enum lks_code code =
            lks_libsearch_findings_parse(lks_str_from(rows[i].text), &arena, &f, &err);
        CHECK_CODE(code, rows[i].ok ? LKS_OK : LKS_E_INVALID);
    }
}

/* Processes ---------------------------------------------------------------------------------- */

static void plant_process(const struct lks_tree *tree, int pid, const char *device,
                          const char *maps)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    lks_tree_file(tree, path, maps);
    snprintf(path, sizeof(path), "/proc/%d/fd/0", pid);
    lks_tree_link(tree, path, "/dev/null");
    snprintf(path, sizeof(path), "/proc/%d/fd/17", pid);
    lks_tree_link(tree, path, device);
}

#define HOST "/opt/venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2"

static void plant_processes(const struct lks_tree *tree)
{
    static const char host[] = "7f10-7f20 r-xp 00000000 fd:01 42    " HOST "\n"
                               "7f20-7f30 rw-p 00010000 fd:01 42    " HOST "\n"
                               "7f30-7f40 r-xp 00000000 fd:01 43    " LIB "/libcuda.so.1\n"
                               "7f40-7f50 r-xp 00000000 fd:01 44    " LIB "/libc.so.6\n"
                               "7ffd-7fff rw-p 00000000 00:00 0     [stack]\n";
    lks_test_nccl(tree, HOST, "2.28.9", 'a');
    plant_process(tree, 100, "/dev/nvidia0", host);
    lks_tree_link(tree, "/proc/100/root", "/");
    plant_process(tree, 101, "/dev/nvidia-uvm", host);
    lks_tree_link(tree, "/proc/101/root", "/");
    plant_process(tree, 102, "/dev/tty", host); /* no GPU */
    lks_tree_link(tree, "/proc/102/root", "/");
    /* In a container the same path is another file. */
    plant_process(tree, 200, "/dev/kfd", "7f10-7f20 r-xp 0 00:2a 42 " HOST "\n");
    lks_test_nccl(tree, "/proc/200/root" HOST, "2.26.2", 'b');
    /* Replaced under the process, and a line that is none. */
    plant_process(tree, 300, "/dev/dri/renderD128",
                  "garbage\n7f10-7f20 r-xp 0 fd:01 99 " LIB "/libnccl.so.2 (deleted)\n"
                  "7f20-7f30 r-xp 0 fd:01 98 /memfd:libnccl.so.2 (deleted)");
    lks_test_nccl(tree, "/proc/300/map_files/7f10-7f20", "2.19.3", 'c');
    lks_tree_file(tree, "/proc/400/stat", "400 (gone) S 1\n");
    lks_tree_file(tree, "/proc/500/stat", "500 (odd) name) S 1 1 1 0 -1 4194560 0\n");
    lks_tree_file(tree, "/proc/600/stat", "600 (kthread) S 2 0 0 0 -1 2129984 0\n");
    lks_tree_file(tree, "/proc/700/stat", "700 (many files) S 1\n");
    lks_tree_file(tree, "/proc/meminfo", "no process\n");
    lks_tree_file(
        tree, "/lockstep/list.csv",
        "key,code,value\n/proc/500/fd,denied,\n/proc/600/fd,denied,\n/proc/700/fd,limit,\n");
}

static void test_processes(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = {0};
    struct lks_tree tree = lks_tree_new();
    plant_processes(&tree);
    search(tree.path, LKS_PLACE_PROCESS, NULL, &got);
    CHECK_STR(text_of(&got),
              "process nccl " HOST " (2 processes, the first 100) " HOST "\n"
              "process nccl /proc/200/root" HOST " (process 200) /proc/200/root" HOST "\n"
              "process nccl " LIB "/libnccl.so.2 (deleted) (process 300) "
              "/proc/300/map_files/7f10-7f20\n"
              "- /proc/*/maps: 1 processes of others were not readable\n"
              "- /proc/*/maps: 1 processes have more open files or mappings than are inspected\n");
    lks_tree_free(&tree);
}

/* The cache at work -------------------------------------------------------------------------- */

static void collect(void *ctx, const struct lks_reading *r)
{
    lks_tuple_add(ctx, r);
}

/* The version of NCCL as this machine has it, were `tree` its root. */
static void nccl_of(const struct lks_tree *tree, bool live, const char *cache, char out[64])
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple said = {0};
    struct lks_root root;
    struct lks_err err;
    lks_tuple_init(&said);
    lks_arena_init(&arena, (size_t)16 << 20);
    if (!CHECK_CODE(lks_root_open(tree->path, NULL, &root, &err), LKS_OK))
        return;
    root.live = live;
    struct lks_probe_options options = {.libraries = true, .cache = cache};
    struct lks_probe p = {&root, lks_test_facts(), &options, &arena, collect, &said};
    lks_probe_libraries(&p);
    CHECK_CODE(lks_tuple_finish(&said, &err), LKS_OK);
    const struct lks_reading *r = lks_tuple_find(&said, "nccl");
    snprintf(out, 64, "%.*s", r != NULL ? (int)r->value.len : 0, r != NULL ? r->value.ptr : "");
    lks_root_close(&root);
}

/* Put `fake` where the cache has `real`, as one would who wants to see whether it is asked. */
static void forge(const char *path, const char *real, const char *fake)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err;
    CHECK_CODE(lks_file_read(path, &text, &err), LKS_OK);
    ptrdiff_t at = lks_str_find(text_of(&text), lks_str_from(real));
    if (!CHECK(at >= 0))
        return;
    memcpy(text.ptr + at, fake, strlen(fake));
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fwrite(text.ptr, 1, text.len, f) == text.len && fclose(f) == 0);
}

static void wait_until_settled(void)
{
    struct timespec t = {LKS_LIBCACHE_SETTLED_S, 200000000};
    (void)nanosleep(&t, NULL);
}

static void test_cache(void)
{
    struct lks_tree tree = lks_tree_new(), state = lks_tree_new();
    char cache[128], path[128], got[64] = "";
    snprintf(cache, sizeof(cache), "%s/cache", state.path);
    snprintf(path, sizeof(path), "%s" LIB "/libnccl.so.2", tree.path);
    lks_test_nccl(&tree, LIB "/libnccl.so.2", "2.28.3", 'a');

    lks_test_case("a tree that was captured has no cache");
    nccl_of(&tree, false, cache, got);
    CHECK_STR(lks_str_from(got), "2.28.3");
    CHECK(access(cache, F_OK) != 0);

    lks_test_case("what is too fresh is not kept");
    nccl_of(&tree, true, cache, got);
    forge(cache, "end 0", "end 0");

    lks_test_case("what has settled is");
    wait_until_settled();
    nccl_of(&tree, true, cache, got);
    CHECK_STR(lks_str_from(got), "2.28.3");
    forge(cache, "version=2.28.3", "version=2.99.9");
    nccl_of(&tree, true, cache, got);
    CHECK_STR(lks_str_from(got), "2.99.9");
    nccl_of(&tree, false, cache, got);
    CHECK_STR(lks_str_from(got), "2.28.3");

    lks_test_case("until the file changes, its own time set back or not");
    struct stat st;
    CHECK(stat(path, &st) == 0);
    CHECK(chmod(path, 0600) == 0);
    CHECK(utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0) == 0);
    nccl_of(&tree, true, cache, got);
    CHECK_STR(lks_str_from(got), "2.28.3");

    lks_test_case("a damaged one is written anew");
    lks_tree_file(&state, "/cache", "lockstep library cache 1\ngarbage");
    nccl_of(&tree, true, cache, got);
    CHECK_STR(lks_str_from(got), "2.28.3");
    forge(cache, "lockstep library cache 1\nend", "lockstep library cache 1\nend");
    lks_tree_free(&state);
    lks_tree_free(&tree);
}

/* Small things ------------------------------------------------------------------------------- */

static void test_toolkit_of(void)
{
    static const struct {
        const char *path, *want;
    } rows[] = {
        {"/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13", "/usr/local/cuda-13.0"},
        {"/usr/local/cuda-12.4/lib64/libcudart.so.12", "/usr/local/cuda-12.4"},
        {"/opt/cuda/lib/libcudart.so.12", "/opt/cuda"},
        {"/usr/local/cuda/compat/libcuda.so.1", ""},
        {"/lib/libcudart.so.12", ""},
        {"libcudart.so.12", ""},
        {"", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].path);
        struct lks_str got = lks_toolkit_of(lks_str_from(rows[i].path));
        CHECK_STR(got.len > 0 ? got : LKS_STR(""), rows[i].want);
    }
}

static void test_library_line(void)
{
    static const struct {
        const char *name, *line;
        bool ok;
    } rows[] = {
        {"all of it", "version=1.2 from=string named=1.2.3 soname=x build_id=00 evidence=a b",
         true},
        {"no version", "soname=x evidence=why", true},
        {"nothing", "evidence=", true},
        {"evidence alone may have anything in it", "evidence=version=1", true},
        {"no evidence", "version=1.2", false},
        {"empty", "", false},
        {"another word", "color=blue evidence=", false},
        {"twice", "version=1 version=2 evidence=", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(1024);
        struct lks_library library;
        struct lks_err err;
        lks_test_case("%s", rows[i].name);
        enum lks_code code = lks_libread_parse(lks_str_from(rows[i].line), &library, &err);
        CHECK_CODE(code, rows[i].ok ? LKS_OK : LKS_E_INVALID);
        if (code != LKS_OK)
            continue;
        lks_libread_write(&library, &again);
        CHECK_STR(lks_buf_view(&again), rows[i].line);
    }
}

/* Every place is written as the search reads it. */
static void test_places(void)
{
    for (size_t i = 0; i < lks_place_count; i++) {
        const struct lks_place *place = &lks_places[i];
        size_t len = strlen(place->pattern);
        int open = 0;
        bool ok = place->pattern[0] == '/' && place->pattern[len - 1] != '/';
        lks_test_case("%s", place->pattern);
        for (size_t k = 0; k < len; k++) {
            open += place->pattern[k] == '{';
            open -= place->pattern[k] == '}';
            ok = ok && open >= 0 && open <= 1 && (open == 0 || place->pattern[k] != '/') &&
                 place->pattern[k] != ' ';
        }
        CHECK(ok && open == 0);
        CHECK(place->about[0] != '\0');
    }
}

static const struct lks_test tests[] = {
    {"limits", test_limits},
    {"more than is kept", test_many},
    {"not permitted", test_not_permitted},
    {"recorded findings", test_findings},
    {"processes", test_processes},
    {"the cache at work", test_cache},
    {"the toolkit of a library", test_toolkit_of},
    {"a library as a line", test_library_line},
    {"places", test_places},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
