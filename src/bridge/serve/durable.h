/*
 * What the bridge must not forget: the highest epoch that a controller wrote with, and the ceiling
 * of revisions (bridge/view/revision.h). One small file in the state folder, replaced as a whole,
 * and a lock on the folder: two bridges with one folder would each forget what the other saw.
 */
#ifndef LKS_BRIDGE_DURABLE_H
#define LKS_BRIDGE_DURABLE_H

#include "base/err.h"

#include <limits.h>
#include <stdint.h>

struct lks_durable {
    char path[PATH_MAX];
    int lock;
    uint64_t epoch, ceiling;
};

/* Make the folder where it is missing, lock it and read what was kept. REFUSED: another bridge has
 * it. A file that is not one of ours is INVALID and stays. */
enum lks_code lks_durable_open(const char *folder, struct lks_durable *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_durable_close(struct lks_durable *d);

/* When this returns, a restart finds both. On failure nothing is changed. */
enum lks_code lks_durable_keep(struct lks_durable *d, uint64_t epoch, uint64_t ceiling,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
