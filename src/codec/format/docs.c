#include "codec/format/docs.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES_MAX = 200, PATH_STEPS_MAX = LKS_DOC_DEPTH_MAX + 1 };

enum lks_code lks_docs_init(struct lks_docs *docs, const char *source, struct lks_err *err)
{
    *docs = (struct lks_docs){0};
    lks_arena_init(&docs->arena, LKS_DOC_MEMORY_MAX);
    char *shown = lks_arena_alloc(&docs->arena, strlen(source) + 1);
    if (shown == NULL)
        return lks_fail_nomem(err);
    /* A file's name may hold anything; what is shown of it may not drive a terminal. */
    bool printable = lks_str_printable(lks_str_from(source));
    for (size_t i = 0; source[i] != '\0'; i++)
        shown[i] = printable || (source[i] >= ' ' && source[i] <= '~') ? source[i] : '?';
    docs->source = lks_str_from(shown);
    return LKS_OK;
}

void lks_docs_large(struct lks_docs *docs)
{
    docs->large = true;
    docs->arena.max = LKS_DOC_LARGE_MEMORY_MAX;
}

void lks_docs_fini(struct lks_docs *docs)
{
    lks_arena_fini(&docs->arena);
    *docs = (struct lks_docs){0};
}

struct lks_doc *lks_doc_add(struct lks_docs *docs, struct lks_doc *parent, enum lks_doc_kind kind)
{
    struct lks_doc *doc = lks_arena_alloc(&docs->arena, sizeof(*doc));
    if (doc == NULL)
        return NULL;
    doc->kind = kind;
    doc->parent = parent;

    struct lks_doc **first = parent != NULL ? &parent->first : &docs->first;
    struct lks_doc **last = parent != NULL ? &parent->last : &docs->last;
    if (*last != NULL)
        (*last)->next = doc;
    else
        *first = doc;
    *last = doc;
    *(parent != NULL ? &parent->count : &docs->count) += 1;
    return doc;
}

struct lks_doc *lks_doc_add_text(struct lks_docs *docs, struct lks_doc *parent, struct lks_str text)
{
    struct lks_str copy = lks_arena_copy(&docs->arena, text);
    if (copy.ptr == NULL)
        return NULL;
    struct lks_doc *doc = lks_doc_add(docs, parent, LKS_DOC_TEXT);
    if (doc != NULL)
        doc->text = copy;
    return doc;
}

const struct lks_doc *lks_doc_find(const struct lks_doc *map, struct lks_str key)
{
    if (map == NULL || map->kind != LKS_DOC_MAP)
        return NULL;
    for (const struct lks_doc *child = map->first; child != NULL; child = child->next) {
        if (lks_str_eq(child->key, key))
            return child;
    }
    return NULL;
}

const struct lks_doc *lks_doc_member(const struct lks_doc *map, const char *key)
{
    return lks_doc_find(map, lks_str_from(key));
}

struct lks_str lks_doc_text(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *member = lks_doc_member(map, key);
    bool is_text = member != NULL && member->kind == LKS_DOC_TEXT;
    return is_text ? member->text : (struct lks_str){"", 0};
}

bool lks_doc_has(const struct lks_doc *list, struct lks_str text)
{
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return false;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        if (one->kind == LKS_DOC_TEXT && lks_str_eq(one->text, text))
            return true;
    }
    return false;
}

/* Equal keys in the order they were written, so that the complaint points at the later one. */
static int by_key(const void *left, const void *right)
{
    const struct lks_doc *const *a = left, *const *b = right;
    int order = lks_str_cmp((*a)->key, (*b)->key);
    if (order != 0)
        return order;
    return (*a)->line != (*b)->line ? ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line)
                                    : ((*a)->column > (*b)->column) - ((*a)->column < (*b)->column);
}

const struct lks_doc **lks_doc_sorted(const struct lks_doc *map,
                                      int (*order)(const void *, const void *))
{
    const struct lks_doc **sorted = calloc(map->count + 1, sizeof(*sorted));
    if (sorted == NULL)
        return NULL;
    size_t n = 0;
    for (const struct lks_doc *child = map->first; child != NULL; child = child->next)
        sorted[n++] = child;
    qsort(sorted, n, sizeof(*sorted), order);
    return sorted;
}

void lks_doc_sorted_free(const struct lks_doc ***sorted)
{
    free(*sorted);
}

enum lks_code lks_doc_check_keys(const struct lks_docs *docs, const struct lks_doc *map,
                                 struct lks_err *err)
{
    if (map->count < 2)
        return LKS_OK;
    LKS_CLEANUP(lks_doc_sorted_free) const struct lks_doc **sorted = lks_doc_sorted(map, by_key);
    if (sorted == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 1; i < map->count; i++) {
        if (lks_str_eq(sorted[i - 1]->key, sorted[i]->key))
            return sorted[i - 1]->line == 0 /* what came in a query has no lines */
                       ? lks_doc_fail(docs, sorted[i], err, "this key is given twice")
                       : lks_doc_fail(docs, sorted[i], err, "this key is already there, on line %u",
                                      sorted[i - 1]->line);
    }
    return LKS_OK;
}

const char *lks_doc_kind_name(enum lks_doc_kind kind)
{
    static const char *const names[] = {
        [LKS_DOC_NULL] = "nothing", [LKS_DOC_BOOL] = "true or false", [LKS_DOC_NUMBER] = "number",
        [LKS_DOC_TEXT] = "text",    [LKS_DOC_LIST] = "list",          [LKS_DOC_MAP] = "map",
    };
    LKS_ASSERT((size_t)kind < LKS_COUNT(names));
    return names[kind];
}

static size_t position_in_list(const struct lks_doc *doc)
{
    size_t position = 1;
    for (const struct lks_doc *d = doc->parent->first; d != doc; d = d->next)
        position++;
    return position;
}

/* components.driver.version, nodes[3].hosts: from the top of the document down to `doc`. */
static void add_path(struct lks_buf *out, const struct lks_doc *doc)
{
    const struct lks_doc *steps[PATH_STEPS_MAX];
    size_t depth = 0;
    for (; doc->parent != NULL && depth < PATH_STEPS_MAX; doc = doc->parent)
        steps[depth++] = doc;
    while (depth-- > 0) {
        if (steps[depth]->parent->kind == LKS_DOC_LIST)
            lks_buf_addf(out, "[%zu]", position_in_list(steps[depth]));
        else
            lks_buf_addf(out, "%s%" LKS_STR_FMT, out->len > 0 ? "." : "",
                         LKS_STR_ARG(steps[depth]->key));
    }
}

enum lks_code lks_doc_fail(const struct lks_docs *docs, const struct lks_doc *at,
                           struct lks_err *err, const char *fmt, ...)
{
    char message[LKS_ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);

    char place[32] = "";
    if (docs->faults != NULL)
        docs->faults->last = (struct lks_doc_fault){.line = at->line, .column = at->column};
    if (at->line > 0)
        snprintf(place, sizeof(place), ":%u:%u", at->line, at->column);

    LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF(PATH_BYTES_MAX);
    add_path(&path, at);
    struct lks_str shown = lks_buf_view(&path);
    return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT "%s: %" LKS_STR_FMT "%s%s",
                    LKS_STR_ARG(docs->source), place, LKS_STR_ARG(shown), shown.len > 0 ? ": " : "",
                    message);
}

bool lks_doc_goes_on(const struct lks_docs *docs, struct lks_err *err)
{
    struct lks_doc_faults *faults = docs->faults;
    if (faults == NULL || err->code != LKS_E_INVALID)
        return false;
    faults->last.err = *err;
    if (faults->count < LKS_DOC_FAULTS_MAX)
        faults->list[faults->count++] = faults->last;
    else
        faults->more++;
    faults->last = (struct lks_doc_fault){0};
    *err = (struct lks_err){0};
    return true;
}

bool lks_doc_is_faulty(const struct lks_docs *docs)
{
    return docs->faults != NULL && docs->faults->count > 0;
}

static int by_place(const void *left, const void *right)
{
    const struct lks_doc_fault *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

void lks_doc_sort_faults(struct lks_doc_faults *faults)
{
    if (faults->count > 1)
        qsort(faults->list, faults->count, sizeof(faults->list[0]), by_place);
}
