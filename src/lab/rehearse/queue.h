/*
 * What is on its way in an invented world: messages, each due at a moment of virtual time, given
 * out in the order of their moments and, within one, in the order they were posted. So the same
 * seed has the same story. Both the simulator (sim/) and rehearsals run on it.
 *
 * A wheel of milliseconds holds what is due soon, and a heap the rest. Messages of a millisecond
 * lie side by side, so that those of a large fleet are in the caches when their turn comes.
 */
#ifndef LKS_REHEARSE_QUEUE_H
#define LKS_REHEARSE_QUEUE_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LKS_QUEUE_WHEEL 65536U

/* What its members mean but for `due` is up to the poster. */
struct lks_message {
    lks_ms due;
    uint64_t number;
    uint32_t node, life;
    uint32_t value;
    unsigned kind;
};

enum { LKS_QUEUE_CHUNK = 8 };
struct lks_queue_chunk {
    struct lks_message messages[LKS_QUEUE_CHUNK];
    uint32_t next; /* of its slot, or of the free ones: place + 1 */
};

struct lks_queue {
    struct lks_queue_chunk *chunks; /* owned, as is `far` */
    uint32_t count, room, free;
    struct lks_queue_slot {
        uint32_t first, last; /* chunks: place + 1 */
        uint16_t begin, end;  /* in the first; behind the last message of the last */
    } slots[LKS_QUEUE_WHEEL];
    uint64_t busy[LKS_QUEUE_WHEEL / 64], busier[LKS_QUEUE_WHEEL / 64 / 64];
    struct lks_queue_far {
        struct lks_message message;
        uint64_t order;
    } * far;
    size_t far_count, far_room;
    uint64_t order, waiting; /* posted; in the wheel */
    lks_ms base;             /* the wheel begins here */
    /* What messages are about, so that it is near when its turn comes: `about_size` bytes for each
     * node; then, if given, `soon` is told of each message a little before its turn. NULL: nothing.
     */
    const char *about;
    size_t about_size;
    void (*soon)(const void *world, const struct lks_message *m);
    const void *world;
};

/* All zero is an empty one. Memory that runs out ends the program: worlds are for tools. */
void lks_queue_post(struct lks_queue *q, lks_ms due, struct lks_message m);

/* The next that is due by `until`; false: there is none. */
bool lks_queue_next(struct lks_queue *q, lks_ms until, struct lks_message *out);

/* Empty again. */
void lks_queue_fini(struct lks_queue *q);

#endif
