/* Did you mean ...? Of the names there are, the one nearest to the name that was written, or those
 * that start with it. */
#ifndef LKS_BASE_NEAR_H
#define LKS_BASE_NEAR_H

#include "base/err.h"
#include "base/str.h"

enum { LKS_NEAR_LISTED_SIZE = 160 };

struct lks_near {
    struct lks_str wanted;
    struct lks_str best; /* empty while nothing is near enough to be what was meant */
    unsigned distance;   /* of the best */
    unsigned started;    /* names that start with `wanted`, and are longer */
    unsigned listed; /* of those, in `list`: a copy, because some callers reuse a name's bytes */
    char list[LKS_NEAR_LISTED_SIZE];
};

/* Nothing is near yet to `wanted`. */
struct lks_near lks_near_to(struct lks_str wanted);

/* Consider one name. Short names forgive fewer slips; of equally near ones the first stays. A name
 * that starts with `wanted`, of at least two bytes, is nearer than one with a slip. Names that
 * start so are counted: try each of them once. */
void lks_near_try(struct lks_near *near, struct lks_str name);

/* "; did you mean 'NAME'?", "; 12 names start with it: a, b, c and 9 more", or "" when nothing is
 * near. */
#define LKS_NEAR_HINT_SIZE 256
const char *lks_near_hint(const struct lks_near *near, char out[LKS_NEAR_HINT_SIZE]);

/* The place of `word` among `count` words; `code`, with such a hint, where it is none of them: "no
 * WHAT 'WORD'; did you mean ...". */
enum lks_code lks_near_word(struct lks_str word, const char *const *words, size_t count,
                            const char *what, enum lks_code code, size_t *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
