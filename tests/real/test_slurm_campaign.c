/*
 * A change beside a real Slurm: the small fleet of real parts (small.h), whose pools say `sched:
 * slurm`, a real slurmctld with a slurmd for each of 16 nodes, its bridge, and a stream of jobs.
 * lockstepd with the BMCs, slurmctld with the bridge, and each node with its agent and its slurmd
 * are in network namespaces of their own; the bridge is reached by mutual TLS. Waves drain, update
 * and return all nodes; on the way slurmctld, the bridge and lockstepd are killed once each, and
 * slurmctld and lockstepd lose each other for a while: nodes that were drained go on, and no other
 * is drained. No job runs on a node while that is changed, none is killed, and in the end no drain
 * is left.
 *
 * Pool "dev" has jobs requeued: a change of its own, which runs at once with the other because its
 * grace takes a minute, has a job with a checkpoint policy signalled and requeued, and the job
 * finishes in its second run. No job of pool "train" is touched: one there is waited for. While its
 * domain waits for that, an administrator resumes the other node of the domain, which is drained
 * again.
 */
#include "core/actions/sched_book.h"
#include "model/record/record.h"
#include "tests/real/small.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NODES = 16,
    JOBS_MAX = 8192,
    LINE_MAX_ = 256,
    CONFIG_MAX = 2048,
    AT_ONCE = 4,
    RESUMED = 1, /* g2, of one domain with */
    WAITED = 2,  /* g3 */
};

#define REQUEUED_ON "g1"        /* the node of pool "dev", */
#define REQUEUED    "requeued"  /* and the job there */
#define UNTOUCHED   "untouched" /* the job on g3 */

#define LOCKSTEPD "10.77.0.1" /* tests/namespaces.py */

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
    char config[CONFIG_MAX];
    int namespaces[NODES]; /* processes in them */
    uint64_t change, dev;  /* of pool "train", and of "dev" */
    char job[32];          /* that is requeued */
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

/* The processes that the Slurm side has in the namespaces of nodes. */
static bool read_namespaces(struct story *s)
{
    char path[SMALL_PATH], name[32], pid[16];
    size_t count = 0;
    snprintf(path, sizeof(path), "%s/namespaces", s->tree.path);
    FILE *f = fopen(path, "re");
    if (!CHECK(f != NULL))
        return false;
    while (count < NODES && fscanf(f, "%31s %15s", name, pid) == 2) {
        s->namespaces[count] = (int)strtol(pid, NULL, 10);
        count += CHECK_STR(lks_str_from(name), small_name(count));
    }
    fclose(f);
    return CHECK_INT(count, NODES);
}

/* Jobs that run until they are told to end, or requeued. */
static bool start_jobs(struct story *s)
{
    char line[LINE_MAX_];
    if (!side_says(s, "job " REQUEUED " " REQUEUED_ON, "job ", line))
        return false;
    snprintf(s->job, sizeof(s->job), "%.16s", line + strlen("job "));
    return side_says(s, "job " UNTOUCHED " g3", "job ", line);
}

static bool side_start(struct story *s)
{
    char line[LINE_MAX_];
    if (!spawn(s) || !side_says(s, NULL, "ready ", line) || !read_namespaces(s))
        return false;
    snprintf(s->config, sizeof(s->config),
             "%sslurm:\n  bridges: [\"here=%s\"]\n  ca: %s/pki/ca.pem\n"
             "  certificate: %s/pki/ctl.pem\n  key: %s/pki/ctl.key\n",
             limits, line + strlen("ready "), s->tree.path, s->tree.path, s->tree.path);
    return start_jobs(s);
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

/* The site ---------------------------------------------------------------------------------- */

/* lockstepd, which nodes reach over their network. */
static bool start_lockstepd(struct small *small, void *ctx)
{
    struct story *s = ctx;
    struct crew *crew = &small->f.crew;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(CONFIG_MAX);
    char lines[96];
    ctl_init_shared(&crew->c, "--name", LOCKSTEPD, s->config);
    const char *const everywhere[] = {"/bin/sed", "-i", "s/127\\.0\\.0\\.1:/0.0.0.0:/",
                                      crew->c.config, NULL};
    if (!small_fix_ports(&crew->c) || !CHECK_INT(ctl_run(everywhere, &said), 0))
        return false;
    snprintf(lines, sizeof(lines), "controller: {agents: \"https://" LOCKSTEPD ":%u\"}\n",
             crew->c.agents);
    ctl_configure(&crew->c, lines);
    if (!CHECK(ctl_start(&crew->c)))
        return false;
    crew->root = ctl_client(&crew->c, CTL_UNIX);
    return CHECK(crew->root != NULL);
}

static bool open_store(void *ctx, struct lks_store *out)
{
    struct story *s = ctx;
    return ctl_store(&s->small.f.crew.c, out);
}

/* An agent runs in the namespace of its node. */
static bool enter_node(void *ctx, size_t node)
{
    const struct story *s = ctx;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/net", s->namespaces[node]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
}

/* The change -------------------------------------------------------------------------------- */

static bool tell(struct lks_client *who, uint64_t change, const char *id, const char *order,
                 const char *body)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/%s", change, order);
    return crew_fine(who, id, path, body, &t);
}

/* A change of these nodes, approved by two; 0 is a failed check. */
static uint64_t start_change(struct story *s, const char *nodes, struct lks_client *pool)
{
    static const char agreed[] = "{\"reason\":\"read\"}";
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_client *root = s->small.f.crew.root;
    char body[160];
    snprintf(body, sizeof(body),
             "{\"nodes\":\"%s\",\"stack\":\"b\",\"soak_seconds\":1,\"reason\":\"next\"}", nodes);
    if (!crew_fine(root, "propose", "/v1/changes", body, &t))
        return 0;
    uint64_t id = (uint64_t)crew_number(&t, "id");
    snprintf(body, sizeof(body), "{\"nodes\":%d,\"gpus\":%d,\"reason\":\"go\"}",
             (int)crew_number(&t, "nodes"), (int)crew_number(&t, "gpus"));
    return tell(s->small.approver, id, "approveChange", "approve", agreed) &&
                   tell(pool, id, "approveChange", "approve", agreed) &&
                   tell(root, id, "startChange", "start", body)
               ? id
               : 0;
}

static bool start_changes(struct story *s)
{
    s->dev = start_change(s, REQUEUED_ON, s->small.for_dev);
    s->change = start_change(s, "g[2-16]", s->small.for_train);
    return CHECK(s->dev > 0) && CHECK(s->change > 0);
}

/* Nodes of the change, by what they do. */
struct stand {
    char state[32]; /* of the change */
    size_t done;
    bool beyond[NODES];    /* drained, and changed now */
    bool returning[NODES]; /* changed, and about to return to service, or back there */
    bool drains[NODES];    /* and waits for its jobs */
    bool waits[NODES];     /* for others, before its next step */
};

static void take_member(struct stand *out, const struct lks_doc *m)
{
    struct lks_str state = lks_doc_text(m, "state"), doing = lks_doc_text(m, "doing");
    bool returns = lks_str_is(doing, "return") || lks_str_is(state, "done");
    out->done += lks_str_is(state, "done");
    for (size_t i = 0; i < NODES; i++) {
        if (!lks_str_is(lks_doc_text(m, "node"), small_name(i)))
            continue;
        out->returning[i] = returns;
        out->beyond[i] = doing.len > 0 && !returns && !lks_str_is(doing, "leave");
        out->drains[i] = lks_str_is(doing, "leave") && lks_str_is(state, "asked");
        out->waits[i] = lks_str_is(state, "waiting");
    }
}

static bool read_state(struct story *s, uint64_t change, char out[32])
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "?plan=false", change);
    if (!crew_fine(s->small.f.crew.root, "change", path, NULL, &t))
        return false;
    snprintf(out, 32, "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "state")));
    return true;
}

static struct stand progress(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct stand out = {0};
    char path[SMALL_PATH];
    snprintf(path, sizeof(path), "/v1/changes/%" PRIu64 "/members?limit=100", s->change);
    if (!read_state(s, s->change, out.state) ||
        !crew_fine(s->small.f.crew.root, "changeMembers", path, NULL, &t))
        return out;
    for (const struct lks_doc *m = lks_doc_member(t.doc, "items")->first; m != NULL; m = m->next)
        take_member(&out, m);
    return out;
}

/* A partition ------------------------------------------------------------------------------- */

/* Nodes that Slurm drains or has drained, as it shows them itself. */
static bool read_drained(struct story *s, char line[LINE_MAX_])
{
    return side_says(s, "drained", "nodes ", line);
}

/* lockstepd has noticed that no bridge answers about the nodes of some pool. */
static bool is_failing(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    bool failing = false;
    if (!crew_fine(s->small.f.crew.root, "schedulers", "/v1/schedulers", NULL, &t))
        return false;
    for (const struct lks_doc *i = lks_doc_member(t.doc, "items")->first; i != NULL; i = i->next)
        failing = failing || lks_doc_member(i, "failing")->number > 0;
    return failing;
}

static lks_ms mono(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
}

/* Nodes that were being changed before have got as far as they can without Slurm. On a slow machine
 * they may not get to their return: no step starts on an answer that is too old. */
static bool have_gone_on(const struct stand *before, const struct stand *now, lks_ms cut)
{
    for (size_t i = 0; i < NODES && mono() < cut + LKS_SCHED_FRESH; i++) {
        if (before->beyond[i] && !now->returning[i])
            return false;
    }
    return true;
}

/* What does not need Slurm is as ever. */
static void check_others(struct story *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    CHECK(crew_fine(s->small.f.crew.root, "admit", "/v1/admit",
                    "{\"job\":\"other\",\"nodes\":\"g1\"}", &t));
    CHECK(crew_truth(&t, "admitted"));
}

/* slurmctld and lockstepd lose each other while nodes are changed. */
static bool partition(struct story *s, const struct stand *before)
{
    char line[LINE_MAX_], drained[LINE_MAX_], later[LINE_MAX_];
    struct stand now = *before;
    bool noticed = false, gone_on = false;
    const lks_ms cut_at = mono();
    if (!side_says(s, "cut", "done", line))
        return false;
    for (struct lks_wait w = {0}; !noticed && lks_wait(&w);)
        noticed = is_failing(s);
    const struct stand cut = progress(s);
    if (!CHECK(noticed) || !read_drained(s, drained))
        return false;
    for (struct lks_wait w = {0}; !gone_on && lks_wait(&w);) {
        now = progress(s);
        gone_on = have_gone_on(before, &now, cut_at);
    }
    CHECK(gone_on);
    CHECK_STR(lks_str_from(now.state), "running");
    CHECK_INT(now.done, cut.done);
    check_others(s);
    if (!read_drained(s, later))
        return false;
    CHECK_STR(lks_str_from(later), drained);
    printf("     without Slurm: %s\n", drained);
    return side_says(s, "join", "done", line);
}

/* What happens on the way ------------------------------------------------------------------- */

static bool kill_lockstepd(struct story *s, const struct stand *now)
{
    (void)now;
    return flashes_kill(&s->small.f);
}

/* Not before it saved the jobs with a name: they are to survive. */
static bool kill_slurmctld(struct story *s, const struct stand *now)
{
    char line[LINE_MAX_];
    (void)now;
    return side_says(s, "saved", "done", line) && side_says(s, "kill slurmctld", "done", line);
}

static bool kill_bridge(struct story *s, const struct stand *now)
{
    char line[LINE_MAX_];
    (void)now;
    return side_says(s, "kill bridge", "done", line);
}

/* An alarm states that somebody else ended the drain of the node. */
static bool has_alarm(struct story *s, const char *node)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    bool found = false;
    if (!crew_fine(s->small.f.crew.root, "alarms", "/v1/alarms?open=true", NULL, &t))
        return false;
    for (const struct lks_doc *i = lks_doc_member(t.doc, "items")->first; i != NULL; i = i->next)
        found = found || (lks_str_is(lks_doc_text(i, "kind"), "undrained") &&
                          lks_str_is(lks_doc_text(i, "subject"), node));
    return found;
}

/* A node that is drained, and waits for a node of its domain that has a job. */
static bool is_paired(const struct stand *now)
{
    return now->waits[RESUMED] && now->beyond[RESUMED] && now->drains[WAITED];
}

/* An administrator resumes it: there is an alarm, and it is drained again, also in Slurm. The job
 * that its domain waits for ends only then, so that no step can have begun under another job. */
static bool resume(struct story *s, const struct stand *now)
{
    char line[LINE_MAX_], command[64];
    bool alarmed = false, again = false;
    struct stand later = *now;
    snprintf(command, sizeof(command), "resume %s", small_name(RESUMED));
    if (!side_says(s, command, "done", line))
        return false;
    for (struct lks_wait w = {0}; !alarmed && lks_wait(&w);)
        alarmed = has_alarm(s, small_name(RESUMED));
    for (struct lks_wait w = {0}; alarmed && !again && lks_wait(&w);) {
        later = progress(s);
        again = is_paired(&later);
    }
    if (!CHECK(alarmed) || !CHECK(again) || !read_drained(s, line))
        return false;
    CHECK_HAS(lks_str_from(line), small_name(RESUMED));
    CHECK_STR(lks_str_from(later.state), "running");
    return side_says(s, "end " UNTOUCHED, "done", line);
}

static bool is_changing(const struct stand *now)
{
    for (size_t i = 0; i < NODES; i++) {
        if (now->beyond[i])
            return true;
    }
    return false;
}

/* Each once: when so many nodes are done, and this holds of the others. */
static const struct {
    size_t done;
    bool (*is_due)(const struct stand *now);
    bool (*act)(struct story *s, const struct stand *now);
} events[] = {{1, is_changing, kill_slurmctld},
              {2, is_changing, partition},
              {5, is_changing, kill_lockstepd},
              {8, is_changing, kill_bridge},
              {13, is_paired, resume}};

static bool is_over(const char *state)
{
    return strcmp(state, "approved") != 0 && strcmp(state, "running") != 0;
}

static bool run_change(struct story *s)
{
    struct stand now = {0};
    size_t happened = 0;
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        now = progress(s);
        if (is_over(now.state))
            break;
        if (happened < LKS_COUNT(events) && now.done >= events[happened].done &&
            events[happened].is_due(&now)) {
            if (!events[happened++].act(s, &now))
                return false;
            w = (struct lks_wait){0};
        }
    }
    CHECK_INT(happened, LKS_COUNT(events));
    return CHECK_STR(lks_str_from(now.state), "done");
}

/* That of pool "dev", which waits a minute for the checkpoint of a job. */
static bool run_dev(struct story *s)
{
    char state[32] = "";
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (!read_state(s, s->dev, state) || is_over(state))
            break;
    }
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
    size_t acts[LKS_JOB_ACT_COUNT];
};

static bool read_jobs(struct story *s, struct jobs *out)
{
    char path[SMALL_PATH], node[64], started[32], ended[32], state[64];
    snprintf(path, sizeof(path), "%s/jobs", s->tree.path);
    FILE *f = fopen(path, "r");
    if (!CHECK(f != NULL))
        return false;
    while (out->count < JOBS_MAX &&
           fscanf(f, "%63s %31s %31s %63s", node, started, ended, state) == 4) {
        if (strcmp(state, "LOST") == 0)
            continue;
        if (strcmp(state, "REQUEUED") != 0)
            CHECK_STR(lks_str_from(state), "COMPLETED");
        for (size_t i = 0; i < NODES; i++) {
            if (strcmp(node, small_name(i)) == 0)
                out->list[out->count++] = (struct job){i, strtoull(started, NULL, 10) * LKS_SECOND,
                                                       strtoull(ended, NULL, 10) * LKS_SECOND};
        }
    }
    fclose(f);
    return CHECK(out->count > 0);
}

/* A command that changes the node came at a moment at which no job ran there, as far as whole
 * seconds can tell. */
static void look_at_command(struct jobs *jobs, const struct lks_row *row,
                            const struct lks_rec_command *command)
{
    if (!lks_str_is(command->executor, "apt") && !lks_str_is(command->executor, "settings"))
        return;
    jobs->touched++;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->list[i];
        lks_test_case("%s", small_name(job->node));
        if (lks_str_is(command->node, small_name(job->node)))
            CHECK(row->time < job->start + LKS_SECOND || row->time > job->end);
    }
}

/* One job alone is signalled and requeued, by the change of its pool. */
static void look_at_act(struct jobs *jobs, const struct lks_rec_job_act *act)
{
    CHECK_STR(act->job, jobs->s->job);
    CHECK_STR(act->node, REQUEUED_ON);
    CHECK_INT(act->change, jobs->s->dev);
    CHECK(act->state != LKS_JOB_REFUSED);
    jobs->acts[act->act] += act->state == LKS_JOB_DONE;
}

static bool look_at_row(void *ctx, const struct lks_row *row)
{
    struct jobs *jobs = ctx;
    struct lks_record r;
    struct lks_err err = {0};
    if (row->kind != LKS_RECORD_COMMAND && row->kind != LKS_RECORD_JOB_ACT)
        return true;
    if (!CHECK_CODE(lks_record_unpack(row->kind, row->version, row->body, &r, &err), LKS_OK))
        return true;
    if (row->kind == LKS_RECORD_COMMAND)
        look_at_command(jobs, row, &r.command);
    else
        look_at_act(jobs, &r.job_act);
    return true;
}

/* The job with a checkpoint policy got its signal and was requeued once, by lockstep and by Slurm's
 * own count; the other one was left alone. */
static void check_named(struct story *s, const struct jobs *jobs)
{
    char line[LINE_MAX_], nodes[2][64] = {"", ""};
    unsigned restarts = 0, signals = 0;
    lks_test_case("a job with a checkpoint policy is requeued and finishes");
    CHECK_INT(jobs->acts[LKS_JOB_SIGNAL], 1);
    CHECK_INT(jobs->acts[LKS_JOB_REQUEUE], 1);
    if (side_says(s, "over " REQUEUED, "over COMPLETED ", line) &&
        CHECK_INT(sscanf(line, "over COMPLETED %u %u %63[^,],%63[^,]", &restarts, &signals,
                         nodes[0], nodes[1]),
                  4)) {
        CHECK_INT(restarts, 1);
        CHECK(signals > 0); /* one whose answer was lost comes again */
        CHECK_STR(lks_str_from(nodes[0]), REQUEUED_ON);
        printf("     job %s ran on %s, and again on %s\n", s->job, nodes[0], nodes[1]);
    }
    lks_test_case("a job of a pool that waits is not touched");
    if (side_says(s, "over " UNTOUCHED, "over ", line))
        CHECK_STR(lks_str_from(line), "over COMPLETED 0 0 g3");
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
        check_named(s, jobs);
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
    const struct small_site site = {.start = start_lockstepd,
                                    .store = open_store,
                                    .people = &s->small.f.crew,
                                    .speed = 1000,
                                    .headroom = AT_ONCE,
                                    .pools = ", sched: slurm",
                                    .dev = ", drain_jobs: requeue, drain_signal: USR1, "
                                           "drain_grace_minutes: 1",
                                    .host = LOCKSTEPD,
                                    .enter = enter_node,
                                    .ctx = s};
    if (side_start(s) && small_begin_at(&s->small, NODES, &site) && start_changes(s) &&
        run_change(s) && run_dev(s) && side_says(s, "stop", "ended ", line)) {
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(CONFIG_MAX);
    if (unshare(CLONE_NEWNET) != 0) {
        printf("missing root: each part runs in a network namespace of its own\n");
        return 77;
    }
    if (ctl_run((const char *[]){"/sbin/ip", "link", "set", "lo", "up", NULL}, &said) != 0) {
        printf("missing root: no 'ip' of iproute2, which sets up network namespaces\n");
        return 77;
    }
    return lks_test_main((const struct lks_test[]){
        {"a change beside Slurm, with kills and a partition", test_story},
        {0},
    });
}
