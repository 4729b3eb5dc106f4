/*
 * JSON: in as a document, out in canonical form or through a writer.
 *
 * Reading is bounded in size and depth and refuses duplicate keys, fractions, exponents, whole
 * numbers of 2^53 or more, strings with a zero byte in them, byte order marks and whatever follows
 * the one value, which may be of any kind. The canonical form is RFC 8785: no blanks, members
 * ordered by the UTF-16 code units of their names, one way to write each string.
 */
#ifndef LKS_CODEC_JSON_H
#define LKS_CODEC_JSON_H

#include "base/buf.h"
#include "codec/format/docs.h"

/* Add the one document `text` holds to `docs`, which was initialised. What is not JSON fails with
 * "source:line:column: ", what we do not take with "source: path: ". On failure `docs` may hold a
 * part and is only good for lks_docs_fini(). */
enum lks_code lks_json_parse(struct lks_str text, struct lks_docs *docs,
                             struct lks_err *err) LKS_MUST_CHECK;

/* How many values `text` has at the most, without parsing it: what a parse can cost in memory goes
 * by this and not by the length. */
size_t lks_json_values(struct lks_str text);

/* Append `s` as a JSON string, quotes included, escaped as RFC 8785 wants it. Bytes that are not
 * UTF-8 become U+FFFD. */
void lks_json_string(struct lks_buf *out, struct lks_str s);

/* Append the canonical form of `doc`. It can fail for a document that was put together by hand, too
 * deep or with a name twice in a map, and when `out` does; `out` then holds a part. */
enum lks_code lks_json_canonical(const struct lks_doc *doc, struct lks_buf *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The order of member names: by UTF-16 code units. */
int lks_json_key_cmp(struct lks_str a, struct lks_str b);

/*
 * Writing: begin, members or elements, end. Commas and quotes are the writer's business, nesting is
 * the caller's. `key` is NULL inside an array. Failures stay in the buffer until it is asked.
 */
struct lks_json_writer {
    struct lks_buf *out; /* the caller's */
    bool need_comma;
};

void lks_json_begin(struct lks_json_writer *w, const char *key, char bracket);
void lks_json_end(struct lks_json_writer *w, char bracket);
void lks_json_text(struct lks_json_writer *w, const char *key, struct lks_str value);
/* The same where it is not empty: no answer says "nothing" with a null or an empty text. */
void lks_json_some(struct lks_json_writer *w, const char *key, struct lks_str value);
void lks_json_cstr(struct lks_json_writer *w, const char *key, const char *value);
void lks_json_int(struct lks_json_writer *w, const char *key, int64_t value);
void lks_json_bool(struct lks_json_writer *w, const char *key, bool value);
void lks_json_null(struct lks_json_writer *w, const char *key);

/* The value is already JSON. */
void lks_json_raw(struct lks_json_writer *w, const char *key, struct lks_str json);

/*
 * Several members or elements at once, from a template: JSON with ' in place of ", blanks where
 * they help the reader, and values as in formats of printf: %s and %.*s, escaped where they
 * stand within quotes and JSON where they do not, and %d, %u, %ld, %lu and %zu. A member whose name
 * has a '?' behind it is left out where its value is empty, 0, false or null. A template may end
 * within objects and lists that it opened, and a later call closes them.
 *
 *     lks_json_write(w, "'id': %u, 'name'?: '%s', 'links': [{'href': '/nodes/%s'}]", id, name, at);
 */
void lks_json_write(struct lks_json_writer *w, const char *template, ...) LKS_PRINTF(2, 3);

/* A truth for a %s outside quotes. */
#define LKS_JSON_TRUTH(truth) ((truth) ? "true" : "false")

#endif
