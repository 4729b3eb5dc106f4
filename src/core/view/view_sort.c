#include "core/view/view_sort.h"

#include <inttypes.h>
#include <stdio.h>

static const struct lks_view_keyed *find_keyed(const struct lks_view *view, const char *member)
{
    for (size_t i = 0; i < view->key_count; i++) {
        if (strcmp(view->keys[i].member, member) == 0)
            return &view->keys[i];
    }
    return NULL;
}

bool lks_view_sort_by(const struct lks_view *view, struct lks_str text, struct lks_view_sort *out)
{
    const struct lks_view_computed *m = NULL;
    struct lks_str name = lks_schema_sort_key(text);
    struct lks_field field;
    *out = (struct lks_view_sort){.asked = text, .down = name.len < text.len};
    for (size_t i = 0; lks_view_row_field(view, LKS_USE_SORT, i, &field); i++) {
        if (!lks_str_is(name, field.key))
            continue;
        out->text = field.shape.type == LKS_TYPE_TEXT || field.shape.type == LKS_TYPE_SHA256;
        bool there = lks_view_row_at(view, LKS_USE_SORT, i, &out->column, &m);
        out->keyed = m != NULL ? find_keyed(view, field.key) : NULL;
        return there && (m == NULL || out->keyed != NULL);
    }
    return false;
}

struct lks_view_key lks_view_sort_key(const struct lks_view_sort *sort,
                                      const struct lks_view_of *of)
{
    const struct lks_column *c = sort->column;
    if (c == NULL)
        return sort->keyed->key(of);
    if (!lks_view_row_open(c, of->row))
        return (struct lks_view_key){0};
    if (sort->text)
        return (struct lks_view_key){.text = lks_entity_text(of->s, c, of->row, 0)};
    return (struct lks_view_key){.number = lks_entity_number(c, of->row, 0)};
}

void lks_view_sort_put_cursor(const struct lks_view_sort *sort, const struct lks_view_key *key,
                              struct lks_str position, struct lks_buf *out)
{
    char number[24];
    snprintf(number, sizeof(number), "%" PRIu64, key->number);
    struct lks_str value = sort->text ? key->text : lks_str_from(number);
    lks_buf_addf(out, LKS_VIEW_CURSOR "%" LKS_STR_FMT " %zu ", LKS_STR_ARG(sort->asked), value.len);
    lks_buf_add(out, value); /* as bytes: printf would stop at one that is 0 */
    lks_buf_addc(out, ' ');
    lks_buf_add(out, position);
}

bool lks_view_sort_read_cursor(const struct lks_view_sort *sort, struct lks_str text,
                               struct lks_view_key *key, struct lks_str *position)
{
    struct lks_str head, rest;
    uint64_t len;
    if (!lks_str_starts(text, LKS_VIEW_CURSOR) || !lks_str_cut(text, ' ', &head, &rest) ||
        head.len != strlen(LKS_VIEW_CURSOR) + sort->asked.len ||
        memcmp(head.ptr + strlen(LKS_VIEW_CURSOR), sort->asked.ptr, sort->asked.len) != 0)
        return false;
    if (!lks_str_cut(rest, ' ', &head, &rest) || !lks_str_number(head, rest.len, &len) ||
        len == rest.len || rest.ptr[len] != ' ')
        return false;
    struct lks_str value = {rest.ptr, len};
    *position = (struct lks_str){rest.ptr + len + 1, rest.len - len - 1};
    *key = (struct lks_view_key){.text = sort->text ? value : LKS_STR("")};
    return sort->text || lks_str_number(value, UINT64_MAX, &key->number);
}

static int cmp_key(const struct lks_view_key *a, const struct lks_view_key *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return lks_str_cmp(a->text, b->text);
}

static bool is_before(const struct lks_view_page *page, const struct lks_view_item *a,
                      const struct lks_view_item *b)
{
    int by_key = cmp_key(&a->key, &b->key);
    if (by_key != 0)
        return (by_key < 0) != page->sort.down;
    int by_position = cmp_key(&a->position, &b->position);
    return page->newest ? by_position > 0 : by_position < 0;
}

/* Put `item` where the item at `at` was, of a heap whose first item is the last of the page. */
static void sift_down(struct lks_view_page *page, size_t count, size_t at,
                      struct lks_view_item item)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && is_before(page, &page->items[child], &page->items[child + 1]))
            child++;
        if (child >= count || !is_before(page, &item, &page->items[child]))
            break;
        page->items[at] = page->items[child];
        at = child;
    }
    page->items[at] = item;
}

static void sift_up(struct lks_view_page *page, size_t at, struct lks_view_item item)
{
    for (; at > 0 && is_before(page, &page->items[(at - 1) / 2], &item); at = (at - 1) / 2)
        page->items[at] = page->items[(at - 1) / 2];
    page->items[at] = item;
}

void lks_view_sort_add(struct lks_view_page *page, const struct lks_view_item *item)
{
    if (page->behind && !is_before(page, &page->after, item))
        return;
    if (page->count < page->room) {
        sift_up(page, page->count, *item);
        page->count++;
        return;
    }
    page->more = true;
    if (is_before(page, item, &page->items[0]))
        sift_down(page, page->count, 0, *item);
}

void lks_view_sort_end(struct lks_view_page *page)
{
    for (size_t left = page->count; left > 1;) {
        struct lks_view_item moved = page->items[--left];
        page->items[left] = page->items[0];
        sift_down(page, left, 0, moved);
    }
}
