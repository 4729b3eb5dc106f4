/* slurmctld runs this before a job starts: whether the job may start on the nodes that Slurm chose
 * is lockstepd's to say, and `lockstep admit` asks. */
#include "agent/hooks/about.h"
#include "agent/hooks/hook.h"
#include "base/commit.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    SECONDS = 10, /* for an answer */
    SECONDS_MAX = 300,
    TELL_SECONDS = 5, /* for scontrol */
    SAID_MAX = 4096,
    FIXED = 8, /* words before those of the caller */
    NAME_SIZE = 4096,
};

/* Slurm starts the job after 0. After any other status it requeues a batch job, and cancels one
 * that waits at a terminal. */
enum { START = 0, REFUSE = 1 };

struct options {
    const char *job, *nodes, *lockstep, *scontrol;
    const struct lks_args *args; /* positional: options of lockstep admit */
    int seconds;
    bool refuses; /* without an answer */
};

static void print_help(void)
{
    lks_manual_help(&lks_about_prolog, stdout);
}

static enum lks_code read_job(struct options *out, struct lks_err *err)
{
    uint64_t id = 0;
    out->job = getenv("SLURM_JOB_ID");
    out->nodes = getenv("SLURM_JOB_NODELIST");
    if (out->job == NULL || !lks_str_number(lks_str_from(out->job), UINT32_MAX, &id) || id == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_JOB_ID is not a job's ID; slurmctld sets it for PrologSlurmctld");
    if (out->nodes == NULL || out->nodes[0] == '\0')
        return lks_fail(err, LKS_E_USAGE,
                        "SLURM_JOB_NODELIST is empty; slurmctld sets it for PrologSlurmctld");
    return LKS_OK;
}

static enum lks_code read_options(const struct lks_args *args, struct options *out,
                                  struct lks_err *err)
{
    const char *seconds = lks_args_get(args, "--seconds");
    const char *without = lks_args_get(args, "--without-answer");
    const char *lockstep = lks_args_get(args, "--lockstep");
    const char *scontrol = lks_args_get(args, "--scontrol");
    uint64_t limit = SECONDS;
    *out = (struct options){.args = args,
                            .lockstep = lockstep != NULL ? lockstep : "lockstep",
                            .scontrol = scontrol != NULL ? scontrol : "scontrol"};
    if (seconds != NULL &&
        (!lks_str_number(lks_str_from(seconds), SECONDS_MAX, &limit) || limit == 0))
        return lks_fail(err, LKS_E_USAGE, "--seconds: '%s' is not from 1 to %d", seconds,
                        SECONDS_MAX);
    if (without != NULL && strcmp(without, "start") != 0 && strcmp(without, "refuse") != 0)
        return lks_fail(err, LKS_E_USAGE, "--without-answer: '%s' is neither start nor refuse",
                        without);
    out->refuses = without != NULL && strcmp(without, "refuse") == 0;
    out->seconds = (int)limit;
    return read_job(out, err);
}

/* env finds programs in the fixed PATH; Slurm's own commands need SLURM_CONF where the file has
 * another place. */
static enum lks_code run_program(char *const *argv, int seconds, char line[LKS_NOTICE_TEXT_SIZE],
                                 struct lks_err *err)
{
    static char variable[NAME_SIZE];
    const char *conf = getenv("SLURM_CONF");
    int len = snprintf(variable, sizeof(variable), "SLURM_CONF=%s", conf != NULL ? conf : "");
    bool set = conf != NULL && len < (int)sizeof(variable);
    const struct lks_subtask_program program = {.path = argv[0],
                                                .argv = argv,
                                                .variable = set ? variable : NULL,
                                                .errors = true,
                                                .cut = true,
                                                .family = true,
                                                .max = SAID_MAX,
                                                .ms = seconds * 1000};
    return lks_hook_run(&program, line, err);
}

/* What the job's owner sees in Slurm. It waits, and nothing else tells them why. */
static void tell_owner(const struct options *o, const char *text)
{
    struct lks_err err = {0};
    char id[32], comment[LKS_NOTICE_TEXT_SIZE + 64], line[LKS_NOTICE_TEXT_SIZE];
    const char *words[] = {"/usr/bin/env", o->scontrol, "update", id, comment, NULL};
    char *argv[LKS_COUNT(words)];
    snprintf(id, sizeof(id), "jobid=%s", o->job);
    snprintf(comment, sizeof(comment), "admincomment=lockstep: %s", text);
    memcpy(argv, words, sizeof(argv));
    if (run_program(argv, TELL_SECONDS, line, &err) != LKS_OK)
        fprintf(stderr, "slurm-prolog: job %s: its comment was not written: %s%s%s\n", o->job, line,
                line[0] != '\0' ? "; " : "", err.msg);
}

static int refuse(const struct options *o, const char *text)
{
    fprintf(stderr, "slurm-prolog: job %s: %s\n", o->job, text);
    tell_owner(o, text);
    return REFUSE;
}

static int go_without(const struct options *o, const char *line, const struct lks_err *why)
{
    char text[LKS_NOTICE_TEXT_SIZE + LKS_ERR_MSG_MAX];
    snprintf(text, sizeof(text), "no answer of lockstepd: %s", line[0] != '\0' ? line : why->msg);
    if (o->refuses)
        return refuse(o, text);
    fprintf(stderr, "slurm-prolog: job %s: %s; the job starts without one\n", o->job, text);
    return START;
}

static int ask(const struct options *o)
{
    struct lks_err err = {0};
    char line[LKS_NOTICE_TEXT_SIZE];
    const char *words[FIXED + LKS_ARGS_MAX + 1] = {
        "/usr/bin/env", o->lockstep, "admit", "--brief", "--job", o->job, "--nodes", o->nodes};
    char *argv[LKS_COUNT(words)];
    memcpy(words + FIXED, o->args->positional,
           o->args->positional_count * sizeof(o->args->positional[0]));
    memcpy(argv, words, sizeof(argv));
    enum lks_code code = run_program(argv, o->seconds, line, &err);
    if (code == LKS_OK)
        return START;
    if (code == LKS_E_REFUSED && strcmp(err.msg, "status 1") == 0)
        return refuse(o, line);
    return go_without(o, line, &err);
}

int main(int argc, char **argv)
{
    static struct lks_args args;
    struct options o = {0};
    struct lks_err err = {0};
    if (!lks_hook_settle())
        _exit(lks_err_code_info(LKS_E_IO)->exit);
    if (lks_args_read(argc - 1, argv + 1, lks_about_prolog_options, &args, &err) == LKS_OK) {
        if (lks_args_about(&args, print_help, "slurm-prolog", LKS_COMMIT))
            return 0;
        if (read_options(&args, &o, &err) == LKS_OK)
            return ask(&o);
    }
    fprintf(stderr, "slurm-prolog: %s\n", err.msg);
    return lks_err_code_info(err.code)->exit;
}
