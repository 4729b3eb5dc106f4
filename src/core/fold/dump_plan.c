/* The plan of a change as records again. */
#include "base/real.h"
#include "codec/notation/hostlist.h"
#include "core/fold/texts.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "model/record/record.h"

enum { HOSTS_SAID = 500 }; /* names in one record */

static void say(struct lks_dump *d, lks_ms time, struct lks_record r)
{
    if (d->code == LKS_OK)
        d->code = d->emit(d->ctx, time, &r, d->err);
}

struct lks_str lks_dump_text(const struct lks_dump *d, lks_text id)
{
    return lks_state_text(d->s, id);
}

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
    say(d, c->proposed,
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
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
            say(d, c->proposed,
                (struct lks_record){.kind = LKS_RECORD_PLAN_STEP,
                                    .plan_step = lks_dump_step(d->s, c, r, i)});
    }
    for (uint32_t i = 0; i < c->wave_count; i++)
        say(d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_WAVE,
                                .plan_wave = lks_dump_wave(d->s, c, i)});
    dump_parts(d, c);
    for (uint32_t i = 0; i < c->order_count; i++)
        say(d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_ORDER,
                                .plan_order = {.change = c->id,
                                               .digest = lks_dump_text(d, c->orders[i].digest),
                                               .text = lks_dump_text(d, c->orders[i].text)}});
    for (uint32_t i = 0; i < c->note_count; i++)
        say(d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_NOTE,
                                .plan_note = {.change = c->id,
                                              .kind = c->notes[i].kind,
                                              .text = lks_dump_text(d, c->notes[i].text)}});
}

/* Where nothing was said there is no number. */
/* A number as text; empty: zero. */
static struct lks_str real_text(double value, char out[LKS_REAL_SIZE])
{
    return value != 0 ? lks_str_from(lks_real_text(value, out)) : LKS_STR("");
}

static void dump_metric(struct lks_dump *d, const struct lks_state_change *c,
                        const struct lks_plan_metric *m)
{
    char margin[LKS_REAL_SIZE], alpha[LKS_REAL_SIZE], sigma[LKS_REAL_SIZE], normal[LKS_REAL_SIZE];
    say(d, c->proposed,
        (struct lks_record){.kind = LKS_RECORD_PLAN_METRIC,
                            .plan_metric = {
                                .change = c->id,
                                .name = lks_dump_text(d, m->name),
                                .pools = lks_dump_text(d, m->pools),
                                .kind = m->kind,
                                .better = m->better,
                                .unit = m->unit,
                                .margin = real_text(m->margin, margin),
                                .critical = m->critical,
                                .query = lks_dump_text(d, m->query),
                                .source = m->source,
                                .alpha = real_text(m->alpha, alpha),
                                .sigma = real_text(m->sigma, sigma),
                                .normal = real_text(m->normal, normal),
                            }});
}

static void dump_gates(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->metric_count; i++)
        dump_metric(d, c, &c->metrics[i]);
    for (uint32_t i = 0; i < c->gate_count; i++) {
        const struct lks_pool_gate *g = &c->gates[i];
        say(d, c->proposed,
            (struct lks_record){.kind = LKS_RECORD_PLAN_GATE,
                                .plan_gate = {
                                    .change = c->id,
                                    .pool = lks_dump_text(d, g->pool),
                                    .min_load = g->min_load,
                                    .min_soak = g->min_soak,
                                    .max_soak = g->max_soak,
                                    .loss_budget = g->loss_budget,
                                    .reference_load = lks_dump_text(d, g->reference_load),
                                }});
    }
}

void lks_dump_plan(struct lks_dump *d, const struct lks_state_change *c)
{
    say(d, c->proposed,
        (struct lks_record){.kind = LKS_RECORD_CHANGE, .change = lks_dump_change(d->s, c)});
    dump_plan(d, c);
    dump_gates(d, c);
}
