#include "tests/list_state.h"

#include "base/real.h"
#include "codec/format/digest.h"
#include "codec/format/json.h"
#include "core/entity/layout.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdlib.h>

struct listing {
    const struct lks_state *s;
    const char *tables;
    struct lks_buf *out;
};

static bool is_plain(struct lks_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || strchr("\"\\", text.ptr[i]) != NULL)
            return false;
    }
    return text.len > 0;
}

static void add_text(struct lks_buf *out, struct lks_str text)
{
    if (is_plain(text))
        lks_buf_add(out, text);
    else
        lks_json_string(out, text);
}

/* Whether the value says something: a number is not zero, a text not empty, a digest not none. */
static bool has_value(const struct listing *l, const struct lks_column *c, const void *row,
                      size_t i)
{
    static const char none[LKS_DIGEST_BYTES];
    if (!lks_entity_is_text(c))
        return lks_entity_number(c, row, i) != 0;
    struct lks_str text = lks_entity_text(l->s, c, row, i);
    return text.len > 0 && !(c->type == LKS_COLUMN_DIGEST && memcmp(text.ptr, none, text.len) == 0);
}

static void add_number(struct lks_buf *out, const struct lks_column *c, uint64_t number)
{
    char text[LKS_REAL_SIZE];
    double real = 0;
    memcpy(&real, &number, sizeof(real));
    if (c->type == LKS_COLUMN_REAL)
        lks_buf_addf(out, "%s", lks_real_text(real, text));
    else if (c->type == LKS_COLUMN_WORD)
        add_text(out, lks_str_from(c->words[number]));
    else
        lks_buf_addf(out, "%" PRIu64, number);
}

static void add_value(const struct listing *l, const struct lks_column *c, const void *row,
                      size_t i)
{
    char digest[LKS_DIGEST_SIZE];
    if (!has_value(l, c, row, i))
        return;
    lks_buf_addf(l->out, " %s", c->name);
    if (c->count > 1)
        lks_buf_addf(l->out, "[%zu]", i);
    lks_buf_addc(l->out, '=');
    if (c->type == LKS_COLUMN_DIGEST)
        lks_buf_addf(l->out, "%s",
                     lks_digest_write((const uint8_t *)row + c->offset + i * c->size, digest));
    else if (lks_entity_is_text(c))
        add_text(l->out, lks_entity_text(l->s, c, row, i));
    else
        add_number(l->out, c, lks_entity_number(c, row, i));
}

/* A row of a table that always has as many: without any value it is no row yet. */
static bool is_listed(const struct listing *l, const struct lks_entity *t, const void *row)
{
    bool some = t->count != LKS_ENTITY_FIXED;
    for (size_t k = 0; k < t->column_count && !some; k++) {
        for (size_t i = 0; i < t->columns[k].count && !some; i++)
            some = has_value(l, &t->columns[k], row, i);
    }
    return some && lks_entity_counts(l->s, t, row);
}

static void add_columns(const struct listing *l, const struct lks_entity *t, const void *row)
{
    for (size_t k = 0; k < t->column_count; k++) {
        for (size_t i = 0; i < t->columns[k].count; i++)
            add_value(l, &t->columns[k], row, i);
    }
    lks_buf_addc(l->out, '\n');
}

/* The row's own name behind that of the row it is in. */
static void name_row(const struct listing *l, const struct lks_entity *t, struct lks_str in,
                     uint32_t place, struct lks_buf *name)
{
    lks_buf_addf(name, "%" LKS_STR_FMT "%s%s", LKS_STR_ARG(in), in.len > 0 ? "." : "", t->name);
    if (t->key != 0) {
        lks_buf_addc(name, ' ');
        add_text(name, lks_entity_name(l->s, t, place));
    } else if (t->max > 1) {
        lks_buf_addf(name, "[%" PRIu32 "]", place - t->first);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): tables are in tables, three deep */
static void list_rows(const struct listing *l, const struct lks_entity *t, const void *parent,
                      struct lks_str in)
{
    for (uint32_t i = t->first; i < lks_entity_rows(t, parent); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(4096);
        const void *row = lks_entity_row(t, parent, i);
        if (!is_listed(l, t, row))
            continue;
        name_row(l, t, in, i, &name);
        if (l->tables == NULL || lks_str_has_word(lks_str_from(l->tables), lks_str_from(t->name))) {
            lks_buf_add(l->out, lks_buf_view(&name));
            add_columns(l, t, row);
        }
        for (size_t k = 0; k < t->child_count; k++)
            list_rows(l, t->children[k], row, lks_buf_view(&name));
    }
}

void lks_list_state(const struct lks_state *s, const char *tables, struct lks_buf *out)
{
    const struct listing l = {s, tables, out};
    struct lks_layout_turns turns = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_layout_turns_of(s, &turns, &err), LKS_OK);
    for (size_t i = 0; i < lks_layout_roots(); i++)
        list_rows(&l, lks_layout_root(i), lks_layout_parent(i, s, &turns), LKS_STR(""));
    free(turns.list);
}
