#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    /* A reader that went away shows as a failed write, which is reported like any other. */
    signal(SIGPIPE, SIG_IGN);
    struct lks_cli cli = {
        .out = stdout,
        .err = stderr,
        .today = lks_day_of((int64_t)time(NULL)),
        .data_dir = getenv("LOCKSTEP_DATA"),
    };
    lks_term_of(stdout, &cli.term);
    return lks_cli_run(&cli, argc, argv);
}
