/* login: a token for a person whom the site's OpenID provider knows. */
#include "base/file.h"
#include "cli/control/login.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"

#include <time.h>
#include <unistd.h>

enum { SLOWER_S = 5 }; /* as RFC 8628 has it, where it is asked too often */

struct login {
    struct lks_cli *cli;
    struct lks_login_place place; /* that the token goes to */
    struct lks_remote remote;
    struct lks_remote_answer begun; /* owns the next */
    struct lks_str code;
    uint64_t interval, left; /* seconds */
};

static void login_fini(struct login *l)
{
    lks_remote_fini(&l->remote);
    lks_remote_answer_fini(&l->begun);
}

static uint64_t number_of(const struct lks_doc *doc, const char *key)
{
    const struct lks_doc *said = lks_doc_member(doc, key);
    return said != NULL && said->kind == LKS_DOC_NUMBER && said->number > 0 ? (uint64_t)said->number
                                                                            : 1;
}

/* One line for a terminal or a file, whatever answered in the place of lockstepd. */
static enum lks_code take_line(const struct lks_doc *doc, const char *key, bool wanted,
                               struct lks_str *out, struct lks_err *err)
{
    *out = lks_doc_text(doc, key);
    if ((out->len == 0 && wanted) || !lks_str_printable(*out))
        return lks_fail(err, LKS_E_INVALID,
                        "the answer has no usable '%s'; is that lockstepd at --server?", key);
    return LKS_OK;
}

/* Where the token goes is known to be writable before anybody types a code. */
static enum lks_code find_file(struct login *l, const struct lks_args *args, struct lks_err *err)
{
    if (lks_login_place_find(l->cli, args, "login", &l->place, err) != LKS_OK)
        return err->code;
    return lks_file_replaceable(l->place.file, err);
}

static enum lks_code begin(struct login *l, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, "/v1/login/device");
    if (lks_remote_call(&l->remote, "POST", &path, NULL, LKS_STR(""), &l->begun, err) != LKS_OK)
        return err->code;
    const struct lks_doc *doc = l->begun.doc;
    struct lks_str uri, code, complete;
    if (take_line(doc, "uri", true, &uri, err) != LKS_OK ||
        take_line(doc, "user_code", true, &code, err) != LKS_OK ||
        take_line(doc, "uri_complete", false, &complete, err) != LKS_OK ||
        take_line(doc, "code", true, &l->code, err) != LKS_OK)
        return err->code;
    l->interval = number_of(doc, "interval");
    l->left = number_of(doc, "expires_in");
    (void)fprintf(l->cli->err,
                  "open %" LKS_STR_FMT " and type %" LKS_STR_FMT "%s%" LKS_STR_FMT "\n",
                  LKS_STR_ARG(uri), LKS_STR_ARG(code), complete.len > 0 ? ", or open " : "",
                  LKS_STR_ARG(complete));
    (void)fflush(l->cli->err);
    return LKS_OK;
}

/* Ask once. A controller that is away, or a provider that is, may be back before the end. */
static enum lks_code poll(struct login *l, struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    lks_remote_question_init(&q, "POST", "/v1/login/device/poll");
    lks_json_begin(&q.w, NULL, '{');
    lks_json_text(&q.w, "code", l->code);
    lks_json_end(&q.w, '}');
    enum lks_code code = lks_remote_call(&l->remote, q.method, &q.path, "application/json",
                                         lks_buf_view(&q.json), out, err);
    if (code != LKS_OK && lks_err_code_info(code)->transient && l->left > 0)
        return LKS_OK;
    if (code == LKS_OK && lks_str_is(lks_doc_text(out->doc, "state"), "slow"))
        l->interval += SLOWER_S;
    return code;
}

static enum lks_code wait_for(struct login *l, struct lks_remote_answer *out, struct lks_err *err)
{
    while (l->left > 0) {
        uint64_t pause = l->interval < l->left ? l->interval : l->left;
        (void)nanosleep(&(struct timespec){.tv_sec = (time_t)pause}, NULL);
        l->left -= pause;
        lks_remote_answer_fini(out);
        if (poll(l, out, err) != LKS_OK)
            return err->code;
        if (lks_str_is(lks_doc_text(out->doc, "state"), "done"))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_TIMEOUT, "the login was not completed in time; start again");
}

static enum lks_code keep(const struct login *l, const struct lks_doc *done, struct lks_err *err)
{
    struct lks_str token, ignored;
    if (take_line(done, "token", true, &token, err) != LKS_OK ||
        take_line(done, "identity", true, &ignored, err) != LKS_OK ||
        take_line(done, "expires", true, &ignored, err) != LKS_OK)
        return err->code;
    return lks_login_keep_token(l->cli, &l->place, token, err);
}

/* The token is not shown: it is in the file. */
static enum lks_code show(const struct login *l, const struct lks_args *args,
                          const struct lks_doc *done, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    const struct lks_doc *roles = lks_doc_member(done, "roles");
    lks_json_text(w, "identity", lks_doc_text(done, "identity"));
    lks_json_begin(w, "roles", '[');
    for (const struct lks_doc *r = roles != NULL ? roles->first : NULL; r != NULL; r = r->next)
        lks_json_text(w, NULL, r->text);
    lks_json_end(w, ']');
    lks_json_text(w, "expires", lks_doc_text(done, "expires"));
    lks_json_cstr(w, "token_file", l->place.file);
    return lks_output_form(
        l->cli, args, &o, "{identity} is logged in until {expires}; the token is in {token_file}\n",
        err);
}

static enum lks_code log_in(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(login_fini) struct login l = {.cli = cli};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer done = {0};
    if (find_file(&l, args, err) != LKS_OK ||
        lks_remote_open_unknown(cli, args, &l.remote, err) != LKS_OK || begin(&l, err) != LKS_OK ||
        wait_for(&l, &done, err) != LKS_OK || keep(&l, done.doc, err) != LKS_OK)
        return err->code;
    return show(&l, args, done.doc, err);
}

enum lks_code lks_cmd_login(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    bool token = lks_args_has(args, "--with-token");
    bool certificate = lks_args_has(args, "--certificate") || lks_args_has(args, "--key");
    if (token && certificate)
        return lks_fail(err, LKS_E_USAGE,
                        "login: --with-token and --certificate are two ways; choose one");
    if (certificate && !(lks_args_has(args, "--certificate") && lks_args_has(args, "--key")))
        return lks_fail(err, LKS_E_USAGE, "login: --certificate and --key go together");
    return token         ? lks_login_with_token(cli, args, err)
           : certificate ? lks_login_with_certificate(cli, args, err)
                         : log_in(cli, args, err);
}
