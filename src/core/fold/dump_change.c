/* Changes, what was learned by them, and what is frozen, as records. */
#include "codec/notation/hostlist.h"
#include "core/fold/texts.h"

enum { HOSTS_SAID = 500 }; /* names in one record */

struct lks_rec_change lks_dump_change(const struct lks_state *s, const struct lks_state_change *c)
{
    struct lks_rec_change r = {
        .id = c->id,
        .kind = c->kind,
        .hosts = lks_state_text(s, c->hosts),
        .failures_max = c->failures_max,
        .rolls_back = c->rolls_back,
        .one_way = c->one_way,
        .not_before = c->not_before,
        .not_after = c->not_after,
        .quorum = c->class != 0 ? c->quorum : 0,
        .expires = c->expires,
        .approval_age = c->approval_age,
        .review_age = c->review_age,
        .standby = c->needs_standby,
    };
    lks_texts_dump(&(struct lks_dump){.s = s}, &lks_texts_change, c, &r);
    return r;
}

struct lks_rec_plan_step lks_dump_step(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t recipe, uint32_t index)
{
    const struct lks_step *step = &c->recipes[recipe].steps[index];
    struct lks_rec_plan_step r = {
        .change = c->id,
        .recipe = recipe,
        .index = index,
        .kind = step->kind,
        .rank = step->rank,
        .layer = step->layer,
        .revert = step->revert,
        .one_way = step->one_way,
        .limit = step->limit,
        .retries = step->retries,
    };
    lks_texts_dump(&(struct lks_dump){.s = s}, &lks_texts_step, step, &r);
    return r;
}

struct lks_rec_plan_wave lks_dump_wave(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t index)
{
    const struct lks_wave *w = &c->waves[index];
    return (struct lks_rec_plan_wave){
        .change = c->id,
        .index = index,
        .kind = w->kind,
        .pool = lks_state_text(s, w->pool),
        .width = w->width,
        .soak = w->soak,
        .failures_max = w->failures_max,
        .controls = lks_state_text(s, w->controls),
    };
}

/* Whether one record can say both. */
static bool alike(const struct lks_state_change *c, const struct lks_member *m,
                  const struct lks_member *k)
{
    const struct lks_unit *u = &c->units[m->unit], *v = &c->units[k->unit];
    return u->wave == v->wave && u->domain == v->domain && m->recipe == k->recipe &&
           m->from == k->from && m->proves == k->proves;
}

/* Members in the order they have, so names are not folded. */
static void dump_part(struct lks_dump *d, const struct lks_state_change *c, uint32_t first,
                      uint32_t count, struct lks_buf *names)
{
    const struct lks_member *m = &c->members[first];
    lks_buf_truncate(names, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            lks_buf_addc(names, ',');
        lks_buf_add(names, lks_state_name(d->s, c->members[first + i].node));
    }
    if (d->code == LKS_OK)
        d->code = lks_buf_check(names, d->err);
    lks_dump_say(d, c->proposed,
                 (struct lks_record){.kind = LKS_RECORD_PLAN_PART,
                                     .plan_part = {
                                         .change = c->id,
                                         .wave = c->units[m->unit].wave,
                                         .recipe = m->recipe,
                                         .domain = lks_dump_text(d, c->units[m->unit].domain),
                                         .from = lks_dump_text(d, m->from),
                                         .proves = m->proves,
                                         .hosts = lks_buf_view(names),
                                     }});
}

static void dump_parts(struct lks_dump *d, const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = {0};
    lks_buf_init(&names, LKS_HOSTLIST_BYTES_MAX);
    for (uint32_t i = 0, end; i < c->member_count && d->code == LKS_OK; i = end) {
        end = i + 1;
        while (end < c->member_count && end - i < HOSTS_SAID &&
               alike(c, &c->members[i], &c->members[end]))
            end++;
        dump_part(d, c, i, end - i, &names);
    }
}

static void dump_plan(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t r = 0; r < c->recipe_count; r++) {
        for (uint32_t i = 0; i < c->recipes[r].count; i++)
            lks_dump_say(d, c->proposed,
                         (struct lks_record){.kind = LKS_RECORD_PLAN_STEP,
                                             .plan_step = lks_dump_step(d->s, c, r, i)});
    }
    for (uint32_t i = 0; i < c->wave_count; i++)
        lks_dump_say(d, c->proposed,
                     (struct lks_record){.kind = LKS_RECORD_PLAN_WAVE,
                                         .plan_wave = lks_dump_wave(d->s, c, i)});
    dump_parts(d, c);
    for (uint32_t i = 0; i < c->order_count; i++)
        lks_dump_say(
            d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_ORDER,
                                .plan_order = {.change = c->id,
                                               .digest = lks_dump_text(d, c->orders[i].digest),
                                               .text = lks_dump_text(d, c->orders[i].text)}});
    for (uint32_t i = 0; i < c->note_count; i++)
        lks_dump_say(
            d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_NOTE,
                                .plan_note = {.change = c->id,
                                              .kind = c->notes[i].kind,
                                              .text = lks_dump_text(d, c->notes[i].text)}});
}

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

void lks_dump_plan(struct lks_dump *d, const struct lks_state_change *c)
{
    lks_dump_say(
        d, c->proposed,
        (struct lks_record){.kind = LKS_RECORD_CHANGE, .change = lks_dump_change(d->s, c)});
    dump_plan(d, c);
    lks_dump_gates(d, c);
}

void lks_dump_changes(struct lks_dump *d)
{
    for (uint32_t i = 0; i < d->s->change_count && d->code == LKS_OK; i++) {
        const struct lks_state_change *c = &d->s->changes[i];
        lks_dump_plan(d, c);
        dump_progress(d, c);
        lks_dump_evidence(d, c);
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
