/* Requests as structs: the fields of a form say which member of its struct each value goes to. */
#include "base/time.h"
#include "model/schema/schema.h"

struct decoder {
    struct lks_docs *docs;
    struct lks_err *err;
};

#define BIT(type) (UINT32_C(1) << (type))

/* The types whose values a slot takes. */
static const uint32_t fitting[] = {
    [LKS_SLOT_TEXT] = BIT(LKS_TYPE_TEXT) | BIT(LKS_TYPE_NAME) | BIT(LKS_TYPE_COMPONENT) |
                      BIT(LKS_TYPE_SHA256) | BIT(LKS_TYPE_LINES) | BIT(LKS_TYPE_LIST) |
                      BIT(LKS_TYPE_SORT),
    [LKS_SLOT_TRUTH] = BIT(LKS_TYPE_BOOL),
    [LKS_SLOT_WORD] = BIT(LKS_TYPE_BOOL) | BIT(LKS_TYPE_CHOICE),
    [LKS_SLOT_NUMBER] = BIT(LKS_TYPE_NUMBER) | BIT(LKS_TYPE_TIME),
    [LKS_SLOT_ITEMS] = BIT(LKS_TYPE_LIST),
};

static enum lks_code decode_form(const struct decoder *d, const struct lks_doc *map,
                                 const struct lks_form *form, void *out);

/* The elements of a list of texts, separated by blanks. */
static enum lks_code join(const struct decoder *d, const struct lks_doc *list, struct lks_str *out)
{
    size_t len = 0, at = 0;
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next)
        len += item->text.len + 1;
    char *all = lks_arena_alloc(&d->docs->arena, len + 1);
    if (all == NULL)
        return lks_arena_fail(&d->docs->arena, d->err);
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        if (at > 0)
            all[at++] = ' ';
        memcpy(all + at, item->text.ptr, item->text.len);
        at += item->text.len;
    }
    *out = (struct lks_str){all, at};
    return LKS_OK;
}

static enum lks_code put_text(const struct decoder *d, const struct lks_doc *doc,
                              const struct lks_shape *shape, void *to)
{
    struct lks_str *out = to;
    *out = doc == NULL ? LKS_STR("") : doc->text;
    return doc != NULL && shape->type == LKS_TYPE_LIST ? join(d, doc, out) : LKS_OK;
}

static enum lks_code put_truth(const struct decoder *d, const struct lks_doc *doc,
                               const struct lks_shape *shape, void *to)
{
    (void)d, (void)shape;
    *(bool *)to = doc != NULL && doc->truth;
    return LKS_OK;
}

static enum lks_code put_word(const struct decoder *d, const struct lks_doc *doc,
                              const struct lks_shape *shape, void *to)
{
    (void)d;
    int *out = to;
    *out = doc == NULL ? -1 : doc->truth;
    for (int i = 0; doc != NULL && shape->type == LKS_TYPE_CHOICE && shape->values[i] != NULL; i++)
        *out = lks_str_is(doc->text, shape->values[i]) ? i : *out;
    return LKS_OK;
}

static enum lks_code put_number(const struct decoder *d, const struct lks_doc *doc,
                                const struct lks_shape *shape, void *to)
{
    (void)d;
    uint64_t *out = to;
    *out = doc == NULL ? shape->to.absent : (uint64_t)doc->number;
    if (doc != NULL && shape->type == LKS_TYPE_TIME) {
        bool known = lks_time_parse(doc->text, out);
        LKS_ASSERT(known); /* it was checked */
    }
    return LKS_OK;
}

static enum lks_code put_items(const struct decoder *d, const struct lks_doc *doc,
                               const struct lks_shape *shape, void *to)
{
    const struct lks_form *form = shape->of->form;
    size_t count = doc == NULL ? 0 : doc->count, n = 0;
    unsigned char *items = lks_arena_array(&d->docs->arena, count > 0 ? count : 1, form->size);
    if (items == NULL)
        return lks_arena_fail(&d->docs->arena, d->err);
    for (const struct lks_doc *i = count > 0 ? doc->first : NULL; i != NULL; i = i->next, n++) {
        if (decode_form(d, i, form, items + n * form->size) != LKS_OK)
            return d->err->code;
    }
    *(struct lks_items *)to = (struct lks_items){items, count};
    return LKS_OK;
}

static enum lks_code (*const decoders[])(const struct decoder *d, const struct lks_doc *doc,
                                         const struct lks_shape *shape, void *to) = {
    [LKS_SLOT_TEXT] = put_text,     [LKS_SLOT_TRUTH] = put_truth, [LKS_SLOT_WORD] = put_word,
    [LKS_SLOT_NUMBER] = put_number, [LKS_SLOT_ITEMS] = put_items,
};

static enum lks_code decode_form(const struct decoder *d, const struct lks_doc *map,
                                 const struct lks_form *form, void *out)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct lks_shape *shape = &form->fields[i].shape;
        const struct lks_slot *slot = &shape->to;
        if (slot->kind == LKS_SLOT_NONE)
            continue;
        LKS_ASSERT((fitting[slot->kind] & BIT(shape->type)) != 0 && slot->at < form->size);
        if (decoders[slot->kind](d, lks_doc_member(map, form->fields[i].key), shape,
                                 (unsigned char *)out + slot->at) != LKS_OK)
            return d->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_schema_decode(struct lks_docs *docs, const struct lks_doc *doc,
                                const struct lks_form *form, const void **out, struct lks_err *err)
{
    *out = NULL;
    if (lks_schema_check(docs, doc, form, err) != LKS_OK)
        return err->code;
    if (form->size == 0)
        return LKS_OK;
    struct decoder d = {docs, err};
    void *all = lks_arena_alloc(&docs->arena, form->size);
    if (all == NULL)
        return lks_arena_fail(&docs->arena, err);
    if (decode_form(&d, doc, form, all) != LKS_OK)
        return err->code;
    *out = all;
    return LKS_OK;
}
