#include "trust/dsse.h"

#include "codec/format/base64.h"
#include "codec/format/json.h"

enum {
    SIGNATURES_MAX = 8,
    TYPE_MAX = 256,
};

/* What is signed: the lengths make sure that no other type and payload give the same bytes. */
static void signed_bytes(struct lks_str type, struct lks_str payload, struct lks_buf *out)
{
    lks_buf_init(out, LKS_DSSE_MAX + TYPE_MAX + 64);
    lks_buf_addf(out, "DSSEv1 %zu ", type.len);
    lks_buf_add(out, type);
    lks_buf_addf(out, " %zu ", payload.len);
    lks_buf_add(out, payload);
}

static void base64_member(struct lks_json_writer *w, const char *key, struct lks_str bytes)
{
    lks_json_raw(w, key, LKS_STR("\""));
    lks_base64_add(w->out, bytes);
    lks_buf_addc(w->out, '"');
}

static void write_envelope(const struct lks_public_key *key, const char *type,
                           struct lks_str payload, const uint8_t signature[LKS_SIGNATURE_BYTES],
                           struct lks_buf *out)
{
    char name[LKS_KEY_TEXT_SIZE];
    struct lks_json_writer w = {.out = out};
    lks_key_public_text(key, name);
    lks_json_begin(&w, NULL, '{');
    base64_member(&w, "payload", payload);
    lks_json_write(&w, "'payloadType': '%s', 'signatures': [{'keyid': '%s'", type, name);
    base64_member(&w, "sig", (struct lks_str){(const char *)signature, LKS_SIGNATURE_BYTES});
    lks_json_write(&w, "}]}");
}

enum lks_code lks_dsse_sign(const struct lks_key *key, const char *type, struct lks_str payload,
                            struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0}, text = {0};
    struct lks_str type_text = lks_str_from(type);
    uint8_t signature[LKS_SIGNATURE_BYTES];
    LKS_ASSERT(type_text.len <= TYPE_MAX);
    signed_bytes(type_text, payload, &bytes);
    enum lks_code code = lks_buf_check(&bytes, err);
    if (code == LKS_OK)
        code = lks_key_sign(key, lks_buf_view(&bytes), signature, err);
    if (code != LKS_OK)
        return code;

    struct lks_public_key half = lks_key_public(key);
    lks_buf_init(&text, LKS_DSSE_MAX); /* what cannot be opened again is not handed out */
    write_envelope(&half, type, payload, signature, &text);
    code = lks_buf_check(&text, err);
    if (code != LKS_OK)
        return lks_wrap(err, "signed payload");
    lks_buf_add(out, lks_buf_view(&text));
    return lks_buf_check(out, err);
}

/* Whether one of the keys made this signature. The key it claims to be of is only an unsigned hint,
 * so it is ignored. */
static bool signed_by(const struct lks_doc *signature, const struct lks_public_key *keys,
                      size_t key_count, struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf raw = LKS_BUF(LKS_SIGNATURE_BYTES);
    struct lks_err err = {0};
    if (lks_base64_read(lks_doc_text(signature, "sig"), &raw, &err) != LKS_OK ||
        raw.len != LKS_SIGNATURE_BYTES)
        return false;
    for (size_t i = 0; i < key_count; i++) {
        if (lks_key_verify(&keys[i], bytes, (const uint8_t *)raw.ptr))
            return true;
    }
    return false;
}

static enum lks_code check_signatures(const struct lks_docs *docs,
                                      const struct lks_public_key *keys, size_t key_count,
                                      struct lks_str type, struct lks_str payload,
                                      struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(docs->first, "signatures");
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count > SIGNATURES_MAX)
        return lks_doc_fail(docs, docs->first, err, "signatures: expected a list of at most %d",
                            SIGNATURES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    signed_bytes(type, payload, &bytes);
    enum lks_code code = lks_buf_check(&bytes, err);
    if (code != LKS_OK)
        return code;
    for (const struct lks_doc *s = list->first; s != NULL; s = s->next) {
        if (signed_by(s, keys, key_count, lks_buf_view(&bytes)))
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_DENIED, "signed payload: not signed by a key we trust");
}

static enum lks_code read_payload(const struct lks_docs *docs, struct lks_buf *out,
                                  struct lks_err *err)
{
    const struct lks_doc *payload = lks_doc_member(docs->first, "payload");
    if (payload == NULL || payload->kind != LKS_DOC_TEXT)
        return lks_doc_fail(docs, docs->first, err, "expected a map with a payload in base64");
    enum lks_code code = lks_base64_read(payload->text, out, err);
    return code == LKS_OK ? code : lks_wrap(err, "signed payload: payload");
}

enum lks_code lks_dsse_open(struct lks_str text, const struct lks_public_key *keys,
                            size_t key_count, const char *type, struct lks_buf *payload,
                            struct lks_err *err)
{
    if (text.len > LKS_DSSE_MAX)
        return lks_fail(err, LKS_E_LIMIT, "signed payload: more than %zu bytes", LKS_DSSE_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_DSSE_MAX);
    enum lks_code code = lks_docs_init(&docs, "signed payload", err);
    if (code == LKS_OK)
        code = lks_json_parse(text, &docs, err);
    if (code == LKS_OK)
        code = read_payload(&docs, &bytes, err);
    if (code != LKS_OK)
        return code;

    struct lks_str got = lks_doc_text(docs.first, "payloadType");
    if (!lks_str_is(got, type))
        return lks_fail(err, LKS_E_DENIED, "signed payload: its type is not %s", type);
    code = check_signatures(&docs, keys, key_count, got, lks_buf_view(&bytes), err);
    if (code != LKS_OK)
        return code;
    lks_buf_add(payload, lks_buf_view(&bytes));
    return lks_buf_check(payload, err);
}
