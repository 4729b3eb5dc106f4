#include "codec/program/maps.h"

#include <string.h>

static const char deleted_mark[] = " (deleted)";

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool hexadecimal(struct lks_str s, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (s.len == 0 || s.len > 16)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        int d = digit(s.ptr[i]);
        if (d < 0)
            return false;
        value = value << 4 | (uint64_t)d;
    }
    *out = value;
    return value <= max;
}

/* Two hexadecimal numbers with `sep` between them: a range of addresses, a device. */
static bool pair(struct lks_str s, char sep, uint64_t max, uint64_t *first, uint64_t *second)
{
    struct lks_str head, tail;
    return lks_str_cut(s, sep, &head, &tail) && hexadecimal(head, max, first) &&
           hexadecimal(tail, max, second);
}

static void take_path(struct lks_str rest, struct lks_map *map)
{
    size_t blanks = 0;
    if (rest.len == 0)
        return;
    while (blanks < rest.len && rest.ptr[blanks] == ' ')
        blanks++;
    map->path = (struct lks_str){rest.ptr + blanks, rest.len - blanks};
    map->deleted = lks_str_ends(map->path, deleted_mark);
    map->path.len -= map->deleted ? sizeof(deleted_mark) - 1 : 0;
}

bool lks_map_parse(struct lks_str line, struct lks_map *out)
{
    struct lks_map map = {0};
    struct lks_str range, rights, offset, device, inode, rest;
    uint64_t at, major, minor;
    if (line.len > LKS_MAP_LINE_MAX || !lks_str_cut(line, ' ', &range, &rest) ||
        !lks_str_cut(rest, ' ', &rights, &rest) || !lks_str_cut(rest, ' ', &offset, &rest) ||
        !lks_str_cut(rest, ' ', &device, &rest))
        return false;
    (void)lks_str_cut(rest, ' ', &inode, &rest);
    if (!pair(range, '-', UINT64_MAX, &map.start, &map.end) || map.start >= map.end ||
        rights.len != 4 || !hexadecimal(offset, UINT64_MAX, &at) ||
        !pair(device, ':', UINT32_MAX, &major, &minor) ||
        !lks_str_number(inode, UINT64_MAX, &map.inode))
        return false;
    map.major = (uint32_t)major;
    map.minor = (uint32_t)minor;
    take_path(rest, &map);
    *out = map;
    return true;
}
