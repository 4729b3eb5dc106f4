/* One line of /proc/PID/maps: which file is mapped where. */
#ifndef LKS_CODEC_MAPS_H
#define LKS_CODEC_MAPS_H

#include "base/str.h"

#define LKS_MAP_LINE_MAX 8192 /* bytes: a path of the longest kind and what stands before it */

struct lks_map {
    uint64_t start, end;
    uint64_t inode;
    uint32_t major, minor; /* of the device the file is on */
    struct lks_str path;   /* a view of the line; empty where no file is behind it */
    bool deleted;          /* the file has no name any more; `path` is the one it had */
};

/* Read one line without its end; false, and nothing written, where it is not such a line. */
bool lks_map_parse(struct lks_str line, struct lks_map *out);

#endif
