/* The registry: stacks, images, artifacts, keys, bundles. */
#ifndef LKS_ROWS_REGISTRY_H
#define LKS_ROWS_REGISTRY_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

#define LKS_STATE_STACKS_MAX    10000
#define LKS_STATE_IMAGES_MAX    100000
#define LKS_STATE_ARTIFACTS_MAX 100000
#define LKS_STATE_KEYS_MAX      1000
#define LKS_STATE_BUNDLES_MAX   10000

struct lks_state_stack {
    lks_text digest, name, manifest, envelope, artifacts, by, reason, minters;
    enum lks_stack_step step;
    lks_ms published, stepped;
    lks_text evidence[LKS_STEP_COUNT], evidence_by[LKS_STEP_COUNT];
};

struct lks_state_image {
    lks_text ref, digest, nccl, rccl, cudnn, cuda, source, by;
    lks_ms added;
};

struct lks_state_artifact {
    lks_text digest, name, by;
    uint64_t size;
    lks_ms added;
};

struct lks_state_key {
    lks_text name, key, by, reason;
    lks_ms pinned;
};

struct lks_state_bundle {
    lks_text digest, name, version, manifest, signer, key, artifacts, by;
    bool site;
    lks_ms added;
    lks_ms revoked; /* 0: it is not */
    lks_text revoked_by, revoked_reason;
};

#endif
