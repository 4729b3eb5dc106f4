/*
 * Executors of a simulated machine: orders that change a captured tree in the place of a machine.
 *
 * The artifact of a package or a firmware image is a small JSON document. What it does is written
 * down in it:
 *
 *     {"files": {"/etc/nccl.version": "2.28.3\n",                       a file as a whole
 *                "/lockstep/nvml.csv": {"from": "96.00", "to": "96.01"}, every such text in it
 *                "/opt/old": null},                                      it goes
 *      "fails_on": ["A03"],     hardware revisions on which it cannot be installed,
 *      "breaks_on": ["A03"]}    and on which it can, but does not pass the acceptance checks
 *
 * The machine's hardware revision is the first line of /lockstep/revision in the tree; what is
 * broken stands in /lockstep/broken until something else is installed in its place. Where a package
 * is to go its files go, and texts become what they were. Settings change what the tree answers.
 * Every file is replaced as a whole, never written to: trees share theirs by hard links.
 */
#ifndef LKS_AGENT_SIMULATED_H
#define LKS_AGENT_SIMULATED_H

#include "base/buf.h"
#include "model/manifest/order.h"
#include "model/record/record.h"
#include "trust/envelope.h"

#define LKS_SIMULATED_REVISION "/lockstep/revision"
#define LKS_SIMULATED_BROKEN   "/lockstep/broken"
#define LKS_SIMULATED_FIGURES  "/lockstep/figures" /* what its acceptance checks print */
#define LKS_SIMULATED_AGENT    "/lockstep/agent"   /* the version that the agent says it has */
#define LKS_SIMULATED_MAX      ((size_t)16 << 20) /* bytes of an artifact, or of a file of a tree */

/* Carry out the order that the command names first, with artifacts of the depot at `depot`. What it
 * came to is appended to `text`. */
enum lks_outcome lks_simulated_order(const char *root, const char *depot,
                                     const struct lks_envelope *e, struct lks_buf *text);

/* The acceptance checks: nothing is broken. What they would print is a file of the tree. */
enum lks_outcome lks_simulated_accept(const char *root, struct lks_buf *text);

/* simulated_settings.c: one setting of an order. */
enum lks_code lks_simulated_setting(const char *root, const struct lks_order_item *item,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* A file of the tree, whole; NOT_FOUND. `out` is initialised here. And put one there, directories
 * included. Links are not followed. */
enum lks_code lks_simulated_read(const char *root, const char *path, struct lks_buf *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_simulated_write(const char *root, const char *path, struct lks_str bytes,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
