/* For exposure*.c: the fleet as it was copied. */
#ifndef LKS_CORE_EXPOSURE_PARTS_H
#define LKS_CORE_EXPOSURE_PARTS_H

#include "core/exposure/exposure.h"
#include "core/rows/text.h"

/* All texts are the copy's own. */
struct lks_exposure_basis {
    struct lks_str readings;
    uint32_t gpus;
};

struct lks_exposure_node {
    struct lks_str name;
    uint32_t number, pool; /* as the state has them */
    uint32_t basis, pin;   /* places in `bases` and `pins` */
    bool stray;            /* it differs from what it should run */
};

/* What an intent says of the toolkits that images bring. */
struct lks_exposure_pin {
    lks_text intent;
    struct lks_str cuda, rocm;
};

struct lks_exposure_image {
    struct lks_str ref, nccl, rccl, cudnn, cuda;
};

struct lks_exposure_fleet {
    const struct lks_facts *facts;
    struct lks_arena arena;
    uint32_t next; /* node of the state */
    struct lks_exposure_node *nodes;
    struct lks_exposure_basis *bases;
    struct lks_exposure_pin *pins;
    struct lks_exposure_image *images;
    struct lks_str *pools;
    uint32_t *places; /* by handle of a basis: its place + 1; 0: not copied */
    uint32_t node_count, basis_count, pin_count, image_count, pool_count;
    uint32_t node_room, basis_room, pin_room, image_room, pool_room, place_room;
};

#endif
