/* One record made true. Nothing is decided here, and nothing is refused: a record that speaks of
 * what is not there changes nothing. */
#include "core/apply.h"
#include "codec/hostlist.h"
#include "core/pulse.h"
#include "core/state_room.h"

#include <stdlib.h>

enum { HOSTS_MEMORY_MAX = 512 << 20 };

enum lks_code lks_apply_keep(const struct lks_applying *a, struct lks_str text, lks_text *out)
{
    return lks_intern_id(&a->s->texts, text, out, a->err);
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

/* The placed node of that name, or NULL. */
static struct lks_node *find(const struct lks_applying *a, struct lks_str name)
{
    uint32_t n = lks_state_node(a->s, name);
    return n == LKS_NO_NODE ? NULL : &a->s->nodes[n];
}

static uint32_t number_of(const struct lks_applying *a, const struct lks_node *node)
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

static void unjudge(struct lks_node *node)
{
    node->judged = LKS_JUDGED_NOT;
    node->judged_stack = node->first = 0;
    node->drifted = node->unmeasured = 0;
}

/* The node runs `digest`, empty for nothing known. With its last node a tuple is forgotten; the new
 * one is counted first, since it may be the same. */
static enum lks_code run_tuple(const struct lks_applying *a, struct lks_node *node,
                               struct lks_str digest)
{
    struct lks_state *s = a->s;
    lks_text text = 0;
    uint32_t id = 0;
    if (lks_apply_keep(a, digest, &text) != LKS_OK)
        return a->err->code;
    if (text != 0) {
        if (lks_state_tuple_place(s, digest, &id, a->err) != LKS_OK)
            return a->err->code;
        s->tuple_nodes[id]++;
    }
    if (node->tuple != 0 && lks_intern_find(&s->tuples, lks_state_text(s, node->tuple), &id) &&
        --s->tuple_nodes[id] == 0) {
        free(s->tuple_texts[id]);
        s->tuple_texts[id] = NULL;
        s->tuple_readings[id] = 0;
    }
    node->tuple = text;
    return LKS_OK;
}

static enum lks_code arm(const struct lks_applying *a, uint32_t n)
{
    lks_ms at = lks_pulse_deadline(a->s, n);
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
        lks_mass_remove(&a->s->mass[node->pool], a->s->turns, number_of(a, node));
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
    };
    s->commands_due = 0;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (arm(a, n) != LKS_OK)
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

/* Judgements rest on the stack that a pool pins: with another they are void. */
static void pin(struct lks_state *s, uint32_t p, lks_text digest)
{
    struct lks_state_pool *pool = &s->pools[p];
    if (pool->stack_digest == digest)
        return;
    pool->stack_digest = digest;
    for (uint32_t n = 0; n < s->node_count && pool->nodes > 0; n++) {
        if (s->nodes[n].pool == p && s->nodes[n].judged_stack != digest)
            unjudge(&s->nodes[n]);
    }
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
    pin(a->s, p, digest);
    return LKS_OK;
}

/* Its place stays, and nodes that are still in it keep being counted there. */
static enum lks_code apply_pool_removed(const struct lks_applying *a)
{
    uint32_t p = lks_state_pool(a->s, a->r->pool_removed.name);
    if (p == LKS_NO_POOL)
        return LKS_OK;
    struct lks_state_pool *pool = &a->s->pools[p];
    pin(a->s, p, 0);
    pool->known = false;
    pool->posture = pool->enforce = pool->sched = pool->stack = 0;
    pool->criticality = 0;
    pool->mass_alarm = 0;
    lks_mass_clear(&a->s->mass[p], a->s->turns);
    return LKS_OK;
}

/* Each name of a host list in turn; one that is not a host list names nobody. */
static enum lks_code each_host(const struct lks_applying *a, struct lks_str hosts,
                               enum lks_code (*fn)(const struct lks_applying *a,
                                                   struct lks_str name))
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err bad = {0};
    lks_arena_init(&arena, HOSTS_MEMORY_MAX);
    if (lks_hostlist_parse(hosts, &arena, &list, &bad) != LKS_OK)
        return bad.code == LKS_E_NOMEM ? lks_fail_nomem(a->err) : LKS_OK;
    for (size_t i = 0; i < list.count; i++) {
        if (fn(a, list.names[i]) != LKS_OK)
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

static enum lks_code place(const struct lks_applying *a, struct lks_str name)
{
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
        if (node->judged_stack != (pool == LKS_NO_POOL ? 0 : s->pools[pool].stack_digest))
            unjudge(node);
    }
    count(s, node, 1);
    return LKS_OK;
}

static enum lks_code apply_placed(const struct lks_applying *a)
{
    return each_host(a, a->r->placed.hosts, place);
}

/* What was known of the machine under this name is about another machine now. */
static enum lks_code forget_machine(const struct lks_applying *a, struct lks_node *node)
{
    if (run_tuple(a, node, LKS_STR("")) != LKS_OK)
        return a->err->code;
    unjudge(node);
    node->enrolled = node->intake = node->accepted = false;
    node->intake_why = 0;
    node->liveness = LKS_NEVER_SEEN;
    node->liveness_since = a->time;
    node->boot = node->tuple_boot = node->report = 0;
    node->taken = node->tuple_since = 0;
    memset(node->parts, 0, sizeof(node->parts));
    node->notes = 0;
    node->token_hash = 0;
    node->token_expires = 0;
    memset(node->certificates, 0, sizeof(node->certificates));
    a->s->pulses[number_of(a, node)] = (struct lks_pulse){0};
    return arm(a, number_of(a, node));
}

static enum lks_code remove_node(const struct lks_applying *a, struct lks_str name)
{
    struct lks_node *node = find(a, name);
    if (node == NULL)
        return LKS_OK;
    count(a->s, node, -1);
    if (forget_machine(a, node) != LKS_OK)
        return a->err->code;
    leave_pool(a, node);
    *node = (struct lks_node){.pool = LKS_NO_POOL, .pending = node->pending};
    return LKS_OK;
}

static enum lks_code apply_removed(const struct lks_applying *a)
{
    return each_host(a, a->r->removed.hosts, remove_node);
}

static enum lks_code apply_replaced(const struct lks_applying *a)
{
    struct lks_node *node = find(a, a->r->replaced.node);
    if (node == NULL)
        return LKS_OK;
    count(a->s, node, -1);
    enum lks_code code = forget_machine(a, node);
    count(a->s, node, 1);
    return code;
}

/* Certificates ------------------------------------------------------------------------------ */

static enum lks_code apply_token(const struct lks_applying *a)
{
    const struct lks_rec_token *t = &a->r->token;
    struct lks_node *node = find(a, t->node);
    if (node == NULL)
        return LKS_OK;
    node->token_expires = t->expires;
    return lks_apply_keep(a, t->hash, &node->token_hash);
}

static struct lks_certificate certificate(struct lks_str fingerprint, lks_ms expires)
{
    struct lks_certificate c = {.expires = expires};
    if (fingerprint.len > 0 && fingerprint.len < sizeof(c.fingerprint))
        memcpy(c.fingerprint, fingerprint.ptr, fingerprint.len);
    return c;
}

static void set_enrolled(const struct lks_applying *a, struct lks_node *node, bool enrolled)
{
    count(a->s, node, -1);
    node->enrolled = enrolled;
    count(a->s, node, 1);
}

/* The token is used, and certificates from before are good for nothing. */
static enum lks_code apply_enrolled(const struct lks_applying *a)
{
    const struct lks_rec_enrolled *e = &a->r->enrolled;
    struct lks_node *node = find(a, e->node);
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
    struct lks_node *node = find(a, c->node);
    if (node == NULL)
        return LKS_OK;
    set_enrolled(a, node, true);
    if (node->certificates[0].fingerprint[0] != '\0')
        node->certificates[1] = node->certificates[0];
    node->certificates[0] = certificate(c->fingerprint, c->expires);
    return LKS_OK;
}

static enum lks_code apply_revoked(const struct lks_applying *a)
{
    struct lks_node *node = find(a, a->r->revoked.node);
    if (node == NULL)
        return LKS_OK;
    set_enrolled(a, node, false);
    memset(node->certificates, 0, sizeof(node->certificates));
    return LKS_OK;
}

/* What is seen of nodes --------------------------------------------------------------------- */

/* A node that was live and is not any more has turned for the worse. */
static enum lks_code apply_liveness(const struct lks_applying *a)
{
    const struct lks_rec_liveness *l = &a->r->liveness;
    struct lks_node *node = find(a, l->node);
    if (node == NULL || l->state >= LKS_LIVENESS_COUNT)
        return LKS_OK;
    bool worse = node->liveness == LKS_LIVE && (l->state == LKS_LATE || l->state == LKS_LOST);
    count(a->s, node, -1);
    node->liveness = (enum lks_liveness)l->state;
    node->liveness_since = a->time;
    count(a->s, node, 1);
    if (worse)
        lks_apply_turned(a, number_of(a, node));
    return arm(a, number_of(a, node));
}

static enum lks_code apply_booted(const struct lks_applying *a)
{
    struct lks_node *node = find(a, a->r->booted.node);
    return node == NULL ? LKS_OK : lks_apply_keep(a, a->r->booted.boot, &node->boot);
}

/* Readings are long, and a node that changes all the time brings ever new ones: they are freed when
 * nobody runs them, unlike other texts. */
static enum lks_code apply_tuple_known(const struct lks_applying *a)
{
    const struct lks_rec_tuple_known *k = &a->r->tuple_known;
    uint32_t id = 0;
    if (k->digest.len == 0 || lks_state_tuple_known(a->s, k->digest))
        return LKS_OK;
    if (lks_state_tuple_place(a->s, k->digest, &id, a->err) != LKS_OK)
        return a->err->code;
    if (k->readings.len == 0)
        return LKS_OK;
    char *copy = strndup(k->readings.ptr, k->readings.len);
    if (copy == NULL)
        return lks_fail_nomem(a->err);
    a->s->tuple_texts[id] = copy;
    a->s->tuple_readings[id] = LKS_TEXT_OF_TUPLE | id;
    return LKS_OK;
}

static uint32_t small(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static enum lks_code apply_tuple(const struct lks_applying *a)
{
    const struct lks_rec_tuple *t = &a->r->tuple;
    struct lks_node *node = find(a, t->node);
    if (node == NULL || t->judged >= LKS_JUDGED_COUNT)
        return LKS_OK;
    const struct lks_kept list[] = {
        {t->report, &node->report},
        {t->boot, &node->tuple_boot},
        {t->stack, &node->judged_stack},
        {t->first, &node->first},
    };
    bool worse = node->judged == LKS_JUDGED_CONFORMS && t->judged == LKS_JUDGED_DRIFT;
    if (run_tuple(a, node, t->digest) != LKS_OK ||
        lks_apply_keep_all(a, list, LKS_COUNT(list)) != LKS_OK)
        return a->err->code;
    if (worse)
        lks_apply_turned(a, number_of(a, node));
    node->taken = t->taken;
    node->tuple_since = a->time;
    node->judged = (enum lks_judged)t->judged;
    node->drifted = small(t->drifted);
    node->unmeasured = small(t->unmeasured);
    return LKS_OK;
}

static enum lks_code apply_parts(const struct lks_applying *a)
{
    const struct lks_rec_parts *p = &a->r->parts;
    struct lks_node *node = find(a, p->node);
    if (node == NULL)
        return LKS_OK;
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
    struct lks_node *node = find(a, r->node);
    if (node == NULL || r->note >= LKS_NOTE_COUNT)
        return LKS_OK;
    uint32_t bit = UINT32_C(1) << r->note;
    node->notes = r->on ? node->notes | bit : node->notes & ~bit;
    return LKS_OK;
}

/* What people say of them ------------------------------------------------------------------- */

static enum lks_code apply_intake(const struct lks_applying *a)
{
    struct lks_node *node = find(a, a->r->intake.node);
    if (node == NULL)
        return LKS_OK;
    node->intake = true;
    node->accepted = false;
    return lks_apply_keep(a, a->r->intake.why, &node->intake_why);
}

static enum lks_code accept_node(const struct lks_applying *a, struct lks_str name)
{
    struct lks_node *node = find(a, name);
    if (node == NULL)
        return LKS_OK;
    node->intake = false;
    node->accepted = true;
    node->intake_why = 0;
    return LKS_OK;
}

static enum lks_code apply_accepted(const struct lks_applying *a)
{
    return each_host(a, a->r->accepted.hosts, accept_node);
}

static enum lks_code apply_held(const struct lks_applying *a)
{
    const struct lks_rec_held *h = &a->r->held;
    struct lks_node *node = find(a, h->node);
    if (node == NULL)
        return LKS_OK;
    node->held = true;
    const struct lks_kept list[] = {{h->by, &node->held_by}, {h->reason, &node->held_reason}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

static enum lks_code apply_unheld(const struct lks_applying *a)
{
    struct lks_node *node = find(a, a->r->unheld.node);
    if (node == NULL)
        return LKS_OK;
    node->held = false;
    node->held_by = node->held_reason = 0;
    return LKS_OK;
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
    [LKS_RECORD_TUPLE_KNOWN] = apply_tuple_known,
    [LKS_RECORD_TUPLE] = apply_tuple,
    [LKS_RECORD_PARTS] = apply_parts,
    [LKS_RECORD_NOTED] = apply_noted,
    [LKS_RECORD_INTAKE] = apply_intake,
    [LKS_RECORD_ACCEPTED] = apply_accepted,
    [LKS_RECORD_HELD] = apply_held,
    [LKS_RECORD_UNHELD] = apply_unheld,
    [LKS_RECORD_REPLACED] = apply_replaced,
    [LKS_RECORD_ALARM] = lks_apply_alarm,
    [LKS_RECORD_ALARM_RELEASED] = lks_apply_alarm_released,
    [LKS_RECORD_MASS] = lks_apply_mass,
    [LKS_RECORD_GRANTED] = lks_apply_granted,
    [LKS_RECORD_UNGRANTED] = lks_apply_ungranted,
    [LKS_RECORD_API_TOKEN] = lks_apply_api_token,
    [LKS_RECORD_API_TOKEN_GONE] = lks_apply_api_token_gone,
    [LKS_RECORD_COMMAND] = lks_apply_command,
    [LKS_RECORD_COMMAND_ENDED] = lks_apply_command_ended,
};

enum lks_code lks_state_apply(struct lks_state *s, uint64_t seq, lks_ms time,
                              const struct lks_record *record, struct lks_err *err)
{
    const struct lks_applying a = {.s = s, .time = time, .r = record, .err = err};
    s->seq = seq;
    if (time > s->clock)
        s->clock = time;
    size_t kind = (size_t)record->kind;
    lks_applier *fn = kind < LKS_COUNT(appliers) ? appliers[kind] : NULL;
    return fn == NULL ? LKS_OK : fn(&a);
}
