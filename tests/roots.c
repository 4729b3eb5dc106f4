#include "tests/roots.h"

#include "tests/facts.h"
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_SIZE 4096
#define CALL_MS   20000 /* a machine with nothing else to do is not what tests run on */

const struct lks_test_root lks_test_roots[] = {
    {"synthetic-v100", "tests/roots/synthetic-v100.tree", true},
    {"synthetic-gb200", "tests/roots/synthetic-gb200.tree", true},
    {"synthetic-mi300x", "tests/roots/synthetic-mi300x.tree", true},
    {"synthetic-rpm", "tests/roots/synthetic-rpm.tree", true},
    {"h200", "tests/roots/h200", true}, /* a real one, captured and scrubbed */
    {"synthetic-none", "tests/roots/synthetic-none.tree", false},
    {"synthetic-half-upgraded", "tests/roots/synthetic-half-upgraded.tree", false},
};
const size_t lks_test_root_count = LKS_COUNT(lks_test_roots);

void lks_test_plant(const struct lks_test_root *root, struct lks_planted *out)
{
    struct stat st;
    *out = (struct lks_planted){.path = root->from};
    if (CHECK(stat(root->from, &st) == 0) && S_ISDIR(st.st_mode))
        return;
    out->tree = lks_tree_new();
    lks_tree_plant(&out->tree, root->from);
    out->path = out->tree.path;
}

void lks_test_planted_free(struct lks_planted *planted)
{
    lks_tree_free(&planted->tree);
}

struct lks_tuple lks_test_read(const char *path, const char *capture,
                               const struct lks_probe_kind *first, size_t count)
{
    struct lks_tuple tuple = {0};
    struct lks_probe_options options = {
        .libraries = true, .call_ms = CALL_MS, .probe_ms = 3 * CALL_MS};
    LKS_CLEANUP(lks_root_close) struct lks_root root = {.capture = -1};
    struct lks_err err = {0};
    lks_tuple_init(&tuple);
    if (lks_root_open(path, capture, &root, &err) != LKS_OK ||
        lks_probe_run(first, count, &root, lks_test_facts(), &options, &tuple, NULL, &err) !=
            LKS_OK)
        CHECK_STR(lks_str_from(err.msg), "");
    CHECK(!root.capture_failed);
    return tuple;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory; the caller frees them and the list. */
static size_t names_in(const char *dir, char ***out)
{
    enum { NAMES_MAX = 4096 };
    size_t count = 0;
    char **names = calloc(NAMES_MAX, sizeof(*names));
    DIR *open = opendir(dir);
    CHECK(open != NULL && names != NULL);
    for (struct dirent *e; open != NULL && names != NULL && (e = readdir(open)) != NULL;) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && CHECK(count < NAMES_MAX))
            names[count++] = strdup(e->d_name);
    }
    if (open != NULL)
        (void)closedir(open);
    if (count > 0)
        qsort(names, count, sizeof(*names), by_name);
    *out = names;
    return count;
}

static void walk(const char *top, const char *below, lks_test_file_fn *fn, void *ctx)
{
    char dir[PATH_SIZE], **names = NULL;
    snprintf(dir, sizeof(dir), "%s%s", top, below);
    size_t count = names_in(dir, &names);
    for (size_t i = 0; i < count; i++) {
        char at[PATH_SIZE], inner[PATH_SIZE];
        struct stat st = {0};
        snprintf(inner, sizeof(inner), "%.2000s/%.250s", below, names[i]);
        snprintf(at, sizeof(at), "%.1500s%.2500s", top, inner);
        free(names[i]);
        if (!CHECK(lstat(at, &st) == 0))
            continue;
        if (S_ISDIR(st.st_mode))
            walk(top, inner, fn, ctx);
        else if (S_ISREG(st.st_mode))
            fn(ctx, inner);
    }
    free(names);
}

void lks_test_files(const char *dir, lks_test_file_fn *fn, void *ctx)
{
    walk(dir, "", fn, ctx);
}
