/* The agent's command line, and what each way to start it does. */
#include "agent/loop/start.h"

#include "agent/loop/about.h"
#include "agent/loop/agent.h"
#include "agent/reading/hazards.h"
#include "agent/reading/idle.h"
#include "agent/reading/inventory.h"
#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    INVENTORY_MIN_S = 1,
    INVENTORY_MAX_S = 7 * 24 * 3600,
    LARGE = 64 * 1024,
    IDLE_LINE_MAX = 256
};

static const char *const level_words[] = {"debug", "info", "warning", "error"};

static void print_help(const char *name)
{
    struct lks_manual program = lks_about_agent;
    program.name = name;
    lks_manual_help(&program, stdout);
}

static enum lks_code read_numbers(const struct lks_args *args, struct lks_agent_options *out,
                                  struct lks_err *err)
{
    const char *seconds = lks_args_get(args, "--inventory-seconds");
    const char *level = lks_args_get(args, "--log-level");
    const char *bytes = lks_args_get(args, "--depot-bytes");
    uint64_t number = LKS_AGENT_INVENTORY_S;
    out->depot_bytes = LKS_FETCH_BYTES;
    if (bytes != NULL && !lks_str_number(lks_str_from(bytes), UINT64_MAX / 2, &out->depot_bytes))
        return lks_fail(err, LKS_E_USAGE, "--depot-bytes: '%s' is not a number of bytes", bytes);
    if (seconds != NULL && (!lks_str_number(lks_str_from(seconds), INVENTORY_MAX_S, &number) ||
                            number < INVENTORY_MIN_S))
        return lks_fail(err, LKS_E_USAGE, "--inventory-seconds: '%s' is not from %d to %d", seconds,
                        INVENTORY_MIN_S, INVENTORY_MAX_S);
    out->inventory_seconds = (unsigned)number;
    out->level = LKS_LEVEL_INFO;
    for (size_t i = 0; level != NULL && i < LKS_COUNT(level_words); i++) {
        if (strcmp(level, level_words[i]) == 0) {
            out->level = (enum lks_level)i;
            level = NULL;
        }
    }
    if (level != NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "--log-level: '%s' is none of debug, info, warning, error", level);
    return LKS_OK;
}

/* What --read does: everything that is not needed for months happens here, in another process. */
static enum lks_code print_reading(const struct lks_args *args, const struct lks_captured *captured,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_INVENTORY_MAX);
    const struct lks_inventory_options how = {.root = lks_args_get(args, "--root"),
                                              .node = lks_args_get(args, "--node"),
                                              .cache = lks_args_get(args, "--cache"),
                                              .quick = lks_args_has(args, "--quick"),
                                              .now = (int64_t)time(NULL),
                                              .read_agent =
                                                  captured != NULL ? captured->read_agent : NULL};
    if (lks_inventory_take(&how, &out, err) != LKS_OK)
        return err->code;
    return lks_file_put(STDOUT_FILENO, "standard output", lks_buf_view(&out), err);
}

typedef enum lks_code look_fn(const char *root, struct lks_buf *out, struct lks_err *err);

/* One line, and yes or no by the exit status. */
static enum lks_code print_look(look_fn *look, const char *root, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(IDLE_LINE_MAX);
    if (look(root, &out, err) == LKS_OK)
        return lks_file_put(STDOUT_FILENO, "standard output", lks_buf_view(&out), err);
    if (err->code == LKS_E_REFUSED)
        printf("%s\n", err->msg);
    return err->code;
}

/* What --fetch does, in a process of its own as well. */
static enum lks_code fetch(const struct lks_args *args, const struct lks_agent_options *o,
                           struct lks_err *err)
{
    const char *const needed[] = {"--servers", "--certificate", "--key"};
    for (size_t i = 0; i < LKS_COUNT(needed); i++) {
        if (lks_args_get(args, needed[i]) == NULL)
            return lks_fail(err, LKS_E_USAGE, "--fetch needs %s", needed[i]);
    }
    const struct lks_fetch_options how = {.state = o->state,
                                          .digests = lks_args_get(args, "--fetch"),
                                          .servers = lks_args_get(args, "--servers"),
                                          .certificate = lks_args_get(args, "--certificate"),
                                          .key = lks_args_get(args, "--key"),
                                          .bytes = o->depot_bytes};
    return lks_fetch_run(&how, stdout, err);
}

/* Before anything is written, and before the token is used: a state of its own for a machine that
 * is not there is useless. The path becomes absolute, as readings run in another directory. */
static enum lks_code check_root(struct lks_args *args, char path[PATH_MAX], struct lks_err *err)
{
    struct stat st;
    const char *root = lks_args_get(args, "--root");
    if (root == NULL)
        return LKS_OK;
    if (realpath(root, path) == NULL || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "--root: '%.256s' is not a directory that can be read",
                        root);
    for (size_t i = 0; i < args->given_count; i++) {
        if (args->given[i].value == root)
            args->given[i].value = path;
    }
    return LKS_OK;
}

/* What acts on a captured machine would write to this one. */
static enum lks_code check_captured(const struct lks_agent_options *o, struct lks_err *err)
{
    struct stat root, here;
    if (o->captured == NULL)
        return LKS_OK;
    if (o->root == NULL)
        return lks_fail(err, LKS_E_USAGE, "--root DIR is needed: the captured machine");
    if (stat(o->root, &root) == 0 && stat("/", &here) == 0 && root.st_dev == here.st_dev &&
        root.st_ino == here.st_ino)
        return lks_fail(err, LKS_E_USAGE, "--root: '%.256s' is this machine, not a captured one",
                        o->root);
    return LKS_OK;
}

static enum lks_code act(const struct lks_args *args, char **argv, const struct lks_start *how,
                         struct lks_err *err)
{
    if (lks_args_has(args, "--read"))
        return print_reading(args, how->captured, err);
    if (lks_args_has(args, "--idle"))
        return print_look(lks_idle_look, lks_args_get(args, "--root"), err);
    if (lks_args_has(args, "--hazards"))
        return print_look(lks_hazards_look, lks_args_get(args, "--root"), err);
    struct lks_agent_options o = {.state = lks_args_get(args, "--state"),
                                  .controller = lks_args_get(args, "--controller"),
                                  .ca = lks_args_get(args, "--ca"),
                                  .token_file = lks_args_get(args, "--token-file"),
                                  .agents = lks_args_get(args, "--agents"),
                                  .node = lks_args_get(args, "--node"),
                                  .root = lks_args_get(args, "--root"),
                                  .captured = how->captured,
                                  .helper = lks_args_get(args, "--helper"),
                                  .run = lks_args_get(args, "--run"),
                                  .quick = lks_args_has(args, "--quick"),
                                  .argv = argv};
    if (o.state == NULL)
        return lks_fail(err, LKS_E_USAGE, "--state DIR is needed; --help lists the options");
    if (read_numbers(args, &o, err) != LKS_OK)
        return err->code;
    if (lks_args_get(args, "--fetch") != NULL)
        return fetch(args, &o, err);
    return check_captured(&o, err) == LKS_OK ? lks_agent_run(&o, stderr, err) : err->code;
}

static enum lks_code run(int argc, char **argv, const struct lks_start *how, struct lks_err *err)
{
    struct lks_args args;
    char root[PATH_MAX];
    if (lks_args_read(argc - 1, argv + 1, lks_about_agent_options, &args, err) != LKS_OK)
        return err->code;
    if (args.positional_count > 0)
        return lks_fail(err, LKS_E_USAGE, "'%s' is not an option", args.positional[0]);
    if (lks_args_has(&args, "--help")) {
        print_help(how->program);
        return LKS_OK;
    }
    if (lks_args_has(&args, "--version")) {
        lks_args_version(how->program, how->commit, stdout);
        return LKS_OK;
    }
    if (check_root(&args, root, err) != LKS_OK)
        return err->code;
    return act(&args, argv, how, err);
}

/* Streams that were closed are opened, lest a file of ours be taken for one; large memory is
 * returned to the system at once. */
static void settle(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            abort();
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the node's key would be in it */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE);
}

int lks_start_agent(int argc, char **argv, const struct lks_start *how)
{
    struct lks_err err = {0};
    settle();
    enum lks_code code = run(argc, argv, how, &err);
    if (code == LKS_OK)
        return 0;
    fprintf(stderr, "%s: %s\n", how->program, err.msg);
    return lks_err_code_info(code)->exit;
}
