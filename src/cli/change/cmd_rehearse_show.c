/* A forecast for people. */
#include "cli/change/cmd_rehearse.h"

#include "cli/shared/output.h"

#include <inttypes.h>

static void add_row(struct lks_table *t, const char *what, const struct lks_spread_of_runs *s,
                    const char *fmt)
{
    const double values[] = {s->low, s->middle, s->high, s->most};
    char text[64];
    lks_table_cell(t, LKS_PLAIN, lks_str_from(what));
    for (size_t i = 0; i < LKS_COUNT(values); i++) {
        (void)snprintf(text, sizeof(text), fmt[0] == '0' ? "%.0f" : "%.1f", values[i]);
        lks_table_cell(t, LKS_PLAIN, lks_str_from(text));
    }
}

static void begin_table(struct lks_table *t, const char *first)
{
    static const char *const headers[] = {"1 in 20", "half", "19 in 20", "most"};
    lks_table_init(t, LKS_OUTPUT_BYTES_MAX);
    lks_table_column(t, first, LKS_COLUMN_WRAP);
    for (size_t i = 0; i < LKS_COUNT(headers); i++)
        lks_table_column(t, headers[i], LKS_COLUMN_RIGHT);
}

static enum lks_code print_plain(struct lks_cli *cli, const struct lks_forecast *f,
                                 const struct lks_forecast_about *about, struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    char money[64];
    begin_table(&t, f->bad > 0 ? "no bad image, at most" : "of all runs, at most");
    add_row(&t, "hours", &f->hours, "1");
    add_row(&t, "GPU-hours drained", &f->gpu_hours, "0");
    if (about->gpu_hour > 0) {
        struct lks_spread_of_runs s = f->gpu_hours;
        double price = about->gpu_hour;
        s = (struct lks_spread_of_runs){s.low * price, s.middle * price, s.high * price,
                                        s.most * price};
        (void)snprintf(money, sizeof(money), "%s", about->money);
        add_row(&t, money, &s, "0");
    }
    if (lks_forecast_listed(about)) {
        add_row(&t, "  of these until jobs left", &f->draining, "0");
        add_row(&t, "jobs requeued", &f->requeued, "0");
        add_row(&t, "GPU-hours lost by requeues", &f->requeue_hours, "0");
    }
    add_row(&t, "calls of a person", &f->calls, "0");
    add_row(&t, "nodes left to a person", &f->lost, "0");
    if (f->bad > 0)
        fprintf(cli->out, "%u runs without and %u with a bad image; without:", f->plain, f->bad);
    else
        fprintf(cli->out, "%u runs:", f->plain);
    for (unsigned i = 0; i < LKS_REHEARSED_COUNT; i++)
        if (f->ends[i] > 0)
            fprintf(cli->out, " %u %s", f->ends[i], lks_rehearse_end_words[i]);
    fprintf(cli->out, "\n\n");
    return lks_output_table(cli, &t, err);
}

static enum lks_code print_pools(struct lks_cli *cli, const struct lks_forecast *f,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    static const char *const headers[] = {"nodes",      "in service", "least in service",
                                          "least gang", "gang asked", "cannot start for"};
    lks_table_init(&t, LKS_OUTPUT_BYTES_MAX);
    lks_table_column(&t, "pool", LKS_COLUMN_WRAP);
    for (size_t i = 0; i < LKS_COUNT(headers); i++)
        lks_table_column(&t, headers[i], LKS_COLUMN_RIGHT);
    for (uint32_t i = 0; i < f->pool_count; i++) {
        const struct lks_forecast_pool *p = &f->pools[i];
        lks_output_cell(&t, LKS_PLAIN, lks_str_from(p->name));
        lks_table_cellf(&t, LKS_PLAIN, "%u", p->nodes);
        lks_table_cellf(&t, LKS_PLAIN, "%u", p->in_use);
        lks_table_cellf(&t, LKS_PLAIN, "%.0f", p->least.low);
        lks_table_cellf(&t, LKS_PLAIN, "%.0f", p->gang.low);
        lks_table_cellf(&t, LKS_PLAIN, "%u", p->wanted);
        if (p->starves == 0)
            lks_table_cell(&t, LKS_PLAIN, LKS_STR("-"));
        else
            lks_table_cellf(&t, LKS_YELLOW, "%.1f h", p->starved.high);
    }
    fputc('\n', cli->out);
    return lks_output_table(cli, &t, err);
}

static void print_starved(struct lks_cli *cli, const struct lks_forecast *f)
{
    for (uint32_t i = 0; i < f->pool_count; i++) {
        const struct lks_forecast_pool *p = &f->pools[i];
        if (p->starves > 0)
            fprintf(cli->out,
                    "a job of %u nodes in %s cannot start for up to %.1f h, in %u of %u runs\n",
                    p->wanted, p->name, p->starved.most, p->starves, f->plain);
    }
}

/* Jobs that made room, and wait for as many nodes as they had. */
static enum lks_code print_waiting(struct lks_cli *cli, const struct lks_forecast *f,
                                   struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"jobs that wait", LKS_COLUMN_WRAP}, {"nodes", LKS_COLUMN_RIGHT},
        {"half", LKS_COLUMN_RIGHT},          {"19 in 20", LKS_COLUMN_RIGHT},
        {"most", LKS_COLUMN_RIGHT},          {"in runs", LKS_COLUMN_RIGHT}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    bool any = false;
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (uint32_t p = 0; p < f->pool_count; p++) {
        for (uint32_t i = 0; i < f->pools[p].job_count; i++) {
            const struct lks_forecast_jobs *j = &f->pools[p].jobs[i];
            const double hours[] = {j->waited.middle, j->waited.high, j->waited.most};
            if (j->waits == 0)
                continue;
            any = true;
            lks_output_cell(&t, LKS_PLAIN, lks_str_from(f->pools[p].name));
            lks_table_cellf(&t, LKS_PLAIN, "%u", j->size);
            for (size_t k = 0; k < LKS_COUNT(hours); k++)
                lks_table_cellf(&t, LKS_PLAIN, "%.1f h", hours[k]);
            lks_table_cellf(&t, LKS_YELLOW, "%u", j->waits);
        }
    }
    if (!any)
        return LKS_OK;
    fputc('\n', cli->out);
    return lks_output_table(cli, &t, err);
}

static enum lks_code print_bad(struct lks_cli *cli, const struct lks_forecast *f,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    if (f->bad == 0)
        return LKS_OK;
    fprintf(cli->out, "\nwith a bad image, %u runs: stopped in %u\n\n", f->bad, f->stopped);
    begin_table(&t, "of these, at most");
    add_row(&t, "nodes reached before the stop", &f->reached, "0");
    add_row(&t, "nodes it hurt", &f->hurt, "0");
    add_row(&t, "hours until the stop", &f->stopped_hours, "1");
    if (lks_output_table(cli, &t, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < f->gate_count; i++)
        fprintf(cli->out, "%sstopped by gate '%s' of a %s wave in %u\n", i == 0 ? "\n" : "",
                f->gates[i].name, lks_wave_kind_words[f->gates[i].wave_kind], f->gates[i].count);
    return LKS_OK;
}

static const char *nodes_of(uint32_t count)
{
    return count == 1 ? "node" : "nodes";
}

static void print_site(struct lks_cli *cli, const struct lks_rehearse_site *s)
{
    char age[LKS_SPAN_TEXT_SIZE];
    if (s->missing.len > 0) {
        fprintf(cli->out, "jobs of %.*s at site '%.*s' are drawn on %" PRIu32 " %s: %.*s\n",
                LKS_STR_ARG(s->sched), LKS_STR_ARG(s->site), s->nodes, nodes_of(s->nodes),
                LKS_STR_ARG(s->missing));
        return;
    }
    (void)lks_time_span_text(s->age / LKS_SECOND * LKS_SECOND, age);
    fprintf(cli->out, "%" PRIu32 " %s of %.*s at site '%.*s', listed %s ago, on %" PRIu32 " %s",
            s->jobs, s->jobs == 1 ? "job" : "jobs", LKS_STR_ARG(s->sched), LKS_STR_ARG(s->site),
            age, s->nodes, nodes_of(s->nodes));
    if (s->endless > 0)
        fprintf(cli->out, " (%" PRIu32 " without a known end)", s->endless);
    fprintf(cli->out, "; jobs behind them are drawn\n");
}

/* Which jobs are those of schedulers, and which are drawn. */
static void print_jobs(struct lks_cli *cli, const struct lks_forecast_about *about)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < about->site_count; i++) {
        const struct lks_rehearse_site *s = &about->sites[i];
        if (s->nodes == 0)
            continue;
        print_site(cli, s);
        missing += s->missing.len > 0 ? s->nodes : 0;
    }
    if (about->drawn > missing)
        fprintf(cli->out, "jobs are drawn on %" PRIu32 " %s: no scheduler was asked for them\n",
                about->drawn - missing, nodes_of(about->drawn - missing));
}

enum lks_code lks_rehearse_print(struct lks_cli *cli, const struct lks_forecast *f,
                                 const struct lks_forecast_about *about, struct lks_err *err)
{
    fprintf(cli->out, "%s\n", about->title);
    print_jobs(cli, about);
    if (print_plain(cli, f, about, err) != LKS_OK || print_pools(cli, f, err) != LKS_OK)
        return err->code;
    print_starved(cli, f);
    if (print_waiting(cli, f, err) != LKS_OK)
        return err->code;
    return print_bad(cli, f, err);
}
