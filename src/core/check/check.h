/*
 * Can this stack work on its hardware, for how long, and with which known vulnerabilities?
 *
 * Rules are a table; each looks at the stack and notes what it finds. An error means "this cannot
 * work", a warning "this will hurt", and what rests on an unconfirmed fact is never an error.
 */
#ifndef LKS_CORE_CHECK_H
#define LKS_CORE_CHECK_H

#include "core/compat/report.h"
#include "model/manifest/fleet.h"
#include "model/manifest/stack.h"

/* How long before its end a branch is complained about. */
#define LKS_CHECK_EOL_DAYS 90

struct lks_check {
    const struct lks_facts *facts;
    const struct lks_stack *stack;
    const struct lks_fleet *fleets; /* whose pools' version policies apply */
    size_t fleet_count;
    struct lks_str gpu; /* judge for this GPU instead of the classes'; or empty */
    lks_day today;
};

struct lks_check_rule {
    const char *id;
    const char *about;
};

/* The rules there are, for the reference page; NULL behind the last. */
const struct lks_check_rule *lks_check_rule(size_t index);

/* Apply every rule. A GPU that is a family is judged by its best-supported board, as compat does,
 * and the boards that answer differently are noted. */
enum lks_code lks_check_run(const struct lks_check *check, struct lks_report *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Only what is most likely misspelled, for commands that take a stack and ask nothing else of it:
 * unknown components and versions, as warnings. */
enum lks_code lks_check_names(const struct lks_facts *facts, const struct lks_stack *stack,
                              struct lks_report *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
