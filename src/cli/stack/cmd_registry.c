/* stack publish, ls, promote, retire; lifecycle --fleet. */
#include "base/file.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/stack/stackwarn.h"

#include <inttypes.h>

/* stack publish ----------------------------------------------------------------------------- */

/* The file is read here first, so that what is wrong with it is told with its place. */
enum lks_code lks_cmd_stack_publish(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_input_fini) struct lks_input input = {0};
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    const struct lks_stack *stack;
    const char *file = args->positional[0];
    if (lks_input_load(cli, args, file, &input, err) != LKS_OK ||
        lks_input_stack(&input.manifest, lks_args_str(args, "--stack"), &stack, err) != LKS_OK)
        return err->code;
    lks_buf_init(&text, LKS_DOC_BYTES_MAX);
    if (lks_file_read(file, &text, err) != LKS_OK ||
        lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    lks_remote_path_init(&path, "/v1/stacks");
    lks_remote_path_query(&path, "stack", stack->name);
    if (lks_args_has(args, "--reason"))
        lks_remote_path_query(&path, "reason", lks_args_str(args, "--reason"));
    if (lks_remote_call(&remote, "POST", &path, "application/yaml", lks_buf_view(&text), &answer,
                        err) != LKS_OK)
        return lks_wrap(err, "%s", file);
    if (lks_stack_warn(cli, &input.facts, stack, file, err) != LKS_OK)
        return err->code;
    struct lks_str digest = lks_doc_text(answer.doc, "digest");
    struct lks_str step = lks_doc_text(answer.doc, "step");
    return lks_listing_done(cli, args, &answer, err,
                            "%" LKS_STR_FMT " %" LKS_STR_FMT ": %" LKS_STR_FMT,
                            LKS_STR_ARG(stack->name), LKS_STR_ARG(digest), LKS_STR_ARG(step));
}

/* stack ls, promote, retire ----------------------------------------------------------------- */

static const struct lks_listing_column stack_columns[] = {
    {"stack", "name", 0}, {"digest", "digest", LKS_COLUMN_WRAP},
    {"step", "step", 0},  {"published", "published", 0},
    {"by", "by", 0},      {"pools", "pools", LKS_COLUMN_WRAP},
};

enum lks_code lks_cmd_stack_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    static const char *const filters[] = {"--name", "--step"};
    struct lks_listing listing = {
        .columns = stack_columns,
        .column_count = LKS_COUNT(stack_columns),
        .empty = lks_args_has(args, "--name") || lks_args_has(args, "--step")
                     ? "no such stack"
                     : "no stack is published: 'lockstep stack publish FILE' does it",
    };
    lks_remote_path_init(&listing.path, "/v1/stacks");
    for (size_t i = 0; i < LKS_COUNT(filters); i++) {
        if (lks_args_has(args, filters[i]))
            lks_remote_path_query(&listing.path, filters[i] + 2, lks_args_str(args, filters[i]));
    }
    enum lks_code code = lks_listing_print(cli, args, &listing, err);
    lks_remote_path_fini(&listing.path);
    return code;
}

static enum lks_code step(struct lks_cli *cli, const struct lks_args *args, const char *verb,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    if (lks_listing_need(args, "--evidence", "what it rests on; it is recorded for ever", err) !=
        LKS_OK)
        return err->code;
    lks_question_init(&q, "POST", "/v1/stacks");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, lks_str_from(verb));
    lks_json_begin(&q.w, NULL, '{');
    if (args->positional_count > 1)
        lks_json_cstr(&q.w, "to", args->positional[1]);
    lks_json_text(&q.w, "evidence", lks_args_str(args, "--evidence"));
    lks_json_end(&q.w, '}');
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    return lks_listing_done(cli, args, &answer, err, "%s: %s", args->positional[0],
                            args->positional_count > 1 ? args->positional[1] : "retired");
}

enum lks_code lks_cmd_stack_promote(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    return step(cli, args, "promote", err);
}

enum lks_code lks_cmd_stack_retire(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return step(cli, args, "retire", err);
}

/* How long what runs is supported ----------------------------------------------------------- */

static const struct lks_listing_column support_columns[] = {
    {"branch", "branch", 0},
    {"type", "type", 0},
    {"ends", "ends", 0},
    {"days left", "days_left", LKS_COLUMN_RIGHT},
    {"nodes", "nodes", LKS_COLUMN_RIGHT},
    {"gpus", "gpus", LKS_COLUMN_RIGHT},
};

static const struct lks_listing_column matrix_columns[] = {
    {"gpu", "gpu", LKS_COLUMN_WRAP},
    {"driver", "driver", 0},
    {"cuda", "cuda", 0},
    {"verdict", "verdict", 0},
    {"nodes", "nodes", LKS_COLUMN_RIGHT},
    {"gpus", "gpus", LKS_COLUMN_RIGHT},
    {"why", "reason", LKS_COLUMN_WRAP},
};

enum lks_code lks_registry_lifecycle(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_question_init(&q, "GET", "/v1/exposure/lifecycle");
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &answer, err);
    const struct lks_doc *support = lks_doc_member(answer.doc, "support");
    const struct lks_doc *matrix = lks_doc_member(answer.doc, "matrix");
    if (matrix == NULL || matrix->count == 0)
        fprintf(cli->out, "no node has reported what it runs\n");
    if (lks_listing_table(cli, support_columns, LKS_COUNT(support_columns), &support, 1, err) !=
        LKS_OK)
        return err->code;
    if (support != NULL && support->count > 0 && matrix != NULL && matrix->count > 0)
        fputc('\n', cli->out);
    return lks_listing_table(cli, matrix_columns, LKS_COUNT(matrix_columns), &matrix, 1, err);
}
