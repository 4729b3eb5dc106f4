/* What holds of every plan, whatever the fleet. */
#include "base/rng.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#include <string.h>

enum { FLEETS = 20, NODES_MAX = 512, POOLS = 3, TEXT_MAX = 1 << 20 };

#define STACK(name, driver, version)                                                               \
    "---\n" LKS_STACK_HGX(name, "hgx-h100-8, hgx-h200-8", driver,                                  \
                          "firmware:\n  - {class: bmc, version: '" version                         \
                          "'}\n  - {class: bios, version: '" version                               \
                          "'}\n  - {class: nic, version: '" version                                \
                          "'}\n  - {class: cpld, version: '" version                               \
                          "'}\n  - {class: nvos, version: '" version "'}\n")
#define BMC ", bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/c'}"

static const char *const classes[] = {"bmc", "bios", "nic", "cpld", "nvos"};

/* Images of both versions; of cpld the old one only where there is to be a way back. */
static void add_images(struct plans *p, bool cpld_back)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_buf_addf(&text, "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\","
                        "\"artifacts\":[");
    for (unsigned i = 0; i < 2 * LKS_COUNT(classes); i++) {
        const char *class = classes[i / 2];
        if (i % 2 == 0 && strcmp(class, "cpld") == 0 && !cpld_back)
            continue;
        lks_buf_addf(&text,
                     "%s{\"name\":\"%s-%u\",\"digest\":\"sha256:%064x\",\"size\":5,"
                     "\"component\":\"%s\",\"version\":\"%u\",\"kind\":\"firmware\"}",
                     i > 0 ? "," : "", class, i % 2 + 1, i + 1, class, i % 2 + 1);
    }
    lks_buf_addf(&text, "]}");
    plans_bundle(p, text.ptr);
}

/* A fleet ----------------------------------------------------------------------------------- */

struct fleet {
    unsigned headroom[POOLS];
    unsigned groups;
    bool cpld_back;
    struct lks_buf text;
};

static void add_group(struct fleet *f, struct lks_rng *rng, unsigned i)
{
    unsigned size = 1 + (unsigned)lks_rng_below(rng, 12),
             pool = (unsigned)lks_rng_below(rng, POOLS);
    bool domain = lks_rng_below(rng, 4) == 0;
    lks_buf_addf(&f->text,
                 "  - {hosts: 'n%02u-[1-%u]', pool: p%u, class: hgx-h%u00-8, hardware_revision: "
                 "R%u, supplier: s%u, rack: K%u" BMC,
                 i, size, pool, 1 + (unsigned)lks_rng_below(rng, 2),
                 (unsigned)lks_rng_below(rng, 3), (unsigned)lks_rng_below(rng, 3), i / 2);
    if (domain)
        lks_buf_addf(&f->text, ", domain: d%02u", i);
    lks_buf_addf(&f->text, "}\n");
}

/* `turned`: the same fleet, with its groups in another order. */
static void make_fleet(struct fleet *f, uint64_t seed, bool turned)
{
    static const char *const postures[POOLS] = {"pre-training", "batch", "dev"};
    struct lks_rng rng = {seed};
    lks_buf_init(&f->text, TEXT_MAX);
    f->groups = 1 + (unsigned)lks_rng_below(&rng, 40);
    f->cpld_back = lks_rng_below(&rng, 2) == 0;
    lks_buf_addf(&f->text, "lockstep: 1\nkind: Fleet\nname: f\nspares: {cpld: 2}\npools:\n");
    for (unsigned i = 0; i < POOLS; i++) {
        f->headroom[i] = 12 + (unsigned)lks_rng_below(&rng, 40);
        lks_buf_addf(&f->text, "  p%u: {posture: %s, stack: a, criticality: %u, headroom: %u}\n", i,
                     postures[lks_rng_below(&rng, POOLS)], (unsigned)lks_rng_below(&rng, 100),
                     f->headroom[i]);
    }
    lks_buf_addf(&f->text, "domains:\n  unused: {}\n");
    for (unsigned i = 0; i < f->groups; i++)
        lks_buf_addf(&f->text, "  d%02u: {}\n", i);
    lks_buf_addf(&f->text, "nodes:\n");
    for (unsigned i = 0; i < f->groups; i++) {
        unsigned n = turned ? f->groups - 1 - i : i;
        struct lks_rng own = {seed * 1000 + n};
        add_group(f, &own, n);
    }
    lks_buf_addf(&f->text, "assets:\n");
    for (unsigned i = 0; i < f->groups; i += 3)
        lks_buf_addf(&f->text, "  - {hosts: 'sw%02u', class: switch-tray, domain: d%02u" BMC "}\n",
                     i, i);
    lks_buf_addf(&f->text, "%s", STACK("a", "580.126.20", "1") STACK("b", "580.130.01", "2"));
}

/* Everybody, by name. */
static void name_all(const struct plans *p, struct lks_buf *out)
{
    static struct lks_str names[NODES_MAX];
    size_t count = 0;
    struct lks_err err = {0};
    for (uint32_t i = 0; i < p->a.state.node_count; i++) {
        if (p->a.state.nodes[i].asset == 0)
            names[count++] = lks_state_name(&p->a.state, i);
    }
    lks_buf_init(out, TEXT_MAX);
    LKS_ASSERT(lks_hostlist_fold(names, count, out, &err) == LKS_OK);
}

static bool make(struct plans *p, uint64_t seed, bool turned, struct fleet *f)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = {0};
    make_fleet(f, seed, turned);
    plans_begin(p, f->text.ptr);
    add_images(p, f->cpld_back);
    for (uint32_t i = 0; i < p->a.state.node_count; i++) {
        struct lks_rng rng = {seed};
        struct lks_str name = lks_state_name(&p->a.state, i);
        for (size_t k = 0; k < name.len; k++)
            rng.state += (uint64_t)(unsigned char)name.ptr[k] << (k % 8 * 7);
        if (p->a.state.nodes[i].asset == 0 && lks_rng_below(&rng, 12) == 0)
            lks_asked_apply(
                &p->a, &(struct lks_record){
                           .kind = LKS_RECORD_HELD,
                           .held = {.node = name, .by = LKS_STR("kim"), .reason = LKS_STR("fan")}});
    }
    name_all(p, &hosts);
    const struct lks_plan_wish wish = {.hosts = lks_buf_view(&hosts),
                                       .stack = LKS_STR("b"),
                                       .hook = LKS_STR("site"),
                                       .one_way = true,
                                       .strength = 1 + (unsigned)(seed % 3),
                                       .failure_share = seed % 4 == 0 ? 100000 : 0,
                                       .canary_max = seed % 5 == 0 ? 20 : 0};
    if (plans_make(p, &wish))
        return true;
    (void)CHECK_STR(lks_str_from(p->err.msg), "");
    return false;
}

/* Steps ------------------------------------------------------------------------------------- */

static void check_recipe(const struct lks_rec_plan_step *s, size_t count)
{
    bool left = false, one_way = false;
    (void)CHECK(s[count - 1].kind == LKS_DO_RETURN && s[count - 2].kind == LKS_DO_ACCEPT);
    for (size_t i = 0; i < count; i++) {
        bool works = s[i].kind >= LKS_DO_APPLY && s[i].kind <= LKS_DO_REBOOT;
        (void)CHECK_INT(s[i].index, i);
        (void)CHECK(i == 0 || s[i].rank >= s[i - 1].rank);
        (void)CHECK(s[i].limit > 0);
        (void)CHECK(s[i].kind != LKS_DO_STAGE || !left);
        left |= s[i].kind == LKS_DO_LEAVE;
        (void)CHECK(!works || left);
        one_way |= s[i].one_way && s[i].kind != LKS_DO_STAGE;
        (void)CHECK(!works || s[i].one_way || s[i].kind == LKS_DO_REBOOT || !one_way);
        /* The last of a layer is a look at it. */
        if (works && s[i + 1].layer != s[i].layer)
            (void)CHECK(s[i].kind == LKS_DO_CHECK);
    }
}

static void check_recipes(const struct plans *p)
{
    const struct lks_plan *plan = &p->plan;
    size_t first = 0, recipes = 0;
    for (size_t i = 1; i <= plan->step_count; i++) {
        if (i < plan->step_count && plan->steps[i].recipe == plan->steps[first].recipe)
            continue;
        (void)CHECK_INT(plan->steps[first].recipe, recipes);
        check_recipe(plan->steps + first, i - first);
        first = i;
        recipes++;
    }
    (void)CHECK_INT(recipes, plan->recipe_count);
}

/* Waves ------------------------------------------------------------------------------------- */

static int64_t wave_of[NODES_MAX];
static uint32_t unit_of[NODES_MAX];

/* All nodes are in it once, domains are whole, and of assets there are those with work. */
static void check_members(const struct plans *p)
{
    const struct lks_state *s = &p->a.state;
    uint32_t units = 0, nodes = 0, assets = 0;
    (void)CHECK(plans_waves(p, wave_of, unit_of, &units));
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        nodes += n->asset == 0;
        assets += n->asset != 0 && wave_of[i] >= 0;
        (void)CHECK(n->asset != 0 || wave_of[i] >= 0);
        for (uint32_t k = 0; n->domain != 0 && k < i; k++) {
            if (s->nodes[k].domain == n->domain)
                (void)CHECK(unit_of[k] == unit_of[i] && wave_of[k] == wave_of[i]);
        }
    }
    (void)CHECK_INT(p->plan.nodes, nodes);
    (void)CHECK_INT(p->plan.assets, assets);
    (void)CHECK_INT(p->plan.units, units);
}

/* Were all that may be under way of one pool, it would keep what it has to. */
static void check_widths(const struct plans *p, const struct fleet *f)
{
    const struct lks_state *s = &p->a.state;
    for (size_t w = 0; w < p->plan.wave_count; w++) {
        for (uint32_t pool = 0; pool < s->pool_count; pool++) {
            static uint64_t sizes[NODES_MAX];
            uint64_t largest = 0, all = 0, width = p->plan.waves[w].width;
            unsigned number = (unsigned)(lks_state_text(s, s->pools[pool].name).ptr[1] - '0');
            memset(sizes, 0, sizeof(sizes));
            for (uint32_t i = 0; i < s->node_count; i++) {
                if (wave_of[i] != (int64_t)w || s->nodes[i].asset != 0 || s->nodes[i].pool != pool)
                    continue;
                all++;
                sizes[unit_of[i]]++;
                largest = sizes[unit_of[i]] > largest ? sizes[unit_of[i]] : largest;
            }
            uint64_t out = width * largest < all ? width * largest : all;
            (void)CHECK(width > 0 && out <= f->headroom[number]);
        }
    }
}

/* Were all that may be under way of one rack, three quarters of it would stay. */
static void check_racks(const struct plans *p)
{
    const struct lks_state *s = &p->a.state;
    for (uint32_t i = 0; i < s->node_count; i++) {
        static bool seen[NODES_MAX];
        uint64_t all = 0, here = 0, width = p->plan.waves[wave_of[i] < 0 ? 0 : wave_of[i]].width;
        memset(seen, 0, sizeof(seen));
        for (uint32_t k = 0; s->nodes[i].asset == 0 && k < s->node_count; k++) {
            if (s->nodes[k].asset != 0 || s->nodes[k].rack != s->nodes[i].rack || seen[unit_of[k]])
                continue;
            seen[unit_of[k]] = true;
            all++;
            here += wave_of[k] == wave_of[i];
        }
        (void)CHECK((here < width ? here : width) <= (all + 3) / 4);
    }
}

/* From the lab by the canary to rings of ever more critical pools. */
static void check_order(const struct plans *p)
{
    const struct lks_state *s = &p->a.state;
    uint32_t last = 0;
    for (size_t w = 0; w < p->plan.wave_count; w++) {
        const struct lks_rec_plan_wave *wave = &p->plan.waves[w];
        (void)CHECK(w == 0 || wave->kind >= p->plan.waves[w - 1].kind);
        if (wave->kind != LKS_WAVE_RING)
            continue;
        uint32_t critical = s->pools[lks_state_pool(s, wave->pool)].criticality;
        (void)CHECK(critical >= last);
        last = critical;
    }
}

/* Who is compared with a wave does not change before it is over. */
static void check_controls(const struct plans *p)
{
    for (size_t w = 0; w < p->plan.wave_count; w++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_hostlist hosts = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, TEXT_MAX);
        (void)CHECK_CODE(lks_hostlist_parse(p->plan.waves[w].controls, &arena, &hosts, &err),
                         LKS_OK);
        for (size_t i = 0; i < hosts.count; i++)
            (void)CHECK(wave_of[lks_state_node(&p->a.state, hosts.names[i])] > (int64_t)w);
    }
}

/* The way back is gone once for each class, before anybody else of it begins. */
static void check_proofs(const struct plans *p)
{
    const struct lks_state *s = &p->a.state;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_text seen[8];
    size_t count = 0;
    lks_arena_init(&arena, TEXT_MAX);
    for (size_t i = 0; i < p->plan.part_count; i++) {
        struct lks_hostlist hosts = {0};
        struct lks_err err = {0};
        LKS_ASSERT(lks_hostlist_parse(p->plan.parts[i].hosts, &arena, &hosts, &err) == LKS_OK);
        for (size_t h = 0; h < hosts.count; h++) {
            const struct lks_node *n = &s->nodes[lks_state_node(s, hosts.names[h])];
            lks_text class = n->asset != 0 ? n->asset : n->class;
            bool known = false;
            for (size_t k = 0; k < count; k++)
                known |= seen[k] == class;
            (void)CHECK(known || p->plan.parts[i].proves);
            if (!known && count < LKS_COUNT(seen))
                seen[count++] = class;
        }
    }
}

/* What the canary has: by class, revision, supplier, rack and pool, all pairs that production has;
 * unless somebody is told. */
static void check_canary(const struct plans *p)
{
    enum { WIDTH = 5 };
    const struct lks_state *s = &p->a.state;
    static uint32_t rows[NODES_MAX][WIDTH];
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        const uint32_t row[WIDTH] = {n->class, n->hardware_revision, n->supplier, n->rack, n->pool};
        memcpy(rows[i], row, sizeof(row));
    }
    for (size_t i = 0; i < p->plan.note_count; i++) {
        if (p->plan.notes[i].kind == LKS_PLAN_UNCOVERED)
            return;
    }
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (s->nodes[i].asset != 0 || p->plan.waves[wave_of[i]].kind == LKS_WAVE_LAB)
            continue;
        for (size_t pair = 0; pair < (size_t)WIDTH * WIDTH; pair++) {
            size_t x = pair / WIDTH, y = pair % WIDTH;
            bool found = false;
            for (uint32_t k = 0; k < s->node_count && !found; k++)
                found = s->nodes[k].asset == 0 &&
                        p->plan.waves[wave_of[k]].kind == LKS_WAVE_CANARY &&
                        rows[k][x] == rows[i][x] && rows[k][y] == rows[i][y];
            (void)CHECK(found);
        }
    }
}

static void test_properties(void)
{
    size_t covered = 0, one_way = 0;
    for (uint64_t seed = 1; seed <= FLEETS; seed++) {
        struct plans p, again;
        struct fleet f = {0}, turned = {0};
        lks_test_case("seed %llu", (unsigned long long)seed);
        bool made = make(&p, seed, false, &f), twice = make(&again, seed, true, &turned);
        if (CHECK(made && twice)) {
            check_recipes(&p);
            check_members(&p);
            check_widths(&p, &f);
            check_racks(&p);
            check_order(&p);
            check_controls(&p);
            check_proofs(&p);
            if (seed % 3 != 0) /* pairs, or more */
                check_canary(&p);
            covered += lks_str_find(plans_tell(&p, PLANS_NOTES), LKS_STR("uncovered:")) < 0;
            one_way += !f.cpld_back;
            /* The same question, the same plan, wherever nodes are in memory. */
            struct lks_str other = plans_tell(&again, PLANS_ALL), one = plans_tell(&p, PLANS_ALL);
            (void)CHECK(lks_str_eq(one, other));
        }
        plans_end(&p);
        plans_end(&again);
        lks_buf_fini(&f.text);
        lks_buf_fini(&turned.text);
    }
    lks_test_case("the sample has both");
    (void)CHECK(covered > 2 && covered < FLEETS && one_way > 2 && one_way < FLEETS);
}

/* Orders of layers -------------------------------------------------------------------------- */

enum { LAYERS = 5, ORDERS = 30 };
static const char *const layer_names[LAYERS] = {"driver", "bmc", "bios", "nic", "cpld"};

/* By layer: those that have to be done before it. */
static bool holds(const unsigned before[LAYERS], const unsigned *order)
{
    unsigned done = 0;
    for (size_t i = 0; i < LAYERS; i++) {
        if ((before[order[i]] & ~done) != 0)
            return false;
        done |= 1U << order[i];
    }
    return true;
}

/* Whether any of all orders holds. */
static bool any_holds(const unsigned before[LAYERS])
{
    unsigned order[LAYERS];
    for (unsigned n = 0; n < 3125; n++) {
        unsigned seen = 0, rest = n;
        for (size_t i = 0; i < LAYERS; i++, rest /= LAYERS) {
            order[i] = rest % LAYERS;
            seen |= 1U << order[i];
        }
        if (seen == (1U << LAYERS) - 1 && holds(before, order))
            return true;
    }
    return false;
}

static unsigned layer_of(const struct lks_rec_plan_step *s)
{
    for (unsigned i = 1; i < LAYERS; i++) {
        if (lks_str_is(s->component, layer_names[i]))
            return i;
    }
    return 0;
}

/* Each edge says: where the one is new, the other has to be. */
static void make_edges(struct lks_rng *rng, unsigned before[LAYERS], struct lks_buf *out)
{
    lks_buf_init(out, TEXT_MAX);
    lks_buf_addf(out, "id,kind,component,range,other,other_range,gpus,condition,note,status,"
                      "source\n");
    for (unsigned i = 0; i < LAYERS * LAYERS; i++) {
        unsigned one = i / LAYERS, other = i % LAYERS;
        if (one == other || lks_rng_below(rng, 7) != 0)
            continue;
        before[one] |= 1U << other;
        lks_buf_addf(out, "e%u,requires,%s,>=%s,%s,>=%s,,,,confirmed,a test\n", i, layer_names[one],
                     one == 0 ? "580.130" : "2", layer_names[other], other == 0 ? "580.130" : "2");
    }
}

static void check_orders(const struct plans *p, const unsigned before[LAYERS])
{
    unsigned done = 0;
    for (size_t i = 0; p->code == LKS_OK && i < p->plan.step_count; i++) {
        const struct lks_rec_plan_step *s = &p->plan.steps[i];
        if (s->kind < LKS_DO_APPLY || s->kind > LKS_DO_ACTIVATE)
            continue;
        (void)CHECK((before[layer_of(s)] & ~done) == 0);
        done |= 1U << layer_of(s);
    }
}

static void test_orders(void)
{
    size_t made = 0;
    for (uint64_t seed = 1; seed <= ORDERS; seed++) {
        LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf edges = {0};
        struct lks_rng rng = {seed};
        unsigned before[LAYERS] = {0, 0, 1U << 1, 0, 1U << 1}; /* bios and cpld wait for bmc */
        struct lks_err err = {0};
        struct plans p;
        lks_test_case("seed %llu", (unsigned long long)seed);
        make_edges(&rng, before, &edges);
        const struct lks_facts_file file = {"requires.csv", "requires.csv", lks_buf_view(&edges)};
        if (!CHECK_CODE(lks_facts_load(lks_embedded_data, &file, 1, &facts, &err), LKS_OK))
            continue;
        plans_begin(&p, "lockstep: 1\nkind: Fleet\nname: f\npools: {train: {posture: "
                        "pre-training, stack: a}}\nnodes: [{hosts: g1, pool: train, class: "
                        "hgx-h100-8" BMC "}]\n" STACK("a", "580.126.20", "1")
                            STACK("b", "580.130.01", "2"));
        add_images(&p, true);
        p.book.facts = &facts;
        const struct lks_plan_wish wish = {
            .hosts = LKS_STR("g1"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        (void)CHECK_INT(plans_make(&p, &wish), any_holds(before));
        made += p.code == LKS_OK;
        check_orders(&p, before);
        plans_end(&p);
    }
    (void)CHECK(made > 5 && made < ORDERS);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan: properties of every plan", test_properties},
        {"plan: orders of layers", test_orders},
        {0},
    });
}
