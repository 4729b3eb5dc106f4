/*
 * YAML in, documents out, and back.
 *
 * A strict reading: a scalar that YAML 1.1 and YAML 1.2 understand differently (on, no, 1:30, 0o7,
 * 010, 2026-01-01, 12.10) is refused unless it stands in quotes; so are duplicate keys, anchors,
 * aliases, tags, merge keys and keys that are not plain text. Every failure reads
 * "source:line:column: what is wrong".
 */
#ifndef LKS_CODEC_YAML_H
#define LKS_CODEC_YAML_H

#include "base/buf.h"
#include "codec/format/docs.h"

/* Add the documents of `text` to `docs`, which was initialised. On failure `docs` may hold a part
 * and is only good for lks_docs_fini(). */
enum lks_code lks_yaml_parse(struct lks_str text, struct lks_docs *docs,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Append `doc` as a YAML document in block style. Text that any reader of YAML could take for
 * something else is in quotes, so that YAML 1.1 and YAML 1.2 read the same document. yaml_write.c.
 */
enum lks_code lks_yaml_write(const struct lks_doc *doc, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* The same, and text that was in quotes is in quotes: manifests ask for them around versions. */
enum lks_code lks_yaml_write_quoted(const struct lks_doc *doc, struct lks_buf *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Whether every reader takes `s` for text where it is not in quotes; of its meaning alone, not of
 * characters that have a meaning in YAML. */
bool lks_yaml_is_text(struct lks_str s);

#endif
