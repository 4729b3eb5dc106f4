/* The command line as a function: arguments, streams and the date in, exit status out. main() only
 * wires it up, so a test calls it as a user would. */
#ifndef LKS_CLI_CLI_H
#define LKS_CLI_CLI_H

#include "base/err.h"
#include "base/process/args.h"
#include "base/term/term.h"
#include "base/time.h"
#include "cli/shared/zone.h"

#include <limits.h>
#include <stdio.h>

struct lks_command;
struct lks_buf;
struct lks_selector_of;
struct lks_view;

/* The context in use, and what it says: see cli/shared/context.h. */
#define LKS_CLI_ADDRESS_SIZE 1024
struct lks_cli_context {
    char name[128]; /* empty: none */
    char server[LKS_CLI_ADDRESS_SIZE], ca[PATH_MAX], token_file[PATH_MAX];
    char certificate_file[PATH_MAX];
    bool chosen; /* whether there is one, and which, is decided */
    bool shown;
};

struct lks_cli {
    FILE *out;
    FILE *err;
    struct lks_term term; /* what `out` is */
    lks_day today;
    int64_t now;                          /* seconds since 1970, */
    lks_ms now_ms;                        /* and milliseconds behind them */
    struct lks_zone zone;                 /* of times that are written without one */
    const char *data_dir;                 /* tables that replace built-in ones, or NULL */
    const char *server, *ca, *token_file; /* of lockstepd, from the environment, or NULL */
    const char *certificate_file;         /* of the context, with its key, or NULL */
    const char *context_name;             /* $LOCKSTEP_CONTEXT, or NULL */
    struct lks_cli_context context;
    const char *state_home, *home; /* $XDG_STATE_HOME, $HOME, or NULL: see lks_path_state() */
    const char *cache_home;        /* $XDG_CACHE_HOME, or NULL: see lks_path_cache() */
    unsigned patience_ms;          /* for names from lockstepd while a line is typed; 0: no limit */
    const char *config_home;       /* $XDG_CONFIG_HOME, or NULL: see lks_path_config() */
    const char *program; /* the path we were started by, or NULL: its neighbours are started too */
    const char *commit;  /* of this build, or NULL: unknown */
    const struct lks_command *command; /* the one that runs */
    const char *pager; /* the command line that shows long output on a terminal; NULL: none */
    bool wide;         /* --output wide: tables have every column with a value */
    bool missed;       /* lockstepd did not know what the last request named */
    bool wrote;        /* lockstepd did what a request other than a GET asked for */
    bool at_once;      /* a thread still waits for an answer: end without handlers of exit() */
    bool no;           /* the command worked and its answer is no: exit status 1 */
};

/* What a person wants to do: help, completion and the pages list commands by it. */
enum lks_command_group { LKS_LOOK, LKS_PLAN, LKS_CHANGE, LKS_OPERATE, LKS_ADMINISTER };

struct lks_command_group_name {
    const char *name;  /* "look", as in 'help look' */
    const char *title; /* "Look at the fleet, a machine or a file" */
};

extern const struct lks_command_group_name lks_command_groups[];
extern const size_t lks_command_group_count;

struct lks_command {
    enum lks_command_group group;
    const char *name; /* "stack lint" */
    const char *args; /* "FILE" */
    int args_min, args_max;
    const struct lks_option *options; /* ends with an entry without a name; or NULL */
    const char *summary;
    const char *about; /* what help adds: meaning of the answer, exit status */
    const char *json;  /* members of the answer in JSON; '?' behind one that may be left out */
    enum lks_code (*run)(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err);
};

/* Everything the program can do. Dispatch, argument checks, help and the reference page read this.
 */
extern const struct lks_command lks_commands[];
extern const size_t lks_command_count;

/* Whether the test of examples can run one: it types all of them, and runs what it can. */
enum lks_example_run {
    LKS_EXAMPLE_HERE,   /* with the files that the test prepares, and nothing else */
    LKS_EXAMPLE_SERVER, /* with a controller */
    LKS_EXAMPLE_PARSED, /* typed only, for the reason that the row gives */
};

struct lks_example {
    const char *line;  /* "lockstep node ls --pool train": names the command that it shows */
    const char *about; /* "List the nodes of a pool" */
    enum lks_example_run run;
    const char *why; /* the reason, of LKS_EXAMPLE_PARSED */
};

/* The examples of all commands. */
extern const struct lks_example lks_examples[];
extern const size_t lks_example_count;

/* The example of `command` behind `after`, or the first one if `after` is NULL; NULL: no more. */
const struct lks_example *lks_cli_example(const struct lks_command *command,
                                          const struct lks_example *after);

/* The members of the rows that a command lists, if it takes the options of lists; false: it does
 * not. */
bool lks_cli_rows(const struct lks_command *command, struct lks_selector_of *out);

/* The view of these rows; NULL: they are no rows of the state. */
const struct lks_view *lks_cli_view(const struct lks_command *command);

/* The sentences about the columns of these rows, for help and the reference page; nothing for a
 * command without. */
void lks_cli_columns(const struct lks_command *command, struct lks_buf *out);

/* Options that every command takes, and those of one: a command that writes a file has an --output
 * of its own. */
extern const struct lks_option lks_common_options[];
const struct lks_option *lks_cli_common(const struct lks_command *command);

int lks_cli_run(struct lks_cli *cli, int argc, char **argv);

#endif
