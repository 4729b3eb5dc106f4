#include "tests/ways.h"

#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define BEGIN UINT64_C(1763200000000)

#define AFTER "after "

static bool used_up(const struct way *way, const char *path, const unsigned *served)
{
    for (size_t i = 0; i < PAGES_MAX && way->pages[i].method != NULL; i++) {
        if (strcmp(way->pages[i].path, path) == 0 && served[i] < way->pages[i].times)
            return false;
    }
    return true;
}

static const struct page *find_page(const struct way *way, const struct lks_http_request *r,
                                    unsigned *served)
{
    for (size_t i = 0; i < PAGES_MAX && way->pages[i].method != NULL; i++) {
        const struct page *page = &way->pages[i];
        if (strcmp(page->method, r->method) != 0 ||
            !lks_str_is(lks_buf_view(&r->path), page->path) ||
            (page->times > 0 && served[i] >= page->times) ||
            (lks_str_starts(lks_str_from(page->head), AFTER) &&
             !used_up(way, page->head + strlen(AFTER), served)))
            continue;
        served[i]++;
        return page;
    }
    return NULL;
}

/* Requests that change something, with what matters of them. */
static void note(const struct lks_http_request *r, struct lks_buf *log)
{
    struct lks_str head = lks_buf_view(&r->head), tag, rest;
    ptrdiff_t match = lks_str_find(head, LKS_STR("If-Match"));
    bool session = lks_str_starts(lks_buf_view(&r->path), "/s");
    if (strcmp(r->method, "GET") == 0 || (session && r->path.ptr[2] != 'i'))
        return;
    lks_buf_addf(log, "%s%s %s", log->len > 0 ? "\n" : "", r->method, r->path.ptr);
    if (match >= 0) {
        lks_str_cut((struct lks_str){head.ptr + match, head.len - (size_t)match}, '\r', &tag,
                    &rest);
        lks_buf_addf(log, " %.*s", (int)tag.len, tag.ptr);
    }
    if (r->body.len > 0 && r->body.len < 40 && r->file.digest[0] == '\0')
        lks_buf_addf(log, " %s", r->body.ptr);
}

/* An update on its way, and the last of its checkpoints. */
struct walk {
    const struct way *way;
    void *value;
    struct lks_buf saved, log;
    /* Requests that only read, after the first that changed something; and at which of them the
     * process ends (0: never). */
    unsigned requests, end_at;
};

static void begin(struct walk *w)
{
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    const struct lks_bmc_intent intent = {
        .act = w->way->act,
        .component = lks_str_from(w->way->component != NULL ? w->way->component : "bmc"),
        .version = LKS_STR("2.0"),
        .image = {.digest = "sha256:00", .length = 10},
        .image_size = 10,
        .pull = lks_str_from(w->way->pull != NULL ? w->way->pull : ""),
        .deadline = BEGIN + 2 * LKS_BMCS_HOUR,
    };
    CHECK_CODE(lks_bmc_redfish.update_begin(w->value, lks_test_facts(), &secret, &intent, &err),
               LKS_OK);
}

/* Another process takes up what was saved; where nothing was, it begins anew. */
static void restart(struct walk *w, lks_ms now)
{
    struct lks_err err = {0};
    memset(w->value, 0, lks_bmc_redfish.update->size);
    begin(w);
    if (w->saved.len == 0)
        return;
    CHECK_CODE(lks_bmc_redfish.update->load(w->value, lks_buf_view(&w->saved), &err), LKS_OK);
    lks_conversation_feed(lks_bmc_redfish.update, w->value, now, NULL);
}

static void answer(struct walk *w, const struct lks_http_request *request, unsigned *served,
                   lks_ms now)
{
    const struct page *page = find_page(w->way, request, served);
    struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
    bool later = page != NULL && lks_str_starts(lks_str_from(page->head), AFTER);
    if (page != NULL)
        response = (struct lks_http_response){.status = page->status,
                                              .head = lks_str_from(later ? "" : page->head),
                                              .body = lks_str_from(page->body)};
    bool reads = strcmp(request->method, "GET") == 0;
    if (reads && w->log.len > 0 && ++w->requests == w->end_at)
        restart(w, now);
    else
        lks_conversation_feed(lks_bmc_redfish.update, w->value, now,
                              response.status != 0 ? &response : NULL);
}

static void serve(struct walk *w)
{
    LKS_CLEANUP(lks_talk_fini) struct lks_talk talk = {0};
    unsigned served[PAGES_MAX] = {0};
    lks_ms now = BEGIN;
    lks_talk_init(&talk);
    for (unsigned i = 0; i < 2000; i++) {
        lks_conversation_next(lks_bmc_redfish.update, w->value, now, &talk);
        if (talk.checkpoint) {
            lks_buf_truncate(&w->saved, 0);
            lks_bmc_redfish.update->save(w->value, &w->saved);
        }
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        if (talk.kind != LKS_TALK_SEND)
            return;
        note(&talk.request, &w->log);
        now += 10;
        answer(w, &talk.request, served, now);
    }
    CHECK(false);
}

static void walk_init(struct walk *w, const struct way *way, unsigned end_at)
{
    *w = (struct walk){.way = way, .end_at = end_at};
    w->value = calloc(1, lks_bmc_redfish.update->size);
    LKS_ASSERT(w->value != NULL);
    lks_buf_init(&w->log, (size_t)1 << 16);
    lks_buf_init(&w->saved, LKS_CONVERSATION_SAVED_MAX);
    begin(w);
    serve(w);
}

static void walk_fini(struct walk *w)
{
    lks_buf_fini(&w->log);
    lks_buf_fini(&w->saved);
    free(w->value);
}

static struct lks_str asked(const struct walk *w)
{
    return w->log.len > 0 ? lks_buf_view(&w->log) : LKS_STR("");
}

/* How many requests that only read it makes. */
static unsigned try_way(const struct way *way)
{
    struct walk w;
    struct lks_bmc_status status;
    walk_init(&w, way, 0);
    lks_bmc_redfish.update_status(w.value, &status);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
              lks_bmc_outcome_words[way->outcome]);
    CHECK_HAS(status.text, way->says);
    CHECK_STR(asked(&w), way->asked);
    unsigned requests = w.requests;
    walk_fini(&w);
    return requests;
}

void lks_test_ways(const struct way *ways, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s", ways[i].name);
        (void)try_way(&ways[i]);
    }
}

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

/* What the process asks for that ended in between is no more than without that. */
static void try_end(const struct way *way, unsigned at)
{
    struct walk w;
    struct lks_str line, rest;
    walk_init(&w, way, at);
    for (rest = asked(&w); rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (!CHECK(lines_like(asked(&w), line) <= lines_like(lks_str_from(way->asked), line)))
            printf("%.*s\n", (int)asked(&w).len, asked(&w).ptr);
    }
    walk_fini(&w);
}

void lks_test_ways_ended(const struct way *ways, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum { ALL_OF_THEM = 30, THEN_EVERY = 11 };
        unsigned requests = try_way(&ways[i]);
        for (unsigned at = 1; at <= requests; at += at < ALL_OF_THEM ? 1 : THEN_EVERY) {
            lks_test_case("%s, ended at request %u", ways[i].name, at);
            try_end(&ways[i], at);
        }
    }
}
