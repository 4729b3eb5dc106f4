#include "drivers/store/pq.h"

/* Ours already, or free: which of the two decides whether it changes hands. Times are the server's,
 * and of the moment after any wait for the row. */
#define LEAD                                                                                       \
    "UPDATE lease SET epoch = CASE WHEN epoch = $4 AND $4 > 0 THEN epoch ELSE epoch + 1 END, "     \
    "name = $1, url = $2, until = " LKS_PQ_NOW " + $3 "                                            \
    "WHERE (epoch = $4 AND $4 > 0) OR until <= " LKS_PQ_NOW

#define READ_LEASE "SELECT epoch, name, url, greatest(0, until - " LKS_PQ_NOW ") FROM lease"

static bool text_of(const PGresult *result, int column, char *out, size_t size)
{
    struct lks_str text = lks_pq_bytes(result, 0, column);
    if (text.len >= size)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

static enum lks_code lease_of(const struct lks_pq *pq, const PGresult *result,
                              struct lks_store_lease *out, struct lks_err *err)
{
    struct lks_store_lease lease = {0};
    if (PQntuples(result) != 1 || !lks_pq_unsigned(result, 0, 0, INT64_MAX, &lease.epoch) ||
        !text_of(result, 1, lease.name, sizeof(lease.name)) ||
        !text_of(result, 2, lease.url, sizeof(lease.url)) ||
        !lks_pq_unsigned(result, 0, 3, INT64_MAX, &lease.left))
        return lks_pq_damaged(pq, "who leads cannot be read", err);
    *out = lease;
    return LKS_OK;
}

static enum lks_code ask_lead(struct lks_pq *pq, const struct lks_relational_value *values,
                              struct lks_store_lease *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    enum lks_code code = lks_pq_send(pq, LEAD, values, err);
    if (code == LKS_OK)
        code = lks_pq_ask(pq, READ_LEASE, NULL, &result, err);
    bool ours = pq->affected == 1;
    /* A lead that a standby does not know of would be handed out again after its promotion. */
    if (code == LKS_OK && ours && pq->warned)
        code = lks_fail(err, LKS_E_UNAVAILABLE, "%s: it did not wait for its standby", pq->shown);
    if (code == LKS_OK)
        code = lease_of(pq, result, out, err);
    if (code == LKS_OK)
        pq->epoch = ours ? out->epoch : pq->epoch;
    return code;
}

/* Where the answer is lost it is either not ours or ours without our knowledge, and then it is over
 * in a while: neither does harm. */
enum lks_code lks_pq_lead(void *self, const char *name, const char *url, lks_ms ttl,
                          struct lks_store_lease *out, struct lks_err *err)
{
    struct lks_pq *pq = self;
    enum lks_code code = lks_store_lead_check(name, url, ttl, err);
    if (code != LKS_OK)
        return code;
    pq->patience = ttl < (lks_ms)pq->usual ? (int)ttl : pq->usual;
    code = ask_lead(pq,
                    LKS_VALUES(LKS_TEXT_VALUE(name), LKS_TEXT_VALUE(url), LKS_NUMBER_VALUE(ttl),
                               LKS_NUMBER_VALUE(pq->epoch)),
                    out, err);
    pq->patience = pq->usual;
    return code;
}

enum lks_code lks_pq_resign(void *self, uint64_t epoch, struct lks_err *err)
{
    struct lks_pq *pq = self;
    pq->epoch = 0;
    return lks_pq_ask(pq, "UPDATE lease SET until = 0 WHERE epoch = $1",
                      LKS_VALUES(LKS_NUMBER_VALUE(epoch)), NULL, err);
}

/* What is asked of the server, and the message where it is not so. NULL counts as that: a user that
 * may not see a standby's state cannot know. */
static const struct {
    const char *query; /* one boolean */
    const char *missing;
} needs[] = {
    {"SELECT current_setting('fsync') = 'on'", "fsync is off"},
    {"SELECT current_setting('synchronous_commit') IN ('on', 'remote_apply')",
     "synchronous_commit is neither on nor remote_apply"},
    {"SELECT current_setting('synchronous_standby_names') <> ''",
     "synchronous_standby_names is empty"},
    {"SELECT bool_or(sync_state IN ('sync', 'quorum') AND state = 'streaming') "
     "FROM pg_stat_replication",
     "no synchronous standby is connected, or this user may not see it (it needs the role "
     "pg_monitor)"},
};

enum lks_code lks_pq_safe(void *self, struct lks_err *err)
{
    struct lks_pq *pq = self;
    for (size_t i = 0; i < LKS_COUNT(needs); i++) {
        LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
        char yes = 0;
        enum lks_code code = lks_pq_ask(pq, needs[i].query, NULL, &result, err);
        if (code != LKS_OK)
            return code;
        if (!lks_pq_exact(result, 0, 0, &yes, 1) || yes == 0)
            return lks_fail(err, LKS_E_REFUSED,
                            "%s: what it acknowledges may be lost with its machine: %s", pq->shown,
                            needs[i].missing);
    }
    return LKS_OK;
}

enum lks_code lks_pq_wait(void *self, lks_ms timeout, struct lks_err *err)
{
    return lks_pq_listen(self, timeout, err);
}
