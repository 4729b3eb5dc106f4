/* A range of an artifact, as an agent asks a depot for it and a controller another one. It counts
 * once all of the artifact has the digest (drivers/depot/depot_files.h). */
#ifndef LKS_DRIVERS_HTTP_ARTIFACT_H
#define LKS_DRIVERS_HTTP_ARTIFACT_H

#include "codec/format/byterange.h"
#include "drivers/http/client.h"

/* Up to `len` bytes from `from` on, as the body of `out`; which they are, and the size of the whole
 * as the server tells it. `url` is for messages. NOT_FOUND: it does not have it; DENIED; INVALID:
 * the answer contradicts itself; else UNAVAILABLE or TIMEOUT. */
enum lks_code lks_artifact_range(struct lks_client *client, const char *url, const char *digest,
                                 uint64_t from, uint64_t len, struct lks_http_answer *out,
                                 struct lks_byterange *range, uint64_t *size,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
