#include "agent/state/spool.h"

#include "base/vec.h"
#include "codec/format/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT  "lockstep-spool-1"
#define DROPPED "dropped" /* a file that is there while reports are missing */

enum { NUMBER_DIGITS = 20, NAME_SIZE = 40, FILES_MAX = 65536 };

static const char *const kind_words[] = {
    [LKS_SPOOL_TUPLE] = "tuple",
    [LKS_SPOOL_RESULT] = "result",
};

static bool kind_of(struct lks_str word, enum lks_spool_kind *out)
{
    for (size_t i = 0; i < LKS_SPOOL_KIND_COUNT; i++) {
        if (lks_str_is(word, kind_words[i])) {
            *out = (enum lks_spool_kind)i;
            return true;
        }
    }
    return false;
}

/* "FORMAT KIND BYTES DIGEST" and a line end, then the body. */
enum lks_code lks_spool_pack(enum lks_spool_kind kind, struct lks_str body, struct lks_buf *out,
                             struct lks_err *err)
{
    char digest[LKS_DIGEST_SIZE];
    if (body.len > LKS_SPOOL_BODY_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a report of %zu bytes is more than is kept", body.len);
    if (lks_digest_text(body, digest, err) != LKS_OK)
        return err->code;
    lks_buf_addf(out, FORMAT " %s %zu %s\n", kind_words[kind], body.len, digest);
    lks_buf_add(out, body);
    return lks_buf_check(out, err);
}

enum lks_code lks_spool_unpack(struct lks_str bytes, enum lks_spool_kind *kind,
                               struct lks_str *body, struct lks_err *err)
{
    struct lks_str header, content, word, size;
    enum lks_spool_kind what = LKS_SPOOL_TUPLE;
    uint64_t length = 0;
    char digest[LKS_DIGEST_SIZE];
    if (!lks_str_cut(bytes, '\n', &header, &content) || header.len > LKS_SPOOL_HEADER_MAX)
        return lks_fail(err, LKS_E_INVALID, "it has no header");
    lks_str_cut(header, ' ', &word, &header);
    if (!lks_str_is(word, FORMAT))
        return lks_fail(err, LKS_E_INVALID, "it is not of a format this program knows");
    lks_str_cut(header, ' ', &word, &header);
    lks_str_cut(header, ' ', &size, &header);
    if (!kind_of(word, &what) || !lks_str_number(size, LKS_SPOOL_BODY_MAX, &length))
        return lks_fail(err, LKS_E_INVALID, "its header does not say what it is");
    if (length != content.len)
        return lks_fail(err, LKS_E_INVALID, "it has %zu bytes where %llu were written", content.len,
                        (unsigned long long)length);
    if (lks_digest_text(content, digest, err) != LKS_OK)
        return err->code;
    if (!lks_str_is(header, digest))
        return lks_fail(err, LKS_E_INVALID, "its bytes are not those that were written");
    *kind = what;
    *body = content;
    return LKS_OK;
}

static void entry_name(const struct lks_spool_entry *e, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%0*llu.%s", NUMBER_DIGITS, (unsigned long long)e->number,
             kind_words[e->kind]);
}

static bool parse_name(const char *name, struct lks_spool_entry *out)
{
    struct lks_str number, word;
    return lks_str_cut(lks_str_from(name), '.', &number, &word) && number.len == NUMBER_DIGITS &&
           lks_str_number(number, UINT64_MAX - 1, &out->number) && kind_of(word, &out->kind);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct lks_spool_entry *)a)->number;
    uint64_t y = ((const struct lks_spool_entry *)b)->number;
    return (x > y) - (x < y);
}

/* What a crash left half-written is removed; what is not ours is left alone. */
static enum lks_code see_file(struct lks_spool *s, const char *name, struct lks_err *err)
{
    struct lks_spool_entry e = {0};
    struct stat st;
    if (strncmp(name, ".tmp-", 5) == 0)
        (void)unlinkat(s->dir.fd, name, 0);
    if (strcmp(name, DROPPED) == 0)
        s->dropped = true;
    if (!parse_name(name, &e) || fstatat(s->dir.fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(st.st_mode))
        return LKS_OK;
    if (s->count >= FILES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: more than %d reports", s->dir.path, FILES_MAX);
    if (LKS_VEC_RESERVE(s->entries, s->room, s->count + 1, err) != LKS_OK)
        return err->code;
    e.bytes = (size_t)st.st_size;
    s->entries[s->count++] = e;
    s->bytes += e.bytes;
    return LKS_OK;
}

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        (void)closedir(*dir);
}

static enum lks_code see_files(struct lks_spool *s, struct lks_err *err)
{
    LKS_CLEANUP(close_dir) DIR *dir = opendir(s->dir.path);
    if (dir == NULL)
        return lks_fail(err, LKS_E_IO, "%s: %s", s->dir.path, strerror(errno));
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (see_file(s, e->d_name, err) != LKS_OK)
            return err->code;
    }
    if (s->count > 1)
        qsort(s->entries, s->count, sizeof(*s->entries), by_number);
    return LKS_OK;
}

enum lks_code lks_spool_open(const char *path, size_t count_max, size_t bytes_max,
                             struct lks_log *log, struct lks_spool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_spool_close)
    struct lks_spool s = {.count_max = count_max, .bytes_max = bytes_max, .log = log};
    if (lks_statedir_open(path, false, &s.dir, err) != LKS_OK || see_files(&s, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(s);
    return LKS_OK;
}

void lks_spool_close(struct lks_spool *s)
{
    lks_statedir_close(&s->dir);
    free(s->entries);
    *s = (struct lks_spool){0};
}

static enum lks_code remove_at(struct lks_spool *s, size_t at, struct lks_err *err)
{
    char name[NAME_SIZE];
    entry_name(&s->entries[at], name);
    if (lks_statedir_remove(&s->dir, name, err) != LKS_OK)
        return err->code;
    s->bytes -= s->entries[at].bytes;
    LKS_VEC_REMOVE(s->entries, s->count, at);
    return LKS_OK;
}

static bool fits(const struct lks_spool *s, size_t bytes)
{
    return s->count < s->count_max && s->bytes + bytes <= s->bytes_max;
}

/* The oldest tuples go until `bytes` more have room, or there are none. */
static enum lks_code make_room(struct lks_spool *s, size_t bytes, struct lks_err *err)
{
    for (size_t i = 0; i < s->count && !fits(s, bytes);) {
        if (s->entries[i].kind != LKS_SPOOL_TUPLE) {
            i++;
            continue;
        }
        if (!s->dropped && lks_statedir_write(&s->dir, DROPPED, LKS_STR(""), err) != LKS_OK)
            return err->code;
        s->dropped = true;
        if (remove_at(s, i, err) != LKS_OK)
            return err->code;
        lks_log_event(s->log, LKS_LEVEL_WARNING, "the spool is full: its oldest tuple was dropped",
                      NULL, 0);
    }
    return LKS_OK;
}

enum lks_code lks_spool_add(struct lks_spool *s, enum lks_spool_kind kind, struct lks_str body,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf bytes = LKS_BUF(LKS_SPOOL_BODY_MAX + LKS_SPOOL_HEADER_MAX);
    char name[NAME_SIZE];
    if (lks_spool_pack(kind, body, &bytes, err) != LKS_OK ||
        make_room(s, bytes.len, err) != LKS_OK ||
        LKS_VEC_RESERVE(s->entries, s->room, s->count + 1, err) != LKS_OK)
        return err->code;
    if ((kind == LKS_SPOOL_TUPLE && !fits(s, bytes.len)) || s->count >= LKS_SPOOL_RESULTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: full: %zu reports wait to be sent", s->dir.path,
                        s->count);
    uint64_t last = s->count > 0 ? s->entries[s->count - 1].number : 0;
    struct lks_spool_entry e = {.number = last + 1, .bytes = bytes.len, .kind = kind};
    entry_name(&e, name);
    if (lks_statedir_write(&s->dir, name, lks_buf_view(&bytes), err) != LKS_OK)
        return err->code;
    s->entries[s->count++] = e;
    s->bytes += e.bytes;
    return LKS_OK;
}

/* The content of the oldest file, if it is as it was written. */
static enum lks_code read_oldest(struct lks_spool *s, enum lks_spool_kind *kind,
                                 struct lks_buf *body, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    char name[NAME_SIZE];
    struct lks_str content = {0};
    entry_name(&s->entries[0], name);
    if (lks_statedir_read(&s->dir, name, LKS_SPOOL_BODY_MAX + LKS_SPOOL_HEADER_MAX, &bytes, err) !=
            LKS_OK ||
        lks_spool_unpack(lks_buf_view(&bytes), kind, &content, err) != LKS_OK)
        return err->code;
    lks_buf_init(body, LKS_SPOOL_BODY_MAX);
    lks_buf_add(body, content);
    return lks_buf_check(body, err);
}

enum lks_code lks_spool_oldest(struct lks_spool *s, enum lks_spool_kind *kind, struct lks_buf *body,
                               struct lks_err *err)
{
    while (s->count > 0) {
        enum lks_code code = read_oldest(s, kind, body, err);
        if (code != LKS_E_INVALID && code != LKS_E_NOT_FOUND && code != LKS_E_LIMIT)
            return code;
        struct lks_log_field fields[] = {{"why", lks_str_from(err->msg)}};
        lks_log_event(s->log, LKS_LEVEL_ERROR, "a damaged report was set aside", fields, 1);
        if (remove_at(s, 0, err) != LKS_OK)
            return err->code;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%s: no report waits", s->dir.path);
}

enum lks_code lks_spool_done(struct lks_spool *s, struct lks_err *err)
{
    LKS_ASSERT(s->count > 0);
    if (remove_at(s, 0, err) != LKS_OK)
        return err->code;
    if (s->count > 0 || !s->dropped)
        return LKS_OK;
    s->dropped = false;
    return lks_statedir_remove(&s->dir, DROPPED, err);
}
