/*
 * A row of the journal: a record's bytes with its place in the chain.
 *
 *     hash = SHA-256(hash of the row before, seq, time, kind, version, body)
 *
 * with the numbers big-endian (8, 8, 2 and 1 bytes); the row before the first has 32 zero bytes.
 * A head names the end of a chain; a signed one is what agents witness. Its text is one line:
 *
 *     JOURNAL SEQ TIME HASH SIGNATURE
 */
#ifndef LKS_MODEL_ROW_H
#define LKS_MODEL_ROW_H

#include "base/buf.h"
#include "base/time.h"

#define LKS_HASH_BYTES      32
#define LKS_SIGNATURE_BYTES 64
#define LKS_JOURNAL_ID_SIZE 33 /* 32 hexadecimal digits and a terminator */
#define LKS_HEAD_TEXT_MAX   320

struct lks_row {
    uint64_t seq; /* counts from 1 without a gap */
    lks_ms time;  /* never less than that of the row before */
    uint16_t kind;
    uint8_t version;
    struct lks_str body; /* owned by the code that read or packed it */
    uint8_t hash[LKS_HASH_BYTES];
};

struct lks_head {
    char journal[LKS_JOURNAL_ID_SIZE];
    uint64_t seq;
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
    uint8_t signature[LKS_SIGNATURE_BYTES];
};

/* Append the line without a line end: hash in hexadecimal, signature in base64. */
void lks_row_head_text(const struct lks_head *head, struct lks_buf *out);

enum lks_code lks_row_head_parse(struct lks_str line, struct lks_head *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
