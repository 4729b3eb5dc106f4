#include "base/str.h"

#include "base/compiler.h"
#include "base/eight.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DISTANCE_LEN_MAX = 64 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Not tolower(): what two names mean must not depend on the locale. */
static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

struct lks_str lks_str_from(const char *terminated)
{
    return (struct lks_str){terminated, strlen(terminated)};
}

struct lks_str lks_str_trim(struct lks_str s)
{
    while (s.len > 0 && is_blank(*s.ptr)) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool lks_str_eq(struct lks_str a, struct lks_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool lks_str_is(struct lks_str s, const char *terminated)
{
    return lks_str_eq(s, lks_str_from(terminated));
}

bool lks_str_eq_nocase(struct lks_str a, struct lks_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    }
    return true;
}

bool lks_str_starts(struct lks_str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && lks_str_eq((struct lks_str){s.ptr, len}, (struct lks_str){prefix, len});
}

bool lks_str_ends(struct lks_str s, const char *suffix)
{
    size_t len = strlen(suffix);
    return s.len >= len && (len == 0 || memcmp(s.ptr + s.len - len, suffix, len) == 0);
}

int lks_str_cmp(struct lks_str a, struct lks_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

size_t lks_str_count(struct lks_str s, char c)
{
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++)
        count += s.ptr[i] == c;
    return count;
}

ptrdiff_t lks_str_find(struct lks_str s, struct lks_str needle)
{
    if (needle.len == 0 || s.len == 0)
        return needle.len == 0 ? 0 : -1;
    const char *at = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return at != NULL ? at - s.ptr : -1;
}

bool lks_str_cut(struct lks_str s, char sep, struct lks_str *head, struct lks_str *tail)
{
    const char *at = s.len > 0 ? memchr(s.ptr, sep, s.len) : NULL;
    size_t before = at != NULL ? (size_t)(at - s.ptr) : s.len;
    *head = (struct lks_str){s.ptr, before};
    *tail = at != NULL ? (struct lks_str){at + 1, s.len - before - 1} : (struct lks_str){0};
    return at != NULL;
}

struct lks_str lks_str_last(struct lks_str s, char sep)
{
    const char *at = s.len > 0 ? memrchr(s.ptr, sep, s.len) : NULL;
    return at != NULL ? (struct lks_str){at + 1, s.len - (size_t)(at + 1 - s.ptr)} : s;
}

bool lks_str_word(struct lks_str *rest, struct lks_str *word)
{
    struct lks_str s = lks_str_trim(*rest);
    size_t len = 0;
    while (len < s.len && !is_blank(s.ptr[len]))
        len++;
    *word = (struct lks_str){s.ptr, len};
    if (len > 0)
        s = (struct lks_str){s.ptr + len, s.len - len};
    *rest = s;
    return len > 0;
}

bool lks_str_has_word(struct lks_str list, struct lks_str word)
{
    struct lks_str each;
    bool found = false;
    while (!found && lks_str_word(&list, &each))
        found = lks_str_eq(each, word);
    return found;
}

int lks_str_lookup(struct lks_str name, const struct lks_str_named *table, size_t count,
                   int otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_str_is(name, table[i].name))
            return table[i].value;
    }
    return otherwise;
}

bool lks_str_number(struct lks_str s, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.ptr[i] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (s.len == 0 || value > max)
        return false;
    *out = value;
    return true;
}

bool lks_str_hex(struct lks_str s, uint64_t max, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *digit = memchr(digits, ascii_lower(s.ptr[i]), sizeof(digits) - 1);
        if (digit == NULL || value > UINT64_MAX >> 4)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    if (s.len == 0 || value > max)
        return false;
    *out = value;
    return true;
}

/* The length of the sequence that `lead` opens and the smallest value it may encode, so that a
 * value written longer than needed is caught. */
static size_t utf8_sequence(unsigned char lead, uint32_t *bits, uint32_t *least)
{
    if (lead < 0x80) {
        *bits = lead;
        *least = 0;
        return 1;
    }
    if (lead >= 0xc2 && lead < 0xe0) {
        *bits = lead & 0x1f;
        *least = 0x80;
        return 2;
    }
    if (lead >= 0xe0 && lead < 0xf0) {
        *bits = lead & 0x0f;
        *least = 0x800;
        return 3;
    }
    if (lead >= 0xf0 && lead < 0xf5) {
        *bits = lead & 0x07;
        *least = 0x10000;
        return 4;
    }
    return 0;
}

size_t lks_str_rune(struct lks_str s, size_t at, uint32_t *point)
{
    LKS_ASSERT(at < s.len);
    uint32_t bits, least;
    size_t len = utf8_sequence((unsigned char)s.ptr[at], &bits, &least);
    if (len == 0 || len > s.len - at)
        return 0;
    for (size_t i = 1; i < len; i++) {
        unsigned char c = (unsigned char)s.ptr[at + i];
        if ((c & 0xc0) != 0x80)
            return 0;
        bits = bits << 6 | (c & 0x3f);
    }
    bool surrogate = bits >= 0xd800 && bits < 0xe000;
    if (bits < least || bits > 0x10ffff || surrogate)
        return 0;
    *point = bits;
    return len;
}

/* Ranges that show nothing of themselves: they control, reorder or hide what stands around them,
 * and so could make a name look like another or drive a terminal. In their order: most text is done
 * after the first two. */
static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff},
};

bool lks_str_rune_printable(uint32_t point)
{
    for (size_t i = 0; i < LKS_COUNT(unprintable) && point >= unprintable[i].first; i++) {
        if (point <= unprintable[i].last)
            return false;
    }
    return true;
}

/* How many of the bytes from `at` on are plain ASCII, counted in eights: most text is nothing else.
 */
static size_t ascii_run(struct lks_str s, size_t at)
{
    size_t run = 0, left = s.len - at;
    while (run < left && (lks_eight(s, at + run) & UINT64_C(0x8080808080808080)) == 0)
        run += 8;
    return run < left ? run : left;
}

bool lks_str_utf8(struct lks_str s, size_t *bad)
{
    for (size_t at = 0; at < s.len;) {
        at += ascii_run(s, at);
        if (at == s.len)
            break;
        uint32_t point;
        size_t len = lks_str_rune(s, at, &point);
        if (len == 0) {
            if (bad != NULL)
                *bad = at;
            return false;
        }
        at += len;
    }
    return true;
}

bool lks_str_printable(struct lks_str s)
{
    for (size_t at = 0; at < s.len;) {
        uint32_t point;
        size_t len = lks_str_rune(s, at, &point);
        if (len == 0 || !lks_str_rune_printable(point))
            return false;
        at += len;
    }
    return true;
}

void lks_str_make_printable(char *text)
{
    struct lks_str s = lks_str_from(text);
    for (size_t at = 0; at < s.len;) {
        uint32_t point = 0;
        size_t len = lks_str_rune(s, at, &point);
        if (len == 0 || !lks_str_rune_printable(point))
            memset(text + at, '?', len > 0 ? len : 1);
        at += len > 0 ? len : 1;
    }
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

bool lks_str_is_variable(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return s.len > 0;
}

unsigned lks_str_distance(struct lks_str a, struct lks_str b, unsigned limit)
{
    if (a.len > DISTANCE_LEN_MAX || b.len > DISTANCE_LEN_MAX)
        return limit + 1;
    size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;
    if (gap > limit)
        return limit + 1;

    /* Optimal string alignment; three rows are enough to see a swap of neighbours. */
    unsigned rows[3][DISTANCE_LEN_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned change = a.ptr[i - 1] != b.ptr[j - 1];
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        unsigned *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b.len];
}

const char *lks_str_count_text(uint64_t count, const char *one, char out[LKS_COUNT_TEXT_SIZE])
{
    (void)snprintf(out, LKS_COUNT_TEXT_SIZE, "%" PRIu64 " %s%s", count, one, count == 1 ? "" : "s");
    return out;
}
