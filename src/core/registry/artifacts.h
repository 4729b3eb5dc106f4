/* Which artifacts something still refers to: what the depot may never collect. */
#ifndef LKS_CORE_ARTIFACTS_H
#define LKS_CORE_ARTIFACTS_H

#include "core/registry/book.h"
#include "core/rows/text.h"

struct lks_state;

/* The digests of the artifacts that a stack names, each once and with blanks between, appended to
 * `out`: those its components are installed from, and its tuning table. */
void lks_artifacts_of(const struct lks_stack *stack, struct lks_buf *out);

/* Whether any of these refers to it: a published stack that is not retired, or that is retired and
 * still the stack of a pool, the one before it, or what a change leads to or back to; a bundle that
 * is good; a command or an update by a management endpoint that has not ended. */
bool lks_artifact_needed(const struct lks_state *s, struct lks_str digest);

/* Whether a pool is pinned to the stack or was before, a node is changing to it, or a change that
 * is not over leads there or back there. */
bool lks_artifact_stack_in_use(const struct lks_state *s, lks_text digest);

#endif
