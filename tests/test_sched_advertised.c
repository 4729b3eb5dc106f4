/* The GPUs in a bridge's answer about a node, and why no job starts there. */
#include "codec/format/json.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <stddef.h>
#include <stdio.h>

static const struct {
    const char *name, *gres, *used, *state;
    const char *told;
    enum lks_sched_odd odd;
} advertised[] = {
    {"GPUs", "gpu:h200:8", "", "idle", "gpu:h200:8", LKS_SCHED_ODD_NOTHING},
    {"GPUs, sockets and something else", "gpu:h200:8(S:0-1),shard:64", "", "idle", "gpu:h200:8",
     LKS_SCHED_ODD_NOTHING},
    {"none", "", "", "idle", "", LKS_SCHED_ODD_NOTHING},
    {"none, and registered with less", "", "", "idle+invalid_registration", "",
     LKS_SCHED_ODD_NOTHING},
    {"no GPUs", "shard:64", "", "idle", "", LKS_SCHED_ODD_NOTHING},
    {"what cannot be read", "gpu:8(S:0", "", "idle", "", LKS_SCHED_ODD_NOTHING},
    {"registered with less", "gpu:8", "", "idle+drain+invalid_registration", "gpu:8",
     LKS_SCHED_ODD_REGISTERED},
    {"all in use", "gpu:h200:8", "gpu:h200:8(IDX:0-7)", "allocated", "gpu:h200:8",
     LKS_SCHED_ODD_NOTHING},
    {"one more in use", "gpu:h200:7", "gpu:h200:8(IDX:0-7)", "allocated", "gpu:h200:7",
     LKS_SCHED_ODD_USED},
    {"another type in use", "gpu:h200:8", "gpu:h100:1", "allocated", "gpu:h200:8",
     LKS_SCHED_ODD_USED},
    {"no type in use", "gpu:h200:8", "gpu:8", "allocated", "gpu:h200:8", LKS_SCHED_ODD_NOTHING},
    {"use that cannot be read", "gpu:8", "gpu:9(", "allocated", "gpu:8", LKS_SCHED_ODD_NOTHING},
};

/* One answer of a bridge, as the conversation understands it. */
static void hear_answer(const char *body, struct lks_sched_said *said)
{
    static const struct lks_sched_wish wish = {.verb = LKS_SCHED_LOOK,
                                               .node = LKS_STR_C("g1"),
                                               .owner = LKS_STR_C(""),
                                               .reason = LKS_STR_C(""),
                                               .deadline = LKS_SCHED_DEADLINE};
    _Alignas(max_align_t) char value[4096];
    struct lks_err err = {0};
    LKS_ASSERT(lks_sched_bridge.talk->size <= sizeof(value));
    CHECK_CODE(lks_sched_bridge.begin(value, &wish, &err), LKS_OK);
    const struct lks_http_response answer = {.status = 200, .body = lks_str_from(body)};
    lks_sched_bridge.talk->hear(value, 1, &answer);
    lks_sched_bridge.said(value, said);
}

static void test_advertised(void)
{
    for (size_t i = 0; i < LKS_COUNT(advertised); i++) {
        struct lks_sched_said said = {0};
        char body[1024];
        lks_test_case("%s", advertised[i].name);
        snprintf(
            body, sizeof(body),
            "{\"node\": \"g1\", \"revision\": 1, \"age\": 0, \"accepts\": true, \"drain\": null, "
            "\"jobs\": [], \"rotation\": false, \"requests\": 0, \"state\": \"%s\", \"gres\": "
            "\"%s\", \"gres_used\": \"%s\"}",
            advertised[i].state, advertised[i].gres, advertised[i].used);
        hear_answer(body, &said);
        CHECK(said.known);
        CHECK_STR(lks_str_from(said.gres), advertised[i].told);
        CHECK_INT(said.odd, advertised[i].odd);
    }
}

static const struct {
    const char *name, *json, *outage;
} outages[] = {
    {"in use", "'down': false, 'state': 'idle', 'reservation': null", ""},
    {"a bridge that does not say it", "'state': 'idle'", ""},
    {"down", "'down': true, 'state': 'down+not_responding'", "down"},
    {"in maintenance",
     "'down': false, 'state': 'idle+maintenance', 'reservation': {'name': 'pdu7'}",
     "in maintenance, by the reservation pdu7"},
    {"in maintenance, and the reservation is not shown",
     "'down': false, 'state': 'idle+maintenance'", "in maintenance"},
    {"a reservation of lockstep",
     "'down': false, 'state': 'idle+maintenance', 'reservation': {'name': "
     "'lockstep_change_17+train+oslo', 'own': true}",
     ""},
    {"a reservation of others with such a name",
     "'down': false, 'state': 'idle+maintenance', 'reservation': {'name': 'lockstep_rack7', 'own': "
     "false}",
     "in maintenance, by the reservation lockstep_rack7"},
    {"down in a reservation of lockstep",
     "'down': true, 'state': 'down+maintenance', 'reservation': {'name': 'lockstep_change_17', "
     "'own': true}",
     "down"},
    {"a name that is no text", "'state': 'idle+maintenance', 'reservation': {'name': 7}",
     "in maintenance"},
    {"reserved for jobs",
     "'state': 'idle+reserved', 'reservation': {'name': 'ada', 'maint': false}", ""},
    {"maintenance that is to come", "'state': 'idle', 'reservation': {'name': 'x', 'maint': true}",
     ""},
    {"drained by its administrator alone", "'down': false, 'state': 'idle+drain'", ""},
};

static void test_outages(void)
{
    for (size_t i = 0; i < LKS_COUNT(outages); i++) {
        struct lks_sched_said said = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(1024);
        struct lks_json_writer w = {.out = &body};
        lks_test_case("%s", outages[i].name);
        lks_json_write(&w,
                       "{'node': 'g1', 'revision': 1, 'age': 0, 'accepts': true, 'drain': null, "
                       "'jobs': [], 'rotation': false, 'requests': 0");
        lks_buf_addc(&body, ',');
        for (const char *at = outages[i].json; *at != '\0'; at++)
            lks_buf_addc(&body, (char)(*at == '\'' ? '"' : *at));
        lks_json_end(&w, '}');
        hear_answer(body.ptr, &said);
        CHECK(said.known);
        CHECK_STR(lks_str_from(said.outage), outages[i].outage);
        CHECK_INT(said.down, lks_str_is(lks_str_from(said.outage), "down"));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what a scheduler advertises", test_advertised},
        {"nodes that are down or in maintenance", test_outages},
        {0},
    });
}
