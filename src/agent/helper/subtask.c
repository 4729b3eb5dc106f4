#include "agent/helper/subtask.h"

#include "agent/helper/wire.h"
#include "probe/root/clock.h"
#include "probe/root/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES_EACH = 64 }; /* a program that prints without end does not keep the caller */

static char fixed_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* In the child. Descriptors of ours close by themselves when the program starts. */
_Noreturn static void become(const struct lks_subtask_program *p, int said, pid_t parent)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (p->family)
        parent = lks_supervisor_begin(parent);
    if (!p->orphan)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool alone = !p->orphan && getppid() != parent;
    if (alone || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(said, STDOUT_FILENO) < 0 ||
        (p->errors && dup2(said, STDERR_FILENO) < 0) || chdir("/") != 0)
        _exit(127);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)umask(022);
    char *environment[] = {fixed_path, p->variable, NULL};
    (void)execve(p->path, p->argv, environment);
    _exit(127);
}

static void begin(struct lks_subtask *e, int fd, size_t max, int ms)
{
    int64_t now = lks_clock_ms();
    *e = (struct lks_subtask){.active = true, .fd = fd, .begun = now, .ends = now + ms};
    lks_buf_init(&e->said, max);
}

enum lks_code lks_subtask_start(struct lks_subtask *e, const struct lks_subtask_program *program,
                                struct lks_err *err)
{
    LKS_ASSERT(!e->active);
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        become(program, ends[1], parent);
    int number = errno;
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return lks_fail(err, LKS_E_IO, "cannot start %s: %s", program->path, strerror(number));
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    begin(e, ends[0], program->max, program->ms);
    e->pid = pid;
    e->cut = program->cut;
    return LKS_OK;
}

enum lks_code lks_subtask_ask(struct lks_subtask *e, const char *socket, const char *line,
                              struct lks_str body, int ms, struct lks_err *err)
{
    LKS_ASSERT(!e->active);
    int fd = -1;
    if (lks_wire_connect(socket, &fd, err) != LKS_OK)
        return err->code;
    if (lks_wire_send(fd, line, body, lks_clock_ms() + LKS_WIRE_MS, err) != LKS_OK) {
        (void)close(fd);
        return err->code;
    }
    begin(e, fd, LKS_WIRE_ANSWER_MAX + LKS_WIRE_LENGTH, ms);
    return LKS_OK;
}

static void keep(struct lks_subtask *e, struct lks_str bytes)
{
    size_t room = e->said.max - e->said.len;
    if (bytes.len > room && !e->cut)
        e->too_much = true;
    bytes.len = bytes.len < room ? bytes.len : room;
    lks_buf_add(&e->said, bytes);
}

/* What it started may hold its output open; it is the program that counts. */
static bool is_over(const struct lks_subtask *e)
{
    siginfo_t info = {0};
    return e->pid > 0 && waitid(P_PID, (id_t)e->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == e->pid;
}

bool lks_subtask_over(const struct lks_subtask *e)
{
    return lks_clock_ms() >= e->ends || is_over(e);
}

bool lks_subtask_hear(struct lks_subtask *e)
{
    char piece[16384];
    bool over = is_over(e); /* before the reading: what it printed last is in the pipe by then */
    for (int i = 0; i < PIECES_EACH; i++) {
        ssize_t n = read(e->fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return over || lks_clock_ms() >= e->ends;
        if (n <= 0)
            return true;
        keep(e, (struct lks_str){piece, (size_t)n});
        if (e->too_much || e->said.failed != LKS_OK)
            return true;
    }
    return lks_clock_ms() >= e->ends; /* the next call reads what is left */
}

/* It may have closed its output and still run: it has until its time is up. */
static int reap(struct lks_subtask *e)
{
    int status = -1;
    for (;;) {
        pid_t pid = waitpid(e->pid, &status, WNOHANG);
        if (pid == e->pid || (pid < 0 && errno != EINTR))
            break;
        if (lks_clock_ms() >= e->ends || e->too_much)
            (void)kill(-e->pid, SIGKILL);
        (void)poll(NULL, 0, 2);
    }
    (void)kill(-e->pid, SIGKILL); /* what it left behind */
    e->pid = 0;
    return status;
}

static enum lks_code end_program(struct lks_subtask *e, struct lks_err *err)
{
    bool late = lks_clock_ms() >= e->ends;
    int status = reap(e);
    if (e->too_much)
        return lks_fail(err, LKS_E_LIMIT, "its output exceeds %zu bytes", e->said.max);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return LKS_OK;
    if (late || lks_clock_ms() >= e->ends)
        return lks_fail(err, LKS_E_TIMEOUT, "it was stopped after %lld seconds",
                        (long long)(e->ends - e->begun) / 1000);
    if (WIFSIGNALED(status))
        return lks_fail(err, LKS_E_REFUSED, "signal %d", WTERMSIG(status));
    e->status = WEXITSTATUS(status);
    return lks_fail(err, LKS_E_REFUSED, "status %d", WEXITSTATUS(status));
}

enum lks_code lks_subtask_end(struct lks_subtask *e, struct lks_str *text, struct lks_err *err)
{
    struct lks_str content = {0};
    bool whole = false;
    *text = lks_buf_view(&e->said);
    if (e->said.failed != LKS_OK)
        return lks_buf_check(&e->said, err);
    if (e->pid > 0)
        return end_program(e, err);
    if (lks_wire_whole(*text, LKS_WIRE_ANSWER_MAX, &whole, &content, err) != LKS_OK)
        return err->code;
    if (whole) {
        *text = content;
        return LKS_OK;
    }
    if (lks_clock_ms() >= e->ends)
        return lks_fail(err, LKS_E_TIMEOUT, "the helper did not answer in time");
    return lks_fail(err, LKS_E_UNAVAILABLE, "the helper broke off");
}

void lks_subtask_fini(struct lks_subtask *e)
{
    if (e->active && e->pid > 0) {
        e->ends = 0;
        (void)reap(e);
    }
    if (e->active)
        (void)close(e->fd);
    lks_buf_fini(&e->said);
    *e = (struct lks_subtask){0};
}
