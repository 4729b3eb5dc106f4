/*
 * `journal at` beside `node show`.
 *
 * Changes are carried out in the simulated fleets of sim_campaign, in every weather. At random
 * moments, when all rows are durable, each node is rendered as `node show` renders it, from the
 * state of the running engine. When the seed is over, the journal is folded up to each of these
 * moments, from snapshots too, and has to tell the same, byte for byte.
 *
 *     sim_past          run many seeds
 *     sim_past 17       run one
 */
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/view/view.h"
#include "engine/journal.h"
#include "sim/campaign.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SEEDS
#define SEEDS 100
#endif

enum { MOMENTS = 40, ONE_IN = 150 };
#define STORM (150 * CAM_MINUTE)

/* What `node show` said of a node. */
struct said {
    lks_ms at;
    uint64_t seq;
    char name[LKS_HOST_NAME_MAX + 1];
    char *text;   /* owned */
    bool changes; /* its intent was not its pool's pin */
};

static struct said moments[MOMENTS];
static size_t moment_count;
static struct lks_rng chance; /* apart from the world's, which stays as sim_campaign has it */

static struct {
    uint64_t asked, changes, same_ms;
} totals;

static bool intent_differs(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    return n->pool < s->pool_count && lks_state_intent(s, node) != s->pools[n->pool].stack_digest;
}

/* The members that `node show` has of the journal. */
static char *render(const struct lks_state *s, uint32_t node, lks_ms wall)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    struct lks_err err = {0};
    struct lks_json_writer w = {.out = &text};
    lks_json_begin(&w, NULL, '{');
    lks_view_node(&w, s, node, (struct lks_now){.wall = wall}, LKS_USE_LISTED | LKS_USE_SHOWN);
    lks_json_end(&w, '}');
    LKS_ASSERT(lks_buf_check(&text, &err) == LKS_OK);
    return strndup(text.ptr + 1, text.len - 2);
}

static uint32_t random_node(const struct lks_state *s)
{
    uint32_t node = s->node_count == 0 ? 0 : (uint32_t)lks_rng_below(&chance, s->node_count);
    return node < s->node_count && s->nodes[node].placed ? node : LKS_NO_NODE;
}

static void look(const struct cam *w)
{
    if (w->engine == NULL || moment_count == MOMENTS || w->setting_up ||
        lks_engine_seq(w->engine) != lks_engine_durable_seq(w->engine) ||
        lks_rng_below(&chance, ONE_IN) != 0)
        return;
    const struct lks_state *s = lks_engine_state(w->engine);
    uint32_t node = random_node(s);
    if (node == LKS_NO_NODE)
        return;
    struct said *said = &moments[moment_count++];
    struct lks_now now = lks_engine_now(w->engine, cam_now(w));
    struct lks_str name = lks_state_name(s, node);
    *said = (struct said){.at = now.wall, .seq = lks_engine_seq(w->engine)};
    snprintf(said->name, sizeof(said->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    said->text = render(s, node, now.wall);
    said->changes = intent_differs(s, node);
}

/* The same of the journal. Rows of the same millisecond that came later are part of the moment. */
static void compare(struct cam *w, struct lks_store *store, const struct said *said)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(1 << 22);
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&w->key);
    char seq[40];
    CHECK_CODE(lks_journal_at(store, &key, said->at, lks_str_from(said->name), &json, &err),
               LKS_OK);
    snprintf(seq, sizeof(seq), "\"seq\":%" PRIu64 ",", said->seq);
    if (lks_str_find(lks_buf_view(&json), lks_str_from(seq)) < 0) {
        totals.same_ms++;
        return;
    }
    totals.asked++;
    totals.changes += said->changes;
    bool same = lks_str_find(lks_buf_view(&json), lks_str_from(said->text)) >= 0;
    if (!CHECK(same))
        printf("node show: %s\njournal at: %s\n", said->text, json.ptr);
}

/* A world is too large for a stack. */
static struct cam world;

static void run_seed(uint64_t seed)
{
    lks_test_case("seed %" PRIu64, seed);
    cam_init(&world, seed, 0);
    chance = (struct lks_rng){.state = ~seed};
    world.look = look;
    moment_count = 0;
    cam_begin(&world);
    cam_storm(&world, STORM);
    CHECK(!world.broken);
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    if (world.engine != NULL)
        cam_control_crash(&world); /* it has the disk for itself */
    lks_memory_disk_fail(world.disk, LKS_MEMORY_NO_CRASH, 0);
    if (!CHECK_CODE(lks_store_memory_open(world.disk, &store, &err), LKS_OK))
        return;
    for (size_t i = 0; i < moment_count; i++) {
        compare(&world, &store, &moments[i]);
        free(moments[i].text);
    }
    lks_store_close(&store);
    cam_fini(&world);
}

static void test_seeds(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed);
    printf("%" PRIu64 " moments, %" PRIu64 " of them with an intent that is not the pool's pin, "
           "%" PRIu64 " with later rows in their millisecond\n",
           totals.asked, totals.changes, totals.same_ms);
    CHECK(totals.asked > UINT64_C(10) * SEEDS && totals.changes > SEEDS / 2);
    CHECK(totals.same_ms < totals.asked / 4);
}

static void clean_up(void)
{
    cam_tuples_free();
    cam_redfish_free();
}

int main(int argc, char **argv)
{
    uint64_t seed = 0;
    (void)atexit(clean_up);
    if (argc == 2 && lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &seed)) {
        run_seed(seed);
        return lks_test_main((const struct lks_test[]){{0}});
    }
    return lks_test_main((const struct lks_test[]){
        {"past sim: journal at tells what node show said", test_seeds},
        {0},
    });
}
