/* Who may do what, and the credentials of people. */
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "model/record/record.h"

static const char *const binding_options[] = {"--site", "--pool", NULL};

enum { WHERE_MAX = 256 };

/* " in site a, pool b", and nothing of a role that holds everywhere. */
static const char *where(const struct lks_args *args, char out[static WHERE_MAX])
{
    const char *site = lks_args_get(args, "--site"), *pool = lks_args_get(args, "--pool");
    snprintf(out, WHERE_MAX, "%s%s%s%s", site != NULL ? " in site " : "", site != NULL ? site : "",
             pool == NULL   ? ""
             : site != NULL ? ", pool "
                            : " in pool ",
             pool != NULL ? pool : "");
    return out;
}

enum lks_code lks_cmd_access_grant(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char place[WHERE_MAX];
    if (strcmp(args->positional[1], lks_role_words[LKS_ROLE_AGENT]) == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "access grant: agent is the role of an enrolled node, and of "
                        "nothing else; people are viewer, operator, approver or admin");
    lks_remote_question_init(&q, "POST", "/v1/access");
    lks_json_begin(&q.w, NULL, '{');
    lks_json_cstr(&q.w, "identity", args->positional[0]);
    lks_json_cstr(&q.w, "role", args->positional[1]);
    for (size_t i = 0; binding_options[i] != NULL; i++)
        lks_json_some(&q.w, binding_options[i] + 2, lks_args_str(args, binding_options[i]));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_listing_done(cli, args, &q.answer, err, "%s: %s%s", args->positional[0],
                            args->positional[1], where(args, place));
}

enum lks_code lks_cmd_access_revoke(struct lks_cli *cli, const struct lks_args *args,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char place[WHERE_MAX];
    bool token = lks_args_has(args, "--token"), certificate = lks_args_has(args, "--certificate");
    if ((token && certificate) || (token || certificate) == (args->positional_count == 2))
        return lks_fail(err, LKS_E_USAGE,
                        "access revoke: an identity and its role, or --token and the id of one, or "
                        "--certificate and the serial number of one");
    lks_remote_question_init(&q, "DELETE",
                             token         ? "/v1/tokens"
                             : certificate ? "/v1/certificates"
                                           : "/v1/access");
    if (token || certificate) {
        lks_remote_path_add(&q.path, lks_str_from(args->positional[0]));
    } else {
        lks_remote_path_query(&q.path, "identity", lks_str_from(args->positional[0]));
        lks_remote_path_query(&q.path, "role", lks_str_from(args->positional[1]));
    }
    lks_remote_path_options(&q.path, args, binding_options);
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    if (token || certificate)
        return lks_listing_done(cli, args, &q.answer, err, "%s: revoked", args->positional[0]);
    return lks_listing_done(cli, args, &q.answer, err, "%s: %s%s is revoked", args->positional[0],
                            args->positional[1], where(args, place));
}

enum lks_code lks_cmd_access_token(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    lks_remote_question_init(&q, "POST", "/v1/tokens");
    lks_json_begin(&q.w, NULL, '{');
    lks_json_cstr(&q.w, "id", args->positional[0]);
    lks_json_cstr(&q.w, "identity", args->positional[1]);
    return lks_listing_token(cli, args, &q, err);
}

enum lks_code lks_cmd_access_renew(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_remote_question_plain(cli, args, "POST", "/v1/tokens/renew", &q, err) != LKS_OK)
        return err->code;
    struct lks_str id = lks_doc_text(q.answer.doc, "id"),
                   end = lks_doc_text(q.answer.doc, "expires");
    return lks_listing_done(cli, args, &q.answer, err,
                            "token %" LKS_STR_FMT " is good until %" LKS_STR_FMT, LKS_STR_ARG(id),
                            LKS_STR_ARG(end));
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
