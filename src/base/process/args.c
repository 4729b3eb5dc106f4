#include "base/process/args.h"

#include "base/near.h"
#include "base/term/term.h"

#include <string.h>

enum { SHORT_LEN = 2 }; /* "-o" */

/* The usage behind the short name. */
static const char *long_usage(const struct lks_option *option)
{
    return lks_args_short(option).len > 0 ? option->usage + SHORT_LEN + strlen(", ")
                                          : option->usage;
}

struct lks_str lks_args_name(const struct lks_option *option)
{
    const char *usage = long_usage(option);
    return (struct lks_str){usage, strcspn(usage, " ")};
}

struct lks_str lks_args_short(const struct lks_option *option)
{
    return (struct lks_str){option->usage, option->usage[1] != '-' ? SHORT_LEN : 0};
}

bool lks_args_is(const struct lks_option *option, struct lks_str name)
{
    return name.len > 0 &&
           (lks_str_eq(name, lks_args_name(option)) || lks_str_eq(name, lks_args_short(option)));
}

const char *lks_args_value(const struct lks_option *option)
{
    const char *blank = strchr(long_usage(option), ' ');
    return blank != NULL ? blank + 1 : NULL;
}

static const struct lks_option *find_option(const struct lks_option *const *tables,
                                            struct lks_str name)
{
    for (; *tables != NULL; tables++) {
        for (const struct lks_option *o = *tables; o->usage != NULL; o++) {
            if (lks_args_is(o, name))
                return o;
        }
    }
    return NULL;
}

static enum lks_code fail_unknown(const struct lks_option *const *tables, struct lks_str name,
                                  struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    for (; *tables != NULL; tables++) {
        for (const struct lks_option *o = *tables; o->usage != NULL; o++)
            lks_near_try(&near, lks_args_name(o));
    }
    return lks_fail(err, LKS_E_USAGE, "no option '%" LKS_STR_FMT "'%s", LKS_STR_ARG(name),
                    lks_near_hint(&near, hint));
}

static enum lks_code add_positional(struct lks_args *args, const char *word, struct lks_err *err)
{
    if (args->positional_count == LKS_ARGS_MAX)
        return lks_fail(err, LKS_E_USAGE, "more than %d arguments", LKS_ARGS_MAX);
    args->positional[args->positional_count++] = word;
    return LKS_OK;
}

bool lks_args_given(const struct lks_args *args, struct lks_str name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (lks_str_eq(lks_args_name(args->given[i].option), name))
            return true;
    }
    return false;
}

static bool may_repeat(const struct lks_option *option)
{
    return lks_str_ends(lks_str_from(option->usage), "...");
}

/* "--gpu=H100", "-o=json" and "-ojson" have their value in the same word. */
static bool cut_option(const struct lks_option *const *tables, const char *word,
                       struct lks_str *name, struct lks_str *value)
{
    struct lks_str first = {word, SHORT_LEN};
    const struct lks_option *option = word[1] != '-' ? find_option(tables, first) : NULL;
    if (option == NULL || lks_args_value(option) == NULL || word[SHORT_LEN] == '\0')
        return lks_str_cut(lks_str_from(word), '=', name, value);
    *name = first;
    *value = lks_str_from(word + SHORT_LEN + (word[SHORT_LEN] == '='));
    return true;
}

/* Read the option at argv[*at]; its value may be the next word. */
static enum lks_code add_option(int argc, char **argv, int *at,
                                const struct lks_option *const *tables, struct lks_args *args,
                                struct lks_err *err)
{
    struct lks_str name, value;
    bool joined = cut_option(tables, argv[*at], &name, &value);
    const struct lks_option *option = find_option(tables, name);
    if (option == NULL)
        return fail_unknown(tables, name, err);
    const char *wanted = lks_args_value(option);
    if (lks_args_given(args, lks_args_name(option)) && !may_repeat(option))
        return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT " is given twice", LKS_STR_ARG(name));
    if (args->given_count == LKS_ARGS_MAX)
        return lks_fail(err, LKS_E_USAGE, "more than %d options", LKS_ARGS_MAX);
    if (wanted == NULL && joined)
        return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT " takes no value", LKS_STR_ARG(name));
    const char *text = joined ? value.ptr : "";
    if (wanted != NULL && !joined) {
        if (*at + 1 >= argc)
            return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT " needs %s", LKS_STR_ARG(name),
                            wanted);
        text = argv[++*at];
    }
    if (wanted != NULL && text[0] == '\0')
        return lks_fail(err, LKS_E_USAGE, "%" LKS_STR_FMT " needs %s, not an empty word",
                        LKS_STR_ARG(name), wanted);
    args->given[args->given_count].option = option;
    args->given[args->given_count++].value = text;
    return LKS_OK;
}

enum lks_code lks_args_parse(int argc, char **argv, const struct lks_option *const *tables,
                             struct lks_args *out, struct lks_err *err)
{
    struct lks_args args = {0};
    bool options = true;
    for (int i = 0; i < argc; i++) {
        /* No option begins with a digit, and a time may: "-90m". */
        bool is_option = options && argv[i][0] == '-' && argv[i][1] != '\0' &&
                         !(argv[i][1] >= '0' && argv[i][1] <= '9');
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            continue;
        }
        enum lks_code code = is_option ? add_option(argc, argv, &i, tables, &args, err)
                                       : add_positional(&args, argv[i], err);
        if (code != LKS_OK)
            return code;
    }
    *out = args;
    return LKS_OK;
}

enum lks_code lks_args_read(int argc, char **argv, const struct lks_option *options,
                            struct lks_args *out, struct lks_err *err)
{
    const struct lks_option *const tables[] = {options, NULL};
    return lks_args_parse(argc, argv, tables, out, err);
}

const char *lks_args_get(const struct lks_args *args, const char *name)
{
    size_t at = 0;
    return lks_args_next(args, name, &at);
}

const char *lks_args_next(const struct lks_args *args, const char *name, size_t *at)
{
    while (*at < args->given_count) {
        size_t i = (*at)++;
        if (lks_str_is(lks_args_name(args->given[i].option), name))
            return args->given[i].value;
    }
    return NULL;
}

struct lks_str lks_args_str(const struct lks_args *args, const char *name)
{
    const char *value = lks_args_get(args, name);
    return value != NULL ? lks_str_from(value) : (struct lks_str){"", 0};
}

bool lks_args_has(const struct lks_args *args, const char *name)
{
    return lks_args_get(args, name) != NULL;
}

void lks_args_print_option(const struct lks_option *option, size_t columns, FILE *out)
{
    enum { INDENT = 2, LEFT = 24, ABOUT = INDENT + LEFT + 1 };
    if (strlen(option->usage) <= LEFT)
        fprintf(out, "%*s%-*s ", INDENT, "", LEFT, option->usage);
    else
        fprintf(out, "%*s%s\n%*s", INDENT, "", option->usage, ABOUT, "");
    lks_term_flow(out, lks_str_from(option->about), ABOUT, ABOUT, columns);
}

void lks_args_print(const struct lks_option *options, size_t columns, FILE *out)
{
    for (; options != NULL && options->usage != NULL; options++)
        lks_args_print_option(options, columns, out);
}

void lks_args_version(const char *program, const char *commit, FILE *out)
{
    bool known = strcmp(commit, "unknown") != 0;
    fprintf(out, "%s %s (commit %s%s)\n", program, LKS_VERSION, commit,
            known ? "" : ": not built from a git checkout");
}

bool lks_args_about(const struct lks_args *args, void (*help)(void), const char *program,
                    const char *commit)
{
    bool asked = lks_args_has(args, "--help");
    if (asked)
        help();
    else if (lks_args_has(args, "--version"))
        lks_args_version(program, commit, stdout);
    return asked || lks_args_has(args, "--version");
}
