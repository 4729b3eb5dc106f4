/*
 * What lockstep says of nodes in a scheduler: what that is, and a table of what happens one after
 * the other and which nodes are published then.
 */
#include "core/actions/sched_truth.h"
#include "core/state/state.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum happens {
    NOTHING,
    EMPTY,  /* the scheduler answers about both nodes that nothing is published, */
    SHOWS,  /* that each shows what it should, */
    OLD,    /* or by a bridge that cannot publish */
    DONE,   /* a request was carried out for all its nodes, */
    PARTLY, /* for all but the first, */
    FAILS,  /* or not at all */
    OFF,    /* nothing is to be published any more */
    OPENED, /* the alarm of a controller before this one is open, */
    GONE,   /* or of a site that has no node any more */
};

struct step {
    enum happens happens;
    lks_ms after;       /* this long after the step before */
    uint32_t publishes; /* nodes */
};

#define STEPS_MAX 10

static const struct {
    const char *name;
    struct step steps[STEPS_MAX]; /* ends with one that has neither event nor time */
} stories[] = {
    {"nodes that were not heard of are not published", {{NOTHING, 1, 0}}},
    {"both are, in one request", {{EMPTY, 1, 2}, {DONE, 1, 0}, {NOTHING, 60 * LKS_SECOND, 0}}},
    {"a bridge that cannot", {{OLD, 1, 0}, {NOTHING, 60 * LKS_SECOND, 0}}},
    {"what is shown already is not", {{SHOWS, 1, 0}}},
    {"one request at a time",
     {{EMPTY, 1, 2}, {NOTHING, 60 * LKS_SECOND, 0}, {NOTHING, 600 * LKS_SECOND, 2}}},
    {"a scheduler that forgot is told again, not at once",
     {{EMPTY, 1, 2}, {DONE, 1, 0}, {EMPTY, 1, 0}, {NOTHING, LKS_SCHED_TRUTH_PAUSE, 2}}},
    {"a node that fails is tried later",
     {{EMPTY, 1, 2},
      {PARTLY, 1, 0},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, 0},
      {NOTHING, LKS_SCHED_TRUTH_AGAIN, 1}}},
    {"a request that fails is repeated ever later",
     {{EMPTY, 1, 2},
      {FAILS, 1, 0},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, 2},
      {FAILS, 1, 0},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, 0},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, 2}}},
    {"publishing that is switched off removes what is there",
     {{SHOWS, 1, 0}, {OFF, LKS_SCHED_TRUTH_PAUSE, 2}, {DONE, 1, 0}, {NOTHING, 100000, 0}}},
};

struct world {
    struct lks_asked a;
    struct lks_sched_book b;
    bool publish;
    struct lks_arena arena; /* of the last request */
    struct lks_sched_site_due due;
};

static void set_up(struct world *w)
{
    *w = (struct world){.publish = true};
    lks_asked_init(&w->a);
    lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                                .pool = {.name = LKS_STR("train"),
                                                         .posture = LKS_STR("pre-training"),
                                                         .enforce = LKS_STR("observe"),
                                                         .sched = LKS_STR("slurm")}});
    lks_fleet_place(&w->a, "g1", "train");
    lks_fleet_place(&w->a, "g2", "train");
}

static void end(struct world *w)
{
    lks_sched_book_fini(&w->b);
    lks_arena_fini(&w->arena);
    lks_asked_fini(&w->a);
}

/* Each node is asked about once, so that an answer finds its entry. */
static void ask_all(struct world *w, lks_ms mono)
{
    struct lks_sched_due due[4];
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint32_t count = 0;
    CHECK_CODE(lks_sched_book_due(&w->b, &w->a.state, &facts, mono, 4, due, &count, &err), LKS_OK);
}

static void answer(struct world *w, enum happens what, lks_ms mono)
{
    static const char *const names[] = {"g1", "g2"};
    struct lks_now now = {.wall = mono, .mono = mono};
    ask_all(w, mono);
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        struct lks_sched_said said = {.known = true, .truthful = what != OLD, .digestible = true};
        uint32_t node = lks_fleet_node(&w->a, names[i]);
        if (what == SHOWS)
            lks_sched_truth_of(&w->a.state, node, true, said.slotted, &said.truth);
        lks_sched_book_heard(&w->b, node, LKS_STR("slurm"), &said, now, 1);
    }
}

static void tell(struct world *w, enum happens what, lks_ms mono)
{
    struct lks_now now = {.wall = mono, .mono = mono};
    struct lks_err why = {0};
    if (what == FAILS)
        (void)!lks_fail(&why, LKS_E_UNAVAILABLE, "no route to host");
    if (what == PARTLY)
        snprintf(w->due.wish.told[0].why, sizeof(w->due.wish.told[0].why), "not here");
    lks_sched_truth_told(&w->b, &w->a.state, w->due.site, w->due.sched, &w->due.wish, &why, now, 1);
}

static uint32_t publish(struct world *w, lks_ms mono)
{
    struct lks_sched_site_due due;
    struct lks_err err = {0};
    uint32_t count = 0;
    struct lks_arena arena = {.max = 1 << 22};
    CHECK_CODE(lks_sched_sites_due(&w->b.sites, &w->a.state, mono, 1, &arena, &due, &count, &err),
               LKS_OK);
    CHECK_INT(count, 0); /* no list of jobs is wanted */
    CHECK_CODE(lks_sched_truth_due(&w->b, &w->a.state, lks_str_from(w->publish ? "" : "slurm"),
                                   mono, 1, &arena, &due, &count, &err),
               LKS_OK);
    if (count == 0) {
        lks_arena_fini(&arena);
        return 0;
    }
    lks_arena_fini(&w->arena);
    w->arena = arena;
    w->due = due;
    CHECK(due.wish.verb == LKS_SCHED_SITE_PUBLISH);
    return due.wish.told_count;
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        struct world w;
        lks_ms mono = LKS_SCHED_SITES_SCAN;
        set_up(&w);
        CHECK_INT(publish(&w, 0), 0);
        for (size_t j = 0; j < STEPS_MAX; j++) {
            const struct step *step = &stories[i].steps[j];
            if (step->happens == NOTHING && step->after == 0)
                break;
            lks_test_case("%s, step %zu", stories[i].name, j);
            mono += step->after;
            w.publish = w.publish && step->happens != OFF;
            if (step->happens == EMPTY || step->happens == SHOWS || step->happens == OLD) {
                answer(&w, step->happens, mono);
                mono += j == 0 ? LKS_SCHED_TRUTH_PAUSE : 0;
            } else if (step->happens != NOTHING && step->happens != OFF) {
                tell(&w, step->happens, mono);
            }
            CHECK_INT(publish(&w, mono), step->publishes);
        }
        end(&w);
    }
}

/* What is said of a node without a stack, and what an answer shows. */
static void test_shown(void)
{
    static const struct {
        const char *name, *features, *digest;
        bool digestible, shown;
    } rows[] = {
        {"the same", "lks-0123456789ab,lks-drift", "sha256:0", true, true},
        {"another digest", "lks-0123456789ab,lks-drift", "sha256:1", true, false},
        {"no place for it", "lks-0123456789ab,lks-drift", "", false, true},
        {"another verdict", "lks-0123456789ab,lks-conform", "sha256:0", true, false},
        {"nothing", "", "", true, false},
    };
    const struct lks_sched_truth want = {.features = "lks-0123456789ab,lks-drift",
                                         .digest = "sha256:0"};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_sched_said said = {.digestible = rows[i].digestible};
        lks_test_case("%s", rows[i].name);
        snprintf(said.truth.features, sizeof(said.truth.features), "%s", rows[i].features);
        snprintf(said.truth.digest, sizeof(said.truth.digest), "%s", rows[i].digest);
        CHECK_INT(lks_sched_truth_shown(&said, &want), rows[i].shown);
    }
    struct world w;
    struct lks_sched_truth truth;
    lks_test_case("a node without a stack");
    set_up(&w);
    lks_sched_truth_of(&w.a.state, lks_fleet_node(&w.a, "g1"), true, true, &truth);
    CHECK_STR(lks_str_from(truth.features), "lks-unknown");
    CHECK_STR(lks_str_from(truth.digest), "");
    lks_sched_truth_of(&w.a.state, lks_fleet_node(&w.a, "g1"), false, true, &truth);
    CHECK_STR(lks_str_from(truth.features), "");
    end(&w);
}

/* When the scheduler read its configuration, all nodes of the site are asked about again. */
static void test_configured(void)
{
    struct world w;
    struct lks_sched_due due[4];
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint32_t count = 0, g1;
    set_up(&w);
    g1 = lks_fleet_node(&w.a, "g1");
    CHECK_INT(publish(&w, 0), 0);
    answer(&w, SHOWS, 1);
    lks_sched_truth_configured(&w.b, &w.a.state, g1, LKS_STR("slurm"), 100);
    lks_sched_truth_configured(&w.b, &w.a.state, g1, LKS_STR("slurm"), 100);
    CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 2, 4, due, &count, &err), LKS_OK);
    CHECK_INT(count, 0);
    lks_sched_truth_configured(&w.b, &w.a.state, g1, LKS_STR("slurm"), 101);
    CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 3, 4, due, &count, &err), LKS_OK);
    CHECK_INT(count, 1);
    CHECK(due[0].node == lks_fleet_node(&w.a, "g2") && due[0].wish.verb == LKS_SCHED_LOOK);
    lks_sched_book_failed(&w.b, due[0].node, lks_str_from(due[0].sched),
                          &(struct lks_err){.code = LKS_E_UNAVAILABLE, .msg = "no route"},
                          (struct lks_now){.wall = 4, .mono = 4}, 1);
    CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 5, 4, due, &count, &err), LKS_OK);
    CHECK_INT(count, 0);
    end(&w);
}

static uint32_t asked(struct world *w, lks_ms mono)
{
    struct lks_sched_due due[4];
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint32_t count = 0;
    (void)publish(w, mono);
    CHECK_CODE(lks_sched_book_due(&w->b, &w->a.state, &facts, mono, 4, due, &count, &err), LKS_OK);
    return count;
}

/* A node in service is read at once when it was published, and a minute later once more. */
static void test_kept(void)
{
    struct world w;
    lks_ms mono = LKS_SCHED_SITES_SCAN;
    set_up(&w);
    CHECK_INT(publish(&w, 0), 0);
    answer(&w, EMPTY, mono);
    mono += LKS_SCHED_TRUTH_PAUSE;
    CHECK_INT(publish(&w, mono), 2);
    tell(&w, DONE, mono);
    lks_ms told = mono;
    CHECK_INT(asked(&w, mono), 2);
    answer(&w, SHOWS, mono + 1);
    for (mono += LKS_SCHED_TRUTH_PAUSE; mono < told + LKS_SCHED_TRUTH_KEPT;
         mono += LKS_SCHED_TRUTH_PAUSE)
        CHECK_INT(asked(&w, mono), 0);
    CHECK_INT(asked(&w, mono), 2);
    answer(&w, SHOWS, mono + 1);
    for (unsigned k = 0; k < 20; k++) {
        mono += LKS_SCHED_TRUTH_PAUSE;
        CHECK_INT(asked(&w, mono), 0);
    }
    end(&w);
}

/* Nodes that stay behind: after each step the site is compared, and the alarm begins or ends. */
#define LATE LKS_SCHED_TRUTH_LATE
#define RAISES                                                                                     \
    "alarm id=1 alarm=verdicts subject=slurm at oslo text=slurm shows another verdict or stack "   \
    "than lockstep's for "
#define ENDS "alarm-released id=1 reason=the site shows what lockstep says of every node\n"
static const struct {
    const char *name;
    struct {
        enum happens happens;
        lks_ms after;
        const char *records; /* the beginning; NULL: there is no event */
        const char *says;    /* in it; NULL: anything */
    } steps[STEPS_MAX];
} delays[] = {
    {"nodes that are shown in time", {{EMPTY, 1, NULL, NULL}, {SHOWS, LATE, NULL, NULL}}},
    {"requests that fail for ten minutes, and then are carried out",
     {{EMPTY, 1, NULL, NULL},
      {FAILS, LATE - 1, NULL, NULL},
      {NOTHING, 1, RAISES "2 nodes, g1 since ", ": no route to host; jobs that choose nodes by it"},
      {NOTHING, LATE, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_KEPT, ENDS, NULL}}},
    {"one node that fails",
     {{EMPTY, 1, NULL, NULL},
      {PARTLY, 1, NULL, NULL},
      {NOTHING, LATE, RAISES "1 node, g1 since ", "node 'g1': not here"},
      {DONE, 1, NULL, NULL},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_KEPT, ENDS, NULL}}},
    {"nodes that do not keep what is set",
     {{EMPTY, 1, NULL, NULL},
      {EMPTY, LATE, RAISES "2 nodes", "and the nodes do not keep what they set"}}},
    {"nodes that do not keep it, and every request is carried out",
     {{EMPTY, 1, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {EMPTY, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {EMPTY, LATE, RAISES "2 nodes", "and the nodes do not keep what they set"},
      {DONE, 1, NULL, NULL},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, NULL, NULL}}},
    {"nodes that are set again and again, and keep it for minutes",
     {{EMPTY, 1, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_KEPT, NULL, NULL},
      {EMPTY, LATE, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_KEPT, NULL, NULL},
      {EMPTY, LATE, NULL, NULL}}},
    {"nodes that show it after each request, and do not keep it for a minute",
     {{EMPTY, 1, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {EMPTY, LKS_SCHED_TRUTH_KEPT, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {EMPTY, LATE, RAISES "2 nodes", "and the nodes do not keep what they set"},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_KEPT, ENDS, NULL}}},
    {"nodes that do not keep it, and then another verdict is to be shown",
     {{EMPTY, 1, NULL, NULL},
      {DONE, 1, NULL, NULL},
      {SHOWS, LKS_SCHED_TRUTH_PAUSE, NULL, NULL},
      {OFF, LATE, NULL, NULL},
      {NOTHING, LATE - 1, NULL, NULL},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, RAISES "2 nodes", NULL}}},
    {"the alarm of before a start stays until all nodes answered",
     {{OPENED, 1, NULL, NULL},
      {NOTHING, LATE, NULL, NULL},
      {SHOWS, 1, NULL, NULL},
      {NOTHING, LKS_SCHED_TRUTH_PAUSE, ENDS, NULL}}},
    {"and ends where no node is there any more",
     {{GONE, 1, "alarm-released id=1 reason=lockstep has no node there\n", NULL}}},
};

static void open_alarm(struct world *w, const char *subject)
{
    lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_ALARM,
                                                .alarm = {.id = 1,
                                                          .kind = LKS_ALARM_VERDICTS,
                                                          .subject = lks_str_from(subject),
                                                          .text = LKS_STR("x")}});
}

static void check_alarm(struct world *w, lks_ms mono, const char *records, const char *says)
{
    struct lks_now now = {.wall = w->a.now.wall + mono, .mono = mono};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
    struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
    bool news = lks_sched_truth_alarm(&w->b.sites, &w->a.state, now, 1, &arena, &event.sched_alarm);
    if (!CHECK_INT(news, records != NULL) || !news)
        return;
    struct lks_str did = lks_asked(&w->a, &event);
    if (!CHECK(lks_str_starts(did, records)))
        printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(did));
    if (says != NULL)
        CHECK_HAS(did, says);
    CHECK(!lks_sched_truth_alarm(&w->b.sites, &w->a.state, now, 1, &arena, &event.sched_alarm));
}

static void test_late(void)
{
    for (size_t i = 0; i < LKS_COUNT(delays); i++) {
        struct world w;
        lks_ms mono = LKS_SCHED_SITES_SCAN;
        set_up(&w);
        lks_fleet_place_at(&w.a, "g[1-2]", "train", "oslo");
        CHECK_INT(publish(&w, 0), 0);
        for (size_t j = 0; j < STEPS_MAX && delays[i].steps[j].after > 0; j++) {
            enum happens happens = delays[i].steps[j].happens;
            lks_test_case("%s, step %zu", delays[i].name, j);
            mono += delays[i].steps[j].after;
            if (happens == OPENED || happens == GONE)
                open_alarm(&w, happens == GONE ? "slurm at bergen" : "slurm at oslo");
            else if (happens == EMPTY || happens == SHOWS)
                answer(&w, happens, mono);
            else if (happens != NOTHING && happens != OFF)
                tell(&w, happens, mono);
            w.publish = w.publish && happens != OFF;
            mono += j == 0 ? LKS_SCHED_TRUTH_PAUSE : 0;
            (void)publish(&w, mono);
            check_alarm(&w, mono, delays[i].steps[j].records, delays[i].steps[j].says);
        }
        end(&w);
    }
    CHECK_STR(lks_sched_truth_alarm_site(LKS_STR("slurm at oslo")), "oslo");
    CHECK_STR(lks_sched_truth_alarm_site(LKS_STR("gpu001")), "");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"which nodes are published when", test_stories},
        {"what an answer shows", test_shown},
        {"a configuration that was read again", test_configured},
        {"a reading a minute later", test_kept},
        {"nodes that stay behind", test_late},
        {NULL, NULL},
    });
}
