#include "core/registry/book.h"

#include "core/registry/store.h"

const struct lks_stack *lks_book_stack(const struct lks_book *book, struct lks_str digest)
{
    const struct lks_stack *stack = NULL;
    if (book->registry != NULL)
        stack = lks_registry_store_stack(book->registry, digest);
    return stack != NULL ? stack : lks_registry_store_find(book->manifest, digest);
}

const struct lks_fleet *lks_book_fleet(const struct lks_book *book)
{
    const struct lks_manifest *m = book->manifest;
    return m != NULL && m->fleet_count > 0 ? &m->fleets[0] : NULL;
}
