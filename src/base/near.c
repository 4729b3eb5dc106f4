#include "base/near.h"

#include <stdio.h>

enum { SLIPS_MAX = 3 };

struct lks_near lks_near_to(struct lks_str wanted)
{
    return (struct lks_near){.wanted = wanted, .best = {"", 0}, .distance = SLIPS_MAX + 1};
}

void lks_near_try(struct lks_near *near, struct lks_str name)
{
    unsigned slips = name.len < 4 ? 1 : name.len < 8 ? 2 : SLIPS_MAX;
    unsigned distance = lks_str_distance(near->wanted, name, slips);
    if (distance > slips || distance >= near->distance)
        return;
    near->best = name;
    near->distance = distance;
}

const char *lks_near_hint(const struct lks_near *near, char out[LKS_NEAR_HINT_SIZE])
{
    out[0] = '\0';
    if (near->best.len > 0)
        snprintf(out, LKS_NEAR_HINT_SIZE, "; did you mean '%" LKS_STR_FMT "'?",
                 LKS_STR_ARG(near->best));
    return out;
}

enum lks_code lks_near_word(struct lks_str word, const char *const *words, size_t count,
                            const char *what, enum lks_code code, size_t *out, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(word);
    for (size_t i = 0; i < count; i++) {
        if (lks_str_is(word, words[i])) {
            *out = i;
            return LKS_OK;
        }
        lks_near_try(&near, lks_str_from(words[i]));
    }
    return lks_fail(err, code, "no %s '%" LKS_STR_FMT "'%s", what, LKS_STR_ARG(word),
                    lks_near_hint(&near, hint));
}
