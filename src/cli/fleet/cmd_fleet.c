/* fleet apply, show; access grant, revoke, ls, token. */
#include "base/file.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "model/record/record.h"

/* fleet apply ------------------------------------------------------------------------------- */

static const struct lks_listing_column change_columns[] = {
    {"change", "kind", 0},
    {"what", "*", LKS_COLUMN_WRAP},
};

static enum lks_code print_applied(struct lks_cli *cli, const struct lks_doc *answer, bool dry,
                                   struct lks_err *err)
{
    const struct lks_doc *changes = lks_doc_member(answer, "changes");
    if (changes == NULL || changes->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "lockstepd did not say what changes");
    if (changes->count == 0)
        fprintf(cli->out, "nothing to change\n");
    else if (lks_listing_table(cli, change_columns, LKS_COUNT(change_columns), &changes, 1, err) !=
             LKS_OK)
        return err->code;
    char size[LKS_LISTING_SIZE];
    if (changes->count > 0)
        fprintf(cli->out, "%s%s\n", dry ? "nothing was applied: --dry-run" : "applied",
                lks_listing_size(answer, size));
    return LKS_OK;
}

enum lks_code lks_cmd_fleet_apply(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    static const char *const said[] = {"--nodes", "--gpus"};
    bool dry = lks_args_has(args, "--dry-run");
    lks_buf_init(&text, LKS_DOC_BYTES_MAX);
    if (lks_file_read(args->positional[0], &text, err) != LKS_OK)
        return err->code;
    lks_remote_path_init(&path, "/v1/fleet");
    if (dry)
        lks_remote_path_query(&path, "dry_run", LKS_STR("true"));
    if (lks_args_has(args, "--accept"))
        lks_remote_path_query(&path, "accept", LKS_STR("true"));
    for (size_t i = 0; i < LKS_COUNT(said); i++) {
        if (lks_args_has(args, said[i]))
            lks_remote_path_query(&path, said[i] + 2, lks_args_str(args, said[i]));
    }
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    if (lks_remote_call(&remote, "PUT", &path, "application/yaml", lks_buf_view(&text), &answer,
                        err) != LKS_OK)
        return lks_wrap(err, "%s", args->positional[0]);
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &answer, err);
    return print_applied(cli, answer.doc, dry, err);
}

/* fleet show -------------------------------------------------------------------------------- */

static const struct lks_listing_column pool_columns[] = {
    {"pool", "name", 0},
    {"posture", "posture", 0},
    {"enforce", "enforce", 0},
    {"stack", "stack", 0},
    {"baseline", "baseline", 0},
    {"behind since", "behind_since", 0},
    {"nodes", "nodes", LKS_COLUMN_RIGHT},
    {"enrolled", "enrolled", LKS_COLUMN_RIGHT},
    {"unseen", "liveness.unseen", LKS_COLUMN_RIGHT},
    {"live", "liveness.live", LKS_COLUMN_RIGHT},
    {"late", "liveness.late", LKS_COLUMN_RIGHT},
    {"lost", "liveness.lost", LKS_COLUMN_RIGHT},
    {"acts wait", "acts_wait", 0},
};

enum lks_code lks_cmd_fleet_show(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    lks_question_init(&q, "GET", "/v1/fleet");
    if (lks_question_ask(cli, args, &q, &answer, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &answer, err);
    const struct lks_doc *pools = lks_doc_member(answer.doc, "pools");
    if (pools == NULL || pools->count == 0)
        fprintf(cli->out, "no fleet yet: 'lockstep fleet apply FILE' sets one\n");
    return lks_listing_table(cli, pool_columns, LKS_COUNT(pool_columns), &pools, 1, err);
}
