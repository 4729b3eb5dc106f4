#include "tests/patches.h"

/* The child that a step of a path names; NULL: there is none. */
static struct lks_doc *child(struct lks_doc *parent, struct lks_str step)
{
    uint64_t at = 0, i = 0;
    bool list = parent->kind == LKS_DOC_LIST;
    if (list && !lks_str_number(step, UINT32_MAX, &at))
        return NULL;
    for (struct lks_doc *d = parent->first; d != NULL; d = d->next, i++) {
        if (list ? i == at : lks_str_eq(d->key, step))
            return d;
    }
    return NULL;
}

static void append(struct lks_doc *parent, struct lks_doc *value)
{
    value->parent = parent;
    value->next = NULL;
    if (parent->last != NULL)
        parent->last->next = value;
    else
        parent->first = value;
    parent->last = value;
    parent->count++;
}

/* A member that is there is replaced. */
static void put_member(struct lks_doc *parent, struct lks_str key, struct lks_doc *value)
{
    struct lks_doc *old = child(parent, key);
    value->key = key;
    if (old == NULL) {
        append(parent, value);
        return;
    }
    struct lks_doc *next = old->next;
    *old = *value;
    old->next = next;
    old->parent = parent;
    for (struct lks_doc *d = old->first; d != NULL; d = d->next)
        d->parent = old;
}

static bool add(struct lks_doc *top, struct lks_str path, struct lks_doc *value)
{
    struct lks_str step, rest;
    struct lks_doc *at = top;
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    rest = (struct lks_str){path.ptr + 1, path.len - 1};
    while (lks_str_cut(rest, '/', &step, &rest)) {
        at = child(at, step);
        if (at == NULL || (at->kind != LKS_DOC_LIST && at->kind != LKS_DOC_MAP))
            return false;
    }
    if (at->kind == LKS_DOC_LIST && lks_str_is(step, "-"))
        append(at, value);
    else if (at->kind == LKS_DOC_MAP && step.len > 0)
        put_member(at, step, value);
    else
        return false;
    return true;
}

bool lks_patches_apply(struct lks_doc *top, struct lks_docs *patch)
{
    if (patch->first == NULL || patch->first->kind != LKS_DOC_LIST)
        return false;
    for (struct lks_doc *d = patch->first->first; d != NULL; d = d->next) {
        struct lks_doc *value = d->kind == LKS_DOC_MAP ? child(d, LKS_STR("value")) : NULL;
        if (value == NULL || !lks_str_is(lks_doc_text(d, "op"), "add") || d->last != value ||
            !add(top, lks_doc_text(d, "path"), value))
            return false;
    }
    return true;
}
