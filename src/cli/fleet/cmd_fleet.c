/* fleet apply, show. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"

/* fleet apply ------------------------------------------------------------------------------- */

static const struct lks_listing_column change_columns[] = {
    LKS_LEFT("change", "kind"),
    LKS_WRAP("what", "*"),
};

static const struct lks_listing_part change_part = {"changes", LKS_PART_COLUMNS(change_columns),
                                                    NULL, false};

static enum lks_code print_applied(struct lks_cli *cli, const struct lks_doc *answer, bool dry,
                                   struct lks_err *err)
{
    const struct lks_doc *changes = lks_doc_member(answer, "changes");
    if (changes == NULL || changes->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say what changes");
    if (changes->count == 0)
        fprintf(cli->out, "nothing to change\n");
    else if (lks_listing_part(cli, &change_part, answer, err) != LKS_OK)
        return err->code;
    if (changes->count > 0)
        lks_render_print(cli->out,
                         dry ? "nothing was applied: --dry-run" LKS_ASK_SIZE "\n"
                             : "applied" LKS_ASK_SIZE "\n",
                         answer);
    return LKS_OK;
}

enum lks_code lks_cmd_fleet_apply(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    bool dry = lks_args_has(args, "--dry-run");
    lks_remote_question_init(&q, "PUT", "/v1/fleet");
    if (dry)
        lks_remote_path_query(&q.path, "dry_run", LKS_STR("true"));
    lks_remote_path_options(&q.path, args, LKS_WORDS("--accept", "--nodes", "--gpus"));
    if (lks_remote_question_send(cli, args, args->positional[0], &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    return print_applied(cli, q.answer.doc, dry, err);
}

/* fleet show -------------------------------------------------------------------------------- */

static const struct lks_listing_column pool_columns[] = {
    LKS_LEFT("pool", "name"),
    LKS_LEFT("posture", "posture"),
    LKS_LEFT("enforce", "enforce"),
    LKS_LEFT("stack", "stack"),
    LKS_LEFT("baseline", "baseline"),
    LKS_LEFT("behind since", "behind_since"),
    LKS_RIGHT("nodes", "nodes"),
    LKS_RIGHT("enrolled", "enrolled"),
    LKS_RIGHT("unseen", "liveness.unseen"),
    LKS_RIGHT("live", "liveness.live"),
    LKS_RIGHT("late", "liveness.late"),
    LKS_RIGHT("lost", "liveness.lost"),
    LKS_LEFT("acts wait", "acts_wait"),
};

static const struct lks_listing pools = {
    .path = "/v1/fleet",
    LKS_COLUMNS(pool_columns),
    .members = LKS_WORDS("pools"),
    .empty = "no fleet yet: 'lockstep fleet apply FILE' sets one",
};

enum lks_code lks_cmd_fleet_show(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    return lks_listing_print(cli, args, &pools, err);
}
