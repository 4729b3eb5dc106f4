#include "codec/package/bolt.h"

#include "base/arena.h"
#include "base/eight.h"

#include <inttypes.h>

/* The sizes and numbers of the format (bbolt's internal/common/{page,meta,bucket}.go). */
enum {
    HEADER_SIZE = 16,  /* of a page: id, flags, count, pages that it goes on in */
    ELEMENT_SIZE = 16, /* of what a page has a count of */
    BUCKET_SIZE = 16,  /* of the value of a bucket: its page, and a sequence number */
    META_SIZE = 64,    /* behind the header of its page */
    SUMMED = META_SIZE - 8,

    FLAG_BRANCH = 1,
    FLAG_LEAF = 2,
    FLAG_META = 4,
    LEAF_BUCKET = 1, /* the flag of an element: its value is a bucket */

    VERSION = 2,
    METAS = 2, /* and so the first page that can hold keys */
    PAGE_LEAST = 1024,
    PAGE_MOST = 65536,
};

static const uint64_t MAGIC = 0xed0cdaed;

/* `len` bytes at `at` of `s`, the first the lowest. */
static uint64_t field(struct lks_str s, size_t at, size_t len)
{
    LKS_ASSERT(at + len <= s.len);
    return lks_eight((struct lks_str){s.ptr + at, len}, 0);
}

static enum lks_code damaged(const struct lks_bolt *b, uint64_t page, const char *why,
                             struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "%s: damaged: page %" PRIu64 " %s", b->file.source, page,
                    why);
}

static enum lks_code read_bytes(const struct lks_bolt_file *file, uint64_t offset, char *buf,
                                size_t len, struct lks_err *err)
{
    for (size_t have = 0, got = 0; have < len; have += got) {
        got = 0;
        if (file->read_at(file->ctx, offset + have, buf + have, len - have, &got, err) != LKS_OK)
            return err->code;
        if (got == 0)
            return lks_fail(err, LKS_E_INVALID, "%s: ends at byte %" PRIu64, file->source,
                            offset + have);
    }
    return LKS_OK;
}

/* Meta pages --------------------------------------------------------------------------------- */

/* FNV-1a of 64 bits. */
static uint64_t sum_of(struct lks_str s)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s.len; i++)
        sum = (sum ^ (unsigned char)s.ptr[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* A meta page at `offset`; false where there is none that is whole. */
static bool read_meta(const struct lks_bolt_file *file, uint64_t offset, struct lks_bolt *out)
{
    char bytes[HEADER_SIZE + META_SIZE];
    struct lks_err err;
    if (offset + sizeof(bytes) > file->size ||
        read_bytes(file, offset, bytes, sizeof(bytes), &err) != LKS_OK)
        return false;
    struct lks_str page = {bytes, HEADER_SIZE}, meta = {bytes + HEADER_SIZE, META_SIZE};
    uint64_t size = field(meta, 8, 4);
    *out = (struct lks_bolt){.file = *file,
                             .page_size = (size_t)size,
                             .top = field(meta, 16, 8),
                             .pages = field(meta, 40, 8),
                             .transaction = field(meta, 48, 8)};
    return (field(page, 8, 2) & FLAG_META) != 0 && field(meta, 0, 4) == MAGIC &&
           field(meta, 4, 4) == VERSION && size >= PAGE_LEAST && size <= PAGE_MOST &&
           (size & (size - 1)) == 0 &&
           field(meta, SUMMED, 8) == sum_of((struct lks_str){meta.ptr, SUMMED});
}

/* The newer of the two. Where the first is being written, the second is found by the sizes that a
 * page can have. */
static bool newest(const struct lks_bolt_file *file, struct lks_bolt *out)
{
    struct lks_bolt first, second;
    bool has_first = read_meta(file, 0, &first), has_second = false;
    if (has_first)
        has_second = read_meta(file, first.page_size, &second);
    for (size_t size = PAGE_LEAST; !has_first && !has_second && size <= PAGE_MOST; size *= 2)
        has_second = read_meta(file, size, &second) && second.page_size == size;
    if (has_first && has_second)
        has_second = second.page_size == first.page_size && second.transaction > first.transaction;
    if (has_first || has_second)
        *out = has_second ? second : first;
    return has_first || has_second;
}

enum lks_code lks_bolt_open(const struct lks_bolt_file *file, struct lks_bolt *out,
                            struct lks_err *err)
{
    struct lks_bolt bolt;
    if (file->size > LKS_BOLT_FILE_MAX)
        return lks_fail(err, LKS_E_LIMIT,
                        "%s: has %" PRIu64 " bytes, and databases of more than %" PRIu64
                        " are not read",
                        file->source, file->size, LKS_BOLT_FILE_MAX);
    if (!newest(file, &bolt))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: is no bbolt database, or damaged: neither meta page is good",
                        file->source);
    *out = bolt;
    return LKS_OK;
}

bool lks_bolt_is_newest(const struct lks_bolt *bolt)
{
    struct lks_bolt now;
    return newest(&bolt->file, &now) && now.transaction == bolt->transaction &&
           now.top == bolt->top && now.pages == bolt->pages;
}

/* Pages -------------------------------------------------------------------------------------- */

/* A page with what it goes on in, or one that stands in the value of its bucket. */
struct page {
    struct lks_arena arena; /* owns its bytes, unless it stands in a value */
    struct lks_str bytes;
    uint64_t id;
    uint64_t flags;
    size_t count;
};

static void page_fini(struct page *p)
{
    lks_arena_fini(&p->arena);
}

/* The header, and whether the elements that it counts can be there. */
static enum lks_code read_header(const struct lks_bolt *b, struct page *p, struct lks_err *err)
{
    p->flags = field(p->bytes, 8, 2);
    p->count = (size_t)field(p->bytes, 10, 2);
    if (p->flags != FLAG_BRANCH && p->flags != FLAG_LEAF)
        return damaged(b, p->id, "holds no keys", err);
    if (p->count > (p->bytes.len - HEADER_SIZE) / ELEMENT_SIZE)
        return damaged(b, p->id, "counts more keys than fit", err);
    return LKS_OK;
}

/* How many bytes page `id` has, of the header that says it. */
static enum lks_code span_of(const struct lks_bolt *b, uint64_t id, size_t *out,
                             struct lks_err *err)
{
    char header[HEADER_SIZE];
    if (id < METAS || id >= b->pages || id >= LKS_BOLT_FILE_MAX / b->page_size)
        return damaged(b, id, "is not in the database", err);
    if (read_bytes(&b->file, id * b->page_size, header, sizeof(header), err) != LKS_OK)
        return err->code;
    struct lks_str h = {header, sizeof(header)};
    uint64_t more = field(h, 12, 4);
    if (field(h, 0, 8) != id)
        return damaged(b, id, "has another number in it", err);
    if (more >= LKS_BOLT_SPAN_MAX / b->page_size)
        return lks_fail(err, LKS_E_LIMIT, "%s: page %" PRIu64 " has more than %zu bytes",
                        b->file.source, id, LKS_BOLT_SPAN_MAX);
    if (id + more >= b->pages)
        return damaged(b, id, "goes on behind the end", err);
    *out = (size_t)(more + 1) * b->page_size;
    return LKS_OK;
}

static enum lks_code read_page(struct lks_bolt *b, uint64_t id, struct page *out,
                               struct lks_err *err)
{
    size_t size = 0;
    if (span_of(b, id, &size, err) != LKS_OK)
        return err->code;
    b->walked += (uint32_t)(size / b->page_size);
    if (b->walked > LKS_BOLT_PAGES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: more than %d pages to read", b->file.source,
                        LKS_BOLT_PAGES_MAX);
    lks_arena_init(&out->arena, 2 * LKS_BOLT_SPAN_MAX);
    char *bytes = lks_arena_alloc(&out->arena, size);
    if (bytes == NULL)
        return lks_arena_fail(&out->arena, err);
    if (read_bytes(&b->file, id * b->page_size, bytes, size, err) != LKS_OK)
        return err->code;
    out->bytes = (struct lks_str){bytes, size};
    out->id = id;
    return read_header(b, out, err);
}

/* One key of a page: with a value in a leaf, with the page below it in a branch. */
struct element {
    struct lks_str key, value;
    bool bucket;
    uint64_t below;
    size_t end; /* of its value within the page */
};

/* Keys and values lie in the order of the elements, behind `before`: where two could share bytes, a
 * small file would be a very large tree. */
static enum lks_code read_element(const struct lks_bolt *b, const struct page *p, size_t index,
                                  size_t before, struct element *out, struct lks_err *err)
{
    size_t at = HEADER_SIZE + index * ELEMENT_SIZE, first = HEADER_SIZE + p->count * ELEMENT_SIZE;
    bool leaf = p->flags == FLAG_LEAF;
    uint64_t key = at + field(p->bytes, at + (leaf ? 4 : 0), 4);
    uint64_t key_size = field(p->bytes, at + (leaf ? 8 : 4), 4);
    uint64_t value_size = leaf ? field(p->bytes, at + 12, 4) : 0;
    uint64_t end = key + key_size + value_size;
    if (key < first || key < before || end > p->bytes.len)
        return damaged(b, p->id, "has a key or value outside of its place", err);
    *out = (struct element){
        .key = {p->bytes.ptr + key, (size_t)key_size},
        .value = {p->bytes.ptr + key + key_size, (size_t)value_size},
        .bucket = leaf && (field(p->bytes, at, 4) & LEAF_BUCKET) != 0,
        .below = leaf ? 0 : field(p->bytes, at + 8, 8),
        .end = (size_t)end,
    };
    return LKS_OK;
}

/* Walking ------------------------------------------------------------------------------------ */

struct walk {
    struct lks_bolt *bolt;
    const struct lks_bolt_path *path;
    struct lks_str keys[LKS_BOLT_PATH_MAX];
    lks_bolt_fn *fn;
    void *ctx;
};

/* Where in a bucket: how deep it is in the path, its pages above, and the keys there may be: from
 * `least` on, and less than `limit` where that has a pointer. */
struct place {
    size_t depth, level;
    struct lks_str least, limit;
};

static enum lks_code walk_page(struct walk *w, const struct page *p, struct place at,
                               struct lks_err *err);

static enum lks_code walk_number(struct walk *w, uint64_t id, struct place at, struct lks_err *err)
{
    LKS_CLEANUP(page_fini) struct page page = {0};
    if (at.level == LKS_BOLT_LEVELS_MAX)
        return damaged(w->bolt, id, "is deeper in its tree than trees can be", err);
    if (read_page(w->bolt, id, &page, err) != LKS_OK)
        return err->code;
    return walk_page(w, &page, at, err);
}

/* A small bucket stands as a page in its own value. */
static enum lks_code walk_bucket(struct walk *w, uint64_t holder, struct lks_str value,
                                 size_t depth, struct lks_err *err)
{
    struct place at = {.depth = depth};
    if (value.len < BUCKET_SIZE)
        return damaged(w->bolt, holder, "has a bucket that is cut short", err);
    uint64_t id = field(value, 0, 8);
    if (id != 0)
        return walk_number(w, id, at, err);
    struct page page = {.bytes = {value.ptr + BUCKET_SIZE, value.len - BUCKET_SIZE}, .id = holder};
    if (page.bytes.len < HEADER_SIZE)
        return damaged(w->bolt, holder, "has a bucket that is cut short", err);
    if (read_header(w->bolt, &page, err) != LKS_OK)
        return err->code;
    if (page.flags != FLAG_LEAF)
        return damaged(w->bolt, holder, "has a branch within a value", err);
    return walk_page(w, &page, at, err);
}

/* A key of a leaf: on the path or not. */
static enum lks_code walk_leaf(struct walk *w, uint64_t holder, const struct element *e,
                               size_t depth, struct lks_err *err)
{
    const char *wanted = w->path->keys[depth];
    bool last = depth + 1 == w->path->count;
    if ((wanted != NULL && !lks_str_is(e->key, wanted)) || e->bucket == last)
        return LKS_OK;
    w->keys[depth] = e->key;
    return last ? w->fn(w->ctx, w->keys, e->value, err)
                : walk_bucket(w, holder, e->value, depth + 1, err);
}

/* Keys ascend, from the first that the branch above allows on. In a branch the first key may be
 * one that is gone, but none below it is less. */
static enum lks_code check_order(const struct walk *w, const struct page *p, size_t index,
                                 struct lks_str key, const struct place *at, struct lks_str before,
                                 struct lks_err *err)
{
    bool low = index == 0 ? lks_str_cmp(key, at->least) < 0 : lks_str_cmp(key, before) <= 0;
    if (low || (at->limit.ptr != NULL && lks_str_cmp(key, at->limit) >= 0))
        return damaged(w->bolt, p->id, "has keys out of order", err);
    return LKS_OK;
}

static enum lks_code walk_page(struct walk *w, const struct page *p, struct place at,
                               struct lks_err *err)
{
    struct element e = {0}, next = {0};
    if (p->count == 0)
        return at.level == 0 && p->flags == FLAG_LEAF
                   ? LKS_OK
                   : damaged(w->bolt, p->id, "is empty within a tree", err);
    if (read_element(w->bolt, p, 0, 0, &next, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < p->count; i++) {
        struct place below = {at.depth, at.level + 1, next.key, at.limit};
        if (check_order(w, p, i, next.key, &at, e.key, err) != LKS_OK)
            return err->code;
        e = next;
        if (i + 1 < p->count) {
            if (read_element(w->bolt, p, i + 1, e.end, &next, err) != LKS_OK)
                return err->code;
            below.limit = next.key;
        }
        enum lks_code code = p->flags == FLAG_LEAF ? walk_leaf(w, p->id, &e, at.depth, err)
                                                   : walk_number(w, e.below, below, err);
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

enum lks_code lks_bolt_walk(struct lks_bolt *bolt, const struct lks_bolt_path *path,
                            lks_bolt_fn *fn, void *ctx, struct lks_err *err)
{
    struct walk w = {.bolt = bolt, .path = path, .fn = fn, .ctx = ctx};
    LKS_ASSERT(path->count > 0 && path->count <= LKS_BOLT_PATH_MAX);
    return walk_number(&w, bolt->top, (struct place){0}, err);
}

/* One state ---------------------------------------------------------------------------------- */

enum lks_code lks_bolt_read(const struct lks_bolt_reading *reading, struct lks_err *err)
{
    struct lks_bolt_file file = {0};
    for (unsigned tries = 0; tries < LKS_BOLT_TRIES_MAX; tries++) {
        struct lks_bolt bolt = {0};
        if (tries > 0 && reading->pause != NULL)
            reading->pause(reading->ctx, tries);
        if (reading->open(reading->ctx, &file, err) != LKS_OK ||
            lks_bolt_open(&file, &bolt, err) != LKS_OK)
            return err->code;
        enum lks_code code = reading->walk(reading->ctx, &bolt, err);
        if (lks_bolt_is_newest(&bolt))
            return code;
    }
    return lks_fail(err, LKS_E_UNAVAILABLE,
                    "%s: changed each of the %d times it was read; it is read again with the next "
                    "inventory",
                    file.source, LKS_BOLT_TRIES_MAX);
}
