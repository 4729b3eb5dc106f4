/*
 * What every executor does before it begins, and at its end.
 *
 * It is started by the root helper as EXECUTORS/NAME ORDER ARTIFACT..., with digests as arguments
 * and the agent's folder of artifacts in LOCKSTEP_DEPOT. It believes none of what lies there:
 * everything is copied into a folder of root's own, where it has to have its digest, and only the
 * copy is looked at. The order (model/manifest/order.h) has to be for this executor and may name no
 * other artifacts than the command did, since those are what was signed.
 *
 * One executor runs at a time: it holds a lock for as long as it lives. One that was killed leaves
 * copies behind, which the next one uses or removes.
 *
 * The one line it prints is what people read; exit status 0 is yes. It says yes only for what it
 * read again and found as ordered, and that something was so already is a yes, too.
 */
#ifndef LKS_EXECUTORS_EXECUTOR_H
#define LKS_EXECUTORS_EXECUTOR_H

#include "drivers/depot/depot_files.h"
#include "model/manifest/order.h"

#include <limits.h>

#define LKS_EXECUTOR_FOLDER   "/var/lib/lockstep-executors"
#define LKS_EXECUTOR_VARIABLE "LOCKSTEP_DEPOT"
#define LKS_EXECUTOR_SAID_MAX 200 /* bytes of the line; the helper takes no more */
#define LKS_EXECUTOR_LOCK_MS  60000

struct lks_job {
    struct lks_docs docs; /* of the order */
    struct lks_order order;
    struct lks_depot own;      /* copies by their digests */
    char order_path[PATH_MAX]; /* the order as a file, */
    char files[PATH_MAX / 2];  /* and the folder that has its artifacts by their names */
};

/* Carry the order out; `said` gets the line for people. */
typedef enum lks_code lks_executor_fn(struct lks_job *job, struct lks_buf *said,
                                      struct lks_err *err);

/* All of main(): the exit status. */
int lks_executor_main(int argc, char **argv, enum lks_order_kind kind, lks_executor_fn *run);

/* The same for an executor that takes no order. */
int lks_executor_plain(int argc, char **argv, lks_executor_fn *run);

/* The lock that this process holds, for tools that are not to stop half-way; 0: none. */
int lks_executor_lock(void);

/* The path of an item's file. */
const char *lks_executor_job_file(const struct lks_job *job, const struct lks_order_item *item,
                                  char out[PATH_MAX]);

/* A view as a text with an end, cut to the size. */
const char *lks_executor_job_text(struct lks_str s, char *out, size_t size);

#endif
