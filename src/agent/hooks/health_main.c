#include "agent/hooks/about.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/notify.h"
#include "agent/hooks/site_check.h"
#include "base/commit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static char default_check[] = "/etc/lockstep/slurm-health";

enum { TIMEOUT_S = 50, TIMEOUT_MAX_S = 3600 };

struct options {
    const char *run, *fallback;
    char **check; /* ends with NULL */
    int seconds;
};

static void print_help(void)
{
    lks_manual_help(&lks_about_health, stdout);
}

static enum lks_code read_options(const struct lks_args *args, struct options *out,
                                  struct lks_err *err)
{
    static char *words[LKS_ARGS_MAX + 2] = {default_check};
    const char *timeout = lks_args_get(args, "--timeout");
    const char *run = lks_args_get(args, "--run");
    uint64_t seconds = TIMEOUT_S;
    if (args->positional_count > 0)
        memcpy(words, args->positional, args->positional_count * sizeof(*words));
    *out = (struct options){.run = run != NULL ? run : LKS_NOTICE_RUN,
                            .fallback = lks_args_get(args, "--fallback"),
                            .check = words};
    if (timeout != NULL &&
        (!lks_str_number(lks_str_from(timeout), TIMEOUT_MAX_S, &seconds) || seconds == 0))
        return lks_fail(err, LKS_E_USAGE, "--timeout: '%s' is not from 1 to %d", timeout,
                        TIMEOUT_MAX_S);
    if (words[0][0] != '/' || (out->fallback != NULL && out->fallback[0] != '/'))
        return lks_fail(err, LKS_E_USAGE, "'%s' is not an absolute path of a program",
                        words[0][0] != '/' ? words[0] : out->fallback);
    out->seconds = (int)seconds;
    return LKS_OK;
}

/* In our place: its status, and slurmd's own limit, count. */
static enum lks_code fall_back(const struct options *o, const struct lks_err *why,
                               struct lks_err *err)
{
    if (o->fallback == NULL) {
        fprintf(stderr, "slurm-health: %s; the check was not run\n", why->msg);
        return LKS_OK;
    }
    fprintf(stderr, "slurm-health: %s; running %s instead\n", why->msg, o->fallback);
    char *path = strdup(o->fallback);
    char *argv[] = {path, NULL};
    if (path != NULL)
        (void)execv(path, argv);
    int code = errno;
    free(path);
    return lks_fail(err, LKS_E_NOT_FOUND, "--fallback %s: %s", o->fallback, strerror(code));
}

static enum lks_code check(const struct options *o, struct lks_err *err)
{
    LKS_CLEANUP(lks_notify_close) struct lks_notify agent = {0};
    struct lks_err why = {0};
    struct lks_notice found;
    if (lks_notify_open(o->run, &agent, &why) != LKS_OK)
        return fall_back(o, &why, err);
    if (!lks_notify_in_service(&agent))
        return LKS_OK;
    lks_site_check_run(o->check, o->seconds, &found);
    if (lks_notify_send(&agent, &found, &why) != LKS_OK)
        fprintf(stderr, "slurm-health: the result was not reported: %s\n", why.msg);
    return LKS_OK;
}

static enum lks_code run(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    struct options o = {0};
    if (lks_args_read(argc - 1, argv + 1, lks_about_health_options, &args, err) != LKS_OK)
        return err->code;
    if (lks_args_about(&args, print_help, "slurm-health", LKS_COMMIT))
        return LKS_OK;
    return read_options(&args, &o, err) == LKS_OK ? check(&o, err) : err->code;
}

int main(int argc, char **argv)
{
    struct lks_err err = {0};
    if (!lks_hook_settle())
        _exit(lks_err_code_info(LKS_E_IO)->exit);
    enum lks_code code = run(argc, argv, &err);
    if (code == LKS_OK)
        return 0;
    fprintf(stderr, "slurm-health: %s\n", err.msg);
    return lks_err_code_info(code)->exit;
}
