#include "port/http.h"

#include "tests/test.h"

#include <stdio.h>

/* Requests ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *method, *path, *value;
    size_t body, file_at;
    uint64_t file; /* its length; UINT64_MAX: it has none */
    enum lks_code code;
    const char *says;
} requests[] = {
    {"a plain one", "GET", "/redfish/v1", "x", 0, 0, UINT64_MAX, LKS_OK, ""},
    {"with a query", "GET", "/a?$expand=.($levels=1)", "x", 0, 0, UINT64_MAX, LKS_OK, ""},
    {"with a file at its end", "POST", "/a", "x", 5, 5, 10, LKS_OK, ""},
    {"no method", NULL, "/a", "x", 0, 0, UINT64_MAX, LKS_E_INVALID, "no path"},
    {"no path", "GET", "", "x", 0, 0, UINT64_MAX, LKS_E_INVALID, "no path"},
    {"another host", "GET", "https://evil/a", "x", 0, 0, UINT64_MAX, LKS_E_INVALID, "no path"},
    {"another host without a scheme", "GET", "//evil/a", "x", 0, 0, UINT64_MAX, LKS_E_INVALID,
     "no path"},
    {"a path that is two requests", "GET", "/a HTTP/1.1\r\nHost: b", "x", 0, 0, UINT64_MAX,
     LKS_E_INVALID, "no path"},
    {"a path that is not ASCII", "GET", "/\xc3\xa4", "x", 0, 0, UINT64_MAX, LKS_E_INVALID,
     "no path"},
    {"a header that is two", "GET", "/a", "x\r\nHost: b", 0, 0, UINT64_MAX, LKS_E_INVALID,
     "header"},
    {"a body that is too large", "POST", "/a", "x", LKS_HTTP_BODY_MAX + 1, 0, UINT64_MAX,
     LKS_E_LIMIT, "too large"},
    {"a file outside of the body", "POST", "/a", "x", 5, 6, 10, LKS_E_INVALID, "no place"},
    {"a file of nothing", "POST", "/a", "x", 5, 1, 0, LKS_E_INVALID, "no place"},
};

static void test_requests(void)
{
    for (size_t i = 0; i < LKS_COUNT(requests); i++) {
        LKS_CLEANUP(lks_http_request_fini) struct lks_http_request r = {0};
        struct lks_err err = {0};
        bool file = requests[i].file != UINT64_MAX;
        lks_test_case("%s", requests[i].name);
        lks_http_request_init(&r);
        r.method = requests[i].method;
        lks_buf_add(&r.path, lks_str_from(requests[i].path));
        lks_http_request_header(&r, "Accept", "%s", "application/json");
        lks_http_request_header(&r, "X-Auth-Token", "%s", requests[i].value);
        lks_buf_pad(&r.body, 'b', (ptrdiff_t)requests[i].body);
        if (file) {
            snprintf(r.file.digest, sizeof(r.file.digest), "sha256:x");
            r.file.length = requests[i].file;
            r.file_at = requests[i].file_at;
        }
        CHECK_CODE(lks_http_request_check(&r, &err), requests[i].code);
        CHECK_HAS(lks_str_from(err.msg), requests[i].says);
        if (requests[i].code != LKS_OK)
            continue;
        CHECK_INT(lks_http_request_length(&r), requests[i].body + (file ? requests[i].file : 0));
        CHECK_STR(lks_buf_view(&r.head), "Accept: application/json\r\nX-Auth-Token: x\r\n");
    }
}

static void test_headers_too_many(void)
{
    LKS_CLEANUP(lks_http_request_fini) struct lks_http_request r = {0};
    struct lks_err err = {0};
    lks_http_request_init(&r);
    r.method = "GET";
    lks_buf_add(&r.path, LKS_STR("/"));
    for (size_t i = 0; i < LKS_HTTP_LINES_MAX / 8; i++)
        lks_http_request_header(&r, "Name", "%s", "value");
    CHECK_CODE(lks_http_request_check(&r, &err), LKS_E_INVALID);
}

/* Responses --------------------------------------------------------------------------------- */

static const struct {
    const char *head, *name, *value;
} headers[] = {
    {"etag: \"1\"\nlocation: /a\n", "etag", "\"1\""},
    {"etag: \"1\"\nlocation: /a\n", "location", "/a"},
    {"etag: \"1\"\netag: \"2\"\n", "etag", "\"1\""},
    {"x-etag: 1\n", "etag", ""},
    {"etag:\n", "etag", ""},
    {"etag", "etag", ""},
    {"", "etag", ""},
};

static const struct {
    const char *given, *path;
} locations[] = {
    {"/redfish/v1/TaskService/Tasks/1", "/redfish/v1/TaskService/Tasks/1"},
    {"https://10.0.0.1/redfish/v1/Tasks/1", "/redfish/v1/Tasks/1"},
    {"http://[::1]:80/a?b", "/a?b"},
    {"/a?from=http://b/c", "/a?from=http://b/c"},
    {"https://10.0.0.1", ""},
    {"//evil/a", ""},
    {"https:////evil/a", ""},
    {"Tasks/1", ""},
    {"/a b", ""},
    {"", ""},
};

static const struct {
    const char *given;
    lks_ms least, wait;
} retries[] = {
    {"5", LKS_SECOND, 5 * LKS_SECOND},
    {"0", LKS_SECOND, LKS_SECOND},
    {"3", 8 * LKS_SECOND, 8 * LKS_SECOND},
    {"86400", LKS_SECOND, LKS_HTTP_RETRY_MAX},
    {"99999999999999999999", LKS_SECOND, LKS_SECOND},
    {"Wed, 21 Oct 2026 07:28:00 GMT", LKS_SECOND, LKS_SECOND},
    {"-1", LKS_SECOND, LKS_SECOND},
    {"", LKS_SECOND, LKS_SECOND},
    {"1", 2 * LKS_HTTP_RETRY_MAX, LKS_HTTP_RETRY_MAX},
};

static struct lks_http_response with(const char *name, const char *value, char out[256])
{
    snprintf(out, 256, "date: x\n%s: %s\n", name, value);
    return (struct lks_http_response){.status = 200, .head = lks_str_from(out)};
}

static void test_responses(void)
{
    char text[256];
    for (size_t i = 0; i < LKS_COUNT(headers); i++) {
        struct lks_http_response r = {.head = lks_str_from(headers[i].head)};
        lks_test_case("%s", headers[i].head);
        CHECK_STR(lks_http_response_header(&r, headers[i].name), headers[i].value);
    }
    for (size_t i = 0; i < LKS_COUNT(locations); i++) {
        struct lks_http_response r = with("location", locations[i].given, text);
        lks_test_case("%s", locations[i].given);
        CHECK_STR(lks_http_response_location(&r), locations[i].path);
    }
    for (size_t i = 0; i < LKS_COUNT(retries); i++) {
        struct lks_http_response r = with("retry-after", retries[i].given, text);
        lks_test_case("retry after '%s'", retries[i].given);
        CHECK_INT(lks_http_response_retry(&r, retries[i].least), retries[i].wait);
    }
}

static const struct lks_test tests[] = {
    {"requests", test_requests},
    {"too many headers", test_headers_too_many},
    {"responses", test_responses},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
