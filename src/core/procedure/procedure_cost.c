/* How long it takes and what it costs; and what stays at risk when all goes as planned. */
#include "core/compat/advisory.h"
#include "core/governance/govern.h"
#include "core/procedure/procedure_parts.h"
#include "core/rows/change_index.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdlib.h>

enum {
    ADVISORIES_TOLD = 100,
    PASSES = 3, /* there, back, and there again */
};

#define MINUTE      (60 * LKS_SECOND)
#define HOUR        (60 * MINUTE)
#define DAY_OF_WORK (6 * HOUR)

/* Cost -------------------------------------------------------------------------------------- */

/* What was rehearsed is known to the minute at best, and of a working day to the hour. */
lks_ms lks_procedure_rounded(lks_ms span)
{
    lks_ms to = span > DAY_OF_WORK ? HOUR : MINUTE;
    return (span + to - 1) / to * to;
}

static struct lks_str money(struct lks_procedure_work *w, uint64_t gpu_hours)
{
    if (!(w->price->hour > 0))
        return LKS_STR("");
    return lks_document_text(w->p, "%.0f%s%" LKS_STR_FMT, (double)gpu_hours * w->price->hour,
                             w->price->currency.len > 0 ? " " : "",
                             LKS_STR_ARG(w->price->currency));
}

static void add_costs(struct lks_procedure_work *w, const char *case_is, lks_ms took,
                      uint64_t gpu_hours)
{
    const struct lks_cell row[] = {
        lks_cell_text(lks_str_from(case_is)),
        lks_cell_span(lks_procedure_rounded(took)),
        lks_cell_count(gpu_hours),
        lks_cell_text(money(w, gpu_hours)),
    };
    lks_document_row(w->p, row);
}

/* What a member takes while it is out of service; one that exercises the rollback goes three times.
 */
static lks_ms takes_of(const struct lks_procedure_work *w, const struct lks_member *m)
{
    lks_ms takes = m->recipe < w->c->recipe_count ? w->takes[m->recipe] : 0;
    return m->proves ? PASSES * takes : takes;
}

static lks_ms wave_takes(const struct lks_procedure_work *w, uint32_t wave)
{
    const struct lks_state_change *c = w->c;
    lks_ms longest = 0;
    uint64_t units = 0;
    bool proves = false;
    for (uint32_t u = c->waves[wave].first_unit; u != 0; u = c->units[u - 1].next, units++) {
        const struct lks_unit *unit = &c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            lks_ms takes = m->recipe < c->recipe_count ? w->takes[m->recipe] : 0;
            longest = takes > longest ? takes : longest;
            proves |= m->proves;
        }
    }
    return lks_plan_wave_takes(units, c->waves[wave].width, longest, proves) + c->waves[wave].soak;
}

lks_ms lks_procedure_planned(const struct lks_procedure_work *w, uint64_t *gpu_hours)
{
    lks_ms took = 0, gpu_ms = 0;
    for (uint32_t i = 0; i < w->c->wave_count; i++)
        took += wave_takes(w, i);
    for (uint32_t i = 0; i < w->c->member_count; i++) {
        const struct lks_member *m = &w->c->members[i];
        gpu_ms += takes_of(w, m) * lks_size_gpus(w->s, w->book, m->node);
    }
    *gpu_hours = (gpu_ms + HOUR - 1) / HOUR;
    return took;
}

static void add_planned(struct lks_procedure_work *w)
{
    uint64_t gpu_hours = 0;
    lks_ms took = lks_procedure_planned(w, &gpu_hours);
    add_costs(w, "planned", took, gpu_hours);
}

static void add_rehearsed(struct lks_procedure_work *w)
{
    static const char *const cases[] = {"at best, 1 of 20", "as a rule, half",
                                        "at worst, 19 of 20"};
    const struct lks_change_forecast *f = &w->c->forecast;
    for (size_t i = 0; i < LKS_COUNT(cases); i++)
        add_costs(w, cases[i], f->took[i], f->gpu_hours[i]);
}

void lks_procedure_cost(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"case", "case"}, {"took_ms", "takes"}, {"gpu_hours", "GPU-hours"}, {"money", "money"}};
    const struct lks_change_forecast *f = &w->c->forecast;
    bool rehearsed = f->runs > 0;
    lks_document_section(
        w->p, "cost", "How long, and what it costs",
        rehearsed
            ? "By a rehearsal of this change on a simulated copy of this fleet. GPU-hours are "
              "those out of service."
            : "Not rehearsed: these are the plan's own numbers, without waiting for jobs and "
              "windows, and without failures. GPU-hours are those out of service.");
    lks_document_fact(w->p, "rehearsed", "Rehearsed", lks_cell_truth(rehearsed));
    if (rehearsed) {
        lks_document_fact(w->p, "runs", "Runs", lks_cell_count(f->runs));
        lks_document_fact(w->p, "by", "Rehearsed by", lks_cell_text(lks_procedure_text(w, f->by)));
        lks_document_fact(w->p, "at", "Rehearsed at", lks_cell_time(f->at));
        lks_document_fact(w->p, "kept_high", "Nodes left to a person, at worst",
                          lks_cell_count(f->kept));
        lks_document_fact(w->p, "reached_high", "Nodes that a bad image comes to, at worst",
                          lks_cell_count(f->reached));
    } else {
        lks_document_fact(w->p, "rehearse", "To rehearse it",
                          lks_cell_code(lks_document_text(w->p, "lockstep rehearse %llu --keep",
                                                          (unsigned long long)w->c->id)));
    }
    if (!(w->price->hour > 0))
        lks_document_fact(w->p, "price", "For money, say what a GPU costs an hour",
                          lks_cell_code(lks_document_text(
                              w->p, "lockstep change procedure %llu --gpu-hour '2.5 EUR'",
                              (unsigned long long)w->c->id)));
    lks_document_table(w->p, "costs", "Numbers", NULL, columns, LKS_COUNT(columns));
    if (rehearsed)
        add_rehearsed(w);
    else
        add_planned(w);
}

/* Risk -------------------------------------------------------------------------------------- */

static void add_risk(struct lks_procedure_work *w, const char *kind, struct lks_str text)
{
    const struct lks_cell row[] = {lks_cell_text(lks_str_from(kind)), lks_cell_text(text)};
    lks_document_row(w->p, row);
}

static void add_notes(struct lks_procedure_work *w)
{
    for (uint32_t i = 0; i < w->c->note_count; i++) {
        const struct lks_change_note *n = &w->c->notes[i];
        if (n->kind != LKS_PLAN_EVIDENCE && n->kind != LKS_PLAN_ONE_WAY)
            add_risk(w, lks_plan_note_words[n->kind], lks_procedure_text(w, n->text));
    }
}

static bool named_alike(const struct lks_step *a, const struct lks_step *b)
{
    return a->kind == b->kind && a->component == b->component && a->one_way == b->one_way &&
           a->missing == b->missing;
}

/* Why the step has no rollback. */
static struct lks_str one_way_text(struct lks_procedure_work *w, const struct lks_step *step)
{
    if (step->missing == 0)
        return LKS_STR("is irreversible");
    return lks_document_text(w->p,
                             "cannot be rolled back (no verified bundle had %" LKS_STR_FMT ")",
                             LKS_STR_ARG(lks_procedure_text(w, step->missing)));
}

static void add_one_way(struct lks_procedure_work *w)
{
    char many[LKS_COUNT_TEXT_SIZE];
    lks_procedure_list(w, named_alike);
    for (uint32_t i = 0; i < w->step_count; i++) {
        const struct lks_procedure_step *at = &w->steps[i];
        if (at->step->one_way)
            add_risk(w, "one-way",
                     lks_document_text(w->p, "%" LKS_STR_FMT " %" LKS_STR_FMT ", on %s",
                                       LKS_STR_ARG(lks_procedure_step_text(w, at->step)),
                                       LKS_STR_ARG(one_way_text(w, at->step)),
                                       lks_str_count_text(at->members, "device", many)));
    }
}

/* Members of which something is not known. */
static bool is_unread(const struct lks_procedure_work *w, const struct lks_member *m)
{
    enum lks_judged judged = lks_state_judged(w->s, m->node);
    return w->s->nodes[m->node].whole == 0 || judged == LKS_JUDGED_NOT ||
           judged == LKS_JUDGED_UNMEASURED;
}

static bool is_away(const struct lks_procedure_work *w, const struct lks_member *m)
{
    const struct lks_node *n = &w->s->nodes[m->node];
    return n->asset == 0 && n->liveness != LKS_LIVE;
}

static bool is_unfounded(const struct lks_procedure_work *w, const struct lks_member *m)
{
    (void)w;
    return m->from == 0;
}

static void add_members(struct lks_procedure_work *w, struct lks_str *space)
{
    static const struct {
        const char *kind, *about;
        bool (*is)(const struct lks_procedure_work *w, const struct lks_member *m);
    } rows[] = {
        {"inventory", "what these run is not read, or not all of it", is_unread},
        {"inventory", "no stack is known that these come from", is_unfounded},
        {"away", "these are not heard of now", is_away},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        size_t count = 0;
        for (uint32_t k = 0; k < w->c->member_count; k++) {
            if (rows[i].is(w, &w->c->members[k]))
                space[count++] = lks_state_name(w->s, w->c->members[k].node);
        }
        if (count > 0)
            add_risk(w, rows[i].kind,
                     lks_document_text(w->p, "%s: %" LKS_STR_FMT, rows[i].about,
                                       LKS_STR_ARG(lks_procedure_hosts(w, space, count))));
    }
}

static int by_number(const void *left, const void *right)
{
    const lks_text *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Nodes that stay as they are beside members of their domain: it would serve mixed, and so it is
 * kept from jobs. */
static void add_domains(struct lks_procedure_work *w, struct lks_str *space)
{
    lks_text *domains =
        lks_arena_array(&w->p->memory, (size_t)w->c->unit_count + 1, sizeof(*domains));
    size_t count = 0, named = 0;
    if (domains == NULL) {
        w->p->failed = lks_arena_fail(&w->p->memory, w->err);
        return;
    }
    for (uint32_t i = 0; i < w->c->unit_count; i++) {
        if (w->c->units[i].domain != 0)
            domains[count++] = w->c->units[i].domain;
    }
    if (count == 0)
        return;
    qsort(domains, count, sizeof(*domains), by_number);
    for (uint32_t i = 0; i < w->s->node_count; i++) {
        const struct lks_node *n = &w->s->nodes[i];
        if (n->placed && n->domain != 0 && lks_state_change_member(w->c, i) == NULL &&
            bsearch(&n->domain, domains, count, sizeof(*domains), by_number) != NULL)
            space[named++] = lks_state_name(w->s, i);
    }
    if (named > 0)
        add_risk(w, "domain",
                 lks_document_text(w->p,
                                   "these are not in the change, and others of their domain are: "
                                   "%" LKS_STR_FMT,
                                   LKS_STR_ARG(lks_procedure_hosts(w, space, named))));
}

/* Pools and waves that nothing is compared of. */
static void add_unmeasured(struct lks_procedure_work *w)
{
    for (uint32_t i = 0; i < w->s->pool_count; i++) {
        lks_text name = w->s->pools[i].name;
        bool gated = false;
        for (uint32_t k = 0; k < w->c->gate_count && !gated; k++)
            gated = w->c->gates[k].pool == name;
        if (w->by_pool[i].nodes > 0 && !gated)
            add_risk(w, "evidence",
                     lks_document_text(w->p,
                                       "nothing is measured of nodes of pool %" LKS_STR_FMT
                                       ": what gets worse there without failing is not found",
                                       LKS_STR_ARG(lks_procedure_text(w, name))));
    }
    for (uint32_t i = 0; w->c->metric_count > 0 && i < w->c->wave_count; i++) {
        const struct lks_wave *wave = &w->c->waves[i];
        if (wave->controls == 0 && wave->soak > 0)
            add_risk(
                w, "controls",
                lks_document_text(w->p, "wave %u has no controls to compare its nodes with", i));
    }
}

static void add_governed(struct lks_procedure_work *w)
{
    const struct lks_state_change *c = w->c;
    char until[LKS_TIME_TEXT_SIZE];
    for (uint32_t i = 0; i < c->waiver_count; i++) {
        const struct lks_waiver *v = &c->waivers[i];
        if (w->s->clock < v->until)
            add_risk(w, "waived",
                     lks_document_text(w->p,
                                       "gate %" LKS_STR_FMT
                                       " is not asked until %s, by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                       LKS_STR_ARG(lks_procedure_text(w, v->gate)),
                                       lks_time_text(v->until, until),
                                       LKS_STR_ARG(lks_procedure_text(w, v->by)),
                                       LKS_STR_ARG(lks_procedure_text(w, v->reason))));
    }
    if (c->glass.at != 0)
        add_risk(w, "break-glass",
                 lks_document_text(
                     w->p, "%" LKS_STR_FMT " started it without its approvals: %" LKS_STR_FMT,
                     LKS_STR_ARG(lks_procedure_text(w, c->glass.by)),
                     LKS_STR_ARG(lks_procedure_text(w, c->glass.reason))));
}

static void add_advisories(struct lks_procedure_work *w)
{
    const struct lks_stack *to = lks_book_stack(w->book, lks_procedure_text(w, w->c->stack));
    struct lks_advisory_list list = {0};
    struct lks_err err = {0};
    if (to == NULL || lks_advisory_list_of(w->book->facts, to, &list, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < list.count && i < ADVISORIES_TOLD; i++) {
        const struct lks_open_advisory *a = &list.open[i];
        add_risk(w, "advisory",
                 lks_document_text(
                     w->p, "%" LKS_STR_FMT " stays open in %" LKS_STR_FMT " (%s%s%" LKS_STR_FMT ")",
                     LKS_STR_ARG(a->advisory->id), LKS_STR_ARG(a->component->name),
                     lks_advisory_exposure_about(a->exposure),
                     a->advisory->severity.len > 0 ? ", " : "",
                     LKS_STR_ARG(a->advisory->severity)));
    }
    lks_advisory_list_fini(&list);
}

void lks_procedure_risk(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {{"kind", "kind"}, {"text", "what"}};
    struct lks_str *space =
        lks_arena_array(&w->p->memory, (size_t)w->s->node_count + 1, sizeof(*space));
    lks_document_section(w->p, "risk", "Remaining risks",
                         "The risks that remain if the change goes as planned.");
    lks_document_table(w->p, "risks", "Risks", "Nothing that is known.", columns,
                       LKS_COUNT(columns));
    if (space == NULL) {
        w->p->failed = lks_arena_fail(&w->p->memory, w->err);
        return;
    }
    add_one_way(w);
    add_notes(w);
    add_members(w, space);
    add_domains(w, space);
    add_unmeasured(w);
    add_governed(w);
    add_advisories(w);
}
