/*
 * Asking lockstepd. Where it is and who we are comes from the options, the environment, or the
 * socket of this machine; its answers come back as documents, its refusals as the failure they are,
 * with the exit status that a failure of our own would have.
 */
#ifndef LKS_CLI_REMOTE_H
#define LKS_CLI_REMOTE_H

#include "cli/shared/cli.h"
#include "codec/format/docs.h"
#include "codec/format/json.h"
#include "drivers/http/client.h"

/* Where lockstepd listens as the packages start it. */
#define LKS_REMOTE_DEFAULT "unix:/run/lockstep/lockstepd.sock"

/* Of an act whose reason may be left out. */
#define LKS_REMOTE_REASON                                                                          \
    {                                                                                              \
        "--reason TEXT", "reason; optional, recorded"                                              \
    }

/* The options of every command that asks lockstepd. */
#define LKS_REMOTE_OPTIONS                                                                         \
    {"--context NAME",                                                                             \
     "ask the controller of this context ('lockstep config ls'); else $LOCKSTEP_CONTEXT"},         \
        {"--server ADDRESS",                                                                       \
         "https://HOST:PORT or unix:PATH; else $LOCKSTEP_SERVER, else the current context, else "  \
         "" LKS_REMOTE_DEFAULT},                                                                   \
        {"--ca FILE", "CA certificate of the server; else the context's, or $LOCKSTEP_CA if no "   \
                      "context is used"},                                                          \
    {                                                                                              \
        "--token-file FILE",                                                                       \
            "file with an API token; else the context's, or $LOCKSTEP_TOKEN_FILE if no context "   \
            "is used"                                                                              \
    }

/* Whether an option of a command is one of these. */
bool lks_remote_is_option(const struct lks_option *option);

#define LKS_REMOTE_PATH_MAX   8192
#define LKS_REMOTE_TIMEOUT_MS 60000 /* of a request, until its whole answer came */
#define LKS_REMOTE_RATE_MIN   65536 /* and a second more for so many bytes, both ways together */

struct lks_remote {
    struct lks_client *client;
    struct lks_cli *cli;
    bool enough; /* of lks_remote_list(): set by its function, so that no more items come */
    bool more;   /* the list has further items */
};

/* Where it is, after lks_context_apply(): "unix:PATH" or "https://HOST:PORT". */
const char *lks_remote_server(const struct lks_cli *cli, const struct lks_args *args);

/* Nothing is sent yet. The caller owes lks_remote_fini(). */
enum lks_code lks_remote_open(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_remote *out, struct lks_err *err) LKS_MUST_CHECK;
/* The same without the token, which may not be there yet. */
enum lks_code lks_remote_open_unknown(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_remote *out, struct lks_err *err) LKS_MUST_CHECK;
/* The same with a token, or else with a certificate and its key, as PEM text. */
enum lks_code lks_remote_open_as(struct lks_cli *cli, const struct lks_args *args,
                                 const char *token, const char *pair, struct lks_remote *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_remote_fini(struct lks_remote *remote);

/* The token in a plain file ("-": standard input) that others cannot read, without the line end
 * that an editor leaves. `out` is initialised here. */
enum lks_code lks_remote_token(const char *path, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Refuse the options above, for a command that was given a directory to work on instead. */
enum lks_code lks_remote_unused(const struct lks_args *args, struct lks_err *err) LKS_MUST_CHECK;

/* A path in parts, so that no name can end the part it is in. */
struct lks_remote_path {
    struct lks_buf text;
    bool has_query;
};
void lks_remote_path_init(struct lks_remote_path *p, const char *begin);
void lks_remote_path_fini(struct lks_remote_path *p);
void lks_remote_path_add(struct lks_remote_path *p, struct lks_str part); /* "/" and the part */
void lks_remote_path_query(struct lks_remote_path *p, const char *name, struct lks_str value);

/* Each of `options` that was given, as the parameter of its name; a plain switch means "true".
 * `options` ends with NULL, or is NULL. */
void lks_remote_path_options(struct lks_remote_path *p, const struct lks_args *args,
                             const char *const *options);

/* An answer: its bytes, and the same as a document where it is JSON. */
struct lks_remote_answer {
    struct lks_http_answer http;
    struct lks_docs docs;
    const struct lks_doc *doc;
};
void lks_remote_answer_fini(struct lks_remote_answer *a);

/* `type` NULL: no body. A status of 400 and above is a failure, with the server's own line. */
enum lks_code lks_remote_call(struct lks_remote *remote, const char *method,
                              const struct lks_remote_path *path, const char *type,
                              struct lks_str body, struct lks_remote_answer *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* GET of a path that needs no escape. */
enum lks_code lks_remote_get(struct lks_remote *remote, const char *where,
                             struct lks_remote_answer *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same as lks_remote_call() with more header lines, each with CRLF. */
enum lks_code lks_remote_send(struct lks_remote *remote, const char *method,
                              const struct lks_remote_path *path, const char *type,
                              struct lks_str body, const char *head, struct lks_remote_answer *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* That the answer is a JSON object, as of every route but those that answer with a file. */
enum lks_code lks_remote_object(const struct lks_remote_answer *answer,
                                struct lks_err *err) LKS_MUST_CHECK;

/* One question of a command that asks once: the path, the body as JSON, and the answer. */
struct lks_question {
    const char *method;
    struct lks_remote_path path;
    struct lks_buf json; /* the body; empty: the request has none */
    struct lks_json_writer w;
    struct lks_remote_answer answer;
};
void lks_remote_question_init(struct lks_question *q, const char *method, const char *begin);
void lks_remote_question_fini(struct lks_question *q);

/* Open, ask, close; the answer replaces the previous one of `q`. */
enum lks_code lks_remote_question_ask(struct lks_cli *cli, const struct lks_args *args,
                                      struct lks_question *q, struct lks_err *err) LKS_MUST_CHECK;

/* The same with the text of a file, which is a manifest, as the body. */
enum lks_code lks_remote_question_send(struct lks_cli *cli, const struct lks_args *args,
                                       const char *file, struct lks_str text,
                                       struct lks_question *q, struct lks_err *err) LKS_MUST_CHECK;

/* Fetch all pages of a list, page by page, and hand each item to `fn`. `cursor` is the parameter
 * that asks for the next page: "after" for most. `limit` 0: all. LIMIT for a list that does not
 * end. */
typedef enum lks_code lks_remote_item(void *ctx, const struct lks_doc *item, struct lks_err *err);
enum lks_code lks_remote_list(struct lks_remote *remote, const struct lks_remote_path *path,
                              const char *cursor, uint64_t limit, lks_remote_item *fn, void *ctx,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
