/* The runs of jobs that ended, as a bridge answers: whatever the bytes are, places rise, texts can
 * be printed and are bounded, and no run ends before it started. */
#include "core/sched/runs.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_sched_runs_fini) struct lks_sched_runs runs = {0};
    struct lks_sched_runs_place before = {0};
    struct lks_err err = {0};
    struct lks_str json = {size > 0 ? (const char *)data : "", size};
    if (lks_sched_runs_read(json, before, &runs, &err) != LKS_OK) {
        LKS_ASSERT(runs.items == NULL && err.msg[0] != '\0');
        return 0;
    }
    LKS_ASSERT(runs.count + runs.unread <= LKS_SCHED_RUNS_PAGE);
    for (uint32_t i = 0; i < runs.count; i++) {
        const struct lks_sched_run *run = &runs.items[i];
        const struct lks_str texts[] = {run->place.id,  run->name,   run->user, run->account,
                                        run->partition, run->reason, run->down, run->exit};
        LKS_ASSERT(lks_sched_runs_compare(before, run->place) < 0);
        LKS_ASSERT(run->ended >= run->started && run->state < LKS_RUN_STATE_COUNT);
        LKS_ASSERT(lks_str_printable(run->nodes));
        for (size_t k = 0; k < LKS_COUNT(texts); k++)
            LKS_ASSERT(lks_str_printable(texts[k]) && texts[k].len <= LKS_SCHED_RUNS_TEXT);
        before = run->place;
    }
    LKS_ASSERT(runs.count == 0 || lks_sched_runs_compare(before, runs.last) <= 0);
    return 0;
}
