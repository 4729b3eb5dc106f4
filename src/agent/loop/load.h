/*
 * The reference load: a program of the site that keeps a canary busy while it soaks, so that its
 * gate sees it at work though no job may be put at risk there.
 *
 * The controller says with its mail that it is wanted, and it runs for as long as that was said
 * lately: it stops when it is not said any more, when the controller is not heard, when a command
 * comes, and with us, even if we are killed. Before each slice the machine is looked at: where a
 * process is on a GPU that is not ours, nothing is begun. What may run is what root put into one
 * folder of this node; it runs as our user, in a session of its own.
 */
#ifndef LKS_AGENT_LOAD_H
#define LKS_AGENT_LOAD_H

#include "agent/helper/subtask.h"
#include "agent/loop/answers.h"
#include "base/time.h"

#define LKS_LOAD_FOLDER   "/etc/lockstep/loads"
#define LKS_LOAD_SLICE_MS (300 * 1000)
#define LKS_LOAD_AGAIN_MS 60000 /* after it could not begin, or failed */

enum lks_load_part { LKS_LOAD_OFF, LKS_LOAD_LOOKS, LKS_LOAD_RUNS };

struct lks_load {
    char wanted[LKS_MAIL_LOAD_SIZE]; /* empty: none */
    lks_ms lasts;                    /* mono: until when that holds */
    lks_ms again;                    /* mono: no sooner than this */
    enum lks_load_part part;
    bool deaf; /* it closed its output, and runs on */
    bool ran;  /* up to the check in progress: the machine is at work but for that */
    struct lks_subtask errand;
};

struct lks_agent;

/* The controller wants it, or none where `name` is empty. */
void lks_load_want(struct lks_agent *a, const char *name);

/* Begin, or stop, as is due. */
void lks_load_step(struct lks_agent *a);

/* Take in what it says, and that it ended. */
void lks_load_hear(struct lks_agent *a);

/* Now, with all that it started. */
void lks_load_stop(struct lks_agent *a);

/* Whether the machine is under load by it. */
bool lks_load_on(const struct lks_load *l);

/* When a step is due at the latest (mono). */
lks_ms lks_load_due(const struct lks_agent *a);

#endif
