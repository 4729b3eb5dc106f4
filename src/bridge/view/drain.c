#include "bridge/view/drain.h"

#include <stdio.h>
#include <string.h>

#define BEFORE     " (before: "
#define BEFORE_MAX 80 /* bytes of the reason that was there before, at the most */

bool lks_bridge_drain_owner_valid(struct lks_str owner)
{
    return lks_str_starts(owner, LKS_BRIDGE_MARK) && owner.len > sizeof(LKS_BRIDGE_MARK) - 1 &&
           owner.len <= LKS_BRIDGE_OWNER_MAX && lks_str_printable(owner) &&
           memchr(owner.ptr, ' ', owner.len) == NULL;
}

/* As much of `s` as has `max` bytes and ends with a whole character. */
static struct lks_str fit(struct lks_str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.ptr[max] & 0xc0U) == 0x80)
        max--;
    return (struct lks_str){s.ptr, max};
}

void lks_bridge_drain_reason(struct lks_str owner, struct lks_str reason, struct lks_str before,
                             char out[LKS_BRIDGE_REASON_MAX + 1])
{
    char tail[BEFORE_MAX + sizeof(BEFORE) + 1] = "";
    before = fit(before, BEFORE_MAX);
    if (before.len > 0)
        snprintf(tail, sizeof(tail), BEFORE "%" LKS_STR_FMT ")", LKS_STR_ARG(before));
    size_t taken = owner.len + 1 + strlen(tail);
    reason = fit(reason, taken < LKS_BRIDGE_REASON_MAX ? LKS_BRIDGE_REASON_MAX - taken : 0);
    snprintf(out, LKS_BRIDGE_REASON_MAX + 1, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s",
             LKS_STR_ARG(owner), reason.len > 0 ? " " : "", LKS_STR_ARG(reason), tail);
    lks_str_make_printable(out);
}

/* Whether the bridge wrote the reason; its first word and what follows. */
static bool is_ours(struct lks_str reason, bool own, struct lks_str *owner, struct lks_str *rest)
{
    lks_str_cut(reason, ' ', owner, rest);
    return own && lks_bridge_drain_owner_valid(*owner);
}

struct lks_str lks_bridge_drain_owner(struct lks_str reason, bool own, struct lks_str user)
{
    struct lks_str owner, rest;
    return is_ours(reason, own, &owner, &rest) ? owner : user;
}

struct lks_str lks_bridge_drain_why(struct lks_str reason, bool own)
{
    struct lks_str owner, rest;
    return is_ours(reason, own, &owner, &rest) ? rest : reason;
}

struct lks_str lks_bridge_drain_before(struct lks_str reason, bool own)
{
    struct lks_str owner, rest;
    if (!is_ours(reason, own, &owner, &rest) || !lks_str_ends(reason, ")"))
        return LKS_STR("");
    struct lks_str before = reason;
    for (ptrdiff_t at; (at = lks_str_find(before, LKS_STR(BEFORE))) >= 0;) {
        size_t from = (size_t)at + sizeof(BEFORE) - 1; /* ours is the last one */
        before = (struct lks_str){before.ptr + from, before.len - from};
    }
    if (before.len == reason.len)
        return LKS_STR("");
    return (struct lks_str){before.ptr, before.len - 1};
}
