#include "core/entity/settable.h"

#define WORD(member, option, uses, about) #member,
const char *const lks_settable_node_words[] = {LKS_SETTABLE_NODE(WORD) NULL};

const struct lks_column *lks_settable_find(struct lks_str name)
{
    for (size_t i = 0; i < lks_entity_node.column_count; i++) {
        const struct lks_column *c = &lks_entity_node.columns[i];
        if ((c->flags & LKS_COLUMN_SETTABLE) != 0 && lks_str_is(name, c->name))
            return c;
    }
    return NULL;
}
