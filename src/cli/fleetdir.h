/* The directory of a simulated fleet: DIR/controller, DIR/agents/NAME/{root,state,token,log}. */
#ifndef LKS_CLI_FLEETDIR_H
#define LKS_CLI_FLEETDIR_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/path.h"

/* "sim0001" */
void lks_fleetdir_node(char out[32], uint64_t number);

/* Make the directory of one agent, and say where it is. */
enum lks_code lks_fleetdir_agent(char out[PATH_MAX], const char *dir, const char *node,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* A captured machine of its own: hard links where the file system has them, since nearly nothing of
 * it is ever changed, and a boot id of its own. */
enum lks_code lks_fleetdir_copy(const char *from, const char *to,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The manifest: the stack that the machine `root` runs, its hardware class, and a fleet of `nodes`
 * nodes in two pools that are pinned to it. Kept as DIR/fleet.yaml too. */
enum lks_code lks_fleetdir_manifest(struct lks_cli *cli, const char *dir, const char *root,
                                    uint64_t nodes, struct lks_buf *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Whether `root` can be every agent's machine. */
enum lks_code lks_fleetdir_check(const char *root, struct lks_err *err) LKS_MUST_CHECK;

/* Remove `dir`, which the caller made, and all in it; what links lead to stays. False: something of
 * it is still there. */
bool lks_fleetdir_remove(const char *dir);

#endif
