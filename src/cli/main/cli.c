#include "cli/shared/cli.h"

#include "cli/main/complete.h"
#include "cli/main/each.h"
#include "cli/main/help.h"
#include "cli/main/prefix.h"
#include "cli/output/format.h"
#include "cli/output/pager.h"
#include "cli/shared/commands.h"
#include "cli/shared/selector.h"
#include "core/view/view.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* --output is the first: see lks_cli_common(). */
const struct lks_option lks_common_options[] = {
    {"-o, --output FORMAT", "format of the answer: table, wide (every column with a value), json "
                            "(as --json), yaml, or name (one name a line)"},
    {"--json", "print the answer as JSON"},
    {"--no-pager", "never show long output with $LOCKSTEP_PAGER, $PAGER or less"},
    {"--data DIR", "tables of facts that replace the built-in ones of the same name; not the data "
                   "directory of lockstepd"},
    {"--help", "explain the command"},
    {0},
};

const struct lks_option *lks_cli_common(const struct lks_command *command)
{
    return lks_common_options + (lks_format_writes_file(command) ? 1 : 0);
}

/* Lists: rows of the state, by their view, and others, by the members of the answer that are lists
 * ("items" if none is named). */
static const struct {
    const char *command;
    const struct lks_view *view;
    const char *const *lists;
} lists[] = {
    {"node ls", &lks_view_nodes, NULL},
    {"alarm ls", &lks_view_alarms, NULL},
    {"stack ls", &lks_view_stacks, NULL},
    {"deviation ls", &lks_view_deviations, NULL},
    {"image ls", &lks_view_images, NULL},
    {"bundle ls", &lks_view_bundles, NULL},
    {"flash ls", &lks_view_flashes, NULL},
    {"override ls", &lks_view_overrides, NULL},
    {"job ls", &lks_view_runs, NULL},
    {"job show", &lks_view_runs, NULL},
    {"artifact ls", &lks_view_artifacts, NULL},
    {"access ls", NULL, LKS_WORDS("bindings", "tokens", "certificates")},
    {"change ls", NULL, NULL},
    {"drift", NULL, NULL},
    {"endpoint ls", NULL, NULL},
    {"fleet show", NULL, LKS_WORDS("pools")},
    {"node history", NULL, NULL},
    {"scheduler ls", NULL, NULL},
    {"stack rollbacks", NULL, NULL},
    {"sweep ls", NULL, NULL},
    {"trust ls", NULL, NULL},
};

bool lks_cli_rows(const struct lks_command *command, struct lks_selector_of *out)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        if (strcmp(lists[i].command, command->name) != 0)
            continue;
        *out = (struct lks_selector_of){
            .view = lists[i].view, .json = command->json, .lists = lists[i].lists};
        return true;
    }
    return false;
}

const struct lks_view *lks_cli_view(const struct lks_command *command)
{
    struct lks_selector_of rows;
    return lks_cli_rows(command, &rows) ? rows.view : NULL;
}

static bool is_example_of(const struct lks_example *example, const struct lks_command *command)
{
    const char *line = example->line + strlen("lockstep ");
    size_t len = strlen(command->name);
    return strncmp(line, command->name, len) == 0 && (line[len] == ' ' || line[len] == '\0');
}

const struct lks_example *lks_cli_example(const struct lks_command *command,
                                          const struct lks_example *after)
{
    const struct lks_example *end = lks_examples + lks_example_count;
    for (const struct lks_example *e = after != NULL ? after + 1 : lks_examples; e < end; e++) {
        if (is_example_of(e, command))
            return e;
    }
    return NULL;
}

const struct lks_command_group_name lks_command_groups[] = {
    [LKS_LOOK] = {"look", "Read the fleet, a machine or a file"},
    [LKS_PLAN] = {"plan", "Prepare stacks, bundles and changes"},
    [LKS_CHANGE] = {"change", "Approve, run and stop changes"},
    [LKS_OPERATE] = {"operate", "Run nodes, jobs, deviations and alarms"},
    [LKS_ADMINISTER] = {"administer", "Manage access, keys, the journal and the controller"},
};
const size_t lks_command_group_count = LKS_COUNT(lks_command_groups);

void lks_cli_columns(const struct lks_command *command, struct lks_buf *out)
{
    struct lks_selector_of rows;
    if (!lks_cli_rows(command, &rows))
        return;
    lks_buf_addf(out, "Columns: ");
    lks_selector_names(&rows, out);
    lks_buf_addf(out, rows.view != NULL ? ". Columns for --sort-by: " : ".");
    if (rows.view != NULL) {
        lks_view_row_names(rows.view, LKS_USE_SORT, out);
        lks_buf_addf(out, ".");
    }
}

/* Dispatch ---------------------------------------------------------------------------------- */

enum lks_code lks_cli_version(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    (void)err;
    const char *commit = cli->commit != NULL ? cli->commit : "unknown";
    if (lks_args_has(args, "--json"))
        fprintf(cli->out, "{\"version\":\"%s\",\"commit\":\"%s\"}\n", LKS_VERSION, commit);
    else
        lks_args_version("lockstep", commit, cli->out);
    return LKS_OK;
}

static unsigned count_stdin(const struct lks_args *args)
{
    unsigned count = 0;
    for (size_t i = 0; i < args->positional_count; i++)
        count += strcmp(args->positional[i], "-") == 0;
    for (size_t i = 0; i < args->given_count; i++)
        count += strcmp(args->given[i].value, "-") == 0;
    return count;
}

/* An empty word is a variable that was not set; no file, node or number is called so. */
static bool has_empty(const struct lks_args *args)
{
    for (size_t i = 0; i < args->positional_count; i++) {
        if (args->positional[i][0] == '\0')
            return true;
    }
    return false;
}

/* As many arguments as the command takes; the one that is too many is named, since it may be an
 * option's value whose option was left out. */
static enum lks_code check_count(const struct lks_command *command, const struct lks_args *args,
                                 struct lks_err *err)
{
    int given = (int)args->positional_count;
    if (given < command->args_min)
        return lks_fail(err, LKS_E_USAGE, "an argument is missing: lockstep %s %s", command->name,
                        command->args);
    if (given <= command->args_max)
        return LKS_OK;
    const char *extra = args->positional[command->args_max];
    if (command->args_max == 0)
        return lks_fail(err, LKS_E_USAGE, "'%s' is too many: lockstep %s takes no argument", extra,
                        command->name);
    return lks_fail(err, LKS_E_USAGE, "'%s' is too many: lockstep %s %s", extra, command->name,
                    command->args);
}

/* Run the command, again where lockstepd does not know a name, which may be cut short. */
static enum lks_code run_named(struct lks_cli *cli, struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_prefix_fini) struct lks_prefix names = {0};
    if (lks_each_applies(cli, args))
        return lks_each_run(cli, args, err);
    enum lks_code code = cli->command->run(cli, args, err);
    while (code == LKS_E_NOT_FOUND && cli->missed) {
        if (lks_prefix_complete(cli, args, &names, err) != LKS_OK)
            return err->code;
        cli->missed = false;
        code = cli->command->run(cli, args, err);
    }
    return code;
}

/* The answer itself, or help. */
static enum lks_code answer(struct lks_cli *cli, const struct lks_command *command,
                            struct lks_args *args, struct lks_err *err)
{
    if (lks_args_has(args, "--help"))
        return lks_help_command(cli, command, lks_args_has(args, "--json"), err);
    if (check_count(command, args, err) != LKS_OK)
        return lks_help_see(err->code, err, "help", lks_str_from(command->name));
    if (has_empty(args))
        return lks_fail(err, LKS_E_USAGE, "%s: an argument is empty: %s", command->name,
                        command->args);
    if (count_stdin(args) > 1)
        return lks_fail(err, LKS_E_USAGE, "%s: '-', standard input, can be read only once",
                        command->name);
    if (lks_args_has(args, "--data"))
        cli->data_dir = lks_args_get(args, "--data");
    cli->command = command;
    return run_named(cli, args, err);
}

/* An answer, or help about the commands that `word` lists, in the format that is asked for; on a
 * terminal by a pager. */
static enum lks_code show(struct lks_cli *cli, const struct lks_command *command, const char *word,
                          struct lks_args *args, struct lks_err *err)
{
    struct lks_pager pager;
    struct lks_format format;
    lks_pager_begin(&pager, cli, command, args);
    enum lks_code code = lks_format_begin(&format, cli, command, args, err);
    if (code == LKS_OK) {
        code = command != NULL ? answer(cli, command, args, err)
                               : lks_help_list(cli, word, lks_args_has(args, "--json"), err);
        code = lks_format_end(&format, code, err);
    }
    return lks_pager_end(&pager, cli, code, err);
}

static enum lks_code run_command(struct lks_cli *cli, const struct lks_command *command, int argc,
                                 char **argv, struct lks_err *err)
{
    const struct lks_option *tables[3] = {lks_cli_common(command), command->options, NULL};
    struct lks_args args;
    if (lks_args_parse(argc, argv, tables, &args, err) != LKS_OK)
        return lks_help_see(lks_wrap(err, "%s", command->name), err, "help",
                            lks_str_from(command->name));
    return show(cli, command, NULL, &args, err);
}

/* Whether a group's help is asked for, with nothing else that would need a command to judge it. */
static bool asks_group(int argc, char **argv, struct lks_args *args)
{
    const struct lks_option *tables[2] = {lks_common_options, NULL};
    struct lks_err ignored = {0};
    return lks_help_is_listed(argv[1]) &&
           lks_args_parse(argc - 2, argv + 2, tables, args, &ignored) == LKS_OK &&
           lks_args_has(args, "--help") && args->positional_count == 0;
}

static enum lks_code dispatch(struct lks_cli *cli, int argc, char **argv, struct lks_err *err)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        lks_help_overview(cli);
        return LKS_OK;
    }
    if (strcmp(argv[1], "__complete") == 0) { /* for the scripts of shells, and in no list */
        lks_complete_line(cli, argc > 2 ? argv[2] : "");
        return LKS_OK;
    }
    int used;
    struct lks_args args;
    const struct lks_command *command =
        strcmp(argv[1], "--version") == 0
            ? lks_help_find((const char *const[]){"version"}, 1, &used)
            : lks_help_find((const char *const *)argv + 1, argc - 1, &used);
    if (command == NULL && asks_group(argc, argv, &args))
        return show(cli, NULL, argv[1], &args, err);
    if (command == NULL)
        return lks_help_fail((const char *const *)argv + 1, argc - 1, err);
    return run_command(cli, command, argc - 1 - used, argv + 1 + used, err);
}

/* Whether the reader of a pipe is gone, as `head -1` is once it had enough. Asked of the pipe:
 * which of many writes failed, and with which errno, is not known any more. */
static bool reader_left(FILE *out)
{
    struct pollfd pipe = {.fd = fileno(out)};
    return pipe.fd >= 0 && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

/* An answer that did not get out is no answer: a full disk must not look like success. But one
 * whose reader did not want the rest was given. */
static enum lks_code finish_output(struct lks_cli *cli, enum lks_code code, struct lks_err *err)
{
    errno = 0;
    bool lost = fflush(cli->out) != 0 || ferror(cli->out) != 0;
    if (!lost)
        return code;
    int why = errno;
    if ((code == LKS_OK || code == LKS_E_IO) && reader_left(cli->out))
        return LKS_OK;
    if (code != LKS_OK)
        return code;
    return lks_fail(err, LKS_E_IO, "cannot write the answer: %s",
                    why != 0 ? strerror(why) : "an earlier write failed");
}

int lks_cli_run(struct lks_cli *cli, int argc, char **argv)
{
    struct lks_err err = {0};
    enum lks_code code = finish_output(cli, dispatch(cli, argc, argv, &err), &err);
    if (code != LKS_OK)
        fprintf(cli->err, "lockstep: %s\n", err.msg);
    return code == LKS_OK && cli->no ? 1 : lks_err_code_info(code)->exit;
}
