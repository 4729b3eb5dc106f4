/*
 * A scheduler, as the engine sees it: something that can be asked to give a node no new work, to
 * say what still runs there, and to use it again. Each is a conversation (port/conversation.h); a
 * driver speaks one scheduler's protocol.
 *
 *     DRAIN    no new work, and services send their requests elsewhere. What runs goes on to its
 *              end. Harmless to repeat. Where another owner drained the node already it is not
 *              refused and not taken over: it ends well and says whose it is.
 *     LOOK     nothing is changed.
 *     RELEASE  new work again, where the drain is ours; a node that is not drained is released
 *              already. A foreign drain is refused: only its owner ends it.
 *
 * Conversations about a whole site are of another type: one request each, with texts and results in
 * memory of the caller that outlives the conversation.
 *
 * Those about a node end with what the scheduler said last, read again after whatever was changed:
 * neither an accepted request nor a lost answer says what became of it. So a value needs no save():
 * after a restart it is begun again, and looks first. Values hold no pointers.
 *
 * Writes carry the epoch of the controller that leads; a scheduler's bridge refuses an older one.
 *
 * A scheduler does not report when the last job ends, and may forget a drain when it restarts. So
 * the caller asks again while it matters; lks_sched_next() (core/actions/sched.h) says what.
 */
#ifndef LKS_PORT_SCHED_H
#define LKS_PORT_SCHED_H

#include "core/actions/sched.h"
#include "port/conversation.h"

#define LKS_SCHED_NODE_MAX  253
#define LKS_SCHED_JOBS_MAX  1000000            /* of a node; beyond it an answer is no good */
#define LKS_SCHED_STALE     (60 * LKS_SECOND)  /* an answer older than this says nothing */
#define LKS_SCHED_PATIENCE  (10 * LKS_SECOND)  /* for one answer */
#define LKS_SCHED_DEADLINE  (120 * LKS_SECOND) /* for a conversation, where nothing else is said */
#define LKS_SCHED_LISTING   (60 * LKS_SECOND)  /* for a list of jobs */
#define LKS_SCHED_JOB_MAX   64                 /* bytes of the id of a job */
#define LKS_SCHED_TURNS_MAX 4                  /* others were faster: it is begun anew so often */

struct lks_sched_driver {
    unsigned lanes; /* conversations with one address at a time; 0: one. About different nodes, or
                       about a site: who begins them keeps the order of those about one node */
    const struct lks_conversation_ops *talk;
    /* INVALID for what no scheduler could be asked. */
    enum lks_code (*begin)(void *value, const struct lks_sched_wish *wish, struct lks_err *err);
    /* What was said last. Only a conversation that ended well says what is so now. */
    void (*said)(const void *value, struct lks_sched_said *out);

    /* The same about a whole site: what ended well was done, and results are in the wish's memory.
     * TIMEOUT: it was sent, and the outcome is unknown. NOT_FOUND: no such job, or another run. */
    const struct lks_conversation_ops *site_talk;
    enum lks_code (*begin_site)(void *value, const struct lks_sched_site_wish *wish,
                                struct lks_err *err);
};

/* For drivers: whether a wish is one that can be asked for. */
enum lks_code lks_sched_check(const struct lks_sched_wish *wish,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_sched_check_site(const struct lks_sched_site_wish *wish,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
