#include "agent/helper/about.h"
#include "agent/helper/helper.h"
#include "base/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MAX_S = 24 * 3600, NODE_SIZE = 256, HANDED_FD = 3 };

static void print_help(void)
{
    lks_manual_help(&lks_about_helper, stdout);
}

static int64_t wall(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether systemd gave us, and not a parent of ours, one socket. */
static bool was_handed(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t number = 0;
    return pid != NULL && count != NULL && strcmp(count, "1") == 0 &&
           lks_str_number(lks_str_from(pid), INT32_MAX, &number) && (pid_t)number == getpid();
}

static enum lks_code read_user(const char *text, uid_t *out, struct lks_err *err)
{
    uint64_t number = 0;
    if (text == NULL)
        return lks_fail(err, LKS_E_USAGE, "--user UID is needed; --help lists the options");
    if (!lks_str_number(lks_str_from(text), UINT32_MAX - 1, &number)) {
        const struct passwd *entry = getpwnam(text);
        if (entry == NULL)
            return lks_fail(err, LKS_E_USAGE, "--user: there is no user '%s' here", text);
        number = entry->pw_uid;
    }
    *out = (uid_t)number;
    return LKS_OK;
}

static enum lks_code read_options(const struct lks_args *args, char node[NODE_SIZE],
                                  struct lks_helper_options *out, struct lks_err *err)
{
    uint64_t seconds = 0;
    const char *timeout = lks_args_get(args, "--timeout");
    struct lks_helper_options o = {.socket = lks_args_get(args, "--socket"),
                                   .executors = lks_args_get(args, "--executors"),
                                   .enabled = lks_args_get(args, "--enabled"),
                                   .command_key = lks_args_get(args, "--command-key"),
                                   .state = lks_args_get(args, "--state"),
                                   .reader = lks_args_get(args, "--reader"),
                                   .depot = lks_args_get(args, "--depot"),
                                   .node = lks_args_get(args, "--node")};
    if (was_handed())
        o.socket = NULL;
    else if (o.socket == NULL)
        return lks_fail(err, LKS_E_USAGE, "--socket PATH is needed; --help lists the options");
    if (o.executors == NULL || o.enabled == NULL || o.command_key == NULL)
        return lks_fail(err, LKS_E_USAGE, "--executors, --enabled and --command-key are needed");
    if (timeout != NULL &&
        (!lks_str_number(lks_str_from(timeout), TIMEOUT_MAX_S, &seconds) || seconds == 0))
        return lks_fail(err, LKS_E_USAGE, "--timeout: '%s' is not from 1 to %d", timeout,
                        TIMEOUT_MAX_S);
    if (o.node == NULL && gethostname(node, NODE_SIZE - 1) != 0)
        return lks_fail(err, LKS_E_IO, "cannot read the host name: %s", strerror(errno));
    o.timeout_s = (int)seconds;
    o.node = o.node != NULL ? o.node : node;
    o.state = o.state != NULL ? o.state : "/var/lib/lockstep-helper";
    o.reader = o.reader != NULL ? o.reader : "/usr/bin/lockstep-agent";
    if (read_user(lks_args_get(args, "--user"), &o.user, err) != LKS_OK)
        return err->code;
    *out = o;
    return LKS_OK;
}

static enum lks_code serve(const struct lks_helper_options *o, struct lks_err *err)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    int stop = signalfd(-1, &set, SFD_CLOEXEC);
    if (stop < 0)
        return lks_fail(err, LKS_E_IO, "cannot wait for signals: %s", strerror(errno));
    LKS_CLEANUP(lks_helper_close) struct lks_helper h = {0};
    LKS_CLEANUP(lks_log_fini) struct lks_log log = {0};
    lks_log_init(&log, stderr, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, wall);
    if (lks_helper_open(o, &log, &h, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_helper_serve(&h, stop, err);
    if (o->socket != NULL)
        (void)unlink(o->socket);
    (void)close(stop);
    return code;
}

static enum lks_code run(int argc, char **argv, struct lks_err *err)
{
    struct lks_helper_options o = {0};
    struct lks_args args;
    char node[NODE_SIZE] = "";
    if (lks_args_read(argc - 1, argv + 1, lks_about_helper_options, &args, err) != LKS_OK)
        return err->code;
    if (args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "'%s' is not an option", args.positional[0]);
    if (lks_args_about(&args, print_help, "lockstep-helper", LKS_COMMIT))
        return LKS_OK;
    if (read_options(&args, node, &o, err) != LKS_OK)
        return err->code;
    return serve(&o, err);
}

/* No descriptor that the parent left open, no privileges gained later, no memory in a core. */
static void settle(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            abort();
    }
    (void)close_range(was_handed() ? HANDED_FD + 1 : HANDED_FD, ~0U, 0);
    (void)umask(077);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

int main(int argc, char **argv)
{
    struct lks_err err = {0};
    settle();
    enum lks_code code = run(argc, argv, &err);
    if (code == LKS_OK)
        return 0;
    fprintf(stderr, "lockstep-helper: %s\n", err.msg);
    return lks_err_code_info(code)->exit;
}
