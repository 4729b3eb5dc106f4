#include "rehearse/queue.h"

#include "base/compiler.h"

#include <stdlib.h>

static void *grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t wanted = 2 * count + 16;
    void *grown = realloc(items, wanted * size);
    LKS_ASSERT(grown != NULL);
    *room = wanted;
    return grown;
}

static bool is_before(const struct lks_queue_far *a, const struct lks_queue_far *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void far_push(struct lks_queue *q, struct lks_queue_far f)
{
    q->far = grow(q->far, q->far_count, &q->far_room, sizeof(q->far[0]));
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

/* In its millisecond what came first stays first. */
static void wheel_add(struct lks_queue *q, uint32_t place)
{
    uint32_t slot = (uint32_t)(q->messages[place].due % LKS_QUEUE_WHEEL);
    q->messages[place].next = 0;
    if (q->first[slot] == 0) {
        q->first[slot] = place + 1;
        q->busy[slot / 64] |= UINT64_C(1) << slot % 64;
        q->busier[slot / 4096] |= UINT64_C(1) << slot / 64 % 64;
    } else {
        q->messages[q->last[slot] - 1].next = place + 1;
    }
    q->last[slot] = place + 1;
    q->waiting++;
}

void lks_queue_post(struct lks_queue *q, lks_ms due, struct lks_message m)
{
    size_t room = q->room;
    uint32_t place = q->free - 1;
    m.due = due;
    if (q->free != 0) {
        q->free = q->messages[place].next;
    } else {
        q->messages = grow(q->messages, q->count, &room, sizeof(m));
        q->room = (uint32_t)room;
        place = q->count++;
    }
    q->messages[place] = m;
    if (due < q->base + LKS_QUEUE_WHEEL)
        wheel_add(q, place);
    else
        far_push(q, (struct lks_queue_far){due, q->order++, place});
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

static void wheel_take(struct lks_queue *q, uint32_t slot, struct lks_message *out)
{
    uint32_t place = q->first[slot] - 1;
    *out = q->messages[place];
    q->first[slot] = out->next;
    if (out->next == 0) {
        q->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        if (q->busy[slot / 64] == 0)
            q->busier[slot / 4096] &= ~(UINT64_C(1) << slot / 64 % 64);
    }
    q->messages[place].next = q->free;
    q->free = place + 1;
    q->waiting--;
}

/* What is needed next is far away in memory: of the next message what it is about, and the message
 * behind that one, which is asked for now so that it is there when its turn comes. */
static void look_ahead(const struct lks_queue *q, uint32_t slot, uint32_t next)
{
    uint32_t then = q->first[(slot + 1) % LKS_QUEUE_WHEEL];
    if (next != 0) {
        if (q->about != NULL)
            __builtin_prefetch(q->about + q->messages[next - 1].node * q->about_size);
        then = q->messages[next - 1].next != 0 ? q->messages[next - 1].next : then;
    }
    if (then != 0)
        __builtin_prefetch(&q->messages[then - 1]);
}

bool lks_queue_next(struct lks_queue *q, lks_ms until, struct lks_message *out)
{
    if (q->waiting == 0 && q->far_count > 0 && q->far[0].due <= until)
        q->base = q->far[0].due; /* nothing before it */
    for (;;) {
        while (q->far_count > 0 && q->far[0].due < q->base + LKS_QUEUE_WHEEL)
            wheel_add(q, far_pop(q).place);
        if (q->waiting == 0)
            return false;
        uint32_t slot = wheel_next(q, (uint32_t)(q->base % LKS_QUEUE_WHEEL));
        lks_ms due = q->messages[q->first[slot] - 1].due;
        if (due > until)
            return false;
        if (due > q->base && q->far_count > 0 && q->far[0].due < due + LKS_QUEUE_WHEEL) {
            q->base = due; /* what was far may be next to it now, behind it */
            continue;
        }
        q->base = due;
        wheel_take(q, slot, out);
        look_ahead(q, slot, out->next);
        return true;
    }
}

void lks_queue_fini(struct lks_queue *q)
{
    free(q->messages);
    free(q->far);
    q->messages = NULL;
    q->far = NULL;
    q->count = q->room = q->free = 0;
    q->far_count = q->far_room = 0;
}
