#include "base/term/progress.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdlib.h>

struct report {
    uint64_t done;
    lks_ms now;
};

/* What a row of reports leaves on a stream; it ends at the time of the last one. */
static const struct {
    const char *name;
    bool tty;
    unsigned width;
    uint64_t total;
    struct report reports[8];
    size_t count;
    const char *text;
} runs[] = {
    {"drawn in place",
     true,
     80,
     2742,
     {{0, 0}, {1234, 500}, {2742, 1000}},
     3,
     "\rflash [..............................]   0 %  0/2,742"
     "\rflash [#############.................]  45 %  1,234/2,742"
     "\rflash [##############################] 100 %  2,742/2,742"
     "\rflash [##############################] 100 %  2,742/2,742  1.0 s\n"},
    {"at most every 100 ms",
     true,
     80,
     10,
     {{1, 1000}, {2, 1099}, {3, 1100}, {4, 1199}},
     4,
     "\rflash [###...........................]  10 %  1/10"
     "\rflash [#########.....................]  30 %  3/10"
     "\rflash [############..................]  40 %  4/10  0.1 s\n"},
    {"a shorter bar",
     true,
     40,
     10,
     {{5, 0}},
     1,
     "\rflash [#########..........]  50 %  5/10"
     "\rflash [######......]  50 %  5/10  0.0 s\n"},
    {"no room for a bar, and blanks over what was longer",
     true,
     28,
     10,
     {{5, 0}},
     1,
     "\rflash [###....]  50 %  5/10"
     "\rflash  50 %  5/10  0.0 s   \n"},
    {"no room for a label", true, 20, 10, {{5, 0}}, 1, "\rflash  50 %  5/10\r 50 %  5/10  0.0 s\n"},
    {"no room but for a number", true, 8, 10, {{5, 0}}, 1, "\r 50 %\r 50 %\n"},
    {"a clock set back",
     true,
     80,
     10,
     {{1, 5000}, {2, 1000}},
     2,
     "\rflash [###...........................]  10 %  1/10"
     "\rflash [######........................]  20 %  2/10  0.0 s\n"},
    {"plain lines for each tenth",
     false,
     0,
     100,
     {{0, 0}, {9, 10}, {10, 20}, {19, 30}, {45, 40}, {46, 50}, {100, 2000}},
     7,
     "flash: 10 %, 10/100\n"
     "flash: 45 %, 45/100\n"
     "flash: 100 %, 100/100, 2.0 s\n"},
    {"plain lines every ten seconds",
     false,
     0,
     1000000,
     {{1, 0}, {2, 9999}, {3, 10000}, {4, 19999}, {5, 20000}},
     5,
     "flash: 0 %, 3/1,000,000\n"
     "flash: 0 %, 5/1,000,000\n"
     "flash: 0 %, 5/1,000,000, 20.0 s\n"},
    {"nothing to do", false, 0, 0, {{0, 0}}, 1, "flash: 100 %, 0/0, 0.0 s\n"},
    {"never begun", false, 0, 5, {{0, 0}}, 0, "flash: 0 %, 0/5, 0.0 s\n"},
    {"more than the total", false, 0, 5, {{6, 1500}}, 1, "flash: 100 %, 6/5, 0.0 s\n"},
    {"nearly all of very much",
     false,
     0,
     UINT64_MAX,
     {{UINT64_MAX - 1, 0}},
     1,
     "flash: 99 %, 18,446,744,073,709,551,614/18,446,744,073,709,551,615\n"
     "flash: 99 %, 18,446,744,073,709,551,614/18,446,744,073,709,551,615, 0.0 s\n"},
};

static void free_text(char **text)
{
    free(*text);
}

static void test_runs(void)
{
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        lks_test_case("%s", runs[i].name);
        const struct lks_term term = {.tty = runs[i].tty, .width = runs[i].width};
        LKS_CLEANUP(free_text) char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        LKS_ASSERT(out != NULL);

        struct lks_progress p = {0};
        lks_progress_init(&p, out, &term, "flash", runs[i].total);
        lks_ms now = 0;
        for (size_t n = 0; n < runs[i].count; n++) {
            now = runs[i].reports[n].now;
            lks_progress_at(&p, runs[i].reports[n].done, now);
        }
        lks_progress_end(&p, now);
        fclose(out);
        CHECK_STR(lks_str_from(text), runs[i].text);
    }
}

/* How long it will still take, once a tenth is done: seconds, or minutes where they are many; where
 * there is no room it is the last to go but for the percentage. */
static void test_left(void)
{
    static const struct {
        struct report report;
        lks_ms left;
    } reports[] = {{{0, 0}, 0},
                   {{99, 10000}, 190000},
                   {{100, 20000}, 180000},
                   {{500, 100000}, 99600},
                   {{900, 6900000}, 767000},
                   {{1000, 7000000}, 0}};
    static const struct {
        const char *name;
        struct lks_term term;
        const char *text;
    } rows[] = {
        {"a pipe",
         {0},
         "flash: 9 %, 99/1,000\nflash: 10 %, 100/1,000, 180 s left\n"
         "flash: 50 %, 500/1,000, 100 s left\nflash: 90 %, 900/1,000, 13 min left\n"
         "flash: 100 %, 1,000/1,000, 7,000.0 s\n"},
        {"a narrow terminal",
         {.tty = true, .width = 20},
         "\r  0 %  0/1,000\r  9 %  99/1,000\r 10 %  180 s left\r 50 %  100 s left\r"
         " 90 %  13 min left\r100 %  1,000/1,000\r100 %             \n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(free_text) char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        LKS_ASSERT(out != NULL);
        struct lks_progress p = {0};
        lks_test_case("%s", rows[i].name);
        lks_progress_init(&p, out, &rows[i].term, "flash", 1000);
        for (size_t k = 0; k < LKS_COUNT(reports); k++) {
            p.left = reports[k].left;
            lks_progress_at(&p, reports[k].report.done, reports[k].report.now);
        }
        lks_progress_end(&p, reports[LKS_COUNT(reports) - 1].report.now);
        fclose(out);
        CHECK_STR(lks_str_from(text), rows[i].text);
    }
}

/* On any terminal wide enough for a percentage, with any label: no drawing is too wide, and each
 * covers the one before it. */
static void run_seed(uint64_t seed, FILE *out)
{
    static const char *const labels[] = {"", "flash", "東京 flash", "a\033[2Jb", "Zu\xcc\x88rich"};
    struct lks_rng rng = {seed};
    const struct lks_term term = {.tty = true, .width = 6 + (unsigned)lks_rng_below(&rng, 100)};
    struct lks_progress p = {0};
    uint64_t total = lks_rng_below(&rng, UINT64_C(1) << lks_rng_below(&rng, 40)), done = 0;
    lks_progress_init(&p, out, &term, labels[lks_rng_below(&rng, LKS_COUNT(labels))], total);
    for (lks_ms now = 0; now < 5000; now += lks_rng_below(&rng, 300)) {
        done += lks_rng_below(&rng, total / 10 + 1);
        p.left = lks_rng_below(&rng, 10000000);
        lks_progress_at(&p, done, now);
        CHECK(p.columns < term.width);
    }
    lks_progress_end(&p, 5000);
    CHECK(p.columns < term.width);
}

static void check_drawings(struct lks_str text)
{
    struct lks_str drawing;
    size_t before = 0;
    bool more = lks_str_cut(text, '\r', &drawing, &text);
    CHECK_INT(drawing.len, 0);
    while (more) {
        more = lks_str_cut(text, '\r', &drawing, &text);
        size_t columns = lks_term_columns(drawing);
        CHECK(columns >= before);
        while (drawing.len > 0 && drawing.ptr[drawing.len - 1] == ' ')
            drawing.len--;
        before = lks_term_columns(drawing);
    }
}

static void test_property(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        lks_test_case("seed %d", (int)seed);
        LKS_CLEANUP(free_text) char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        LKS_ASSERT(out != NULL);
        run_seed(seed, out);
        fclose(out);
        check_drawings(lks_str_from(text));
        CHECK(memchr(text, '\033', len) == NULL);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"progress: runs", test_runs},
        {"progress: how long it will still take", test_left},
        {"progress: property", test_property},
        {0},
    });
}
