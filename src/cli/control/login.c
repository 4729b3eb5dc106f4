#include "cli/control/login.h"

#include "base/file.h"
#include "cli/control/config_file.h"
#include "cli/shared/commands.h"
#include "cli/shared/input.h"
#include "cli/shared/output.h"
#include "cli/shared/path.h"
#include "cli/shared/remote.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { TOKEN_MAX = 4096 };

/* Places ------------------------------------------------------------------------------------ */

/* NAME.END beside the contexts. */
static enum lks_code beside_contexts(const struct lks_cli *cli, const char *end, char out[PATH_MAX],
                                     struct lks_err *err)
{
    char name[sizeof(cli->context.name) + 16], folder[PATH_MAX];
    (void)snprintf(name, sizeof(name), "%s.%s", cli->context.name, end);
    if (lks_path_config(cli, "", folder, err) != LKS_OK || lks_path_make(folder, err) != LKS_OK)
        return err->code;
    return lks_path_config(cli, name, out, err);
}

bool lks_login_is_ours(const struct lks_cli *cli, const char *end, const char *file)
{
    char ours[PATH_MAX];
    struct lks_err ignored = {0};
    return cli->context.name[0] != '\0' && beside_contexts(cli, end, ours, &ignored) == LKS_OK &&
           strcmp(ours, file) == 0;
}

enum lks_code lks_login_place_find(struct lks_cli *cli, const struct lks_args *args,
                                   const char *command, struct lks_login_place *out,
                                   struct lks_err *err)
{
    const char *given = lks_args_get(args, "--token-file");
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    out->in_context = given == NULL && cli->context.name[0] != '\0';
    given = given != NULL ? given : cli->token_file;
    if (given == NULL && out->in_context)
        return beside_contexts(cli, "token", out->file, err);
    if (given == NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "%s: there is no context for the token; run 'lockstep config set NAME "
                        "--server ADDRESS' first, or give --token-file or $LOCKSTEP_TOKEN_FILE",
                        command);
    if (strlen(given) >= sizeof(out->file))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", given);
    (void)snprintf(out->file, sizeof(out->file), "%s", given);
    return LKS_OK;
}

enum lks_code lks_login_keep_token(struct lks_cli *cli, const struct lks_login_place *place,
                                   struct lks_str token, struct lks_err *err)
{
    LKS_CLEANUP(lks_input_wipe) struct lks_buf line = LKS_BUF(TOKEN_MAX + 1);
    lks_buf_add(&line, token);
    lks_buf_addc(&line, '\n');
    if (lks_buf_check(&line, err) != LKS_OK ||
        lks_file_replace(place->file, lks_buf_view(&line), err) != LKS_OK)
        return err->code;
    if (!place->in_context || (cli->token_file != NULL && cli->certificate_file == NULL))
        return LKS_OK;
    return lks_config_file_credential(cli, lks_str_from(cli->context.name),
                                      lks_str_from(place->file), LKS_STR(""), err);
}

/* A credential that the user has ------------------------------------------------------------- */

/* Ask lockstepd who shows it. `by` are the ways in which it should have been recognised. */
static enum lks_code verify(struct lks_remote *remote, const char *by, const char *other,
                            struct lks_remote_answer *out, struct lks_err *err)
{
    if (lks_remote_get(remote, "/v1/whoami", out, err) != LKS_OK)
        return lks_wrap(err, "nothing was stored");
    if (lks_remote_object(out, err) != LKS_OK)
        return err->code;
    struct lks_str how = lks_doc_text(out->doc, "by");
    if (how.len == 0 || lks_str_is(how, by) || lks_str_is(how, other))
        return LKS_OK; /* an earlier lockstepd does not say how */
    return lks_fail(err, LKS_E_INVALID,
                    "nothing was stored: lockstepd recognised you by the %" LKS_STR_FMT
                    ", not by the %s",
                    LKS_STR_ARG(how), by);
}

static enum lks_code show(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_remote_answer *me, const char *key, const char *file,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_text(w, "identity", lks_doc_text(me->doc, "identity"));
    lks_json_some(w, "expires", lks_doc_text(me->doc, "expires"));
    lks_json_cstr(w, key, file);
    return lks_output_form(cli, args, &o,
                           "{identity} is logged in[ until {expires}]; the [token is in "
                           "{token_file}|certificate and its key are in {certificate_file}]\n",
                           err);
}

/* SIGTERM and SIGHUP end the wait for a line, and the program once the terminal is as before. */
static volatile sig_atomic_t ended_by;

static void note_end(int number)
{
    ended_by = number;
}

/* The signals wait from before the echo ends until it is back, but for the time in which a line is
 * waited for: none is missed between a look and the wait. */
static const int ends[] = {SIGTERM, SIGHUP};
struct ends {
    sigset_t mask; /* of before */
    struct sigaction actions[LKS_COUNT(ends)];
};

static void take_ends(struct ends *old)
{
    const struct sigaction noted = {.sa_handler = note_end};
    sigset_t blocked;
    ended_by = 0;
    sigemptyset(&blocked);
    for (size_t i = 0; i < LKS_COUNT(ends); i++)
        sigaddset(&blocked, ends[i]);
    (void)sigprocmask(SIG_BLOCK, &blocked, &old->mask);
    for (size_t i = 0; i < LKS_COUNT(ends); i++)
        (void)sigaction(ends[i], &noted, &old->actions[i]);
}

static void give_back_ends(const struct ends *old)
{
    for (size_t i = 0; i < LKS_COUNT(ends); i++)
        (void)sigaction(ends[i], &old->actions[i], NULL);
    (void)sigprocmask(SIG_SETMASK, &old->mask, NULL);
    if (ended_by != 0)
        (void)raise(ended_by);
}

/* Less than 0: there is no line. */
static ssize_t read_line(const struct lks_cli *cli, const struct ends *old, char *line, size_t size)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    (void)fprintf(cli->err, "API token: "); /* from here on nothing that is typed is lost */
    (void)fflush(cli->err);
    return ppoll(&input, 1, NULL, &old->mask) > 0 ? read(STDIN_FILENO, line, size) : -1;
}

/* Read a line from the terminal that is not shown. An interrupt is a character of it, which no
 * token has: the terminal is as before when the command ends. */
static enum lks_code prompt(const struct lks_cli *cli, struct lks_buf *out, struct lks_err *err)
{
    struct termios before, quiet;
    struct ends old;
    char line[TOKEN_MAX];
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return lks_file_fail(err, "the terminal");
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
    take_ends(&old);
    enum lks_code code = tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0
                             ? LKS_OK
                             : lks_file_fail(err, "the terminal");
    ssize_t len = code == LKS_OK ? read_line(cli, &old, line, sizeof(line)) : -1;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    give_back_ends(&old);
    if (code != LKS_OK)
        return code;
    (void)fprintf(cli->err, "\n");
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == ' '))
        len--;
    lks_buf_add(out, (struct lks_str){line, len > 0 ? (size_t)len : 0});
    explicit_bzero(line, sizeof(line));
    if (out->len == 0 || !lks_str_printable(lks_buf_view(out)))
        return lks_fail(err, LKS_E_INVALID, "no token was typed; nothing was stored");
    return lks_buf_check(out, err);
}

static enum lks_code read_token(const struct lks_cli *cli, const char *from, struct lks_buf *out,
                                struct lks_err *err)
{
    if (strcmp(from, "-") != 0 || isatty(STDIN_FILENO) == 0)
        return lks_remote_token(from, out, err);
    lks_buf_init(out, TOKEN_MAX);
    return prompt(cli, out, err);
}

static enum lks_code with_token(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_buf *token, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer me = {0};
    struct lks_login_place place = {0};
    if (lks_login_place_find(cli, args, "login", &place, err) != LKS_OK ||
        lks_file_replaceable(place.file, err) != LKS_OK ||
        read_token(cli, lks_args_get(args, "--with-token"), token, err) != LKS_OK ||
        lks_remote_open_as(cli, args, token->ptr, NULL, &remote, err) != LKS_OK ||
        verify(&remote, "token", "login", &me, err) != LKS_OK ||
        lks_login_keep_token(cli, &place, lks_buf_view(token), err) != LKS_OK)
        return err->code;
    return show(cli, args, &me, "token_file", place.file, err);
}

enum lks_code lks_login_with_token(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    struct lks_buf token = {0};
    enum lks_code code = with_token(cli, args, &token, err);
    lks_input_wipe(&token);
    return code;
}

/* Both in one file, so that they are replaced together. */
static enum lks_code read_pair(const char *certificate, const char *key, struct lks_buf *out,
                               struct lks_err *err)
{
    lks_buf_init(out, LKS_X509_PEM_MAX * 2);
    if (strcmp(certificate, key) != 0) {
        if (lks_file_read_plain(certificate, out, err) != LKS_OK)
            return err->code;
        lks_buf_addc(out, '\n');
    }
    return lks_input_private(key, "key", true, out, err);
}

static enum lks_code with_certificate(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_buf *pair, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer me = {0};
    const char *certificate = lks_args_get(args, "--certificate"),
               *key = lks_args_get(args, "--key");
    char file[PATH_MAX];
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    if (cli->context.name[0] == '\0')
        return lks_fail(err, LKS_E_USAGE,
                        "login: a certificate is kept in a context; make one: lockstep config set "
                        "NAME --server https://HOST:PORT --ca FILE");
    if (strncmp(cli->server, "https://", strlen("https://")) != 0)
        return lks_fail(err, LKS_E_USAGE,
                        "login: %s takes no certificate; a context with https://HOST:PORT does",
                        cli->server);
    if (beside_contexts(cli, "pem", file, err) != LKS_OK ||
        lks_file_replaceable(file, err) != LKS_OK ||
        read_pair(certificate, key, pair, err) != LKS_OK)
        return err->code;
    if (lks_remote_open_as(cli, args, NULL, pair->ptr, &remote, err) != LKS_OK)
        return lks_wrap(err, "%.200s, %.200s", certificate, key);
    if (verify(&remote, "certificate", "certificate", &me, err) != LKS_OK ||
        lks_file_replace(file, lks_buf_view(pair), err) != LKS_OK ||
        lks_config_file_credential(cli, lks_str_from(cli->context.name), LKS_STR(""),
                                   lks_str_from(file), err) != LKS_OK)
        return err->code;
    return show(cli, args, &me, "certificate_file", file, err);
}

enum lks_code lks_login_with_certificate(struct lks_cli *cli, const struct lks_args *args,
                                         struct lks_err *err)
{
    struct lks_buf pair = {0};
    enum lks_code code = with_certificate(cli, args, &pair, err);
    lks_input_wipe(&pair);
    return code;
}
