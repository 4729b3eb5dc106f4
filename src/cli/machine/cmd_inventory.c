/* inventory: what this machine really runs. */
#include "base/time.h"
#include "cli/machine/machine.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/conform/consistency.h"

#define VALUE_SHOWN 160 /* bytes of a value the table shows; JSON has all */

/* Readings that say the same of several devices are one row. */
static bool same_row(const struct lks_reading *a, const struct lks_reading *b)
{
    return lks_str_eq(a->name, b->name) && lks_str_eq(a->part, b->part) && a->state == b->state &&
           lks_str_eq(a->value, b->value) && a->kind->class != LKS_READING_COPY;
}

/* The shorter table leaves out what is not there and what does not tell builds apart. */
static bool is_shown(const struct lks_reading *r, bool all)
{
    enum lks_reading_class class = r->kind->class;
    if (all)
        return true;
    if (r->state == LKS_UNMEASURED)
        return class != LKS_READING_DEVICE;
    return r->state == LKS_MEASURED && (class == LKS_READING_IDENTITY || class == LKS_READING_COPY);
}

static void value_cell(struct lks_table *t, const struct lks_reading *r)
{
    static const enum lks_colour colours[] = {
        [LKS_MEASURED] = LKS_BOLD, [LKS_ABSENT] = LKS_DIM, [LKS_UNMEASURED] = LKS_YELLOW};
    size_t len = r->value.len < VALUE_SHOWN ? r->value.len : VALUE_SHOWN;
    const char *more = r->value.len > VALUE_SHOWN ? "..." : "";
    if (r->state == LKS_ABSENT)
        lks_table_cell(t, colours[r->state], LKS_STR("absent"));
    else if (r->state == LKS_UNMEASURED)
        lks_table_cellf(t, colours[r->state], "unmeasured: %.*s%s", (int)len, r->value.ptr, more);
    else
        lks_table_cellf(t, colours[r->state], "%.*s%s", (int)len, r->value.ptr,
                        r->value.len > 0 ? more : "(none)");
}

static void reading_row(struct lks_table *t, const struct lks_reading *r, size_t devices)
{
    lks_output_cell(t, LKS_PLAIN, r->name);
    if (devices > 1)
        lks_table_cellf(t, LKS_PLAIN, "%zu devices", devices);
    else
        lks_output_cell(t, LKS_PLAIN, r->of);
    value_cell(t, r);
    lks_output_cell(t, LKS_DIM, r->evidence);
}

static enum lks_code print_readings(struct lks_cli *cli, const struct lks_tuple *tuple, bool all,
                                    struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"what", 0},
                                                       {"of", LKS_COLUMN_WRAP},
                                                       {"value", LKS_COLUMN_WRAP},
                                                       {"evidence", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < tuple->count;) {
        const struct lks_reading *r = &tuple->readings[i];
        size_t devices = 1;
        while (!all && i + devices < tuple->count && same_row(r, &tuple->readings[i + devices]))
            devices++;
        if (is_shown(r, all))
            reading_row(&t, r, devices);
        i += devices;
    }
    return lks_output_table(cli, &t, err);
}

static void print_summary(struct lks_cli *cli, const struct lks_tuple *tuple,
                          const struct lks_report *report, const struct lks_probe_cost *cost)
{
    size_t measured = 0, unmeasured = 0;
    for (size_t i = 0; i < tuple->count; i++) {
        measured += tuple->readings[i].state == LKS_MEASURED;
        unmeasured += tuple->readings[i].state == LKS_UNMEASURED;
    }
    fprintf(cli->out, "\n%.*s%s%zu values, %zu unmeasured, read in %d ms; ",
            LKS_STR_ARG(tuple->node), tuple->node.len > 0 ? ": " : "", measured, unmeasured,
            cost->ms);
    if (report->count == 0)
        fprintf(cli->out, "it agrees with itself\n");
    else
        fprintf(cli->out, "%zu error%s, %zu warning%s\n", report->errors,
                report->errors == 1 ? "" : "s", report->warnings, report->warnings == 1 ? "" : "s");
    fprintf(cli->out, "%s\n", tuple->digest);
}

static enum lks_code print_inventory(struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_tuple *tuple, const struct lks_report *report,
                                     const struct lks_probe_cost *cost, struct lks_err *err)
{
    if (print_readings(cli, tuple, lks_args_has(args, "--all"), err) != LKS_OK)
        return err->code;
    if (report->count > 0)
        fprintf(cli->out, "\n");
    if (lks_output_findings_table(cli, report, false, err) != LKS_OK)
        return err->code;
    print_summary(cli, tuple, report, cost);
    return LKS_OK;
}

static enum lks_code inventory_json(struct lks_cli *cli, const struct lks_tuple *tuple,
                                    const struct lks_report *report, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0}, findings = {0};
    lks_buf_init(&json, LKS_OUTPUT_BYTES_MAX);
    lks_buf_init(&findings, LKS_OUTPUT_BYTES_MAX);
    struct lks_json_writer w = {.out = &findings};
    lks_output_findings(&w, NULL, report);
    if (lks_buf_check(&findings, err) != LKS_OK ||
        lks_tuple_json(tuple, lks_buf_view(&findings), &json, err) != LKS_OK)
        return err->code;
    return lks_output_json(cli, &json, err);
}

static enum lks_code print_cost(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_probe_cost *cost, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_write(w,
                   "'ms': %d, 'parent_private_kib': %ld, 'child_private_kib': %ld, 'child'?: '%s'",
                   cost->ms, cost->parent_kib, cost->child_kib, cost->child);
    return lks_output_form(cli, args, &o,
                           "time     {ms} ms\nparent   {parent_private_kib} KiB of its own\n"
                           "children {child_private_kib} KiB in the largest, [{child}|-]\n",
                           err);
}

enum lks_code lks_cmd_inventory(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_machine_fini) struct lks_machine_look m = {0};
    struct lks_probe_cost cost = {0};
    if (lks_machine_read(cli, args, &m, &cost, err) != LKS_OK ||
        lks_consistency(&m.facts, &m.tuple, &m.report, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--cost"))
        return print_cost(cli, args, &cost, err);
    if (lks_args_has(args, "--json"))
        return inventory_json(cli, &m.tuple, &m.report, err);
    return print_inventory(cli, args, &m.tuple, &m.report, &cost, err);
}
