/* How far changes are, what was learned by them, and what is frozen, as records. */
#include "core/fold/texts.h"
#include "tests/dump_state.h"

static void say_moved(struct lks_dump *d, const struct lks_state_change *c, lks_ms time,
                      enum lks_change_state state)
{
    lks_dump_say(d, time,
                 (struct lks_record){.kind = LKS_RECORD_CHANGE_MOVED,
                                     .change_moved = {.change = c->id,
                                                      .state = state,
                                                      .by = lks_dump_text(d, c->moved_by),
                                                      .reason = lks_dump_text(d, c->moved_reason),
                                                      .standby = lks_dump_text(d, c->standby)}});
}

static void dump_glass(struct lks_dump *d, const struct lks_state_change *c)
{
    const struct lks_glass *g = &c->glass;
    if (g->at != 0)
        lks_dump_say(
            d, g->at,
            (struct lks_record){.kind = LKS_RECORD_GLASS_BROKEN,
                                .glass_broken = {.change = c->id,
                                                 .until = g->until,
                                                 .by = lks_dump_text(d, g->by),
                                                 .reason = lks_dump_text(d, g->reason),
                                                 .minters = lks_dump_text(d, g->minters)}});
    if (g->reviewed != 0)
        lks_dump_say(
            d, g->reviewed,
            (struct lks_record){.kind = LKS_RECORD_REVIEWED,
                                .reviewed = {.change = c->id,
                                             .by = lks_dump_text(d, g->reviewed_by),
                                             .reason = lks_dump_text(d, g->reviewed_reason)}});
    for (uint32_t i = 0; i < c->waiver_count; i++) {
        const struct lks_waiver *v = &c->waivers[i];
        lks_dump_say(d, v->at,
                     (struct lks_record){.kind = LKS_RECORD_WAIVED,
                                         .waived = {.change = c->id,
                                                    .gate = lks_dump_text(d, v->gate),
                                                    .until = v->until,
                                                    .by = lks_dump_text(d, v->by),
                                                    .reason = lks_dump_text(d, v->reason),
                                                    .pool = lks_dump_text(d, v->pool)}});
    }
}

/* When it began first, and then how it stands. */
static void dump_moves(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->vote_count; i++) {
        const struct lks_vote *v = &c->votes[i];
        lks_dump_say(
            d, v->at,
            (struct lks_record){.kind = LKS_RECORD_CHANGE_VOTED,
                                .change_voted = {.change = c->id,
                                                 .yes = v->yes,
                                                 .by = lks_dump_text(d, v->by),
                                                 .reason = lks_dump_text(d, v->reason),
                                                 .credential = lks_dump_text(d, v->credential),
                                                 .minters = lks_dump_text(d, v->minters)}});
    }
    dump_glass(d, c);
    if (c->started != 0)
        say_moved(d, c, c->started, LKS_CHANGE_RUNNING);
    if (c->moved != 0)
        say_moved(d, c, c->moved, c->state);
}

static void say_member(struct lks_dump *d, const struct lks_state_change *c,
                       const struct lks_member *m, lks_ms time)
{
    struct lks_record r = {.kind = LKS_RECORD_MEMBER, .member = lks_state_member_said(m)};
    r.member.change = c->id;
    r.member.node = lks_state_name(d->s, m->node);
    r.member.text = lks_dump_text(d, m->text);
    lks_dump_say(d, time, r);
}

static bool untouched(const struct lks_member *m)
{
    return m->state == LKS_MEMBER_PENDING && m->step == 0 && !m->back && m->pass == 0 &&
           m->attempt == 0 && m->until == 0 && m->work == 0 && m->failure == LKS_FAILURE_NONE &&
           m->text == 0 && m->since == 0;
}

/* When it began and when it turned back, at a step that is none and where it is not now; so what is
 * said last is since then. */
static void dump_member(struct lks_dump *d, const struct lks_state_change *c,
                        const struct lks_member *m)
{
    struct lks_member before = {.node = m->node, .state = LKS_MEMBER_WAITING};
    if (untouched(m))
        return;
    before.step = c->recipes[m->recipe].count;
    before.step += before.step == m->step;
    if (m->begun != 0)
        say_member(d, c, &before, m->begun);
    before.state = LKS_MEMBER_SKIPPED;
    before.back = m->turned != 0;
    if (m->turned != 0 || m->state == LKS_MEMBER_PENDING)
        say_member(d, c, &before, m->turned != 0 ? m->turned : m->since);
    say_member(d, c, m, m->since);
}

static void dump_progress(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->wave_count; i++) {
        const struct lks_wave *w = &c->waves[i];
        if (w->state != LKS_WAVE_PLANNED || w->since != 0 || w->until != 0 || w->text != 0)
            lks_dump_say(d, w->since,
                         (struct lks_record){.kind = LKS_RECORD_WAVE,
                                             .wave = {.change = c->id,
                                                      .index = i,
                                                      .state = w->state,
                                                      .until = w->until,
                                                      .text = lks_dump_text(d, w->text)}});
    }
    for (uint32_t i = 0; i < c->member_count && d->code == LKS_OK; i++)
        dump_member(d, c, &c->members[i]);
}

static void say_frozen(struct lks_dump *d, lks_ms since, lks_text pool, lks_text by,
                       lks_text reason)
{
    lks_dump_say(d, since,
                 (struct lks_record){.kind = LKS_RECORD_FROZEN,
                                     .frozen = {.pool = lks_dump_text(d, pool),
                                                .on = true,
                                                .by = lks_dump_text(d, by),
                                                .reason = lks_dump_text(d, reason)}});
}

static void dump_forecast(struct lks_dump *d, const struct lks_state_change *c)
{
    const struct lks_change_forecast *f = &c->forecast;
    if (f->runs > 0)
        lks_dump_say(d, f->at,
                     (struct lks_record){.kind = LKS_RECORD_FORECAST,
                                         .forecast = {.change = c->id,
                                                      .runs = f->runs,
                                                      .took_low = f->took[0],
                                                      .took_middle = f->took[1],
                                                      .took_high = f->took[2],
                                                      .gpu_hours_low = f->gpu_hours[0],
                                                      .gpu_hours_middle = f->gpu_hours[1],
                                                      .gpu_hours_high = f->gpu_hours[2],
                                                      .kept_high = f->kept,
                                                      .reached_high = f->reached,
                                                      .by = lks_dump_text(d, f->by)}});
}

static void dump_measure(struct lks_dump *d, const struct lks_state_change *c,
                         const struct lks_measure *m)
{
    char before[LKS_REAL_SIZE], after[LKS_REAL_SIZE];
    lks_dump_say(d, m->at,
                 (struct lks_record){.kind = LKS_RECORD_MEASURED,
                                     .measured = {
                                         .change = c->id,
                                         .wave = m->wave,
                                         .node = lks_state_name(d->s, m->node),
                                         .metric = lks_dump_text(d, m->metric),
                                         .before = lks_dump_real(m->has_before, m->before, before),
                                         .after = lks_dump_real(m->has_after, m->after, after),
                                         .samples = m->samples,
                                         .from = m->from,
                                         .until = m->until,
                                         .load = m->load,
                                         .events = m->events,
                                         .exposure = m->exposure,
                                     }});
}

static void dump_evidence(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->measure_count && d->code == LKS_OK; i++)
        dump_measure(d, c, &c->measures[i]);
    for (uint32_t i = 0; i < c->look_count; i++) {
        const struct lks_gate_look *l = &c->looks[i];
        lks_dump_say(d, l->at,
                     (struct lks_record){.kind = LKS_RECORD_GATE_LOOKED,
                                         .gate_looked = {.change = c->id,
                                                         .wave = l->wave,
                                                         .metric = lks_dump_text(d, l->metric),
                                                         .look = l->look,
                                                         .verdict = l->verdict,
                                                         .text = lks_dump_text(d, l->text)}});
    }
    dump_forecast(d, c);
    for (uint32_t i = 0; i < c->wave_count; i++) {
        const struct lks_wave *w = &c->waves[i];
        if (w->limit != 0 || w->limit_text != 0)
            lks_dump_say(
                d, w->since,
                (struct lks_record){.kind = LKS_RECORD_WAVE_LIMIT,
                                    .wave_limit = {.change = c->id,
                                                   .wave = i,
                                                   .limit = w->limit,
                                                   .text = lks_dump_text(d, w->limit_text)}});
    }
}

void lks_dump_changes(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->change_count && d->code == LKS_OK; i++) {
        const struct lks_state_change *c = &d->s->changes[i];
        lks_dump_plan(d, c);
        dump_progress(d, c);
        dump_evidence(d, c);
        dump_moves(d, c);
    }
    for (uint32_t i = 0; i < d->s->proven_count; i++) {
        const struct lks_proven *p = &d->s->proven[i];
        struct lks_record r = {.kind = LKS_RECORD_REVERT_PROVEN,
                               .revert_proven = {.change = p->change, .took = p->took}};
        lks_texts_dump(d, &lks_texts_proven, p, &r.revert_proven);
        lks_dump_say(d, p->at, r);
    }
    if (d->s->frozen)
        say_frozen(d, d->s->frozen_since, 0, d->s->frozen_by, d->s->frozen_reason);
    for (uint32_t p = 0; p < d->s->pool_count; p++) {
        const struct lks_state_pool *pool = &d->s->pools[p];
        if (pool->known && pool->frozen)
            say_frozen(d, pool->frozen_since, pool->name, pool->frozen_by, pool->frozen_reason);
    }
}
