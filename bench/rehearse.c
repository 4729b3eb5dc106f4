/*
 * A rehearsal as a person asks for it: 100 seeds of a change of all 10,000 nodes, the fleet's file
 * read and the change planned, on as many processors as there are; every fourth seed has a bad
 * image. The rival is one such run in which all goes well, by the time of the processor, 100 times
 * and without a pause on all processors: what worlds cost beside each other shows in the ratio.
 */
#include "bench/bench.h"

#include "base/file.h"
#include "lab/rehearse/rehearse.h"
#include "tests/facts.h"
#include "tests/rehearsals.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 10000, SEEDS = 100 };
#define WALL   UINT64_C(1794700000000)
#define SOAK   ((lks_ms)4 * 3600 * LKS_SECOND)
#define FAULTS LKS_STR("none,step=0.3%,bmc=0.3%")

static struct lks_rehearsed run; /* too large for a stack */

static double one_run_s(struct lks_str fleet)
{
    struct lks_world_options options = {.facts = lks_test_facts(), .wall = WALL};
    struct lks_rehearse_faults faults = {0};
    struct lks_plan_wish wish = {.kind = LKS_CHANGE_STACK,
                                 .stack = LKS_STR("s1"),
                                 .hosts = LKS_STR("n[00001-10000]"),
                                 .pool = LKS_STR(""),
                                 .hook = LKS_STR("site"),
                                 .windows = LKS_STR(""),
                                 .soak = SOAK,
                                 .failures_max = NODES};
    struct lks_world *w = NULL;
    struct lks_err err = {0};
    if (lks_rehearse_faults_parse(FAULTS, &faults, &err) != LKS_OK ||
        lks_world_of_manifest("fleet", fleet, &options, &w, &err) != LKS_OK ||
        lks_world_propose(w, &wish, &err) != LKS_OK)
        bench_die("rehearse", err.msg);
    double begun = bench_cpu_us(getpid());
    if (lks_world_run(w, 1, &faults, NULL, &run, &err) != LKS_OK)
        bench_die("rehearse", err.msg);
    double took = (bench_cpu_us(getpid()) - begun) / 1e6;
    lks_world_free(w);
    return took;
}

static double rehearsal_s(const char *fleet)
{
    const char *const argv[] = {LKS_CLI_PROGRAM, "rehearse", "--fleet",    fleet,
                                "--to",          "s1",       "--nodes",    "n[00001-10000]",
                                "--soak",        "4h",       "--failures", "10000",
                                "--seeds",       "100",      NULL};
    int status = 0;
    double start = bench_now_ms();
    pid_t pid = bench_spawn(argv, -1);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("rehearse", "it failed");
    return (bench_now_ms() - start) / 1e3;
}

void bench_rehearse(struct lks_table *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fleet = {0};
    const char *dir = getenv("TMPDIR");
    char path[512];
    struct lks_err err = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    rehearsals_fleet(NODES, "", &fleet);
    (void)snprintf(path, sizeof(path), "%s/fleet.yaml", dir != NULL ? dir : "/tmp");
    if (lks_file_replace(path, lks_buf_view(&fleet), &err) != LKS_OK)
        bench_die("rehearse", err.msg);
    double rival = one_run_s(lks_buf_view(&fleet)) * SEEDS / (double)(cores > 0 ? cores : 1);
    bench_row(t, &(struct bench_figure){"100 seeds of a change of 10,000 nodes, rehearsed",
                                        "<= 60 s on 2 cores", "one run, 100 times", "s",
                                        rehearsal_s(path), rival});
}
