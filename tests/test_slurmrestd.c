/*
 * The driver of slurmrestd with what real ones answered (tests/slurmrestd: Slurm 22.05.8 with
 * v0.0.38, and 24.11.5 with v0.0.40 and v0.0.42), and with answers that lie. The contract that it
 * keeps as every driver does is in test_sched.c.
 */
#include "base/file.h"
#include "drivers/sched/sched_drivers.h"
#include "drivers/sched/slurmrestd_read.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW        UINT64_C(1763200000000)
#define FIXTURE    ((size_t)1 << 20)
#define SCRIPT_MAX 16

static const struct lks_slurmrestd_read_version *version(const char *name)
{
    for (size_t i = 0; i < lks_slurmrestd_read_version_count; i++) {
        if (strcmp(lks_slurmrestd_read_versions[i].name, name) == 0)
            return &lks_slurmrestd_read_versions[i];
    }
    LKS_ASSERT(false);
    return NULL;
}

static void load(const char *name, struct lks_buf *out)
{
    struct lks_err err = {0};
    char path[128];
    snprintf(path, sizeof(path), "tests/slurmrestd/%s.json", name);
    LKS_ASSERT(lks_file_read(path, out, &err) == LKS_OK);
}

/* Which answer it is ------------------------------------------------------------------------ */

static const struct {
    const char *name, *file, *version;
    int status;
    enum lks_slurmrestd_read is;
    const char *why;
} answers[] = {
    {"a node, 22.05", "v0.0.38-node", "v0.0.38", 200, LKS_SLURMRESTD_GOOD, ""},
    {"a node, 24.11", "v0.0.42-drained", "v0.0.42", 200, LKS_SLURMRESTD_GOOD, ""},
    {"an older version of 24.11", "v0.0.40-drained", "v0.0.40", 200, LKS_SLURMRESTD_GOOD, ""},
    {"a write, 24.11", "v0.0.42-done", "v0.0.42", 200, LKS_SLURMRESTD_GOOD, ""},
    {"of another version", "v0.0.42-drained", "v0.0.40", 200, LKS_SLURMRESTD_BAD,
     "not of slurmrestd's v0.0.40"},
    {"of another release", "v0.0.38-node", "v0.0.42", 200, LKS_SLURMRESTD_BAD, "not of"},
    {"no such node, 22.05", "v0.0.38-missing", "v0.0.38", 500, LKS_SLURMRESTD_MISSING,
     "Invalid node name"},
    {"no such node, 24.11", "v0.0.42-missing", "v0.0.42", 200, LKS_SLURMRESTD_MISSING,
     "Failure to query node n9"},
    {"slurmctld is away, 22.05", "v0.0.38-dead", "v0.0.38", 500, LKS_SLURMRESTD_BAD,
     "Unspecified error"},
    {"slurmctld is away, 24.11", "v0.0.42-dead", "v0.0.42", 502, LKS_SLURMRESTD_BAD,
     "Unable to contact slurm controller"},
    {"a state that it does not take", "v0.0.42-bad-state", "v0.0.42", 500, LKS_SLURMRESTD_BAD,
     "Unknown flag"},
    {"the token", "v0.0.42-done", "v0.0.42", 401, LKS_SLURMRESTD_DENIED, "token"},
    {"the path", "v0.0.42-done", "v0.0.42", 404, LKS_SLURMRESTD_NO_PATH, "404"},
    {"the method", "v0.0.42-done", "v0.0.42", 405, LKS_SLURMRESTD_NO_VERB, "405"},
    {"busy", "v0.0.42-done", "v0.0.42", 503, LKS_SLURMRESTD_BUSY, "503"},
    {"an error without an error", "v0.0.42-done", "v0.0.42", 500, LKS_SLURMRESTD_BAD,
     "status 500 without an error"},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(FIXTURE);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        char why[LKS_SCHED_REASON_MAX + 1];
        lks_test_case("%s", answers[i].name);
        load(answers[i].file, &body);
        const struct lks_http_response r = {.status = answers[i].status,
                                            .body = lks_buf_view(&body)};
        LKS_ASSERT(lks_docs_init(&docs, "slurmrestd", &err) == LKS_OK);
        CHECK_INT(lks_slurmrestd_read_answer(&r, version(answers[i].version), &docs, why),
                  answers[i].is);
        CHECK_HAS(lks_str_from(why), answers[i].why);
    }
}

/* Nodes and jobs ---------------------------------------------------------------------------- */

static const struct {
    const char *file, *node;
    bool drained, down, failing, busy;
    const char *reason, *user;
    lks_ms since;
} nodes[] = {
    {"v0.0.38-node", "n1", false, false, false, false, "", "", 0},
    {"v0.0.38-down", "n3", false, true, false, false, "bad", "root", UINT64_C(1795032531000)},
    {"v0.0.42-drained", "n1", true, false, false, false, "lockstep:change:17 why", "root",
     UINT64_C(1795033348000)},
    {"v0.0.40-drained", "n1", true, false, false, false, "lockstep:change:17 why", "root",
     UINT64_C(1795033348000)},
    {"v0.0.42-down-drained", "n3", true, true, false, false, "lockstep:change:17 why", "root",
     UINT64_C(1795033228000)},
    {"v0.0.42-fail", "n3", false, false, true, false, "bad", "root", UINT64_C(1795033348000)},
    {"v0.0.42-suspended", "n2", false, false, false, false, "", "", 0},
};

static bool read_node(struct lks_str body, const char *name, struct lks_slurmrestd_node *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    char why[LKS_SCHED_REASON_MAX + 1];
    LKS_ASSERT(lks_docs_init(&docs, "slurmrestd", &err) == LKS_OK);
    bool good = lks_slurmrestd_read_node(body, lks_str_from(name), &docs, out, why);
    return CHECK(good || why[0] != '\0') && good;
}

static void test_nodes(void)
{
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(FIXTURE);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_slurmrestd_node n = {0};
        struct lks_err err = {0};
        char why[LKS_SCHED_REASON_MAX + 1];
        lks_test_case("%s", nodes[i].file);
        load(nodes[i].file, &body);
        LKS_ASSERT(lks_docs_init(&docs, "slurmrestd", &err) == LKS_OK);
        if (!CHECK(lks_slurmrestd_read_node(lks_buf_view(&body), lks_str_from(nodes[i].node), &docs,
                                            &n, why)))
            continue;
        CHECK_INT(n.drained, nodes[i].drained);
        CHECK_INT(n.down, nodes[i].down);
        CHECK_INT(n.maintenance, false);
        CHECK_INT(n.failing, nodes[i].failing);
        CHECK_INT(n.busy, nodes[i].busy);
        CHECK_STR(n.reason, nodes[i].reason);
        CHECK_STR(n.user, nodes[i].user);
        CHECK_INT(n.since, nodes[i].since);
        CHECK(!read_node(lks_buf_view(&body), "n4", &n));
    }
}

/* An answer that is cut off anywhere is none, or what the whole one says. */
static void test_cut(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(FIXTURE);
    size_t good = 0;
    load("v0.0.42-drained", &body);
    for (size_t len = 0; len < body.len; len++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_slurmrestd_node n = {0};
        struct lks_err err = {0};
        char why[LKS_SCHED_REASON_MAX + 1];
        const struct lks_http_response r = {.status = 200, .body = {body.ptr, len}};
        lks_test_case("%zu bytes", len);
        LKS_ASSERT(lks_docs_init(&docs, "slurmrestd", &err) == LKS_OK);
        if (lks_slurmrestd_read_answer(&r, version("v0.0.42"), &docs, why) == LKS_SLURMRESTD_GOOD &&
            read_node(r.body, "n1", &n))
            good += CHECK(n.drained);
    }
    CHECK(good < sizeof("\n  \"warnings\": []\n}\n,")); /* what stands behind all that is read */
}

static const struct {
    const char *name, *file, *json, *node;
    bool good;
    uint32_t count;
    const char *id;
    lks_ms ends;
} jobs[] = {
    {"three, 22.05", "v0.0.38-jobs", NULL, "n2", true, 3, "1", UINT64_C(1795033128000)},
    {"three, 24.11", "v0.0.42-jobs", NULL, "n2", true, 3, "1", UINT64_C(1795033825000)},
    {"not here", "v0.0.42-jobs", NULL, "n1", true, 0, "", 0},
    {"a suspended one is there", "v0.0.42-suspended-jobs", NULL, "n2", true, 1, "1",
     UINT64_C(1795033949000)},
    {"a task of an array", NULL,
     "{\"jobs\":[{\"job_id\":3,\"array_job_id\":2,\"array_task_id\":0,\"job_state\":\"RUNNING\","
     "\"nodes\":\"n[1-3]\"}]}",
     "n2", true, 1, "2_0", 0},
    {"a part of a heterogeneous one", NULL,
     "{\"jobs\":[{\"job_id\":3,\"het_job_id\":2,\"het_job_offset\":1,\"job_state\":\"RUNNING\","
     "\"nodes\":\"n2\"}]}",
     "n2", true, 1, "2+1", 0},
    {"one that waits, one that ended, one that completes", NULL,
     "{\"jobs\":[{\"job_id\":1,\"job_state\":[\"PENDING\"],\"nodes\":\"n2\"},"
     "{\"job_id\":2,\"job_state\":[\"COMPLETED\"],\"nodes\":\"n2\"},"
     "{\"job_id\":3,\"job_state\":[\"COMPLETED\",\"COMPLETING\"],\"nodes\":\"n2\"}]}",
     "n2", true, 1, "3", 0},
    {"a state that is not known", NULL,
     "{\"jobs\":[{\"job_id\":1,\"job_state\":\"DREAMING\",\"nodes\":\"n2\"}]}", "n2", true, 1, "1",
     0},
    {"nodes that cannot be read", NULL,
     "{\"jobs\":[{\"job_id\":1,\"job_state\":\"RUNNING\",\"nodes\":\"n[1-\"}]}", "n2", true, 1, "1",
     0},
    {"no time limit", NULL,
     "{\"jobs\":[{\"job_id\":1,\"job_state\":\"RUNNING\",\"nodes\":\"n2\",\"end_time\":99,"
     "\"time_limit\":4294967295}]}",
     "n2", true, 1, "1", 0},
    {"what is no job", NULL, "{\"jobs\":[17]}", "n2", true, 1, "0", 0},
    {"no list", NULL, "{\"jobs\":{}}", "n2", false, 0, "", 0},
    {"nothing", NULL, "", "n2", false, 0, "", 0},
    {"cut off", NULL, "{\"jobs\":[{\"job_id\":1,\"job_state\":\"RUNNING\",\"nodes\":\"n2\"},", "n2",
     false, 0, "", 0},
};

static void test_jobs(void)
{
    for (size_t i = 0; i < LKS_COUNT(jobs); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(FIXTURE);
        struct lks_slurmrestd_jobs found = {0};
        char why[LKS_SCHED_REASON_MAX + 1] = "";
        lks_test_case("%s", jobs[i].name);
        if (jobs[i].file != NULL)
            load(jobs[i].file, &body);
        else
            lks_buf_add(&body, lks_str_from(jobs[i].json));
        CHECK_INT(
            lks_slurmrestd_read_jobs(lks_buf_view(&body), lks_str_from(jobs[i].node), &found, why),
            jobs[i].good);
        CHECK_INT(why[0] != '\0', !jobs[i].good);
        CHECK_INT(found.count, jobs[i].count);
        CHECK_STR(lks_str_from(found.id), jobs[i].id);
        CHECK_INT(found.ends, jobs[i].ends);
    }
}

/* Conversations ----------------------------------------------------------------------------- */

#define META "\"meta\":{\"plugin\":{\"data_parser\":\"data_parser/v0.0.42\"}},\"errors\":[]}"
#define OLD  "\"meta\":{\"plugin\":{\"type\":\"openapi/v0.0.38\"}},\"errors\":[]}"
#define STATE(states, reason, user)                                                                \
    "{\"nodes\":[{\"name\":\"n1\",\"state\":[" states "],\"reason\":\"" reason                     \
    "\",\"reason_set_by_user\":\"" user "\"}],"
#define OPEN    STATE("\"IDLE\"", "", "")
#define HELD    STATE("\"IDLE\",\"DRAIN\"", "lockstep:change:17 why", "slurm")
#define NO_JOBS "{\"jobs\":[],"
#define DONE    "{"
#define FAILED(number, text)                                                                       \
    "{\"errors\":[{\"error\":\"" text "\",\"error_number\":" #number "}],"                         \
    "\"meta\":{\"plugin\":{\"data_parser\":\"data_parser/v0.0.42\"}}}"

struct step {
    const char *asks; /* what the request line begins with */
    int status;
    const char *body;
    const char *sends; /* what is in its body; NULL: anything */
};

static const struct talk_row {
    const char *name;
    enum lks_sched_verb verb;
    uint32_t dialect;
    enum lks_code code;
    const char *text; /* in what is said, or in why not */
    struct step steps[SCRIPT_MAX];
} talks[] = {
    {"a drain",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained",
     {{"GET /slurm/v0.0.42/node/n1", 200, OPEN META, NULL},
      {"POST /slurm/v0.0.42/node/n1", 200, DONE META,
       "{\"state\":[\"DRAIN\"],\"reason\":\"lockstep:change:17 to b\"}"},
      {"GET /slurm/v0.0.42/node/n1", 200, HELD META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET /slurm/v0.0.42/node/n1", 200, HELD META, NULL}}},
    {"the newest version that is there",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "open for work",
     {{"GET /slurm/v0.0.42/node/n1", 404, "", NULL},
      {"GET /slurm/v0.0.41/node/n1", 404, "", NULL},
      {"GET /slurm/v0.0.40/node/n1", 404, "", NULL},
      {"GET /slurm/v0.0.38/node/n1", 200, OPEN OLD, NULL}}},
    {"the version that answered last",
     LKS_SCHED_LOOK,
     4,
     LKS_OK,
     "open for work",
     {{"GET /slurm/v0.0.38/node/n1", 200, OPEN OLD, NULL}}},
    {"the server was updated",
     LKS_SCHED_LOOK,
     4,
     LKS_OK,
     "open for work",
     {{"GET /slurm/v0.0.38/node/n1", 404, "", NULL},
      {"GET /slurm/v0.0.42/node/n1", 200, OPEN META, NULL}}},
    {"no version",
     LKS_SCHED_LOOK,
     0,
     LKS_E_UNAVAILABLE,
     "none of the versions v0.0.38 to v0.0.42 of slurmrestd's OpenAPI is there",
     {{"GET /slurm/v0.0.42/", 404, "", NULL},
      {"GET /slurm/v0.0.41/", 404, "", NULL},
      {"GET /slurm/v0.0.40/", 404, "", NULL},
      {"GET /slurm/v0.0.38/", 404, "", NULL}}},
    {"22.05 changes no node",
     LKS_SCHED_DRAIN,
     4,
     LKS_E_REFUSED,
     "no route that changes nodes in v0.0.38",
     {{"GET /slurm/v0.0.38/node/n1", 200, OPEN OLD, NULL}}},
    {"a server that changes none",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_REFUSED,
     "no route that changes",
     {{"GET", 200, OPEN META, NULL}, {"POST", 405, "", NULL}}},
    {"the token is refused",
     LKS_SCHED_LOOK,
     0,
     LKS_E_DENIED,
     "does not accept the token",
     {{"GET", 401, "Authentication failure", NULL}}},
    {"the user may not change nodes",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_DENIED,
     "does not let user 'slurm' drain node 'n1': Access/permission denied",
     {{"GET", 200, OPEN META, NULL},
      {"POST", 500, FAILED(2002, "Access/permission denied"), NULL}}},
    {"a node that is down keeps its reason",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained",
     {{"GET", 200, STATE("\"DOWN\"", "bad DIMM", "root") META, NULL},
      {"POST", 200, DONE META, "lockstep:change:17 to b (before: bad DIMM)"},
      {"GET", 200,
       STATE("\"DOWN\",\"DRAIN\"", "lockstep:change:17 to b (before: bad DIMM)", "slurm") META,
       NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200,
       STATE("\"DOWN\",\"DRAIN\"", "lockstep:change:17 to b (before: bad DIMM)", "slurm") META,
       NULL}}},
    {"and gets it back",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "",
     {{"GET", 200,
       STATE("\"DOWN\",\"DRAIN\"", "lockstep:change:17 to b (before: bad DIMM)", "slurm") META,
       NULL},
      {"POST", 200, DONE META, "{\"state\":[\"UNDRAIN\"],\"reason\":\"bad DIMM\"}"},
      {"GET", 200, STATE("\"DOWN\"", "bad DIMM", "slurm") META, NULL}}},
    {"no mark of ours stays behind",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{"GET", 200, HELD META, NULL},
      {"POST", 200, DONE META, "{\"state\":[\"UNDRAIN\"],\"reason\":\"returned to service\"}"},
      {"GET", 200, STATE("\"IDLE\"", "returned to service", "slurm") META, NULL}}},
    {"our words, another's user",
     LKS_SCHED_RELEASE,
     0,
     LKS_E_REFUSED,
     "is drained by 'kim'",
     {{"GET", 200, STATE("\"IDLE\",\"DRAIN\"", "lockstep:change:17 why", "kim") META, NULL}}},
    {"a drain without a user",
     LKS_SCHED_RELEASE,
     0,
     LKS_E_REFUSED,
     "is drained by 'unknown'",
     {{"GET", 200, STATE("\"IDLE\",\"DRAIN\"", "lockstep:change:17 why", "") META, NULL}}},
    {"a node in FAIL",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained by 'root': bad",
     {{"GET", 200, STATE("\"IDLE\",\"FAIL\"", "bad", "root") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200, STATE("\"IDLE\",\"FAIL\"", "bad", "root") META, NULL}}},
    {"FAIL with the reason of our drain is a person's",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "drained by 'slurm': lockstep:change:17 why",
     {{"GET", 200, STATE("\"IDLE\",\"FAIL\"", "lockstep:change:17 why", "slurm") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200, STATE("\"IDLE\",\"FAIL\"", "lockstep:change:17 why", "slurm") META, NULL}}},
    {"a drain whose reason slurmctld dropped",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained by 'unknown' without a reason",
     {{"GET", 200, STATE("\"IDLE\",\"DRAIN\"", "", "") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200, STATE("\"IDLE\",\"DRAIN\"", "", "") META, NULL}}},
    {"a node that Slurm reboots is busy",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "the first is one that is not listed",
     {{"GET", 200,
       STATE("\"IDLE\",\"DRAIN\",\"REBOOT_ISSUED\"", "lockstep:change:17", "slurm") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL}}},
    {"so is one that is powered down",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "the first is one that is not listed",
     {{"GET", 200,
       STATE("\"IDLE\",\"DRAIN\",\"POWERING_DOWN\"", "lockstep:change:17", "slurm") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL}}},
    {"and one that has not registered",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "the first is one that is not listed",
     {{"GET", 200, STATE("\"UNKNOWN\",\"DRAIN\"", "lockstep:change:17", "slurm") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL}}},
    {"a suspended job holds its node",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "1 job runs there, the first is 9",
     {{"GET", 200, HELD META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200,
       "{\"jobs\":[{\"job_id\":9,\"job_state\":[\"SUSPENDED\"],\"nodes\":\"n1\"}]," META, NULL}}},
    {"busy without a list is busy",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "the first is one that is not listed",
     {{"GET", 200, STATE("\"MIXED\",\"DRAIN\"", "lockstep:change:17", "slurm") META, NULL},
      {"GET /slurm/v0.0.42/jobs", 0, "", NULL}}},
    {"a drain that is forgotten meanwhile",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "open for work",
     {{"GET", 200, HELD META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200, OPEN META, NULL}}},
    {"a write does not decide that there is no node",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{"GET", 200, HELD META, NULL},
      {"POST", 500, FAILED(2018, "Invalid node name specified"), NULL},
      {"GET", 200, OPEN META, NULL}}},
    {"nor does a list of jobs",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "drained",
     {{"GET", 200, HELD META, NULL},
      {"GET /slurm/v0.0.42/jobs", 200, FAILED(0, "No error"), NULL},
      {"GET /slurm/v0.0.42/jobs", 200, NO_JOBS META, NULL},
      {"GET", 200, HELD META, NULL}}},
    {"24.11 ends the drain of a node that has not registered, and calls it an error",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{"GET", 200, STATE("\"UNKNOWN\",\"DRAIN\"", "lockstep:change:17 why", "slurm") META, NULL},
      {"POST", 500, FAILED(2028, "Invalid node state specified"), NULL},
      {"GET", 200, STATE("\"UNKNOWN\",\"NOT_RESPONDING\"", "returned to service", "slurm") META,
       NULL}}},
    {"it says yes and does nothing",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_UNAVAILABLE,
     "asked 4 times",
     {{"GET", 200, OPEN META, NULL},
      {"POST", 200, DONE META, NULL},
      {"GET", 200, OPEN META, NULL},
      {"POST", 200, DONE META, NULL},
      {"GET", 200, OPEN META, NULL},
      {"POST", 200, DONE META, NULL},
      {"GET", 200, OPEN META, NULL},
      {"POST", 200, DONE META, NULL},
      {"GET", 200, OPEN META, NULL}}},
    {"it says why not",
     LKS_SCHED_LOOK,
     0,
     LKS_E_UNAVAILABLE,
     "the last: away",
     {{"GET", 502, FAILED(1800, "away"), NULL},
      {"GET", 502, FAILED(1800, "away"), NULL},
      {"GET", 502, FAILED(1800, "away"), NULL},
      {"GET", 502, FAILED(1800, "away"), NULL},
      {"GET", 502, FAILED(1800, "away"), NULL},
      {"GET", 502, FAILED(1800, "away"), NULL}}},
};

#define TOKEN "eyJhbGciOiJIUzI1NiJ9.eyJzdW4iOiJzbHVybSJ9.c2VjcmV0"

static void check_request(const struct lks_http_request *r, const struct step *step)
{
    char line[256];
    snprintf(line, sizeof(line), "%s %s", r->method, r->path.ptr);
    CHECK(lks_str_starts(lks_str_from(line), step->asks));
    CHECK_HAS(lks_buf_view(&r->head), "X-SLURM-USER-NAME: slurm\r\n");
    CHECK_HAS(lks_buf_view(&r->head), "X-SLURM-USER-TOKEN: " TOKEN "\r\n");
    if (step->sends != NULL)
        CHECK_HAS(lks_buf_view(&r->body), step->sends);
}

/* How many steps of the script were taken. */
static size_t run_script(void *value, const struct talk_row *row, struct lks_talk *talk)
{
    const struct lks_conversation_ops *ops = lks_sched_slurmrestd.talk;
    lks_ms now = NOW;
    size_t at = 0;
    for (;;) {
        lks_conversation_next(ops, value, now, talk);
        if (talk->kind == LKS_TALK_WAIT) {
            now = talk->until;
            continue;
        }
        if (talk->kind != LKS_TALK_SEND || !CHECK(at < SCRIPT_MAX && row->steps[at].asks != NULL))
            return at;
        const struct step *step = &row->steps[at++];
        check_request(&talk->request, step);
        const struct lks_http_response r = {.status = step->status,
                                            .body = lks_str_from(step->body)};
        lks_conversation_feed(ops, value, now, step->status > 0 ? &r : NULL);
    }
}

static struct lks_sched_wish wish_of(enum lks_sched_verb verb)
{
    return (struct lks_sched_wish){.verb = verb,
                                   .node = LKS_STR("n1"),
                                   .owner = LKS_STR("change:17"),
                                   .reason = LKS_STR("to b"),
                                   .login = {LKS_STR("slurm"), LKS_STR(TOKEN)},
                                   .deadline = NOW + LKS_SCHED_DEADLINE};
}

static void test_talks(void)
{
    for (size_t i = 0; i < LKS_COUNT(talks); i++) {
        LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
        const struct talk_row *row = &talks[i];
        struct lks_sched_wish wish = wish_of(row->verb);
        struct lks_sched_said said;
        struct lks_err err = {0};
        size_t steps = 0;
        lks_test_case("%s", row->name);
        void *value = calloc(1, lks_sched_slurmrestd.talk->size);
        LKS_ASSERT(value != NULL);
        lks_conversation_talk_init(&talk);
        wish.dialect = row->dialect;
        CHECK_CODE(lks_sched_slurmrestd.begin(value, &wish, &err), LKS_OK);
        while (steps < SCRIPT_MAX && row->steps[steps].asks != NULL)
            steps++;
        CHECK_INT(run_script(value, row, &talk), steps);
        lks_sched_slurmrestd.said(value, &said);
        CHECK_CODE(talk.err.code, row->code);
        CHECK_HAS(lks_str_from(row->code == LKS_OK ? said.text : talk.err.msg), row->text);
        CHECK(strstr(talk.err.msg, TOKEN) == NULL && strstr(said.text, TOKEN) == NULL);
        free(value);
    }
}

/* The login ------------------------------------------------------------------------------- */

static void test_login(void)
{
    static char long_token[LKS_SCHED_TOKEN_MAX + 2];
    memset(long_token, 'a', sizeof(long_token) - 1);
    const struct {
        const char *name, *user, *token;
        enum lks_code code;
    } rows[] = {
        {"a user and a token", "slurm", TOKEN, LKS_OK},
        {"the socket tells", "slurm", "", LKS_OK},
        {"no user", "", TOKEN, LKS_E_INVALID},
        {"a user in two lines", "slurm\r\nX: y", TOKEN, LKS_E_INVALID},
        {"a token in two lines", "slurm", "ab\r\nX: y", LKS_E_INVALID},
        {"a token that is too long", "slurm", long_token, LKS_E_INVALID},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_sched_wish wish = wish_of(LKS_SCHED_LOOK);
        struct lks_err err = {0};
        void *value = calloc(1, lks_sched_slurmrestd.talk->size);
        LKS_ASSERT(value != NULL);
        lks_test_case("%s", rows[i].name);
        wish.login =
            (struct lks_sched_login){lks_str_from(rows[i].user), lks_str_from(rows[i].token)};
        CHECK_CODE(lks_sched_slurmrestd.begin(value, &wish, &err), rows[i].code);
        CHECK(rows[i].token[0] == '\0' || strstr(err.msg, rows[i].token) == NULL);
        free(value);
    }
}

/* Which driver an address has. */
static void test_addresses(void)
{
    static const struct {
        const char *sched, *place, *address;
        const struct lks_sched_driver *driver;
    } rows[] = {
        {"slurm", "https://a:1", "https://a:1", &lks_sched_bridge},
        {"slurm", "rest+https://a:1", "https://a:1", &lks_sched_slurmrestd},
        {"slurm", "rest+unix:/run/s", "unix:/run/s", &lks_sched_slurmrestd},
        {"none", "rest+unix:/run/s", "unix:/run/s", NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const char *address = NULL;
        lks_test_case("%s", rows[i].place);
        CHECK(lks_sched_driver_at(lks_str_from(rows[i].sched), rows[i].place, &address) ==
              rows[i].driver);
        CHECK_STR(lks_str_from(address), rows[i].address);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"which answer it is", test_answers},
        {"nodes", test_nodes},
        {"answers that are cut off", test_cut},
        {"jobs", test_jobs},
        {"conversations", test_talks},
        {"the login", test_login},
        {"addresses", test_addresses},
        {NULL, NULL},
    });
}
