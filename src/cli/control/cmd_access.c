/* Who may do what, and the credentials of people. */
#include "base/file.h"
#include "base/near.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/render.h"
#include "model/record/record.h"
#include "trust/x509.h"

#include <limits.h>
#include <unistd.h>

/* Roles of people come before that of agents. */
static enum lks_code check_role(const struct lks_cli *cli, const char *role, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(lks_str_from(role));
    for (size_t i = 0; i < LKS_ROLE_AGENT; i++) {
        if (strcmp(role, lks_role_words[i]) == 0)
            return LKS_OK;
        lks_near_try(&near, lks_str_from(lks_role_words[i]));
    }
    bool asks = lks_near_hint(&near, hint)[0] != '\0';
    return lks_fail(err, LKS_E_INVALID,
                    "%s: there is no role '%s'%s roles of people are viewer, operator, approver "
                    "and admin",
                    cli->command->name, role, asks ? hint : ";");
}

enum lks_code lks_cmd_access_grant(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    if (strcmp(args->positional[1], lks_role_words[LKS_ROLE_AGENT]) == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "access grant: agent is the role of an enrolled node, and of "
                        "nothing else; people are viewer, operator, approver or admin");
    return check_role(cli, args->positional[1], err) == LKS_OK ? lks_ask_cmd(cli, args, err)
                                                               : err->code;
}

/* A slip in the name makes a token that nothing is permitted to. Standard output is the token. */
enum lks_code lks_cmd_access_token(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    const struct lks_ask *ask = lks_ask_of(cli->command->name);
    if (lks_ask_send(cli, args, ask, &q, err) != LKS_OK ||
        lks_ask_done(cli, args, &q.answer, ask->done, err) != LKS_OK)
        return err->code;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf note = LKS_BUF(LKS_OUTPUT_BYTES_MAX);
    lks_render(&note,
               "[{unknown?}{2} has no role yet[; did you mean '{nearest}'?]; grant one with "
               "'lockstep access grant {2} ROLE', or end the token with 'lockstep access revoke "
               "--token {1}']",
               &(struct lks_render){.doc = q.answer.doc, .args = args});
    if (note.len > 0)
        fprintf(cli->err, "lockstep: %" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&note)));
    return LKS_OK;
}

/* By what the argument is. */
static const struct lks_ask revoke_binding = {
    .method = "DELETE",
    .path = "/v1/access",
    .members = LKS_ASK_MEMBERS(LKS_ASK_OPTION("identity", "1"), LKS_ASK_OPTION("role", "2"),
                               LKS_ASK_OPTION("site", "--site"), LKS_ASK_OPTION("pool", "--pool"),
                               LKS_ASK_REASON_MAY),
    .done = "{1}: {2}" LKS_ASK_WHERE " is revoked"};
static const struct lks_ask revoke_token = {.method = "DELETE",
                                            .path = "/v1/tokens/{1}",
                                            .members = LKS_ASK_MEMBERS(LKS_ASK_REASON_MAY),
                                            .done = "{1}: revoked"};
static const struct lks_ask revoke_certificate = {.method = "DELETE",
                                                  .path = "/v1/certificates/{1}",
                                                  .members = LKS_ASK_MEMBERS(LKS_ASK_REASON_MAY),
                                                  .done = "{1}: revoked"};

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
    if (args->positional_count == 2 && check_role(cli, args->positional[1], err) != LKS_OK)
        return err->code;
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
    {"authenticated",
     "[{by=socket}as a user of the controller's machine, by its Unix socket|{by=token}by API token "
     "{credential}|{by=login}by a login with {issuer}, token {credential}|{by=certificate}by a "
     "client certificate[, serial {credential}]]",
     NULL},
    {"expires", "{expires}", NULL},
    {"role", "{role}[ in site {site}[, pool {pool}]| in pool {pool}]", "bindings"},
    {"context", "{context}", NULL},
    {"server", "{server}", NULL},
    {"controller", "{controller}", NULL},
};

/* Members of the answer, as they came. */
static enum lks_code put_members(struct lks_json_writer *w, const struct lks_doc *map,
                                 struct lks_err *err)
{
    for (const struct lks_doc *m = map->first; m != NULL; m = m->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(LKS_DOC_BYTES_MAX);
        char key[64];
        (void)snprintf(key, sizeof(key), "%" LKS_STR_FMT, LKS_STR_ARG(m->key));
        if (lks_json_canonical(m, &value, err) != LKS_OK)
            return err->code;
        lks_json_raw(w, key, lks_buf_view(&value));
    }
    return LKS_OK;
}

static enum lks_code show_me(struct lks_cli *cli, const struct lks_args *args,
                             const struct lks_doc *doc, struct lks_err *err)
{
    (void)args;
    return lks_listing_facts(cli, me, LKS_COUNT(me), doc, err);
}

enum lks_code lks_cmd_whoami(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    if (lks_ask_get(cli, args, "/v1/whoami", NULL, &q, err) != LKS_OK)
        return err->code;
    struct lks_json_writer *w = lks_output_begin(&o);
    if (put_members(w, q.answer.doc, err) != LKS_OK)
        return err->code;
    lks_json_some(w, "context", lks_str_from(cli->context.name));
    lks_json_cstr(w, "server", lks_remote_server(cli, args));
    return lks_output_show(cli, args, &o, show_me, err);
}

/* Certificates of people -------------------------------------------------------------------- */

/* Both files, or none. */
static enum lks_code keep_pair(const char *path, struct lks_str key, const char *certificate_path,
                               struct lks_str certificate, struct lks_err *err)
{
    if (lks_file_new(path, 0600, key, err) != LKS_OK)
        return err->code;
    if (lks_file_new(certificate_path, 0644, certificate, err) == LKS_OK)
        return LKS_OK;
    (void)unlink(path);
    return err->code;
}

static enum lks_code certify(struct lks_cli *cli, const struct lks_args *args, struct lks_str key,
                             struct lks_question *q, struct lks_err *err)
{
    static const struct lks_ask_member members[] = {LKS_ASK_OPTION("name", "1"),
                                                    {"ttl_seconds", "--ttl", LKS_ASK_SPAN, 0, NULL},
                                                    LKS_ASK_REASON_MAY,
                                                    LKS_ASK_END};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    if (lks_x509_request(key, lks_str_from(args->positional[0]), &request, err) != LKS_OK)
        return err->code;
    lks_remote_question_init(q, "POST", "/v1/certificates");
    lks_json_begin(&q->w, NULL, '{');
    lks_json_text(&q->w, "request", lks_buf_view(&request));
    if (lks_ask_write(cli, args, members, &q->w, err) != LKS_OK)
        return err->code;
    lks_json_end(&q->w, '}');
    return lks_remote_question_ask(cli, args, q, err);
}

static enum lks_code certificate(struct lks_cli *cli, const struct lks_args *args, const char *path,
                                 struct lks_buf *key, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    char certificate_path[PATH_MAX];
    int len = snprintf(certificate_path, sizeof(certificate_path), "%s.crt", path);
    if (len < 0 || len >= (int)sizeof(certificate_path))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", path);
    if (access(path, F_OK) == 0 || access(certificate_path, F_OK) == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: is there already, it or %s.crt", path, path);
    if (lks_x509_key(key, err) != LKS_OK ||
        certify(cli, args, lks_buf_view(key), &q, err) != LKS_OK ||
        keep_pair(path, lks_buf_view(key), certificate_path,
                  lks_doc_text(q.answer.doc, "certificate"), err) != LKS_OK)
        return err->code;
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_text(w, "serial", lks_doc_text(q.answer.doc, "serial"));
    lks_json_text(w, "expires", lks_doc_text(q.answer.doc, "expires"));
    lks_json_write(w, "'key_file': '%s', 'certificate_file': '%s'", path, certificate_path);
    return lks_output_form(cli, args, &o,
                           "{certificate_file}: serial {serial}, good until {expires}; the key is "
                           "{key_file}\n",
                           err);
}

enum lks_code lks_cmd_access_certificate(struct lks_cli *cli, const struct lks_args *args,
                                         struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_X509_PEM_MAX);
    const char *path = lks_args_get(args, "--output");
    if (path == NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "access certificate: --output has to name the file for the key");
    enum lks_code code = certificate(cli, args, path, &key, err);
    if (key.ptr != NULL)
        explicit_bzero(key.ptr, key.len);
    return code;
}
