/*
 * An update of one endpoint by the command line: what is asked, where it stands, and carrying it
 * out. lockstepd does the same with its journal in the place of these files.
 */
#ifndef LKS_CLI_CMD_BMC_UPDATE_H
#define LKS_CLI_CMD_BMC_UPDATE_H

#include "cli/firmware/cmd_bmc.h"

/* All zero is empty. Texts of the intent point to what is here. */
struct lks_bmc_update {
    struct lks_bmc_at *at;         /* borrowed */
    const struct lks_facts *facts; /* borrowed */
    struct lks_bmc_intent intent;
    char component[LKS_BMC_NAME_MAX + 1], version[LKS_BMC_VERSION_MAX + 1];
    char file[LKS_BMC_NAME_MAX + 1], apply_time[LKS_BMC_NAME_MAX + 1];
    char pull[LKS_HTTP_PATH_MAX + 1];   /* where the service can fetch the image; or empty */
    char from[LKS_BMC_VERSION_MAX + 1]; /* what ran before; empty: not known */
    char bundle[LKS_DIGEST_SIZE];       /* empty: nothing is sent */
    char folder[PATH_MAX];
    struct lks_str write_protected; /* why it is overridden; empty: it is not */
    bool managed; /* lockstepd has the endpoint: its verdict on the bundle counts */
    bool unasked; /* no controller is configured, so whether one manages it is unknown */
    bool one_way; /* what is installed or activated is irreversible */
    int fd;       /* of the image, + 1; 0: none */
    int locks[LKS_BMC_ADDRESSES_MAX + 1]; /* likewise: of its name and its addresses */
    size_t lock_count;
    lks_ms began, now;      /* `now`: where its clock goes on from */
    uint64_t speed;         /* of its clock, for rehearsals; 1: that of the world */
    struct lks_docs record; /* of an update that has not ended; or empty */
    struct lks_str saved;   /* its last checkpoint, in `record`; empty: it did not begin */
};
void lks_bmc_update_fini(struct lks_bmc_update *u);

/* Is the endpoint lockstepd's to change? REFUSED where it is, or where it is not to be asked and
 * --unmanaged does not say so. Without a controller to ask, `unasked` is set. The same for a bundle
 * that is revoked there, or, where the endpoint is managed, not known there. */
enum lks_code lks_bmc_update_managed(struct lks_cli *cli, const struct lks_args *args,
                                     struct lks_bmc_update *u, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_bmc_update_revoked(struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_bmc_update *u,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* An update that starts without a controller to ask and without a question. REFUSED without
 * --unmanaged, unless the endpoint is on this machine, where only simulated ones are. */
enum lks_code lks_bmc_update_unasked(const struct lks_args *args, const struct lks_bmc_update *u,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* What --pull names is read, by a server that `ca` (a PEM file) knows, and compared with the image
 * of the bundle. REFUSED where it is another file. */
enum lks_code lks_bmc_update_pulled(const struct lks_bmc_update *u, const char *ca,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* No other process updates this endpoint from here while `u` lives, under any of its names. REFUSED
 * where one does, or where the outcome of the last update is unknown. */
enum lks_code lks_bmc_update_lock(struct lks_bmc_update *u, struct lks_err *err) LKS_MUST_CHECK;

/* What was begun before, if it has not ended: `saved` and what goes with it. REFUSED where that is
 * another update than the one that is asked for. */
enum lks_code lks_bmc_update_load(struct lks_bmc_update *u, struct lks_err *err) LKS_MUST_CHECK;

/* For an update that was begun with a bundle that cannot be read any more: what was asked for, from
 * its record. It goes on as long as nothing has to be sent. False: there is no such update. */
bool lks_bmc_update_recall(struct lks_bmc_update *u, struct lks_str component);

/* Whether the bundle said, when it was staged, that it is irreversible: of any of the names of the
 * component. */
bool lks_bmc_update_staged_one_way(const struct lks_bmc_update *u, struct lks_str name);

/* How it ended. Texts are copies. */
struct lks_bmc_result {
    enum lks_bmc_outcome outcome; /* OPEN: it goes on when it is started again */
    char found[LKS_BMC_VERSION_MAX + 1];
    char via[LKS_BMC_NAME_MAX + 1], task[LKS_HTTP_PATH_MAX + 1];
    char text[LKS_ERR_MSG_MAX];
    uint32_t uploads;
    struct lks_err why; /* OPEN: what stopped it */
};

/* Begin, or go on from the checkpoint, until it ends or is interrupted. What is kept of it follows
 * what came of it. It fails where it could not even begin. */
enum lks_code lks_bmc_update_run(struct lks_cli *cli, struct lks_bmc_update *u,
                                 struct lks_bmc_result *out, struct lks_err *err) LKS_MUST_CHECK;

/* What was installed last on a component, and what that took the place of: members "version",
 * "digest", "folder", "file", and the same of what is "before" and "staged"; NULL: nothing is
 * known.
 */
const struct lks_doc *lks_bmc_update_prior(const struct lks_bmc_update *u, struct lks_docs *docs);

#endif
