#include "codec/format/csv.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/test.h"

#include <stdio.h>

enum { ARENA_MAX = 1024 * 1024, TABLES = 3000, CELLS_MAX = 64 };

/* Append every row as "line:field|field;", the header first. */
static enum lks_code show(struct lks_str text, struct lks_arena *arena, struct lks_buf *out,
                          struct lks_err *err)
{
    struct lks_csv csv;
    if (lks_csv_open(&csv, text, arena, err) != LKS_OK)
        return err->code;
    const struct lks_str *fields = csv.names;
    for (bool more = true; more;) {
        lks_buf_addf(out, "%u:", csv.line);
        for (size_t i = 0; i < csv.columns; i++)
            lks_buf_addf(out, "%s%" LKS_STR_FMT, i > 0 ? "|" : "", LKS_STR_ARG(fields[i]));
        lks_buf_addc(out, ';');
        fields = csv.fields;
        if (lks_csv_next(&csv, &more, err) != LKS_OK)
            return err->code;
    }
    return lks_buf_check(out, err);
}

static const struct {
    const char *name;
    const char *text;
    const char *rows;    /* NULL where it is refused */
    const char *message; /* then */
} texts[] = {
    {"header only", "a,b", "1:a|b;", NULL},
    {"a row", "a,b\n1,2\n", "1:a|b;2:1|2;", NULL},
    {"no final newline", "a,b\n1,2", "1:a|b;2:1|2;", NULL},
    {"CRLF", "a,b\r\n1,2\r\n", "1:a|b;2:1|2;", NULL},
    {"comments", "# what\n#,,\"\na,b\n# more\r\n1,2\n#", "3:a|b;5:1|2;", NULL},
    {"blank lines", "\n\r\na\n\n1\n\n", "3:a;5:1;", NULL},
    {"empty fields", "a,b,c\n,,\n", "1:a|b|c;2:||;", NULL},
    {"one empty field", "a\n\"\"\n", "1:a;2:;", NULL},
    {"blanks belong to the field", "a, b\n 1 ,2 \n", "1:a| b;2: 1 |2 ;", NULL},
    {"quotes", "a,b\n\"1,1\",\"2\"\n", "1:a|b;2:1,1|2;", NULL},
    {"doubled quotes", "a\n\"say \"\"hi\"\"\"\n", "1:a;2:say \"hi\";", NULL},
    {"only quotes", "a\n\"\"\"\"\n", "1:a;2:\";", NULL},
    {"lines inside quotes", "a,b\n\"x\ny\r\nz\",2\n3,4\n", "1:a|b;2:x\ny\r\nz|2;5:3|4;", NULL},
    {"quoted hash is no comment", "a\n\"#1\"\n", "1:a;2:#1;", NULL},
    {"hash inside", "a,b\n1,#2\n", "1:a|b;2:1|#2;", NULL},
    {"byte order mark",
     "\xef\xbb\xbf"
     "a\n1\n",
     "1:a;2:1;", NULL},
    {"mark before a comment", "\xef\xbb\xbf# x\na\n", "2:a;", NULL},
    {"UTF-8", "a\n\xc3\xa9\n", "1:a;2:\xc3\xa9;", NULL},

    {"empty", "", NULL, "line 1: no row that names the columns"},
    {"only comments", "# a\n# b\n", NULL, "line 3: no row that names the columns"},
    {"too few fields", "a,b\n1\n", NULL, "line 2: 1 field where the header has 2"},
    {"too many fields", "a\n\n1,2\n", NULL, "line 3: 2 fields where the header has 1"},
    {"comma at the end", "a,b\n1,2,\n", NULL, "line 2: 3 fields where the header has 2"},
    {"same name twice", "a,b,a\n", NULL, "line 1: columns 1 and 3 are both called 'a'"},
    {"no name", "a,,c\n", NULL, "line 1: column 2 has no name"},
    {"quote left open", "a\n1\n\"2\n3\n", NULL,
     "line 3: the quote that starts here is never closed"},
    {"quote at the very end", "a\n\"", NULL, "line 2: the quote that starts here is never closed"},
    {"text after a quote", "a\n\"1\"2\n", NULL, "line 2: text after a closing quote"},
    {"blank after a quote", "a,b\n\"1\" ,2\n", NULL, "line 2: text after a closing quote"},
    {"quote inside a field", "a\n5\" rack\n", NULL,
     "line 2: a quote inside a field that does not start with one"},
    {"carriage return alone", "a\r1\r", NULL, "line 1: a carriage return without a line feed"},
    {"not UTF-8", "a\nb\xff\n", NULL, "line 2: not UTF-8"},
    {"UTF-16",
     "\xff\xfe"
     "a\n",
     NULL, "line 1: not UTF-8"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(ARENA_MAX);
        struct lks_err err = {0};
        lks_arena_init(&arena, ARENA_MAX);

        enum lks_code code = show(lks_str_from(texts[i].text), &arena, &shown, &err);
        CHECK_CODE(code, texts[i].rows != NULL ? LKS_OK : LKS_E_INVALID);
        if (texts[i].rows != NULL)
            CHECK_STR(lks_buf_view(&shown), texts[i].rows);
        else
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
    }
}

static void test_columns(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_csv csv;
    struct lks_err err = {0};
    lks_arena_init(&arena, ARENA_MAX);
    if (!CHECK_CODE(lks_csv_open(&csv, LKS_STR("xid,name\n79,x\n"), &arena, &err), LKS_OK))
        return;
    CHECK_INT(lks_csv_column(&csv, "xid"), 0);
    CHECK_INT(lks_csv_column(&csv, "name"), 1);
    CHECK_INT(lks_csv_column(&csv, "nam"), -1);
    CHECK_INT(lks_csv_column(&csv, "79"), -1);
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CSV_BYTES_MAX + 1);
    struct lks_csv csv;
    struct lks_err err = {0};
    bool more = true;
    lks_arena_init(&arena, 16);

    lks_buf_addc(&text, 'c');
    for (unsigned i = 1; i < LKS_CSV_COLUMNS_MAX; i++)
        lks_buf_addf(&text, ",c%u", i);
    CHECK_CODE(lks_csv_open(&csv, lks_buf_view(&text), &arena, &err), LKS_OK);
    lks_buf_add(&text, LKS_STR(",more"));
    CHECK_CODE(lks_csv_open(&csv, lks_buf_view(&text), &arena, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "line 1: more than 32 fields");

    lks_buf_truncate(&text, 0);
    lks_buf_pad(&text, 'a', LKS_CSV_BYTES_MAX);
    CHECK_CODE(lks_csv_open(&csv, lks_buf_view(&text), &arena, &err), LKS_OK);
    lks_buf_addc(&text, '\n');
    CHECK_CODE(lks_csv_open(&csv, lks_buf_view(&text), &arena, &err), LKS_E_LIMIT);

    /* Only a field with a doubled quote takes memory, and it takes the caller's. */
    struct lks_str wide = LKS_STR("a\n\"a long field with \"\" in it\"\n");
    CHECK_CODE(lks_csv_open(&csv, wide, &arena, &err), LKS_OK);
    CHECK_CODE(lks_csv_next(&csv, &more, &err), LKS_E_LIMIT);
    CHECK_HAS(lks_str_from(err.msg), "line 2: ");

    CHECK_CODE(lks_csv_open(&csv, (struct lks_str){"a\n\0\n", 4}, &arena, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "line 2: a zero byte");
}

/* A table of random fields, written with quotes wherever they may stand. */
struct table {
    size_t columns, cells;
    char cell[CELLS_MAX][8];
};

static void random_table(struct lks_rng *rng, struct table *t)
{
    static const char bytes[] = "ab,\"\n\r# ";
    t->columns = 1 + lks_rng_below(rng, 4);
    t->cells = t->columns * (1 + lks_rng_below(rng, CELLS_MAX / 4));
    for (size_t i = 0; i < t->cells; i++) {
        size_t len = lks_rng_below(rng, sizeof(t->cell[i]));
        for (size_t j = 0; j < len; j++)
            t->cell[i][j] = bytes[lks_rng_below(rng, sizeof(bytes) - 1)];
        t->cell[i][len] = '\0';
        if (i < t->columns)
            snprintf(t->cell[i], sizeof(t->cell[i]), "\"%d", (int)(i % 10));
    }
}

static void write_cell(const char *cell, bool quote, struct lks_buf *out)
{
    if (!quote) {
        lks_buf_add(out, lks_str_from(cell));
        return;
    }
    lks_buf_addc(out, '"');
    for (; *cell != '\0'; cell++)
        lks_buf_addf(out, "%s%c", *cell == '"' ? "\"" : "", *cell);
    lks_buf_addc(out, '"');
}

static void write_table(struct lks_rng *rng, const struct table *t, struct lks_buf *out)
{
    for (size_t i = 0; i < t->cells; i++) {
        const char *cell = t->cell[i];
        bool needed = cell[strcspn(cell, ",\"\n\r#")] != '\0' || cell[0] == '\0';
        write_cell(cell, needed || lks_rng_percent(rng, 20), out);
        bool last = i % t->columns == t->columns - 1;
        lks_buf_add(out, !last                      ? LKS_STR(",")
                         : lks_rng_percent(rng, 50) ? LKS_STR("\r\n")
                                                    : LKS_STR("\n"));
    }
}

static void check_table(const struct table *t, struct lks_str text)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_csv csv;
    struct lks_err err = {0};
    lks_arena_init(&arena, ARENA_MAX);
    if (!CHECK_CODE(lks_csv_open(&csv, text, &arena, &err), LKS_OK))
        return;
    CHECK_INT(csv.columns, t->columns);
    size_t cell = t->columns;
    for (bool more = true; more;) {
        if (!CHECK_CODE(lks_csv_next(&csv, &more, &err), LKS_OK))
            return;
        for (size_t i = 0; more && i < csv.columns; i++)
            CHECK_STR(csv.fields[i], t->cell[cell++]);
    }
    CHECK_INT(cell, t->cells);
}

static void test_round_trip(void)
{
    for (uint64_t seed = 0; seed < TABLES; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ARENA_MAX);
        struct table t;
        random_table(&rng, &t);
        write_table(&rng, &t, &text);
        check_table(&t, lks_buf_view(&text));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"csv texts", test_texts},
        {"csv columns", test_columns},
        {"csv limits", test_limits},
        {"csv round trip", test_round_trip},
        {0},
    });
}
