/*
 * The list of a site's jobs: what is read of it, what is refused, and which jobs a node has.
 */
#include "base/buf.h"
#include "core/sched/jobs.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define JOB(id, nodes)                                                                             \
    "{\"id\":\"" id "\",\"name\":\"n\",\"user\":\"kim\",\"account\":\"llm\",\"partition\":\"p\","  \
    "\"state\":\"running\",\"nodes\":\"" nodes "\",\"started\":1000,\"ends\":null,"                \
    "\"requeue\":true,\"gpus\":8}"
#define LIST(jobs) "{\"as_of\":5,\"age\":40,\"jobs\":[" jobs "]}"

/* What is refused ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *json, *message; /* NULL: it is read */
    enum lks_code code;
} lists[] = {
    {"no jobs", LIST(""), NULL, LKS_OK},
    {"one job", LIST(JOB("17", "g[1-2]")), NULL, LKS_OK},
    {"blanks everywhere",
     " { \"age\" : 0 , \"jobs\" : [ " JOB("17", "") " , " JOB("18", "") " ] } ", NULL, LKS_OK},
    {"members of later bridges", "{\"age\":1,\"x\":{\"jobs\":[1,\"]\"]},\"jobs\":[]}", NULL,
     LKS_OK},
    {"a list that is cut off", "{\"age\":1,\"jobs\":[" JOB("17", "g1") ",", "cut off",
     LKS_E_INVALID},
    {"a job that is cut off", "{\"age\":1,\"jobs\":[{\"id\":\"17\"", "cut off", LKS_E_INVALID},
    {"no end of the list", "{\"age\":1,\"jobs\":[" JOB("17", "g1"), "cut off", LKS_E_INVALID},
    {"a comma too many", LIST(JOB("17", "g1") ","), "cut off or malformed", LKS_E_INVALID},
    {"no comma", LIST(JOB("17", "g1") JOB("18", "g1")), "cut off or malformed", LKS_E_INVALID},
    {"no list", "{\"age\":1,\"jobs\":{}}", "malformed", LKS_E_INVALID},
    {"no object", "[]", "malformed", LKS_E_INVALID},
    {"no age", "{\"jobs\":[]}", "malformed", LKS_E_INVALID},
    {"an age in quotes", "{\"age\":\"1\",\"jobs\":[]}", "malformed", LKS_E_INVALID},
    {"a list that is too old", "{\"age\":60001,\"jobs\":[]}", "60 s old", LKS_E_UNAVAILABLE},
    {"one that is not yet", "{\"age\":60000,\"jobs\":[]}", NULL, LKS_OK},
    {"an element that is no object", LIST("17"), "job 1 of the list", LKS_E_INVALID},
    {"an element that is no JSON", LIST("{\"id\":}"), "job 1 of the list", LKS_E_INVALID},
};

static void test_lists(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        struct lks_sched_jobs jobs = {0};
        struct lks_err err = {0};
        lks_test_case("%s", lists[i].name);
        enum lks_code code = lks_sched_jobs_read(lks_str_from(lists[i].json), &jobs, &err);
        CHECK_CODE(code, lists[i].code);
        if (lists[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), lists[i].message);
        lks_sched_jobs_fini(&jobs);
    }
}

/* Users choose some of the texts, and times: none of that may hide the jobs of others. */
#define USED(account) JOB_OF("17", account, "g2", "1000", "true")
#define JOB_OF(id, account, nodes, started, requeue)                                               \
    "{\"id\":\"" id "\",\"user\":\"kim\",\"account\":\"" account "\",\"partition\":\"p\","         \
    "\"state\":\"running\",\"nodes\":\"" nodes "\",\"started\":" started                           \
    ",\"ends\":253402300800000,\"requeue\":" requeue ",\"gpus\":8}"

static const struct {
    const char *name, *job, *id, *account;
    bool known; /* else it counts as on every node, and nothing is asked of it */
} odd[] = {
    {"an escape sequence in the account", USED("ac\\u001b[31mct"), "17", "ac?[31mct", true},
    {"a line feed in the account", USED("a\\nb"), "17", "a?b", true},
    {"a mark that turns text in the account", USED("a\\u202eb"), "17", "a???b", true},
    {"an end beyond the year 9999", USED("llm"), "17", "llm", true},
    {"nodes with a control byte", JOB_OF("17", "llm", "g2\\u0007", "1000", "true"), "17", "llm",
     false},
    {"no id", JOB_OF("", "llm", "g2", "1000", "true"), "?", "llm", false},
    {"an id with a control byte", JOB_OF("1\\u00077", "llm", "g2", "1000", "true"), "?", "llm",
     false},
    {"a negative start", JOB_OF("17", "llm", "g2", "-1", "true"), "17", "llm", false},
    {"no policy", JOB_OF("17", "llm", "g2", "1000", "null"), "17", "llm", false},
    {"no nodes and no policy", JOB_OF("17", "llm", "", "null", "null"), "17", "llm", false},
};

static void test_odd(void)
{
    for (size_t i = 0; i < LKS_COUNT(odd); i++) {
        LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
        struct lks_sched_jobs_at at = {0};
        struct lks_err err = {0};
        char json[1024];
        lks_test_case("%s", odd[i].name);
        (void)snprintf(json, sizeof(json), LIST(JOB("3", "g1") ",%s," JOB("4", "g1")), odd[i].job);
        CHECK_CODE(lks_sched_jobs_read(lks_str_from(json), &jobs, &err), LKS_OK);
        CHECK_INT(jobs.count, 3);
        if (jobs.count != 3)
            continue;
        const struct lks_sched_job *job = &jobs.jobs[1];
        CHECK(job->runs && job->unplaced == !odd[i].known && job->requeue == odd[i].known);
        CHECK_STR(job->id, odd[i].id);
        CHECK_STR(job->account, odd[i].account);
        CHECK_INT(job->started, odd[i].known ? 1000 : 0);
        CHECK_INT(job->ends, 0);
        CHECK(lks_sched_jobs_on(&jobs, LKS_STR("g2"), &at) == job);
        CHECK_INT(lks_sched_jobs_on(&jobs, LKS_STR("g9"), &(struct lks_sched_jobs_at){0}) == job,
                  !odd[i].known);
    }
}

/* A list that grew beyond the limit is no shorter list. */
static void test_too_many(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SCHED_JOBS_BYTES_MAX);
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    for (uint32_t extra = 0; extra < 2; extra++) {
        lks_buf_truncate(&text, 0);
        lks_buf_add(&text, LKS_STR("{\"age\":1,\"jobs\":["));
        for (uint32_t i = 0; i < LKS_SCHED_JOBS_LISTED_MAX + extra; i++)
            lks_buf_addf(&text,
                         "%s{\"id\":\"%" PRIu32
                         "\",\"started\":null,\"ends\":null,\"gpus\":null,\"requeue\":false}",
                         i > 0 ? "," : "", i + 1);
        lks_buf_add(&text, LKS_STR("]}"));
        enum lks_code code = lks_sched_jobs_read(lks_buf_view(&text), &jobs, &err);
        CHECK_CODE(code, extra == 0 ? LKS_OK : LKS_E_LIMIT);
        CHECK_INT(jobs.count, extra == 0 ? LKS_SCHED_JOBS_LISTED_MAX : 0);
        lks_sched_jobs_fini(&jobs);
    }
    CHECK_HAS(lks_str_from(err.msg), "more than 200000 jobs");
}

/* Jobs on more nodes than there is memory for. */
static void test_too_many_places(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SCHED_JOBS_BYTES_MAX);
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    lks_buf_add(&text, LKS_STR("{\"age\":1,\"jobs\":["));
    for (uint32_t i = 0; i < 5; i++)
        lks_buf_addf(&text, "%s" JOB("%" PRIu32, "g[1-900000]"), i > 0 ? "," : "", i + 1);
    lks_buf_add(&text, LKS_STR("]}"));
    CHECK_CODE(lks_sched_jobs_read(lks_buf_view(&text), &jobs, &err), LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "more than 4000000 nodes");
}

/* What a node has ----------------------------------------------------------------------------- */

static const char of_nodes[] =
    LIST(JOB("17", "g[1-3]") "," JOB("18_4", "g2") "," JOB("19", "") "," JOB("20+1", "g[1-"));

static const struct {
    const char *node, *jobs; /* ids in the order of the list */
} nodes[] = {
    {"g1", "17 20+1"}, {"g2", "17 18_4 20+1"}, {"g3", "17 20+1"}, {"g4", "20+1"}, {"", "20+1"},
};

static void test_nodes(void)
{
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_jobs_read(lks_str_from(of_nodes), &jobs, &err), LKS_OK);
    CHECK_INT(jobs.count, 4);
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        bool has[4] = {false};
        char got[64] = "";
        struct lks_sched_jobs_at at = {0};
        const struct lks_sched_job *job;
        lks_test_case("%s", nodes[i].node);
        while ((job = lks_sched_jobs_on(&jobs, lks_str_from(nodes[i].node), &at)) != NULL) {
            CHECK(!has[job - jobs.jobs]);
            has[job - jobs.jobs] = true;
        }
        for (size_t j = 0; j < LKS_COUNT(has); j++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
                     has[j] && got[0] != '\0' ? " " : "", has[j] ? jobs.jobs[j].id.ptr : "");
        CHECK_STR(lks_str_from(got), nodes[i].jobs);
    }
    lks_sched_jobs_fini(&jobs);
}

static void test_find(void)
{
    struct lks_sched_jobs jobs = {0}, none = {0};
    struct lks_err err = {0};
    struct lks_sched_jobs_at at = {0};
    CHECK_CODE(lks_sched_jobs_read(lks_str_from(of_nodes), &jobs, &err), LKS_OK);
    const struct lks_sched_job *job = lks_sched_jobs_find(&jobs, LKS_STR("18_4"));
    CHECK(job == &jobs.jobs[1]);
    CHECK(job->runs && job->requeue && job->gpus == 8 && job->started == 1000 && job->ends == 0);
    CHECK_STR(job->account, "llm");
    CHECK_INT(jobs.jobs[0].node_count, 3);
    CHECK(!jobs.jobs[2].runs && jobs.jobs[3].unplaced);
    CHECK(lks_sched_jobs_find(&jobs, LKS_STR("18")) == NULL);
    CHECK(lks_sched_jobs_find(&none, LKS_STR("18")) == NULL);
    CHECK(lks_sched_jobs_on(&none, LKS_STR("g1"), &at) == NULL);
    lks_sched_jobs_fini(&jobs);
}

static void test_age(void)
{
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_jobs_read(LKS_STR(LIST("")), &jobs, &err), LKS_OK);
    CHECK(lks_sched_jobs_age(&jobs, 100) == UINT64_MAX);
    lks_sched_jobs_came(&jobs, 1000);
    CHECK_INT(lks_sched_jobs_age(&jobs, 1000), 40);
    CHECK_INT(lks_sched_jobs_age(&jobs, 1500), 540);
    CHECK_INT(lks_sched_jobs_age(&jobs, 10), 0);
    lks_sched_jobs_fini(&jobs);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"lists that are read and refused", test_lists},
        {"a job that hides no other", test_odd},
        {"too many jobs", test_too_many},
        {"jobs on too many nodes", test_too_many_places},
        {"the jobs of a node", test_nodes},
        {"a job by its id", test_find},
        {"the age of a list", test_age},
        {NULL, NULL},
    });
}
