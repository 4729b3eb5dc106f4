#include "cli/shared/selector.h"

#include "base/near.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"
#include "engine/journal.h"
#include "model/record/record.h"

#include <string.h>

enum { NAMES_MAX = 4096, VALUE_MAX = 1 << 20 };

/* Names of members -------------------------------------------------------------------------- */

/* "..." stands for members that depend on the row: those of its kind of record. */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_."
#define ANY          "..."

/* Behind "LIST: [{" in the text from `at` on; NULL: the list does not occur there. */
static const char *find_items(const char *at, const char *list)
{
    size_t len = strlen(list);
    while ((at = strstr(at, list)) != NULL) {
        bool starts = strchr("{ ", at[-1]) != NULL;
        at += len;
        if (starts && strncmp(at, ": [{", strlen(": [{")) == 0)
            return at + strlen(": [{");
    }
    return NULL;
}

/* The next name of an object that is documented as "a, b?, c: {...}, d | e}"; false at its end.
 * `*at` is behind it then. */
static bool next_name(const char **at, struct lks_str *name)
{
    unsigned depth = 0;
    for (const char *c = *at; *c != '\0'; c++) {
        size_t len = strspn(c, NAME_LETTERS);
        bool begins = depth == 0 && len > 0 && strchr("{ ", c[-1]) != NULL && c[len] != '\0' &&
                      !(c[-1] == ' ' && c[-2] == ':');
        if (begins) {
            *name = (struct lks_str){c, len};
            *at = c + len;
            return true;
        }
        if ((*c == '}' || *c == ']') && depth-- == 0)
            return false;
        depth += *c == '{' || *c == '[';
        c += len > 0 ? len - 1 : 0;
    }
    return false;
}

/* Member `*i` of the items of a list, wherever `json` documents it; else `*i` is less by the
 * members there are. */
static bool documented(const char *json, const char *list, size_t *i, struct lks_str *name)
{
    /* The first character is a brace: a list cannot begin before it. */
    for (const char *at = find_items(json + 1, list); at != NULL; at = find_items(at, list)) {
        while (next_name(&at, name)) {
            if ((*i)-- == 0)
                return true;
        }
    }
    return false;
}

bool lks_selector_member(const struct lks_selector_of *of, size_t i, struct lks_str *name)
{
    static const char *const items[] = {"items", NULL};
    struct lks_field field;
    if (of->view != NULL) {
        bool found = lks_view_row_field(of->view, LKS_USE_LISTED, i, &field);
        *name = lks_str_from(found ? field.key : "");
        return found;
    }
    for (const char *const *list = of->lists != NULL ? of->lists : items; *list != NULL; list++) {
        if (documented(of->json, *list, &i, name))
            return true;
    }
    return false;
}

static bool is_known(const struct lks_selector_of *of, size_t count, struct lks_str name)
{
    struct lks_str known;
    for (size_t i = 0; i < count && lks_selector_member(of, i, &known); i++) {
        if (lks_str_eq(known, name))
            return true;
    }
    return false;
}

/* Whether a kind of record about nodes has the member; each is tried as what was meant. */
static bool is_of_records(struct lks_str name, struct lks_near *near)
{
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        for (size_t k = 0; lks_journal_kind_about_nodes(info) && k < info->count; k++) {
            if (info->fields[k].hidden)
                continue;
            if (lks_str_is(name, info->fields[k].key))
                return true;
            lks_near_try(near, lks_str_from(info->fields[k].key));
        }
    }
    return false;
}

void lks_selector_names(const struct lks_selector_of *of, struct lks_buf *out)
{
    struct lks_str name;
    for (size_t i = 0; lks_selector_member(of, i, &name); i++) {
        if (!is_known(of, i, name) && !lks_str_is(name, ANY))
            lks_buf_addf(out, "%s%" LKS_STR_FMT, i > 0 ? ", " : "", LKS_STR_ARG(name));
    }
}

/* Headings that are other words than the member, by the table of the view. */
static const struct {
    const char *entity, *key, *heading;
} headings[] = {
    {"stack", "step", "stage"},
};

const char *lks_selector_heading(const struct lks_view *view, const char *key)
{
    if (strcmp(key, "name") == 0)
        return view->entity->name;
    for (size_t i = 0; i < LKS_COUNT(headings); i++)
        if (strcmp(view->entity->name, headings[i].entity) == 0 &&
            strcmp(key, headings[i].key) == 0)
            return headings[i].heading;
    return key;
}

static bool is_heading(const char *heading, struct lks_str name)
{
    bool same = strlen(heading) == name.len;
    for (size_t i = 0; i < name.len && same; i++)
        same = heading[i] == name.ptr[i] || (heading[i] == ' ' && name.ptr[i] == '_');
    return same;
}

/* The member that a column shows first; empty: it shows what no other column does. */
static struct lks_str shown_by(const struct lks_listing_column *c)
{
    const char *brace = strchr(c->key, '{');
    if (brace != NULL)
        return (struct lks_str){brace + 1, strcspn(brace + 1, ".#~?!:=<}")};
    return strcmp(c->key, "*") == 0 ? LKS_STR("") : lks_str_from(c->key);
}

const struct lks_listing_column *lks_selector_column(const struct lks_selector_of *of,
                                                     struct lks_str name)
{
    struct lks_str whole, rest;
    lks_str_cut(name, '.', &whole, &rest);
    if (is_known(of, SIZE_MAX, whole))
        return NULL;
    for (size_t i = 0; i < of->column_count; i++)
        if (is_heading(of->columns[i].header, name) && shown_by(&of->columns[i]).len > 0)
            return &of->columns[i];
    return NULL;
}

struct lks_str lks_selector_meant(const struct lks_selector_of *of, struct lks_str name)
{
    const struct lks_listing_column *column = lks_selector_column(of, name);
    struct lks_str whole, rest, known;
    lks_str_cut(name, '.', &whole, &rest);
    if (is_known(of, SIZE_MAX, whole))
        return name;
    for (size_t i = 0; of->view != NULL && lks_selector_member(of, i, &known); i++)
        if (is_heading(lks_selector_heading(of->view, known.ptr), name))
            return known;
    return column != NULL ? shown_by(column) : name;
}

enum lks_code lks_selector_check(const struct lks_selector_of *of, const char *option,
                                 struct lks_str name, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(NAMES_MAX);
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    struct lks_str whole, rest, known;
    lks_str_cut(lks_selector_meant(of, name), '.', &whole, &rest);
    bool records = is_known(of, SIZE_MAX, LKS_STR(ANY));
    if (is_known(of, SIZE_MAX, whole) || (records && is_of_records(whole, &near)))
        return LKS_OK;
    for (size_t i = 0; lks_selector_member(of, i, &known); i++)
        lks_near_try(&near, known);
    lks_selector_names(of, &names);
    if (records)
        lks_buf_addf(&names, ", or a member of the records");
    return lks_fail(
        err, LKS_E_USAGE, "%s: no column '%" LKS_STR_FMT "'; give one of: %" LKS_STR_FMT "%s",
        option, LKS_STR_ARG(name), LKS_STR_ARG(lks_buf_view(&names)), lks_near_hint(&near, hint));
}

/* Selectors --------------------------------------------------------------------------------- */

/* "key=value", "key==value" or "key!=value". */
static enum lks_code read_term(struct lks_str text, struct lks_selector_term *out,
                               struct lks_err *err)
{
    struct lks_selector_term term = {0};
    if (!lks_str_cut(text, '=', &term.key, &term.value))
        return lks_fail(err, LKS_E_USAGE,
                        "--selector: '%" LKS_STR_FMT
                        "' is neither COLUMN=VALUE nor COLUMN!=VALUE, such as pool=train",
                        LKS_STR_ARG(text));
    term.differs = lks_str_ends(term.key, "!");
    term.key.len -= term.differs;
    if (!term.differs && lks_str_starts(term.value, "="))
        term.value = (struct lks_str){term.value.ptr + 1, term.value.len - 1};
    *out = term;
    return LKS_OK;
}

/* A value of a column that has few is one of them. */
static enum lks_code check_value(const struct lks_selector_of *of,
                                 const struct lks_selector_term *t, struct lks_err *err)
{
    static const char *const truths[] = {"yes", "no", "true", "false", NULL};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(NAMES_MAX);
    struct lks_field field = {0};
    const struct lks_form members = {
        .more = lks_view_row_field, .of = of->view, .use = LKS_USE_LISTED};
    if (of->view == NULL || t->value.len == 0 || !lks_schema_field(&members, t->key, &field))
        return LKS_OK;
    const char *const *values = field.shape.type == LKS_TYPE_CHOICE ? field.shape.values
                                : field.shape.type == LKS_TYPE_BOOL ? truths
                                                                    : NULL;
    for (size_t i = 0; values != NULL && values[i] != NULL; i++) {
        if (lks_str_is(t->value, values[i]))
            return LKS_OK;
        lks_buf_addf(&names, "%s%s", i > 0 ? ", " : "", values[i]);
    }
    if (values == NULL)
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE,
                    "--selector: %" LKS_STR_FMT " is never '%" LKS_STR_FMT
                    "'; its values: %" LKS_STR_FMT,
                    LKS_STR_ARG(t->key), LKS_STR_ARG(t->value), LKS_STR_ARG(lks_buf_view(&names)));
}

enum lks_code lks_selector_parse(struct lks_str text, const struct lks_selector_of *of,
                                 struct lks_selector *out, struct lks_err *err)
{
    struct lks_selector s = {0};
    struct lks_str part;
    for (bool more = text.len > 0; more;) {
        more = lks_str_cut(text, ',', &part, &text);
        if (s.count == LKS_SELECTOR_TERMS_MAX)
            return lks_fail(err, LKS_E_USAGE, "--selector: more than %d terms",
                            LKS_SELECTOR_TERMS_MAX);
        if (read_term(part, &s.terms[s.count], err) != LKS_OK ||
            lks_selector_check(of, "--selector", s.terms[s.count].key, err) != LKS_OK)
            return err->code;
        s.terms[s.count].key = lks_selector_meant(of, s.terms[s.count].key);
        if (check_value(of, &s.terms[s.count], err) != LKS_OK)
            return err->code;
        s.count++;
    }
    *out = s;
    return LKS_OK;
}

static bool is_value(const struct lks_doc *member, struct lks_str value)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(VALUE_MAX);
    if (member != NULL && member->kind == LKS_DOC_BOOL &&
        lks_str_is(value, member->truth ? "true" : "false"))
        return true;
    for (const struct lks_doc *i = member != NULL && member->kind == LKS_DOC_LIST ? member->first
                                                                                  : NULL;
         i != NULL; i = i->next) {
        if (is_value(i, value))
            return true;
    }
    lks_render_value(&text, member);
    return lks_str_eq(lks_buf_view(&text), value);
}

bool lks_selector_wants(const struct lks_selector *s, const struct lks_doc *row)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct lks_selector_term *t = &s->terms[i];
        if (!t->asked && is_value(lks_render_find(row, t->key), t->value) == t->differs)
            return false;
    }
    return true;
}
