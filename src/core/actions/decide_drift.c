/* What was read out of band, what others say of a node, and drift: when it begins and ends, why,
 * and what is done about it. */
#include "core/actions/actions.h"
#include "core/actions/drift_cause.h"
#include "core/conform/basis.h"
#include "core/conform/verdict.h"
#include "core/registry/book.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/access.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

enum {
    JUDGED_SLICE = 32,         /* verdicts that a tick makes */
    ENDED_SLICE = 64,          /* out-of-band readings that a tick finds past their age */
    PROPOSAL_BYTES_MAX = 4096, /* of host names in an alarm; more are counted */
};

#define OWNER        "lockstep:drift"
#define ATTESTED_MAX ((lks_ms)7 * 24 * 3600 * LKS_SECOND)

static struct lks_str name_of(const struct lks_deciding *d, uint32_t node)
{
    return lks_state_name(d->state, node);
}

static bool is_text(const struct lks_deciding *d, lks_text have, const char *text)
{
    return lks_str_is(lks_state_text(d->state, have), text);
}

/* Out of band ------------------------------------------------------------------------------- */

/* What the fleet says of an asset takes the place of what a node says of itself: a judgement has to
 * know that it is one, and of which side. */
static struct lks_deciding_basis as_asset(struct lks_deciding *d, const struct lks_node *n)
{
    const struct lks_state *s = d->state;
    struct lks_str side = lks_state_text(s, n->side);
    const char *line = side.len > 0 ? "asset.side\t\t\t=\t" : "";
    return (struct lks_deciding_basis){
        .text = lks_decision_text(d, "asset\t\t\t=\t%" LKS_STR_FMT "\n%s%" LKS_STR_FMT "%s",
                                  LKS_STR_ARG(lks_state_text(s, n->asset)), line, LKS_STR_ARG(side),
                                  side.len > 0 ? "\n" : ""),
        .digest = {"", 0}};
}

/* Record what stands for the node from here on, and how it compares. */
static void record_outband(struct lks_deciding *d, uint32_t node, struct lks_rec_outband record,
                           const struct lks_deciding_basis *outband, bool expired)
{
    struct lks_deciding_basis whole;
    const struct lks_node *n = &d->state->nodes[node];
    const struct lks_deciding_bands bands = {
        .inband = n->asset != 0 && outband->digest.len > 0 ? as_asset(d, n)
                                                           : lks_decide_tuple_known(d, n->inband),
        .outband = *outband,
        .expired = expired,
        .scheduler = lks_decide_advertised_known(d, n),
    };
    if (!lks_decide_tuple_whole(d, &bands, &whole))
        return;
    lks_decide_tuple_basis(d, outband);
    lks_decide_tuple_basis(d, &whole);
    (void)lks_decide_tuple_judge(d, &whole, lks_state_intent(d->state, node));
    record.node = name_of(d, node);
    record.basis = outband->digest;
    record.whole = whole.digest;
    lks_decision_add(d, LKS_RECORD_OUTBAND)->outband = record;
}

void lks_decide_outband_over(struct lks_deciding *d, uint32_t node, struct lks_str reason)
{
    static const struct lks_deciding_basis none = {.text = {"", 0}, .digest = {"", 0}};
    if (d->state->nodes[node].outband != 0)
        record_outband(d, node, (struct lks_rec_outband){.by = d->event->by, .reason = reason},
                       &none, false);
}

/* An update of it ended since, and what was read before is over. Readings tell whole seconds. */
static bool is_before_update(const struct lks_state *s, uint32_t node, lks_ms taken)
{
    for (uint32_t i = s->flash_count; i-- > 0;) {
        const struct lks_state_flash *f = &s->flashes[i];
        if (f->node == node && f->outcome != LKS_BMC_OPEN && f->ended > taken &&
            f->ended - taken >= LKS_SECOND)
            return true;
    }
    return false;
}

static bool check_outband(struct lks_deciding *d, uint32_t node, lks_ms taken)
{
    const struct lks_tuple *t = d->event->outband.tuple;
    struct lks_str name = name_of(d, node);
    const struct lks_state_flash *flash = lks_state_flashing(d->state, node);
    if (flash != NULL && flash->outcome == LKS_BMC_OPEN) /* it is on its way to something else */
        (void)lks_decide_flash_unflashed(d, node);
    else if (t->node.len > 0 && !lks_str_eq(t->node, name))
        lks_decision_refuse(d, LKS_E_INVALID, "these are readings of %" LKS_STR_FMT,
                            LKS_STR_ARG(t->node));
    else if (taken > d->now.wall + d->state->limits.skew)
        lks_decision_refuse(d, LKS_E_INVALID, "they were taken in the future; check the clocks");
    else if (taken < d->state->nodes[node].outband_taken)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " was read out of band after these were taken",
                            LKS_STR_ARG(name));
    else if (is_before_update(d->state, node, taken))
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " was updated after these were taken",
                            LKS_STR_ARG(name));
    else
        return true;
    return false;
}

/* The same readings again are recorded, too: they are younger. */
void lks_decide_outband(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_tuple *t = e->outband.tuple;
    struct lks_deciding_basis outband;
    uint32_t node = LKS_NO_NODE;
    if (!lks_decision_node(d, &node))
        return;
    if (t == NULL) {
        if (lks_decision_reason(d))
            lks_decide_outband_over(d, node, lks_str_trim(e->reason));
        return;
    }
    lks_ms taken = t->taken > 0 ? (lks_ms)t->taken * LKS_SECOND : d->now.wall;
    if (check_outband(d, node, taken) && lks_decide_tuple_readings(d, t, &outband))
        record_outband(d, node,
                       (struct lks_rec_outband){.report = e->outband.report,
                                                .taken = taken,
                                                .by = e->by,
                                                .reason = lks_str_trim(e->reason)},
                       &outband, lks_decide_tuple_expired(d, taken));
}

static void end_outband(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_deciding_basis outband = lks_decide_tuple_known(d, n->outband);
    record_outband(d, node,
                   (struct lks_rec_outband){.report = lks_state_text(d->state, n->outband_report),
                                            .taken = n->outband_taken,
                                            .reason = LKS_STR("past its age")},
                   &outband, true);
}

/* Verdicts ---------------------------------------------------------------------------------- */

/* A pin moved, or a change began: readings that are known already are held against the new intent,
 * each once for all that have them. */
static void verdict_tick(struct lks_deciding *d)
{
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset done = {0};
    const struct lks_node_status *st = d->state->standing;
    struct lks_err err = {0};
    size_t judged = 0;
    if (st->lacking == 0)
        return;
    if (lks_bitset_init(&done, d->state->basis_room, &err) != LKS_OK) {
        d->out->failed = err.code;
        return;
    }
    for (size_t n = lks_bitset_next(&st->lacks, 0); n < st->lacks.size;
         n = lks_bitset_next(&st->lacks, n + 1)) {
        uint32_t whole = d->state->nodes[n].whole;
        if (lks_bitset_test(&done, whole - 1))
            continue;
        lks_bitset_set(&done, whole - 1);
        struct lks_deciding_basis basis = lks_decide_tuple_known(d, whole);
        size_t before = d->out->count;
        (void)lks_decide_tuple_judge(d, &basis, lks_state_intent(d->state, (uint32_t)n));
        judged += d->out->count > before;
        if (judged == JUDGED_SLICE || !lks_deciding_room(d)) {
            d->out->more = true;
            return;
        }
    }
}

/* Conditions -------------------------------------------------------------------------------- */

static bool check_target(struct lks_deciding *d, struct lks_str digest)
{
    if (digest.len == 0 || lks_book_stack(d->book, digest) != NULL)
        return true;
    lks_decision_refuse(d, LKS_E_NOT_FOUND,
                        "no stack '%" LKS_STR_FMT "' is known; publish it first",
                        LKS_STR_ARG(digest));
    return false;
}

/* A state that lockstep did not verify is accepted by a person's statement, for a limited time. */
static bool check_attested(struct lks_deciding *d, lks_ms until)
{
    if (until <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, "until: an attestation ends in the future");
    else if (until - d->now.wall > ATTESTED_MAX)
        lks_decision_refuse(d, LKS_E_INVALID, "until: an attestation is for at most 7 days");
    else
        return true;
    return false;
}

/* That something is wrong, or is about to be changed, is said with the reason for it. */
static bool check_condition(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    lks_ms until = e->condition.until;
    bool on = e->condition.on;
    bool needs_text = on && (e->condition.condition == LKS_CONDITION_UNHEALTHY ||
                             e->condition.condition == LKS_CONDITION_CHANGING);
    if ((needs_text || e->condition.text.len > 0) &&
        !lks_decision_line(d, "text", e->condition.text, LKS_REASON_MAX))
        return false;
    if (on && e->condition.condition == LKS_CONDITION_ATTESTED)
        return check_attested(d, until);
    if (on && e->condition.condition == LKS_CONDITION_CHECKED &&
        until > d->now.wall + d->state->limits.skew)
        lks_decision_refuse(d, LKS_E_INVALID, "until: a check that passed did so in the past");
    else
        return e->condition.condition != LKS_CONDITION_CHANGING || !on ||
               check_target(d, e->condition.stack);
    return false;
}

static bool is_said(const struct lks_deciding *d, const struct lks_node *n,
                    const struct lks_rec_condition *c)
{
    bool text = lks_str_eq(lks_state_text(d->state, n->condition_text), c->text);
    bool target = lks_str_eq(lks_state_text(d->state, n->target), c->stack);
    switch ((enum lks_condition)c->condition) {
    case LKS_CONDITION_UNHEALTHY:
        return n->unhealthy == c->on && (text || !c->on);
    case LKS_CONDITION_CHANGING:
        return (n->changing != 0) == c->on && ((text && target) || !c->on);
    case LKS_CONDITION_ATTESTED:
        return n->attested_until == c->until;
    case LKS_CONDITION_CHECKED:
    case LKS_CONDITION_COUNT:
        break;
    }
    return n->checked_at == c->until;
}

/* A node in a change is drained, and its target is what the change says alone. */
static bool check_no_change(struct lks_deciding *d, uint32_t node)
{
    uint64_t change = d->state->nodes[node].change;
    if (change == 0)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "change %llu has %" LKS_STR_FMT "; pause, abort or release it there",
                        (unsigned long long)change, LKS_STR_ARG(name_of(d, node)));
    return false;
}

/* By hand, too, production is led to nothing but what was released. */
static bool may_target(struct lks_deciding *d, uint32_t node, struct lks_str digest)
{
    return digest.len == 0 || lks_decide_hand_takes(d, node, digest);
}

/* Jobs start by it, and gates rely on it, as on an override: it takes a person who may give one.
 * Any operator of the nodes may remove it. */
static bool may_attest(struct lks_deciding *d, const struct lks_hostlist *hosts)
{
    const struct lks_event *e = d->event;
    if (e->condition.condition != LKS_CONDITION_ATTESTED || !e->condition.on)
        return true;
    struct lks_sight sight = lks_access_sight_by(d->state, e->by, e->credential, LKS_MAY_APPROVE);
    for (size_t i = 0; i < hosts->count; i++) {
        if (lks_access_sees(d->state, &sight, lks_state_node(d->state, hosts->names[i])))
            continue;
        lks_decision_refuse(d, LKS_E_DENIED,
                            "%" LKS_STR_FMT " may not approve for %" LKS_STR_FMT
                            ": that a node is attested is an approver's to say",
                            LKS_STR_ARG(e->by), LKS_STR_ARG(hosts->names[i]));
        return false;
    }
    return true;
}

void lks_decide_condition(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_hostlist hosts = {0};
    if (!check_condition(d) || !lks_decision_few(d, &hosts) || !may_attest(d, &hosts))
        return;
    bool changing = e->condition.condition == LKS_CONDITION_CHANGING;
    bool checked = e->condition.condition == LKS_CONDITION_CHECKED;
    bool timed = checked || e->condition.condition == LKS_CONDITION_ATTESTED;
    struct lks_rec_condition record = {
        .condition = e->condition.condition,
        .on = e->condition.on,
        .until = timed && e->condition.on ? e->condition.until : 0,
        .stack = changing && e->condition.on ? e->condition.stack : LKS_STR(""),
        .by = e->by,
        .text = e->condition.text,
    };
    if (checked && record.on && record.until == 0)
        record.until = d->now.wall;
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(d->state, hosts.names[i]);
        record.node = hosts.names[i];
        if (changing && (!check_no_change(d, node) || !may_target(d, node, record.stack) ||
                         (!record.on && (!lks_decide_flash_unflashed(d, node) ||
                                         !lks_decide_command_answered(d, node)))))
            return;
        if (e->condition.condition == LKS_CONDITION_UNHEALTHY)
            lks_decide_check_over(d, node, LKS_STR("a person took the condition over"));
        if (!is_said(d, &d->state->nodes[node], &record))
            lks_decision_add(d, LKS_RECORD_CONDITION)->condition = record;
    }
}

/* Acts -------------------------------------------------------------------------------------- */

static const struct lks_state_pool *pool_of(const struct lks_deciding *d, uint32_t node)
{
    uint32_t pool = d->state->nodes[node].pool;
    return pool < d->state->pool_count ? &d->state->pools[pool] : NULL;
}

/* What is to be done about drift in a pool: nothing where it only observes, alarms where it warns,
 * all that is asked for where it enforces. */
static unsigned acts_under(struct lks_str enforce, unsigned on_drift)
{
    if (lks_str_is(enforce, "on"))
        return on_drift;
    return lks_str_is(enforce, "warn") ? on_drift & LKS_ACT_ALARM : 0;
}

static unsigned acts_of(const struct lks_deciding *d, const struct lks_state_pool *pool)
{
    return pool == NULL ? 0 : acts_under(lks_state_text(d->state, pool->enforce), pool->on_drift);
}

/* Where it is frozen, people are told and nothing else is done; what is left is done when it is
 * over. */
static unsigned acts_now(const struct lks_deciding *d, uint32_t pool, unsigned acts)
{
    bool frozen = d->state->frozen || (pool < d->state->pool_count && d->state->pools[pool].frozen);
    return frozen ? acts & LKS_ACT_ALARM : acts;
}

static void begin_acts(struct lks_deciding *d, uint32_t node, struct lks_str text, unsigned acts)
{
    const struct lks_node *n = &d->state->nodes[node];
    if ((acts & LKS_ACT_ALARM) != 0)
        (void)lks_decision_alarm(d, LKS_ALARM_DRIFT, name_of(d, node), text);
    if ((acts & LKS_ACT_DRAIN) == 0 || n->asset != 0 || n->drained_by != 0)
        return;
    struct lks_record *r = lks_decision_add(d, LKS_RECORD_DRAINED);
    r->drained = (struct lks_rec_drained){.node = name_of(d, node),
                                          .owner = LKS_STR(OWNER),
                                          .reason = text,
                                          .row = lks_decision_row(d, LKS_STR(OWNER))};
}

/* The open alarm of lockstepd's own about `subject`; NULL: none. */
static const struct lks_state_alarm *open_alarm(const struct lks_deciding *d,
                                                enum lks_alarm_kind kind, lks_text subject)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = s->alarm_count; i-- > 0 && s->alarms_open > 0;) {
        const struct lks_state_alarm *a = &s->alarms[i];
        if (a->released == 0 && a->kind == kind && a->subject == subject)
            return a;
    }
    return NULL;
}

static void release_alarm(struct lks_deciding *d, const struct lks_state_alarm *alarm,
                          struct lks_str reason)
{
    if (alarm != NULL)
        lks_decision_add(d, LKS_RECORD_ALARM_RELEASED)->alarm_released =
            (struct lks_rec_alarm_released){.id = alarm->id, .reason = reason};
}

static void undrain(struct lks_deciding *d, uint32_t node, struct lks_str reason)
{
    if (is_text(d, d->state->nodes[node].drained_by, OWNER))
        lks_decision_add(d, LKS_RECORD_UNDRAINED)->undrained = (struct lks_rec_undrained){
            .node = name_of(d, node), .owner = LKS_STR(OWNER), .reason = reason};
}

void lks_decide_drift_undrain(struct lks_deciding *d, uint32_t node, struct lks_str reason)
{
    if (d->state->nodes[node].change == 0)
        undrain(d, node, reason);
}

void lks_decide_drift_changed(struct lks_deciding *d, uint32_t node, struct lks_str reason)
{
    const struct lks_state_verdict *v = lks_state_verdict(d->state, node);
    if (!d->state->nodes[node].drifting && v != NULL && v->judged == LKS_JUDGED_CONFORMS &&
        !lks_node_status_unread(d->state, node))
        undrain(d, node, reason);
}

/* Proposals --------------------------------------------------------------------------------- */

/* Nodes of a pool that drift once this decision is true. */
static bool will_drift(const struct lks_deciding *d, size_t n, uint32_t pool)
{
    const struct lks_node_status *st = d->state->standing;
    return d->state->nodes[n].pool == pool && lks_bitset_test(&st->differs, n);
}

static struct lks_str proposal_text(struct lks_deciding *d, uint32_t pool)
{
    const struct lks_bitset *differs = &d->state->standing->differs;
    size_t count = 0, room = lks_bitset_count(differs);
    struct lks_str *names = lks_arena_array(&d->out->arena, room + 1, sizeof(names[0]));
    struct lks_str hosts = {"", 0};
    if (names == NULL) {
        d->out->failed = LKS_E_NOMEM;
        return hosts;
    }
    for (size_t n = lks_bitset_next(differs, 0); n < differs->size;
         n = lks_bitset_next(differs, n + 1)) {
        if (will_drift(d, n, pool))
            names[count++] = name_of(d, (uint32_t)n);
    }
    if (count == 0)
        return hosts;
    if (!lks_decision_fold(d, names, count, &hosts) || hosts.len > PROPOSAL_BYTES_MAX)
        hosts = LKS_STR("more than can be listed");
    struct lks_str stack = lks_state_text(d->state, d->state->pools[pool].stack);
    char many[LKS_COUNT_TEXT_SIZE];
    return lks_decision_text(d, "%s should be brought back to %" LKS_STR_FMT ": %" LKS_STR_FMT,
                             lks_str_count_text(count, "node", many), LKS_STR_ARG(stack),
                             LKS_STR_ARG(hosts));
}

/* One proposal a pool, which names all that drift: an older one that names others makes room. */
static void propose(struct lks_deciding *d, uint32_t pool, unsigned acts)
{
    const struct lks_state_pool *p = &d->state->pools[pool];
    const struct lks_state_alarm *open = open_alarm(d, LKS_ALARM_PROPOSAL, p->name);
    if (open == NULL && (acts & LKS_ACT_PROPOSE) == 0)
        return;
    struct lks_str text = proposal_text(d, pool);
    if (open != NULL && lks_str_eq(lks_state_text(d->state, open->text), text))
        return;
    release_alarm(d, open,
                  text.len > 0 ? LKS_STR("other nodes drift by now")
                               : LKS_STR("no node of the pool drifts any more"));
    if (text.len == 0 || (acts & LKS_ACT_PROPOSE) == 0)
        return;
    lks_decision_add(d, LKS_RECORD_ALARM)->alarm =
        (struct lks_rec_alarm){.id = d->next_alarm++,
                               .kind = LKS_ALARM_PROPOSAL,
                               .subject = lks_state_text(d->state, p->name),
                               .text = text};
}

/* Drift ------------------------------------------------------------------------------------- */

static struct lks_str evidence_of(const struct lks_deciding *d, const struct lks_node *n)
{
    return lks_state_text(d->state, n->report != 0 ? n->report : n->outband_report);
}

/* A change that ended before its time brought it to what it runs. */
static bool is_partial(const struct lks_deciding *d, uint32_t node)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_member *m = lks_state_change_member(&s->changes[i], node);
        if (m != NULL && m->state == LKS_MEMBER_DONE && s->changes[i].stack != 0 &&
            s->changes[i].stack == s->nodes[node].right)
            return true;
    }
    return false;
}

/* It drifts as before, from another stack: only what is told of it changes, in its alarm, too. */
static void tell_again(struct lks_deciding *d, uint32_t node, struct lks_str text)
{
    lks_text subject = 0;
    const struct lks_state_alarm *open =
        lks_intern_find(&d->state->texts, name_of(d, node), &subject)
            ? open_alarm(d, LKS_ALARM_DRIFT, subject)
            : NULL;
    if (open == NULL)
        return;
    release_alarm(d, open, LKS_STR("it should run another stack by now"));
    lks_decision_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
        .id = d->next_alarm++, .kind = LKS_ALARM_DRIFT, .subject = name_of(d, node), .text = text};
}

static void begin(struct lks_deciding *d, struct lks_causes *causes, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_cause_told told = lks_drift_cause_tell(causes, node);
    if (n->change != 0 || is_partial(d, node)) /* on its way from one to the other it is neither */
        told.cause = LKS_DRIFT_WAVE;
    lks_decision_add(d, LKS_RECORD_DRIFT)->drift = (struct lks_rec_drift){
        .node = name_of(d, node),
        .on = true,
        .stack = lks_state_text(d->state, lks_state_intent(d->state, node)),
        .cause = told.cause,
        .text = told.text,
        .evidence = evidence_of(d, n),
    };
    if (n->drifting)
        tell_again(d, node, told.text);
    if (n->change != 0 || n->drifting)
        return;
    lks_decision_turn(d, node, "drift");
    if (!lks_decision_waits(d, n->pool))
        begin_acts(d, node, told.text, acts_now(d, n->pool, acts_of(d, pool_of(d, node))));
}

/* How it came right, and whether it did: a status that is merely unknown does not return it to
 * service. */
static struct lks_str how_ended(struct lks_deciding *d, uint32_t node, bool *right)
{
    const struct lks_state_verdict *v = lks_state_verdict(d->state, node);
    *right =
        v == NULL || v->judged != LKS_JUDGED_CONFORMS || !lks_node_status_unread(d->state, node);
    if (!*right)
        return LKS_STR("its tuple is unknown: it was not read since it booted or was changed");
    if (v != NULL && v->judged == LKS_JUDGED_CONFORMS)
        return LKS_STR("it conforms again");
    if (v != NULL && v->judged == LKS_JUDGED_DRIFT) {
        struct lks_str lines = lks_state_text(d->state, v->wrong);
        struct lks_wrong wrong;
        uint64_t id = 0;
        while (id == 0 && lks_verdict_wrong_next(&lines, &wrong))
            id = lks_node_status_covered(d->state, node, wrong.subject, wrong.actual);
        return lks_decision_text(d, "deviation %llu covers it", (unsigned long long)id);
    }
    *right = false;
    if (v != NULL)
        return LKS_STR("what differed could not be measured");
    return LKS_STR("it is not held against that stack any more");
}

static void end(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    bool right;
    struct lks_str how = how_ended(d, node, &right);
    lks_decision_add(d, LKS_RECORD_DRIFT)->drift = (struct lks_rec_drift){
        .node = name_of(d, node),
        .stack = lks_state_text(d->state, lks_state_intent(d->state, node)),
        .cause = n->drift_cause,
        .text = how,
        .evidence = evidence_of(d, n),
    };
    lks_text subject = 0;
    if (lks_intern_find(&d->state->texts, name_of(d, node), &subject))
        release_alarm(d, open_alarm(d, LKS_ALARM_DRIFT, subject), how);
    if (right)
        lks_decide_drift_undrain(d, node, how);
}

/* A verdict is about to be made, and then it is known whether drift ended. */
static bool is_awaited(const struct lks_deciding *d, size_t node)
{
    const struct lks_state *s = d->state;
    return lks_bitset_test(&s->standing->lacks, node) &&
           lks_state_readings(s, s->nodes[node].whole).len > 0 &&
           lks_book_stack(d->book, lks_state_text(s, lks_state_intent(s, (uint32_t)node))) != NULL;
}

/* Begin or end what is news, and note whose pools it was in. */
static void drift_news(struct lks_deciding *d, struct lks_bitset *pools)
{
    const struct lks_node_status *st = d->state->standing;
    struct lks_causes causes;
    lks_drift_causes_init(&causes, d);
    enum { WORD = 64 };
    for (size_t w = 0; w * WORD < st->differs.size; w++) {
        uint64_t news = st->differs.words[w] ^ st->recorded.words[w];
        for (; news != 0; news &= news - 1) {
            uint32_t node = (uint32_t)(w * WORD) + (uint32_t)__builtin_ctzll(news);
            if (!lks_deciding_room(d))
                return;
            if (lks_bitset_test(&st->differs, node))
                begin(d, &causes, node);
            else if (!is_awaited(d, node))
                end(d, node);
            else
                continue;
            if (d->state->nodes[node].pool < pools->size)
                lks_bitset_set(pools, d->state->nodes[node].pool);
        }
    }
}

void lks_decide_drift_tick(struct lks_deciding *d)
{
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset pools = {0};
    struct lks_err err = {0};
    if (!lks_deciding_room(d))
        return;
    (void)lks_decision_due(d, &d->state->outband_ends, d->now.wall, ENDED_SLICE, end_outband);
    verdict_tick(d);
    if (d->state->standing->news == 0 || d->out->failed != LKS_OK)
        return;
    if (lks_bitset_init(&pools, (size_t)d->state->pool_count + 1, &err) != LKS_OK) {
        d->out->failed = err.code;
        return;
    }
    drift_news(d, &pools);
    for (size_t p = lks_bitset_next(&pools, 0); p < pools.size;
         p = lks_bitset_next(&pools, p + 1)) {
        if (!lks_decision_waits(d, (uint32_t)p))
            propose(d, (uint32_t)p, acts_now(d, (uint32_t)p, acts_of(d, &d->state->pools[p])));
    }
}

/* As if it began now, for all that drift in the pool. */
static void act_on_all(struct lks_deciding *d, uint32_t pool, unsigned acts)
{
    const struct lks_bitset *recorded = &d->state->standing->recorded;
    for (size_t n = lks_bitset_next(recorded, 0); n < recorded->size;
         n = lks_bitset_next(recorded, n + 1)) {
        if (d->state->nodes[n].pool == pool)
            begin_acts(d, (uint32_t)n, lks_state_text(d->state, d->state->nodes[n].drift_text),
                       acts);
    }
    propose(d, pool, acts);
}

void lks_decide_acts(struct lks_deciding *d, uint32_t pool)
{
    act_on_all(d, pool, acts_now(d, pool, acts_of(d, &d->state->pools[pool])));
}

void lks_decide_acts_begin(struct lks_deciding *d, uint32_t pool, struct lks_str enforce,
                           unsigned on_drift)
{
    const struct lks_bitset *recorded = &d->state->standing->recorded;
    unsigned acts = acts_under(enforce, on_drift);
    if ((acts & ~acts_of(d, &d->state->pools[pool])) == 0)
        return;
    for (size_t n = lks_bitset_next(recorded, 0); (acts & LKS_ACT_DRAIN) != 0 && n < recorded->size;
         n = lks_bitset_next(recorded, n + 1)) {
        if (d->state->nodes[n].pool == pool)
            lks_decision_turn(d, (uint32_t)n, "drained");
    }
    if (!lks_decision_waits(d, pool))
        act_on_all(d, pool, acts_now(d, pool, acts));
}

void lks_decide_drift_thawed(struct lks_deciding *d, uint32_t pool)
{
    for (uint32_t p = 0; p < d->state->pool_count; p++) {
        const struct lks_state_pool *its = &d->state->pools[p];
        bool stays = pool == UINT32_MAX ? its->frozen : d->state->frozen;
        if (its->known && !stays && (pool == UINT32_MAX || pool == p) && !lks_decision_waits(d, p))
            act_on_all(d, p, acts_of(d, its));
    }
}
