/* lockstep-bmcsim: what its options mean, and the program itself on real sockets. What its BMCs say
 * is the business of tests/test_bmcsim*.c. */
#include "base/file.h"
#include "codec/format/json.h"
#include "lab/bmcd/faults.h"
#include "lab/bmcd/layout.h"
#include "lab/bmcd/pull.h"
#include "model/manifest/manifest.h"
#include "tests/bmcd.h"
#include "tests/controller.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MAX = 16 << 20, WORDS = 8, HEAD_SIZE = 256 };

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* What was asked for ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct lks_layout_wish wish;
    size_t count;
    const char *first, *last; /* names */
    const char *last_url;
} layouts[] = {
    {"one",
     {"127.64.0.1:7500", "openbmc", NULL, 1, NULL, 0, NULL},
     1,
     "bmc0001",
     "bmc0001",
     "https://127.64.0.1:7500"},
    {"addresses carry",
     {"127.64.0.250:7500", "hgx,dell", NULL, 300, NULL, 0, NULL},
     300,
     "bmc0001",
     "bmc0300",
     "https://127.64.2.37:7500"},
    {"a rack",
     {"127.64.0.1:1", "", "nvl72", 1, NULL, 0, NULL},
     35,
     "rack1-compute01",
     "rack1-shelf8",
     "https://127.64.0.35:1"},
    {"two racks",
     {"127.64.0.1:1", "", "nvl72", 2, NULL, 0, NULL},
     70,
     "rack1-compute01",
     "rack2-shelf8",
     "https://127.64.0.70:1"},
    {"by name",
     {"127.64.0.1:1", "", NULL, 0, (const char *const[]){"hgx=gpu[08-11]", "shelf=s1"}, 2, "C,D"},
     5,
     "gpu08",
     "s1",
     "https://127.64.0.5:1"},
    {"up to the last address",
     {"127.255.255.253:9", "hpe", NULL, 2, NULL, 0, NULL},
     2,
     "bmc0001",
     "bmc0002",
     "https://127.255.255.254:9"},
};

static void test_layouts(void)
{
    for (size_t i = 0; i < LKS_COUNT(layouts); i++) {
        LKS_CLEANUP(lks_layout_fini) struct lks_layout p = {0};
        struct lks_err err = {0};
        char url[LKS_LAYOUT_URL_MAX];
        lks_test_case("%s", layouts[i].name);
        if (!CHECK_CODE(lks_layout_make(&layouts[i].wish, &p, &err), LKS_OK))
            continue;
        CHECK_INT(p.count, layouts[i].count);
        CHECK_STR(p.bmcs[0].name, layouts[i].first);
        CHECK_STR(p.bmcs[p.count - 1].name, layouts[i].last);
        lks_layout_url(&p, p.count - 1, url);
        CHECK_STR(lks_str_from(url), layouts[i].last_url);
    }
}

static const struct {
    const char *name, *mix;
    size_t count;
    const char *message; /* NULL: it is read */
} mixes[] = {
    {"none", "", 0, NULL},
    {"one", "revert=5", 1, NULL},
    {"where and how much", "power-loss@staging=1,slow:2000=100,any=20", 3, NULL},
    {"no percent", "revert", 0, "is not FAULT[@WHERE][:AMOUNT]=PERCENT"},
    {"more than all", "revert=101", 0, "is not FAULT"},
    {"no such fault", "revrt=5", 0, "did you mean 'revert'?"},
    {"no number", "slow:x=5", 0, "'x' is not a number"},
    {"an end too many", "revert=5,", 0, "is not FAULT"},
};

static void test_mixes(void)
{
    for (size_t i = 0; i < LKS_COUNT(mixes); i++) {
        struct lks_faults f = {0};
        struct lks_err err = {0};
        lks_test_case("%s", mixes[i].name);
        enum lks_code code = lks_faults_parse(lks_str_from(mixes[i].mix), &f, &err);
        CHECK_CODE(code, mixes[i].message == NULL ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(f.count, mixes[i].count);
        if (mixes[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), mixes[i].message);
    }
}

/* A BMC fetches from this machine alone. */
static const struct {
    const char *uri;
    bool good, tls;
    const char *host, *port, *path;
} pulls[] = {
    {"http://127.0.0.1:8080/a/b?c=d", true, false, "127.0.0.1", "8080", "/a/b?c=d"},
    {"https://127.9.8.7/x", true, true, "127.9.8.7", "443", "/x"},
    {"http://localhost/x", true, false, "localhost", "80", "/x"},
    {"https://[::1]:7443/x", true, true, "::1", "7443", "/x"},
    {"http://[::1]/x", true, false, "::1", "80", "/x"},
    {.uri = "http://10.0.0.1/x"},
    {.uri = "http://128.0.0.1/x"},
    {.uri = "http://example.com/x"},
    {.uri = "http://localhost.example.com/x"},
    {.uri = "http://127.0.0.1@10.0.0.1/x"},
    {.uri = "http://127.0.0.1:99999/x"},
    {.uri = "http://127.0.0.1:/x"},
    {.uri = "http://127.0.0.1"},
    {.uri = "http://[::ffff:10.0.0.1]/x"},
    {.uri = "http://[::1/x"},
    {.uri = "http://[::1]x80/x"},
    {.uri = "file:///etc/passwd"},
    {.uri = "tftp://127.0.0.1/x"},
    {.uri = ""},
};

static void test_pulls(void)
{
    for (size_t i = 0; i < LKS_COUNT(pulls); i++) {
        struct lks_pull_place at = {0};
        lks_test_case("%s", pulls[i].uri);
        if (!CHECK(lks_pull_parse(pulls[i].uri, &at) == pulls[i].good) || !pulls[i].good)
            continue;
        CHECK(at.tls == pulls[i].tls);
        CHECK_STR(lks_str_from(at.host), pulls[i].host);
        CHECK_STR(lks_str_from(at.port), pulls[i].port);
        CHECK_STR(lks_str_from(at.path), pulls[i].path);
    }
}

/* What is refused, by the program ------------------------------------------------------------- */

static const struct {
    const char *name, *args[WORDS];
    int exit;
    const char *says;
} refusals[] = {
    {"no directory", ARGS("--count", "1"), 2, "--dir has to say"},
    {"a word", ARGS("up"), 2, "no command 'up'"},
    {"no option", ARGS("--cuont", "1"), 2, "did you mean '--count'?"},
    {"not loopback", ARGS("--dir", "/nope", "--listen", "10.0.0.1:7500"), 2,
     "not a loopback address"},
    {"every address", ARGS("--dir", "/nope", "--listen", "0.0.0.0:7500"), 2,
     "not a loopback address"},
    {"a name", ARGS("--dir", "/nope", "--listen", "localhost:7500"), 2, "no IPv4 address"},
    {"no port", ARGS("--dir", "/nope", "--listen", "127.0.0.1"), 2, "no IPv4 address"},
    {"beyond the network", ARGS("--dir", "/nope", "--listen", "127.255.255.254:1", "--count", "2"),
     2, "leave the loopback network"},
    {"none", ARGS("--dir", "/nope", "--count", "0"), 2, "from 1 to 10000"},
    {"too many", ARGS("--dir", "/nope", "--count", "10001"), 2, "not a number up to 10000"},
    {"no such personality", ARGS("--dir", "/nope", "--personality", "hgx,del"), 2,
     "no personality 'del'; did you mean 'dell'?"},
    {"no such rack", ARGS("--dir", "/nope", "--rack", "nvl36"), 2, "there is nvl72"},
    {"names and numbers", ARGS("--dir", "/nope", "--bmc", "hgx=a", "--count", "2"), 2,
     "do not go with it"},
    {"no host list", ARGS("--dir", "/nope", "--bmc", "hgx=a[1-"), 3, "--bmc"},
    {"no hosts", ARGS("--dir", "/nope", "--bmc", "hgx"), 2, "not PERSONALITY=HOSTS"},
    {"no version", ARGS("--dir", "/nope", "--versions", "bmc"), 2, "'bmc' is not CLASS=VERSION"},
    {"no file to write",
     ARGS("make-package", "--personality", "hgx", "--version", "2.0.0", "--output", "/dev/null"), 3,
     "/dev/null: is there and is not a plain file"},
    {"no such fault", ARGS("--dir", "/nope", "--faults", "x=1"), 3, "--faults: no fault 'x'"},
    {"a colon in the user", ARGS("--dir", "/nope", "--user", "a:b"), 2, "without a colon"},
    {"no password", ARGS("--dir", "/nope", "--password-file", "fuzz/corpus/csv/empty"), 3,
     "its first line has to be the password"},
    {"a password that may never come", ARGS("--dir", "/nope", "--password-file", "/dev/null"), 3,
     "/dev/null: is not a plain file"},
    {"no tree", ARGS("--dir", "/nope", "--tree", "/nope"), 3, "no recorded tree"},
    {"no place", ARGS("--dir", "/nope/deeper"), 3, "--dir: /nope/deeper"},
    {"no hardware revision", ARGS("--dir", "/nope", "--revisions", "A,,B"), 2,
     "--revisions: '' is not 1 to 7 characters"},
    {"a package of nothing", ARGS("make-package"), 2, "usage: lockstep-bmcsim make-package"},
    {"of no personality",
     ARGS("make-package", "--personality=ibm", "--version=2", "--output=/nope/x"), 2,
     "no personality 'ibm'"},
    {"too large",
     ARGS("make-package", "--personality=hgx", "--version=2", "--output=/nope/x",
          "--size=99999999"),
     2, "--size"},
};

static int run(const char *const *args, struct lks_buf *said)
{
    const char *argv[WORDS + 1] = {LKS_BMCSIM_PROGRAM};
    for (size_t i = 0; args[i] != NULL; i++)
        argv[i + 1] = args[i];
    return ctl_run(argv, said);
}

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
        lks_test_case("%s", refusals[i].name);
        CHECK_INT(run(refusals[i].args, &said), refusals[i].exit);
        CHECK_HAS(lks_buf_view(&said), refusals[i].says);
        CHECK_HAS(lks_buf_view(&said), "lockstep-bmcsim: ");
    }
}

static void test_help(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    CHECK_INT(run((const char *const[]){"--help", NULL}, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "personalities: openbmc hgx");
    CHECK_HAS(lks_buf_view(&said), "task-lost");
    CHECK_INT(run((const char *const[]){"--version", NULL}, &said), 0);
    CHECK_HAS(lks_buf_view(&said), "lockstep-bmcsim " LKS_VERSION);
}

/* Three that run ------------------------------------------------------------------------------ */

static struct lks_docs docs;

static const struct lks_doc *read_json(const struct lks_buf *answer)
{
    struct lks_err err = {0};
    lks_docs_fini(&docs);
    CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK);
    if (!CHECK_CODE(lks_json_parse(lks_buf_view(answer), &docs, &err), LKS_OK))
        return NULL;
    return docs.first;
}

/* Everyone who knows the password sees what the control socket calls the truth, and nobody else. */
static void check_inventory(const struct bmcd *b, struct lks_buf *answer)
{
    char head[HEAD_SIZE];
    struct lks_client *client = bmcd_client(b, 0);
    bmcd_basic(b, head, sizeof(head));
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 200);
    CHECK_HAS(lks_buf_view(answer), "\"RedfishVersion\"");
    const char *list = "/redfish/v1/UpdateService/FirmwareInventory";
    CHECK_INT(bmcd_ask(client, "GET", list, "", NULL, answer), 401);
    CHECK_INT(bmcd_ask(client, "GET", list, head, NULL, answer), 200);
    const struct lks_doc *all = read_json(answer), *members = lks_doc_member(all, "Members");
    if (CHECK(members != NULL && members->count > 0)) {
        struct lks_str first = lks_doc_text(members->first, "@odata.id");
        char path[HEAD_SIZE];
        snprintf(path, sizeof(path), "%" LKS_STR_FMT, LKS_STR_ARG(first));
        CHECK_INT(bmcd_ask(client, "GET", path, head, NULL, answer), 200);
        CHECK_HAS(lks_buf_view(answer), "\"Version\":\"7.5.3\"");
    }
    lks_client_free(client);
}

static void check_truth(const struct bmcd *b, struct lks_buf *answer)
{
    static const char *const names[] = {"bmc0001", "bmc0002", "bmc0003"};
    static const char *const kinds[] = {"openbmc", "hgx", "openbmc"};
    size_t i = 0;
    CHECK_INT(bmcd_control(b, "GET", "/bmcs", NULL, answer), 200);
    CHECK_HAS(lks_buf_view(answer), "\"class\":\"bios\",\"active\":\"9.9.1\"");
    const struct lks_doc *root = read_json(answer), *list = lks_doc_member(root, "bmcs");
    if (!CHECK(list != NULL) || !CHECK_INT(list->count, LKS_COUNT(names)))
        return;
    for (const struct lks_doc *d = list->first; d != NULL; d = d->next, i++) {
        char url[BMCD_URL_MAX];
        bmcd_url(b, i, url);
        CHECK_STR(lks_doc_text(d, "name"), names[i]);
        CHECK_STR(lks_doc_text(d, "personality"), kinds[i]);
        CHECK_STR(lks_doc_text(d, "url"), url);
        const struct lks_doc *devices = lks_doc_member(d, "devices");
        if (!CHECK(devices != NULL && devices->count > 0))
            continue;
        CHECK_STR(lks_doc_text(devices->first, "active"), "7.5.3");
        CHECK_INT(lks_doc_member(devices->first, "flashes")->number, 0);
    }
}

static const struct {
    const char *name, *method, *path, *body;
    int status;
    const char *has;
} controls[] = {
    {"one", "GET", "/bmcs/bmc0002", NULL, 200, "\"personality\":\"hgx\""},
    {"nobody", "GET", "/bmcs/bmc9999", NULL, 404, "no BMC 'bmc9999'"},
    {"nothing", "GET", "/", NULL, 404, "GET /bmcs"},
    {"no such act", "POST", "/bmcs/bmc0001/explode", "{}", 404, "POST /bmcs/NAME/fault"},
    {"an act is posted", "GET", "/bmcs/bmc0001/fault", NULL, 404, "POST /bmcs/NAME/fault"},
    {"no JSON", "POST", "/bmcs/bmc0001/fault", "{", 400, "error"},
    {"no fault", "POST", "/bmcs/bmc0001/fault", "{}", 400, "no fault ''"},
    {"misspelled", "POST", "/bmcs/bmc0001/fault", "{\"fault\":\"task-lots\"}", 400,
     "did you mean 'task-lost'?"},
    {"no number", "POST", "/bmcs/bmc0001/fault", "{\"fault\":\"slow\",\"amount\":\"x\"}", 400,
     "'amount' is not a number"},
    {"no phase", "POST", "/bmcs/bmc0001/power", "{\"lost\":\"tomorrow\"}", 400,
     "one of upload, staging"},
    {"a phase", "POST", "/bmcs/bmc0001/power", "{\"lost\":\"staging\"}", 200, "bmc0001"},
};

static void check_controls(const struct bmcd *b, struct lks_buf *answer)
{
    for (size_t i = 0; i < LKS_COUNT(controls); i++) {
        lks_test_case("%s", controls[i].name);
        CHECK_INT(bmcd_control(b, controls[i].method, controls[i].path, controls[i].body, answer),
                  controls[i].status);
        CHECK_HAS(lks_buf_view(answer), controls[i].has);
    }
}

/* Faults that are of the sockets: an answer that does not arrive, and another certificate. */
static void check_faults(const struct bmcd *b, struct lks_buf *answer)
{
    struct lks_client *client = bmcd_client(b, 2);
    lks_test_case("faults of the sockets");
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 200);
    CHECK_INT(bmcd_control(b, "POST", "/bmcs/bmc0003/fault",
                           "{\"fault\":\"drop\",\"amount\":1,\"times\":2}", answer),
              200);
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 0);
    lks_client_free(client);
    client = bmcd_client(b, 2);
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 200);
    lks_client_free(client);
    CHECK_INT(bmcd_control(b, "POST", "/bmcs/bmc0003/fault", "{\"fault\":\"certificate\"}", answer),
              200);
    client = bmcd_client(b, 2);
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 0);
    CHECK_HAS(lks_buf_view(answer), "certificate");
    lks_client_free(client);
    client = bmcd_client(b, 1);
    CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, answer), 200);
    lks_client_free(client);
}

/* The fleet it writes is one, and its files are for their owner alone. */
static void check_files(const struct bmcd *b, const char *fleet)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ANSWER_MAX);
    struct lks_manifest manifest = {0};
    struct lks_err err = {0};
    struct stat st;
    CHECK(stat(b->login, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK_CODE(lks_file_read_plain(fleet, &text, &err), LKS_OK);
    CHECK_CODE(
        lks_manifest_parse("fleet", lks_buf_view(&text), lks_test_facts(), NULL, &manifest, &err),
        LKS_OK);
    if (CHECK_INT(manifest.fleet_count, 1)) {
        CHECK_INT(manifest.fleets[0].node_count, 3);
        CHECK(manifest.fleets[0].nodes[0].bmc);
    }
    lks_manifest_fini(&manifest);
}

static void test_program(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct bmcd b;
    char fleet[96];
    bmcd_init(&b);
    snprintf(fleet, sizeof(fleet), "%s/fleet.yaml", b.tree.path);
    const char *const options[] = {"--count",    "3",     "--personality", "openbmc,hgx",
                                   "--firmware", "7.5.3", "--fleet-file",  fleet,
                                   "--speed",    "0",     "--versions",    "bios=9.9.1",
                                   NULL};
    if (bmcd_start(&b, LKS_BMCSIM_PROGRAM, options)) {
        check_inventory(&b, &answer);
        check_truth(&b, &answer);
        check_controls(&b, &answer);
        check_faults(&b, &answer);
        check_files(&b, fleet);
        struct lks_client *client = bmcd_client(&b, 1); /* and stays connected */
        CHECK_INT(bmcd_ask(client, "GET", "/redfish/v1/", "", NULL, &answer), 200);
        CHECK_INT(bmcd_stop(&b), 0);
        CHECK(access(b.control, F_OK) != 0);
        lks_client_free(client);
    }
    lks_docs_fini(&docs);
    bmcd_fini(&b);
}

/* What was killed leaves its place to the next one. */
static void test_kill(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    static const char *const options[] = {"--rack", "nvl72", NULL};
    struct bmcd b;
    bmcd_init(&b);
    for (int i = 0; i < 2 && bmcd_start(&b, LKS_BMCSIM_PROGRAM, options); i++) {
        CHECK_INT(bmcd_control(&b, "GET", "/bmcs/rack1-switch9", NULL, &answer), 200);
        CHECK_HAS(lks_buf_view(&answer), "\"personality\":\"switch\"");
        bmcd_kill(&b);
    }
    bmcd_fini(&b);
}

/* A recorded tree ----------------------------------------------------------------------------- */

static const struct {
    const char *method, *path;
    int status;
    const char *has;
} recorded[] = {
    {"GET", "/redfish/v1", 200, "the root"},
    {"GET", "/redfish/v1/", 200, "the root"},
    {"GET", "/redfish/v1/Systems?$expand=.", 200, "systems"},
    {"GET", "/redfish/v1/Systems/1", 404, "ResourceMissingAtURI"},
    {"GET", "/redfish/v1/.hidden", 404, "ResourceMissingAtURI"},
    {"GET", "/etc/passwd", 404, "ResourceMissingAtURI"},
    {"POST", "/redfish/v1/SessionService/Sessions", 201, "Session"},
    {"DELETE", "/redfish/v1/SessionService/Sessions/1", 204, ""},
    {"PATCH", "/redfish/v1/Systems", 405, "can only be read"},
    {"POST", "/redfish/v1/UpdateService/update", 405, "can only be read"},
};

static void test_recorded(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(ANSWER_MAX);
    struct bmcd b;
    bmcd_init(&b);
    lks_tree_file(&b.tree, "/redfish/v1/index.json", "{\"Id\":\"the root\"}");
    lks_tree_file(&b.tree, "/redfish/v1/Systems/index.json", "{\"Id\":\"systems\"}");
    lks_tree_file(&b.tree, "/redfish/v1/.hidden/index.json", "{}");
    lks_tree_file(&b.tree, "/etc/passwd/index.json", "{}");
    const char *const options[] = {"--tree", b.tree.path, NULL};
    if (bmcd_start(&b, LKS_BMCSIM_PROGRAM, options)) {
        struct lks_client *client = bmcd_client(&b, 0);
        for (size_t i = 0; i < LKS_COUNT(recorded); i++) {
            bool sends = recorded[i].method[0] == 'P';
            lks_test_case("%s %s", recorded[i].method, recorded[i].path);
            CHECK_INT(bmcd_ask(client, recorded[i].method, recorded[i].path, "",
                               sends ? "{}" : NULL, &answer),
                      recorded[i].status);
            CHECK_HAS(lks_buf_view(&answer), recorded[i].has);
        }
        lks_client_free(client);
        CHECK_INT(
            bmcd_control(&b, "POST", "/bmcs/bmc0001/fault", "{\"fault\":\"revert\"}", &answer),
            409);
        CHECK_INT(bmcd_stop(&b), 0);
    }
    bmcd_fini(&b);
}

static void make_package(const struct lks_tree *tree, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(ANSWER_MAX);
    struct lks_err err = {0};
    char output[96];
    lks_buf_init(out, ANSWER_MAX);
    snprintf(output, sizeof(output), "--output=%s/a.fwpkg", tree->path);
    const char *const args[] = {"make-package",
                                "--personality=openbmc",
                                "--class=bmc",
                                "--version=2.0",
                                "--size=5000",
                                output,
                                NULL};
    CHECK_INT(run(args, &said), 0);
    CHECK_CODE(lks_file_read_plain(output + strlen("--output="), out, &err), LKS_OK);
    CHECK(out->len > 5000);
}

/* The same package byte for byte, from the same words. */
static void test_package(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf one = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf two = {0};
    struct lks_tree tree = lks_tree_new();
    make_package(&tree, &one);
    make_package(&tree, &two);
    CHECK(lks_str_eq(lks_buf_view(&one), lks_buf_view(&two)));
    lks_tree_free(&tree);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"layouts", test_layouts}, {"mixes", test_mixes},
        {"pulls", test_pulls},     {"refusals", test_refusals},
        {"help", test_help},       {"program", test_program},
        {"kill", test_kill},       {"recorded", test_recorded},
        {"package", test_package}, {0},
    };
    return lks_test_main(tests);
}
