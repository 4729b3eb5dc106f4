/* An update of a switch tray, for drivers/bmc/bmc_nvos_*.c alone. */
#ifndef LKS_DRIVERS_BMC_NVOS_UPDATE_H
#define LKS_DRIVERS_BMC_NVOS_UPDATE_H

#include "drivers/bmc/nvos.h"

#define LKS_NVOS_TARGETS_MAX 16
#define LKS_NVOS_JOBS_MAX    128

enum {
    LKS_NVOS_LIST,
    LKS_NVOS_ACTIONS,
    LKS_NVOS_FETCH,
    LKS_NVOS_FETCHING,
    LKS_NVOS_INSTALL,
    LKS_NVOS_INSTALLING,
    LKS_NVOS_REBOOT,
    LKS_NVOS_STEP_COUNT
};
enum { LKS_NVOS_SENT_NOTHING, LKS_NVOS_SENT_FETCH, LKS_NVOS_SENT_INSTALL, LKS_NVOS_SENT_REBOOT };
enum {
    LKS_NVOS_SURVEY,
    LKS_NVOS_KNOW,
    LKS_NVOS_SEEK,
    LKS_NVOS_REST,
    LKS_NVOS_CLEAR,
    LKS_NVOS_AGREE
};
enum lks_nvos_job { LKS_NVOS_RUNS, LKS_NVOS_DONE, LKS_NVOS_FAILED, LKS_NVOS_LOST };

struct lks_nvos_target {
    char id[64];
    char version[LKS_BMC_VERSION_MAX + 1];
    bool staged; /* what is asked for is installed and waits for a restart */
};

struct lks_nvos_update {
    struct lks_redfish r;
    const struct lks_facts *facts;
    enum lks_bmc_act act;
    char component[LKS_BMC_NAME_MAX + 1];
    char version[LKS_BMC_VERSION_MAX + 1];
    char pull[1024];
    bool force, one_way;
    lks_ms deadline;

    /* What survives a restart. */
    uint32_t sent, installs, reboots;
    uint32_t again; /* installations that were begun again */
    char turn[64];  /* the id of the target whose turn it is; "": each had its own */
    size_t expected;
    char job[64];
    bool sought; /* the job was found among others, and may be another's */
    bool taken;  /* the installation was answered as begun, whatever its job is called */
    char before[LKS_BMC_VERSION_MAX + 1];
    char kind[48];
    uint64_t jobs[LKS_NVOS_JOBS_MAX]; /* hashes of the names of those that were there */
    size_t job_count;
    bool jobs_known;
    lks_ms rebooted;
    bool reboot_heard;               /* the restart was asked for and answered */
    char why[LKS_REDFISH_TEXT_SIZE]; /* what a job said against it */
    bool lost;                       /* its job was gone, and nothing said how it ended */
    enum lks_bmc_outcome outcome;
    char text[2 * LKS_REDFISH_TEXT_SIZE];

    /* The rest is found out anew. */
    unsigned purpose;
    struct lks_nvos_target targets[LKS_NVOS_TARGETS_MAX]; /* by id */
    size_t target_count;
    size_t at;       /* where the one is whose turn it is; target_count: nowhere */
    size_t left_out; /* that have no room here */
    unsigned absent; /* lists without it, or without another */
    char fresh[64];  /* a job that was not there before */
    bool fresh_runs; /* one of them runs */
    size_t old_seen; /* jobs that were there before and still are */
    bool busy;       /* any job runs */
    bool blank;      /* the list could not be read, or a job in it does not say whether it runs */
    bool held;       /* something ran or was not to be seen, and waits for that */
    unsigned holds;  /* looks at what was not to be seen */
    unsigned percent, agreed, looks, tries;
    unsigned proved; /* looks in a row at which the component of a lost job ran it */
    unsigned gone;   /* answers in a row that showed nothing of the job */
    bool shown;      /* one showed it */
    lks_ms since;
    bool late;
    lks_ms late_until;
};

/* The request of the step it is in; and what the tray calls the image. A view of `u`. */
lks_ms lks_nvos_ask(const void *value, struct lks_http_request *out);
struct lks_str lks_nvos_file_name(const struct lks_nvos_update *u);

/* The components that the tray lists: how many run what is asked for; does one run it, and does it
 * run it or will after a restart; are not all there that were at first, so that whose turn it is,
 * or comes next, cannot be told; what they have instead; what is newer, or NULL. */
void lks_nvos_read_targets(struct lks_nvos_update *u, const struct lks_doc *list);
size_t lks_nvos_agreeing(const struct lks_nvos_update *u);
bool lks_nvos_runs_it(const struct lks_nvos_update *u, size_t at);
bool lks_nvos_has_it(const struct lks_nvos_update *u, size_t at);
bool lks_nvos_all_installed(const struct lks_nvos_update *u);
bool lks_nvos_is_partial(const struct lks_nvos_update *u);
const char *lks_nvos_found(const struct lks_nvos_update *u);
const char *lks_nvos_newer(const struct lks_nvos_update *u);

/* The jobs there are; `list`: NULL where it could not be read. Does any run? Those that are there
 * before an installation are learnt; afterwards those that are new are found. */
enum lks_nvos_job lks_nvos_state_of(const struct lks_doc *job);
void lks_nvos_see_jobs(struct lks_nvos_update *u, const struct lks_doc *list);
void lks_nvos_add_job(struct lks_nvos_update *u, struct lks_str name);
void lks_nvos_know_jobs(struct lks_nvos_update *u, const struct lks_doc *list);
void lks_nvos_find_jobs(struct lks_nvos_update *u, const struct lks_doc *list);

void lks_nvos_save(const void *value, struct lks_buf *out);
enum lks_code lks_nvos_load(void *value, struct lks_str saved, struct lks_err *err);

#endif
