#include "engine/lease.h"

#include <stdio.h>

enum {
    MARGIN = 8,   /* our clock and the store's may differ by so small a part of a lease */
    RENEWALS = 3, /* in the time of one lease */
};

static const char *const words[] = {"none",  "alone",    "follows", "taken",
                                    "leads", "returned", "lost"};
_Static_assert(LKS_COUNT(words) == LKS_LEASE_COUNT, "a name for each");

static const char *const when[LKS_LEASE_COUNT][LKS_LEASE_COUNT] = {
    [LKS_LEASE_NONE][LKS_LEASE_ALONE] = "its store has no lease",
    [LKS_LEASE_NONE][LKS_LEASE_FOLLOWS] = "its store has a lease",
    [LKS_LEASE_FOLLOWS][LKS_LEASE_TAKEN] = "the store gave it the lease",
    [LKS_LEASE_FOLLOWS][LKS_LEASE_RETURNED] = "the controller is stopped",
    [LKS_LEASE_TAKEN][LKS_LEASE_FOLLOWS] = "the store could not be read to its last row",
    [LKS_LEASE_TAKEN][LKS_LEASE_LEADS] = "every row was read",
    [LKS_LEASE_LEADS][LKS_LEASE_LEADS] = "the store renewed the lease",
    [LKS_LEASE_LEADS][LKS_LEASE_RETURNED] = "the controller is stopped",
    [LKS_LEASE_LEADS][LKS_LEASE_LOST] = "another has the lease, or it was not renewed in time",
};
const struct lks_machine lks_lease_moves = {
    .name = "lease",
    .about = "a controller and the lease of its store",
    .words = words,
    .ends = LKS_MACHINE_END(LKS_LEASE_ALONE) | LKS_MACHINE_END(LKS_LEASE_RETURNED) |
            LKS_MACHINE_END(LKS_LEASE_LOST),
    LKS_MACHINE_TABLE(when),
};

static void move(struct lks_lease_controller *c, enum lks_lease to)
{
    LKS_MACHINE_MOVE(&lks_lease_moves, c->state, to);
}

static lks_ms clock_of(const struct lks_lease_controller *c)
{
    return c->caller.clock(c->caller.self);
}

/* A warning that is the same as the last one is not repeated. */
static void warn(struct lks_lease_controller *c, const char *msg, const struct lks_err *why)
{
    char text[sizeof(c->said)];
    if (snprintf(text, sizeof(text), "%s %s", msg, why->msg) < 0 || strcmp(text, c->said) == 0)
        return;
    snprintf(c->said, sizeof(c->said), "%s", text);
    c->caller.warn(c->caller.self, msg, why);
}

/* Following ----------------------------------------------------------------------------------- */

/* Read all rows there are. The last news are left in `out`; those before are on their way. `read`
 * is false where the store does not answer: what was read by then counts. */
static enum lks_code catch_up(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                              struct lks_lease_news *out, bool *read, struct lks_err *err)
{
    *read = false;
    for (bool more = true; more;) {
        struct lks_lease_news n = {0};
        enum lks_code code = lks_engine_look(terms->options, c->store, &c->place, &n.news, err);
        if (code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT) {
            warn(
                c,
                "cannot read the store; what this follower knows grows old until the store answers",
                err);
            return LKS_OK;
        }
        if (code != LKS_OK)
            return code;
        more = n.news.more;
        if (more)
            c->caller.news(c->caller.self, &n);
        else
            *out = n;
    }
    *read = true;
    return LKS_OK;
}

/* Whether a record that the store acknowledges is safe there. */
static bool is_safe(struct lks_lease_controller *c, const struct lks_lease_terms *terms)
{
    struct lks_err err = {0};
    if (c->store->ops->safe == NULL || !terms->require_sync ||
        c->store->ops->safe(c->store->self, &err) == LKS_OK)
        return true;
    warn(c, "does not take the lease: the store has no synchronous standby; repair the standby",
         &err);
    return false;
}

/* Ask for the lease, or for more time. It counts from before the question. */
static enum lks_code ask(const struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                         struct lks_store_lease *lease, lks_ms *until, struct lks_err *err)
{
    lks_ms asked = clock_of(c);
    if (c->store->ops->lead(c->store->self, c->holder, terms->url, terms->ttl, lease, err) !=
        LKS_OK)
        return err->code;
    *until = asked + terms->ttl - terms->ttl / MARGIN;
    return LKS_OK;
}

/* From the moment the lease is ours no other controller's rows are taken, so what is read then is
 * all. */
static enum lks_code take_over(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                               uint64_t epoch, lks_ms until, struct lks_err *err)
{
    struct lks_lease_news rest = {0};
    bool read = false;
    move(c, LKS_LEASE_TAKEN);
    if (catch_up(c, terms, &rest, &read, err) != LKS_OK)
        return err->code;
    if (!read) {
        move(c, LKS_LEASE_FOLLOWS);
        return LKS_OK;
    }
    move(c, LKS_LEASE_LEADS);
    c->epoch = rest.epoch = epoch;
    c->caller.leads(c->caller.self, until);
    c->caller.news(c->caller.self, &rest);
    return LKS_OK;
}

/* What was read is up to date only while a controller leads: else no controller hears the fleet. */
static enum lks_code follow(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                            struct lks_err *err)
{
    struct lks_store_lease lease = {0};
    struct lks_lease_news news = {0};
    struct lks_err why = {0};
    lks_ms asked = clock_of(c), until = 0;
    bool read = false;
    enum lks_code code = catch_up(c, terms, &news, &read, err);
    if (code != LKS_OK || !read)
        return code;
    if (is_safe(c, terms)) {
        if (ask(c, terms, &lease, &until, &why) != LKS_OK)
            warn(c, "cannot read the lease from the store; stays a follower and tries again", &why);
        else
            c->said[0] = '\0';
    }
    bool ours = strcmp(lease.name, c->holder) == 0;
    if (!ours && lease.left > 0)
        news.confirmed = asked;
    c->caller.news(c->caller.self, &news);
    return ours ? take_over(c, terms, lease.epoch, until, err) : LKS_OK;
}

/* Leading ------------------------------------------------------------------------------------- */

static enum lks_code renew(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                           lks_ms *again, struct lks_err *err)
{
    struct lks_store_lease lease = {0};
    struct lks_err why = {0};
    lks_ms until = 0;
    if (ask(c, terms, &lease, &until, &why) != LKS_OK) {
        warn(c, "cannot renew the lease; tries again until it expires", &why);
        *again = LKS_LEASE_POLL;
        return LKS_OK;
    }
    if (strcmp(lease.name, c->holder) != 0 || lease.epoch != c->epoch) {
        move(c, LKS_LEASE_LOST);
        return lks_fail(err, LKS_E_REFUSED, "another controller has the lease");
    }
    move(c, LKS_LEASE_LEADS);
    c->caller.leads(c->caller.self, until);
    c->said[0] = '\0';
    *again = terms->ttl / RENEWALS;
    return LKS_OK;
}

/* Turns --------------------------------------------------------------------------------------- */

enum lks_code lks_lease_turn(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                             lks_ms *again, struct lks_err *err)
{
    if (c->state == LKS_LEASE_LEADS)
        return renew(c, terms, again, err);
    enum lks_code code = follow(c, terms, err);
    *again = c->state == LKS_LEASE_LEADS ? 0 : LKS_LEASE_POLL;
    return code;
}

void lks_lease_begin(struct lks_lease_controller *c, const struct lks_engine_place *place,
                     const char *holder)
{
    snprintf(c->holder, sizeof(c->holder), "%s", holder);
    c->place = *place;
    move(c, LKS_LEASE_FOLLOWS);
}

void lks_lease_wrote(struct lks_lease_controller *c, const struct lks_engine_batch *batch)
{
    const struct lks_row *last = &batch->rows[batch->store.row_count - 1];
    c->place.seq = last->seq;
    c->place.time = last->time;
    memcpy(c->place.hash, last->hash, sizeof(last->hash));
}

void lks_lease_end(struct lks_lease_controller *c)
{
    struct lks_err err = {0};
    bool leads = c->state == LKS_LEASE_LEADS;
    move(c, LKS_LEASE_RETURNED);
    if (leads && c->store->ops->resign(c->store->self, c->epoch, &err) != LKS_OK)
        warn(c, "cannot return the lease; another controller takes over when it expires", &err);
}
