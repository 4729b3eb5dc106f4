/* The library search over trees with every kind of place and of trouble in them. */
#include "base/file.h"
#include "probe/root/probes.h"
#include "tests/elf_image.h"
#include "tests/facts.h"
#include "tests/heard.h"
#include "tests/libraries.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, IMAGE_MAX = 1 << 16 };

#define SITE "/opt/torch/.venv/lib/python3.12/site-packages"

/* Running ------------------------------------------------------------------------------------ */

static void collect(void *ctx, const struct lks_reading *r)
{
    lks_tuple_add(ctx, r);
}

struct run {
    bool libraries, live;
    const char *capture, *cache;
};

static struct lks_tuple run(const char *path, const struct run *how)
{
    struct lks_tuple said = {0};
    struct lks_root root = {.capture = -1};
    struct lks_err err = {0};
    struct lks_arena arena = {0};
    lks_tuple_init(&said);
    if (!CHECK_CODE(lks_root_open(path, how->capture, &root, &err), LKS_OK))
        return said;
    root.live = how->live;
    lks_arena_init(&arena, (size_t)16 << 20);
    struct lks_probe_options options = {.libraries = how->libraries, .cache = how->cache};
    struct lks_probe p = {&root, lks_test_facts(), &options, &arena, collect, &said};
    lks_probe_libraries(&p);
    CHECK_CODE(lks_tuple_finish(&said, &err), LKS_OK);
    lks_arena_fini(&arena);
    lks_root_close(&root);
    return said;
}

/* All readings that are not absent, a line each. */
static void show(const struct lks_tuple *said, bool hashes, bool evidence, struct lks_buf *out)
{
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    lks_heard_tuple(said, &heard);
    struct lks_str rest = lks_buf_view(evidence ? &heard.full : &heard.lines), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        bool absent = lks_str_ends(line, "~") || lks_str_find(line, LKS_STR("~ < ")) >= 0;
        bool id = lks_str_find(line, LKS_STR(".build_id@")) >= 0; /* test_copy_builds() has them */
        if (!absent && !id && (hashes || lks_str_find(line, LKS_STR(".build.sha256")) < 0))
            lks_buf_addf(out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
}

static void check_run(const struct lks_tree *tree, const struct run *how, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple said = run(tree->path, how);
    show(&said, false, false, &got);
    CHECK_STR(lks_buf_view(&got), want);
}

/* A whole machine ---------------------------------------------------------------------------- */

/* The libraries of a real machine with an H200, one file for each of its own. */
static void plant_h200(const struct lks_tree *tree)
{
    static const char *const entries[][2] = {
        {"libnccl.so.2", "/lib/x86_64-linux-gnu/libnccl.so.2"},
        {"libnccl.so", "/lib/x86_64-linux-gnu/libnccl.so"},
        {"libcudnn.so.9", "/lib/x86_64-linux-gnu/libcudnn.so.9"},
        {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"},
        {"libcudart.so.13", "/usr/local/cuda/targets/x86_64-linux/lib/libcudart.so.13"},
    };
    lks_tree_link(tree, "/lib", "usr/lib");
    lks_test_ldcache(tree, entries, LKS_COUNT(entries));
    lks_test_nccl(tree, "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3", "2.28.3", 'a');
    lks_tree_link(tree, "/usr/lib/x86_64-linux-gnu/libnccl.so.2", "libnccl.so.2.28.3");
    lks_tree_link(tree, "/usr/lib/x86_64-linux-gnu/libnccl.so", "libnccl.so.2");
    lks_test_cudnn(tree, "/usr/lib/x86_64-linux-gnu", "9.14.0",
                   (struct lks_str){"\x00\x0e\x09\x00", 4});
    lks_tree_link(tree, "/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "libcudnn.so.9.14.0");
    lks_tree_file(tree, "/usr/local/nvidia/lib64/libcuda.so.1", "the driver's");
    lks_tree_link(tree, "/usr/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1");

    lks_tree_link(tree, "/usr/local/cuda", "/etc/alternatives/cuda");
    lks_tree_link(tree, "/etc/alternatives/cuda", "/usr/local/cuda-13.0");
    lks_tree_link(tree, "/usr/local/cuda-13", "/etc/alternatives/cuda");
    lks_tree_file(tree, "/usr/local/cuda-13.0/version.json",
                  "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"13.0.2\"},\n"
                  " \"cuda_cudart\": {\"version\": \"13.0.96\"}}\n");
    lks_tree_link(tree, "/usr/local/cuda-13.0/lib64", "targets/x86_64-linux/lib");
    lks_test_cudart(tree, "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13.0.96",
                    13000, 'c');
    lks_tree_link(tree, "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13",
                  "libcudart.so.13.0.96");
    lks_test_library(tree, "/usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs/libcuda.so", "stub",
                     's');
    lks_test_library(tree, "/usr/local/cuda-13.0/compat/libcuda.so.580.95.05",
                     "libnvidia-pkcs11.so.580.95.05", 'd');
    lks_tree_link(tree, "/usr/local/cuda-13.0/compat/libcuda.so.1", "libcuda.so.580.95.05");

    lks_test_nccl(tree, SITE "/nvidia/nccl/lib/libnccl.so.2", "2.28.9", 'b');
    lks_test_cudnn(tree, SITE "/nvidia/cudnn/lib", "9", (struct lks_str){"\x00\x0f\x09\x00", 4});
    lks_test_cudart(tree, SITE "/nvidia/cu13/lib/libcudart.so.13", 13000, 'c');
    lks_test_cudart(tree, SITE "/torchvision.libs/libcudart.faf08d9a.so.13", 13000, 'c');
    lks_test_cudart(tree, SITE "/other.libs/libcudart-0123abcd.so.12", 12080, 'e');
}

#define CUDART "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13.0.96"

static const char quick[] = "cuda=13.0.2\n"
                            "cuda-compat=13.0\n"
                            "cuda-compat.build.build_id=6464646464646464\n"
                            "cuda.build.build_id=6363636363636363\n"
                            "cudnn=9.14.0\n"
                            "cudnn.build.build_id=6375646e6e\n"
                            "nccl=2.28.3\n"
                            "nccl.build.build_id=6161616161616161\n"
                            "search.skipped@all places=not asked for\n";
static const char copies[] =
    "copy.cuda@" SITE "/nvidia/cu13/lib/libcudart.so.13#python=13.0.2\n"
    "copy.cuda@" SITE "/other.libs/libcudart-0123abcd.so.12#python=12.8\n"
    "copy.cuda@" SITE "/torchvision.libs/libcudart.faf08d9a.so.13#python=13.0.2\n"
    "copy.cuda@" CUDART "#cuda=13.0.2\n"
    "copy.cuda-compat@/usr/local/cuda-13.0/compat/libcuda.so.580.95.05#cuda=580.95.05\n"
    "copy.cudnn@" SITE "/nvidia/cudnn/lib/libcudnn.so.9#python=9.15.0\n"
    "copy.cudnn@/usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0#system=9.14.0\n"
    "copy.nccl@" SITE "/nvidia/nccl/lib/libnccl.so.2#python=2.28.9\n"
    "copy.nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3#system=2.28.3\n";

static void test_quick(void)
{
    struct lks_tree tree = lks_tree_new();
    plant_h200(&tree);
    check_run(&tree, &(struct run){0}, quick);
    lks_tree_free(&tree);
}

static void test_search(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
    struct lks_tree tree = lks_tree_new();
    plant_h200(&tree);
    LKS_CLEANUP(lks_tuple_fini)
    struct lks_tuple said = run(tree.path, &(struct run){.libraries = true});
    show(&said, true, false, &got);
    CHECK_HAS(lks_buf_view(&got), copies);
    CHECK_HAS(lks_buf_view(&got), "nccl.build.sha256=");
    CHECK(lks_str_find(lks_buf_view(&got), LKS_STR("skipped")) < 0);
    lks_tree_free(&tree);
}

/* A capture says the same, evidence included, and has no library and no directory in it. */
static void test_capture(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(TEXT_MAX);
    struct lks_tree tree = lks_tree_new(), capture = lks_tree_new();
    char path[256];
    plant_h200(&tree);
    lks_tree_file(&tree, "/opt/secret-project/notes", "not ours to tell");
    LKS_CLEANUP(lks_tuple_fini)
    struct lks_tuple said =
        run(tree.path, &(struct run){.libraries = true, .capture = capture.path});
    LKS_CLEANUP(lks_tuple_fini)
    struct lks_tuple replayed = run(capture.path, &(struct run){.libraries = true});
    show(&said, true, true, &got);
    show(&replayed, true, true, &again);
    CHECK_STR(lks_buf_view(&again), got.ptr);
    snprintf(path, sizeof(path), "%s%s", capture.path, CUDART);
    CHECK(access(path, F_OK) != 0);
    static const char *const tables[] = {"search", "loader", "list", "link", "stat", "elf"};
    for (size_t i = 0; i < LKS_COUNT(tables); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_err err;
        lks_test_case("%s", tables[i]);
        snprintf(path, sizeof(path), "%s/lockstep/%s.csv", capture.path, tables[i]);
        if (lks_file_read(path, &text, &err) == LKS_OK)
            CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("secret-project")) < 0);
    }
    lks_tree_free(&capture);
    lks_tree_free(&tree);
}

/* A file that is no cache stays what it is, and a reading says so. */
static void test_foreign_cache(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_tree tree = lks_tree_new();
    struct lks_err err;
    char path[128], want[512];
    plant_h200(&tree);
    lks_tree_file(&tree, "/notes", "precious\n");
    snprintf(path, sizeof(path), "%s/notes", tree.path);
    LKS_CLEANUP(lks_tuple_fini)
    struct lks_tuple said = run(tree.path, &(struct run){.live = true, .cache = path});
    show(&said, false, false, &got);
    snprintf(want, sizeof(want),
             "search.skipped@%s=%s: left alone, as it is no library cache of ours\n", path, path);
    CHECK_HAS(lks_buf_view(&got), want);
    CHECK_CODE(lks_file_read(path, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), "precious\n");
    lks_tree_free(&tree);
}

static void test_evidence(void)
{
    static const struct {
        const char *name, *of, *want;
    } rows[] = {
        {"nccl", "",
         "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3: NCCL version 2.28.3+cuda13.0; by "
         "/etc/ld.so.cache"},
        {"cudnn", "",
         "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0: in libcudnn_graph.so.9.14.0: "
         "cudnn_graph_version = 0x090e00; by /etc/ld.so.cache"},
        {"cuda", "", "/usr/local/cuda-13.0/version.json"},
        {"copy.cuda", CUDART,
         CUDART ": 13.0.96 is the run time of /usr/local/cuda-13.0/version.json"},
        {"copy.cuda", SITE "/nvidia/cu13/lib/libcudart.so.13",
         SITE "/nvidia/cu13/lib/libcudart.so.13: cudaRuntimeGetVersion() = 13000, the same build "
              "as " CUDART},
    };
    struct lks_tree tree = lks_tree_new();
    plant_h200(&tree);
    LKS_CLEANUP(lks_tuple_fini)
    struct lks_tuple said = run(tree.path, &(struct run){.libraries = true});
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        size_t count;
        const struct lks_reading *r = lks_tuple_range(&said, lks_str_from(rows[i].name), &count);
        lks_test_case("%s of %s", rows[i].name, rows[i].of);
        while (count > 0 && !lks_str_is(r->of, rows[i].of)) {
            r++;
            count--;
        }
        if (CHECK(count > 0))
            CHECK_STR(r->evidence, rows[i].want);
    }
    lks_tree_free(&tree);
}

/* Single cases ------------------------------------------------------------------------------- */

#define LIB "/usr/lib/x86_64-linux-gnu"

static void plant_hard_links(const struct lks_tree *tree)
{
    char from[256], to[256];
    lks_test_nccl(tree, LIB "/libnccl.so.2", "2.28.3", 'a');
    snprintf(from, sizeof(from), "%s" LIB "/libnccl.so.2", tree->path);
    snprintf(to, sizeof(to), "%s" LIB "/libnccl.so.2.28.3", tree->path);
    CHECK(link(from, to) == 0);
}

static void plant_odd_files(const struct lks_tree *tree)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    lks_test_elf_build(&(struct lks_test_elf){.rodata = LKS_STR("x")}, &image);
    lks_tree_fifo(tree, "/usr/lib64/libnccl.so.2");
    lks_tree_link(tree, "/usr/lib64/librccl.so.1", "librccl.so.1");
    lks_tree_bytes(tree, "/usr/lib64/libMIOpen.so.1", (struct lks_str){image.ptr, image.len - 40});
    lks_tree_file(tree, "/usr/lib64/libcudart.so.12", "");
    lks_tree_link(tree, "/usr/lib64/libcudnn.so.9", "libcudnn.so.9.1.0"); /* leads nowhere */
    lks_tree_bytes(tree, "/usr/local/lib/libnccl.so.2", lks_buf_view(&image));
    lks_tree_dir(tree, "/usr/local/lib/librccl.so");
    lks_tree_file(tree, "/usr/local/lib/libnccl-net.so", "a plugin is another thing");
    lks_tree_file(tree, "/usr/local/lib/libnccl_static.a", "so is this");
}

static void plant_conf_order(const struct lks_tree *tree)
{
    lks_tree_file(tree, "/etc/ld.so.conf",
                  "# the usual\ninclude ld.so.conf.d/*.conf\ninclude /etc/more*.list # and more\n"
                  "hwcap 1 nosegneg\n/nowhere\n");
    lks_tree_file(tree, "/etc/ld.so.conf.d/b.conf", "/srv/b\n");
    lks_tree_file(tree, "/etc/ld.so.conf.d/a.conf", "  /srv/with a blank # first\n/srv/a=libc6\n");
    lks_tree_file(tree, "/etc/ld.so.conf.d/c.txt", "/srv/c\n");
    lks_tree_file(tree, "/etc/more.list", "include /etc/more.list\n/srv/d\nrelative\n");
    lks_test_nccl(tree, "/srv/b/libnccl.so.2", "2.2.2", 'b');
    lks_test_nccl(tree, "/srv/a/libnccl.so.2", "2.1.1", 'a');
    lks_test_nccl(tree, "/srv/c/libnccl.so.2", "2.3.3", 'c');
    lks_test_nccl(tree, "/srv/d/libnccl.so.2", "2.4.4", 'd');
    lks_test_nccl(tree, "/srv/with a blank/libnccl.so.2.0.5", "2.0.5", 'e');
    lks_test_nccl(tree, LIB "/libnccl.so.2", "2.9.9", 'f');
}

/* The cache decides, whatever else is in the default directories. */
static void plant_cache_order(const struct lks_tree *tree)
{
    static const char *const entries[][2] = {
        {"libcudnn.so.9", "/srv/nine/libcudnn.so.9"},
        {"libcudnn.so.8", "/srv/eight/libcudnn.so.8"},
        {"libnccl.so.2", "/srv/gone/libnccl.so.2"},
    };
    lks_test_ldcache(tree, entries, LKS_COUNT(entries));
    lks_test_cudnn(tree, "/srv/nine", "9", (struct lks_str){"\x01\x0a\x09\x00", 4});
    lks_test_cudnn(tree, "/srv/eight", "8", (struct lks_str){"\x07\x09\x08\x00", 4});
    lks_test_nccl(tree, LIB "/libnccl.so.2", "2.9.9", 'f');
}

static void plant_two_toolkits(const struct lks_tree *tree)
{
    lks_test_cudart(tree, "/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", 12040, 'a');
    lks_test_cudart(tree, "/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96", 13000, 'b');
}

static void plant_loaded_toolkit(const struct lks_tree *tree)
{
    plant_two_toolkits(tree);
    lks_tree_link(tree, "/usr/lib64/libcudart.so.12",
                  "/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127");
    lks_tree_file(tree, "/usr/local/cuda-12.4/version.json",
                  "{\"cuda\": {\"version\": \"12.4.1\"}, \"cuda_cudart\": {\"version\": "
                  "\"12.4.127\"}}");
}

static void plant_empty_toolkit(const struct lks_tree *tree)
{
    lks_tree_dir(tree, "/usr/local/cuda-12.4");
}

static void plant_one_toolkit(const struct lks_tree *tree)
{
    lks_test_cudart(tree, "/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", 12040, 'a');
    lks_test_nccl(tree, "/usr/local/cuda-12.4/lib64/libnccl.so.2.20.5", "2.20.5", 'n');
    lks_tree_dir(tree, "/usr/local/cuda-samples");
}

static void plant_old_toolkit(const struct lks_tree *tree)
{
    lks_test_cudart(tree, "/usr/local/cuda/lib64/libcudart.so.10.2.89", 10020, 'a');
    lks_tree_file(tree, "/usr/local/cuda/version.txt", "CUDA Version 10.2.89\n");
}

static void plant_damaged_toolkit(const struct lks_tree *tree)
{
    lks_test_cudart(tree, "/usr/local/cuda/lib64/libcudart.so.13.0.96", 13000, 'a');
    lks_tree_file(tree, "/usr/local/cuda/version.json", "{\"cuda\": {\"version\": ");
}

/* The toolkit was half replaced: its run time is not the one it names. */
static void plant_half_toolkit(const struct lks_tree *tree)
{
    lks_test_cudart(tree, "/usr/local/cuda/lib64/libcudart.so.13.0.88", 13000, 'a');
    lks_tree_file(tree, "/usr/local/cuda/version.json",
                  "{\"cuda\": {\"version\": \"13.0.2\"}, \"cuda_cudart\": {\"version\": "
                  "\"13.0.96\"}}");
}

static void plant_lying_name(const struct lks_tree *tree)
{
    lks_test_nccl(tree, LIB "/libnccl.so.2.19.3", "2.28.3", 'a');
    lks_tree_link(tree, LIB "/libnccl.so.2", "libnccl.so.2.19.3");
    lks_test_library(tree, LIB "/libcudnn.so.7.6.5", "nothing", 'b');
}

static void plant_rocm(const struct lks_tree *tree)
{
    lks_tree_link(tree, "/opt/rocm", "rocm-6.4.1");
    lks_test_library(tree, "/opt/rocm-6.4.1/lib/librccl.so.1.0.60401", "RCCL version : 2.22.3",
                     'r');
    lks_tree_link(tree, "/opt/rocm-6.4.1/lib/librccl.so.1", "librccl.so.1.0.60401");
    lks_test_library(tree, "/opt/rocm-6.4.1/lib/libMIOpen.so.1.0.60401",
                     "MIOpen version 3.4.0.dabb6df2b9", 'm');
    lks_test_library(tree, "/opt/torch/lib/python3.12/site-packages/torch/lib/librccl.so",
                     "RCCL version : 2.21.5", 't');
}

static void plant_conda(const struct lks_tree *tree)
{
    lks_tree_dir(tree, "/opt/conda/conda-meta");
    lks_test_nccl(tree, "/opt/conda/lib/libnccl.so.2.19.4", "2.19.4", 'a');
    lks_test_nccl(tree, "/opt/hand/lib/libnccl.so.2.18.1", "2.18.1", 'b');
    lks_tree_dir(tree, "/home/ada/miniforge3/envs/train/conda-meta");
    lks_test_cudart(tree,
                    "/home/ada/miniforge3/envs/train/targets/x86_64-linux/lib/libcudart.so.12",
                    12060, 'c');
    lks_tree_link(tree, "/home/bob", "ada");
}

#define LAYER "/var/lib/docker/overlay2/0a/diff"

static void plant_containers(const struct lks_tree *tree)
{
    lks_test_nccl(tree, LAYER LIB "/libnccl.so.2.26.2", "2.26.2", 'a');
    lks_tree_link(tree, LAYER LIB "/libnccl.so.2", "libnccl.so.2.26.2");
    lks_tree_link(tree, LAYER "/lib", "usr/lib");
    lks_test_library(tree, LAYER LIB "/libcuda.so.535.104.05", "libnvidia-pkcs11.so.535.104.05",
                     'd');
    lks_tree_link(tree, LAYER LIB "/libcuda.so.1", "libcuda.so.535.104.05");
    lks_tree_file(tree, LAYER LIB "/libnvidia-ml.so.580.95.05", ""); /* to mount on */
    /* An absolute link within the layer means the layer's own file. */
    lks_test_nccl(tree, "/opt/mine/libnccl.so.2", "2.28.3", 'h');
    lks_test_nccl(tree, LAYER "/opt/mine/libnccl.so.2", "2.27.1", 'l');
    lks_tree_link(tree, LAYER "/usr/local/lib/libnccl.so.2", "/opt/mine/libnccl.so.2");
    lks_tree_link(tree, LAYER "/usr/local/lib/libnccl.so", "../../../../../../../../../etc/x");
    /* Forward compatibility: a shadow only where the loader is told of it. */
    lks_test_library(tree, LAYER "/usr/local/cuda-12.8/compat/libcuda.so.570.86.10",
                     "libnvidia-pkcs11.so.570.86.10", 'e');
    lks_test_library(tree, "/run/enroot/user-1000/job" LIB "/libnvidia-ml.so.570.86.10",
                     "\0"
                     "12.570.86.10",
                     'm');
    lks_test_library(tree, "/run/enroot/user-1000/job/usr/local/cuda/compat/libcuda.so.575.51.03",
                     "libnvidia-pkcs11.so.575.51.03", 'f');
    lks_tree_file(tree, "/run/enroot/user-1000/job/etc/ld.so.conf",
                  "/usr/local/cuda/compat\n/etc\n");
    lks_tree_file(tree, "/var/lib/docker/overlay2/l/link", "no layer");
}

static void plant_remote(const struct lks_tree *tree)
{
    lks_tree_file(tree, "/proc/self/mountinfo",
                  "20 1 0:1 / / rw - nfs4 server:/image rw\n"
                  "21 20 0:2 / /home rw - autofs auto.home rw\n"
                  "22 21 0:3 / /home rw - nfs server:/home rw\n"
                  "23 20 0:4 / /opt/a\\040b rw - fuse.sshfs x rw\n"
                  "24 20 0:5 / /opt/tools rw - fuse.squashfuse_ll x rw\n"
                  "25 20 0:6 / /opt/big rw shared:1 - lustre x rw\n"
                  "26 20 0:7 / /opt/local rw - autofs auto.local rw\n"
                  "27 26 8:1 / /opt/local rw - ext4 /dev/sda1 rw\n"
                  "damaged\n");
    lks_test_nccl(tree, "/usr/lib64/libnccl.so.2", "2.1.1", 'a');
    lks_test_nccl(tree, "/home/ada/.venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2",
                  "2.2.2", 'b');
    lks_test_nccl(tree, "/opt/local/lib/libnccl.so.2", "2.3.3", 'c');
    lks_test_nccl(tree, "/opt/big/lib/libnccl.so.2", "2.6.6", 'f');
    lks_test_nccl(tree, "/opt/a b/lib/libnccl.so.2", "2.4.4", 'd');
    lks_test_nccl(tree, "/opt/tools/lib/libnccl.so.2", "2.5.5", 'e');
    lks_tree_link(tree, "/usr/local/lib/libnccl.so.2", "/opt/a b/lib/libnccl.so.2");
}

static void plant_nothing(const struct lks_tree *tree)
{
    (void)tree;
}

static const struct {
    const char *name;
    void (*plant)(const struct lks_tree *tree);
    const char *want; /* without hashes */
} cases[] = {
    {"an empty machine", plant_nothing, ""},
    {"one file with two names", plant_hard_links,
     "copy.nccl@" LIB "/libnccl.so.2#system=2.28.3\n"
     "nccl=2.28.3\n"
     "nccl.build.build_id=6161616161616161\n"},
    {"no libraries", plant_odd_files,
     "copy.cuda@/usr/lib64/libcudart.so.12#system?0 bytes: too short for an ELF file\n"
     "copy.miopen@/usr/lib64/libMIOpen.so.1#system?7 section headers at byte 584 do not "
     "fit into a file of 992 bytes: it is cut short\n"
     "copy.nccl@/usr/lib64/libnccl.so.2#system?/usr/lib64/libnccl.so.2: not a plain file\n"
     "copy.nccl@/usr/local/lib/libnccl.so.2#system?no text \"NCCL version \" with a "
     "version in .rodata\n"
     "copy.rccl@/usr/lib64/librccl.so.1#system?/usr/lib64/librccl.so.1: its links lead in a "
     "circle\n"
     "cuda?0 bytes: too short for an "
     "ELF file\n"
     "miopen?7 section headers at byte 584 do not fit into a file of 992 bytes: it is cut short\n"
     "nccl?/usr/lib64/libnccl.so.2: not a plain file\n"
     "rccl?/usr/lib64/librccl.so.1: its links lead in a circle\n"},
    {"no cache: ld.so.conf in its order", plant_conf_order,
     "copy.nccl@/srv/a/libnccl.so.2#system=2.1.1\n"
     "copy.nccl@/srv/b/libnccl.so.2#system=2.2.2\n"
     "copy.nccl@/srv/d/libnccl.so.2#system=2.4.4\n"
     "copy.nccl@/srv/with a blank/libnccl.so.2.0.5#system=2.0.5\n"
     "copy.nccl@" LIB "/libnccl.so.2#system=2.9.9\n"
     "nccl=2.1.1\n"
     "nccl.build.build_id=6161616161616161\n"},
    {"the cache before all else, of two majors the higher", plant_cache_order,
     "copy.nccl@" LIB "/libnccl.so.2#system=2.9.9\n"
     "cudnn=9.10.1\n"
     "cudnn.build.build_id=6375646e6e\n"
     "nccl=2.9.9\n"
     "nccl.build.build_id=6666666666666666\n"},
    {"two toolkits and no link", plant_two_toolkits,
     "copy.cuda@/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127#cuda=12.4.127\n"
     "copy.cuda@/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96#cuda=13.0.96\n"
     "cuda?/usr/local has cuda-12.4 and cuda-13.0, and no link /usr/local/cuda says which "
     "counts\n"},
    {"one toolkit, with NCCL in it", plant_one_toolkit,
     "copy.cuda@/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127#cuda=12.4.127\n"
     "copy.nccl@/usr/local/cuda-12.4/lib64/libnccl.so.2.20.5#cuda=2.20.5\n"
     "cuda.build.build_id=6161616161616161\n"
     "cuda.runtime=12.4.127\n"
     "nccl=2.20.5\n"
     "nccl.build.build_id=6e6e6e6e6e6e6e6e\n"},
    {"a toolkit before version.json", plant_old_toolkit,
     "copy.cuda@/usr/local/cuda/lib64/libcudart.so.10.2.89#cuda=10.2.89\n"
     "cuda=10.2.89\n"
     "cuda.build.build_id=6161616161616161\n"},
    {"a damaged version.json", plant_damaged_toolkit,
     "copy.cuda@/usr/local/cuda/lib64/libcudart.so.13.0.96#cuda=13.0.96\n"
     "cuda?/usr/local/cuda/version.json:1:21: unexpected token near end of file\n"
     "cuda.build.build_id=6161616161616161\n"},
    {"two toolkits, and the loader takes one", plant_loaded_toolkit,
     "copy.cuda@/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127#cuda=12.4.1\n"
     "copy.cuda@/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96#cuda=13.0.96\n"
     "cuda=12.4.1\n"
     "cuda.build.build_id=6161616161616161\n"},
    {"a toolkit with nothing in it", plant_empty_toolkit, ""},
    {"a run time that is not the toolkit's", plant_half_toolkit,
     "copy.cuda@/usr/local/cuda/lib64/libcudart.so.13.0.88#cuda=13.0.88\n"
     "cuda=13.0.2\n"
     "cuda.build.build_id=6161616161616161\n"},
    {"a name that lies, and one that is all there is", plant_lying_name,
     "copy.cudnn@" LIB "/libcudnn.so.7.6.5#system=7.6.5\n"
     "copy.nccl@" LIB "/libnccl.so.2.19.3#system=2.28.3\n"
     "cudnn=7.6.5\n"
     "cudnn.build.build_id=6262626262626262\n"
     "nccl=2.28.3\n"
     "nccl.build.build_id=6161616161616161\n"},
    {"ROCm", plant_rocm,
     "copy.miopen@/opt/rocm-6.4.1/lib/libMIOpen.so.1.0.60401#cuda=3.4.0\n"
     "copy.rccl@/opt/rocm-6.4.1/lib/librccl.so.1.0.60401#cuda=2.22.3\n"
     "copy.rccl@/opt/torch/lib/python3.12/site-packages/torch/lib/librccl.so#python=2.21.5\n"
     "miopen=3.4.0\n"
     "miopen.build.build_id=6d6d6d6d6d6d6d6d\n"
     "rccl=2.22.3\n"
     "rccl.build.build_id=7272727272727272\n"},
    {"Conda and what is no Conda", plant_conda,
     "copy.cuda@/home/ada/miniforge3/envs/train/targets/x86_64-linux/lib/"
     "libcudart.so.12#python=12.6\n"
     "copy.nccl@/opt/conda/lib/libnccl.so.2.19.4#python=2.19.4\n"
     "copy.nccl@/opt/hand/lib/libnccl.so.2.18.1#system=2.18.1\n"},
    {"containers", plant_containers,
     "copy.cuda-compat@/run/enroot/user-1000/job/usr/local/cuda/compat/"
     "libcuda.so.575.51.03#container=575.51.03\n"
     "copy.cuda-compat@" LAYER
     "/usr/local/cuda-12.8/compat/libcuda.so.570.86.10#container=570.86.10\n"
     "copy.nccl@" LAYER "/opt/mine/libnccl.so.2#container=2.27.1\n"
     "copy.nccl@" LAYER LIB "/libnccl.so.2.26.2#container=2.26.2\n"
     "shadow.libcuda@/run/enroot/user-1000/job/usr/local/cuda/compat/"
     "libcuda.so.575.51.03#container=575.51.03\n"
     "shadow.libcuda@" LAYER LIB "/libcuda.so.535.104.05#container=535.104.05\n"
     "shadow.libnvidia-ml@/run/enroot/user-1000/job" LIB
     "/libnvidia-ml.so.570.86.10#container=570.86.10\n"},
    {"file systems of others", plant_remote,
     "copy.nccl@/opt/local/lib/libnccl.so.2#system=2.3.3\n"
     "copy.nccl@/opt/tools/lib/libnccl.so.2#system=2.5.5\n"
     "copy.nccl@/usr/lib64/libnccl.so.2#system=2.1.1\n"
     "nccl=2.1.1\n"
     "nccl.build.build_id=6161616161616161\n"
     "search.skipped@/home=on a file system of type nfs, which is not searched: /home\n"
     "search.skipped@/opt/*=on a file system of type lustre, which is not searched: "
     "/opt/big\n"
     "search.skipped@/usr/local/{lib,lib64}=on a file system of type fuse.sshfs, which is not "
     "searched: /opt/a b\n"},
};

/* Which build each copy is, beside its version; none of what has no id or was not looked for. */
static void test_copy_builds(void)
{
    struct lks_tree tree = lks_tree_new();
    plant_remote(&tree);
    for (int looked = 0; looked < 2; looked++) {
        LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
        LKS_CLEANUP(lks_tuple_fini)
        struct lks_tuple said = run(tree.path, &(struct run){.libraries = looked == 1});
        lks_heard_tuple(&said, &heard);
        lks_test_case("%d", looked);
        CHECK_STR(lks_heard_only(&heard, ".build_id@"),
                  looked == 1 ? "copy.nccl.build_id@/opt/local/lib/libnccl.so.2#system="
                                "6363636363636363\n"
                                "copy.nccl.build_id@/opt/tools/lib/libnccl.so.2#system="
                                "6565656565656565\n"
                                "copy.nccl.build_id@/usr/lib64/libnccl.so.2#system="
                                "6161616161616161\n"
                              : "");
    }
    lks_tree_free(&tree);
}

static void test_cases(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
        struct lks_tree tree = lks_tree_new();
        lks_test_case("%s", cases[i].name);
        cases[i].plant(&tree);
        LKS_CLEANUP(lks_tuple_fini)
        struct lks_tuple said = run(tree.path, &(struct run){.libraries = true});
        show(&said, false, false, &got);
        CHECK_STR(lks_buf_view(&got), cases[i].want);
        lks_tree_free(&tree);
    }
}

static const struct lks_test tests[] = {
    {"a whole machine without the search", test_quick},
    {"a whole machine with it", test_search},
    {"its capture", test_capture},
    {"a cache that is none", test_foreign_cache},
    {"evidence", test_evidence},
    {"cases", test_cases},
    {"builds of copies", test_copy_builds},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
