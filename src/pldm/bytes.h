/* Numbers in bytes, least significant byte first, as PLDM writes them. Reading goes from the front
 * and remembers its first failure: what follows it reads as zero, so a reader takes all fields and
 * asks once whether they were there. Writing appends to a buffer, which does the same. */
#ifndef LKS_PLDM_BYTES_H
#define LKS_PLDM_BYTES_H

#include "base/buf.h"

struct lks_bytes {
    struct lks_str rest; /* not yet read */
    bool failed;         /* more was asked for than there was */
};

struct lks_bytes lks_bytes_of(struct lks_str all);

/* The next `n` bytes as they are; empty when there are fewer. */
struct lks_str lks_bytes_take(struct lks_bytes *b, size_t n);

uint8_t lks_bytes_u8(struct lks_bytes *b);
uint16_t lks_bytes_u16(struct lks_bytes *b);
uint32_t lks_bytes_u32(struct lks_bytes *b);
uint64_t lks_bytes_u64(struct lks_bytes *b);

/* A number of `width` bytes, 8 at the most. */
uint64_t lks_bytes_number(struct lks_bytes *b, unsigned width);

/* All was there and nothing is left. */
bool lks_bytes_done(const struct lks_bytes *b);

void lks_bytes_put_u8(struct lks_buf *out, uint8_t value);
void lks_bytes_put_u16(struct lks_buf *out, uint16_t value);
void lks_bytes_put_u32(struct lks_buf *out, uint32_t value);
void lks_bytes_put_u64(struct lks_buf *out, uint64_t value);
void lks_bytes_put_number(struct lks_buf *out, uint64_t value, unsigned width);

/* Write over what is at `at`, which `out` must have: a length that was not known before. */
void lks_bytes_set_number(struct lks_buf *out, size_t at, uint64_t value, unsigned width);

#endif
