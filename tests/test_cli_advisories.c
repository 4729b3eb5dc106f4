/* advisories --fleet --cve of the real daemon, as a user has it: where a flaw is, what closes it,
 * and the emergency change that is proposed. */
#include "tests/crew.h"
#include "tests/run_cli.h"

#define FLAW "CVE-2025-23266" /* container-toolkit up to 1.17.7; 1.17.8 closes it */
#define OLD  "container-toolkit=1.17.7\ncontainer-toolkit.package=1.17.7"

enum { NODES = 4 };

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools:\n"
                            "  train: {posture: batch, stack: old}\n"
                            "  serve: {posture: batch, stack: old}\n"
                            "  lab: {posture: dev, stack: old}\n"
                            "nodes:\n"
                            "  - {hosts: \"gpu[1-3]\", pool: train, class: hgx-h200-8}\n"
                            "  - {hosts: inf1, pool: serve, class: hgx-h200-8}\n"
                            "  - {hosts: lab1, pool: lab, class: hgx-h100-8}\n";

#define BOTH "hardware: ", "hardware: [hgx-h100-8, hgx-h200-8]"

/* What the fleet runs; what closes the flaw with one difference, for most of it; and with more. */
static const char *const old[] = {"name: ",
                                  "name: old",
                                  BOTH,
                                  "  container-toolkit: ",
                                  "  container-toolkit: {version: '1.17.7'}",
                                  NULL};
static const char *const nearest[] = {"name: ", "name: nearest", "  container-toolkit: ",
                                      "  container-toolkit: {version: '1.17.8'}", NULL};
static const char *const farther[] = {"name: ",
                                      "name: farther",
                                      BOTH,
                                      "  container-toolkit: ",
                                      "  container-toolkit: {version: '1.18.0'}",
                                      "  nccl: ",
                                      "  nccl: {version: '2.29.2', owner: image}",
                                      NULL};

/* gpu3 runs something that its pool is not pinned to. */
static const struct {
    const char *node, *changes;
} nodes[NODES] = {
    {"gpu1", OLD}, {"gpu2", OLD}, {"gpu3", "container-toolkit=1.16.2"}, {"inf1", OLD}};

static bool begin(struct crew *crew)
{
    char digest[LKS_DIGEST_SIZE];
    if (!crew_begin(crew, "") || !crew_release_with(crew, old, digest) || !crew_fleet(crew, fleet))
        return false;
    for (size_t i = 0; i < NODES; i++) {
        uint64_t beats = 0;
        struct lks_client *agent = crew_enroll(crew, nodes[i].node);
        bool told = agent != NULL && crew_report(agent, nodes[i].node, nodes[i].changes, &beats);
        lks_client_free(agent);
        if (!told)
            return false;
    }
    return true;
}

/* The command, up to five more words; what it printed is in `out`. */
static struct lks_run advisories(const struct crew *crew, const char *const *more)
{
    const char *args[LKS_RUN_ARGS_MAX] = {"advisories", "--fleet", "--server", crew->c.socket};
    size_t count = 4;
    for (; *more != NULL; more++)
        args[count++] = *more;
    return lks_run(args);
}

#define MORE(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect(const struct crew *crew, const char *name, const char *const *more, int status,
                   const char *const *texts)
{
    struct lks_run run = advisories(crew, more);
    lks_test_case("%s", name);
    CHECK_INT(run.exit, status);
    for (; *texts != NULL; texts++)
        CHECK_HAS(status < 2 ? run.out : run.err, *texts);
    lks_run_fini(&run);
}

static void check_before(const struct crew *crew)
{
    expect(crew, "all of them", MORE("--json"), 1, MORE("\"" FLAW "\""));
    expect(crew, "an unknown one", MORE("--cve", "CVE-1"), 3, MORE("no advisory 'CVE-1'"));
    expect(crew, "no flaw to propose about", MORE("--propose"), 2, MORE("--cve"));
    expect(crew, "nothing closes it", MORE("--cve", FLAW), 1,
           MORE("train: no published stack closes " FLAW "; publish one with container-toolkit "
                "1.17.8\n",
                "serve: no published stack closes",
                "train: gpu3 drifted: exposed, and not what the pool is pinned to"));
    expect(crew, "and so nothing is proposed", MORE("--cve", FLAW, "--propose"), 1,
           MORE("serve: no published stack closes"));
}

static void check_json(const struct crew *crew)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_run run = advisories(crew, MORE("--cve", FLAW, "--json"));
    const struct lks_doc *doc = lks_run_json(&run, &docs);
    if (CHECK(doc != NULL)) {
        lks_run_check_members("advisories", doc);
        const struct lks_doc *pools = lks_doc_member(doc, "remedies");
        CHECK(pools != NULL && pools->count == 3);
        for (const struct lks_doc *p = pools != NULL ? pools->first : NULL; p != NULL; p = p->next)
            CHECK_STR(lks_doc_text(p, "remedy"),
                      lks_str_is(lks_doc_text(p, "pool"), "lab") ? "farther" : "nearest");
    }
    lks_run_fini(&run);
}

/* Two pools go to one stack, and one to another: two changes of class emergency, which others
 * approve. */
static void check_proposed(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    expect(crew, "what would be proposed", MORE("--cve", FLAW), 1,
           MORE("train: nearest closes it; --propose drafts the change\n"));
    crew_fine(crew->root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    expect(crew, "no bundle has it", MORE("--cve", FLAW, "--propose"), 1, MORE("nearest"));
    crew_fine(crew->root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    expect(crew, "proposed", MORE("--cve", "cve-2025-23266", "--propose", "--hook", "site"), 0,
           MORE("change 1 is proposed: nearest for train,serve, 3 nodes, 24 GPUs\n",
                "change 2 is proposed: farther for lab, 1 node",
                "class emergency, which 1 other person has to approve"));
    crew_fine(crew->root, "change", "/v1/changes/1", NULL, &t);
    CHECK_STR(crew_text(&t, "class"), "emergency");
    CHECK_STR(crew_text(&t, "advisory"), FLAW);
    CHECK_STR(crew_text(&t, "state"), "proposed");
    CHECK_STR(crew_text(&t, "reason"), "it closes " FLAW);
    crew_refused(crew->root, "approveChange", "/v1/changes/1/approve", "{\"reason\":\"mine\"}", 409,
                 "another person");
    expect(crew, "not twice", MORE("--cve", FLAW, "--propose", "--hook", "site"), 0,
           MORE("train: change 1 closes it\n", "serve: change 1 closes it\n",
                "lab: change 2 closes it\n"));
    expect(crew, "not for another that it closes as well",
           MORE("--cve", "CVE-2025-23267", "--propose", "--hook", "site"), 0,
           MORE("train: change 1 closes it\n", "lab: change 2 closes it\n"));
    expect(crew, "for programs", MORE("--cve", FLAW, "--propose", "--json"), 0,
           MORE("\"change\":2,", "\"proposed\":[]"));
    crew_fine(crew->root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 2);
    crew_fine(crew->root, "abortChange", "/v1/changes/2/abort", "{\"reason\":\"again\"}", &t);
    expect(crew, "for programs, anew", MORE("--cve", FLAW, "--propose", "--hook", "site", "--json"),
           0, MORE("\"proposed\":[{\"id\":3,\"stack\":\"farther\",\"pools\":\"lab\",\"nodes\":1,"));
}

static void test_flaw(void)
{
    struct crew crew;
    char digest[LKS_DIGEST_SIZE];
    if (begin(&crew)) {
        check_before(&crew);
        if (crew_release_with(&crew, farther, digest) &&
            crew_release_with(&crew, nearest, digest)) {
            check_json(&crew);
            check_proposed(&crew);
        }
    }
    crew_end(&crew);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a flaw in the fleet, and what closes it", test_flaw},
        {0},
    };
    return lks_test_main(tests);
}
