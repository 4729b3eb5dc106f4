/*
 * Certificates of machines that were replaced. lockstepd's own certificates are good while the node
 * has them; one of the site's authority would be good without that, and stays out by this list. It
 * follows from records, so it holds over restarts and on every controller.
 */
#ifndef LKS_CORE_BARRED_H
#define LKS_CORE_BARRED_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"

struct lks_barred;
struct lks_state;

/* Whether the certificate is that of a machine of this name that was replaced. */
bool lks_barred_is(const struct lks_state *s, uint32_t node, struct lks_str fingerprint);

/* One more; where there are too many, those that ended by `now` make way, or else the oldest. */
enum lks_code lks_barred_add(struct lks_state *s, struct lks_barred barred, lks_ms now,
                             struct lks_err *err) LKS_MUST_CHECK;

#endif
