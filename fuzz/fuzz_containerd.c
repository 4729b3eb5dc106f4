/* Any bytes as a manifest and as config.toml of containerd: digests are some, and a root is a path
 * that leads down and has no pattern in it. */
#include "base/buf.h"
#include "codec/format/digest.h"
#include "codec/package/containerd.h"

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_root(struct lks_str root)
{
    LKS_ASSERT(root.len > 1 && root.ptr[0] == '/' && !lks_str_ends(root, "/"));
    LKS_ASSERT(lks_str_printable(root) && lks_str_find(root, LKS_STR("/../")) < 0);
    LKS_ASSERT(!lks_str_ends(root, "/..") && lks_str_find(root, LKS_STR("//")) < 0);
    LKS_ASSERT(lks_str_find(root, LKS_STR("*")) < 0 && lks_str_find(root, LKS_STR("{")) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(MEMORY_MAX);
    struct lks_str text = {(const char *)data, size}, root, again;
    struct lks_containerd_manifest m;
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_containerd_manifest("x", text, &arena, &m, &err) == LKS_OK) {
        LKS_ASSERT(m.list != NULL ? m.config.len == 0 : lks_digest_valid(m.config));
        LKS_ASSERT(m.count <= LKS_CONTAINERD_MANIFESTS_MAX);
        for (size_t i = 0; i < m.count; i++)
            LKS_ASSERT(m.list != NULL && lks_digest_valid(m.list[i]));
    }
    if (lks_containerd_root("x", text, &root, &err) != LKS_OK)
        return 0;
    check_root(root);
    lks_buf_addf(&line, "root = '%" LKS_STR_FMT "'", LKS_STR_ARG(root));
    LKS_ASSERT(lks_containerd_root("x", lks_buf_view(&line), &again, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(root, again));
    return 0;
}
