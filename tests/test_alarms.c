/* Where each kind of alarm is shown, and where it can be closed: by what its subject names and by
 * the scope of the person who asks. */
#include "core/rows/alarm.h"
#include "core/state/state.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }

/* Pool "train" has n1 and n2 at site "east" and n3 at "west", "dev" has n5 at "west". The columns
 * of the table: */
static const struct {
    const char *identity;
    enum lks_role role;
    const char *pool, *site;
} people[] = {
    {"operator of the fleet", LKS_ROLE_OPERATOR, "", ""},
    {"operator of train", LKS_ROLE_OPERATOR, "train", ""},
    {"operator of dev", LKS_ROLE_OPERATOR, "dev", ""},
    {"operator of east", LKS_ROLE_OPERATOR, "", "east"},
    {"viewer of train", LKS_ROLE_VIEWER, "train", ""},
    {"operator of no pool", LKS_ROLE_OPERATOR, "elsewhere", ""},
};

/* c: sees the alarm and may close it; s: sees it; a dot: neither. */
static const struct {
    enum lks_alarm_kind kind;
    const char *subject, *columns;
} rows[] = {
    {LKS_ALARM_MASS, "train", "cc..s."},
    {LKS_ALARM_CLOCK, "lockstepd", "c....."},
    {LKS_ALARM_WITNESS, "n1", "cc.cs."},
    {LKS_ALARM_REPLAY, "n3", "cc..s."},
    {LKS_ALARM_PARTS, "n5", "c.c..."},
    {LKS_ALARM_DRIFT, "n1", "cc.cs."},
    {LKS_ALARM_PROPOSAL, "train", "cc..s."},
    {LKS_ALARM_PROPOSAL, "dev", "c.c..."},
    {LKS_ALARM_DEVIATION, "deviation 1", "cc.cs."},        /* n1 */
    {LKS_ALARM_DEVIATION, "deviation 2", "css.s."},        /* n3 and n5 */
    {LKS_ALARM_DEVIATION, "deviation 2, ended", "css.s."}, /* the same */
    {LKS_ALARM_DEVIATION, "deviation 77", "c....."},       /* not kept any more */
    {LKS_ALARM_FLASH, "n2", "cc.cs."},
    {LKS_ALARM_CHANGE, "change:1", "cssss."},  /* of all nodes */
    {LKS_ALARM_CHANGE, "n5", "c.c..."},        /* of one of its nodes */
    {LKS_ALARM_CHANGE, "change:77", "c....."}, /* not kept any more */
    {LKS_ALARM_HANDS, "n3", "cc..s."},
    {LKS_ALARM_GLASS, "change:1", "cssss."},
    {LKS_ALARM_CADENCE, "dev", "c.c..."},
    {LKS_ALARM_REVIEW, "change:1", "cssss."},
    {LKS_ALARM_LOWERED, "train", "cc..s."},
    {LKS_ALARM_WEDGED, "n9", "c....."}, /* it left the fleet */
    {LKS_ALARM_BRIDGE, "n1", "cc.cs."},
    {LKS_ALARM_SCHED, "n3", "cc..s."},
    {LKS_ALARM_UNDRAINED, "n5", "c.c..."},
    {LKS_ALARM_VERDICTS, "slurm at east", "c..c.."},
    {LKS_ALARM_VERDICTS, "slurm at west", "c....."},
    {LKS_ALARM_UNANSWERED, "user:slurm-prolog", "c....."},
};

static void deviate(struct lks_asked *a, uint64_t id, const char *hosts)
{
    const struct lks_record r =
        R(DEVIATION, deviation, .id = id, .hosts = lks_str_from(hosts), .subject = T("driver"),
          .owner = T("kim"), .reason = T("r"), .expires = a->now.wall + LKS_SECOND);
    lks_asked_apply(a, &r);
}

static void found(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_pool(a, "dev", "gold", "s1");
    lks_fleet_place_at(a, "n[1-2]", "train", "east");
    lks_fleet_place_at(a, "n3", "train", "west");
    lks_fleet_place_at(a, "n5", "dev", "west");
    for (size_t i = 0; i < LKS_COUNT(people); i++) {
        const struct lks_record r = R(
            GRANTED, granted, .identity = lks_str_from(people[i].identity), .role = people[i].role,
            .pool = lks_str_from(people[i].pool), .site = lks_str_from(people[i].site));
        lks_asked_apply(a, &r);
    }
    deviate(a, 1, "n1");
    deviate(a, 2, "n3,n5");
    const struct lks_record plan[] = {
        R(CHANGE, change, .id = 1, .hosts = T("n[1-3],n5"), .stack = T("s2"), .name = T("gold"),
          .by = T("user:kim"), .reason = T("new"), .class = T("routine")),
        R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_LEAVE),
        R(PLAN_WAVE, plan_wave, .change = 1, .kind = LKS_WAVE_RING, .width = 1),
        R(PLAN_PART, plan_part, .change = 1, .hosts = T("n[1-3],n5")),
    };
    for (size_t i = 0; i < LKS_COUNT(plan); i++)
        lks_asked_apply(a, &plan[i]);
}

static const struct lks_state_alarm *raise_alarm(struct lks_asked *a, size_t row)
{
    uint64_t id = a->state.next_alarm;
    const struct lks_record r = R(ALARM, alarm, .id = id, .kind = rows[row].kind,
                                  .subject = lks_str_from(rows[row].subject), .text = T("x"));
    lks_asked_apply(a, &r);
    return lks_state_alarm(&a->state, id);
}

static const struct lks_route *route_of(const char *id)
{
    size_t i = 0;
    while (i < lks_route_count && strcmp(lks_routes[i].id, id) != 0)
        i++;
    LKS_ASSERT(i < lks_route_count);
    return &lks_routes[i];
}

static bool may(const struct lks_asked *a, const char *route, const char *who,
                const struct lks_state_alarm *alarm)
{
    const struct lks_authz authz = {.state = &a->state};
    struct lks_call *call = calloc(1, sizeof(*call));
    LKS_ASSERT(call != NULL);
    call->route = route_of(route);
    (void)snprintf(call->identity, sizeof(call->identity), "%s", who);
    bool is = lks_authz_may_alarm(&authz, call, alarm);
    free(call);
    return is;
}

static void test_scopes(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    bool met[LKS_ALARM_COUNT] = {false};
    found(&a);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_state_alarm *alarm = raise_alarm(&a, i);
        char said[LKS_COUNT(people) + 1] = "";
        lks_test_case("%s of %s", lks_alarm_words[rows[i].kind], rows[i].subject);
        met[rows[i].kind] = true;
        for (size_t k = 0; k < LKS_COUNT(people); k++) {
            bool sees = may(&a, "alarms", people[k].identity, alarm);
            bool closes = may(&a, "releaseAlarm", people[k].identity, alarm);
            CHECK(sees || !closes);
            said[k] = closes ? 'c' : sees ? 's' : '.';
        }
        CHECK_STR(lks_str_from(said), rows[i].columns);
    }
    for (size_t i = 0; i < LKS_ALARM_COUNT; i++) {
        lks_test_case("%s", lks_alarm_words[i]);
        CHECK(met[i]);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"alarms: every kind and scope", test_scopes},
        {0},
    });
}
