#include "cli/shared/context.h"

#include "base/file.h"
#include "base/near.h"
#include "cli/shared/path.h"
#include "codec/format/yaml.h"
#include "drivers/http/client.h"
#include "model/schema/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, CONTEXTS_MAX = 256, ADDRESS_MAX = LKS_CLI_ADDRESS_SIZE - 1 };

/* The file ---------------------------------------------------------------------------------- */

static const struct lks_field context_fields[] = {
    {"name", LKS_OF(NAME), LKS_REQUIRED, NULL, "Name of the context."},
    {"server", LKS_OF(TEXT), LKS_REQUIRED, NULL, "Address of lockstepd."},
    {"ca", LKS_OF(TEXT), 0, NULL, "File with the CA certificate of the server."},
    {"token_file", LKS_OF(TEXT), 0, NULL, "File with an API token."},
    {"certificate_file", LKS_OF(TEXT), 0, NULL, "File with a client certificate and its key."},
};
static const struct lks_form context_form = {
    .name = "Context", .about = "A controller", LKS_FIELDS(context_fields)};

static const struct lks_field file_fields[] = {
    {"current", LKS_OF(NAME), 0, NULL, "Name of the current context."},
    {"contexts", LKS_LIST_FROM_TO(0, CONTEXTS_MAX, LKS_FORM(context_form)), LKS_REQUIRED, NULL,
     "Contexts."},
};
static const struct lks_form file_form = {
    .name = "Contexts", .about = "Controllers by name", LKS_FIELDS(file_fields)};

bool lks_context_address(struct lks_str address)
{
    char text[LKS_CLI_ADDRESS_SIZE];
    struct lks_err ignored = {0};
    if (address.len > ADDRESS_MAX || !lks_str_printable(address))
        return false;
    (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(address));
    return lks_client_address(text, &ignored) == LKS_OK;
}

static const struct lks_doc *find(const struct lks_doc *file, struct lks_str name)
{
    const struct lks_doc *list = lks_doc_member(file, "contexts");
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next) {
        if (lks_str_eq(lks_doc_text(c, "name"), name))
            return c;
    }
    return NULL;
}

static enum lks_code check_context(const struct lks_docs *docs, const struct lks_doc *context,
                                   struct lks_err *err)
{
    static const char *const files[] = {"ca", "token_file", "certificate_file"};
    struct lks_str name = lks_doc_text(context, "name");
    if (find(docs->first, name) != context)
        return lks_doc_fail(docs, context, err, "two contexts are called '%" LKS_STR_FMT "'",
                            LKS_STR_ARG(name));
    if (!lks_context_address(lks_doc_text(context, "server")))
        return lks_doc_fail(docs, lks_doc_member(context, "server"), err,
                            "not https://HOST:PORT or unix:/PATH");
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        const struct lks_doc *file = lks_doc_member(context, files[i]);
        if (file != NULL && (file->text.ptr[0] != '/' || file->text.len >= PATH_MAX))
            return lks_doc_fail(docs, file, err, "not a path from the root");
    }
    return LKS_OK;
}

enum lks_code lks_context_parse(struct lks_str text, struct lks_docs *docs, struct lks_err *err)
{
    if (lks_yaml_parse(text, docs, err) != LKS_OK)
        return err->code;
    const struct lks_doc *file = docs->first, *current;
    if (file == NULL || docs->count > 1)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": holds %s", LKS_STR_ARG(docs->source),
                        file == NULL ? "nothing" : "more than one document");
    if (lks_schema_check(docs, file, &file_form, err) != LKS_OK)
        return err->code;
    for (const struct lks_doc *c = lks_doc_member(file, "contexts")->first; c != NULL;
         c = c->next) {
        if (check_context(docs, c, err) != LKS_OK)
            return err->code;
    }
    current = lks_doc_member(file, "current");
    if (current != NULL && find(file, current->text) == NULL)
        return lks_doc_fail(docs, current, err, "no context '%" LKS_STR_FMT "'",
                            LKS_STR_ARG(current->text));
    return LKS_OK;
}

/* Reading ----------------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

/* Whether the path ends at something that is missing. False: a link on it leads nowhere, so the
 * user has contexts that cannot be found. */
static bool is_missing(const char *path, char at[PATH_MAX])
{
    struct stat st;
    (void)snprintf(at, PATH_MAX, "%s", path);
    for (char *slash; lstat(at, &st) != 0; *slash = '\0') {
        slash = strrchr(at, '/');
        if (slash == NULL || slash == at)
            return true;
    }
    return stat(at, &st) == 0;
}

/* -1 where there is no file: only a path that ends early says so. A file that cannot be opened is
 * no reason to ask another controller than the one in it. */
static enum lks_code open_file(const char *path, int *fd, struct lks_err *err)
{
    char at[PATH_MAX];
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd >= 0)
        return LKS_OK;
    if (errno != ENOENT && errno != ENOTDIR)
        return lks_file_fail(err, path);
    return is_missing(path, at)
               ? LKS_OK
               : lks_fail(err, LKS_E_INVALID, "%s: is a link to a file that is not there", at);
}

static enum lks_code check_file(int fd, const char *path, struct lks_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%s: is not a plain file", path);
    return lks_path_mine(path, &st, err);
}

/* A link of the user's is followed, as managers of such files make them: then both the folders of
 * the link and those of the file are the user's. */
static enum lks_code check_folders(const struct lks_cli *cli, const char *path, struct lks_err *err)
{
    char base[PATH_MAX], real[PATH_MAX];
    if (realpath(path, real) == NULL)
        return lks_file_fail(err, path);
    if (lks_path_config_base(cli, base, err) != LKS_OK ||
        lks_path_folders(path, base, err) != LKS_OK)
        return err->code;
    return lks_path_ours(real, err);
}

static enum lks_code read_file(const struct lks_cli *cli, struct lks_contexts *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(close_fd) int fd = -1;
    if (open_file(out->path, &fd, err) != LKS_OK)
        return err->code;
    if (fd < 0)
        return LKS_OK;
    if (check_file(fd, out->path, err) != LKS_OK || check_folders(cli, out->path, err) != LKS_OK ||
        lks_file_read_fd(fd, out->path, &text, err) != LKS_OK)
        return err->code;
    return lks_context_parse(lks_buf_view(&text), &out->docs, err);
}

/* Whatever is wrong with the file is bad input: "refused" and "no" are answers of a command, and
 * scripts read them as such. */
enum lks_code lks_context_read(const struct lks_cli *cli, struct lks_contexts *out,
                               struct lks_err *err)
{
    if (lks_path_config(cli, "contexts.yaml", out->path, err) != LKS_OK ||
        lks_docs_init(&out->docs, out->path, err) != LKS_OK)
        return err->code;
    if (read_file(cli, out, err) == LKS_OK)
        return LKS_OK;
    struct lks_err why = *err;
    return why.code == LKS_E_NOMEM ? why.code : lks_fail(err, LKS_E_INVALID, "%s", why.msg);
}

enum lks_code lks_context_edit(const struct lks_cli *cli, struct lks_contexts *out,
                               struct lks_err *err)
{
    char folder[PATH_MAX], lock[PATH_MAX];
    if (lks_path_config(cli, "", folder, err) != LKS_OK || lks_path_make(folder, err) != LKS_OK ||
        lks_path_config(cli, "contexts.lock", lock, err) != LKS_OK)
        return err->code;
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lks_file_fail(err, lock);
    out->lock = fd + 1;
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return lks_file_fail(err, lock);
    }
    return lks_context_read(cli, out, err);
}

void lks_context_fini(struct lks_contexts *contexts)
{
    lks_docs_fini(&contexts->docs);
    if (contexts->lock > 0)
        (void)close(contexts->lock - 1);
    contexts->lock = 0;
}

struct lks_str lks_context_current(const struct lks_contexts *contexts)
{
    return lks_doc_text(contexts->docs.first, "current");
}

enum lks_code lks_context_find(const struct lks_contexts *contexts, struct lks_str name,
                               const struct lks_doc **out, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    *out = find(contexts->docs.first, name);
    if (*out != NULL)
        return LKS_OK;
    const struct lks_doc *list = lks_doc_member(contexts->docs.first, "contexts");
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next)
        lks_near_try(&near, lks_doc_text(c, "name"));
    return lks_fail(err, LKS_E_NOT_FOUND,
                    "no context '%" LKS_STR_FMT "'%s; 'lockstep config ls' lists them",
                    LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

/* The one in use ---------------------------------------------------------------------------- */

/* A setting of the context; that of the environment was made for another server. */
static void take(const struct lks_doc *context, const char *key, char *copy, size_t size,
                 const char **setting)
{
    struct lks_str value = lks_doc_text(context, key);
    (void)snprintf(copy, size, "%" LKS_STR_FMT, LKS_STR_ARG(value));
    *setting = value.len > 0 ? copy : NULL;
}

static enum lks_code use(struct lks_cli *cli, const struct lks_contexts *contexts,
                         struct lks_str name, struct lks_err *err)
{
    const struct lks_doc *context = NULL;
    struct lks_cli_context *to = &cli->context;
    if (lks_context_find(contexts, name, &context, err) != LKS_OK)
        return err->code;
    (void)snprintf(to->name, sizeof(to->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    take(context, "server", to->server, sizeof(to->server), &cli->server);
    take(context, "ca", to->ca, sizeof(to->ca), &cli->ca);
    take(context, "token_file", to->token_file, sizeof(to->token_file), &cli->token_file);
    take(context, "certificate_file", to->certificate_file, sizeof(to->certificate_file),
         &cli->certificate_file);
    return LKS_OK;
}

static enum lks_code choose(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_str given = lks_args_str(args, "--context");
    bool option = given.len > 0, elsewhere = lks_args_has(args, "--server");
    struct lks_err ignored = {0};
    char path[PATH_MAX];
    if (option && elsewhere)
        return lks_fail(err, LKS_E_USAGE, "--context and --server both name a controller");
    if (!option && !elsewhere && cli->server != NULL && cli->context_name != NULL)
        return lks_fail(err, LKS_E_USAGE,
                        "$LOCKSTEP_CONTEXT and $LOCKSTEP_SERVER both name a controller; unset one");
    if (!option && (elsewhere || cli->server != NULL))
        return LKS_OK;
    if (!option && cli->context_name != NULL)
        given = lks_str_from(cli->context_name);
    if (given.len == 0 && lks_path_config(cli, "", path, &ignored) != LKS_OK)
        return LKS_OK; /* no home, no contexts */
    if (lks_context_read(cli, &contexts, err) != LKS_OK)
        return err->code;
    if (given.len == 0)
        given = lks_context_current(&contexts);
    return given.len > 0 ? use(cli, &contexts, given, err) : LKS_OK;
}

enum lks_code lks_context_apply(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    if (!cli->context.chosen && choose(cli, args, err) != LKS_OK)
        return err->code;
    cli->context.chosen = true;
    return LKS_OK;
}

void lks_context_show(struct lks_cli *cli)
{
    if (cli->context.name[0] == '\0' || cli->context.shown)
        return;
    cli->context.shown = true;
    fprintf(cli->err, "context %s (%s)\n", cli->context.name, cli->server);
    (void)fflush(cli->err);
}
