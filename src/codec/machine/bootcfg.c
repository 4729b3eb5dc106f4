#include "codec/machine/bootcfg.h"

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

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "name+3.conf" and "name+2-1.conf" count attempts: left, and made. */
static void parse_name(struct lks_str file, struct lks_boot_entry *out)
{
    if (lks_str_ends(file, ".conf"))
        file.len -= strlen(".conf");
    out->id = file;
    struct lks_str count = lks_str_last(file, '+'), left, made;
    uint64_t n, m;
    if (count.len == file.len)
        return;
    bool both = lks_str_cut(count, '-', &left, &made);
    if (!lks_str_number(left, UINT32_MAX, &n) || (both && !lks_str_number(made, UINT32_MAX, &m)))
        return;
    out->id.len -= count.len + 1;
    out->bad = n == 0;
}

void lks_bootcfg_entry_parse(struct lks_str file, struct lks_str text, struct lks_boot_entry *out)
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

/* How many characters at the front are digits, or letters. */
static size_t run_of(struct lks_str s, bool digits)
{
    size_t n = 0;
    while (n < s.len && (digits ? is_digit(s.ptr[n]) : is_letter(s.ptr[n])))
        n++;
    return n;
}

static struct lks_str drop(struct lks_str s, size_t n)
{
    return (struct lks_str){s.ptr + n, s.len - n};
}

static char front(struct lks_str s)
{
    return s.len > 0 ? s.ptr[0] : '\0';
}

/* Numbers of any length by their value; where only one has a number, that one is newer. */
static int number_cmp(struct lks_str a, struct lks_str b)
{
    if (a.len == 0 || b.len == 0)
        return (a.len > 0) - (b.len > 0);
    while (front(a) == '0')
        a = drop(a, 1);
    while (front(b) == '0')
        b = drop(b, 1);
    return a.len != b.len ? (a.len > b.len ? 1 : -1) : lks_str_cmp(a, b);
}

/* A mark that one or both begin with: '~' makes older than anything, even than the end; a release,
 * a patch and a point, in this order, come before more of the same. */
static int mark_cmp(struct lks_str *a, struct lks_str *b, char mark)
{
    bool in_a = front(*a) == mark, in_b = front(*b) == mark;
    if (in_a != in_b)
        return in_a ? -1 : 1;
    if (in_a) {
        *a = drop(*a, 1);
        *b = drop(*b, 1);
    }
    return 0;
}

static struct lks_str skip_other(struct lks_str s)
{
    while (s.len > 0 && !is_digit(s.ptr[0]) && !is_letter(s.ptr[0]) &&
           (s.ptr[0] == '\0' || strchr("~-^.", s.ptr[0]) == NULL))
        s = drop(s, 1);
    return s;
}

/* The order that the Boot Loader Specification has for versions and names (UAPI.10). It is one of
 * all texts, so that a menu can be sorted by it whatever is in it. */
static int newer_cmp(struct lks_str a, struct lks_str b)
{
    for (;;) {
        a = skip_other(a);
        b = skip_other(b);
        int order = mark_cmp(&a, &b, '~');
        if (order != 0)
            return order;
        if (a.len == 0 || b.len == 0)
            return (a.len > 0) - (b.len > 0);
        for (const char *mark = "-^."; *mark != '\0' && order == 0; mark++)
            order = mark_cmp(&a, &b, *mark);
        if (order != 0)
            return order;
        bool digits = is_digit(front(a)) || is_digit(front(b));
        size_t in_a = run_of(a, digits), in_b = run_of(b, digits);
        struct lks_str x = {a.ptr, in_a}, y = {b.ptr, in_b};
        order = digits ? number_cmp(x, y) : lks_str_cmp(x, y);
        if (order != 0)
            return order;
        a = drop(a, in_a);
        b = drop(b, in_b);
    }
}

int lks_bootcfg_entry_cmp(const struct lks_boot_entry *a, const struct lks_boot_entry *b)
{
    if (a->bad != b->bad)
        return a->bad ? 1 : -1;
    if ((a->sort_key.len == 0) != (b->sort_key.len == 0))
        return a->sort_key.len == 0 ? 1 : -1;
    int order = 0;
    if (a->sort_key.len > 0) {
        order = lks_str_cmp(a->sort_key, b->sort_key);
        order = order != 0 ? order : lks_str_cmp(a->machine_id, b->machine_id);
        order = order != 0 ? order : newer_cmp(b->version, a->version);
    }
    order = order != 0 ? order : newer_cmp(b->id, a->id);
    return order != 0 ? order : lks_str_cmp(b->id, a->id);
}

struct lks_str lks_bootcfg_loader_value(struct lks_str text, const char *wanted)
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

struct lks_str lks_bootcfg_grub_env(struct lks_str env, struct lks_str wanted)
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

struct lks_str lks_bootcfg_release(struct lks_str path)
{
    if (path.len == 0)
        return path;
    static const char *const prefixes[] = {"vmlinuz-", "vmlinux-", "kernel-",
                                           "Image-",   "bzImage-", "linux-"};
    struct lks_str name = lks_str_last(path, '/');
    /* kernel-install puts them into /MACHINE/RELEASE/linux. */
    if (lks_str_is(name, "linux") || lks_str_is(name, "vmlinuz"))
        name = lks_str_last((struct lks_str){path.ptr, path.len - name.len - (name.len < path.len)},
                            '/');
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
