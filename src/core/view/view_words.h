/* The words with which fields of answers are written. Only for files that define forms. */
#ifndef LKS_CORE_VIEW_WORDS_H
#define LKS_CORE_VIEW_WORDS_H

#include "core/view/view_row.h"
#include "model/schema/tables.h"

#define SEQ_MAX LKS_DOC_NUMBER_MAX
#define TEXT    LKS_OF(TEXT)
#define NAME    LKS_OF(NAME)
#define TRUTH   LKS_OF(BOOL)
#define COUNT   LKS_NUMBERS(0, SEQ_MAX)
#define TIME    LKS_OF(TIME)
#define DIGEST  LKS_OF(SHA256)
#define SIGNED  LKS_NUMBERS(-SEQ_MAX, SEQ_MAX)
#define LINES(n)                                                                                   \
    {                                                                                              \
        .type = LKS_TYPE_LINES, .max = (n)                                                         \
    }
#define WORDS(w)                                                                                   \
    {                                                                                              \
        .type = LKS_TYPE_CHOICE, .values = (w)                                                     \
    }
#define ANY LKS_OF(ANY)

/* clang-format off */
#define MUST(key, shape, about) {key, shape, LKS_REQUIRED, NULL, about}
#define MAY(key, shape, about)  {key, shape, 0, NULL, about}

#define FIELDS(...)                                                                 \
    .fields = (const struct lks_field[]){__VA_ARGS__},                              \
    .count = LKS_COUNT(((const struct lks_field[]){__VA_ARGS__}))
#define SHOWING(view, uses) .more = lks_view_row_field, .of = &(view), .use = (uses)

/* A form and its fields. */
#define FORM(name, about, ...) {name, about, FIELDS(__VA_ARGS__)}
/* One whose fields are the members of a view with one of these uses. */
#define FORM_OF(name, about, view, uses) {name, about, SHOWING(view, uses)}
/* The same, behind fields of its own. */
#define FORM_AND(name, about, view, uses, ...)                                      \
    {name, about, FIELDS(__VA_ARGS__), SHOWING(view, uses)}
/* clang-format on */

#endif
