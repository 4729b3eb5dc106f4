/* The commands of changes as a user has them. lockstepd's answers are written down here, so that
 * every state a change can be in is shown, at any width. */
#include "base/file.h"
#include "tests/run_asked.h"
#include "tests/tree.h"

enum { WORDS_MAX = 14, FILE_MAX = 1 << 20 };

#define GOLDEN "tests/golden/change/"

static struct lks_tree tree;

static void read_file(const char *name, struct lks_buf *out)
{
    struct lks_err err = {0};
    char path[256];
    snprintf(path, sizeof(path), GOLDEN "%s", name);
    lks_buf_init(out, FILE_MAX);
    CHECK_CODE(lks_file_read(path, out, &err), LKS_OK);
    lks_buf_addc(out, '\0');
    out->len--;
}

/* What is asked ------------------------------------------------------------------------------ */

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

#define VOTED(state, given)                                                                        \
    "{\"seq\":9,\"id\":7,\"state\":\"" state "\",\"nodes\":58,\"gpus\":392,"                       \
    "\"approvals\":{\"needed\":2,\"given\":" given "}}"
#define MOVED(state) VOTED(state, "2")
#define SIZE                                                                                       \
    "{\"id\":7,\"state\":\"approved\",\"nodes\":58,\"gpus\":392,\"assets\":9,"                     \
    "\"waves\":[]}"
#define BACK                                                                                       \
    "{\"id\":7,\"kind\":\"stack\",\"name\":\"gold\",\"state\":\"rolled "                           \
    "back\",\"nodes\":1,\"gpus\":8,"                                                               \
    "\"waves\":[{\"wave\":0,\"kind\":\"canary\",\"state\":\"passed\",\"units\":1,\"nodes\":1,"     \
    "\"members\":{\"reverted\":1}}]}"
#define PROBLEM(text)                                                                              \
    "{\"type\":\"urn:lockstep:problem:refused\",\"title\":\"refused\",\"status\":409,"             \
    "\"detail\":\"" text "\"}"

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *says;  /* what lockstepd answers; NULL: it is not asked */
    const char *heard; /* what it was asked */
    int exit;
    const char *out, *err;
} rows[] = {
    {"no target", ARGS("change", "propose", "--pool", "p"), NULL, "", 2, "", "--to has to say"},
    {"two targets", ARGS("change", "propose", "--pool", "p", "--to", "a", "--agent", "2"), NULL, "",
     2, "", "--to has to say"},
    {"nobody", ARGS("change", "propose", "--to", "a"), NULL, "", 2, "", "--nodes or --pool"},
    {"nodes and pool", ARGS("change", "propose", "--to=a", "--nodes=n1", "--pool=p"), NULL, "", 2,
     "", "--nodes or --pool"},
    {"no reason", ARGS("change", "propose", "--to=a", "--pool=p"), NULL, "", 2, "", "--reason"},
    {"half a confidence",
     ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--catch=1%"), NULL, "", 2, "",
     "go together"},
    {"a share of nothing",
     ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--catch=0%", "--confidence=95%"),
     NULL, "", 2, "", "--catch: '0%' is not a share"},
    {"more than all",
     ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--catch=101%",
          "--confidence=95%"),
     NULL, "", 2, "", "is not a share"},
    {"strength", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--strength=4"), NULL,
     "", 2, "", "--strength"},
    {"soak", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--soak=long"), NULL, "",
     2, "", "--soak"},
    {"a time", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--not-before=noon"),
     NULL, "", 2, "", "--not-before"},
    {"all of a wish",
     ARGS("change", "propose", "--to=a", "--nodes=n[1-2]", "--reason=r", "--soak=2h",
          "--catch=0.5%", "--confidence=95%", "--failures=2", "--roll-back", "--not-after=1h"),
     PROBLEM("there is no stack 'a'"),
     "{\"nodes\":\"n[1-2]\",\"stack\":\"a\",\"rolls_back\":true,\"failures_max\":2,"
     "\"failure_share\":5000,\"confidence_share\":950000,\"soak_seconds\":7200,"
     "\"not_after\":\"2026-11-15T01:00:00.000Z\",\"reason\":\"r\"}",
     1, "", "there is no stack 'a'"},
    {"an agent",
     ARGS("change", "propose", "--agent=2.0.1", "--pool=p", "--reason=r", "--hook=h", "--one-way",
          "--window=Sa 0-6", "--canary-max=4"),
     PROBLEM("no"),
     "{\"pool\":\"p\",\"hook\":\"h\",\"windows\":\"Sa 0-6\",\"kind\":\"agent\",\"stack\":\"2.0.1\","
     "\"one_way\":true,\"canary_max\":4,\"reason\":\"r\"}",
     1, "", "no"},
    {"approve", ARGS("change", "approve", "7", "--reason=fine"), MOVED("approved"),
     "POST /v1/changes/7/approve", 0, "change 7 is approved: 58 nodes, 392 GPUs\n", ""},
    {"approve, answered by something else", ARGS("change", "approve", "7", "--reason=fine"), "[]",
     "POST /v1/changes/7/approve", 3, "", "no JSON object"},
    {"list, answered by something else", ARGS("change", "ls"), "{}", "GET /v1/changes", 3, "",
     "no list of items"},
    {"approve, and one more has to", ARGS("change", "approve", "7", "--reason=fine"),
     VOTED("proposed", "1"), "POST /v1/changes/7/approve", 0,
     "change 7 is proposed (1 of 2 approvals): 58 nodes, 392 GPUs\n", ""},
    {"take it back", ARGS("change", "withdraw", "7", "--reason=saw more"), VOTED("proposed", "1"),
     "POST /v1/changes/7/withdraw", 0, "change 7 is proposed (1 of 2 approvals)", ""},
    {"review", ARGS("change", "review", "7", "--reason=it was right"), MOVED("running"),
     "POST /v1/changes/7/review", 0, "change 7 is running: 58 nodes", ""},
    {"waive a gate",
     ARGS("change", "waive", "7", "--gate=soak", "--until=2999-01-01T00:00:00Z", "--reason=r"),
     MOVED("running"), "\"gate\":\"soak\",\"until\":\"2999-01-01T00:00:00", 0,
     "change 7 is running", ""},
    {"waive what", ARGS("change", "waive", "7", "--until=1h", "--reason=r"), NULL, "", 2, "",
     "--gate"},
    {"break the glass",
     ARGS("change", "start", "7", "--nodes=58", "--gpus=392", "--standby=kit", "--break-glass",
          "--reason=worm"),
     MOVED("running"), "\"nodes\":58,\"gpus\":392,\"standby\":\"kit\",\"break_glass\":true", 0,
     "change 7 is running", ""},
    {"a class and a flaw",
     ARGS("change", "propose", "--to=a", "--pool=p", "--class=emergency", "--advisory=CVE-1",
          "--reason=r"),
     PROBLEM("no"), "\"class\":\"emergency\",\"advisory\":\"CVE-1\"", 1, "", "lockstep: no\n"},
    {"approve without a reason", ARGS("change", "approve", "7"), NULL, "", 2, "", "--reason"},
    {"reject", ARGS("change", "reject", "7", "--reason=no"), MOVED("rejected"),
     "POST /v1/changes/7/reject", 0, "change 7 is rejected: ", ""},
    {"the proposer approves", ARGS("change", "approve", "7", "--reason=fine"),
     PROBLEM("kim proposed change 7: somebody else has to approve it"), "{\"reason\":\"fine\"}", 1,
     "", "lockstep: kim proposed change 7: somebody else has to approve it\n"},
    {"start without the number", ARGS("change", "start", "7", "--reason=go"), SIZE,
     "GET /v1/changes/7?plan=false", 2, "",
     "change 7 is for 58 nodes, 392 GPUs, 9 assets: nothing started; if that is what you mean, "
     "repeat it: lockstep change start 7 --nodes 58 --gpus 392 --reason ...\n"},
    {"start without its GPUs", ARGS("change", "start", "7", "--reason=go", "--nodes=58"), SIZE,
     "GET /v1/changes/7?plan=false", 2, "",
     "repeat it: lockstep change start 7 --nodes 58 --gpus 392 --reason ...\n"},
    {"start without its nodes", ARGS("change", "start", "7", "--reason=go", "--gpus=392"), SIZE,
     "GET /v1/changes/7?plan=false", 2, "",
     "repeat it: lockstep change start 7 --nodes 58 --gpus 392 --reason ...\n"},
    {"start one of assets alone",
     ARGS("change", "start", "7", "--reason=go", "--nodes=0", "--gpus=0"), MOVED("running"),
     "{\"reason\":\"go\",\"nodes\":0,\"gpus\":0}", 0, "change 7 is running", ""},
    {"start with no number", ARGS("change", "start", "7", "--reason=go", "--nodes=x"), NULL, "", 2,
     "", "--nodes"},
    {"start", ARGS("change", "start", "7", "--reason=go", "--nodes=58", "--gpus=392"),
     MOVED("running"), "{\"reason\":\"go\",\"nodes\":58,\"gpus\":392}", 0,
     "change 7 is running: 58 nodes, 392 GPUs\n", ""},
    {"start in a freeze", ARGS("change", "start", "7", "--reason=go", "--nodes=58", "--gpus=392"),
     "{\"seq\":9,\"id\":7,\"state\":\"running\",\"nodes\":58,\"gpus\":392,\"approvals\":"
     "{\"given\":1,\"needed\":1},\"frozen\":true}",
     "POST /v1/changes/7/start", 0,
     "change 7 is running: 58 nodes, 392 GPUs; frozen: no further node starts before 'lockstep "
     "unfreeze' ('lockstep freeze --list' lists freezes)\n",
     ""},
    {"pause", ARGS("change", "pause", "7", "--reason=w"), MOVED("paused"),
     "POST /v1/changes/7/pause", 0, "paused", ""},
    {"resume", ARGS("change", "resume", "7", "--reason=w"), MOVED("running"),
     "POST /v1/changes/7/resume", 0, "running", ""},
    {"abort", ARGS("change", "abort", "7", "--reason=w"), MOVED("aborting"),
     "POST /v1/changes/7/abort", 0, "aborting", ""},
    {"rollback", ARGS("change", "rollback", "7", "--reason=w"), MOVED("rolling back"),
     "POST /v1/changes/7/rollback", 0, "change 7 is rolling back: ", ""},
    {"a wave of a rollback", ARGS("change", "show", "7"), BACK, "GET /v1/changes/7", 0,
     "reverted (had passed)", ""},
    {"how to withdraw the stack", ARGS("change", "show", "7"), BACK, "GET /v1/changes/7", 0,
     "the stack keeps its stage in the registry: once no pool is pinned to it, 'lockstep", ""},
    {"nodes again", ARGS("change", "resume", "7", "--reason=w", "--nodes=n[1-2]"), MOVED("running"),
     "{\"reason\":\"w\",\"nodes\":\"n[1-2]\",\"act\":\"again\"}", 0, "running", ""},
    {"nodes as they are", ARGS("change", "resume", "7", "--reason=w", "--nodes=n1", "--as-is"),
     MOVED("running"), "\"act\":\"release\"}", 0, "running", ""},
    {"as it is, but what", ARGS("change", "resume", "7", "--reason=w", "--as-is"), NULL, "", 2, "",
     "--as-is goes with --nodes"},
    {"freeze", ARGS("freeze", "--reason=w"), "{\"seq\":9}", "POST /v1/freeze", 0,
     "the fleet is frozen\n", ""},
    {"freeze a pool", ARGS("freeze", "--pool=p", "--reason=w"), "{\"seq\":9}",
     "{\"pool\":\"p\",\"reason\":\"w\"}", 0, "pool p is frozen\n", ""},
    {"freeze again", ARGS("freeze", "--pool=p", "--reason=w"),
     "{\"seq\":9,\"already\":true,\"by\":\"kim\",\"reason\":\"heat\",\"since\":"
     "\"2026-11-15T03:37:00Z\"}",
     "POST /v1/freeze", 0,
     "pool p was frozen before, by kim since 2026-11-15T03:37:00Z: heat; nothing was recorded\n",
     ""},
    {"the soak of a part of a ring", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run"),
     "{\"dry_run\":true,\"waves\":[{\"wave\":0,\"kind\":\"ring\",\"units\":1,\"nodes\":1,"
     "\"width\":1,\"soak_ms\":0}]}",
     "POST /v1/changes", 0, "  after ring\n", ""},
    {"freeze without a reason", ARGS("freeze"), NULL, "", 2, "", "--reason"},
    {"unfreeze", ARGS("unfreeze", "--pool=p", "--reason=w"), "{\"seq\":9}", "POST /v1/unfreeze", 0,
     "pool p is no longer frozen\n", ""},
    {"nothing is frozen", ARGS("freeze", "--list"), "{\"frozen\":false,\"pools\":[]}",
     "GET /v1/freeze", 0, "nothing is frozen\n", ""},
    {"what is frozen", ARGS("freeze", "--list"),
     "{\"frozen\":true,\"by\":\"kim\",\"reason\":\"storm\",\"pools\":[{\"pool\":\"p\",\"by\":"
     "\"lee\","
     "\"reason\":\"heat\"}]}",
     "GET /v1/freeze", 0, "the fleet is frozen by kim: storm\n", ""},
    {"what is planned to be", ARGS("freeze", "--list"),
     "{\"frozen\":false,\"pools\":[],\"days\":[{\"from\":\"2026-12-19\",\"until\":\"2027-01-04\","
     "\"now\":true,\"pools\":[\"p\"],\"description\":\"end of year\"}]}",
     "GET /v1/freeze", 0, "2026-12-19", ""},
    {"no changes", ARGS("change", "ls"), "{\"items\":[]}", "GET /v1/changes?open=true", 0,
     "no changes\n", ""},
    {"a change that cannot start", ARGS("change", "show", "7"),
     "{\"id\":7,\"state\":\"approved\",\"cannot_start\":\"2 nodes drifted\"}", "GET /v1/changes/7",
     0, "cannot start  2 nodes drifted", ""},
    {"nodes by state", ARGS("change", "show", "7", "--nodes", "needs-hands", "--wave", "0"),
     "{\"items\":[]}", "GET /v1/changes/7/members?state=needs%20hands&wave=0", 0, "no such nodes\n",
     ""},
    {"all nodes", ARGS("change", "show", "7", "--nodes", "all"), "{\"items\":[]}",
     "GET /v1/changes/7/members?limit=", 0, "no such nodes\n", ""},
    {"nodes by a host list", ARGS("change", "show", "7", "--nodes", "sim[0001-0002],x"), NULL, "",
     2, "", "--nodes: 'sim[0001-0002],x' is no state of nodes in a change: pending, waiting"},
    {"a wave of what", ARGS("change", "show", "7", "--wave", "0"), NULL, "", 2, "", "--wave"},
    {"follow nodes", ARGS("change", "show", "7", "--follow", "--nodes", "all"), NULL, "", 2, "",
     "--nodes does not go with --follow"},
    {"a job that may start, in a line", ARGS("admit", "--brief", "--job", "7", "--nodes", "n1"),
     "{\"admitted\":true,\"warned\":[{\"reason\":\"drift\",\"node\":\"n1\"}],\"warned_total\":1}",
     "POST /v1/admit", 0, "yes\n", ""},
    {"one that may not", ARGS("admit", "--brief", "--job", "7", "--nodes", "n1"),
     "{\"admitted\":false,\"refused\":[{\"reason\":\"drift\",\"node\":\"n1\",\"text\":\"a\\u001b["
     "2Jb\"},"
     "{\"reason\":\"stale\",\"node\":\"n1\"}],\"refused_total\":5000}",
     "POST /v1/admit", 1, "no: drift n1: a?[2Jb, and 4999 more reasons\n", ""},
    {"one for two reasons", ARGS("admit", "--brief", "--job", "7", "--nodes", "n1"),
     "{\"admitted\":false,\"refused\":[{\"reason\":\"drift\",\"node\":\"n1\"},"
     "{\"reason\":\"stale\",\"node\":\"n1\"}],\"refused_total\":2}",
     "POST /v1/admit", 1, "no: drift n1, and 1 more reason\n", ""},
    {"one whose image may not", ARGS("admit", "--brief", "--job", "7", "--nodes", "n1"),
     "{\"admitted\":false,\"refused\":[{\"reason\":\"image\",\"image\":\"r.io/"
     "a:1\",\"ranks\":\"0-7\","
     "\"text\":\"NCCL\"}],\"refused_total\":1}",
     "POST /v1/admit", 1, "no: image r.io/a:1 ranks 0-7: NCCL\n", ""},
    {"a node drifts", ARGS("drift", "--json"),
     "{\"items\":[{\"node\":\"n1\",\"judged\":\"deviation\"},{\"node\":\"n2\",\"judged\":\"drift\"}"
     "]}",
     "GET /v1/drift", 1, "n2", ""},
    {"a deviation is not drift", ARGS("drift", "--json"),
     "{\"items\":[{\"node\":\"n1\",\"judged\":\"deviation\"}]}", "GET /v1/drift", 0, "n1", ""},
    {"a page of something else", ARGS("whoami"), "<html></html>", "GET /v1/whoami", 3, "",
     "the answer is no JSON object; is it lockstepd that --server names?"},
    {"the fleet on a page of something else", ARGS("top", "--rounds", "1"), "<html></html>",
     "GET /v1/fleet", 3, "", "the answer is no JSON object"},
    {"a change on a page of something else", ARGS("change", "show", "7"), "<html></html>",
     "GET /v1/changes/7", 3, "", "the answer is no JSON object"},
    {"a redirection", ARGS("change", "show", "7"), ">", "GET /v1/changes/7", 3, "",
     "the answer has status 307; is it lockstepd that --server names?"},
    {"a redirection of an act", ARGS("change", "pause", "7", "--reason", "x"), ">",
     "POST /v1/changes/7/pause", 3, "", "the answer has status 307"},
    {"nobody is there", ARGS("change", "show", "7"), NULL, "", 4, "", "does lockstepd run there?"},
    {"nobody is there to follow", ARGS("change", "show", "7", "--follow"), NULL, "", 4, "",
     "does lockstepd run there?"},
};

static void test_asked(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        lks_test_case("%s", rows[i].name);
        lks_run_ask(&a, tree.path, rows[i].words, (const char *const[]){rows[i].says, NULL},
                    &(struct lks_term){.width = 100});
        CHECK_INT(a.run.exit, rows[i].exit);
        CHECK_HAS(a.run.out, rows[i].out);
        CHECK_HAS(a.run.err, rows[i].err);
        if (rows[i].says != NULL)
            CHECK_HAS(lks_buf_view(&a.liar.heard), rows[i].heard);
    }
}

/* What is shown ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *says;  /* a file */
    unsigned width;    /* 0: no terminal */
    const char *shows; /* a file */
} views[] = {
    {"a plan", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run"), "plan.json", 100,
     "plan-100.txt"},
    {"a plan on a narrow terminal", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run"),
     "plan.json", 60, "plan-60.txt"},
    {"a plan for a program", ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run"),
     "plan.json", 0, "plan-0.txt"},
    {"a change", ARGS("change", "show", "7"), "change.json", 100, "change-100.txt"},
    {"a change on a narrow terminal", ARGS("change", "show", "7"), "change.json", 60,
     "change-60.txt"},
    {"changes", ARGS("change", "ls", "--all"), "changes.json", 100, "changes-100.txt"},
    {"changes on a narrow terminal", ARGS("change", "ls", "--all"), "changes.json", 60,
     "changes-60.txt"},
    {"nodes", ARGS("change", "show", "7", "--nodes=all"), "members.json", 100, "members-100.txt"},
};

/* No line is wider than the terminal. */
static void check_width(struct lks_str text, unsigned width)
{
    struct lks_str line;
    while (width > 0 && lks_str_cut(text, '\n', &line, &text))
        CHECK(lks_term_columns(line) <= width);
}

static void test_shown(void)
{
    for (size_t i = 0; i < LKS_COUNT(views); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf says = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shows = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf waiting = {0};
        lks_test_case("%s", views[i].name);
        read_file(views[i].says, &says);
        read_file(views[i].shows, &shows);
        read_file("waiting.json", &waiting);
        bool waits = strcmp(views[i].says, "change.json") == 0;
        lks_run_ask(&a, tree.path, views[i].words,
                    (const char *const[]){says.ptr, waits ? waiting.ptr : NULL, NULL},
                    &(struct lks_term){.width = views[i].width});
        CHECK_INT(a.run.exit, 0);
        CHECK_STR(a.run.err, "");
        if (!CHECK(lks_str_eq(a.run.out, lks_buf_view(&shows))))
            printf("%.*s", LKS_STR_ARG(a.run.out));
        check_width(a.run.out, views[i].width);
    }
}

/* With --json what lockstepd says is passed on, and help names all of it. */
static void test_json(void)
{
    static const struct {
        const char *command, *says;
        const char *words[WORDS_MAX];
    } commands[] = {
        {"change propose", "plan.json",
         ARGS("change", "propose", "--to=a", "--pool=p", "--dry-run", "--json")},
        {"change show", "change.json", ARGS("change", "show", "7", "--json")},
        {"change show", "members.json", ARGS("change", "show", "7", "--nodes=all", "--json")},
        {"change ls", "changes.json", ARGS("change", "ls", "--json")},
        {"change approve", NULL, ARGS("change", "approve", "7", "--reason=r", "--json")},
        {"freeze", NULL, ARGS("freeze", "--reason=r", "--json")},
    };
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf says = {0};
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        lks_test_case("%s", commands[i].command);
        if (commands[i].says != NULL)
            read_file(commands[i].says, &says);
        const char *plain =
            strcmp(commands[i].command, "freeze") == 0 ? "{\"seq\":9}" : MOVED("approved");
        lks_run_ask(&a, tree.path, commands[i].words,
                    (const char *const[]){commands[i].says != NULL ? says.ptr : plain, NULL},
                    &(struct lks_term){0});
        CHECK_INT(a.run.exit, 0);
        const struct lks_doc *doc = lks_run_json(&a.run, &docs);
        if (CHECK(doc != NULL))
            lks_run_check_members(commands[i].command, doc);
    }
}

/* Following ---------------------------------------------------------------------------------- */

#define COUNTS(pending, asked, done, fenced, reverted)                                             \
    "\"members\":{\"pending\":" pending ",\"waiting\":0,\"asked\":" asked                          \
    ",\"reading\":0,\"done\":" done ",\"reverted\":" reverted ",\"fenced\":" fenced                \
    ",\"needs_hands\":0,\"unknown\":0,\"skipped\":0}"
#define STANDS(state, back, why, counts, first, first_counts, second, second_counts)               \
    "{\"id\":7,\"state\":\"" state "\",\"rolls_back\":" back ",\"moved_reason\":\"" why            \
    "\"," counts ",\"waves\":[{\"wave\":0,\"kind\":\"canary\",\"state\":\"" first                  \
    "\",\"failed\":0," first_counts                                                                \
    "},{\"wave\":1,\"kind\":\"ring\",\"pool\":\"p\",\"state\":\"" second                           \
    "\",\"failed\":0," second_counts "}]}"

#define BEGINS                                                                                     \
    STANDS("running", "true", "go", COUNTS("3", "1", "0", "0", "0"), "begun",                      \
           COUNTS("1", "1", "0", "0", "0"), "planned", COUNTS("2", "0", "0", "0", "0"))
#define PASSES                                                                                     \
    STANDS("running", "true", "go", COUNTS("1", "1", "2", "0", "0"), "passed",                     \
           COUNTS("0", "0", "2", "0", "0"), "begun", COUNTS("1", "1", "0", "0", "0"))
#define IS_DONE                                                                                    \
    STANDS("done", "true", "all waves passed", COUNTS("0", "0", "4", "0", "0"), "passed",          \
           COUNTS("0", "0", "2", "0", "0"), "passed", COUNTS("0", "0", "2", "0", "0"))
#define HALTS(back)                                                                                \
    STANDS("halted", back, "1 node failed", COUNTS("3", "0", "0", "1", "0"), "halted",             \
           COUNTS("1", "0", "0", "1", "0"), "planned", COUNTS("2", "0", "0", "0", "0"))
#define IS_BACK                                                                                    \
    STANDS("rolled back", "true", "1 node failed", COUNTS("3", "0", "0", "0", "1"), "halted",      \
           COUNTS("1", "0", "0", "0", "1"), "planned", COUNTS("2", "0", "0", "0", "0"))

#define BACK_FROM(state)                                                                           \
    STANDS(state, "true", "by kim", COUNTS("3", "0", "0", "0", "1"), "begun",                      \
           COUNTS("1", "0", "0", "0", "1"), "planned", COUNTS("2", "0", "0", "0", "0"))

/* Half of it is done after an hour. */
#define SLOW                                                                                       \
    "{\"id\":7,\"state\":\"running\",\"total\":4,\"started\":\"2026-11-14T23:00:00Z\","            \
    "\"members\":{\"pending\":1,\"waiting\":1,\"done\":2},\"waves\":[],\"waits\":[{\"wave\":1,"    \
    "\"node\":\"n3\",\"state\":\"waiting\",\"doing\":\"leave\",\"why\":\"2 jobs run\"}]}"

/* Of two nodes that it waits for, one is new. */
#define WAITS(nodes)                                                                               \
    "{\"id\":7,\"state\":\"running\",\"total\":4,\"members\":{\"pending\":2,\"waiting\":2},"       \
    "\"waves\":[],\"waits\":[" nodes "]}"
#define WAIT(node, why)                                                                            \
    "{\"wave\":1,\"node\":\"" node "\",\"state\":\"waiting\",\"doing\":\"leave\",\"why\":\"" why   \
    "\"}"

#define STOPPED                                                                                    \
    "{\"id\":7,\"state\":\"rolled back\",\"rolls_back\":true,\"moved_reason\":\"1 back, 0 could "  \
    "not go back\"," COUNTS("0", "0", "0", "0",                                                    \
                            "1") ",\"waves\":[{\"wave\":0,\"kind\":\"canary\","                    \
                                 "\"state\":\"halted\",\"text\":\"1 node failed: n1 still runs "   \
                                 "25.04\",\"failed\":1," COUNTS("0", "0", "0", "0", "1") "}]}"

static const struct {
    const char *name;
    const char *script[LKS_LIAR_TURNS + 1];
    struct lks_term term;
    int exit;
    const char *out, *err;
} follows[] = {
    {"to its end, in plain lines",
     ARGS(BEGINS, PASSES, IS_DONE),
     {0},
     0,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary: begun, 0/2 done, 1 in progress\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: begun, 0/2 done, 1 in progress\n"
     "change 7 done: 4/4 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     ""},
    {"what is the same is not said again",
     ARGS(BEGINS, BEGINS, IS_DONE),
     {0},
     0,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary: begun, 0/2 done, 1 in progress\n"
     "change 7 done: 4/4 done\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     ""},
    {"a node that it waits for is told once",
     ARGS(WAITS(WAIT("n3", "2 jobs run")),
          WAITS(WAIT("n3", "1 job runs") "," WAIT("n33", "1 job runs")), IS_DONE),
     {0},
     0,
     "change 7 running: 0/4 done, 2 in progress\n"
     "waits for n3 (drain): 2 jobs run\n"
     "waits for n33 (drain): 1 job runs\n"
     "change 7 done: 4/4 done\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     ""},
    {"until it is halted",
     ARGS(BEGINS, HALTS("false")),
     {0},
     1,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary: begun, 0/2 done, 1 in progress\n"
     "change 7 halted: 0/4 done, 1 fenced\n"
     "wave 0 canary: halted, 0/2 done, 1 fenced\n"
     "why: 1 node failed\n"
     "see: lockstep change show 7\n",
     ""},
    {"through the rollback that follows a halt",
     ARGS(HALTS("true"), IS_BACK),
     {0},
     1,
     "change 7 halted: 0/4 done, 1 fenced\n"
     "wave 0 canary: halted, 0/2 done, 1 fenced\n"
     "change 7 rolled back: 0/4 done, 1 reverted\n"
     "why: 1 node failed\n"
     "see: lockstep change show 7\n",
     ""},
    {"to the end of a rollback that no gate began",
     ARGS(BACK_FROM("rolling back"), BACK_FROM("rolled back")),
     {0},
     1,
     "change 7 rolling back: 0/4 done, 1 reverted\n"
     "wave 0 canary: rolling back, 0/2 done, 1 reverted\n"
     "change 7 rolled back: 0/4 done, 1 reverted\n"
     "why: by kim\n"
     "see: lockstep change show 7\n",
     ""},
    {"while lockstepd starts anew",
     ARGS(BEGINS, "", IS_DONE),
     {0},
     0,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary: begun, 0/2 done, 1 in progress\n"
     "change 7 done: 4/4 done\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     "trying again\n"},
    {"a terminal is drawn over",
     ARGS(BEGINS, PASSES, IS_DONE),
     {.cursor = true, .width = 100},
     0,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary [....................] begun, 0/2 done, 1 in progress\n"
     "wave 1 ring p [....................] planned, 0/2 done\n"
     "\033[3A\033[J"
     "wave 0 canary: passed, 2/2 done\n"
     "change 7 running: 2/4 done, 1 in progress\n"
     "wave 1 ring p [....................] begun, 0/2 done, 1 in progress\n"
     "\033[2A\033[J"
     "wave 1 ring p: passed, 2/2 done\n"
     "change 7 done: 4/4 done\n",
     ""},
    {"a narrow terminal has no line that goes on below",
     ARGS(IS_DONE),
     {.cursor = true, .width = 20},
     0,
     "wave 0 canary: passe\n"
     "wave 1 ring p: passe\n"
     "change 7 done: 4/4 d\n",
     ""},
    {"but says in the end, whole, why: of the wave that was halted, and how that ended",
     ARGS(STOPPED),
     {.cursor = true, .width = 20},
     1,
     "change 7 rolled back\n"
     "wave 0 canary: halte\n"
     "why: 1 node failed: n1 still runs 25.04\n"
     "end: 1 back, 0 could not go back\n"
     "see: lockstep change show 7\n",
     ""},
    {"how long it takes, and which nodes it waits for",
     ARGS(SLOW, IS_DONE),
     {0},
     0,
     "change 7 running: 2/4 done, 1 in progress, about 60 min left\n"
     "waits for n3 (drain): 2 jobs run\n"
     "change 7 done: 4/4 done\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     ""},
    {"the same on a terminal: reasons are whole, and drawn over",
     ARGS(SLOW, IS_DONE),
     {.cursor = true, .width = 24},
     0,
     "change 7 running: 2/4 do\n"
     "waits for n3 (drain): 2\n"
     "  jobs run\n"
     "\033[3A\033[J"
     "wave 0 canary: passed, 2\n"
     "wave 1 ring p: passed, 2\n"
     "change 7 done: 4/4 done\n",
     ""},
    {"what is the same is not drawn again",
     ARGS(BEGINS, BEGINS, IS_DONE),
     {.cursor = true, .width = 20},
     0,
     "change 7 running: 0/\n"
     "wave 0 canary: begun\n"
     "wave 1 ring p: plann\n"
     "\033[3A\033[J"
     "wave 0 canary: passe\n"
     "wave 1 ring p: passe\n"
     "change 7 done: 4/4 d\n",
     ""},
    {"on a terminal that is lower than the picture, in plain lines",
     ARGS(BEGINS, PASSES, IS_DONE),
     {.cursor = true, .width = 80, .height = 3},
     0,
     "change 7 running: 0/4 done, 1 in progress\n"
     "wave 0 canary: begun, 0/2 done, 1 in progress\n"
     "wave 0 canary: passed, 2/2 done\n"
     "wave 1 ring p: begun, 0/2 done, 1 in progress\n"
     "change 7 done: 4/4 done\n"
     "wave 1 ring p: passed, 2/2 done\n",
     ""},
};

/* Without a terminal `top` prints all that waits for a person, too. */
static void test_top_lines(void)
{
    static const char *const words[] = {"top", "--rounds=1", NULL};
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
    lks_run_ask(
        &a, tree.path, words,
        (const char *const[]){
            "{\"name\":\"prod\",\"seq\":9,\"pools\":[{\"name\":\"p\",\"nodes\":4,"
            "\"liveness\":{\"live\":4}}]}",
            "{\"items\":[{\"id\":7,\"name\":\"dec\",\"state\":\"running\",\"total\":4,\"waves\":2,"
            "\"passed\":1,\"members\":{\"done\":2,\"pending\":2}}]}",
            "{\"items\":[{\"id\":3,\"text\":\"a clock is off\"}]}",
            "{\"frozen\":true,\"by\":\"kim\",\"reason\":\"storage\",\"pools\":[{\"pool\":\"p\","
            "\"by\":\"lee\",\"reason\":\"audit\"}],\"days\":[{\"from\":\"2026-12-19\","
            "\"until\":\"2027-01-04\",\"now\":false}]}",
            NULL},
        &(struct lks_term){0});
    CHECK_INT(a.run.exit, 0);
    CHECK_HAS(a.run.out, "4 nodes, 4 live\n"
                         "change 7 to dec: running, 2/4 done, 1 of 2 waves passed\n"
                         "alarm 3 a clock is off\n"
                         "freeze of the fleet by kim: storage\n"
                         "freeze of pool p by lee: audit\n");
    CHECK(memmem(a.run.out.ptr, a.run.out.len, "2026-12-19", strlen("2026-12-19")) == NULL);
}

/* A node in the middle of a change differs from its intent, and that is no news. */
static void test_drift(void)
{
    static const char *const words[] = {"drift", NULL};
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
    lks_run_ask(&a, tree.path, words,
                (const char *const[]){
                    "{\"items\":[{\"node\":\"n1\",\"judged\":\"drift\",\"text\":\"ecc: false\"},"
                    "{\"node\":\"n2\",\"judged\":\"drift\",\"change\":7,\"text\":\"ecc: false\"}]}",
                    "{\"counts\":{\"nodes\":4,\"conforms\":2,\"drift\":2}}", NULL},
                &(struct lks_term){0});
    CHECK_INT(a.run.exit, 1);
    CHECK_HAS(a.run.out, " ecc: false\n");
    CHECK_HAS(a.run.out, " ecc: false (in change 7)\n");
    CHECK_HAS(a.run.out, "4 nodes: 2 conform, 2 drift");
}

static void test_follow(void)
{
    static const char *const words[] = {"change", "show", "7", "--follow", NULL};
    for (size_t i = 0; i < LKS_COUNT(follows); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        lks_test_case("%s", follows[i].name);
        lks_run_ask(&a, tree.path, words, follows[i].script, &follows[i].term);
        CHECK_INT(a.run.exit, follows[i].exit);
        CHECK_STR(a.run.out, follows[i].out);
        CHECK_HAS(a.run.err, follows[i].err);
    }
}

static void test_follow_json(void)
{
    static const char *const words[] = {"change", "show", "7", "--follow", "--json", NULL};
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
    lks_run_ask(&a, tree.path, words, (const char *const[]){BEGINS, BEGINS, HALTS("false"), NULL},
                &(struct lks_term){0});
    CHECK_INT(a.run.exit, 1);
    CHECK_STR(a.run.out, BEGINS "\n" HALTS("false") "\n");
}

static void test_start_follow(void)
{
    static const char *const words[] = {"change",     "start",      "7",        "--reason=go",
                                        "--nodes=58", "--gpus=392", "--follow", NULL};
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
    lks_run_ask(&a, tree.path, words, (const char *const[]){MOVED("running"), IS_DONE, NULL},
                &(struct lks_term){0});
    CHECK_INT(a.run.exit, 0);
    CHECK_HAS(a.run.out, "change 7 is running: 58 nodes, 392 GPUs\nchange 7 done: 4/4 done\n");
}

#define FLEET_OF(pinned)                                                                           \
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n  p:" pinned "\n    posture: batch\n"              \
    "nodes: [{hosts: n1, pool: p, class: hgx-h100-8}]\n"

/* A fleet file that was not edited after a change moved the pin of its pool. */
static void test_stale(void)
{
    char path[128];
    const char *const words[] = {"fleet", "apply", path, NULL};
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
    snprintf(path, sizeof(path), "%s/fleet.yaml", tree.path);
    lks_tree_file(&tree, "/fleet.yaml", FLEET_OF("\n    # by hand\n    stack: gold"));
    lks_run_ask(&a, tree.path, words,
                (const char *const[]){PROBLEM("pool 'p' is pinned to 'silver'"),
                                      FLEET_OF("\n    stack: silver"), NULL},
                &(struct lks_term){0});
    CHECK_INT(a.run.exit, 1);
    CHECK_HAS(a.run.err,
              "fleet.yaml:7: pool p: stack: gold -> silver (edit this line; to move the pool "
              "instead: lockstep change propose --pool p --to gold --reason TEXT)\n");
    CHECK_HAS(a.run.err, "pool 'p' is pinned to 'silver'");
    CHECK_STR(a.run.out, "");
}

/* A controller that lies cannot drive the terminal; a file has what it sent. */
static void test_bytes(void)
{
    static const char *const words[][5] = {
        {"change", "procedure", "7", NULL},
        {"journal", "export", NULL},
    };
    static const char sent[] = "# a\t\033]0;x\a\302\233\377\342\200\256\303\274\n";
    static const char shown[] = "# a\t?]0;x????\303\274\n";
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        for (int tty = 0; tty < 2; tty++) {
            LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
            lks_test_case("%s %s, tty %d", words[i][0], words[i][1], tty);
            lks_run_ask(&a, tree.path, words[i], (const char *const[]){sent, NULL},
                        &(struct lks_term){.tty = tty});
            CHECK_STR(a.run.err, "");
            CHECK_HAS(a.run.out, tty ? shown : sent);
        }
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what is asked of lockstepd, and what it answers", test_asked},
        {"plans and changes for people", test_shown},
        {"and for programs", test_json},
        {"drift in a change", test_drift},
        {"following a change", test_follow},
        {"following it as a program", test_follow_json},
        {"starting and following it", test_start_follow},
        {"lines of top", test_top_lines},
        {"a fleet file that is behind a change", test_stale},
        {"bytes that drive a terminal", test_bytes},
        {0},
    };
    tree = lks_tree_new();
    int status = lks_test_main(tests);
    lks_tree_free(&tree);
    return status;
}
