#include "tests/libraries.h"

#include "tests/elf_image.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { IMAGE_MAX = 1 << 16 };

static void put(const struct lks_tree *tree, const char *path, const struct lks_test_elf *spec)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf image = LKS_BUF(IMAGE_MAX);
    lks_test_elf_build(spec, &image);
    CHECK_CODE(image.failed, LKS_OK);
    lks_tree_bytes(tree, path, lks_buf_view(&image));
}

void lks_test_library(const struct lks_tree *tree, const char *path, const char *text, char build)
{
    char id[8], rodata[128] = "";
    memset(id, build, sizeof(id));
    size_t len = (size_t)snprintf(rodata + 1, sizeof(rodata) - 1, "%s", text) + 2;
    put(tree, path, &(struct lks_test_elf){.build_id = {id, sizeof(id)}, .rodata = {rodata, len}});
}

void lks_test_nccl(const struct lks_tree *tree, const char *path, const char *version, char build)
{
    char text[64];
    snprintf(text, sizeof(text), "NCCL version %s+cuda13.0", version);
    lks_test_library(tree, path, text, build);
}

/* mov dword ptr [rdi], NUMBER; xor eax, eax; ret */
void lks_test_cudart(const struct lks_tree *tree, const char *path, uint32_t number, char build)
{
    char code[] = "\xc7\x07....\x31\xc0\xc3", id[8];
    for (int i = 0; i < 4; i++)
        code[2 + i] = (char)(number >> 8 * i & 0xff);
    memset(id, build, sizeof(id));
    put(tree, path,
        &(struct lks_test_elf){
            .build_id = {id, sizeof(id)},
            .symbols = {{"cudaRuntimeGetVersion", {code, sizeof(code) - 1}, true}}});
}

void lks_test_cudnn(const struct lks_tree *tree, const char *dir, const char *number,
                    struct lks_str packed)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/libcudnn.so.%s", dir, number);
    put(tree, path,
        &(struct lks_test_elf){.soname = "libcudnn.so.9", .build_id = LKS_STR("cudnn")});
    snprintf(path, sizeof(path), "%s/libcudnn_graph.so.%s", dir, number);
    put(tree, path, &(struct lks_test_elf){.symbols = {{"cudnn_graph_version", packed, false}}});
}

void lks_test_ldcache(const struct lks_tree *tree, const char *const entries[][2], size_t count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cache = LKS_BUF(IMAGE_MAX);
    lks_buf_add(&cache, LKS_STR("glibc-ld.so.cache1.1"));
    lks_buf_pad(&cache, '\0', (ptrdiff_t)(28 + 24 * count));
    lks_test_elf_set(&cache, 20, count, 4);
    lks_test_elf_set(&cache, 28, 2, 1);
    for (size_t i = 0; i < count; i++) {
        size_t at = 48 + 24 * i;
        lks_test_elf_set(&cache, at, 0x0303, 4);
        for (size_t k = 0; k < 2; k++) {
            lks_test_elf_set(&cache, at + 4 + 4 * k, cache.len, 4);
            lks_buf_add(&cache, (struct lks_str){entries[i][k], strlen(entries[i][k]) + 1});
        }
    }
    lks_tree_bytes(tree, "/etc/ld.so.cache", lks_buf_view(&cache));
}
