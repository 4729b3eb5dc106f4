/* What became durable, seen from outside: the journal's rows, and nothing of the engine's state. */
#include "codec/notation/hostlist.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "engine/journal.h"
#include "sim/campaign.h"
#include "tests/reload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t cam_machine(const struct cam *w, struct lks_str name)
{
    uint64_t number = 0;
    bool ok = name.len > 1 &&
              lks_str_number((struct lks_str){name.ptr + 1, name.len - 1}, w->count, &number);
    LKS_ASSERT(ok && number > 0);
    return (uint32_t)number - 1;
}

struct cam_change *cam_change(struct cam *w, uint64_t id)
{
    for (size_t i = w->change_count; i-- > 0;)
        if (w->changes[i].id == id)
            return &w->changes[i];
    return NULL;
}

/* The change whose drain this is; NULL: it is of nobody's change. */
struct cam_change *cam_owner(struct cam *w, struct lks_str owner)
{
    struct lks_str word, number;
    uint64_t id = 0;
    if (!lks_str_cut(owner, ':', &word, &number) || !lks_str_is(word, "change") ||
        !lks_str_number(number, UINT64_MAX, &id))
        return NULL;
    return cam_change(w, id);
}

/* Plans ------------------------------------------------------------------------------------- */

static unsigned stack_of(const struct cam *w, struct lks_str digest)
{
    for (unsigned s = 0; s < CAM_STACKS; s++)
        if (lks_str_is(digest, w->stack_digests[s]))
            return s;
    return CAM_STACKS;
}

static void on_change(struct cam *w, const struct lks_rec_change *r)
{
    w->changes = cam_grow(w->changes, w->change_count, &w->change_room, sizeof(w->changes[0]));
    struct cam_change *c = &w->changes[w->change_count++];
    *c = (struct cam_change){.id = r->id, .stack = stack_of(w, r->stack)};
    c->members = calloc(w->count, sizeof(c->members[0]));
    LKS_ASSERT(c->members != NULL);
}

static void on_step(struct cam *w, const struct lks_rec_plan_step *r)
{
    struct cam_change *c = cam_change(w, r->change);
    while (c->recipe_count <= r->recipe) {
        c->recipes = cam_grow(c->recipes, c->recipe_count, &c->recipe_room, sizeof(c->recipes[0]));
        c->recipes[c->recipe_count++] = (struct cam_recipe){.kinds = {0}};
    }
    struct cam_recipe *recipe = &c->recipes[r->recipe];
    LKS_ASSERT(r->index < LKS_CHANGE_STEPS);
    recipe->kinds[r->index] = (enum lks_step_kind)r->kind;
    bool changes = r->kind == LKS_DO_APPLY || r->kind == LKS_DO_FLASH || r->kind == LKS_DO_ACTIVATE;
    cam_votes_step(c, r);
    recipe->reverts |= changes && !r->one_way;
    recipe->one_way |= changes && r->one_way;
    enum cam_axis axis;
    if (r->image_back.len > 0 && cam_axis_find(r->component, &axis))
        recipe->images |= UINT32_C(1) << axis;
    recipe->stays_more |=
        changes && r->one_way && !lks_str_is(r->component, cam_axes[CAM_BOARD].component);
}

static void on_wave(struct cam *w, const struct lks_rec_plan_wave *r)
{
    struct cam_change *c = cam_change(w, r->change);
    c->waves = cam_grow(c->waves, c->wave_count, &c->wave_room, sizeof(c->waves[0]));
    c->waves[c->wave_count++] = (struct cam_wave){
        .width = r->width, .failures_max = r->failures_max, .kind = (enum lks_wave_kind)r->kind};
}

static uint32_t unit_for(struct cam_change *c, uint32_t wave, unsigned domain)
{
    if (domain > 0 && c->domain_units[domain] != 0)
        return c->domain_units[domain] - 1;
    c->units = cam_grow(c->units, c->unit_count, &c->unit_room, sizeof(c->units[0]));
    c->units[c->unit_count] = (struct cam_unit){.wave = wave};
    if (domain > 0)
        c->domain_units[domain] = (uint32_t)c->unit_count + 1;
    return (uint32_t)c->unit_count++;
}

static void on_part(struct cam *w, const struct lks_rec_plan_part *r)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct cam_change *c = cam_change(w, r->change);
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, (size_t)1 << 30);
    enum lks_code code = lks_hostlist_parse(r->hosts, &arena, &hosts, &err);
    cam_require(w, code == LKS_OK, "plans", "%s", err.msg);
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t m = cam_machine(w, hosts.names[i]);
        struct cam_member *member = &c->members[m];
        cam_require(w, !member->in, "plans", "%s is in change %" PRIu64 " twice",
                    w->machines[m].name, c->id);
        uint32_t unit =
            unit_for(c, (uint32_t)r->wave, r->domain.len > 0 ? w->machines[m].domain : 0);
        c->units[unit].count++;
        *member = (struct cam_member){.in = true,
                                      .recipe = (uint32_t)r->recipe,
                                      .wave = (uint32_t)r->wave,
                                      .unit = unit,
                                      .proves = r->proves,
                                      .from = stack_of(w, r->from)};
    }
}

/* Members ----------------------------------------------------------------------------------- */

/* An asset is of the pools of its domain. */
static bool is_frozen(const struct cam *w, const struct cam_machine *m)
{
    uint32_t from = w->domain_nodes[m->domain].first, to = from + w->domain_nodes[m->domain].count;
    bool frozen = w->frozen || (m->type == CAM_NODE && w->pool_frozen[m->pool]);
    for (uint32_t k = from; k < to && m->type != CAM_NODE && m->domain > 0; k++)
        frozen = frozen || (w->machines[k].placed && w->pool_frozen[w->machines[k].pool]);
    return frozen;
}

/* Promise 3: a unit whose image was staged while it served does not drain any more once one of it
 * is frozen; where a node of it drained before, the others follow. */
static void check_leave(struct cam *w, const struct cam_change *c, uint32_t i)
{
    const struct cam_machine *frozen = NULL;
    for (uint32_t k = 0; k < w->count; k++) {
        const struct cam_machine *m = &w->machines[k];
        if (!c->members[k].in || c->members[k].unit != c->members[i].unit || !m->placed)
            continue;
        if (m->type == CAM_NODE && m->drained && cam_owner(w, lks_str_from(m->owner)) == c)
            return;
        frozen = is_frozen(w, m) ? m : frozen;
    }
    cam_require(w, frozen == NULL, "promise 3",
                "%s drains for change %" PRIu64 " while %s is frozen", w->machines[i].name, c->id,
                frozen != NULL ? frozen->name : "");
}

/* Promise 3. */
static void check_begin(struct cam *w, struct cam_change *c, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    const struct cam_member *member = &c->members[i];
    struct cam_wave *wave = &c->waves[member->wave];
    struct cam_unit *unit = &c->units[member->unit];
    cam_require(w, c->state == LKS_CHANGE_RUNNING, "promise 3",
                "%s begins while change %" PRIu64 " is %s", m->name, c->id,
                lks_change_state_words[c->state]);
    cam_require(w, !is_frozen(w, m), "promise 3", "%s begins while it is frozen", m->name);
    cam_require(w, wave->state == LKS_WAVE_BEGUN, "promise 3", "%s begins before its wave",
                m->name);
    for (uint32_t k = 0; k < member->wave; k++)
        cam_require(w, c->waves[k].state == LKS_WAVE_PASSED, "promise 3",
                    "%s begins before wave %" PRIu32 " passed its gate", m->name, k);
    if (wave->kind == LKS_WAVE_RING)
        cam_votes_ring(w, c, m->name);
    c->members[i].began = m->truth;
    if (!unit->begun)
        wave->open++;
    unit->begun = true;
    cam_require(w, wave->open <= wave->width, "promise 3",
                "%" PRIu32 " units of wave %" PRIu32 " are under way, and %" PRIu64 " may be",
                wave->open, member->wave, wave->width);
}

bool cam_member_under_way(const struct cam_change *c, uint32_t i)
{
    const struct cam_member *m = &c->members[i];
    return m->in && m->state > LKS_MEMBER_PENDING && m->state < LKS_MEMBER_OVER;
}

static bool has_failed(enum lks_member_state state)
{
    return state == LKS_MEMBER_FENCED || state == LKS_MEMBER_HANDS || state == LKS_MEMBER_UNKNOWN;
}

/* Units that are over make room for others. */
static void count_over(struct cam_change *c, const struct cam_member *m, enum lks_member_state to)
{
    struct cam_unit *unit = &c->units[m->unit];
    bool was = m->state >= LKS_MEMBER_OVER, is = to >= LKS_MEMBER_OVER;
    bool closed = unit->over == unit->count;
    unit->over += is;
    unit->over -= was;
    if (unit->begun && closed != (unit->over == unit->count))
        c->waves[m->wave].open += closed ? 1 : -1U;
}

/* Promise 11, and that nobody gets well by itself. */
static void check_member(struct cam *w, const struct cam_change *c, uint32_t i,
                         const struct lks_rec_member *r)
{
    enum { ATTEMPTS_MAX = 50 };
    const char *name = w->machines[i].name;
    const struct cam_member *m = &c->members[i];
    /* Who waits for jobs to end asks as often as its deadline lets it. */
    bool leaves = c->recipes[m->recipe].kinds[m->step] == LKS_DO_LEAVE;
    cam_require(w, r->attempt <= ATTEMPTS_MAX || leaves, "promise 11", "%s: attempt %" PRIu64, name,
                r->attempt);
    bool waits = r->state == LKS_MEMBER_ASKED || r->state == LKS_MEMBER_READING;
    cam_require(w, !waits || r->until != 0, "promise 11", "%s: %s without a deadline", name,
                lks_member_state_words[r->state]);
    cam_require(w, !has_failed((enum lks_member_state)r->state) || r->text.len > 0, "promise 11",
                "%s: %s, and nobody says why", name, lks_member_state_words[r->state]);
    cam_require(w,
                !has_failed(m->state) || m->state == r->state || w->machines[i].person ||
                    c->state >= LKS_CHANGE_ABORTING,
                "failed nodes", "%s was %s and is %s, and no person was asked", name,
                lks_member_state_words[m->state], lks_member_state_words[r->state]);
}

static void on_member(struct cam *w, const struct lks_rec_member *r)
{
    struct cam_change *c = cam_change(w, r->change);
    uint32_t i = cam_machine(w, r->node);
    struct cam_member *m = &c->members[i];
    enum lks_member_state to = (enum lks_member_state)r->state;
    cam_require(w, m->in, "plans", "%s is not in change %" PRIu64, w->machines[i].name, c->id);
    if (w->broken)
        return;
    check_member(w, c, i, r);
    if (m->state == LKS_MEMBER_PENDING && to > LKS_MEMBER_PENDING && to < LKS_MEMBER_OVER) {
        check_begin(w, c, i);
        cam_gates_begin(w, c, i);
        cam_spread_begun(w, i);
        cam_slurm_first(w, c, i);
    }
    for (size_t k = 0; k < w->change_count && to > LKS_MEMBER_PENDING && to < LKS_MEMBER_OVER; k++)
        cam_require(w, &w->changes[k] == c || !cam_member_under_way(&w->changes[k], i), "promise 3",
                    "changes %" PRIu64 " and %" PRIu64 " are both under way on %s", c->id,
                    w->changes[k].id, w->machines[i].name);
    /* One that joins again was not in progress when its domain returned. */
    if (m->state >= LKS_MEMBER_OVER && to < LKS_MEMBER_OVER) {
        cam_check_domains(w);
        memset(w->machines[i].switch_failed, 0, sizeof(w->machines[i].switch_failed));
    }
    count_over(c, m, to);
    cam_live_row(w, c, i, r);
    if (to != LKS_MEMBER_PENDING && to != LKS_MEMBER_SKIPPED)
        w->machines[i].last_change = c->id;
    if (has_failed(to) && !has_failed(m->state))
        w->machines[i].person = false;
    if (to >= LKS_MEMBER_OVER)
        w->machines[i].kept = w->model.time;
    m->state = to;
    m->done = m->done || to == LKS_MEMBER_DONE;
    m->told = cam_slurm_is_named(w, r->text);
    m->away = has_failed(to) && r->failure == LKS_FAILURE_NONE;
    m->step = (uint32_t)r->step;
    m->back = r->back;
    m->pass = (uint32_t)r->pass;
}

/* A wave that passed has no more failures than it may. */
static void check_gate(struct cam *w, const struct cam_change *c, uint32_t wave)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < w->count && c->waves[wave].state == LKS_WAVE_PASSED; i++) {
        const struct cam_member *m = &c->members[i];
        failed += m->in && m->wave == wave && has_failed(m->state) && !m->away && !m->seen;
    }
    cam_require(w, failed <= c->waves[wave].failures_max, "gates",
                "wave %" PRIu32 " of change %" PRIu64 " passed with %" PRIu64 " failed nodes", wave,
                c->id, failed);
}

static void on_moved(struct cam *w, const struct lks_rec_change_moved *r)
{
    struct cam_change *c = cam_change(w, r->change);
    c->state = (enum lks_change_state)r->state;
    for (uint32_t i = 0; i < w->count && c->state == LKS_CHANGE_RUNNING; i++)
        c->members[i].seen = has_failed(c->members[i].state);
    c->stopped = c->stopped && c->state != LKS_CHANGE_RUNNING;
    c->told = c->told && c->state != LKS_CHANGE_RUNNING;
    if (c->state == LKS_CHANGE_RUNNING)
        cam_votes_begin(w, c);
    if (c->state == LKS_CHANGE_ROLLED_BACK)
        cam_rollback_check(w, c, r->reason);
    cam_require(w, r->reason.len > 0, "promise 11", "change %" PRIu64 " is %s, without a reason",
                c->id, lks_change_state_words[c->state]);
}

/* Use --------------------------------------------------------------------------------------- */

/* One that failed before, while an image was staged, is drained so that nothing starts on it. */
static bool is_leaving(const struct cam_change *c, const struct cam_member *m, uint32_t i)
{
    return cam_member_under_way(c, i) && !m->back &&
           c->recipes[m->recipe].kinds[m->step] == LKS_DO_LEAVE;
}

static void on_drained(struct cam *w, const struct lks_rec_drained *r)
{
    uint32_t i = cam_machine(w, r->node);
    struct cam_machine *m = &w->machines[i];
    const struct cam_change *c = cam_owner(w, r->owner);
    cam_require(w, !m->drained || lks_str_is(r->owner, m->owner), "promise 7",
                "%s: the drain of %s is taken over", m->name, m->owner);
    if (c != NULL && w->nodes < CAM_FLEET_LARGE && !m->drained && m->type == CAM_NODE &&
        is_leaving(c, &c->members[i], i))
        check_leave(w, c, i);
    m->sched_drained = m->sched_drained && m->drained;
    m->drained = true;
    if (w->bridges.on)
        w->bridges.nodes[i].drained = w->now;
    m->released = m->excused = false;
    (void)snprintf(m->owner, sizeof(m->owner), "%" LKS_STR_FMT, LKS_STR_ARG(r->owner));
    cam_sched_later(w, i);
}

static void on_undrained(struct cam *w, const struct lks_rec_undrained *r)
{
    uint32_t i = cam_machine(w, r->node);
    struct cam_machine *m = &w->machines[i];
    cam_require(w, m->drained && lks_str_is(r->owner, m->owner), "promise 7",
                "%s: %" LKS_STR_FMT " releases the drain of '%s'", m->name, LKS_STR_ARG(r->owner),
                m->owner);
    m->drained = false;
    m->owner[0] = '\0';
    cam_check_return(w, i);
    cam_sched_later(w, i);
}

static void on_held(struct cam *w, struct lks_str node, bool held)
{
    uint32_t i = cam_machine(w, node);
    struct cam_machine *m = &w->machines[i];
    m->held = held;
    if (w->bridges.on)
        w->bridges.nodes[i].held = w->now;
    m->emptied = m->emptied && held;
    m->excused = m->excused || held;
    w->holds += held && w->scheduled[m->pool];
    cam_sched_later(w, i);
}

static void on_noted(struct cam *w, const struct lks_rec_noted *r)
{
    struct cam_machine *m = &w->machines[cam_machine(w, r->node)];
    if (r->note != LKS_NOTE_EMPTIED)
        return;
    m->emptied = r->on;
    w->emptied += r->on;
    if (!r->on)
        m->emptied_over = cam_now(w).wall;
    if (r->on)
        cam_check_emptied(w, m);
}

static void on_condition(struct cam *w, const struct lks_rec_condition *r)
{
    uint32_t i = cam_machine(w, r->node);
    if (r->condition == LKS_CONDITION_UNHEALTHY)
        w->machines[i].unhealthy = r->on;
    if (r->condition != LKS_CONDITION_CHANGING)
        return;
    w->machines[i].changing = r->on;
    cam_check_return(w, i);
}

/* Commands and updates ---------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum cam_do kind;
} executors[] = {
    {"idle", CAM_DO_IDLE},     {"inventory", CAM_DO_INVENTORY}, {"accept", CAM_DO_ACCEPT},
    {"reboot", CAM_DO_REBOOT}, {"apt", CAM_DO_ORDER},           {"dnf", CAM_DO_ORDER},
    {"image", CAM_DO_ORDER},   {"settings", CAM_DO_ORDER},      {"firmware", CAM_DO_ORDER},
    {"hook", CAM_DO_ORDER},
};

/* Promise 9. */
static void check_bits(struct cam *w, const char *name, struct lks_str digests)
{
    struct lks_str word;
    while (lks_str_word(&digests, &word)) {
        bool known = false;
        for (unsigned a = 0; a < CAM_AXES && !known; a++)
            for (unsigned s = 0; s < CAM_STACKS && !known; s++)
                if (lks_str_is(word, cam_artifact(w, (enum cam_axis)a, s))) {
                    known = true;
                    cam_require(w, !w->revoked[s], "promise 9",
                                "%s gets bits of bundle b%u, which was revoked", name, s);
                }
        cam_require(w, known, "promise 9", "%s gets bits that nobody vouched for", name);
    }
}

static uint32_t boot_number(const struct cam *w, uint32_t i, struct lks_str text)
{
    uint8_t bytes[16];
    uint64_t words[2] = {0};
    if (lks_heartbeat_boot_parse(text, bytes))
        memcpy(words, bytes, sizeof(words));
    (void)w;
    (void)i;
    return (uint32_t)words[1];
}

static void on_command(struct cam *w, const struct lks_rec_command *r)
{
    uint32_t i = cam_machine(w, r->node);
    struct lks_str digests = r->digests, order = {"", 0};
    while (r->id >= w->command_room)
        w->commands =
            cam_grow(w->commands, w->command_room, &w->command_room, sizeof(w->commands[0]));
    struct cam_command *c = &w->commands[r->id];
    *c = (struct cam_command){.id = r->id,
                              .node = i,
                              .boot = boot_number(w, i, r->boot),
                              .attempt = r->attempt,
                              .expires = r->expires,
                              .kind = CAM_DO_OTHER,
                              .asked = w->model.time,
                              .executor = "other"};
    for (size_t k = 0; k < LKS_COUNT(executors); k++)
        if (lks_str_is(r->executor, executors[k].word)) {
            c->kind = executors[k].kind;
            c->executor = executors[k].word;
        }
    w->machines[i].command = r->id;
    c->by_hand = !lks_str_starts(r->by, "change:");
    if (c->by_hand) {
        check_bits(w, w->machines[i].name, digests);
        c->kind = c->kind == CAM_DO_ORDER ? CAM_DO_OTHER : c->kind;
    }
    cam_bridge_command(w, c);
    if (c->kind != CAM_DO_ORDER)
        return;
    (void)lks_str_word(&digests, &order);
    cam_order_note(w, order);
    const struct cam_order *known = cam_order(w, order);
    c->order = known != NULL ? (uint32_t)(known - w->orders) : 0;
    check_bits(w, w->machines[i].name, digests);
}

static void on_flash(struct cam *w, const struct lks_rec_flash *r)
{
    uint32_t i = cam_machine(w, r->node);
    enum cam_axis axis = CAM_BMC;
    unsigned version = 0;
    bool known = cam_axis_find(r->component, &axis);
    if (r->version.len > 0)
        known = known && cam_version_find(axis, r->version, &version);
    cam_require(w, known, "plans", "%s: no such update", w->machines[i].name);
    while (r->id >= w->flash_room)
        w->flashes = cam_grow(w->flashes, w->flash_room, &w->flash_room, sizeof(w->flashes[0]));
    w->flashes[r->id] = (struct cam_flash){.id = r->id,
                                           .node = i,
                                           .act = (enum lks_bmc_act)r->act,
                                           .axis = axis,
                                           .version = version,
                                           .asked = w->model.time,
                                           .by_hand = !lks_str_starts(r->by, "change:")};
    check_bits(w, w->machines[i].name, r->image);
    cam_bridge_flash(w, &w->flashes[r->id]);
    cam_check_flash(w, &w->flashes[r->id]);
    cam_rollback_flash(w, &w->flashes[r->id]);
    w->machines[i].unknown = false;
    w->machines[i].flash_ends = r->deadline;
    cam_hands_flashed(w, i);
    if (w->engine != NULL)
        cam_talk_begin(w, r->id);
}

static void on_flash_ended(struct cam *w, const struct lks_rec_flash_ended *r)
{
    struct cam_machine *m = &w->machines[cam_machine(w, r->node)];
    m->unknown = r->outcome == LKS_BMC_UNKNOWN;
    m->flash_ends = 0;
    cam_rollback_flash_ended(w, &w->flashes[r->id], (enum lks_bmc_outcome)r->outcome);
}

static void on_resolved(struct cam_machine *m)
{
    m->unknown = false;
    m->person = true;
}

static void on_revoked(struct cam *w, struct lks_str digest)
{
    for (unsigned s = 0; s < CAM_STACKS; s++)
        w->revoked[s] = w->revoked[s] || lks_str_is(digest, w->bundle_digests[s]);
}

static void on_frozen(struct cam *w, const struct lks_rec_frozen *r)
{
    if (r->pool.len == 0)
        w->frozen = r->on;
    for (unsigned p = 0; p < CAM_POOLS; p++)
        if (lks_str_is(r->pool, cam_pool_name(p)))
            w->pool_frozen[p] = r->on;
}

static void on_placed(struct cam *w, struct lks_str hosts, bool placed)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, (size_t)1 << 30);
    LKS_ASSERT(lks_hostlist_parse(hosts, &arena, &list, &err) == LKS_OK);
    for (size_t i = 0; i < list.count; i++) {
        uint32_t k = cam_machine(w, list.names[i]);
        w->machines[k].placed = placed;
        cam_sched_later(w, k); /* it may be left drained since it was removed */
    }
}

/* Rows -------------------------------------------------------------------------------------- */

static void on_plan(struct cam *w, const struct lks_record *r)
{
    struct cam_change *c;
    if (r->kind == LKS_RECORD_CHANGE)
        on_change(w, &r->change);
    else if (r->kind == LKS_RECORD_PLAN_STEP)
        on_step(w, &r->plan_step);
    else if (r->kind == LKS_RECORD_PLAN_WAVE)
        on_wave(w, &r->plan_wave);
    else if (r->kind == LKS_RECORD_PLAN_PART)
        on_part(w, &r->plan_part);
    else if (r->kind == LKS_RECORD_CHANGE_MOVED)
        on_moved(w, &r->change_moved);
    else if (r->kind == LKS_RECORD_MEMBER)
        on_member(w, &r->member);
    else if (r->kind == LKS_RECORD_WAVE) {
        c = cam_change(w, r->wave.change);
        c->waves[r->wave.index].state = (enum lks_wave_state)r->wave.state;
        check_gate(w, c, (uint32_t)r->wave.index);
    } else if (r->kind == LKS_RECORD_FROZEN)
        on_frozen(w, &r->frozen);
    else if (r->kind == LKS_RECORD_GATE_LOOKED)
        cam_gates_looked(w, cam_change(w, r->gate_looked.change), &r->gate_looked);
    else if (r->kind == LKS_RECORD_MEASURED)
        cam_gates_measured(w, cam_change(w, r->measured.change), &r->measured);
    cam_votes_row(w, r);
}

/* Promise 7: the scheduler shows where the journal has more. */
static void check_named_row(struct cam *w, const struct lks_record *r, uint64_t seq)
{
    uint64_t said = r->kind == LKS_RECORD_HELD      ? r->held.row
                    : r->kind == LKS_RECORD_DRAINED ? r->drained.row
                                                    : seq;
    cam_require(w, said != 0 && said <= seq, "promise 7",
                "row %" PRIu64 " says that its decision has row %" PRIu64, seq, said);
}

static void on_record(struct cam *w, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_RESET)
        cam_hands_reset(w, &r->reset);
    else if (r->kind >= LKS_RECORD_CHANGE)
        on_plan(w, r);
    else if (r->kind == LKS_RECORD_DRAINED)
        on_drained(w, &r->drained);
    else if (r->kind == LKS_RECORD_UNDRAINED)
        on_undrained(w, &r->undrained);
    else if (r->kind == LKS_RECORD_CONDITION)
        on_condition(w, &r->condition);
    else if (r->kind == LKS_RECORD_COMMAND)
        on_command(w, &r->command);
    else if (r->kind == LKS_RECORD_FLASH)
        on_flash(w, &r->flash);
    else if (r->kind == LKS_RECORD_FLASH_ENDED)
        on_flash_ended(w, &r->flash_ended);
    else if (r->kind == LKS_RECORD_FLASH_RESOLVED)
        on_resolved(&w->machines[cam_machine(w, r->flash_resolved.node)]);
    else if (r->kind == LKS_RECORD_HELD)
        on_held(w, r->held.node, true);
    else if (r->kind == LKS_RECORD_UNHELD)
        on_held(w, r->unheld.node, false);
    else if (r->kind == LKS_RECORD_NOTED)
        on_noted(w, &r->noted);
    else if (r->kind == LKS_RECORD_BUNDLE_REVOKED)
        on_revoked(w, r->bundle_revoked.digest);
    else if (r->kind == LKS_RECORD_ALARM || r->kind == LKS_RECORD_ALARM_RELEASED) {
        cam_votes_row(w, r);
        cam_slurm_alarm(w, r);
        cam_site_alarm(w, r);
    } else if (r->kind == LKS_RECORD_PLACED)
        on_placed(w, r->placed.hosts, true);
    else if (r->kind == LKS_RECORD_REMOVED)
        on_placed(w, r->removed.hosts, false);
    else if (r->kind == LKS_RECORD_OUTBAND && r->outband.basis.len == 0)
        cam_sweep_later(w, cam_machine(w, r->outband.node));
}

static bool matters(unsigned kind)
{
    return kind >= LKS_RECORD_CHANGE || kind == LKS_RECORD_DRAINED ||
           kind == LKS_RECORD_UNDRAINED || kind == LKS_RECORD_CONDITION ||
           kind == LKS_RECORD_COMMAND || kind == LKS_RECORD_FLASH ||
           kind == LKS_RECORD_FLASH_ENDED || kind == LKS_RECORD_FLASH_RESOLVED ||
           kind == LKS_RECORD_ALARM || kind == LKS_RECORD_ALARM_RELEASED ||
           kind == LKS_RECORD_BUNDLE_REVOKED || kind == LKS_RECORD_PLACED ||
           kind == LKS_RECORD_REMOVED || kind == LKS_RECORD_OUTBAND || kind == LKS_RECORD_HELD ||
           kind == LKS_RECORD_UNHELD || kind == LKS_RECORD_NOTED;
}

static void print_row(const struct cam *w, const struct lks_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_RECORD_BODY_MAX);
    struct lks_err err = {0};
    if (!w->print || w->setting_up)
        return;
    if (lks_journal_json(row, &text, &err) == LKS_OK)
        cam_say(w, "%.400s", text.ptr);
}

void cam_row(struct cam *w, const struct lks_row *row)
{
    struct cam_model *m = &w->model;
    struct lks_record record;
    struct lks_err err = {0};
    uint64_t mixed = 0;
    print_row(w, row);
    w->rows++;
    cam_require(w, row->seq == m->seq + 1, "promise 12", "rows count up without a gap");
    cam_require(w, row->time >= m->time, "promise 12", "times of rows never decrease");
    m->seq = row->seq;
    m->time = row->time;
    memcpy(m->hash, row->hash, sizeof(row->hash));
    memcpy(&mixed, row->hash, sizeof(mixed));
    cam_mix(w, mixed);
    if (!m->folds && !matters(row->kind))
        return;
    bool ok = lks_record_unpack(row->kind, row->version, row->body, &record, &err) == LKS_OK;
    if (ok && m->folds)
        ok = lks_state_apply(&m->state, row->seq, row->time, &record, &err) == LKS_OK;
    cam_require(w, ok, "promise 8", "%s", err.msg);
    if (ok)
        check_named_row(w, &record, row->seq);
    if (ok)
        on_record(w, &record);
}

/* A snapshot of what is true gives it back. */
static void check_reload(struct cam *w)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    struct lks_err why = {0};
    if (!lks_test_reloads(&w->model.state, &loaded, &why))
        cam_require(w, false, "promise 8", "a snapshot gives the state back: %s", why.msg);
}

void cam_rows_equal(struct cam *w)
{
    struct lks_err why = {0};
    if (w->model.folds)
        check_reload(w);
    if (w->model.folds && w->engine != NULL && lks_engine_seq(w->engine) == w->model.seq &&
        !lks_entity_equal(&w->model.state, lks_engine_state(w->engine), &why))
        cam_require(w, false, "promise 8", "the fold of the rows is the state that is lived: %s",
                    why.msg);
}

/* Answers may leave that rest on these rows: they may not be lost any more. */
void cam_rows_seen(struct cam *w)
{
    struct cam_model *m = &w->model;
    m->acked = m->seq;
    memcpy(m->acked_hash, m->hash, sizeof(m->hash));
    cam_check_domains(w);
    if (w->commits % 64 == 0)
        cam_rows_equal(w);
}

static bool each_row(void *ctx, const struct lks_row *row)
{
    struct cam *w = ctx;
    cam_row(w, row);
    return !w->broken;
}

void cam_rows_restart(struct cam *w)
{
    struct cam_model *m = &w->model;
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    enum lks_code code = w->store.ops->tail(w->store.self, &tail, &err);
    cam_require(w, code == LKS_OK && tail.seq >= m->acked, "promise 8",
                "no acknowledged record is lost");
    const struct lks_row *row = lks_memory_disk_row(w->disk, m->acked);
    cam_require(w,
                m->acked == 0 ||
                    (row != NULL && memcmp(row->hash, m->acked_hash, sizeof(row->hash)) == 0),
                "promise 12", "what was acknowledged is still what was written");
    if (w->broken || tail.seq == m->seq)
        return;
    code = w->store.ops->rows(w->store.self, m->seq + 1, each_row, w, &err);
    cam_require(w, code == LKS_OK, "promise 8", "%s", err.msg);
    cam_rows_seen(w);
    cam_rows_equal(w);
}

void cam_rows_fini(struct cam *w)
{
    for (size_t i = 0; i < w->change_count; i++) {
        free(w->changes[i].members);
        free(w->changes[i].recipes);
        free(w->changes[i].waves);
        free(w->changes[i].units);
    }
    free(w->changes);
    if (w->model.folds)
        lks_state_fini(&w->model.state);
}
