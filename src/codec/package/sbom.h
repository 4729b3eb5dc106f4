/*
 * What GPU libraries an image brings, by its bill of materials: CycloneDX or SPDX 2, as JSON.
 *
 * Only the packages that carry NCCL, RCCL, cuDNN or the CUDA run time are looked at, by their names
 * in distributions, wheels and conda, and the image the document is about. Versions are what the
 * makers number: without epoch, revision and "+cuda12.8". CUDA's run time numbers itself apart from
 * the toolkit, so that of it only the first two numbers count, as the toolkit's.
 *
 * A bill may list one library twice in different versions. Which one a job would load it does not
 * say, so both are returned, and it is for the caller to choose or refuse.
 */
#ifndef LKS_CODEC_SBOM_H
#define LKS_CODEC_SBOM_H

#include "base/arena.h"

#define LKS_SBOM_BYTES_MAX    ((size_t)64 << 20)
#define LKS_SBOM_PACKAGES_MAX 1000000
#define LKS_SBOM_DEPTH_MAX    16  /* components in components */
#define LKS_SBOM_NAME_MAX     512 /* bytes of an image's name */

enum lks_sbom_library {
    LKS_SBOM_NCCL,
    LKS_SBOM_RCCL,
    LKS_SBOM_CUDNN,
    LKS_SBOM_CUDA,
    LKS_SBOM_LIBRARY_COUNT
};
extern const char *const lks_sbom_words[]; /* "nccl", ...; ends with NULL */

/* Empty where the bill does not list it. `other` is a second version that is not the first one. */
struct lks_sbom_found {
    struct lks_str version, package;
    struct lks_str other, other_package;
};

/* Texts live in the arena. */
struct lks_sbom {
    struct lks_arena arena;
    struct lks_str format; /* "CycloneDX 1.5", "SPDX-2.3" */
    struct lks_str name;   /* the image, as the document calls it; empty: it does not say */
    struct lks_str digest; /* its digest, "sha256:..."; empty: it does not say */
    size_t packages;       /* that it lists */
    struct lks_sbom_found libraries[LKS_SBOM_LIBRARY_COUNT];
};

/* `source` is how messages call the document. INVALID for what is neither, LIMIT for what is too
 * large. On success the caller owes lks_sbom_fini(). */
enum lks_code lks_sbom_parse(const char *source, struct lks_str text, struct lks_sbom *out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_sbom_fini(struct lks_sbom *sbom);

#endif
