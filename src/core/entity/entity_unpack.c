/* Rows of the state from bytes, which may be of another version, damaged, or written to do harm. */
#include "base/intern.h"
#include "base/vec.h"
#include "codec/format/leb128.h"
#include "core/entity/layout.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/mass.h"
#include "core/state/refintern.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { TABLES_MAX = 1000, COLUMNS_MAX = 10000, BYTES_MAX = 64 << 20, TEXTS_MAX = 1 << 30 };

/* Rows that a state has take at most about 30 times their bytes: a row has a byte for each column.
 * Rows with few columns, written to fill the memory, take more. */
enum { MEMORY_MIN = 1 << 20, MEMORY_PER_BYTE = 64 };

struct text {
    struct lks_str text;
    lks_text kept; /* its number in the state; 0: it has none yet */
};

/* A column as the bytes have it. */
struct column {
    const struct lks_column *is;
    uint64_t count;
};

struct table {
    const struct lks_entity *is;
    uint64_t parent;       /* number of the table it is in; 0: the state */
    uint32_t first, count; /* its columns */
    size_t root;           /* which of lks_layout_root(), where it is one */
};

struct unpacking {
    struct lks_str rest;
    struct lks_state *s;
    struct text *texts; /* owned, as are the others; by number - 1 */
    uint32_t text_count, text_room;
    struct table *tables; /* by number - 1 */
    uint32_t table_count, table_room;
    struct column *columns;
    uint32_t column_count, column_room;
    struct lks_layout_turns turns;
    size_t memory, memory_max; /* that rows take, and may take */
    struct lks_err *err;
};

static void unpacking_fini(struct unpacking *u)
{
    free(u->texts);
    free(u->tables);
    free(u->columns);
    free(u->turns.list);
    *u = (struct unpacking){0};
}

static enum lks_code damaged(const struct unpacking *u, const char *what)
{
    return lks_fail(u->err, LKS_E_INVALID, "damaged: %s", what);
}

static enum lks_code take_number(struct unpacking *u, uint64_t most, uint64_t *out)
{
    *out = 0;
    return lks_leb128_take(&u->rest, out) && *out <= most
               ? LKS_OK
               : damaged(u, "a number is too large or cut off");
}

/* Texts ------------------------------------------------------------------------------------- */

static enum lks_code take_new_text(struct unpacking *u, struct text **out)
{
    struct lks_str text = {0};
    if (!lks_leb128_take_bytes(&u->rest, &text) || text.len == 0 || !lks_record_text(text))
        return damaged(u, "a text is empty, invalid or cut off");
    if (LKS_VEC_RESERVE_MAX(u->texts, u->text_room, u->text_count + (size_t)1, TEXTS_MAX, u->err) !=
        LKS_OK)
        return lks_wrap(u->err, "texts");
    u->texts[u->text_count] = (struct text){.text = text};
    *out = &u->texts[u->text_count++];
    return LKS_OK;
}

/* NULL: the empty one. */
static enum lks_code take_text(struct unpacking *u, struct text **out)
{
    uint64_t number = 0;
    *out = NULL;
    if (take_number(u, (uint64_t)u->text_count + 1, &number) != LKS_OK)
        return u->err->code;
    if (number == (uint64_t)u->text_count + 1)
        return take_new_text(u, out);
    *out = number == 0 ? NULL : &u->texts[number - 1];
    return LKS_OK;
}

static enum lks_code keep(struct unpacking *u, struct text *text, bool passing, lks_text *out)
{
    uint32_t id = 0;
    *out = 0;
    if (text == NULL)
        return LKS_OK;
    if (passing) {
        if (lks_refintern_take(&u->s->passing, text->text, &id, u->err) != LKS_OK)
            return u->err->code;
        *out = id | LKS_TEXT_PASSING;
        return LKS_OK;
    }
    if (text->kept == 0 && lks_intern_id(&u->s->texts, text->text, &text->kept, u->err) != LKS_OK)
        return u->err->code;
    *out = text->kept;
    return LKS_OK;
}

/* The place of what is named so, made if there is none. Nodes and pools without a name can be: any
 * record can be applied. */
static enum lks_code place_of(struct unpacking *u, enum lks_column_type type,
                              const struct text *text, uint32_t *out)
{
    struct lks_str name = text == NULL ? LKS_STR("") : text->text;
    if (type == LKS_COLUMN_NODE)
        return lks_state_place(u->s, name, out, u->err);
    if (type == LKS_COLUMN_BASIS)
        return lks_state_basis_place(u->s, name, out, u->err);
    return lks_state_pool_place(u->s, name, out, u->err);
}

/* Values ------------------------------------------------------------------------------------ */

static uint64_t most_of(const struct lks_column *c)
{
    uint64_t words = 0;
    if (c->type == LKS_COLUMN_TRUTH)
        return 1;
    if (c->type != LKS_COLUMN_WORD)
        return c->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    while (c->words[words] != NULL)
        words++;
    return words - 1;
}

static void put_number(const struct lks_column *c, char *at, uint64_t number)
{
    uint32_t small = (uint32_t)number;
    if (c->type == LKS_COLUMN_TRUTH)
        *(bool *)at = number != 0;
    else if (c->size == sizeof(small))
        memcpy(at, &small, sizeof(small));
    else
        memcpy(at, &number, sizeof(number));
}

static enum lks_code take_named(struct unpacking *u, const struct lks_column *c, char *at)
{
    struct text *text = NULL;
    uint32_t place = 0;
    if (take_text(u, &text) != LKS_OK)
        return u->err->code;
    enum lks_code code = LKS_OK;
    if (c->type == LKS_COLUMN_TEXT)
        code = keep(u, text, (c->flags & LKS_COLUMN_PASSING) != 0, &place);
    else if (c->type == LKS_COLUMN_POOL && text == NULL)
        place = LKS_NO_POOL;
    else
        code = place_of(u, c->type, text, &place);
    memcpy(at, &place, sizeof(place));
    return code;
}

static enum lks_code put_bytes(struct unpacking *u, const struct lks_column *c, char *row,
                               struct lks_str bytes)
{
    char *copy = bytes.len > 0 ? malloc(bytes.len) : NULL;
    uint32_t len = (uint32_t)bytes.len;
    if (bytes.len > 0 && copy == NULL)
        return lks_fail_nomem(u->err);
    if (copy != NULL)
        memcpy(copy, bytes.ptr, bytes.len);
    memcpy(row + c->offset, &copy, sizeof(copy));
    memcpy(row + c->length, &len, sizeof(len));
    return LKS_OK;
}

static enum lks_code take_bytes(struct unpacking *u, const struct lks_column *c, char *row)
{
    struct lks_str bytes = {0};
    bool letters = c->type == LKS_COLUMN_LETTERS, digest = c->type == LKS_COLUMN_DIGEST;
    size_t most = c->type == LKS_COLUMN_BYTES ? BYTES_MAX : c->size - letters;
    if (!lks_leb128_take_bytes(&u->rest, &bytes) || bytes.len > most ||
        (digest && bytes.len > 0 && bytes.len != c->size) ||
        (letters && memchr(bytes.ptr, '\0', bytes.len) != NULL))
        return damaged(u, "bytes have another length than their column, or are cut off");
    if (c->type == LKS_COLUMN_BYTES)
        return put_bytes(u, c, row, bytes);
    if (bytes.len > 0)
        memcpy(row + c->offset, bytes.ptr, bytes.len);
    return LKS_OK;
}

static enum lks_code check_finite(const struct unpacking *u, const struct lks_column *c,
                                  const char *at)
{
    double real = 0;
    memcpy(&real, at, sizeof(real));
    return isfinite(real)
               ? LKS_OK
               : lks_fail(u->err, LKS_E_INVALID,
                          "damaged: a value of the column '%s' is not a finite number", c->name);
}

static enum lks_code take_value(struct unpacking *u, const struct lks_column *c, char *row,
                                uint64_t i)
{
    char *at = row + c->offset + i * c->size;
    uint64_t number = 0;
    if (c->type > LKS_COLUMN_BASIS)
        return take_bytes(u, c, row);
    if (lks_entity_is_text(c))
        return take_named(u, c, at);
    if (take_number(u, UINT64_MAX, &number) != LKS_OK)
        return lks_wrap(u->err, "%s", c->name);
    if (number > most_of(c))
        return lks_fail(u->err, LKS_E_INVALID,
                        "the value %" PRIu64 " of the column '%s' belongs to a later version of "
                        "lockstep",
                        number, c->name);
    put_number(c, at, number);
    return c->type == LKS_COLUMN_REAL ? check_finite(u, c, at) : LKS_OK;
}

/* Layouts ----------------------------------------------------------------------------------- */

static enum lks_code find_table(struct unpacking *u, struct lks_str name, struct table *t)
{
    const struct lks_entity *in = t->parent == 0 ? NULL : u->tables[t->parent - 1].is;
    size_t count = in == NULL ? lks_layout_roots() : in->child_count;
    for (size_t i = 0; i < count && t->is == NULL; i++) {
        const struct lks_entity *one = in == NULL ? lks_layout_root(i) : in->children[i];
        if (lks_str_is(name, one->name)) {
            t->is = one;
            t->root = i;
        }
    }
    for (uint32_t i = 0; i < u->table_count && t->is != NULL; i++) {
        if (u->tables[i].is == t->is && u->tables[i].parent == t->parent)
            return damaged(u, "a table occurs twice");
    }
    return t->is != NULL
               ? LKS_OK
               : lks_fail(u->err, LKS_E_INVALID,
                          "the table '%" LKS_STR_FMT "' belongs to a later version of lockstep",
                          LKS_STR_ARG(name));
}

static enum lks_code find_column(struct unpacking *u, const struct table *t, struct lks_str name,
                                 struct column *c)
{
    LKS_ASSERT(t->is != NULL); /* find_table() found it */
    for (size_t i = 0; i < t->is->column_count && c->is == NULL; i++) {
        const struct lks_column *own = &t->is->columns[i];
        if (lks_str_is(name, own->name) && (own->flags & LKS_COLUMN_DERIVED) == 0)
            c->is = own;
    }
    for (uint32_t i = t->first; i < u->column_count && c->is != NULL; i++) {
        if (u->columns[i].is == c->is)
            return damaged(u, "a column occurs twice");
    }
    return c->is != NULL ? LKS_OK
                         : lks_fail(u->err, LKS_E_INVALID,
                                    "the column '%" LKS_STR_FMT
                                    "' of '%s' belongs to a later version of lockstep",
                                    LKS_STR_ARG(name), t->is->name);
}

static enum lks_code take_column(struct unpacking *u, const struct table *t)
{
    struct column c = {0};
    struct lks_str name = {0};
    uint64_t type = 0;
    if (!lks_leb128_take_bytes(&u->rest, &name))
        return damaged(u, "a column has no name");
    if (find_column(u, t, name, &c) != LKS_OK ||
        take_number(u, LKS_COLUMN_TYPES, &type) != LKS_OK ||
        take_number(u, UINT64_MAX, &c.count) != LKS_OK)
        return u->err->code;
    if (type != c.is->type || c.count > c.is->count)
        return lks_fail(
            u->err, LKS_E_INVALID,
            "the column '%s' of '%s' has the type or size of a later version of lockstep",
            c.is->name, t->is->name);
    if (LKS_VEC_RESERVE_MAX(u->columns, u->column_room, u->column_count + (size_t)1, COLUMNS_MAX,
                            u->err) != LKS_OK)
        return lks_wrap(u->err, "columns");
    u->columns[u->column_count++] = c;
    return LKS_OK;
}

static enum lks_code take_table(struct unpacking *u)
{
    struct table t = {.first = u->column_count};
    struct lks_str name = {0};
    uint64_t count = 0;
    if (!lks_leb128_take_bytes(&u->rest, &name))
        return damaged(u, "a table has no name");
    if (take_number(u, u->table_count, &t.parent) != LKS_OK || find_table(u, name, &t) != LKS_OK ||
        take_number(u, COLUMNS_MAX, &count) != LKS_OK)
        return u->err->code;
    for (uint64_t i = 0; i < count; i++) {
        if (take_column(u, &t) != LKS_OK)
            return u->err->code;
    }
    t.count = (uint32_t)count;
    if (LKS_VEC_RESERVE_MAX(u->tables, u->table_room, u->table_count + (size_t)1, TABLES_MAX,
                            u->err) != LKS_OK)
        return lks_wrap(u->err, "tables");
    u->tables[u->table_count++] = t;
    return LKS_OK;
}

/* Rows -------------------------------------------------------------------------------------- */

/* A row of zeros at the end of the list. */
static enum lks_code add_row(struct unpacking *u, const struct lks_entity *t, char *parent,
                             uint32_t place, char **out)
{
    uint32_t count = place + 1, room = 0;
    struct lks_vec list = {0};
    u->memory += t->size;
    if (u->memory > u->memory_max)
        return damaged(u, "its rows would take more than 64 bytes of memory for each byte of it");
    if (t->inside) {
        *out = parent + t->list + place * t->size;
    } else {
        memcpy(&list.items, parent + t->list, sizeof(list.items));
        memcpy(&room, parent + t->room, sizeof(room));
        list.cap = room;
        if (count > room && lks_vec_grow(&list, count, t->size, t->max, u->err) != LKS_OK)
            return lks_wrap(u->err, "%s", t->name);
        room = (uint32_t)list.cap;
        memcpy(parent + t->list, &list.items, sizeof(list.items));
        memcpy(parent + t->room, &room, sizeof(room));
        *out = (char *)list.items + place * t->size;
    }
    if (t->count != LKS_ENTITY_FIXED)
        memcpy(parent + t->count, &count, sizeof(count));
    return LKS_OK;
}

/* The row of the name that comes next. */
static enum lks_code name_row(struct unpacking *u, const struct lks_entity *t, char **out)
{
    struct text *text = NULL;
    uint32_t place = 0;
    if (take_text(u, &text) != LKS_OK || place_of(u, t->key, text, &place) != LKS_OK)
        return u->err->code;
    if (t->key == LKS_COLUMN_BASIS && text == NULL)
        return damaged(u, "readings have no digest");
    if (t->key == LKS_COLUMN_NODE) {
        *out = (char *)&u->s->nodes[place];
        if (u->s->nodes[place].placed)
            return damaged(u, "a node occurs twice");
        u->s->nodes[place].placed = true;
    } else if (t->key == LKS_COLUMN_POOL) {
        *out = (char *)&u->s->pools[place];
        if (u->s->pools[place].known)
            return damaged(u, "a pool occurs twice");
        u->s->pools[place].known = true;
    } else {
        *out = (char *)&u->s->bases[place - 1];
        if (u->s->bases[place - 1].readings != NULL)
            return damaged(u, "readings occur twice");
    }
    return LKS_OK;
}

static enum lks_code take_columns(struct unpacking *u, const struct table *t, char *row)
{
    LKS_ASSERT(row != NULL);
    for (uint32_t k = 0; k < t->count; k++) {
        const struct column *c = &u->columns[t->first + k];
        for (uint64_t i = 0; i < c->count; i++) {
            if (take_value(u, c->is, row, i) != LKS_OK)
                return lks_wrap(u->err, "%s", t->is->name);
        }
    }
    return LKS_OK;
}

/* Whether rows of other tables are in its rows. A row without those, a name and columns has no
 * bytes, and any number of them would fit. */
static bool has_children(const struct unpacking *u, uint32_t number)
{
    for (uint32_t k = number; k < u->table_count; k++) {
        if (u->tables[k].parent == number)
            return true;
    }
    return false;
}

static int compare(const struct unpacking *u, const struct lks_column *c, const void *a,
                   const void *b)
{
    if (lks_entity_is_text(c))
        return lks_str_cmp(lks_entity_text(u->s, c, a, 0), lks_entity_text(u->s, c, b, 0));
    uint64_t x = lks_entity_number(c, a, 0), y = lks_entity_number(c, b, 0);
    return (x > y) - (x < y);
}

/* Rows are searched by halves: out of their order, some would not be found. */
static enum lks_code check_order(const struct unpacking *u, const struct lks_entity *t,
                                 const void *parent)
{
    for (uint32_t i = t->first + 1; t->ordered > 0 && i < lks_entity_rows(t, parent); i++) {
        int order = 0;
        for (size_t k = 0; k < t->ordered && order == 0; k++)
            order = compare(u, &t->columns[k], lks_entity_row(t, parent, i - 1),
                            lks_entity_row(t, parent, i));
        if (order >= 0)
            return lks_fail(u->err, LKS_E_INVALID,
                            "damaged: row %" PRIu32 " of '%s' is not in order of '%s'", i + 1,
                            t->name, t->columns[0].name);
    }
    return LKS_OK;
}

/* A number that was given is never given again. */
static enum lks_code check_next(const struct unpacking *u, const struct lks_entity *t)
{
    uint32_t rows = lks_entity_rows(t, u->s);
    uint64_t next = 0;
    memcpy(&next, (const char *)u->s + t->next, sizeof(next));
    if (t->next == 0 || rows == 0 ||
        lks_entity_number(&t->columns[0], lks_entity_row(t, u->s, rows - 1), 0) < next)
        return LKS_OK;
    return lks_fail(
        u->err, LKS_E_INVALID,
        "damaged: the last row of '%s' has a number that is not below the next one to give",
        t->name);
}

/* NOLINTNEXTLINE(misc-no-recursion): tables are in tables, three deep */
static enum lks_code take_rows(struct unpacking *u, uint32_t number, char *parent)
{
    const struct table *t = &u->tables[number - 1];
    uint64_t rows = 0;
    uint32_t first = t->is->first;
    bool empty = t->count == 0 && t->is->key == 0 && !has_children(u, number);
    if (take_number(u, t->is->max - first, &rows) != LKS_OK || rows > (empty ? 0 : u->rest.len))
        return damaged(u, "a table has more rows than it may have");
    for (uint32_t i = 0; i < rows; i++) {
        char *row = NULL;
        if ((t->is->key != 0 ? name_row(u, t->is, &row)
                             : add_row(u, t->is, parent, first + i, &row)) != LKS_OK ||
            take_columns(u, t, row) != LKS_OK)
            return u->err->code;
        for (uint32_t k = number; k < u->table_count; k++) {
            if (u->tables[k].parent == number && take_rows(u, k + 1, row) != LKS_OK)
                return u->err->code;
        }
    }
    return t->is->key != 0 ? LKS_OK : check_order(u, t->is, parent);
}

/* The chains of those that turned. */
static enum lks_code turn_nodes(struct unpacking *u)
{
    struct lks_state *s = u->s;
    for (uint32_t i = 0; i < u->turns.count; i++) {
        const struct lks_layout_turn *turned = &u->turns.list[i];
        uint32_t pool = s->nodes[turned->node].pool;
        if (pool == LKS_NO_POOL || !s->pools[pool].known)
            return damaged(u, "a node within the mass window has no pool");
        lks_mass_add(&s->mass[pool], s->turns, turned->node, turned->at, s->limits.mass_window);
    }
    return LKS_OK;
}

static enum lks_code take_tables(struct unpacking *u)
{
    uint64_t tables = 0;
    if (take_number(u, TABLES_MAX, &tables) != LKS_OK)
        return u->err->code;
    for (uint64_t i = 0; i < tables; i++) {
        if (take_table(u) != LKS_OK)
            return u->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_entity_check(struct lks_str bytes, struct lks_err *err)
{
    LKS_CLEANUP(unpacking_fini) struct unpacking u = {.rest = bytes, .err = err};
    return take_tables(&u);
}

enum lks_code lks_entity_unpack(struct lks_str bytes, struct lks_state *out, struct lks_err *err)
{
    LKS_CLEANUP(unpacking_fini)
    struct unpacking u = {
        .rest = bytes,
        .s = out,
        .memory_max = MEMORY_MIN + bytes.len * MEMORY_PER_BYTE,
        .err = err,
    };
    if (take_tables(&u) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < u.table_count; i++) {
        const struct table *t = &u.tables[i];
        bool turns = lks_layout_parent(t->root, out, &u.turns) != out;
        if (t->parent == 0 &&
            take_rows(&u, i + 1, turns ? (char *)&u.turns : (char *)out) != LKS_OK)
            return err->code;
    }
    for (size_t i = 0; i < lks_entity_count; i++) {
        if (check_next(&u, lks_entities[i]) != LKS_OK)
            return err->code;
    }
    return u.rest.len > 0 ? damaged(&u, "bytes follow the last table") : turn_nodes(&u);
}
