/* The fleet's manifest as it is now: the one that was applied last, with what changed since. */
#ifndef LKS_CORE_VIEW_MANIFEST_H
#define LKS_CORE_VIEW_MANIFEST_H

#include "base/buf.h"
#include "model/manifest/manifest.h"

struct lks_state;
struct lks_state_pool;

/* Append `m`, the manifest that `s`, whose pools are `pools`, was last given, as YAML: pools are
 * pinned as changes left them, nodes that were removed are gone, and a stack of the file that pools
 * no longer have under its name is left out. Applied again, it changes nothing but the file's
 * digest. Comments of the file are not kept. */
enum lks_code lks_view_manifest(const struct lks_state *s, const struct lks_state_pool *pools,
                                uint32_t pool_count, const struct lks_manifest *m,
                                struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
