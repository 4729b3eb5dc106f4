/*
 * The heads of the journal this node has seen, signed by the controller: if the journal is ever
 * rewritten, they do not fit it any more, and `lockstep journal verify --witness` shows it.
 *
 * The file has one head a line, oldest first: one for each hour, for a year, and the newest ones. A
 * head that contradicts an earlier one, the same place in the chain with another hash, is kept
 * apart with the one it contradicts, and said from then on; the heartbeat goes on to name the
 * earlier one. A head before the newest that was not seen is left alone: heartbeats name the
 * newest, and the controller finds out itself that its journal does not reach so far.
 */
#ifndef LKS_AGENT_HEADS_H
#define LKS_AGENT_HEADS_H

#include "agent/state/statedir.h"
#include "trust/chain.h"

#define LKS_HEADS_FILE            "witness"
#define LKS_HEADS_CONTRADICTIONS  "witness-contradictions"
#define LKS_HEADS_HOURS_MAX       ((size_t)365 * 24)
#define LKS_HEADS_NEWEST          ((size_t)64)
#define LKS_HEADS_SLACK           ((size_t)1024) /* lines between two cuttings */
#define LKS_HEADS_CONTRADICTS_MAX ((size_t)64)

struct lks_heads {
    const struct lks_statedir *dir; /* borrowed */
    struct lks_public_key key;
    struct lks_head newest; /* `seq` 0: none yet */
    size_t lines;
    bool contradicted;
};

enum lks_heads_seen { LKS_HEADS_KNOWN, LKS_HEADS_NEW, LKS_HEADS_CONTRADICTION };

/* Read what is there; lines that are torn or not signed by `key` are not counted. */
enum lks_code lks_heads_open(const struct lks_statedir *dir, const struct lks_public_key *key,
                             const char *journal, struct lks_heads *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* A head the controller showed: INVALID where it is none, REFUSED for that of another journal,
 * DENIED where it is not signed with the journal's key. */
enum lks_code lks_heads_see(struct lks_heads *w, struct lks_str line, enum lks_heads_seen *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Keep one line an hour and the newest; done by itself when there are too many. */
enum lks_code lks_heads_cut(struct lks_heads *w, struct lks_err *err) LKS_MUST_CHECK;

#endif
