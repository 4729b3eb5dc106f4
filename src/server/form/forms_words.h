/* The words with which forms are written. For the files forms*.c alone. */
#ifndef LKS_SERVER_FORMS_WORDS_H
#define LKS_SERVER_FORMS_WORDS_H

#include "codec/notation/hostlist.h"
#include "core/entity/settable.h"
#include "core/rules/decide.h"
#include "core/view/view.h"
#include "core/view/view_words.h"
#include "server/form/asks.h"
#include "server/form/forms.h"

/* As long as what decides takes. */
#define WHY                                                                                        \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = LKS_REASON_MAX                                               \
    }
#define SETTABLE                                                                                   \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = LKS_SETTABLE_MAX                                             \
    }
/* A host list, which may be long. */
#define HOSTS LINES(LKS_HOSTLIST_BYTES_MAX)

/* clang-format off */
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
/* The same, of a list whose rows can be sorted by columns of its view. */
#define PAGE_OF(s, view)                                                            \
    PAGE(s),                                                                        \
    TAKES_AS(s, page.sort, "sort", SORT_OF(view),                                   \
        "the column to sort by; with - in front, the largest value comes first")
#define SORT_OF(view) {.type = LKS_TYPE_SORT,                                       \
    .form = &(const struct lks_form)FORM_OF("Sort", "Columns", view, LKS_USE_SORT)}
#define REASON(s) NEEDS(s, reason, WHY, "why, for the journal")
#define REASON_MAY(s) TAKES(s, reason, WHY, "why, for the journal; may be left out")
#define NEXT   MAY("next", TEXT, "`after` of the next page")
#define BY                                                                          \
    MAY("by", TEXT, "by whom"),                                                     \
    MAY("reason", TEXT, "and why")
#define SEQ MUST("seq", COUNT, "the row up to which the journal is durable")
#define RECORDED                                                                    \
    SEQ,                                                                            \
    MAY("nodes", COUNT, "how many nodes and assets it was for, where it was for some"), \
    MAY("gpus", COUNT, "how many GPUs they have")

/* A form of a request, which decodes into struct lks_`s`. */
#define ASK(s, name, about, ...) {name, about, FIELDS(__VA_ARGS__), INTO(s)}
/* The same, and behind its fields those of a view: lks_lookup_filter() reads them. */
#define ASK_AND(s, name, about, view, uses, ...)                                    \
    {name, about, FIELDS(__VA_ARGS__), INTO(s), SHOWING(view, uses)}
#define INTO(s) .into = "lks_" #s, .size = sizeof(struct lks_##s)
/* A page of a list: forms `of` one kind, and where the next page starts. */
#define LIST(name, about, of, items)                                                \
    FORM(name, about, MUST("items", LKS_LIST(LKS_FORM(of)), items), NEXT)
/* clang-format on */

#endif
