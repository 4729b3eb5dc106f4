/*
 * A conversation with a BMC of src/lab/bmcsim, in virtual time: nothing waits, nothing is sent.
 * What can go wrong on the way (a request or an answer that is lost, an upload that is cut, the end
 * of the process at any moment) is said before, by the number of the request it befalls.
 */
#ifndef LKS_TESTS_BMCS_H
#define LKS_TESTS_BMCS_H

#include "lab/bmcsim/bmcsim.h"
#include "port/bmc.h"

#define LKS_BMCS_USER     "admin"
#define LKS_BMCS_PASSWORD "correct horse"
#define LKS_BMCS_HOUR     (3600 * LKS_SECOND)

enum lks_bmcs_mishap {
    LKS_BMCS_NONE,
    LKS_BMCS_LOSE_REQUEST, /* it never arrives */
    LKS_BMCS_LOSE_ANSWER,  /* it arrives, and the answer does not */
    LKS_BMCS_CUT,          /* the first `amount` thousandths of its body arrive */
    LKS_BMCS_KILL_BEFORE,  /* the process ends: what is saved is durable, nothing was sent */
    LKS_BMCS_KILL_CUT,     /* after so many thousandths of the body */
    LKS_BMCS_KILL_SENT,    /* when all was sent and the answer not yet read */
    LKS_BMCS_KILL_HEARD,   /* when the answer was read, and what follows from it not yet durable */
};

struct lks_bmcs {
    struct lks_bmcsim *sim; /* owned */
    lks_ms now;
    struct lks_buf image;  /* what the digest stands for; empty: there is none */
    struct lks_buf saved;  /* what was made durable last */
    unsigned requests;     /* that were to be sent, from the beginning */
    unsigned uploads;      /* of them with a file, */
    unsigned first_upload; /* and the number of the first such */

    /* What goes wrong, and when. */
    enum lks_bmcs_mishap mishap;
    unsigned at;     /* the number of the request, */
    bool at_upload;  /* or else the first with a file */
    unsigned amount; /* thousandths */
    bool lose_all;   /* from there on nothing arrives */

    /* Seen along the way, NULL: by nobody. */
    void (*seen)(void *context, const struct lks_http_request *request, int status);
    void *context;

    struct lks_err err; /* of a conversation that failed */
};

enum lks_bmcs_end { LKS_BMCS_DONE, LKS_BMCS_FAIL, LKS_BMCS_KILLED, LKS_BMCS_ENDLESS };

/* A BMC of `personality` whose devices have version 1.0.0 and which is `speed` times as fast as one
 * in the field. Aborts when there is no memory. */
void lks_bmcs_init(struct lks_bmcs *m, enum lks_bmcsim_personality personality, uint64_t seed,
                   uint64_t speed);
void lks_bmcs_fini(struct lks_bmcs *m);

/* The log-in of these BMCs. */
struct lks_bmc_secret lks_bmcs_secret(void);

/* Run until it ends, one way or another. */
enum lks_bmcs_end lks_bmcs_run(struct lks_bmcs *m, const struct lks_conversation_ops *ops,
                               void *value);

/* The pieces of that, for whoever runs several at a time: a request, or the first `amount`
 * thousandths of its body, before the BMC; the headers of a reply as a response has them; and time
 * that goes by. */
void lks_bmcs_deliver(struct lks_bmcs *m, const struct lks_http_request *r, bool cut,
                      struct lks_bmcsim_reply *out);
void lks_bmcs_head(struct lks_str head, struct lks_buf *out);
void lks_bmcs_pass(struct lks_bmcs *m, lks_ms until);

/* A package for `class`, as the image of an intent for it. */
void lks_bmcs_package(struct lks_bmcs *m, enum lks_bmcsim_personality personality,
                      const char *class, const char *version, struct lks_bmc_intent *out);

/* The driver that fits the personality. */
const struct lks_bmc_driver *lks_bmcs_driver(enum lks_bmcsim_personality personality);

/* An update from its beginning or, where something is saved, from there; it is run on after each
 * end of the process. */
struct lks_bmcs_result {
    enum lks_bmcs_end end;
    struct lks_bmc_status status; /* views of `value` */
    void *value;                  /* owned by the caller: free() */
};
void lks_bmcs_update(struct lks_bmcs *m, enum lks_bmcsim_personality personality,
                     const struct lks_bmc_intent *intent, struct lks_bmcs_result *out);

/* What the devices of a class have by the truth: how many run `version`, and the most often that
 * one of them was flashed. */
struct lks_bmcs_truth {
    unsigned devices, running, staged, bricked;
    uint32_t most_flashes;
};
struct lks_bmcs_truth lks_bmcs_truth(const struct lks_bmcs *m, const char *class,
                                     const char *version);

#endif
