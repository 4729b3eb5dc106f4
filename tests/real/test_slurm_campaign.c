/*
 * A change beside a real Slurm: the small fleet of real parts (small.h), whose pools say `sched:
 * slurm`, a real slurmctld with a slurmd for each node, its bridge, and a stream of jobs. Waves
 * drain, update and return all nodes; on the way slurmctld, the bridge and lockstepd are killed
 * once each. No job runs on a node while that is changed, none is killed, and in the end no drain
 * is left.
 */
#include "model/record/record.h"
#include "tests/real/small.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 6, JOBS_MAX = 8192, LINE_MAX_ = 256 };

static const char limits[] =
    "limits: {heartbeat_ms: 250, late_ms: 10000, lost_ms: 60000, validity_ms: 100,\n"
    "         staleness_ms: 100, mass_floor: 100}\n"
    "sweep: {run: 'yes'}\n"
    "bmc: {speed: 50}\n";

struct story {
    struct small small;
    struct lks_tree tree; /* of the Slurm side */
    pid_t side;
    FILE *to, *from; /* its standard input and output */
    uint64_t change;
};

/* The Slurm side ---------------------------------------------------------------------------- */

static bool spawn(struct story *s)
{
    char nodes[16];
    int in[2], out[2];
    snprintf(nodes, sizeof(nodes), "%d", NODES);
    if (!CHECK(pipe2(in, O_CLOEXEC) == 0) || !CHECK(pipe2(out, O_CLOEXEC) == 0))
        return false;
    s->side = fork();
    if (s->side == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        execlp("python3", "python3", "tests/real/slurm_side.py", s->tree.path, LKS_BRIDGE_PROGRAM,
               nodes, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->to = fdopen(in[1], "w");
    s->from = fdopen(out[0], "r");
    return CHECK(s->side > 0) && CHECK(s->to != NULL) && CHECK(s->from != NULL);
}

/* Tell it something, or nothing for NULL; its answer begins with `want`. */
static bool side_says(struct story *s, const char *command, const char *want, char line[LINE_MAX_])
{
    line[0] = '\0';
    if (command != NULL)
        fprintf(s->to, "%s\n", command);
    fflush(s->to);
    if (!CHECK(fgets(line, LINE_MAX_, s->from) != NULL))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return CHECK(lks_str_starts(lks_str_from(line), want));
}

static bool side_start(struct story *s)
{
    char line[LINE_MAX_], config[1024];
    if (!spawn(s) || !side_says(s, NULL, "ready ", line))
        return false;
    snprintf(config, sizeof(config), "%sslurm: {bridges: [\"here=unix:%s\"]}\n", limits,
             line + strlen("ready "));
    return small_begin_pools(&s->small, NODES, config, ", sched: slurm");
}

static void side_end(struct story *s)
{
    if (s->to != NULL)
        fclose(s->to);
    if (s->from != NULL)
        fclose(s->from);
    if (s->side > 0) /* it ends with its input */
        CHECK(waitpid(s->side, NULL, 0) == s->side);
}

/* The change -------------------------------------------------------------------------------- */

static bool tell(struct story *s, struct lks_client *who, const char *id, const char *order,
                 const char *body)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/%s", s->change, order);
    return crew_fine(who, id, path, body, &t);
}

static bool start_change(struct story *s)
{
    static const char agreed[] = "{\"reason\":\"read\"}";
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[96];
    if (!crew_fine(s->small.f.crew.root, "propose", "/v1/changes",
                   "{\"nodes\":\"g[1-6]\",\"stack\":\"b\",\"soak_seconds\":1,\"reason\":\"next\"}",
                   &t))
        return false;
    s->change = (uint64_t)crew_number(&t, "id");
    snprintf(body, sizeof(body), "{\"nodes\":%d,\"gpus\":%d,\"reason\":\"go\"}", NODES, NODES);
    return CHECK(s->change > 0) && tell(s, s->small.approver, "approveChange", "approve", agreed) &&
           tell(s, s->small.for_train, "approveChange", "approve", agreed) &&
           tell(s, s->small.for_dev, "approveChange", "approve", agreed) &&
           tell(s, s->small.f.crew.root, "startChange", "start", body);
}

/* How many members are done; the state of the change. */
static size_t progress(struct story *s, char state[32])
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "?plan=false", s->change);
    state[0] = '\0';
    if (!crew_fine(s->small.f.crew.root, "change", path, NULL, &t))
        return 0;
    snprintf(state, 32, "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "state")));
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/members?limit=100", s->change);
    crew_told_fini(&t);
    t = (struct crew_told){0};
    size_t done = 0;
    if (!crew_fine(s->small.f.crew.root, "changeMembers", path, NULL, &t))
        return 0;
    for (const struct lks_doc *m = lks_doc_member(t.doc, "items")->first; m != NULL; m = m->next)
        done += lks_str_is(lks_doc_text(m, "state"), "done");
    return done;
}

static bool kill_lockstepd(struct story *s)
{
    return flashes_kill(&s->small.f);
}

static bool kill_slurmctld(struct story *s)
{
    char line[LINE_MAX_];
    return side_says(s, "kill slurmctld", "done", line);
}

static bool kill_bridge(struct story *s)
{
    char line[LINE_MAX_];
    return side_says(s, "kill bridge", "done", line);
}

/* Each once, when so many nodes are done. */
static bool (*const kills[])(struct story *s) = {kill_slurmctld, kill_lockstepd, kill_bridge};

static bool run_change(struct story *s)
{
    char state[32] = "";
    size_t killed = 0;
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        size_t done = progress(s, state);
        if (killed < LKS_COUNT(kills) && done > killed && !kills[killed++](s))
            return false;
        if (strcmp(state, "approved") != 0 && strcmp(state, "running") != 0)
            break;
    }
    CHECK_INT(killed, LKS_COUNT(kills));
    return CHECK_STR(lks_str_from(state), "done");
}

/* What became of the jobs ------------------------------------------------------------------- */

struct job {
    size_t node;
    lks_ms start, end; /* whole seconds */
};

struct jobs {
    struct story *s;
    struct job list[JOBS_MAX];
    size_t count;
    size_t touched; /* commands that change a node */
};

static bool read_jobs(struct story *s, struct jobs *out)
{
    char path[SMALL_PATH], node[64], state[64];
    unsigned long long start, end;
    snprintf(path, sizeof(path), "%s/jobs", s->tree.path);
    FILE *f = fopen(path, "r");
    if (!CHECK(f != NULL))
        return false;
    while (out->count < JOBS_MAX &&
           fscanf(f, "%63s %llu %llu %63s", node, &start, &end, state) == 4) {
        if (strcmp(state, "LOST") == 0)
            continue;
        CHECK_STR(lks_str_from(state), "COMPLETED");
        for (size_t i = 0; i < NODES; i++) {
            if (strcmp(node, small_name(i)) == 0)
                out->list[out->count++] = (struct job){i, start * LKS_SECOND, end * LKS_SECOND};
        }
    }
    fclose(f);
    return CHECK(out->count > 0);
}

/* A command that changes the node came at a moment at which no job ran there, as far as whole
 * seconds can tell. */
static bool look_at_row(void *ctx, const struct lks_row *row)
{
    struct jobs *jobs = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (row->kind != LKS_RECORD_COMMAND ||
        !CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK) ||
        (!lks_str_is(r.command.executor, "apt") && !lks_str_is(r.command.executor, "settings")))
        return true;
    jobs->touched++;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->list[i];
        lks_test_case("%s", small_name(job->node));
        if (lks_str_is(r.command.node, small_name(job->node)))
            CHECK(row->time < job->start + LKS_SECOND || row->time > job->end);
    }
    return true;
}

static void check_jobs(struct story *s)
{
    struct jobs *jobs = calloc(1, sizeof(*jobs));
    struct lks_store store = {0};
    struct lks_err err = {0};
    LKS_ASSERT(jobs != NULL);
    jobs->s = s;
    if (read_jobs(s, jobs) && ctl_store(&s->small.f.crew.c, &store)) {
        CHECK_CODE(store.ops->rows(store.self, 1, look_at_row, jobs, &err), LKS_OK);
        lks_store_close(&store);
        CHECK(jobs->touched >= NODES);
        printf("     %zu jobs ran, %zu commands changed nodes\n", jobs->count, jobs->touched);
    }
    free(jobs);
}

static void test_story(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf end = {0};
    struct story *s = calloc(1, sizeof(*s));
    char line[LINE_MAX_];
    LKS_ASSERT(s != NULL);
    s->tree = lks_tree_new();
    if (side_start(s) && start_change(s) && run_change(s) && side_says(s, "stop", "ended ", line)) {
        CHECK(side_says(s, "idle", "done", line));
        check_jobs(s);
        small_tell_end(&s->small, &end);
        printf("%s", end.ptr);
    }
    side_end(s); /* first: the end of the fleet waits for all children */
    small_end(&s->small);
    lks_tree_free(&s->tree);
    free(s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a change beside Slurm, with kills on both sides", test_story},
        {0},
    });
}
