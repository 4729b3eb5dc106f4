/* node ls, show, history; alarm ls. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "core/view/view.h"

/* Lists ------------------------------------------------------------------------------------- */

static const struct lks_listing nodes = {
    .path = "/v1/nodes",
    .view = &lks_view_nodes,
    .shown = "name,pool,rack,liveness,judged,admissible,why",
    .filters = LKS_WORDS("--judged", "--component", "--version"), /* beside columns of the view */
    .empty = "no such nodes",
};

enum lks_code lks_cmd_node_ls(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    return lks_listing_print(cli, args, &nodes, err);
}

static const struct lks_listing_column history_columns[] = {
    LKS_RIGHT("seq", "seq"),  LKS_LEFT("time", "time"), LKS_LEFT("kind", "kind"),
    LKS_LEFT("node", "node"), LKS_WRAP("what", "*"),
};

static const struct lks_listing history = {
    .path = "/v1/nodes",
    .part = "history",
    LKS_COLUMNS(history_columns),
    .limit = 100,
    .cursor = "before",
    .empty = "nothing is recorded of it",
};

enum lks_code lks_cmd_node_history(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_print(cli, args, &history, err);
}

static const struct lks_listing alarms = {
    .path = "/v1/alarms",
    .view = &lks_view_alarms,
    .shown = "id,kind,subject,raised,released,text",
    .open_only = true,
    .empty = "no alarms",
};

enum lks_code lks_cmd_alarm_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    return lks_listing_print(cli, args, &alarms, err);
}

/* One thing --------------------------------------------------------------------------------- */

static const struct lks_listing_column reading_columns[] = {
    LKS_WRAP("what", "name"),   LKS_WRAP("of", "of"),         LKS_WRAP("part", "part"),
    LKS_WRAP("value", "value"), LKS_WRAP("absent", "absent"), LKS_WRAP("unmeasured", "unmeasured"),
};

static const struct lks_listing_part readings = {"readings", LKS_PART_COLUMNS(reading_columns),
                                                 NULL, false};

enum lks_code lks_cmd_node_show(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(cli, args, "/v1/nodes/{1}[{--tuple?}/tuple]", NULL, &q, err) != LKS_OK)
        return err->code;
    if (lks_doc_member(q.answer.doc, "readings") == NULL || lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    return lks_listing_part(cli, &readings, q.answer.doc, err);
}
