/* Jobs on the nodes of a change now: a section of what schedulers listed, which is no record. */
#include "core/procedure/procedure.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

static void add_row(struct lks_document *p, const struct lks_state *s,
                    const struct lks_job_cost_row *row)
{
    const struct lks_cell cells[] = {
        lks_cell_count(row->wave),
        lks_cell_text(lks_state_text(s, s->pools[row->pool].name)),
        lks_cell_count(row->nodes),
        lks_cell_count(row->busy),
        lks_cell_count(row->jobs),
        lks_cell_count(row->requeue),
        lks_cell_time(row->ends),
        lks_cell_count(row->unknown_ends),
        lks_cell_count(lks_job_cost_hours(row->lost)),
        lks_cell_count(lks_job_cost_hours(row->idle)),
        lks_cell_count(row->unknown_idle),
        lks_cell_count(row->unlisted),
    };
    lks_document_row(p, cells);
}

static void add_rows(struct lks_document *p, const struct lks_state *s,
                     const struct lks_job_cost *cost)
{
    static const struct lks_document_column columns[] = {
        {"wave", "wave"},
        {"pool", "pool"},
        {"nodes", "nodes"},
        {"busy", "with jobs"},
        {"jobs", "jobs"},
        {"requeue", "may be requeued"},
        {"ends", "last end"},
        {"unknown_ends", "jobs with unknown end"},
        {"lost_gpu_hours", "GPU-hours lost by a requeue now"},
        {"idle_gpu_hours", "GPU-hours idle by waiting"},
        {"unknown_idle", "nodes without that number"},
        {"unlisted", "nodes without a list"},
    };
    lks_document_table(p, "rows", "By wave and pool", NULL, columns, LKS_COUNT(columns));
    for (uint32_t i = 0; i < cost->row_count; i++)
        add_row(p, s, &cost->rows[i]);
}

static void add_top(struct lks_document *p, const struct lks_job_cost *cost)
{
    static const struct lks_document_column columns[] = {
        {"job", "job"},
        {"user", "user"},
        {"account", "account"},
        {"nodes", "nodes of the change"},
        {"of", "of"},
        {"ends", "ends"},
        {"requeue", "may be requeued"},
    };
    lks_document_table(p, "top", "Jobs with the most of these nodes", "There are none.", columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < cost->top_count; i++) {
        const struct lks_sched_job *job = cost->top[i].job;
        const struct lks_cell cells[] = {
            lks_cell_text(job->id),          lks_cell_text(job->user),
            lks_cell_text(job->account),     lks_cell_count(cost->top[i].nodes),
            lks_cell_count(job->node_count), lks_cell_time(job->ends),
            lks_cell_truth(job->requeue),
        };
        lks_document_row(p, cells);
    }
}

void lks_procedure_jobs(struct lks_document *p, const struct lks_state *s,
                        const struct lks_job_cost *cost)
{
    if (cost->row_count == 0)
        return;
    lks_document_section(
        p, "jobs", "Jobs now",
        "Jobs on nodes that did not start, as schedulers listed them. A requeue now loses at most "
        "the GPU-hours since each job that may be requeued started. Waiting leaves the GPUs of a "
        "unit idle from the end of their own job until the last job of the unit ends. Unlike the "
        "rest of this document, this section changes with time.");
    lks_document_fact(p, "listed", "Listed", lks_cell_time(cost->listed));
    if (cost->listed == 0)
        lks_document_fact(p, "missing", "Without a list",
                          lks_cell_text(lks_document_text(
                              p, "the jobs of %" LKS_STR_FMT " at site '%" LKS_STR_FMT "'",
                              LKS_STR_ARG(cost->sched), LKS_STR_ARG(cost->site))));
    add_rows(p, s, cost);
    add_top(p, cost);
}
