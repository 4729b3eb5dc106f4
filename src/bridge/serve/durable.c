#include "bridge/serve/durable.h"

#include "base/file.h"
#include "codec/format/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)4 << 10)

enum { FOLDER_MODE = 0700, LOCK_MODE = 0600 };

static bool read_number(const struct lks_doc *map, const char *key, uint64_t *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->number < 0)
        return false;
    *out = (uint64_t)doc->number;
    return true;
}

static enum lks_code load(struct lks_durable *d, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_BYTES_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    enum lks_code code = lks_file_read_plain(d->path, &text, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    if (code != LKS_OK)
        return code;
    if (lks_docs_init(&docs, d->path, err) != LKS_OK)
        return err->code;
    if (lks_json_parse(lks_buf_view(&text), &docs, err) != LKS_OK ||
        !read_number(docs.first, "epoch", &d->epoch) ||
        !read_number(docs.first, "revision", &d->ceiling))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: not a file of the bridge; restore it, or remove it once no older "
                        "controller runs: the epoch in it keeps those out",
                        d->path);
    return LKS_OK;
}

static enum lks_code lock(struct lks_durable *d, const char *folder, struct lks_err *err)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/lock", folder);
    if (len < 0 || (size_t)len >= sizeof(path))
        return lks_fail(err, LKS_E_INVALID, "--state: the path is too long");
    d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, LOCK_MODE);
    if (d->lock < 0)
        return lks_file_fail(err, path);
    if (flock(d->lock, LOCK_EX | LOCK_NB) == 0)
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED, "%s: another lockstep-slurm-bridge has this folder; end it",
                    folder);
}

enum lks_code lks_durable_open(const char *folder, struct lks_durable *out, struct lks_err *err)
{
    struct lks_durable d = {.lock = -1};
    int len = snprintf(d.path, sizeof(d.path), "%s/bridge.json", folder);
    if (len < 0 || (size_t)len >= sizeof(d.path))
        return lks_fail(err, LKS_E_INVALID, "--state: the path is too long");
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST)
        return lks_file_fail(err, folder);
    enum lks_code code = lock(&d, folder, err);
    if (code == LKS_OK)
        code = load(&d, err);
    if (code == LKS_OK)
        *out = d;
    else
        lks_durable_close(&d);
    return code;
}

void lks_durable_close(struct lks_durable *d)
{
    if (d->lock >= 0)
        close(d->lock);
    d->lock = -1;
}

enum lks_code lks_durable_keep(struct lks_durable *d, uint64_t epoch, uint64_t ceiling,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_BYTES_MAX);
    struct lks_json_writer w = {.out = &text};
    lks_json_write(&w, "{'epoch': %lu, 'revision': %lu}", epoch, ceiling);
    lks_buf_addc(&text, '\n');
    if (lks_buf_check(&text, err) != LKS_OK ||
        lks_file_replace(d->path, lks_buf_view(&text), err) != LKS_OK)
        return err->code;
    d->epoch = epoch;
    d->ceiling = ceiling;
    return LKS_OK;
}
