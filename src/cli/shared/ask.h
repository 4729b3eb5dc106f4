/* Requests as rows: the path, the options that become members of the body, and the sentence that
 * reports the result. A command that sends one request, such as node hold, is such a row, without
 * code. */
#ifndef LKS_CLI_ASK_H
#define LKS_CLI_ASK_H

#include "cli/shared/remote.h"

enum lks_ask_kind {
    LKS_ASK_TEXT,   /* as it was given */
    LKS_ASK_FLAG,   /* true where the switch was given */
    LKS_ASK_UNLESS, /* false where the switch was given, else true */
    LKS_ASK_NUMBER, /* 1 to `most` */
    LKS_ASK_COUNT,  /* 0 to `most` */
    LKS_ASK_SPAN,   /* "24h", in seconds */
    LKS_ASK_TIME,   /* a time in the future */
    LKS_ASK_MOMENT, /* a time in the past */
    LKS_ASK_SHARE,  /* "1%", in millionths */
    LKS_ASK_LIST,   /* the arguments from this one on */
};

/* A member of the body. It is left out where the option was not given. */
struct lks_ask_member {
    const char *key;
    const char *from; /* "--pool"; of a text also "1", the first argument, or a form of render.h */
    enum lks_ask_kind kind;
    uint64_t most;
    const char *need; /* ends the message "--x has to say ..."; NULL: the option is not required */
};

struct lks_ask {
    const char *command;
    const char *method;
    const char *path;                     /* a form: "/v1/nodes/{1}/hold" */
    const struct lks_ask_member *members; /* up to one without a key; NULL: there are none */
    const char *done; /* a form over the answer; NULL: a line for each of its members */
};

#define LKS_ASK_END                                                                                \
    {                                                                                              \
        NULL, NULL, LKS_ASK_TEXT, 0, NULL                                                          \
    }
#define LKS_ASK_MEMBERS(...) ((const struct lks_ask_member[]){__VA_ARGS__, LKS_ASK_END})
#define LKS_ASK_OPTION(key, from)                                                                  \
    {                                                                                              \
        key, from, LKS_ASK_TEXT, 0, NULL                                                           \
    }
#define LKS_ASK_NEEDED(key, from, need)                                                            \
    {                                                                                              \
        key, from, LKS_ASK_TEXT, 0, need                                                           \
    }
#define LKS_ASK_SWITCH(key, from)                                                                  \
    {                                                                                              \
        key, from, LKS_ASK_FLAG, 0, NULL                                                           \
    }
#define LKS_ASK_WHY    "why; it is recorded for ever"
#define LKS_ASK_REASON LKS_ASK_NEEDED("reason", "--reason", LKS_ASK_WHY)
/* One that may be left out. */
#define LKS_ASK_REASON_MAY LKS_ASK_OPTION("reason", "--reason")

/* ": 3 nodes, 24 GPUs", if the answer has these numbers. */
#define LKS_ASK_SIZE "[{nodes?}: {nodes#node}, {gpus#GPU}]"

/* " in site a, pool b" from the options; empty for a role without a limit. */
#define LKS_ASK_WHERE "[ in site {--site}[, pool {--pool}]|[ in pool {--pool}]]"

/* "58 nodes, 392 GPUs, 9 assets" of a change, and its state after a request. */
#define LKS_ASK_CHANGE_SIZE "{nodes#node}, {gpus#GPU}[{assets?}, {assets#asset}]"
#define LKS_ASK_CHANGED                                                                            \
    "change {1} is {state}[{state=proposed}{approvals.given<approvals.needed} "                    \
    "({approvals.given} of {approvals.needed} approvals)]: " LKS_ASK_CHANGE_SIZE                   \
    "[{frozen?}; frozen: no further node starts before 'lockstep unfreeze' ('lockstep freeze "     \
    "--list' lists freezes)]"

/* The path and the body; nothing is sent yet. USAGE if an option is missing or invalid. */
enum lks_code lks_ask_begin(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_ask *ask, struct lks_question *q,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Write the members of a body whose object is open. */
enum lks_code lks_ask_write(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_ask_member *members, struct lks_json_writer *w,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Send the request; the answer is in `q`. */
enum lks_code lks_ask_send(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_ask *ask, struct lks_question *q,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The same for a GET. `path` is a form that may name members of `about`, which may be NULL. */
enum lks_code lks_ask_get(struct lks_cli *cli, const struct lks_args *args, const char *path,
                          const struct lks_doc *about, struct lks_question *q,
                          struct lks_err *err) LKS_MUST_CHECK;

/* Commands that are one request; the test of routes compares them with the routes. */
extern const struct lks_ask lks_ask_rows[];
extern const size_t lks_ask_row_count;

/* The row of a command, which has one. */
const struct lks_ask *lks_ask_of(const char *command);

/* Send the request, and print the answer by the form `done`. */
enum lks_code lks_ask_run(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_ask *ask, struct lks_err *err) LKS_MUST_CHECK;

/* An answer as one sentence, with its warnings below; with --json as it came. */
enum lks_code lks_ask_done(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_remote_answer *answer, const char *form,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
