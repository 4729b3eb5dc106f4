/* Columns of a node that people set with `node set`. Each is a TEXT with the flag SETTABLE; the
 * form of the request, the help and the reference page list them from here. */
#ifndef LKS_CORE_SETTABLE_H
#define LKS_CORE_SETTABLE_H

#include "core/entity/entity.h"

#define LKS_SETTABLE_MAX 256 /* bytes of a value */

/* X(member of struct lks_node, option of `node ls`, uses, meaning): LKS_USE_LISTED |
 * LKS_USE_FILTER, for one that lists show and filter by. */
#define LKS_SETTABLE_NODE(X)                                                                       \
    X(assigned_to, "--assigned-to", LKS_USE_LISTED | LKS_USE_FILTER | LKS_USE_SORT,                \
      "The person or ticket that it is assigned to.")

/* Their names; ends with NULL. */
extern const char *const lks_settable_node_words[];

/* The column of that name; NULL: there is none that people set. */
const struct lks_column *lks_settable_find(struct lks_str name);

#endif
