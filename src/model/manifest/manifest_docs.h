/* The documents of a manifest file, each checked against the table of its kind. What they refer to
 * is not looked up: lks_manifest_parse() does that. */
#ifndef LKS_MODEL_MANIFEST_DOCS_H
#define LKS_MODEL_MANIFEST_DOCS_H

#include "model/schema/schema.h"

/* `kept`: as in lks_manifest_parse_kept(). The caller owes lks_docs_fini(). */
enum lks_code lks_manifest_docs(const char *source, struct lks_str text, bool kept,
                                struct lks_docs *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same, with failures in `faults`, which may be NULL. OK if they could all be noted. */
enum lks_code lks_manifest_docs_noting(const char *source, struct lks_str text, bool kept,
                                       struct lks_doc_faults *faults, struct lks_docs *out,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* The table of the kind that `doc` says it is. */
enum lks_code lks_manifest_docs_kind(const struct lks_docs *docs, const struct lks_doc *doc,
                                     const struct lks_form **out,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
