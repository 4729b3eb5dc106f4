/* Whole machines: what is read of them, what a stack of theirs is, and that a capture replays. */
#include "base/file.h"
#include "model/tuple/tuple.h"
#include "probe/root/probes.h"
#include "tests/roots.h"
#include "tests/run_cli.h"
#include "tests/test.h"

#include <ctype.h>
#include <stdio.h>

#define TEXT_MAX ((size_t)16 << 20)

/* A temporary file that is removed with the tree it is in. */
static void write_file(const struct lks_tree *tree, const char *name, struct lks_str text,
                       char path[256])
{
    snprintf(path, 256, "%s%s", tree->path, name);
    lks_tree_bytes(tree, name, text);
}

/* Golden files ------------------------------------------------------------------------------- */

/* How long it took is no part of what a machine is. */
static void add_without_time(struct lks_str text, struct lks_buf *out)
{
    static const struct lks_str before = LKS_STR_C(", read in "), after = LKS_STR_C(" ms;");
    ptrdiff_t at = lks_str_find(text, before), end = lks_str_find(text, after);
    if (!CHECK(at > 0 && end > at))
        return;
    lks_buf_add(out, (struct lks_str){text.ptr, (size_t)at});
    size_t rest = (size_t)end + after.len - 1;
    lks_buf_add(out, (struct lks_str){text.ptr + rest, text.len - rest});
}

/* A line for each reading, so that a difference shows where it is. It stays JSON. */
static void add_broken(struct lks_str json, struct lks_buf *out)
{
    for (size_t i = 0; i < json.len; i++) {
        lks_buf_addc(out, json.ptr[i]);
        if (i + 2 < json.len && memcmp(json.ptr + i, "},{", 3) == 0) {
            lks_buf_add(out, LKS_STR(",\n"));
            i++;
        }
    }
}

static void update(const char *path, struct lks_str text)
{
    FILE *f = fopen(path, "w");
    if (!CHECK(f != NULL))
        return;
    CHECK(fwrite(text.ptr, 1, text.len, f) == text.len);
    CHECK(fclose(f) == 0);
}

/* The first line that differs is enough to know. */
static void compare(struct lks_str got, struct lks_str want, const char *path)
{
    for (unsigned line = 1; got.len > 0 || want.len > 0; line++) {
        struct lks_str a, b;
        char text[4096];
        (void)lks_str_cut(got, '\n', &a, &got);
        (void)lks_str_cut(want, '\n', &b, &want);
        if (lks_str_eq(a, b))
            continue;
        snprintf(text, sizeof(text), "%.*s", LKS_STR_ARG(b));
        lks_test_case("%s:%u", path, line);
        CHECK_STR(a, text);
        printf("    (LKS_GOLDEN_UPDATE=1 writes it anew; then look at the difference)\n");
        return;
    }
}

static void check_golden(const char *name, const char *ending, struct lks_str got)
{
    char path[256];
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf want = LKS_BUF(TEXT_MAX);
    snprintf(path, sizeof(path), "tests/golden/roots/%s.%s", name, ending);
    const char *wish = getenv("LKS_GOLDEN_UPDATE");
    if (wish != NULL && strcmp(wish, "1") == 0)
        update(path, got);
    else if (CHECK(lks_file_read(path, &want, &err) == LKS_OK))
        compare(got, lks_buf_view(&want), path);
}

static void test_golden(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        const struct lks_test_root *root = &lks_test_roots[i];
        struct lks_planted planted;
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, json = {0};
        lks_buf_init(&text, TEXT_MAX);
        lks_buf_init(&json, TEXT_MAX);
        lks_test_case("%s", root->name);
        lks_test_plant(root, &planted);
        struct lks_run run =
            lks_run((const char *[]){"inventory", "--root", planted.path, "--timeout", "60", NULL});
        CHECK_INT(run.exit, 0);
        CHECK_STR(run.err, "");
        add_without_time(run.out, &text);
        check_golden(root->name, "txt", lks_buf_view(&text));
        lks_run_fini(&run);
        run = lks_run((const char *[]){"inventory", "--root", planted.path, "--timeout", "60",
                                       "--json", NULL});
        CHECK_INT(run.exit, 0);
        add_broken(run.out, &json);
        check_golden(root->name, "json", lks_buf_view(&json));
        lks_run_fini(&run);
        lks_test_planted_free(&planted);
    }
}

/* Stacks ------------------------------------------------------------------------------------- */

static void check_conforms(const struct lks_planted *planted, struct lks_str yaml)
{
    struct lks_tree tree = lks_tree_new();
    char path[256];
    write_file(&tree, "/stack.yaml", yaml, path);
    struct lks_run run =
        lks_run((const char *[]){"conform", "--root", planted->path, "--stack", path, NULL});
    CHECK_INT(run.exit, 0);
    CHECK_HAS(run.out, ": yes: ");
    CHECK_STR(run.err, "");
    lks_run_fini(&run);
    run = lks_run((const char *[]){"stack", "check", path, NULL});
    CHECK(run.exit == 0 || run.exit == 1); /* old machines are no good stacks, but stacks */
    lks_run_fini(&run);
    lks_tree_free(&tree);
}

/* What `stack init` takes from a machine is a stack, and one that the machine conforms to. */
static void test_init_conforms(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        struct lks_planted planted;
        if (!lks_test_roots[i].golden)
            continue;
        lks_test_case("%s", lks_test_roots[i].name);
        lks_test_plant(&lks_test_roots[i], &planted);
        struct lks_run run =
            lks_run((const char *[]){"stack", "init", "--root", planted.path, NULL});
        if (CHECK_INT(run.exit, 0))
            check_conforms(&planted, run.out);
        else
            printf("%.*s\n", LKS_STR_ARG(run.out));
        lks_run_fini(&run);
        lks_test_planted_free(&planted);
    }
}

/* Machines that no stack can be taken from, and the words that say why. */
static void test_init_refuses(void)
{
    static const struct {
        const char *root;
        const char *says[16];
    } rows[] = {
        {"tests/roots/synthetic-none.tree",
         {"no GPU was found: a golden stack is for a GPU node", "no stack was written: "}},
        {"tests/roots/synthetic-half-upgraded.tree",
         {"four-numbers", "the loaded module is 580.95.05", "the module on disk 580.126.20",
          "the library 580.126.20", "the package 580.126.20", "fabric-manager-version",
          "nscq-version", "cdi-driver", "pending-mode", "MIG of gpu 0000:18:00.0",
          "MIG of gpu 0000:2a:00.0", "copies-differ", "2.27.7", "dkms-next-kernel",
          "upgrades-armed"}},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_planted planted;
        lks_test_case("%s", rows[i].root);
        lks_test_plant(&(struct lks_test_root){"", rows[i].root, false}, &planted);
        struct lks_run run =
            lks_run((const char *[]){"stack", "init", "--root", planted.path, NULL});
        CHECK_INT(run.exit, 1);
        for (size_t k = 0; k < LKS_COUNT(rows[i].says) && rows[i].says[k] != NULL; k++)
            CHECK_HAS(run.err, rows[i].says[k]);
        CHECK_STR(run.out, ""); /* it goes into a file, which is a stack or empty */
        lks_run_fini(&run);
        lks_test_planted_free(&planted);
    }
}

/* Captures ----------------------------------------------------------------------------------- */

/* Everything but what makes a machine this very one. */
static void check_same(const struct lks_tuple *a, const struct lks_tuple *b, bool secrets)
{
    CHECK_STR(lks_str_from(b->digest), a->digest);
    if (!CHECK_INT(b->count, a->count))
        return;
    for (size_t i = 0; i < a->count; i++) {
        const struct lks_reading *x = &a->readings[i], *y = &b->readings[i];
        bool same = lks_str_eq(x->name, y->name) && lks_str_eq(x->of, y->of) &&
                    lks_str_eq(x->part, y->part) && x->state == y->state;
        bool secret = !secrets && (lks_reading_kind(x->name)->secret ||
                                   lks_str_is(x->name, "settings.kernel_cmdline"));
        if (same && (secret || lks_str_eq(x->value, y->value)))
            continue;
        lks_test_case("%.*s of %.*s became '%.*s'", LKS_STR_ARG(x->name), LKS_STR_ARG(x->of),
                      LKS_STR_ARG(y->value));
        CHECK(false);
        return;
    }
}

struct search {
    const char *dir;
    const struct lks_tuple *tuple;
    size_t files;
};

/* As a word of its own, in letters of either case. */
static bool has_word(struct lks_str text, struct lks_str word)
{
    for (size_t at = 0; at + word.len <= text.len; at++) {
        size_t end = at + word.len;
        if (lks_str_eq_nocase((struct lks_str){text.ptr + at, word.len}, word) &&
            (at == 0 || !isalnum((unsigned char)text.ptr[at - 1])) &&
            (end == text.len || !isalnum((unsigned char)text.ptr[end])))
            return true;
    }
    return false;
}

/* Zeroes are what a secret becomes. */
static bool is_scrubbed(struct lks_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] != '0' && isalnum((unsigned char)value.ptr[i]))
            return false;
    }
    return true;
}

static void look_for_secrets(void *ctx, const char *path)
{
    struct search *s = ctx;
    char at[4096];
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    snprintf(at, sizeof(at), "%s%s", s->dir, path);
    if (!CHECK(lks_file_read(at, &text, &err) == LKS_OK))
        return;
    s->files++;
    for (size_t i = 0; i < s->tuple->count; i++) {
        const struct lks_reading *r = &s->tuple->readings[i];
        struct lks_str value = lks_str_trim(r->value);
        if (r->state != LKS_MEASURED || !lks_reading_kind(r->name)->secret || is_scrubbed(value) ||
            !has_word(lks_buf_view(&text), value))
            continue;
        lks_test_case("%s has %.*s of %.*s: %.*s", path, LKS_STR_ARG(r->name), LKS_STR_ARG(r->of),
                      LKS_STR_ARG(value));
        CHECK(false);
    }
}

/* Capture the tree at `path` as a user would, and read the capture. */
static struct lks_tuple recapture(const char *path, const char *into, const char *scrub)
{
    struct lks_run run = lks_run((const char *[]){"inventory", "--root", path, "--capture", into,
                                                  "--timeout", "60", "--json", scrub, NULL});
    CHECK_INT(run.exit, 0);
    CHECK_STR(run.err, "");
    lks_run_fini(&run);
    return lks_test_read(into, NULL, lks_probes, lks_probe_count);
}

static void test_capture(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        struct lks_planted planted;
        struct lks_tree plain = lks_tree_new(), scrubbed = lks_tree_new();
        lks_test_case("%s", lks_test_roots[i].name);
        lks_test_plant(&lks_test_roots[i], &planted);
        struct lks_tuple tuple = lks_test_read(planted.path, NULL, lks_probes, lks_probe_count);
        struct lks_tuple again = recapture(planted.path, plain.path, NULL);
        struct lks_tuple clean = recapture(planted.path, scrubbed.path, "--scrub");
        check_same(&tuple, &again, true);
        lks_test_case("%s, scrubbed", lks_test_roots[i].name);
        check_same(&tuple, &clean, false);
        struct search s = {scrubbed.path, &tuple, 0};
        lks_test_files(scrubbed.path, look_for_secrets, &s);
        CHECK(s.files > 10);
        lks_tuple_fini(&tuple);
        lks_tuple_fini(&again);
        lks_tuple_fini(&clean);
        lks_tree_free(&plain);
        lks_tree_free(&scrubbed);
        lks_test_planted_free(&planted);
    }
}

/* A host may be called as its GPUs are. */
static void test_common_name(void)
{
    struct lks_planted planted;
    struct lks_tree capture = lks_tree_new();
    lks_test_plant(&lks_test_roots[0], &planted);
    lks_tree_file(&planted.tree, "/proc/sys/kernel/hostname", "v100\n");
    struct lks_tuple tuple = lks_test_read(planted.path, NULL, lks_probes, lks_probe_count);
    struct lks_tuple clean = recapture(planted.path, capture.path, "--scrub");
    CHECK_STR(tuple.node, "v100");
    CHECK_STR(clean.node, "0000");
    check_same(&tuple, &clean, false);
    lks_tuple_fini(&tuple);
    lks_tuple_fini(&clean);
    lks_tree_free(&capture);
    lks_test_planted_free(&planted);
}

/* Twins -------------------------------------------------------------------------------------- */

/* What tells one node from another of the same build, as the descriptions have it. */
static const struct {
    const char *one, *other;
} own[] = {
    {"hostname synthetic-", "hostname other-"},
    {"00000000-0000-4000-8000-", "99999999-2222-4333-8444-"},
    {"A0000000000", "A7777777777"}, /* machines */
    {"product_serial ", "product_serial 7"},
    {"0324217000", "0324999777"}, /* GPUs */
    {"1650000000", "1659999777"},
    {"1320000000", "1329999777"},
    {"69200000000", "69299999777"},
    {"unique_id 0", "unique_id 7"},
    {"node_guid 0000:", "node_guid 7777:"}, /* adapters */
    {"MT0000", "MT7777"},
    {"address 00:00:", "address 02:77:"},
    {"S666NN0", "S666NN7"}, /* drives */
    {"S6CKNN0", "S6CKNN7"},
    {"CRYPT-LUKS2-0", "CRYPT-LUKS2-7"},
};

static void add_twin(struct lks_str text, struct lks_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        struct lks_str rest = {text.ptr + at, text.len - at};
        size_t i = 0;
        while (i < LKS_COUNT(own) && !lks_str_starts(rest, own[i].one))
            i++;
        if (i < LKS_COUNT(own))
            lks_buf_addf(out, "%s", own[i].other);
        else
            lks_buf_addc(out, text.ptr[at]);
        at += i < LKS_COUNT(own) ? strlen(own[i].one) : 1;
    }
}

static bool same_secrets(const struct lks_tuple *a, const struct lks_tuple *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (lks_reading_kind(a->readings[i].name)->secret &&
            !lks_str_eq(a->readings[i].value, b->readings[i].value))
            return false;
    }
    return true;
}

/* Two nodes of one build have one digest, whatever their names, serials and disks are. */
static void test_twins(void)
{
    for (size_t i = 0; i < lks_test_root_count; i++) {
        const struct lks_test_root *root = &lks_test_roots[i];
        struct lks_planted one, two;
        struct lks_err err = {0};
        char path[256];
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, twin = {0};
        lks_buf_init(&text, TEXT_MAX);
        lks_buf_init(&twin, TEXT_MAX);
        lks_test_case("%s", root->name);
        if (!root->golden || strstr(root->from, ".tree") == NULL ||
            !CHECK(lks_file_read(root->from, &text, &err) == LKS_OK))
            continue;
        add_twin(lks_buf_view(&text), &twin);
        struct lks_tree tree = lks_tree_new();
        write_file(&tree, "/twin.tree", lks_buf_view(&twin), path);
        lks_test_plant(root, &one);
        lks_test_plant(&(struct lks_test_root){"twin", path, true}, &two);
        struct lks_tuple a = lks_test_read(one.path, NULL, lks_probes, lks_probe_count);
        struct lks_tuple b = lks_test_read(two.path, NULL, lks_probes, lks_probe_count);
        CHECK(!same_secrets(&a, &b));
        check_same(&a, &b, false);
        lks_tuple_fini(&a);
        lks_tuple_fini(&b);
        lks_test_planted_free(&one);
        lks_test_planted_free(&two);
        lks_tree_free(&tree);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"roots: what is read of each machine", test_golden},
        {"roots: a machine conforms to its own stack", test_init_conforms},
        {"roots: machines no stack is taken from", test_init_refuses},
        {"roots: a capture replays, and scrubbed it keeps its meaning", test_capture},
        {"roots: a host called as its GPUs are", test_common_name},
        {"roots: two nodes of one build have one digest", test_twins},
        {0},
    });
}
