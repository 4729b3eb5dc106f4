/*
 * Drains through lockstep-slurm-bridge, with a real Slurm on loopback. 64 nodes, from "drain" to
 * the answer that shows the drain, by the conversations that lockstepd has with a bridge; beside a
 * person's loop over scontrol, which asks scontrol and squeue about each node afterwards. And
 * drains that an earlier controller left on 1,024 nodes, ended by a lockstepd that gets to know the
 * nodes: by its own runner, from the application of the fleet's file on, until Slurm shows none.
 */
#include "bench/bench.h"

#include "drivers/http/talks.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/crew.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RUNNING = 64, /* nodes with a slurmd */
    DOWN = 960,
    ROUNDS = 7,
    LOOPS = 3, /* each takes seconds */
    TURN_MS = 1000,
    LOOK_MS = 50,
    READING_MS = 1500, /* then the bridge's reading is a later one */
    PATIENCE_MS = 60000,
    LINE_SIZE = 256,
};

struct side {
    pid_t pid;
    FILE *to, *from;
    char url[LINE_SIZE]; /* of the bridge; empty: there is no Slurm */
    struct lks_talks *talks;
    const struct lks_sched_driver *driver;
};

/* The Slurm side ---------------------------------------------------------------------------- */

static void spawn(struct side *s)
{
    char folder[LINE_SIZE], running[16], down[16];
    int in[2], out[2];
    snprintf(folder, sizeof(folder), "%s/side", getenv("TMPDIR"));
    snprintf(running, sizeof(running), "%d", RUNNING);
    snprintf(down, sizeof(down), "%d", DOWN);
    if (mkdir(folder, 0700) != 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        bench_die("Slurm", "no folder or pipe");
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        execlp("python3", "python3", LKS_SCHED_SCRIPT, folder, LKS_BRIDGE_PROGRAM, running, down,
               (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->to = fdopen(in[1], "w");
    s->from = fdopen(out[0], "r");
    if (s->pid < 0 || s->to == NULL || s->from == NULL)
        bench_die("Slurm", "no process");
}

/* Its answer to a command; NULL: to its start. */
static void ask(const struct side *s, const char *command, char line[LINE_SIZE])
{
    if (command != NULL)
        fprintf(s->to, "%s\n", command);
    fflush(s->to);
    if (fgets(line, LINE_SIZE, s->from) == NULL)
        bench_die("Slurm", "it ended: see the lines above");
    line[strcspn(line, "\n")] = '\0';
}

static void begin(struct side *s)
{
    static const char ready[] = "ready ";
    char line[LINE_SIZE];
    *s = (struct side){0};
    spawn(s);
    ask(s, NULL, line);
    if (lks_str_starts(lks_str_from(line), ready))
        snprintf(s->url, sizeof(s->url), "unix:%s", line + strlen(ready));
}

static void end(struct side *s)
{
    fclose(s->to);
    fclose(s->from);
    (void)waitpid(s->pid, NULL, 0); /* it ends with its input */
}

/* 64 nodes ---------------------------------------------------------------------------------- */

static void on_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why)
{
    const struct side *s = ctx;
    const enum lks_sched_verb *verb = lks_talks_ctx(d);
    struct lks_sched_said said;
    s->driver->said(lks_talks_value(d), &said);
    if (why->code != LKS_OK)
        bench_die("a node", why->msg);
    if (lks_sched_drained(&said) != (*verb == LKS_SCHED_DRAIN))
        bench_die("a node", "what was asked for is not so");
}

static void add(const struct side *s, const char *address, unsigned node,
                const enum lks_sched_verb *verb)
{
    const struct lks_dialog_options options = {.peer = {.url = address, .plain = true},
                                               .ops = s->driver->talk,
                                               .lanes = s->driver->lanes,
                                               .ctx = (void *)verb};
    struct lks_dialog *d = NULL;
    struct lks_err err = {0};
    char name[16];
    int length = snprintf(name, sizeof(name), "n%u", node);
    const struct lks_sched_wish wish = {.verb = *verb,
                                        .node = {name, (size_t)length},
                                        .owner = LKS_STR("change:17"),
                                        .reason = LKS_STR("bench"),
                                        .deadline = lks_talks_now(s->talks) + PATIENCE_MS};
    if (lks_talks_add(s->talks, &options, &d, &err) != LKS_OK ||
        s->driver->begin(lks_talks_value(d), &wish, &err) != LKS_OK)
        bench_die("talks", err.msg);
    lks_talks_start(s->talks, d, false);
}

static double all_ms(struct side *s, const char *address, enum lks_sched_verb verb)
{
    struct lks_err err = {0};
    double start = bench_now_ms();
    for (unsigned i = 1; i <= RUNNING; i++)
        add(s, address, i, &verb);
    while (lks_talks_count(s->talks) > 0) {
        if (lks_talks_turn(s->talks, TURN_MS, &err) != LKS_OK)
            bench_die("talks", err.msg);
    }
    return bench_now_ms() - start;
}

static double drain_ms(struct side *s)
{
    const struct lks_talks_options options = {.ctx = s, .ended = on_ended};
    const char *address = NULL;
    struct lks_err err = {0};
    double values[ROUNDS];
    s->driver = lks_sched_driver_at(LKS_STR("slurm"), s->url, &address);
    if (s->driver == NULL || lks_talks_new(&options, &s->talks, &err) != LKS_OK)
        bench_die("talks", err.msg);
    for (size_t i = 0; i < ROUNDS; i++) {
        values[i] = all_ms(s, address, LKS_SCHED_DRAIN);
        (void)all_ms(s, address, LKS_SCHED_RELEASE);
    }
    lks_talks_free(s->talks);
    return bench_median(values, ROUNDS);
}

/* Milliseconds of the updates alone, and with verification. */
static void loop_ms(const struct side *s, double *updates, double *all)
{
    double values[2][LOOPS];
    char line[LINE_SIZE];
    for (size_t i = 0; i < LOOPS; i++) {
        char *rest = NULL;
        ask(s, "loop", line);
        values[0][i] = strtod(line, &rest);
        values[1][i] = strtod(rest, NULL);
        if (values[0][i] <= 0 || values[1][i] <= 0)
            bench_die("scontrol", line);
    }
    *updates = bench_median(values[0], LOOPS);
    *all = bench_median(values[1], LOOPS);
}

/* lockstepd --------------------------------------------------------------------------------- */

/* Nodes for each second. */
static double ended_by_lockstepd(const struct side *s, struct crew *crew)
{
    char config[LINE_SIZE + 64], fleet[512], line[LINE_SIZE], digest[LKS_DIGEST_SIZE];
    snprintf(config, sizeof(config), "slurm: {bridges: [\"*=%s\"]}\n", s->url);
    snprintf(fleet, sizeof(fleet),
             "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
             "pools: {train: {posture: pre-training, stack: golden, sched: slurm}}\n"
             "nodes: [{hosts: \"n[1-%d]\", pool: train, class: hgx-h200-8, site: east}]\n",
             RUNNING + DOWN);
    if (!crew_begin(crew, config) || !crew_release(crew, digest))
        bench_die("lockstepd", "it does not start");
    ask(s, "mark", line);
    ask(s, "count", line);
    if (strtol(line, NULL, 10) != RUNNING + DOWN)
        bench_die("Slurm", "not all nodes were drained");
    bench_rest(READING_MS);
    if (!crew_fleet(crew, fleet))
        bench_die("lockstepd", "it does not take the fleet");
    double start = bench_now_ms();
    do {
        bench_rest(LOOK_MS);
        ask(s, "count", line);
        if (bench_now_ms() - start > PATIENCE_MS)
            bench_die("lockstepd", line);
    } while (strtol(line, NULL, 10) > 0);
    double took = bench_now_ms() - start;
    if (ctl_stop(&crew->c) != 0)
        bench_die("lockstepd", "it does not end");
    return (RUNNING + DOWN) * 1000 / took;
}

void bench_sched(struct lks_table *t)
{
    static struct side s;
    static struct crew crew;
    double updates = 0, all = 0;
    begin(&s);
    if (s.url[0] == '\0') {
        printf("not measured: needs root, lockstep-slurm-bridge, and Slurm with munge\n");
        end(&s);
        return;
    }
    double drain = drain_ms(&s);
    loop_ms(&s, &updates, &all);
    double rate = ended_by_lockstepd(&s, &crew);
    end(&s);
    crew_end(&crew); /* it waits for all that we started */
    const struct bench_figure figures[] = {
        {"64 nodes, from drain to verified", "-", "scontrol and squeue, node by node", "ms", drain,
         all},
        {"64 nodes, the same by node", "500 node/s", "scontrol update, node by node", "node/s",
         RUNNING * 1000 / drain, RUNNING * 1000 / updates},
        {"drains ended by lockstepd, 1,024 nodes", "500 node/s", "scontrol update, node by node",
         "node/s", rate, RUNNING * 1000 / updates},
    };
    for (size_t i = 0; i < LKS_COUNT(figures); i++)
        bench_row(t, &figures[i]);
}
