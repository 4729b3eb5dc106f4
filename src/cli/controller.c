#include "cli/controller.h"

#include "base/file.h"
#include "codec/yaml.h"
#include "drivers/store_secrets.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_SEAL_KEY "file:seal.key"

enum { CONFIG_MAX = 1 << 20, KEY_TEXT_MAX = 4096 };

enum lks_code lks_controller_path(char out[PATH_MAX], const char *dir, const char *name,
                                  struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", dir);
    return LKS_OK;
}

enum lks_code lks_controller_journal(const char *place, enum lks_store_mode mode,
                                     struct lks_store *out, struct lks_err *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (stat(place, &st) == 0 && !S_ISDIR(st.st_mode))
        return lks_store_sqlite_open(place, mode, out, err);
    if (lks_controller_path(path, place, "journal.db", err) != LKS_OK)
        return err->code;
    return lks_store_sqlite_open(path, mode, out, err);
}

enum lks_code lks_controller_seal_key(const char *dir, struct lks_seal_key *out,
                                      struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char path[PATH_MAX], reference[PATH_MAX];
    lks_buf_init(&text, CONFIG_MAX);
    if (lks_controller_path(path, dir, "lockstepd.yaml", err) != LKS_OK ||
        lks_file_read_plain(path, &text, err) != LKS_OK ||
        lks_docs_init(&docs, path, err) != LKS_OK ||
        lks_yaml_parse(lks_buf_view(&text), &docs, err) != LKS_OK)
        return err->code;
    struct lks_str given = lks_doc_text(docs.first, "seal_key");
    int len = snprintf(reference, sizeof(reference), "%" LKS_STR_FMT,
                       LKS_STR_ARG(given.len > 0 ? given : LKS_STR(DEFAULT_SEAL_KEY)));
    if (len < 0 || (size_t)len >= sizeof(reference))
        return lks_fail(err, LKS_E_INVALID, "%s: seal_key: too long for a path", path);
    return lks_secrets_key(dir, reference, out, err);
}

enum lks_code lks_controller_journal_key(const char *dir, struct lks_key *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf seed = {0};
    struct lks_seal_key seal;
    lks_buf_init(&seed, LKS_SECRET_MAX);
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_str line, rest;
    lks_buf_init(&text, KEY_TEXT_MAX);
    if (lks_file_read(path, &text, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    if (lks_public_key_parse(lks_str_trim(line), out, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    return LKS_OK;
}

const char *lks_controller_who(char out[LKS_CONTROLLER_WHO_SIZE])
{
    snprintf(out, LKS_CONTROLLER_WHO_SIZE, "unix:%u", (unsigned)getuid());
    return out;
}
