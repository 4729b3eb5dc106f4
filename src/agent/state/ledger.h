/* The ledger of commands (core/agentlink/at_most_once.h) as a file: durable before a command runs.
 * The agent has one, the helper another: neither believes the other. */
#ifndef LKS_AGENT_LEDGER_H
#define LKS_AGENT_LEDGER_H

#include "agent/state/statedir.h"
#include "core/agentlink/at_most_once.h"

#define LKS_LEDGER_FILE "ledger"

/* Told of each command that had begun and not ended when the program stopped. */
typedef enum lks_code lks_ledger_fn(void *ctx, const struct lks_at_most_once_entry *entry,
                                    struct lks_err *err);

/* Empty where there is no file. What had begun is UNKNOWN from now on, in the file too, once
 * `unknown` has heard of it. The caller owes lks_at_most_once_fini(). */
enum lks_code lks_ledger_load(const struct lks_statedir *dir, lks_ledger_fn *unknown, void *ctx,
                              struct lks_at_most_once *out, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_ledger_save(const struct lks_statedir *dir, const struct lks_at_most_once *once,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
