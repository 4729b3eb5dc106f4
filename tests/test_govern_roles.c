/* Who may do what to a change: every class, every role, every act, by the permission that the
 * route asks for and by what is decided then. The tables below are the answer; a change of any
 * cell shows. */
#include "core/rows/change.h"
#include "core/rules/decide.h"
#include "core/state/access.h"
#include "model/facts/facts.h"
#include "server/api/routes.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define T   LKS_STR_C
#define DAY ((lks_ms)86400000)
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }

/* Pool "train" has n1 to n3, "dev" has n5. kim proposed it; bob breaks the glass where somebody
 * did; lee and joe gave their yes where it is approved. The columns of the tables: */
static const struct {
    const char *name, *identity;
    struct {
        enum lks_role role;
        const char *pool, *site;
    } holds[2];
    int count;
} people[] = {
    {"kim, who proposed it",
     "user:kim",
     {{LKS_ROLE_OPERATOR, "", ""}, {LKS_ROLE_APPROVER, "", ""}},
     2},
    {"bob, who is both", "user:bob", {{LKS_ROLE_OPERATOR, "", ""}, {LKS_ROLE_APPROVER, "", ""}}, 2},
    {"operator", "user:ops", {{LKS_ROLE_OPERATOR, "", ""}}, 1},
    {"operator of train", "user:otr", {{LKS_ROLE_OPERATOR, "train", ""}}, 1},
    {"operator of dev", "user:ode", {{LKS_ROLE_OPERATOR, "dev", ""}}, 1},
    {"approver", "user:ann", {{LKS_ROLE_APPROVER, "", ""}}, 1},
    {"approver of train", "user:tia", {{LKS_ROLE_APPROVER, "train", ""}}, 1},
    {"approver of dev", "user:dee", {{LKS_ROLE_APPROVER, "dev", ""}}, 1},
    {"approver of another site", "user:far", {{LKS_ROLE_APPROVER, "", "moon"}}, 1},
    {"viewer", "user:vic", {{LKS_ROLE_VIEWER, "", ""}}, 1},
    {"admin", "user:adm", {{LKS_ROLE_ADMIN, "", ""}}, 1},
    {"a node of it", "node:n1", {{LKS_ROLE_VIEWER, "", ""}}, 0},
    {"a stranger", "user:zoe", {{LKS_ROLE_VIEWER, "", ""}}, 0},
    {"lee, who approves", "user:lee", {{LKS_ROLE_APPROVER, "", ""}}, 1},
    {"joe, who approves", "user:joe", {{LKS_ROLE_APPROVER, "", ""}}, 1},
    {"max, who approves", "user:max", {{LKS_ROLE_APPROVER, "", ""}}, 1},
};
enum { COLUMNS = 14 }; /* the others only stand behind it */

/* What was done to it before. */
enum before { PROPOSED, VOTED, APPROVED, RUNNING, PAUSED, HALTED, GLASS, FROZEN };

/* The rows: an act, its route, and where the change stands then. */
static const struct {
    const char *name, *route;
    enum before before;
    struct lks_event event;
} acts[] = {
#define MOVE(ordered, breaks)                                                                      \
    {                                                                                              \
        .kind = LKS_EVENT_CHANGE_MOVE, .move = {                                                   \
            .change = 1,                                                                           \
            .order = LKS_ORDERED_##ordered,                                                        \
            .glass = (breaks),                                                                     \
            .standby = T("kit")                                                                    \
        }                                                                                          \
    }
    {"approve", "approveChange", PROPOSED, {.kind = LKS_EVENT_VOTE, .vote = {1, true, false}}},
    {"approve last", "approveChange", VOTED, {.kind = LKS_EVENT_VOTE, .vote = {1, true, false}}},
    {"reject", "rejectChange", PROPOSED, {.kind = LKS_EVENT_VOTE, .vote = {1, false, false}}},
    {"reject approved",
     "rejectChange",
     APPROVED,
     {.kind = LKS_EVENT_VOTE, .vote = {1, false, false}}},
    {"withdraw", "withdrawApproval", APPROVED, {.kind = LKS_EVENT_VOTE, .vote = {1, false, true}}},
    {"start", "startChange", APPROVED, MOVE(START, false)},
    {"start proposed", "startChange", PROPOSED, MOVE(START, false)},
    {"break glass", "startChange", PROPOSED, MOVE(START, true)},
    {"approve later", "approveChange", GLASS, {.kind = LKS_EVENT_VOTE, .vote = {1, true, false}}},
    {"review", "reviewChange", GLASS, {.kind = LKS_EVENT_REVIEW, .review = 1}},
    {"review none", "reviewChange", RUNNING, {.kind = LKS_EVENT_REVIEW, .review = 1}},
    {"waive",
     "waiveGate",
     RUNNING,
     {.kind = LKS_EVENT_WAIVE, .waive = {.change = 1, .gate = T("soak")}}},
    {"waive glass",
     "waiveGate",
     GLASS,
     {.kind = LKS_EVENT_WAIVE, .waive = {.change = 1, .gate = T("soak")}}},
    {"pause", "pauseChange", RUNNING, MOVE(PAUSE, false)},
    {"resume", "resumeChange", PAUSED, MOVE(RESUME, false)},
    {"resume halted", "resumeChange", HALTED, MOVE(RESUME, false)},
    {"abort proposed", "abortChange", PROPOSED, MOVE(ABORT, false)},
    {"abort", "abortChange", RUNNING, MOVE(ABORT, false)},
    {"rollback", "rollBackChange", RUNNING, MOVE(ROLLBACK, false)},
    {"freeze", "freeze", RUNNING, {.kind = LKS_EVENT_FREEZE, .freeze = {.on = true}}},
    {"freeze train",
     "freeze",
     RUNNING,
     {.kind = LKS_EVENT_FREEZE, .freeze = {.pool = T("train"), .on = true}}},
    {"freeze again", "freeze", FROZEN, {.kind = LKS_EVENT_FREEZE, .freeze = {.on = true}}},
    {"freeze nowhere",
     "freeze",
     RUNNING,
     {.kind = LKS_EVENT_FREEZE, .freeze = {.pool = T("tain"), .on = true}}},
    {"unfreeze", "unfreeze", FROZEN, {.kind = LKS_EVENT_FREEZE}},
    {"unfreeze train",
     "unfreeze",
     FROZEN,
     {.kind = LKS_EVENT_FREEZE, .freeze = {.pool = T("train")}}},
    {"unfreeze thawed", "unfreeze", RUNNING, {.kind = LKS_EVENT_FREEZE}},
#undef MOVE
};

/* A person's bindings, and the change as a plan of that class records it. */
static void found(struct lks_asked *a, const struct lks_change_class *k, bool both)
{
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_pool(a, "dev", "gold", "s1");
    lks_fleet_place(a, "n[1-3]", "train");
    lks_fleet_place(a, "n5", "dev");
    lks_asked_live(a, "n1");
    for (size_t i = 0; i < LKS_COUNT(people); i++) {
        for (int h = 0; h < people[i].count; h++) {
            const struct lks_record r =
                R(GRANTED, granted, .identity = lks_str_from(people[i].identity),
                  .role = people[i].holds[h].role, .pool = lks_str_from(people[i].holds[h].pool),
                  .site = lks_str_from(people[i].holds[h].site));
            lks_asked_apply(a, &r);
        }
    }
    const struct lks_record plan[] = {
        R(CHANGE, change, .id = 1, .hosts = T("n[1-3]"), .stack = T("s2"), .name = T("gold"),
          .by = T("user:kim"), .reason = T("new"), .class = k->name, .quorum = (uint64_t)k->quorum,
          .expires = a->now.wall + (uint64_t)k->proposal_days * DAY,
          .approval_age = (uint64_t)k->approval_days * DAY,
          .review_age = (uint64_t)k->review_hours * 3600 * LKS_SECOND, .standby = k->standby),
        R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_LEAVE),
        R(PLAN_WAVE, plan_wave, .change = 1, .kind = LKS_WAVE_CANARY, .width = 1),
        R(PLAN_WAVE, plan_wave, .change = 1, .index = 1, .kind = LKS_WAVE_RING, .width = 1),
        R(PLAN_PART, plan_part, .change = 1, .hosts = T("n1")),
        R(PLAN_PART, plan_part, .change = 1, .wave = 1,
          .hosts = lks_str_from(both ? "n[2-3],n5" : "n[2-3]")),
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(a, &plan[i]);
}

static void move_to(struct lks_asked *a, enum lks_change_state state)
{
    const struct lks_record r = R(CHANGE_MOVED, change_moved, .change = 1, .state = state);
    lks_asked_apply(a, &r);
}

/* As many yeses as it needs, less `less`. */
static void vote(struct lks_asked *a, int quorum, int less)
{
    static const char *const names[] = {"user:lee", "user:joe", "user:max"};
    for (int i = 0; i < quorum - less; i++) {
        const struct lks_record r =
            R(CHANGE_VOTED, change_voted, .change = 1, .yes = true, .by = lks_str_from(names[i]));
        lks_asked_apply(a, &r);
    }
}

static void prepare(struct lks_asked *a, const struct lks_change_class *k, enum before before)
{
    const struct lks_record glass =
        R(GLASS_BROKEN, glass_broken, .change = 1, .until = a->now.wall + DAY, .by = T("user:bob"));
    const struct lks_record frozen = R(FROZEN, frozen, .on = true, .by = T("user:ops"));
    const struct lks_record train =
        R(FROZEN, frozen, .pool = T("train"), .on = true, .by = T("user:ops"));
    bool begun = before >= RUNNING && before != GLASS;
    if (before != PROPOSED && before != GLASS)
        vote(a, (int)k->quorum, before == VOTED ? 1 : 0);
    if (k->quorum == 0 || before == APPROVED || begun)
        move_to(a, LKS_CHANGE_APPROVED);
    if (before == GLASS)
        lks_asked_apply(a, &glass);
    if (begun || before == GLASS)
        move_to(a, LKS_CHANGE_RUNNING);
    if (before == PAUSED || before == HALTED)
        move_to(a, before == PAUSED ? LKS_CHANGE_PAUSED : LKS_CHANGE_HALTED);
    if (before == FROZEN) {
        lks_asked_apply(a, &frozen);
        lks_asked_apply(a, &train);
    }
}

/* What the route asks for ------------------------------------------------------------------- */

static const struct lks_route *route_of(const char *id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (strcmp(lks_routes[i].id, id) == 0)
            return &lks_routes[i];
    }
    return NULL;
}

/* At all nodes of the change, or at some. */
static bool sees(const struct lks_asked *a, struct lks_str who, enum lks_permission permission,
                 bool all)
{
    const struct lks_state_change *c = &a->state.changes[0];
    struct lks_sight sight = lks_access_sight(&a->state, who, permission);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->member_count; i++)
        count += lks_access_sees(&a->state, &sight, c->members[i].node);
    return all ? count == c->member_count : count > 0;
}

static bool is_permitted(const struct lks_asked *a, const struct lks_route *r, struct lks_str who,
                         struct lks_str pool)
{
    if (r->scope == LKS_SCOPE_CHANGE || r->scope == LKS_SCOPE_CHANGE_PART)
        return sees(a, who, r->permission, r->scope == LKS_SCOPE_CHANGE);
    LKS_ASSERT(r->scope == LKS_SCOPE_POOL);
    return lks_access_may(&a->state, who, r->permission, (struct lks_scope){.pool = pool});
}

/* What came of it, as one letter ------------------------------------------------------------ */

/*  .  may not          o  it is their own, and somebody else has to
 *  x  refused by how it stands         +  done          =  done already
 *  and where the change is another by it: */
static const char states[LKS_CHANGE_STATE_COUNT] = {
    [LKS_CHANGE_PROPOSED] = 'P',     [LKS_CHANGE_APPROVED] = 'A',    [LKS_CHANGE_RUNNING] = 'R',
    [LKS_CHANGE_PAUSED] = 'W',       [LKS_CHANGE_HALTED] = 'H',      [LKS_CHANGE_ABORTING] = 'B',
    [LKS_CHANGE_ROLLING_BACK] = 'K', [LKS_CHANGE_DONE] = 'D',        [LKS_CHANGE_REJECTED] = 'J',
    [LKS_CHANGE_ABORTED] = 'E',      [LKS_CHANGE_ROLLED_BACK] = 'U',
};

static char cell(const struct lks_change_class *k, bool both, size_t act, size_t person)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event e = acts[act].event;
    found(&a, k, both);
    prepare(&a, k, acts[act].before);
    e.by = lks_str_from(people[person].identity);
    e.reason = LKS_STR("so it is");
    if (e.kind == LKS_EVENT_WAIVE)
        e.waive.until = a.now.wall + DAY;
    struct lks_str pool = e.kind == LKS_EVENT_FREEZE ? e.freeze.pool : LKS_STR("");
    if (!is_permitted(&a, route_of(acts[act].route), e.by, pool))
        return '.';
    enum lks_change_state before = a.state.changes[0].state;
    struct lks_str told = lks_asked(&a, &e);
    if (a.decision.refused.code == LKS_E_DENIED)
        return '.';
    if (a.decision.refused.code != LKS_OK)
        return lks_str_find(told, LKS_STR("another person has to")) >= 0 ? 'o' : 'x';
    if (a.state.changes[0].state != before)
        return states[a.state.changes[0].state];
    return a.decision.count > 0 ? '+' : '=';
}

/* The tables -------------------------------------------------------------------------------- */

/* Columns: kim (proposed it), bob (both roles), operator, operator of train, operator of dev,
 * approver, approver of train, approver of dev, approver of another site, viewer, admin, node,
 * stranger, lee (who gave a yes where somebody did). */
static const struct {
    const char *class;
    bool both;        /* of nodes of both pools; else of train alone */
    const char *rows; /* one line an act */
} tables[] = {
    /* clang-format off */
    {"standard", false,
     "approve         ox...xx......x\n"
     "approve last    ox...xx......x\n"
     "reject          oJ...JJ......J\n"
     "reject approved oJ...JJ......J\n"
     "withdraw        xx...xx......x\n"
     "start           RRRR......R...\n"
     "start proposed  RRRR......R...\n"
     "break glass     xxxx......x...\n"
     "approve later   ox...xx......x\n"
     "review          oo...++......+\n"
     "review none     xx...xx......x\n"
     "waive           o+...++......+\n"
     "waive glass     oo...++......+\n"
     "pause           WWWW......W...\n"
     "resume          RRRR......R...\n"
     "resume halted   RRRR......R...\n"
     "abort proposed  EEEE......E...\n"
     "abort           BBBB......B...\n"
     "rollback        KKKK......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"standard", true,
     "approve         ox...xxx.....x\n"
     "approve last    ox...xxx.....x\n"
     "reject          oJ...JJJ.....J\n"
     "reject approved oJ...JJJ.....J\n"
     "withdraw        xx...xxx.....x\n"
     "start           RRR.......R...\n"
     "start proposed  RRR.......R...\n"
     "break glass     xxx.......x...\n"
     "approve later   ox...xxx.....x\n"
     "review          oo...+++.....+\n"
     "review none     xx...xxx.....x\n"
     "waive           o+...+++.....+\n"
     "waive glass     oo...+++.....+\n"
     "pause           WWW.......W...\n"
     "resume          RRR.......R...\n"
     "resume halted   RRR.......R...\n"
     "abort proposed  EEE.......E...\n"
     "abort           BBB.......B...\n"
     "rollback        KKK.......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"routine", false,
     "approve         o+...++......+\n"
     "approve last    oA...AA......=\n"
     "reject          oJ...JJ......J\n"
     "reject approved oJ...JJ......J\n"
     "withdraw        xx...xx......P\n"
     "start           RRRR......R...\n"
     "start proposed  xxxx......x...\n"
     "break glass     RRRR......R...\n"
     "approve later   o+...++......+\n"
     "review          oo...++......+\n"
     "review none     xx...xx......x\n"
     "waive           o+...++......+\n"
     "waive glass     oo...++......+\n"
     "pause           WWWW......W...\n"
     "resume          RRRR......R...\n"
     "resume halted   RRRR......R...\n"
     "abort proposed  EEEE......E...\n"
     "abort           BBBB......B...\n"
     "rollback        KKKK......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"routine", true,
     "approve         o+...+++.....+\n"
     "approve last    oA...A++.....=\n"
     "reject          oJ...JJJ.....J\n"
     "reject approved oJ...JJJ.....J\n"
     "withdraw        xx...xxx.....P\n"
     "start           RRR.......R...\n"
     "start proposed  xxx.......x...\n"
     "break glass     RRR.......R...\n"
     "approve later   o+...+++.....+\n"
     "review          oo...+++.....+\n"
     "review none     xx...xxx.....x\n"
     "waive           o+...+++.....+\n"
     "waive glass     oo...+++.....+\n"
     "pause           WWW.......W...\n"
     "resume          RRR.......R...\n"
     "resume halted   RRR.......R...\n"
     "abort proposed  EEE.......E...\n"
     "abort           BBB.......B...\n"
     "rollback        KKK.......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"emergency", false,
     "approve         oA...AA......A\n"
     "approve last    oA...AA......A\n"
     "reject          oJ...JJ......J\n"
     "reject approved oJ...JJ......J\n"
     "withdraw        xx...xx......P\n"
     "start           RRRR......R...\n"
     "start proposed  xxxx......x...\n"
     "break glass     RRRR......R...\n"
     "approve later   o+...++......+\n"
     "review          oo...++......+\n"
     "review none     xx...xx......x\n"
     "waive           o+...++......+\n"
     "waive glass     oo...++......+\n"
     "pause           WWWW......W...\n"
     "resume          RRRR......R...\n"
     "resume halted   RRRR......R...\n"
     "abort proposed  EEEE......E...\n"
     "abort           BBBB......B...\n"
     "rollback        KKKK......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"emergency", true,
     "approve         oA...A++.....A\n"
     "approve last    oA...A++.....A\n"
     "reject          oJ...JJJ.....J\n"
     "reject approved oJ...JJJ.....J\n"
     "withdraw        xx...xxx.....P\n"
     "start           RRR.......R...\n"
     "start proposed  xxx.......x...\n"
     "break glass     RRR.......R...\n"
     "approve later   o+...+++.....+\n"
     "review          oo...+++.....+\n"
     "review none     xx...xxx.....x\n"
     "waive           o+...+++.....+\n"
     "waive glass     oo...+++.....+\n"
     "pause           WWW.......W...\n"
     "resume          RRR.......R...\n"
     "resume halted   RRR.......R...\n"
     "abort proposed  EEE.......E...\n"
     "abort           BBB.......B...\n"
     "rollback        KKK.......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"power-fabric", false,
     "approve         o+...++......+\n"
     "approve last    oA...AA......=\n"
     "reject          oJ...JJ......J\n"
     "reject approved oJ...JJ......J\n"
     "withdraw        xx...xx......P\n"
     "start           RRRR......R...\n"
     "start proposed  xxxx......x...\n"
     "break glass     RRRR......R...\n"
     "approve later   o+...++......+\n"
     "review          oo...++......+\n"
     "review none     xx...xx......x\n"
     "waive           o+...++......+\n"
     "waive glass     oo...++......+\n"
     "pause           WWWW......W...\n"
     "resume          RRRR......R...\n"
     "resume halted   RRRR......R...\n"
     "abort proposed  EEEE......E...\n"
     "abort           BBBB......B...\n"
     "rollback        KKKK......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    {"power-fabric", true,
     "approve         o+...+++.....+\n"
     "approve last    oA...A++.....=\n"
     "reject          oJ...JJJ.....J\n"
     "reject approved oJ...JJJ.....J\n"
     "withdraw        xx...xxx.....P\n"
     "start           RRR.......R...\n"
     "start proposed  xxx.......x...\n"
     "break glass     RRR.......R...\n"
     "approve later   o+...+++.....+\n"
     "review          oo...+++.....+\n"
     "review none     xx...xxx.....x\n"
     "waive           o+...+++.....+\n"
     "waive glass     oo...+++.....+\n"
     "pause           WWW.......W...\n"
     "resume          RRR.......R...\n"
     "resume halted   RRR.......R...\n"
     "abort proposed  EEE.......E...\n"
     "abort           BBB.......B...\n"
     "rollback        KKK.......K...\n"
     "freeze          +++.......+...\n"
     "freeze train    ++++......+...\n"
     "freeze again    ===.......=...\n"
     "freeze nowhere  xxx.......x...\n"
     "unfreeze        ++...+.......+\n"
     "unfreeze train  ++...++......+\n"
     "unfreeze thawed xx...x.......x\n"},
    /* clang-format on */
};

static void test_table(void)
{
    for (size_t t = 0; t < LKS_COUNT(tables); t++) {
        const struct lks_change_class *k =
            lks_facts_change_class(lks_test_facts(), lks_str_from(tables[t].class));
        LKS_ASSERT(k != NULL);
        struct lks_str rest = lks_str_from(tables[t].rows), line;
        for (size_t i = 0; i < LKS_COUNT(acts); i++) {
            char row[64], want[64];
            int at = snprintf(row, sizeof(row), "%-15s ", acts[i].name);
            for (size_t p = 0; p < COLUMNS; p++)
                row[at++] = cell(k, tables[t].both, i, p);
            row[at] = '\0';
            (void)lks_str_cut(rest, '\n', &line, &rest);
            snprintf(want, sizeof(want), "%" LKS_STR_FMT, LKS_STR_ARG(line));
            lks_test_case("%s of %s", tables[t].class, tables[t].both ? "both pools" : "train");
            CHECK_STR(lks_str_from(row), want);
        }
        CHECK_INT(rest.len, 0);
    }
}

/* Each class of the table of facts has its own, of one pool and of both. */
static void test_classes(void)
{
    const struct lks_facts *facts = lks_test_facts();
    CHECK_INT(LKS_COUNT(tables), 2 * facts->change_classes.count);
    for (size_t i = 0; i < facts->change_classes.count; i++) {
        size_t count = 0;
        for (size_t t = 0; t < LKS_COUNT(tables); t++)
            count += lks_str_is(facts->change_classes.rows[i].name, tables[t].class);
        CHECK_INT(count, 2);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"roles: every class, role and act", test_table},
        {"roles: every class is there", test_classes},
        {0},
    });
}
