/*
 * The contract of schedulers (tests/sched_contract.h) with a real Slurm: the driver of the bridge
 * asks a real bridge, that of slurmrestd a real slurmrestd, over the product's own HTTP client. The
 * parts are started and killed by tests/real/slurm_contract.py, and the truth that the answers are
 * held against is Slurm's own.
 *
 *     test_real_slurm_contract bridge|bridge-later|slurmrestd-later BUILD_ROOT
 *
 * "later" is the Slurm of Debian 13, in the root that tools/slurm-root.sh makes.
 *
 * The contract's clock is a number here, too: a job that ends in half an hour is ended when the
 * contract's time is there. Only while a part is away does time pass as it does for lockstepd, but
 * faster.
 */
#include "drivers/http/curl.h"
#include "tests/sched_contract.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 2048, PATH_SIZE = 256, REST_MS = 500, FLIGHT_TURNS = 4, MISSING = 77 };

/* The one peer of a run. */
static struct real {
    pid_t side;
    FILE *to, *from;
    char url[PATH_SIZE], token[1024];
    struct lks_curl *http;
    bool answered;
    enum scene scene;
    lks_ms begun, now;
    bool job, hurt;
    bool touched; /* something was asked or done since the last begin */
    char job_id[32];
    unsigned writes;         /* before it */
    enum contract_kill kill; /* to come with the next request */
    unsigned kills;          /* so far: how long each waits differs */
    struct lks_schedsim_reply *reply;
} real;

/* The script -------------------------------------------------------------------------------- */

/* Its answer to a command, for NULL the line that it starts with. */
static const char *ask_side(const char *command)
{
    static char line[LINE_SIZE];
    line[0] = '\0';
    if (command != NULL)
        fprintf(real.to, "%s\n", command);
    fflush(real.to);
    if (fgets(line, sizeof(line), real.from) == NULL) {
        printf("the Slurm side ended at '%s'\n", command != NULL ? command : "its start");
        fflush(stdout);
        _exit(1);
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void order(const char *command)
{
    CHECK_STR(lks_str_from(ask_side(command)), "done");
}

static void run_script(const char *kind, const char *build, const char *place)
{
    char program[PATH_SIZE];
    const char *peer = strstr(kind, "slurmrestd") != NULL ? "slurmrestd" : "bridge";
    snprintf(program, sizeof(program), "%s/lockstep-slurm-bridge", build);
    if (strstr(kind, "-later") == NULL)
        execlp("python3", "python3", "tests/real/slurm_contract.py", peer, place, program, NULL);
    else
        execlp("tools/slurm-root.sh", "tools/slurm-root.sh", build, "python3",
               "/srv/tests/real/slurm_contract.py", peer, "/build/contract",
               "/build/lockstep-slurm-bridge", NULL);
    _exit(127);
}

/* False: there is none here, and the script has said why. */
static bool start_side(const char *kind, const char *build)
{
    int in[2], out[2];
    char place[PATH_SIZE - 16];
    snprintf(place, sizeof(place), "%s%s/contract", build,
             strstr(kind, "-later") != NULL ? "/slurm-24.11" : "");
    snprintf(real.url, sizeof(real.url), "unix:%s/peer", place);
    LKS_ASSERT(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    real.side = fork();
    if (real.side == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        run_script(kind, build, place);
    }
    close(in[0]);
    close(out[1]);
    real.to = fdopen(in[1], "w");
    real.from = fdopen(out[0], "r");
    LKS_ASSERT(real.side > 0 && real.to != NULL && real.from != NULL);
    const char *line = ask_side(NULL);
    if (sscanf(line, "ready %*s %1023s", real.token) == 1)
        return true;
    printf("%s\n", line);
    return false;
}

static void end_side(void)
{
    fclose(real.to);
    waitpid(real.side, NULL, 0);
    fclose(real.from);
}

static unsigned read_writes(void)
{
    const char *line = ask_side("writes");
    CHECK(lks_str_starts(lks_str_from(line), "writes "));
    return (unsigned)strtoul(line + strlen("writes "), NULL, 10);
}

/* Requests ---------------------------------------------------------------------------------- */

static void answered(void *ctx, const struct lks_http_response *answer, const struct lks_err *err)
{
    (void)ctx;
    (void)err;
    real.answered = true;
    if (answer == NULL)
        return;
    real.reply->status = answer->status;
    lks_buf_add(&real.reply->body, answer->body);
}

static void kill_now(void)
{
    static const char *const orders[KILLS] = {"", "kill bridge", "kill scheduler", "kill both"};
    enum contract_kill kill = real.kill;
    real.kill = KILL_NOTHING;
    real.hurt = true;
    order(orders[kill]);
}

/* One that is to be killed for is in flight for some turns, each time as many as before and one. */
static void real_take(void *model, const struct lks_http_request *request,
                      struct lks_schedsim_reply *out)
{
    const struct lks_curl_peer peer = {.url = real.url, .plain = true};
    struct lks_http_request copy = {.method = request->method, .answer_max = request->answer_max};
    struct lks_curl_exchange *x = NULL;
    struct lks_err err = {0};
    unsigned flight = real.kill != KILL_NOTHING ? 1 + real.kills++ % FLIGHT_TURNS : 0;
    (void)model;
    lks_http_request_init(&copy);
    copy.method = request->method;
    copy.answer_max = request->answer_max;
    lks_buf_add(&copy.path, lks_buf_view(&request->path));
    lks_buf_add(&copy.head, lks_buf_view(&request->head));
    lks_buf_add(&copy.body, lks_buf_view(&request->body));
    out->status = 0;
    out->delay = 0;
    lks_buf_truncate(&out->body, 0);
    real.touched = true;
    real.answered = false;
    real.reply = out;
    if (lks_curl_begin(real.http, &peer, &copy,
                       request->answer_max > 0 ? LKS_SCHED_LISTING : LKS_SCHED_PATIENCE, answered,
                       NULL, &x, &err) != LKS_OK) {
        CHECK_STR(lks_str_from(err.msg), "");
        return;
    }
    for (unsigned turn = 1; !real.answered; turn++) {
        if (!CHECK_CODE(lks_curl_turn(real.http, 1, &err), LKS_OK))
            break;
        if (turn == flight)
            kill_now();
    }
    if (real.kill != KILL_NOTHING)
        kill_now(); /* it was faster */
}

/* What the contract asks of a side ---------------------------------------------------------- */

static void *real_begin(enum scene scene, lks_ms now)
{
    real.job = scene == BUSY || scene == HANGS;
    real.scene = scene;
    real.begun = real.now = now;
    real.touched = real.job;
    const char *line = ask_side(real.job ? "begin job" : "begin");
    CHECK(lks_str_starts(lks_str_from(line), "job "));
    snprintf(real.job_id, sizeof(real.job_id), "%s", line + strlen("job "));
    real.writes = read_writes();
    return &real;
}

static void real_end(void *model)
{
    (void)model;
    if (real.touched)
        order("end");
    real.hurt = false;
}

static const char *real_node(const void *model)
{
    (void)model;
    return "g1";
}

static void real_pass(void *model, lks_ms now)
{
    lks_ms ms = now - real.now;
    (void)model;
    real.now = now;
    if (real.hurt)
        lks_rest(ms < REST_MS ? (unsigned)ms : REST_MS);
    if (real.job && real.scene == BUSY && now >= real.begun + JOB_ENDS) {
        real.job = false;
        order("finish");
    }
}

static void real_other(void *model, const char *owner)
{
    (void)model;
    real.touched = true;
    order(owner != NULL ? "drain" : "resume");
}

static void real_restart(void *model)
{
    (void)model;
    order("forget");
}

static void real_kill(void *model, enum contract_kill kill)
{
    (void)model;
    real.kill = kill;
}

static void real_settle(void *model, enum contract_kill next)
{
    (void)model;
    order(next == KILL_SCHEDULER || next == KILL_BOTH ? "settle save" : "settle");
    real.hurt = false;
}

static struct truth real_truth(const void *model)
{
    struct truth t = {0};
    char closed = 0, busy = 0, owner[sizeof(t.owner)] = "";
    int at = 0;
    (void)model;
    const char *line = ask_side("truth");
    CHECK_INT(sscanf(line, "%c %c %80s %n", &closed, &busy, owner, &at), 3);
    t.closed = closed == '1';
    t.busy = busy == '1';
    snprintf(t.owner, sizeof(t.owner), "%s", t.closed ? owner : "");
    snprintf(t.reason, sizeof(t.reason), "%s", line + at);
    return t;
}

static unsigned real_writes(const void *model)
{
    (void)model;
    return read_writes() - real.writes;
}

#define REAL                                                                                       \
    .sched = "slurm", .person = "root", .job = real.job_id, .idle = true,                          \
    .no_scene = {[TRAINS] = CONTRACT_NO_CHECKPOINT,                                                \
                 [SERVES] = CONTRACT_NO_SERVICES,                                                  \
                 [NEEDS_ALL] = CONTRACT_NO_SERVICES},                                              \
    .no_faults = "its parts are killed", .no_stale = "it gives no old answer when one is wanted",  \
    .mishaps_at = 3, .kills_at = 3, .begin = real_begin, .end = real_end, .node = real_node,       \
    .take = real_take, .pass = real_pass, .other = real_other, .restart = real_restart,            \
    .kill = real_kill, .settle = real_settle, .truth = real_truth, .writes = real_writes

static struct contract_side bridge = {.name = "bridge", .driver = &lks_sched_bridge, REAL};
static const struct contract_side rest = {.name = "slurmrestd",
                                          .driver = &lks_sched_slurmrestd,
                                          .user = "root",
                                          .token = real.token,
                                          .no_revisions = CONTRACT_NO_REVISIONS,
                                          .no_epochs = CONTRACT_NO_EPOCHS,
                                          .site_refused = true,
                                          REAL};

/* The bridge is asked in full with one release, and less often with the other. */
static const struct contract_side *side_of(const char *kind)
{
    if (strcmp(kind, "bridge-later") == 0)
        bridge.mishaps_at = bridge.kills_at = 2;
    return strstr(kind, "slurmrestd") != NULL ? &rest : &bridge;
}

int main(int argc, char **argv)
{
    struct lks_err err = {0};
    LKS_ASSERT(argc == 3);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!start_side(argv[1], argv[2])) {
        end_side();
        return MISSING;
    }
    LKS_ASSERT(lks_curl_new(&(struct lks_curl_options){0}, &real.http, &err) == LKS_OK);
    contract_sides(side_of(argv[1]), 1);
    int code = lks_test_main((const struct lks_test[]){
        {"what each verb does", contract_verbs},
        {"wishes that are odd", contract_odd_wishes},
        {"waiting for what runs", contract_waiting},
        {"mishaps on the way", contract_mishaps},
        {"kills", contract_kills},
        {"a whole site", contract_site},
        {"deadlines", contract_deadlines},
        {"epochs of leaders", contract_epochs},
        {"one owner of ours after the other", contract_takes_over},
        {"requests are repeated", contract_keeps_asking},
        {NULL, NULL},
    });
    lks_curl_free(real.http);
    end_side();
    return code;
}
