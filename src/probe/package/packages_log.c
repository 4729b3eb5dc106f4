#include "probe/package/packages_log.h"

#include "codec/package/pkglog.h"
#include "probe/package/packages.h"

#include <stdio.h>

enum { NAME_SIZE = 128 };

/* Each as it is and, before that, as it was last put away. */
static const struct log {
    const char *path;
    enum lks_pkglog_format format;
    const char *manager; /* as packages.csv calls it */
} logs[] = {
    {"/var/log/dpkg.log.1", LKS_PKGLOG_DPKG, "dpkg"},
    {"/var/log/dpkg.log", LKS_PKGLOG_DPKG, "dpkg"},
    {"/var/log/dnf.rpm.log.1", LKS_PKGLOG_DNF, "rpm"},
    {"/var/log/dnf.rpm.log", LKS_PKGLOG_DNF, "rpm"},
};

/* The last change of a component. */
struct last {
    struct lks_str component;
    struct lks_pkglog_change change; /* views of the log */
    const char *path;                /* NULL: none */
    bool alone;                      /* of a package that tells of it where no other does */
};

static struct last *find(struct last *list, size_t count, struct lks_str component)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(list[i].component, component))
            return &list[i];
    }
    return NULL;
}

/* Of a component's packages one may go because another came: that one is told of. */
static bool says_more(const struct last *last, const struct lks_package_kind *kind,
                      const struct lks_pkglog_change *next)
{
    if (last->path != NULL && lks_str_eq(last->change.name, next->name))
        return true;
    if (next->replaced)
        return false;
    return last->path == NULL || (next->new.len > 0 && (last->alone || !kind->alone));
}

static void read_log(struct lks_probe *p, const struct log *log, struct lks_str text,
                     struct last *list, size_t count)
{
    struct lks_pkglog_change next;
    while (lks_pkglog_next(log->format, &text, &next)) {
        const struct lks_package_kind *kind = lks_packages_kind(p->facts, log->manager, next.name);
        struct last *last = kind != NULL ? find(list, count, kind->component) : NULL;
        if (last == NULL || !says_more(last, kind, &next))
            continue;
        lks_pkglog_follow(&last->change, &next);
        last->path = log->path;
        last->alone = kind->alone;
    }
}

static void say(struct lks_probe *p, const struct last *last)
{
    char name[NAME_SIZE], text[LKS_PKGLOG_TEXT_SIZE];
    snprintf(name, sizeof(name), "%" LKS_STR_FMT ".package.changed", LKS_STR_ARG(last->component));
    lks_pkglog_text(&last->change, text);
    lks_probe_value(p, name, LKS_STR(""), LKS_STR(""), lks_str_from(text), last->path);
}

/* A log that cannot be read tells nothing: nothing is judged by it. */
void lks_packages_logs(struct lks_probe *p)
{
    struct lks_buf texts[LKS_COUNT(logs)] = {0};
    struct lks_err err = {0};
    size_t count = p->facts->components.count;
    struct last *list = lks_arena_array(p->arena, count, sizeof(list[0]));
    for (size_t i = 0; i < count && list != NULL; i++)
        list[i] = (struct last){.component = p->facts->components.rows[i].name};
    for (size_t i = 0; i < LKS_COUNT(logs) && list != NULL; i++) {
        lks_buf_init(&texts[i], LKS_PACKAGES_LOG_MAX);
        if (lks_root_tail(p->root, logs[i].path, LKS_PACKAGES_LOG_MAX, &texts[i], &err) == LKS_OK &&
            texts[i].len > 0)
            read_log(p, &logs[i], lks_buf_view(&texts[i]), list, count);
    }
    for (size_t i = 0; i < count && list != NULL; i++) {
        if (list[i].path != NULL)
            say(p, &list[i]);
    }
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_buf_fini(&texts[i]);
}
