#include "port/http.h"

#include "codec/format/base64.h"
#include "codec/format/http.h"

#include <stdarg.h>

void lks_http_request_init(struct lks_http_request *r)
{
    *r = (struct lks_http_request){0};
    lks_buf_init(&r->path, LKS_HTTP_PATH_MAX);
    lks_buf_init(&r->head, LKS_HTTP_LINES_MAX);
    lks_buf_init(&r->body, LKS_HTTP_BODY_MAX);
}

/* Headers and bodies hold tokens and passwords. */
static void wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->cap);
    lks_buf_fini(b);
}

void lks_http_request_fini(struct lks_http_request *r)
{
    lks_buf_fini(&r->path);
    wipe(&r->head);
    wipe(&r->body);
    *r = (struct lks_http_request){0};
}

static bool has_control(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
            return true;
    }
    return false;
}

void lks_http_request_header(struct lks_http_request *r, const char *name, const char *fmt, ...)
{
    lks_buf_addf(&r->head, "%s: ", name);
    size_t at = r->head.len;
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addv(&r->head, fmt, ap);
    va_end(ap);
    struct lks_str all = lks_buf_view(&r->head);
    if (all.len >= at && has_control((struct lks_str){all.ptr + at, all.len - at}))
        r->head.failed = LKS_E_INVALID;
    lks_buf_add(&r->head, LKS_STR("\r\n"));
}

static bool is_path(struct lks_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        if ((unsigned char)path.ptr[i] <= 0x20 || (unsigned char)path.ptr[i] >= 0x7f)
            return false;
    }
    return path.len > 0 && path.ptr[0] == '/' && !lks_str_starts(path, "//");
}

void lks_http_request_basic(struct lks_http_request *r, const char *user, const char *password)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = LKS_BUF(LKS_HTTP_LINES_MAX);
    lks_buf_addf(&plain, "%s:%s", user, password);
    lks_buf_add(&r->head, LKS_STR("Authorization: Basic "));
    lks_base64_add(&r->head, lks_buf_view(&plain));
    lks_buf_add(&r->head, LKS_STR("\r\n"));
}

enum lks_code lks_http_request_check(const struct lks_http_request *r, struct lks_err *err)
{
    if (lks_buf_check(&r->path, err) != LKS_OK || lks_buf_check(&r->body, err) != LKS_OK)
        return lks_wrap(err, "a request that is too large");
    if (r->head.failed != LKS_OK)
        return lks_fail(err, LKS_E_INVALID, "a header of the request cannot be sent");
    if (r->method == NULL || !is_path(lks_buf_view(&r->path)))
        return lks_fail(err, LKS_E_INVALID, "the peer named a resource by what is no path");
    if (r->file.digest[0] != '\0' && (r->file_at > r->body.len || r->file.length == 0))
        return lks_fail(err, LKS_E_INVALID, "a request whose file has no place in it");
    return LKS_OK;
}

uint64_t lks_http_request_length(const struct lks_http_request *r)
{
    return r->body.len + (r->file.digest[0] != '\0' ? r->file.length : 0);
}

struct lks_str lks_http_response_header(const struct lks_http_response *r, const char *name)
{
    return lks_http_header(r->head, name);
}

struct lks_str lks_http_response_location(const struct lks_http_response *r)
{
    struct lks_str at = lks_http_response_header(r, "location"), none = {"", 0};
    ptrdiff_t scheme = lks_str_find(at, LKS_STR("://"));
    if (scheme >= 0 && !lks_str_starts(at, "/")) {
        size_t host = (size_t)scheme + 3;
        at = (struct lks_str){at.ptr + host, at.len - host};
        while (at.len > 0 && at.ptr[0] != '/')
            at = (struct lks_str){at.ptr + 1, at.len - 1};
    }
    return is_path(at) ? at : none;
}

lks_ms lks_http_response_retry(const struct lks_http_response *r, lks_ms least)
{
    uint64_t seconds = 0;
    lks_ms asked = 0;
    if (lks_str_number(lks_http_response_header(r, "retry-after"), UINT32_MAX, &seconds))
        asked = seconds * LKS_SECOND;
    if (asked < least)
        asked = least;
    return asked < LKS_HTTP_RETRY_MAX ? asked : LKS_HTTP_RETRY_MAX;
}
