/* Events about stacks and keys: published, promoted, retired, pinned. */
#ifndef LKS_CORE_EVENT_REGISTRY_H
#define LKS_CORE_EVENT_REGISTRY_H

#include "base/str.h"
#include "base/time.h"
#include "model/record/record_words.h"

#include <stdbool.h>

struct lks_event_publish {
    const struct lks_stack *stack;
    struct lks_str manifest; /* digest of its file, a blob of the same batch */
    struct lks_str envelope; /* the envelope itself, as text */
};

struct lks_event_step {
    struct lks_str digest, evidence;
    enum lks_stack_step to;
};

struct lks_event_key {
    struct lks_str name, key;
};

#endif
