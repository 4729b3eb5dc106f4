#include "drivers/http/login.h"

#include "tests/test.h"
#include "tests/tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECRET "s3cr:et word"

/* "DIR" stands for the directory of the test. */
static const struct {
    const char *name, *reference;
    const char *content; /* of DIR/x; or of the variable LKS_X; NULL: it is not there */
    mode_t mode;
    enum lks_code code;
    const char *says;
} rows[] = {
    {"a file", "file:DIR/x", "root:" SECRET "\n", 0600, LKS_OK, ""},
    {"without a line end", "file:DIR/x", "root:" SECRET, 0400, LKS_OK, ""},
    {"written elsewhere", "file:DIR/x", "root:" SECRET "\r\n", 0600, LKS_OK, ""},
    {"JSON", "file:DIR/x", "{\"user\": \"root\", \"password\": \"" SECRET "\"}\n", 0600, LKS_OK,
     ""},
    {"a program", "exec:DIR/x", "#!/bin/sh\necho 'root:" SECRET "'\n", 0700, LKS_OK, ""},
    {"a variable", "env:LKS_X", "root:" SECRET, 0, LKS_OK, ""},
    {"others may read it", "file:DIR/x", "root:" SECRET, 0640, LKS_E_DENIED, "others may read"},
    {"others may change it", "exec:DIR/x", "#!/bin/sh\n", 0772, LKS_E_DENIED, "others may change"},
    {"no file", "file:DIR/x", NULL, 0, LKS_E_NOT_FOUND, "/x: No such file"},
    {"a directory", "file:DIR", NULL, 0, LKS_E_DENIED, "others"},
    {"no program", "exec:DIR/x", NULL, 0, LKS_E_NOT_FOUND, "/x: No such file"},
    {"a program that fails", "exec:DIR/x", "#!/bin/sh\necho 'root:" SECRET "'\nexit 3\n", 0700,
     LKS_E_UNAVAILABLE, "printed no credentials: it failed, with exit status 3"},
    {"a program that is ended", "exec:DIR/x", "#!/bin/sh\nkill -9 $$\n", 0700, LKS_E_UNAVAILABLE,
     "printed no credentials: signal 9 ended it"},
    {"a program that does not end saying", "exec:DIR/x",
     "#!/bin/sh\nexec cat /dev/zero 2>/dev/null\n", 0700, LKS_E_LIMIT, "printed no credentials"},
    {"no variable", "env:LKS_X", NULL, 0, LKS_E_NOT_FOUND, "LKS_X is not set"},
    {"nothing in it", "file:DIR/x", "", 0600, LKS_E_INVALID, "USER:PASSWORD"},
    {"no password", "file:DIR/x", "root:\n", 0600, LKS_E_INVALID, "USER:PASSWORD"},
    {"no user", "file:DIR/x", ":" SECRET, 0600, LKS_E_INVALID, "USER:PASSWORD"},
    {"one word", "file:DIR/x", "s3cr", 0600, LKS_E_INVALID, "USER:PASSWORD"},
    {"two lines", "file:DIR/x", "root:" SECRET "\nmore\n", 0600, LKS_E_INVALID, "USER:PASSWORD"},
    {"JSON that is none", "file:DIR/x", "{\"user\": \"" SECRET, 0600, LKS_E_INVALID, "USER:PASS"},
    {"JSON of something else", "file:DIR/x", "{\"user\": \"root\"}", 0600, LKS_E_INVALID,
     "USER:PA"},
    {"the thing itself", "root:" SECRET, NULL, 0, LKS_E_INVALID, "by reference"},
    {"a relative path", "file:x", NULL, 0, LKS_E_INVALID, "by reference"},
    {"another kind", "vault:/x", NULL, 0, LKS_E_INVALID, "by reference"},
    {"a variable of no name", "env:1X", NULL, 0, LKS_E_INVALID, "by reference"},
    {"nothing", "", NULL, 0, LKS_E_INVALID, "by reference"},
};

static void prepare(size_t i, const struct lks_tree *tree, char reference[256])
{
    char path[128];
    struct lks_str prefix, rest = lks_str_from(rows[i].reference);
    lks_str_cut(rest, ':', &prefix, &rest);
    if (lks_str_starts(rest, "DIR"))
        snprintf(reference, 256, "%" LKS_STR_FMT ":%s%s", LKS_STR_ARG(prefix), tree->path,
                 rest.ptr + 3);
    else
        snprintf(reference, 256, "%s", rows[i].reference);
    unsetenv("LKS_X");
    if (rows[i].content == NULL)
        return;
    if (rows[i].mode == 0) {
        setenv("LKS_X", rows[i].content, 1);
        return;
    }
    lks_tree_file(tree, "/x", rows[i].content);
    snprintf(path, sizeof(path), "%s/x", tree->path);
    CHECK(chmod(path, rows[i].mode) == 0);
}

/* Whatever goes wrong, what is behind a reference is in no message. */
static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_tree tree = lks_tree_new();
        struct lks_bmc_secret secret = {.user = "before", .token = "kept"};
        struct lks_err err = {0};
        char reference[256];
        lks_test_case("%s", rows[i].name);
        CHECK(chmod(tree.path, 0755) == 0);
        prepare(i, &tree, reference);
        CHECK_CODE(lks_login_get(reference, &secret, &err), rows[i].code);
        CHECK_HAS(lks_str_from(err.msg), rows[i].says);
        CHECK(lks_str_find(lks_str_from(err.msg), LKS_STR("s3cr")) < 0);
        CHECK_STR(lks_str_from(secret.user), rows[i].code == LKS_OK ? "root" : "before");
        CHECK_STR(lks_str_from(secret.password), rows[i].code == LKS_OK ? SECRET : "");
        CHECK_STR(lks_str_from(secret.token), "kept");
        lks_login_wipe(&secret);
        for (size_t b = 0; b < sizeof(secret); b++)
            CHECK_INT(((const char *)&secret)[b], 0);
        lks_tree_free(&tree);
    }
}

/* More than fits into what a login may be. */
static void test_long(void)
{
    char value[600];
    struct lks_bmc_secret secret = {0};
    struct lks_err err = {0};
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    value[4] = ':';
    setenv("LKS_X", value, 1);
    CHECK_CODE(lks_login_get("env:LKS_X", &secret, &err), LKS_E_INVALID);
    value[4 + sizeof(secret.password)] = '\0';
    setenv("LKS_X", value, 1);
    CHECK_CODE(lks_login_get("env:LKS_X", &secret, &err), LKS_OK);
    CHECK_INT(strlen(secret.password), sizeof(secret.password) - 1);
}

static const struct lks_test tests[] = {
    {"references", test_rows},
    {"too long", test_long},
    {0},
};

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    return lks_test_main(tests);
}
