#include "probe/root/answers.h"

#include "base/vec.h"
#include "codec/format/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLES_MAX 32

struct row {
    struct lks_str key, code, value;
    size_t order;
};

struct table {
    char name[32];
    struct lks_arena arena; /* owns the text and the rows */
    struct row *rows;       /* sorted by key, the first recorded first */
    size_t count;
    struct lks_err failed; /* why it could not be loaded */
};

struct lks_answers {
    struct table tables[TABLES_MAX];
    size_t count;
};

void lks_answers_free(struct lks_answers *answers)
{
    if (answers == NULL)
        return;
    for (size_t i = 0; i < answers->count; i++)
        lks_arena_fini(&answers->tables[i].arena);
    free(answers);
}

static int row_cmp(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = lks_str_cmp(x->key, y->key);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static enum lks_code read_rows(struct table *t, struct lks_csv *csv, struct lks_err *err)
{
    size_t room = 1 + lks_str_count(csv->rest, '\n'); /* a row is a line at least */
    int key = lks_csv_column(csv, "key"), code = lks_csv_column(csv, "code"),
        value = lks_csv_column(csv, "value");
    if (key < 0 || code < 0 || value < 0)
        return lks_fail(err, LKS_E_INVALID, "the columns are key, code and value");
    t->rows = lks_arena_array(&t->arena, room, sizeof(*t->rows));
    if (t->rows == NULL)
        return lks_arena_fail(&t->arena, err);
    for (;;) {
        bool more = false;
        if (lks_csv_next(csv, &more, err) != LKS_OK)
            return err->code;
        if (!more)
            break;
        LKS_ASSERT(t->count < room);
        t->rows[t->count] =
            (struct row){csv->fields[key], csv->fields[code], csv->fields[value], t->count};
        t->count++;
    }
    if (t->count > 0)
        qsort(t->rows, t->count, sizeof(*t->rows), row_cmp);
    return LKS_OK;
}

static enum lks_code load(struct lks_root *root, struct table *t, struct lks_err *err)
{
    char path[sizeof(LKS_ANSWERS_DIR) + sizeof(t->name) + 8];
    snprintf(path, sizeof(path), LKS_ANSWERS_DIR "/%s.csv", t->name);
    lks_arena_init(&t->arena, 64 * LKS_ANSWERS_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ANSWERS_BYTES_MAX);
    struct lks_root quiet = *root; /* a capture gets the answers that are asked for, one by one */
    quiet.capture = -1;
    enum lks_code code = lks_root_read(&quiet, path, LKS_ANSWERS_BYTES_MAX, &text, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK; /* nothing was asked in this way */
    if (code != LKS_OK)
        return code;
    struct lks_str kept = lks_arena_copy(&t->arena, lks_buf_view(&text));
    if (kept.ptr == NULL)
        return lks_arena_fail(&t->arena, err);
    struct lks_csv csv;
    if (lks_csv_open(&csv, kept, &t->arena, err) != LKS_OK || read_rows(t, &csv, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    return LKS_OK;
}

/* Loaded once, failures included: the same complaint each time it is asked. */
static struct table *find_table(struct lks_root *root, const char *name, struct lks_err *err)
{
    if (root->answers == NULL)
        root->answers = calloc(1, sizeof(*root->answers));
    struct lks_answers *a = root->answers;
    if (a == NULL) {
        *err = (struct lks_err){.code = lks_fail_nomem(err)};
        return NULL;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->tables[i].name, name) == 0)
            return &a->tables[i];
    }
    LKS_ASSERT(a->count < TABLES_MAX);
    struct table *t = &a->tables[a->count++];
    snprintf(t->name, sizeof(t->name), "%s", name);
    struct lks_err why = {0};
    if (load(root, t, &why) != LKS_OK) {
        t->failed = why;
        t->count = 0;
    }
    return t;
}

static const struct row *find_row(const struct table *t, struct lks_str key)
{
    size_t at;
    LKS_VEC_PLACE(at, t->count, lks_str_cmp(t->rows[at].key, key) < 0);
    return at < t->count && lks_str_eq(t->rows[at].key, key) ? &t->rows[at] : NULL;
}

static enum lks_code code_of(struct lks_str word)
{
    for (int i = 1; i < LKS_CODE_COUNT; i++) {
        if (lks_str_is(word, lks_err_code_info((enum lks_code)i)->text))
            return (enum lks_code)i;
    }
    return LKS_E_INVALID;
}

enum lks_code lks_answers_find(struct lks_root *root, const char *table, const char *key,
                               bool *found, struct lks_buf *out, struct lks_err *err)
{
    *found = false;
    struct table *t = find_table(root, table, err);
    if (t == NULL)
        return err->code;
    if (t->failed.code != LKS_OK) {
        *err = t->failed;
        return err->code;
    }
    const struct row *row = find_row(t, lks_str_from(key));
    if (row == NULL)
        return LKS_OK;
    *found = true;
    enum lks_code code = LKS_OK;
    if (!lks_str_is(row->code, "ok"))
        code = lks_fail(err, code_of(row->code), "%" LKS_STR_FMT, LKS_STR_ARG(row->value));
    lks_answers_record(root, table, key, code, row->value, err);
    if (code != LKS_OK)
        return code;
    lks_buf_add(out, row->value);
    return lks_buf_check(out, err);
}

enum lks_code lks_root_answers(struct lks_root *root, const char *table, struct lks_arena *arena,
                               struct lks_names *out, struct lks_err *err)
{
    struct lks_names names = {0};
    struct table *t = root->live ? NULL : find_table(root, table, err);
    if (t == NULL && !root->live)
        return err->code;
    if (t != NULL && t->failed.code != LKS_OK) {
        *err = t->failed;
        return err->code;
    }
    if (t != NULL && t->count > 0) {
        names.list = lks_arena_array(arena, t->count, sizeof(*names.list));
        if (names.list == NULL)
            return lks_arena_fail(arena, err);
        for (size_t i = 0; i < t->count; i++)
            names.list[t->rows[i].order] = t->rows[i].key;
        names.count = t->count;
    }
    *out = names;
    return LKS_OK;
}

/* Recording ---------------------------------------------------------------------------------- */

static void add_field(struct lks_buf *line, struct lks_str s)
{
    lks_buf_addc(line, '"');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i] == '\n' || s.ptr[i] == '\r' || s.ptr[i] == '\0' ? ' ' : s.ptr[i];
        if (c == '"')
            lks_buf_addc(line, '"');
        lks_buf_addc(line, c);
    }
    lks_buf_addc(line, '"');
}

/* The file with its header, there at once or not at all: several probes may record to it. */
static bool create(int dir, const char *name)
{
    char fresh[64];
    snprintf(fresh, sizeof(fresh), ".%ld", (long)getpid());
    int fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    static const char header[] = "key,code,value\n";
    bool ok = write(fd, header, sizeof(header) - 1) == (ssize_t)(sizeof(header) - 1);
    ok = close(fd) == 0 && ok;
    ok = ok && (linkat(dir, fresh, dir, name, 0) == 0 || errno == EEXIST);
    (void)unlinkat(dir, fresh, 0);
    return ok;
}

static bool append(int capture, const char *table, struct lks_str line)
{
    if (mkdirat(capture, &LKS_ANSWERS_DIR[1], 0700) != 0 && errno != EEXIST)
        return false;
    int dir = openat(capture, &LKS_ANSWERS_DIR[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return false;
    char name[48];
    snprintf(name, sizeof(name), "%s.csv", table);
    int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd < 0 && errno == ENOENT && create(dir, name))
        fd = openat(dir, name, flags);
    /* What cannot be read back is not recorded. */
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 &&
              (uint64_t)st.st_size + line.len <= LKS_ANSWERS_BYTES_MAX &&
              write(fd, line.ptr, line.len) == (ssize_t)line.len;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    (void)close(dir);
    return ok;
}

void lks_answers_record(struct lks_root *root, const char *table, const char *key,
                        enum lks_code code, struct lks_str value, const struct lks_err *err)
{
    if (root->capture < 0)
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_ANSWERS_BYTES_MAX);
    add_field(&line, lks_str_from(key));
    lks_buf_addf(&line, ",%s,", code == LKS_OK ? "ok" : lks_err_code_info(code)->text);
    add_field(&line, code == LKS_OK ? value : lks_str_from(err->msg));
    lks_buf_addc(&line, '\n');
    struct lks_err why = {0};
    if (lks_buf_check(&line, &why) != LKS_OK || !append(root->capture, table, lks_buf_view(&line)))
        root->capture_failed = true;
}
