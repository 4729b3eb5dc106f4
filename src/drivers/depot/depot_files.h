/*
 * Files by what is in them. A depot is a folder; an artifact with the digest sha256:abREST is the
 * file sha256/ab/REST in it, and one that is still on its way is parts/abREST.
 *
 * Nothing is in its place before all of it is durable and was found to have that digest: a crash at
 * any point leaves a whole file, or a part that can be continued. What is no plain file where one
 * is expected, a link for instance, is never followed, and never taken for an artifact.
 *
 * One writer a part, which is the caller's to see to; everything else may happen side by side.
 */
#ifndef LKS_DRIVERS_DEPOT_FILES_H
#define LKS_DRIVERS_DEPOT_FILES_H

#include "base/buf.h"
#include "base/time.h"
#include "codec/format/digest.h"

#include <stdint.h>

#define LKS_DEPOT_PATH_MAX  1024
#define LKS_DEPOT_PARTS_MAX 64                /* on their way at the same time */
#define LKS_DEPOT_SLICE     ((size_t)1 << 20) /* bytes read at once */

struct lks_depot {
    char path[LKS_DEPOT_PATH_MAX];
    int whole, parts; /* 0: not open */
};

/* Make the folders that are not there. */
enum lks_code lks_depot_open(const char *path, struct lks_depot *out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_depot_close(struct lks_depot *d);

/* Digests here are valid ones: a caller that has them from outside validates them first. */

/* An artifact to be read, and its size; NOT_FOUND. The descriptor is the caller's. */
enum lks_code lks_depot_find(const struct lks_depot *d, const char *digest, int *fd, uint64_t *size,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Up to LKS_DEPOT_SLICE bytes of such a descriptor; fewer than `len` are a failure. */
enum lks_code lks_depot_read(int fd, uint64_t at, size_t len, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Hash the first `size` bytes of a file: INVALID where that is not the digest. */
enum lks_code lks_depot_sum(int fd, uint64_t size, const char *digest,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Hash all of an artifact that is there. INVALID where it is not what its name says: it is removed
 * then. */
enum lks_code lks_depot_check(const struct lks_depot *d, const char *digest,
                              struct lks_err *err) LKS_MUST_CHECK;

/* What is not there is as good as removed. Durable. */
enum lks_code lks_depot_remove(const struct lks_depot *d, const char *digest,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Bytes of it that are there already; 0: none. */
uint64_t lks_depot_have(const struct lks_depot *d, const char *digest);

/* Throw those away. No part of it is open. */
void lks_depot_forget(const struct lks_depot *d, const char *digest);

struct lks_depot_part {
    char digest[LKS_DIGEST_SIZE];
    int fd; /* 0: not open */
    uint64_t size;
    uint64_t hashed; /* of the bytes, from the start */
    uint64_t spare;  /* of the disk, that stays free */
    struct evp_md_ctx_st *sum;
};

/* Go on at `from`; what is behind it is thrown away. REFUSED where fewer bytes are there, LIMIT
 * where too many parts are. UNAVAILABLE where `room` more bytes would leave less than `spare` on
 * the disk. */
enum lks_code lks_depot_part_open(const struct lks_depot *d, const char *digest, uint64_t from,
                                  uint64_t room, uint64_t spare, struct lks_depot_part *out,
                                  struct lks_err *err) LKS_MUST_CHECK;
/* Close it; it can be continued. */
void lks_depot_part_fini(struct lks_depot_part *p);

/* UNAVAILABLE where the disk is full: what fitted is there. */
enum lks_code lks_depot_part_add(struct lks_depot_part *p, struct lks_str bytes,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* What is there survives a crash. A part that cannot be made durable is not to be believed any
 * more: it is removed. */
enum lks_code lks_depot_part_keep(const struct lks_depot *d, struct lks_depot_part *p,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* All of it is there: look at what was not hashed on the way, a slice each time, until `done`. */
enum lks_code lks_depot_part_look(struct lks_depot_part *p, bool *done,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* It was looked at to its end: put it in its place. INVALID where it has another digest; it is
 * removed then. The part is closed in any case. */
enum lks_code lks_depot_part_finish(const struct lks_depot *d, struct lks_depot_part *p,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Every artifact there is, until `fn` says false. */
typedef bool lks_depot_visit(void *ctx, const char *digest, uint64_t size, lks_ms used);
enum lks_code lks_depot_list(const struct lks_depot *d, lks_depot_visit *fn, void *ctx,
                             struct lks_err *err) LKS_MUST_CHECK;

/* The artifact was used now, for the removal of old ones. */
void lks_depot_touch(const struct lks_depot *d, const char *digest);

struct lks_depot_swept {
    uint32_t artifacts, parts; /* removed */
    uint64_t bytes;            /* that artifacts keep */
};

/* Remove artifacts that `keep` does not want, and parts that it does not want and that were not
 * written to since `parts_before` (wall). What is neither stays, and is none of ours. */
typedef bool lks_depot_keep(void *ctx, const char *digest);
enum lks_code lks_depot_sweep(const struct lks_depot *d, lks_depot_keep *keep, void *ctx,
                              lks_ms parts_before, struct lks_depot_swept *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
