/* The documents behind the digests that records name. */
#ifndef LKS_CORE_BOOK_H
#define LKS_CORE_BOOK_H

#include "model/manifest/manifest.h"

/* Who says what invented readings are worth: of a basis it wrote itself, how that compares with the
 * stack `v->stack`, and true; else false, and it is judged as any other. */
struct lks_judge {
    void *ctx;
    bool (*say)(void *ctx, struct lks_str basis, struct lks_arena *arena,
                struct lks_rec_verdict *v);
};

/* What digests in the state stand for, so far as decisions need it. */
struct lks_book {
    const struct lks_facts *facts;
    const struct lks_manifest *manifest; /* of the fleet as it was last applied; NULL: none yet */
    const struct lks_registry_store *registry; /* published stacks; NULL: none */
    const struct lks_judge *judge;             /* of a rehearsal; NULL: none */
};

/* The stack with this digest: of the registry, or in the fleet's own file; NULL: not known. */
const struct lks_stack *lks_book_stack(const struct lks_book *book, struct lks_str digest);

/* The fleet the endpoints stand in; NULL: none was applied. */
const struct lks_fleet *lks_book_fleet(const struct lks_book *book);

#endif
