#include "cli/shared/zone.h"

#include "base/buf.h"
#include "base/file.h"
#include "cli/shared/path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 10 };

static bool use(struct lks_str rule, struct lks_str name, struct lks_zone *out)
{
    struct lks_err ignored = {0};
    struct lks_tz tz;
    if (rule.len == 0 || name.len > LKS_TZ_TEXT_MAX || !lks_str_printable(name) ||
        lks_tz_parse(rule, &tz, &ignored) != LKS_OK)
        return false;
    *out = (struct lks_zone){.tz = tz};
    memcpy(out->name, name.ptr, name.len);
    return true;
}

/* The rule that the zone's file ends with; its name is the rule itself where `name` is empty. */
static bool use_file(const char *path, struct lks_str name, struct lks_zone *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(FILE_MAX);
    struct lks_err ignored = {0};
    struct lks_str rule;
    return lks_file_read_plain(path, &file, &ignored) == LKS_OK &&
           lks_tz_footer(lks_buf_view(&file), &rule) && use(rule, name.len > 0 ? name : rule, out);
}

/* "Europe/Berlin" of a link to /usr/share/zoneinfo/Europe/Berlin; empty where it is none. */
static struct lks_str linked_name(const char *path, char target[PATH_MAX])
{
    static const char home[] = "zoneinfo/";
    ssize_t length = readlink(path, target, PATH_MAX);
    struct lks_str text = {target, length > 0 && length < PATH_MAX ? (size_t)length : 0};
    ptrdiff_t at = lks_str_find(text, lks_str_from(home));
    size_t skip = at < 0 ? text.len : (size_t)at + strlen(home);
    return (struct lks_str){text.ptr + skip, text.len - skip};
}

void lks_zone_read(const char *root, const char *tz, struct lks_zone *out)
{
    char path[PATH_MAX], target[PATH_MAX];
    struct lks_err ignored = {0};
    *out = (struct lks_zone){0};
    if (tz == NULL) {
        if (lks_path_join(path, root, "etc/localtime", &ignored) == LKS_OK)
            (void)use_file(path, linked_name(path, target), out);
        return;
    }
    struct lks_str name = lks_str_from(tz[0] == ':' ? tz + 1 : tz);
    if (use(name, name, out))
        return;
    int length = name.len > 0 && name.ptr[0] == '/'
                     ? snprintf(path, sizeof(path), "%s", name.ptr)
                     : snprintf(path, sizeof(path), "%s/usr/share/zoneinfo/%s", root, name.ptr);
    if (length > 0 && (size_t)length < sizeof(path))
        (void)use_file(path, name, out);
}

void lks_zone_local(const char *tz, struct lks_zone *out)
{
    lks_zone_read("/", tz, out);
}

const char *lks_zone_name(const struct lks_zone *zone)
{
    return zone->name[0] != '\0' ? zone->name : "UTC";
}
