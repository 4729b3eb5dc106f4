/*
 * How long things take, each beside a rival measured in the same run:
 *
 *     bench [PART...]
 *
 * Figures are medians; machines are noisy, so look at ratios.
 */
#include "bench/bench.h"

#include "tests/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct part {
    const char *name, *about;
    void (*run)(struct lks_table *t);
} parts[] = {
    {"programs", "the command line", bench_programs},
    {"journal", "the journal: turns of the engine until they are durable", bench_journal},
    {"restart", "a restart: 100,000 nodes, 1,000,000 records", bench_restart},
    {"admit", "admission of 4,096 nodes of 100,000, over the socket, alone and under load",
     bench_admit},
    {"beats", "heartbeats over mutual TLS, the server on one core", bench_beats},
    {"flood", "heartbeats while strangers send 50 bodies of 4 MiB a second", bench_flood},
    {"drift", "a million nodes against a stack", bench_drift},
    {"plan", "a change of 100,000 nodes, planned", bench_plan},
    {"campaign", "a change of 100,000 nodes, simulated with faults", bench_campaign},
    {"rehearse", "a change of 10,000 nodes, rehearsed", bench_rehearse},
    {"agent", "the agent on a node", bench_agent},
    {"top", "top beside a lockstepd with 10,000 nodes", bench_top},
    {"sweep", "firmware inventories of 1,000 BMCs over TLS, the client alone", bench_sweep},
    {"sched", "drains through the bridge of a real Slurm", bench_sched},
    {"submit", "jobs that a real Slurm takes in, with job_submit/lockstep", bench_submit},
    {"prolog", "what a start of a job waits for, with 5,000 nodes known", bench_prolog},
    {"pldm", "a firmware package, verified", bench_pldm},
};

static volatile pid_t running;

/* The part ends; we go on to clean up behind it. */
static void pass_on(int signal)
{
    if (running > 0)
        (void)kill(running, signal);
}

static int measure(const struct part *p)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    struct lks_term term;
    struct lks_err err = {0};
    lks_table_init(&t, 1 << 20);
    bench_columns(&t);
    p->run(&t);
    lks_term_of(stdout, &term);
    printf("%s (%s)\n", p->about, p->name);
    if (lks_table_print(&t, stdout, &term, &err) != LKS_OK)
        bench_die(p->name, err.msg);
    printf("\n");
    return fflush(stdout) == 0 ? 0 : 1;
}

static _Noreturn void become(const struct part *p, const struct lks_tree *tree)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (setenv("TMPDIR", tree->path, 1) != 0)
        bench_die(p->name, strerror(errno));
    exit(measure(p));
}

/* Whether it ran; `ended` when we were told to end. */
static bool run(const struct part *p, bool *ended)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    int status = 0;
    fflush(stdout);
    running = fork();
    if (running < 0)
        bench_die(p->name, strerror(errno));
    if (running == 0)
        become(p, &tree);
    while (waitpid(running, &status, 0) < 0 && errno == EINTR) {
    }
    running = 0;
    *ended = WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
    return status == 0;
}

static bool is_wanted(const struct part *p, int argc, char **argv)
{
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++)
        wanted = wanted || strcmp(argv[i], p->name) == 0;
    return wanted;
}

static bool is_part(const char *name)
{
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        if (strcmp(parts[i].name, name) == 0)
            return true;
    return false;
}

static int usage(const char *name)
{
    fprintf(stderr, "bench: no part '%s'; there are:\n", name);
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        fprintf(stderr, "  %-10s %s\n", parts[i].name, parts[i].about);
    return 2;
}

int main(int argc, char **argv)
{
    bool good = true, ended = false;
    for (int i = 1; i < argc; i++)
        if (!is_part(argv[i]))
            return usage(argv[i]);
    (void)signal(SIGINT, pass_on);
    (void)signal(SIGTERM, pass_on);
    for (size_t i = 0; i < LKS_COUNT(parts) && !ended; i++)
        if (is_wanted(&parts[i], argc, argv))
            good = run(&parts[i], &ended) && good;
    return good ? 0 : 1;
}
