/* What a state lists beside its nodes, as records. */
#include "core/fold/texts.h"
#include "core/state/node_status.h"
#include "tests/dump_state.h"

static const lks_ms DAY = (lks_ms)24 * 3600 * LKS_SECOND;

/* What is judged ---------------------------------------------------------------------------- */

struct lks_str lks_dump_basis(const struct lks_dump *d, uint32_t handle)
{
    return handle == 0 ? LKS_STR("") : lks_intern_text(&d->s->basis_digests, handle - 1);
}

void lks_dump_bases(struct lks_dump *d)
{
    for (uint32_t i = 0; i < lks_intern_count(&d->s->basis_digests); i++) {
        if (d->s->bases[i].readings != NULL)
            lks_dump_say(
                d, d->s->clock,
                (struct lks_record){.kind = LKS_RECORD_BASIS,
                                    .basis = {.digest = lks_dump_basis(d, i + 1),
                                              .readings = lks_state_readings(d->s, i + 1)}});
    }
}

static void dump_verdict(struct lks_dump *d, const struct lks_state_verdict *v)
{
    lks_dump_say(d, d->s->clock,
                 (struct lks_record){.kind = LKS_RECORD_VERDICT,
                                     .verdict = {
                                         .basis = lks_dump_basis(d, v->basis),
                                         .stack = lks_dump_text(d, v->stack),
                                         .judged = v->judged,
                                         .drifted = v->drifted,
                                         .unmeasured = v->unmeasured,
                                         .first = lks_dump_text(d, v->first),
                                         .wrong = lks_dump_text(d, v->wrong),
                                         .values = lks_dump_text(d, v->values),
                                     }});
}

void lks_dump_verdicts(struct lks_dump *d, bool known)
{
    for (uint32_t i = 1; i < d->s->verdict_count; i++) {
        const struct lks_state_verdict *v = &d->s->verdicts[i];
        if (v->basis != 0 && (d->s->bases[v->basis - 1].readings != NULL) == known)
            dump_verdict(d, v);
    }
}

static void dump_deviations(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->deviation_count; i++) {
        const struct lks_deviation *v = &d->s->deviations[i];
        struct lks_record r = {
            .kind = LKS_RECORD_DEVIATION,
            .deviation = {.id = v->id, .expires = v->expires, .waits = v->waits}};
        lks_texts_dump(d, &lks_texts_deviation, v, &r.deviation);
        lks_dump_say(d, v->added, r);
        if (v->agreed != 0)
            lks_dump_say(d, v->agreed,
                         (struct lks_record){
                             .kind = LKS_RECORD_DEVIATION_AGREED,
                             .deviation_agreed = {.id = v->id,
                                                  .by = lks_dump_text(d, v->agreed_by),
                                                  .reason = lks_dump_text(d, v->agreed_reason)}});
        if (v->ended != 0)
            lks_dump_say(d, v->ended,
                         (struct lks_record){
                             .kind = LKS_RECORD_DEVIATION_ENDED,
                             .deviation_ended = {.id = v->id,
                                                 .by = lks_dump_text(d, v->ended_by),
                                                 .reason = lks_dump_text(d, v->ended_reason)}});
    }
}

/* Alarms, access and commands --------------------------------------------------------------- */

static void dump_alarms(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->alarm_count; i++) {
        const struct lks_state_alarm *a = &d->s->alarms[i];
        lks_dump_say(d, a->raised,
                     (struct lks_record){.kind = LKS_RECORD_ALARM,
                                         .alarm = {.id = a->id,
                                                   .kind = a->kind,
                                                   .subject = lks_dump_text(d, a->subject),
                                                   .text = lks_dump_text(d, a->text)}});
        if (a->released != 0)
            lks_dump_say(
                d, a->released,
                (struct lks_record){.kind = LKS_RECORD_ALARM_RELEASED,
                                    .alarm_released = {.id = a->id,
                                                       .by = lks_dump_text(d, a->by),
                                                       .reason = lks_dump_text(d, a->reason)}});
    }
}

/* Nodes that drift have turned by the records that say so, and not all of them count: an alarm that
 * is released at once makes the pool forget. */
static void clear_mass(struct lks_dump *d, uint32_t pool)
{
    struct lks_record r = {
        .kind = LKS_RECORD_MASS,
        .mass = {.pool = lks_dump_text(d, d->s->pools[pool].name), .alarm = UINT64_MAX}};
    lks_dump_say(d, d->s->clock, r);
    r = (struct lks_record){.kind = LKS_RECORD_ALARM_RELEASED,
                            .alarm_released = {.id = UINT64_MAX}};
    lks_dump_say(d, d->s->clock, r);
}

/* Who turned within the window, each at the time it did, and then the alarm. */
static void dump_mass(struct lks_dump *d, uint32_t pool)
{
    const struct lks_mass *m = &d->s->mass[pool];
    struct lks_record r = {.kind = LKS_RECORD_MASS,
                           .mass = {.pool = lks_dump_text(d, d->s->pools[pool].name), .count = 1}};
    uint32_t n = m->oldest;
    for (uint32_t i = 0; i < m->count; i++, n = d->s->turns[n].after) {
        r.mass.what = lks_state_name(d->s, n);
        if (lks_mass_counts(&d->s->turns[n], d->s->clock, d->s->limits.mass_window))
            lks_dump_say(d, d->s->turns[n].at, r);
    }
    r.mass = (struct lks_rec_mass){
        .pool = r.mass.pool, .what = {"", 0}, .alarm = d->s->pools[pool].mass_alarm};
    if (r.mass.alarm != 0)
        lks_dump_say(d, d->s->clock, r);
}

static void dump_commands(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->command_count; i++) {
        const struct lks_state_command *c = &d->s->commands[i];
        struct lks_str node = lks_state_name(d->s, c->node);
        struct lks_record r = {
            .kind = LKS_RECORD_COMMAND,
            .command = {.id = c->id, .node = node, .attempt = c->attempt, .expires = c->expires}};
        lks_texts_dump(d, &lks_texts_command, c, &r.command);
        lks_dump_say(d, c->sent, r);
        if (c->ended)
            lks_dump_say(d, c->sent,
                         (struct lks_record){.kind = LKS_RECORD_COMMAND_ENDED,
                                             .command_ended = {.id = c->id,
                                                               .node = node,
                                                               .outcome = c->outcome,
                                                               .text = lks_dump_text(d, c->text)}});
    }
}

/* The registry and jobs --------------------------------------------------------------------- */

static void dump_step(struct lks_dump *d, const struct lks_state_stack *s, enum lks_stack_step step)
{
    lks_dump_say(d, s->stepped,
                 (struct lks_record){.kind = LKS_RECORD_STEPPED,
                                     .stepped = {.digest = lks_dump_text(d, s->digest),
                                                 .step = step,
                                                 .evidence = lks_dump_text(d, s->evidence[step]),
                                                 .by = lks_dump_text(d, s->evidence_by[step])}});
}

/* The step it is at comes last. */
static void dump_stack(struct lks_dump *d, const struct lks_state_stack *s)
{
    struct lks_record r = {.kind = LKS_RECORD_PUBLISHED};
    lks_texts_dump(d, &lks_texts_stack, s, &r.published);
    lks_dump_say(d, s->published, r);
    for (enum lks_stack_step step = 0; step < LKS_STEP_COUNT; step++) {
        if (step != s->step && (s->evidence[step] != 0 || s->evidence_by[step] != 0))
            dump_step(d, s, step);
    }
    if (s->stepped != 0 || s->step != LKS_STEP_CANDIDATE || s->evidence[s->step] != 0 ||
        s->evidence_by[s->step] != 0)
        dump_step(d, s, s->step);
}

static void dump_images(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->image_count; i++) {
        const struct lks_state_image *image = &d->s->images[i];
        struct lks_record r = {.kind = LKS_RECORD_IMAGE};
        lks_texts_dump(d, &lks_texts_image, image, &r.image);
        lks_dump_say(d, image->added, r);
    }
    for (uint32_t i = 0; i < d->s->artifact_count; i++) {
        const struct lks_state_artifact *a = &d->s->artifacts[i];
        struct lks_record r = {.kind = LKS_RECORD_ARTIFACT, .artifact = {.size = a->size}};
        lks_texts_dump(d, &lks_texts_artifact, a, &r.artifact);
        lks_dump_say(d, a->added, r);
    }
}

static void say_observed(struct lks_dump *d, lks_ms time, struct lks_rec_observed o)
{
    lks_dump_say(d, time, (struct lks_record){.kind = LKS_RECORD_OBSERVED, .observed = o});
}

/* Each day at its beginning; those that asked are said once. */
static void dump_observed(struct lks_dump *d, const struct lks_state_pool *pool)
{
    for (size_t i = 0; pool->known && i < LKS_STATE_DAYS; i++) {
        const struct lks_observed *o = &pool->observed[i];
        struct lks_rec_observed r = {.pool = lks_dump_text(d, pool->name), .asked = o->asked};
        if (o->day != 0 || o->asked != 0)
            say_observed(d, o->day * DAY, r);
        r.asked = 0;
        for (r.bar = 0; r.bar < LKS_BAR_COUNT; r.bar++) {
            r.refused = o->refused[r.bar];
            if (r.refused != 0)
                say_observed(d, o->day * DAY, r);
        }
    }
}

static void dump_barred(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->barred_count; i++) {
        const struct lks_barred *b = &d->s->barred[i];
        char fingerprint[LKS_DIGEST_SIZE];
        lks_dump_say(
            d, d->s->clock,
            (struct lks_record){.kind = LKS_RECORD_BARRED,
                                .barred = {.node = lks_state_name(d->s, b->node),
                                           .fingerprint = lks_str_from(lks_state_certificate_text(
                                               &b->certificate, fingerprint)),
                                           .expires = b->certificate.expires}});
    }
}

static void dump_jobs(struct lks_dump *d)
{
    if (d->s->jobs != 0)
        say_observed(d, d->s->clock, (struct lks_rec_observed){.asked = d->s->jobs});
    for (uint32_t i = 0; i < d->s->override_count; i++) {
        const struct lks_override *o = &d->s->overrides[i];
        struct lks_record r = {.kind = LKS_RECORD_OVERRIDE, .override = {.until = o->until}};
        lks_texts_dump(d, &lks_texts_override, o, &r.override);
        lks_dump_say(d, d->s->clock, r);
    }
    if (d->s->epoch != 0 || d->s->leader != 0 || d->s->leader_url != 0)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_LED,
                                         .led = {.epoch = d->s->epoch,
                                                 .name = lks_dump_text(d, d->s->leader),
                                                 .url = lks_dump_text(d, d->s->leader_url)}});
    if (d->s->signed_from != 0 || d->s->signed_earlier != 0)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){
                         .kind = LKS_RECORD_SIGNED,
                         .signing = {.from = d->s->signed_from, .earlier = d->s->signed_earlier}});
}

void lks_dump_lists(struct lks_dump *d)
{
    const struct lks_node_status *st = d->s->standing; /* drift that is to be told anew is in one */
    bool drift = lks_bitset_any(&st->recorded) || lks_bitset_any(&st->differs);
    dump_deviations(d);
    dump_alarms(d);
    for (uint32_t p = 0; p < d->s->pool_count && drift; p++)
        clear_mass(d, p);
    for (uint32_t p = 0; p < d->s->pool_count; p++)
        dump_mass(d, p);
    lks_dump_access(d);
    dump_commands(d);
    for (uint32_t i = 0; i < d->s->stack_count; i++)
        dump_stack(d, &d->s->stacks[i]);
    dump_images(d);
    for (uint32_t p = 0; p < d->s->pool_count; p++)
        dump_observed(d, &d->s->pools[p]);
    dump_barred(d);
    dump_jobs(d);
    lks_dump_flashes(d);
}

/* Tickets and resets ------------------------------------------------------------------------ */

static void dump_votes(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->vote_count; i++) {
        const struct lks_vote *v = &c->votes[i];
        if (v->ticket != 0 || v->who != 0)
            lks_dump_say(d, d->s->clock,
                         (struct lks_record){.kind = LKS_RECORD_TICKET_HEARD,
                                             .ticket_heard = {
                                                 .change = c->id,
                                                 .event = LKS_STR(""),
                                                 .by = lks_dump_text(d, v->by),
                                                 .ticket = lks_dump_text(d, v->ticket),
                                                 .who = lks_dump_text(d, v->who),
                                             }});
    }
}

/* Behind all changes: notifications are off until then, so what the changes went through is not
 * sent. */
void lks_dump_tickets(struct lks_dump *d)
{
    const struct lks_tickets *t = &d->s->tickets;
    for (uint32_t i = 0; i < d->s->change_count; i++)
        dump_votes(d, &d->s->changes[i]);
    for (uint32_t i = 0; i < t->heard_count; i++) {
        if (t->heard[i].until > d->s->clock)
            lks_dump_say(
                d, d->s->clock,
                (struct lks_record){.kind = LKS_RECORD_TICKET_HEARD,
                                    .ticket_heard = {.event = lks_dump_text(d, t->heard[i].event),
                                                     .until = t->heard[i].until,
                                                     .by = LKS_STR(""),
                                                     .ticket = LKS_STR(""),
                                                     .who = LKS_STR("")}});
    }
    if (t->on || t->told != 0)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_TICKET_TOLD,
                                         .ticket_told = {.row = t->told, .on = t->on}});
    for (uint32_t i = 0; i < t->due_count; i++)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_TICKET_DUE,
                                         .ticket_due = {
                                             .row = t->due[i].seq,
                                             .at = t->due[i].at,
                                             .change = t->due[i].change,
                                             .state = t->due[i].state,
                                             .by = lks_dump_text(d, t->due[i].by),
                                             .reason = lks_dump_text(d, t->due[i].reason),
                                         }});
}

static void dump_one(struct lks_dump *d, const struct lks_reset *r)
{
    struct lks_rec_reset said = {.node = lks_state_name(d->s, r->node),
                                 .step = LKS_RESET_ASKED,
                                 .boot = lks_dump_text(d, r->boot),
                                 .until = r->until,
                                 .by = lks_dump_text(d, r->by),
                                 .reason = lks_dump_text(d, r->reason),
                                 .minters = lks_dump_text(d, r->minters)};
    lks_dump_say(d, r->asked, (struct lks_record){.kind = LKS_RECORD_RESET, .reset = said});
    if (r->approved == 0)
        return;
    said = (struct lks_rec_reset){.node = said.node,
                                  .step = LKS_RESET_APPROVED,
                                  .boot = LKS_STR(""),
                                  .command = r->command,
                                  .by = lks_dump_text(d, r->approved_by),
                                  .reason = lks_dump_text(d, r->approved_reason)};
    lks_dump_say(d, r->approved, (struct lks_record){.kind = LKS_RECORD_RESET, .reset = said});
}

void lks_dump_resets(struct lks_dump *d)
{
    uint64_t listed = 0;
    for (uint32_t i = 0; i < d->s->resets.count; i++) {
        dump_one(d, &d->s->resets.list[i]);
        listed += d->s->resets.list[i].approved != 0;
    }
    if (d->s->resets.given > listed)
        lks_dump_say(d, d->s->clock,
                     (struct lks_record){.kind = LKS_RECORD_RESET,
                                         .reset = {.node = LKS_STR(""),
                                                   .boot = LKS_STR(""),
                                                   .command = d->s->resets.given - listed,
                                                   .by = LKS_STR(""),
                                                   .reason = LKS_STR("")}});
}
