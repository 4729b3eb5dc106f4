/*
 * What a mutating webhook adds to a pod, as a JSON patch (RFC 6902). Nothing of the pod is replaced
 * or removed, and what it has already is not added again: the patch of a patched pod is empty.
 */
#ifndef LKS_CODEC_POD_PATCH_H
#define LKS_CODEC_POD_PATCH_H

#include "base/buf.h"
#include "codec/kubernetes/pod.h"

#define LKS_POD_PATCH_MAX ((size_t)1 << 20)

struct lks_pod_patch {
    bool conform; /* nodes that conform: node affinity, in every term that the pod has */
    bool gang;    /* one digest for its gang: pod affinity; without labels of a gang nothing */
    const struct lks_doc *env; /* a map: variables for containers that use GPUs; or NULL */
};

/* Append the patch, or nothing where the pod has all of it. */
enum lks_code lks_pod_patch_write(const struct lks_pod *pod, const struct lks_pod_patch *want,
                                  struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether the environment of a container can be read here: all of it is in its `env`. Variables of
 * `envFrom` would yield to those of `env`, so nothing is added beside them. */
bool lks_pod_patch_env_is_known(const struct lks_pod_container *container);

#endif
