/* The plan of a change as records again. */
#include "core/fold/dump_plan.h"
#include "base/real.h"
#include "codec/notation/hostlist.h"
#include "core/fold/sets.h"
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
    struct lks_rec_change r = {.quorum = c->class != 0 ? c->quorum : 0};
    lks_sets_dump(s, LKS_RECORD_CHANGE, c, &r);
    return r;
}

struct lks_rec_plan_step lks_dump_step(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t recipe, uint32_t index)
{
    const struct lks_step *step = &c->recipes[recipe].steps[index];
    struct lks_rec_plan_step r = {.change = c->id, .recipe = recipe, .index = index};
    lks_sets_dump(s, LKS_RECORD_PLAN_STEP, step, &r);
    return r;
}

struct lks_rec_plan_wave lks_dump_wave(const struct lks_state *s, const struct lks_state_change *c,
                                       uint32_t index)
{
    struct lks_rec_plan_wave r = {.change = c->id, .index = index};
    lks_sets_dump(s, LKS_RECORD_PLAN_WAVE, &c->waves[index], &r);
    return r;
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

/* A record that begins with the number of its change. */
static void say_row(struct lks_dump *d, const struct lks_state_change *c, enum lks_record_kind kind,
                    const void *row)
{
    struct lks_record r = {.kind = kind, .plan_order = {.change = c->id}};
    lks_sets_dump(d->s, kind, row, &r.begun);
    say(d, c->proposed, r);
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
        say_row(d, c, LKS_RECORD_PLAN_ORDER, &c->orders[i]);
    for (uint32_t i = 0; i < c->note_count; i++)
        say_row(d, c, LKS_RECORD_PLAN_NOTE, &c->notes[i]);
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
    struct lks_record r = {.kind = LKS_RECORD_PLAN_METRIC,
                           .plan_metric = {
                               .change = c->id,
                               .margin = real_text(m->margin, margin),
                               .alpha = real_text(m->alpha, alpha),
                               .sigma = real_text(m->sigma, sigma),
                               .normal = real_text(m->normal, normal),
                           }};
    lks_sets_dump(d->s, LKS_RECORD_PLAN_METRIC, m, &r.plan_metric);
    say(d, c->proposed, r);
}

static void dump_gates(struct lks_dump *d, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->metric_count; i++)
        dump_metric(d, c, &c->metrics[i]);
    for (uint32_t i = 0; i < c->gate_count; i++)
        say_row(d, c, LKS_RECORD_PLAN_GATE, &c->gates[i]);
}

void lks_dump_plan(struct lks_dump *d, const struct lks_state_change *c)
{
    say(d, c->proposed,
        (struct lks_record){.kind = LKS_RECORD_CHANGE, .change = lks_dump_change(d->s, c)});
    dump_plan(d, c);
    dump_gates(d, c);
}
