#include "cli/shared/remote.h"

#include "base/file.h"
#include "cli/shared/context.h"
#include "cli/shared/input.h"
#include "codec/format/json.h"
#include "trust/x509.h"

#include <inttypes.h>
#include <string.h>

enum {
    TOKEN_MAX = 4096,
    PATH_SHOWN = 200,
    PAGE = 1000,
    PAGES_MAX = 100000,     /* of one list: as many rows as no fleet has */
    EMPTY_MAX = 1000,       /* of these without a row, one after the other */
    QUESTION_MAX = 1 << 20, /* as much as lockstepd takes */
    PATH_BYTES = LKS_REMOTE_PATH_MAX
};

/* Who and where ----------------------------------------------------------------------------- */

static const char *given(const struct lks_args *args, const char *option, const char *fallback)
{
    const char *value = lks_args_get(args, option);
    return value != NULL ? value : fallback;
}

const char *lks_remote_server(const struct lks_cli *cli, const struct lks_args *args)
{
    return given(args, "--server", cli->server != NULL ? cli->server : LKS_REMOTE_DEFAULT);
}

static enum lks_code check_token(struct lks_str token, const char *path, struct lks_err *err)
{
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    if (token.len > 0 && memchr(token.ptr, '\n', token.len) != NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "%.*s: holds more than one line; a token is a single line", PATH_SHOWN,
                        shown);
    if (token.len == 0)
        return lks_fail(err, LKS_E_INVALID, "%.*s: is empty: it holds no token", PATH_SHOWN, shown);
    if (!lks_str_printable(token))
        return lks_fail(err, LKS_E_INVALID,
                        "%.*s: holds no token: a character in it cannot be printed", PATH_SHOWN,
                        shown);
    return LKS_OK;
}

/* The token in `path`, without the line end that an editor leaves. */
enum lks_code lks_remote_token(const char *path, struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, TOKEN_MAX);
    enum lks_code code = lks_input_private(path, "token", strcmp(path, "-") != 0, out, err);
    if (code == LKS_E_DENIED)
        return code;
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, code, "%.*s: there is no token; 'lockstep login' writes one",
                        PATH_SHOWN, path);
    if (code != LKS_OK)
        return lks_wrap(err, "the token");
    struct lks_str token = lks_buf_view(out);
    while (token.len > 0 && strchr("\r\n ", token.ptr[token.len - 1]) != NULL)
        token.len--;
    lks_buf_truncate(out, token.len);
    return check_token(token, path, err);
}

static enum lks_code fail_without_ca(const struct lks_cli *cli, const char *server,
                                     struct lks_err *err)
{
    const char *context = cli->context.name;
    if (context[0] != '\0')
        return lks_fail(err, LKS_E_USAGE,
                        "%s: context %s has no CA certificate; add the one that the server is "
                        "certified by: lockstep config set %s --ca FILE",
                        server, context, context);
    return lks_fail(err, LKS_E_USAGE,
                    "%s: --ca or $LOCKSTEP_CA has to name the certificate that it is "
                    "certified by (ca.crt of 'lockstepd init')",
                    server);
}

/* Ours: a token, or where there is none a certificate with its key, as PEM text or in one file. */
struct ours {
    const char *token, *token_file, *pair, *pair_file;
};

/* The server and the CA are those after lks_context_apply(). */
static enum lks_code open_with(struct lks_cli *cli, const struct lks_args *args,
                               const struct ours *ours, struct lks_remote *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_input_wipe) struct lks_buf token = {0}, pair = LKS_BUF(LKS_X509_PEM_MAX * 2);
    struct lks_client_options options = {
        .server = lks_remote_server(cli, args),
        .ca = given(args, "--ca", cli->ca),
        .timeout_ms = LKS_REMOTE_TIMEOUT_MS,
        .rate_min = LKS_REMOTE_RATE_MIN,
    };
    bool distant = strncmp(options.server, "https://", strlen("https://")) == 0;
    if (distant && options.ca == NULL)
        return fail_without_ca(cli, options.server, err);
    options.token = ours->token;
    if (ours->token_file != NULL) {
        if (lks_remote_token(ours->token_file, &token, err) != LKS_OK)
            return err->code;
        options.token = token.ptr;
    } else if (ours->pair_file != NULL) {
        if (lks_input_private(ours->pair_file, "key", true, &pair, err) != LKS_OK)
            return err->code;
    }
    options.certificate = options.key = pair.len > 0 ? pair.ptr : ours->pair;
    options.pem_own = ours->pair_file != NULL ? ours->pair_file : "the key";
    out->cli = cli;
    return lks_client_new(&options, &out->client, err);
}

enum lks_code lks_remote_open(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_remote *out, struct lks_err *err)
{
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    const struct ours ours = {.token_file = given(args, "--token-file", cli->token_file),
                              .pair_file = cli->certificate_file};
    return open_with(cli, args, &ours, out, err);
}

enum lks_code lks_remote_open_as(struct lks_cli *cli, const struct lks_args *args,
                                 const char *token, const char *pair, struct lks_remote *out,
                                 struct lks_err *err)
{
    const struct ours ours = {.token = token, .pair = pair};
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    return open_with(cli, args, &ours, out, err);
}

enum lks_code lks_remote_open_unknown(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_remote *out, struct lks_err *err)
{
    if (lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    return open_with(cli, args, &(struct ours){0}, out, err);
}

static const struct lks_option remote_options[] = {LKS_REMOTE_OPTIONS};

bool lks_remote_is_option(const struct lks_option *option)
{
    for (size_t i = 0; i < LKS_COUNT(remote_options); i++) {
        if (strcmp(option->usage, remote_options[i].usage) == 0 &&
            strcmp(option->about, remote_options[i].about) == 0)
            return true;
    }
    return false;
}

enum lks_code lks_remote_unused(const struct lks_args *args, struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(remote_options); i++) {
        struct lks_str name = lks_args_name(&remote_options[i]);
        if (lks_args_given(args, name))
            return lks_fail(err, LKS_E_USAGE,
                            "with a directory lockstepd is not asked; %" LKS_STR_FMT
                            " does not go with it",
                            LKS_STR_ARG(name));
    }
    return LKS_OK;
}

void lks_remote_fini(struct lks_remote *remote)
{
    lks_client_free(remote->client);
    *remote = (struct lks_remote){0};
}

/* Paths ------------------------------------------------------------------------------------- */

void lks_remote_path_init(struct lks_remote_path *p, const char *begin)
{
    *p = (struct lks_remote_path){0};
    lks_buf_init(&p->text, PATH_BYTES);
    lks_buf_add(&p->text, lks_str_from(begin));
}

void lks_remote_path_fini(struct lks_remote_path *p)
{
    lks_buf_fini(&p->text);
    *p = (struct lks_remote_path){0};
}

void lks_remote_path_add(struct lks_remote_path *p, struct lks_str part)
{
    lks_buf_addc(&p->text, '/');
    lks_http_escape(&p->text, part);
}

void lks_remote_path_query(struct lks_remote_path *p, const char *name, struct lks_str value)
{
    lks_buf_addc(&p->text, p->has_query ? '&' : '?');
    p->has_query = true;
    lks_buf_add(&p->text, lks_str_from(name));
    lks_buf_addc(&p->text, '=');
    lks_http_escape(&p->text, value);
}

void lks_remote_path_options(struct lks_remote_path *p, const struct lks_args *args,
                             const char *const *options)
{
    for (; options != NULL && *options != NULL; options++) {
        const char *value = lks_args_get(args, *options);
        char name[64];
        (void)snprintf(name, sizeof(name), "%s", *options + strlen("--"));
        for (char *c = name; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        if (value != NULL)
            lks_remote_path_query(p, name,
                                  value[0] != '\0' ? lks_str_from(value) : LKS_STR("true"));
    }
}

/* Calls ------------------------------------------------------------------------------------- */

void lks_remote_answer_fini(struct lks_remote_answer *a)
{
    lks_http_answer_fini(&a->http);
    lks_docs_fini(&a->docs);
    *a = (struct lks_remote_answer){0};
}

#define PROBLEM "urn:lockstep:problem:"

/* The code whose text the problem's type ends with, else the first with that HTTP status. Too many
 * requests (429) is no refusal of what was asked. */
static enum lks_code code_of(struct lks_str type, int status)
{
    bool later = status >= 500 || status == 429;
    enum lks_code found = later ? LKS_E_UNAVAILABLE : LKS_E_REFUSED;
    if (status == 429)
        return found;
    for (int code = LKS_CODE_COUNT - 1; code > LKS_OK; code--) {
        const struct lks_code_info *info = lks_err_code_info((enum lks_code)code);
        if (lks_str_starts(type, PROBLEM) &&
            lks_str_is((struct lks_str){type.ptr + strlen(PROBLEM), type.len - strlen(PROBLEM)},
                       info->text))
            return (enum lks_code)code;
        if (info->http == status)
            found = (enum lks_code)code;
    }
    return status == 401 ? LKS_E_DENIED : found;
}

static enum lks_code fail_with(const struct lks_remote_answer *a, struct lks_err *err)
{
    struct lks_str detail = lks_doc_text(a->doc, "detail");
    enum lks_code code = code_of(lks_doc_text(a->doc, "type"), a->http.status);
    if (detail.len == 0)
        return lks_fail(err, code, "lockstepd answered with status %d and no reason",
                        a->http.status);
    return lks_fail(err, code, "%" LKS_STR_FMT, LKS_STR_ARG(detail));
}

static bool is_of(const struct lks_http_answer *answer, const char *one, const char *other)
{
    struct lks_str type = lks_http_answer_header(answer, "content-type"), rest;
    lks_str_cut(type, ';', &type, &rest);
    return lks_str_is(type, one) || lks_str_is(type, other);
}

static bool is_json(const struct lks_http_answer *answer)
{
    return is_of(answer, "application/json", "application/problem+json");
}

/* There was no answer: why, and what a person may do about it. */
static enum lks_code fail_to_reach(struct lks_err *err)
{
    if (!lks_err_code_info(err->code)->transient)
        return err->code;
    struct lks_err why = *err;
    return lks_fail(err, why.code,
                    "%s; does lockstepd run there? --server or $LOCKSTEP_SERVER says where it is",
                    why.msg);
}

enum lks_code lks_remote_call(struct lks_remote *remote, const char *method,
                              const struct lks_remote_path *path, const char *type,
                              struct lks_str body, struct lks_remote_answer *out,
                              struct lks_err *err)
{
    return lks_remote_send(remote, method, path, type, body, "", out, err);
}

enum lks_code lks_remote_get(struct lks_remote *remote, const char *where,
                             struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_remote_path_init(&path, where);
    return lks_remote_call(remote, "GET", &path, NULL, LKS_STR(""), out, err);
}

/* `cli` is NULL for a command that asks on its own account, such as doctor. */
static void note_missed(struct lks_remote *remote, enum lks_code code)
{
    if (code == LKS_E_NOT_FOUND && remote->cli != NULL)
        remote->cli->missed = true;
}

enum lks_code lks_remote_send(struct lks_remote *remote, const char *method,
                              const struct lks_remote_path *path, const char *type,
                              struct lks_str body, const char *head, struct lks_remote_answer *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer a = {0};
    bool reads = strcmp(method, "GET") == 0;
    if (lks_buf_check(&path->text, err) != LKS_OK)
        return lks_wrap(err, "the question");
    if (lks_docs_init(&a.docs, "lockstepd", err) != LKS_OK)
        return err->code;
    if (!reads)
        lks_context_show(remote->cli);
    if (lks_client_exchange(remote->client, method, path->text.ptr, type, body, head, &a.http,
                            err) != LKS_OK)
        return fail_to_reach(err);
    if (is_json(&a.http)) {
        if (lks_json_parse(lks_buf_view(&a.http.body), &a.docs, err) != LKS_OK)
            return lks_wrap(err, "the answer");
        a.doc = a.docs.first;
    }
    if (a.http.status >= 400) {
        note_missed(remote, fail_with(&a, err));
        return err->code;
    }
    if (a.http.status >= 300)
        return lks_fail(err, LKS_E_INVALID,
                        "the answer has status %d; is it lockstepd that --server names?",
                        a.http.status);
    if (!reads && remote->cli != NULL)
        remote->cli->wrote = true;
    *out = LKS_MOVE(a);
    return LKS_OK;
}

enum lks_code lks_remote_object(const struct lks_remote_answer *answer, struct lks_err *err)
{
    if (answer->doc != NULL && answer->doc->kind == LKS_DOC_MAP)
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "the answer is no JSON object; is it lockstepd that --server names?");
}

void lks_remote_question_init(struct lks_question *q, const char *method, const char *begin)
{
    *q = (struct lks_question){.method = method};
    lks_remote_path_init(&q->path, begin);
    lks_buf_init(&q->json, QUESTION_MAX);
    q->w.out = &q->json;
}

void lks_remote_question_fini(struct lks_question *q)
{
    lks_remote_path_fini(&q->path);
    lks_buf_fini(&q->json);
    lks_remote_answer_fini(&q->answer);
    *q = (struct lks_question){0};
}

/* JSON replaces bytes that are not UTF-8, and the record would not have what was typed. */
static enum lks_code check_typed(const struct lks_args *args, struct lks_err *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        struct lks_str name = lks_args_name(args->given[i].option);
        if (!lks_str_utf8(lks_str_from(args->given[i].value), NULL))
            return lks_fail(err, LKS_E_USAGE,
                            "the value of %" LKS_STR_FMT " is not UTF-8 text; use a UTF-8 locale",
                            LKS_STR_ARG(name));
    }
    for (size_t i = 0; i < args->positional_count; i++) {
        if (!lks_str_utf8(lks_str_from(args->positional[i]), NULL))
            return lks_fail(err, LKS_E_USAGE, "argument %zu is not UTF-8 text; use a UTF-8 locale",
                            i + 1);
    }
    return LKS_OK;
}

enum lks_code lks_remote_question_ask(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_question *q, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    if (lks_buf_check(&q->json, err) != LKS_OK)
        return lks_wrap(err, "the question");
    if (check_typed(args, err) != LKS_OK || lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    lks_remote_answer_fini(&q->answer);
    if (lks_remote_call(&remote, q->method, &q->path, q->json.len > 0 ? "application/json" : NULL,
                        lks_buf_view(&q->json), &q->answer, err) != LKS_OK)
        return err->code;
    if (is_of(&q->answer.http, "text/markdown", "application/yaml")) /* a page for people */
        return LKS_OK;
    return lks_remote_object(&q->answer, err);
}

enum lks_code lks_remote_question_send(struct lks_cli *cli, const struct lks_args *args,
                                       const char *file, struct lks_str text,
                                       struct lks_question *q, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    lks_remote_answer_fini(&q->answer);
    if (lks_remote_call(&remote, q->method, &q->path, "application/yaml", text, &q->answer, err) !=
        LKS_OK)
        return lks_wrap(err, "%s", file);
    return LKS_OK;
}

/* One page from `cursor` on, of at most `most` items (0: as many as there may be). */
static enum lks_code fetch_page(struct lks_remote *remote, const struct lks_remote_path *path,
                                const char *name, const struct lks_buf *cursor, uint64_t most,
                                struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path page = {0};
    char limit[32];
    snprintf(limit, sizeof(limit), "%" PRIu64, most > 0 && most < PAGE ? most : PAGE);
    lks_remote_path_init(&page, path->text.ptr);
    page.has_query = path->has_query;
    lks_remote_path_query(&page, "limit", lks_str_from(limit));
    if (cursor->len > 0)
        lks_remote_path_query(&page, name, lks_buf_view(cursor));
    return lks_remote_call(remote, "GET", &page, NULL, LKS_STR(""), out, err);
}

/* A list ends, whatever cursors a server makes up. */
static enum lks_code check_pages(const struct lks_doc *items, unsigned *pages, unsigned *empty,
                                 struct lks_err *err)
{
    *empty = items->first == NULL ? *empty + 1 : 0;
    if (++*pages < PAGES_MAX && *empty < EMPTY_MAX)
        return LKS_OK;
    return lks_fail(err, LKS_E_LIMIT,
                    "the list does not end: %u pages, the last %u without a row; is it lockstepd "
                    "that --server names? --limit N asks for less",
                    *pages, *empty);
}

enum lks_code lks_remote_list(struct lks_remote *remote, const struct lks_remote_path *path,
                              const char *cursor, uint64_t limit, lks_remote_item *fn, void *ctx,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf place = LKS_BUF(PATH_BYTES);
    unsigned pages = 0, empty = 0;
    remote->enough = remote->more = false;
    if (lks_buf_check(&path->text, err) != LKS_OK)
        return lks_wrap(err, "the question");
    for (uint64_t seen = 0;;) {
        LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer a = {0};
        if (fetch_page(remote, path, cursor, &place, limit, &a, err) != LKS_OK)
            return err->code;
        if (lks_remote_object(&a, err) != LKS_OK)
            return err->code;
        const struct lks_doc *items = lks_doc_member(a.doc, "items");
        if (items == NULL || items->kind != LKS_DOC_LIST)
            return lks_fail(err, LKS_E_INVALID, "the answer has no list of items");
        struct lks_str next = lks_doc_text(a.doc, "next");
        for (const struct lks_doc *i = items->first; i != NULL; i = i->next) {
            if (fn(ctx, i, err) != LKS_OK)
                return err->code;
            remote->enough = remote->enough || (limit > 0 && ++seen == limit);
            remote->more = i->next != NULL || next.len > 0;
            if (remote->enough)
                return LKS_OK;
        }
        if (next.len == 0 || lks_str_eq(next, lks_buf_view(&place)))
            return LKS_OK;
        if (check_pages(items, &pages, &empty, err) != LKS_OK)
            return err->code;
        lks_buf_truncate(&place, 0);
        lks_buf_add(&place, next);
        if (lks_buf_check(&place, err) != LKS_OK)
            return lks_wrap(err, "the cursor of the next page");
    }
}
