/* Help, and the examples in it: every command has some, and every one is a command line. */
#include "base/term/term.h"
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
        const struct lks_option *tables[] = {lks_cli_common(command), command->options, NULL};
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

/* Texts --------------------------------------------------------------------------------------- */

/* `first` if there is one, the words of `name`, which are cut apart in `storage`, then `last`. */
static void words_of(const char *name, char *storage, size_t size, const char *first,
                     const char *last, const char **args)
{
    size_t count = 0;
    snprintf(storage, size, "%s", name);
    if (first != NULL)
        args[count++] = first;
    for (char *save, *word = strtok_r(storage, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save))
        args[count++] = word;
    if (last != NULL)
        args[count++] = last;
    args[count] = NULL;
}

/* Words with a space between them: help is broken into lines anywhere. */
static struct lks_str in_a_line(struct lks_str text, struct lks_buf *out)
{
    struct lks_str line, word;
    while (lks_str_cut(text, '\n', &line, &text)) {
        while (lks_str_word(&line, &word)) {
            lks_buf_add(out, word);
            lks_buf_add(out, LKS_STR(" "));
        }
    }
    return lks_buf_view(out);
}

/* Only a word that is longer than a line may be wider than the terminal, and an example, which is
 * pasted whole. */
static void check_width(struct lks_str text, size_t columns)
{
    struct lks_str line;
    while (lks_str_cut(text, '\n', &line, &text)) {
        struct lks_str trimmed = lks_str_trim(line), word;
        lks_str_word(&trimmed, &word);
        bool alone = lks_str_trim(trimmed).len == 0;
        if (!alone && !lks_str_starts(line, "usage: ") && !lks_str_starts(line, "  lockstep "))
            CHECK(lks_term_columns(line) <= columns);
    }
}

static void check_help(const struct lks_command *command, const char *const *args)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
    struct lks_run run = lks_run(args), narrow = lks_run_wide(args, 50);
    check_width(run.out, 80);
    check_width(narrow.out, 50);
    lks_run_fini(&narrow);
    CHECK_INT(run.exit, 0);
    CHECK_STR(run.err, "");
    struct lks_str said = in_a_line(run.out, &text);
    CHECK_HAS(said, command->summary);
    const struct lks_option *tables[] = {lks_cli_common(command), command->options};
    for (size_t i = 0; i < LKS_COUNT(tables); i++) {
        for (const struct lks_option *o = tables[i]; o != NULL && o->usage != NULL; o++) {
            CHECK_HAS(said, o->usage);
            CHECK_HAS(said, o->about);
        }
    }
    lks_run_fini(&run);
}

static void test_help(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        lks_test_case("%s", lks_commands[i].name);
        const char *args[6];
        char storage[64];
        words_of(lks_commands[i].name, storage, sizeof(storage), "help", NULL, args);
        check_help(&lks_commands[i], args);
        words_of(lks_commands[i].name, storage, sizeof(storage), NULL, "--help", args);
        check_help(&lks_commands[i], args);
    }
}

/* Each command that has a word behind it is in the help of the first. */
static void test_group_help(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(1 << 20);
        struct lks_str name = lks_str_from(lks_commands[i].name), group, rest;
        char word[32], line[128];
        if (!lks_str_cut(name, ' ', &group, &rest))
            continue;
        snprintf(word, sizeof(word), "%" LKS_STR_FMT, LKS_STR_ARG(group));
        lks_test_case("%s --help: %s", word, lks_commands[i].name);
        struct lks_run run = lks_run((const char *const[]){word, "--help", NULL});
        struct lks_run json = lks_run((const char *const[]){word, "--help", "--json", NULL});
        struct lks_run help = lks_run((const char *const[]){"help", word, NULL});
        struct lks_run said = lks_run((const char *const[]){"help", word, "--json", NULL});
        CHECK_INT(run.exit, 0);
        CHECK_STR(run.err, "");
        snprintf(line, sizeof(line), "usage: lockstep %s COMMAND [ARGUMENT...]\n", word);
        CHECK(lks_str_starts(run.out, line));
        snprintf(line, sizeof(line), "\n  %s ", lks_commands[i].name);
        CHECK_HAS(run.out, line);
        CHECK_HAS(in_a_line(run.out, &text), lks_commands[i].summary);
        CHECK(lks_str_find(run.out, LKS_STR("\n  version ")) < 0);
        snprintf(line, sizeof(line), "\"name\":\"%s\"", lks_commands[i].name);
        CHECK_INT(json.exit, 0);
        CHECK_HAS(json.out, line);
        CHECK(lks_str_find(json.out, LKS_STR("\"name\":\"version\"")) < 0);
        CHECK_INT(help.exit, 0);
        CHECK_STR(help.err, "");
        CHECK(lks_str_eq(help.out, run.out));
        CHECK(lks_str_eq(said.out, json.out));
        lks_run_fini(&help);
        lks_run_fini(&said);
        lks_run_fini(&run);
        lks_run_fini(&json);
    }
}

/* A person sees all of the overview at once on the smallest terminal there is. */
static void test_overview(void)
{
    static const unsigned widths[] = {0, 80, 200};
    for (size_t i = 0; i < LKS_COUNT(widths); i++) {
        lks_test_case("%u columns", widths[i]);
        struct lks_run run = lks_run_wide((const char *const[]){"help", NULL}, widths[i]);
        CHECK_INT(run.exit, 0);
        CHECK(lks_str_count(run.out, '\n') < 24);
        check_width(run.out, 80);
        for (size_t g = 0; g < lks_command_group_count; g++)
            CHECK_HAS(run.out, lks_command_groups[g].name);
        lks_run_fini(&run);
    }
}

/* Each command is in the list of its group, and in no other's. */
static void test_groups(void)
{
    for (size_t g = 0; g < lks_command_group_count; g++) {
        const char *name = lks_command_groups[g].name;
        struct lks_run run = lks_run((const char *const[]){"help", name, NULL});
        struct lks_run json = lks_run((const char *const[]){"help", name, "--json", NULL});
        CHECK_HAS(run.out, lks_command_groups[g].title);
        for (size_t i = 0; i < lks_command_count; i++) {
            char line[64], member[96];
            size_t family = strcspn(lks_commands[i].name, " ");
            bool listed =
                (size_t)lks_commands[i].group == g ||
                (strlen(name) == family && strncmp(lks_commands[i].name, name, family) == 0);
            lks_test_case("%s: %s", name, lks_commands[i].name);
            snprintf(line, sizeof(line), "\n  %s ", lks_commands[i].name);
            snprintf(member, sizeof(member), "{\"name\":\"%s\",\"group\":\"", lks_commands[i].name);
            CHECK((lks_str_find(run.out, lks_str_from(line)) >= 0) == listed);
            CHECK((lks_str_find(json.out, lks_str_from(member)) >= 0) == listed);
        }
        lks_run_fini(&run);
        lks_run_fini(&json);
    }
}

/* Explain ------------------------------------------------------------------------------------ */

static const struct {
    const char *path;
    int exit;
    const char *says[3];
} explained[] = {
    {"node", 0, {"A node or an asset of the fleet.", "\n  liveness <", "Whether its heartbeats"}},
    {"node.liveness", 0, {"Type: unseen, live, late, lost\n", "Whether its heartbeats arrive."}},
    {"stack.components.driver.version", 0, {"Type: version, in quotes\n"}},
    {"stack.driver.version", 0, {"Type: version, in quotes\n"}},
    {"stack.digest", 0, {"stack.digest (table of the state)"}},
    {"fleet.pools.posture", 0, {"Type: name\nRequired.\n", "class of workload"}},
    {"fleet.pools.train.posture", 0, {"Type: name\nRequired.\n", "class of workload"}},
    {"hardware-class.gpu", 0, {"Type: map\n", "\nFields:\n"}},
    {"bundle.files", 0, {"(manifest of kind Bundle)", "\nFields:\n"}},
    {"change.state", 0, {"\nTransitions:\n", "  approved -> running: a person started it\n"}},
    {"change.wave.state", 0, {"\nTransitions:\n"}},
    {"record.held.reason", 0, {"(journal)", "Type: text\n"}},
    {"config.http.idle_ms", 0, {"(lockstepd.yaml)", "Default: 120000\n"}},
    {"nod", 2, {"no kind 'nod'; did you mean 'node'? See 'lockstep explain node'\n"}},
    {"node.livness",
     2,
     {"no field 'livness'; did you mean 'liveness'? See 'lockstep explain node'"}},
    {"fleet.pools.postur", 2, {"no field 'postur'; did you mean 'posture'?"}},
    {"stack.driver.vesion", 2, {"no field 'vesion'; did you mean 'version'?"}},
    {"stack.digst", 2, {"no field 'digst'; did you mean 'digest'?"}},
    {"pool.baseline",
     2,
     {"no field 'baseline'; fields: posture, criticality, ",
      ", gate, description; see 'lockstep explain pool'\n"}},
    {"pool.headroom", 0, {"pool.headroom (manifest of kind Fleet)", "absent: a tenth of the"}},
    {"pool.posture", 0, {"(manifest of kind Fleet)", "(table of the state)"}},
    {"node.rack", 0, {"(manifest of kind Fleet)", "rack in which they are"}},
    {"asset.class", 0, {"Type: switch-tray, power-shelf,"}},
    {"record.held.baseline",
     2,
     {"; fields: node, by, reason, row; see 'lockstep explain record'\n"}},
    {"change.state.first", 2, {"no field 'first'; there are no fields inside; see "}},
    {"node.token_hash", 2, {"no field 'token_hash'; fields: "}},
    {"", 2, {"an argument is empty"}},
    {"node.", 2, {"no field ''"}},
    {".", 2, {"no kind ''"}},
};

static void test_explain(void)
{
    for (size_t i = 0; i < LKS_COUNT(explained); i++) {
        lks_test_case("explain %s", explained[i].path);
        struct lks_run run = lks_run((const char *const[]){"explain", explained[i].path, NULL});
        CHECK_INT(run.exit, explained[i].exit);
        for (size_t k = 0; k < LKS_COUNT(explained[i].says) && explained[i].says[k] != NULL; k++)
            CHECK_HAS(run.exit == 0 ? run.out : run.err, explained[i].says[k]);
        check_width(run.out, 80);
        lks_run_fini(&run);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"each command has a group and an example", test_every_command},
        {"each example is a command line", test_examples_parse},
        {"the overview fits a screen", test_overview},
        {"groups", test_groups},
        {"help of a command", test_help},
        {"help of a family", test_group_help},
        {"explain", test_explain},
        {0},
    };
    return lks_test_main(tests);
}
