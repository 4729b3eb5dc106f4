/*
 * A Pod of Kubernetes, as far as lockstep reads it: views into the document of an API server.
 *
 * A pod uses GPUs if a container requests a resource of the domains nvidia.com/ and amd.com/ (whole
 * GPUs, MIG devices, partitions), or if the pod has a ResourceClaim of any device.
 */
#ifndef LKS_CODEC_POD_H
#define LKS_CODEC_POD_H

#include "codec/format/docs.h"

#define LKS_POD_CONTAINERS_MAX 256 /* with init containers */
#define LKS_POD_CHOICES_MAX    64  /* values of one key that a pod selects nodes by */

/* Labels that lockstep publishes on nodes, and the one that names a pod's pool. */
#define LKS_POD_DIGEST  "lockstep.dev/digest"
#define LKS_POD_VERDICT "lockstep.dev/verdict"
#define LKS_POD_POOL    "lockstep.dev/pool"
#define LKS_POD_HOST    "kubernetes.io/hostname"

struct lks_pod_container {
    const struct lks_doc *doc;
    struct lks_str name, image;
    size_t at; /* place in its list */
    bool init; /* in spec.initContainers */
    bool gpus; /* it uses GPUs of the pod */
};

/* The pods that a pod belongs to, which run together or not at all. */
#define LKS_POD_GANG_LABELS 2
struct lks_pod_gang {
    const char *kind;    /* "Job"; NULL: it belongs to none */
    struct lks_str name; /* of the owner, as its label or annotation has it */
    struct lks_str keys[LKS_POD_GANG_LABELS], values[LKS_POD_GANG_LABELS]; /* that all have */
    size_t labels; /* of those; 0: an annotation names it, and no selector finds its pods */
};

struct lks_pod {
    const struct lks_doc *metadata, *spec;
    struct lks_str name; /* or what its name will begin with */
    struct lks_pod_container containers[LKS_POD_CONTAINERS_MAX];
    size_t container_count;
    bool gpus;    /* it uses GPUs */
    bool of_node; /* it belongs to its node: of a DaemonSet, or static */
    struct lks_pod_gang gang;
};

/* Read a pod. INVALID where it has no metadata, spec or containers, LIMIT where it has too many.
 * Views live as long as the document. */
enum lks_code lks_pod_read(const struct lks_docs *docs, const struct lks_doc *doc,
                           struct lks_pod *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether a resource of that name is of GPUs. */
bool lks_pod_is_gpu(struct lks_str resource);

/* Whether a pod uses GPUs; `status` may be NULL. */
bool lks_pod_uses_gpus(const struct lks_doc *spec, const struct lks_doc *status);

/* Whether a pod belongs to its node, and is there for as long as the node is: of a DaemonSet, or
 * started by the kubelet from a file. */
bool lks_pod_is_of_node(const struct lks_doc *metadata);

/* What a pod selects its nodes by, of one key: each of its nodes has one of the values. */
struct lks_pod_choice {
    struct lks_str values[LKS_POD_CHOICES_MAX];
    size_t count; /* 0: any node, or more values than are read */
};

/* By a label: spec.nodeSelector, and the required node affinity if each of its terms has the key
 * with the operator In. */
void lks_pod_choose(const struct lks_pod *pod, const char *label, struct lks_pod_choice *out);

/* By name: spec.nodeName (then true), the label kubernetes.io/hostname, or the field
 * metadata.name. */
bool lks_pod_choose_nodes(const struct lks_pod *pod, struct lks_pod_choice *out);

/* The terms of the required node affinity; NULL: there is none. */
const struct lks_doc *lks_pod_terms(const struct lks_pod *pod);

/* Whether a term requires nothing: Kubernetes lets it match no node. */
bool lks_pod_term_is_empty(const struct lks_doc *term);

/* The text of a label or of an annotation; empty: there is none. */
struct lks_str lks_pod_label(const struct lks_pod *pod, const char *key);
struct lks_str lks_pod_annotation(const struct lks_pod *pod, const char *key);

/* The next element of a list: all but maps are left out. NULL: it was the last one. */
const struct lks_doc *lks_pod_next(const struct lks_doc *list, const struct lks_doc *last);

#endif
