#include "tests/records.h"

#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>

/* All kinds are in one union, so any of them has its place. */
static char *place(struct lks_record *r, const struct lks_record_field *f)
{
    return (char *)&r->begun + f->offset;
}

static bool set_field(struct lks_record *r, const struct lks_record_field *f,
                      const struct lks_doc *d)
{
    char *at = place(r, f);
    uint64_t number = 0;
    switch (f->type) {
    case LKS_RECORD_TEXT:
        memcpy(at, &d->text, sizeof(d->text));
        return d->kind == LKS_DOC_TEXT;
    case LKS_RECORD_TRUTH:
        memcpy(at, &d->truth, sizeof(d->truth));
        return d->kind == LKS_DOC_BOOL;
    case LKS_RECORD_NUMBER:
        number = (uint64_t)d->number;
        memcpy(at, &number, sizeof(number));
        return d->kind == LKS_DOC_NUMBER;
    case LKS_RECORD_TIME:
        if (!lks_time_parse(d->text, &number))
            return false;
        memcpy(at, &number, sizeof(number));
        return true;
    case LKS_RECORD_WORD:
        if (!lks_record_word_find(f->words, d->text, &number))
            return false;
        memcpy(at, &number, sizeof(number));
        return true;
    }
    return false;
}

static const struct lks_record_info *info_called(struct lks_str word)
{
    for (size_t i = 0; i < lks_record_info_count; i++) {
        if (lks_str_is(word, lks_record_infos[i].word))
            return &lks_record_infos[i];
    }
    return NULL;
}

static const struct lks_record_field *field_called(const struct lks_record_info *info,
                                                   struct lks_str key)
{
    for (size_t i = 0; i < info->count; i++) {
        if (lks_str_is(key, info->fields[i].key))
            return &info->fields[i];
    }
    return NULL;
}

bool lks_test_record_parse(struct lks_str json, struct lks_docs *docs, struct lks_record *out)
{
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_docs_init(docs, "record", &err), LKS_OK) ||
        !CHECK_CODE(lks_json_parse(json, docs, &err), LKS_OK)) {
        printf("%s\n", err.msg);
        return false;
    }
    const struct lks_record_info *info = info_called(lks_doc_text(docs->first, "kind"));
    if (!CHECK(info != NULL))
        return false;
    *out = (struct lks_record){.kind = info->kind};
    for (size_t i = 0; i < info->count; i++) {
        if (info->fields[i].type == LKS_RECORD_TEXT)
            memcpy(place(out, &info->fields[i]), &LKS_STR(""), sizeof(struct lks_str));
    }
    for (const struct lks_doc *d = docs->first->first; d != NULL; d = d->next) {
        const struct lks_record_field *f = field_called(info, d->key);
        if (lks_str_is(d->key, "kind"))
            continue;
        if (!CHECK(f != NULL && set_field(out, f, d))) {
            printf("%s: %" LKS_STR_FMT "\n", info->word, LKS_STR_ARG(d->key));
            return false;
        }
    }
    return true;
}

uint64_t lks_test_record_word(const struct lks_record *r, const struct lks_record_field *field)
{
    uint64_t number;
    memcpy(&number, (const char *)&r->begun + field->offset, sizeof(number));
    return number;
}

bool lks_test_record_has(const struct lks_record *r, const struct lks_record_field *field)
{
    const char *at = (const char *)&r->begun + field->offset;
    struct lks_str text;
    bool truth;
    if (field->type == LKS_RECORD_TEXT) {
        memcpy(&text, at, sizeof(text));
        return text.len > 0;
    }
    if (field->type == LKS_RECORD_TRUTH) {
        memcpy(&truth, at, sizeof(truth));
        return truth;
    }
    return lks_test_record_word(r, field) != 0;
}
