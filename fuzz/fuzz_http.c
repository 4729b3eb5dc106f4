/* Any bytes at all, the first of which says how they are cut: an answer is the same whole or in
 * pieces, never longer than its limits, and what is whole takes no more. The body, read as events,
 * gives the same events whole or in pieces. */
#include "codec/format/http.h"

#include <stdint.h>

enum { BODY_MAX = 4096, EVENTS_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    enum lks_code code;
    size_t taken;
    struct lks_http_answer answer;
};

static void read_answer(struct lks_str text, size_t step, bool bodiless, struct outcome *out)
{
    struct lks_http_answer *a = &out->answer;
    struct lks_err err = {0};
    lks_http_answer_init(a, BODY_MAX, bodiless);
    while (out->code == LKS_OK && out->taken < text.len && !lks_http_answer_whole(a)) {
        struct lks_str piece = {text.ptr + out->taken, text.len - out->taken};
        size_t taken = 0;
        piece.len = piece.len < step ? piece.len : step;
        out->code = lks_http_answer_feed(a, piece, &taken, &err);
        LKS_ASSERT(out->code != LKS_OK || taken == piece.len || lks_http_answer_whole(a));
        out->taken += taken;
    }
    if (out->code == LKS_OK)
        out->code = lks_http_answer_end(a, &err);
    LKS_ASSERT((out->code == LKS_OK) == lks_http_answer_whole(a));
    LKS_ASSERT(out->code == LKS_OK || err.msg[0] != '\0');
}

static bool note(void *ctx, struct lks_str id, struct lks_str data)
{
    struct lks_buf *out = ctx;
    lks_buf_add(out, id);
    lks_buf_addc(out, '=');
    lks_buf_add(out, data);
    lks_buf_addc(out, ';');
    return true;
}

static void read_events(struct lks_str text, size_t step, struct lks_buf *out)
{
    LKS_CLEANUP(lks_http_events_fini) struct lks_http_events events = {0};
    struct lks_err err = {0};
    lks_buf_init(out, EVENTS_MAX);
    lks_http_events_init(&events);
    while (text.len > 0) {
        struct lks_str piece = {text.ptr, text.len < step ? text.len : step};
        bool going = false;
        enum lks_code code = lks_http_events_feed(&events, piece, note, out, &going, &err);
        LKS_ASSERT(code == LKS_OK && going);
        text = (struct lks_str){text.ptr + piece.len, text.len - piece.len};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct lks_str text = {(const char *)data + 1, size - 1};
    size_t step = (data[0] & 0x7f) + 1U;
    bool bodiless = data[0] >= 0x80;
    struct outcome whole = {0}, cut = {0};
    read_answer(text, text.len + 1, bodiless, &whole);
    read_answer(text, step, bodiless, &cut);
    LKS_ASSERT(whole.code == cut.code);
    if (whole.code == LKS_OK) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0}, twice = {0};
        const struct lks_http_answer *a = &whole.answer, *b = &cut.answer;
        struct lks_str body = lks_buf_view(&a->body);
        LKS_ASSERT(whole.taken == cut.taken && a->status == b->status);
        LKS_ASSERT(a->status >= 200 && a->status <= 599 && a->keep_alive == b->keep_alive);
        LKS_ASSERT(body.len <= BODY_MAX && a->head.len <= LKS_HTTP_HEAD_MAX);
        LKS_ASSERT(lks_str_eq(body, lks_buf_view(&b->body)));
        LKS_ASSERT(lks_str_eq(lks_buf_view(&a->head), lks_buf_view(&b->head)));
        read_events(body, body.len + 1, &once);
        read_events(body, step, &twice);
        LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    }
    lks_http_answer_fini(&whole.answer);
    lks_http_answer_fini(&cut.answer);
    return 0;
}
