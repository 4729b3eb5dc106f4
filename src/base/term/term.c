#include "base/term/term.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, WIDTH_MAX = 10000 };

struct range {
    uint32_t first;
    uint32_t last;
};

/* The blocks people meet in names and messages; rare scripts count one column a character. Both
 * tables are in order. */
static const struct range zero[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
    {0x05c4, 0x05c5}, {0x05c7, 0x05c7},   {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670},
    {0x06d6, 0x06dc}, {0x06df, 0x06e4},   {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948},   {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x2060, 0x2064},
    {0x20d0, 0x20f0}, {0x302a, 0x302d},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x23f0, 0x23f0},   {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},
    {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x1b2ff}, {0x1f004, 0x1f004},
    {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
    {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
    {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e},
    {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e},
    {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
    {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
    {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7f0},
    {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};

static bool listed(uint32_t point, const struct range *ranges, size_t count)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (point > ranges[low + half].last) {
            low += half + 1;
            count -= half + 1;
        } else if (point < ranges[low + half].first) {
            count = half;
        } else {
            return true;
        }
    }
    return false;
}

/* The character at `at`: its length in bytes, at least one, and the columns it takes. */
static size_t glyph(struct lks_str s, size_t at, unsigned *columns)
{
    uint32_t point;
    size_t len = lks_str_rune(s, at, &point);
    *columns = 1;
    if (len == 0)
        return 1;
    if (!lks_str_rune_printable(point) || listed(point, zero, LKS_COUNT(zero)))
        *columns = 0;
    else if (listed(point, wide, LKS_COUNT(wide)))
        *columns = 2;
    return len;
}

size_t lks_term_columns(struct lks_str s)
{
    size_t sum = 0;
    for (size_t at = 0; at < s.len;) {
        unsigned columns;
        at += glyph(s, at, &columns);
        sum += columns;
    }
    return sum;
}

size_t lks_term_fit(struct lks_str s, size_t columns)
{
    size_t at = 0;
    while (at < s.len) {
        unsigned needed;
        size_t len = glyph(s, at, &needed);
        if (needed > columns)
            break;
        columns -= needed;
        at += len;
    }
    return at;
}

void lks_term_clean(struct lks_buf *out, struct lks_str s)
{
    for (size_t at = 0; at < s.len;) {
        uint32_t point = 0;
        size_t len = lks_str_rune(s, at, &point);
        if (len > 0 && lks_str_rune_printable(point))
            lks_buf_add(out, (struct lks_str){s.ptr + at, len});
        else
            lks_buf_addc(out, '?');
        at += len > 0 ? len : 1;
    }
}

static unsigned terminal_width(const struct winsize *size)
{
    if (size->ws_col > 0)
        return size->ws_col;
    const char *columns = getenv("COLUMNS");
    uint64_t width;
    if (columns != NULL && lks_str_number(lks_str_from(columns), WIDTH_MAX, &width) && width > 0)
        return (unsigned)width;
    return DEFAULT_WIDTH;
}

/* Whether it knows more than letters. */
static bool takes_escapes(void)
{
    const char *type = getenv("TERM");
    return type != NULL && *type != '\0' && strcmp(type, "dumb") != 0;
}

static bool colour_wanted(void)
{
    const char *no_color = getenv("NO_COLOR");
    return no_color == NULL || *no_color == '\0';
}

void lks_term_of(FILE *stream, struct lks_term *out)
{
    int fd = fileno(stream);
    *out = (struct lks_term){.tty = fd >= 0 && isatty(fd)};
    if (out->tty) {
        struct winsize size = {0};
        (void)ioctl(fd, TIOCGWINSZ, &size);
        out->cursor = takes_escapes();
        out->colour = out->cursor && colour_wanted();
        out->width = terminal_width(&size);
        out->height = size.ws_row;
    }
}

const char *lks_term_on(const struct lks_term *term, enum lks_colour colour)
{
    static const char *const on[LKS_COLOUR_COUNT] = {
        [LKS_PLAIN] = "",       [LKS_GREEN] = "\033[32m", [LKS_YELLOW] = "\033[33m",
        [LKS_RED] = "\033[31m", [LKS_BOLD] = "\033[1m",   [LKS_DIM] = "\033[2m",
    };
    LKS_ASSERT(colour < LKS_COLOUR_COUNT);
    return term->colour ? on[colour] : "";
}

const char *lks_term_off(const struct lks_term *term, enum lks_colour colour)
{
    return term->colour && colour != LKS_PLAIN ? "\033[0m" : "";
}

void lks_term_flow(FILE *out, struct lks_str text, size_t at, size_t indent, size_t columns)
{
    struct lks_str word;
    bool first = true;
    while (lks_str_word(&text, &word)) {
        size_t width = lks_term_columns(word);
        if (!first && at + 1 + width > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        fprintf(out, "%s%" LKS_STR_FMT, first ? "" : " ", LKS_STR_ARG(word));
        at += width + !first;
        first = false;
    }
    fputc('\n', out);
}
