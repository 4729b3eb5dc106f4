/*
 * JSON as management controllers send it: numbers with fractions or beyond 2^53, names twice in one
 * object, raw control bytes and broken UTF-8 in strings, a byte order mark, blanks or zero bytes
 * behind the end. None of that may cost an inventory, so all of it is read: such numbers stay the
 * text they were, of equal names the first counts, broken bytes become question marks.
 *
 * What is cut off, or is not JSON at all, is refused. Size, depth and memory are bounded.
 */
#ifndef LKS_DRIVERS_BMC_JSON_H
#define LKS_DRIVERS_BMC_JSON_H

#include "codec/format/docs.h"

/* Add the document to `docs`, which was initialised. On failure `docs` is only good for
 * lks_docs_fini(). */
enum lks_code lks_bmc_json_parse(struct lks_str text, struct lks_docs *docs,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The member that a path of names leads to, "Status/Health", or NULL. Names with a slash in them
 * cannot be reached so. */
const struct lks_doc *lks_bmc_json_at(const struct lks_doc *doc, const char *path);

/* Its text, trimmed; empty where it is missing, null or no text. */
struct lks_str lks_bmc_json_text(const struct lks_doc *doc, const char *path);

/* The resource a member links to: its "@odata.id", where that is a path; else empty. */
struct lks_str lks_bmc_json_link(const struct lks_doc *doc, const char *path);

/* A path that a member holds itself, as push addresses are written. Scheme and host are cut off; a
 * value that then is no path, or none that can be asked for, gives an empty view. */
struct lks_str lks_bmc_json_path(const struct lks_doc *doc, const char *path);

/* True where the member is the truth value `true`. */
bool lks_bmc_json_true(const struct lks_doc *doc, const char *path);

/* A whole number that is not negative, or `otherwise`. */
uint64_t lks_bmc_json_number(const struct lks_doc *doc, const char *path, uint64_t otherwise);

#endif
