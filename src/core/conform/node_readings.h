/*
 * What a tuple says of its node as a whole: whose GPUs it has, and how one reading's values are
 * spread over its devices. For consistency and drafts, which ask the same things of it.
 */
#ifndef LKS_CORE_NODE_H
#define LKS_CORE_NODE_H

#include "base/buf.h"
#include "model/facts/facts.h"
#include "model/tuple/tuple.h"

/* Whose GPUs were found, by their PCI ids, or where those were not read by their names. */
struct lks_node_vendors {
    bool nvidia, amd;
};
struct lks_node_vendors lks_node_vendors(const struct lks_tuple *tuple);

/* Whether a reading is of a GPU. */
bool lks_node_reading_of_gpu(const struct lks_reading *r);

/* The reading called `name` of the device `of`, or NULL. */
const struct lks_reading *lks_node_reading(const struct lks_tuple *tuple, const char *name,
                                           struct lks_str of);

/* Of the readings called `name` the first that was measured: else NULL, or the first there is. */
const struct lks_reading *lks_node_measured(const struct lks_tuple *tuple, struct lks_str name);
const struct lks_reading *lks_node_best(const struct lks_tuple *tuple, struct lks_str name);

/* Whether a package of `component` that has the version `has` holds the version `running`. */
bool lks_node_package_is(const struct lks_facts *facts, struct lks_str component,
                         struct lks_str has, struct lks_str running);

/* Whether one of the packages of `component` holds the version `running`, or none was read. Where
 * packages tell less than the component (CUDA's two numbers) that much has to agree. */
bool lks_node_package_agrees(const struct lks_facts *facts, const struct lks_tuple *tuple,
                             struct lks_str component, struct lks_str running);

/* Whether a copy of a library is in one of the places where an image puts it. */
bool lks_node_copy_of_image(const struct lks_reading *r);

/* Whether a machine with the memory that `r` tells has the `gib` that a class states. Modules are
 * counted exactly; of the kernel's blocks a little is missing, since firmware keeps some. */
bool lks_node_has_memory(const struct lks_reading *r, int64_t gib);

/* Whether the number in `r` was counted in blocks of the kernel, and may be a little less. */
bool lks_node_memory_in_blocks(const struct lks_reading *r);

/* Whether the setting called `name` is off, or a list of nothing, on a device that does not have
 * it: there is no MIG to turn off on a GPU without. */
bool lks_node_setting_lacks_as_off(struct lks_str name);

/* Readings that say the same, from `first` on. */
struct lks_spread_value {
    const struct lks_reading *first;
    size_t count;
};

#define LKS_SPREAD_VALUES_MAX 8

/* The different values of one reading, the commonest first. Those that were not measured are no
 * values, and what is absent is one. */
struct lks_spread {
    struct lks_spread_value values[LKS_SPREAD_VALUES_MAX];
    size_t count;
    size_t more;                          /* readings with values beyond those */
    const struct lks_reading *unmeasured; /* the first, or NULL */
};

/* Of the `count` readings from `readings` on; with `gpus_only` of those of GPUs. */
struct lks_spread lks_node_spread_of(const struct lks_reading *readings, size_t count,
                                     bool gpus_only);

/* "true on 7 GPUs and false on gpu 0000:06:00.0", with `noun` for what there are many of. */
void lks_node_spread_text(const struct lks_spread *spread, const char *noun, struct lks_buf *out);

#endif
