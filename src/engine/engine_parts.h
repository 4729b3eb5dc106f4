/* For engine.c and engine_follow.c: what an engine is made of. */
#ifndef LKS_ENGINE_ENGINE_PARTS_H
#define LKS_ENGINE_ENGINE_PARTS_H

#include "core/registry/book.h"
#include "core/registry/store.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "engine/engine.h"
#include "engine/lease.h"

/* What waits to be taken. Bytes may move while more is added, so places are kept as offsets and
 * become pointers when it is taken. */
struct lks_pending {
    struct lks_row *rows; /* owned, as are the next three */
    struct lks_store_blob *blobs;
    struct lks_buf bodies, blob_bytes;
    size_t row_count, row_room, blob_count, blob_room;
};

struct lks_engine {
    struct lks_engine_options options;
    struct lks_state state;
    struct lks_book book;
    struct lks_manifest manifest;       /* what book.manifest points to */
    struct lks_registry_store registry; /* the registry store, which `book` points to */
    struct lks_chain *chain;            /* owned */
    struct lks_pending pending;
    struct lks_journal_start start;
    uint64_t seq, durable;
    uint8_t hash[LKS_HASH_BYTES]; /* of the last row */
    struct lks_head head, told;   /* durable; the newest, and what agents are told */
    uint64_t replaced;            /* the head that the next commit's replaces; 0: none */
    lks_ms kept_at;               /* mono, when heads of this second began */
    struct lks_now base;          /* when the journal's clock was last the wall's */
    uint64_t epoch;               /* of our lease; 0: there is none */
    bool under_way, stalled;
    lks_ms under_way_from; /* when the first row of the last batch was decided; 0: that was noted */
    enum lks_lease lease;
    bool broken; /* a record was applied in part: nothing may leave any more */
    struct lks_err why;
};

/* Another leads: rows come from the store, and nothing is decided here. */
static inline bool lks_engine_is_following(const struct lks_engine *e)
{
    return e->lease == LKS_LEASE_FOLLOWS;
}

/* The manifest whose bytes have this digest, read and checked; `what` names it in messages. The
 * caller owes lks_manifest_fini(). */
enum lks_code lks_engine_manifest(struct lks_store *store, const struct lks_facts *facts,
                                  const char *what, struct lks_str digest, struct lks_manifest *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Record that every commit is signed from here on, where the journal does not say so yet. */
enum lks_code lks_engine_sign_from_here(struct lks_engine *e, struct lks_now now,
                                        struct lks_err *err) LKS_MUST_CHECK;

/* Agents are told the newest head, which no commit replaces any more. */
void lks_engine_tell(struct lks_engine *e);

/* The published stacks that decisions may need, from the store: those that are not retired, and
 * those that are still in use. In engine_registry.c, as the next two. */
enum lks_code lks_engine_shelve_all(struct lks_engine *e, struct lks_store *store,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* A published stack from its manifest, whose content goes to the registry store. */
enum lks_code lks_engine_shelve(struct lks_engine *e, struct lks_str digest,
                                struct lks_manifest *manifest, struct lks_err *err) LKS_MUST_CHECK;

/* The stack of a PUBLISH event, from the bytes of its manifest: before its record is written, since
 * in the registry store it does no harm should that fail. */
enum lks_code lks_engine_shelve_event(struct lks_engine *e, const struct lks_event *event,
                                      const struct lks_store_blob *blob,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
