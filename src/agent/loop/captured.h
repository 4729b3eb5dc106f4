/*
 * What acts on a captured tree in the place of a machine: orders, acceptance checks and boots.
 * lockstep-agent has none of it, reads such a tree and refuses to act on it; lockstep-agentsim
 * brings its own (lab/agent/simulated.h).
 */
#ifndef LKS_AGENT_CAPTURED_H
#define LKS_AGENT_CAPTURED_H

#include "base/buf.h"
#include "model/record/record.h"
#include "trust/envelope.h"

struct lks_probe;

struct lks_captured {
    /* Carry out the order that the command names first, with artifacts of the depot at `depot`.
     * What it came to is appended to `text`. */
    enum lks_outcome (*order)(const char *root, const char *depot, const struct lks_envelope *e,
                              struct lks_buf *text);
    enum lks_outcome (*accept)(const char *root, struct lks_buf *text);
    void (*read_agent)(struct lks_probe *p); /* the probe of the agent's version */
    enum lks_code (*reboot)(const char *root, struct lks_err *err);
};

#endif
