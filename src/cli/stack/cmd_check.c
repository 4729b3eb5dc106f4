/* stack check, advisories, lifecycle: what becomes of a stack. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/check/check.h"
#include "core/compat/advisory.h"
#include "core/compat/compat.h"
#include "core/compat/lifecycle.h"

static enum lks_code read_day(struct lks_cli *cli, const struct lks_args *args, lks_day *out,
                              struct lks_err *err)
{
    *out = cli->today;
    const char *text = lks_args_get(args, "--date");
    if (text != NULL && !lks_time_day_parse(lks_str_from(text), out))
        return lks_fail(err, LKS_E_USAGE, "--date: '%s' is not a day such as 2026-11-15", text);
    return LKS_OK;
}

/* check ------------------------------------------------------------------------------------- */

static enum lks_code print_check(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_stack *stack, const struct lks_report *report,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    cli->no = report->errors > 0;
    if (!lks_args_has(args, "--json")) {
        if (lks_output_findings_table(cli, report, lks_args_has(args, "--sources"), err) != LKS_OK)
            return err->code;
        fprintf(cli->out, "%s%.*s %.*s: %s: %zu error%s, %zu warning%s\n",
                report->count > 0 ? "\n" : "", LKS_STR_ARG(stack->name),
                LKS_STR_ARG(stack->version), cli->no ? "no" : "yes", report->errors,
                report->errors == 1 ? "" : "s", report->warnings, report->warnings == 1 ? "" : "s");
        return LKS_OK;
    }
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_some(w, "name", stack->name);
    lks_json_some(w, "version", stack->version);
    lks_json_cstr(w, "digest", stack->digest);
    lks_json_cstr(w, "verdict", cli->no ? "no" : "yes");
    lks_json_int(w, "errors", (int64_t)report->errors);
    lks_json_int(w, "warnings", (int64_t)report->warnings);
    lks_output_findings(w, "findings", report);
    return lks_output_end(cli, &o, err);
}

/* The fleets of --fleet, or those written in the same file. */
static enum lks_code find_fleets(const struct lks_args *args, const struct lks_input *input,
                                 struct lks_manifest *other, struct lks_check *check,
                                 struct lks_err *err)
{
    const struct lks_manifest *from = &input->manifest;
    const char *path = lks_args_get(args, "--fleet");
    if (path != NULL) {
        if (lks_input_manifest(input, path, other, err) != LKS_OK)
            return err->code;
        if (other->fleet_count == 0)
            return lks_fail(err, LKS_E_INVALID, "%s: holds no fleet", path);
        from = other;
    }
    check->fleets = from->fleets;
    check->fleet_count = from->fleet_count;
    return LKS_OK;
}

/* A GPU given by hand must be one we know, of the stack's vendor: "unknown" would read as a yes. */
static enum lks_code check_gpu(const struct lks_check *check, struct lks_err *err)
{
    const struct lks_gpu *board;
    if (check->gpu.len == 0)
        return LKS_OK;
    if (lks_compat_boards(check->facts, check->gpu, &board, 1) == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "--gpu: no row for '%.*s'; write a family such as H100, a "
                        "board or a PCI id",
                        LKS_STR_ARG(check->gpu));
    board = lks_compat_foreign(check->facts, check->gpu, check->stack->vendor);
    if (board != NULL)
        return lks_fail(err, LKS_E_INVALID, "--gpu: %.*s is of %s and the stack of %s",
                        LKS_STR_ARG(board->product), lks_facts_vendor_name(board->vendor),
                        lks_facts_vendor_name(check->stack->vendor));
    return LKS_OK;
}

enum lks_code lks_cmd_stack_check(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest fleets = {0};
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    lks_report_init(&report);
    struct lks_check check = {.facts = &input.facts, .gpu = lks_args_str(args, "--gpu")};
    if (read_day(cli, args, &check.today, err) != LKS_OK ||
        lks_input_load_stack(cli, args, &input, &check.stack, err) != LKS_OK ||
        check_gpu(&check, err) != LKS_OK ||
        find_fleets(args, &input, &fleets, &check, err) != LKS_OK ||
        lks_check_run(&check, &report, err) != LKS_OK)
        return err->code;
    return print_check(cli, args, check.stack, &report, err);
}

/* advisories -------------------------------------------------------------------------------- */

static const char *fixed_text(const struct lks_open_advisory *open)
{
    return open->affected != NULL && open->affected->fixed.len > 0 ? open->affected->fixed.ptr
                                                                   : "another branch";
}

static enum lks_code advisories_json(struct lks_cli *cli, const struct lks_advisory_list *list,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "advisories", '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_open_advisory *open = &list->open[i];
        const struct lks_advisory *a = open->advisory;
        char day[LKS_DAY_TEXT_SIZE];
        lks_json_write(w,
                       "{'id'?: '%.*s', 'exposure': '%s', 'component'?: '%.*s', "
                       "'version'?: '%.*s'",
                       LKS_STR_ARG(a->id), lks_advisory_exposure_code(open->exposure),
                       LKS_STR_ARG(open->component->name), LKS_STR_ARG(open->component->version));
        if (open->affected != NULL)
            lks_json_write(w, "'fixed'?: '%.*s', 'condition'?: '%.*s'",
                           LKS_STR_ARG(open->affected->fixed),
                           LKS_STR_ARG(open->affected->condition));
        lks_json_write(w,
                       "'cvss'?: '%.*s', 'severity'?: '%.*s', 'published'?: '%s', "
                       "'summary'?: '%.*s', 'source'?: '%.*s'}",
                       LKS_STR_ARG(a->cvss), LKS_STR_ARG(a->severity),
                       a->published != LKS_DAY_NONE ? lks_time_day_text(a->published, day) : "",
                       LKS_STR_ARG(a->summary), LKS_STR_ARG(a->fact.source));
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

static enum lks_code advisories_text(struct lks_cli *cli, const struct lks_advisory_list *list,
                                     struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"id", 0},
                                                       {"CVSS", LKS_COLUMN_RIGHT},
                                                       {"component", LKS_COLUMN_WRAP},
                                                       {"version", LKS_COLUMN_WRAP},
                                                       {"closed by", LKS_COLUMN_WRAP},
                                                       {"state", LKS_COLUMN_WRAP},
                                                       {"summary", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_open_advisory *open = &list->open[i];
        int score = lks_advisory_score(open->advisory);
        struct lks_str condition =
            open->affected != NULL ? open->affected->condition : (struct lks_str){"", 0};
        lks_table_cell(&t, LKS_BOLD, open->advisory->id);
        lks_table_cell(&t,
                       score >= 70   ? LKS_RED
                       : score >= 40 ? LKS_YELLOW
                                     : LKS_PLAIN,
                       lks_output_or_dash(open->advisory->cvss));
        lks_table_cell(&t, LKS_PLAIN, open->component->name);
        lks_table_cell(&t, LKS_PLAIN, open->component->version);
        lks_table_cellf(&t, LKS_GREEN, "%s", fixed_text(open));
        lks_table_cell(&t, LKS_PLAIN, lks_str_from(lks_advisory_exposure_about(open->exposure)));
        lks_table_cellf(&t, LKS_PLAIN, "%.*s%s%.*s%s", LKS_STR_ARG(open->advisory->summary),
                        condition.len > 0 ? " (" : "", LKS_STR_ARG(condition),
                        condition.len > 0 ? ")" : "");
    }
    return lks_output_table(cli, &t, err);
}

enum lks_code lks_cmd_advisories(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list list = {0};
    const struct lks_stack *stack;
    bool fleet = lks_args_has(args, "--fleet");
    if (fleet == (args->positional_count == 1))
        return lks_fail(err, LKS_E_USAGE, "advisories: the file of a stack, or --fleet");
    if (!fleet && (lks_args_has(args, "--cve") || lks_args_has(args, "--propose")))
        return lks_fail(err, LKS_E_USAGE, "advisories: --cve and --propose go with --fleet");
    if (fleet)
        return lks_advisories_list(cli, args, err);
    if (lks_input_load_stack(cli, args, &input, &stack, err) != LKS_OK ||
        lks_advisory_list_of(&input.facts, stack, &list, err) != LKS_OK)
        return err->code;
    cli->no = list.exposed > 0;
    if (lks_args_has(args, "--json"))
        return advisories_json(cli, &list, err);
    if (advisories_text(cli, &list, err) != LKS_OK)
        return err->code;
    fprintf(cli->out, "%s%.*s %.*s: %zu advisories open, %zu to check by hand\n",
            list.count > 0 ? "\n" : "", LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version),
            list.exposed, list.count - list.exposed);
    return LKS_OK;
}

/* lifecycle --------------------------------------------------------------------------------- */

static const char *day_or_dash(lks_day day, char out[LKS_DAY_TEXT_SIZE])
{
    return day != LKS_DAY_NONE ? lks_time_day_text(day, out) : "-";
}

static void add_branch(struct lks_table *t, const struct lks_branch *b, lks_day today)
{
    char first[LKS_DAY_TEXT_SIZE], end[LKS_DAY_TEXT_SIZE], other[LKS_DAY_TEXT_SIZE];
    char days[24] = "-";
    bool known = lks_lifecycle_end(b) != LKS_DAY_NONE;
    int left = known ? lks_lifecycle_end(b) - today : 0;
    if (known)
        snprintf(days, sizeof(days), "%d", left);
    enum lks_colour colour = !known || left > LKS_CHECK_EOL_DAYS ? LKS_PLAIN
                             : left < 0                          ? LKS_DIM
                                                                 : LKS_YELLOW;
    lks_table_cellf(t, LKS_BOLD, "R%d", b->number);
    lks_table_cell(t, colour, lks_output_or_dash(b->type));
    lks_table_cellf(t, colour, "%s", day_or_dash(b->first_release, first));
    lks_table_cellf(t, colour, "%s%s", day_or_dash(b->eol, end),
                    known && b->fact.status == LKS_UNCONFIRMED ? "?" : "");
    lks_table_cellf(t, colour, "%s", day_or_dash(b->eol_other, other));
    lks_table_cellf(t, colour, "%s", days);
    lks_table_cell(t, colour, lks_output_or_dash(b->latest));
}

/* Of all branches, or of those that matter to `stack` if there is one. */
static bool is_wanted(const struct lks_facts *facts, const struct lks_stack *stack, int number)
{
    return stack == NULL || lks_lifecycle_matters(facts, stack, number);
}

static enum lks_code lifecycle_text(struct lks_cli *cli, const struct lks_facts *facts,
                                    const struct lks_stack *stack, lks_day today,
                                    struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"branch", 0}, {"type", 0},         {"first", 0},
        {"ends", 0},   {"another says", 0}, {"days left", LKS_COLUMN_RIGHT},
        {"latest", 0}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < facts->branches.count; i++) {
        if (is_wanted(facts, stack, facts->branches.rows[i].number))
            add_branch(&t, &facts->branches.rows[i], today);
    }
    return lks_output_table(cli, &t, err);
}

static enum lks_code lifecycle_json(struct lks_cli *cli, const struct lks_facts *facts,
                                    const struct lks_stack *stack, lks_day today,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "branches", '[');
    for (size_t i = 0; i < facts->branches.count; i++) {
        const struct lks_branch *b = &facts->branches.rows[i];
        char day[LKS_DAY_TEXT_SIZE];
        if (!is_wanted(facts, stack, b->number))
            continue;
        lks_json_begin(w, NULL, '{');
        lks_json_int(w, "branch", b->number);
        lks_json_some(w, "type", b->type);
        if (b->eol != LKS_DAY_NONE)
            lks_json_cstr(w, "ends", lks_time_day_text(b->eol, day));
        if (b->eol_other != LKS_DAY_NONE)
            lks_json_cstr(w, "ends_elsewhere", lks_time_day_text(b->eol_other, day));
        if (lks_lifecycle_end(b) != LKS_DAY_NONE)
            lks_json_int(w, "days_left", lks_lifecycle_end(b) - today);
        lks_json_some(w, "latest", b->latest);
        lks_json_some(w, "source", b->fact.source);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

enum lks_code lks_cmd_lifecycle(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    const struct lks_stack *stack = NULL;
    lks_day today;
    if (lks_args_has(args, "--fleet") && args->positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "lifecycle: the file of a stack, or --fleet");
    if (lks_args_has(args, "--fleet") && lks_args_has(args, "--date"))
        return lks_fail(err, LKS_E_USAGE, "lifecycle: --date does not go with --fleet");
    if (lks_args_has(args, "--fleet"))
        return lks_registry_lifecycle(cli, args, err);
    if (read_day(cli, args, &today, err) != LKS_OK)
        return err->code;
    if ((args->positional_count == 0
             ? lks_input_facts(cli->data_dir, &input.facts, err)
             : lks_input_load_stack(cli, args, &input, &stack, err)) != LKS_OK)
        return err->code;
    return lks_args_has(args, "--json") ? lifecycle_json(cli, &input.facts, stack, today, err)
                                        : lifecycle_text(cli, &input.facts, stack, today, err);
}
