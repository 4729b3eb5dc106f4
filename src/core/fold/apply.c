/* One record made true. Nothing is decided here, and nothing is refused: a record that speaks of
 * what is not there changes nothing. */
#include "core/fold/apply.h"
#include "base/err.h"
#include "base/heap.h"
#include "codec/format/digest.h"
#include "codec/notation/hostlist.h"
#include "core/entity/settable.h"
#include "core/fold/fold.h"
#include "core/fold/sets.h"
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

enum lks_code lks_apply_keep_all(const struct lks_applying *a, const struct lks_kept *list,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_apply_keep(a, list[i].from, list[i].to) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
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

uint32_t lks_apply_small(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
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
    struct lks_state *s = a->s;
    struct lks_limits *l = &s->limits;
    for (uint32_t i = 0; i < s->pool_count; i++)
        lks_mass_forget(&s->mass[i], s->turns, s->clock, l->mass_window);
    if (lks_sets_apply(a, s) != LKS_OK)
        return a->err->code;
    l->validity = or_default(l->validity, lks_limits_default.validity);
    l->staleness = or_default(l->staleness, lks_limits_default.staleness);
    l->outband_age = or_default(l->outband_age, lks_limits_default.outband_age);
    l->proposal_age = or_default(l->proposal_age, lks_limits_default.proposal_age);
    s->commands_due = 0;
    s->commands_moved = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (arm(a, n) != LKS_OK || lks_apply_age(a, n, false) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* The fleet --------------------------------------------------------------------------------- */

/* What is told of the journal and the fleet as a whole. */
static enum lks_code apply_whole(const struct lks_applying *a)
{
    return lks_sets_apply(a, a->s);
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
    pool->sweep = old ? SWEEP_DEFAULT : from->sweep;
}

static enum lks_code apply_pool(const struct lks_applying *a)
{
    const struct lks_rec_pool *from = &a->r->pool;
    uint32_t p = 0;
    lks_text digest = 0;
    if (lks_state_pool_place(a->s, from->name, &p, a->err) != LKS_OK)
        return a->err->code;
    if (from->drain_refused || a->s->pools[p].drain_refused)
        a->s->standing->refused_next = 0;
    if (lks_sets_apply(a, &a->s->pools[p]) != LKS_OK ||
        lks_apply_keep(a, from->stack_digest, &digest) != LKS_OK)
        return a->err->code;
    pin(&a->s->pools[p], digest);
    care(&a->s->pools[p], from);
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
    if (pool->drain_refused)
        a->s->standing->refused_next = 0;
    *pool = left;
    lks_mass_clear(&a->s->mass[p], a->s->turns);
    lks_node_status_update_pool(a->s, p);
    return LKS_OK;
}

/* A slot that this program does not have is of a later one: nodes show none for it. */
static enum lks_code apply_slot(const struct lks_applying *a)
{
    const struct lks_rec_slot *from = &a->r->slot;
    uint32_t p = lks_state_pool(a->s, from->pool);
    lks_text digest = 0;
    if (p == LKS_NO_POOL || !a->s->pools[p].known || from->slot >= LKS_STATE_SLOTS)
        return LKS_OK;
    if (lks_apply_keep(a, from->digest, &digest) != LKS_OK)
        return a->err->code;
    a->s->pools[p].slots[from->slot] = digest;
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
    if (lks_sets_apply(a, node) != LKS_OK)
        return a->err->code;
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
    node->emptied = 0;
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
    count(a->s, a->node, -1);
    enum lks_code code = forget_machine(a, a->node);
    count(a->s, a->node, 1);
    return code;
}

/* Certificates ------------------------------------------------------------------------------ */

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

static void set_enrolled(const struct lks_applying *a, bool enrolled)
{
    count(a->s, a->node, -1);
    a->node->enrolled = enrolled;
    count(a->s, a->node, 1);
}

/* The token is used, and certificates from before are good for nothing. */
static enum lks_code apply_enrolled(const struct lks_applying *a)
{
    const struct lks_rec_enrolled *e = &a->r->enrolled;
    set_enrolled(a, true);
    a->node->certificates[0] = certificate(e->fingerprint, e->expires);
    a->node->certificates[1] = (struct lks_certificate){0};
    a->node->token_hash = 0;
    a->node->token_expires = 0;
    return LKS_OK;
}

static enum lks_code apply_certified(const struct lks_applying *a)
{
    const struct lks_rec_certified *c = &a->r->certified;
    struct lks_node *node = a->node;
    char newest[LKS_DIGEST_SIZE];
    set_enrolled(a, true);
    if (lks_state_certificate_text(&node->certificates[0], newest)[0] != '\0')
        node->certificates[1] = node->certificates[0];
    node->certificates[0] = certificate(c->fingerprint, c->expires);
    return LKS_OK;
}

static enum lks_code apply_revoked(const struct lks_applying *a)
{
    set_enrolled(a, false);
    memset(a->node->certificates, 0, sizeof(a->node->certificates));
    return LKS_OK;
}

/* What is seen of nodes --------------------------------------------------------------------- */

/* A node that was live and is not any more has turned for the worse, unless a change has it: that
 * it is away for a while belongs to it. */
static enum lks_code apply_liveness(const struct lks_applying *a)
{
    uint64_t state = a->r->liveness.state;
    uint32_t n = lks_apply_number(a, a->node);
    if (state >= LKS_LIVENESS_COUNT)
        return LKS_OK;
    bool worse = a->node->liveness == LKS_LIVE && (state == LKS_LATE || state == LKS_LOST);
    count(a->s, a->node, -1);
    enum lks_code code = lks_sets_apply(a, a->node);
    count(a->s, a->node, 1);
    if (worse && a->node->change == 0)
        lks_apply_turned(a, n);
    return code != LKS_OK ? code : arm(a, n);
}

/* What is told of a node, and nothing follows from it but its status. */
static enum lks_code apply_node(const struct lks_applying *a)
{
    return lks_sets_apply(a, a->node);
}

static bool has_parts(const struct lks_node *node)
{
    return node->parts[LKS_PART_BOARD] != 0 || node->parts[LKS_PART_GPUS] != 0 ||
           node->parts[LKS_PART_NICS] != 0;
}

/* Those it is first seen with are not others. */
static enum lks_code apply_parts(const struct lks_applying *a)
{
    if (has_parts(a->node))
        a->node->parts_since = a->time;
    return lks_sets_apply(a, a->node);
}

static enum lks_code apply_noted(const struct lks_applying *a)
{
    const struct lks_rec_noted *r = &a->r->noted;
    if (r->note >= LKS_NOTE_COUNT)
        return LKS_OK;
    uint32_t bit = UINT32_C(1) << r->note;
    a->node->notes = r->on ? a->node->notes | bit : a->node->notes & ~bit;
    if (r->note == LKS_NOTE_EMPTIED)
        a->node->emptied = r->on ? a->time : 0;
    return LKS_OK;
}

/* What people say of them ------------------------------------------------------------------- */

static enum lks_code accept_node(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    (void)ctx;
    struct lks_node *node = lks_apply_find(a, name);
    if (node == NULL)
        return LKS_OK;
    if (lks_sets_apply(a, node) != LKS_OK)
        return a->err->code;
    lks_node_status_update(a->s, lks_apply_number(a, node));
    return lks_apply_touched(a, lks_apply_number(a, node));
}

static enum lks_code apply_accepted(const struct lks_applying *a)
{
    return lks_apply_hosts(a, a->r->accepted.hosts, accept_node, NULL);
}

/* A column that this version does not know changes nothing. Other hardware under the name keeps the
 * value: the ticket may be the one about the repair. */
static enum lks_code apply_node_set(const struct lks_applying *a)
{
    const struct lks_column *c = lks_settable_find(a->r->node_set.column);
    if (c == NULL)
        return LKS_OK;
    void *to = (char *)a->node + c->offset;
    return lks_apply_keep(a, a->r->node_set.value, to);
}

/* All of them ------------------------------------------------------------------------------- */

enum {
    ROW = 1,    /* nothing follows if the fleet has no such node */
    STATUS = 2, /* the status of the node may change with it */
    TOUCH = 4,  /* changes that wait for the node are asked again */
};
#define ANY(KIND, fn) [LKS_RECORD_##KIND] = {fn, 0, 0}
/* NOLINTBEGIN(bugprone-macro-parentheses): a member takes none */
#define NODE(KIND, member, fn, bits)                                                               \
    [LKS_RECORD_##KIND] = {fn, offsetof(struct lks_record, member.node), bits}
/* NOLINTEND(bugprone-macro-parentheses) */

/* Kinds that are not here are for the journal's readers and change nothing. */
static const struct {
    lks_applier *fn;
    size_t node; /* where the record names a node; 0: nowhere */
    unsigned flags;
} appliers[] = {
    ANY(BEGUN, apply_begun),
    ANY(LIMITS, apply_limits),
    ANY(FLEET, apply_whole),
    ANY(POOL, apply_pool),
    ANY(POOL_REMOVED, apply_pool_removed),
    ANY(SLOT, apply_slot),
    ANY(PLACED, apply_placed),
    ANY(REMOVED, apply_removed),
    NODE(TOKEN, token, apply_node, ROW),
    NODE(ENROLLED, enrolled, apply_enrolled, ROW | TOUCH | STATUS),
    NODE(CERTIFIED, certified, apply_certified, ROW | TOUCH | STATUS),
    NODE(REVOKED, revoked, apply_revoked, ROW | TOUCH | STATUS),
    NODE(LIVENESS, liveness, apply_liveness, ROW | TOUCH | STATUS),
    NODE(BOOTED, booted, apply_node, ROW | TOUCH | STATUS),
    NODE(TUPLE, tuple, lks_apply_tuple, ROW | TOUCH | STATUS),
    ANY(BASIS, lks_apply_basis),
    ANY(VERDICT, lks_apply_verdict),
    NODE(OUTBAND, outband, lks_apply_outband, ROW | TOUCH | STATUS),
    NODE(ADVERTISED, advertised, lks_apply_advertised, ROW | TOUCH | STATUS),
    NODE(DRIFT, drift, lks_apply_drift, ROW | TOUCH | STATUS),
    NODE(CONDITION, condition, lks_apply_condition, ROW | TOUCH | STATUS),
    NODE(DRAINED, drained, lks_apply_drained, ROW | TOUCH | STATUS),
    NODE(UNDRAINED, undrained, lks_apply_undrained, ROW | TOUCH | STATUS),
    ANY(DEVIATION, lks_apply_deviation),
    ANY(DEVIATION_ENDED, lks_apply_deviation_ended),
    ANY(DEVIATION_AGREED, lks_apply_deviation_agreed),
    ANY(PUBLISHED, lks_apply_published),
    ANY(STEPPED, lks_apply_stepped),
    ANY(IMAGE, lks_apply_image),
    ANY(IMAGE_GONE, lks_apply_gone),
    ANY(ARTIFACT, lks_apply_artifact),
    ANY(ARTIFACT_GONE, lks_apply_gone),
    ANY(JOB, lks_apply_job),
    ANY(OVERRIDE, lks_apply_override),
    ANY(JOB_ENDED, lks_fold_job_ended),
    ANY(JOB_BATCH, lks_fold_job_batch),
    ANY(RUNS_READ, lks_fold_runs_read),
    ANY(REFUSAL, lks_fold_refusal),
    ANY(RESET, lks_fold_reset_apply),
    ANY(OBSERVED, lks_apply_observed),
    ANY(LED, apply_whole),
    ANY(SIGNED, apply_whole),
    ANY(KEY_PINNED, lks_apply_key_pinned),
    ANY(KEY_GONE, lks_apply_gone),
    ANY(BUNDLE, lks_apply_bundle),
    ANY(BUNDLE_REVOKED, lks_apply_bundle_revoked),
    NODE(ENDPOINT, endpoint, apply_node, ROW | TOUCH),
    NODE(FLASH, flash, lks_apply_flash, TOUCH),
    ANY(FLASH_SAVED, lks_apply_flash_saved),
    NODE(FLASH_ENDED, flash_ended, lks_apply_flash_ended, TOUCH),
    NODE(FLASH_RESOLVED, flash_resolved, lks_apply_flash_resolved, TOUCH),
    ANY(CHANGE, lks_apply_change),
    ANY(PLAN_STEP, lks_apply_plan_step),
    ANY(PLAN_WAVE, lks_apply_plan_wave),
    ANY(PLAN_PART, lks_apply_plan_part),
    ANY(PLAN_ORDER, lks_apply_plan_order),
    ANY(PLAN_NOTE, lks_apply_plan_note),
    ANY(CHANGE_VOTED, lks_apply_change_voted),
    ANY(CHANGE_MOVED, lks_apply_change_moved),
    ANY(WAVE, lks_apply_wave),
    ANY(MEMBER, lks_apply_member),
    ANY(REVERT_PROVEN, lks_apply_revert_proven),
    ANY(FROZEN, lks_apply_frozen),
    ANY(VOTE_WITHDRAWN, lks_apply_vote_withdrawn),
    ANY(GLASS_BROKEN, lks_apply_glass_broken),
    ANY(REVIEWED, lks_apply_reviewed),
    ANY(WAIVED, lks_apply_waived),
    ANY(PLAN_METRIC, lks_apply_plan_metric),
    ANY(PLAN_GATE, lks_apply_plan_gate),
    ANY(MEASURED, lks_apply_measured),
    ANY(GATE_LOOKED, lks_apply_gate_looked),
    ANY(WAVE_LIMIT, lks_apply_wave_limit),
    ANY(FORECAST, lks_apply_forecast),
    ANY(JOB_ACT, lks_apply_job_act),
    ANY(LOWERED, lks_apply_lowered),
    ANY(TICKET_HEARD, lks_fold_ticket_heard),
    ANY(TICKET_TOLD, lks_fold_ticket_told),
    ANY(TICKET_DUE, lks_fold_ticket_due),
    NODE(PARTS, parts, apply_parts, ROW),
    NODE(NOTED, noted, apply_noted, ROW | TOUCH | STATUS),
    NODE(INTAKE, intake, apply_node, ROW | TOUCH | STATUS),
    ANY(ACCEPTED, apply_accepted),
    NODE(HELD, held, apply_node, ROW | TOUCH | STATUS),
    NODE(UNHELD, unheld, apply_node, ROW | TOUCH | STATUS),
    NODE(NODE_SET, node_set, apply_node_set, ROW),
    NODE(REPLACED, replaced, apply_replaced, ROW | TOUCH | STATUS),
    ANY(BARRED, apply_barred),
    ANY(ALARM, lks_apply_alarm),
    ANY(ALARM_RELEASED, lks_apply_alarm_released),
    ANY(MASS, lks_apply_mass),
    ANY(GRANTED, lks_apply_granted),
    ANY(UNGRANTED, lks_apply_ungranted),
    ANY(API_TOKEN, lks_apply_api_token),
    ANY(API_TOKEN_GONE, lks_apply_api_token_gone),
    ANY(TOKEN_RENEWED, lks_apply_token_renewed),
    ANY(PERSON_CERTIFIED, lks_apply_person_certified),
    ANY(PERSON_REVOKED, lks_apply_gone),
    NODE(COMMAND, command, lks_apply_command, TOUCH),
    NODE(COMMAND_ENDED, command_ended, lks_apply_command_ended, TOUCH),
};

/* The record itself, without what follows for changes and tickets. */
static enum lks_code apply_one(struct lks_applying *a, size_t kind)
{
    unsigned flags = appliers[kind].flags;
    struct lks_str name = {0};
    if (appliers[kind].node != 0)
        memcpy(&name, (const char *)a->r + appliers[kind].node, sizeof(name));
    if ((flags & TOUCH) != 0)
        a->touched = name;
    if ((flags & ROW) != 0 && (a->node = lks_apply_find(a, name)) == NULL)
        return LKS_OK;
    enum lks_code code = appliers[kind].fn(a);
    if ((flags & STATUS) != 0)
        lks_node_status_update(a->s, lks_apply_number(a, a->node));
    return code;
}

enum lks_code lks_apply_record(struct lks_state *s, uint64_t seq, lks_ms time,
                               const struct lks_record *record, struct lks_err *err)
{
    struct lks_applying a = {.s = s, .time = time, .r = record, .err = err};
    size_t kind = (size_t)record->kind;
    s->seq = seq;
    if (time > s->clock)
        s->clock = time;
    if (kind >= LKS_COUNT(appliers) || appliers[kind].fn == NULL)
        return LKS_OK;
    if (apply_one(&a, kind) != LKS_OK || lks_fold_tickets_apply(&a) != LKS_OK)
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
    lks_node_status_settle(a->s, 0);
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
        lks_fold_runs_index,
        lks_fold_refusals_index,
    };
    const struct lks_applying a = {.s = s, .time = s->clock, .err = err};
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        if (steps[i](&a) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}
