#include "sim/campaign.h"

#include "tests/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void cam_require(struct cam *w, bool ok, const char *promise, const char *fmt, ...)
{
    if (ok || w->broken)
        return;
    va_list ap;
    char text[LKS_ERR_MSG_MAX - 64];
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    w->broken = true;
    (void)snprintf(w->why, sizeof(w->why), "%.40s: %s", promise, text);
    cam_say(w, "BROKEN: %s", w->why);
    lks_test_case("seed %" PRIu64 " at %" PRIu64 " ms", w->seed, w->now);
    if (!w->quiet)
        (void)lks_check(ok, w->why, __FILE__, __LINE__);
}

void *cam_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t wanted = 2 * count + 16;
    void *grown = realloc(items, wanted * size);
    LKS_ASSERT(grown != NULL);
    memset((char *)grown + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return grown;
}

void cam_say(const struct cam *w, const char *fmt, ...)
{
    if (!w->print)
        return;
    va_list ap;
    va_start(ap, fmt);
    printf("%10.3f  ", (double)w->now / (double)LKS_SECOND);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

void cam_mix(struct cam *w, uint64_t value)
{
    w->history = (w->history ^ value) * UINT64_C(0x100000001b3);
    w->history ^= w->history >> 29;
}

lks_ms cam_between(struct cam *w, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&w->rng, high - low + 1);
}

bool cam_chance(struct cam *w, unsigned percent)
{
    return percent > 0 && !w->calm && lks_rng_percent(&w->rng, percent);
}

/* Most things take their usual time, and a few take very long. */
lks_ms cam_takes(struct cam *w, lks_ms usual)
{
    lks_ms took = cam_between(w, usual / 4, usual);
    uint64_t tail = lks_rng_below(&w->rng, 1000);
    if (w->calm || w->kind || tail >= 40)
        return took;
    return took * (tail < 4 ? 30 : tail < 12 ? 10 : 3);
}

struct lks_now cam_now(const struct cam *w)
{
    return (struct lks_now){.wall = CAM_WALL + w->now, .mono = w->now};
}

void cam_digest(char out[LKS_DIGEST_SIZE], const char *what, uint64_t number)
{
    uint64_t tag = 0;
    for (; *what != '\0'; what++)
        tag = tag * 31 + (uint8_t)*what;
    (void)snprintf(out, LKS_DIGEST_SIZE, "sha256:%032" PRIx64 "%016" PRIx64 "%016" PRIx64, tag,
                   number, ~number);
}

/* What is on its way ------------------------------------------------------------------------- */

static bool is_before(const struct cam_far *a, const struct cam_far *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void far_push(struct cam_queue *q, struct cam_far f)
{
    q->far = cam_grow(q->far, q->far_count, &q->far_room, sizeof(q->far[0]));
    size_t at = q->far_count++;
    for (; at > 0 && is_before(&f, &q->far[(at - 1) / 2]); at = (at - 1) / 2)
        q->far[at] = q->far[(at - 1) / 2];
    q->far[at] = f;
}

static struct cam_far far_pop(struct cam_queue *q)
{
    struct cam_far first = q->far[0], last = q->far[--q->far_count];
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
static void wheel_add(struct cam_queue *q, uint32_t place)
{
    uint32_t slot = (uint32_t)(q->messages[place].due % CAM_WHEEL);
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

void cam_post(struct cam *w, struct cam_message m, lks_ms delay)
{
    struct cam_queue *q = &w->queue;
    size_t room = q->room;
    uint32_t place = q->free - 1;
    m.due = w->now + delay;
    if (q->free != 0) {
        q->free = q->messages[place].next;
    } else {
        q->messages = cam_grow(q->messages, q->count, &room, sizeof(m));
        q->room = (uint32_t)room;
        place = q->count++;
    }
    q->messages[place] = m;
    if (m.due < q->base + CAM_WHEEL)
        wheel_add(q, place);
    else
        far_push(q, (struct cam_far){m.due, q->order++, place});
}

/* The first slot from `slot` on, around the wheel, that has something. */
static uint32_t wheel_next(const struct cam_queue *q, uint32_t slot)
{
    uint64_t here = q->busy[slot / 64] >> slot % 64;
    if (here != 0)
        return slot + (uint32_t)__builtin_ctzll(here);
    for (uint32_t i = 1, words = CAM_WHEEL / 64; i <= words; i++) {
        uint32_t word = (slot / 64 + i) % words;
        if (word % 64 == 0 && q->busier[word / 64] == 0)
            i += 63; /* a whole group of them is empty */
        else if (q->busy[word] != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(q->busy[word]);
    }
    LKS_ASSERT(false);
    return 0;
}

static void wheel_take(struct cam_queue *q, uint32_t slot, struct cam_message *out)
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

/* What is needed next is far away in memory: of the next message the machine, and the message
 * behind that one, which is asked for now so that it is there when its turn comes. */
static void look_ahead(const struct cam *w, uint32_t slot, uint32_t next)
{
    const struct cam_queue *q = &w->queue;
    uint32_t then = q->first[(slot + 1) % CAM_WHEEL];
    if (next != 0) {
        if (w->machines != NULL)
            __builtin_prefetch(&w->machines[q->messages[next - 1].node]);
        then = q->messages[next - 1].next != 0 ? q->messages[next - 1].next : then;
    }
    if (then != 0)
        __builtin_prefetch(&q->messages[then - 1]);
}

bool cam_next(struct cam *w, lks_ms until, struct cam_message *out)
{
    struct cam_queue *q = &w->queue;
    if (q->waiting == 0 && q->far_count > 0 && q->far[0].due <= until)
        q->base = q->far[0].due; /* nothing before it */
    for (;;) {
        while (q->far_count > 0 && q->far[0].due < q->base + CAM_WHEEL)
            wheel_add(q, far_pop(q).place);
        if (q->waiting == 0)
            return false;
        uint32_t slot = wheel_next(q, (uint32_t)(q->base % CAM_WHEEL));
        lks_ms due = q->messages[q->first[slot] - 1].due;
        if (due > until)
            return false;
        if (due > q->base && q->far_count > 0 && q->far[0].due < due + CAM_WHEEL) {
            q->base = due; /* what was far may be next to it now, behind it */
            continue;
        }
        q->base = due;
        wheel_take(q, slot, out);
        look_ahead(w, slot, out->next);
        return true;
    }
}

/* The network: may lose a message, may deliver it twice, and now and then is very late. */
void cam_send(struct cam *w, struct cam_message m)
{
    const struct cam_weather *t = &w->weather;
    if (t->loss > 0 && lks_rng_percent(&w->rng, t->loss))
        return;
    unsigned copies = t->doubling > 0 && lks_rng_percent(&w->rng, t->doubling) ? 2 : 1;
    for (; copies > 0; copies--) {
        lks_ms delay = cam_between(w, 1, t->delay_max + 1);
        if (t->late > 0 && lks_rng_percent(&w->rng, t->late))
            delay *= 1 + lks_rng_below(&w->rng, 100);
        cam_post(w, m, delay);
    }
}

void cam_queue_fini(struct cam_queue *q)
{
    free(q->messages);
    free(q->far);
}
