#include "base/commit.h"
#include "cli/output/pager.h"
#include "cli/shared/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A person who presses a key waits that long for the names that lockstepd has, at the most. */
enum { NS_PER_MS = 1000000, PATIENCE_MS = 700 };

/* Our parent may have closed our streams or ignore the end of children, and both would be
 * inherited: then the first files we open would be taken for streams, and no child could be waited
 * for. */
static void settle(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* The wrong way round, so that what is written there fails as it did before. */
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            abort();
    }
    signal(SIGCHLD, SIG_DFL);
}

/* An empty variable is one that is not set. */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

int main(int argc, char **argv)
{
    settle();
    /* A reader that went away shows as a failed write, of which lks_cli_run() knows the meaning. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* likewise a file that may not grow */
    struct timespec clock = {0};
    (void)clock_gettime(CLOCK_REALTIME, &clock);
    int64_t now = (int64_t)clock.tv_sec;
    struct lks_cli cli = {
        .out = stdout,
        .err = stderr,
        .today = lks_time_day_of(now),
        .now = now,
        .now_ms = (lks_ms)clock.tv_nsec / NS_PER_MS,
        .data_dir = environment("LOCKSTEP_DATA"),
        .server = environment("LOCKSTEP_SERVER"),
        .ca = environment("LOCKSTEP_CA"),
        .token_file = environment("LOCKSTEP_TOKEN_FILE"),
        .context_name = environment("LOCKSTEP_CONTEXT"),
        .config_home = environment("XDG_CONFIG_HOME"),
        .state_home = environment("XDG_STATE_HOME"),
        .home = environment("HOME"),
        .cache_home = environment("XDG_CACHE_HOME"),
        .patience_ms = PATIENCE_MS,
        .pager = lks_pager_choose(getenv("LOCKSTEP_PAGER"), getenv("PAGER"), getenv("PATH")),
        .program = argc > 0 ? argv[0] : NULL,
        .commit = LKS_COMMIT,
    };
    lks_zone_local(environment("TZ"), &cli.zone);
    lks_term_of(stdout, &cli.term);
    int status = lks_cli_run(&cli, argc, argv);
    if (cli.at_once)
        _exit(status);
    return status;
}
