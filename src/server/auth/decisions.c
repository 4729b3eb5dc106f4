#include "server/auth/decisions.h"

#include "base/file.h"
#include "codec/notation/hostlist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAYS = 8, LINE_MAX_BYTES = 8192, PATH_BYTES_MAX = 1100, NUMBER_MAX = 99999999 };

/* Entries ----------------------------------------------------------------------------------- */

enum lks_code lks_decisions_init(struct lks_decisions *d, uint64_t sample, uint64_t seed,
                                 struct lks_err *err)
{
    *d = (struct lks_decisions){.sample = sample, .seed = seed, .next_id = 1};
    d->entries = calloc(LKS_DECISIONS_MAX, sizeof(*d->entries));
    if (d->entries == NULL)
        return lks_fail_nomem(err);
    lks_buf_init(&d->text, LKS_DECISIONS_TEXT_MAX);
    return LKS_OK;
}

void lks_decisions_fini(struct lks_decisions *d)
{
    free(d->entries);
    lks_buf_fini(&d->text);
    *d = (struct lks_decisions){0};
}

/* FNV-1a from a seed, with a last stir. */
static uint64_t hash_of(const struct lks_decisions *d, struct lks_str job, unsigned sort)
{
    uint64_t h = (UINT64_C(0xcbf29ce484222325) ^ d->seed) + sort;
    for (size_t i = 0; i < job.len; i++)
        h = (h ^ (uint8_t)job.ptr[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static void copy(char *out, size_t size, struct lks_str text)
{
    size_t len = text.len < size ? text.len : size - 1;
    memcpy(out, text.ptr != NULL ? text.ptr : "", len);
    out[len] = '\0';
}

void lks_decisions_json(struct lks_json_writer *w, const struct lks_decided *e)
{
    char time[LKS_TIME_TEXT_SIZE];
    const struct lks_str_pair texts[] = {
        {"user", e->user}, {"reason", e->bar < LKS_BAR_COUNT ? lks_bar_words[e->bar] : ""},
        {"pool", e->pool}, {"nodes", e->nodes},
        {"text", e->text},
    };
    lks_json_cstr(w, "job", e->job);
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (texts[i].value[0] != '\0')
            lks_json_cstr(w, texts[i].name, texts[i].value);
    }
    lks_json_int(w, "count", (int64_t)e->count);
    lks_json_cstr(w, "first", lks_time_text(e->first, time));
    lks_json_cstr(w, "last", lks_time_text(e->last, time));
    lks_json_bool(w, "admitted", e->admitted);
}

/* What is new of an entry becomes a line. Without room for it, it is counted. */
static void write_down(struct lks_decisions *d, struct lks_decided *e)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LINE_MAX_BYTES);
    struct lks_decided said = *e;
    if (e->fresh == 0)
        return;
    said.count = e->fresh;
    said.first = e->fresh_first;
    e->fresh = 0;
    struct lks_json_writer w = {.out = &line};
    lks_json_begin(&w, NULL, '{');
    lks_decisions_json(&w, &said);
    lks_json_end(&w, '}');
    lks_buf_addc(&line, '\n');
    if (line.failed != LKS_OK || line.len > d->text.max - d->text.len)
        d->dropped++;
    else
        lks_buf_add(&d->text, lks_buf_view(&line));
}

/* The entry of a job, a reason and an answer: its own, or that of a few that was used longest ago.
 */
static struct lks_decided *find(struct lks_decisions *d, struct lks_str job, enum lks_bar bar,
                                bool admitted)
{
    uint64_t key = hash_of(d, job, (unsigned)bar * 2 + admitted);
    struct lks_decided *set = &d->entries[(key % (LKS_DECISIONS_MAX / WAYS)) * WAYS];
    struct lks_decided *oldest = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        struct lks_decided *e = &set[i];
        if (e->id != 0 && e->key == key && e->bar == bar && e->admitted == admitted &&
            lks_str_is(job, e->job))
            return e;
        if (e->id == 0 || (oldest->id != 0 && e->last < oldest->last))
            oldest = e;
    }
    write_down(d, oldest);
    *oldest =
        (struct lks_decided){.id = d->next_id++, .key = key, .bar = bar, .admitted = admitted};
    copy(oldest->job, sizeof(oldest->job), job);
    return oldest;
}

struct asked {
    struct lks_str job, user;
};

static struct lks_decided *count(struct lks_decisions *d, const struct asked *asked,
                                 enum lks_bar bar, bool admitted, lks_ms at)
{
    struct lks_decided *e = find(d, asked->job, bar, admitted);
    if (asked->user.len > 0)
        copy(e->user, sizeof(e->user), asked->user);
    if (e->count++ == 0)
        e->first = at;
    if (e->fresh++ == 0)
        e->fresh_first = at;
    e->last = at;
    return e;
}

/* Some of the nodes that a reason is about, and what the first of them is told. */
static void describe(struct lks_decided *e, const struct lks_admit_list *list)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf nodes = {0};
    struct lks_str names[LKS_DECISIONS_NODES];
    struct lks_err err = {0};
    size_t named = 0;
    bool first = true;
    for (size_t i = 0; i < list->count && named < LKS_DECISIONS_NODES; i++) {
        const struct lks_admit_no *no = &list->items[i];
        if (no->bar != e->bar)
            continue;
        if (first) {
            copy(e->pool, sizeof(e->pool), no->pool);
            copy(e->text, sizeof(e->text), no->text);
        }
        first = false;
        if (lks_hostlist_is_name(no->node))
            names[named++] = no->node;
    }
    lks_buf_init(&nodes, sizeof(e->nodes) - 1);
    if (!first && lks_hostlist_fold(names, named, &nodes, &err) == LKS_OK)
        copy(e->nodes, sizeof(e->nodes), lks_buf_view(&nodes));
}

void lks_decisions_note(struct lks_decisions *d, struct lks_str job, struct lks_str user,
                        const struct lks_admit *a)
{
    const struct asked asked = {job, user};
    if (a->refused.total == 0 && a->warned.total == 0) {
        if (d->sample != 0 && d->yeses++ % d->sample == 0)
            (void)count(d, &asked, LKS_BAR_COUNT, true, a->asked);
        return;
    }
    for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++) {
        if (a->bars[bar] == 0)
            continue;
        struct lks_decided *e = count(d, &asked, (enum lks_bar)bar, a->yes, a->asked);
        describe(e, &a->warned);
        describe(e, &a->refused);
    }
}

bool lks_decisions_take(struct lks_decisions *d, struct lks_buf *out)
{
    for (size_t i = 0; i < LKS_DECISIONS_MAX; i++) {
        if (d->entries[i].id != 0)
            write_down(d, &d->entries[i]);
    }
    if (d->text.len == 0)
        return false;
    *out = LKS_MOVE(d->text);
    lks_buf_init(&d->text, LKS_DECISIONS_TEXT_MAX);
    return true;
}

static int newer(const void *a, const void *b)
{
    const struct lks_decided *const *left = a, *const *right = b;
    return ((*left)->id < (*right)->id) - ((*left)->id > (*right)->id);
}

size_t lks_decisions_list(const struct lks_decisions *d, uint64_t below,
                          const struct lks_decided *out[LKS_DECISIONS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < LKS_DECISIONS_MAX; i++) {
        const struct lks_decided *e = &d->entries[i];
        if (e->id != 0 && e->id < below)
            out[count++] = e;
    }
    qsort(out, count, sizeof(out[0]), newer);
    return count;
}

/* Lines that were written ------------------------------------------------------------------- */

static bool is_ours(const struct lks_doc *line, uint64_t *bar, lks_ms *first, lks_ms *last)
{
    const struct lks_doc *count = lks_doc_member(line, "count");
    const struct lks_doc *admitted = lks_doc_member(line, "admitted");
    struct lks_str job = lks_doc_text(line, "job"), reason = lks_doc_text(line, "reason");
    *bar = LKS_BAR_COUNT;
    return job.len > 0 && job.len <= LKS_ADMIT_JOB_MAX && admitted != NULL &&
           admitted->kind == LKS_DOC_BOOL && count != NULL && count->kind == LKS_DOC_NUMBER &&
           count->number > 0 &&
           (reason.len == 0 || lks_record_word_find(lks_bar_words, reason, bar)) &&
           lks_time_parse(lks_doc_text(line, "first"), first) &&
           lks_time_parse(lks_doc_text(line, "last"), last);
}

static void load_line(struct lks_decisions *d, struct lks_str text)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    uint64_t bar;
    lks_ms first = 0, last = 0;
    if (lks_docs_init(&docs, "decisions", &err) != LKS_OK ||
        lks_json_parse(text, &docs, &err) != LKS_OK || !is_ours(docs.first, &bar, &first, &last))
        return;
    const struct lks_doc *line = docs.first;
    struct lks_decided *e = find(d, lks_doc_text(line, "job"), (enum lks_bar)bar,
                                 lks_doc_member(line, "admitted")->truth);
    if (e->count == 0)
        e->first = first;
    e->count += (uint64_t)lks_doc_member(line, "count")->number;
    e->last = last;
    copy(e->user, sizeof(e->user), lks_doc_text(line, "user"));
    copy(e->pool, sizeof(e->pool), lks_doc_text(line, "pool"));
    copy(e->nodes, sizeof(e->nodes), lks_doc_text(line, "nodes"));
    copy(e->text, sizeof(e->text), lks_doc_text(line, "text"));
}

void lks_decisions_load(struct lks_decisions *d, struct lks_str lines)
{
    for (bool more = true; more;) {
        struct lks_str line;
        more = lks_str_cut(lines, '\n', &line, &lines);
        if (line.len > 0 && line.len < LINE_MAX_BYTES)
            load_line(d, line);
    }
}

/* Files ------------------------------------------------------------------------------------- */

static void name_file(const struct lks_decision_files *f, uint64_t number, char out[PATH_BYTES_MAX])
{
    snprintf(out, PATH_BYTES_MAX, "%s/%08" PRIu64 ".jsonl", f->dir, number);
}

/* The number of a file of ours, or 0. */
static uint64_t number_of(const char *name)
{
    struct lks_str digits, end;
    uint64_t number = 0;
    bool ours = lks_str_cut(lks_str_from(name), '.', &digits, &end) && lks_str_is(end, "jsonl") &&
                digits.len == 8 && lks_str_number(digits, NUMBER_MAX, &number);
    return ours ? number : 0;
}

enum lks_code lks_decision_files_open(struct lks_decision_files *f, const char *dir, uint64_t bytes,
                                      uint64_t count, struct lks_err *err)
{
    struct lks_decision_files made = {.bytes = bytes, .count = count};
    int len = snprintf(made.dir, sizeof(made.dir), "%s", dir);
    if (len < 0 || (size_t)len >= sizeof(made.dir))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", dir);
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return lks_file_fail(err, dir);
    DIR *d = opendir(dir);
    if (d == NULL)
        return lks_file_fail(err, dir);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        uint64_t number = number_of(entry->d_name);
        if (number != 0 && (made.oldest == 0 || number < made.oldest))
            made.oldest = number;
        if (number > made.newest)
            made.newest = number;
    }
    closedir(d);
    *f = made;
    return LKS_OK;
}

/* The next file; those beyond the most there may be go, the oldest first. */
static void begin_file(struct lks_decision_files *f)
{
    char path[PATH_BYTES_MAX];
    f->newest++;
    if (f->oldest == 0)
        f->oldest = f->newest;
    for (; f->newest - f->oldest >= f->count; f->oldest++) {
        name_file(f, f->oldest, path);
        (void)unlink(path);
    }
}

/* As many whole lines as there is room for; at least one where the file is empty. */
static struct lks_str take_lines(struct lks_str *lines, uint64_t room, bool empty)
{
    struct lks_str taken = {lines->ptr, 0}, line, rest = *lines;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        size_t end = lines->len - rest.len;
        if (end > room && !(empty && taken.len == 0))
            break;
        taken.len = end;
    }
    *lines = (struct lks_str){lines->ptr + taken.len, lines->len - taken.len};
    return taken;
}

static enum lks_code append(const char *path, struct lks_str lines, struct lks_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return lks_file_fail(err, path);
    enum lks_code code = lks_file_put(fd, path, lines, err);
    close(fd);
    return code;
}

enum lks_code lks_decision_files_add(struct lks_decision_files *f, struct lks_str lines,
                                     struct lks_err *err)
{
    while (lines.len > 0) {
        char path[PATH_BYTES_MAX];
        struct stat st = {0};
        name_file(f, f->newest, path);
        bool there = f->newest != 0 && stat(path, &st) == 0;
        uint64_t size = there ? (uint64_t)st.st_size : 0;
        struct lks_str some = {lines.ptr, 0};
        if (there)
            some = take_lines(&lines, size < f->bytes ? f->bytes - size : 0, size == 0);
        if (some.len == 0) {
            begin_file(f);
            name_file(f, f->newest, path);
            some = take_lines(&lines, f->bytes, true);
        }
        if (append(path, some, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_decision_files_read(const struct lks_decision_files *f, struct lks_buf *out,
                                      struct lks_err *err)
{
    char path[PATH_BYTES_MAX];
    uint64_t from = f->newest > f->oldest ? f->newest - 1 : f->newest;
    for (uint64_t i = from; i != 0 && i <= f->newest; i++) {
        name_file(f, i, path);
        enum lks_code code = lks_file_read_plain(path, out, err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND)
            return code;
    }
    return LKS_OK;
}
