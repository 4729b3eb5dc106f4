/*
 * The order in which schedulers are asked about nodes: a table of what happens one after the other,
 * and whether the node is asked then.
 */
#include "core/actions/sched_book.h"
#include "core/decision/event.h"
#include "core/state/state.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

#define OURS "change:17"

enum happens {
    NOTHING,
    DRAIN,   /* the state wants the node drained */
    UNDRAIN, /* and not any more */
    OPEN,    /* the scheduler answers that the node is open, */
    BUSY,    /* that it drains it and a job runs there, */
    EMPTY,   /* that nothing runs there, */
    ANOTHER, /* that another owner drained it, */
    FAILS,   /* or does not answer; */
    UNASKED, /* nothing that was found due last left lockstepd */
};

static const struct lks_sched_said answers[] = {
    [OPEN] = {.known = true},
    [BUSY] = {.known = true, .closed = true, .lockstep = true, .owner = OURS, .jobs = 1},
    [EMPTY] = {.known = true, .closed = true, .lockstep = true, .owner = OURS, .revision = 7},
    [ANOTHER] = {.known = true, .closed = true, .owner = "kim", .text = "drained by 'kim'"},
};

struct step {
    enum happens happens;
    lks_ms after;     /* this long after the step before */
    const char *asks; /* NULL: it is not asked */
};

#define STEPS_MAX 12

static const struct {
    const char *name;
    struct step steps[STEPS_MAX]; /* ends with one that has neither event nor time nor verb */
} stories[] = {
    {"a node in service is asked about seldom",
     {{NOTHING, 1, "look"},
      {OPEN, 1, NULL},
      {NOTHING, LKS_SCHED_REFRESH - 1, NULL},
      {NOTHING, LKS_SCHED_POLL + 1, "look"},
      {NOTHING, 1, NULL}}},
    {"a drain does not wait, and is asked about until nothing runs there",
     {{NOTHING, 1, "look"},
      {OPEN, 1, NULL},
      {DRAIN, 1, "drain"},
      {BUSY, 1, "look"},
      {BUSY, 1, NULL},
      {NOTHING, LKS_SCHED_POLL, "look"},
      {EMPTY, 1, NULL},
      {NOTHING, LKS_SCHED_POLL, NULL},
      {NOTHING, LKS_SCHED_CALM, "look"}}},
    {"nor does a release",
     {{DRAIN, 1, "look"},
      {OPEN, 1, "drain"},
      {EMPTY, 1, "look"},
      {EMPTY, 1, NULL},
      {UNDRAIN, 1, "release"},
      {OPEN, 1, NULL}}},
    {"one conversation about a node at a time",
     {{DRAIN, 1, "look"}, {NOTHING, 60 * LKS_SECOND, NULL}, {OPEN, 1, "drain"}}},
    {"one that is never answered is over at last",
     {{NOTHING, 1, "look"}, {NOTHING, 600 * LKS_SECOND, "look"}}},
    {"what never left is asked at once",
     {{NOTHING, 1, "look"},
      {OPEN, 1, NULL},
      {DRAIN, 1, "drain"},
      {UNASKED, 1, "drain"},
      {EMPTY, 1, "look"}}},
    {"but not what left before",
     {{DRAIN, 1, "look"}, {NOTHING, 1, NULL}, {UNASKED, LKS_SCHED_POLL, NULL}}},
    {"a failure is repeated ever later, whatever is wanted",
     {{NOTHING, 1, "look"},
      {FAILS, 1, NULL},
      {DRAIN, 1, NULL},
      {NOTHING, LKS_SCHED_POLL, "look"},
      {FAILS, 1, NULL},
      {NOTHING, LKS_SCHED_POLL, NULL},
      {NOTHING, LKS_SCHED_POLL, "look"},
      {OPEN, 1, "drain"}}},
    {"another owner's drain is asked about again, not at once",
     {{DRAIN, 1, "look"},
      {ANOTHER, 1, "drain"},
      {ANOTHER, 1, NULL},
      {NOTHING, LKS_SCHED_POLL, "drain"}}},
};

static void set_up(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                            .pool = {.name = LKS_STR("train"),
                                                     .posture = LKS_STR("pre-training"),
                                                     .enforce = LKS_STR("observe"),
                                                     .sched = LKS_STR("slurm")}});
    lks_fleet_place(a, "g1", "train");
}

static void happen(struct lks_asked *a, struct lks_sched_book *b, enum happens what, lks_ms mono)
{
    const struct lks_record drained = {.kind = LKS_RECORD_DRAINED,
                                       .drained = {.node = LKS_STR("g1"),
                                                   .owner = LKS_STR(OURS),
                                                   .reason = LKS_STR("why")}},
                            undrained = {.kind = LKS_RECORD_UNDRAINED,
                                         .undrained = {.node = LKS_STR("g1"),
                                                       .owner = LKS_STR(OURS),
                                                       .reason = LKS_STR("done")}};
    uint32_t node = lks_fleet_node(a, "g1");
    struct lks_now now = {.wall = mono, .mono = mono};
    if (what == DRAIN || what == UNDRAIN)
        lks_asked_apply(a, what == DRAIN ? &drained : &undrained);
    else if (what == FAILS)
        lks_sched_book_failed(
            b, node, LKS_STR("slurm"),
            &(struct lks_err){.code = LKS_E_UNAVAILABLE, .msg = "no route to host"}, now, 1);
    else if (what == UNASKED)
        lks_sched_book_unasked(b, b->sites.searches);
    else if (what != NOTHING)
        lks_sched_book_heard(b, node, LKS_STR("slurm"), &answers[what], now, 1);
}

static void test_order(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_book book = {0};
        lks_ms mono = 1000;
        set_up(&a);
        for (size_t k = 0; k < STEPS_MAX && stories[i].steps[k].after > 0; k++) {
            const struct step *step = &stories[i].steps[k];
            struct lks_sched_due due[2];
            struct lks_err err = {0};
            uint32_t count = 0;
            lks_test_case("%s: step %zu", stories[i].name, k + 1);
            mono += step->after;
            happen(&a, &book, step->happens, mono);
            CHECK_CODE(
                lks_sched_book_due(&book, &a.state, lks_test_facts(), mono, 2, due, &count, &err),
                LKS_OK);
            CHECK_INT(count, step->asks != NULL);
            if (count > 0 && step->asks != NULL)
                CHECK_STR(lks_str_from(lks_sched_verb_words[due[0].wish.verb]), step->asks);
        }
        lks_sched_book_fini(&book);
    }
}

/* Every node gets its turn, however few are asked at a time. */
static void test_turns(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_err err = {0};
    set_up(&a);
    lks_fleet_place(&a, "g[2-7]", "train");
    for (uint32_t left = 7; left > 0;) {
        struct lks_sched_due due[2];
        uint32_t count = 0;
        CHECK_CODE(lks_sched_book_due(&book, &a.state, lks_test_facts(), 1, 2, due, &count, &err),
                   LKS_OK);
        CHECK_INT(count, left < 2 ? left : 2);
        if (count == 0)
            break;
        left -= count;
    }
    lks_sched_book_fini(&book);
}

/* Whether a drain would be left over if the node left the fleet now. */
static void test_owes(void)
{
    static const struct {
        const char *name;
        enum happens happens[3]; /* NOTHING: no more */
        enum lks_sched_owes owes;
    } rows[] = {
        {"not asked yet", {NOTHING}, LKS_SCHED_OWES_UNKNOWN},
        {"in service", {OPEN}, LKS_SCHED_OWES_NOTHING},
        {"drained for a change", {DRAIN, EMPTY}, LKS_SCHED_OWES_DRAIN},
        {"it drains", {DRAIN, BUSY}, LKS_SCHED_OWES_DRAIN},
        {"the drain is on its way", {DRAIN, OPEN}, LKS_SCHED_OWES_DRAIN},
        {"the release is on its way", {DRAIN, EMPTY, UNDRAIN}, LKS_SCHED_OWES_DRAIN},
        {"taken over by a person", {DRAIN, ANOTHER}, LKS_SCHED_OWES_NOTHING},
        {"no answer", {OPEN, FAILS}, LKS_SCHED_OWES_UNKNOWN},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_sched_book book = {0};
        struct lks_sched_due due[1];
        struct lks_facts facts = {0};
        struct lks_err err = {0};
        uint32_t count = 0;
        lks_test_case("%s", rows[i].name);
        set_up(&a);
        CHECK_CODE(lks_sched_book_due(&book, &a.state, &facts, 1, 1, due, &count, &err), LKS_OK);
        if (!CHECK_INT(count, 1))
            break;
        for (unsigned k = 0; k < 3 && rows[i].happens[k] != NOTHING; k++)
            happen(&a, &book, rows[i].happens[k], 1 + k);
        CHECK_INT(lks_sched_book_owes(&book, &a.state, &facts, due[0].node, LKS_STR("slurm")),
                  rows[i].owes);
        lks_sched_book_fini(&book);
    }
}

/* Each failure makes it the turn of the site's next bridge, whose revisions are others; an answer
 * leaves the turn where it is. */
static void test_bridges(void)
{
    static const struct {
        enum happens happens; /* before the question */
        uint32_t turn;
        uint64_t revision; /* answers from before it are stale */
    } rows[] = {{NOTHING, 0, 0}, {EMPTY, 0, 7}, {FAILS, 1, 0}, {EMPTY, 1, 7}, {FAILS, 2, 0}};
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_err err = {0};
    set_up(&a);
    happen(&a, &book, DRAIN, 1);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_sched_due due[1];
        uint32_t count = 0;
        lks_ms mono = (i + 1) * 1000 * LKS_SECOND;
        lks_test_case("question %zu", i + 1);
        happen(&a, &book, rows[i].happens, mono - 600 * LKS_SECOND);
        CHECK_CODE(
            lks_sched_book_due(&book, &a.state, lks_test_facts(), mono, 1, due, &count, &err),
            LKS_OK);
        if (!CHECK_INT(count, 1))
            continue;
        CHECK_INT(due[0].turn, rows[i].turn);
        CHECK_INT(due[0].wish.revision, rows[i].revision);
    }
    lks_sched_book_fini(&book);
}

/* The second bridge of a site may not show what was so before the first one's last reading: the
 * moment stays over failures and answers, and never goes back. */
static void test_after(void)
{
    static const struct {
        const char *name;
        enum happens happens;
        lks_ms after, wished;
    } rows[] = {
        {"nothing was read", NOTHING, 0, 0},    {"an answer", EMPTY, 5000, 5000},
        {"the bridge failed", FAILS, 0, 5000},  {"it wrote before it failed", FAILS, 7000, 7000},
        {"an older moment", EMPTY, 6000, 7000},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_err err = {0};
    set_up(&a);
    happen(&a, &book, DRAIN, 1);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_sched_due due[1];
        uint32_t count = 0;
        lks_ms mono = (i + 1) * 1000 * LKS_SECOND;
        lks_test_case("%s", rows[i].name);
        happen(&a, &book, rows[i].happens, mono - 600 * LKS_SECOND);
        lks_sched_book_after(&book, lks_fleet_node(&a, "g1"), LKS_STR("slurm"), rows[i].after);
        CHECK_CODE(
            lks_sched_book_due(&book, &a.state, lks_test_facts(), mono, 1, due, &count, &err),
            LKS_OK);
        if (CHECK_INT(count, 1))
            CHECK_INT(due[0].wish.after, rows[i].wished);
    }
    lks_sched_book_fini(&book);
}

static void begin_change(struct lks_asked *a, struct lks_sched_book *book)
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
        lks_asked_apply(a, &plan[i]);
    happen(a, book, DRAIN, 1);
}

static void note_unheard(struct lks_asked *a, bool on)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_NOTED,
                                            .noted = {.node = LKS_STR("g1"),
                                                      .note = LKS_NOTE_UNHEARD,
                                                      .on = on,
                                                      .text = LKS_STR("why")}});
}

/* A change works on g1: how long its last answer counts. */
static const struct {
    const char *name;
    enum happens happens;
    lks_ms after; /* this long after the row before */
    bool old;
    bool noted; /* before */
} olds[] = {
    {"this controller has no answer yet", NOTHING, 1, true, false},
    {"an answer", EMPTY, 1, false, false},
    {"it is recent", NOTHING, LKS_SCHED_FRESH - 1, false, false},
    {"it is too old", NOTHING, LKS_SCHED_OLD, true, false},
    {"the node waits already", NOTHING, LKS_SCHED_OLD, false, true},
    {"no answer for 5 minutes", FAILS, 300 * LKS_SECOND, true, true},
    {"one that answers again", EMPTY, LKS_SCHED_OLD, false, true},
};

static void test_old(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_sched_due due[1];
    struct lks_err err = {0};
    uint32_t count = 0, at = 0;
    struct lks_now now = {.wall = 1000 * LKS_SECOND, .mono = 1000};
    struct lks_event event;
    set_up(&a);
    CHECK(!lks_sched_book_old(&book, &a.state, now, &at, &event)); /* no change works on it */
    begin_change(&a, &book);
    CHECK_CODE(lks_sched_book_due(&book, &a.state, lks_test_facts(), 1, 1, due, &count, &err),
               LKS_OK);
    now.mono += LKS_SCHED_OLD;
    for (size_t i = 0; i < LKS_COUNT(olds); i++) {
        lks_test_case("%s", olds[i].name);
        now.mono += olds[i].after;
        now.wall += olds[i].after;
        happen(&a, &book, olds[i].happens, now.mono);
        note_unheard(&a, olds[i].noted);
        at = 0;
        if (!CHECK_INT(lks_sched_book_old(&book, &a.state, now, &at, &event), olds[i].old) ||
            !olds[i].old)
            continue;
        CHECK(event.sched.unknown && event.sched.old);
        CHECK(event.sched.since <= now.wall);
        CHECK_STR(event.sched.text,
                  olds[i].happens == FAILS ? "no route to host" : "no answer yet");
        CHECK(!lks_sched_book_old(&book, &a.state, now, &at, &event)); /* once each */
    }
    lks_sched_book_fini(&book);
}

/* Whose answers are relied on: assets of its domain rely on the drain of a node that a change
 * holds, too. */
static void test_relied_on(void)
{
    const struct lks_record fenced = {.kind = LKS_RECORD_MEMBER,
                                      .member = {.change = 1,
                                                 .node = LKS_STR("g1"),
                                                 .state = LKS_MEMBER_FENCED}},
                            returned = {.kind = LKS_RECORD_CONDITION,
                                        .condition = {.node = LKS_STR("g1"),
                                                      .condition = LKS_CONDITION_CHANGING}},
                            emptied = {.kind = LKS_RECORD_NOTED,
                                       .noted = {.node = LKS_STR("g1"),
                                                 .note = LKS_NOTE_EMPTIED,
                                                 .on = true,
                                                 .text = LKS_STR("drained")}};
    const struct {
        const char *name;
        const struct lks_record *record;
        enum happens happens;
        bool old;
    } rows[] = {
        {"a change works on it", NULL, NOTHING, true},
        {"the change holds it", &fenced, NOTHING, true},
        {"it is not drained any more", NULL, UNDRAIN, false},
        {"it returned to service", &returned, DRAIN, false},
        {"on hold, and an earlier controller heard that it is drained", &emptied, UNDRAIN, true},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_now now = {.wall = 1000 * LKS_SECOND, .mono = 1000};
    set_up(&a);
    begin_change(&a, &book);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_event event;
        uint32_t at = 0;
        lks_test_case("%s", rows[i].name);
        now.mono += LKS_SCHED_OLD;
        if (rows[i].record != NULL)
            lks_asked_apply(&a, rows[i].record);
        happen(&a, &book, rows[i].happens, now.mono);
        CHECK_INT(lks_sched_book_old(&book, &a.state, now, &at, &event), rows[i].old);
    }
    lks_sched_book_fini(&book);
}

/* The engine hears of failures when there are some, one after the other. */
static void test_event(void)
{
    static const bool news[] = {false, false, true, true};
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_sched_book book = {0};
    struct lks_sched_due due[1];
    struct lks_err err = {0};
    struct lks_event event = {0};
    uint32_t count = 0;
    set_up(&a);
    uint32_t node = lks_fleet_node(&a, "g1");
    CHECK(!lks_sched_book_event(&book, &a.state, node, 1, &event));
    for (size_t i = 0; i < LKS_COUNT(news); i++) {
        lks_test_case("failure %zu", i + 1);
        CHECK_CODE(lks_sched_book_due(&book, &a.state, lks_test_facts(),
                                      (i + 1) * 1000 * LKS_SECOND, 1, due, &count, &err),
                   LKS_OK);
        happen(&a, &book, FAILS, (i + 1) * 1000 * LKS_SECOND);
        CHECK_INT(lks_sched_book_event(&book, &a.state, node, (i + 1) * 1000 * LKS_SECOND, &event),
                  news[i]);
    }
    CHECK(event.sched.unknown);
    CHECK(!event.sched.drained);
    CHECK_STR(event.sched.text, "no route to host");
    CHECK_INT(lks_sched_book_find(&book, node, LKS_STR("slurm"))->failing_since, 1000 * LKS_SECOND);
    happen(&a, &book, EMPTY, 9000 * LKS_SECOND);
    CHECK(lks_sched_book_event(&book, &a.state, node, 9000 * LKS_SECOND, &event));
    CHECK(event.sched.drained);
    CHECK(!event.sched.unknown);
    CHECK_INT(lks_sched_book_find(&book, node, LKS_STR("slurm"))->failing_since, 0);
    lks_sched_book_fini(&book);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the order of questions", test_order},
        {"every node gets its turn", test_turns},
        {"bridges of a site in turn", test_bridges},
        {"readings of other bridges", test_after},
        {"answers that are too old", test_old},
        {"whose answers are relied on", test_relied_on},
        {"what the engine hears", test_event},
        {"a drain that would be left over", test_owes},
        {NULL, NULL},
    });
}
