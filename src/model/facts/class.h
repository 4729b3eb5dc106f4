/* A hardware class: what a node of this kind is made of, and so what an inventory must find in it.
 * `kind: HardwareClass` in a manifest; the common ones are built in (data/classes.yaml). */
#ifndef LKS_MODEL_CLASS_H
#define LKS_MODEL_CLASS_H

#include "model/facts/facts.h"
#include "model/schema/schema.h"

struct lks_class {
    struct lks_str name; /* all texts live in the arena of the documents it was read from */
    enum lks_vendor vendor;
    struct lks_str gpu; /* product or family, as in gpus.csv */
    int64_t gpus;
    int64_t nvlinks_up; /* per GPU */
    int64_t nvswitches; /* in the node itself; those of a rack's switch trays are assets */
    int64_t nics, nic_gbps;
    int64_t nvmes;
    int64_t memory_gib;
    int64_t rails;
    int64_t nvlink_domain; /* GPUs that share one NVLink fabric; more than `gpus` spans nodes */
    bool sharp;
};

extern const struct lks_form lks_class_form;

/* From a document that lks_schema_check() accepted for lks_class_form. */
enum lks_code lks_class_parse(const struct lks_docs *docs, const struct lks_doc *doc,
                              struct lks_class *out, struct lks_err *err) LKS_MUST_CHECK;

/* True when the fabric needs a manager: it has switches of its own. */
static inline bool lks_class_has_nvswitch(const struct lks_class *class)
{
    return class->vendor == LKS_VENDOR_NVIDIA && class->nvswitches > 0;
}

#endif
