#include "tests/contract_real.h"

#include "drivers/http/curl.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_SIZE = 4096, PATH_SIZE = 256, TOKEN_SIZE = 1504, REST_MS = 500, FLIGHT_TURNS = 4 };

char contract_real_token[TOKEN_SIZE], contract_real_job[32];

/* The one peer of a run. */
static struct real {
    pid_t side;
    FILE *to, *from;
    char url[PATH_SIZE], ca[PATH_SIZE];
    struct lks_curl *http;
    bool answered;
    enum scene scene;
    lks_ms begun, now;
    bool job, hurt;
    bool touched;            /* something was asked or done since the last begin */
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
        printf("the script ended at '%s'\n", command != NULL ? command : "its start");
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

/* False: there is none here, and the script has said why. */
bool contract_real_start(const char *const argv[], const char *url)
{
    int in[2], out[2];
    LKS_ASSERT(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    real.side = fork();
    if (real.side == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    real.to = fdopen(in[1], "w");
    real.from = fdopen(out[0], "r");
    LKS_ASSERT(real.side > 0 && real.to != NULL && real.from != NULL);
    const char *line = ask_side(NULL);
    snprintf(real.url, sizeof(real.url), "%s", url != NULL ? url : "");
    if (sscanf(line, "ready %*s %1500s %255s %255s", contract_real_token, real.url, real.ca) >= 1)
        return true;
    printf("%s\n", line);
    return false;
}

void contract_real_close(void)
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
void contract_real_take(void *model, const struct lks_http_request *request,
                        struct lks_schedsim_reply *out)
{
    const struct lks_curl_peer peer = {
        .url = real.url, .ca = real.ca[0] != '\0' ? real.ca : NULL, .plain = true};
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

void *contract_real_begin(enum scene scene, lks_ms now)
{
    real.job = scene == BUSY || scene == HANGS;
    real.scene = scene;
    real.begun = real.now = now;
    real.touched = real.job;
    const char *line = ask_side(real.job ? "begin job" : "begin");
    CHECK(lks_str_starts(lks_str_from(line), "job "));
    snprintf(contract_real_job, sizeof(contract_real_job), "%s", line + strlen("job "));
    real.writes = read_writes();
    return &real;
}

void contract_real_end(void *model)
{
    (void)model;
    if (real.touched)
        order("end");
    real.hurt = false;
}

const char *contract_real_node(const void *model)
{
    (void)model;
    return "g1";
}

void contract_real_pass(void *model, lks_ms now)
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

void contract_real_other(void *model, const char *owner)
{
    (void)model;
    real.touched = true;
    order(owner != NULL ? "drain" : "resume");
}

void contract_real_restart(void *model)
{
    (void)model;
    order("forget");
}

void contract_real_kill(void *model, enum contract_kill kill)
{
    (void)model;
    real.kill = kill;
}

void contract_real_settle(void *model, enum contract_kill next)
{
    (void)model;
    order(next == KILL_SCHEDULER || next == KILL_BOTH ? "settle save" : "settle");
    real.hurt = false;
}

struct truth contract_real_truth(const void *model)
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

unsigned contract_real_writes(const void *model)
{
    (void)model;
    return read_writes() - real.writes;
}

int contract_real_run(const struct contract_side *side)
{
    struct lks_err err = {0};
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    LKS_ASSERT(lks_curl_new(&(struct lks_curl_options){0}, &real.http, &err) == LKS_OK);
    contract_sides(side, 1);
    int code = lks_test_main((const struct lks_test[]){
        {"what each verb does", contract_verbs},
        {"wishes that are odd", contract_odd_wishes},
        {"waiting for what runs", contract_waiting},
        {"mishaps on the way", contract_mishaps},
        {"kills", contract_kills},
        {"a whole site", contract_site},
        {"kills at requests about jobs", contract_site_kills},
        {"deadlines", contract_deadlines},
        {"epochs of leaders", contract_epochs},
        {"one owner of ours after the other", contract_takes_over},
        {"requests are repeated", contract_keeps_asking},
        {NULL, NULL},
    });
    lks_curl_free(real.http);
    contract_real_close();
    return code;
}
