/*
 * What the journal holds: outcomes, never inputs.
 *
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
#include "codec/json.h"

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
    X(50, ALARM,          alarm,          "alarm")          \
    X(51, ALARM_RELEASED, alarm_released, "alarm-released") \
    X(52, MASS,           mass,           "mass")           \
    X(60, GRANTED,        granted,        "granted")        \
    X(61, UNGRANTED,      ungranted,      "ungranted")      \
    X(62, API_TOKEN,      api_token,      "api-token")      \
    X(63, API_TOKEN_GONE, api_token_gone, "api-token-gone") \
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
    X(110, KEY_PINNED,    key_pinned,     "key-pinned")     \
    X(111, KEY_GONE,      key_gone,       "key-gone")       \
    X(112, BUNDLE,        bundle,         "bundle")         \
    X(113, BUNDLE_REVOKED, bundle_revoked, "bundle-revoked") \
    X(114, ENDPOINT,      endpoint,       "endpoint")       \
    X(120, FLASH,         flash,          "flash")          \
    X(121, FLASH_SAVED,   flash_saved,    "flash-saved")    \
    X(122, FLASH_ENDED,   flash_ended,    "flash-ended")    \
    X(123, FLASH_RESOLVED, flash_resolved, "flash-resolved")

enum lks_record_kind {
#define X(number, NAME, member, word) LKS_RECORD_##NAME = (number),
    LKS_RECORDS(X)
#undef X
};
/* clang-format on */

/* Words are stored as their number; the words are in record.c. */
enum lks_liveness { LKS_NEVER_SEEN, LKS_LIVE, LKS_LATE, LKS_LOST, LKS_LIVENESS_COUNT };
enum lks_judged {                 /* a node's tuple against its pool's stack */
                  LKS_JUDGED_NOT, /* no tuple, no stack, or another stack since */
                  LKS_JUDGED_CONFORMS,
                  LKS_JUDGED_DRIFT,
                  LKS_JUDGED_UNMEASURED,
                  LKS_JUDGED_COUNT
};
enum lks_note {                   /* conditions of a node that are on or off */
                LKS_NOTE_SKEW,    /* its clock is off by more than the limit */
                LKS_NOTE_REPLAY,  /* an old heartbeat came again, or two agents share one name */
                LKS_NOTE_WITNESS, /* it witnessed a head that is not in this journal */
                LKS_NOTE_CONTRADICTION, /* its heartbeats name a tuple it does not send */
                LKS_NOTE_COUNT
};
enum lks_alarm_kind {
    LKS_ALARM_MASS,
    LKS_ALARM_CLOCK,
    LKS_ALARM_WITNESS,
    LKS_ALARM_REPLAY,
    LKS_ALARM_PARTS,
    LKS_ALARM_DRIFT,     /* a node differs from its intent, in a pool that says so */
    LKS_ALARM_PROPOSAL,  /* nodes of a pool should be brought back by a change */
    LKS_ALARM_DEVIATION, /* an exception is about to end, or ended while it was still needed */
    LKS_ALARM_FLASH,     /* an update ended so that a person has to look */
    LKS_ALARM_COUNT
};
enum lks_drift_cause { /* why a node differs from its intent, so far as it can be told */
                       LKS_DRIFT_UNKNOWN,
                       LKS_DRIFT_BANDS,    /* in-band and out-of-band readings disagree */
                       LKS_DRIFT_PART,     /* a replaced part, with the firmware it came with */
                       LKS_DRIFT_REVERTED, /* it was right, and went back: a silent revert */
                       LKS_DRIFT_PACKAGES, /* the package manager changed it */
                       LKS_DRIFT_BUILD,    /* another build of the same version */
                       LKS_DRIFT_EXPIRED,  /* a deviation that ended */
                       LKS_DRIFT_WAVE,     /* still what was pinned before: a partial wave */
                       LKS_DRIFT_DEVICE,   /* an expected device is missing */
                       LKS_DRIFT_HALF,     /* half upgraded: its parts disagree with each other */
                       LKS_DRIFT_SETTING,  /* a setting was changed */
                       LKS_DRIFT_COUNT
};
enum lks_condition { /* what others say of a node, which admission asks about */
                     LKS_CONDITION_UNHEALTHY,
                     LKS_CONDITION_CHANGING, /* a step of a change is about to begin, or runs */
                     LKS_CONDITION_ATTESTED, /* until a time */
                     LKS_CONDITION_CHECKED,  /* an active check passed, at a time */
                     LKS_CONDITION_COUNT
};
enum lks_stack_step {
    LKS_STEP_CANDIDATE,
    LKS_STEP_LAB,
    LKS_STEP_CANARY,
    LKS_STEP_RELEASED,
    LKS_STEP_RETIRED,
    LKS_STEP_COUNT
};
/* Why a job may not start, of a node, an image or the whole; the words are part of the API. */
enum lks_bar {
    LKS_BAR_UNKNOWN,    /* no such node in the fleet */
    LKS_BAR_STALE,      /* not heard of in time, or its readings are of another boot */
    LKS_BAR_UNMEASURED, /* not read, not all of it, or nothing to hold it against */
    LKS_BAR_DRIFT,
    LKS_BAR_UNHEALTHY,
    LKS_BAR_CHANGING,
    LKS_BAR_UNATTESTED,
    LKS_BAR_UNCHECKED, /* the last active check is too old */
    LKS_BAR_HELD,
    LKS_BAR_INTAKE,
    LKS_BAR_DRAINED,
    LKS_BAR_DEVIATION,  /* it runs an exception that this pool does not take */
    LKS_BAR_DOMAIN,     /* its domain serves mixed, or an asset of it does not conform */
    LKS_BAR_NODE_COUNT, /* those before have a bit for each node; those behind are of the job */
    LKS_BAR_DISAGREES = LKS_BAR_NODE_COUNT, /* other values than the rest of the gang */
    LKS_BAR_POSTURE,                        /* pools that do not share a gang */
    LKS_BAR_STACK,                          /* another stack than the one that was asked for */
    LKS_BAR_IMAGE,                          /* libraries of the job's image */
    LKS_BAR_BEHIND,                         /* this controller is not up to date */
    LKS_BAR_COUNT
};
enum lks_role {
    LKS_ROLE_VIEWER,
    LKS_ROLE_OPERATOR,
    LKS_ROLE_APPROVER,
    LKS_ROLE_ADMIN,
    LKS_ROLE_AGENT,
    LKS_ROLE_COUNT
};
enum lks_bmc_act {                   /* what is asked of a management endpoint */
                   LKS_BMC_UPDATE,   /* stage and activate */
                   LKS_BMC_STAGE,    /* put it where the next activation finds it */
                   LKS_BMC_ACTIVATE, /* what was staged before */
                   LKS_BMC_ABORT,    /* give up what is staged and not active yet */
                   LKS_BMC_SWITCH,   /* back to the other bank */
                   LKS_BMC_ACT_COUNT
};
enum lks_bmc_outcome {
    LKS_BMC_OPEN,    /* not ended */
    LKS_BMC_DONE,    /* the inventory agrees, three times */
    LKS_BMC_STAGED,  /* it is where the next activation finds it */
    LKS_BMC_SAME,    /* nothing had to be done, and nothing was */
    LKS_BMC_REFUSED, /* nothing was begun */
    LKS_BMC_FAILED,  /* the service gave it up */
    LKS_BMC_UNKNOWN, /* nobody can tell: a person has to look */
    LKS_BMC_OUTCOME_COUNT
};
enum lks_outcome { /* of a command */
                   LKS_OUTCOME_DONE,
                   LKS_OUTCOME_FAILED,
                   LKS_OUTCOME_REFUSED, /* by the agent: not for it, expired, executor not enabled
                                         */
                   LKS_OUTCOME_EXPIRED, /* no answer until its expiry */
                   LKS_OUTCOME_UNKNOWN, /* begun, and the node does not know how it ended */
                   LKS_OUTCOME_COUNT
};

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
    lks_ms yeses_until; /* when the last yes that was given under longer limits has ended */
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
};
struct lks_rec_fleet {
    struct lks_str name, manifest, by;
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
    struct lks_str by;
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
    struct lks_str node, digest, report, boot; /* report: digest of the whole tuple's bytes */
    lks_ms taken;                              /* on the node's clock */
    struct lks_str stack;                      /* digest it was judged against, or empty */
    uint64_t judged, drifted, unmeasured;
    struct lks_str first;   /* of what does not conform, as people read it */
    struct lks_str basis;   /* of its in-band readings */
    struct lks_str whole;   /* of these and the out-of-band ones together: what it is judged by */
    struct lks_str changed; /* lines: a wrong component, a tab, what its package log says of it */
};
struct lks_rec_basis {
    struct lks_str digest, readings; /* core/basis.h */
};
struct lks_rec_verdict {
    struct lks_str basis, stack; /* digests */
    uint64_t judged, drifted, unmeasured;
    struct lks_str first;
    struct lks_str wrong;  /* a line for each that does not conform: core/verdict.h */
    struct lks_str values; /* a line for each pinned or windowed component: what a gang agrees in */
};
struct lks_rec_outband {
    struct lks_str node, basis, whole, report; /* empty: what was read is over */
    lks_ms taken;
    struct lks_str by, reason;
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
};
struct lks_rec_unheld {
    struct lks_str node, by, reason;
};
struct lks_rec_replaced {
    struct lks_str node, by, reason;
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
struct lks_rec_granted {
    struct lks_str identity;
    uint64_t role;
    struct lks_str site, pool, by;
};
struct lks_rec_ungranted {
    struct lks_str identity;
    uint64_t role;
    struct lks_str site, pool, by;
};
struct lks_rec_api_token {
    struct lks_str id, identity, hash;
    lks_ms expires;
    struct lks_str by;
};
struct lks_rec_api_token_gone {
    struct lks_str id, by;
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
};
struct lks_rec_deviation_ended {
    uint64_t id;
    struct lks_str by, reason; /* by nobody: it expired */
};
struct lks_rec_published {
    struct lks_str digest, name, manifest; /* the last is a blob */
    struct lks_str envelope;               /* itself: DSSE, by the journal's key */
    struct lks_str artifacts;              /* digests it names, separated by blanks */
    struct lks_str by, reason;
};
struct lks_rec_stepped {
    struct lks_str digest;
    uint64_t step;
    struct lks_str evidence, by;
};
struct lks_rec_image {
    struct lks_str ref, digest, nccl, rccl, cudnn, cuda, source, by;
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
    struct lks_str by;
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

extern const char *const lks_liveness_words[];
extern const char *const lks_judged_words[];
extern const char *const lks_note_words[];
extern const char *const lks_alarm_words[];
extern const char *const lks_role_words[];
extern const char *const lks_outcome_words[];
extern const char *const lks_drift_words[];
extern const char *const lks_condition_words[];
extern const char *const lks_step_words[];
extern const char *const lks_bar_words[];
extern const char *const lks_bmc_act_words[];
extern const char *const lks_bmc_outcome_words[];

/* The number of `word` in a list that ends with NULL; false, and nothing written, if it has none.
 */
bool lks_word_find(const char *const *words, struct lks_str word, uint64_t *out);

/* What a record may hold as text: UTF-8 without a zero byte. Whoever makes a record of what came
 * from outside has asked this before. */
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

/* The first three again, for any struct with a table of its fields; `from` and `into` are that
 * struct. Fields that are younger than `version` are left alone, so `into` starts as zeroes; on
 * failure it holds a part. */
void lks_fields_pack(const struct lks_record_info *info, const void *from, struct lks_buf *out);
enum lks_code lks_fields_unpack(const struct lks_record_info *info, unsigned version,
                                struct lks_str body, void *into,
                                struct lks_err *err) LKS_MUST_CHECK;
void lks_fields_json(const struct lks_record_info *info, const void *from,
                     struct lks_json_writer *w);

#endif
