#include "tests/bolt_file.h"

#include "base/arena.h"
#include "base/eight.h"
#include "tests/elf_image.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum {
    DATABASE_MAX = 1 << 24,
    MEMORY_MAX = 1 << 26,
    HEADER = 16,
    ELEMENT = 16,
    BRANCH = 1,
    LEAF = 2,
    META = 4,
    SUMMED = 56, /* bytes of a meta page that its checksum covers */
};

struct key {
    struct lks_str name, value;
    bool bucket;
    uint64_t below;
};

struct maker {
    const struct lks_test_bolt *spec;
    struct lks_arena arena;
    struct lks_buf *out;
    size_t start, page_size, most;
    uint64_t next; /* the number of the next page */
};

static void number(struct lks_buf *out, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        lks_buf_addc(out, (char)(value >> 8 * i & 0xff));
}

void lks_test_bolt_sum(struct lks_buf *db, size_t at)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < SUMMED; i++)
        sum = (sum ^ (unsigned char)db->ptr[at + HEADER + i]) * UINT64_C(1099511628211);
    lks_test_elf_set(db, at + HEADER + SUMMED, sum, 8);
}

/* Pages -------------------------------------------------------------------------------------- */

static size_t size_of(const struct key *keys, size_t count)
{
    size_t size = HEADER + count * ELEMENT;
    for (size_t i = 0; i < count; i++)
        size += keys[i].name.len + keys[i].value.len;
    return size;
}

static void put_page(struct lks_buf *out, uint64_t id, unsigned kind, const struct key *keys,
                     size_t count, size_t more)
{
    size_t at = HEADER + count * ELEMENT;
    number(out, id, 8);
    number(out, kind, 2);
    number(out, count, 2);
    number(out, more, 4);
    for (size_t i = 0; i < count; i++) {
        size_t ahead = at - HEADER - i * ELEMENT;
        if (kind == LEAF)
            number(out, keys[i].bucket, 4);
        number(out, ahead, 4);
        number(out, keys[i].name.len, 4);
        number(out, kind == LEAF ? keys[i].value.len : keys[i].below, kind == LEAF ? 4 : 8);
        at += keys[i].name.len + keys[i].value.len;
    }
    for (size_t i = 0; i < count; i++) {
        lks_buf_add(out, keys[i].name);
        lks_buf_add(out, keys[i].value);
    }
}

static uint64_t add_page(struct maker *m, unsigned kind, const struct key *keys, size_t count)
{
    size_t size = size_of(keys, count), more = (size - 1) / m->page_size;
    uint64_t id = m->next;
    put_page(m->out, id, kind, keys, count, more);
    lks_buf_pad(m->out, '\0', (ptrdiff_t)((more + 1) * m->page_size - size));
    m->next += more + 1;
    return id;
}

/* The page at the top of the keys. */
static uint64_t add_tree(struct maker *m, struct key *keys, size_t count, unsigned kind)
{
    if (count <= m->most)
        return add_page(m, kind, keys, count);
    struct key *above = lks_arena_array(&m->arena, count, sizeof(*above));
    size_t branches = 0;
    LKS_ASSERT(above != NULL);
    for (size_t at = 0; at < count; at += m->most) {
        size_t some = count - at < m->most ? count - at : m->most;
        above[branches].name = keys[at].name;
        above[branches++].below = add_page(m, kind, keys + at, some);
    }
    return add_tree(m, above, branches, BRANCH);
}

/* Buckets ------------------------------------------------------------------------------------ */

static int by_path(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    while (*a == *b && *a != '\0')
        a++, b++;
    int x = *a == '|' ? 0 : (unsigned char)*a, y = *b == '|' ? 0 : (unsigned char)*b;
    return x != y ? x - y : (*a > *b) - (*a < *b);
}

static struct lks_str value_at(const struct maker *m, const char *path)
{
    for (size_t i = 0; i < m->spec->count; i++) {
        if (m->spec->rows[i].path == path)
            return m->spec->rows[i].value;
    }
    return LKS_STR("");
}

static struct lks_str bucket(struct maker *m, const char *const *paths, size_t count, size_t skip);

/* The keys of the bucket that all of `paths` are in, whose own path has `skip` bytes. */
static size_t list_keys(struct maker *m, const char *const *paths, size_t count, size_t skip,
                        struct key *keys, bool *plain)
{
    size_t made = 0;
    *plain = true;
    for (size_t first = 0, end = 0; first < count; first = end) {
        const char *name = paths[first] + skip;
        size_t len = strcspn(name, "|");
        for (end = first + 1; end < count && strncmp(paths[end] + skip, name, len) == 0 &&
                              paths[end][skip + len] == name[len];
             end++)
            ;
        if (len == 0)
            continue; /* the bucket itself, which is empty but for others */
        LKS_ASSERT(made < count);
        keys[made] = (struct key){.name = {name, len}, .bucket = name[len] == '|'};
        keys[made].value = keys[made].bucket ? bucket(m, paths + first, end - first, skip + len + 1)
                                             : value_at(m, paths[first]);
        *plain = *plain && !keys[made].bucket;
        made++;
    }
    return made;
}

/* The value of a bucket: where its pages are, or itself as a page. */
static struct lks_str bucket(struct maker *m, const char *const *paths, size_t count, size_t skip)
{
    struct lks_buf value = LKS_BUF(DATABASE_MAX);
    struct key *keys = lks_arena_array(&m->arena, count + 1, sizeof(*keys));
    bool plain;
    LKS_ASSERT(keys != NULL);
    size_t made = list_keys(m, paths, count, skip, keys, &plain);
    bool inside = plain && skip > 0 && !m->spec->apart && size_of(keys, made) <= m->page_size / 4;
    number(&value, inside ? 0 : add_tree(m, keys, made, LEAF), 8);
    number(&value, 7, 8);
    if (inside)
        put_page(&value, 0, LEAF, keys, made, 0);
    struct lks_str copy = lks_arena_copy(&m->arena, lks_buf_view(&value));
    lks_buf_fini(&value);
    return copy;
}

static void put_meta(struct maker *m, uint64_t top, unsigned which)
{
    uint64_t newest = m->spec->transaction;
    size_t at = m->start + which * m->page_size;
    lks_test_elf_set(m->out, at, which, 8);
    lks_test_elf_set(m->out, at + 8, META, 2);
    lks_test_elf_set(m->out, at + 16, 0xed0cdaed, 4);
    lks_test_elf_set(m->out, at + 20, 2, 4);
    lks_test_elf_set(m->out, at + 24, m->page_size, 4);
    lks_test_elf_set(m->out, at + 32, top, 8);
    lks_test_elf_set(m->out, at + 48, UINT64_MAX, 8); /* no list of free pages */
    lks_test_elf_set(m->out, at + 56, m->next, 8);
    lks_test_elf_set(m->out, at + 64, newest % 2 == which ? newest : newest - (newest > 0), 8);
    lks_test_bolt_sum(m->out, at);
}

void lks_test_bolt_build(const struct lks_test_bolt *spec, struct lks_buf *out)
{
    struct maker m = {.spec = spec, .out = out, .start = out->len};
    m.next = spec->first != 0 ? spec->first : 2;
    m.page_size = spec->page_size != 0 ? spec->page_size : 4096;
    m.most = spec->keys != 0 ? spec->keys : 64;
    lks_arena_init(&m.arena, MEMORY_MAX);
    const char **paths = lks_arena_array(&m.arena, spec->count + 1, sizeof(*paths));
    LKS_ASSERT(paths != NULL);
    for (size_t i = 0; i < spec->count; i++)
        paths[i] = spec->rows[i].path;
    qsort(paths, spec->count, sizeof(*paths), by_path);
    lks_buf_pad(out, '\0', (ptrdiff_t)((size_t)m.next * m.page_size));
    struct lks_str top = bucket(&m, paths, spec->count, 0);
    uint64_t id = lks_eight((struct lks_str){top.ptr, 8}, 0);
    put_meta(&m, id, 0);
    put_meta(&m, id, 1);
    lks_arena_fini(&m.arena);
}

struct lks_buf lks_test_bolt_new(const struct lks_test_bolt *spec)
{
    struct lks_buf out = LKS_BUF(DATABASE_MAX);
    lks_test_bolt_build(spec, &out);
    CHECK_CODE(out.failed, LKS_OK);
    return out;
}

/* Reading ------------------------------------------------------------------------------------ */

const struct lks_buf *lks_test_bolt_state(const struct lks_test_bolt_file *file)
{
    size_t at = file->every > 0 ? file->reads / file->every : 0;
    return &file->states[at < file->count ? at : file->count - 1];
}

enum lks_code lks_test_bolt_read(void *ctx, uint64_t offset, void *buf, size_t len, size_t *got,
                                 struct lks_err *err)
{
    struct lks_test_bolt_file *file = ctx;
    const struct lks_buf *now = lks_test_bolt_state(file);
    (void)err;
    file->reads++;
    size_t most = file->step > 0 && file->step < len ? file->step : len;
    *got = 0;
    if (offset < now->len)
        *got = now->len - (size_t)offset < most ? now->len - (size_t)offset : most;
    memcpy(buf, now->ptr + (*got > 0 ? offset : 0), *got);
    return LKS_OK;
}
