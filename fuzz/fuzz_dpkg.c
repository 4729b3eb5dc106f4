/* Any bytes as a status file, cut into pieces by its first byte: the packages are those of the
 * whole, and each that is accepted can be written again and reads back the same. */
#include "base/buf.h"
#include "codec/notation/version.h"
#include "codec/package/dpkg.h"

#include <stdint.h>

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is said of a package, in the format it was read from. */
static void rewrite(void *ctx, const struct lks_dpkg_package *p)
{
    struct lks_buf *out = ctx;
    LKS_ASSERT(p->line > 0);
    if (p->fault != NULL)
        return;
    LKS_ASSERT(p->name.len > 0 && p->name.len <= LKS_DPKG_VALUE_MAX);
    struct lks_str upstream = lks_version_upstream(p->version);
    LKS_ASSERT(upstream.ptr >= p->version.ptr &&
               upstream.ptr + upstream.len <= p->version.ptr + p->version.len);
    lks_buf_addf(out, "Package: %" LKS_STR_FMT "\n", LKS_STR_ARG(p->name));
    lks_buf_addf(out, "Status: %" LKS_STR_FMT " %" LKS_STR_FMT " %" LKS_STR_FMT "\n",
                 LKS_STR_ARG(p->want), LKS_STR_ARG(p->flag), LKS_STR_ARG(p->state));
    lks_buf_addf(out, "Version: %" LKS_STR_FMT "\n", LKS_STR_ARG(p->version));
    lks_buf_addf(out, "Architecture: %" LKS_STR_FMT "\n\n", LKS_STR_ARG(p->architecture));
}

static void read_in_pieces(struct lks_str text, size_t piece, struct lks_buf *out)
{
    struct lks_dpkg d;
    lks_buf_init(out, MEMORY_MAX);
    lks_dpkg_init(&d, (piece & 1) != 0, rewrite, out);
    while (text.len > 0) {
        size_t n = text.len < piece ? text.len : piece;
        lks_dpkg_feed(&d, (struct lks_str){text.ptr, n});
        text = (struct lks_str){text.ptr + n, text.len - n};
    }
    lks_dpkg_end(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pieces = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf whole = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = {0};
    if (size == 0)
        return 0;
    struct lks_str text = {(const char *)data + 1, size - 1};
    size_t piece = 1 + data[0];
    read_in_pieces(text, piece, &pieces);
    read_in_pieces(text, size + (piece & 1) + (size & 1), &whole);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&pieces), lks_buf_view(&whole)));
    read_in_pieces(lks_buf_view(&pieces), piece, &again);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&pieces), lks_buf_view(&again)));
    return 0;
}
