/* Slots of pools: a table of what nodes should run and what the scheduler shows one after the
 * other, and which slots are given then. */
#include "core/actions/sched_truth.h"
#include "core/admission/admit_policy.h"
#include "core/decision/event_node.h"
#include "core/registry/book.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 4, STACKS = 5, STEPS_MAX = 6 };

/* Letters of "abcde" are stacks, one for each node; '-': none. */
struct step {
    const char *runs;  /* what the nodes should run from now on */
    const char *shows; /* the slots that the scheduler shows of them, as digits, '-': none, '?': no
                          answer yet, '*': what they should; NULL: as before */
    const char *slots; /* then: the stack of each slot, '-': none */
    uint32_t without;  /* nodes without a slot */
};

static const struct {
    const char *name;
    struct step steps[STEPS_MAX]; /* ends with one that has no nodes */
} stories[] = {
    {"no stack needs no slot", {{"----", "----", "---", 0}}},
    {"one stack, before an answer", {{"aaaa", "????", "a--", 0}}},
    {"three at once", {{"abca", "****", "abc", 0}}},
    {"the fourth gets none", {{"abcd", "****", "abc", 1}}},
    {"a stack keeps its slot while it is gone",
     {{"aaaa", "****", "a--", 0}, {"bbbb", "****", "ab-", 0}, {"aaaa", "****", "ab-", 0}}},
    {"the lowest that is free is given again",
     {{"abcc", "****", "abc", 0}, {"bbcc", "****", "abc", 0}, {"bbcd", "****", "dbc", 0}}},
    {"not while a node still shows it",
     {{"abcc", "****", "abc", 0}, {"dbcc", "0122", "abc", 1}, {"dbcc", "-122", "dbc", 0}}},
    {"not while a node was not heard",
     {{"abcc", "****", "abc", 0}, {"dbcc", "1?22", "abc", 1}, {"dbcc", "1122", "dbc", 0}}},
    {"a fourth stack gets the slot of one that ends",
     {{"abcd", "012-", "abc", 1}, {"bbcd", "112-", "dbc", 0}}},
};

struct world {
    struct lks_asked a;
    struct lks_sched_book b;
    uint32_t pool, nodes[NODES];
    lks_text stacks[STACKS];
};

static uint32_t add_pool(struct world *w, const char *name, const char *sched)
{
    uint32_t pool = 0;
    for (uint32_t i = STACKS; i-- > 0;) {
        char digest[80];
        snprintf(digest, sizeof(digest), "sha256:%064d", (int)i);
        lks_asked_apply(&w->a,
                        &(struct lks_record){.kind = LKS_RECORD_POOL,
                                             .pool = {.name = lks_str_from(name),
                                                      .posture = LKS_STR("pre-training"),
                                                      .enforce = LKS_STR("on"),
                                                      .sched = lks_str_from(sched),
                                                      .stack = LKS_STR("s"),
                                                      .stack_digest = lks_str_from(digest)}});
        pool = lks_state_pool(&w->a.state, lks_str_from(name));
        w->stacks[i] = w->a.state.pools[pool].stack_digest;
    }
    w->a.state.pools[pool].stack_digest = 0;
    return pool;
}

static void set_up(struct world *w)
{
    *w = (struct world){0};
    lks_asked_init(&w->a);
    w->pool = add_pool(w, "train", "slurm");
    for (uint32_t i = 0; i < NODES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "g%u", i + 1);
        lks_fleet_place(&w->a, name, "train");
        w->nodes[i] = lks_fleet_node(&w->a, name);
    }
}

static void show(struct world *w, uint32_t i, char shown)
{
    struct lks_sched_said said = {.known = true, .truthful = true, .slotted = true};
    struct lks_now now = {.wall = 1, .mono = 1};
    if (shown == '*')
        lks_sched_truth_of(&w->a.state, w->nodes[i], true, true, &said.truth);
    else if (shown != '-')
        snprintf(said.truth.features, sizeof(said.truth.features), "lks-conform,lks%c", shown);
    if (shown != '?')
        lks_sched_book_heard(&w->b, w->nodes[i], LKS_STR("slurm"), &said, now, 1);
    else
        w->b.entries[w->nodes[i]]->heard = false;
}

static void give(struct world *w)
{
    uint32_t from = 0;
    struct lks_event_sched_slot e;
    while (lks_sched_truth_slot_due(&w->b, &w->a.state, &from, &e))
        lks_asked_apply(
            &w->a, &(struct lks_record){
                       .kind = LKS_RECORD_SLOT,
                       .slot = {.pool = lks_state_text(&w->a.state, w->a.state.pools[e.pool].name),
                                .slot = e.slot,
                                .digest = e.digest}});
}

static struct lks_str slots_of(const struct world *w, uint32_t pool,
                               char slots[LKS_STATE_SLOTS + 1])
{
    for (uint32_t k = 0; k < LKS_STATE_SLOTS; k++) {
        slots[k] = '-';
        for (uint32_t i = 0; i < STACKS; i++)
            slots[k] =
                w->a.state.pools[pool].slots[k] == w->stacks[i] ? (char)('a' + (int)i) : slots[k];
    }
    slots[LKS_STATE_SLOTS] = '\0';
    return lks_str_from(slots);
}

static void take_step(struct world *w, const struct step *step)
{
    char slots[LKS_STATE_SLOTS + 1];
    for (uint32_t i = 0; i < NODES; i++)
        w->a.state.nodes[w->nodes[i]].pin =
            step->runs[i] == '-' ? 0 : w->stacks[step->runs[i] - 'a'];
    for (uint32_t i = 0; i < NODES; i++)
        show(w, i, step->shows[i]);
    give(w);
    for (uint32_t i = 0; i < NODES && strcmp(step->shows, "****") == 0; i++)
        show(w, i, '*');
    CHECK_STR(slots_of(w, w->pool, slots), step->slots);
    CHECK_INT(lks_sched_truth_slots(&w->a.state, w->pool).without, step->without);
}

static void test_stories(void)
{
    for (size_t i = 0; i < LKS_COUNT(stories); i++) {
        struct world w;
        struct lks_sched_due due[NODES];
        struct lks_facts facts = {0};
        struct lks_err err = {0};
        uint32_t count = 0;
        set_up(&w);
        CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 1, NODES, due, &count, &err),
                   LKS_OK);
        for (size_t k = 0; k < STEPS_MAX && stories[i].steps[k].runs != NULL; k++) {
            lks_test_case("%s, step %zu", stories[i].name, k);
            take_step(&w, &stories[i].steps[k]);
        }
        lks_sched_book_fini(&w.b);
        lks_asked_fini(&w.a);
    }
}

/* Two pools whose nodes alternate, each with more stacks than slots: each has its own, and what is
 * free in one of them is nothing to the other. */
static const struct {
    const char *name;
    const char *runs[2], *shows[2], *slots[2]; /* of each pool */
} pairs[] = {
    {"each gets three", {"abcd", "eacd"}, {"****", "****"}, {"abc", "eac"}},
    {"each is full", {"abcd", "eacd"}, {"012-", "012-"}, {"abc", "eac"}},
    {"one is free in the second", {"abcd", "eecd"}, {"012-", "002-"}, {"abc", "edc"}},
    {"and in the first", {"accd", "eecd"}, {"022-", "002-"}, {"adc", "edc"}},
    {"each is full again", {"adcb", "eecd"}, {"012-", "0021"}, {"adc", "edc"}},
};

static void test_pairs(void)
{
    struct world w;
    struct lks_sched_due due[2 * NODES];
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint32_t count = 0, pools[2], nodes[2][NODES];
    set_up(&w);
    pools[0] = w.pool;
    pools[1] = add_pool(&w, "batch", "slurm");
    for (uint32_t i = 0; i < NODES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "g%u", i + 1);
        lks_fleet_place(&w.a, name, i % 2 == 0 ? "train" : "batch");
        nodes[i % 2][i / 2] = lks_fleet_node(&w.a, name);
        snprintf(name, sizeof(name), "h%u", i + 1);
        lks_fleet_place(&w.a, name, i % 2 == 0 ? "batch" : "train");
        nodes[1 - i % 2][NODES / 2 + i / 2] = lks_fleet_node(&w.a, name);
    }
    CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 1, 2 * NODES, due, &count, &err),
               LKS_OK);
    for (size_t k = 0; k < LKS_COUNT(pairs); k++) {
        lks_test_case("%s", pairs[k].name);
        for (uint32_t i = 0; i < 2 * NODES; i++) {
            uint32_t p = i / NODES, n = i % NODES;
            w.nodes[n] = nodes[p][n];
            w.a.state.nodes[w.nodes[n]].pin = w.stacks[pairs[k].runs[p][n] - 'a'];
            show(&w, n, pairs[k].shows[p][n]);
        }
        give(&w);
        for (uint32_t p = 0; p < 2; p++) {
            char slots[LKS_STATE_SLOTS + 1];
            CHECK_STR(slots_of(&w, pools[p], slots), pairs[k].slots[p]);
        }
    }
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

/* Slots are for schedulers that verdicts are published to. */
static void test_scheds(void)
{
    static const struct {
        const char *sched, *slots;
    } rows[] = {
        {"slurm", "a--"},           {"slurm+kubernetes", "a--"}, {"kubernetes+slurm", "a--"},
        {"slurm+simulated", "a--"}, {"kubernetes", "a--"},       {"none", "---"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct world w;
        char slots[LKS_STATE_SLOTS + 1];
        set_up(&w);
        lks_test_case("%s", rows[i].sched);
        (void)add_pool(&w, "train", rows[i].sched);
        w.a.state.nodes[w.nodes[0]].pin = w.stacks[0];
        give(&w);
        CHECK_STR(slots_of(&w, w.pool, slots), rows[i].slots);
        lks_sched_book_fini(&w.b);
        lks_asked_fini(&w.a);
    }
}

/* A node shows what was published to it, also before the next answer about it. */
static void test_told(void)
{
    static const char *const pins = "abca";
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 22};
    struct world w;
    struct lks_sched_due due[NODES];
    struct lks_sched_site_due site_due;
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    char slots[LKS_STATE_SLOTS + 1];
    uint32_t count = 0;
    set_up(&w);
    CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, 1, NODES, due, &count, &err), LKS_OK);
    CHECK_CODE(lks_sched_sites_due(&w.b.sites, &w.a.state, 1, 1, &arena, &site_due, &count, &err),
               LKS_OK);
    for (uint32_t i = 0; i < NODES; i++)
        w.a.state.nodes[w.nodes[i]].pin = w.stacks[pins[i] - 'a'];
    give(&w);
    for (uint32_t i = 0; i < NODES; i++)
        show(&w, i, '*');
    w.a.state.nodes[w.nodes[2]].pin = w.stacks[3];
    give(&w);
    CHECK_STR(slots_of(&w, w.pool, slots), "abc");
    struct lks_sched_told told = {.node = LKS_STR("g3")};
    const struct lks_sched_site_wish wish = {
        .verb = LKS_SCHED_SITE_PUBLISH, .told = &told, .told_count = 1};
    const struct lks_sched_site *site = w.b.sites.items[0];
    lks_sched_truth_of(&w.a.state, w.nodes[2], true, true, &told.truth);
    lks_sched_truth_told(&w.b, &w.a.state, site->site, site->sched, &wish, &err,
                         (struct lks_now){.wall = 2, .mono = 2}, 1);
    give(&w);
    CHECK_STR(slots_of(&w, w.pool, slots), "abd");
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

/* What is published of a node, and to a bridge that knows no slots. */
static void test_published(void)
{
    struct world w;
    struct lks_sched_truth truth;
    set_up(&w);
    w.a.state.nodes[w.nodes[0]].pin = w.stacks[1];
    w.a.state.pools[w.pool].slots[2] = w.stacks[1];
    lks_sched_truth_of(&w.a.state, w.nodes[0], true, true, &truth);
    CHECK_STR(lks_str_from(truth.features), "lks-000000000000,lks-unknown,lks2");
    lks_sched_truth_of(&w.a.state, w.nodes[0], true, false, &truth);
    CHECK_STR(lks_str_from(truth.features), "lks-000000000000,lks-unknown");
    CHECK_INT(lks_sched_truth_slots(&w.a.state, w.pool).used, 1);
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

/* What happens to the policy of submissions: it goes to each bridge that takes it, every 30 s, one
 * request at a time. */
static const struct {
    const char *name;
    lks_ms mono;
    bool takes;
    unsigned bridge; /* that is meant */
    enum { NOTHING, WRITTEN, NO_FILE, FAILS } told;
    bool due;
} steps[] = {
    {"a bridge of before", 10, false, 0, NOTHING, false},
    {"one that takes it", 20, true, 0, NOTHING, true},
    {"one request at a time", 30, true, 0, NOTHING, false},
    {"the other bridge of the site is told as well", 30, true, 1, NOTHING, true},
    {"a bridge of all sites", 30, true, 2, NOTHING, true},
    {"one of another site is not", 30, true, 3, NOTHING, false},
    {"it is confirmed after a while, not at once", 40, true, 0, WRITTEN, false},
    {"another one fails", 40, true, 1, FAILS, false},
    {"and the third has no file", 40, true, 2, NO_FILE, false},
    {"and then", 40 + LKS_SCHED_SITES_POLICY, true, 0, NOTHING, true},
    {"after a failure as well", 40 + LKS_SCHED_SITES_POLICY, true, 1, NOTHING, true},
    {"it comes back", 50 + LKS_SCHED_SITES_POLICY, true, 1, WRITTEN, false},
    {"the first one fails", 50 + LKS_SCHED_SITES_POLICY, true, 0, FAILS, false},
    {"again", 50 + 2 * LKS_SCHED_SITES_POLICY, true, 0, NOTHING, true},
};

static void take_policy_step(struct world *w, size_t i, struct lks_arena *arena)
{
    struct lks_sched_site *site = w->b.sites.items[0];
    const struct lks_sched_sites_bridge bridges[] = {
        {site->site, site->sched, LKS_STR("https://one")},
        {site->site, site->sched, LKS_STR("https://two")},
        {LKS_STR("*"), site->sched, LKS_STR("https://two")},
        {LKS_STR("elsewhere"), site->sched, LKS_STR("https://two")}};
    const struct lks_sched_sites_bridge *bridge = &bridges[steps[i].bridge];
    const struct lks_facts facts = {0};
    const struct lks_book book = {.facts = &facts};
    const struct lks_admit_policy_how how = {600, LKS_STR(""), true};
    struct lks_sched_sites_policy_look look = {
        .book = &book, .how = &how, .mono = steps[i].mono, .speed = 1};
    bool fails = steps[i].told == FAILS;
    const struct lks_err why = {.code = fails ? LKS_E_UNAVAILABLE : LKS_OK, .msg = "away"};
    struct lks_now now = {.wall = 7, .mono = steps[i].mono};
    struct lks_sched_site_due due;
    site->takes_policy = steps[i].takes;
    if (steps[i].told != NOTHING)
        lks_sched_sites_policy_told(&w->b.sites, bridge, &why, steps[i].told == WRITTEN, now, 1);
    bool is_due = lks_sched_sites_policy_due(&w->b.sites, &w->a.state, &look, bridge, arena, &due);
    CHECK_INT(is_due, steps[i].due);
    if (is_due) {
        CHECK(due.wish.verb == LKS_SCHED_SITE_POLICY);
        CHECK_HAS(due.wish.policy, "{\"policy\":{\"pools\":[{\"name\":\"train\"");
        CHECK_STR(due.url, bridge->url.ptr);
    }
    const struct lks_sched_sites_policy *p = lks_sched_sites_policy_find(&w->b.sites, bridge);
    if (steps[i].told == NOTHING || !CHECK(p != NULL))
        return;
    CHECK_STR(lks_str_from(p->trouble), fails ? "away" : "");
    CHECK_INT(p->fileless, steps[i].told == NO_FILE);
}

static void test_policy(void)
{
    struct world w;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 22};
    struct lks_sched_site_due due;
    struct lks_err err = {0};
    uint32_t count = 0;
    set_up(&w);
    CHECK_CODE(lks_sched_sites_due(&w.b.sites, &w.a.state, 1, 1, &arena, &due, &count, &err),
               LKS_OK);
    CHECK_INT(w.b.sites.count, 1);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%s", steps[i].name);
        take_policy_step(&w, i, &arena);
    }
    CHECK_INT(w.b.sites.policy_count, 3);
    CHECK_INT(w.b.sites.policies[0].written, 7); /* of the last one that was written */
    CHECK_INT(w.b.sites.policies[2].written, 0);
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

/* Nodes at a site, whose bridges take the policy from now on. */
static void open_site(struct world *w, const char *site, const char *hosts)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 22};
    struct lks_sched_site_due due[32];
    struct lks_err err = {0};
    uint32_t count = 0;
    lks_fleet_place_at(&w->a, hosts, "train", site);
    w->b.sites.scan = 0;
    CHECK_CODE(lks_sched_sites_due(&w->b.sites, &w->a.state, 1, 32, &arena, due, &count, &err),
               LKS_OK);
    struct lks_sched_site *at =
        lks_sched_sites_get(&w->b.sites, lks_str_from(site), LKS_STR("slurm"));
    if (CHECK(at != NULL))
        at->takes_policy = true;
}

/* Names that fold into no range, and are too long for a policy together. */
static void open_long_site(struct world *w, const char *site)
{
    enum { COUNT = 4000, BYTES = 200 };
    char name[BYTES + 1];
    for (uint32_t i = 0; i < COUNT; i++) {
        memset(name, 'x', BYTES);
        for (uint32_t k = 0, rest = i; k < 4; k++, rest /= 26)
            name[k] = (char)('a' + rest % 26);
        name[BYTES] = '\0';
        lks_fleet_place_at(&w->a, name, "train", site);
    }
    open_site(w, site, "last");
}

static const struct lks_facts no_facts;
static const struct lks_book no_book = {.facts = &no_facts};
static const struct lks_admit_policy_how how_always = {.stale = 600, .slots = true};

/* A look at one bridge after the other; which of them are told, as "x." */
static struct lks_str look_at(struct world *w, const struct lks_sched_sites_bridge *bridges,
                              size_t count, lks_ms mono, struct lks_arena *arena, uint32_t *texts)
{
    static char told[32];
    struct lks_sched_sites_policy_look look = {
        .book = &no_book, .how = &how_always, .mono = mono, .speed = 1};
    for (size_t i = 0; i < count; i++) {
        struct lks_sched_site_due due;
        bool is_due =
            lks_sched_sites_policy_due(&w->b.sites, &w->a.state, &look, &bridges[i], arena, &due);
        told[i] = is_due ? 'x' : '.';
        CHECK(!is_due || due.wish.policy.len > 0);
    }
    told[count] = '\0';
    *texts = look.count;
    return lks_str_from(told);
}

/* A policy that is too long is reported, and neither written at each look nor in the way of the
 * policies of other sites. */
static void test_long_policy(void)
{
    struct world w;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 24};
    const struct lks_sched_sites_bridge bridges[] = {
        {LKS_STR("long"), LKS_STR("slurm"), LKS_STR("https://one")},
        {LKS_STR("long"), LKS_STR("slurm"), LKS_STR("https://two")},
        {LKS_STR("oslo"), LKS_STR("slurm"), LKS_STR("https://three")},
        {LKS_STR("oslo"), LKS_STR("slurm"), LKS_STR("https://four")}};
    uint32_t texts = 0;
    set_up(&w);
    open_long_site(&w, "long");
    open_site(&w, "oslo", "o[1-4]");
    lks_test_case("at first");
    CHECK_STR(look_at(&w, bridges, 4, 1, &arena, &texts), "..xx");
    CHECK_INT(texts, 2); /* bridges of one site share theirs */
    for (size_t i = 0; i < 4; i++) {
        const struct lks_sched_sites_policy *p =
            lks_sched_sites_policy_find(&w.b.sites, &bridges[i]);
        if (CHECK(p != NULL))
            CHECK_HAS(lks_str_from(p->trouble), i < 2 ? "take more than 786432 bytes" : "");
        CHECK(p != NULL && (i < 2) == (p->trouble[0] != '\0'));
    }
    lks_test_case("at the next look");
    CHECK_STR(look_at(&w, bridges, 4, 501, &arena, &texts), "....");
    CHECK_INT(texts, 0);
    lks_test_case("after 30 s");
    CHECK_STR(look_at(&w, bridges, 4, 1 + LKS_SCHED_SITES_POLICY, &arena, &texts), "....");
    CHECK_INT(texts, 1);
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

/* A look writes a few texts, and the next one the others. */
static void test_many_policies(void)
{
    enum { SITES = LKS_SCHED_SITES_TEXTS + 2 };
    struct world w;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 24};
    struct lks_sched_sites_bridge bridges[SITES];
    char sites[SITES][8], hosts[8];
    uint32_t texts = 0;
    set_up(&w);
    for (uint32_t i = 0; i < SITES; i++) {
        snprintf(sites[i], sizeof(sites[i]), "s%u", (unsigned)i);
        snprintf(hosts, sizeof(hosts), "h%u", (unsigned)i);
        open_site(&w, sites[i], hosts);
        bridges[i] = (struct lks_sched_sites_bridge){lks_str_from(sites[i]), LKS_STR("slurm"),
                                                     LKS_STR("https://one")};
    }
    CHECK_STR(look_at(&w, bridges, SITES, 1, &arena, &texts), "xxxxxxxx..");
    CHECK_STR(look_at(&w, bridges, SITES, 501, &arena, &texts), "........xx");
    CHECK_INT(texts, 2);
    lks_sched_book_fini(&w.b);
    lks_asked_fini(&w.a);
}

static const struct lks_test tests[] = {
    {"slots: stories", test_stories},
    {"slots: two pools", test_pairs},
    {"slots: schedulers", test_scheds},
    {"slots: what is published", test_published},
    {"slots: what was published", test_told},
    {"slots: the policy of submissions", test_policy},
    {"slots: a policy that is too long", test_long_policy},
    {"slots: policies of many sites", test_many_policies},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
