/* Help, and the examples in it: every command has some, and every one is a command line. */
#include "tests/run_cli.h"

enum { LINE_MAX_BYTES = 512, WORDS_MAX = 32 };

/* The words of a line as a shell takes them apart, up to a redirection; how many. */
static int split(const char *line, char storage[LINE_MAX_BYTES], char *words[WORDS_MAX])
{
    int count = 0;
    char *to = storage;
    while (count < WORDS_MAX && line[strspn(line, " ")] != '\0') {
        line += strspn(line, " ");
        if (line[0] == '>')
            break;
        words[count++] = to;
        for (bool quoted = false; *line != '\0' && (quoted || *line != ' '); line++) {
            if (*line == '\'')
                quoted = !quoted;
            else
                *to++ = *line;
        }
        *to++ = '\0';
    }
    return count;
}

static const struct lks_command *command_of(const struct lks_example *example)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        for (const struct lks_example *e = lks_cli_example(&lks_commands[i], NULL); e != NULL;
             e = lks_cli_example(&lks_commands[i], e)) {
            if (e == example)
                return &lks_commands[i];
        }
    }
    return NULL;
}

/* Known options, and as many arguments as the command takes. */
static void test_examples_parse(void)
{
    for (size_t i = 0; i < lks_example_count; i++) {
        const struct lks_example *e = &lks_examples[i];
        char storage[LINE_MAX_BYTES], *words[WORDS_MAX];
        lks_test_case("%s", e->line);
        const struct lks_command *command = command_of(e);
        if (!CHECK(strlen(e->line) < LINE_MAX_BYTES) || !CHECK(command != NULL))
            continue;
        int count = split(e->line, storage, words), named = 2;
        for (const char *c = command->name; *c != '\0'; c++)
            named += *c == ' ';
        const struct lks_option *tables[] = {lks_common_options, command->options, NULL};
        struct lks_args args;
        struct lks_err err = {0};
        CHECK_CODE(lks_args_parse(count - named, words + named, tables, &args, &err), LKS_OK);
        CHECK_STR(lks_str_from(err.msg), "");
        CHECK((int)args.positional_count >= command->args_min);
        CHECK((int)args.positional_count <= command->args_max);
        CHECK((e->why != NULL) == (e->run == LKS_EXAMPLE_PARSED));
    }
}

static void test_every_command(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        lks_test_case("%s", lks_commands[i].name);
        CHECK(lks_cli_example(&lks_commands[i], NULL) != NULL);
        CHECK((size_t)lks_commands[i].group < lks_command_group_count);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"each command has a group and an example", test_every_command},
        {"each example is a command line", test_examples_parse},
        {0},
    };
    return lks_test_main(tests);
}
