/* The bytes of an input as answers of an API server: each is a few control bytes, which say the
 * body, the status, and for a body of free bytes how many of those that follow are in it. */
#ifndef LKS_FUZZ_ANSWERS_H
#define LKS_FUZZ_ANSWERS_H

#include "port/http.h"

#include <stdint.h>

struct stream {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

/* What a peer may say. A body that starts with '*' stands for bytes of the input. */
struct answers {
    const char *const *bodies;
    const int *statuses;
    size_t body_count, status_count;
};

static void next_answer(struct stream *s, const struct answers *from, struct lks_http_response *out,
                        struct lks_buf *body)
{
    const char *text = from->bodies[next_byte(s) % from->body_count];
    *out = (struct lks_http_response){.status = from->statuses[next_byte(s) % from->status_count]};
    lks_buf_truncate(body, 0);
    if (text[0] == '*') {
        size_t len = next_byte(s) * (size_t)4, most = (size_t)(s->end - s->at);
        len = len < most ? len : most;
        lks_buf_add(body, (struct lks_str){(const char *)s->at, len});
        s->at += len;
    } else {
        lks_buf_add(body, lks_str_from(text));
    }
    out->body = lks_buf_view(body);
}

#endif
