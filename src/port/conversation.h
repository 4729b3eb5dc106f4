/*
 * A conversation: what a driver says to one peer over several requests, and what it makes of the
 * answers. It has neither sockets nor a clock; its caller has both:
 *
 *     lks_conversation_next()   SEND request   carry it out, then feed the answer, or NULL when
 *                                              none came, or not all of it, before `until`
 *                               WAIT until     ask again then
 *                               DONE
 *                               FAIL err
 *     lks_conversation_feed()   what came of it
 *
 * So one driver runs against a real peer, a recording and the simulator, thousands at a time in one
 * thread; and where it has save() it survives a restart:
 *
 *   - next() changes nothing: asked twice, it says the same twice;
 *   - a step with `checkpoint` is carried out only after what save() writes is durable;
 *   - after a restart, load() what was saved last and feed NULL: a restart is an answer that did
 *     not come. A driver that may have begun something looks for it before it begins it again;
 *   - secrets are never saved;
 *   - it ends: every step has a bounded number of tries, and the whole has a deadline.
 *
 * Times are on a wall clock that never decreases, since a deadline outlives the process.
 *
 * A driver fills in `struct lks_conversation_ops`; its value begins with a `struct
 * lks_conversation`. What holds for every driver (waiting, busy peers, the deadline) is here.
 */
#ifndef LKS_PORT_CONVERSATION_H
#define LKS_PORT_CONVERSATION_H

#include "model/record/machine.h"
#include "port/http.h"

#define LKS_CONVERSATION_TRIES_MAX 6
#define LKS_CONVERSATION_SAVED_MAX ((size_t)32 << 10)

enum lks_talk_kind { LKS_TALK_SEND, LKS_TALK_WAIT, LKS_TALK_DONE, LKS_TALK_FAIL };

struct lks_talk { /* what is to be done next */
    enum lks_talk_kind kind;
    bool checkpoint;                 /* SEND, WAIT: what save() writes is durable first */
    lks_ms until;                    /* SEND: feed NULL then; WAIT: ask again then */
    struct lks_http_request request; /* SEND */
    struct lks_err err;              /* FAIL */
};

struct lks_conversation {
    uint32_t step; /* the driver's own numbering */
    uint32_t tries;
    lks_ms wait_until;
    lks_ms deadline;
    struct lks_err err; /* code other than LKS_OK: it failed */
    bool checkpoint;
    bool ended;
};

/* Where a conversation is that changes something at its peer: an update of firmware. Nothing is
 * sent after a look at the peer that an earlier phase made stale. */
enum lks_conversation_phase {
    LKS_PHASE_READING,    /* the peer, its inventory, its tasks */
    LKS_PHASE_PREPARING,  /* for what is to be sent */
    LKS_PHASE_SENDING,    /* what begins an update */
    LKS_PHASE_FOLLOWING,  /* the task it became */
    LKS_PHASE_ACTIVATING, /* finding the reset that is needed, and making ready for it */
    LKS_PHASE_RESETTING,  /* what activates an update */
    LKS_PHASE_CANCELLING, /* giving up what is staged */
    LKS_PHASE_CLOSING,    /* the session */
    LKS_PHASE_DONE,
    LKS_PHASE_FAILED,
    LKS_PHASE_COUNT
};
extern const struct lks_machine lks_conversation_moves;

struct lks_conversation_ops {
    const char *name;
    size_t size; /* of the value */

    /* Write the request of the step the value is in, and say how long an answer may take. */
    lks_ms (*ask)(const void *value, struct lks_http_request *out);

    /* Make the best of the answer, or of none (NULL): go, retry, end or fail. */
    void (*hear)(void *value, lks_ms now, const struct lks_http_response *answer);
    /* It hears of busy peers (429, 503) and of other 5xx too, which otherwise are a retry of the
     * step and no answer: how long to be patient with a peer that restarts depends on the step. */
    bool hears_all;

    /* The phase of the step the value is in, for conversations that change something; NULL: it only
     * reads. */
    enum lks_conversation_phase (*phase)(const void *value);

    /* What has to survive, as one line of JSON, and back into a value that was begun with the same
     * secrets. NULL: after a restart it starts over. */
    void (*save)(const void *value, struct lks_buf *out);
    enum lks_code (*load)(void *value, struct lks_str saved, struct lks_err *err);
};

void lks_conversation_talk_init(struct lks_talk *t);
void lks_conversation_talk_fini(struct lks_talk *t);

/* `out` was initialised; what it held is gone. */
void lks_conversation_next(const struct lks_conversation_ops *ops, const void *value, lks_ms now,
                           struct lks_talk *out);
void lks_conversation_feed(const struct lks_conversation_ops *ops, void *value, lks_ms now,
                           const struct lks_http_response *answer);

/* For drivers, in hear(). Each settles what happens next. */
void lks_conversation_go(struct lks_conversation *c, uint32_t step, lks_ms wait_until);
void lks_conversation_go_checkpoint(struct lks_conversation *c, uint32_t step, lks_ms wait_until);
/* The same step again; fails after LKS_CONVERSATION_TRIES_MAX in a row. */
void lks_conversation_retry(struct lks_conversation *c, lks_ms wait_until);
void lks_conversation_end(struct lks_conversation *c);
void lks_conversation_fail(struct lks_conversation *c, enum lks_code code, const char *fmt, ...)
    LKS_PRINTF(3, 4);

#endif
