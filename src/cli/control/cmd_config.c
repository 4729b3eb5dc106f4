/* config ls, set, use, rm: contexts of the user, by name. */
#include "base/file.h"
#include "cli/shared/commands.h"
#include "cli/shared/context.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"
#include "cli/shared/path.h"
#include "codec/format/json.h"
#include "codec/format/yaml.h"
#include "model/schema/schema.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

/* What becomes of the file. */
struct edit {
    struct lks_str current;                /* that is current afterwards; empty: none */
    struct lks_str without;                /* that is left out */
    struct lks_str server, ca, token_file; /* of one that is added at the end: `name` */
    struct lks_str name;
    struct lks_str removed_ca, removed_token_file; /* that it had and has no more */
};

static void put_context(struct lks_json_writer *w, struct lks_str name, struct lks_str server,
                        struct lks_str ca, struct lks_str token_file)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", name);
    lks_json_text(w, "server", server);
    lks_json_some(w, "ca", ca);
    lks_json_some(w, "token_file", token_file);
    lks_json_end(w, '}');
}

static void put_file(struct lks_json_writer *w, const struct lks_contexts *contexts,
                     const struct edit *edit)
{
    const struct lks_doc *list = lks_doc_member(contexts->docs.first, "contexts");
    lks_json_begin(w, NULL, '{');
    lks_json_some(w, "current", edit->current);
    lks_json_begin(w, "contexts", '[');
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next) {
        struct lks_str name = lks_doc_text(c, "name");
        if (!lks_str_eq(name, edit->without))
            put_context(w, name, lks_doc_text(c, "server"), lks_doc_text(c, "ca"),
                        lks_doc_text(c, "token_file"));
    }
    if (edit->name.len > 0)
        put_context(w, edit->name, edit->server, edit->ca, edit->token_file);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

/* The file is replaced whole, and a link to it stays one. A file that this program would not read
 * again is not written. */
static enum lks_code write_file(const struct lks_contexts *contexts, struct lks_str yaml,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char real[PATH_MAX];
    if (lks_docs_init(&docs, contexts->path, err) != LKS_OK ||
        lks_context_parse(yaml, &docs, err) != LKS_OK)
        return err->code;
    return lks_file_replace(realpath(contexts->path, real) != NULL ? real : contexts->path, yaml,
                            err);
}

static enum lks_code save(const struct lks_contexts *contexts, const struct edit *edit,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf yaml = LKS_BUF(FILE_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_json_writer w = {.out = &json};
    put_file(&w, contexts, edit);
    if (lks_buf_check(&json, err) != LKS_OK || lks_docs_init(&docs, "contexts", err) != LKS_OK ||
        lks_json_parse(lks_buf_view(&json), &docs, err) != LKS_OK ||
        lks_yaml_write(docs.first, &yaml, err) != LKS_OK)
        return err->code;
    return write_file(contexts, lks_buf_view(&yaml), err);
}

/* Commands ---------------------------------------------------------------------------------- */

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_contexts *contexts, const struct edit *edit,
                          const char *form, struct lks_err *err)
{
    LKS_CLEANUP(lks_output_fini) struct lks_output o = {0};
    struct lks_json_writer *w = lks_output_begin(&o);
    lks_json_cstr(w, "name", args->positional[0]);
    lks_json_some(w, "server", edit->server);
    lks_json_some(w, "current", edit->current);
    lks_json_some(w, "removed_ca", edit->removed_ca);
    lks_json_some(w, "removed_token_file", edit->removed_token_file);
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

static enum lks_code check_set(const struct edit *edit, struct lks_err *err)
{
    if (!lks_schema_is_name(edit->name))
        return lks_fail(err, LKS_E_USAGE,
                        "'%" LKS_STR_FMT "' is no name for a context: lower-case letters, digits, "
                        "'.', '-' and '_'",
                        LKS_STR_ARG(edit->name));
    if (edit->server.len == 0)
        return lks_fail(err, LKS_E_USAGE,
                        "--server has to say where lockstepd is: https://HOST:PORT or unix:/PATH");
    if (!lks_context_address(edit->server))
        return lks_fail(err, LKS_E_USAGE,
                        "--server: '%" LKS_STR_FMT "' is not https://HOST:PORT or unix:/PATH",
                        LKS_STR_ARG(edit->server));
    return LKS_OK;
}

/* The settings before, and those of the options. A CA and a token of another server are not kept:
 * they were not made for this one. */
static enum lks_code take_settings(const struct lks_args *args, const struct lks_doc *before,
                                   struct edit *edit, char ca[PATH_MAX], char token[PATH_MAX],
                                   struct lks_err *err)
{
    struct lks_str server = lks_doc_text(before, "server");
    edit->server = lks_args_has(args, "--server") ? lks_args_str(args, "--server") : server;
    if (lks_str_eq(edit->server, server)) {
        edit->ca = lks_doc_text(before, "ca");
        edit->token_file = lks_doc_text(before, "token_file");
    }
    if (take_file(args, "--ca", "--no-ca", ca, &edit->ca, err) != LKS_OK ||
        take_file(args, "--token-file", "--no-token-file", token, &edit->token_file, err) != LKS_OK)
        return err->code;
    if (edit->ca.len == 0)
        edit->removed_ca = lks_doc_text(before, "ca");
    if (edit->token_file.len == 0)
        edit->removed_token_file = lks_doc_text(before, "token_file");
    return LKS_OK;
}

enum lks_code lks_cmd_config_set(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct edit edit = {.name = lks_str_from(args->positional[0])};
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
        check_set(&edit, err) != LKS_OK || save(&contexts, &edit, err) != LKS_OK)
        return err->code;
    return tell(cli, args, &contexts, &edit,
                "context {name} ({server}) is in {file}; the current context is {current}\n"
                "[removed: CA {removed_ca}; --ca FILE adds one\n]"
                "[removed: token file {removed_token_file}; --token-file FILE adds one\n]",
                err);
}

enum lks_code lks_cmd_config_use(struct lks_cli *cli, const struct lks_args *args,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct edit edit = {.current = lks_str_from(args->positional[0])};
    const struct lks_doc *context = NULL;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK ||
        lks_context_find(&contexts, edit.current, &context, err) != LKS_OK ||
        save(&contexts, &edit, err) != LKS_OK)
        return err->code;
    edit.server = lks_doc_text(context, "server");
    return tell(cli, args, &contexts, &edit, "the current context is {name} ({server})\n", err);
}

enum lks_code lks_cmd_config_rm(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct edit edit = {.without = lks_str_from(args->positional[0])};
    const struct lks_doc *context = NULL;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK ||
        lks_context_find(&contexts, edit.without, &context, err) != LKS_OK)
        return err->code;
    if (!lks_str_eq(lks_context_current(&contexts), edit.without))
        edit.current = lks_context_current(&contexts);
    if (save(&contexts, &edit, err) != LKS_OK)
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
        LKS_LEFT("token file", "token_file"),
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
