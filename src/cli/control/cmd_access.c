/* Who may do what, and the credentials of people. */
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "model/record/record.h"

enum lks_code lks_cmd_access_grant(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    if (strcmp(args->positional[1], lks_role_words[LKS_ROLE_AGENT]) == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "access grant: agent is the role of an enrolled node, and of "
                        "nothing else; people are viewer, operator, approver or admin");
    return lks_ask_cmd(cli, args, err);
}

/* By what the argument is. */
static const struct lks_ask revoke_binding = {
    .method = "DELETE",
    .path = "/v1/access",
    .members = LKS_ASK_MEMBERS(LKS_ASK_OPTION("identity", "1"), LKS_ASK_OPTION("role", "2"),
                               LKS_ASK_OPTION("site", "--site"), LKS_ASK_OPTION("pool", "--pool")),
    .done = "{1}: {2}" LKS_ASK_WHERE " is revoked"};
static const struct lks_ask revoke_token = {
    .method = "DELETE", .path = "/v1/tokens/{1}", .done = "{1}: revoked"};
static const struct lks_ask revoke_certificate = {
    .method = "DELETE", .path = "/v1/certificates/{1}", .done = "{1}: revoked"};

enum lks_code lks_cmd_access_revoke(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    bool token = lks_args_has(args, "--token"), certificate = lks_args_has(args, "--certificate");
    if ((token && certificate) || (token || certificate) == (args->positional_count == 2))
        return lks_fail(err, LKS_E_USAGE,
                        "access revoke: an identity and its role, or --token and the id of one, or "
                        "--certificate and the serial number of one");
    if ((token || certificate) && (lks_args_has(args, "--site") || lks_args_has(args, "--pool")))
        return lks_fail(err, LKS_E_USAGE,
                        "access revoke: --site and --pool belong to a role, not to a token or a "
                        "certificate");
    return lks_ask_run(cli, args,
                       token         ? &revoke_token
                       : certificate ? &revoke_certificate
                                     : &revoke_binding,
                       err);
}

static const struct lks_listing_column access_columns[] = {
    LKS_LEFT("identity", "identity"), LKS_LEFT("role", "role"),
    LKS_LEFT("site", "site"),         LKS_LEFT("pool", "pool"),
    LKS_LEFT("token", "id"),          LKS_LEFT("certificate", "serial"),
    LKS_LEFT("minter", "minter"),     LKS_LEFT("issuer", "issuer"),
    LKS_LEFT("roles", "roles"),       LKS_LEFT("expires", "expires"),
};

static const struct lks_listing access_lists = {
    .path = "/v1/access",
    LKS_COLUMNS(access_columns),
    .members = LKS_WORDS("bindings", "tokens", "certificates")};

enum lks_code lks_cmd_access_ls(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    return lks_listing_print(cli, args, &access_lists, err);
}

/* whoami ------------------------------------------------------------------------------------ */

static const struct lks_listing_fact me[] = {
    {"identity", "{identity}", NULL},
    {"role", "{role}[ in site {site}[, pool {pool}]| in pool {pool}]", "bindings"},
};

enum lks_code lks_cmd_whoami(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_get(cli, args, "/v1/whoami", NULL, &q, err) != LKS_OK)
        return err->code;
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, &q.answer, err);
    lks_context_show(cli);
    return lks_listing_facts(cli, me, LKS_COUNT(me), q.answer.doc, err);
}
