/* The identity of a manifest: its canonical form, independent of order and of defaults given. */
#include "model/schema/schema.h"

#include <stdlib.h>

/* The copy that is hashed is built as a document of its own, since order and absence differ. */
struct copier {
    struct lks_docs *to;
    struct lks_err *err;
};

static enum lks_code copy_value(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                const struct lks_doc *doc, const struct lks_shape *shape,
                                unsigned flags);

static enum lks_code copy_scalar(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                 const struct lks_doc *doc)
{
    struct lks_doc *copy = doc->kind == LKS_DOC_TEXT ? lks_doc_add_text(c->to, parent, doc->text)
                                                     : lks_doc_add(c->to, parent, doc->kind);
    if (copy == NULL)
        return lks_arena_fail(&c->to->arena, c->err);
    copy->truth = doc->truth;
    copy->number = doc->number;
    copy->key = key;
    return LKS_OK;
}

/* Whether the field could as well have been left out. A map without members means the same as no
 * map, and so does an empty list of forms; any other empty list is a value. */
static bool says_absence(const struct lks_doc *doc, const struct lks_field *field)
{
    if ((field->flags & LKS_FIELD_NOTE) != 0)
        return true;
    if (doc->kind == LKS_DOC_BOOL && field->fallback != NULL)
        return doc->truth == (strcmp(field->fallback, "true") == 0);
    if (doc->kind == LKS_DOC_TEXT && field->fallback != NULL)
        return lks_str_is(doc->text, field->fallback);
    if (doc->kind == LKS_DOC_LIST && field->shape.type != LKS_TYPE_SEVERAL)
        return doc->count == 0 && field->shape.of->type == LKS_TYPE_FORM;
    if (field->shape.type != LKS_TYPE_FORM)
        return doc->kind == LKS_DOC_MAP && doc->count == 0;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        struct lks_field inner = {0};
        if (lks_schema_field(field->shape.form, item->key, &inner) && !says_absence(item, &inner))
            return false;
    }
    return true;
}

static enum lks_code copy_form(struct copier *c, struct lks_doc *to, const struct lks_doc *doc,
                               const struct lks_form *form)
{
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        struct lks_field field = {0};
        bool known = lks_schema_field(form, item->key, &field);
        LKS_ASSERT(known);
        if (says_absence(item, &field))
            continue;
        if (copy_value(c, to, item->key, item, &field.shape, field.flags) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

struct sortable {
    struct lks_doc *doc;
    struct lks_buf text;
};

static int by_text(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    return lks_str_cmp(lks_buf_view(&a->text), lks_buf_view(&b->text));
}

/* Link the elements anew, each once. */
static void link_sorted(struct lks_doc *list, const struct sortable *items, size_t count)
{
    list->first = list->last = NULL;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_text(&items[i - 1], &items[i]) == 0)
            continue;
        *(list->last != NULL ? &list->last->next : &list->first) = items[i].doc;
        items[i].doc->next = NULL;
        list->last = items[i].doc;
        list->count++;
    }
}

/* Put the elements of `list` in the order of their canonical text. */
static enum lks_code sort_elements(struct copier *c, struct lks_doc *list)
{
    size_t n = 0;
    struct sortable *items = calloc(list->count > 0 ? list->count : 1, sizeof(*items));
    if (items == NULL)
        return lks_fail_nomem(c->err);
    enum lks_code code = LKS_OK;
    for (struct lks_doc *item = list->first; item != NULL && code == LKS_OK; item = item->next) {
        items[n].doc = item;
        lks_buf_init(&items[n].text, LKS_DOC_BYTES_MAX);
        code = lks_json_canonical(item, &items[n++].text, c->err);
    }
    if (code == LKS_OK) {
        qsort(items, n, sizeof(*items), by_text);
        link_sorted(list, items, n);
    }
    for (size_t i = 0; i < n; i++)
        lks_buf_fini(&items[i].text);
    free(items);
    return code;
}

static enum lks_code copy_elements(struct copier *c, struct lks_doc *to, const struct lks_doc *doc,
                                   const struct lks_shape *shape)
{
    const struct lks_shape *of = shape->type == LKS_TYPE_SEVERAL ? shape : shape->of;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (copy_value(c, to, item->key, item, of, 0) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

static enum lks_code copy_value(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                const struct lks_doc *doc, const struct lks_shape *shape,
                                unsigned flags)
{
    if (shape->type == LKS_TYPE_SEVERAL && doc->kind == LKS_DOC_LIST && doc->count == 1)
        doc = doc->first; /* a list of one means the same as the word */
    if ((flags & LKS_FIELD_PRESENCE) != 0)
        return copy_scalar(c, parent, key, &(struct lks_doc){.kind = LKS_DOC_BOOL, .truth = true});
    if (doc->kind != LKS_DOC_LIST && doc->kind != LKS_DOC_MAP)
        return copy_scalar(c, parent, key, doc);

    struct lks_doc *copy = lks_doc_add(c->to, parent, doc->kind);
    if (copy == NULL)
        return lks_arena_fail(&c->to->arena, c->err);
    copy->key = key;
    if (shape->type == LKS_TYPE_FORM)
        return copy_form(c, copy, doc, shape->form);
    if (copy_elements(c, copy, doc, shape) != LKS_OK)
        return c->err->code;
    return (flags & LKS_FIELD_SET) != 0 ? sort_elements(c, copy) : LKS_OK;
}

enum lks_code lks_schema_identity(const struct lks_doc *doc, const struct lks_form *form,
                                  struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs copy = {0};
    if (lks_docs_init(&copy, "identity", err) != LKS_OK)
        return err->code;
    struct copier c = {&copy, err};
    struct lks_shape top = {.type = LKS_TYPE_FORM, .form = form};
    if (copy_value(&c, NULL, (struct lks_str){0}, doc, &top, 0) != LKS_OK)
        return err->code;
    return lks_json_canonical(copy.first, out, err);
}

static enum lks_code field_identity(const struct lks_field *field, const struct lks_doc *value,
                                    struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, LKS_DOC_BYTES_MAX);
    if (value == NULL || says_absence(value, field))
        return LKS_OK;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs copy = {0};
    if (lks_docs_init(&copy, "identity", err) != LKS_OK)
        return err->code;
    struct copier c = {&copy, err};
    if (copy_value(&c, NULL, (struct lks_str){0}, value, &field->shape, field->flags) != LKS_OK)
        return err->code;
    return lks_json_canonical(copy.first, out, err);
}

enum lks_code lks_schema_same(const struct lks_field *field, const struct lks_doc *a,
                              const struct lks_doc *b, bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf left = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf right = {0};
    if (field_identity(field, a, &left, err) != LKS_OK ||
        field_identity(field, b, &right, err) != LKS_OK)
        return err->code;
    *out = lks_str_eq(lks_buf_view(&left), lks_buf_view(&right));
    return LKS_OK;
}
