/* The health check of a node's site, by way of its agent: the condition of the node, the metric,
 * and what the agent is told. */
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"

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

static void check_all(struct crew *crew, struct lks_client *agent)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    uint64_t beats = 0;
    check_told(agent, &beats, false);
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
