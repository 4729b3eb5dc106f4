#include "agent/hooks/notice.h"

#include <inttypes.h>
#include <stdio.h>

#define FORMAT "lockstep-notice-1"

static const char *const kind_words[] = {
    [LKS_NOTICE_PASSED] = "passed", [LKS_NOTICE_FAILED] = "failed", [LKS_NOTICE_ENDED] = "ended"};

void lks_notice_pack(const struct lks_notice *n, struct lks_buf *out)
{
    lks_buf_addf(out, FORMAT " %s", kind_words[n->kind]);
    if (n->kind == LKS_NOTICE_FAILED)
        lks_buf_addf(out, " %s", n->text);
    if (n->kind == LKS_NOTICE_ENDED)
        lks_buf_addf(out, " %" PRIu64, n->job);
}

static bool find_kind(struct lks_str word, enum lks_notice_kind *out)
{
    for (size_t i = 0; i < LKS_NOTICE_COUNT; i++) {
        if (lks_str_is(word, kind_words[i])) {
            *out = (enum lks_notice_kind)i;
            return true;
        }
    }
    return false;
}

static enum lks_code take_text(struct lks_str text, struct lks_notice *n, struct lks_err *err)
{
    if (text.len == 0 || text.len >= sizeof(n->text) || !lks_str_printable(text))
        return lks_fail(err, LKS_E_INVALID,
                        "a notice of a check that failed has no reason of 1 to %zu printable bytes",
                        sizeof(n->text) - 1);
    memcpy(n->text, text.ptr, text.len);
    return LKS_OK;
}

enum lks_code lks_notice_parse(struct lks_str bytes, struct lks_notice *out, struct lks_err *err)
{
    struct lks_notice n = {0};
    struct lks_str word, rest;
    if (bytes.len > LKS_NOTICE_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a notice has more than %d bytes", LKS_NOTICE_BYTES_MAX);
    if (!lks_str_cut(bytes, ' ', &word, &rest) || !lks_str_is(word, FORMAT))
        return lks_fail(err, LKS_E_INVALID, "a notice of another format than " FORMAT);
    bool more = lks_str_cut(rest, ' ', &word, &rest);
    if (!find_kind(word, &n.kind) || more != (n.kind != LKS_NOTICE_PASSED))
        return lks_fail(err, LKS_E_INVALID, "a notice of no known kind");
    if (n.kind == LKS_NOTICE_FAILED && take_text(rest, &n, err) != LKS_OK)
        return err->code;
    if (n.kind == LKS_NOTICE_ENDED &&
        (!lks_str_number(rest, UINT32_MAX, &n.job) || n.job == 0 || rest.ptr[0] == '0'))
        return lks_fail(err, LKS_E_INVALID, "a notice of a job that ended has no job ID");
    *out = n;
    return LKS_OK;
}

void lks_notice_line(struct lks_str output, char out[LKS_NOTICE_TEXT_SIZE])
{
    struct lks_str line = {0};
    for (bool more = true; more && line.len == 0;) {
        more = lks_str_cut(output, '\n', &line, &output);
        line = lks_str_trim(line);
    }
    size_t len = line.len < LKS_NOTICE_TEXT_SIZE - 1 ? line.len : LKS_NOTICE_TEXT_SIZE - 1;
    if (len > 0)
        memcpy(out, line.ptr, len);
    out[len] = '\0';
    for (size_t i = 0; i < len; i++)
        out[i] = (char)(out[i] == '\0' ? '?' : out[i]);
    lks_str_make_printable(out);
}
