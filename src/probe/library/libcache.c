#include "probe/library/libcache.h"

#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAMILY "lockstep library cache " /* of any version */

static const char first_line[] = FAMILY "1";

#define MEMORY_MAX (LKS_LIBCACHE_BYTES_MAX * 2)

void lks_libcache_init(struct lks_libcache *c)
{
    *c = (struct lks_libcache){0};
    lks_arena_init(&c->arena, MEMORY_MAX);
}

void lks_libcache_fini(struct lks_libcache *c)
{
    lks_arena_fini(&c->arena);
    free(c->entries);
    *c = (struct lks_libcache){0};
}

static int entry_cmp(const void *a, const void *b)
{
    const struct lks_libcache_entry *x = a, *y = b;
    for (size_t i = 0; i < LKS_COUNT(x->key); i++) {
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    }
    return lks_str_cmp(x->table, y->table);
}

/* False for times before 1970, which no file we look for has. */
static bool key_of(const struct stat *st, uint64_t key[7])
{
    if (st->st_mtim.tv_sec < 0 || st->st_ctim.tv_sec < 0 || st->st_size < 0)
        return false;
    key[0] = (uint64_t)st->st_dev;
    key[1] = (uint64_t)st->st_ino;
    key[2] = (uint64_t)st->st_size;
    key[3] = (uint64_t)st->st_mtim.tv_sec;
    key[4] = (uint64_t)st->st_mtim.tv_nsec;
    key[5] = (uint64_t)st->st_ctim.tv_sec;
    key[6] = (uint64_t)st->st_ctim.tv_nsec;
    return true;
}

static bool add_entry(struct lks_libcache *c, const struct lks_libcache_entry *entry)
{
    if (LKS_VEC_RESERVE_MAX(c->entries, c->room, c->count + 1, (size_t)LKS_LIBCACHE_ENTRIES_MAX,
                            NULL) != LKS_OK)
        return false;
    struct lks_libcache_entry kept = *entry;
    kept.table = lks_arena_copy(&c->arena, entry->table);
    kept.answer = lks_arena_copy(&c->arena, entry->answer);
    if (kept.table.ptr == NULL || kept.answer.ptr == NULL)
        return false;
    c->entries[c->count++] = kept;
    return true;
}

/* Reading ------------------------------------------------------------------------------------ */

static bool is_table(struct lks_str s)
{
    return s.len > 0 && s.len <= LKS_LIBCACHE_TABLE_MAX && lks_str_printable(s) &&
           lks_str_find(s, LKS_STR(" ")) < 0;
}

static bool is_answer(struct lks_str s)
{
    return s.len > 0 && s.len <= LKS_LIBCACHE_ANSWER_MAX && lks_str_printable(s);
}

static bool parse_entry(struct lks_str line, struct lks_libcache_entry *out)
{
    struct lks_libcache_entry entry = {0};
    for (size_t i = 0; i < LKS_COUNT(entry.key); i++) {
        struct lks_str word;
        if (!lks_str_cut(line, ' ', &word, &line) ||
            !lks_str_number(word, UINT64_MAX, &entry.key[i]))
            return false;
    }
    if (!lks_str_cut(line, ' ', &entry.table, &entry.answer) || !is_table(entry.table) ||
        !is_answer(entry.answer))
        return false;
    *out = entry;
    return true;
}

static bool next_line(struct lks_str *rest, struct lks_str *line)
{
    return lks_str_cut(*rest, '\n', line, rest);
}

/* "end 12", and nothing behind it: a file that was cut off does not have it. */
static bool is_end(struct lks_str line, struct lks_str rest, size_t count)
{
    uint64_t said;
    struct lks_str word;
    return lks_str_cut(line, ' ', &word, &line) && lks_str_is(word, "end") &&
           lks_str_number(line, LKS_LIBCACHE_ENTRIES_MAX, &said) && said == count && rest.len == 0;
}

enum lks_code lks_libcache_parse(struct lks_str text, struct lks_libcache *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache fresh = {0};
    lks_libcache_init(&fresh);
    struct lks_str line;
    if (text.len > LKS_LIBCACHE_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %zu bytes", LKS_LIBCACHE_BYTES_MAX);
    if (!next_line(&text, &line) || !lks_str_is(line, first_line))
        return lks_fail(err, LKS_E_INVALID, "not a library cache of this version");
    for (;;) {
        struct lks_libcache_entry entry;
        if (!next_line(&text, &line))
            return lks_fail(err, LKS_E_INVALID, "cut off after %zu entries", fresh.count);
        if (is_end(line, text, fresh.count))
            break;
        if (!parse_entry(line, &entry))
            return lks_fail(err, LKS_E_INVALID, "entry %zu is damaged", fresh.count + 1);
        if (!add_entry(&fresh, &entry))
            return lks_fail(err, LKS_E_LIMIT, "more than %d entries", LKS_LIBCACHE_ENTRIES_MAX);
    }
    if (fresh.count > 0)
        qsort(fresh.entries, fresh.count, sizeof(*fresh.entries), entry_cmp);
    for (size_t i = 1; i < fresh.count; i++) {
        if (entry_cmp(&fresh.entries[i - 1], &fresh.entries[i]) == 0)
            return lks_fail(err, LKS_E_INVALID, "two answers for one file");
    }
    fresh.loaded = fresh.count;
    lks_libcache_fini(c);
    *c = LKS_MOVE(fresh);
    return LKS_OK;
}

void lks_libcache_write(const struct lks_libcache *c, bool all, struct lks_buf *out)
{
    size_t count = 0;
    lks_buf_addf(out, "%s\n", first_line);
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_libcache_entry *e = &c->entries[i];
        if (!all && !e->used)
            continue;
        for (size_t k = 0; k < LKS_COUNT(e->key); k++)
            lks_buf_addf(out, "%" PRIu64 " ", e->key[k]);
        lks_buf_addf(out, "%" LKS_STR_FMT " %" LKS_STR_FMT "\n", LKS_STR_ARG(e->table),
                     LKS_STR_ARG(e->answer));
        count++;
    }
    lks_buf_addf(out, "end %zu\n", count);
}

/* Asking ------------------------------------------------------------------------------------- */

/* What was loaded is sorted; what was added since is a few files as a rule. */
static struct lks_libcache_entry *find(struct lks_libcache *c,
                                       const struct lks_libcache_entry *want)
{
    struct lks_libcache_entry *found = NULL;
    if (c->loaded > 0)
        found = bsearch(want, c->entries, c->loaded, sizeof(*want), entry_cmp);
    for (size_t i = c->loaded; found == NULL && i < c->count; i++) {
        if (entry_cmp(&c->entries[i], want) == 0)
            found = &c->entries[i];
    }
    return found;
}

struct lks_str lks_libcache_find(struct lks_libcache *c, const struct stat *st, const char *table)
{
    struct lks_libcache_entry want = {.table = lks_str_from(table)};
    struct lks_libcache_entry *found = key_of(st, want.key) ? find(c, &want) : NULL;
    if (found == NULL)
        return (struct lks_str){0};
    found->used = true;
    return found->answer;
}

void lks_libcache_add(struct lks_libcache *c, const struct stat *st, const char *table,
                      struct lks_str answer, int64_t now)
{
    struct lks_libcache_entry entry = {
        .table = lks_str_from(table), .answer = answer, .used = true};
    int64_t newest =
        st->st_ctim.tv_sec > st->st_mtim.tv_sec ? st->st_ctim.tv_sec : st->st_mtim.tv_sec;
    if (newest > now - LKS_LIBCACHE_SETTLED_S || !key_of(st, entry.key) || !is_table(entry.table) ||
        !is_answer(answer) || find(c, &entry) != NULL)
        return;
    if (add_entry(c, &entry))
        c->changed = true;
}

/* Files -------------------------------------------------------------------------------------- */

/* A writer of the cache decides what we report. */
static enum lks_code open_own(const char *path, int *out, struct lks_err *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return lks_fail(err, errno == ENOENT ? LKS_E_NOT_FOUND : LKS_E_IO, "%s: %s", path,
                        strerror(errno));
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        (void)close(fd);
        return lks_fail(err, LKS_E_DENIED, "%s: not a plain file that only we can write", path);
    }
    *out = fd;
    return LKS_OK;
}

enum lks_code lks_libcache_load(struct lks_libcache *c, const char *path, struct lks_err *err)
{
    int fd = -1;
    enum lks_code code = open_own(path, &fd, err);
    c->foreign = code != LKS_OK && code != LKS_E_NOT_FOUND;
    if (code != LKS_OK)
        return code;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    code = lks_file_read_fd(fd, path, &text, err);
    (void)close(fd);
    c->foreign = !lks_str_starts(lks_buf_view(&text), FAMILY);
    if (code != LKS_OK)
        return code;
    code = lks_libcache_parse(lks_buf_view(&text), c, err);
    return code == LKS_OK ? LKS_OK : lks_wrap(err, "%s", path);
}

static bool write_all(int fd, struct lks_str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text.ptr += n;
        text.len -= (size_t)n;
    }
    return true;
}

/* A new file with `text` in it, called `name`, in the directory of `path`. It gets its name when it
 * is written, so that nothing is left of a run that is killed; not every file system has files
 * without a name, and there it has one from the start. */
static bool write_new(const char *path, const char *name, struct lks_str text)
{
    char dir[LKS_LIBCACHE_PATH_MAX] = ".", self[64];
    const char *slash = strrchr(path, '/');
    if (slash != NULL)
        snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path);
    int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    bool nameless = fd >= 0;
    if (!nameless)
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, text);
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    if (ok && nameless)
        ok = linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    int number = errno;
    ok = close(fd) == 0 && ok;
    if (!ok && !nameless)
        (void)unlink(name);
    errno = number;
    return ok;
}

enum lks_code lks_libcache_save(const struct lks_libcache *c, const char *path, bool all,
                                struct lks_err *err)
{
    char name[LKS_LIBCACHE_PATH_MAX + 32];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    if (c->foreign)
        return lks_fail(err, LKS_E_REFUSED, "%s: left alone, as it is no library cache of ours",
                        path);
    if (strlen(path) >= LKS_LIBCACHE_PATH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%.64s...: too long for a name", path);
    lks_libcache_write(c, all, &text);
    if (lks_buf_check(&text, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    snprintf(name, sizeof(name), "%s.%ld", path, (long)getpid());
    if (!write_new(path, name, lks_buf_view(&text)))
        return lks_fail(err, LKS_E_IO, "%s: %s", name, strerror(errno));
    if (rename(name, path) == 0)
        return LKS_OK;
    int number = errno;
    (void)unlink(name);
    return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(number));
}
