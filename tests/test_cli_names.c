/* Names of things that lockstepd has, as people type them: unknown ones, starts of names, stacks of
 * the registry. Against the real daemon, one row after the other. */
#include "cli/main/each.h"
#include "tests/run_ctl.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct ctl controller;

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\nsites: {oslo: {}}\n"                                       \
    "pools: {train: {posture: dev}, serve: {posture: dev}, serving: {posture: dev}}\n"             \
    "nodes:\n"                                                                                     \
    "  - {hosts: 'gpu[001-012]', pool: train, class: hgx-h200-8, rack: rack-a, site: oslo}\n"      \
    "  - {hosts: 'web01', pool: serve, class: hgx-h200-8, rack: rack-b, site: oslo}\n"
#define STACK  "examples/h200-train.yaml"
#define DIGEST "sha256:775bf7c2743e58b9e3318b4f18617138896b3cbe19c15cb16f8fce8e2532f303"

#define NO_POOL(name, rest) "there is no pool '" name "'" rest
#define NO_NODE(name, rest) "there is no node '" name "'" rest
#define WHOLE(command)      "? " command " takes the whole name where there is no terminal\n"

static const struct lks_run_row rows[] = {
    {ARGS("fleet", "apply", "DIR/fleet.yaml", "--accept"), 0, "applied", ""},

    /* What is unknown is an error with the nearest name, in filters ... */
    {ARGS("node", "ls", "--pool", "trian"), 3, "", NO_POOL("trian", "; did you mean 'train'?")},
    {ARGS("node", "ls", "--pool", "lab"), 3, "", NO_POOL("lab", "; see lockstep fleet show")},
    {ARGS("node", "ls", "--rack", "rakc-a"), 3, "", "no rack 'rakc-a'; did you mean 'rack-a'?"},
    {ARGS("node", "ls", "--rack", "rack"), 3, "", "2 names start with it: rack-a, rack-b\n"},
    {ARGS("node", "ls", "--site", "osl0"), 3, "", "there is no site 'osl0'; did you mean 'oslo'?"},
    {ARGS("node", "ls", "--component", "drivr"), 3, "", "did you mean 'driver'?"},
    {ARGS("drift", "--pool", "trian"), 3, "", NO_POOL("trian", "; did you mean 'train'?")},
    {ARGS("drift", "--node", "gpu01"), 3, "",
     NO_NODE("gpu01", "; 3 names start with it: gpu010, gpu011, gpu012\n")},
    {ARGS("flash", "ls", "--node", "wep01"), 3, "", NO_NODE("wep01", "; did you mean 'web01'?")},
    {ARGS("endpoint", "ls", "--node", "wep01"), 3, "", NO_NODE("wep01", "; did you mean 'web01'?")},
    {ARGS("journal", "export", "--node", "wep01"), 3, "", NO_NODE("wep01", "; did you mean")},
    {ARGS("journal", "at", "now", "--node", "wep01"), 3, "", NO_NODE("wep01", "; did you mean")},
    {ARGS("journal", "at", "now", "--pool", "trian"), 3, "", NO_POOL("trian", "; did you mean")},
    /* ... and in acts. */
    {ARGS("node", "hold", "gpu1", "--reason=x"), 3, "", NO_NODE("gpu1", "; did you mean")},
    {ARGS("node", "hold", "gpu0", "--reason=x"), 3, "",
     NO_NODE("gpu0", "; 12 names start with it: gpu001, gpu002, gpu003 and 9 more\n")},
    {ARGS("node", "hold", "nobody", "--reason=x"), 3, "", NO_NODE("nobody", "; see lockstep node")},
    {ARGS("freeze", "--pool=trian", "--reason=x"), 3, "", NO_POOL("trian", "; did you mean")},
    {ARGS("change", "propose", "--to=a", "--pool=trian", "--reason=x"), 3, "",
     NO_POOL("trian", "; did you mean 'train'?")},
    {ARGS("access", "grant", "kim", "viewer", "--site=osl0"), 3, "",
     "no site 'osl0' in the fleet; did you mean 'oslo'?"},
    {ARGS("change", "pause", "9", "--reason=x"), 3, "",
     "there is no change '9'; 'lockstep change ls --all' lists them"},
    {ARGS("change", "show", "h200-train"), 3, "",
     "there is no change 'h200-train'; 'lockstep change ls --all' lists them\n"},
    {ARGS("alarm", "release", "9", "--reason=x"), 3, "", "'lockstep alarm ls --all' lists them"},

    /* The start of a name is not enough without a terminal, neither to read ... */
    {ARGS("node", "show", "web"), 3, "", WHOLE("node show")},
    {ARGS("node", "show", "web", "--json"), 3, "", WHOLE("node show")},
    {ARGS("node", "ls", "--pool", "tr"), 3, "", WHOLE("node ls")},
    {ARGS("node", "ls", "--pool", "serve"), 0, "web01", ""}, /* a whole name is no start */
    {ARGS("node", "ls", "--pool", "serv"), 3, "", "2 names start with it: serve, serving\n"},
    {ARGS("node", "show", "w"), 3, "", NO_NODE("w", "; see lockstep node ls")},
    /* ... nor to act. */
    {ARGS("node", "hold", "web", "--reason=x"), 3, "", WHOLE("node hold")},
    {ARGS("freeze", "--pool=tr", "--reason=x"), 3, "", WHOLE("freeze")},
    {ARGS("freeze", "--list"), 0, "nothing is frozen", ""},

    /* Host lists where one node is meant: a request for each, and a summary of failures. */
    {ARGS("node", "show", "gpu[001-002]"), 0, "\n\ngpu002:\n", ""},
    {ARGS("node", "show", "gpu[001-002]", "--json"), 0, "}\n{\"name\":\"gpu002\"", ""},
    {ARGS("node", "show", "gpu[011-014],web01"), 3, "\nweb01:\n", NO_NODE("gpu014", "; did you")},
    {ARGS("node", "show", "gpu[011-014],web01"), 3, "", "2 of 5 nodes failed: gpu[013-014]\n"},
    {ARGS("node", "show", "gpu[001-"), 3, "", "node show: "},
    {ARGS("node", "history", "gpu[001-002]"), 0, "gpu002:\n", ""},
    {ARGS("node", "resolve", "gpu[001-002]"), 2, "", "lockstep: --reason"},
    {ARGS("node", "resolve", "gpu[001-002]", "--reason=x"), 1, "",
     "2 of 2 nodes failed: gpu[001-002]\n"},
    {ARGS("node", "resolve", "gpu[001-011]", "--reason=x"), 1, "",
     "these are 11 nodes, and one command acts on 10; more belongs in a change"},
    {ARGS("flash", "ls", "--node", "gpu[001-012]"), 0, "no update", ""},
    {ARGS("flash", "ls", "--node", "gpu[012-013]"), 3, "", NO_NODE("gpu013", "; did you mean")},
    {ARGS("endpoint", "ls", "--node", "gpu[001-012]"), 0, "no management endpoints", ""},
    {ARGS("endpoint", "ls", "--node", "gpu[012-013]"), 3, "", NO_NODE("gpu013", "; did you mean")},
    {ARGS("drift", "--node", "gpu[012-013]"), 3, "", NO_NODE("gpu013", "; did you mean")},

    /* Columns of records. */
    {ARGS("node", "history", "gpu001", "-l", "kind=held"), 0, "nothing is recorded", ""},
    {ARGS("node", "history", "gpu001", "-l", "reason!=x", "--sort-by", "-seq"), 0, "seq", ""},
    {ARGS("node", "history", "gpu001", "-l", "bogus=1"), 2, "",
     "--selector: no column 'bogus'; give one of: seq, time, kind, node, or a member of the "
     "records"},
    {ARGS("node", "history", "gpu001", "--sort-by", "place"), 2, "", "no column 'place'; give one"},
    {ARGS("node", "history", "gpu001", "--columns", "seq,reasn"), 2, "", "did you mean 'reason'?"},

    /* Stacks of the registry. */
    {ARGS("stack", "publish", STACK), 0, "candidate", ""},
    {ARGS("stack", "ls", "--name", "h200"), 3, "", WHOLE("stack ls")},
    {ARGS("stack", "show", "h200-train"), 0, "registry: candidate\n", ""},
    {ARGS("stack", "show", "h200-train", "--json"), 0, "\"step\":\"candidate\",\"pools\":[]", ""},
    {ARGS("stack", "show", "h200"), 3, "", WHOLE("stack show")},
    {ARGS("stack", "show", "775b"), 0, "h200-train 2026.03.2", ""},
    {ARGS("stack", "show", "h200-train@2026.03.2"), 0, DIGEST, ""},
    {ARGS("stack", "show", "h200-train@1"), 3, "",
     "stack 'h200-train' has no version '1'; it has: 2026.03.2"},
    {ARGS("stack", "show", "h200-trian"), 3, "",
     "'h200-trian' is not a file; registry: there is no stack 'h200-trian'; did you mean "
     "'h200-train'?"},
    {ARGS("stack", "show", "./h200-train"), 3, "", "./h200-train: No such file"},
    {ARGS("stack", "diff", STACK, "h200-train"), 0, "the stacks are the same", ""},
    {ARGS("stack", "diff", "775b", "examples/h100-train.yaml"), 1, "change class", ""},
    {ARGS("stack", "retire", "h200", "--evidence", "x"), 3, "", WHOLE("stack retire")},
};

/* Acts whose reason may be left out, and the records that keep it. */
static const struct lks_run_row reasons[] = {
    {ARGS("fleet", "apply", "DIR/other.yaml", "--reason", "why 1"), 0, "applied", ""},
    {ARGS("access", "grant", "kim", "viewer", "--reason", "why 2"), 0, "kim: viewer", ""},
    {ARGS("access", "revoke", "kim", "viewer", "--reason", "why 3"), 0, "revoked", ""},
    {ARGS("access", "token", "ci", "kim", "--reason", "why 4"), 0, "lks_api_ci_",
     "kim has no role yet; grant one with"},
    {ARGS("access", "revoke", "ci", "--token", "--reason", "why 5"), 0, "revoked", ""},
    {ARGS("node", "enroll", "gpu001", "--reason", "why 6"), 0, "lks_node_gpu001_", ""},
    {ARGS("image", "add", "r.io/a:1", "--nccl", "2.28.3", "--reason", "why 7"), 0, "known", ""},
    {ARGS("access", "certificate", "kim", "--output", "DIR/kim", "--reason", "why 8"), 0, "good",
     ""},
    {ARGS("access", "grant", "kim", "viewer"), 0, "kim: viewer", ""}, /* and without one */
    {ARGS("access", "revoke", "ki", "viewer"), 3, "",
     "'ki' is not viewer everywhere; see lockstep access ls; access revoke takes the whole name "
     "where there is no terminal\n"},
    {ARGS("journal", "export", "--kind", "fleet"), 0, "\"reason\":\"why 1\"", ""},
    {ARGS("journal", "export", "--kind", "granted"), 0, "\"reason\":\"why 2\"", ""},
    {ARGS("journal", "export", "--kind", "ungranted"), 0, "\"reason\":\"why 3\"", ""},
    {ARGS("journal", "export", "--kind", "api-token"), 0, "\"reason\":\"why 4\"", ""},
    {ARGS("journal", "export", "--kind", "api-token-gone"), 0, "\"reason\":\"why 5\"", ""},
    {ARGS("journal", "export", "--kind", "token"), 0, "\"reason\":\"why 6\"", ""},
    {ARGS("journal", "export", "--kind", "image"), 0, "\"reason\":\"why 7\"", ""},
    {ARGS("journal", "export", "--kind", "person-certified"), 0, "\"reason\":\"why 8\"", ""},
};

static void test_rows(void)
{
    lks_run_rows(&controller, rows, LKS_COUNT(rows));
}

static void test_reasons(void)
{
    lks_run_rows(&controller, reasons, LKS_COUNT(reasons));
}

/* A reader that left after the first of several nodes is no failure of the others. */
static void test_reader_left(void)
{
    const char *argv[] = {"lockstep",     "node",     "show",
                          "gpu[001-003]", "--server", controller.socket};
    int ends[2];
    char *err = NULL;
    size_t err_len = 0;
    signal(SIGPIPE, SIG_IGN); /* as main() does */
    if (!CHECK(pipe(ends) == 0))
        return;
    close(ends[0]);
    struct lks_cli cli = {.out = fdopen(ends[1], "w"), .err = open_memstream(&err, &err_len)};
    CHECK_INT(lks_cli_run(&cli, (int)LKS_COUNT(argv), (char **)(uintptr_t)argv), 0);
    fclose(cli.out);
    fclose(cli.err);
    CHECK_STR(((struct lks_str){err, err_len}), "");
    free(err);
}

/* A command that fails for one node starts without that failure for the next. */
static enum lks_code fail_first(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    (void)cli;
    CHECK_INT(err->code, LKS_OK);
    CHECK_STR(lks_str_from(err->msg), "");
    return strcmp(args->positional[0], "gpu1") == 0 ? lks_fail(err, LKS_E_NOT_FOUND, "gone")
                                                    : LKS_OK;
}

static void test_each(void)
{
    static const struct lks_command show = {
        .group = LKS_LOOK, .name = "node show", .run = fail_first};
    static struct lks_args args;
    struct lks_err err = {0};
    FILE *nowhere = fopen("/dev/null", "we");
    struct lks_cli cli = {.out = nowhere, .err = nowhere, .command = &show};
    if (!CHECK(nowhere != NULL))
        return;
    args.positional[args.positional_count++] = "gpu[1-2]";
    CHECK_INT(lks_each_run(&cli, &args, &err), LKS_E_NOT_FOUND);
    CHECK_STR(lks_str_from(err.msg), "1 of 2 nodes failed: gpu1");
    fclose(nowhere);
}

static void test_begin(void)
{
    lks_run_now = (int64_t)time(NULL);
    ctl_init(&controller, "");
    CHECK(ctl_start(&controller));
    lks_tree_file(&controller.tree, "/fleet.yaml", FLEET);
    lks_tree_file(&controller.tree, "/other.yaml", FLEET "description: another\n");
}

static void test_end(void)
{
    CHECK_INT(ctl_stop(&controller), 0);
    ctl_fini(&controller);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a controller starts", test_begin},
        {"names that people type", test_rows},
        {"reasons are recorded", test_reasons},
        {"a reader that left", test_reader_left},
        {"a failure is of one node", test_each},
        {"it ends", test_end},
        {0},
    });
}
