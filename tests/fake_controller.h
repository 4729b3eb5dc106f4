/* A small controller on loopback for tests of the agent's program: it enrols one node, takes what
 * the agent says, hands out commands, and can be made to misbehave. */
#ifndef LKS_TESTS_FAKE_CONTROLLER_H
#define LKS_TESTS_FAKE_CONTROLLER_H

#include "core/state/heartbeat.h"
#include "drivers/http/httpd.h"
#include "tests/tree.h"
#include "trust/envelope.h"
#include "trust/token.h"
#include "trust/x509.h"

#define FAKE_JOURNAL      "0123456789abcdef0123456789abcdef"
#define FAKE_NODE         "gpu-1"
#define FAKE_COMMANDS_MAX 64

enum fake_mode { FAKE_FINE, FAKE_BUSY, FAKE_FORBIDS, FAKE_GARBAGE, FAKE_DRIPS, FAKE_MODE_COUNT };

struct fake {
    uv_loop_t loop;
    uv_timer_t tick;
    struct lks_httpd *people, *agents; /* `agents` NULL: away */
    unsigned port;                     /* of the agents' listener */
    struct lks_tree tree;              /* ca.crt, token, state/, root/, log */
    struct lks_buf ca, ca_key, server, server_key;
    struct lks_key journal, command;
    char token[LKS_TOKEN_TEXT_MAX];
    enum fake_mode mode;
    int64_t life;           /* seconds that certificates are good for from now on */
    lks_ms enrol_heartbeat; /* what an enrolment is told, milliseconds */
    lks_ms heartbeat;       /* what heartbeats are told; 0: nothing */
    bool want_tuple;
    const char *load;  /* the reference load that is wanted; NULL: none */
    bool changing;     /* heartbeats are told so */
    bool barred;       /* and that no step of a job should start */
    const char *stack; /* of the node, as JSON; NULL: it knows no such question */
    unsigned stacks;   /* how often it was asked for */
    bool old;          /* it knows no reports of checks */
    char head[LKS_HEAD_TEXT_MAX + 1];
    struct lks_httpd_stream *drip;

    unsigned enrolled, asked, beats, tuples, results, mails, renewals; /* heard so far */
    unsigned mails_before;                                             /* the last result */
    unsigned checks; /* reports of the health check, */
    char check[512]; /* and the last one: "passed", or why it failed */
    bool heard;      /* any heartbeat at all: */
    struct lks_beat last;
    bool numbers_rise;                 /* no number of a heartbeat came twice in a boot */
    unsigned boots;                    /* how often another boot id came */
    char fingerprint[LKS_DIGEST_SIZE]; /* of the certificate last shown */
    char reports[4096];                /* "tuple " or "ID=OUTCOME ", in the order they were taken */
    struct lks_buf commands[FAKE_COMMANDS_MAX];
    bool ended[FAKE_COMMANDS_MAX]; /* by id - 1 */
    char outcome[FAKE_COMMANDS_MAX][16];
    unsigned contradictions; /* results that say another outcome than before */
    size_t command_count;
};

void fake_start(struct fake *f);
void fake_stop(struct fake *f);

/* Go away, and come back at the same address. */
void fake_leave(struct fake *f);
void fake_return(struct fake *f);

/* Serve until `done` says so; false when it never does. */
bool fake_until(struct fake *f, bool (*done)(const struct fake *f));

/* Serve for some milliseconds, after which nothing is sure to have happened. */
void fake_serve(struct fake *f, int ms);

/* A command for the node; its id. `boot` NULL: that of the last heartbeat. */
uint64_t fake_command(struct fake *f, const char *executor, const char *boot);

/* Start a program with arguments up to NULL, its errors in the file `log` of the tree. */
pid_t fake_spawn(struct fake *f, const char *log, const char *const *argv);

/* The agent of a captured tree, with up to four words more, up to NULL; or NULL: none. And its end.
 */
pid_t fake_agent(struct fake *f, const char *const *more);
/* The same of another program than the one that acts on captured machines. */
pid_t fake_agent_as(struct fake *f, const char *program, const char *const *more);
void fake_agent_end(struct fake *f, pid_t pid);

/* For fake_until(): it reported what it runs; three heartbeats came; every command ended. */
bool fake_settled(const struct fake *f);
bool fake_three_beats(const struct fake *f);
bool fake_all_ended(const struct fake *f);

/* Serve until it ended; its exit status, or -1. */
int fake_wait(struct fake *f, pid_t pid);

/* The path of a file in the tree; sixteen of them at a time. */
const char *fake_path(const struct fake *f, const char *name);

/* The content of such a file, in a buffer that the next call overwrites. */
struct lks_str fake_text(const struct fake *f, const char *name);

#endif
