/* Liveness by deadline, and what heartbeats show besides. */
#include "core/campaign/campaign_parts.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

static struct lks_str name_of(const struct lks_deciding *d, uint32_t node)
{
    return lks_state_name(d->state, node);
}

static void turn(struct lks_deciding *d, uint32_t node, enum lks_liveness to)
{
    lks_decision_add(d, LKS_RECORD_LIVENESS)->liveness =
        (struct lks_rec_liveness){.node = name_of(d, node), .state = to};
}

/* Ticks ------------------------------------------------------------------------------------- */

/* A node that is live becomes late, one that is late is marked lost, each at its own deadline. */
static void look_at(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    if (lks_heartbeat_deadline(d->state, node) > d->now.mono)
        return;
    bool live = n->liveness == LKS_LIVE;
    turn(d, node, live ? LKS_LATE : LKS_LOST);
    if (live && n->change == 0) /* a change reboots nodes */
        lks_decision_turn(d, node, "late");
}

void lks_decide_tick(struct lks_deciding *d)
{
    if (!lks_decision_due(d, &d->state->deadlines, d->now.mono, SIZE_MAX, look_at))
        return;
    lks_decide_command_tick(d);
    lks_decide_flash_tick(d);
    lks_decide_deviation_tick(d);
    lks_decide_drift_tick(d);
    lks_decide_refused_tick(d);
    lks_decide_proposals_tick(d);
    lks_decide_review_tick(d);
    lks_campaign_tick(d);
}

/* What lockstepd says of itself ------------------------------------------------------------- */

void lks_decide_started(struct lks_deciding *d)
{
    lks_decision_add(d, LKS_RECORD_STARTED)->started = (struct lks_rec_started){
        .version = d->event->started.version,
        .host = d->event->started.host,
    };
}

/* Why these limits make no sense, or NULL. */
static const char *limits_wrong(const struct lks_limits *l)
{
    if (l->heartbeat == 0)
        return "limits.heartbeat_ms is at least 1";
    if (l->late <= l->heartbeat)
        return "limits.late_ms is more than limits.heartbeat_ms, or every node would be late";
    if (l->lost <= l->late)
        return "limits.lost_ms is more than limits.late_ms";
    if (l->mass_percent > 100)
        return "limits.mass_percent is at most 100";
    if (l->mass_window == 0)
        return "limits.mass_window_ms is at least 1";
    if (l->skew == 0)
        return "limits.skew_ms is at least 1";
    if (l->call_nodes == 0)
        return "limits.call_nodes is at least 1";
    if (l->validity == 0 || l->staleness == 0 || l->outband_age == 0)
        return "limits.validity_ms, limits.staleness_ms and limits.outband_age_ms are at least 1";
    if (l->proposal_age == 0)
        return "limits.proposal_age_ms is at least 1";
    return NULL;
}

/* How long a yes may stand after a node was closed. */
static lks_ms yes_lasts(const struct lks_limits *l)
{
    return l->validity + l->staleness + l->skew;
}

void lks_decide_limits(struct lks_deciding *d)
{
    const struct lks_limits *l = &d->event->limits;
    const char *wrong = limits_wrong(l);
    _Static_assert(sizeof(*l) == 12 * sizeof(uint64_t), "no padding: limits compare as bytes");
    if (wrong != NULL) {
        lks_decision_refuse(d, LKS_E_INVALID, "%s", wrong);
        return;
    }
    if (memcmp(l, &d->state->limits, sizeof(*l)) == 0)
        return;
    const struct lks_limits *old = &d->state->limits;
    lks_ms until = d->state->yeses_until, last = d->now.wall + yes_lasts(old);
    if (yes_lasts(old) > yes_lasts(l) && last > until)
        until = last;
    lks_decision_add(d, LKS_RECORD_LIMITS)->limits = lks_limits_record(l, until);
}

/* A jump within what we forgive a node is nothing. */
void lks_decide_clock(struct lks_deciding *d)
{
    uint64_t forward = d->event->clock.forward, back = d->event->clock.back;
    if (forward <= d->state->limits.skew && back <= d->state->limits.skew)
        return;
    bool ahead = forward > back;
    struct lks_str text =
        lks_decision_text(d, "the controller's clock jumped %s by %llu ms",
                          ahead ? "forward" : "back", (unsigned long long)(ahead ? forward : back));
    lks_decision_add(d, LKS_RECORD_CLOCK)->clock =
        (struct lks_rec_clock){.wall = d->now.wall, .forward = forward, .back = back, .text = text};
    (void)lks_decision_alarm(d, LKS_ALARM_CLOCK, LKS_STR("lockstepd"), text);
}

/* Heartbeats -------------------------------------------------------------------------------- */

static bool is_noted(const struct lks_deciding *d, enum lks_note note)
{
    return (d->state->nodes[d->event->node].notes >> note & 1) != 0;
}

static void note(struct lks_deciding *d, enum lks_note kind, bool on, struct lks_str text)
{
    lks_decision_add(d, LKS_RECORD_NOTED)->noted = (struct lks_rec_noted){
        .node = name_of(d, d->event->node), .note = kind, .on = on, .text = text};
}

/* One that is no news for liveness: only when there were too many does it matter. */
static void look_at_replays(struct lks_deciding *d, const struct lks_heartbeat *p)
{
    bool on = is_noted(d, LKS_NOTE_REPLAY);
    if (on && p->replays == 0)
        note(d, LKS_NOTE_REPLAY, false, LKS_STR("heartbeats are in order again"));
    if (on || p->replays < LKS_HEARTBEAT_REPLAYS)
        return;
    struct lks_str text = lks_decision_text(
        d, "%u heartbeats came out of order: an echo, or two agents under one name", p->replays);
    note(d, LKS_NOTE_REPLAY, true, text);
    (void)lks_decision_alarm(d, LKS_ALARM_REPLAY, name_of(d, d->event->node), text);
}

static void look_at_clock(struct lks_deciding *d, const struct lks_heartbeat *p)
{
    bool on = is_noted(d, LKS_NOTE_SKEW);
    if (on ? !lks_heartbeat_skew_over(d->state, d->event->node) : p->skewed < LKS_HEARTBEAT_SKEWED)
        return;
    note(d, LKS_NOTE_SKEW, !on,
         lks_decision_text(d, "its clock is %lld ms %s ours",
                           (long long)(p->skew < 0 ? -p->skew : p->skew),
                           p->skew < 0 ? "behind" : "ahead of"));
}

static void look_at_tuple(struct lks_deciding *d, const struct lks_heartbeat *p)
{
    bool on = is_noted(d, LKS_NOTE_CONTRADICTION);
    if (on && p->unsent == 0)
        note(d, LKS_NOTE_CONTRADICTION, false, LKS_STR("the tuple it names was sent"));
    else if (!on && p->unsent >= LKS_HEARTBEAT_UNSENT)
        note(d, LKS_NOTE_CONTRADICTION, true,
             lks_decision_text(d, "%u heartbeats name a tuple that was not sent", p->unsent));
}

static void look_at_witness(struct lks_deciding *d, const struct lks_heartbeat *p)
{
    bool on = is_noted(d, LKS_NOTE_WITNESS);
    enum lks_witness witness = lks_heartbeat_witness(d->state, d->event->node);
    if (on && witness == LKS_WITNESS_GOOD)
        note(d, LKS_NOTE_WITNESS, false, LKS_STR("it witnesses a head of this journal"));
    if (on || witness != LKS_WITNESS_WRONG)
        return;
    const char *how = (p->health & LKS_HEALTH_WITNESS) != 0 ? "beside a head that contradicts it"
                      : p->head_seq > d->state->seq         ? "and this journal ends before it"
                                                            : "with another hash than it has here";
    struct lks_str text = lks_decision_text(d, "it witnessed row %llu of the journal %s",
                                            (unsigned long long)p->head_seq, how);
    note(d, LKS_NOTE_WITNESS, true, text);
    (void)lks_decision_alarm(d, LKS_ALARM_WITNESS, name_of(d, d->event->node), text);
}

/* lks_heartbeat_hear() took note of it already; a heartbeat that it did not take shows nothing but
 * itself. */
void lks_decide_beat(struct lks_deciding *d)
{
    const struct lks_beat *beat = &d->event->beat;
    uint32_t node = d->event->node;
    if (node >= d->state->node_count || !d->state->nodes[node].placed) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "this node is not in the fleet");
        return;
    }
    const struct lks_heartbeat *p = &d->state->pulses[node];
    look_at_replays(d, p);
    if (!p->heard || p->seq != beat->seq || memcmp(p->boot, beat->boot, sizeof(p->boot)) != 0)
        return;
    if (d->state->nodes[node].liveness != LKS_LIVE)
        turn(d, node, LKS_LIVE);
    if (lks_heartbeat_booted(d->state, node)) {
        char boot[LKS_BOOT_TEXT_SIZE];
        lks_heartbeat_boot_text(p->boot, boot);
        lks_decision_add(d, LKS_RECORD_BOOTED)->booted = (struct lks_rec_booted){
            .node = name_of(d, node), .boot = lks_decision_copy(d, lks_str_from(boot))};
    }
    look_at_clock(d, p);
    look_at_tuple(d, p);
    look_at_witness(d, p);
}
