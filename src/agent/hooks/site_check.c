#include "agent/hooks/site_check.h"

#include "agent/hooks/hook.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { HOW_SIZE = 96 };

static char mark_nothing[] = "MARK_OFFLINE=0";

/* The first line, and behind it how the check ended: the end alone where it printed nothing. */
static void tell(const char *line, const char *how, struct lks_notice *out)
{
    int most = (int)(sizeof(out->text) - strlen(how) - sizeof(" ()"));
    out->kind = LKS_NOTICE_FAILED;
    if (line[0] == '\0')
        snprintf(out->text, sizeof(out->text), "%s", how);
    else
        snprintf(out->text, sizeof(out->text), "%.*s (%s)", most, line, how);
    lks_str_make_printable(out->text);
}

void lks_site_check_run(char *const *argv, int seconds, struct lks_notice *out)
{
    struct lks_err err = {0};
    char output[LKS_HOOK_OUTPUT_SIZE], line[LKS_NOTICE_TEXT_SIZE], how[HOW_SIZE];
    const struct lks_subtask_program program = {.path = argv[0],
                                                .argv = argv,
                                                .variable = mark_nothing,
                                                .errors = true,
                                                .cut = true,
                                                .family = true,
                                                .max = sizeof(output) - 1,
                                                .ms = seconds * 1000};
    *out = (struct lks_notice){.kind = LKS_NOTICE_PASSED};
    if (access(argv[0], X_OK) != 0) {
        snprintf(how, sizeof(how), "the check cannot be run: %s", strerror(errno));
        tell(argv[0], how, out);
    } else if (lks_hook_run(&program, output, &err) != LKS_OK) {
        lks_notice_line(lks_str_from(output), line);
        snprintf(how, sizeof(how), "%.*s", (int)sizeof(how) - 1, err.msg);
        tell(line, how, out);
    }
}
