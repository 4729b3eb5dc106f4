/* COMPONENT.package: which version the package manager says is installed.
 *
 * Several packages may tell of one component, and then they should agree. Where they do not, the
 * node's value is the one a link of the system leads to (as /usr/local/cuda does), else the
 * highest, and every other version is a reading of its own, of "package NAME". A package that dpkg
 * has not finished with makes the component unmeasured: neither the old nor the new version is
 * really there. */
#include "probe/package/packages.h"
#include "probe/package/packages_log.h"
#include "probe/root/probe.h"
#include "probe/root/probes.h"

#include <stdio.h>

enum { FOUND_MAX = 4096, EVIDENCE_SIZE = 2048, NAME_SIZE = 128, VALUE_SIZE = 256 };

/* A package that tells of a component. */
struct found {
    const struct lks_package_kind *kind;
    struct lks_str name, version, state; /* of the probe's arena */
    struct lks_str value;                /* empty: the version does not say what it should */
};

/* One package manager. */
struct manager {
    const char *name;
    lks_packages_read *read;
    enum lks_code code;
    struct lks_err err;
    char where[LKS_ROOT_PATH_MAX];
    bool damaged; /* an entry whose package is not known */
    char damage[LKS_ERR_MSG_MAX];
};

struct collector {
    struct lks_probe *p;
    struct manager *manager; /* being read */
    struct found *found;
    size_t count;
    bool full;
};

/* What a version says ------------------------------------------------------------------------ */

/* The first `n` numbers of a version, or all of it where it has fewer. */
static struct lks_str first_numbers(struct lks_str version, size_t n)
{
    for (size_t i = 0; i < version.len; i++) {
        if (version.ptr[i] == '.' && --n == 0)
            version.len = i;
    }
    return version;
}

/* cuda-compat-13-0, of the pattern cuda-compat-#-#, is 13.0. */
static struct lks_str numbers_of(struct lks_arena *arena, struct lks_str pattern,
                                 struct lks_str name)
{
    ptrdiff_t at = lks_str_find(pattern, LKS_STR("#"));
    if (at < 0)
        return LKS_STR("");
    char text[NAME_SIZE];
    snprintf(text, sizeof(text), "%" LKS_STR_FMT, (int)name.len - (int)at, name.ptr + at);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '-' ? '.' : *c;
    return lks_arena_copy(arena, lks_str_from(text));
}

static struct lks_str value_of(struct lks_arena *arena, const struct lks_package_kind *kind,
                               const struct lks_installed *i)
{
    char release[LKS_PACKAGES_RELEASE_SIZE] = "";
    switch (kind->says) {
    case LKS_SAYS_VERSION:
        return lks_arena_copy(arena, i->upstream);
    case LKS_SAYS_FULL:
        return lks_arena_copy(arena, i->full);
    case LKS_SAYS_THREE:
        return lks_arena_copy(arena, first_numbers(i->upstream, 3));
    case LKS_SAYS_TWO:
        return lks_arena_copy(arena, first_numbers(i->upstream, 2));
    case LKS_SAYS_NAME:
        return numbers_of(arena, kind->pattern, i->name);
    case LKS_SAYS_CODE:
        (void)lks_packages_release(i->upstream, release);
        return lks_arena_copy(arena, lks_str_from(release));
    }
    return LKS_STR("");
}

/* Collecting --------------------------------------------------------------------------------- */

static bool is_gone(const struct lks_installed *i)
{
    return lks_str_is(i->state, "not-installed") || lks_str_is(i->state, "config-files");
}

/* A place for the package: a new one, or its own where dpkg's later word replaces an earlier. */
static struct found *place_for(struct collector *c, const struct lks_package_kind *kind,
                               struct lks_str name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->found[i].kind == kind && lks_str_eq(c->found[i].name, name) &&
            lks_str_is(kind->manager, "dpkg"))
            return &c->found[i];
    }
    c->full = c->full || c->count == FOUND_MAX;
    return c->full ? NULL : &c->found[c->count++];
}

static void take(void *ctx, const struct lks_installed *i)
{
    struct collector *c = ctx;
    if (i->name.len == 0) {
        c->manager->damaged = true;
        snprintf(c->manager->damage, sizeof(c->manager->damage), "an entry of %.300s %s",
                 c->manager->where, i->fault != NULL ? i->fault : "has no name");
        return;
    }
    const struct lks_package_kind *kind = lks_packages_kind(c->p->facts, c->manager->name, i->name);
    struct found *f = kind != NULL ? place_for(c, kind, i->name) : NULL;
    if (f == NULL)
        return;
    struct lks_arena *arena = c->p->arena;
    *f = (struct found){
        .kind = kind,
        .name = lks_arena_copy(arena, i->name),
        .version = lks_arena_copy(arena, i->version),
        .state = i->fault != NULL ? lks_arena_format(arena, "damaged: %s", i->fault)
                                  : lks_arena_copy(arena, i->state),
        .value = i->fault == NULL && !is_gone(i) ? value_of(arena, kind, i) : LKS_STR(""),
    };
    c->full = c->full || f->name.ptr == NULL || f->version.ptr == NULL || f->state.ptr == NULL ||
              f->value.ptr == NULL;
    if (is_gone(i) && i->fault == NULL)
        f->kind = NULL; /* as if it had never been there */
}

static void read_manager(struct collector *c, struct manager *m)
{
    size_t before = c->count;
    c->manager = m;
    m->code = m->read(c->p->root, take, c, m->where, &m->err);
    if (m->code == LKS_OK && c->full)
        m->code = lks_fail(&m->err, LKS_E_LIMIT, "more than %d packages that matter", FOUND_MAX);
    if (m->code != LKS_OK)
        c->count = before; /* a part of a database says nothing */
}

/* Saying ------------------------------------------------------------------------------------- */

/* What tells of one component. */
struct subject {
    struct lks_probe *p;
    const struct lks_component_kind *component;
    const struct found *list[FOUND_MAX];
    size_t count;
    char name[NAME_SIZE]; /* "nccl.package" */
};

static void pick(const struct collector *c, struct subject *s)
{
    bool others = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct found *f = &c->found[i];
        others = others || (f->kind != NULL && !f->kind->alone &&
                            lks_str_eq(f->kind->component, s->component->name));
    }
    s->count = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct found *f = &c->found[i];
        if (f->kind != NULL && lks_str_eq(f->kind->component, s->component->name) &&
            !(others && f->kind->alone))
            s->list[s->count++] = f;
    }
}

static void add_evidence(char evidence[EVIDENCE_SIZE], const struct found *f)
{
    size_t len = strlen(evidence);
    snprintf(evidence + len, EVIDENCE_SIZE - len,
             "%s%" LKS_STR_FMT " %" LKS_STR_FMT " %" LKS_STR_FMT, len > 0 ? "; " : "",
             LKS_STR_ARG(f->kind->manager), LKS_STR_ARG(f->name), LKS_STR_ARG(f->version));
}

/* The first that is not plainly installed, or does not say a version. */
static const struct found *unsettled(const struct subject *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!lks_str_is(s->list[i]->state, "installed") || s->list[i]->value.len == 0)
            return s->list[i];
    }
    return NULL;
}

static void say_unsettled(const struct subject *s, const struct found *f)
{
    char evidence[EVIDENCE_SIZE] = "";
    for (size_t i = 0; i < s->count; i++)
        add_evidence(evidence, s->list[i]);
    bool installed = lks_str_is(f->state, "installed");
    lks_probe_unmeasured(s->p, s->name, LKS_STR(""), evidence,
                         "%" LKS_STR_FMT " %" LKS_STR_FMT " %s%" LKS_STR_FMT, LKS_STR_ARG(f->name),
                         LKS_STR_ARG(f->version),
                         installed ? "does not say a version of the component" : "is ",
                         LKS_STR_ARG(installed ? LKS_STR("") : f->state));
}

/* "/usr/local/cuda-13.0" of "/usr/local/cuda" is 13.0; nothing where it leads nowhere such. */
static struct lks_str linked_version(struct lks_probe *p, struct lks_str link)
{
    char path[LKS_ROOT_PATH_MAX], real[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(link));
    if (link.len == 0 || lks_root_real(p->root, path, real, &err) != LKS_OK)
        return LKS_STR("");
    const char *dash = strrchr(real, '-');
    struct lks_str version = lks_str_from(dash != NULL ? dash + 1 : "");
    return lks_version_valid(version, LKS_VERSION_DOTTED) ? lks_arena_copy(p->arena, version)
                                                          : LKS_STR("");
}

static const struct found *choose(const struct subject *s)
{
    const struct found *best = s->list[0];
    struct lks_str linked = LKS_STR("");
    for (size_t i = 0; i < s->count && linked.len == 0; i++)
        linked = linked_version(s->p, s->list[i]->kind->link);
    bool best_linked = lks_version_covers(linked, best->value);
    for (size_t i = 1; i < s->count; i++) {
        const struct found *f = s->list[i];
        bool is_linked = lks_version_covers(linked, f->value);
        int order = lks_version_cmp(f->value, best->value, s->component->scheme);
        if (is_linked != best_linked ? is_linked : order > 0) {
            best = f;
            best_linked = is_linked;
        }
    }
    return best;
}

static void say_value(const struct subject *s)
{
    const struct found *best = choose(s);
    char evidence[EVIDENCE_SIZE] = "";
    add_evidence(evidence, best);
    for (size_t i = 0; i < s->count; i++) {
        const struct found *f = s->list[i];
        if (lks_str_eq(f->value, best->value))
            continue;
        char other[EVIDENCE_SIZE] = "", of[NAME_SIZE];
        add_evidence(evidence, f);
        add_evidence(other, f);
        snprintf(of, sizeof(of), "package %" LKS_STR_FMT, LKS_STR_ARG(f->name));
        lks_probe_value(s->p, s->name, lks_str_from(of), LKS_STR(""), f->value, other);
    }
    lks_probe_value(s->p, s->name, LKS_STR(""), LKS_STR(""), best->value, evidence);
}

static bool tells_of(const struct lks_facts *facts, const char *manager, struct lks_str component)
{
    for (size_t i = 0; i < facts->packages.count; i++) {
        const struct lks_package_kind *kind = &facts->packages.rows[i];
        if (lks_str_is(kind->manager, manager) && lks_str_eq(kind->component, component))
            return true;
    }
    return false;
}

/* No package tells of it. Whether that is an answer depends on the databases. */
static void say_nothing(const struct subject *s, const struct manager *managers, size_t count)
{
    char evidence[EVIDENCE_SIZE] = "";
    for (size_t i = 0; i < count; i++) {
        const struct manager *m = &managers[i];
        if (m->code == LKS_E_NOT_FOUND || !tells_of(s->p->facts, m->name, s->component->name))
            continue;
        if (m->code != LKS_OK || m->damaged) {
            lks_probe_unmeasured(s->p, s->name, LKS_STR(""), m->where, "%s",
                                 m->code != LKS_OK ? m->err.msg : m->damage);
            return;
        }
        size_t len = strlen(evidence);
        snprintf(evidence + len, sizeof(evidence) - len, "%s%.500s", len > 0 ? ", " : "", m->where);
    }
    lks_probe_absent(s->p, s->name, LKS_STR(""),
                     evidence[0] != '\0' ? evidence : "no package database");
}

static void say(struct subject *s, const struct collector *c, const struct manager *managers,
                size_t count)
{
    snprintf(s->name, sizeof(s->name), "%" LKS_STR_FMT ".package", LKS_STR_ARG(s->component->name));
    pick(c, s);
    const struct found *f = unsettled(s);
    if (s->count == 0)
        say_nothing(s, managers, count);
    else if (f != NULL)
        say_unsettled(s, f);
    else
        say_value(s);
}

void lks_probe_packages(struct lks_probe *p)
{
    struct manager managers[] = {{.name = "dpkg", .read = lks_packages_dpkg},
                                 {.name = "rpm", .read = lks_packages_rpm}};
    struct collector c = {.p = p,
                          .found = lks_arena_array(p->arena, FOUND_MAX, sizeof(struct found))};
    struct subject *s = lks_arena_alloc(p->arena, sizeof(*s));
    c.full = c.found == NULL || s == NULL;
    for (size_t i = 0; i < LKS_COUNT(managers) && !c.full; i++)
        read_manager(&c, &managers[i]);
    for (size_t i = 0; i < p->facts->components.count && s != NULL; i++) {
        const struct lks_component_kind *component = &p->facts->components.rows[i];
        if (!tells_of(p->facts, "dpkg", component->name) &&
            !tells_of(p->facts, "rpm", component->name))
            continue;
        *s = (struct subject){.p = p, .component = component};
        say(s, &c, managers, LKS_COUNT(managers));
    }
    lks_packages_logs(p);
}
