/*
 * Host lists as operators write them: "gpu[001-512,600],login1" both ways.
 *
 * Width is kept: 001 and 1 are different names. A range counts up from its low end as that is
 * written ([001-512] in three digits, [1-10] without padding, [01-100] in two until 99), and its
 * high end has to be written the way counting arrives there ([001-9] and [1-010] are refused).
 * Brackets may stand anywhere in a name and more than once ("r[1-4]n[01-18]", the last one counting
 * fastest); they do not nest. Blanks may stand around commas between names.
 */
#ifndef LKS_CODEC_HOSTLIST_H
#define LKS_CODEC_HOSTLIST_H

#include "base/arena.h"
#include "base/buf.h"

#define LKS_HOST_NAME_MAX      253     /* a DNS name */
#define LKS_HOSTLIST_MAX       1000000 /* names one text may stand for */
#define LKS_HOSTLIST_BYTES_MAX ((size_t)1 << 20)

/* Names in the order written, duplicates kept. */
struct lks_hostlist {
    struct lks_str *names; /* array and bytes live in the arena it was parsed into */
    size_t count;
};

/* Whether `s` is a name by itself: letters, digits, '.', '-' and '_', beginning with neither '.'
 * nor '-'. */
bool lks_hostlist_is_name(struct lks_str s);

/* How many names `text` stands for, judged as lks_hostlist_parse() would, without making them. */
enum lks_code lks_hostlist_count(struct lks_str text, size_t *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Expand `text`; an empty one is an empty list. The whole text is checked and
 * counted before anything is allocated. The message says at which character it stops making
 * sense. */
enum lks_code lks_hostlist_parse(struct lks_str text, struct lks_arena *arena,
                                 struct lks_hostlist *out, struct lks_err *err) LKS_MUST_CHECK;

/* Append the shortest list we know how to write for the set of `names`: sorted, duplicates gone,
 * runs folded on the last number of each name. Parsing it gives the same set, if it is not longer
 * than LKS_HOSTLIST_BYTES_MAX. What is not a name is refused. */
enum lks_code lks_hostlist_fold(const struct lks_str *names, size_t count, struct lks_buf *out,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
