/* The directory of a simulated fleet: DIR/controller, DIR/agents/NAME/{root,state,token,log},
 * DIR/bmcs/{ca.pem,login,log,control.sock}. */
#ifndef LKS_CLI_FLEETDIR_H
#define LKS_CLI_FLEETDIR_H

#include "base/buf.h"
#include "cli/shared/cli.h"
#include "cli/shared/path.h"

/* "sim0001" */
void lks_fleetdir_node(char out[32], uint64_t number);

/* Make the directory of one agent, and say where it is. */
enum lks_code lks_fleetdir_agent(char out[PATH_MAX], const char *dir, const char *node,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* A captured machine of its own: hard links where the file system has them, since nearly nothing of
 * it is ever changed, and a boot id of its own. */
enum lks_code lks_fleetdir_copy(const char *from, const char *to,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The fleet's size. The first nodes are in domains: racks of 18 with nine switch trays and two
 * power shelves that change with them. The last ones are for trying things out. Those between are
 * in two pools, eight to a rack with a switch tray and a power shelf. With a `bmc_port` all of them
 * have a BMC, on loopback addresses that follow each other: nodes, trays, power shelves. */
struct lks_fleetdir_fleet {
    const char *dir, *root; /* absolute; the captured machine */
    uint64_t nodes, domains, lab;
    const char *flash;     /* "hmc=25.04": firmware that the stack pins and we flash; NULL: none */
    const char *revisions; /* "A,B,C": hardware revisions of nodes, in turn; NULL: unknown */
    unsigned bmc_port;     /* 0: there are no BMCs */
};

#define LKS_FLEETDIR_DOMAIN 18 /* nodes of a domain */

#define LKS_FLEETDIR_BMC_FIRST "127.64.0.1"

/* How many switch trays and power shelves there are; and "sim-switch[001-004]" for so many assets
 * whose names begin so. */
uint64_t lks_fleetdir_trays(const struct lks_fleetdir_fleet *f);
uint64_t lks_fleetdir_shelves(const struct lks_fleetdir_fleet *f);
void lks_fleetdir_assets(char out[64], const char *kind, uint64_t count);

/* What the captured machine's firmware is, as lockstep-bmcsim takes it: "vbios=96.00,nic=28.39". In
 * both bands a device says the same. */
enum lks_code lks_fleetdir_versions(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The manifest: the stack that the machine `root` runs, its hardware class, and a fleet of nodes in
 * two or three pools that are pinned to it. Kept as DIR/fleet.yaml too. */
enum lks_code lks_fleetdir_manifest(struct lks_cli *cli, const struct lks_fleetdir_fleet *f,
                                    struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether `root` can be every agent's machine. */
enum lks_code lks_fleetdir_check(const char *root, struct lks_err *err) LKS_MUST_CHECK;

/* Remove `dir`, which the caller made, and all in it; what links lead to stays. False: something of
 * it is still there. */
bool lks_fleetdir_remove(const char *dir);

#endif
