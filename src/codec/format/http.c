#include "codec/format/http.h"

#include <ctype.h>

enum { CHUNK_LINE_MAX = 256 };

/* FAILED is 0, so that an answer that was never begun, or is over, takes no bytes. */
enum { FAILED, STATUS, HEADERS, LENGTH, TO_END, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILERS, WHOLE };

void lks_http_answer_init(struct lks_http_answer *a, size_t body_max, bool bodiless)
{
    *a = (struct lks_http_answer){.stage = STATUS, .bodiless = bodiless};
    lks_buf_init(&a->head, LKS_HTTP_HEAD_MAX);
    lks_buf_init(&a->line, LKS_HTTP_HEAD_MAX);
    lks_buf_init(&a->body, body_max);
}

void lks_http_answer_fini(struct lks_http_answer *a)
{
    lks_buf_fini(&a->head);
    lks_buf_fini(&a->line);
    lks_buf_fini(&a->body);
    *a = (struct lks_http_answer){0};
}

bool lks_http_answer_whole(const struct lks_http_answer *a)
{
    return a->stage == WHOLE;
}

struct lks_str lks_http_header(struct lks_str head, const char *name)
{
    struct lks_str line, key, value;
    while (head.len > 0) {
        lks_str_cut(head, '\n', &line, &head);
        if (lks_str_cut(line, ':', &key, &value) && lks_str_is(key, name))
            return lks_str_trim(value);
    }
    return (struct lks_str){"", 0};
}

struct lks_str lks_http_answer_header(const struct lks_http_answer *a, const char *name)
{
    return lks_http_header(lks_buf_view(&a->head), name);
}

/* "HTTP/1.1 200 OK", the reason being anything or nothing. */
static enum lks_code read_status(struct lks_http_answer *a, struct lks_str line,
                                 struct lks_err *err)
{
    struct lks_str version, status;
    uint64_t number = 0;
    lks_str_cut(line, ' ', &version, &line);
    lks_str_cut(line, ' ', &status, &line);
    bool known = lks_str_is(version, "HTTP/1.1") || lks_str_is(version, "HTTP/1.0");
    if (!known || status.len != 3 || !lks_str_number(status, 599, &number) || number < 100)
        return lks_fail(err, LKS_E_INVALID, "the answer does not start with an HTTP/1.1 status");
    a->old = lks_str_is(version, "HTTP/1.0");
    a->keep_alive = !a->old;
    a->status = (int)number;
    a->stage = HEADERS;
    return LKS_OK;
}

static enum lks_code note_length(struct lks_http_answer *a, struct lks_str value,
                                 struct lks_err *err)
{
    uint64_t length = 0;
    if (!lks_str_number(value, UINT64_MAX, &length))
        return lks_fail(err, LKS_E_INVALID, "the answer's Content-Length is not a number");
    if (a->sized && a->left != length)
        return lks_fail(err, LKS_E_INVALID, "the answer has two lengths");
    a->sized = true;
    a->left = length;
    return LKS_OK;
}

static enum lks_code note_coding(struct lks_http_answer *a, struct lks_str value,
                                 struct lks_err *err)
{
    if (a->chunked || a->old || !lks_str_eq_nocase(value, LKS_STR("chunked")))
        return lks_fail(err, LKS_E_INVALID, "the answer's Transfer-Encoding is not one 'chunked'");
    a->chunked = true;
    return LKS_OK;
}

static enum lks_code note_connection(struct lks_http_answer *a, struct lks_str value,
                                     struct lks_err *err)
{
    (void)err;
    for (struct lks_str word; value.len > 0;) {
        lks_str_cut(value, ',', &word, &value);
        word = lks_str_trim(word);
        if (lks_str_eq_nocase(word, LKS_STR("close")))
            a->keep_alive = false;
        else if (lks_str_eq_nocase(word, LKS_STR("keep-alive")))
            a->keep_alive = true;
    }
    return LKS_OK;
}

static const struct {
    const char *name;
    enum lks_code (*note)(struct lks_http_answer *a, struct lks_str value, struct lks_err *err);
} framing[] = {
    {"content-length", note_length},
    {"transfer-encoding", note_coding},
    {"connection", note_connection},
};

/* A character of a header's name (RFC 9110, token). */
static bool name_char(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool text_char(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

/* Check a header line and leave it in `a->head`, its name in lower case: `name` and `value` are
 * views of that. */
static enum lks_code keep_header(struct lks_http_answer *a, struct lks_str line,
                                 struct lks_str *name, struct lks_str *value, struct lks_err *err)
{
    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return lks_fail(err, LKS_E_INVALID, "the answer has a folded header");
    bool good = lks_str_cut(line, ':', name, value) && name->len > 0;
    for (size_t i = 0; good && i < name->len; i++)
        good = name_char(name->ptr[i]);
    for (size_t i = 0; good && i < value->len; i++)
        good = text_char(value->ptr[i]);
    if (!good)
        return lks_fail(err, LKS_E_INVALID, "the answer has a line that is no header");

    size_t at = a->head.len, name_len = name->len;
    *value = lks_str_trim(*value);
    for (size_t i = 0; i < name_len; i++)
        lks_buf_addc(&a->head, (char)tolower((unsigned char)name->ptr[i]));
    lks_buf_add(&a->head, LKS_STR(": "));
    lks_buf_add(&a->head, *value);
    lks_buf_addc(&a->head, '\n');
    if (lks_buf_check(&a->head, err) != LKS_OK)
        return lks_wrap(err, "the answer's headers");
    *name = (struct lks_str){a->head.ptr + at, name_len};
    return LKS_OK;
}

static enum lks_code read_header(struct lks_http_answer *a, struct lks_str line,
                                 struct lks_err *err)
{
    struct lks_str name = {0}, value = {0};
    if (keep_header(a, line, &name, &value, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < LKS_COUNT(framing); i++)
        if (lks_str_is(name, framing[i].name))
            return framing[i].note(a, value, err);
    return LKS_OK;
}

/* The empty line after the headers: what body follows? */
static enum lks_code end_headers(struct lks_http_answer *a, struct lks_err *err)
{
    if (a->chunked && a->sized)
        return lks_fail(err, LKS_E_INVALID, "the answer has a length beside chunks");
    if (a->status == 101)
        return lks_fail(err, LKS_E_INVALID, "the answer changes to another protocol");
    if (a->status < 200) { /* an interim answer: the real one follows */
        lks_buf_truncate(&a->head, 0);
        a->sized = a->chunked = false;
        a->left = 0;
        a->stage = STATUS;
        return LKS_OK;
    }
    if (a->bodiless || a->status == 204 || a->status == 304) {
        a->stage = WHOLE;
        if (a->status == 204 && (a->chunked || a->left > 0))
            a->keep_alive = false; /* what follows is not to be taken for the next answer */
    } else if (a->chunked) {
        a->stage = CHUNK_SIZE;
    } else if (!a->sized) {
        a->stage = TO_END;
        a->keep_alive = false;
    } else if (a->left > a->body.max) {
        return lks_fail(err, LKS_E_LIMIT, "the answer's body is longer than %zu bytes",
                        a->body.max);
    } else {
        a->stage = a->left > 0 ? LENGTH : WHOLE;
    }
    return LKS_OK;
}

static enum lks_code read_chunk_size(struct lks_http_answer *a, struct lks_str line,
                                     struct lks_err *err)
{
    struct lks_str digits, extension;
    lks_str_cut(line, ';', &digits, &extension);
    if (!lks_str_hex(lks_str_trim(digits), UINT64_MAX, &a->left))
        return lks_fail(err, LKS_E_INVALID, "the answer has a chunk without a size");
    a->stage = a->left > 0 ? CHUNK : TRAILERS;
    return LKS_OK;
}

/* A trailer is checked like a header and forgotten: nothing may change the framing now. */
static enum lks_code read_trailer(struct lks_http_answer *a, struct lks_str line,
                                  struct lks_err *err)
{
    struct lks_str name, value;
    size_t before = a->head.len;
    if (keep_header(a, line, &name, &value, err) != LKS_OK)
        return err->code;
    lks_buf_truncate(&a->head, before);
    return LKS_OK;
}

static enum lks_code read_line(struct lks_http_answer *a, struct lks_str line, struct lks_err *err)
{
    switch (a->stage) {
    case STATUS:
        return read_status(a, line, err);
    case HEADERS:
        return line.len == 0 ? end_headers(a, err) : read_header(a, line, err);
    case CHUNK_SIZE:
        return read_chunk_size(a, line, err);
    case CHUNK_END:
        if (line.len != 0)
            return lks_fail(err, LKS_E_INVALID, "the answer has a chunk longer than its size");
        a->stage = CHUNK_SIZE;
        return LKS_OK;
    default:
        LKS_ASSERT(a->stage == TRAILERS);
        if (line.len != 0)
            return read_trailer(a, line, err);
        a->stage = WHOLE;
        return LKS_OK;
    }
}

/* Lines of the body's framing come as often as there are chunks; all others share one bound. */
static enum lks_code bound_line(struct lks_http_answer *a, size_t more, struct lks_err *err)
{
    if (a->stage == CHUNK_SIZE || a->stage == CHUNK_END) {
        if (a->line.len + more > CHUNK_LINE_MAX)
            return lks_fail(err, LKS_E_LIMIT, "the answer has a chunk whose size is too long");
        return LKS_OK;
    }
    a->head_bytes += more;
    if (a->head_bytes > LKS_HTTP_HEAD_MAX)
        return lks_fail(err, LKS_E_LIMIT, "the answer's headers are longer than %zu bytes",
                        LKS_HTTP_HEAD_MAX);
    return LKS_OK;
}

static enum lks_code feed_line(struct lks_http_answer *a, struct lks_str bytes, size_t *taken,
                               struct lks_err *err)
{
    const char *end = memchr(bytes.ptr, '\n', bytes.len);
    size_t size = end != NULL ? (size_t)(end - bytes.ptr) + 1 : bytes.len;
    *taken = size;
    if (bound_line(a, size, err) != LKS_OK)
        return err->code;
    lks_buf_add(&a->line, (struct lks_str){bytes.ptr, size});
    if (lks_buf_check(&a->line, err) != LKS_OK || end == NULL)
        return a->line.failed;

    struct lks_str line = lks_buf_view(&a->line);
    line.len--;
    if (line.len == 0 || line.ptr[line.len - 1] != '\r')
        return lks_fail(err, LKS_E_INVALID, "the answer has a line feed without a return before");
    line.len--;
    if (memchr(line.ptr, '\r', line.len) != NULL || memchr(line.ptr, '\0', line.len) != NULL)
        return lks_fail(err, LKS_E_INVALID, "the answer has a control character in its headers");
    enum lks_code code = read_line(a, line, err);
    lks_buf_truncate(&a->line, 0);
    return code;
}

static enum lks_code feed_body(struct lks_http_answer *a, struct lks_str bytes, size_t *taken,
                               struct lks_err *err)
{
    if (a->stage != TO_END && bytes.len > a->left)
        bytes.len = (size_t)a->left;
    *taken = bytes.len;
    lks_buf_add(&a->body, bytes);
    if (a->body.failed == LKS_E_LIMIT)
        return lks_fail(err, LKS_E_LIMIT, "the answer's body is longer than %zu bytes",
                        a->body.max);
    if (lks_buf_check(&a->body, err) != LKS_OK)
        return err->code;
    if (a->stage == TO_END)
        return LKS_OK;
    a->left -= bytes.len;
    if (a->left == 0)
        a->stage = a->stage == CHUNK ? CHUNK_END : WHOLE;
    return LKS_OK;
}

enum lks_code lks_http_answer_feed(struct lks_http_answer *a, struct lks_str bytes, size_t *taken,
                                   struct lks_err *err)
{
    size_t done = 0;
    if (a->stage == FAILED)
        return lks_fail(err, LKS_E_INVALID, "the answer was refused before");
    while (done < bytes.len && a->stage != WHOLE) {
        struct lks_str rest = {bytes.ptr + done, bytes.len - done};
        bool body = a->stage == LENGTH || a->stage == TO_END || a->stage == CHUNK;
        size_t used = 0;
        if ((body ? feed_body : feed_line)(a, rest, &used, err) != LKS_OK) {
            a->stage = FAILED;
            return err->code;
        }
        done += used;
    }
    *taken = done;
    return LKS_OK;
}

enum lks_code lks_http_answer_end(struct lks_http_answer *a, struct lks_err *err)
{
    if (a->stage == TO_END)
        a->stage = WHOLE;
    if (a->stage == WHOLE)
        return LKS_OK;
    a->stage = FAILED;
    return lks_fail(err, LKS_E_UNAVAILABLE, "the connection ended before the answer did");
}

void lks_http_events_init(struct lks_http_events *e)
{
    *e = (struct lks_http_events){0};
    lks_buf_init(&e->id, LKS_HTTP_EVENT_MAX);
    lks_buf_init(&e->data, LKS_HTTP_EVENT_MAX);
    lks_buf_init(&e->line, LKS_HTTP_EVENT_MAX);
}

void lks_http_events_fini(struct lks_http_events *e)
{
    lks_buf_fini(&e->id);
    lks_buf_fini(&e->data);
    lks_buf_fini(&e->line);
    *e = (struct lks_http_events){0};
}

/* One line of the stream; an empty one ends an event. True when `fn` wants no more. */
static bool take_line(struct lks_http_events *e, lks_http_event_fn *fn, void *ctx)
{
    struct lks_str name, value;
    lks_str_cut(lks_buf_view(&e->line), ':', &name, &value);
    if (value.len > 0 && value.ptr[0] == ' ')
        value = (struct lks_str){value.ptr + 1, value.len - 1};
    bool ended = e->line.len == 0 && e->some;
    if (lks_str_is(name, "id") && (value.len == 0 || memchr(value.ptr, 0, value.len) == NULL)) {
        lks_buf_truncate(&e->id, 0);
        lks_buf_add(&e->id, value);
    } else if (lks_str_is(name, "data")) {
        if (e->some)
            lks_buf_addc(&e->data, '\n');
        lks_buf_add(&e->data, value);
        e->some = true;
    }
    lks_buf_truncate(&e->line, 0);
    if (!ended)
        return false;
    bool more = fn(ctx, lks_buf_view(&e->id), lks_buf_view(&e->data));
    lks_buf_truncate(&e->data, 0);
    e->some = false;
    return !more;
}

static enum lks_code check_events(const struct lks_http_events *e, struct lks_err *err)
{
    enum lks_code code = e->line.failed != LKS_OK   ? e->line.failed
                         : e->data.failed != LKS_OK ? e->data.failed
                                                    : e->id.failed;
    if (code == LKS_E_LIMIT)
        return lks_fail(err, code, "an event is longer than %zu bytes", LKS_HTTP_EVENT_MAX);
    return code != LKS_OK ? lks_fail_nomem(err) : LKS_OK;
}

enum lks_code lks_http_events_feed(struct lks_http_events *e, struct lks_str bytes,
                                   lks_http_event_fn *fn, void *ctx, bool *going,
                                   struct lks_err *err)
{
    bool over = false;
    for (size_t i = 0; i < bytes.len && !over && check_events(e, err) == LKS_OK;) {
        if (e->cr && bytes.ptr[i] == '\n') { /* the second half of an end that was taken */
            e->cr = false;
            i++;
            continue;
        }
        size_t end = i;
        while (end < bytes.len && bytes.ptr[end] != '\n' && bytes.ptr[end] != '\r')
            end++;
        lks_buf_add(&e->line, (struct lks_str){bytes.ptr + i, end - i});
        e->cr = end < bytes.len && bytes.ptr[end] == '\r';
        i = end + (end < bytes.len ? 1 : 0);
        if (end < bytes.len && check_events(e, err) == LKS_OK)
            over = take_line(e, fn, ctx);
    }
    if (check_events(e, err) != LKS_OK)
        return err->code;
    *going = !over;
    return LKS_OK;
}

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void lks_http_escape(struct lks_buf *out, struct lks_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (is_plain(c))
            lks_buf_addc(out, (char)c);
        else
            lks_buf_addf(out, "%%%02X", c);
    }
}
