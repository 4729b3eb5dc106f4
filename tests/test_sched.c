/*
 * The contract of schedulers: tables of what holds for each driver, run against a model of its
 * scheduler. A driver joins by a row in `sides`, with a model that can do what `struct side` asks.
 *
 * Time is a number. What can go wrong on the way is said before, by the number of the request it
 * befalls; what the model knows to be true is held against what the driver says.
 */
#include "core/plan/drain.h"
#include "drivers/sched/sched_drivers.h"
#include "lab/sched/schedsim.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW       UINT64_C(1763200000000)
#define MINUTE    (60 * LKS_SECOND)
#define TALKS_MAX 200 /* steps of one conversation */
#define OURS      "change:17"
#define BEFORE    "change:16"
#define THEIRS    "kim"
#define JOB_ENDS  (30 * MINUTE)

/* What is on the nodes at the beginning. */
enum scene {
    IDLE,
    BUSY,      /* a job that ends after JOB_ENDS */
    TRAINS,    /* one on both nodes that writes a checkpoint each ten minutes, and goes on */
    HANGS,     /* one that does not end, whatever happens */
    SERVES,    /* a service on both nodes, which needs one */
    NEEDS_ALL, /* a service that needs both */
    SCENES
};

/* The truth about the node. */
struct truth {
    bool closed, busy;
    char owner[LKS_SCHED_OWNER_MAX + 1]; /* without what marks ours */
};

/* A driver, and a model of its scheduler with the nodes "g1" and "g2". */
struct side {
    const char *name;
    void *(*begin)(enum scene scene, lks_ms now);
    void (*end)(void *model);
    void (*take)(void *model, const struct lks_http_request *request,
                 struct lks_schedsim_reply *out);
    void (*pass)(void *model, lks_ms now);
    void (*other)(void *model, const char *owner); /* a person drains "g1"; NULL: opens it */
    void (*restart)(void *model);                  /* it forgets all drains */
    void (*fault)(void *model, enum lks_schedsim_fault fault, unsigned from, unsigned count);
    struct truth (*truth)(const void *model);
    unsigned (*writes)(const void *model); /* how often something was changed by request */
};

/* The simulated one ------------------------------------------------------------------------- */

static void *sim_begin(enum scene scene, lks_ms now)
{
    static const struct lks_schedsim_job jobs[SCENES] = {
        [BUSY] = {.kind = LKS_SCHEDSIM_BATCH, .length = JOB_ENDS},
        [TRAINS] = {.kind = LKS_SCHEDSIM_TRAINING, .checkpoint = 10 * MINUTE},
        [HANGS] = {.kind = LKS_SCHEDSIM_DEV, .length = MINUTE},
        [SERVES] = {.kind = LKS_SCHEDSIM_SERVICE, .length = MINUTE, .minimum = 1, .requests = 3},
        [NEEDS_ALL] = {.kind = LKS_SCHEDSIM_SERVICE, .length = MINUTE, .minimum = 2, .requests = 3},
    };
    bool both = scene == TRAINS || scene == SERVES || scene == NEEDS_ALL;
    struct lks_schedsim *m = calloc(1, sizeof(*m));
    LKS_ASSERT(m != NULL);
    lks_schedsim_init(m, 1, now);
    uint32_t nodes[] = {lks_schedsim_add(m, "g1", LKS_SCHEDSIM_BATCH),
                        lks_schedsim_add(m, "g2", LKS_SCHEDSIM_BATCH)};
    if (scene != IDLE)
        LKS_ASSERT(lks_schedsim_start(m, &jobs[scene], nodes, both ? 2 : 1));
    m->nodes[0].stuck = scene == HANGS;
    return m;
}

static void sim_end(void *model)
{
    lks_schedsim_fini(model);
    free(model);
}

static void sim_take(void *model, const struct lks_http_request *request,
                     struct lks_schedsim_reply *out)
{
    lks_schedsim_take(model, request, out);
}

static void sim_pass(void *model, lks_ms now)
{
    lks_schedsim_pass(model, now);
}

static void sim_other(void *model, const char *owner)
{
    lks_schedsim_other(model, 0, owner);
}

static void sim_restart(void *model)
{
    lks_schedsim_restart(model, true);
}

static void sim_fault(void *model, enum lks_schedsim_fault fault, unsigned from, unsigned count)
{
    struct lks_schedsim *m = model;
    m->fault = fault;
    m->fault_from = m->requests + from;
    m->fault_count = count;
}

static struct truth sim_truth(const void *model)
{
    const struct lks_schedsim *m = model;
    const struct lks_schedsim_view *v = &m->nodes[0].now;
    struct truth t = {.closed = v->closed, .busy = lks_schedsim_busy(m, 0)};
    struct lks_str owner = lks_str_from(v->owner);
    if (lks_str_starts(owner, "lockstep:"))
        owner =
            lks_str_last(owner, ':').len > 0 ? lks_str_from(v->owner + strlen("lockstep:")) : owner;
    snprintf(t.owner, sizeof(t.owner), "%" LKS_STR_FMT, LKS_STR_ARG(owner));
    return t;
}

static unsigned sim_writes(const void *model)
{
    return ((const struct lks_schedsim *)model)->writes;
}

static const struct side sides[] = {
    {"simulated", sim_begin, sim_end, sim_take, sim_pass, sim_other, sim_restart, sim_fault,
     sim_truth, sim_writes},
};

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

struct rig {
    const struct side *side;
    const struct lks_sched_driver *driver;
    void *model, *value;
    lks_ms now;
    unsigned requests; /* since the mishap was set */
    enum mishap mishap;
    unsigned at; /* from 1 */
    struct lks_http_request twin;
    bool has_twin;
    struct lks_err err;
    struct lks_sched_said said;
};

static void rig_init(struct rig *r, const struct side *side, enum scene scene)
{
    *r = (struct rig){.side = side, .driver = lks_sched_driver(lks_str_from(side->name))};
    LKS_ASSERT(r->driver != NULL);
    r->now = NOW;
    r->model = side->begin(scene, NOW);
    r->value = calloc(1, r->driver->talk->size);
    LKS_ASSERT(r->value != NULL);
    lks_http_request_init(&r->twin);
}

static void rig_fini(struct rig *r)
{
    r->side->end(r->model);
    free(r->value);
    lks_http_request_fini(&r->twin);
}

static void wait_for(struct rig *r, lks_ms ms)
{
    r->now += ms;
    r->side->pass(r->model, r->now);
}

static void keep_twin(struct rig *r, const struct lks_http_request *request)
{
    r->has_twin = true;
    r->twin.method = request->method;
    lks_buf_add(&r->twin.path, lks_buf_view(&request->path));
    lks_buf_add(&r->twin.head, lks_buf_view(&request->head));
    lks_buf_add(&r->twin.body, lks_buf_view(&request->body));
}

static void late_twin(struct rig *r)
{
    struct lks_schedsim_reply reply;
    if (!r->has_twin)
        return;
    lks_schedsim_reply_init(&reply);
    r->side->take(r->model, &r->twin, &reply);
    lks_schedsim_reply_fini(&reply);
}

/* One request and what comes of it; false: the process ended. */
static bool exchange(struct rig *r, const struct lks_talk *talk)
{
    struct lks_schedsim_reply reply;
    enum mishap mishap = ++r->requests == r->at ? r->mishap : NONE;
    bool lost = mishap == LOSE_REQUEST || mishap == LOSE_ANSWER;
    if (mishap == KILL_BEFORE)
        return false;
    lks_schedsim_reply_init(&reply);
    if (mishap == TWIN)
        keep_twin(r, &talk->request);
    for (unsigned i = mishap == TWICE ? 2 : mishap != LOSE_REQUEST; i > 0; i--)
        r->side->take(r->model, &talk->request, &reply);
    const struct lks_http_response answer = {.status = reply.status,
                                             .body = lks_buf_view(&reply.body)};
    lost = lost || reply.status == 0 || r->now + reply.delay > talk->until;
    wait_for(r, lost ? talk->until - r->now : reply.delay + 20);
    if (mishap != KILL_SENT)
        lks_conversation_feed(r->driver->talk, r->value, r->now, lost ? NULL : &answer);
    lks_schedsim_reply_fini(&reply);
    return mishap != KILL_SENT && mishap != KILL_HEARD;
}

/* Until it ends; a process that ended begins it again. */
static enum lks_code ask_wish(struct rig *r, const struct lks_sched_wish *wish)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_conversation_talk_init(&talk);
    r->requests = 0;
    r->err = (struct lks_err){0};
    if (r->driver->begin(r->value, wish, &r->err) != LKS_OK)
        return r->err.code;
    for (unsigned i = 0; i < TALKS_MAX; i++) {
        lks_conversation_next(r->driver->talk, r->value, r->now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL) {
            r->driver->said(r->value, &r->said);
            r->err = talk.err;
            return r->err.code;
        }
        if (talk.kind == LKS_TALK_WAIT)
            wait_for(r, talk.until - r->now);
        else if (!exchange(r, &talk))
            LKS_ASSERT(r->driver->begin(r->value, wish, &r->err) == LKS_OK);
    }
    CHECK(false); /* it does not end */
    return LKS_E_TIMEOUT;
}

static struct lks_sched_wish wish_of(const struct rig *r, enum lks_sched_verb verb,
                                     const char *owner)
{
    return (struct lks_sched_wish){.verb = verb,
                                   .node = LKS_STR("g1"),
                                   .owner = lks_str_from(owner),
                                   .reason = LKS_STR("to another stack"),
                                   .deadline = r->now + LKS_SCHED_DEADLINE};
}

static enum lks_code ask(struct rig *r, enum lks_sched_verb verb, const char *owner)
{
    struct lks_sched_wish wish = wish_of(r, verb, owner);
    return ask_wish(r, &wish);
}

/* Who has the node before. */
static void have(struct rig *r, const char *owner)
{
    if (owner[0] == '\0')
        return;
    if (strcmp(owner, THEIRS) == 0)
        r->side->other(r->model, owner);
    else
        CHECK_CODE(ask(r, LKS_SCHED_DRAIN, owner), LKS_OK);
}

/* What is said is what is. */
static void check_true(const struct rig *r)
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
    const char *owner; /* who drained it before; "": nobody */
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
     "1 job runs there, the first is batch"},
    {"requests are in flight", SERVES, "", LKS_SCHED_DRAIN, LKS_OK, OURS, false, 1,
     "requests are not answered yet"},
    {"a service keeps its minimum", NEEDS_ALL, "", LKS_SCHED_DRAIN, LKS_OK, "", false, 0,
     "at least 2"},
    {"a person's drain is not taken over", IDLE, THEIRS, LKS_SCHED_DRAIN, LKS_OK, THEIRS, true, 0,
     "drained by 'kim': broken fan"},
    {"nor that of another change", IDLE, BEFORE, LKS_SCHED_DRAIN, LKS_OK, BEFORE, true, 0, ""},
    {"looking changes nothing", IDLE, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "open for work"},
    {"a job is seen", BUSY, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "1 job runs"},
    {"a service is seen", SERVES, "", LKS_SCHED_LOOK, LKS_OK, "", false, 0, "sends requests"},
    {"our drain is seen", IDLE, OURS, LKS_SCHED_LOOK, LKS_OK, OURS, true, 0, "drained"},
    {"that of a person is", IDLE, THEIRS, LKS_SCHED_LOOK, LKS_OK, THEIRS, true, 0, "kim"},
    {"ours is released", IDLE, OURS, LKS_SCHED_RELEASE, LKS_OK, "", false, 1, "open for work"},
    {"and a service is back", SERVES, OURS, LKS_SCHED_RELEASE, LKS_OK, "", false, 1, "sends"},
    {"released twice, nothing is done", IDLE, "", LKS_SCHED_RELEASE, LKS_OK, "", false, 0, ""},
    {"a person's is not released", IDLE, THEIRS, LKS_SCHED_RELEASE, LKS_E_REFUSED, THEIRS, true, 0,
     "node 'g1' is drained by 'kim': only they can release it"},
    {"nor that of another change", IDLE, BEFORE, LKS_SCHED_RELEASE, LKS_E_REFUSED, BEFORE, true, 0,
     "drained by 'change:16'"},
};

static void try_verb(const struct side *side, const struct verb_row *row)
{
    struct rig r;
    lks_test_case("%s: %s", side->name, row->name);
    rig_init(&r, side, row->scene);
    have(&r, row->owner);
    unsigned before = side->writes(r.model);
    CHECK_CODE(ask(&r, row->verb, OURS), row->code);
    CHECK_INT(side->writes(r.model) - before, row->writes);
    CHECK_STR(lks_str_from(side->truth(r.model).owner), row->after);
    CHECK_INT(lks_sched_drained(&r.said), row->drained);
    CHECK_HAS(lks_str_from(row->code == LKS_OK ? r.said.text : r.err.msg), row->text);
    check_true(&r);
    rig_fini(&r);
}

static void test_verbs(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
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
    {"nobody's drain", LKS_SCHED_DRAIN, "g1", "", LKS_E_INVALID, "the owner of a drain"},
    {"nobody's release", LKS_SCHED_RELEASE, "g1", "", LKS_E_INVALID, "the owner of a drain"},
    {"an owner in two lines", LKS_SCHED_DRAIN, "g1", "a\nb", LKS_E_INVALID, "the owner of a drain"},
    {"anybody may look", LKS_SCHED_LOOK, "g1", "", LKS_OK, "open for work"},
};

static void test_odd_wishes(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides) * LKS_COUNT(odd); i++) {
        struct rig r;
        size_t j = i % LKS_COUNT(odd);
        rig_init(&r, &sides[i / LKS_COUNT(odd)], IDLE);
        lks_test_case("%s: %s", r.side->name, odd[j].name);
        struct lks_sched_wish wish = wish_of(&r, odd[j].verb, odd[j].owner);
        wish.node = lks_str_from(odd[j].node);
        CHECK_CODE(ask_wish(&r, &wish), odd[j].code);
        CHECK_HAS(lks_str_from(odd[j].code == LKS_OK ? r.said.text : r.err.msg), odd[j].text);
        CHECK_INT(r.side->writes(r.model), 0);
        rig_fini(&r);
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

static void test_waiting(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides) * LKS_COUNT(waits); i++) {
        struct rig r;
        size_t j = i % LKS_COUNT(waits);
        rig_init(&r, &sides[i / LKS_COUNT(waits)], waits[j].scene);
        lks_test_case("%s: %s", r.side->name, waits[j].name);
        struct lks_sched_wish wish = wish_of(&r, LKS_SCHED_DRAIN, OURS);
        wish.checkpoint = waits[j].checkpoint;
        CHECK_CODE(ask_wish(&r, &wish), LKS_OK);
        CHECK(!lks_sched_drained(&r.said));
        wait_for(&r, waits[j].after);
        CHECK_CODE(ask(&r, LKS_SCHED_LOOK, OURS), LKS_OK);
        CHECK_INT(lks_sched_drained(&r.said), waits[j].drained);
        check_true(&r);
        rig_fini(&r);
    }
}

/* What goes wrong --------------------------------------------------------------------------- */

/* Who has the node before, and what is asked. */
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
static void try_mishap(const struct side *side, size_t task, enum mishap mishap, unsigned at)
{
    struct rig r;
    lks_test_case("%s: %s, %s at request %u", side->name, tasks[task].name, mishap_words[mishap],
                  at);
    rig_init(&r, side, BUSY);
    have(&r, tasks[task].owner);
    wait_for(&r, JOB_ENDS + MINUTE);
    unsigned before = side->writes(r.model);
    r.mishap = mishap;
    r.at = at;
    CHECK_CODE(ask(&r, tasks[task].verb, OURS), LKS_OK);
    check_true(&r);
    late_twin(&r);
    r.mishap = NONE;
    CHECK_CODE(ask(&r, LKS_SCHED_LOOK, OURS), LKS_OK);
    check_true(&r);
    CHECK_STR(lks_str_from(side->truth(r.model).owner), tasks[task].after);
    CHECK_INT(side->writes(r.model) - before,
              strcmp(tasks[task].owner, tasks[task].after) != 0 ? 1 : 0);
    rig_fini(&r);
}

static void test_mishaps(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        for (size_t task = 0; task < LKS_COUNT(tasks); task++) {
            for (unsigned mishap = NONE; mishap < MISHAPS; mishap++) {
                for (unsigned at = 1; at <= 4; at++)
                    try_mishap(&sides[i], task, (enum mishap)mishap, at);
            }
        }
    }
}

/* A fault of the scheduler, once, is nothing; one that stays is a failure with a line, or does not
 * matter. In no case is something said that is not so. */
static void try_fault(const struct side *side, size_t task, enum lks_schedsim_fault fault,
                      unsigned from, unsigned count)
{
    struct rig r;
    bool once = count == 1;
    lks_test_case("%s: %s, %s at request %u%s", side->name, tasks[task].name,
                  lks_schedsim_fault_words[fault], from, once ? "" : " and on");
    rig_init(&r, side, BUSY);
    have(&r, tasks[task].owner);
    wait_for(&r, JOB_ENDS + MINUTE);
    wait_for(&r, 4 * MINUTE); /* what is stale is older than an answer may be */
    side->fault(r.model, fault, from, count);
    enum lks_code code = ask(&r, tasks[task].verb, OURS);
    CHECK(code == LKS_OK || (!once && (code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT)));
    CHECK(code == LKS_OK || r.err.msg[0] != '\0');
    if (code == LKS_OK)
        check_true(&r);
    side->fault(r.model, LKS_SCHEDSIM_CALM, 0, 0);
    CHECK_CODE(ask(&r, tasks[task].verb, OURS), LKS_OK);
    check_true(&r);
    if (tasks[task].verb != LKS_SCHED_LOOK)
        CHECK_STR(lks_str_from(side->truth(r.model).owner), tasks[task].after);
    rig_fini(&r);
}

static void test_faults(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        for (size_t task = 0; task < LKS_COUNT(tasks); task++) {
            for (unsigned fault = LKS_SCHEDSIM_LOST; fault < LKS_SCHEDSIM_FAULTS; fault++) {
                for (unsigned at = 1; at <= 3; at++) {
                    try_fault(&sides[i], task, (enum lks_schedsim_fault)fault, at, 1);
                    try_fault(&sides[i], task, (enum lks_schedsim_fault)fault, at, 1000);
                }
            }
        }
    }
}

/* Nobody answers: it is over at its deadline, whatever that is, and never later. */
static void test_deadline(void)
{
    static const lks_ms deadlines[] = {1, LKS_SECOND, LKS_SCHED_PATIENCE, LKS_SCHED_DEADLINE,
                                       60 * MINUTE};
    for (size_t i = 0; i < LKS_COUNT(sides) * LKS_COUNT(deadlines); i++) {
        struct rig r;
        lks_ms most = deadlines[i % LKS_COUNT(deadlines)];
        rig_init(&r, &sides[i / LKS_COUNT(deadlines)], IDLE);
        lks_test_case("%s: within %" PRIu64 " ms", r.side->name, most);
        r.side->fault(r.model, LKS_SCHEDSIM_LOST, 1, 1000);
        struct lks_sched_wish wish = wish_of(&r, LKS_SCHED_DRAIN, OURS);
        wish.deadline = r.now + most;
        enum lks_code code = ask_wish(&r, &wish);
        CHECK(code == LKS_E_TIMEOUT || code == LKS_E_UNAVAILABLE);
        CHECK(r.now <= NOW + most && r.now <= NOW + LKS_SCHED_DEADLINE);
        rig_fini(&r);
    }
}

/* What was said before is older than what was heard since: it says nothing. */
static void test_stale(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        struct rig r;
        lks_test_case("%s", sides[i].name);
        rig_init(&r, &sides[i], IDLE);
        CHECK_CODE(ask(&r, LKS_SCHED_DRAIN, OURS), LKS_OK);
        CHECK_CODE(ask(&r, LKS_SCHED_RELEASE, OURS), LKS_OK);
        r.side->fault(r.model, LKS_SCHEDSIM_STALE, 1, 2);
        struct lks_sched_wish wish = wish_of(&r, LKS_SCHED_LOOK, OURS);
        wish.revision = r.said.revision;
        CHECK_CODE(ask_wish(&r, &wish), LKS_OK);
        CHECK(!r.said.closed);
        CHECK(r.requests == 3);
        rig_fini(&r);
    }
}

/* What is to be asked ----------------------------------------------------------------------- */

static void set_pool(struct lks_asked *a, const char *sched)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("observe"),
                                                     .sched = lks_str_from(sched)}});
    lks_fleet_place(a, "g[1-2]", "train");
}

static void set_drain(struct lks_asked *a, const char *owner)
{
    if (owner[0] != '\0')
        lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_DRAINED,
                                                .drained = {.node = LKS_STR("g1"),
                                                            .owner = lks_str_from(owner),
                                                            .reason = LKS_STR("why")}});
}

static const struct lks_sched_said
    unknown = {0},
    open_node = {.known = true},
    held = {.known = true, .closed = true, .lockstep = true, .owner = OURS},
    left = {.known = true, .closed = true, .lockstep = true, .owner = BEFORE},
    theirs = {.known = true, .closed = true, .owner = THEIRS};

static const struct {
    const char *name, *sched;
    const char *drained; /* by whom, as the state has it */
    const struct lks_sched_said *last;
    const char *verb; /* NULL: nothing is to be asked */
    const char *owner;
} nexts[] = {
    {"without a scheduler nobody is asked", "none", OURS, NULL, NULL, ""},
    {"nor one that has no driver", "kubernetes", OURS, NULL, NULL, ""},
    {"nothing is known yet", "simulated", "", NULL, "look", ""},
    {"it is open and should be", "simulated", "", &open_node, NULL, ""},
    {"it is open and should not be", "simulated", OURS, &open_node, "drain", OURS},
    {"it is ours: does something run there?", "simulated", OURS, &held, "look", OURS},
    {"it is ours and is over", "simulated", "", &held, "release", OURS},
    {"it is that of a change before", "simulated", OURS, &left, "release", BEFORE},
    {"that one is over, too", "simulated", "", &left, "release", BEFORE},
    {"a person has it, and we want it as well", "simulated", OURS, &theirs, "drain", OURS},
    {"a person has it", "simulated", "", &theirs, NULL, ""},
    {"it does not know the node", "simulated", OURS, &unknown, "look", OURS},
    {"nor need it", "simulated", "", &unknown, NULL, ""},
};

static void test_next(void)
{
    for (size_t i = 0; i < LKS_COUNT(nexts); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_wish wish = {0};
        lks_test_case("%s", nexts[i].name);
        lks_asked_init(&a);
        set_pool(&a, nexts[i].sched);
        set_drain(&a, nexts[i].drained);
        bool asks = lks_sched_next(&a.state, lks_test_facts(), lks_fleet_node(&a, "g1"),
                                   nexts[i].last, &wish);
        CHECK_INT(asks, nexts[i].verb != NULL);
        if (!asks || nexts[i].verb == NULL)
            continue;
        CHECK_STR(lks_str_from(lks_sched_verb_words[wish.verb]), nexts[i].verb);
        CHECK_STR(wish.owner, nexts[i].owner);
        CHECK_STR(wish.node, "g1");
        CHECK(wish.checkpoint);
    }
}

/* Somebody keeps asking: whatever happens to the scheduler, its drains become ours. */
static void keep_asking(struct rig *r, struct lks_asked *a, unsigned times)
{
    struct lks_sched_said last = {0};
    bool heard = false;
    for (unsigned i = 0; i < times; i++) {
        struct lks_sched_wish wish;
        if (lks_sched_next(&a->state, lks_test_facts(), lks_fleet_node(a, "g1"),
                           heard ? &last : NULL, &wish)) {
            wish.deadline = r->now + LKS_SCHED_DEADLINE;
            heard = ask_wish(r, &wish) == LKS_OK;
            last = heard ? r->said : last;
        }
        wait_for(r, 10 * LKS_SECOND);
    }
}

static void test_keeps_asking(void)
{
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct rig r;
        lks_test_case("%s", sides[i].name);
        rig_init(&r, &sides[i], BUSY);
        lks_asked_init(&a);
        set_pool(&a, sides[i].name);
        CHECK_CODE(ask(&r, LKS_SCHED_DRAIN, BEFORE), LKS_OK); /* left over by a change before */
        set_drain(&a, OURS);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        sides[i].restart(r.model);
        CHECK(!sides[i].truth(r.model).closed);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        sides[i].other(r.model, THEIRS);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), THEIRS);
        sides[i].other(r.model, NULL);
        keep_asking(&r, &a, 4);
        CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), OURS);
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_UNDRAINED,
                                                 .undrained = {.node = LKS_STR("g1"),
                                                               .owner = LKS_STR(OURS),
                                                               .reason = LKS_STR("done")}});
        keep_asking(&r, &a, 4);
        CHECK(!sides[i].truth(r.model).closed);
        rig_fini(&r);
    }
}

/* What becomes of an answer ----------------------------------------------------------------- */

static void test_event(void)
{
    struct lks_sched_said said = held, other = held;
    struct lks_event event;
    lks_sched_event(7, &said, &event);
    CHECK_INT(event.kind, LKS_EVENT_SCHED);
    CHECK_INT(event.node, 7);
    CHECK(event.sched.drained);
    CHECK_STR(event.sched.owner, OURS);
    other.jobs = 2;
    lks_sched_event(7, &other, &event);
    CHECK(!event.sched.drained);
    CHECK_INT(event.sched.jobs, 2);
    other = theirs;
    lks_sched_event(7, &other, &event);
    CHECK_STR(event.sched.owner, "");
    snprintf(other.owner, sizeof(other.owner), OURS); /* a person who is called as a change is */
    lks_sched_event(7, &other, &event);
    CHECK_STR(event.sched.owner, "");
}

/* A controller that does not lead any more changes nothing, and is told so. */
static void test_epochs(void)
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
    for (size_t i = 0; i < LKS_COUNT(sides); i++) {
        for (size_t j = 0; j < LKS_COUNT(rows); j++) {
            struct rig r;
            lks_test_case("%s: %s", sides[i].name, rows[j].name);
            rig_init(&r, &sides[i], IDLE);
            struct lks_sched_wish wish = wish_of(&r, LKS_SCHED_DRAIN, OURS);
            wish.epoch = rows[j].first;
            CHECK_CODE(ask_wish(&r, &wish), LKS_OK);
            wish.verb = LKS_SCHED_RELEASE;
            wish.epoch = rows[j].second;
            CHECK_CODE(ask_wish(&r, &wish), rows[j].code);
            CHECK_STR(lks_str_from(sides[i].truth(r.model).owner), rows[j].after);
            if (rows[j].code != LKS_OK)
                CHECK(strstr(r.err.msg, "epoch 9") != NULL);
            rig_fini(&r);
        }
    }
}

/* Plans and drivers agree about who can be asked. */
static void test_tables(void)
{
    static const char *const words[] = {"",      "none",       "simulated",
                                        "slurm", "kubernetes", "something"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        struct lks_str word = lks_str_from(words[i]);
        lks_test_case("%s", words[i]);
        CHECK_INT(lks_sched_driver(word) != NULL, lks_drain_sched(word) == LKS_DRAIN_DRIVEN);
    }
    for (size_t i = 0; i < LKS_COUNT(sides); i++)
        CHECK(lks_sched_driver(lks_str_from(sides[i].name)) != NULL);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what each verb does", test_verbs},
        {"wishes that are odd", test_odd_wishes},
        {"waiting for what runs", test_waiting},
        {"mishaps on the way", test_mishaps},
        {"faults of the scheduler", test_faults},
        {"deadlines", test_deadline},
        {"stale answers", test_stale},
        {"epochs of leaders", test_epochs},
        {"what is to be asked", test_next},
        {"somebody keeps asking", test_keeps_asking},
        {"what becomes of an answer", test_event},
        {"tables", test_tables},
        {NULL, NULL},
    });
}
