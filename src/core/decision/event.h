/*
 * Events and decisions.
 *
 * A person, an agent, a machine or the clock causes an event. A decision is the list of records
 * that follow from it, or a refusal: a code and a line, and no records.
 */
#ifndef LKS_CORE_EVENT_H
#define LKS_CORE_EVENT_H

#include "base/arena.h"
#include "base/err.h"
#include "core/decision/event_access.h"
#include "core/decision/event_change.h"
#include "core/decision/event_node.h"
#include "core/decision/event_registry.h"
#include "core/rows/limits.h"
#include "core/state/heartbeat.h"
#include "model/record/record.h"

#define LKS_DECISION_MEMORY_MAX ((size_t)512 << 20)
#define LKS_DECISION_SLICE      1024 /* a tick lists about so many records, and says `more` */
#define LKS_REASON_MAX          1024 /* bytes of a reason a person gives */
#define LKS_FLASH_SAVED_MAX     ((size_t)32 * 1024)

enum lks_event_kind {
    LKS_EVENT_TICK,
    LKS_EVENT_STARTED,
    LKS_EVENT_LIMITS,
    LKS_EVENT_CLOCK,
    LKS_EVENT_BEAT,
    LKS_EVENT_TUPLE,
    LKS_EVENT_TOKEN,  /* make an enrolment token */
    LKS_EVENT_ENROLL, /* use it */
    LKS_EVENT_RENEW,
    LKS_EVENT_FLEET,
    LKS_EVENT_HOLD,
    LKS_EVENT_RELEASE, /* from a hold and from intake */
    LKS_EVENT_NODE_SET,
    LKS_EVENT_REPLACE,
    LKS_EVENT_REMOVE,
    LKS_EVENT_ALARM_RELEASE,
    LKS_EVENT_GRANT,
    LKS_EVENT_UNGRANT,
    LKS_EVENT_API_TOKEN,
    LKS_EVENT_API_TOKEN_GONE,
    LKS_EVENT_API_TOKEN_RENEW,
    LKS_EVENT_LOGIN,   /* of a person, by an identity provider; `api_token` */
    LKS_EVENT_LOGOUT,  /* by the token that is shown */
    LKS_EVENT_CERTIFY, /* a person, or renew their certificate */
    LKS_EVENT_CERTIFY_GONE,
    LKS_EVENT_COMMAND,
    LKS_EVENT_RESULT,
    LKS_EVENT_OUTBAND,   /* read out of band, or such a reading is over */
    LKS_EVENT_CONDITION, /* what is said of a node: health, change, attestation, active check */
    LKS_EVENT_CHECK,     /* the site's health check passed or failed on a node */
    LKS_EVENT_DEVIATE,
    LKS_EVENT_DEVIATION_CLOSE,
    LKS_EVENT_DEVIATION_AGREE,
    LKS_EVENT_PUBLISH,
    LKS_EVENT_STEP, /* promote or retire a stack */
    LKS_EVENT_IMAGE,
    LKS_EVENT_IMAGE_GONE,
    LKS_EVENT_ARTIFACT,
    LKS_EVENT_ARTIFACT_GONE,
    LKS_EVENT_JOB, /* it was admitted and starts */
    LKS_EVENT_OVERRIDE,
    LKS_EVENT_OBSERVED,
    LKS_EVENT_LEAD, /* this controller leads now */
    LKS_EVENT_KEY_PIN,
    LKS_EVENT_KEY_GONE,
    LKS_EVENT_BUNDLE, /* its signature was found good */
    LKS_EVENT_BUNDLE_REVOKE,
    LKS_EVENT_ENDPOINT,    /* the certificate of a management endpoint */
    LKS_EVENT_FLASH,       /* begin an update by a management endpoint */
    LKS_EVENT_FLASH_SAVED, /* how far it is, before it goes on */
    LKS_EVENT_FLASH_ENDED,
    LKS_EVENT_FLASH_RESOLVE, /* a person looked at an unknown one */
    LKS_EVENT_PROPOSE,       /* a change: it is planned, and the plan recorded */
    LKS_EVENT_VOTE,
    LKS_EVENT_RESET,       /* a wedged node: asked for, approved, reviewed */
    LKS_EVENT_WAIVE,       /* a gate of a change is not asked for a while */
    LKS_EVENT_REVIEW,      /* a person reviewed a change that started without its approvals */
    LKS_EVENT_CHANGE_MOVE, /* start, pause, resume, abort, roll back */
    LKS_EVENT_MEMBER_MOVE, /* a person lets a node that was fenced go, or tries it again */
    LKS_EVENT_MEMBER_SKIP, /* a person says that a node is not waited for; event.member.change */
    LKS_EVENT_FORECAST,    /* what a rehearsal of a change came to */
    LKS_EVENT_TICKET,      /* a vote by a signed message of a ticket system */
    LKS_EVENT_TICKET_TOLD, /* it was told how changes stand */
    LKS_EVENT_AUDITED,     /* a minute with failed logins or denied calls is over */
    LKS_EVENT_FREEZE,
    LKS_EVENT_SCHED,       /* what a scheduler says of a node */
    LKS_EVENT_ADVERTISED,  /* the GPUs that it advertises there */
    LKS_EVENT_OUTAGE,      /* no job starts there, and not by a drain of lockstep */
    LKS_EVENT_SCHED_JOBS,  /* jobs on a node that drains */
    LKS_EVENT_RUNS,        /* runs of jobs that ended */
    LKS_EVENT_SCHED_ALARM, /* what is wrong with a whole site's scheduler, or not any more */
    LKS_EVENT_SCHED_SLOT,  /* a stack of a pool needs a slot */
    LKS_EVENT_JOB_ACTED,
    LKS_EVENT_MEASURED, /* what was measured of nodes, for the gates of changes */
    LKS_EVENT_CADENCE,  /* how far pools are behind what is released is looked at */
    LKS_EVENT_COUNT
};

/* Views and pointers are borrowed until the turn is over. */
struct lks_event {
    enum lks_event_kind kind;
    struct lks_str by;         /* the caller; empty: none */
    struct lks_str credential; /* by which: core/governance/backing.h; empty: not known */
    bool root;                 /* the caller is root on a controller's own socket */
    struct lks_str reason;     /* where a person has to give one */
    size_t observed_count, refusal_count;
    const struct lks_rec_refusal *refusals; /* OBSERVED: `refusal_count` of them */
    uint32_t node;       /* BEAT, TUPLE, RENEW, RESULT, CHECK: whose agent it is */
    struct lks_str name; /* TOKEN, ENROLL, FLASH, FLASH_RESOLVE: the node; HOLD to REMOVE: a host
                            list */
    const struct lks_bundle *said; /* FLASH: the manifest of its bundle; NULL: it was not read */
    union {
        struct lks_event_started started;
        struct lks_limits limits;
        struct lks_event_clock clock;
        struct lks_beat beat;
        struct lks_event_tuple tuple;
        struct lks_event_token token;
        struct lks_event_certificate certificate;
        struct lks_event_fleet fleet;
        struct lks_event_release release;
        struct lks_event_set set; /* NODE_SET */
        uint64_t alarm;
        struct lks_event_grant grant;
        struct lks_event_api_token api_token;
        struct lks_event_certify certify; /* GONE: `serial` */
        struct lks_event_command command;
        struct lks_event_result result;
        struct lks_event_outband outband;
        struct lks_event_condition condition;
        struct lks_event_check check;
        struct lks_event_deviate deviate;
        uint64_t deviation; /* DEVIATION_CLOSE, DEVIATION_AGREE */
        struct lks_event_publish publish;
        struct lks_event_step step;
        struct lks_rec_image image; /* without `by` */
        struct lks_rec_artifact artifact;
        struct lks_rec_job job;                  /* the same */
        struct lks_rec_override override;        /* the same */
        const struct lks_rec_observed *observed; /* `observed_count` of them */
        struct lks_event_lead lead;
        struct lks_event_key key;
        struct lks_rec_bundle bundle; /* without `by`; KEY_GONE, BUNDLE_REVOKE: event.name */
        struct lks_str fingerprint;   /* ENDPOINT: of the node event.name; empty: forget */
        struct lks_rec_flash flash;   /* without `id`, `node`, `by`, `reason` */
        struct lks_rec_flash_saved flash_saved;
        struct lks_rec_flash_ended flash_ended; /* without `node` */
        struct lks_event_propose propose;
        struct lks_event_vote vote;
        uint64_t review;           /* REVIEW: the change */
        enum lks_reset_step reset; /* RESET: of the node event.name */
        struct lks_event_waive waive;
        struct lks_event_move move;
        struct lks_event_member member; /* event.name: host list */
        struct lks_event_freeze freeze;
        struct lks_event_ticket ticket; /* event.by: who that is here */
        struct lks_rec_ticket_told told;
        struct lks_rec_audited audited;
        struct lks_rec_forecast forecast;       /* without `by` */
        struct lks_event_sched sched;           /* event.node */
        struct lks_event_advertised advertised; /* event.node */
        struct lks_str outage;                  /* event.node; empty: it is over */
        struct lks_event_sched_jobs sched_jobs; /* event.node */
        struct lks_event_sched_alarm sched_alarm;
        struct lks_event_sched_slot slot;
        struct lks_event_runs runs;
        struct lks_event_job_acted acted;
        struct lks_event_measured measured;
        struct lks_event_cadence cadence;
    };
};

struct lks_decision {
    struct lks_arena arena; /* owns what records point to */
    struct lks_record *records;
    size_t count, room;
    struct lks_err refused; /* code other than LKS_OK: the answer is no */
    bool more;              /* a tick is due at once */
    struct lks_touched touched;
    enum lks_code failed; /* out of memory, asked by lks_decide() */
};

void lks_decision_init(struct lks_decision *d);
void lks_decision_fini(struct lks_decision *d);

#endif
