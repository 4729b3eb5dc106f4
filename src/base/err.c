#include "base/err.h"

#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lks_code_info infos[LKS_CODE_COUNT] = {[LKS_OK] = {"ok", 200, 0, false},
#define X(name, text, http, exit, later) [LKS_E_##name] = {text, http, exit, later},
                                                           LKS_CODES(X)
#undef X
};

const struct lks_code_info *lks_err_code_info(enum lks_code code)
{
    LKS_ASSERT(code < LKS_CODE_COUNT);
    return &infos[code];
}

/* A message is one printable line: a newline or an escape sequence in the input must not reach a
 * terminal or a log as itself, and a character that was cut in two must not make an answer of ours
 * bad UTF-8. */
enum lks_code lks_fail(struct lks_err *err, enum lks_code code, const char *fmt, ...)
{
    LKS_ASSERT(code != LKS_OK);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    lks_str_make_printable(err->msg);
    err->code = code;
    return code;
}

enum lks_code lks_wrap(struct lks_err *err, const char *fmt, ...)
{
    LKS_ASSERT(err->code != LKS_OK);
    char inner[LKS_ERR_MSG_MAX];
    memcpy(inner, err->msg, sizeof(inner));

    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    LKS_ASSERT(len >= 0);

    size_t used = (size_t)len < sizeof(err->msg) ? (size_t)len : sizeof(err->msg) - 1;
    snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", inner);
    lks_str_make_printable(err->msg);
    return err->code;
}

enum lks_code lks_fail_nomem(struct lks_err *err)
{
    return lks_fail(err, LKS_E_NOMEM, "out of memory");
}

void lks_assert_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this should be impossible: %s is false\n", file, line, cond);
    abort();
}

const struct lks_err_known *lks_err_find(const struct lks_err_known *table, size_t count,
                                         int number)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].number == number)
            return &table[i];
    }
    return NULL;
}
