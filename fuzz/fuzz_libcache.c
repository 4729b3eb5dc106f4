/* Any bytes as the cache of libraries: what is believed has an answer for each of its entries and,
 * written again, is believed again and says the same. */
#include "base/buf.h"
#include "probe/library/libcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answers(struct lks_libcache *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_libcache_entry *e = &c->entries[i];
        struct stat st = {
            .st_dev = e->key[0],
            .st_ino = e->key[1],
            .st_size = (off_t)e->key[2],
            .st_mtim = {(time_t)e->key[3], (long)e->key[4]},
            .st_ctim = {(time_t)e->key[5], (long)e->key[6]},
        };
        LKS_ASSERT(e->answer.len > 0 && e->answer.len <= LKS_LIBCACHE_ANSWER_MAX);
        LKS_ASSERT(lks_str_printable(e->answer));
        /* Times and sizes below zero are written as large numbers; no file has such. */
        if (st.st_size >= 0 && st.st_mtim.tv_sec >= 0 && st.st_ctim.tv_sec >= 0)
            LKS_ASSERT(lks_str_eq(lks_libcache_find(c, &st, e->table.ptr), e->answer));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache c = {0};
    LKS_CLEANUP(lks_libcache_fini) struct lks_libcache d = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(LKS_LIBCACHE_BYTES_MAX);
    struct lks_err err = {0};
    lks_libcache_init(&c);
    lks_libcache_init(&d);
    if (lks_libcache_parse((struct lks_str){(const char *)data, size}, &c, &err) != LKS_OK) {
        LKS_ASSERT(c.count == 0 && err.msg[0] != '\0');
        return 0;
    }
    LKS_ASSERT(c.loaded == c.count);
    lks_libcache_write(&c, true, &once);
    LKS_ASSERT(lks_libcache_parse(lks_buf_view(&once), &d, &err) == LKS_OK);
    lks_libcache_write(&d, true, &twice);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    check_answers(&c);
    return 0;
}
