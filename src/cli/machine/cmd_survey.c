/* conform --fleet: what a whole fleet would say to a stack, from a controller's journal and without
 * its daemon. */
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "core/view/survey.h"
#include "engine/journal.h"

#include <inttypes.h>

/* What the journal in `dir` folds to. */
static enum lks_code fold(const char *dir, struct lks_state *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_store_tail tail;
    if (lks_controller_journal(dir, LKS_STORE_READ, &store, err) != LKS_OK ||
        lks_state_init(out, 0, err) != LKS_OK)
        return err->code;
    return lks_journal_fold(&store, NULL, 0, out, &tail, err);
}

static enum lks_code print_json(struct lks_cli *cli, const struct lks_stack *stack,
                                const struct lks_survey *v, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_text(w, "stack", stack->name);
    lks_json_cstr(w, "digest", stack->digest);
    lks_survey_json(v, w);
    return lks_output_end(cli, &o, err);
}

static enum lks_code print_text(struct lks_cli *cli, const struct lks_stack *stack,
                                const struct lks_survey *v, struct lks_err *err)
{
    static const struct lks_output_column columns[] = {{"nodes", LKS_COLUMN_RIGHT},
                                                       {"component", LKS_COLUMN_WRAP},
                                                       {"pinned", LKS_COLUMN_WRAP},
                                                       {"actual", LKS_COLUMN_WRAP}};
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_output_columns(&t, columns, LKS_COUNT(columns));
    for (size_t i = 0; i < v->row_count; i++) {
        lks_table_cellf(&t, LKS_PLAIN, "%" PRIu32, v->rows[i].nodes);
        lks_output_cell(&t, LKS_BOLD, v->rows[i].subject);
        lks_output_cell(&t, LKS_PLAIN, v->rows[i].pinned);
        lks_output_cell(&t, LKS_PLAIN, v->rows[i].actual);
    }
    if (lks_output_table(cli, &t, err) != LKS_OK)
        return err->code;
    fprintf(cli->out,
            "%s%.*s %.*s: %" PRIu32 " nodes conform, %" PRIu32 " drift, %" PRIu32
            " are unmeasured, of %" PRIu32 " nothing is known\n",
            v->row_count > 0 ? "\n" : "", LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version),
            v->judged[LKS_JUDGED_CONFORMS], v->judged[LKS_JUDGED_DRIFT],
            v->judged[LKS_JUDGED_UNMEASURED], v->judged[LKS_JUDGED_NOT]);
    return LKS_OK;
}

/* Of one machine alone. */
static enum lks_code check_options(const struct lks_args *args, struct lks_err *err)
{
    static const char *const others[] = {"--tuple", "--root", "--quick", "--all"};
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (lks_args_has(args, others[i]))
            return lks_fail(err, LKS_E_USAGE, "conform: %s does not go with --fleet", others[i]);
    }
    return LKS_OK;
}

enum lks_code lks_survey_fleet(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    LKS_CLEANUP(lks_survey_fini) struct lks_survey v = {0};
    struct lks_str name = lks_args_str(args, "--pool");
    const struct lks_stack *stack;
    if (check_options(args, err) != LKS_OK ||
        lks_input_load(cli, args, lks_args_get(args, "--stack"), &input, err) != LKS_OK ||
        lks_input_stack(&input.manifest, lks_args_str(args, "--name"), &stack, err) != LKS_OK ||
        fold(lks_args_get(args, "--fleet"), &state, err) != LKS_OK)
        return err->code;
    uint32_t pool = name.len > 0 ? lks_state_pool(&state, name) : UINT32_MAX;
    if (name.len > 0 && pool == UINT32_MAX)
        return lks_fail(err, LKS_E_INVALID, "--pool: the fleet has no pool '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(name));
    if (lks_survey_make(&state, &input.facts, stack, pool, &v, err) != LKS_OK)
        return err->code;
    cli->no = lks_bitset_any(&v.differs) || v.judged[LKS_JUDGED_NOT] > 0;
    return lks_args_has(args, "--json") ? print_json(cli, stack, &v, err)
                                        : print_text(cli, stack, &v, err);
}
