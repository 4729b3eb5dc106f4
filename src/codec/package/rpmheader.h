/*
 * The header of an installed package as rpm keeps it in its database: two counts, an index of
 * entries of sixteen bytes each, and the data they point into, all of it big-endian.
 *
 * The beginning of a header is usually enough. What is asked for stands first in it, and the lists
 * of files, which make it long, come later.
 */
#ifndef LKS_CODEC_RPMHEADER_H
#define LKS_CODEC_RPMHEADER_H

#include "base/err.h"
#include "base/str.h"

#define LKS_RPMHEADER_ENTRIES_MAX 65535
#define LKS_RPMHEADER_TEXT_MAX    255 /* bytes of a name, a version, a release */

/* Views of the bytes that were parsed. */
struct lks_rpmheader {
    struct lks_str name, version, release;
    struct lks_str arch; /* empty where there is none: keys that were imported are packages too */
    int64_t epoch;       /* -1: none */
};

/* Parse the first bytes of a header that is `whole` bytes long. `*short_of` is set when it fails
 * only because something lies behind `bytes`; with all of them it never is. */
enum lks_code lks_rpmheader_parse(struct lks_str bytes, size_t whole, struct lks_rpmheader *out,
                                  bool *short_of, struct lks_err *err) LKS_MUST_CHECK;

#endif
