#include "model/manifest/manifest.h"

#include "model/manifest/manifest_docs.h"

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
    if (make_room(m, library, err) != LKS_OK)
        return err->code;
    for (size_t pass = 0; pass < LKS_COUNT(kinds); pass++) {
        for (const struct lks_doc *doc = m->docs.first; doc != NULL; doc = doc->next) {
            const struct lks_form *form = NULL;
            if (lks_manifest_docs_kind(&m->docs, doc, &form, err) != LKS_OK)
                return err->code;
            if (form == kinds[pass] && read_doc(m, doc, form, facts, err) != LKS_OK &&
                !lks_doc_goes_on(&m->docs, err))
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
    if (lks_manifest_docs(source, text, kept, &m.docs, err) != LKS_OK ||
        read_all(&m, facts, library, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(m);
    return LKS_OK;
}

/* The meaning of a document is read only if the form of all is good. */
enum lks_code lks_manifest_lint(const char *source, struct lks_str text,
                                const struct lks_facts *facts, const struct lks_manifest *library,
                                struct lks_doc_faults *faults, struct lks_manifest *out,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    *faults = (struct lks_doc_faults){0};
    enum lks_code code = lks_manifest_docs_noting(source, text, false, faults, &m.docs, err);
    if (code == LKS_OK && faults->count == 0)
        code = read_all(&m, facts, library, err);
    m.docs.faults = NULL;
    if (code == LKS_OK && faults->count == 0) {
        *out = LKS_MOVE(m);
        return LKS_OK;
    }
    lks_doc_sort_faults(faults);
    if (faults->count == 0) /* nothing could be read behind it */
        faults->list[faults->count++].err = *err;
    else if (code == LKS_OK)
        *err = faults->list[0].err;
    return err->code;
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
