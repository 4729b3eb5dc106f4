/* What libraries an image brings: by what people and bills of materials put into the catalogue, by
 * NVIDIA's published tables, by what agents saw in its layers, or not known. */
#ifndef LKS_CORE_IMAGES_H
#define LKS_CORE_IMAGES_H

#include "model/facts/facts.h"

struct lks_state;
struct lks_state_image;

#define LKS_IMAGE_REF_MAX 512 /* bytes of a reference; longer ones are not known */

/* Sources of entries that agents made, and who made them: one node, or several that agree. */
#define LKS_IMAGE_LAYERS  "layers"
#define LKS_IMAGE_DIFFERS "layers, nodes differ"
#define LKS_IMAGE_NODE    "node:"
#define LKS_IMAGE_NODES   "nodes"

struct lks_image_found {
    bool known;
    struct lks_str nccl, rccl, cudnn, cuda; /* empty: it does not say */
    struct lks_str source, detail;          /* "catalogue" and "sbom", "NGC" and "25.01", "layers"
                                               and "node:n1"; not known: "layers, nodes differ" */
};

/* Whether agents made this entry, and whether they saw different libraries under its name. */
bool lks_image_of_layers(const struct lks_state *s, const struct lks_state_image *image);
bool lks_image_differs(const struct lks_state *s, const struct lks_state_image *image);

/* `ref` as jobs write it: registry/name:tag, or with @sha256:... A reference without a registry, a
 * Slurm-style docker:// or registry#name, and a digest that the catalogue has are all understood.
 * Where there is a digest the catalogue is asked for it alone: a tag may have moved. Texts live as
 * long as the state and the facts. */
void lks_image_find(const struct lks_state *s, const struct lks_facts *facts, struct lks_str ref,
                    struct lks_image_found *out);

/* Whether a library of this version is what is pinned: the same, or inside the tested window where
 * that is not empty. `coarse`: of either perhaps only the first numbers are known. */
bool lks_image_holds(struct lks_str pinned, struct lks_str window, struct lks_str version,
                     bool coarse);

/* Whether two versions may be one build: equal, and so what is behind "+" if both have it. */
bool lks_image_same(struct lks_str a, struct lks_str b);

#endif
