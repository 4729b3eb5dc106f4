#include "drivers/http/artifact.h"

#include <stdio.h>

#define SIZE_MOST ((uint64_t)1 << 50)

static enum lks_code judge(const char *url, int status, struct lks_err *err)
{
    if (status == 200 || status == 206)
        return LKS_OK;
    enum lks_code code = status == 404 || status == 416   ? LKS_E_NOT_FOUND
                         : status == 401 || status == 403 ? LKS_E_DENIED
                                                          : LKS_E_UNAVAILABLE;
    return lks_fail(err, code, "%s answers with status %d", url, status);
}

/* What an answer says of the place and the size of what it brings. */
static enum lks_code place(const char *url, const struct lks_http_answer *answer, uint64_t from,
                           struct lks_byterange *range, uint64_t *size, struct lks_err *err)
{
    struct lks_str text = lks_http_answer_header(answer, "content-range");
    *range = (struct lks_byterange){0, answer->body.len};
    *size = answer->body.len;
    bool good = answer->status == 200 ||
                (lks_byterange_content(text, SIZE_MOST, range, size) && range->from == from);
    if (!good || range->len != answer->body.len || range->len == 0)
        return lks_fail(err, LKS_E_INVALID, "%s sends another range than it says", url);
    return LKS_OK;
}

enum lks_code lks_artifact_range(struct lks_client *client, const char *url, const char *digest,
                                 uint64_t from, uint64_t len, struct lks_http_answer *out,
                                 struct lks_byterange *range, uint64_t *size, struct lks_err *err)
{
    char path[128], head[160];
    snprintf(path, sizeof(path), "/v1/artifacts/%s", digest);
    snprintf(head, sizeof(head), "Lockstep-Protocol: 1\r\nRange: bytes=%llu-%llu\r\n",
             (unsigned long long)from, (unsigned long long)(from + len - 1));
    if (lks_client_exchange(client, "GET", path, NULL, LKS_STR(""), head, out, err) != LKS_OK ||
        judge(url, out->status, err) != LKS_OK)
        return err->code;
    return place(url, out, from, range, size, err);
}
