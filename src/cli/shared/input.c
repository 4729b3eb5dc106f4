#include "cli/shared/input.h"

#include "base/file.h"
#include "base/near.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TABLES_MAX = 64, TABLE_BYTES_MAX = 16 * 1024 * 1024, PATH_BYTES_MAX = 4096 };

/* Tables of a site directory while they are read. */
struct overlay {
    struct lks_facts_file files[TABLES_MAX];
    struct lks_buf texts[TABLES_MAX];
    struct lks_buf paths[TABLES_MAX];
    size_t count;
};

static void overlay_fini(struct overlay *o)
{
    for (size_t i = 0; i < o->count; i++) {
        lks_buf_fini(&o->texts[i]);
        lks_buf_fini(&o->paths[i]);
    }
    o->count = 0;
}

static void close_dir(DIR **dir)
{
    if (*dir != NULL)
        closedir(*dir);
}

/* The table called `name`, as a text that outlives the directory entry. */
static const char *table_name(const char *name, struct lks_near *near)
{
    *near = lks_near_to(lks_str_from(name));
    for (size_t i = 0; lks_facts_file_name(i) != NULL; i++) {
        const char *known = lks_facts_file_name(i);
        if (strcmp(known, name) == 0)
            return known;
        lks_near_try(near, lks_str_from(known));
    }
    return strcmp(name, LKS_FACTS_SITE_EDGES) == 0 ? LKS_FACTS_SITE_EDGES : NULL;
}

static bool looks_like_table(const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot != NULL && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".yaml") == 0);
}

static enum lks_code add_table(struct overlay *o, const char *dir, const char *name,
                               struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near;
    const char *known = table_name(name, &near);
    if (known == NULL)
        return lks_fail(err, LKS_E_INVALID, "%s/%s: no table has this name%s", dir, name,
                        lks_near_hint(&near, hint));
    LKS_ASSERT(o->count < TABLES_MAX);
    struct lks_buf *path = &o->paths[o->count], *text = &o->texts[o->count];
    lks_buf_init(path, PATH_BYTES_MAX);
    lks_buf_init(text, TABLE_BYTES_MAX);
    o->count++;
    lks_buf_addf(path, "%s/%s", dir, name);
    if (lks_buf_check(path, err) != LKS_OK || lks_file_read_plain(path->ptr, text, err) != LKS_OK)
        return err->code;
    o->files[o->count - 1] = (struct lks_facts_file){known, path->ptr, lks_buf_view(text)};
    return LKS_OK;
}

static enum lks_code read_overlay(const char *path, struct overlay *o, struct lks_err *err)
{
    LKS_CLEANUP(close_dir) DIR *dir = opendir(path);
    if (dir == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (looks_like_table(entry->d_name) && add_table(o, path, entry->d_name, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_input_facts(const char *dir, struct lks_facts *out, struct lks_err *err)
{
    LKS_CLEANUP(overlay_fini) struct overlay overlay = {0};
    if (dir != NULL && read_overlay(dir, &overlay, err) != LKS_OK)
        return err->code;
    return lks_facts_load(lks_embedded_data, overlay.files, overlay.count, out, err);
}

/* How messages call a file. */
static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static enum lks_code read_manifest(const char *path, const struct lks_facts *facts,
                                   const struct lks_manifest *library, struct lks_manifest *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    return lks_manifest_parse(shown(path), lks_buf_view(&text), facts, library, out, err);
}

/* The file that is checked is the one that is read: another may have its name by then. */
enum lks_code lks_input_private(const char *path, const char *what, bool plain, struct lks_buf *out,
                                struct lks_err *err)
{
    struct stat st;
    enum lks_code code = LKS_OK;
    if (!plain && strcmp(path, "-") == 0)
        return lks_file_read(path, out, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (plain ? O_NONBLOCK : 0));
    if (fd < 0)
        return lks_file_fail(err, path);
    if (fstat(fd, &st) != 0)
        code = lks_file_fail(err, path);
    else if (plain && !S_ISREG(st.st_mode))
        code = lks_fail(err, LKS_E_INVALID, "%.200s: is not a plain file", path);
    else if (S_ISREG(st.st_mode) && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        code = lks_fail(err, LKS_E_DENIED,
                        "%.200s: others may read this %s (mode %03o); keep them out: chmod 600 "
                        "%.200s",
                        path, what, (unsigned)st.st_mode & 0777U, path);
    else
        code = lks_file_read_fd(fd, path, out, err);
    close(fd);
    return code;
}

void lks_input_wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->len);
    lks_buf_fini(b);
}

enum lks_code lks_input_begin(struct lks_cli *cli, const struct lks_args *args,
                              struct lks_input *out, struct lks_err *err)
{
    const char *classes = lks_args_get(args, "--class");
    if (lks_input_facts(cli->data_dir, &out->facts, err) != LKS_OK)
        return err->code;
    return classes != NULL ? read_manifest(classes, &out->facts, NULL, &out->library, err) : LKS_OK;
}

enum lks_code lks_input_load(struct lks_cli *cli, const struct lks_args *args, const char *path,
                             struct lks_input *out, struct lks_err *err)
{
    if (lks_input_begin(cli, args, out, err) != LKS_OK)
        return err->code;
    return read_manifest(path, &out->facts, &out->library, &out->manifest, err);
}

void lks_input_fini(struct lks_input *input)
{
    lks_manifest_fini(&input->manifest);
    lks_manifest_fini(&input->library);
    lks_facts_fini(&input->facts);
}

enum lks_code lks_input_manifest(const struct lks_input *input, const char *path,
                                 struct lks_manifest *out, struct lks_err *err)
{
    return read_manifest(path, &input->facts, &input->library, out, err);
}

enum lks_code lks_input_lint(const struct lks_input *input, const char *path,
                             struct lks_doc_faults *faults, struct lks_manifest *out,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    *faults = (struct lks_doc_faults){0};
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    return lks_manifest_lint(shown(path), lks_buf_view(&text), &input->facts, &input->library,
                             faults, out, err);
}

enum lks_code lks_input_faults(struct lks_cli *cli, const char *file,
                               const struct lks_doc_faults *faults, struct lks_err *err)
{
    if (faults->count < 2)
        return err->code;
    for (size_t i = 0; i < faults->count; i++)
        fprintf(cli->err, "lockstep: %s\n", faults->list[i].err.msg);
    if (faults->more > 0)
        return lks_fail(err, err->code, "%.200s: %zu errors, and %zu more", shown(file),
                        faults->count, faults->more);
    return lks_fail(err, err->code, "%.200s: %zu errors", shown(file), faults->count);
}

enum lks_code lks_input_text(const struct lks_input *input, const char *source, struct lks_str text,
                             struct lks_manifest *out, struct lks_err *err)
{
    return lks_manifest_parse(source, text, &input->facts, &input->library, out, err);
}

enum lks_code lks_input_stack(const struct lks_manifest *manifest, struct lks_str name,
                              const struct lks_stack **out, struct lks_err *err)
{
    struct lks_str source = manifest->docs.source;
    if (manifest->stack_count == 0)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": holds no stack",
                        LKS_STR_ARG(source));
    if (name.len == 0 && manifest->stack_count > 1)
        return lks_fail(err, LKS_E_USAGE,
                        "%" LKS_STR_FMT ": holds %zu stacks; choose one with --stack NAME",
                        LKS_STR_ARG(source), manifest->stack_count);
    for (size_t i = 0; i < manifest->stack_count; i++) {
        *out = &manifest->stacks[i];
        if (name.len == 0 || lks_str_eq(manifest->stacks[i].name, name))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "%" LKS_STR_FMT ": no stack is called '%" LKS_STR_FMT "'",
                    LKS_STR_ARG(source), LKS_STR_ARG(name));
}

enum lks_code lks_input_load_stack(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_input *out, const struct lks_stack **stack,
                                   struct lks_err *err)
{
    if (lks_input_load(cli, args, args->positional[0], out, err) != LKS_OK)
        return err->code;
    return lks_input_stack(&out->manifest, lks_args_str(args, "--stack"), stack, err);
}
