/* Becoming a node of the fleet: a token that is good once, a key that never leaves this machine. */
#include "agent/loop/agent.h"
#include "base/file.h"
#include "codec/format/json.h"
#include "trust/token.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PROTOCOL_HEADER "Lockstep-Protocol: 1\r\n"

static void wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->len);
    lks_buf_fini(b);
}

/* A token for several nodes becomes that of this one, by the name it has or is to have. */
static enum lks_code take_share(const struct lks_agent *a, struct lks_buf *text,
                                struct lks_token *token, struct lks_err *err)
{
    char host[HOST_NAME_MAX + 1] = "", own[LKS_TOKEN_TEXT_MAX];
    const char *name = a->options->node;
    if (name == NULL && gethostname(host, sizeof(host) - 1) == 0)
        name = host;
    enum lks_code code = lks_token_of_node(token, lks_str_from(name != NULL ? name : ""), own, err);
    if (code != LKS_OK)
        return lks_wrap(err, "the name of this machine; give another with --node NAME");
    lks_buf_truncate(text, 0);
    lks_buf_add(text, lks_str_from(own));
    explicit_bzero(own, sizeof(own));
    if (lks_buf_check(text, err) != LKS_OK)
        return err->code;
    return lks_token_parse(lks_buf_view(text), token, err);
}

static enum lks_code read_token(const struct lks_agent *a, struct lks_buf *text,
                                struct lks_token *token, struct lks_err *err)
{
    struct lks_str line, rest;
    lks_buf_init(text, LKS_TOKEN_TEXT_MAX + 2);
    if (lks_file_read_plain(a->options->token_file, text, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(text), '\n', &line, &rest);
    if (lks_token_parse(lks_str_trim(line), token, err) != LKS_OK)
        return lks_wrap(err, "%s", a->options->token_file);
    if (token->kind == LKS_TOKEN_NODES && take_share(a, text, token, err) != LKS_OK)
        return err->code;
    if (token->kind != LKS_TOKEN_NODE)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: not a token for a node; lockstep node enroll NAME gives one",
                        a->options->token_file);
    if (a->options->node != NULL && !lks_str_is(token->id, a->options->node))
        return lks_fail(err, LKS_E_REFUSED, "--node %s: the token in %s is for node %" LKS_STR_FMT,
                        a->options->node, a->options->token_file, LKS_STR_ARG(token->id));
    return LKS_OK;
}

/* The body of the question: the token's text, and the request. */
static enum lks_code make_body(const struct lks_agent *a, const struct lks_buf *file,
                               const struct lks_token *token, struct lks_buf *body,
                               struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_str line, rest;
    if (lks_identity_first_key(&a->dir, &key, err) != LKS_OK ||
        lks_x509_request(lks_buf_view(&key), token->id, &request, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(file), '\n', &line, &rest);
    struct lks_json_writer w = {.out = body};
    lks_buf_init(body, LKS_X509_PEM_MAX * 2);
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "request", lks_buf_view(&request));
    lks_json_text(&w, "token", lks_str_trim(line));
    lks_json_end(&w, '}');
    return lks_buf_check(body, err);
}

/* A certificate that is not valid yet is mostly a clock that is wrong. */
static enum lks_code explain_denied(const struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_x509_about about = {0};
    struct lks_err ignored = {0};
    char day[LKS_DAY_TEXT_SIZE];
    int64_t now = lks_agent_wall() / 1000;
    bool read = lks_file_read_plain(a->options->ca, &pem, &ignored) == LKS_OK &&
                lks_x509_read(lks_buf_view(&pem), &about, &ignored) == LKS_OK;
    if ((read && (now < about.not_before || now > about.not_after)) ||
        strstr(err->msg, "not yet valid") != NULL)
        return lks_wrap(err,
                        "the certificates are not valid at the time of this machine's clock, "
                        "%s; set the clock",
                        lks_time_day_text(lks_time_day_of(now), day));
    return lks_wrap(err, "cannot trust %s with --ca %s", a->options->controller, a->options->ca);
}

static enum lks_code ask(const struct lks_agent *a, struct lks_str body,
                         struct lks_http_answer *answer, struct lks_err *err)
{
    const struct lks_client_options options = {.server = a->options->controller,
                                               .ca = a->options->ca,
                                               .timeout_ms = LKS_AGENT_EXCHANGE_MS,
                                               .body_max = LKS_ANSWER_MAX};
    struct lks_client *client = NULL;
    if (lks_client_new(&options, &client, err) != LKS_OK)
        return err->code;
    lks_agent_exchange_mortal(true);
    enum lks_code code = lks_client_exchange(client, "POST", "/v1/enroll", "application/json", body,
                                             PROTOCOL_HEADER, answer, err);
    lks_agent_exchange_mortal(false);
    lks_client_free(client);
    return code == LKS_E_DENIED ? explain_denied(a, err) : code;
}

static enum lks_code judge(const struct lks_agent *a, const struct lks_http_answer *answer,
                           struct lks_err *err)
{
    char detail[LKS_ANSWER_DETAIL_SIZE];
    if (answer->status / 100 == 2)
        return LKS_OK;
    lks_answer_problem(lks_buf_view(&answer->body), detail);
    if (answer->status == 429 || answer->status >= 500)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s answers %d %s", a->options->controller,
                        answer->status, detail);
    if (answer->status == 401 || answer->status == 403 || answer->status == 404 ||
        answer->status == 409)
        return lks_fail(err, LKS_E_DENIED,
                        "%s refuses the token (%d %s); get a new one with lockstep node enroll",
                        a->options->controller, answer->status, detail);
    return lks_fail(err, LKS_E_INVALID, "%s answers %d %s; is it lockstepd's address for people?",
                    a->options->controller, answer->status, detail);
}

/* What came is checked before anything of it is kept. */
static enum lks_code check(const struct lks_agent *a, const struct lks_token *token,
                           const struct lks_controller *c, const struct lks_buf *certificate,
                           struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf key = {0};
    struct lks_x509_about about = {0};
    if (lks_identity_first_key(&a->dir, &key, err) != LKS_OK ||
        lks_x509_read(lks_buf_view(certificate), &about, err) != LKS_OK)
        return err->code;
    if (!lks_str_is(token->id, c->node) || strcmp(about.name, c->node) != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "the controller certified '%s' where the token is for '%" LKS_STR_FMT "'",
                        about.name, LKS_STR_ARG(token->id));
    if (!lks_x509_key_fits(lks_buf_view(certificate), lks_buf_view(&key)))
        return lks_fail(err, LKS_E_INVALID, "the controller certified another key than ours");
    return LKS_OK;
}

enum lks_code lks_agent_enroll_keep(const struct lks_agent *a, const struct lks_controller *c,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_ANSWER_MAX);
    lks_answer_controller_json(c, &json);
    if (lks_buf_check(&json, err) != LKS_OK)
        return err->code;
    return lks_statedir_write(&a->dir, LKS_AGENT_CONTROLLER_FILE, lks_buf_view(&json), err);
}

/* controller.json comes last: with it the node is enrolled. */
static enum lks_code keep(struct lks_agent *a, const struct lks_controller *c,
                          const struct lks_buf *certificate, const struct lks_buf *ca,
                          struct lks_err *err)
{
    if (lks_statedir_write(&a->dir, LKS_IDENTITY_CERTIFICATE, lks_buf_view(certificate), err) !=
            LKS_OK ||
        lks_statedir_write(&a->dir, LKS_IDENTITY_CA, lks_buf_view(ca), err) != LKS_OK ||
        lks_agent_enroll_keep(a, c, err) != LKS_OK)
        return err->code;
    a->controller = *c;
    return LKS_OK;
}

enum lks_code lks_agent_enroll(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf file = {0};
    LKS_CLEANUP(wipe) struct lks_buf body = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_token token = {0};
    struct lks_controller controller = {0};
    if (read_token(a, &file, &token, err) != LKS_OK ||
        make_body(a, &file, &token, &body, err) != LKS_OK ||
        ask(a, lks_buf_view(&body), &answer, err) != LKS_OK || judge(a, &answer, err) != LKS_OK ||
        lks_answer_enroll(lks_buf_view(&answer.body), &controller, &certificate, &ca, err) !=
            LKS_OK ||
        check(a, &token, &controller, &certificate, err) != LKS_OK)
        return err->code;
    return keep(a, &controller, &certificate, &ca, err);
}
