#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    /* A reader that went away shows as a failed write, of which lks_cli_run() knows the meaning. */
    signal(SIGPIPE, SIG_IGN);
    const char *data_dir = getenv("LOCKSTEP_DATA");
    int64_t now = (int64_t)time(NULL);
    struct lks_cli cli = {
        .out = stdout,
        .err = stderr,
        .today = lks_day_of(now),
        .now = now,
        .data_dir = data_dir != NULL && data_dir[0] != '\0' ? data_dir : NULL,
    };
    lks_term_of(stdout, &cli.term);
    return lks_cli_run(&cli, argc, argv);
}
