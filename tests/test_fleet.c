#include "model/manifest/fleet.h"

#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 16 * 1024 * 1024 };

#define HEAD  "lockstep: 1\nkind: Fleet\nname: f\n"
#define POOLS "pools: {train: {posture: pre-training}}\n"
#define NODES "nodes: [{hosts: 'g[1-2]', pool: train, class: hgx-h100-8}]\n"
#define FLEET HEAD POOLS NODES
#define BMC(hosts, rest)                                                                           \
    HEAD POOLS "nodes: [{hosts: '" hosts "', pool: train, class: hgx-h100-8, bmc: {" rest          \
               ", credentials: file:/x}}]\n"
#define BRACES "only {host} can be in braces"
#define TRUST  "trust is file:/CA.pem or fingerprint"
#define NAME   "is not a name: lower-case letters, digits, '.', '-', '_'"
#define CTRL   "a line break or control character has no place here"

static enum lks_code parse(const char *text, struct lks_manifest *out, struct lks_err *err)
{
    return lks_manifest_parse("f.yaml", lks_str_from(text), lks_test_facts(), NULL, out, err);
}

#define FREEZE(from, until, pool)                                                                  \
    "freezes: [{from: '" from "', until: '" until "', pools: [" pool "]}]\n"
#define OUTAGE(hosts, from, until)                                                                 \
    "outages: [{hosts: '" hosts "', from: '" from "', until: '" until "'}]\n"

#define GATE(rest) HEAD "pools: {train: {posture: pre-training, gate: {" rest "}}}\n" NODES
#define OWN(rest)  GATE("metrics: {own: {" rest "}}")

static const struct {
    const char *name;
    const char *text;
    const char *message; /* NULL when it is accepted; without "f.yaml:", how it ends */
} texts[] = {
    {"small", FLEET, NULL},
    {"no pools", HEAD NODES, "f.yaml:1:1: Fleet needs 'pools': nodes by workload"},
    {"no nodes", HEAD POOLS "nodes: []\n", "f.yaml:5:1: nodes: at least 1 expected, found 0"},
    {"no posture", HEAD "pools: {train: {}}\n" NODES,
     "f.yaml:4:9: pools.train: pool needs 'posture': class of workload, a row of postures.csv, "
     "which decides how tightly it pins. In `dev`, commands by hand need neither a drained node "
     "nor "
     "an approval"},
    {"no such posture", HEAD "pools: {train: {posture: training}}\n" NODES,
     "f.yaml:4:17: pools.train.posture: no posture 'training'; there are pre-training, "
     "post-training, "
     "online-inference, batch, dev"},
    {"nearly a posture", HEAD "pools: {train: {posture: pretraining}}\n" NODES,
     "f.yaml:4:17: pools.train.posture: no posture 'pretraining'; there are pre-training, "
     "post-training, "
     "online-inference, batch, dev"},
    {"every posture",
     HEAD "pools: {train: {posture: pre-training}, a: {posture: post-training}, b: {posture: "
          "online-inference}, c: {posture: batch}, d: {posture: dev}}\n" NODES,
     NULL},
    {"enforcement in quotes", HEAD "pools: {train: {posture: dev, enforce: 'on'}}\n" NODES, NULL},
    {"no such pool", HEAD POOLS "nodes: [{hosts: g1, pool: rain, class: hgx-h100-8}]\n",
     "f.yaml:5:21: nodes[1].pool: no 'rain' under pools; did you mean 'train'?"},
    {"no such class", HEAD POOLS "nodes: [{hosts: g1, pool: train, class: hgx}]\n",
     "f.yaml:5:34: nodes[1].class: no hardware class 'hgx'; 4 names start with it: hgx-h100-8, "
     "hgx-h200-8, hgx-a100-8 and 1 more"},
    {"no such site", HEAD POOLS "nodes: [{hosts: g1, pool: train, class: hgx-h100-8, site: fra}]\n",
     "f.yaml:5:53: nodes[1].site: no 'fra' under sites"},
    {"no such domain", FLEET "assets: [{hosts: sw1, class: switch-tray, domain: r1}]\n",
     "f.yaml:6:43: assets[1].domain: no 'r1' under domains"},
    {"no such power zone", FLEET "assets: [{hosts: sw1, class: bbu, power_zone: z}]\n",
     "f.yaml:6:35: assets[1].power_zone: no 'z' under power_zones"},
    {"no such site of a domain", FLEET "domains: {r1: {site: fra}}\n",
     "f.yaml:6:16: domains.r1.site: no 'fra' under sites"},
    {"no such site of a power zone", FLEET "power_zones: {z: {site: fra}}\n",
     "f.yaml:6:19: power_zones.z.site: no 'fra' under sites"},
    {"all of these",
     FLEET "sites: {fra: {timezone: Europe/Berlin}}\n"
           "domains: {r1: {site: fra, spares: 1}}\n"
           "power_zones: {z: {site: fra, budget_kw: 900}}\n"
           "assets: [{hosts: sw1, class: bbu, site: fra, domain: r1, power_zone: z, side: a}]\n",
     NULL},
    {"a host twice in one list",
     HEAD POOLS "nodes: [{hosts: 'g1,g[1-2]', pool: train, class: hgx-h100-8}]\n",
     "f.yaml:5:10: nodes[1].hosts: host 'g1' is already named in this fleet"},
    {"a host twice in two groups",
     HEAD POOLS "nodes:\n  - {hosts: 'g[1-3]', pool: train, class: hgx-h100-8}\n"
                "  - {hosts: g3, pool: train, class: hgx-h100-8}\n",
     "f.yaml:7:6: nodes[2].hosts: host 'g3' is already named in this fleet"},
    {"a host that is an asset too", FLEET "assets: [{hosts: g2, class: switch}]\n",
     "f.yaml:6:11: assets[1].hosts: host 'g2' is already named in this fleet"},
    {"other widths are other hosts",
     HEAD POOLS "nodes: [{hosts: 'g1,g01', pool: train, class: hgx-h100-8}]\n", NULL},
    {"bad list of hosts", HEAD POOLS "nodes: [{hosts: 'g[1', pool: train, class: hgx-h100-8}]\n",
     "f.yaml:5:10: nodes[1].hosts: character 2: this bracket is never closed"},
    {"a pool with a slash", HEAD "pools: {a/b: {posture: dev}}\n" NODES,
     "f.yaml:4:9: pools.a/b: " NAME},
    {"a site in capitals", FLEET "sites: {FRA: {}}\n", "f.yaml:6:9: sites.FRA: " NAME},
    {"a domain that runs backwards", FLEET "domains: {\"r1\\u202e\": {}}\n",
     "f.yaml:6:11: domains.r1???: " NAME},
    {"a power zone nobody sees", FLEET "power_zones: {\"z\\u200b\": {site: fra}}\n",
     "f.yaml:6:15: power_zones.z???: " NAME},
    {"an escape sequence in a description", FLEET "description: \"a\\e[2J\"\n",
     "f.yaml:6:1: description: " CTRL},
    {"an escape sequence in a rack",
     HEAD POOLS "nodes: [{hosts: g1, rack: \"R\\e[1m\", pool: train, class: hgx-h100-8}]\n",
     "f.yaml:5:21: nodes[1].rack: " CTRL},
    {"a supplier of blanks",
     HEAD POOLS "nodes: [{hosts: g1, supplier: ' ', pool: train, class: hgx-h100-8}]\n",
     "f.yaml:5:21: nodes[1].supplier: expected text, found an empty text"},

    {"a gate by presets", GATE("metrics: {sm-clock: {}, xid: {}}"), NULL},
    {"a gate with all of it",
     GATE(
         "metrics: {step-time: {query: x, margin: '0.5', critical: false}}, min_load_gpu_hours: 8, "
         "min_soak: 4h, max_soak: 1d, loss_budget: 2, controls: 4, reference_load: burn-in"),
     NULL},
    {"a gate of nothing", GATE("metrics: {}"), "name at least one metric"},
    {"no such preset", GATE("metrics: {sm-clok: {}}"),
     "no preset 'sm-clok'; did you mean 'sm-clock'?; a metric of your own needs a query"},
    {"a preset that has no query", GATE("metrics: {step-time: {}}"),
     "this preset has no query of its own: say the one of your exporter"},
    {"a metric of one's own", OWN("query: x, better: lower, margin: 1"), NULL},
    {"events of one's own", OWN("query: x, kind: rate"), NULL},
    {"one way or the other", OWN("query: x, margin: 1"), "which way is better: higher or lower"},
    {"no margin", OWN("query: x, better: lower"), "it may be worse: margin"},
    {"a margin of nothing", OWN("query: x, better: lower, margin: 0"),
     "a margin is more than 0 and at most 100 percent"},
    {"a margin that is none", OWN("query: x, better: lower, margin: '1 %'"),
     "a margin is a number of percent, such as 1 or '0.5'"},
    {"more events are better", OWN("query: x, kind: rate, better: higher"),
     "events are better when they are fewer: better: lower"},
    {"figures of checks", GATE("metrics: {gemm-tflops: {}, sdc: {}}"), NULL},
    {"events that agents tell of", GATE("metrics: {xid-fatal: {}, link-down: {}}"), NULL},
    {"values that agents do not tell", OWN("query: clock, better: higher, margin: 1, from: agent"),
     "agents tell of two sorts of events"},
    {"a load that leads elsewhere", GATE("metrics: {xid: {}}, reference_load: ../../bin/rm"),
     "reference_load: "},
    {"a normal rate", OWN("query: x, kind: rate, normal: '0.000158'"), NULL},
    {"a normal rate of a mean", OWN("query: x, better: lower, margin: 1, normal: 1"),
     "a normal rate is of counted events: kind rate"},
    {"a normal rate of nothing", OWN("query: x, kind: rate, normal: 0"),
     "a normal rate is the number of events of a node in an hour"},
    {"a normal rate in words", OWN("query: x, kind: rate, normal: seldom"),
     "a normal rate is the number of events of a node in an hour"},
    {"a rate of a moment", OWN("query: x, kind: rate, from: accept"),
     "has no rate: kind mean or hard"},
    {"a soak that is no span", GATE("metrics: {sm-clock: {}}, min_soak: '4'"),
     "'4' is not a span such as 30m, 24h or 7d"},
    {"a soak that ends too early", GATE("metrics: {sm-clock: {}}, min_soak: 4h, max_soak: 3h"),
     "it is shorter than min_soak"},

    {"a BMC of each host", BMC("g[1-2]", "url: 'https://bmc-{host}/x'"), NULL},
    {"a BMC with the name twice", BMC("g[1-2]", "url: 'https://{host}.x/{host}'"), NULL},
    {"one host behind one address", BMC("g1", "url: 'https://10.0.0.7'"), NULL},
    {"two hosts behind one address", BMC("g[1-2]", "url: 'https://10.0.0.7'"),
     "f.yaml:5:65: nodes[1].bmc.url: 2 hosts share this address; put {host} where their names go"},
    {"two nodes behind one address",
     HEAD POOLS
     "nodes: [{hosts: g1, pool: train, class: hgx-h100-8, bmc: {url: 'https://b', credentials: "
     "file:/x}},\n"
     "  {hosts: g2, pool: train, class: hgx-h100-8, bmc: {url: 'https://b', credentials: "
     "file:/x}}]\n",
     "f.yaml:6:53: nodes[2].bmc.url: another host of this fleet has this address"},
    {"another thing in braces", BMC("g1", "url: 'https://{node}'"), BRACES},
    {"another thing in braces too", BMC("g[1-2]", "url: 'https://{host}/{rack}'"), BRACES},
    {"nothing in braces", BMC("g1", "url: 'https://{}'"), BRACES},
    {"an open brace", BMC("g1", "url: 'https://x/{'"), BRACES},
    {"half a brace", BMC("g1", "url: 'https://{host'"), BRACES},
    {"a brace in capitals", BMC("g1", "url: 'https://{HOST}'"), BRACES},
    {"a query", BMC("g1", "url: 'https://b/?x=1'"),
     "f.yaml:5:61: nodes[1].bmc.url: expected https://HOST/PATH, without a query"},
    {"trust by fingerprint", BMC("g1", "trust: fingerprint, url: 'https://b'"), NULL},
    {"trust by a file", BMC("g1", "trust: 'file:/etc/ca.pem', url: 'https://b'"), NULL},
    {"no trust", BMC("g1", "trust: none, url: 'https://b'"), TRUST},
    {"trust in capitals", BMC("g1", "trust: Fingerprint, url: 'https://b'"), TRUST},
    {"trust by a file without a place", BMC("g1", "trust: 'file:ca.pem', url: 'https://b'"), TRUST},
    {"trust by a program", BMC("g1", "trust: 'exec:/bin/true', url: 'https://b'"), TRUST},
    {"trust in whoever answers", BMC("g1", "trust: insecure, url: 'https://b'"), TRUST},
    {"an asset's BMC",
     FLEET "assets: [{hosts: 's[1-2]', class: switch, bmc: {url: 'https://b', credentials: "
           "file:/x}}]\n",
     "f.yaml:6:49: assets[1].bmc.url: 2 hosts share this address; put {host} where their names "
     "go"},

    {"as many hosts as there can be",
     HEAD POOLS "nodes: [{hosts: 'g[1-999999]', pool: train, class: hgx-h100-8}]\n"
                "assets: [{hosts: s1, class: switch}]\n",
     NULL},
    {"one more, in one list",
     HEAD POOLS "nodes: [{hosts: 'g[0-1000000]', pool: train, class: hgx-h100-8}]\n",
     "f.yaml:5:10: nodes[1].hosts: character 3: more than 1000000 names"},
    {"one more, in two lists",
     HEAD POOLS "nodes: [{hosts: 'g[1-999999]', pool: train, class: hgx-h100-8}]\n"
                "assets: [{hosts: 's[1-2]', class: switch}]\n",
     "f.yaml:6:11: assets[1].hosts: a fleet has at most 1000000 nodes and assets"},
    {"a rack with all of its trays",
     HEAD POOLS "domains: {r1: {}}\n"
                "nodes: [{hosts: 't[1-18]', pool: train, class: gb200-nvl72-tray, domain: r1}]\n",
     NULL},
    {"a rack with a tray too few",
     HEAD POOLS "domains: {r1: {}}\n"
                "nodes: [{hosts: 't[1-17]', pool: train, class: gb200-nvl72-tray, domain: r1}]\n",
     "f.yaml:5:11: domains.r1: its nodes hold 68 GPUs, and one NVLink domain holds 72"},
    {"a rack of two groups",
     HEAD POOLS "domains: {r1: {}}\nnodes:\n"
                "  - {hosts: 't[1-9]', pool: train, class: gb200-nvl72-tray, domain: r1}\n"
                "  - {hosts: 't[10-19]', pool: train, class: gb200-nvl72-tray, domain: r1}\n",
     "f.yaml:5:11: domains.r1: its nodes hold 76 GPUs, and one NVLink domain holds 72"},
    {"a domain of nodes that stand alone",
     HEAD POOLS "domains: {r1: {}}\n"
                "nodes: [{hosts: 'g[1-3]', pool: train, class: hgx-h100-8, domain: r1}]\n",
     NULL},
    {"a zone that nothing is written in", FLEET "sites: {mordor: {timezone: Middle-earth}}\n",
     NULL},
    {"a zone that windows are written in",
     HEAD "pools: {train: {posture: dev, windows: 'Sat 00:00-24:00'}}\n" NODES
          "sites: {fra: {timezone: Europe/Berlim}}\n",
     "f.yaml:6:15: sites.fra.timezone: 'Europe/Berlim' is neither a time zone (\"Europe/Berlin\") "
     "nor a rule of one (\"CET-1CEST,M3.5.0,M10.5.0/3\"); did you mean 'Europe/Berlin'?"},
    {"a zone as a rule",
     HEAD "pools: {train: {posture: dev, windows: 'Sat 00:00-24:00'}}\n" NODES
          "sites: {fra: {timezone: 'CET-1CEST,M3.5.0,M10.5.0/3'}}\n",
     NULL},
    {"windows that nobody understands",
     HEAD "pools: {train: {posture: dev, windows: 'at night'}}\n" NODES,
     "f.yaml:4:31: pools.train.windows: windows: 'at night' is no window; one is written like "
     "'Mon-Fri 22:00-04:00', a whole day as 'Sat 00:00-24:00'"},
    {"requeues that no scheduler is there for",
     HEAD "pools: {train: {posture: dev, drain_jobs: requeue}}\n" NODES,
     "f.yaml:4:31: pools.train.drain_jobs: requeue needs 'sched: slurm' or "
     "'sched: kubernetes', or set wait"},
    {"a signal that no job gets",
     HEAD
     "pools: {train: {posture: dev, sched: slurm, drain_jobs: wait, drain_signal: USR1}}\n" NODES,
     "f.yaml:4:63: pools.train.drain_signal: drain_signal needs 'drain_jobs: requeue': without it "
     "no job is signalled"},
    {"a signal that ends a job", HEAD "pools: {train: {posture: dev, drain_signal: KILL}}\n" NODES,
     "f.yaml:4:31: pools.train.drain_signal: no such value 'KILL'; one of: USR1, USR2, HUP, TERM"},
    {"a signal for pods",
     HEAD "pools: {train: {posture: dev, sched: kubernetes, drain_jobs: requeue, drain_signal: "
          "USR1}}\n" NODES,
     "f.yaml:4:71: pools.train.drain_signal: drain_signal needs Slurm: a pod has "
     "terminationGracePeriodSeconds of its own"},
    {"a grace for pods",
     HEAD "pools: {train: {posture: dev, sched: kubernetes, drain_grace_minutes: 5}}\n" NODES,
     "f.yaml:4:50: pools.train.drain_grace_minutes: drain_grace_minutes needs Slurm: a pod has "
     "terminationGracePeriodSeconds of its own"},
    {"a signal for the jobs of Slurm beside pods",
     HEAD "pools: {train: {posture: dev, sched: [slurm, kubernetes], drain_jobs: requeue, "
          "drain_signal: USR1}}\n" NODES,
     NULL},
    {"reservations that no scheduler makes",
     HEAD "pools: {train: {posture: dev, reserve: true}}\n" NODES,
     "f.yaml:4:31: pools.train.reserve: only Slurm reserves nodes: add 'sched: slurm', or remove "
     "reserve"},
    {"two schedulers, one of which reserves",
     HEAD "pools: {train: {posture: dev, sched: [kubernetes, slurm], reserve: true}}\n" NODES,
     NULL},
    {"reservations of the other scheduler",
     HEAD "pools: {train: {posture: dev, sched: [kubernetes], reserve: true}}\n" NODES,
     "f.yaml:4:52: pools.train.reserve: only Slurm reserves nodes: add 'sched: slurm', or remove "
     "reserve"},
    {"no scheduler in a list", HEAD "pools: {train: {posture: dev, sched: [slurm, none]}}\n" NODES,
     "f.yaml:4:46: pools.train.sched[2]: 'none' cannot be in a list: remove it, or write it "
     "instead of the list"},
    {"a scheduler twice",
     HEAD "pools: {train: {posture: dev, sched: [slurm, kubernetes, slurm]}}\n" NODES,
     "f.yaml:4:58: pools.train.sched[3]: 'slurm' is in the list twice"},
    {"an empty list of schedulers", HEAD "pools: {train: {posture: dev, sched: []}}\n" NODES,
     "f.yaml:4:31: pools.train.sched: the list is empty; name at least one, or write 'none'"},
    {"a scheduler in the list that there is not",
     HEAD "pools: {train: {posture: dev, sched: [slurm, kubernets]}}\n" NODES,
     "f.yaml:4:46: pools.train.sched[2]: no such value 'kubernets'; did you mean 'kubernetes'?"},
    {"a number in the list of schedulers",
     HEAD "pools: {train: {posture: dev, sched: [slurm, 1]}}\n" NODES,
     "f.yaml:4:46: pools.train.sched[2]: expected one of slurm, kubernetes, found the number 1"},
    {"a map of schedulers", HEAD "pools: {train: {posture: dev, sched: {slurm: true}}}\n" NODES,
     "f.yaml:4:31: pools.train.sched: expected one of none, slurm, kubernetes, found a map"},
    {"the simulated scheduler, which no file may name",
     HEAD "pools: {train: {posture: dev, sched: [slurm, simulated]}}\n" NODES,
     "f.yaml:4:46: pools.train.sched[2]: no such value 'simulated'; one of: slurm, kubernetes"},
    {"no headroom at all", HEAD "pools: {train: {posture: dev, headroom: 0}}\n" NODES,
     "f.yaml:4:31: pools.train.headroom: 0 is not between 1 and 1000000"},
    {"more than all of it",
     HEAD "pools: {train: {posture: dev, min_capacity_percent: 101}}\n" NODES,
     "f.yaml:4:31: pools.train.min_capacity_percent: 101 is not between 1 and 100"},
    {"a freeze", FLEET FREEZE("2026-12-19", "2027-01-04", "train"), NULL},
    {"a freeze that ends first", FLEET FREEZE("2026-12-19", "2026-12-19", "train"),
     "freezes[1]: it ends before it starts"},
    {"a freeze of what is not there", FLEET FREEZE("2026-12-19", "2027-01-04", "trian"),
     "freezes[1].pools[1]: there is no pool 'trian'"},
    {"an outage", FLEET OUTAGE("g1", "2026-11-15T22:00:00+01:00", "2026-11-16T22:00:00Z"), NULL},
    {"an outage of what is gone",
     FLEET OUTAGE("old[1-9]", "2026-11-15T22:00:00Z", "2026-11-16T22:00:00Z"), NULL},
    {"an outage that ends first",
     FLEET OUTAGE("g1", "2026-11-16T22:00:00Z", "2026-11-15T22:00:00Z"),
     "f.yaml:6:11: outages[1]: it ends before it starts"},
    {"an outage of some day", FLEET OUTAGE("g1", "tomorrow", "2026-11-15T22:00:00Z"),
     "outages[1].from: 'tomorrow' is no moment; one is '2026-11-15T22:00:00+01:00'"},
    {"an outage of nobody", FLEET OUTAGE("g[1", "2026-11-15T22:00:00Z", "2026-11-16T22:00:00Z"),
     "outages[1].hosts: character 2: this bracket is never closed"},
    {"too many types of branch",
     HEAD "pools: {p: {posture: dev, version_policy: {branches: [PB, PB, PB, PB, PB]}}}\n" NODES,
     "f.yaml:4:44: pools.p.version_policy.branches: at most 4 allowed, found 5"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        bool fine = texts[i].message == NULL;
        CHECK_CODE(parse(texts[i].text, &m, &err), fine ? LKS_OK : LKS_E_INVALID);
        bool whole = fine || lks_str_starts(lks_str_from(texts[i].message), "f.yaml:");
        if (whole)
            CHECK_STR(lks_str_from(err.msg), fine ? "" : texts[i].message);
        else
            CHECK_HAS(lks_str_from(err.msg), texts[i].message);
        CHECK_INT(m.fleet_count, fine);
    }
}

static void test_pools(void)
{
    static const char text[] = HEAD
        "pools:\n"
        "  train: {posture: pre-training, criticality: 90, enforce: warn, sched: slurm, stack: "
        "gold,"
        " version_policy: {branches: [LTSB, PB], min_age_days: 30, minor: false, forward: true}}\n"
        "  dev: {posture: dev}\n"
        "nodes: [{hosts: g1, pool: dev, class: hgx-h100-8}]\n";
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(text, &m, &err), LKS_OK) || !CHECK_INT(m.fleets[0].pool_count, 2))
        return;
    const struct lks_pool *train = &m.fleets[0].pools[0], *dev = &m.fleets[0].pools[1];
    CHECK_STR(train->name, "train");
    CHECK_STR(train->posture, "pre-training");
    CHECK_INT(train->criticality, 90);
    CHECK_STR(train->enforce, "warn");
    CHECK_STR(train->sched, "slurm");
    CHECK_STR(train->stack, "gold");
    CHECK_INT(train->policy.branch_count, 2);
    CHECK_STR(train->policy.branches[1], "PB");
    CHECK_INT(train->policy.min_age_days, 30);
    CHECK(!train->policy.minor && train->policy.forward);
    CHECK_STR(dev->enforce, "observe");
    CHECK_STR(dev->sched, "none");
    CHECK_STR(dev->stack, "");
    CHECK_INT(dev->policy.branch_count, 0);
    CHECK(dev->policy.minor && !dev->policy.forward);
    CHECK(m.fleets[0].nodes[0].pool == dev);
}

/* Several schedulers are one text, in the order of the table, however the file has them. */
static const struct {
    const char *name, *sched, *is;
} scheds[] = {
    {"a word", "slurm", "slurm"},
    {"none", "none", "none"},
    {"a list of one", "[slurm]", "slurm"},
    {"two", "[slurm, kubernetes]", "slurm+kubernetes"},
    {"two the other way round", "[kubernetes, slurm]", "slurm+kubernetes"},
};

static void test_scheds(void)
{
    for (size_t i = 0; i < LKS_COUNT(scheds); i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        char text[512];
        lks_test_case("%s", scheds[i].name);
        snprintf(text, sizeof(text), HEAD "pools: {train: {posture: dev, sched: %s}}\n" NODES,
                 scheds[i].sched);
        if (CHECK_CODE(parse(text, &m, &err), LKS_OK))
            CHECK_STR(m.fleets[0].pools[0].sched, scheds[i].is);
    }
}

/* Without data of a metric that a site wrote itself a wave does not pass, unless it says so. */
static const struct {
    const char *name, *text;
    bool critical;
} criticals[] = {
    {"a preset that is", GATE("metrics: {xid: {}}"), true},
    {"a preset that is not", GATE("metrics: {sm-clock: {}}"), false},
    {"a preset with a query of one's own", GATE("metrics: {mfu: {query: x}}"), true},
    {"a preset with another margin", GATE("metrics: {sm-clock: {margin: 2}}"), false},
    {"a metric of one's own", OWN("query: x, better: lower, margin: 1"), true},
    {"events of one's own", OWN("query: x, kind: rate"), true},
    {"one's own that need not be there", OWN("query: x, kind: rate, critical: false"), false},
};

static void test_criticals(void)
{
    for (size_t i = 0; i < LKS_COUNT(criticals); i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        lks_test_case("%s", criticals[i].name);
        if (CHECK_CODE(parse(criticals[i].text, &m, &err), LKS_OK))
            CHECK(m.fleets[0].pools[0].gate->metrics[0].critical == criticals[i].critical);
    }
}

/* What a change may do to jobs; what is not said is nothing. */
static void test_jobs(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(HEAD
                          "pools:\n  train: {posture: dev, sched: slurm, reserve: true, "
                          "drain_jobs: requeue, "
                          "drain_signal: USR2, drain_grace_minutes: 7}\n  dev: {posture: dev}\n"
                          "nodes: [{hosts: g1, pool: dev, class: hgx-h100-8}]\n",
                          &m, &err),
                    LKS_OK))
        return;
    const struct lks_pool *train = lks_fleet_find_pool(&m.fleets[0], LKS_STR("train"));
    const struct lks_pool *dev = lks_fleet_find_pool(&m.fleets[0], LKS_STR("dev"));
    CHECK_STR(train->drain_jobs, "requeue");
    CHECK_STR(train->drain_signal, "USR2");
    CHECK_INT(train->drain_grace_minutes, 7);
    CHECK_STR(dev->drain_jobs, "");
    CHECK(train->reserve && !dev->reserve);
    CHECK_STR(dev->drain_signal, "");
    CHECK_INT(dev->drain_grace_minutes, 0);
}

/* How pools are changed; what is not said is nothing. */
static void test_changes(void)
{
    static const char text[] = HEAD
        "sites: {fra: {timezone: Europe/Berlin}, osl: {}}\n"
        "power_zones: {z: {site: fra, budget_kw: 900, ramp_kw: 50}, w: {site: osl}}\n"
        "domains: {d: {spares: 2}, e: {}}\nspares: {psu: 4}\n"
        "pools:\n  train: {posture: pre-training, headroom: 5, min_capacity_percent: 90, min_gang: "
        "64, windows: 'Sat 00:00-24:00', drain_minutes: 30, node_power_w: 10200, sched: slurm, "
        "drain_jobs: requeue, "
        "drain_signal: USR2, drain_grace_minutes: 7}\n"
        "  dev: {posture: dev}\nnodes: [{hosts: g1, pool: dev, class: hgx-h100-8}]\n" OUTAGE(
            "g[1-2]", "1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z");
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(text, &m, &err), LKS_OK))
        return;
    const struct lks_fleet *f = &m.fleets[0];
    const struct lks_pool *train = lks_fleet_find_pool(f, LKS_STR("train"));
    const struct lks_pool *dev = lks_fleet_find_pool(f, LKS_STR("dev"));
    CHECK(lks_fleet_find_pool(f, LKS_STR("other")) == NULL);
    if (!CHECK(train != NULL && dev != NULL) || !CHECK_INT(f->outage_count, 1))
        return;
    CHECK_INT(train->headroom, 5);
    CHECK_INT(train->min_capacity_percent, 90);
    CHECK_INT(train->min_gang, 64);
    CHECK_INT(train->drain_minutes, 30);
    CHECK_INT(train->node_power_w, 10200);
    CHECK_STR(train->windows, "Sat 00:00-24:00");
    CHECK_INT(dev->headroom + dev->min_capacity_percent + dev->min_gang + dev->drain_minutes, 0);
    CHECK_STR(dev->windows, "");
    CHECK_STR(lks_fleet_timezone(f, LKS_STR("fra")), "Europe/Berlin");
    CHECK_STR(lks_fleet_timezone(f, LKS_STR("osl")), "UTC");
    CHECK_STR(lks_fleet_timezone(f, LKS_STR("")), "UTC");
    CHECK_INT(lks_fleet_power(f, LKS_STR("z")).budget_kw, 900);
    CHECK_INT(lks_fleet_power(f, LKS_STR("z")).ramp_kw, 50);
    CHECK_INT(lks_fleet_power(f, LKS_STR("w")).ramp_kw, 0);
    CHECK_INT(lks_fleet_spares(f, LKS_STR("psu")), 4);
    CHECK_INT(lks_fleet_spares(f, LKS_STR("bbu")), 0);
    CHECK_INT(f->outages[0].from, 1000);
    CHECK_INT(f->outages[0].until, 2000);
    CHECK_INT(f->outages[0].hosts.count, 2);
}

static void test_groups(void)
{
    static const char text[] =
        HEAD POOLS "sites: {fra: {}}\n"
                   "nodes:\n"
                   "  - {hosts: 'g[001-100]', pool: train, class: hgx-h100-8, site: fra, rack: R7,"
                   " cooling_loop: c1, hardware_revision: A2, supplier: acme}\n"
                   "  - {hosts: x1, pool: train, class: l40s-pcie-8}\n"
                   "assets: [{hosts: 'ps[1-4]', class: power-shelf, side: b}]\n";
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(text, &m, &err), LKS_OK))
        return;
    const struct lks_fleet *f = &m.fleets[0];
    CHECK_STR(f->name, "f");
    CHECK_INT(f->node_count, 101);
    CHECK_INT(f->asset_count, 4);
    if (!CHECK_INT(f->node_groups, 2) || !CHECK_INT(f->asset_groups, 1))
        return;
    CHECK_STR(f->nodes[0].hosts.names[99], "g100");
    CHECK_STR(f->nodes[0].class->name, "hgx-h100-8");
    CHECK_STR(f->nodes[0].site, "fra");
    CHECK_STR(f->nodes[0].rack, "R7");
    CHECK_STR(f->nodes[0].cooling_loop, "c1");
    CHECK_STR(f->nodes[0].hardware_revision, "A2");
    CHECK_STR(f->nodes[0].supplier, "acme");
    CHECK_STR(f->nodes[1].site, "");
    CHECK_STR(f->assets[0].asset_class, "power-shelf");
    CHECK_STR(f->assets[0].side, "b");
    CHECK(f->assets[0].pool == NULL && f->assets[0].class == NULL);
}

/* As many domains as there can be, each with a group of its own: every reference is found. */
static void test_many_domains(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_buf_add(&text, LKS_STR(HEAD POOLS "domains:\n"));
    for (int i = 0; i < LKS_FLEET_NAMES_MAX; i++)
        lks_buf_addf(&text, "  d%05d: {}\n", i);
    lks_buf_add(&text, LKS_STR("nodes:\n"));
    for (int i = 0; i < LKS_FLEET_NAMES_MAX; i++)
        lks_buf_addf(&text, "  - {hosts: g%d, pool: train, class: hgx-h100-8, domain: d%05d}\n", i,
                     LKS_FLEET_NAMES_MAX - 1 - i);
    CHECK_CODE(lks_buf_check(&text, &err), LKS_OK);
    if (!CHECK_CODE(parse(text.ptr, &m, &err), LKS_OK))
        return;
    CHECK_INT(m.fleets[0].node_groups, LKS_FLEET_NAMES_MAX);
    CHECK_INT(m.fleets[0].node_count, LKS_FLEET_NAMES_MAX);
    CHECK_STR(m.fleets[0].nodes[0].domain, "d19999");
}

static void test_too_many_domains(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_buf_add(&text, LKS_STR(FLEET "domains:\n"));
    for (int i = 0; i <= LKS_FLEET_NAMES_MAX; i++)
        lks_buf_addf(&text, "  d%d: {}\n", i);
    CHECK_CODE(lks_buf_check(&text, &err), LKS_OK);
    CHECK_CODE(parse(text.ptr, &m, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "f.yaml:6:1: domains: at most 20000 allowed, found 20001");
}

/* Twenty million hosts in a kilobyte are counted, not made: the second group is refused. */
static void test_many_hosts(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_buf_add(&text, LKS_STR(HEAD POOLS "nodes:\n"));
    for (int i = 0; i < 20; i++)
        lks_buf_addf(&text, "  - {hosts: 'h[1-1000000]', pool: train, class: hgx-h100-8}\n");
    CHECK_CODE(parse(text.ptr, &m, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "f.yaml:7:6: nodes[2].hosts: a fleet has at most 1000000 nodes and assets");
    CHECK_INT(m.fleet_count, 0);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"fleet: texts", test_texts},
        {"fleet: pools", test_pools},
        {"fleet: schedulers of a pool", test_scheds},
        {"fleet: what has to be measured", test_criticals},
        {"fleet: changes", test_changes},
        {"fleet: jobs", test_jobs},
        {"fleet: groups", test_groups},
        {"fleet: as many domains as there can be", test_many_domains},
        {"fleet: one domain more", test_too_many_domains},
        {"fleet: twenty million hosts", test_many_hosts},
        {0},
    });
}
