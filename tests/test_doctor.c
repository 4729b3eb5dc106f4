/* What doctor finds at a controller. lockstepd's answers are written down here. */
#include "cli/control/doctor.h"
#include "tests/liar.h"
#include "tests/run_cli.h"
#include "tests/tree.h"

#include <unistd.h>

enum { FILE_MAX = 1 << 16, ANSWERS = 15 };

static struct lks_tree tree;

#define ITEMS(rows) "{\"items\":[" rows "]}"
#define POOL(never, oldest)                                                                        \
    ITEMS("{\"pool\":\"p\",\"endpoints\":3,\"never\":" never ",\"oldest_ms\":" oldest              \
          ",\"every\":60000}")
#define AT                                                                                         \
    "\"url\":\"https://b\",\"driver\":\"redfish\",\"changing\":false,\"idle\":true,"               \
    "\"managed\":true"
#define KNOWN  "{\"node\":\"n1\",\"trust\":\"fingerprint\",\"fingerprint\":\"sha256:ab\"," AT "}"
#define BY_CA  "{\"node\":\"n2\",\"trust\":\"file:/ca.pem\"," AT "}"
#define UNSEEN "{\"node\":\"n3\",\"trust\":\"fingerprint\"," AT "}"
#define AWAY                                                                                       \
    "{\"node\":\"n4\",\"trust\":\"file:/ca.pem\",\"failed\":\"2026-11-15T00:00:00Z\","             \
    "\"failure\":\"https://b: cannot connect\"," AT "}"
#define OTHER                                                                                      \
    "{\"node\":\"n5\",\"trust\":\"fingerprint\",\"fingerprint\":\"sha256:ab\","                    \
    "\"failed\":\"2026-11-15T00:00:00Z\",\"failure\":\"https://b: it shows another key than the "  \
    "one that is trusted\"," AT "}"

#define METRICS           "lockstep_leader 1\nlockstep_behind_ms 0\n"
#define FLEET             "{\"alarms_open\":0}"
#define SWEEPS            POOL("0", "1000")
#define NO_SCHEDULER      "{\"items\":[]}"
#define SCHEDULER(counts) ITEMS("{\"pool\":\"p\",\"scheduler\":\"slurm\",\"nodes\":3," counts "}")
#define TRUTH(published, behind, late)                                                             \
    SCHEDULER(CALM ",\"published\":" published ",\"behind\":" behind ",\"late\":" late)
#define CALM "\"unfenced\":0,\"missing\":0,\"failing\":0,\"gres\":0,\"gres_differ\":0"

/* Of bridges: one that has the epoch, and one for which the rest is said. */
#define BRIDGE(site, rest) "{\"site\":\"" site "\",\"url\":\"https://b\"," rest "}"
#define GOOD_BRIDGE        BRIDGE("east", "\"known\":true,\"epoch\":\"confirmed\"")
#define BRIDGES(rest)      ITEMS(GOOD_BRIDGE "," BRIDGE("oslo", rest))

#define STAYS_FIX "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host"

static const struct row {
    const char *name;
    const char *metrics, *fleet, *sweeps, *endpoints;
    int exit;
    const char *check, *state, *text, *fix; /* of a finding; `fix` NULL: it has none */
    const char *schedulers; /* of the check "bridges": bridges, of "admission": alarms. NULL: none
                             */
} rows[] = {
    {"it answers", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "socket", "good",
     "lockstepd answers at unix:", NULL, NULL},
    {"it leads", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "followers", "good",
     "this controller leads", NULL, NULL},
    {"it follows", "lockstep_leader 0\nlockstep_behind_ms 12\n", FLEET, SWEEPS, ITEMS(KNOWN), 0,
     "followers", "good", "this controller follows, and is 12 ms behind", NULL, NULL},
    {"it lags", "lockstep_leader 0\nlockstep_behind_ms 5001\n", FLEET, SWEEPS, ITEMS(KNOWN), 1,
     "followers", "bad", "is 5001 ms behind", "journalctl -u lockstepd -n 50", NULL},
    {"limits were met", "lockstep_http_limited_total{limit=\"calls\"} 3\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "limits", "note", "by limit: calls 3;", NULL, NULL},
    {"an unused snapshot", "lockstep_snapshots_unused_total 1\n", FLEET, SWEEPS, ITEMS(KNOWN), 0,
     "snapshot", "note", "rejected the stored snapshot",
     "journalctl -u lockstepd -g 'the snapshot was not used'", NULL},
    {"no login", "lockstep_oidc_failing_seconds 60\n", FLEET, SWEEPS, ITEMS(KNOWN), 1, "login",
     "bad", "has not answered for 60 s", "journalctl -u lockstepd -n 50", NULL},
    {"a certificate with time left", "lockstep_server_certificate_days 30\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "served cert", "good", "ends in 30 days", NULL, NULL},
    {"a certificate near its end", "lockstep_server_certificate_days 29\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "served cert", "note", "ends in 29 days",
     "journalctl -u lockstepd -g server.crt", NULL},
    {"a certificate that ended", "lockstep_server_certificate_days 0\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 1, "served cert", "bad",
     "ends in 0 days; lockstepd renews certificates of its built-in CA",
     "journalctl -u lockstepd -g server.crt", NULL},
    {"no API server asked", "lockstep_http_requests_total{listener=\"webhook\"} 0\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "webhook", "note",
     "no API server has asked about a pod since lockstepd started",
     "kubectl get validatingwebhookconfigurations lockstep -o yaml", NULL},
    {"API servers ask", "lockstep_http_requests_total{listener=\"webhook\"} 7\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "webhook", "good", "API servers sent 7 requests", NULL, NULL},
    {"the certificate of an API server ends",
     "lockstep_http_requests_total{listener=\"webhook\"} 7\nlockstep_webhook_client_days 3\n",
     FLEET, SWEEPS, ITEMS(KNOWN), 0, "webhook", "note",
     "the certificate that an API server shows to webhook.listen ends in 3 days",
     "openssl x509 -enddate -noout -in /etc/kubernetes/lockstep-webhook.crt", NULL},
    {"alarms", METRICS, "{\"alarms_open\":2}", SWEEPS, ITEMS(KNOWN), 0, "alarms", "note",
     "2 alarms open", "lockstep alarm ls", NULL},
    {"no alarms", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "alarms", "good", "no alarm is open",
     NULL, NULL},
    {"reports", "lockstep_reading_age_seconds{pool=\"p\",band=\"in\"} 90.5\n", FLEET, SWEEPS,
     ITEMS(KNOWN), 0, "readings", "good", "the oldest report of an agent is 90 s old", NULL, NULL},
    {"an old report",
     "lockstep_reading_age_seconds{pool=\"p\",band=\"in\"} 90\n"
     "lockstep_reading_age_seconds{pool=\"q\",band=\"in\"} 90000\n",
     FLEET, SWEEPS, ITEMS(KNOWN), 0, "readings", "note", "25 h old",
     "lockstep node ls --liveness lost", NULL},
    {"an old reading by an endpoint is another check's",
     "lockstep_reading_age_seconds{pool=\"p\",band=\"in\"} 60\n"
     "lockstep_reading_age_seconds{pool=\"p\",band=\"out\"} 90000\n",
     FLEET, SWEEPS, ITEMS(KNOWN), 0, "readings", "good", "is 1 min old", NULL, NULL},
    {"endpoints that are read", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "sweeps", "good",
     "as often as they should", NULL, NULL},
    {"endpoints that are read late", METRICS, FLEET, POOL("0", "180000"), ITEMS(KNOWN), 0, "sweeps",
     "note", "by pool: p oldest 3 min", "lockstep endpoint ls", NULL},
    {"endpoints that were never read", METRICS, FLEET, POOL("2", "0"), ITEMS(KNOWN), 0, "sweeps",
     "note", "by pool: p 2 endpoints never read", "lockstep endpoint ls", NULL},
    {"good endpoints", METRICS, FLEET, SWEEPS, ITEMS(KNOWN "," BY_CA), 0, "endpoints", "good",
     "all 2 management endpoints answer", NULL, NULL},
    {"an endpoint that is away", METRICS, FLEET, SWEEPS, ITEMS(KNOWN "," AWAY), 0, "endpoints",
     "note", "1 of 2 management endpoints could not be read: n4 (https://b: cannot connect)",
     "lockstep endpoint ls --node n4", NULL},
    {"an endpoint without a key", METRICS, FLEET, SWEEPS, ITEMS(KNOWN "," UNSEEN), 0, "endpoints",
     "note", "1 of 2 management endpoints have no recorded key yet: n3",
     "lockstep bmc trust https://b --json && lockstep endpoint trust n3 FINGERPRINT --reason "
     "'first seen'",
     NULL},
    {"an endpoint with another key", METRICS, FLEET, SWEEPS, ITEMS(OTHER "," BY_CA), 1, "endpoints",
     "bad", "1 of 2 management endpoints show another key than the recorded one",
     "lockstep bmc trust https://b --json && lockstep endpoint trust n5 FINGERPRINT --reason "
     "replaced",
     NULL},
    {"a scheduler that answers", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "schedulers", "good",
     "all schedulers answer and know the nodes", NULL, SCHEDULER(CALM)},
    {"a scheduler that does not answer", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "schedulers",
     "bad", "do not answer for these nodes or do not know them", "lockstep scheduler ls",
     SCHEDULER("\"unfenced\":0,\"missing\":0,\"failing\":2,\"gres\":0,\"gres_differ\":0")},
    {"one of two schedulers does not answer", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "schedulers",
     "bad", "p in kubernetes (2 nodes: no route)", "lockstep scheduler ls",
     ITEMS(
         "{\"pool\":\"p\",\"scheduler\":\"slurm\",\"name\":\"p in slurm\",\"nodes\":3," CALM
         "},{\"pool\":\"p\",\"scheduler\":\"kubernetes\",\"name\":\"p in kubernetes\",\"nodes\":3,"
         "\"unfenced\":0,\"missing\":0,\"failing\":2,\"gres\":0,\"gres_differ\":0,"
         "\"text\":\"no route\"}")},
    {"nodes that a scheduler does not know", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "schedulers",
     "bad", "do not answer for these nodes or do not know them", "lockstep scheduler ls",
     SCHEDULER("\"unfenced\":0,\"missing\":1,\"failing\":0,\"gres\":0,\"gres_differ\":0")},
    {"slurmrestd keeps no epoch", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "schedulers", "note",
     "slurmrestd drains nodes without epochs",
     "run lockstep-slurm-bridge; docs/slurm.md, \"slurmrestd\"",
     SCHEDULER("\"unfenced\":3,\"missing\":0,\"failing\":0,\"gres\":0,\"gres_differ\":0")},
    {"lists of jobs that come", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "job lists", "good",
     "every list of jobs that is asked for comes", NULL, SCHEDULER(CALM)},
    {"a list of jobs that does not come", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "job lists",
     "bad", "no job of a draining node is requeued: p (since ", STAYS_FIX,
     SCHEDULER(CALM ",\"unlisted\":\"2026-11-01T00:00:00.000Z\",\"unlisted_text\":\"cut off\"")},
    {"no start without an answer", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "admission", "good",
     "no start of a job without an answer", NULL, NULL},
    {"starts without an answer", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "admission", "note",
     "without an answer: user:slurm (since 2026-11-01T00:00:00.000Z: 3 jobs)",
     "lockstep alarm release 7 --reason TEXT    # when the cause is repaired",
     ITEMS("{\"id\":7,\"kind\":\"unanswered\",\"subject\":\"user:slurm\",\"text\":\"3 jobs\","
           "\"raised\":\"2026-11-01T00:00:00.000Z\"}")},
    {"GPUs that a scheduler advertises", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "gres", "good",
     "schedulers advertise the GPUs that stacks pin", NULL,
     SCHEDULER("\"unfenced\":0,\"missing\":0,\"failing\":0,\"gres\":3,\"gres_differ\":0")},
    {"nodes that it reserves", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "reservations", "good",
     "schedulers reserve nodes for windows of changes", NULL, SCHEDULER(CALM ",\"reserved\":2")},
    {"nodes that it does not reserve", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "reservations",
     "note", "may run into a window: p (reservation x: overlap)", "lockstep scheduler ls",
     SCHEDULER(CALM ",\"reserved\":0,\"unreserved\":\"reservation x: overlap\"")},
    {"GPUs that it advertises otherwise", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "gres", "note",
     "schedulers advertise other GPUs than stacks pin", "lockstep drift --pool p",
     SCHEDULER("\"unfenced\":0,\"missing\":0,\"failing\":0,\"gres\":3,\"gres_differ\":2")},
    {"verdicts that are shown", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "verdicts", "good",
     "no scheduler shows an old verdict", NULL, TRUTH("3", "0", "0")},
    {"verdicts that are about to be", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "verdicts", "good",
     "no scheduler shows an old verdict", NULL, TRUTH("1", "2", "0")},
    {"verdicts that stay behind", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "verdicts", "bad",
     "for more than 10 minutes, and place jobs by it: p (2 nodes: it may not)", STAYS_FIX,
     TRUTH("1", "2", "2,\"late_text\":\"it may not\"")},
    {"verdicts that stay behind in Kubernetes", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "verdicts",
     "bad", "p (2 nodes: status 403)",
     "kubectl auth can-i patch nodes --subresource=status "
     "--as=system:serviceaccount:lockstep:lockstep",
     ITEMS("{\"pool\":\"p\",\"scheduler\":\"kubernetes\",\"nodes\":3," CALM
           ",\"published\":1,\"behind\":2,\"late\":2,\"late_text\":\"status 403\"}")},
    {"verdicts that another program replaces", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "verdicts",
     "bad", "p (1 node: requests succeed, and the nodes do not keep what they set)", STAYS_FIX,
     TRUTH("2", "1", "1")},
    {"a slot for each stack", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "slots", "good",
     "no pool has more stacks than slots", NULL, SCHEDULER(CALM ",\"slots\":2,\"slotless\":0")},
    {"more stacks than slots", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "slots", "note",
     "without a slot, which jobs on several nodes leave out: p (2 nodes); end a change or a pin",
     "lockstep scheduler ls", SCHEDULER(CALM ",\"slots\":3,\"slotless\":2")},
    {"a slot that is not free yet", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "slots", "good",
     "no pool has more stacks than slots", NULL, SCHEDULER(CALM ",\"slots\":2,\"slotless\":2")},
    {"runs that are read", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "runs", "good", "are read",
     NULL, SCHEDULER(CALM)},
    {"runs that are not", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "runs", "note",
     "may miss runs of jobs that ended: p (not read since 2026-11-01T00:00:00.000Z: refused)",
     STAYS_FIX,
     SCHEDULER(CALM ",\"runs_failing\":\"2026-11-01T00:00:00.000Z\",\"runs_text\":\"refused\"")},
    {"runs with a gap", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "runs", "note",
     "p (a gap until 2026-11-01T00:00:00.000Z)", STAYS_FIX,
     SCHEDULER(CALM ",\"runs_gap\":\"2026-11-01T00:00:00.000Z\"")},
    {"a policy that is written", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "submissions", "good",
     "bridges write the submission policy", NULL,
     SCHEDULER(CALM ",\"policy\":\"2026-11-01T00:00:00.000Z\"")},
    {"a policy that is not", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "submissions", "bad",
     "in pools of slurm.stale_closed: p (no space left)", STAYS_FIX,
     SCHEDULER(CALM ",\"policy_text\":\"no space left\"")},
    {"bridges that have the epoch", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "bridges", "good",
     "no bridge refuses the epoch of this leader", NULL,
     BRIDGES("\"known\":true,\"epoch\":\"none\"")},
    {"a bridge that refuses it", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "bridges", "bad",
     "1 of 2 bridges in slurm.bridges refuse the epoch of this leader, so nothing of it is written "
     "through them: https://b (epoch 9 wrote)",
     "docs/slurm.md, \"Epochs\"",
     BRIDGES("\"known\":true,\"epoch\":\"refused\",\"text\":\"epoch 9 wrote\"")},
    {"a bridge that does not answer", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 1, "bridges", "bad",
     "do not confirm the epoch of this leader, so an earlier leader can still write through them: "
     "https://b (no route)",
     "systemctl restart lockstep-slurm-bridge    # on the host of https://b",
     BRIDGES("\"known\":true,\"epoch\":\"failing\",\"text\":\"no route\"")},
    {"a bridge of an unknown site", METRICS, FLEET, SWEEPS, ITEMS(KNOWN), 0, "bridges", "note",
     "1 of 2 bridges in slurm.bridges are for sites at which the fleet has no node: oslo=https://b",
     "lockstep node ls --columns node,site    # then slurm.bridges",
     BRIDGES("\"known\":false,\"epoch\":\"confirmed\"")},
};

static struct lks_str answer(const char *type, const char *body, struct lks_buf *out)
{
    lks_buf_init(out, FILE_MAX);
    lks_buf_addf(out,
                 "HTTP/1.1 200 x\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 type, strlen(body), body);
    return lks_buf_view(out);
}

/* `doctor --json` at a controller that says this, in the order in which it is asked. */
static struct lks_run run(const struct row *row)
{
    bool asked = row->schedulers != NULL, bridged = asked && strcmp(row->check, "bridges") == 0;
    bool admits = asked && strcmp(row->check, "admission") == 0;
    const char *schedulers = asked && !bridged && !admits ? row->schedulers : NO_SCHEDULER;
    const char *alarms = admits ? row->schedulers : NO_SCHEDULER;
    const char *bridges = bridged ? row->schedulers : NO_SCHEDULER;
    const char *bodies[ANSWERS] = {"{\"ready\":true}", row->metrics, row->fleet,    alarms,
                                   schedulers,         schedulers,   bridges,       schedulers,
                                   schedulers,         schedulers,   schedulers,    schedulers,
                                   schedulers,         row->sweeps,  row->endpoints};
    struct lks_buf texts[ANSWERS] = {0};
    struct lks_liar liar = {.turn_count = ANSWERS};
    char path[128], server[160];
    snprintf(path, sizeof(path), "%s/sock", tree.path);
    snprintf(server, sizeof(server), "--server=unix:%s", path);
    liar.path = path;
    for (size_t i = 0; i < ANSWERS; i++)
        liar.turns[i] = (struct lks_liar_turn){
            LKS_LIAR_CLOSE,
            answer(i == 1 ? "text/plain" : "application/json", bodies[i], &texts[i])};
    lks_liar_start(&liar);
    struct lks_run run = lks_run((const char *const[]){"doctor", server, "--json", NULL});
    lks_liar_join(&liar);
    lks_liar_fini(&liar);
    (void)unlink(path);
    for (size_t i = 0; i < ANSWERS; i++)
        lks_buf_fini(&texts[i]);
    return run;
}

static bool is_row(const struct lks_doc *found, const struct row *row)
{
    return lks_str_is(lks_doc_text(found, "check"), row->check) &&
           lks_str_is(lks_doc_text(found, "state"), row->state) &&
           lks_str_find(lks_doc_text(found, "text"), lks_str_from(row->text)) >= 0 &&
           lks_str_is(lks_doc_text(found, "fix"), row->fix != NULL ? row->fix : "");
}

static bool is_known(struct lks_str name)
{
    for (size_t i = 0; i < lks_doctor_check_count; i++) {
        if (lks_str_is(name, lks_doctor_checks[i].name))
            return true;
    }
    return false;
}

static void test_findings(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        bool found = false;
        lks_test_case("%s", rows[i].name);
        struct lks_run said = run(&rows[i]);
        CHECK_INT(said.exit, rows[i].exit);
        CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK);
        if (!CHECK_CODE(lks_json_parse(said.out, &docs, &err), LKS_OK))
            continue;
        const struct lks_doc *list = lks_doc_member(docs.first, "checks");
        for (const struct lks_doc *c = list->first; c != NULL; c = c->next) {
            CHECK(is_known(lks_doc_text(c, "check")));
            found = found || is_row(c, &rows[i]);
        }
        if (!CHECK(found))
            printf("%" LKS_STR_FMT "\n", LKS_STR_ARG(said.out));
        lks_run_fini(&said);
    }
}

/* A server that was named and is not there is a problem, with the command that starts it. */
static void test_away(void)
{
    struct lks_run said =
        lks_run((const char *const[]){"doctor", "--server=unix:/nonexistent/sock", NULL});
    CHECK_INT(said.exit, 1);
    CHECK_HAS(said.out, "lockstepd does not run");
    CHECK_HAS(said.out, "to fix socket: systemctl start lockstepd\n");
    lks_run_fini(&said);
}

int main(void)
{
    tree = lks_tree_new();
    int failed = lks_test_main((const struct lks_test[]){
        {"doctor: findings at a controller", test_findings},
        {"doctor: a controller that is away", test_away},
        {0},
    });
    lks_tree_free(&tree);
    return failed;
}
