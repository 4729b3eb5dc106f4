#include "probe/kernel/module.h"

#include "codec/program/elf.h"
#include "probe/root/unpack.h"

#include <stdio.h>
#include <unistd.h>

#define TABLE   "module"
#define KEY_MAX (LKS_ROOT_PATH_MAX + 64)

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

/* Finding ------------------------------------------------------------------------------------ */

static const char *const suffixes[] = {".ko", ".ko.zst", ".ko.xz", ".ko.gz"};

/* Below /lib/modules/RELEASE, in depmod's order of preference. */
static const char *const folders[] = {
    "updates/dkms",
    "updates",
    "extra",
    "extra/nvidia",
    "weak-updates",
    "weak-updates/nvidia",
    "kernel/drivers/video",
    "kernel/drivers/video/nvidia",
    "kernel/drivers/char/drm",
};

struct wanted {
    struct lks_root *root;
    const char *release, *name;
};

bool lks_module_is_file(struct lks_str file)
{
    for (size_t i = 0; i < LKS_COUNT(suffixes); i++) {
        if (lks_str_ends(file, suffixes[i]))
            return true;
    }
    return false;
}

/* Whether `file` is NAME.ko, perhaps compressed. Dash and underscore are one in modules' names. */
static bool is_file_of(struct lks_str file, const char *name)
{
    size_t len = strlen(name);
    if (file.len < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char a = file.ptr[i] == '-' ? '_' : file.ptr[i], b = name[i] == '-' ? '_' : name[i];
        if (a != b)
            return false;
    }
    struct lks_str rest = {file.ptr + len, file.len - len};
    for (size_t i = 0; i < LKS_COUNT(suffixes); i++) {
        if (lks_str_is(rest, suffixes[i]))
            return true;
    }
    return false;
}

/* "updates/dkms/nvidia.ko.zst: kernel/x.ko ...", line by line; only what precedes the colon is
 * kept. */
struct dep_scan {
    const char *name;
    char path[LKS_ROOT_PATH_MAX];
    size_t len;
    bool after;   /* the colon of this line */
    bool invalid; /* longer than a path */
    bool found;
};

static void dep_line(struct dep_scan *d)
{
    struct lks_str path = {d->path, d->len};
    d->found = !d->invalid && is_file_of(lks_str_last(path, '/'), d->name);
    d->path[d->len] = '\0';
}

static bool dep_feed(void *ctx, struct lks_str bytes)
{
    struct dep_scan *d = ctx;
    for (size_t i = 0; i < bytes.len && !d->found; i++) {
        char c = bytes.ptr[i];
        if (c == '\n') {
            d->len = 0;
            d->after = d->invalid = false;
        } else if (c == ':' && !d->after) {
            d->after = true;
            dep_line(d);
        } else if (!d->after && d->len + 1 < sizeof(d->path)) {
            d->path[d->len++] = c;
        } else if (!d->after) {
            d->invalid = true;
        }
    }
    return !d->found;
}

static enum lks_code find_in_dep(const struct wanted *w, struct lks_buf *out, struct lks_err *err)
{
    char path[LKS_ROOT_PATH_MAX];
    struct stat st;
    LKS_CLEANUP(close_fd) int fd = -1;
    struct dep_scan d = {.name = w->name};
    snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", w->release);
    if (lks_root_file(w->root, path, &fd, &st, err) != LKS_OK ||
        lks_unpack(w->root, fd, path, (uint64_t)64 << 20, dep_feed, &d, err) != LKS_OK)
        return err->code;
    if (!d.found || !lks_str_printable(lks_str_from(d.path)))
        return lks_fail(err, LKS_E_NOT_FOUND, "%s does not list %s", path, w->name);
    if (d.path[0] != '/')
        lks_buf_addf(out, "/lib/modules/%s/", w->release);
    lks_buf_addf(out, "%s", d.path);
    return lks_buf_check(out, err);
}

static enum lks_code find_in_folders(const struct wanted *w, struct lks_buf *out,
                                     struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(folders) * LKS_COUNT(suffixes); i++) {
        char path[LKS_ROOT_PATH_MAX];
        struct stat st;
        LKS_CLEANUP(close_fd) int fd = -1;
        snprintf(path, sizeof(path), "/lib/modules/%s/%s/%s%s", w->release,
                 folders[i / LKS_COUNT(suffixes)], w->name, suffixes[i % LKS_COUNT(suffixes)]);
        if (lks_root_file(w->root, path, &fd, &st, err) != LKS_OK)
            continue;
        lks_buf_addf(out, "%s", path);
        return lks_buf_check(out, err);
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "no module %s below /lib/modules/%s", w->name,
                    w->release);
}

static enum lks_code ask_find(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct wanted *w = ctx;
    enum lks_code code = find_in_dep(w, out, err);
    return code == LKS_E_NOT_FOUND ? find_in_folders(w, out, err) : code;
}

/* A release is a word of a file name. */
static bool is_release(const char *release)
{
    return release[0] != '\0' && release[0] != '.' && strchr(release, '/') == NULL &&
           strlen(release) < 256;
}

enum lks_code lks_module_find(struct lks_root *root, const char *release, const char *name,
                              char out[LKS_ROOT_PATH_MAX], struct lks_err *err)
{
    struct wanted w = {root, release, name};
    if (!is_release(release))
        return lks_fail(err, LKS_E_INVALID, "'%.64s' is no release of a kernel", release);
    char key[KEY_MAX];
    snprintf(key, sizeof(key), "%s of %s", name, release);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF(LKS_ROOT_PATH_MAX - 1);
    if (lks_root_ask_file(root, TABLE, key, ask_find, &w, &path, err) != LKS_OK)
        return err->code;
    if (path.len == 0 || path.ptr[0] != '/')
        return lks_fail(err, LKS_E_INVALID, "%s: its recorded path is none", key);
    memcpy(out, path.ptr, path.len + 1);
    return LKS_OK;
}

/* What it says of itself --------------------------------------------------------------------- */

struct opened {
    struct lks_root *root;
    const char *path;
    int fd;
};

static bool feed_scanner(void *ctx, struct lks_str bytes)
{
    return !lks_modinfo_feed(ctx, bytes);
}

/* Of a file that is not compressed only the section is read. */
static bool scan_section(struct opened *o, uint64_t size, struct lks_modinfo_scanner *scanner)
{
    struct lks_elf elf;
    struct lks_elf_part part;
    struct lks_err err;
    struct lks_elf_file file = {size, &o->fd, lks_root_read_at};
    if (lks_elf_read(&file, &elf, &err) != LKS_OK ||
        lks_elf_section(&elf, ".modinfo", &part, &err) != LKS_OK)
        return false;
    char piece[4096];
    for (uint64_t at = 0; at < part.size; at += sizeof(piece)) {
        size_t len = part.size - at < sizeof(piece) ? (size_t)(part.size - at) : sizeof(piece);
        if (lks_elf_bytes(&elf, part.offset + at, piece, len, &err) != LKS_OK)
            return false;
        (void)lks_modinfo_feed(scanner, (struct lks_str){piece, len});
    }
    return true;
}

static enum lks_code scan(struct opened *o, uint64_t size, struct lks_modinfo *out,
                          struct lks_err *err)
{
    struct lks_modinfo_scanner scanner = {0};
    if (!scan_section(o, size, &scanner)) {
        scanner = (struct lks_modinfo_scanner){0};
        if (lks_unpack(o->root, o->fd, o->path, LKS_MODULE_BYTES_MAX, feed_scanner, &scanner,
                       err) != LKS_OK)
            return err->code;
    }
    /* There is a file, so it is not absent even where it does not look like a module. */
    if (lks_modinfo_end(&scanner, out, err) != LKS_OK)
        return lks_fail(err, LKS_E_INVALID, "%s: is no kernel module", o->path);
    return LKS_OK;
}

static enum lks_code ask_info(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct opened *o = ctx;
    struct stat st;
    struct lks_modinfo info;
    LKS_CLEANUP(close_fd) int fd = -1;
    if (lks_root_file(o->root, o->path, &fd, &st, err) != LKS_OK)
        return err->code;
    o->fd = fd;
    if (scan(o, (uint64_t)st.st_size, &info, err) != LKS_OK)
        return err->code;
    lks_buf_addf(out, "version=%s srcversion=%s license=%s", info.version, info.srcversion,
                 info.license);
    return lks_buf_check(out, err);
}

/* Values are words; the last one, which may have blanks, goes to the end. */
static bool take(struct lks_str *rest, const char *key, bool last, char out[])
{
    struct lks_str word = *rest, none = {0};
    if (!lks_str_starts(*rest, key))
        return false;
    if (!last)
        (void)lks_str_cut(*rest, ' ', &word, rest);
    else
        *rest = none;
    size_t skip = strlen(key);
    if (word.len - skip > LKS_MODINFO_VALUE_MAX)
        return false;
    memcpy(out, word.ptr + skip, word.len - skip);
    out[word.len - skip] = '\0';
    return true;
}

enum lks_code lks_module_info(struct lks_root *root, const char *path, struct lks_modinfo *out,
                              struct lks_err *err)
{
    struct opened o = {root, path, -1};
    char key[KEY_MAX];
    snprintf(key, sizeof(key), "modinfo %s", path);
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf text = LKS_BUF((size_t)4 * (LKS_MODINFO_VALUE_MAX + 1));
    if (lks_root_ask_file(root, TABLE, key, ask_info, &o, &text, err) != LKS_OK)
        return err->code;
    struct lks_modinfo info = {0};
    struct lks_str rest = lks_buf_view(&text);
    if (!take(&rest, "version=", false, info.version) ||
        !take(&rest, "srcversion=", false, info.srcversion) ||
        !take(&rest, "license=", true, info.license))
        return lks_fail(err, LKS_E_INVALID, "%s: the recorded answer is damaged", key);
    *out = info;
    return LKS_OK;
}
