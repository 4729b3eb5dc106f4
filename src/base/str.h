/* A view of bytes that another owner has: pointer and length, perhaps without a terminator. Passed
 * by value. A struct that keeps one says beside the field who owns the bytes. */
#ifndef LKS_BASE_STR_H
#define LKS_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lks_str {
    const char *ptr;
    size_t len;
};

/* A row of a table: a name and what it stands for. */
struct lks_str_pair {
    const char *name, *value;
};

/* The same for the field of a struct that it stands for. */
struct lks_str_field {
    const char *name;
    size_t at; /* offsetof() */
};

#define LKS_STR(literal) ((struct lks_str){"" literal, sizeof(literal) - 1})
#define LKS_STR_C(literal)                                                                         \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    } /* the same in a static table */

/* printf("%" LKS_STR_FMT, LKS_STR_ARG(name)) */
#define LKS_STR_FMT    ".*s"
#define LKS_STR_ARG(s) (int)(s).len, (s).ptr

struct lks_str lks_str_from(const char *terminated);

/* Without blanks, tabs and carriage returns at either end. */
struct lks_str lks_str_trim(struct lks_str s);

bool lks_str_eq(struct lks_str a, struct lks_str b);
bool lks_str_is(struct lks_str s, const char *terminated);
bool lks_str_eq_nocase(struct lks_str a, struct lks_str b);
bool lks_str_starts(struct lks_str s, const char *prefix);
bool lks_str_ends(struct lks_str s, const char *suffix);

/* Bytewise order, shorter first where one begins the other: negative, zero or positive. */
int lks_str_cmp(struct lks_str a, struct lks_str b);

/* The first place of `needle` in `s`, or -1. */
ptrdiff_t lks_str_find(struct lks_str s, struct lks_str needle);

/* How often `c` is in it. */
size_t lks_str_count(struct lks_str s, char c);

/* Split at the first `sep`: `head` is what precedes it, `tail` what follows, and the answer is
 * true. Without one, `head` is all of `s`, `tail` is empty and the answer is false. Either may be
 * the variable `s` came from. */
bool lks_str_cut(struct lks_str s, char sep, struct lks_str *head, struct lks_str *tail);

/* What follows the last `sep`, such as the name at the end of a path; all of `s` without one. */
struct lks_str lks_str_last(struct lks_str s, char sep);

/* Take the next word off `rest`, words being separated by runs of blanks; false at the end. */
bool lks_str_word(struct lks_str *rest, struct lks_str *word);

/* Whether a word of `list` is this one. */
bool lks_str_has_word(struct lks_str list, struct lks_str word);

/* A row of a table that gives names a value of an enum. */
struct lks_str_named {
    const char *name;
    int value;
};

/* The value of `name` in such a table; `otherwise` where it is not there. */
int lks_str_lookup(struct lks_str name, const struct lks_str_named *table, size_t count,
                   int otherwise);

/* Read all of `s` as a decimal number up to `max`, or say no and leave `out` alone. */
bool lks_str_number(struct lks_str s, uint64_t max, uint64_t *out);

/* The same for hexadecimal digits of either case, without a prefix. */
bool lks_str_hex(struct lks_str s, uint64_t max, uint64_t *out);

/* How many of something, for people: "1 node", "2 nodes". `out` is returned. */
#define LKS_COUNT_TEXT_SIZE 64
const char *lks_str_count_text(uint64_t count, const char *one, char out[LKS_COUNT_TEXT_SIZE]);

/* The character (code point) that starts at byte `at`, which `s` must have, and the answer is its
 * length in bytes; 0, and nothing written, where the bytes are not well-formed UTF-8. */
size_t lks_str_rune(struct lks_str s, size_t at, uint32_t *point);

/* False for what could drive a terminal or mislead a reader instead of being read: control
 * characters of either set, line separators, marks that turn the direction of text. */
bool lks_str_rune_printable(uint32_t point);

/* True when every byte belongs to well-formed UTF-8 (no surrogates, no overlong forms). On false
 * `bad`, if given, is the offset of the first byte that does not. */
bool lks_str_utf8(struct lks_str s, size_t *bad);

/* True when all of `s` is well-formed UTF-8 that prints as itself: no control characters, no
 * sequences that drive a terminal. */
bool lks_str_printable(struct lks_str s);

/* A '?' in the place of each byte of `text` that keeps it from being such. */
void lks_str_make_printable(char *text);

/* True for what a shell calls a name: letters, digits and '_', and no digit first. */
bool lks_str_is_variable(struct lks_str s);

/* How many single-byte edits (insert, delete, replace, swap neighbours) lead from `a` to `b`; any
 * answer above `limit` means "more than limit". Names longer than 64 bytes are never near. */
unsigned lks_str_distance(struct lks_str a, struct lks_str b, unsigned limit);

#endif
