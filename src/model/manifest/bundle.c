#include "model/manifest/bundle.h"

#include "model/schema/tables.h"

#include <string.h>

enum { LISTED_MAX = 64, LINE_MAX_BYTES = 127, ABOUT_MAX_BYTES = 1024 };

#define LINE                                                                                       \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = LINE_MAX_BYTES                                               \
    }
#define ABOUT                                                                                      \
    {                                                                                              \
        .type = LKS_TYPE_TEXT, .max = ABOUT_MAX_BYTES                                              \
    }
#define LINES LKS_LIST_FROM_TO(1, LISTED_MAX, LINE)

const char *const lks_bundle_kind_words[] = {"firmware", "package", "image", NULL};

/* The tables -------------------------------------------------------------------------------- */

/* clang-format off */
#define SAID_FIELDS                                                                                \
    {"kind", LKS_ONE_OF("firmware", "package", "image"), 0, "firmware", "what it is"},             \
    {"hardware_classes", LINES, 0, NULL, "hardware classes it is for; without it, any"},           \
    {"hardware_revisions", LINES, 0, NULL, "hardware revisions it is for; without it, any"},       \
    {"from", LINES, 0, NULL, "versions it may follow; a range such as \">=1.4 <2\" means many"},   \
    {"one_way", LKS_OF(BOOL), 0, "false", "the update is irreversible"}
/* clang-format on */

static const struct lks_field artifact_fields[] = {
    {"name", LINE, LKS_REQUIRED, NULL, "name of the file beside the manifest"},
    {"digest", LKS_OF(SHA256), LKS_REQUIRED, NULL, "SHA-256 of the file"},
    {"size", LKS_NUMBERS(1, LKS_BUNDLE_SIZE_MAX), LKS_REQUIRED, NULL, "bytes of the file"},
    {"component", LINE, LKS_REQUIRED, NULL, "a component's class, or the id of an inventory entry"},
    {"version", LINE, LKS_REQUIRED, NULL, "what the component says of itself once it runs"},
    SAID_FIELDS,
};
static const struct lks_form artifact_form = {
    .name = "artifact", .about = "one file and what it is for", LKS_FIELDS(artifact_fields)};

/* clang-format off */
#define BUNDLE_FIELDS                                                                              \
    LKS_ENVELOPE("Bundle"),                                                                        \
    {"version", LINE, LKS_REQUIRED, NULL, "version of the bundle itself"},                         \
    {"vendor", LINE, 0, NULL, "who made what is in it"},                                           \
    {"signed_for", LINE, 0, NULL, "the vendor that does not sign, in whose stead a site does"}
/* clang-format on */

static const struct lks_field bundle_fields[] = {
    BUNDLE_FIELDS,
    {"artifacts", LKS_LIST_FROM_TO(1, LKS_BUNDLE_ARTIFACTS_MAX, LKS_FORM(artifact_form)),
     LKS_REQUIRED, NULL, "the files"},
};
const struct lks_form lks_bundle_form = {.name = "Bundle",
                                         .about =
                                             "Files that belong together, by digest, to be signed.",
                                         LKS_FIELDS(bundle_fields)};

static const struct lks_field source_fields[] = {
    {"file", ABOUT, LKS_REQUIRED, NULL, "path of the file, from where this manifest is"},
    {"component", LINE, LKS_REQUIRED, NULL, "a component's class, or the id of an inventory entry"},
    {"version", LINE, 0, NULL,
     "what the component says of itself once it runs; a PLDM package says it itself"},
    {"image", LKS_NUMBERS(0, UINT16_MAX), 0, NULL,
     "identifier of the component in a PLDM package that has several"},
    SAID_FIELDS,
};
static const struct lks_form source_form = {
    .name = "file", .about = "one file and what it is for", LKS_FIELDS(source_fields)};

static const struct lks_field bundle_source_fields[] = {
    BUNDLE_FIELDS,
    {"files", LKS_LIST_FROM_TO(1, LKS_BUNDLE_ARTIFACTS_MAX, LKS_FORM(source_form)), LKS_REQUIRED,
     NULL, "the files"},
};
const struct lks_form lks_bundle_source_form = {
    .name = "Bundle", .about = "The source of a bundle.", LKS_FIELDS(bundle_source_fields)};

/* What the tables cannot say ---------------------------------------------------------------- */

bool lks_bundle_file_name(struct lks_str name)
{
    if (name.len == 0 || name.len > LKS_BUNDLE_NAME_MAX || name.ptr[0] == '.' ||
        name.ptr[0] == '-' || lks_str_is(name, LKS_BUNDLE_FILE) ||
        lks_str_is(name, LKS_BUNDLE_SIGNATURE_FILE))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c <= ' ' || c > '~' || strchr("/\\\"'`", c) != NULL)
            return false;
    }
    return true;
}

/* An id of a service's inventory is part of a path there. */
static bool is_entry_id(struct lks_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] <= ' ' || id.ptr[i] > '~' || strchr("/\\\"'?#%", id.ptr[i]) != NULL)
            return false;
    }
    return id.len > 0;
}

static bool looks_like_class(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((s.ptr[i] < 'a' || s.ptr[i] > 'z') && s.ptr[i] != '-')
            return false;
    }
    return true;
}

bool lks_bundle_component(const struct lks_facts *facts, struct lks_str component,
                          char hint[LKS_NEAR_HINT_SIZE])
{
    struct lks_near near = lks_near_to(component);
    if (!is_entry_id(component))
        return false;
    if (facts == NULL || !looks_like_class(component) ||
        lks_facts_component(facts, component) != NULL)
        return true;
    const struct lks_component_kind *meant = lks_facts_component_alias(facts, component);
    for (size_t i = 0; i < facts->components.count && meant == NULL; i++)
        lks_near_try(&near, facts->components.rows[i].name);
    if (meant != NULL)
        near.best = meant->name;
    if (hint != NULL)
        (void)lks_near_hint(&near, hint);
    return false;
}

/* Whether the text stands for many versions. */
static bool is_range(struct lks_str text)
{
    return text.len > 0 && strchr("<>=!", text.ptr[0]) != NULL;
}

static enum lks_version_scheme scheme_of(const struct lks_facts *facts, struct lks_str component)
{
    return facts != NULL ? lks_facts_scheme(facts, component) : LKS_VERSION_FIRMWARE;
}

static enum lks_code check_from(const struct lks_docs *docs, const struct lks_facts *facts,
                                const struct lks_bundle_artifact *a, struct lks_err *err)
{
    const struct lks_doc *first = a->from != NULL ? a->from->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        struct lks_range range;
        struct lks_err why = {0};
        if (is_range(item->text) &&
            lks_version_range_parse(item->text, scheme_of(facts, a->component), &range, &why) !=
                LKS_OK)
            return lks_doc_fail(docs, item, err, "%s", why.msg);
    }
    return LKS_OK;
}

static enum lks_code check_component(const struct lks_docs *docs, const struct lks_doc *doc,
                                     const struct lks_facts *facts,
                                     const struct lks_bundle_artifact *a, struct lks_err *err)
{
    char hint[LKS_NEAR_HINT_SIZE] = "";
    const struct lks_doc *at = lks_doc_member(doc, "component");
    const struct lks_component_kind *known =
        facts != NULL ? lks_facts_component(facts, a->component) : NULL;
    if (!lks_bundle_component(facts, a->component, hint))
        return lks_doc_fail(docs, at, err, "no component '%" LKS_STR_FMT "' is known%s",
                            LKS_STR_ARG(a->component), hint);
    if (known != NULL && known->sort == LKS_SOFTWARE && a->kind == LKS_BUNDLE_FIRMWARE)
        return lks_doc_fail(docs, at, err,
                            "%" LKS_STR_FMT " is software, and the file has kind firmware; set "
                            "kind: package or image",
                            LKS_STR_ARG(a->component));
    return LKS_OK;
}

/* Two entries may be of one file, for two components; the file is then the same. */
static enum lks_code check_others(const struct lks_bundle *b, const struct lks_doc *doc, size_t at,
                                  struct lks_err *err)
{
    const struct lks_bundle_artifact *a = &b->artifacts[at];
    for (size_t i = 0; i < at; i++) {
        const struct lks_bundle_artifact *other = &b->artifacts[i];
        if (!lks_str_eq(other->name, a->name))
            continue;
        if (lks_str_eq(other->component, a->component))
            return lks_doc_fail(&b->docs, lks_doc_member(doc, "name"), err,
                                "'%" LKS_STR_FMT "' is listed twice for %" LKS_STR_FMT,
                                LKS_STR_ARG(a->name), LKS_STR_ARG(a->component));
        if (!lks_str_eq(other->digest, a->digest) || other->size != a->size)
            return lks_doc_fail(&b->docs, lks_doc_member(doc, "name"), err,
                                "two files are called '%" LKS_STR_FMT "'", LKS_STR_ARG(a->name));
    }
    return LKS_OK;
}

/* Reading and writing ----------------------------------------------------------------------- */

static struct lks_bundle_artifact read_artifact(const struct lks_doc *doc)
{
    uint64_t kind = LKS_BUNDLE_FIRMWARE;
    struct lks_str word = lks_schema_text(doc, &artifact_form, "kind");
    for (size_t i = 0; lks_bundle_kind_words[i] != NULL; i++) {
        if (lks_str_is(word, lks_bundle_kind_words[i]))
            kind = i;
    }
    return (struct lks_bundle_artifact){
        .name = lks_doc_text(doc, "name"),
        .digest = lks_doc_text(doc, "digest"),
        .size = (uint64_t)lks_doc_member(doc, "size")->number, /* the table says it is there */
        .component = lks_doc_text(doc, "component"),
        .version = lks_doc_text(doc, "version"),
        .kind = (enum lks_bundle_kind)kind,
        .one_way = lks_schema_truth(doc, &artifact_form, "one_way"),
        .hardware_classes = lks_doc_member(doc, "hardware_classes"),
        .hardware_revisions = lks_doc_member(doc, "hardware_revisions"),
        .from = lks_doc_member(doc, "from"),
    };
}

static enum lks_code read_artifacts(struct lks_bundle *b, const struct lks_doc *list,
                                    const struct lks_facts *facts, struct lks_err *err)
{
    b->artifacts = lks_arena_array(&b->docs.arena, list->count, sizeof(b->artifacts[0]));
    if (b->artifacts == NULL)
        return lks_arena_fail(&b->docs.arena, err);
    for (const struct lks_doc *doc = list->first; doc != NULL; doc = doc->next) {
        struct lks_bundle_artifact *a = &b->artifacts[b->count];
        *a = read_artifact(doc);
        if (!lks_bundle_file_name(a->name))
            return lks_doc_fail(&b->docs, lks_doc_member(doc, "name"), err,
                                "'%" LKS_STR_FMT "' is no name of a file here: no folder, no "
                                "blank, no quote, no '.' or '-' in front",
                                LKS_STR_ARG(a->name));
        if (check_component(&b->docs, doc, facts, a, err) != LKS_OK ||
            check_from(&b->docs, facts, a, err) != LKS_OK ||
            check_others(b, doc, b->count, err) != LKS_OK)
            return err->code;
        b->count++;
    }
    return LKS_OK;
}

enum lks_code lks_bundle_parse(struct lks_str bytes, const char *source,
                               const struct lks_facts *facts, struct lks_bundle *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0};
    if (bytes.len > LKS_BUNDLE_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: a bundle's manifest has at most %zu bytes", source,
                        LKS_BUNDLE_BYTES_MAX);
    if (lks_docs_init(&b.docs, source, err) != LKS_OK ||
        lks_json_parse(bytes, &b.docs, err) != LKS_OK ||
        lks_schema_check(&b.docs, b.docs.first, &lks_bundle_form, err) != LKS_OK)
        return err->code;
    const struct lks_doc *top = b.docs.first;
    b.name = lks_doc_text(top, "name");
    b.version = lks_doc_text(top, "version");
    b.vendor = lks_doc_text(top, "vendor");
    b.description = lks_doc_text(top, "description");
    b.signed_for = lks_doc_text(top, "signed_for");
    if (read_artifacts(&b, lks_doc_member(top, "artifacts"), facts, err) != LKS_OK ||
        lks_digest_text(bytes, b.digest, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(b);
    return LKS_OK;
}

void lks_bundle_fini(struct lks_bundle *bundle)
{
    lks_docs_fini(&bundle->docs);
    *bundle = (struct lks_bundle){0};
}

enum lks_code lks_bundle_write(const struct lks_bundle *bundle, struct lks_buf *out,
                               struct lks_err *err)
{
    return lks_json_canonical(bundle->docs.first, out, err);
}

void lks_bundle_digests(const struct lks_bundle *bundle, struct lks_buf *out)
{
    size_t from = out->len;
    for (size_t i = 0; i < bundle->count; i++) {
        struct lks_str so_far = {out->ptr != NULL ? out->ptr + from : "", out->len - from};
        if (lks_facts_words_have(so_far, bundle->artifacts[i].digest))
            continue;
        if (so_far.len > 0)
            lks_buf_addc(out, ' ');
        lks_buf_add(out, bundle->artifacts[i].digest);
    }
}

/* Asking ------------------------------------------------------------------------------------ */

static enum lks_code none_for(const struct lks_bundle *b, struct lks_str component,
                              struct lks_str file, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf has = LKS_BUF(LKS_ERR_MSG_MAX);
    for (size_t i = 0; i < b->count && has.failed == LKS_OK; i++)
        lks_buf_addf(&has, "%s%" LKS_STR_FMT, i > 0 ? ", " : "",
                     LKS_STR_ARG(b->artifacts[i].component));
    struct lks_str what = component.len > 0 ? component : file;
    return lks_fail(err, LKS_E_NOT_FOUND,
                    "bundle '%" LKS_STR_FMT "' has nothing for %" LKS_STR_FMT
                    "; it has something for %.300s",
                    LKS_STR_ARG(b->name), LKS_STR_ARG(what), has.ptr != NULL ? has.ptr : "nobody");
}

enum lks_code lks_bundle_choose(const struct lks_bundle *bundle, struct lks_str component,
                                struct lks_str file, const struct lks_bundle_artifact **out,
                                struct lks_err *err)
{
    const struct lks_bundle_artifact *found = NULL;
    LKS_ASSERT(bundle->artifacts != NULL || bundle->count == 0);
    for (size_t i = 0; i < bundle->count; i++) {
        const struct lks_bundle_artifact *a = &bundle->artifacts[i];
        if ((component.len > 0 && !lks_str_eq(a->component, component)) ||
            (file.len > 0 && !lks_str_eq(a->name, file)))
            continue;
        if (found != NULL)
            return lks_fail(err, LKS_E_INVALID,
                            "bundle '%" LKS_STR_FMT "' has both %" LKS_STR_FMT " (%" LKS_STR_FMT
                            ") and %" LKS_STR_FMT " (%" LKS_STR_FMT "); say which",
                            LKS_STR_ARG(bundle->name), LKS_STR_ARG(found->name),
                            LKS_STR_ARG(found->component), LKS_STR_ARG(a->name),
                            LKS_STR_ARG(a->component));
        found = a;
    }
    if (found == NULL)
        return none_for(bundle, component, file, err);
    *out = found;
    return LKS_OK;
}

static bool list_has(const struct lks_doc *list, struct lks_str text)
{
    for (const struct lks_doc *item = list->first; item != NULL; item = item->next) {
        if (lks_str_eq(item->text, text))
            return true;
    }
    return false;
}

bool lks_bundle_fits(const struct lks_bundle_artifact *artifact, struct lks_str hardware_class,
                     struct lks_str hardware_revision)
{
    return (artifact->hardware_classes == NULL ||
            list_has(artifact->hardware_classes, hardware_class)) &&
           (artifact->hardware_revisions == NULL ||
            list_has(artifact->hardware_revisions, hardware_revision));
}

bool lks_bundle_follows(const struct lks_facts *facts, const struct lks_bundle_artifact *artifact,
                        struct lks_str version)
{
    if (artifact->from == NULL || lks_str_eq(artifact->version, version))
        return true;
    enum lks_version_scheme scheme = scheme_of(facts, artifact->component);
    for (const struct lks_doc *item = artifact->from->first; item != NULL; item = item->next) {
        struct lks_range range;
        struct lks_err err = {0};
        if (lks_str_eq(item->text, version) ||
            (is_range(item->text) &&
             lks_version_range_parse(item->text, scheme, &range, &err) == LKS_OK &&
             lks_version_range_has(&range, version, scheme)))
            return true;
    }
    return false;
}
