/* node set: a column of nodes that people set. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"

enum lks_code lks_cmd_node_set(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    struct lks_str column, value;
    if (!lks_str_cut(lks_str_from(args->positional[1]), '=', &column, &value))
        return lks_fail(err, LKS_E_USAGE,
                        "'%s' is no COLUMN=VALUE; write COLUMN= to clear the column",
                        args->positional[1]);
    if (lks_listing_need(args, "--reason", LKS_ASK_WHY, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, LKS_STR("set"));
    lks_json_begin(&q.w, NULL, '{');
    lks_json_text(&q.w, "column", column);
    lks_json_some(&q.w, "value", value);
    lks_json_text(&q.w, "reason", lks_args_str(args, "--reason"));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_ask_done(cli, args, &q.answer, "{1}: {2}" LKS_ASK_SIZE, err);
}
