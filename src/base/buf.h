/* A byte buffer that grows up to a ceiling its creator chose. The first failure stays: additions
 * after it do nothing, so a caller writes freely and asks once, at the end, whether all of it is
 * there. */
#ifndef LKS_BASE_BUF_H
#define LKS_BASE_BUF_H

#include "base/err.h"
#include "base/str.h"

#include <stdarg.h>

struct lks_buf {
    char *ptr; /* owned; terminated whenever it is not NULL */
    size_t len;
    size_t cap;
    size_t max;
    enum lks_code failed;
};

/* `max` bytes at the most, terminator not counted. The macro is for a buffer where it is declared,
 * with a `max` that is a constant. */
#define LKS_BUF(most)                                                                              \
    {                                                                                              \
        .max = (most)                                                                              \
    }
void lks_buf_init(struct lks_buf *b, size_t max);
void lks_buf_fini(struct lks_buf *b);

/* The same for several; the list ends with NULL. */
void lks_buf_fini_all(struct lks_buf *const *list);

void lks_buf_add(struct lks_buf *b, struct lks_str s);
void lks_buf_addc(struct lks_buf *b, char c);
void lks_buf_addf(struct lks_buf *b, const char *fmt, ...) LKS_PRINTF(2, 3);
void lks_buf_addv(struct lks_buf *b, const char *fmt, va_list ap) LKS_PRINTF(2, 0);

/* `s` in double quotes, with a backslash before each of them and before each backslash in it: so
 * YAML and the configuration write a text that prints. */
void lks_buf_quote(struct lks_buf *b, struct lks_str s);

/* `n` copies of `c`, none if `n` is not positive. */
void lks_buf_pad(struct lks_buf *b, char c, ptrdiff_t n);

/* Cut the content back to `len` bytes, which it must have. */
void lks_buf_truncate(struct lks_buf *b, size_t len);

enum lks_code lks_buf_check(const struct lks_buf *b, struct lks_err *err) LKS_MUST_CHECK;

/* What is in it; valid until the next addition. */
struct lks_str lks_buf_view(const struct lks_buf *b);

#endif
