/* node enroll, ls, show, history, rm; alarm ls. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"

/* Lists ------------------------------------------------------------------------------------- */

static const struct lks_listing_column node_columns[] = {
    LKS_LEFT("node", "name"),     LKS_LEFT("pool", "pool"),
    LKS_LEFT("rack", "rack"),     LKS_LEFT("liveness", "liveness"),
    LKS_LEFT("judged", "judged"), LKS_LEFT("admissible", "admissible"),
    LKS_WRAP("why", "why"),
};

static const struct lks_listing nodes = {
    .path = "/v1/nodes",
    LKS_COLUMNS(node_columns),
    /* Options that are filters have the name of their query parameter. */
    .filters = LKS_WORDS("--site", "--pool", "--rack", "--domain", "--class", "--liveness",
                         "--judged", "--held", "--intake", "--component", "--version", "--tuple"),
    .empty = "no such nodes",
};

enum lks_code lks_cmd_node_ls(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    return lks_listing_print(cli, args, &nodes, err);
}

static const struct lks_listing_column history_columns[] = {
    LKS_RIGHT("row", "seq"),  LKS_LEFT("time", "time"), LKS_LEFT("kind", "kind"),
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

static const struct lks_listing_column alarm_columns[] = {
    LKS_RIGHT("id", "id"),        LKS_LEFT("kind", "kind"),         LKS_LEFT("subject", "subject"),
    LKS_LEFT("raised", "raised"), LKS_LEFT("released", "released"), LKS_WRAP("text", "text"),
};

static const struct lks_listing alarms = {
    .path = "/v1/alarms", LKS_COLUMNS(alarm_columns), .open_only = true, .empty = "no alarms"};

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

enum lks_code lks_cmd_node_show(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    lks_remote_question_init(&q, "GET", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    if (lks_args_has(args, "--tuple"))
        lks_remote_path_add(&q.path, LKS_STR("tuple"));
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    const struct lks_doc *readings = lks_doc_member(q.answer.doc, "readings");
    if (readings == NULL || lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    return lks_listing_table(cli, reading_columns, LKS_COUNT(reading_columns), &readings, 1, err);
}

/* Verbs ------------------------------------------------------------------------------------- */

enum lks_code lks_cmd_node_rm(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "DELETE", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_query(&q.path, "reason", lks_args_str(args, "--reason"));
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    char size[LKS_LISTING_SIZE];
    return lks_listing_done(cli, args, &q.answer, err, "%s: removed%s", args->positional[0],
                            lks_listing_size(q.answer.doc, size));
}

enum lks_code lks_cmd_node_enroll(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    lks_remote_question_init(&q, "POST", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, LKS_STR("enroll"));
    lks_json_begin(&q.w, NULL, '{');
    return lks_listing_token(cli, args, &q, err);
}
