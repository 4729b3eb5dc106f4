#include "probe/package/packages.h"

#include "codec/notation/glob.h"
#include "codec/notation/version.h"
#include "codec/package/dpkg.h"

#include <stdio.h>

enum { NAMES_MAX = 16 * 1024 * 1024 };

#define DPKG_DIR "/var/lib/dpkg"

struct reader {
    lks_installed_fn *fn;
    void *ctx;
    struct lks_dpkg dpkg;
    size_t count;
};

static void hand_on(void *ctx, const struct lks_dpkg_package *p)
{
    struct reader *r = ctx;
    struct lks_str epoch, rest;
    struct lks_installed i = {
        .name = p->name,
        .version = p->version,
        .upstream = lks_version_upstream(p->version),
        .full = lks_str_cut(p->version, ':', &epoch, &rest) ? rest : p->version,
        .state = lks_str_is(p->flag, "reinstreq") ? p->flag : p->state,
        .held = lks_str_is(p->want, "hold"),
        .fault = p->fault,
    };
    if (++r->count <= LKS_PACKAGES_MAX)
        r->fn(r->ctx, &i);
}

static bool feed(void *ctx, struct lks_str bytes)
{
    struct reader *r = ctx;
    lks_dpkg_feed(&r->dpkg, bytes);
    return r->count <= LKS_PACKAGES_MAX;
}

static enum lks_code read_one(struct lks_root *root, const char *path, bool bare, struct reader *r,
                              struct lks_err *err)
{
    lks_dpkg_init(&r->dpkg, bare, hand_on, r);
    enum lks_code code = lks_root_stream(root, path, LKS_PACKAGES_DPKG_MAX, feed, r, err);
    if (code == LKS_OK)
        lks_dpkg_end(&r->dpkg);
    if (code == LKS_OK && r->count > LKS_PACKAGES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: more than %d packages", path, LKS_PACKAGES_MAX);
    return code;
}

static bool is_number(struct lks_str name)
{
    uint64_t number;
    return lks_str_number(name, UINT32_MAX, &number);
}

static bool is_paragraph(struct lks_str name)
{
    return !lks_str_ends(name, ".md5sums");
}

/* The files of a directory that `wanted` says true of; none where there is no such directory. */
static enum lks_code read_dir(struct lks_root *root, const char *dir,
                              bool (*wanted)(struct lks_str name), struct reader *r, size_t *files,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names = {0};
    lks_arena_init(&arena, NAMES_MAX);
    enum lks_code code = lks_root_list(root, dir, &arena, &names, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    for (size_t i = 0; i < names.count && code == LKS_OK; i++) {
        if (!wanted(names.list[i]))
            continue;
        char path[LKS_ROOT_PATH_MAX];
        snprintf(path, sizeof(path), "%s/%" LKS_STR_FMT, dir, LKS_STR_ARG(names.list[i]));
        code = read_one(root, path, true, r, err);
        (*files)++;
    }
    return code;
}

/* The status file, and what dpkg did since it last wrote it: an upgrade in progress, or one that
 * was cut short. Images without dpkg have a directory of paragraphs instead. */
enum lks_code lks_packages_dpkg(struct lks_root *root, lks_installed_fn *fn, void *ctx,
                                char where[LKS_ROOT_PATH_MAX], struct lks_err *err)
{
    struct reader r = {.fn = fn, .ctx = ctx};
    size_t files = 0;
    snprintf(where, LKS_ROOT_PATH_MAX, DPKG_DIR "/status");
    enum lks_code code = read_one(root, DPKG_DIR "/status", false, &r, err);
    bool there = code == LKS_OK;
    if (there)
        code = read_dir(root, DPKG_DIR "/updates", is_number, &r, &files, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    files = 0;
    code = read_dir(root, DPKG_DIR "/status.d", is_paragraph, &r, &files, err);
    if (code == LKS_OK && !there && files == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, DPKG_DIR "/status: not there");
    if (!there)
        snprintf(where, LKS_ROOT_PATH_MAX, DPKG_DIR "/status.d");
    return code;
}

/* Two digits a part, the last of four being a build that is left out where it is nought. */
bool lks_packages_release(struct lks_str upstream, char out[LKS_PACKAGES_RELEASE_SIZE])
{
    struct lks_str part = {0}, rest = upstream;
    for (int i = 0; i < 4; i++)
        (void)lks_str_cut(rest, '.', &part, &rest);
    uint64_t code;
    if (part.len < 5 || part.len > 8 || rest.len > 0 || !lks_str_number(part, UINT32_MAX, &code))
        return false;
    unsigned parts[4] = {0}, count = part.len > 6 ? 4 : 3;
    for (unsigned i = count; i > 0; i--, code /= 100)
        parts[i - 1] = (unsigned)(code % 100);
    int len = snprintf(out, LKS_PACKAGES_RELEASE_SIZE, "%u.%u.%u", parts[0], parts[1], parts[2]);
    if (parts[3] != 0)
        snprintf(out + len, LKS_PACKAGES_RELEASE_SIZE - (size_t)len, ".%u", parts[3]);
    return true;
}

const struct lks_package_kind *lks_packages_kind(const struct lks_facts *facts, const char *manager,
                                                 struct lks_str name)
{
    for (size_t i = 0; i < facts->packages.count; i++) {
        const struct lks_package_kind *kind = &facts->packages.rows[i];
        if (lks_glob_match(kind->pattern, name) && lks_str_is(kind->manager, manager))
            return kind; /* most names fail at their first letter */
    }
    return NULL;
}
