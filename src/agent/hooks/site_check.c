#include "agent/hooks/site_check.h"

#include "agent/helper/subtask.h"
#include "probe/root/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HOW_SIZE = 96, LOOK_MS = 100 };

static char mark_nothing[] = "MARK_OFFLINE=0";

/* The first line, and behind it how the check ended: the end alone where it printed nothing. */
static void tell(struct lks_str output, const char *how, struct lks_notice *out)
{
    char line[LKS_NOTICE_TEXT_SIZE];
    lks_notice_line(output, line);
    int most = (int)(sizeof(out->text) - strlen(how) - sizeof(" ()"));
    out->kind = LKS_NOTICE_FAILED;
    if (line[0] == '\0')
        snprintf(out->text, sizeof(out->text), "%s", how);
    else
        snprintf(out->text, sizeof(out->text), "%.*s (%s)", most, line, how);
    lks_str_make_printable(out->text);
}

/* What the check started may hold its output open, so its own end is polled as well. Before Linux
 * 5.3 that takes a look now and then. */
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
        (void)lks_subtask_hear(e); /* its last words */
    if (ended >= 0)
        (void)close(ended);
}

void lks_site_check_run(char *const *argv, int seconds, struct lks_notice *out)
{
    struct lks_subtask e = {0};
    struct lks_str output = {0};
    struct lks_err err = {0};
    char how[HOW_SIZE];
    const struct lks_subtask_program program = {.path = argv[0],
                                                .argv = argv,
                                                .variable = mark_nothing,
                                                .errors = true,
                                                .cut = true,
                                                .family = true,
                                                .max = LKS_SITE_CHECK_OUTPUT_MAX,
                                                .ms = seconds * 1000};
    *out = (struct lks_notice){.kind = LKS_NOTICE_PASSED};
    if (access(argv[0], X_OK) != 0) {
        snprintf(how, sizeof(how), "the check cannot be run: %s", strerror(errno));
        tell(lks_str_from(argv[0]), how, out);
        return;
    }
    if (lks_subtask_start(&e, &program, &err) != LKS_OK) {
        tell(LKS_STR(""), "the check cannot be started", out);
        return;
    }
    wait_for(&e);
    if (lks_subtask_end(&e, &output, &err) != LKS_OK) {
        snprintf(how, sizeof(how), "%.*s", (int)sizeof(how) - 1, err.msg);
        tell(output, how, out);
    }
    lks_subtask_fini(&e);
}
