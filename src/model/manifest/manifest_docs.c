#include "model/manifest/manifest_docs.h"

#include "codec/format/json.h"
#include "codec/format/yaml.h"
#include "model/manifest/manifest.h"
#include "model/schema/tables.h"

/* JSON begins with a brace. A YAML manifest that does is read as JSON too, and refused where the
 * two differ. */
static bool looks_like_json(struct lks_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(" \t\r\n", text.ptr[i]) == NULL || text.ptr[i] == '\0')
            return text.ptr[i] == '{';
    }
    return false;
}

/* The number is judged before anything else: a newer file may have keys we cannot know. */
static enum lks_code check_version(const struct lks_docs *docs, const struct lks_doc *doc,
                                   struct lks_err *err)
{
    const struct lks_doc *version = lks_doc_member(doc, "lockstep");
    if (version == NULL)
        return lks_doc_fail(docs, doc, err,
                            "a manifest starts with 'lockstep: %d' and 'kind: "
                            "...'",
                            LKS_SCHEMA_VERSION);
    if (version->kind == LKS_DOC_NUMBER && version->number > LKS_SCHEMA_VERSION)
        return lks_doc_fail(docs, version, err,
                            "written for format %lld; this lockstep reads %d, use a newer one",
                            (long long)version->number, LKS_SCHEMA_VERSION);
    return LKS_OK;
}

enum lks_code lks_manifest_docs_kind(const struct lks_docs *docs, const struct lks_doc *doc,
                                     const struct lks_form **out, struct lks_err *err)
{
    if (doc->kind != LKS_DOC_MAP)
        return lks_doc_fail(docs, doc, err, "expected a manifest, found %s",
                            lks_doc_kind_name(doc->kind));
    if (check_version(docs, doc, err) != LKS_OK)
        return err->code;
    struct lks_str kind = lks_doc_text(doc, "kind");
    for (size_t i = 0; (*out = lks_manifest_kind(i)) != NULL; i++) {
        if (lks_str_is(kind, (*out)->name))
            return LKS_OK;
    }
    const struct lks_doc *at = lks_doc_member(doc, "kind");
    return lks_doc_fail(docs, at != NULL ? at : doc, err,
                        "kind is one of Stack, HardwareClass and Fleet");
}

/* Two of a kind and name in one file would make the answer depend on their order. */
static enum lks_code check_unique(const struct lks_docs *docs, const struct lks_doc *doc,
                                  struct lks_err *err)
{
    struct lks_str kind = lks_doc_text(doc, "kind"), name = lks_doc_text(doc, "name");
    for (const struct lks_doc *d = docs->first; d != doc && name.len > 0; d = d->next) {
        if (lks_str_eq(lks_doc_text(d, "kind"), kind) && lks_str_eq(lks_doc_text(d, "name"), name))
            return lks_doc_fail(docs, lks_doc_member(doc, "name"), err,
                                "there is already a %" LKS_STR_FMT " '%" LKS_STR_FMT
                                "' in this file",
                                LKS_STR_ARG(kind), LKS_STR_ARG(name));
    }
    return LKS_OK;
}

static enum lks_code check_one(const struct lks_docs *docs, const struct lks_doc *doc,
                               struct lks_err *err)
{
    const struct lks_form *form = NULL;
    if (lks_manifest_docs_kind(docs, doc, &form, err) != LKS_OK ||
        lks_schema_check(docs, doc, form, err) != LKS_OK)
        return err->code;
    return check_unique(docs, doc, err);
}

static enum lks_code check_all(const struct lks_docs *docs, struct lks_err *err)
{
    if (docs->count == 0)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": holds no manifest",
                        LKS_STR_ARG(docs->source));
    if (docs->count > LKS_MANIFEST_DOCS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": more than %d documents",
                        LKS_STR_ARG(docs->source), LKS_MANIFEST_DOCS_MAX);
    for (const struct lks_doc *doc = docs->first; doc != NULL; doc = doc->next)
        if (check_one(docs, doc, err) != LKS_OK && !lks_doc_goes_on(docs, err))
            return err->code;
    return LKS_OK;
}

enum lks_code lks_manifest_docs(const char *source, struct lks_str text, bool kept,
                                struct lks_docs *out, struct lks_err *err)
{
    return lks_manifest_docs_noting(source, text, kept, NULL, out, err);
}

enum lks_code lks_manifest_docs_noting(const char *source, struct lks_str text, bool kept,
                                       struct lks_doc_faults *faults, struct lks_docs *out,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, source, err) != LKS_OK)
        return err->code;
    docs.kept = kept;
    docs.faults = faults;
    enum lks_code code =
        looks_like_json(text) ? lks_json_parse(text, &docs, err) : lks_yaml_parse(text, &docs, err);
    if (code != LKS_OK || check_all(&docs, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(docs);
    return LKS_OK;
}
