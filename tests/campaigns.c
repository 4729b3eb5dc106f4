#include "tests/campaigns.h"

#include "core/campaign/campaign.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "tests/fleet.h"
#include "tests/manifests.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MANIFEST_MAX = 65536,
    LOG_MAX = 64 << 20,
    TICKS_MAX = 2000,
    ROUNDS_MAX = 2000,
    ASKED_MAX = 256,
    BEAT_EVERY = 5000,
    BOOTS = 200,
};

#define T LKS_STR_C
#define BMC                                                                                        \
    "bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/etc/bmc', trust: fingerprint}"

/* Stacks and readings ----------------------------------------------------------------------- */

/* A and B differ in these; all else is what such a node has. */
static void add_stack(struct lks_buf *out, const char *name, const char *driver, const char *bmc,
                      const char *shelf, const char *limit)
{
    lks_buf_addf(
        out,
        LKS_STACK("%s", "nvidia", "hgx-h200-8",
                  "  driver: {version: '%s'}\n  fabric-manager: {version: '%s'}\n"
                  "  kernel: {version: '6.8.0-71-generic'}\n"
                  "  cuda: {version: '13.0.2', owner: image}\n"
                  "  nccl: {version: '2.28.9', owner: image}\n"
                  "  container-toolkit: {version: '1.19.1'}\n  containerd: {version: '1.7.28'}\n"
                  "  dcgm: {version: '4.5.3'}\n  doca-ofed: {absent: not used}\n"
                  "firmware:\n  - {class: bmc, version: '%s'}\n"
                  "  - {class: power-shelf, version: '%s', scope: domain}\n"
                  "settings: {%sother: {fabric-manager.package: '%s'}}\n"),
        name, driver, driver, bmc, shelf, limit, driver);
}

#define DRIVER(v)                                                                                  \
    "driver=" v "\ndriver.loaded=" v "\ndriver.disk=" v "\ndriver.library=" v                      \
    "\ndriver.package=" v "\nfabric-manager=" v "\nfabric-manager.package=" v "\n"
#define NODE                                                                                       \
    "devices.gpus=8\ndevices.nvlinks_up@gpu *=18\ndevices.nvswitches=4\ndevices.nics=8\n"          \
    "kernel=6.8.0-71-generic\ncontainer-toolkit=1.19.1\ncontainer-toolkit.package=1.19.1\n"        \
    "containerd.package=1.7.28\ndcgm=4.5.3\ndcgm.package=4.5.3\ncuda~\ndoca-ofed~\n"               \
    "devices.nic_gbps@nic *=400\ndevices.nvmes=8\ndevices.memory_gib=2048\n"                       \
    "gpu.product@gpu *=NVIDIA H200\ngpu.pci_id@gpu *=10de:2335\n"
#define BMC_IS(v) "firmware/bmc=" v "\n"

/* What differs from the tuples below. */
static const char *changes_of(const struct campaign *w, const struct campaign_node *n)
{
    if (w->plan.agent && n->installed)
        return "platform.agent=2.0\n";
    if (n->stale && n->loaded)
        return "fabric-manager.package=580.1\nplatform.agent=1.0\n";
    if (n->other_kernel && n->loaded)
        return "container-toolkit~\nkernel=6.8.0-90-generic\nplatform.agent=1.0\n";
    if (n->broken && n->loaded)
        return "container-toolkit~\nplatform.agent=1.0\n";
    return "platform.agent=1.0\n";
}

static void send_tuple(struct campaign *w, struct campaign_node *n)
{
    static const char *const lines[2][3] = {
        {NODE DRIVER("580.126.20") BMC_IS("25.02.11"), NODE DRIVER("580.126.20") BMC_IS("25.03.01"),
         NODE DRIVER("580.126.20")},
        {NODE DRIVER("580.130.01") BMC_IS("25.02.11"), NODE DRIVER("580.130.01") BMC_IS("25.03.01"),
         NODE DRIVER("580.130.01")},
    };
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    char boot[LKS_BOOT_TEXT_SIZE];
    lks_test_tuple_with(lines[n->loaded][w->plan.outband ? 2 : n->flashed], changes_of(w, n), &t);
    t.node = lks_str_from(n->name);
    t.boot_id = lks_str_from(lks_fleet_boot(n->boot, boot));
    t.taken = (int64_t)(w->a.now.wall / LKS_SECOND);
    const struct lks_event e = {.kind = LKS_EVENT_TUPLE,
                                .node = lks_fleet_node(&w->a, n->name),
                                .tuple = {.tuple = &t, .report = T(CAMPAIGN_DIGEST("f"))}};
    campaign_event(w, &e);
}

/* An asset is read by its endpoint alone. */
static void send_outband(struct campaign *w, struct campaign_node *n)
{
    static const char *const lines[2][2] = {
        {BMC_IS("25.02.11"), BMC_IS("25.03.01")},
        {"firmware/power-shelf=1.0\n", "firmware/power-shelf=2.0\n"},
    };
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple(lines[n->asset][n->flashed], &t);
    t.node = lks_str_from(n->name);
    t.taken = 0;
    const struct lks_event e = {.kind = LKS_EVENT_OUTBAND,
                                .name = lks_str_from(n->name),
                                .outband = {.tuple = &t, .report = T(CAMPAIGN_DIGEST("f"))}};
    campaign_event(w, &e);
}

static void read_again(struct campaign *w, struct campaign_node *n)
{
    if (!n->asset)
        send_tuple(w, n);
    if (n->asset || (w->plan.outband && !n->unread))
        send_outband(w, n);
}

void campaign_put(struct campaign *w, const char *node, bool b)
{
    struct campaign_node *n = campaign_node(w, node);
    n->installed = n->loaded = n->flashed = b;
    read_again(w, n);
}

/* The fleet --------------------------------------------------------------------------------- */

static void hear(struct campaign *w, struct campaign_node *n)
{
    struct lks_beat beat = lks_fleet_beat(&w->a, n->boot, ++n->seq);
    lks_ms age = w->a.now.wall - n->xid;
    const struct lks_health_event xid = {n->xid / LKS_SECOND, age};
    beat.health = n->health;
    if (n->xid > 0)
        beat.health |= lks_heartbeat_health_tell(LKS_HEARTBEAT_XID, &xid) |
                       (age < 600 * LKS_SECOND ? (uint64_t)LKS_HEALTH_XID : 0);
    (void)lks_fleet_hear(&w->a, n->name, &beat);
}

static void add_node(struct campaign *w, const char *kind, unsigned number)
{
    struct campaign_node *n = &w->nodes[w->count++];
    LKS_ASSERT(w->count < CAMPAIGN_NODES_MAX);
    *n = (struct campaign_node){.up = true, .boot = 1, .asset = kind[0] == 's'};
    snprintf(n->name, sizeof(n->name), "%s%u", kind, number);
}

static unsigned shelves_of(const struct campaign_plan *p)
{
    return p->shelves > 0 ? p->shelves : p->domain > 0 && !p->no_shelf;
}

static bool is_apart(const struct campaign_plan *p, unsigned node)
{
    return node <= p->domain && node > p->domain - p->apart;
}

static void write_fleet(const struct campaign_plan *p, struct lks_buf *out)
{
    unsigned nodes = p->nodes > 0 ? p->nodes : 1;
    lks_buf_init(out, MANIFEST_MAX);
    add_stack(out, "golden", "580.126.20", "25.02.11", "1.0",
              p->rises ? "power_limit_w: 500, " : "");
    lks_buf_addf(out, "---\n");
    add_stack(out, "silver", "580.130.01", "25.03.01", "2.0",
              p->rises ? "power_limit_w: 700, " : "");
    lks_buf_addf(out,
                 "---\nlockstep: 1\nkind: Fleet\nname: f\nsites: {s1: {}%s}\n"
                 "power_zones: {z1: {site: s1, %s}}\n"
                 "pools: {train: {posture: pre-training, stack: golden, %s}%s}\n",
                 p->apart > 0 ? ", s2: {}" : "", p->zone_says != NULL ? p->zone_says : "",
                 p->pool_says != NULL ? p->pool_says : "",
                 p->apart > 0 ? ", serve: {posture: pre-training, stack: golden}" : "");
    if (p->spares > 0)
        lks_buf_addf(out, "domains: {rack1: {spares: %u}}\n", p->spares);
    else
        lks_buf_addf(out, "domains: {rack1: {}}\n");
    lks_buf_addf(out, "nodes:\n");
    for (unsigned i = 1; i <= nodes; i++)
        lks_buf_addf(out, "- {hosts: n%u, %s, class: hgx-h200-8, rack: r%u, %s" BMC "}\n", i,
                     is_apart(p, i) ? "pool: serve, site: s2"
                                    : "pool: train, site: s1, power_zone: z1",
                     i, i <= p->domain ? "domain: rack1, " : "");
    if (shelves_of(p) > 0)
        lks_buf_addf(out, "assets:\n");
    for (unsigned i = 1; i <= shelves_of(p); i++)
        lks_buf_addf(out,
                     "- {hosts: shelf%u, class: power-shelf, domain: rack1, side: %c, " BMC "}\n",
                     i, i % 2 == 1 ? 'a' : 'b');
    LKS_ASSERT(out->failed == LKS_OK);
}

static void set_pool(struct campaign *w, const char *name)
{
    const struct campaign_plan *p = &w->plan;
    campaign_record(
        w, &(struct lks_record){
               .kind = LKS_RECORD_POOL,
               .pool = {.name = lks_str_from(name),
                        .posture = lks_str_from(p->posture != NULL ? p->posture : "pre-training"),
                        .enforce = lks_str_from(p->enforce != NULL ? p->enforce : "observe"),
                        .sched = lks_str_from(p->sched != NULL ? p->sched : "none"),
                        .stack = T("golden"),
                        .stack_digest = lks_str_from(w->stack_a)}});
}

static void stock(struct campaign *w)
{
    static const char *const artifacts[] = {CAMPAIGN_PACKAGE_B, CAMPAIGN_PACKAGE_A,
                                            CAMPAIGN_IMAGE_B,   CAMPAIGN_IMAGE_A,
                                            CAMPAIGN_SHELF_B,   CAMPAIGN_SHELF_A};
    for (size_t i = 0; i < LKS_COUNT(artifacts); i++)
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_ARTIFACT,
                                                .artifact = {.digest = lks_str_from(artifacts[i]),
                                                             .name = T("file"),
                                                             .size = 7}});
    campaign_record(w, &(struct lks_record){
                           .kind = LKS_RECORD_BUNDLE,
                           .bundle = {.digest = T(CAMPAIGN_BUNDLE),
                                      .name = T("fw"),
                                      .artifacts = T(CAMPAIGN_PACKAGE_B
                                                     " " CAMPAIGN_PACKAGE_A " " CAMPAIGN_IMAGE_B
                                                     " " CAMPAIGN_IMAGE_A " " CAMPAIGN_SHELF_B
                                                     " " CAMPAIGN_SHELF_A)}});
}

static void enter(struct campaign *w, struct campaign_node *n)
{
    if (!n->asset)
        lks_fleet_live(&w->a, n->name, n->boot);
    n->seq = 1;
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_ACCEPTED,
                                            .accepted = {.hosts = lks_str_from(n->name)}});
    read_again(w, n);
}

void campaign_begin(struct campaign *w, const struct campaign_plan *plan)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0};
    *w = (struct campaign){.plan = *plan, .change = 1};
    if (w->plan.nodes == 0)
        w->plan.nodes = 1;
    lks_asked_init(&w->a);
    lks_buf_init(&w->log, LOG_MAX);
    write_fleet(&w->plan, &manifest);
    CHECK_HAS(lks_asked_fleet(&w->a, manifest.ptr, NULL), "fleet name=f");
    snprintf(w->stack_a, sizeof(w->stack_a), "%s", w->a.manifest.stacks[0].digest);
    snprintf(w->stack_b, sizeof(w->stack_b), "%s", w->a.manifest.stacks[1].digest);
    set_pool(w, "train");
    if (w->plan.apart > 0)
        set_pool(w, "serve");
    stock(w);
    for (unsigned i = 1; i <= w->plan.nodes; i++)
        add_node(w, "n", i);
    for (unsigned i = 1; i <= shelves_of(&w->plan); i++)
        add_node(w, "shelf", i);
    for (unsigned i = 0; i < w->count; i++)
        enter(w, &w->nodes[i]);
    (void)campaign_tick(w);
    campaign_propose(w, w->change);
    if (!plan->unapproved) {
        campaign_move(w, LKS_CHANGE_APPROVED);
        campaign_move(w, LKS_CHANGE_RUNNING);
    }
    lks_buf_truncate(&w->log, 0);
}

void campaign_join(struct campaign *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0};
    struct campaign_plan more = w->plan;
    more.nodes = ++w->plan.nodes;
    write_fleet(&more, &manifest);
    CHECK_HAS(lks_asked_fleet(&w->a, manifest.ptr, NULL), "placed");
    add_node(w, "n", more.nodes);
    enter(w, &w->nodes[w->count - 1]);
}

void campaign_end(struct campaign *w)
{
    lks_asked_fini(&w->a);
    lks_buf_fini(&w->log);
}

/* Looking ----------------------------------------------------------------------------------- */

const struct lks_state_change *campaign_change(const struct campaign *w)
{
    const struct lks_state_change *c = lks_state_change(&w->a.state, w->change);
    LKS_ASSERT(c != NULL);
    return c;
}

const struct lks_member *campaign_member(const struct campaign *w, const char *node)
{
    uint32_t n = 0;
    LKS_ASSERT(lks_intern_find(&w->a.state.names, lks_str_from(node), &n));
    const struct lks_member *m = lks_state_change_member(campaign_change(w), n);
    LKS_ASSERT(m != NULL);
    return m;
}

static struct campaign_node *find_node(struct campaign *w, struct lks_str name)
{
    for (unsigned i = 0; i < w->count; i++) {
        if (lks_str_is(name, w->nodes[i].name))
            return &w->nodes[i];
    }
    LKS_ASSERT(false);
    return NULL;
}

struct campaign_node *campaign_node(struct campaign *w, const char *node)
{
    return find_node(w, lks_str_from(node));
}

size_t campaign_count(const struct campaign *w, const char *one, const char *other)
{
    struct lks_str rest = w->log.len > 0 ? lks_buf_view(&w->log) : LKS_STR(""), line;
    size_t count = 0;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        count += memmem(line.ptr, line.len, one, strlen(one)) != NULL &&
                 memmem(line.ptr, line.len, other, strlen(other)) != NULL;
    }
    return count;
}

/* What happens ------------------------------------------------------------------------------ */

/* Write down what was decided, and let whoever watches look. */
static void noted(struct campaign *w)
{
    const struct lks_decision *d = &w->a.decision;
    for (size_t i = 0; i < d->count; i++) {
        lks_asked_tell(&d->records[i], &w->log);
        w->flash_count += d->records[i].kind == LKS_RECORD_FLASH;
    }
    if (d->count > 0 && w->after != NULL)
        w->after(w, d);
}

void campaign_event(struct campaign *w, const struct lks_event *event)
{
    (void)lks_asked(&w->a, event);
    noted(w);
}

void campaign_record(struct campaign *w, const struct lks_record *record)
{
    lks_asked_tell(record, &w->log);
    lks_asked_apply(&w->a, record);
}

void campaign_move(struct campaign *w, enum lks_change_state to)
{
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_CHANGE_MOVED,
                                            .change_moved = {.change = w->change,
                                                             .state = to,
                                                             .by = LKS_STR("lee"),
                                                             .reason = LKS_STR("said so")}});
}

void campaign_freeze(struct campaign *w, bool on)
{
    campaign_record(
        w, &(struct lks_record){
               .kind = LKS_RECORD_FROZEN,
               .frozen = {.on = on, .by = LKS_STR("lee"), .reason = LKS_STR("a demonstration")}});
}

void campaign_resolve(struct campaign *w, const char *node)
{
    const struct lks_state *s = &w->a.state;
    const struct lks_state_flash *f = lks_state_flashing(s, lks_state_node(s, lks_str_from(node)));
    if (f == NULL || f->outcome != LKS_BMC_UNKNOWN)
        return;
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_FLASH_RESOLVED,
                                            .flash_resolved = {.id = f->id,
                                                               .node = lks_str_from(node),
                                                               .by = LKS_STR("lee"),
                                                               .reason = LKS_STR("inspected")}});
}

void campaign_fail(struct campaign *w, const char *node, const char *what, unsigned outcome,
                   unsigned times)
{
    LKS_ASSERT(w->fault_count < CAMPAIGN_FAULTS_MAX);
    w->faults[w->fault_count++] = (struct campaign_fault){node, what, outcome, times};
}

/* Nothing more is due now, of anybody: else the next tick should have done it. */
static void check_dry(const struct campaign *w)
{
    const struct lks_state *s = &w->a.state;
    for (uint32_t c = 0; c < s->change_count; c++) {
        for (uint32_t i = 0; i < s->changes[c].member_count; i++)
            CHECK(lks_campaign_due(s, &s->changes[c], &s->changes[c].members[i]) > w->a.now.wall);
    }
}

/* One tick, where one is due; how many records it made. */
static size_t tick_once(struct campaign *w, bool *due)
{
    *due = lks_decide_next(&w->a.state) <= w->a.now.mono;
    if (!*due)
        return 0;
    (void)lks_fleet_tick(&w->a);
    noted(w);
    return w->a.decision.count;
}

size_t campaign_tick(struct campaign *w)
{
    size_t records = 0, dry = 0;
    bool due = true;
    for (unsigned i = 0; due; i++) {
        size_t made = tick_once(w, &due);
        records += made;
        dry = made == 0 ? dry + 1 : 0;
        if (!CHECK(i < TICKS_MAX && dry < 3))
            break;
    }
    check_dry(w);
    return records;
}

void campaign_pass(struct campaign *w, lks_ms ms)
{
    while (ms > 0) {
        lks_ms step = ms < BEAT_EVERY ? ms : BEAT_EVERY;
        lks_fleet_wait(&w->a, step);
        ms -= step;
        for (unsigned i = 0; i < w->count; i++) {
            struct campaign_node *n = &w->nodes[i];
            if (n->up && !n->asset && !n->gone)
                hear(w, n);
        }
    }
}

/* Agents and endpoints ---------------------------------------------------------------------- */

/* Takes one off the list of faults; false: nothing of the kind happens. */
static bool faulty(struct campaign *w, const char *node, struct lks_str what, unsigned *outcome)
{
    for (unsigned i = 0; i < w->fault_count; i++) {
        struct campaign_fault *f = &w->faults[i];
        if (f->times == 0 || (f->node[0] != '\0' && strcmp(f->node, node) != 0) ||
            !lks_str_is(what, f->what))
            continue;
        f->times--;
        *outcome = f->outcome;
        return true;
    }
    return false;
}

static bool starts_with(const struct campaign *w, lks_text digests, const char *order)
{
    return lks_str_starts(lks_state_text(&w->a.state, digests), order);
}

static void boot(struct campaign *w, struct campaign_node *n)
{
    n->boot = n->boot % BOOTS + 1;
    n->seq = 0;
    n->loaded = n->installed;
    hear(w, n);
    send_tuple(w, n);
}

static void result(struct campaign *w, const struct lks_state_command *c, uint32_t node,
                   unsigned outcome)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(MANIFEST_MAX);
    if (w->accepts != NULL && lks_str_is(lks_state_text(&w->a.state, c->executor), "accept"))
        w->accepts(w, find_node(w, lks_state_name(&w->a.state, node)), &said);
    const struct lks_event e = {.kind = LKS_EVENT_RESULT,
                                .node = node,
                                .result = {.id = c->id,
                                           .outcome = (enum lks_outcome)outcome,
                                           .text = outcome == LKS_OUTCOME_DONE
                                                       ? lks_buf_view(&said)
                                                       : LKS_STR("it went wrong")}};
    campaign_event(w, &e);
}

static void answer_command(struct campaign *w, uint64_t id)
{
    const struct lks_state *s = &w->a.state;
    const struct lks_state_command c = *lks_state_command(s, id);
    struct campaign_node *n = find_node(w, lks_state_name(s, c.node));
    struct lks_str executor = lks_state_text(s, c.executor);
    unsigned outcome = LKS_OUTCOME_DONE;
    bool wrong = faulty(w, n->name, executor, &outcome);
    if (!wrong && lks_str_is(executor, "idle") && n->busy)
        outcome = LKS_OUTCOME_FAILED;
    if (!wrong && lks_str_is(executor, "apt"))
        n->installed = starts_with(w, c.digests, CAMPAIGN_ORDER_B);
    if (lks_str_is(executor, "inventory") && outcome == LKS_OUTCOME_DONE)
        read_again(w, n);
    result(w, &c, c.node, outcome);
    if (!wrong && lks_str_is(executor, "reboot"))
        boot(w, n);
}

static const char *const acts[LKS_BMC_ACT_COUNT] = {
    [LKS_BMC_UPDATE] = "flash", [LKS_BMC_STAGE] = "stage",   [LKS_BMC_ACTIVATE] = "flash",
    [LKS_BMC_ABORT] = "abort",  [LKS_BMC_SWITCH] = "switch",
};

static void end_flash(struct campaign *w, uint64_t id)
{
    const struct lks_state *s = &w->a.state;
    const struct lks_state_flash f = *lks_state_flash(s, id);
    struct campaign_node *n = find_node(w, lks_state_name(s, f.node));
    struct lks_str version = lks_state_text(s, f.version);
    bool b = lks_str_is(version, "25.03.01") || lks_str_is(version, "2.0");
    bool stays = f.act == LKS_BMC_STAGE || f.act == LKS_BMC_ABORT;
    unsigned outcome = f.act == LKS_BMC_STAGE      ? LKS_BMC_STAGED
                       : !stays && n->flashed == b ? LKS_BMC_SAME
                                                   : LKS_BMC_DONE;
    bool silent = faulty(w, n->name, LKS_STR("silence"), &outcome);
    bool wrong = silent || faulty(w, n->name, lks_str_from(acts[f.act]), &outcome);
    if (!wrong && !stays)
        n->flashed = b;
    const struct lks_event e = {
        .kind = LKS_EVENT_FLASH_ENDED,
        .flash_ended = {.id = id,
                        .outcome = outcome,
                        .found = silent ? LKS_STR("") : version,
                        .text = wrong ? LKS_STR("it went wrong") : LKS_STR("")}};
    campaign_event(w, &e);
    if (!n->gone)
        read_again(w, n);
}

static size_t answer_commands(struct campaign *w)
{
    const struct lks_state *s = &w->a.state;
    uint64_t open[ASKED_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < s->command_count && count < ASKED_MAX; i++) {
        const struct lks_state_command *c = &s->commands[i];
        struct campaign_node *n = find_node(w, lks_state_name(s, c->node));
        if (!c->ended && n->up && !n->gone)
            open[count++] = c->id;
    }
    for (size_t i = 0; i < count; i++)
        answer_command(w, open[i]);
    return count;
}

static size_t end_flashes(struct campaign *w)
{
    const struct lks_state *s = &w->a.state;
    uint64_t open[ASKED_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < s->flash_count && count < ASKED_MAX; i++) {
        const struct lks_state_flash *f = &s->flashes[i];
        if (f->outcome == LKS_BMC_OPEN && !find_node(w, lks_state_name(s, f->node))->mute_bmc)
            open[count++] = f->id;
    }
    for (size_t i = 0; i < count; i++)
        end_flash(w, open[i]);
    return count;
}

/* The scheduler says of each that is being drained that it is, once nothing runs there. */
static size_t say_drained(struct campaign *w)
{
    const struct lks_state *s = &w->a.state;
    size_t said = 0;
    for (unsigned i = 0; i < w->count && w->plan.sched != NULL && !w->sched_mute; i++) {
        struct campaign_node *n = &w->nodes[i];
        const struct lks_member *m = n->gone ? NULL : campaign_member(w, n->name);
        const struct lks_step *step = m == NULL ? NULL : lks_member_step(campaign_change(w), m);
        if (n->asset || n->busy || step == NULL || step->kind != LKS_DO_LEAVE ||
            m->state != LKS_MEMBER_ASKED)
            continue;
        const struct lks_event e = {
            .kind = LKS_EVENT_SCHED,
            .node = m->node,
            .sched = {.drained = true, .owner = lks_state_text(s, s->nodes[m->node].drained_by)}};
        campaign_event(w, &e);
        said++;
    }
    return said;
}

size_t campaign_answer(struct campaign *w)
{
    return answer_commands(w) + end_flashes(w) + say_drained(w);
}

void campaign_settle(struct campaign *w)
{
    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        size_t done = campaign_tick(w);
        if (done + campaign_answer(w) == 0)
            return;
    }
    CHECK(false);
}

static bool waits_for_people(const struct campaign *w)
{
    const struct lks_state_change *c = campaign_change(w);
    return lks_change_over(c) ||
           ((c->state == LKS_CHANGE_HALTED || c->state == LKS_CHANGE_PAUSED) &&
            c->states[LKS_MEMBER_WAITING] + c->states[LKS_MEMBER_ASKED] +
                    c->states[LKS_MEMBER_READING] ==
                0);
}

bool campaign_run(struct campaign *w, lks_ms limit)
{
    for (lks_ms passed = 0; passed <= limit; passed += BEAT_EVERY) {
        campaign_settle(w);
        if (waits_for_people(w))
            return true;
        campaign_pass(w, BEAT_EVERY);
    }
    return false;
}

bool campaign_run_until(struct campaign *w, const char *node, uint32_t step,
                        enum lks_member_state state, lks_ms limit)
{
    for (lks_ms passed = 0; passed <= limit;) {
        const struct lks_member *m = campaign_member(w, node);
        bool due = false;
        if (m->step == step && m->state == state)
            return true;
        if (tick_once(w, &due) > 0 || due || campaign_answer(w) > 0)
            continue;
        campaign_pass(w, BEAT_EVERY);
        passed += BEAT_EVERY;
    }
    return false;
}

void campaign_show(const struct campaign *w)
{
    if (getenv("SHOW") != NULL)
        printf("%.*s\n", (int)w->log.len, w->log.ptr == NULL ? "" : w->log.ptr);
}
