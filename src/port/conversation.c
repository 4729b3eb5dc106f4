#include "port/conversation.h"

#include <stdarg.h>
#include <stdio.h>

/* Phases ------------------------------------------------------------------------------------ */

static const char *const phase_words[] = {"reading",    "preparing", "sending",    "following",
                                          "activating", "resetting", "cancelling", "closing",
                                          "done",       "failed"};
_Static_assert(LKS_COUNT(phase_words) == LKS_PHASE_COUNT, "a name for each");

/* In each of them an answer may not come, a session may run out, and the deadline may pass. */
#define OPEN(phase)                                                                                \
    [LKS_PHASE_##phase][LKS_PHASE_##phase] = "it is asked again, or goes on within the phase",     \
    [LKS_PHASE_##phase][LKS_PHASE_CLOSING] = "the outcome is known, or cannot be found out",       \
    [LKS_PHASE_##phase][LKS_PHASE_DONE] = "the same, without a session to close",                  \
    [LKS_PHASE_##phase][LKS_PHASE_FAILED] = "the peer does not let us in, or does not answer"
#define READ_AGAIN(phase, why) [LKS_PHASE_##phase][LKS_PHASE_READING] = (why)

static const char *const phase_when[LKS_PHASE_COUNT][LKS_PHASE_COUNT] = {
    OPEN(READING),
    [LKS_PHASE_READING][LKS_PHASE_PREPARING] = "nothing runs there, and the targets are set first",
    [LKS_PHASE_READING][LKS_PHASE_SENDING] = "nothing runs there, or what was sent did not arrive",
    [LKS_PHASE_READING][LKS_PHASE_FOLLOWING] = "the task of what was sent was found",
    [LKS_PHASE_READING][LKS_PHASE_ACTIVATING] = "it is staged, and a reset has to be found",
    [LKS_PHASE_READING][LKS_PHASE_RESETTING] = "it is staged, and the peer has an action for it",
    [LKS_PHASE_READING][LKS_PHASE_CANCELLING] = "something is staged that is to be given up",
    OPEN(PREPARING),
    READ_AGAIN(PREPARING, "what was read of the peer has changed"),
    [LKS_PHASE_PREPARING][LKS_PHASE_SENDING] = "the peer took the targets",
    OPEN(SENDING),
    READ_AGAIN(SENDING, "no answer, or one that names no task: the tasks are read"),
    [LKS_PHASE_SENDING][LKS_PHASE_FOLLOWING] = "the peer took it and names a task",
    OPEN(FOLLOWING),
    READ_AGAIN(FOLLOWING, "the task ended or vanished: the inventory decides"),
    [LKS_PHASE_FOLLOWING][LKS_PHASE_SENDING] = "the next part, or its start, is sent",
    OPEN(ACTIVATING),
    READ_AGAIN(ACTIVATING, "the tasks were read too long before a reset"),
    [LKS_PHASE_ACTIVATING][LKS_PHASE_RESETTING] = "the reset was found, and nothing runs there",
    OPEN(RESETTING),
    READ_AGAIN(RESETTING, "it was sent: the inventory is read, or tasks before another try"),
    [LKS_PHASE_RESETTING][LKS_PHASE_FOLLOWING] = "the action became a task",
    [LKS_PHASE_RESETTING][LKS_PHASE_ACTIVATING] = "it was refused by a peer without tasks",
    OPEN(CANCELLING),
    READ_AGAIN(CANCELLING, "it was sent: the inventory is read"),
    [LKS_PHASE_CLOSING][LKS_PHASE_DONE] = "the session is closed, or left to run out",
    [LKS_PHASE_CLOSING][LKS_PHASE_FAILED] = "the same, after a failure",
};
const struct lks_machine lks_conversation_moves = {
    .name = "conversation",
    .about = "an update of firmware as its driver carries it out (Redfish, switch trays)",
    .words = phase_words,
    .ends = LKS_MACHINE_END(LKS_PHASE_DONE) | LKS_MACHINE_END(LKS_PHASE_FAILED),
    LKS_MACHINE_TABLE(phase_when),
};

static enum lks_conversation_phase phase_of(const struct lks_conversation_ops *ops,
                                            const void *value)
{
    const struct lks_conversation *c = value;
    if (c->ended)
        return c->err.code == LKS_OK ? LKS_PHASE_DONE : LKS_PHASE_FAILED;
    return ops->phase != NULL ? ops->phase(value) : LKS_PHASE_READING;
}

/* Running one ------------------------------------------------------------------------------- */

void lks_conversation_talk_init(struct lks_talk *t)
{
    *t = (struct lks_talk){0};
    lks_http_request_init(&t->request);
}

void lks_conversation_talk_fini(struct lks_talk *t)
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
    lks_conversation_talk_fini(out);
    lks_conversation_talk_init(out);
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
    enum lks_conversation_phase was = phase_of(ops, value);
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
    (void)lks_machine_step(&lks_conversation_moves, was, phase_of(ops, value));
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
