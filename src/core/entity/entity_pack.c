/* All rows of the state as bytes. */
#include "base/intern.h"
#include "codec/format/digest.h"
#include "codec/format/leb128.h"
#include "core/entity/layout.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/state/state_room.h"

#include <stdlib.h>

/* What texts are known by within the state: numbers of texts that stay and of those that pass,
 * places of nodes, handles of bases. */
enum known { KEPT, PASSED, NAMES, BASES, KINDS };

struct packing {
    const struct lks_state *s;
    bool shown;
    struct lks_buf *out;
    struct {
        uint32_t *by; /* owned: the number in these bytes; 0: none yet */
        uint32_t count;
    } numbers[KINDS];
    uint32_t given; /* the last of these numbers */
    struct lks_layout_turns turns;
};

static void packing_fini(struct packing *p)
{
    for (size_t i = 0; i < KINDS; i++)
        free(p->numbers[i].by);
    free(p->turns.list);
    *p = (struct packing){0};
}

static enum lks_code packing_init(struct packing *p, struct lks_err *err)
{
    const struct lks_state *s = p->s;
    const uint32_t counts[KINDS] = {
        [KEPT] = lks_intern_count(&s->texts),
        [PASSED] = s->passing.count,
        [NAMES] = s->node_count,
        [BASES] = lks_intern_count(&s->basis_digests),
    };
    for (size_t i = 0; i < KINDS; i++) {
        p->numbers[i].count = counts[i];
        p->numbers[i].by = calloc((size_t)counts[i] + 1, sizeof(p->numbers[i].by[0]));
        if (p->numbers[i].by == NULL)
            return lks_fail_nomem(err);
    }
    return lks_layout_turns_of(s, &p->turns, err);
}

/* A text by its number; the first time with its bytes. */
static void add_text(struct packing *p, enum known kind, uint32_t id, struct lks_str text)
{
    LKS_ASSERT(text.len == 0 || id < p->numbers[kind].count);
    uint32_t *number = text.len > 0 ? &p->numbers[kind].by[id] : NULL;
    if (number == NULL || *number != 0) {
        lks_leb128_add(p->out, number == NULL ? 0 : *number);
        return;
    }
    *number = ++p->given;
    lks_leb128_add(p->out, *number);
    lks_leb128_add_bytes(p->out, text);
}

static void add_state_text(struct packing *p, lks_text text)
{
    bool passes = (text & LKS_TEXT_PASSING) != 0;
    add_text(p, passes ? PASSED : KEPT, text & ~LKS_TEXT_PASSING, lks_state_text(p->s, text));
}

/* What a column of one of the types from TEXT to BASIS names. */
static void add_named(struct packing *p, enum lks_column_type type, uint32_t place)
{
    if (type == LKS_COLUMN_TEXT)
        add_state_text(p, place);
    else if (type == LKS_COLUMN_NODE)
        add_text(p, NAMES, place, lks_state_name(p->s, place));
    else if (type == LKS_COLUMN_POOL)
        add_state_text(p, place == LKS_NO_POOL ? 0 : p->s->pools[place].name);
    else if (place == 0)
        lks_leb128_add(p->out, 0);
    else
        add_text(p, BASES, place - 1, lks_intern_text(&p->s->basis_digests, place - 1));
}

static void add_bytes(struct packing *p, const struct lks_column *c, struct lks_str bytes)
{
    static const char zero[LKS_DIGEST_BYTES];
    bool none = c->type == LKS_COLUMN_DIGEST && memcmp(bytes.ptr, zero, sizeof(zero)) == 0;
    lks_leb128_add_bytes(p->out, none ? LKS_STR("") : bytes);
}

static void add_value(struct packing *p, const struct lks_column *c, const void *row, size_t i)
{
    if (!lks_entity_is_text(c))
        lks_leb128_add(p->out, lks_entity_number(c, row, i));
    else if (c->type <= LKS_COLUMN_BASIS)
        add_named(p, c->type, (uint32_t)lks_entity_number(c, row, i));
    else
        add_bytes(p, c, lks_entity_text(p->s, c, row, i));
}

static bool is_written(const struct packing *p, const struct lks_column *c)
{
    return (c->flags & LKS_COLUMN_DERIVED) == 0 &&
           !(p->shown && (c->flags & LKS_COLUMN_SECRET) != 0);
}

static void add_columns(struct packing *p, const struct lks_entity *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < t->column_count; i++)
        count += is_written(p, &t->columns[i]);
    lks_leb128_add(p->out, count);
    for (size_t i = 0; i < t->column_count; i++) {
        const struct lks_column *c = &t->columns[i];
        if (!is_written(p, c))
            continue;
        lks_leb128_add_bytes(p->out, lks_str_from(c->name));
        lks_leb128_add(p->out, c->type);
        lks_leb128_add(p->out, c->count);
    }
}

/* Each before those in it. */
/* NOLINTNEXTLINE(misc-no-recursion): tables are in tables, three deep */
static void add_layout(struct packing *p, const struct lks_entity *t, uint64_t parent,
                       uint64_t *number)
{
    uint64_t own = ++*number;
    lks_leb128_add_bytes(p->out, lks_str_from(t->name));
    lks_leb128_add(p->out, parent);
    add_columns(p, t);
    for (size_t i = 0; i < t->child_count; i++)
        add_layout(p, t->children[i], own, number);
}

static void add_row(struct packing *p, const struct lks_entity *t, uint32_t place, const void *row)
{
    if (t->key != 0)
        add_named(p, t->key, t->key == LKS_COLUMN_BASIS ? place + 1 : place);
    for (size_t k = 0; k < t->column_count; k++) {
        const struct lks_column *c = &t->columns[k];
        for (size_t i = 0; i < c->count && is_written(p, c); i++)
            add_value(p, c, row, i);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): the same depth */
static void add_rows(struct packing *p, const struct lks_entity *t, const void *parent)
{
    uint64_t count = 0;
    uint32_t rows = lks_entity_rows(t, parent);
    for (uint32_t i = t->first; i < rows; i++)
        count += lks_entity_counts(p->s, t, lks_entity_row(t, parent, i));
    lks_leb128_add(p->out, count);
    for (uint32_t i = t->first; i < rows; i++) {
        const void *row = lks_entity_row(t, parent, i);
        if (!lks_entity_counts(p->s, t, row))
            continue;
        add_row(p, t, i, row);
        for (size_t k = 0; k < t->child_count; k++)
            add_rows(p, t->children[k], row);
    }
}

static bool is_root_written(const struct packing *p, size_t i)
{
    return !(p->shown && lks_layout_root(i)->secret);
}

/* NOLINTNEXTLINE(misc-no-recursion): the same depth */
static uint64_t tables_in(const struct lks_entity *t)
{
    uint64_t count = 1;
    for (size_t i = 0; i < t->child_count; i++)
        count += tables_in(t->children[i]);
    return count;
}

enum lks_code lks_entity_pack(const struct lks_state *s, bool shown, struct lks_buf *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(packing_fini) struct packing p = {.s = s, .shown = shown, .out = out};
    uint64_t tables = 0, number = 0;
    if (packing_init(&p, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < lks_layout_roots(); i++)
        tables += is_root_written(&p, i) ? tables_in(lks_layout_root(i)) : 0;
    lks_leb128_add(out, tables);
    for (size_t i = 0; i < lks_layout_roots(); i++) {
        if (is_root_written(&p, i))
            add_layout(&p, lks_layout_root(i), 0, &number);
    }
    for (size_t i = 0; i < lks_layout_roots(); i++) {
        if (is_root_written(&p, i))
            add_rows(&p, lks_layout_root(i), lks_layout_parent(i, s, &p.turns));
    }
    return lks_buf_check(out, err);
}
