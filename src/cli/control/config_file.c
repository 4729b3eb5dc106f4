#include "cli/control/config_file.h"

#include "base/file.h"
#include "codec/format/json.h"
#include "codec/format/yaml.h"

#include <stdlib.h>

enum { FILE_MAX = 1 << 20 };

static struct lks_config_settings settings_of(const struct lks_doc *context)
{
    return (struct lks_config_settings){
        .server = lks_doc_text(context, "server"),
        .ca = lks_doc_text(context, "ca"),
        .token_file = lks_doc_text(context, "token_file"),
        .certificate_file = lks_doc_text(context, "certificate_file"),
    };
}

static void put_context(struct lks_json_writer *w, struct lks_str name,
                        const struct lks_config_settings *to)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", name);
    lks_json_text(w, "server", to->server);
    lks_json_some(w, "ca", to->ca);
    lks_json_some(w, "token_file", to->token_file);
    lks_json_some(w, "certificate_file", to->certificate_file);
    lks_json_end(w, '}');
}

static void put_file(struct lks_json_writer *w, const struct lks_contexts *contexts,
                     const struct lks_config_edit *edit)
{
    const struct lks_doc *list = lks_doc_member(contexts->docs.first, "contexts");
    lks_json_begin(w, NULL, '{');
    lks_json_some(w, "current", edit->current);
    lks_json_begin(w, "contexts", '[');
    for (const struct lks_doc *c = list != NULL ? list->first : NULL; c != NULL; c = c->next) {
        struct lks_str name = lks_doc_text(c, "name");
        struct lks_config_settings before = settings_of(c);
        if (!lks_str_eq(name, edit->without))
            put_context(w, name, &before);
    }
    if (edit->name.len > 0)
        put_context(w, edit->name, &edit->to);
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

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

enum lks_code lks_config_file_save(const struct lks_contexts *contexts,
                                   const struct lks_config_edit *edit, struct lks_err *err)
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

enum lks_code lks_config_file_credential(const struct lks_cli *cli, struct lks_str name,
                                         struct lks_str token_file, struct lks_str certificate_file,
                                         struct lks_err *err)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    const struct lks_doc *before = NULL;
    if (lks_context_edit(cli, &contexts, err) != LKS_OK ||
        lks_context_find(&contexts, name, &before, err) != LKS_OK)
        return err->code;
    struct lks_config_edit edit = {
        .current = lks_context_current(&contexts),
        .without = name,
        .name = name,
        .to = settings_of(before),
    };
    edit.to.token_file = token_file;
    edit.to.certificate_file = certificate_file;
    return lks_config_file_save(&contexts, &edit, err);
}
