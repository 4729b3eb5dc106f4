/* Red Hat's: dnf-automatic, run by one of its timers; yum-cron before it. */
#include "codec/format/ini.h"
#include "codec/notation/glob.h"
#include "probe/package/upgrades.h"

#include <stdio.h>

enum { VALUE_MAX = 16384 };

/* What starts an upgrade, and the file that says whether it installs anything (NULL: always). */
static const struct {
    const char *unit;
    const char *config;
} starters[] = {
    {"dnf-automatic-install.timer", NULL},
    {"dnf-automatic.timer", "/etc/dnf/automatic.conf"},
    {"dnf5-automatic.timer", "/etc/dnf/automatic.conf"},
    {"yum-cron.service", "/etc/yum/yum-cron.conf"},
};

/* Where packages are named that upgrades leave alone. */
static const struct {
    const char *file, *section, *key;
} excludes[] = {
    {"/etc/dnf/dnf.conf", "main", "excludepkgs"},
    {"/etc/dnf/dnf.conf", "main", "exclude"},
    {"/etc/dnf/automatic.conf", "base", "excludepkgs"},
    {"/etc/dnf/automatic.conf", "base", "exclude"},
    {"/etc/yum.conf", "main", "exclude"},
};

/* Lists of locked versions: lines such as "kernel-0:5.14.0-427.el9.*", and a newer form in which
 * names stand as in name = "kernel". */
static const char *const locks[] = {"/etc/dnf/plugins/versionlock.list",
                                    "/etc/yum/pluginconf.d/versionlock.list",
                                    "/etc/dnf/versionlock.toml"};

/* The text of a file, empty where there is none; false where it cannot be read. */
static bool read_text(struct lks_upgrades *u, const char *path, struct lks_buf *text)
{
    lks_buf_init(text, LKS_ROOT_FILE_MAX);
    struct lks_err err = {0};
    enum lks_code code = lks_root_read(u->p->root, path, LKS_ROOT_FILE_MAX, text, &err);
    if (code == LKS_OK || code == LKS_E_NOT_FOUND)
        return true;
    u->unknown = true;
    u->failed = err;
    return false;
}

static bool says_yes(struct lks_str value)
{
    static const char *const words[] = {"yes", "true", "1", "on"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (lks_str_eq_nocase(value, lks_str_from(words[i])))
            return true;
    }
    return false;
}

static void add_words(struct lks_upgrades *u, struct lks_str words)
{
    struct lks_str some, word;
    for (bool more = words.len > 0; more;) {
        more = lks_str_cut(words, ',', &some, &words);
        while (lks_str_word(&some, &word))
            lks_probe_upgrades_pattern(u, &u->kept, word);
    }
}

static bool read_excludes(struct lks_upgrades *u)
{
    for (size_t i = 0; i < LKS_COUNT(excludes); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(VALUE_MAX);
        if (!read_text(u, excludes[i].file, &text))
            return false;
        if (lks_ini_find(lks_buf_view(&text), excludes[i].section, excludes[i].key, &value))
            add_words(u, lks_buf_view(&value));
    }
    return true;
}

/* The name a lock is of: before the dash that a digit follows, or between the quotes. */
static struct lks_str locked_name(struct lks_str line)
{
    struct lks_str key, value, name;
    line = lks_str_trim(line);
    if (line.len == 0 || line.ptr[0] == '#' || line.ptr[0] == '!' || line.ptr[0] == '[')
        return LKS_STR("");
    if (lks_str_cut(line, '=', &key, &value) && lks_str_is(lks_str_trim(key), "name")) {
        (void)lks_str_cut(value, '"', &key, &value);
        return lks_str_cut(value, '"', &name, &value) ? name : LKS_STR("");
    }
    for (size_t i = 1; i + 1 < line.len; i++) {
        if (line.ptr[i] == '-' && line.ptr[i + 1] >= '0' && line.ptr[i + 1] <= '9')
            return (struct lks_str){line.ptr, i};
    }
    return LKS_STR("");
}

static bool read_locks(struct lks_upgrades *u)
{
    for (size_t i = 0; i < LKS_COUNT(locks); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        if (!read_text(u, locks[i], &text))
            return false;
        struct lks_str rest = lks_buf_view(&text), line;
        while (rest.len > 0) {
            (void)lks_str_cut(rest, '\n', &line, &rest);
            line = locked_name(line);
            if (line.len > 0)
                lks_probe_upgrades_pattern(u, &u->kept, line);
        }
    }
    return true;
}

static bool fits(struct lks_str pattern, struct lks_str name, bool *clear)
{
    *clear = lks_str_find(pattern, LKS_STR("[")) < 0;
    return *clear && lks_glob_match(pattern, name);
}

/* True when this one installs upgrades. */
static bool is_armed(struct lks_upgrades *u, const char *unit, const char *config)
{
    char where[LKS_ROOT_PATH_MAX];
    enum lks_upgrades_unit state = lks_probe_upgrades_unit(u->p, unit, where);
    if (state != LKS_UNIT_ENABLED) {
        if (state == LKS_UNIT_MASKED)
            lks_probe_upgrades_say(u, false, where, "%s is masked", unit);
        return false;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(VALUE_MAX);
    if (config != NULL && !read_text(u, config, &text))
        return false;
    bool set =
        config != NULL && lks_ini_find(lks_buf_view(&text), "commands", "apply_updates", &value);
    bool armed = config == NULL || (set && says_yes(lks_buf_view(&value)));
    lks_probe_upgrades_say(
        u, armed, armed ? where : config,
        armed ? "%s installs updates" : "%s is enabled, but apply_updates is not yes", unit);
    return armed;
}

void lks_upgrades_dnf(struct lks_upgrades *u)
{
    u->fits = fits;
    u->kept_by = "excluded or locked";
    lks_probe_upgrades_say(u, false, "/etc/systemd/system", "no timer of dnf-automatic is enabled");
    if (!u->tool) {
        lks_probe_upgrades_say(u, false, "rpm", "dnf-automatic is not installed");
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(starters) && !u->unknown; i++) {
        if (is_armed(u, starters[i].unit, starters[i].config))
            break;
    }
    if (u->armed && !u->unknown && read_excludes(u))
        (void)read_locks(u);
}
