/*
 * Any slurmrestd at all. The first byte says what is asked of it; then each answer is a few control
 * bytes: which status, which body, and how many of the bytes that follow are in it. Where they run
 * out no answer comes any more.
 *
 * Whatever it answers: the conversation ends, within its bounds and its deadline; nothing is asked
 * but about the one node and the list of jobs; something is changed only after the node was read,
 * and only in a version that can; a release is asked for only where the last reading showed our own
 * drain; a node is drained only after a list of jobs; what comes out of it can be printed.
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

#define META "\"errors\":[],\"meta\":{\"plugin\":{\"data_parser\":\"data_parser/v0.0.42\"}}}"
#define OLD  "\"errors\":[],\"meta\":{\"plugin\":{\"type\":\"openapi/v0.0.38\"}}}"
#define NODE(state, reason, user)                                                                  \
    "{\"nodes\":[{\"name\":\"g1\",\"state\":" state ",\"reason\":\"" reason                        \
    "\",\"reason_set_by_user\":\"" user "\"}],"
#define HELD(reason, user) NODE("[\"IDLE\",\"DRAIN\"]", reason, user)

/* What it says, so that chance need not find the words. `*` stands for bytes of the input. */
static const char *const bodies[] = {
    "*",
    NODE("[\"IDLE\"]", "", "") META,
    NODE("\"idle\"", "", "") OLD,
    NODE("[\"MIXED\"]", "", "") META,
    NODE("[\"DOWN\"]", "bad \\u0007 DIMM", "root") META,
    HELD("lockstep:change:17 why", "slurm") META,
    HELD("lockstep:change:17 why (before: bad)", "slurm") META,
    HELD("lockstep:change:16 why", "slurm") META,
    HELD("lockstep:change:17 why", "kim\\n") META,
    HELD("bad fan", "slurm") META,
    NODE("[\"FAIL\"]", "bad", "root") META,
    "{\"jobs\":[]," META,
    "{\"jobs\":[{\"job_id\":{\"set\":true,\"infinite\":false,\"number\":7},\"job_state\":"
    "[\"RUNNING\"],\"nodes\":\"g[1-2]\",\"user_name\":\"\\u001b[2J\"}]," META,
    "{\"errors\":[{\"error\":\"no\",\"error_number\":2018}],\"meta\":{\"plugin\":{\"data_parser\":"
    "\"data_parser/v0.0.42\"}}}",
    "{\"errors\":[{\"error\":\"no\",\"error_number\":2002}],\"meta\":{\"plugin\":{\"data_parser\":"
    "\"data_parser/v0.0.42\"}}}",
    "{" META,
};

static const int statuses[] = {200, 200, 200, 200, 200, 500, 502, 404, 401, 405, 429, 503, 0};

/* Along the way. */
struct witness {
    bool ours, listed; /* the last reading of the node showed our drain; jobs were listed */
    unsigned acts;
};

static void watch(struct witness *w, const struct lks_http_request *r)
{
    struct lks_err err = {0};
    struct lks_str path = lks_buf_view(&r->path);
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    LKS_ASSERT(lks_str_starts(path, "/slurm/v0.0.") &&
               (lks_str_ends(path, "/node/g1") || lks_str_ends(path, "/jobs")));
    w->listed = w->listed || lks_str_ends(path, "/jobs");
    if (strcmp(r->method, "GET") == 0)
        return;
    LKS_ASSERT(strcmp(r->method, "POST") == 0 && lks_str_ends(path, "/node/g1"));
    LKS_ASSERT(!lks_str_starts(path, "/slurm/v0.0.38/"));
    LKS_ASSERT(lks_str_find(lks_buf_view(&r->body), LKS_STR("UNDRAIN")) < 0 || w->ours);
    w->acts++;
}

static void answer(struct stream *s, struct lks_http_response *out, struct lks_buf *body)
{
    const char *text = bodies[next_byte(s) % LKS_COUNT(bodies)];
    *out = (struct lks_http_response){.status = statuses[next_byte(s) % LKS_COUNT(statuses)]};
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

/* True: it ended well. */
static bool converse(void *value, struct stream *s, struct witness *w)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    const struct lks_conversation_ops *ops = lks_sched_slurmrestd.talk;
    struct lks_sched_said said;
    lks_ms now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            return talk.kind == LKS_TALK_DONE;
        LKS_ASSERT(talk.until > now && talk.until <= BEGIN + LKS_SCHED_DEADLINE);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        struct lks_http_response response;
        watch(w, &talk.request);
        LKS_ASSERT(w->acts <= LKS_SCHED_TURNS_MAX * LKS_CONVERSATION_TRIES_MAX);
        bool over = s->at >= s->end;
        answer(s, &response, &body);
        bool silent = over || response.status == 0;
        now = silent ? talk.until : now + 10;
        lks_conversation_feed(ops, value, now, silent ? NULL : &response);
        lks_sched_slurmrestd.said(value, &said);
        w->ours = said.ours;
    }
    LKS_ASSERT(false); /* it does not end */
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    struct witness w = {0};
    uint8_t how = next_byte(&s);
    const struct lks_sched_wish wish = {
        .verb = (enum lks_sched_verb)(how % LKS_SCHED_VERB_COUNT),
        .node = LKS_STR("g1"),
        .owner = LKS_STR("change:17"),
        .reason = LKS_STR("to another stack"),
        .login = {LKS_STR("slurm"), LKS_STR("abc.def.ghi")},
        .dialect = how / 32,
        .deadline = BEGIN + LKS_SCHED_DEADLINE,
    };
    struct lks_err err = {0};
    struct lks_sched_said said;
    void *value = calloc(1, lks_sched_slurmrestd.talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(lks_sched_slurmrestd.begin(value, &wish, &err) == LKS_OK);
    bool good = converse(value, &s, &w);
    lks_sched_slurmrestd.said(value, &said);
    LKS_ASSERT(lks_str_printable(lks_str_from(said.text)));
    LKS_ASSERT(lks_str_printable(lks_str_from(said.owner)));
    LKS_ASSERT(!said.ours || (said.lockstep && strcmp(said.owner, "change:17") == 0));
    LKS_ASSERT(!good || !lks_sched_drained(&said) || w.listed);
    free(value);
    return 0;
}
