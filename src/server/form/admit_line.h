/* A question as it comes on the admission socket: a line that is one JSON object. */
#ifndef LKS_SERVER_ADMIT_LINE_H
#define LKS_SERVER_ADMIT_LINE_H

#include "codec/format/docs.h"

#define LKS_ADMIT_LINE_MAX ((size_t)1 << 20) /* bytes, its end not counted */

/* Read `line` into `docs`, which is made here and owed lks_docs_fini() whatever comes of it. On
 * success `ask` is the struct lks_ask_admit that POST /v1/admit has of its body. */
enum lks_code lks_admit_line(struct lks_str line, struct lks_docs *docs, const void **ask,
                             struct lks_err *err) LKS_MUST_CHECK;

#endif
