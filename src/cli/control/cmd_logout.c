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

#define TOKEN_LASTS                                                                                \
    "The token is valid until its end; 'lockstep access revoke TOKEN-ID --token' revokes it\n"

/* Remove `file` if 'login' wrote it. */
static enum lks_code drop(const struct lks_cli *cli, const char *end, const char *file, bool *ours,
                          struct lks_err *err)
{
    *ours = lks_login_is_ours(cli, end, file);
    return *ours && unlink(file) != 0 ? lks_file_fail(err, file) : LKS_OK;
}

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args, const char *file,
                          bool ours, const char *form, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    lks_json_cstr(lks_output_begin(&o), ours ? "removed" : "kept", file);
    return lks_output_form(cli, args, &o, form, err);
}

static enum lks_code drop_setting(const struct lks_cli *cli, struct lks_err *err)
{
    return lks_config_file_credential(cli, lks_str_from(cli->context.name), LKS_STR(""),
                                      LKS_STR(""), err);
}

static enum lks_code leave_certificate(struct lks_cli *cli, const struct lks_args *args,
                                       struct lks_err *err)
{
    const char *file = cli->certificate_file;
    bool ours = false;
    if (drop_setting(cli, err) != LKS_OK || drop(cli, "pem", file, &ours, err) != LKS_OK)
        return err->code;
    return tell(cli, args, file, ours,
                "logged out; [{removed} is gone|{kept} stays, and the context does not use it any "
                "more]. The certificate is valid until its end; 'lockstep access revoke SERIAL "
                "--certificate' revokes it\n",
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

/* An API token outlives the command. A file that the context does not name has no setting. */
static enum lks_code leave_api_token(struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_login_place *place, struct lks_err *err)
{
    bool ours = false;
    if (!place->in_context)
        return lks_fail(err, LKS_E_REFUSED,
                        "logout: %.200s has an API token, and no context uses it: nothing ends; "
                        "'lockstep access revoke TOKEN-ID --token' revokes it",
                        place->file);
    if (drop(cli, "token", place->file, &ours, err) != LKS_OK ||
        (!ours && drop_setting(cli, err) != LKS_OK))
        return err->code;
    return tell(cli, args, place->file, ours,
                "logged out; [{removed} is gone|{kept} stays, and the context does not use it any "
                "more]. " TOKEN_LASTS,
                err);
}

/* The file goes when the login is over, and stays when that could not be said to lockstepd. */
static enum lks_code leave_token(struct lks_cli *cli, const struct lks_args *args,
                                 const struct lks_login_place *place, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf token = {0};
    bool ours = false;
    if (lks_remote_token(place->file, &token, err) != LKS_OK)
        return err->code;
    bool login = is_login(lks_buf_view(&token));
    explicit_bzero(token.ptr, token.len);
    if (!login)
        return leave_api_token(cli, args, place, err);
    if (lks_ask_send(cli, args, &(struct lks_ask){.method = "POST", .path = "/v1/logout"}, &q,
                     err) != LKS_OK ||
        drop(cli, "token", place->file, &ours, err) != LKS_OK ||
        (!ours && place->in_context && drop_setting(cli, err) != LKS_OK))
        return err->code;
    return lks_listing_done(cli, args, &q.answer, err,
                            ours ? "logged out; %s is gone"
                                 : "logged out; %s stays, and its token is not valid any more",
                            place->file);
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
    return leave_token(cli, args, &place, err);
}
