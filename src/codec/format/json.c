#include "codec/format/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>

/* Where values go, and where a failure is told. */
struct reader {
    struct lks_docs *docs;
    struct lks_err *err;
};

static enum lks_code fail_full(const struct reader *r)
{
    enum lks_code code = lks_arena_fail(&r->docs->arena, r->err);
    LKS_ASSERT(code != LKS_OK);
    return lks_wrap(r->err, "%" LKS_STR_FMT, LKS_STR_ARG(r->docs->source));
}

static enum lks_code fail_depth(const struct lks_docs *docs, struct lks_err *err)
{
    return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": nested too deeply (%d levels at most)",
                    LKS_STR_ARG(docs->source), LKS_DOC_DEPTH_MAX);
}

/* The document value for one of jansson's, without what is inside it; NULL when the arena is
 * full. */
static struct lks_doc *add_value(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                                 const json_t *json)
{
    static const enum lks_doc_kind kinds[] = {
        [JSON_OBJECT] = LKS_DOC_MAP,     [JSON_ARRAY] = LKS_DOC_LIST,  [JSON_STRING] = LKS_DOC_TEXT,
        [JSON_INTEGER] = LKS_DOC_NUMBER, [JSON_REAL] = LKS_DOC_NUMBER, [JSON_TRUE] = LKS_DOC_BOOL,
        [JSON_FALSE] = LKS_DOC_BOOL,     [JSON_NULL] = LKS_DOC_NULL,
    };
    enum lks_doc_kind kind = kinds[json_typeof(json)];
    struct lks_str text = {json_string_value(json), json_string_length(json)};
    struct lks_doc *doc = kind == LKS_DOC_TEXT ? lks_doc_add_text(docs, parent, text)
                                               : lks_doc_add(docs, parent, kind);
    if (doc == NULL)
        return NULL;
    doc->quoted = kind == LKS_DOC_TEXT;
    doc->truth = json_is_true(json);
    doc->number = json_integer_value(json);
    if (key != NULL)
        doc->key = lks_arena_copy(&docs->arena, lks_str_from(key));
    return key == NULL || doc->key.ptr != NULL ? doc : NULL;
}

/* Without the number, which may be a secret. */
static const char beyond_message[] = "a number beyond 2^53 - 1; quote it";

static enum lks_code check_number(const struct reader *r, struct lks_doc *doc, const json_t *json)
{
    char text[64];
    if (json_is_real(json) && r->docs->fractions) {
        doc->fraction = true;
        size_t len = json_dumpb(json, text, sizeof(text), JSON_ENCODE_ANY);
        LKS_ASSERT(len <= sizeof(text)); /* 17 digits, and an exponent */
        doc->text = lks_arena_copy(&r->docs->arena, (struct lks_str){text, len});
        return doc->text.ptr != NULL ? LKS_OK : fail_full(r);
    }
    if (json_is_real(json))
        return lks_doc_fail(r->docs, doc, r->err,
                            "a number with a fraction or an exponent; quote it");
    if (r->docs->fractions)
        return LKS_OK;
    if (doc->number > LKS_DOC_NUMBER_MAX || doc->number < -LKS_DOC_NUMBER_MAX)
        return lks_doc_fail(r->docs, doc, r->err, "%s", beyond_message);
    return LKS_OK;
}

/* Take `json` and all that is in it over into the documents. `depth` counts the lists and maps
 * around it and bounds the recursion. */
static enum lks_code take_over(const struct reader *r, struct lks_doc *parent, const char *key,
                               json_t *json, unsigned depth)
{
    struct lks_doc *doc = add_value(r->docs, parent, key, json);
    if (doc == NULL)
        return fail_full(r);
    if (check_number(r, doc, json) != LKS_OK)
        return r->err->code;
    if (!json_is_array(json) && !json_is_object(json))
        return LKS_OK;
    if (depth == LKS_DOC_DEPTH_MAX)
        return fail_depth(r->docs, r->err);

    for (size_t i = 0; i < json_array_size(json); i++) {
        if (take_over(r, doc, NULL, json_array_get(json, i), depth + 1) != LKS_OK)
            return r->err->code;
    }
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        const char *name = json_object_iter_key(at);
        if (take_over(r, doc, name, json_object_iter_value(at), depth + 1) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

static const char zero_message[] = "a zero byte has no place in text";

/* What jansson says, without the piece of input it repeats: that may be a secret. */
static void without_token(const char *said, char out[JSON_ERROR_TEXT_LENGTH])
{
    const char *near = strstr(said, " near '");
    size_t len = near != NULL ? (size_t)(near - said) : strlen(said);
    memcpy(out, said, len);
    out[len] = '\0';
}

/* What jansson found, in our words where its own are about its flags. */
static enum lks_code fail_syntax(const struct lks_docs *docs, const json_error_t *error,
                                 struct lks_err *err)
{
    char text[sizeof(error->text)];
    const char *message = text;
    without_token(error->text, text);
    switch ((int)json_error_code(error)) {
    case json_error_out_of_memory:
        return lks_fail_nomem(err);
    case json_error_stack_overflow:
        return fail_depth(docs, err);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        message = zero_message;
        break;
    case json_error_numeric_overflow:
        message = beyond_message;
        break;
    default:
        break;
    }
    return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ":%d:%d: %s", LKS_STR_ARG(docs->source),
                    error->line, error->column > 0 ? error->column : 1, message);
}

/* jansson overlooks a zero byte right after a number, so they are looked for first. */
static enum lks_code check_zero(const struct lks_docs *docs, struct lks_str text,
                                struct lks_err *err)
{
    ptrdiff_t zero = lks_str_find(text, (struct lks_str){"", 1});
    if (zero < 0)
        return LKS_OK;
    unsigned line = 1, column = 1;
    for (ptrdiff_t i = 0; i < zero; i++) {
        bool newline = text.ptr[i] == '\n', inside = (text.ptr[i] & 0xc0) == 0x80;
        line += newline;
        column = newline ? 1 : column + !inside;
    }
    return lks_fail(err, LKS_E_INVALID, "%" LKS_STR_FMT ":%u:%u: %s", LKS_STR_ARG(docs->source),
                    line, column, zero_message);
}

/* Each value but the first of a list or map follows a comma, and the first one follows a bracket.
 */
size_t lks_json_values(struct lks_str text)
{
    size_t count = 1;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else
            count += !quoted && (c == ',' || c == '[' || c == '{');
    }
    return count;
}

enum lks_code lks_json_parse(struct lks_str text, struct lks_docs *docs, struct lks_err *err)
{
    size_t most = docs->large ? LKS_DOC_LARGE_BYTES_MAX : LKS_DOC_BYTES_MAX;
    if (text.len > most)
        return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": more than %zu bytes",
                        LKS_STR_ARG(docs->source), most);
    if (check_zero(docs, text, err) != LKS_OK)
        return err->code;
    json_error_t error;
    LKS_CLEANUP(json_decrefp)
    json_t *json = json_loadb(text.len > 0 ? text.ptr : "", text.len,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (json == NULL)
        return fail_syntax(docs, &error, err);
    return take_over(&(struct reader){docs, err}, NULL, NULL, json, 0);
}

/* The letter after the backslash, for bytes that have a short escape. */
static const char short_escapes[UCHAR_MAX + 1] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',  ['\f'] = 'f',
    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
};

/* Append `s`, which is UTF-8. */
static void add_escaped(struct lks_buf *out, struct lks_str s)
{
    size_t done = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c >= 0x20 && short_escapes[c] == '\0')
            continue;
        lks_buf_add(out, (struct lks_str){s.ptr + done, i - done});
        if (short_escapes[c] != '\0')
            lks_buf_addf(out, "\\%c", short_escapes[c]);
        else
            lks_buf_addf(out, "\\u%04x", c);
        done = i + 1;
    }
    if (done < s.len)
        lks_buf_add(out, (struct lks_str){s.ptr + done, s.len - done});
}

/* The same, for any bytes: those that are not UTF-8 become U+FFFD. */
static void add_text(struct lks_buf *out, struct lks_str s)
{
    size_t bad;
    while (!lks_str_utf8(s, &bad)) {
        add_escaped(out, (struct lks_str){s.ptr, bad});
        lks_buf_add(out, LKS_STR("\xef\xbf\xbd"));
        s = (struct lks_str){s.ptr + bad + 1, s.len - bad - 1};
    }
    add_escaped(out, s);
}

void lks_json_string(struct lks_buf *out, struct lks_str s)
{
    lks_buf_addc(out, '"');
    add_text(out, s);
    lks_buf_addc(out, '"');
}

/* UTF-8 sorts as its code points do. UTF-16 puts those above U+FFFF, which it writes as surrogates,
 * before U+E000; so the bytes that begin them (0xf0 and up) have to come before 0xee and 0xef. No
 * other byte of UTF-8 is that large. */
static int utf16_rank(char byte)
{
    int c = (unsigned char)byte;
    return c < 0xee ? c : c < 0xf0 ? c + 0x100 : c;
}

int lks_json_key_cmp(struct lks_str a, struct lks_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        if (a.ptr[i] != b.ptr[i])
            return utf16_rank(a.ptr[i]) - utf16_rank(b.ptr[i]);
    }
    return (a.len > b.len) - (a.len < b.len);
}

static enum lks_code write_value(const struct lks_doc *doc, unsigned depth, struct lks_buf *out,
                                 struct lks_err *err);

static enum lks_code write_list(const struct lks_doc *list, unsigned depth, struct lks_buf *out,
                                struct lks_err *err)
{
    lks_buf_addc(out, '[');
    for (const struct lks_doc *child = list->first; child != NULL; child = child->next) {
        if (child != list->first)
            lks_buf_addc(out, ',');
        if (write_value(child, depth + 1, out, err) != LKS_OK)
            return err->code;
    }
    lks_buf_addc(out, ']');
    return LKS_OK;
}

static int by_key(const void *left, const void *right)
{
    const struct lks_doc *const *a = left, *const *b = right;
    return lks_json_key_cmp((*a)->key, (*b)->key);
}

static enum lks_code write_map(const struct lks_doc *map, unsigned depth, struct lks_buf *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_doc_sorted_free) const struct lks_doc **members = lks_doc_sorted(map, by_key);
    if (members == NULL)
        return lks_fail_nomem(err);
    lks_buf_addc(out, '{');
    for (size_t i = 0; i < map->count; i++) {
        if (i > 0 && lks_str_eq(members[i]->key, members[i - 1]->key))
            return lks_fail(err, LKS_E_INVALID, "two members called '%" LKS_STR_FMT "'",
                            LKS_STR_ARG(members[i]->key));
        if (i > 0)
            lks_buf_addc(out, ',');
        lks_json_string(out, members[i]->key);
        lks_buf_addc(out, ':');
        if (write_value(members[i], depth + 1, out, err) != LKS_OK)
            return err->code;
    }
    lks_buf_addc(out, '}');
    return LKS_OK;
}

static enum lks_code write_value(const struct lks_doc *doc, unsigned depth, struct lks_buf *out,
                                 struct lks_err *err)
{
    /* A value inside the innermost list allowed stands at depth LKS_DOC_DEPTH_MAX. */
    if (depth > LKS_DOC_DEPTH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "nested too deeply (%d levels at most)",
                        LKS_DOC_DEPTH_MAX);
    switch (doc->kind) {
    case LKS_DOC_NULL:
        lks_buf_add(out, LKS_STR("null"));
        break;
    case LKS_DOC_BOOL:
        lks_buf_add(out, doc->truth ? LKS_STR("true") : LKS_STR("false"));
        break;
    case LKS_DOC_NUMBER:
        lks_buf_addf(out, "%" PRId64, doc->number);
        break;
    case LKS_DOC_TEXT:
        lks_json_string(out, doc->text);
        break;
    case LKS_DOC_LIST:
        return write_list(doc, depth, out, err);
    case LKS_DOC_MAP:
        return write_map(doc, depth, out, err);
    }
    return LKS_OK;
}

enum lks_code lks_json_canonical(const struct lks_doc *doc, struct lks_buf *out,
                                 struct lks_err *err)
{
    if (write_value(doc, 0, out, err) != LKS_OK)
        return err->code;
    return lks_buf_check(out, err);
}

/* What stands before a value: a comma unless it is the first, and its name. */
static void begin_value(struct lks_json_writer *w, const char *key)
{
    if (w->need_comma)
        lks_buf_addc(w->out, ',');
    if (key != NULL) {
        lks_json_string(w->out, lks_str_from(key));
        lks_buf_addc(w->out, ':');
    }
    w->need_comma = true;
}

void lks_json_begin(struct lks_json_writer *w, const char *key, char bracket)
{
    LKS_ASSERT(bracket == '{' || bracket == '[');
    begin_value(w, key);
    lks_buf_addc(w->out, bracket);
    w->need_comma = false;
}

void lks_json_end(struct lks_json_writer *w, char bracket)
{
    LKS_ASSERT(bracket == '}' || bracket == ']');
    lks_buf_addc(w->out, bracket);
    w->need_comma = true;
}

void lks_json_text(struct lks_json_writer *w, const char *key, struct lks_str value)
{
    begin_value(w, key);
    lks_json_string(w->out, value);
}

void lks_json_some(struct lks_json_writer *w, const char *key, struct lks_str value)
{
    if (value.len > 0)
        lks_json_text(w, key, value);
}

void lks_json_cstr(struct lks_json_writer *w, const char *key, const char *value)
{
    lks_json_text(w, key, lks_str_from(value));
}

void lks_json_int(struct lks_json_writer *w, const char *key, int64_t value)
{
    begin_value(w, key);
    lks_buf_addf(w->out, "%" PRId64, value);
}

void lks_json_bool(struct lks_json_writer *w, const char *key, bool value)
{
    lks_json_raw(w, key, value ? LKS_STR("true") : LKS_STR("false"));
}

void lks_json_null(struct lks_json_writer *w, const char *key)
{
    lks_json_raw(w, key, LKS_STR("null"));
}

void lks_json_raw(struct lks_json_writer *w, const char *key, struct lks_str json)
{
    begin_value(w, key);
    lks_buf_add(w->out, json);
}

/* ---- Templates ---- */

struct template
{
    struct lks_json_writer *w;
    const char *at;      /* what is still to be written */
    va_list values;      /* for it */
    size_t start, value; /* of the member being written: where it and its value begin in `out` */
    bool comma, some;    /* a comma came before it; it is left out where it is empty */
};

static void add_number(struct template *t)
{
    struct lks_buf *out = t->w->out;
    bool size = *t->at == 'z', large = *t->at == 'l';
    t->at += size || large ? 1 : 0;
    LKS_ASSERT(*t->at == 'd' || *t->at == 'u');
    if (*t->at++ == 'd')
        lks_buf_addf(out, "%ld", large ? va_arg(t->values, long) : va_arg(t->values, int));
    else if (size)
        lks_buf_addf(out, "%zu", va_arg(t->values, size_t));
    else
        lks_buf_addf(out, "%lu",
                     large ? va_arg(t->values, unsigned long) : va_arg(t->values, unsigned));
}

/* One value, whose '%' was read: as a part of a text, or as JSON. */
static void add_value_of(struct template *t, bool text)
{
    bool view = lks_str_starts(lks_str_from(t->at), LKS_STR_FMT);
    if (!view && *t->at != 's') {
        add_number(t);
        return;
    }
    int len = view ? va_arg(t->values, int) : -1;
    const char *ptr = va_arg(t->values, const char *);
    struct lks_str s = view ? (struct lks_str){ptr, (size_t)len} : lks_str_from(ptr ? ptr : "");
    t->at += view ? sizeof(LKS_STR_FMT) - 1 : 1;
    if (text)
        add_text(t->w->out, s);
    else
        lks_buf_add(t->w->out, s);
}

/* What stands up to one of the bytes in `ends`, with the values in it. */
static void add_up_to(struct template *t, const char *ends, bool text)
{
    while (*t->at != '\0' && strchr(ends, *t->at) == NULL) {
        size_t plain = strcspn(t->at, "%',]} ");
        plain = plain > 0 || *t->at == '%' ? plain : 1;
        lks_buf_add(t->w->out, (struct lks_str){t->at, plain});
        t->at += plain;
        if (*t->at == '%') {
            t->at++;
            add_value_of(t, text);
        }
    }
}

static void add_quoted(struct template *t)
{
    lks_buf_addc(t->w->out, '"');
    t->at++;
    add_up_to(t, "'", true);
    LKS_ASSERT(*t->at == '\'');
    lks_buf_addc(t->w->out, '"');
    t->at++;
}

/* A text that was written turns out to be the name of a member. */
static void begin_member(struct template *t, size_t start, bool comma)
{
    t->some = *t->at == '?';
    t->at += t->some ? 2 : 1;
    lks_buf_addc(t->w->out, ':');
    t->start = start;
    t->comma = comma;
    t->value = t->w->out->len;
    t->w->need_comma = false;
}

/* A text or a word of the template is whole. */
static void end_value(struct template *t)
{
    struct lks_str all = lks_buf_view(t->w->out);
    struct lks_str value = {all.ptr + t->value, all.len - t->value};
    t->w->need_comma = true;
    if (t->some && (lks_str_is(value, "\"\"") || lks_str_is(value, "0") ||
                    lks_str_is(value, "false") || lks_str_is(value, "null"))) {
        lks_buf_truncate(t->w->out, t->start);
        t->w->need_comma = t->comma;
    }
    t->some = false;
}

static void add_token(struct template *t)
{
    size_t start = t->w->out->len;
    bool comma = t->w->need_comma;
    switch (*t->at) {
    case '{':
    case '[':
        lks_json_begin(t->w, NULL, *t->at++);
        return;
    case '}':
    case ']':
        lks_json_end(t->w, *t->at++);
        return;
    default:
        break;
    }
    begin_value(t->w, NULL);
    if (*t->at == '\'')
        add_quoted(t);
    else
        add_up_to(t, ",]} ", false);
    if (*t->at == ':' || *t->at == '?')
        begin_member(t, start, comma);
    else
        end_value(t);
}

void lks_json_write(struct lks_json_writer *w, const char *template, ...)
{
    struct template t = {.w = w, .at = template};
    va_start(t.values, template);
    while (*(t.at += strspn(t.at, ", ")) != '\0')
        add_token(&t);
    va_end(t.values);
}
