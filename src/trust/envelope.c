#include "trust/envelope.h"

#include "codec/format/hex.h"
#include "codec/format/json.h"
#include "codec/notation/hostlist.h"

#include <stdio.h>

bool lks_envelope_executor_name(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || c != '-'))
            return false;
    }
    return s.len > 0 && s.len <= LKS_EXECUTOR_NAME_MAX;
}

static bool journal_valid(struct lks_str s)
{
    uint8_t raw[(LKS_JOURNAL_ID_SIZE - 1) / 2];
    return lks_hex_read(s, raw, sizeof(raw));
}

static bool boot_valid(struct lks_str s)
{
    return s.len < LKS_BOOT_ID_SIZE && lks_hostlist_is_name(s);
}

/* The members, in the order they are written; all of them are there. */
static const struct member {
    const char *key;
    size_t offset;
    size_t size; /* of a text, terminator included; 0: a number */
    bool (*valid)(struct lks_str s);
} members[] = {
#define NUMBER(key)                                                                                \
    {                                                                                              \
#key, offsetof(struct lks_envelope, key), 0, NULL                                          \
    }
#define TEXT(key, valid)                                                                           \
    {                                                                                              \
#key, offsetof(struct lks_envelope, key), sizeof(((struct lks_envelope *)NULL)->key),      \
            valid                                                                                  \
    }
    NUMBER(id),
    TEXT(journal, journal_valid),
    TEXT(node, lks_hostlist_is_name),
    TEXT(boot, boot_valid),
    NUMBER(epoch),
    NUMBER(attempt),
    NUMBER(expires),
    TEXT(executor, lks_envelope_executor_name),
#undef NUMBER
#undef TEXT
};

static enum lks_code bad_member(const char *key, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "command: %s is missing or not as it has to be", key);
}

static enum lks_code write_member(const struct member *m, const struct lks_envelope *e,
                                  struct lks_json_writer *w, struct lks_err *err)
{
    const char *at = (const char *)e + m->offset;
    if (m->size > 0) {
        if (memchr(at, '\0', m->size) == NULL || !m->valid(lks_str_from(at)))
            return bad_member(m->key, err);
        lks_json_cstr(w, m->key, at);
        return LKS_OK;
    }
    uint64_t n;
    memcpy(&n, at, sizeof(n));
    if (n > (uint64_t)LKS_DOC_NUMBER_MAX)
        return bad_member(m->key, err);
    lks_json_int(w, m->key, (int64_t)n);
    return LKS_OK;
}

enum lks_code lks_envelope_sign(const struct lks_key *key, const struct lks_envelope *e,
                                struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = {0};
    struct lks_json_writer w = {.out = &payload};
    lks_buf_init(&payload, LKS_DSSE_MAX / 2);
    LKS_ASSERT(e->digest_count <= LKS_ENVELOPE_DIGESTS_MAX);
    lks_json_begin(&w, NULL, '{');
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        enum lks_code code = write_member(&members[i], e, &w, err);
        if (code != LKS_OK)
            return code;
    }
    lks_json_begin(&w, "digests", '[');
    for (size_t i = 0; i < e->digest_count; i++) {
        if (!lks_digest_valid(lks_str_from(e->digests[i])))
            return bad_member("digests", err);
        lks_json_cstr(&w, NULL, e->digests[i]);
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    enum lks_code code = lks_buf_check(&payload, err);
    return code != LKS_OK ? code
                          : lks_dsse_sign(key, LKS_ENVELOPE_TYPE, lks_buf_view(&payload), out, err);
}

static enum lks_code read_member(const struct member *m, const struct lks_doc *map,
                                 struct lks_envelope *e, struct lks_err *err)
{
    const struct lks_doc *doc = lks_doc_member(map, m->key);
    char *at = (char *)e + m->offset;
    if (doc == NULL || doc->kind != (m->size > 0 ? LKS_DOC_TEXT : LKS_DOC_NUMBER))
        return bad_member(m->key, err);
    if (m->size == 0) {
        uint64_t n = (uint64_t)doc->number;
        if (doc->number < 0)
            return bad_member(m->key, err);
        memcpy(at, &n, sizeof(n));
        return LKS_OK;
    }
    if (doc->text.len >= m->size || !m->valid(doc->text))
        return bad_member(m->key, err);
    memcpy(at, doc->text.ptr, doc->text.len);
    return LKS_OK;
}

static enum lks_code read_digests(const struct lks_doc *map, struct lks_envelope *e,
                                  struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(map, "digests");
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count > LKS_ENVELOPE_DIGESTS_MAX)
        return bad_member("digests", err);
    for (const struct lks_doc *doc = list->first; doc != NULL; doc = doc->next) {
        if (doc->kind != LKS_DOC_TEXT || !lks_digest_valid(doc->text))
            return bad_member("digests", err);
        memcpy(e->digests[e->digest_count++], doc->text.ptr, doc->text.len);
    }
    return LKS_OK;
}

/* A member we do not know could be a condition we would not honour. */
static enum lks_code read_all(const struct lks_doc *map, struct lks_envelope *e,
                              struct lks_err *err)
{
    if (map->kind != LKS_DOC_MAP || map->count > LKS_COUNT(members) + 1)
        return lks_fail(err, LKS_E_INVALID,
                        "command: it says more than this program knows; is the agent too old?");
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        enum lks_code code = read_member(&members[i], map, e, err);
        if (code != LKS_OK)
            return code;
    }
    return read_digests(map, e, err);
}

enum lks_code lks_envelope_open(struct lks_str text, const struct lks_public_key *keys,
                                size_t key_count, struct lks_envelope *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(LKS_DSSE_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_envelope e = {0};
    enum lks_code code = lks_dsse_open(text, keys, key_count, LKS_ENVELOPE_TYPE, &payload, err);
    if (code == LKS_OK)
        code = lks_docs_init(&docs, "command", err);
    if (code == LKS_OK)
        code = lks_json_parse(lks_buf_view(&payload), &docs, err);
    if (code == LKS_OK)
        code = read_all(docs.first, &e, err);
    if (code == LKS_OK)
        *out = e;
    return code;
}
