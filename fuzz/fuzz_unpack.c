/* Any bytes as a file that may be compressed: there is an end to it, never more comes out than was
 * allowed, and what is not compressed comes out as it is. */
#include "probe/root/unpack.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct lks_str want;
    size_t len;
    bool same;
};

static bool hear(void *ctx, struct lks_str bytes)
{
    struct heard *h = ctx;
    LKS_ASSERT(bytes.len > 0 && bytes.len <= OUT_MAX - h->len);
    h->same = h->same && bytes.len <= h->want.len - h->len &&
              memcmp(bytes.ptr, h->want.ptr + h->len, bytes.len) == 0;
    h->len += bytes.len;
    return true;
}

static bool packed(const uint8_t *data, size_t size)
{
    static const struct {
        uint8_t bytes[6];
        size_t len;
    } magics[] = {
        {{0x1f, 0x8b}, 2}, {{0xfd, '7', 'z', 'X', 'Z', 0}, 6}, {{0x28, 0xb5, 0x2f, 0xfd}, 4}};
    for (size_t i = 0; i < LKS_COUNT(magics); i++) {
        if (size >= magics[i].len && memcmp(data, magics[i].bytes, magics[i].len) == 0)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct heard h = {.want = {(const char *)data, size}, .same = true};
    struct lks_root root = {.capture = -1};
    struct lks_err err = {0};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    LKS_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    enum lks_code code = lks_unpack(&root, fd, "file", OUT_MAX, hear, &h, &err);
    LKS_ASSERT(close(fd) == 0);
    LKS_ASSERT(code == LKS_OK || code == LKS_E_INVALID || code == LKS_E_LIMIT ||
               code == LKS_E_NOMEM);
    if (!packed(data, size))
        LKS_ASSERT(code == LKS_E_LIMIT || (code == LKS_OK && h.same && h.len == size));
    return 0;
}
