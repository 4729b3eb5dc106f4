/* What the agent takes from others: the controller, the reader of the machine, the helper. */
#include "agent/helper/helper.h"
#include "agent/helper/wire.h"
#include "agent/loop/answers.h"
#include "agent/reading/inventory.h"
#include "tests/test.h"

#include <stdio.h>

#define JOURNAL "0123456789abcdef0123456789abcdef"

/* What the controller says -------------------------------------------------------------------- */

#define KEY_TEXT "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define GOOD                                                                                       \
    "{\"agents\":\"https://c:7444\",\"command_key\":\"" KEY_TEXT                                   \
    "\",\"heartbeat_ms\":10000,\"journal\":\"" JOURNAL "\",\"journal_key\":\"" KEY_TEXT            \
    "\",\"node\":\"gpu-1\"}"

static void test_controller(void)
{
    static const struct {
        const char *name, *from, *to; /* of GOOD */
    } bad[] = {
        {"no node", "\"node\":\"gpu-1\"", "\"n\":1"},
        {"an empty name", "gpu-1", ""},
        {"a path for a name", "gpu-1", "../x"},
        {"a journal too short", JOURNAL, "0123"},
        {"a heartbeat of nothing", "10000", "0"},
        {"a heartbeat too fast", "10000", "99"},
        {"a heartbeat too slow", "10000", "600001"},
        {"a heartbeat of ages", "10000", "99999999999"},
        {"a heartbeat in words", "10000", "\"ten\""},
        {"without TLS", "https://c:7444", "http://c:7444"},
        {"a key that is none", "ed25519:AAAA", "rsa:AAAA"},
        {"not JSON", "{", ""},
    };
    struct lks_controller c = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_ANSWER_MAX);
    CHECK_CODE(lks_answer_controller_parse(LKS_STR(GOOD), &c, &err), LKS_OK);
    lks_answer_controller_json(&c, &json);
    CHECK_STR(lks_buf_view(&json), GOOD);
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        char text[512];
        lks_test_case("%s", bad[i].name);
        const char *at = strstr(GOOD, bad[i].from);
        snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - GOOD), GOOD, bad[i].to,
                 at + strlen(bad[i].from));
        CHECK_CODE(lks_answer_controller_parse(lks_str_from(text), &c, &err), LKS_E_INVALID);
        CHECK_STR(lks_str_from(c.node), "gpu-1"); /* untouched */
    }
}

static void test_beat_answer(void)
{
    static const struct {
        const char *json;
        enum lks_code code;
        bool mail;
        const char *head;
        lks_ms heartbeat;
    } rows[] = {
        {"{\"mail\":true,\"time\":5}", LKS_OK, true, "", 0},
        {"{\"time\":5,\"heartbeat_ms\":100}", LKS_OK, false, "", 100},
        {"{\"time\":5,\"heartbeat_ms\":600000}", LKS_OK, false, "", 600000},
        {"{\"time\":5,\"heartbeat_ms\":99}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":5,\"heartbeat_ms\":600001}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":5,\"heartbeat_ms\":-10000}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":5,\"heartbeat_ms\":\"ten\"}", LKS_E_INVALID, false, "", 0},
        {"{\"mail\":false,\"time\":5,\"head\":\"a b\"}", LKS_OK, false, "a b", 0},
        {"{\"time\":5,\"later\":[1]}", LKS_OK, false, "", 0},
        {"{\"barred\":1,\"time\":5}", LKS_E_INVALID, false, "", 0},
        {"{\"mail\":1,\"time\":5}", LKS_E_INVALID, false, "", 0},
        {"{\"mail\":true}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":-1}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":5,\"head\":7}", LKS_E_INVALID, false, "", 0},
        {"{\"time\":5,\"head\":\"a\\nb\"}", LKS_E_INVALID, false, "", 0},
        {"[]", LKS_E_INVALID, false, "", 0},
        {"", LKS_E_INVALID, false, "", 0},
        {"<html>busy</html>", LKS_E_INVALID, false, "", 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_beat_answer a = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].json);
        CHECK_CODE(lks_answer_beat(lks_str_from(rows[i].json), &a, &err), rows[i].code);
        CHECK_INT(a.mail, rows[i].mail);
        CHECK_STR(lks_str_from(a.head), rows[i].head);
        CHECK_INT(a.heartbeat, rows[i].heartbeat);
    }
}

static void test_stack(void)
{
    static const struct {
        const char *json, *name, *env;
        enum lks_code code;
    } rows[] = {
        {"{\"enforces\":true,\"env\":{}}", "", "", LKS_OK},
        {"{\"name\":\"a\",\"env\":{\"NCCL_A\":\"1\",\"PATH\":\"x\",\"NCCL_B\":2}}", "a",
         "NCCL_A=1\n", LKS_OK},
        {"{\"env\":{},\"later\":1}", "", "", LKS_OK},
        {"{\"name\":\"a\"}", "", "", LKS_E_INVALID},
        {"{\"name\":\"a\\nb\",\"env\":{}}", "", "", LKS_E_INVALID},
        {"{\"why\":7,\"env\":{}}", "", "", LKS_E_INVALID},
        {"{\"enforces\":\"on\",\"env\":{}}", "", "", LKS_E_INVALID},
        {"{\"env\":[\"NCCL_A=1\"]}", "", "", LKS_E_INVALID},
        {"[]", "", "", LKS_E_INVALID},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_node_stack s = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].json);
        CHECK_CODE(lks_answer_stack(lks_str_from(rows[i].json), &s, &err), rows[i].code);
        CHECK_STR(lks_str_from(s.name), rows[i].name);
        CHECK_STR(lks_str_from(s.env), rows[i].env);
    }
}

static void test_mail(void)
{
    static const struct {
        const char *json;
        enum lks_code code;
        bool want;
        size_t count;
        const char *load;
    } rows[] = {
        {"{\"want_tuple\":true,\"commands\":[]}", LKS_OK, true, 0, ""},
        {"{\"commands\":[\"a\",\"b\"]}", LKS_OK, false, 2, ""},
        {"{\"commands\":[],\"load\":\"burn-in\"}", LKS_OK, false, 0, "burn-in"},
        {"{\"commands\":[],\"load\":\"../../bin/sh\"}", LKS_OK, false, 0, ""},
        {"{\"commands\":[],\"load\":\"..\"}", LKS_OK, false, 0, ""},
        {"{\"commands\":[],\"load\":7}", LKS_OK, false, 0, ""},
        {"{\"commands\":[1]}", LKS_E_INVALID, false, 0, ""},
        {"{\"commands\":\"a\"}", LKS_E_INVALID, false, 0, ""},
        {"{}", LKS_E_INVALID, false, 0, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_answer_mail_fini) struct lks_mail mail = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].json);
        CHECK_CODE(lks_answer_mail(lks_str_from(rows[i].json), &mail, &err), rows[i].code);
        CHECK_INT(mail.want_tuple, rows[i].want);
        CHECK_INT(mail.count, rows[i].count);
        CHECK_STR(lks_str_from(mail.load), rows[i].load);
    }
}

static void test_problem(void)
{
    static const struct {
        const char *json, *detail;
    } rows[] = {
        {"{\"detail\":\"the token has expired\"}", "the token has expired"},
        {"{\"title\":\"no\"}", ""},
        {"{\"detail\":\"\\u001b[2J\"}", ""},
        {"garbage", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char detail[LKS_ANSWER_DETAIL_SIZE];
        lks_answer_problem(lks_str_from(rows[i].json), detail);
        CHECK_STR(lks_str_from(detail), rows[i].detail);
    }
}

/* What others print and send ------------------------------------------------------------------- */

#define SHA  "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define BOOT "188765cc-91dd-4e71-bc74-def4af1b19ba"

static void test_inventory(void)
{
    static const struct {
        const char *name, *text;
        enum lks_code code;
    } rows[] = {
        {"whole", "lockstep-reading-1 " SHA " " SHA " " BOOT "\n{}", LKS_OK},
        {"no JSON", "lockstep-reading-1 " SHA " " SHA " " BOOT "\n", LKS_E_INVALID},
        {"no line end", "lockstep-reading-1 " SHA " " SHA " " BOOT, LKS_E_INVALID},
        {"a digest is missing", "lockstep-reading-1 " SHA " " BOOT "\n{}", LKS_E_INVALID},
        {"another format", "lockstep-reading-2 " SHA " " SHA " " BOOT "\n{}", LKS_E_INVALID},
        {"a bad boot id", "lockstep-reading-1 " SHA " " SHA " x\n{}", LKS_E_INVALID},
        {"an error message", "cannot read\n", LKS_E_INVALID},
        {"nothing", "", LKS_E_INVALID},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_inventory found = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_inventory_parse(lks_str_from(rows[i].text), &found, &err), rows[i].code);
        CHECK_STR(lks_str_from(found.boot), rows[i].code == LKS_OK ? BOOT : "");
    }
}

static void test_wire(void)
{
    static const struct {
        const char *name;
        struct lks_str bytes;
        enum lks_code code;
        const char *content; /* NULL: more has to come */
    } rows[] = {
        {"nothing yet", LKS_STR_C(""), LKS_OK, NULL},
        {"half a length", LKS_STR_C("\0\0"), LKS_OK, NULL},
        {"half of it", LKS_STR_C("\0\0\0\3ab"), LKS_OK, NULL},
        {"all of it", LKS_STR_C("\0\0\0\3abc"), LKS_OK, "abc"},
        {"an empty one", LKS_STR_C("\0\0\0\0"), LKS_OK, ""},
        {"more than it", LKS_STR_C("\0\0\0\3abcd"), LKS_E_INVALID, NULL},
        {"too long", LKS_STR_C("\0\1\0\0"), LKS_E_INVALID, NULL},
        {"far too long", LKS_STR_C("\377\377\377\377"), LKS_E_INVALID, NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_str content = {0};
        struct lks_err err = {0};
        bool whole = true;
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_wire_whole(rows[i].bytes, 1000, &whole, &content, &err), rows[i].code);
        CHECK_INT(whole, rows[i].content != NULL);
        if (whole)
            CHECK_STR(content, rows[i].content);
    }
}

static void test_enabled(void)
{
    static const struct {
        const char *text, *name;
        bool yes;
    } rows[] = {
        {"reboot\n", "reboot", true},    {"reboot", "reboot", true},
        {"# reboot\n", "reboot", false}, {"  reboot   # when asked\nflash\n", "reboot", true},
        {"rebooter\n", "reboot", false}, {"reboot now\n", "reboot", false},
        {"", "reboot", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].text);
        CHECK_INT(lks_helper_enabled(lks_str_from(rows[i].text), rows[i].name), rows[i].yes);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"whom a node belongs to", test_controller},
        {"answers to heartbeats", test_beat_answer},
        {"the stack of the node", test_stack},
        {"mail", test_mail},
        {"problems", test_problem},
        {"the output of the reader", test_inventory},
        {"messages to the helper", test_wire},
        {"the list of enabled executors", test_enabled},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
