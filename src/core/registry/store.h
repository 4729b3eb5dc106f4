/* Published stacks, parsed, by digest: what records name and decisions need. */
#ifndef LKS_CORE_STORE_H
#define LKS_CORE_STORE_H

#include "base/intern.h"
#include "model/manifest/manifest.h"

struct lks_registry_store {
    struct lks_intern digests;
    const struct lks_stack **stacks; /* by id, in one of the files; NULL: none */
    size_t room;
    struct lks_manifest **manifests; /* owned: the files */
    uint32_t manifest_count, manifest_room;
};

void lks_registry_store_init(struct lks_registry_store *registry);
void lks_registry_store_fini(struct lks_registry_store *registry);

/* Take what `manifest` holds, with a stack of this digest in it; INVALID where there is none. All
 * its stacks are published then; of two with one digest the first stays. On success `manifest` is
 * empty. */
enum lks_code lks_registry_store_put(struct lks_registry_store *registry, struct lks_str digest,
                                     struct lks_manifest *manifest,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* The stack with this digest in a file; NULL: it has none, or there is no file. */
const struct lks_stack *lks_registry_store_find(const struct lks_manifest *manifest,
                                                struct lks_str digest);

const struct lks_stack *lks_registry_store_stack(const struct lks_registry_store *registry,
                                                 struct lks_str digest);

#endif
