#include "codec/format/yaml.h"

#include "base/secret.h"

#include <string.h>
#include <yaml.h>

enum { DECIMAL_HINT_SIZE = 64 };
enum { SHOWN_MAX = 60 }; /* how much of an offending scalar a message repeats */

/* What is being built: the open lists and maps, and the key that waits for its value. */
struct builder {
    struct lks_docs *docs;
    struct lks_err *err;
    struct lks_doc *open[LKS_DOC_DEPTH_MAX];
    size_t depth;
    bool has_key;
    struct lks_str key;
    yaml_mark_t key_mark;
};

static uint32_t one_based(size_t zero_based)
{
    return zero_based < UINT32_MAX ? (uint32_t)zero_based + 1 : UINT32_MAX;
}

static enum lks_code fail_at(struct builder *b, const yaml_mark_t *mark, enum lks_code code,
                             const char *message)
{
    return lks_fail(b->err, code, "%" LKS_STR_FMT ":%u:%u: %s", LKS_STR_ARG(b->docs->source),
                    one_based(mark->line), one_based(mark->column), message);
}

/* Without its place: the file is too large to look for one. */
static enum lks_code fail_full(struct builder *b)
{
    enum lks_code code = lks_arena_fail(&b->docs->arena, b->err);
    LKS_ASSERT(code != LKS_OK);
    return lks_wrap(b->err, "%" LKS_STR_FMT, LKS_STR_ARG(b->docs->source));
}

/*
 * What a plain scalar may mean. Tried in this order; the first form that fits decides. Those with a
 * reason are refused: one reader of YAML takes them for something another does not.
 */

static size_t digits(struct lks_str s, const char *allowed)
{
    size_t n = 0;
    while (n < s.len && s.ptr[n] != '\0' && strchr(allowed, s.ptr[n]) != NULL)
        n++;
    return n;
}

static struct lks_str without_sign(struct lks_str s)
{
    bool sign = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    return (struct lks_str){s.ptr + sign, s.len - sign};
}

static bool is_word(struct lks_str s, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (lks_str_eq_nocase(s, lks_str_from(*words)))
            return true;
    }
    return false;
}

static bool form_null(struct lks_str s)
{
    return s.len == 0 || lks_str_is(s, "~") || lks_str_is(s, "null") || lks_str_is(s, "Null") ||
           lks_str_is(s, "NULL");
}

static bool form_bool(struct lks_str s)
{
    return lks_str_is(s, "true") || lks_str_is(s, "false");
}

static bool form_truthy(struct lks_str s)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", NULL};
    return is_word(s, words);
}

static bool form_number(struct lks_str s)
{
    struct lks_str n = s.len > 0 && s.ptr[0] == '-' ? without_sign(s) : s;
    return n.len > 0 && digits(n, "0123456789") == n.len && (n.len == 1 || n.ptr[0] != '0');
}

static bool form_leading_zero(struct lks_str s)
{
    struct lks_str n = without_sign(s);
    return n.len > 1 && n.ptr[0] == '0' && digits(n, "0123456789_") == n.len;
}

static bool form_based(struct lks_str s)
{
    struct lks_str n = without_sign(s);
    return n.len > 2 && n.ptr[0] == '0' && strchr("xXoObB", n.ptr[1]) != NULL &&
           digits((struct lks_str){n.ptr + 2, n.len - 2}, "0123456789abcdefABCDEF_") == n.len - 2;
}

static bool form_sexagesimal(struct lks_str s)
{
    struct lks_str n = without_sign(s);
    return n.len > 2 && n.ptr[0] >= '0' && n.ptr[0] <= '9' && memchr(n.ptr, ':', n.len) != NULL &&
           digits(n, "0123456789_:.") == n.len;
}

/* 2026-01-01, and the long form with a time behind it. */
static bool form_date(struct lks_str s)
{
    if (s.len < 8 || digits(s, "0123456789") != 4 || s.ptr[4] != '-')
        return false;
    struct lks_str rest = {s.ptr + 5, s.len - 5};
    size_t month = digits(rest, "0123456789");
    return month >= 1 && month <= 2 && rest.len > month && rest.ptr[month] == '-';
}

/* 12.10, 1e3, 1_000, +5; also 580.95.05, which begins like one. Whole numbers went before. */
static bool form_fraction(struct lks_str s)
{
    struct lks_str n = without_sign(s);
    static const char *const words[] = {".inf", ".nan", NULL};
    size_t dots = digits(n, ".");
    bool starts = dots < n.len && n.ptr[dots] >= '0' && n.ptr[dots] <= '9';
    return is_word(n, words) || (starts && digits(n, "0123456789._eE+-") == n.len);
}

static bool form_special(struct lks_str s)
{
    return lks_str_is(s, "=") || lks_str_is(s, "<<");
}

struct form {
    bool (*fits)(struct lks_str s);
    enum lks_doc_kind kind;
    const char *refused; /* why, or NULL */
};

static const struct form forms[] = {
    {form_null, LKS_DOC_NULL, NULL},
    {form_bool, LKS_DOC_BOOL, NULL},
    {form_truthy, 0,
     "YAML 1.1 reads it as true or false, YAML 1.2 as text; for a switch write true or false"},
    {form_number, LKS_DOC_NUMBER, NULL},
    {form_leading_zero, 0, "YAML 1.1 reads it as octal, YAML 1.2 as decimal"},
    {form_based, 0, "YAML 1.1 and 1.2 disagree on numbers with a base"},
    {form_sexagesimal, 0, "YAML 1.1 reads it in base 60, YAML 1.2 as text"},
    {form_date, 0, "YAML 1.1 reads it as a date, YAML 1.2 as text"},
    {form_fraction, 0, "it would be read as a number, and 12.10 would become 12.1"},
    {form_special, 0, "it has a meaning of its own in YAML 1.1"},
};

/* What a plain scalar means, or NULL for text. */
static const struct form *find_form(struct lks_str s)
{
    for (size_t i = 0; i < LKS_COUNT(forms); i++) {
        if (forms[i].fits(s))
            return &forms[i];
    }
    return NULL;
}

bool lks_yaml_is_text(struct lks_str s)
{
    return find_form(s) == NULL;
}

/* NULL when it does not fit. */
static struct lks_doc *add_value(struct builder *b, const yaml_mark_t *mark, enum lks_doc_kind kind,
                                 struct lks_str text)
{
    struct lks_doc *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;
    struct lks_doc *doc = kind == LKS_DOC_TEXT ? lks_doc_add_text(b->docs, parent, text)
                                               : lks_doc_add(b->docs, parent, kind);
    if (doc == NULL)
        return NULL;
    if (parent != NULL && parent->kind == LKS_DOC_MAP) {
        doc->key = b->key;
        mark = &b->key_mark; /* the line a person looks for is that of the key */
        b->has_key = false;
    }
    doc->line = one_based(mark->line);
    doc->column = one_based(mark->column);
    return doc;
}

/* "; for a number write 32120" where it is one in hexadecimal: in quotes it would be a text. */
static const char *decimal_hint(struct lks_str s, char out[DECIMAL_HINT_SIZE])
{
    uint64_t number;
    out[0] = '\0';
    if ((lks_str_starts(s, "0x") || lks_str_starts(s, "0X")) &&
        lks_str_hex((struct lks_str){s.ptr + 2, s.len - 2}, INT64_MAX, &number))
        snprintf(out, DECIMAL_HINT_SIZE, "; for a number write %llu", (unsigned long long)number);
    return out;
}

static enum lks_code fail_form(struct builder *b, const yaml_mark_t *mark, struct lks_str s,
                               const char *reason)
{
    char message[256], hint[DECIMAL_HINT_SIZE];
    int len = (int)(s.len < SHOWN_MAX ? s.len : SHOWN_MAX);
    if (lks_secret_key(b->key))
        snprintf(message, sizeof(message), "the value needs quotes: %s", reason);
    else
        snprintf(message, sizeof(message), "%.*s needs quotes (\"%.*s\"): %s%s", len, s.ptr, len,
                 s.ptr, reason, decimal_hint(s, hint));
    return fail_at(b, mark, LKS_E_INVALID, message);
}

static enum lks_code set_number(struct builder *b, struct lks_str s, struct lks_doc *doc)
{
    uint64_t magnitude;
    struct lks_str shown = lks_secret_key(b->key) ? LKS_STR("the number") : s;
    if (!lks_str_number(without_sign(s), (uint64_t)LKS_DOC_NUMBER_MAX, &magnitude))
        return lks_doc_fail(b->docs, doc, b->err, "%" LKS_STR_FMT " is beyond 2^53 - 1; quote it",
                            (int)(shown.len < SHOWN_MAX ? shown.len : SHOWN_MAX), shown.ptr);
    doc->number = s.ptr[0] == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
    return LKS_OK;
}

static enum lks_code add_plain(struct builder *b, const yaml_event_t *event, struct lks_str s)
{
    const struct form *form = find_form(s);
    if (form != NULL && form->refused != NULL)
        return fail_form(b, &event->start_mark, s, form->refused);
    enum lks_doc_kind kind = form != NULL ? form->kind : LKS_DOC_TEXT;
    struct lks_doc *doc = add_value(b, &event->start_mark, kind, s);
    if (doc == NULL)
        return fail_full(b);
    doc->truth = kind == LKS_DOC_BOOL && lks_str_is(s, "true");
    return kind == LKS_DOC_NUMBER ? set_number(b, s, doc) : LKS_OK;
}

static bool awaits_key(const struct builder *b)
{
    return b->depth > 0 && b->open[b->depth - 1]->kind == LKS_DOC_MAP && !b->has_key;
}

static enum lks_code take_key(struct builder *b, const yaml_event_t *event, struct lks_str s)
{
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain && form_special(s))
        return fail_at(b, &event->start_mark, LKS_E_INVALID,
                       "merge keys are not read here; write the values out");
    if (plain && find_form(s) != NULL)
        return fail_at(b, &event->start_mark, LKS_E_INVALID,
                       "a key that could be read as anything but text needs quotes");
    b->key = lks_arena_copy(&b->docs->arena, s);
    if (b->key.ptr == NULL)
        return fail_full(b);
    b->key_mark = event->start_mark;
    b->has_key = true;
    return LKS_OK;
}

static enum lks_code on_scalar(struct builder *b, const yaml_event_t *event)
{
    struct lks_str s = {(const char *)event->data.scalar.value, event->data.scalar.length};
    if (memchr(s.ptr, '\0', s.len) != NULL)
        return fail_at(b, &event->start_mark, LKS_E_INVALID, "a zero byte has no place in text");
    if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
        return fail_at(b, &event->start_mark, LKS_E_INVALID,
                       "anchors and tags are not read here; write the value out");
    if (awaits_key(b))
        return take_key(b, event, s);
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return add_plain(b, event, s);

    struct lks_doc *doc = add_value(b, &event->start_mark, LKS_DOC_TEXT, s);
    if (doc == NULL)
        return fail_full(b);
    doc->quoted = true;
    return LKS_OK;
}

static enum lks_code on_start(struct builder *b, const yaml_event_t *event, enum lks_doc_kind kind,
                              const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL || tag != NULL)
        return fail_at(b, &event->start_mark, LKS_E_INVALID,
                       "anchors and tags are not read here; write the value out");
    if (awaits_key(b))
        return fail_at(b, &event->start_mark, LKS_E_INVALID, "a key must be plain text");
    if (b->depth == LKS_DOC_DEPTH_MAX) {
        char message[64];
        snprintf(message, sizeof(message), "nested too deeply (%d levels at most)",
                 LKS_DOC_DEPTH_MAX);
        return fail_at(b, &event->start_mark, LKS_E_LIMIT, message);
    }

    struct lks_doc *doc = add_value(b, &event->start_mark, kind, (struct lks_str){0});
    if (doc == NULL)
        return fail_full(b);
    b->open[b->depth++] = doc;
    return LKS_OK;
}

static enum lks_code on_end(struct builder *b)
{
    LKS_ASSERT(b->depth > 0);
    struct lks_doc *closed = b->open[--b->depth];
    b->has_key = false;
    if (closed->kind == LKS_DOC_MAP)
        return lks_doc_check_keys(b->docs, closed, b->err);
    return LKS_OK;
}

static enum lks_code on_event(struct builder *b, const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(b, event, LKS_DOC_LIST, event->data.sequence_start.anchor,
                        event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return on_start(b, event, LKS_DOC_MAP, event->data.mapping_start.anchor,
                        event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b);
    case YAML_ALIAS_EVENT:
        return fail_at(b, &event->start_mark, LKS_E_INVALID,
                       "aliases are not read here; write the value out");
    default:
        return LKS_OK; /* where streams and documents begin and end */
    }
}

static enum lks_code fail_syntax(struct builder *b, const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        return lks_fail_nomem(b->err);
    if (parser->error == YAML_READER_ERROR)
        return lks_fail(b->err, LKS_E_INVALID, "%" LKS_STR_FMT ": byte %zu: %s",
                        LKS_STR_ARG(b->docs->source), parser->problem_offset, problem);
    return fail_at(b, &parser->problem_mark, LKS_E_INVALID, problem);
}

static enum lks_code read_events(struct builder *b, yaml_parser_t *parser)
{
    bool ended = false;
    while (!ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return fail_syntax(b, parser);
        enum lks_code code = on_event(b, &event);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

enum lks_code lks_yaml_parse(struct lks_str text, struct lks_docs *docs, struct lks_err *err)
{
    if (text.len > LKS_DOC_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%" LKS_STR_FMT ": more than %zu bytes",
                        LKS_STR_ARG(docs->source), LKS_DOC_BYTES_MAX);
    LKS_CLEANUP(yaml_parser_delete) yaml_parser_t parser = {0};
    if (!yaml_parser_initialize(&parser))
        return lks_fail_nomem(err);
    /* Bytes are UTF-8 or refused: guessing an encoding would let one file have two digests. */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);

    struct builder b = {.docs = docs, .err = err};
    return read_events(&b, &parser);
}
