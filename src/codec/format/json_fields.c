#include "codec/format/json_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t number_at(const void *at, size_t size)
{
    uint32_t narrow = 0;
    uint64_t wide = 0;
    LKS_ASSERT(size == sizeof(narrow) || size == sizeof(wide));
    if (size == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

static void set_number(void *at, size_t size, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    LKS_ASSERT(size == sizeof(value) || (size == sizeof(narrow) && narrow == value));
    if (size == sizeof(value))
        memcpy(at, &value, sizeof(value));
    else
        memcpy(at, &narrow, sizeof(narrow));
}

static void write_hashes(struct lks_json_writer *w, const struct lks_json_field *f, const char *of)
{
    uint64_t full = f->size / sizeof(uint64_t);
    uint64_t count = f->count_at > 0 ? number_at(of + f->count_at, sizeof(size_t)) : full;
    lks_json_begin(w, f->name, '[');
    for (uint64_t i = 0; i < count; i++) {
        char hash[17];
        snprintf(hash, sizeof(hash), "%016" PRIx64,
                 number_at(of + f->at + i * sizeof(uint64_t), sizeof(uint64_t)));
        lks_json_cstr(w, NULL, hash);
    }
    lks_json_end(w, ']');
}

void lks_json_fields_write(struct lks_json_writer *w, const struct lks_json_field *fields,
                           size_t count, const void *of)
{
    for (const struct lks_json_field *f = fields; f < fields + count; f++) {
        const void *at = (const char *)of + f->at;
        switch (f->kind) {
        case LKS_JSON_NUMBER:
            lks_json_int(w, f->name, (int64_t)number_at(at, f->size));
            break;
        case LKS_JSON_FLAG:
            lks_json_bool(w, f->name, *(const bool *)at);
            break;
        case LKS_JSON_CHARS:
            lks_json_cstr(w, f->name, at);
            break;
        case LKS_JSON_VIEW:
            lks_json_text(w, f->name, *(const struct lks_str *)at);
            break;
        case LKS_JSON_HASHES:
            write_hashes(w, f, of);
            break;
        }
    }
}

static bool read_number(const struct lks_json_field *f, const struct lks_doc *from, void *at)
{
    uint64_t max = f->max > 0 ? f->max : UINT16_MAX;
    if (from->kind != LKS_DOC_NUMBER || from->number < 0 || (uint64_t)from->number > max)
        return false;
    set_number(at, f->size, (uint64_t)from->number);
    return true;
}

static bool read_chars(const struct lks_json_field *f, const struct lks_doc *from, char *at)
{
    if (from->kind != LKS_DOC_TEXT || from->text.len >= f->size)
        return false;
    snprintf(at, f->size, "%" LKS_STR_FMT, LKS_STR_ARG(from->text));
    return true;
}

static void set_count(const struct lks_json_field *f, char *of, uint64_t count)
{
    if (f->count_at > 0)
        set_number(of + f->count_at, sizeof(size_t), count);
}

static bool read_hashes(const struct lks_json_field *f, const struct lks_doc *from, char *of)
{
    uint64_t hash = 0;
    size_t count = 0;
    if (from->kind != LKS_DOC_LIST || from->count > f->size / sizeof(hash))
        return false;
    for (const struct lks_doc *one = from->first; one != NULL; one = one->next) {
        if (one->kind != LKS_DOC_TEXT || !lks_str_hex(one->text, UINT64_MAX, &hash))
            return false;
        set_number(of + f->at + count++ * sizeof(hash), sizeof(hash), hash);
    }
    set_count(f, of, count);
    return true;
}

static bool read_member(const struct lks_json_field *f, const struct lks_doc *from, char *of)
{
    switch (f->kind) {
    case LKS_JSON_NUMBER:
        return read_number(f, from, of + f->at);
    case LKS_JSON_CHARS:
        return read_chars(f, from, of + f->at);
    case LKS_JSON_HASHES:
        return read_hashes(f, from, of);
    case LKS_JSON_FLAG:
        *(bool *)(of + f->at) = from->kind == LKS_DOC_BOOL && from->truth;
        return true;
    case LKS_JSON_VIEW:
        break;
    }
    LKS_ASSERT(false);
    return false;
}

/* A member that this object was written without. */
static bool read_missing(const struct lks_json_field *f, char *of)
{
    bool flag = f->kind == LKS_JSON_FLAG;
    memset(of + f->at, flag && f->later ? 1 : 0, f->size);
    set_count(f, of, 0);
    return f->later || flag;
}

bool lks_json_fields_read(const struct lks_doc *map, const struct lks_json_field *fields,
                          size_t count, void *of)
{
    bool good = true;
    for (const struct lks_json_field *f = fields; f < fields + count && good; f++) {
        const struct lks_doc *from = lks_doc_member(map, f->name);
        good = from != NULL ? read_member(f, from, of) : read_missing(f, of);
    }
    return good;
}
