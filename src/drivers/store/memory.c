#include "drivers/store/memory.h"

#include "base/intern.h"
#include "base/vec.h"
#include "drivers/store/memory_rows.h"
#include "drivers/store/memory_tasks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGESTS_MAX_BYTES = 1 << 30 };

struct kept_blob {
    char *bytes; /* owned; NULL where there is none of this digest (any more) */
    size_t len;
    uint64_t batch; /* which brought it */
};

struct store;

struct lks_memory_disk {
    struct lks_memory_rows rows;
    struct lks_memory_rows aside;
    struct lks_intern digests;
    struct kept_blob *blobs; /* owned; by the digest's id */
    size_t blob_count, blob_cap;
    struct lks_head *heads; /* owned; in the order of their rows */
    size_t head_count, head_cap;
    char *snapshot; /* owned */
    size_t snapshot_len;
    uint64_t snapshot_seq;
    struct lks_store_tail tail;
    uint64_t batches;
    struct lks_memory_tasks tasks;
    struct lks_store_lease lease; /* `left` is not kept here, but when it ends */
    lks_ms lease_ends, now;
    lks_ms late_tail, late_lead;

    enum lks_memory_crash how;
    uint64_t statements;
    const struct store *owner; /* NULL while none has it alone */
    size_t sharers;

    char *name; /* owned; of a copy */
    struct lks_memory_disk *copies, *next;
};

struct store {
    struct lks_memory_disk *disk;
    bool crashed;
    bool shares;               /* the disk with other stores */
    uint64_t epoch;            /* of the lead that we had last; 0: none */
    enum lks_memory_crash how; /* how the write in progress ends */
};

/* ---- the disk ---- */

struct lks_memory_disk *lks_memory_disk_new(void)
{
    struct lks_memory_disk *disk = calloc(1, sizeof(*disk));
    if (disk != NULL) {
        lks_intern_init(&disk->digests, DIGESTS_MAX_BYTES);
        lks_memory_tasks_init(&disk->tasks);
        disk->tail.first = 1;
    }
    return disk;
}

void lks_memory_disk_free(struct lks_memory_disk *disk)
{
    while (disk != NULL) {
        struct lks_memory_disk *next = disk->next;
        LKS_ASSERT(disk->owner == NULL && disk->sharers == 0);
        lks_memory_disk_free(disk->copies);
        lks_memory_rows_fini(&disk->rows);
        lks_memory_rows_fini(&disk->aside);
        for (size_t i = 0; i < disk->blob_count; i++)
            free(disk->blobs[i].bytes);
        free(disk->blobs);
        lks_intern_fini(&disk->digests);
        lks_memory_tasks_fini(&disk->tasks);
        free(disk->heads);
        free(disk->snapshot);
        free(disk->name);
        free(disk);
        disk = next;
    }
}

void lks_memory_disk_fail(struct lks_memory_disk *disk, enum lks_memory_crash how,
                          uint64_t statements)
{
    disk->how = how;
    disk->statements = statements;
}

void lks_memory_disk_clock(struct lks_memory_disk *disk, lks_ms now)
{
    disk->now = now;
}

lks_ms lks_memory_disk_now(const struct lks_memory_disk *disk)
{
    return disk->now;
}

void lks_memory_disk_late(struct lks_memory_disk *disk, lks_ms tail, lks_ms lead)
{
    disk->late_tail = tail;
    disk->late_lead = lead;
}

struct lks_row *lks_memory_disk_row(struct lks_memory_disk *disk, uint64_t seq)
{
    lks_memory_rows_sort(&disk->rows);
    size_t at = lks_memory_rows_from(&disk->rows, seq);
    bool there = at < disk->rows.count && disk->rows.at[at].row.seq == seq;
    disk->rows.touched = true;
    return there ? &disk->rows.at[at].row : NULL;
}

void lks_memory_disk_drop(struct lks_memory_disk *disk, uint64_t seq)
{
    if (lks_memory_disk_row(disk, seq) == NULL)
        return;
    struct lks_memory_rows *rows = &disk->rows;
    size_t at = lks_memory_rows_from(rows, seq);
    free(rows->at[at].bytes);
    rows->count--;
    memmove(rows->at + at, rows->at + at + 1, (rows->count - at) * sizeof(rows->at[0]));
}

size_t lks_memory_disk_aside(const struct lks_memory_disk *disk)
{
    return disk->aside.count;
}

struct lks_memory_disk *lks_memory_disk_file(struct lks_memory_disk *disk, const char *path)
{
    struct lks_memory_disk *copy = disk->copies;
    while (copy != NULL && strcmp(copy->name, path) != 0)
        copy = copy->next;
    return copy;
}

/* ---- how writes end ---- */

static enum lks_code alive(const struct store *s, struct lks_err *err)
{
    if (s->crashed)
        return lks_fail(err, LKS_E_IO, "memory store: it crashed");
    return LKS_OK;
}

/* A write of so many statements begins. All of them happen or none does, so where among them it
 * fails need not be played out. */
static enum lks_memory_crash plan_crash(struct lks_memory_disk *disk, uint64_t statements)
{
    enum lks_memory_crash how = disk->how;
    if (how == LKS_MEMORY_NO_CRASH)
        return how;
    if (disk->statements >= statements) {
        disk->statements -= statements;
        return LKS_MEMORY_NO_CRASH;
    }
    disk->statements = 0;
    if (how != LKS_MEMORY_FULL)
        disk->how = LKS_MEMORY_NO_CRASH;
    return how;
}

static void let_go(struct store *s)
{
    if (s->crashed)
        return;
    s->crashed = true;
    if (s->shares)
        s->disk->sharers--;
    else
        s->disk->owner = NULL;
}

static enum lks_code crash(struct store *s, struct lks_err *err)
{
    let_go(s);
    return lks_fail(err, LKS_E_IO, "memory store: crashed; whether it was written is not known");
}

/* A write of so many statements starts where `code`, what came before it, is good: it goes on, or
 * ends as it was told to. */
static enum lks_code start(struct store *s, enum lks_code code, uint64_t statements,
                           struct lks_err *err)
{
    if (code != LKS_OK)
        return code;
    s->how = plan_crash(s->disk, statements);
    if (s->how == LKS_MEMORY_FULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "memory store: no space left; nothing was written");
    return s->how == LKS_MEMORY_CRASH_BEFORE ? crash(s, err) : LKS_OK;
}

/* The write ends; everything was written where `code` is good. */
static enum lks_code finish(struct store *s, enum lks_code code, struct lks_err *err)
{
    return code == LKS_OK && s->how == LKS_MEMORY_CRASH_AFTER ? crash(s, err) : code;
}

/* ---- who leads ---- */

struct lks_store_lease lks_memory_disk_lease(const struct lks_memory_disk *disk)
{
    struct lks_store_lease lease = disk->lease;
    lease.left = disk->lease_ends > disk->now ? disk->lease_ends - disk->now : 0;
    return lease;
}

/* Whether the store lives, and the holder of `epoch` may still write. */
static enum lks_code may_write(const struct store *s, uint64_t epoch, struct lks_err *err)
{
    struct lks_store_lease lease = lks_memory_disk_lease(s->disk);
    enum lks_code code = alive(s, err);
    return code == LKS_OK ? lks_store_fence_check(&lease, epoch, err) : code;
}

static enum lks_code give_lead(struct store *s, const char *name, const char *url, lks_ms ttl,
                               struct lks_store_lease *out, struct lks_err *err)
{
    struct lks_memory_disk *disk = s->disk;
    enum lks_code code = alive(s, err);
    if (code == LKS_OK)
        code = lks_store_lead_check(name, url, ttl, err);
    if (code != LKS_OK)
        return code;
    bool ours = s->epoch > 0 && s->epoch == disk->lease.epoch;
    if (!ours && disk->lease_ends > disk->now) {
        *out = lks_memory_disk_lease(disk);
        return LKS_OK;
    }
    code = start(s, code, 2, err);
    if (code != LKS_OK)
        return code;
    disk->lease.epoch += ours ? 0 : 1;
    snprintf(disk->lease.name, sizeof(disk->lease.name), "%s", name);
    snprintf(disk->lease.url, sizeof(disk->lease.url), "%s", url);
    disk->lease_ends = disk->now + ttl;
    code = finish(s, code, err);
    if (code != LKS_OK)
        return code;
    s->epoch = disk->lease.epoch;
    *out = lks_memory_disk_lease(disk);
    return LKS_OK;
}

static enum lks_code lead(void *self, const char *name, const char *url, lks_ms ttl,
                          struct lks_store_lease *out, struct lks_err *err)
{
    struct store *s = self;
    enum lks_code code = give_lead(s, name, url, ttl, out, err);
    s->disk->now += s->disk->late_lead;
    return code;
}

static enum lks_code resign(void *self, uint64_t epoch, struct lks_err *err)
{
    struct store *s = self;
    enum lks_code code = start(s, alive(s, err), 2, err);
    if (code != LKS_OK)
        return code;
    if (epoch == s->disk->lease.epoch)
        s->disk->lease_ends = s->disk->now;
    s->epoch = 0;
    return finish(s, code, err);
}

/* A disk in memory is lost only when a test says so. */
static enum lks_code safe(void *self, struct lks_err *err)
{
    return alive(self, err);
}

/* Its time is not ours to pass. */
static enum lks_code wait_rows(void *self, lks_ms timeout, struct lks_err *err)
{
    (void)timeout;
    return alive(self, err);
}

/* ---- append ---- */

static enum lks_code add_blob(struct lks_memory_disk *disk, const char *digest,
                              struct lks_str bytes, struct lks_err *err)
{
    uint32_t id = 0;
    enum lks_code code = lks_intern_id(&disk->digests, lks_str_from(digest), &id, err);
    if (code != LKS_OK)
        return code;
    if (LKS_VEC_RESERVE(disk->blobs, disk->blob_cap, (size_t)id + 1, err) != LKS_OK)
        return err->code;
    if (id == disk->blob_count)
        disk->blobs[disk->blob_count++] = (struct kept_blob){0};
    struct kept_blob *blob = &disk->blobs[id];
    if (blob->bytes != NULL)
        return LKS_OK;
    blob->bytes = malloc(bytes.len + 1);
    if (blob->bytes == NULL)
        return lks_fail_nomem(err);
    if (bytes.len > 0)
        memcpy(blob->bytes, bytes.ptr, bytes.len);
    blob->len = bytes.len;
    blob->batch = disk->batches;
    return LKS_OK;
}

/* Behind the heads of rows before it, and in the place of one at the same row. */
static enum lks_code add_head(struct lks_memory_disk *disk, const struct lks_head *head,
                              struct lks_err *err)
{
    size_t at;
    LKS_VEC_PLACE(at, disk->head_count, disk->heads[at].seq < head->seq);
    bool same = at < disk->head_count && disk->heads[at].seq == head->seq;
    if (!same &&
        LKS_VEC_INSERT(disk->heads, disk->head_cap, disk->head_count, at, SIZE_MAX, err) != LKS_OK)
        return err->code;
    disk->heads[at] = *head;
    return LKS_OK;
}

static void drop_head(struct lks_memory_disk *disk, uint64_t seq)
{
    for (size_t i = disk->head_count; i-- > 0 && disk->heads[i].seq >= seq;) {
        if (disk->heads[i].seq == seq)
            LKS_VEC_REMOVE(disk->heads, disk->head_count, i);
    }
}

/* The head comes last, so that it is never there without its rows. */
static enum lks_code write_batch(struct lks_memory_disk *disk, const struct lks_store_batch *batch,
                                 struct lks_err *err)
{
    if (!lks_memory_rows_reserve(&disk->rows, batch->row_count))
        return lks_fail_nomem(err);
    for (size_t i = 0; i < batch->row_count; i++) {
        if (!lks_memory_rows_add(&disk->rows, &batch->rows[i]))
            return lks_fail_nomem(err);
    }
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < batch->blob_count && code == LKS_OK; i++)
        code = add_blob(disk, batch->blobs[i].digest, batch->blobs[i].bytes, err);
    if (code == LKS_OK && batch->head != NULL)
        code = add_head(disk, batch->head, err);
    if (code == LKS_OK && batch->head != NULL && batch->replaces != 0)
        drop_head(disk, batch->replaces);
    return code;
}

static void undo_batch(struct lks_memory_disk *disk, size_t row_count)
{
    lks_memory_rows_truncate(&disk->rows, row_count);
    for (size_t i = 0; i < disk->blob_count; i++) {
        if (disk->blobs[i].batch == disk->batches) {
            free(disk->blobs[i].bytes);
            disk->blobs[i] = (struct kept_blob){0};
        }
    }
}

static enum lks_code append(void *self, const struct lks_store_batch *batch, struct lks_err *err)
{
    struct store *s = self;
    struct lks_memory_disk *disk = s->disk;
    enum lks_code code = may_write(s, batch->epoch, err);
    if (code == LKS_OK)
        code = lks_store_batch_check(&disk->tail, batch, err);
    code = start(s, code, batch->row_count + batch->blob_count + 1, err);
    if (code != LKS_OK)
        return code;

    size_t row_count = disk->rows.count;
    disk->batches++;
    code = write_batch(disk, batch, err);
    if (code != LKS_OK) {
        undo_batch(disk, row_count);
        return code;
    }
    disk->tail = lks_store_tail_after(&disk->tail, batch);
    return finish(s, code, err);
}

/* ---- reading ---- */

static enum lks_code read_tail(void *self, struct lks_store_tail *out, struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code == LKS_OK)
        *out = s->disk->tail;
    s->disk->now += s->disk->late_tail;
    return code;
}

static enum lks_code read_rows(void *self, uint64_t from, lks_store_row_fn *fn, void *ctx,
                               struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code != LKS_OK)
        return code;
    struct lks_memory_rows *rows = &s->disk->rows;
    lks_memory_rows_sort(rows);
    for (size_t i = lks_memory_rows_from(rows, from); i < rows->count && fn(ctx, &rows->at[i].row);
         i++)
        ;
    return LKS_OK;
}

static enum lks_code read_heads(void *self, uint64_t from, lks_store_head_fn *fn, void *ctx,
                                struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    for (size_t i = 0; code == LKS_OK && i < s->disk->head_count; i++) {
        if (s->disk->heads[i].seq >= from && !fn(ctx, &s->disk->heads[i]))
            break;
    }
    return code;
}

static enum lks_code read_blob(void *self, const char *digest, struct lks_buf *out,
                               struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code != LKS_OK)
        return code;
    uint32_t id = 0;
    bool known = lks_intern_find(&s->disk->digests, lks_str_from(digest), &id);
    if (!known || id >= s->disk->blob_count || s->disk->blobs[id].bytes == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "the store has no %s", digest);
    const struct kept_blob *blob = &s->disk->blobs[id];
    lks_buf_add(out, (struct lks_str){blob->bytes, blob->len});
    return lks_buf_check(out, err);
}

static enum lks_code read_blobs(void *self, lks_store_blob_fn *fn, void *ctx, struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    for (uint32_t id = 0; code == LKS_OK && id < s->disk->blob_count; id++) {
        const struct kept_blob *blob = &s->disk->blobs[id];
        const char *digest = lks_intern_text(&s->disk->digests, id).ptr;
        if (blob->bytes != NULL && !fn(ctx, digest, (struct lks_str){blob->bytes, blob->len}))
            break;
    }
    return code;
}

static enum lks_code read_snapshot(void *self, uint64_t *seq, struct lks_buf *out,
                                   struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code != LKS_OK)
        return code;
    if (s->disk->snapshot_seq > 0)
        lks_buf_add(out, (struct lks_str){s->disk->snapshot, s->disk->snapshot_len});
    code = lks_buf_check(out, err);
    if (code == LKS_OK)
        *seq = s->disk->snapshot_seq;
    return code;
}

/* ---- what else is written: a statement and a commit ---- */

static enum lks_code put_snapshot(void *self, uint64_t seq, struct lks_str bytes,
                                  struct lks_err *err)
{
    struct store *s = self;
    enum lks_code code = may_write(s, s->epoch, err);
    if (code == LKS_OK)
        code = lks_store_snapshot_check(&s->disk->tail, seq, bytes, err);
    code = start(s, code, 2, err);
    if (code != LKS_OK)
        return code;
    char *copy = malloc(bytes.len + 1);
    if (copy == NULL)
        return lks_fail_nomem(err);
    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    free(s->disk->snapshot);
    s->disk->snapshot = copy;
    s->disk->snapshot_len = bytes.len;
    s->disk->snapshot_seq = seq;
    return finish(s, code, err);
}

static void drop_snapshot(struct lks_memory_disk *disk)
{
    free(disk->snapshot);
    disk->snapshot = NULL;
    disk->snapshot_len = 0;
    disk->snapshot_seq = 0;
}

static void trim_heads(struct lks_memory_disk *disk, uint64_t through)
{
    size_t gone = 0;
    while (gone < disk->head_count && disk->heads[gone].seq < through)
        gone++;
    disk->head_count -= gone;
    if (gone > 0)
        memmove(disk->heads, disk->heads + gone, disk->head_count * sizeof(disk->heads[0]));
}

static enum lks_code trim(void *self, uint64_t through, bool (*keep)(void *ctx, const char *digest),
                          void *ctx, struct lks_err *err)
{
    struct store *s = self;
    struct lks_memory_disk *disk = s->disk;
    enum lks_code code = may_write(s, s->epoch, err);
    if (code == LKS_OK)
        code = lks_store_trim_check(&disk->tail, through, err);
    code = start(s, code, 2, err);
    if (code != LKS_OK)
        return code;
    lks_memory_rows_sort(&disk->rows);
    lks_memory_rows_forget(&disk->rows, lks_memory_rows_from(&disk->rows, through + 1));
    trim_heads(disk, through);
    for (uint32_t id = 0; keep != NULL && id < disk->blob_count; id++) {
        struct kept_blob *blob = &disk->blobs[id];
        if (blob->bytes != NULL && !keep(ctx, lks_intern_text(&disk->digests, id).ptr)) {
            free(blob->bytes);
            *blob = (struct kept_blob){0};
        }
    }
    if (disk->tail.first <= through)
        disk->tail.first = through + 1;
    return finish(s, code, err);
}

/* There is room for the rows. */
static void move_aside(struct lks_memory_disk *disk, size_t first,
                       const struct lks_store_tail *tail)
{
    size_t count = disk->rows.count - first;
    if (count > 0)
        memcpy(disk->aside.at + disk->aside.count, disk->rows.at + first,
               count * sizeof(disk->rows.at[0]));
    disk->aside.count += count;
    disk->rows.count = first;
    while (disk->head_count > 0 && disk->heads[disk->head_count - 1].seq > tail->seq)
        disk->head_count--;
    if (disk->snapshot_seq > tail->seq)
        drop_snapshot(disk);
    disk->tail = *tail;
}

static enum lks_code cut(void *self, uint64_t from, const struct lks_store_tail *tail,
                         const struct lks_store_batch *then, struct lks_err *err)
{
    static const struct lks_store_batch nothing = {0};
    struct store *s = self;
    struct lks_memory_disk *disk = s->disk;
    if (then == NULL)
        then = &nothing;
    enum lks_code code = may_write(s, then->epoch > 0 ? then->epoch : s->epoch, err);
    if (code == LKS_OK)
        code = lks_store_cut_check(from, tail, err);
    if (code == LKS_OK)
        code = lks_store_batch_check(tail, then, err);
    code = start(s, code, 2 + then->row_count + then->blob_count, err);
    if (code != LKS_OK)
        return code;
    lks_memory_rows_sort(&disk->rows);
    size_t first = lks_memory_rows_from(&disk->rows, from);
    if (!lks_memory_rows_reserve(&disk->aside, disk->rows.count - first))
        return lks_fail_nomem(err);
    move_aside(disk, first, tail);
    disk->batches++;
    LKS_ASSERT(write_batch(disk, then, err) == LKS_OK); /* half of a cut cannot be undone */
    disk->tail = lks_store_tail_after(tail, then);
    return finish(s, code, err);
}

/* ---- copies ---- */

static bool copy_rows(const struct lks_memory_rows *from, struct lks_memory_rows *to)
{
    bool ok = lks_memory_rows_reserve(to, from->count);
    for (size_t i = 0; ok && i < from->count; i++)
        ok = lks_memory_rows_add(to, &from->at[i].row);
    return ok;
}

static bool copy_disk(const struct lks_memory_disk *from, const char *name,
                      struct lks_memory_disk *to)
{
    struct lks_err err = {0};
    to->name = strdup(name);
    bool ok = to->name != NULL && copy_rows(&from->rows, &to->rows) &&
              copy_rows(&from->aside, &to->aside);
    for (uint32_t id = 0; ok && id < from->blob_count; id++) {
        const struct kept_blob *blob = &from->blobs[id];
        if (blob->bytes != NULL)
            ok = add_blob(to, lks_intern_text(&from->digests, id).ptr,
                          (struct lks_str){blob->bytes, blob->len}, &err) == LKS_OK;
    }
    for (size_t i = 0; ok && i < from->head_count; i++)
        ok = add_head(to, &from->heads[i], &err) == LKS_OK;
    if (ok && from->snapshot_seq > 0) {
        to->snapshot = malloc(from->snapshot_len + 1);
        ok = to->snapshot != NULL;
        if (ok)
            memcpy(to->snapshot, from->snapshot, from->snapshot_len);
    }
    to->snapshot_len = from->snapshot_len;
    to->snapshot_seq = from->snapshot_seq;
    to->tail = from->tail;
    return ok;
}

static enum lks_code copy(void *self, const char *path, struct lks_err *err)
{
    const struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code != LKS_OK)
        return code;
    if (lks_memory_disk_file(s->disk, path) != NULL)
        return lks_fail(err, LKS_E_REFUSED, "%s is there already", path);
    struct lks_memory_disk *made = lks_memory_disk_new();
    if (made == NULL || !copy_disk(s->disk, path, made)) {
        lks_memory_disk_free(made);
        return lks_fail_nomem(err);
    }
    made->next = s->disk->copies;
    s->disk->copies = made;
    return LKS_OK;
}

/* ---- tasks ---- */

static enum lks_code sync_tasks(void *self, const struct lks_store_task *tasks, size_t count,
                                lks_ms now, struct lks_err *err)
{
    struct store *s = self;
    enum lks_code code = alive(s, err);
    if (code == LKS_OK)
        code = lks_store_tasks_check(tasks, count, now, err);
    code = start(s, code, 2, err);
    if (code == LKS_OK)
        code = lks_memory_tasks_sync(&s->disk->tasks, tasks, count, now, err);
    return finish(s, code, err);
}

static enum lks_code take_tasks(void *self, const struct lks_store_claim *claim,
                                lks_store_task_fn *fn, void *ctx, struct lks_err *err)
{
    struct store *s = self;
    LKS_CLEANUP(lks_memory_taken_fini) struct lks_memory_taken taken = {0};
    enum lks_code code = alive(s, err);
    if (code == LKS_OK)
        code = lks_store_claim_check(claim, err);
    code = start(s, code, 2, err);
    if (code == LKS_OK)
        code = lks_memory_tasks_take(&s->disk->tasks, claim, &taken, err);
    code = finish(s, code, err);
    if (code == LKS_OK)
        lks_memory_tasks_give(&s->disk->tasks, &taken, fn, ctx);
    return code;
}

static enum lks_code finish_task(void *self, struct lks_str holder, struct lks_str name, lks_ms due,
                                 uint32_t failures, struct lks_err *err)
{
    struct store *s = self;
    enum lks_code code = start(s, alive(s, err), 2, err);
    if (code == LKS_OK)
        code = lks_memory_task_done(&s->disk->tasks, holder, name, due, failures, err);
    return finish(s, code, err);
}

/* ---- open and close ---- */

static void close_store(void *self)
{
    struct store *s = self;
    let_go(s);
    free(s);
}

/* A store that has the disk alone has no lease to speak of. */
#define COMMON_OPS                                                                                 \
    .name = "memory", .append = append, .tail = read_tail, .rows = read_rows, .heads = read_heads, \
    .blob = read_blob, .blobs = read_blobs, .snapshot_put = put_snapshot,                          \
    .snapshot = read_snapshot, .trim = trim, .cut = cut, .copy = copy, .tasks_sync = sync_tasks,   \
    .tasks_take = take_tasks, .task_done = finish_task, .close = close_store

static const struct lks_store_ops alone = {COMMON_OPS};
static const struct lks_store_ops shared = {COMMON_OPS, .lead = lead, .resign = resign,
                                            .safe = safe, .wait = wait_rows};

static enum lks_code open_store(struct lks_memory_disk *disk, bool shares, struct lks_store *out,
                                struct lks_err *err)
{
    if (disk->owner != NULL || (!shares && disk->sharers > 0))
        return lks_fail(err, LKS_E_REFUSED, "memory store: another store has this disk");
    struct store *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return lks_fail_nomem(err);
    s->disk = disk;
    s->shares = shares;
    if (shares)
        disk->sharers++;
    else
        disk->owner = s;
    *out = (struct lks_store){.ops = shares ? &shared : &alone, .self = s};
    return LKS_OK;
}

enum lks_code lks_store_memory_open(struct lks_memory_disk *disk, struct lks_store *out,
                                    struct lks_err *err)
{
    return open_store(disk, false, out, err);
}

enum lks_code lks_store_memory_share(struct lks_memory_disk *disk, struct lks_store *out,
                                     struct lks_err *err)
{
    return open_store(disk, true, out, err);
}
