#include "cli/shared/verbs.h"

#include "cli/shared/commands.h"
#include "cli/shared/listing.h"

#include <string.h>

static const struct lks_verb verbs[] = {
    {"node hold", "/v1/nodes", "hold", "held"},
    {"node release", "/v1/nodes", "release", "released"},
    {"node replace", "/v1/nodes", "replace", "may come back as other hardware, with a new token"},
    {"node resolve", "/v1/nodes", "resolve", "resolved"},
    {"node approve", "/v1/nodes", "reset/approve", "the reset is approved"},
    {"node review", "/v1/nodes", "reset/review", "the reset is reviewed"},
    {"alarm release", "/v1/alarms", "release", "released"},
    {"deviation approve", "/v1/deviations", "approve", "approved"},
    {"deviation close", "/v1/deviations", "close", "closed"},
    {"bundle revoke", "/v1/bundles", "revoke", "revoked"},
};

const char *lks_verbs_word(const struct lks_cli *cli)
{
    const char *blank = strrchr(cli->command->name, ' ');
    return blank != NULL ? blank + 1 : cli->command->name;
}

enum lks_code lks_verbs_run(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_verb *verb, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_listing_need(args, "--reason", LKS_LISTING_REASON, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(&q, "POST", verb->base);
    lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    lks_buf_addf(&q.path.text, "/%s", verb->verb); /* ours: it may have a '/' */
    lks_json_begin(&q.w, NULL, '{');
    lks_json_text(&q.w, "reason", lks_args_str(args, "--reason"));
    if (lks_args_has(args, "--force"))
        lks_json_bool(&q.w, "force", true);
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    char size[LKS_LISTING_SIZE];
    return lks_listing_done(cli, args, &q.answer, err, "%s: %s%s", args->positional[0], verb->done,
                            lks_listing_size(q.answer.doc, size));
}

enum lks_code lks_verb_cmd(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    size_t i = 0;
    while (i < LKS_COUNT(verbs) && strcmp(verbs[i].command, cli->command->name) != 0)
        i++;
    LKS_ASSERT(i < LKS_COUNT(verbs));
    return lks_verbs_run(cli, args, &verbs[i], err);
}
