#include "base/process/args.h"

#include "base/near.h"
#include "base/term/term.h"

#include <string.h>

static const struct lks_option *find_option(const struct lks_option *const *tables,
                                            struct lks_str name)
{
    for (; *tables != NULL; tables++) {
        for (const struct lks_option *o = *tables; o->name != NULL; o++) {
            if (lks_str_is(name, o->name))
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
        for (const struct lks_option *o = *tables; o->name != NULL; o++)
            lks_near_try(&near, lks_str_from(o->name));
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

static bool may_repeat(const struct lks_option *option)
{
    return option->value != NULL && lks_str_ends(lks_str_from(option->value), "...");
}

/* Read the option at argv[*at]; its value may be the next word. */
static enum lks_code add_option(int argc, char **argv, int *at,
                                const struct lks_option *const *tables, struct lks_args *args,
                                struct lks_err *err)
{
    struct lks_str name, value;
    bool joined = lks_str_cut(lks_str_from(argv[*at]), '=', &name, &value);
    const struct lks_option *option = find_option(tables, name);
    if (option == NULL)
        return fail_unknown(tables, name, err);
    if (lks_args_has(args, option->name) && !may_repeat(option))
        return lks_fail(err, LKS_E_USAGE, "%s is given twice", option->name);
    if (args->given_count == LKS_ARGS_MAX)
        return lks_fail(err, LKS_E_USAGE, "more than %d options", LKS_ARGS_MAX);
    if (option->value == NULL && joined)
        return lks_fail(err, LKS_E_USAGE, "%s takes no value", option->name);
    const char *text = joined ? value.ptr : "";
    if (option->value != NULL && !joined) {
        if (*at + 1 >= argc)
            return lks_fail(err, LKS_E_USAGE, "%s needs %s", option->name, option->value);
        text = argv[++*at];
    }
    if (option->value != NULL && text[0] == '\0')
        return lks_fail(err, LKS_E_USAGE, "%s needs %s, not an empty word", option->name,
                        option->value);
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

const char *lks_args_get(const struct lks_args *args, const char *name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0)
            return args->given[i].value;
    }
    return NULL;
}

const char *lks_args_next(const struct lks_args *args, const char *name, size_t *at)
{
    while (*at < args->given_count) {
        size_t i = (*at)++;
        if (strcmp(args->given[i].option->name, name) == 0)
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
    char left[64];
    int len = snprintf(left, sizeof(left), "%s%s%s", option->name, option->value != NULL ? " " : "",
                       option->value != NULL ? option->value : "");
    if (len <= LEFT)
        fprintf(out, "%*s%-*s ", INDENT, "", LEFT, left);
    else
        fprintf(out, "%*s%s\n%*s", INDENT, "", left, ABOUT, "");
    lks_term_flow(out, lks_str_from(option->about), ABOUT, ABOUT, columns);
}

void lks_args_print(const struct lks_option *options, size_t columns, FILE *out)
{
    for (; options != NULL && options->name != NULL; options++)
        lks_args_print_option(options, columns, out);
}

void lks_args_version(const char *program, const char *commit, FILE *out)
{
    bool known = strcmp(commit, "unknown") != 0;
    fprintf(out, "%s %s (commit %s%s)\n", program, LKS_VERSION, commit,
            known ? "" : ": not built from a git checkout");
}
