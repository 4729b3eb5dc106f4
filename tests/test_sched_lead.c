/* Which bridges are told the epoch of the leader, and when again; and the alarm about one. */
#include "core/actions/sched_lead.h"
#include "tests/asked.h"
#include "tests/test.h"

#define A LKS_STR("unix:/a")
#define B LKS_STR("https://b:1")

/* Before SILENT nothing is told of a bridge that does not answer. */
enum { DONE, SILENT, LATER_EPOCH };
static const struct lks_err outcomes[] = {
    [SILENT] = {.code = LKS_E_UNAVAILABLE, .msg = "no route to host"},
    [LATER_EPOCH] = {.code = LKS_E_REFUSED, .msg = "a controller with epoch 9 wrote"},
};

static bool told(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, int outcome,
                 lks_ms at)
{
    struct lks_now now = {.wall = at, .mono = at};
    return lks_sched_lead_told(l, url, epoch, &outcomes[outcome], now, 1);
}

static void test_all(void)
{
    struct lks_sched_lead l = {0};
    lks_test_case("a store with one controller");
    CHECK(!lks_sched_lead_due(&l, A, 0, 1));
    lks_test_case("each bridge is told once");
    CHECK(lks_sched_lead_due(&l, A, 7, 1));
    CHECK(lks_sched_lead_due(&l, B, 7, 1));
    CHECK(!lks_sched_lead_due(&l, A, 7, 2));
    CHECK(!told(&l, A, 7, DONE, 3)); /* no news: nothing failed */
    CHECK(!lks_sched_lead_due(&l, A, 7, 1000000));
    lks_test_case("one that does not answer is told again");
    CHECK(told(&l, B, 7, SILENT, 3));
    CHECK(!lks_sched_lead_due(&l, B, 7, 3));
    CHECK(lks_sched_lead_due(&l, B, 7, 3 + LKS_SCHED_LEAD_AGAIN));
    lks_test_case("one whose outcome is never heard, too");
    CHECK(!lks_sched_lead_due(&l, B, 7, 4 + LKS_SCHED_LEAD_AGAIN));
    CHECK(lks_sched_lead_due(&l, B, 7, 4 + LKS_SCHED_LEAD_AGAIN + LKS_SCHED_LEAD_ASKED));
    lks_test_case("a failure is news once, and so is its end");
    lks_ms later = 5 + LKS_SCHED_LEAD_AGAIN + LKS_SCHED_LEAD_ASKED;
    CHECK(!told(&l, B, 7, SILENT, later));
    CHECK(told(&l, B, 7, DONE, later));
    CHECK(!told(&l, B, 7, DONE, later));
    lks_test_case("a new epoch is for all of them");
    CHECK(lks_sched_lead_due(&l, A, 8, 4 + LKS_SCHED_LEAD_AGAIN));
    CHECK(!told(&l, A, 8, DONE, 10));
    CHECK(!lks_sched_lead_due(&l, A, 8, 1000000));
    lks_sched_lead_fini(&l);
}

/* The alarm about one bridge: each row goes on from an empty state. */
#define NAME  "oslo=https://b:1"
#define WHEN  ((lks_ms)1000)
#define AFTER (WHEN + LKS_SCHED_LEAD_SILENT)
static const struct row {
    const char *name;
    uint64_t epoch;
    int outcomes[2];  /* at WHEN and a second later; -1: none */
    uint64_t later;   /* the epoch of the second; 0: the same */
    lks_ms at;        /* when it is looked at */
    bool open, gone;  /* an alarm is open; the bridge is not configured any more */
    const char *says; /* the record; NULL: nothing happens */
} rows[] = {
    {"not told yet", 7, {-1, -1}, 0, AFTER, false, false, NULL},
    {"confirmed", 7, {DONE, -1}, 0, AFTER, false, false, NULL},
    {"silent, not for long", 7, {SILENT, SILENT}, 0, AFTER - 1, false, false, NULL},
    {"silent for too long",
     7,
     {SILENT, SILENT},
     0,
     AFTER,
     false,
     false,
     "alarm id=1 alarm=bridge subject=" NAME " text=the bridge does not confirm the epoch of this "
     "leader since 1970-01-01T00:00:01.000Z: no route to host; an earlier leader can still write "
     "through it, until it confirms the epoch; 'lockstep doctor' has what to do\n"},
    {"refused, at once",
     7,
     {LATER_EPOCH, -1},
     0,
     WHEN,
     false,
     false,
     "alarm id=1 alarm=bridge subject=" NAME " text=the bridge refuses the epoch of this leader "
     "since 1970-01-01T00:00:01.000Z: a controller with epoch 9 wrote; no drain, return or verdict "
     "of this leader is written through it, until it confirms the epoch; 'lockstep doctor' has "
     "what to do\n"},
    {"once", 7, {LATER_EPOCH, LATER_EPOCH}, 0, AFTER, true, false, NULL},
    {"confirmed later",
     7,
     {SILENT, DONE},
     0,
     AFTER,
     true,
     false,
     "alarm-released id=1 reason=the bridge has the epoch of this leader\n"},
    {"of a leader before, and not told yet", 7, {-1, -1}, 0, AFTER, true, false, NULL},
    {"failures of an epoch before do not count", 7, {SILENT, SILENT}, 8, AFTER, false, false, NULL},
    {"a store with one controller",
     0,
     {-1, -1},
     0,
     AFTER,
     true,
     false,
     "alarm-released id=1 reason=the bridge has the epoch of this leader\n"},
    {"no longer configured",
     7,
     {SILENT, SILENT},
     0,
     AFTER,
     true,
     true,
     "alarm-released id=1 reason=no epoch is given to it any more\n"},
};

static void check_row(const struct row *row)
{
    struct lks_asked a;
    struct lks_sched_lead l = {0};
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
    const struct lks_sched_lead_named list[] = {{LKS_STR(NAME), B}};
    struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
    struct lks_now now = {.wall = row->at, .mono = row->at};
    uint64_t epoch = row->later > 0 ? row->later : row->epoch;
    lks_test_case("%s", row->name);
    lks_asked_init(&a);
    if (row->open)
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_ALARM,
                                                 .alarm = {.id = 1,
                                                           .kind = LKS_ALARM_BRIDGE,
                                                           .subject = LKS_STR(NAME),
                                                           .text = LKS_STR("x")}});
    for (unsigned i = 0; i < 2; i++) {
        if (row->outcomes[i] >= 0)
            (void)told(&l, B, i == 0 ? row->epoch : epoch, row->outcomes[i], WHEN + i * LKS_SECOND);
    }
    bool news = lks_sched_lead_alarm(&l, &a.state, list, row->gone ? 0 : 1, epoch, now, &arena,
                                     &event.sched_alarm);
    if (CHECK_INT(news, row->says != NULL) && news) {
        CHECK_STR(lks_asked(&a, &event), row->says);
        CHECK(!lks_sched_lead_alarm(&l, &a.state, list, row->gone ? 0 : 1, epoch, now, &arena,
                                    &event.sched_alarm));
    }
    lks_sched_lead_fini(&l);
    lks_asked_fini(&a);
}

static void test_alarms(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        check_row(&rows[i]);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the epoch of a leader", test_all},
        {"bridges that do not have it", test_alarms},
        {NULL, NULL},
    });
}
