/* conform --fleet: what a whole fleet would say to a stack, from a controller's journal and without
 * its daemon. */
#include "cli/shared/commands.h"
#include "cli/shared/controller.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "core/view/survey.h"
#include "engine/journal.h"

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

static const struct lks_listing_column columns[] = {
    LKS_PLAIN_RIGHT("nodes", "nodes"),
    {"component", "subject", LKS_COLUMN_WRAP, "bold"},
    LKS_PLAIN_WRAP("pinned", "pinned"),
    LKS_PLAIN_WRAP("actual", "actual"),
};

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_doc *survey, struct lks_err *err)
{
    static const struct lks_listing_part rows = {"rows", LKS_PART_COLUMNS(columns), NULL, true};
    (void)args;
    return lks_listing_part(cli, &rows, survey, err);
}

static enum lks_code print(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_stack *stack, const struct lks_survey *v,
                           struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_text(w, "stack", stack->name);
    lks_json_cstr(w, "digest", stack->digest);
    lks_survey_json(v, w);
    enum lks_code code = lks_output_show(cli, args, &o, show, err);
    if (code != LKS_OK || lks_args_has(args, "--json"))
        return code;
    fprintf(cli->out, "%s%.*s %.*s: ", v->row_count > 0 ? "\n" : "", LKS_STR_ARG(stack->name),
            LKS_STR_ARG(stack->version));
    lks_render_print(cli->out,
                     "{conforms#} nodes conform, {drift#} drift, {unmeasured#} are unmeasured, of "
                     "{unjudged#} nothing is known\n",
                     o.docs.first);
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
    return print(cli, args, stack, &v, err);
}
