#include "probe/library/toolkit.h"

#include "codec/format/json.h"
#include "codec/notation/version.h"
#include "probe/library/libwalk.h"

#include <stdio.h>

#define VERSION_BYTES_MAX 65536

/* "cuda-13.0", "rocm-6.4.1": the name, a dash and a number. */
static bool is_numbered(struct lks_str entry, const char *name)
{
    size_t len = strlen(name);
    return entry.len > len + 1 && lks_str_starts(entry, name) && entry.ptr[len] == '-' &&
           entry.ptr[len + 1] >= '0' && entry.ptr[len + 1] <= '9';
}

struct question {
    struct lks_root *root;
    const char *top, *name;
};

static enum lks_code find_only(const struct question *q, char out[LKS_ROOT_PATH_MAX],
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names;
    struct lks_str only = {0};
    lks_arena_init(&arena, LKS_ROOT_NAMES_MAX);
    if (lks_root_list(q->root, q->top, &arena, &names, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < names.count; i++) {
        if (!is_numbered(names.list[i], q->name))
            continue;
        if (only.len > 0)
            return lks_fail(err, LKS_E_REFUSED,
                            "%s has %" LKS_STR_FMT " and %" LKS_STR_FMT
                            ", and no link %s/%s says which counts",
                            q->top, LKS_STR_ARG(only), LKS_STR_ARG(names.list[i]), q->top, q->name);
        only = names.list[i];
    }
    if (only.len == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s has no %s-NUMBER", q->top, q->name);
    char path[LKS_ROOT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%" LKS_STR_FMT, q->top, LKS_STR_ARG(only));
    return lks_root_real(q->root, path, out, err);
}

static enum lks_code find_now(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct question *q = ctx;
    char path[LKS_ROOT_PATH_MAX], real[LKS_ROOT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", q->top, q->name);
    enum lks_code code = lks_root_real(q->root, path, real, err);
    if (code == LKS_E_NOT_FOUND)
        code = find_only(q, real, err);
    if (code == LKS_OK)
        lks_buf_add(out, lks_str_from(real));
    return code;
}

enum lks_code lks_toolkit_find(struct lks_root *root, struct lks_arena *arena, const char *top,
                               const char *name, struct lks_str *dir, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF(LKS_ROOT_PATH_MAX);
    struct question q = {root, top, name};
    char key[LKS_ROOT_PATH_MAX];
    snprintf(key, sizeof(key), "%s/%s", top, name);
    if (lks_libwalk_ask(root, "toolkit", key, find_now, &q, &path, err) != LKS_OK)
        return err->code;
    *dir = lks_arena_copy(arena, lks_buf_view(&path));
    return dir->ptr != NULL ? LKS_OK : lks_arena_fail(arena, err);
}

/* {"cuda": {"name": "CUDA SDK", "version": "13.0.2"}, "cuda_cudart": {...}, ...} */
static enum lks_code parse_json(struct lks_str text, const char *path, struct lks_arena *arena,
                                struct lks_toolkit_version *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, path, err) != LKS_OK || lks_json_parse(text, &docs, err) != LKS_OK)
        return err->code;
    struct lks_str release = lks_doc_text(lks_doc_member(docs.first, "cuda"), "version");
    struct lks_str runtime = lks_doc_text(lks_doc_member(docs.first, "cuda_cudart"), "version");
    out->release = lks_arena_copy(arena, release);
    out->runtime = lks_arena_copy(arena, runtime);
    if (out->release.ptr == NULL || out->runtime.ptr == NULL)
        return lks_arena_fail(arena, err);
    return LKS_OK;
}

/* "CUDA Version 10.2.89" */
static enum lks_code parse_text(struct lks_str text, const char *path, struct lks_arena *arena,
                                struct lks_toolkit_version *out, struct lks_err *err)
{
    const char before[] = "CUDA Version ";
    struct lks_str line, rest;
    (void)lks_str_cut(text, '\n', &line, &rest);
    if (!lks_str_starts(line, before))
        return lks_fail(err, LKS_E_INVALID, "%s: does not start with '%s'", path, before);
    size_t len = sizeof(before) - 1;
    out->release =
        lks_arena_copy(arena, lks_str_trim((struct lks_str){line.ptr + len, line.len - len}));
    return out->release.ptr != NULL ? LKS_OK : lks_arena_fail(arena, err);
}

static const struct {
    const char *name;
    enum lks_code (*parse)(struct lks_str text, const char *path, struct lks_arena *arena,
                           struct lks_toolkit_version *out, struct lks_err *err);
} sources[] = {{"version.json", parse_json}, {"version.txt", parse_text}};

enum lks_code lks_toolkit_read(struct lks_root *root, struct lks_arena *arena, struct lks_str dir,
                               struct lks_toolkit_version *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(VERSION_BYTES_MAX);
    struct lks_toolkit_version t = {0};
    enum lks_code code = LKS_E_NOT_FOUND;
    size_t i = 0;
    for (; code == LKS_E_NOT_FOUND && i < LKS_COUNT(sources); i++) {
        t.source =
            lks_arena_format(arena, "%" LKS_STR_FMT "/%s", LKS_STR_ARG(dir), sources[i].name);
        if (t.source.ptr == NULL)
            return lks_arena_fail(arena, err);
        code = lks_root_read(root, t.source.ptr, VERSION_BYTES_MAX, &text, err);
    }
    if (code != LKS_OK)
        return code;
    if (sources[i - 1].parse(lks_buf_view(&text), t.source.ptr, arena, &t, err) != LKS_OK)
        return err->code;
    if (!lks_version_valid(t.release, LKS_VERSION_DOTTED))
        return lks_fail(err, LKS_E_INVALID, "%s: names no version of CUDA", t.source.ptr);
    *out = t;
    return LKS_OK;
}

/* Take the last part off `path` and say what it was. */
static struct lks_str take_last(struct lks_str *path)
{
    struct lks_str last = lks_str_last(*path, '/');
    path->len -= last.len + (last.len < path->len);
    return last;
}

struct lks_str lks_toolkit_of(struct lks_str path)
{
    (void)take_last(&path);
    struct lks_str lib = take_last(&path), up = path;
    if (!lks_str_is(lib, "lib") && !lks_str_is(lib, "lib64"))
        return (struct lks_str){0};
    (void)take_last(&up);
    if (lks_str_is(take_last(&up), "targets"))
        return up;
    return path;
}
