/* slurmctld runs this before a job starts. `lockstep admit` asks lockstepd whether the job may
 * start on the nodes that Slurm chose. */
#include "agent/hooks/about.h"
#include "agent/hooks/hook.h"
#include "base/commit.h"

#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

enum {
    SECONDS = 10, /* for an answer */
    SECONDS_MAX = 300,
    TELL_SECONDS = 5, /* for scontrol */
    FIXED = 8,        /* words before those of the caller */
    NAME_SIZE = 4096,
    TEXT_SIZE = LKS_NOTICE_TEXT_SIZE + LKS_ERR_MSG_MAX + 8,
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
    if (without != NULL && strcmp(without, "start") != 0 && strcmp(without, "refuse") != 0)
        return lks_fail(err, LKS_E_USAGE, "--without-answer: '%s' is neither start nor refuse",
                        without);
    out->refuses = without != NULL && strcmp(without, "refuse") == 0;
    if (seconds != NULL &&
        (!lks_str_number(lks_str_from(seconds), SECONDS_MAX, &limit) || limit == 0))
        return lks_fail(err, LKS_E_USAGE, "--seconds: '%s' is not from 1 to %d", seconds,
                        SECONDS_MAX);
    out->seconds = (int)limit;
    return read_job(out, err);
}

/* env finds programs in the fixed PATH; Slurm's own commands need SLURM_CONF where the file has
 * another place. */
static enum lks_code run_program(char *const *argv, int seconds, char output[LKS_HOOK_OUTPUT_SIZE],
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
                                                .max = LKS_HOOK_OUTPUT_SIZE - 1,
                                                .ms = seconds * 1000};
    return lks_hook_run(&program, output, err);
}

/* How a program failed, with the first line that it printed. */
static const char *how_failed(const char *output, const struct lks_err *why, char text[TEXT_SIZE])
{
    char line[LKS_NOTICE_TEXT_SIZE];
    lks_notice_line(lks_str_from(output), line);
    snprintf(text, TEXT_SIZE, "%s%s%s", line, line[0] != '\0' ? "; " : "", why->msg);
    return text;
}

/* slurmctld discards what its prolog prints, so the system's log gets it, too. */
static void report(const char *job, const char *text)
{
    fprintf(stderr, "slurm-prolog: job %s: %s\n", job, text);
    syslog(LOG_WARNING, "job %s: %s", job, text);
}

/* What the job's owner sees in Slurm. It waits, and nothing else tells them why. */
static void tell_owner(const struct options *o, const char *text)
{
    struct lks_err err = {0};
    char id[32], comment[TEXT_SIZE + 64], output[LKS_HOOK_OUTPUT_SIZE], how[TEXT_SIZE];
    char failed[TEXT_SIZE + 64];
    const char *words[] = {"/usr/bin/env", o->scontrol, "update", id, comment, NULL};
    char *argv[LKS_COUNT(words)];
    snprintf(id, sizeof(id), "jobid=%s", o->job);
    snprintf(comment, sizeof(comment), "admincomment=lockstep: %s", text);
    memcpy(argv, words, sizeof(argv));
    if (run_program(argv, TELL_SECONDS, output, &err) == LKS_OK)
        return;
    snprintf(failed, sizeof(failed), "its comment was not written: %s",
             how_failed(output, &err, how));
    report(o->job, failed);
}

static int refuse(const struct options *o, const char *text)
{
    report(o->job, text);
    tell_owner(o, text);
    return REFUSE;
}

static int go_without(const struct options *o, const char *why)
{
    char text[TEXT_SIZE + 64];
    snprintf(text, sizeof(text), "no answer from lockstepd: %s%s", why,
             o->refuses ? "" : "; the job starts without one");
    if (o->refuses)
        return refuse(o, text);
    report(o->job, text);
    return START;
}

/* The line of the answer, behind warnings: "yes", or "no" with a reason. False: there is none. */
static bool find_answer(const char *output, bool yes, char line[LKS_NOTICE_TEXT_SIZE])
{
    struct lks_str one, rest = lks_str_from(output);
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '\n', &one, &rest);
        if (lks_str_is(one, yes ? "yes" : "no") || (!yes && lks_str_starts(one, "no: "))) {
            lks_notice_line(one, line);
            return true;
        }
    }
    return false;
}

/* An exit status alone is no answer: a command that failed for another reason has one, too. */
static int ask(const struct options *o)
{
    static const struct lks_err neither = {.msg = "it printed neither yes nor no"};
    struct lks_err err = {0};
    char output[LKS_HOOK_OUTPUT_SIZE], line[LKS_NOTICE_TEXT_SIZE], how[TEXT_SIZE];
    const char *words[FIXED + LKS_ARGS_MAX + 1] = {
        "/usr/bin/env", o->lockstep, "admit", "--brief", "--job", o->job, "--nodes", o->nodes};
    char *argv[LKS_COUNT(words)];
    memcpy(words + FIXED, o->args->positional,
           o->args->positional_count * sizeof(o->args->positional[0]));
    memcpy(argv, words, sizeof(argv));
    enum lks_code code = run_program(argv, o->seconds, output, &err);
    if (code == LKS_OK && find_answer(output, true, line))
        return START;
    if (code == LKS_E_REFUSED && find_answer(output, false, line))
        return refuse(o, line);
    return go_without(o, how_failed(output, code == LKS_OK ? &neither : &err, how));
}

/* A site's mistake must not stop every job: where slurmctld runs this, the job's variables are
 * there, and a fault of the command line is no answer. */
static int fail(const struct options *o, const struct lks_err *why)
{
    struct options job = *o;
    const char *id = getenv("SLURM_JOB_ID");
    uint64_t number = 0;
    job.job = id != NULL && lks_str_number(lks_str_from(id), UINT32_MAX, &number) ? id : "?";
    if (id != NULL)
        return go_without(&job, why->msg);
    fprintf(stderr, "slurm-prolog: %s\n", why->msg);
    return lks_err_code_info(why->code)->exit;
}

int main(int argc, char **argv)
{
    static struct lks_args args;
    struct options o = {.scontrol = "scontrol"};
    struct lks_err err = {0};
    if (!lks_hook_settle())
        _exit(START); /* no answer, and nowhere to say so */
    openlog("slurm-prolog", LOG_PID, LOG_DAEMON);
    if (lks_args_read(argc - 1, argv + 1, lks_about_prolog_options, &args, &err) == LKS_OK) {
        if (lks_args_about(&args, print_help, "slurm-prolog", LKS_COMMIT))
            return 0;
        if (read_options(&args, &o, &err) == LKS_OK)
            return ask(&o);
    }
    return fail(&o, &err);
}
