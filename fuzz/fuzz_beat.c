/* Any bytes at all: what reads as a heartbeat writes as the same bytes, and a controller that hears
 * it, over and over and with small changes, keeps counts that add up and never decides on the same
 * thing twice. */
#include "core/campaign/state_apply.h"
#include "core/registry/book.h"
#include "core/rules/decide.h"
#include "core/state/heartbeat.h"
#include "core/state/state.h"

#include <stdint.h>

enum { LIFE = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply(struct lks_state *s, struct lks_now now, const struct lks_record *r)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_state_apply(s, s->seq + 1, now.wall, r, &err) == LKS_OK);
}

static void turn(struct lks_state *s, struct lks_now now, const struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_book book = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_decide(s, &book, now, event, &d, &err) == LKS_OK);
    for (size_t i = 0; i < d.count; i++)
        apply(s, now, &d.records[i]);
}

/* A turn settles what it was made for: the same state has nothing more to decide. */
static void hear(struct lks_state *s, struct lks_now now, const struct lks_beat *beat)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_book book = {0};
    struct lks_err err = {0};
    const struct lks_event event = {.kind = LKS_EVENT_BEAT, .node = 0, .beat = *beat};
    if (!lks_heartbeat_hear(s, now, 0, beat))
        return;
    turn(s, now, &event);
    LKS_ASSERT(lks_decide(s, &book, now, &event, &d, &err) == LKS_OK);
    LKS_ASSERT(d.count == 0);
}

static void live(const struct lks_beat *first)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_now now = {.wall = UINT64_C(1794724520000), .mono = 1000};
    struct lks_err err = {0};
    struct lks_beat beat = *first;
    LKS_ASSERT(lks_state_init(&s, 1, &err) == LKS_OK);
    apply(&s, now,
          &(struct lks_record){.kind = LKS_RECORD_PLACED, .placed = {.hosts = LKS_STR("n1")}});
    for (unsigned i = 0; i < LIFE; i++) {
        hear(&s, now, &beat);
        beat.seq += (beat.health >> i % 64 & 1) + beat.spooled % 3 - 1;
        beat.boot[i % 16] ^= (uint8_t)(beat.tuple[i % LKS_HASH_BYTES] == i);
        now.wall += beat.tuple[i % LKS_HASH_BYTES] * LKS_SECOND;
        now.mono += beat.tuple[i % LKS_HASH_BYTES] * LKS_SECOND;
        lks_decide_settle(&s, now);
        turn(&s, now, &(struct lks_event){.kind = LKS_EVENT_TICK});
        LKS_ASSERT(s.placed_count == 1 && s.liveness[s.nodes[0].liveness] == 1);
        bool awaited = s.nodes[0].liveness == LKS_LIVE || s.nodes[0].liveness == LKS_LATE;
        LKS_ASSERT(s.deadlines.count == awaited);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_BEAT_BYTES_MAX);
    struct lks_str bytes = {(const char *)data, size};
    struct lks_beat beat = {0};
    struct lks_err err = {0};
    if (lks_heartbeat_unpack(bytes, &beat, &err) != LKS_OK) {
        LKS_ASSERT(err.code == LKS_E_INVALID && err.msg[0] != '\0' && beat.seq == 0);
        return 0;
    }
    lks_heartbeat_pack(&beat, &again);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), bytes));
    live(&beat);
    return 0;
}
