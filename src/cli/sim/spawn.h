/* Starting our own programs, which lie beside this one, and ending those we started. */
#ifndef LKS_CLI_SPAWN_H
#define LKS_CLI_SPAWN_H

#include "cli/shared/cli.h"

/* Run `argv`, whose first word is the program's name, to its end; its output goes to the file
 * `out`, or with NULL nowhere. A failure is of the kind that its exit status tells of, with the
 * first line of its complaint. */
enum lks_code lks_spawn_wait(struct lks_cli *cli, const char *const *argv, const char *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Start it in the background, apart from this terminal, with its output in `log`. It is noted in
 * DIR/pids before it does anything, with when it began, so that none is ever forgotten and no other
 * process is taken for it. */
enum lks_code lks_spawn_start(struct lks_cli *cli, const char *const *argv, const char *log,
                              const char *dir, const char *name,
                              struct lks_err *err) LKS_MUST_CHECK;

/* End all that DIR/pids names, politely and after five seconds for good; how many there were. */
unsigned lks_spawn_end(const char *dir);

/* A port of the loopback that no process listens on now. */
enum lks_code lks_spawn_free_port(unsigned *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
