/*
 * The real daemon and a scheduler that the test plays behind a socket, with the model of
 * lab/sched/schedsim.h: each node is asked about, a drain that no change wants any more is
 * released, that of another owner is not; and a scheduler that is gone is named until it is back.
 * Many nodes are asked about at a time, each by one conversation.
 *
 * Long because the scheduler is played here as well.
 */
#include "base/file.h"
#include "drivers/store/sqlite.h"
#include "lab/sched/schedsim.h"
#include "server/base/secrets.h"
#include "tests/controller.h"
#include "tests/journals.h"
#include "tests/slurmrestd_model.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/token.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    JOB_MS = 3600000,
    REQUEST_MAX = 1 << 16,
    LOOK_MS = 20,
    MANY = 96,
    ANSWER_US = 20000,
    LANES = 64
};

/* The scheduler ----------------------------------------------------------------------------- */

struct sched {
    struct lks_schedsim model;
    pthread_mutex_t lock; /* of the model */
    char path[108];
    int fd; /* -1: it does not run */
    pthread_t thread;
    atomic_bool stop;
    const char *token; /* it passes for a slurmrestd that knows this one; NULL: it is a bridge */
    bool slow;         /* each answer takes ANSWER_US, and it gives many at a time, under `lock`: */
    unsigned lines, now, most;  /* connections; requests, and at a time */
    unsigned on[MANY], most_on; /* of a node */
    unsigned bare;              /* writes without epoch or revision */
    char jobs[512];             /* what it lists; empty: it cannot */
    const char *policy; /* its answer to the policy of submissions; NULL: a bridge of before */
    unsigned policies;  /* with pool p, that it was told */
};

struct line {
    struct sched *s;
    int fd;
};

static lks_ms wall(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (lks_ms)t.tv_sec * LKS_SECOND + (lks_ms)t.tv_nsec / 1000000;
}

/* The policy of submissions, and answers about nodes that say that it is taken. */
static void take_policy(struct sched *s, const struct lks_http_request *request,
                        struct lks_schedsim_reply *reply)
{
    static const char truth[] = "{\"truth\":{\"features\":[],\"shown\":true,\"slots\":true},";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(REQUEST_MAX);
    struct lks_str path = lks_buf_view(&request->path), had = lks_buf_view(&reply->body);
    if (lks_str_is(path, "/v1/policy")) {
        lks_buf_truncate(&reply->body, 0);
        reply->status = strstr(s->policy, "error") != NULL ? 500 : 200;
        lks_buf_addf(&reply->body, "%s", s->policy);
        s->policies += lks_str_find(lks_buf_view(&request->body), LKS_STR("\"name\":\"p\"")) > 0;
    } else if (lks_str_starts(path, "/v1/nodes/") && reply->status == 200 && had.len > 1) {
        lks_buf_addf(&body, "%s%" LKS_STR_FMT, truth, LKS_STR_ARG(lks_str_from(had.ptr + 1)));
        lks_buf_truncate(&reply->body, 0);
        lks_buf_add(&reply->body, lks_buf_view(&body));
    }
}

/* The request as the model takes it. Bodies arrive with the head or behind it; the connection ends
 * with the answer. */
static void take_request(struct sched *s, const struct lks_http_request *request,
                         struct lks_schedsim_reply *reply)
{
    char header[128];
    lks_schedsim_pass(&s->model, wall());
    snprintf(header, sizeof(header), "X-SLURM-USER-TOKEN: %s\r\n",
             s->token != NULL ? s->token : "");
    if (s->jobs[0] != '\0' && lks_str_is(lks_buf_view(&request->path), "/v1/jobs")) {
        reply->status = 200;
        lks_buf_add(&reply->body, lks_str_from(s->jobs));
    } else if (s->token == NULL) {
        lks_schedsim_take(&s->model, request, reply);
        if (s->policy != NULL)
            take_policy(s, request, reply);
    } else if (lks_str_find(lks_buf_view(&request->head), lks_str_from(header)) >= 0)
        slurmrestd_model_take(&s->model, "v0.0.41", request, reply);
    else
        reply->status = 401;
}

static void take(struct sched *s, struct lks_str text, struct lks_schedsim_reply *reply)
{
    struct lks_http_request request;
    struct lks_str line, rest, method, path, version;
    lks_http_request_init(&request);
    ptrdiff_t end = lks_str_find(text, LKS_STR("\r\n\r\n"));
    if (end >= 0 && lks_str_cut(text, '\r', &line, &rest) &&
        lks_str_cut(line, ' ', &method, &path) && lks_str_cut(path, ' ', &path, &version)) {
        request.method = lks_str_is(method, "PUT")    ? "PUT"
                         : lks_str_is(method, "POST") ? "POST"
                                                      : "GET";
        lks_buf_add(&request.path, path);
        lks_buf_add(&request.head, (struct lks_str){text.ptr, (size_t)end + 2});
        lks_buf_add(&request.body,
                    (struct lks_str){text.ptr + end + 4, text.len - (size_t)end - 4});
        pthread_mutex_lock(&s->lock);
        take_request(s, &request, reply);
        pthread_mutex_unlock(&s->lock);
    }
    lks_http_request_fini(&request);
}

/* As many bytes behind the head as that says. */
static bool is_whole(struct lks_str text)
{
    static const char name[] = "\r\nContent-Length: ";
    ptrdiff_t head = lks_str_find(text, LKS_STR("\r\n\r\n"));
    ptrdiff_t at = lks_str_find(text, lks_str_from(name));
    size_t body = at >= 0 ? strtoul(text.ptr + at + sizeof(name) - 1, NULL, 10) : 0;
    return head >= 0 && text.len >= (size_t)head + 4 + body;
}

/* Count the request that begins (1) or ends (-1), of the node in its path. */
static void count_request(struct sched *s, struct lks_str text, int change)
{
    ptrdiff_t at = lks_str_find(text, LKS_STR("/v1/nodes/n"));
    unsigned node =
        at >= 0 ? (unsigned)strtoul(text.ptr + at + strlen("/v1/nodes/n"), NULL, 10) : MANY;
    pthread_mutex_lock(&s->lock);
    s->now += (unsigned)change;
    s->most = s->now > s->most ? s->now : s->most;
    if (node < MANY) {
        s->on[node] += (unsigned)change;
        s->most_on = s->on[node] > s->most_on ? s->on[node] : s->most_on;
    }
    if (change > 0 && node < MANY && !lks_str_starts(text, "GET "))
        s->bare += lks_str_find(text, LKS_STR("\r\nLockstep-Epoch: ")) < 0 ||
                   lks_str_find(text, LKS_STR("\r\nIf-Match: \"")) < 0;
    pthread_mutex_unlock(&s->lock);
    if (change > 0 && s->slow)
        usleep(ANSWER_US);
}

static void serve(struct sched *s, int fd)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf heard = LKS_BUF(REQUEST_MAX);
    struct lks_schedsim_reply reply;
    char piece[4096], head[128];
    ssize_t got = 1;
    while (!is_whole(lks_buf_view(&heard)) && got > 0) {
        got = read(fd, piece, sizeof(piece));
        if (got > 0)
            lks_buf_add(&heard, (struct lks_str){piece, (size_t)got});
    }
    lks_schedsim_reply_init(&reply);
    count_request(s, lks_buf_view(&heard), 1);
    take(s, lks_buf_view(&heard), &reply);
    count_request(s, lks_buf_view(&heard), -1);
    int len = snprintf(head, sizeof(head),
                       "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                       reply.status, reply.body.len);
    if (reply.status != 0 && send(fd, head, (size_t)len, MSG_NOSIGNAL) == len && reply.body.len > 0)
        (void)!send(fd, reply.body.ptr, reply.body.len, MSG_NOSIGNAL);
    lks_schedsim_reply_fini(&reply);
    close(fd);
}

static void *serve_line(void *arg)
{
    struct line *line = arg;
    struct sched *s = line->s;
    serve(s, line->fd);
    free(line);
    pthread_mutex_lock(&s->lock);
    s->lines--;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void welcome(struct sched *s, int fd)
{
    struct line *line = calloc(1, sizeof(*line));
    pthread_t thread;
    LKS_ASSERT(line != NULL);
    *line = (struct line){s, fd};
    pthread_mutex_lock(&s->lock);
    s->lines++;
    pthread_mutex_unlock(&s->lock);
    LKS_ASSERT(pthread_create(&thread, NULL, serve_line, line) == 0);
    (void)pthread_detach(thread);
}

static void *run(void *arg)
{
    struct sched *s = arg;
    while (!s->stop) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        int fd = poll(&p, 1, LOOK_MS) == 1 ? accept(s->fd, NULL, NULL) : -1;
        if (fd >= 0 && s->slow)
            welcome(s, fd);
        else if (fd >= 0)
            serve(s, fd);
    }
    return NULL;
}

static bool start(struct sched *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", s->path);
    s->stop = false;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return CHECK(s->fd >= 0) && CHECK(bind(s->fd, (struct sockaddr *)&at, sizeof(at)) == 0) &&
           CHECK(listen(s->fd, LANES) == 0) && CHECK(pthread_create(&s->thread, NULL, run, s) == 0);
}

static void stop(struct sched *s)
{
    s->stop = true;
    (void)pthread_join(s->thread, NULL);
    for (unsigned lines = 1; lines > 0; usleep(ANSWER_US)) {
        pthread_mutex_lock(&s->lock);
        lines = s->lines;
        pthread_mutex_unlock(&s->lock);
    }
    close(s->fd);
    (void)unlink(s->path);
}

/* What the model has of a node, by the truth. */
static bool is_closed(struct sched *s, const char *node)
{
    pthread_mutex_lock(&s->lock);
    bool closed = s->model.nodes[lks_schedsim_find(&s->model, lks_str_from(node))].now.closed;
    pthread_mutex_unlock(&s->lock);
    return closed;
}

/* The daemon -------------------------------------------------------------------------------- */

/* Until an answer has the text. */
static bool comes(const struct ctl *c, const char *path, const char *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ctl_once(c, "GET", path, NULL, &answer) == 200 &&
            lks_str_find(lks_buf_view(&answer), lks_str_from(text)) >= 0)
            return true;
    }
    printf("%s: %s\n", path, answer.ptr);
    return CHECK(false);
}

static void set_up(struct sched *s, const struct ctl *c)
{
    static const struct {
        const char *node, *owner;
    } drains[] = {{"n1", "lockstep:change:16"}, {"n2", "kim"}};
    *s = (struct sched){.lock = PTHREAD_MUTEX_INITIALIZER};
    snprintf(s->path, sizeof(s->path), "%s", ctl_path(c, "slurm.sock"));
    lks_schedsim_init(&s->model, 1, wall());
    for (unsigned i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", i);
        (void)lks_schedsim_add(&s->model, name, LKS_SCHEDSIM_BATCH);
    }
    snprintf(s->model.nodes[0].gres, sizeof(s->model.nodes[0].gres), "gpu:h200:8(S:0-1),shard:64");
    s->model.nodes[0].invalid = true;
    for (size_t i = 0; i < LKS_COUNT(drains); i++)
        lks_schedsim_other(&s->model, lks_schedsim_find(&s->model, lks_str_from(drains[i].node)),
                           drains[i].owner);
}

/* The fleet with one word of its manifest replaced, as a dry run. */
static int try_fleet(const struct ctl *c, const char *word, const char *other,
                     struct lks_buf *answer)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(REQUEST_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf changed = LKS_BUF(REQUEST_MAX);
    ctl_fleet(4, "first", &text);
    const char *at = strstr(text.ptr, word);
    if (!CHECK(at != NULL))
        return 0;
    lks_buf_addf(&changed, "%.*s%s%s", (int)(at - text.ptr), text.ptr, other, at + strlen(word));
    return ctl_once(c, "PUT", "/v1/fleet?dry_run=true", changed.ptr, answer);
}

/* A node leaves the fleet, its scheduler or its site only without a drain of lockstep there. */
static void check_removed(const struct ctl *c)
{
    static const char *const reason = "{\"reason\":\"r\"}";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    CHECK_INT(try_fleet(c, "sched: slurm", "sched: none", &answer), 200);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/hold", reason, &answer), 200);
    CHECK(comes(c, "/v1/nodes/n1", "\"state\":\"drained\""));
    CHECK_INT(ctl_once(c, "DELETE", "/v1/nodes/n1?reason=r", NULL, &answer), 409);
    CHECK_HAS(lks_buf_view(&answer), "scontrol update nodename=n1 state=drain");
    CHECK_INT(try_fleet(c, "sched: slurm", "sched: none", &answer), 409);
    CHECK_HAS(lks_buf_view(&answer), "nothing would end the drain once this file is applied");
    CHECK_INT(try_fleet(c, ", site: lab", "", &answer), 409);
    CHECK_HAS(lks_buf_view(&answer), "lockstep drains 'n1' in slurm");
    CHECK_INT(try_fleet(c, "criticality: 10", "criticality: 11", &answer), 200);
    CHECK_INT(try_fleet(c, "n[0-3]", "n[0,2-3]", &answer), 409); /* n1 never enrolled */
    CHECK_HAS(lks_buf_view(&answer), "lockstep drains 'n1' in slurm");
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/release", reason, &answer), 200);
    CHECK(comes(c, "/v1/nodes/n1", "\"state\":\"in service\""));
}

static void test_asked(void)
{
    struct ctl c = {0};
    struct sched s;
    char more[256];
    ctl_init(&c, "");
    set_up(&s, &c);
    snprintf(more, sizeof(more), "slurm: {bridges: [\"lab=unix:%s\"]}\nbmc: {speed: 50}\n", s.path);
    ctl_configure(&c, more);
    if (start(&s) && ctl_start(&c)) {
        ctl_apply(&c, 4); /* n3 is not known to the scheduler */
        CHECK(comes(&c, "/v1/nodes/n0", "\"state\":\"in service\""));
        CHECK(comes(&c, "/v1/nodes/n2", "\"state\":\"drained by another\""));
        CHECK(comes(&c, "/v1/nodes/n3", "\"state\":\"unknown node\""));
        CHECK(comes(&c, "/v1/nodes/n1", "\"state\":\"in service\""));
        CHECK(!is_closed(&s, "n1"));
        CHECK(is_closed(&s, "n2"));
        check_removed(&c);
        CHECK(comes(&c, "/v1/schedulers", "\"pool\":\"p\",\"scheduler\":\"slurm\",\"nodes\":4,"));
        CHECK(comes(&c, "/v1/schedulers", "\"gres\":1,\"gres_differ\":0"));
        CHECK(comes(&c, "/v1/nodes/n0",
                    "\"scheduler_gres\":\"gpu:h200:8\",\"scheduler_state\":\"the "
                    "node registered with less\""));
        CHECK(comes(&c, "/metrics", "lockstep_scheduler_gres_differs{pool=\"p\"} 0\n"));
        ctl_stop(&c);
    }
    stop(&s);
    lks_schedsim_fini(&s.model);
    ctl_fini(&c);
}

/* A rehearsal elsewhere is told of the jobs that the scheduler lists, once it was asked for them.
 */
static void test_jobs(void)
{
    struct ctl c = {0};
    struct sched s;
    char more[256];
    ctl_init(&c, "");
    set_up(&s, &c);
    snprintf(
        s.jobs, sizeof(s.jobs),
        "{\"age\":0,\"jobs\":[{\"id\":\"17\",\"name\":\"x\",\"user\":\"ada\",\"account\":\"ml\","
        "\"partition\":\"p\",\"state\":\"running\",\"nodes\":\"n[0-1],m7\",\"started\":%llu,"
        "\"ends\":null,\"requeue\":true,\"gpus\":24},{\"id\":\"18\",\"name\":\"x\",\"user\":"
        "\"kim\",\"account\":\"ml\",\"partition\":\"p\",\"state\":\"running\",\"nodes\":\"m7\","
        "\"started\":1,\"ends\":2,\"requeue\":true,\"gpus\":24}]}",
        (unsigned long long)wall());
    snprintf(more, sizeof(more), "slurm: {bridges: [\"lab=unix:%s\"]}\nbmc: {speed: 50}\n", s.path);
    ctl_configure(&c, more);
    if (ctl_start(&c)) {
        ctl_apply(&c, 2);
        CHECK(comes(&c, "/v1/schedulers/jobs", "\"awaited\":false,\"missing\":\""));
        if (start(&s)) {
            CHECK(
                comes(&c, "/v1/schedulers/jobs",
                      "\"awaited\":false,\"jobs\":1,\"hosts\":\"n[0-1]\"}\n"
                      "{\"job\":\"17\",\"user\":\"ada\",\"nodes\":\"n[0-1]\",\"of\":3,\"gpus\":24,"
                      "\"started\":\""));
            stop(&s);
        }
        ctl_stop(&c);
    }
    lks_schedsim_fini(&s.model);
    ctl_fini(&c);
}

static unsigned count_closed(struct sched *s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", i);
        count += is_closed(s, name);
    }
    return count;
}

/* Drains that are left over of as many nodes as a wave may have. */
static void drain_many(struct sched *s)
{
    for (unsigned i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", i);
        struct lks_str node = lks_str_from(name);
        if (i >= 3)
            (void)lks_schedsim_add(&s->model, name, LKS_SCHEDSIM_BATCH);
        if (i != 1 && i != 2)
            lks_schedsim_other(&s->model, lks_schedsim_find(&s->model, node), "lockstep:change:16");
    }
}

/* A bridge gets many requests at a time, but one about a node; each write has its epoch and its
 * revision. slurmrestd, whose answers are large, gets one. */
static void test_many(void)
{
    for (int rest = 0; rest < 2; rest++) {
        struct ctl c = {0};
        struct sched s;
        char more[256];
        lks_test_case("%s", rest != 0 ? "slurmrestd" : "a bridge");
        ctl_init(&c, "");
        set_up(&s, &c);
        s.slow = true;
        s.token = rest != 0 ? "" : NULL;
        drain_many(&s);
        snprintf(more, sizeof(more), "slurm: {bridges: [\"lab=%sunix:%s\"]}\nbmc: {speed: 50}\n",
                 rest != 0 ? "rest+" : "", s.path);
        ctl_configure(&c, more);
        if (start(&s) && ctl_start(&c)) {
            ctl_apply(&c, rest != 0 ? 8 : MANY);
            if (rest != 0)
                CHECK(comes(&c, "/v1/nodes/n7", "\"state\":"));
            for (struct lks_wait w = {0}; rest == 0 && count_closed(&s) > 1 && lks_wait(&w);) {
            }
            ctl_stop(&c);
        }
        stop(&s);
        CHECK_INT(s.most_on, rest != 0 ? 0 : 1); /* paths of slurmrestd are not counted */
        CHECK_INT(s.bare, 0);
        if (rest == 0)
            CHECK_INT(count_closed(&s), 1); /* another owner's */
        CHECK(rest != 0 ? s.most == 1 : s.most > LANES / 2 && s.most <= LANES);
        lks_schedsim_fini(&s.model);
        ctl_fini(&c);
    }
}

/* A scheduler that is gone is named, and nothing else waits for it. */
static void test_gone(void)
{
    struct ctl c = {0};
    struct sched s;
    char more[256];
    ctl_init(&c, "");
    set_up(&s, &c);
    snprintf(more, sizeof(more), "slurm: {bridges: [\"lab=unix:%s\"]}\nbmc: {speed: 50}\n", s.path);
    ctl_configure(&c, more);
    if (ctl_start(&c)) {
        ctl_apply(&c, 2);
        CHECK(comes(&c, "/v1/nodes/n0", "\"state\":\"no answer\""));
        CHECK(comes(&c, "/v1/schedulers", "\"failing\":2,"));
        CHECK(comes(&c, "/metrics", "lockstep_sched_failures_total "));
        CHECK_HAS(ctl_log(&c), "a scheduler does not answer for a node");
        if (start(&s)) {
            CHECK(comes(&c, "/v1/nodes/n0", "\"state\":\"in service\""));
            CHECK(comes(&c, "/v1/schedulers", "\"failing\":0"));
            stop(&s);
        }
        ctl_stop(&c);
    }
    lks_schedsim_fini(&s.model);
    ctl_fini(&c);
}

static void write_token(const struct ctl *c, const char *token)
{
    struct lks_err err = {0};
    const char *path = ctl_path(c, "slurm.jwt");
    CHECK_CODE(lks_file_replace(path, lks_str_from(token), &err), LKS_OK);
    CHECK(chmod(path, 0600) == 0);
}

static void know_token(struct sched *s, const char *token)
{
    pthread_mutex_lock(&s->lock);
    s->token = token;
    pthread_mutex_unlock(&s->lock);
}

/* slurmrestd in place of a bridge, and its token, which ends and is renewed without a reload. */
static void test_slurmrestd(void)
{
    struct ctl c = {0};
    struct sched s;
    char more[512], file[192];
    ctl_init(&c, "");
    set_up(&s, &c);
    s.token = "first.token.one";
    snprintf(file, sizeof(file), "%s", ctl_path(&c, "slurm.jwt"));
    snprintf(
        more, sizeof(more),
        "slurm: {bridges: [\"lab=rest+unix:%s\"], rest_token: \"file:%s\"}\nbmc: {speed: 50}\n",
        s.path, file);
    ctl_configure(&c, more);
    write_token(&c, "SLURM_JWT=first.token.one\n");
    if (start(&s) && ctl_start(&c)) {
        ctl_apply(&c, 4); /* n3 is not known to the scheduler */
        CHECK(comes(&c, "/v1/nodes/n0", "\"state\":\"in service\""));
        CHECK(comes(&c, "/v1/nodes/n2", "\"state\":\"drained by another\""));
        CHECK(comes(&c, "/v1/nodes/n3", "\"state\":\"unknown node\""));
        CHECK(comes(&c, "/v1/nodes/n1", "\"state\":\"in service\""));
        CHECK(!is_closed(&s, "n1"));
        CHECK(is_closed(&s, "n2"));
        CHECK(comes(&c, "/v1/schedulers", "\"unfenced\":4,"));
        CHECK(lks_str_find(ctl_log(&c), LKS_STR("cannot be listed")) < 0);
        know_token(&s, "second.token.two");
        (void)unlink(file);
        ctl_apply(&c, 5); /* n4 is new, and asked about at once */
        CHECK(comes(&c, "/v1/nodes/n4", "slurm.jwt"));
        write_token(&c, "other.token.three");
        CHECK(comes(&c, "/v1/nodes/n4", "does not accept the token"));
        write_token(&c, "second.token.two");
        CHECK(comes(&c, "/v1/nodes/n4", "\"state\":\"unknown node\""));
        CHECK(lks_str_find(ctl_log(&c), LKS_STR(".token.")) < 0);
        ctl_stop(&c);
    }
    stop(&s);
    lks_schedsim_fini(&s.model);
    ctl_fini(&c);
}

#define MISPLACED "a bridge for a site at which the fleet has no node"

static bool has_log(const struct ctl *c, const char *text)
{
    return lks_str_find(ctl_log(c), lks_str_from(text)) >= 0;
}

/* Without a bridge for its site a node is not forgotten. */
static void test_unconfigured(void)
{
    static const char *const configs[] = {
        "slurm: {bridges: [\"elsewhere=unix:/run/slurm-bridge.sock\"]}\n", ""};
    for (size_t i = 0; i < LKS_COUNT(configs); i++) {
        struct ctl c = {0};
        lks_test_case("%s", i == 0 ? "that of another site" : "none at all");
        ctl_init(&c, configs[i]);
        if (ctl_start(&c)) {
            ctl_apply(&c, 1);
            CHECK(comes(&c, "/v1/nodes/n0", "no bridge to slurm is configured for site 'lab'"));
            CHECK(comes(&c, "/v1/schedulers", "\"published\":0,\"behind\":0,\"failing\":1,"));
            CHECK(comes(&c, "/v1/schedulers", "\"text\":\"no bridge to slurm"));
            if (i == 0) {
                CHECK(comes(&c, "/v1/schedulers/bridges",
                            "{\"site\":\"elsewhere\",\"url\":\"unix:/run/slurm-bridge.sock\","
                            "\"known\":false,\"epoch\":\"none\"}"));
                for (struct lks_wait w = {0}; !has_log(&c, MISPLACED) && lks_wait(&w);) {
                }
                CHECK_HAS(ctl_log(&c), MISPLACED);
            }
            ctl_stop(&c);
        }
        ctl_fini(&c);
    }
}

/* A bridge of every site, which gives no answer: another site has the same one. */
static void test_moved(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    struct ctl c = {0};
    ctl_init(&c, "slurm: {bridges: [\"*=unix:/nowhere.sock\"]}\n");
    if (ctl_start(&c)) {
        ctl_apply(&c, 4);
        CHECK_INT(try_fleet(&c, ", site: lab", "", &answer), 200);
        CHECK_INT(try_fleet(&c, "sched: slurm", "sched: none", &answer), 409);
        CHECK_HAS(lks_buf_view(&answer), "take the bridge unix:/nowhere.sock out of slurm.bridges");
        ctl_stop(&c);
    }
    ctl_fini(&c);
}

/* Several schedulers -------------------------------------------------------------------------- */

/* Both know every node. The second starts a job on n1 that does not end by itself. */
static void set_up_both(struct sched both[2], const struct ctl *c)
{
    static const char *const sockets[] = {"slurm.sock", "other.sock"};
    const struct lks_schedsim_job job = {.kind = LKS_SCHEDSIM_BATCH, .length = 3600 * LKS_SECOND};
    const uint32_t on[] = {1};
    for (unsigned k = 0; k < 2; k++) {
        both[k] = (struct sched){.lock = PTHREAD_MUTEX_INITIALIZER};
        snprintf(both[k].path, sizeof(both[k].path), "%s", ctl_path(c, sockets[k]));
        lks_schedsim_init(&both[k].model, 1 + k, wall());
        for (unsigned i = 0; i < 3; i++) {
            char name[8];
            snprintf(name, sizeof(name), "n%u", i);
            (void)lks_schedsim_add(&both[k].model, name, LKS_SCHEDSIM_BATCH);
        }
    }
    CHECK(lks_schedsim_start(&both[1].model, &job, on, 1));
}

static void end_job(struct sched *s)
{
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->model.job_count; i++)
        s->model.jobs[i].ends = 1;
    s->model.next = 0;
    pthread_mutex_unlock(&s->lock);
}

/* No manifest names the scheduler that tests play: the journal has a row of a pool with it, signed
 * as lockstepd signs every one. */
static bool name_both(struct ctl *c)
{
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets secrets = {0};
    const struct lks_record pool = {
        .kind = LKS_RECORD_POOL,
        .pool = {.name = LKS_STR("p"),
                 .posture = LKS_STR("dev"),
                 .criticality = 10,
                 .enforce = LKS_STR("observe"),
                 .sched = LKS_STR("slurm+simulated"),
                 .by = LKS_STR("user:kim"),
                 .deviations = true,
                 .sweep = 24 * 3600 * LKS_SECOND},
    };
    struct lks_store store = {0};
    struct lks_err err = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", c->data);
    CHECK_INT(ctl_stop(c), 0);
    if (!CHECK_CODE(lks_store_sqlite_open(path, LKS_STORE_OWN, &store, &err), LKS_OK))
        return false;
    CHECK_CODE(lks_secrets_load(c->data, "file:seal.key", &secrets, &err), LKS_OK);
    lks_test_append_record(&store, wall(), &pool, NULL, &secrets.journal);
    store.ops->close(store.self);
    return ctl_start(c);
}

/* Whether the node counts as drained for its hold. */
static bool is_emptied(const struct ctl *c, const char *path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    return CHECK_INT(ctl_once(c, "GET", path, NULL, &answer), 200) &&
           lks_str_find(lks_buf_view(&answer), LKS_STR("\"emptied\"")) >= 0;
}

/* One of them lags, fails, and has the node drained by another: the node waits for it. */
static void check_waits(const struct ctl *c, struct sched both[2])
{
    static const char *const reason = "{\"reason\":\"r\"}";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/hold", reason, &answer), 200);
    CHECK(comes(c, "/v1/nodes/n1", "\"schedulers\":[{\"name\":\"slurm\",\"state\":\"drained\""));
    CHECK(comes(c, "/v1/nodes/n1", "{\"name\":\"simulated\",\"state\":\"draining\",\"jobs\":1"));
    CHECK(comes(c, "/v1/nodes/n1",
                "\"scheduler\":{\"name\":\"slurm+simulated\",\"state\":\"draining\",\"jobs\":1}"));
    CHECK(is_closed(&both[0], "n1") && is_closed(&both[1], "n1"));
    CHECK(!is_emptied(c, "/v1/nodes/n1"));
    stop(&both[1]);
    end_job(&both[1]);
    CHECK(comes(c, "/v1/nodes/n1", "{\"name\":\"simulated\",\"state\":\"no answer\""));
    CHECK(!is_emptied(c, "/v1/nodes/n1"));
    if (!start(&both[1]))
        return;
    CHECK(comes(c, "/v1/nodes/n1", "\"emptied\""));
    CHECK(comes(c, "/v1/nodes/n1",
                "\"scheduler\":{\"name\":\"slurm+simulated\",\"state\":\"drained\",\"jobs\":0}"));
    pthread_mutex_lock(&both[1].lock);
    lks_schedsim_other(&both[1].model, lks_schedsim_find(&both[1].model, LKS_STR("n2")), "kim");
    pthread_mutex_unlock(&both[1].lock);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n2/hold", reason, &answer), 200);
    CHECK(comes(c, "/v1/alarms", "for it in simulated: simulated: "));
    CHECK(!is_emptied(c, "/v1/nodes/n2"));
    CHECK_INT(ctl_once(c, "DELETE", "/v1/nodes/n1?reason=r", NULL, &answer), 409);
    CHECK_HAS(lks_buf_view(&answer), "lockstep drains 'n1' in slurm, and nothing would end");
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/release", reason, &answer), 200);
    CHECK(
        comes(c, "/v1/nodes/n1",
              "\"scheduler\":{\"name\":\"slurm+simulated\",\"state\":\"in service\",\"jobs\":0}"));
    CHECK(!is_closed(&both[0], "n1") && !is_closed(&both[1], "n1"));
}

static void test_both(void)
{
    struct ctl c = {0};
    struct sched both[2];
    char more[512];
    ctl_init(&c, "");
    set_up_both(both, &c);
    snprintf(more, sizeof(more),
             "slurm: {bridges: [\"lab=unix:%s\"]}\nsimulated: {bridges: [\"lab=unix:%s\"]}\n"
             "bmc: {speed: 50}\n",
             both[0].path, both[1].path);
    ctl_configure(&c, more);
    if (start(&both[0]) && start(&both[1]) && ctl_start(&c)) {
        ctl_apply(&c, 3);
        CHECK(comes(&c, "/v1/nodes/n0",
                    "\"scheduler\":{\"name\":\"slurm\",\"state\":\"in service\""));
        if (CHECK(name_both(&c))) {
            CHECK(comes(&c, "/v1/schedulers",
                        "\"pool\":\"p\",\"scheduler\":\"simulated\",\"name\":\"p in "
                        "simulated\",\"nodes\":3,"));
            CHECK(comes(
                &c, "/v1/schedulers",
                "\"pool\":\"p\",\"scheduler\":\"slurm\",\"name\":\"p in slurm\",\"nodes\":3,"));
            CHECK(
                comes(&c, "/v1/schedulers/bridges", "\"scheduler\":\"simulated\",\"known\":true"));
            check_waits(&c, both);
        }
        ctl_stop(&c);
    }
    for (unsigned k = 0; k < 2; k++) {
        stop(&both[k]);
        lks_schedsim_fini(&both[k].model);
    }
    ctl_fini(&c);
}

/* Until no reason is shown why a bridge has no policy. */
static bool all_written(const struct ctl *c)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ctl_once(c, "GET", "/v1/schedulers", NULL, &answer) == 200 &&
            lks_str_find(lks_buf_view(&answer), LKS_STR("policy_text")) < 0)
            return true;
    }
    return false;
}

static void grant(const struct ctl *c, const char *id, const char *scope)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char body[160];
    snprintf(body, sizeof(body), "{\"identity\":\"%s\",\"role\":\"viewer\",%s}", id, scope);
    CHECK_INT(ctl_once(c, "POST", "/v1/access", body, &answer), 200);
}

static struct lks_client *client_of(const struct ctl *c, const char *id)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char server[64], body[160], token[LKS_TOKEN_TEXT_MAX];
    struct lks_client *client = NULL;
    struct lks_err err = {0};
    snprintf(body, sizeof(body), "{\"id\":\"%s\",\"identity\":\"%s\"}", id, id);
    CHECK_INT(ctl_once(c, "POST", "/v1/tokens", body, &answer), 200);
    (void)ctl_text(&answer, "token", token, sizeof(token));
    snprintf(server, sizeof(server), "https://localhost:%u", c->people);
    const struct lks_client_options options = {.server = server,
                                               .ca = ctl_path(c, "data/ca.crt"),
                                               .token = token,
                                               .timeout_ms = LKS_WAIT_MS};
    CHECK_CODE(lks_client_new(&options, &client, &err), LKS_OK);
    return client;
}

/* The address of a bridge is for those who read its site. */
static void check_readers(const struct ctl *c)
{
    static const char *const ids[] = {"of-pool", "of-both"};
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        lks_test_case("%s", ids[i]);
        grant(c, ids[i], "\"pool\":\"p\"");
        if (i > 0)
            grant(c, ids[i], "\"site\":\"lab\"");
        struct lks_client *client = client_of(c, ids[i]);
        CHECK_INT(ctl_ask(client, "GET", "/v1/schedulers", NULL, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "the bridge writes no file; start it with");
        CHECK_INT(lks_str_find(lks_buf_view(&answer), LKS_STR("backup.sock")) >= 0, i > 0);
        lks_client_free(client);
    }
}

static void answer_policy(struct sched *s, const char *answer)
{
    pthread_mutex_lock(&s->lock);
    s->policy = answer;
    pthread_mutex_unlock(&s->lock);
}

/* Both bridges of a site write the policy of submissions, and the one that does not is named. */
static void test_policies(void)
{
    struct ctl c = {0};
    struct sched two[2];
    char more[512];
    ctl_init(&c, "");
    for (unsigned k = 0; k < 2; k++) {
        set_up(&two[k], &c);
        two[k].policy = k == 0 ? "{\"written\":true}" : "{\"error\":\"no space\"}";
    }
    snprintf(two[1].path, sizeof(two[1].path), "%s", ctl_path(&c, "backup.sock"));
    snprintf(more, sizeof(more),
             "slurm: {bridges: [\"lab=unix:%s\", \"lab=unix:%s\"]}\nbmc: {speed: 50}\n",
             two[0].path, two[1].path);
    ctl_configure(&c, more);
    if (start(&two[0]) && start(&two[1]) && ctl_start(&c)) {
        ctl_apply(&c, 3);
        CHECK(comes(&c, "/v1/schedulers", "backup.sock: "));
        CHECK(comes(&c, "/v1/schedulers", "\"policy\":\"20"));
        answer_policy(&two[1], "{\"written\":false}");
        CHECK(comes(&c, "/v1/schedulers", "backup.sock: the bridge writes no file"));
        check_readers(&c);
        answer_policy(&two[1], "{\"written\":true}");
        CHECK(all_written(&c));
        ctl_stop(&c);
    }
    for (unsigned k = 0; k < 2; k++) {
        stop(&two[k]);
        CHECK(two[k].policies > 0);
        lks_schedsim_fini(&two[k].model);
    }
    ctl_fini(&c);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"each node is asked about", test_asked},
        {"jobs for a rehearsal", test_jobs},
        {"many nodes at a time", test_many},
        {"a scheduler that is gone", test_gone},
        {"slurmrestd and its token", test_slurmrestd},
        {"a site without a bridge", test_unconfigured},
        {"nodes that move to another site", test_moved},
        {"two schedulers of one pool", test_both},
        {"the policy of two bridges", test_policies},
        {NULL, NULL},
    });
}
