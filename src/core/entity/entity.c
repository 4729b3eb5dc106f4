#include "core/entity/entity.h"

#include "base/intern.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/state/state_room.h"

uint32_t lks_entity_rows(const struct lks_entity *t, const void *parent)
{
    uint32_t count = 0;
    if (t->count == LKS_ENTITY_FIXED)
        return t->max;
    memcpy(&count, (const char *)parent + t->count, sizeof(count));
    return count;
}

const void *lks_entity_row(const struct lks_entity *t, const void *parent, uint32_t place)
{
    const char *rows = (const char *)parent + t->list;
    if (!t->inside)
        memcpy(&rows, (const char *)parent + t->list, sizeof(rows));
    return rows + place * t->size;
}

bool lks_entity_counts(const struct lks_state *s, const struct lks_entity *t, const void *row)
{
    return t->counts == NULL || t->counts(s, row);
}

static const struct lks_intern *names_of(const struct lks_state *s, const struct lks_entity *t)
{
    LKS_ASSERT(t->key != 0);
    if (t->key == LKS_COLUMN_NODE)
        return &s->names;
    return t->key == LKS_COLUMN_POOL ? &s->pool_names : &s->basis_digests;
}

struct lks_str lks_entity_name(const struct lks_state *s, const struct lks_entity *t,
                               uint32_t place)
{
    return lks_intern_text(names_of(s, t), place);
}

const void *lks_entity_find(const struct lks_state *s, const struct lks_entity *t,
                            struct lks_str name)
{
    uint32_t place = 0;
    if (!lks_intern_find(names_of(s, t), name, &place))
        return NULL;
    const void *row = lks_entity_row(t, s, place);
    return lks_entity_counts(s, t, row) ? row : NULL;
}

uint64_t lks_entity_number(const struct lks_column *c, const void *row, size_t i)
{
    const char *at = (const char *)row + c->offset + i * c->size;
    uint32_t small = 0;
    uint64_t large = 0;
    switch (c->size) {
    case sizeof(bool):
        return *(const bool *)at ? 1 : 0;
    case sizeof(small):
        memcpy(&small, at, sizeof(small));
        return small;
    default:
        LKS_ASSERT(c->size == sizeof(large));
        memcpy(&large, at, sizeof(large));
        return large;
    }
}

static struct lks_str bytes_of(const struct lks_column *c, const void *row)
{
    struct lks_str bytes = {0};
    uint32_t len = 0;
    memcpy(&bytes.ptr, (const char *)row + c->offset, sizeof(bytes.ptr));
    memcpy(&len, (const char *)row + c->length, sizeof(len));
    bytes.len = len;
    return bytes;
}

struct lks_str lks_entity_text(const struct lks_state *s, const struct lks_column *c,
                               const void *row, size_t i)
{
    const char *at = (const char *)row + c->offset + i * c->size;
    uint32_t place = 0;
    if (c->size == sizeof(place))
        memcpy(&place, at, sizeof(place));
    switch (c->type) {
    case LKS_COLUMN_TEXT:
        return lks_state_text(s, place);
    case LKS_COLUMN_NODE:
        return lks_state_name(s, place);
    case LKS_COLUMN_POOL:
        return place == LKS_NO_POOL ? LKS_STR("") : lks_state_text(s, s->pools[place].name);
    case LKS_COLUMN_BASIS:
        return place == 0 ? LKS_STR("") : lks_intern_text(&s->basis_digests, place - 1);
    case LKS_COLUMN_BYTES:
        return bytes_of(c, row);
    case LKS_COLUMN_DIGEST:
        return (struct lks_str){at, c->size};
    case LKS_COLUMN_LETTERS:
        return lks_str_from(at);
    case LKS_COLUMN_TRUTH:
    case LKS_COLUMN_NUMBER:
    case LKS_COLUMN_TIME:
    case LKS_COLUMN_SPAN:
    case LKS_COLUMN_REAL:
    case LKS_COLUMN_WORD:
    case LKS_COLUMN_TYPES:
        break;
    }
    return LKS_STR("");
}

bool lks_entity_is_text(const struct lks_column *c)
{
    return c->type >= LKS_COLUMN_TEXT;
}
