/* The bytes of a file that may be compressed, as kernel modules are: gzip, xz or zstd, told by how
 * it begins. Piece by piece, in bounded memory. */
#ifndef LKS_PROBE_UNPACK_H
#define LKS_PROBE_UNPACK_H

#include "probe/root/root.h"

#define LKS_UNPACK_MEMORY_MAX ((uint64_t)192 << 20) /* of the decompressor */

/* Feed what is in `fd` from its start, decompressed, until `feed` has enough. LIMIT for more than
 * `max` bytes of it, INVALID for what is damaged or cut short. `path` is for messages, and for
 * saying that it goes on. */
enum lks_code lks_unpack(struct lks_root *root, int fd, const char *path, uint64_t max,
                         lks_root_feed *feed, void *ctx, struct lks_err *err) LKS_MUST_CHECK;

#endif
