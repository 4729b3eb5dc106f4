#include "base/near.h"

#include <stdio.h>
#include <string.h>

enum { SLIPS_MAX = 3, STARTS_MIN = 2, LISTED_MAX = 3 };

struct lks_near lks_near_to(struct lks_str wanted)
{
    return (struct lks_near){.wanted = wanted, .best = {"", 0}, .distance = SLIPS_MAX + 1};
}

static bool starts(const struct lks_near *near, struct lks_str name)
{
    return near->wanted.len >= STARTS_MIN && name.len > near->wanted.len &&
           memcmp(name.ptr, near->wanted.ptr, near->wanted.len) == 0;
}

static void add_start(struct lks_near *near, struct lks_str name)
{
    size_t used = strlen(near->list), size = sizeof(near->list);
    if (near->started > 0 && lks_str_eq(name, near->best))
        return;
    if (near->started++ == 0 && near->distance > 0) {
        near->best = name;
        near->distance = 1;
    }
    if (near->listed == LISTED_MAX || name.len + strlen(", ") >= size - used)
        return;
    snprintf(near->list + used, size - used, "%s%" LKS_STR_FMT, used > 0 ? ", " : "",
             LKS_STR_ARG(name));
    near->listed++;
}

void lks_near_try(struct lks_near *near, struct lks_str name)
{
    if (starts(near, name)) {
        add_start(near, name);
        return;
    }
    unsigned slips = name.len < 4 ? 1 : name.len < 8 ? 2 : SLIPS_MAX;
    unsigned distance = lks_str_distance(near->wanted, name, slips);
    if (distance > slips || distance >= near->distance)
        return;
    near->best = name;
    near->distance = distance;
}

const char *lks_near_hint(const struct lks_near *near, char out[LKS_NEAR_HINT_SIZE])
{
    char more[32] = "";
    out[0] = '\0';
    if (near->started > near->listed)
        snprintf(more, sizeof(more), " and %u more", near->started - near->listed);
    if (near->started > 1 && near->distance > 0 && near->listed > 0)
        snprintf(out, LKS_NEAR_HINT_SIZE, "; %u names start with it: %s%s", near->started,
                 near->list, more);
    else if (near->best.len > 0)
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
