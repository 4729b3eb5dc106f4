#include "port/sched.h"

/* What stands in a path of its own. */
static bool is_name(struct lks_str s)
{
    bool good = s.len > 0 && s.len <= LKS_SCHED_NODE_MAX && s.ptr[0] != '.';
    for (size_t i = 0; i < s.len && good; i++) {
        char c = s.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    }
    return good;
}

enum lks_code lks_sched_check(const struct lks_sched_wish *wish, struct lks_err *err)
{
    bool owned = wish->verb != LKS_SCHED_LOOK;
    if (!is_name(wish->node))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no name of a node",
                        LKS_STR_ARG(wish->node));
    if ((owned && wish->owner.len == 0) || wish->owner.len > LKS_SCHED_OWNER_MAX ||
        !lks_str_printable(wish->owner))
        return lks_fail(err, LKS_E_INVALID,
                        "the owner of a drain is a line of 1 to %d bytes, not '%" LKS_STR_FMT "'",
                        LKS_SCHED_OWNER_MAX, LKS_STR_ARG(wish->owner));
    return LKS_OK;
}
