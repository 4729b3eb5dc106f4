#include "core/state/agree.h"

#include "core/rows/text.h"
#include "core/state/lookup.h"

/* The value of `subject`, most likely the next of `*lines`, else any of `all`. */
static bool value_of(struct lks_str subject, struct lks_str all, struct lks_str *lines,
                     struct lks_value *out)
{
    if (lks_verdict_value_next(lines, out) && lks_str_eq(out->subject, subject))
        return true;
    *lines = all;
    while (lks_verdict_value_next(lines, out)) {
        if (lks_str_eq(out->subject, subject))
            return true;
    }
    return false;
}

bool lks_agree_contradict(struct lks_str a, struct lks_str b, struct lks_value *one,
                          struct lks_value *other)
{
    struct lks_str rest = b;
    while (lks_verdict_value_next(&a, one)) {
        if (value_of(one->subject, b, &rest, other) && one->value.len > 0 && other->value.len > 0 &&
            !lks_str_eq(one->value, other->value))
            return true;
    }
    return false;
}

bool lks_agree_add(struct lks_agreed *agreed, const struct lks_state *s, lks_text values,
                   struct lks_value *one, struct lks_value *other)
{
    *one = *other = (struct lks_value){.subject = {"", 0}, .value = {"", 0}};
    for (uint32_t i = 0; i < agreed->count; i++) {
        if (agreed->kinds[i] == values)
            return true;
    }
    if (agreed->count == LKS_AGREE_KINDS_MAX)
        return false;
    for (uint32_t i = 0; i < agreed->count; i++) {
        if (lks_agree_contradict(lks_state_text(s, values), lks_state_text(s, agreed->kinds[i]),
                                 one, other))
            return false;
    }
    agreed->kinds[agreed->count++] = values;
    return true;
}
