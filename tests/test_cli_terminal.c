/* The program on a terminal, as a person has it: questions, Ctrl-C, and the pager. lockstepd's
 * answers are written down here. */
#include "base/buf.h"
#include "tests/liar.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_MAX = 1 << 20, WORDS_MAX = 12, PATH_SIZE = 128, LOOK_MS = 100 };

static struct lks_tree tree;

/* A program behind a terminal of its own. */
struct seat {
    int fd;
    pid_t pid;
    struct lks_buf seen;
    int status; /* as waitpid() has it */
};

/* `variables` are "NAME=VALUE" for the program, up to NULL; or NULL: none. */
static void run_child(const char *tty, char *const *argv, const char *server,
                      const char *const *variables)
{
    int fd = setsid() >= 0 ? open(tty, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0)
        _exit(99);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (dup2(fd, i) != i)
            _exit(99);
    (void)signal(SIGINT, SIG_DFL);
    setenv("LOCKSTEP_SERVER", server, 1);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    unsetenv("LOCKSTEP_PAGER");
    setenv("PAGER", "cat", 1);
    for (; variables != NULL && *variables != NULL; variables++)
        putenv((char *)(uintptr_t)*variables);
    execv(argv[0], argv);
    _exit(99);
}

static bool seat_start_program(struct seat *s, const char *program, const char *const *words,
                               const char *const *variables)
{
    char *argv[WORDS_MAX] = {(char *)(uintptr_t)program};
    char server[PATH_SIZE];
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    for (size_t i = 0; words[i] != NULL; i++)
        argv[i + 1] = (char *)(uintptr_t)words[i];
    snprintf(server, sizeof(server), "unix:%s/sock", tree.path);
    *s = (struct seat){.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), .seen = LKS_BUF(OUT_MAX)};
    if (!CHECK(s->fd >= 0 && grantpt(s->fd) == 0 && unlockpt(s->fd) == 0 &&
               ioctl(s->fd, TIOCSWINSZ, &size) == 0))
        return false;
    s->pid = fork();
    if (s->pid == 0)
        run_child(ptsname(s->fd), argv, server, variables);
    return CHECK(s->pid > 0);
}

static bool seat_start(struct seat *s, const char *const *words, const char *const *variables)
{
    return seat_start_program(s, LKS_CLI_PROGRAM, words, variables);
}

/* More of what it shows; false: it has left its terminal. */
static bool seat_read(struct seat *s)
{
    char bytes[4096];
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    if (poll(&p, 1, LOOK_MS) <= 0)
        return true;
    ssize_t got = read(s->fd, bytes, sizeof(bytes));
    if (got > 0)
        lks_buf_add(&s->seen, (struct lks_str){bytes, (size_t)got});
    return got > 0;
}

/* Wait until it shows `text`. */
static bool seat_sees(struct seat *s, const char *text)
{
    for (struct lks_wait w = {0}; lks_str_find(lks_buf_view(&s->seen), lks_str_from(text)) < 0 &&
                                  seat_read(s) && lks_wait_on(&w);) {
    }
    return CHECK_HAS(lks_buf_view(&s->seen), text);
}

static void seat_type(const struct seat *s, const char *keys)
{
    CHECK(write(s->fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

static void seat_end(struct seat *s)
{
    for (struct lks_wait w = {0}; seat_read(s) && lks_wait_on(&w);) {
    }
    CHECK(waitpid(s->pid, &s->status, 0) == s->pid);
    close(s->fd);
}

/* lockstepd --------------------------------------------------------------------------------- */

static char path[PATH_SIZE];

static struct lks_str answer(struct lks_buf *text, const char *type, const char *body)
{
    lks_buf_init(text, OUT_MAX);
    lks_buf_addf(text,
                 "HTTP/1.1 %d x\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 strcmp(type, "application/problem+json") == 0 ? 404 : 200, type, strlen(body),
                 body);
    return lks_buf_view(text);
}

#define HEAD  "lockstep: 1\nkind: Fleet\nname: f\npools:\n"
#define NODES "nodes:\n  - {hosts: n1, pool: p, class: hgx-h100-8}\n"
#define NOW   HEAD "  p: {posture: batch}\n" NODES
#define FILED HEAD "  p: {posture: dev}\n" NODES
#define SAVED HEAD "  p: {posture: serving}\n" NODES
#define APPLIED(done)                                                                              \
    "{\"applied\":" done ",\"changes\":[{\"kind\":\"pool\",\"name\":\"p\"}],\"seq\":7,"            \
    "\"nodes\":1,\"gpus\":8}"

/* The question of fleet apply --------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *option, *typed;
    bool asked, sent;
    bool pipe; /* the file can be read once */
    int exit;
    const char *said;
} questions[] = {
    {"yes", NULL, "y\n", true, true, false, 0, "applied: 1 node, 8 GPUs"},
    {"yes to a pipe", NULL, "y\n", true, true, true, 0, "applied: 1 node, 8 GPUs"},
    {"no", NULL, "n\n", true, false, false, 1, "not done, as the answer was no"},
    {"nothing is no", NULL, "\n", true, false, false, 1, "not done, as the answer was no"},
    {"the end of input is no", NULL, "\004", true, false, false, 1,
     "not done, as the answer was no"},
    {"--yes", "--yes", NULL, false, true, false, 0, "applied: 1 node, 8 GPUs"},
    {"--dry-run", "--dry-run", NULL, false, false, false, 1, "nothing was applied: --dry-run"},
};

/* The file, which is another one when the question is there: someone saves it in an editor. */
static void give_file(size_t i, const char *file)
{
    (void)unlink(file);
    if (questions[i].pipe)
        CHECK(mkfifo(file, 0600) == 0);
    else
        lks_tree_file(&tree, "/fleet.yaml", FILED);
}

static void fill_pipe(const char *file)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC); /* waits for the reader */
    CHECK(fd >= 0 && write(fd, FILED, strlen(FILED)) == (ssize_t)strlen(FILED));
    close(fd);
}

static void check_question(size_t i, struct lks_liar *liar, struct seat *s)
{
    char file[PATH_SIZE];
    snprintf(file, sizeof(file), "%s/fleet.yaml", tree.path);
    const char *words[] = {"fleet", "apply", file, questions[i].option, NULL};
    give_file(i, file);
    if (!seat_start(s, words, NULL))
        return;
    if (questions[i].pipe)
        fill_pipe(file);
    if (questions[i].asked && seat_sees(s, "sock? [y/N] ")) {
        (void)unlink(file);
        lks_tree_file(&tree, "/fleet.yaml", SAVED);
        seat_type(s, questions[i].typed);
    }
    seat_end(s);
    lks_liar_join(liar);
    CHECK(WIFEXITED(s->status));
    CHECK_INT(WEXITSTATUS(s->status), questions[i].exit);
    CHECK_HAS(lks_buf_view(&s->seen), questions[i].said);
    CHECK(!questions[i].asked ||
          CHECK_HAS(lks_buf_view(&s->seen), "\r\nApply to unix:/")); /* the controller */
    /* Yellow, and field by field. */
    CHECK_HAS(lks_buf_view(&s->seen), "\033[33m~ pool p\r\n");
    CHECK_HAS(lks_buf_view(&s->seen), "~ posture: batch -> dev");
    CHECK(questions[i].asked == (lks_str_find(lks_buf_view(&s->seen), LKS_STR("[y/N]")) >= 0));
}

static void test_question(void)
{
    for (size_t i = 0; i < LKS_COUNT(questions); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf tried = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf now = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf applied = {0};
        struct lks_liar liar = {.path = path, .turn_count = questions[i].sent ? 3 : 2};
        struct seat s = {0};
        lks_test_case("%s", questions[i].name);
        liar.turns[0] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE, answer(&tried, "application/json", APPLIED("false"))};
        liar.turns[1] =
            (struct lks_liar_turn){LKS_LIAR_CLOSE, answer(&now, "application/yaml", NOW)};
        liar.turns[2] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE, answer(&applied, "application/json", APPLIED("true"))};
        (void)unlink(path);
        lks_liar_start(&liar);
        check_question(i, &liar, &s);
        /* The numbers that the person saw are repeated, so that no others are applied. */
        CHECK(lks_str_find(lks_buf_view(&liar.heard), LKS_STR("serving")) < 0);
        if (questions[i].asked && questions[i].sent)
            CHECK_HAS(lks_buf_view(&liar.heard), "PUT /v1/fleet?nodes=1&gpus=8&from=sha256");
        lks_buf_fini(&s.seen);
        lks_liar_fini(&liar);
    }
}

/* A name that is cut short ------------------------------------------------------------------- */

#define UNKNOWN                                                                                    \
    "{\"type\":\"urn:lockstep:problem:not-found\",\"title\":\"not found\",\"status\":404,"         \
    "\"detail\":\"there is no node 'gpu01'; did you mean 'gpu017'?\"}"

/* An act on the only name that starts so is done after a yes, with the whole name. */
static const struct {
    const char *name, *typed, *nodes;
    bool asked, sent;
    int exit;
    const char *said;
} shorts[] = {
    {"yes", "y\n", "{\"items\":[{\"name\":\"gpu001\"},{\"name\":\"gpu017\"}]}", true, true, 0,
     "gpu017: held"},
    {"no", "\n", "{\"items\":[{\"name\":\"gpu001\"},{\"name\":\"gpu017\"}]}", true, false, 1,
     "not done, as the answer was no"},
    {"two start so", NULL, "{\"items\":[{\"name\":\"gpu011\"},{\"name\":\"gpu017\"}]}", false,
     false, 3, "there is no node 'gpu01'; did you mean"},
};

static void test_short(void)
{
    static const char *const words[] = {"node", "hold", "gpu01", "--reason", "x", NULL};
    for (size_t i = 0; i < LKS_COUNT(shorts); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf unknown = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf nodes = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf done = {0};
        struct lks_liar liar = {.path = path, .turn_count = shorts[i].sent ? 3 : 2};
        struct seat s = {0};
        lks_test_case("%s", shorts[i].name);
        liar.turns[0] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE, answer(&unknown, "application/problem+json", UNKNOWN)};
        liar.turns[1] = (struct lks_liar_turn){LKS_LIAR_CLOSE,
                                               answer(&nodes, "application/json", shorts[i].nodes)};
        liar.turns[2] = (struct lks_liar_turn){LKS_LIAR_CLOSE,
                                               answer(&done, "application/json", "{\"seq\":7}")};
        (void)unlink(path);
        lks_liar_start(&liar);
        if (seat_start(&s, words, NULL)) {
            if (shorts[i].asked &&
                seat_sees(&s, "'gpu01' is 'gpu017'. Run 'node hold' with 'gpu017'? [y/N] "))
                seat_type(&s, shorts[i].typed);
            seat_end(&s);
            CHECK(WIFEXITED(s.status) && WEXITSTATUS(s.status) == shorts[i].exit);
            CHECK_HAS(lks_buf_view(&s.seen), shorts[i].said);
        }
        lks_liar_join(&liar);
        bool sent = lks_str_find(lks_buf_view(&liar.heard), LKS_STR("nodes/gpu017/hold")) >= 0;
        CHECK(sent == shorts[i].sent);
        lks_buf_fini(&s.seen);
        lks_liar_fini(&liar);
    }
}

/* A lockstepd that knows a node, a change and a person, under names that nobody typed in full. A
 * read goes on with the name, which cannot drive the terminal; an act asks first. */
#define NOT_FOUND(what, name)                                                                      \
    "{\"type\":\"urn:lockstep:problem:not-found\",\"title\":\"not found\",\"status\":404,"         \
    "\"detail\":\"there is no " what " '" name "'; see the list\"}"
#define CHANGE(id, name)                                                                           \
    "{\"id\":" id ",\"state\":\"running\",\"name\":\"" name "\",\"reason\":\"INC-1\","             \
    "\"total\":0,\"members\":{},\"waves\":[]}"
#define ITEMS(items) "{\"items\":[" items "]}"

struct reply {
    const char *request, *body;
};

static const struct {
    const char *name;
    const char *words[6];
    struct reply replies[3];
    const char *asked, *typed; /* NULL: nothing is asked */
    int exit;
    const char *said, *sent;
} starts[] = {
    {"a node",
     {"node", "show", "gpu01"},
     {{"GET /v1/nodes/gpu01 ", NOT_FOUND("node", "gpu01")},
      {"GET /v1/nodes?", ITEMS("{\"name\":\"gpu001\"},{\"name\":\"gpu017\"}")},
      {"GET /v1/nodes/gpu017 ", "{\"name\":\"gpu017\",\"rack\":\"rack-7\"}"}},
     NULL,
     NULL,
     0,
     "lockstep: 'gpu01' is 'gpu017'\r\n",
     "GET /v1/nodes/gpu017 "},
    {"a pool",
     {"node", "ls", "--pool", "tr"},
     {{"GET /v1/nodes?pool=tr&", NOT_FOUND("pool", "tr")},
      {"GET /v1/pools?", ITEMS("{\"name\":\"train\"}")},
      {"GET /v1/nodes?pool=train&", ITEMS("{\"name\":\"gpu017\",\"pool\":\"train\"}")}},
     NULL,
     NULL,
     0,
     "\r\ngpu017 ",
     "pool=train&"},
    {"a name with an escape",
     {"node", "show", "gpu01"},
     {{"GET /v1/nodes/gpu01 ", NOT_FOUND("node", "gpu01")},
      {"GET /v1/nodes?", ITEMS("{\"name\":\"gpu01\\u001b[2J\"}")},
      {"GET /v1/nodes/gpu01%1B%5B2J ", "{\"name\":\"gpu01\",\"rack\":\"rack-7\"}"}},
     NULL,
     NULL,
     0,
     "lockstep: 'gpu01' is 'gpu01?[2J'\r\n",
     "gpu01%1B%5B2J "},
    {"a change, by the start of its stack",
     {"change", "show", "h200"},
     {{"GET /v1/changes/h200 ", NOT_FOUND("change", "h200")},
      {"GET /v1/changes?", ITEMS(CHANGE("7", "h200-train") "," CHANGE("8", "h100-train"))},
      {"GET /v1/changes/7 ", CHANGE("7", "h200-train")}},
     NULL,
     NULL,
     0,
     "lockstep: 'h200' is '7' (running: h200-train, INC-1)\r\n",
     "GET /v1/changes/7 "},
    {"a stack of two changes",
     {"change", "show", "h200-train"},
     {{"GET /v1/changes/h200-train ", NOT_FOUND("change", "h200-train")},
      {"GET /v1/changes?", ITEMS(CHANGE("7", "h200-train") "," CHANGE("9", "h200-train"))}},
     NULL,
     NULL,
     3,
     "there is no change 'h200-train'; see the list; 'h200-train' can be 7, 9\r\n",
     "GET /v1/changes?"},
    {"an act on a change",
     {"change", "pause", "h200-train", "--reason", "x"},
     {{"POST /v1/changes/h200-train/pause ", NOT_FOUND("change", "h200-train")},
      {"GET /v1/changes?open=true&", ITEMS(CHANGE("7", "h200-train"))},
      {"POST /v1/changes/7/pause ", "{\"id\":7,\"state\":\"paused\"}"}},
     "'h200-train' is '7' (running: h200-train, INC-1). Run 'change pause' with '7'? [y/N] ",
     "y\n",
     0,
     "change 7 is paused",
     "POST /v1/changes/7/pause "},
    {"an act on a change that was not meant",
     {"change", "pause", "h200-train", "--reason", "x"},
     {{"POST /v1/changes/h200-train/pause ", NOT_FOUND("change", "h200-train")},
      {"GET /v1/changes?open=true&", ITEMS(CHANGE("7", "h200-train"))}},
     "Run 'change pause' with '7'? [y/N] ",
     "n\n",
     1,
     "not done, as the answer was no",
     "GET /v1/changes?open=true&"},
    {"a person",
     {"access", "revoke", "ki", "viewer"},
     {{"DELETE /v1/access?identity=ki&", NOT_FOUND("viewer", "ki")},
      {"GET /v1/access ",
       "{\"bindings\":[{\"identity\":\"kim\",\"role\":\"viewer\"},{\"identity\":\"kim\","
       "\"role\":\"admin\"}]}"},
      {"DELETE /v1/access?identity=kim&", "{\"seq\":7}"}},
     "'ki' is 'kim'. Run 'access revoke' with 'kim'? [y/N] ",
     "y\n",
     0,
     "kim: viewer",
     "identity=kim&"},
};

static void check_start(size_t row)
{
    struct lks_buf texts[LKS_COUNT(starts[row].replies)] = {{0}};
    struct lks_liar liar = {.path = path};
    struct seat s = {0};
    for (size_t i = 0; i < LKS_COUNT(texts) && starts[row].replies[i].request != NULL; i++) {
        const char *body = starts[row].replies[i].body;
        bool no = lks_str_starts(lks_str_from(body), "{\"type\"");
        liar.replies[liar.reply_count++] = (struct lks_liar_reply){
            starts[row].replies[i].request,
            answer(&texts[i], no ? "application/problem+json" : "application/json", body)};
    }
    (void)unlink(path);
    lks_liar_start(&liar);
    if (seat_start(&s, starts[row].words, NULL)) {
        if (starts[row].asked != NULL && seat_sees(&s, starts[row].asked))
            seat_type(&s, starts[row].typed);
        seat_end(&s);
        CHECK(WIFEXITED(s.status));
        CHECK_INT(WEXITSTATUS(s.status), starts[row].exit);
        CHECK_HAS(lks_buf_view(&s.seen), starts[row].said);
    }
    lks_liar_join(&liar);
    CHECK_INT(liar.unplayed, 0);
    CHECK_HAS(lks_buf_view(&liar.heard), starts[row].sent);
    CHECK_INT(liar.accepted, liar.reply_count);
    lks_buf_fini(&s.seen);
    lks_liar_fini(&liar);
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_buf_fini(&texts[i]);
}

static void test_starts(void)
{
    for (size_t i = 0; i < LKS_COUNT(starts); i++) {
        lks_test_case("%s", starts[i].name);
        check_start(i);
    }
}

/* An act on several nodes states their number and asks. */
static void test_several(void)
{
    static const char *const words[] = {"node", "resolve", "gpu[1-3]", "--reason", "x", NULL};
    struct seat s = {0};
    (void)unlink(path); /* no lockstepd: nothing is sent */
    if (seat_start(&s, words, NULL) &&
        seat_sees(&s, "Run 'node resolve' on 3 nodes (gpu[1-3])? [y/N] ")) {
        seat_type(&s, "n\n");
        seat_end(&s);
        CHECK(WIFEXITED(s.status) && WEXITSTATUS(s.status) == 1);
        CHECK_HAS(lks_buf_view(&s.seen), "not done, as the answer was no");
    }
    lks_buf_fini(&s.seen);
}

/* Ctrl-C ------------------------------------------------------------------------------------ */

#define RUNNING                                                                                    \
    "{\"id\":17,\"state\":\"running\",\"total\":1,\"members\":{\"pending\":1},\"waves\":[]}"

/* The command, the answers (then there is none), the text after which Ctrl-C is typed, and what is
 * said then. */
static const struct {
    const char *name;
    const char *words[6];
    const char *answers[2], *type;
    const char *after, *said;
} interrupts[] = {
    {"a change that is followed",
     {"change", "show", "17", "--follow"},
     {RUNNING},
     "application/json",
     "change 17 running",
     "\r\nchange 17 goes on; to pause it: lockstep change pause 17 --reason TEXT\r\n"},
    {"drift --watch",
     {"drift", "--watch"},
     {"{\"items\":[]}"},
     "application/json",
     "no node",
     "\r\nthe controller goes on; to list the drift there is: lockstep drift\r\n"},
    {"the question of fleet apply",
     {"fleet", "apply", "FILE"},
     {APPLIED("false"), NOW},
     "application/yaml",
     "? [y/N] ",
     "\r\nnothing was changed\r\n"},
};

/* The first answer is JSON; the second is of the row's type. */
static void check_interrupt(size_t row)
{
    struct lks_buf texts[2] = {{0}};
    struct lks_liar liar = {.path = path};
    struct seat s = {0};
    char file[PATH_SIZE];
    const char *words[WORDS_MAX] = {0};
    for (size_t i = 0; i < 2 && interrupts[row].answers[i] != NULL; i++)
        liar.turns[liar.turn_count++] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE, answer(&texts[i], i == 0 ? "application/json" : interrupts[row].type,
                                   interrupts[row].answers[i])};
    snprintf(file, sizeof(file), "%s/fleet.yaml", tree.path);
    (void)unlink(file);
    lks_tree_file(&tree, "/fleet.yaml", FILED);
    for (size_t i = 0; interrupts[row].words[i] != NULL; i++)
        words[i] = strcmp(interrupts[row].words[i], "FILE") == 0 ? file : interrupts[row].words[i];
    (void)unlink(path);
    lks_liar_start(&liar);
    if (seat_start(&s, words, NULL) && seat_sees(&s, interrupts[row].after)) {
        seat_type(&s, "\003");
        seat_end(&s);
        CHECK(WIFSIGNALED(s.status) && WTERMSIG(s.status) == SIGINT);
        CHECK_HAS(lks_buf_view(&s.seen), interrupts[row].said);
    }
    lks_buf_fini(&s.seen);
    lks_liar_join(&liar);
    lks_liar_fini(&liar);
    lks_buf_fini(&texts[0]);
    lks_buf_fini(&texts[1]);
}

static void test_interrupt(void)
{
    for (size_t i = 0; i < LKS_COUNT(interrupts); i++) {
        lks_test_case("%s", interrupts[i].name);
        check_interrupt(i);
    }
}

/* The prompt of login ----------------------------------------------------------------------- */

#define SECRET "lks_api_kim-1_SECRET"

static const struct {
    const char *name, *typed;
    int exit;
    const char *said;
} prompts[] = {
    {"a token", SECRET "\n", 0, "kim is logged in"},
    {"nothing", "\n", 3, "no token was typed; nothing was stored"},
    {"Ctrl-C", "lks_api\003\n", 3, "no token was typed; nothing was stored"},
    {"the end of input", "\004", 3, "no token was typed; nothing was stored"},
};

/* The terminal does not show what is typed, and shows it again afterwards. */
static void test_prompt(void)
{
    char file[PATH_SIZE];
    snprintf(file, sizeof(file), "%s/token", tree.path);
    const char *const words[] = {"login", "--with-token", "-", "--token-file", file, NULL};
    for (size_t i = 0; i < LKS_COUNT(prompts); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf me = {0};
        bool asked = prompts[i].exit == 0;
        struct lks_liar liar = {.path = path, .turn_count = asked ? 1 : 0};
        struct seat s = {0};
        lks_test_case("%s", prompts[i].name);
        liar.turns[0] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE,
            answer(&me, "application/json",
                   "{\"identity\":\"kim\",\"by\":\"token\",\"controller\":\"c\",\"bindings\":[]}")};
        (void)unlink(path);
        (void)unlink(file);
        lks_liar_start(&liar);
        if (seat_start(&s, words, NULL) && seat_sees(&s, "API token: ")) {
            seat_type(&s, prompts[i].typed);
            seat_end(&s);
            CHECK(WIFEXITED(s.status));
            CHECK_INT(WEXITSTATUS(s.status), prompts[i].exit);
            CHECK_HAS(lks_buf_view(&s.seen), prompts[i].said);
            CHECK(lks_str_find(lks_buf_view(&s.seen), LKS_STR("lks_api")) < 0);
            CHECK((access(file, F_OK) == 0) == asked);
        }
        lks_liar_join(&liar);
        if (asked)
            CHECK_HAS(lks_buf_view(&liar.heard), "Bearer " SECRET);
        lks_buf_fini(&s.seen);
        lks_liar_fini(&liar);
    }
}

/* A signal ends the command, and the terminal shows again what is typed: a shell, which stays on
 * it, reports that. */
static void test_prompt_ended(void)
{
    static const char *const names[] = {"TERM", "HUP"};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        char script[PATH_SIZE * 4], end[PATH_SIZE * 2];
        struct seat s = {0};
        lks_test_case("SIG%s", names[i]);
        snprintf(script, sizeof(script),
                 "sh -c 'echo $$ >%s/pid; exec %s login --with-token - --token-file %s/token'; "
                 "echo status $?; stty -a",
                 tree.path, LKS_CLI_PROGRAM, tree.path);
        snprintf(end, sizeof(end), "kill -%s $(cat %s/pid)", names[i], tree.path);
        const char *const words[] = {"-c", script, NULL};
        if (!seat_start_program(&s, "/bin/sh", words, NULL))
            continue;
        if (seat_sees(&s, "API token: "))
            CHECK_INT(system(end), 0); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
        seat_end(&s);
        CHECK_HAS(lks_buf_view(&s.seen), i == 0 ? "status 143" : "status 129");
        CHECK_HAS(lks_buf_view(&s.seen), " echo ");
        lks_buf_fini(&s.seen);
    }
}

/* The pager --------------------------------------------------------------------------------- */

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* A terminal has 24 rows. The heading and 23 nodes leave no row for the prompt of the shell. */
enum { FITS = 22, TOO_LONG = 23 };
#define MARKS "LOCKSTEP_PAGER=sed s/^/P:/"

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *variables[3];
    int nodes; /* 0: lockstepd is not asked */
    int exit;
    const char *seen, *unseen;
} paged[] = {
    {"a list that fits", ARGS("node", "ls"), ARGS(MARKS), FITS, 0, "\r\nn022 ", "P:"},
    {"a list that does not", ARGS("node", "ls"), ARGS(MARKS), TOO_LONG, 0, "\r\nP:n023 ", "\r\nn"},
    {"colours stay", ARGS("node", "ls"), ARGS(MARKS), TOO_LONG, 0, "\033[32mlive\033[0m", "\r\nn"},
    {"$PAGER", ARGS("node", "ls"), ARGS("PAGER=sed s/^/Q:/"), TOO_LONG, 0, "\r\nQ:n023 ", "P:"},
    {"our own comes first", ARGS("node", "ls"), ARGS(MARKS, "PAGER=sed s/^/Q:/"), TOO_LONG, 0,
     "\r\nP:n023 ", "Q:"},
    {"--no-pager", ARGS("node", "ls", "--no-pager"), ARGS(MARKS), TOO_LONG, 0, "\r\nn023 ", "P:"},
    {"none by an empty variable", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER="), TOO_LONG, 0,
     "\r\nn023 ", "P:"},
    {"a terminal without a cursor", ARGS("node", "ls"), ARGS(MARKS, "TERM=dumb"), TOO_LONG, 0,
     "\r\nn023 ", "P:"},
    {"a pager that is missing", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=/nonexistent/pager -x"),
     TOO_LONG, 0, "\r\nn023 ", "P:"},
    {"a pager that is no program", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=/dev/null"), TOO_LONG,
     0, "\r\nn023 ", "P:"},
    {"a pager that dies", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=echo P:; kill -9 $$"), TOO_LONG,
     0,
     "P:\r\nlockstep: pager 'echo P:; kill -9 $$' was killed by signal 9; all of the output "
     "follows. --no-pager does without a pager\r\n\033[1mnode",
     "P:n"},
    {"and its output", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=kill -9 $$"), TOO_LONG, 0,
     "\r\nn023 ", "P:"},
    {"a pager that fails", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=exit 3"), TOO_LONG, 0,
     "lockstep: pager 'exit 3' failed with status 3; all of", "P:"},
    {"and its output", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=exit 3"), TOO_LONG, 0, "\r\nn023 ",
     "P:"},
    {"a pager that fails without reading all", ARGS("node", "ls", "--json"),
     ARGS("LOCKSTEP_PAGER=head -n 1 >/dev/null; exit 3"), 2000, 0, "\"n2000\"", "P:"},
    {"a reader that quits early", ARGS("node", "ls"), ARGS("LOCKSTEP_PAGER=head -n 2"), TOO_LONG, 0,
     "\r\nn001 ", "n002"},
    {"the exit status is the command's", ARGS("drift", "--json", "-o", "json"),
     ARGS("LOCKSTEP_PAGER=echo P:; exit 3"), 2000, 1, "\"n2000\"", "Q:"},
    {"an error behind the pager", ARGS("help", "nonsense"), ARGS(MARKS), 0, 2, "lockstep: ", "P:"},
    {"help", ARGS("node", "ls", "--help"), ARGS(MARKS), 0, 0, "P:usage: lockstep node ls", "\r\nu"},
    {"help of a family", ARGS("change", "--help"), ARGS(MARKS), 0, 0, "P:usage: lockstep change",
     "\r\nu"},
    {"explain", ARGS("explain", "node"), ARGS(MARKS), 0, 0, "P:", "\r\nn"},
    {"YAML", ARGS("explain", "node", "-o", "yaml"), ARGS(MARKS), 0, 0, "P:items:\r\nP:- ", "\r\ni"},
    {"a locale that does not exist", ARGS("node", "ls"), ARGS(MARKS, "LC_ALL=xx_YY.nonsense"),
     TOO_LONG, 0, "P:\xe7\xaf\x80-023 ", "?"},
    {"a locale of bytes", ARGS("node", "ls"), ARGS(MARKS, "LC_ALL=C"), TOO_LONG, 0,
     "P:\xe7\xaf\x80-023 ", "?"},
    {"no pager for what goes on", ARGS("drift", "--watch", "--json"), ARGS(MARKS), 0, 4,
     "lockstep: ", "P:"},
};

/* A list of nodes, with characters of three bytes in a name where the row is about locales. */
static void list_nodes(int count, const char *name, struct lks_buf *out)
{
    lks_buf_init(out, OUT_MAX);
    lks_buf_addf(out, "{\"items\":[");
    for (int i = 1; i <= count; i++)
        lks_buf_addf(out,
                     "%s{\"name\":\"%s%03d\",\"node\":\"n\",\"pool\":\"p\",\"liveness\":\"live\","
                     "\"judged\":\"drift\"}",
                     i > 1 ? "," : "", name, i);
    lks_buf_addf(out, "]}");
}

static void check_paged(size_t i)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = {0};
    struct lks_liar liar = {.path = path, .turn_count = 1};
    struct seat s = {0};
    list_nodes(paged[i].nodes, strstr(paged[i].name, "locale") != NULL ? "\xe7\xaf\x80-" : "n",
               &body);
    liar.turns[0] =
        (struct lks_liar_turn){LKS_LIAR_CLOSE, answer(&list, "application/json", body.ptr)};
    (void)unlink(path);
    if (paged[i].nodes > 0)
        lks_liar_start(&liar);
    if (seat_start(&s, paged[i].words, paged[i].variables)) {
        seat_end(&s);
        CHECK(WIFEXITED(s.status));
        CHECK_INT(WEXITSTATUS(s.status), paged[i].exit);
        CHECK_HAS(lks_buf_view(&s.seen), paged[i].seen);
        CHECK(lks_str_find(lks_buf_view(&s.seen), lks_str_from(paged[i].unseen)) < 0);
    }
    if (paged[i].nodes > 0)
        lks_liar_join(&liar);
    lks_buf_fini(&s.seen);
    lks_liar_fini(&liar);
}

static void test_pager(void)
{
    for (size_t i = 0; i < LKS_COUNT(paged); i++) {
        lks_test_case("%s", paged[i].name);
        check_paged(i);
    }
}

/* A person who presses Ctrl-C means the pager, which may go on: the command waits for it, and
 * prints nothing that was not read. */
static void test_pager_interrupt(void)
{
    static const char *const words[] = {"explain", "node", NULL};
    static const char *const variables[] = {
        "LOCKSTEP_PAGER=trap 'echo caught; exit 2' INT; echo there; while :; do sleep 0.1; done",
        NULL};
    struct seat s = {0};
    if (seat_start(&s, words, variables) && seat_sees(&s, "there")) {
        seat_type(&s, "\003");
        seat_end(&s);
        CHECK(WIFEXITED(s.status) && WEXITSTATUS(s.status) == 0);
        CHECK_HAS(lks_buf_view(&s.seen), "caught");
        CHECK(lks_str_find(lks_buf_view(&s.seen), LKS_STR("liveness")) < 0);
    }
    lks_buf_fini(&s.seen);
}

int main(void)
{
    tree = lks_tree_new();
    snprintf(path, sizeof(path), "%s/sock", tree.path);
    int code = lks_test_main((const struct lks_test[]){
        {"cli terminal: the question of fleet apply", test_question},
        {"cli terminal: a name that is cut short", test_short},
        {"cli terminal: starts of names, with all answers", test_starts},
        {"cli terminal: an act on several nodes", test_several},
        {"cli terminal: Ctrl-C", test_interrupt},
        {"cli terminal: the prompt of login", test_prompt},
        {"cli terminal: a signal at the prompt", test_prompt_ended},
        {"cli terminal: the pager", test_pager},
        {"cli terminal: Ctrl-C in the pager", test_pager_interrupt},
        {0},
    });
    lks_tree_free(&tree);
    return code;
}
