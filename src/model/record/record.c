#include "model/record/record.h"

#include "codec/format/leb128.h"

#include <inttypes.h>
#include <stdio.h>

/* Where the struct of `r`'s kind is: a union begins where its members do. */
static const void *fields_of(const struct lks_record *r)
{
    return &r->begun;
}

bool lks_record_word_find(const char *const *words, struct lks_str word, uint64_t *out)
{
    for (uint64_t i = 0; words[i] != NULL; i++) {
        if (lks_str_is(word, words[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

struct lks_str lks_record_by(const struct lks_record *r)
{
    const struct lks_record_info *info = lks_record_info((unsigned)r->kind);
    for (size_t i = 0; info != NULL && i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        if (f->type == LKS_RECORD_TEXT && strcmp(f->key, "by") == 0)
            return *(const struct lks_str *)(const void *)((const char *)fields_of(r) + f->offset);
    }
    return (struct lks_str){0};
}

static uint64_t word_count(const char *const *words)
{
    uint64_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

bool lks_record_text(struct lks_str text)
{
    return text.len == 0 || (memchr(text.ptr, '\0', text.len) == NULL && lks_str_utf8(text, NULL));
}

/* The value of a field that is not text. */
static uint64_t number_of(const struct lks_record_field *f, const void *at)
{
    uint64_t n = 0;
    if (f->type == LKS_RECORD_TRUTH)
        return *(const bool *)at;
    memcpy(&n, at, sizeof(n));
    return n;
}

void lks_record_fields_pack(const struct lks_record_info *info, const void *from,
                            struct lks_buf *out)
{
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const void *at = (const char *)from + f->offset;
        if (f->type != LKS_RECORD_TEXT) {
            uint64_t n = number_of(f, at);
            LKS_ASSERT(f->type != LKS_RECORD_WORD || n < word_count(f->words));
            lks_leb128_add(out, n);
            continue;
        }
        const struct lks_str *text = at;
        LKS_ASSERT(lks_record_text(*text)); /* what we cannot read again is never written */
        lks_leb128_add_bytes(out, *text);
    }
}

void lks_record_pack(const struct lks_record *r, struct lks_buf *out)
{
    const struct lks_record_info *info = lks_record_info(r->kind);
    LKS_ASSERT(info != NULL);
    lks_record_fields_pack(info, fields_of(r), out);
}

/* Why the field at the front of `rest` cannot be read, or NULL once it is in `at`. */
static const char *field_take(const struct lks_record_field *f, struct lks_str *rest, void *at)
{
    uint64_t n;
    if (!lks_leb128_take(rest, &n))
        return rest->len == 0 ? "is missing" : "is not a number as we write them";
    if (f->type == LKS_RECORD_TEXT) {
        if (n > rest->len)
            return "is cut short";
        struct lks_str text = {rest->ptr, (size_t)n};
        if (!lks_record_text(text))
            return "is not UTF-8 text";
        *rest = (struct lks_str){rest->ptr + n, rest->len - (size_t)n};
        *(struct lks_str *)at = text;
        return NULL;
    }
    if (f->type == LKS_RECORD_WORD && n >= word_count(f->words))
        return "is no word of its list";
    if (f->type == LKS_RECORD_TRUTH && n > 1)
        return "is neither true nor false";
    if (f->type == LKS_RECORD_TRUTH)
        *(bool *)at = n == 1;
    else
        memcpy(at, &n, sizeof(n));
    return NULL;
}

enum lks_code lks_record_fields_unpack(const struct lks_record_info *info, unsigned version,
                                       struct lks_str body, void *into, struct lks_err *err)
{
    if (version == 0 || version > lks_record_version(info))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: version %u of the record; this program knows up to %u: a newer "
                        "lockstep wrote it",
                        info->word, version, lks_record_version(info));
    if (body.len > LKS_RECORD_BODY_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes; a record has at most %zu", info->word,
                        body.len, LKS_RECORD_BODY_MAX);
    struct lks_str rest = body;
    for (size_t i = 0; i < info->count && info->fields[i].since <= version; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const char *fault = field_take(f, &rest, (char *)into + f->offset);
        if (fault != NULL)
            return lks_fail(err, LKS_E_INVALID, "%s: %s %s", info->word, f->key, fault);
    }
    if (rest.len > 0)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes left over behind the last field",
                        info->word, rest.len);
    return LKS_OK;
}

enum lks_code lks_record_unpack(unsigned kind, unsigned version, struct lks_str body,
                                struct lks_record *out, struct lks_err *err)
{
    const struct lks_record_info *info = lks_record_info(kind);
    if (info == NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "record of kind %u, which this program does not know: a newer lockstep "
                        "wrote it",
                        kind);
    struct lks_record r = {.kind = info->kind};
    enum lks_code code = lks_record_fields_unpack(info, version, body, &r.begun, err);
    if (code == LKS_OK)
        *out = r;
    return code;
}

static void number_json(const struct lks_record_field *f, uint64_t n, struct lks_json_writer *w)
{
    char text[LKS_TIME_TEXT_SIZE];
    if (n == 0)
        return;
    if (f->type == LKS_RECORD_TIME) {
        lks_json_cstr(w, f->key, lks_time_text(n, text));
        return;
    }
    int len = snprintf(text, sizeof(text), "%" PRIu64, n);
    lks_json_raw(w, f->key, (struct lks_str){text, (size_t)len});
}

static void fields_json(const struct lks_record_info *info, const void *from, bool hidden,
                        struct lks_json_writer *w)
{
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const void *at = (const char *)from + f->offset;
        if (f->type == LKS_RECORD_TEXT) {
            const struct lks_str *text = at;
            if (text->len > 0 && (hidden || !f->hidden))
                lks_json_text(w, f->key, *text);
        } else if (f->type == LKS_RECORD_WORD) {
            uint64_t n = number_of(f, at);
            LKS_ASSERT(n < word_count(f->words));
            lks_json_cstr(w, f->key, f->words[n]);
        } else if (f->type == LKS_RECORD_TRUTH) {
            lks_json_bool(w, f->key, number_of(f, at) != 0);
        } else {
            number_json(f, number_of(f, at), w);
        }
    }
}

void lks_record_fields_json(const struct lks_record_info *info, const void *from,
                            struct lks_json_writer *w)
{
    fields_json(info, from, true, w);
}

static void record_json(const struct lks_record *r, bool hidden, struct lks_json_writer *w)
{
    const struct lks_record_info *info = lks_record_info(r->kind);
    LKS_ASSERT(info != NULL);
    lks_json_cstr(w, "kind", info->word);
    fields_json(info, fields_of(r), hidden, w);
}

void lks_record_json(const struct lks_record *r, struct lks_json_writer *w)
{
    record_json(r, true, w);
}

void lks_record_json_shown(const struct lks_record *r, struct lks_json_writer *w)
{
    record_json(r, false, w);
}
