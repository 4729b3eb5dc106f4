#include "model/record/row.h"

#include "codec/format/base64.h"
#include "codec/format/hex.h"

#include <inttypes.h>

void lks_row_head_text(const struct lks_head *head, struct lks_buf *out)
{
    lks_buf_addf(out, "%s %" PRIu64 " %" PRIu64 " ", head->journal, head->seq, head->time);
    lks_hex_add(out, head->hash, sizeof(head->hash));
    lks_buf_addc(out, ' ');
    lks_base64_add(out, (struct lks_str){(const char *)head->signature, sizeof(head->signature)});
}

/* As we write them: no sign, no zero in front. */
static bool number_read(struct lks_str s, uint64_t *out)
{
    return (s.len == 1 || !lks_str_starts(s, "0")) && lks_str_number(s, UINT64_MAX, out);
}

static bool signature_read(struct lks_str s, uint8_t out[LKS_SIGNATURE_BYTES])
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_HEAD_TEXT_MAX);
    if (lks_base64_read(s, &bytes, &err) != LKS_OK || bytes.len != LKS_SIGNATURE_BYTES)
        return false;
    memcpy(out, bytes.ptr, LKS_SIGNATURE_BYTES);
    return true;
}

/* The name of what is wrong with the line, or NULL. */
static const char *head_read(struct lks_str line, struct lks_head *h)
{
    struct lks_str rest = line, word;
    uint8_t id[(LKS_JOURNAL_ID_SIZE - 1) / 2];
    lks_str_cut(rest, ' ', &word, &rest);
    if (!lks_hex_read(word, id, sizeof(id)))
        return "journal";
    memcpy(h->journal, word.ptr, word.len);
    lks_str_cut(rest, ' ', &word, &rest);
    if (!number_read(word, &h->seq) || h->seq == 0)
        return "sequence number";
    lks_str_cut(rest, ' ', &word, &rest);
    if (!number_read(word, &h->time))
        return "time";
    lks_str_cut(rest, ' ', &word, &rest);
    if (!lks_hex_read(word, h->hash, sizeof(h->hash)))
        return "hash";
    return signature_read(rest, h->signature) ? NULL : "signature";
}

enum lks_code lks_row_head_parse(struct lks_str line, struct lks_head *out, struct lks_err *err)
{
    struct lks_head h = {0};
    if (line.len > LKS_HEAD_TEXT_MAX)
        return lks_fail(err, LKS_E_INVALID, "head: %zu bytes; at most %d", line.len,
                        LKS_HEAD_TEXT_MAX);
    const char *fault = head_read(line, &h);
    if (fault != NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "head: the %s is missing or not as we write it; a head is \"JOURNAL SEQ "
                        "TIME HASH SIGNATURE\"",
                        fault);
    *out = h;
    return LKS_OK;
}
