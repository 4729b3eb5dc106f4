#include "cli/main/each.h"

#include "base/term/confirm.h"
#include "cli/shared/commands.h"
#include "codec/notation/hostlist.h"

#include <string.h>

enum { QUESTION_MAX = 256 };

static const char *const commands[] = {"node show",         "node history", "node command",
                                       "node approve",      "node review",  "node resolve",
                                       "endpoint distrust", "sweep fail"};

bool lks_each_applies(const struct lks_cli *cli, const struct lks_args *args)
{
    for (size_t i = 0; i < LKS_COUNT(commands) && args->positional_count > 0; i++) {
        if (strcmp(commands[i], cli->command->name) == 0)
            return !lks_hostlist_is_name(lks_str_from(args->positional[0]));
    }
    return false;
}

/* A person agrees to the number; a script has written the list. */
static enum lks_code agree(struct lks_cli *cli, const struct lks_args *args, size_t count,
                           struct lks_err *err)
{
    char question[QUESTION_MAX];
    if (cli->command->group == LKS_LOOK || count < 2)
        return LKS_OK;
    if (count > LKS_EACH_ACTS_MAX)
        return lks_fail(err, LKS_E_REFUSED,
                        "these are %zu nodes, and one command acts on %d; more belongs in a change",
                        count, LKS_EACH_ACTS_MAX);
    if (!lks_confirm_possible(&cli->term))
        return LKS_OK;
    snprintf(question, sizeof(question), "Run '%s' on %zu nodes (%.100s)?", cli->command->name,
             count, args->positional[0]);
    return lks_confirm(cli->err, question, "give one node", err);
}

/* Whether the others would fail in the same way. */
static bool ends_all(enum lks_code code)
{
    return code == LKS_E_USAGE || code == LKS_E_NOMEM || lks_err_code_info(code)->transient;
}

/* What became of the nodes so far. */
struct walk {
    struct lks_hostlist hosts;
    struct lks_str *failed; /* of the same size */
    size_t failed_count;
    enum lks_code code; /* of the first that failed */
};

/* False: the rest is not tried, and `err` says why. */
static bool run_one(struct lks_cli *cli, struct lks_args *args, struct walk *w, size_t i,
                    struct lks_err *err)
{
    char name[LKS_HOST_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(w->hosts.names[i]));
    args->positional[0] = name;
    if (cli->command->group == LKS_LOOK && !lks_args_has(args, "--json"))
        fprintf(cli->out, "%s%s:\n", i > 0 ? "\n" : "", name);
    *err = (struct lks_err){0}; /* without the failure of the node before */
    enum lks_code code = cli->command->run(cli, args, err);
    args->positional[0] = NULL;
    if (code == LKS_OK)
        return true;
    if (ends_all(code) || ferror(cli->out) != 0) /* the other answers would be lost, too */
        return false;
    fprintf(cli->err, "lockstep: %s: %s\n", name, err->msg);
    w->code = w->failed_count == 0 ? code : w->code;
    w->failed[w->failed_count++] = w->hosts.names[i];
    return true;
}

static enum lks_code tell_failed(const struct walk *w, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    if (w->failed_count == 0)
        return LKS_OK;
    if (lks_hostlist_fold(w->failed, w->failed_count, &list, err) != LKS_OK)
        return err->code;
    return lks_fail(err, w->code, "%zu of %zu nodes failed: %.300s", w->failed_count,
                    w->hosts.count, list.ptr);
}

enum lks_code lks_each_run(struct lks_cli *cli, struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct walk w = {0};
    lks_arena_init(&arena, LKS_HOSTLIST_BYTES_MAX * 64);
    if (lks_hostlist_parse(lks_str_from(args->positional[0]), &arena, &w.hosts, err) != LKS_OK)
        return lks_wrap(err, "%s", cli->command->name);
    if (w.hosts.count == 0)
        return lks_fail(err, LKS_E_USAGE, "%s: the list names no node", cli->command->name);
    w.failed = lks_arena_array(&arena, w.hosts.count, sizeof(*w.failed));
    if (w.failed == NULL)
        return lks_arena_fail(&arena, err);
    if (agree(cli, args, w.hosts.count, err) != LKS_OK)
        return err->code;
    bool no = false;
    for (size_t i = 0; i < w.hosts.count; i++) {
        cli->no = false;
        if (!run_one(cli, args, &w, i, err))
            return i == 0 ? err->code : lks_wrap(err, "after %zu of %zu nodes", i, w.hosts.count);
        no |= cli->no;
    }
    cli->no = no;
    return tell_failed(&w, err);
}
