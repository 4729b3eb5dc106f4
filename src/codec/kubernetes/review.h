/*
 * AdmissionReview (admission.k8s.io/v1): the question of an API server about a pod that is created,
 * and the answer.
 */
#ifndef LKS_CODEC_REVIEW_H
#define LKS_CODEC_REVIEW_H

#include "base/buf.h"
#include "codec/kubernetes/pod.h"

#define LKS_REVIEW_BYTES_MAX    ((size_t)3 << 20)   /* of a question */
#define LKS_REVIEW_VALUES_MAX   ((size_t)128 << 10) /* in its JSON */
#define LKS_REVIEW_UID_MAX      64
#define LKS_REVIEW_USER_MAX     512
#define LKS_REVIEW_NAME_MAX     253 /* of a pod, and of a namespace */
#define LKS_REVIEW_MESSAGE_MAX  2048
#define LKS_REVIEW_WARNING_MAX  256 /* bytes; API servers cut longer ones */
#define LKS_REVIEW_WARNINGS_MAX 8

struct lks_review {
    struct lks_docs docs;            /* owns what follows */
    struct lks_str uid, user, space; /* who creates the pod, in which namespace */
    bool dry_run;
    struct lks_pod pod;
};

/* Read a question. INVALID for one that is not about the creation of a pod. On success the caller
 * owes lks_review_fini(). */
enum lks_code lks_review_parse(struct lks_str body, struct lks_review *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_review_fini(struct lks_review *r);

/* An answer. Texts that are too long are cut, and control characters become '?'. */
struct lks_review_answer {
    struct lks_str uid;
    bool allowed;
    struct lks_str message; /* why not */
    struct lks_str warnings[LKS_REVIEW_WARNINGS_MAX];
    size_t warning_count;
    struct lks_str patch; /* a JSON patch; empty: none */
};
void lks_review_answer(const struct lks_review_answer *a, struct lks_buf *out);

#endif
