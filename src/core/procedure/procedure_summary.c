/* The paragraph that a board reads first. It only repeats what sections below say in full. */
#include "core/governance/govern.h"
#include "core/procedure/procedure_parts.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

enum { NAMES_TOLD = 5 }; /* of pools, stacks and steps */

static void add_name(struct lks_buf *out, struct lks_str name, uint32_t *told)
{
    if (*told < NAMES_TOLD)
        lks_buf_addf(out, "%s%" LKS_STR_FMT, *told > 0 ? ", " : "", LKS_STR_ARG(name));
    else if (*told == NAMES_TOLD)
        lks_buf_add(out, LKS_STR(" and others"));
    (*told)++;
}

static void add_pools(const struct lks_procedure_work *w, struct lks_buf *out)
{
    uint32_t told = 0, count = 0;
    for (uint32_t i = 0; i < w->s->pool_count; i++)
        count += w->by_pool[i].nodes > 0;
    if (count > 0)
        lks_buf_addf(out, " of %s ", count > 1 ? "pools" : "pool");
    for (uint32_t i = 0; i < w->s->pool_count; i++)
        if (w->by_pool[i].nodes > 0)
            add_name(out, lks_procedure_text(w, w->s->pools[i].name), &told);
}

/* What moves, where from and where to, and why. */
static void add_what(struct lks_procedure_work *w, const struct lks_str *froms, uint32_t count,
                     struct lks_buf *out)
{
    const struct lks_state_change *c = w->c;
    char nodes[LKS_COUNT_TEXT_SIZE], gpus[LKS_COUNT_TEXT_SIZE], assets[LKS_COUNT_TEXT_SIZE];
    uint32_t told = 0;
    lks_buf_addf(out, "Change %llu moves %s with %s", (unsigned long long)c->id,
                 lks_str_count_text(w->whole.nodes, "node", nodes),
                 lks_str_count_text(w->whole.gpus, "GPU", gpus));
    if (w->whole.assets > 0)
        lks_buf_addf(out, " and %s", lks_str_count_text(w->whole.assets, "asset", assets));
    add_pools(w, out);
    if (count > 0)
        lks_buf_add(out, LKS_STR(" from "));
    for (uint32_t i = 0; i < count; i++) {
        const struct lks_stack *stack = lks_book_stack(w->book, froms[i]);
        add_name(out, stack != NULL ? stack->name : froms[i], &told);
    }
    lks_buf_addf(out, " to %s%" LKS_STR_FMT ".", c->kind == LKS_CHANGE_AGENT ? "agent " : "",
                 LKS_STR_ARG(lks_procedure_text(w, c->name)));
    if (c->class != 0)
        lks_buf_addf(out, " It is a change of class %" LKS_STR_FMT ".",
                     LKS_STR_ARG(lks_procedure_text(w, c->class)));
    if (c->reason != 0)
        lks_buf_addf(out, " The reason given is: %" LKS_STR_FMT ".",
                     LKS_STR_ARG(lks_procedure_text(w, c->reason)));
}

static void add_waves(const struct lks_procedure_work *w, struct lks_buf *out)
{
    const struct lks_state_change *c = w->c;
    char waves[LKS_COUNT_TEXT_SIZE], units[LKS_COUNT_TEXT_SIZE], nodes[LKS_COUNT_TEXT_SIZE];
    uint64_t width = 0;
    for (uint32_t i = 0; i < c->wave_count; i++)
        width = c->waves[i].width > width ? c->waves[i].width : width;
    if (c->wave_count == 0)
        return;
    lks_buf_addf(out, " Nodes change in %s%s%s, at most %s at a time; gates check %s.",
                 lks_str_count_text(c->wave_count, "wave", waves),
                 c->wave_count > 1 ? ", the first with " : " of ",
                 lks_str_count_text(w->by_wave[0].nodes, "node", nodes),
                 lks_str_count_text(width, "unit", units),
                 c->wave_count > 1 ? "each wave before the next one starts" : "it at its end");
}

static void add_cost(struct lks_procedure_work *w, struct lks_buf *out)
{
    const struct lks_change_forecast *f = &w->c->forecast;
    char middle[LKS_SPAN_TEXT_SIZE], high[LKS_SPAN_TEXT_SIZE];
    uint64_t gpu_hours = 0;
    if (f->runs > 0) {
        lks_buf_addf(out,
                     " By %llu rehearsed runs it takes %s in half of them and up to %s in 19 of "
                     "20, and up to %llu GPU-hours out of service.",
                     (unsigned long long)f->runs,
                     lks_time_span_text(lks_procedure_rounded(f->took[1]), middle),
                     lks_time_span_text(lks_procedure_rounded(f->took[2]), high),
                     (unsigned long long)f->gpu_hours[2]);
        return;
    }
    lks_ms took = lks_procedure_planned(w, &gpu_hours);
    lks_buf_addf(out,
                 " It was not rehearsed; the plan estimates %s and %llu GPU-hours out of service, "
                 "without waiting for jobs and windows.",
                 lks_time_span_text(lks_procedure_rounded(took), middle),
                 (unsigned long long)gpu_hours);
}

static bool one_alike(const struct lks_step *a, const struct lks_step *b)
{
    return a->kind == b->kind && a->component == b->component && a->one_way == b->one_way;
}

static void add_back(struct lks_procedure_work *w, struct lks_buf *out)
{
    uint32_t told = 0;
    lks_procedure_list(w, one_alike);
    for (uint32_t i = 0; i < w->step_count; i++) {
        if (!w->steps[i].step->one_way)
            continue;
        lks_buf_add(out, told == 0 ? LKS_STR(" These steps cannot be rolled back: ") : LKS_STR(""));
        add_name(out, lks_procedure_step_text(w, w->steps[i].step), &told);
    }
    lks_buf_add(out, told > 0 ? LKS_STR(".") : LKS_STR(" Every step can be rolled back."));
    if (w->c->failures_max == 0)
        lks_buf_add(out, LKS_STR(" It halts when one of its nodes fails"));
    else
        lks_buf_addf(out, " It halts when more than %llu of its nodes fail",
                     (unsigned long long)w->c->failures_max);
    lks_buf_addf(out, ", and %s.",
                 w->c->rolls_back ? "then rolls back by itself"
                                  : "then waits for a person to resume it or roll it back");
}

static void add_approvals(const struct lks_procedure_work *w, struct lks_buf *out)
{
    struct lks_tally t = lks_govern_tally(w->s, w->c, w->s->clock, NULL, LKS_STR(""));
    char needed[LKS_COUNT_TEXT_SIZE];
    if (t.needed == 0)
        lks_buf_add(out, LKS_STR(" It needs no approval."));
    else
        lks_buf_addf(out, " It has %llu of %s.", (unsigned long long)t.given,
                     lks_str_count_text(t.needed, "approval", needed));
}

void lks_procedure_summary(struct lks_procedure_work *w, const struct lks_str *froms,
                           uint32_t from_count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOCUMENT_BYTES_MAX);
    add_what(w, froms, from_count, &text);
    add_waves(w, &text);
    add_cost(w, &text);
    add_back(w, &text);
    add_approvals(w, &text);
    lks_document_section(w->p, "summary", "Summary",
                         "The change in short; the sections below say "
                         "all of it.");
    lks_document_paragraph(w->p, "text", lks_document_copy(w->p, lks_buf_view(&text)));
}
