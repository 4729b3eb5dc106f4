/* Drains of nodes that admission refuses: when they begin and end, and whose nodes they leave
 * alone. */
#include "core/decision/event.h"
#include "core/rules/decide.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "tests/fleet.h"
#include "tests/jobs.h"
#include "tests/test.h"

#include <stdio.h>

#define STACK    "publish gold\nverdict b gold driver=1\n"
#define POOL     "pool train pre-training on gold "
#define NODES    "nodes n[1-3] train\nrun n[1-3] b\n"
#define DRAINS   STACK POOL "drains\n" NODES
#define OBSERVES STACK "pool train pre-training observe gold drains\n" NODES

enum { SHOWN_MAX = 64 << 10 };

/* Drains that begin and end in the next look, which a tick has. */
static struct lks_str look(struct lks_jobs *j, struct lks_buf *shown)
{
    struct lks_str told, line;
    lks_buf_truncate(shown, 0);
    lks_fleet_wait(&j->asked, j->asked.state.limits.heartbeat);
    CHECK(lks_decide_next(&j->asked.state) <= j->asked.now.mono);
    told = lks_fleet_tick(&j->asked);
    while (told.len > 0) {
        (void)lks_str_cut(told, '\n', &line, &told);
        if (lks_str_starts(line, "drained ") || lks_str_starts(line, "undrained ") ||
            lks_str_starts(line, "mass "))
            lks_buf_addf(shown, "%.*s\n", LKS_STR_ARG(line));
    }
    return shown->ptr == NULL ? LKS_STR("") : lks_buf_view(shown);
}

#define DRAINED(node, why) "drained node=" node " owner=refused reason=" why "\n"
#define ENDED(node)        "undrained node=" node " owner=refused reason=admission takes it again\n"

static const struct {
    const char *name, *before, *begins, *after, *ends;
} rows[] = {
    {"nothing is wrong", DRAINS, "", "", ""},
    {"an unhealthy node", DRAINS "unhealthy n2\n", DRAINED("n2", "it is not healthy"),
     "healthy n2\n", ENDED("n2")},
    {"a late one", DRAINS "late n2\n", "", "", ""},
    {"one that is late and unhealthy", DRAINS "late n2\nunhealthy n2\n",
     DRAINED("n2", "it is not healthy"), "", ""},
    {"one that is late while it is drained", DRAINS "reboot n1\n",
     DRAINED("n1", "what it runs in this boot was not reported yet"), "late n1\n", ""},
    {"a lost one, which is heard of again", DRAINS "lost n2\n", DRAINED("n2", "it is lost"),
     "live n2\n", ENDED("n2")},
    {"one in intake", DRAINS "intake n3\n", DRAINED("n3", "it is in intake"), "", ""},
    {"one that rebooted", DRAINS "reboot n1\n",
     DRAINED("n1", "what it runs in this boot was not reported yet"), "", ""},
    {"drift, where only admission drains", DRAINS "verdict c gold driver=2!1\nrun n1 c\n",
     DRAINED("n1", "it does not run the stack of its pool"), "run n1 b\n", ENDED("n1")},
    {"an attestation that ended",
     STACK POOL "drains attested\n" NODES "attested n1 9000000\nattested n2 9000000\n",
     DRAINED("n3", "it is not attested, and its pool asks for that"), "attested n3 9000000\n",
     ENDED("n3")},
    {"a check that is too old",
     STACK POOL "drains check=9000000\n" NODES "checked n2 1\nchecked n3 1\n",
     DRAINED("n1", "its last active check is too old"), "checked n1 1\n", ENDED("n1")},
    {"a pool that does not ask for it", STACK POOL "\n" NODES "unhealthy n2\n", NULL, "", NULL},
    {"a pool that observes", OBSERVES "unhealthy n2\n", "", "", ""},
    {"a pool that stops asking", DRAINS "unhealthy n2\n", DRAINED("n2", "it is not healthy"),
     POOL "\n",
     "undrained node=n2 owner=refused reason=its pool does not drain nodes that "
     "admission refuses\n"},
    {"a held node is the person's", DRAINS "hold n2\nunhealthy n2\n", "", "", ""},
    {"a drain of another owner stays", DRAINS "drain n2\nunhealthy n2\n", "", "", ""},
    {"a node that a change has", DRAINS "changing n2 gold\n", "", "", ""},
};

/* Its nodes are heard of all the time. */
static void make(struct lks_jobs *j, const char *lines)
{
    lks_jobs_init(j, NULL);
    j->asked.state.limits.late = j->asked.state.limits.lost = LKS_TIME_MAX / 4;
    lks_jobs_tell(j, lines);
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
        lks_test_case("%s", rows[i].name);
        make(&j, rows[i].before);
        if (rows[i].begins == NULL) { /* no look is due, as no pool asks for one */
            (void)lks_fleet_tick(&j.asked);
            lks_fleet_wait(&j.asked, j.asked.state.limits.heartbeat);
            CHECK(lks_str_find(lks_fleet_tick(&j.asked), LKS_STR("drained")) < 0);
            continue;
        }
        struct lks_str told = look(&j, &shown);
        CHECK_STR(told, rows[i].begins);
        lks_jobs_tell(&j, rows[i].after);
        CHECK_STR(look(&j, &shown), rows[i].ends);
    }
}

/* Where so many are refused at once, a person decides; then all of them are drained, and that is no
 * second MASS. */
static void test_mass(void)
{
    static const char *const first = STACK POOL "drains\nnodes n[1-30] train\nrun n[1-30] b\n";
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
    make(&j, first);
    for (unsigned n = 1; n <= 12; n++) {
        char line[32];
        snprintf(line, sizeof(line), "unhealthy n%u\n", n);
        lks_jobs_tell(&j, line);
    }
    struct lks_str told = look(&j, &shown);
    CHECK_HAS(told, "mass pool=train what=refused count=11 of=30 alarm=1\n");
    CHECK(lks_str_find(told, LKS_STR("drained node=n12 ")) < 0);
    lks_test_case("while it waits");
    CHECK(lks_str_find(look(&j, &shown), LKS_STR("drained node=n12 ")) < 0);
    lks_test_case("released");
    const struct lks_event release = {
        .kind = LKS_EVENT_ALARM_RELEASE, .by = LKS_STR("kim"), .alarm = 1, .reason = LKS_STR("ok")};
    CHECK_HAS(lks_asked(&j.asked, &release), "drained node=n12 owner=refused");
    lks_jobs_tell(&j, "unhealthy n13\n");
    CHECK_STR(look(&j, &shown), DRAINED("n13", "it is not healthy"));
}

/* Drains that trickle in count together: each look has few of them. */
static void test_trickle(void)
{
    static const char *const first = STACK POOL "drains\nnodes n[1-30] train\nrun n[1-30] b\n";
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
    make(&j, first);
    for (unsigned n = 1; n <= 11; n++) {
        char line[32];
        lks_test_case("n%u", n);
        snprintf(line, sizeof(line), "unhealthy n%u\n", n);
        lks_jobs_tell(&j, line);
        CHECK_HAS(look(&j, &shown), n <= 10 ? "drained node=n" : "mass pool=train what=refused");
    }
}

/* Drift drains by the pool's own policy, and what admission refuses drains beside it. */
static void test_drift(void)
{
    LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(SHOWN_MAX);
    make(&j, STACK POOL "drains on_drift=drain\n" NODES "verdict c gold driver=2!1\nrun n1 c\n");
    struct lks_str told = look(&j, &shown);
    CHECK_HAS(told, "drained node=n1 owner=lockstep:drift");
    CHECK(lks_str_find(told, LKS_STR("refused")) < 0);
    lks_test_case("frozen");
    lks_jobs_tell(&j, "unhealthy n2\n");
    struct lks_event freeze = {.kind = LKS_EVENT_FREEZE,
                               .by = LKS_STR("kim"),
                               .reason = LKS_STR("a launch"),
                               .freeze = {.on = true}};
    (void)lks_asked(&j.asked, &freeze);
    CHECK_STR(look(&j, &shown), "");
    lks_test_case("thawed");
    freeze.freeze.on = false;
    (void)lks_asked(&j.asked, &freeze);
    CHECK_STR(look(&j, &shown), DRAINED("n2", "it is not healthy"));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide refused: rows", test_rows},
        {"decide refused: MASS", test_mass},
        {"decide refused: drains that trickle in", test_trickle},
        {"decide refused: beside drift, and freezes", test_drift},
        {NULL, NULL},
    });
}
