#include "core/plan/drain.h"

#include "model/manifest/fleet.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define MINUTE (60 * LKS_SECOND)

static const struct {
    const char *posture;
    enum lks_drain_way way;
    lks_ms limit;
    uint32_t retries;
    enum lks_drain_then then;
} rules[] = {
    {"pre-training", LKS_DRAIN_JOB, 1440 * MINUTE, 1, LKS_DRAIN_HOLD},
    {"post-training", LKS_DRAIN_JOB, 720 * MINUTE, 1, LKS_DRAIN_HOLD},
    {"online-inference", LKS_DRAIN_ROTATION, 30 * MINUTE, 3, LKS_DRAIN_HOLD},
    {"batch", LKS_DRAIN_CHANCE, 240 * MINUTE, 5, LKS_DRAIN_SKIP},
    {"dev", LKS_DRAIN_EACH, 480 * MINUTE, 2, LKS_DRAIN_SKIP},
    {"one that nobody knows", LKS_DRAIN_JOB, 1440 * MINUTE, 0, LKS_DRAIN_HOLD},
    {"", LKS_DRAIN_JOB, 1440 * MINUTE, 0, LKS_DRAIN_HOLD},
};

static void test_rules(void)
{
    const struct lks_facts *facts = lks_test_facts();
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        lks_test_case("%s", rules[i].posture);
        struct lks_drain_rule rule = lks_drain_rule(facts, lks_str_from(rules[i].posture));
        CHECK_INT(rule.way, rules[i].way);
        CHECK_INT(rule.limit, rules[i].limit);
        CHECK_INT(rule.retries, rules[i].retries);
        CHECK_INT(rule.then, rules[i].then);
        CHECK_INT(rule.jobs, LKS_DRAIN_JOBS_WAIT); /* no built-in posture touches a job */
        CHECK_STR(rule.signal, "");
        CHECK_INT(rule.grace, 0);
    }
    CHECK_INT(facts->postures.count, LKS_COUNT(rules) - 2); /* each of them is in the table above */
}

/* Numbers that make no sense wait a little, or very long; they never wait for nothing. */
static void test_numbers(void)
{
    static const struct {
        int64_t minutes, tries;
        lks_ms limit;
        uint32_t retries;
    } rows[] = {
        {0, 0, MINUTE, 0},
        {-5, -1, MINUTE, 0},
        {7, 3, 7 * MINUTE, 2},
        {INT64_MAX, INT64_MAX, LKS_TIME_MAX / MINUTE * MINUTE, 999},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_posture posture = {
            .name = LKS_STR("x"), .leave_minutes = rows[i].minutes, .leave_tries = rows[i].tries};
        struct lks_facts facts = {.postures = {.rows = &posture, .count = 1}};
        lks_test_case("row %zu", i);
        struct lks_drain_rule rule = lks_drain_rule(&facts, LKS_STR("x"));
        CHECK_INT(rule.limit, rows[i].limit);
        CHECK_INT(rule.retries, rows[i].retries);
    }
}

/* A site's own posture. */
static void test_jobs(void)
{
    static const struct {
        enum lks_drain_jobs jobs;
        const char *signal;
        int64_t minutes;
        const char *gets;
        lks_ms grace;
    } rows[] = {
        {LKS_DRAIN_JOBS_REQUEUE, "", 0, "USR1", 10 * MINUTE},
        {LKS_DRAIN_JOBS_REQUEUE, "TERM", 1, "TERM", MINUTE},
        {LKS_DRAIN_JOBS_REQUEUE, "HUP", INT64_MAX, "HUP", 1440 * MINUTE},
        {LKS_DRAIN_JOBS_WAIT, "TERM", 30, "", 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_posture posture = {.name = LKS_STR("x"),
                                      .leave_jobs = rows[i].jobs,
                                      .leave_signal = lks_str_from(rows[i].signal),
                                      .leave_grace_minutes = rows[i].minutes};
        struct lks_facts facts = {.postures = {.rows = &posture, .count = 1}};
        lks_test_case("row %zu", i);
        struct lks_drain_rule rule = lks_drain_rule(&facts, LKS_STR("x"));
        CHECK_INT(rule.jobs, rows[i].jobs);
        CHECK_STR(rule.signal, rows[i].gets);
        CHECK_INT(rule.grace, rows[i].grace);
    }
}

/* What a fleet's file may say, and whether its nodes can be changed. */
static const struct {
    const char *sched;
    bool in_file;
    enum lks_drain_sched leave;
} scheds[] = {
    {"none", true, LKS_DRAIN_AGENT},        {"slurm", true, LKS_DRAIN_DRIVEN},
    {"kubernetes", true, LKS_DRAIN_DRIVEN}, {"simulated", false, LKS_DRAIN_DRIVEN},
    {"Slurm", false, LKS_DRAIN_NOT_YET},    {"lsf", false, LKS_DRAIN_NOT_YET},
};

/* Pools with several: which of them are asked, what they offer, and which cannot be asked. */
static const struct {
    const char *sched;
    enum lks_drain_sched leave;
    const char *asked;    /* in their order */
    const char *reserves; /* the first that does */
    const char *mute;
} several[] = {
    {"", LKS_DRAIN_AGENT, "", "", ""},
    {"none", LKS_DRAIN_AGENT, "", "none", ""},
    {"slurm", LKS_DRAIN_DRIVEN, "slurm ", "slurm", ""},
    {"kubernetes", LKS_DRAIN_DRIVEN, "kubernetes ", "kubernetes", ""},
    {"slurm+kubernetes", LKS_DRAIN_DRIVEN, "slurm kubernetes ", "slurm", ""},
    {"kubernetes+slurm", LKS_DRAIN_DRIVEN, "kubernetes slurm ", "slurm", ""},
    {"slurm+simulated", LKS_DRAIN_DRIVEN, "slurm simulated ", "slurm", ""},
    {"slurm+lsf", LKS_DRAIN_NOT_YET, "slurm ", "slurm", "lsf"},
};

static void test_several(void)
{
    for (size_t i = 0; i < LKS_COUNT(several); i++) {
        struct lks_str sched = lks_str_from(several[i].sched), rest = sched;
        const struct lks_drain_named *row;
        char asked[64] = "";
        lks_test_case("'%s'", several[i].sched);
        CHECK_INT(lks_drain_sched(sched), several[i].leave);
        while ((row = lks_drain_sched_next(&rest, 0)) != NULL) {
            size_t used = strlen(asked);
            snprintf(asked + used, sizeof(asked) - used, "%s ", row->name);
            CHECK(lks_drain_sched_has(sched, lks_str_from(row->name)));
        }
        CHECK_STR(lks_str_from(asked), several[i].asked);
        CHECK_STR(lks_drain_sched_first(sched, LKS_DRAIN_RESERVES), several[i].reserves);
        CHECK_STR(lks_drain_sched_mute(sched), several[i].mute);
        CHECK(!lks_drain_sched_has(sched, LKS_STR("lsf")));
        CHECK(!lks_drain_sched_has(sched, LKS_STR("slurm+simulated")));
    }
}

static void test_scheds(void)
{
    for (size_t i = 0; i < LKS_COUNT(scheds); i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
        struct lks_err err = {0};
        char text[256];
        lks_test_case("%s", scheds[i].sched);
        snprintf(text, sizeof(text),
                 "lockstep: 1\nkind: Fleet\nname: f\npools: {p: {posture: dev, sched: %s}}\n"
                 "nodes: [{hosts: g1, pool: p, class: hgx-h100-8}]\n",
                 scheds[i].sched);
        enum lks_code code = lks_manifest_parse("fleet.yaml", lks_str_from(text), lks_test_facts(),
                                                NULL, &manifest, &err);
        CHECK_CODE(code, scheds[i].in_file ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(lks_drain_sched(lks_str_from(scheds[i].sched)), scheds[i].leave);
    }
    CHECK_INT(lks_drain_sched(LKS_STR("")), LKS_DRAIN_AGENT);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"how each posture leaves", test_rules},
        {"numbers of the table", test_numbers},
        {"jobs", test_jobs},
        {"schedulers", test_scheds},
        {"several schedulers", test_several},
        {NULL, NULL},
    });
}
