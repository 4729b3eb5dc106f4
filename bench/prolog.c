/* What a start of a job waits for in slurmctld: slurm-prolog with its question to a lockstepd that
 * knows 5,000 nodes. The rival is a PrologSlurmctld that exits at once, in turn with it. */
#include "bench/bench.h"
#include "bench/site.h"

#include <stdlib.h>
#include <sys/wait.h>

enum { NODES = 5000, JOBS = 301 };

static double run_ms(const char *const *argv)
{
    int status = 0;
    double begun = bench_now_ms();
    pid_t pid = bench_spawn(argv, -1);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die(argv[0], "the job does not start");
    return bench_now_ms() - begun;
}

static int by_time(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double slowest_of_hundred(double *took)
{
    qsort(took, JOBS, sizeof(took[0]), by_time);
    return took[JOBS * 99 / 100];
}

static void compare(struct lks_table *t, const struct bench_site *s, const char *hosts,
                    const char *what)
{
    static double ours[JOBS], theirs[JOBS];
    const char *const asks[] = {LKS_PROLOG_PROGRAM, "--lockstep",     LKS_CLI_PROGRAM,
                                "--without-answer", "refuse",         "--",
                                "--server",         s->crew.c.socket, NULL};
    const char *const exits[] = {"true", NULL};
    if (setenv("SLURM_JOB_ID", "4711", 1) != 0 || setenv("SLURM_JOB_NODELIST", hosts, 1) != 0)
        bench_die("prolog", "no memory");
    for (size_t i = 0; i < JOBS; i++) {
        ours[i] = run_ms(asks);
        theirs[i] = run_ms(exits);
    }
    const struct bench_figure f = {what,
                                   "-",
                                   "a prolog that exits",
                                   "ms",
                                   slowest_of_hundred(ours),
                                   slowest_of_hundred(theirs)};
    bench_row(t, &f);
}

void bench_prolog(struct lks_table *t)
{
    static struct bench_site s;
    bench_site_init(&s, NODES, 1);
    compare(t, &s, "gpu[000001-000002]", "prolog of a job on 2 nodes, p99");
    compare(t, &s, "gpu[000001-000512]", "prolog of a job on 512 nodes, p99");
    bench_site_fini(&s);
}
