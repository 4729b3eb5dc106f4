/*
 * One request on its way through the daemon.
 *
 * It is made on the server thread, prepared in the thread pool where that takes time (parsing a
 * manifest, signing a certificate), decided on the state thread, kept there until the rows its
 * answer rests on are durable, finished in the thread pool where the journal has to be read, and
 * answered on the server thread. It belongs to one of them at a time.
 */
#ifndef LKS_SERVER_CALL_H
#define LKS_SERVER_CALL_H

#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "codec/notation/hostlist.h"
#include "drivers/http/httpd.h"
#include "engine/engine.h"
#include "engine/select.h"
#include "server/base/auth.h"
#include "server/base/mailbox.h"
#include "trust/webhook.h"

#define LKS_CALL_IDENTITY_SIZE LKS_AUTH_SIZE
#define LKS_CALL_NO_EVENT      UINT64_MAX
#define LKS_CALL_ANSWER_MAX    ((size_t)256 << 20)

/* Values in a JSON body: each takes some 200 bytes while it is parsed, however short it is. */
#define LKS_CALL_VALUES_MAX ((size_t)256 << 10)

struct lks_account;
struct lks_admit_peer;
struct lks_depot_ask;
struct lks_internal;
struct lks_route;
struct lks_daemon;
struct lks_authz;
struct lks_call;
struct lks_fair_queue;

typedef void lks_call_work(struct lks_call *call);
typedef void lks_call_store(struct lks_call *call, struct lks_store *store);

struct lks_call {
    struct lks_mail mail;
    struct lks_daemon *daemon;
    const struct lks_route *route;

    /* The server thread's. */
    struct lks_httpd_exchange *x; /* NULL: the peer left */
    struct lks_httpd_peer *peer;  /* while `x` is there */
    uv_work_t job;
    struct lks_fair_queue *turns; /* that the job has */
    struct lks_account *account;  /* the caller's; NULL: not known yet, or none */
    uint64_t held;                /* bytes that are counted there */
    bool collecting;              /* the body is on its way */

    /* The state thread's, for a call that came in on its own socket; NULL: by HTTP. */
    struct lks_admit_peer *asker;

    /* What the client thread asks, and answers go to it; owned. NULL: the call is not its own. */
    struct lks_internal *own;

    /* What was asked. */
    struct lks_docs asked; /* path and query */
    struct lks_docs docs;  /* a JSON body */
    struct lks_str named;  /* what the path names: its {name}, {id} or {digest} */
    const void *ask;       /* the body or the query, decoded: LKS_ASKED(); owned by the documents */
    const struct lks_doc *filters; /* the query, for lks_lookup_filter() alone */
    struct lks_buf bytes;          /* the body itself */
    bool unread;                   /* which is not fetched before it is known who asks, */
    uint64_t length;               /* and has so many bytes */
    bool chunked;                  /* or it shows at its end */
    struct lks_hostlist hosts;     /* the body's `nodes`, where the scope asks for them */
    struct lks_credential credential;
    char as[LKS_CALL_IDENTITY_SIZE]; /* the identity for which another controller asks; empty: none
                                      */
    bool as_root;
    char as_credential[LKS_CALL_IDENTITY_SIZE]; /* and by which credential they came there */
    char etag[64];                              /* If-None-Match */
    char signature[LKS_WEBHOOK_SIZE];           /* of a message by a ticket system; empty: none */
    char cookie[128];                           /* of a login that a browser began; empty: none */
    bool by_cookie;                             /* the credential came in one */
    uint64_t last_event; /* Last-Event-ID + 1, or 0, or LKS_CALL_NO_EVENT where it is no number */
    char address[64];

    /* What was prepared. `failed` is a refusal that needs no decision; it is reported to callers
     * that may ask. */
    bool admitted, to_prepare, prepared;
    struct lks_err failed;
    struct lks_manifest *manifest;
    struct lks_tuple *tuple;
    char digest[LKS_DIGEST_SIZE]; /* of `bytes` */
    struct lks_buf issued;        /* a certificate */
    struct lks_x509_about about;  /* what it says */
    char token_hash[LKS_DIGEST_SIZE];
    char node_name[LKS_HOST_NAME_MAX + 1]; /* that an enrolment token names */
    int64_t life; /* seconds of the certificate that a renewal is to make; 0: not known yet */
    struct lks_buf aside; /* what the server thread adds for the state thread: its own counters */
    struct lks_depot_ask *depot; /* owned; calls for artifacts have one */

    /* Who asks, as the state thread found. */
    char identity[LKS_CALL_IDENTITY_SIZE]; /* empty: none */
    bool root;                             /* may everything */
    char shown[LKS_CALL_IDENTITY_SIZE];    /* by which credential: core/governance/backing.h */
    uint32_t node;                         /* an agent's own, or LKS_NO_NODE */
    uint64_t epoch;                        /* of that finding */

    /* The answer. */
    int status; /* 0: none yet */
    const char *type;
    struct lks_buf out;
    char headers[1024];
    uint64_t needs;           /* the row that must be durable before it leaves */
    bool wrote;               /* records came of it, and may become durable later */
    lks_ms since;             /* when it began to wait for that */
    lks_call_work *work;      /* then, in the thread pool */
    bool stream;              /* then, on the server thread: it becomes a stream of events */
    uint64_t from;            /* rows from here, for work and stream, */
    struct lks_select select; /* and which of them, for work */
    uint64_t cursor;          /* of a handler that works in slices */
    void *memory;             /* of such a handler; `drop` ends it */
    void (*drop)(void *memory);
    lks_call_store *at_store;        /* next, on the store thread; then it is handled again */
    char blob[LKS_DIGEST_SIZE];      /* that work is to answer with */
    char leader[LKS_STORE_URL_SIZE]; /* that `work` is to forward it to */
    char file[256];                  /* that work made, to be sent and removed; empty: none */
};

struct lks_call *lks_call_new(struct lks_daemon *daemon); /* NULL: no memory */
void lks_call_free(struct lks_call *call);

/* Parse the body, where the route has one of JSON, and check its form. On failure nothing of it is
 * left but the bytes. */
enum lks_code lks_call_read(struct lks_call *call, struct lks_err *err) LKS_MUST_CHECK;

/* A parameter of the query into `map` of call->asked, as the route's form has it; a value that does
 * not read so is left for the check to find. False: no memory. */
bool lks_call_query_add(struct lks_call *call, struct lks_doc *map, const char *name,
                        const char *value);
/* `map` becomes the query; INVALID where it is not what the route takes. */
enum lks_code lks_call_query_take(struct lks_call *call, struct lks_doc *map,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The body or the query as the struct that the route's form decodes into: LKS_ASKED(call,
 * lks_ask_release) is a const struct lks_ask_release *. The form has to be one that does. */
const void *lks_call_asked(const struct lks_call *call, const char *into);
#define LKS_ASKED(call, into) ((const struct into *)lks_call_asked((call), #into))

/* The last word of the route's path, which says what is asked. */
struct lks_str lks_call_verb(const struct lks_call *call);

/* Begin a JSON answer; the caller fills the object and ends it with lks_json_end(). */
struct lks_json_writer lks_call_json(struct lks_call *call);

/* The same for a page of a list: the caller writes the items and ends it with where the next page
 * starts, a number or a name; 0 or empty where this is the last one. */
struct lks_json_writer lks_call_list(struct lks_call *call);
void lks_call_list_end(struct lks_json_writer *w, uint64_t next);
void lks_call_list_end_at(struct lks_json_writer *w, struct lks_str next);

/* The answer is a problem (RFC 9457), with the status of its code. */
void lks_call_problem(struct lks_call *call, enum lks_code code, const char *fmt, ...)
    LKS_PRINTF(3, 4);
void lks_call_problem_err(struct lks_call *call, const struct lks_err *err);
/* The same for what HTTP alone knows: 401, 405, 426, 429. */
void lks_call_problem_http(struct lks_call *call, int status, const char *word, const char *fmt,
                           ...) LKS_PRINTF(4, 5);
/* One more header line of the answer. */
void lks_call_header(struct lks_call *call, const char *fmt, ...) LKS_PRINTF(2, 3);

#endif
