/* Completion of command lines: what is offered at the cursor, which every shell shows. */
#include "base/file.h"
#include "cli/main/complete.h"
#include "tests/run_cli.h"
#include "tests/tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* What `line` offers, words alone, separated by '|'. Nothing is ever said on the other stream. */
static void words_at(struct lks_cli *cli, const char *line, struct lks_buf *out)
{
    char *text = NULL, *said = NULL;
    size_t len = 0, said_len = 0;
    char *argv[] = {(char *)(uintptr_t) "lockstep", (char *)(uintptr_t) "__complete",
                    (char *)(uintptr_t)line, NULL};
    cli->out = open_memstream(&text, &len);
    cli->err = open_memstream(&said, &said_len);
    CHECK(lks_cli_run(cli, 3, argv) == 0);
    fclose(cli->out);
    fclose(cli->err);
    CHECK(said_len == 0);
    struct lks_str rest = {text, len}, row, word, about;
    lks_buf_truncate(out, 0);
    while (rest.len > 0) {
        lks_str_cut(rest, '\n', &row, &rest);
        lks_str_cut(row, '\t', &word, &about);
        lks_buf_addf(out, "%s%" LKS_STR_FMT, out->len > 0 ? "|" : "", LKS_STR_ARG(word));
    }
    free(text);
    free(said);
}

struct row {
    const char *name, *line, *words;
};

static void check_rows(struct lks_cli *cli, const struct row *rows, size_t count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 20);
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s: '%s'", rows[i].name, rows[i].line);
        words_at(cli, rows[i].line, &words);
        CHECK_STR(lks_buf_view(&words), rows[i].words);
    }
}

/* Without lockstepd -------------------------------------------------------------------------- */

static const struct row rows[] = {
    {"the program alone", "lockstep", ""},
    {"the first letters of a command", "lockstep inv", "inventory"},
    {"a group, once", "lockstep pl", "pldm"},
    {"commands of a group", "lockstep pldm ", "inspect|verify|build"},
    {"one command of a group", "lockstep pldm v", "verify"},
    {"blanks between", "  lockstep   pldm  v", "verify"},
    {"a whole word", "lockstep pldm verify", "verify"},
    {"the program by its path", "/usr/local/bin/lockstep pldm v", "verify"},
    {"no such command", "lockstep nosuch ", ""},
    {"options before a command", "lockstep --v", "--version"},
    {"the hidden command", "lockstep __c", ""},
    {"commands to explain", "lockstep help pld", "pldm"},
    {"all commands for a purpose to explain", "lockstep help oper", "operate"},
    {"a group and a purpose of one name, once", "lockstep help chan", "change"},
    {"commands of a group to explain", "lockstep help pldm b", "build"},
    {"shells", "lockstep completion ", "bash|zsh|fish"},

    {"an option", "lockstep xid 79 --sx", "--sxid"},
    {"options of every command", "lockstep xid 79 --js", "--json"},
    {"an option that was given", "lockstep xid --sxid 79 --sx", ""},
    {"with its value as one word", "lockstep compat --gpu=H100 --gp", ""},
    {"an option that may be repeated", "lockstep admit --image a --ima", "--image"},
    {"options where no argument follows", "lockstep sim down d ",
     "--output|--json|--no-pager|--data|--help"},
    {"options ended", "lockstep pldm inspect -- --", ":file"},

    {"names of an enum", "lockstep fleet import --posture p", "pre-training|post-training"},
    {"an enum in a usage line", "lockstep compat --modules p", "proprietary"},
    {"a value behind an equals sign", "lockstep fleet import --posture=b", "--posture=batch"},
    {"a name with a blank, in quotes", "lockstep drift --cause 'pack", "package manager"},
    {"in double quotes", "lockstep drift --cause \"package m", "package manager"},
    {"behind a backslash", "lockstep drift --cause package\\ m", "package manager"},
    {"roles", "lockstep access grant kim a", "approver|admin"},
    {"stages", "lockstep stack promote december c", "canary"},
    {"states and more", "lockstep change show 7 --nodes a", "asked|all"},
    {"kinds of alarms", "lockstep alarm ls --kind cl", "clock"},
    {"kinds of records", "lockstep journal export --kind alarm-rel", "alarm-released"},
    {"what can be set", "lockstep node set n1 ass", "assigned_to="},
    {"executors of a node", "lockstep node command n1 r", "reboot"},
    {"formats", "lockstep node ls --output ", "table|wide|json|yaml|name"},
    {"formats of a short name", "lockstep node ls -o y", "yaml"},
    {"a file to write", "lockstep trust key k --output=", ":file"},
    {"keys of a selector", "lockstep node ls --selector po", "pool="},
    {"the second term of a selector", "lockstep change ls -l id=7,sta",
     "id=7,stack=|id=7,state=|id=7,started=|id=7,started_by=|id=7,standby="},
    {"columns of rows that are not of the state", "lockstep change ls --columns id,sta",
     "id,stack|id,state|id,started|id,started_by|id,standby"},
    {"columns", "lockstep node ls --columns na", "name"},
    {"the second of several columns", "lockstep node ls --columns name,po", "name,pool"},
    {"columns behind an equals sign", "lockstep node ls --columns=name,po", "--columns=name,pool"},
    {"a column to sort by", "lockstep node ls --sort-by na", "name"},
    {"in reverse order", "lockstep node ls --sort-by -na", "-name"},

    {"files", "lockstep stack digest ", ":file"},
    {"one more file", "lockstep stack lint a.yaml b", ":file"},
    {"no more files", "lockstep stack digest a.yaml b", ""},
    {"folders", "lockstep sim down ", ":dir"},
    {"files or folders", "lockstep bundle build x", ":file|:dir"},
    {"the file of an option", "lockstep fleet import --csv ", ":file"},
    {"numbers", "lockstep xid 7", ""},
    {"texts", "lockstep freeze --reason wor", ""},
    {"the argument behind an option", "lockstep xid --driver 580 --s", "--sxid"},

    {"names without lockstepd", "lockstep node show g", ""},
    {"pools without lockstepd", "lockstep node ls --pool ", ""},
};

static void the_table(void)
{
    struct lks_cli cli = {.server = "unix:/nonexistent/socket"};
    check_rows(&cli, rows, LKS_COUNT(rows));
}

/* Whether `list` has `word` between its bars. */
static bool offers(struct lks_str list, const char *word, size_t len)
{
    struct lks_str one;
    while (list.len > 0) {
        lks_str_cut(list, '|', &one, &list);
        if (lks_str_eq(one, (struct lks_str){word, len}))
            return true;
    }
    return false;
}

/* Each command and each of its options is offered one letter before its end. */
static void every_command_and_option(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 20);
    struct lks_cli cli = {.server = "unix:/nonexistent/socket"};
    char line[256];
    for (const struct lks_command *c = lks_commands; c < lks_commands + lks_command_count; c++) {
        struct lks_str last = lks_str_last(lks_str_from(c->name), ' ');
        snprintf(line, sizeof(line), "lockstep %.*s", (int)strlen(c->name) - 1, c->name);
        lks_test_case("'%s'", line);
        words_at(&cli, line, &words);
        CHECK(offers(lks_buf_view(&words), last.ptr, last.len));
        for (const struct lks_option *o = c->options; o != NULL && o->usage != NULL; o++) {
            struct lks_str name = lks_args_name(o);
            snprintf(line, sizeof(line), "lockstep %s %.*s", c->name, (int)name.len - 1, name.ptr);
            lks_test_case("'%s'", line);
            words_at(&cli, line, &words);
            CHECK(offers(lks_buf_view(&words), name.ptr, name.len));
        }
    }
}

/* A value that is new in a usage line needs a row of the table, also one without words. */
static void check_value(const struct lks_command *command, struct lks_str name,
                        struct lks_str value)
{
    while (value.len > 0) {
        struct lks_str one;
        size_t count = 0;
        lks_str_cut(value, '|', &one, &value);
        while (one.len > 0 && strchr("[", one.ptr[0]) != NULL)
            one = (struct lks_str){one.ptr + 1, one.len - 1};
        while (one.len > 0 && strchr(".]", one.ptr[one.len - 1]) != NULL)
            one.len--;
        bool is_word = one.len > 0 && one.ptr[0] >= 'a' && one.ptr[0] <= 'z';
        if (!is_word)
            (void)lks_complete_table_find(command, name, one, &count);
        lks_test_case("a row of src/cli/main/complete_table.c for %s %.*s %.*s", command->name,
                      LKS_STR_ARG(name), LKS_STR_ARG(one));
        CHECK(is_word || count > 0);
    }
}

static void every_value(void)
{
    for (const struct lks_command *c = lks_commands; c < lks_commands + lks_command_count; c++) {
        struct lks_str rest = lks_str_from(c->args), word;
        while (lks_str_word(&rest, &word))
            check_value(c, LKS_STR(""), word);
        for (const struct lks_option *o = c->options; o != NULL && o->usage != NULL; o++) {
            if (lks_args_value(o) != NULL)
                check_value(c, lks_args_name(o), lks_str_from(lks_args_value(o)));
        }
    }
}

/* Lines that no person types: very long, with many words, with bytes of any kind. */
static void odd_lines(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 20);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(1 << 20);
    struct lks_cli cli = {.server = "unix:/nonexistent/socket"};
    static const char *const odd[] = {"",
                                      " ",
                                      "\\",
                                      "lockstep \\",
                                      "lockstep '",
                                      "lockstep --",
                                      "lockstep -",
                                      "lockstep \xff\xfe",
                                      "lockstep xid --=",
                                      "lockstep node ls --columns ,",
                                      "lockstep help help help "};
    for (size_t i = 0; i < LKS_COUNT(odd); i++)
        words_at(&cli, odd[i], &words);
    lks_buf_addf(&line, "lockstep ");
    lks_buf_pad(&line, 'x', 20000);
    words_at(&cli, line.ptr, &words);
    CHECK(words.len == 0);
    lks_buf_truncate(&line, 0);
    for (size_t i = 0; i < 1000; i++)
        lks_buf_addf(&line, "lockstep ");
    words_at(&cli, line.ptr, &words);
    CHECK(words.len == 0);
}

/* With lockstepd ----------------------------------------------------------------------------- */

/* A server that answers each list with canned items, counts questions, and sees tokens. */
struct answers {
    int fd;
    char socket[108];
    atomic_uint asked, tokens;
    atomic_bool refuses;
    pthread_t thread;
};

static const struct {
    const char *path, *items;
} lists[] = {
    {"/v1/nodes", "{\"name\":\"gpu002\",\"pool\":\"train\",\"liveness\":\"live\",\"rack\":\"r1\"},"
                  "{\"name\":\"gpu001\",\"pool\":\"train\",\"liveness\":\"late\",\"rack\":\"r1\"},"
                  "{\"name\":\"bad\\u001b[2Jname\",\"liveness\":\"live\"}"},
    {"/v1/pools", "{\"name\":\"train\",\"posture\":\"batch\",\"nodes\":2},"
                  "{\"name\":\"serve\",\"posture\":\"dev\",\"nodes\":1}"},
    {"/v1/changes", "{\"id\":7,\"state\":\"running\",\"name\":\"december\"}"},
    {"/v1/alarms", "{\"id\":12,\"kind\":\"drift\",\"text\":\"gpu001\"}"},
    {"/v1/deviations", "{\"id\":3,\"nodes\":\"gpu001\",\"subject\":\"nccl\",\"reason\":\"INC-1\"}"},
    {"/v1/stacks", "{\"name\":\"december\",\"step\":\"released\"}"},
    {"/v1/bundles", "{\"name\":\"november\",\"version\":\"1\",\"signer\":\"site\"}"},
    {"/v1/trust", "{\"name\":\"site\"}"},
    {"/v1/images",
     "{\"ref\":\"registry.example/train:5\"},{\"ref\":\"x$(id)\"},{\"ref\":\"x`id`\"},"
     "{\"ref\":\"x'y\"},{\"ref\":\"x;y\"},{\"ref\":\"x y\"},{\"ref\":\"x!!\"},"
     "{\"ref\":\"--server=unix:x\"},{\"ref\":\":file\"},"
     "{\"ref\":\"[fd00::1]:5000/x+y@sha256:0\"}"},
    {"/v1/endpoints", "{\"url\":\"https://bmc1.example\",\"node\":\"gpu001\"}"},
    {"/v1/access", "{\"identity\":\"kim\",\"role\":\"viewer\",\"pool\":\"train\"}"},
};

static void answer(struct answers *a, int client)
{
    char request[4096], body[4096] = "{\"items\":[]}", reply[8192];
    size_t len = 0;
    request[0] = '\0';
    while (strstr(request, "\r\n\r\n") == NULL && len < sizeof(request) - 1) {
        ssize_t got = read(client, request + len, sizeof(request) - 1 - len);
        if (got <= 0)
            return;
        len += (size_t)got;
        request[len] = '\0';
    }
    a->asked++;
    a->tokens += strcasestr(request, "authorization:") != NULL;
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        const char *path = request + strlen("GET "), *known = lists[i].path;
        if (strncmp(path, known, strlen(known)) == 0)
            snprintf(body, sizeof(body), "{\"%s\":[%s]}",
                     strcmp(known, "/v1/access") == 0 ? "bindings" : "items", lists[i].items);
    }
    int size = snprintf(reply, sizeof(reply),
                        "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                        a->refuses ? "403 Forbidden" : "200 OK", strlen(body), body);
    CHECK(write(client, reply, (size_t)size) == size);
}

static void *serve(void *ctx)
{
    struct answers *a = ctx;
    for (int client; (client = accept(a->fd, NULL, NULL)) >= 0;) {
        answer(a, client);
        close(client);
    }
    return NULL;
}

static void answers_start(struct answers *a, const struct lks_tree *tree, const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", tree->path, name);
    *a = (struct answers){.fd = socket(AF_UNIX, SOCK_STREAM, 0)};
    snprintf(a->socket, sizeof(a->socket), "unix:%s/%s", tree->path, name);
    CHECK(bind(a->fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(a->fd, 16) == 0);
    CHECK(pthread_create(&a->thread, NULL, serve, a) == 0);
}

static void answers_stop(struct answers *a)
{
    shutdown(a->fd, SHUT_RDWR);
    pthread_join(a->thread, NULL);
    close(a->fd);
}

static const struct row live_rows[] = {
    {"a node", "lockstep node show gpu", "gpu001|gpu002"},
    {"a name that drives terminals", "lockstep node show bad", ""},
    {"the second node", "lockstep node hold gpu001,gpu00", "gpu001,gpu001|gpu001,gpu002"},
    {"nodes of an option", "lockstep admit --nodes gpu", "gpu001|gpu002"},
    {"a pool", "lockstep node ls --pool t", "train"},
    {"pools", "lockstep freeze --pool ", "serve|train"},
    {"a rack of many nodes", "lockstep node ls --rack ", "r1"},
    {"a change", "lockstep change show ", "7"},
    {"a change to approve", "lockstep change approve ", "7"},
    {"a change to rehearse", "lockstep rehearse ", "7"},
    {"an alarm", "lockstep alarm release ", "12"},
    {"a deviation", "lockstep deviation close ", "3"},
    {"a stack", "lockstep stack promote d", "december"},
    {"the stack of a change", "lockstep change propose --to ", "december"},
    {"a bundle", "lockstep bundle revoke n", "november"},
    {"a key", "lockstep trust rm ", "site"},
    {"an image", "lockstep admit --image reg", "registry.example/train:5"},
    {"names that a shell would not read as a word", "lockstep admit --image x", ""},
    {"and none of other images", "lockstep admit --image ",
     "[fd00::1]:5000/x+y@sha256:0|registry.example/train:5"},
    {"an endpoint", "lockstep bmc inventory ", "https://bmc1.example"},
    {"a person", "lockstep access revoke k", "kim"},
    {"behind an equals sign", "lockstep node ls --pool=s", "--pool=serve"},
};

static void live_names(void)
{
    struct lks_tree tree = lks_tree_new();
    struct answers a;
    answers_start(&a, &tree, "socket");
    struct lks_cli cli = {.server = a.socket, .cache_home = tree.path};
    check_rows(&cli, live_rows, LKS_COUNT(live_rows));
    answers_stop(&a);
    lks_tree_free(&tree);
}

/* A list is asked for once while its names are young, and again when they are not. */
static void the_cache(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 16);
    struct lks_tree tree = lks_tree_new();
    struct answers a;
    answers_start(&a, &tree, "socket");
    struct lks_cli cli = {.server = a.socket, .cache_home = tree.path, .now = time(NULL) + 1};
    words_at(&cli, "lockstep node show gpu001", &words);
    words_at(&cli, "lockstep node history gpu", &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(a.asked == 1);
    cli.now += 60;
    words_at(&cli, "lockstep node show gpu", &words);
    CHECK(a.asked == 2);

    cli.now = time(NULL) + 120; /* refused: the names of before, and no second question */
    a.refuses = true;
    words_at(&cli, "lockstep node show gpu", &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(a.asked == 3);
    cli.now = time(NULL) + 1;
    words_at(&cli, "lockstep node show gpu", &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(a.asked == 3);
    answers_stop(&a);

    struct stat st;
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/lockstep/names", tree.path);
    CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
    cli.cache_home = cli.home = NULL; /* no folder for a cache: and no lockstepd */
    words_at(&cli, "lockstep node show gpu", &words);
    CHECK(words.len == 0);
    lks_tree_free(&tree);
}

/* The token goes to the server of the environment alone. */
static void tokens(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 16);
    struct lks_tree tree = lks_tree_new();
    struct answers usual, other;
    char token[128], line[512];
    answers_start(&usual, &tree, "usual");
    answers_start(&other, &tree, "other");
    lks_tree_file(&tree, "/token", "lks_secret\n");
    snprintf(token, sizeof(token), "%s/token", tree.path);
    CHECK(chmod(token, 0600) == 0);
    struct lks_cli cli = {.server = usual.socket, .token_file = token};

    words_at(&cli, "lockstep node show gpu", &words);
    CHECK(usual.asked == 1 && usual.tokens == 1);

    snprintf(line, sizeof(line), "lockstep node show --server %s gpu", other.socket);
    words_at(&cli, line, &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(other.asked == 1 && other.tokens == 0);

    snprintf(line, sizeof(line), "lockstep node ls --server=%s --pool ", other.socket);
    words_at(&cli, line, &words);
    CHECK(other.asked == 2 && other.tokens == 0);

    words_at(&cli, "lockstep node show --server https://127.0.0.1:9 --ca /etc/passwd gpu", &words);
    CHECK(words.len == 0);
    CHECK(usual.asked == 1 && other.asked == 2);
    answers_stop(&usual);
    answers_stop(&other);
    lks_tree_free(&tree);
}

/* A context is a place that the user chose: it is asked, with its own token. */
static void contexts(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf words = LKS_BUF(1 << 16);
    struct lks_tree tree = lks_tree_new();
    struct answers prod, lab;
    char path[128], file[1024];
    answers_start(&prod, &tree, "prod");
    answers_start(&lab, &tree, "lab");
    lks_tree_file(&tree, "/token", "lks_secret\n");
    snprintf(path, sizeof(path), "%s/token", tree.path);
    CHECK(chmod(path, 0600) == 0);
    snprintf(file, sizeof(file),
             "current: prod\ncontexts:\n- name: prod\n  server: %s\n  token_file: %s\n"
             "- name: lab\n  server: %s\n",
             prod.socket, path, lab.socket);
    lks_tree_file(&tree, "/lockstep/contexts.yaml", file);
    snprintf(path, sizeof(path), "%s/lockstep/contexts.yaml", tree.path);
    CHECK(chmod(path, 0600) == 0);

    words_at(&(struct lks_cli){.config_home = tree.path}, "lockstep node show gpu", &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(prod.asked == 1 && prod.tokens == 1 && lab.asked == 0);
    words_at(&(struct lks_cli){.config_home = tree.path}, "lockstep node show --context lab gpu",
             &words);
    CHECK_STR(lks_buf_view(&words), "gpu001|gpu002");
    CHECK(prod.asked == 1 && lab.asked == 1 && lab.tokens == 0);
    struct lks_cli twice = {.config_home = tree.path, .context_name = "lab"};
    words_at(&twice, "lockstep node show gpu", &words);
    words_at(&twice, "lockstep node ls --pool t", &words); /* a second list of one line */
    CHECK_STR(lks_buf_view(&words), "train");
    CHECK(prod.asked == 1 && lab.asked == 3 && lab.tokens == 0);
    words_at(&(struct lks_cli){.config_home = tree.path}, "lockstep config use ", &words);
    CHECK_STR(lks_buf_view(&words), "prod|lab");
    words_at(&(struct lks_cli){.config_home = tree.path}, "lockstep node ls --context l", &words);
    CHECK_STR(lks_buf_view(&words), "lab");
    answers_stop(&prod);
    answers_stop(&lab);
    lks_tree_free(&tree);
}

/* Scripts ------------------------------------------------------------------------------------ */

static void scripts(void)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < LKS_COUNT(shells); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(1 << 16);
        struct lks_err err = {0};
        char path[128];
        snprintf(path, sizeof(path), "packaging/completion/lockstep.%s", shells[i]);
        CHECK(lks_file_read(path, &file, &err) == LKS_OK);
        struct lks_run run = lks_run((const char *[]){"completion", shells[i], NULL});
        CHECK(run.exit == 0 && lks_str_eq(run.out, lks_buf_view(&file)));
        lks_run_fini(&run);
    }
    struct lks_run run = lks_run((const char *[]){"completion", "tcsh", NULL});
    CHECK(run.exit == 2 && lks_str_find(run.err, LKS_STR("lockstep completion bash")) >= 0);
    lks_run_fini(&run);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"complete: words at the cursor", the_table},
        {"complete: every command and option", every_command_and_option},
        {"complete: every value has a row", every_value},
        {"complete: odd lines", odd_lines},
        {"complete: names of lockstepd", live_names},
        {"complete: the cache", the_cache},
        {"complete: tokens", tokens},
        {"complete: contexts", contexts},
        {"complete: scripts", scripts},
        {0},
    });
}
