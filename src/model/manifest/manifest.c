#include "model/manifest/manifest.h"

#include "codec/format/json.h"
#include "codec/format/yaml.h"
#include "model/schema/tables.h"

/* Classes come first: stacks and fleets refer to them. */
static const struct lks_form *const kinds[] = {
    &lks_class_form,
    &lks_stack_form,
    &lks_fleet_form,
};

const struct lks_form *lks_manifest_kind(size_t index)
{
    return index < LKS_COUNT(kinds) ? kinds[index] : NULL;
}

void lks_manifest_fini(struct lks_manifest *manifest)
{
    lks_docs_fini(&manifest->docs);
    *manifest = (struct lks_manifest){0};
}

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

static enum lks_code find_kind(const struct lks_docs *docs, const struct lks_doc *doc,
                               const struct lks_form **out, struct lks_err *err)
{
    if (doc->kind != LKS_DOC_MAP)
        return lks_doc_fail(docs, doc, err, "expected a manifest, found %s",
                            lks_doc_kind_name(doc->kind));
    if (check_version(docs, doc, err) != LKS_OK)
        return err->code;
    struct lks_str kind = lks_doc_text(doc, "kind");
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        if (lks_str_is(kind, kinds[i]->name)) {
            *out = kinds[i];
            return LKS_OK;
        }
    }
    const struct lks_doc *at = lks_doc_member(doc, "kind");
    return lks_doc_fail(docs, at != NULL ? at : doc, err,
                        "kind is one of Stack, HardwareClass and Fleet");
}

static enum lks_code make_room(struct lks_manifest *m, const struct lks_manifest *library,
                               struct lks_err *err)
{
    size_t inherited = library != NULL ? library->class_count : 0;
    m->stacks = lks_arena_array(&m->docs.arena, m->docs.count, sizeof(*m->stacks));
    m->fleets = lks_arena_array(&m->docs.arena, m->docs.count, sizeof(*m->fleets));
    m->classes = lks_arena_array(&m->docs.arena, m->docs.count + inherited, sizeof(*m->classes));
    if (m->stacks == NULL || m->fleets == NULL || m->classes == NULL)
        return lks_arena_fail(&m->docs.arena, err);
    if (inherited > 0)
        memcpy(m->classes, library->classes, inherited * sizeof(*m->classes));
    m->class_count = inherited;
    return LKS_OK;
}

/* Two of a kind and name in one file would make the answer depend on their order. */
static enum lks_code check_unique(const struct lks_docs *docs, const struct lks_doc *doc,
                                  struct lks_err *err)
{
    struct lks_str kind = lks_doc_text(doc, "kind"), name = lks_doc_text(doc, "name");
    for (const struct lks_doc *d = docs->first; d != doc; d = d->next) {
        if (lks_str_eq(lks_doc_text(d, "kind"), kind) && lks_str_eq(lks_doc_text(d, "name"), name))
            return lks_doc_fail(docs, lks_doc_member(doc, "name"), err,
                                "there is already a %" LKS_STR_FMT " '%" LKS_STR_FMT
                                "' in this file",
                                LKS_STR_ARG(kind), LKS_STR_ARG(name));
    }
    return LKS_OK;
}

static enum lks_code check_all(const struct lks_docs *docs, struct lks_err *err)
{
    for (const struct lks_doc *doc = docs->first; doc != NULL; doc = doc->next) {
        const struct lks_form *form = NULL;
        if (find_kind(docs, doc, &form, err) != LKS_OK ||
            lks_schema_check(docs, doc, form, err) != LKS_OK ||
            check_unique(docs, doc, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code read_doc(struct lks_manifest *m, const struct lks_doc *doc,
                              const struct lks_form *form, const struct lks_facts *facts,
                              struct lks_err *err)
{
    struct lks_class_lookup lookup = {m->classes, m->class_count, facts};
    if (form == &lks_class_form)
        return lks_class_parse(&m->docs, doc, &m->classes[m->class_count++], err);
    if (form == &lks_stack_form)
        return lks_stack_parse(&m->docs, doc, &lookup, &m->stacks[m->stack_count++], err);
    return lks_fleet_parse(&m->docs, doc, &lookup, &m->fleets[m->fleet_count++], err);
}

static enum lks_code read_all(struct lks_manifest *m, const struct lks_facts *facts,
                              const struct lks_manifest *library, struct lks_err *err)
{
    if (m->docs.count == 0)
        return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ": holds no manifest",
                        LKS_STR_ARG(m->docs.source));
    if (m->docs.count > LKS_MANIFEST_DOCS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": more than %d documents",
                        LKS_STR_ARG(m->docs.source), LKS_MANIFEST_DOCS_MAX);
    if (check_all(&m->docs, err) != LKS_OK || make_room(m, library, err) != LKS_OK)
        return err->code;
    for (size_t pass = 0; pass < LKS_COUNT(kinds); pass++) {
        for (const struct lks_doc *doc = m->docs.first; doc != NULL; doc = doc->next) {
            const struct lks_form *form = NULL;
            if (find_kind(&m->docs, doc, &form, err) != LKS_OK)
                return err->code;
            if (form == kinds[pass] && read_doc(m, doc, form, facts, err) != LKS_OK)
                return err->code;
        }
    }
    return LKS_OK;
}

static enum lks_code parse(const char *source, struct lks_str text, bool kept,
                           const struct lks_facts *facts, const struct lks_manifest *library,
                           struct lks_manifest *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    if (lks_docs_init(&m.docs, source, err) != LKS_OK)
        return err->code;
    m.docs.kept = kept;
    enum lks_code code = looks_like_json(text) ? lks_json_parse(text, &m.docs, err)
                                               : lks_yaml_parse(text, &m.docs, err);
    if (code != LKS_OK || read_all(&m, facts, library, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(m);
    return LKS_OK;
}

enum lks_code lks_manifest_parse(const char *source, struct lks_str text,
                                 const struct lks_facts *facts, const struct lks_manifest *library,
                                 struct lks_manifest *out, struct lks_err *err)
{
    return parse(source, text, false, facts, library, out, err);
}

enum lks_code lks_manifest_parse_kept(const char *source, struct lks_str text,
                                      const struct lks_facts *facts, struct lks_manifest *out,
                                      struct lks_err *err)
{
    return parse(source, text, true, facts, NULL, out, err);
}
