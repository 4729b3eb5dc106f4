#include "executors/tool.h"

#include "probe/root/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 10, TAIL_MAX = 4096, LINE_SHOWN = 160 };

static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                      "/usr/bin",        "/sbin",          "/bin"};

static char *environment[] = {
    (char[]){"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
    (char[]){"LC_ALL=C"},
    (char[]){"HOME=/root"},
    (char[]){"DEBIAN_FRONTEND=noninteractive"},
    (char[]){"DEBIAN_PRIORITY=critical"},
    (char[]){"NEEDRESTART_SUSPEND=1"},
    (char[]){"APT_LISTCHANGES_FRONTEND=none"},
    NULL};

static bool find(const char *name, char out[PATH_MAX])
{
    if (name[0] == '/')
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX && access(out, X_OK) == 0;
    for (size_t i = 0; i < LKS_COUNT(folders); i++) {
        if (snprintf(out, PATH_MAX, "%s/%s", folders[i], name) < PATH_MAX && access(out, X_OK) == 0)
            return true;
    }
    return false;
}

bool lks_tool_there(const char *name)
{
    char path[PATH_MAX];
    return find(name, path);
}

/* In the child. */
_Noreturn static void become(const struct lks_tool *tool, const char *path, int said, int errors,
                             pid_t parent)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char *argv[LKS_TOOL_ARGS_MAX + 1] = {0};
    for (size_t i = 0; i < LKS_TOOL_ARGS_MAX && tool->argv[i] != NULL; i++)
        memcpy(&argv[i], &tool->argv[i],
               sizeof(argv[i])); /* execve() promises not to change them */
    if (tool->ms > 0 || tool->apart)
        (void)setpgid(0, 0);
    if (tool->lock > 0) {
        (void)fcntl(tool->lock, F_SETFD, 0);
    } else if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(127);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(said, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0 || chdir("/") != 0)
        _exit(127);
    (void)execve(path, argv, environment);
    _exit(127);
}

static void add_file(int fd, off_t from, struct lks_buf *out)
{
    char piece[16384];
    ssize_t n;
    while ((n = pread(fd, piece, sizeof(piece), from)) > 0 && out->len < out->max) {
        size_t room = out->max - out->len, len = (size_t)n < room ? (size_t)n : room;
        lks_buf_add(out, (struct lks_str){piece, len});
        from += n;
    }
}

/* The last line that says something, of its errors or else of all it printed. dpkg goes on after
 * its reason, and apt-get after dpkg: what they call an error has the reason in the line below. */
static void last_line(int fd, char out[LINE_SHOWN + 1])
{
    char tail[TAIL_MAX];
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) : 0;
    ssize_t n = pread(fd, tail, sizeof(tail), from);
    struct lks_str rest = {tail, n > 0 ? (size_t)n : 0}, line;
    bool found = false, next = false;
    while (rest.len > 0 && !found) {
        lks_str_cut(rest, '\n', &line, &rest);
        line = lks_str_trim(line);
        if (line.len > 0)
            snprintf(out, LINE_SHOWN + 1, "%.*s",
                     (int)(line.len < LINE_SHOWN ? line.len : LINE_SHOWN), line.ptr);
        found = next && line.len > 0;
        next = lks_str_starts(line, "dpkg: error processing ");
    }
    lks_str_make_printable(out);
}

/* Its exit status, or -1 when its time was up. */
static int wait_for(pid_t pid, int ms)
{
    int status = 0;
    int64_t until = lks_clock_ms() + ms;
    for (;;) {
        pid_t ended = waitpid(pid, &status, ms > 0 ? WNOHANG : 0);
        if (ended == pid)
            break;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (ms > 0 && lks_clock_ms() >= until) {
            (void)kill(-pid, SIGKILL);
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            return -1;
        }
        if (ended == 0)
            (void)poll(NULL, 0, LOOK_MS);
    }
    if (ms > 0)
        (void)kill(-pid, SIGKILL); /* what it left behind */
    return status;
}

static enum lks_code judge(const struct lks_tool *tool, int status, int said, int errors,
                           struct lks_err *err)
{
    char line[LINE_SHOWN + 1] = "";
    const char *name = lks_str_last(lks_str_from(tool->argv[0]), '/').ptr;
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return LKS_OK;
    last_line(errors, line);
    if (line[0] == '\0')
        last_line(said, line);
    if (status < 0)
        return lks_fail(err, LKS_E_TIMEOUT, "%s: stopped after %d seconds", name, tool->ms / 1000);
    if (WIFSIGNALED(status))
        return lks_fail(err, LKS_E_REFUSED, "%s: signal %d", name, WTERMSIG(status));
    return lks_fail(err, LKS_E_REFUSED, "%s: status %d%s%s", name, WEXITSTATUS(status),
                    line[0] != '\0' ? ": " : "", line);
}

static enum lks_code run(const struct lks_tool *tool, const char *path, int said, int errors,
                         struct lks_err *err)
{
    pid_t us = getpid(), pid = fork();
    if (pid == 0)
        become(tool, path, said, errors, us);
    if (pid < 0)
        return lks_fail(err, LKS_E_IO, "%s: cannot be started: %s", path, strerror(errno));
    int status = wait_for(pid, tool->ms);
    if (tool->out != NULL)
        add_file(said, 0, tool->out);
    return judge(tool, status, said, errors, err);
}

enum lks_code lks_tool_run(const struct lks_tool *tool, struct lks_err *err)
{
    char path[PATH_MAX];
    if (!find(tool->argv[0], path))
        return lks_fail(err, LKS_E_NOT_FOUND, "%s is not installed here", tool->argv[0]);
    int said = memfd_create("said", MFD_CLOEXEC), errors = memfd_create("errors", MFD_CLOEXEC);
    enum lks_code code = said >= 0 && errors >= 0
                             ? run(tool, path, said, errors, err)
                             : lks_fail(err, LKS_E_IO, "no memory file: %s", strerror(errno));
    if (said >= 0)
        (void)close(said);
    if (errors >= 0)
        (void)close(errors);
    return code;
}

enum lks_code lks_tool_ask(const char *const *argv, struct lks_buf *out, struct lks_err *err)
{
    return lks_tool_run(&(struct lks_tool){.argv = argv, .out = out}, err);
}
