/* Any bytes at all: the set of names that a text stands for is folded into a text that stands for
 * the same set, and the order of the names makes no difference to it. */
#include "base/buf.h"
#include "codec/notation/hostlist.h"

#include <stdint.h>
#include <stdlib.h>

/* A short text may stand for very many names; those are refused here, by the memory they take. */
enum { MEMORY_MAX = 256 * 1024, TEXT_MAX = LKS_HOSTLIST_BYTES_MAX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int by_bytes(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

static size_t make_set(struct lks_hostlist *list)
{
    qsort(list->names, list->count, sizeof(*list->names), by_bytes);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || !lks_str_eq(list->names[kept - 1], list->names[i]))
            list->names[kept++] = list->names[i];
    }
    return kept;
}

static void check_fold(struct lks_hostlist *list, struct lks_buf *folded)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist again = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    lks_buf_init(folded, TEXT_MAX);
    LKS_ASSERT(lks_hostlist_fold(list->names, list->count, folded, &err) == LKS_OK);
    LKS_ASSERT(lks_hostlist_parse(lks_buf_view(folded), &arena, &again, &err) == LKS_OK);

    size_t count = make_set(list);
    LKS_ASSERT(again.count == count);
    LKS_ASSERT(make_set(&again) == count);
    for (size_t i = 0; i < count; i++)
        LKS_ASSERT(lks_str_eq(list->names[i], again.names[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_hostlist_parse((struct lks_str){(const char *)data, size}, &arena, &list, &err) !=
        LKS_OK)
        return 0;
    check_fold(&list, &once);
    check_fold(&list, &twice);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    return 0;
}
