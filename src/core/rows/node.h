/* A node or an asset as the state keeps it. */
#ifndef LKS_ROWS_NODE_H
#define LKS_ROWS_NODE_H

#include "base/time.h"
#include "codec/format/digest.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#define LKS_STATE_NODES_MAX 1000000
#define LKS_NO_NODE         UINT32_MAX

enum lks_part { LKS_PART_BOARD, LKS_PART_GPUS, LKS_PART_NICS, LKS_PART_COUNT };

struct lks_certificate {
    uint8_t fingerprint[LKS_DIGEST_BYTES]; /* all zero: none */
    lks_ms expires;
};

struct lks_node {
    bool placed;   /* the fleet has it */
    bool enrolled; /* it has a certificate of ours, or came with one of the site's */
    bool intake;   /* not admissible until a person accepts it */
    bool accepted; /* by a person, since it was placed, replaced or last taken into intake */
    bool held;     /* see held_since */
    bool drifting; /* as recorded; the bits of core/state/node_status.h may be ahead until a tick */
    bool unhealthy;    /* as reported */
    bool outband_over; /* its out-of-band reading was past its age when it was recorded */
    /* The members that a heartbeat reads are adjacent: most heartbeats read no others. */
    lks_text asset; /* class of an asset; 0: a node */
    enum lks_liveness liveness;
    lks_text boot;
    lks_text tuple;                  /* its digest */
    lks_text tuple_boot;             /* the boot it was read in */
    uint32_t notes;                  /* bits by enum lks_note */
    uint32_t pending;                /* commands to it that have not ended */
    uint32_t inband, outband, whole; /* handles of bases; 0: none. The verdict is about `whole` */
    lks_text class, site, rack, domain, power_zone, cooling_loop, hardware_revision, supplier, side;
    uint32_t pool; /* place in `pools`, or UINT32_MAX */
    enum lks_drift_cause drift_cause;
    lks_ms liveness_since;
    lks_text report;
    lks_text
        changed; /* what its package manager's log said of what is wrong: model/record/record.h */
    lks_ms taken, tuple_since;
    uint32_t whole_next, whole_before; /* others with this `whole`: place + 1; 0: none */
    lks_text outband_report;
    lks_ms outband_taken;
    lks_text scheduler_gres, scheduler_state; /* as its scheduler advertises it; 0: nothing */
    lks_ms scheduler_since;                   /* since when it does */
    uint32_t verdict; /* of `whole` against its intent: place in `verdicts`; 0: none */
    lks_text right;   /* digest of the stack it last conformed to */
    lks_text drift_text, drift_evidence;
    lks_text drift_stack;    /* what drift was last recorded against */
    lks_ms drift_since;      /* since it drifts, or since it no longer does */
    lks_ms parts_since;      /* when its parts last changed */
    lks_ms changing;         /* since when; 0: it does not change */
    lks_text target;         /* changing: its intent */
    lks_text condition_text; /* the last message about unhealthy or changing */
    lks_text pin;            /* a change brought it there: its intent, until that change ends */
    uint64_t change;         /* that is in progress on it, or keeps it out of service; 0: none */
    lks_ms attested_until, checked_at;
    lks_text drained_by, drained_reason; /* 0: not drained */
    uint64_t drained_row, held_row;      /* of the journal, that ordered it; 0: unknown */
    lks_ms held_since;                   /* unchanged if it is put on hold again */
    lks_ms emptied; /* held: since when its scheduler reports it as drained; 0: it does not */
    lks_text parts[LKS_PART_COUNT];
    lks_text intake_why, held_by, held_reason, assigned_to;
    uint32_t flash;      /* its newest update: place in `flashes` + 1; 0: none is known */
    uint32_t flashing;   /* updates by its endpoint that have not ended, or ended unknown and
                            no person resolved them */
    lks_text endpoint;   /* fingerprint of its endpoint's certificate; 0: none recorded */
    lks_text token_hash; /* of the enrolment token that waits to be used; 0: none */
    lks_ms token_expires;
    struct lks_certificate certificates[2]; /* the newest first; the one before stays valid */
};

#endif
