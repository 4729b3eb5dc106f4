/* What lockstep says of nodes: written in groups, and read again. */
#include "bridge/serve/worker.h"
#include "bridge/slurm/slurm_truth.h"

#include <stdlib.h>

enum { DONE = 200, UNKNOWN = 504 };

static enum lks_code carry_out(struct lks_worker *w, const struct lks_bridge_truth *truth,
                               struct lks_slurm_truth_end *ends, bool *sent, struct lks_err *err)
{
    if (lks_worker_read(w, err) != LKS_OK)
        return err->code;
    *sent = true;
    enum lks_code code = lks_slurm_truth_send(w->slurm, truth, ends, err);
    if (code == LKS_E_UNAVAILABLE)
        lks_slurm_doubt(w->slurm); /* another slurmctld may answer the next reading */
    if (code != LKS_OK || lks_worker_read(w, err) != LKS_OK)
        return err->code;
    return lks_slurm_truth_verify(w->slurm, truth, ends, err);
}

static void write_ends(const struct lks_bridge_truth *truth, const struct lks_slurm_truth_end *ends,
                       struct lks_buf *out)
{
    struct lks_json_writer j = {.out = out};
    uint32_t shown = 0;
    lks_json_begin(&j, NULL, '{');
    lks_json_begin(&j, "failed", '[');
    for (uint32_t i = 0; i < truth->count; i++) {
        shown += ends[i].err.code == LKS_OK;
        if (ends[i].err.code == LKS_OK)
            continue;
        lks_json_begin(&j, NULL, '{');
        lks_json_text(&j, "node", truth->rows[i].node);
        lks_json_cstr(&j, "error", ends[i].err.msg);
        lks_json_end(&j, '}');
    }
    lks_json_end(&j, ']');
    lks_json_int(&j, "shown", shown);
    lks_json_end(&j, '}');
}

void lks_worker_truth(struct lks_worker *w, struct lks_worker_task *task)
{
    const struct lks_bridge_truth *truth = &task->request.truth;
    struct lks_slurm_truth_end *ends = calloc(truth->count, sizeof(*ends));
    struct lks_err err = {0};
    bool sent = false;
    enum lks_code code =
        ends != NULL ? carry_out(w, truth, ends, &sent, &err) : lks_fail_nomem(&err);
    task->status = DONE;
    if (ends != NULL && code == LKS_OK) {
        write_ends(truth, ends, &task->body);
    } else {
        struct lks_json_writer j = {.out = &task->body};
        lks_json_begin(&j, NULL, '{');
        lks_json_cstr(&j, "error", err.msg);
        lks_json_end(&j, '}');
        task->status = sent ? UNKNOWN : lks_err_code_info(code)->http;
    }
    free(ends);
}
