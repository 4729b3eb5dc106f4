/*
 * Which fields of a record set which columns of a row. Most of what a record makes true is such an
 * assignment; the code of core/fold/apply*.c finds the row and does the rest. One table serves both
 * ways, so that a plan that is written as records again has what was applied.
 */
#ifndef LKS_CORE_FOLD_SETS_H
#define LKS_CORE_FOLD_SETS_H

#include "core/fold/apply.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

/* Assign what the record says to `row`, which is the struct that the table of its kind names. */
enum lks_code lks_sets_apply(const struct lks_applying *a, void *row) LKS_MUST_CHECK;

/* Take `made`, but for what the table sets, into a list in order of the table's first text, which
 * is its key; nothing where the record has none. */
enum lks_code lks_sets_put(const struct lks_applying *a, enum lks_sorted list,
                           void *made) LKS_MUST_CHECK;

/* The fields of a record of this kind, from the row. */
void lks_sets_dump(const struct lks_state *s, enum lks_record_kind kind, const void *row,
                   void *record);

#endif
