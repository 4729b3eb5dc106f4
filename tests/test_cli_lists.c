/* Lists as a user has them: formats, selectors, columns, limits. lockstepd's answers are written
 * down here. */
#include "base/file.h"
#include "cli/output/format.h"
#include "cli/output/pager.h"
#include "cli/shared/selector.h"
#include "tests/run_asked.h"
#include "tests/tree.h"

#include <sys/stat.h>

enum { WORDS_MAX = 10, ANSWERS_MAX = 4 };

#define GOLDEN "tests/golden/lists/"
#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static struct lks_tree tree;

/* The first has all members, the second few; the third has a name that is wide on a terminal. */
#define N1                                                                                         \
    "{\"name\":\"gpu001\",\"pool\":\"train\",\"site\":\"ams\",\"rack\":\"r01\","                   \
    "\"class\":\"hgx-h200-8\",\"liveness\":\"live\",\"liveness_since\":\"2026-11-15T00:00:00Z\","  \
    "\"judged\":\"conforms\",\"tuple\":\"sha256:"                                                  \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"intake\":false,"         \
    "\"held\":false,\"enrolled\":true,\"admissible\":true}"
#define N2                                                                                         \
    "{\"name\":\"gpu002\",\"pool\":\"serve\",\"rack\":\"r01\",\"liveness\":\"late\","              \
    "\"judged\":\"drift\",\"intake\":false,\"held\":true,\"enrolled\":true,\"admissible\":false,"  \
    "\"why\":\"held by kim: bad fan\"}"
#define N3                                                                                         \
    "{\"name\":\"\u7bc0\u70b9-3\",\"liveness\":\"unseen\",\"judged\":\"unjudged\","                \
    "\"intake\":true,\"held\":false,\"enrolled\":false,\"admissible\":false,\"why\":\"unknown\"}"
#define NODES "{\"items\":[" N1 "," N2 "," N3 "]}"

#define C7                                                                                         \
    "{\"id\":7,\"kind\":\"stack\",\"name\":\"r580\",\"state\":\"running\",\"total\":58,"           \
    "\"failed\":2,\"members\":{\"done\":30,\"pending\":26},\"by\":\"kim\",\"reason\":\"CVE\"}"
#define C12                                                                                        \
    "{\"id\":12,\"kind\":\"agent\",\"name\":\"0.2\",\"state\":\"proposed\",\"total\":4,"           \
    "\"failed\":0,\"members\":{\"pending\":4},\"by\":\"ada\",\"windows\":[\"Mon-Fri\",\"Sat\"]}"
#define C9                                                                                         \
    "{\"id\":9,\"kind\":\"stack\",\"name\":\"r580\",\"state\":\"paused\",\"total\":9,"             \
    "\"failed\":0,\"members\":{\"done\":1},\"by\":\"ada\"}"
#define CHANGES "{\"items\":[" C7 "," C12 "," C9 "]}"

#define FLEET                                                                                      \
    "{\"name\":\"f\",\"seq\":7,\"nodes\":3,\"pools\":[{\"name\":\"train\",\"posture\":\"batch\","  \
    "\"enforce\":\"deny\",\"nodes\":2},{\"name\":\"serve\",\"posture\":\"online-inference\","      \
    "\"enforce\":\"warn\",\"nodes\":1}]}"

/* Golden files ------------------------------------------------------------------------------ */

#define SHA "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *says;
    struct lks_term term;
    const char *shows; /* a file */
} views[] = {
    {"nodes without a terminal", ARGS("node", "ls"), NODES, {0}, "nodes-0.txt"},
    {"nodes at 80 columns", ARGS("node", "ls"), NODES, {.width = 80}, "nodes-80.txt"},
    {"nodes at 200 columns", ARGS("node", "ls"), NODES, {.width = 200}, "nodes-200.txt"},
    {"wide without a terminal", ARGS("node", "ls", "-o", "wide"), NODES, {0}, "wide-0.txt"},
    {"wide at 80 columns", ARGS("node", "ls", "-owide"), NODES, {.width = 80}, "wide-80.txt"},
    {"wide at 200 columns",
     ARGS("node", "ls", "--output=wide"),
     NODES,
     {.width = 200},
     "wide-200.txt"},
    {"wide in colour",
     ARGS("node", "ls", "-o", "wide"),
     NODES,
     {.tty = true, .colour = true, .width = 200},
     "wide-colour.txt"},
    {"nodes as YAML", ARGS("node", "ls", "-o", "yaml"), NODES, {0}, "nodes.yaml"},
    {"nodes as YAML on a terminal",
     ARGS("node", "ls", "-o", "yaml"),
     NODES,
     {.tty = true, .colour = true, .width = 80},
     "nodes.yaml"},
    {"nodes as JSON", ARGS("node", "ls", "-o", "json"), NODES, {0}, "nodes.json"},
    {"--json is the same", ARGS("node", "ls", "--json"), NODES, {.width = 80}, "nodes.json"},
    {"and both", ARGS("node", "ls", "--json", "-o", "json"), NODES, {0}, "nodes.json"},
    {"a table is the default", ARGS("node", "ls", "-o", "table"), NODES, {0}, "nodes-0.txt"},
    {"changes at 80 columns", ARGS("change", "ls"), CHANGES, {.width = 80}, "changes-80.txt"},
    {"wide changes at 200 columns",
     ARGS("change", "ls", "-o", "wide"),
     CHANGES,
     {.width = 200},
     "changes-wide-200.txt"},
    {"columns that are asked for, without a value",
     ARGS("node", "ls", "--columns", "name,asset,assigned_to"),
     NODES,
     {.width = 80},
     "columns-80.txt"},
    {"a thing as YAML", ARGS("node", "show", "gpu001", "-o", "yaml"), N1, {0}, "node.yaml"},
};

static void read_file(const char *name, struct lks_buf *out)
{
    struct lks_err err = {0};
    char path[256];
    snprintf(path, sizeof(path), GOLDEN "%s", name);
    lks_buf_init(out, LKS_RUN_ANSWER_MAX);
    CHECK_CODE(lks_file_read(path, out, &err), LKS_OK);
    lks_buf_addc(out, '\0');
    out->len--;
}

static void test_views(void)
{
    for (size_t i = 0; i < LKS_COUNT(views); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shows = {0};
        lks_test_case("%s", views[i].name);
        read_file(views[i].shows, &shows);
        lks_run_ask(&a, tree.path, views[i].words, (const char *const[]){views[i].says, NULL},
                    &views[i].term);
        CHECK_STR(a.run.err, "");
        CHECK_INT(a.run.exit, 0);
        CHECK_STR(a.run.out, shows.ptr);
    }
}

/* A server whose cursors lead in a circle, without a row. */
static void test_endless(void)
{
    static const char *const words[] = {"node", "ls", NULL};
    const char *const asks[] = {"GET /v1/nodes?limit=1000&after=a",
                                "GET /v1/nodes?limit=1000&after=b", "GET /v1/nodes?limit=1000"};
    const char *const says[] = {"{\"items\":[],\"next\":\"b\"}", "{\"items\":[],\"next\":\"a\"}",
                                "{\"items\":[],\"next\":\"a\"}"};
    char path[256], server[264];
    struct lks_liar liar = {.path = path, .reply_count = LKS_COUNT(asks)};
    (void)snprintf(path, sizeof(path), "%s/endless", tree.path);
    (void)snprintf(server, sizeof(server), "unix:%s", path);
    for (size_t i = 0; i < LKS_COUNT(asks); i++)
        liar.replies[i] = (struct lks_liar_reply){asks[i], lks_run_answer(200, says[i])};
    lks_liar_start(&liar);
    const char *const line[] = {words[0], words[1], "--server", server, NULL};
    struct lks_run run = lks_run(line);
    CHECK_INT(run.exit, 3);
    CHECK_HAS(run.err, "the list does not end: 1000 pages, the last 1000 without a row; is it");
    lks_run_fini(&run);
    lks_liar_fini(&liar);
}

/* Rows and columns -------------------------------------------------------------------------- */

#define PAGE1     "{\"items\":[" N1 "],\"next\":\"gpu001\"}"
#define PAGE2     "{\"items\":[" N2 "],\"next\":\"gpu002\"}"
#define PAGE3     "{\"items\":[" N3 "]}"
#define TEN(text) text text text text text text text text text text
#define HUNDRED   "{\"items\":[" TEN(TEN("{\"seq\":2},")) "{\"seq\":1}],\"next\":\"1\"}"
#define DRIFTS(judged)                                                                             \
    "{\"items\":[{\"node\":\"n1\",\"pool\":\"p\",\"judged\":\"" judged "\"}],\"counts\":{}}"

static const struct {
    const char *name;
    const char *words[WORDS_MAX];
    const char *says[ANSWERS_MAX];
    const char *heard; /* what lockstepd is asked, all of it from the first path on */
    int exit;
    const char *out, *err;
} rows[] = {
    {"names", ARGS("node", "ls", "-o", "name"), ARGS(NODES), "/v1/nodes?limit=1000 ", 0,
     "gpu001\ngpu002\n\u7bc0\u70b9-3\n", ""},
    {"names of no rows", ARGS("node", "ls", "-o", "name"), ARGS("{\"items\":[]}"), "/v1/nodes", 0,
     "", ""},
    {"numbers as names", ARGS("change", "ls", "-o", "name"), ARGS(CHANGES), "/v1/changes", 0,
     "7\n12\n9\n", ""},
    {"the name of a thing", ARGS("change", "show", "7", "-o", "name"), ARGS(C7), "/v1/changes/7", 0,
     "7\n", ""},
    {"names of several lists", ARGS("access", "ls", "-o", "name"),
     ARGS("{\"bindings\":[{\"identity\":\"kim\",\"role\":\"admin\"}],\"tokens\":[{\"id\":\"ci\","
          "\"identity\":\"ci\"}],\"certificates\":[]}"),
     "/v1/access", 0, "kim\nci\n", ""},
    {"a name that could drive a terminal", ARGS("node", "ls", "-o", "name"),
     ARGS("{\"items\":[{\"name\":\"a\\u001b[2Jb\\nc\"}]}"), "/v1/nodes", 0, "a?[2Jb?c\n", ""},
    {"no names", ARGS("compat", "-o", "name"), ARGS(NULL), "", 2, "",
     "--output name: the answer of 'compat' has no names; give one of: table, json, yaml\n"},
    {"no format", ARGS("node", "ls", "-o", "jsn"), ARGS(NULL), "", 2, "",
     "lockstep: --output: no format 'jsn'; give one of: table, wide, json, yaml, name; did you "
     "mean 'json'?\n"},
    {"no format at all", ARGS("node", "ls", "-o"), ARGS(NULL), "", 2, "", "-o needs FORMAT"},
    {"two formats", ARGS("node", "ls", "-o", "wide", "--output", "name"), ARGS(NULL), "", 2, "",
     "--output is given twice"},
    {"JSON and another format", ARGS("node", "ls", "--json", "-o", "yaml"), ARGS(NULL), "", 2, "",
     "--json and --output yaml: give one of them\n"},
    {"a command that writes a file", ARGS("trust", "key", "k", "-o", "json"), ARGS(NULL), "", 2, "",
     "no option '-o'"},
    {"the exit status of names", ARGS("drift", "-o", "name"), ARGS(DRIFTS("drift")), "/v1/drift", 1,
     "n1\n", ""},

    {"a selector that lockstepd applies", ARGS("node", "ls", "-l", "pool=train"), ARGS(NODES),
     "/v1/nodes?pool=train&limit=1000 ", 0, "gpu002", ""},
    {"and yes and no", ARGS("node", "ls", "-l", "held=yes,intake=no"), ARGS(NODES),
     "/v1/nodes?intake=false&held=true&limit=1000 ", 0, "gpu001", ""},
    {"a selector that is applied here", ARGS("node", "ls", "-lpool!=train", "-oname"), ARGS(NODES),
     "/v1/nodes?limit=1000 ", 0, "gpu002\n\u7bc0\u70b9-3\n", ""},
    {"both", ARGS("node", "ls", "--selector=rack=r01,why!=", "-oname"), ARGS(NODES),
     "/v1/nodes?rack=r01&limit=1000 ", 0, "gpu002\n\u7bc0\u70b9-3\n", ""},
    {"rows without a value", ARGS("node", "ls", "-l", "pool=", "-oname"), ARGS(NODES),
     "/v1/nodes?limit=1000 ", 0, "\u7bc0\u70b9-3\n", ""},
    {"an option and a selector of one column",
     ARGS("node", "ls", "--pool=train", "-l", "pool=serve", "-oname"), ARGS(NODES),
     "/v1/nodes?pool=train&limit=1000 ", 0, "gpu002\n", ""},
    {"a digest is compared whole", ARGS("node", "ls", "-l", "tuple=sha256:01", "-oname"),
     ARGS(NODES), "/v1/nodes?limit=1000 ", 0, "", ""},
    {"two equals signs", ARGS("change", "ls", "-l", "state==paused", "-oname"), ARGS(CHANGES),
     "/v1/changes?open=true&limit=1000 ", 0, "9\n", ""},
    {"a member of a member", ARGS("change", "ls", "-l", "members.done=1", "-oname"), ARGS(CHANGES),
     "/v1/changes?open=true&limit=1000 ", 0, "9\n", ""},
    {"an item of a list", ARGS("change", "ls", "-l", "windows=Sat", "-oname"), ARGS(CHANGES),
     "/v1/changes?open=true&limit=1000 ", 0, "12\n", ""},
    {"a number", ARGS("change", "ls", "-l", "total!=4", "-oname"), ARGS(CHANGES), "/v1/changes", 0,
     "7\n9\n", ""},
    {"JSON of a selector", ARGS("fleet", "show", "-l", "name=serve", "--json"), ARGS(FLEET),
     "/v1/fleet ", 0,
     "{\"name\":\"f\",\"seq\":7,\"nodes\":3,\"pools\":[{\"enforce\":\"warn\",\"name\":\"serve\","
     "\"nodes\":1,\"posture\":\"online-inference\"}]}\n",
     ""},
    {"an exit status of the rows that are wanted", ARGS("drift", "-l", "pool=q", "-oname"),
     ARGS(DRIFTS("drift")), "/v1/drift?limit=1000 ", 0, "", ""},
    {"a value that a column never has", ARGS("node", "ls", "-l", "judged=bogus"), ARGS(NULL), "", 2,
     "",
     "--selector: judged is never 'bogus'; its values: unjudged, conforms, drift, unmeasured, "
     "deviation\n"},
    {"or that it would never differ from", ARGS("node", "ls", "-l", "liveness!=up"), ARGS(NULL), "",
     2, "", "liveness is never 'up'; its values: unseen, live, late, lost\n"},
    {"neither yes nor no", ARGS("node", "ls", "-l", "held=maybe"), ARGS(NULL), "", 2, "",
     "held is never 'maybe'; its values: yes, no, true, false\n"},
    {"a heading", ARGS("node", "ls", "-l", "node=gpu002", "-oname"), ARGS(NODES), "/v1/nodes", 0,
     "gpu002\n", ""},
    {"a heading that is sorted by", ARGS("change", "ls", "--sort-by=-nodes", "-oname"),
     ARGS(CHANGES), "/v1/changes", 0, "7\n9\n12\n", ""},
    {"a heading that lockstepd sorts by", ARGS("node", "ls", "--sort-by=-node", "-oname"),
     ARGS(NODES), "/v1/nodes?sort=-name&limit=1000 ", 0, "gpu001\ngpu002\n\u7bc0\u70b9-3\n", ""},
    {"headings with a blank, either way",
     ARGS("fleet", "show", "--columns=pool,behind since,acts_wait"), ARGS(FLEET), "/v1/fleet ", 0,
     "pool   behind since  acts_wait\ntrain  -", ""},
    {"no such key", ARGS("node", "ls", "-l", "pol=train"), ARGS(NULL), "", 2, "",
     "did you mean 'pool'?\n"},
    {"no such key of changes", ARGS("change", "ls", "-l", "stat=paused"), ARGS(NULL), "", 2, "",
     "--selector: no column 'stat'; give one of: id, kind, stack, name, hosts, "},
    {"a key of records is any", ARGS("node", "history", "n", "-l", "reason=x", "-oname"),
     ARGS("{\"items\":[{\"seq\":1,\"reason\":\"x\"},{\"seq\":2}]}"), "/v1/nodes/n/history", 0,
     "1\n", ""},
    {"no selector", ARGS("node", "ls", "-l", "pool"), ARGS(NULL), "", 2, "",
     "--selector: 'pool' is neither COLUMN=VALUE nor COLUMN!=VALUE, such as pool=train\n"},
    {"an empty term", ARGS("node", "ls", "-l", "pool=a,"), ARGS(NULL), "", 2, "",
     "--selector: '' is neither"},
    {"no key", ARGS("node", "ls", "-l", "=a"), ARGS(NULL), "", 2, "", "--selector: no column ''"},
    {"commands without rows", ARGS("node", "show", "n", "-l", "a=b"), ARGS(NULL), "", 2, "",
     "no option '-l'"},

    {"a list that lockstepd sorts", ARGS("node", "ls", "--sort-by=-name", "-oname"), ARGS(NODES),
     "/v1/nodes?sort=-name&limit=1000 ", 0, "gpu001\ngpu002\n\u7bc0\u70b9-3\n", ""},
    {"a list that is sorted here", ARGS("change", "ls", "--sort-by", "id", "-oname"), ARGS(CHANGES),
     "/v1/changes?open=true&limit=1000 ", 0, "7\n9\n12\n", ""},
    {"and in reverse", ARGS("change", "ls", "--sort-by=-name", "-oname"), ARGS(CHANGES),
     "/v1/changes", 0, "7\n9\n12\n", ""},
    {"the first of a list that is sorted here",
     ARGS("change", "ls", "--sort-by=-id", "--limit=1", "-oname"), ARGS(CHANGES),
     "/v1/changes?open=true&limit=1000 ", 0, "12\n", ""},
    {"sorted by what some rows have", ARGS("change", "ls", "--sort-by=reason", "-oname"),
     ARGS(CHANGES), "/v1/changes", 0, "12\n9\n7\n", ""},
    {"sorted by what no row has", ARGS("change", "ls", "--sort-by=ids"), ARGS(NULL), "", 2, "",
     "--sort-by: no column 'ids'"},

    {"all pages", ARGS("node", "ls", "--limit", "0", "-oname"), ARGS(PAGE1, PAGE2, PAGE3),
     "/v1/nodes?limit=1000&after=gpu002 ", 0, "gpu001\ngpu002\n\u7bc0\u70b9-3\n", ""},
    {"no page more than is needed", ARGS("node", "ls", "--limit=1", "-oname"), ARGS(PAGE1),
     "/v1/nodes?limit=1 ", 0, "gpu001\n", ""},
    {"a limit of the rows that are wanted",
     ARGS("node", "ls", "-lpool!=train", "--limit=1", "-oname"), ARGS(PAGE1, PAGE2),
     "/v1/nodes?limit=1000&after=gpu001 ", 0, "gpu002\n", ""},
    {"more than the default", ARGS("node", "history", "n", "--columns=seq,kind"),
     ARGS("{\"items\":[{\"seq\":9,\"kind\":\"held\"}],\"next\":\"9\"}", "{\"items\":[]}"),
     "/v1/nodes/n/history?limit=100&before=9 ", 0, "seq  kind\n9    held\n", ""},
    {"digests among other members", ARGS("node", "history", "n"),
     ARGS("{\"items\":[{\"seq\":9,\"report\":\"" SHA "\",\"boot\":\"sha256:0\"}]}"),
     "/v1/nodes/n/history?limit=100 ", 0, "  report sha256:0123456789ab, boot sha256:0\n", ""},
    {"are whole in JSON", ARGS("node", "history", "n", "--json"),
     ARGS("{\"items\":[{\"report\":\"" SHA "\"}]}"), "/v1/nodes/n/history?limit=100 ", 0,
     "{\"items\":[{\"report\":\"" SHA "\"}]}\n", ""},
    {"how to have all", ARGS("node", "history", "n", "--columns=seq"), ARGS(HUNDRED),
     "/v1/nodes/n/history?limit=100 ", 0, "\n2\nand more: --limit 0 shows all\n", ""},
    {"not said to those who chose", ARGS("node", "history", "n", "--columns=seq", "--limit=2"),
     ARGS(HUNDRED), "/v1/nodes/n/history?limit=2 ", 0, "seq\n2\n2\n", ""},
    {"nor in JSON", ARGS("node", "history", "n", "-oname"), ARGS(HUNDRED), "/v1/nodes/n/history", 0,
     TEN(TEN("2\n")), ""},
    {"all of a list that has a default", ARGS("node", "history", "n", "--limit=0", "-oname"),
     ARGS("{\"items\":[{\"seq\":9}],\"next\":\"9\"}", "{\"items\":[{\"seq\":8}]}"),
     "/v1/nodes/n/history?limit=1000&before=9 ", 0, "9\n8\n", ""},
    {"no limit", ARGS("node", "ls", "--limit=many"), ARGS(NULL), "", 2, "",
     "--limit: 'many' is not a number from 0, which means all, to 1000000\n"},
    {"a limit of lists in an answer", ARGS("fleet", "show", "--limit=1", "-oname"), ARGS(FLEET),
     "/v1/fleet ", 0, "train\n", ""},

    {"columns", ARGS("change", "ls", "--columns", "id,members.done,kind"), ARGS(CHANGES),
     "/v1/changes", 0, "id  members.done  kind\n7   30            stack\n", ""},
    {"a column twice", ARGS("node", "ls", "--columns", "name,pool,name"), ARGS(NULL), "", 2, "",
     "--columns: 'name' is given twice; name each column once\n"},
    {"columns of JSON", ARGS("node", "ls", "--columns=name", "--json"), ARGS(NULL), "", 2, "",
     "--columns is for tables, and does not go with --output wide, json, yaml or name\n"},
    {"columns of YAML", ARGS("node", "ls", "--columns=name", "-oyaml"), ARGS(NULL), "", 2, "",
     "--columns is for tables"},
    {"columns and wide", ARGS("node", "ls", "--columns=name", "-owide"), ARGS(NULL), "", 2, "",
     "--columns is for tables"},
};

/* A row of names or JSON has all of the output, and one of a table a part of it. */
static bool is_whole(const char *const *words)
{
    bool whole = false;
    for (; *words != NULL; words++)
        whole = whole || strcmp(*words, "name") == 0 || strcmp(*words, "-oname") == 0 ||
                strcmp(*words, "--json") == 0;
    return whole;
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        lks_test_case("%s", rows[i].name);
        lks_run_ask(&a, tree.path, rows[i].words, rows[i].says, &(struct lks_term){0});
        CHECK_INT(a.run.exit, rows[i].exit);
        CHECK_HAS(a.run.err, rows[i].err);
        CHECK(rows[i].err[0] != '\0' || a.run.err.len == 0);
        if (is_whole(rows[i].words))
            CHECK_STR(a.run.out, rows[i].out);
        else
            CHECK_HAS(a.run.out, rows[i].out);
        if (rows[i].heard[0] != '\0')
            CHECK_HAS(lks_buf_view(&a.liar.heard), rows[i].heard);
    }
}

/* Names of all commands --------------------------------------------------------------------- */

/* The members that are names are documented, and help is about every command. */
static void test_names(void)
{
    size_t named = 0;
    for (size_t i = 0; i < lks_command_count; i++) {
        const char *paths = lks_format_names(lks_commands[i].name);
        struct lks_str rest = lks_str_from(paths != NULL ? paths : ""), path, part;
        struct lks_selector_of of;
        lks_test_case("%s", lks_commands[i].name);
        CHECK(paths != NULL || !lks_str_ends(lks_str_from(lks_commands[i].name), " ls"));
        CHECK(paths != NULL || !lks_cli_rows(&lks_commands[i], &of));
        named += paths != NULL;
        while (lks_str_word(&rest, &path)) {
            while (path.len > 0) {
                lks_str_cut(path, '.', &part, &path);
                CHECK(lks_run_names(lks_str_from(lks_commands[i].json), part));
            }
        }
    }
    CHECK(named > 50);
}

/* Headings ---------------------------------------------------------------------------------- */

/* Lists in which each row has all documented members. */
static void answer_all(const struct lks_selector_of *of, struct lks_buf *out)
{
    static const char *const items[] = {"items", NULL};
    lks_buf_addf(out, "{\"seq\":1");
    for (const char *const *list = of->lists != NULL ? of->lists : items; *list != NULL; list++) {
        const char *const only[] = {*list, NULL};
        struct lks_selector_of one = *of;
        struct lks_str member;
        one.lists = only;
        lks_buf_addf(out, ",\"%s\":[{\"x\":1", *list);
        for (size_t i = 0; lks_selector_member(&one, i, &member); i++)
            if (!lks_str_is(member, "..."))
                lks_buf_addf(out, ",\"%" LKS_STR_FMT "\":\"1\"", LKS_STR_ARG(member));
        lks_buf_addf(out, "}]");
    }
    lks_buf_addf(out, "}");
}

/* The next heading of a line of headings, which have two blanks or more between them. */
static bool next_heading(struct lks_str *line, struct lks_str *out)
{
    *line = lks_str_trim(*line);
    int64_t end = lks_str_find(*line, LKS_STR("  "));
    size_t len = end < 0 ? line->len : (size_t)end;
    *out = (struct lks_str){line->ptr, len};
    *line = (struct lks_str){line->ptr + len, line->len - len};
    return out->len > 0;
}

static void ask_list(const char *command, const char *option, const char *answer,
                     struct lks_run_asked *out)
{
    const char *words[WORDS_MAX] = {0};
    char first[32], second[32];
    size_t count = 0;
    int given = sscanf(command, "%31s %31s", first, second);
    words[count++] = first;
    if (given > 1)
        words[count++] = second;
    if (strcmp(command, "node history") == 0 || strcmp(command, "job show") == 0)
        words[count++] = "n1";
    if (option != NULL)
        words[count++] = option;
    /* Of drift the notes behind the table are a list of its own. */
    const char *const answers[] = {answer, strcmp(command, "drift") == 0 ? answer : NULL, NULL};
    lks_run_ask(out, tree.path, words, answers, &(struct lks_term){0});
}

/* What a table shows above a column can be typed where a column is asked for. */
static void check_headings(const char *command, const char *answer)
{
    LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked table = {0};
    struct lks_str line, rest, heading;
    size_t count = 0;
    ask_list(command, NULL, answer, &table);
    lks_str_cut(table.run.out, '\n', &line, &rest);
    while (next_heading(&line, &heading)) {
        LKS_CLEANUP(lks_run_asked_fini) struct lks_run_asked a = {0};
        char option[128];
        snprintf(option, sizeof(option), "--columns=%" LKS_STR_FMT, LKS_STR_ARG(heading));
        lks_test_case("%s %s", command, option);
        ask_list(command, option, NULL, &a);
        CHECK_INT(a.run.exit, 4); /* it is taken, and no lockstepd is there; 2: it is not */
        count++;
    }
    lks_test_case("%s", command);
    CHECK(count > 0);
}

static void test_headings(void)
{
    for (size_t i = 0; i < lks_command_count; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(1 << 16);
        struct lks_selector_of of;
        if (!lks_cli_rows(&lks_commands[i], &of))
            continue;
        answer_all(&of, &answer);
        check_headings(lks_commands[i].name, answer.ptr);
    }
}

/* Members ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *json;
    const char *lists[3];
    const char *names;
} shapes[] = {
    {"items", "{items: [{id, state?, by}]}", {NULL}, "id, state, by"},
    {"objects and lists inside",
     "{items: [{id, a: {b, c}, d: [{e}], f?: [[g]], h}]}",
     {NULL},
     "id, a, d, f, h"},
    {"alternatives", "{items: [{name, value | absent, why}]}", {NULL}, "name, value, absent, why"},
    {"lists of two answers", "{items: [{a, b}]}; with --x {items: [{b, c}]}", {NULL}, "a, b, c"},
    {"two lists", "{x: [{a}], maxy: [{q}], y: [{b}]}", {"x", "y"}, "a, b"},
    {"types", "{items: [{a: NAME, b: text, c}]}", {NULL}, "a, b, c"},
    {"no such list", "{things: [{a}]}", {NULL}, ""},
    {"an end that is missing", "{items: [{a, b", {NULL}, "a"},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < LKS_COUNT(shapes); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(4096);
        struct lks_selector_of of = {.json = shapes[i].json,
                                     .lists = shapes[i].lists[0] != NULL ? shapes[i].lists : NULL};
        lks_test_case("%s", shapes[i].name);
        lks_selector_names(&of, &names);
        CHECK_STR(lks_buf_view(&names), shapes[i].names);
    }
}

/* The pager --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *own, *general, *path, *chosen;
} pagers[] = {
    {"our own", "a -b", "c", NULL, "a -b"},
    {"the general one", NULL, "c", NULL, "c"},
    {"none by an empty text", "", "c", NULL, NULL},
    {"none by cat", "cat", "c", NULL, NULL},
    {"none by $PAGER", NULL, "cat", NULL, NULL},
    {"no less", NULL, NULL, "/nonexistent:/dev", NULL},
    {"no path", NULL, NULL, NULL, NULL},
};

static void test_choice(void)
{
    for (size_t i = 0; i < LKS_COUNT(pagers); i++) {
        const char *chosen = lks_pager_choose(pagers[i].own, pagers[i].general, pagers[i].path);
        lks_test_case("%s", pagers[i].name);
        CHECK_STR(lks_str_from(chosen != NULL ? chosen : "none"),
                  pagers[i].chosen != NULL ? pagers[i].chosen : "none");
    }
    char path[256];
    lks_tree_file(&tree, "/less", "");
    snprintf(path, sizeof(path), "%s/less", tree.path);
    CHECK(chmod(path, 0700) == 0);
    snprintf(path, sizeof(path), "/nonexistent:%s", tree.path);
    lks_test_case("less, if it is there");
    CHECK_STR(lks_str_from(lks_pager_choose(NULL, NULL, path)), "less -FRX");
}

static const struct {
    const char *name, *text;
    unsigned width;
    size_t rows;
} texts[] = {
    {"nothing", "", 80, 0},
    {"a line", "a\n", 80, 1},
    {"a line without an end", "a\nb", 80, 2},
    {"an empty line", "\n\n", 80, 2},
    {"a line that fits", "12345\n", 5, 1},
    {"a line that does not", "123456\n", 5, 2},
    {"no width", "123456\n", 0, 1},
    {"colours take no columns", "\033[31m12345\033[0m\n", 5, 1},
    {"wide characters take two", "\u7bc0\u70b9\n", 3, 2},
};

static void test_height(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        CHECK_INT((int64_t)lks_pager_rows(lks_str_from(texts[i].text), texts[i].width),
                  (int64_t)texts[i].rows);
    }
}

int main(void)
{
    tree = lks_tree_new();
    int code = lks_test_main((const struct lks_test[]){
        {"lists: formats", test_views},
        {"lists: one that does not end", test_endless},
        {"lists: rows and columns", test_rows},
        {"lists: names of all commands", test_names},
        {"lists: headings are names of columns", test_headings},
        {"lists: members of rows", test_shapes},
        {"lists: the choice of a pager", test_choice},
        {"lists: rows of a terminal", test_height},
        {0},
    });
    lks_tree_free(&tree);
    return code;
}
