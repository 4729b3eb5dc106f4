/*
 * The status database of dpkg, as a stream.
 *
 * Paragraphs of "Field: value" lines with a blank line between them; a line that begins with a
 * blank goes on with the field before it. Of each paragraph four fields are kept and the rest is
 * passed over, so memory does not depend on the file, on its paragraphs or on its lines.
 *
 * A paragraph that is not in order is handed on with what is wrong with it: it may be the one that
 * matters, and the others still count.
 */
#ifndef LKS_CODEC_DPKG_H
#define LKS_CODEC_DPKG_H

#include "base/str.h"

#define LKS_DPKG_VALUE_MAX 255 /* bytes of a value that is kept */

/* Views are valid during the call they are handed to. */
struct lks_dpkg_package {
    struct lks_str name, version, architecture;
    struct lks_str want;  /* "install", "hold", "deinstall" ... */
    struct lks_str flag;  /* "ok" or "reinstreq" */
    struct lks_str state; /* "installed", "config-files", "half-installed" ... */
    unsigned line;        /* where the paragraph begins, 1-based */
    const char *fault;    /* NULL, or what is wrong with it; all of the above may be empty then */
};
typedef void lks_dpkg_fn(void *ctx, const struct lks_dpkg_package *package);

enum lks_dpkg_field {
    LKS_DPKG_PACKAGE,
    LKS_DPKG_STATUS,
    LKS_DPKG_VERSION,
    LKS_DPKG_ARCHITECTURE,
    LKS_DPKG_FIELD_COUNT
};

struct lks_dpkg {
    lks_dpkg_fn *fn;
    void *ctx;
    bool bare; /* paragraphs without Status mean installed packages, as images without dpkg have */
    int at;    /* where in a line it is */
    char name[32];
    size_t name_len;
    enum lks_dpkg_field field; /* LKS_DPKG_FIELD_COUNT: one that is passed over */
    char values[LKS_DPKG_FIELD_COUNT][LKS_DPKG_VALUE_MAX];
    size_t lens[LKS_DPKG_FIELD_COUNT];
    bool seen[LKS_DPKG_FIELD_COUNT];
    unsigned line, begun; /* begun: line of the paragraph, 0 between two */
    const char *fault;
};

void lks_dpkg_init(struct lks_dpkg *d, bool bare, lks_dpkg_fn *fn, void *ctx);

/* The next bytes, cut anywhere. */
void lks_dpkg_feed(struct lks_dpkg *d, struct lks_str bytes);

/* There are no more: the last paragraph. One that is cut off has no name, as there may be more
 * missing than the rest of it. */
void lks_dpkg_end(struct lks_dpkg *d);

#endif
