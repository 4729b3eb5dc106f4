/* Who has to stand behind a change: approvals by role, scope and class of change; what begins
 * without them; and what becomes of a proposal in time. */
#include "core/governance/govern.h"
#include "core/rows/alarm.h"
#include "core/rules/decide.h"
#include "core/state/change_room.h"
#include "model/facts/facts.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define BY(who)        .by = T(who), .reason = T("so it is")
#define NO_REASON(who) .by = T(who)
#define DAY            ((lks_ms)86400000)

/* Pool "train" has n1 and n2 at site "east" and n3 at "west", "dev" has n5. kim proposes, and may
 * approve, too; kim and ann have other names besides. */
static const struct {
    const char *name;
    enum lks_role role;
    const char *pool, *site;
} people[] = {
    {"user:kim", LKS_ROLE_OPERATOR, "", ""},      {"user:kim", LKS_ROLE_APPROVER, "", ""},
    {"user:ops", LKS_ROLE_OPERATOR, "", ""},      {"user:vic", LKS_ROLE_VIEWER, "", ""},
    {"user:adm", LKS_ROLE_ADMIN, "", ""},         {"user:ann", LKS_ROLE_APPROVER, "", ""},
    {"user:lee", LKS_ROLE_APPROVER, "", ""},      {"user:joe", LKS_ROLE_APPROVER, "", ""},
    {"user:tia", LKS_ROLE_APPROVER, "train", ""}, {"user:tom", LKS_ROLE_APPROVER, "train", ""},
    {"user:dee", LKS_ROLE_APPROVER, "dev", ""},   {"kim", LKS_ROLE_APPROVER, "", ""},
    {"ann", LKS_ROLE_APPROVER, "", ""},           {"user:Ann", LKS_ROLE_APPROVER, "", ""},
    {"tia", LKS_ROLE_APPROVER, "dev", ""},        {"user:eve", LKS_ROLE_APPROVER, "", "east"},
    {"user:eda", LKS_ROLE_APPROVER, "", "east"},  {"user:wes", LKS_ROLE_APPROVER, "train", "west"},
};

static void grant(struct lks_asked *a, size_t i, bool on)
{
    struct lks_record r =
        R(GRANTED, granted, .identity = lks_str_from(people[i].name), .role = people[i].role,
          .pool = lks_str_from(people[i].pool), .site = lks_str_from(people[i].site));
    struct lks_record gone =
        R(UNGRANTED, ungranted, .identity = lks_str_from(people[i].name), .role = people[i].role,
          .pool = lks_str_from(people[i].pool), .site = lks_str_from(people[i].site));
    lks_asked_apply(a, on ? &r : &gone);
}

/* A change as a plan of that class records it; `both`: over both pools. */
static void begin(struct lks_asked *a, const char *class, bool both)
{
    const struct lks_change_class *k =
        lks_facts_change_class(lks_test_facts(), lks_str_from(class));
    LKS_ASSERT(k != NULL);
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_pool(a, "dev", "gold", "s1");
    lks_fleet_place_at(a, "n[1-2]", "train", "east");
    lks_fleet_place_at(a, "n3", "train", "west");
    lks_fleet_place(a, "n5", "dev");
    for (size_t i = 0; i < LKS_COUNT(people); i++)
        grant(a, i, true);
    const struct lks_record plan[] = {
        R(CHANGE, change, .id = 1, .hosts = T("n[1-3]"), .stack = T("s2"), .name = T("gold"),
          .by = T("user:kim"), .reason = T("new"), .class = k->name, .quorum = (uint64_t)k->quorum,
          .expires = a->now.wall + (uint64_t)k->proposal_days * DAY,
          .approval_age = (uint64_t)k->approval_days * DAY,
          .review_age = (uint64_t)k->review_hours * 3600 * LKS_SECOND, .standby = k->standby),
        R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_LEAVE),
        R(PLAN_STEP, plan_step, .change = 1, .index = 1, .kind = LKS_DO_RETURN),
        R(PLAN_WAVE, plan_wave, .change = 1, .kind = LKS_WAVE_CANARY, .width = 1),
        R(PLAN_WAVE, plan_wave, .change = 1, .index = 1, .kind = LKS_WAVE_RING, .width = 1),
        R(PLAN_PART, plan_part, .change = 1, .hosts = T("n1")),
        R(PLAN_PART, plan_part, .change = 1, .wave = 1,
          .hosts = lks_str_from(both ? "n[2-3],n5" : "n[2-3]")),
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(a, &plan[i]);
    const struct lks_record approved =
        R(CHANGE_MOVED, change_moved, .change = 1, .state = LKS_CHANGE_APPROVED);
    if (k->quorum == 0)
        lks_asked_apply(a, &approved);
}

/* Roles and classes ------------------------------------------------------------------------- */

enum { CLASSES = 4 };
static const char *const classes[CLASSES] = {"standard", "routine", "emergency", "power-fabric"};

#define DENIED "denied: "
#define OWN                                                                                        \
    "refused: user:kim proposed change 1: another person has to approve it; run 'lockstep change " \
    "approve' as another approver"
#define BEFORE "refused: change 1 is approved, and not up for approval"
#define FIRST  "change-voted change=1 yes=1 by=" /* and that is all */
#define LAST   "change-moved change=1 state=approved"

/* What comes of a person's yes, as the first there is, by class of change. */
static const struct {
    const char *who;
    const char *told[CLASSES];
} firsts[] = {
    {"user:kim", {OWN, OWN, OWN, OWN}},
    {"", {OWN, OWN, OWN, OWN}},
    {"user:ops", {DENIED, DENIED, DENIED, DENIED}},
    {"user:vic", {DENIED, DENIED, DENIED, DENIED}},
    {"user:adm", {DENIED, DENIED, DENIED, DENIED}},
    {"node:n1", {DENIED, DENIED, DENIED, DENIED}},
    {"user:dee", {DENIED, DENIED, DENIED, DENIED}}, /* of another pool */
    {"user:ann", {BEFORE, FIRST, LAST, FIRST}},
    {"user:tia", {BEFORE, FIRST, LAST, FIRST}},
};

static void test_roles(void)
{
    for (size_t i = 0; i < LKS_COUNT(firsts); i++) {
        for (size_t k = 0; k < CLASSES; k++) {
            LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
            const char *want = firsts[i].told[k];
            const struct lks_event vote = {.kind = LKS_EVENT_VOTE,
                                           .by = lks_str_from(firsts[i].who),
                                           .reason = T("looked at it"),
                                           .vote = {.change = 1, .yes = true}};
            lks_test_case("a yes of '%s' to %s", firsts[i].who, classes[k]);
            begin(&a, classes[k], false);
            struct lks_str told = lks_asked(&a, &vote);
            CHECK_HAS(told, want);
            bool approved = a.state.changes[0].state == LKS_CHANGE_APPROVED;
            CHECK(approved == (k == 0 || strcmp(want, LAST) == 0));
            CHECK_INT(a.state.changes[0].vote_count,
                      strcmp(want, FIRST) == 0 || strcmp(want, LAST) == 0);
        }
    }
}

/* Words ------------------------------------------------------------------------------------- */

/* One is enough for an emergency. */

static const struct {
    const char *name;
    enum lks_change_state state;
    struct lks_event event;
    const char *told;
} votes[] = {
    {"approved by somebody else",
     LKS_CHANGE_PROPOSED,
     {BY("user:ann"), .vote = {.change = 1, .yes = true}},
     "change-voted change=1 yes=1 by=user:ann reason=so it is\n"
     "change-moved change=1 state=approved by=user:ann reason=so it is\n"},
    {"a yes needs no reason",
     LKS_CHANGE_PROPOSED,
     {NO_REASON("user:ann"), .vote = {.change = 1, .yes = true}},
     "change-voted change=1 yes=1 by=user:ann\n"
     "change-moved change=1 state=approved by=user:ann\n"},
    {"rejected",
     LKS_CHANGE_PROPOSED,
     {BY("user:ann"), .vote = {.change = 1}},
     "change-voted change=1 by=user:ann reason=so it is\n"
     "change-moved change=1 state=rejected by=user:ann reason=so it is\n"},
    {"a no needs one",
     LKS_CHANGE_PROPOSED,
     {NO_REASON("user:ann"), .vote = {.change = 1}},
     "invalid: give a reason; it is kept in the journal"},
    {"not by whoever proposed it",
     LKS_CHANGE_PROPOSED,
     {BY("user:kim"), .vote = {.change = 1, .yes = true}},
     "refused: user:kim proposed change 1: another person has to approve it; run 'lockstep change "
     "approve' as another approver"},
    {"nor rejected by them",
     LKS_CHANGE_PROPOSED,
     {BY("user:kim"), .vote = {.change = 1}},
     "refused: user:kim proposed change 1: another person has to reject it; abort withdraws it"},
    {"nor by nobody",
     LKS_CHANGE_PROPOSED,
     {BY(""), .vote = {.change = 1, .yes = true}},
     "refused: user:kim proposed change 1: another person has to approve it; run 'lockstep change "
     "approve' as another approver"},
    {"one that runs",
     LKS_CHANGE_RUNNING,
     {BY("user:ann"), .vote = {.change = 1, .yes = true}},
     "refused: change 1 is running, and not up for approval"},
    {"one that there is not",
     LKS_CHANGE_PROPOSED,
     {BY("user:ann"), .vote = {.change = 2, .yes = true}},
     "not-found: there is no change 2"},
};

static void test_votes(void)
{
    for (size_t i = 0; i < LKS_COUNT(votes); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_event event = votes[i].event;
        lks_test_case("%s", votes[i].name);
        event.kind = LKS_EVENT_VOTE;
        begin(&a, "emergency", false);
        const struct lks_record is =
            R(CHANGE_MOVED, change_moved, .change = 1, .state = votes[i].state);
        if (votes[i].state != LKS_CHANGE_PROPOSED)
            lks_asked_apply(&a, &is);
        CHECK_STR(lks_asked(&a, &event), votes[i].told);
    }
}

/* Said twice, as by a client that did not hear the answer, it is one vote. */
static void test_vote_again(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event event = {
        .kind = LKS_EVENT_VOTE, BY("user:ann"), .vote = {.change = 1, .yes = true}};
    begin(&a, "emergency", false);
    (void)lks_asked(&a, &event);
    CHECK_STR(lks_asked(&a, &event), "");
    event.by = LKS_STR("user:lee");
    CHECK_STR(lks_asked(&a, &event), "refused: change 1 is approved, and not up for approval");
}

/* Stories ----------------------------------------------------------------------------------- */

/* Words, one after the other:
 *     ann+ ann- ann~ ann?    says yes, says no, takes it back, reviews it
 *     start glass            kim starts it; without approvals
 *     start:kit glass:kit    and kit stands by
 *     ann:soak@2             waives that gate for so many days
 *     ann:soak@2,train       the same, in that pool alone
 *     soak:on soak:off       that gate is waived now behind the canary, or is asked
 *     soak:1on soak:1off     behind the ring
 *     release                kim releases the alarm that the glass was broken
 *     less                   ann lowered the gate of "train" by the fleet's file
 *     3d                     so many days pass
 *     ann/                   is no approver any more
 *     tick                   what is due by then
 *     =approved              that is how it stands
 *     #2                     so many stand behind it
 *     !                      the last word was refused
 *     alarm quiet            there is an alarm about it, or none
 *     overdue looked         there is one that nobody reviewed it in time, or none */
static const struct {
    const char *name, *class;
    bool both;
    const char *words;
} stories[] = {
    {"two are a board", "routine", false, "ann+ =proposed #1 lee+ =approved start =running"},
    {"one alone is none", "routine", false, "ann+ start ! =proposed"},
    {"nobody counts twice", "routine", false, "ann+ ann+ ann+ =proposed #1"},
    {"nor by another name", "routine", false, "ann+ %ann+ Ann+ =proposed #1 lee+ =approved"},
    {"also where each name is for another pool", "routine", true,
     "tia+ %tia+ #1 lee+ =approved start =running"},
    {"a name that lapsed leaves the other", "routine", false, "ann+ %ann+ lee+ ann~ =approved #2"},
    {"whoever proposed it has no other name", "routine", false, "%kim+ ! =proposed #0"},
    {"three are the full board", "power-fabric", false, "ann+ lee+ =proposed joe+ =approved"},
    {"people on site have to be named", "power-fabric", false,
     "ann+ lee+ joe+ start ! start:kit =running"},
    {"a standard change needs nobody", "standard", false, "=approved start =running"},
    {"an emergency needs one", "emergency", false, "ann+ =approved start =running"},
    {"any no is the end", "routine", false, "ann+ lee- =rejected joe+ ! =rejected"},
    {"also of one that was approved", "routine", false, "ann+ lee+ joe- =rejected start !"},
    {"but not of one that runs", "routine", false, "ann+ lee+ start joe- ! =running"},
    {"a yes is taken back", "routine", false, "ann+ lee+ ann~ =proposed #1 start ! joe+ =approved"},
    {"by who gave it", "routine", false, "ann+ lee~ ! #1"},
    {"before it begins", "routine", false, "ann+ lee+ start ann~ ! =running"},
    {"a yes after one's own no", "routine", false, "ann- ann+ ! =rejected"},
    {"those of its pool are enough", "routine", false, "tia+ tom+ =approved start =running"},
    {"those of one pool are not enough for two", "routine", true, "tia+ tom+ =proposed #0 start !"},
    {"each pool has its own", "routine", true, "tia+ ann+ =proposed #1 dee+ =approved"},
    {"who is for another pool is asked for that", "routine", true,
     "dee+ ann+ =proposed tia+ =approved"},
    {"those of one site are not enough for two", "routine", false,
     "eve+ eda+ =proposed #0 start !"},
    {"each site has its own", "routine", false, "eve+ ann+ =proposed #1 wes+ =approved"},
    {"who asks less of them does not agree to that", "routine", false,
     "less ann+ =proposed #0 lee+ =proposed #1 joe+ =approved"},
    {"nor for one pool of two", "routine", true,
     "less ann+ lee+ =proposed #1 dee+ =proposed tia+ =approved"},
    {"an approval ends", "routine", false,
     "ann+ lee+ 8d start ! =approved ann+ start ! lee+ start =running"},
    {"and counts no more", "routine", false, "ann+ 8d lee+ =proposed #1"},
    {"it ends with the role that gave it", "routine", false, "ann+ lee+ ann/ start ! #1"},
    {"a proposal ends", "routine", false, "15d ann+ ! =proposed tick =aborted"},
    {"by its class", "power-fabric", false, "15d tick =proposed ann+"},
    {"by its class, sooner", "emergency", false, "3d tick =aborted"},
    {"what was approved has its own time", "power-fabric", false,
     "20d ann+ lee+ joe+ 6d 6d tick =approved 3d tick =aborted"},
    {"the glass is broken", "routine", false, "glass =running alarm"},
    {"with a person on site", "power-fabric", false, "glass ! glass:kit =running alarm"},
    {"not where it is approved", "routine", false, "ann+ lee+ glass ! =approved quiet"},
    {"not too late", "routine", false, "15d glass !"},
    {"and reviewed by somebody else", "routine", false, "glass kim? ! ops? ! ann? quiet"},
    {"by which no other name helps", "routine", false, "glass %kim? ! alarm"},
    {"the alarm stays until then", "routine", false, "glass release ! alarm ann? quiet"},
    {"and behind a late review for a person", "routine", false,
     "glass 2d ann? alarm release quiet"},
    {"that nobody reviewed it is told again", "routine", false,
     "glass tick looked 1d tick looked 1d tick overdue alarm tick overdue"},
    {"and not released before", "routine", false, "glass 2d tick release ! overdue"},
    {"and over with the review", "routine", false, "glass 2d tick ann? looked alarm tick looked"},
    {"a review in time is the end of it", "routine", false, "glass ann? 9d tick looked quiet"},
    {"its time is by its class", "emergency", false, "glass 2d tick looked 2d tick overdue"},
    {"it is approved meanwhile", "routine", false, "glass ann+ #1 lee+ #2 =running alarm joe+ !"},
    {"which is taken back", "routine", false, "glass ann+ lee+ ann~ #1 =running"},
    {"there is nothing to review", "routine", false, "ann+ lee+ start joe? !"},
    {"reviewed twice", "routine", false, "glass ann? lee? quiet"},
    {"a gate is waived", "routine", false, "ann:soak@2 soak:on acceptance:off"},
    {"for a time", "routine", false, "ann:soak@2 2d soak:off"},
    {"which may be made shorter", "routine", false, "ann:soak@7 lee:soak@1 1d soak:off"},
    {"not for ever", "routine", false, "ann:soak@8 ! soak:off"},
    {"for the pools that one may approve for", "routine", true,
     "tia:soak@2 soak:on soak:1off dee:soak@2 soak:1on"},
    {"which is less than the wave", "routine", true, "dee:soak@2 soak:off soak:1off"},
    {"everywhere by who may everywhere", "routine", true, "ann:soak@2 soak:on soak:1on"},
    {"for one of them", "routine", true, "ann:soak@2,train soak:on soak:1off"},
    {"and the other", "routine", true, "ann:soak@2,train ann:soak@2,dev soak:1on"},
    {"not for another's", "routine", true, "tia:soak@2,dev ! soak:1off"},
    {"nor for one that is at another site, too", "routine", false,
     "eve:soak@2,train ! wes:soak@2,train ! soak:off soak:1off"},
    {"at the site that one may approve for", "routine", false,
     "eve:soak@2 soak:on soak:1off wes:soak@2 soak:1on"},
    {"which is none of the canary", "routine", false, "wes:soak@2 soak:off soak:1off"},
    {"nor for one that it has no nodes of", "routine", false, "ann:soak@2,dev !"},
    {"nor for one that there is not", "routine", false, "ann:soak@2,tain !"},
    {"the last word counts, where it counts", "routine", true,
     "ann:soak@7 tia:soak@1 1d soak:off soak:1off"},
    {"it ends with the role that gave it", "routine", false, "ann:soak@2 ann/ soak:off"},
    {"not by who proposed it", "routine", false, "kim:soak@2 ! soak:off"},
    {"by whatever name", "routine", false, "%kim:soak@2 ! soak:off"},
    {"nor by who broke the glass", "routine", false, "glass kim:soak@2 ! ann:soak@2 soak:on"},
    {"nor by who may not approve", "routine", false, "ops:soak@2 ! adm:soak@2 ! dee:soak@2 !"},
    {"hard failures never are", "routine", false, "ann:hard-failures@2 ! hard-failures:off"},
    {"nor is evidence as a whole", "routine", false, "ann:evidence@2 !"},
    {"nor what there is not", "routine", false, "ann:soaking@2 !"},
    {"nor of one that is over", "routine", false, "ann- ann:soak@2 !"},
};

static bool is_alarmed(const struct lks_asked *a, enum lks_alarm_kind kind)
{
    for (uint32_t i = 0; i < a->state.alarm_count; i++) {
        if (a->state.alarms[i].kind == kind && a->state.alarms[i].released == 0)
            return true;
    }
    return false;
}

enum { WHO_SIZE = 32 };

/* "ann" is user:ann, "%ann" is the same person by a token. */
static struct lks_str person(struct lks_str word, char out[WHO_SIZE])
{
    bool bare = word.ptr[0] == '%';
    snprintf(out, WHO_SIZE, "%s%.*s", bare ? "" : "user:", (int)word.len - bare, word.ptr + bare);
    return lks_str_from(out);
}

static void say(struct lks_asked *a, struct lks_str word)
{
    char who[WHO_SIZE];
    char sign = word.ptr[word.len - 1];
    struct lks_event e = {.kind = LKS_EVENT_VOTE, .reason = T("so it is")};
    e.by = person((struct lks_str){word.ptr, word.len - 1}, who);
    e.vote.change = 1;
    e.vote.yes = sign == '+';
    e.vote.withdrawn = sign == '~';
    if (sign == '?') {
        e.kind = LKS_EVENT_REVIEW;
        e.review = 1;
    }
    struct lks_state_change *c = lks_state_change_find(&a->state, 1);
    c->looked = 1;
    if (lks_str_find(lks_asked(a, &e), LKS_STR("vote")) >= 0)
        CHECK_INT(c->looked, 0); /* what waited for it goes on at once */
}

static void start(struct lks_asked *a, struct lks_str word)
{
    struct lks_str order, standby = {0};
    (void)lks_str_cut(word, ':', &order, &standby);
    const struct lks_event e = {.kind = LKS_EVENT_CHANGE_MOVE,
                                .by = T("user:kim"),
                                .reason = T("so it is"),
                                .move = {.change = 1,
                                         .order = LKS_ORDERED_START,
                                         .glass = lks_str_is(order, "glass"),
                                         .standby = standby}};
    (void)lks_asked(a, &e);
}

static void revoke(struct lks_asked *a, struct lks_str word)
{
    for (size_t i = 0; i < LKS_COUNT(people); i++) {
        if (lks_str_starts(lks_str_from(people[i].name), "user:") &&
            strncmp(people[i].name + 5, word.ptr, word.len - 1) == 0)
            grant(a, i, false);
    }
}

/* "ann:soak@2"; blanks of names are written as '-'. */
static void waive(struct lks_asked *a, struct lks_str word)
{
    struct lks_str who, gate, rest, days, pool = {"", 0};
    char by[WHO_SIZE], name[32];
    uint64_t count = 0;
    (void)lks_str_cut(word, ':', &who, &rest);
    (void)lks_str_cut(rest, '@', &gate, &days);
    (void)lks_str_cut(days, ',', &days, &pool);
    bool good = lks_str_number(days, 99, &count);
    LKS_ASSERT(good);
    snprintf(name, sizeof(name), "%.*s", (int)gate.len, gate.ptr);
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '-' ? ' ' : *c;
    const struct lks_event e = {.kind = LKS_EVENT_WAIVE,
                                .by = person(who, by),
                                .reason = T("so it is"),
                                .waive = {.change = 1,
                                          .gate = lks_str_from(name),
                                          .pool = pool,
                                          .until = a->now.wall + count * DAY}};
    (void)lks_asked(a, &e);
}

static void check_waived(struct lks_asked *a, struct lks_str word)
{
    struct lks_str gate, state;
    (void)lks_str_cut(word, ':', &gate, &state);
    bool ring = state.ptr[0] == '1';
    CHECK(lks_govern_waived(&a->state, &a->state.changes[0], ring, gate, NULL, a->now.wall) ==
          lks_str_ends(state, "on"));
}

static void expect(struct lks_asked *a, struct lks_str word)
{
    const struct lks_state_change *c = &a->state.changes[0];
    struct lks_tally t = lks_govern_tally(&a->state, c, a->now.wall, NULL, LKS_STR(""));
    uint64_t count = 0;
    struct lks_str rest = {word.ptr + 1, word.len - 1};
    if (word.ptr[0] == '=')
        CHECK_STR(lks_str_from(lks_change_state_words[c->state]), rest.ptr == NULL ? "" : rest.ptr);
    else if (lks_str_number(rest, 99, &count))
        CHECK_INT(t.given, count);
}

static lks_ms days_of(struct lks_str word)
{
    uint64_t days = 0;
    bool good = lks_str_number((struct lks_str){word.ptr, word.len - 1}, 99, &days);
    LKS_ASSERT(good);
    return days;
}

static bool is_state(struct lks_str word)
{
    return lks_str_ends(word, ":on") || lks_str_ends(word, ":off") || lks_str_ends(word, ":1on") ||
           lks_str_ends(word, ":1off");
}

static void step(struct lks_asked *a, struct lks_str word)
{
    const struct lks_event release = {.kind = LKS_EVENT_ALARM_RELEASE,
                                      .by = T("user:kim"),
                                      .reason = T("seen"),
                                      .alarm = a->state.next_alarm - 1};
    const struct lks_record less =
        R(LOWERED, lowered, .pool = T("train"), .text = T("margin"), .by = T("user:ann"));
    char text[64];
    snprintf(text, sizeof(text), "%.*s", (int)word.len, word.ptr);
    struct lks_str own = lks_str_from(text);
    char last = text[own.len - 1];
    if (text[0] == '=' || text[0] == '#')
        expect(a, own);
    else if (lks_str_is(own, "!"))
        CHECK(a->decision.refused.code != LKS_OK);
    else if (lks_str_is(own, "alarm") || lks_str_is(own, "quiet"))
        CHECK(is_alarmed(a, LKS_ALARM_GLASS) == (text[0] == 'a'));
    else if (lks_str_is(own, "overdue") || lks_str_is(own, "looked"))
        CHECK(is_alarmed(a, LKS_ALARM_REVIEW) == (text[0] == 'o'));
    else if (strchr(text, '@') != NULL)
        waive(a, own);
    else if (is_state(own))
        check_waived(a, own);
    else if (lks_str_is(own, "less"))
        lks_asked_apply(a, &less);
    else if (lks_str_is(own, "tick"))
        (void)lks_fleet_tick(a);
    else if (lks_str_is(own, "release"))
        (void)lks_asked(a, &release);
    else if (lks_str_starts(own, "start") || lks_str_starts(own, "glass"))
        start(a, own);
    else if (last == 'd')
        lks_fleet_wait(a, days_of(own) * DAY);
    else if (last == '/')
        revoke(a, own);
    else
        say(a, own);
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_str rest = lks_str_from(stories[i].words), word;
        begin(&a, stories[i].class, stories[i].both);
        while (lks_str_word(&rest, &word)) {
            lks_test_case("%s: %.*s", stories[i].name, (int)word.len, word.ptr);
            step(&a, word);
            struct lks_str next = rest, after;
            if (lks_str_word(&next, &after) && lks_str_is(after, "!"))
                continue;
            bool acts = strchr("=#!", word.ptr[0]) == NULL && !lks_str_is(word, "alarm") &&
                        !lks_str_is(word, "quiet") && !lks_str_is(word, "overdue") &&
                        !lks_str_is(word, "looked") && !is_state(word);
            CHECK(!acts || a.decision.refused.code == LKS_OK);
        }
    }
}

/* How many begin without approvals ---------------------------------------------------------- */

#define MANY "refused: start: "

static const struct {
    const char *name, *lab, *canary, *ring, *told;
} vanguards[] = {
    {"one node", "", "n1", "", "glass-broken"},
    {"a few of many", "", "n[1-3]", "n[4-40]", "glass-broken"},
    {"as few as a canary has by itself", "", "n[1-8]", "n[9-16]", "glass-broken"},
    {"one more", "", "n[1-9]", "n[10-18]", MANY "9 of 18 nodes and assets are in the canary"},
    {"a quarter", "", "n[1-10]", "n[11-40]", "glass-broken"},
    {"more than that", "", "n[1-11]", "n[12-40]", MANY "11 of 40 nodes"},
    {"half of few", "", "n[1-2]", "n[3-4]", "glass-broken"},
    {"most of few", "", "n[1-3]", "n[4-5]", MANY "3 of 5 nodes"},
    {"all of few", "", "n[1-3]", "", MANY "3 of 3 nodes"},
    {"all of many", "", "n[1-40]", "", MANY "40 of 40 nodes"},
    {"the lab is no canary", "n[30-40]", "n1", "n[2-4]", "glass-broken"},
    {"and makes none smaller", "n[6-40]", "n[1-3]", "n[4-5]", MANY "3 of 5 nodes"},
};

static void plan_waves(struct lks_asked *a, const char *const hosts[3])
{
    static const enum lks_wave_kind kinds[] = {LKS_WAVE_LAB, LKS_WAVE_CANARY, LKS_WAVE_RING};
    const struct lks_record plan[] = {
        R(CHANGE, change, .id = 1, .hosts = T("n[1-40]"), .stack = T("s2"), .name = T("gold"),
          .by = T("user:kim"), .reason = T("new"), .quorum = 2),
        R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_LEAVE),
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(a, &plan[i]);
    for (uint64_t i = 0, wave = 0; i < LKS_COUNT(kinds); i++) {
        const struct lks_record records[] = {
            R(PLAN_WAVE, plan_wave, .change = 1, .index = wave, .kind = kinds[i], .width = 1),
            R(PLAN_PART, plan_part, .change = 1, .wave = wave, .hosts = lks_str_from(hosts[i])),
        };
        if (hosts[i][0] == '\0')
            continue;
        lks_asked_apply(a, &records[0]);
        lks_asked_apply(a, &records[1]);
        wave++;
    }
}

static void test_vanguards(void)
{
    for (size_t i = 0; i < LKS_COUNT(vanguards); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const char *const hosts[] = {vanguards[i].lab, vanguards[i].canary, vanguards[i].ring};
        const struct lks_event glass = {
            .kind = LKS_EVENT_CHANGE_MOVE,
            .by = T("user:kim"),
            .reason = T("worm"),
            .move = {.change = 1, .order = LKS_ORDERED_START, .glass = true}};
        lks_test_case("%s", vanguards[i].name);
        lks_asked_init(&a);
        lks_fleet_release(&a, "s2");
        lks_fleet_pool(&a, "train", "gold", "s1");
        lks_fleet_place(&a, "n[1-40]", "train");
        plan_waves(&a, hosts);
        CHECK_HAS(lks_asked(&a, &glass), vanguards[i].told);
        bool begins = a.decision.refused.code == LKS_OK;
        CHECK_INT(a.state.changes[0].state, begins ? LKS_CHANGE_RUNNING : LKS_CHANGE_PROPOSED);
        CHECK(is_alarmed(&a, LKS_ALARM_GLASS) == begins);
    }
}

/* So many alarms are open that no other of their kind is raised. */
static void test_many_alarms(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char node[16];
    begin(&a, "routine", false);
    for (uint64_t i = 1; i <= LKS_STATE_ALARMS_MAX / 2; i++) {
        snprintf(node, sizeof(node), "g%llu", (unsigned long long)i);
        const struct lks_record r =
            R(ALARM, alarm, .id = i, .kind = LKS_ALARM_DRIFT, .subject = lks_str_from(node));
        lks_asked_apply(&a, &r);
    }
    start(&a, LKS_STR("glass"));
    CHECK_INT(a.decision.refused.code, LKS_OK);
    CHECK(is_alarmed(&a, LKS_ALARM_GLASS));
}

/* Freezing ---------------------------------------------------------------------------------- */

static struct lks_str freeze(struct lks_asked *a, const char *pool, bool on)
{
    const struct lks_event e = {.kind = LKS_EVENT_FREEZE,
                                .by = T("user:ops"),
                                .reason = T("storage incident"),
                                .freeze = {.pool = lks_str_from(pool), .on = on}};
    return lks_asked(a, &e);
}

/* n1 and n2 run another kernel than their pool pins, and that is to be told and they drained. */
static struct lks_str drift(struct lks_asked *a)
{
    for (unsigned n = 1; n <= 2; n++) {
        LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
        char name[8];
        snprintf(name, sizeof(name), "n%u", n);
        lks_test_tuple_with(lks_test_node, "kernel=1", &t);
        t.node = lks_str_from(name);
        const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                        .node = lks_fleet_node(a, name),
                                        .tuple = {.tuple = &t, .report = T("r")}};
        lks_asked_live(a, name);
        (void)lks_asked(a, &event);
    }
    return lks_fleet_tick(a);
}

/* What is done by itself about nodes that drift is not done while it is frozen, and done then.
 * People are told either way. */
static void test_freeze(void)
{
    static const struct {
        const char *name, *first, *second; /* what is frozen; NULL: nothing */
        bool waits, still;                 /* until all of it is over; until the first is */
    } rows[] = {
        {"nothing is frozen", NULL, NULL, false, false},
        {"the pool", "train", NULL, true, false},
        {"the fleet", "", NULL, true, false},
        {"another pool", "dev", NULL, false, false},
        {"the fleet and the pool", "", "train", true, true},
        {"the pool and the fleet", "train", "", true, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 16);
        lks_test_case("%s", rows[i].name);
        lks_asked_init(&a);
        lks_buf_addf(&text,
                     "%s---\nlockstep: 1\nkind: Fleet\nname: f\npools:\n"
                     "  train: {posture: pre-training, stack: golden, enforce: 'on', "
                     "on_drift: [alarm, drain]}\n  dev: {posture: dev, stack: golden}\n"
                     "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8}]\n",
                     lks_test_node_stack);
        CHECK_HAS(lks_asked_fleet(&a, text.ptr, NULL), "fleet name=f");
        if (rows[i].first != NULL)
            CHECK_HAS(freeze(&a, rows[i].first, true), "frozen ");
        if (rows[i].second != NULL)
            CHECK_HAS(freeze(&a, rows[i].second, true), "frozen ");
        struct lks_str told = drift(&a);
        CHECK_HAS(told, "alarm=drift subject=n1 ");
        CHECK((lks_str_find(told, LKS_STR("drained node=n1 ")) < 0) == rows[i].waits);
        if (rows[i].first == NULL)
            continue;
        told = freeze(&a, rows[i].first, false);
        CHECK((lks_str_find(told, LKS_STR("drained node=n2 ")) >= 0) ==
              (rows[i].waits && !rows[i].still));
        if (rows[i].second != NULL)
            CHECK_HAS(freeze(&a, rows[i].second, false), "drained node=n2 ");
    }
}

/* Whoever proposed it gives nobody a role by which they could approve it. Tokens and certificates
 * that they make are none of an approver's: tests/test_backing.c. */
static const struct {
    const char *name, *by, *identity, *pool;
    enum lks_role role;
    bool over;
    const char *told; /* "": it is done */
} makes[] = {
    {"an approver of all", "user:kim", "user:new", "", LKS_ROLE_APPROVER, false,
     "refused: user:kim proposed change 1, which could be approved by this: another person has "
     "to grant it"},
    {"an approver of its pool", "user:kim", "user:new", "train", LKS_ROLE_APPROVER, false,
     "refused: user:kim proposed change 1"},
    {"an approver of another pool", "user:kim", "user:new", "dev", LKS_ROLE_APPROVER, false, ""},
    {"an admin, who could make an approver", "user:kim", "user:new", "", LKS_ROLE_ADMIN, false,
     "refused: user:kim proposed change 1"},
    {"an admin of one pool, who cannot", "user:kim", "user:new", "train", LKS_ROLE_ADMIN, false,
     ""},
    {"an operator", "user:kim", "user:new", "", LKS_ROLE_OPERATOR, false, ""},
    {"an approver, by somebody else", "user:adm", "user:new", "", LKS_ROLE_APPROVER, false, ""},
    {"by their other name", "Kim", "user:new", "", LKS_ROLE_APPROVER, false,
     "refused: user:kim proposed change 1"},
    {"when it is over", "user:kim", "user:new", "", LKS_ROLE_APPROVER, true, ""},
};

static void test_makes_nobody(void)
{
    for (size_t i = 0; i < LKS_COUNT(makes); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", makes[i].name);
        begin(&a, "routine", false);
        const struct lks_record over =
            R(CHANGE_MOVED, change_moved, .change = 1, .state = LKS_CHANGE_REJECTED);
        if (makes[i].over)
            lks_asked_apply(&a, &over);
        const struct lks_event e = {.kind = LKS_EVENT_GRANT,
                                    .by = lks_str_from(makes[i].by),
                                    .grant = {.identity = lks_str_from(makes[i].identity),
                                              .site = LKS_STR(""),
                                              .pool = lks_str_from(makes[i].pool),
                                              .role = makes[i].role}};
        CHECK_HAS(lks_asked(&a, &e),
                  makes[i].told[0] != '\0' ? makes[i].told : "granted identity=");
    }
}

/* Logins ------------------------------------------------------------------------------------ */

static void log_in(struct lks_asked *a, const char *id)
{
    struct lks_record r = R(API_TOKEN, api_token, .id = lks_str_from(id), .identity = T("user:ida"),
                            .hash = T("sha256:1"), .expires = a->now.wall + DAY,
                            .issuer = T("https://id.example"), .grants = T("approver@train"));
    lks_asked_apply(a, &r);
}

static uint32_t given(const struct lks_asked *a)
{
    return lks_govern_tally(&a->state, &a->state.changes[0], a->now.wall, NULL, LKS_STR("")).given;
}

/* The roles that groups gave are those of one token: they serve no vote that came another way, and
 * no other login keeps a vote whose own was revoked. */
static void test_logins(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event vote = {
        .kind = LKS_EVENT_VOTE, BY("user:ida"), .vote = {.change = 1, .yes = true}};
    begin(&a, "routine", false);
    log_in(&a, "login.ida.1");
    log_in(&a, "login.ida.2");
    vote.credential = LKS_STR("ticket:CHG-1");
    CHECK_HAS(lks_asked(&a, &vote), DENIED);
    vote.credential = LKS_STR("token:login.ida.1");
    CHECK_HAS(lks_asked(&a, &vote), FIRST);
    CHECK_INT(given(&a), 1);
    a.now.wall += DAY;
    CHECK_INT(given(&a), 1);
    struct lks_record gone = R(API_TOKEN_GONE, api_token_gone, .id = T("login.ida.1"));
    lks_asked_apply(&a, &gone);
    CHECK_INT(given(&a), 0);
    vote.credential = LKS_STR("token:login.ida.2");
    CHECK_HAS(lks_asked(&a, &vote), FIRST);
    CHECK_STR(lks_asked(&a, &vote), "");
    CHECK_INT(given(&a), 1);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"approvals: every role and class", test_roles},
        {"approvals: in words", test_votes},
        {"approvals: said twice", test_vote_again},
        {"approvals: stories", test_stories},
        {"approvals: how many begin without", test_vanguards},
        {"approvals: the alarm among many", test_many_alarms},
        {"approvals: nobody is made for one's own change", test_makes_nobody},
        {"approvals: by logins", test_logins},
        {"freezes: what is done by itself", test_freeze},
        {0},
    });
}
