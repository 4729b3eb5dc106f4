/* Any bytes as what a captured tree has recorded of libraries: findings lie within the text, and
 * what is told of one library can be written again and reads back as the same. */
#include "probe/library/libread.h"
#include "probe/library/libsearch.h"

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_findings(struct lks_str text)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_findings f = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_libsearch_findings_parse(text, &arena, &f, &err) != LKS_OK)
        return;
    LKS_ASSERT(6 * (f.count + f.left_out_count) <= text.len);
    for (size_t i = 0; i < f.count; i++) {
        LKS_ASSERT(f.list[i].name.len > 0 && f.list[i].of.len > 0);
        LKS_ASSERT(f.list[i].path.len > 0 && f.list[i].path.ptr[0] == '/');
        LKS_ASSERT(lks_str_find(f.list[i].path, LKS_STR("\t")) < 0);
    }
}

static void check_library(struct lks_str line)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(MEMORY_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(MEMORY_MAX);
    struct lks_library library, again;
    struct lks_err err = {0};
    if (lks_libread_parse(line, &library, &err) != LKS_OK)
        return;
    lks_libread_write(&library, &once);
    LKS_ASSERT(lks_libread_parse(lks_buf_view(&once), &again, &err) == LKS_OK);
    lks_libread_write(&again, &twice);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    check_findings(text);
    check_library(text);
    return 0;
}
