#include "drivers/bmc/bmc_json.h"

#include <stdlib.h>

enum { CHUNK = 32 }; /* the longest escape of one character, with room */

/* What is read, how far it was read, and where texts are put together. */
struct reader {
    const char *at, *end;
    struct lks_docs *docs;
    char *text; /* of the string that was read last; in the arena, as long as the input */
};

static bool read_value(struct reader *r, struct lks_doc *parent, struct lks_str key,
                       unsigned depth);

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (unsigned char)*r->at <= ' ')
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(struct reader *r, struct lks_str word)
{
    if ((size_t)(r->end - r->at) < word.len || memcmp(r->at, word.ptr, word.len) != 0)
        return false;
    r->at += word.len;
    return true;
}

static size_t put_rune(char *out, uint32_t c)
{
    /* No text of a peer carries control characters any further, not even those beyond ASCII. */
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000))
        c = c == '\n' || c == '\r' || c == '\t' ? ' ' : '?';
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(first[more] | (c >> (6 * more)));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

static bool take_hex(struct reader *r, uint32_t *out)
{
    uint64_t value;
    if (r->end - r->at < 4 || !lks_str_hex((struct lks_str){r->at, 4}, 0xffff, &value))
        return false;
    r->at += 4;
    *out = (uint32_t)value;
    return true;
}

/* What follows "\u": one unit, or two that are one character. */
static bool take_unicode(struct reader *r, uint32_t *out)
{
    uint32_t low;
    if (!take_hex(r, out))
        return false;
    if (*out < 0xd800 || *out >= 0xdc00 || r->end - r->at < 6 || r->at[0] != '\\' ||
        r->at[1] != 'u')
        return true;
    const char *before = r->at;
    r->at += 2;
    if (take_hex(r, &low) && low >= 0xdc00 && low < 0xe000)
        *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    else
        r->at = before;
    return true;
}

/* An escape of a letter that has no meaning is that letter. */
static bool take_escape(struct reader *r, uint32_t *out)
{
    static const char letters[] = "bfnrt", meanings[] = "     ";
    if (r->at == r->end)
        return false;
    char c = *r->at++;
    if (c == 'u')
        return take_unicode(r, out);
    const char *known = strchr(letters, c);
    *out = (unsigned char)(c != '\0' && known != NULL ? meanings[known - letters] : c);
    return true;
}

/* One character of a string, whatever bytes it is made of. */
static bool take_rune(struct reader *r, uint32_t *out)
{
    if (*r->at == '\\') {
        r->at++;
        return take_escape(r, out);
    }
    size_t len = lks_str_rune((struct lks_str){r->at, (size_t)(r->end - r->at)}, 0, out);
    if (len == 0)
        *out = '?';
    r->at += len > 0 ? len : 1;
    return true;
}

static bool read_string(struct reader *r, struct lks_str *out)
{
    size_t len = 0;
    if (!take(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"') {
        uint32_t c;
        if (!take_rune(r, &c))
            return false;
        len += put_rune(r->text + len, c);
    }
    if (!take(r, '"'))
        return false;
    *out = lks_arena_copy(&r->docs->arena, (struct lks_str){r->text, len});
    return out->ptr != NULL;
}

static bool read_members(struct reader *r, struct lks_doc *doc, unsigned depth)
{
    char close = doc->kind == LKS_DOC_MAP ? '}' : ']';
    if (take(r, close))
        return true;
    do {
        struct lks_str key = {"", 0};
        skip_blanks(r);
        if (take(r, close)) /* a comma too many */
            return true;
        if (doc->kind == LKS_DOC_MAP && (!read_string(r, &key) || !take(r, ':')))
            return false;
        if (!read_value(r, doc, key, depth + 1))
            return false;
    } while (take(r, ','));
    return take(r, close);
}

/* A number stays text unless it is whole and of a size everyone reads alike. */
static bool read_number(struct reader *r, struct lks_doc *doc)
{
    const char *from = r->at;
    while (r->at < r->end && strchr("+-.0123456789eE", *r->at) != NULL && *r->at != '\0')
        r->at++;
    struct lks_str text = {from, (size_t)(r->at - from)};
    bool minus = text.len > 0 && text.ptr[0] == '-';
    struct lks_str digits = {text.ptr + minus, text.len - minus};
    uint64_t number;
    if (text.len == 0)
        return false;
    if (lks_str_number(digits, (uint64_t)LKS_DOC_NUMBER_MAX, &number)) {
        doc->kind = LKS_DOC_NUMBER;
        doc->number = minus ? -(int64_t)number : (int64_t)number;
        return true;
    }
    doc->kind = LKS_DOC_TEXT;
    doc->text = lks_arena_copy(&r->docs->arena, text);
    return doc->text.ptr != NULL;
}

static bool read_scalar(struct reader *r, struct lks_doc *doc)
{
    if (r->at < r->end && *r->at == '"') {
        doc->kind = LKS_DOC_TEXT;
        doc->quoted = true;
        return read_string(r, &doc->text);
    }
    if (take_word(r, LKS_STR("null")))
        return true;
    doc->kind = LKS_DOC_BOOL;
    doc->truth = take_word(r, LKS_STR("true"));
    if (doc->truth || take_word(r, LKS_STR("false")))
        return true;
    return read_number(r, doc);
}

static bool read_value(struct reader *r, struct lks_doc *parent, struct lks_str key, unsigned depth)
{
    skip_blanks(r);
    bool map = r->at < r->end && *r->at == '{', list = r->at < r->end && *r->at == '[';
    struct lks_doc *doc = lks_doc_add(r->docs, parent,
                                      map    ? LKS_DOC_MAP
                                      : list ? LKS_DOC_LIST
                                             : LKS_DOC_NULL);
    if (doc == NULL || depth > LKS_DOC_DEPTH_MAX)
        return false;
    doc->key = key;
    if (!map && !list)
        return read_scalar(r, doc);
    r->at++;
    return read_members(r, doc, depth);
}

enum lks_code lks_bmc_json_parse(struct lks_str text, struct lks_docs *docs, struct lks_err *err)
{
    if (text.len > LKS_DOC_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "an answer of more than %zu bytes", LKS_DOC_BYTES_MAX);
    if (lks_str_starts(text, "\xef\xbb\xbf"))
        text = (struct lks_str){text.ptr + 3, text.len - 3};
    /* A broken byte becomes one byte and an escape never more bytes than it is written with. */
    char *room = malloc(text.len + CHUNK);
    if (room == NULL)
        return lks_fail_nomem(err);
    struct reader r = {text.ptr, text.len > 0 ? text.ptr + text.len : text.ptr, docs, room};
    bool read = text.len > 0 && read_value(&r, NULL, (struct lks_str){"", 0}, 0);
    free(room);
    return read ? LKS_OK : lks_fail(err, LKS_E_INVALID, "an answer that is not JSON");
}

/* Looking things up ------------------------------------------------------------------------- */

const struct lks_doc *lks_bmc_json_at(const struct lks_doc *doc, const char *path)
{
    struct lks_str rest = lks_str_from(path), name;
    while (doc != NULL && rest.len > 0) {
        lks_str_cut(rest, '/', &name, &rest);
        doc = lks_doc_find(doc, name);
    }
    return doc;
}

struct lks_str lks_bmc_json_text(const struct lks_doc *doc, const char *path)
{
    const struct lks_doc *at = lks_bmc_json_at(doc, path);
    bool is_text = at != NULL && at->kind == LKS_DOC_TEXT;
    return is_text ? lks_str_trim(at->text) : (struct lks_str){"", 0};
}

/* Without scheme and host: a request always goes to the peer that was asked. */
static struct lks_str path_of(struct lks_str at)
{
    ptrdiff_t scheme = lks_str_find(at, LKS_STR("://"));
    if (scheme >= 0) {
        at = (struct lks_str){at.ptr + scheme + 3, at.len - (size_t)scheme - 3};
        while (at.len > 0 && at.ptr[0] != '/')
            at = (struct lks_str){at.ptr + 1, at.len - 1};
    }
    bool path = at.len > 0 && at.ptr[0] == '/' && !lks_str_starts(at, "//");
    for (size_t i = 0; i < at.len; i++)
        path = path && (unsigned char)at.ptr[i] > ' ' && (unsigned char)at.ptr[i] < 0x7f;
    return path ? at : (struct lks_str){"", 0};
}

struct lks_str lks_bmc_json_path(const struct lks_doc *doc, const char *path)
{
    return path_of(lks_bmc_json_text(doc, path));
}

struct lks_str lks_bmc_json_link(const struct lks_doc *doc, const char *path)
{
    return lks_bmc_json_path(lks_bmc_json_at(doc, path), "@odata.id");
}

bool lks_bmc_json_true(const struct lks_doc *doc, const char *path)
{
    const struct lks_doc *at = lks_bmc_json_at(doc, path);
    return at != NULL && at->kind == LKS_DOC_BOOL && at->truth;
}

uint64_t lks_bmc_json_number(const struct lks_doc *doc, const char *path, uint64_t otherwise)
{
    const struct lks_doc *at = lks_bmc_json_at(doc, path);
    bool is_number = at != NULL && at->kind == LKS_DOC_NUMBER && at->number >= 0;
    return is_number ? (uint64_t)at->number : otherwise;
}
