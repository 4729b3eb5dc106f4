#include "agent/hooks/hook.h"

#include "probe/root/clock.h"
#include "probe/root/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_MS = 100, VARIABLE_SIZE = 4096 };

bool lks_hook_settle(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    }
    (void)lks_supervisor_close_others();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    return true;
}

/* What the program started may hold its output open, so its own end is polled as well. Before Linux
 * 5.3 the end is polled for. */
static void wait_for(struct lks_subtask *e)
{
    int ended = (int)syscall(SYS_pidfd_open, e->pid, 0);
    bool open = true;
    while (!lks_subtask_over(e)) {
        int64_t left = e->ends - lks_clock_ms();
        left = ended < 0 && left > LOOK_MS ? LOOK_MS : left;
        struct pollfd fds[] = {{.fd = open ? e->fd : -1, .events = POLLIN},
                               {.fd = ended, .events = POLLIN}};
        (void)poll(fds, LKS_COUNT(fds), (int)(left > 0 ? left : 0));
        if (open && lks_subtask_hear(e))
            open = false;
    }
    if (open)
        (void)lks_subtask_hear(e); /* what it printed last */
    if (ended >= 0)
        (void)close(ended);
}

enum lks_code lks_hook_run(const struct lks_subtask_program *program,
                           char output[LKS_HOOK_OUTPUT_SIZE], struct lks_err *err)
{
    struct lks_subtask e = {0};
    struct lks_str said = {0};
    output[0] = '\0';
    if (lks_subtask_start(&e, program, err) != LKS_OK)
        return err->code;
    wait_for(&e);
    enum lks_code code = lks_subtask_end(&e, &said, err);
    snprintf(output, LKS_HOOK_OUTPUT_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(said));
    if (code == LKS_E_REFUSED && e.status == lks_err_code_info(LKS_E_INVALID)->exit)
        code = err->code = LKS_E_INVALID;
    lks_subtask_fini(&e);
    return code;
}

/* env finds programs in the fixed PATH; Slurm's own commands need SLURM_CONF where the file has
 * another place. */
enum lks_code lks_hook_command(char *const *argv, int seconds, char output[LKS_HOOK_OUTPUT_SIZE],
                               struct lks_err *err)
{
    static char variable[VARIABLE_SIZE];
    const char *conf = getenv("SLURM_CONF");
    int len = snprintf(variable, sizeof(variable), "SLURM_CONF=%s", conf != NULL ? conf : "");
    bool set = conf != NULL && len < (int)sizeof(variable);
    const struct lks_subtask_program program = {.path = argv[0],
                                                .argv = argv,
                                                .variable = set ? variable : NULL,
                                                .errors = true,
                                                .cut = true,
                                                .family = true,
                                                .max = LKS_HOOK_OUTPUT_SIZE - 1,
                                                .ms = seconds * 1000};
    return lks_hook_run(&program, output, err);
}
