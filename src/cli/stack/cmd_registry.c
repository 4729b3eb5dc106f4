/* stack publish, ls, promote, retire; lifecycle --fleet. */
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/verbs.h"
#include "cli/stack/stackwarn.h"

#include <inttypes.h>

/* stack publish ----------------------------------------------------------------------------- */

/* The file is read here first, so that what is wrong with it is told with its place. */
enum lks_code lks_cmd_stack_publish(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    const struct lks_stack *stack;
    const char *file = args->positional[0];
    if (lks_input_load_stack(cli, args, &input, &stack, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/stacks");
    lks_remote_path_query(&q.path, "stack", stack->name);
    lks_remote_path_options(&q.path, args, LKS_WORDS("--reason"));
    if (lks_remote_question_send(cli, args, file, &q, err) != LKS_OK ||
        lks_stack_warn(cli, &input.facts, stack, file, err) != LKS_OK)
        return err->code;
    struct lks_str digest = lks_doc_text(q.answer.doc, "digest");
    struct lks_str step = lks_doc_text(q.answer.doc, "step");
    return lks_listing_done(cli, args, &q.answer, err,
                            "%" LKS_STR_FMT " %" LKS_STR_FMT ": %" LKS_STR_FMT,
                            LKS_STR_ARG(stack->name), LKS_STR_ARG(digest), LKS_STR_ARG(step));
}

/* stack ls, promote, retire ----------------------------------------------------------------- */

static const struct lks_listing_column stack_columns[] = {
    LKS_LEFT("stack", "name"),          LKS_WRAP("digest", "digest"), LKS_LEFT("step", "step"),
    LKS_LEFT("published", "published"), LKS_LEFT("by", "by"),         LKS_WRAP("pools", "pools"),
};

enum lks_code lks_cmd_stack_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    const struct lks_listing stacks = {
        .path = "/v1/stacks",
        LKS_COLUMNS(stack_columns),
        .filters = LKS_WORDS("--name", "--step"),
        .empty = lks_args_has(args, "--name") || lks_args_has(args, "--step")
                     ? "no such stack"
                     : "no stack is published: 'lockstep stack publish FILE' does it",
    };
    return lks_listing_print(cli, args, &stacks, err);
}

/* promote and retire: the path has the same word. */
enum lks_code lks_cmd_stack_step(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_listing_need(args, "--evidence", "what it rests on; it is recorded for ever", err) !=
        LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/stacks");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, lks_str_from(lks_verbs_word(cli)));
    lks_json_begin(&q.w, NULL, '{');
    if (args->positional_count > 1)
        lks_json_cstr(&q.w, "to", args->positional[1]);
    lks_json_text(&q.w, "evidence", lks_args_str(args, "--evidence"));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_listing_done(cli, args, &q.answer, err, "%s: %s", args->positional[0],
                            args->positional_count > 1 ? args->positional[1] : "retired");
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
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_remote_question_plain(cli, args, "GET", "/v1/exposure/lifecycle", &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    const struct lks_doc *support = lks_doc_member(q.answer.doc, "support");
    const struct lks_doc *matrix = lks_doc_member(q.answer.doc, "matrix");
    if (matrix == NULL || matrix->count == 0)
        fprintf(cli->out, "no node has reported what it runs\n");
    if (lks_listing_table(cli, support_columns, LKS_COUNT(support_columns), &support, 1, err) !=
        LKS_OK)
        return err->code;
    if (support != NULL && support->count > 0 && matrix != NULL && matrix->count > 0)
        fputc('\n', cli->out);
    return lks_listing_table(cli, matrix_columns, LKS_COUNT(matrix_columns), &matrix, 1, err);
}
