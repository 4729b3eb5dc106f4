#include "drivers/store/pq.h"

#include "base/file.h"
#include "drivers/store/secrets.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACE_SIZE = 32, SETTLE_TRIES = 100, SETTLE_PAUSE_MS = 30 };

enum { FILE_BYTES_MAX = 4 << 20 };

/* ---- what to connect to ---- */

enum lks_code lks_pq_conninfo_check(const char *conninfo, struct lks_err *err)
{
    if (conninfo[0] == '\0')
        return lks_fail(err, LKS_E_INVALID, "a PostgreSQL connection: it says nothing");
    if (strlen(conninfo) > LKS_PQ_CONNINFO_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a PostgreSQL connection of %zu bytes (%zu at most)",
                        strlen(conninfo), LKS_PQ_CONNINFO_MAX);
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(conninfo, &message);
    PQfreemem(message); /* it may quote a password */
    if (options == NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "a PostgreSQL connection: words like host=db1,db2 dbname=lockstep, or a "
                        "postgresql:// URL");
    bool secret = false;
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
        secret = secret || (o->val != NULL && o->dispchar[0] == '*');
    PQconninfoFree(options);
    if (secret)
        return lks_fail(err, LKS_E_REFUSED,
                        "a PostgreSQL connection with a password in it: put that into a file and "
                        "name the file with passfile=");
    return LKS_OK;
}

static const char *option(const PQconninfoOption *options, const char *keyword, const char *other)
{
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (strcmp(o->keyword, keyword) == 0 && o->val != NULL)
            return o->val;
    }
    return other;
}

/* Which words name files. The mode of a private key is libpq's to judge: it lets a group read one
 * of root's, and says what it does not like. */
static const struct {
    const char *word;
    bool secret;
} file_words[] = {
    {"passfile", true}, {"sslkey", false}, {"sslcert", false}, {"sslrootcert", false}};

static enum lks_code check_file(const char *path, bool secret, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_BYTES_MAX);
    enum lks_code code = secret ? lks_secrets_text(LKS_STR("file"), path, "password", &text, err)
                                : lks_file_read_plain(path, &text, err);
    if (text.ptr != NULL)
        explicit_bzero(text.ptr, text.cap);
    return code;
}

enum lks_code lks_pq_conninfo_files(const char *conninfo, struct lks_err *err)
{
    enum lks_code code = lks_pq_conninfo_check(conninfo, err);
    PQconninfoOption *options = code == LKS_OK ? PQconninfoParse(conninfo, NULL) : NULL;
    if (code == LKS_OK && options == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; code == LKS_OK && i < LKS_COUNT(file_words); i++) {
        const char *path = option(options, file_words[i].word, "");
        if (path[0] != '/') /* a key in an engine, the system's authorities, nothing */
            continue;
        if (check_file(path, file_words[i].secret, err) != LKS_OK)
            code = lks_wrap(err, "%s", file_words[i].word);
    }
    PQconninfoFree(options);
    return code;
}

/* A warning may say that a commit did not wait for its standby. Others are of no concern, and none
 * is printed. */
static void on_notice(void *ctx, const PGresult *notice)
{
    struct lks_pq *pq = ctx;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity != NULL && strcmp(severity, "WARNING") == 0)
        pq->warned = true;
}

/* What a database or a role may have set otherwise. A statement's time is not bounded by the
 * server: it would end a commit's wait for its standby, and then call the commit a success. */
#define SET_SESSION                                                                                \
    "SELECT set_config('search_path', 'lockstep', false), "                                        \
    "set_config('statement_timeout', '0', false), "                                                \
    "set_config('lock_timeout', '5s', false), "                                                    \
    "set_config('idle_in_transaction_session_timeout', $1, false), "                               \
    "set_config('default_transaction_isolation', 'read committed', false), "                       \
    "set_config('synchronous_commit', CASE current_setting('synchronous_commit') "                 \
    "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)"

/* A primary that comes back after its standby took over, or that crashed with commits that had not
 * reached it, shows rows that the journal may not have. So nothing is read from one before a
 * standby has all that can be seen there; from then on a row is seen when the standby has it. */
#define READ_PLACE "SELECT pg_current_wal_flush_lsn()::text"
#define IS_SETTLED                                                                                 \
    "SELECT current_setting('synchronous_standby_names') = '' OR coalesce(bool_or("                \
    "sync_state IN ('sync', 'quorum') AND flush_lsn >= $1::pg_lsn), false) "                       \
    "FROM pg_stat_replication"

static enum lks_code is_settled(struct lks_pq *pq, const char *place, bool *out,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    char yes = 0;
    enum lks_code code =
        lks_pq_ask(pq, IS_SETTLED, LKS_VALUES(LKS_TEXT_VALUE(place)), &result, err);
    if (code == LKS_OK)
        *out = lks_pq_exact(result, 0, 0, &yes, sizeof(yes)) && yes != 0;
    return code;
}

static enum lks_code settle(struct lks_pq *pq, struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    char place[PLACE_SIZE] = "";
    bool settled = false;
    enum lks_code code = lks_pq_ask(pq, READ_PLACE, NULL, &result, err);
    if (code == LKS_E_INVALID)
        return LKS_OK; /* another engine, with a replication of its own */
    if (code != LKS_OK)
        return code;
    struct lks_str text = lks_pq_bytes(result, 0, 0);
    memcpy(place, text.ptr, text.len < sizeof(place) ? text.len : 0);
    for (int i = 0; i < SETTLE_TRIES && !settled; i++) {
        if (i > 0)
            (void)poll(NULL, 0, SETTLE_PAUSE_MS);
        code = is_settled(pq, place, &settled, err);
        if (code != LKS_OK)
            return code;
    }
    if (!settled)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%s: no synchronous standby is known to have all that the server at port "
                        "%s has (this user needs the role pg_monitor to see it)",
                        pq->shown, PQport(pq->conn));
    return LKS_OK;
}

static enum lks_code set_up(struct lks_pq *pq, struct lks_err *err)
{
    const char *patience = pq->reader ? "0" : "5s";
    enum lks_code code =
        lks_pq_ask(pq, SET_SESSION, LKS_VALUES(LKS_TEXT_VALUE(patience)), NULL, err);
    if (code == LKS_OK && pq->reader)
        return lks_pq_ask(pq, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, NULL, err);
    if (code == LKS_OK)
        code = settle(pq, err);
    if (code != LKS_OK)
        return code;
    /* It only hastens what is looked for anyway, and not every engine has it. */
    code = lks_pq_ask(pq, "LISTEN lockstep", NULL, NULL, err);
    pq->listens = code == LKS_OK;
    return pq->conn != NULL ? LKS_OK : code;
}

/* ---- one host after the other ---- */

/* The list, which has commas, from its `turn`th element on, and then those before it. */
static void rotate(struct lks_str list, size_t turn, struct lks_buf *out)
{
    struct lks_str rest = list, head;
    for (size_t i = 0; i < turn; i++)
        (void)lks_str_cut(rest, ',', &head, &rest);
    size_t before = list.len - rest.len;
    lks_buf_add(out, rest);
    if (before > 0)
        lks_buf_addf(out, ",%.*s", (int)before - 1, list.ptr);
}

static size_t count_of(const char *list)
{
    size_t count = 1;
    for (; *list != '\0'; list++)
        count += *list == ',' ? 1 : 0;
    return count;
}

/* Where to look first, for each of the words that can be a list. */
struct order {
    struct lks_buf host, hostaddr, port;
};

static void order_fini(struct order *order)
{
    lks_buf_fini(&order->host);
    lks_buf_fini(&order->hostaddr);
    lks_buf_fini(&order->port);
}

static void order_word(const PQconninfoOption *options, const char *keyword, size_t count,
                       size_t turn, struct lks_buf *out)
{
    const char *list = option(options, keyword, "");
    lks_buf_init(out, LKS_PQ_CONNINFO_MAX);
    lks_buf_addf(out, "%s", ""); /* terminated, whatever follows */
    if (count_of(list) == count)
        rotate(lks_str_from(list), turn, out);
    else
        lks_buf_addf(out, "%s", list);
}

static enum lks_code try_one(struct lks_pq *pq, const struct order *order, struct lks_err *err)
{
    /* Those before the connection's own words are what holds where it does not say; an empty one
     * says nothing. */
    const struct lks_str_pair words[] = {
        {"connect_timeout", "5"},
        {"keepalives_idle", "5"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "20000"},
        {"application_name", "lockstep"},
        {"target_session_attrs", pq->reader ? "any" : "read-write"},
        {"dbname", pq->conninfo},
        {"host", order->host.ptr},
        {"hostaddr", order->hostaddr.ptr},
        {"port", order->port.ptr},
        {"client_encoding", "UTF8"},
    };
    const char *keywords[LKS_COUNT(words) + 1] = {0}, *values[LKS_COUNT(words) + 1] = {0};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        keywords[i] = words[i].name;
        values[i] = words[i].value;
    }
    pq->lost = false;
    pq->conn = PQconnectdbParams(keywords, values, 1);
    if (pq->conn == NULL)
        return lks_fail_nomem(err);
    (void)PQsetNoticeReceiver(pq->conn, on_notice, pq);
    if (PQstatus(pq->conn) != CONNECTION_OK || PQsetnonblocking(pq->conn, 1) != 0 ||
        PQenterPipelineMode(pq->conn) != 1)
        return lks_pq_lose(pq, LKS_OK, NULL, err);
    enum lks_code code = set_up(pq, err);
    if (code != LKS_OK && pq->conn != NULL)
        lks_pq_drop(pq);
    return code;
}

/* The library goes through the hosts by itself until one takes us; where that one turns out to be
 * of no use, it is begun behind it. */
enum lks_code lks_pq_connect(struct lks_pq *pq, struct lks_err *err)
{
    enum lks_code code = LKS_E_UNAVAILABLE;
    PQconninfoOption *options = PQconninfoParse(pq->conninfo, NULL);
    if (options == NULL)
        return lks_fail_nomem(err); /* it was read before */
    size_t count = count_of(option(options, "host", option(options, "hostaddr", "")));
    for (size_t i = 0; i < count && code == LKS_E_UNAVAILABLE; i++) {
        LKS_CLEANUP(order_fini) struct order order = {0};
        order_word(options, "host", count, pq->turn % count, &order.host);
        order_word(options, "hostaddr", count, pq->turn % count, &order.hostaddr);
        order_word(options, "port", count, pq->turn % count, &order.port);
        code = try_one(pq, &order, err);
        pq->turn += code == LKS_OK ? 0 : 1;
    }
    PQconninfoFree(options);
    return code;
}

static void name_it(struct lks_pq *pq)
{
    PQconninfoOption *options = PQconninfoParse(pq->conninfo, NULL);
    const char *host = "localhost", *database = "database";
    if (options != NULL) {
        host = option(options, "host", option(options, "hostaddr", host));
        database = option(options, "dbname", option(options, "user", database));
    }
    snprintf(pq->shown, sizeof(pq->shown), "postgresql %.60s@%.80s", database, host);
    PQconninfoFree(options);
}

enum lks_code lks_pq_open(struct lks_pq *pq, const char *conninfo, bool reader, struct lks_err *err)
{
    *pq = (struct lks_pq){.reader = reader, .usual = LKS_PQ_CALL_MS, .patience = LKS_PQ_CALL_MS};
    enum lks_code code = lks_pq_conninfo_check(conninfo, err);
    if (code != LKS_OK)
        return code;
    pq->conninfo = strdup(conninfo);
    if (pq->conninfo == NULL)
        return lks_fail_nomem(err);
    name_it(pq);
    return lks_pq_connect(pq, err);
}
