#include "codec/notation/glob.h"
#include "probe/package/upgrades.h"
#include "probe/root/probes.h"

#include <stdarg.h>
#include <stdio.h>

enum { VALUE_SIZE = 4096, SHOWN_MAX = 6 };

#define NAME    "settings.unattended_upgrades"
#define DETAILS "platform.upgrades"
#define NO_PART LKS_STR("")

static const char *const group_names[] = {
    [LKS_UPGRADES_KERNEL] = "kernel", [LKS_UPGRADES_DRIVER] = "driver"};

/* The packages by which a manager takes a new kernel; one with a version in its name stays. */
static const struct lks_str_pair kernels[] = {
    {"dpkg", "linux-image-*"}, {"dpkg", "linux-generic*"}, {"rpm", "kernel"},
    {"rpm", "kernel-core"},    {"rpm", "kernel-default"},  {"rpm", "kernel-uek-core"},
};

/* What has to be of the driver's version, and the driver. */
static const char *const driver_parts[] = {"driver", "fabric-manager", "imex", "nscq", "amdgpu"};

/* The packages that upgrade, by manager. */
static const struct lks_str_pair tools[] = {
    {"dpkg", "unattended-upgrades"},
    {"rpm", "dnf-automatic"},
    {"rpm", "dnf5-plugin-automatic"},
    {"rpm", "yum-cron"},
};

struct manager {
    const char *name;
    lks_packages_read *read;
    void (*look)(struct lks_upgrades *u);
};

static const struct manager managers[] = {{"dpkg", lks_packages_dpkg, lks_upgrades_apt},
                                          {"rpm", lks_packages_rpm, lks_upgrades_dnf}};

struct collector {
    struct lks_upgrades *u;
    const struct manager *manager;
};

void lks_probe_upgrades_say(struct lks_upgrades *u, bool armed, const char *evidence,
                            const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(u->why, sizeof(u->why), fmt, ap);
    va_end(ap);
    u->armed = armed;
    snprintf(u->evidence, sizeof(u->evidence), "%.1000s", evidence);
}

void lks_probe_upgrades_pattern(struct lks_upgrades *u, struct lks_upgrades_patterns *patterns,
                                struct lks_str pattern)
{
    struct lks_str copy = lks_arena_copy(u->p->arena, pattern);
    if (patterns->count < LKS_UPGRADES_PATTERNS_MAX && copy.ptr != NULL)
        patterns->list[patterns->count++] = copy;
    else
        u->unknown = lks_fail(&u->failed, LKS_E_LIMIT, "more than %d entries in a list",
                              LKS_UPGRADES_PATTERNS_MAX) != LKS_OK;
}

/* Units -------------------------------------------------------------------------------------- */

static bool is_masked(struct lks_probe *p, const char *dir, const char *unit,
                      char where[LKS_ROOT_PATH_MAX])
{
    char target[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    snprintf(where, LKS_ROOT_PATH_MAX, "%s/%s", dir, unit);
    return lks_root_link(p->root, where, target, &err) == LKS_OK &&
           strcmp(target, "/dev/null") == 0;
}

/* A link to the unit in a directory of what a target wants. */
static bool is_wanted(struct lks_probe *p, const char *dir, const char *unit,
                      char where[LKS_ROOT_PATH_MAX])
{
    struct lks_names names = {0};
    struct lks_err err;
    if (lks_root_list(p->root, dir, p->arena, &names, &err) != LKS_OK)
        return false;
    for (size_t i = 0; i < names.count; i++) {
        char target[LKS_ROOT_PATH_MAX];
        if (!lks_glob_match(LKS_STR("*.wants"), names.list[i]))
            continue;
        snprintf(where, LKS_ROOT_PATH_MAX, "%s/%" LKS_STR_FMT "/%s", dir,
                 LKS_STR_ARG(names.list[i]), unit);
        if (lks_root_link(p->root, where, target, &err) == LKS_OK)
            return true;
    }
    return false;
}

enum lks_upgrades_unit lks_probe_upgrades_unit(struct lks_probe *p, const char *unit,
                                               char where[LKS_ROOT_PATH_MAX])
{
    static const char *const dirs[] = {"/etc/systemd/system", "/run/systemd/system",
                                       "/usr/lib/systemd/system", "/lib/systemd/system"};
    for (size_t i = 0; i < 2; i++) {
        if (is_masked(p, dirs[i], unit, where))
            return LKS_UNIT_MASKED;
    }
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        if (is_wanted(p, dirs[i], unit, where))
            return LKS_UNIT_ENABLED;
    }
    where[0] = '\0';
    return LKS_UNIT_OFF;
}

/* Packages ----------------------------------------------------------------------------------- */

static bool is_kernel(const char *manager, struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(kernels); i++) {
        if (lks_glob_match(lks_str_from(kernels[i].value), name) &&
            strcmp(kernels[i].name, manager) == 0)
            return !lks_glob_match(LKS_STR("linux-image-#*"), name) &&
                   !lks_glob_match(LKS_STR("linux-image-unsigned-#*"), name);
    }
    return false;
}

static bool is_driver(const struct lks_facts *facts, const char *manager, struct lks_str name)
{
    for (size_t i = 0; i < facts->packages.count; i++) {
        const struct lks_package_kind *kind = &facts->packages.rows[i];
        if (!lks_glob_match(kind->pattern, name) || !lks_str_is(kind->manager, manager))
            continue;
        for (size_t j = 0; j < LKS_COUNT(driver_parts); j++) {
            if (lks_str_is(kind->component, driver_parts[j]))
                return true;
        }
    }
    return false;
}

static void take(void *ctx, const struct lks_installed *i)
{
    struct collector *c = ctx;
    struct lks_upgrades *u = c->u;
    if (i->fault != NULL || lks_str_is(i->state, "not-installed") ||
        lks_str_is(i->state, "config-files"))
        return;
    for (size_t t = 0; t < LKS_COUNT(tools); t++)
        u->tool = u->tool || (strcmp(tools[t].name, c->manager->name) == 0 &&
                              lks_str_is(i->name, tools[t].value));
    bool kernel = is_kernel(c->manager->name, i->name);
    if (!kernel && !is_driver(u->p->facts, c->manager->name, i->name))
        return;
    struct lks_str name = lks_arena_copy(u->p->arena, i->name);
    if (u->count < LKS_UPGRADES_NAMES_MAX && name.ptr != NULL)
        u->packages[u->count++] = (struct lks_upgrades_package){
            kernel ? LKS_UPGRADES_KERNEL : LKS_UPGRADES_DRIVER, name, i->held};
}

/* Why it is left alone, or NULL; `*doubt` is a pattern that cannot be judged. */
static const char *kept(const struct lks_upgrades *u, const struct lks_upgrades_package *package,
                        struct lks_str *doubt)
{
    if (package->held)
        return "held";
    for (size_t i = 0; i < u->kept.count; i++) {
        bool clear = true;
        if (u->fits(u->kept.list[i], package->name, &clear))
            return u->kept_by;
        *doubt = clear ? *doubt : u->kept.list[i];
    }
    bool listed = u->allowed.count == 0;
    for (size_t i = 0; i < u->allowed.count && !listed; i++) {
        bool clear = true;
        listed = u->fits(u->allowed.list[i], package->name, &clear);
        *doubt = clear ? *doubt : u->allowed.list[i];
        listed = listed || !clear;
    }
    return listed ? NULL : "not on its whitelist";
}

/* Saying ------------------------------------------------------------------------------------- */

static void add_name(struct lks_buf *list, size_t *count, struct lks_str name, const char *why)
{
    if (++*count <= SHOWN_MAX)
        lks_buf_addf(list, "%s%" LKS_STR_FMT "%s%s%s", *count > 1 ? ", " : "", LKS_STR_ARG(name),
                     why != NULL ? " (" : "", why != NULL ? why : "", why != NULL ? ")" : "");
}

static void add_list(struct lks_buf *out, const char *title, const struct lks_buf *list,
                     size_t count)
{
    if (count == 0)
        return;
    lks_buf_addf(out, "%s%s: %" LKS_STR_FMT, out->len > 0 ? "; " : "", title,
                 LKS_STR_ARG(lks_buf_view(list)));
    if (count > SHOWN_MAX)
        lks_buf_addf(out, " and %zu more", count - SHOWN_MAX);
}

/* Which packages of a group it would upgrade, and which it leaves alone. */
static void say_group(struct lks_upgrades *u, enum lks_upgrades_group group)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf open = LKS_BUF(VALUE_SIZE);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf safe = LKS_BUF(VALUE_SIZE);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF((size_t)4 * VALUE_SIZE);
    size_t open_count = 0, safe_count = 0;
    struct lks_str doubt = LKS_STR("");
    for (size_t i = 0; i < u->count; i++) {
        if (u->packages[i].group != group)
            continue;
        const char *why = kept(u, &u->packages[i], &doubt);
        if (why == NULL)
            add_name(&open, &open_count, u->packages[i].name, NULL);
        else
            add_name(&safe, &safe_count, u->packages[i].name, why);
    }
    add_list(&value, "upgrades", &open, open_count);
    add_list(&value, "leaves alone", &safe, safe_count);
    if (doubt.len > 0 && open_count > 0)
        lks_buf_addf(&value, "; whether '%" LKS_STR_FMT "' covers them was not evaluated",
                     LKS_STR_ARG(doubt));
    if (value.len > 0)
        lks_probe_value(u->p, DETAILS, lks_str_from(group_names[group]), NO_PART,
                        lks_buf_view(&value), u->evidence);
}

static void say_armed(struct lks_upgrades *u)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF((size_t)4 * VALUE_SIZE);
    lks_buf_addf(&value, "%s", u->why);
    const struct lks_upgrades_patterns *from[] = {&u->origins, &u->origin_patterns};
    const char *gap = ", from ";
    for (size_t i = 0; i < LKS_COUNT(from); i++) {
        for (size_t j = 0; j < from[i]->count; j++, gap = "; ")
            lks_buf_addf(&value, "%s%" LKS_STR_FMT, gap, LKS_STR_ARG(from[i]->list[j]));
    }
    lks_probe_value(u->p, NAME, NO_PART, NO_PART, LKS_STR("true"), u->evidence);
    lks_probe_value(u->p, DETAILS, NO_PART, NO_PART, lks_buf_view(&value), u->evidence);
    for (int g = 0; g < LKS_UPGRADES_GROUP_COUNT; g++)
        say_group(u, (enum lks_upgrades_group)g);
}

/* What is known of one manager; NULL where it is not there. */
static struct lks_upgrades *look(struct lks_probe *p, const struct manager *m)
{
    struct lks_upgrades *u = lks_arena_alloc(p->arena, sizeof(*u));
    if (u == NULL)
        return NULL;
    struct collector c = {u, m};
    char where[LKS_ROOT_PATH_MAX] = "";
    u->p = p;
    enum lks_code code = m->read(p->root, take, &c, where, &u->failed);
    if (code == LKS_E_NOT_FOUND)
        return NULL;
    snprintf(u->evidence, sizeof(u->evidence), "%.1000s", where);
    u->unknown = code != LKS_OK;
    if (!u->unknown)
        m->look(u);
    return u;
}

void lks_probe_upgrades(struct lks_probe *p)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf reasons = LKS_BUF(VALUE_SIZE);
    const struct lks_upgrades *failed = NULL;
    for (size_t i = 0; i < LKS_COUNT(managers); i++) {
        struct lks_upgrades *u = look(p, &managers[i]);
        if (u == NULL)
            continue;
        if (!u->unknown && u->armed) {
            say_armed(u);
            return;
        }
        if (u->unknown)
            failed = u;
        lks_buf_addf(&reasons, "%s%s (%s)", reasons.len > 0 ? "; " : "", u->why, u->evidence);
    }
    if (failed != NULL) {
        lks_probe_unmeasured(p, NAME, NO_PART, failed->evidence, "%s", failed->failed.msg);
        return;
    }
    const char *why = reasons.ptr != NULL ? reasons.ptr : "no package database";
    lks_probe_value(p, NAME, NO_PART, NO_PART, LKS_STR("false"), why);
    lks_probe_absent(p, DETAILS, NO_PART, why);
}
