/*
 * The agent: one small process on each node. It says every few seconds that the node lives, tells
 * what it runs when that changes, carries out signed commands at most once, and keeps the heads of
 * the journal it was shown.
 *
 * One thread and one loop. core/agentlink/link.h says what is due; what takes long (reading the
 * machine, an executor behind the helper) is an errand whose descriptor the loop polls. Everything
 * that matters is durable before it is acted upon, so the process may be killed at any point.
 */
#ifndef LKS_AGENT_AGENT_H
#define LKS_AGENT_AGENT_H

#include "agent/helper/program.h"
#include "agent/helper/subtask.h"
#include "agent/loop/answers.h"
#include "agent/loop/captured.h"
#include "agent/loop/events.h"
#include "agent/loop/fetch.h"
#include "agent/loop/load.h"
#include "agent/loop/notices.h"
#include "agent/loop/stack.h"
#include "agent/state/boot.h"
#include "agent/state/heads.h"
#include "agent/state/identity.h"
#include "agent/state/ledger.h"
#include "agent/state/spool.h"
#include "core/agentlink/link.h"
#include "core/state/heartbeat.h"
#include "drivers/http/client.h"

#define LKS_AGENT_SPOOL_FILES     1024
#define LKS_AGENT_SPOOL_BYTES     ((size_t)64 << 20)
#define LKS_AGENT_INVENTORY_S     300
#define LKS_AGENT_EXCHANGE_MIN_MS 2000 /* an exchange may take as long as a heartbeat, between */
#define LKS_AGENT_EXCHANGE_MS     10000
#define LKS_AGENT_CONTROLLERS_MAX 16
#define LKS_AGENT_CONTROLLER_FILE "controller.json"

/* The kind of the errand in progress. */
enum lks_agent_errand {
    LKS_SUBTASK_READS,   /* a reading of the machine */
    LKS_SUBTASK_HELPER,  /* a command, by the helper */
    LKS_SUBTASK_IDLE,    /* the look whether anything runs on the GPUs */
    LKS_SUBTASK_HAZARDS, /* the look at the next boot, before a reboot */
};

struct lks_agent_options {
    const char *state;
    const char *controller, *ca, *token_file; /* for the first start */
    const char *node;                         /* NULL: as the token says */
    const char *root;                         /* NULL: this machine */
    const struct lks_captured *captured;      /* what acts on `root`; NULL: nothing does */
    const char *helper;                       /* its socket, or NULL */
    const char *run;                          /* folder of the socket of notices, or NULL */
    const char *agents;   /* addresses of controllers in the place of those kept; or NULL */
    uint64_t depot_bytes; /* that artifacts may take */
    unsigned inventory_seconds;
    bool quick;
    enum lks_level level;
    char *const *argv; /* how we were started; NULL: we never start ourselves anew */
};

struct lks_agent {
    const struct lks_agent_options *options; /* borrowed */
    struct lks_log log;
    struct lks_statedir dir;
    struct lks_spool spool;
    struct lks_at_most_once once;
    struct lks_heads heads;
    struct lks_identity identity;
    struct lks_controller controller;
    char mirrors[LKS_ANSWER_URL_MAX]; /* servers of artifacts near by, with blanks between */
    struct lks_client *client;        /* NULL: to be made */
    unsigned turn; /* which of the controllers is asked: one leads, the others say so */
    struct lks_link link;
    struct lks_rng rng;
    char boot[LKS_BOOT_ID_SIZE];
    uint64_t reserved;            /* numbers of heartbeats up to here are ours */
    char tuple[LKS_DIGEST_SIZE];  /* what the last reading found; empty: none yet */
    char steady[LKS_DIGEST_SIZE]; /* of the reading that was spooled last */
    struct lks_subtask errand;
    struct lks_fetch fetch;
    uint64_t fetched; /* the command whose artifacts were last found to be whole */
    enum lks_agent_errand errand_kind;
    bool push_anyway;    /* the next reading is sent though nothing changed */
    lks_ms inventory_at; /* when to read the machine again */
    uint64_t command;    /* the one in progress; 0: none */
    uint64_t health;     /* bits of core/state/heartbeat.h that stand */
    int64_t clock_gap;   /* wall clock less monotonic clock */
    struct lks_agent_events events;
    struct lks_load load;
    struct lks_notices notices;
    struct lks_agent_stack stack;
    struct lks_program program;
    int signals;
    bool awaits; /* a file of the enrolment, which was said */
    bool ended;
};

/* Run until told to end; the answer is the failure that ended it. */
enum lks_code lks_agent_run(const struct lks_agent_options *options, FILE *log,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Parts of the agent, each in a file of its own ----------------------------------------------- */

lks_ms lks_agent_now(void);   /* monotonic */
int64_t lks_agent_wall(void); /* milliseconds since 1970 */
void lks_agent_note(struct lks_agent *a, enum lks_level level, const char *msg, const char *key,
                    const char *value); /* `key` NULL: none */
void lks_agent_health(struct lks_agent *a, uint64_t bit, bool on);
void lks_agent_spooled(struct lks_agent *a); /* what waits to be reported is counted again */

/* enroll.c: become a node of the fleet. Transient failures may be tried again. */
enum lks_code lks_agent_enroll(struct lks_agent *a, struct lks_err *err) LKS_MUST_CHECK;
/* Keep whom this node belongs to, and how often to say that it lives. */
enum lks_code lks_agent_enroll_keep(const struct lks_agent *a, const struct lks_controller *c,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* exchange.c: one exchange each. `act` is neither WAIT nor ENROLL. */
enum lks_code lks_agent_exchange_act(struct lks_agent *a, enum lks_link_act act,
                                     struct lks_err *err) LKS_MUST_CHECK;
/* One exchange with the agents' listener; fails for a status other than 2xx: DENIED (the controller
 * does not know us), REFUSED (it will never take this), UNAVAILABLE (it cannot at the moment). */
enum lks_code lks_agent_exchange(struct lks_agent *a, const char *method, const char *path,
                                 const char *type, struct lks_str body, struct lks_http_answer *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
/* SIGTERM and SIGINT end the process at once while `on`: nothing is lost by it, and an exchange may
 * take long. */
void lks_agent_exchange_mortal(bool on);

/* reading.c: the machine, read by a child or the helper. */
void lks_agent_reading_start(struct lks_agent *a);
void lks_agent_reading_over(struct lks_agent *a);
enum lks_code lks_agent_reading_load(struct lks_agent *a, struct lks_err *err) LKS_MUST_CHECK;

/* command.c: commands. */
void lks_agent_command(struct lks_agent *a, struct lks_str envelope);
void lks_agent_command_over(struct lks_agent *a);
/* A command that was not begun is answered with no. */
void lks_agent_command_refuse(struct lks_agent *a, uint64_t id, const char *why);
/* The command in progress has ended, if there is one. */
void lks_agent_command_end(struct lks_agent *a, enum lks_outcome outcome, struct lks_str text);
enum lks_code lks_agent_command_result(struct lks_agent *a,
                                       const struct lks_at_most_once_entry *entry,
                                       struct lks_err *err) LKS_MUST_CHECK;
/* The boot id, and the numbers that go with it. */
enum lks_code lks_agent_command_booted(struct lks_agent *a, struct lks_err *err) LKS_MUST_CHECK;

#endif
