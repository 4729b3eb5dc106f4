/* trust add, ls, rm, key: whose signatures count, at lockstepd or on this machine alone. */
#include "base/file.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/trustdir.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { PEM_MAX = 4096, TABLE_MAX = 1 << 20 };

/* lockstepd, where one is named or runs on this machine; otherwise, and with --state, the folder of
 * this machine. */
static enum lks_code choose_place(struct lks_cli *cli, const struct lks_args *args, bool *local,
                                  char dir[PATH_MAX], struct lks_err *err)
{
    const char *state = lks_args_get(args, "--state");
    static const char address[] = LKS_REMOTE_DEFAULT;
    if (state == NULL && lks_context_apply(cli, args, err) != LKS_OK)
        return err->code;
    *local = state != NULL || (!lks_args_has(args, "--server") && cli->server == NULL &&
                               access(&address[strlen("unix:")], F_OK) != 0);
    if (!*local)
        return LKS_OK;
    if (lks_remote_unused(args, err) != LKS_OK)
        return err->code;
    return lks_trustdir_path(cli, state, dir, err);
}

/* What a change says: one line, or the same as JSON. */
static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args, const char *done,
                          const char *name, const char *fingerprint, const char *place,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    char form[128];
    lks_json_write(w, "'name': '%s', 'fingerprint'?: '%s', 'place': '%s'", name, fingerprint,
                   place);
    snprintf(form, sizeof(form), "{name}: %s, in {place}\n[fingerprint {fingerprint}\n]", done);
    return lks_output_form(cli, args, &o, form, err);
}

/* trust add --------------------------------------------------------------------------------- */

static enum lks_code add_remote(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_pin *pin, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    char line[LKS_PIN_LINE_SIZE];
    lks_signature_pin_text(pin, line);
    lks_remote_question_init(&q, "POST", "/v1/trust");
    lks_json_begin(&q.w, NULL, '{');
    lks_json_cstr(&q.w, "name", args->positional[0]);
    lks_json_cstr(&q.w, "key", line);
    lks_json_text(&q.w, "reason", lks_args_str(args, "--reason"));
    lks_json_end(&q.w, '}');
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return lks_listing_done(cli, args, &q.answer, err, "%s: pinned at lockstepd, fingerprint %s",
                            args->positional[0], pin->fingerprint);
}

enum lks_code lks_cmd_trust_add(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    struct lks_pin pin;
    bool local = false;
    char dir[PATH_MAX];
    const char *name = args->positional[0];
    if (lks_listing_need(args, "--reason", "how you know whose key it is", err) != LKS_OK ||
        choose_place(cli, args, &local, dir, err) != LKS_OK ||
        lks_trustdir_key(args->positional[1], &pin, err) != LKS_OK)
        return err->code;
    if (!local)
        return add_remote(cli, args, &pin, err);
    if (lks_trustdir_add(cli, dir, lks_str_from(name), &pin, lks_args_str(args, "--reason"), err) !=
        LKS_OK)
        return err->code;
    return tell(cli, args, "pinned", name, pin.fingerprint, dir, err);
}

/* trust ls ---------------------------------------------------------------------------------- */

static const struct lks_listing_column key_columns[] = {
    LKS_LEFT("name", "name"),     LKS_WRAP("fingerprint", "fingerprint"),
    LKS_LEFT("pinned", "pinned"), LKS_LEFT("by", "by"),
    LKS_WRAP("why", "reason"),
};

static const struct lks_listing keys_pinned = {
    .path = "/v1/trust",
    LKS_COLUMNS(key_columns),
    .empty = "no key is pinned; pin one with 'lockstep trust add NAME KEYFILE --reason TEXT'",
};

static enum lks_code list_remote(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    return lks_listing_print(cli, args, &keys_pinned, err);
}

static const struct lks_listing_column local_columns[] = {
    LKS_LEFT("name", "name"),
    LKS_LEFT("kind", "kind"),
    LKS_WRAP("fingerprint", "fingerprint"),
};

static enum lks_code list_local(struct lks_cli *cli, const struct lks_args *args, const char *dir,
                                const struct lks_trusted *keys, size_t count, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    char empty[2 * PATH_MAX + 128];
    const char *state = lks_args_get(args, "--state");
    snprintf(
        empty, sizeof(empty),
        "no key is pinned in %s; pin one with 'lockstep trust add NAME KEYFILE --reason TEXT%s%s'",
        dir, state != NULL ? " --state " : "", state != NULL ? state : "");
    const struct lks_listing listing = {LKS_COLUMNS(local_columns), .members = LKS_WORDS("items"),
                                        .empty = empty};
    lks_json_begin(w, "items", '[');
    for (size_t i = 0; i < count; i++) {
        char line[LKS_PIN_LINE_SIZE];
        lks_signature_pin_text(&keys[i].pin, line);
        lks_json_write(w, "{'name': '%s', 'kind': '%s', 'key': '%s', 'fingerprint': '%s'}",
                       keys[i].name, lks_pin_kind_words[keys[i].pin.kind], line,
                       keys[i].pin.fingerprint);
    }
    lks_json_end(w, ']');
    if (lks_output_read(&o, err) != LKS_OK)
        return err->code;
    return lks_listing_print_doc(cli, args, &listing, o.docs.first, err);
}

enum lks_code lks_cmd_trust_ls(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    struct lks_trusted *keys = NULL;
    size_t count = 0;
    bool local = false;
    char dir[PATH_MAX];
    if (choose_place(cli, args, &local, dir, err) != LKS_OK)
        return err->code;
    if (!local)
        return list_remote(cli, args, err);
    if (lks_trustdir_read(dir, &keys, &count, err) != LKS_OK)
        return err->code;
    enum lks_code code = list_local(cli, args, dir, keys, count, err);
    free(keys);
    return code;
}

/* trust rm ---------------------------------------------------------------------------------- */

enum lks_code lks_cmd_trust_rm(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_err *err)
{
    bool local = false;
    char dir[PATH_MAX];
    const char *name = args->positional[0];
    if (lks_listing_need(args, "--reason", LKS_ASK_WHY, err) != LKS_OK ||
        choose_place(cli, args, &local, dir, err) != LKS_OK)
        return err->code;
    if (!local)
        return lks_ask_cmd(cli, args, err);
    if (lks_trustdir_remove(cli, dir, lks_str_from(name), lks_args_str(args, "--reason"), err) !=
        LKS_OK)
        return err->code;
    return tell(cli, args, "removed", name, "", dir, err);
}

/* trust key --------------------------------------------------------------------------------- */

static enum lks_code make_pair(struct lks_buf *pem, struct lks_pin *pin, struct lks_err *err)
{
    uint8_t seed[LKS_KEY_BYTES];
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return lks_fail(err, LKS_E_IO, "no chance to be had from the system");
    enum lks_code code = lks_signature_pin_make(seed, pem, err);
    explicit_bzero(seed, sizeof(seed));
    return code == LKS_OK ? lks_signature_pin_of_pem(lks_buf_view(pem), pin, err) : code;
}

/* The private half is written and never shown; the public one lies beside it. */
enum lks_code lks_cmd_trust_key(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(PEM_MAX);
    struct lks_pin pin;
    char public_path[PATH_MAX], line[LKS_PIN_LINE_SIZE + 1];
    const char *name = args->positional[0], *path = lks_args_get(args, "--output");
    if (!lks_signature_pin_name(lks_str_from(name)))
        return lks_fail(err, LKS_E_INVALID,
                        "'%s' is no name of a key: lower-case letters, digits, '.', '-', '_'",
                        name);
    if (path == NULL)
        return lks_fail(err, LKS_E_USAGE, "--output has to say where the key goes");
    int len = snprintf(public_path, sizeof(public_path), "%s.pub", path);
    if (len < 0 || len >= (int)sizeof(public_path))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: too long for a path", path);
    enum lks_code code = make_pair(&pem, &pin, err);
    if (code == LKS_OK)
        code = lks_file_new(path, 0600, lks_buf_view(&pem), err);
    if (pem.ptr != NULL)
        explicit_bzero(pem.ptr, pem.len);
    if (code != LKS_OK)
        return code;
    lks_signature_pin_text(&pin, line);
    size_t end = strlen(line);
    line[end++] = '\n';
    if (lks_file_new(public_path, 0644, (struct lks_str){line, end}, err) != LKS_OK) {
        (void)unlink(path); /* both halves, or none */
        return err->code;
    }
    return tell(cli, args, "made", name, pin.fingerprint, path, err);
}
