#include "base/commit.h"
#include "base/process/args.h"
#include "server/base/config.h"
#include "server/base/daemon.h"
#include "server/start/about.h"
#include "server/start/init.h"
#include "server/start/selfcheck.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void print_help(void)
{
    lks_manual_help(&lks_about_lockstepd, stdout);
}

static enum lks_code run_init(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    struct lks_str names[LKS_CONFIG_NAMES_MAX];
    size_t count = 0, at = 0;
    if (lks_args_read(argc, argv, lks_about_init_options, &args, err) != LKS_OK)
        return err->code;
    if (lks_args_has(&args, "--help")) {
        print_help();
        return LKS_OK;
    }
    for (const char *name; (name = lks_args_next(&args, "--name", &at)) != NULL;) {
        if (count == LKS_COUNT(names))
            return lks_fail(err, LKS_E_USAGE, "--name: more than %zu names", LKS_COUNT(names));
        names[count++] = lks_str_from(name);
    }
    struct lks_init_options options = {
        .data = lks_args_get(&args, "--data"),
        .names = names,
        .name_count = count,
        .people = lks_args_get(&args, "--people"),
        .agents = lks_args_get(&args, "--agents"),
        .socket = lks_args_get(&args, "--socket"),
        .seal_key = lks_args_get(&args, "--seal-key"),
        .postgres = lks_args_get(&args, "--postgres"),
        .join = lks_args_get(&args, "--join"),
    };
    if (options.data == NULL || args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "usage: lockstepd init --data DIR; see --help");
    return lks_init_run(&options, stdout, err);
}

static enum lks_code dump(const char *path, struct lks_err *err)
{
    LKS_CLEANUP(lks_config_fini) struct lks_config config = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CONFIG_BYTES_MAX * 4);
    if (lks_config_load(path, &config, err) != LKS_OK)
        return err->code;
    lks_config_dump(&config, &text);
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    printf("%s", text.ptr);
    return LKS_OK;
}

static enum lks_code check(const char *path, struct lks_err *err)
{
    if (lks_selfcheck_run(path, err) != LKS_OK)
        return err->code;
    printf("%s: good\n", path);
    return LKS_OK;
}

static enum lks_code run_daemon(int argc, char **argv, struct lks_err *err)
{
    static struct lks_args args;
    if (lks_args_read(argc, argv, lks_about_run_options, &args, err) != LKS_OK)
        return err->code;
    const char *config = lks_args_get(&args, "--config");
    if (lks_args_about(&args, print_help, "lockstepd", LKS_COMMIT))
        return LKS_OK;
    if (config == NULL || args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "usage: lockstepd [run] --config FILE; see --help");
    if (lks_args_has(&args, "--dump-config"))
        return dump(config, err);
    if (lks_args_has(&args, "--check"))
        return check(config, err);
    return lks_run_daemon(config, lks_args_has(&args, "--accept-lost-rows"), err);
}

int main(int argc, char **argv)
{
    struct lks_err err = {0};
    bool named = argc > 1 && argv[1][0] != '-';
    int skip = named ? 2 : 1;
    enum lks_code code;
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a write that fails */
    if (named && strcmp(argv[1], "init") == 0)
        code = run_init(argc - skip, argv + skip, &err);
    else if (named && strcmp(argv[1], "run") != 0)
        code = lks_fail(&err, LKS_E_USAGE, "no command '%s'; init or run", argv[1]);
    else
        code = run_daemon(argc - skip, argv + skip, &err);
    if (code == LKS_OK && (fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE)
        code = lks_fail(&err, LKS_E_IO, "cannot write the answer: %s", strerror(errno));
    if (code != LKS_OK)
        fprintf(stderr, "lockstepd: %s\n", err.msg);
    return lks_err_code_info(code)->exit;
}
