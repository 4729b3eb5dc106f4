#include "base/rng.h"
#include "core/rows/job.h"
#include "core/state/refusals.h"
#include "tests/asked.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define HOUR (3600 * LKS_SECOND)
#define DAY  (24 * (lks_ms)HOUR)

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

static void test_refusals(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    const struct lks_rec_refusal seen[] = {
        {.pool = LKS_STR("train"),
         .bar = LKS_BAR_IMAGE,
         .user = LKS_STR("lee"),
         .image = LKS_STR("r.io/a:1"),
         .count = 2},
        {.pool = LKS_STR("train"), .bar = LKS_BAR_STALE, .user = LKS_STR("lee")},
        {.pool = LKS_STR("gone"), .bar = LKS_BAR_STALE, .user = LKS_STR("lee"), .count = 1},
        {.pool = LKS_STR("train"), .bar = LKS_BAR_DRIFT, .node = LKS_STR("g1"), .count = 3},
    };
    begin(&a);
    struct lks_event e = {.kind = LKS_EVENT_OBSERVED, .refusals = seen, .refusal_count = 4};
    CHECK_STR(lks_asked(&a, &e), "refusal pool=train bar=image user=lee image=r.io/a:1 count=2\n"
                                 "refusal pool=train bar=drift node=g1 count=3\n");
}

/* "%" in a form is the number. */
static void fill(char out[32], const char *form, unsigned n)
{
    size_t before = strcspn(form, "%");
    memcpy(out, form, before + 1);
    if (form[before] != '\0')
        snprintf(out + before, 32 - before, "%u", n);
}

/* However many users, images and nodes there are: rows of a day are bounded, and no job is lost. */
static void test_many_refusals(void)
{
    static const struct {
        const char *label;
        const char *user, *image, *node; /* "%": another one each time */
        uint32_t rows;
        const char *rest;
    } rows[] = {
        {"users", "u%", "a:1", "", 225, "user=(others) image=(others)"},
        {"users without an image", "u%", "", "", 193, "user=(others) image=(others)"},
        {"images of a user", "lee", "a:%", "", 193, "user=lee image=(others)"},
        {"nodes", "", "", "n%", 193, "node=(others)"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        uint64_t jobs = 0;
        lks_test_case("%s", rows[i].label);
        begin(&a);
        for (unsigned n = 0; n < 1000; n++) {
            char texts[3][32];
            fill(texts[0], rows[i].user, n);
            fill(texts[1], rows[i].image, n);
            fill(texts[2], rows[i].node, n);
            const struct lks_rec_refusal seen = {.pool = LKS_STR("train"),
                                                 .bar = LKS_BAR_DRIFT,
                                                 .user = lks_str_from(texts[0]),
                                                 .image = lks_str_from(texts[1]),
                                                 .node = lks_str_from(texts[2]),
                                                 .count = 1};
            struct lks_event e = {
                .kind = LKS_EVENT_OBSERVED, .refusals = &seen, .refusal_count = 1};
            struct lks_str text = lks_asked(&a, &e);
            if (n == 999)
                CHECK_HAS(text, rows[i].rest);
        }
        for (uint32_t k = 0; k < a.state.refusals.count; k++)
            jobs += a.state.refusals.list[k].count;
        CHECK_INT(a.state.refusals.count, rows[i].rows);
        CHECK_INT(jobs, 1000);
    }
}

/* Lookups of rows are those of a walk over all rows, also after rows were dropped and loaded. */
static void check_lookups(const struct lks_state *s, uint64_t today)
{
    const struct lks_refusals *r = &s->refusals;
    uint32_t nodes = 0, users = 0, wrong = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct lks_refusal *row = &r->list[i];
        const struct lks_rec_refusal of = {.pool = lks_state_text(s, row->pool),
                                           .bar = row->bar,
                                           .user = lks_state_text(s, row->user),
                                           .image = lks_state_text(s, row->image),
                                           .node = lks_state_text(s, row->node)};
        bool counts = row->day == today;
        const struct lks_refusal *found = lks_refusals_find(s, today, &of);
        wrong += counts ? found != row : found != NULL && found->day != today;
        bool of_train = lks_str_is(of.pool, "train");
        nodes += counts && of_train && row->node != 0;
        users += counts && of_train && row->node == 0;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(lks_refusals_rows(s, today, LKS_STR("train"), true), nodes);
    CHECK_INT(lks_refusals_rows(s, today, LKS_STR("train"), false), users);
    CHECK_INT(lks_refusals_rows(s, today + 1, LKS_STR("train"), false), 0);
}

static void test_lookups(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const char *const pools[] = {"train", "serve", "a"};
    struct lks_rng rng = {7};
    begin(&a);
    for (uint32_t i = 0; i < 90000; i++) {
        char text[24];
        struct lks_record r = {.kind = LKS_RECORD_REFUSAL,
                               .refusal = {.pool = lks_str_from(pools[lks_rng_below(&rng, 3)]),
                                           .bar = lks_rng_below(&rng, LKS_BAR_COUNT),
                                           .count = 1}};
        snprintf(text, sizeof(text), "x%u", (unsigned)lks_rng_below(&rng, 20000));
        if (lks_rng_percent(&rng, 30))
            r.refusal.node = lks_str_from(text);
        else
            r.refusal.user = lks_str_from(text);
        if (i % 30000 == 29999)
            a.now.wall += DAY;
        lks_asked_apply(&a, &r);
        if (i % 9000 == 8999)
            check_lookups(&a.state, a.now.wall / DAY);
    }
    CHECK(a.state.refusals.count > LKS_STATE_REFUSALS_MAX / 2);
    struct lks_state again;
    lks_test_reload(&a.state, &again);
    check_lookups(&again, a.now.wall / DAY);
    lks_state_fini(&again);
}

/* The CPU time of a decision about `count` rows, where the day has so many rows already. */
static clock_t decide_beside(uint32_t there)
{
    enum { COUNT = 500 };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static struct lks_rec_refusal seen[COUNT];
    static char texts[COUNT][16];
    char user[16];
    begin(&a);
    for (uint32_t i = 0; i < there; i++) {
        snprintf(user, sizeof(user), "u%u", (unsigned)i);
        lks_asked_apply(
            &a, &(struct lks_record){
                    .kind = LKS_RECORD_REFUSAL,
                    .refusal = {.pool = LKS_STR("serve"), .user = lks_str_from(user), .count = 1}});
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof(texts[i]), "v%u", (unsigned)i);
        seen[i] = (struct lks_rec_refusal){
            .pool = LKS_STR("train"), .user = lks_str_from(texts[i]), .count = 1};
    }
    struct lks_event e = {.kind = LKS_EVENT_OBSERVED, .refusals = seen, .refusal_count = COUNT};
    clock_t begun = clock();
    (void)lks_asked(&a, &e);
    clock_t took = clock() - begun;
    CHECK_INT(a.state.refusals.count, there + 193); /* 192 users, and the others */
    return took;
}

/* A decision and its records take no longer late in the day. */
static void test_late_in_the_day(void)
{
    clock_t few = decide_beside(10), many = decide_beside(39000);
    if (!CHECK(many < 10 * few + CLOCKS_PER_SEC / 20))
        printf("10 rows: %ld, 39000 rows: %ld\n", (long)few, (long)many);
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
        {"job: refusals by user, image and node", test_refusals},
        {"job: more users, images and nodes than there are rows", test_many_refusals},
        {"job: lookups of refusals", test_lookups},
        {"job: refusals late in the day", test_late_in_the_day},
        {"lead: epochs count up", test_lead},
        {0},
    });
}
