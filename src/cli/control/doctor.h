/* doctor: what its checks share, and the table of them. */
#ifndef LKS_CLI_DOCTOR_H
#define LKS_CLI_DOCTOR_H

#include "cli/shared/cli.h"
#include "cli/shared/path.h"
#include "cli/shared/remote.h"

enum lks_doctor_state { LKS_DOCTOR_GOOD, LKS_DOCTOR_NOTE, LKS_DOCTOR_BAD };

enum { LKS_DOCTOR_TEXT_MAX = 1024, LKS_DOCTOR_FIX_MAX = 512 };

struct lks_doctor {
    struct lks_cli *cli;
    const struct lks_args *args;
    const char *dir; /* a data directory, or NULL */
    struct lks_json_writer *w;
    char fix[LKS_DOCTOR_FIX_MAX]; /* of the next finding */
    bool bad;
    /* The controller: that of the data directory, or of --server. */
    char server[PATH_MAX];
    struct lks_remote remote;       /* without a client: there is none, or it does not answer */
    struct lks_http_answer metrics; /* empty where it has none for us */
};

/* What a check inspects. */
enum lks_doctor_place { LKS_DOCTOR_MACHINE, LKS_DOCTOR_DATA, LKS_DOCTOR_CONTROLLER };
extern const char *const lks_doctor_place_words[];

/* A check by its name in the answer. One without a function is said by the one
 * before it. */
struct lks_doctor_check {
    const char *name;
    enum lks_doctor_place place;
    void (*run)(struct lks_doctor *d);
    const char *about;
};
extern const struct lks_doctor_check lks_doctor_checks[];
extern const size_t lks_doctor_check_count;

/* The command that repairs the next finding, to be pasted. */
void lks_doctor_fix(struct lks_doctor *d, const char *fmt, ...) LKS_PRINTF(2, 3);

/* A finding of the check `name`. */
void lks_doctor_say(struct lks_doctor *d, const char *name, enum lks_doctor_state state,
                    const char *fmt, ...) LKS_PRINTF(4, 5);

/* doctor_controller.c: what a running controller answers. */
typedef void lks_doctor_fn(struct lks_doctor *d);
lks_doctor_fn lks_doctor_socket;
lks_doctor_fn lks_doctor_clock;
lks_doctor_fn lks_doctor_limits;
lks_doctor_fn lks_doctor_snapshot;
lks_doctor_fn lks_doctor_login;
lks_doctor_fn lks_doctor_served;
lks_doctor_fn lks_doctor_webhook;
lks_doctor_fn lks_doctor_followers;
lks_doctor_fn lks_doctor_readings;
/* doctor_lists.c: what its lists have. */
lks_doctor_fn lks_doctor_schedulers, lks_doctor_gres, lks_doctor_verdicts, lks_doctor_bridges,
    lks_doctor_slots, lks_doctor_submissions, lks_doctor_runs;
lks_doctor_fn lks_doctor_reservations, lks_doctor_job_lists;
lks_doctor_fn lks_doctor_sweeps;
lks_doctor_fn lks_doctor_endpoints;
lks_doctor_fn lks_doctor_alarms, lks_doctor_unanswered;
lks_doctor_fn lks_doctor_depot;

#endif
