/* artifact ls, get, put: files of the depot by digest. */
#include "base/file.h"
#include "cli/shared/bundledir.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/stack/upload.h"
#include "core/view/view.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 20, HEAD_MAX = 128 };

/* ls ---------------------------------------------------------------------------------------- */

static const struct lks_listing artifacts = {.path = "/v1/artifacts",
                                             .view = &lks_view_artifacts,
                                             .shown = "name,size,needed,added,by,digest",
                                             .empty = "no artifacts"};

enum lks_code lks_cmd_artifact_ls(struct lks_cli *cli, const struct lks_args *args,
                                  struct lks_err *err)
{
    return lks_listing_print(cli, args, &artifacts, err);
}

/* put --------------------------------------------------------------------------------------- */

static enum lks_code put(struct lks_cli *cli, const struct lks_args *args,
                         const struct lks_upload_of *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_upload_fini) struct lks_upload upload = {0};
    if (lks_upload_open(&upload, cli, args, err) != LKS_OK)
        return err->code;
    lks_upload_start(&upload, cli, a->size);
    enum lks_code code = lks_upload_file(&upload, a, err);
    lks_upload_end(&upload);
    return code;
}

static struct lks_str last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return lks_str_from(slash != NULL ? slash + 1 : path);
}

enum lks_code lks_cmd_artifact_put(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    const char *file = args->positional[0];
    char digest[LKS_DIGEST_SIZE];
    struct lks_upload_of a = {.name = lks_args_has(args, "--name") ? lks_args_str(args, "--name")
                                                                   : last_part(file)};
    a.fd = open(file, O_RDONLY | O_CLOEXEC);
    if (a.fd < 0)
        return lks_file_fail(err, file);
    enum lks_code code = lks_bundledir_digest(a.fd, file, -1, "", digest, &a.size, err);
    a.digest = lks_str_from(digest);
    if (code == LKS_OK && a.size == 0)
        code = lks_fail(err, LKS_E_INVALID, "%s: an empty file is no artifact", file);
    if (code == LKS_OK)
        code = put(cli, args, &a, err);
    close(a.fd);
    if (code != LKS_OK)
        return code;
    lks_json_write(lks_output_begin(&o), "'digest': '%s', 'size': %ld", digest, (long)a.size);
    return lks_output_form(cli, args, &o, "{digest}\n", err);
}

/* get --------------------------------------------------------------------------------------- */

/* One range into the file; `*more` is whether the artifact goes on behind it. */
static enum lks_code fetch_piece(struct lks_remote *remote, const char *digest, int fd,
                                 const char *file, uint64_t *at, bool *more, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    char head[HEAD_MAX];
    snprintf(head, sizeof(head), "Range: bytes=%" PRIu64 "-%" PRIu64 "\r\n", *at, *at + PIECE - 1);
    lks_remote_path_init(&path, "/v1/artifacts");
    lks_remote_path_add(&path, lks_str_from(digest));
    if (lks_remote_send(remote, "GET", &path, NULL, LKS_STR(""), head, &answer, err) != LKS_OK ||
        lks_file_put(fd, file, lks_buf_view(&answer.http.body), err) != LKS_OK)
        return err->code;
    *at += answer.http.body.len;
    *more = answer.http.status == 206 && answer.http.body.len == PIECE;
    return LKS_OK;
}

static enum lks_code fetch(struct lks_cli *cli, const struct lks_args *args, int fd,
                           const char *file, uint64_t *size, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    char digest[LKS_DIGEST_SIZE];
    bool more = true;
    if (lks_remote_open(cli, args, &remote, err) != LKS_OK)
        return err->code;
    while (more) {
        if (fetch_piece(&remote, args->positional[0], fd, file, size, &more, err) != LKS_OK)
            return err->code;
    }
    if (lseek(fd, 0, SEEK_SET) != 0)
        return lks_file_fail(err, file);
    if (lks_bundledir_digest(fd, file, -1, "", digest, size, err) != LKS_OK)
        return err->code;
    if (strcmp(digest, args->positional[0]) != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: lockstepd sent other bytes: their digest is %s; "
                        "'lockstep doctor DIR' on the controller inspects its depot",
                        args->positional[0], digest);
    return LKS_OK;
}

enum lks_code lks_cmd_artifact_get(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    const char *file = lks_args_get(args, "--output");
    uint64_t size = 0;
    if (file == NULL)
        return lks_fail(err, LKS_E_USAGE, "artifact get: --output has to name the file to write");
    int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return lks_file_fail(err, file);
    enum lks_code code = fetch(cli, args, fd, file, &size, err);
    if (close(fd) != 0 && code == LKS_OK)
        code = lks_file_fail(err, file);
    if (code != LKS_OK) {
        (void)unlink(file);
        return code;
    }
    lks_json_write(lks_output_begin(&o), "'file': '%s', 'size': %ld", file, (long)size);
    return lks_output_form(cli, args, &o, "{file}: {size} bytes\n", err);
}
