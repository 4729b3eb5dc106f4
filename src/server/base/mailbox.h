/*
 * Messages between threads. A mailbox belongs to one uv loop: any thread may post, and the loop's
 * thread is given the messages in the order they were posted. The holder of a message owns it;
 * posting hands it over, so nothing in it needs a lock.
 */
#ifndef LKS_SERVER_MAILBOX_H
#define LKS_SERVER_MAILBOX_H

#include "base/err.h"

#include <uv.h>

/* The first member of every message. */
struct lks_mail {
    struct lks_mail *next;
    int kind; /* the receiver's business */
};

/* Takes the message over. */
typedef void lks_mail_fn(void *ctx, struct lks_mail *mail);

/* Messages in the order they were posted. */
struct lks_mail_queue {
    uv_mutex_t lock;
    struct lks_mail *first, **last;
    void (*drop)(struct lks_mail *mail); /* not NULL: closed */
};

struct lks_mailbox {
    uv_async_t wake;
    struct lks_mail_queue queue;
    lks_mail_fn *deliver;
    void (*after)(void *ctx); /* called once after each run of messages, or NULL */
    void *ctx;
};

enum lks_code lks_mailbox_init(struct lks_mailbox *box, uv_loop_t *loop, lks_mail_fn *deliver,
                               void (*after)(void *ctx), void *ctx,
                               struct lks_err *err) LKS_MUST_CHECK;

/* All messages of a queue; it is empty afterwards. */
struct lks_mail *lks_mailbox_take(struct lks_mail_queue *q);

/* Drop what is in a queue, and from now on what is posted. */
void lks_mailbox_shut(struct lks_mail_queue *q, void (*drop)(struct lks_mail *mail));

/* From any thread. */
void lks_mailbox_post(struct lks_mailbox *box, struct lks_mail *mail);

/* On the loop's thread: what is left, and what is still posted, is dropped by `drop`. The loop runs
 * once more for the handle to close. The lock stays, for others may be slower to end. */
void lks_mailbox_close(struct lks_mailbox *box, void (*drop)(struct lks_mail *mail));

#endif
