/* pldm build: a firmware package from a recipe and the files it names. */
#include "base/file.h"
#include "cli/shared/commands.h"
#include "cli/shared/output.h"
#include "cli/shared/path.h"
#include "codec/format/yaml.h"
#include "pldm/recipe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORTION = 256 << 10 };

/* A package that is being built: where images come from, where all of it goes. */
struct making {
    struct lks_docs docs;
    struct lks_pldm_recipe recipe;
    char dir[PATH_MAX]; /* of the recipe */
    const char *output;
    struct stat old; /* what is in its place now */
    bool replaces;
    struct lks_file_temporary out;
    size_t open_image; /* the component whose file is open, plus 1 */
    int image;
    char *portion;
    struct lks_pldm_pass pass;
};

static void making_fini(struct making *m)
{
    if (m->open_image != 0)
        close(m->image);
    lks_file_temporary_fini(&m->out);
    free(m->portion);
    lks_pldm_package_pass_fini(&m->pass);
    lks_pldm_recipe_fini(&m->recipe);
    lks_docs_fini(&m->docs);
}

/* The recipe --------------------------------------------------------------------------------- */

/* Would the package be written over a file that it is made of? */
static bool is_output(const struct making *m, const struct stat *st)
{
    return m->replaces && st->st_dev == m->old.st_dev && st->st_ino == m->old.st_ino;
}

static enum lks_code read_recipe(struct making *m, const char *path, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    const char *slash = strrchr(path, '/');
    struct stat st;
    if (stat(path, &st) == 0 && is_output(m, &st))
        return lks_fail(err, LKS_E_INVALID,
                        "%.200s: the package would be written over its own source", path);
    int len = snprintf(m->dir, sizeof(m->dir), "%.*s", slash != NULL ? (int)(slash - path) : 1,
                       slash != NULL ? path : ".");
    if (len < 0 || (size_t)len >= sizeof(m->dir))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", path);
    if (lks_file_read(path, &text, err) != LKS_OK || lks_docs_init(&m->docs, path, err) != LKS_OK ||
        lks_yaml_parse(lks_buf_view(&text), &m->docs, err) != LKS_OK)
        return err->code;
    return lks_pldm_recipe_read(&m->docs, &m->recipe, err);
}

static enum lks_code path_of(const struct making *m, const struct lks_pldm_wanted *w,
                             char out[PATH_MAX], struct lks_err *err)
{
    int len = w->path.ptr[0] == '/' ? snprintf(out, PATH_MAX, "%s", w->path.ptr)
                                    : snprintf(out, PATH_MAX, "%s/%s", m->dir, w->path.ptr);
    if (len < 0 || len >= PATH_MAX)
        return lks_doc_fail(&m->docs, w->at, err, "too long for a path");
    return LKS_OK;
}

/* Its size is what the header says; its bytes are read when they are written. */
static enum lks_code size_image(struct making *m, const struct lks_pldm_wanted *w, const char *path,
                                struct lks_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return lks_doc_fail(&m->docs, w->at, err, "%.200s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return lks_doc_fail(&m->docs, w->at, err, "%.200s: is not a plain file", path);
    if (st.st_size == 0 || st.st_size > UINT32_MAX)
        return lks_doc_fail(&m->docs, w->at, err, "%.200s: has %lld bytes; an image has 1 to %u",
                            path, (long long)st.st_size, UINT32_MAX);
    if (is_output(m, &st))
        return lks_doc_fail(&m->docs, w->at, err, "the package would be written over this image");
    m->recipe.package.components[w->component].size = (uint32_t)st.st_size;
    return LKS_OK;
}

static enum lks_code read_small(struct making *m, const struct lks_pldm_wanted *w, const char *path,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_PLDM_HEADER_MAX);
    struct lks_err why = {0};
    if (lks_file_read_plain(path, &bytes, &why) != LKS_OK)
        return lks_doc_fail(&m->docs, w->at, err, "%s", why.msg);
    *w->into = lks_arena_copy(&m->recipe.package.arena, lks_buf_view(&bytes));
    return w->into->ptr != NULL ? LKS_OK : lks_arena_fail(&m->recipe.package.arena, err);
}

static enum lks_code find_files(struct making *m, struct lks_err *err)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < m->recipe.wanted_count; i++) {
        const struct lks_pldm_wanted *w = &m->recipe.wanted[i];
        if (path_of(m, w, path, err) != LKS_OK)
            return err->code;
        if ((w->into == NULL ? size_image(m, w, path, err) : read_small(m, w, path, err)) != LKS_OK)
            return err->code;
    }
    return lks_pldm_package_layout(&m->recipe.package, err) == LKS_OK
               ? LKS_OK
               : lks_wrap(err, "%" LKS_STR_FMT, LKS_STR_ARG(m->docs.source));
}

/* Images ------------------------------------------------------------------------------------- */

static const struct lks_pldm_wanted *image_of(const struct making *m, size_t index)
{
    for (size_t i = 0; i < m->recipe.wanted_count; i++)
        if (m->recipe.wanted[i].into == NULL && m->recipe.wanted[i].component == index)
            return &m->recipe.wanted[i];
    return NULL;
}

static enum lks_code open_image(struct making *m, size_t index, struct lks_err *err)
{
    char path[PATH_MAX];
    const struct lks_pldm_wanted *w = image_of(m, index);
    LKS_ASSERT(w != NULL);
    if (m->open_image == index + 1)
        return LKS_OK;
    if (path_of(m, w, path, err) != LKS_OK)
        return err->code;
    if (m->open_image != 0)
        close(m->image);
    m->open_image = 0;
    m->image = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (m->image < 0)
        return lks_file_fail(err, path);
    m->open_image = index + 1;
    return LKS_OK;
}

static enum lks_code read_image(void *ctx, size_t index, uint32_t at, struct lks_str *out,
                                struct lks_err *err)
{
    struct making *m = ctx;
    ssize_t n = -1;
    if (open_image(m, index, err) != LKS_OK)
        return err->code;
    do {
        n = pread(m->image, m->portion, PORTION, (off_t)at);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return lks_file_fail(err, image_of(m, index)->path.ptr);
    *out = (struct lks_str){m->portion, (size_t)n};
    return LKS_OK;
}

/* The file ----------------------------------------------------------------------------------- */

static enum lks_code put_out(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct making *m = ctx;
    if (lks_pldm_package_pass_feed(&m->pass, bytes, err) != LKS_OK)
        return err->code;
    return lks_file_put(m->out.fd, m->output, bytes, err);
}

/* Whole or not at all: under another name until it is on the disk. */
static enum lks_code write_output(struct making *m, struct lks_pldm_sums *sums, struct lks_err *err)
{
    enum { FOR_ALL_TO_READ = 0644 };
    struct lks_pldm_package *p = &m->recipe.package;
    struct lks_pldm_source source = {.read = read_image, .ctx = m};
    struct lks_pldm_sink sink = {.put = put_out, .ctx = m};
    struct lks_pldm_pass_options options = {.file_size = lks_pldm_package_end(p)};
    m->portion = malloc(PORTION);
    if (m->portion == NULL)
        return lks_fail_nomem(err);
    if (lks_file_temporary_open(m->output, FOR_ALL_TO_READ, &m->out, err) != LKS_OK ||
        lks_pldm_package_pass_init(&m->pass, p, &options, err) != LKS_OK)
        return err->code;
    if (lks_pldm_package_write(p, &source, &sink, err) != LKS_OK)
        return lks_wrap(err, "%" LKS_STR_FMT, LKS_STR_ARG(m->docs.source));
    if (lks_pldm_package_pass_finish(&m->pass, sums, err) != LKS_OK)
        return err->code;
    return lks_file_temporary_place(&m->out, m->output, err);
}

static enum lks_code print_built(struct lks_cli *cli, const struct lks_args *args,
                                 const struct making *m, const struct lks_pldm_sums *sums,
                                 struct lks_err *err)
{
    const struct lks_pldm_package *p = &m->recipe.package;
    char digest[LKS_DIGEST_SIZE];
    (void)lks_digest_write(sums->whole, digest);
    uint64_t bytes = lks_pldm_package_end(p);
    if (!lks_args_has(args, "--json")) {
        fprintf(cli->out, "%s: %" PRIu64 " bytes, %zu components for %zu kinds of device\n%s\n",
                m->output, bytes, p->component_count, p->device_count + p->downstream_count,
                digest);
        return LKS_OK;
    }
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_cstr(w, "file", m->output);
    lks_json_int(w, "bytes", (int64_t)bytes);
    lks_json_cstr(w, "digest", digest);
    lks_json_begin(w, "components", '[');
    for (size_t i = 0; i < p->component_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_some(w, "version", p->components[i].version.bytes);
        lks_json_int(w, "bytes", p->components[i].size);
        lks_json_cstr(w, "digest", lks_digest_write(sums->components[i], digest));
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    return lks_output_end(cli, &o, err);
}

enum lks_code lks_cmd_pldm_build(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(making_fini) struct making m = {.output = lks_args_get(args, "--output")};
    struct lks_pldm_sums sums = {0};
    if (m.output == NULL)
        return lks_fail(err, LKS_E_USAGE, "pldm build: --output has to name the file to write");
    m.replaces = stat(m.output, &m.old) == 0;
    if (m.replaces && !S_ISREG(m.old.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.200s: is there and is not a plain file", m.output);
    if (read_recipe(&m, args->positional[0], err) != LKS_OK || find_files(&m, err) != LKS_OK ||
        write_output(&m, &sums, err) != LKS_OK)
        return err->code;
    return print_built(cli, args, &m, &sums, err);
}
