#include "codec/notation/version.h"
#include "probe/library/libimages.h"
#include "probe/library/libread.h"
#include "probe/library/loader.h"
#include "probe/library/toolkit.h"
#include "probe/root/clock.h"
#include "probe/root/probes.h"

#include <stdio.h>

/* One copy, as it is read. */
struct copy {
    struct lks_found found;
    struct lks_library library;
    struct lks_str value; /* the version; empty: not measured */
    struct lks_str note;  /* how the version is known, or why it is not */
    bool hole;            /* it is no file, as what removes one from the layers below */
};

struct libraries {
    struct lks_probe *p;
    struct lks_libcache cache;
    struct lks_libread reader;
    struct lks_loadables loader;
    struct lks_err loader_failed;
    struct copy *copies; /* of one kind of place after the other */
    size_t count;
    struct lks_findings layers; /* what was found in containers; no list: it failed */
    int64_t until;              /* when reading ends; 0: never */
    bool cut_short;
};

/* A text that lives as long as the probe; what does not fit into its memory is left empty. */
#define TEXT(l, ...) lks_arena_format((l)->p->arena, __VA_ARGS__)

static const char *terminated(struct lks_str s)
{
    return s.ptr != NULL ? s.ptr : "";
}

/* Versions ----------------------------------------------------------------------------------- */

/* What a library has inside may be less than its name says: the CUDA run time knows its 13.0, and
 * 13.0.96 stands in the name. Where the two agree the finer counts. */
static struct lks_str finest(const struct lks_library *lib)
{
    bool finer = lib->version.len > 0 && lib->named.len > lib->version.len &&
                 lks_version_covers(lib->version, lib->named);
    return finer ? lib->named : lib->version;
}

static struct lks_str how_known(struct libraries *l, const struct lks_library *lib)
{
    if (lib->version.len == 0)
        return lib->evidence;
    if (lks_str_is(lib->from, "name"))
        return TEXT(l, "by its name alone");
    struct lks_str how =
        TEXT(l, "%s%" LKS_STR_FMT "%s%" LKS_STR_FMT, lib->beside.len > 0 ? "in " : "",
             LKS_STR_ARG(lib->beside), lib->beside.len > 0 ? ": " : "", LKS_STR_ARG(lib->evidence));
    if (lib->named.len > 0 && !lks_version_covers(lib->version, lib->named))
        return TEXT(l, "%" LKS_STR_FMT ", though its name says %" LKS_STR_FMT, LKS_STR_ARG(how),
                    LKS_STR_ARG(lib->named));
    if (finest(lib).len > lib->version.len)
        return TEXT(l, "%" LKS_STR_FMT ", the rest by its name", LKS_STR_ARG(how));
    return how;
}

/* The system's own --------------------------------------------------------------------------- */

static void give(struct libraries *l, const char *component, const char *what, struct lks_str value,
                 const char *evidence)
{
    char name[LKS_READING_NAME_MAX];
    snprintf(name, sizeof(name), "%s%s", component, what);
    lks_probe_value(l->p, name, LKS_STR(""), LKS_STR(""), value, evidence);
}

static void give_sha256(struct libraries *l, const char *component, struct lks_str path)
{
    char name[LKS_READING_NAME_MAX], hash[LKS_SHA256_TEXT_SIZE];
    struct lks_err err;
    if (!l->p->options->libraries)
        return;
    if (lks_libread_sha256(&l->reader, path, hash, &err) == LKS_OK) {
        give(l, component, ".build.sha256", lks_str_from(hash), terminated(path));
        return;
    }
    snprintf(name, sizeof(name), "%s.build.sha256", component);
    lks_probe_unmeasured(l->p, name, LKS_STR(""), terminated(path), "%s", err.msg);
}

/* The file that `chosen` leads to, and what is in it. */
static enum lks_code read_chosen(struct libraries *l, const struct lks_loadable *chosen,
                                 struct lks_str *path, struct lks_library *lib, struct lks_err *err)
{
    char real[LKS_ROOT_PATH_MAX];
    *path = TEXT(l, "%" LKS_STR_FMT, LKS_STR_ARG(chosen->path));
    if (lks_root_real(l->p->root, terminated(*path), real, err) != LKS_OK)
        return err->code;
    *path = TEXT(l, "%s", real);
    return lks_libread(&l->reader, *path, *path, lib, err);
}

static void give_build(struct libraries *l, const char *component, struct lks_str path,
                       const struct lks_library *lib)
{
    if (lib->build_id.len > 0)
        give(l, component, ".build.build_id", lib->build_id, terminated(path));
    give_sha256(l, component, path);
}

static void give_library(struct libraries *l, const char *component,
                         const struct lks_loadable *chosen)
{
    struct lks_library lib = {0};
    struct lks_str path = {0};
    struct lks_err err;
    if (read_chosen(l, chosen, &path, &lib, &err) != LKS_OK) {
        lks_probe_unmeasured(l->p, component, LKS_STR(""), terminated(chosen->source), "%s",
                             err.msg);
        return;
    }
    struct lks_str how = how_known(l, &lib);
    struct lks_str evidence =
        TEXT(l, "%" LKS_STR_FMT ": %" LKS_STR_FMT "; by %" LKS_STR_FMT, LKS_STR_ARG(path),
             LKS_STR_ARG(how), LKS_STR_ARG(chosen->source));
    if (lib.version.len > 0)
        give(l, component, "", finest(&lib), terminated(evidence));
    else
        lks_probe_unmeasured(l->p, component, LKS_STR(""), terminated(path), "%" LKS_STR_FMT,
                             LKS_STR_ARG(how));
    give_build(l, component, path, &lib);
}

/* What a toolkit has of a library, in directories relative to it. */
static const struct lks_loadable *in_toolkit(struct libraries *l, struct lks_str dir,
                                             const char *const *inner, const char *stem)
{
    const char *dirs[8] = {NULL};
    struct lks_loadables found;
    struct lks_err err;
    LKS_ASSERT(inner[0] != NULL);
    for (size_t i = 0; inner[i] != NULL; i++) {
        LKS_ASSERT(i + 1 < LKS_COUNT(dirs));
        dirs[i] = terminated(TEXT(l, "%" LKS_STR_FMT "/%s", LKS_STR_ARG(dir), inner[i]));
    }
    if (lks_loader_dirs(l->p->root, l->p->arena, dirs[0], dirs, &found, &err) != LKS_OK)
        return NULL;
    return lks_loader_choose(&found, stem);
}

static const char *const cuda_dirs[] = {
    "lib64",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
    "targets/aarch64-linux/lib",
    "lib",
    NULL,
};
static const char *const compat_dirs[] = {"compat", "compat/lib.real", NULL};
static const char *const rocm_dirs[] = {"lib", "lib64", NULL};

static const struct {
    const char *component;
    const char *stem;
    const char *top, *toolkit; /* where it is when the loader was not told of it */
    const char *const *dirs;
} libraries[] = {
    {"nccl", "libnccl", "/usr/local", "cuda", cuda_dirs},
    {"cudnn", "libcudnn", "/usr/local", "cuda", cuda_dirs},
    {"rccl", "librccl", "/opt", "rocm", rocm_dirs},
    {"miopen", "libMIOpen", "/opt", "rocm", rocm_dirs},
};

static void give_libraries(struct libraries *l)
{
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        const char *component = libraries[i].component;
        const struct lks_loadable *chosen = lks_loader_choose(&l->loader, libraries[i].stem);
        struct lks_str dir;
        struct lks_err err;
        if (chosen == NULL && lks_toolkit_find(l->p->root, l->p->arena, libraries[i].top,
                                               libraries[i].toolkit, &dir, &err) == LKS_OK)
            chosen = in_toolkit(l, dir, libraries[i].dirs, libraries[i].stem);
        if (chosen != NULL)
            give_library(l, component, chosen);
        else if (l->loader_failed.code != LKS_OK)
            lks_probe_failed(l->p, component, LKS_STR(""), "/etc/ld.so.cache", &l->loader_failed);
        else
            lks_probe_absent(l->p, component, LKS_STR(""),
                             "/etc/ld.so.cache, default directories, toolkit");
    }
}

/* Releases of CUDA and of its run time are numbered apart (13.0.2 has 13.0.96), and people pin the
 * former: where nothing says which release it is, the number of the run time does not pass for it,
 * and it is the package's turn to say. `runtime` is that number where it was `read`, else why there
 * is none; empty: there is no run time. */
static void give_release(struct libraries *l, struct lks_str dir, struct lks_str path,
                         struct lks_str runtime, bool read)
{
    struct lks_toolkit_version release = {0};
    struct lks_err err = {0};
    enum lks_code code = LKS_E_NOT_FOUND;
    if (dir.len > 0)
        code = lks_toolkit_read(l->p->root, l->p->arena, dir, &release, &err);
    if (code == LKS_OK)
        give(l, "cuda", "", release.release, terminated(release.source));
    else if (code != LKS_E_NOT_FOUND)
        lks_probe_failed(l->p, "cuda", LKS_STR(""), terminated(dir), &err);
    else if (runtime.len > 0 && read)
        give(l, "cuda", ".runtime", runtime, terminated(path));
    else if (runtime.len > 0)
        lks_probe_unmeasured(l->p, "cuda", LKS_STR(""), terminated(path), "%" LKS_STR_FMT,
                             LKS_STR_ARG(runtime));
    else
        lks_probe_absent(l->p, "cuda", LKS_STR(""), terminated(dir));
}

/* 13.0 of "/usr/local/cuda-13.0"; empty where the directory does not say. */
static struct lks_str release_named(struct lks_str dir)
{
    static const char before[] = "/cuda-";
    ptrdiff_t at = lks_str_find(dir, LKS_STR("/cuda-"));
    if (at < 0)
        return LKS_STR("");
    size_t skip = (size_t)at + sizeof(before) - 1;
    struct lks_str number = {dir.ptr + skip, dir.len - skip};
    for (size_t i = 0; i < number.len; i++) {
        if ((number.ptr[i] < '0' || number.ptr[i] > '9') && number.ptr[i] != '.')
            return LKS_STR("");
    }
    return number;
}

/* The package is called by the CUDA release it is for, and so is it in a stack; the library in it
 * has the number of a driver. */
static void give_compat(struct libraries *l, struct lks_str dir)
{
    static const char name[] = "cuda-compat";
    const struct lks_loadable *compat =
        dir.len > 0 ? in_toolkit(l, dir, compat_dirs, "libcuda") : NULL;
    struct lks_library lib = {0};
    struct lks_str path = {0}, release = release_named(dir);
    struct lks_err err;
    if (compat == NULL) {
        lks_probe_absent(l->p, name, LKS_STR(""), "/usr/local/cuda/compat");
        return;
    }
    if (read_chosen(l, compat, &path, &lib, &err) != LKS_OK) {
        lks_probe_unmeasured(l->p, name, LKS_STR(""), terminated(compat->source), "%s", err.msg);
        return;
    }
    struct lks_str evidence = TEXT(l, "%" LKS_STR_FMT ": libcuda of %" LKS_STR_FMT,
                                   LKS_STR_ARG(path), LKS_STR_ARG(finest(&lib)));
    if (release.len > 0)
        give(l, name, "", release, terminated(evidence));
    else
        lks_probe_unmeasured(l->p, name, LKS_STR(""), terminated(evidence),
                             "its directory does not say for which CUDA it is");
    give_build(l, name, path, &lib);
}

/* The toolkit that counts, else the one of the run time that the loader finds. */
static void give_cuda(struct libraries *l)
{
    struct lks_probe *p = l->p;
    struct lks_str dir = {0}, path = {0}, number = {0};
    struct lks_library lib = {0};
    struct lks_err err = {0}, unread = {0};
    const struct lks_loadable *runtime = NULL;
    enum lks_code code = lks_toolkit_find(p->root, p->arena, "/usr/local", "cuda", &dir, &err);
    if (code == LKS_OK)
        runtime = in_toolkit(l, dir, cuda_dirs, "libcudart");
    if (runtime == NULL)
        runtime = lks_loader_choose(&l->loader, "libcudart");
    bool read = runtime != NULL && read_chosen(l, runtime, &path, &lib, &unread) == LKS_OK;
    if (runtime != NULL)
        number = !read                 ? lks_str_from(unread.msg)
                 : lib.version.len > 0 ? finest(&lib)
                                       : lib.evidence;
    if (code == LKS_OK || runtime != NULL)
        give_release(l, code == LKS_OK ? dir : lks_toolkit_of(path), path, number,
                     read && lib.version.len > 0);
    else
        lks_probe_failed(p, "cuda", LKS_STR(""), "/usr/local/cuda, /etc/ld.so.cache", &err);
    if (read)
        give_build(l, "cuda", path, &lib);
    give_compat(l, dir);
}

/* Copies ------------------------------------------------------------------------------------- */

/* Found by name without " (deleted)", which the kernel puts behind it. */
static struct lks_str name_of(const struct lks_found *found)
{
    ptrdiff_t at = lks_str_find(found->of, LKS_STR(" (deleted)"));
    return at < 0 ? found->of : (struct lks_str){found->of.ptr, (size_t)at};
}

static bool is_hole(struct libraries *l, struct lks_str path)
{
    struct lks_str text = TEXT(l, "%" LKS_STR_FMT, LKS_STR_ARG(path));
    struct stat st;
    struct lks_err err;
    return lks_root_stat(l->p->root, terminated(text), &st, &err) == LKS_OK && !S_ISREG(st.st_mode);
}

static void read_copy(struct libraries *l, struct copy *c)
{
    struct lks_err err;
    if (l->until > 0 && lks_clock_ms() > l->until) {
        c->note = LKS_STR("not read: the time of the search was up");
        l->cut_short = true;
    } else if (lks_libread(&l->reader, c->found.path, name_of(&c->found), &c->library, &err) ==
               LKS_OK) {
        c->value = finest(&c->library);
        c->note = how_known(l, &c->library);
    } else {
        c->hole = err.code == LKS_E_INVALID && is_hole(l, c->found.path);
        c->note = err.code == LKS_E_NOT_FOUND ? LKS_STR("it was gone when it was read")
                                              : TEXT(l, "%s", err.msg);
    }
}

/* A run time is known by the number of its toolkit where that says so. */
static void take_release(struct libraries *l, struct copy *c)
{
    struct lks_toolkit_version release;
    struct lks_err err;
    struct lks_str dir = lks_toolkit_of(c->found.path);
    if (c->value.len == 0 || !lks_str_is(c->found.name, "cuda") || dir.len == 0 ||
        lks_toolkit_read(l->p->root, l->p->arena, dir, &release, &err) != LKS_OK ||
        !lks_str_eq(release.runtime, c->library.named) || release.runtime.len == 0)
        return;
    c->value = release.release;
    c->note = TEXT(l, "%" LKS_STR_FMT " is the run time of %" LKS_STR_FMT,
                   LKS_STR_ARG(release.runtime), LKS_STR_ARG(release.source));
}

/* The same build of the run time is the same version, wherever it was copied to and however it is
 * called there: what one copy says of itself holds for the other. */
static void take_from_twin(struct libraries *l, struct copy *c)
{
    const struct copy *best = NULL;
    if (c->value.len == 0 || !lks_str_is(c->found.name, "cuda") || c->library.build_id.len == 0 ||
        !lks_str_eq(c->value, c->library.version))
        return;
    for (size_t i = 0; i < l->count; i++) {
        const struct copy *twin = &l->copies[i];
        if (lks_str_is(twin->found.name, "cuda") && twin->value.len > c->value.len &&
            lks_str_eq(twin->library.build_id, c->library.build_id) &&
            lks_version_covers(c->value, twin->value) &&
            (best == NULL || twin->found.kind < best->found.kind))
            best = twin;
    }
    if (best == NULL)
        return;
    c->value = best->value;
    c->note = TEXT(l, "%" LKS_STR_FMT ", the same build as %" LKS_STR_FMT, LKS_STR_ARG(c->note),
                   LKS_STR_ARG(best->found.of));
}

static void give_copy(struct libraries *l, const struct copy *c)
{
    const struct lks_found *f = &c->found;
    bool mapped = f->users.len > 0;
    struct lks_str name =
        TEXT(l, "%s.%" LKS_STR_FMT, f->shadow ? "shadow" : "copy", LKS_STR_ARG(f->name));
    struct lks_str evidence =
        TEXT(l, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(f->path),
             c->value.len ? ": " : "", c->value.len ? (int)c->note.len : 0, c->note.ptr,
             mapped ? "; mapped by " : "", LKS_STR_ARG(f->users));
    l->p->emit(l->p->ctx, &(struct lks_reading){
                              .name = name,
                              .of = f->of,
                              .part = lks_str_from(lks_libplace_kind_name(f->kind)),
                              .state = c->value.len > 0 ? LKS_MEASURED : LKS_UNMEASURED,
                              .value = c->value.len > 0 ? c->value : c->note,
                              .evidence = evidence,
                          });
}

/* Which build it is, so that an image can be held to one. */
static void give_copy_build(struct libraries *l, const struct copy *c)
{
    const struct lks_found *f = &c->found;
    if (f->shadow || c->library.build_id.len == 0)
        return;
    l->p->emit(l->p->ctx,
               &(struct lks_reading){
                   .name = TEXT(l, "copy.%" LKS_STR_FMT ".build_id", LKS_STR_ARG(f->name)),
                   .of = f->of,
                   .part = lks_str_from(lks_libplace_kind_name(f->kind)),
                   .state = LKS_MEASURED,
                   .value = c->library.build_id,
                   .evidence = f->path,
               });
}

static void give_left_out(struct libraries *l, const struct lks_findings *f)
{
    for (size_t i = 0; i < f->left_out_count; i++)
        lks_probe_value(l->p, "search.skipped", f->left_out[i].place, LKS_STR(""),
                        f->left_out[i].why, "library search");
}

/* A file counts for the first kind that has it: a toolkit stays one when the loader is told of it,
 * and processes are the last, as they tell again what was found before. */
static const enum lks_place_kind order[] = {LKS_PLACE_CUDA, LKS_PLACE_SYSTEM, LKS_PLACE_PYTHON,
                                            LKS_PLACE_CONTAINER, LKS_PLACE_PROCESS};

static bool room_for(struct libraries *l, const struct lks_findings f[LKS_PLACE_KIND_COUNT])
{
    size_t count = 0;
    for (size_t k = 0; k < LKS_COUNT(order); k++)
        count += f[k].count;
    l->copies = lks_arena_array(l->p->arena, count + 1, sizeof(*l->copies));
    return l->copies != NULL;
}

static void search(struct libraries *l)
{
    LKS_CLEANUP(lks_libsearch_fini) struct lks_libsearch s = {0};
    struct lks_walk_limits limits = lks_libsearch_limits;
    struct lks_findings f[LKS_COUNT(order)] = {{0}};
    struct lks_err err;
    int half = l->p->options->probe_ms / 2;
    if (half > 0 && half < limits.ms)
        limits.ms = half;
    lks_libsearch_init(&s, l->p->root, l->p->arena, &limits);
    for (size_t k = 0; k < LKS_COUNT(order); k++) {
        if (lks_libsearch_kind(&s, order[k], &f[k], &err) == LKS_OK)
            give_left_out(l, &f[k]);
        else
            lks_probe_unmeasured(l->p, "search.skipped",
                                 lks_str_from(lks_libplace_kind_name(order[k])), "library search",
                                 "%s", err.msg);
    }
    bool room = room_for(l, f);
    for (size_t k = 0; room && k < LKS_COUNT(order); k++) {
        if (order[k] == LKS_PLACE_CONTAINER)
            l->layers = f[k];
        for (size_t i = 0; i < f[k].count; i++)
            l->copies[l->count++] = (struct copy){.found = f[k].list[i]};
    }
    l->cut_short = l->cut_short || lks_libsearch_cut_short(&s);
}

/* The same copies once more, by the names of the images they are in. */
static void give_images(struct libraries *l)
{
    struct lks_image_copy *list = lks_arena_array(l->p->arena, l->count + 1, sizeof(*list));
    size_t count = 0;
    if (list == NULL || l->layers.list == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        const struct copy *c = &l->copies[i];
        if (c->found.kind == LKS_PLACE_CONTAINER && !c->found.shadow)
            list[count++] =
                (struct lks_image_copy){c->found.name, c->found.path, c->value, c->note, c->hole};
    }
    lks_libimages_tell(l->p, list, count, &l->layers);
}

static void give_copies(struct libraries *l)
{
    search(l);
    for (size_t i = 0; i < l->count; i++) {
        read_copy(l, &l->copies[i]);
        take_release(l, &l->copies[i]);
    }
    for (size_t i = 0; i < l->count; i++)
        take_from_twin(l, &l->copies[i]);
    for (size_t i = 0; i < l->count; i++) {
        give_copy(l, &l->copies[i]);
        give_copy_build(l, &l->copies[i]);
    }
    give_images(l);
}

/* All of it ---------------------------------------------------------------------------------- */

/* A cache that cannot be read or written costs time and nothing else, but it is said. */
static void keep_cache(struct libraries *l)
{
    const struct lks_probe_options *o = l->p->options;
    struct lks_err err;
    bool all = !o->libraries || l->cut_short; /* what was not asked for may still be there */
    if (l->reader.cache != NULL && l->cache.changed &&
        lks_libcache_save(&l->cache, o->cache, all, &err) != LKS_OK)
        lks_probe_value(l->p, "search.skipped", lks_str_from(o->cache), LKS_STR(""),
                        lks_str_from(err.msg), "library cache");
}

void lks_probe_libraries(struct lks_probe *p)
{
    struct libraries l = {.p = p, .reader = {.root = p->root, .arena = p->arena}};
    struct lks_err err;
    lks_libcache_init(&l.cache);
    if (p->options->cache != NULL && p->root->live) {
        l.reader.cache = &l.cache;
        l.cache.changed = lks_libcache_load(&l.cache, p->options->cache, &err) != LKS_OK;
    }
    if (p->options->probe_ms > 0)
        l.until = lks_clock_ms() + (int64_t)p->options->probe_ms * 3 / 4;
    if (lks_loader_read(p->root, p->arena, &l.loader, &err) != LKS_OK)
        l.loader_failed = err;
    give_libraries(&l);
    give_cuda(&l);
    if (p->options->libraries)
        give_copies(&l);
    else
        lks_probe_value(p, "search.skipped", LKS_STR("all places"), LKS_STR(""),
                        LKS_STR("not asked for"), "library search");
    keep_cache(&l);
    lks_libcache_fini(&l.cache);
}
