/* An image is read from where an endpoint is to fetch it, and compared with what is wanted. */
#include "drivers/service/image_check.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define SIZE ((size_t)(LKS_IMAGE_CHECK_PIECE + 1000))

enum what {
    RANGES,
    WHOLE,       /* no ranges: all of it at once */
    CHANGED,     /* one byte, in the last piece */
    LONGER,      /* by a byte */
    SHORT_PIECE, /* than was asked for */
    NO_PLACE,    /* ranges that do not say where */
    CHANGES,     /* another file between two pieces */
    MISSING,
    BUSY_ONCE,
    SILENT,
};

static const struct {
    const char *name;
    enum what what;
    size_t size;
    enum lks_code code;
    const char *says;
    unsigned requests;
} rows[] = {
    {"in two pieces", RANGES, SIZE, LKS_OK, "", 2},
    {"in one piece", RANGES, 1000, LKS_OK, "", 1},
    {"exactly one piece", RANGES, LKS_IMAGE_CHECK_PIECE, LKS_OK, "", 1},
    {"without ranges", WHOLE, 1000, LKS_OK, "", 1},
    {"another byte", CHANGED, SIZE, LKS_E_INVALID, "it has the digest sha256:", 2},
    {"another byte, without ranges", CHANGED, 10, LKS_E_INVALID, "it has the digest sha256:", 1},
    {"a byte more", LONGER, SIZE, LKS_E_INVALID, "bytes, not", 1},
    {"fewer than were asked for", SHORT_PIECE, SIZE, LKS_E_UNAVAILABLE, "another range", 1},
    {"no place", NO_PLACE, SIZE, LKS_E_UNAVAILABLE, "without their place", 1},
    {"it becomes longer", CHANGES, SIZE, LKS_E_INVALID, "bytes, not", 2},
    {"not there", MISSING, SIZE, LKS_E_UNAVAILABLE, "status 404", 1},
    {"busy at first", BUSY_ONCE, 1000, LKS_OK, "", 2},
    {"silent", SILENT, 1000, LKS_E_UNAVAILABLE, "", LKS_CONVERSATION_TRIES_MAX},
};

/* What the server says to the `count`th request, which begins at `from`. */
static void answer(size_t i, unsigned count, size_t from, const char *bytes, char head[128],
                   struct lks_http_response *out)
{
    enum what what = rows[i].what;
    size_t size = rows[i].size, left = size - from;
    size_t piece = left < LKS_IMAGE_CHECK_PIECE ? left : LKS_IMAGE_CHECK_PIECE;
    size_t all = size + (what == LONGER || (what == CHANGES && count > 1));
    snprintf(head, 128, "content-range: bytes %zu-%zu/%zu\n", from, from + piece - 1, all);
    *out = (struct lks_http_response){.status = 206,
                                      .head = lks_str_from(what == NO_PLACE ? "" : head),
                                      .body = {bytes + from, piece - (what == SHORT_PIECE)}};
    if (what == WHOLE)
        *out = (struct lks_http_response){.status = 200, .body = {bytes, size}};
    if (what == MISSING || (what == BUSY_ONCE && count == 1))
        *out = (struct lks_http_response){.status = what == MISSING ? 404 : 503};
}

static unsigned talk(size_t i, void *value, struct lks_image_check *c, const char *bytes,
                     struct lks_talk *t)
{
    unsigned requests = 0;
    lks_ms now = 1000;
    for (unsigned step = 0; step < 100; step++) {
        lks_conversation_next(&lks_image_check_talk, value, now, t);
        if (t->kind == LKS_TALK_DONE || t->kind == LKS_TALK_FAIL)
            break;
        now = t->kind == LKS_TALK_WAIT ? t->until : now;
        if (t->kind != LKS_TALK_SEND)
            continue;
        struct lks_http_response response;
        char head[128], range[64];
        snprintf(range, sizeof(range), "Range: bytes=%zu-", (size_t)c->got);
        CHECK_HAS(lks_buf_view(&t->request.head), range);
        CHECK_STR(lks_buf_view(&t->request.path), "/images/x");
        answer(i, ++requests, (size_t)c->got, bytes, head, &response);
        lks_conversation_feed(&lks_image_check_talk, value, now,
                              rows[i].what == SILENT ? NULL : &response);
    }
    return requests;
}

static void test_rows(void)
{
    char *bytes = malloc(SIZE + 1);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_err err = {0};
        char digest[LKS_DIGEST_SIZE];
        struct lks_talk t;
        void *value = calloc(1, lks_image_check_talk.size);
        lks_test_case("%s", rows[i].name);
        memset(bytes, 'a', SIZE + 1);
        CHECK_CODE(lks_digest_text((struct lks_str){bytes, rows[i].size}, digest, &err), LKS_OK);
        bytes[rows[i].size - 1] = rows[i].what == CHANGED ? 'b' : 'a';
        struct lks_image_check c = {.path = LKS_STR("/images/x"),
                                    .digest = digest,
                                    .size = rows[i].size,
                                    .deadline = 10 * 60 * LKS_SECOND,
                                    .patience = LKS_SECOND};
        CHECK_CODE(lks_image_check_init(&c, &err), LKS_OK);
        lks_image_check_begin(value, &c);
        lks_conversation_talk_init(&t);
        CHECK_INT(talk(i, value, &c, bytes, &t), rows[i].requests);
        CHECK_INT(t.kind, rows[i].code == LKS_OK ? LKS_TALK_DONE : LKS_TALK_FAIL);
        CHECK_CODE(t.err.code, rows[i].code);
        CHECK_HAS(lks_str_from(t.err.msg), rows[i].says);
        lks_conversation_talk_fini(&t);
        lks_image_check_fini(&c);
        free(value);
    }
    free(bytes);
}

int main(void)
{
    static const struct lks_test tests[] = {{"images", test_rows}, {0}};
    return lks_test_main(tests);
}
