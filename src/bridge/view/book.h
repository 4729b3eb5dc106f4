/*
 * The book: what Slurm reported last of every node, with its revision, ready to be sent.
 */
#ifndef LKS_BRIDGE_BOOK_H
#define LKS_BRIDGE_BOOK_H

#include "base/intern.h"
#include "bridge/view/reading.h"
#include "bridge/view/revision.h"

/* When Slurm was read: by the date, and by a clock that only goes forward. */
struct lks_bridge_when {
    lks_ms wall, steady;
};

/* A node of the book. */
struct lks_bridge_entry {
    bool present; /* Slurm has it */
    bool drained, failing, down, responding, own;
    uint64_t revision;
    struct lks_bridge_when read;
    char *json; /* owned, and the two below are in it */
    size_t json_len;
    struct lks_str reason, owner;
    uint32_t round; /* of the reading of all nodes that saw it last */
};

struct lks_bridge_book {
    struct lks_intern names; /* the id is the place in `entries` */
    struct lks_bridge_entry *entries;
    uint32_t room, round;
    struct lks_bridge_when read; /* of the last reading of all nodes; 0: none yet */
    lks_ms configured; /* wall: when slurmctld was seen to have read its configuration; 0: never */
    struct lks_buf jobs, reservations;
    struct lks_bridge_revision revision;
};

void lks_bridge_book_init(struct lks_bridge_book *b, uint64_t kept_revision);
void lks_bridge_book_fini(struct lks_bridge_book *b);

/* Enter what was read at `when`. A node that is different, new or back gets a new revision; so
 * many of them are allowed for by lks_bridge_revision_allow() before. A reading of all nodes takes
 * out those that are not in it. */
enum lks_code lks_bridge_book_enter(struct lks_bridge_book *b, const struct lks_bridge_reading *r,
                                    const struct lks_bridge_when *when, uint64_t now_us,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* How many entries the reading would give a new revision. */
uint32_t lks_bridge_book_changes(const struct lks_bridge_book *b,
                                 const struct lks_bridge_reading *r);

/* Nothing changed until `when`. */
void lks_bridge_book_unchanged(struct lks_bridge_book *b, const struct lks_bridge_when *when);

/* Slurm has no node of this name. */
void lks_bridge_book_remove(struct lks_bridge_book *b, struct lks_str name);

/* NULL: no such node. */
const struct lks_bridge_entry *lks_bridge_book_find(const struct lks_bridge_book *b,
                                                    struct lks_str name);

/* Answers at `now`, which is steady. */
void lks_bridge_book_node(const struct lks_bridge_book *b, struct lks_str name,
                          const struct lks_bridge_entry *entry, lks_ms now, struct lks_buf *out);
void lks_bridge_book_nodes(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out);
void lks_bridge_book_jobs(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out);
void lks_bridge_book_reservations(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out);

#endif
