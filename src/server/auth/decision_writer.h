/* The log of admissions on its way to its files: now and then, and in the thread pool, so that no
 * disk is waited for. */
#ifndef LKS_SERVER_DECISION_WRITER_H
#define LKS_SERVER_DECISION_WRITER_H

#include "server/auth/decisions.h"

#include <uv.h>

struct lks_daemon;

struct lks_decision_writer {
    struct lks_daemon *daemon;
    struct lks_decisions *decisions;
    uv_timer_t timer;
    uv_work_t work;
    struct lks_decision_files files; /* of the work, while it is `busy` */
    struct lks_buf text;             /* the same */
    struct lks_err err;              /* the same: what came of it */
    bool busy, closing;
    bool said; /* that it could not be written */
};

/* Read what was written before, and write down what is new from now on. `decisions` has to outlive
 * the loop. */
enum lks_code lks_decision_writer_open(struct lks_decision_writer *w, struct lks_daemon *daemon,
                                       struct lks_decisions *decisions, uv_loop_t *loop,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* The last of it is written while the loop runs to its end. */
void lks_decision_writer_close(struct lks_decision_writer *w);

#endif
