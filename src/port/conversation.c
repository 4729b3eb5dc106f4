#include "port/conversation.h"

#include <stdarg.h>
#include <stdio.h>

void lks_talk_init(struct lks_talk *t)
{
    *t = (struct lks_talk){0};
    lks_http_request_init(&t->request);
}

void lks_talk_fini(struct lks_talk *t)
{
    lks_http_request_fini(&t->request);
    *t = (struct lks_talk){0};
}

static lks_ms earlier(lks_ms a, lks_ms b)
{
    return a < b ? a : b;
}

void lks_conversation_next(const struct lks_conversation_ops *ops, const void *value, lks_ms now,
                           struct lks_talk *out)
{
    const struct lks_conversation *c = value;
    lks_talk_fini(out);
    lks_talk_init(out);
    out->checkpoint = c->checkpoint;
    if (c->ended) {
        out->kind = c->err.code == LKS_OK ? LKS_TALK_DONE : LKS_TALK_FAIL;
        out->err = c->err;
    } else if (now >= c->deadline) {
        out->kind = LKS_TALK_FAIL;
        (void)!lks_fail(&out->err, LKS_E_TIMEOUT, "not finished by its deadline");
    } else if (now < c->wait_until) {
        out->kind = LKS_TALK_WAIT;
        out->until = earlier(c->wait_until, c->deadline);
    } else {
        lks_ms patience = ops->ask(value, &out->request);
        out->kind = lks_http_request_check(&out->request, &out->err) == LKS_OK ? LKS_TALK_SEND
                                                                               : LKS_TALK_FAIL;
        out->until = earlier(now + patience, c->deadline);
    }
}

void lks_conversation_feed(const struct lks_conversation_ops *ops, void *value, lks_ms now,
                           const struct lks_http_response *answer)
{
    struct lks_conversation *c = value;
    int status = answer != NULL ? answer->status : 0;
    LKS_ASSERT(!c->ended);
    c->checkpoint = false;
    /* Busy: it did not even begin. Other 5xx leave open whether it did, as silence does; and a peer
     * that is busy for too long is as good as silent, which is for the driver to judge. */
    bool busy = status == 429 || status == 503;
    if (ops->hears_all)
        ops->hear(value, now, answer);
    else if (busy && c->tries + 1 < LKS_CONVERSATION_TRIES_MAX)
        lks_conversation_retry(c, now + lks_http_response_retry(answer, LKS_SECOND << c->tries));
    else
        ops->hear(value, now, busy || status >= 500 ? NULL : answer);
}

void lks_conversation_go(struct lks_conversation *c, uint32_t step, lks_ms wait_until)
{
    c->step = step;
    c->tries = 0;
    c->wait_until = wait_until;
}

void lks_conversation_go_checkpoint(struct lks_conversation *c, uint32_t step, lks_ms wait_until)
{
    lks_conversation_go(c, step, wait_until);
    c->checkpoint = true;
}

void lks_conversation_retry(struct lks_conversation *c, lks_ms wait_until)
{
    c->wait_until = wait_until;
    if (++c->tries >= LKS_CONVERSATION_TRIES_MAX)
        lks_conversation_fail(c, LKS_E_UNAVAILABLE, "no good answer in %u tries", c->tries);
}

void lks_conversation_end(struct lks_conversation *c)
{
    c->ended = true;
}

void lks_conversation_fail(struct lks_conversation *c, enum lks_code code, const char *fmt, ...)
{
    char text[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    (void)!lks_fail(&c->err, code, "%s", text); /* printable, whatever the peer said */
    c->ended = true;
}
