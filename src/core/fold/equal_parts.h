/* For core/fold/equal*.c: two states that are compared. */
#ifndef LKS_CORE_EQUAL_PARTS_H
#define LKS_CORE_EQUAL_PARTS_H

#include "core/state/state.h"

struct pair {
    const struct lks_state *a, *b;
    struct lks_err *why;
};

static inline bool differs(const struct pair *p, const char *what, struct lks_str which)
{
    if (p->why != NULL) {
        enum lks_code code =
            lks_fail(p->why, LKS_E_INVALID, "%s of '%" LKS_STR_FMT "'", what, LKS_STR_ARG(which));
        (void)code;
    }
    return false;
}

static inline bool same_text(const struct pair *p, lks_text a, lks_text b)
{
    return lks_str_eq(lks_state_text(p->a, a), lks_state_text(p->b, b));
}

/* A member that is a text, by where it is in its struct. */
struct member {
    const char *name;
    size_t offset;
};
#define TEXT(type, member)                                                                         \
    {                                                                                              \
#member, offsetof(struct type, member)                                                     \
    }

/* The first of the members that differ, or NULL. */
static inline const char *text_differs(const struct pair *p, const void *a, const void *b,
                                       const struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_text x = 0, y = 0;
        memcpy(&x, (const char *)a + members[i].offset, sizeof(x));
        memcpy(&y, (const char *)b + members[i].offset, sizeof(y));
        if (!same_text(p, x, y))
            return members[i].name;
    }
    return NULL;
}

/* equal_access.c: roles and credentials of people. */
bool lks_equal_access(const struct pair *p);

#endif
