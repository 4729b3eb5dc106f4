/*
 * What the package managers share: the files of an order as packages, whether the machine has them
 * as ordered, and the order of work. A manager is its three functions.
 */
#ifndef LKS_EXECUTORS_PACKAGES_H
#define LKS_EXECUTORS_PACKAGES_H

#include "executors/executor.h"

#include <limits.h>

#define LKS_PACKAGE_NAME_SIZE 512

struct lks_package {
    const struct lks_order_item *item;
    bool goes;
    char path[PATH_MAX];                 /* of the file */
    char name[LKS_PACKAGE_NAME_SIZE];    /* as the manager calls it */
    char version[LKS_PACKAGE_NAME_SIZE]; /* of the file */
    char found[LKS_PACKAGE_NAME_SIZE];   /* what the machine has, for people */
    bool so;                             /* installed and held as ordered, or gone */
};

struct lks_packages {
    struct lks_package *list; /* owned */
    size_t count;
};

struct lks_packages_ops {
    /* Set the name and the version of a file; those before it are in the list. */
    enum lks_code (*ask)(const struct lks_packages *w, struct lks_package *p, struct lks_err *err);
    /* Set `so` and `found` of each. */
    enum lks_code (*look)(struct lks_packages *w, struct lks_err *err);
    /* Make it so, and hold it there. */
    enum lks_code (*change)(struct lks_packages *w, struct lks_err *err);
    /* What to add to the report; or NULL. */
    const char *(*remark)(void);
};

enum lks_code lks_packages_run(const struct lks_packages_ops *ops, const struct lks_job *job,
                               struct lks_buf *said, struct lks_err *err) LKS_MUST_CHECK;

#endif
