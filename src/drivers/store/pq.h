/*
 * One connection to PostgreSQL, as the store uses it: made anew when it was lost, with a time by
 * which each call ends, failures by what they mean, and transactions whose outcome is told exactly.
 *
 * The connection is in pipeline mode: statements are sent, and lks_pq_run() collects all their
 * answers. Statements that are sent together outside of lks_pq_begin() and _end() are one
 * transaction. What is given to a statement and what comes back is binary.
 */
#ifndef LKS_DRIVERS_STORE_PQ_H
#define LKS_DRIVERS_STORE_PQ_H

#include "base/buf.h"
#include "drivers/store/relational.h"
#include "port/store.h"

#include <libpq-fe.h>

#define LKS_PQ_ARGS_MAX     8
#define LKS_PQ_SHOWN_SIZE   160
#define LKS_PQ_CONNINFO_MAX ((size_t)4096)

/* Milliseconds until a server that does not answer is taken for lost. */
enum { LKS_PQ_CALL_MS = 30000, LKS_PQ_LONG_CALL_MS = 600000 };

struct lks_pq {
    PGconn *conn;                  /* owned; NULL while there is none */
    char *conninfo;                /* owned */
    char shown[LKS_PQ_SHOWN_SIZE]; /* for messages: which database, and where */
    bool reader;                   /* sees one moment, and writes nothing */
    bool broken;                   /* a commit's outcome is not known */
    bool lost;                     /* a reader's moment is gone */
    bool listens;                  /* to what other writers notify */
    bool heard;                    /* from one, since wait() looked last */
    bool warned;                   /* by the server, in this call */
    bool undone;                   /* the transaction, by the last statement that was answered */
    bool fatal;                    /* the failure of this call ended the connection */
    bool inside;                   /* of a transaction: a lost connection is not made anew */
    size_t turn;                   /* which of the hosts is tried first */
    int usual, patience;           /* milliseconds for a call, and for this one */
    char state[6];                 /* SQLSTATE of the failure; empty where there is none */
    uint64_t affected;             /* rows, by the last statement that writes */
    uint64_t epoch;                /* of the lead that we had last; 0: none */
};

/* Connects (pq_connect.c). */
enum lks_code lks_pq_open(struct lks_pq *pq, const char *conninfo, bool reader,
                          struct lks_err *err) LKS_MUST_CHECK;
void lks_pq_close(struct lks_pq *pq);

enum lks_code lks_pq_conninfo_check(const char *conninfo, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_conninfo_files(const char *conninfo, struct lks_err *err) LKS_MUST_CHECK;

/* There is none. UNAVAILABLE also where every host that there is has rows that no standby has. */
enum lks_code lks_pq_connect(struct lks_pq *pq, struct lks_err *err) LKS_MUST_CHECK;

/* It is of no more use. _lose says why, unless the server told of a failure `before` it went. */
void lks_pq_drop(struct lks_pq *pq);
enum lks_code lks_pq_lose(struct lks_pq *pq, enum lks_code before, const char *why,
                          struct lks_err *err) LKS_MUST_CHECK;

/* INVALID: the database is damaged in the way that `what` says. */
enum lks_code lks_pq_damaged(const struct lks_pq *pq, const char *what,
                             struct lks_err *err) LKS_MUST_CHECK;

/* What a statement is given, in order. Bytes stay the caller's until the statement was sent. */
struct lks_pq_args {
    int count;
    Oid types[LKS_PQ_ARGS_MAX];
    const char *values[LKS_PQ_ARGS_MAX];
    int lengths[LKS_PQ_ARGS_MAX];
    int formats[LKS_PQ_ARGS_MAX];
    char numbers[LKS_PQ_ARGS_MAX][8];
};
void lks_pq_give(struct lks_pq_args *args, const struct lks_relational_value *values);

/* An array of numbers or of bytes, given once it is whole. */
struct lks_pq_array {
    struct lks_buf bytes;
    uint32_t count;
    Oid type;
};
void lks_pq_array_of_numbers(struct lks_pq_array *array);
void lks_pq_array_of_bytes(struct lks_pq_array *array);
void lks_pq_array_fini(struct lks_pq_array *array);
void lks_pq_array_number(struct lks_pq_array *array, uint64_t number);
void lks_pq_array_bytes(struct lks_pq_array *array, struct lks_str bytes);
enum lks_code lks_pq_give_array(struct lks_pq_args *args, struct lks_pq_array *array,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The columns of some rows, for unnest(): one array for each letter of `kinds`, 'n' of numbers and
 * 'b' of bytes. All zero is empty. */
struct lks_pq_columns {
    struct lks_pq_array of[LKS_PQ_ARGS_MAX];
    size_t count;
};
void lks_pq_columns_init(struct lks_pq_columns *columns, const char *kinds);
void lks_pq_columns_fini(struct lks_pq_columns *columns);
enum lks_code lks_pq_give_columns(struct lks_pq_args *args, struct lks_pq_columns *columns,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Send one statement, connecting first where that is needed; `values` may be NULL. */
enum lks_code lks_pq_send(struct lks_pq *pq, const char *text,
                          const struct lks_relational_value *values,
                          struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_send_args(struct lks_pq *pq, const char *text, const struct lks_pq_args *args,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The answers of all that were sent: the first failure among them, or OK and, where `out` is given,
 * the last one with rows. After a failure there are none to come. */
enum lks_code lks_pq_run(struct lks_pq *pq, PGresult **out, struct lks_err *err) LKS_MUST_CHECK;

/* Both. */
enum lks_code lks_pq_ask(struct lks_pq *pq, const char *text,
                         const struct lks_relational_value *values, PGresult **out,
                         struct lks_err *err) LKS_MUST_CHECK;

/* For LKS_CLEANUP. */
void lks_pq_clear(PGresult **result);

/* Values of an answer. A number from 0 to `max`, a value of exactly `len` bytes: false, and nothing
 * written, for any other. */
struct lks_str lks_pq_bytes(const PGresult *result, int row, int column);
bool lks_pq_unsigned(const PGresult *result, int row, int column, uint64_t max, uint64_t *out);
bool lks_pq_exact(const PGresult *result, int row, int column, void *out, size_t len);

/* A transaction that writes. _begin sends; _end makes it durable where `code`, how it went, is
 * good, undoes it where it is not, and returns the outcome. */
enum lks_code lks_pq_begin(struct lks_pq *pq, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_end(struct lks_pq *pq, enum lks_code code, struct lks_err *err) LKS_MUST_CHECK;

/* Leave a transaction, whatever state it is in. */
void lks_pq_undo(struct lks_pq *pq);

/* Look for what others notify, for so long. */
enum lks_code lks_pq_listen(struct lks_pq *pq, lks_ms timeout, struct lks_err *err) LKS_MUST_CHECK;

/* The port's functions of these names; `self` is a struct lks_pq (pq_lease.c,
 * pq_tasks.c). */
enum lks_code lks_pq_lead(void *self, const char *name, const char *url, lks_ms ttl,
                          struct lks_store_lease *out, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_resign(void *self, uint64_t epoch, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_safe(void *self, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_wait(void *self, lks_ms timeout, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_tasks_sync(void *self, const struct lks_store_task *tasks, size_t count,
                                lks_ms now, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_tasks_take(void *self, const struct lks_store_claim *claim,
                                lks_store_task_fn *fn, void *ctx,
                                struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_pq_task_done(void *self, struct lks_str holder, struct lks_str name, lks_ms due,
                               uint32_t failures, struct lks_err *err) LKS_MUST_CHECK;

/* The server's clock, in milliseconds since 1970. */
#define LKS_PQ_NOW "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

#endif
