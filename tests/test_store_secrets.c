/* Sealed secrets on disk, and where the key for them comes from. */
#include "drivers/store/secrets.h"
#include "drivers/store/seen.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static void write_file(const struct lks_tree *t, const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", t->path, name);
    FILE *f = fopen(path, "we");
    if (!CHECK(f != NULL))
        return;
    fputs(text, f);
    fclose(f);
    CHECK_INT(chmod(path, mode), 0);
}

static const struct {
    const char *name, *reference, *file, *text;
    mode_t mode;
    enum lks_code code;
    const char *says;
} references[] = {
    {"a file", "file:k", "k", KEY "\n", 0600, LKS_OK, ""},
    {"a file that others may read", "file:k", "k", KEY, 0640, LKS_E_DENIED, "others may read"},
    {"no file", "file:other", "k", KEY, 0600, LKS_E_NOT_FOUND, "other"},
    {"half a key", "file:k", "k", "0001", 0600, LKS_E_INVALID, "seal_key"},
    {"a program", "exec:k", "k", "#!/bin/sh\necho " KEY "\n", 0700, LKS_OK, ""},
    {"a program that others may change", "exec:k", "k", "#!/bin/sh\necho " KEY "\n", 0770,
     LKS_E_DENIED, "others may change"},
    {"a program that fails", "exec:k", "k", "#!/bin/sh\necho " KEY "\nexit 3\n", 0700,
     LKS_E_UNAVAILABLE, "printed no sealing key"},
    {"a program that says too much", "exec:k", "k", "#!/bin/sh\nyes | head -c 100000\n", 0700,
     LKS_E_LIMIT, "seal_key"},
    {"a program that gets nothing of ours", "exec:k", "k",
     "#!/bin/sh\n[ -z \"$HOME$LOCKSTEP_SERVER\" ] && echo " KEY "\n", 0700, LKS_OK, ""},
    {"neither", "vault:k", "k", KEY, 0600, LKS_E_INVALID, "file:PATH or exec:PROGRAM"},
};

static void test_references(void)
{
    for (size_t i = 0; i < LKS_COUNT(references); i++) {
        LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
        struct lks_seal_key key = {0};
        struct lks_err err = {0};
        lks_test_case("%s", references[i].name);
        write_file(&tree, references[i].file, references[i].text, references[i].mode);
        CHECK_CODE(lks_secrets_key(tree.path, references[i].reference, &key, &err),
                   references[i].code);
        CHECK_HAS(lks_str_from(err.msg), references[i].says);
        CHECK(strstr(err.msg, KEY) == NULL);
        CHECK(references[i].code != LKS_OK || key.bytes[31] == 0x1f);
    }
}

/* Programs that somebody else decides about: by owning them or a folder above, or by writing there.
 */
static const struct {
    const char *name, *owned, *open; /* what another user owns, what anyone may write */
    mode_t mode;                     /* of that */
    const char *says;                /* NULL: it is good */
} changers[] = {
    {"ours, in a folder of ours", NULL, "in", 0755, NULL},
    {"one of another user", "in/k", NULL, 0, "user 12345 owns "},
    {"in a folder of another user", "in", NULL, 0, "may change this program; chown it to root"},
    {"in a folder that anyone may write", NULL, "in", 0777,
     "others may change this program; chmod go-w "},
    {"in a folder where only owners may replace", NULL, "in", 01777, NULL},
};

static void test_changers(void)
{
    for (size_t i = 0; i < LKS_COUNT(changers); i++) {
        LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
        struct lks_seal_key key = {0};
        struct lks_err err = {0};
        char path[256];
        lks_test_case("%s", changers[i].name);
        if (changers[i].owned != NULL && geteuid() != 0)
            continue; /* only root can give files away */
        lks_tree_dir(&tree, "/in");
        write_file(&tree, "in/k", "#!/bin/sh\necho " KEY "\n", 0755);
        snprintf(path, sizeof(path), "%s/%s", tree.path,
                 changers[i].owned != NULL ? changers[i].owned : changers[i].open);
        CHECK(changers[i].owned != NULL ? chown(path, 12345, 12345) == 0
                                        : chmod(path, changers[i].mode) == 0);
        CHECK_CODE(lks_secrets_key(tree.path, "exec:in/k", &key, &err),
                   changers[i].says == NULL ? LKS_OK : LKS_E_DENIED);
        CHECK_HAS(lks_str_from(err.msg), changers[i].says != NULL ? changers[i].says : "");
    }
}

static void test_round_trip(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(LKS_SECRET_MAX);
    struct lks_seal_key key = {{1}}, other = {{2}};
    struct lks_err err = {0};
    char path[256];
    struct stat st;
    snprintf(path, sizeof(path), "%s/secrets", tree.path);
    CHECK_INT(mkdir(path, 0700), 0);
    CHECK_CODE(lks_secrets_write(tree.path, &key, "ca.key", LKS_STR("first"), &err), LKS_OK);
    CHECK_CODE(lks_secrets_write(tree.path, &key, "ca.key", LKS_STR("second"), &err), LKS_OK);
    CHECK_CODE(lks_secrets_read(tree.path, &key, "ca.key", &plain, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&plain), "second");
    snprintf(path, sizeof(path), "%s/secrets/ca.key.sealed", tree.path);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777U) == 0600);
    CHECK_CODE(lks_secrets_read(tree.path, &other, "ca.key", &plain, &err), LKS_E_DENIED);
    CHECK_CODE(lks_secrets_read(tree.path, &key, "journal.key", &plain, &err), LKS_E_NOT_FOUND);
    char copy[256];
    snprintf(copy, sizeof(copy), "%s/secrets/journal.key.sealed", tree.path);
    CHECK_INT(rename(path, copy), 0);
    CHECK_CODE(lks_secrets_read(tree.path, &key, "journal.key", &plain, &err), LKS_E_INVALID);
}

#define HASH "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static void test_what_was_seen(void)
{
    static const struct {
        const char *name, *text;
        bool good, plain;
    } lines[] = {
        {"sealed", "7 1794700000000 " HASH "\n", true, false},
        {"plain", "7 " HASH "\n", true, true},
        {"without a line end", "7 " HASH, true, true},
        {"no hash", "7 \n", false, false},
        {"half a hash", "7 0001\n", false, false},
        {"no number", "x 1 " HASH "\n", false, false},
        {"no time", "7 x " HASH "\n", false, false},
        {"more than a line", "7 " HASH "\nmore", false, false},
        {"nothing", "", false, false},
    };
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        struct lks_seen seen = {0};
        lks_test_case("%s", lines[i].name);
        CHECK_INT(lks_seen_parse(lks_str_from(lines[i].text), &seen), lines[i].good);
        CHECK_INT(seen.seq, lines[i].good ? 7 : 0);
        CHECK_INT(seen.plain, lines[i].plain);
    }
}

static void test_what_was_seen_is_sealed(void)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    const struct lks_seen seen = {.seq = 7, .time = 9, .hash = {1, 2, 3}};
    struct lks_seal_key key = {{1}}, other = {{2}};
    struct lks_seen got = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_seen_read(tree.path, &key, &got, &err), LKS_E_NOT_FOUND);
    CHECK_CODE(lks_seen_write(tree.path, &key, &seen, &err), LKS_OK);
    CHECK_CODE(lks_seen_read(tree.path, &other, &got, &err), LKS_E_DENIED);
    CHECK_CODE(lks_seen_read(tree.path, &key, &got, &err), LKS_OK);
    CHECK(got.seq == 7 && got.time == 9 && !got.plain);
    CHECK(memcmp(got.hash, seen.hash, sizeof(got.hash)) == 0);
    write_file(&tree, "seen-head", "7 9 " HASH "\n", 0600);
    CHECK_CODE(lks_seen_read(tree.path, &key, &got, &err),
               LKS_E_INVALID); /* as only a seal has it */
    write_file(&tree, "seen-head", "8 " HASH "\n", 0600);
    CHECK_CODE(lks_seen_read(tree.path, &key, &got, &err), LKS_OK);
    CHECK(got.seq == 8 && got.plain);
}

static const struct lks_test tests[] = {
    {"where the key comes from", test_references},
    {"who may change a program", test_changers},
    {"kept and read again", test_round_trip},
    {"secrets: what was seen", test_what_was_seen},
    {"secrets: what was seen is sealed", test_what_was_seen_is_sealed},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
