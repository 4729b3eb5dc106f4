/* Admission, asked of the real daemon: over the API and over its own socket, by those who may and
 * those who may not, and by peers that mean harm. */
#include "base/file.h"
#include "server/auth/authz.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"
#include "trust/dsse.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8 << 20, MANY = 1000, PIPELINED = 200, NOBODY = 65534, JOBS = 60 };

/* Three nodes of "train", which may enforce, two of "serve". */
static void fleet_text(const char *enforce, char *out, size_t size)
{
    snprintf(out, size,
             "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
             "pools:\n"
             "  train: {posture: pre-training, stack: golden, enforce: \"%s\"}\n"
             "  serve: {posture: online-inference}\n"
             "nodes:\n"
             "  - {hosts: \"gpu[1-3]\", pool: train, class: hgx-h200-8, site: east}\n"
             "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: east}\n",
             enforce);
}

static bool enforce(struct crew *crew, const char *word)
{
    char text[1024];
    fleet_text(word, text, sizeof(text));
    return crew_fleet(crew, text);
}

/* Nodes gpu1 and gpu2 conform, gpu3 has another driver. */
static bool begin(struct crew *crew, const char *more, const char *word)
{
    static const struct {
        const char *node, *changes;
    } nodes[] = {{"gpu1", ""}, {"gpu2", ""}, {"gpu3", "driver=570.86.15"}};
    char digest[LKS_DIGEST_SIZE];
    if (!crew_begin(crew, more) || !crew_release(crew, digest) || !enforce(crew, word))
        return false;
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        uint64_t beats = 0;
        struct lks_client *agent = crew_enroll(crew, nodes[i].node);
        bool ok = agent != NULL && crew_report(agent, nodes[i].node, nodes[i].changes, &beats);
        lks_client_free(agent);
        if (!ok)
            return false;
    }
    return true;
}

/* The socket -------------------------------------------------------------------------------- */

static int dial(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = LKS_WAIT_MS / 1000};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return fd;
}

static int dial_in(const struct crew *crew)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/admit.sock", crew->c.data);
    int fd = dial(path);
    CHECK(fd >= 0);
    return fd;
}

static bool say(int fd, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fd, text + at, len - at, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* The next line; false where there is none any more. */
static bool hear(int fd, struct lks_buf *out)
{
    char byte;
    lks_buf_fini(out);
    lks_buf_init(out, LINE_MAX_BYTES);
    while (recv(fd, &byte, 1, 0) == 1) {
        if (byte == '\n')
            return true;
        lks_buf_addc(out, byte);
    }
    return false;
}

static bool ask_line(int fd, const char *line, struct lks_buf *out)
{
    return say(fd, line, strlen(line)) && say(fd, "\n", 1) && hear(fd, out);
}

#define GOOD  "{\"job\":\"j\",\"nodes\":\"gpu[1-2]\"}"
#define YES   "\"admitted\":true"
#define NOPE  "\"admitted\":false"
#define WRONG "urn:lockstep:problem:"

/* It is there, and answers well-behaved peers: at once, or when those of the same user who left are
 * cleared away. */
static void check_alive(const struct crew *crew)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    bool heard = false;
    for (struct lks_wait w = {0}; !heard && lks_wait(&w);) {
        int fd = dial_in(crew);
        heard = ask_line(fd, GOOD, &answer);
        close(fd);
    }
    CHECK_HAS(lks_buf_view(&answer), YES);
}

/* Questions and answers --------------------------------------------------------------------- */

static const struct {
    const char *name, *enforce, *body;
    bool yes;
    const char *has; /* somewhere in the answer */
} questions[] = {
    {"nodes that conform", "observe", GOOD, true, "\"warned_total\":0"},
    {"an observing pool refuses nothing", "observe", "{\"job\":\"j\",\"nodes\":\"gpu[1-3]\"}", true,
     "\"reason\":\"drift\",\"node\":\"gpu3\""},
    {"nor does a warning one", "warn", "{\"job\":\"j\",\"nodes\":\"gpu3\"}", true,
     "\"reason\":\"drift\""},
    {"an enforcing one does", "on", "{\"job\":\"j\",\"nodes\":\"gpu[1-3]\"}", false,
     "\"reason\":\"drift\",\"node\":\"gpu3\""},
    {"and lets through what conforms", "on", GOOD, true, "\"refused_total\":0"},
    {"an unknown node", "on", "{\"job\":\"j\",\"nodes\":\"gpu[1-2],gpu9\"}", false,
     "\"reason\":\"unknown\",\"node\":\"gpu9\""},
    {"the stack by name", "on", "{\"job\":\"j\",\"nodes\":\"gpu1\",\"stack\":\"golden\"}", true,
     "\"stack\":\"golden\""},
    {"another stack", "on", "{\"job\":\"j\",\"nodes\":\"gpu1\",\"stack\":\"silver\"}", false,
     "\"reason\":\"stack\""},
    {"a node not heard of", "observe", "{\"job\":\"j\",\"nodes\":\"inf1\"}", true,
     "\"reason\":\"stale\""},
    {"NCCL as pinned", "on", "{\"job\":\"j\",\"nodes\":\"gpu1\",\"nccl\":\"2.28.9\"}", true,
     "\"refused_total\":0"},
    {"another NCCL", "on", "{\"job\":\"j\",\"nodes\":\"gpu1\",\"nccl\":\"2.20.1\"}", false,
     "\"reason\":\"image\""},
};

/* The same answer over the API and the socket. */
static void check_question(struct crew *crew, int fd, const char *body, bool yes, const char *has)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
    if (!crew_fine(crew->root, "admit", "/v1/admit", body, &t))
        return;
    CHECK(crew_truth(&t, "admitted") == yes);
    CHECK_HAS(lks_buf_view(&t.answer.body), has);
    CHECK((crew_text(&t, "valid_until").len > 0) == yes);
    CHECK(ask_line(fd, body, &line));
    CHECK_HAS(lks_buf_view(&line), yes ? YES : NOPE);
    CHECK_HAS(lks_buf_view(&line), has);
}

static void test_questions(void)
{
    struct crew crew;
    const char *word = "observe";
    if (begin(&crew, "", word)) {
        int fd = dial_in(&crew);
        for (size_t i = 0; i < LKS_COUNT(questions); i++) {
            if (strcmp(word, questions[i].enforce) != 0)
                CHECK(enforce(&crew, questions[i].enforce));
            word = questions[i].enforce;
            lks_test_case("%s", questions[i].name);
            check_question(&crew, fd, questions[i].body, questions[i].yes, questions[i].has);
        }
        close(fd);
    }
    crew_end(&crew);
}

static const struct {
    const char *name, *body;
    int status;
    const char *detail;
} bad_questions[] = {
    {"no job", "{\"nodes\":\"gpu1\"}", 400, "job"},
    {"no nodes", "{\"job\":\"j\"}", 400, "nodes"},
    {"no host list", "{\"job\":\"j\",\"nodes\":\"gpu[1\"}", 400, "nodes: "},
    {"an empty list", "{\"job\":\"j\",\"nodes\":\",\"}", 400, "nodes: "},
    {"too many", "{\"job\":\"j\",\"nodes\":\"gpu[1-200000]\"}", 400, "the list names 200000"},
    {"a node twice", "{\"job\":\"j\",\"nodes\":\"gpu1,gpu1\"}", 400, "twice"},
    {"ranks that are not there",
     "{\"job\":\"j\",\"nodes\":\"gpu1\",\"images\":[{\"ref\":\"a:1\",\"ranks\":\"0-7\"}]}", 400,
     "rank"},
    {"an unknown member", "{\"job\":\"j\",\"nodes\":\"gpu1\",\"strat\":true}", 400, "strat"},
    {"no object", "[1]", 400, "line"},
    {"no JSON", "Hello?", 400, "line:1"},
    {"duplicate members", "{\"job\":\"j\",\"job\":\"k\",\"nodes\":\"gpu1\"}", 400, "duplicate"},
};

/* What is no question is answered with a problem, and the connection stays. */
static void test_bad_questions(void)
{
    struct crew crew;
    if (begin(&crew, "", "on")) {
        int fd = dial_in(&crew);
        for (size_t i = 0; i < LKS_COUNT(bad_questions); i++) {
            LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
            char status[32];
            lks_test_case("%s", bad_questions[i].name);
            snprintf(status, sizeof(status), "\"status\":%d", bad_questions[i].status);
            CHECK(ask_line(fd, bad_questions[i].body, &line));
            CHECK_HAS(lks_buf_view(&line), WRONG);
            CHECK_HAS(lks_buf_view(&line), status);
            CHECK_HAS(lks_buf_view(&line), bad_questions[i].detail);
            CHECK(
                ask_line(fd, "\n \r\n" GOOD "\r", &line)); /* lines without anything are nothing */
            CHECK_HAS(lks_buf_view(&line), YES);
        }
        close(fd);
    }
    crew_end(&crew);
}

/* Overrides, starts, signatures ------------------------------------------------------------- */

static void check_override(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char body[256], until[LKS_TIME_TEXT_SIZE];
    lks_ms hour = ((lks_ms)time(NULL) + 3600) * LKS_SECOND;
    snprintf(body, sizeof(body),
             "{\"job\":\"night\",\"nodes\":\"gpu[1-3]\",\"reason\":\"a demo\",\"until\":\"%s\"}",
             lks_time_text(hour, until));
    crew_refused(crew->root, "override", "/v1/overrides",
                 "{\"job\":\"n\",\"nodes\":\"gpu1\",\"reason\":\"r\",\"until\":\"soon\"}", 400,
                 "until");
    crew_fine(crew->root, "override", "/v1/overrides", body, &t);
    crew_fine(crew->root, "overrides", "/v1/overrides", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "nodes"), "gpu[1-3]");
    crew_fine(crew->root, "admit", "/v1/admit",
              "{\"job\":\"night\",\"nodes\":\"gpu[1-3]\",\"start\":true}", &t);
    CHECK(crew_truth(&t, "admitted") && crew_truth(&t, "overridden"));
    CHECK_STR(crew_text(&t, "override"), "a demo");
    crew_fine(crew->root, "admit", "/v1/admit", "{\"job\":\"day\",\"nodes\":\"gpu[1-3]\"}", &t);
    CHECK(!crew_truth(&t, "admitted")); /* it is for one job */
}

/* How many rows of a kind the journal has that say `has`. */
static size_t rows_of(struct crew *crew, const char *kind, const char *has)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    char word[64];
    size_t count = 0;
    snprintf(word, sizeof(word), "\"kind\":\"%s\"", kind);
    CHECK_INT(ctl_ask(crew->root, "GET", "/v1/journal?limit=10000", NULL, &answer), 200);
    struct lks_str rest = lks_buf_view(&answer), line;
    for (bool more = true; more;) {
        more = lks_str_cut(rest, '\n', &line, &rest);
        count += lks_str_find(line, lks_str_from(word)) >= 0 &&
                 lks_str_find(line, lks_str_from(has)) >= 0;
    }
    return count;
}

static void check_start(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    CHECK_INT(rows_of(crew, "job", "\"job\":\"night\""), 1);
    crew_fine(crew->root, "admit", "/v1/admit",
              "{\"job\":\"no\",\"nodes\":\"gpu3\",\"start\":true}", &t);
    CHECK(!crew_truth(&t, "admitted"));
    CHECK_INT(rows_of(crew, "job", "\"job\":\"no\""), 0);
    crew_fine(crew->root, "admit", "/v1/admit", GOOD, &t);
    CHECK_INT(rows_of(crew, "job", "\"job\":\"j\""), 0); /* it was only asked */
    int fd = dial_in(crew);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
    CHECK(ask_line(fd, "{\"job\":\"s\",\"nodes\":\"gpu[1-2]\",\"start\":true}", &line));
    CHECK_HAS(lks_buf_view(&line), YES);
    CHECK_INT(rows_of(crew, "job", "\"job\":\"s\",\"hosts\":\"gpu[1-2]\""), 1);
    close(fd);
}

/* The envelope holds the answer, and the journal's public key opens it. */
static void check_signed(struct crew *crew, const char *nodes)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(LKS_DSSE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf forged = LKS_BUF(LKS_DSSE_MAX);
    struct lks_public_key key = ctl_key(&crew->c);
    struct lks_err err = {0};
    char body[128];
    snprintf(body, sizeof(body), "{\"job\":\"x\",\"nodes\":\"%s\",\"signed\":true}", nodes);
    if (!crew_fine(crew->root, "admit", "/v1/admit", body, &t))
        return;
    struct lks_str envelope = crew_text(&t, "envelope");
    CHECK_CODE(lks_dsse_open(envelope, &key, 1, LKS_ADMISSION_TYPE, &payload, &err), LKS_OK);
    struct lks_str inside = lks_buf_view(&payload), whole = lks_buf_view(&t.answer.body);
    CHECK(inside.len > 2 && inside.len < whole.len);
    CHECK(memcmp(inside.ptr, whole.ptr, inside.len - 1) == 0); /* all but the closing brace */
    CHECK_CODE(lks_dsse_open(envelope, &key, 1, LKS_STACK_TYPE, &forged, &err), LKS_E_DENIED);
}

static void test_override_start_signed(void)
{
    struct crew crew;
    if (begin(&crew, "", "on")) {
        check_override(&crew);
        check_start(&crew);
        check_signed(&crew, "gpu[1-2]");
        check_signed(&crew, "gpu3");
    }
    crew_end(&crew);
}

/* Who may ------------------------------------------------------------------------------------ */

static void test_scope(void)
{
    struct crew crew;
    if (begin(&crew, "", "on")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        struct lks_client *viewer = crew_person(&crew, "viewer", "train");
        struct lks_client *operator= crew_person(&crew, "operator", "train");
        struct lks_client *approver = crew_person(&crew, "approver", "serve");
        static const char start[] = "{\"job\":\"p\",\"nodes\":\"gpu1\",\"start\":true}";
        static const char other[] = "{\"job\":\"p\",\"nodes\":\"gpu1,inf1\"}";
        static const char override[] = "{\"job\":\"p\",\"nodes\":\"gpu1\",\"reason\":\"r\","
                                       "\"until\":\"2099-01-01T00:00:00Z\"}";
        crew_fine(viewer, "admit", "/v1/admit", GOOD, &t);
        crew_refused(viewer, "admit", "/v1/admit", other, 403, "may not read here");
        crew_refused(viewer, "admit", "/v1/admit", start, 403, "start");
        crew_fine(operator, "admit", "/v1/admit", start, &t);
        crew_refused(operator, "override", "/v1/overrides", override, 403, "may not approve");
        crew_refused(approver, "override", "/v1/overrides", override, 403, "may not approve");
        crew_fine(crew.root, "admit", "/v1/admit", "{\"job\":\"p\",\"nodes\":\"gpu3\"}", &t);
        crew_fine(viewer, "admissions", "/v1/admissions?job=p&reason=drift", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 1);
        crew_fine(approver, "admissions", "/v1/admissions?job=p&reason=drift", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 0); /* that pool is none of theirs */
        crew_fine(viewer, "observed", "/v1/observed", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 1);
        lks_client_free(viewer);
        lks_client_free(operator);
        lks_client_free(approver);
    }
    crew_end(&crew);
}

/* In a child that is nobody: 0 when the answer to each line has what is expected. */
static _Noreturn void be_nobody(const char *path, const char *const *lines, const char *const *has)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    if (setgroups(0, NULL) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        _exit(3);
    int fd = dial(path);
    for (size_t i = 0; fd >= 0 && lines[i] != NULL; i++) {
        if (!ask_line(fd, lines[i], &answer) ||
            lks_str_find(lks_buf_view(&answer), lks_str_from(has[i])) < 0) {
            printf("%s: %s\n", lines[i], answer.ptr != NULL ? answer.ptr : "no answer");
            fflush(stdout);
            _exit(1);
        }
    }
    _exit(fd >= 0 ? 0 : 2);
}

static int as_nobody(const char *path, const char *const *lines, const char *const *has)
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        be_nobody(path, lines, has);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The peer's uid decides; only root can be another user, so others look no further than the mode.
 */
static void test_peer(void)
{
    static const char *const lines[] = {GOOD, "{\"job\":\"j\",\"nodes\":\"gpu1\",\"start\":true}",
                                        "nonsense", NULL};
    static const char *const before[] = {"\"status\":403", "\"status\":403", "\"status\":403"};
    static const char *const after[] = {YES, "\"status\":403", "\"status\":400"};
    struct crew crew;
    char path[64], more[128];
    snprintf(path, sizeof(path), "/tmp/lks-admit-%d", (int)getpid());
    snprintf(more, sizeof(more), "admit: {socket: %s}\n", path);
    struct stat st = {0};
    if (begin(&crew, more, "on") && CHECK(stat(path, &st) == 0)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        CHECK_INT(st.st_mode & 0777, 0660);
        if (geteuid() == 0) {
            CHECK_INT(as_nobody(path, lines, before), 0);
            crew_fine(crew.root, "grant", "/v1/access",
                      "{\"identity\":\"unix:65534\",\"role\":\"viewer\",\"pool\":\"train\"}", &t);
            CHECK_INT(as_nobody(path, lines, after), 0);
        }
    }
    crew_end(&crew);
    CHECK(stat(path, &st) != 0); /* it is removed at the end */
}

/* A peer that asks too often is refused; a long question is asked more than once. */
static void test_often(void)
{
    struct crew crew;
    if (begin(&crew, "admit: {per_s: 1}\n", "on")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LINE_MAX_BYTES);
        struct lks_client *viewer = crew_person(&crew, "viewer", "");
        lks_buf_addf(&body, "{\"job\":\"j\",\"nodes\":\"gpu1");
        for (int i = 0; i < 60000; i++)
            lks_buf_addf(&body, ",x%d", i);
        lks_buf_addf(&body, "\"}");
        int status = 200, asked = 0;
        for (; status == 200 && asked < MANY; asked++)
            status = crew_ask(viewer, "POST", "/v1/admit", body.ptr, &t);
        CHECK_INT(status, 429);
        CHECK(asked > 1 && asked < 20);
        crew_fine(crew.root, "admit", "/v1/admit", GOOD, &t); /* others are none the worse */
        crew_fine(viewer, "whoami", "/v1/whoami", NULL, &t);  /* nor is anything else of theirs */
        lks_client_free(viewer);
    }
    crew_end(&crew);
}

/* Peers that mean harm ---------------------------------------------------------------------- */

static void half_a_line(const struct crew *crew)
{
    int fd = dial_in(crew);
    CHECK(say(fd, "{\"job\":\"j\",", 11));
    check_alive(crew); /* it waits for no peer */
    close(fd);
}

static void endless_line(const struct crew *crew)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    static char text[2 << 20];
    int fd = dial_in(crew);
    memset(text, 'x', sizeof(text));
    (void)say(fd, text, sizeof(text)); /* it may be cut off before the end of this */
    CHECK(hear(fd, &answer));
    CHECK_HAS(lks_buf_view(&answer), "line: more than 1048576 bytes");
    CHECK(!hear(fd, &answer)); /* and that was the last */
    close(fd);
}

static void closing_early(const struct crew *crew)
{
    for (int i = 0; i < MANY; i++) {
        int fd = dial_in(crew);
        (void)say(fd, GOOD "\n" GOOD "\n", 2 * sizeof(GOOD)); /* it may be one too many */
        close(fd);
    }
}

/* Questions without end, and the answers are never read. */
static void never_reading(const struct crew *crew)
{
    static const char line[] = "{\"job\":\"j\",\"nodes\":\"x[1-3000]\"}\n";
    int fd = dial_in(crew);
    struct timeval soon = {.tv_usec = 200000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
    bool stuck = false;
    for (int i = 0; i < 100 * MANY && !stuck; i++)
        stuck = !say(fd, line, sizeof(line) - 1);
    CHECK(stuck); /* it is not read for ever */
    check_alive(crew);
    close(fd);
}

/* More connections than there may be: those that are there go on. */
static void crowd(const struct crew *crew)
{
    static int fds[MANY];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    int first = dial_in(crew);
    CHECK(ask_line(first, GOOD, &answer));
    for (int i = 0; i < MANY; i++)
        fds[i] = dial_in(crew);
    CHECK(ask_line(first, GOOD, &answer));
    CHECK_HAS(lks_buf_view(&answer), YES);
    size_t served = 0;
    for (int i = 0; i < MANY; i++) {
        served += ask_line(fds[i], GOOD, &answer);
        close(fds[i]);
    }
    CHECK(served > 0 && served < MANY);
    CHECK(ask_line(first, GOOD, &answer));
    close(first);
}

static void pipelined(const struct crew *crew)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LINE_MAX_BYTES);
    for (int i = 0; i < PIPELINED; i++)
        lks_buf_addf(&text, "{\"job\":\"j%d\",\"nodes\":\"gpu[1-2]\"}\n", i);
    int fd = dial_in(crew);
    CHECK(say(fd, text.ptr, text.len));
    CHECK(shutdown(fd, SHUT_WR) == 0); /* they still want to hear */
    for (int i = 0; i < PIPELINED; i++) {
        char job[32];
        snprintf(job, sizeof(job), "\"job\":\"j%d\"", i);
        if (!CHECK(hear(fd, &answer)))
            break;
        CHECK_HAS(lks_buf_view(&answer), job);
        CHECK_HAS(lks_buf_view(&answer), YES);
    }
    CHECK(!hear(fd, &answer));
    close(fd);
}

static void test_hostile(void)
{
    static const struct {
        const char *name;
        void (*attack)(const struct crew *crew);
    } attacks[] = {
        {"half a line", half_a_line},
        {"a line without end", endless_line},
        {"closing early", closing_early},
        {"never reading", never_reading},
        {"a crowd", crowd},
        {"many in one go", pipelined},
    };
    struct crew crew;
    if (begin(&crew, "", "on")) {
        for (size_t i = 0; i < LKS_COUNT(attacks); i++) {
            lks_test_case("%s", attacks[i].name);
            attacks[i].attack(&crew);
            check_alive(&crew);
        }
        int open = dial_in(&crew);
        (void)say(open, "{\"job\"", 6); /* left behind: the end does not wait for it */
        CHECK_INT(ctl_stop(&crew.c), 0);
        close(open);
    }
    crew_end(&crew);
}

/* Bytes now and then do not make a line; false once the other side has closed. */
static bool drip(int fd)
{
    char byte;
    for (struct lks_wait w = {0}; lks_wait_on(&w);) {
        lks_rest(50);
        if (!say(fd, " ", 1) || recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
            return false;
    }
    return true;
}

/* One that begins a line and does not end it, one that makes it last, and one that says nothing,
 * are closed in time. */
static void test_slow(void)
{
    struct crew crew;
    if (begin(&crew, "http: {request_ms: 200, idle_ms: 1500}\n", "on")) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        int slow = dial_in(&crew), idle = dial_in(&crew), dripping = dial_in(&crew);
        CHECK(say(slow, "{", 1));
        CHECK(!hear(slow, &answer) && errno != EAGAIN);
        CHECK(!drip(dripping));
        CHECK(!hear(idle, &answer) && errno != EAGAIN);
        close(dripping);
        close(slow);
        close(idle);
        check_alive(&crew);
    }
    crew_end(&crew);
}

/* What is kept of it ------------------------------------------------------------------------ */

static void check_log(struct crew *crew, int64_t count)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(crew->root, "admissions", "/v1/admissions?job=train-7", NULL, &t);
    CHECK(crew_count(&t, "items") > 1);
    crew_fine(crew->root, "admissions", "/v1/admissions?job=train-7&reason=drift", NULL, &t);
    const struct lks_doc *item = crew_item(&t, "items", 0);
    CHECK_STR(lks_doc_text(item, "pool"), "train");
    CHECK_STR(lks_doc_text(item, "nodes"), "gpu3");
    const struct lks_doc *n = lks_doc_member(item, "count");
    CHECK_INT(n != NULL ? n->number : -1, count);
}

static void check_observed(struct crew *crew, int64_t asked, int64_t drift)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(crew->root, "observed", "/v1/observed", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    const struct lks_doc *item = crew_item(&t, "items", 0);
    const struct lks_doc *n = lks_doc_member(item, "asked");
    const struct lks_doc *d = lks_doc_member(lks_doc_member(item, "refused"), "drift");
    CHECK_STR(lks_doc_text(item, "pool"), "train");
    CHECK_STR(lks_doc_text(item, "enforce"), "observe");
    CHECK_INT(n != NULL ? n->number : -1, asked);
    CHECK_INT(d != NULL ? d->number : -1, drift);
}

/* The row of `key` is the first, and counts so many jobs for a reason. */
static void check_report(struct crew *crew, const char *by, const char *key, const char *reason,
                         int64_t count)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[64];
    snprintf(path, sizeof(path), "/v1/observed?by=%s", by);
    crew_fine(crew->root, "observed", path, NULL, &t);
    const struct lks_doc *item = crew_item(&t, "items", 0);
    const struct lks_doc *d = lks_doc_member(lks_doc_member(item, "refused"), reason);
    CHECK_STR(lks_doc_text(item, "pool"), "train");
    CHECK_STR(lks_doc_text(item, by), key);
    CHECK_INT(d != NULL ? d->number : -1, count);
}

static void check_numbers(struct crew *crew)
{
    static const char *const lines[] = {
        "\nlockstep_admissions_total{answer=\"yes\"} 5\n",
        "\nlockstep_would_refuse_total{pool=\"train\",reason=\"drift\"} 5\n",
        "\nlockstep_admission_seconds_count 5\n",
        "\nlockstep_judged_nodes{pool=\"train\",judged=\"conforms\"} 2\n",
        "\nlockstep_judged_nodes{pool=\"train\",judged=\"drift\"} 1\n",
        "\nlockstep_leader 1\n",
        "\nlockstep_behind_ms 0\n",
        "\nlockstep_depot_bytes 0\n",
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    CHECK_INT(ctl_ask(crew->root, "GET", "/metrics", NULL, &text), 200);
    for (size_t i = 0; i < LKS_COUNT(lines); i++)
        CHECK_HAS(lks_buf_view(&text), lines[i]);
}

/* The log and what was observed outlive the daemon: the one in its files, the other as records. */
static void test_kept(void)
{
    struct crew crew;
    if (begin(&crew, "admit: {log_sample: 1}\n", "observe")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        for (int i = 0; i < 5; i++)
            crew_fine(crew.root, "admit", "/v1/admit",
                      "{\"job\":\"train-7\",\"nodes\":\"gpu[1-3]\",\"nccl\":\"2.20.1\","
                      "\"user\":\"lee\"}",
                      &t);
        check_log(&crew, 5);
        check_observed(&crew, 5, 5);
        check_report(&crew, "user", "lee", "drift", 5);
        check_report(&crew, "node", "gpu3", "drift", 5);
        check_numbers(&crew);
        if (crew_again(&crew)) {
            check_log(&crew, 5);
            check_observed(&crew, 5, 5);
            check_report(&crew, "user", "lee", "drift", 5);
            check_report(&crew, "reason", "disagrees", "disagrees", 5);
            crew_fine(crew.root, "admit", "/v1/admit",
                      "{\"job\":\"train-7\",\"nodes\":\"gpu3\",\"nccl\":\"2.20.1\"}", &t);
            check_log(&crew, 6);
            check_observed(&crew, 6, 6);
        }
    }
    crew_end(&crew);
}

/* However many jobs are refused, the files of the log are as few and as small as was said. */
static void test_rotation(void)
{
    struct crew crew;
    if (begin(&crew, "admit: {log_bytes: 4096, log_files: 3, per_s: 100000}\n", "on")) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        char dir[160], line[96];
        snprintf(dir, sizeof(dir), "%s/decisions", crew.c.data);
        for (int start = 0; start < 3; start++) {
            int fd = dial_in(&crew);
            for (int i = 0; i < JOBS; i++) {
                snprintf(line, sizeof(line), "{\"job\":\"job-%d-%d\",\"nodes\":\"gpu3\"}", start,
                         i);
                CHECK(ask_line(fd, line, &answer));
            }
            close(fd);
            if (!crew_again(&crew)) /* each end writes what is new */
                break;
        }
        size_t files = 0;
        DIR *d = opendir(dir);
        for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
            struct stat st = {0};
            if (fstatat(dirfd(d), e->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
                continue;
            files++;
            CHECK(st.st_size > 0 && st.st_size <= 4096);
        }
        CHECK(d != NULL && files == 3);
        if (d != NULL)
            closedir(d);
    }
    crew_end(&crew);
}

static void test_covered(void)
{
    crew_all_covered("daemon_admit");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"the same answer by the API and the socket", test_questions},
        {"what is no question", test_bad_questions},
        {"overrides, starts, signatures", test_override_start_signed},
        {"only those who may", test_scope},
        {"the peer's uid decides", test_peer},
        {"asking too often", test_often},
        {"peers that mean harm", test_hostile},
        {"peers that are slow", test_slow},
        {"what is kept of decisions", test_kept},
        {"files of the log are bounded", test_rotation},
        {"all routes were asked", test_covered},
        {0},
    };
    return lks_test_main(tests);
}
