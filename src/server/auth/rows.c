#include "server/auth/rows.h"

#include "base/vec.h"
#include "core/state/state.h"
#include "server/auth/lookup.h"
#include "server/form/asks.h"

#include <inttypes.h>
#include <stdlib.h>

/* Units of work for a sorted list that cannot be walked in slices. */
enum { SORT_WORK_MAX = 2000000 };

struct walk {
    struct lks_rows_walk base;
    const struct lks_rows *rows;
    struct lks_lookup_filter filter;
    struct lks_view_page page; /* of a sorted list; its items are owned */
    uint32_t at;               /* sorted: the next row */
};

static void walk_free(void *memory)
{
    struct walk *w = memory;
    if (w->rows->end != NULL)
        w->rows->end(w->base.own);
    free(w->base.own);
    free(w->page.items);
    free(w);
}

static const struct lks_ask_page *asked(const struct lks_call *call)
{
    return call->ask;
}

/* Positions --------------------------------------------------------------------------------- */

/* Where a row is in its list. */
enum by {
    BY_NAME,   /* places stay; the cursor is the name */
    BY_FIRST,  /* by the first column, a text, which is the cursor */
    BY_NUMBER, /* newest first; the first column is a number, the cursor */
    BY_PLACE,  /* newest first; the place is the cursor */
};

static enum by by_of(const struct lks_entity *t)
{
    if (t->key == LKS_COLUMN_NODE)
        return BY_NAME;
    if (t->next != 0)
        return BY_NUMBER;
    return t->ordered == 1 ? BY_FIRST : BY_PLACE;
}

static bool is_newest(const struct lks_entity *t)
{
    return by_of(t) == BY_NUMBER || by_of(t) == BY_PLACE;
}

static struct lks_view_key position_of(const struct lks_state *s, const struct lks_entity *t,
                                       uint32_t place)
{
    const void *row = lks_entity_row(t, s, place);
    if (by_of(t) == BY_FIRST)
        return (struct lks_view_key){.text = lks_entity_text(s, &t->columns[0], row, 0)};
    if (by_of(t) == BY_NUMBER)
        return (struct lks_view_key){.number = lks_entity_number(&t->columns[0], row, 0)};
    return (struct lks_view_key){.number = place};
}

static void put_position(struct lks_buf *out, const struct lks_state *s, const struct lks_entity *t,
                         const struct lks_view_key *at)
{
    if (by_of(t) == BY_NAME)
        lks_buf_add(out, lks_entity_name(s, t, (uint32_t)at->number));
    else if (by_of(t) == BY_FIRST)
        lks_buf_add(out, at->text);
    else
        lks_buf_addf(out, "%" PRIu64, at->number);
}

static bool read_position(const struct lks_state *s, const struct lks_entity *t,
                          struct lks_str text, struct lks_view_key *out)
{
    uint32_t name = 0;
    *out = (struct lks_view_key){.text = by_of(t) == BY_FIRST ? text : LKS_STR("")};
    if (by_of(t) == BY_FIRST)
        return !lks_str_starts(text, LKS_VIEW_CURSOR);
    if (by_of(t) != BY_NAME)
        return lks_str_number(text, UINT64_MAX, &out->number);
    bool known = lks_intern_find(&s->names, text, &name);
    out->number = name;
    return known;
}

/* The number of rows that are not above `after` in the order of the table. */
static uint32_t rows_up_to(const struct lks_state *s, const struct lks_entity *t,
                           const struct lks_view_key *after, bool itself)
{
    uint32_t at, count = lks_entity_rows(t, s);
    struct lks_view_key has;
    if (by_of(t) == BY_NAME || by_of(t) == BY_PLACE)
        return after->number < count ? (uint32_t)after->number + itself : count;
    LKS_VEC_PLACE(at, count,
                  (has = position_of(s, t, at), has.number != after->number
                                                    ? has.number < after->number
                                                    : lks_str_cmp(has.text, after->text) < itself));
    return at;
}

/* A walk ------------------------------------------------------------------------------------ */

static bool read_cursor(struct walk *w, struct lks_str text)
{
    struct lks_view_item *after = &w->page.after;
    struct lks_str position;
    w->page.behind = true;
    return lks_view_sort_read_cursor(&w->page.sort, text, &after->key, &position) &&
           read_position(w->base.authz->state, w->rows->view->entity, position, &after->position);
}

static bool sort_begin(struct walk *w)
{
    struct lks_call *call = w->base.call;
    const struct lks_ask_page *ask = asked(call);
    bool known = lks_view_sort_by(w->rows->view, ask->sort, &w->page.sort);
    LKS_ASSERT(known); /* the form of the query has the same columns */
    w->page.newest = is_newest(w->rows->view->entity);
    w->page.room = ask->limit;
    w->page.items = calloc(ask->limit, sizeof(*w->page.items));
    if (w->page.items == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    if (ask->after.len == 0 || read_cursor(w, ask->after))
        return true;
    lks_call_problem(call, LKS_E_INVALID,
                     "query: after: is not the `next` of a page with this `sort`; give the same "
                     "`sort` for all pages of a list");
    return false;
}

static struct walk *walk_begin(struct lks_authz *authz, struct lks_call *call,
                               const struct lks_rows *rows)
{
    struct walk *w = calloc(1, sizeof(*w));
    void *own = calloc(1, rows->own + 1);
    if (w == NULL || own == NULL) {
        free(w);
        free(own);
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return NULL;
    }
    *w = (struct walk){.base = {.authz = authz, .call = call, .own = own}, .rows = rows};
    call->memory = w;
    call->drop = walk_free;
    w->base.sight = lks_authz_sight(authz, call);
    if (!lks_lookup_filter(authz, call, rows->view, &w->filter) ||
        (rows->begin != NULL && !rows->begin(&w->base)) ||
        (asked(call)->sort.len > 0 && !sort_begin(w)))
        return NULL;
    return w;
}

static bool is_spent(const struct walk *w)
{
    return w->rows->work_max > 0 && w->base.work >= w->rows->work_max;
}

/* Whether the list shows the row at that place. */
static bool is_shown(struct walk *w, uint32_t place)
{
    const struct lks_state *s = w->base.authz->state;
    const struct lks_entity *t = w->rows->view->entity;
    const void *row = lks_entity_row(t, s, place);
    return lks_entity_counts(s, t, row) &&
           (w->rows->sees == NULL || w->rows->sees(&w->base, row)) &&
           lks_lookup_fits(&w->filter, row) &&
           (w->rows->shows == NULL || w->rows->shows(&w->base, row));
}

static void put_item(struct walk *w, struct lks_json_writer *out, uint32_t place)
{
    const struct lks_authz *authz = w->base.authz;
    const struct lks_view_of of = {
        .s = authz->state,
        .row = lks_entity_row(w->rows->view->entity, authz->state, place),
        .now = lks_engine_now(authz->engine, authz->now),
    };
    lks_json_begin(out, NULL, '{');
    lks_view_row_put(out, w->rows->view, LKS_USE_LISTED, &of);
    lks_json_end(out, '}');
    if (w->rows->weight != NULL)
        w->base.work += w->rows->weight(of.s);
}

/* In the order of the list ------------------------------------------------------------------ */

static void put_page(struct walk *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf next = LKS_BUF(LKS_CALL_ANSWER_MAX);
    const struct lks_state *s = w->base.authz->state;
    const struct lks_entity *t = w->rows->view->entity;
    const struct lks_ask_page *ask = asked(w->base.call);
    bool newest = is_newest(t);
    struct lks_view_key after = {.number = UINT64_MAX};
    if (ask->after.len > 0 && !read_position(s, t, ask->after, &after)) {
        lks_call_problem(w->base.call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return;
    }
    uint32_t count = lks_entity_rows(t, s);
    uint32_t from = ask->after.len > 0 ? rows_up_to(s, t, &after, !newest) : newest ? count : 0;
    uint32_t rest = newest ? from : count - from;
    uint64_t left = ask->limit;
    struct lks_json_writer out = lks_call_list(w->base.call);
    for (; rest > 0 && next.len == 0; rest--) {
        uint32_t place = newest ? rest - 1 : count - rest;
        if (is_shown(w, place)) {
            put_item(w, &out, place);
            left--;
        }
        if ((left == 0 || is_spent(w)) && rest > 1) {
            struct lks_view_key position = position_of(s, t, place);
            put_position(&next, s, t, &position);
        }
    }
    lks_call_list_end_at(&out, lks_buf_view(&next));
}

/* Sorted ------------------------------------------------------------------------------------ */

static bool is_sliced(const struct walk *w)
{
    return by_of(w->rows->view->entity) == BY_NAME; /* places stay */
}

/* Look at the next rows. False: there are more, or the answer is written. */
static bool sort_slice(struct walk *w)
{
    const struct lks_authz *authz = w->base.authz;
    const struct lks_entity *t = w->rows->view->entity;
    struct lks_view_of of = {.s = authz->state, .now = lks_engine_now(authz->engine, authz->now)};
    uint32_t count = lks_entity_rows(t, authz->state);
    w->base.work = 0;
    for (; w->at < count && !(is_sliced(w) && is_spent(w)); w->at++) {
        if (!is_sliced(w) && w->base.work > SORT_WORK_MAX) {
            lks_call_problem(
                w->base.call, LKS_E_LIMIT,
                "query: sort: the list is too long to be sorted; give a filter, or leave `sort` "
                "out");
            return false;
        }
        if (!is_shown(w, w->at))
            continue;
        of.row = lks_entity_row(t, authz->state, w->at);
        const struct lks_view_item item = {
            .key = lks_view_sort_key(&w->page.sort, &of),
            .position = position_of(authz->state, t, w->at),
            .place = w->at,
        };
        lks_view_sort_add(&w->page, &item);
    }
    w->base.call->cursor = 1;
    return w->at >= count;
}

static void put_cursor(const struct walk *w, const struct lks_view_item *item, struct lks_buf *next)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf position = LKS_BUF(LKS_CALL_ANSWER_MAX);
    put_position(&position, w->base.authz->state, w->rows->view->entity, &item->position);
    lks_view_sort_put_cursor(&w->page.sort, &item->key, lks_buf_view(&position), next);
}

static void put_sorted(struct walk *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf next = LKS_BUF(LKS_CALL_ANSWER_MAX);
    struct lks_view_page *page = &w->page;
    struct lks_json_writer out = lks_call_list(w->base.call);
    lks_view_sort_end(page);
    w->base.work = 0;
    for (size_t i = 0; i < page->count && next.len == 0; i++) {
        bool last = i + 1 == page->count;
        if (is_shown(w, page->items[i].place)) /* a row may have left between slices */
            put_item(w, &out, page->items[i].place);
        if (last ? page->more : is_spent(w))
            put_cursor(w, &page->items[i], &next);
    }
    lks_call_list_end_at(&out, lks_buf_view(&next));
    w->base.call->needs = lks_engine_seq(w->base.authz->engine); /* what the last slice saw */
}

void lks_rows_page(struct lks_authz *authz, struct lks_call *call, const struct lks_rows *rows)
{
    struct walk *w = call->memory != NULL ? call->memory : walk_begin(authz, call, rows);
    if (w == NULL)
        return;
    w->base.sight = lks_authz_sight(authz, call);
    if (asked(call)->sort.len == 0)
        put_page(w);
    else if (sort_slice(w))
        put_sorted(w);
}
