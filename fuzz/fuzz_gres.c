/* Any bytes at all: a list of resources that is accepted is written as a list that reads the same,
 * and that is written the same again. A type that has a profile has it once more in what is
 * written. */
#include "codec/notation/gres.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum(const struct lks_gres *gres)
{
    uint64_t all = 0;
    for (size_t i = 0; i < gres->count; i++)
        all += lks_str_is(gres->items[i].name, "gpu") ? gres->items[i].count : 0;
    return all; /* it may wrap, in both of them alike */
}

static void check_types(const struct lks_gres *gres)
{
    for (size_t i = 0; i < gres->count; i++) {
        struct lks_gres_profile p;
        if (!lks_gres_profile_parse(gres->items[i].type, &p))
            continue;
        LKS_ASSERT(lks_gres_profile_eq(&p, &p));
        LKS_ASSERT(p.board.len < gres->items[i].type.len);
        LKS_ASSERT(p.attributes.len < gres->items[i].type.len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF((size_t)2 * LKS_GRES_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF((size_t)2 * LKS_GRES_BYTES_MAX);
    struct lks_gres gres, again;
    struct lks_err err = {0};
    if (lks_gres_parse((struct lks_str){(const char *)data, size}, &gres, &err) != LKS_OK)
        return 0;
    check_types(&gres);
    if (lks_gres_write(&gres, "gpu", &once, &err) != LKS_OK)
        return 0;
    struct lks_str text = once.len > 0 ? lks_buf_view(&once) : LKS_STR("");
    LKS_ASSERT(lks_gres_parse(text, &again, &err) == LKS_OK || text.len > LKS_GRES_BYTES_MAX);
    if (text.len > LKS_GRES_BYTES_MAX)
        return 0;
    LKS_ASSERT(sum(&gres) == sum(&again));
    LKS_ASSERT(lks_gres_write(&again, "gpu", &twice, &err) == LKS_OK);
    LKS_ASSERT(twice.len == once.len);
    LKS_ASSERT(twice.len == 0 || memcmp(once.ptr, twice.ptr, once.len) == 0);
    return 0;
}
