#include "core/rows/job.h"
#include "tests/asked.h"
#include "tests/test.h"

#define HOUR (3600 * LKS_SECOND)

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\npools: {train: {posture: pre-training}}\n"
    "nodes: [{hosts: 'g[1-40]', pool: train, class: hgx-h100-8}]\n"
    "assets: [{hosts: sw1, class: switch}]\n";

static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
}

static void test_jobs(void)
{
    static const struct {
        const char *name;
        struct lks_rec_job job;
        const char *told;
    } rows[] = {
        {"a job",
         {.job = LKS_STR_C("4711"), .hosts = LKS_STR_C("g2,g1"), .digest = LKS_STR_C("sha256:x")},
         "job job=4711 hosts=g[1-2] digest=sha256:x by=slurm\n"},
        {"many nodes, its images and an override",
         {.job = LKS_STR_C("4712.0"),
          .hosts = LKS_STR_C("g[1-40]"),
          .images = LKS_STR_C("a:1 b:2"),
          .override = LKS_STR_C("the demo")},
         "job job=4712.0 hosts=g[1-40] images=a:1 b:2 by=slurm override=the demo\n"},
        {"no name", {.hosts = LKS_STR_C("g1")}, "invalid: job: there is none, and it is needed"},
        {"a name of two lines",
         {.job = LKS_STR_C("a\nb"), .hosts = LKS_STR_C("g1")},
         "invalid: job: one line of printable text"},
        {"no nodes",
         {.job = LKS_STR_C("1"), .hosts = LKS_STR_C("")},
         "invalid: nodes: the list names none"},
        {"no list",
         {.job = LKS_STR_C("1"), .hosts = LKS_STR_C("g[1-")},
         "invalid: nodes: character 2: this bracket is never closed"},
        {"another's node",
         {.job = LKS_STR_C("1"), .hosts = LKS_STR_C("g[39-41]")},
         "not-found: no node 'g41' in the fleet; did you mean 'g1'?"},
        {"an asset",
         {.job = LKS_STR_C("1"), .hosts = LKS_STR_C("g1,sw1")},
         "invalid: nodes: sw1 is an asset, no node"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_event e = {.kind = LKS_EVENT_JOB, .by = LKS_STR("slurm"), .job = rows[i].job};
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
    }
    CHECK_INT(a.state.jobs, 2);
}

static void test_overrides(void)
{
    static const struct {
        const char *name;
        const char *job, *hosts, *reason;
        int64_t until; /* ms from now */
        const char *told;
    } rows[] = {
        {"for a night", "4711", "g[1-2]", " the demo ", 24 * HOUR,
         "override job=4711 hosts=g[1-2] reason=the demo by=kim until=87400000\n"},
        {"for longer", "4711", "g1", "x", 24 * HOUR + 1,
         "invalid: until: at most 24 hours from now; what holds for longer is a deviation "
         "('lockstep deviation add')"},
        {"for no time", "4711", "g1", "x", 0, "invalid: until: that time has passed"},
        {"no reason", "4711", "g1", "  ", HOUR, "invalid: reason: there is none, and it is needed"},
        {"no job", "", "g1", "x", HOUR, "invalid: job: there is none, and it is needed"},
        {"no such node", "4711", "g99", "x", HOUR,
         "not-found: no node 'g99' in the fleet; did you mean 'g9'?"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_event e = {.kind = LKS_EVENT_OVERRIDE,
                              .by = LKS_STR("kim"),
                              .override = {.job = lks_str_from(rows[i].job),
                                           .hosts = lks_str_from(rows[i].hosts),
                                           .reason = lks_str_from(rows[i].reason),
                                           .until = a.now.wall + (lks_ms)rows[i].until}};
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
    }
}

/* So many that none has room; one that is over makes some. */
static void test_many_overrides(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    struct lks_event e = {.kind = LKS_EVENT_OVERRIDE,
                          .by = LKS_STR("kim"),
                          .override = {.job = LKS_STR("1"),
                                       .hosts = LKS_STR("g1"),
                                       .reason = LKS_STR("x"),
                                       .until = a.now.wall + HOUR}};
    for (unsigned i = 0; i < LKS_STATE_OVERRIDES_MAX; i++)
        lks_asked(&a, &e);
    CHECK_STR(lks_asked(&a, &e), "limit: there are 10000 overrides that hold, which is the most");
    a.now.wall += HOUR;
    e.override.until = a.now.wall + HOUR;
    CHECK_HAS(lks_asked(&a, &e), "override job=1");
}

static void test_observed(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    const struct lks_rec_observed seen[] = {
        {.pool = LKS_STR("train"), .bar = LKS_BAR_DRIFT, .asked = 7, .refused = 2},
        {.pool = LKS_STR("train"), .bar = LKS_BAR_STALE},
        {.pool = LKS_STR("gone"), .bar = LKS_BAR_STALE, .asked = 1, .refused = 1},
    };
    begin(&a);
    struct lks_event e = {.kind = LKS_EVENT_OBSERVED, .observed = seen, .observed_count = 3};
    CHECK_STR(lks_asked(&a, &e), "observed pool=train bar=drift asked=7 refused=2\n");
    e.observed_count = 0;
    CHECK_STR(lks_asked(&a, &e), "");
}

static void test_lead(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    struct lks_event e = {
        .kind = LKS_EVENT_LEAD,
        .lead = {.epoch = 1, .name = LKS_STR("c1"), .url = LKS_STR("https://c1")}};
    CHECK_STR(lks_asked(&a, &e), "led epoch=1 name=c1 url=https://c1\n");
    CHECK_STR(lks_asked(&a, &e), "refused: epoch 1 is not behind 1, in which c1 leads");
    e.lead.name = LKS_STR("c2");
    e.lead.epoch = 7;
    CHECK_STR(lks_asked(&a, &e), "led epoch=7 name=c2 url=https://c1\n");
    e.lead.epoch = 6;
    CHECK_STR(lks_asked(&a, &e), "refused: epoch 6 is not behind 7, in which c2 leads");
    e.lead.epoch = 8;
    e.lead.name = LKS_STR("");
    CHECK_STR(lks_asked(&a, &e), "invalid: controller's name: there is none, and it is needed");
    e.lead.name = LKS_STR("c3");
    e.lead.url = LKS_STR("https://c3\n");
    CHECK_STR(lks_asked(&a, &e), "invalid: controller's url: one line of printable text");
    CHECK_INT(a.state.epoch, 7);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"job: it starts", test_jobs},
        {"job: overrides", test_overrides},
        {"job: as many overrides as there may be", test_many_overrides},
        {"job: what was observed", test_observed},
        {"lead: epochs count up", test_lead},
        {0},
    });
}
