#include "tests/ways.h"

#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define BEGIN UINT64_C(1763200000000)

/* An update on its way, and the last of its checkpoints. */
struct walk {
    const struct ways *ways;
    const struct way *way;
    void *value;
    unsigned served[PAGES_MAX];
    struct lks_buf saved, log;
    struct lks_buf changes; /* those lines of the log that are no reads */
    /* Requests that only read, after the first that changed something; and at which of them the
     * process ends (0: never). */
    unsigned requests, end_at;
    bool shown[101]; /* percentages */
    lks_ms now;
};

static unsigned lines_like(struct lks_str text, struct lks_str line)
{
    struct lks_str one;
    unsigned count = 0;
    while (text.len > 0) {
        lks_str_cut(text, '\n', &one, &text);
        count += lks_str_eq(one, line);
    }
    return count;
}

static struct lks_str text_of(const struct lks_buf *buf)
{
    return buf->len > 0 ? lks_buf_view(buf) : LKS_STR("");
}

/* What stands behind a word in the head of a page; "": nothing. */
static struct lks_str told(const struct page *page, const char *word)
{
    struct lks_str rest = lks_str_from(page->head), line;
    while (rest.len > 0) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, word))
            return (struct lks_str){line.ptr + strlen(word), line.len - strlen(word)};
    }
    return LKS_STR("");
}

static bool used_up(const struct walk *w, struct lks_str path)
{
    for (size_t i = 0; i < PAGES_MAX && w->way->pages[i].method != NULL; i++) {
        if (lks_str_is(path, w->way->pages[i].path) && w->served[i] < w->way->pages[i].times)
            return false;
    }
    return true;
}

static bool is_due(const struct walk *w, const struct page *page)
{
    struct lks_str after = told(page, "after "), seen = told(page, "seen ");
    return (after.len == 0 || used_up(w, after)) &&
           (seen.len == 0 || lines_like(text_of(&w->log), seen) > 0);
}

static const struct page *find_page(struct walk *w, const struct lks_http_request *r)
{
    for (size_t i = 0; i < PAGES_MAX && w->way->pages[i].method != NULL; i++) {
        const struct page *page = &w->way->pages[i];
        if (strcmp(page->method, r->method) != 0 ||
            !lks_str_is(lks_buf_view(&r->path), page->path) ||
            (page->times > 0 && w->served[i] >= page->times) || !is_due(w, page))
            continue;
        w->served[i]++;
        return page;
    }
    return NULL;
}

static bool only_reads(const struct lks_http_request *r)
{
    bool session = lks_str_starts(lks_buf_view(&r->path), "/s");
    return strcmp(r->method, "GET") == 0 || (session && r->path.ptr[2] != 'i');
}

/* A request, with what matters of it. */
static void describe(const struct lks_http_request *r, struct lks_buf *out)
{
    struct lks_str head = lks_buf_view(&r->head), tag, rest;
    ptrdiff_t match = lks_str_find(head, LKS_STR("If-Match"));
    lks_buf_addf(out, "%s %s", r->method, r->path.ptr);
    if (match >= 0) {
        lks_str_cut((struct lks_str){head.ptr + match, head.len - (size_t)match}, '\r', &tag,
                    &rest);
        lks_buf_addf(out, " %.*s", (int)tag.len, tag.ptr);
    }
    if (r->body.len > 0 && r->body.len < 40 && r->file.digest[0] == '\0')
        lks_buf_addf(out, " %s", r->body.ptr);
}

static void add_line(struct lks_buf *log, struct lks_str line)
{
    lks_buf_addf(log, "%s%.*s", log->len > 0 ? "\n" : "", (int)line.len, line.ptr);
}

static void note(struct walk *w, const struct lks_http_request *r, const struct page *page)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF((size_t)1 << 12);
    struct lks_str named = page != NULL ? told(page, "note ") : LKS_STR("");
    if (named.len > 0)
        lks_buf_add(&line, named);
    else if (!only_reads(r))
        describe(r, &line);
    bool again = lks_str_eq(lks_str_last(text_of(&w->log), '\n'), text_of(&line));
    if (line.len > 0 && !(only_reads(r) && again))
        add_line(&w->log, lks_buf_view(&line));
    bool harmless = page != NULL && strstr(page->head, "harmless\n") != NULL;
    if (!only_reads(r) && !harmless)
        add_line(&w->changes, lks_buf_view(&line));
}

static void begin(struct walk *w)
{
    const char *pull = w->way->pull != NULL ? w->way->pull : w->ways->pull;
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    const struct lks_bmc_intent intent = {
        .act = w->way->act,
        .component = lks_str_from(w->way->component != NULL ? w->way->component : "bmc"),
        .version = LKS_STR("2.0"),
        .image = {.digest = "sha256:00", .length = 10},
        .image_size = 10,
        .pull = lks_str_from(pull != NULL ? pull : ""),
        .one_way = w->ways->one_way,
        .write_protected = w->way->write_protected,
        .deadline = BEGIN + 2 * LKS_BMCS_HOUR,
    };
    CHECK_CODE(w->ways->driver->update_begin(w->value, lks_test_facts(), &secret, &intent, &err),
               LKS_OK);
}

/* Another process takes up what was saved; where nothing was, it begins anew. */
static void restart(struct walk *w)
{
    const struct lks_conversation_ops *ops = w->ways->driver->update;
    struct lks_err err = {0};
    memset(w->value, 0, ops->size);
    begin(w);
    if (w->saved.len == 0)
        return;
    CHECK_CODE(ops->load(w->value, lks_buf_view(&w->saved), &err), LKS_OK);
    w->now -= w->way->behind;
    lks_conversation_feed(ops, w->value, w->now, NULL);
}

static void answer(struct walk *w, const struct lks_http_request *request)
{
    const struct page *page = find_page(w, request);
    struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
    note(w, request, page);
    if (w->way->sends != NULL && request->file.digest[0] != '\0')
        CHECK_HAS(lks_buf_view(&request->body), w->way->sends);
    if (page != NULL)
        response = (struct lks_http_response){.status = page->status,
                                              .head = lks_str_from(page->head),
                                              .body = lks_str_from(page->body)};
    if (only_reads(request) && w->changes.len > 0 && ++w->requests == w->end_at)
        restart(w);
    else
        lks_conversation_feed(w->ways->driver->update, w->value, w->now,
                              response.status != 0 ? &response : NULL);
}

static void note_percent(struct walk *w)
{
    struct lks_bmc_status status;
    w->ways->driver->update_status(w->value, &status);
    if (CHECK(status.percent < LKS_COUNT(w->shown)))
        w->shown[status.percent] = true;
}

static void serve(struct walk *w)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_conversation_ops *ops = w->ways->driver->update;
    w->now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < 5000; i++) {
        lks_conversation_next(ops, w->value, w->now, &talk);
        if (talk.checkpoint) {
            lks_buf_truncate(&w->saved, 0);
            ops->save(w->value, &w->saved);
        }
        if (talk.kind == LKS_TALK_WAIT) {
            w->now = talk.until;
            continue;
        }
        if (talk.kind != LKS_TALK_SEND)
            return;
        w->now += 10;
        answer(w, &talk.request);
        note_percent(w);
    }
    CHECK(false);
}

static void walk_init(struct walk *w, const struct ways *ways, const struct way *way,
                      unsigned end_at)
{
    *w = (struct walk){.ways = ways, .way = way, .end_at = end_at};
    w->value = calloc(1, ways->driver->update->size);
    LKS_ASSERT(w->value != NULL);
    lks_buf_init(&w->log, (size_t)1 << 16);
    lks_buf_init(&w->changes, (size_t)1 << 16);
    lks_buf_init(&w->saved, LKS_CONVERSATION_SAVED_MAX);
    begin(w);
    serve(w);
}

static void walk_fini(struct walk *w)
{
    lks_buf_fini(&w->log);
    lks_buf_fini(&w->changes);
    lks_buf_fini(&w->saved);
    free(w->value);
}

/* How many requests that only read it makes. */
static unsigned try_way(const struct ways *ways, const struct way *way)
{
    struct walk w;
    struct lks_bmc_status status;
    walk_init(&w, ways, way, 0);
    ways->driver->update_status(w.value, &status);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
              lks_bmc_outcome_words[way->outcome]);
    CHECK_HAS(status.text, way->says);
    CHECK_STR(text_of(&w.log), way->asked);
    CHECK(way->percent == 0 || w.shown[way->percent]);
    unsigned requests = w.requests;
    walk_fini(&w);
    return requests;
}

void lks_test_ways(const struct ways *ways)
{
    for (size_t i = 0; i < ways->count; i++) {
        lks_test_case("%s", ways->rows[i].name);
        (void)try_way(ways, &ways->rows[i]);
    }
}

/* What the process asks for that ended in between is no more than without that. */
static void try_end(const struct ways *ways, const struct way *way, unsigned at)
{
    struct walk w;
    struct lks_str line, rest;
    walk_init(&w, ways, way, at);
    for (rest = text_of(&w.changes); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (!CHECK(lines_like(text_of(&w.changes), line) <=
                   lines_like(lks_str_from(way->asked), line)))
            printf("%.*s\n", (int)w.log.len, w.log.ptr);
    }
    walk_fini(&w);
}

void lks_test_ways_ended(const struct ways *ways)
{
    for (size_t i = 0; i < ways->count; i++) {
        enum { ALL_OF_THEM = 30, THEN_EVERY = 11 };
        unsigned requests = try_way(ways, &ways->rows[i]);
        for (unsigned at = 1; at <= requests; at += at < ALL_OF_THEM ? 1 : THEN_EVERY) {
            lks_test_case("%s, ended at request %u", ways->rows[i].name, at);
            try_end(ways, &ways->rows[i], at);
        }
    }
}
