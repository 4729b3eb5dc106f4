#include "cli/shared/bundledir.h"

#include "base/file.h"
#include "cli/shared/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

/* Reading ----------------------------------------------------------------------------------- */

static enum lks_code read_part(const char *dir, const char *name, size_t max, struct lks_buf *out,
                               struct lks_err *err)
{
    char path[PATH_MAX];
    lks_buf_init(out, max);
    if (lks_path_join(path, dir, name, err) != LKS_OK)
        return err->code;
    return lks_file_read_plain(path, out, err);
}

enum lks_code lks_bundledir_read(const char *path, const struct lks_facts *facts,
                                 struct lks_bundledir *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_bundledir_fini) struct lks_bundledir b = {0};
    char manifest[PATH_MAX];
    if (lks_path_join(b.path, path, "", err) != LKS_OK ||
        lks_path_join(manifest, path, LKS_BUNDLE_FILE, err) != LKS_OK)
        return err->code;
    if (read_part(path, LKS_BUNDLE_FILE, LKS_BUNDLE_BYTES_MAX, &b.manifest, err) != LKS_OK)
        return err->code == LKS_E_NOT_FOUND
                   ? lks_fail(err, LKS_E_NOT_FOUND,
                              "%s: no bundle; it would have a " LKS_BUNDLE_FILE, path)
                   : err->code;
    struct lks_err why = {0};
    enum lks_code code =
        read_part(path, LKS_BUNDLE_SIGNATURE_FILE, LKS_SIGNATURE_TEXT_MAX, &b.signature, &why);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
        *err = why;
        return code;
    }
    if (lks_bundle_parse(lks_buf_view(&b.manifest), manifest, facts, &b.bundle, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(b);
    return LKS_OK;
}

void lks_bundledir_fini(struct lks_bundledir *b)
{
    lks_buf_fini(&b->manifest);
    lks_buf_fini(&b->signature);
    lks_bundle_fini(&b->bundle);
    *b = (struct lks_bundledir){0};
}

void lks_bundledir_verify(struct lks_bundledir *b, const struct lks_trusted *trusted, size_t count,
                          const char *dir)
{
    char state[PATH_MAX];
    struct lks_str folder = lks_str_from(dir != NULL ? dir : "");
    if (lks_str_ends(folder, "/trust"))
        folder.len -= strlen("/trust");
    snprintf(state, sizeof(state), "%" LKS_STR_FMT, LKS_STR_ARG(folder));
    struct lks_evidence_ask ask = {
        .manifest = lks_buf_view(&b->manifest),
        .signature = b->signature.ptr != NULL ? lks_buf_view(&b->signature) : LKS_STR(""),
        .bundle = &b->bundle,
        .trusted = trusted,
        .trusted_count = count,
        .state = dir != NULL ? state : NULL,
    };
    lks_verifier_run(&ask, &b->verdict);
}

enum lks_code lks_bundledir_open(const struct lks_cli *cli, const char *path, const char *state,
                                 const struct lks_facts *facts, struct lks_bundledir *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_bundledir_fini) struct lks_bundledir b = {0};
    struct lks_trusted *trusted = NULL;
    size_t count = 0;
    char dir[PATH_MAX];
    if (lks_bundledir_read(path, facts, &b, err) != LKS_OK ||
        lks_trustdir_path(cli, state, dir, err) != LKS_OK ||
        lks_trustdir_read(dir, &trusted, &count, err) != LKS_OK)
        return err->code;
    lks_bundledir_verify(&b, trusted, count, dir);
    free(trusted);
    if (b.verdict.verdict != LKS_EVIDENCE_GOOD)
        return lks_fail(err, LKS_E_REFUSED, "%s: %s", path, b.verdict.line);
    *out = LKS_MOVE(b);
    return LKS_OK;
}

/* The options are of other commands: where lockstepd is says the environment. */
enum lks_code lks_bundledir_revoked(struct lks_cli *cli, const char *path, const char *digest,
                                    bool needed, struct lks_err *err)
{
    static const struct lks_args none;
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    lks_remote_question_init(&q, "GET", "/v1/bundles");
    lks_remote_path_add(&q.path, lks_str_from(digest));
    enum lks_code code = lks_remote_question_ask(cli, &none, &q, err);
    if (code == LKS_E_NOT_FOUND && needed)
        return lks_fail(
            err, LKS_E_REFUSED,
            "%s: lockstepd manages the endpoint and has no verdict on the bundle; bring "
            "it with 'lockstep bundle push'",
            path);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    if (code != LKS_OK)
        return lks_wrap(err, "lockstepd does not say whether the bundle is revoked");
    if (lks_doc_member(q.answer.doc, "revoked") == NULL)
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED, "%s: the bundle is revoked at lockstepd: %" LKS_STR_FMT,
                    path, LKS_STR_ARG(lks_doc_text(q.answer.doc, "revoked_reason")));
}

/* Files ------------------------------------------------------------------------------------- */

static enum lks_code read_all(int fd, const char *path, int to, const char *to_path, char *piece,
                              EVP_MD_CTX *md, uint64_t *size, struct lks_err *err)
{
    ssize_t got;
    do {
        got = read(fd, piece, PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return lks_file_fail(err, path);
        *size += (uint64_t)got;
        if (*size > (uint64_t)LKS_BUNDLE_SIZE_MAX)
            return lks_fail(err, LKS_E_LIMIT,
                            "%s: a file in a bundle has at most %" PRId64 " bytes", path,
                            LKS_BUNDLE_SIZE_MAX);
        if (got > 0 && EVP_DigestUpdate(md, piece, (size_t)got) != 1)
            return lks_fail(err, LKS_E_IO, "libcrypto could not hash");
        if (got > 0 && to >= 0 &&
            lks_file_put(to, to_path, (struct lks_str){piece, (size_t)got}, err) != LKS_OK)
            return err->code;
    } while (got != 0);
    return LKS_OK;
}

enum lks_code lks_bundledir_digest(int fd, const char *path, int to, const char *to_path,
                                   char digest[LKS_DIGEST_SIZE], uint64_t *size,
                                   struct lks_err *err)
{
    uint8_t raw[LKS_DIGEST_BYTES];
    unsigned len = sizeof(raw);
    uint64_t read_size = 0;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    char *piece = malloc(PIECE);
    enum lks_code code = LKS_OK;
    if (md == NULL || piece == NULL)
        code = lks_fail_nomem(err);
    else if (EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
        code = lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    else
        code = read_all(fd, path, to, to_path, piece, md, &read_size, err);
    if (code == LKS_OK && EVP_DigestFinal_ex(md, raw, &len) != 1)
        code = lks_fail(err, LKS_E_IO, "libcrypto could not hash");
    EVP_MD_CTX_free(md);
    free(piece);
    if (code != LKS_OK)
        return code;
    (void)lks_digest_write(raw, digest);
    *size = read_size;
    return LKS_OK;
}

static enum lks_code check_file(int fd, const char *path,
                                const struct lks_bundle_artifact *artifact, struct lks_err *err)
{
    struct stat st;
    char digest[LKS_DIGEST_SIZE];
    uint64_t size = 0;
    if (fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_REFUSED, "%s: not a plain file", path);
    if ((uint64_t)st.st_size != artifact->size)
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: it has %" PRIu64 " bytes, and the manifest says %" PRIu64, path,
                        (uint64_t)st.st_size, artifact->size);
    if (lks_bundledir_digest(fd, path, -1, "", digest, &size, err) != LKS_OK)
        return err->code;
    if (!lks_str_is(artifact->digest, digest))
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: it is not what the manifest names: its digest is %s", path, digest);
    return lseek(fd, 0, SEEK_SET) == 0 ? LKS_OK : lks_file_fail(err, path);
}

enum lks_code lks_bundledir_file(const struct lks_bundledir *b,
                                 const struct lks_bundle_artifact *artifact, int *fd,
                                 struct lks_err *err)
{
    char name[LKS_BUNDLE_NAME_MAX + 1], path[PATH_MAX];
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(artifact->name));
    if (lks_path_join(path, b->path, name, err) != LKS_OK)
        return err->code;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ELOOP)
        return lks_fail(err, LKS_E_REFUSED, "%s: is a link, and a bundle holds plain files", path);
    if (file < 0)
        return lks_file_fail(err, path);
    if (check_file(file, path, artifact, err) != LKS_OK) {
        close(file);
        return err->code;
    }
    *fd = file;
    return LKS_OK;
}

void lks_bundledir_list(struct lks_json_writer *w, const char *key, const struct lks_doc *list)
{
    if (list == NULL)
        return;
    lks_json_begin(w, key, '[');
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next)
        lks_json_text(w, NULL, item->text);
    lks_json_end(w, ']');
}
