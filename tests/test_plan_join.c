/* What a change that is under way asks about its plan, and what evidence does to one. */
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#define STACK(name, driver) "---\n" LKS_STACK_HGX(name, "hgx-h100-8, hgx-h200-8", driver, "")

#define STACKS STACK("a", "580.126.20") STACK("b", "580.130.01")
#define HEAD   "lockstep: 1\nkind: Fleet\nname: f\nsites: {fra: {timezone: Europe/Berlin}}\n"
#define POOLS                                                                                      \
    "domains: {d: {}}\npools:\n  train: {posture: pre-training, stack: a, windows: 'Sat-Sun "      \
    "00:00-24:00'}\n  other: {posture: pre-training, stack: a}\nnodes:\n"
#define NODES(hosts, more)                                                                         \
    "  - {hosts: '" hosts "', pool: train, class: hgx-h100-8, site: fra" more "}\n"
#define FIRST HEAD POOLS NODES("g[1-4]", "") "  - {hosts: o1, pool: other, class: hgx-h100-8}\n"

#define DAYS(from, until, rest) "{from: '2026-11-" from "', until: '2026-11-" until "'" rest "}"

static void propose(struct plans *p, struct lks_plan_wish wish)
{
    wish.stack = LKS_STR("b");
    wish.hook = LKS_STR("site");
    const struct lks_event event = {.kind = LKS_EVENT_PROPOSE,
                                    .by = LKS_STR("kim"),
                                    .reason = LKS_STR("newer driver"),
                                    .propose = {.wish = wish, .known = &p->set}};
    (void)lks_asked(&p->a, &event);
    (void)CHECK_CODE(p->a.decision.refused.code, LKS_OK);
}

/* One more node, g5, after the change was proposed for pool train. */
static const struct {
    const char *name, *hosts; /* of the change; NULL: the whole pool */
    const char *more;         /* groups that the fleet has by then */
    const char *node;
    bool joins;
} joiners[] = {
    {"one of its kind", NULL, NODES("g5", ""), "g5", true},
    {"a change of hosts takes nobody else", "g[1-4]", NODES("g5", ""), "g5", false},
    {"another class", NULL, "  - {hosts: g5, pool: train, class: hgx-h200-8}\n", "g5", false},
    {"another revision", NULL, NODES("g5", ", hardware_revision: B"), "g5", false},
    {"another pool", NULL, "  - {hosts: g5, pool: other, class: hgx-h100-8}\n", "g5", false},
    {"one of a domain", NULL, NODES("g5", ", domain: d"), "g5", false},
    {"another way to manage it", NULL,
     NODES("g5", ", bmc: {url: 'https://g5.example', credentials: 'file:/c'}"), "g5", false},
    {"one that is in it", NULL, "", "g4", false},
};

static void test_joins(void)
{
    for (size_t i = 0; i < LKS_COUNT(joiners); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        struct plans p;
        struct lks_rec_plan_part part = {0};
        lks_test_case("%s", joiners[i].name);
        plans_begin(&p, FIRST STACKS);
        struct lks_str hosts = lks_str_from(joiners[i].hosts != NULL ? joiners[i].hosts : "");
        propose(&p, (struct lks_plan_wish){.hosts = hosts,
                                           .pool = hosts.len > 0 ? LKS_STR("") : LKS_STR("train")});
        lks_buf_addf(&text, "%s%s%s", FIRST, joiners[i].more, STACKS);
        (void)lks_asked_fleet(&p.a, text.ptr, NULL);
        const struct lks_state_change *c = lks_state_change(&p.a.state, 1);
        uint32_t node = lks_state_node(&p.a.state, lks_str_from(joiners[i].node));
        if (CHECK(c != NULL && node != LKS_NO_NODE) &&
            CHECK_INT(lks_plan_joins(&p.a.state, &p.book, c, node, &part), joiners[i].joins) &&
            joiners[i].joins) {
            (void)CHECK_INT(part.change, 1);
            (void)CHECK_INT(part.wave, c->wave_count - 1);
            (void)CHECK_INT(part.recipe, c->members[0].recipe);
            (void)CHECK_STR(part.hosts, "g5");
            (void)CHECK_STR(part.domain, "");
            (void)CHECK(lks_str_eq(part.from, lks_state_text(&p.a.state, c->members[0].from)));
            (void)CHECK(!part.proves);
        }
        plans_end(&p);
    }
}

/* 15 November 2026 is a Sunday; Berlin is an hour ahead. g1 may begin at weekends, o1 always. */
static const struct {
    const char *name, *node, *windows, *not_before, *not_after, *now;
    bool may;
    const char *next; /* NULL: never */
} begins[] = {
    {"no windows at all", "o1", "", NULL, NULL, "2026-11-15T12:00:00Z", true, NULL},
    {"the pool's", "g1", "", NULL, NULL, "2026-11-15T12:00:00Z", true, "2026-11-15T23:00:00Z"},
    {"the pool's, outside", "g1", "", NULL, NULL, "2026-11-16T12:00:00Z", false,
     "2026-11-20T23:00:00Z"},
    {"the change's, in the time of the node's site", "g1", "Sun 10:00-14:00", NULL, NULL,
     "2026-11-15T12:59:00Z", true, "2026-11-15T13:00:00Z"},
    {"the change's, outside", "g1", "Sun 10:00-14:00", NULL, NULL, "2026-11-15T13:00:00Z", false,
     "2026-11-22T09:00:00Z"},
    {"without a site, UTC", "o1", "Sun 10:00-14:00", NULL, NULL, "2026-11-15T13:59:00Z", true,
     "2026-11-15T14:00:00Z"},
    {"the pool's are open, the change's are not", "g1", "Mon 10:00-14:00", NULL, NULL,
     "2026-11-15T12:00:00Z", false, "2026-11-16T09:00:00Z"},
    {"too early", "o1", "", "2026-11-15T12:00:00Z", NULL, "2026-11-15T11:59:59Z", false,
     "2026-11-15T12:00:00Z"},
    {"in time", "o1", "", "2026-11-15T12:00:00Z", "2026-11-15T13:00:00Z", "2026-11-15T12:30:00Z",
     true, NULL},
    {"too late", "o1", "", NULL, "2026-11-15T13:00:00Z", "2026-11-15T13:00:00Z", false, NULL},
};

static lks_ms at(const char *text)
{
    lks_ms ms = 0;
    if (text != NULL)
        (void)CHECK(lks_time_parse(lks_str_from(text), &ms));
    return ms;
}

static void test_begins(void)
{
    for (size_t i = 0; i < LKS_COUNT(begins); i++) {
        struct plans p;
        lks_ms next = 0;
        lks_test_case("%s", begins[i].name);
        plans_begin(&p, FIRST STACKS);
        propose(&p, (struct lks_plan_wish){.hosts = LKS_STR("g[1-4],o1"),
                                           .windows = lks_str_from(begins[i].windows),
                                           .not_before = at(begins[i].not_before),
                                           .not_after = at(begins[i].not_after)});
        const struct lks_state_change *c = lks_state_change(&p.a.state, 1);
        uint32_t node = lks_state_node(&p.a.state, lks_str_from(begins[i].node));
        if (CHECK(c != NULL)) {
            (void)CHECK_INT(
                lks_plan_may_begin(&p.a.state, &p.book, c, node, at(begins[i].now), &next),
                begins[i].may);
            (void)CHECK(next == (begins[i].next != NULL ? at(begins[i].next) : UINT64_MAX));
        }
        plans_end(&p);
    }
}

/* Days of the fleet's file on which nobody begins. */
static const struct {
    const char *name, *node, *freezes, *now;
    bool urgent, may; /* urgent: it closes a flaw */
    const char *next; /* NULL: never */
} quiets[] = {
    {"by the clocks of the site", "g1", DAYS("14", "19", ""), "2026-11-15T12:00:00Z", false, false,
     "2026-11-18T23:00:00Z"},
    {"without a site, by UTC", "o1", DAYS("14", "19", ""), "2026-11-18T23:30:00Z", false, false,
     "2026-11-19T00:00:00Z"},
    {"before them", "o1", DAYS("14", "19", ""), "2026-11-13T12:00:00Z", false, true,
     "2026-11-14T00:00:00Z"},
    {"behind them", "o1", DAYS("14", "19", ""), "2026-11-19T00:00:00Z", false, true, NULL},
    {"of another pool", "o1", DAYS("14", "19", ", pools: [train]"), "2026-11-15T12:00:00Z", false,
     true, NULL},
    {"two of them", "o1", DAYS("14", "19", "") ", " DAYS("15", "21", ""), "2026-11-15T12:00:00Z",
     false, false, "2026-11-21T00:00:00Z"},
    {"a flaw does not wait", "o1", DAYS("14", "19", ""), "2026-11-15T12:00:00Z", true, true, NULL},
};

static void test_quiets(void)
{
    for (size_t i = 0; i < LKS_COUNT(quiets); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        struct plans p;
        lks_ms next = 0;
        lks_test_case("%s", quiets[i].name);
        lks_buf_addf(&text, "%sfreezes: [%s]\n%s", FIRST, quiets[i].freezes, STACKS);
        plans_begin(&p, text.ptr);
        propose(&p, (struct lks_plan_wish){.hosts = LKS_STR("g[1-4],o1")});
        uint32_t node = lks_state_node(&p.a.state, lks_str_from(quiets[i].node));
        struct lks_state_change its = *lks_state_change(&p.a.state, 1);
        its.advisory = quiets[i].urgent ? its.name : 0;
        bool may = lks_plan_may_begin(&p.a.state, &p.book, &its, node, at(quiets[i].now), &next);
        CHECK(may == quiets[i].may);
        CHECK(next == (quiets[i].next != NULL ? at(quiets[i].next) : UINT64_MAX));
        plans_end(&p);
    }
}

/* Where the way back was gone before, nobody goes it again. */
static void test_proven(void)
{
    struct plans p;
    plans_begin(&p, FIRST STACKS);
    const struct lks_plan_wish wish = {
        .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    (void)CHECK(plans_make(&p, &wish));
    (void)CHECK_HAS(plans_tell(&p, PLANS_PARTS), "g1 by recipe 0, proves\n");
    struct lks_record r = {.kind = LKS_RECORD_REVERT_PROVEN,
                           .revert_proven = {.class = LKS_STR("hgx-h100-8"),
                                             .from = p.plan.parts[0].from,
                                             .to = p.plan.change.stack,
                                             .change = 1,
                                             .took = 1000,
                                             .node = LKS_STR("g1")}};
    lks_asked_apply(&p.a, &r);
    (void)CHECK(plans_make(&p, &wish));
    (void)CHECK(lks_str_find(plans_tell(&p, PLANS_PARTS), LKS_STR("proves")) < 0);
    plans_end(&p);
}

/* Our own agent: nobody leaves use for it. */
static void test_agent(void)
{
    struct plans p;
    plans_begin(&p, FIRST STACKS);
    const struct lks_plan_wish wish = {.kind = LKS_CHANGE_AGENT,
                                       .hosts = LKS_STR("g[1-4],o1"),
                                       .stack = LKS_STR("1.2.0"),
                                       .hook = LKS_STR("site")};
    (void)CHECK(plans_make(&p, &wish));
    (void)CHECK_HAS(plans_tell(&p, PLANS_STEPS | PLANS_WAVES | PLANS_PARTS),
                    "recipe 0: apply@100(hook platform.agent)");
    (void)CHECK_HAS(plans_tell(&p, PLANS_STEPS | PLANS_WAVES),
                    " check@100 return@20000\nwave 0: canary of several");
    (void)CHECK_STR(p.plan.change.name, "1.2.0");
    (void)CHECK_STR(p.plan.change.stack, "");
    plans_end(&p);
}

/* What is asked for is looked at before anything else. */
static const struct {
    const char *name;
    struct lks_plan_wish wish;
    enum lks_code code;
    const char *message;
} wishes[] = {
    {"no stack", {.pool = LKS_STR_C("train")}, LKS_E_INVALID, "stack: say where to"},
    {"a stack that is not there",
     {.pool = LKS_STR_C("train"), .stack = LKS_STR_C("c")},
     LKS_E_NOT_FOUND,
     "stack: there is no stack 'c'; did you mean 'a'?"},
    {"too strong",
     {.pool = LKS_STR_C("train"), .stack = LKS_STR_C("b"), .strength = 4},
     LKS_E_INVALID,
     "strength: from 1 to 3"},
    {"all of them fail",
     {.pool = LKS_STR_C("train"), .stack = LKS_STR_C("b"), .failure_share = 1000000},
     LKS_E_INVALID,
     "failure share and confidence: less than all, in millionths"},
    {"windows that nobody understands",
     {.pool = LKS_STR_C("train"), .stack = LKS_STR_C("b"), .windows = LKS_STR_C("at night")},
     LKS_E_INVALID,
     "windows: 'at night' is no window; one is written like 'Mon-Fri 22:00-04:00', a whole day as "
     "'Sat 00:00-24:00'"},
    {"over before it begins",
     {.pool = LKS_STR_C("train"), .stack = LKS_STR_C("b"), .not_before = 5, .not_after = 5},
     LKS_E_INVALID,
     "not_after: that time passes before it starts"},
};

static void test_wishes(void)
{
    struct plans p;
    plans_begin(&p, FIRST STACKS);
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        lks_test_case("%s", wishes[i].name);
        (void)CHECK(!plans_make(&p, &wishes[i].wish));
        (void)CHECK_CODE(p.code, wishes[i].code);
        (void)CHECK_STR(lks_str_from(p.err.msg), wishes[i].message);
    }
    plans_end(&p);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan: late joiners", test_joins},
        {"plan: who may begin", test_begins},
        {"plan: days on which nobody begins", test_quiets},
        {"plan: evidence", test_proven},
        {"plan: agent", test_agent},
        {"plan: wishes", test_wishes},
        {0},
    });
}
