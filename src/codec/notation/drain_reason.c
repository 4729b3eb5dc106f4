#include "codec/notation/drain_reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BEFORE     " (before: "
#define MARK       " (before:" /* without the blank, which what follows could add */
#define BY_MAX     32          /* bytes of a person's name */
#define WORDS_MAX  64 /* and of their words, where all is there: owner, row, reason before */
#define BEFORE_MAX 80 /* bytes of the reason that was there before, at the most */

bool lks_drain_reason_owner_valid(struct lks_str owner)
{
    return lks_str_starts(owner, LKS_DRAIN_REASON_MARK) &&
           owner.len > sizeof(LKS_DRAIN_REASON_MARK) - 1 &&
           owner.len <= LKS_DRAIN_REASON_OWNER_MAX && lks_str_printable(owner) &&
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

void lks_drain_reason_words(struct lks_str by, struct lks_str words, uint64_t row,
                            char out[LKS_DRAIN_REASON_MAX + 1])
{
    char tail[48] = "";
    by = fit(by, BY_MAX);
    struct lks_str kept = fit(words, WORDS_MAX);
    if (row != 0)
        snprintf(tail, sizeof(tail), "%sjournal row %" PRIu64, by.len + words.len > 0 ? ", " : "",
                 row);
    snprintf(out, LKS_DRAIN_REASON_MAX + 1, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s%s",
             LKS_STR_ARG(by), by.len > 0 && words.len > 0 ? ": " : "", LKS_STR_ARG(kept),
             kept.len < words.len ? "..." : "", tail);
    lks_str_make_printable(out);
}

/* Our own words never look like what stands behind them: the first mark is where that starts. */
static void blunt(struct lks_str reason, char out[LKS_DRAIN_REASON_MAX + 1])
{
    reason = fit(reason, LKS_DRAIN_REASON_MAX);
    snprintf(out, LKS_DRAIN_REASON_MAX + 1, "%" LKS_STR_FMT, LKS_STR_ARG(reason));
    for (ptrdiff_t at; (at = lks_str_find(lks_str_from(out), LKS_STR(MARK))) >= 0;)
        out[(size_t)at + sizeof(MARK) - 2] = ',';
}

void lks_drain_reason_write(struct lks_str owner, struct lks_str reason, struct lks_str before,
                            char out[LKS_DRAIN_REASON_MAX + 1])
{
    char own[LKS_DRAIN_REASON_MAX + 1];
    char tail[BEFORE_MAX + sizeof(BEFORE) + 1] = "";
    before = fit(before, BEFORE_MAX);
    if (before.len > 0)
        snprintf(tail, sizeof(tail), BEFORE "%" LKS_STR_FMT ")", LKS_STR_ARG(before));
    size_t taken = owner.len + 1 + strlen(tail);
    blunt(reason, own);
    reason =
        fit(lks_str_from(own), taken < LKS_DRAIN_REASON_MAX ? LKS_DRAIN_REASON_MAX - taken : 0);
    snprintf(out, LKS_DRAIN_REASON_MAX + 1, "%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s",
             LKS_STR_ARG(owner), reason.len > 0 ? " " : "", LKS_STR_ARG(reason), tail);
    lks_str_make_printable(out);
}

/* Whether we wrote the reason; its first word and what follows. */
static bool is_ours(struct lks_str reason, bool own, struct lks_str *owner, struct lks_str *rest)
{
    lks_str_cut(reason, ' ', owner, rest);
    return own && lks_drain_reason_owner_valid(*owner);
}

struct lks_str lks_drain_reason_owner(struct lks_str reason, bool own, struct lks_str user)
{
    struct lks_str owner, rest;
    return is_ours(reason, own, &owner, &rest) ? owner : user;
}

struct lks_str lks_drain_reason_why(struct lks_str reason, bool own)
{
    struct lks_str owner, rest;
    return is_ours(reason, own, &owner, &rest) ? rest : reason;
}

struct lks_str lks_drain_reason_before(struct lks_str reason, bool own)
{
    struct lks_str owner, rest;
    if (!is_ours(reason, own, &owner, &rest) || !lks_str_ends(reason, ")"))
        return LKS_STR("");
    ptrdiff_t at = lks_str_find(reason, LKS_STR(BEFORE)); /* ours is the first one */
    if (at < 0)
        return LKS_STR("");
    size_t from = (size_t)at + sizeof(BEFORE) - 1;
    return (struct lks_str){reason.ptr + from, reason.len - from - 1};
}
