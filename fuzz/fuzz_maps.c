/* Any bytes as a line of /proc/PID/maps: what is taken can be written again and reads back as the
 * same, and its path is a part of the line. */
#include "base/buf.h"
#include "codec/program/maps.h"

#include <inttypes.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str line = {(const char *)data, size};
    struct lks_map map, again;
    if (!lks_map_parse(line, &map))
        return 0;
    LKS_ASSERT(map.start < map.end);
    LKS_ASSERT(map.path.len == 0 ||
               (map.path.ptr >= line.ptr && map.path.ptr + map.path.len <= line.ptr + line.len));
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * (size_t)LKS_MAP_LINE_MAX);
    lks_buf_addf(&text, "%" PRIx64 "-%" PRIx64 " r--p 00000000 %02x:%02x %" PRIu64 " ", map.start,
                 map.end, map.major, map.minor, map.inode);
    lks_buf_add(&text, map.path);
    if (map.deleted)
        lks_buf_add(&text, LKS_STR(" (deleted)"));
    LKS_ASSERT(text.failed == LKS_OK);
    if (text.len > LKS_MAP_LINE_MAX)
        return 0;
    LKS_ASSERT(lks_map_parse(lks_buf_view(&text), &again));
    LKS_ASSERT(again.start == map.start && again.end == map.end && again.inode == map.inode);
    LKS_ASSERT(again.major == map.major && again.minor == map.minor);
    LKS_ASSERT(again.deleted == map.deleted && lks_str_eq(again.path, map.path));
    return 0;
}
