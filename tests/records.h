/* Records from text, as lks_record_json() prints them: {"kind":"liveness","node":"n1", ...}. */
#ifndef LKS_TESTS_RECORDS_H
#define LKS_TESTS_RECORDS_H

#include "codec/format/docs.h"
#include "model/record/record.h"

/* Fields that are not named are zero. Texts of `out` are views of `docs`, which is initialised here
 * and owed lks_docs_fini(). False, and a failed check with the cause, for a text that is no record.
 */
bool lks_test_record_parse(struct lks_str json, struct lks_docs *docs, struct lks_record *out);

/* Whether the field of a record is neither empty nor zero nor false. */
bool lks_test_record_has(const struct lks_record *r, const struct lks_record_field *field);

/* The number of a WORD's name. */
uint64_t lks_test_record_word(const struct lks_record *r, const struct lks_record_field *field);

#endif
