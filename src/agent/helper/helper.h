/*
 * The root helper: runs what the controller signed, if this node's administrator enabled it.
 *
 * It takes questions from the agent's user alone, and believes the agent nothing: it opens the
 * envelope itself with the command key in its own file, reads the boot id itself, and has a ledger
 * of its own. An executor is a plain file in one directory that only root may change, run by its
 * path without a shell, with the digests of the command as its arguments.
 */
#ifndef LKS_AGENT_HELPER_H
#define LKS_AGENT_HELPER_H

#include "agent/helper/program.h"
#include "agent/state/statedir.h"
#include "base/process/log.h"
#include "core/agentlink/at_most_once.h"

#include <sys/types.h>

#define LKS_HELPER_DEPOT       "LOCKSTEP_DEPOT" /* the variable that executors find it in */
#define LKS_HELPER_ENABLED_MAX ((size_t)64 << 10)

struct lks_helper_options {
    const char *socket;      /* path; NULL: it was handed to us as descriptor 3 */
    const char *executors;   /* directory */
    const char *enabled;     /* file of names */
    const char *command_key; /* file */
    const char *state;       /* directory of the ledger */
    const char *node;        /* how the controller calls this node */
    const char *reader;      /* program that reads the machine with --read */
    const char *depot;       /* the agent's folder of artifacts, or NULL */
    uid_t user;              /* who may ask */
    int timeout_s;           /* for an executor; 0: until its command expires */
};

struct lks_helper {
    const struct lks_helper_options *options; /* borrowed */
    struct lks_log *log;                      /* borrowed */
    struct lks_public_key key;
    struct lks_statedir dir;
    struct lks_at_most_once once;
    struct lks_program program;
    int listener;
};

enum lks_code lks_helper_open(const struct lks_helper_options *options, struct lks_log *log,
                              struct lks_helper *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_helper_close(struct lks_helper *h);

/* Answer questions until `stop` is readable. */
enum lks_code lks_helper_serve(struct lks_helper *h, int stop, struct lks_err *err) LKS_MUST_CHECK;

/* Whether `name` is listed in the text of the enabled file: one name a line, '#' begins a remark.
 */
bool lks_helper_enabled(struct lks_str text, const char *name);

/* What a command comes to: the outcome and its text, into a buffer that was initialised. */
enum lks_outcome lks_helper_command(struct lks_helper *h, struct lks_str envelope,
                                    struct lks_buf *text);

#endif
