/*
 * The last row that a controller saw durable, in DIR/seen-head: a database that lost it, or has
 * another in its place, was replaced by an older copy or by something else.
 *
 * The file is sealed under the controller's key, so that only a process that has the key writes
 * one. Inside is one line, "SEQ TIME HASH". Versions before this one wrote "SEQ HASH" in plain
 * text.
 */
#ifndef LKS_DRIVERS_STORE_SEEN_H
#define LKS_DRIVERS_STORE_SEEN_H

#include "model/record/row.h"
#include "trust/seal.h"

struct lks_seen {
    uint64_t seq;
    lks_ms time; /* of that row; 0 where it is plain */
    uint8_t hash[LKS_HASH_BYTES];
    bool plain; /* as an earlier version wrote it, or as anyone could have */
};

/* The line inside; `out` is changed only where it is one. */
bool lks_seen_parse(struct lks_str text, struct lks_seen *out);

/* NOT_FOUND where there is none, DENIED for another key, INVALID for what is damaged. */
enum lks_code lks_seen_read(const char *dir, const struct lks_seal_key *key, struct lks_seen *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* In place of what was there: whole or not at all, whenever the power goes. */
enum lks_code lks_seen_write(const char *dir, const struct lks_seal_key *key,
                             const struct lks_seen *seen, struct lks_err *err) LKS_MUST_CHECK;

#endif
