#include "base/term/table.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdlib.h>

enum { MAX_BYTES = 1024 * 1024 };

/* What a table looks like on `term`; the caller frees it. */
static char *shown(const struct lks_table *t, const struct lks_term *term)
{
    char *text = NULL;
    size_t len = 0;
    struct lks_err err = {0};
    FILE *out = open_memstream(&text, &len);
    LKS_ASSERT(out != NULL);
    CHECK_CODE(lks_table_print(t, out, term, &err), LKS_OK);
    fclose(out);
    return text;
}

static void free_text(char **text)
{
    free(*text);
}

static void fill_nodes(struct lks_table *t)
{
    lks_table_init(t, MAX_BYTES);
    lks_table_column(t, "NODE", 0);
    lks_table_column(t, "DAYS", LKS_COLUMN_RIGHT);
    lks_table_column(t, "SITE", 0);
    lks_table_column(t, "REASON", LKS_COLUMN_WRAP);

    lks_table_cell(t, LKS_PLAIN, LKS_STR("gpu-17"));
    lks_table_cellf(t, LKS_PLAIN, "%d", 7);
    lks_table_cell(t, LKS_PLAIN, LKS_STR("Zürich"));
    lks_table_cell(t, LKS_RED, LKS_STR("the driver is older than the one the golden stack names"));

    lks_table_cell(t, LKS_PLAIN, LKS_STR("gpu-18"));
    lks_table_cellf(t, LKS_PLAIN, "%d", 1200);
    lks_table_cell(t, LKS_PLAIN, LKS_STR("東京"));
    lks_table_cell(t, LKS_PLAIN, LKS_STR(""));

    lks_table_cell(t, LKS_PLAIN, LKS_STR("gpu-19"));
    lks_table_cellf(t, LKS_PLAIN, "%d", 0);
    lks_table_cell(t, LKS_PLAIN, LKS_STR(""));
    lks_table_cell(t, LKS_PLAIN, LKS_STR("see https://example.org/advisories/2026/11/15/0001"));
}

#define WHOLE                                                                                      \
    "NODE    DAYS  SITE    REASON\n"                                                               \
    "gpu-17     7  Zürich  the driver is older than the one the golden stack names\n"             \
    "gpu-18  1200  東京\n"                                                                       \
    "gpu-19     0          see https://example.org/advisories/2026/11/15/0001\n"

static const struct {
    const char *name;
    unsigned width;
    const char *text;
} widths[] = {
    {"no limit", 0, WHOLE},
    {"more room than needed", 120, WHOLE},
    {"exactly the room needed", 77, WHOLE},
    {"wrapped", 60,
     "NODE    DAYS  SITE    REASON\n"
     "gpu-17     7  Zürich  the driver is older than the one the\n"
     "                      golden stack names\n"
     "gpu-18  1200  東京\n"
     "gpu-19     0          see\n"
     "                      https://example.org/advisories/2026/11\n"
     "                      /15/0001\n"},
    {"the narrowest grid", 34,
     "NODE    DAYS  SITE    REASON\n"
     "gpu-17     7  Zürich  the driver\n"
     "                      is older\n"
     "                      than the one\n"
     "                      the golden\n"
     "                      stack names\n"
     "gpu-18  1200  東京\n"
     "gpu-19     0          see\n"
     "                      https://exam\n"
     "                      ple.org/advi\n"
     "                      sories/2026/\n"
     "                      11/15/0001\n"},
    {"a list", 30,
     "NODE: gpu-17\n"
     "DAYS: 7\n"
     "SITE: Zürich\n"
     "REASON: the driver is older\n"
     "  than the one the golden\n"
     "  stack names\n"
     "\n"
     "NODE: gpu-18\n"
     "DAYS: 1200\n"
     "SITE: 東京\n"
     "REASON:\n"
     "\n"
     "NODE: gpu-19\n"
     "DAYS: 0\n"
     "SITE:\n"
     "REASON: see\n"
     "  https://example.org/advisori\n"
     "  es/2026/11/15/0001\n"},
};

static void test_widths(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    fill_nodes(&t);
    for (size_t i = 0; i < LKS_COUNT(widths); i++) {
        lks_test_case("%s", widths[i].name);
        const struct lks_term term = {.tty = true, .width = widths[i].width};
        LKS_CLEANUP(free_text) char *text = shown(&t, &term);
        CHECK_STR(lks_str_from(text), widths[i].text);
    }
}

/* Two columns give way together, and the header wraps with its column. */
static void test_two_wrap(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "WHAT IT HAS NOW", LKS_COLUMN_WRAP);
    lks_table_column(&t, "WHAT IT SHOULD HAVE", LKS_COLUMN_WRAP | LKS_COLUMN_RIGHT);
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("one two three four five"));
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("six seven eight"));
    const struct lks_term term = {.width = 28};
    LKS_CLEANUP(free_text) char *text = shown(&t, &term);
    CHECK_STR(lks_str_from(text), "WHAT IT HAS          WHAT IT\n"
                                  "NOW              SHOULD HAVE\n"
                                  "one two three      six seven\n"
                                  "four five              eight\n");
}

/* A character that is wider than its line still takes one. */
static void test_one_column(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "A", LKS_COLUMN_WRAP);
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("東京 b"));
    const struct lks_term term = {.tty = true, .width = 1};
    LKS_CLEANUP(free_text) char *text = shown(&t, &term);
    CHECK_HAS(lks_str_from(text), "京");
    CHECK_HAS(lks_str_from(text), "b");
}

static void test_drop(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "A", 0);
    lks_table_column(&t, "B", LKS_COLUMN_RIGHT);
    lks_table_column(&t, "C", 0);
    for (size_t i = 0; i < 2; i++) {
        lks_table_cell(&t, LKS_PLAIN, LKS_STR("a"));
        lks_table_cell(&t, LKS_PLAIN, LKS_STR("long"));
        lks_table_cell(&t, LKS_PLAIN, LKS_STR("c"));
    }
    const struct lks_term term = {0};
    lks_table_drop(&t, 1);
    LKS_CLEANUP(free_text) char *two = shown(&t, &term);
    CHECK_STR(lks_str_from(two), "A  C\na  c\na  c\n");
    lks_table_drop(&t, 1);
    LKS_CLEANUP(free_text) char *one = shown(&t, &term);
    CHECK_STR(lks_str_from(one), "A\na\na\n");
}

static void test_colour(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "A", 0);
    lks_table_column(&t, "B", LKS_COLUMN_WRAP);
    lks_table_cell(&t, LKS_GREEN, LKS_STR("ok"));
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("x"));
    const struct lks_term term = {.tty = true, .colour = true, .width = 80};
    LKS_CLEANUP(free_text) char *text = shown(&t, &term);
    CHECK_STR(lks_str_from(text), "\033[1mA\033[0m   \033[1mB\033[0m\n\033[32mok\033[0m  x\n");
}

static void test_hostile_cells(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "A", 0);
    lks_table_column(&t, "B", 0);
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("\033[2J\nx\xff  "));
    lks_table_cell(&t, LKS_PLAIN, LKS_STR("y   "));
    const struct lks_term term = {0};
    LKS_CLEANUP(free_text) char *text = shown(&t, &term);
    CHECK_STR(lks_str_from(text), "A        B\n?[2J?x?  y\n");
}

static void test_no_rows(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    lks_table_init(&t, MAX_BYTES);
    lks_table_column(&t, "A", 0);
    lks_table_column(&t, "B", 0);
    const struct lks_term term = {.width = 80};
    LKS_CLEANUP(free_text) char *text = shown(&t, &term);
    CHECK_STR(lks_str_from(text), "A  B\n");
}

/* The first failure stays, and nothing half filled is shown. */
static void test_ceiling(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    struct lks_err err = {0};
    lks_table_init(&t, 1000);
    lks_table_column(&t, "A", 0);
    for (int i = 0; i < 1000; i++)
        lks_table_cellf(&t, LKS_PLAIN, "row %d", i);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    const struct lks_term term = {0};
    CHECK_CODE(lks_table_print(&t, out, &term, &err), LKS_E_LIMIT);
    fclose(out);
    CHECK_INT(len, 0);
    free(text);
}

/* A stream that takes nothing is noticed. */
static void test_full_disk(void)
{
    LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
    struct lks_err err = {0};
    fill_nodes(&t);
    FILE *out = fopen("/dev/full", "w");
    if (!CHECK(out != NULL))
        return;
    const struct lks_term term = {0};
    CHECK_CODE(lks_table_print(&t, out, &term, &err), LKS_E_IO);
    fclose(out);
}

static void add_random_cell(struct lks_table *t, struct lks_rng *rng)
{
    static const char *const parts[] = {
        "a", "ü", "東", " ", "  ", "word", "\n", "\xff", "u\xcc\x88", "sha256:0123456789abcdef",
        "-"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(4096);
    for (uint64_t n = lks_rng_below(rng, 20); n > 0; n--)
        lks_buf_add(&text, lks_str_from(parts[lks_rng_below(rng, LKS_COUNT(parts))]));
    lks_table_cell(t, LKS_PLAIN, lks_buf_view(&text));
}

/* Everything but blanks, since only blanks may move. */
static void add_letters(struct lks_buf *out, struct lks_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != ' ' && text.ptr[i] != '\n')
            lks_buf_addc(out, text.ptr[i]);
    }
}

static void check_lines(struct lks_str text, size_t width, bool list)
{
    struct lks_str line;
    while (lks_str_cut(text, '\n', &line, &text)) {
        CHECK(line.len == 0 || line.ptr[line.len - 1] != ' ');
        CHECK(list || lks_term_columns(line) <= width);
    }
    CHECK_INT(text.len, 0);
}

/* At any width: no line is too long or ends in a blank, and with one column, where the order of
 * what is printed is that of the cells, no letter is lost. */
static void test_property(void)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_table_fini) struct lks_table t = {0};
        lks_table_init(&t, MAX_BYTES);
        size_t columns = 1 + lks_rng_below(&rng, 4);
        for (size_t i = 0; i < columns; i++)
            lks_table_column(&t, "H", (unsigned)lks_rng_below(&rng, 4) | LKS_COLUMN_WRAP);
        for (size_t i = 0; i < 8 * columns; i++)
            add_random_cell(&t, &rng);

        const struct lks_term narrow = {.width = 12 + (unsigned)lks_rng_below(&rng, 100)};
        const struct lks_term endless = {0};
        LKS_CLEANUP(free_text) char *got = shown(&t, &narrow);
        LKS_CLEANUP(free_text) char *whole = shown(&t, &endless);
        bool list = lks_str_starts(lks_str_from(got), "H:");
        check_lines(lks_str_from(got), narrow.width, list);

        LKS_CLEANUP(lks_buf_fini) struct lks_buf a = {0}, b = {0};
        lks_buf_init(&a, MAX_BYTES);
        lks_buf_init(&b, MAX_BYTES);
        add_letters(&a, lks_str_from(got));
        add_letters(&b, lks_str_from(whole));
        CHECK(list || a.len == b.len);
        if (columns == 1)
            CHECK(lks_str_eq(lks_buf_view(&a), lks_buf_view(&b)));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"table: widths", test_widths},
        {"table: two columns wrap", test_two_wrap},
        {"table: one column", test_one_column},
        {"table: a column less", test_drop},
        {"table: colour", test_colour},
        {"table: hostile cells", test_hostile_cells},
        {"table: no rows", test_no_rows},
        {"table: ceiling", test_ceiling},
        {"table: full disk", test_full_disk},
        {"table: property", test_property},
        {0},
    });
}
