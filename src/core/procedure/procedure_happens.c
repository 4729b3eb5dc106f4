/* What will happen: waves, what gates ask for, when nodes may begin, and the steps. */
#include "base/real.h"
#include "codec/notation/hostlist.h"
#include "core/campaign/campaign.h"
#include "core/firmware/endpoint.h"
#include "core/plan/drain.h"
#include "core/procedure/procedure_parts.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

/* Waves ------------------------------------------------------------------------------------- */

static struct lks_str names_of_wave(struct lks_procedure_work *w, uint32_t wave,
                                    struct lks_str *space)
{
    size_t count = 0;
    for (uint32_t u = w->c->waves[wave].first_unit; u != 0; u = w->c->units[u - 1].next) {
        const struct lks_unit *unit = &w->c->units[u - 1];
        for (uint32_t i = 0; i < unit->count; i++)
            space[count++] = lks_state_name(w->s, w->c->members[unit->first + i].node);
    }
    return lks_procedure_hosts(w, space, count);
}

static uint64_t count_of(struct lks_str hosts)
{
    size_t count = 0;
    struct lks_err err = {0};
    return hosts.len > 0 && lks_hostlist_count(hosts, &count, &err) == LKS_OK ? count : 0;
}

static void add_wave(struct lks_procedure_work *w, uint32_t i, struct lks_str *space)
{
    const struct lks_wave *wave = &w->c->waves[i];
    const struct lks_change_size *size = &w->by_wave[i];
    struct lks_str controls = lks_procedure_text(w, wave->controls);
    const struct lks_cell row[] = {
        lks_cell_count(i),
        lks_cell_text(lks_str_from(lks_wave_kind_words[wave->kind])),
        lks_cell_text(lks_procedure_text(w, wave->pool)),
        lks_cell_text(names_of_wave(w, i, space)),
        lks_cell_count(size->nodes),
        lks_cell_count(size->gpus),
        lks_cell_count(size->assets),
        lks_cell_count(size->units),
        lks_cell_count(wave->width),
        lks_cell_span(wave->soak),
        lks_cell_count(wave->failures_max),
        lks_cell_count(count_of(controls)),
    };
    lks_document_row(w->p, row);
}

static void add_waves(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"wave", "wave"},
        {"kind", "kind"},
        {"pool", "pool"},
        {"who", "who"},
        {"nodes", "nodes"},
        {"gpus", "GPUs"},
        {"assets", "assets"},
        {"units", "units"},
        {"width", "at a time"},
        {"soak_ms", "watched for"},
        {"failures_max", "may fail"},
        {"controls", "controls"},
    };
    uint32_t count = w->c->wave_count;
    struct lks_str *space =
        lks_arena_array(&w->p->memory, (size_t)w->c->member_count + 1, sizeof(*space));
    lks_document_table(w->p, "waves", "Waves, one after the other", "The plan has no waves.",
                       columns, LKS_COUNT(columns));
    if (space == NULL)
        w->p->failed = lks_arena_fail(&w->p->memory, w->err);
    for (uint32_t i = 0; space != NULL && i < count && i < LKS_PROCEDURE_ROWS; i++)
        add_wave(w, i, space);
    if (count > LKS_PROCEDURE_ROWS)
        lks_document_fact(w->p, "waves_left_out", "Waves that are not shown",
                          lks_cell_count(count - LKS_PROCEDURE_ROWS));
}

/* Gates ------------------------------------------------------------------------------------- */

static void add_gates(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"gate", "gate"}, {"about", "passes when"}, {"waivable", "an approver may waive it"}};
    lks_document_table(w->p, "gates", "Gates behind each wave: the strictest counts", NULL, columns,
                       LKS_COUNT(columns));
    for (size_t i = 0; i < lks_gate_count; i++) {
        const struct lks_cell row[] = {
            lks_cell_text(lks_str_from(lks_gates[i].name)),
            lks_cell_text(lks_str_from(lks_gates[i].about)),
            lks_cell_truth(lks_gates[i].waivable),
        };
        lks_document_row(w->p, row);
    }
}

static struct lks_str percent(struct lks_procedure_work *w, double value)
{
    char text[LKS_REAL_SIZE];
    if (value <= 0)
        return LKS_STR("");
    return lks_document_text(w->p, "%s %%", lks_real_text(value, text));
}

static void add_metrics(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"metric", "metric"},      {"pools", "pools"},       {"kind", "kind"},
        {"margin", "margin"},      {"better", "better is"},  {"unit", "sample"},
        {"source", "measured by"}, {"critical", "critical"},
    };
    lks_document_table(w->p, "metrics", "Metrics of the evidence gate",
                       "Nothing: no pool of it has a gate with metrics.", columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->c->metric_count; i++) {
        const struct lks_plan_metric *m = &w->c->metrics[i];
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_text(w, m->name)),
            lks_cell_text(lks_procedure_text(w, m->pools)),
            lks_cell_text(lks_str_from(lks_metric_kind_words[m->kind])),
            lks_cell_text(percent(w, m->margin)),
            lks_cell_text(lks_str_from(lks_metric_better_words[m->better])),
            lks_cell_text(lks_str_from(lks_metric_unit_words[m->unit])),
            lks_cell_text(lks_str_from(lks_metric_source_words[m->source])),
            lks_cell_truth(m->critical),
        };
        lks_document_row(w->p, row);
    }
}

static void add_asks(struct lks_procedure_work *w)
{
    enum { HOUR_SECONDS = 3600 };
    static const struct lks_document_column columns[] = {
        {"pool", "pool"},
        {"min_load_gpu_hours", "GPU-hours under load, of each node"},
        {"min_soak_ms", "watched at least"},
        {"max_soak_ms", "at most"},
        {"loss_budget", "nodes it may lose"},
        {"reference_load", "under load by"},
    };
    lks_document_table(w->p, "asks", "Other conditions of gates", NULL, columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->c->gate_count && i < LKS_PROCEDURE_ROWS; i++) {
        const struct lks_pool_gate *g = &w->c->gates[i];
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_text(w, g->pool)),
            lks_cell_count(g->min_load / HOUR_SECONDS),
            lks_cell_span(g->min_soak),
            lks_cell_span(g->max_soak),
            lks_cell_count(g->loss_budget),
            lks_cell_text(lks_procedure_text(w, g->reference_load)),
        };
        lks_document_row(w->p, row);
    }
}

static void add_power(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"text", "how small a loss a wave can find"}};
    lks_document_table(w->p, "power", "Power", NULL, columns, LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->c->note_count; i++) {
        const struct lks_cell row[] = {lks_cell_text(lks_procedure_text(w, w->c->notes[i].text))};
        if (w->c->notes[i].kind == LKS_PLAN_EVIDENCE)
            lks_document_row(w->p, row);
    }
}

/* When -------------------------------------------------------------------------------------- */

static void add_row_of_time(struct lks_procedure_work *w, struct lks_str pool, struct lks_str says)
{
    const struct lks_cell row[] = {lks_cell_text(pool), lks_cell_text(says)};
    lks_document_row(w->p, row);
}

static void add_quiet(struct lks_procedure_work *w, const struct lks_quiet *q, struct lks_str pool)
{
    char from[LKS_DAY_TEXT_SIZE], last[LKS_DAY_TEXT_SIZE];
    if (lks_fleet_quiet_is_of(q, pool))
        add_row_of_time(
            w, pool,
            lks_document_text(w->p, "no change of a node starts from %s to %s, by the fleet's file",
                              lks_time_day_text(q->from, from),
                              lks_time_day_text(q->until - 1, last)));
}

/* Its scheduler keeps jobs away from a window that there is. */
static bool is_reserved(const struct lks_procedure_work *w, const struct lks_pool *said)
{
    return said->reserve && (said->windows.len > 0 || w->c->windows != 0 || w->c->not_before != 0);
}

static void add_times(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {{"pool", "pool"}, {"says", "when"}};
    const struct lks_fleet *fleet = lks_book_fleet(w->book);
    lks_document_fact(w->p, "not_before", "No node is changed before",
                      lks_cell_time(w->c->not_before));
    lks_document_fact(w->p, "not_after", "No change of a node starts after",
                      lks_cell_time(w->c->not_after));
    lks_document_fact(w->p, "windows", "Windows, in site time",
                      lks_cell_text(lks_procedure_text(w, w->c->windows)));
    lks_document_fact(w->p, "standby", "A person stands by on site",
                      lks_cell_truth(w->c->needs_standby));
    lks_document_fact(w->p, "standby_name", "On standby",
                      lks_cell_text(lks_procedure_text(w, w->c->standby)));
    lks_document_table(w->p, "times", "When nodes of its pools may start", NULL, columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->s->pool_count; i++) {
        const struct lks_state_pool *pool = &w->s->pools[i];
        struct lks_str name = lks_procedure_text(w, pool->name);
        const struct lks_pool *said = fleet != NULL ? lks_fleet_find_pool(fleet, name) : NULL;
        if (w->by_pool[i].nodes == 0)
            continue;
        if (said != NULL && said->windows.len > 0 && w->c->windows == 0)
            add_row_of_time(w, name,
                            lks_document_text(w->p, "%" LKS_STR_FMT ", in site time",
                                              LKS_STR_ARG(said->windows)));
        if (said != NULL && is_reserved(w, said))
            add_row_of_time(
                w, name,
                lks_document_text(w->p,
                                  "%" LKS_STR_FMT " reserves nodes from the start of the window "
                                  "to its end, as many as change at once, and starts no job on "
                                  "them that would run into it",
                                  LKS_STR_ARG(lks_drain_sched_first(
                                      lks_procedure_text(w, pool->sched), LKS_DRAIN_RESERVES))));
        if (pool->frozen || w->s->frozen)
            add_row_of_time(w, name,
                            LKS_STR("frozen: no further node is changed before the freeze ends"));
        for (size_t k = 0; fleet != NULL && k < fleet->quiet_count; k++)
            add_quiet(w, &fleet->quiets[k], name);
    }
}

/* Steps ------------------------------------------------------------------------------------- */

static const char *const does[LKS_DO_COUNT] = {
    [LKS_DO_STAGE] = "its image is staged on the device; nothing runs it yet, and the node stays "
                     "in service",
    [LKS_DO_LEAVE] = "it drains as the posture of its pool states, and is read to have no job "
                     "and nothing on its GPUs",
    [LKS_DO_APPLY] = "its agent installs what the order says, from bits that were checked",
    [LKS_DO_FLASH] = "its management endpoint writes the image, and what runs is read again",
    [LKS_DO_ACTIVATE] = "what was staged is made to run, and that is read again",
    [LKS_DO_REBOOT] = "it boots again",
    [LKS_DO_CHECK] = "it is read again and held against what it should have by now",
    [LKS_DO_ACCEPT] = "the site's acceptance checks run on it",
    [LKS_DO_RETURN] = "it returns to service, if the last readings conform as a whole",
};

/* What the step does; where jobs are not only waited for, what is done to them. */
static struct lks_str does_text(struct lks_procedure_work *w, const struct lks_step *step)
{
    char grace[LKS_SPAN_TEXT_SIZE];
    if (step->kind != LKS_DO_LEAVE || step->jobs != LKS_DRAIN_JOBS_REQUEUE)
        return lks_str_from(does[step->kind]);
    if (step->signal == 0)
        return lks_document_text(w->p, "%s; " LKS_DRAIN_EVICTIONS, does[step->kind]);
    return lks_document_text(w->p,
                             "%s; its jobs are sent %" LKS_STR_FMT
                             ", given %s, then requeued, each once by this "
                             "change, and jobs that their scheduler may not requeue are waited for",
                             does[step->kind], LKS_STR_ARG(lks_procedure_text(w, step->signal)),
                             lks_time_span_text(step->grace, grace));
}

static void add_step(struct lks_procedure_work *w, uint32_t recipe, uint32_t index)
{
    const struct lks_step *step = &w->c->recipes[recipe].steps[index];
    const struct lks_cell row[] = {
        lks_cell_count(recipe),
        lks_cell_text(lks_procedure_text(w, w->kinds[recipe])),
        lks_cell_count(w->by_recipe[recipe]),
        lks_cell_count(index),
        lks_cell_text(lks_procedure_step_text(w, step)),
        lks_cell_text(lks_procedure_text(w, step->version)),
        lks_cell_text(lks_procedure_text(w, step->before)),
        lks_cell_text(lks_procedure_text(w, step->executor)),
        lks_cell_text(does_text(w, step)),
        lks_cell_span(lks_plan_usual(step)),
        lks_cell_span(step->kind == LKS_DO_LEAVE ? lks_drain_longest(step->limit, step->retries)
                                                 : step->limit),
        lks_cell_truth(step->one_way),
    };
    lks_document_row(w->p, row);
}

static void add_steps(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"recipe", "recipe"},
        {"hardware", "of hardware"},
        {"members", "nodes and assets"},
        {"index", "step"},
        {"step", "what"},
        {"version", "to"},
        {"before", "was"},
        {"executor", "by"},
        {"does", "what it does"},
        {"usual_ms", "usually"},
        {"limit_ms", "at most"},
        {"one_way", "no rollback"},
    };
    uint32_t told = 0;
    lks_document_table(w->p, "steps", "Steps, for each kind of hardware", "There are none.",
                       columns, LKS_COUNT(columns));
    for (uint32_t r = 0; r < w->c->recipe_count; r++) {
        bool used = w->by_recipe[r] > 0;
        for (uint32_t i = 0; used && i < w->c->recipes[r].count && told < LKS_PROCEDURE_ROWS; i++) {
            add_step(w, r, i);
            told++;
        }
    }
}

void lks_procedure_happens(struct lks_procedure_work *w)
{
    lks_document_section(
        w->p, "happens", "Procedure",
        "Waves come one after the other, each with its limit of units at a time. A unit is a "
        "single node, or a domain with all its nodes and assets. Each unit runs its steps, is "
        "read again, has to pass the acceptance checks, and only then returns to service; after "
        "the last unit of a wave its gates evaluate it before the next starts. The first unit of "
        "each kind of hardware is changed, rolled back, and changed again before others of its "
        "kind follow.");
    lks_document_fact(w->p, "failures_max", "Nodes that may fail",
                      lks_cell_count(w->c->failures_max));
    lks_document_fact(w->p, "rolls_back", "A halt for a failure takes all of it back by itself",
                      lks_cell_truth(w->c->rolls_back));
    add_times(w);
    add_waves(w);
    add_gates(w);
    add_metrics(w);
    add_asks(w);
    add_power(w);
    add_steps(w);
}
