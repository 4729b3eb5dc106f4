#include "agent/hooks/about.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/notify.h"
#include "base/commit.h"

#include <stdlib.h>
#include <unistd.h>

static void print_help(void)
{
    lks_manual_help(&lks_about_epilog, stdout);
}

static enum lks_code report(const char *run, struct lks_err *err)
{
    LKS_CLEANUP(lks_notify_close) struct lks_notify agent = {0};
    struct lks_notice ended = {.kind = LKS_NOTICE_ENDED};
    const char *job = getenv("SLURM_JOB_ID");
    if (job == NULL || !lks_str_number(lks_str_from(job), UINT32_MAX, &ended.job) || ended.job == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_JOB_ID is not a job's ID; slurmd sets it for an Epilog");
    if (lks_notify_open(run, &agent, err) != LKS_OK)
        return err->code;
    return lks_notify_send(&agent, &ended, err);
}

static enum lks_code run(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    if (lks_args_read(argc - 1, argv + 1, lks_about_epilog_options, &args, err) != LKS_OK)
        return err->code;
    if (args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "'%s' is not an option", args.positional[0]);
    if (lks_args_about(&args, print_help, "slurm-epilog", LKS_COMMIT))
        return LKS_OK;
    const char *folder = lks_args_get(&args, "--run");
    return report(folder != NULL ? folder : LKS_NOTICE_RUN, err);
}

/* An epilog that fails makes Slurm drain the node, which is lockstep's to decide. */
int main(int argc, char **argv)
{
    struct lks_err err = {0};
    if (!lks_hook_settle())
        _exit(0);
    if (run(argc, argv, &err) != LKS_OK)
        fprintf(stderr, "slurm-epilog: %s\n", err.msg);
    return 0;
}
