#include "drivers/store/pq.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    TYPE_BYTES = 17,
    TYPE_NUMBER = 20,
    TYPE_TEXT = 25,
    TYPE_BYTES_ARRAY = 1001,
    TYPE_NUMBER_ARRAY = 1016,
    ARRAY_HEADER_BYTES = 20,
    BINARY = 1,
    MESSAGE_SIZE = 384,
    NULLS_MAX = 3, /* between two answers */
};

#define ARRAY_MAX_BYTES ((size_t)512 << 20)

/* ---- failures ---- */

/* By the longest beginning of the SQLSTATE. Before COMMIT nothing was written, so whatever is not
 * plainly a mistake of the caller or the administrator may be tried again. */
static const struct {
    const char *state;
    enum lks_code code;
} codes[] = {
    {"22", LKS_E_INVALID},        /* data */
    {"23", LKS_E_INVALID},        /* a constraint: there is such a row already */
    {"25006", LKS_E_UNAVAILABLE}, /* a standby: nothing is written there */
    {"28", LKS_E_DENIED},         /* who we are */
    {"3F", LKS_E_INVALID},        /* no such schema */
    {"42", LKS_E_INVALID},        /* no such table, no such column */
    {"42501", LKS_E_DENIED},      {"54", LKS_E_INVALID}, /* a limit of the server's */
    {"XX001", LKS_E_INVALID},                            /* damaged */
    {"XX002", LKS_E_INVALID},
};

static enum lks_code code_of(const char *state)
{
    enum lks_code code = LKS_E_UNAVAILABLE;
    size_t best = 0;
    for (size_t i = 0; i < LKS_COUNT(codes); i++) {
        size_t len = strlen(codes[i].state);
        if (len > best && strncmp(codes[i].state, state, len) == 0) {
            best = len;
            code = codes[i].code;
        }
    }
    return code;
}

/* The library's messages have several lines. */
static const char *one_line(const char *text, char out[MESSAGE_SIZE])
{
    size_t len = 0;
    for (; *text != '\0' && len < MESSAGE_SIZE - 1; text++) {
        bool blank = *text == '\n' || *text == '\t' || *text == ' ';
        if (!blank)
            out[len++] = *text;
        else if (len > 0 && out[len - 1] != ' ')
            out[len++] = ' ';
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
    return out;
}

enum lks_code lks_pq_damaged(const struct lks_pq *pq, const char *what, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "%s: %s", pq->shown, what);
}

void lks_pq_drop(struct lks_pq *pq)
{
    PQfinish(pq->conn);
    pq->conn = NULL;
    pq->inside = false;
    pq->listens = false;
    pq->lost = pq->reader;
}

enum lks_code lks_pq_lose(struct lks_pq *pq, enum lks_code before, const char *why,
                          struct lks_err *err)
{
    char text[MESSAGE_SIZE];
    const char *said = why != NULL ? why : one_line(PQerrorMessage(pq->conn), text);
    enum lks_code code = before;
    if (before == LKS_OK)
        code = lks_fail(err, LKS_E_UNAVAILABLE, "%s: %s", pq->shown, said);
    pq->fatal = true;
    lks_pq_drop(pq);
    return code;
}

/* ---- the connection ---- */

static enum lks_code ready(struct lks_pq *pq, struct lks_err *err)
{
    if (pq->broken)
        return lks_fail(err, LKS_E_IO, "%s: whether an earlier commit is there is not known",
                        pq->shown);
    if (pq->lost)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%s: the connection was lost, and with it the snapshot that was read",
                        pq->shown);
    LKS_ASSERT(pq->conn != NULL || !pq->inside);
    return pq->conn != NULL ? LKS_OK : lks_pq_connect(pq, err);
}

void lks_pq_close(struct lks_pq *pq)
{
    PQfinish(pq->conn);
    free(pq->conninfo);
    *pq = (struct lks_pq){0};
}

/* ---- what statements are given ---- */

static void give(struct lks_pq_args *args, Oid type, int format, struct lks_str bytes)
{
    LKS_ASSERT(args->count < LKS_PQ_ARGS_MAX && bytes.len <= INT32_MAX);
    args->types[args->count] = type;
    args->formats[args->count] = format;
    args->values[args->count] = bytes.len > 0 ? bytes.ptr : ""; /* NULL is not an empty value */
    args->lengths[args->count] = (int)bytes.len;
    args->count++;
}

static void give_number(struct lks_pq_args *args, uint64_t number)
{
    LKS_ASSERT(args->count < LKS_PQ_ARGS_MAX);
    char *place = args->numbers[args->count];
    uint64_t big = htobe64(number);
    memcpy(place, &big, sizeof(big));
    give(args, TYPE_NUMBER, BINARY, (struct lks_str){place, sizeof(big)});
}

void lks_pq_give(struct lks_pq_args *args, const struct lks_relational_value *values)
{
    for (; values != NULL && values->is != LKS_RELATIONAL_END; values++) {
        if (values->is == LKS_RELATIONAL_NUMBER)
            give_number(args, values->number);
        else if (values->is == LKS_RELATIONAL_BYTES)
            give(args, TYPE_BYTES, BINARY, values->bytes);
        else
            give(args, TYPE_TEXT, 0, values->bytes); /* terminated */
    }
}

static void add_u32(struct lks_buf *b, uint32_t number)
{
    uint32_t big = htobe32(number);
    lks_buf_add(b, (struct lks_str){(const char *)&big, sizeof(big)});
}

/* One dimension, no NULLs, what the elements are, how many, the number of the first. */
static void array_init(struct lks_pq_array *array, Oid type, Oid element)
{
    *array = (struct lks_pq_array){.type = type};
    lks_buf_init(&array->bytes, ARRAY_MAX_BYTES);
    add_u32(&array->bytes, 1);
    add_u32(&array->bytes, 0);
    add_u32(&array->bytes, element);
    add_u32(&array->bytes, 0);
    add_u32(&array->bytes, 1);
}

void lks_pq_array_of_numbers(struct lks_pq_array *array)
{
    array_init(array, TYPE_NUMBER_ARRAY, TYPE_NUMBER);
}

void lks_pq_array_of_bytes(struct lks_pq_array *array)
{
    array_init(array, TYPE_BYTES_ARRAY, TYPE_BYTES);
}

void lks_pq_array_fini(struct lks_pq_array *array)
{
    lks_buf_fini(&array->bytes);
}

void lks_pq_array_bytes(struct lks_pq_array *array, struct lks_str bytes)
{
    add_u32(&array->bytes, (uint32_t)bytes.len);
    lks_buf_add(&array->bytes, bytes);
    array->count++;
}

void lks_pq_array_number(struct lks_pq_array *array, uint64_t number)
{
    uint64_t big = htobe64(number);
    lks_pq_array_bytes(array, (struct lks_str){(const char *)&big, sizeof(big)});
}

enum lks_code lks_pq_give_array(struct lks_pq_args *args, struct lks_pq_array *array,
                                struct lks_err *err)
{
    enum lks_code code = lks_buf_check(&array->bytes, err);
    if (code != LKS_OK)
        return code;
    LKS_ASSERT(array->bytes.len >= ARRAY_HEADER_BYTES);
    uint32_t big = htobe32(array->count);
    memcpy(array->bytes.ptr + 12, &big, sizeof(big));
    give(args, array->type, BINARY, lks_buf_view(&array->bytes));
    return LKS_OK;
}

void lks_pq_columns_init(struct lks_pq_columns *columns, const char *kinds)
{
    *columns = (struct lks_pq_columns){.count = strlen(kinds)};
    LKS_ASSERT(columns->count <= LKS_COUNT(columns->of));
    for (size_t i = 0; i < columns->count; i++) {
        if (kinds[i] == 'n')
            lks_pq_array_of_numbers(&columns->of[i]);
        else
            lks_pq_array_of_bytes(&columns->of[i]);
    }
}

void lks_pq_columns_fini(struct lks_pq_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        lks_pq_array_fini(&columns->of[i]);
}

enum lks_code lks_pq_give_columns(struct lks_pq_args *args, struct lks_pq_columns *columns,
                                  struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < columns->count && code == LKS_OK; i++)
        code = lks_pq_give_array(args, &columns->of[i], err);
    return code;
}

/* ---- statements and their answers ---- */

enum lks_code lks_pq_send(struct lks_pq *pq, const char *text,
                          const struct lks_relational_value *values, struct lks_err *err)
{
    struct lks_pq_args args = {0};
    lks_pq_give(&args, values);
    return lks_pq_send_args(pq, text, &args, err);
}

enum lks_code lks_pq_send_args(struct lks_pq *pq, const char *text, const struct lks_pq_args *args,
                               struct lks_err *err)
{
    enum lks_code code = ready(pq, err);
    if (code != LKS_OK)
        return code;
    if (PQsendQueryParams(pq->conn, text, args->count, args->types, args->values, args->lengths,
                          args->formats, BINARY) != 1)
        return lks_pq_lose(pq, LKS_OK, NULL, err);
    return LKS_OK;
}

static int64_t now_ms(void)
{
    struct timespec now;
    LKS_ASSERT(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until something can be read, or written where that is asked; false when the time is over. */
static bool await(const struct lks_pq *pq, bool writing, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - now_ms();
        struct pollfd fd = {PQsocket(pq->conn), (short)(POLLIN | (writing ? POLLOUT : 0)), 0};
        int ready_count = poll(&fd, 1, left < 0 ? 0 : (int)left);
        if (ready_count > 0)
            return true;
        if (ready_count == 0 || errno != EINTR)
            return false;
    }
}

/* From others: what we wrote ourselves is no news. */
static void hear(struct lks_pq *pq)
{
    PGnotify *notify = NULL;
    while ((notify = PQnotifies(pq->conn)) != NULL) {
        pq->heard = pq->heard || notify->be_pid != PQbackendPID(pq->conn);
        PQfreemem(notify);
    }
}

/* All is sent, and the next answer is there. */
static enum lks_code next_answer(struct lks_pq *pq, enum lks_code before, int64_t deadline,
                                 struct lks_err *err)
{
    for (;;) {
        int unsent = PQflush(pq->conn);
        if (unsent < 0)
            return lks_pq_lose(pq, before, NULL, err);
        if (unsent == 0 && PQisBusy(pq->conn) == 0)
            return LKS_OK;
        if (!await(pq, unsent > 0, deadline))
            return lks_pq_lose(pq, before, "the server does not answer", err);
        if (PQconsumeInput(pq->conn) != 1)
            return lks_pq_lose(pq, before, NULL, err);
    }
}

static enum lks_code fail_with(struct lks_pq *pq, const PGresult *result, struct lks_err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(pq->state, sizeof(pq->state), "%s", state != NULL ? state : "");
    char text[MESSAGE_SIZE];
    if (message == NULL)
        message = one_line(PQresultErrorMessage(result), text);
    return lks_fail(err, code_of(pq->state), "%s: %s", pq->shown, message);
}

/* One answer; true for the last. */
static bool take(struct lks_pq *pq, PGresult *result, PGresult **rows, enum lks_code *code,
                 struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *owned = result;
    ExecStatusType status = PQresultStatus(result);
    uint64_t affected = 0;
    if (status == PGRES_PIPELINE_SYNC)
        return true;
    if (status == PGRES_TUPLES_OK) {
        lks_pq_clear(rows);
        *rows = LKS_MOVE(owned);
    } else if (status == PGRES_COMMAND_OK) {
        if (lks_str_number(lks_str_from(PQcmdTuples(result)), INT64_MAX, &affected))
            pq->affected = affected;
        pq->undone = strcmp(PQcmdStatus(result), "ROLLBACK") == 0;
    } else if (status != PGRES_PIPELINE_ABORTED && *code == LKS_OK) {
        *code = fail_with(pq, result, err);
    }
    return false;
}

enum lks_code lks_pq_run(struct lks_pq *pq, PGresult **out, struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *rows = NULL;
    enum lks_code code = LKS_OK;
    int64_t deadline = now_ms() + pq->patience;
    int nulls = 0;
    pq->fatal = pq->warned = pq->undone = false;
    pq->affected = 0;
    pq->state[0] = '\0';
    if (PQpipelineSync(pq->conn) != 1)
        return lks_pq_lose(pq, LKS_OK, NULL, err);
    for (bool last = false; !last;) {
        enum lks_code lost = next_answer(pq, code, deadline, err);
        if (lost != LKS_OK)
            return lost;
        PGresult *result = PQgetResult(pq->conn);
        nulls = result == NULL ? nulls + 1 : 0;
        if (nulls > NULLS_MAX || PQstatus(pq->conn) != CONNECTION_OK) {
            lks_pq_clear(&result);
            return lks_pq_lose(pq, code, NULL, err);
        }
        last = result != NULL && take(pq, result, &rows, &code, err);
    }
    hear(pq);
    if (code != LKS_OK)
        return code;
    if (out != NULL)
        *out = LKS_MOVE(rows);
    return LKS_OK;
}

enum lks_code lks_pq_ask(struct lks_pq *pq, const char *text,
                         const struct lks_relational_value *values, PGresult **out,
                         struct lks_err *err)
{
    enum lks_code code = lks_pq_send(pq, text, values, err);
    return code == LKS_OK ? lks_pq_run(pq, out, err) : code;
}

void lks_pq_clear(PGresult **result)
{
    PQclear(*result);
    *result = NULL;
}

struct lks_str lks_pq_bytes(const PGresult *result, int row, int column)
{
    return (struct lks_str){PQgetvalue(result, row, column),
                            (size_t)PQgetlength(result, row, column)};
}

bool lks_pq_exact(const PGresult *result, int row, int column, void *out, size_t len)
{
    struct lks_str bytes = lks_pq_bytes(result, row, column);
    if (PQgetisnull(result, row, column) != 0 || bytes.len != len)
        return false;
    memcpy(out, bytes.ptr, len);
    return true;
}

bool lks_pq_unsigned(const PGresult *result, int row, int column, uint64_t max, uint64_t *out)
{
    uint64_t big = 0;
    if (!lks_pq_exact(result, row, column, &big, sizeof(big)) || be64toh(big) > max)
        return false;
    *out = be64toh(big);
    return true;
}

/* ---- transactions ---- */

enum lks_code lks_pq_begin(struct lks_pq *pq, struct lks_err *err)
{
    if (pq->reader)
        return lks_fail(err, LKS_E_REFUSED, "%s: is open for reading alone", pq->shown);
    enum lks_code code = lks_pq_send(pq, "BEGIN", NULL, err);
    pq->inside = code == LKS_OK;
    return code;
}

#define UNKNOWN "a commit that may or may not have happened"

/* An error that the server tells of and stays for has undone everything. Whatever else goes wrong
 * from here on leaves the outcome open. */
static enum lks_code commit(struct lks_pq *pq, struct lks_err *err)
{
    LKS_ASSERT(pq->conn != NULL && pq->inside);
    enum lks_code code = lks_pq_ask(pq, "COMMIT", NULL, NULL, err);
    if (code == LKS_OK && pq->undone)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: the transaction was undone", pq->shown);
    if (code == LKS_OK && !pq->warned)
        return LKS_OK;
    if (code != LKS_OK && !pq->fatal)
        return code;
    pq->broken = true;
    if (code == LKS_OK)
        return lks_fail(err, LKS_E_IO, UNKNOWN ": %s did not wait for its standby", pq->shown);
    err->code = LKS_E_IO;
    return lks_wrap(err, UNKNOWN);
}

void lks_pq_undo(struct lks_pq *pq)
{
    struct lks_err ignored = {0};
    pq->inside = false;
    pq->patience = pq->usual;
    if (pq->conn == NULL)
        return;
    if (lks_pq_ask(pq, "ROLLBACK", NULL, NULL, &ignored) != LKS_OK && pq->conn != NULL)
        lks_pq_drop(pq);
}

enum lks_code lks_pq_end(struct lks_pq *pq, enum lks_code code, struct lks_err *err)
{
    if (code != LKS_OK) {
        lks_pq_undo(pq);
        return code;
    }
    code = commit(pq, err);
    pq->inside = false;
    pq->patience = pq->usual;
    return code;
}

/* ---- notifications ---- */

enum lks_code lks_pq_listen(struct lks_pq *pq, lks_ms timeout, struct lks_err *err)
{
    enum lks_code code = ready(pq, err);
    int64_t deadline =
        now_ms() + (timeout < LKS_PQ_LONG_CALL_MS ? (int64_t)timeout : LKS_PQ_LONG_CALL_MS);
    while (code == LKS_OK && !pq->heard && await(pq, false, deadline)) {
        if (PQconsumeInput(pq->conn) != 1)
            code = lks_pq_lose(pq, LKS_OK, NULL, err);
        else
            hear(pq);
    }
    pq->heard = false;
    return code;
}
