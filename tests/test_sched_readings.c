/*
 * Conversations of a bridge about a node, answer by answer: which readings are taken, and what a
 * refusal becomes.
 */
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW         UINT64_C(1763200000000)
#define ANSWERS_MAX 8

/* One that came, or none (status 0). */
struct answer {
    int status;
    const char *body;
};

#define NODE(revision, age, rest)                                                                  \
    "{\"node\":\"g1\",\"revision\":" #revision ",\"age\":" #age                                    \
    ",\"jobs\":[],\"rotation\":false,\"requests\":0," rest "}"
#define OURS(revision, age)                                                                        \
    NODE(revision, age,                                                                            \
         "\"accepts\":false,\"state\":\"idle+drain\","                                             \
         "\"drain\":{\"owner\":\"lockstep:change:17\",\"reason\":\"r\",\"since\":1}")
#define BUSY(id, owner)                                                                            \
    "{\"node\":\"g1\",\"revision\":5,\"age\":0,\"rotation\":false,\"requests\":0,\"accepts\":"     \
    "false,"                                                                                       \
    "\"jobs\":[{\"id\":\"" id "\",\"name\":\"Slurm reboots the node\"}],"                          \
    "\"drain\":{\"owner\":\"" owner "\",\"reason\":\"r\",\"since\":1}}"
#define OPEN(revision, age)                                                                        \
    NODE(revision, age, "\"accepts\":true,\"state\":\"idle\",\"drain\":null")

static const struct {
    const char *name;
    enum lks_sched_verb verb;
    lks_ms before;                      /* the last reading that was taken is so old; 0: none was */
    uint64_t revision;                  /* that it had; 0: another bridge gave it */
    struct answer answers[ANSWERS_MAX]; /* then none comes any more */
    enum lks_code code;
    const char *text;  /* of the error, or what the node's is in the end */
    unsigned requests; /* that are sent */
} cases[] = {
    {"the first reading may be old",
     LKS_SCHED_LOOK,
     0,
     0,
     {{200, OURS(5, 11577)}},
     LKS_OK,
     "drained",
     1},
    {"another bridge's reading is later than the last one",
     LKS_SCHED_LOOK,
     10000,
     0,
     {{200, OURS(5, 9000)}},
     LKS_OK,
     "drained",
     1},
    {"it is from before the last one, until the bridge has read the node again",
     LKS_SCHED_LOOK,
     10000,
     0,
     {{200, OURS(5, 11577)}, {200, OPEN(6, 500)}},
     LKS_OK,
     "idle, and open for work",
     2},
    {"a bridge that shows nothing later",
     LKS_SCHED_LOOK,
     1000,
     0,
     {{200, OURS(5, 2000)},
      {200, OURS(5, 4000)},
      {200, OURS(5, 8000)},
      {200, OURS(5, 16000)},
      {200, OURS(5, 32000)},
      {200, OURS(5, 59000)}},
     LKS_E_UNAVAILABLE,
     "a reading from before one that was taken, or before a write",
     6},
    {"the same reading once more, by its revision",
     LKS_SCHED_LOOK,
     10,
     5,
     {{200, OURS(5, 900)}},
     LKS_OK,
     "drained",
     1},
    {"that revision, and a reading that is older all the same",
     LKS_SCHED_LOOK,
     10,
     5,
     {{200, OURS(5, 30000)}, {200, OPEN(6, 0)}},
     LKS_OK,
     "idle, and open for work",
     2},
    {"what keeps it from being empty, in the words of the bridge",
     LKS_SCHED_LOOK,
     0,
     0,
     {{200, BUSY("?", "lockstep:change:17")}},
     LKS_OK,
     "Slurm reboots the node",
     1},
    {"a job has a number",
     LKS_SCHED_LOOK,
     0,
     0,
     {{200, BUSY("17", "lockstep:change:17")}},
     LKS_OK,
     "1 job runs there, the first is 17",
     1},
    {"a drain of another owner comes first",
     LKS_SCHED_LOOK,
     0,
     0,
     {{200, BUSY("?", "kim")}},
     LKS_OK,
     "drained by 'kim': r",
     1},
    {"a reading from before the write says nothing of it",
     LKS_SCHED_RELEASE,
     0,
     0,
     {{200, OURS(5, 100)}, {200, "{}"}, {200, OURS(5, 3000)}, {200, OPEN(6, 0)}},
     LKS_OK,
     "idle, and open for work",
     4},
};

/* Converse to the end; how many requests were sent. */
static unsigned converse(void *value, const struct answer *answers, struct lks_err *err)
{
    const struct lks_conversation_ops *ops = lks_sched_bridge.talk;
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_ms now = NOW;
    unsigned sent = 0;
    lks_conversation_talk_init(&talk);
    for (;;) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            break;
        now = talk.kind == LKS_TALK_WAIT ? talk.until : now + 1;
        if (talk.kind == LKS_TALK_WAIT)
            continue;
        const struct answer *a = sent < ANSWERS_MAX ? &answers[sent] : &(struct answer){0};
        struct lks_http_response response = {.status = a->status,
                                             .body = lks_str_from(a->body != NULL ? a->body : "")};
        sent++;
        lks_conversation_feed(ops, value, now, a->status != 0 ? &response : NULL);
    }
    *err = talk.err;
    return sent;
}

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        void *value = calloc(1, lks_sched_bridge.talk->size);
        struct lks_sched_said said = {0};
        struct lks_err err = {0};
        const struct lks_sched_wish wish = {
            .verb = cases[i].verb,
            .node = LKS_STR("g1"),
            .owner = LKS_STR("change:17"),
            .reason = LKS_STR("r"),
            .epoch = 8,
            .revision = cases[i].revision,
            .after = cases[i].before > 0 ? NOW - cases[i].before : 0,
            .now = NOW,
            .deadline = NOW + LKS_SCHED_DEADLINE,
        };
        LKS_ASSERT(value != NULL);
        lks_test_case("%s", cases[i].name);
        CHECK_CODE(lks_sched_bridge.begin(value, &wish, &err), LKS_OK);
        CHECK_INT(converse(value, cases[i].answers, &err), cases[i].requests);
        CHECK_CODE(err.code, cases[i].code);
        lks_sched_bridge.said(value, &said);
        CHECK_HAS(lks_str_from(err.code != LKS_OK ? err.msg : said.text), cases[i].text);
        CHECK(said.after >= wish.after); /* what follows may not be older */
        free(value);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"readings and refusals", test_answers},
        {NULL, NULL},
    });
}
