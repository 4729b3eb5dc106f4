/* Contexts: what the commands write, which controller a command then asks, and files that are
 * refused. */
#include "cli/shared/context.h"

#include "base/file.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 12, TEXT_MAX = 1 << 16, OTHER_GROUP = 54321 };

/* The user: a home, and what the environment has. */
struct user {
    const char *home;
    const char *server, *ca, *token_file, *context;
};

static struct lks_cli cli_of(const struct user *u)
{
    return (struct lks_cli){.home = u->home,
                            .server = u->server,
                            .ca = u->ca,
                            .token_file = u->token_file,
                            .context_name = u->context};
}

/* Run `line`, words separated by single blanks; `out` has both streams. */
static int run(const struct user *u, const char *line, struct lks_buf *out)
{
    char words[512], *argv[WORDS_MAX] = {0}, *rest = words, *text[2] = {0};
    size_t len[2];
    int argc = 0;
    struct lks_cli cli = cli_of(u);
    snprintf(words, sizeof(words), "lockstep %s", line);
    for (char *word; argc + 1 < WORDS_MAX && (word = strtok_r(rest, " ", &rest)) != NULL;)
        argv[argc++] = word;
    cli.out = open_memstream(&text[0], &len[0]);
    cli.err = open_memstream(&text[1], &len[1]);
    int status = lks_cli_run(&cli, argc, argv);
    fclose(cli.out);
    fclose(cli.err);
    for (int i = 0; i < 2; i++) {
        lks_buf_add(out, (struct lks_str){text[i], len[i]});
        free(text[i]);
    }
    return status;
}

/* Commands ---------------------------------------------------------------------------------- */

#define FILE_NAME "/.config/lockstep/contexts.yaml"
#define LAB       "- name: lab\n  server: unix:/run/lab.sock\n"
#define PROD                                                                                       \
    "- name: prod\n  server: https://ctl1:7443\n  ca: /etc/ca.crt\n  token_file: "                 \
    "/home/kim/token\n"

/* In order: each line goes on from the file that the one before left. */
static const struct {
    const char *line;
    int exit;
    const char *said;
    const char *file; /* NULL: as it was */
} steps[] = {
    {"config ls", 0, "no contexts; 'lockstep config set NAME --server ADDRESS' adds one\n", NULL},
    {"config use prod", 3, "lockstep: no context 'prod'; 'lockstep config ls' lists them\n", NULL},
    {"config set prod", 2,
     "lockstep: --server has to say where lockstepd is: https://HOST:PORT or unix:/PATH\n", NULL},
    {"config set prod --server ctl1:7443", 2,
     "lockstep: --server: 'ctl1:7443' is not https://HOST:PORT or unix:/PATH\n", NULL},
#define NO_ADDRESS(address)                                                                        \
    {                                                                                              \
        "config set odd --server " address, 2,                                                     \
            "lockstep: --server: '" address "' is not https://HOST:PORT or unix:/PATH\n", NULL     \
    }
    NO_ADDRESS("https://"),
    NO_ADDRESS("https://:7443"),
    NO_ADDRESS("https://ctl1:0"),
    NO_ADDRESS("https://ctl1:70000"),
    NO_ADDRESS("https://ctl1:http"),
    NO_ADDRESS("https://ctl1:7443/v1"),
    NO_ADDRESS("https://kim@ctl1"),
    NO_ADDRESS("https://[::1"),
    NO_ADDRESS("unix:lockstepd.sock"),
    {"config set Prod --server https://ctl1:7443", 2,
     "lockstep: 'Prod' is no name for a context: lower-case letters, digits, '.', '-' and '_'\n",
     NULL},
    {"config set prod --server https://ctl1:7443 --ca /etc/ca.crt", 0,
     "the current context is prod\n",
     "current: prod\ncontexts:\n- name: prod\n  server: https://ctl1:7443\n  ca: /etc/ca.crt\n"},
    {"config set prod --token-file /home/kim/token", 0, "context prod (https://ctl1:7443) is in ",
     "current: prod\ncontexts:\n" PROD},
    {"config set lab --server unix:/run/lab.sock", 0, "the current context is prod\n",
     "current: prod\ncontexts:\n" PROD LAB},
    {"config use lbb", 3,
     "lockstep: no context 'lbb'; did you mean 'lab'?; 'lockstep config ls' lists them\n", NULL},
    {"config use lab", 0, "the current context is lab (unix:/run/lab.sock)\n",
     "current: lab\ncontexts:\n" PROD LAB},
    {"config ls", 0, "*        lab   unix:/run/lab.sock", NULL},
    {"config ls --json", 0,
     "{\"items\":[{\"name\":\"prod\",\"server\":\"https://ctl1:7443\",\"ca\":\"/etc/ca.crt\","
     "\"token_file\":\"/home/kim/token\",\"current\":false},{\"name\":\"lab\","
     "\"server\":\"unix:/run/lab.sock\",\"current\":true}],\"file\":\"",
     NULL},
    {"config set prod --server https://ctl1:7443", 0, "the current context is lab\n",
     "current: lab\ncontexts:\n" LAB PROD},
    {"config set prod --server https://ctl2:7443", 0,
     "the current context is lab\nremoved: CA /etc/ca.crt; --ca FILE adds one\n"
     "removed: token file /home/kim/token; --token-file FILE adds one\n",
     "current: lab\ncontexts:\n" LAB "- name: prod\n  server: https://ctl2:7443\n"},
    {"config set prod --server https://ctl1:7443 --ca /etc/ca.crt --token-file /home/kim/token", 0,
     "the current context is lab\n", "current: lab\ncontexts:\n" LAB PROD},
    {"config set prod --no-ca --json", 0, "\"removed_ca\":\"/etc/ca.crt\",\"file\":",
     "current: lab\ncontexts:\n" LAB
     "- name: prod\n  server: https://ctl1:7443\n  token_file: /home/kim/token\n"},
    {"config set prod --ca /etc/ca.crt --no-ca", 2,
     "lockstep: --ca and --no-ca contradict each other\n", NULL},
    {"config set prod --ca /etc/ca.crt", 0, "the current context is lab\n",
     "current: lab\ncontexts:\n" LAB PROD},
    {"config rm lab", 0,
     "context lab is removed; no context is current: 'lockstep config use NAME' chooses one\n",
     "contexts:\n" PROD},
    {"config rm prod", 0, "context prod is removed; no context is current", "contexts: []\n"},
};

static void test_commands(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    char path[PATH_MAX + sizeof(FILE_NAME)];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf was = LKS_BUF(TEXT_MAX);
    snprintf(path, sizeof(path), "%s" FILE_NAME, u.home);
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        lks_test_case("%zu: %s", i, steps[i].line);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        struct stat st;
        CHECK_INT(run(&u, steps[i].line, &said), steps[i].exit);
        CHECK_HAS(lks_buf_view(&said), steps[i].said);
        if (steps[i].file != NULL) {
            lks_buf_truncate(&was, 0);
            lks_buf_add(&was, lks_str_from(steps[i].file));
        }
        if (was.len > 0)
            CHECK_CODE(lks_file_read_plain(path, &file, &err), LKS_OK);
        CHECK_STR(lks_buf_view(&file), was.len > 0 ? was.ptr : "");
        if (was.len > 0 && CHECK(stat(path, &st) == 0))
            CHECK_INT(st.st_mode & 0777, 0600);
    }
}

/* Which controller is asked ----------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *line;   /* options of the command */
    struct user has;    /* in its environment */
    const char *server; /* that it asks, with these; NULL: none is named */
    const char *ca, *token_file;
    const char *context; /* in use; "": none */
    const char *message; /* refused */
} asked[] = {
    {"the current context", "", {0}, "https://prod:1", "/prod.crt", "/prod.token", "prod", NULL},
    {"--context", "--context lab", {0}, "unix:/lab.sock", NULL, NULL, "lab", NULL},
    {"$LOCKSTEP_CONTEXT", "", {.context = "lab"}, "unix:/lab.sock", NULL, NULL, "lab", NULL},
    {"--context wins over $LOCKSTEP_CONTEXT",
     "--context prod",
     {.context = "lab"},
     "https://prod:1",
     "/prod.crt",
     "/prod.token",
     "prod",
     NULL},
    {"$LOCKSTEP_SERVER wins over the current context",
     "",
     {.server = "https://env:1"},
     "https://env:1",
     NULL,
     NULL,
     "",
     NULL},
    {"the token of a context goes to no other server",
     "--server https://opt:1",
     {0},
     NULL,
     NULL,
     NULL,
     "",
     NULL},
    {"the current context has its own CA and token",
     "",
     {.ca = "/env.crt", .token_file = "/env.token"},
     "https://prod:1",
     "/prod.crt",
     "/prod.token",
     "prod",
     NULL},
    {"a token of the environment does not go to $LOCKSTEP_CONTEXT",
     "",
     {.ca = "/env.crt", .token_file = "/env.token", .context = "lab"},
     "unix:/lab.sock",
     NULL,
     NULL,
     "lab",
     NULL},
    {"the CA and the token of the environment go with its server",
     "",
     {.server = "https://env:1", .ca = "/env.crt", .token_file = "/env.token"},
     "https://env:1",
     "/env.crt",
     "/env.token",
     "",
     NULL},
    {"--context wins over the environment",
     "--context prod",
     {.server = "https://env:1", .ca = "/env.crt", .token_file = "/env.token"},
     "https://prod:1",
     "/prod.crt",
     "/prod.token",
     "prod",
     NULL},
    {"two answers of the command line",
     "--context prod --server https://opt:1",
     {0},
     NULL,
     NULL,
     NULL,
     "",
     "--context and --server both name a controller"},
    {"two answers of the environment",
     "",
     {.server = "https://env:1", .context = "prod"},
     NULL,
     NULL,
     NULL,
     "",
     "$LOCKSTEP_CONTEXT and $LOCKSTEP_SERVER both name a controller; unset one"},
    {"a context that is not there",
     "--context prud",
     {0},
     NULL,
     NULL,
     NULL,
     "",
     "no context 'prud'; did you mean 'prod'?; 'lockstep config ls' lists them"},
};

static void check_text(const char *is, const char *expected)
{
    CHECK_STR(lks_str_from(is != NULL ? is : "none"), expected != NULL ? expected : "none");
}

static void check_asked(const char *home, size_t i)
{
    static const struct lks_option options[] = {
        {"--context NAME", ""}, {"--server ADDRESS", ""}, {0}};
    struct user u = asked[i].has;
    char words[128], *argv[WORDS_MAX] = {0}, *rest = words;
    struct lks_args args;
    struct lks_err err = {0};
    int argc = 0;
    u.home = home;
    struct lks_cli cli = cli_of(&u);
    snprintf(words, sizeof(words), "%s", asked[i].line);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        argv[argc++] = word;
    CHECK_CODE(lks_args_read(argc, argv, options, &args, &err), LKS_OK);
    bool fine = lks_context_apply(&cli, &args, &err) == LKS_OK;
    CHECK_STR(lks_str_from(fine ? "" : err.msg), fine ? "" : asked[i].message);
    CHECK(fine == (asked[i].message == NULL));
    check_text(cli.context.name, asked[i].context);
    if (!fine || lks_args_has(&args, "--server"))
        return;
    check_text(cli.server, asked[i].server);
    check_text(cli.ca, asked[i].ca);
    check_text(cli.token_file, asked[i].token_file);
    CHECK_CODE(lks_context_apply(&cli, &args, &err), LKS_OK); /* and once is enough */
    check_text(cli.server, asked[i].server);
}

static void test_asked(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    CHECK_INT(run(&u,
                  "config set prod --server https://prod:1 --ca /prod.crt --token-file "
                  "/prod.token",
                  &said),
              0);
    CHECK_INT(run(&u, "config set lab --server unix:/lab.sock", &said), 0);
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        lks_test_case("%s", asked[i].name);
        check_asked(home.path, i);
    }
}

/* Shown once, before something is changed. No server answers here: the line is printed before the
 * request. */
static void test_shown(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf set = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf act = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf look = LKS_BUF(TEXT_MAX);
    CHECK_INT(run(&u, "config set lab --server unix:/nonexistent/lab.sock", &set), 0);
    CHECK_INT(run(&u, "node hold gpu001 --reason test", &act), 4);
    CHECK(lks_str_starts(lks_buf_view(&act), "context lab (unix:/nonexistent/lab.sock)\n"
                                             "lockstep: "));
    CHECK_INT(run(&u, "node ls", &look), 4);
    CHECK(lks_str_starts(lks_buf_view(&look), "lockstep: "));
}

/* Files ------------------------------------------------------------------------------------- */

#define ONE "contexts: [{name: a, server: 'unix:/a'}]\n"
static const struct {
    const char *name;
    const char *text;
    const char *message;
} files[] = {
    {"one context", ONE, NULL},
    {"nothing", "", "f: holds nothing"},
    {"two documents", ONE "---\n" ONE, "f: holds more than one document"},
    {"an unknown key", "contexts: []\ncolour: red\n", "f:2:1: colour: unknown"},
    {"a token in the file", "contexts: [{name: a, server: 'unix:/a', token: x}]", "token"},
    {"no server", "contexts: [{name: a}]\n", "server"},
    {"a server of an unknown scheme", "contexts: [{name: a, server: 'http://a'}]\n",
     "not https://HOST:PORT or unix:/PATH"},
    {"a path from wherever one stands", "contexts: [{name: a, server: 'unix:/a', ca: ca.crt}]\n",
     "not a path from the root"},
    {"a name twice", "contexts: [{name: a, server: 'unix:/a'}, {name: a, server: 'unix:/b'}]\n",
     "two contexts are called 'a'"},
    {"a current one that is not there", "current: b\n" ONE, "no context 'b'"},
};

static void test_files(void)
{
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        lks_test_case("%s", files[i].name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_docs_init(&docs, "f", &err), LKS_OK);
        enum lks_code code = lks_context_parse(lks_str_from(files[i].text), &docs, &err);
        CHECK_CODE(code, files[i].message == NULL ? LKS_OK : LKS_E_INVALID);
        if (files[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), files[i].message);
    }
}

static void check_run(const struct user *u, const char *line, int exit, const char *said)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
    lks_test_case("%s", line);
    CHECK_INT(run(u, line, &out), exit);
    CHECK_HAS(lks_buf_view(&out), said);
}

/* A file that others can write, or put another in the place of, could send the token to their
 * server. Exit status 1 would be an answer of the command. A command that asks no controller does
 * not care. */
static void test_others(void)
{
    static const struct {
        const char *path;
        mode_t open, closed;
    } modes[] = {{FILE_NAME, 0622, 0600},
                 {FILE_NAME, 0620, 0600},
                 {"/.config/lockstep", 0770, 0700},
                 {"/.config", 0777, 0700},
                 {"", 0777, 0700}};
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    char path[PATH_MAX + sizeof(FILE_NAME)], offline[256],
        advice[PATH_MAX + sizeof(FILE_NAME) + 64];
    snprintf(offline, sizeof(offline), "trust ls --state %s", home.path);
    check_run(&u, "config set lab --server unix:/nonexistent/lab.sock", 0, "");
    for (size_t i = 0; i < LKS_COUNT(modes); i++) {
        snprintf(path, sizeof(path), "%s%s", home.path, modes[i].path);
        CHECK_INT(chmod(path, modes[i].open), 0);
        snprintf(advice, sizeof(advice), "remove their permission: chmod go-w %s\n", path);
        check_run(&u, "node ls", 3, "others can write there");
        check_run(&u, "config ls", 3, advice);
        CHECK_INT(chmod(path, modes[i].closed), 0);
        check_run(&u, "node ls", 4, "/nonexistent/lab.sock");
    }
    snprintf(path, sizeof(path), "%s" FILE_NAME, home.path);
    CHECK_INT(chmod(path, 0622), 0);
    check_run(&u, offline, 0, "");
}

/* A group that is the user's own, as many systems make one, may write the folders above; another
 * group may not, and none may write the folder of the contexts. */
static void test_own_group(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    const struct passwd *user = getpwuid(geteuid());
    const struct group *group = getgrgid(user != NULL ? user->pw_gid : 0);
    bool own = user != NULL && group != NULL && strcmp(user->pw_name, group->gr_name) == 0 &&
               (group->gr_mem[0] == NULL || strcmp(group->gr_mem[0], user->pw_name) == 0);
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/.config", home.path);
    check_run(&u, "config set lab --server unix:/nonexistent/lab.sock", 0, "");
    if (user != NULL)
        CHECK_INT(chown(path, (uid_t)-1, user->pw_gid), 0);
    CHECK_INT(chmod(path, 0775), 0);
    check_run(&u, "node ls", own ? 4 : 3, own ? "/nonexistent/lab.sock" : "others can write there");
    check_run(&u, "config ls", own ? 0 : 3, "lab");
    if (chown(path, (uid_t)-1, OTHER_GROUP) == 0) { /* as root alone */
        CHECK_INT(chmod(path, 0775), 0);
        check_run(&u, "node ls", 3, "others can write there");
    }
}

/* A file that cannot be opened is no reason to ask the socket of this machine. */
static void test_links(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    char path[PATH_MAX + sizeof(FILE_NAME)], moved[PATH_MAX + sizeof(FILE_NAME)];
    struct stat st;
    snprintf(path, sizeof(path), "%s" FILE_NAME, home.path);
    snprintf(moved, sizeof(moved), "%s/dotfile", home.path);
    check_run(&u, "config set lab --server unix:/nonexistent/lab.sock", 0, "");
    CHECK_INT(rename(path, moved), 0);
    CHECK_INT(symlink(moved, path), 0);
    check_run(&u, "node ls", 4, "/nonexistent/lab.sock");
    check_run(&u, "config set prod --server https://prod:1", 0, "");
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    check_run(&u, "config ls", 0, "https://prod:1");
    CHECK_INT(unlink(moved), 0);
    check_run(&u, "node ls", 3, "contexts.yaml: is a link to a file that is not there");
    CHECK_INT(symlink(path, moved), 0);
    check_run(&u, "node ls", 3, "Too many levels of symbolic links");
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkdir(path, 0700), 0);
    check_run(&u, "node ls", 3, "is not a plain file");
}

/* On a full disk the contexts stay as they were, and the exit status is that of local files. */
static void test_full(void)
{
    static const struct {
        const char *line, *said;
    } rows[] = {
        {"config set prod --server https://prod:1",
         "/contexts.yaml: File too large; the file is as it was before\n"},
        {"config rm lab", "/contexts.yaml: File too large; the file is as it was before\n"},
        {"trust add site KEY --reason ours --state DIR", "/history: File too large\n"},
    };
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    struct rlimit before, none = {0};
    char line[512];
    check_run(&u, "config set lab --server unix:/nonexistent/lab.sock", 0, "");
    snprintf(line, sizeof(line), "trust key site --output %s/key.pem", home.path);
    check_run(&u, line, 0, "");
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    none.rlim_max = before.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        snprintf(line, sizeof(line), "%s", rows[i].line);
        if (strncmp(line, "trust", 5) == 0)
            snprintf(line, sizeof(line), "trust add site %s/key.pem.pub --reason ours --state %s",
                     home.path, home.path);
        CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        int status = run(&u, line, &out);
        CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
        lks_test_case("%s", rows[i].line);
        CHECK_INT(status, 6);
        CHECK_HAS(lks_buf_view(&out), rows[i].said);
    }
    signal(SIGXFSZ, handler);
    check_run(&u, "config ls", 0, "unix:/nonexistent/lab.sock");
    check_run(&u, "node ls", 4, "/nonexistent/lab.sock");
}

/* A folder that a link replaces, as managers of configuration files do it. */
static void test_folder_link(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    check_run(&u, "config ls", 0, "no contexts");
    lks_tree_link(&home, "/.config/lockstep", "../elsewhere");
    check_run(&u, "node ls", 3, "lockstep: is a link to a file that is not there");
}

/* No update is lost where commands run at the same time. */
static void test_parallel(void)
{
    enum { WRITERS = 8 };
    LKS_CLEANUP(lks_tree_free) struct lks_tree home = lks_tree_new();
    const struct user u = {.home = home.path};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf all = LKS_BUF(TEXT_MAX);
    for (int i = 0; i < WRITERS; i++) {
        pid_t pid = fork();
        if (pid != 0)
            continue;
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        char line[64];
        snprintf(line, sizeof(line), "config set c%d --server unix:/c%d", i, i);
        _exit(run(&u, line, &out));
    }
    for (int i = 0, status; i < WRITERS; i++)
        CHECK(wait(&status) > 0 && status == 0);
    CHECK_INT(run(&u, "config ls --json", &all), 0);
    for (int i = 0; i < WRITERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "{\"name\":\"c%d\"", i);
        CHECK_HAS(lks_buf_view(&all), name);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"context: commands", test_commands},
        {"context: the controller that is asked", test_asked},
        {"context: shown before an act", test_shown},
        {"context: files", test_files},
        {"context: a file that others can write", test_others},
        {"context: the user's own group", test_own_group},
        {"context: links", test_links},
        {"context: a folder that is a link", test_folder_link},
        {"context: commands at the same time", test_parallel},
        {"context: a full disk", test_full},
        {0},
    });
}
