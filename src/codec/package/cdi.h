/*
 * Which driver a CDI specification was made for.
 *
 * A Container Device Interface specification lists what a container gets with a device. NVIDIA's
 * lists the driver's libraries by their full names, and these end in the driver's version:
 * libcuda.so.580.95.05. One that was written before an upgrade still names the old ones.
 *
 * Specifications are YAML or JSON by many authors, so this reads them as their authors' tools do: a
 * plain 0.6.0 is text here, unlike in our own manifests.
 */
#ifndef LKS_CODEC_CDI_H
#define LKS_CODEC_CDI_H

#include "base/err.h"
#include "base/str.h"

#define LKS_CDI_BYTES_MAX    ((size_t)4 << 20)
#define LKS_CDI_DEPTH_MAX    32
#define LKS_CDI_VERSIONS_MAX 8

struct lks_cdi {
    char kind[128];                          /* "nvidia.com/gpu" */
    char versions[LKS_CDI_VERSIONS_MAX][64]; /* all different, in order of appearance */
    size_t count;                            /* 0: it mounts no library of the NVIDIA driver */
};

/* Parse one specification. What is not one, uses aliases or names more than
 * LKS_CDI_VERSIONS_MAX drivers is refused. */
enum lks_code lks_cdi_parse(struct lks_str text, struct lks_cdi *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
