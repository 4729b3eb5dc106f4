/* The directory of a simulated fleet: DIR/controller, DIR/agents/NAME/{root,state,token,log},
 * DIR/bmcs/{ca.pem,login,log,control.sock}. */
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

/* The fleet's size. Each rack has a switch tray and a power shelf of its own. With a `bmc_port` all
 * of them have a BMC, on loopback addresses that follow each other: nodes, trays, shelves. */
struct lks_fleetdir_fleet {
    const char *dir, *root; /* absolute; the captured machine */
    uint64_t nodes;
    unsigned bmc_port; /* 0: there are no BMCs */
};

#define LKS_FLEETDIR_BMC_FIRST "127.64.0.1"

/* How many racks there are; and "sim-switch[001-004]" for the assets whose names begin so. */
uint64_t lks_fleetdir_racks(uint64_t nodes);
void lks_fleetdir_assets(char out[64], const char *kind, uint64_t racks);

/* What the captured machine's firmware is, as lockstep-bmcsim takes it: "vbios=96.00,nic=28.39". In
 * both bands a device says the same. */
enum lks_code lks_fleetdir_versions(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The manifest: the stack that the machine `root` runs, its hardware class, and a fleet of nodes in
 * two pools that are pinned to it. Kept as DIR/fleet.yaml too. */
enum lks_code lks_fleetdir_manifest(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether `root` can be every agent's machine. */
enum lks_code lks_fleetdir_check(const char *root, struct lks_err *err) LKS_MUST_CHECK;

/* Remove `dir`, which the caller made, and all in it; what links lead to stays. False: something of
 * it is still there. */
bool lks_fleetdir_remove(const char *dir);

#endif
