/*
 * What the journal holds: outcomes, never inputs.
 * Long because each kind of record has its struct here.
 * A record says what became true: a node is late, a certificate was issued, a pool is pinned. It
 * names things by their names and carries every value that the state keeps of it, so reading an old
 * journal asks nothing of today's rules, and the state is the fold of its records from the first.
 *
 * Each kind is a struct and a table of its fields. From the table come its bytes in the journal,
 * its JSON for people and exports, and the reference page. The bytes are the fields in order:
 * numbers as LEB128, texts with their length before them. A later version of a kind may only add
 * fields at the end; a record of the version before reads as if they were zero. A newer version, or
 * a kind that is not in the table, is refused: this program is too old for that journal.
 */
#ifndef LKS_MODEL_RECORD_H
#define LKS_MODEL_RECORD_H

#include "base/buf.h"
#include "base/time.h"
#include "codec/format/json.h"
#include "model/record/record_words.h"

#define LKS_RECORD_BODY_MAX ((size_t)4 << 20)

/* The numbers are in every journal there is: they never change and are never used again. */
/* clang-format off */
#define LKS_RECORDS(X)                                     \
    X( 1, BEGUN,          begun,          "begun")          \
    X( 2, STARTED,        started,        "started")        \
    X( 3, LIMITS,         limits,         "limits")         \
    X( 4, CLOCK,          clock,          "clock")          \
    X( 5, REPAIRED,       repaired,       "repaired")       \
    X( 6, TRIMMED,        trimmed,        "trimmed")        \
    X( 7, LED,            led,            "led")            \
    X( 8, SIGNED,         signing,        "signed")         \
    X(10, FLEET,          fleet,          "fleet")          \
    X(11, POOL,           pool,           "pool")           \
    X(12, POOL_REMOVED,   pool_removed,   "pool-removed")   \
    X(13, PLACED,         placed,         "placed")         \
    X(14, REMOVED,        removed,        "removed")        \
    X(20, TOKEN,          token,          "token")          \
    X(21, ENROLLED,       enrolled,       "enrolled")       \
    X(22, CERTIFIED,      certified,      "certified")      \
    X(23, REVOKED,        revoked,        "revoked")        \
    X(30, LIVENESS,       liveness,       "liveness")       \
    X(31, BOOTED,         booted,         "booted")         \
    X(32, TUPLE_KNOWN,    tuple_known,    "tuple-known")    \
    X(33, TUPLE,          tuple,          "tuple")          \
    X(34, PARTS,          parts,          "parts")          \
    X(35, NOTED,          noted,          "noted")          \
    X(36, BASIS,          basis,          "basis")          \
    X(37, VERDICT,        verdict,        "verdict")        \
    X(38, OUTBAND,        outband,        "out-of-band")    \
    X(39, DRIFT,          drift,          "drift")          \
    X(40, INTAKE,         intake,         "intake")         \
    X(41, ACCEPTED,       accepted,       "accepted")       \
    X(42, HELD,           held,           "held")           \
    X(43, UNHELD,         unheld,         "unheld")         \
    X(44, REPLACED,       replaced,       "replaced")       \
    X(45, CONDITION,      condition,      "condition")      \
    X(46, DRAINED,        drained,        "drained")        \
    X(47, UNDRAINED,      undrained,      "undrained")      \
    X(48, NODE_SET,       node_set,       "node-set")       \
    X(49, ADVERTISED,     advertised,     "advertised")     \
    X(50, ALARM,          alarm,          "alarm")          \
    X(51, ALARM_RELEASED, alarm_released, "alarm-released") \
    X(52, MASS,           mass,           "mass")           \
    X(53, SLOT,           slot,           "slot")           \
    X(60, GRANTED,        granted,        "granted")        \
    X(61, UNGRANTED,      ungranted,      "ungranted")      \
    X(62, API_TOKEN,      api_token,      "api-token")      \
    X(63, API_TOKEN_GONE, api_token_gone, "api-token-gone") \
    X(64, TOKEN_RENEWED,  token_renewed,  "token-renewed")  \
    X(65, PERSON_CERTIFIED, person_certified, "person-certified") \
    X(66, PERSON_REVOKED, person_revoked, "person-revoked") \
    X(70, COMMAND,        command,        "command")        \
    X(71, COMMAND_ENDED,  command_ended,  "command-ended")  \
    X(80, DEVIATION,      deviation,      "deviation")      \
    X(81, DEVIATION_ENDED, deviation_ended, "deviation-ended") \
    X(90, PUBLISHED,      published,      "published")      \
    X(91, STEPPED,        stepped,        "stepped")        \
    X(92, IMAGE,          image,          "image")          \
    X(93, IMAGE_GONE,     image_gone,     "image-gone")     \
    X(94, ARTIFACT,       artifact,       "artifact")       \
    X(95, ARTIFACT_GONE,  artifact_gone,  "artifact-gone")  \
    X(100, JOB,           job,            "job")            \
    X(101, OVERRIDE,      override,       "override")       \
    X(102, OBSERVED,      observed,       "observed")       \
    X(103, JOB_ENDED,     job_ended,      "job-ended")      \
    X(104, JOB_BATCH,     job_batch,      "job-batch")      \
    X(105, RUNS_READ,     runs_read,      "runs-read")      \
    X(106, REFUSAL,       refusal,        "refusal")        \
    X(110, KEY_PINNED,    key_pinned,     "key-pinned")     \
    X(111, KEY_GONE,      key_gone,       "key-gone")       \
    X(112, BUNDLE,        bundle,         "bundle")         \
    X(113, BUNDLE_REVOKED, bundle_revoked, "bundle-revoked") \
    X(114, ENDPOINT,      endpoint,       "endpoint")       \
    X(120, FLASH,         flash,          "flash")          \
    X(121, FLASH_SAVED,   flash_saved,    "flash-saved")    \
    X(122, FLASH_ENDED,   flash_ended,    "flash-ended")    \
    X(123, FLASH_RESOLVED, flash_resolved, "flash-resolved") \
    X(130, CHANGE,         change,         "change")         \
    X(131, PLAN_STEP,      plan_step,      "plan-step")      \
    X(132, PLAN_WAVE,      plan_wave,      "plan-wave")      \
    X(133, PLAN_PART,      plan_part,      "plan-part")      \
    X(134, PLAN_ORDER,     plan_order,     "plan-order")     \
    X(135, PLAN_NOTE,      plan_note,      "plan-note")      \
    X(136, CHANGE_VOTED,   change_voted,   "change-voted")   \
    X(137, CHANGE_MOVED,   change_moved,   "change-moved")   \
    X(138, WAVE,           wave,           "wave")           \
    X(139, MEMBER,         member,         "member")         \
    X(140, REVERT_PROVEN,  revert_proven,  "revert-proven")  \
    X(141, FROZEN,         frozen,         "frozen")         \
    X(142, VOTE_WITHDRAWN, vote_withdrawn, "vote-withdrawn") \
    X(143, GLASS_BROKEN,   glass_broken,   "glass-broken")   \
    X(144, REVIEWED,       reviewed,       "reviewed")       \
    X(145, WAIVED,         waived,         "waived")         \
    X(150, PLAN_METRIC,    plan_metric,    "plan-metric")    \
    X(151, PLAN_GATE,      plan_gate,      "plan-gate")      \
    X(152, MEASURED,       measured,       "measured")       \
    X(153, GATE_LOOKED,    gate_looked,    "gate-looked")    \
    X(154, WAVE_LIMIT,     wave_limit,     "wave-limit")     \
    X(157, FORECAST,       forecast,       "forecast")       \
    X(158, JOB_ACT,        job_act,        "job-act")        \
    X(164, LOWERED,        lowered,        "lowered")        \
    X(166, DEVIATION_AGREED, deviation_agreed, "deviation-agreed") \
    X(170, TICKET_HEARD,   ticket_heard,   "ticket-heard")   \
    X(171, TICKET_TOLD,    ticket_told,    "ticket-told")    \
    X(172, TICKET_DUE,     ticket_due,     "ticket-due")     \
    X(173, RESET,          reset,          "reset")          \
    X(174, BARRED,         barred,         "barred")         \
    X(180, AUDITED,        audited,        "audited")

enum lks_record_kind {
#define X(number, NAME, member, word) LKS_RECORD_##NAME = (number),
    LKS_RECORDS(X)
#undef X
};
/* clang-format on */

/* `by` is an identity such as "token:admin", "unix:0" or "user:kim"; empty: lockstepd itself. Times
 * are milliseconds since 1970 on the journal's clock. Digests are "sha256:...". */
struct lks_rec_begun {
    struct lks_str journal, version;
};
struct lks_rec_started {
    struct lks_str version, host;
};
struct lks_rec_limits {
    uint64_t heartbeat, late, lost;                 /* ms */
    uint64_t mass_floor, mass_percent, mass_window; /* nodes, %, ms */
    uint64_t skew;                                  /* ms */
    uint64_t call_nodes;                            /* most nodes in one call outside a change */
    uint64_t validity, staleness;                   /* ms; of an admission, of a follower */
    uint64_t outband_age;                           /* ms that an out-of-band reading is good */
    lks_ms yeses_until;    /* when the last yes that was given under longer limits has ended */
    uint64_t proposal_age; /* ms that a change waits for its approval, and then for its start */
};
struct lks_rec_clock {
    lks_ms wall;
    uint64_t forward, back;
    struct lks_str text;
};
struct lks_rec_repaired {
    uint64_t from, count;              /* the records that were set aside */
    struct lks_str by, reason, digest; /* of their bytes */
};
struct lks_rec_trimmed {
    uint64_t through;
    struct lks_str hash, snapshot, by;
    uint64_t signed_from; /* the row of the record `signed`; 0: there was none */
};
struct lks_rec_signing {
    uint64_t from;    /* this record's own row: every commit from it on carries a signed head */
    uint64_t earlier; /* rows right before it that no head covered */
};
struct lks_rec_fleet {
    struct lks_str name, manifest, by, reason;
};
struct lks_rec_pool {
    struct lks_str name, posture;
    uint64_t criticality;
    struct lks_str enforce, sched, stack, stack_digest, by;
    struct lks_str on_drift; /* "alarm drain propose", those that are wanted */
    bool deviations;         /* nodes that run one are admitted */
    bool attested;           /* nodes must be attested */
    uint64_t check_age;      /* ms since the last active check; 0: not asked */
    uint64_t sweep;          /* ms between out-of-band readings; 0: a record of version 1 */
    bool drain_refused;      /* nodes that admission refuses are drained */
};
struct lks_rec_pool_removed {
    struct lks_str name, by;
};
struct lks_rec_placed {
    struct lks_str hosts;              /* a host list */
    struct lks_str pool, class, asset; /* asset: its class, empty for nodes */
    struct lks_str site, rack, domain, power_zone, cooling_loop, hardware_revision, supplier, side,
        by;
};
struct lks_rec_removed {
    struct lks_str hosts, by, reason;
};
struct lks_rec_token {
    struct lks_str node, hash;
    lks_ms expires;
    struct lks_str by, reason;
};
struct lks_rec_enrolled {
    struct lks_str node, fingerprint, serial;
    lks_ms expires;
};
struct lks_rec_certified {
    struct lks_str node, fingerprint, serial;
    lks_ms expires;
};
struct lks_rec_revoked {
    struct lks_str node, by, reason;
};
struct lks_rec_liveness {
    struct lks_str node;
    uint64_t state;
};
struct lks_rec_booted {
    struct lks_str node, boot;
};
struct lks_rec_tuple_known {
    struct lks_str digest, readings;
}; /* JSON: [name, part, value]... */
/* Since version 2 a VERDICT says how readings compare with a stack; what is said of it here is for
 * people, but for one thing: a stack that it conforms to is what it was last right in, and so it is
 * the way a snapshot says that. */
struct lks_rec_tuple {
    struct lks_str node, digest, report; /* report: digest of the whole tuple's bytes */
    struct lks_str boot;  /* empty: the reading ended, since the node may have been changed */
    lks_ms taken;         /* on the node's clock */
    struct lks_str stack; /* digest it was judged against, or empty */
    uint64_t judged, drifted, unmeasured;
    struct lks_str first;   /* of what does not conform, as people read it */
    struct lks_str basis;   /* of its in-band readings */
    struct lks_str whole;   /* of these and the out-of-band ones together: what it is judged by */
    struct lks_str changed; /* lines: a wrong component, a tab, what its package log says of it */
};
struct lks_rec_basis {
    struct lks_str digest, readings; /* core/conform/basis.h */
};
struct lks_rec_verdict {
    struct lks_str basis, stack; /* digests */
    uint64_t judged, drifted, unmeasured;
    struct lks_str first;
    struct lks_str wrong;  /* a line for each that does not conform: core/conform/verdict.h */
    struct lks_str values; /* a line for each pinned or windowed component: what a gang agrees in */
};
struct lks_rec_outband {
    struct lks_str node, basis, whole, report; /* empty: what was read is over */
    lks_ms taken;
    struct lks_str by, reason;
};
struct lks_rec_advertised {    /* by the pool's scheduler; both empty: nothing any more */
    struct lks_str node, gres; /* the GPUs, as core/conform/conform_scheduler.c reads them */
    struct lks_str state;      /* what else is wrong with it; empty: nothing */
    struct lks_str whole;      /* as in `lks_rec_tuple` */
};
struct lks_rec_slot { /* of a pool: a job on several nodes asks for nodes of one slot */
    struct lks_str pool;
    uint64_t slot;
    struct lks_str digest; /* of the stack whose nodes have it from now on */
};
struct lks_rec_drift {
    struct lks_str node;
    bool on;
    struct lks_str stack;
    uint64_t cause;
    struct lks_str text, evidence; /* evidence: digest of the report that shows it */
};
struct lks_rec_condition {
    struct lks_str node;
    uint64_t condition;
    bool on;
    lks_ms until;         /* ATTESTED: it ends then; CHECKED: when it passed */
    struct lks_str stack; /* CHANGING: the digest it is going to, which is its intent now */
    struct lks_str by, text;
};
struct lks_rec_drained {
    struct lks_str node, owner, reason;
    uint64_t row; /* of the first such record of its decision, for the scheduler's text; 0: of a
                     version that had none */
};
struct lks_rec_undrained {
    struct lks_str node, owner, reason;
};
struct lks_rec_parts {
    struct lks_str node, board, gpus, nics, list;
}; /* digests of serials */
struct lks_rec_noted {
    struct lks_str node;
    uint64_t note;
    bool on;
    struct lks_str text;
};
struct lks_rec_intake {
    struct lks_str node, why;
};
struct lks_rec_accepted {
    struct lks_str hosts, by, reason;
};
struct lks_rec_held {
    struct lks_str node, by, reason;
    uint64_t row; /* as that of a drain */
};
struct lks_rec_unheld {
    struct lks_str node, by, reason;
};
struct lks_rec_node_set {
    struct lks_str node;
    struct lks_str column, value; /* of core/entity/settable.h; an empty value clears it */
    struct lks_str by, reason;
};
struct lks_rec_replaced {
    struct lks_str node, by, reason;
};
struct lks_rec_barred { /* beside REPLACED, and in snapshots */
    struct lks_str node, fingerprint;
    lks_ms expires;
};
struct lks_rec_alarm {
    uint64_t id, kind;
    struct lks_str subject, text;
};
struct lks_rec_alarm_released {
    uint64_t id;
    struct lks_str by, reason;
};
struct lks_rec_mass {
    struct lks_str pool, what;
    uint64_t count, of, alarm;
};
/* `minters` are the people by whom the credential of `by` came to be, with blanks between them, and
 * `root` says that `by` is root on a controller's own socket: core/governance/backing.h. */
struct lks_rec_granted {
    struct lks_str identity;
    uint64_t role;
    struct lks_str site, pool, by, minters;
    bool root;
    struct lks_str reason;
};
struct lks_rec_ungranted {
    struct lks_str identity;
    uint64_t role;
    struct lks_str site, pool, by, reason;
};
struct lks_rec_api_token {
    struct lks_str id, identity, hash;
    lks_ms expires;
    struct lks_str by, minters;
    bool root;
    uint64_t life;         /* ms that a renewal is good for; 0: it cannot be renewed */
    struct lks_str issuer; /* of a login: the identity provider; empty: a token that was made */
    struct lks_str grants; /* of a login: "ROLE" or "ROLE@POOL" each, with blanks between */
    struct lks_str reason;
};
struct lks_rec_api_token_gone {
    struct lks_str id, by, reason;
};
struct lks_rec_token_renewed {
    struct lks_str id;
    lks_ms expires;
    struct lks_str by;
};
struct lks_rec_person_certified {
    struct lks_str identity, serial, fingerprint;
    lks_ms expires;
    struct lks_str minter, minters; /* of the first, if it renews another */
    bool root;                      /* of `minter` */
    uint64_t life;                  /* ms that a renewal is good for */
    struct lks_str renews, by;      /* the serial of the one before; empty: none */
    struct lks_str reason;
};
struct lks_rec_person_revoked {
    struct lks_str serial, by, reason;
};
struct lks_rec_command {
    uint64_t id;
    struct lks_str node, boot, executor, digests; /* digests: separated by blanks */
    uint64_t attempt;
    lks_ms expires;
    struct lks_str by, reason;
};
struct lks_rec_command_ended {
    uint64_t id;
    struct lks_str node;
    uint64_t outcome;
    struct lks_str text;
};
struct lks_rec_reset { /* of a node whose GPU process does not end: core/state/resets.h */
    struct lks_str node;
    uint64_t step;
    struct lks_str boot; /* ASKED: the boot it is asked for */
    lks_ms until;        /* ASKED: approved by then, or never */
    uint64_t command;    /* APPROVED: the number of the reboot */
    struct lks_str by, reason, credential, minters;
};
struct lks_rec_led {
    uint64_t epoch;
    struct lks_str name, url; /* the controller that leads from here on */
};
struct lks_rec_deviation {
    uint64_t id;
    struct lks_str hosts, subject, value; /* subject: "driver", or "*"; value: empty for any */
    struct lks_str owner, reason, approver;
    lks_ms expires;
    struct lks_str by;
    bool waits; /* for an approver's own word: it covers nothing before */
    struct lks_str minters;
};
struct lks_rec_deviation_ended {
    uint64_t id;
    struct lks_str by, reason; /* by empty: it expired */
};
struct lks_rec_deviation_agreed {
    uint64_t id;
    struct lks_str by, reason, credential;
};
struct lks_rec_published {
    struct lks_str digest, name, manifest; /* the last is a blob */
    struct lks_str envelope;               /* itself: DSSE, by the journal's key */
    struct lks_str artifacts;              /* digests it names, separated by blanks */
    struct lks_str by, reason, minters;
};
struct lks_rec_stepped {
    struct lks_str digest;
    uint64_t step;
    struct lks_str evidence, by, credential;
};
struct lks_rec_image {
    struct lks_str ref, digest, nccl, rccl, cudnn, cuda, source, by, reason;
};
struct lks_rec_image_gone {
    struct lks_str ref, by, reason;
};
struct lks_rec_artifact {
    struct lks_str digest, name;
    uint64_t size;
    struct lks_str by;
};
struct lks_rec_artifact_gone {
    struct lks_str digest, by, reason;
};
struct lks_rec_job {
    struct lks_str job, hosts, digest; /* digest: of the stack it starts on */
    struct lks_str images, by;
    struct lks_str override; /* the reason, where it starts by one */
};
struct lks_rec_override {
    struct lks_str job, hosts, reason, by;
    lks_ms until;
};
struct lks_rec_observed {
    struct lks_str pool;
    uint64_t bar, asked, refused; /* jobs since the last such record */
};

struct lks_rec_refusal { /* with a node, of jobs there; else of jobs of a user with an image */
    struct lks_str pool;
    uint64_t bar;
    struct lks_str user, image, node;
    uint64_t count; /* jobs since the last such record */
};

struct lks_rec_job_ended {           /* a run of a job */
    struct lks_str job, site, sched; /* as the scheduler calls it, and which that is */
    struct lks_str user, account, partition, name;
    struct lks_str pool, hosts;
    uint64_t nodes, gpus;  /* gpus: 0: not known */
    struct lks_str digest; /* of the stacks of its nodes, separated by blanks */
    lks_ms started, ended; /* the scheduler's clock */
    uint64_t state;
    struct lks_str exit; /* "3:0": status and signal of its script; empty: not known */
    uint64_t restarts, gpu_ms;
    uint64_t cause;
    struct lks_str by, reason; /* who interrupted it: "change:17", a node; the scheduler's reason */
};
struct lks_rec_job_batch { /* runs without a record of their own */
    struct lks_str job;    /* the array that they are tasks of; empty: of several jobs */
    struct lks_str site, sched, user, pool, digest;
    uint64_t state, cause, count, gpu_ms;
    lks_ms started, ended; /* the first start and the last end */
};
struct lks_rec_runs_read { /* all runs up to this place are counted */
    struct lks_str site, sched;
    lks_ms at;
    struct lks_str job;
    lks_ms missing_from, missing_until; /* runs that ended in between may be missing; 0: none */
};

struct lks_rec_key_pinned {
    struct lks_str name, key; /* the key as text: trust/signature.h */
    struct lks_str by, reason;
};
struct lks_rec_key_gone {
    struct lks_str name, by, reason;
};
struct lks_rec_bundle {
    struct lks_str digest, name, version;
    struct lks_str manifest;  /* the digest of its bytes, which are a blob */
    struct lks_str signer;    /* name of the pinned key that is good for it */
    struct lks_str key;       /* and that key's fingerprint */
    struct lks_str artifacts; /* digests, separated by blanks */
    bool site;                /* signed by the site, for a vendor that does not sign */
    struct lks_str by, reason;
};
struct lks_rec_bundle_revoked {
    struct lks_str digest, by, reason;
};
struct lks_rec_endpoint {
    struct lks_str node, fingerprint; /* "sha256:..." of its certificate; empty: forgotten */
    struct lks_str by, reason;
};
struct lks_rec_flash {
    uint64_t id;
    struct lks_str node;
    uint64_t act;
    struct lks_str component, version, bundle, image;
    uint64_t size;
    struct lks_str image_name, apply_time;
    bool force, one_way;
    lks_ms deadline;
    struct lks_str by, reason;
};
struct lks_rec_flash_saved {
    uint64_t id;
    struct lks_str saved; /* what the driver needs to go on; never a secret */
    struct lks_str phase;
    uint64_t percent;
};
struct lks_rec_flash_ended {
    uint64_t id;
    struct lks_str node;
    uint64_t outcome;
    struct lks_str found, text;
    uint64_t uploads;
};
struct lks_rec_flash_resolved {
    uint64_t id;
    struct lks_str node, by, reason;
};

/* A change and its plan: one CHANGE, and in the same batch its steps, waves, parts, orders and
 * notes. `recipe` is the number of a list of steps; `wave` and `index` count from 0. */
struct lks_rec_change {
    uint64_t id, kind;
    struct lks_str hosts;         /* whom it was asked for: a host list, or @POOL */
    struct lks_str stack, name;   /* digest and name of the stack; AGENT: the version, as name */
    uint64_t failures_max;        /* nodes that may fail before it is halted */
    bool rolls_back;              /* a halt is followed by a rollback without a question */
    bool one_way;                 /* irreversible steps were acknowledged */
    lks_ms not_before, not_after; /* 0: any time. No node starts outside */
    struct lks_str windows; /* of the week, in site time: codec/time/windows.h; empty: always */
    struct lks_str by, reason;
    struct lks_str class; /* of change; empty: a record of version 1, which asked for one vote */
    struct lks_str
        advisory;    /* the vulnerability it was requested to close, where its class needs one */
    uint64_t quorum; /* people who have to approve it, for each of its pools */
    lks_ms expires;  /* a proposal that is not approved by then is over */
    uint64_t approval_age; /* ms that an approval is good; 0: for ever */
    uint64_t review_age;   /* ms in which one that began without them has to be reviewed */
    bool standby;          /* its starter names a person on standby on site */
    struct lks_str minters;
};
struct lks_rec_plan_step {
    uint64_t change, recipe, index, kind;
    uint64_t rank;            /* members of a unit do steps of one rank together */
    uint64_t layer;           /* of what it changes, from 1; 0: nothing */
    struct lks_str component; /* that it changes: "driver nccl" for an order, a class for a flash */
    struct lks_str version;   /* FLASH, STAGE, ACTIVATE: what it is to run, */
    struct lks_str before;    /* and what it ran */
    struct lks_str executor;  /* APPLY, REBOOT, ACCEPT */
    struct lks_str order;     /* APPLY: digest of the order, */
    struct lks_str order_back; /* and of the one that reverts it; empty: there is none */
    struct lks_str artifacts;  /* digests that the order needs, with blanks between */
    struct lks_str artifacts_back;
    struct lks_str bundle, image; /* FLASH, STAGE, ACTIVATE */
    struct lks_str bundle_back, image_back;
    uint64_t revert; /* FLASH: what reverts it: SWITCH, or UPDATE with the image before */
    bool one_way;
    uint64_t limit;        /* ms that it may take */
    uint64_t retries;      /* how often it may be tried again */
    uint64_t jobs;         /* LEAVE: what may be done to jobs, enum lks_drain_jobs */
    struct lks_str signal; /* with REQUEUE: that a job gets first, */
    uint64_t grace;        /* and ms that it has then */
    /* one_way for this alone: files for the revert that no verified bundle of the depot had */
    struct lks_str missing;
};
struct lks_rec_plan_wave {
    uint64_t change, index, kind;
    struct lks_str pool;       /* whose nodes it has; empty: of several */
    uint64_t width;            /* units that may be changed and not yet proven, at most */
    uint64_t soak;             /* ms behind its last node until the gate may pass it */
    uint64_t failures_max;     /* of its nodes */
    struct lks_str controls;   /* host list: matched nodes that do not change meanwhile */
    struct lks_str width_text; /* the limit that decided `width` */
};
struct lks_rec_plan_part {
    uint64_t change, wave, recipe;
    struct lks_str domain; /* its hosts, and those of other parts with it, change together */
    struct lks_str from;   /* digest of the stack they come from */
    bool proves;           /* it goes there, back and there again: the rollback is exercised */
    struct lks_str hosts;
};
struct lks_rec_plan_order {
    uint64_t change;
    struct lks_str digest, text; /* model/manifest/order.h */
};
struct lks_rec_plan_note {
    uint64_t change, kind;
    struct lks_str text;
};
struct lks_rec_change_voted {
    uint64_t change;
    bool yes;
    struct lks_str by, reason;
    struct lks_str credential,
        minters; /* credential: "token:ID" and so on, core/governance/backing.h */
};
struct lks_rec_change_moved {
    uint64_t change, state;
    struct lks_str by, reason; /* by empty: a gate, or it expired */
    struct lks_str standby;    /* who stands by on site from here on */
    bool starts;               /* it runs for the first time */
};
struct lks_rec_wave {
    uint64_t change, index, state;
    lks_ms until; /* SOAKS: the gate looks no earlier */
    struct lks_str text;
};
struct lks_rec_member {
    uint64_t change;
    struct lks_str node;
    uint64_t state, step;
    bool back; /* in its rollback */
    uint64_t
        pass; /* 0; of a member that exercises the rollback: 1 in the rollback, 2 there again */
    uint64_t attempt; /* of this step, from 1 */
    lks_ms until;     /* its deadline, or when the next attempt may begin */
    uint64_t work;    /* ASKED: the number of the command or of the update */
    uint64_t failure; /* the last one */
    struct lks_str text;
    struct lks_str by; /* the person who said so; empty: it follows from what happened */
    uint64_t reached;  /* steps that were done before it was drained again; as struct lks_member */
};
struct lks_rec_revert_proven {
    struct lks_str class, from, to; /* hardware class; digests of the two stacks */
    uint64_t change, took;          /* ms of the rollback */
    struct lks_str node;
};
struct lks_rec_frozen {
    struct lks_str pool; /* empty: all */
    bool on;
    struct lks_str by, reason;
};

/* What the gates of a change ask for, as it was when it was planned: who edits the fleet's file
 * later does not lower a gate that runs. Numbers with fractions are texts: base/real.h. */
struct lks_rec_plan_metric {
    uint64_t change;
    struct lks_str name, pools; /* names of pools, with blanks between: whose nodes it is of */
    uint64_t kind, better, unit;
    struct lks_str margin; /* percent that a MEAN may be worse by */
    bool critical;
    struct lks_str query; /* PromQL, where that is the source */
    uint64_t source;
    struct lks_str alpha; /* the chance of being wrong that the verdict on a wave may have */
    struct lks_str
        sigma; /* percent: how far units differ in what they changed by; empty: unknown */
    struct lks_str normal; /* RATE: events of a node in an hour that are normal; empty: unknown */
};
struct lks_rec_plan_gate {
    uint64_t change;
    struct lks_str pool;
    uint64_t min_load;             /* GPU-seconds under load that each changed node needs */
    uint64_t min_soak, max_soak;   /* ms: no verdict before, a person decides behind */
    uint64_t loss_budget;          /* nodes that the next units may cost; 0: rings are as planned */
    struct lks_str reference_load; /* site hook that puts nodes under load; empty: none */
};
struct lks_rec_measured {
    uint64_t change, wave;
    struct lks_str node, metric;
    struct lks_str before, after; /* medians over windows of one length; empty: no data */
    uint64_t samples;             /* behind `after` */
    lks_ms from, until;           /* of the window of `after` */
    uint64_t load;                /* GPU-seconds under load since it returned */
    uint64_t events, exposure;    /* RATE and HARD: since it returned; ms until the first */
};
struct lks_rec_gate_looked {
    uint64_t change, wave;
    struct lks_str metric; /* empty: the wave as a whole */
    uint64_t look;         /* how many times it was looked at by now */
    uint64_t verdict;
    struct lks_str text;
};
struct lks_rec_job_act { /* of a change, on a job that its scheduler may requeue */
    uint64_t change;
    struct lks_str job, site, sched; /* as the scheduler calls it, and which that is */
    struct lks_str node, user;       /* the node that drains, by which it was found */
    uint64_t act, state;
    struct lks_str signal;
    lks_ms started, until; /* of the run that is meant; SIGNAL: it is not requeued before */
    struct lks_str text;
};
/* Of the runs of a rehearsal: at most so much in one of twenty, in half, in nineteen of twenty. */
struct lks_rec_forecast {
    uint64_t change, runs;
    uint64_t took_low, took_middle, took_high; /* ms */
    uint64_t gpu_hours_low, gpu_hours_middle, gpu_hours_high;
    uint64_t kept_high;    /* nodes that were left to a person */
    uint64_t reached_high; /* nodes that a bad image came to before it was stopped */
    struct lks_str by;
};
struct lks_rec_wave_limit {
    uint64_t change, wave;
    uint64_t limit; /* units of it that may have begun; 0: all */
    struct lks_str text;
};

struct lks_rec_vote_withdrawn {
    uint64_t change;
    struct lks_str by, reason;
};
struct lks_rec_glass_broken { /* it runs, and its rings wait for the quorum */
    uint64_t change;
    lks_ms until; /* it is to be reviewed by then */
    struct lks_str by, reason, minters;
};
struct lks_rec_reviewed {
    uint64_t change;
    struct lks_str by, reason, credential;
};
struct lks_rec_waived { /* until then a gate of the change is not asked */
    uint64_t change;
    struct lks_str gate; /* its name, or that of a metric */
    lks_ms until;
    struct lks_str by, reason;
    struct lks_str pool; /* behind its nodes alone; empty: wherever the author may approve */
    struct lks_str credential;
};

struct lks_rec_lowered { /* the fleet's file asks less of changes of the pool than before */
    struct lks_str pool, text, by, minters;
};
/* What a ticket system and lockstepd told each other: core/state/tickets.h. */
struct lks_rec_ticket_heard {
    struct lks_str event; /* of the message; empty: nothing is remembered */
    lks_ms until;         /* it is not taken again before then */
    uint64_t change;      /* whose vote by `by` came so */
    struct lks_str by, ticket, who;
};
struct lks_rec_ticket_told {
    uint64_t row; /* of the last record of which it was told, or that was given up */
    bool on;      /* it is told of what follows */
};
struct lks_rec_ticket_due { /* of snapshots alone: else it follows from CHANGE and CHANGE_MOVED */
    uint64_t row;
    lks_ms at;
    uint64_t change, state;
    struct lks_str by, reason;
};

struct lks_rec_audited { /* what strangers and others were denied in a minute */
    lks_ms since;
    uint64_t logins, denied, reads, withheld;
};

/* Texts are views of bytes that live elsewhere: a row, a decision. */
struct lks_record {
    enum lks_record_kind kind;
    union {
#define X(number, NAME, member, word) struct lks_rec_##member member;
        LKS_RECORDS(X)
#undef X
    };
};

enum lks_record_type {
    LKS_RECORD_TEXT,   /* struct lks_str */
    LKS_RECORD_NUMBER, /* uint64_t */
    LKS_RECORD_TIME,   /* lks_ms; as JSON an RFC 3339 text */
    LKS_RECORD_TRUTH,  /* bool */
    LKS_RECORD_WORD,   /* uint64_t below the number of `words` */
};

struct lks_record_field {
    const char *key;
    enum lks_record_type type;
    size_t offset;            /* in the kind's own struct */
    const char *const *words; /* WORD: ends with NULL */
    unsigned since;           /* the version of the kind that added it; 0 and 1: the first */
    const char *about;
    bool hidden; /* journaled, and never shown: the digest of a token's secret */
};

struct lks_record_info {
    enum lks_record_kind kind;
    const char *word; /* "alarm-released" */
    const struct lks_record_field *fields;
    size_t count;
    const char *about;
};
extern const struct lks_record_info lks_record_infos[];
extern const size_t lks_record_info_count;

/* What we write: that of the youngest field. */
static inline unsigned lks_record_version(const struct lks_record_info *info)
{
    return info->fields[info->count - 1].since;
}

/* NULL for a number that is no kind. */
const struct lks_record_info *lks_record_info(unsigned kind);

/* The identity that caused it, as its `by` says; empty: lockstepd itself, or the kind has none. */
struct lks_str lks_record_by(const struct lks_record *r);

/* The number of `word` in a list that ends with NULL; false, and nothing written, if it has none.
 */
bool lks_record_word_find(const char *const *words, struct lks_str word, uint64_t *out);

/* What a record may hold as text: UTF-8 without a zero byte. Code that makes a record of input from
 * outside has asked this before. */
bool lks_record_text(struct lks_str text);

/* Append the bytes of `r`, in the version we write. */
void lks_record_pack(const struct lks_record *r, struct lks_buf *out);

/* Read them back; texts of `out` are views of `body`. INVALID for what we could not have written:
 * bytes left over or missing, a number in more bytes than it needs, a word that is not in its list,
 * text that is not UTF-8 or has a zero byte. */
enum lks_code lks_record_unpack(unsigned kind, unsigned version, struct lks_str body,
                                struct lks_record *out, struct lks_err *err) LKS_MUST_CHECK;

/* The members of `r` into the object being written: {"kind":"liveness", "node":..., ...}. Texts,
 * numbers and times that are empty or zero are left out; words are written as words. */
void lks_record_json(const struct lks_record *r, struct lks_json_writer *w);
/* The same without fields that are hidden: for people and programs outside. */
void lks_record_json_shown(const struct lks_record *r, struct lks_json_writer *w);

/* The first three again, for any struct with a table of its fields; `from` and `into` are that
 * struct. Fields that are younger than `version` are left alone, so `into` starts as zeroes; on
 * failure it holds a part. */
void lks_record_fields_pack(const struct lks_record_info *info, const void *from,
                            struct lks_buf *out);
enum lks_code lks_record_fields_unpack(const struct lks_record_info *info, unsigned version,
                                       struct lks_str body, void *into,
                                       struct lks_err *err) LKS_MUST_CHECK;
void lks_record_fields_json(const struct lks_record_info *info, const void *from,
                            struct lks_json_writer *w);

#endif
