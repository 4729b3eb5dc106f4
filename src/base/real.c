#include "base/real.h"

#include "base/compiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DIGITS_MIN = 15, /* of which every decimal comes back as it was */
    DIGITS_MAX = 17, /* by which any number is known from all others */
    TEXT_MAX = 400,  /* bytes that are looked at */
};

const char *lks_real_text(double value, char out[LKS_REAL_SIZE])
{
    LKS_ASSERT(isfinite(value));
    for (int digits = DIGITS_MIN; digits <= DIGITS_MAX; digits++) {
        (void)snprintf(out, LKS_REAL_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}

static size_t digits_at(struct lks_str text, size_t at)
{
    size_t count = 0;
    while (at + count < text.len && text.ptr[at + count] >= '0' && text.ptr[at + count] <= '9')
        count++;
    return count;
}

static bool has(struct lks_str text, size_t at, const char *any)
{
    return at < text.len && strchr(any, text.ptr[at]) != NULL && text.ptr[at] != '\0';
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(struct lks_str text)
{
    size_t at = has(text, 0, "-"), count = digits_at(text, at);
    if (count == 0 || (count > 1 && text.ptr[at] == '0'))
        return false;
    at += count;
    if (has(text, at, ".")) {
        count = digits_at(text, ++at);
        if (count == 0)
            return false;
        at += count;
    }
    if (has(text, at, "eE")) {
        at++;
        at += has(text, at, "+-");
        count = digits_at(text, at);
        if (count == 0)
            return false;
        at += count;
    }
    return at == text.len;
}

bool lks_real_parse(struct lks_str text, double *out)
{
    char copy[TEXT_MAX + 1];
    if (text.len > TEXT_MAX || !is_number(text))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}
