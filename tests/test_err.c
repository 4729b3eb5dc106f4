#include "base/err.h"

#include "base/str.h"
#include "tests/test.h"

#include <stdio.h>

/* What scripts and clients rely on, for every code there is. */
static void test_codes(void)
{
    for (enum lks_code code = LKS_OK; code < LKS_CODE_COUNT; code++) {
        const struct lks_code_info *info = lks_err_code_info(code);
        lks_test_case("%s", info->text);
        CHECK((info->exit == 0) == (code == LKS_OK));
        CHECK(info->exit >= 0 && info->exit <= 6);
        CHECK((info->exit == 4) == info->transient);
        if (code == LKS_OK) {
            CHECK_INT(info->http, 200);
            continue;
        }
        bool server = info->http >= 500 && info->http <= 599;
        CHECK(server || (info->http >= 400 && info->http <= 499));
        CHECK(server == (info->exit == 4 || info->exit == 6)); /* not the caller's mistake */
        for (enum lks_code other = LKS_OK; other < code; other++)
            CHECK(strcmp(lks_err_code_info(other)->text, info->text) != 0);
    }
}

/* Each caller adds in front what it knows, and the code stays that of the cause. */
static void test_wrap(void)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_fail(&err, LKS_E_TIMEOUT, "no answer in %d s", 5), LKS_E_TIMEOUT);
    CHECK_STR(lks_str_from(err.msg), "no answer in 5 s");
    CHECK_CODE(lks_wrap(&err, "%s", "bmc-17"), LKS_E_TIMEOUT);
    CHECK_CODE(lks_wrap(&err, "node %d", 17), LKS_E_TIMEOUT);
    CHECK_STR(lks_str_from(err.msg), "node 17: bmc-17: no answer in 5 s");
    CHECK_CODE(err.code, LKS_E_TIMEOUT);
}

static void test_nomem(void)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_fail_nomem(&err), LKS_E_NOMEM);
    CHECK_STR(lks_str_from(err.msg), "out of memory");
}

static const struct {
    const char *name;
    const char *given;
    const char *message;
} printable[] = {
    {"plain", "no such node", "no such node"},
    {"a second line", "a\nlevel=info", "a?level=info"},
    {"tab and return", "a\tb\r", "a?b?"},
    {"an escape sequence", "\033[2J", "?[2J"},
    {"delete", "a\x7f", "a?"},
    {"the same escape in one character",
     "\xc2\x9b"
     "2J",
     "??2J"},
    {"text turned around",
     "\xe2\x80\xae"
     "gpj",
     "???gpj"},
    {"letters of the world", "Zürich 東京", "Zürich 東京"},
    {"not UTF-8", "a\xff\xc3", "a??"},
};

static void test_printable(void)
{
    for (size_t i = 0; i < LKS_COUNT(printable); i++) {
        lks_test_case("%s", printable[i].name);
        struct lks_err err = {0};
        CHECK_CODE(lks_fail(&err, LKS_E_INVALID, "%s", printable[i].given), LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), printable[i].message);
        CHECK_CODE(lks_wrap(&err, "%s", printable[i].given), LKS_E_INVALID);
        char both[100];
        snprintf(both, sizeof(both), "%s: %s", printable[i].message, printable[i].message);
        CHECK_STR(lks_str_from(err.msg), both);
    }
}

/* Whatever its length, a message is terminated and good UTF-8; what is cut is its end. */
static void test_long(void)
{
    char text[2 * LKS_ERR_MSG_MAX + 2] = "";
    for (size_t len = 0; len + 2 < sizeof(text); len += 2) {
        lks_test_case("%zu bytes", len);
        memcpy(text + len, "\xc3\xbc", 3);
        struct lks_err err = {0};
        CHECK_CODE(lks_fail(&err, LKS_E_IO, "x%s", text), LKS_E_IO);
        CHECK(memchr(err.msg, '\0', sizeof(err.msg)) != NULL);
        CHECK(lks_str_utf8(lks_str_from(err.msg), NULL));
        CHECK_CODE(lks_wrap(&err, "%s", text), LKS_E_IO);
        CHECK(memchr(err.msg, '\0', sizeof(err.msg)) != NULL);
        CHECK(lks_str_utf8(lks_str_from(err.msg), NULL));
        CHECK(lks_str_starts(lks_str_from(err.msg), "\xc3\xbc"));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"err: codes agree", test_codes},
        {"err: outside in", test_wrap},
        {"err: out of memory", test_nomem},
        {"err: printable", test_printable},
        {"err: long messages", test_long},
        {0},
    });
}
