/* Any bytes as a bbolt database, as they are and with checksums that are right: the walk ends
 * within its limits, keys ascend at every level, whatever the reader gives at a time, and
 * containerd's readers take only what they may. */
#include "codec/format/digest.h"
#include "codec/package/containerd.h"
#include "tests/bolt_file.h"

enum { MEMORY_MAX = 64 * 1024 * 1024, LEVELS = 6, PAGE_LEAST = 1024, META_SIZE = 80 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The keys before, at each level, and a sum of all that was said. */
struct seen {
    struct lks_buf before[LEVELS];
    size_t count, values;
    uint64_t sum;
};

static enum lks_code check_order(void *ctx, const struct lks_str *keys, struct lks_str value,
                                 struct lks_err *err)
{
    struct seen *s = ctx;
    bool later = s->values == 0;
    (void)err;
    for (size_t i = 0; i < s->count; i++) {
        int order = later ? 1 : lks_str_cmp(keys[i], lks_buf_view(&s->before[i]));
        LKS_ASSERT(order >= 0);
        later = later || order > 0;
        lks_buf_truncate(&s->before[i], 0);
        lks_buf_add(&s->before[i], keys[i]);
        s->sum = s->sum * 31 + keys[i].len;
    }
    LKS_ASSERT(later);
    s->sum = s->sum * 31 + value.len;
    s->values++;
    return LKS_OK;
}

/* Everything at a depth, `step` bytes at a time. */
static uint64_t walk_all(const struct lks_buf *db, size_t depth, size_t step)
{
    struct lks_test_bolt_file file = {.states = db, .count = 1, .step = step};
    const struct lks_bolt_file at = {"x", db->len, &file, lks_test_bolt_read};
    const struct lks_bolt_path path = {{NULL}, depth};
    struct seen seen = {.count = depth};
    struct lks_bolt bolt;
    struct lks_err err = {0};
    if (lks_bolt_open(&at, &bolt, &err) != LKS_OK)
        return err.code;
    for (size_t i = 0; i < LEVELS; i++)
        lks_buf_init(&seen.before[i], MEMORY_MAX);
    enum lks_code code = lks_bolt_walk(&bolt, &path, check_order, &seen, &err);
    LKS_ASSERT(code == err.code &&
               bolt.walked <= LKS_BOLT_PAGES_MAX + LKS_BOLT_SPAN_MAX / bolt.page_size);
    LKS_ASSERT(lks_bolt_is_newest(&bolt));
    for (size_t i = 0; i < LEVELS; i++)
        lks_buf_fini(&seen.before[i]);
    return seen.sum * 31 + code;
}

static void read_containerd(const struct lks_buf *db)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_test_bolt_file file = {.states = db, .count = 1};
    const struct lks_bolt_file at = {"x", db->len, &file, lks_test_bolt_read};
    struct lks_containerd_meta meta;
    struct lks_containerd_numbers numbers;
    struct lks_bolt bolt;
    struct lks_err err = {0};
    uint64_t n;
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_bolt_open(&at, &bolt, &err) != LKS_OK)
        return;
    if (lks_containerd_meta(&bolt, &arena, &meta, &err) == LKS_OK) {
        LKS_ASSERT(meta.images.count <= LKS_IMAGESTORE_IMAGES_MAX);
        for (size_t i = 0; i < meta.images.count; i++)
            LKS_ASSERT(lks_imagestore_name(meta.images.list[i].name) &&
                       lks_digest_valid(meta.images.list[i].digest));
        for (size_t i = 0; i < meta.count; i++) {
            const struct lks_containerd_snapshot *s = &meta.snapshots[i];
            LKS_ASSERT(lks_containerd_find(&meta, s->space, s->snapshotter, s->chain) != NULL);
        }
    }
    if (lks_containerd_numbers(&bolt, &arena, &numbers, &err) == LKS_OK) {
        for (size_t i = 0; i < numbers.count; i++)
            LKS_ASSERT(lks_containerd_number_of(&numbers, numbers.list[i].name, &n) &&
                       n == numbers.list[i].number);
    }
}

static void check_all(const struct lks_buf *db)
{
    for (size_t depth = 1; depth <= LEVELS; depth++)
        LKS_ASSERT(walk_all(db, depth, 0) == walk_all(db, depth, 13));
    read_containerd(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf db = LKS_BUF(MEMORY_MAX);
    lks_buf_add(&db, (struct lks_str){(const char *)data, size});
    lks_buf_addc(&db, '\0'); /* so that there are bytes to point to */
    lks_buf_truncate(&db, size);
    check_all(&db);
    if (size < PAGE_LEAST + META_SIZE)
        return 0;
    lks_test_bolt_sum(&db, 0);
    lks_test_bolt_sum(&db, PAGE_LEAST);
    check_all(&db);
    return 0;
}
