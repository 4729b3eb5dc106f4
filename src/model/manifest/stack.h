/*
 * The golden stack: which version of everything a node of some hardware class runs, pinned together
 * and hashed.
 *
 * Two manifests that mean the same have the same digest, however they are spelled; see
 * lks_schema_identity(). A stack that parses is complete and names nothing twice; whether its parts
 * can work together is a question for core/check/check.h.
 */
#ifndef LKS_MODEL_STACK_H
#define LKS_MODEL_STACK_H

#include "codec/format/digest.h"
#include "codec/notation/version.h"
#include "model/facts/class.h"
#include "model/facts/facts.h"

#define LKS_STACK_CLASSES_MAX    16
#define LKS_STACK_COMPONENTS_MAX 512
#define LKS_STACK_ATTRIBUTES_MAX 4096 /* of a BIOS, say */

/* A pinned thing: software by its name, firmware by "firmware/CLASS" with an optional part. All
 * texts live in the documents the stack was read from. */
struct lks_component {
    struct lks_str name;
    struct lks_str label;   /* the name, and for firmware its part and side: "firmware/psu[PN a]" */
    struct lks_str version; /* empty when absent */
    struct lks_str absent;  /* why it is deliberately not there */
    struct lks_str scope, owner;
    struct lks_str modules; /* driver: open, proprietary or empty */
    struct lks_str part, side;
    struct lks_str transport, banks, revert; /* firmware */
    struct lks_str window;                   /* tested range, empty when pinned exactly */
    const struct lks_doc *doc;
};

struct lks_stack {
    struct lks_str name, version;
    enum lks_vendor vendor;
    const struct lks_class *classes[LKS_STACK_CLASSES_MAX];
    size_t class_count;
    struct lks_component *components; /* in the documents' arena, sorted by name, part and side */
    size_t component_count;
    const struct lks_doc *settings; /* or NULL */
    const struct lks_doc *tuning;   /* or NULL */
    const struct lks_doc *doc;
    char digest[LKS_DIGEST_SIZE];
};

extern const struct lks_form lks_stack_form;

/* Where classes named by a stack are looked up: those written beside it, then the built-in ones. */
struct lks_class_lookup {
    const struct lks_class *beside; /* the last of a name counts: a file's own follow a library's */
    size_t beside_count;
    const struct lks_facts *facts;
};

const struct lks_class *lks_stack_class_find(const struct lks_class_lookup *lookup,
                                             struct lks_str name);

/* The complaint that `at` names no class that can be found. */
enum lks_code lks_stack_class_fail(const struct lks_class_lookup *lookup,
                                   const struct lks_docs *docs, const struct lks_doc *at,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* From a document that lks_schema_check() accepted for lks_stack_form. `docs` keeps what `out`
 * points to. */
enum lks_code lks_stack_parse(struct lks_docs *docs, const struct lks_doc *doc,
                              const struct lks_class_lookup *lookup, struct lks_stack *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The bytes the digest is taken of. */
enum lks_code lks_stack_canonical(const struct lks_stack *stack, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The components that a stack of `vendor` may not leave out, one by one, without NVSwitches in its
 * hardware or with them; NULL behind the last. */
const char *lks_stack_required(enum lks_vendor vendor, bool nvswitch, size_t index);

/* By name, part and side: the order of a stack's components. */
int lks_stack_component_cmp(const struct lks_component *a, const struct lks_component *b);

/* The first component called `name` that is not absent, or NULL. */
const struct lks_component *lks_stack_find(const struct lks_stack *stack, const char *name);

/* Its version, or an empty view. */
struct lks_str lks_stack_version(const struct lks_stack *stack, const char *name);

/* Whether it is for this class of hardware. */
bool lks_stack_is_for(const struct lks_stack *stack, struct lks_str class);

/* A setting by its dotted path ("mig.mode"), or NULL. */
const struct lks_doc *lks_stack_setting(const struct lks_stack *stack, const char *path);

#endif
