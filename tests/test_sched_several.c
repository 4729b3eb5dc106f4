/*
 * A pool with several schedulers: what their answers mean for a node together, and how each of them
 * is asked by itself. A node is drained if each reports that, and recently.
 */
#include "core/actions/sched_book.h"
#include "core/decision/event.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/state.h"

#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define OURS "change:17"
#define LAST "change:16"

/* Two answers, one node ---------------------------------------------------------------------- */

enum says {
    NOTHING, /* no answer since the start */
    EMPTY,
    BUSY,
    EMPTY_BEFORE, /* drained by an owner of ours that is not wanted any more */
    OPEN,
    THEIRS,
    UNKNOWN,
    ENDED,  /* open, and the drain ended just now */
    BUSIER, /* a job started in spite of the drain, just now */
    STALE,  /* drained, as an answer that does not count any more had it */
    FAILS,  /* drained, and the request behind that failed */
    BUSY_FAILS,
    SILENT,
    REFUSED,
};

static const struct lks_sched_said said[] = {
    [EMPTY] = {.known = true, .closed = true, .lockstep = true, .owner = OURS, .text = "drained"},
    [BUSY] = {.known = true,
              .closed = true,
              .lockstep = true,
              .jobs = 2,
              .requests = 1,
              .owner = OURS,
              .text = "2 jobs"},
    [EMPTY_BEFORE] =
        {.known = true, .closed = true, .lockstep = true, .owner = LAST, .text = "drained before"},
    [OPEN] = {.known = true, .jobs = 4, .text = "in service"},
    [THEIRS] = {.known = true, .closed = true, .owner = "kim", .text = "drained by kim"},
    [UNKNOWN] = {.text = "no such node"},
};

static struct lks_sched_part part_of(const char *sched, enum says says)
{
    static const enum says shows[] = {
        [EMPTY] = EMPTY,  [BUSY] = BUSY,       [EMPTY_BEFORE] = EMPTY_BEFORE,
        [OPEN] = OPEN,    [THEIRS] = THEIRS,   [UNKNOWN] = UNKNOWN,
        [ENDED] = OPEN,   [BUSIER] = BUSY,     [STALE] = EMPTY,
        [FAILS] = EMPTY,  [BUSY_FAILS] = BUSY, [SILENT] = EMPTY,
        [REFUSED] = EMPTY};
    bool fails = says == FAILS || says == BUSY_FAILS, silent = says == SILENT || says == REFUSED;
    return (struct lks_sched_part){
        .sched = sched,
        .said = says == NOTHING ? NULL : &said[shows[says]],
        .counts = says != STALE && says != NOTHING && !silent,
        .lost = says == ENDED,
        .worse = says == ENDED || says == BUSIER,
        .failures = fails    ? 1
                    : silent ? LKS_SCHED_UNHEARD
                             : 0,
        .refused = says == REFUSED,
        .since = says == REFUSED  ? 500
                 : says == SILENT ? 700
                                  : 0,
        .trouble = lks_str_from(silent ? "no route" : ""),
    };
}

/* What the event has, as text: its flags, jobs, owner, text and the scheduler that it is about. */
static const struct {
    const char *name;
    enum says slurm, other;
    const char *event; /* NULL: there is none */
} pairs[] = {
    {"each drained", EMPTY, EMPTY, "drained 0 change:17 slurm: drained [slurm]"},
    {"drained in the first alone", EMPTY, OPEN, "4  simulated: in service [simulated]"},
    {"drained in the second alone", OPEN, EMPTY, "4  slurm: in service [slurm]"},
    {"the second drains", EMPTY, BUSY, "3 change:17 simulated: 2 jobs [simulated]"},
    {"each drains: jobs of both", BUSY, BUSY, "6 change:17 slurm: 2 jobs [slurm]"},
    {"in service in each", OPEN, OPEN, "8  slurm: in service [slurm]"},
    {"one has an owner of before", EMPTY, EMPTY_BEFORE,
     "drained 0 change:16 slurm: drained [slurm]"},
    {"the other one has it", EMPTY_BEFORE, EMPTY,
     "drained 0 change:16 slurm: drained before [slurm]"},
    {"another owner in the second", EMPTY, THEIRS,
     "foreign 0  simulated: drained by kim [simulated]"},
    {"another owner in the first", THEIRS, BUSY, "foreign 3  slurm: drained by kim [slurm]"},
    {"unknown in the second", BUSY, UNKNOWN, "missing 3  simulated: no such node [simulated]"},
    {"another owner, and unknown: the worst is told", THEIRS, UNKNOWN,
     "missing foreign 0  simulated: no such node [simulated]"},
    {"the drain ended in the second", EMPTY, ENDED, "lost 4  simulated: in service [simulated]"},
    {"the drain ended in the second, and the first is silent", SILENT, ENDED,
     "partial lost 4  simulated: in service [simulated]"},
    {"it ended in the first, and the second is silent", ENDED, SILENT,
     "partial lost 4  slurm: in service [slurm]"},
    {"it ended in the first, and the second was never heard", ENDED, NOTHING,
     "partial lost 4  slurm: in service [slurm]"},
    {"it ended in the first, and the second's answer is old", ENDED, STALE,
     "partial lost 4  slurm: in service [slurm]"},
    {"a job started in the first, and the second is silent", BUSIER, SILENT,
     "partial 3 change:17 slurm: 2 jobs [slurm]"},
    {"no answer of the second yet", EMPTY, NOTHING, NULL},
    {"no answer of the first yet", NOTHING, EMPTY, NULL},
    {"none of either", NOTHING, NOTHING, NULL},
    {"the second's drain is old", EMPTY, STALE, NULL},
    {"the first's is", STALE, EMPTY, NULL},
    {"the second fails for a moment", EMPTY, FAILS, NULL},
    {"it fails, and jobs run there", EMPTY, BUSY_FAILS,
     "3 change:17 simulated: 2 jobs [simulated]"},
    {"it fails, and jobs run in the first", BUSY, FAILS, "3 change:17 slurm: 2 jobs [slurm]"},
    {"the second is silent", EMPTY, SILENT, "unknown since 700 0  simulated: no route [simulated]"},
    {"the second is silent, and jobs run in the first", BUSY, SILENT,
     "unknown since 700 0  simulated: no route [simulated]"},
    {"the first is silent, and the second was never heard", SILENT, NOTHING,
     "unknown since 700 0  slurm: no route [slurm]"},
    {"each is silent: since the first of them", SILENT, REFUSED,
     "unknown refused since 500 0  simulated: no route [slurm+simulated]"},
};

static void print_event(const struct lks_event *event, char out[512])
{
    const struct lks_event_sched *e = &event->sched;
    char since[32] = "";
    if (e->since != 0)
        snprintf(since, sizeof(since), "since %u ", (unsigned)e->since);
    snprintf(out, 512, "%s%s%s%s%s%s%s%s%u %" LKS_STR_FMT " %" LKS_STR_FMT " [%" LKS_STR_FMT "]",
             e->unknown ? "unknown " : "", e->partial ? "partial " : "",
             e->refused ? "refused " : "", since, e->drained ? "drained " : "",
             e->missing ? "missing " : "", e->foreign ? "foreign " : "", e->lost ? "lost " : "",
             (unsigned)e->jobs, LKS_STR_ARG(e->owner), LKS_STR_ARG(e->text), LKS_STR_ARG(e->sched));
}

static void test_pairs(void)
{
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        const struct lks_sched_part parts[] = {part_of("slurm", pairs[i].slurm),
                                               part_of("simulated", pairs[i].other)};
        struct lks_sched_space space;
        struct lks_event event;
        char text[512];
        lks_test_case("%s", pairs[i].name);
        bool news = lks_sched_combine(7, LKS_STR(OURS), LKS_STR(""), parts, 2, &space, &event);
        if (!CHECK_INT(news, pairs[i].event != NULL) || !news)
            continue;
        print_event(&event, text);
        CHECK_STR(lks_str_from(text), pairs[i].event);
        CHECK_INT(event.node, 7);
    }
}

/* A node that nothing wants drained needs no recent answers: its alarms end. One scheduler alone
 * makes the event that it always made, without its name. */
static const struct {
    const char *name, *wanted, *mute;
    enum says says[2];
    size_t count;
    const char *event;
} others[] = {
    {"old answers of a node that nothing wants",
     "",
     "",
     {STALE, OPEN},
     2,
     "4  simulated: in service [simulated]"},
    {"one scheduler", OURS, "", {EMPTY}, 1, "drained 0 change:17 drained []"},
    {"one, and it fails for a moment", OURS, "", {FAILS}, 1, NULL},
    {"one, and it is silent", OURS, "", {SILENT}, 1, "unknown since 700 0  no route []"},
    {"one beside one that cannot be asked",
     OURS,
     "lsf",
     {EMPTY},
     1,
     "0 change:17 lsf: lockstep cannot drain nodes there yet [lsf]"},
    {"the same, while jobs run", OURS, "lsf", {BUSY}, 1, "3 change:17 slurm: 2 jobs [slurm]"},
};

static void test_others(void)
{
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        const struct lks_sched_part parts[] = {part_of("slurm", others[i].says[0]),
                                               part_of("simulated", others[i].says[1])};
        struct lks_sched_space space;
        struct lks_event event;
        char text[512];
        lks_test_case("%s", others[i].name);
        bool news =
            lks_sched_combine(7, lks_str_from(others[i].wanted), lks_str_from(others[i].mute),
                              parts, others[i].count, &space, &event);
        if (!CHECK_INT(news, others[i].event != NULL) || !news)
            continue;
        print_event(&event, text);
        CHECK_STR(lks_str_from(text), others[i].event);
    }
}

/* Each is asked by itself --------------------------------------------------------------------- */

struct world {
    struct lks_asked a;
    struct lks_sched_book book;
    lks_ms mono;
};

static void set_pool(struct world *w, const char *sched)
{
    lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                                .pool = {.name = LKS_STR("train"),
                                                         .posture = LKS_STR("pre-training"),
                                                         .enforce = LKS_STR("observe"),
                                                         .sched = lks_str_from(sched)}});
}

static void set_up(struct world *w, const char *sched)
{
    *w = (struct world){.mono = 1000 * LKS_SECOND};
    lks_asked_init(&w->a);
    set_pool(w, sched);
    lks_fleet_place(&w->a, "g1", "train");
}

static void tear_down(struct world *w)
{
    lks_sched_book_fini(&w->book);
    lks_asked_fini(&w->a);
}

static void set_drain(struct world *w, bool on)
{
    const struct lks_record drained = {.kind = LKS_RECORD_DRAINED,
                                       .drained = {.node = LKS_STR("g1"),
                                                   .owner = LKS_STR(OURS),
                                                   .reason = LKS_STR("why")}},
                            open = {.kind = LKS_RECORD_UNDRAINED,
                                    .undrained = {.node = LKS_STR("g1"),
                                                  .owner = LKS_STR(OURS),
                                                  .reason = LKS_STR("done")}};
    lks_asked_apply(&w->a, on ? &drained : &open);
}

/* What is asked now, as "slurm drain simulated look". */
static struct lks_str asks(struct world *w, uint32_t max, char out[128])
{
    struct lks_sched_due due[4];
    struct lks_err err = {0};
    uint32_t count = 0;
    CHECK_CODE(lks_sched_book_due(&w->book, &w->a.state, lks_test_facts(), w->mono, max, due,
                                  &count, &err),
               LKS_OK);
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, 128 - used, "%s%s %s", used > 0 ? " " : "", due[i].sched,
                 lks_sched_verb_words[due[i].wish.verb]);
    }
    return lks_str_from(out);
}

static uint32_t node_of(const struct world *w)
{
    return lks_fleet_node(&w->a, "g1");
}

static struct lks_now now_of(const struct world *w)
{
    return (struct lks_now){.wall = w->mono, .mono = w->mono};
}

static void hear(struct world *w, const char *sched, enum says says)
{
    lks_sched_book_heard(&w->book, node_of(w), lks_str_from(sched), &said[says], now_of(w), 1);
}

static void fail(struct world *w, const char *sched)
{
    const struct lks_err why = {.code = LKS_E_UNAVAILABLE, .msg = "no route"};
    lks_sched_book_failed(&w->book, node_of(w), lks_str_from(sched), &why, now_of(w), 1);
}

/* The event for the engine now, printed, and whether it takes it; "none". */
static struct lks_str tell_engine(struct world *w, bool takes, char out[512])
{
    struct lks_event event;
    snprintf(out, 512, "none");
    if (!lks_sched_book_event(&w->book, &w->a.state, node_of(w), w->mono, &event))
        return lks_str_from(out);
    print_event(&event, out);
    if (takes)
        lks_sched_book_told(&w->book, &event);
    return lks_str_from(out);
}

static struct lks_str event_of(struct world *w, char out[512])
{
    return tell_engine(w, true, out);
}

/* Each has its own rhythm, failures and turns of bridges. */
static void test_rhythms(void)
{
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm+simulated");
    CHECK_STR(asks(&w, 4, out), "slurm look simulated look");
    hear(&w, "slurm", OPEN);
    CHECK_STR(event_of(&w, event), "none"); /* the other one gave no answer yet */
    hear(&w, "simulated", OPEN);
    set_drain(&w, true);
    CHECK_STR(asks(&w, 4, out), "slurm drain simulated drain");
    hear(&w, "slurm", EMPTY);
    CHECK_STR(event_of(&w, event), "4  simulated: in service [simulated]");
    hear(&w, "simulated", BUSY);
    CHECK_STR(event_of(&w, event), "3 change:17 simulated: 2 jobs [simulated]");
    CHECK_STR(asks(&w, 4, out), "slurm look simulated look");
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", BUSY);
    w.mono += LKS_SCHED_POLL;
    CHECK_STR(asks(&w, 4, out), "simulated look"); /* that which drains is asked more often */
    fail(&w, "simulated");
    CHECK_INT(lks_sched_book_find(&w.book, node_of(&w), LKS_STR("simulated"))->turn, 1);
    CHECK_INT(lks_sched_book_find(&w.book, node_of(&w), LKS_STR("slurm"))->turn, 0);
    CHECK_INT(lks_sched_book_find(&w.book, node_of(&w), LKS_STR("slurm"))->failures, 0);
    w.mono += LKS_SCHED_CALM;
    CHECK_STR(asks(&w, 4, out), "slurm look simulated look");
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", EMPTY);
    CHECK_STR(event_of(&w, event), "drained 0 change:17 slurm: drained [slurm]");
    tear_down(&w);
}

/* However few are asked at a time, each scheduler of a node gets its turn. */
static void test_turns(void)
{
    struct world w;
    char out[128];
    set_up(&w, "slurm+simulated");
    CHECK_STR(asks(&w, 1, out), "slurm look");
    CHECK_STR(asks(&w, 1, out), "simulated look");
    CHECK_STR(asks(&w, 1, out), "");
    tear_down(&w);
}

/* It is in service again only when each released it. */
static void test_release(void)
{
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm+simulated");
    set_drain(&w, true);
    (void)asks(&w, 4, out);
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", EMPTY);
    set_drain(&w, false);
    CHECK_STR(asks(&w, 4, out), "slurm release simulated release");
    hear(&w, "slurm", OPEN);
    CHECK_STR(event_of(&w, event), "4  slurm: in service [slurm]");
    CHECK_INT(
        lks_sched_book_owes(&w.book, &w.a.state, lks_test_facts(), node_of(&w), LKS_STR("slurm")),
        LKS_SCHED_OWES_NOTHING);
    CHECK_INT(lks_sched_book_owes(&w.book, &w.a.state, lks_test_facts(), node_of(&w),
                                  LKS_STR("simulated")),
              LKS_SCHED_OWES_DRAIN);
    tear_down(&w);
}

/* A release that is on its way may have ended the drain of the answer before it, also where the
 * same owner wants the node again. */
static void test_releasing(void)
{
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm+simulated");
    set_drain(&w, true);
    (void)asks(&w, 4, out);
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", EMPTY);
    set_drain(&w, false);
    CHECK_STR(asks(&w, 4, out), "slurm release simulated release");
    hear(&w, "slurm", OPEN);
    set_drain(&w, true);
    CHECK_STR(asks(&w, 4, out), "slurm drain");
    hear(&w, "slurm", EMPTY);
    CHECK_STR(event_of(&w, event), "none");
    fail(&w, "simulated"); /* nor is it known after a failure */
    CHECK_STR(event_of(&w, event), "none");
    w.mono += LKS_SCHED_POLL;
    CHECK_STR(asks(&w, 4, out), "slurm look simulated look");
    CHECK_STR(event_of(&w, event), "none");
    hear(&w, "simulated", EMPTY);
    CHECK_STR(event_of(&w, event), "drained 0 change:17 slurm: drained [slurm]");
    tear_down(&w);
}

/* A drain that ended in one while the other gives no answer is told of at once, once. */
static void test_lost(void)
{
    static const char silent[] = "unknown since 1000000 0  simulated: no route [simulated]";
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm+simulated");
    set_drain(&w, true);
    (void)asks(&w, 4, out);
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", EMPTY);
    for (unsigned i = 0; i < LKS_SCHED_UNHEARD; i++)
        fail(&w, "simulated");
    CHECK_STR(event_of(&w, event), silent);
    hear(&w, "slurm", OPEN);
    CHECK_STR(event_of(&w, event), "partial lost 4  slurm: in service [slurm]");
    CHECK_STR(event_of(&w, event), silent);
    hear(&w, "slurm", EMPTY);
    CHECK_STR(event_of(&w, event), silent);
    hear(&w, "slurm", BUSY);
    CHECK_STR(event_of(&w, event), "partial 3 change:17 slurm: 2 jobs [slurm]");
    hear(&w, "slurm", EMPTY);
    hear(&w, "simulated", EMPTY);
    CHECK_STR(event_of(&w, event), "drained 0 change:17 slurm: drained [slurm]");
    tear_down(&w);
}

/* The journal cannot be written for a while: what became worse is told until it was taken, once. */
static const struct {
    const char *name, *scheds;
    struct {
        enum says slurm; /* NOTHING: no answer */
        bool takes;
        const char *event; /* NULL: no more steps */
    } steps[5];
} stalls[] = {
    {"the drain ended, and the other is silent",
     "slurm+simulated",
     {{OPEN, false, "partial lost 4  slurm: in service [slurm]"},
      {NOTHING, false, "partial lost 4  slurm: in service [slurm]"},
      {OPEN, true, "partial lost 4  slurm: in service [slurm]"},
      {OPEN, true, "unknown since 1000000 0  simulated: no route [simulated]"}}},
    {"jobs started, and the other is silent",
     "slurm+simulated",
     {{BUSY, false, "partial 3 change:17 slurm: 2 jobs [slurm]"},
      {BUSY, true, "partial 3 change:17 slurm: 2 jobs [slurm]"},
      {BUSY, true, "unknown since 1000000 0  simulated: no route [simulated]"}}},
    {"it is drained again before it was told",
     "slurm+simulated",
     {{OPEN, false, "partial lost 4  slurm: in service [slurm]"},
      {EMPTY, true, "unknown since 1000000 0  simulated: no route [simulated]"},
      {OPEN, true, "partial lost 4  slurm: in service [slurm]"}}},
    {"one scheduler",
     "slurm",
     {{OPEN, false, "lost 4  in service []"},
      {OPEN, true, "lost 4  in service []"},
      {OPEN, true, "4  in service []"}}},
};

static void test_stalled(void)
{
    for (size_t i = 0; i < LKS_COUNT(stalls); i++) {
        struct world w;
        char out[128], event[512];
        set_up(&w, stalls[i].scheds);
        set_drain(&w, true);
        (void)asks(&w, 4, out);
        hear(&w, "slurm", EMPTY);
        hear(&w, "simulated", EMPTY);
        for (unsigned k = 0; k < LKS_SCHED_UNHEARD; k++)
            fail(&w, "simulated");
        for (size_t k = 0; k < LKS_COUNT(stalls[i].steps); k++) {
            if (stalls[i].steps[k].event == NULL)
                break;
            lks_test_case("%s: step %zu", stalls[i].name, k + 1);
            if (stalls[i].steps[k].slurm != NOTHING)
                hear(&w, "slurm", stalls[i].steps[k].slurm);
            CHECK_STR(tell_engine(&w, stalls[i].steps[k].takes, event), stalls[i].steps[k].event);
        }
        tear_down(&w);
    }
}

/* A change works on the node. */
static void begin_change(struct world *w)
{
    const struct lks_str host = LKS_STR("g1");
    const struct lks_record plan[] = {
        {.kind = LKS_RECORD_CHANGE, .change = {.id = 1, .name = LKS_STR("silver")}},
        {.kind = LKS_RECORD_PLAN_STEP,
         .plan_step = {.change = 1, .kind = LKS_DO_LEAVE, .limit = 3600 * LKS_SECOND}},
        {.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = {.change = 1, .width = 1}},
        {.kind = LKS_RECORD_PLAN_PART, .plan_part = {.change = 1, .hosts = host}},
        {.kind = LKS_RECORD_CHANGE_MOVED,
         .change_moved = {.change = 1, .state = LKS_CHANGE_RUNNING}},
        {.kind = LKS_RECORD_MEMBER,
         .member = {.change = 1, .node = host, .state = LKS_MEMBER_ASKED}},
        {.kind = LKS_RECORD_CONDITION,
         .condition = {.node = host, .condition = LKS_CONDITION_CHANGING, .on = true}},
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(&w->a, &plan[i]);
    set_drain(w, true);
}

static struct lks_str old_of(struct world *w, char out[512])
{
    struct lks_event event;
    uint32_t at = 0;
    w->mono += LKS_SCHED_OLD;
    snprintf(out, 512, "none");
    if (lks_sched_book_old(&w->book, &w->a.state, now_of(w), &at, &event))
        print_event(&event, out);
    return lks_str_from(out);
}

/* The oldest answer decides, by the name of its scheduler. */
static void test_old(void)
{
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm+simulated");
    begin_change(&w);
    (void)asks(&w, 4, out);
    hear(&w, "slurm", EMPTY);
    CHECK_STR(old_of(&w, event), "unknown since 1000000 0  simulated: no answer yet [simulated]");
    hear(&w, "simulated", EMPTY);
    CHECK_STR(old_of(&w, event), "none");
    w.mono += LKS_SCHED_FRESH - 2 * LKS_SCHED_OLD;
    hear(&w, "slurm", EMPTY);
    fail(&w, "simulated");
    w.mono += LKS_SCHED_OLD;
    CHECK_STR(old_of(&w, event), "unknown since 1001000 0  simulated: no route [simulated]");
    CHECK_STR(event_of(&w, event), "none"); /* slurm alone is not enough */
    w.mono += LKS_SCHED_FRESH;
    CHECK_STR(old_of(&w, event), "unknown since 1001000 0  simulated: no route [simulated]");
    tear_down(&w);
}

/* A pool that gets a scheduler while a change works on its node: that one was not silent until now,
 * and has to report the drain before anything goes on. A pool that loses one waits for it no more.
 */
static void test_gained(void)
{
    struct world w;
    char out[128], event[512];
    set_up(&w, "slurm");
    begin_change(&w);
    (void)asks(&w, 4, out);
    hear(&w, "slurm", EMPTY);
    CHECK_STR(event_of(&w, event), "drained 0 change:17 drained []");
    CHECK_STR(old_of(&w, event), "none");
    set_pool(&w, "slurm+simulated");
    CHECK_STR(event_of(&w, event), "none");
    CHECK_STR(old_of(&w, event), "unknown since 1002000 0  simulated: no answer yet [simulated]");
    CHECK_STR(asks(&w, 4, out), "simulated look");
    hear(&w, "simulated", OPEN);
    CHECK_STR(asks(&w, 4, out), "simulated drain");
    CHECK_STR(event_of(&w, event), "4  simulated: in service [simulated]");
    hear(&w, "simulated", EMPTY);
    CHECK_STR(event_of(&w, event), "drained 0 change:17 slurm: drained [slurm]");
    set_pool(&w, "slurm");
    fail(&w, "simulated");
    CHECK_STR(event_of(&w, event), "drained 0 change:17 drained []");
    tear_down(&w);
}

/* Why no job starts there: the first that has a reason, by its name; and over when none has one. */
static void test_outage(void)
{
    struct lks_sched_said down = said[OPEN];
    struct world w;
    struct lks_event event;
    char out[128];
    set_up(&w, "slurm+simulated");
    snprintf(down.outage, sizeof(down.outage), "its daemon gives no answer");
    (void)asks(&w, 4, out);
    hear(&w, "slurm", OPEN);
    CHECK(!lks_sched_book_outage(&w.book, &w.a.state, node_of(&w), &event));
    lks_sched_book_heard(&w.book, node_of(&w), LKS_STR("simulated"), &down, now_of(&w), 1);
    if (CHECK(lks_sched_book_outage(&w.book, &w.a.state, node_of(&w), &event)))
        CHECK_STR(event.outage, "simulated: its daemon gives no answer");
    (void)lks_asked(&w.a, &event);
    hear(&w, "slurm", OPEN);
    CHECK(!lks_sched_book_outage(&w.book, &w.a.state, node_of(&w), &event));
    hear(&w, "simulated", OPEN);
    if (CHECK(lks_sched_book_outage(&w.book, &w.a.state, node_of(&w), &event)))
        CHECK_STR(event.outage, "");
    tear_down(&w);
}

/* What one of them advertises counts: the first. */
static void test_advertised(void)
{
    struct world w;
    set_up(&w, "slurm+simulated");
    CHECK(lks_sched_advertises(&w.a.state, node_of(&w), LKS_STR("slurm")));
    CHECK(!lks_sched_advertises(&w.a.state, node_of(&w), LKS_STR("simulated")));
    tear_down(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"two answers, one node", test_pairs},
        {"other answers", test_others},
        {"each has its own rhythm", test_rhythms},
        {"each gets its turn", test_turns},
        {"a release in each", test_release},
        {"a release on its way", test_releasing},
        {"a drain that was lost during a silence", test_lost},
        {"what becomes worse while nothing can be written", test_stalled},
        {"answers that are too old", test_old},
        {"a scheduler more, and one less", test_gained},
        {"why no job starts", test_outage},
        {"what is advertised", test_advertised},
        {NULL, NULL},
    });
}
