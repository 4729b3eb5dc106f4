/*
 * What lockstep says of a node in Kubernetes: three labels, an annotation and a condition. The
 * names are here and nowhere else.
 *
 *     label lockstep.dev/digest     0123456789ab    feature lks-0123456789ab
 *     label lockstep.dev/verdict    conform         feature lks-conform
 *     label lockstep.dev/slot       lks0            feature lks0
 *     annotation lockstep.dev/digest                the whole digest
 *     condition LockstepConforms                    the verdict as status and reason, the note as
 *                                                   message
 *
 * The features of `struct lks_sched_truth` are these labels, in their order. A value that lockstep
 * never writes is read as a feature, or a note, that lockstep never asks for: so it differs.
 */
#ifndef LKS_DRIVERS_KUBERNETES_TRUTH_H
#define LKS_DRIVERS_KUBERNETES_TRUTH_H

#include "codec/format/docs.h"
#include "codec/format/json.h"
#include "core/actions/sched.h"

#define LKS_KUBERNETES_TRUTH_MANAGER    "lockstep-truth" /* our name in managedFields */
#define LKS_KUBERNETES_TRUTH_ANNOTATION "lockstep.dev/digest"
#define LKS_KUBERNETES_TRUTH_CONDITION  "LockstepConforms"
#define LKS_KUBERNETES_TRUTH_LABELS     3
#define LKS_KUBERNETES_TRUTH_VALUE      63 /* bytes of a label's value */
#define LKS_KUBERNETES_TRUTH_UID        63

/* What a node shows. */
struct lks_kubernetes_truth {
    struct lks_sched_truth is;
    bool labelled[LKS_KUBERNETES_TRUTH_LABELS], annotated, conditioned;
    char uid[LKS_KUBERNETES_TRUTH_UID + 1]; /* of the node: another one has its name later */
    char status[8];                         /* of the condition, */
    char since[LKS_TIME_TEXT_SIZE];         /* and since when it has it; "": it does not say */
};

/* Parts of a node: the metadata, then each of its conditions. Zeroes before. */
void lks_kubernetes_truth_metadata(const struct lks_doc *metadata,
                                   struct lks_kubernetes_truth *out);
void lks_kubernetes_truth_condition(const struct lks_doc *condition,
                                    struct lks_kubernetes_truth *out);

/* Whether a label or the annotation is there that the truth does not have. */
bool lks_kubernetes_truth_extra(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth);

/* Whether labels and annotation are those of the truth; and the condition as well. */
bool lks_kubernetes_truth_labelled(const struct lks_kubernetes_truth *shown,
                                   const struct lks_sched_truth *truth);
bool lks_kubernetes_truth_shown(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth);

/* Members of the metadata of a patch: the labels and the annotation of the truth; or null for each
 * that is there and that the truth does not have. */
void lks_kubernetes_truth_write(const struct lks_sched_truth *truth, struct lks_json_writer *w);
void lks_kubernetes_truth_clear(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth, struct lks_json_writer *w);

/* The condition of the truth as an element of a list. Its time stays where its status does. */
void lks_kubernetes_truth_write_condition(const struct lks_kubernetes_truth *shown,
                                          const struct lks_sched_truth *truth, lks_ms now,
                                          struct lks_json_writer *w);

#endif
