/*
 * Artifacts of commands, fetched before their executor runs: into the folder `depot` of the agent's
 * state, each by its digest (drivers/depot/depot_files.h).
 *
 * The agent runs itself with --fetch, as for readings: what may take hours is no part of the
 * process that says every few seconds that the node lives. The command is not begun meanwhile, so
 * an agent that is started anew is given it again, and goes on where the last one stopped. A server
 * near by is asked first; whatever anyone sends has to have the digest, so one that lies costs
 * time.
 *
 * What the program prints, a line each: "lied URL", and at last "failed TEXT" if it has not all.
 */
#ifndef LKS_AGENT_FETCH_H
#define LKS_AGENT_FETCH_H

#include "agent/helper/subtask.h"
#include "trust/envelope.h"

#include <stdio.h>

#define LKS_FETCH_FOLDER  "depot"
#define LKS_FETCH_BYTES   ((uint64_t)32 << 30) /* that artifacts may take on a node */
#define LKS_FETCH_SERVERS 16

struct lks_fetch_options {
    const char *state;
    const char *digests;           /* with blanks between */
    const char *servers;           /* the same; asked in this order */
    const char *certificate, *key; /* names of files in the state */
    uint64_t bytes;                /* that artifacts may take */
};

/* What --fetch does. */
enum lks_code lks_fetch_run(const struct lks_fetch_options *options, FILE *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* A command that waits for its artifacts. */
struct lks_fetch {
    struct lks_subtask errand;
    uint64_t id;
    struct lks_buf envelope;
};

struct lks_agent;

/* Whether all artifacts of the command are there, and were looked at for it. */
bool lks_agent_fetch_complete(const struct lks_agent *a, const struct lks_envelope *e);
/* Have them fetched, unless something is being fetched already; the command is then looked at
 * again. */
void lks_agent_fetch(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope);
void lks_agent_fetch_over(struct lks_agent *a);
void lks_fetch_fini(struct lks_fetch *f);

#endif
