#include "cli/shared/cli.h"

#include "base/near.h"
#include "cli/main/complete.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/output.h"
#include "cli/shared/remote.h"
#include "core/view/view.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { TEXT_MAX = 4096 };

const struct lks_option lks_common_options[] = {
    {"--json", "print the answer as JSON"},
    {"--data DIR", "tables of facts that replace the built-in ones of the same name; not the data "
                   "directory of lockstepd"},
    {"--help", "explain the command"},
    {0},
};

/* Lists of rows of the state. */
static const struct {
    const char *command;
    const struct lks_view *view;
} lists[] = {
    {"node ls", &lks_view_nodes},   {"alarm ls", &lks_view_alarms},
    {"stack ls", &lks_view_stacks}, {"deviation ls", &lks_view_deviations},
    {"image ls", &lks_view_images}, {"bundle ls", &lks_view_bundles},
};

const struct lks_view *lks_cli_view(const struct lks_command *command)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        if (strcmp(lists[i].command, command->name) == 0)
            return lists[i].view;
    }
    return NULL;
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

/* Help -------------------------------------------------------------------------------------- */

/* A reader of help is a person, also where the output is a pipe to a pager. */
static size_t columns_of(const struct lks_cli *cli)
{
    bool narrow = cli->term.width > 0 && cli->term.width < LKS_TERM_TEXT_COLUMNS;
    return narrow ? cli->term.width : LKS_TERM_TEXT_COLUMNS;
}

static void print_text(struct lks_cli *cli, const char *text)
{
    lks_term_flow(cli->out, lks_str_from(text), 0, 0, columns_of(cli));
}

/* The options of the command alone, or those with which every command asks lockstepd. */
static void print_options(struct lks_cli *cli, const struct lks_option *options, bool remote)
{
    for (; options != NULL && options->usage != NULL; options++) {
        if (lks_remote_is_option(options) == remote)
            lks_args_print_option(options, columns_of(cli), cli->out);
    }
}

void lks_cli_columns(const struct lks_view *view, struct lks_buf *out)
{
    lks_buf_addf(out, "Columns: ");
    lks_view_row_names(view, LKS_USE_LISTED, out);
    lks_buf_addf(out, ". Columns for --sort-by: ");
    lks_view_row_names(view, LKS_USE_SORT, out);
    lks_buf_addf(out, ".");
}

static void explain_columns(struct lks_cli *cli, const struct lks_view *view)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    if (view == NULL)
        return;
    lks_cli_columns(view, &text);
    fputc('\n', cli->out);
    print_text(cli, text.ptr);
}

/* The lines are whole, however wide, so that they can be pasted. */
static void print_examples(struct lks_cli *cli, const struct lks_command *command)
{
    const struct lks_example *e = lks_cli_example(command, NULL);
    if (e != NULL)
        fprintf(cli->out, "\nExamples:\n");
    for (; e != NULL; e = lks_cli_example(command, e)) {
        fprintf(cli->out, "  # ");
        lks_term_flow(cli->out, lks_str_from(e->about), 4, 2, columns_of(cli));
        fprintf(cli->out, "  %s\n", e->line);
    }
}

static void explain(struct lks_cli *cli, const struct lks_command *command)
{
    char summary[256];
    snprintf(summary, sizeof(summary), "%s.", command->summary);
    fprintf(cli->out, "usage: lockstep %s%s%s [OPTION...]\n\n", command->name,
            command->args[0] != '\0' ? " " : "", command->args);
    print_text(cli, summary);
    if (command->about[0] != '\0')
        print_text(cli, command->about);
    fputc('\n', cli->out);
    print_options(cli, command->options, false);
    print_options(cli, command->options, true);
    lks_args_print(lks_common_options, columns_of(cli), cli->out);
    explain_columns(cli, lks_cli_view(command));
    print_examples(cli, command);
    fprintf(cli->out, "\nWith --json: ");
    lks_term_flow(cli->out, lks_str_from(command->json), strlen("With --json: "), 0,
                  columns_of(cli));
}

static void options_json(struct lks_json_writer *w, const struct lks_option *options)
{
    for (; options != NULL && options->usage != NULL; options++) {
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "name", lks_args_name(options));
        if (lks_args_value(options) != NULL)
            lks_json_cstr(w, "value", lks_args_value(options));
        lks_json_cstr(w, "about", options->about);
        lks_json_end(w, '}');
    }
}

static void command_json(struct lks_json_writer *w, const struct lks_command *c)
{
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "name", c->name);
    lks_json_some(w, "args", lks_str_from(c->args));
    lks_json_cstr(w, "summary", c->summary);
    lks_json_some(w, "about", lks_str_from(c->about));
    lks_json_cstr(w, "json", c->json);
    lks_json_begin(w, "options", '[');
    options_json(w, c->options);
    options_json(w, lks_common_options);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static bool is_in_group(const struct lks_command *command, const char *group)
{
    size_t len = strlen(group);
    return len > 0 && strncmp(command->name, group, len) == 0 && command->name[len] == ' ';
}

/* The commands from `first` on, `count` of them, for programs; of `group` alone if there is one. */
static enum lks_code help_json(struct lks_cli *cli, const struct lks_command *first, size_t count,
                               const char *group, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "commands", '[');
    for (const struct lks_command *c = first; c < first + count; c++) {
        if (group == NULL || is_in_group(c, group))
            command_json(w, c);
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

static void print_summary(struct lks_cli *cli, const struct lks_command *command)
{
    enum { NAME = 18, SUMMARY = 2 + NAME + 1 };
    fprintf(cli->out, "  %-*s ", NAME, command->name);
    lks_term_flow(cli->out, lks_str_from(command->summary), SUMMARY, SUMMARY, columns_of(cli));
}

static void list_commands(struct lks_cli *cli)
{
    fprintf(cli->out, "usage: lockstep COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < lks_command_count; i++)
        print_summary(cli, &lks_commands[i]);
    fputc('\n', cli->out);
    print_text(cli,
               "'lockstep help COMMAND' explains one. Exit status: 0 yes or done, 1 no, 2 usage, "
               "3 bad input, 4 cannot reach, 5 not permitted, 6 internal.");
}

static void list_group(struct lks_cli *cli, const char *group)
{
    fprintf(cli->out, "usage: lockstep %s COMMAND [ARGUMENT...]\n\n", group);
    for (size_t i = 0; i < lks_command_count; i++) {
        if (is_in_group(&lks_commands[i], group))
            print_summary(cli, &lks_commands[i]);
    }
    fprintf(cli->out, "\n'lockstep %s COMMAND --help' explains one.\n", group);
}

/* Dispatch ---------------------------------------------------------------------------------- */

/* How many words of `words` name `command`; 0 when they do not. */
static int words_named(const struct lks_command *command, const char *const *words, int count)
{
    struct lks_str rest = lks_str_from(command->name), word;
    int used = 0;
    while (lks_str_word(&rest, &word)) {
        if (used == count || !lks_str_is(word, words[used]))
            return 0;
        used++;
    }
    return used;
}

static const struct lks_command *find_command(const char *const *words, int count, int *used)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        *used = words_named(&lks_commands[i], words, count);
        if (*used > 0)
            return &lks_commands[i];
    }
    return NULL;
}

static bool is_group(const char *word)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        if (is_in_group(&lks_commands[i], word))
            return true;
    }
    return false;
}

/* "'stack' needs a command: lint, digest ...", or that `word` is none of them. */
static enum lks_code fail_group(const char *group, const char *word, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(LKS_ERR_MSG_MAX);
    for (size_t i = 0; i < lks_command_count; i++) {
        if (is_in_group(&lks_commands[i], group))
            lks_buf_addf(&words, "%s%s", words.len > 0 ? ", " : "",
                         lks_commands[i].name + strlen(group) + 1);
    }
    if (word != NULL)
        return lks_fail(err, LKS_E_USAGE, "no command '%s %s'; commands of '%s': %s", group, word,
                        group, words.ptr);
    return lks_fail(err, LKS_E_USAGE, "'%s' needs a command: %s", group, words.ptr);
}

static enum lks_code fail_command(const char *const *words, int count, struct lks_err *err)
{
    char given[128], hint[LKS_NEAR_HINT_SIZE];
    snprintf(given, sizeof(given), "%s%s%s", words[0], count > 1 ? " " : "",
             count > 1 ? words[1] : "");
    if (words[0][0] == '-')
        return lks_fail(err, LKS_E_USAGE, "options follow the command: '%s'", words[0]);
    /* What follows the command may be its arguments: both readings are tried. */
    struct lks_near whole = lks_near_to(lks_str_from(given));
    struct lks_near first = lks_near_to(lks_str_from(words[0]));
    for (size_t i = 0; i < lks_command_count; i++) {
        lks_near_try(&whole, lks_str_from(lks_commands[i].name));
        lks_near_try(&first, lks_str_from(lks_commands[i].name));
    }
    if (is_group(words[0]) && (count == 1 || whole.best.len == 0))
        return fail_group(words[0], count > 1 ? words[1] : NULL, err);
    const struct lks_near *near = whole.distance <= first.distance ? &whole : &first;
    if (near->best.len > 0)
        return lks_fail(err, LKS_E_USAGE, "no command '%s'%s", given, lks_near_hint(near, hint));
    return lks_fail(err, LKS_E_USAGE, "no command '%s'; 'lockstep help' lists them", words[0]);
}

static enum lks_code help_group(struct lks_cli *cli, const char *group, bool json,
                                struct lks_err *err)
{
    if (json)
        return help_json(cli, lks_commands, lks_command_count, group, err);
    list_group(cli, group);
    return LKS_OK;
}

enum lks_code lks_cli_help(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    int used, count = (int)args->positional_count;
    bool json = lks_args_has(args, "--json");
    if (count == 0 && json)
        return help_json(cli, lks_commands, lks_command_count, NULL, err);
    if (count == 0) {
        list_commands(cli);
        return LKS_OK;
    }
    const struct lks_command *command = find_command(args->positional, count, &used);
    if (command == NULL && count == 1 && is_group(args->positional[0]))
        return help_group(cli, args->positional[0], json, err);
    if (command == NULL)
        return fail_command(args->positional, count, err);
    if (json)
        return help_json(cli, command, 1, NULL, err);
    explain(cli, command);
    return LKS_OK;
}

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

/* Whether the command may ask lockstepd: it has options for that, or finds it by itself. */
static bool asks_controller(const struct lks_command *command)
{
    static const char *const others[] = {"bmc update", "bundle verify"};
    for (const struct lks_option *o = command->options; o != NULL && o->usage != NULL; o++) {
        if (lks_remote_is_option(o))
            return true;
    }
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (strcmp(command->name, others[i]) == 0)
            return true;
    }
    return false;
}

static enum lks_code run_command(struct lks_cli *cli, const struct lks_command *command, int argc,
                                 char **argv, struct lks_err *err)
{
    const struct lks_option *tables[3] = {lks_common_options, command->options, NULL};
    struct lks_args args;
    if (lks_args_parse(argc, argv, tables, &args, err) != LKS_OK)
        return lks_wrap(err, "%s", command->name);
    if (lks_args_has(&args, "--help") && lks_args_has(&args, "--json"))
        return help_json(cli, command, 1, NULL, err);
    if (lks_args_has(&args, "--help")) {
        explain(cli, command);
        return LKS_OK;
    }
    int given = (int)args.positional_count;
    if (given < command->args_min || given > command->args_max)
        return lks_fail(err, LKS_E_USAGE, "usage: lockstep %s%s%s", command->name,
                        command->args[0] != '\0' ? " " : "", command->args);
    if (has_empty(&args))
        return lks_fail(err, LKS_E_USAGE, "%s: an argument is empty: %s", command->name,
                        command->args);
    if (count_stdin(&args) > 1)
        return lks_fail(err, LKS_E_USAGE, "%s: '-', standard input, can be read only once",
                        command->name);
    if (lks_args_has(&args, "--data"))
        cli->data_dir = lks_args_get(&args, "--data");
    cli->command = command;
    if (asks_controller(command) && lks_context_apply(cli, &args, err) != LKS_OK)
        return err->code;
    return command->run(cli, &args, err);
}

/* Whether a group's help is asked for, with nothing else that would need a command to judge it. */
static bool asks_group(int argc, char **argv, struct lks_args *args)
{
    const struct lks_option *tables[2] = {lks_common_options, NULL};
    struct lks_err ignored = {0};
    return is_group(argv[1]) &&
           lks_args_parse(argc - 2, argv + 2, tables, args, &ignored) == LKS_OK &&
           lks_args_has(args, "--help") && args->positional_count == 0;
}

static enum lks_code dispatch(struct lks_cli *cli, int argc, char **argv, struct lks_err *err)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        list_commands(cli);
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
            ? find_command((const char *const[]){"version"}, 1, &used)
            : find_command((const char *const *)argv + 1, argc - 1, &used);
    if (command == NULL && asks_group(argc, argv, &args))
        return help_group(cli, argv[1], lks_args_has(&args, "--json"), err);
    if (command == NULL)
        return fail_command((const char *const *)argv + 1, argc - 1, err);
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
