/*
 * Submissions to a real slurmctld that knows 5,002 nodes, with job_submit/lockstep and without it,
 * in the same run: what the slowest of a hundred waits in slurmctld, and how many jobs a second
 * eight clients submit. bench/submit.py has the cluster.
 */
#include "bench/bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 256, PATH_SIZE = 4096 };

/* The line that the script prints. */
static void run_script(char line[LINE_SIZE])
{
    char folder[PATH_SIZE];
    int out[2], status = 0;
    size_t len = 0;
    ssize_t got;
    snprintf(folder, sizeof(folder), "%s/submit", getenv("TMPDIR"));
    if (mkdir(folder, 0700) != 0 || pipe(out) != 0)
        bench_die("Slurm", "no folder or pipe");
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)dup2(out[1], STDOUT_FILENO);
        execlp("python3", "python3", LKS_SUBMIT_SCRIPT, folder, LKS_SUBMIT_PLUGIN, "5000", "600",
               (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    while (len + 1 < LINE_SIZE && (got = read(out[0], line + len, LINE_SIZE - 1 - len)) > 0)
        len += (size_t)got;
    line[len] = '\0';
    close(out[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("Slurm", "it ended: see the lines above");
}

void bench_submit(struct lks_table *t)
{
    char line[LINE_SIZE], *at = line;
    double values[4]; /* without the plugin, and with it: microseconds, jobs a second */
    run_script(line);
    if (strncmp(line, "none", 4) == 0) {
        printf("not measured: needs root, job_submit_lockstep.so, and Slurm with munge\n");
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(values); i++)
        values[i] = strtod(at, &at);
    const struct bench_figure figures[] = {
        {"submission in slurmctld, 5,000 nodes, p99", "-", "without the plugin", "us", values[2],
         values[0]},
        {"sbatch by eight clients", "-", "without the plugin", "job/s", values[3], values[1]},
    };
    for (size_t i = 0; i < LKS_COUNT(figures); i++)
        bench_row(t, &figures[i]);
}
