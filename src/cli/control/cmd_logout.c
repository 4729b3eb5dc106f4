/* logout: end a login, and remove what 'login' stored. */
#include "base/file.h"
#include "cli/control/config_file.h"
#include "cli/control/login.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "core/rows/credential.h"
#include "trust/token.h"

#include <unistd.h>

static enum lks_code removed(struct lks_cli *cli, const struct lks_args *args, const char *file,
                             const char *form, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_cstr(lks_output_begin(&o), "removed", file);
    return lks_output_form(cli, args, &o, form, err);
}

static enum lks_code leave_certificate(struct lks_cli *cli, const struct lks_args *args,
                                       struct lks_err *err)
{
    const char *file = cli->certificate_file;
    if (lks_config_file_credential(cli, lks_str_from(cli->context.name), LKS_STR(""), LKS_STR(""),
                                   err) != LKS_OK)
        return err->code;
    if (unlink(file) != 0)
        return lks_file_fail(err, file);
    return removed(
        cli, args, file,
        "logged out; {removed} is gone. The certificate is valid until its end; 'lockstep "
        "access revoke SERIAL --certificate' revokes it\n",
        err);
}

/* Whether a token is that of a login, which ends with it. */
static bool is_login(struct lks_str text)
{
    struct lks_token token;
    struct lks_err ignored = {0};
    return lks_token_parse(text, &token, &ignored) == LKS_OK &&
           lks_str_starts(token.id, LKS_LOGIN_ID);
}

/* The file goes when the login is over, and stays when that could not be said to lockstepd. An API
 * token outlives its file. */
static enum lks_code leave_token(struct lks_cli *cli, const struct lks_args *args, const char *file,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf token = {0};
    if (lks_remote_token(file, &token, err) != LKS_OK)
        return err->code;
    bool login = is_login(lks_buf_view(&token));
    explicit_bzero(token.ptr, token.len);
    if (login && lks_ask_send(cli, args, &(struct lks_ask){.method = "POST", .path = "/v1/logout"},
                              &q, err) != LKS_OK)
        return err->code;
    if (unlink(file) != 0)
        return lks_file_fail(err, file);
    if (login)
        return lks_listing_done(cli, args, &q.answer, err, "logged out; %s is gone", file);
    return removed(cli, args, file,
                   "logged out; {removed} is gone. The token is valid until its end; 'lockstep "
                   "access revoke TOKEN-ID --token' revokes it\n",
                   err);
}

enum lks_code lks_cmd_logout(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    struct lks_login_place place = {0};
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    if (!lks_args_has(args, "--token-file") && cli->token_file == NULL &&
        cli->certificate_file != NULL)
        return leave_certificate(cli, args, err);
    if (lks_login_place_find(cli, args, "logout", &place, err) != LKS_OK)
        return err->code;
    return leave_token(cli, args, place.file, err);
}
