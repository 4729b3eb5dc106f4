#include "model/schema/schema.h"

#include "base/near.h"
#include "base/secret.h"
#include "base/time.h"
#include "codec/notation/hostlist.h"
#include "codec/notation/version.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_LEN_MAX = 63, KEY_LEN_MAX = 128, TEXT_LEN_MAX = 4096, SHOWN_MAX = 48 };

/* Checking ---------------------------------------------------------------------------------- */

struct checker {
    const struct lks_docs *docs;
    struct lks_err *err;
};

#define FAIL(c, doc, ...) lks_doc_fail((c)->docs, (doc), (c)->err, __VA_ARGS__)

/* As much of a text as a message should repeat. */
#define SHOWN(s) (int)((s).len < SHOWN_MAX ? (s).len : SHOWN_MAX), (s).ptr

static bool all_of(struct lks_str s, const char *allowed)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\0' || strchr(allowed, s.ptr[i]) == NULL)
            return false;
    }
    return s.len > 0;
}

static bool has_any(struct lks_str s, const char *bytes)
{
    for (; *bytes != '\0'; bytes++) {
        if (s.len > 0 && memchr(s.ptr, *bytes, s.len) != NULL)
            return true;
    }
    return false;
}

static enum lks_code need_text(struct checker *c, const struct lks_doc *doc, const char *what)
{
    if (doc->kind != LKS_DOC_TEXT)
        return FAIL(c, doc, "expected %s, found %s%s", what, lks_doc_kind_name(doc->kind),
                    doc->kind == LKS_DOC_NUMBER ? "; put it in quotes" : "");
    if (lks_str_trim(doc->text).len == 0)
        return FAIL(c, doc, "expected %s, found an empty text", what);
    if (doc->text.len > TEXT_LEN_MAX)
        return FAIL(c, doc, "longer than %d bytes", TEXT_LEN_MAX);
    if (!lks_str_printable(doc->text))
        return FAIL(c, doc, "a line break or control character has no place here");
    return LKS_OK;
}

bool lks_schema_is_name(struct lks_str s)
{
    return s.len <= NAME_LEN_MAX && all_of(s, "abcdefghijklmnopqrstuvwxyz0123456789.-_") &&
           strchr("abcdefghijklmnopqrstuvwxyz0123456789", s.ptr[0]) != NULL;
}

static bool is_component(struct lks_str s)
{
    struct lks_str sort, name;
    if (lks_str_cut(s, '/', &sort, &name))
        return lks_str_is(sort, "firmware") && lks_schema_is_name(name);
    return lks_schema_is_name(s);
}

static bool is_key_text(struct lks_str s)
{
    return s.len > 0 && s.len <= KEY_LEN_MAX && lks_str_printable(s);
}

static enum lks_code check_text(struct checker *c, const struct lks_doc *doc,
                                const struct lks_shape *shape)
{
    if (need_text(c, doc, "text") != LKS_OK)
        return c->err->code;
    if (shape->max > 0 && doc->text.len > (size_t)shape->max)
        return FAIL(c, doc, "longer than %lld bytes", (long long)shape->max);
    return LKS_OK;
}

static bool is_date(struct lks_str s)
{
    lks_day day;
    return lks_time_day_parse(s, &day);
}

static bool is_time(struct lks_str s)
{
    lks_ms time;
    return lks_time_parse(s, &time);
}

/* Texts that a function knows from others. */
static const struct {
    bool (*is)(struct lks_str s);
    const char *what, *more;
} text_kinds[] = {
    [LKS_TYPE_NAME] = {lks_schema_is_name, "a name", ": lower-case letters, digits, '.', '-', '_'"},
    [LKS_TYPE_COMPONENT] = {is_component, "a component", ": a name, or firmware/NAME"},
    [LKS_TYPE_DATE] = {is_date, "a date", " such as \"2026-11-15\""},
    [LKS_TYPE_TIME] = {is_time, "a moment", " such as 2026-11-15T03:37:00Z"},
};

static enum lks_code check_text_kind(struct checker *c, const struct lks_doc *doc,
                                     const struct lks_shape *shape)
{
    const char *what = text_kinds[shape->type].what;
    if (need_text(c, doc, what) != LKS_OK)
        return c->err->code;
    if (!text_kinds[shape->type].is(doc->text))
        return FAIL(c, doc, "'%.*s' is not %s%s", SHOWN(doc->text), what,
                    text_kinds[shape->type].more);
    return LKS_OK;
}

static enum lks_code need_quotes(struct checker *c, const struct lks_doc *doc, const char *what)
{
    if (need_text(c, doc, what) != LKS_OK)
        return c->err->code;
    if (!doc->quoted)
        return FAIL(c, doc, "%s needs quotes, or 12.10 would be read as 12.1: \"%.*s\"", what,
                    SHOWN(doc->text));
    return LKS_OK;
}

static enum lks_code check_version(struct checker *c, const struct lks_doc *doc,
                                   const struct lks_shape *shape)
{
    (void)shape;
    if (need_quotes(c, doc, "a version") != LKS_OK)
        return c->err->code;
    if (doc->text.len > LKS_VERSION_LEN_MAX || memchr(doc->text.ptr, ' ', doc->text.len) != NULL)
        return FAIL(c, doc, "'%.*s' is not one version; ranges go under windows", SHOWN(doc->text));
    if (lks_str_is(doc->text, "latest") || strchr("<>=*~^", doc->text.ptr[0]) != NULL)
        return FAIL(c, doc, "'%.*s' is not a version: a stack pins exact ones", SHOWN(doc->text));
    return LKS_OK;
}

static enum lks_code check_range(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    (void)shape;
    /* Which versions it holds depends on the component's scheme, so the model reads it. */
    return need_quotes(c, doc, "a range");
}

#define HEX_DIGITS "0123456789abcdef"

static enum lks_code check_sha256(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    (void)shape;
    if (need_text(c, doc, "a digest") != LKS_OK)
        return c->err->code;
    struct lks_str algorithm, hex;
    lks_str_cut(doc->text, ':', &algorithm, &hex);
    if (!lks_str_is(algorithm, "sha256") || hex.len != 64 || !all_of(hex, HEX_DIGITS))
        return FAIL(c, doc, "expected sha256: and 64 lower-case hexadecimal digits");
    return LKS_OK;
}

static enum lks_code check_hex(struct checker *c, const struct lks_doc *doc,
                               const struct lks_shape *shape)
{
    if (need_text(c, doc, "hexadecimal digits") != LKS_OK)
        return c->err->code;
    if (doc->text.len >= (size_t)shape->min && doc->text.len <= (size_t)shape->max &&
        doc->text.len % 2 == 0 && all_of(doc->text, HEX_DIGITS))
        return LKS_OK;
    char range[48];
    snprintf(range, sizeof(range), "%lld to ", (long long)shape->min);
    return FAIL(c, doc, "expected %s%lld lower-case hexadecimal digits, two for each byte",
                shape->min < shape->max ? range : "", (long long)shape->max);
}

static enum lks_code check_hosts(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    (void)shape;
    if (need_text(c, doc, "a host list") != LKS_OK)
        return c->err->code;
    size_t count;
    struct lks_err inner = {0};
    if (lks_hostlist_count(doc->text, &count, &inner) != LKS_OK)
        return FAIL(c, doc, "%s", inner.msg);
    return LKS_OK;
}

static enum lks_code check_url(struct checker *c, const struct lks_doc *doc,
                               const struct lks_shape *shape)
{
    (void)shape;
    if (need_text(c, doc, "a URL") != LKS_OK)
        return c->err->code;
    if (has_any(doc->text, "@"))
        return FAIL(c, doc, "a URL here carries no user or password; name them under credentials");
    if (!lks_str_starts(doc->text, "https://") || doc->text.len == strlen("https://") ||
        has_any(doc->text, " ?#"))
        return FAIL(c, doc, "expected https://HOST/PATH, without a query");
    return LKS_OK;
}

/* The value is never repeated in the message: it may be the very secret that must not be here. */
static enum lks_code check_secret(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    (void)shape;
    if (doc->kind != LKS_DOC_TEXT || !lks_str_printable(doc->text) || has_any(doc->text, " ") ||
        !(lks_str_starts(doc->text, "file:/") || lks_str_starts(doc->text, "exec:/")))
        return FAIL(c, doc, "credentials are given by reference only: file:/PATH or exec:/PROGRAM");
    return LKS_OK;
}

static enum lks_code check_bool(struct checker *c, const struct lks_doc *doc,
                                const struct lks_shape *shape)
{
    (void)shape;
    if (doc->kind != LKS_DOC_BOOL)
        return FAIL(c, doc, "expected true or false, found %s", lks_doc_kind_name(doc->kind));
    return LKS_OK;
}

/* A text that is a number, in decimal or with 0x in hexadecimal. */
static bool number_in(struct lks_str text, uint64_t *out)
{
    if (lks_str_starts(text, "0x"))
        return lks_str_hex((struct lks_str){text.ptr + 2, text.len - 2}, INT64_MAX, out);
    return lks_str_number(text, INT64_MAX, out);
}

static enum lks_code check_number(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    uint64_t number;
    if (doc->kind == LKS_DOC_TEXT && number_in(doc->text, &number))
        return FAIL(c, doc, "expected a number, found text; write %llu, without quotes",
                    (unsigned long long)number);
    if (doc->kind != LKS_DOC_NUMBER)
        return FAIL(c, doc, "expected a number, found %s", lks_doc_kind_name(doc->kind));
    if (doc->number < shape->min || doc->number > shape->max)
        return FAIL(c, doc, "%lld is not between %lld and %lld", (long long)doc->number,
                    (long long)shape->min, (long long)shape->max);
    return LKS_OK;
}

static enum lks_code fail_choice(struct checker *c, const struct lks_doc *doc,
                                 const char *const *values, size_t count)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(doc->text);
    for (size_t i = 0; i < count; i++)
        lks_near_try(&near, lks_str_from(values[i]));
    if (near.best.len > 0)
        return FAIL(c, doc, "no such value '%.*s'%s", SHOWN(doc->text), lks_near_hint(&near, hint));
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(256);
    for (size_t i = 0; i < count; i++)
        lks_buf_addf(&list, "%s%s", i > 0 ? ", " : "", values[i]);
    struct lks_str shown = lks_buf_view(&list);
    return FAIL(c, doc, "no such value '%.*s'; one of: %" LKS_STR_FMT, SHOWN(doc->text),
                LKS_STR_ARG(shown));
}

static enum lks_code check_choice(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    if (doc->kind == LKS_DOC_LIST)
        return FAIL(c, doc, "exactly one value is allowed here, not a list of %zu", doc->count);
    if (need_text(c, doc, "one of a few words") != LKS_OK)
        return c->err->code;
    size_t count = 0;
    for (; shape->values[count] != NULL; count++) {
        if (lks_str_is(doc->text, shape->values[count]))
            return LKS_OK;
    }
    return fail_choice(c, doc, shape->values, count);
}

static enum lks_code check_scalar(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    (void)shape;
    if (doc->kind == LKS_DOC_BOOL || doc->kind == LKS_DOC_NUMBER)
        return LKS_OK;
    return need_text(c, doc, "a single value");
}

/* Line ends and tabs are all that may stand between what prints. */
static enum lks_code check_lines(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    if (doc->kind != LKS_DOC_TEXT || doc->text.len == 0)
        return FAIL(c, doc, "expected text, found %s",
                    doc->kind == LKS_DOC_TEXT ? "an empty one" : lks_doc_kind_name(doc->kind));
    if (doc->text.len > (size_t)shape->max)
        return FAIL(c, doc, "longer than %lld bytes", (long long)shape->max);
    for (size_t at = 0, step = 1; at < doc->text.len; at += step) {
        uint32_t point = (unsigned char)doc->text.ptr[at];
        if (point >= ' ' && point <= '~') {
            step = 1;
            continue;
        }
        step = lks_str_rune(doc->text, at, &point);
        bool blank = step == 1 && (point == '\n' || point == '\r' || point == '\t');
        if (step == 0 || (!blank && !lks_str_rune_printable(point)))
            return FAIL(c, doc, "a control character has no place here");
    }
    return LKS_OK;
}

static enum lks_code check_any(struct checker *c, const struct lks_doc *doc,
                               const struct lks_shape *shape)
{
    (void)c, (void)doc, (void)shape;
    return LKS_OK;
}

static enum lks_code check_value(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape);

static enum lks_code check_count(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    if (shape->min > 0 && doc->count < (size_t)shape->min)
        return FAIL(c, doc, "at least %lld expected, found %zu", (long long)shape->min, doc->count);
    if (shape->max > 0 && doc->count > (size_t)shape->max)
        return FAIL(c, doc, "at most %lld allowed, found %zu", (long long)shape->max, doc->count);
    return LKS_OK;
}

static enum lks_code check_key(struct checker *c, const struct lks_doc *item, enum lks_type keys)
{
    if ((keys == LKS_TYPE_NAME || keys == LKS_TYPE_COMPONENT) && !text_kinds[keys].is(item->key))
        return FAIL(c, item, "is not %s%s", text_kinds[keys].what, text_kinds[keys].more);
    if (!is_key_text(item->key))
        return FAIL(c, item, "a key here has 1 to %d printable characters", KEY_LEN_MAX);
    if (keys == LKS_TYPE_TEXT && item->kind == LKS_DOC_TEXT && lks_secret_key(item->key))
        return LKS_DOC_RULE(c->docs, item, c->err, "resembles a secret, and a manifest holds none");
    return LKS_OK;
}

/* A list, or a map whose keys are checked as well. */
static enum lks_code check_items(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    bool map = shape->type == LKS_TYPE_DICT;
    if (doc->kind != (map ? LKS_DOC_MAP : LKS_DOC_LIST))
        return FAIL(c, doc, "expected a %s, found %s", map ? "map" : "list",
                    lks_doc_kind_name(doc->kind));
    if (check_count(c, doc, shape) != LKS_OK)
        return c->err->code;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if ((map && check_key(c, item, shape->keys) != LKS_OK) ||
            check_value(c, item, shape->of) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

bool lks_schema_at(const struct lks_form *form, size_t i, struct lks_field *out)
{
    if (i >= form->count)
        return form->more != NULL && form->more(form->of, form->use, i - form->count, out);
    *out = form->fields[i];
    return true;
}

bool lks_schema_field(const struct lks_form *form, struct lks_str key, struct lks_field *out)
{
    for (size_t i = 0; lks_schema_at(form, i, out); i++) {
        if (lks_str_is(key, out->key))
            return true;
    }
    return false;
}

struct lks_str lks_schema_text(const struct lks_doc *map, const struct lks_form *form,
                               const char *key)
{
    struct lks_field field = {0};
    bool known = lks_schema_field(form, lks_str_from(key), &field);
    LKS_ASSERT(known);
    const struct lks_doc *member = lks_doc_member(map, key);
    if (member != NULL && member->kind == LKS_DOC_TEXT)
        return member->text;
    return lks_str_from(field.fallback != NULL ? field.fallback : "");
}

bool lks_schema_truth(const struct lks_doc *map, const struct lks_form *form, const char *key)
{
    struct lks_field field = {0};
    bool known = lks_schema_field(form, lks_str_from(key), &field);
    LKS_ASSERT(known && field.shape.type == LKS_TYPE_BOOL);
    const struct lks_doc *member = lks_doc_member(map, key);
    if (member != NULL)
        return member->truth;
    return field.fallback != NULL && strcmp(field.fallback, "true") == 0;
}

static enum lks_code fail_unknown(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_form *form)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(doc->key);
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++)
        lks_near_try(&near, lks_str_from(field.key));
    if (near.best.len > 0)
        return FAIL(c, doc, "unknown key%s", lks_near_hint(&near, hint));
    return FAIL(c, doc, "unknown key in %s", form->name);
}

static enum lks_code check_form(struct checker *c, const struct lks_doc *doc,
                                const struct lks_shape *shape)
{
    const struct lks_form *form = shape->form;
    struct lks_field field;
    if (doc->kind != LKS_DOC_MAP)
        return FAIL(c, doc, "expected %s as a map, found %s", form->name,
                    lks_doc_kind_name(doc->kind));
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (!lks_schema_field(form, item->key, &field))
            return fail_unknown(c, item, form);
        if (check_value(c, item, &field.shape) != LKS_OK)
            return c->err->code;
    }
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        if ((field.flags & LKS_FIELD_REQUIRED) != 0 && lks_doc_member(doc, field.key) == NULL)
            return FAIL(c, doc, "%s needs '%s': %s", form->name, field.key, field.about);
    }
    return LKS_OK;
}

/* What each type accepts, and how JSON Schema says it. */
static const struct {
    enum lks_code (*check)(struct checker *c, const struct lks_doc *doc,
                           const struct lks_shape *shape);
    const char *json_type;
    const char *json_pattern;
} types[] = {
    [LKS_TYPE_TEXT] = {check_text, "string", "^.{1,4096}$"},
    [LKS_TYPE_NAME] = {check_text_kind, "string", "^[a-z0-9][a-z0-9._-]{0,62}$"},
    [LKS_TYPE_COMPONENT] = {check_text_kind, "string", "^(firmware/)?[a-z0-9][a-z0-9._-]{0,62}$"},
    [LKS_TYPE_VERSION] = {check_version, "string", "^(?!latest$)[^ <>=*~^][^ ]{0,127}$"},
    [LKS_TYPE_RANGE] = {check_range, "string", NULL},
    [LKS_TYPE_DATE] = {check_text_kind, "string", "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$"},
    [LKS_TYPE_TIME] = {check_text_kind, "string", "^.{1,4096}$"},
    [LKS_TYPE_SHA256] = {check_sha256, "string", "^sha256:[0-9a-f]{64}$"},
    [LKS_TYPE_HEX] = {check_hex, "string", "^([0-9a-f]{2})+$"},
    [LKS_TYPE_HOSTS] = {check_hosts, "string", NULL},
    [LKS_TYPE_URL] = {check_url, "string", "^https://[^ @?#]+$"},
    [LKS_TYPE_SECRET] = {check_secret, "string", "^(file|exec):/[^ ]*$"},
    [LKS_TYPE_BOOL] = {check_bool, "boolean", NULL},
    [LKS_TYPE_NUMBER] = {check_number, "integer", NULL},
    [LKS_TYPE_CHOICE] = {check_choice, NULL, NULL},
    [LKS_TYPE_SCALAR] = {check_scalar, NULL, NULL},
    [LKS_TYPE_LIST] = {check_items, "array", NULL},
    [LKS_TYPE_FORM] = {check_form, "object", NULL},
    [LKS_TYPE_DICT] = {check_items, "object", NULL},
    [LKS_TYPE_LINES] = {check_lines, "string", NULL},
    [LKS_TYPE_ANY] = {check_any, NULL, NULL},
};

static enum lks_code check_value(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    if (doc->kind == LKS_DOC_NULL)
        return FAIL(c, doc, "nothing is written here; leave the key out or give it a value");
    return types[shape->type].check(c, doc, shape);
}

enum lks_code lks_schema_check(const struct lks_docs *docs, const struct lks_doc *doc,
                               const struct lks_form *form, struct lks_err *err)
{
    struct checker c = {docs, err};
    return check_value(&c, doc, &(struct lks_shape){.type = LKS_TYPE_FORM, .form = form});
}

/* Identity ---------------------------------------------------------------------------------- */

/* The copy that is hashed is built as a document of its own, since order and absence differ. */
struct copier {
    struct lks_docs *to;
    struct lks_err *err;
};

static enum lks_code copy_value(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                const struct lks_doc *doc, const struct lks_shape *shape,
                                unsigned flags);

static enum lks_code copy_scalar(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                 const struct lks_doc *doc)
{
    struct lks_doc *copy = doc->kind == LKS_DOC_TEXT ? lks_doc_add_text(c->to, parent, doc->text)
                                                     : lks_doc_add(c->to, parent, doc->kind);
    if (copy == NULL)
        return lks_arena_fail(&c->to->arena, c->err);
    copy->truth = doc->truth;
    copy->number = doc->number;
    copy->key = key;
    return LKS_OK;
}

/* Whether the field could as well have been left out. A map without members says nothing, nor does
 * a list of forms without any; another list without elements says that there are none. */
static bool says_absence(const struct lks_doc *doc, const struct lks_field *field)
{
    if ((field->flags & LKS_FIELD_NOTE) != 0)
        return true;
    if (doc->kind == LKS_DOC_BOOL && field->fallback != NULL)
        return doc->truth == (strcmp(field->fallback, "true") == 0);
    if (doc->kind == LKS_DOC_TEXT && field->fallback != NULL)
        return lks_str_is(doc->text, field->fallback);
    if (doc->kind == LKS_DOC_LIST)
        return doc->count == 0 && field->shape.of->type == LKS_TYPE_FORM;
    if (field->shape.type != LKS_TYPE_FORM)
        return doc->kind == LKS_DOC_MAP && doc->count == 0;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        struct lks_field inner = {0};
        if (lks_schema_field(field->shape.form, item->key, &inner) && !says_absence(item, &inner))
            return false;
    }
    return true;
}

static enum lks_code copy_form(struct copier *c, struct lks_doc *to, const struct lks_doc *doc,
                               const struct lks_form *form)
{
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        struct lks_field field = {0};
        bool known = lks_schema_field(form, item->key, &field);
        LKS_ASSERT(known);
        if (says_absence(item, &field))
            continue;
        if (copy_value(c, to, item->key, item, &field.shape, field.flags) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

struct sortable {
    struct lks_doc *doc;
    struct lks_buf text;
};

static int by_text(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    return lks_str_cmp(lks_buf_view(&a->text), lks_buf_view(&b->text));
}

/* Link the elements anew, each once. */
static void link_sorted(struct lks_doc *list, const struct sortable *items, size_t count)
{
    list->first = list->last = NULL;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_text(&items[i - 1], &items[i]) == 0)
            continue;
        *(list->last != NULL ? &list->last->next : &list->first) = items[i].doc;
        items[i].doc->next = NULL;
        list->last = items[i].doc;
        list->count++;
    }
}

/* Put the elements of `list` in the order of their canonical text. */
static enum lks_code sort_elements(struct copier *c, struct lks_doc *list)
{
    size_t n = 0;
    struct sortable *items = calloc(list->count > 0 ? list->count : 1, sizeof(*items));
    if (items == NULL)
        return lks_fail_nomem(c->err);
    enum lks_code code = LKS_OK;
    for (struct lks_doc *item = list->first; item != NULL && code == LKS_OK; item = item->next) {
        items[n].doc = item;
        lks_buf_init(&items[n].text, LKS_DOC_BYTES_MAX);
        code = lks_json_canonical(item, &items[n++].text, c->err);
    }
    if (code == LKS_OK) {
        qsort(items, n, sizeof(*items), by_text);
        link_sorted(list, items, n);
    }
    for (size_t i = 0; i < n; i++)
        lks_buf_fini(&items[i].text);
    free(items);
    return code;
}

static enum lks_code copy_elements(struct copier *c, struct lks_doc *to, const struct lks_doc *doc,
                                   const struct lks_shape *shape)
{
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (copy_value(c, to, item->key, item, shape->of, 0) != LKS_OK)
            return c->err->code;
    }
    return LKS_OK;
}

static enum lks_code copy_value(struct copier *c, struct lks_doc *parent, struct lks_str key,
                                const struct lks_doc *doc, const struct lks_shape *shape,
                                unsigned flags)
{
    if ((flags & LKS_FIELD_PRESENCE) != 0)
        return copy_scalar(c, parent, key, &(struct lks_doc){.kind = LKS_DOC_BOOL, .truth = true});
    if (doc->kind != LKS_DOC_LIST && doc->kind != LKS_DOC_MAP)
        return copy_scalar(c, parent, key, doc);

    struct lks_doc *copy = lks_doc_add(c->to, parent, doc->kind);
    if (copy == NULL)
        return lks_arena_fail(&c->to->arena, c->err);
    copy->key = key;
    if (shape->type == LKS_TYPE_FORM)
        return copy_form(c, copy, doc, shape->form);
    if (copy_elements(c, copy, doc, shape) != LKS_OK)
        return c->err->code;
    return (flags & LKS_FIELD_SET) != 0 ? sort_elements(c, copy) : LKS_OK;
}

enum lks_code lks_schema_identity(const struct lks_doc *doc, const struct lks_form *form,
                                  struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs copy = {0};
    if (lks_docs_init(&copy, "identity", err) != LKS_OK)
        return err->code;
    struct copier c = {&copy, err};
    struct lks_shape top = {.type = LKS_TYPE_FORM, .form = form};
    if (copy_value(&c, NULL, (struct lks_str){0}, doc, &top, 0) != LKS_OK)
        return err->code;
    return lks_json_canonical(copy.first, out, err);
}

static enum lks_code field_identity(const struct lks_field *field, const struct lks_doc *value,
                                    struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, LKS_DOC_BYTES_MAX);
    if (value == NULL || says_absence(value, field))
        return LKS_OK;
    LKS_CLEANUP(lks_docs_fini) struct lks_docs copy = {0};
    if (lks_docs_init(&copy, "identity", err) != LKS_OK)
        return err->code;
    struct copier c = {&copy, err};
    if (copy_value(&c, NULL, (struct lks_str){0}, value, &field->shape, field->flags) != LKS_OK)
        return err->code;
    return lks_json_canonical(copy.first, out, err);
}

enum lks_code lks_schema_same(const struct lks_field *field, const struct lks_doc *a,
                              const struct lks_doc *b, bool *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf left = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf right = {0};
    if (field_identity(field, a, &left, err) != LKS_OK ||
        field_identity(field, b, &right, err) != LKS_OK)
        return err->code;
    *out = lks_str_eq(lks_buf_view(&left), lks_buf_view(&right));
    return LKS_OK;
}

/* JSON Schema ------------------------------------------------------------------------------- */

static void put_shape(struct lks_json_writer *w, const char *key, const struct lks_shape *shape,
                      const char *about, const char *fallback);

static void put_fields(struct lks_json_writer *w, const struct lks_form *form)
{
    struct lks_field f;
    lks_json_begin(w, "properties", '{');
    for (size_t i = 0; lks_schema_at(form, i, &f); i++)
        put_shape(w, f.key, &f.shape, f.about, f.fallback);
    lks_json_end(w, '}');
    lks_json_begin(w, "required", '[');
    for (size_t i = 0; lks_schema_at(form, i, &f); i++) {
        if ((f.flags & LKS_FIELD_REQUIRED) != 0)
            lks_json_cstr(w, NULL, f.key);
    }
    lks_json_end(w, ']');
    lks_json_bool(w, "additionalProperties", false);
}

static void put_limits(struct lks_json_writer *w, const struct lks_shape *shape)
{
    static const struct {
        enum lks_type type;
        const char *min, *max;
    } names[] = {
        {LKS_TYPE_NUMBER, "minimum", "maximum"},
        {LKS_TYPE_HEX, "minLength", "maxLength"},
        {LKS_TYPE_LIST, "minItems", "maxItems"},
        {LKS_TYPE_DICT, "minProperties", "maxProperties"},
        {LKS_TYPE_TEXT, "minLength", "maxLength"},
        {LKS_TYPE_LINES, "minLength", "maxLength"},
    };
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (names[i].type != shape->type)
            continue;
        bool number = shape->type == LKS_TYPE_NUMBER;
        if (number || shape->min > 0)
            lks_json_int(w, names[i].min, shape->min);
        if (number || shape->max > 0)
            lks_json_int(w, names[i].max, shape->max);
    }
}

static void put_choice(struct lks_json_writer *w, const struct lks_shape *shape)
{
    lks_json_begin(w, "enum", '[');
    for (size_t i = 0; shape->values[i] != NULL; i++)
        lks_json_cstr(w, NULL, shape->values[i]);
    lks_json_end(w, ']');
}

static void put_dict(struct lks_json_writer *w, const struct lks_shape *shape)
{
    lks_json_begin(w, "propertyNames", '{');
    lks_json_cstr(w, "pattern",
                  shape->keys == LKS_TYPE_TEXT ? "^.{1,128}$" : types[shape->keys].json_pattern);
    lks_json_end(w, '}');
    put_shape(w, "additionalProperties", shape->of, NULL, NULL);
}

static void put_scalar(struct lks_json_writer *w)
{
    lks_json_begin(w, "type", '[');
    lks_json_cstr(w, NULL, "string");
    lks_json_cstr(w, NULL, "integer");
    lks_json_cstr(w, NULL, "boolean");
    lks_json_end(w, ']');
}

static void put_shape(struct lks_json_writer *w, const char *key, const struct lks_shape *shape,
                      const char *about, const char *fallback)
{
    lks_json_begin(w, key, '{');
    if (about != NULL)
        lks_json_cstr(w, "description", about);
    if (types[shape->type].json_type != NULL)
        lks_json_cstr(w, "type", types[shape->type].json_type);
    if (types[shape->type].json_pattern != NULL)
        lks_json_cstr(w, "pattern", types[shape->type].json_pattern);
    put_limits(w, shape);
    if (shape->type == LKS_TYPE_CHOICE)
        put_choice(w, shape);
    if (shape->type == LKS_TYPE_SCALAR)
        put_scalar(w);
    if (shape->type == LKS_TYPE_LIST)
        put_shape(w, "items", shape->of, NULL, NULL);
    if (shape->type == LKS_TYPE_DICT)
        put_dict(w, shape);
    if (shape->type == LKS_TYPE_FORM)
        put_fields(w, shape->form);
    if (fallback != NULL && shape->type == LKS_TYPE_BOOL)
        lks_json_bool(w, "default", strcmp(fallback, "true") == 0);
    else if (fallback != NULL)
        lks_json_cstr(w, "default", fallback);
    lks_json_end(w, '}');
}

void lks_schema_shape_json(struct lks_json_writer *w, const char *key,
                           const struct lks_shape *shape)
{
    put_shape(w, key, shape, NULL, NULL);
}

void lks_schema_json(const struct lks_form *form, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    lks_json_cstr(&w, "title", form->name);
    lks_json_cstr(&w, "description", form->about);
    lks_json_cstr(&w, "type", "object");
    put_fields(&w, form);
    lks_json_end(&w, '}');
}
