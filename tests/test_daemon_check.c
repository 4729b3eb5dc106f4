/* The health check of a node's site, by way of its agent: the condition of the node, the metric,
 * and what the agent is told. */
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <string.h>

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\n"                                                          \
    "pools: {train: {posture: dev}}\nnodes: [{hosts: 'gpu[1-2]', pool: train, class: "             \
    "hgx-h200-8}]\n"
#define FAILED "{\"passed\":false,\"text\":\"no GPU 3\"}"

static bool has_unhealthy(struct lks_client *root, const char *line)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    return crew_fine(root, "metrics", "/metrics", NULL, &t) &&
           lks_str_find(lks_buf_view(&t.answer.body), lks_str_from(line)) >= 0;
}

static void check_metric(struct lks_client *root, const char *line)
{
    for (struct lks_wait w = {0}; !has_unhealthy(root, line) && lks_wait_on(&w);)
        continue;
    CHECK(has_unhealthy(root, line));
}

static void check_node(struct lks_client *root, bool unhealthy, const char *text)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(root, "node", "/v1/nodes/gpu1", NULL, &t);
    CHECK_INT(crew_truth(&t, "unhealthy"), unhealthy);
    CHECK_STR(crew_text(&t, "condition_text"), text);
}

/* The answer has it a heartbeat or two after the change of the state. */
static void check_told(struct lks_client *agent, uint64_t *beats, bool changing)
{
    bool told = !changing;
    for (struct lks_wait w = {0}; told != changing && lks_wait_on(&w);) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        if (!crew_beat(agent, beats, &t))
            break;
        told = crew_truth(&t, "changing");
    }
    CHECK_INT(told, changing);
}

/* The node has no stack, and was never read. */
static void check_stack(struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    lks_test_case("what its jobs learn of it");
    crew_fine(agent, "nodeStack", "/v1/agent/stack", NULL, &t);
    CHECK_STR(crew_text(&t, "bar"), "stale");
    CHECK_STR(crew_text(&t, "why"), "what it runs in this boot was not reported yet");
    CHECK_STR(crew_text(&t, "digest"), "");
    CHECK(!crew_truth(&t, "enforces"));
}

static void check_unanswered(struct lks_client *root)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    lks_test_case("jobs that started without an answer are counted");
    crew_fine(root, "unanswered", "/v1/unanswered", "{\"count\":3}", &t);
    check_metric(root, "lockstep_admissions_without_answer_total 3\n");
    crew_refused(root, "unanswered", "/v1/unanswered", "{\"count\":0}", 400, "count: ");
    lks_test_case("an alarm stays until a person closes it");
    crew_fine(root, "unanswered", "/v1/unanswered", "{\"count\":2}", &t);
    check_metric(root, "lockstep_admissions_without_answer_total 5\n");
    check_metric(root, "lockstep_alarms_open{kind=\"unanswered\"} 1\n");
}

/* Each viewer of the fleet may report, as slurm-prolog does: once a minute, and at most 10000 jobs.
 */
static void check_reporters(struct crew *crew)
{
    static const struct {
        const char *name, *role, *pool, *body;
        unsigned status;
        const char *counts, *alarms; /* then */
    } rows[] = {
        {"a viewer of the fleet", "viewer", "", "{\"count\":4}", 200, "9", "2"},
        {"its next report within a minute", "viewer", "", "{\"count\":4}", 429, "9", "2"},
        {"a viewer of a pool", "viewer", "train", "{\"count\":4}", 403, "9", "2"},
        {"another identity reports a million jobs", "operator", "", "{\"count\":1000000}", 200,
         "10009", "3"},
    };
    char identity[64] = "", line[96];
    struct lks_client *client = NULL;
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        char wanted[64];
        lks_test_case("%s", rows[i].name);
        snprintf(wanted, sizeof(wanted), "%s-%s", rows[i].role, rows[i].pool);
        if (strcmp(wanted, identity) != 0) {
            lks_client_free(client);
            client = crew_person(crew, rows[i].role, rows[i].pool);
            snprintf(identity, sizeof(identity), "%s", wanted);
        }
        if (!CHECK(client != NULL))
            break;
        CHECK_INT(crew_ask(client, "POST", "/v1/unanswered", rows[i].body, &t), rows[i].status);
        snprintf(line, sizeof(line), "lockstep_admissions_without_answer_total %s\n",
                 rows[i].counts);
        check_metric(crew->root, line);
        snprintf(line, sizeof(line), "lockstep_alarms_open{kind=\"unanswered\"} %s\n",
                 rows[i].alarms);
        check_metric(crew->root, line);
    }
    lks_client_free(client);
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    lks_test_case("the alarm names who reported");
    crew_fine(crew->root, "alarms", "/v1/alarms?kind=unanswered&open=true", NULL, &t);
    CHECK(lks_str_find(lks_buf_view(&t.answer.body),
                       LKS_STR("\"at least 10000 jobs started without an answer from lockstepd, by "
                               "the first report of operator- ")) >= 0);
}

static void check_all(struct crew *crew, struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    uint64_t beats = 0;
    check_told(agent, &beats, false);
    check_stack(agent);
    check_unanswered(crew->root);
    check_reporters(crew);
    lks_test_case("it fails, and fails again");
    crew_fine(agent, "check", "/v1/agent/check", FAILED, &t);
    crew_fine(agent, "check", "/v1/agent/check", FAILED, &t);
    check_node(crew->root, true, "slurm-health: no GPU 3");
    check_metric(crew->root, "lockstep_nodes_unhealthy{pool=\"train\"} 1\n");
    lks_test_case("it passes");
    crew_fine(agent, "check", "/v1/agent/check", "{\"passed\":true}", &t);
    check_node(crew->root, false, "");
    check_metric(crew->root, "lockstep_nodes_unhealthy{pool=\"train\"} 0\n");
    lks_test_case("it fails while the node is changed");
    crew_fine(crew->root, "nodeCondition", "/v1/nodes/gpu1/condition",
              "{\"condition\":\"changing\",\"on\":true,\"text\":\"by hand\"}", &t);
    check_told(agent, &beats, true);
    crew_fine(agent, "check", "/v1/agent/check", FAILED, &t);
    check_node(crew->root, false, "by hand");
    crew_fine(crew->root, "nodeCondition", "/v1/nodes/gpu1/condition",
              "{\"condition\":\"changing\",\"on\":false,\"text\":\"over\"}", &t);
    check_told(agent, &beats, false);
    lks_test_case("no reason");
    crew_refused(agent, "check", "/v1/agent/check", "{\"passed\":false}", 400,
                 "text: there is none, and it is needed");
}

static void test_check(void)
{
    struct crew crew = {0};
    struct lks_client *agent = NULL;
    if (crew_begin(&crew, "") && crew_fleet(&crew, FLEET))
        agent = crew_enroll(&crew, "gpu1");
    if (CHECK(agent != NULL))
        check_all(&crew, agent);
    lks_client_free(agent);
    crew_end(&crew);
}

static void test_covered(void)
{
    crew_all_covered("daemon_check");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"health checks by way of the agent", test_check},
        {"all its routes", test_covered},
        {0},
    });
}
