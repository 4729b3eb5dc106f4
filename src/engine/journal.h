/*
 * The journal as something to read: fold it, verify it, look into the past, repair it, trim it. For
 * the engine's start and for tools that work without a daemon.
 */
#ifndef LKS_ENGINE_JOURNAL_H
#define LKS_ENGINE_JOURNAL_H

#include "port/store.h"
#include "trust/chain.h"

struct lks_record;
struct lks_record_info;
struct lks_state;

/* Fold the newest snapshot and what follows into `out`, initialised, checking the chain; until the
 * end, or up to and including the last row with a time of at most `until` (0: all). INVALID with
 * the first fault. `tail` is where it ended. With `until`, a snapshot that is younger is not used,
 * and with `key` (NULL: not asked for) none that it did not sign. */
enum lks_code lks_journal_fold(struct lks_store *store, const struct lks_public_key *key,
                               lks_ms until, struct lks_state *out, struct lks_store_tail *tail,
                               struct lks_err *err) LKS_MUST_CHECK;

/* What a fold started with. */
struct lks_journal_start {
    uint64_t used;        /* the row of the snapshot; 0: it folded all rows */
    uint64_t passed_over; /* the row of a snapshot that it could not use */
    struct lks_err why;   /* why it could not; code OK: there was none of these */
};

/* The same to the end, and what it started with. */
enum lks_code lks_journal_fold_start(struct lks_store *store, const struct lks_public_key *key,
                                     struct lks_state *out, struct lks_store_tail *tail,
                                     struct lks_journal_start *start,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* A snapshot is the rows of lks_entity_pack() with their digest, and the hash of the row it stands
 * at. One that is damaged, or not of this chain, is not used; the rows are folded instead if all of
 * them are still there. What is stored is signed: a writer of the file without the key must not be
 * able to define what was in rows that were trimmed. */
enum lks_code lks_snapshot_pack_state(const struct lks_state *s, const uint8_t hash[LKS_HASH_BYTES],
                                      struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_snapshot_pack_signed(const struct lks_state *s,
                                       const uint8_t hash[LKS_HASH_BYTES],
                                       const struct lks_key *key, struct lks_buf *out,
                                       struct lks_err *err) LKS_MUST_CHECK;
/* The same for readers, unsigned and of no row's hash: digests of the secrets of tokens stay here.
 */
enum lks_code lks_snapshot_pack_shown(const struct lks_state *s, struct lks_buf *out,
                                      struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_snapshot_unpack_state(struct lks_str bytes, struct lks_state *out,
                                        uint8_t hash[LKS_HASH_BYTES],
                                        struct lks_err *err) LKS_MUST_CHECK;

enum lks_fault {
    LKS_FAULT_NONE,
    LKS_FAULT_EDITED,     /* a row's hash is not that of its content behind the row before */
    LKS_FAULT_DROPPED,    /* numbers are missing in between */
    LKS_FAULT_REORDERED,  /* rows have each other's place */
    LKS_FAULT_TRUNCATED,  /* the end, or the beginning, is missing */
    LKS_FAULT_REWRITTEN,  /* a signed head, ours or a witness's, is not in this chain */
    LKS_FAULT_SIGNATURE,  /* a head is not signed by the journal's key, or rows have none */
    LKS_FAULT_UNREADABLE, /* the row is whole and its record is not one we know */
    LKS_FAULT_BLOB,       /* bytes that a row refers to are missing or are not those */
    LKS_FAULT_SNAPSHOT,   /* it is not what the rows up to it fold to */
    LKS_FAULT_COUNT
};
extern const char *const lks_fault_words[];

struct lks_verify_options {
    const struct lks_public_key *key; /* NULL: heads are compared, signatures not checked */
    const struct lks_head *witnesses; /* as agents kept them */
    size_t witness_count;
};

struct lks_verify {
    enum lks_fault fault;
    uint64_t at;          /* the first row that is wrong */
    char text[256];       /* what is wrong, in a line */
    uint64_t first, last; /* rows that were there */
    uint64_t rows, heads, witnesses, blobs;
    uint64_t signed_to;     /* the last row that is as a good head of ours says; 0: none */
    uint64_t unsigned_rows; /* behind it: any writer of the file could have written them */
    uint64_t signed_from;   /* the row from which every commit is signed; 0: none says so */
    uint64_t earlier_rows;  /* right before that one, of which no head was there when it came */
};

/* Read everything. A fault is an answer; fails only where the store cannot be read. */
enum lks_code lks_journal_verify(struct lks_store *store, const struct lks_verify_options *options,
                                 struct lks_verify *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether `r` is about the node called `name`, by itself or in a host list. */
bool lks_journal_record_about(const struct lks_record *r, struct lks_str name);

/* Whether records of the kind can be. */
bool lks_journal_kind_about_nodes(const struct lks_record_info *info);

/* One row as an object of JSON: seq, time, kind and the record's members that may be shown. */
enum lks_code lks_journal_json(const struct lks_row *row, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Which nodes to look at in the past, and when. */
struct lks_past {
    lks_ms at;
    const struct lks_str *names; /* `count` of them; none: all nodes and assets of `pool` */
    size_t count;
    struct lks_str pool;
    bool readings; /* also what they ran */
};

/* What was true of them then, as {"time", "seq", "items"}: of each what lks_view_node()
 * gave at that moment. NOT_FOUND, with the nearest name, where the fleet did
 * not have a node, or the pool, then. `key` as above. */
enum lks_code lks_journal_past(struct lks_store *store, const struct lks_public_key *key,
                               const struct lks_past *past, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The same of the node called `name` alone, with its readings, as one object of JSON. */
enum lks_code lks_journal_at(struct lks_store *store, const struct lks_public_key *key, lks_ms at,
                             struct lks_str name, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Set the rows from the first fault on aside and record that, and why, behind the last good one; of
 * a chain that was rewritten, all rows behind the last that a signed head covers. REFUSED for a
 * journal without a fault, and for one whose beginning is gone. `out` says what was found, and `at`
 * in it the first row that went. */
enum lks_code lks_journal_repair(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                                 struct lks_str by, struct lks_str reason, struct lks_verify *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Keep what is younger than `keep_after`, and everything since the newest snapshot: older rows go,
 * and a record says up to which, with their last hash, so that the chain still verifies. `through`
 * is the last row that went, 0: none. INVALID, and nothing goes, where the journal has a fault:
 * what shows it must not be what goes. */
enum lks_code lks_journal_trim(struct lks_store *store, const struct lks_key *key, lks_ms wall,
                               lks_ms keep_after, struct lks_str by, uint64_t *through,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
