/* Jobs as runs: those that slurmctld sent last, also the finished ones. */
#include "bridge/slurm/slurm_parts.h"

#include <stdlib.h>
#include <sys/wait.h>

#define ARENA_MAX ((size_t)1 << 30)

static struct lks_str text(const char *maybe)
{
    return lks_str_from(lks_slurm_text(maybe));
}

static lks_ms ms(time_t at)
{
    return at > 0 ? (lks_ms)at * LKS_SECOND : 0;
}

static const char *ended_state(uint32_t base)
{
    static const char *const names[] = {
        [JOB_COMPLETE] = "completed",  [JOB_CANCELLED] = "cancelled", [JOB_FAILED] = "failed",
        [JOB_TIMEOUT] = "timeout",     [JOB_NODE_FAIL] = "node_fail", [JOB_PREEMPTED] = "preempted",
        [JOB_BOOT_FAIL] = "boot_fail", [JOB_DEADLINE] = "deadline",   [JOB_OOM] = "out_of_memory",
    };
    return base < LKS_COUNT(names) && names[base] != NULL ? names[base] : "unknown";
}

/* The reasons that say more than the state; libslurm does not publish its own names. */
static struct lks_str reason(const slurm_job_info_t *from)
{
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {{FAIL_DOWN_NODE, "NodeDown"},
                 {FAIL_DOWN_PARTITION, "PartitionDown"},
                 {FAIL_SYSTEM, "SystemFailure"},
                 {FAIL_LAUNCH, "JobLaunchFailure"},
                 {FAIL_INACTIVE_LIMIT, "InactiveLimit"}};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (names[i].number == from->state_reason)
            return lks_str_from(names[i].name);
    }
    return text(from->state_desc);
}

static enum lks_bridge_run_phase phase(uint32_t state)
{
    uint32_t base = state & JOB_STATE_BASE;
    if (base == JOB_PENDING)
        return LKS_BRIDGE_RUN_WAITS;
    return base < JOB_COMPLETE ? LKS_BRIDGE_RUN_GOES : LKS_BRIDGE_RUN_ENDED;
}

static void convert(struct lks_slurm *s, struct lks_arena *arena, const slurm_job_info_t *from,
                    struct lks_bridge_run *out)
{
    struct lks_bridge_job job;
    uint32_t base = from->job_state & JOB_STATE_BASE;
    lks_slurm_convert_job(s, from, &job);
    /* A job that waits has a start that is expected, unless a run of it is ending. */
    bool ran = base != JOB_PENDING || (from->job_state & JOB_COMPLETING) != 0;
    bool ended = base >= JOB_COMPLETE || (from->job_state & JOB_COMPLETING) != 0;
    bool status = base >= JOB_COMPLETE && from->exit_code != NO_VAL;
    int code = (int)from->exit_code;
    *out = (struct lks_bridge_run){
        .id = lks_slurm_convert_id(arena, from),
        .name = job.name,
        .user = job.user,
        .account = job.account,
        .partition = job.partition,
        .state = base >= JOB_COMPLETE ? lks_str_from(ended_state(base)) : LKS_STR(""),
        .reason = base >= JOB_COMPLETE ? reason(from) : LKS_STR(""),
        .nodes = job.nodes,
        .phase = phase(from->job_state),
        .started = ran ? ms(from->start_time) : 0,
        .ended = ended ? ms(from->end_time) : 0,
        .gpus = job.gpus,
        .restarts = from->restart_cnt,
        .exit = status && WIFEXITED(code) ? WEXITSTATUS(code) : -1,
        .signal = status && WIFSIGNALED(code) ? WTERMSIG(code) : -1,
    };
}

static int by_name(const void *a, const void *b)
{
    return lks_str_cmp(*(const struct lks_str *)a, *(const struct lks_str *)b);
}

static size_t down_nodes(const struct lks_slurm *s, struct lks_str *out)
{
    size_t count = 0;
    for (uint32_t i = 0; s->node_msg != NULL && i < s->node_msg->record_count; i++) {
        const node_info_t *node = &s->node_msg->node_array[i];
        bool down = (node->node_state & NODE_STATE_BASE) == NODE_STATE_DOWN ||
                    (node->node_state & NODE_STATE_NO_RESPOND) != 0;
        if (down && node->name != NULL && node->name[0] != '\0')
            out[count++] = lks_str_from(node->name);
    }
    qsort(out, count, sizeof(*out), by_name);
    return count;
}

enum lks_code lks_slurm_runs(struct lks_slurm *s, struct lks_arena *arena,
                             struct lks_bridge_runs_reading *out, bool *fresh, struct lks_err *err)
{
    *fresh = s->runs_fresh && s->conf_known;
    if (!*fresh)
        return LKS_OK;
    uint32_t jobs = s->job_msg != NULL ? s->job_msg->record_count : 0;
    uint32_t nodes = s->node_msg != NULL ? s->node_msg->record_count : 0;
    lks_arena_init(arena, ARENA_MAX);
    struct lks_bridge_run *runs = lks_arena_array(arena, jobs + (size_t)1, sizeof(*runs));
    struct lks_str *down = lks_arena_array(arena, nodes + (size_t)1, sizeof(*down));
    for (uint32_t i = 0; runs != NULL && i < jobs; i++)
        convert(s, arena, &s->job_msg->job_array[i], &runs[i]);
    if (arena->out_of_memory)
        return lks_arena_fail(arena, err);
    lks_ms at = s->job_msg != NULL ? ms(s->job_msg->last_update) : 0;
    *out = (struct lks_bridge_runs_reading){
        .runs = runs,
        .count = jobs,
        .at = at,
        .kept = s->min_job_age > 0 ? (lks_ms)s->min_job_age * LKS_SECOND : at,
        .down = down,
        .down_count = down_nodes(s, down),
    };
    s->runs_fresh = false;
    return LKS_OK;
}

void lks_slurm_runs_lost(struct lks_slurm *s)
{
    s->runs_fresh = true;
}
