#include "lab/rehearse/queue.h"

#include "base/compiler.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Growing needs a stack frame; within a caller, each message would pay for it. */
__attribute__((noinline)) static void grow_far(struct lks_queue *q)
{
    LKS_ASSERT(LKS_VEC_RESERVE(q->far, q->far_room, q->far_count + 1, NULL) == LKS_OK);
}

__attribute__((noinline)) static void grow_chunks(struct lks_queue *q)
{
    LKS_ASSERT(LKS_VEC_RESERVE(q->chunks, q->room, q->count + 1, NULL) == LKS_OK);
}

static bool is_before(const struct lks_queue_far *a, const struct lks_queue_far *b)
{
    return a->message.due < b->message.due ||
           (a->message.due == b->message.due && a->order < b->order);
}

static void far_push(struct lks_queue *q, struct lks_queue_far f)
{
    if (q->far_count == q->far_room)
        grow_far(q);
    size_t at = q->far_count++;
    for (; at > 0 && is_before(&f, &q->far[(at - 1) / 2]); at = (at - 1) / 2)
        q->far[at] = q->far[(at - 1) / 2];
    q->far[at] = f;
}

static struct lks_queue_far far_pop(struct lks_queue *q)
{
    struct lks_queue_far first = q->far[0], last = q->far[--q->far_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < q->far_count) {
        if (child + 1 < q->far_count && is_before(&q->far[child + 1], &q->far[child]))
            child++;
        if (!is_before(&q->far[child], &last))
            break;
        q->far[at] = q->far[child];
        at = child;
    }
    q->far[at] = last;
    return first;
}

static uint32_t take_chunk(struct lks_queue *q)
{
    uint32_t place = q->free;
    if (place != 0) {
        q->free = q->chunks[place - 1].next;
    } else {
        if (q->count == q->room)
            grow_chunks(q);
        place = ++q->count;
    }
    q->chunks[place - 1].next = 0;
    return place;
}

/* One more chunk behind those of a slot. */
static void slot_extend(struct lks_queue *q, uint32_t at)
{
    struct lks_queue_slot *slot = &q->slots[at];
    uint32_t place = take_chunk(q);
    if (slot->first == 0) {
        slot->first = place;
        slot->begin = 0;
        q->busy[at / 64] |= UINT64_C(1) << at % 64;
        q->busier[at / 4096] |= UINT64_C(1) << at / 64 % 64;
    } else {
        q->chunks[slot->last - 1].next = place;
    }
    slot->last = place;
    slot->end = 0;
}

/* In its millisecond what came first stays first. */
static void wheel_add(struct lks_queue *q, const struct lks_message *m)
{
    uint32_t at = (uint32_t)(m->due % LKS_QUEUE_WHEEL);
    struct lks_queue_slot *slot = &q->slots[at];
    if (slot->first == 0 || slot->end == LKS_QUEUE_CHUNK)
        slot_extend(q, at);
    q->chunks[slot->last - 1].messages[slot->end++] = *m;
    q->waiting++;
}

void lks_queue_post(struct lks_queue *q, lks_ms due, struct lks_message m)
{
    m.due = due;
    if (due < q->base + LKS_QUEUE_WHEEL)
        wheel_add(q, &m);
    else
        far_push(q, (struct lks_queue_far){m, q->order++});
}

/* The first slot from `slot` on, around the wheel, that has something. */
static uint32_t wheel_next(const struct lks_queue *q, uint32_t slot)
{
    uint64_t here = q->busy[slot / 64] >> slot % 64;
    if (here != 0)
        return slot + (uint32_t)__builtin_ctzll(here);
    for (uint32_t i = 1, words = LKS_QUEUE_WHEEL / 64; i <= words; i++) {
        uint32_t word = (slot / 64 + i) % words;
        if (word % 64 == 0 && q->busier[word / 64] == 0)
            i += 63; /* a whole group of them is empty */
        else if (q->busy[word] != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(q->busy[word]);
    }
    LKS_ASSERT(false);
    return 0;
}

/* Messages of one of the slot's chunks that are left. */
static uint32_t left_in(const struct lks_queue_slot *slot, uint32_t chunk)
{
    uint32_t end = chunk == slot->last ? slot->end : LKS_QUEUE_CHUNK;
    return chunk == slot->first ? end - slot->begin : end;
}

static void wheel_take(struct lks_queue *q, uint32_t at, struct lks_message *out)
{
    struct lks_queue_slot *slot = &q->slots[at];
    struct lks_queue_chunk *chunk = &q->chunks[slot->first - 1];
    *out = chunk->messages[slot->begin++];
    q->waiting--;
    if (left_in(slot, slot->first) > 0)
        return;
    uint32_t next = chunk->next;
    chunk->next = q->free;
    q->free = slot->first;
    slot->first = next;
    slot->begin = 0;
    if (next != 0)
        return;
    q->busy[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (q->busy[at / 64] == 0)
        q->busier[at / 4096] &= ~(UINT64_C(1) << at / 64 % 64);
}

/* The message so many behind the next one, of this millisecond or the one after it; NULL: there is
 * none. */
static const struct lks_message *ahead(const struct lks_queue *q, uint32_t at, uint32_t many)
{
    const struct lks_queue_slot *slot = &q->slots[at];
    for (unsigned i = 0; i < 2; i++, slot = &q->slots[(at + 1) % LKS_QUEUE_WHEEL]) {
        for (uint32_t c = slot->first; c != 0; c = q->chunks[c - 1].next) {
            uint32_t left = left_in(slot, c);
            if (many < left)
                return &q->chunks[c - 1].messages[many + (c == slot->first ? slot->begin : 0)];
            many -= left;
        }
    }
    return NULL;
}

/* What is needed soon is far away in memory, and asked for now so that it is there in time: first
 * the messages, then what they are about, then what follows from that. */
static void look_ahead(const struct lks_queue *q, uint32_t at)
{
    enum { ABOUT_AHEAD = 8, SOON_AHEAD = 3, LINE = 64 };
    uint32_t then = q->slots[at].begin == 1 ? q->slots[(at + 2) % LKS_QUEUE_WHEEL].first : 0;
    for (size_t line = 0; then != 0 && line < sizeof(q->chunks[0]); line += LINE)
        __builtin_prefetch((const char *)&q->chunks[then - 1] + line);
    const struct lks_message *about = ahead(q, at, ABOUT_AHEAD), *soon = ahead(q, at, SOON_AHEAD);
    if (about != NULL)
        __builtin_prefetch(q->about + about->node * q->about_size);
    if (soon != NULL && q->soon != NULL)
        q->soon(q->world, soon);
}

bool lks_queue_next(struct lks_queue *q, lks_ms until, struct lks_message *out)
{
    if (q->waiting == 0 && q->far_count > 0 && q->far[0].message.due <= until)
        q->base = q->far[0].message.due; /* nothing before it */
    for (;;) {
        while (q->far_count > 0 && q->far[0].message.due < q->base + LKS_QUEUE_WHEEL) {
            struct lks_queue_far first = far_pop(q);
            wheel_add(q, &first.message);
        }
        if (q->waiting == 0)
            return false;
        uint32_t at = wheel_next(q, (uint32_t)(q->base % LKS_QUEUE_WHEEL));
        const struct lks_queue_slot *slot = &q->slots[at];
        lks_ms due = q->chunks[slot->first - 1].messages[slot->begin].due;
        if (due > until)
            return false;
        if (due > q->base && q->far_count > 0 && q->far[0].message.due < due + LKS_QUEUE_WHEEL) {
            q->base = due; /* what was far may be next to it now, behind it */
            continue;
        }
        q->base = due;
        wheel_take(q, at, out);
        if (q->about != NULL)
            look_ahead(q, at);
        return true;
    }
}

void lks_queue_fini(struct lks_queue *q)
{
    free(q->chunks);
    free(q->far);
    memset(q, 0, sizeof(*q));
}
