/* Reading the runs of jobs that ended from a bridge's answer. */
#include "core/sched/runs.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define HEAD           "{\"age\":9,\"from\":1,\"until\":90,\"more\":false,\"runs\":["
#define END            "]}"
#define RUN(at, id, x) "{\"at\":" #at ",\"run\":{\"id\":\"" id "\",\"started\":3,\"ended\":9" x "}}"

static const struct {
    const char *name, *json;
    enum lks_code code;
    uint32_t count, unread;
    const char *says;
} rows[] = {
    {"none", HEAD END, LKS_OK, 0, 0, ""},
    {"two", HEAD RUN(9, "17", "") "," RUN(9, "18_3", "") END, LKS_OK, 2, 0, ""},
    {"no JSON", "x", LKS_E_INVALID, 0, 0, "malformed"},
    {"cut off", HEAD RUN(9, "17", ""), LKS_E_INVALID, 0, 0, "cut off"},
    {"a member is missing", "{\"age\":9,\"from\":1,\"more\":false,\"runs\":[]}", LKS_E_INVALID, 0,
     0, "malformed"},
    {"too old", "{\"age\":60001,\"from\":1,\"until\":90,\"more\":false,\"runs\":[]}",
     LKS_E_UNAVAILABLE, 0, 0, "60 s old"},
    {"places that fall", HEAD RUN(9, "17", "") "," RUN(8, "18", "") END, LKS_E_INVALID, 0, 0,
     "run 2 of the answer: its place is not behind"},
    {"one run twice", HEAD RUN(9, "17", "") "," RUN(9, "17", "") END, LKS_E_INVALID, 0, 0,
     "run 2 of the answer"},
    {"before what was asked for", HEAD RUN(5, "17", "") END, LKS_E_INVALID, 0, 0, "run 1"},
    {"the run that was asked for", HEAD RUN(5, "4", "") END, LKS_E_INVALID, 0, 0, "run 1"},
    {"no id", HEAD RUN(9, "", "") END, LKS_E_INVALID, 0, 0, "no place"},
    {"an id with a control byte", HEAD RUN(9, "1\\u001b", "") END, LKS_E_INVALID, 0, 0, "no place"},
    {"it ended before it started",
     HEAD "{\"at\":9,\"run\":{\"id\":\"1\",\"started\":9,\"ended\":3}}," RUN(9, "2", "") END,
     LKS_OK, 1, 1, ""},
    {"a moment that is none",
     HEAD "{\"at\":9,\"run\":{\"id\":\"1\",\"started\":-1,\"ended\":3}}" END, LKS_OK, 0, 1, ""},
    {"others behind none", "{\"age\":9,\"from\":1,\"until\":90,\"more\":true,\"runs\":[]}",
     LKS_E_INVALID, 0, 0, "no run"},
    {"others behind one",
     "{\"age\":9,\"from\":1,\"until\":90,\"more\":true,\"runs\":[" RUN(9, "17", "") END, LKS_OK, 1,
     0, ""},
    {"a state of a later bridge", HEAD RUN(9, "17", ",\"state\":\"lost\"") END, LKS_OK, 1, 0, ""},
};

static const struct lks_sched_runs_place after = {5, LKS_STR_C("5")};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_sched_runs_fini) struct lks_sched_runs runs = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_sched_runs_read(lks_str_from(rows[i].json), after, &runs, &err),
                   rows[i].code);
        CHECK_HAS(lks_str_from(err.msg), rows[i].says);
        CHECK_INT(runs.count, rows[i].count);
        CHECK_INT(runs.unread, rows[i].unread);
    }
}

static void test_members(void)
{
    LKS_CLEANUP(lks_sched_runs_fini) struct lks_sched_runs runs = {0};
    static char json[4096], name[2000];
    struct lks_err err = {0};
    memset(name, 'x', sizeof(name) - 1);
    snprintf(json, sizeof(json),
             HEAD "{\"at\":9,\"run\":{\"id\":\"17\",\"name\":\"%s\",\"user\":\"k\\u001bm\","
                  "\"account\":\"llm\",\"partition\":\"main\",\"nodes\":\"n[1-2]\",\"gpus\":16,"
                  "\"started\":3,\"ended\":9,\"state\":\"node_fail\",\"reason\":\"NodeDown\","
                  "\"down\":\"n2\",\"exit\":null,\"signal\":15,\"restarts\":2}}" END,
             name);
    CHECK_CODE(lks_sched_runs_read(lks_str_from(json), after, &runs, &err), LKS_OK);
    if (!CHECK_INT(runs.count, 1))
        return;
    const struct lks_sched_run *run = &runs.items[0];
    CHECK_INT(runs.until, 90);
    CHECK_INT(runs.last.at, 9);
    CHECK_STR(run->place.id, "17");
    CHECK_INT(run->name.len, LKS_SCHED_RUNS_TEXT);
    CHECK_STR(run->user, "k?m");
    CHECK_STR(run->account, "llm");
    CHECK_STR(run->partition, "main");
    CHECK_STR(run->nodes, "n[1-2]");
    CHECK_INT(run->gpus, 16);
    CHECK_INT(run->started, 3);
    CHECK_INT(run->ended, 9);
    CHECK_INT(run->state, LKS_RUN_NODE_FAIL);
    CHECK_STR(run->reason, "NodeDown");
    CHECK_STR(run->down, "n2");
    CHECK_STR(run->exit, "0:15");
    CHECK_INT(run->restarts, 2);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"answers", test_answers}, {"members", test_members}, {0}};
    return lks_test_main(tests);
}
