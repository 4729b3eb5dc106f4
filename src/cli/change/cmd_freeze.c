/* freeze, unfreeze: whether anything begins, in a pool or the whole fleet. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"

static enum lks_code ask(struct lks_cli *cli, const struct lks_args *args, const char *path,
                         const char *done, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    struct lks_str pool = lks_args_str(args, "--pool");
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", path);
    lks_json_begin(&q.w, NULL, '{');
    lks_json_some(&q.w, "pool", pool);
    lks_json_text(&q.w, "reason", lks_args_str(args, "--reason"));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    if (pool.len == 0)
        return lks_listing_done(cli, args, &q.answer, err, "the fleet is %s", done);
    return lks_listing_done(cli, args, &q.answer, err, "pool %" LKS_STR_FMT " is %s",
                            LKS_STR_ARG(pool), done);
}

static const struct lks_listing_column pool_columns[] = {
    LKS_LEFT("pool", "pool"),
    LKS_WRAP("by", "by"),
    LKS_LEFT("since", "since"),
    LKS_WRAP("reason", "reason"),
};

static const struct lks_listing_column day_columns[] = {
    LKS_LEFT("from", "from"),
    LKS_LEFT("until", "until"),
    LKS_LEFT("now", "now"),
    LKS_WRAP("pools", "pools"),
    LKS_WRAP("by the fleet's file", "description"),
};

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_remote_question_plain(cli, args, "GET", "/v1/freeze", &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    const struct lks_doc *all = lks_doc_member(q.answer.doc, "frozen");
    const struct lks_doc *pools = lks_doc_member(q.answer.doc, "pools");
    struct lks_str by = lks_doc_text(q.answer.doc, "by");
    struct lks_str reason = lks_doc_text(q.answer.doc, "reason");
    bool frozen = all != NULL && all->truth;
    if (frozen && lks_listing_done(cli, args, &q.answer, err,
                                   "the fleet is frozen by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                   LKS_STR_ARG(by), LKS_STR_ARG(reason)) != LKS_OK)
        return err->code;
    const struct lks_doc *days = lks_doc_member(q.answer.doc, "days");
    bool planned = days != NULL && days->first != NULL;
    if (!frozen && (pools == NULL || pools->first == NULL))
        fprintf(cli->out, "nothing is frozen%s\n", planned ? " by a person" : "");
    if (pools != NULL && pools->first != NULL &&
        lks_listing_table(cli, pool_columns, LKS_COUNT(pool_columns), &pools, 1, err) != LKS_OK)
        return err->code;
    if (!planned)
        return LKS_OK;
    return lks_listing_table(cli, day_columns, LKS_COUNT(day_columns), &days, 1, err);
}

enum lks_code lks_cmd_freeze(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    if (lks_args_has(args, "--list"))
        return show(cli, args, err);
    return ask(cli, args, "/v1/freeze", "frozen", err);
}

enum lks_code lks_cmd_unfreeze(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    return ask(cli, args, "/v1/unfreeze", "no longer frozen", err);
}
