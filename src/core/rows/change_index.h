/* What is looked up about a change while it is large: units by their domains, and the stacks that
 * its members come from. It follows from units and members, and is kept along with them. */
#ifndef LKS_ROWS_CHANGE_INDEX_H
#define LKS_ROWS_CHANGE_INDEX_H

#include "base/compiler.h"
#include "base/err.h"
#include "core/rows/change.h"

/* The unit of a domain is found by this from here on. */
enum lks_code lks_change_index_unit(struct lks_state_change *c, uint32_t unit,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* The unit of the domain in that wave: place + 1; 0: there is none. */
uint32_t lks_change_unit(const struct lks_state_change *c, uint32_t wave, lks_text domain);

/* A member comes from there; and whether any member does. */
enum lks_code lks_change_index_from(struct lks_state_change *c, lks_text from,
                                    struct lks_err *err) LKS_MUST_CHECK;
bool lks_change_comes_from(const struct lks_state_change *c, lks_text from);

void lks_change_index_fini(struct lks_change_index *x);

#endif
