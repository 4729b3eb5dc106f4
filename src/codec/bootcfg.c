#include "codec/bootcfg.h"

#include "codec/version.h"

/* A line of a key and a value; false for a comment or an empty line. */
static bool key_value(struct lks_str line, struct lks_str *key, struct lks_str *value)
{
    line = lks_str_trim(line);
    if (line.len == 0)
        return false;
    size_t n = 0;
    while (n < line.len && line.ptr[n] != ' ' && line.ptr[n] != '\t')
        n++;
    *key = (struct lks_str){line.ptr, n};
    *value = lks_str_trim((struct lks_str){line.ptr + n, line.len - n});
    return line.ptr[0] != '#';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool ends_with(struct lks_str s, const char *end)
{
    struct lks_str e = lks_str_from(end);
    return s.len >= e.len && lks_str_eq((struct lks_str){s.ptr + s.len - e.len, e.len}, e);
}

/* "name+3.conf" and "name+2-1.conf" count attempts: left, and made. */
static void parse_name(struct lks_str file, struct lks_boot_entry *out)
{
    if (ends_with(file, ".conf"))
        file.len -= strlen(".conf");
    out->id = file;
    size_t plus = file.len;
    while (plus > 0 && file.ptr[plus - 1] != '+')
        plus--;
    if (plus == 0)
        return;
    struct lks_str left, made;
    uint64_t n, m;
    bool both = lks_str_cut((struct lks_str){file.ptr + plus, file.len - plus}, '-', &left, &made);
    if (!lks_str_number(left, UINT32_MAX, &n) || (both && !lks_str_number(made, UINT32_MAX, &m)))
        return;
    out->id.len = plus - 1;
    out->bad = n == 0;
}

void lks_boot_entry_parse(struct lks_str file, struct lks_str text, struct lks_boot_entry *out)
{
    struct lks_boot_entry e = {0};
    const struct {
        const char *key;
        struct lks_str *to;
    } keys[] = {
        {"title", &e.title},       {"version", &e.version},       {"linux", &e.kernel},
        {"sort-key", &e.sort_key}, {"machine-id", &e.machine_id},
    };
    parse_name(file, &e);
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(text, '\n', &line, &text);
        if (!key_value(line, &key, &value))
            continue;
        for (size_t i = 0; i < LKS_COUNT(keys); i++) {
            if (lks_str_is(key, keys[i].key) && keys[i].to->len == 0)
                *keys[i].to = value;
        }
    }
    *out = e;
}

int lks_boot_entry_cmp(const struct lks_boot_entry *a, const struct lks_boot_entry *b)
{
    if (a->bad != b->bad)
        return a->bad ? 1 : -1;
    if ((a->sort_key.len == 0) != (b->sort_key.len == 0))
        return a->sort_key.len == 0 ? 1 : -1;
    int order = 0;
    if (a->sort_key.len > 0) {
        order = lks_str_cmp(a->sort_key, b->sort_key);
        order = order != 0 ? order : lks_str_cmp(a->machine_id, b->machine_id);
        order = order != 0 ? order : lks_version_cmp(b->version, a->version, LKS_VERSION_FIRMWARE);
    }
    order = order != 0 ? order : lks_version_cmp(b->id, a->id, LKS_VERSION_FIRMWARE);
    return order != 0 ? order : lks_str_cmp(b->id, a->id);
}

struct lks_str lks_boot_loader_value(struct lks_str text, const char *wanted)
{
    struct lks_str found = {0};
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(text, '\n', &line, &text);
        if (key_value(line, &key, &value) && lks_str_is(key, wanted))
            found = value;
    }
    return found;
}

struct lks_str lks_grub_env(struct lks_str env, struct lks_str wanted)
{
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(env, '\n', &line, &env);
        if (line.len == 0 || line.ptr[0] == '#' || !lks_str_cut(line, '=', &key, &value))
            continue;
        if (lks_str_eq(key, wanted))
            return value;
    }
    return (struct lks_str){0};
}

static struct lks_str last_part(struct lks_str path, struct lks_str *before)
{
    size_t slash = path.len;
    while (slash > 0 && path.ptr[slash - 1] != '/')
        slash--;
    *before = (struct lks_str){path.ptr, slash > 0 ? slash - 1 : 0};
    return (struct lks_str){path.ptr + slash, path.len - slash};
}

struct lks_str lks_boot_release(struct lks_str path)
{
    if (path.len == 0)
        return path;
    static const char *const prefixes[] = {"vmlinuz-", "vmlinux-", "kernel-",
                                           "Image-",   "bzImage-", "linux-"};
    struct lks_str before, name = last_part(path, &before);
    /* kernel-install puts them into /MACHINE/RELEASE/linux. */
    if (lks_str_is(name, "linux") || lks_str_is(name, "vmlinuz"))
        name = before.len > 0 ? last_part(before, &before) : before;
    for (size_t i = 0; i < LKS_COUNT(prefixes); i++) {
        if (lks_str_starts(name, prefixes[i])) {
            size_t skip = strlen(prefixes[i]);
            name = (struct lks_str){name.ptr + skip, name.len - skip};
            break;
        }
    }
    /* A release begins with the number of the kernel; "vmlinuz-linux" or "boot" names none. */
    bool release = name.len > 0 && is_digit(name.ptr[0]) && lks_str_find(name, LKS_STR(".")) > 0 &&
                   lks_str_printable(name) && lks_str_find(name, LKS_STR(" ")) < 0;
    return release ? name : (struct lks_str){0};
}
