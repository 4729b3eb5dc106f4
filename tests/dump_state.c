#include "tests/dump_state.h"

#include "core/state/state_room.h"

/* The first record brings the clock to where it is: no later one turns it back. */
static void dump_journal(struct lks_dump *d)
{
    const struct lks_limits *l = &d->s->limits;
    lks_dump_say(
        d, d->s->clock,
        (struct lks_record){.kind = LKS_RECORD_BEGUN,
                            .begun = {.journal = lks_str_from(d->s->journal), .version = {"", 0}}});
    lks_dump_say(d, d->s->clock,
                 (struct lks_record){.kind = LKS_RECORD_LIMITS,
                                     .limits = lks_state_limits_record(l, d->s->yeses_until)});
    if (d->s->fleet_name != 0 || d->s->fleet_manifest != 0)
        lks_dump_say(
            d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_FLEET,
                                .fleet = {.name = lks_dump_text(d, d->s->fleet_name),
                                          .manifest = lks_dump_text(d, d->s->fleet_manifest)}});
}

/* "alarm drain propose", those that are wanted. */
static struct lks_str acts_text(unsigned acts)
{
    static const char *const words[] = {
        "",        "alarm",         "drain",         "alarm drain",
        "propose", "alarm propose", "drain propose", "alarm drain propose",
    };
    return lks_str_from(words[acts & (LKS_ACT_ALARM | LKS_ACT_DRAIN | LKS_ACT_PROPOSE)]);
}

static void dump_pool(struct lks_dump *d, const struct lks_state_pool *p)
{
    struct lks_record r = {.kind = LKS_RECORD_POOL,
                           .pool = {
                               .name = lks_dump_text(d, p->name),
                               .posture = lks_dump_text(d, p->posture),
                               .criticality = p->criticality,
                               .enforce = lks_dump_text(d, p->enforce),
                               .sched = lks_dump_text(d, p->sched),
                               .stack = lks_dump_text(d, p->stack),
                               .stack_digest = lks_dump_text(d, p->stack_before),
                               .on_drift = acts_text(p->on_drift),
                               .deviations = p->deviations,
                               .attested = p->attested,
                               .check_age = p->check_age,
                               .sweep = p->sweep,
                           }};
    if (p->stack_before != 0) /* what it pinned before, and then what it pins */
        lks_dump_say(d, d->s->clock, r);
    r.pool.stack_digest = lks_dump_text(d, p->stack_digest);
    lks_dump_say(d, d->s->clock, r);
    if (p->lowered != 0)
        lks_dump_say(
            d, p->lowered_at,
            (struct lks_record){.kind = LKS_RECORD_LOWERED,
                                .lowered = {.pool = lks_dump_text(d, p->name),
                                            .text = lks_dump_text(d, p->lowered),
                                            .by = lks_dump_text(d, p->lowered_by),
                                            .minters = lks_dump_text(d, p->lowered_minters)}});
}

/* One record a node: nodes are listed in the order they came, which a host list does not keep. */
static void dump_place(struct lks_dump *d, uint32_t n)
{
    const struct lks_node *node = &d->s->nodes[n];
    lks_text pool = node->pool == LKS_NO_POOL ? 0 : d->s->pools[node->pool].name;
    lks_dump_say(
        d, d->s->clock,
        (struct lks_record){.kind = LKS_RECORD_PLACED,
                            .placed = {
                                .hosts = lks_state_name(d->s, n),
                                .pool = lks_dump_text(d, pool),
                                .class = lks_dump_text(d, node->class),
                                .asset = lks_dump_text(d, node->asset),
                                .site = lks_dump_text(d, node->site),
                                .rack = lks_dump_text(d, node->rack),
                                .domain = lks_dump_text(d, node->domain),
                                .power_zone = lks_dump_text(d, node->power_zone),
                                .cooling_loop = lks_dump_text(d, node->cooling_loop),
                                .hardware_revision = lks_dump_text(d, node->hardware_revision),
                                .supplier = lks_dump_text(d, node->supplier),
                                .side = lks_dump_text(d, node->side),
                            }});
}

/* The older certificate, then the newer; a token last, since enrolling uses one up. */
static void dump_certificates(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    const struct lks_certificate *c = node->certificates;
    char texts[2][LKS_DIGEST_SIZE];
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        (void)lks_state_certificate_text(&c[i], texts[i]);
    bool two = texts[1][0] != '\0';
    if (node->enrolled)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_ENROLLED,
                                         .enrolled = {.node = name,
                                                      .fingerprint = lks_str_from(texts[two]),
                                                      .serial = {"", 0},
                                                      .expires = c[two].expires}});
    if (node->enrolled && two)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_CERTIFIED,
                                         .certified = {.node = name,
                                                       .fingerprint = lks_str_from(texts[0]),
                                                       .serial = {"", 0},
                                                       .expires = c[0].expires}});
    if (node->token_hash != 0 || node->token_expires != 0)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_TOKEN,
                                         .token = {.node = name,
                                                   .hash = lks_dump_text(d, node->token_hash),
                                                   .expires = node->token_expires}});
}

/* What it was last right in is said as what it conforms to; whether it does follows from it all. */
static void dump_tuple(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->tuple_since == 0 && node->tuple == 0 && node->report == 0 && node->right == 0 &&
        node->inband == 0 && node->whole == 0)
        return;
    lks_dump_say(
        d, node->tuple_since,
        (struct lks_record){.kind = LKS_RECORD_TUPLE,
                            .tuple = {
                                .node = name,
                                .digest = lks_dump_text(d, node->tuple),
                                .report = lks_dump_text(d, node->report),
                                .boot = lks_dump_text(d, node->tuple_boot),
                                .taken = node->taken,
                                .stack = lks_dump_text(d, node->right),
                                .judged = node->right != 0 ? LKS_JUDGED_CONFORMS : LKS_JUDGED_NOT,
                                .basis = lks_dump_basis(d, node->inband),
                                .whole = lks_dump_basis(d, node->whole),
                                .changed = lks_dump_text(d, node->changed),
                            }});
}

/* One that was past its age when it was recorded is again, and no other. */
static void dump_outband(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->outband == 0 && node->outband_report == 0)
        return;
    lks_dump_say(d, node->outband_over ? d->s->clock : 0,
                 (struct lks_record){.kind = LKS_RECORD_OUTBAND,
                                     .outband = {.node = name,
                                                 .basis = lks_dump_basis(d, node->outband),
                                                 .whole = lks_dump_basis(d, node->whole),
                                                 .report = lks_dump_text(d, node->outband_report),
                                                 .taken = node->outband_taken}});
}

/* Those it was first seen with are not others: where they were, some others come first. */
static void dump_parts(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    struct lks_record r = {.kind = LKS_RECORD_PARTS,
                           .parts = {.node = name, .board = LKS_STR("-")}};
    if (node->parts[LKS_PART_BOARD] == 0 && node->parts[LKS_PART_GPUS] == 0 &&
        node->parts[LKS_PART_NICS] == 0 && node->parts_since == 0)
        return;
    lks_ms time = node->parts_since != 0 ? node->parts_since : d->s->clock;
    if (node->parts_since != 0)
        lks_dump_say(d, time, r);
    r.parts.board = lks_dump_text(d, node->parts[LKS_PART_BOARD]);
    r.parts.gpus = lks_dump_text(d, node->parts[LKS_PART_GPUS]);
    r.parts.nics = lks_dump_text(d, node->parts[LKS_PART_NICS]);
    lks_dump_say(d, time, r);
}

static void dump_seen(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->liveness != LKS_NEVER_SEEN || node->liveness_since != 0)
        lks_dump_say(d, node->liveness_since,
                     (struct lks_record){.kind = LKS_RECORD_LIVENESS,
                                         .liveness = {.node = name, .state = node->liveness}});
    if (node->boot != 0)
        lks_dump_say(
            d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_BOOTED,
                                .booted = {.node = name, .boot = lks_dump_text(d, node->boot)}});
    dump_outband(d, node, name);
    dump_tuple(d, node, name);
    dump_parts(d, node, name);
    for (enum lks_note note = 0; note < LKS_NOTE_COUNT; note++) {
        if ((node->notes >> note & 1) != 0)
            lks_dump_say(d, d->s->clock,
                         (struct lks_record){.kind = LKS_RECORD_NOTED,
                                             .noted = {.node = name, .note = note, .on = true}});
    }
}

static void dump_endpoint(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->endpoint != 0)
        lks_dump_say(
            d, d->s->clock,
            (struct lks_record){
                .kind = LKS_RECORD_ENDPOINT,
                .endpoint = {.node = name, .fingerprint = lks_dump_text(d, node->endpoint)}});
}

static void dump_said(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->intake)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){
                         .kind = LKS_RECORD_INTAKE,
                         .intake = {.node = name, .why = lks_dump_text(d, node->intake_why)}});
    if (node->accepted)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = name}});
    if (node->held)
        lks_dump_say(d, node->held_since,
                     (struct lks_record){.kind = LKS_RECORD_HELD,
                                         .held = {.node = name,
                                                  .by = lks_dump_text(d, node->held_by),
                                                  .reason = lks_dump_text(d, node->held_reason)}});
}

static void say_condition(struct lks_dump *d, lks_ms time, struct lks_rec_condition c)
{
    lks_dump_say(d, time, (struct lks_record){.kind = LKS_RECORD_CONDITION, .condition = c});
}

/* Before its readings: a change says what they are held against. */
static void dump_conditions(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    struct lks_str said = lks_dump_text(d, node->condition_text);
    struct lks_rec_condition c = {.node = name, .on = true, .text = said};
    c.condition = LKS_CONDITION_CHANGING;
    c.stack = lks_dump_text(d, node->target);
    if (node->changing != 0)
        say_condition(d, node->changing, c);
    c = (struct lks_rec_condition){.node = name, .on = node->unhealthy, .text = said};
    c.condition = LKS_CONDITION_UNHEALTHY;
    if (node->unhealthy || said.len > 0)
        say_condition(d, d->s->clock, c);
    c = (struct lks_rec_condition){.node = name, .on = true, .until = node->attested_until};
    c.condition = LKS_CONDITION_ATTESTED;
    if (node->attested_until != 0)
        say_condition(d, d->s->clock, c);
    c.condition = LKS_CONDITION_CHECKED;
    c.until = node->checked_at;
    if (node->checked_at != 0)
        say_condition(d, d->s->clock, c);
}

static void dump_drift(struct lks_dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->drifting || node->drift_since != 0)
        lks_dump_say(
            d, node->drift_since,
            (struct lks_record){.kind = LKS_RECORD_DRIFT,
                                .drift = {.node = name,
                                          .on = node->drifting,
                                          .stack = lks_dump_text(d, node->drift_stack),
                                          .cause = node->drift_cause,
                                          .text = lks_dump_text(d, node->drift_text),
                                          .evidence = lks_dump_text(d, node->drift_evidence)}});
    if (node->drained_by != 0)
        lks_dump_say(
            d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_DRAINED,
                                .drained = {.node = name,
                                            .owner = lks_dump_text(d, node->drained_by),
                                            .reason = lks_dump_text(d, node->drained_reason)}});
}

static void dump_nodes(struct lks_dump *d)
{
    for (uint32_t n = 0; n < d->s->node_count && d->code == LKS_OK; n++) {
        const struct lks_node *node = &d->s->nodes[n];
        struct lks_str name = lks_state_name(d->s, n);
        if (!node->placed)
            continue;
        dump_certificates(d, node, name);
        dump_endpoint(d, node, name);
        dump_conditions(d, node, name);
        dump_seen(d, node, name);
        dump_said(d, node, name);
        dump_drift(d, node, name);
    }
}

/* Pools before nodes, bases with their verdicts before both, and changes before what nodes run:
 * nothing is then judged by what it is not judged by in the end. Nodes before MASS, since drift
 * counts for it; alarms before it too, since their release ends it. */
enum lks_code lks_dump_state(const struct lks_state *s, lks_state_emit *emit, void *ctx,
                             struct lks_err *err)
{
    struct lks_dump d = {.s = s, .emit = emit, .ctx = ctx, .err = err};
    dump_journal(&d);
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (s->pools[i].known)
            dump_pool(&d, &s->pools[i]);
    }
    for (uint32_t n = 0; n < s->node_count && d.code == LKS_OK; n++) {
        if (s->nodes[n].placed)
            dump_place(&d, n);
    }
    lks_dump_bases(&d);
    lks_dump_verdicts(&d, true);
    lks_dump_changes(&d);
    lks_dump_tickets(&d);
    dump_nodes(&d);
    lks_dump_verdicts(&d, false);
    lks_dump_lists(&d);
    lks_dump_resets(&d);
    return d.code;
}
