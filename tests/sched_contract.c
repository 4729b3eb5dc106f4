#include "tests/sched_contract.h"

#include "core/plan/drain.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TALKS_MAX 200   /* steps of one conversation */
#define THEIRS    "kim" /* stands for the person of a side */

static const struct contract_side *sides;
static size_t side_count;

void contract_sides(const struct contract_side *all, size_t count)
{
    sides = all;
    side_count = count;
}

const struct contract_side *contract_side(size_t i)
{
    return i < side_count ? &sides[i] : NULL;
}

bool contract_applies(const struct contract_side *side, const char *row, const char *why_not)
{
    if (why_not != NULL)
        printf("     %s: not applicable: %s: %s\n", side->name, row, why_not);
    return CHECK(why_not == NULL || why_not[0] != '\0') && why_not == NULL;
}

/* An owner as the side has it. */
static const char *owner_of(const struct contract_side *side, const char *owner)
{
    return strcmp(owner, THEIRS) == 0 ? side->person : owner;
}

/* Running one ------------------------------------------------------------------------------- */

enum mishap {
    NONE,
    LOSE_REQUEST,
    LOSE_ANSWER,
    TWICE,       /* it arrives twice */
    TWIN,        /* it arrives, and once more when all is over */
    KILL_BEFORE, /* the process ends before it is sent, */
    KILL_SENT,   /* when it was sent and the answer not read, */
    KILL_HEARD,  /* when it was read */
    MISHAPS
};
static const char *const mishap_words[] = {
    "none",          "request lost",     "answer lost",      "arrives twice", "a twin comes late",
    "killed before", "killed when sent", "killed when heard"};

void contract_rig_init(struct contract_rig *r, const struct contract_side *side, enum scene scene)
{
    *r = (struct contract_rig){.side = side};
    r->now = NOW;
    r->model = side->begin(scene, NOW);
    r->talks = side->driver->talk;
    r->value = calloc(1, r->talks->size);
    LKS_ASSERT(r->value != NULL);
    lks_http_request_init(&r->twin);
}

void contract_rig_fini(struct contract_rig *r)
{
    r->side->end(r->model);
    free(r->value);
    lks_http_request_fini(&r->twin);
}

static void wait_for(struct contract_rig *r, lks_ms ms)
{
    r->now += ms;
    r->side->pass(r->model, r->now);
}

static void keep_twin(struct contract_rig *r, const struct lks_http_request *request)
{
    r->has_twin = true;
    r->twin.method = request->method;
    lks_buf_add(&r->twin.path, lks_buf_view(&request->path));
    lks_buf_add(&r->twin.head, lks_buf_view(&request->head));
    lks_buf_add(&r->twin.body, lks_buf_view(&request->body));
}

static void late_twin(struct contract_rig *r)
{
    struct lks_schedsim_reply reply;
    if (!r->has_twin)
        return;
    lks_schedsim_reply_init(&reply);
    r->side->take(r->model, &r->twin, &reply);
    lks_schedsim_reply_fini(&reply);
}

/* One request and what comes of it; false: the process ended. */
static bool exchange(struct contract_rig *r, const struct lks_talk *talk)
{
    struct lks_schedsim_reply reply;
    enum mishap mishap = ++r->requests == r->at ? (enum mishap)r->mishap : NONE;
    bool lost = mishap == LOSE_REQUEST || mishap == LOSE_ANSWER || r->silent;
    if (mishap == KILL_BEFORE)
        return false;
    if (r->kill != KILL_NOTHING && r->requests == r->at)
        r->side->kill(r->model, r->kill);
    lks_schedsim_reply_init(&reply);
    if (mishap == TWIN)
        keep_twin(r, &talk->request);
    for (unsigned i = mishap == TWICE ? 2 : mishap != LOSE_REQUEST && !r->silent; i > 0; i--)
        r->side->take(r->model, &talk->request, &reply);
    const struct lks_http_response answer = {.status = reply.status,
                                             .body = lks_buf_view(&reply.body)};
    lost = lost || reply.status == 0 || r->now + reply.delay > talk->until;
    wait_for(r, lost ? talk->until - r->now : reply.delay + 20);
    if (mishap != KILL_SENT)
        lks_conversation_feed(r->talks, r->value, r->now, lost ? NULL : &answer);
    lks_schedsim_reply_fini(&reply);
    return mishap != KILL_SENT && mishap != KILL_HEARD;
}

/* Until it ends; a process that ended begins it again. */
enum lks_code contract_ask_wish(struct contract_rig *r, const struct lks_sched_wish *wish)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_conversation_talk_init(&talk);
    r->requests = 0;
    r->err = (struct lks_err){0};
    if (r->side->driver->begin(r->value, wish, &r->err) != LKS_OK)
        return r->err.code;
    for (unsigned i = 0; i < TALKS_MAX; i++) {
        lks_conversation_next(r->talks, r->value, r->now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL) {
            r->side->driver->said(r->value, &r->said);
            r->err = talk.err;
            r->dialect = r->said.dialect > 0 ? r->said.dialect : r->dialect;
            return r->err.code;
        }
        if (talk.kind == LKS_TALK_WAIT)
            wait_for(r, talk.until - r->now);
        else if (!exchange(r, &talk))
            LKS_ASSERT(r->side->driver->begin(r->value, wish, &r->err) == LKS_OK);
    }
    CHECK(false); /* it does not end */
    return LKS_E_TIMEOUT;
}

struct lks_sched_wish contract_wish(const struct contract_rig *r, enum lks_sched_verb verb,
                                    const char *owner)
{
    const char *user = r->side->user != NULL ? r->side->user : "";
    const char *token = r->side->token != NULL ? r->side->token : "";
    return (struct lks_sched_wish){
        .verb = verb,
        .node = lks_str_from(r->side->node(r->model)),
        .dialect = r->dialect,
        .login = {.user = lks_str_from(user), .token = lks_str_from(token)},
        .owner = lks_str_from(owner),
        .reason = LKS_STR("to another stack"),
        .deadline = r->now + LKS_SCHED_DEADLINE};
}

enum lks_code contract_ask(struct contract_rig *r, enum lks_sched_verb verb, const char *owner)
{
    struct lks_sched_wish wish = contract_wish(r, verb, owner);
    return contract_ask_wish(r, &wish);
}

enum lks_code contract_ask_site(struct contract_rig *r, const struct lks_sched_site_wish *wish)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    void *value = r->value;
    r->requests = 0;
    r->talks = r->side->driver->site_talk;
    r->value = calloc(1, r->talks->size);
    LKS_ASSERT(r->value != NULL);
    lks_conversation_talk_init(&talk);
    r->err = (struct lks_err){0};
    bool more = r->side->driver->begin_site(r->value, wish, &r->err) == LKS_OK;
    for (unsigned i = 0; more && CHECK(i < TALKS_MAX); i++) {
        lks_conversation_next(r->talks, r->value, r->now, &talk);
        more = talk.kind == LKS_TALK_SEND || talk.kind == LKS_TALK_WAIT;
        if (talk.kind == LKS_TALK_WAIT)
            wait_for(r, talk.until - r->now);
        else if (more)
            (void)exchange(r, &talk);
        else
            r->err = talk.err;
    }
    free(r->value);
    r->value = value;
    r->talks = r->side->driver->talk;
    return r->err.code;
}

/* The owner of the drain before. */
static void have(struct contract_rig *r, const char *owner)
{
    if (owner[0] == '\0')
        return;
    if (strcmp(owner, THEIRS) == 0)
        r->side->other(r->model, r->side->person);
    else
        CHECK_CODE(contract_ask(r, LKS_SCHED_DRAIN, owner), LKS_OK);
}

/* What is said is what is. */
void contract_check_true(const struct contract_rig *r)
{
    struct truth t = r->side->truth(r->model);
    CHECK(r->said.known);
    CHECK_INT(r->said.closed, t.closed);
    CHECK_STR(lks_str_from(r->said.owner), t.owner);
    CHECK_INT(r->said.ours, t.closed && strcmp(t.owner, OURS) == 0);
    CHECK_INT(lks_sched_drained(&r->said), t.closed && !t.busy);
    CHECK(r->said.text[0] != '\0');
}

/* What each verb does ----------------------------------------------------------------------- */

static const struct verb_row {
    const char *name;
    enum scene scene;
    const char *owner; /* the owner of the drain before; "": none */
    enum lks_sched_verb verb;
    enum lks_code code;
    const char *after; /* whose drain it has then */
    bool drained;
    unsigned writes;
    const char *text; /* in what is said, or in why not */
} verbs[] = {
    {"an idle node is drained", IDLE, "", LKS_SCHED_DRAIN, LKS_OK, OURS, true, 1, "drained"},
    {"drained twice, nothing is done", IDLE, OURS, LKS_SCHED_DRAIN, LKS_OK, OURS, true, 0, ""},
    {"what runs there is not done yet", BUSY, "", LKS_SCHED_DRAIN, LKS_OK, OURS, false, 1,
     "1 job runs there, the first is #"},
    {"requests are in flight", SERVES, "", LKS_SCHED_DRAIN, LKS_OK, OURS, false, 1,
     "requests are not answered yet"},
    {"a service keeps its minimum", NEEDS_ALL, "", LKS_SCHED_DRAIN, LKS_OK, "", false, 0,
     "at least 2"},
    {"a person's drain is not taken over", IDLE, THEIRS, LKS_SCHED_DRAIN, LKS_OK, THEIRS, true, 0,
     "drained by '@'!"},
    {"nor that of another change", IDLE, BEFORE, LKS_SCHED_DRAIN, LKS_OK, BEFORE, true, 0, ""},
    {"looking changes nothing", IDLE, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "open for work"},
    {"a job is seen", BUSY, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "1 job runs"},
    {"a service is seen", SERVES, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "sends requests"},
    {"our drain is seen", IDLE, OURS, LKS_SCHED_LOOK, LKS_OK, OURS, true, 0, "drained"},
    {"that of a person is", IDLE, THEIRS, LKS_SCHED_LOOK, LKS_OK, THEIRS, true, 0, "@"},
    {"ours is released", IDLE, OURS, LKS_SCHED_RELEASE, LKS_OK, "", false, 1, "open for work"},
    {"and a service is back", SERVES, OURS, LKS_SCHED_RELEASE, LKS_OK, "", false, 1, "sends"},
    {"released twice, nothing is done", IDLE, "", LKS_SCHED_RELEASE, LKS_OK, "", false, 0, ""},
    {"a person's is not released", IDLE, THEIRS, LKS_SCHED_RELEASE, LKS_E_REFUSED, THEIRS, true, 0,
     "is drained by '@': only they can release it"},
    {"nor that of another change", IDLE, BEFORE, LKS_SCHED_RELEASE, LKS_E_REFUSED, BEFORE, true, 0,
     "drained by 'change:16'"},
};

static const char *why_not(const struct contract_side *side, const struct verb_row *row)
{
    bool changes =
        row->writes > 0 || strcmp(row->owner, OURS) == 0 || strcmp(row->owner, BEFORE) == 0;
    return side->no_scene[row->scene] != NULL ? side->no_scene[row->scene]
           : changes                          ? side->no_writes
                                              : NULL;
}

/* The text of a row with the side's own names: '@' stands for a person, '!' for what it tells of
 * the reason, '#' for the job. */
static void write_text(const struct contract_side *side, const char *text, char out[128])
{
    size_t len = 0;
    out[0] = '\0';
    for (; *text != '\0' && len < 127; text++) {
        char one[2] = {*text, '\0'};
        const char *why = side->why != NULL ? side->why : ": broken fan";
        const char *put = *text == '@'   ? side->person
                          : *text == '#' ? side->job
                          : *text == '!' ? why
                                         : one;
        len += (size_t)snprintf(out + len, 128 - len, "%s", put != NULL ? put : "");
    }
}

static void try_verb(const struct contract_side *side, const struct verb_row *row)
{
    struct contract_rig r;
    char text[128];
    lks_test_case("%s: %s", side->name, row->name);
    if (!contract_applies(side, row->name, why_not(side, row)))
        return;
    contract_rig_init(&r, side, row->scene);
    have(&r, row->owner);
    unsigned before = side->writes(r.model);
    CHECK_CODE(contract_ask(&r, row->verb, OURS), row->code);
    CHECK_INT(side->writes(r.model) - before, row->writes);
    CHECK_STR(lks_str_from(side->truth(r.model).owner), owner_of(side, row->after));
    CHECK_INT(lks_sched_drained(&r.said), row->drained);
    write_text(side, row->text, text);
    CHECK_HAS(lks_str_from(row->code == LKS_OK ? r.said.text : r.err.msg), text);
    contract_check_true(&r);
    contract_rig_fini(&r);
}

void contract_verbs(void)
{
    for (size_t i = 0; i < side_count; i++) {
        for (size_t j = 0; j < LKS_COUNT(verbs); j++)
            try_verb(&sides[i], &verbs[j]);
    }
}

static const struct {
    const char *name;
    enum lks_sched_verb verb;
    const char *node, *owner;
    enum lks_code code;
    const char *text;
} odd[] = {
    {"a node it does not have is not drained", LKS_SCHED_DRAIN, "g9", OURS, LKS_E_NOT_FOUND,
     "the scheduler has no node 'g9'"},
    {"looked at, it is not known", LKS_SCHED_LOOK, "g9", OURS, LKS_OK, "does not know"},
    {"there is nothing to release", LKS_SCHED_RELEASE, "g9", OURS, LKS_OK, "does not know"},
    {"no name", LKS_SCHED_LOOK, "", OURS, LKS_E_INVALID, "'' is no name of a node"},
    {"a name that is a path", LKS_SCHED_LOOK, "../g1", OURS, LKS_E_INVALID, "is no name"},
    {"a name with a line break", LKS_SCHED_LOOK, "g1\r\nX: y", OURS, LKS_E_INVALID, "is no name"},
    {"a drain without an owner", LKS_SCHED_DRAIN, "g1", "", LKS_E_INVALID, "the owner of a drain"},
    {"a release without an owner", LKS_SCHED_RELEASE, "g1", "", LKS_E_INVALID,
     "the owner of a drain"},
    {"an owner in two lines", LKS_SCHED_DRAIN, "g1", "a\nb", LKS_E_INVALID, "the owner of a drain"},
    {"anybody may look", LKS_SCHED_LOOK, "g1", "", LKS_OK, "open for work"},
};

void contract_odd_wishes(void)
{
    for (size_t i = 0; i < side_count * LKS_COUNT(odd); i++) {
        struct contract_rig r;
        size_t j = i % LKS_COUNT(odd);
        contract_rig_init(&r, &sides[i / LKS_COUNT(odd)], IDLE);
        lks_test_case("%s: %s", r.side->name, odd[j].name);
        struct lks_sched_wish wish = contract_wish(&r, odd[j].verb, odd[j].owner);
        wish.node = lks_str_from(odd[j].node);
        CHECK_CODE(contract_ask_wish(&r, &wish), odd[j].code);
        CHECK_HAS(lks_str_from(odd[j].code == LKS_OK ? r.said.text : r.err.msg), odd[j].text);
        CHECK_INT(r.side->writes(r.model), 0);
        contract_rig_fini(&r);
    }
}

/* Waiting ----------------------------------------------------------------------------------- */

/* After a drain at the beginning: is it drained then? */
static const struct {
    const char *name;
    enum scene scene;
    bool checkpoint;
    lks_ms after;
    bool drained;
} waits[] = {
    {"a job runs on", BUSY, false, JOB_ENDS - MINUTE, false},
    {"to its end", BUSY, false, JOB_ENDS + MINUTE, true},
    {"requests are answered", SERVES, false, 2 * MINUTE, true},
    {"but not at once", SERVES, false, MINUTE / 2, false},
    {"training runs on for days", TRAINS, false, 3000 * MINUTE, false},
    {"or to its next checkpoint", TRAINS, true, 11 * MINUTE, true},
    {"not before that", TRAINS, true, 9 * MINUTE, false},
    {"a job that hangs is waited for", HANGS, true, 3000 * MINUTE, false},
    {"a service that needs all stays", NEEDS_ALL, false, 3000 * MINUTE, false},
};

void contract_waiting(void)
{
    for (size_t i = 0; i < side_count * LKS_COUNT(waits); i++) {
        struct contract_rig r;
        size_t j = i % LKS_COUNT(waits);
        const struct contract_side *side = &sides[i / LKS_COUNT(waits)];
        const char *why = side->no_scene[waits[j].scene];
        lks_test_case("%s: %s", side->name, waits[j].name);
        if (!contract_applies(side, waits[j].name, why != NULL ? why : side->no_writes))
            continue;
        contract_rig_init(&r, side, waits[j].scene);
        struct lks_sched_wish wish = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
        wish.checkpoint = waits[j].checkpoint;
        CHECK_CODE(contract_ask_wish(&r, &wish), LKS_OK);
        CHECK(!lks_sched_drained(&r.said));
        wait_for(&r, waits[j].after);
        CHECK_CODE(contract_ask(&r, LKS_SCHED_LOOK, OURS), LKS_OK);
        CHECK_INT(lks_sched_drained(&r.said), waits[j].drained);
        contract_check_true(&r);
        contract_rig_fini(&r);
    }
}

/* What goes wrong --------------------------------------------------------------------------- */

/* The owner of the drain before, and the request. */
static const struct {
    const char *name, *owner, *after;
    enum lks_sched_verb verb;
} tasks[] = {
    {"drain", "", OURS, LKS_SCHED_DRAIN},
    {"drain again", OURS, OURS, LKS_SCHED_DRAIN},
    {"look", OURS, OURS, LKS_SCHED_LOOK},
    {"release", OURS, "", LKS_SCHED_RELEASE},
};

/* Each mishap at each request is cured by looking: it ends well, and nothing was done twice. */
static void try_mishap(const struct contract_side *side, size_t task, enum mishap mishap,
                       unsigned at)
{
    struct contract_rig r;
    lks_test_case("%s: %s, %s at request %u", side->name, tasks[task].name, mishap_words[mishap],
                  at);
    contract_rig_init(&r, side, side->idle ? IDLE : BUSY);
    have(&r, tasks[task].owner);
    wait_for(&r, JOB_ENDS + MINUTE);
    unsigned before = side->writes(r.model);
    r.mishap = mishap;
    r.at = at;
    CHECK_CODE(contract_ask(&r, tasks[task].verb, OURS), LKS_OK);
    contract_check_true(&r);
    late_twin(&r);
    r.mishap = NONE;
    CHECK_CODE(contract_ask(&r, LKS_SCHED_LOOK, OURS), LKS_OK);
    contract_check_true(&r);
    CHECK_STR(lks_str_from(side->truth(r.model).owner), tasks[task].after);
    CHECK_INT(side->writes(r.model) - before,
              strcmp(tasks[task].owner, tasks[task].after) != 0 ? 1 : 0);
    contract_rig_fini(&r);
}

void contract_mishaps(void)
{
    for (size_t i = 0; i < side_count; i++) {
        lks_test_case("%s", sides[i].name);
        if (!contract_applies(&sides[i], "mishaps", sides[i].no_writes))
            continue;
        for (size_t task = 0; task < LKS_COUNT(tasks); task++) {
            for (unsigned mishap = NONE; mishap < MISHAPS; mishap++) {
                for (unsigned at = 1; at <= sides[i].mishaps_at; at++)
                    try_mishap(&sides[i], task, (enum mishap)mishap, at);
            }
        }
    }
}

/* A fault of the scheduler, once, is nothing; one that stays is a failure with a line, or does not
 * matter. In no case is something said that is not so. */
static void try_fault(const struct contract_side *side, size_t task, enum lks_schedsim_fault fault,
                      unsigned from, unsigned count)
{
    struct contract_rig r;
    bool once = count == 1;
    lks_test_case("%s: %s, %s at request %u%s", side->name, tasks[task].name,
                  lks_schedsim_fault_words[fault], from, once ? "" : " and on");
    contract_rig_init(&r, side, BUSY);
    have(&r, tasks[task].owner);
    wait_for(&r, JOB_ENDS + MINUTE);
    wait_for(&r, 4 * MINUTE); /* what is stale is older than an answer may be */
    side->fault(r.model, fault, from, count);
    enum lks_code code = contract_ask(&r, tasks[task].verb, OURS);
    CHECK(code == LKS_OK || (!once && (code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT)));
    CHECK(code == LKS_OK || r.err.msg[0] != '\0');
    if (code != LKS_OK && fault == LKS_SCHEDSIM_REFUSES) /* the cause is on people's screens */
        CHECK_HAS(lks_str_from(r.err.msg), side->refusal);
    if (code == LKS_OK)
        contract_check_true(&r);
    side->fault(r.model, LKS_SCHEDSIM_CALM, 0, 0);
    CHECK_CODE(contract_ask(&r, tasks[task].verb, OURS), LKS_OK);
    contract_check_true(&r);
    if (tasks[task].verb != LKS_SCHED_LOOK)
        CHECK_STR(lks_str_from(side->truth(r.model).owner), tasks[task].after);
    contract_rig_fini(&r);
}

void contract_faults(void)
{
    for (size_t i = 0; i < side_count; i++) {
        lks_test_case("%s", sides[i].name);
        if (!contract_applies(&sides[i], "faults", sides[i].no_faults))
            continue;
        for (size_t task = 0; task < LKS_COUNT(tasks); task++) {
            for (unsigned fault = LKS_SCHEDSIM_LOST; fault < LKS_SCHEDSIM_FAULTS; fault++) {
                if (fault == LKS_SCHEDSIM_STALE && sides[i].no_revisions != NULL)
                    continue; /* "stale answers" says so */
                for (unsigned at = 1; at < sides[i].mishaps_at; at++) {
                    try_fault(&sides[i], task, (enum lks_schedsim_fault)fault, at, 1);
                    try_fault(&sides[i], task, (enum lks_schedsim_fault)fault, at, 1000);
                }
            }
        }
    }
}

/* Kills ------------------------------------------------------------------------------------- */

static const char *const kill_words[] = {"nothing", "the bridge", "the scheduler", "both"};

static const struct {
    const char *name, *owner, *after;
    enum lks_sched_verb verb;
    enum lks_code code;
} killed[] = {
    {"drain", "", OURS, LKS_SCHED_DRAIN, LKS_OK},
    {"drain again", OURS, OURS, LKS_SCHED_DRAIN, LKS_OK},
    {"look", OURS, OURS, LKS_SCHED_LOOK, LKS_OK},
    {"release", OURS, "", LKS_SCHED_RELEASE, LKS_OK},
    {"drain a person's node", THEIRS, THEIRS, LKS_SCHED_DRAIN, LKS_OK},
    {"release a person's node", THEIRS, THEIRS, LKS_SCHED_RELEASE, LKS_E_REFUSED},
    {"release another change's node", BEFORE, BEFORE, LKS_SCHED_RELEASE, LKS_E_REFUSED},
};

static void settle(struct contract_rig *r, enum contract_kill next)
{
    if (r->side->settle != NULL)
        r->side->settle(r->model, next);
}

/* The scheduler's own state decides: what was asked for is so, and a foreign drain is as it was. */
static void check_after(struct contract_rig *r, const char *after)
{
    struct truth t = r->side->truth(r->model);
    contract_check_true(r);
    CHECK_STR(lks_str_from(t.owner), owner_of(r->side, after));
    if (strcmp(after, THEIRS) == 0)
        CHECK_STR(lks_str_from(t.reason), "broken fan");
}

/* The conversation ends well, or says that there was no good answer. Where the bridge alone was
 * killed, what it ended with is so; a scheduler that was killed may have forgotten what it said.
 * Asked again it is so in any case. */
static void try_kill(const struct contract_side *side, size_t row, enum contract_kill kill,
                     unsigned at)
{
    struct contract_rig r;
    lks_test_case("%s: %s, %s killed at request %u", side->name, killed[row].name, kill_words[kill],
                  at);
    contract_rig_init(&r, side, IDLE);
    have(&r, killed[row].owner);
    settle(&r, kill);
    r.kill = kill;
    r.at = at;
    enum lks_code code = contract_ask(&r, killed[row].verb, OURS);
    CHECK(code == killed[row].code || code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT ||
          (side->denies && code == LKS_E_DENIED));
    CHECK(code == LKS_OK || r.err.msg[0] != '\0');
    r.kill = KILL_NOTHING;
    settle(&r, KILL_NOTHING);
    if (code == killed[row].code && kill == KILL_BRIDGE)
        check_after(&r, killed[row].after);
    CHECK_CODE(contract_ask(&r, killed[row].verb, OURS), killed[row].code);
    check_after(&r, killed[row].after);
    contract_rig_fini(&r);
}

void contract_kills(void)
{
    for (size_t i = 0; i < side_count; i++) {
        lks_test_case("%s", sides[i].name);
        if (!contract_applies(&sides[i], "kills", sides[i].no_writes))
            continue;
        for (size_t row = 0; row < LKS_COUNT(killed); row++) {
            for (unsigned kill = KILL_BRIDGE; kill < KILLS; kill++) {
                bool changes = strcmp(killed[row].owner, killed[row].after) != 0;
                unsigned last = changes ? sides[i].kills_at : 1;
                for (unsigned at = 1; at <= last; at++)
                    try_kill(&sides[i], row, (enum contract_kill)kill, at);
            }
        }
    }
}

/* Without an answer a request ends at its deadline and never later. */
void contract_deadlines(void)
{
    static const lks_ms deadlines[] = {1, LKS_SECOND, LKS_SCHED_PATIENCE, LKS_SCHED_DEADLINE,
                                       60 * MINUTE};
    for (size_t i = 0; i < side_count * LKS_COUNT(deadlines); i++) {
        struct contract_rig r;
        lks_ms most = deadlines[i % LKS_COUNT(deadlines)];
        contract_rig_init(&r, &sides[i / LKS_COUNT(deadlines)], IDLE);
        lks_test_case("%s: within %" PRIu64 " ms", r.side->name, most);
        r.silent = true;
        struct lks_sched_wish wish = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
        wish.deadline = r.now + most;
        enum lks_code code = contract_ask_wish(&r, &wish);
        CHECK(code == LKS_E_TIMEOUT || code == LKS_E_UNAVAILABLE);
        CHECK(r.now <= NOW + most && r.now <= NOW + LKS_SCHED_DEADLINE);
        contract_rig_fini(&r);
    }
}

/* What was said before is older than what was heard since: it says nothing. */
void contract_stale(void)
{
    for (size_t i = 0; i < side_count; i++) {
        struct contract_rig r;
        lks_test_case("%s", sides[i].name);
        const char *why = sides[i].no_revisions;
        if (!contract_applies(&sides[i], "stale answers", why != NULL ? why : sides[i].no_stale))
            continue;
        contract_rig_init(&r, &sides[i], IDLE);
        CHECK_CODE(contract_ask(&r, LKS_SCHED_DRAIN, OURS), LKS_OK);
        CHECK_CODE(contract_ask(&r, LKS_SCHED_RELEASE, OURS), LKS_OK);
        r.side->fault(r.model, LKS_SCHEDSIM_STALE, 1, 2);
        struct lks_sched_wish wish = contract_wish(&r, LKS_SCHED_LOOK, OURS);
        wish.revision = r.said.revision;
        CHECK_CODE(contract_ask_wish(&r, &wish), LKS_OK);
        CHECK(!r.said.closed);
        CHECK(r.requests == 3);
        contract_rig_fini(&r);
    }
}

/* Epochs and restarts ----------------------------------------------------------------------- */

/* A controller that does not lead any more changes nothing, and is told so. */
void contract_epochs(void)
{
    static const struct {
        const char *name;
        uint64_t first, second;
        enum lks_code code;
        const char *after; /* whose drain the node has then */
    } rows[] = {
        {"the same leader goes on", 8, 8, LKS_OK, ""},
        {"a newer leader goes on", 8, 9, LKS_OK, ""},
        {"an older leader is refused", 9, 8, LKS_E_REFUSED, OURS},
    };
    for (size_t i = 0; i < side_count; i++) {
        for (size_t j = 0; j < LKS_COUNT(rows); j++) {
            struct contract_rig r;
            lks_test_case("%s: %s", sides[i].name, rows[j].name);
            if (!contract_applies(&sides[i], rows[j].name, sides[i].no_epochs))
                continue;
            contract_rig_init(&r, &sides[i], IDLE);
            struct lks_sched_wish wish = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
            wish.epoch = rows[j].first;
            CHECK_CODE(contract_ask_wish(&r, &wish), LKS_OK);
            wish.verb = LKS_SCHED_RELEASE;
            wish.epoch = rows[j].second;
            CHECK_CODE(contract_ask_wish(&r, &wish), rows[j].code);
            CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), rows[j].after);
            if (rows[j].code != LKS_OK)
                CHECK(strstr(r.err.msg, "epoch 9") != NULL);
            contract_rig_fini(&r);
        }
    }
}

void contract_takes_over(void)
{
    static const struct {
        const char *name, *before, *from, *after;
    } rows[] = {
        {"a drain of ours is taken over", BEFORE, BEFORE, OURS},
        {"but not that of a third owner of ours", BEFORE, "change:3", BEFORE},
        {"nor that of a person", THEIRS, THEIRS, THEIRS},
        {"nor that of a person who drained it since", THEIRS, BEFORE, THEIRS},
        {"what is open again is drained", "", BEFORE, OURS},
        {"what is ours already stays so", OURS, BEFORE, OURS},
    };
    for (size_t i = 0; i < side_count; i++) {
        for (size_t j = 0; j < LKS_COUNT(rows); j++) {
            struct contract_rig r;
            lks_test_case("%s: %s", sides[i].name, rows[j].name);
            if (!contract_applies(&sides[i], rows[j].name, sides[i].no_writes))
                continue;
            contract_rig_init(&r, &sides[i], IDLE);
            have(&r, rows[j].before);
            struct lks_sched_wish wish = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
            wish.from = lks_str_from(owner_of(&sides[i], rows[j].from));
            CHECK_CODE(contract_ask_wish(&r, &wish), LKS_OK);
            CHECK_STR(lks_str_from(sides[i].truth(r.model).owner),
                      owner_of(&sides[i], rows[j].after));
            contract_check_true(&r);
            contract_rig_fini(&r);
        }
    }
}

void contract_set_pool(struct lks_asked *a, const char *sched)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("observe"),
                                                     .sched = lks_str_from(sched)}});
    lks_fleet_place(a, "g[1-2]", "train");
}

void contract_set_drain(struct lks_asked *a, const char *owner)
{
    if (owner[0] != '\0')
        lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_DRAINED,
                                                .drained = {.node = LKS_STR("g1"),
                                                            .owner = lks_str_from(owner),
                                                            .reason = LKS_STR("why")}});
}

/* Requests are repeated: whatever happens to the scheduler, its drains become ours. */
static void keep_asking(struct contract_rig *r, struct lks_asked *a, unsigned times)
{
    struct lks_sched_said last = {0};
    bool heard = false;
    for (unsigned i = 0; i < times; i++) {
        struct lks_sched_wish wish;
        char space[LKS_SCHED_HOLD_SIZE];
        if (lks_sched_next(&a->state, lks_test_facts(), lks_fleet_node(a, "g1"),
                           heard ? &last : NULL, space, &wish)) {
            wish.deadline = r->now + LKS_SCHED_DEADLINE;
            wish.login = contract_wish(r, wish.verb, OURS).login;
            heard = contract_ask_wish(r, &wish) == LKS_OK;
            last = heard ? r->said : last;
        }
        wait_for(r, 10 * LKS_SECOND);
    }
}

void contract_keeps_asking(void)
{
    for (size_t i = 0; i < side_count; i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct contract_rig r;
        lks_test_case("%s", sides[i].name);
        if (!contract_applies(&sides[i], "requests are repeated", sides[i].no_restart))
            continue;
        contract_rig_init(&r, &sides[i], BUSY);
        lks_asked_init(&a);
        contract_set_pool(&a, sides[i].sched);
        CHECK_CODE(contract_ask(&r, LKS_SCHED_DRAIN, BEFORE),
                   LKS_OK); /* left over by a change before */
        contract_set_drain(&a, OURS);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        sides[i].restart(r.model);
        CHECK(!sides[i].truth(r.model).closed);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        sides[i].other(r.model, sides[i].person);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), sides[i].person);
        sides[i].other(r.model, NULL);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_UNDRAINED,
                                                 .undrained = {.node = LKS_STR("g1"),
                                                               .owner = LKS_STR(OURS),
                                                               .reason = LKS_STR("done")}});
        keep_asking(&r, &a, 4);
        CHECK(!sides[i].truth(r.model).closed);
        contract_rig_fini(&r);
    }
}
