#include "cli/shared/controller.h"

#include "base/file.h"
#include "codec/format/yaml.h"
#include "drivers/store/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_SEAL_KEY "file:seal.key"

enum { CONFIG_MAX = 1 << 20, KEY_TEXT_MAX = 4096 };

enum lks_code lks_controller_journal(const char *place, enum lks_store_mode mode,
                                     struct lks_store *out, struct lks_err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (stat(place, &st) == 0 && !S_ISDIR(st.st_mode))
        return lks_store_sqlite_open(place, mode, out, err);
    if (lks_path_join(path, place, "journal.db", err) != LKS_OK)
        return err->code;
    return lks_store_sqlite_open(path, mode, out, err);
}

/* The configuration, as text and as a document. */
struct config {
    char path[PATH_MAX];
    struct lks_buf text;
    struct lks_docs docs;
};

static void config_fini(struct config *c)
{
    lks_docs_fini(&c->docs);
    lks_buf_fini(&c->text);
}

static enum lks_code read_config(const char *dir, struct config *out, struct lks_err *err)
{
    lks_buf_init(&out->text, CONFIG_MAX);
    if (lks_path_join(out->path, dir, "lockstepd.yaml", err) != LKS_OK ||
        lks_file_read_plain(out->path, &out->text, err) != LKS_OK ||
        lks_docs_init(&out->docs, out->path, err) != LKS_OK)
        return err->code;
    return lks_yaml_parse(lks_buf_view(&out->text), &out->docs, err);
}

enum lks_code lks_controller_at_home(const char *dir, struct lks_err *err)
{
    LKS_CLEANUP(config_fini) struct config c = {0};
    struct stat here, there;
    char data[PATH_MAX];
    if (stat(dir, &here) != 0)
        return lks_file_fail(err, dir);
    if (read_config(dir, &c, err) != LKS_OK)
        return err->code;
    snprintf(data, sizeof(data), "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(c.docs.first, "data")));
    if (stat(data, &there) != 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino)
        return lks_fail(
            err, LKS_E_REFUSED,
            "%s: data is '%s', and lockstepd would run there; to run it here, change it", c.path,
            data);
    return LKS_OK;
}

enum lks_code lks_controller_server(const char *dir, char out[PATH_MAX], struct lks_err *err)
{
    LKS_CLEANUP(config_fini) struct config c = {0};
    if (read_config(dir, &c, err) != LKS_OK)
        return err->code;
    struct lks_str given = lks_doc_text(c.docs.first, "socket");
    struct lks_str place = given.len > 0 ? given : lks_doc_text(c.docs.first, "data");
    int len = snprintf(out, PATH_MAX, "unix:%" LKS_STR_FMT "%s", LKS_STR_ARG(place),
                       given.len > 0 ? "" : "/lockstepd.sock");
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: socket: too long for a path", c.path);
    return LKS_OK;
}

/* Whole paths alone: what begins behind a quote or a colon and ends at a slash or a quote. */
static void move_paths(struct lks_str text, struct lks_str from, const char *to,
                       struct lks_buf *out)
{
    for (ptrdiff_t at; from.len > 0 && (at = lks_str_find(text, from)) >= 0;) {
        size_t end = (size_t)at + from.len;
        bool whole = (at == 0 || strchr(" \"':", text.ptr[at - 1]) != NULL) &&
                     (end == text.len || strchr("/\"'\n ", text.ptr[end]) != NULL);
        lks_buf_add(out, (struct lks_str){text.ptr, (size_t)at});
        lks_buf_add(out, whole ? lks_str_from(to) : from);
        text = (struct lks_str){text.ptr + end, text.len - end};
    }
    lks_buf_add(out, text);
}

enum lks_code lks_controller_move_in(const char *dir, struct lks_err *err)
{
    LKS_CLEANUP(config_fini) struct config c = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf moved = LKS_BUF(CONFIG_MAX);
    char here[PATH_MAX];
    if (realpath(dir, here) == NULL)
        return lks_file_fail(err, dir);
    if (read_config(dir, &c, err) != LKS_OK)
        return err->code;
    move_paths(lks_buf_view(&c.text), lks_doc_text(c.docs.first, "data"), here, &moved);
    if (lks_buf_check(&moved, err) != LKS_OK ||
        lks_file_replace(c.path, lks_buf_view(&moved), err) != LKS_OK)
        return err->code;
    return lks_controller_at_home(dir, err);
}

enum lks_code lks_controller_seal_key(const char *dir, struct lks_seal_key *out,
                                      struct lks_err *err)
{
    LKS_CLEANUP(config_fini) struct config c = {0};
    char reference[PATH_MAX];
    if (read_config(dir, &c, err) != LKS_OK)
        return err->code;
    struct lks_str given = lks_doc_text(c.docs.first, "seal_key");
    int len = snprintf(reference, sizeof(reference), "%" LKS_STR_FMT,
                       LKS_STR_ARG(given.len > 0 ? given : LKS_STR(DEFAULT_SEAL_KEY)));
    if (len < 0 || (size_t)len >= sizeof(reference))
        return lks_fail(err, LKS_E_INVALID, "%s: seal_key: too long for a path", c.path);
    return lks_secrets_key(dir, reference, out, err);
}

enum lks_code lks_controller_journal_key(const char *dir, struct lks_key *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf seed = LKS_BUF(LKS_SECRET_MAX);
    struct lks_seal_key seal;
    enum lks_code code = lks_controller_seal_key(dir, &seal, err);
    if (code == LKS_OK)
        code = lks_secrets_read(dir, &seal, "journal.key", &seed, err);
    if (code == LKS_OK && seed.len != LKS_KEY_BYTES)
        code = lks_fail(err, LKS_E_INVALID, "the journal's key has %zu bytes", seed.len);
    if (code == LKS_OK)
        code = lks_key_make((const uint8_t *)seed.ptr, out, err);
    explicit_bzero(&seal, sizeof(seal));
    if (seed.ptr != NULL)
        explicit_bzero(seed.ptr, seed.cap);
    return code;
}

enum lks_code lks_controller_public_key(const char *path, struct lks_public_key *out,
                                        struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(KEY_TEXT_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    return lks_key_public_file(path, lks_buf_view(&text), out, err);
}

const char *lks_controller_who(char out[LKS_CONTROLLER_WHO_SIZE])
{
    snprintf(out, LKS_CONTROLLER_WHO_SIZE, "unix:%u", (unsigned)getuid());
    return out;
}
