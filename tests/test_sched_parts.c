/*
 * What lockstep says of nodes, in a scheduler that is written node by node: requests side by side,
 * what becomes of one of them, nodes that left, and the line about a verdict.
 */
#include "core/actions/sched_truth.h"
#include "core/state/state.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define SITE  "oslo"
#define SCHED "kubernetes"

struct world {
    struct lks_asked a;
    struct lks_sched_book b;
    uint32_t nodes;
    lks_ms mono;
    struct lks_arena arena; /* of the last requests */
    struct lks_sched_site_due due[64];
    uint32_t count;
};

static void add_pool(struct world *w, const char *name, const char *sched)
{
    lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_POOL,
                                                .pool = {.name = lks_str_from(name),
                                                         .posture = LKS_STR("pre-training"),
                                                         .enforce = LKS_STR("observe"),
                                                         .sched = lks_str_from(sched)}});
}

/* All nodes answer that they show nothing, or what they should. */
static void answer(struct world *w, bool shows)
{
    struct lks_now now = {.wall = w->mono, .mono = w->mono};
    for (uint32_t i = 0; i < w->a.state.node_count; i++) {
        struct lks_sched_said said = {
            .known = true, .truthful = true, .slotted = true, .digestible = true, .noted = true};
        if (shows)
            lks_sched_truth_of(&w->a.state, i, true, true, &said.truth);
        lks_sched_book_heard(&w->b, i, LKS_STR(SCHED), &said, now, 1);
    }
}

/* How many nodes are published, in w->count requests. */
static uint32_t publish(struct world *w, const char *hidden, uint32_t max)
{
    struct lks_err err = {0};
    uint32_t nodes = 0;
    lks_arena_fini(&w->arena);
    w->arena = (struct lks_arena){.max = 1 << 24};
    CHECK_CODE(lks_sched_truth_due(&w->b, &w->a.state, lks_str_from(hidden), w->mono, max,
                                   &w->arena, w->due, &w->count, &err),
               LKS_OK);
    for (uint32_t i = 0; i < w->count; i++)
        nodes += w->due[i].wish.told_count;
    return nodes;
}

static void set_up(struct world *w, uint32_t nodes, bool shows)
{
    static struct lks_sched_due due[4096];
    struct lks_sched_site_due site;
    struct lks_facts facts = {0};
    struct lks_err err = {0};
    uint32_t count = 0;
    char hosts[32];
    *w = (struct world){.nodes = nodes, .mono = LKS_SCHED_SITES_SCAN};
    lks_asked_init(&w->a);
    add_pool(w, "train", SCHED);
    add_pool(w, "spare", "none");
    snprintf(hosts, sizeof(hosts), "g[1-%u]", nodes);
    lks_fleet_place_at(&w->a, hosts, "train", SITE);
    CHECK_CODE(
        lks_sched_book_due(&w->b, &w->a.state, &facts, w->mono, LKS_COUNT(due), due, &count, &err),
        LKS_OK);
    CHECK_INT(count, nodes);
    w->arena = (struct lks_arena){.max = 1 << 20};
    CHECK_CODE(
        lks_sched_sites_due(&w->b.sites, &w->a.state, w->mono, 1, &w->arena, &site, &count, &err),
        LKS_OK);
    answer(w, shows);
}

static void end(struct world *w)
{
    lks_sched_book_fini(&w->b);
    lks_arena_fini(&w->arena);
    lks_asked_fini(&w->a);
}

static void tell(struct world *w, uint32_t part, enum lks_code code, bool seen)
{
    struct lks_now now = {.wall = w->mono, .mono = w->mono};
    struct lks_err why = {0};
    if (code != LKS_OK)
        (void)!lks_fail(&why, code, "no route to host");
    for (uint32_t i = 0; i < w->due[part].wish.told_count; i++)
        w->due[part].wish.told[i].seen = seen;
    lks_sched_truth_told(&w->b, &w->a.state, w->due[part].site, w->due[part].sched,
                         &w->due[part].wish, &why, now, 1);
}

static void tell_all(struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        tell(w, i, LKS_OK, true);
}

static void test_parts(void)
{
    static const struct {
        const char *name;
        uint32_t nodes, max, requests, published, then; /* the next requests publish so many */
    } rows[] = {
        {"one node", 1, 64, 1, 1, 0},
        {"fewer nodes than parts", 5, 64, 5, 5, 0},
        {"nodes are shared out", 40, 64, 32, 40, 0},
        {"less room", 40, 3, 3, 40, 0},
        {"no more than a part may have", 200, 2, 2, 128, 72},
        {"more nodes than a round has", LKS_SCHED_TOLD_MAX + 7, 64, 32, LKS_SCHED_TOLD_MAX, 7},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct world w;
        lks_test_case("%s", rows[i].name);
        set_up(&w, rows[i].nodes, false);
        CHECK_INT(publish(&w, "", rows[i].max), rows[i].published);
        CHECK_INT(w.count, rows[i].requests);
        for (uint32_t k = 0; k < w.count; k++)
            CHECK(w.due[k].wish.told_count >= rows[i].published / rows[i].requests);
        for (uint32_t k = 0; k + 1 < w.count; k++)
            tell(&w, k, LKS_OK, true);
        struct lks_sched_site_due last = w.due[w.count - 1];
        struct lks_arena kept = w.arena;
        w.arena = (struct lks_arena){0};
        CHECK_INT(publish(&w, "", 64), 0); /* one round at a time */
        w.due[0] = last;
        tell(&w, 0, LKS_OK, true);
        lks_arena_fini(&kept);
        CHECK_INT(publish(&w, "", 64), rows[i].then);
        end(&w);
    }
}

/* Parts fail together, which is one failure; what others did stays. */
static void test_failures(void)
{
    struct world w;
    set_up(&w, 40, false);
    CHECK_INT(publish(&w, "", 4), 40);
    for (uint32_t i = 0; i < w.count; i++)
        tell(&w, i, i == 3 ? LKS_OK : LKS_E_UNAVAILABLE, true);
    const struct lks_sched_site *site =
        lks_sched_sites_find(&w.b.sites, LKS_STR(SITE), LKS_STR(SCHED));
    CHECK_INT(site->publish_failures, 1);
    CHECK_STR(lks_str_from(site->publish_trouble), "no route to host");
    w.mono += LKS_SCHED_TRUTH_PAUSE - 1;
    CHECK_INT(publish(&w, "", 4), 0);
    w.mono += 1;
    CHECK_INT(publish(&w, "", 4), 30);
    tell_all(&w);
    CHECK_STR(lks_str_from(site->publish_trouble), "");
    end(&w);
}

/* The trouble of a node is not lost behind another part. */
static void test_odd(void)
{
    struct world w;
    set_up(&w, 2, false);
    CHECK_INT(publish(&w, "", 2), 2);
    snprintf(w.due[0].wish.told[0].why, sizeof(w.due[0].wish.told[0].why), "a policy");
    tell_all(&w);
    const struct lks_sched_site *site =
        lks_sched_sites_find(&w.b.sites, LKS_STR(SITE), LKS_STR(SCHED));
    CHECK_STR(lks_str_from(site->publish_trouble), "node 'g1': a policy");
    w.mono += LKS_SCHED_TRUTH_AGAIN;
    CHECK_INT(publish(&w, "", 2), 1);
    end(&w);
}

/* A node whose turn did not come is published again at once, and nothing is known of it. */
static void test_open(void)
{
    struct world w;
    set_up(&w, 2, false);
    CHECK_INT(publish(&w, "", 2), 2);
    w.due[1].wish.told[0].open = true;
    tell_all(&w);
    CHECK_INT(w.b.published, 1);
    CHECK_INT(publish(&w, "", 2), 1);
    CHECK_STR(w.due[0].wish.told[0].node, "g2");
    end(&w);
}

/* Nodes that a scheduler returned as they should be are read again after a minute, not at once. */
static void test_seen(void)
{
    for (unsigned seen = 0; seen < 2; seen++) {
        struct world w;
        struct lks_sched_due due[4];
        struct lks_facts facts = {0};
        struct lks_err err = {0};
        uint32_t count = 0;
        lks_test_case("%s", seen ? "seen" : "not seen");
        set_up(&w, 1, false);
        CHECK_INT(publish(&w, "", 1), 1);
        tell(&w, 0, LKS_OK, seen);
        CHECK_CODE(lks_sched_book_due(&w.b, &w.a.state, &facts, w.mono, 4, due, &count, &err),
                   LKS_OK);
        CHECK_INT(count, !seen);
        end(&w);
    }
}

/* A node that is in no such pool any more shows nothing. */
static void test_left(void)
{
    static const struct {
        const char *name, *hidden, *pool; /* NULL: it left the fleet */
        bool shows;
        uint32_t published;
    } rows[] = {
        {"a pool without the scheduler", "", "spare", true, 1},
        {"no fleet", "", NULL, true, 1},
        {"it shows nothing", "", "spare", false, 0},
        {"nothing is to be shown", SCHED, "train", true, 1},
        {"nor is anything shown", SCHED, "train", false, 0},
        {"another scheduler is to show nothing", "slurm", "train", true, 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct world w;
        lks_test_case("%s", rows[i].name);
        set_up(&w, 1, rows[i].shows);
        if (rows[i].pool != NULL)
            lks_fleet_place_at(&w.a, "g1", rows[i].pool, SITE);
        else
            lks_asked_apply(&w.a, &(struct lks_record){.kind = LKS_RECORD_REMOVED,
                                                       .removed = {.hosts = LKS_STR("g1")}});
        CHECK_INT(publish(&w, rows[i].hidden, 4), rows[i].published);
        if (w.count > 0) {
            CHECK_STR(lks_str_from(w.due[0].wish.told[0].truth.features), "");
            tell_all(&w);
            w.mono += 600 * LKS_SECOND;
            CHECK_INT(publish(&w, rows[i].hidden, 4), 0);
        }
        end(&w);
    }
}

/* A line that can be a message anywhere. */
static void test_notes(void)
{
    struct world w;
    struct lks_sched_truth truth;
    struct lks_sched_said said = {.digestible = true, .noted = true};
    set_up(&w, 1, false);
    lks_sched_truth_of(&w.a.state, 0, true, true, &truth);
    CHECK_HAS(lks_str_from(truth.note), "lockstep has no verdict");
    said.truth = truth;
    CHECK(lks_sched_truth_shown(&said, &truth));
    said.truth.note[0] = 'L';
    CHECK(!lks_sched_truth_shown(&said, &truth));
    said.noted = false;
    CHECK(lks_sched_truth_shown(&said, &truth));
    lks_sched_truth_of(&w.a.state, 0, false, true, &truth);
    CHECK_STR(lks_str_from(truth.note), "");
    end(&w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"requests side by side", test_parts},
        {"requests that fail", test_failures},
        {"a node that fails", test_odd},
        {"a node whose turn did not come", test_open},
        {"nodes that were seen", test_seen},
        {"nodes that left", test_left},
        {"lines about verdicts", test_notes},
        {NULL, NULL},
    });
}
