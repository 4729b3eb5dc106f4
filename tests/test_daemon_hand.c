/* An operator who acts on nodes by hand, asked of the real daemon: what would break promises 1 and
 * 9 is refused and reaches no agent, and a wedged node takes two people. */
#include "codec/format/digest.h"
#include "tests/crew.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 192, BODY_SIZE = 512, SAID_MAX = 1 << 16 };

#define PAYLOAD "#!/bin/sh\nid >/root/was-here\n"

/* A production pool that observes, and one of posture dev. */
static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools:\n"
                            "  train: {posture: pre-training, stack: golden, enforce: observe}\n"
                            "  lab: {posture: dev, stack: golden}\n"
                            "nodes:\n"
                            "  - {hosts: gpu1, pool: train, class: hgx-h200-8}\n"
                            "  - {hosts: lab1, pool: lab, class: hgx-h200-8}\n";

struct scene {
    struct crew crew;
    struct lks_client *operates, *approver;
    struct lks_client *gpu1, *lab1; /* agents */
    uint64_t beats[2];
    char digest[LKS_DIGEST_SIZE];
};

static bool scene_begin(struct scene *s)
{
    *s = (struct scene){0};
    if (!crew_begin(&s->crew, "") || !crew_release(&s->crew, s->digest) ||
        !crew_fleet(&s->crew, fleet))
        return false;
    s->operates = crew_person(&s->crew, "operator", "");
    s->approver = crew_person(&s->crew, "approver", "train");
    s->gpu1 = crew_enroll(&s->crew, "gpu1");
    s->lab1 = crew_enroll(&s->crew, "lab1");
    return s->operates != NULL && s->approver != NULL && s->gpu1 != NULL && s->lab1 != NULL &&
           crew_report(s->gpu1, "gpu1", "", &s->beats[0]) &&
           crew_report(s->lab1, "lab1", "", &s->beats[1]);
}

static void scene_end(struct scene *s)
{
    lks_client_free(s->operates);
    lks_client_free(s->approver);
    lks_client_free(s->gpu1);
    lks_client_free(s->lab1);
    crew_end(&s->crew);
}

static const char *path_of(const char *node, const char *verb, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "/v1/nodes/%s/%s", node, verb);
    return out;
}

static const char *body_of(const char *executor, const char *digest, char out[BODY_SIZE])
{
    snprintf(out, BODY_SIZE, "{\"executor\":\"%s\",\"digests\":[%s%s%s],\"reason\":\"a test\"}",
             executor, digest[0] != '\0' ? "\"" : "", digest, digest[0] != '\0' ? "\"" : "");
    return out;
}

/* What the agent of the node is to fetch. */
static void check_mail(struct lks_client *agent, size_t commands)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    if (crew_fine(agent, "mail", "/v1/agent/mail", NULL, &t))
        CHECK_INT(crew_count(&t, "commands"), commands);
}

static void check_refused(struct scene *s, const char *node, const char *executor,
                          const char *digest, const char *why)
{
    char path[PATH_SIZE], body[BODY_SIZE];
    crew_refused(s->operates, "commandNode", path_of(node, "command", path),
                 body_of(executor, digest, body), 409, why);
    check_mail(node[0] == 'g' ? s->gpu1 : s->lab1, 0);
}

/* It is given, and the agent says how it ended. */
static uint64_t check_given(struct scene *s, const char *node, const char *executor,
                            const char *outcome)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE], body[BODY_SIZE];
    struct lks_client *agent = node[0] == 'g' ? s->gpu1 : s->lab1;
    if (!crew_fine(s->operates, "commandNode", path_of(node, "command", path),
                   body_of(executor, "", body), &t))
        return 0;
    uint64_t id = (uint64_t)crew_number(&t, "id");
    check_mail(agent, 1);
    snprintf(body, sizeof(body), "{\"id\":%llu,\"outcome\":\"%s\",\"text\":\"2 GPU processes\"}",
             (unsigned long long)id, outcome);
    crew_fine(agent, "result", "/v1/agent/result", body, &t);
    return id;
}

/* Promise 9: a file without a verified bundle, in the depot or not, in any pool. */
static void check_payload(struct scene *s)
{
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE], path[PATH_SIZE];
    LKS_ASSERT(lks_digest_text(LKS_STR(PAYLOAD), digest, &err) == LKS_OK);
    static const char *const nodes[] = {"gpu1", "lab1"};
    for (int put = 0; put < 2; put++) {
        LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
        for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
            lks_test_case("%s, %s", nodes[i], put ? "in the depot" : "not in the depot");
            check_refused(s, nodes[i], "hook", digest, "no verified bundle names sha256:");
            check_refused(s, nodes[i], "idle", digest, "no verified bundle names sha256:");
        }
        snprintf(path, sizeof(path), "/v1/artifacts/%s?name=payload", digest);
        CHECK_CODE(lks_client_exchange(s->crew.root, "PUT", path, "application/octet-stream",
                                       LKS_STR(PAYLOAD), "", &answer, &err),
                   LKS_OK);
    }
}

/* Promise 1: the node is live, in service and in a pool that only observes. */
static void check_reboot(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE];
    lks_test_case("in service");
    check_refused(s, "gpu1", "reboot", "", "it is in service; drain it first");
    check_refused(s, "gpu1", "anything-else", "", "it is in service; drain it first");
    (void)check_given(s, "gpu1", "idle",
                      "done"); /* a look before it is drained counts for nothing */
    check_refused(s, "gpu1", "reboot", "", "it is in service; drain it first");
    lks_test_case("posture dev");
    CHECK(check_given(s, "lab1", "reboot", "done") > 0);
    lks_test_case("drained, not read");
    crew_fine(s->operates, "holdNode", path_of("gpu1", "hold", path), "{\"reason\":\"a fan\"}", &t);
    check_refused(s, "gpu1", "reboot", "", "its agent did not read its GPU processes");
    lks_test_case("busy");
    (void)check_given(s, "gpu1", "idle", "failed");
    check_refused(s, "gpu1", "reboot", "", "its agent did not find it idle (2 GPU processes)");
}

/* The exception: an operator asks, an approver agrees, and it is reviewed. */
static void check_wedged(struct scene *s)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE];
    const char *why = "{\"reason\":\"a process in state D\"}";
    lks_test_case("wedged");
    crew_refused(s->operates, "approveReset", path_of("gpu1", "reset/approve", path), why, 403,
                 "may not approve");
    crew_refused(s->approver, "approveReset", path, why, 409, "no reset of gpu1 waits");
    crew_fine(s->operates, "askReset", path_of("gpu1", "reset", path), why, &t);
    check_mail(s->gpu1, 0);
    crew_fine(s->crew.root, "node", "/v1/nodes/gpu1", NULL, &t);
    CHECK_STR(lks_doc_text(lks_doc_member(t.doc, "reset"), "by"), "operator-");
    crew_fine(s->approver, "approveReset", path_of("gpu1", "reset/approve", path), why, &t);
    CHECK(crew_number(&t, "id") > 0);
    check_mail(s->gpu1, 1);
    crew_refused(s->operates, "releaseNode", path_of("gpu1", "release", path), why, 409,
                 "stays out of service until then");
    crew_fine(s->crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "kind"), "wedged");
    crew_refused(s->operates, "releaseAlarm", "/v1/alarms/1/release", why, 409,
                 "the reset of gpu1 is not reviewed yet");
    CHECK_INT(crew_ask(s->crew.root, "GET", "/metrics", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "\nlockstep_wedged_resets_total 1\n");
    CHECK_HAS(lks_buf_view(&t.answer.body), "\nlockstep_wedged_resets_unreviewed 1\n");
    crew_fine(s->approver, "reviewReset", path_of("gpu1", "reset/review", path), why, &t);
    crew_fine(s->crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

static void test_attacks(void)
{
    struct scene s;
    if (scene_begin(&s)) {
        check_payload(&s);
        check_reboot(&s);
        check_wedged(&s);
        crew_all_covered("daemon_hand");
    }
    scene_end(&s);
}

/* The same by the command line, as root on the socket. */
static int cli(const struct scene *s, struct lks_buf *said, const char *const *words)
{
    const char *argv[CTL_ARGS_MAX] = {LKS_CLI_PROGRAM, "node"};
    size_t count = 2;
    while (*words != NULL)
        argv[count++] = *words++;
    argv[count++] = "--server";
    argv[count++] = s->crew.c.socket;
    argv[count++] = "--reason";
    argv[count] = "a test";
    lks_buf_fini(said);
    lks_buf_init(said, SAID_MAX);
    return ctl_run(argv, said);
}

#define CLI(s, said, ...) cli(s, said, (const char *const[]){__VA_ARGS__, NULL})

static void test_command_line(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = {0};
    struct scene s;
    if (scene_begin(&s)) {
        CHECK_INT(CLI(&s, &said, "command", "gpu1", "reboot"), 1);
        CHECK_HAS(lks_buf_view(&said), "it is in service; drain it first: lockstep node hold gpu1");
        CHECK_INT(CLI(&s, &said, "command", "gpu1", "inventory"), 0);
        CHECK_HAS(lks_buf_view(&said), "gpu1: command 1 (inventory) waits for its agent");
        CHECK_INT(CLI(&s, &said, "command", "gpu1", "hook", s.digest), 1);
        CHECK_HAS(lks_buf_view(&said), "no verified bundle names sha256:");
        CHECK_INT(CLI(&s, &said, "command", "gpu1", "reboot", "--wedged"), 1);
        CHECK_HAS(lks_buf_view(&said), "only a drained or unhealthy node is reset");
        CHECK_INT(CLI(&s, &said, "command", "gpu1", "apt", "--wedged"), 2);
        CHECK_INT(CLI(&s, &said, "approve", "gpu1"), 1);
        CHECK_HAS(lks_buf_view(&said), "no reset of gpu1 waits for an approval");
        CHECK_INT(CLI(&s, &said, "review", "gpu1"), 1);
        CHECK_HAS(lks_buf_view(&said), "no reset of gpu1 waits for a review");
    }
    scene_end(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"by hand: an operator against promises 1 and 9", test_attacks},
        {"by hand: the command line", test_command_line},
        {0},
    });
}
