/* The words with which forms are written. For the files forms*.c alone. */
#ifndef LKS_SERVER_FORMS_WORDS_H
#define LKS_SERVER_FORMS_WORDS_H

#include "codec/notation/hostlist.h"
#include "core/entity/settable.h"
#include "core/rules/decide.h"
#include "core/view/view.h"
#include "model/schema/tables.h"
#include "server/form/asks.h"
#include "server/form/forms.h"

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
/* As long as what decides takes. */
#define WHY                                                                                        \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = LKS_REASON_MAX                                               \
    }
#define SETTABLE                                                                                   \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = LKS_SETTABLE_MAX                                             \
    }
#define WORDS(w)                                                                                   \
    {                                                                                              \
        .type = LKS_TYPE_CHOICE, .values = (w)                                                     \
    }
#define ANY LKS_OF(ANY)
/* A host list, which may be long. */
#define HOSTS LINES(LKS_HOSTLIST_BYTES_MAX)

/* clang-format off */
#define MUST(key, shape, about)     {key, shape, LKS_REQUIRED, NULL, about}
#define MAY(key, shape, about)      {key, shape, 0, NULL, about}

/* Fields of a request: the value decodes into member `m` of struct lks_`s`, which is `no` where the
 * request leaves a number out. The shape is last, since its braces hold commas. */
#define FIELD(s, m, k, required, no, a, ...)                                        \
    {.key = (k), .shape = __VA_ARGS__,                                              \
     .shape.to = {LKS_SLOT(lks_##s, m), .absent = (no)}, .flags = (required), .about = (a)}
#define NEEDS_AS(s, m, key, shape, about)   FIELD(s, m, key, LKS_REQUIRED, 0, about, shape)
#define NEEDS(s, m, shape, about)           FIELD(s, m, #m, LKS_REQUIRED, 0, about, shape)
#define TAKES_AS(s, m, key, shape, about)   FIELD(s, m, key, 0, 0, about, shape)
#define TAKES(s, m, shape, about)           FIELD(s, m, #m, 0, 0, about, shape)
#define TAKES_OR(s, m, shape, no, about)    FIELD(s, m, #m, 0, no, about, shape)

#define PAGE(s)                                                                     \
    FIELD(s, page.limit, "limit", 0, LKS_LIST_DEFAULT, "most items of the answer (100)", \
          LKS_NUMBERS(1, LKS_LIST_MAX)),                                            \
    TAKES_AS(s, page.after, "after", TEXT, "the `next` of the page before")
#define REASON(s) NEEDS(s, reason, WHY, "why, for the journal")
#define NEXT   MAY("next", TEXT, "`after` of the next page")
#define BY                                                                          \
    MAY("by", TEXT, "by whom"),                                                     \
    MAY("reason", TEXT, "and why")
#define SEQ MUST("seq", COUNT, "the row up to which the journal is durable")
#define RECORDED                                                                    \
    SEQ,                                                                            \
    MAY("nodes", COUNT, "how many nodes and assets it was for, where it was for some"), \
    MAY("gpus", COUNT, "how many GPUs they have")

/* A form and its fields. */
#define FORM(name, about, ...)                                                      \
    {name, about, .fields = (const struct lks_field[]){__VA_ARGS__},                \
     .count = LKS_COUNT(((const struct lks_field[]){__VA_ARGS__}))}
/* The same of a request, which decodes into struct lks_`s`. */
#define ASK(s, name, about, ...)                                                    \
    {name, about, .fields = (const struct lks_field[]){__VA_ARGS__},                \
     .count = LKS_COUNT(((const struct lks_field[]){__VA_ARGS__})),                 \
     .into = "lks_" #s, .size = sizeof(struct lks_##s)}
/* A page of a list: forms `of` one kind, and where the next page starts. */
#define LIST(name, about, of, items)                                                \
    FORM(name, about, MUST("items", LKS_LIST(LKS_FORM(of)), items), NEXT)
/* clang-format on */

#endif
