/* What is changed in Slurm. */
#include "bridge/slurm/slurm_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct change {
    uint32_t state;
    const char *nodes, *reason; /* the reason may be NULL */
    const char *what;
};

static enum lks_code update(const struct lks_slurm *s, const struct change *change,
                            struct lks_err *err)
{
    update_node_msg_t msg;
    slurm_init_update_node_msg(&msg);
    /* The library's own memory is not needed: the message is sent and not kept. */
    char *nodes = strdup(change->nodes);
    char *reason = change->reason != NULL ? strdup(change->reason) : NULL;
    enum lks_code code = LKS_OK;
    if (nodes == NULL || (change->reason != NULL && reason == NULL)) {
        code = lks_fail_nomem(err);
    } else {
        msg.node_names = nodes;
        msg.node_state = change->state;
        msg.reason = reason;
        msg.reason_uid = s->own;
        if (slurm_update_node(&msg) != 0)
            code = lks_slurm_fail(errno, change->what, err);
    }
    free(nodes);
    free(reason);
    return code;
}

enum lks_code lks_slurm_drain(const struct lks_slurm *s, const char *nodes, const char *reason,
                              struct lks_err *err)
{
    const struct change change = {NODE_STATE_DRAIN, nodes, reason, "cannot drain"};
    return update(s, &change, err);
}

enum lks_code lks_slurm_undrain(const struct lks_slurm *s, const char *nodes, const char *reason,
                                struct lks_err *err)
{
    const struct change change = {NODE_STATE_UNDRAIN, nodes, reason, "cannot end the drain"};
    return update(s, &change, err);
}

enum lks_code lks_slurm_resume(const struct lks_slurm *s, const char *nodes, struct lks_err *err)
{
    const struct change change = {NODE_RESUME, nodes, NULL, "cannot resume the node"};
    return update(s, &change, err);
}

enum lks_code lks_slurm_signal(const char *job, int number, bool batch, struct lks_err *err)
{
    if (slurm_kill_job2(job, (uint16_t)number, batch ? KILL_FULL_JOB : 0, NULL) != 0)
        return lks_slurm_fail(errno, "cannot signal the job", err);
    return LKS_OK;
}

enum lks_code lks_slurm_requeue(const char *job, struct lks_err *err)
{
    job_array_resp_msg_t *answers = NULL;
    char *asked = strdup(job);
    if (asked == NULL)
        return lks_fail_nomem(err);
    int failed = slurm_requeue2(asked, 0, &answers);
    int number = failed != 0 ? errno : 0;
    for (uint32_t i = 0; number == 0 && answers != NULL && i < answers->job_array_count; i++)
        number = (int)answers->error_code[i]; /* of a task; the call itself succeeds then */
    enum lks_code code =
        number != 0 ? lks_slurm_fail(number, "cannot requeue the job", err) : LKS_OK;
    if (answers != NULL)
        slurm_free_job_array_resp(answers);
    free(asked);
    return code;
}
