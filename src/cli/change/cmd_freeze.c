/* freeze, unfreeze: whether anything begins, in a pool or the whole fleet. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"

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
    static const struct lks_listing_part parts[] = {
        {"pools", LKS_PART_COLUMNS(pool_columns), NULL, false},
        {"days", LKS_PART_COLUMNS(day_columns), NULL, false}};
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(cli, args, "/v1/freeze", NULL, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    lks_render_print(cli->out,
                     "[{frozen?}the fleet is frozen by [{by}]: [{reason}]\n|"
                     "{pools!}nothing is frozen[{days?} by a person]\n]",
                     q.answer.doc);
    if (lks_listing_part(cli, &parts[0], q.answer.doc, err) != LKS_OK)
        return err->code;
    return lks_listing_part(cli, &parts[1], q.answer.doc, err);
}

enum lks_code lks_cmd_freeze(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    return lks_args_has(args, "--list") ? show(cli, args, err) : lks_ask_cmd(cli, args, err);
}
