/*
 * What the verdict on a node can name: the components, settings and tuning that its stack pins, as
 * rows of a verdict and deviations call them.
 */
#ifndef LKS_CORE_SUBJECTS_H
#define LKS_CORE_SUBJECTS_H

#include "core/registry/book.h"

struct lks_state;

/* Whether a row about one of the nodes could be called `subject`, so that a deviation for it can
 * cover anything. False, and in `near` the nearest that could (it may be empty), where none can.
 * True where nothing is known of what the nodes should run. */
bool lks_subject_known(const struct lks_state *s, const struct lks_book *book,
                       const struct lks_hostlist *nodes, struct lks_str subject,
                       struct lks_buf *near);

#endif
