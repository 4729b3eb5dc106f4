/* Debian's and Ubuntu's: apt-daily-upgrade.timer runs apt.systemd.daily, which runs
 * unattended-upgrade where APT::Periodic says so. */
#include "codec/package/aptconf.h"
#include "probe/package/upgrades.h"

#include <ctype.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>

enum { SETTING_SIZE = 64, MARKS_MAX = 8 };

#define PARTS_DIR "/etc/apt/apt.conf.d"
#define MAIN_FILE "/etc/apt/apt.conf"

struct setting {
    const char *name;
    char value[SETTING_SIZE];
    char where[LKS_ROOT_PATH_MAX]; /* empty: nowhere */
};

enum { ENABLE, INTERVAL, ON_SHUTDOWN, SETTING_COUNT };

struct apt {
    struct lks_upgrades *u;
    struct setting settings[SETTING_COUNT];
    const char *file; /* being read */
};

static bool is_below(struct lks_str name, const char *list)
{
    size_t len = strlen(list);
    return name.len >= len + 2 &&
           lks_str_eq_nocase((struct lks_str){name.ptr, len}, (struct lks_str){list, len}) &&
           memcmp(name.ptr + len, "::", 2) == 0;
}

/* The lists, by their names in the configuration. */
static const struct lks_str_field lists[] = {
    {"Unattended-Upgrade::Package-Blacklist", offsetof(struct lks_upgrades, kept)},
    {"Unattended-Upgrade::Package-Whitelist", offsetof(struct lks_upgrades, allowed)},
    {"Unattended-Upgrade::Allowed-Origins", offsetof(struct lks_upgrades, origins)},
    {"Unattended-Upgrade::Origins-Pattern", offsetof(struct lks_upgrades, origin_patterns)},
};

static void take_lists(struct lks_upgrades *u, enum lks_aptconf_act act, struct lks_str name,
                       struct lks_str value)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        struct lks_upgrades_patterns *list =
            (struct lks_upgrades_patterns *)(void *)((char *)u + lists[i].at);
        if (act == LKS_APTCONF_SET && is_below(name, lists[i].name))
            lks_probe_upgrades_pattern(u, list, value);
        if (act == LKS_APTCONF_CLEAR && lks_str_eq_nocase(name, lks_str_from(lists[i].name)))
            list->count = 0;
    }
}

static void take(void *ctx, enum lks_aptconf_act act, struct lks_str name, struct lks_str value)
{
    struct apt *a = ctx;
    take_lists(a->u, act, name, value);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        struct setting *s = &a->settings[i];
        if (!lks_str_eq_nocase(name, lks_str_from(s->name)))
            continue;
        snprintf(s->value, sizeof(s->value), "%" LKS_STR_FMT, LKS_STR_ARG(value));
        snprintf(s->where, sizeof(s->where), "%s", act == LKS_APTCONF_SET ? a->file : "");
    }
}

static enum lks_code read_file(struct apt *a, const char *path, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ROOT_FILE_MAX);
    enum lks_code code = lks_root_read(a->u->p->root, path, LKS_ROOT_FILE_MAX, &text, err);
    if (code != LKS_OK)
        return code == LKS_E_NOT_FOUND ? LKS_OK : code;
    a->file = path;
    return lks_aptconf_parse(lks_buf_view(&text), take, a, err) == LKS_OK
               ? LKS_OK
               : lks_wrap(err, "%s", path);
}

/* Which files of the directory apt reads: of plain names, with the ending "conf" or none. */
static bool is_read(struct lks_str name)
{
    struct lks_str rest = name, part, last = LKS_STR("");
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i] | 0x20;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("-_.", name.ptr[i])))
            return false;
    }
    while (lks_str_cut(rest, '.', &part, &rest))
        last = rest;
    return name.len > 0 && name.ptr[0] != '.' && (last.len == 0 || lks_str_is(last, "conf"));
}

static enum lks_code read_all(struct apt *a, struct lks_err *err)
{
    struct lks_names names = {0};
    struct lks_probe *p = a->u->p;
    enum lks_code code = lks_root_list(p->root, PARTS_DIR, p->arena, &names, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    for (size_t i = 0; i < names.count; i++) {
        char path[LKS_ROOT_PATH_MAX];
        snprintf(path, sizeof(path), PARTS_DIR "/%" LKS_STR_FMT, LKS_STR_ARG(names.list[i]));
        if (is_read(names.list[i]) && read_file(a, path, err) != LKS_OK)
            return err->code;
    }
    return read_file(a, MAIN_FILE, err);
}

/* Where a bracket expression that begins at `at` ends, or 0: Python and POSIX read a backslash
 * and a '[' inside one differently. */
static size_t bracket_end(struct lks_str re, size_t at)
{
    size_t i = at + 1;
    i += i < re.len && re.ptr[i] == '^';
    for (bool first = true; i < re.len; i++, first = false) {
        if (re.ptr[i] == '\\' || re.ptr[i] == '[')
            return 0;
        if (re.ptr[i] == ']' && !first)
            return i;
    }
    return 0;
}

/* Python escapes every punctuation mark with a backslash; glibc has operators of its own for four
 * of them. */
static bool is_escape(char next)
{
    return next != '\0' && ispunct((unsigned char)next) && strchr("<>`'", next) == NULL;
}

/* Whether POSIX's extended expressions mean what Python's do by `re`. Escapes of letters and
 * digits, (?...), counts in braces and a second mark behind the first are Python's own. A pattern
 * with many marks is left alone too: regcomp(3) copies what '+' stands behind, and nested ones
 * multiply. Parentheses that do not match would match those around the pattern. */
static bool is_posix(struct lks_str re)
{
    int marks = 0, depth = 0;
    bool atom = false; /* that a mark may stand behind */
    for (size_t i = 0; i < re.len; i++) {
        char c = re.ptr[i], next = i + 1 < re.len ? re.ptr[i + 1] : '\0';
        if (c == '\0' || c == '{' || (c == '(' && next == '?'))
            return false;
        if (c == '*' || c == '+' || c == '?') {
            if (!atom || ++marks > MARKS_MAX)
                return false;
            atom = false;
            continue;
        }
        depth += (c == '(') - (c == ')');
        if (depth < 0 || (c == '\\' && !is_escape(next)))
            return false;
        i = c == '\\' ? i + 1 : c == '[' ? bracket_end(re, i) : i;
        if (c == '[' && i == 0)
            return false;
        atom = strchr("(|^$", c) == NULL;
    }
    return depth == 0;
}

/* Python's re.match(), which holds a pattern against the beginning of a name, by regcomp(3).
 * `*clear` is set to false where it cannot be told. */
static bool fits(struct lks_str re, struct lks_str name, bool *clear)
{
    char text[LKS_READING_NAME_MAX + sizeof("^()")];
    regex_t compiled;
    *clear = re.len <= LKS_READING_NAME_MAX && is_posix(re);
    if (!*clear)
        return false;
    snprintf(text, sizeof(text), "^(%" LKS_STR_FMT ")", LKS_STR_ARG(re));
    *clear = regcomp(&compiled, text, REG_EXTENDED) == 0;
    if (!*clear)
        return false;
    regmatch_t span = {.rm_so = 0, .rm_eo = (regoff_t)name.len};
    bool found = regexec(&compiled, name.ptr, 1, &span, REG_STARTEND) == 0;
    regfree(&compiled);
    return found;
}

/* What starts the nightly run: systemd's timer, or cron where systemd does not run. */
static bool is_started(struct lks_upgrades *u)
{
    static const char timer[] = "apt-daily-upgrade.timer", service[] = "apt-daily-upgrade.service";
    char where[LKS_ROOT_PATH_MAX];
    struct lks_root *root = u->p->root;
    if (!lks_root_exists(root, "/run/systemd/system")) {
        bool cron =
            lks_root_exists(root, "/etc/cron.daily/apt-compat") &&
            (lks_root_exists(root, "/usr/sbin/cron") || lks_root_exists(root, "/usr/sbin/anacron"));
        lks_probe_upgrades_say(u, cron, "/etc/cron.daily/apt-compat",
                               cron ? "cron runs unattended-upgrade daily"
                                    : "neither systemd nor cron runs it");
        return cron;
    }
    enum lks_upgrades_unit state = lks_probe_upgrades_unit(u->p, timer, where);
    if (state != LKS_UNIT_ENABLED) {
        lks_probe_upgrades_say(u, false, where[0] != '\0' ? where : "/etc/systemd/system",
                               "%s is %s", timer,
                               state == LKS_UNIT_MASKED ? "masked" : "not enabled");
        return false;
    }
    char mask[LKS_ROOT_PATH_MAX];
    if (lks_probe_upgrades_unit(u->p, service, mask) == LKS_UNIT_MASKED) {
        lks_probe_upgrades_say(u, false, mask, "%s is masked", service);
        return false;
    }
    lks_probe_upgrades_say(u, true, where, "%s runs unattended-upgrade", timer);
    return true;
}

/* The periodic run is switched on. */
static bool is_periodic(struct lks_upgrades *u, const struct apt *a)
{
    const struct setting *enable = &a->settings[ENABLE], *interval = &a->settings[INTERVAL];
    if (enable->where[0] != '\0' && strcmp(enable->value, "0") == 0) {
        lks_probe_upgrades_say(u, false, enable->where, "%s is 0", enable->name);
        return false;
    }
    if (interval->where[0] == '\0') {
        lks_probe_upgrades_say(u, false, PARTS_DIR, "%s is not set", interval->name);
        return false;
    }
    if (strcmp(interval->value, "0") == 0 || interval->value[0] == '\0') {
        lks_probe_upgrades_say(u, false, interval->where, "%s is 0", interval->name);
        return false;
    }
    return true;
}

/* It may also upgrade while the machine goes down, whatever the timer says. */
static bool on_shutdown(struct lks_upgrades *u, const struct apt *a)
{
    const struct setting *s = &a->settings[ON_SHUTDOWN];
    char where[LKS_ROOT_PATH_MAX];
    bool on = s->where[0] != '\0' && (lks_str_eq_nocase(lks_str_from(s->value), LKS_STR("true")) ||
                                      strcmp(s->value, "1") == 0 ||
                                      lks_str_eq_nocase(lks_str_from(s->value), LKS_STR("yes")));
    on = on &&
         lks_probe_upgrades_unit(u->p, "unattended-upgrades.service", where) == LKS_UNIT_ENABLED;
    if (on)
        lks_probe_upgrades_say(u, true, s->where,
                               "unattended-upgrades.service upgrades at shutdown");
    return on;
}

void lks_upgrades_apt(struct lks_upgrades *u)
{
    struct apt a = {
        .u = u,
        .settings = {[ENABLE] = {.name = "APT::Periodic::Enable"},
                     [INTERVAL] = {.name = "APT::Periodic::Unattended-Upgrade"},
                     [ON_SHUTDOWN] = {.name = "Unattended-Upgrade::InstallOnShutdown"}}};
    u->fits = fits;
    u->kept_by = "blacklisted";
    struct lks_err err = {0};
    if (read_all(&a, &err) != LKS_OK) {
        u->unknown = true;
        u->failed = err;
    }
    if (u->unknown)
        return;
    if (!u->tool) {
        lks_probe_upgrades_say(u, false, "/var/lib/dpkg/status",
                               "unattended-upgrades is not installed");
        return;
    }
    if (on_shutdown(u, &a) || (is_periodic(u, &a) && is_started(u))) {
        if (u->origins.count + u->origin_patterns.count == 0)
            lks_probe_upgrades_say(u, false, PARTS_DIR, "it is allowed no origin to upgrade from");
    }
}
