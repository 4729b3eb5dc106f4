#include "drivers/store/postgres.h"

#include "drivers/store/pq.h"
#include "drivers/store/relational.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SLICE_ROWS = 16384 };

#define SLICE_BYTES ((size_t)64 << 20)

/* These are in the text of statements: what is larger is not ours and is not even read. */
_Static_assert(LKS_RECORD_BODY_MAX == 4194304, "READ_ROWS has this number");
_Static_assert(LKS_STORE_BLOB_MAX == 16777216, "READ_BLOB and READ_BLOBS have this number");

/* ---- values of a result ---- */

static bool number_of(const struct lks_relational *r, int at, uint64_t max, uint64_t *out)
{
    return lks_pq_unsigned(r->result, r->row, at, max, out);
}

static bool exact_of(const struct lks_relational *r, int at, void *out, size_t len)
{
    return lks_pq_exact(r->result, r->row, at, out, len);
}

static struct lks_str bytes_of(const struct lks_relational *r, int at)
{
    return lks_pq_bytes(r->result, r->row, at);
}

static bool is_there(const struct lks_relational *r, int at)
{
    return PQgetisnull(r->result, r->row, at) == 0;
}

static struct lks_relational row_at(PGresult *result, int row)
{
    static const struct lks_relational_ops values = {number_of, exact_of, bytes_of, is_there};
    return (struct lks_relational){&values, result, row};
}

/* ---- the tail and the lease ---- */

static bool tail_of(PGresult *result, int column, struct lks_store_tail *out)
{
    struct lks_relational row = row_at(result, 0);
    return PQntuples(result) == 1 && lks_relational_tail(&row, column, out);
}

static enum lks_code read_tail(void *self, struct lks_store_tail *out, struct lks_err *err)
{
    struct lks_pq *pq = self;
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    enum lks_code code =
        lks_pq_ask(pq, "SELECT first, seq, time, hash FROM tail", NULL, &result, err);
    if (code == LKS_OK && !tail_of(result, 0, out))
        code = lks_pq_damaged(pq, "where the journal ends cannot be read", err);
    return code;
}

/* The lease stays as it is, and no other controller writes, until the transaction ends. */
#define LOCK                                                                                       \
    "SELECT epoch, name, greatest(0, until - " LKS_PQ_NOW "), first, seq, tail.time, hash "        \
    "FROM lease, tail FOR SHARE OF lease FOR UPDATE OF tail"

/* A transaction starts, for the holder of `epoch`. */
static enum lks_code begin(struct lks_pq *pq, uint64_t epoch, struct lks_store_tail *tail,
                           struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    struct lks_store_lease lease = {0};
    enum lks_code code = lks_pq_begin(pq, err);
    if (code != LKS_OK)
        return code;
    code = lks_pq_ask(pq, LOCK, NULL, &result, err);
    if (code == LKS_OK && !tail_of(result, 3, tail))
        code = lks_pq_damaged(pq, "where the journal ends cannot be read", err);
    if (code == LKS_OK && (!lks_pq_unsigned(result, 0, 0, INT64_MAX, &lease.epoch) ||
                           !lks_pq_unsigned(result, 0, 2, INT64_MAX, &lease.left)))
        code = lks_pq_damaged(pq, "who leads cannot be read", err);
    if (code == LKS_OK) {
        struct lks_str name = lks_pq_bytes(result, 0, 1);
        memcpy(lease.name, name.ptr, name.len < sizeof(lease.name) ? name.len : 0);
        code = lks_store_fence_check(&lease, epoch, err);
    }
    return code == LKS_OK ? LKS_OK : lks_pq_end(pq, code, err);
}

/* The same for a transaction that may take long. */
static enum lks_code begin_long(struct lks_pq *pq, uint64_t epoch, struct lks_store_tail *tail,
                                struct lks_err *err)
{
    enum lks_code code = begin(pq, epoch, tail, err);
    if (code == LKS_OK)
        pq->patience = LKS_PQ_LONG_CALL_MS;
    return code;
}

/* ---- append ---- */

#define ADD_ROWS "INSERT INTO journal SELECT * FROM unnest($1, $2, $3, $4, $5, $6)"

enum { ROW_SEQ, ROW_TIME, ROW_KIND, ROW_VERSION, ROW_BODY, ROW_HASH };

static void add_row(struct lks_pq_array *columns, const struct lks_row *row)
{
    lks_pq_array_number(&columns[ROW_SEQ], row->seq);
    lks_pq_array_number(&columns[ROW_TIME], row->time);
    lks_pq_array_number(&columns[ROW_KIND], row->kind);
    lks_pq_array_number(&columns[ROW_VERSION], row->version);
    lks_pq_array_bytes(&columns[ROW_BODY], row->body);
    lks_pq_array_bytes(&columns[ROW_HASH],
                       (struct lks_str){(const char *)row->hash, sizeof(row->hash)});
}

static enum lks_code add_rows(void *self, const struct lks_store_batch *batch, struct lks_err *err)
{
    struct lks_pq *pq = self;
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < batch->row_count && code == LKS_OK;) {
        LKS_CLEANUP(lks_pq_columns_fini) struct lks_pq_columns slice = {0};
        struct lks_pq_args args = {0};
        lks_pq_columns_init(&slice, "nnnnbb");
        while (i < batch->row_count && slice.of[ROW_SEQ].count < SLICE_ROWS &&
               slice.of[ROW_BODY].bytes.len < SLICE_BYTES)
            add_row(slice.of, &batch->rows[i++]);
        code = lks_pq_give_columns(&args, &slice, err);
        if (code == LKS_OK)
            code = lks_pq_send_args(pq, ADD_ROWS, &args, err);
    }
    return code;
}

static enum lks_code send(void *self, const char *text, const struct lks_relational_value *values,
                          struct lks_err *err)
{
    return lks_pq_send(self, text, values, err);
}

/* For statements that are too large to wait for each other. */
static enum lks_code ask(void *self, const char *text, const struct lks_relational_value *values,
                         struct lks_err *err)
{
    return lks_pq_ask(self, text, values, NULL, err);
}

static struct lks_relational_writer writer_of(struct lks_pq *pq)
{
    return (struct lks_relational_writer){.self = pq, .run = send, .rows = add_rows};
}

/* All of it in one go, and then the answers. */
static enum lks_code write_batch(struct lks_pq *pq, const struct lks_store_tail *tail,
                                 const struct lks_store_batch *batch, struct lks_err *err)
{
    struct lks_relational_writer w = writer_of(pq);
    enum lks_code code = lks_relational_append(&w, tail, batch, err);
    if (code == LKS_OK && pq->listens)
        code = lks_pq_send(pq, "NOTIFY lockstep", NULL, err);
    return code == LKS_OK ? lks_pq_run(pq, NULL, err) : code;
}

static enum lks_code append(void *self, const struct lks_store_batch *batch, struct lks_err *err)
{
    struct lks_pq *pq = self;
    struct lks_store_tail tail = {0};
    enum lks_code code = begin(pq, batch->epoch, &tail, err);
    return code == LKS_OK ? lks_pq_end(pq, write_batch(pq, &tail, batch, err), err) : code;
}

/* ---- reading ---- */

/* As many as fit, so that the caller can ask for more in between. */
#define READ_ROWS                                                                                  \
    "SELECT seq, time, kind, version, CASE WHEN length(body) <= 4194304 THEN body END, hash "      \
    "FROM (SELECT *, sum(least(length(body), 4194304)) OVER (ORDER BY seq) AS size "               \
    "FROM (SELECT * FROM journal WHERE seq >= $1 ORDER BY seq LIMIT 4096) AS few) AS sized "       \
    "WHERE size <= 16777216 ORDER BY seq"

#define READ_HEADS                                                                                 \
    "SELECT seq, CASE WHEN length(journal) = 32 THEN journal END, time, "                          \
    "CASE WHEN length(hash) = 32 THEN hash END, "                                                  \
    "CASE WHEN length(signature) = 64 THEN signature END "                                         \
    "FROM head WHERE seq >= $1 ORDER BY seq LIMIT 4096"

/* Page by page from `from` on, until there is no more or the callback has seen enough. */
static enum lks_code each(struct lks_pq *pq, const char *query, uint64_t from,
                          struct lks_relational_reader *reader, struct lks_err *err)
{
    bool more = from <= INT64_MAX;
    for (uint64_t next = from > 0 ? from : 1; more; next = reader->seen + 1) {
        LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
        enum lks_code code =
            lks_pq_ask(pq, query, LKS_VALUES(LKS_NUMBER_VALUE(next)), &result, err);
        if (code != LKS_OK)
            return code;
        for (int at = 0; more && at < PQntuples(result); at++) {
            struct lks_relational row = row_at(result, at);
            more = lks_relational_show(reader, &row);
        }
        more = more && reader->seen >= next && reader->seen < INT64_MAX;
    }
    return LKS_OK;
}

static enum lks_code read_rows(void *self, uint64_t from, lks_store_row_fn *fn, void *ctx,
                               struct lks_err *err)
{
    return each(self, READ_ROWS, from, &(struct lks_relational_reader){.row = fn, .ctx = ctx}, err);
}

static enum lks_code read_heads(void *self, uint64_t from, lks_store_head_fn *fn, void *ctx,
                                struct lks_err *err)
{
    return each(self, READ_HEADS, from, &(struct lks_relational_reader){.head = fn, .ctx = ctx},
                err);
}

#define READ_BLOB                                                                                  \
    "SELECT CASE WHEN length(bytes) <= 16777216 THEN bytes END FROM blob WHERE digest = $1"

static enum lks_code read_blob(void *self, const char *digest, struct lks_buf *out,
                               struct lks_err *err)
{
    struct lks_pq *pq = self;
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    enum lks_code code =
        lks_pq_ask(pq, READ_BLOB, LKS_VALUES(LKS_TEXT_VALUE(digest)), &result, err);
    if (code != LKS_OK)
        return code;
    if (PQntuples(result) == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "the store has no %s", digest);
    if (PQgetisnull(result, 0, 0) != 0)
        return lks_fail(err, LKS_E_INVALID, "%s: what it has as %s is too large to be that",
                        pq->shown, digest);
    lks_buf_add(out, lks_pq_bytes(result, 0, 0));
    return lks_buf_check(out, err);
}

/* Likewise. Bytes that are too large to be ours come as none, which their digest shows. */
#define READ_BLOBS                                                                                 \
    "SELECT digest, CASE WHEN length(bytes) <= 16777216 THEN bytes END FROM "                      \
    "(SELECT *, sum(least(length(bytes), 16777216)) OVER (ORDER BY digest) AS size FROM "          \
    "(SELECT * FROM blob WHERE digest > $1 ORDER BY digest LIMIT 1024) AS few) AS sized "          \
    "WHERE size <= 33554432 ORDER BY digest"

static enum lks_code read_blobs(void *self, lks_store_blob_fn *fn, void *ctx, struct lks_err *err)
{
    struct lks_pq *pq = self;
    char last[LKS_DIGEST_SIZE] = "";
    for (bool more = true; more;) {
        LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
        enum lks_code code =
            lks_pq_ask(pq, READ_BLOBS, LKS_VALUES(LKS_TEXT_VALUE(last)), &result, err);
        if (code != LKS_OK)
            return code;
        more = PQntuples(result) > 0;
        for (int at = 0; more && at < PQntuples(result); at++) {
            if (!lks_pq_exact(result, at, 0, last, sizeof(last) - 1))
                return lks_pq_damaged(pq, "what it calls a digest is none", err);
            more = fn(ctx, last, lks_pq_bytes(result, at, 1));
        }
    }
    return LKS_OK;
}

/* ---- the snapshot ---- */

static enum lks_code put_snapshot(void *self, uint64_t seq, struct lks_str bytes,
                                  struct lks_err *err)
{
    struct lks_pq *pq = self;
    struct lks_relational_writer w = {.self = pq, .run = ask};
    struct lks_store_tail tail = {0};
    enum lks_code code = begin_long(pq, pq->epoch, &tail, err);
    if (code != LKS_OK)
        return code;
    return lks_pq_end(pq, lks_relational_snapshot_put(&w, &tail, seq, bytes, err), err);
}

/* The next part; `there`: whether there is one. */
static enum lks_code read_part(struct lks_pq *pq, struct lks_relational_snapshot *whole,
                               struct lks_buf *out, bool *there, struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    enum lks_code code =
        lks_pq_ask(pq, "SELECT part, seq, size, bytes FROM snapshot WHERE part = $1",
                   LKS_VALUES(LKS_NUMBER_VALUE(whole->next)), &result, err);
    if (code != LKS_OK)
        return code;
    struct lks_relational row = row_at(result, 0);
    *there = PQntuples(result) > 0;
    if (*there && !lks_relational_part(whole, &row, out))
        return lks_pq_damaged(pq, "the snapshot's parts do not belong together", err);
    return lks_buf_check(out, err);
}

/* The parts are of one moment: no other snapshot is put while they are read. */
static enum lks_code read_snapshot(void *self, uint64_t *seq, struct lks_buf *out,
                                   struct lks_err *err)
{
    struct lks_pq *pq = self;
    struct lks_relational_snapshot whole = {0};
    size_t before = out->len;
    bool there = true, alone = !pq->reader;
    enum lks_code code = LKS_OK;
    if (alone)
        code = lks_pq_ask(pq, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, NULL, err);
    while (code == LKS_OK && there)
        code = read_part(pq, &whole, out, &there, err);
    if (alone)
        lks_pq_undo(pq);
    if (code == LKS_OK && out->len - before != whole.size)
        code = lks_pq_damaged(pq, "a part of the snapshot is missing", err);
    if (code == LKS_OK)
        *seq = whole.seq;
    else
        lks_buf_truncate(out, before);
    return code;
}

/* ---- trim and cut ---- */

#define DELETE_BLOBS                                                                               \
    "DELETE FROM blob WHERE digest = ANY (SELECT convert_from(gone, 'UTF8') FROM unnest($1) AS "   \
    "gone)"

static enum lks_code trim_blobs(struct lks_pq *pq, bool (*keep)(void *ctx, const char *digest),
                                void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    LKS_CLEANUP(lks_pq_array_fini) struct lks_pq_array gone = {0};
    struct lks_pq_args args = {0};
    char digest[LKS_DIGEST_SIZE] = "";
    enum lks_code code = lks_pq_ask(pq, "SELECT digest FROM blob", NULL, &result, err);
    lks_pq_array_of_bytes(&gone);
    for (int at = 0; code == LKS_OK && at < PQntuples(result); at++) {
        if (!lks_pq_exact(result, at, 0, digest, sizeof(digest) - 1))
            return lks_pq_damaged(pq, "what it calls a digest is none", err);
        if (!keep(ctx, digest))
            lks_pq_array_bytes(&gone, lks_str_from(digest));
    }
    if (code == LKS_OK)
        code = lks_pq_give_array(&args, &gone, err);
    if (code == LKS_OK)
        code = lks_pq_send_args(pq, DELETE_BLOBS, &args, err);
    return code == LKS_OK ? lks_pq_run(pq, NULL, err) : code;
}

static enum lks_code trim(void *self, uint64_t through, bool (*keep)(void *ctx, const char *digest),
                          void *ctx, struct lks_err *err)
{
    struct lks_pq *pq = self;
    struct lks_relational_writer w = writer_of(pq);
    struct lks_store_tail tail = {0};
    enum lks_code code = begin_long(pq, pq->epoch, &tail, err);
    if (code != LKS_OK)
        return code;
    code = lks_relational_trim(&w, &tail, through, err);
    if (code == LKS_OK)
        code = lks_pq_run(pq, NULL, err);
    if (code == LKS_OK && keep != NULL)
        code = trim_blobs(pq, keep, ctx, err);
    return lks_pq_end(pq, code, err);
}

static enum lks_code cut(void *self, uint64_t from, const struct lks_store_tail *tail,
                         const struct lks_store_batch *then, struct lks_err *err)
{
    struct lks_pq *pq = self;
    struct lks_relational_writer w = writer_of(pq);
    struct lks_store_tail before = {0};
    enum lks_code code = lks_store_cut_check(from, tail, err);
    if (code == LKS_OK)
        code =
            begin_long(pq, then != NULL && then->epoch > 0 ? then->epoch : pq->epoch, &before, err);
    if (code != LKS_OK)
        return code;
    code = lks_relational_cut(&w, from, tail, err);
    if (code == LKS_OK)
        code = lks_pq_run(pq, NULL, err);
    if (code == LKS_OK && then != NULL)
        code = write_batch(pq, tail, then, err);
    return lks_pq_end(pq, code, err);
}

static enum lks_code copy(void *self, const char *path, struct lks_err *err)
{
    const struct lks_pq *pq = self;
    (void)path;
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: a PostgreSQL database is copied by its own tools: pg_basebackup for the "
                    "server, pg_dump --schema=lockstep for the journal",
                    pq->shown);
}

/* ---- the schema ---- */

static uint64_t newest_schema(void)
{
    return lks_relational_newest(lks_embedded_postgres);
}

/* The statements of a script, each of which ends with a line's end. */
static enum lks_code run_script(struct lks_pq *pq, struct lks_str script, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    enum lks_code code = LKS_OK;
    lks_buf_init(&text, script.len);
    while (code == LKS_OK && lks_str_trim(script).len > 0) {
        ptrdiff_t end = lks_str_find(script, LKS_STR(";\n"));
        LKS_ASSERT(end >= 0);
        lks_buf_truncate(&text, 0);
        lks_buf_add(&text, (struct lks_str){script.ptr, (size_t)end});
        script = (struct lks_str){script.ptr + end + 2, script.len - (size_t)end - 2};
        code = lks_buf_check(&text, err);
        if (code == LKS_OK)
            code = lks_pq_send(pq, text.ptr, NULL, err);
    }
    return code == LKS_OK ? lks_pq_run(pq, NULL, err) : code;
}

/* From schema `from` to the newest, within a transaction. */
static enum lks_code migrate(struct lks_pq *pq, uint64_t from, struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    for (uint64_t at = from; at < newest_schema() && code == LKS_OK; at++) {
        code = run_script(pq, lks_embedded_postgres[at].bytes, err);
        if (code != LKS_OK)
            return lks_wrap(err, "bringing the schema from %" PRIu64 " to %" PRIu64, at, at + 1);
    }
    if (code == LKS_OK)
        code = lks_pq_send(pq, "UPDATE schema_version SET version = $1",
                           LKS_VALUES(LKS_NUMBER_VALUE(newest_schema())), err);
    return code == LKS_OK ? lks_pq_run(pq, NULL, err) : code;
}

static enum lks_code create(struct lks_pq *pq, struct lks_err *err)
{
    enum lks_code code = lks_pq_begin(pq, err);
    if (code != LKS_OK)
        return code;
    code = lks_pq_ask(pq, "CREATE SCHEMA lockstep", NULL, NULL, err);
    bool there = strcmp(pq->state, "42P06") == 0 || strcmp(pq->state, "23505") == 0;
    if (code != LKS_OK && there)
        code = lks_fail(err, LKS_E_REFUSED, "%s: has a journal already", pq->shown);
    if (code == LKS_OK)
        code = migrate(pq, 0, err);
    return lks_pq_end(pq, code, err);
}

/* Is there a journal, and do we know its schema? */
static enum lks_code identify(struct lks_pq *pq, const char *query, uint64_t *schema,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    uint64_t version = 0;
    enum lks_code code = lks_pq_ask(pq, query, NULL, &result, err);
    if (strcmp(pq->state, "42P01") == 0)
        return lks_fail(err, LKS_E_INVALID, "%s: has no journal of lockstep's", pq->shown);
    if (code != LKS_OK)
        return code;
    if (PQntuples(result) != 1 || !lks_pq_unsigned(result, 0, 0, INT64_MAX, &version))
        return lks_pq_damaged(pq, "which schema it has cannot be read", err);
    *schema = version;
    return lks_relational_check(pq->shown, version, newest_schema(), pq->reader, err);
}

/* Of several that start together one migrates, and the others wait for it. Where there is nothing
 * to do nothing is written: a primary whose standby is away can be looked at. */
static enum lks_code open_journal(struct lks_pq *pq, struct lks_err *err)
{
    uint64_t schema = 0;
    enum lks_code code = identify(pq, "SELECT version FROM schema_version", &schema, err);
    if (code != LKS_OK || pq->reader || schema == newest_schema())
        return code;
    code = lks_pq_begin(pq, err);
    if (code != LKS_OK)
        return code;
    code = identify(pq, "SELECT version FROM schema_version FOR UPDATE", &schema, err);
    if (code == LKS_OK)
        code = migrate(pq, schema, err);
    return lks_pq_end(pq, code, err);
}

/* ---- open and close ---- */

static void close_store(void *self)
{
    struct lks_pq *pq = self;
    lks_pq_close(pq);
    free(pq);
}

static const struct lks_store_ops ops = {
    .name = "postgresql",
    .append = append,
    .tail = read_tail,
    .rows = read_rows,
    .heads = read_heads,
    .blob = read_blob,
    .blobs = read_blobs,
    .snapshot_put = put_snapshot,
    .snapshot = read_snapshot,
    .trim = trim,
    .cut = cut,
    .copy = copy,
    .lead = lks_pq_lead,
    .resign = lks_pq_resign,
    .safe = lks_pq_safe,
    .wait = lks_pq_wait,
    .tasks_sync = lks_pq_tasks_sync,
    .tasks_take = lks_pq_tasks_take,
    .task_done = lks_pq_task_done,
    .close = close_store,
};

enum lks_code lks_store_postgres_check(const char *conninfo, struct lks_err *err)
{
    return lks_pq_conninfo_check(conninfo, err);
}

enum lks_code lks_store_postgres_open(const char *conninfo, enum lks_store_mode mode,
                                      struct lks_store *out, struct lks_err *err)
{
    struct lks_pq *pq = calloc(1, sizeof(*pq));
    if (pq == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = lks_pq_open(pq, conninfo, mode == LKS_STORE_READ, err);
    if (code == LKS_OK && mode == LKS_STORE_CREATE)
        code = create(pq, err);
    if (code == LKS_OK)
        code = open_journal(pq, err);
    if (code != LKS_OK) {
        close_store(pq);
        return code;
    }
    *out = (struct lks_store){.ops = &ops, .self = pq};
    return LKS_OK;
}

enum lks_code lks_store_postgres_files(const char *conninfo, struct lks_err *err)
{
    return lks_pq_conninfo_files(conninfo, err);
}
