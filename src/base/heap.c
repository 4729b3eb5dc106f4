#include "base/heap.h"

#include "base/vec.h"

#include <stdlib.h>

void lks_heap_init(struct lks_heap *h, uint32_t ids)
{
    *h = (struct lks_heap){.ids = ids};
}

void lks_heap_fini(struct lks_heap *h)
{
    free(h->entries);
    free(h->places);
    *h = (struct lks_heap){0};
}

static bool before(struct lks_heap_entry a, struct lks_heap_entry b)
{
    return a.at < b.at || (a.at == b.at && a.id < b.id);
}

static void put(struct lks_heap *h, uint32_t place, struct lks_heap_entry entry)
{
    h->entries[place] = entry;
    h->places[entry.id] = place + 1;
}

/* Bring `entry` to where it belongs, starting from the free `place`: up past those it precedes, or
 * else down past those that precede it. */
static void settle(struct lks_heap *h, uint32_t place, struct lks_heap_entry entry)
{
    while (place > 0 && before(entry, h->entries[(place - 1) / 2])) {
        put(h, place, h->entries[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * (size_t)place + 1;
        if (child + 1 < h->count && before(h->entries[child + 1], h->entries[child]))
            child++;
        if (child >= h->count || !before(h->entries[child], entry))
            break;
        put(h, place, h->entries[child]);
        place = (uint32_t)child;
    }
    put(h, place, entry);
}

/* Capacity for `id`, and with it for as many entries, since no id is there twice. */
static enum lks_code reserve(struct lks_heap *h, uint32_t id, struct lks_err *err)
{
    uint32_t entries_cap = h->cap; /* the arrays grow together */
    if (LKS_VEC_RESERVE_MAX(h->entries, entries_cap, id + 1, h->ids, err) != LKS_OK ||
        LKS_VEC_RESERVE_MAX(h->places, h->cap, id + 1, h->ids, err) != LKS_OK)
        return err->code;
    return LKS_OK;
}

enum lks_code lks_heap_set(struct lks_heap *h, uint32_t id, lks_ms at, struct lks_err *err)
{
    LKS_ASSERT(id < h->ids);
    if (reserve(h, id, err) != LKS_OK)
        return err->code;
    uint32_t place = h->places[id] > 0 ? h->places[id] - 1 : h->count++;
    settle(h, place, (struct lks_heap_entry){at, id});
    return LKS_OK;
}

bool lks_heap_remove(struct lks_heap *h, uint32_t id)
{
    LKS_ASSERT(id < h->ids);
    if (id >= h->cap || h->places[id] == 0)
        return false;
    uint32_t place = h->places[id] - 1;
    h->places[id] = 0;
    struct lks_heap_entry last = h->entries[--h->count];
    if (last.id != id)
        settle(h, place, last);
    return true;
}

bool lks_heap_peek(const struct lks_heap *h, lks_ms *at, uint32_t *id)
{
    if (h->count == 0)
        return false;
    *at = h->entries[0].at;
    *id = h->entries[0].id;
    return true;
}

bool lks_heap_pop(struct lks_heap *h, lks_ms *at, uint32_t *id)
{
    return lks_heap_peek(h, at, id) && lks_heap_remove(h, *id);
}
