/*
 * Events and decisions.
 *
 * A person, an agent, a machine or the clock causes an event. A decision is the list of records
 * that follow from it, or a refusal: a code and a line, and no records.
 */
#ifndef LKS_CORE_EVENT_H
#define LKS_CORE_EVENT_H

#include "core/gate/gate.h"
#include "core/plan/plan.h"
#include "core/registry/book.h"
#include "core/rows/limits.h"
#include "core/state/heartbeat.h"
#include "model/manifest/bundle.h"
#include "model/tuple/tuple.h"

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
    LKS_EVENT_SCHED,    /* what a scheduler says of a node */
    LKS_EVENT_MEASURED, /* what was measured of nodes, for the gates of changes */
    LKS_EVENT_CADENCE,  /* how far pools are behind what is released is looked at */
    LKS_EVENT_COUNT
};

/* What one call reaches outside a change: its answer repeats that. */
struct lks_touched {
    uint64_t nodes, gpus;
};

/* Views and pointers are borrowed until the turn is over. */
struct lks_event {
    enum lks_event_kind kind;
    struct lks_str by;         /* the caller; empty: none */
    struct lks_str credential; /* by which: core/governance/backing.h; empty: not known */
    bool root;                 /* the caller is root on a controller's own socket */
    struct lks_str reason;     /* where a person has to give one */
    size_t observed_count;
    uint32_t node;       /* BEAT, TUPLE, RENEW, RESULT: whose agent it is */
    struct lks_str name; /* TOKEN, ENROLL, FLASH, FLASH_RESOLVE: the node; HOLD to REMOVE: a host
                            list */
    const struct lks_bundle *said; /* FLASH: the manifest of its bundle; NULL: it was not read */
    union {
        struct {
            struct lks_str version, host;
        } started;
        struct lks_limits limits;
        struct {
            uint64_t forward, back; /* by how many ms the wall clock jumped */
        } clock;
        struct lks_beat beat;
        struct {
            const struct lks_tuple *tuple;
            struct lks_str report; /* digest of its bytes, which are a blob of the same batch */
        } tuple;
        struct {
            struct lks_str hash;
            lks_ms expires;
        } token;
        struct { /* the certificate is made already; it leaves if the answer is yes */
            struct lks_str token_hash; /* ENROLL */
            struct lks_str fingerprint, serial;
            struct lks_str shown; /* RENEW: fingerprint of the certificate that asks */
            lks_ms expires;
        } certificate;
        struct {
            const struct lks_manifest *manifest;
            struct lks_manifest *give; /* the same, if the engine may keep it; else NULL */
            struct lks_str digest;     /* of its bytes, a blob of the same batch */
            bool accept;               /* what is first seen is taken in at once */
            bool dry;                  /* nothing comes of it, so nothing is to be confirmed */
            struct lks_touched said; /* how many of them, as the caller repeats; 0: not repeated */
        } fleet;
        struct {
            bool force; /* RELEASE: although it does not conform; the record says so */
        } release;
        struct {
            struct lks_str column, value; /* an empty value clears the column */
        } set;                            /* NODE_SET */
        uint64_t alarm;
        struct {
            struct lks_str identity, site, pool;
            enum lks_role role;
        } grant;
        struct {
            struct lks_str id, identity, hash;
            lks_ms expires; /* 0: never; RENEW: what its own life makes of it, and no later */
            lks_ms life;
            struct lks_str issuer, grants; /* LOGIN */
        } api_token;
        struct { /* the certificate is made already; it leaves if the answer is yes */
            struct lks_str identity, fingerprint, serial;
            struct lks_str renews; /* serial of the one that the caller shows; empty: none */
            lks_ms expires, life;
        } certify; /* GONE: `serial` */
        struct {
            struct lks_str executor, digests;
            lks_ms expires;
        } command;
        struct {
            uint64_t id;
            enum lks_outcome outcome;
            struct lks_str text;
        } result;
        struct {
            const struct lks_tuple *tuple; /* NULL: what was read is over, for `reason` */
            struct lks_str report;
        } outband;
        struct {
            enum lks_condition condition;
            bool on;
            lks_ms until;
            struct lks_str stack, text;
        } condition;
        struct {
            struct lks_str subject, value, owner, approver;
            lks_ms expires;
        } deviate;
        uint64_t deviation; /* DEVIATION_CLOSE, DEVIATION_AGREE */
        struct {
            const struct lks_stack *stack;
            struct lks_str manifest; /* digest of its file, a blob of the same batch */
            struct lks_str envelope; /* itself, as text */
        } publish;
        struct {
            struct lks_str digest, evidence;
            enum lks_stack_step to;
        } step;
        struct lks_rec_image image; /* without `by` */
        struct lks_rec_artifact artifact;
        struct lks_rec_job job;                  /* the same */
        struct lks_rec_override override;        /* the same */
        const struct lks_rec_observed *observed; /* `observed_count` of them */
        struct {
            uint64_t epoch;
            struct lks_str name, url;
        } lead;
        struct {
            struct lks_str name, key;
        } key;
        struct lks_rec_bundle bundle; /* without `by`; KEY_GONE, BUNDLE_REVOKE: event.name */
        struct lks_str fingerprint;   /* ENDPOINT: of the node event.name; empty: forget */
        struct lks_rec_flash flash;   /* without `id`, `node`, `by`, `reason` */
        struct lks_rec_flash_saved flash_saved;
        struct lks_rec_flash_ended flash_ended; /* without `node` */
        struct {
            struct lks_plan_wish wish;          /* core/plan/plan.h */
            const struct lks_bundle_set *known; /* manifests of the bundles there are */
        } propose;
        struct {
            uint64_t change;
            bool yes;
            bool withdrawn; /* the approver withdraws the approval */
        } vote;
        uint64_t review;           /* REVIEW: the change */
        enum lks_reset_step reset; /* RESET: of the node event.name */
        struct {
            uint64_t change;
            struct lks_str gate; /* its name, or that of a metric */
            struct lks_str pool; /* of that pool alone; empty: where they may approve */
            lks_ms until;
        } waive;
        struct {
            uint64_t change;
            enum lks_change_order_word order; /* core/plan/plan.h */
            bool glass;                       /* START: without its approvals */
            struct lks_str standby;           /* START: who stands by on site, where it asks */
        } move;
        struct {
            uint64_t change;
            bool again; /* try it again; else it returns to service as is */
        } member;       /* event.name: host list */
        struct {
            struct lks_str pool; /* empty: all */
            bool on;
        } freeze;
        struct {
            uint64_t change, nodes; /* nodes: how many it was shown with */
            bool yes;
            struct lks_str plan;        /* digest of what was shown */
            struct lks_str id;          /* of the message */
            struct lks_str ticket, who; /* as the ticket system calls them */
            lks_ms until;               /* the message is not taken again before then */
        } ticket;                       /* event.by: who that is here */
        struct lks_rec_ticket_told told;
        struct lks_rec_audited audited;
        struct lks_rec_forecast forecast; /* without `by` */
        struct {
            bool drained; /* it takes no new work, and nothing runs on it */
            uint32_t jobs;
            struct lks_str owner, text;
        } sched; /* event.node */
        struct {
            const struct lks_measured *list;
            size_t count;
        } measured; /* values that were not asked for are ignored; nothing is refused for them */
        struct {
            uint32_t pool; /* for which a change may be drafted now; UINT32_MAX: for none */
            const struct lks_bundle_set *known; /* manifests of the bundles there are */
        } cadence;
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
