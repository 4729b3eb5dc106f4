#include "core/decision/size.h"

#include "core/rows/change.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"
#include "model/facts/class.h"

uint32_t lks_size_gpus(const struct lks_state *s, const struct lks_book *book, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    struct lks_str name = lks_state_text(s, n->class);
    if (n->asset != 0)
        return 0;
    if (n->whole != 0 && s->bases[n->whole - 1].readings != NULL)
        return s->bases[n->whole - 1].gpus;
    const struct lks_class *class = lks_facts_class(book->facts, name);
    const struct lks_manifest *m = book->manifest;
    for (size_t i = 0; m != NULL && i < m->class_count; i++) {
        if (lks_str_eq(m->classes[i].name, name))
            class = &m->classes[i];
    }
    return class != NULL ? (uint32_t) class->gpus : 0;
}

void lks_size_add(const struct lks_state *s, const struct lks_book *book, uint32_t node,
                  struct lks_change_size *size)
{
    bool asset = s->nodes[node].asset != 0;
    size->assets += asset;
    size->nodes += !asset;
    size->gpus += lks_size_gpus(s, book, node);
}

struct lks_change_size lks_size_of_change(const struct lks_state *s, const struct lks_book *book,
                                          const struct lks_state_change *c)
{
    struct lks_change_size size = {.units = c->unit_count};
    for (uint32_t i = 0; i < c->member_count; i++)
        lks_size_add(s, book, c->members[i].node, &size);
    return size;
}
