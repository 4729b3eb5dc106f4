/* Images by name, and the libraries that their layers hold. */
#include "probe/library/libimages.h"

#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/libraries.h"
#include "tests/test.h"

#include <stdio.h>

enum { MEMORY_MAX = 1 << 24, TEXT_MAX = 1 << 20 };

#define HEX15  "000000000000000"
#define ID(c)  #c HEX15 HEX15 HEX15 HEX15 "000"
#define SHA(c) "sha256:" ID(c)
#define D1     SHA(d)
/* The chain of the diffs SHA(a) and SHA(b), as sha256sum has it. */
#define CHAIN_AB "73adce8fecb4776739b11dbd0e35a8007b6bca7af6ba22949cd8e7b15e5c19b6"

#define DOCKER  "/var/lib/docker/image/overlay2"
#define OVERLAY "/var/lib/docker/overlay2/"
#define PODMAN  "/var/lib/containers/storage"
#define LIB     "/usr/lib/x86_64-linux-gnu"

/* Of all that the probe says, the images and what was left out of them. */
static void check_images(const struct lks_tree *tree, const char *want)
{
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(TEXT_MAX);
    const struct lks_probe_options options = {.libraries = true};
    lks_hear_tree(lks_probe_libraries, tree, &options, &heard);
    struct lks_str rest = lks_buf_view(&heard.full), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "image.") || lks_str_starts(line, "search.skipped@images"))
            lks_buf_addf(&got, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    CHECK_STR(got.ptr == NULL ? LKS_STR("") : lks_buf_view(&got), want);
}

/* Docker ------------------------------------------------------------------------------------- */

#define REPOSITORIES                                                                               \
    "{\"Repositories\":{\"r.io/train\":{\"r.io/train:v7\":\"" SHA(                                 \
        1) "\",\"r.io/train@" D1                                                                   \
           "\":\"" SHA(1) "\"},\"base\":{\"base:1\":\"" SHA(                                       \
               2) "\"},"                                                                           \
                  "\"r.io/pinned\":{\"r.io/pinned@" SHA(e) "\":\"" SHA(2) "\"}}}"

/* r.io/train:v7 has the layer b over a, base:1 has a alone. */
static void plant_docker(const struct lks_tree *tree)
{
    lks_tree_file(tree, DOCKER "/repositories.json", REPOSITORIES);
    lks_tree_file(tree, DOCKER "/imagedb/content/sha256/" ID(1),
                  "{\"config\":{\"Env\":[\"TOKEN=x\"]},\"rootfs\":{\"type\":\"layers\","
                  "\"diff_ids\":[\"" SHA(a) "\",\"" SHA(b) "\"]}}");
    lks_tree_file(tree, DOCKER "/imagedb/content/sha256/" ID(2),
                  "{\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"" SHA(a) "\"]}}");
    lks_tree_file(tree, DOCKER "/layerdb/sha256/" ID(a) "/cache-id", ID(3));
    lks_tree_file(tree, DOCKER "/layerdb/sha256/" CHAIN_AB "/cache-id", ID(4));
    lks_test_nccl(tree, OVERLAY ID(3) "/diff" LIB "/libnccl.so.2.26.2", "2.26.2", 'a');
    lks_test_cudart(tree, OVERLAY ID(3) "/diff/usr/local/cuda-12.8/lib64/libcudart.so.12.8.90",
                    12080, 'c');
}

#define BASE_HAS(name, part)                                                                       \
    "image.nccl@" name part "=2.26.2 < " OVERLAY ID(3) "/diff" LIB                                 \
                                                       "/libnccl.so.2.26.2\n" CUDA(name, part)
#define CUDA(name, part)                                                                           \
    "image.cuda@" name part                                                                        \
    "=12.8 < " OVERLAY ID(3) "/diff/usr/local/cuda-12.8/lib64/libcudart.so.12.8.90\n"
#define OTHERS BASE_HAS("base:1", "") BASE_HAS("r.io/pinned@" SHA(e), "#" SHA(e))
#define TRAIN  "image.nccl@r.io/train:v7#" D1

static void plant_upper(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_test_nccl(tree, OVERLAY ID(4) "/diff" LIB "/libnccl.so.2.28.9", "2.28.9", 'b');
}

/* What removes a file from the layers below is a device; a pipe is as little a file. */
static void plant_removed(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_tree_fifo(tree, OVERLAY ID(4) "/diff" LIB "/libnccl.so.2.26.2");
}

static void plant_two(const struct lks_tree *tree)
{
    plant_upper(tree);
    lks_test_nccl(tree, OVERLAY ID(4) "/diff/usr/local/lib/libnccl.so.2.27.3", "2.27.3", 'c');
}

static void plant_unread(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_tree_file(tree, OVERLAY ID(4) "/diff" LIB "/libnccl.so.2.28.9", "");
}

static void plant_other_layer(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_test_nccl(tree, OVERLAY ID(5) "/diff" LIB "/libnccl.so.2.28.9", "2.28.9", 'b');
}

static void plant_no_layer(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_tree_file(tree, DOCKER "/layerdb/sha256/" CHAIN_AB "/cache-id", "../../../etc");
}

static void plant_damaged(const struct lks_tree *tree)
{
    plant_docker(tree);
    lks_tree_file(tree, DOCKER "/repositories.json", "[]");
}

static void plant_podman(const struct lks_tree *tree)
{
    lks_tree_file(
        tree, PODMAN "/overlay-images/images.json",
        "[{\"id\":\"" ID(
            1) "\",\"digest\":\"" D1 "\",\"names\":[\"docker.io/library/t:1\","
               "\"docker.io/library/t@" SHA(e) "\"],\"layer\":\"" ID(
                   b) "\"},"
                      "{\"id\":\"" ID(2) "\",\"names\":[\"q.io/u@" SHA(f) "\"],\"layer\":\"" ID(
                          a) "\"},"
                             "{\"id\":\"" ID(3) "\",\"layer\":\"" ID(
                                 a) "\"},"
                                    "{\"id\":\"" ID(4) "\",\"names\":[\"lost:1\"],\"layer\":\"" ID(
                                        9) "\"}]");
    lks_tree_file(tree, PODMAN "/overlay-layers/layers.json",
                  "[{\"id\":\"" ID(b) "\",\"parent\":\"" ID(a) "\"},{\"id\":\"" ID(a) "\"}]");
    lks_test_nccl(tree, PODMAN "/overlay/" ID(a) "/diff" LIB "/libnccl.so.2.26.2", "2.26.2", 'a');
    lks_test_nccl(tree, PODMAN "/overlay/" ID(b) "/diff" LIB "/libnccl.so.2.26.2", "2.28.9", 'b');
}

static void plant_loop(const struct lks_tree *tree)
{
    plant_podman(tree);
    lks_tree_file(tree, PODMAN "/overlay-layers/layers.json",
                  "[{\"id\":\"" ID(b) "\",\"parent\":\"" ID(a) "\"},{\"id\":\"" ID(
                      a) "\",\"parent\":\"" ID(b) "\"}]");
}

static void plant_nothing(const struct lks_tree *tree)
{
    lks_test_nccl(tree, OVERLAY ID(3) "/diff" LIB "/libnccl.so.2.26.2", "2.26.2", 'a');
}

static const struct {
    const char *name;
    void (*plant)(const struct lks_tree *tree);
    const char *want;
} cases[] = {
    {"layers and no store", plant_nothing, ""},
    {"what the lower layer has", plant_docker, BASE_HAS("r.io/train:v7", "#" D1) OTHERS},
    {"the upper layer wins", plant_upper,
     TRAIN "=2.28.9 < " OVERLAY ID(4) "/diff" LIB
                                      "/libnccl.so.2.28.9\n" CUDA("r.io/train:v7", "#" D1) OTHERS},
    {"removed by the upper layer", plant_removed, CUDA("r.io/train:v7", "#" D1) OTHERS},
    {"two in one layer", plant_two,
     TRAIN "?one layer has 2.28.9 and 2.27.3 < " OVERLAY ID(
         4) "/diff" LIB "/libnccl.so.2.28.9\n" CUDA("r.io/train:v7", "#" D1) OTHERS},
    {"one that cannot be read", plant_unread,
     TRAIN "?0 bytes: too short for an ELF file < " OVERLAY ID(
         4) "/diff" LIB "/libnccl.so.2.28.9\n" CUDA("r.io/train:v7", "#" D1) OTHERS},
    {"a layer of no image", plant_other_layer, BASE_HAS("r.io/train:v7", "#" D1) OTHERS},
    {"a layer that is none", plant_no_layer,
     OTHERS "search.skipped@images of /var/lib/docker=1 names were not inspected < library "
            "search\n"},
    {"a damaged store", plant_damaged,
     "search.skipped@images of /var/lib/docker=" DOCKER
     "/repositories.json: has no map of repositories < library search\n"},
    {"Podman", plant_podman,
     "image.nccl@docker.io/library/t:1#" D1 "=2.28.9 < " PODMAN
     "/overlay/" ID(b) "/diff" LIB "/libnccl.so.2.26.2\n"
                       "image.nccl@q.io/u@" SHA(f) "#" SHA(f) "=2.26.2 < " PODMAN "/overlay/" ID(
                           a) "/diff" LIB "/libnccl.so.2.26.2\n"
                              "search.skipped@images of " PODMAN
                              "=1 names were not inspected < library search\n"},
    {"layers below each other", plant_loop,
     "search.skipped@images of " PODMAN "=3 names were not inspected < library search\n"},
};

static void test_images(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct lks_tree tree = lks_tree_new();
        lks_test_case("%s", cases[i].name);
        cases[i].plant(&tree);
        check_images(&tree, cases[i].want);
        lks_tree_free(&tree);
    }
}

/* Limits ------------------------------------------------------------------------------------- */

/* More images than are told: those with libraries count. */
static void test_many(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(TEXT_MAX);
    const struct lks_probe_options options = {.libraries = true};
    plant_docker(&tree);
    lks_buf_addf(&json, "{\"Repositories\":{\"base\":{");
    for (int i = 0; i < LKS_LIBIMAGES_TOLD_MAX + 3; i++)
        lks_buf_addf(&json, "%s\"base:%03d\":\"" SHA(2) "\"", i > 0 ? "," : "", i);
    lks_buf_addf(&json, "}}}");
    lks_tree_bytes(&tree, DOCKER "/repositories.json", lks_buf_view(&json));
    lks_hear_tree(lks_probe_libraries, &tree, &options, &heard);
    struct lks_str all = lks_buf_view(&heard.full);
    CHECK(lks_str_find(all, LKS_STR("image.nccl@base:063=")) >= 0);
    CHECK(lks_str_find(all, LKS_STR("image.nccl@base:064=")) < 0);
    CHECK(lks_str_find(all, LKS_STR("docker=3 names were not inspected")) >= 0);
    lks_tree_free(&tree);
}

static const struct {
    const char *text;
    int images; /* -1: refused */
} answers[] = {
    {"0\t", 0},
    {"7\tr.io/x:1\t\t\t", 1},
    {"0\tx:1\t" SHA(d) "\t" ID(a) " " ID(b) "\ty:1\t\t" ID(a) "\t", 2},
    {"0\tx:1\t\toverlayfs/snapshots/12 overlayfs/snapshots/3\t", 1},
    {"0\tx:1\t\toverlayfs/snapshots/..\t", -1},
    {"0\tx:1\t\t " ID(a) "\t", -1},
    {"", -1},
    {"x\t", -1},
    {"0\tx:1\t", -1},
    {"0\tx 1\t\t\t", -1},
    {"0\t\t\t\t", -1},
    {"0\tx:1\tsha256:1\t\t", -1},
    {"0\tx:1\t\t../../etc\t", -1},
    {"0\tx:1\t\t" ID(a) " \t", -1},
    {"0\tx:1\t\t" ID(a) "\tmore", -1},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_image_stacks stacks = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, MEMORY_MAX);
        lks_test_case("%s", answers[i].text);
        enum lks_code code =
            lks_libimages_parse(lks_str_from(answers[i].text), &arena, &stacks, &err);
        CHECK_CODE(code, answers[i].images < 0 ? LKS_E_INVALID : LKS_OK);
        CHECK_INT(stacks.count, answers[i].images < 0 ? 0 : answers[i].images);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"images: layers", test_images},
                                                   {"images: many", test_many},
                                                   {"images: answers", test_answers},
                                                   {0}});
}
