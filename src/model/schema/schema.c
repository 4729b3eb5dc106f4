#include "model/schema/schema.h"

#include "base/near.h"
#include "base/secret.h"
#include "base/time.h"
#include "codec/notation/hostlist.h"
#include "codec/notation/version.h"

#include <stdio.h>

enum { NAME_LEN_MAX = 63, KEY_LEN_MAX = 128, TEXT_LEN_MAX = 4096, SHOWN_MAX = 72, WORDS_MAX = 240 };

/* Checking ---------------------------------------------------------------------------------- */

struct checker {
    const struct lks_docs *docs;
    struct lks_err *err;
};

#define FAIL(c, doc, ...) lks_doc_fail((c)->docs, (doc), (c)->err, __VA_ARGS__)

/* Whether it is good, or its failure was noted. */
#define TRY(c, call) ((call) == LKS_OK || lks_doc_goes_on((c)->docs, (c)->err))

/* As much of a text as a message should repeat. */
#define SHOWN(s)   (int)((s).len < SHOWN_MAX ? (s).len : SHOWN_MAX), (s).ptr
#define FOUND_SIZE (SHOWN_MAX + 32)

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

/* What a value is, as much of it as a message should repeat. */
static const char *found(const struct lks_doc *doc, char out[FOUND_SIZE])
{
    struct lks_str text = doc->text;
    switch (doc->kind) {
    case LKS_DOC_BOOL:
        return doc->truth ? "true" : "false";
    case LKS_DOC_NUMBER:
        if (doc->fraction)
            snprintf(out, FOUND_SIZE, "the number %.*s", SHOWN(text));
        else
            snprintf(out, FOUND_SIZE, "the number %lld", (long long)doc->number);
        return out;
    case LKS_DOC_TEXT:
        snprintf(out, FOUND_SIZE, "'%.*s'", SHOWN(text));
        lks_str_make_printable(out);
        return lks_str_trim(text).len == 0 ? "an empty text" : out;
    case LKS_DOC_LIST:
        snprintf(out, FOUND_SIZE, "a list of %zu", doc->count);
        return out;
    case LKS_DOC_NULL:
    case LKS_DOC_MAP:
        break;
    }
    return doc->kind == LKS_DOC_MAP ? "a map" : "nothing";
}

static enum lks_code fail_kind(struct checker *c, const struct lks_doc *doc, const char *expected,
                               const char *advice)
{
    char text[FOUND_SIZE];
    return FAIL(c, doc, "expected %s, found %s%s", expected, found(doc, text), advice);
}

static enum lks_code need_text(struct checker *c, const struct lks_doc *doc, const char *what)
{
    bool scalar = doc->kind == LKS_DOC_NUMBER || doc->kind == LKS_DOC_BOOL;
    if (doc->kind != LKS_DOC_TEXT || lks_str_trim(doc->text).len == 0)
        return fail_kind(c, doc, what, scalar ? "; put it in quotes" : "");
    if (doc->text.len > TEXT_LEN_MAX)
        return FAIL(c, doc, "%zu bytes long; at most %d are allowed", doc->text.len, TEXT_LEN_MAX);
    if (!lks_str_printable(doc->text))
        return FAIL(c, doc, "a line break or control character has no place here");
    return LKS_OK;
}

struct lks_str lks_schema_sort_key(struct lks_str text)
{
    size_t sign = lks_str_starts(text, "-") ? 1 : 0;
    return (struct lks_str){text.ptr + sign, text.len - sign};
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
        return FAIL(c, doc, "%zu bytes long; at most %lld are allowed", doc->text.len,
                    (long long)shape->max);
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

#define HEX_DIGITS "0123456789abcdef"

static bool is_sha256(struct lks_str s)
{
    struct lks_str algorithm, hex;
    lks_str_cut(s, ':', &algorithm, &hex);
    return lks_str_is(algorithm, "sha256") && hex.len == 64 && all_of(hex, HEX_DIGITS);
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
    [LKS_TYPE_SHA256] = {is_sha256, "a digest", ": sha256: and 64 lower-case hexadecimal digits"},
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
    return FAIL(c, doc, "'%.*s' is not %s%lld lower-case hexadecimal digits, two for each byte",
                SHOWN(doc->text), shape->min < shape->max ? range : "", (long long)shape->max);
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
    bool quoted = doc->kind == LKS_DOC_TEXT && doc->quoted &&
                  (lks_str_is(doc->text, "true") || lks_str_is(doc->text, "false"));
    return doc->kind == LKS_DOC_BOOL
               ? LKS_OK
               : fail_kind(c, doc, "true or false", quoted ? "; write it without quotes" : "");
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
    char expected[80], advice[64] = "";
    uint64_t number = 0;
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)shape->min,
             (long long)shape->max);
    if (shape->min == shape->max)
        snprintf(expected, sizeof(expected), "the number %lld", (long long)shape->min);
    if (doc->kind == LKS_DOC_TEXT && number_in(doc->text, &number) &&
        (int64_t)number >= shape->min && (int64_t)number <= shape->max)
        snprintf(advice, sizeof(advice), "; write %llu%s", (unsigned long long)number,
                 doc->quoted ? ", without quotes" : "");
    if (doc->kind == LKS_DOC_NUMBER && doc->fraction)
        return FAIL(c, doc, "%.*s has a fraction or an exponent; write %s", SHOWN(doc->text),
                    expected);
    if (doc->kind != LKS_DOC_NUMBER)
        return fail_kind(c, doc, expected, advice);
    if (doc->number < shape->min || doc->number > shape->max)
        return FAIL(c, doc, "%lld is not between %lld and %lld", (long long)doc->number,
                    (long long)shape->min, (long long)shape->max);
    return LKS_OK;
}

/* One more word of a list, as long as a message has room for it. */
static void add_word(char words[WORDS_MAX], const char *word)
{
    size_t len = strlen(words);
    if (len + strlen(word) + sizeof(", ...") <= WORDS_MAX)
        snprintf(words + len, WORDS_MAX - len, "%s%s", len > 0 ? ", " : "", word);
    else if (lks_str_last(lks_str_from(words), ' ').ptr[0] != '.')
        snprintf(words + len, WORDS_MAX - len, ", ...");
}

static enum lks_code fail_choice(struct checker *c, const struct lks_doc *doc,
                                 const char *const *values)
{
    char hint[LKS_NEAR_HINT_SIZE], text[FOUND_SIZE], words[WORDS_MAX] = "";
    struct lks_near near = lks_near_to(doc->text);
    for (size_t i = 0; values[i] != NULL; i++) {
        lks_near_try(&near, lks_str_from(values[i]));
        add_word(words, values[i]);
    }
    if (doc->kind != LKS_DOC_TEXT)
        return FAIL(c, doc, "expected one of %s, found %s", words, found(doc, text));
    if (near.best.len > 0)
        return FAIL(c, doc, "no such value '%.*s'%s", SHOWN(doc->text), lks_near_hint(&near, hint));
    return FAIL(c, doc, "no such value '%.*s'; one of: %s", SHOWN(doc->text), words);
}

static enum lks_code check_choice(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    if (doc->kind == LKS_DOC_LIST)
        return FAIL(c, doc, "exactly one value is allowed here, not a list of %zu", doc->count);
    if (doc->kind == LKS_DOC_TEXT && need_text(c, doc, "a word") != LKS_OK)
        return c->err->code;
    for (size_t i = 0; doc->kind == LKS_DOC_TEXT && shape->values[i] != NULL; i++) {
        if (lks_str_is(doc->text, shape->values[i]))
            return LKS_OK;
    }
    return fail_choice(c, doc, shape->values);
}

/* The key of a field of the form; '-' in front of it reverses the order. */
static enum lks_code check_sort(struct checker *c, const struct lks_doc *doc,
                                const struct lks_shape *shape)
{
    char words[WORDS_MAX] = "";
    struct lks_field field;
    if (need_text(c, doc, "a column") != LKS_OK)
        return c->err->code;
    if (lks_schema_field(shape->form, lks_schema_sort_key(doc->text), &field))
        return LKS_OK;
    for (size_t i = 0; lks_schema_at(shape->form, i, &field); i++)
        add_word(words, field.key);
    return FAIL(c, doc, "this list cannot be sorted by '%.*s'; give one of: %s", SHOWN(doc->text),
                words);
}

static enum lks_code check_scalar(struct checker *c, const struct lks_doc *doc,
                                  const struct lks_shape *shape)
{
    (void)shape;
    if (doc->kind == LKS_DOC_BOOL || (doc->kind == LKS_DOC_NUMBER && !doc->fraction))
        return LKS_OK;
    return need_text(c, doc, "a single value");
}

/* Line ends and tabs are all that may stand between what prints. */
static enum lks_code check_lines(struct checker *c, const struct lks_doc *doc,
                                 const struct lks_shape *shape)
{
    if (doc->kind != LKS_DOC_TEXT || doc->text.len == 0)
        return fail_kind(c, doc, "text", "");
    if (doc->text.len > (size_t)shape->max)
        return FAIL(c, doc, "%zu bytes long; at most %lld are allowed", doc->text.len,
                    (long long)shape->max);
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
    (void)doc, (void)shape;
    LKS_ASSERT(!c->docs->fractions); /* they would pass */
    return LKS_OK;
}

/* One of a list: not one that cannot be in it, and none that is there already. */
static enum lks_code check_chosen(struct checker *c, const struct lks_doc *list,
                                  const struct lks_doc *item, const struct lks_shape *shape)
{
    const struct lks_shape one = {.type = LKS_TYPE_CHOICE, .values = shape->values + shape->min};
    for (int64_t i = 0; item->kind == LKS_DOC_TEXT && i < shape->min; i++) {
        if (lks_str_is(item->text, shape->values[i]))
            return FAIL(c, item,
                        "'%s' cannot be in a list: remove it, or write it instead of the list",
                        shape->values[i]);
    }
    if (check_choice(c, item, &one) != LKS_OK)
        return c->err->code;
    for (const struct lks_doc *i = list->first; i != item; i = i->next) {
        if (i->kind == LKS_DOC_TEXT && lks_str_eq(i->text, item->text))
            return FAIL(c, item, "'%.*s' is in the list twice", SHOWN(item->text));
    }
    return LKS_OK;
}

static enum lks_code check_several(struct checker *c, const struct lks_doc *doc,
                                   const struct lks_shape *shape)
{
    if (doc->kind != LKS_DOC_LIST)
        return check_choice(c, doc, shape);
    if (doc->count == 0)
        return FAIL(c, doc, "the list is empty; name at least one, or write '%s'",
                    shape->values[0]);
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if (!TRY(c, check_chosen(c, doc, item, shape)))
            return c->err->code;
    }
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
        return fail_kind(c, doc, map ? "a map" : "a list", "");
    if (check_count(c, doc, shape) != LKS_OK)
        return c->err->code;
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        if ((map && !TRY(c, check_key(c, item, shape->keys))) ||
            !TRY(c, check_value(c, item, shape->of)))
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
    char hint[LKS_NEAR_HINT_SIZE], words[WORDS_MAX] = "";
    struct lks_near near = lks_near_to(doc->key);
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        lks_near_try(&near, lks_str_from(field.key));
        add_word(words, field.key);
    }
    if (near.best.len > 0)
        return FAIL(c, doc, "unknown key%s", lks_near_hint(&near, hint));
    return FAIL(c, doc, "unknown key; %s takes %s", form->name,
                words[0] != '\0' ? words : "no parameters");
}

static enum lks_code check_form(struct checker *c, const struct lks_doc *doc,
                                const struct lks_shape *shape)
{
    const struct lks_form *form = shape->form;
    struct lks_field field;
    char expected[96];
    snprintf(expected, sizeof(expected), "%s as a map", form->name);
    if (doc->kind != LKS_DOC_MAP)
        return fail_kind(c, doc, expected, "");
    for (const struct lks_doc *item = doc->first; item != NULL; item = item->next) {
        bool known = lks_schema_field(form, item->key, &field);
        if (!TRY(c, known ? check_value(c, item, &field.shape) : fail_unknown(c, item, form)))
            return c->err->code;
    }
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        if ((field.flags & LKS_FIELD_REQUIRED) != 0 && lks_doc_member(doc, field.key) == NULL &&
            !TRY(c, FAIL(c, doc, "%s needs '%s': %s", form->name, field.key, field.about)))
            return c->err->code;
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
    [LKS_TYPE_SHA256] = {check_text_kind, "string", "^sha256:[0-9a-f]{64}$"},
    [LKS_TYPE_HEX] = {check_hex, "string", "^([0-9a-f]{2})+$"},
    [LKS_TYPE_HOSTS] = {check_hosts, "string", NULL},
    [LKS_TYPE_URL] = {check_url, "string", "^https://[^ @?#]+$"},
    [LKS_TYPE_SECRET] = {check_secret, "string", "^(file|exec):/[^ ]*$"},
    [LKS_TYPE_BOOL] = {check_bool, "boolean", NULL},
    [LKS_TYPE_NUMBER] = {check_number, "integer", NULL},
    [LKS_TYPE_CHOICE] = {check_choice, NULL, NULL},
    [LKS_TYPE_SEVERAL] = {check_several, NULL, NULL},
    [LKS_TYPE_SCALAR] = {check_scalar, NULL, NULL},
    [LKS_TYPE_LIST] = {check_items, "array", NULL},
    [LKS_TYPE_FORM] = {check_form, "object", NULL},
    [LKS_TYPE_DICT] = {check_items, "object", NULL},
    [LKS_TYPE_LINES] = {check_lines, "string", NULL},
    [LKS_TYPE_ANY] = {check_any, NULL, NULL},
    [LKS_TYPE_SORT] = {check_sort, "string", NULL},
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

/* One word, or a list of those that do not stand alone. */
static void put_several(struct lks_json_writer *w, const struct lks_shape *shape)
{
    const struct lks_shape one = {.type = LKS_TYPE_CHOICE, .values = shape->values};
    const struct lks_shape item = {.type = LKS_TYPE_CHOICE, .values = shape->values + shape->min};
    lks_json_begin(w, "oneOf", '[');
    put_shape(w, NULL, &one, NULL, NULL);
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "type", "array");
    lks_json_int(w, "minItems", 1);
    lks_json_bool(w, "uniqueItems", true);
    put_shape(w, "items", &item, NULL, NULL);
    lks_json_end(w, '}');
    lks_json_end(w, ']');
}

static void put_sort(struct lks_json_writer *w, const struct lks_shape *shape)
{
    struct lks_field field;
    lks_json_begin(w, "enum", '[');
    for (size_t i = 0; lks_schema_at(shape->form, i, &field); i++) {
        char down[KEY_LEN_MAX];
        snprintf(down, sizeof(down), "-%s", field.key);
        lks_json_cstr(w, NULL, field.key);
        lks_json_cstr(w, NULL, down);
    }
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
    if (shape->type == LKS_TYPE_SEVERAL)
        put_several(w, shape);
    if (shape->type == LKS_TYPE_SORT)
        put_sort(w, shape);
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
