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

void cam_post(struct cam *w, struct lks_message m, lks_ms delay)
{
    lks_queue_post(&w->queue, w->now + delay, m);
}

bool cam_next(struct cam *w, lks_ms until, struct lks_message *out)
{
    return lks_queue_next(&w->queue, until, out);
}

/* The network: may lose a message, may deliver it twice, and now and then is very late. */
void cam_send(struct cam *w, struct lks_message m)
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
