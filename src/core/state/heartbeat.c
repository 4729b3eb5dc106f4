#include "core/state/heartbeat.h"

#include "base/heap.h"
#include "codec/format/digest.h"
#include "codec/format/hex.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/record/record_words.h"

#include <stdio.h>

/* A heartbeat outdates one deadline, so moving a few on with each keeps up with all. */
enum { SETTLED_EACH = 4 };

/* On the wire: numbers in eight bytes, the highest first, in the order of the table below, and
 * nothing behind the last. */
enum { NUMBER = 8, BEAT_BYTES = 6 * NUMBER + 16 + 2 * LKS_HASH_BYTES };

static const struct {
    size_t offset, size;
    bool number;
} layout[] = {
    {offsetof(struct lks_beat, protocol), NUMBER, true},
    {offsetof(struct lks_beat, boot), 16, false},
    {offsetof(struct lks_beat, seq), NUMBER, true},
    {offsetof(struct lks_beat, tuple), LKS_HASH_BYTES, false},
    {offsetof(struct lks_beat, health), NUMBER, true},
    {offsetof(struct lks_beat, sent), NUMBER, true},
    {offsetof(struct lks_beat, head_seq), NUMBER, true},
    {offsetof(struct lks_beat, head_hash), LKS_HASH_BYTES, false},
    {offsetof(struct lks_beat, spooled), NUMBER, true},
};

void lks_heartbeat_pack(const struct lks_beat *beat, struct lks_buf *out)
{
    for (size_t i = 0; i < LKS_COUNT(layout); i++) {
        const char *from = (const char *)beat + layout[i].offset;
        uint64_t number = 0;
        if (!layout[i].number) {
            lks_buf_add(out, (struct lks_str){from, layout[i].size});
            continue;
        }
        memcpy(&number, from, sizeof(number));
        for (unsigned shift = 64; shift > 0; shift -= 8)
            lks_buf_addc(out, (char)(unsigned char)(number >> (shift - 8)));
    }
}

static uint64_t number_at(const char *bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < NUMBER; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

enum lks_code lks_heartbeat_unpack(struct lks_str bytes, struct lks_beat *out, struct lks_err *err)
{
    if (bytes.len < NUMBER)
        return lks_fail(err, LKS_E_INVALID, "a heartbeat of %zu bytes is cut short", bytes.len);
    uint64_t protocol = number_at(bytes.ptr);
    if (protocol < LKS_BEAT_PROTOCOL_MIN || protocol > LKS_BEAT_PROTOCOL)
        return lks_fail(err, LKS_E_INVALID,
                        "a heartbeat of protocol %llu; this controller understands %d to %d",
                        (unsigned long long)protocol, LKS_BEAT_PROTOCOL_MIN, LKS_BEAT_PROTOCOL);
    if (bytes.len != BEAT_BYTES)
        return lks_fail(err, LKS_E_INVALID, "a heartbeat has %d bytes, not %zu", (int)BEAT_BYTES,
                        bytes.len);
    struct lks_beat made = {0};
    size_t at = 0;
    for (size_t i = 0; i < LKS_COUNT(layout); i++) {
        char *to = (char *)&made + layout[i].offset;
        uint64_t number = layout[i].number ? number_at(bytes.ptr + at) : 0;
        memcpy(to, layout[i].number ? (const char *)&number : bytes.ptr + at, layout[i].size);
        at += layout[i].size;
    }
    if (made.seq == 0)
        return lks_fail(err, LKS_E_INVALID, "heartbeats count from 1");
    *out = made;
    return LKS_OK;
}

/* Boots and digests as text ----------------------------------------------------------------- */

void lks_heartbeat_boot_text(const uint8_t boot[16], char out[LKS_BOOT_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[boot[i] >> 4];
        *out++ = digits[boot[i] & 15];
    }
    *out = '\0';
}

bool lks_heartbeat_boot_parse(struct lks_str text, uint8_t out[16])
{
    char digits[32];
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '-')
            continue;
        if (count == sizeof(digits))
            return false;
        digits[count++] = text.ptr[i];
    }
    return count == sizeof(digits) && lks_hex_read((struct lks_str){digits, count}, out, 16);
}

/* Whether a digest as text ("sha256:...") is that of the bytes. */
static bool same_digest(struct lks_str text, const uint8_t bytes[LKS_HASH_BYTES])
{
    uint8_t read[LKS_HASH_BYTES];
    return lks_digest_read(text, read) && memcmp(read, bytes, sizeof(read)) == 0;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++)
        any |= bytes[i];
    return any == 0;
}

/* What the last one shows ------------------------------------------------------------------- */

bool lks_heartbeat_booted(const struct lks_state *s, uint32_t node)
{
    char boot[LKS_BOOT_TEXT_SIZE]; /* as all records have it */
    const struct lks_heartbeat *p = &s->pulses[node];
    if (!p->heard || p->boot_text == s->nodes[node].boot + 1 || is_zero(p->boot, sizeof(p->boot)))
        return false;
    lks_heartbeat_boot_text(p->boot, boot);
    return !lks_str_is(lks_state_text(s, s->nodes[node].boot), boot);
}

bool lks_heartbeat_tuple_differs(const struct lks_state *s, uint32_t node)
{
    const struct lks_heartbeat *p = &s->pulses[node];
    return p->heard && p->tuple_text != s->nodes[node].tuple + 1 &&
           !is_zero(p->tuple, sizeof(p->tuple)) &&
           !same_digest(lks_state_text(s, s->nodes[node].tuple), p->tuple);
}

void lks_heartbeat_publish(struct lks_state *s, const struct lks_head *head)
{
    struct lks_published *to = &s->heads[s->head_count++ % LKS_STATE_HEADS];
    to->seq = head->seq;
    memcpy(to->hash, head->hash, sizeof(to->hash));
}

/* A head beyond our last row was never ours, and of two that contradict each other one is not. One
 * of ours can be compared while it is among the
 * last that were published, which is nearly always the newest. */
enum lks_witness lks_heartbeat_witness(const struct lks_state *s, uint32_t node)
{
    const struct lks_heartbeat *p = &s->pulses[node];
    if (!p->heard || p->head_seq == 0)
        return LKS_WITNESS_UNKNOWN;
    if (p->head_seq > s->seq || (p->health & LKS_HEALTH_WITNESS) != 0)
        return LKS_WITNESS_WRONG;
    uint32_t known = s->head_count < LKS_STATE_HEADS ? s->head_count : LKS_STATE_HEADS;
    for (uint32_t back = 1; back <= known; back++) {
        const struct lks_published *head = &s->heads[(s->head_count - back) % LKS_STATE_HEADS];
        if (head->seq == p->head_seq)
            return memcmp(head->hash, p->head_hash, sizeof(head->hash)) == 0 ? LKS_WITNESS_GOOD
                                                                             : LKS_WITNESS_WRONG;
    }
    return LKS_WITNESS_UNKNOWN;
}

/* Deadlines --------------------------------------------------------------------------------- */

lks_ms lks_heartbeat_deadline(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || (n->liveness != LKS_LIVE && n->liveness != LKS_LATE))
        return UINT64_MAX;
    lks_ms at = s->pulses[node].at + (n->liveness == LKS_LIVE ? s->limits.late : s->limits.lost);
    return at < s->pulses[node].at ? UINT64_MAX : at;
}

static void settle_commands(struct lks_state *s)
{
    s->commands_due = UINT64_MAX;
    s->commands_moved = false;
    for (uint32_t i = 0; i < s->command_count && s->commands_open > 0; i++) {
        const struct lks_state_command *c = &s->commands[i];
        lks_ms over = lks_state_command_over(s, c);
        if (!c->ended && over < s->commands_due)
            s->commands_due = over;
    }
}

static void settle_flashes(struct lks_state *s)
{
    s->flashes_due = UINT64_MAX;
    s->flashes_moved = false;
    for (uint32_t i = 0; i < s->flash_count && s->flashes_open > 0; i++) {
        const struct lks_state_flash *f = &s->flashes[i];
        if (f->outcome == LKS_BMC_OPEN && lks_state_flash_due(f) < s->flashes_due)
            s->flashes_due = lks_state_flash_due(f);
    }
}

/* Deadlines up to `until` that were outlived are moved on, `most` of them. The first that is really
 * due stays in front and hides those behind it: the tick turns it, and the next call goes on. */
static void settle(struct lks_state *s, struct lks_now now, lks_ms until, unsigned most)
{
    lks_ms at = 0;
    uint32_t node = 0;
    s->seen = now;
    for (unsigned i = 0; i < most && lks_heap_peek(&s->deadlines, &at, &node) && at <= until; i++) {
        lks_ms real = lks_heartbeat_deadline(s, node);
        struct lks_err err;
        if (real <= at)
            break;
        /* It has a place already, so no memory is needed. */
        if (real == UINT64_MAX)
            (void)lks_heap_remove(&s->deadlines, node);
        else if (lks_heap_set(&s->deadlines, node, real, &err) != LKS_OK)
            break;
    }
    /* One that is really due stays so until a tick ends it: it is not searched for again meanwhile.
     */
    if (s->commands_due <= now.wall && s->commands_moved)
        settle_commands(s);
    if (s->flashes_due <= now.wall && s->flashes_moved)
        settle_flashes(s);
}

void lks_heartbeat_settle(struct lks_state *s, struct lks_now now)
{
    settle(s, now, now.mono, UINT32_MAX);
    s->standing->tried = now.mono > 0 ? now.mono : 1;
}

/* Hearing ----------------------------------------------------------------------------------- */

static bool noted(const struct lks_state *s, uint32_t node, enum lks_note note)
{
    return (s->nodes[node].notes >> note & 1) != 0;
}

static int64_t skew_of(lks_ms theirs, lks_ms ours)
{
    bool ahead = theirs > ours;
    uint64_t by = ahead ? theirs - ours : ours - theirs;
    int64_t skew = by > INT64_MAX ? INT64_MAX : (int64_t)by;
    return ahead ? skew : -skew;
}

static void count_up(uint16_t *counter)
{
    if (*counter < UINT16_MAX)
        (*counter)++;
}

/* How often one after the other. */
static void count_row(uint16_t *counter, bool again)
{
    if (again)
        count_up(counter);
    else
        *counter = 0;
}

/* Most heartbeats say what the one before said, of the same text. */
static void take_texts(struct lks_state *s, uint32_t node, const struct lks_beat *beat)
{
    struct lks_heartbeat *p = &s->pulses[node];
    const struct lks_node *n = &s->nodes[node];
    if (memcmp(p->boot, beat->boot, sizeof(p->boot)) != 0) {
        memcpy(p->boot, beat->boot, sizeof(p->boot));
        p->boot_text = 0;
    }
    if (memcmp(p->tuple, beat->tuple, sizeof(p->tuple)) != 0) {
        memcpy(p->tuple, beat->tuple, sizeof(p->tuple));
        p->tuple_text = 0;
    }
    if (p->boot_text != n->boot + 1)
        p->boot_text = lks_heartbeat_booted(s, node) ? 0 : n->boot + 1;
    if (p->tuple_text != n->tuple + 1)
        p->tuple_text = lks_heartbeat_tuple_differs(s, node) ? 0 : n->tuple + 1;
}

enum order { ORDER_NEXT, ORDER_AGAIN, ORDER_OLD };

/* Whether it is newer than the last one of its boot. A boot that is over does not come again: who
 * beats in it is an echo, or another agent under the same name. */
static enum order order_of(const struct lks_heartbeat *p, const struct lks_beat *beat)
{
    if (!p->heard)
        return ORDER_NEXT;
    if (memcmp(p->boot, beat->boot, sizeof(p->boot)) != 0)
        return is_zero(p->boot_before, sizeof(p->boot_before)) ||
                       memcmp(p->boot_before, beat->boot, sizeof(p->boot_before)) != 0
                   ? ORDER_NEXT
                   : ORDER_OLD;
    if (beat->seq == p->seq)
        return ORDER_AGAIN;
    return beat->seq > p->seq ? ORDER_NEXT : ORDER_OLD;
}

/* Each sort has its place above the bits: the age in seconds + 1, and above that which it was. */
enum { EVENT_SHIFT = 16, AGE_BITS = 16, WHICH_BITS = 7, EVENT_BITS = AGE_BITS + WHICH_BITS };
_Static_assert(EVENT_SHIFT + LKS_HEARTBEAT_TOLD * EVENT_BITS < 64, "they fit beside the bits");

uint64_t lks_heartbeat_health_tell(enum lks_heartbeat_event sort,
                                   const struct lks_health_event *event)
{
    LKS_ASSERT(sort < LKS_HEARTBEAT_TOLD);
    if (event->age > LKS_HEALTH_AGE_MAX)
        return 0;
    uint64_t which = event->which & ((UINT64_C(1) << WHICH_BITS) - 1);
    return (which << AGE_BITS | (event->age / LKS_SECOND + 1)) << (EVENT_SHIFT + sort * EVENT_BITS);
}

bool lks_heartbeat_health_told(uint64_t health, enum lks_heartbeat_event sort,
                               struct lks_health_event *out)
{
    LKS_ASSERT(sort < LKS_HEARTBEAT_TOLD);
    uint64_t told = health >> (EVENT_SHIFT + sort * EVENT_BITS);
    uint64_t age = told & ((UINT64_C(1) << AGE_BITS) - 1);
    if (age == 0)
        return false;
    *out = (struct lks_health_event){told >> AGE_BITS & ((UINT64_C(1) << WHICH_BITS) - 1),
                                     (age - 1) * LKS_SECOND};
    return true;
}

/* Two with the same few bits of their second are at least two minutes apart, unless they are in
 * different boots; one and the same differs by what heartbeats were late. The quickest is right. */
#define ONE_EVENT (UINT64_C(64) * LKS_SECOND)

static void take_told(struct lks_heartbeat *p, const struct lks_beat *beat,
                      enum lks_heartbeat_event i, const struct lks_health_event *told, lks_ms wall)
{
    lks_ms at = wall > told->age ? wall - told->age : 1;
    bool same = p->heard && p->told[i] == told->which + 1 && at < p->events[i] + ONE_EVENT &&
                at + ONE_EVENT > p->events[i] && memcmp(p->boot, beat->boot, sizeof(p->boot)) == 0;
    if (same ? at < p->events[i] : at > p->events[i])
        p->events[i] = at;
    p->told[i] = (uint8_t)(told->which + 1);
}

/* An agent that cannot date an event reports one that the heartbeat before did not; after a start
 * its age is unknown: it counts since now. */
static void take_events(struct lks_heartbeat *p, const struct lks_beat *beat, lks_ms wall)
{
    static const uint64_t bits[LKS_HEARTBEAT_EVENTS] = {[LKS_HEARTBEAT_XID] = LKS_HEALTH_XID,
                                                        [LKS_HEARTBEAT_LINK_DOWN] =
                                                            LKS_HEALTH_LINK_DOWN,
                                                        [LKS_HEARTBEAT_LOAD] = LKS_HEALTH_LOAD};
    uint64_t news = beat->health & ~(p->heard ? p->health : 0);
    struct lks_health_event told;
    for (enum lks_heartbeat_event i = 0; i < LKS_HEARTBEAT_EVENTS; i++) {
        if (i < LKS_HEARTBEAT_TOLD && lks_heartbeat_health_told(beat->health, i, &told))
            take_told(p, beat, i, &told, wall);
        else if ((news & bits[i]) != 0)
            p->events[i] = wall;
    }
}

static void take(struct lks_state *s, struct lks_now now, uint32_t node,
                 const struct lks_beat *beat)
{
    struct lks_heartbeat *p = &s->pulses[node];
    take_events(p, beat, now.wall);
    if (p->heard && memcmp(p->boot, beat->boot, sizeof(p->boot)) != 0) {
        memcpy(p->boot_before, p->boot, sizeof(p->boot));
        p->replays = 0;
    }
    p->heard = true;
    p->at = now.mono;
    p->seq = beat->seq;
    p->health = beat->health;
    p->skew = skew_of(beat->sent, now.wall);
    if (p->head_seq != 0 || beat->head_seq != 0)
        memcpy(p->head_hash, beat->head_hash, sizeof(p->head_hash));
    p->head_seq = beat->head_seq;
    take_texts(s, node, beat);
    count_up(&p->clean);
    if (p->clean >= LKS_HEARTBEAT_CLEAN)
        p->replays = 0;
    uint64_t off = p->skew < 0 ? (uint64_t)-p->skew : (uint64_t)p->skew;
    count_row(&p->skewed, off > s->limits.skew);
    count_row(&p->unsent, p->tuple_text == 0);
}

bool lks_heartbeat_skew_over(const struct lks_state *s, uint32_t node)
{
    int64_t skew = s->pulses[node].skew;
    return (uint64_t)(skew < 0 ? -skew : skew) <= s->limits.skew / 2;
}

bool lks_heartbeat_hear(struct lks_state *s, struct lks_now now, uint32_t node,
                        const struct lks_beat *beat)
{
    struct lks_heartbeat *p = &s->pulses[node];
    settle(s, now, now.mono + s->limits.late / 2, SETTLED_EACH);
    enum order order = order_of(p, beat);
    if (!s->nodes[node].placed || order == ORDER_AGAIN)
        return false;
    if (order == ORDER_OLD) {
        count_up(&p->replays);
        p->clean = 0;
        return p->replays >= LKS_HEARTBEAT_REPLAYS && !noted(s, node, LKS_NOTE_REPLAY);
    }
    take(s, now, node, beat);
    enum lks_witness witness = lks_heartbeat_witness(s, node);
    return s->nodes[node].liveness != LKS_LIVE || lks_heartbeat_booted(s, node) ||
           (noted(s, node, LKS_NOTE_REPLAY) && p->replays == 0) ||
           (noted(s, node, LKS_NOTE_SKEW) ? lks_heartbeat_skew_over(s, node)
                                          : p->skewed >= LKS_HEARTBEAT_SKEWED) ||
           (noted(s, node, LKS_NOTE_CONTRADICTION) ? p->unsent == 0
                                                   : p->unsent >= LKS_HEARTBEAT_UNSENT) ||
           (noted(s, node, LKS_NOTE_WITNESS) ? witness == LKS_WITNESS_GOOD
                                             : witness == LKS_WITNESS_WRONG);
}

enum lks_code lks_heartbeat_restart(struct lks_state *s, struct lks_now now, struct lks_err *err)
{
    s->seen = now;
    settle_commands(s);
    for (uint32_t n = 0; n < s->node_count; n++) {
        s->pulses[n] = (struct lks_heartbeat){.at = now.mono};
        lks_ms at = lks_heartbeat_deadline(s, n);
        if (at == UINT64_MAX)
            (void)lks_heap_remove(&s->deadlines, n);
        else if (lks_heap_set(&s->deadlines, n, at, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

void lks_heartbeat_vouch(struct lks_state *s, uint32_t node, lks_ms until)
{
    struct lks_err err = {0};
    s->pulses[node].at = until;
    lks_ms at = lks_heartbeat_deadline(s, node);
    if (at == UINT64_MAX)
        (void)lks_heap_remove(&s->deadlines, node);
    else if (lks_heap_set(&s->deadlines, node, at, &err) != LKS_OK)
        s->pulses[node].at = s->seen.mono; /* no memory: it has to be heard as any other */
}
