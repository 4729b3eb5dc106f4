/* The log of admissions: what is counted together, what is sampled, and that all of it is bounded.
 */
#include "base/file.h"
#include "server/auth/decisions.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

enum { TEXT_MAX = 8 << 20, SEED = 7 };

#define MINUTE (60 * LKS_SECOND)

/* An answer with one reason for each of `nodes`. */
static void answer(struct lks_decisions *d, const char *job, bool yes, bool warned,
                   enum lks_bar bar, const char *const *nodes, lks_ms at)
{
    struct lks_admit_no items[16];
    struct lks_admit a = {.yes = yes, .asked = at};
    struct lks_admit_list *list = warned ? &a.warned : &a.refused;
    for (; nodes != NULL && nodes[list->count] != NULL; list->count++) {
        items[list->count] = (struct lks_admit_no){.bar = bar,
                                                   .node = lks_str_from(nodes[list->count]),
                                                   .pool = LKS_STR("train"),
                                                   .text = LKS_STR("driver: 570 is not 580")};
        a.bars[bar]++;
    }
    list->items = items;
    list->total = list->count;
    lks_decisions_note(d, lks_str_from(job), (struct lks_str){0}, &a);
}

static const char *const two[] = {"gpu2", "gpu1", NULL};
static const char *const many[] = {"n1", "n2", "n3", "n4",  "n5", "n6",
                                   "n7", "n8", "n9", "n10", NULL};

/* All entries as JSON, newest first. */
static void list(const struct lks_decisions *d, struct lks_buf *out)
{
    static const struct lks_decided *entries[LKS_DECISIONS_MAX];
    size_t count = lks_decisions_list(d, UINT64_MAX, entries);
    lks_buf_init(out, TEXT_MAX);
    for (size_t i = 0; i < count; i++) {
        struct lks_json_writer w = {.out = out};
        lks_json_begin(&w, NULL, '{');
        lks_decisions_json(&w, entries[i]);
        lks_json_end(&w, '}');
        lks_buf_addc(out, '\n');
    }
}

static void test_counts(void)
{
    LKS_CLEANUP(lks_decisions_fini) struct lks_decisions d = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_decisions_init(&d, 1, SEED, &err), LKS_OK);
    answer(&d, "a", false, false, LKS_BAR_DRIFT, two, MINUTE);
    answer(&d, "a", false, false, LKS_BAR_DRIFT, two, 3 * MINUTE);
    answer(&d, "a", false, false, LKS_BAR_STALE, many, 3 * MINUTE);
    answer(&d, "a", true, true, LKS_BAR_DRIFT, two, 4 * MINUTE);
    answer(&d, "b", true, false, LKS_BAR_DRIFT, NULL, 5 * MINUTE);
    list(&d, &text);
    CHECK_STR(lks_buf_view(&text),
              "{\"job\":\"b\",\"count\":1,\"first\":\"1970-01-01T00:05:00.000Z\","
              "\"last\":\"1970-01-01T00:05:00.000Z\",\"admitted\":true}\n"
              "{\"job\":\"a\",\"reason\":\"drift\",\"pool\":\"train\",\"nodes\":\"gpu[1-2]\","
              "\"text\":\"driver: 570 is not 580\",\"count\":1,"
              "\"first\":\"1970-01-01T00:04:00.000Z\",\"last\":\"1970-01-01T00:04:00.000Z\","
              "\"admitted\":true}\n"
              "{\"job\":\"a\",\"reason\":\"stale\",\"pool\":\"train\",\"nodes\":\"n[1-8]\","
              "\"text\":\"driver: 570 is not 580\",\"count\":1,"
              "\"first\":\"1970-01-01T00:03:00.000Z\",\"last\":\"1970-01-01T00:03:00.000Z\","
              "\"admitted\":false}\n"
              "{\"job\":\"a\",\"reason\":\"drift\",\"pool\":\"train\",\"nodes\":\"gpu[1-2]\","
              "\"text\":\"driver: 570 is not 580\",\"count\":2,"
              "\"first\":\"1970-01-01T00:01:00.000Z\",\"last\":\"1970-01-01T00:03:00.000Z\","
              "\"admitted\":false}\n");
}

/* The user is the one that the last question named. */
static void test_users(void)
{
    static const struct {
        const char *name, *users[3], *shown;
    } rows[] = {
        {"none", {"", "", NULL}, ""},
        {"the last one", {"kim", "lee", NULL}, "lee"},
        {"a question without one changes nothing", {"kim", "", NULL}, "kim"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_decisions_fini) struct lks_decisions d = {0};
        LKS_CLEANUP(lks_decisions_fini) struct lks_decisions again = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = {0};
        static const struct lks_decided *entries[LKS_DECISIONS_MAX];
        struct lks_admit a = {.yes = true, .asked = MINUTE};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_decisions_init(&d, 1, SEED, &err), LKS_OK);
        CHECK_CODE(lks_decisions_init(&again, 1, SEED, &err), LKS_OK);
        for (size_t k = 0; rows[i].users[k] != NULL; k++)
            lks_decisions_note(&d, LKS_STR("a"), lks_str_from(rows[i].users[k]), &a);
        CHECK_INT(lks_decisions_list(&d, UINT64_MAX, entries), 1);
        CHECK_STR(lks_str_from(entries[0]->user), rows[i].shown);
        CHECK(lks_decisions_take(&d, &lines));
        lks_decisions_load(&again, lks_buf_view(&lines));
        CHECK_INT(lks_decisions_list(&again, UINT64_MAX, entries), 1);
        CHECK_STR(lks_str_from(entries[0]->user), rows[i].shown);
    }
}

static void test_sample(void)
{
    static const struct {
        const char *name;
        uint64_t sample;
        size_t noted;
    } rows[] = {{"each", 1, 100}, {"one of ten", 10, 10}, {"none", 0, 0}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_decisions_fini) struct lks_decisions d = {0};
        static const struct lks_decided *entries[LKS_DECISIONS_MAX];
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_decisions_init(&d, rows[i].sample, SEED, &err), LKS_OK);
        for (unsigned n = 0; n < 100; n++) {
            char job[16];
            snprintf(job, sizeof(job), "job%u", n);
            answer(&d, job, true, false, LKS_BAR_DRIFT, NULL, MINUTE);
        }
        CHECK_INT(lks_decisions_list(&d, UINT64_MAX, entries), rows[i].noted);
    }
}

/* What leaves as lines comes back as the same entries; what is no line of ours is passed over. */
static void test_lines(void)
{
    LKS_CLEANUP(lks_decisions_fini) struct lks_decisions d = {0};
    LKS_CLEANUP(lks_decisions_fini) struct lks_decisions again = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf more = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_decisions_init(&d, 1, SEED, &err), LKS_OK);
    CHECK_CODE(lks_decisions_init(&again, 1, SEED + 1, &err), LKS_OK);
    CHECK(!lks_decisions_take(&d, &lines));
    answer(&d, "a \"quoted\"\tjob", false, false, LKS_BAR_DRIFT, two, MINUTE);
    CHECK(lks_decisions_take(&d, &lines));
    CHECK(!lks_decisions_take(&d, &more)); /* nothing is new */
    answer(&d, "a \"quoted\"\tjob", false, false, LKS_BAR_DRIFT, two, 2 * MINUTE);
    CHECK(lks_decisions_take(&d, &more));
    CHECK_HAS(lks_buf_view(&more), "\"count\":1,\"first\":\"1970-01-01T00:02:00.000Z\"");
    lks_buf_add(&lines, LKS_STR("\n{\"job\":\"x\"}\nnonsense\n{\"job\":\"y\",\"count\":-1}\n"));
    lks_buf_add(&lines, lks_buf_view(&more));
    lks_decisions_load(&again, lks_buf_view(&lines));
    list(&d, &before);
    list(&again, &after);
    CHECK(before.len > 0 && lks_str_eq(lks_buf_view(&before), lks_buf_view(&after)));
    lks_buf_fini(&more);
    CHECK(!lks_decisions_take(&again, &more)); /* what was read is not written again */
}

/* However many jobs ask: entries are bounded, and those that make room are written down. */
static void test_bounds(void)
{
    enum { JOBS = 4 * LKS_DECISIONS_MAX };
    LKS_CLEANUP(lks_decisions_fini) struct lks_decisions d = {0};
    static const struct lks_decided *entries[LKS_DECISIONS_MAX];
    struct lks_err err = {0};
    uint64_t lines = 0;
    CHECK_CODE(lks_decisions_init(&d, 1, SEED, &err), LKS_OK);
    for (unsigned n = 0; n < JOBS; n++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        char job[16];
        snprintf(job, sizeof(job), "job%u", n);
        answer(&d, job, false, false, LKS_BAR_DRIFT, two, n * LKS_SECOND);
        if (n % 1024 == 1023 && CHECK(lks_decisions_take(&d, &text))) {
            for (size_t i = 0; i < text.len; i++)
                lines += text.ptr[i] == '\n';
        }
    }
    size_t count = lks_decisions_list(&d, UINT64_MAX, entries);
    CHECK(count <= LKS_DECISIONS_MAX && count > LKS_DECISIONS_MAX / 2);
    CHECK_INT(lines, JOBS);
    CHECK_INT(d.dropped, 0);
    CHECK_STR(lks_str_from(entries[0]->job), "job16383");
    for (unsigned n = 0; n < JOBS; n++) { /* nobody takes the lines: the rest is counted */
        char job[16];
        snprintf(job, sizeof(job), "other%u", n);
        answer(&d, job, false, false, LKS_BAR_DRIFT, two, n * LKS_SECOND);
    }
    CHECK(d.text.len <= LKS_DECISIONS_TEXT_MAX && d.dropped > 0);
}

struct found {
    size_t files;
    uint64_t most, whole;
};

static struct found look(const char *dir)
{
    struct found f = {0};
    DIR *d = opendir(dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat st = {0};
        if (fstatat(dirfd(d), e->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
            continue;
        f.files++;
        f.whole += (uint64_t)st.st_size;
        f.most = (uint64_t)st.st_size > f.most ? (uint64_t)st.st_size : f.most;
    }
    if (d != NULL)
        closedir(d);
    return f;
}

static void test_files(void)
{
    enum { BYTES = 1000, FILES = 3, LINES = 500 };
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_decision_files f = {0};
    struct lks_err err = {0};
    char dir[128], line[64];
    snprintf(dir, sizeof(dir), "%s/decisions", tree.path);
    CHECK_CODE(lks_decision_files_open(&f, dir, BYTES, FILES, &err), LKS_OK);
    CHECK_CODE(lks_decision_files_read(&f, &text, &err), LKS_OK);
    CHECK_INT(text.len, 0);
    for (unsigned i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), "line %u\n", i);
        CHECK_CODE(lks_decision_files_add(&f, lks_str_from(line), &err), LKS_OK);
        if (i == LINES / 2) /* a restart goes on where it was */
            CHECK_CODE(lks_decision_files_open(&f, dir, BYTES, FILES, &err), LKS_OK);
    }
    struct found there = look(dir);
    CHECK_INT(there.files, FILES);
    CHECK(there.most <= BYTES);
    for (unsigned i = 0; i < LINES; i++) /* many at once, and one that is too long for any */
        lks_buf_addf(&text, i == LINES / 2 ? "%02000u\n" : "line %u\n", i);
    CHECK_CODE(lks_decision_files_add(&f, lks_buf_view(&text), &err), LKS_OK);
    lks_buf_truncate(&text, 0);
    there = look(dir);
    CHECK_INT(there.files, FILES);
    CHECK(there.most <= BYTES && there.whole > BYTES);
    CHECK_CODE(lks_decision_files_read(&f, &text, &err), LKS_OK);
    CHECK(lks_str_ends(lks_buf_view(&text), "line 499\n") && text.len <= (size_t)BYTES * 2);
    CHECK(text.len > BYTES); /* the last two */
    lks_tree_free(&tree);
}

static void test_no_place(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_decision_files f = {0};
    struct lks_err err = {0};
    char dir[128];
    snprintf(dir, sizeof(dir), "%s/file", tree.path);
    CHECK_CODE(lks_file_replace(dir, LKS_STR("x"), &err), LKS_OK);
    CHECK(lks_decision_files_open(&f, dir, 1, 2, &err) != LKS_OK);
    CHECK_HAS(lks_str_from(err.msg), dir);
    CHECK(f.dir[0] == '\0'); /* untouched */
    lks_tree_free(&tree);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"by job, reason and answer", test_counts},
        {"users", test_users},
        {"yeses are sampled", test_sample},
        {"lines come back", test_lines},
        {"entries and lines are bounded", test_bounds},
        {"files are bounded", test_files},
        {"a place that is none", test_no_place},
        {0},
    };
    return lks_test_main(tests);
}
