#include "drivers/store/seen.h"

#include "base/file.h"
#include "codec/format/hex.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>

#define SEALED_AS "seen-head"

enum { LINE_MAX_BYTES = 160, SEALED_MAX = LINE_MAX_BYTES + LKS_SEAL_HEADER_MAX + 64 };

bool lks_seen_parse(struct lks_str text, struct lks_seen *out)
{
    struct lks_str line, rest, seq, time, hash;
    struct lks_seen seen = {0};
    lks_str_cut(text, '\n', &line, &rest);
    if (rest.len > 0 || !lks_str_cut(line, ' ', &seq, &rest))
        return false;
    seen.plain = !lks_str_cut(rest, ' ', &time, &hash);
    if (seen.plain)
        hash = rest;
    if (!lks_str_number(seq, INT64_MAX, &seen.seq) ||
        (!seen.plain && !lks_str_number(time, INT64_MAX, &seen.time)) ||
        !lks_hex_read(hash, seen.hash, sizeof(seen.hash)))
        return false;
    *out = seen;
    return true;
}

static enum lks_code seen_path(const char *dir, char out[PATH_MAX], struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s/seen-head", dir);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", dir);
    return LKS_OK;
}

enum lks_code lks_seen_read(const char *dir, const struct lks_seal_key *key, struct lks_seen *out,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = LKS_BUF(SEALED_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LINE_MAX_BYTES);
    struct lks_seen seen = {0};
    char path[PATH_MAX];
    if (seen_path(dir, path, err) != LKS_OK || lks_file_read_plain(path, &sealed, err) != LKS_OK)
        return err->code;
    bool plain = lks_seen_parse(lks_buf_view(&sealed), &seen) && seen.plain;
    if (!plain && lks_seal_open(key, SEALED_AS, lks_buf_view(&sealed), &text, err) != LKS_OK)
        return lks_wrap(err, "%s", path);
    if (!plain && (!lks_seen_parse(lks_buf_view(&text), &seen) || seen.plain))
        return lks_fail(err, LKS_E_INVALID, "%s: does not name a row and its hash", path);
    *out = seen;
    return LKS_OK;
}

enum lks_code lks_seen_write(const char *dir, const struct lks_seal_key *key,
                             const struct lks_seen *seen, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = LKS_BUF(SEALED_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LINE_MAX_BYTES);
    uint8_t nonce[LKS_SEAL_NONCE_BYTES];
    char path[PATH_MAX];
    lks_buf_addf(&line, "%" PRIu64 " %" PRIu64 " ", seen->seq, seen->time);
    lks_hex_add(&line, seen->hash, sizeof(seen->hash));
    lks_buf_addc(&line, '\n');
    if (getrandom(nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return lks_fail(err, LKS_E_IO, "the kernel gives no random bytes");
    if (lks_buf_check(&line, err) != LKS_OK || seen_path(dir, path, err) != LKS_OK ||
        lks_seal(key, nonce, SEALED_AS, lks_buf_view(&line), &sealed, err) != LKS_OK)
        return err->code;
    return lks_file_replace(path, lks_buf_view(&sealed), err);
}
