/*
 * Any scheduler at all. The first byte says what is asked of it; then each answer is a few control
 * bytes: which status, which body, and how many of the bytes that follow are in it. Where they run
 * out no answer comes any more.
 *
 * Whatever is said: the conversation ends, within its bounds and its deadline; nothing is asked but
 * about the one node; something is changed only after a look, and only for a revision that was
 * seen; a release is asked for only where the last look showed our own drain; what comes out of it
 * can be printed.
 */
#include "drivers/sched/sched_drivers.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXCHANGES_MAX 200
#define BEGIN         UINT64_C(1763200000000)
#define BODY_MAX      ((size_t)64 << 10)

struct stream {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

#define NODE         "{\"node\":\"g1\",\"revision\":%u,\"age\":20,\"accepts\":"
#define REST         ",\"rotation\":false,\"requests\":0,\"jobs\":["
#define DRAIN(owner) "false,\"drain\":{\"owner\":\"" owner "\",\"reason\":\"r\",\"since\":1}" REST

/* What schedulers say, so that chance need not find the words. `*` stands for bytes of the input,
 * and "%u" for a number. */
static const char *const bodies[] = {
    "*",
    NODE "true,\"drain\":null" REST "]}",
    NODE "true,\"drain\":null" REST "{\"id\":1,\"kind\":\"batch\"}]}",
    NODE DRAIN("lockstep:change:17") "]}",
    NODE DRAIN("lockstep:change:17") "{\"kind\":\"\\u001b[2J\"},{}]}",
    NODE DRAIN("lockstep:change:16") "]}",
    NODE DRAIN("lockstep:") "]}",
    NODE DRAIN("kim\\n") "]}",
    NODE "true,\"drain\":{\"owner\":\"lockstep:change:17\",\"since\":1}" REST "]}",
    "{\"node\":\"g2\",\"revision\":%u}",
    "{\"error\":\"not\\u0007 now\"}",
    "[]",
};

static const int statuses[] = {200, 200, 200, 200, 409, 412, 422, 404, 401, 403, 500, 503, 429, 0};

/* Along the way. */
struct witness {
    bool looked, ours; /* the last answer that was good was to a look; it showed our own drain */
    unsigned acts;
};

static void watch(struct witness *w, const struct lks_http_request *r)
{
    struct lks_err err = {0};
    bool looks = strcmp(r->method, "GET") == 0;
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    LKS_ASSERT(lks_str_starts(lks_buf_view(&r->path), "/v1/nodes/g1"));
    if (looks)
        return;
    LKS_ASSERT(w->looked);
    LKS_ASSERT(lks_str_find(lks_buf_view(&r->head), LKS_STR("If-Match: ")) >= 0);
    LKS_ASSERT(strcmp(r->method, "POST") != 0 || w->ours);
    w->acts++;
}

static void answer(struct stream *s, struct lks_http_response *out, struct lks_buf *body)
{
    const char *text = bodies[next_byte(s) % LKS_COUNT(bodies)];
    const char *mark = strstr(text, "%u");
    uint8_t given = next_byte(s);
    *out = (struct lks_http_response){.status = statuses[given % LKS_COUNT(statuses)]};
    lks_buf_truncate(body, 0);
    if (text[0] == '*') {
        size_t len = next_byte(s) * (size_t)4, most = (size_t)(s->end - s->at);
        len = len < most ? len : most;
        lks_buf_add(body, (struct lks_str){(const char *)s->at, len});
        s->at += len;
    } else if (mark != NULL) {
        lks_buf_add(body, (struct lks_str){text, (size_t)(mark - text)});
        lks_buf_addf(body, "%u%s", (unsigned)next_byte(s), mark + 2);
    } else {
        lks_buf_add(body, lks_str_from(text));
    }
    out->body = lks_buf_view(body);
}

static void converse(const struct lks_sched_driver *driver, void *value, struct stream *s)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    struct witness w = {0};
    struct lks_sched_said said;
    lks_ms now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        lks_conversation_next(driver->talk, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            return;
        LKS_ASSERT(talk.until > now && talk.until <= BEGIN + LKS_SCHED_DEADLINE);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        struct lks_http_response response;
        watch(&w, &talk.request);
        LKS_ASSERT(w.acts <= LKS_SCHED_TURNS_MAX * LKS_CONVERSATION_TRIES_MAX);
        bool over = s->at >= s->end;
        answer(s, &response, &body);
        bool silent = over || response.status == 0;
        now = silent ? talk.until : now + 10;
        lks_conversation_feed(driver->talk, value, now, silent ? NULL : &response);
        driver->said(value, &said);
        w.looked = w.looked || said.known;
        w.ours = said.ours;
    }
    LKS_ASSERT(false); /* it does not end */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    const struct lks_sched_driver *driver = &lks_sched_bridge;
    uint8_t how = next_byte(&s);
    const struct lks_sched_wish wish = {
        .verb = (enum lks_sched_verb)(how % LKS_SCHED_VERB_COUNT),
        .node = LKS_STR("g1"),
        .owner = LKS_STR("change:17"),
        .reason = LKS_STR("to another stack"),
        .revision = how / 64,
        .deadline = BEGIN + LKS_SCHED_DEADLINE,
    };
    struct lks_err err = {0};
    struct lks_sched_said said;
    void *value = calloc(1, driver->talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(driver->begin(value, &wish, &err) == LKS_OK);
    converse(driver, value, &s);
    driver->said(value, &said);
    LKS_ASSERT(lks_str_printable(lks_str_from(said.text)));
    LKS_ASSERT(lks_str_printable(lks_str_from(said.owner)));
    LKS_ASSERT(!said.ours || (said.lockstep && strcmp(said.owner, "change:17") == 0));
    LKS_ASSERT(!lks_sched_drained(&said) || said.closed);
    free(value);
    return 0;
}
