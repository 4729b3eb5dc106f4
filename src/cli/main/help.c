#include "cli/main/help.h"

#include "base/near.h"
#include "cli/shared/commands.h"
#include "cli/shared/output.h"
#include "cli/shared/remote.h"
#include "core/view/view.h"

#include <string.h>

enum {
    TEXT_MAX = 4096,
    SCREEN_LINES = 23, /* of 24: the prompt is below them */
    INDENT = 2,
    LABEL = 11, /* the longest name of a group, and a blank */
};

size_t lks_help_columns(const struct lks_cli *cli)
{
    bool narrow = cli->term.width > 0 && cli->term.width < LKS_TERM_TEXT_COLUMNS;
    return narrow ? cli->term.width : LKS_TERM_TEXT_COLUMNS;
}

enum lks_code lks_help_see(enum lks_code code, struct lks_err *err, const char *command,
                           struct lks_str what)
{
    size_t len = strlen(err->msg);
    bool asks = len > 0 && err->msg[len - 1] == '?';
    snprintf(err->msg + len, sizeof(err->msg) - len, "%s 'lockstep %s%s%" LKS_STR_FMT "'",
             asks ? " See" : "; see", command, what.len > 0 ? " " : "", LKS_STR_ARG(what));
    return code;
}

static void print_text(struct lks_cli *cli, const char *text)
{
    lks_term_flow(cli->out, lks_str_from(text), 0, 0, lks_help_columns(cli));
}

/* Families and groups ----------------------------------------------------------------------- */

static struct lks_str family_of(const struct lks_command *command)
{
    return (struct lks_str){command->name, strcspn(command->name, " ")};
}

/* Whether it is a command of several words that starts with this one. */
static bool is_in_family(const struct lks_command *command, const char *family)
{
    return strchr(command->name, ' ') != NULL && lks_str_is(family_of(command), family);
}

static bool is_in_group(const struct lks_command *command, const char *group)
{
    return strcmp(lks_command_groups[command->group].name, group) == 0;
}

static bool is_listed(const struct lks_command *command, const char *word)
{
    return is_in_family(command, word) || is_in_group(command, word);
}

static bool is_family(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < lks_command_count; i++)
        found = found || is_in_family(&lks_commands[i], word);
    return found;
}

bool lks_help_is_listed(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < lks_command_count; i++)
        found = found || is_listed(&lks_commands[i], word);
    return found;
}

static const struct lks_command_group_name *find_group(const char *word)
{
    for (size_t g = 0; g < lks_command_group_count; g++) {
        if (strcmp(lks_command_groups[g].name, word) == 0)
            return &lks_command_groups[g];
    }
    return NULL;
}

/* Finding ----------------------------------------------------------------------------------- */

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

const struct lks_command *lks_help_find(const char *const *words, int count, int *used)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        *used = words_named(&lks_commands[i], words, count);
        if (*used > 0)
            return &lks_commands[i];
    }
    return NULL;
}

/* "'stack' needs a command: lint, digest ...", or that `word` is none of them. */
static enum lks_code fail_family(const char *family, const char *word, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(LKS_ERR_MSG_MAX);
    for (size_t i = 0; i < lks_command_count; i++) {
        if (is_in_family(&lks_commands[i], family))
            lks_buf_addf(&words, "%s%s", words.len > 0 ? ", " : "",
                         lks_commands[i].name + strlen(family) + 1);
    }
    enum lks_code code =
        word != NULL ? lks_fail(err, LKS_E_USAGE, "no command '%s %s'; commands of '%s': %s",
                                family, word, family, words.ptr)
                     : lks_fail(err, LKS_E_USAGE, "'%s' needs a command: %s", family, words.ptr);
    return lks_help_see(code, err, "help", lks_str_from(family));
}

/* The command that is nearest to `given`. Behind the name of a family, its commands alone are
 * compared: "change halt" is far from "change start". */
static struct lks_near near_command(const char *given, size_t family)
{
    struct lks_near near = lks_near_to(lks_str_from(given + family));
    for (size_t i = 0; i < lks_command_count; i++) {
        const char *name = lks_commands[i].name;
        if (family == 0 || strncmp(name, given, family) == 0)
            lks_near_try(&near, lks_str_from(name + family));
    }
    if (near.best.len > 0)
        near.best = (struct lks_str){near.best.ptr - family, near.best.len + family};
    return near;
}

/* The family that is nearest to `word`, for a slip in the first word alone. */
static struct lks_near near_family(const char *word)
{
    struct lks_near near = lks_near_to(lks_str_from(word));
    for (size_t i = 0; i < lks_command_count; i++) {
        struct lks_str family = family_of(&lks_commands[i]);
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = lks_str_eq(family_of(&lks_commands[k]), family);
        if (!seen)
            lks_near_try(&near, family);
    }
    return near;
}

/* Words of other tools, and nouns for verbs, that no slip of the keyboard explains. */
static const char *habit(const char *word)
{
    static const struct lks_str_pair words[] = {
        {"list", "ls"},        {"get", "node ls"}, {"rehearsal", "rehearse"},
        {"firmware", "flash"}, {"halt", "pause"},  {"stop", "pause"},
    };
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (strcmp(word, words[i].name) == 0)
            return words[i].value;
    }
    return NULL;
}

/* The command that such words mean; false: they are none. */
static bool is_habit(const char *const *words, int count, char *out, size_t size)
{
    bool family = is_family(words[0]);
    int used;
    const char *meant = family && count > 1 ? habit(words[1]) : family ? NULL : habit(words[0]);
    if (meant == NULL)
        return false;
    snprintf(out, size, "%s%s%s", family ? words[0] : "", family ? " " : "", meant);
    return family ? lks_help_find((const char *const[]){words[0], meant}, 2, &used) != NULL
                  : strcmp(words[0], "list") != 0;
}

enum lks_code lks_help_fail(const char *const *words, int count, struct lks_err *err)
{
    char given[128], meant[128], hint[LKS_NEAR_HINT_SIZE];
    snprintf(given, sizeof(given), "%s%s%s", words[0], count > 1 ? " " : "",
             count > 1 ? words[1] : "");
    if (words[0][0] == '-')
        return lks_fail(err, LKS_E_USAGE, "options follow the command: '%s'", words[0]);
    if (is_habit(words, count, meant, sizeof(meant)))
        return lks_help_see(lks_fail(err, LKS_E_USAGE, "no command '%s'; did you mean '%s'?",
                                     is_family(words[0]) ? given : words[0], meant),
                            err, "help", lks_str_from(meant));
    /* What follows the command may be its arguments: both readings are tried. */
    bool family = is_family(words[0]) && count > 1 && strlen(given) > strlen(words[0]);
    struct lks_near whole = near_command(given, family ? strlen(words[0]) + 1 : 0);
    struct lks_near first = near_command(words[0], 0), nouns = near_family(words[0]);
    if (is_family(words[0]) && (count == 1 || whole.best.len == 0))
        return fail_family(words[0], count > 1 ? words[1] : NULL, err);
    if (find_group(words[0]) != NULL && !is_family(words[0]))
        return lks_fail(err, LKS_E_USAGE, "'%s' is a group of commands; see 'lockstep help %s'",
                        words[0], words[0]);
    const struct lks_near *near = family || whole.distance <= first.distance ? &whole : &first;
    near = near->best.len == 0 && near->started == 0 ? &nouns : near;
    if (near->started > 1 && near->distance > 0)
        return lks_fail(err, LKS_E_USAGE, "no command '%s'%s", given, lks_near_hint(near, hint));
    if (near->best.len > 0)
        return lks_help_see(
            lks_fail(err, LKS_E_USAGE, "no command '%s'%s", given, lks_near_hint(near, hint)), err,
            "help", near->best);
    return lks_fail(err, LKS_E_USAGE, "no command '%s'; 'lockstep help' lists them", words[0]);
}

/* The overview ------------------------------------------------------------------------------ */

/* The place of the next command in the group of `at` and its family, behind `at`; the count of
 * commands when there is none. */
static size_t next_of_family(size_t at)
{
    const struct lks_command *c = &lks_commands[at];
    size_t i = at + 1;
    while (i < lks_command_count && (lks_commands[i].group != c->group ||
                                     !lks_str_eq(family_of(&lks_commands[i]), family_of(c))))
        i++;
    return i;
}

static bool is_first_of_family(size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (lks_commands[i].group == lks_commands[at].group &&
            lks_str_eq(family_of(&lks_commands[i]), family_of(&lks_commands[at])))
            return false;
    }
    return true;
}

/* "node ls|show|...": `most` commands of the family that starts at `at`. */
static void name_family(size_t at, size_t most, struct lks_buf *out)
{
    lks_buf_addf(out, "%s", lks_commands[at].name);
    size_t skip = family_of(&lks_commands[at]).len + 1, shown = 1;
    for (size_t i = next_of_family(at); i < lks_command_count; i = next_of_family(i)) {
        if (shown++ == most) {
            lks_buf_addf(out, "|...");
            return;
        }
        lks_buf_addf(out, "|%s", lks_commands[i].name + skip);
    }
}

/* The families of a group, with at most `most` commands each, behind the name of the group; or,
 * without `out`, only how many lines they take. */
static size_t print_families(FILE *out, size_t group, size_t most, size_t columns)
{
    size_t lines = 0, at = columns;
    for (size_t i = 0; i < lks_command_count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(TEXT_MAX);
        if ((size_t)lks_commands[i].group != group || !is_first_of_family(i))
            continue;
        name_family(i, most, &name);
        bool breaks = at + strlen(", ,") + name.len > columns;
        if (out != NULL && breaks)
            fprintf(out, "%s%*s%s", lines > 0 ? ",\n" : "", lines > 0 ? LABEL : 0, "", name.ptr);
        else if (out != NULL)
            fprintf(out, ", %s", name.ptr);
        lines += breaks;
        at = (breaks ? LABEL : at + strlen(", ")) + name.len;
    }
    if (out != NULL)
        fputc('\n', out);
    return lines;
}

static const char overview_end[] =
    "'lockstep help GROUP' lists a group, such as plan or node; 'lockstep help COMMAND' explains a "
    "command, with examples; 'lockstep explain' explains fields. Exit status: 0 yes or done, 1 no, "
    "2 usage, 3 bad input, 4 cannot reach, 5 not permitted, 6 internal error, or a local file "
    "cannot be read or written.";

/* As many commands of each family as one screen has lines for. */
static size_t most_that_fit(size_t columns)
{
    enum { AROUND = 7 }; /* usage, blank lines and the end */
    size_t most = lks_command_count, lines;
    do {
        lines = AROUND;
        for (size_t g = 0; g < lks_command_group_count; g++)
            lines += print_families(NULL, g, most, columns);
    } while (lines > SCREEN_LINES && --most > 1);
    return most;
}

void lks_help_overview(struct lks_cli *cli)
{
    size_t columns = lks_help_columns(cli), most = most_that_fit(columns);
    fprintf(cli->out, "usage: lockstep COMMAND [ARGUMENT...]\n\n");
    for (size_t g = 0; g < lks_command_group_count; g++) {
        fprintf(cli->out, "%-*s", LABEL, lks_command_groups[g].name);
        print_families(cli->out, g, most, columns);
    }
    fputc('\n', cli->out);
    print_text(cli, overview_end);
}

/* Lists ------------------------------------------------------------------------------------- */

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

static void examples_json(struct lks_json_writer *w, const struct lks_command *command)
{
    const struct lks_example *e = NULL;
    lks_json_begin(w, "examples", '[');
    while ((e = lks_cli_example(command, e)) != NULL) {
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "line", e->line);
        lks_json_cstr(w, "about", e->about);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static void command_json(struct lks_json_writer *w, const struct lks_command *c)
{
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "name", c->name);
    lks_json_cstr(w, "group", lks_command_groups[c->group].name);
    lks_json_some(w, "args", lks_str_from(c->args));
    lks_json_cstr(w, "summary", c->summary);
    lks_json_some(w, "about", lks_str_from(c->about));
    lks_json_cstr(w, "json", c->json);
    lks_json_begin(w, "options", '[');
    options_json(w, c->options);
    options_json(w, lks_cli_common(c));
    lks_json_end(w, ']');
    examples_json(w, c);
    lks_json_end(w, '}');
}

/* The commands from `first` on, `count` of them, for programs; those that `word` lists alone, if
 * there is one. */
static enum lks_code list_json(struct lks_cli *cli, const struct lks_command *first, size_t count,
                               const char *word, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "commands", '[');
    for (const struct lks_command *c = first; c < first + count; c++) {
        if (word == NULL || is_listed(c, word))
            command_json(w, c);
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

/* The commands of the family, or those of the group that are not in the family. */
static void print_summaries(struct lks_cli *cli, const char *word, bool family)
{
    enum { NAME = 18, SUMMARY = INDENT + NAME + 1 };
    for (size_t i = 0; i < lks_command_count; i++) {
        const struct lks_command *c = &lks_commands[i];
        if (is_in_family(c, word) != family || !is_listed(c, word))
            continue;
        fprintf(cli->out, "%*s%-*s ", INDENT, "", NAME, c->name);
        lks_term_flow(cli->out, lks_str_from(c->summary), SUMMARY, SUMMARY, lks_help_columns(cli));
    }
}

/* A word may be both, as 'change' is: the family comes first. */
enum lks_code lks_help_list(struct lks_cli *cli, const char *word, bool json, struct lks_err *err)
{
    if (json)
        return list_json(cli, lks_commands, lks_command_count, word, err);
    bool family = is_family(word);
    const struct lks_command_group_name *group = find_group(word);
    fprintf(cli->out, "usage: lockstep %s%sCOMMAND [ARGUMENT...]\n\n", family ? word : "",
            family ? " " : "");
    if (family)
        print_summaries(cli, word, true);
    if (group != NULL) {
        fprintf(cli->out, "%s%s:\n", family ? "\n" : "", group->title);
        print_summaries(cli, word, false);
    }
    fprintf(cli->out, "\n'lockstep %s%sCOMMAND --help' explains one.\n", family ? word : "",
            family ? " " : "");
    return LKS_OK;
}

/* One command ------------------------------------------------------------------------------- */

/* The options of the command alone, or those with which every command asks lockstepd. */
static void print_options(struct lks_cli *cli, const struct lks_option *options, bool remote)
{
    for (; options != NULL && options->usage != NULL; options++) {
        if (lks_remote_is_option(options) == remote)
            lks_args_print_option(options, lks_help_columns(cli), cli->out);
    }
}

static void print_columns(struct lks_cli *cli, const struct lks_command *command)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    lks_cli_columns(command, &text);
    if (text.len == 0)
        return;
    fputc('\n', cli->out);
    print_text(cli, text.ptr);
}

/* The lines are whole, however wide, so that they can be pasted. */
static void print_examples(struct lks_cli *cli, const struct lks_command *command)
{
    const struct lks_example *e = NULL;
    fprintf(cli->out, "\nExamples:\n");
    while ((e = lks_cli_example(command, e)) != NULL) {
        fprintf(cli->out, "%*s# ", INDENT, "");
        lks_term_flow(cli->out, lks_str_from(e->about), INDENT + strlen("# "),
                      INDENT + strlen("# "), lks_help_columns(cli));
        fprintf(cli->out, "%*s%s\n", INDENT, "", e->line);
    }
}

enum lks_code lks_help_command(struct lks_cli *cli, const struct lks_command *command, bool json,
                               struct lks_err *err)
{
    char summary[256];
    if (json)
        return list_json(cli, command, 1, NULL, err);
    snprintf(summary, sizeof(summary), "%s.", command->summary);
    fprintf(cli->out, "usage: lockstep %s%s%s [OPTION...]\n\n", command->name,
            command->args[0] != '\0' ? " " : "", command->args);
    print_text(cli, summary);
    if (command->about[0] != '\0')
        print_text(cli, command->about);
    fprintf(cli->out, "\nOptions:\n");
    print_options(cli, command->options, false);
    print_options(cli, command->options, true);
    lks_args_print(lks_cli_common(command), lks_help_columns(cli), cli->out);
    print_columns(cli, command);
    print_examples(cli, command);
    fputc('\n', cli->out);
    print_text(cli, "'lockstep explain' explains fields of answers and manifests. "
                    "docs/reference/commands.md has the members of the answer with --json; docs "
                    "is in the source tree of lockstep.");
    return LKS_OK;
}

enum lks_code lks_help_cmd(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    int used, count = (int)args->positional_count;
    bool json = lks_args_has(args, "--json");
    if (count == 0 && json)
        return list_json(cli, lks_commands, lks_command_count, NULL, err);
    if (count == 0) {
        lks_help_overview(cli);
        return LKS_OK;
    }
    const struct lks_command *command = lks_help_find(args->positional, count, &used);
    if (command == NULL && count == 1 && lks_help_is_listed(args->positional[0]))
        return lks_help_list(cli, args->positional[0], json, err);
    if (command == NULL)
        return lks_help_fail(args->positional, count, err);
    return lks_help_command(cli, command, json, err);
}
