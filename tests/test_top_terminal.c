/* `top` on a real terminal, which is tmux: keys are typed, the screen is read, the window is
 * resized. lockstepd is the real one where its fleet is enough; changes in progress are answers
 * written down here. */
#include "base/file.h"
#include "tests/controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 20, ARGS_MAX = 16, NODES = 300 };

/* The terminal -------------------------------------------------------------------------------- */

struct terminal {
    struct lks_tree tree;
    char socket[96], pid[96];
};

/* Run tmux on a server of our own, with words up to NULL. */
static int tmux(const struct terminal *t, struct lks_buf *said, const char *const *words)
{
    const char *argv[ARGS_MAX] = {"/usr/bin/tmux", "-u", "-S", t->socket, "-f", "/dev/null"};
    size_t count = 6;
    for (size_t i = 0; words[i] != NULL; i++)
        argv[count++] = words[i];
    lks_buf_truncate(said, 0);
    return ctl_run(argv, said);
}

static void say(const struct terminal *t, const char *const *words)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(BYTES_MAX);
    if (!CHECK_INT(tmux(t, &said, words), 0))
        printf("%s\n", said.ptr);
}

static void press(const struct terminal *t, const char *key)
{
    say(t, LKS_WORDS("send-keys", key));
}

/* A window of this size with a shell that runs `top` and then tells how it ended. */
static void open_terminal(struct terminal *t, const char *server, const char *env,
                          const char *width, const char *height)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf command = LKS_BUF(BYTES_MAX);
    *t = (struct terminal){.tree = lks_tree_new()};
    snprintf(t->socket, sizeof(t->socket), "%s/tmux", t->tree.path);
    snprintf(t->pid, sizeof(t->pid), "%s/pid", t->tree.path);
    lks_buf_addf(&command,
                 "echo before; modes=$(stty -g); "
                 "env LC_ALL=C.UTF-8 %s LOCKSTEP_SERVER=%s sh -c 'printf %%s $$ >%s; exec %s top'; "
                 "echo status $?; [ \"$modes\" = \"$(stty -g)\" ] && echo modes restored; cat",
                 env, server, t->pid, LKS_CLI_PROGRAM);
    say(t, LKS_WORDS("new-session", "-d", "-x", width, "-y", height, command.ptr));
}

static void close_terminal(struct terminal *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(BYTES_MAX);
    (void)tmux(t, &said, LKS_WORDS("kill-server"));
    lks_tree_free(&t->tree);
}

static bool has(const struct lks_buf *screen, const char *text)
{
    return lks_str_find(lks_buf_view(screen), lks_str_from(text)) >= 0;
}

/* Wait until the screen shows a text, or does not show it any more. `screen` has it then. */
static bool await_as(const struct terminal *t, const char *text, bool there, bool escapes,
                     struct lks_buf *screen)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (tmux(t, screen, LKS_WORDS("capture-pane", escapes ? "-pe" : "-p")) == 0 &&
            has(screen, text) == there)
            return true;
    }
    return false;
}

static void await(const struct terminal *t, const char *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf screen = LKS_BUF(BYTES_MAX);
    if (!CHECK(await_as(t, text, true, false, &screen)))
        printf("no '%s' in:\n%s\n", text, screen.ptr);
}

/* A terminal as it was before, and the exit status. A vt100 has no second screen: the last picture
 * stays there. */
static void await_end(const struct terminal *t, const char *status, bool second)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf screen = LKS_BUF(BYTES_MAX);
    CHECK(await_as(t, "modes restored", true, false, &screen));
    CHECK(has(&screen, status));
    CHECK(has(&screen, "before") || !second); /* the screen behind it is back */
    CHECK(!has(&screen, "POOLS") || !second);
}

/* A line on the error stream would have scrolled it away. */
static bool title_stays(const struct terminal *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf screen = LKS_BUF(BYTES_MAX);
    return tmux(t, &screen, LKS_WORDS("capture-pane", "-p")) == 0 &&
           lks_str_starts(lks_buf_view(&screen), " lockstep  fleet ");
}

static void kill_top(const struct terminal *t, int signal)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    struct lks_err err = {0};
    uint64_t pid = 0;
    CHECK_CODE(lks_file_read(t->pid, &text, &err), LKS_OK);
    if (CHECK(lks_str_number(lks_buf_view(&text), INT32_MAX, &pid)))
        CHECK_INT(kill((pid_t)pid, signal), 0);
}

/* With the real lockstepd --------------------------------------------------------------------- */

static void drill_down(const struct terminal *t)
{
    lks_test_case("the fleet");
    await(t, "fleet faults");
    await(t, "> p ");
    await(t, "300 unseen");
    lks_test_case("drill down");
    press(t, "Enter");
    await(t, "fleet faults > pool p");
    await(t, "> n0 ");
    press(t, "End"); /* further pages of the list come */
    await(t, "> n299 ");
    press(t, "Enter");
    await(t, "> pool p > node n299");
    await(t, "HISTORY");
    lks_test_case("resize");
    say(t, LKS_WORDS("resize-window", "-x", "132", "-y", "40"));
    await(t, "? help  q quit");
    say(t, LKS_WORDS("resize-window", "-x", "60", "-y", "12"));
    await(t, "node n299");
    say(t, LKS_WORDS("resize-window", "-x", "80", "-y", "24"));
}

static void lose(const struct terminal *t, struct ctl *c)
{
    lks_test_case("lockstepd is lost");
    press(t, "Escape");
    await(t, "> n299 ");
    ctl_kill(c);
    await(t, "no answer since");
    await(t, "> n299 "); /* the last data stay */
    press(t, "Escape");
    await(t, "> p ");
    lks_test_case("and back");
    CHECK(ctl_start(c));
    await(t, " row ");
    lks_test_case("search");
    press(t, "/");
    press(t, "n7");
    await(t, "/n7");
    press(t, "Enter");
    await(t, "fleet faults > node n7");
    lks_test_case("quit");
    press(t, "q");
    await_end(t, "status 0", true);
}

static void test_fleet(void)
{
    struct terminal t;
    struct ctl c;
    ctl_init(&c, "");
    if (!CHECK(ctl_start(&c)))
        return;
    ctl_apply(&c, NODES);
    open_terminal(&t, c.socket, "", "80", "24");

    drill_down(&t);
    lose(&t, &c);
    close_terminal(&t);
    ctl_fini(&c);
}

/* With answers that are written down ---------------------------------------------------------- */

static const struct {
    const char *request, *answer;
} answers[] = {
    {"GET /v1/fleet",
     "{\"name\":\"prod\",\"seq\":9,\"nodes\":2,\"liveness\":{\"live\":1,\"lost\":1},\"pools\":["
     "{\"name\":\"tr\\u001b[2Jain\\u65e5\",\"nodes\":2,\"liveness\":{\"live\":1,\"lost\":1}}]}"},
    {"GET /v1/changes/7",
     "{\"id\":7,\"name\":\"dec\",\"state\":\"running\",\"total\":2,\"members\":{\"done\":1,"
     "\"pending\":1},\"waves\":[{\"wave\":0,\"kind\":\"canary\",\"state\":\"held\","
     "\"text\":\"no data\"}]}"},
    {"GET /v1/changes?",
     "{\"items\":[{\"id\":7,\"name\":\"dec\",\"state\":\"running\",\"total\":2,\"waves\":1,"
     "\"members\":{\"done\":1,\"pending\":1}},{\"id\":8,\"name\":\"jan\",\"state\":\"running\","
     "\"total\":2}]}"},
    {"POST /v1/changes/7/pause", "{\"id\":7,\"state\":\"paused\"}"},
    {"GET /", "{\"items\":[]}"},
};

struct server {
    struct lks_tree tree;
    char path[96], address[112];
    int fd;
    pthread_t thread;
    atomic_bool stop;
    atomic_bool hold;  /* requests to pause are not answered yet, */
    atomic_bool drop;  /* or never */
    char paused[1024]; /* the requests to pause, read after the thread's end */
};

static const char *answer_to(const char *request)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        if (strncmp(request, answers[i].request, strlen(answers[i].request)) == 0)
            return answers[i].answer;
    }
    return "{}";
}

/* One request; each has a connection of its own. */
static void converse(struct server *s, int fd)
{
    char request[8192], head[128];
    size_t len = 0;
    const char *body = NULL;
    while (len + 1 < sizeof(request)) {
        ssize_t got = recv(fd, request + len, sizeof(request) - 1 - len, 0);
        if (got <= 0)
            return;
        len += (size_t)got;
        request[len] = '\0';
        body = strstr(request, "\r\n\r\n");
        if (body != NULL && (strncmp(request, "POST", 4) != 0 || strchr(body, '}') != NULL))
            break;
    }
    if (strncmp(request, "POST", 4) == 0) {
        size_t used = strlen(s->paused);
        snprintf(s->paused + used, sizeof(s->paused) - used, "%.60s%.200s", request,
                 body != NULL ? body : "");
        while (atomic_load(&s->hold) && !atomic_load(&s->stop))
            usleep(1000);
        if (atomic_load(&s->drop))
            return;
    }
    const char *answer = answer_to(request);
    int size = snprintf(head, sizeof(head),
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                        strlen(answer));
    (void)send(fd, head, (size_t)size, MSG_NOSIGNAL);
    (void)send(fd, answer, strlen(answer), MSG_NOSIGNAL);
}

static void *run_server(void *arg)
{
    struct server *s = arg;
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        int fd = poll(&p, 1, 100) > 0 ? accept(s->fd, NULL, NULL) : -1;
        if (fd < 0)
            continue;
        converse(s, fd);
        close(fd);
    }
    return NULL;
}

static void start_server(struct server *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    *s = (struct server){.tree = lks_tree_new()};
    snprintf(s->path, sizeof(s->path), "%s/sock", s->tree.path);
    snprintf(s->address, sizeof(s->address), "unix:%s", s->path);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", s->path);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(s->fd >= 0 && bind(s->fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
          listen(s->fd, 16) == 0);
    CHECK_INT(pthread_create(&s->thread, NULL, run_server, s), 0);
}

static void stop_server(struct server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    close(s->fd);
    lks_tree_free(&s->tree);
}

/* A context called "far", which is the current one. */
static void write_context(const struct server *s, char *env, size_t size)
{
    char text[320];
    snprintf(text, sizeof(text), "current: far\ncontexts: [{name: far, server: '%s'}]\n",
             s->address);
    lks_tree_file(&s->tree, "/lockstep/contexts.yaml", text);
    snprintf(env, size, "XDG_CONFIG_HOME=%s", s->tree.path);
}

static void test_pause(void)
{
    struct terminal t;
    struct server s;
    char env[160];
    start_server(&s);
    write_context(&s, env, sizeof(env));
    open_terminal(&t, "", env, "80", "24");
    lks_test_case("hostile names do nothing");
    await(&t, "> tr?[2Jain\xe6\x97\xa5 ");
    lks_test_case("wave and gate");
    await(&t, "canary held: no data");
    lks_test_case("pause asks");
    press(&t, "Tab");
    await(&t, "> 7 dec");
    press(&t, "p");
    await(&t, "Pause change 7 to dec, 1 of 2 done, in context far?");
    press(&t, "y");
    await(&t, "Reason, for the record:");
    press(&t, "INC-9");
    await(&t, "Reason, for the record: INC-9");
    press(&t, "Enter");
    await(&t, "change 7 is paused");
    await(&t, " context far");
    CHECK(title_stays(&t));
    lks_test_case("SIGTERM restores the terminal");
    kill_top(&t, SIGTERM);
    await_end(&t, "status 0", true);
    close_terminal(&t);
    stop_server(&s);
    CHECK_HAS(lks_str_from(s.paused), "POST /v1/changes/7/pause ");
    CHECK_HAS(lks_str_from(s.paused), "{\"reason\":\"INC-9\"}");
}

static void pause_selected(const struct terminal *t, const char *question)
{
    press(t, "p");
    await(t, question);
    press(t, "y");
    await(t, "Reason, for the record:");
    press(t, "INC-9");
    press(t, "Enter");
}

/* A pause that was confirmed is sent and waited for, also by a person who quits. */
static void test_quit(void)
{
    static const struct {
        const char *name;
        bool drop, interrupt;
        const char *says, *status;
    } rows[] = {
        {"answered", false, false, "change 8 is paused", "status 0"},
        {"not answered", true, false, "lockstep: change 8 was not paused: ", "status 4"},
        {"given up", false, true, "change 8 was not paused: interrupted", "status 4"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct terminal t;
        struct server s;
        lks_test_case("%s", rows[i].name);
        start_server(&s);
        atomic_store(&s.drop, rows[i].drop);
        open_terminal(&t, s.address, "", "80", "24");
        await(&t, "8 jan");
        atomic_store(&s.hold, true);
        press(&t, "2");
        await(&t, "> 7 dec");
        pause_selected(&t, "Pause change 7");
        await(&t, "pausing change 7 ...");
        press(&t, "Down");
        pause_selected(&t, "Pause change 8");
        press(&t, "q");
        await(&t, "before\npausing change 7 ...\npausing change 8 ...");
        if (rows[i].interrupt)
            kill_top(&t, SIGINT);
        else
            atomic_store(&s.hold, false);
        await(&t, rows[i].says);
        await_end(&t, rows[i].status, true);
        close_terminal(&t);
        stop_server(&s);
        CHECK_HAS(lks_str_from(s.paused), "POST /v1/changes/7/pause ");
        if (!rows[i].interrupt)
            CHECK_HAS(lks_str_from(s.paused), "POST /v1/changes/8/pause ");
    }
}

/* Terminals that can do less, and a crash. */
static void test_terminals(void)
{
    static const struct {
        const char *name, *env, *shows;
        bool colour;
    } rows[] = {
        {"colour", "", "\xe2\x96\x88", true},
        {"NO_COLOR", "NO_COLOR=1", "######", false},
        {"vt100", "TERM=vt100", "######", false},
        {"another locale", "LC_ALL=C NO_COLOR=1", "tr?[2Jain?", false},
    };
    struct server s;
    start_server(&s);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf screen = LKS_BUF(BYTES_MAX);
        struct terminal t;
        lks_test_case("%s", rows[i].name);
        open_terminal(&t, s.address, rows[i].env, "80", "24");
        await(&t, rows[i].shows);
        CHECK(await_as(&t, "POOLS", true, true, &screen));
        CHECK(has(&screen, "\033[32m") == rows[i].colour);
        CHECK(has(&screen, "\033[7m") || has(&screen, ";7m")); /* the selection is in reverse */
        kill_top(&t, i == 0 ? SIGABRT : SIGHUP);
        await_end(&t, i == 0 ? "status 134" : "status 0", strcmp(rows[i].env, "TERM=vt100") != 0);
        close_terminal(&t);
    }
    struct terminal t;
    lks_test_case("a terminal that cannot be drawn on gets lines");
    open_terminal(&t, s.address, "TERM=dumb", "80", "24");
    await(&t, "fleet prod, journal row 9");
    await(&t, "2 nodes, 1 live, 1 lost");
    kill_top(&t, SIGTERM);
    close_terminal(&t);
    stop_server(&s);
}

/* ncurses opens a terminal that cannot be drawn on before we know. A signal that was ignored
 * before, as by nohup, is ignored afterwards too. */
static void test_unfit(void)
{
    struct terminal t;
    struct server s;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(BYTES_MAX);
    char source[96], env[192];
    start_server(&s);
    snprintf(source, sizeof(source), "%s/nocup", s.tree.path);
    snprintf(env, sizeof(env), "TERM=nocup TERMINFO=%s env --ignore-signal=HUP", s.tree.path);
    lks_tree_file(&s.tree, "/nocup", "nocup|no cursor motion,\n\tam, cols#80, cr=^M, ind=^J,\n");
    CHECK_INT(ctl_run(LKS_WORDS("/usr/bin/tic", "-o", s.tree.path, source), &said), 0);
    open_terminal(&t, s.address, env, "80", "24");
    await(&t, "fleet prod, journal row 9");
    kill_top(&t, SIGHUP);
    kill_top(&t, SIGTERM);
    await_end(&t, "status 0", false);
    close_terminal(&t);
    stop_server(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a fleet of the real lockstepd", test_fleet},
        {"a change is paused", test_pause},
        {"a pause outlives the screen", test_quit},
        {"a terminal without cursor motion", test_unfit},
        {"terminals", test_terminals},
        {0},
    });
}
