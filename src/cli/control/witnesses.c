#include "cli/control/witnesses.h"

#include "base/file.h"
#include "base/vec.h"
#include "cli/shared/path.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 64 << 20, DEPTH = 2 }; /* DIR/NAME/state/witness at the deepest */

void lks_witnesses_fini(struct lks_witnesses *w)
{
    free(w->heads);
    *w = (struct lks_witnesses){0};
}

static enum lks_code add_head(struct lks_witnesses *w, const struct lks_head *head,
                              struct lks_err *err)
{
    if (w->count == LKS_WITNESSES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d witnessed heads", LKS_WITNESSES_MAX);
    if (LKS_VEC_RESERVE(w->heads, w->room, w->count + 1, err) != LKS_OK)
        return err->code;
    w->heads[w->count++] = *head;
    return LKS_OK;
}

static enum lks_code read_file(const char *path, struct lks_witnesses *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_BYTES_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    struct lks_str rest = lks_buf_view(&text), line;
    for (unsigned number = 1; rest.len > 0; number++) {
        struct lks_head head;
        lks_str_cut(rest, '\n', &line, &rest);
        if (line.len == 0)
            continue;
        if (lks_row_head_parse(line, &head, err) != LKS_OK)
            return lks_wrap(err, "%s:%u", path, number);
        if (add_head(w, &head, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code read_folder(const char *folder, int depth, struct lks_witnesses *w,
                                 struct lks_err *err);

static enum lks_code read_entry(const char *folder, const char *name, int depth,
                                struct lks_witnesses *w, struct lks_err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (lks_path_join(path, folder, name, err) != LKS_OK)
        return err->code;
    if (name[0] == '.' || lstat(path, &st) != 0)
        return LKS_OK;
    if (S_ISREG(st.st_mode) && strcmp(name, "witness") == 0)
        return read_file(path, w, err);
    return S_ISDIR(st.st_mode) && depth > 0 ? read_folder(path, depth - 1, w, err) : LKS_OK;
}

static enum lks_code read_folder(const char *folder, int depth, struct lks_witnesses *w,
                                 struct lks_err *err)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return lks_file_fail(err, folder);
    enum lks_code code = LKS_OK;
    for (struct dirent *e; code == LKS_OK && (e = readdir(dir)) != NULL;)
        code = read_entry(folder, e->d_name, depth, w, err);
    closedir(dir);
    return code;
}

enum lks_code lks_witnesses_read(const char *place, struct lks_witnesses *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_witnesses_fini) struct lks_witnesses w = {0};
    struct stat st;
    if (place == NULL)
        return LKS_OK;
    bool folder = stat(place, &st) == 0 && S_ISDIR(st.st_mode);
    if ((folder ? read_folder(place, DEPTH, &w, err) : read_file(place, &w, err)) != LKS_OK)
        return lks_wrap(err, "the witnesses");
    if (w.count == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: holds no witnessed heads", place);
    *out = LKS_MOVE(w);
    return LKS_OK;
}
