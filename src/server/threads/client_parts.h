/* For client_thread.c, sweeper.c and metrics_poller.c: what is in progress. */
#ifndef LKS_SERVER_CLIENT_PARTS_H
#define LKS_SERVER_CLIENT_PARTS_H

#include "drivers/http/talks.h"
#include "server/threads/threads.h"

/* Whose dialog it is: the first member of what lks_talks_ctx() is. */
struct lks_client_dialog {
    /* The value can be looked at once more; then the dialog is gone. */
    void (*ended)(struct lks_client_dialog *d, const struct lks_err *why);
};

struct lks_client_job {
    struct lks_client_dialog talk;
    struct lks_client_job *next, *before;
    struct lks_client_thread *client;
    uint64_t number; /* by which calls find it again */
    bool reading;    /* else an update */
    struct lks_arena arena;
    struct lks_internal_endpoint at;
    const struct lks_bmc_driver *driver;
    struct lks_dialog *dialog; /* NULL: over, or not begun */
    struct lks_call *call; /* to be asked, or asked again; NULL: it is in progress, or none is */
    lks_ms again;          /* mono: when */
    unsigned tries;        /* in vain, one after the other */
    /* Reading. */
    struct lks_bmc_inventory inventory;
    bool leased;
    /* Updating. */
    uint64_t id;
    lks_ms deadline; /* wall; the intent's is on the clock of conversations */
    struct lks_bmc_intent intent;
    struct lks_buf saved; /* empty: nothing was */
    bool restored;        /* something was when it was begun here */
    bool pulling;         /* what its endpoint is to fetch is being read (pulls.h) */
};

/* NULL: no memory. The endpoint's texts are copied. */
struct lks_client_job *lks_client_job_new(struct lks_client_thread *c,
                                          const struct lks_internal_endpoint *at);
void lks_client_job_free(struct lks_client_job *job);

/* Add a dialog with its endpoint, and read the secrets it needs. The line of a failure says what a
 * person can do about it. */
enum lks_code lks_client_dial(struct lks_client_job *job, const struct lks_conversation_ops *ops,
                              struct lks_bmc_secret *secret, struct lks_err *err) LKS_MUST_CHECK;

/* The job waited for its image to be read: it was and is the right one (code LKS_OK), or not. */
void lks_client_pulled(struct lks_client_job *job, const struct lks_err *why);

/* Post a call of the job's: from here on it belongs to the thread that answers it. */
void lks_client_ask(struct lks_client_job *job, struct lks_call *call);

#endif
