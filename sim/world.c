#include "sim/world.h"

#include "tests/test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sim_require(struct sim *s, bool ok, const char *what)
{
    if (ok || s->broken)
        return;
    lks_test_case("seed %" PRIu64 " at %" PRIu64 " ms", s->seed, s->mono);
    s->broken = !lks_check(ok, what, __FILE__, __LINE__);
}

void *sim_grow(void *items, size_t count, size_t *room, size_t size)
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

lks_ms sim_between(struct sim *s, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&s->rng, high - low + 1);
}

void sim_mix(struct sim *s, uint64_t value)
{
    s->history = (s->history ^ value) * UINT64_C(0x100000001b3);
    s->history ^= s->history >> 29;
}

void sim_say(const struct sim *s, const char *fmt, ...)
{
    if (!s->print)
        return;
    va_list ap;
    va_start(ap, fmt);
    printf("%9" PRIu64 " ms  ", s->mono);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

static bool is_before(const struct sim_message *a, const struct sim_message *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

void sim_post(struct sim *s, struct sim_message m, lks_ms delay)
{
    s->messages = sim_grow(s->messages, s->message_count, &s->message_room, sizeof(m));
    m.due = s->mono + delay;
    m.order = s->message_order++;
    size_t at = s->message_count++;
    for (; at > 0 && is_before(&m, &s->messages[(at - 1) / 2]); at = (at - 1) / 2)
        s->messages[at] = s->messages[(at - 1) / 2];
    s->messages[at] = m;
}

struct sim_message sim_next(struct sim *s)
{
    LKS_ASSERT(s->message_count > 0);
    struct sim_message first = s->messages[0];
    struct sim_message last = s->messages[--s->message_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < s->message_count) {
        if (child + 1 < s->message_count && is_before(&s->messages[child + 1], &s->messages[child]))
            child++;
        if (!is_before(&s->messages[child], &last))
            break;
        s->messages[at] = s->messages[child];
        at = child;
    }
    s->messages[at] = last;
    return first;
}

uint32_t sim_letter_new(struct sim *s, const struct sim_letter *letter)
{
    uint32_t place;
    if (s->free_count > 0) {
        place = s->letters_free[--s->free_count];
    } else {
        s->letters = sim_grow(s->letters, s->letter_count, &s->letter_room, sizeof(s->letters[0]));
        place = (uint32_t)s->letter_count++;
    }
    s->letters[place] = *letter;
    return place + 1;
}

struct sim_letter sim_letter_take(struct sim *s, uint32_t letter)
{
    LKS_ASSERT(letter > 0);
    s->letters_free =
        sim_grow(s->letters_free, s->free_count, &s->free_room, sizeof(s->letters_free[0]));
    s->letters_free[s->free_count++] = letter - 1;
    return s->letters[letter - 1];
}

/* The network: may lose a message, may deliver it twice, and now and then is very late. */
void sim_send(struct sim *s, enum sim_kind kind, uint32_t agent, uint32_t life,
              const struct sim_letter *letter)
{
    unsigned copies = lks_rng_percent(&s->rng, s->weather.loss) ? 0 : 1;
    if (copies == 1 && lks_rng_percent(&s->rng, s->weather.doubling))
        copies = 2;
    if (s->agents[agent].cut)
        copies = 0;
    for (unsigned i = 0; i < copies; i++) {
        lks_ms delay = sim_between(s, 0, s->weather.delay_max);
        if (lks_rng_percent(&s->rng, s->weather.late))
            delay *= 20;
        sim_post(
            s,
            (struct sim_message){
                .kind = kind, .agent = agent, .life = life, .letter = sim_letter_new(s, letter)},
            delay);
    }
}

struct lks_now sim_now(const struct sim *s)
{
    return (struct lks_now){
        .wall = (lks_ms)((int64_t)(UINT64_C(1794700000000) + s->mono) + s->wall_offset),
        .mono = s->mono,
    };
}

void sim_digest(char out[LKS_DIGEST_SIZE], const char *what, uint64_t number)
{
    uint64_t tag = 0;
    for (; *what != '\0'; what++)
        tag = tag * 31 + (uint8_t)*what;
    (void)snprintf(out, LKS_DIGEST_SIZE, "sha256:%032" PRIx64 "%016" PRIx64 "%016" PRIx64, tag,
                   number, ~number);
}

void sim_boot_bytes(uint32_t agent, uint32_t boot, uint8_t out[16])
{
    struct lks_rng rng = {(uint64_t)agent << 32 | boot};
    for (unsigned i = 0; i < 16; i++)
        out[i] = (uint8_t)lks_rng_next(&rng);
}
