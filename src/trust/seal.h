/*
 * Secrets and backups at rest: AES-256-GCM under a key that is kept elsewhere.
 *
 * A sealed text begins with a line that names the format and the key (by the first bytes of its
 * hash, so that a wrong key is told from damage), then the nonce and the sealed bytes. Large things
 * are sealed in pieces of LKS_SEAL_PIECE bytes, each bound to its place and to whether it is the
 * last, so that pieces cannot be swapped, repeated or left out.
 */
#ifndef LKS_TRUST_SEAL_H
#define LKS_TRUST_SEAL_H

#include "base/buf.h"

#include <stdint.h>

#define LKS_SEAL_KEY_BYTES   32
#define LKS_SEAL_NONCE_BYTES 12
#define LKS_SEAL_PIECE       ((size_t)64 << 10)
#define LKS_SEAL_HEADER_MAX  128

struct lks_seal_key {
    uint8_t bytes[LKS_SEAL_KEY_BYTES];
};

/* 64 hexadecimal digits, blanks and a line end around them allowed. */
enum lks_code lks_seal_key_parse(struct lks_str text, struct lks_seal_key *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* `nonce` is never used twice with one key: the caller brings chance. `what` is bound to the bytes:
 * a sealed CA key does not open as a journal key. */
enum lks_code lks_seal(const struct lks_seal_key *key, const uint8_t nonce[LKS_SEAL_NONCE_BYTES],
                       const char *what, struct lks_str plain, struct lks_buf *out,
                       struct lks_err *err) LKS_MUST_CHECK;

/* DENIED for another key, INVALID for what is damaged, cut short or sealed as something else. */
enum lks_code lks_seal_open(const struct lks_seal_key *key, const char *what, struct lks_str sealed,
                            struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same as streams, for backups. A writer is fed plain bytes and a reader sealed ones; the other
 * kind comes to `sink`, which may fail. lks_seal_end() of a reader fails unless the last piece was
 * seen. */
typedef enum lks_code lks_seal_sink(void *ctx, struct lks_str bytes, struct lks_err *err);
struct lks_seal_stream;
enum lks_code lks_seal_writer_new(const struct lks_seal_key *key,
                                  const uint8_t nonce[LKS_SEAL_NONCE_BYTES], const char *what,
                                  lks_seal_sink *sink, void *ctx, struct lks_seal_stream **out,
                                  struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_seal_reader_new(const struct lks_seal_key *key, const char *what,
                                  lks_seal_sink *sink, void *ctx, struct lks_seal_stream **out,
                                  struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_seal_feed(struct lks_seal_stream *s, struct lks_str in,
                            struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_seal_end(struct lks_seal_stream *s, struct lks_err *err) LKS_MUST_CHECK;
void lks_seal_free(struct lks_seal_stream *s);

#endif
