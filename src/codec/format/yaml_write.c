/* Documents as YAML. libyaml writes; this file decides which scalars need quotes. */
#include "codec/format/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { INDENT = 2, ONE_LINE = -1 };

static int put_bytes(void *ctx, unsigned char *bytes, size_t len)
{
    lks_buf_add(ctx, (struct lks_str){(const char *)bytes, len});
    return 1;
}

static yaml_scalar_style_t style_of(struct lks_str s)
{
    if (lks_str_find(s, LKS_STR("\n")) >= 0)
        return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return lks_yaml_is_text(s) ? YAML_PLAIN_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE;
}

static bool put_scalar(yaml_emitter_t *e, struct lks_str s, yaml_scalar_style_t style)
{
    yaml_event_t event;
    return yaml_scalar_event_initialize(&event, NULL, NULL,
                                        (const yaml_char_t *)(s.ptr != NULL ? s.ptr : ""),
                                        (int)s.len, 1, 1, style) &&
           yaml_emitter_emit(e, &event);
}

static bool put_text(yaml_emitter_t *e, struct lks_str s)
{
    return put_scalar(e, s, style_of(s));
}

/* A word that is no text. */
static bool put_word(yaml_emitter_t *e, struct lks_str word)
{
    return put_scalar(e, word, YAML_PLAIN_SCALAR_STYLE);
}

static bool put_number(yaml_emitter_t *e, const struct lks_doc *doc)
{
    char text[32];
    if (doc->fraction)
        return put_word(e, doc->text);
    (void)snprintf(text, sizeof(text), "%" PRId64, doc->number);
    return put_word(e, lks_str_from(text));
}

static bool put_start(yaml_emitter_t *e, bool map)
{
    yaml_event_t event;
    bool made =
        map ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)
            : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                   YAML_BLOCK_SEQUENCE_STYLE);
    return made && yaml_emitter_emit(e, &event);
}

static bool put_end(yaml_emitter_t *e, bool map)
{
    yaml_event_t event;
    bool made = map ? yaml_mapping_end_event_initialize(&event)
                    : yaml_sequence_end_event_initialize(&event);
    return made && yaml_emitter_emit(e, &event);
}

/* Documents are nested at most LKS_DOC_DEPTH_MAX deep. */
static bool put(yaml_emitter_t *e, const struct lks_doc *doc, bool quotes)
{
    bool map = doc->kind == LKS_DOC_MAP;
    if (doc->kind == LKS_DOC_NULL)
        return put_word(e, LKS_STR("null"));
    if (doc->kind == LKS_DOC_BOOL)
        return put_word(e, doc->truth ? LKS_STR("true") : LKS_STR("false"));
    if (doc->kind == LKS_DOC_NUMBER)
        return put_number(e, doc);
    if (doc->kind == LKS_DOC_TEXT && quotes && doc->quoted)
        return put_scalar(e, doc->text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    if (doc->kind == LKS_DOC_TEXT)
        return put_text(e, doc->text);
    if (!put_start(e, map))
        return false;
    for (const struct lks_doc *i = doc->first; i != NULL; i = i->next) {
        if ((map && !put_text(e, i->key)) || !put(e, i, quotes))
            return false;
    }
    return put_end(e, map);
}

static bool put_document(yaml_emitter_t *e, const struct lks_doc *doc, bool quotes)
{
    yaml_event_t event;
    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
           yaml_emitter_emit(e, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
           yaml_emitter_emit(e, &event) && put(e, doc, quotes) &&
           yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(e, &event) &&
           yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(e, &event);
}

static enum lks_code write_doc(const struct lks_doc *doc, bool quotes, struct lks_buf *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(yaml_emitter_delete) yaml_emitter_t emitter = {0};
    if (!yaml_emitter_initialize(&emitter))
        return lks_fail_nomem(err);
    yaml_emitter_set_output(&emitter, put_bytes, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_indent(&emitter, INDENT);
    yaml_emitter_set_width(&emitter, ONE_LINE);
    if (!put_document(&emitter, doc, quotes))
        return lks_fail(err, LKS_E_INVALID, "cannot be written as YAML: %s",
                        emitter.problem != NULL ? emitter.problem : "out of memory");
    return lks_buf_check(out, err);
}

enum lks_code lks_yaml_write(const struct lks_doc *doc, struct lks_buf *out, struct lks_err *err)
{
    return write_doc(doc, false, out, err);
}

enum lks_code lks_yaml_write_quoted(const struct lks_doc *doc, struct lks_buf *out,
                                    struct lks_err *err)
{
    return write_doc(doc, true, out, err);
}
