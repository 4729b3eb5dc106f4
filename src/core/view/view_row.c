#include "core/view/view_row.h"

#include "codec/format/digest.h"
#include "core/view/view.h"
#include "model/schema/tables.h"

/* The order of a view ----------------------------------------------------------------------- */

/* Where a walk through the members with one use is. */
struct walk {
    const struct lks_view *view;
    unsigned use;
    size_t column, computed;
    /* The member it came to: one of the two. */
    const struct lks_column *at_column;
    const struct lks_view_computed *at_computed;
};

static bool step(struct walk *k)
{
    const struct lks_entity *t = k->view->entity;
    const struct lks_view_computed *list = k->view->computed;
    for (;;) {
        k->at_column = NULL;
        k->at_computed = NULL;
        size_t before = k->column < t->column_count ? t->columns[k->column].offset : LKS_VIEW_END;
        while (k->computed < k->view->computed_count && (list[k->computed].use & k->use) == 0)
            k->computed++;
        if (k->computed < k->view->computed_count && list[k->computed].before == before) {
            k->at_computed = &list[k->computed++];
            return true;
        }
        if (k->column >= t->column_count)
            return false;
        k->at_column = &t->columns[k->column++];
        if ((k->at_column->use & k->use) != 0)
            return true;
    }
}

/* Parts of an answer that follow each other. Filters, and columns to sort by, are one part each. */
static const unsigned parts[] = {LKS_USE_LISTED, LKS_USE_SHOWN, LKS_USE_LIVE, LKS_USE_FILTER,
                                 LKS_USE_SORT};

bool lks_view_row_at(const struct lks_view *view, unsigned use, size_t i,
                     const struct lks_column **column, const struct lks_view_computed **computed)
{
    for (size_t p = 0; p < LKS_COUNT(parts); p++) {
        struct walk k = {.view = view, .use = parts[p] & use};
        while (k.use != 0 && step(&k)) {
            *column = k.at_column;
            *computed = k.at_computed;
            if (i-- == 0)
                return true;
        }
    }
    return false;
}

/* As a form --------------------------------------------------------------------------------- */

const char *lks_view_row_key(const struct lks_column *c)
{
    return c->key != NULL ? c->key : c->name;
}

struct lks_shape lks_view_row_shape(const struct lks_column *c)
{
    static const struct lks_shape text = LKS_OF(TEXT), digest = LKS_OF(SHA256);
    const struct lks_shape *one;
    switch (c->type) {
    case LKS_COLUMN_TRUTH:
        return (struct lks_shape)LKS_OF(BOOL);
    case LKS_COLUMN_NUMBER:
    case LKS_COLUMN_SPAN:
        return (struct lks_shape)LKS_NUMBERS(0, LKS_DOC_NUMBER_MAX);
    case LKS_COLUMN_WORD:
        return (struct lks_shape){.type = LKS_TYPE_CHOICE, .values = c->words};
    case LKS_COLUMN_DIGEST:
        return (struct lks_shape)LKS_OF(SHA256);
    case LKS_COLUMN_TEXT:
        if ((c->use & LKS_USE_LINES) != 0)
            return (struct lks_shape){.type = LKS_TYPE_LINES, .max = LKS_VIEW_LINES_MAX};
        one = (c->use & LKS_USE_HASHED) != 0 ? &digest : &text;
        if ((c->use & LKS_USE_PARTED) != 0)
            return (struct lks_shape){.type = LKS_TYPE_LIST, .of = one};
        return *one;
    case LKS_COLUMN_TIME:
        return (struct lks_shape)LKS_OF(TIME);
    case LKS_COLUMN_NODE:
    case LKS_COLUMN_POOL:
    case LKS_COLUMN_BASIS:
    case LKS_COLUMN_LETTERS:
        return text;
    case LKS_COLUMN_REAL:
    case LKS_COLUMN_BYTES:
    case LKS_COLUMN_TYPES:
        break;
    }
    LKS_ASSERT(false); /* no answer has one */
    return text;
}

/* Whether every answer has the member. */
static bool is_always(const struct lks_column *c)
{
    if (c->gate_size != 0)
        return false;
    bool plain = c->type == LKS_COLUMN_TRUTH || c->type == LKS_COLUMN_NUMBER ||
                 c->type == LKS_COLUMN_SPAN || c->type == LKS_COLUMN_WORD;
    return plain ? (c->use & LKS_USE_FILLED) == 0 : (c->use & LKS_USE_ALWAYS) != 0;
}

bool lks_view_row_field(const void *view, unsigned use, size_t i, struct lks_field *out)
{
    const struct lks_column *c = NULL;
    const struct lks_view_computed *m = NULL;
    if (!lks_view_row_at(view, use, i, &c, &m))
        return false;
    *out = m != NULL ? m->field
                     : (struct lks_field){.key = lks_view_row_key(c),
                                          .shape = lks_view_row_shape(c),
                                          .flags = is_always(c) ? LKS_FIELD_REQUIRED : 0,
                                          .about = c->about};
    if ((use & (LKS_USE_FILTER | LKS_USE_SORT)) != 0)
        out->flags = 0; /* a query need not name it */
    return true;
}

void lks_view_row_names(const struct lks_view *view, unsigned use, struct lks_buf *out)
{
    struct lks_field field;
    for (size_t i = 0; lks_view_row_field(view, use, i, &field); i++)
        lks_buf_addf(out, "%s%s", i > 0 ? ", " : "", field.key);
}

/* As JSON ----------------------------------------------------------------------------------- */

bool lks_view_row_open(const struct lks_column *c, const void *row)
{
    const struct lks_column gate = {.offset = c->gate, .size = c->gate_size};
    return c->gate_size == 0 || lks_entity_number(&gate, row, 0) != 0;
}

static void put_text(struct lks_json_writer *w, const struct lks_column *c,
                     const struct lks_view_of *of)
{
    static const uint8_t none[LKS_DIGEST_BYTES];
    struct lks_str text = lks_entity_text(of->s, c, of->row, 0);
    char digest[LKS_DIGEST_SIZE];
    if (c->type == LKS_COLUMN_DIGEST) {
        LKS_ASSERT(text.len == sizeof(none));
        bool known = memcmp(text.ptr, none, sizeof(none)) != 0;
        text = lks_str_from(known ? lks_digest_write((const uint8_t *)text.ptr, digest) : "");
    }
    if (text.len == 0 && (c->use & LKS_USE_ALWAYS) == 0)
        return;
    if ((c->use & LKS_USE_PARTED) != 0)
        lks_view_words(w, lks_view_row_key(c), text);
    else
        lks_json_text(w, lks_view_row_key(c), text);
}

static void put_column(struct lks_json_writer *w, const struct lks_column *c,
                       const struct lks_view_of *of)
{
    const char *key = lks_view_row_key(c);
    if (!lks_view_row_open(c, of->row))
        return;
    if (lks_entity_is_text(c)) {
        put_text(w, c, of);
        return;
    }
    uint64_t value = lks_entity_number(c, of->row, 0);
    if (value == 0 && ((c->use & LKS_USE_FILLED) != 0 || c->type == LKS_COLUMN_TIME))
        return;
    if (c->type == LKS_COLUMN_TIME)
        lks_view_time(w, key, value);
    else if (c->type == LKS_COLUMN_TRUTH)
        lks_json_bool(w, key, value != 0);
    else if (c->type == LKS_COLUMN_WORD)
        lks_json_cstr(w, key, c->words[value]);
    else
        lks_json_int(w, key, (int64_t)value);
}

void lks_view_row_put(struct lks_json_writer *w, const struct lks_view *view, unsigned use,
                      const struct lks_view_of *of)
{
    for (size_t p = 0; p < LKS_COUNT(parts); p++) {
        struct walk k = {.view = view, .use = parts[p] & use};
        while (k.use != 0 && step(&k)) {
            if (k.at_column != NULL)
                put_column(w, k.at_column, of);
            else if (k.at_computed->put != NULL)
                k.at_computed->put(w, of);
        }
    }
}

void lks_view_row_item(struct lks_json_writer *w, const struct lks_view *view, unsigned use,
                       const struct lks_state *s, const void *row)
{
    lks_json_begin(w, NULL, '{');
    lks_view_row_put(w, view, use, &(struct lks_view_of){.s = s, .row = row});
    lks_json_end(w, '}');
}
