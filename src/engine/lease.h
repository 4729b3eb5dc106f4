/*
 * Who leads: the states of one controller between its start and its end, for the engine and for the
 * thread that asks the store for the lease. A controller that led never follows again: it ends, and
 * its supervisor starts it anew.
 *
 * A controller follows until the lease is its own, reads what is left, and leads from there on. Its
 * caller calls lks_lease_turn() again and again; store and clock are the caller's, so the simulator
 * runs the same code as the daemon. An answer of the store may come late: whatever it says is known
 * as of the moment before the question.
 */
#ifndef LKS_ENGINE_LEASE_H
#define LKS_ENGINE_LEASE_H

#include "engine/engine.h"
#include "model/record/machine.h"

enum lks_lease {
    LKS_LEASE_NONE,     /* it starts */
    LKS_LEASE_ALONE,    /* the only controller of its store */
    LKS_LEASE_FOLLOWS,  /* another may lead: rows come from the store */
    LKS_LEASE_TAKEN,    /* the lease is its own, and rows that it has not read may be left */
    LKS_LEASE_LEADS,    /* all rows were read: it decides */
    LKS_LEASE_RETURNED, /* it ends, and another need not wait */
    LKS_LEASE_LOST,     /* another leads, or the lease was not renewed in time */
    LKS_LEASE_COUNT
};
extern const struct lks_machine lks_lease_moves;

#define LKS_LEASE_POLL ((lks_ms)250) /* a follower asks again after so long */

/* What was read from the store, for the state. */
struct lks_lease_news {
    struct lks_engine_news news; /* owned */
    lks_ms confirmed; /* by the clock: there was nothing else then, and one led; 0: unknown */
    uint64_t epoch;   /* that the controller leads in from here on; 0: it does not */
};

/* The caller of lks_lease_turn(), which gets `self`. */
struct lks_lease_caller {
    void *self;
    /* A clock that goes on while the process is stopped or its machine sleeps. */
    lks_ms (*clock)(void *self);
    /* The controller leads until then, unless the lease is renewed. Before the news with the epoch.
     */
    void (*leads)(void *self, lks_ms until);
    /* In the order they were read; what they own is the caller's from here on. */
    void (*news)(void *self, const struct lks_lease_news *news);
    /* Once for each change of the cause. */
    void (*warn)(void *self, const char *msg, const struct lks_err *why);
};

/* As they are configured now. */
struct lks_lease_terms {
    const struct lks_engine_options *options;
    const char *url;   /* of this controller */
    lks_ms ttl;        /* of the lease */
    bool require_sync; /* lead only while the store is replicated synchronously */
};

struct lks_lease_controller {
    struct lks_lease_caller caller;
    struct lks_store *store;
    enum lks_lease state;          /* NONE: it has not begun */
    uint64_t epoch;                /* that it leads in; 0: it follows */
    struct lks_engine_place place; /* the last row that was read or written */
    char holder[LKS_STORE_NAME_SIZE];
    char said[LKS_ERR_MSG_MAX + 128]; /* the last warning */
};

/* Follow from `place` on, under a name that no other process has. */
void lks_lease_begin(struct lks_lease_controller *c, const struct lks_engine_place *place,
                     const char *holder);

/* Read what is new and ask for the lease; or, where it is ours, renew it. `again`: the next turn is
 * due after so long. Fails where the process has to end: with the state LOST when another
 * controller leads, else because the journal cannot be followed. */
enum lks_code lks_lease_turn(struct lks_lease_controller *c, const struct lks_lease_terms *terms,
                             lks_ms *again, struct lks_err *err) LKS_MUST_CHECK;

/* A batch of ours is durable. */
void lks_lease_wrote(struct lks_lease_controller *c, const struct lks_engine_batch *batch);

/* The end: another controller need not wait for the lease to expire. */
void lks_lease_end(struct lks_lease_controller *c);

#endif
