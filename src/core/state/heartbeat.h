/*
 * Heartbeats: what they say, and the part of hearing one that leaves no record.
 *
 * Nearly all heartbeats change nothing. lks_heartbeat_hear() takes note of one in constant time and
 * says whether there is something to decide; only then does an event follow.
 */
#ifndef LKS_CORE_HEARTBEAT_H
#define LKS_CORE_HEARTBEAT_H

#include "base/buf.h"
#include "core/rows/now.h"
#include "model/record/row.h"

struct lks_state;

#define LKS_BEAT_PROTOCOL     1 /* what we speak; the one before is understood */
#define LKS_BEAT_PROTOCOL_MIN 1
#define LKS_BEAT_BYTES_MAX    256

/* Events that heartbeats tell of. */
enum lks_heartbeat_event {
    LKS_HEARTBEAT_XID,
    LKS_HEARTBEAT_LINK_DOWN,
    LKS_HEARTBEAT_LOAD,
    LKS_HEARTBEAT_EVENTS,
};
/* Of the events before this one heartbeats say when they were. */
#define LKS_HEARTBEAT_TOLD LKS_HEARTBEAT_LOAD

/* What a heartbeat changes and no record says; a restart forgets it. */
struct lks_heartbeat {
    lks_ms at;                           /* mono; of the last one, or of the start */
    uint64_t seq;                        /* of the last one heard in this boot */
    uint64_t health;                     /* bits the agent sets */
    int64_t skew;                        /* its clock less ours, in ms */
    uint64_t head_seq;                   /* the journal head it witnessed */
    lks_ms events[LKS_HEARTBEAT_EVENTS]; /* wall: when the last one was; 0: of none was heard */
    uint8_t told[LKS_HEARTBEAT_TOLD]; /* which that was, as its agent says, + 1; 0: it does not */
    /* The node's texts beside which `boot` and `tuple` were nothing new, so that the next heartbeat
     * need not read them: ids of texts that stay, + 1; 0: not so. */
    uint32_t boot_text, tuple_text;
    uint16_t replays; /* in this boot, until enough good ones followed; these count no further than
                         they can */
    uint16_t clean;   /* good ones since the last replay */
    uint16_t skewed;  /* with a clock that was off, one after the other */
    uint16_t unsent;  /* naming a tuple that was not sent, one after the other */
    bool heard;       /* since the start */
    uint8_t boot[16];
    uint8_t boot_before[16]; /* a boot that is over does not come again */
    uint8_t tuple[LKS_HASH_BYTES];
    uint8_t head_hash[LKS_HASH_BYTES]; /* all zero without a head */
};

/* How many heartbeats it takes to believe what one alone does not show. */
#define LKS_HEARTBEAT_REPLAYS 3   /* old ones within a boot: a replay */
#define LKS_HEARTBEAT_CLEAN   100 /* good ones in a row: the replay is over */
#define LKS_HEARTBEAT_SKEWED  3   /* in a row with a clock that is off */
#define LKS_HEARTBEAT_UNSENT  30  /* in a row naming a tuple that does not come */

/* Health bits. */
enum {
    LKS_HEALTH_INVENTORY_FAILED = 1, /* the last reading of the machine failed as a whole */
    LKS_HEALTH_SPOOL_FULL = 2,       /* reports were dropped, the newest kept */
    LKS_HEALTH_HELPER_AWAY = 4,      /* the root helper does not answer */
    LKS_HEALTH_CLOCK_STEPPED = 8,    /* the node's clock was set since the last one */
    LKS_HEALTH_WITNESS = 16,         /* it was shown two heads that contradict each other */
    LKS_HEALTH_XID = 32,             /* lately a GPU had an Xid after which it has to be reset */
    LKS_HEALTH_LINK_DOWN = 64,       /* lately a port of the fabric went down */
    LKS_HEALTH_XIDS_KNOWN = 128,     /* it would know of those */
    LKS_HEALTH_LINKS_KNOWN = 256,
    LKS_HEALTH_LOAD = 512, /* a reference load keeps its GPUs busy */
    LKS_HEALTH_BITS = 0xffff,
};

/* Above the bits is when the last event was, of each sort that LKS_HEARTBEAT_TOLD has: a bit that
 * is set for a while cannot say that there was another one meanwhile. `which` tells two of them
 * apart, across restarts of the agent, too: the second since the boot in which it happened, of
 * which a few bits travel. One that is older than LKS_HEALTH_AGE_MAX is told of no more. */
#define LKS_HEALTH_AGE_MAX (65534 * LKS_SECOND)

struct lks_health_event {
    uint64_t which;
    lks_ms age; /* whole seconds: at most one less than it is */
};

uint64_t lks_heartbeat_health_tell(enum lks_heartbeat_event sort,
                                   const struct lks_health_event *event);

/* False: the agent does not know of one, or is too old to say when it was. */
bool lks_heartbeat_health_told(uint64_t health, enum lks_heartbeat_event sort,
                               struct lks_health_event *out);

struct lks_beat {
    uint64_t protocol;
    uint8_t boot[16];
    uint64_t seq; /* counts up from 1 in each boot, without a gap unless one was lost */
    uint8_t tuple[LKS_HASH_BYTES]; /* digest of what it runs; zero before the first reading */
    uint64_t health;
    lks_ms sent;       /* the node's clock, milliseconds since 1970 */
    uint64_t head_seq; /* the newest journal head it witnessed; 0: none */
    uint8_t head_hash[LKS_HASH_BYTES];
    uint64_t spooled; /* how many reports wait on the node */
};

void lks_heartbeat_pack(const struct lks_beat *beat, struct lks_buf *out);
enum lks_code lks_heartbeat_unpack(struct lks_str bytes, struct lks_beat *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Take note; true when decide has to look: a return, a boot, another tuple, a replay, a clock that
 * is off, a head to compare. */
bool lks_heartbeat_hear(struct lks_state *s, struct lks_now now, uint32_t node,
                        const struct lks_beat *beat);

/* Part of lks_decide_settle(): deadlines of nodes that were heard since they were set are moved on.
 */
void lks_heartbeat_settle(struct lks_state *s, struct lks_now now);

/* Another source confirms that the node lives until `until` (mono); its deadline counts from there.
 */
void lks_heartbeat_vouch(struct lks_state *s, uint32_t node, lks_ms until);

/* Agents are told this head from now on; what they witnessed is held against it. */
void lks_heartbeat_publish(struct lks_state *s, const struct lks_head *head);

/* When a live or late node is due to turn (mono); UINT64_MAX for others. */
lks_ms lks_heartbeat_deadline(const struct lks_state *s, uint32_t node);

/* The boot id as text, as the kernel writes it, and back: dashes may be missing. */
#define LKS_BOOT_TEXT_SIZE 37
void lks_heartbeat_boot_text(const uint8_t boot[16], char out[LKS_BOOT_TEXT_SIZE]);
bool lks_heartbeat_boot_parse(struct lks_str text, uint8_t out[16]);

/* What the last heartbeat of a node shows, besides that it lives. */
bool lks_heartbeat_booted(const struct lks_state *s, uint32_t node);
bool lks_heartbeat_tuple_differs(const struct lks_state *s, uint32_t node);
bool lks_heartbeat_skew_over(const struct lks_state *s, uint32_t node); /* well within the limit */
enum lks_witness { LKS_WITNESS_UNKNOWN, LKS_WITNESS_GOOD, LKS_WITNESS_WRONG };
enum lks_witness lks_heartbeat_witness(const struct lks_state *s, uint32_t node);

/* After a restart: journaled liveness stands, and every deadline counts anew from `now`. */
enum lks_code lks_heartbeat_restart(struct lks_state *s, struct lks_now now,
                                    struct lks_err *err) LKS_MUST_CHECK;

#endif
