/*
 * YAML in, documents out.
 *
 * A strict reading: a scalar that YAML 1.1 and YAML 1.2 understand differently (on, no, 1:30, 0o7,
 * 010, 2026-01-01, 12.10) is refused unless it stands in quotes; so are duplicate keys, anchors,
 * aliases, tags, merge keys and keys that are not plain text. Every failure reads
 * "source:line:column: what is wrong".
 */
#ifndef LKS_CODEC_YAML_H
#define LKS_CODEC_YAML_H

#include "codec/format/docs.h"

/* Add the documents of `text` to `docs`, which was initialised. On failure `docs` may hold a part
 * and is only good for lks_docs_fini(). */
enum lks_code lks_yaml_parse(struct lks_str text, struct lks_docs *docs,
                             struct lks_err *err) LKS_MUST_CHECK;

#endif
