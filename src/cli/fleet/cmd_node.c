/* node enroll, ls, show, history, hold, release, resolve, replace, rm; alarm ls, release. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"

enum { HISTORY_MAX = 1000000 };

/* Lists ------------------------------------------------------------------------------------- */

static const struct lks_listing_column node_columns[] = {
    {"node", "name", 0},
    {"pool", "pool", 0},
    {"rack", "rack", 0},
    {"liveness", "liveness", 0},
    {"judged", "judged", 0},
    {"admissible", "admissible", 0},
    {"why", "why", LKS_COLUMN_WRAP},
};

/* Options that are filters have the name of their query parameter. */
static const char *const node_filters[] = {
    "--site",   "--pool", "--rack",   "--domain",    "--class",   "--liveness",
    "--judged", "--held", "--intake", "--component", "--version", "--tuple",
};

enum lks_code lks_cmd_node_ls(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    struct lks_listing listing = {
        .columns = node_columns,
        .column_count = LKS_COUNT(node_columns),
        .empty = "no such nodes",
    };
    enum lks_code code = lks_listing_number(args, "--limit", HISTORY_MAX, 0, &listing.limit, err);
    if (code != LKS_OK)
        return code;
    lks_remote_path_init(&listing.path, "/v1/nodes");
    for (size_t i = 0; i < LKS_COUNT(node_filters); i++) {
        const char *value = lks_args_get(args, node_filters[i]);
        if (value != NULL) /* a plain switch means yes */
            lks_remote_path_query(&listing.path, node_filters[i] + 2,
                                  value[0] != '\0' ? lks_str_from(value) : LKS_STR("true"));
    }
    code = lks_listing_print(cli, args, &listing, err);
    lks_remote_path_fini(&listing.path);
    return code;
}

static const struct lks_listing_column history_columns[] = {
    {"row", "seq", LKS_COLUMN_RIGHT}, {"time", "time", 0}, {"kind", "kind", 0}, {"node", "node", 0},
    {"what", "*", LKS_COLUMN_WRAP},
};

enum lks_code lks_cmd_node_history(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    struct lks_listing listing = {
        .columns = history_columns,
        .column_count = LKS_COUNT(history_columns),
        .empty = "nothing is recorded of it",
        .cursor = "before",
    };
    enum lks_code code = lks_listing_number(args, "--limit", HISTORY_MAX, 100, &listing.limit, err);
    if (code != LKS_OK)
        return code;
    lks_remote_path_init(&listing.path, "/v1/nodes");
    lks_remote_path_add(&listing.path, lks_str_from(args->positional[0]));
    lks_buf_add(&listing.path.text, LKS_STR("/history"));
    code = lks_listing_print(cli, args, &listing, err);
    lks_remote_path_fini(&listing.path);
    return code;
}

static const struct lks_listing_column alarm_columns[] = {
    {"id", "id", LKS_COLUMN_RIGHT}, {"kind", "kind", 0},         {"subject", "subject", 0},
    {"raised", "raised", 0},        {"released", "released", 0}, {"text", "text", LKS_COLUMN_WRAP},
};

enum lks_code lks_cmd_alarm_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    struct lks_listing listing = {
        .columns = alarm_columns,
        .column_count = LKS_COUNT(alarm_columns),
        .empty = "no alarms",
    };
    lks_remote_path_init(&listing.path, "/v1/alarms");
    if (!lks_args_has(args, "--all"))
        lks_remote_path_query(&listing.path, "open", LKS_STR("true"));
    enum lks_code code = lks_listing_print(cli, args, &listing, err);
    lks_remote_path_fini(&listing.path);
    return code;
}

/* One thing --------------------------------------------------------------------------------- */

static const struct lks_listing_column reading_columns[] = {
    {"what", "name", LKS_COLUMN_WRAP},     {"of", "of", LKS_COLUMN_WRAP},
    {"part", "part", LKS_COLUMN_WRAP},     {"value", "value", LKS_COLUMN_WRAP},
    {"absent", "absent", LKS_COLUMN_WRAP}, {"unmeasured", "unmeasured", LKS_COLUMN_WRAP},
};

enum lks_code lks_cmd_node_show(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_question_init(&q, "GET", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    if (lks_args_has(args, "--tuple"))
        lks_remote_path_add(&q.path, LKS_STR("tuple"));
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    const struct lks_doc *readings = lks_doc_member(answer.doc, "readings");
    if (readings == NULL || lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &answer, err);
    return lks_listing_table(cli, reading_columns, LKS_COUNT(reading_columns), &readings, 1, err);
}

/* Verbs ------------------------------------------------------------------------------------- */

enum lks_code lks_cmd_node_hold(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    return lks_listing_verb(cli, args, &(struct lks_listing_verb){"/v1/nodes", "hold", "held"},
                            err);
}

enum lks_code lks_cmd_node_release(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_verb(cli, args,
                            &(struct lks_listing_verb){"/v1/nodes", "release", "released"}, err);
}

enum lks_code lks_cmd_node_replace(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_verb(
        cli, args,
        &(struct lks_listing_verb){"/v1/nodes", "replace",
                                   "may come back as other hardware, with a new token"},
        err);
}

enum lks_code lks_cmd_node_resolve(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    return lks_listing_verb(cli, args,
                            &(struct lks_listing_verb){"/v1/nodes", "resolve", "resolved"}, err);
}

enum lks_code lks_cmd_alarm_release(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    return lks_listing_verb(cli, args,
                            &(struct lks_listing_verb){"/v1/alarms", "release", "released"}, err);
}

enum lks_code lks_cmd_node_rm(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    lks_question_init(&q, "DELETE", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_query(&q.path, "reason", lks_args_str(args, "--reason"));
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    char size[LKS_LISTING_SIZE];
    return lks_listing_done(cli, args, &answer, err, "%s: removed%s", args->positional[0],
                            lks_listing_size(answer.doc, size));
}

enum lks_code lks_cmd_node_enroll(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    lks_question_init(&q, "POST", "/v1/nodes");
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_remote_path_add(&q.path, LKS_STR("enroll"));
    lks_json_begin(&q.w, NULL, '{');
    return lks_listing_token(cli, args, &q, err);
}
