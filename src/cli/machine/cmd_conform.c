/* conform, stack init: a machine against a stack, and a stack from a machine. */
#include "cli/machine/machine.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/conform/conform.h"
#include "core/conform/draft.h"

/* conform ----------------------------------------------------------------------------------- */

static enum lks_colour verdict_colour(enum lks_verdict verdict)
{
    static const enum lks_colour colours[] = {
        [LKS_CONFORMS] = LKS_GREEN,
        [LKS_WITH_IMAGE] = LKS_DIM,
        [LKS_DRIFT] = LKS_RED,
        [LKS_NOT_MEASURED] = LKS_YELLOW,
    };
    return colours[verdict];
}

static enum lks_code print_rows(struct lks_cli *cli, const struct lks_conformance *c, bool all,
                                struct lks_err *err)
{
    static const struct lks_output_column columns[] = {
        {"component", LKS_COLUMN_WRAP}, {"pinned", LKS_COLUMN_WRAP},
        {"actual", LKS_COLUMN_WRAP},    {"verdict", 0},
        {"cause", LKS_COLUMN_WRAP},     {"evidence", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_judgement *j = &c->rows[i];
        if (!all && (j->verdict == LKS_CONFORMS || j->verdict == LKS_WITH_IMAGE))
            continue;
        lks_output_cell(&t, LKS_BOLD, j->subject);
        lks_output_cell(&t, LKS_PLAIN, j->pinned);
        lks_output_cell(&t, LKS_PLAIN, j->actual);
        lks_table_cell(&t, verdict_colour(j->verdict),
                       lks_str_from(lks_conform_verdict_name(j->verdict)));
        lks_output_cell(&t, LKS_PLAIN, lks_str_from(lks_conform_cause_name(j->cause)));
        bool said = j->of.len == 0 || lks_str_find(j->evidence, j->of) >= 0;
        lks_table_cellf(&t, LKS_DIM, "%.*s%s%.*s", LKS_STR_ARG(j->evidence), said ? "" : " of ",
                        said ? 0 : (int)j->of.len, j->of.ptr);
    }
    return lks_output_table(cli, &t, err);
}

static void row_json(struct lks_json_writer *w, const struct lks_judgement *j)
{
    lks_json_write(w,
                   "{'component'?: '%.*s', 'pinned'?: '%.*s', 'actual'?: '%.*s', 'of'?: '%.*s', "
                   "'verdict'?: '%s', 'cause'?: '%s', 'evidence'?: '%.*s'}",
                   LKS_STR_ARG(j->subject), LKS_STR_ARG(j->pinned), LKS_STR_ARG(j->actual),
                   LKS_STR_ARG(j->of), lks_conform_verdict_name(j->verdict),
                   lks_conform_cause_name(j->cause), LKS_STR_ARG(j->evidence));
}

static enum lks_code conform_json(struct lks_cli *cli, const struct lks_stack *stack,
                                  const struct lks_tuple *tuple, const struct lks_conformance *c,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    struct lks_str class = c->class != NULL ? c->class->name : LKS_STR("");
    lks_json_write(w,
                   "'stack': '%s', 'tuple': '%s', 'class'?: '%.*s', 'conforms': %s, "
                   "'drifted': %zu, 'unmeasured': %zu, 'judgements': [",
                   stack->digest, tuple->digest, LKS_STR_ARG(class),
                   LKS_JSON_TRUTH(lks_conformance_yes(c)), c->drifted, c->unmeasured);
    for (size_t i = 0; i < c->count; i++)
        row_json(w, &c->rows[i]);
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

static enum lks_code print_conform(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_stack *stack, const struct lks_tuple *tuple,
                                   const struct lks_conformance *c, struct lks_err *err)
{
    cli->no = !lks_conformance_yes(c);
    if (lks_args_has(args, "--json"))
        return conform_json(cli, stack, tuple, c, err);
    bool all = lks_args_has(args, "--all");
    if (print_rows(cli, c, all, err) != LKS_OK)
        return err->code;
    fprintf(cli->out, "%s%.*s %.*s: %s: %zu evaluated, %zu drifted, %zu unmeasured\n",
            cli->no || all ? "\n" : "", LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version),
            cli->no ? "no" : "yes", c->count, c->drifted, c->unmeasured);
    return LKS_OK;
}

enum lks_code lks_cmd_conform(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    const char *file = lks_args_get(args, "--stack");
    if (file == NULL)
        return lks_fail(err, LKS_E_USAGE, "conform: which stack? --stack FILE");
    if (lks_args_has(args, "--fleet"))
        return lks_survey_fleet(cli, args, err);
    if (lks_args_has(args, "--pool"))
        return lks_fail(err, LKS_E_USAGE, "conform: --pool goes with --fleet");
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    const struct lks_stack *stack = NULL;
    if (lks_input_load(cli, args, file, &input, err) != LKS_OK ||
        lks_input_stack(&input.manifest, lks_args_str(args, "--name"), &stack, err) != LKS_OK ||
        lks_machine_tuple(cli, args, &input.facts, stack, &tuple, NULL, err) != LKS_OK ||
        lks_conform(&input.facts, stack, &tuple, &c, err) != LKS_OK)
        return err->code;
    return print_conform(cli, args, stack, &tuple, &c, err);
}

/* stack init -------------------------------------------------------------------------------- */

/* What was drafted must be what it claims to be: a stack that this very machine conforms to. */
static enum lks_code prove_draft(const struct lks_facts *facts, const struct lks_tuple *tuple,
                                 struct lks_str yaml, char digest[LKS_DIGEST_SIZE],
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    const struct lks_stack *stack = NULL;
    if (lks_manifest_parse("the drafted stack", yaml, facts, NULL, &manifest, err) != LKS_OK ||
        lks_input_stack(&manifest, LKS_STR(""), &stack, err) != LKS_OK ||
        lks_conform(facts, stack, tuple, &c, err) != LKS_OK)
        return err->code;
    memcpy(digest, stack->digest, LKS_DIGEST_SIZE);
    for (size_t i = 0; i < c.count; i++) {
        if (c.rows[i].verdict == LKS_DRIFT || c.rows[i].verdict == LKS_NOT_MEASURED)
            return lks_fail(err, LKS_E_REFUSED,
                            "the drafted stack pins %.*s at '%.*s' and the machine has '%.*s'",
                            LKS_STR_ARG(c.rows[i].subject), LKS_STR_ARG(c.rows[i].pinned),
                            LKS_STR_ARG(c.rows[i].actual));
    }
    return LKS_OK;
}

static enum lks_code init_json(struct lks_cli *cli, struct lks_str yaml, const char *digest,
                               const struct lks_report *report, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_bool(w, "consistent", !cli->no);
    lks_json_some(w, "digest", lks_str_from(digest));
    lks_json_some(w, "manifest", yaml);
    lks_output_findings(w, "findings", report);
    return lks_output_end(cli, &o, err);
}

/* Why there is no stack, and what to do about it. */
static void print_refusal(struct lks_cli *cli, const struct lks_report *report)
{
    bool gpus = true;
    for (size_t i = 0; i < report->count; i++)
        gpus = gpus && strcmp(report->findings[i].rule, "no-gpu") != 0;
    fprintf(cli->err, "lockstep: no stack was written: %s\n",
            gpus ? "repair the errors above, or draft it on a node that is set up as the fleet "
                   "is to be"
                 : "run 'lockstep stack init' on a GPU node, or name a captured one with --root "
                   "DIR ('lockstep inventory --capture DIR' makes one)");
}

/* The manifest goes to a file, so what is to be said beside it goes to the other stream. */
static enum lks_code print_draft(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_str yaml, const char *digest,
                                 const struct lks_report *report, struct lks_err *err)
{
    cli->no = report->errors > 0;
    if (lks_args_has(args, "--json"))
        return init_json(cli, yaml, digest, report, err);
    if (!cli->no)
        fwrite(yaml.ptr, 1, yaml.len, cli->out);
    lks_output_findings_aside(cli, NULL, report);
    if (cli->no)
        print_refusal(cli, report);
    return LKS_OK;
}

enum lks_code lks_cmd_stack_init(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_machine_fini) struct lks_machine_look m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    struct lks_str name = lks_args_str(args, "--name"), version = lks_args_str(args, "--version");
    char today[LKS_DAY_TEXT_SIZE], digest[LKS_DIGEST_SIZE] = "";
    (void)lks_time_day_text(cli->today, today);
    if (lks_machine_read(cli, args, &m, NULL, err) != LKS_OK ||
        lks_draft_stack(&m.facts, &m.tuple, name.len > 0 ? name : LKS_STR("golden"),
                        version.len > 0 ? version : lks_str_from(today), cli->today, &yaml,
                        &m.report, err) != LKS_OK)
        return err->code;
    if (m.report.errors == 0 &&
        prove_draft(&m.facts, &m.tuple, lks_buf_view(&yaml), digest, err) != LKS_OK)
        return err->code;
    return print_draft(cli, args, lks_buf_view(&yaml), digest, &m.report, err);
}
