/* stack publish, ls; lifecycle --fleet. */
#include "base/file.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"
#include "cli/stack/stackwarn.h"
#include "core/view/view.h"

/* stack publish ----------------------------------------------------------------------------- */

/* The file is read here first, so that what is wrong with it is told with its place. */
enum lks_code lks_cmd_stack_publish(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    const struct lks_stack *stack;
    const char *file = args->positional[0];
    if (lks_input_load_stack(cli, args, &input, &stack, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/stacks");
    lks_remote_path_query(&q.path, "stack", stack->name);
    lks_remote_path_options(&q.path, args, LKS_WORDS("--reason"));
    if (lks_file_read(file, &text, err) != LKS_OK ||
        lks_remote_question_send(cli, args, file, lks_buf_view(&text), &q, err) != LKS_OK ||
        lks_stack_warn(cli, &input.facts, stack, file, err) != LKS_OK)
        return err->code;
    struct lks_str digest = lks_doc_text(q.answer.doc, "digest");
    struct lks_str step = lks_doc_text(q.answer.doc, "step");
    return lks_listing_done(cli, args, &q.answer, err,
                            "%" LKS_STR_FMT " %" LKS_STR_FMT ": %" LKS_STR_FMT,
                            LKS_STR_ARG(stack->name), LKS_STR_ARG(digest), LKS_STR_ARG(step));
}

/* stack ls ---------------------------------------------------------------------------------- */

enum lks_code lks_cmd_stack_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    const struct lks_listing stacks = {
        .path = "/v1/stacks",
        .shown = "name,digest,step,published,by,pools,rolled_back",
        .filters = LKS_WORDS("--name"),
        .empty = lks_args_has(args, "--name") || lks_args_has(args, "--step")
                     ? "no such stack"
                     : "no stack is published: 'lockstep stack publish FILE' does it",
        .view = &lks_view_stacks,
    };
    return lks_listing_print(cli, args, &stacks, err);
}

/* stack rollbacks --------------------------------------------------------------------------- */

static const struct lks_listing_column rollback_columns[] = {
    LKS_LEFT("class", "class"),      LKS_LEFT("from", "to"), /* the API names the stacks by the
                                                                change that was rolled back */
    LKS_LEFT("back to", "from"),     LKS_LEFT("node", "node"), LKS_RIGHT("change", "change"),
    LKS_RIGHT("took", "{took_ms~}"), LKS_LEFT("when", "at"),
};

static const struct lks_listing rollbacks = {
    .path = "/v1/proven", LKS_COLUMNS(rollback_columns), .empty = "no rollback was exercised yet"};

enum lks_code lks_cmd_stack_rollbacks(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_err *err)
{
    return lks_listing_print(cli, args, &rollbacks, err);
}

/* How long what runs is supported ----------------------------------------------------------- */

static const struct lks_listing_column support_columns[] = {
    LKS_LEFT("branch", "branch"),        LKS_LEFT("type", "type"),    LKS_LEFT("ends", "ends"),
    LKS_RIGHT("days left", "days_left"), LKS_RIGHT("nodes", "nodes"), LKS_RIGHT("gpus", "gpus"),
};

static const struct lks_listing_column matrix_columns[] = {
    LKS_WRAP("gpu", "gpu"),         LKS_LEFT("driver", "driver"), LKS_LEFT("cuda", "cuda"),
    LKS_LEFT("verdict", "verdict"), LKS_RIGHT("nodes", "nodes"),  LKS_RIGHT("gpus", "gpus"),
    LKS_WRAP("why", "reason"),
};

enum lks_code lks_registry_lifecycle(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    static const struct lks_listing_part parts[] = {
        {"support", LKS_PART_COLUMNS(support_columns), NULL, false},
        {"matrix", LKS_PART_COLUMNS(matrix_columns), "[{support?}\n]", false}};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(cli, args, "/v1/exposure/lifecycle", NULL, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    lks_render_print(cli->out, "[{matrix!}no node has reported what it runs\n]", q.answer.doc);
    if (lks_listing_part(cli, &parts[0], q.answer.doc, err) != LKS_OK)
        return err->code;
    return lks_listing_part(cli, &parts[1], q.answer.doc, err);
}
