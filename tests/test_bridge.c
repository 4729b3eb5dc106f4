/* The parts of lockstep-slurm-bridge that need no Slurm. */
#include "bridge/serve/durable.h"
#include "bridge/view/book.h"
#include "bridge/view/ending.h"
#include "bridge/view/request.h"
#include "bridge/view/since.h"
#include "codec/notation/drain_reason.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOW    UINT64_C(1795000000000)
#define NOW_US (NOW * 1000)

/* Reasons ----------------------------------------------------------------------------------- */

static void test_owner(void)
{
    static const struct {
        const char *name, *reason;
        bool own;
        const char *owner, *why, *before;
    } rows[] = {
        {"ours", "lockstep:change:17 driver 580", true, "lockstep:change:17", "driver 580", ""},
        {"ours without a reason", "lockstep:change:17", true, "lockstep:change:17", "", ""},
        {"ours by another user", "lockstep:change:17 driver", false, "kim",
         "lockstep:change:17 driver", ""},
        {"a person's", "bad fan", true, "kim", "bad fan", ""},
        {"slurmctld's", "Not responding", true, "kim", "Not responding", ""},
        {"the mark alone", "lockstep: x", true, "kim", "lockstep: x", ""},
        {"not at the start", "see lockstep:change:17", true, "kim", "see lockstep:change:17", ""},
        {"another mark", "lockstepx:change:17 y", true, "kim", "lockstepx:change:17 y", ""},
        {"empty", "", true, "kim", "", ""},
        {"of a node that was down", "lockstep:change:1 x (before: bad DIMM)", true,
         "lockstep:change:1", "x (before: bad DIMM)", "bad DIMM"},
        {"of a node that was down for a reason that speaks of a time before",
         "lockstep:change:1 x (before: bad DIMM (before: lockstep))", true, "lockstep:change:1",
         "x (before: bad DIMM (before: lockstep))", "bad DIMM (before: lockstep)"},
        {"the same by another user", "lockstep:change:1 x (before: bad DIMM)", false, "kim",
         "lockstep:change:1 x (before: bad DIMM)", ""},
        {"cut", "lockstep:change:1 x (before: bad DI", true, "lockstep:change:1",
         "x (before: bad DI", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_str reason = lks_str_from(rows[i].reason);
        lks_test_case("%s", rows[i].name);
        CHECK_STR(lks_drain_reason_owner(reason, rows[i].own, LKS_STR("kim")), rows[i].owner);
        CHECK_STR(lks_drain_reason_why(reason, rows[i].own), rows[i].why);
        CHECK_STR(lks_drain_reason_before(reason, rows[i].own), rows[i].before);
    }
}

static void test_reason(void)
{
    static char long_text[400], uml[400];
    memset(long_text, 'x', sizeof(long_text) - 1);
    for (size_t i = 0; i + 2 < sizeof(uml); i += 2) {
        uml[i] = '\xc3';
        uml[i + 1] = '\xbc';
    }
    const struct {
        const char *name, *reason, *before, *want;
        size_t len;
    } rows[] = {
        {"plain", "driver", "", "lockstep:change:17 driver", 0},
        {"none", "", "", "lockstep:change:17", 0},
        {"control characters", "a\nb\x1b", "", "lockstep:change:17 a?b?", 0},
        {"down before", "driver", "bad DIMM", "lockstep:change:17 driver (before: bad DIMM)", 0},
        {"down, for a reason with one before", "driver", "bad DIMM (before: x)",
         "lockstep:change:17 driver (before: bad DIMM (before: x))", 0},
        {"our own words speak of a time before", "x (before: y)", "bad DIMM",
         "lockstep:change:17 x (before, y) (before: bad DIMM)", 0},
        {"or would with what follows", "x (before:", "bad DIMM",
         "lockstep:change:17 x (before, (before: bad DIMM)", 0},
        {"too long", long_text, "", NULL, LKS_DRAIN_REASON_MAX},
        {"too long, and characters of two bytes", uml, "", NULL, LKS_DRAIN_REASON_MAX},
        {"both too long", long_text, long_text, NULL, LKS_DRAIN_REASON_MAX},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char out[LKS_DRAIN_REASON_MAX + 1];
        lks_test_case("%s", rows[i].name);
        lks_drain_reason_write(LKS_STR("lockstep:change:17"), lks_str_from(rows[i].reason),
                               lks_str_from(rows[i].before), out);
        struct lks_str made = lks_str_from(out);
        CHECK(lks_str_printable(made));
        CHECK_STR(lks_drain_reason_owner(made, true, LKS_STR("kim")), "lockstep:change:17");
        if (rows[i].want != NULL)
            CHECK_STR(made, rows[i].want);
        else
            CHECK(made.len == rows[i].len || made.len + 1 == rows[i].len);
        if (strlen(rows[i].before) < 80) /* as much is kept */
            CHECK_STR(lks_drain_reason_before(made, true), rows[i].before);
        CHECK((rows[i].before[0] != '\0') == (lks_drain_reason_before(made, true).len > 0));
    }
}

/* What stands behind an owner has the journal's row, also where all of it is long. */
static void test_words(void)
{
    static char long_text[400];
    memset(long_text, 'x', sizeof(long_text) - 1);
    const struct {
        const char *name, *by, *words;
        uint64_t row;
        const char *want; /* NULL: only the end is looked at */
    } rows[] = {
        {"a hold", "user:kim", "bad fan", 812, "user:kim: bad fan, journal row 812"},
        {"a change", "", "december bundle", 9123, "december bundle, journal row 9123"},
        {"of a journal that begins later", "user:kim", "bad fan", 0, "user:kim: bad fan"},
        {"without words", "user:kim", "", 812, "user:kim, journal row 812"},
        {"only a row", "", "", 812, "journal row 812"},
        {"nothing", "", "", 0, ""},
        {"lines", "kim", "a\nb", 1, "kim: a?b, journal row 1"},
        {"long", long_text, long_text, 18446744073709551615U, NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char words[LKS_DRAIN_REASON_MAX + 1], out[LKS_DRAIN_REASON_MAX + 1];
        lks_test_case("%s", rows[i].name);
        lks_drain_reason_words(lks_str_from(rows[i].by), lks_str_from(rows[i].words), rows[i].row,
                               words);
        if (rows[i].want != NULL)
            CHECK_STR(lks_str_from(words), rows[i].want);
        lks_drain_reason_write(LKS_STR("lockstep:hold:812"), lks_str_from(words),
                               lks_str_from(long_text), out);
        CHECK(rows[i].row == 0 || strstr(out, "journal row ") != NULL);
        CHECK(rows[i].want != NULL || strstr(out, "journal row 18446744073709551615 (") != NULL);
    }
}

/* Revisions --------------------------------------------------------------------------------- */

static void test_revisions(void)
{
    struct lks_bridge_revision r;
    uint64_t ceiling = 0, first, second;
    lks_bridge_revision_init(&r, 0);
    CHECK(!lks_bridge_revision_ready(&r, NOW_US, 1, &ceiling));
    CHECK(ceiling >= NOW_US + LKS_BRIDGE_REVISION_AHEAD);
    lks_bridge_revision_allow(&r, ceiling);
    CHECK(lks_bridge_revision_ready(&r, NOW_US, 1000, &ceiling));
    first = lks_bridge_revision_next(&r, NOW_US);
    second = lks_bridge_revision_next(&r, NOW_US);
    CHECK_INT(first, NOW_US);
    CHECK_INT(second, NOW_US + 1);
    lks_test_case("the clock is set back");
    CHECK(lks_bridge_revision_next(&r, NOW_US / 2) > second);
    lks_test_case("a restart with a clock that is behind");
    ceiling = r.ceiling;
    lks_bridge_revision_init(&r, ceiling);
    uint64_t more = 0;
    CHECK(!lks_bridge_revision_ready(&r, NOW_US / 2, 1, &more) && more > ceiling);
    lks_bridge_revision_allow(&r, more);
    CHECK(lks_bridge_revision_next(&r, NOW_US / 2) > ceiling);
}

/* The time given to slurmctld --------------------------------------------------------------- */

/* One conversation with slurmctld, in seconds: what was answered last, and what is given next. */
static const struct {
    const char *name;
    enum { DATA, PART, SILENCE, ASK } step;
    enum lks_bridge_since_what what;
    lks_ms at;
    int64_t clock; /* of the answer; of ASK: what is given */
    bool back;     /* the answer shows that slurmctld's clock was set back */
} since_steps[] = {
    {"nothing was read yet", ASK, LKS_BRIDGE_SINCE_NODES, 100, 0, false},
    {"nodes", DATA, LKS_BRIDGE_SINCE_NODES, 100, 5000, false},
    {"jobs", DATA, LKS_BRIDGE_SINCE_JOBS, 100, 5000, false},
    {"nodes are unchanged since then", ASK, LKS_BRIDGE_SINCE_NODES, 109, 5000, false},
    {"everything of a kind that was not read", ASK, LKS_BRIDGE_SINCE_RESERVATIONS, 109, 0, false},
    {"unchanged is not believed for long", ASK, LKS_BRIDGE_SINCE_NODES, 110, 0, false},
    {"not for jobs either", ASK, LKS_BRIDGE_SINCE_JOBS, 110, 0, false},
    {"nodes again", DATA, LKS_BRIDGE_SINCE_NODES, 110, 5010, false},
    {"and again in the same second", DATA, LKS_BRIDGE_SINCE_NODES, 110, 5010, false},
    {"they are believed again", ASK, LKS_BRIDGE_SINCE_NODES, 111, 5010, false},
    {"one node is no reason to ask for less", PART, LKS_BRIDGE_SINCE_NODES, 112, 5012, false},
    {"changes before that node are wanted", ASK, LKS_BRIDGE_SINCE_NODES, 112, 5010, false},
    {"jobs again", DATA, LKS_BRIDGE_SINCE_JOBS, 112, 5012, false},
    {"the clock went back, as one node shows", PART, LKS_BRIDGE_SINCE_NODES, 113, 4400, true},
    {"all nodes are wanted", ASK, LKS_BRIDGE_SINCE_NODES, 113, 0, false},
    {"and all jobs", ASK, LKS_BRIDGE_SINCE_JOBS, 113, 0, false},
    {"nodes by the new clock", DATA, LKS_BRIDGE_SINCE_NODES, 113, 4401, false},
    {"they are believed", ASK, LKS_BRIDGE_SINCE_NODES, 114, 4401, false},
    {"jobs show the clock that went back, too", DATA, LKS_BRIDGE_SINCE_JOBS, 114, 4402, true},
    {"nodes are wanted once more", ASK, LKS_BRIDGE_SINCE_NODES, 114, 0, false},
    {"the jobs are those of the new clock", ASK, LKS_BRIDGE_SINCE_JOBS, 114, 4402, false},
    {"slurmctld does not answer", SILENCE, 0, 115, 0, false},
    {"everything is wanted of the next one", ASK, LKS_BRIDGE_SINCE_JOBS, 115, 0, false},
    {"whose clock is behind", DATA, LKS_BRIDGE_SINCE_JOBS, 116, 3000, true},
};

static void test_since(void)
{
    struct lks_bridge_since s = {0};
    for (size_t i = 0; i < LKS_COUNT(since_steps); i++) {
        enum lks_bridge_since_what what = since_steps[i].what;
        lks_ms now = since_steps[i].at * LKS_SECOND;
        lks_test_case("%s", since_steps[i].name);
        if (since_steps[i].step == SILENCE)
            lks_bridge_since_lost(&s);
        else if (since_steps[i].step == ASK)
            CHECK_INT(lks_bridge_since_ask(&s, what, now), since_steps[i].clock);
        else
            CHECK_INT(lks_bridge_since_got(&s, what, since_steps[i].step == DATA,
                                           since_steps[i].clock, now),
                      !since_steps[i].back);
    }
}

/* The book ---------------------------------------------------------------------------------- */

static const struct lks_bridge_job job = {.id = LKS_STR_C("17_3"),
                                          .name = LKS_STR_C("train \"x\""),
                                          .user = LKS_STR_C("kim"),
                                          .account = LKS_STR_C("ml"),
                                          .partition = LKS_STR_C("main"),
                                          .state = LKS_STR_C("running"),
                                          .nodes = LKS_STR_C("g[1-2]"),
                                          .node_count = 2,
                                          .started = NOW,
                                          .runs = true,
                                          .gpus = 8};

static const struct lks_bridge_node idle = {.name = LKS_STR_C("g1"),
                                            .state = LKS_STR_C("idle"),
                                            .user = LKS_STR_C("root"),
                                            .responding = true,
                                            .accepts = true,
                                            .features = LKS_STR_C("a,b"),
                                            .active = LKS_STR_C("b"),
                                            .gres = LKS_STR_C("gpu:h200:8"),
                                            .gres_used = LKS_STR_C("gpu:h200:8(IDX:0-7)")};

static const struct lks_bridge_reservation reserved = {.name = LKS_STR_C("lockstep_change_17"),
                                                       .nodes = LKS_STR_C("g[1-2]"),
                                                       .users = LKS_STR_C("slurm"),
                                                       .from = NOW,
                                                       .until = NOW + 60000,
                                                       .maint = true,
                                                       .own = true};

/* Enter one node, with a job and a reservation or none; all nodes with `all`. */
static void enter(struct lks_bridge_book *b, const struct lks_bridge_node *node, bool busy,
                  bool all)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    const struct lks_bridge_job *jobs[] = {&job};
    const struct lks_bridge_load load = {.jobs = jobs, .job_count = busy};
    const struct lks_bridge_when when = {NOW, 5000};
    struct lks_err err = {0};
    uint64_t ceiling = 0;
    lks_bridge_reading_init(&r);
    r.all_nodes = all;
    if (node != NULL)
        CHECK_CODE(lks_bridge_reading_add(&r, node, &load, &err), LKS_OK);
    CHECK_CODE(lks_bridge_reading_jobs(&r, &job, busy, &reserved, busy, &err), LKS_OK);
    if (!lks_bridge_revision_ready(&b->revision, NOW_US, lks_bridge_book_changes(b, &r), &ceiling))
        lks_bridge_revision_allow(&b->revision, ceiling);
    CHECK_CODE(lks_bridge_book_enter(b, &r, &when, NOW_US, &err), LKS_OK);
}

static uint64_t revision_of(const struct lks_bridge_book *b)
{
    const struct lks_bridge_entry *e = lks_bridge_book_find(b, LKS_STR("g1"));
    return e != NULL ? e->revision : 0;
}

static void test_book_revisions(void)
{
    LKS_CLEANUP(lks_bridge_book_fini) struct lks_bridge_book b = {0};
    struct lks_bridge_node node = idle;
    uint64_t last = 0;
    lks_bridge_book_init(&b, 0);
    CHECK(lks_bridge_book_find(&b, LKS_STR("g1")) == NULL);
    static const struct {
        const char *name;
        bool drained, busy, all, gone;
        bool rises;
    } rows[] = {
        {"new", false, false, true, false, true},
        {"the same", false, false, true, false, false},
        {"the same, alone", false, false, false, false, false},
        {"a job starts", false, true, true, false, true},
        {"drained", true, true, false, false, true},
        {"the job ends", true, false, true, false, true},
        {"removed", false, false, true, true, false},
        {"back as it was", true, false, true, false, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        node.drained = rows[i].drained;
        node.accepts = !rows[i].drained;
        node.own = true;
        node.reason = rows[i].drained ? LKS_STR("lockstep:change:17 x") : LKS_STR("");
        enter(&b, rows[i].gone ? NULL : &node, rows[i].busy, rows[i].all);
        uint64_t now = revision_of(&b);
        CHECK((now == 0) == rows[i].gone);
        if (now > 0) {
            CHECK(rows[i].rises ? now > last : now == last);
            last = now;
        }
    }
    lks_bridge_book_remove(&b, LKS_STR("g1"));
    CHECK(revision_of(&b) == 0);
}

static void test_book_json(void)
{
    LKS_CLEANUP(lks_bridge_book_fini) struct lks_bridge_book b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
    struct lks_bridge_node node = idle;
    node.drained = node.own = true;
    node.accepts = false;
    node.since = NOW - 1;
    node.state = LKS_STR("mixed+drain");
    node.reason = LKS_STR("lockstep:change:17 driver");
    lks_bridge_book_init(&b, 0);
    enter(&b, &node, true, true);
    lks_bridge_book_nodes(&b, 5700, &out);
    CHECK_STR(
        lks_buf_view(&out),
        "{\"as_of\":1795000000000,\"age\":700,\"configured\":0,\"nodes\":[{\"node\":\"g1\","
        "\"revision\":"
        "1795000000000000,\"as_of\":1795000000000,\"age\":700,\"configured\":0,\"accepts\":"
        "false,\"drain\":{"
        "\"owner\":\"lockstep:change:17\",\"reason\":\"driver\",\"since\":1794999999999},"
        "\"jobs\":[{\"id\":\"17_3\",\"kind\":\"batch\",\"name\":\"train \\\"x\\\"\",\"user\":"
        "\"kim\",\"account\":\"ml\",\"nodes\":2,\"started\":1795000000000,\"ends\":null,"
        "\"requeue\":false,\"gpus\":8}],\"rotation\":false,\"requests\":0,\"state\":"
        "\"mixed+drain\",\"down\":false,\"responding\":true,\"reason\":"
        "\"lockstep:change:17 driver\",\"features\":[\"a\",\"b\"],\"active_features\":[\"b\"]"
        ",\"truth\":{\"features\":[],\"slots\":true,\"shown\":true,\"digest\":\"\"}"
        ",\"gres\":\"gpu:h200:8\",\"gres_used\":\"gpu:h200:8(IDX:0-7)\",\"reservation\":null}]}");
    lks_buf_truncate(&out, 0);
    lks_bridge_book_jobs(&b, 5000, &out);
    CHECK_STR(
        lks_buf_view(&out),
        "{\"as_of\":1795000000000,\"age\":0,\"configured\":0,\"jobs\":[{\"id\":\"17_3\",\"name\":"
        "\"train \\\"x\\\"\",\"user\":\"kim\",\"account\":\"ml\",\"partition\":\"main\","
        "\"state\":\"running\",\"nodes\":\"g[1-2]\",\"started\":1795000000000,\"ends\":null,"
        "\"requeue\":false,\"gpus\":8}]}");
    const struct lks_bridge_entry *e = lks_bridge_book_find(&b, LKS_STR("g1"));
    CHECK(e->drained && e->own && !e->down);
    CHECK_STR(e->owner, "lockstep:change:17");
    CHECK_STR(e->reason, "lockstep:change:17 driver");
}

static void test_book_reservations(void)
{
    LKS_CLEANUP(lks_bridge_book_fini) struct lks_bridge_book b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
    lks_bridge_book_init(&b, 0);
    enter(&b, &idle, true, true);
    lks_bridge_book_reservations(&b, 5000, &out);
    CHECK_STR(lks_buf_view(&out),
              "{\"as_of\":1795000000000,\"age\":0,\"configured\":0,\"reservations\":[{\"name\":"
              "\"lockstep_change_17\",\"nodes\":\"g[1-2]\",\"users\":\"slurm\",\"from\":"
              "1795000000000,\"until\":1795000060000,\"maint\":true,\"own\":true}]}");
}

/* FAIL is shown as the drain of the user who set it, for what is done about it is the same. */
static void test_failing_json(void)
{
    static const struct {
        const char *name, *reason;
        bool drained, failing, own;
        const char *drain;
    } rows[] = {
        {"in service", "", false, false, false, "\"drain\":null"},
        {"FAIL", "bad cable", false, true, false,
         "\"drain\":{\"owner\":\"root\",\"reason\":\"bad cable\","},
        {"FAIL, with the reason of lockstep's drain", "lockstep:change:17 x", false, true, true,
         "\"drain\":{\"owner\":\"root\",\"reason\":\"lockstep:change:17 x\","},
        {"lockstep's drain", "lockstep:change:17 x", true, false, true,
         "\"drain\":{\"owner\":\"lockstep:change:17\",\"reason\":\"x\","},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
        const struct lks_bridge_load load = {0};
        struct lks_bridge_node node = idle;
        node.drained = rows[i].drained;
        node.failing = rows[i].failing;
        node.own = rows[i].own;
        node.reason = lks_str_from(rows[i].reason);
        lks_test_case("%s", rows[i].name);
        lks_bridge_node_json(&node, &load, &out);
        CHECK_HAS(lks_buf_view(&out), rows[i].drain);
    }
}

/* A book that had no memory once takes the next reading. */
static void test_book_memory(void)
{
    LKS_CLEANUP(lks_bridge_book_fini) struct lks_bridge_book b = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
    lks_bridge_book_init(&b, 0);
    b.jobs.failed = LKS_E_NOMEM;
    enter(&b, &idle, true, true);
    lks_bridge_book_jobs(&b, 5000, &out);
    CHECK_HAS(lks_buf_view(&out), "\"id\":\"17_3\"");
}

/* How a drain of lockstep's ends. */
static void test_endings(void)
{
    static const struct {
        const char *name, *reason;
        bool down, silent, failing;
        bool resume;
        const char *gets;
    } rows[] = {
        {"an idle node", "lockstep:change:17 x", false, false, false, false, ""},
        {"one that does not respond yet", "lockstep:change:17 x", false, true, false, false, ""},
        {"it went down under the drain, and responds", "lockstep:change:17 x", true, false, false,
         true, ""},
        {"it went down under the drain, and is silent", "lockstep:change:17 x", true, true, false,
         false, "Not responding"},
        {"it was down before", "lockstep:change:17 x (before: bad DIMM)", true, false, false, false,
         "bad DIMM"},
        {"it was down before, and is silent", "lockstep:change:17 x (before: bad DIMM)", true, true,
         false, false, "bad DIMM"},
        {"it was down before without a reason", "lockstep:change:17 x (before: down)", true, false,
         false, false, "down"},
        {"it was down before, and is up", "lockstep:change:17 x (before: bad DIMM)", false, false,
         false, false, ""},
        {"a person's FAIL stays", "lockstep:change:17 x", true, false, true, false, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_bridge_entry e = {.drained = true,
                                           .own = true,
                                           .down = rows[i].down,
                                           .responding = !rows[i].silent,
                                           .failing = rows[i].failing,
                                           .reason = lks_str_from(rows[i].reason)};
        struct lks_bridge_ending end = lks_bridge_ending_of(&e);
        lks_test_case("%s", rows[i].name);
        CHECK_INT(end.resume, rows[i].resume);
        CHECK_STR(lks_str_from(end.reason), rows[i].gets);
    }
}

/* What a drain keeps of the node before it. */
static void test_before(void)
{
    static const struct {
        const char *name, *reason;
        bool down, drained;
        const char *before;
    } rows[] = {
        {"an idle node", "", false, false, ""},
        {"down", "bad DIMM", true, false, "bad DIMM"},
        {"down without a reason", "", true, false, "down"},
        {"down, and taken over", "lockstep:change:17 x (before: bad DIMM)", true, true, "bad DIMM"},
        {"down under the drain, and taken over", "lockstep:change:17 x", true, true, ""},
        {"up again, and taken over", "lockstep:change:17 x (before: bad DIMM)", false, true, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_bridge_entry e = {.own = true,
                                           .down = rows[i].down,
                                           .drained = rows[i].drained,
                                           .reason = lks_str_from(rows[i].reason)};
        lks_test_case("%s", rows[i].name);
        CHECK_STR(lks_bridge_ending_before(&e), rows[i].before);
    }
}

static void test_gpus(void)
{
    static const struct {
        const char *list;
        uint32_t gpus;
    } rows[] = {
        {"", LKS_BRIDGE_UNKNOWN},
        {"cpu=8,mem=4G,node=1,billing=8", LKS_BRIDGE_UNKNOWN},
        {"cpu=8,gres/gpu=4", 4},
        {"cpu=8,gres/gpu=4,gres/gpu:h200=4", 4},
        {"gpu:h200:8", 8},
        {"gpu:8", 8},
        {"gpu:h200:2(IDX:0,3)", 2},
        {"gpu:h200:2,gpu:a100:3,nic:1", 5},
        {"gres:gpu:2", 2},
        {"gpu", LKS_BRIDGE_UNKNOWN},
        {"gpux:4", LKS_BRIDGE_UNKNOWN},
        {"gpu:99999999999", LKS_BRIDGE_UNKNOWN},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].list);
        CHECK_INT(lks_bridge_node_gpus(lks_str_from(rows[i].list)), rows[i].gpus);
    }
}

/* What lockstep says of a node -------------------------------------------------------------- */

static void test_truth_features(void)
{
    static const struct {
        const char *name, *list, *ours, *merged;
        bool same; /* the list has ours already */
    } rows[] = {
        {"none before", "rack7,h200", "lks-a,lks-conform", "rack7,h200,lks-a,lks-conform", false},
        {"others before", "lks-b,rack7,lks-drift", "lks-a,lks-conform", "rack7,lks-a,lks-conform",
         false},
        {"the same in another order", "lks-conform,rack7,lks-a", "lks-a,lks-conform",
         "rack7,lks-a,lks-conform", true},
        {"one too many", "lks-a,lks-conform,lks-b", "lks-a,lks-conform", "lks-a,lks-conform",
         false},
        {"one missing", "lks-a", "lks-a,lks-conform", "lks-a,lks-conform", false},
        {"removed", "lks-a,rack7", "", "rack7", false},
        {"a slot", "lks0,lks1,lks2,rack7", "lks-a,lks1", "rack7,lks-a,lks1", false},
        {"features that only look alike", "lks,lksx,lks10", "lks1", "lks,lksx,lks10,lks1", false},
        {"nothing at all", "", "", "", true},
        {"a name that only looks alike", "lksx,alks-a", "", "lksx,alks-a", true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1024);
        struct lks_str list = lks_str_from(rows[i].list), ours = lks_str_from(rows[i].ours);
        lks_test_case("%s", rows[i].name);
        lks_bridge_truth_merge(list, ours, &out);
        CHECK_STR(lks_buf_view(&out), rows[i].merged);
        CHECK(lks_bridge_truth_is(lks_buf_view(&out), ours));
        CHECK_INT(lks_bridge_truth_is(list, ours), rows[i].same);
    }
}

static void test_truth_digest(void)
{
    static const struct {
        const char *name, *extra, *comment, *digest;
        enum lks_bridge_truth_place place;
    } rows[] = {
        {"both are free", "", "", "", LKS_BRIDGE_TRUTH_EXTRA},
        {"extra is ours", "lockstep:sha256:1", "see wiki", "sha256:1", LKS_BRIDGE_TRUTH_EXTRA},
        {"extra is another's", "{\"a\":1}", "", "", LKS_BRIDGE_TRUTH_COMMENT},
        {"comment is ours", "x", "lockstep:sha256:2", "sha256:2", LKS_BRIDGE_TRUTH_COMMENT},
        {"both are taken", "x", "y", "", LKS_BRIDGE_TRUTH_NOWHERE},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_str extra = lks_str_from(rows[i].extra), comment = lks_str_from(rows[i].comment);
        lks_test_case("%s", rows[i].name);
        CHECK_INT(lks_bridge_truth_place(extra, comment), rows[i].place);
        CHECK_STR(lks_bridge_truth_digest(extra, comment), rows[i].digest);
    }
}

/* Requests ---------------------------------------------------------------------------------- */

#define DRAIN "{\"owner\":\"lockstep:change:17\",\"reason\":\"x\",\"checkpoint\":true}"

static const struct {
    const char *name, *method, *path, *if_match, *epoch, *body;
    enum lks_code code;
    enum lks_bridge_verb verb;
    const char *says;
} asked[] = {
    {"health", "GET", "/v1/health", NULL, NULL, "", LKS_OK, LKS_BRIDGE_HEALTH, ""},
    {"nodes", "GET", "/v1/nodes", NULL, NULL, "", LKS_OK, LKS_BRIDGE_NODES, ""},
    {"a node", "GET", "/v1/nodes/g1", NULL, NULL, "", LKS_OK, LKS_BRIDGE_NODE, ""},
    {"jobs", "GET", "/v1/jobs", NULL, NULL, "", LKS_OK, LKS_BRIDGE_JOBS, ""},
    {"drain", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3", DRAIN, LKS_OK, LKS_BRIDGE_DRAIN, ""},
    {"release", "POST", "/v1/nodes/g1/release", "\"7\"", "0", DRAIN, LKS_OK, LKS_BRIDGE_RELEASE,
     ""},
    {"signal", "POST", "/v1/jobs/17_3/signal", NULL, "3", "{\"signal\":\"USR1\"}", LKS_OK,
     LKS_BRIDGE_SIGNAL, ""},
    {"requeue", "POST", "/v1/jobs/17+1/requeue", NULL, "3", "", LKS_OK, LKS_BRIDGE_REQUEUE, ""},
    {"a run that is requeued", "POST", "/v1/jobs/17/requeue", NULL, "3", "{\"started\":1000}",
     LKS_OK, LKS_BRIDGE_REQUEUE, ""},
    {"a requeue with an empty object", "POST", "/v1/jobs/17/requeue", NULL, "3", "{}", LKS_OK,
     LKS_BRIDGE_REQUEUE, ""},
    {"a requeue with a list", "POST", "/v1/jobs/17/requeue", NULL, "3", "[]", LKS_E_INVALID, 0,
     "object"},
    {"a run that did not start", "POST", "/v1/jobs/17/requeue", NULL, "3", "{\"started\":null}",
     LKS_E_INVALID, 0, "started: when the run"},
    {"the start of a run as a text", "POST", "/v1/jobs/17/signal", NULL, "3",
     "{\"signal\":\"USR1\",\"started\":\"1000\"}", LKS_E_INVALID, 0, "started: when the run"},
    {"a start before 1970", "POST", "/v1/jobs/17/signal", NULL, "3",
     "{\"signal\":\"USR1\",\"started\":-1000}", LKS_E_INVALID, 0, "started: when the run"},
    {"a start after all times", "POST", "/v1/jobs/17/requeue", NULL, "3",
     "{\"started\":9007199254740991}", LKS_E_INVALID, 0, "started: when the run"},
    {"no path", "GET", "/v1/other", NULL, NULL, "", LKS_E_NOT_FOUND, 0, "/v1/policy"},
    {"more path", "GET", "/v1/nodes/g1/drain/x", NULL, NULL, "", LKS_E_NOT_FOUND, 0, ""},
    {"less path", "GET", "/v1", NULL, NULL, "", LKS_E_NOT_FOUND, 0, ""},
    {"another method", "DELETE", "/v1/nodes/g1", NULL, NULL, "", LKS_E_USAGE, 0, "GET"},
    {"a bad name", "GET", "/v1/nodes/g[1-2]", NULL, NULL, "", LKS_E_INVALID, 0, "name of a"},
    {"an empty name", "GET", "/v1/nodes/", NULL, NULL, "", LKS_E_INVALID, 0, "name of a"},
    {"a bad id", "POST", "/v1/jobs/x/requeue", NULL, "3", "", LKS_E_INVALID, 0, "id of a job"},
    {"a list of ids", "POST", "/v1/jobs/1_[2-3]/requeue", NULL, "3", "", LKS_E_INVALID, 0,
     "id of a job"},
    {"no epoch", "PUT", "/v1/nodes/g1/drain", "\"7\"", NULL, DRAIN, LKS_E_INVALID, 0,
     "Lockstep-Epoch"},
    {"a bad epoch", "PUT", "/v1/nodes/g1/drain", "\"7\"", "-1", DRAIN, LKS_E_INVALID, 0,
     "Lockstep-Epoch"},
    {"no revision", "PUT", "/v1/nodes/g1/drain", NULL, "3", DRAIN, LKS_E_INVALID, 0, "If-Match"},
    {"any revision", "PUT", "/v1/nodes/g1/drain", "*", "3", DRAIN, LKS_E_INVALID, 0, "If-Match"},
    {"a bare revision", "PUT", "/v1/nodes/g1/drain", "7", "3", DRAIN, LKS_E_INVALID, 0, "If-Match"},
    {"no body", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3", "", LKS_E_INVALID, 0, "body"},
    {"a list", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3", "[]", LKS_E_INVALID, 0, "object"},
    {"no owner", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3", "{}", LKS_E_INVALID, 0, "owner"},
    {"a person as owner", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3", "{\"owner\":\"kim\"}",
     LKS_E_INVALID, 0, "lockstep:"},
    {"an owner of two words", "PUT", "/v1/nodes/g1/drain", "\"7\"", "3",
     "{\"owner\":\"lockstep:a b\"}", LKS_E_INVALID, 0, "one word"},
#define TRUTH "{\"truth\":[{\"nodes\":\"g[1-2]\",\"features\":[\"lks-conform\"],\"digest\":\"x\"}]}"
    {"truth", "PUT", "/v1/truth", NULL, "3", TRUTH, LKS_OK, LKS_BRIDGE_TRUTH, ""},
    {"the epoch of a leader", "PUT", "/v1/epoch", NULL, "3", "", LKS_OK, LKS_BRIDGE_EPOCH, ""},
    {"no epoch of a leader", "PUT", "/v1/epoch", NULL, NULL, "", LKS_E_INVALID, 0,
     "Lockstep-Epoch"},
    {"truth without an epoch", "PUT", "/v1/truth", NULL, NULL, TRUTH, LKS_E_INVALID, 0, "Epoch"},
    {"no truth", "PUT", "/v1/truth", NULL, "3", "{}", LKS_E_INVALID, 0, "truth: a list"},
    {"truth of no node", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"\",\"features\":[]}]}", LKS_E_INVALID, 0, "from 1 to 4096"},
    {"truth of too many", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g[1-4097]\",\"features\":[]}]}", LKS_E_INVALID, 0, "from 1 to 4096"},
    {"a node twice", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g1\",\"features\":[]},{\"nodes\":\"g[1-2]\",\"features\":[]}]}",
     LKS_E_INVALID, 0, "'g1' is named twice"},
    {"a feature of another", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g1\",\"features\":[\"rack7\"]}]}", LKS_E_INVALID, 0, "'lks-'"},
    {"an operator of Slurm", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g1\",\"features\":[\"lks-a&b\"]}]}", LKS_E_INVALID, 0, "'lks-'"},
    {"two features in one", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g1\",\"features\":[\"lks-a,b\"]}]}", LKS_E_INVALID, 0, "'lks-'"},
    {"a digest of two words", "PUT", "/v1/truth", NULL, "3",
     "{\"truth\":[{\"nodes\":\"g1\",\"features\":[],\"digest\":\"a b\"}]}", LKS_E_INVALID, 0,
     "digest"},
#define RESERVE "{\"nodes\":\"g[1-2]\",\"from\":1795000000000,\"until\":1795000060000}"
    {"reservations", "GET", "/v1/reservations", NULL, NULL, "", LKS_OK, LKS_BRIDGE_RESERVATIONS,
     ""},
    {"a reservation", "PUT", "/v1/reservations/lockstep_change_17+a", NULL, "3", RESERVE, LKS_OK,
     LKS_BRIDGE_RESERVE, ""},
    {"the end of one", "DELETE", "/v1/reservations/lockstep_change_17", NULL, "3", "", LKS_OK,
     LKS_BRIDGE_UNRESERVE, ""},
    {"a reservation without an epoch", "PUT", "/v1/reservations/lockstep_x", NULL, NULL, RESERVE,
     LKS_E_INVALID, 0, "Lockstep-Epoch"},
    {"the end of one without an epoch", "DELETE", "/v1/reservations/lockstep_x", NULL, NULL, "",
     LKS_E_INVALID, 0, "Lockstep-Epoch"},
    {"a reservation of another name", "PUT", "/v1/reservations/window", NULL, "3", RESERVE,
     LKS_E_INVALID, 0, "starts with 'lockstep_'"},
    {"the end of one of another name", "DELETE", "/v1/reservations/window", NULL, "3", "",
     LKS_E_INVALID, 0, "starts with 'lockstep_'"},
    {"a reservation of no node", "PUT", "/v1/reservations/lockstep_x", NULL, "3",
     "{\"nodes\":\"\",\"from\":1000,\"until\":2000}", LKS_E_INVALID, 0, "from 1 to 4096"},
    {"a reservation of a list that cannot be read", "PUT", "/v1/reservations/lockstep_x", NULL, "3",
     "{\"nodes\":\"g[1-\",\"from\":1000,\"until\":2000}", LKS_E_INVALID, 0, "nodes"},
    {"a reservation that ends first", "PUT", "/v1/reservations/lockstep_x", NULL, "3",
     "{\"nodes\":\"g1\",\"from\":2000,\"until\":2000}", LKS_E_INVALID, 0, "later than from"},
    {"a reservation of half a second", "PUT", "/v1/reservations/lockstep_x", NULL, "3",
     "{\"nodes\":\"g1\",\"from\":1500,\"until\":2000}", LKS_E_INVALID, 0, "whole seconds"},
    {"a reservation without an end", "PUT", "/v1/reservations/lockstep_x", NULL, "3",
     "{\"nodes\":\"g1\",\"from\":1000}", LKS_E_INVALID, 0, "from and until"},
    {"KILL", "POST", "/v1/jobs/17/signal", NULL, "3", "{\"signal\":\"KILL\"}", LKS_E_INVALID, 0,
     "USR1"},
};

static void test_requests(void)
{
    for (size_t i = 0; i < LKS_COUNT(asked); i++) {
        const struct lks_bridge_raw raw = {.method = asked[i].method,
                                           .path = asked[i].path,
                                           .if_match = asked[i].if_match,
                                           .epoch = asked[i].epoch,
                                           .epochs = asked[i].epoch != NULL,
                                           .if_matches = asked[i].if_match != NULL,
                                           .body = lks_str_from(asked[i].body)};
        struct lks_bridge_request r = {.verb = LKS_BRIDGE_VERBS};
        struct lks_err err = {0};
        lks_test_case("%s", asked[i].name);
        if (!CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), asked[i].code)) {
            lks_bridge_request_fini(&r);
            continue;
        }
        if (asked[i].code == LKS_OK)
            CHECK_INT(r.verb, asked[i].verb);
        else
            CHECK(r.verb == LKS_BRIDGE_VERBS);
        CHECK_HAS(lks_str_from(err.msg), asked[i].says);
        CHECK_INT(r.truth.count, r.verb == LKS_BRIDGE_TRUTH ? 2 : 0);
        lks_bridge_request_fini(&r);
    }
}

static void test_request_members(void)
{
    struct lks_bridge_raw raw = {.method = "PUT",
                                 .path = "/v1/nodes/g1/drain",
                                 .if_match = "\"9007199254740991\"",
                                 .epoch = "12",
                                 .epochs = 1,
                                 .if_matches = 1,
                                 .body = LKS_STR(DRAIN)};
    struct lks_bridge_request r = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), LKS_OK);
    CHECK_STR(lks_str_from(r.name), "g1");
    CHECK_STR(lks_str_from(r.owner), "lockstep:change:17");
    CHECK_STR(lks_str_from(r.reason), "x");
    CHECK(r.checkpoint && r.epoch == 12 && r.revision == UINT64_C(9007199254740991));
    raw.if_matches = 2;
    CHECK_CODE(lks_bridge_request_read(&raw, &(struct lks_bridge_request){0}, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "'If-Match' is there twice");
    raw = (struct lks_bridge_raw){.method = "POST",
                                  .path = "/v1/jobs/17/signal",
                                  .epoch = "1",
                                  .epochs = 1,
                                  .body = LKS_STR("{\"signal\":\"TERM\",\"batch\":true}")};
    CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), LKS_OK);
    CHECK(r.signal == SIGTERM && r.batch && r.started == 0);
    raw.body = LKS_STR("{\"signal\":\"TERM\",\"started\":1763200000000}");
    CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), LKS_OK);
    CHECK_INT(r.started, INT64_C(1763200000000));
    raw.path = "/v1/jobs/17/requeue";
    CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), LKS_OK);
    CHECK_INT(r.started, INT64_C(1763200000000));
    raw.epochs = 2;
    CHECK_CODE(lks_bridge_request_read(&raw, &r, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "is there twice");
    for (int v = 0; v < LKS_BRIDGE_VERBS; v++)
        CHECK(lks_bridge_request_words[v] != NULL);
    CHECK(lks_bridge_request_words[LKS_BRIDGE_VERBS] == NULL);
}

/* The file ---------------------------------------------------------------------------------- */

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!CHECK(f != NULL))
        return;
    fputs(text, f);
    fclose(f);
}

static void test_durable(void)
{
    char folder[] = "/tmp/lockstep-bridge-XXXXXX", path[64], lock[64];
    struct lks_durable d = {0}, other = {0};
    struct lks_err err = {0};
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/bridge.json", folder);
    snprintf(lock, sizeof(lock), "%s/lock", folder);
    CHECK_CODE(lks_durable_open(folder, &d, &err), LKS_OK);
    CHECK(d.epoch == 0 && d.ceiling == 0);
    CHECK_CODE(lks_durable_keep(&d, 7, NOW_US, &err), LKS_OK);
    lks_test_case("a second one");
    CHECK_CODE(lks_durable_open(folder, &other, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "another lockstep-slurm-bridge");
    lks_durable_close(&d);
    lks_test_case("a restart");
    CHECK_CODE(lks_durable_open(folder, &d, &err), LKS_OK);
    CHECK(d.epoch == 7 && d.ceiling == NOW_US);
    lks_durable_close(&d);
    static const char *const broken[] = {"",
                                         "{",
                                         "[]",
                                         "{\"epoch\":7}",
                                         "{\"epoch\":-1,\"revision\":1}",
                                         "{\"epoch\":\"7\",\"revision\":1}"};
    for (size_t i = 0; i < LKS_COUNT(broken); i++) {
        lks_test_case("a file '%s'", broken[i]);
        put_file(path, broken[i]);
        CHECK_CODE(lks_durable_open(folder, &d, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), path);
    }
    unlink(path);
    unlink(lock);
    rmdir(folder);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"owners of drains", test_owner},
        {"reasons for Slurm", test_reason},
        {"what stands behind an owner", test_words},
        {"revisions", test_revisions},
        {"what slurmctld need not send again", test_since},
        {"revisions of nodes", test_book_revisions},
        {"answers", test_book_json},
        {"nodes in FAIL", test_failing_json},
        {"reservations in answers", test_book_reservations},
        {"features of lockstep", test_truth_features},
        {"where the digest is", test_truth_digest},
        {"how a drain ends", test_endings},
        {"what a drain keeps", test_before},
        {"GPUs of jobs", test_gpus},
        {"no memory once", test_book_memory},
        {"requests", test_requests},
        {"members of requests", test_request_members},
        {"the epoch on disk", test_durable},
        {0},
    };
    return lks_test_main(tests);
}
