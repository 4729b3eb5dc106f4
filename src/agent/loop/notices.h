/*
 * Notices of programs of this node (agent/hooks/notice.h): the socket that they come by, the state
 * that those programs read, and the report of a health check to the controller.
 *
 * A result of a check that is no news is dropped, but for a repetition now and then. The newest
 * one that the controller has not taken waits in memory: the check itself repeats it after a
 * restart.
 */
#ifndef LKS_AGENT_NOTICES_H
#define LKS_AGENT_NOTICES_H

#include "agent/hooks/notice.h"
#include "agent/state/statedir.h"
#include "base/time.h"

#define LKS_NOTICES_FAILED_MS (300 * LKS_SECOND)  /* a failure is repeated after so long, */
#define LKS_NOTICES_PASSED_MS (3600 * LKS_SECOND) /* and that the check passes */
#define LKS_NOTICES_HASTE_MS  (20 * LKS_SECOND)   /* after a job ended on a node that drains, */
#define LKS_NOTICES_BEAT_MS   (2 * LKS_SECOND)    /* heartbeats come so often */

struct lks_notices {
    struct lks_statedir dir;
    int fd;                /* 0: no programs report */
    const char *published; /* the state that is in the file */
    bool failed;           /* it cannot be written, which was said */
    bool heard;            /* the controller, since the start */
    bool changing;         /* as it says */
    bool pending;          /* `last` is to be reported */
    struct lks_notice last;
    bool sent; /* something was: */
    enum lks_notice_kind sent_kind;
    lks_ms sent_at; /* mono */
    lks_ms haste;   /* mono: until when heartbeats hurry */
};

struct lks_agent;
struct lks_err;

/* Without --run nothing. A folder or socket that cannot be made is a warning in the log. */
void lks_agent_notices_open(struct lks_agent *a);
void lks_agent_notices_close(struct lks_agent *a);

/* Remove what it has in the folder, and the file of the stack; a signal handler may call it. */
void lks_agent_notices_remove(void);

/* Take in what arrived. */
void lks_agent_notices_hear(struct lks_agent *a);

/* The state file, if it is not up to date. */
void lks_agent_notices_publish(struct lks_agent *a);

/* The controller answered a heartbeat. */
void lks_agent_notices_beat(struct lks_agent *a, bool changing);

/* When the next heartbeat is to come at the latest (mono). */
lks_ms lks_agent_notices_due(const struct lks_agent *a);

/* Report the result that waits. */
enum lks_code lks_agent_notices_push(struct lks_agent *a, struct lks_err *err) LKS_MUST_CHECK;

#endif
