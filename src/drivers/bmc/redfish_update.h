/*
 * An update over Redfish, for drivers/bmc/redfish_*.c alone.
 *
 *     ROOT SERVICE MANAGER   what the service is, offers, and when it last restarted
 *     LIST MEMBER            a walk over the inventory
 *     TASKS TASK_LIST TASK   a walk over the tasks
 *     PATCH UPLOAD START     what begins an update
 *     FOLLOW                 the task it became
 *     RESET...               activation
 *     CANCEL                 giving up what is staged
 *     LOGOUT
 *
 * Walks serve five ends (`purpose`): to choose and to refuse (SURVEY), to find out what became of
 * something that was sent and not answered (SEEK), to see whether the inventory agrees (AGREE), to
 * see that no update runs that a reset would cut (CLEAR), and whether a service that said that it
 * is busy took it all the same (BUSY).
 *
 * A lost answer and a restart are one case: nothing is remembered of the service, so it is asked
 * anew; `sent` says what may have arrived. It is sent again only with proof that it did not: the
 * service lists its tasks and none is new, nothing is staged, no version changed, and it did not
 * restart in between, which would have let it forget. Without the proof it ends as UNKNOWN.
 */
#ifndef LKS_DRIVERS_BMC_REDFISH_UPDATE_H
#define LKS_DRIVERS_BMC_REDFISH_UPDATE_H

#include "drivers/bmc/redfish.h"

#define LKS_REDFISH_TARGETS_MAX  64
#define LKS_REDFISH_TASKS_MAX    256 /* that were there before; more cannot be told apart */
#define LKS_REDFISH_STAYING_MAX  8   /* tasks that stay open until a reset */
#define LKS_REDFISH_UPLOADS_MAX  3
#define LKS_REDFISH_RESETS_MAX   3
#define LKS_REDFISH_AGREE_TIMES  3
#define LKS_REDFISH_LISTED_MAX   ((size_t)24 << 10)
#define LKS_REDFISH_POLL         (5 * LKS_SECOND)
#define LKS_REDFISH_KEY_SIZE     96
#define LKS_REDFISH_VERSION_SIZE (LKS_BMC_VERSION_MAX + 1)

enum lks_redfish_step {
    LKS_RF_ROOT,
    LKS_RF_VERSIONS,
    LKS_RF_SERVICE,
    LKS_RF_MANAGERS,
    LKS_RF_MANAGER,
    LKS_RF_LIST,
    LKS_RF_MEMBER,
    LKS_RF_TASKS,
    LKS_RF_TASK_LIST,
    LKS_RF_TASK,
    LKS_RF_PATCH,
    LKS_RF_UPLOAD,
    LKS_RF_START,
    LKS_RF_FOLLOW,
    LKS_RF_ACTION, /* Activate, of the entry or of the service */
    LKS_RF_RESET_FIND,
    LKS_RF_RESET_READ,
    LKS_RF_RESET_INFO,
    LKS_RF_RESET_OFF, /* some resets want the host off first */
    LKS_RF_RESET,
    LKS_RF_CANCEL,
    LKS_RF_LOGOUT,
    LKS_RF_STEP_COUNT
};

enum lks_redfish_purpose { LKS_RF_SURVEY, LKS_RF_SEEK, LKS_RF_AGREE, LKS_RF_CLEAR, LKS_RF_BUSY };

/* What was sent last that changes something, and may have arrived. */
enum lks_redfish_sent {
    LKS_RF_NOTHING,
    LKS_RF_SENT_UPLOAD,
    LKS_RF_SENT_START,
    LKS_RF_SENT_RESET,
    LKS_RF_SENT_CANCEL
};

/* How an image gets there. */
enum lks_redfish_way {
    LKS_RF_NO_WAY,
    LKS_RF_MULTIPART,
    LKS_RF_PUSH,
    LKS_RF_FORM, /* HPE's own upload form */
    LKS_RF_PULL,
};

/* Manners of one vendor's services. */
enum lks_redfish_targets {
    LKS_RF_TARGETS_LIST,    /* the entries */
    LKS_RF_TARGETS_ONE,     /* one entry; none where there are more */
    LKS_RF_TARGETS_RELATED, /* what the entries belong to */
    LKS_RF_TARGETS_EMPTY,   /* an empty list */
    LKS_RF_TARGETS_OMIT
};
struct lks_redfish_manners {
    const char *vendor;
    enum lks_redfish_targets targets;
    const char *later; /* the apply time for staging; for an update it is "Immediate" */
    const char *bios;  /* that of host firmware; NULL: as the others */
    /* Where entries name what they belong to: that of those that do not; NULL: the entry. */
    const char *bios_target, *bmc_target;
    bool force;         /* understands ForceUpdate */
    bool empty_oem;     /* wants "Oem":{} */
    bool stage_option;  /* Oem.Nvidia.UpdateOption */
    bool preserve;      /* Oem.Supermicro, what is to be kept */
    bool match_any;     /* wants If-Match on all that changes something */
    bool forgets_tasks; /* a task is gone when it is done */
    bool all_protected; /* WriteProtected is true of each entry: Updateable alone decides */
};
const struct lks_redfish_manners *lks_redfish_manners(const char *vendor);

/* An entry that is to be updated, as the last walk found it. */
struct lks_redfish_target {
    lks_redfish_uri uri, related;
    char key[LKS_REDFISH_KEY_SIZE];
    char version[LKS_REDFISH_VERSION_SIZE];
    bool staged; /* its other bank has what is asked for */
};

struct lks_redfish_update {
    struct lks_redfish r;
    const struct lks_facts *facts;

    /* What is asked for. */
    enum lks_bmc_act act;
    char component[LKS_BMC_NAME_MAX + 1];
    char version[LKS_REDFISH_VERSION_SIZE];
    struct lks_http_file image;
    uint64_t image_size;
    char image_name[LKS_BMC_NAME_MAX + 1];
    char apply_wish[48];
    char pull[1024];
    bool force, one_way, write_protected;
    lks_ms deadline;

    /* What survives a restart. */
    enum lks_redfish_sent sent;
    enum lks_redfish_way way;
    char apply[48]; /* the apply time that was asked for */
    uint32_t uploads, starts, resets;
    lks_redfish_uri task;                  /* of what was sent last */
    char before[LKS_REDFISH_VERSION_SIZE]; /* the version it had */
    char kind[48];                         /* the class of the component; or empty */
    size_t expected;                       /* entries that have to agree */
    size_t had, had_reached;               /* of them, how many did so before, or had it staged */
    uint64_t entries[2]; /* hashes of what they ran before, and of what was staged */
    uint64_t passed[LKS_REDFISH_TARGETS_MAX]; /* hashes of entries that were not to be updated */
    size_t passed_count;
    bool firmware_only; /* the entries are among the firmware, and not the software */
    uint64_t old_tasks[LKS_REDFISH_TASKS_MAX]; /* hashes of the addresses that were listed before */
    size_t old_count;
    size_t old_listed; /* of them, those that the service listed; the others are our own */
    bool old_known;    /* they were listed, all of them */
    /* Hashes of tasks of ours that call themselves running and only wait for a reset. */
    uint64_t staying[LKS_REDFISH_STAYING_MAX];
    size_t staying_count;
    char booted[48];    /* when the service started, as it says; or empty */
    char oem_state[32]; /* of HPE's update service, before */
    bool task_over, task_failed;
    bool task_lost;           /* it was gone, and nothing said how it ended */
    bool task_shown;          /* its address is that of a task, which has a state to show */
    bool task_found;          /* nothing but the list led to it: it may be another's */
    bool task_ended;          /* what was sent had a task of its own, which said how it ended */
    bool taken;               /* the service said that it took what was sent */
    bool waited;              /* for a task that may be another's, before something was activated */
    bool only_running;        /* what was sent is over: a task that is over, too, is not it */
    bool reset_told;          /* a task said that a reset is missing */
    lks_redfish_uri reset_at; /* what the task says is to be reset; or empty */
    char reset_type[32];      /* and how */
    char why[LKS_REDFISH_TEXT_SIZE]; /* what a task said against it */
    /* The error of the service (status 500 and above) in answer to what was sent last; empty: there
     * was no answer at all. Either way it may have arrived. */
    char fault[LKS_REDFISH_TEXT_SIZE];
    lks_ms activated; /* when the reset was sent; 0: not yet */
    bool acted;       /* the action that activates was sent */
    bool reset_heard; /* the reset, or what was sent in its place, was answered */
    enum lks_bmc_outcome outcome;
    char text[2 * LKS_REDFISH_TEXT_SIZE];

    /* What the service offers. */
    lks_redfish_uri firmware, software, multipart, push, simple, start, activate, task_list;
    char etag[128];
    char oem_state_now[32], booted_now[48];
    uint64_t size_max; /* 0: it names none */
    unsigned applies;  /* apply times it offers, a bit each; 0: it does not say */
    bool enabled, push_targets, push_busy;

    /* The walk that is going on, and what it found. */
    enum lks_redfish_purpose purpose;
    lks_redfish_uri page;
    bool software_too;
    char listed[LKS_REDFISH_LISTED_MAX]; /* addresses to be read, a line each */
    size_t listed_len, listed_at, listed_count;
    size_t members;   /* of all pages */
    bool listed_over; /* there was no room for all, or not all can be asked for */
    bool miscounted;  /* fewer were listed than the service counts */
    bool by_id;       /* an entry has the very name that was asked for */
    unsigned pages;
    struct lks_redfish_target targets[LKS_REDFISH_TARGETS_MAX];
    size_t target_count;
    uint64_t wanted[LKS_REDFISH_TARGETS_MAX]; /* hashes of the keys of the walk before */
    size_t wanted_count;
    struct {
        char key[LKS_REDFISH_KEY_SIZE];
        char version[LKS_REDFISH_VERSION_SIZE];
    } banks[LKS_REDFISH_TARGETS_MAX]; /* what is staged */
    size_t bank_count;
    uint32_t refused_entries; /* of the component, and not to be updated */
    uint32_t unreadable;      /* of the component */
    uint32_t missed;          /* that cannot be read, of whatever component */
    char refused_why[LKS_REDFISH_TEXT_SIZE];
    size_t backup_count; /* entries of the bank that ran before */
    char lowest[LKS_REDFISH_VERSION_SIZE];
    char backup[LKS_REDFISH_VERSION_SIZE];
    lks_redfish_uri entry_activate, entry_cancel, backup_activate;

    lks_redfish_uri running;      /* a task that is not over */
    lks_redfish_uri fresh;        /* a task that was not there before, one that runs if there is */
    bool fresh_runs, fresh_blank; /* blank: it says nothing of itself */
    bool others_run;              /* one that is new and of another kind, for all it says */
    bool old_there[LKS_REDFISH_TASKS_MAX]; /* by place in `old_tasks` */
    bool tasks_read;

    /* Where it stands in between. */
    size_t recipe;      /* of activation */
    size_t recipe_from; /* those before it were refused */
    lks_ms cleared;     /* when the tasks were looked at and none ran */
    lks_redfish_uri reset_target, reset_info, reset_resource, off_resource, off_target;
    unsigned busy;     /* times in a row that what begins an update was answered so */
    unsigned offs;     /* looks for the host to be off */
    unsigned switches; /* of banks that were asked for */
    bool etag_again, patching;
    bool state_asked; /* the service is read for its state alone */
    unsigned agreed, disagreed, looks, gone;
    unsigned unlisted; /* times in a row that the inventory could not be listed */
    unsigned task_percent;
    uint64_t task_said; /* what it says of how far it is, and since when that did not change */
    lks_ms task_still;
    bool task_moved; /* it says another thing than before anything was sent */
    unsigned holds;  /* looks at a list of tasks, before a reset, that said nothing */
    bool held;       /* it was waited for a task, and things may have changed since */
    lks_ms since;    /* when the present wait began */
    bool late;       /* the deadline is over; this is the last look */
    lks_ms late_until;
};

void lks_redfish_save(const void *value, struct lks_buf *out);
enum lks_code lks_redfish_load(void *value, struct lks_str saved, struct lks_err *err);

/* Ending ------------------------------------------------------------------------------------ */

void lks_redfish_end(struct lks_redfish_update *u, lks_ms now, enum lks_bmc_outcome outcome,
                     const char *fmt, ...) LKS_PRINTF(4, 5);

/* Walks ------------------------------------------------------------------------------------- */

/* Walk the inventory, from its beginning, not before `when`. */
void lks_redfish_walk(struct lks_redfish_update *u, enum lks_redfish_purpose purpose, lks_ms when);
void lks_redfish_walk_tasks(struct lks_redfish_update *u, lks_ms now);

/* What follows a walk. */
void lks_redfish_walked(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_tasks_walked(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_tasks_known(struct lks_redfish_update *u, lks_ms now);

/* Plan: what the survey leads to. */
void lks_redfish_plan(struct lks_redfish_update *u, lks_ms now);      /* may refuse */
void lks_redfish_begin_act(struct lks_redfish_update *u, lks_ms now); /* tasks are known */
extern const char *const lks_redfish_way_words[];   /* by way; NULL behind the last */
extern const char *const lks_redfish_apply_words[]; /* by bit of `applies`; the same */

/* Send the image: the only way to the step UPLOAD. */
void lks_redfish_send_upload(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_send_start(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_cancel(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_cancel_again(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_given_up(struct lks_redfish_update *u, lks_ms now); /* tasks are known */
void lks_redfish_switch(struct lks_redfish_update *u, lks_ms now);
/* A switch of banks was not answered, and nothing shows of it. */
bool lks_redfish_switch_lost(const struct lks_redfish_update *u);

/* Judging what was found. */
void lks_redfish_seek(struct lks_redfish_update *u, lks_ms now, lks_ms when);
void lks_redfish_judge_sought(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_judge_agree(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_after_task(struct lks_redfish_update *u, lks_ms now);
size_t lks_redfish_agreeing(const struct lks_redfish_update *u);
size_t lks_redfish_staged_count(const struct lks_redfish_update *u);
/* Entries that run what is asked for or have it in their other bank. */
size_t lks_redfish_reached(const struct lks_redfish_update *u);
/* Hashes of what the entries run, and of what is staged of them. */
void lks_redfish_hash_entries(const struct lks_redfish_update *u, uint64_t out[2]);
/* What staging, or a reset, of this component may take, with room for a slow one. */
lks_ms lks_redfish_allowed(const struct lks_redfish_update *u, bool activation);
/* Something is in progress whose end a task may report: what was sent, or an action. */
bool lks_redfish_has_task(const struct lks_redfish_update *u);
/* Follow the new task of the last walk. */
void lks_redfish_follow_fresh(struct lks_redfish_update *u, lks_ms now);

/* Activation. */
void lks_redfish_activate(struct lks_redfish_update *u, lks_ms now);
void lks_redfish_clear(struct lks_redfish_update *u, lks_ms now); /* tasks are known */
/* What activates was not carried out: it comes again, after another look, not before `when`. False:
 * the step is none of those. */
bool lks_redfish_put_off(struct lks_redfish_update *u, lks_ms when);
/* The same where the look before it is old news by now. */
void lks_redfish_put_off_old(struct lks_redfish_update *u, lks_ms now);

uint64_t lks_redfish_hash(struct lks_str uri);
bool lks_redfish_is_old(const struct lks_redfish_update *u, struct lks_str task);
void lks_redfish_add_old(struct lks_redfish_update *u, struct lks_str task);
void lks_redfish_add_staying(struct lks_redfish_update *u, struct lks_str task);
/* `shown`: it is the address of a task, and not of a monitor. */
void lks_redfish_follow(struct lks_redfish_update *u, struct lks_str task, bool shown, lks_ms when);
/* Where the task of an answer is, into `task`; true where the answer is that task. */
bool lks_redfish_keep_task(struct lks_redfish_update *u, const struct lks_doc *doc,
                           const struct lks_http_response *answer);

/* What a task's body says; for answers that hold one. */
enum lks_redfish_task_state {
    LKS_RF_TASK_NONE,
    LKS_RF_TASK_RUNS,
    LKS_RF_TASK_OVER,
    LKS_RF_TASK_FAILED
};
enum lks_redfish_task_state lks_redfish_task(struct lks_redfish_update *u,
                                             const struct lks_doc *task);
/* Whether it runs, without taking anything over from it. */
bool lks_redfish_task_runs(const struct lks_redfish_update *u, const struct lks_doc *task);
bool lks_redfish_task_blank(const struct lks_doc *task);
/* The same of an update service that has a state of its own (HPE). */
bool lks_redfish_service_runs(const struct lks_redfish_update *u);

/* Steps, one pair each: the request, and what to make of the answer, which is never NULL. */
typedef void lks_redfish_asker(const struct lks_redfish_update *u, struct lks_http_request *out);
typedef void lks_redfish_hearer(struct lks_redfish_update *u, lks_ms now,
                                const struct lks_http_response *answer);
lks_redfish_asker lks_redfish_ask_root, lks_redfish_ask_versions, lks_redfish_ask_service,
    lks_redfish_ask_managers, lks_redfish_ask_manager, lks_redfish_ask_list, lks_redfish_ask_listed,
    lks_redfish_ask_tasks, lks_redfish_ask_task_list, lks_redfish_ask_patch, lks_redfish_ask_upload,
    lks_redfish_ask_start, lks_redfish_ask_follow, lks_redfish_ask_action,
    lks_redfish_ask_reset_find, lks_redfish_ask_reset_read, lks_redfish_ask_reset_info,
    lks_redfish_ask_reset_off, lks_redfish_ask_reset, lks_redfish_ask_cancel;
lks_redfish_hearer lks_redfish_hear_service_root, lks_redfish_hear_versions,
    lks_redfish_hear_service, lks_redfish_hear_managers, lks_redfish_hear_manager,
    lks_redfish_hear_list, lks_redfish_hear_member, lks_redfish_hear_tasks,
    lks_redfish_hear_task_list, lks_redfish_hear_task, lks_redfish_hear_patch,
    lks_redfish_hear_upload, lks_redfish_hear_start, lks_redfish_hear_follow,
    lks_redfish_hear_action, lks_redfish_hear_reset_find, lks_redfish_hear_reset_read,
    lks_redfish_hear_reset_info, lks_redfish_hear_reset_off, lks_redfish_hear_reset,
    lks_redfish_hear_cancel;

#endif
