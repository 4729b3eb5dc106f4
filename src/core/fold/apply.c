/* One record made true. Nothing is decided here, and nothing is refused: a record that speaks of
 * what is not there changes nothing. */
#include "core/fold/apply.h"
#include "base/err.h"
#include "base/heap.h"
#include "codec/format/digest.h"
#include "codec/notation/hostlist.h"
#include "core/entity/settable.h"
#include "core/fold/fold.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/state/barred.h"
#include "core/state/heartbeat.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/refintern.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

#include <stdlib.h>

enum { HOSTS_MEMORY_MAX = 512 << 20 };
static const lks_ms SWEEP_DEFAULT = (lks_ms)24 * 3600 * LKS_SECOND;

enum lks_code lks_apply_keep(const struct lks_applying *a, struct lks_str text, lks_text *out)
{
    return lks_intern_id(&a->s->texts, text, out, a->err);
}

void lks_apply_drop(struct lks_state *s, lks_text *text)
{
    if ((*text & LKS_TEXT_PASSING) != 0)
        lks_refintern_drop(&s->passing, *text & ~LKS_TEXT_PASSING);
    *text = 0;
}

/* The new one is taken first, since it may be the same. */
enum lks_code lks_apply_pass(const struct lks_applying *a, struct lks_str text, lks_text *out)
{
    uint32_t id = 0;
    if (text.len > 0 && lks_refintern_take(&a->s->passing, text, &id, a->err) != LKS_OK)
        return a->err->code;
    lks_apply_drop(a->s, out);
    *out = text.len > 0 ? id | LKS_TEXT_PASSING : 0;
    return LKS_OK;
}

static enum lks_code each_text(const struct lks_applying *a, const struct lks_kept *list,
                               size_t count, bool passing)
{
    for (size_t i = 0; i < count; i++) {
        if ((passing ? lks_apply_pass : lks_apply_keep)(a, list[i].from, list[i].to) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_apply_keep_all(const struct lks_applying *a, const struct lks_kept *list,
                                 size_t count)
{
    return each_text(a, list, count, false);
}

enum lks_code lks_apply_pass_all(const struct lks_applying *a, const struct lks_kept *list,
                                 size_t count)
{
    return each_text(a, list, count, true);
}

lks_ms lks_apply_moment(const struct lks_applying *a)
{
    return a->time > 0 ? a->time : 1;
}

bool lks_apply_once(const struct lks_applying *a, lks_ms *at)
{
    if (*at != 0)
        return false;
    *at = lks_apply_moment(a);
    return true;
}

struct lks_node *lks_apply_find(const struct lks_applying *a, struct lks_str name)
{
    uint32_t n = lks_state_node(a->s, name);
    return n == LKS_NO_NODE ? NULL : &a->s->nodes[n];
}

uint32_t lks_apply_number(const struct lks_applying *a, const struct lks_node *node)
{
    return (uint32_t)(node - a->s->nodes);
}

/* Counts ------------------------------------------------------------------------------------ */

/* Take the node out of every count it is in, or with `by` 1 put it into those where it belongs.
 * Whatever changes what is counted does so between the two. */
static void count(struct lks_state *s, const struct lks_node *node, int by)
{
    uint32_t step = by > 0 ? 1 : UINT32_MAX;
    if (!node->placed || node->asset != 0)
        return;
    s->placed_count += step;
    s->liveness[node->liveness] += step;
    if (node->pool == LKS_NO_POOL)
        return;
    struct lks_state_pool *pool = &s->pools[node->pool];
    pool->nodes += step;
    pool->liveness[node->liveness] += step;
    pool->enrolled += node->enrolled ? step : 0;
}

static enum lks_code arm(const struct lks_applying *a, uint32_t n)
{
    lks_ms at = lks_heartbeat_deadline(a->s, n);
    if (at != UINT64_MAX)
        return lks_heap_set(&a->s->deadlines, n, at, a->err);
    (void)lks_heap_remove(&a->s->deadlines, n);
    return LKS_OK;
}

void lks_apply_turned(const struct lks_applying *a, uint32_t node)
{
    struct lks_state *s = a->s;
    uint32_t pool = s->nodes[node].pool;
    if (pool != LKS_NO_POOL && s->pools[pool].known)
        lks_mass_add(&s->mass[pool], s->turns, node, a->time, s->limits.mass_window);
}

/* The node leaves its pool, which counts its own nodes alone. */
static void leave_pool(const struct lks_applying *a, const struct lks_node *node)
{
    if (node->pool != LKS_NO_POOL)
        lks_mass_remove(&a->s->mass[node->pool], a->s->turns, lks_apply_number(a, node));
}

/* The journal ------------------------------------------------------------------------------- */

static enum lks_code apply_begun(const struct lks_applying *a)
{
    const struct lks_str id = a->r->begun.journal;
    size_t len = id.len < LKS_JOURNAL_ID_SIZE ? id.len : LKS_JOURNAL_ID_SIZE - 1;
    memset(a->s->journal, 0, sizeof(a->s->journal));
    if (len > 0)
        memcpy(a->s->journal, id.ptr, len);
    return LKS_OK;
}

/* Records from before there was such a limit have none. */
static lks_ms or_default(lks_ms value, lks_ms otherwise)
{
    return value == 0 ? otherwise : value;
}

/* What the old window has left behind stays behind, however long the new one is. */
static enum lks_code apply_limits(const struct lks_applying *a)
{
    const struct lks_rec_limits *l = &a->r->limits;
    struct lks_state *s = a->s;
    for (uint32_t i = 0; i < s->pool_count; i++)
        lks_mass_forget(&s->mass[i], s->turns, s->clock, s->limits.mass_window);
    s->limits = (struct lks_limits){
        .heartbeat = l->heartbeat,
        .late = l->late,
        .lost = l->lost,
        .mass_window = l->mass_window,
        .skew = l->skew,
        .mass_floor = l->mass_floor,
        .mass_percent = l->mass_percent,
        .call_nodes = l->call_nodes,
        .validity = or_default(l->validity, lks_limits_default.validity),
        .staleness = or_default(l->staleness, lks_limits_default.staleness),
        .outband_age = or_default(l->outband_age, lks_limits_default.outband_age),
        .proposal_age = or_default(l->proposal_age, lks_limits_default.proposal_age),
    };
    s->yeses_until = l->yeses_until;
    s->commands_due = 0;
    s->commands_moved = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (arm(a, n) != LKS_OK || lks_apply_age(a, n, false) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* The fleet --------------------------------------------------------------------------------- */

static enum lks_code apply_fleet(const struct lks_applying *a)
{
    const struct lks_rec_fleet *f = &a->r->fleet;
    const struct lks_kept list[] = {
        {f->name, &a->s->fleet_name},
        {f->manifest, &a->s->fleet_manifest},
    };
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

/* What the pool's nodes should run; a judgement of it is found where there is one. */
static void pin(struct lks_state_pool *pool, lks_text digest)
{
    if (pool->stack_digest != 0 && pool->stack_digest != digest)
        pool->stack_before = pool->stack_digest;
    if (pool->stack_before == digest) /* it was unpinned in between */
        pool->stack_before = 0;
    pool->stack_digest = digest;
}

static unsigned acts_of(struct lks_str words)
{
    static const struct {
        const char *word;
        enum lks_drift_act act;
    } acts[] = {{"alarm", LKS_ACT_ALARM}, {"drain", LKS_ACT_DRAIN}, {"propose", LKS_ACT_PROPOSE}};
    unsigned wanted = 0;
    struct lks_str word;
    while (words.len > 0) {
        lks_str_cut(words, ' ', &word, &words);
        for (size_t i = 0; i < LKS_COUNT(acts); i++)
            wanted |= lks_str_is(word, acts[i].word) ? (unsigned)acts[i].act : 0;
    }
    return wanted;
}

/* What is asked of its nodes. A sweep is never 0 in a record that has these fields: where it is,
 * the record is of version 1, when deviations were not refused and endpoints not read. */
static void care(struct lks_state_pool *pool, const struct lks_rec_pool *from)
{
    bool old = from->sweep == 0;
    pool->on_drift = acts_of(from->on_drift);
    pool->deviations = old || from->deviations;
    pool->attested = from->attested;
    pool->check_age = from->check_age;
    pool->sweep = old ? SWEEP_DEFAULT : from->sweep;
}

static enum lks_code apply_pool(const struct lks_applying *a)
{
    const struct lks_rec_pool *from = &a->r->pool;
    uint32_t p = 0;
    lks_text digest = 0;
    if (lks_state_pool_place(a->s, from->name, &p, a->err) != LKS_OK)
        return a->err->code;
    struct lks_state_pool *pool = &a->s->pools[p];
    const struct lks_kept list[] = {
        {from->posture, &pool->posture}, {from->enforce, &pool->enforce},
        {from->sched, &pool->sched},     {from->stack, &pool->stack},
        {from->stack_digest, &digest},
    };
    if (lks_apply_keep_all(a, list, LKS_COUNT(list)) != LKS_OK)
        return a->err->code;
    pool->known = true;
    pool->criticality = from->criticality > UINT32_MAX ? UINT32_MAX : (uint32_t)from->criticality;
    pin(pool, digest);
    care(pool, from);
    lks_node_status_update_pool(a->s, p);
    return LKS_OK;
}

/* Its place stays, and nodes that are still in it keep being counted there. */
static enum lks_code apply_pool_removed(const struct lks_applying *a)
{
    uint32_t p = lks_state_pool(a->s, a->r->pool_removed.name);
    if (p == LKS_NO_POOL)
        return LKS_OK;
    struct lks_state_pool *pool = &a->s->pools[p];
    struct lks_state_pool left = {
        .name = pool->name, .nodes = pool->nodes, .enrolled = pool->enrolled};
    memcpy(left.liveness, pool->liveness, sizeof(left.liveness));
    *pool = left;
    lks_mass_clear(&a->s->mass[p], a->s->turns);
    lks_node_status_update_pool(a->s, p);
    return LKS_OK;
}

enum lks_code lks_apply_hosts(const struct lks_applying *a, struct lks_str hosts,
                              lks_apply_host *fn, void *ctx)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err bad = {0};
    lks_arena_init(&arena, HOSTS_MEMORY_MAX);
    if (lks_hostlist_parse(hosts, &arena, &list, &bad) != LKS_OK)
        return bad.code == LKS_E_NOMEM ? lks_fail_nomem(a->err) : LKS_OK;
    for (size_t i = 0; i < list.count; i++) {
        if (fn(a, list.names[i], ctx) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

static enum lks_code place_texts(const struct lks_applying *a, struct lks_node *node)
{
    const struct lks_rec_placed *p = &a->r->placed;
    const struct lks_kept list[] = {
        {p->asset, &node->asset},
        {p->class, &node->class},
        {p->site, &node->site},
        {p->rack, &node->rack},
        {p->domain, &node->domain},
        {p->power_zone, &node->power_zone},
        {p->cooling_loop, &node->cooling_loop},
        {p->hardware_revision, &node->hardware_revision},
        {p->supplier, &node->supplier},
        {p->side, &node->side},
    };
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

static enum lks_code place(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    (void)ctx;
    struct lks_state *s = a->s;
    uint32_t n = 0, pool = LKS_NO_POOL;
    if (lks_state_place(s, name, &n, a->err) != LKS_OK)
        return a->err->code;
    if (a->r->placed.pool.len > 0 &&
        lks_state_pool_place(s, a->r->placed.pool, &pool, a->err) != LKS_OK)
        return a->err->code;
    struct lks_node *node = &s->nodes[n];
    count(s, node, -1);
    if (place_texts(a, node) != LKS_OK)
        return a->err->code;
    node->placed = true;
    if (node->pool != pool) {
        leave_pool(a, node);
        node->pool = pool;
    }
    count(s, node, 1);
    lks_apply_joined(a);
    if (lks_node_status_place(s, n, a->err) != LKS_OK)
        return a->err->code;
    return lks_apply_touched(a, n);
}

static enum lks_code apply_placed(const struct lks_applying *a)
{
    return lks_apply_hosts(a, a->r->placed.hosts, place, NULL);
}

/* What was known of the machine under this name is about another machine now. */
static enum lks_code forget_machine(const struct lks_applying *a, struct lks_node *node)
{
    lks_apply_forget_readings(a, node);
    node->enrolled = node->intake = node->accepted = false;
    node->intake_why = 0;
    node->liveness = LKS_NEVER_SEEN;
    node->liveness_since = a->time;
    node->boot = 0;
    memset(node->parts, 0, sizeof(node->parts));
    node->parts_since = 0;
    node->notes = 0;
    node->unhealthy = false;
    if (node->changing == 0)
        lks_apply_drop(a->s, &node->condition_text);
    node->attested_until = node->checked_at = 0;
    node->token_hash = node->endpoint = 0;
    node->token_expires = 0;
    memset(node->certificates, 0, sizeof(node->certificates));
    a->s->pulses[lks_apply_number(a, node)] = (struct lks_heartbeat){0};
    return arm(a, lks_apply_number(a, node));
}

static enum lks_code remove_node(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    (void)ctx;
    struct lks_node *node = lks_apply_find(a, name);
    if (node == NULL)
        return LKS_OK;
    count(a->s, node, -1);
    if (forget_machine(a, node) != LKS_OK)
        return a->err->code;
    leave_pool(a, node);
    lks_apply_drop(a->s, &node->condition_text);
    *node = (struct lks_node){
        .pool = LKS_NO_POOL,
        .pending = node->pending,
        .flash = node->flash,
        .flashing = node->flashing,
        .pin = node->pin,
        .change = node->change,
    };
    uint32_t n = lks_apply_number(a, node);
    lks_fold_resets_forget(a->s, n);
    if (lks_node_status_place(a->s, n, a->err) != LKS_OK)
        return a->err->code;
    return lks_apply_touched(a, n);
}

static enum lks_code apply_removed(const struct lks_applying *a)
{
    return lks_apply_hosts(a, a->r->removed.hosts, remove_node, NULL);
}

static enum lks_code apply_replaced(const struct lks_applying *a)
{
    struct lks_node *node = lks_apply_find(a, a->r->replaced.node);
    if (node == NULL)
        return LKS_OK;
    count(a->s, node, -1);
    enum lks_code code = forget_machine(a, node);
    count(a->s, node, 1);
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return code;
}

/* Certificates ------------------------------------------------------------------------------ */

static enum lks_code apply_token(const struct lks_applying *a)
{
    const struct lks_rec_token *t = &a->r->token;
    struct lks_node *node = lks_apply_find(a, t->node);
    if (node == NULL)
        return LKS_OK;
    node->token_expires = t->expires;
    return lks_apply_keep(a, t->hash, &node->token_hash);
}

static struct lks_certificate certificate(struct lks_str fingerprint, lks_ms expires)
{
    struct lks_certificate c = {.expires = expires};
    (void)lks_digest_read(fingerprint, c.fingerprint); /* what is no digest matches none */
    return c;
}

static enum lks_code apply_barred(const struct lks_applying *a)
{
    const struct lks_rec_barred *b = &a->r->barred;
    struct lks_barred barred = {.certificate = certificate(b->fingerprint, b->expires)};
    if (lks_state_place(a->s, b->node, &barred.node, a->err) != LKS_OK)
        return a->err->code; /* a snapshot says it of nodes that left the fleet, too */
    return lks_barred_add(a->s, barred, a->time, a->err);
}

static void set_enrolled(const struct lks_applying *a, struct lks_node *node, bool enrolled)
{
    count(a->s, node, -1);
    node->enrolled = enrolled;
    count(a->s, node, 1);
    lks_node_status_update(a->s, lks_apply_number(a, node));
}

/* The token is used, and certificates from before are good for nothing. */
static enum lks_code apply_enrolled(const struct lks_applying *a)
{
    const struct lks_rec_enrolled *e = &a->r->enrolled;
    struct lks_node *node = lks_apply_find(a, e->node);
    if (node == NULL)
        return LKS_OK;
    set_enrolled(a, node, true);
    node->certificates[0] = certificate(e->fingerprint, e->expires);
    node->certificates[1] = (struct lks_certificate){0};
    node->token_hash = 0;
    node->token_expires = 0;
    return LKS_OK;
}

static enum lks_code apply_certified(const struct lks_applying *a)
{
    const struct lks_rec_certified *c = &a->r->certified;
    struct lks_node *node = lks_apply_find(a, c->node);
    char newest[LKS_DIGEST_SIZE];
    if (node == NULL)
        return LKS_OK;
    set_enrolled(a, node, true);
    if (lks_state_certificate_text(&node->certificates[0], newest)[0] != '\0')
        node->certificates[1] = node->certificates[0];
    node->certificates[0] = certificate(c->fingerprint, c->expires);
    return LKS_OK;
}

static enum lks_code apply_revoked(const struct lks_applying *a)
{
    struct lks_node *node = lks_apply_find(a, a->r->revoked.node);
    if (node == NULL)
        return LKS_OK;
    set_enrolled(a, node, false);
    memset(node->certificates, 0, sizeof(node->certificates));
    return LKS_OK;
}

/* What is seen of nodes --------------------------------------------------------------------- */

/* A node that was live and is not any more has turned for the worse, unless a change has it: that
 * it is away for a while belongs to it. */
static enum lks_code apply_liveness(const struct lks_applying *a)
{
    const struct lks_rec_liveness *l = &a->r->liveness;
    struct lks_node *node = lks_apply_find(a, l->node);
    if (node == NULL || l->state >= LKS_LIVENESS_COUNT)
        return LKS_OK;
    bool worse = node->liveness == LKS_LIVE && (l->state == LKS_LATE || l->state == LKS_LOST);
    count(a->s, node, -1);
    node->liveness = (enum lks_liveness)l->state;
    node->liveness_since = a->time;
    count(a->s, node, 1);
    lks_node_status_update(a->s, lks_apply_number(a, node));
    if (worse && node->change == 0)
        lks_apply_turned(a, lks_apply_number(a, node));
    return arm(a, lks_apply_number(a, node));
}

static enum lks_code apply_booted(const struct lks_applying *a)
{
    struct lks_node *node = lks_apply_find(a, a->r->booted.node);
    if (node == NULL)
        return LKS_OK;
    enum lks_code code = lks_apply_keep(a, a->r->booted.boot, &node->boot);
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return code;
}

static bool has_parts(const struct lks_node *node)
{
    return node->parts[LKS_PART_BOARD] != 0 || node->parts[LKS_PART_GPUS] != 0 ||
           node->parts[LKS_PART_NICS] != 0;
}

/* Those it is first seen with are not others. */
static enum lks_code apply_parts(const struct lks_applying *a)
{
    const struct lks_rec_parts *p = &a->r->parts;
    struct lks_node *node = lks_apply_find(a, p->node);
    if (node == NULL)
        return LKS_OK;
    if (has_parts(node))
        node->parts_since = a->time;
    const struct lks_kept list[] = {
        {p->board, &node->parts[LKS_PART_BOARD]},
        {p->gpus, &node->parts[LKS_PART_GPUS]},
        {p->nics, &node->parts[LKS_PART_NICS]},
    };
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

static enum lks_code apply_noted(const struct lks_applying *a)
{
    const struct lks_rec_noted *r = &a->r->noted;
    struct lks_node *node = lks_apply_find(a, r->node);
    if (node == NULL || r->note >= LKS_NOTE_COUNT)
        return LKS_OK;
    uint32_t bit = UINT32_C(1) << r->note;
    node->notes = r->on ? node->notes | bit : node->notes & ~bit;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return LKS_OK;
}

/* What people say of them ------------------------------------------------------------------- */

static enum lks_code apply_intake(const struct lks_applying *a)
{
    struct lks_node *node = lks_apply_find(a, a->r->intake.node);
    if (node == NULL)
        return LKS_OK;
    node->intake = true;
    node->accepted = false;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return lks_apply_keep(a, a->r->intake.why, &node->intake_why);
}

static enum lks_code accept_node(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    (void)ctx;
    struct lks_node *node = lks_apply_find(a, name);
    if (node == NULL)
        return LKS_OK;
    node->intake = false;
    node->accepted = true;
    node->intake_why = 0;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return lks_apply_touched(a, lks_apply_number(a, node));
}

static enum lks_code apply_accepted(const struct lks_applying *a)
{
    return lks_apply_hosts(a, a->r->accepted.hosts, accept_node, NULL);
}

static enum lks_code apply_held(const struct lks_applying *a)
{
    const struct lks_rec_held *h = &a->r->held;
    struct lks_node *node = lks_apply_find(a, h->node);
    if (node == NULL)
        return LKS_OK;
    node->held_since = node->held ? node->held_since : a->time;
    node->held = true;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    const struct lks_kept list[] = {{h->by, &node->held_by}, {h->reason, &node->held_reason}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

static enum lks_code apply_unheld(const struct lks_applying *a)
{
    struct lks_node *node = lks_apply_find(a, a->r->unheld.node);
    if (node == NULL)
        return LKS_OK;
    node->held = false;
    node->held_since = 0;
    node->held_by = node->held_reason = 0;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return LKS_OK;
}

/* A column that this version does not know changes nothing. Other hardware under the name keeps the
 * value: the ticket may be the one about the repair. */
static enum lks_code apply_node_set(const struct lks_applying *a)
{
    const struct lks_rec_node_set *r = &a->r->node_set;
    struct lks_node *node = lks_apply_find(a, r->node);
    const struct lks_column *c = lks_settable_find(r->column);
    if (node == NULL || c == NULL)
        return LKS_OK;
    void *to = (char *)node + c->offset;
    return lks_apply_keep(a, r->value, to);
}

/* All of them ------------------------------------------------------------------------------- */

/* Kinds that are not here are for the journal's readers and change nothing. */
static lks_applier *const appliers[] = {
    [LKS_RECORD_BEGUN] = apply_begun,
    [LKS_RECORD_LIMITS] = apply_limits,
    [LKS_RECORD_FLEET] = apply_fleet,
    [LKS_RECORD_POOL] = apply_pool,
    [LKS_RECORD_POOL_REMOVED] = apply_pool_removed,
    [LKS_RECORD_PLACED] = apply_placed,
    [LKS_RECORD_REMOVED] = apply_removed,
    [LKS_RECORD_TOKEN] = apply_token,
    [LKS_RECORD_ENROLLED] = apply_enrolled,
    [LKS_RECORD_CERTIFIED] = apply_certified,
    [LKS_RECORD_REVOKED] = apply_revoked,
    [LKS_RECORD_LIVENESS] = apply_liveness,
    [LKS_RECORD_BOOTED] = apply_booted,
    [LKS_RECORD_TUPLE] = lks_apply_tuple,
    [LKS_RECORD_BASIS] = lks_apply_basis,
    [LKS_RECORD_VERDICT] = lks_apply_verdict,
    [LKS_RECORD_OUTBAND] = lks_apply_outband,
    [LKS_RECORD_DRIFT] = lks_apply_drift,
    [LKS_RECORD_CONDITION] = lks_apply_condition,
    [LKS_RECORD_DRAINED] = lks_apply_drained,
    [LKS_RECORD_UNDRAINED] = lks_apply_undrained,
    [LKS_RECORD_DEVIATION] = lks_apply_deviation,
    [LKS_RECORD_DEVIATION_ENDED] = lks_apply_deviation_ended,
    [LKS_RECORD_DEVIATION_AGREED] = lks_apply_deviation_agreed,
    [LKS_RECORD_PUBLISHED] = lks_apply_published,
    [LKS_RECORD_STEPPED] = lks_apply_stepped,
    [LKS_RECORD_IMAGE] = lks_apply_image,
    [LKS_RECORD_IMAGE_GONE] = lks_apply_gone,
    [LKS_RECORD_ARTIFACT] = lks_apply_artifact,
    [LKS_RECORD_ARTIFACT_GONE] = lks_apply_gone,
    [LKS_RECORD_JOB] = lks_apply_job,
    [LKS_RECORD_OVERRIDE] = lks_apply_override,
    [LKS_RECORD_RESET] = lks_fold_reset_apply,
    [LKS_RECORD_OBSERVED] = lks_apply_observed,
    [LKS_RECORD_LED] = lks_apply_led,
    [LKS_RECORD_SIGNED] = lks_apply_signing,
    [LKS_RECORD_KEY_PINNED] = lks_apply_key_pinned,
    [LKS_RECORD_KEY_GONE] = lks_apply_gone,
    [LKS_RECORD_BUNDLE] = lks_apply_bundle,
    [LKS_RECORD_BUNDLE_REVOKED] = lks_apply_bundle_revoked,
    [LKS_RECORD_ENDPOINT] = lks_apply_endpoint,
    [LKS_RECORD_FLASH] = lks_apply_flash,
    [LKS_RECORD_FLASH_SAVED] = lks_apply_flash_saved,
    [LKS_RECORD_FLASH_ENDED] = lks_apply_flash_ended,
    [LKS_RECORD_FLASH_RESOLVED] = lks_apply_flash_resolved,
    [LKS_RECORD_CHANGE] = lks_apply_change,
    [LKS_RECORD_PLAN_STEP] = lks_apply_plan_step,
    [LKS_RECORD_PLAN_WAVE] = lks_apply_plan_wave,
    [LKS_RECORD_PLAN_PART] = lks_apply_plan_part,
    [LKS_RECORD_PLAN_ORDER] = lks_apply_plan_order,
    [LKS_RECORD_PLAN_NOTE] = lks_apply_plan_note,
    [LKS_RECORD_CHANGE_VOTED] = lks_apply_change_voted,
    [LKS_RECORD_CHANGE_MOVED] = lks_apply_change_moved,
    [LKS_RECORD_WAVE] = lks_apply_wave,
    [LKS_RECORD_MEMBER] = lks_apply_member,
    [LKS_RECORD_REVERT_PROVEN] = lks_apply_revert_proven,
    [LKS_RECORD_FROZEN] = lks_apply_frozen,
    [LKS_RECORD_VOTE_WITHDRAWN] = lks_apply_vote_withdrawn,
    [LKS_RECORD_GLASS_BROKEN] = lks_apply_glass_broken,
    [LKS_RECORD_REVIEWED] = lks_apply_reviewed,
    [LKS_RECORD_WAIVED] = lks_apply_waived,
    [LKS_RECORD_PLAN_METRIC] = lks_apply_plan_metric,
    [LKS_RECORD_PLAN_GATE] = lks_apply_plan_gate,
    [LKS_RECORD_MEASURED] = lks_apply_measured,
    [LKS_RECORD_GATE_LOOKED] = lks_apply_gate_looked,
    [LKS_RECORD_WAVE_LIMIT] = lks_apply_wave_limit,
    [LKS_RECORD_FORECAST] = lks_apply_forecast,
    [LKS_RECORD_LOWERED] = lks_apply_lowered,
    [LKS_RECORD_TICKET_HEARD] = lks_fold_ticket_heard,
    [LKS_RECORD_TICKET_TOLD] = lks_fold_ticket_told,
    [LKS_RECORD_TICKET_DUE] = lks_fold_ticket_due,
    [LKS_RECORD_PARTS] = apply_parts,
    [LKS_RECORD_NOTED] = apply_noted,
    [LKS_RECORD_INTAKE] = apply_intake,
    [LKS_RECORD_ACCEPTED] = apply_accepted,
    [LKS_RECORD_HELD] = apply_held,
    [LKS_RECORD_UNHELD] = apply_unheld,
    [LKS_RECORD_NODE_SET] = apply_node_set,
    [LKS_RECORD_REPLACED] = apply_replaced,
    [LKS_RECORD_BARRED] = apply_barred,
    [LKS_RECORD_ALARM] = lks_apply_alarm,
    [LKS_RECORD_ALARM_RELEASED] = lks_apply_alarm_released,
    [LKS_RECORD_MASS] = lks_apply_mass,
    [LKS_RECORD_GRANTED] = lks_apply_granted,
    [LKS_RECORD_UNGRANTED] = lks_apply_ungranted,
    [LKS_RECORD_API_TOKEN] = lks_apply_api_token,
    [LKS_RECORD_API_TOKEN_GONE] = lks_apply_api_token_gone,
    [LKS_RECORD_TOKEN_RENEWED] = lks_apply_token_renewed,
    [LKS_RECORD_PERSON_CERTIFIED] = lks_apply_person_certified,
    [LKS_RECORD_PERSON_REVOKED] = lks_apply_gone,
    [LKS_RECORD_COMMAND] = lks_apply_command,
    [LKS_RECORD_COMMAND_ENDED] = lks_apply_command_ended,
};

enum lks_code lks_apply_record(struct lks_state *s, uint64_t seq, lks_ms time,
                               const struct lks_record *record, struct lks_err *err)
{
    const struct lks_applying a = {.s = s, .time = time, .r = record, .err = err};
    s->seq = seq;
    if (time > s->clock)
        s->clock = time;
    size_t kind = (size_t)record->kind;
    lks_applier *fn = kind < LKS_COUNT(appliers) ? appliers[kind] : NULL;
    if (fn == NULL)
        return LKS_OK;
    if (fn(&a) != LKS_OK || lks_fold_tickets_apply(&a) != LKS_OK)
        return err->code;
    return lks_apply_campaign(&a);
}

/* Loaded rows ------------------------------------------------------------------------------- */

static enum lks_code index_nodes(const struct lks_applying *a)
{
    for (uint32_t n = 0; n < a->s->node_count; n++) {
        count(a->s, &a->s->nodes[n], 1);
        if (arm(a, n) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* Which domain they are in. */
static enum lks_code index_domains(const struct lks_applying *a)
{
    for (uint32_t n = 0; n < a->s->node_count; n++) {
        if (lks_node_status_place(a->s, n, a->err) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* Verdicts are found once all that they depend on is there: an earlier one could be another. */
static enum lks_code index_status(const struct lks_applying *a)
{
    for (uint32_t n = 0; n < a->s->node_count; n++)
        lks_node_status_update(a->s, n);
    return LKS_OK;
}

enum lks_code lks_apply_index(struct lks_state *s, struct lks_err *err)
{
    static lks_applier *const steps[] = {
        index_nodes,
        lks_apply_index_changes,
        lks_apply_index_lists,
        lks_apply_index_flashes,
        lks_apply_index_access,
        lks_apply_index_measures,
        index_domains,
        lks_apply_index_readings,
        index_status,
        lks_apply_index_deviations,
    };
    const struct lks_applying a = {.s = s, .time = s->clock, .err = err};
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        if (steps[i](&a) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}
