#include "lab/agent/simulated.h"

#include "model/tuple/figures.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "drivers/depot/depot_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 256 };

/* Files of the tree -------------------------------------------------------------------------- */

static enum lks_code place(const char *root, const char *path, char out[PATH_MAX],
                           struct lks_err *err)
{
    if (path[0] != '/' || strstr(path, "/..") != NULL ||
        snprintf(out, PATH_MAX, "%s%s", root, path) >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "'%.100s' is no path of a machine", path);
    return LKS_OK;
}

/* Directories above it, and none of them somewhere else. */
static enum lks_code make_parents(const char *root, char path[PATH_MAX], struct lks_err *err)
{
    struct stat st;
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        bool there = lstat(path, &st) == 0 || (mkdir(path, 0755) == 0 && lstat(path, &st) == 0);
        enum lks_code code = there && S_ISDIR(st.st_mode)
                                 ? LKS_OK
                                 : lks_fail(err, LKS_E_INVALID, "%s: not a directory", path);
        *at = '/';
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

enum lks_code lks_simulated_read(const char *root, const char *path, struct lks_buf *out,
                                 struct lks_err *err)
{
    char full[PATH_MAX];
    lks_buf_init(out, LKS_SIMULATED_MAX);
    if (place(root, path, full, err) != LKS_OK)
        return err->code;
    return lks_file_read_plain(full, out, err);
}

enum lks_code lks_simulated_write(const char *root, const char *path, struct lks_str bytes,
                                  struct lks_err *err)
{
    char full[PATH_MAX];
    if (place(root, path, full, err) != LKS_OK || make_parents(root, full, err) != LKS_OK)
        return err->code;
    return lks_file_replace(full, bytes, err);
}

static enum lks_code remove_file(const char *root, const char *path, struct lks_err *err)
{
    char full[PATH_MAX];
    if (place(root, path, full, err) != LKS_OK)
        return err->code;
    return unlink(full) == 0 || errno == ENOENT || errno == ENOTDIR ? LKS_OK
                                                                    : lks_file_fail(err, full);
}

static struct lks_str first_line(const char *root, const char *path, struct lks_buf *keep)
{
    struct lks_err ignored = {0};
    struct lks_str line, rest;
    if (lks_simulated_read(root, path, keep, &ignored) != LKS_OK)
        return LKS_STR("");
    lks_str_cut(lks_buf_view(keep), '\n', &line, &rest);
    return lks_str_trim(line);
}

/* Artifacts ---------------------------------------------------------------------------------- */

static enum lks_code read_artifact(const struct lks_depot *depot, struct lks_str digest,
                                   struct lks_buf *out, struct lks_err *err)
{
    char name[LKS_DIGEST_SIZE];
    uint64_t size = 0;
    int fd = -1;
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(digest));
    lks_buf_init(out, LKS_SIMULATED_MAX);
    if (lks_depot_find(depot, name, &fd, &size, err) != LKS_OK)
        return err->code;
    enum lks_code code =
        size <= LKS_SIMULATED_MAX
            ? LKS_OK
            : lks_fail(err, LKS_E_LIMIT, "%s: larger than %zu bytes", name, LKS_SIMULATED_MAX);
    for (uint64_t at = 0; code == LKS_OK && at < size; at += LKS_DEPOT_SLICE) {
        uint64_t left = size - at;
        code = lks_depot_read(fd, at, left < LKS_DEPOT_SLICE ? (size_t)left : LKS_DEPOT_SLICE, out,
                              err);
    }
    (void)close(fd);
    if (code != LKS_OK)
        return code;
    char is[LKS_DIGEST_SIZE];
    if (lks_digest_text(lks_buf_view(out), is, err) != LKS_OK)
        return err->code;
    return lks_str_is(digest, is) ? LKS_OK
                                  : lks_fail(err, LKS_E_INVALID, "%s: has another digest", name);
}

static bool has_word(const struct lks_doc *list, struct lks_str word)
{
    bool listed = list != NULL && list->kind == LKS_DOC_LIST;
    for (const struct lks_doc *d = listed ? list->first : NULL; d != NULL; d = d->next) {
        if (word.len > 0 && lks_str_eq(d->text, word))
            return true;
    }
    return false;
}

static size_t replace_all(struct lks_str text, struct lks_str from, struct lks_str to,
                          struct lks_buf *out)
{
    size_t count = 0;
    for (ptrdiff_t at; from.len > 0 && (at = lks_str_find(text, from)) >= 0; count++) {
        lks_buf_add(out, (struct lks_str){text.ptr, (size_t)at});
        lks_buf_add(out, to);
        size_t skip = (size_t)at + from.len;
        text = (struct lks_str){text.ptr + skip, text.len - skip};
    }
    lks_buf_add(out, text);
    return count;
}

/* One that says `to` already is as it should be. */
static enum lks_code edit(const char *root, const char *path, struct lks_str from,
                          struct lks_str to, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = LKS_BUF(LKS_SIMULATED_MAX);
    if (lks_simulated_read(root, path, &text, err) != LKS_OK)
        return err->code;
    if (replace_all(lks_buf_view(&text), from, to, &after) == 0)
        return to.len > 0 && lks_str_find(lks_buf_view(&text), to) >= 0
                   ? LKS_OK
                   : lks_fail(err, LKS_E_REFUSED, "%s has no '%.60s'", path,
                              from.len > 0 ? from.ptr : "");
    if (lks_buf_check(&after, err) != LKS_OK)
        return err->code;
    return lks_simulated_write(root, path, lks_buf_view(&after), err);
}

static enum lks_code change_file(const char *root, const struct lks_doc *file, bool goes,
                                 struct lks_err *err)
{
    char path[PATH_MAX];
    if (file->key.len >= sizeof(path))
        return lks_fail(err, LKS_E_INVALID, "a path is too long");
    snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(file->key));
    struct lks_str from = lks_doc_text(file, "from"), to = lks_doc_text(file, "to");
    if (file->kind == LKS_DOC_MAP)
        return goes ? edit(root, path, to, from, err) : edit(root, path, from, to, err);
    if (file->kind == LKS_DOC_TEXT && !goes)
        return lks_simulated_write(root, path, file->text, err);
    return remove_file(root, path, err);
}

/* What does not work here stands in the tree until something else is there in its place. */
static enum lks_code mark(const char *root, const struct lks_order_item *item, bool broken,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf keep = {0};
    char line[LINE_MAX_BYTES];
    struct lks_str before = first_line(root, LKS_SIMULATED_BROKEN, &keep), component, rest;
    lks_str_cut(before, ' ', &component, &rest);
    if (!broken)
        return lks_str_eq(component, item->component) ? remove_file(root, LKS_SIMULATED_BROKEN, err)
                                                      : LKS_OK;
    snprintf(line, sizeof(line), "%" LKS_STR_FMT " %" LKS_STR_FMT "\n",
             LKS_STR_ARG(item->component), LKS_STR_ARG(item->value));
    return lks_simulated_write(root, LKS_SIMULATED_BROKEN, lks_str_from(line), err);
}

static enum lks_code install(const char *root, const struct lks_depot *depot,
                             const struct lks_order_item *item, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf keep = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    bool goes = item->value.len == 0;
    if (read_artifact(depot, item->digest, &bytes, err) != LKS_OK ||
        lks_docs_init(&docs, "artifact", err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&bytes), &docs, err) != LKS_OK)
        return err->code;
    struct lks_str revision = first_line(root, LKS_SIMULATED_REVISION, &keep);
    if (!goes && has_word(lks_doc_member(docs.first, "fails_on"), revision))
        return lks_fail(err, LKS_E_REFUSED, "it cannot be installed on revision %" LKS_STR_FMT,
                        LKS_STR_ARG(revision));
    const struct lks_doc *files = lks_doc_member(docs.first, "files");
    bool listed = files != NULL && files->kind == LKS_DOC_MAP;
    for (const struct lks_doc *f = listed ? files->first : NULL; f != NULL; f = f->next) {
        if (change_file(root, f, goes, err) != LKS_OK)
            return err->code;
    }
    return mark(root, item, !goes && has_word(lks_doc_member(docs.first, "breaks_on"), revision),
                err);
}

/* Orders ------------------------------------------------------------------------------------- */

static enum lks_code carry_out(const char *root, const struct lks_depot *depot,
                               const struct lks_envelope *e, size_t *count, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_order order = {0};
    if (e->digest_count == 0)
        return lks_fail(err, LKS_E_INVALID, "the command names no order");
    if (read_artifact(depot, lks_str_from(e->digests[0]), &bytes, err) != LKS_OK ||
        lks_docs_init(&docs, "order", err) != LKS_OK ||
        lks_order_parse(lks_buf_view(&bytes), "order", &docs, &order, err) != LKS_OK)
        return err->code;
    if (strcmp(lks_order_words[order.kind], e->executor) != 0)
        return lks_fail(err, LKS_E_INVALID, "the order is for executor %s",
                        lks_order_words[order.kind]);
    for (size_t i = 0; i < order.count; i++) {
        const struct lks_order_item *item = &order.items[i];
        enum lks_code code = LKS_OK;
        if (item->digest.len > 0)
            code = install(root, depot, item, err);
        else if (order.kind == LKS_ORDER_SETTINGS)
            code = lks_simulated_setting(root, item, err);
        if (code != LKS_OK)
            return lks_wrap(err, "%.*s %.*s", LKS_STR_ARG(item->component),
                            LKS_STR_ARG(item->value));
    }
    *count = order.count;
    return LKS_OK;
}

enum lks_outcome lks_simulated_order(const char *root, const char *depot,
                                     const struct lks_envelope *e, struct lks_buf *text)
{
    LKS_CLEANUP(lks_depot_close) struct lks_depot opened = {0};
    struct lks_err err = {0};
    size_t count = 0;
    if (lks_depot_open(depot, &opened, &err) != LKS_OK ||
        carry_out(root, &opened, e, &count, &err) != LKS_OK) {
        lks_buf_add(text, lks_str_from(err.msg));
        return LKS_OUTCOME_FAILED;
    }
    lks_buf_addf(text, "%zu of the simulated machine's parts are as ordered", count);
    return LKS_OUTCOME_DONE;
}

enum lks_outcome lks_simulated_accept(const char *root, struct lks_buf *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf keep = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf printed = {0};
    struct lks_figures figures = {0};
    struct lks_err err = {0};
    struct lks_str broken = first_line(root, LKS_SIMULATED_BROKEN, &keep);
    if (broken.len == 0 &&
        lks_simulated_read(root, LKS_SIMULATED_FIGURES, &printed, &err) == LKS_OK &&
        lks_figures_read(lks_buf_view(&printed), &figures, &err) != LKS_OK) {
        lks_buf_add(text, lks_str_from(err.msg));
        return LKS_OUTCOME_FAILED;
    }
    if (broken.len == 0) {
        lks_buf_add(text, LKS_STR("nothing is broken"));
        lks_figures_print(&figures, text);
        return LKS_OUTCOME_DONE;
    }
    lks_buf_addf(text, "%" LKS_STR_FMT " does not work on this machine", LKS_STR_ARG(broken));
    return LKS_OUTCOME_FAILED;
}
