/* A change beside a scheduler that does not do what it should: another ends the drain of a node, or
 * takes it over, the scheduler forgets the node, or gives no answer. */
#include "core/actions/actions.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/state/state.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define HOUR      CAMPAIGN_HOUR
#define MINUTE    CAMPAIGN_MINUTE
#define LONG_TIME (720 * HOUR)

static void said(struct campaign *w, struct lks_event_sched sched)
{
    const struct lks_event e = {
        .kind = LKS_EVENT_SCHED, .node = campaign_member(w, "n1")->node, .sched = sched};
    campaign_event(w, &e);
    (void)campaign_tick(w);
}

#define OURS    LKS_STR("change:1")
#define DRAINED ((struct lks_event_sched){.drained = true, .owner = OURS})
#define OPEN    ((struct lks_event_sched){.owner = LKS_STR(""), .text = LKS_STR("open for work")})
#define LOST                                                                                       \
    ((struct lks_event_sched){.lost = true, .owner = LKS_STR(""), .text = LKS_STR("open for work")})
#define TAKEN                                                                                      \
    ((struct lks_event_sched){.drained = true,                                                     \
                              .foreign = true,                                                     \
                              .owner = LKS_STR(""),                                                \
                              .text = LKS_STR("drained by 'root': bad DIMM")})
#define GONE                                                                                       \
    ((struct lks_event_sched){.missing = true,                                                     \
                              .owner = LKS_STR(""),                                                \
                              .text = LKS_STR("the scheduler does not know the node")})
#define BUSY                                                                                       \
    ((struct lks_event_sched){.jobs = 1, .owner = OURS, .text = LKS_STR("1 job runs there")})

/* The text of the open alarm about n1; empty: there is none. */
static struct lks_str alarm_of(const struct campaign *w, enum lks_alarm_kind kind)
{
    const struct lks_state *s = &w->a.state;
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        const struct lks_state_alarm *a = &s->alarms[i];
        if (a->released == 0 && a->kind == kind && lks_str_is(lks_state_text(s, a->subject), "n1"))
            return lks_state_text(s, a->text);
    }
    return LKS_STR("");
}

static void begin(struct campaign *w, const char *pool_says)
{
    campaign_begin(
        w, &(struct campaign_plan){.nodes = 1, .sched = "simulated", .pool_says = pool_says});
}

static void release_holds_nothing(struct campaign *w)
{
    struct lks_event e = {
        .kind = LKS_EVENT_SCHED, .node = lks_state_node(&w->a.state, LKS_STR("n1")), .sched = OPEN};
    campaign_event(w, &e);
    CHECK_STR(alarm_of(w, LKS_ALARM_UNDRAINED), "");
}

/* However its drain was lost: the step in progress ends, then the node is drained and read again
 * before the next one, and the change goes on to its end. */
static void test_again(void)
{
    const struct {
        const char *name;
        struct lks_event_sched said;
        const char *alarm;
    } rows[] = {
        {"an administrator resumes the node", OPEN, "another ended the drain (open for work)"},
        {"another owner takes the drain over", TAKEN, "another owner took the drain over (drained"},
        {"the scheduler forgets the node", GONE, "the scheduler does not know the node any more"},
        {"a job starts there all the same", BUSY, "the node is not empty any more (1 job"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        begin(&w, NULL);
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
        w.sched_mute = true;
        said(&w, rows[i].said);
        CHECK_HAS(alarm_of(&w, LKS_ALARM_UNDRAINED), rows[i].alarm);
        CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_APPLY); /* in progress: it ends first */
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
        CHECK_INT(campaign_count(&w, "executor=reboot", ""), 0);
        size_t idle = campaign_count(&w, "executor=idle", "");
        campaign_pass(&w, 10 * MINUTE);
        (void)campaign_tick(&w);
        CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_LEAVE); /* not before it is drained */
        w.sched_mute = false;
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        CHECK_INT(campaign_count(&w, "executor=idle", ""), idle + 1);
        CHECK_INT(w.a.state.nodes[lks_state_node(&w.a.state, LKS_STR("n1"))].notes, 0);
        release_holds_nothing(&w);
        campaign_end(&w);
    }
}

/* Where the pool wants that, the change holds the node for a person. */
static void test_held(void)
{
    static const struct {
        const char *name, *pool;
        uint32_t step;
        enum lks_member_state state;
    } rows[] = {
        {"in a step", "on_resume: hold", CAMPAIGN_APPLY, LKS_MEMBER_ASKED},
        {"while it is read", "on_resume: hold", CAMPAIGN_LEAVE, LKS_MEMBER_READING},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        begin(&w, rows[i].pool);
        CHECK(campaign_run_until(&w, "n1", rows[i].step, rows[i].state, HOUR));
        said(&w, OPEN);
        (void)campaign_answer(&w);
        (void)campaign_tick(&w);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        CHECK_HAS(alarm_of(&w, LKS_ALARM_CHANGE), "was ended in the scheduler by another");
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_HALTED);
        CHECK_INT(campaign_count(&w, "executor=reboot", ""), 0);
        campaign_end(&w);
    }
}

/* No step of a rollback is repeated: the change holds the node. */
static void test_elsewhere(void)
{
    struct campaign w;
    lks_test_case("in the rollback");
    begin(&w, NULL);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, HOUR));
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    CHECK(campaign_member(&w, "n1")->back);
    said(&w, OPEN);
    CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_APPLY); /* in progress: it ends first */
    (void)campaign_answer(&w);
    (void)campaign_tick(&w);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK_HAS(alarm_of(&w, LKS_ALARM_CHANGE), "in the middle of its rollback");
    campaign_end(&w);
}

static bool is_undrained(const struct campaign *w)
{
    return (w->a.state.nodes[campaign_member(w, "n1")->node].notes >> LKS_NOTE_UNDRAINED & 1) != 0;
}

/* Jobs may run on a node that is held because its drain was ended: the shelf of its domain goes
 * back once it is drained again. */
static void test_shelf_waits(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){
                           .nodes = 2, .domain = 2, .shelf_first = true, .sched = "simulated"});
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, HOUR));
    CHECK_INT(campaign_count(&w, "flash id=", "node=shelf1"), 1);
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    w.sched_mute = true;
    said(&w, OPEN);
    (void)campaign_run(&w, 10 * MINUTE);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK_INT(campaign_count(&w, "flash id=", "node=shelf1"), 1);
    CHECK_HAS(lks_state_text(&w.a.state, campaign_member(&w, "shelf1")->text),
              "the drain of n1 of its domain was ended in the scheduler by another");
    said(&w, DRAINED);
    CHECK(!is_undrained(&w));
    said(&w, LOST); /* once more, while it is held */
    CHECK(is_undrained(&w));
    said(&w, DRAINED);
    (void)campaign_run(&w, 10 * MINUTE);
    CHECK_INT(campaign_count(&w, "flash id=", "node=shelf1"), 2);
    campaign_end(&w);
}

/* A person returns the node that is held: nothing is left of the drain that was lost. */
static void test_returned(void)
{
    struct campaign w;
    begin(&w, "on_resume: hold");
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_READING, HOUR));
    said(&w, OPEN);
    (void)campaign_answer(&w);
    said(&w, LOST);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    CHECK(is_undrained(&w));
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEMBER_MOVE,
                                           .name = LKS_STR("n1"),
                                           .by = LKS_STR("lee"),
                                           .reason = LKS_STR("looked"),
                                           .member = {.change = 1}});
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    CHECK(!is_undrained(&w));
    campaign_end(&w);
}

/* What was done before its drain was lost is undone too, though its way began anew. */
static void test_rolls_back_all(void)
{
    static const struct {
        const char *name;
        uint32_t lost, aborted; /* at which steps */
    } rows[] = {
        {"packages alone, drained again and installed again", CAMPAIGN_REBOOT, CAMPAIGN_APPLY},
        {"firmware, and only packages were installed again", CAMPAIGN_CHECK_BMC, CAMPAIGN_APPLY},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        begin(&w, NULL);
        w.after = campaign_check_promises;
        CHECK(campaign_run_until(&w, "n1", rows[i].lost, LKS_MEMBER_ASKED, HOUR));
        said(&w, OPEN);
        CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
        CHECK_INT(campaign_member(&w, "n1")->reached, rows[i].lost + 1);
        CHECK(campaign_run_until(&w, "n1", rows[i].aborted, LKS_MEMBER_ASKED, HOUR));
        campaign_move(&w, LKS_CHANGE_ABORTING);
        CHECK(campaign_run(&w, 10 * HOUR));
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
        CHECK_INT(campaign_member(&w, "n1")->reached, 0);
        CHECK(!campaign_node(&w, "n1")->installed && !campaign_node(&w, "n1")->flashed);
        campaign_end(&w);
    }
}

struct telling {
    const char *name;
    struct lks_event_sched said;
    enum lks_alarm_kind kind;
    const char *alarm;
    bool ends; /* with the first answer that is right */
};

static void check_told(const struct telling *row)
{
    struct campaign w;
    lks_test_case("%s", row->name);
    begin(&w, NULL);
    w.sched_mute = true;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    said(&w, row->said);
    CHECK_HAS(alarm_of(&w, row->kind), row->alarm);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_ASKED);
    said(&w, DRAINED);
    if (row->ends)
        CHECK_STR(alarm_of(&w, row->kind), "");
    CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_LEAVE);
    campaign_end(&w);
}

/* Before it is drained for the first time nothing was lost: what is in the way is told. */
static void test_told(void)
{
    const struct telling rows[] = {
        {"drained by another owner before", TAKEN, LKS_ALARM_SCHED,
         "change:1 waits for it in simulated: drained by 'root': bad DIMM", true},
        {"the scheduler does not know it", GONE, LKS_ALARM_SCHED, "add the node there", true},
        {"no answer for a long time",
         {.unknown = true, .since = 1, .text = LKS_STR("no route to host")},
         LKS_ALARM_BRIDGE,
         "no route to host",
         true},
        {"its certificate is refused",
         {.unknown = true,
          .refused = true,
          .since = UINT64_MAX / 4,
          .text = LKS_STR("tls: bad ca")},
         LKS_ALARM_BRIDGE,
         "tls: bad ca",
         true},
        {"open, and about to be drained", OPEN, LKS_ALARM_UNDRAINED, "", false},
        {"another ends the drain that waits for jobs",
         {.lost = true, .owner = LKS_STR(""), .text = LKS_STR("open for work")},
         LKS_ALARM_UNDRAINED,
         "another ended the drain",
         false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        check_told(&rows[i]);
}

/* How long no answer is no news, and that one node of a pool is enough to tell of. */
static void test_silence(void)
{
    struct campaign w;
    campaign_begin(&w, &(struct campaign_plan){.nodes = 2, .sched = "simulated"});
    w.sched_mute = true;
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    struct lks_event e = {.kind = LKS_EVENT_SCHED,
                          .sched = {.unknown = true,
                                    .owner = LKS_STR(""),
                                    .text = LKS_STR("no answer"),
                                    .since = w.a.now.wall - LKS_DECIDE_SCHED_SILENT + 1}};
    for (unsigned k = 0; k < 2; k++) {
        e.node = campaign_member(&w, "n1")->node;
        campaign_event(&w, &e);
        e.node = campaign_member(&w, "n2")->node;
        campaign_event(&w, &e);
        CHECK_INT(w.a.state.alarms_open, k);
        e.sched.since--;
    }
    e = (struct lks_event){.kind = LKS_EVENT_SCHED, .node = campaign_member(&w, "n1")->node};
    e.sched = OPEN;
    campaign_event(&w, &e);
    CHECK_INT(w.a.state.alarms_open, 0);
    campaign_end(&w);
}

/* The scheduler's last answer is so old. */
static void be_silent(struct campaign *w, lks_ms age)
{
    w->sched_mute = true;
    said(w, (struct lks_event_sched){.unknown = true,
                                     .old = true,
                                     .since = w->a.now.wall - age,
                                     .owner = LKS_STR(""),
                                     .text = LKS_STR("no answer")});
}

static bool is_noted(const struct campaign *w, enum lks_note note)
{
    return (w->a.state.nodes[lks_state_node(&w->a.state, LKS_STR("n1"))].notes >> note & 1) != 0;
}

/* Whatever its agent answers, nothing more is sent to the node, and no loss is told. */
static void check_waits(struct campaign *w)
{
    (void)campaign_answer(w); /* what was sent before ends */
    size_t sent = campaign_count(w, "command id=", "");
    unsigned flashes = w->flash_count;
    for (unsigned k = 0; k < 8; k++) {
        (void)campaign_tick(w);
        (void)campaign_answer(w);
        campaign_pass(w, MINUTE);
    }
    CHECK_INT(campaign_count(w, "command id=", ""), sent);
    CHECK_INT(w->flash_count, flashes);
    CHECK_STR(alarm_of(w, LKS_ALARM_UNDRAINED), "");
}

/* Verified as drained, and then no answer: nothing is sent to the node before the next one, which
 * decides. After 5 minutes its agent reads the node once more as well. */
static void test_old_answers(void)
{
    static const struct {
        const char *name;
        uint32_t step;
        enum lks_member_state state;
        lks_ms age; /* of the last answer */
        const char *pool;
        bool drained_again; /* and read by its agent once more */
    } rows[] = {
        {"before its agent is asked", CAMPAIGN_LEAVE, LKS_MEMBER_READING, 90 * LKS_SECOND, NULL,
         false},
        {"the same, for 5 minutes", CAMPAIGN_LEAVE, LKS_MEMBER_READING, LKS_DECIDE_SCHED_SILENT,
         NULL, true},
        {"a step is in progress", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, 90 * LKS_SECOND, NULL, false},
        {"the same, for 5 minutes", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, LKS_DECIDE_SCHED_SILENT, NULL,
         true},
        {"in a pool with on_resume: hold", CAMPAIGN_APPLY, LKS_MEMBER_ASKED,
         LKS_DECIDE_SCHED_SILENT, "on_resume: hold", false},
        {"in a reboot", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, 90 * LKS_SECOND, NULL, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s, %s", rows[i].name, rows[i].drained_again ? "drained again" : "waits");
        begin(&w, rows[i].pool);
        CHECK(campaign_run_until(&w, "n1", rows[i].step, rows[i].state, HOUR));
        size_t idle = campaign_count(&w, "executor=idle", "");
        be_silent(&w, rows[i].age);
        CHECK(is_noted(&w, LKS_NOTE_UNHEARD));
        check_waits(&w);
        w.sched_mute = false;
        said(&w, DRAINED);
        CHECK(!is_noted(&w, LKS_NOTE_UNHEARD));
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_DONE);
        if (rows[i].step != CAMPAIGN_LEAVE)
            CHECK_INT(campaign_count(&w, "executor=idle", ""), idle + rows[i].drained_again);
        campaign_end(&w);
    }
}

/* No answer, for so long: the leader reports the silence of each node again and again. */
static void stay_silent(struct campaign *w, lks_ms span)
{
    const lks_ms since = w->a.now.wall;
    while (w->a.now.wall < since + span && !lks_change_over(campaign_change(w))) {
        be_silent(w, w->a.now.wall - since + 90 * LKS_SECOND);
        (void)campaign_answer(w);
        (void)campaign_tick(w);
        campaign_pass(w, 10 * MINUTE);
    }
}

/* A scheduler that never answers again: where a drain that was ended would have the node held, the
 * silence has it held as well, once the step had its time. */
static void test_silent_for_ever(void)
{
    static const struct {
        const char *name, *pool;
        unsigned domain;
        bool back;
        uint32_t step;
        enum lks_member_state state;
        enum lks_change_state ends;
    } rows[] = {
        {"in the rollback", NULL, 0, true, CAMPAIGN_APPLY, LKS_MEMBER_ASKED, LKS_CHANGE_ABORTED},
        {"in the rollback of a domain", NULL, 2, true, CAMPAIGN_APPLY, LKS_MEMBER_ASKED,
         LKS_CHANGE_ABORTED},
        {"accepted in the rollback", NULL, 0, true, CAMPAIGN_ACCEPT, LKS_MEMBER_READING,
         LKS_CHANGE_ABORTED},
        {"in a pool with on_resume: hold", "on_resume: hold", 0, false, CAMPAIGN_APPLY,
         LKS_MEMBER_ASKED, LKS_CHANGE_HALTED},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){.nodes = rows[i].domain > 0 ? 2 : 1,
                                                   .domain = rows[i].domain,
                                                   .shelf_first = rows[i].domain > 0,
                                                   .sched = "simulated",
                                                   .pool_says = rows[i].pool});
        if (rows[i].back) {
            CHECK(campaign_run_until(&w, "n1", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, HOUR));
            campaign_move(&w, LKS_CHANGE_ABORTING);
        }
        CHECK(campaign_run_until(&w, "n1", rows[i].step, rows[i].state, HOUR));
        stay_silent(&w, 10 * MINUTE);
        CHECK(!lks_member_over(campaign_member(&w, "n1")));
        stay_silent(&w, LONG_TIME);
        CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
        CHECK_HAS(alarm_of(&w, LKS_ALARM_CHANGE), "its scheduler gives no answer since");
        CHECK_CHANGE(&w, rows[i].ends);
        campaign_end(&w);
    }
}

/* What the next answer may be: the drain was lost while nothing was heard. */
static void test_lost_unheard(void)
{
    struct campaign w;
    lks_test_case("an administrator resumed the node while nothing was heard");
    begin(&w, NULL);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    be_silent(&w, 90 * LKS_SECOND);
    (void)campaign_answer(&w);
    said(&w, OPEN);
    CHECK_INT(campaign_count(&w, "executor=reboot", ""), 0);
    CHECK_INT(campaign_member(&w, "n1")->step, CAMPAIGN_LEAVE);
    CHECK_HAS(alarm_of(&w, LKS_ALARM_UNDRAINED), "another ended the drain");
    w.sched_mute = false;
    CHECK(campaign_run(&w, HOUR));
    CHECK_CHANGE(&w, LKS_CHANGE_DONE);
    campaign_end(&w);

    lks_test_case("in the rollback");
    begin(&w, NULL);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, HOUR));
    campaign_move(&w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    be_silent(&w, LKS_DECIDE_SCHED_SILENT);
    (void)campaign_answer(&w);
    size_t sent = campaign_count(&w, "command id=", "");
    (void)campaign_tick(&w);
    CHECK_INT(campaign_count(&w, "command id=", ""), sent);
    CHECK(!is_noted(&w, LKS_NOTE_UNDRAINED));
    said(&w, DRAINED);
    w.sched_mute = false;
    CHECK(campaign_run(&w, HOUR));
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_REVERTED);
    campaign_end(&w);
}

/* The node is held in its rollback, and drained: where its domain has a shelf, that is to go back
 * next. */
static void begin_held(struct campaign *w, uint32_t domain)
{
    campaign_begin(w, &(struct campaign_plan){.nodes = domain > 0 ? domain : 1,
                                              .domain = domain,
                                              .shelf_first = domain > 0,
                                              .sched = "simulated"});
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_REBOOT, LKS_MEMBER_ASKED, HOUR));
    campaign_move(w, LKS_CHANGE_ABORTING);
    CHECK(campaign_run_until(w, "n1", CAMPAIGN_APPLY, LKS_MEMBER_ASKED, HOUR));
    w->sched_mute = true;
    said(w, OPEN);
    (void)campaign_run(w, 10 * MINUTE);
    CHECK_MEMBER(w, "n1", LKS_MEMBER_FENCED);
    said(w, DRAINED);
}

/* The shelf of the node's domain waits for its scheduler. */
static void wait_unheard(struct campaign *w)
{
    be_silent(w, 90 * LKS_SECOND);
    CHECK(is_noted(w, LKS_NOTE_UNHEARD));
    (void)campaign_run(w, 10 * MINUTE);
    CHECK_INT(campaign_count(w, "flash id=", "node=shelf1"), 1);
    CHECK_HAS(lks_state_text(&w->a.state, campaign_member(w, "shelf1")->text),
              "the scheduler of n1 of its domain gives no answer");
}

/* A node that the change holds, and then no answer: nothing is done to the shelf of its domain. The
 * next answer decides, also for a controller that heard nothing before, and also without a silence:
 * Slurm may reboot a node under its drain. */
static void test_shelf_unheard(void)
{
    const struct {
        const char *name;
        bool silent;
        struct lks_event_sched said; /* then */
        size_t flashes;
    } rows[] = {
        {"drained still", true, DRAINED, 2},
        {"open, and this controller never heard that it was drained", true, OPEN, 1},
        {"a job runs there", true, BUSY, 1},
        {"a job runs there, without a silence", false, BUSY, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        begin_held(&w, 2);
        if (rows[i].silent)
            wait_unheard(&w);
        said(&w, rows[i].said);
        CHECK(!is_noted(&w, LKS_NOTE_UNHEARD));
        CHECK_INT(is_undrained(&w), rows[i].flashes == 1);
        (void)campaign_run(&w, 10 * MINUTE);
        CHECK_INT(campaign_count(&w, "flash id=", "node=shelf1"), rows[i].flashes);
        campaign_end(&w);
    }
}

/* A person returns it as is: its scheduler's answers matter to nothing any more. */
static void test_returned_unheard(void)
{
    struct campaign w;
    begin_held(&w, 0);
    be_silent(&w, 90 * LKS_SECOND);
    CHECK(is_noted(&w, LKS_NOTE_UNHEARD));
    campaign_event(&w, &(struct lks_event){.kind = LKS_EVENT_MEMBER_MOVE,
                                           .name = LKS_STR("n1"),
                                           .by = LKS_STR("lee"),
                                           .reason = LKS_STR("looked"),
                                           .member = {.change = 1}});
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_SKIPPED);
    CHECK(!is_noted(&w, LKS_NOTE_UNHEARD));
    be_silent(&w, LKS_DECIDE_SCHED_SILENT);
    CHECK(!is_noted(&w, LKS_NOTE_UNHEARD));
    campaign_end(&w);
}

/* A node that the change holds because it did not drain is not known to be empty: a silence about
 * it is no news, and no drain of it is lost. */
static void test_never_drained(void)
{
    struct campaign w;
    begin(&w, NULL);
    w.sched_mute = true;
    CHECK(campaign_run_until(&w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    (void)campaign_run(&w, 100 * HOUR);
    CHECK_MEMBER(&w, "n1", LKS_MEMBER_FENCED);
    be_silent(&w, LKS_DECIDE_SCHED_SILENT);
    CHECK(!is_noted(&w, LKS_NOTE_UNHEARD));
    said(&w, BUSY);
    CHECK(!is_undrained(&w));
    campaign_end(&w);
}

/* Nodes that are down or reserved anyway come first in their wave, and not before its canary. */
static void test_outages_first(void)
{
    static const struct {
        const char *name;
        const char *out[2];   /* nodes with an outage */
        const char *order[4]; /* in which they begin */
    } rows[] = {
        {"none", {NULL}, {"n1", "n2", "n3", "n4"}},
        {"the last", {"n4"}, {"n1", "n4", "n2", "n3"}},
        {"two of them", {"n4", "n3"}, {"n1", "n3", "n4", "n2"}},
        {"the canary", {"n1"}, {"n1", "n2", "n3", "n4"}},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct campaign w;
        lks_test_case("%s", rows[i].name);
        campaign_begin(&w, &(struct campaign_plan){
                               .nodes = 4, .sched = "simulated", .waves = {1, 3}, .width = 1});
        for (size_t k = 0; k < LKS_COUNT(rows[i].out) && rows[i].out[k] != NULL; k++)
            campaign_record(&w, &(struct lks_record){.kind = LKS_RECORD_NOTED,
                                                     .noted = {.node = lks_str_from(rows[i].out[k]),
                                                               .note = LKS_NOTE_OUTAGE,
                                                               .on = true,
                                                               .text = LKS_STR("down")}});
        for (size_t k = 0; k < LKS_COUNT(rows[i].order); k++) {
            CHECK(campaign_run_until(&w, rows[i].order[k], CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
            for (size_t later = k + 1; later < LKS_COUNT(rows[i].order); later++)
                CHECK_MEMBER(&w, rows[i].order[later], LKS_MEMBER_PENDING);
        }
        CHECK(campaign_run(&w, HOUR));
        CHECK_CHANGE(&w, LKS_CHANGE_DONE);
        campaign_end(&w);
    }
}

/* A bridge sends drains with the same text as one request. */
static void test_drained_together(void)
{
    struct campaign w;
    campaign_begin(
        &w, &(struct campaign_plan){.nodes = 3, .sched = "simulated", .waves = {1, 2}, .width = 2});
    CHECK(campaign_run_until(&w, "n2", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    CHECK_MEMBER(&w, "n3", LKS_MEMBER_ASKED);
    const struct lks_node *nodes = w.a.state.nodes;
    uint64_t row = nodes[campaign_member(&w, "n2")->node].drained_row;
    CHECK(row != 0);
    CHECK_INT(nodes[campaign_member(&w, "n3")->node].drained_row, row);
    campaign_end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"drained together", test_drained_together},
        {"drained once more", test_again},
        {"held for a person", test_held},
        {"in the rollback", test_elsewhere},
        {"an asset around a node whose drain was ended", test_shelf_waits},
        {"a person returns a node whose drain was ended", test_returned},
        {"rolled back after it was drained again", test_rolls_back_all},
        {"before it is drained", test_told},
        {"no answer", test_silence},
        {"answers that are too old", test_old_answers},
        {"a scheduler that never answers again", test_silent_for_ever},
        {"the next answer decides", test_lost_unheard},
        {"an asset around a node whose scheduler is silent", test_shelf_unheard},
        {"a person returns a node whose scheduler is silent", test_returned_unheard},
        {"held before it was drained", test_never_drained},
        {"nodes that are down or in maintenance come first", test_outages_first},
        {0},
    });
}
