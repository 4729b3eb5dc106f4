/* Taking serials, addresses and names out of a capture, so that it can be shown to others. */
#ifndef LKS_PROBE_SCRUB_H
#define LKS_PROBE_SCRUB_H

#include "model/tuple/tuple.h"

/* In every file below directory `dir`, replace what `tuple` calls secret, and the node's name, by
 * zeroes of the same shape. What a stack can pin is left as it is, so the digest stays. */
enum lks_code lks_scrub(int dir, const struct lks_tuple *tuple, struct lks_err *err) LKS_MUST_CHECK;

#endif
