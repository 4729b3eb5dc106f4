#include "probe/library/libread.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define PIECE          ((size_t)1 << 18)
#define SIGN_OF_LIFE   ((uint64_t)64 << 20) /* bytes hashed between two */

const struct lks_libver_kind *lks_libread_kind(struct lks_str name)
{
    const struct lks_libver_kind *kind = lks_libver_kind(name), *whole;
    for (size_t i = 0; kind != NULL && (whole = lks_libver_kind_at(i)) != NULL; i++) {
        size_t len = strlen(whole->stem);
        if (strcmp(whole->component, kind->component) == 0 &&
            strncmp(kind->stem, whole->stem, len) == 0 && kind->stem[len] == '_')
            return NULL;
    }
    return kind;
}

bool lks_libread_is_driver(const struct lks_libver_kind *kind)
{
    return strcmp(kind->component, "driver") == 0;
}

/* A library as a line ------------------------------------------------------------------------ */

/* Evidence is the last: it may have blanks in it. */
static const struct lks_str_field fields[] = {
    {"version=", offsetof(struct lks_library, version)},
    {"from=", offsetof(struct lks_library, from)},
    {"named=", offsetof(struct lks_library, named)},
    {"soname=", offsetof(struct lks_library, soname)},
    {"build_id=", offsetof(struct lks_library, build_id)},
};

#define EVIDENCE "evidence="

static struct lks_str *field_of(struct lks_library *l, size_t i)
{
    return (struct lks_str *)(void *)((char *)l + fields[i].at);
}

void lks_libread_write(const struct lks_library *l, struct lks_buf *out)
{
    struct lks_library copy = *l;
    for (size_t i = 0; i < LKS_COUNT(fields); i++) {
        const struct lks_str *value = field_of(&copy, i);
        if (value->len > 0 && lks_str_printable(*value) && lks_str_find(*value, LKS_STR(" ")) < 0)
            lks_buf_addf(out, "%s%" LKS_STR_FMT " ", fields[i].name, LKS_STR_ARG(*value));
    }
    lks_buf_addf(out, EVIDENCE "%" LKS_STR_FMT, LKS_STR_ARG(l->evidence));
}

enum lks_code lks_libread_parse(struct lks_str line, struct lks_library *out, struct lks_err *err)
{
    struct lks_library l = {0};
    while (!lks_str_starts(line, EVIDENCE)) {
        struct lks_str word;
        size_t i = 0;
        if (!lks_str_cut(line, ' ', &word, &line))
            return lks_fail(err, LKS_E_INVALID, "what was recorded of this library is damaged");
        while (i < LKS_COUNT(fields) && !lks_str_starts(word, fields[i].name))
            i++;
        if (i == LKS_COUNT(fields) || field_of(&l, i)->len > 0)
            return lks_fail(err, LKS_E_INVALID, "what was recorded of this library is damaged");
        size_t len = strlen(fields[i].name);
        *field_of(&l, i) = (struct lks_str){word.ptr + len, word.len - len};
    }
    l.evidence = (struct lks_str){line.ptr + sizeof(EVIDENCE) - 1, line.len - sizeof(EVIDENCE) + 1};
    *out = l;
    return LKS_OK;
}

/* Files -------------------------------------------------------------------------------------- */

struct question {
    struct lks_libread *r;
    const char *path;
    struct lks_str name;
    const char *table;
    enum lks_code (*fn)(const struct question *q, int fd, const struct stat *st,
                        struct lks_buf *out, struct lks_err *err);
};

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static enum lks_code ask_file(const struct question *q, int fd, const struct stat *st,
                              struct lks_buf *out, struct lks_err *err)
{
    struct lks_libcache *cache = q->r->cache;
    struct lks_str kept = {0};
    struct stat now;
    size_t before = out->len;
    if (cache != NULL)
        kept = lks_libcache_find(cache, st, q->table);
    lks_buf_add(out, kept);
    if (kept.len > 0)
        return LKS_OK;
    enum lks_code code = q->fn(q, fd, st, out, err);
    if (code == LKS_OK && (fstat(fd, &now) != 0 || !same_state(st, &now)))
        code = lks_fail(err, LKS_E_UNAVAILABLE, "it changed while it was read");
    if (code == LKS_OK && cache != NULL && out->failed == LKS_OK)
        lks_libcache_add(cache, st, q->table,
                         (struct lks_str){out->ptr + before, out->len - before}, time(NULL));
    return code;
}

static enum lks_code open_and_ask(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct question *q = ctx;
    struct stat st;
    int fd = -1;
    if (lks_root_file(q->r->root, q->path, &fd, &st, err) != LKS_OK)
        return err->code;
    enum lks_code code = ask_file(q, fd, &st, out, err);
    (void)close(fd);
    return code;
}

/* The answer, kept in the arena. */
static enum lks_code ask(const struct question *q, struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LINE_MAX_BYTES);
    struct question copy = *q;
    struct lks_libread *r = q->r;
    for (size_t i = 0; i < r->recent_count; i++) {
        if (strcmp(r->recent[i].table, q->table) == 0 && lks_str_is(r->recent[i].path, q->path)) {
            *out = r->recent[i].answer;
            return LKS_OK;
        }
    }
    if (lks_root_ask_file(r->root, q->table, q->path, open_and_ask, &copy, &line, err) != LKS_OK)
        return err->code;
    *out = lks_arena_copy(r->arena, lks_buf_view(&line));
    if (out->ptr == NULL)
        return lks_arena_fail(r->arena, err);
    if (r->recent_count < LKS_LIBREAD_RECENT) {
        r->recent[r->recent_count].table = q->table;
        r->recent[r->recent_count].path = lks_str_from(q->path);
        r->recent[r->recent_count++].answer = *out;
    }
    return LKS_OK;
}

/* Versions ----------------------------------------------------------------------------------- */

static enum lks_code read_version(const struct question *q, int fd, const struct stat *st,
                                  struct lks_buf *out, struct lks_err *err)
{
    struct lks_elf_file file = {(uint64_t)st->st_size, &fd, lks_root_read_at};
    struct lks_elf elf;
    struct lks_libver v = {0};
    struct lks_err why = {0};
    const struct lks_libver_kind *kind = lks_libver_kind(q->name);
    LKS_ASSERT(kind != NULL);
    if (lks_elf_read(&file, &elf, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_libver_read(kind, &elf, q->name, &v, &why);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
        *err = why;
        return code;
    }
    static const char *const words[] = {"", "string", "symbol", "name"};
    struct lks_library l = {
        .version = lks_str_from(v.version),
        .from = lks_str_from(words[v.from]),
        .named = lks_str_from(v.named),
        .soname = lks_str_from(elf.soname),
        .build_id = lks_str_from(elf.build_id),
        .evidence = lks_str_from(code == LKS_OK ? v.evidence : why.msg),
    };
    lks_libread_write(&l, out);
    return LKS_OK;
}

static enum lks_code read_one(struct lks_libread *r, struct lks_str path, struct lks_str name,
                              struct lks_library *out, struct lks_err *err)
{
    struct lks_str at = lks_arena_copy(r->arena, path), line = {0};
    if (at.ptr == NULL)
        return lks_arena_fail(r->arena, err);
    struct question q = {r, at.ptr, name, "elf", read_version};
    return ask(&q, &line, err) != LKS_OK ? err->code : lks_libread_parse(line, out, err);
}

/* A library that only passes calls on has its version in those beside it. */
static void read_beside(struct lks_libread *r, const struct lks_libver_kind *kind,
                        struct lks_str path, struct lks_str name, struct lks_library *l)
{
    char beside[LKS_LIBVER_NAME_MAX + 1];
    struct lks_str file = lks_str_last(path, '/');
    if (!lks_str_eq(file, name))
        return; /* a file without a name of its own has nothing beside it */
    for (size_t i = 0; lks_libver_beside(kind, name, i, beside); i++) {
        struct lks_library other = {0};
        struct lks_err err;
        struct lks_str at = lks_arena_format(r->arena, "%" LKS_STR_FMT "%s",
                                             (int)(path.len - file.len), path.ptr, beside);
        if (at.ptr == NULL || read_one(r, at, lks_str_last(at, '/'), &other, &err) != LKS_OK ||
            other.version.len == 0 || lks_str_is(other.from, "name"))
            continue;
        l->version = other.version;
        l->from = other.from;
        l->evidence = other.evidence;
        l->beside = lks_str_last(at, '/');
        return;
    }
}

enum lks_code lks_libread(struct lks_libread *r, struct lks_str path, struct lks_str name,
                          struct lks_library *out, struct lks_err *err)
{
    name = lks_str_last(name, '/');
    const struct lks_libver_kind *kind = lks_libver_kind(name);
    if (kind == NULL)
        return lks_fail(err, LKS_E_INVALID, "not the name of a library that we know");
    if (read_one(r, path, name, out, err) != LKS_OK)
        return err->code;
    read_beside(r, kind, path, name, out);
    return LKS_OK;
}

/* Hashes ------------------------------------------------------------------------------------- */

static enum lks_code hash_pieces(const struct question *q, int fd, EVP_MD_CTX *md, char *piece,
                                 struct lks_err *err)
{
    uint64_t total = 0, told = 0;
    for (;;) {
        ssize_t n = read(fd, piece, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return lks_fail(err, LKS_E_IO, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return LKS_OK;
        total += (uint64_t)n;
        if (total > LKS_LIBREAD_HASH_MAX)
            return lks_fail(err, LKS_E_LIMIT, "too large to be hashed");
        if (EVP_DigestUpdate(md, piece, (size_t)n) != 1)
            return lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
        if (total - told >= SIGN_OF_LIFE) {
            lks_root_alive(q->r->root, q->path);
            told = total;
        }
    }
}

static enum lks_code read_hash(const struct question *q, int fd, const struct stat *st,
                               struct lks_buf *out, struct lks_err *err)
{
    (void)st;
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    char *piece = malloc(PIECE);
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    enum lks_code code = LKS_OK;
    if (piece == NULL || md == NULL)
        code = lks_fail_nomem(err);
    else if (EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
        code = lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    else
        code = hash_pieces(q, fd, md, piece, err);
    if (code == LKS_OK && EVP_DigestFinal_ex(md, raw, &len) != 1)
        code = lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    for (unsigned i = 0; code == LKS_OK && i < len; i++)
        lks_buf_addf(out, "%02x", raw[i]);
    EVP_MD_CTX_free(md);
    free(piece);
    return code;
}

enum lks_code lks_libread_sha256(struct lks_libread *r, struct lks_str path,
                                 char out[LKS_SHA256_TEXT_SIZE], struct lks_err *err)
{
    struct lks_str at = lks_arena_copy(r->arena, path), line = {0};
    if (at.ptr == NULL)
        return lks_arena_fail(r->arena, err);
    struct question q = {r, at.ptr, lks_str_last(at, '/'), "sha256", read_hash};
    if (ask(&q, &line, err) != LKS_OK)
        return err->code;
    if (line.len != LKS_SHA256_TEXT_SIZE - 1)
        return lks_fail(err, LKS_E_INVALID, "the recorded SHA-256 is damaged");
    memcpy(out, line.ptr, LKS_SHA256_TEXT_SIZE);
    return LKS_OK;
}
