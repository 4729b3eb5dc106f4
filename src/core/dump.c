/* The state as records again, and whether two states are the same. */
#include "core/state_room.h"

/* Dumping ----------------------------------------------------------------------------------- */

struct dump {
    const struct lks_state *s;
    lks_state_emit *emit;
    void *ctx;
    struct lks_err *err;
    enum lks_code code; /* the first failure; nothing is emitted behind it */
};

static void say(struct dump *d, lks_ms time, struct lks_record r)
{
    if (d->code == LKS_OK)
        d->code = d->emit(d->ctx, time, &r, d->err);
}

static struct lks_str text(const struct dump *d, lks_text id)
{
    return lks_state_text(d->s, id);
}

/* The first record brings the clock to where it is: no later one turns it back. */
static void dump_journal(struct dump *d)
{
    const struct lks_limits *l = &d->s->limits;
    say(d, d->s->clock,
        (struct lks_record){.kind = LKS_RECORD_BEGUN,
                            .begun = {.journal = lks_str_from(d->s->journal), .version = {"", 0}}});
    say(d, d->s->clock,
        (struct lks_record){.kind = LKS_RECORD_LIMITS,
                            .limits = {
                                .heartbeat = l->heartbeat,
                                .late = l->late,
                                .lost = l->lost,
                                .mass_floor = l->mass_floor,
                                .mass_percent = l->mass_percent,
                                .mass_window = l->mass_window,
                                .skew = l->skew,
                                .call_nodes = l->call_nodes,
                            }});
    if (d->s->fleet_name != 0 || d->s->fleet_manifest != 0)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_FLEET,
                                .fleet = {.name = text(d, d->s->fleet_name),
                                          .manifest = text(d, d->s->fleet_manifest)}});
}

static void dump_pools(struct dump *d)
{
    for (uint32_t i = 0; i < d->s->pool_count; i++) {
        const struct lks_state_pool *p = &d->s->pools[i];
        if (!p->known)
            continue;
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_POOL,
                                .pool = {
                                    .name = text(d, p->name),
                                    .posture = text(d, p->posture),
                                    .criticality = p->criticality,
                                    .enforce = text(d, p->enforce),
                                    .sched = text(d, p->sched),
                                    .stack = text(d, p->stack),
                                    .stack_digest = text(d, p->stack_digest),
                                }});
    }
}

/* One record a node: nodes are listed in the order they came, which a host list does not keep. */
static void dump_place(struct dump *d, uint32_t n)
{
    const struct lks_node *node = &d->s->nodes[n];
    lks_text pool = node->pool == LKS_NO_POOL ? 0 : d->s->pools[node->pool].name;
    say(d, d->s->clock,
        (struct lks_record){.kind = LKS_RECORD_PLACED,
                            .placed = {
                                .hosts = lks_state_name(d->s, n),
                                .pool = text(d, pool),
                                .class = text(d, node->class),
                                .asset = text(d, node->asset),
                                .site = text(d, node->site),
                                .rack = text(d, node->rack),
                                .domain = text(d, node->domain),
                                .power_zone = text(d, node->power_zone),
                                .cooling_loop = text(d, node->cooling_loop),
                                .hardware_revision = text(d, node->hardware_revision),
                                .supplier = text(d, node->supplier),
                                .side = text(d, node->side),
                            }});
}

static void dump_alarms(struct dump *d)
{
    for (uint32_t i = 0; i < d->s->alarm_count; i++) {
        const struct lks_state_alarm *a = &d->s->alarms[i];
        say(d, a->raised,
            (struct lks_record){.kind = LKS_RECORD_ALARM,
                                .alarm = {.id = a->id,
                                          .kind = a->kind,
                                          .subject = text(d, a->subject),
                                          .text = text(d, a->text)}});
        if (a->released != 0)
            say(d, a->released,
                (struct lks_record){.kind = LKS_RECORD_ALARM_RELEASED,
                                    .alarm_released = {.id = a->id,
                                                       .by = text(d, a->by),
                                                       .reason = text(d, a->reason)}});
    }
}

/* Who turned within the window, each at the time it did, and then the alarm. */
static void dump_mass(struct dump *d, uint32_t pool)
{
    const struct lks_mass *m = &d->s->mass[pool];
    struct lks_record r = {.kind = LKS_RECORD_MASS,
                           .mass = {.pool = text(d, d->s->pools[pool].name), .count = 1}};
    uint32_t n = m->oldest;
    for (uint32_t i = 0; i < m->count; i++, n = d->s->turns[n].after) {
        r.mass.what = lks_state_name(d->s, n);
        if (lks_mass_counts(&d->s->turns[n], d->s->clock, d->s->limits.mass_window))
            say(d, d->s->turns[n].at, r);
    }
    r.mass = (struct lks_rec_mass){
        .pool = r.mass.pool, .what = {"", 0}, .alarm = d->s->pools[pool].mass_alarm};
    if (r.mass.alarm != 0)
        say(d, d->s->clock, r);
}

static void dump_access(struct dump *d)
{
    for (uint32_t i = 0; i < d->s->binding_count; i++) {
        const struct lks_binding *b = &d->s->bindings[i];
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_GRANTED,
                                .granted = {.identity = text(d, b->identity),
                                            .role = b->role,
                                            .site = text(d, b->site),
                                            .pool = text(d, b->pool)}});
    }
    for (uint32_t i = 0; i < d->s->token_count; i++) {
        const struct lks_api_token *t = &d->s->tokens[i];
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_API_TOKEN,
                                .api_token = {.id = text(d, t->id),
                                              .identity = text(d, t->identity),
                                              .hash = text(d, t->hash),
                                              .expires = t->expires}});
    }
}

static void dump_tuples(struct dump *d)
{
    for (uint32_t i = 0; i < lks_intern_count(&d->s->tuples); i++) {
        if (d->s->tuple_readings[i] != 0)
            say(d, d->s->clock,
                (struct lks_record){.kind = LKS_RECORD_TUPLE_KNOWN,
                                    .tuple_known = {.digest = lks_intern_text(&d->s->tuples, i),
                                                    .readings = text(d, d->s->tuple_readings[i])}});
    }
}

/* The older certificate, then the newer; a token last, since enrolling uses one up. */
static void dump_certificates(struct dump *d, const struct lks_node *node, struct lks_str name)
{
    const struct lks_certificate *c = node->certificates;
    bool two = c[1].fingerprint[0] != '\0';
    if (node->enrolled)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_ENROLLED,
                                .enrolled = {.node = name,
                                             .fingerprint = lks_str_from(c[two].fingerprint),
                                             .serial = {"", 0},
                                             .expires = c[two].expires}});
    if (node->enrolled && two)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_CERTIFIED,
                                .certified = {.node = name,
                                              .fingerprint = lks_str_from(c[0].fingerprint),
                                              .serial = {"", 0},
                                              .expires = c[0].expires}});
    if (node->token_hash != 0 || node->token_expires != 0)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_TOKEN,
                                .token = {.node = name,
                                          .hash = text(d, node->token_hash),
                                          .expires = node->token_expires}});
}

static void dump_tuple(struct dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->tuple_since == 0 && node->tuple == 0 && node->report == 0)
        return;
    say(d, node->tuple_since,
        (struct lks_record){.kind = LKS_RECORD_TUPLE,
                            .tuple = {
                                .node = name,
                                .digest = text(d, node->tuple),
                                .report = text(d, node->report),
                                .boot = text(d, node->tuple_boot),
                                .taken = node->taken,
                                .stack = text(d, node->judged_stack),
                                .judged = node->judged,
                                .drifted = node->drifted,
                                .unmeasured = node->unmeasured,
                                .first = text(d, node->first),
                            }});
}

static void dump_seen(struct dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->liveness != LKS_NEVER_SEEN || node->liveness_since != 0)
        say(d, node->liveness_since,
            (struct lks_record){.kind = LKS_RECORD_LIVENESS,
                                .liveness = {.node = name, .state = node->liveness}});
    if (node->boot != 0)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_BOOTED,
                                .booted = {.node = name, .boot = text(d, node->boot)}});
    dump_tuple(d, node, name);
    if (node->parts[LKS_PART_BOARD] != 0 || node->parts[LKS_PART_GPUS] != 0 ||
        node->parts[LKS_PART_NICS] != 0)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_PARTS,
                                .parts = {.node = name,
                                          .board = text(d, node->parts[LKS_PART_BOARD]),
                                          .gpus = text(d, node->parts[LKS_PART_GPUS]),
                                          .nics = text(d, node->parts[LKS_PART_NICS])}});
    for (enum lks_note note = 0; note < LKS_NOTE_COUNT; note++) {
        if ((node->notes >> note & 1) != 0)
            say(d, d->s->clock,
                (struct lks_record){.kind = LKS_RECORD_NOTED,
                                    .noted = {.node = name, .note = note, .on = true}});
    }
}

static void dump_said(struct dump *d, const struct lks_node *node, struct lks_str name)
{
    if (node->intake)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_INTAKE,
                                .intake = {.node = name, .why = text(d, node->intake_why)}});
    if (node->accepted)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = name}});
    if (node->held)
        say(d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_HELD,
                                .held = {.node = name,
                                         .by = text(d, node->held_by),
                                         .reason = text(d, node->held_reason)}});
}

static void dump_commands(struct dump *d)
{
    for (uint32_t i = 0; i < d->s->command_count; i++) {
        const struct lks_state_command *c = &d->s->commands[i];
        struct lks_str node = lks_state_name(d->s, c->node);
        say(d, c->sent,
            (struct lks_record){.kind = LKS_RECORD_COMMAND,
                                .command = {
                                    .id = c->id,
                                    .node = node,
                                    .boot = text(d, c->boot),
                                    .executor = text(d, c->executor),
                                    .digests = text(d, c->digests),
                                    .attempt = c->attempt,
                                    .expires = c->expires,
                                    .by = text(d, c->by),
                                    .reason = text(d, c->reason),
                                }});
        if (c->ended)
            say(d, c->sent,
                (struct lks_record){.kind = LKS_RECORD_COMMAND_ENDED,
                                    .command_ended = {.id = c->id,
                                                      .node = node,
                                                      .outcome = c->outcome,
                                                      .text = text(d, c->text)}});
    }
}

/* Pools before nodes, since a pin voids what was judged before it; alarms before MASS, since their
 * release ends it. */
enum lks_code lks_state_dump(const struct lks_state *s, lks_state_emit *emit, void *ctx,
                             struct lks_err *err)
{
    struct dump d = {.s = s, .emit = emit, .ctx = ctx, .err = err};
    dump_journal(&d);
    dump_pools(&d);
    for (uint32_t n = 0; n < s->node_count && d.code == LKS_OK; n++) {
        if (s->nodes[n].placed)
            dump_place(&d, n);
    }
    dump_alarms(&d);
    for (uint32_t p = 0; p < s->pool_count; p++)
        dump_mass(&d, p);
    dump_access(&d);
    dump_tuples(&d);
    for (uint32_t n = 0; n < s->node_count && d.code == LKS_OK; n++) {
        const struct lks_node *node = &s->nodes[n];
        struct lks_str name = lks_state_name(s, n);
        if (!node->placed)
            continue;
        dump_certificates(&d, node, name);
        dump_seen(&d, node, name);
        dump_said(&d, node, name);
    }
    dump_commands(&d);
    return d.code;
}
