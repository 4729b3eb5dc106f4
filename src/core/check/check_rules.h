/* What the files of rules share. For core/check/check*.c alone. */
#ifndef LKS_CORE_CHECK_RULES_H
#define LKS_CORE_CHECK_RULES_H

#include "core/check/check.h"
#include "core/compat/boards.h"
#include "core/compat/compat.h"
#include "core/compat/parts.h"

/* A check in progress. */
struct lks_checking {
    const struct lks_check *in;
    const struct lks_facts *facts;
    const struct lks_stack *stack;
    const char *rule;                           /* id of the rule that runs */
    struct lks_str gpus[LKS_STACK_CLASSES_MAX]; /* to judge for, each name once */
    size_t gpu_count;
    const struct lks_gpu *boards[LKS_STACK_CLASSES_MAX]; /* the best one of each, as far as known */
    size_t board_count;
    struct lks_report *out;
    struct lks_err *err;
};

#define LKS_NOTE_FINDING(c, severity, subject, fact, ...)                                          \
    lks_report_add((c)->out, (c)->rule, (severity), (subject), (fact), __VA_ARGS__)

typedef enum lks_code lks_rule_fn(struct lks_checking *c);

lks_rule_fn lks_check_compat;
lks_rule_fn lks_check_driver_family;
lks_rule_fn lks_check_nccl;
lks_rule_fn lks_check_cudnn;
lks_rule_fn lks_check_cdmm;
lks_rule_fn lks_check_mig;
lks_rule_fn lks_check_toolkit_library;
lks_rule_fn lks_check_bundled_driver;
lks_rule_fn lks_check_kernel;
lks_rule_fn lks_check_dcgm;
lks_rule_fn lks_check_gpu_operator;
lks_rule_fn lks_check_rocm_parts;
lks_rule_fn lks_check_rocm_firmware;
lks_rule_fn lks_check_edges;
lks_rule_fn lks_check_lifecycle;
lks_rule_fn lks_check_last_branch;
lks_rule_fn lks_check_unattended;
lks_rule_fn lks_check_one_way;
lks_rule_fn lks_check_spelling;
lks_rule_fn lks_check_known_version;
lks_rule_fn lks_check_advisories;
lks_rule_fn lks_check_policy;

#endif
