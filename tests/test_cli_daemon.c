/* Commands that ask lockstepd, or work on its directory, against the real daemon, in order. */
#include "base/file.h"
#include "tests/controller.h"
#include "tests/run_cli.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 4, WORDS_MAX = 12, WORD_MAX = 512 };

static struct ctl controller;

/* SERVER, DATA, DIR in an argument: the controller's socket, its data, a directory for files. */
static const char *filled(const char *word, char out[WORD_MAX])
{
    static const char *const marks[] = {"SERVER", "DATA", "DIR"};
    const char *values[] = {controller.socket, controller.data, controller.tree.path};
    for (size_t i = 0; i < LKS_COUNT(marks); i++) {
        if (strncmp(word, marks[i], strlen(marks[i])) == 0) {
            snprintf(out, WORD_MAX, "%s%s", values[i], word + strlen(marks[i]));
            return out;
        }
    }
    return word;
}

static struct lks_run run_filled(const char *const *words, bool remote, const char *last)
{
    char storage[WORDS_MAX][WORD_MAX];
    const char *args[WORDS_MAX + 4];
    size_t count = 0;
    for (; words[count] != NULL; count++)
        args[count] = filled(words[count], storage[count]);
    if (remote) {
        args[count++] = "--server";
        args[count++] = controller.socket;
    }
    args[count] = last;
    args[count + 1] = NULL;
    return lks_run(args);
}

#define ARGS(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

struct row {
    const char *command;
    const char *args[WORDS_MAX]; /* behind the command's words */
    int exit;
    const char *out, *err; /* what is said */
};

#define STACK "examples/h200-train.yaml"
/* Of examples/h100-train.yaml. */
#define NEXT_DIGEST "sha256:b5fbc8faefc182e57c746f12961935d654028405569a8d33779a0e671f25a11c"
#define DIGEST      "sha256:775bf7c2743e58b9e3318b4f18617138896b3cbe19c15cb16f8fce8e2532f303"

/* In this order: each stands on those before it. */
static const struct row rows[] = {
    {"fleet show", {NULL}, 0, "no fleet yet", ""},
    {"top", {NULL}, 0, "no fleet yet, journal row ", ""},
    {"fleet export", {NULL}, 3, "", "no fleet yet"},
    {"fleet apply", ARGS("DIR/fleet.yaml", "--dry-run"), 1, "nothing was applied", ""},
    {"fleet apply", ARGS("DIR/fleet.yaml", "--dry-run"), 1, "+ nodes n[0-3] (4): ", ""},
    {"node ls", {NULL}, 0, "no such nodes", ""},
    {"fleet apply", ARGS("DIR/fleet.yaml", "--accept"), 0, "applied", ""},
    {"fleet apply", ARGS("DIR/fleet.yaml", "--accept"), 0, "nothing to change", ""},
    {"fleet apply", ARGS("DIR/fleet.yaml", "--dry-run"), 0, "nothing to change", ""},
    {"fleet export", {NULL}, 0, "kind: Fleet\n", ""},
    {"fleet apply", ARGS("DIR/broken.yaml"), 3, "", "broken.yaml"},
    {"fleet apply", ARGS("DIR/none.yaml"), 3, "", "No such file"},
    {"fleet show", {NULL}, 0, "unseen", NULL},
    {"node ls", {NULL}, 0, "n3", ""},
    {"node ls", ARGS("--pool", "elsewhere"), 3, "", "there is no pool 'elsewhere'"},
    {"node ls", ARGS("--pool", "q"), 3, "", "there is no pool 'q'; did you mean 'p'?"},
    {"node ls", ARGS("--rack", "nope"), 3, "", "there is no rack 'nope'"},
    {"node ls", ARGS("--site", "nope"), 3, "", "there is no site 'nope'"},
    {"node ls", ARGS("--domain", "nope"), 3, "", "there is no domain 'nope'"},
    {"node ls", ARGS("--class", "nope"), 3, "", "there is no class 'nope'"},
    {"node ls", ARGS("--tuple", "sha256:0000"), 3, "", "no node runs the tuple 'sha256:0000'"},
    {"drift", ARGS("--pool", "q"), 3, "", "there is no pool 'q'; did you mean 'p'?"},
    {"drift", ARGS("--node", "n9"), 3, "", "there is no node 'n9'; did you mean"},
    {"node ls", ARGS("--liveness", "dead"), 3, "", "liveness"},
    {"node show", ARGS("n0"), 0, "unseen", ""},
    {"node show", ARGS("n9"), 3, "", "n9"},
    {"node enroll", ARGS("n0", "--ttl", "1h"), 0, "lks_node_n0_", ""},
    {"node enroll", ARGS("n0", "--ttl", "soon"), 2, "", "span"},
    {"node enroll", ARGS("n[0-2]"), 0, "lks_nodes_", ""},
    {"node enroll", ARGS("n[0-2]", "--ttl", "2d"), 3, "", "at most 24 h"},
    {"node enroll", ARGS("n[0-9]"), 3, "", "there is no node 'n4'"},
    {"node hold", ARGS("n[0-1]", "--reason", "a fan is loud"), 0, "held", ""},
    {"node hold", ARGS("n0"), 2, "", "--reason"},
    {"node hold", ARGS("n[0-9", "--reason", "x"), 3, "", "bracket is never closed"},
    {"node set", ARGS("n0", "rack=r2", "--reason", "x"), 3, "", "assigned_to"},
    {"node set", ARGS("n[0-1]", "assigned_to=OPS-4711", "--reason", "a fan"), 0,
     "n[0-1]: assigned_to=OPS-4711", ""},
    {"node ls", ARGS("--assigned-to", "OPS-4711"), 0, "n1", ""},
    {"node show", ARGS("n0"), 0, "OPS-4711", ""},
    {"node set", ARGS("n0", "assigned_to=", "--reason", "done"), 0, "n0: assigned_to=", ""},
    {"node ls", ARGS("--assigned-to", "OPS-4711", "--json"), 0, "\"assigned_to\":\"OPS-4711\"", ""},
    {"node history", ARGS("n1"), 0, "node-set", ""},
    {"node set", ARGS("n0", "rack", "--reason", "x"), 2, "", "is no COLUMN=VALUE"},
    {"node set", ARGS("n0", "assigned_to=kim\xff", "--reason", "x"), 2, "",
     "argument 2 is not UTF-8 text"},
    {"node set", ARGS("n0", "assigned_to=kim", "--reason", "gr\xfc\xdf"), 2, "",
     "the value of --reason is not UTF-8 text"},
    {"node set", ARGS("n0", "rack=r2"), 2, "", "--reason"},
    {"node show", ARGS("n1"), 0, "a fan is loud", ""},
    {"node ls", ARGS("--held"), 0, "n1", ""},
    {"node ls", ARGS("--sort-by", "-name", "--limit", "1"), 0, "\nn3 ", ""},
    {"node ls", ARGS("--sort-by", "held", "--json"), 0, "\"name\":\"n3\"", ""},
    {"node ls", ARGS("--sort-by", "rak"), 2, "",
     "--sort-by: no column 'rak'; give one of: name, asset, pool, site, rack, "},
    {"node ls", ARGS("--sort-by", "why"), 2, "", "--sort-by: no column 'why'"},
    {"node ls", ARGS("--columns", "held,name"), 0, "held  node\n", ""},
    {"node ls", ARGS("--columns", "name,class,tuple"), 0, "node  class       tuple\n", ""},
    {"node ls", ARGS("--columns", "name"), 0, "node\nn0\nn1\n", ""},
    {"node ls", ARGS("--columns", "name,name"), 2, "", "--columns: 'name' is given twice"},
    {"node ls", ARGS("--columns", "name,boot"), 2, "",
     "--columns: no column 'boot'; give one of: name, asset, pool, site, rack, "},
    {"node ls", ARGS("--columns", "name,"), 2, "", "--columns: no column ''; give one of: name"},
    {"node ls", ARGS("--columns", "name, pool"), 2, "", "--columns: no column ' pool'"},
    {"node ls", ARGS("--columns", "name", "--json"), 2, "", "--columns is for tables"},
    {"node ls", ARGS("-l", "pool=p,name!=n0", "-o", "name", "--limit", "1"), 0, "n1\n", ""},
    {"node ls", ARGS("-l", "pool=q"), 3, "", "pool"},
    {"node ls", ARGS("-l", "held=yes", "-o", "yaml"), 0, "items:\n- admissible: false\n", ""},
    {"node ls", ARGS("-o", "wide"), 0, "  class ", ""},
    {"fleet show", ARGS("-l", "name=p", "-o", "name"), 0, "p\n", ""},
    {"alarm ls", ARGS("--all", "--columns", "kind,text"), 0, "", ""},
    {"stack ls", ARGS("--columns", "name,reason"), 0, "", ""},
    {"bundle ls", ARGS("--columns", "key"), 0, "", ""},
    {"image ls", ARGS("--columns", "ref,by"), 0, "", ""},
    {"deviation ls", ARGS("--columns", "in_use"), 0, "", ""},
    {"alarm ls", ARGS("--all", "--sort-by", "-raised"), 0, "", ""},
    {"alarm ls", ARGS("--all", "--kind", "clock"), 0, "", ""},
    {"alarm ls", ARGS("--kind", "clocks"), 3, "", "kind: no such value 'clocks'; did you mean"},
    {"alarm ls", ARGS("--sort-by", "text"), 2, "", "give one of: id, kind, subject, raised, "},
    {"deviation ls", ARGS("--sort-by", "expires"), 0, "", ""},
    {"stack ls", ARGS("--sort-by", "-published"), 0, "", ""},
    {"bundle ls", ARGS("--sort-by", "name"), 0, "", ""},
    {"image ls", ARGS("--sort-by", "-added"), 0, "", ""},
    {"node release", ARGS("n[0-1]", "--reason", "it is quiet"), 0, "released", ""},
    {"node release", ARGS("n0", "--reason", "again"), 1, "", "n0"},
    {"node history", ARGS("n0"), 0, "a fan is loud", ""},
    {"node history", ARGS("n0", "--limit", "0"), 0, "held", ""},
    {"node history", ARGS("n0", "--limit", "-1"), 2, "", "--limit"},
    {"node resolve", ARGS("n2", "--reason", "looked at"), 1, "", "no update of n2 waits"},
    {"node resolve", ARGS("n2"), 2, "", "--reason"},
    {"node replace", ARGS("n2", "--reason", "another board"), 0, "other hardware", ""},
    {"node rm", ARGS("n3", "--reason", "sold"), 0, "removed", ""},
    {"access grant", ARGS("kim", "operator"), 0, "kim: operator", ""},
    {"access grant", ARGS("kim", "queen"), 3, "", "queen"},
    {"access grant", ARGS("kim", "agent"), 3, "", "an enrolled node"},
    {"access grant", ARGS("", "viewer"), 2, "", "empty"},
    {"access grant", ARGS("kim", "viewer", "--pool", "q"), 3, "",
     "no pool 'q' in the fleet; did you mean 'p'?"},
    {"access grant", ARGS("lee", "viewer", "--pool", "p"), 0, "lee: viewer in pool p", ""},
    {"access revoke", ARGS("lee", "viewer"), 3, "", "'lee' is not viewer everywhere"},
    {"access revoke", ARGS("lee", "viewer", "--pool", "p"), 0, "lee: viewer in pool p is revoked",
     ""},
    {"access token", ARGS("kim-ci", "kim", "--ttl", "1h"), 0, "lks_api_kim-ci_", ""},
    {"access token", ARGS("kim-ci", "kim"), 1, "", "kim-ci"},
    {"access ls", {NULL}, 0, "kim-ci", ""},
    {"whoami", {NULL}, 0, "admin", ""},
    {"access revoke", ARGS("kim-ci", "--token"), 0, "revoked", ""},
    {"access revoke", ARGS("kim", "operator"), 0, "revoked", ""},
    {"access revoke", ARGS("admin", "admin"), 1, "", "admin"},
    {"access revoke", ARGS("kim"), 2, "", "--token"},
    {"access revoke", ARGS("kim", "operator", "--pool", ""), 2, "", "not an empty word"},
    {"access revoke", ARGS("kim-ci", "--token", "--pool", "p"), 2, "", "belong to a role"},
    {"alarm ls", {NULL}, 0, "no alarms", ""},
    {"alarm release", ARGS("99", "--reason", "x"), 3, "", "99"},
    {"top", {NULL}, 0, "nodes", ""},
    {"journal export", {NULL}, 0, "\"kind\":\"held\"", ""},
    {"journal export", ARGS("--node", "n[0-1]", "--kind", "held"), 0, "a fan is loud", ""},
    {"journal export", ARGS("--by", "nobody"), 0, "", "no rows answer to these filters"},
    {"journal export", ARGS("--since", "in 1h"), 0, "", "no rows answer to these filters"},
    {"journal export", ARGS("--until", "1h ago"), 0, "", "no rows answer to these filters"},
    {"journal export", ARGS("--since", "1h ago", "--until", "in 1h", "--kind", "begun"), 0,
     "\"kind\":\"begun\"", ""},
    {"journal export", ARGS("--since", "1h"), 2, "", "--since: '1h' is a span, not a time"},
    {"journal export", ARGS("--kind", "hold"), 3, "",
     "lockstep: --kind: there are no records of the kind 'hold'; did you mean 'held'?"},
    {"journal export", ARGS("--node", "n[0"), 3, "", "--node"},
    {"journal at", ARGS("now", "--node", "n[0-1]"), 0, "n1", ""},
    {"journal at", ARGS("now", "--pool", "p"), 0, "n2", ""},
    {"journal at", ARGS("now", "--pool", "pp"), 3, "", "there is no pool 'pp'"},
    {"journal at", ARGS("1h ago", "--node", "n1"), 3, "", "no node 'n1' then"},
    {"journal at", ARGS("yesterday", "--pool", "p"), 3, "", "no pool 'p' then"},
    {"journal at", ARGS("now", "--pool", "p", "--node", "n1"), 2, "", "--node"},
    {"journal at", ARGS("now"), 2, "", "--node has to name nodes"},
    {"journal at", ARGS("2h", "--node", "n1"), 2, "", "write '2h ago'"},
    {"journal at", ARGS("2099-01-01T00:00:00Z", "--node", "n1"), 2, "",
     "2099-01-01T00:00:00Z is in the future; write 2026-11-15T03:37:00Z, "},
    {"journal at", ARGS("2001-01-01T00:00:00Z", "--node", "n1"), 3, "", "no node"},
    {"drift", {NULL}, 0, "no node differs", ""},
    {"drift", ARGS("--judged", "odd"), 3, "", "judged"},
    {"deviation add", ARGS("n1", "--what=driver", "--owner=kim", "--until=1h", "--reason=INC-1"), 0,
     "holds until", ""},
    {"deviation add", ARGS("n1", "--what=driver", "--owner=kim", "--reason=x"), 2, "", "--until"},
    {"deviation add", ARGS("n1", "--what=driver", "--owner=kim", "--until=noon", "--reason=x"), 2,
     "", "noon"},
    {"deviation add", ARGS("n1", "--what=dgcm", "--owner=kim", "--until=1h", "--reason=x"), 3, "",
     "did you mean 'dcgm'?"},
    {"deviation add", ARGS("n1", "--what=drivers", "--owner=kim", "--until=1h", "--reason=x"), 3,
     "", "drivers"},
    {"deviation add", ARGS("n9", "--what=driver", "--owner=kim", "--until=1h", "--reason=x"), 3, "",
     "n9"},
    {"deviation ls", {NULL}, 0, "kim", ""},
    {"deviation approve", ARGS("1"), 2, "", "--reason"},
    {"deviation approve", ARGS("1", "--reason=x"), 1, "", "another person has to approve it"},
    {"deviation approve", ARGS("9", "--reason=x"), 3, "", "there is no deviation '9'"},
    {"deviation close", ARGS("1", "--reason", "CHG-2"), 0, "closed", ""},
    {"deviation close", ARGS("1", "--reason", "CHG-2"), 1, "", "1"},
    {"deviation ls", {NULL}, 0, "no deviations", ""},
    {"deviation ls", ARGS("--all"), 0, "CHG-2", ""},
    {"admit", ARGS("--job", "j1", "--nodes", "n[0-1]"), 0, "would have been refused", ""},
    {"admit", ARGS("--job", "j1", "--nodes", "n[0-1],n9"), 1, "n9", ""},
    {"admit", ARGS("--job", "j1", "--nodes", "n[0-1", "--start"), 3, "", "bracket"},
    {"admit", ARGS("--job", "j1", "--nodes", "n0,n0"), 3, "", "n0"},
    {"admit", ARGS("--job", "j1"), 2, "", "--nodes"},
    {"admit", ARGS("--nodes", "n0"), 2, "", "--job"},
    {"admit", ARGS("--job", "j1", "--nodes", "n0", "--override", "x"), 2, "", "--until"},
    {"admit", ARGS("--job", "j1", "--nodes", "n0", "--image", "r.io/a:1=5"), 3, "", "ranks"},
    {"admit", ARGS("--log"), 0, "j1", ""},
    {"admit", ARGS("--observed"), 0, "unmeasured 2", ""},
    {"admit", ARGS("--observed", "--by", "node"), 0, "n9", ""},
    {"image add", ARGS("r.io/a:1", "--nccl", "2.28.3"), 0, "known", ""},
    {"image add", ARGS("r.io/a:1"), 2, "", "--sbom"},
    {"image add", ARGS("r.io/a:1", "--sbom", STACK), 3, "", STACK},
    {"image ls", {NULL}, 0, "2.28.3", ""},
    {"stack publish", ARGS(STACK), 0, "candidate", ""},
    {"stack publish", ARGS("DIR/broken.yaml"), 3, "", "broken.yaml"},
    {"stack ls", {NULL}, 0, "h200-train", ""},
    {"stack promote", ARGS(DIGEST, "lab", "--evidence", "LAB-1"), 0, "lab", ""},
    {"stack promote", ARGS(DIGEST, "released", "--evidence", "x"), 1, "", "canary"},
    {"stack promote", ARGS("h200-train", "canary", "--evidence", "CAN-1"), 0, "canary", ""},
    {"stack promote", ARGS("h200-trian", "lab", "--evidence", "x"), 3, "",
     "there is no stack 'h200-trian'; did you mean 'h200-train'?"},
    {"stack promote", ARGS("775b", "released", "--evidence", "REL-1"), 0, "released", ""},
    {"stack promote", ARGS("sha256:0000", "lab", "--evidence", "x"), 3, "",
     "no stack 'sha256:0000' in the registry"},
    {"stack promote", ARGS(DIGEST, "lab"), 2, "", "--evidence"},
    {"stack retire", ARGS(DIGEST, "--evidence", "LAB-2"), 0, "retired", ""},
    {"stack ls", ARGS("--step", "retired"), 0, "h200-train", ""},
    {"advisories", ARGS("--fleet"), 0, "nothing that was measured is affected", ""},
    {"advisories", ARGS(STACK, "--fleet"), 2, "", "or --fleet"},
    {"lifecycle", ARGS("--fleet"), 0, "no node has reported", ""},
    {"lifecycle", ARGS("--fleet", "--date", "2026-11-15"), 2, "", "--date"},
    {"stack ls", ARGS("--name", "odd"), 3, "", "no stack is called 'odd'"},
    {"stack ls", ARGS("--name", "h200-trian"), 3, "", "did you mean 'h200-train'?"},
    {"stack retire", ARGS("sha256:775bf7c2743f", "--evidence", "LAB-2"), 3, "",
     "no stack 'sha256:775bf7c2743f' in the registry"},
    {"admit", ARGS("--job", "j\xff", "--nodes", "n0"), 2, "", "--job"},
    {"admit", ARGS("--job", "j1", "--nodes", "n0", "--until", "1h"), 2, "", "--override"},
    {"admit", ARGS("--job", "j1", "--nodes", "n0", "--image", "r.io/a:1="), 2, "", "RANKS"},
    {"change ls", {NULL}, 0, "no changes", ""},
    {"change show", ARGS("9"), 3, "", "there is no change '9'"},
    {"change show", ARGS("9", "--follow"), 3, "", "there is no change '9'"},
    {"change show", ARGS("9", "--nodes", "all"), 3, "", "there is no change '9'"},
    {"change propose", ARGS("--to=odd", "--nodes=n[0-1]", "--reason=x"), 3, "", "odd"},
    {"change propose", ARGS("--to=odd", "--pool=odd", "--dry-run"), 3, "", "no pool 'odd'"},
    {"change approve", ARGS("9", "--reason=x"), 3, "", "there is no change '9'"},
    {"change start", ARGS("9", "--reason=x"), 3, "", "there is no change '9'"},
    {"change start", ARGS("9", "--reason=x", "--nodes=4", "--gpus=32"), 3, "",
     "there is no change '9'"},
    {"freeze", ARGS("--pool=odd", "--reason=x"), 3, "", "no pool 'odd'"},
    {"freeze", ARGS("--reason", "a storm"), 0, "the fleet is frozen", ""},
    {"freeze", ARGS("--list"), 0, "a storm", ""},
    {"unfreeze", ARGS("--reason", "it is over"), 0, "no longer frozen", ""},
    {"freeze", ARGS("--list"), 0, "nothing is frozen", ""},
    {"node condition", ARGS("n0", "unhealthy", "--reason", "a fan"), 0, "n0: unhealthy", ""},
    {"node show", ARGS("n0"), 0, "a fan", ""},
    {"node condition", ARGS("n0", "unhealthy", "--off", "--reason", "fixed"), 0,
     "n0: no longer unhealthy", ""},
    {"node condition", ARGS("n0", "attested", "--until", "1h", "--reason", "quote 7"), 5, "",
     "is an approver's to say"},
    {"node condition", ARGS("n0", "checked", "--passed", "5m ago", "--reason", "burn-in"), 0,
     "n0: checked", ""},
    {"node condition", ARGS("n0", "sleepy", "--reason", "x"), 3, "", "no such value 'sleepy'"},
    {"node condition", ARGS("n0", "unhealthy"), 2, "", "--reason"},
    {"command show", ARGS("9"), 3, "", "there is no command '9'"},
    {"override ls", {NULL}, 0, "no overrides", ""},
    {"override add", ARGS("j7", "n[0-1]", "--until", "2h", "--reason", "a demo"), 0,
     "job j7 is admitted on n[0-1]", ""},
    {"override add", ARGS("j7", "n0", "--reason", "x"), 2, "", "--until"},
    {"override ls", ARGS("--columns", "job,reason"), 0, "a demo", ""},
    {"image rm", ARGS("r.io/a:1", "--reason", "old"), 0, "removed", ""},
    {"image rm", ARGS("r.io/a:1", "--reason", "old"), 3, "", "r.io/a:1"},
    {"flash ls", {NULL}, 0, "no update is in progress", ""},
    {"flash ls", ARGS("--all", "--outcome", "odd"), 3, "", "no such value 'odd'"},
    {"flash show", ARGS("9"), 3, "", "there is no update '9'"},
    {"flash show", ARGS("9", "--follow"), 3, "", "there is no update '9'"},
    {"flash start", ARGS("n0", "bmc", "--reason", "x"), 3, "", "version"},
    {"flash start", ARGS("n0", "bmc", "--to", "1.0", "--reason", "x"), 1, "", "n0"},
    {"flash start", ARGS("n0", "bmc"), 2, "", "--reason"},
    {"flash start", ARGS("n0", "bmc", "--reason", "x", "--deadline", "0"), 2, "", "--deadline"},
    {"endpoint ls", {NULL}, 0, "no management endpoints", ""},
    {"endpoint trust", ARGS("n0", DIGEST, "--reason", "x"), 1, "", "n0"},
    {"endpoint trust", ARGS("n0", "abc", "--reason", "x"), 3, "", "fingerprint"},
    {"endpoint distrust", ARGS("n0", "--reason", "x"), 1, "", "n0"},
    {"scheduler ls", {NULL}, 0, "p     slurm ", ""},
    {"sweep ls", {NULL}, 0, "p ", ""},
    {"sweep lease", ARGS("--holder", "me", "--max", "2", "--ttl", "1m"), 0, "no endpoint is due",
     ""},
    {"sweep lease", ARGS("--max", "2", "--ttl", "1m"), 2, "", "--holder"},
    {"sweep lease", ARGS("--holder", "me", "--max", "2"), 2, "", "--ttl"},
    {"sweep fail", ARGS("n0", "--holder", "me", "--reason", "no answer"), 0, "not leased to me",
     ""},
    {"sweep put", ARGS("n0", "DIR/fleet.yaml"), 3, "", "report"},
    {"sweep end", ARGS("n0", "--reason", "a power cycle"), 0, "n0: ", ""},
    {"bundle show", ARGS("odd"), 3, "", "odd"},
    {"artifact ls", {NULL}, 0, "no artifacts", ""},
    {"artifact put", ARGS("DIR/fleet.yaml", "--name", "a file"), 3, "", "is not a name"},
    {"artifact put", ARGS("DIR/fleet.yaml", "--name", "other.yaml"), 0, "sha256:", "220/220"},
    {"artifact put", ARGS("DIR/fleet.yaml"), 0, "sha256:", "220/220"},
    {"artifact put", ARGS("DIR/none"), 3, "", "No such file"},
    {"artifact ls", {NULL}, 0, "other.yaml", ""},
    {"artifact get", ARGS(DIGEST, "--output", "DIR/got"), 3, "", DIGEST},
    {"artifact get", ARGS(DIGEST), 2, "", "--output"},
    {"artifact get", ARGS(DIGEST, "--output", "DIR/fleet.yaml"), 3, "", "File exists"},
    {"artifact collect", {NULL}, 0, "removed ", ""},
    {"stack rollbacks", {NULL}, 0, "no rollback was exercised", ""},
    {"journal head", {NULL}, 0, "key", ""},
    {"access certificate", ARGS("kim", "--output", "DIR/kim", "--ttl", "1h"), 0, "good until", ""},
    {"access certificate", ARGS("kim", "--output", "DIR/kim"), 3, "", "is there already"},
    {"access certificate", ARGS("kim"), 2, "", "--output"},
    {"access ls", {NULL}, 0, "user:kim", ""},
    {"backup", ARGS("--out", "DIR/remote.backup"), 0, "sealed", ""},
    {"backup", ARGS("--out", "DIR/remote.backup"), 3, "", "there already"},
};

/* A path that no socket in it can have. */
#define LONG                                                                                       \
    "/tmp/lks-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-012345"

/* Those that need no lockstepd; it runs beside them. */
static const struct row offline_rows[] = {
    {"journal verify", ARGS("DATA"), 0, "good", ""},
    {"journal verify", ARGS("DIR/nothing"), 3, "", "nothing"},
    {"journal verify", ARGS("DATA", "--witness", "DIR/fleet.yaml"), 3, "", "fleet.yaml:1"},
    {"journal export", ARGS("DATA", "--node", "n1"), 0, "\"kind\":\"held\"", ""},
    {"journal export", ARGS("DATA", "--from", "x"), 2, "", "--from"},
    {"journal export", ARGS("DATA", "--node", "n[0-1]", "--kind", "held"), 0, "a fan is loud", ""},
    {"journal export", ARGS("DATA", "--kind", "hold"), 3, "", "did you mean 'held'"},
    {"journal export", ARGS("DATA", "--by", "nobody"), 0, "", "no rows answer to these filters"},
    {"journal export", ARGS("DATA", "--since", "in 1h"), 0, "", "no rows answer"},
    {"journal export", ARGS("DATA", "--since", "1h ago", "--until", "in 1h", "--kind", "begun"), 0,
     "\"kind\":\"begun\"", ""},
    {"journal at", ARGS("now", "DATA", "--pool", "p"), 0, "n2", ""},
    {"journal at", ARGS("now", "DATA", "--node", "n[0-1]"), 0, "UTC", ""},
    {"journal at", ARGS("now", "DATA", "--node", "n1"), 0, "unseen", ""},
    {"journal at", ARGS("2001-01-01T00:00:00Z", "DATA", "--node", "n1"), 3, "", "no node"},
    {"journal at", ARGS("noon", "DATA", "--node", "n1"), 2, "", "noon"},
    {"journal repair", ARGS("DATA"), 2, "", "--reason"},
    {"journal repair", ARGS("DATA", "--reason", "to see"), 1, "", ""},
    {"journal export", ARGS("DATA", "--server", "SERVER"), 2, "", "--server does not go with it"},
    {"journal at", ARGS("now", "DATA", "--node", "n1", "--ca", "x"), 2, "",
     "--ca does not go with it"},
    {"conform", ARGS("--stack", STACK, "--fleet", "DATA"), 1, "of 3 nothing is known", ""},
    {"conform", ARGS("--stack", STACK, "--pool", "p"), 2, "", "--fleet"},
    {"conform", ARGS("--stack", STACK, "--fleet", "DATA", "--quick"), 2, "", "--quick"},
    {"conform", ARGS("--stack", STACK, "--fleet", "DATA", "--pool", "odd"), 3, "", "odd"},
    {"conform", ARGS("--stack", STACK, "--fleet", "DIR/nothing"), 3, "", "nothing"},
    {"doctor", ARGS("DATA"), 0, "lockstep " LKS_VERSION " (commit unknown)", ""},
    {"doctor", ARGS("DATA"), 0, "signed heads", ""},
    {"doctor", ARGS("DATA"), 0, ", which the journal has", ""},
    {"doctor", ARGS("DATA"), 0, "it is for this directory", ""},
    {"doctor", ARGS("DATA"), 0, "no request was turned away by a limit", ""},
    {"doctor", ARGS("DATA"), 0, "lockstepd answers at unix:", ""},
    {"doctor", ARGS("DATA"), 0, "this controller leads", ""},
    {"doctor", ARGS("DATA"), 0, "the newest advisory known is of ", ""},
    {"doctor", ARGS("DATA"), 0, " MiB\n", ""},
    {"doctor", ARGS("--server", "SERVER"), 0, "lockstepd answers at unix:", ""},
    {"doctor", ARGS("DIR/nothing"), 1, "bad", ""},
    {"backup", ARGS("DATA", "--out", "DIR/local.backup"), 0, "sealed", ""},
    {"backup", ARGS("DATA", "--out", "DIR/x.backup", "--server", "SERVER"), 2, "", "--server"},
    {"restore", ARGS("DIR/remote.backup", "--to", "DIR/back", "--seal-key", "DATA/seal.key"), 0,
     "holds the controller", ""},
    {"restore", ARGS("DIR/local.backup", "--to", "DIR/back", "--seal-key", "DATA/seal.key"), 3, "",
     "names a new directory"},
    {"restore", ARGS("DIR/fleet.yaml", "--to", "DIR/other", "--seal-key", "DATA/seal.key"), 3, "",
     "fleet.yaml"},
    {"journal verify", ARGS("DIR/back"), 0, "good", ""},
    {"doctor", ARGS("DIR/back"), 1, "/back/seal.key",
     ""}, /* where its configuration seeks it now */
    {"doctor", ARGS("DIR/back"), 1, "lockstepd does not run", ""},
    {"sim up", ARGS("DIR/sim"), 2, "", "such as --root PREFIX/share/lockstep/roots/h200; "},
    {"sim up", ARGS("DIR/sim", "--root", "/nope"), 3, "", "--root: /nope: No such file"},
    {"sim up", ARGS("DIR/sim", "--root", "DIR"), 3, "", "not a captured machine"},
    {"sim up", ARGS(LONG, "--root", "tests/roots/h200"), 3, "", "at most 107 bytes"},
    {"sim down", ARGS("DIR/sim"), 3, "", "no simulation"},
};

/* The words of the command, then its arguments. */
static struct lks_run run_row(const struct row *row, bool remote, const char *last)
{
    const char *words[WORDS_MAX * 2] = {0};
    char storage[64];
    size_t count = 0;
    lks_run_now = (int64_t)time(NULL) + 1; /* now is after every record of this second */
    snprintf(storage, sizeof(storage), "%s", row->command);
    for (char *save = NULL, *w = strtok_r(storage, " ", &save); w != NULL;
         w = strtok_r(NULL, " ", &save))
        words[count++] = w;
    for (size_t i = 0; row->args[i] != NULL; i++)
        words[count++] = row->args[i];
    return run_filled(words, remote, last);
}

static void check_rows(const struct row *table, size_t count, bool remote)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s (row %zu)", table[i].command, i);
        struct lks_run run = run_row(&table[i], remote, NULL);
        CHECK_INT(run.exit, table[i].exit);
        CHECK_HAS(run.out, table[i].out);
        if (table[i].err != NULL && table[i].err[0] == '\0' && table[i].exit == 0)
            CHECK_STR(run.err, "");
        else if (table[i].err != NULL)
            CHECK_HAS(run.err, table[i].err);
        lks_run_fini(&run);
    }
}

static void write_file(const char *name, struct lks_str text)
{
    FILE *f = fopen(ctl_path(&controller, name), "we");
    if (!CHECK(f != NULL))
        return;
    fwrite(text.ptr, 1, text.len, f);
    fclose(f);
}

static void test_remote(void)
{
    check_rows(rows, LKS_COUNT(rows), true);
}

static void test_offline(void)
{
    check_rows(offline_rows, LKS_COUNT(offline_rows), false);
}

/* Each command's JSON has the members that its help names. */
static const struct row json_rows[] = {
    {"fleet apply", ARGS("DIR/fleet.yaml", "--dry-run"), 1, NULL, NULL},
    {"fleet show", {NULL}, 0, NULL, NULL},
    {"fleet export", {NULL}, 0, NULL, NULL},
    {"node ls", {NULL}, 0, NULL, NULL},
    {"node show", ARGS("n1"), 0, NULL, NULL},
    {"node enroll", ARGS("n1"), 0, NULL, NULL},
    {"node hold", ARGS("n1", "--reason", "x"), 0, NULL, NULL},
    {"node release", ARGS("n1", "--reason", "x"), 0, NULL, NULL},
    {"node replace", ARGS("n1", "--reason", "x"), 0, NULL, NULL},
    {"node set", ARGS("n1", "assigned_to=kim", "--reason", "x"), 0, NULL, NULL},
    {"node rm", ARGS("n1", "--reason", "x"), 0, NULL, NULL},
    {"access grant", ARGS("lee", "viewer"), 0, NULL, NULL},
    {"access token", ARGS("lee", "lee"), 0, NULL, NULL},
    {"access ls", {NULL}, 0, NULL, NULL},
    {"whoami", {NULL}, 0, NULL, NULL},
    {"access can-i", ARGS("hold", "node", "--as", "lee"), 1, NULL, NULL},
    {"access revoke", ARGS("lee", "viewer"), 0, NULL, NULL},
    {"alarm ls", {NULL}, 0, NULL, NULL},
    {"top", {NULL}, 0, NULL, NULL},
    {"drift", {NULL}, 0, NULL, NULL},
    {"deviation add", ARGS("n2", "--what=*", "--owner=kim", "--until=1h", "--reason=x"), 0, NULL,
     NULL},
    {"deviation ls", {NULL}, 0, NULL, NULL},
    {"deviation close", ARGS("2", "--reason", "x"), 0, NULL, NULL},
    {"admit", ARGS("--job", "j2", "--nodes", "n0,n2", "--signed"), 0, NULL, NULL},
    {"admit", ARGS("--log"), 0, NULL, NULL},
    {"admit", ARGS("--observed"), 0, NULL, NULL},
    {"image add", ARGS("r.io/b:1", "--cuda", "13.0.2"), 0, NULL, NULL},
    {"image ls", {NULL}, 0, NULL, NULL},
    {"stack publish", ARGS("examples/h100-train.yaml"), 0, NULL, NULL},
    {"stack promote", ARGS(NEXT_DIGEST, "lab", "--evidence", "x"), 0, NULL, NULL},
    {"stack ls", {NULL}, 0, NULL, NULL},
    {"stack retire", ARGS(NEXT_DIGEST, "--evidence", "x"), 0, NULL, NULL},
    {"advisories", ARGS("--fleet"), 0, NULL, NULL},
    {"lifecycle", ARGS("--fleet"), 0, NULL, NULL},
    {"node condition", ARGS("n0", "unhealthy", "--reason", "x"), 0, NULL, NULL},
    {"override add", ARGS("j8", "n0", "--until", "1h", "--reason", "x"), 0, NULL, NULL},
    {"override ls", {NULL}, 0, NULL, NULL},
    {"image rm", ARGS("r.io/b:1", "--reason", "x"), 0, NULL, NULL},
    {"flash ls", ARGS("--all"), 0, NULL, NULL},
    {"endpoint ls", {NULL}, 0, NULL, NULL},
    {"scheduler ls", {NULL}, 0, NULL, NULL},
    {"job ls", {NULL}, 0, NULL, NULL},
    {"job show", ARGS("17"), 0, NULL, NULL},
    {"sweep ls", {NULL}, 0, NULL, NULL},
    {"sweep lease", ARGS("--holder", "me", "--max", "1", "--ttl", "1m"), 0, NULL, NULL},
    {"sweep fail", ARGS("n0", "--holder", "me", "--reason", "x"), 0, NULL, NULL},
    {"sweep end", ARGS("n0", "--reason", "x"), 0, NULL, NULL},
    {"artifact ls", {NULL}, 0, NULL, NULL},
    {"artifact collect", {NULL}, 0, NULL, NULL},
    {"stack rollbacks", {NULL}, 0, NULL, NULL},
    {"journal head", {NULL}, 0, NULL, NULL},
    {"access certificate", ARGS("lee", "--output", "DIR/lee"), 0, NULL, NULL},
    {"backup", ARGS("--out", "DIR/json.backup"), 0, NULL, NULL},
};
static const struct row json_offline_rows[] = {
    {"fleet import", ARGS("--csv", "DIR/nodes.csv", "--posture", "batch"), 0, NULL, NULL},
    {"journal verify", ARGS("DATA"), 0, NULL, NULL},
    {"doctor", {NULL}, 0, NULL, NULL},
    {"restore", ARGS("DIR/json.backup", "--to", "DIR/again", "--seal-key", "DATA/seal.key"), 0,
     NULL, NULL},
};

/* Records have members of their own kinds, which docs/reference/journal.md names. */
static const char *const open_ended[] = {
    "node history", "journal export", "journal at", "journal repair", "alarm release", "sim up",
    "sim down", "node resolve", "deviation approve", "node command", "node approve", "node review",
    "access renew",
    /* They need a management endpoint, a command or a bundle; of artifacts there is a test below.
     */
    "flash show", "flash start", "endpoint trust", "endpoint distrust", "sweep put", "command show",
    "bundle show", "artifact put", "artifact get"};

static void check_json(const struct row *table, size_t count, bool remote)
{
    for (size_t i = 0; i < count; i++) {
        lks_test_case("%s --json", table[i].command);
        struct lks_run run = run_row(&table[i], remote, "--json");
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        CHECK_INT(run.exit, table[i].exit);
        CHECK_STR(run.err, "");
        const struct lks_doc *answer = lks_run_json(&run, &docs);
        if (CHECK(answer != NULL && answer->kind == LKS_DOC_MAP) &&
            strcmp(table[i].command, "fleet apply") != 0)
            lks_run_check_members(table[i].command, answer);
        lks_run_fini(&run);
    }
}

static bool in_rows(const struct row *table, size_t count, const char *command)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].command, command) == 0)
            return true;
    return false;
}

static void test_json(void)
{
    check_json(json_rows, LKS_COUNT(json_rows), true);
    check_json(json_offline_rows, LKS_COUNT(json_offline_rows), false);
    for (size_t i = 0; i < lks_command_count; i++) {
        const char *name = lks_commands[i].name;
        bool found = !lks_run_needs_controller(name) ||
                     in_rows(json_rows, LKS_COUNT(json_rows), name) ||
                     in_rows(json_offline_rows, LKS_COUNT(json_offline_rows), name);
        for (size_t j = 0; j < LKS_COUNT(open_ended); j++)
            found = found || strcmp(open_ended[j], name) == 0;
        lks_test_case("%s", name);
        CHECK(found);
    }
}

/* The file comes back as it went, and nothing is left of one that does not come. */
static void test_artifact(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sent = LKS_BUF(WORD_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf got = LKS_BUF(WORD_MAX);
    char digest[LKS_DIGEST_SIZE] = "";
    struct lks_err err = {0};
    struct stat st;
    const struct row put = {"artifact put", ARGS("DIR/fleet.yaml"), 0, NULL, NULL};
    struct lks_run run = run_row(&put, true, NULL);
    snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(run.out));
    lks_run_fini(&run);
    const struct row get[] = {
        {"artifact get", ARGS(digest, "--output", "DIR/fetched"), 0, "220 bytes", ""},
        {"artifact get", ARGS(digest, "--output", "DIR/fetched"), 3, "", "File exists"},
        {"artifact get", ARGS(DIGEST, "--output", "DIR/absent"), 3, "", DIGEST},
    };
    check_rows(get, LKS_COUNT(get), true);
    CHECK_CODE(lks_file_read(ctl_path(&controller, "fleet.yaml"), &sent, &err), LKS_OK);
    CHECK_CODE(lks_file_read(ctl_path(&controller, "fetched"), &got, &err), LKS_OK);
    CHECK(sent.len == 220 && lks_str_eq(lks_buf_view(&sent), lks_buf_view(&got)));
    CHECK(stat(ctl_path(&controller, "absent"), &st) != 0);
}

/* Whatever is wrong with the way there is one line, and says what to do. */
static const struct {
    const char *name;
    const char *args[8];
    int exit;
    const char *err;
} ways[] = {
    {"nobody listens", ARGS("node", "ls", "--server", "unix:/nonexistent/socket"), 4,
     "does lockstepd run there? --server or $LOCKSTEP_SERVER"},
    {"an address without a certificate", ARGS("node", "ls", "--server", "https://localhost:1"), 2,
     "--ca"},
    {"not an address", ARGS("node", "ls", "--server", "localhost:7443"), 3,
     "server 'localhost:7443': neither https://HOST:PORT nor unix:/PATH"},
    {"no token", ARGS("node", "ls", "--server", "SERVER", "--token-file", "/nonexistent"), 3,
     "token"},
    {"a token that all may read",
     ARGS("node", "ls", "--server", "SERVER", "--token-file", "/etc/passwd"), 5,
     "/etc/passwd: others may read this token (mode 644); keep them out: chmod 600 /etc/passwd"},
};

static void test_ways(void)
{
    for (size_t i = 0; i < LKS_COUNT(ways); i++) {
        lks_test_case("%s", ways[i].name);
        struct lks_run run = run_filled(ways[i].args, false, NULL);
        CHECK_INT(run.exit, ways[i].exit);
        CHECK_HAS(run.err, ways[i].err);
        lks_run_fini(&run);
    }
}

/* A file of another user than the directory is named; only root can make one. */
static void check_owner(void)
{
    char path[WORD_MAX];
    if (geteuid() != 0 || !CHECK(chown(filled("DIR/back/journal.db", path), 1, 1) == 0))
        return;
    struct lks_run run = lks_run((const char *const[]){"doctor", filled("DIR/back", path), NULL});
    CHECK_INT(run.exit, 1);
    CHECK_HAS(run.out, "journal.db belongs to user 1, and the directory to user 0");
    lks_run_fini(&run);
    run = lks_run((const char *const[]){"doctor", filled("DIR/fleet.yaml", path), NULL});
    CHECK_HAS(run.out, "not a directory");
    lks_run_fini(&run);
}

/* A secret that does not open is bad, and then nothing is said to be good about them. */
static void test_doctor(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(LKS_DOC_BYTES_MAX);
    struct lks_err err = {0};
    char path[WORD_MAX];
    CHECK_CODE(lks_file_read(filled("DATA/seal.key", path), &key, &err), LKS_OK);
    CHECK_CODE(lks_file_replace(filled("DIR/back/seal.key", path), lks_buf_view(&key), &err),
               LKS_OK);
    CHECK_CODE(lks_file_replace(filled("DIR/back/secrets/ca.key.sealed", path), LKS_STR("x"), &err),
               LKS_OK);
    struct lks_run run = lks_run((const char *const[]){"doctor", filled("DIR/back", path), NULL});
    CHECK_INT(run.exit, 1);
    CHECK_HAS(run.out, "ca.key");
    CHECK(lks_str_find(run.out, LKS_STR("the sealing key is there and fits")) < 0);
    CHECK(lks_str_find(run.out, LKS_STR("belongs to user")) < 0);
    lks_run_fini(&run);
    check_owner();
}

/* The message of a restore names the backup, and only once. */
static void test_restore(void)
{
    char to[WORD_MAX], key[WORD_MAX];
    struct lks_run run =
        lks_run((const char *const[]){"restore", "/nowhere", "--to", filled("DIR/other", to),
                                      "--seal-key", filled("DATA/seal.key", key), NULL});
    CHECK_INT(run.exit, 3);
    CHECK_STR(run.err, "lockstep: /nowhere: No such file or directory\n");
    lks_run_fini(&run);
}

/* What fits into a terminal does, and columns without content make room. */
static const struct {
    const char *args[4];
    unsigned width;
    const char *has, *lacks;
} narrow[] = {
    {ARGS("top"), 40, "p            [.........................]\n", "\033"},
    {ARGS("top"), 24, "p [....................]\n", "\033"},
    {ARGS("node", "ls"), 90, "node  pool  liveness", "rack"},
    {ARGS("node", "ls"), 0, "node  pool  rack", "node:"},
    {ARGS("node", "ls", "--sort-by=-name"), 80, "n0", "\033"},
    {ARGS("node", "ls", "--sort-by=-name"), 40, "n0", "\033"},
    {ARGS("node", "ls", "--sort-by=-name"), 20, "n0", "\033"},
    {ARGS("node", "ls", "--columns=name,class,why"), 80, "node  class       why", "pool"},
    {ARGS("node", "ls", "--columns=name,class,why"), 40, "n0    hgx-h200-8  it is", "pool"},
    {ARGS("node", "ls", "--columns=name,class,why"), 20, "node: n0\nclass: hgx-h200-8", "pool"},
    {ARGS("node", "ls", "--columns=enrolled"), 20, "enrolled\n", "n0"},
    {ARGS("node", "show", "n0"), 60, "liveness ", "name n0"},
};

static void test_narrow(void)
{
    for (size_t i = 0; i < LKS_COUNT(narrow); i++) {
        const char *args[8] = {0};
        size_t count = 0;
        for (; narrow[i].args[count] != NULL; count++)
            args[count] = narrow[i].args[count];
        args[count] = "--server";
        args[count + 1] = controller.socket;
        lks_test_case("%s on %u columns", args[0], narrow[i].width);
        struct lks_run run = lks_run_wide(args, narrow[i].width);
        CHECK_INT(run.exit, 0);
        CHECK_HAS(run.out, narrow[i].has);
        CHECK(lks_str_find(run.out, lks_str_from(narrow[i].lacks)) < 0);
        for (struct lks_str rest = run.out, line; narrow[i].width > 0 && rest.len > 0;) {
            lks_str_cut(rest, '\n', &line, &rest);
            CHECK(lks_term_columns(line) <= narrow[i].width);
        }
        lks_run_fini(&run);
    }
}

/* The programs themselves, one after the other: what they start ends, what fails leaves nothing. */
static const struct {
    const char *name, *args[WORDS_MAX];
    int exit;
    const char *says;
    const char *gone; /* what is not there behind it */
} programs[] = {
    {"an agent of no machine", ARGS(LKS_AGENT_PROGRAM, "--root", "/nope", "--state", "DIR/agent"),
     3, "--root: '/nope'", "DIR/agent"},
    {"a machine that no stack can be drafted from",
     ARGS(LKS_CLI_PROGRAM, "sim", "up", "DIR/sim", "--root", "DIR/bare"), 3,
     "no stack can be drafted", "DIR/sim"},
    {"the same directory again, with a good one",
     ARGS(LKS_CLI_PROGRAM, "sim", "up", "DIR/sim", "--root", "tests/roots/h200", "--nodes", "2"), 0,
     "2 agents, 6 BMCs", NULL},
    {"it is in use",
     ARGS(LKS_CLI_PROGRAM, "sim", "up", "DIR/sim", "--root", "tests/roots/h200", "--nodes", "2"), 3,
     "File exists", NULL},
    {"all of it ends", ARGS(LKS_CLI_PROGRAM, "sim", "down", "DIR/sim"), 0, "4 programs ended",
     "DIR/sim/pids"},
};

/* People edit a file of one node to see it drift: neither others nor the captured machine have it.
 */
static void check_own_files(void)
{
    static const char file[] = "root/proc/sys/kernel/osrelease";
    struct stat captured, nodes[2];
    char path[WORD_MAX], storage[WORD_MAX];
    CHECK_INT(stat("tests/roots/h200/proc/sys/kernel/osrelease", &captured), 0);
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        snprintf(path, sizeof(path), "DIR/sim/agents/sim%04zu/%s", i + 1, file);
        CHECK_INT(stat(filled(path, storage), &nodes[i]), 0);
        CHECK(nodes[i].st_ino != captured.st_ino && nodes[i].st_nlink == 1);
        CHECK(nodes[i].st_size == captured.st_size);
    }
    CHECK(nodes[0].st_ino != nodes[1].st_ino);
}

static void test_programs(void)
{
    char storage[WORDS_MAX][WORD_MAX];
    lks_tree_file(&controller.tree, "/bare/proc/sys/kernel/random/boot_id", "x\n");
    for (size_t i = 0; i < LKS_COUNT(programs); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(LKS_DOC_BYTES_MAX);
        const char *argv[WORDS_MAX] = {0};
        lks_test_case("%s", programs[i].name);
        for (size_t a = 0; programs[i].args[a] != NULL; a++)
            argv[a] = filled(programs[i].args[a], storage[a]);
        CHECK_INT(ctl_run(argv, &said), programs[i].exit);
        CHECK_HAS(lks_buf_view(&said), programs[i].says);
        if (programs[i].gone != NULL)
            CHECK(access(filled(programs[i].gone, storage[0]), F_OK) != 0);
    }
    check_own_files();
}

static void test_begin(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf fleet = LKS_BUF(LKS_DOC_BYTES_MAX);
    lks_run_now = (int64_t)time(NULL);
    ctl_init(&controller, "");
    CHECK(ctl_start(&controller));
    ctl_fleet(NODES, "x", &fleet);
    write_file("fleet.yaml", lks_buf_view(&fleet));
    write_file("broken.yaml", LKS_STR("lockstep: 1\nkind: Fleet\n"));
    write_file("nodes.csv", LKS_STR("name,pool,class\nn1,a,hgx-h200-8\n"));
}

static void test_end(void)
{
    CHECK_INT(ctl_stop(&controller), 0);
    ctl_fini(&controller);
}

static const struct lks_test tests[] = {
    {"a controller starts", test_begin},
    {"commands that ask it", test_remote},
    {"commands that work on its directory", test_offline},
    {"JSON of every command", test_json},
    {"an artifact there and back", test_artifact},
    {"ways that lead nowhere", test_ways},
    {"a doctor who contradicts nobody", test_doctor},
    {"a restore from nothing", test_restore},
    {"narrow terminals", test_narrow},
    {"programs that start others", test_programs},
    {"it ends", test_end},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
