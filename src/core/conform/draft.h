/*
 * A first golden stack from a machine that is as it should be: the manifest that the machine
 * conforms to, with everything pinned that was measured.
 */
#ifndef LKS_CORE_DRAFT_H
#define LKS_CORE_DRAFT_H

#include "core/compat/report.h"
#include "model/tuple/tuple.h"

/* Append a manifest (YAML) called `name` and `version` to `out`: a hardware class where none that
 * is built in fits the machine, and the stack. What keeps the machine from being golden is noted in
 * `report` as errors, and nothing is appended then; what was left out is a warning, and a comment
 * in the manifest. `today` goes into its evidence. What is no name or no version for a stack is a
 * failure. */
enum lks_code lks_draft_stack(const struct lks_facts *facts, const struct lks_tuple *tuple,
                              struct lks_str name, struct lks_str version, lks_day today,
                              struct lks_buf *out, struct lks_report *report,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
