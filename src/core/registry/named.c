#include "core/registry/named.h"

#include "base/near.h"
#include "codec/format/digest.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/record/record_words.h"

#include <stdio.h>

enum { LISTED_MAX = 5, SHOWN_DIGITS = 12 };
static const char algorithm[] = "sha256:";

bool lks_named_begins(struct lks_str text, struct lks_str digest)
{
    const size_t skip = sizeof(algorithm) - 1;
    if (lks_str_starts(text, algorithm))
        text = (struct lks_str){text.ptr + skip, text.len - skip};
    return text.len >= LKS_NAMED_DIGITS_MIN && lks_str_starts(digest, algorithm) &&
           digest.len - skip >= text.len && memcmp(digest.ptr + skip, text.ptr, text.len) == 0;
}

/* One that may be meant. */
struct candidate {
    struct lks_str digest, name, more; /* `more`: its stage, or its version */
    bool over;                         /* retired, or revoked */
};

/* What there is, whatever it is. */
struct registry {
    const char *what, *none; /* "stack", and what to do where there is none */
    uint32_t count;
    struct candidate (*at)(const struct lks_state *s, uint32_t i);
};

static struct candidate stack_at(const struct lks_state *s, uint32_t i)
{
    const struct lks_state_stack *k = &s->stacks[i];
    return (struct candidate){lks_state_text(s, k->digest), lks_state_text(s, k->name),
                              lks_str_from(lks_step_words[k->step]), k->step == LKS_STEP_RETIRED};
}

static struct candidate bundle_at(const struct lks_state *s, uint32_t i)
{
    const struct lks_state_bundle *b = &s->bundles[i];
    return (struct candidate){lks_state_text(s, b->digest), lks_state_text(s, b->name),
                              lks_state_text(s, b->version), b->revoked != 0};
}

/* A name may look like the digits of a digest, so it comes before them. */
enum way { BY_DIGEST, BY_NAME, BY_NAME_OVER, BY_DIGITS, WAYS };

static bool is_meant(const struct candidate *c, struct lks_str text, enum way way)
{
    if (way == BY_DIGEST || way == BY_DIGITS)
        return (way == BY_DIGEST) == lks_str_starts(text, algorithm) &&
               lks_named_begins(text, c->digest);
    return lks_str_eq(c->name, text) && c->over == (way == BY_NAME_OVER);
}

static uint32_t count_meant(const struct lks_state *s, const struct registry *registry,
                            struct lks_str text, enum way way, uint32_t *last)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < registry->count; i++) {
        struct candidate c = registry->at(s, i);
        if (is_meant(&c, text, way)) {
            *last = i;
            count++;
        }
    }
    return count;
}

static enum lks_code fail_many(const struct lks_state *s, const struct registry *registry,
                               struct lks_str text, enum way way, uint32_t many,
                               struct lks_err *err)
{
    char list[LKS_ERR_MSG_MAX] = "";
    size_t used = 0, listed = 0;
    for (uint32_t i = registry->count; i-- > 0 && listed < LISTED_MAX;) {
        struct candidate c = registry->at(s, i);
        if (!is_meant(&c, text, way))
            continue;
        int n = snprintf(list + used, sizeof(list) - used,
                         "%s%.*s (%" LKS_STR_FMT ", %" LKS_STR_FMT ")", listed > 0 ? ", " : "",
                         (int)(sizeof(algorithm) - 1 + SHOWN_DIGITS), c.digest.ptr,
                         LKS_STR_ARG(c.name), LKS_STR_ARG(c.more));
        used += n > 0 && (size_t)n < sizeof(list) - used ? (size_t)n : 0;
        listed++;
    }
    return lks_fail(err, LKS_E_INVALID,
                    "'%" LKS_STR_FMT "' may be one of %u %ss, newest first: %s%s; name one by more "
                    "of its digest",
                    LKS_STR_ARG(text), many, registry->what, list, listed < many ? ", ..." : "");
}

static enum lks_code fail_none(const struct lks_state *s, const struct registry *registry,
                               struct lks_str text, struct lks_err *err)
{
    struct lks_near near = lks_near_to(text);
    char hint[LKS_NEAR_HINT_SIZE];
    for (uint32_t i = 0; i < registry->count; i++)
        lks_near_try(&near, registry->at(s, i).name);
    return lks_fail(err, LKS_E_NOT_FOUND, "there is no %s '%" LKS_STR_FMT "'%s%s", registry->what,
                    LKS_STR_ARG(text), near.best.len > 0 ? "" : registry->none,
                    lks_near_hint(&near, hint));
}

static enum lks_code find(const struct lks_state *s, const struct registry *registry,
                          struct lks_str text, uint32_t *out, struct lks_err *err)
{
    for (enum way way = BY_DIGEST; way < WAYS; way++) {
        uint32_t many = count_meant(s, registry, text, way, out);
        if (many == 1)
            return LKS_OK;
        if (many > 1)
            return fail_many(s, registry, text, way, many, err);
    }
    return fail_none(s, registry, text, err);
}

enum lks_code lks_named_stack(const struct lks_state *s, struct lks_str text,
                              const struct lks_state_stack **out, struct lks_err *err)
{
    const struct registry registry = {
        "stack", " in the registry; put it there with 'lockstep stack publish'", s->stack_count,
        stack_at};
    uint32_t at = 0;
    if (find(s, &registry, text, &at, err) != LKS_OK)
        return err->code;
    *out = &s->stacks[at];
    return LKS_OK;
}

enum lks_code lks_named_bundle(const struct lks_state *s, struct lks_str text,
                               const struct lks_state_bundle **out, struct lks_err *err)
{
    const struct registry registry = {"bundle", "; 'lockstep bundle push' brings one",
                                      s->bundle_count, bundle_at};
    uint32_t at = 0;
    if (find(s, &registry, text, &at, err) != LKS_OK)
        return err->code;
    *out = &s->bundles[at];
    return LKS_OK;
}
