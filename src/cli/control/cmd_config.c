/* config ls, set, use, rm: contexts of the user, by name. */
#include "cli/control/config_file.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/path.h"
#include "model/schema/schema.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 100 }; /* of an address in a message */

/* Commands ---------------------------------------------------------------------------------- */

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_contexts *contexts, const struct lks_config_edit *edit,
                          const char *form, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_cstr(w, "name", args->positional[0]);
    lks_json_some(w, "server", edit->to.server);
    lks_json_some(w, "current", edit->current);
    lks_json_some(w, "removed_ca", edit->removed_ca);
    lks_json_some(w, "removed_token_file", edit->removed_token_file);
    lks_json_some(w, "removed_certificate_file", edit->removed_certificate_file);
    lks_json_cstr(w, "file", contexts->path);
    return lks_output_form(cli, args, &o, form, err);
}

/* A file that is given, as a path that holds wherever the next command runs; none with `no`. */
static enum lks_code take_file(const struct lks_args *args, const char *option, const char *no,
                               char out[PATH_MAX], struct lks_str *to, struct lks_err *err)
{
    if (lks_args_has(args, option) && lks_args_has(args, no))
        return lks_fail(err, LKS_E_USAGE, "%s and %s contradict each other", option, no);
    if (lks_args_has(args, no))
        *to = (struct lks_str){0};
    if (!lks_args_has(args, option))
        return LKS_OK;
    if (lks_path_absolute(out, lks_args_get(args, option), err) != LKS_OK)
        return err->code;
    *to = lks_str_from(out);
    return LKS_OK;
}

static enum lks_code check_set(const struct lks_config_edit *edit, struct lks_err *err)
{
    if (!lks_schema_is_name(edit->name))
        return lks_fail(err, LKS_E_USAGE,
                        "'%" LKS_STR_FMT "' is no name for a context: lower-case letters, digits, "
                        "'.', '-' and '_'",
                        LKS_STR_ARG(edit->name));
    if (edit->to.server.len == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "--server has to say where lockstepd is: https://HOST:PORT or unix:/PATH");
    if (!lks_context_address(edit->to.server))
        return lks_fail(err, LKS_E_USAGE,
                        "--server: '%.*s'%s is not https://HOST:PORT or unix:/PATH",
                        (int)(edit->to.server.len < SHOWN ? edit->to.server.len : SHOWN),
                        edit->to.server.ptr, edit->to.server.len > SHOWN ? "..." : "");
    return LKS_OK;
}

/* The settings before, and those of the options. A CA and a token of another server are not kept:
 * they were not made for this one. */
static enum lks_code take_settings(const struct lks_args *args, const struct lks_doc *before,
                                   struct lks_config_edit *edit, char ca[PATH_MAX],
                                   char token[PATH_MAX], struct lks_err *err)
{
    struct lks_str server = lks_doc_text(before, "server");
    edit->to.server = lks_args_has(args, "--server") ? lks_args_str(args, "--server") : server;
    if (lks_str_eq(edit->to.server, server)) {
        edit->to.ca = lks_doc_text(before, "ca");
        edit->to.token_file = lks_doc_text(before, "token_file");
        edit->to.certificate_file = lks_doc_text(before, "certificate_file");
    }
    if (take_file(args, "--ca", "--no-ca", ca, &edit->to.ca, err) != LKS_OK ||
        take_file(args, "--token-file", "--no-token-file", token, &edit->to.token_file, err) !=
            LKS_OK)
        return err->code;
    if (edit->to.ca.len == 0)
        edit->removed_ca = lks_doc_text(before, "ca");
    if (edit->to.token_file.len == 0)
        edit->removed_token_file = lks_doc_text(before, "token_file");
    if (lks_args_has(args, "--token-file"))
        edit->to.certificate_file = LKS_STR("");
    if (edit->to.certificate_file.len == 0)
        edit->removed_certificate_file = lks_doc_text(before, "certificate_file");
    return LKS_OK;
}

enum lks_code lks_cmd_config_set(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_config_edit edit = {.name = lks_str_from(args->positional[0])};
    const struct lks_doc *before = NULL;
    struct lks_err ignored = {0};
    char ca[PATH_MAX], token[PATH_MAX];
    edit.without = edit.name;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK)
        return err->code;
    if (lks_context_find(&contexts, edit.name, &before, &ignored) != LKS_OK)
        before = NULL;
    edit.current = lks_context_current(&contexts);
    if (edit.current.len == 0)
        edit.current = edit.name;
    if (take_settings(args, before, &edit, ca, token, err) != LKS_OK ||
        check_set(&edit, err) != LKS_OK || lks_config_file_save(&contexts, &edit, err) != LKS_OK)
        return err->code;
    return tell(cli, args, &contexts, &edit,
                "context {name} ({server}) is in {file}; the current context is {current}\n"
                "[removed: CA {removed_ca}; --ca FILE adds one\n]"
                "[removed: token file {removed_token_file}; --token-file FILE adds one\n]"
                "[removed: certificate {removed_certificate_file}; 'lockstep login' adds one\n]",
                err);
}

enum lks_code lks_cmd_config_use(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_config_edit edit = {.current = lks_str_from(args->positional[0])};
    const struct lks_doc *context = NULL;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK ||
        lks_context_find(&contexts, edit.current, &context, err) != LKS_OK ||
        lks_config_file_save(&contexts, &edit, err) != LKS_OK)
        return err->code;
    edit.to.server = lks_doc_text(context, "server");
    return tell(cli, args, &contexts, &edit, "the current context is {name} ({server})\n", err);
}

enum lks_code lks_cmd_config_rm(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_config_edit edit = {.without = lks_str_from(args->positional[0])};
    const struct lks_doc *context = NULL;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK ||
        lks_context_find(&contexts, edit.without, &context, err) != LKS_OK)
        return err->code;
    if (!lks_str_eq(lks_context_current(&contexts), edit.without))
        edit.current = lks_context_current(&contexts);
    if (lks_config_file_save(&contexts, &edit, err) != LKS_OK)
        return err->code;
    return tell(cli, args, &contexts, &edit,
                "context {name} is removed[; the current context is {current}|; no context is "
                "current: 'lockstep config use NAME' chooses one]\n",
                err);
}

static enum lks_code view(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_doc *doc, struct lks_err *err)
{
    static const struct lks_listing_column columns[] = {
        LKS_LEFT("current", "[{current?}*]"), LKS_LEFT("name", "name"),
        LKS_LEFT("server", "server"),         LKS_LEFT("ca", "ca"),
        LKS_LEFT("token file", "token_file"), LKS_LEFT("certificate", "certificate_file"),
    };
    static const struct lks_listing_part part = {"items", LKS_PART_COLUMNS(columns), NULL, true};
    (void)args;
    if (lks_doc_member(doc, "items")->count == 0)
        fprintf(cli->out, "no contexts; 'lockstep config set NAME --server ADDRESS' adds one\n");
    return lks_listing_part(cli, &part, doc, err);
}

enum lks_code lks_cmd_config_ls(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    if (lks_context_read(cli, &contexts, err) != LKS_OK)
        return err->code;
    const struct lks_doc *list = lks_doc_member(contexts.docs.first, "contexts");
    struct lks_str current = lks_context_current(&contexts);
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_begin(w, "items", '[');
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next) {
        lks_json_begin(w, NULL, '{');
        for (const struct lks_doc *m = c->first; m != NULL; m = m->next) {
            char key[32];
            (void)snprintf(key, sizeof(key), "%" LKS_STR_FMT, LKS_STR_ARG(m->key));
            lks_json_text(w, key, m->text);
        }
        lks_json_bool(w, "current", lks_str_eq(lks_doc_text(c, "name"), current));
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    lks_json_cstr(w, "file", contexts.path);
    return lks_output_show(cli, args, &o, view, err);
}
