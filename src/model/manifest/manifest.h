/*
 * A manifest file: any number of documents, each a Stack, a HardwareClass or a Fleet, in YAML or in
 * JSON. Reading one checks everything that can be checked without a machine; the message of a
 * failure is one line with the place, what is wrong and what to do.
 */
#ifndef LKS_MODEL_MANIFEST_H
#define LKS_MODEL_MANIFEST_H

#include "model/manifest/fleet.h"
#include "model/manifest/stack.h"

#define LKS_MANIFEST_DOCS_MAX 4096

struct lks_manifest {
    struct lks_docs docs; /* owns all that follows */
    struct lks_stack *stacks;
    size_t stack_count;
    struct lks_class *classes;
    size_t class_count;
    struct lks_fleet *fleets;
    size_t fleet_count;
};

/* `source` is how messages call the file. `library`, which may be NULL, is a manifest whose classes
 * are known here too. On success the caller owes lks_manifest_fini(); `library` and `facts` must
 * outlive `out`. */
enum lks_code lks_manifest_parse(const char *source, struct lks_str text,
                                 const struct lks_facts *facts, const struct lks_manifest *library,
                                 struct lks_manifest *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same, with all that is wrong with the file in `faults`: at least one if it fails. `err` is
 * the first. What may only follow from another failure is left out. */
enum lks_code lks_manifest_lint(const char *source, struct lks_str text,
                                const struct lks_facts *facts, const struct lks_manifest *library,
                                struct lks_doc_faults *faults, struct lks_manifest *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The same for bytes that were accepted before, by this program or one of another time, and are in
 * the journal: what can be read is taken. Rules about what a good manifest says are for new ones,
 * and so is what tables of facts say of its words by now. */
enum lks_code lks_manifest_parse_kept(const char *source, struct lks_str text,
                                      const struct lks_facts *facts, struct lks_manifest *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

void lks_manifest_fini(struct lks_manifest *manifest);

/* The kinds there are, for the reference pages; NULL behind the last. */
const struct lks_form *lks_manifest_kind(size_t index);

#endif
