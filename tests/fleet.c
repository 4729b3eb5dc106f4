#include "tests/fleet.h"

#include "codec/notation/hostlist.h"
#include "core/rows/node.h"
#include "core/rules/decide.h"
#include "core/state/lookup.h"

enum { HOSTS_MEMORY = 64 << 20, TICKS_MAX = 100000 };

void lks_fleet_pool(struct lks_asked *a, const char *pool, const char *stack, const char *digest)
{
    const struct lks_record r = {.kind = LKS_RECORD_POOL,
                                 .pool = {.name = lks_str_from(pool),
                                          .stack = lks_str_from(stack),
                                          .stack_digest = lks_str_from(digest)}};
    lks_asked_apply(a, &r);
}

void lks_fleet_release(struct lks_asked *a, const char *digest)
{
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_PUBLISHED,
         .published = {.digest = lks_str_from(digest), .name = lks_str_from(digest)}},
        {.kind = LKS_RECORD_STEPPED,
         .stepped = {.digest = lks_str_from(digest), .step = LKS_STEP_RELEASED}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

void lks_fleet_place(struct lks_asked *a, const char *hosts, const char *pool)
{
    lks_fleet_place_at(a, hosts, pool, "");
}

void lks_fleet_place_at(struct lks_asked *a, const char *hosts, const char *pool, const char *site)
{
    const struct lks_record r = {.kind = LKS_RECORD_PLACED,
                                 .placed = {.hosts = lks_str_from(hosts),
                                            .pool = lks_str_from(pool),
                                            .site = lks_str_from(site)}};
    lks_asked_apply(a, &r);
}

void lks_fleet_live(struct lks_asked *a, const char *hosts, unsigned boot)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, HOSTS_MEMORY);
    LKS_ASSERT(lks_hostlist_parse(lks_str_from(hosts), &arena, &list, &err) == LKS_OK);
    const struct lks_beat beat = lks_fleet_beat(a, boot, 1);
    for (size_t i = 0; i < list.count; i++) {
        struct lks_record r = {
            .kind = LKS_RECORD_ENROLLED,
            .enrolled = {.node = list.names[i], .fingerprint = LKS_STR("sha256:f")}};
        lks_asked_apply(a, &r);
        (void)lks_fleet_hear(a, list.names[i].ptr, &beat);
    }
}

uint32_t lks_fleet_node(const struct lks_asked *a, const char *name)
{
    uint32_t node = lks_state_node(&a->state, lks_str_from(name));
    LKS_ASSERT(node != LKS_NO_NODE);
    return node;
}

struct lks_beat lks_fleet_beat(const struct lks_asked *a, unsigned boot, uint64_t seq)
{
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = seq, .sent = a->now.wall};
    beat.boot[15] = (uint8_t)boot;
    return beat;
}

const char *lks_fleet_boot(unsigned boot, char out[LKS_BOOT_TEXT_SIZE])
{
    const uint8_t bytes[16] = {[15] = (uint8_t)boot};
    lks_heartbeat_boot_text(bytes, out);
    return out;
}

struct lks_str lks_fleet_hear(struct lks_asked *a, const char *name, const struct lks_beat *beat)
{
    uint32_t node = lks_fleet_node(a, name);
    const struct lks_event event = {.kind = LKS_EVENT_BEAT, .node = node, .beat = *beat};
    if (!lks_heartbeat_hear(&a->state, a->now, node, beat))
        return LKS_STR("");
    return lks_asked(a, &event);
}

void lks_fleet_wait(struct lks_asked *a, lks_ms ms)
{
    a->now.wall += ms;
    a->now.mono += ms;
}

struct lks_str lks_fleet_tick(struct lks_asked *a)
{
    const struct lks_event event = {.kind = LKS_EVENT_TICK};
    lks_decide_settle(&a->state, a->now);
    return lks_asked(a, &event);
}

size_t lks_fleet_ticks(struct lks_asked *a, enum lks_record_kind kind, size_t *ticks)
{
    size_t found = 0;
    for (*ticks = 0; *ticks < TICKS_MAX && lks_decide_next(&a->state) <= a->now.mono; ++*ticks) {
        (void)lks_fleet_tick(a);
        for (size_t i = 0; i < a->decision.count; i++)
            found += a->decision.records[i].kind == kind;
    }
    LKS_ASSERT(*ticks < TICKS_MAX);
    return found;
}
