/*
 * One BMC with its socket: requests go to the model or to the recorded tree, answers leave when the
 * model says, and what it wants fetched is fetched. Everything happens on the loop's thread.
 */
#ifndef LKS_BMCD_BOX_H
#define LKS_BMCD_BOX_H

#include "base/process/log.h"
#include "lab/bmcd/certs.h"
#include "lab/bmcd/faults.h"
#include "lab/bmcd/layout.h"

#include <uv.h>

struct lks_json_writer;

#define LKS_BOX_UPLOADS_MAX ((size_t)4 << 30) /* bytes of uploads that all hold at one time */

/* What all of them share; outlives them. */
struct lks_box_site {
    uv_loop_t *loop;
    struct lks_layout *layout;
    struct lks_bmcsim_options model; /* user, password, version, versions, seed, speed */
    const struct lks_faults *faults; /* drawn for each model */
    const char *tree;                /* a recorded tree in place of models, or NULL */
    const char *pull_ca;
    struct lks_certs certs, strangers; /* the second has certified those that changed */
    struct lks_certs_pair pair;        /* the second has certified those that changed */
    struct lks_log log;
    lks_ms began_wall; /* and on the loop's clock, in nanoseconds: */
    uint64_t began;
    size_t uploads; /* bytes held */
};

/* Milliseconds since 1970 on a clock that never decreases. */
lks_ms lks_box_now(const struct lks_box_site *site);

struct lks_box;

/* The `i`th of the layout. The first to listen finds the port, where none was asked for. */
enum lks_code lks_box_new(struct lks_box_site *site, size_t i, struct lks_box **out,
                          struct lks_err *err) LKS_MUST_CHECK;

/* End its connections. The loop must run until nothing is left, and then it can be freed. */
void lks_box_close(struct lks_box *b);
void lks_box_free(struct lks_box *b);

const struct lks_layout_bmc *lks_box_layout(const struct lks_box *b);

/* False where there is a recorded tree in the place of a model. */
bool lks_box_fault(struct lks_box *b, const struct lks_bmcsim_fault_set *fault);

/* The truth about it, as one element of a list. */
void lks_box_truth(struct lks_box *b, struct lks_json_writer *w);

#endif
