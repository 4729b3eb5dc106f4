#include "base/term/term.h"

#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *text;
    size_t columns;
} texts[] = {
    {"empty", "", 0},
    {"ASCII", "gpu-17", 6},
    {"two-byte letters", "Zürich", 6},
    {"a combining accent", "Zu\xcc\x88rich", 6},
    {"East Asian", "東京", 4},
    {"Hangul", "서울", 4},
    {"half-width katakana", "ﾄｳｷｮｳ", 5},
    {"full-width letters", "ＡＢ", 4},
    {"an emoji", "🚀", 2},
    {"a check mark", "✅", 2},
    {"a thin check mark", "✓", 1},
    {"the last wide character", "\xf0\xbf\xbf\xbd", 2},
    {"after the last wide character", "\xf1\x80\x80\x80", 1},
    {"controls of both sets", "\a\x7f\xc2\x9b", 0},
    {"zero width joiner",
     "a\xe2\x80\x8d"
     "b",
     2},
    {"bytes that are not UTF-8", "\xff\xfe", 2},
    {"half a character", "a\xe6\x9d", 3},
};

static void test_columns(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        CHECK_INT(lks_term_columns(lks_str_from(texts[i].text)), texts[i].columns);
    }
}

static const struct {
    const char *name;
    const char *text;
    size_t columns;
    size_t bytes;
} fits[] = {
    {"nothing into nothing", "", 0, 0},
    {"all of it", "abc", 3, 3},
    {"part of it", "abc", 2, 2},
    {"no half of a wide character", "東京", 3, 3},
    {"an accent stays with its letter", "u\xcc\x88r", 1, 3},
    {"a bad byte is one column", "\xff\xff", 1, 1},
};

static void test_fit(void)
{
    for (size_t i = 0; i < LKS_COUNT(fits); i++) {
        lks_test_case("%s", fits[i].name);
        CHECK_INT(lks_term_fit(lks_str_from(fits[i].text), fits[i].columns), fits[i].bytes);
    }
}

static const struct {
    const char *name;
    const char *text;
    const char *clean;
} cleaned[] = {
    {"plain text", "node gpu-17 ✓", "node gpu-17 ✓"},
    {"an escape sequence", "\033[31mred", "?[31mred"},
    {"the same in one character",
     "\xc2\x9b"
     "31mred",
     "?31mred"},
    {"lines and tabs", "a\nb\tc\r", "a?b?c?"},
    {"text turned around",
     "a\xe2\x80\xae"
     "b",
     "a?b"},
    {"not UTF-8",
     "a\xff"
     "b",
     "a?b"},
};

static void test_clean(void)
{
    for (size_t i = 0; i < LKS_COUNT(cleaned); i++) {
        lks_test_case("%s", cleaned[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(100);
        lks_term_clean(&out, lks_str_from(cleaned[i].text));
        CHECK_STR(lks_buf_view(&out), cleaned[i].clean);
    }
}

static void test_colours(void)
{
    const struct lks_term dull = {.tty = true}, bright = {.tty = true, .colour = true};
    for (enum lks_colour c = 0; c < LKS_COLOUR_COUNT; c++) {
        lks_test_case("colour %d", (int)c);
        CHECK_STR(lks_str_from(lks_term_on(&dull, c)), "");
        CHECK_STR(lks_str_from(lks_term_off(&dull, c)), "");
        bool shown = c != LKS_PLAIN;
        CHECK(lks_str_starts(lks_str_from(lks_term_on(&bright, c)), "\033[") == shown);
        CHECK_STR(lks_str_from(lks_term_off(&bright, c)), shown ? "\033[0m" : "");
    }
}

/* What lks_term_of() makes of a terminal `size` columns wide in an environment. */
static const struct {
    const char *name;
    unsigned short size; /* 0: it does not know */
    const char *columns;
    const char *no_color;
    const char *type;
    bool colour;
    unsigned width;
} terminals[] = {
    {"plain", 132, NULL, NULL, "xterm", true, 132},
    {"its size before $COLUMNS", 132, "60", NULL, "xterm", true, 132},
    {"$COLUMNS", 0, "60", NULL, "xterm", true, 60},
    {"$COLUMNS of nonsense", 0, "wide", NULL, "xterm", true, 80},
    {"$COLUMNS of zero", 0, "0", NULL, "xterm", true, 80},
    {"$COLUMNS beyond reason", 0, "1000000", NULL, "xterm", true, 80},
    {"neither", 0, NULL, NULL, "xterm", true, 80},
    {"$NO_COLOR", 80, NULL, "1", "xterm", false, 80},
    {"empty $NO_COLOR", 80, NULL, "", "xterm", true, 80},
    {"dumb", 80, NULL, NULL, "dumb", false, 80},
    {"no $TERM", 80, NULL, NULL, NULL, false, 80},
    {"empty $TERM", 80, NULL, NULL, "", false, 80},
    {"no $TERM, its size", 132, NULL, NULL, NULL, false, 132},
};

static void put_env(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void test_terminals(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (!CHECK(master >= 0) || !CHECK(grantpt(master) == 0) || !CHECK(unlockpt(master) == 0))
        return;
    int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!CHECK(stream != NULL))
        return;

    for (size_t i = 0; i < LKS_COUNT(terminals); i++) {
        lks_test_case("%s", terminals[i].name);
        struct winsize size = {.ws_col = terminals[i].size};
        CHECK(ioctl(master, TIOCSWINSZ, &size) == 0);
        put_env("COLUMNS", terminals[i].columns);
        put_env("NO_COLOR", terminals[i].no_color);
        put_env("TERM", terminals[i].type);

        struct lks_term term = {0};
        lks_term_of(stream, &term);
        CHECK(term.tty);
        CHECK(term.colour == terminals[i].colour);
        /* $NO_COLOR is about colour alone. */
        CHECK(term.cursor == (terminals[i].colour || terminals[i].no_color != NULL));
        CHECK_INT(term.width, terminals[i].width);
    }
    fclose(stream);
    close(master);
}

/* A program that reads us gets whole lines without colour, whatever the environment. */
static void test_not_a_terminal(void)
{
    put_env("COLUMNS", "60");
    put_env("TERM", "xterm");
    char *text = NULL;
    size_t len = 0;
    FILE *streams[] = {open_memstream(&text, &len), tmpfile()};
    for (size_t i = 0; i < LKS_COUNT(streams); i++) {
        lks_test_case("stream %zu", i);
        if (!CHECK(streams[i] != NULL))
            continue;
        struct lks_term term = {.tty = true, .colour = true, .cursor = true, .width = 7};
        lks_term_of(streams[i], &term);
        CHECK(!term.tty && !term.colour && !term.cursor);
        CHECK_INT(term.width, 0);
        fclose(streams[i]);
    }
    free(text);
}

static const struct {
    const char *name, *text;
    size_t at, indent, columns;
    const char *printed;
} flows[] = {
    {"nothing", "", 0, 0, 10, "\n"},
    {"it fits", "one two", 0, 0, 7, "one two\n"},
    {"a column too few", "one two", 0, 0, 6, "one\ntwo\n"},
    {"behind an indent", "one two six", 4, 4, 11, "one two\n    six\n"},
    {"a word longer than a line", "a longer_than_that b", 0, 1, 6, "a\n longer_than_that\n b\n"},
    {"wide characters", "東京 東京", 0, 0, 8, "東京\n東京\n"},
    {"blanks are one space", " a \t  b ", 0, 0, 80, "a b\n"},
};

static void test_flow(void)
{
    for (size_t i = 0; i < LKS_COUNT(flows); i++) {
        char *text = NULL;
        size_t len = 0;
        lks_test_case("%s", flows[i].name);
        FILE *out = open_memstream(&text, &len);
        CHECK(out != NULL);
        lks_term_flow(out, lks_str_from(flows[i].text), flows[i].at, flows[i].indent,
                      flows[i].columns);
        fclose(out);
        CHECK_STR(((struct lks_str){text, len}), flows[i].printed);
        free(text);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"term: columns", test_columns},
        {"term: fit", test_fit},
        {"term: clean", test_clean},
        {"term: colours", test_colours},
        {"term: terminals", test_terminals},
        {"term: not a terminal", test_not_a_terminal},
        {"term: flow", test_flow},
        {0},
    });
}
