#include "probe/root/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FDS_MAX = 65536, NOT_STARTED = 127 };

/* Where the kernel, or who guards it, does not know close_range() they are closed one by one. */
bool lks_supervisor_close_others(void)
{
    struct rlimit limit;
    if (close_range(3, ~0U, 0) == 0)
        return true;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > FDS_MAX)
        return false;
    for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
        (void)close(fd);
    return true;
}

static pid_t kept_for;

/* A program may send this to its whole group, to end what it started: that is none of ours. */
static void end_orphans(int number)
{
    (void)number;
    if (getppid() != kept_for)
        (void)kill(0, SIGKILL);
}

_Noreturn static void end_as(pid_t program)
{
    int status = 0;
    while (waitpid(program, &status, 0) != program && errno == EINTR)
        continue;
    if (WIFSIGNALED(status)) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)kill(getpid(), WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

pid_t lks_supervisor_begin(pid_t parent)
{
    sigset_t term;
    pid_t keeper = getpid();
    kept_for = parent;
    (void)signal(SIGTERM, end_orphans);
    (void)sigemptyset(&term);
    (void)sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_UNBLOCK, &term, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(NOT_STARTED);
    pid_t pid = _Fork();
    if (pid == 0) {
        (void)signal(SIGTERM, SIG_DFL);
        return keeper;
    }
    if (pid < 0 || !lks_supervisor_close_others())
        (void)kill(0, SIGKILL);
    end_as(pid);
}
