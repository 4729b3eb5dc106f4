/* Names as small numbers: equal texts get equal ids, ids count up from 0, and either leads to the
 * other. What is known by an id is compared in one step and indexes an array. */
#ifndef LKS_BASE_INTERN_H
#define LKS_BASE_INTERN_H

#include "base/arena.h"

struct lks_intern_entry {
    struct lks_str text; /* owned by `bytes` below */
    uint64_t hash;
};

/* Half of the hash is beside the id: others are passed over without a look at their entries, which
 * are far away in memory. */
struct lks_intern_slot {
    uint32_t next; /* id + 1, or 0 where free */
    uint32_t tag;
};

struct lks_intern {
    struct lks_arena bytes;
    struct lks_intern_entry *entries; /* owned; by id */
    struct lks_intern_slot *slots;    /* owned; by hash */
    size_t slot_count;                /* a power of two, or 0 */
    uint32_t count;
    uint64_t seed[2];
};

/* At most `max_bytes` of text, each rounded up as an arena does. */
void lks_intern_init(struct lks_intern *in, size_t max_bytes);

/* Hash by this seed, so that the author of the texts cannot choose such that collide. Before the
 * first text. */
void lks_intern_seed(struct lks_intern *in, uint64_t seed);

void lks_intern_fini(struct lks_intern *in);

/* The id of `text`, a new one if it is seen for the first time; the text is copied. */
enum lks_code lks_intern_id(struct lks_intern *in, struct lks_str text, uint32_t *id,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The id of `text` if it has one. */
bool lks_intern_find(const struct lks_intern *in, struct lks_str text, uint32_t *id);

/* The ids of `count` texts, UINT32_MAX for those that have none. Of many texts it takes a fraction
 * of the time that finding each by itself does: it is memory that one waits for. */
void lks_intern_find_all(const struct lks_intern *in, const struct lks_str *texts, size_t count,
                         uint32_t *ids);

/* The text of an id that was given out; terminated, and valid until lks_intern_fini(). */
struct lks_str lks_intern_text(const struct lks_intern *in, uint32_t id);

uint32_t lks_intern_count(const struct lks_intern *in);

/* SipHash-1-3: without the seed it cannot be known which texts collide. */
uint64_t lks_intern_hash(const uint64_t seed[2], struct lks_str text);

#endif
