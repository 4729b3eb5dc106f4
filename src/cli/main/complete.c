#include "cli/main/complete.h"

#include "base/embedded.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/output.h"
#include "cli/shared/remote.h"
#include "cli/shared/selector.h"
#include "core/view/view.h"
#include "model/record/record.h"

#include <string.h>

enum { ABOUT_MAX = 72, ANSWER_MAX = 16 << 20 };

/* Words ------------------------------------------------------------------------------------- */

static bool end_word(struct lks_complete_words *line, size_t *from)
{
    if (line->count == LKS_COMPLETE_WORDS_MAX || line->len == sizeof(line->text))
        return false;
    line->text[line->len++] = '\0';
    line->words[line->count++] = line->text + *from;
    *from = line->len;
    return true;
}

static bool add_char(struct lks_complete_words *line, char c)
{
    if (line->len + 1 >= sizeof(line->text))
        return false;
    line->text[line->len++] = c;
    return true;
}

bool lks_complete_split(const char *text, struct lks_complete_words *out)
{
    char quote = '\0';
    bool inside = false;
    size_t from = 0;
    for (const char *c = text; *c != '\0'; c++) {
        bool blank = quote == '\0' && strchr(" \t\n", *c) != NULL;
        if (blank && inside && !end_word(out, &from))
            return false;
        inside = !blank;
        if (blank)
            continue;
        if (quote == '\0' && (*c == '\'' || *c == '"')) {
            quote = *c;
        } else if (*c == quote) {
            quote = '\0';
        } else {
            c += *c == '\\' && quote != '\'' && c[1] != '\0';
            if (!add_char(out, *c))
                return false;
        }
    }
    return end_word(out, &from);
}

/* Offers ------------------------------------------------------------------------------------ */

/* What stands at the cursor. */
struct place {
    const struct lks_command *command; /* NULL: its words are still typed */
    const struct lks_option *option;   /* its value is typed */
    size_t argument;                   /* else the argument of this number */
    bool options_ended;                /* by "--" */
    struct lks_str before, word;       /* one word of the shell: what precedes, what is completed */
    struct lks_args typed;             /* --server and --context, as far as they are typed */
    const char *const *words;
    size_t count; /* of the words before the cursor */
    bool files, folders;
    size_t offers;
    struct lks_buf out;
};

static bool starts(struct lks_str s, struct lks_str with)
{
    return s.len >= with.len && (with.len == 0 || memcmp(s.ptr, with.ptr, with.len) == 0);
}

/* The first line of a note, cut at a blank where it is too long for a list. */
static struct lks_str shortened(struct lks_str about)
{
    if (about.len <= ABOUT_MAX)
        return about;
    about.len = ABOUT_MAX;
    while (about.len > 0 && about.ptr[about.len] != ' ')
        about.len--;
    return about;
}

static void offer(struct place *p, struct lks_str word, struct lks_str about)
{
    if (word.len == 0 || !starts(word, p->word) || !lks_str_printable(word))
        return;
    struct lks_str note = shortened(about);
    p->offers++;
    lks_buf_addf(&p->out, "%" LKS_STR_FMT "%" LKS_STR_FMT "\t%" LKS_STR_FMT "%s\n",
                 LKS_STR_ARG(p->before), LKS_STR_ARG(word), LKS_STR_ARG(note),
                 note.len < about.len ? " ..." : "");
}

/* Commands ---------------------------------------------------------------------------------- */

/* The word of `name` that follows `words`; false if they do not agree with it, or are all of it.
 * `whole` is set if no further word follows. */
static bool next_word(const char *name, const char *const *words, size_t count,
                      struct lks_str *word, bool *whole)
{
    struct lks_str rest = lks_str_from(name);
    for (size_t i = 0; i <= count; i++) {
        if (!lks_str_word(&rest, word))
            return false;
        if (i < count && !lks_str_is(*word, words[i]))
            return false;
    }
    struct lks_str more;
    *whole = !lks_str_word(&rest, &more);
    return true;
}

/* Whether a command before this one has the same word there: a group is offered once. */
static bool is_repeated(size_t at, struct lks_str word, const struct place *p, size_t from)
{
    for (size_t i = 0; i < at; i++) {
        struct lks_str other;
        bool whole;
        if (next_word(lks_commands[i].name, p->words + from, p->count - from, &other, &whole) &&
            lks_str_eq(other, word))
            return true;
    }
    return false;
}

/* The next words of commands that begin with the words from `from` on. */
static void offer_commands(struct place *p, size_t from)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        struct lks_str word;
        bool whole;
        if (!next_word(lks_commands[i].name, p->words + from, p->count - from, &word, &whole) ||
            is_repeated(i, word, p, from))
            continue;
        char about[128];
        snprintf(about, sizeof(about), "commands of '%" LKS_STR_FMT "'", LKS_STR_ARG(word));
        offer(p, word, lks_str_from(whole ? lks_commands[i].summary : about));
    }
}

static size_t words_in(const char *name)
{
    struct lks_str rest = lks_str_from(name), word;
    size_t count = 0;
    while (lks_str_word(&rest, &word))
        count++;
    return count;
}

static bool is_named(const struct lks_command *command, const char *const *words, size_t count)
{
    struct lks_str rest = lks_str_from(command->name), word;
    size_t i = 0;
    for (; lks_str_word(&rest, &word); i++) {
        if (i == count || !lks_str_is(word, words[i]))
            return false;
    }
    return true;
}

static const struct lks_command *command_of(const char *const *words, size_t count)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        if (is_named(&lks_commands[i], words, count))
            return &lks_commands[i];
    }
    return NULL;
}

/* Options ----------------------------------------------------------------------------------- */

static const struct lks_option *option_in(const struct lks_option *o, struct lks_str name)
{
    for (; o != NULL && o->usage != NULL; o++) {
        if (lks_args_is(o, name))
            return o;
    }
    return NULL;
}

static const struct lks_option *option_of(const struct lks_command *command, struct lks_str name)
{
    const struct lks_option *own = option_in(command->options, name);
    return own != NULL ? own : option_in(lks_cli_common(command), name);
}

/* An option is given once, unless its value ends in "...". */
static bool is_given(const struct place *p, const struct lks_option *option)
{
    const char *value = lks_args_value(option);
    if (value != NULL && lks_str_ends(lks_str_from(value), "..."))
        return false;
    for (size_t i = 0; i < p->count; i++) {
        struct lks_str name, rest;
        lks_str_cut(lks_str_from(p->words[i]), '=', &name, &rest);
        if (lks_args_is(option, name))
            return true;
    }
    return false;
}

static void offer_options(struct place *p, const struct lks_option *o)
{
    for (; o != NULL && o->usage != NULL; o++) {
        if (!is_given(p, o))
            offer(p, lks_args_name(o), lks_str_from(o->about));
    }
}

/* Values ------------------------------------------------------------------------------------ */

static void offer_words(struct place *p, const char *const *words)
{
    for (; *words != NULL; words++)
        offer(p, lks_str_from(*words), LKS_STR(""));
}

/* Rows of the state can be sorted by some of their columns, others by all. */
static void offer_columns(struct place *p, unsigned use, const char *behind)
{
    struct lks_selector_of rows;
    struct lks_field field = {0};
    struct lks_str name;
    bool reversed = use == LKS_USE_SORT && lks_str_starts(p->word, "-");
    bool listed = lks_cli_rows(p->command, &rows), viewed = listed && rows.view != NULL;
    for (size_t i = 0; listed && (viewed ? lks_view_row_field(rows.view, use, i, &field)
                                         : lks_selector_member(&rows, i, &name));
         i++) {
        char word[128];
        if (viewed)
            name = lks_str_from(field.key);
        snprintf(word, sizeof(word), "%s%" LKS_STR_FMT "%s", reversed ? "-" : "", LKS_STR_ARG(name),
                 behind);
        offer(p, lks_str_from(word), lks_str_from(field.about != NULL ? field.about : ""));
    }
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Agents report some of the names, and a name goes into a command line: a name that a shell could
 * read as anything but one plain word is not offered. */
static bool is_plain(struct lks_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        const char *allowed = i == 0 ? LETTERS "_[" : LETTERS "._/:@=+,[]-";
        if (word.ptr[i] == '\0' || strchr(allowed, word.ptr[i]) == NULL)
            return false;
    }
    return true;
}

static void offer_live(struct place *p, struct lks_cli *cli, const struct lks_complete_list *list)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(ANSWER_MAX);
    lks_complete_live_names(cli, &p->typed, list, &lines);
    struct lks_str rest = lks_buf_view(&lines), row, word, about;
    while (rest.len > 0) {
        lks_str_cut(rest, '\n', &row, &rest);
        lks_str_cut(row, '\t', &word, &about);
        if (is_plain(word))
            offer(p, word, about);
    }
}

static void offer_records(struct place *p)
{
    for (size_t i = 0; i < lks_record_info_count; i++)
        offer(p, lks_str_from(lks_record_infos[i].word), lks_str_from(lks_record_infos[i].about));
}

static void offer_contexts(struct place *p, const struct lks_cli *cli)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_err ignored = {0};
    if (lks_context_read(cli, &contexts, &ignored) != LKS_OK)
        return;
    const struct lks_doc *list = lks_doc_member(contexts.docs.first, "contexts");
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next)
        offer(p, lks_doc_text(c, "name"), lks_doc_text(c, "server"));
}

/* What 'help' explains: commands, and at first the groups of all commands. */
static void offer_explained(struct place *p)
{
    size_t from = words_in(p->command->name);
    offer_commands(p, from);
    for (size_t i = 0; i < lks_command_group_count && p->count == from; i++) {
        struct lks_str group = lks_str_from(lks_command_groups[i].name);
        if (!is_repeated(lks_command_count, group, p, from))
            offer(p, group, lks_str_from(lks_command_groups[i].title));
    }
}

static void offer_kind(struct place *p, struct lks_cli *cli,
                       const struct lks_complete_source *source)
{
    switch (source->kind) {
    case LKS_COMPLETE_NOTHING:
        break;
    case LKS_COMPLETE_FILES:
        p->files = true;
        break;
    case LKS_COMPLETE_FOLDERS:
        p->folders = true;
        break;
    case LKS_COMPLETE_WORDS:
        offer_words(p, source->words);
        break;
    case LKS_COMPLETE_LIVE:
        offer_live(p, cli, source->list);
        break;
    case LKS_COMPLETE_COLUMNS:
        offer_columns(p, LKS_USE_LISTED, "");
        break;
    case LKS_COMPLETE_SELECTOR:
        offer_columns(p, LKS_USE_LISTED, "=");
        break;
    case LKS_COMPLETE_SORTS:
        offer_columns(p, LKS_USE_SORT, "");
        break;
    case LKS_COMPLETE_RECORDS:
        offer_records(p);
        break;
    case LKS_COMPLETE_CONTEXTS:
        offer_contexts(p, cli);
        break;
    case LKS_COMPLETE_COMMANDS:
        offer_explained(p);
        break;
    }
}

/* Of several values, separated by commas, the last one is completed. */
static void offer_source(struct place *p, struct lks_cli *cli,
                         const struct lks_complete_source *source)
{
    struct lks_str before = p->before, word = p->word;
    bool several = source->several && word.len > 0;
    const char *comma = several ? memrchr(word.ptr, ',', word.len) : NULL;
    if (comma != NULL) {
        size_t skip = (size_t)(comma + 1 - word.ptr);
        /* The two are parts of one text. */
        p->before.ptr = before.len > 0 ? before.ptr : word.ptr;
        p->before.len = before.len + skip;
        p->word = (struct lks_str){word.ptr + skip, word.len - skip};
    }
    offer_kind(p, cli, source);
    p->before = before;
    p->word = word;
}

/* A value by what stands for it in a usage line: "[NODES...]", "FILE|DIR", "open|proprietary". */
static void offer_value(struct place *p, struct lks_cli *cli, struct lks_str name,
                        struct lks_str value)
{
    while (value.len > 0) {
        struct lks_str one;
        size_t count;
        lks_str_cut(value, '|', &one, &value);
        const struct lks_complete_source *source =
            lks_complete_table_find(p->command, name, one, &count);
        for (size_t i = 0; i < count; i++)
            offer_source(p, cli, &source[i]);
        if (one.len > 0 && one.ptr[0] >= 'a' && one.ptr[0] <= 'z')
            offer(p, one, LKS_STR(""));
    }
}

static void offer_argument(struct place *p, struct lks_cli *cli)
{
    struct lks_str value;
    if (!p->options_ended && lks_str_starts(p->word, "-")) {
        offer_options(p, p->command->options);
        offer_options(p, lks_cli_common(p->command));
        return;
    }
    if (lks_complete_table_argument(p->command, p->argument, &value)) {
        offer_value(p, cli, LKS_STR(""), value);
    } else if (p->word.len == 0 && !p->options_ended) {
        offer_options(p, p->command->options);
        offer_options(p, lks_cli_common(p->command));
    }
}

/* A line ----------------------------------------------------------------------------------- */

/* "--pool=tr" is one word of the shell and two of ours. */
static void part_word(struct place *p)
{
    struct lks_str name, value;
    if (p->option != NULL || p->options_ended || !lks_str_starts(p->word, "--") ||
        !lks_str_cut(p->word, '=', &name, &value))
        return;
    p->option = option_of(p->command, name);
    p->before = (struct lks_str){p->word.ptr, name.len + 1};
    p->word = value;
}

/* Keep the value of an option that says which lockstepd is asked. */
static void note(struct place *p, struct lks_str name, const char *value)
{
    static const struct lks_option kept[] = {{"--server ADDRESS", ""}, {"--context NAME", ""}, {0}};
    const struct lks_option *option = option_in(kept, name);
    if (option == NULL || p->typed.given_count == LKS_ARGS_MAX)
        return;
    p->typed.given[p->typed.given_count].option = option;
    p->typed.given[p->typed.given_count++].value = value;
}

/* Read the words behind the command's own as the command itself would. */
static void walk(struct place *p)
{
    for (size_t i = words_in(p->command->name); i < p->count; i++) {
        struct lks_str word = lks_str_from(p->words[i]), name, value;
        if (p->option != NULL) {
            note(p, lks_args_name(p->option), p->words[i]);
            p->option = NULL;
        } else if (p->options_ended || word.len < 2 || word.ptr[0] != '-') {
            p->argument++;
        } else if (lks_str_is(word, "--")) {
            p->options_ended = true;
        } else if (lks_str_cut(word, '=', &name, &value)) {
            note(p, name, value.ptr);
        } else {
            const struct lks_option *option = option_of(p->command, word);
            p->option = option != NULL && lks_args_value(option) != NULL ? option : NULL;
        }
    }
    part_word(p);
}

static void complete_words(struct place *p, struct lks_cli *cli)
{
    p->command = command_of(p->words, p->count);
    if (p->command == NULL) {
        static const struct lks_option whole[] = {
            {"--help", "list the commands"}, {"--version", "show version and commit"}, {0}};
        offer_commands(p, 0);
        if (p->count == 0 && p->word.len > 0)
            offer_options(p, whole);
        return;
    }
    walk(p);
    if (p->option != NULL && lks_args_value(p->option) != NULL)
        offer_value(p, cli, lks_args_name(p->option), lks_complete_table_value(p->option));
    else if (p->option == NULL)
        offer_argument(p, cli);
}

void lks_complete_line(struct lks_cli *cli, const char *text)
{
    struct lks_complete_words line = {0};
    if (!lks_complete_split(text, &line) || line.count < 2)
        return;
    struct place p = {
        .words = line.words + 1, /* the first is the program */
        .count = line.count - 2,
        .word = lks_str_from(line.words[line.count - 1]),
        .out = LKS_BUF(ANSWER_MAX),
    };
    complete_words(&p, cli);
    fwrite(p.out.ptr, 1, p.out.len, cli->out);
    fputs(p.files ? ":file\n" : "", cli->out);
    fputs(p.folders ? ":dir\n" : "", cli->out);
    lks_buf_fini(&p.out);
}

/* Scripts ----------------------------------------------------------------------------------- */

enum lks_code lks_complete_script(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    char name[64];
    snprintf(name, sizeof(name), "lockstep.%s", args->positional[0]);
    for (const struct lks_embedded *e = lks_embedded_completion; e->name != NULL; e++) {
        if (strcmp(e->name, name) != 0)
            continue;
        if (!lks_args_has(args, "--json")) {
            fwrite(e->bytes.ptr, 1, e->bytes.len, cli->out);
            return LKS_OK;
        }
        LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
        struct lks_json_writer *w = lks_output_begin(&o);
        lks_json_cstr(w, "shell", args->positional[0]);
        lks_json_text(w, "script", e->bytes);
        return lks_output_end(cli, &o, err);
    }
    return lks_fail(err, LKS_E_USAGE,
                    "no completion for '%s'; 'lockstep completion bash', or zsh "
                    "or fish",
                    args->positional[0]);
}
