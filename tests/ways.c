#include "tests/ways.h"

#include "tests/bmcs.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdlib.h>

#define BEGIN UINT64_C(1763200000000)

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
            (page->after != NULL && !used_up(way, page->after, served)))
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

static void serve(const struct way *way, void *value, struct lks_buf *log)
{
    LKS_CLEANUP(lks_talk_fini) struct lks_talk talk = {0};
    unsigned served[PAGES_MAX] = {0};
    lks_ms now = BEGIN;
    lks_talk_init(&talk);
    for (unsigned i = 0; i < 2000; i++) {
        lks_conversation_next(lks_bmc_redfish.update, value, now, &talk);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        if (talk.kind != LKS_TALK_SEND)
            return;
        note(&talk.request, log);
        const struct page *page = find_page(way, &talk.request, served);
        struct lks_http_response response = {.status = 404, .head = {"", 0}, .body = {"", 0}};
        if (page != NULL)
            response = (struct lks_http_response){.status = page->status,
                                                  .head = lks_str_from(page->head),
                                                  .body = lks_str_from(page->body)};
        now += 10;
        lks_conversation_feed(lks_bmc_redfish.update, value, now,
                              response.status != 0 ? &response : NULL);
    }
    CHECK(false);
}

static void try_way(const struct way *way)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf log = {0};
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_bmc_status status;
    struct lks_err err = {0};
    const struct lks_bmc_intent intent = {
        .act = way->act,
        .component = lks_str_from(way->component != NULL ? way->component : "bmc"),
        .version = LKS_STR("2.0"),
        .image = {.digest = "sha256:00", .length = 10},
        .image_size = 10,
        .pull = lks_str_from(way->pull != NULL ? way->pull : ""),
        .deadline = BEGIN + 2 * LKS_BMCS_HOUR,
    };
    void *value = calloc(1, lks_bmc_redfish.update->size);
    LKS_ASSERT(value != NULL);
    lks_buf_init(&log, (size_t)1 << 16);
    CHECK_CODE(lks_bmc_redfish.update_begin(value, lks_test_facts(), &secret, &intent, &err),
               LKS_OK);
    serve(way, value, &log);
    lks_bmc_redfish.update_status(value, &status);
    CHECK_STR(lks_str_from(lks_bmc_outcome_words[status.outcome]),
              lks_bmc_outcome_words[way->outcome]);
    CHECK_HAS(status.text, way->says);
    CHECK_STR(log.len > 0 ? lks_buf_view(&log) : LKS_STR(""), way->asked);
    free(value);
}

void lks_test_ways(const struct way *ways, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s", ways[i].name);
        try_way(&ways[i]);
    }
}
