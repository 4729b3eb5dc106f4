#include "base/commit.h"
#include "bridge/serve/serve.h"
#include "bridge/view/about.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>

enum { STALE_SECONDS = 30, STALE_SECONDS_MAX = 3600 };

static void print_help(void)
{
    lks_manual_help(&lks_about_bridge, stdout);
}

/* The values of an option that may be repeated. */
static enum lks_code collect(const struct lks_args *args, const char *name, const char **out,
                             size_t max, size_t *count, struct lks_err *err)
{
    const char *value;
    size_t at = 0;
    while ((value = lks_args_next(args, name, &at)) != NULL) {
        if (*count == max)
            return lks_fail(err, LKS_E_USAGE, "%s: %zu of them at the most", name, max);
        out[(*count)++] = value;
    }
    return LKS_OK;
}

static enum lks_code read_users(const struct lks_args *args, struct lks_bridge_options *o,
                                struct lks_err *err)
{
    const char *names[LKS_SERVE_NAMES_MAX];
    size_t count = 0;
    if (collect(args, "--allow-user", names, LKS_SERVE_NAMES_MAX, &count, err) != LKS_OK)
        return err->code;
    bool given = count > 0;
    if (!given) {
        names[count++] = "root";
        names[count++] = "lockstep";
    }
    for (size_t i = 0; i < count; i++) {
        const struct passwd *entry = getpwnam(names[i]);
        if (entry == NULL && given)
            return lks_fail(err, LKS_E_USAGE, "--allow-user: no user '%s'", names[i]);
        if (entry != NULL)
            o->users[o->user_count++] = entry->pw_uid;
    }
    return LKS_OK;
}

static enum lks_code read_listen(const struct lks_args *args, struct lks_bridge_options *o,
                                 struct lks_err *err)
{
    bool tls = false;
    if (collect(args, "--listen", o->listen, LKS_SERVE_LISTEN_MAX, &o->listen_count, err) !=
            LKS_OK ||
        collect(args, "--client-name", o->names, LKS_SERVE_NAMES_MAX, &o->name_count, err) !=
            LKS_OK)
        return err->code;
    if (o->listen_count == 0)
        o->listen[o->listen_count++] = LKS_BRIDGE_SOCKET;
    for (size_t i = 0; i < o->listen_count; i++)
        tls = tls || !lks_str_starts(lks_str_from(o->listen[i]), "unix:");
    o->certificate = lks_args_get(args, "--certificate");
    o->key = lks_args_get(args, "--key");
    o->ca = lks_args_get(args, "--ca");
    if (tls && (o->certificate == NULL || o->key == NULL || o->ca == NULL || o->name_count == 0))
        return lks_fail(err, LKS_E_USAGE,
                        "--listen ADDRESS:PORT needs --certificate, --key, --ca and --client-name; "
                        "there is no plain HTTP");
    return LKS_OK;
}

static enum lks_code read_options(const struct lks_args *args, struct lks_bridge_options *o,
                                  struct lks_err *err)
{
    const char *stale = lks_args_get(args, "--stale"), *conf = lks_args_get(args, "--slurm-conf");
    uint64_t seconds = STALE_SECONDS;
    if (args->positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "no command '%s'; see --help", args->positional[0]);
    if (stale != NULL &&
        (!lks_str_number(lks_str_from(stale), STALE_SECONDS_MAX, &seconds) || seconds == 0))
        return lks_fail(err, LKS_E_USAGE, "--stale: '%s' is not a number from 1 to %d", stale,
                        STALE_SECONDS_MAX);
    o->stale = seconds * LKS_SECOND;
    o->state = lks_args_has(args, "--state") ? lks_args_get(args, "--state") : LKS_BRIDGE_STATE;
    o->policy = lks_args_get(args, "--policy");
    if (conf != NULL && setenv("SLURM_CONF", conf, 1) != 0)
        return lks_fail_nomem(err);
    if (read_users(args, o, err) != LKS_OK)
        return err->code;
    return read_listen(args, o, err);
}

int main(int argc, char **argv)
{
    static struct lks_args args;
    struct lks_bridge_options options = {0};
    struct lks_err err = {0};
    enum lks_code code = lks_args_read(argc - 1, argv + 1, lks_about_bridge_options, &args, &err);
    if (code == LKS_OK && lks_args_about(&args, print_help, "lockstep-slurm-bridge", LKS_COMMIT))
        return 0;
    if (code == LKS_OK)
        code = read_options(&args, &options, &err);
    if (code == LKS_OK)
        code = lks_bridge_serve(&options, stdout, &err);
    if (code != LKS_OK)
        fprintf(stderr, "lockstep-slurm-bridge: %s\n", err.msg);
    return lks_err_code_info(code)->exit;
}
