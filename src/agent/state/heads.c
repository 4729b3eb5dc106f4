#include "agent/state/heads.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR          (3600 * LKS_SECOND)
#define TEMPORARY     ".tmp-" LKS_HEADS_FILE
#define LINE_SIZE     (LKS_HEAD_TEXT_MAX + 2)
#define NO_HOUR       UINT64_MAX
#define CONTRADICTORY (LKS_HEADS_CONTRADICTS_MAX * LINE_SIZE)

/* Line by line, so that a year of heads never is in memory. */
typedef enum lks_code line_fn(void *ctx, struct lks_str line, const struct lks_head *head,
                              struct lks_err *err);

static void close_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

/* Each whole line that is a head. A line without its end was torn by a crash. */
static enum lks_code each_line(const struct lks_statedir *dir, line_fn *fn, void *ctx,
                               struct lks_err *err)
{
    int fd = openat(dir->fd, LKS_HEADS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    LKS_CLEANUP(close_file) FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[LINE_SIZE];
    struct lks_err ignored = {0};
    if (file == NULL && errno != ENOENT)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_HEADS_FILE ": %s", dir->path, strerror(errno));
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        struct lks_str text, rest;
        struct lks_head head = {0};
        if (!lks_str_cut(lks_str_from(line), '\n', &text, &rest) ||
            lks_row_head_parse(text, &head, &ignored) != LKS_OK)
            continue;
        if (fn(ctx, text, &head, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

struct opening {
    struct lks_heads *w;
    const char *journal;
};

/* The newest of those that stand is verified alone: a signature takes longer than a line. */
static enum lks_code count_line(void *ctx, struct lks_str line, const struct lks_head *head,
                                struct lks_err *err)
{
    struct opening *o = ctx;
    (void)line;
    (void)err;
    o->w->lines++;
    if (strcmp(head->journal, o->journal) == 0 && head->seq >= o->w->newest.seq)
        o->w->newest = *head;
    return LKS_OK;
}

enum lks_code lks_heads_open(const struct lks_statedir *dir, const struct lks_public_key *key,
                             const char *journal, struct lks_heads *out, struct lks_err *err)
{
    struct lks_heads w = {.dir = dir, .key = *key};
    struct opening o = {&w, journal};
    struct stat st;
    if (each_line(dir, count_line, &o, err) != LKS_OK)
        return err->code;
    if (w.newest.seq > 0 && !lks_chain_head_verify(key, &w.newest))
        w.newest = (struct lks_head){0};
    snprintf(w.newest.journal, sizeof(w.newest.journal), "%s", journal);
    w.contradicted = fstatat(dir->fd, LKS_HEADS_CONTRADICTIONS, &st, AT_SYMLINK_NOFOLLOW) == 0;
    *out = w;
    return LKS_OK;
}

/* A torn line before ours must not swallow it: the file is made to end with a line. */
static enum lks_code append(const struct lks_heads *w, struct lks_str line, struct lks_err *err)
{
    char bytes[LINE_SIZE + 1];
    char last = '\n';
    int fd = openat(w->dir->fd, LKS_HEADS_FILE,
                    O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_HEADS_FILE ": %s", w->dir->path, strerror(errno));
    off_t size = lseek(fd, 0, SEEK_END);
    if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
        last = '\n';
    int len = snprintf(bytes, sizeof(bytes), "%s%" LKS_STR_FMT "\n", last == '\n' ? "" : "\n",
                       LKS_STR_ARG(line));
    LKS_ASSERT(len > 0 && (size_t)len < sizeof(bytes));
    enum lks_code code =
        lks_file_put(fd, LKS_HEADS_FILE, (struct lks_str){bytes, (size_t)len}, err);
    (void)close(fd);
    return code;
}

struct search {
    uint64_t seq;
    bool found;
    struct lks_head head;
};

static enum lks_code find_seq(void *ctx, struct lks_str line, const struct lks_head *head,
                              struct lks_err *err)
{
    struct search *s = ctx;
    (void)line;
    (void)err;
    if (head->seq == s->seq && !s->found) {
        s->head = *head;
        s->found = true;
    }
    return LKS_OK;
}

/* Both heads go to a file of their own, durably: it is evidence. */
static enum lks_code keep_contradiction(struct lks_heads *w, const struct lks_head *before,
                                        struct lks_str line, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    enum lks_code code =
        lks_statedir_read(w->dir, LKS_HEADS_CONTRADICTIONS, 2 * CONTRADICTORY, &text, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    w->contradicted = true;
    if (text.len >= CONTRADICTORY || lks_str_find(lks_buf_view(&text), line) >= 0)
        return LKS_OK;
    lks_row_head_text(before, &text);
    lks_buf_addc(&text, '\n');
    lks_buf_add(&text, line);
    lks_buf_addc(&text, '\n');
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    return lks_statedir_write(w->dir, LKS_HEADS_CONTRADICTIONS, lks_buf_view(&text), err);
}

/* It is not beyond the newest: was another one seen at its place? */
static enum lks_code see_old(struct lks_heads *w, const struct lks_head *head, struct lks_str line,
                             enum lks_heads_seen *out, struct lks_err *err)
{
    struct search s = {.seq = head->seq};
    if (head->seq == w->newest.seq) {
        s.found = true;
        s.head = w->newest;
    } else if (each_line(w->dir, find_seq, &s, err) != LKS_OK) {
        return err->code;
    }
    bool differs = s.found && memcmp(s.head.hash, head->hash, LKS_HASH_BYTES) != 0;
    *out = differs ? LKS_HEADS_CONTRADICTION : LKS_HEADS_KNOWN;
    return differs ? keep_contradiction(w, &s.head, line, err) : LKS_OK;
}

/* The one that was verified last, as most heartbeats bring it: journals rest. */
static bool is_newest(const struct lks_heads *w, const struct lks_head *head)
{
    const struct lks_head *n = &w->newest;
    return n->seq > 0 && head->seq == n->seq && head->time == n->time &&
           memcmp(head->hash, n->hash, sizeof(n->hash)) == 0 &&
           memcmp(head->signature, n->signature, sizeof(n->signature)) == 0;
}

enum lks_code lks_heads_see(struct lks_heads *w, struct lks_str line, enum lks_heads_seen *out,
                            struct lks_err *err)
{
    struct lks_head head = {0};
    if (line.len > LKS_HEAD_TEXT_MAX)
        return lks_fail(err, LKS_E_INVALID, "a head of %zu bytes is too long", line.len);
    if (lks_row_head_parse(line, &head, err) != LKS_OK)
        return err->code;
    if (strcmp(head.journal, w->newest.journal) != 0)
        return lks_fail(err, LKS_E_REFUSED,
                        "the head is of journal %s, and this node belongs to %s", head.journal,
                        w->newest.journal);
    if (is_newest(w, &head)) {
        *out = LKS_HEADS_KNOWN;
        return LKS_OK;
    }
    if (!lks_chain_head_verify(&w->key, &head))
        return lks_fail(err, LKS_E_DENIED, "the head is not signed with the journal's key");
    if (head.seq <= w->newest.seq)
        return see_old(w, &head, line, out, err);
    if (append(w, line, err) != LKS_OK)
        return err->code;
    w->newest = head;
    w->lines++;
    *out = LKS_HEADS_NEW;
    if (w->lines <= LKS_HEADS_HOURS_MAX + LKS_HEADS_NEWEST + LKS_HEADS_SLACK)
        return LKS_OK;
    return lks_heads_cut(w, err);
}

/* Cutting: once to count the hours, once to write what stays. */
struct cut {
    size_t lines, at;  /* in all; so far */
    size_t skip_hours; /* the oldest of them go */
    size_t hours, kept;
    uint64_t hour; /* of the line before */
    FILE *file;    /* NULL: only count */
};

static enum lks_code cut_line(void *ctx, struct lks_str line, const struct lks_head *head,
                              struct lks_err *err)
{
    struct cut *c = ctx;
    bool starts = head->time / HOUR != c->hour;
    c->hour = head->time / HOUR;
    c->hours += starts;
    c->at++;
    bool stays = (starts && c->hours > c->skip_hours) || c->at + LKS_HEADS_NEWEST > c->lines;
    if (c->file == NULL || !stays)
        return LKS_OK;
    c->kept++;
    if (fprintf(c->file, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line)) < 0)
        return lks_fail(err, LKS_E_IO, LKS_HEADS_FILE ": %s", strerror(errno));
    return LKS_OK;
}

static enum lks_code write_cut(const struct lks_heads *w, struct cut *c, struct lks_err *err)
{
    int fd =
        openat(w->dir->fd, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    LKS_CLEANUP(close_file) FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_HEADS_FILE ": %s", w->dir->path, strerror(errno));
    c->file = file;
    if (each_line(w->dir, cut_line, c, err) != LKS_OK)
        return err->code;
    if (fflush(file) != 0 || fsync(fd) != 0)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_HEADS_FILE ": %s", w->dir->path, strerror(errno));
    return lks_statedir_rename(w->dir, TEMPORARY, LKS_HEADS_FILE, err);
}

enum lks_code lks_heads_cut(struct lks_heads *w, struct lks_err *err)
{
    struct cut c = {.lines = SIZE_MAX, .hour = NO_HOUR};
    if (each_line(w->dir, cut_line, &c, err) != LKS_OK)
        return err->code;
    size_t hours = c.hours;
    c = (struct cut){.lines = c.at, .hour = NO_HOUR};
    c.skip_hours = hours > LKS_HEADS_HOURS_MAX ? hours - LKS_HEADS_HOURS_MAX : 0;
    if (write_cut(w, &c, err) != LKS_OK)
        return err->code;
    w->lines = c.kept;
    return LKS_OK;
}
