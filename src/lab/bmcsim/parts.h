/*
 * What the files of the model share and no other file sees: the tables of personalities, the state
 * of one BMC, one request being answered.
 *
 * Thousands live in one process, so what is the same for all is in static tables, and what only an
 * update needs is there only while one runs.
 */
#ifndef LKS_BMCSIM_PARTS_H
#define LKS_BMCSIM_PARTS_H

#include "base/rng.h"
#include "codec/format/docs.h"
#include "codec/format/http.h"
#include "codec/format/json.h"
#include "lab/bmcsim/bmcsim.h"

#define LKS_BMCSIM_VERSION_SIZE 64 /* a version with its terminator; longer ones are refused */
#define LKS_BMCSIM_ID_SIZE      128
#define LKS_BMCSIM_PATH_SIZE    256
#define LKS_BMCSIM_SESSIONS_MAX 16
#define LKS_BMCSIM_TASKS_MAX    16 /* kept; the oldest that ended makes room */
#define LKS_BMCSIM_TOLD_MAX     32 /* messages of one task */
#define LKS_BMCSIM_FAULTS_MAX   16
#define LKS_BMCSIM_FILES_MAX    8 /* that a switch tray keeps */
#define LKS_BMCSIM_REPLY_MAX    ((size_t)4 << 20)
#define LKS_BMCSIM_JSON_MAX     ((size_t)256 << 10) /* of a request, its image not counted */
#define LKS_BMCSIM_NEVER        UINT64_MAX

/* ---- Tables ---- */

/* Where an image is: the entries of an inventory are of one of these. */
enum lks_bmcsim_bank { LKS_SIM_ACTIVE, LKS_SIM_STAGED, LKS_SIM_BACKUP, LKS_SIM_GOLDEN };
#define LKS_SIM_BANKS 4

/* What makes a staged image run. Each but the first includes those before it. */
enum lks_bmcsim_reset { LKS_RESET_AUTO, LKS_RESET_BMC, LKS_RESET_HOST, LKS_RESET_AC };

/* Of a row of devices. */
enum {
    LKS_ROW_FIXED = 1 << 0,     /* listed, never updated */
    LKS_ROW_SINGLE = 1 << 1,    /* one bank: activation writes over what ran */
    LKS_ROW_ONE_WAY = 1 << 2,   /* no older version, whatever is asked */
    LKS_ROW_PAIRED = 1 << 3,    /* 1 and 2, 3 and 4 ... stand in for each other */
    LKS_ROW_RECOVERS = 1 << 4,  /* power lost while activating: the golden image runs, no brick */
    LKS_ROW_LOCKED = 1 << 5,    /* write protected */
    LKS_ROW_CHASSIS = 1 << 6,   /* has a chassis of its own, which it is related to */
    LKS_ROW_SELF = 1 << 7,      /* its update restarts it: no reset is waited for */
    LKS_ROW_STAGING = 1 << 8,   /* the inventory shows its staged bank */
    LKS_ROW_BACKUP = 1 << 9,    /* ... its backup bank */
    LKS_ROW_GOLDEN = 1 << 10,   /* ... its golden bank */
    LKS_ROW_CURRENT = 1 << 11,  /* ... its active bank under a second name */
    LKS_ROW_RAISES = 1 << 12,   /* a new major version cannot be reverted to older ones */
    LKS_ROW_SUFFIX = 1 << 13,   /* the inventory puts a suffix behind the version */
    LKS_ROW_JUNK_DATE = 1 << 14 /* a release date that is none */
};

struct lks_bmcsim_row {
    const char *class;
    const char *id;   /* "%u" in it stands for the number, where there are several */
    const char *name; /* "%u" likewise; NULL: "Software Inventory" */
    const char *software_id;
    const char *chassis; /* LKS_ROW_CHASSIS: its id, "%u" likewise */
    const char *target;  /* what an update's Targets call it; NULL: its inventory entry */
    const char *fixed;   /* a version that never changes; NULL: the BMC's first version */
    unsigned flags;
    enum lks_bmcsim_reset reset;
    uint16_t staging, activating; /* seconds */
    uint8_t first, count;
};

/* Of a personality. */
enum {
    LKS_HAS_EXPAND = 1 << 0,
    LKS_HAS_SOFTWARE = 1 << 1,     /* SoftwareInventory */
    LKS_HAS_SIMPLE = 1 << 2,       /* SimpleUpdate */
    LKS_HAS_START = 1 << 3,        /* StartUpdate */
    LKS_HAS_ACTIVATE = 1 << 4,     /* Activate */
    LKS_HAS_ACTION_INFO = 1 << 5,  /* allowed values are told elsewhere */
    LKS_HAS_MONITOR_ONCE = 1 << 6, /* the monitor says 204 once, then 404 */
    LKS_HAS_MONITOR_GONE = 1 << 7, /* the monitor says 404 as soon as the task ended */
    LKS_HAS_NO_BODY = 1 << 8,      /* an accepted update is answered with Location alone */
    LKS_HAS_LATE_TASK = 1 << 9,    /* a new task is not to be found for some seconds */
    LKS_HAS_OWN_TASKS = 1 << 10,   /* tasks survive a restart of the BMC */
    LKS_HAS_CRITICAL = 1 << 11,    /* a failed task is Completed, with Critical */
    LKS_HAS_OK = 1 << 12,          /* a failed task is an Exception, with OK */
    LKS_HAS_FEW_KEYS = 1 << 13,    /* parameters it does not know are refused */
    LKS_HAS_MUST_TARGET = 1 << 14, /* Targets must be there */
    LKS_HAS_ONE_TARGET = 1 << 15,
    LKS_HAS_MUST_MATCH = 1 << 16, /* If-Match must be there */
    LKS_HAS_WEAK_TAGS = 1 << 17,
    LKS_HAS_ON_RESET = 1 << 18,     /* the apply time is OnReset unless asked otherwise */
    LKS_HAS_NO_DOWNGRADE = 1 << 19, /* an older version needs ForceUpdate */
    LKS_HAS_VERSION_IDS = 1 << 20,  /* ids of entries contain the version */
    LKS_HAS_NUMBER_IDS = 1 << 21,   /* ids of entries are numbers */
    LKS_HAS_TWO_STEPS = 1 << 22,    /* an image is verified, then StartUpdate makes a second task */
    LKS_HAS_STOPPING = 1 << 23,     /* a staged update's task says Stopping until it is activated */
    LKS_HAS_HOST_OFF = 1 << 24,     /* the cold reset wants the host off first */
    LKS_HAS_NVUE = 1 << 25,         /* no Redfish: the switch tray's own REST */
    LKS_HAS_REBOOTS = 1 << 26,      /* Immediate restarts what has to be restarted */
    LKS_HAS_TWINS = 1 << 27,        /* entries of other banks are listed even when empty */
    LKS_HAS_FORM = 1 << 28,         /* HttpPushUri takes a form with the session's key in it */
    LKS_HAS_BANKS = 1 << 29,        /* entries say which bank they are, and can switch it */
    LKS_HAS_PENDING = 1 << 30,      /* the id of a staged entry ends with "-Pending" */
};

/* A reset action: where it is posted, which types it takes, what each does. */
struct lks_bmcsim_action {
    const char *path; /* below /redfish/v1 */
    const char *name; /* "#Manager.Reset" */
    const char *const *types;
};

struct lks_bmcsim_registry_row {
    const char *prefix, *version;
};

struct lks_bmcsim_kind {
    const char *vendor, *product, *oem, *redfish;
    const char *manager, *system, *chassis; /* ids; system NULL: there is none */
    const char *model;
    const char *system_oem; /* the object with the vendor's own properties of a system */
    /* All messages that are not of the Base registry are of this one; NULL: of the standard ones */
    const struct lks_bmcsim_registry_row *messages;
    const char *push, *multipart;
    uint64_t max_image;
    uint32_t flags;
    unsigned applies; /* bits of enum lks_bmcsim_apply */
    uint16_t sessions;
    uint16_t session_seconds;
    uint16_t boot; /* seconds that the BMC takes to restart */
    uint16_t host; /* ... and the host */
    uint16_t verify;
    int busy;                              /* the status for an update beside another */
    const char *task_format, *task_prefix; /* "%u"; HGX puts one before forwarded ones */
    const struct lks_bmcsim_action *cold;  /* the AC class of reset, where it has its own action */
    const struct lks_bmcsim_row *rows;
    size_t row_count;
};
extern const struct lks_bmcsim_kind lks_bmcsim_kinds[LKS_BMCSIM_PERSONALITIES];

/* ---- Messages of the registries ---- */

/* clang-format off */
#define LKS_BMCSIM_MESSAGES(X)                                                                     \
    X(SUCCESS) X(GENERAL_ERROR) X(CREATED) X(MALFORMED_JSON) X(PROPERTY_UNKNOWN)                   \
    X(PROPERTY_MISSING) X(PROPERTY_VALUE) X(PROPERTY_TYPE) X(PARAMETER_MISSING) X(PARAMETER_VALUE) \
    X(PARAMETER_UNKNOWN) X(NOT_FOUND) X(NOT_ALLOWED) X(MEDIA_TYPE) X(NO_SESSION) X(NO_PRIVILEGE)   \
    X(HEADER_INVALID) X(QUERY_UNSUPPORTED)                                                         \
    X(SESSION_LIMIT) X(PRECONDITION_FAILED) X(PRECONDITION_REQUIRED) X(TOO_LARGE) X(UNAVAILABLE)   \
    X(INTERNAL) X(RESET_REQUIRED) X(IN_USE) X(INVALID_OBJECT) X(NO_RESOURCES) X(TARGETS_CONFLICT)  \
    X(TARGET_DETERMINED) X(NO_TARGETS) X(IN_PROGRESS) X(TRANSFERRING) X(VERIFYING) X(APPLYING)     \
    X(AWAIT_UPDATE) X(AWAIT_ACTIVATE) X(UPDATE_SUCCESSFUL) X(SKIPPED_SAME) X(NOT_APPLICABLE)       \
    X(TRANSFER_FAILED) X(VERIFICATION_FAILED) X(APPLY_FAILED) X(ACTIVATE_FAILED)                   \
    X(TASK_STARTED) X(TASK_COMPLETED) X(TASK_ABORTED) X(STAMP_LOWER) X(OEM_BUSY) X(OEM_JOB_DONE)   \
    X(OEM_JOB_FAILED) X(OEM_RESET_REQUIRED) X(OEM_BAD_IMAGE)
/* clang-format on */
enum lks_bmcsim_message {
#define X(name) LKS_MSG_##name,
    LKS_BMCSIM_MESSAGES(X)
#undef X
        LKS_MSG_COUNT
};

enum lks_bmcsim_registry { LKS_REG_BASE, LKS_REG_UPDATE, LKS_REG_TASK, LKS_REG_OEM };
#define LKS_BMCSIM_REGISTRIES 4

struct lks_bmcsim_message_row {
    enum lks_bmcsim_registry registry;
    const char *key;
    const char *text; /* %1, %2, %3 */
    const char *severity;
    const char *resolution;
    uint8_t args;
};
extern const struct lks_bmcsim_message_row lks_bmcsim_messages[LKS_MSG_COUNT];

/* The registry that a message of this personality names. */
const struct lks_bmcsim_registry_row *
lks_bmcsim_message_registry(const struct lks_bmcsim_kind *kind, enum lks_bmcsim_registry registry);

/* The members of a message object into the one being written. */
void lks_bmcsim_message_write(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                              enum lks_bmcsim_message message, const char *const args[3]);
/* The same of an older schema, which has Severity and no MessageSeverity. */
void lks_bmcsim_message_write_old(struct lks_json_writer *w, const struct lks_bmcsim_kind *kind,
                                  enum lks_bmcsim_message message, const char *const args[3]);

/* ---- State ---- */

struct lks_bmcsim_unit { /* one device */
    const struct lks_bmcsim_row *row;
    char id[48];
    uint8_t number;
    bool bricked, activating;
    bool held; /* staged only: no reset activates it */
    char active[LKS_BMCSIM_VERSION_SIZE];
    char staged[LKS_BMCSIM_VERSION_SIZE];
    char staged_fails_on[LKS_BMCSIM_REVISION_SIZE]; /* hardware revision; empty: it is good */
    char slow_version[LKS_BMCSIM_VERSION_SIZE];     /* with which the machine is slower, ... */
    unsigned slower;                                /* ... by so many thousandths; 0: by none */
    char backup[LKS_BMCSIM_VERSION_SIZE];
    char golden[LKS_BMCSIM_VERSION_SIZE]; /* what it began with */
    char lowest[LKS_BMCSIM_VERSION_SIZE]; /* empty: it does not say */
    lks_ms activated;                     /* when the activation that goes on ends */
    uint32_t flashes, begun, activations;
};

struct lks_bmcsim_session {
    uint32_t number;
    char token[33];
    lks_ms used, opened;
};

enum lks_bmcsim_state { /* of a task */
                        LKS_TASK_NEW,
                        LKS_TASK_RUNNING,
                        LKS_TASK_STOPPING,
                        LKS_TASK_PENDING,
                        LKS_TASK_COMPLETED,
                        LKS_TASK_EXCEPTION,
                        LKS_TASK_CANCELLED
};

struct lks_bmcsim_told {
    enum lks_bmcsim_message message;
    char args[2][LKS_BMCSIM_VERSION_SIZE];
};

struct lks_bmcsim_task {
    uint32_t number;
    bool forwarded; /* to the HGX board: its id says so */
    bool stuck, lost, answered;
    bool failed;
    bool critical; /* that it failed shows in its messages alone */
    enum lks_bmcsim_state state;
    uint8_t percent;
    uint8_t told_count;
    uint64_t awaiting; /* bits of units whose activation ends it */
    lks_ms started, ended;
    struct lks_bmcsim_told told[LKS_BMCSIM_TOLD_MAX];
};

enum lks_bmcsim_phase { LKS_JOB_FETCH, LKS_JOB_VERIFY, LKS_JOB_WAIT, LKS_JOB_STAGE };
enum lks_bmcsim_apply { LKS_APPLY_IMMEDIATE, LKS_APPLY_ON_RESET, LKS_APPLY_ON_START };

/* What is asked of an update. */
struct lks_bmcsim_wish {
    uint64_t targets; /* bits of units */
    bool targeted;    /* Targets named some; else the image decides */
    bool force, stage_only;
    enum lks_bmcsim_apply apply;
};

/* The one update that runs. */
struct lks_bmcsim_job {
    enum lks_bmcsim_phase phase;
    struct lks_bmcsim_wish wish;
    struct lks_buf image;
    struct lks_buf uri;            /* where it is fetched */
    char file[LKS_BMCSIM_ID_SIZE]; /* a switch tray keeps what it fetches under this name */
    uint32_t task;
    uint64_t todo, staged, broken; /* bits of units */
    uint64_t told;                 /* of units that said they wait for a reset */
    unsigned now;                  /* the unit being written */
    unsigned all;                  /* how many there are to write */
    bool cut;                      /* power or BMC will fail in the middle of this unit */
    lks_ms began, ends;            /* the phase */
};

struct lks_bmcsim_file { /* of a switch tray */
    char name[LKS_BMCSIM_ID_SIZE];
    unsigned unit;
    struct lks_buf bytes;
};

struct lks_bmcsim_trouble { /* a fault that is on */
    enum lks_bmcsim_fault fault;
    char at[16];
    uint64_t amount;
    uint64_t count; /* requests, of DROP */
    uint32_t times; /* left; UINT32_MAX: for ever */
};

enum lks_bmcsim_power { LKS_POWER_OFF, LKS_POWER_ON, LKS_POWER_GOING_OFF, LKS_POWER_GOING_ON };

struct lks_bmcsim {
    const struct lks_bmcsim_kind *kind;
    enum lks_bmcsim_personality personality;
    lks_ms now;
    lks_ms due; /* when something happens next */
    uint64_t speed;
    struct lks_rng rng;
    char name[LKS_BMCSIM_VERSION_SIZE];
    char revision[LKS_BMCSIM_REVISION_SIZE];
    char *user, *password; /* owned */
    char version[LKS_BMCSIM_VERSION_SIZE];
    char asset[LKS_BMCSIM_VERSION_SIZE];
    enum lks_bmcsim_power power;
    lks_ms power_ends;
    lks_ms boot_ends; /* the BMC answers nothing before; 0: it is up */
    lks_ms up_since;  /* LastResetTime: who may have forgotten something says so */
    bool certificate;
    uint32_t updates;
    uint32_t last_session, last_task;
    size_t unit_count, session_count, task_count, trouble_count, file_count;
    struct lks_bmcsim_unit *units;       /* owned, unit_count */
    struct lks_bmcsim_session *sessions; /* owned, LKS_BMCSIM_SESSIONS_MAX; NULL: never one */
    struct lks_bmcsim_task *tasks;       /* owned, LKS_BMCSIM_TASKS_MAX; likewise */
    struct lks_bmcsim_trouble *troubles; /* owned, LKS_BMCSIM_FAULTS_MAX; likewise */
    struct lks_bmcsim_file *files;       /* owned, LKS_BMCSIM_FILES_MAX; likewise */
    struct lks_bmcsim_job *job;          /* owned; NULL: none runs */
    uint64_t push_targets;               /* HttpPushUriTargets */
    bool push_targeted;
    const char *hpe_state; /* Oem.Hpe.State */
    enum lks_bmcsim_message hpe_result;
};

/* ---- A request being answered ---- */

struct lks_bmcsim_call {
    struct lks_bmcsim *b;
    const struct lks_bmcsim_request *request;
    struct lks_bmcsim_reply *reply;
    struct lks_str path, query;
    struct lks_str arg[3];      /* what the stars of its route stand for */
    const struct lks_doc *body; /* of a JSON body; NULL: none */
    struct lks_json_writer w;
    unsigned expand; /* levels to go */
};

/* GET writes the resource into call->w, and says whether it exists. */
typedef bool lks_bmcsim_get_fn(struct lks_bmcsim_call *c);
typedef void lks_bmcsim_act_fn(struct lks_bmcsim_call *c);

/* bmcsim.c */
void lks_bmcsim_plan(struct lks_bmcsim *b);                           /* set b->due anew */
lks_ms lks_bmcsim_span(const struct lks_bmcsim *b, unsigned seconds); /* as fast as this one is */

/* routes.c */
void lks_bmcsim_route(struct lks_bmcsim_call *c);
/* The resource at `path` as JSON behind what is in `out`; false: there is none. */
bool lks_bmcsim_route_render(struct lks_bmcsim *b, struct lks_str path, unsigned expand,
                             struct lks_buf *out);
void lks_bmcsim_route_tag(const struct lks_bmcsim *b, struct lks_str body, char out[32]);

/* reply.c */
void lks_bmcsim_reply_error(struct lks_bmcsim_call *c, int status, enum lks_bmcsim_message message,
                            const char *a1, const char *a2);
void lks_bmcsim_reply_header(struct lks_bmcsim_call *c, const char *name, const char *fmt, ...)
    LKS_PRINTF(3, 4);
void lks_bmcsim_reply_success(struct lks_bmcsim_call *c,
                              int status); /* 200 with a message, or 204 */
void lks_bmcsim_reply_head(struct lks_bmcsim_call *c, const char *type, const char *id,
                           const char *name);
void lks_bmcsim_reply_link(struct lks_json_writer *w, const char *key, const char *fmt, ...)
    LKS_PRINTF(3, 4);
void lks_bmcsim_reply_textf(struct lks_json_writer *w, const char *key, const char *fmt, ...)
    LKS_PRINTF(3, 4);
void lks_bmcsim_reply_texts(struct lks_json_writer *w, const char *key, const char *const *words);
void lks_bmcsim_reply_status(struct lks_json_writer *w, const char *state, const char *health);
/* The same for what is always well, in a template. */
#define LKS_BMCSIM_ENABLED "'Status': {'State': 'Enabled', 'Health': 'OK'}"
/* A collection: head, then a member for each path that is added, then the end. */
void lks_bmcsim_reply_collection(struct lks_bmcsim_call *c, const char *type, const char *name);
void lks_bmcsim_reply_member(struct lks_bmcsim_call *c, const char *fmt, ...) LKS_PRINTF(2, 3);
void lks_bmcsim_reply_collection_end(struct lks_bmcsim_call *c, size_t count);

/* tree_*.c: the resources, in the order of the table in routes.c */
lks_bmcsim_get_fn lks_bmcsim_tree_get_versions, lks_bmcsim_tree_get_root, lks_bmcsim_tree_get_odata,
    lks_bmcsim_tree_get_metadata, lks_bmcsim_message_get_registries,
    lks_bmcsim_message_get_registry_file, lks_bmcsim_message_get_registry,
    lks_bmcsim_tree_get_schemas, lks_bmcsim_tree_get_schema;
lks_bmcsim_get_fn lks_bmcsim_session_get_service, lks_bmcsim_session_get_all,
    lks_bmcsim_session_get, lks_bmcsim_session_get_account_service, lks_bmcsim_session_get_accounts,
    lks_bmcsim_session_get_account, lks_bmcsim_session_get_roles, lks_bmcsim_session_get_role;
lks_bmcsim_get_fn lks_bmcsim_tree_get_managers, lks_bmcsim_tree_get_manager,
    lks_bmcsim_tree_get_systems, lks_bmcsim_tree_get_system, lks_bmcsim_tree_get_bios,
    lks_bmcsim_tree_get_chassis_all, lks_bmcsim_tree_get_chassis, lks_bmcsim_tree_get_reset_info;
lks_bmcsim_get_fn lks_bmcsim_tree_get_power_subsystem, lks_bmcsim_tree_get_power_units,
    lks_bmcsim_tree_get_power_unit;
lks_bmcsim_get_fn lks_bmcsim_tree_get_update_service, lks_bmcsim_inventory_get,
    lks_bmcsim_inventory_get_entry, lks_bmcsim_inventory_get_software;
lks_bmcsim_get_fn lks_bmcsim_task_get_service, lks_bmcsim_task_get_all, lks_bmcsim_task_get;
lks_bmcsim_act_fn lks_bmcsim_task_get_monitor;

lks_bmcsim_act_fn lks_bmcsim_session_open, lks_bmcsim_session_close;
lks_bmcsim_act_fn lks_bmcsim_reset_post, lks_bmcsim_reset_post_cold, lks_bmcsim_tree_patch_system,
    lks_bmcsim_upload_patch;
lks_bmcsim_act_fn lks_bmcsim_upload_post_simple, lks_bmcsim_upload_post_start,
    lks_bmcsim_upload_post_activate, lks_bmcsim_task_delete, lks_bmcsim_inventory_post_entry;
/* The reply to something that was accepted, with its task. */
void lks_bmcsim_upload_accepted(struct lks_bmcsim_call *c, const struct lks_bmcsim_task *task);
/* Answers what is not in the table: push URIs and, of a switch tray, everything. */
bool lks_bmcsim_upload_other(struct lks_bmcsim_call *c);
/* Call `fn` with the body read as JSON, or answer why not. */
void lks_bmcsim_route_with_json(struct lks_bmcsim_call *c, lks_bmcsim_act_fn *fn);
void lks_bmcsim_nvue(struct lks_bmcsim_call *c);
void lks_bmcsim_nvue_file_keep(struct lks_bmcsim *b); /* what was fetched, and the job is over */

/* sessions.c */
bool lks_bmcsim_session_allowed(struct lks_bmcsim_call *c); /* who asks is known */
bool lks_bmcsim_session_token_good(struct lks_bmcsim *b, struct lks_str token);

/* inventory.c: entries of the inventory */
struct lks_bmcsim_entry {
    unsigned unit;
    enum lks_bmcsim_bank bank;
    bool current; /* the second name of the active bank */
    char id[LKS_BMCSIM_ID_SIZE];
    char version[LKS_BMCSIM_VERSION_SIZE + 8];
};
/* Entry `i`; false: there are fewer. */
bool lks_bmcsim_inventory_entry_at(struct lks_bmcsim *b, size_t i, struct lks_bmcsim_entry *out);
/* "%u" in `format` replaced by `number`. */
void lks_bmcsim_inventory_numbered(const char *format, unsigned number,
                                   char out[LKS_BMCSIM_ID_SIZE]);

/* tasks.c */
struct lks_bmcsim_task *lks_bmcsim_task_new(struct lks_bmcsim *b, bool forwarded);
struct lks_bmcsim_task *lks_bmcsim_task_find(struct lks_bmcsim *b, uint32_t number);
void lks_bmcsim_task_id(const struct lks_bmcsim *b, const struct lks_bmcsim_task *t,
                        char out[LKS_BMCSIM_ID_SIZE]);
void lks_bmcsim_task_tell(struct lks_bmcsim_task *t, enum lks_bmcsim_message message,
                          const char *a1, const char *a2);
void lks_bmcsim_task_end(struct lks_bmcsim *b, struct lks_bmcsim_task *t, bool good);
void lks_bmcsim_tasks_forget(struct lks_bmcsim *b);
/* The activation of a unit came to its end: tasks that waited for it do too. */
void lks_bmcsim_tasks_activated(struct lks_bmcsim *b, unsigned unit, bool good);

/* job.c */
/* Begin an update with bytes that are here, or (empty) that are to be fetched from `uri`. NULL: it
 * was refused, and the answer is written. */
struct lks_bmcsim_task *lks_bmcsim_job_begin(struct lks_bmcsim_call *c,
                                             const struct lks_bmcsim_wish *wish,
                                             struct lks_str image, struct lks_str uri);
void lks_bmcsim_job_step(struct lks_bmcsim *b);
void lks_bmcsim_job_start(struct lks_bmcsim *b); /* what waits for StartUpdate */
void lks_bmcsim_job_abort(struct lks_bmcsim *b);
void lks_bmcsim_job_drop(struct lks_bmcsim *b);
unsigned lks_bmcsim_job_percent(const struct lks_bmcsim *b);
bool lks_bmcsim_job_unit_written(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u);
extern const char *const lks_bmcsim_apply_words[]; /* of enum lks_bmcsim_apply, NULL */

/* flash.c: an image through PLDM onto devices */
/* Which units the image is for, of those that are asked; LKS_MSG_SUCCESS, or why none. */
enum lks_bmcsim_message lks_bmcsim_flash_targets(struct lks_bmcsim *b,
                                                 const struct lks_bmcsim_job *job, uint64_t *out);
/* Transfer, verify and apply it to one unit, whose staged bank it is then. */
enum lks_bmcsim_message lks_bmcsim_flash(struct lks_bmcsim *b, struct lks_bmcsim_job *job,
                                         unsigned unit, char version[LKS_BMCSIM_VERSION_SIZE]);

/* resets.c */
extern const char *const lks_bmcsim_manager_types[], *const lks_bmcsim_system_types[],
                                                         *const lks_bmcsim_chassis_types[];
void lks_bmcsim_reset(struct lks_bmcsim *b, enum lks_bmcsim_reset reset);
/* Begin to activate those of `units` that are staged and that this reset activates. */
void lks_bmcsim_reset_activate(struct lks_bmcsim *b, uint64_t units, enum lks_bmcsim_reset reset);
void lks_bmcsim_reset_activated(struct lks_bmcsim *b, unsigned unit);
void lks_bmcsim_reset_booted(struct lks_bmcsim *b);
void lks_bmcsim_reset_power_step(struct lks_bmcsim *b);
void lks_bmcsim_reset_lose_power(struct lks_bmcsim *b);

/* faults.c */
/* The fault, if it is on in this phase (NULL: whichever); it was used once more then. */
const struct lks_bmcsim_trouble *
lks_bmcsim_fault_trouble(struct lks_bmcsim *b, enum lks_bmcsim_fault fault, const char *at);
/* The same without using it. */
const struct lks_bmcsim_trouble *lks_bmcsim_fault_trouble_on(const struct lks_bmcsim *b,
                                                             enum lks_bmcsim_fault fault,
                                                             const char *at);
/* Is this the answer that the fault is for? */
bool lks_bmcsim_fault_turn_of(struct lks_bmcsim *b, enum lks_bmcsim_fault fault);

/* multipart.c */
struct lks_bmcsim_part {
    struct lks_str name, type, file, body;
    bool has_file;
};
#define LKS_BMCSIM_PARTS_MAX 8
/* Split a multipart body; -1: it is none, or not whole. */
int lks_bmcsim_multipart(struct lks_str content_type, struct lks_str body,
                         struct lks_bmcsim_part out[LKS_BMCSIM_PARTS_MAX]);

/* metrics.c */
void lks_bmcsim_metrics(struct lks_bmcsim_call *c);

/* image.c */
/* Whether the bytes are an image that we sealed, for `class` and this hardware revision. */
enum lks_bmcsim_seal { LKS_SEAL_GOOD, LKS_SEAL_NONE, LKS_SEAL_BAD, LKS_SEAL_OTHER };
enum lks_bmcsim_seal lks_bmcsim_image_check(struct lks_str image, const char *class,
                                            const char *version);
/* What is wrong with a good image. */
struct lks_bmcsim_flaw {
    char fails_on[LKS_BMCSIM_REVISION_SIZE]; /* hardware revision on which it does not start; empty:
                                                none */
    unsigned slower;                         /* by so many thousandths the machine is, with it */
};
struct lks_bmcsim_flaw lks_bmcsim_image_flaw(struct lks_str image);
/* What identifies the devices of a row: a UUID. */
void lks_bmcsim_image_row_uuid(enum lks_bmcsim_personality personality, const char *class,
                               uint8_t out[16]);
uint16_t lks_bmcsim_image_row_component(const char *class);
uint32_t
lks_bmcsim_image_stamp(struct lks_str version); /* for PLDM; plain versions in their order */
int lks_bmcsim_image_version_cmp(const struct lks_bmcsim_unit *u, const char *a, const char *b);

#endif
