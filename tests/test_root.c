/* Reading a tree, capturing one, and replaying the capture. */
#include "probe/root/answers.h"
#include "probe/root/root.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *code_text(enum lks_code code)
{
    return code == LKS_OK ? "ok" : lks_err_code_info(code)->text;
}

/* Every kind of thing a probe may be pointed at: none of them may hang it or lead out of the tree.
 */
static const struct {
    const char *name, *path;
    const char *code;
    const char *text;
} reads[] = {
    {"a plain file", "/etc/plain", "ok", "one\ntwo\n"},
    {"an empty file", "/etc/empty", "ok", ""},
    {"no file", "/etc/none", "not-found", ""},
    {"below a file", "/etc/plain/x", "not-found", ""},
    {"a directory", "/etc", "invalid", ""},
    {"a pipe", "/etc/fifo", "invalid", ""},
    {"a link in the tree", "/etc/link", "ok", "one\ntwo\n"},
    {"an absolute link stays in the tree", "/etc/absolute", "ok", "one\ntwo\n"},
    {"a link that climbs stays in the tree", "/etc/climbs", "ok", "one\ntwo\n"},
    {"links in a circle", "/etc/loop", "invalid", ""},
    {"a file past the limit", "/etc/long", "limit", ""},
    {"a path that goes up", "/etc/../etc/plain", "invalid", ""},
    {"a relative path", "etc/plain", "invalid", ""},
};

static void test_read(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/etc/plain", "one\ntwo\n");
    lks_tree_file(&tree, "/etc/empty", "");
    lks_tree_file(&tree, "/etc/long", "0123456789012345678901234567890123456789");
    lks_tree_link(&tree, "/etc/link", "plain");
    lks_tree_link(&tree, "/etc/absolute", "/etc/plain");
    lks_tree_link(&tree, "/etc/climbs", "../../../../../etc/plain");
    lks_tree_link(&tree, "/etc/loop", "loop");
    lks_tree_fifo(&tree, "/etc/fifo");
    struct lks_root root;
    struct lks_err err;
    if (!CHECK(lks_root_open(tree.path, NULL, &root, &err) == LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(reads); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(32);
        lks_test_case("%s", reads[i].name);
        enum lks_code code = lks_root_read(&root, reads[i].path, 32, &text, &err);
        CHECK_STR(lks_str_from(code_text(code)), reads[i].code);
        CHECK_STR(lks_buf_view(&text), reads[i].text);
    }
    lks_root_close(&root);
    lks_tree_free(&tree);
}

static void test_line(void)
{
    static const struct {
        const char *name, *content, *code, *line;
    } rows[] = {
        {"a line", "580.95.05\n", "ok", "580.95.05"},
        {"blanks around it", "  a b \t\nsecond\n", "ok", "a b"},
        {"no line end", "x", "ok", "x"},
        {"nothing", "", "not-found", NULL},
        {"a blank line", " \n", "not-found", NULL},
        {"bytes that are no text", "\x01\xff\n", "invalid", NULL},
        {"an escape for the terminal", "\x1b[31mred\n", "invalid", NULL},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_tree tree = lks_tree_new();
        lks_tree_file(&tree, "/sys/value", rows[i].content);
        struct lks_root root;
        struct lks_err err;
        char line[LKS_ROOT_LINE_MAX];
        lks_test_case("%s", rows[i].name);
        if (!CHECK(lks_root_open(tree.path, NULL, &root, &err) == LKS_OK))
            return;
        enum lks_code code = lks_root_line(&root, "/sys/value", line, &err);
        CHECK_STR(lks_str_from(code_text(code)), rows[i].code);
        if (code == LKS_OK && rows[i].line != NULL)
            CHECK_STR(lks_str_from(line), rows[i].line);
        lks_root_close(&root);
        lks_tree_free(&tree);
    }
}

/* What one pass over a machine sees, as text: contents, names, links, failures, answers. */
static enum lks_code answer(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const char *text = ctx;
    if (text == NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the device, \"gone\"");
    lks_buf_addf(out, "%s", text);
    return LKS_OK;
}

static void look(struct lks_root *root, struct lks_buf *seen, bool ask)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    lks_arena_init(&arena, 1 << 20);
    struct lks_names names = {0};
    struct lks_err err = {0};
    struct stat st = {0};
    char path[LKS_ROOT_PATH_MAX];
    (void)!lks_root_read(root, "/etc/plain", 100, seen, &err);
    lks_buf_addf(seen, "%s;", code_text(lks_root_read(root, "/etc/secret", 100, seen, &err)));
    if (lks_root_list(root, "/etc", &arena, &names, &err) == LKS_OK) {
        for (size_t i = 0; i < names.count; i++)
            lks_buf_addf(seen, "%.*s,", LKS_STR_ARG(names.list[i]));
    }
    lks_buf_addf(seen, ";%s", code_text(lks_root_link(root, "/etc/link", path, &err)));
    lks_buf_addf(seen, ":%s", path);
    lks_buf_addf(seen, ";%s", code_text(lks_root_real(root, "/etc/link", path, &err)));
    lks_buf_addf(seen, ":%s", path);
    lks_buf_addf(seen, ";%s", code_text(lks_root_stat(root, "/etc/big", &st, &err)));
    lks_buf_addf(seen, ":%lld;", (long long)st.st_size);
    lks_buf_addf(seen, "%d;", lks_root_exists(root, "/etc/none"));
    char text[] = "fw=1.2, \"x\"";
    lks_ask_fn *fn = ask ? answer : NULL;
    lks_buf_addf(seen, "%s;", code_text(lks_root_ask(root, "dev", "id 0", fn, text, seen, &err)));
    lks_buf_addf(seen, "%s;", code_text(lks_root_ask(root, "dev", "id 1", fn, NULL, seen, &err)));
    lks_buf_addf(seen, "%s", err.msg);
}

static void test_capture_replays(void)
{
    struct lks_tree machine = lks_tree_new(), captured = lks_tree_new();
    lks_tree_file(&machine, "/etc/plain", "text\n");
    lks_tree_file(&machine, "/etc/big", "0123456789");
    lks_tree_link(&machine, "/etc/link", "plain");
    lks_tree_fifo(&machine, "/etc/secret");
    struct lks_root root;
    struct lks_err err;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf live = {0}, again = {0};
    lks_buf_init(&live, 4096);
    lks_buf_init(&again, 4096);
    if (!CHECK(lks_root_open(machine.path, captured.path, &root, &err) == LKS_OK))
        return;
    root.live = true; /* so that questions are asked: this tree plays the machine */
    look(&root, &live, true);
    CHECK(!root.capture_failed);
    lks_root_close(&root);
    lks_tree_free(&machine);

    if (!CHECK(lks_root_open(captured.path, NULL, &root, &err) == LKS_OK))
        return;
    look(&root, &again, false);
    CHECK_STR(lks_buf_view(&again), live.ptr);
    lks_root_close(&root);
    lks_tree_free(&captured);
}

/* The end of a file that is too long for the rest of it; a capture has that end and replays it. */
static void test_tail(void)
{
    enum { MAX = 1 << 20 };
    struct lks_tree machine = lks_tree_new(), captured = lks_tree_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, live = {0}, again = {0};
    struct lks_root root;
    struct lks_err err;
    lks_buf_init(&text, 4 * MAX);
    lks_buf_init(&live, MAX);
    lks_buf_init(&again, MAX);
    lks_buf_add(&text, LKS_STR("begins"));
    lks_buf_pad(&text, ' ', MAX);
    lks_buf_add(&text, LKS_STR("ends"));
    lks_tree_bytes(&machine, "/log", lks_buf_view(&text));
    lks_tree_file(&machine, "/short", "short");
    if (!CHECK(lks_root_open(machine.path, captured.path, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_tail(&root, "/log", MAX, &live, &err), LKS_OK);
    CHECK(live.len > MAX / 2 && lks_str_ends(lks_buf_view(&live), "ends"));
    CHECK(lks_str_find(lks_buf_view(&live), LKS_STR("begins")) < 0);
    lks_root_close(&root);
    if (!CHECK(lks_root_open(captured.path, NULL, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_tail(&root, "/log", MAX, &again, &err), LKS_OK);
    CHECK(lks_str_eq(lks_buf_view(&again), lks_buf_view(&live)));
    lks_root_close(&root);
    lks_buf_truncate(&again, 0);
    if (!CHECK(lks_root_open(machine.path, NULL, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_read(&root, "/log", MAX, &again, &err), LKS_E_LIMIT);
    CHECK_CODE(lks_root_tail(&root, "/short", MAX, &again, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&again), "short");
    CHECK_CODE(lks_root_tail(&root, "/none", MAX, &again, &err), LKS_E_NOT_FOUND);
    lks_root_close(&root);
    lks_tree_free(&machine);
    lks_tree_free(&captured);
}

static void test_capture_wants_a_new_place(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/kept", "kept");
    struct lks_root root;
    struct lks_err err = {0};
    CHECK(lks_root_open(NULL, tree.path, &root, &err) == LKS_E_INVALID);
    CHECK(strstr(err.msg, "is not empty") != NULL);
    lks_tree_free(&tree);
}

/* File systems number as they like, and clocks were once wrong. */
static void test_odd_status(void)
{
    struct lks_tree tree = lks_tree_new(), captured = lks_tree_new();
    lks_tree_file(&tree, "/old", "x");
    char path[256];
    snprintf(path, sizeof(path), "%s/old", tree.path);
    struct timespec times[2] = {{.tv_sec = -1000}, {.tv_sec = -1000}};
    struct lks_root root;
    struct lks_err err = {0};
    struct stat st = {0};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
    if (!CHECK(lks_root_open(tree.path, captured.path, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_stat(&root, "/old", &st, &err), LKS_OK);
    CHECK_INT(st.st_mtim.tv_sec, -1000);
    lks_root_close(&root);
    if (!CHECK(lks_root_open(captured.path, NULL, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_stat(&root, "/old", &st, &err), LKS_OK);
    CHECK_INT(st.st_mtim.tv_sec, -1000);
    lks_root_close(&root);
    lks_tree_free(&tree);
    lks_tree_free(&captured);
}

/* What root alone may read is for root alone in a capture, too. */
static void test_capture_is_private(void)
{
    struct lks_tree tree = lks_tree_new(), captured = lks_tree_new();
    lks_tree_file(&tree, "/sys/serial", "1");
    struct lks_root root;
    struct lks_err err = {0};
    struct stat st = {0};
    char line[LKS_ROOT_LINE_MAX], path[256];
    if (!CHECK(lks_root_open(tree.path, captured.path, &root, &err) == LKS_OK))
        return;
    CHECK_CODE(lks_root_line(&root, "/sys/serial", line, &err), LKS_OK);
    snprintf(path, sizeof(path), "%s/sys/serial", captured.path);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 077) == 0);
    lks_root_close(&root);
    lks_tree_dir(&tree, "/open");
    snprintf(path, sizeof(path), "%s/open", tree.path);
    CHECK(chmod(path, 0777) == 0);
    CHECK_CODE(lks_root_open(NULL, path, &root, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "others may write to it");
    lks_tree_free(&tree);
    lks_tree_free(&captured);
}

/* A damaged table of answers is said, and said of what it was to answer. */
static void test_damaged_answers(void)
{
    static const struct {
        const char *name, *content, *message;
    } rows[] = {
        {"no columns", "key\n", "the columns are key, code and value"},
        {"a row too short", "key,code,value\na,ok\n", "line 2"},
        {"bytes", "key,code,value\na,ok,\xff\n", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_tree tree = lks_tree_new();
        lks_tree_file(&tree, "/lockstep/dev.csv", rows[i].content);
        struct lks_root root;
        struct lks_err err = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(100);
        lks_test_case("%s", rows[i].name);
        if (!CHECK(lks_root_open(tree.path, NULL, &root, &err) == LKS_OK))
            return;
        CHECK(lks_root_ask(&root, "dev", "a", NULL, NULL, &out, &err) == LKS_E_INVALID);
        CHECK(strstr(err.msg, rows[i].message) != NULL);
        lks_root_close(&root);
        lks_tree_free(&tree);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"root: what a path may lead to", test_read},
        {"root: lines", test_line},
        {"root: a capture replays", test_capture_replays},
        {"root: the end of a file", test_tail},
        {"root: a capture wants a new place", test_capture_wants_a_new_place},
        {"root: odd status", test_odd_status},
        {"root: a capture is private", test_capture_is_private},
        {"root: damaged answers are said", test_damaged_answers},
        {0},
    });
}
