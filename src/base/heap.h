/* Timers: what is due next among many. Each id has one time at the most, which can be moved or
 * removed; every change costs O(log n). Of two that are due together the smaller id comes first, so
 * that the same history always replays in the same order. */
#ifndef LKS_BASE_HEAP_H
#define LKS_BASE_HEAP_H

#include "base/err.h"
#include "base/time.h"

struct lks_heap_entry {
    lks_ms at;
    uint32_t id;
};

struct lks_heap {
    struct lks_heap_entry *entries; /* owned; no entry is before entry (i - 1) / 2 */
    uint32_t *places;               /* owned; by id: index in `entries` + 1, or 0 */
    uint32_t count;
    uint32_t cap; /* of both arrays */
    uint32_t ids;
};

/* For the ids below `ids`. Memory is taken as they are used. */
void lks_heap_init(struct lks_heap *h, uint32_t ids);
void lks_heap_fini(struct lks_heap *h);

/* `id` is due at `at`, whatever it was before. Fails only for lack of memory. */
enum lks_code lks_heap_set(struct lks_heap *h, uint32_t id, lks_ms at,
                           struct lks_err *err) LKS_MUST_CHECK;

/* False if `id` was not there. */
bool lks_heap_remove(struct lks_heap *h, uint32_t id);

/* The entry that is due first; false, and nothing written, if there is none. Popping takes it
 * out. */
bool lks_heap_peek(const struct lks_heap *h, lks_ms *at, uint32_t *id);
bool lks_heap_pop(struct lks_heap *h, lks_ms *at, uint32_t *id);

#endif
