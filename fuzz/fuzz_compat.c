/* Lines of any bytes as driver, toolkit, GPU, modules and compat package: there is always an
 * answer, always the same one, and always a rule behind it. */
#include "core/compat/compat.h"
#include "tests/facts.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(const struct lks_compat_question *q, const struct lks_compat_answer *a)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_report_check(&a->rules, &err) == LKS_OK);
    LKS_ASSERT(a->rules.count > 0);
    LKS_ASSERT(a->reason <= LKS_NO_MODULE);
    LKS_ASSERT(lks_compat_reason_name(a->reason)[0] != '\0' &&
               lks_compat_reason_about(a->reason)[0] != '\0');
    LKS_ASSERT(a->other_count <= LKS_COMPAT_BOARDS_MAX);
    LKS_ASSERT(a->board != NULL || a->reason == LKS_UNKNOWN);
    if (a->board != NULL)
        LKS_ASSERT(lks_compat_judge(lks_test_facts(), q, a->board, NULL) == a->reason);
    for (size_t i = 0; i < a->other_count; i++)
        LKS_ASSERT(a->others[i].reason >= a->reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_compat_question q = {0};
    struct lks_str rest = {size > 0 ? (const char *)data : "", size};
    struct lks_str *const fields[] = {&q.driver, &q.toolkit, &q.gpu, &q.modules, &q.compat_package};
    for (size_t i = 0; i < LKS_COUNT(fields); i++)
        lks_str_cut(rest, '\n', fields[i], &rest);
    q.needs_ptx_jit = rest.len > 0;

    LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer first = {0};
    LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer second = {0};
    lks_compat_ask(lks_test_facts(), &q, &first);
    lks_compat_ask(lks_test_facts(), &q, &second);
    check_answer(&q, &first);
    LKS_ASSERT(first.reason == second.reason && first.board == second.board);
    LKS_ASSERT(lks_str_eq(first.remedy, second.remedy));
    return 0;
}
