#include "bench/writing.h"

#include "bench/measure.h"

#define BODIES_MAX ((size_t)64 << 20)

static void flush(struct bench_writing *w)
{
    struct lks_err err = {0};
    const char *at = w->bodies.ptr;
    for (size_t i = 0; i < w->count; at += w->rows[i++].body.len) {
        w->rows[i].body.ptr = at;
        if (lks_chain_hash(w->chain, w->hash, &w->rows[i], w->rows[i].hash, &err) != LKS_OK)
            bench_die("journal", err.msg);
        memcpy(w->hash, w->rows[i].hash, sizeof(w->hash));
    }
    struct lks_head head = {.seq = w->seq, .time = w->time};
    LKS_ASSERT(w->journal.len < sizeof(head.journal));
    memcpy(head.journal, w->journal.ptr, w->journal.len);
    memcpy(head.hash, w->hash, sizeof(head.hash));
    struct lks_store_batch batch = {.rows = w->rows,
                                    .row_count = w->count,
                                    .blobs = w->blobs,
                                    .blob_count = w->blob_count,
                                    .head = &head};
    if (lks_chain_head_sign(&w->key, &head, &err) != LKS_OK ||
        w->store.ops->append(w->store.self, &batch, &err) != LKS_OK)
        bench_die("journal", err.msg);
    w->head_at = w->time;
    w->blob_count = 0;
    w->count = 0;
    lks_buf_truncate(&w->bodies, 0);
}

void bench_write(struct bench_writing *w, const struct lks_record *r)
{
    if (w->chain == NULL) {
        w->chain = lks_chain_new();
        lks_buf_init(&w->bodies, BODIES_MAX);
    }
    if (w->chain == NULL)
        bench_die("journal", "no memory");
    size_t before = w->bodies.len;
    lks_record_pack(r, &w->bodies);
    w->time += w->step;
    w->rows[w->count++] =
        (struct lks_row){.seq = ++w->seq,
                         .time = w->time,
                         .kind = (uint16_t)r->kind,
                         .version = (uint8_t)lks_record_version(lks_record_info(r->kind)),
                         .body = {NULL, w->bodies.len - before}};
    if (w->count == BENCH_WRITING_BATCH ||
        (w->head_every > 0 && w->time >= w->head_at + w->head_every))
        flush(w);
}

void bench_writing_end(struct bench_writing *w)
{
    if (w->count > 0)
        flush(w);
    lks_buf_fini(&w->bodies);
    lks_chain_free(w->chain);
    w->chain = NULL;
}
