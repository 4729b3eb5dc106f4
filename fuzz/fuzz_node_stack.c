/* Any bytes as the file with a node's stack: what is accepted prints to bytes that are accepted
 * again and mean the same, and sets no variable that is not for jobs. As LOCKSTEP_ENV and as a wish
 * for a stack they are read without harm. */
#include "agent/hooks/job_env.h"
#include "agent/hooks/node_stack.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(struct lks_str bytes)
{
    static struct lks_node_stack s, back;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF((size_t)2 * LKS_NODE_STACK_BYTES_MAX);
    struct lks_err err = {0};
    struct lks_str name, value, rest;
    if (lks_node_stack_parse(bytes, &s, &err) != LKS_OK)
        return;
    rest = lks_str_from(s.env);
    while (lks_node_stack_next(&rest, &name, &value)) {
        LKS_ASSERT(lks_str_is_variable(name) && lks_str_printable(value));
        LKS_ASSERT(!lks_str_starts(name, "LD_") && !lks_str_starts(name, "SLURM"));
    }
    lks_node_stack_pack(&s, &again);
    LKS_ASSERT(lks_node_stack_parse(lks_buf_view(&again), &back, &err) == LKS_OK);
    LKS_ASSERT(memcmp(&s, &back, sizeof(s)) == 0);
}

static void check_list(struct lks_str rest)
{
    struct lks_str name;
    uint32_t hash = 0;
    while (lks_job_env_next(&rest, &name, &hash))
        LKS_ASSERT(lks_str_is_variable(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str bytes = {size > 0 ? (const char *)data : "", size};
    check_file(bytes);
    check_list(bytes);
    LKS_ASSERT(!lks_node_stack_wish(bytes) || lks_str_printable(bytes));
    return 0;
}
