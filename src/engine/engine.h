/*
 * The turn, the only way anything changes: decide, append, apply, act.
 *
 * A turn decides on the state as it is, chains the records to the journal's end, applies them, and
 * says up to which row the journal must be durable before anyone may see what came of it. Rows
 * gather until the store takes them: many turns, one sync. The engine's caller owns the threads:
 *
 *     lks_engine_turn()     again and again, on the state thread
 *     lks_engine_take()     what is pending, as one batch, while no other batch is in progress
 *     lks_engine_commit()   on the store thread: sign, append
 *     lks_engine_durable()  back on the state thread: answers up to that row may leave
 *
 * When a commit fails with UNAVAILABLE the same batch is tried again; nothing is lost, and nothing
 * new is decided until it went well (lks_engine_stalled()). Any other failure ends the process.
 *
 * One turn's records are in one batch. Where more than LKS_ENGINE_BATCH_ROWS_MAX rows wait, turns
 * are refused with UNAVAILABLE until they were taken.
 *
 * Where several controllers share a store, one leads and the others follow. A follower decides
 * nothing and writes nothing; turns are refused with UNAVAILABLE. It takes over what the leader
 * wrote:
 *
 *     lks_engine_look()     on the store thread: rows behind the place, every link checked
 *     lks_engine_follow()   on the state thread: they become true
 *     lks_engine_lead()     once the lease is ours and nothing is left to follow
 *
 * Every commit carries a signed head of its last row, in its own transaction, so that no row is
 * ever without one. Heads of one second replace each other in the store: the last of them stays,
 * and is the one that agents are told, once no commit replaces it any more. The rule holds from the
 * record `signed` on, which the first engine that leads writes where a journal has none.
 *
 * Every batch of a leader carries the epoch of its lease. One that the store refuses (REFUSED)
 * ends the process: another leads by now.
 *
 * Opening folds the newest snapshot and the rows behind it, and checks every link of the chain on
 * the way. A damaged journal is refused with its first fault. `lockstep journal repair` is the way
 * on.
 */
#ifndef LKS_ENGINE_ENGINE_H
#define LKS_ENGINE_ENGINE_H

#include "core/rules/decide.h"
#include "engine/journal.h"
#include "port/store.h"
#include "trust/chain.h"

#define LKS_ENGINE_BATCH_ROWS_MAX 8192
#define LKS_ENGINE_SLOW           LKS_SECOND /* rows are durable within that, or it counts when */
#define LKS_ENGINE_HEAD_EVERY     LKS_SECOND /* one head of so long is kept, and told to agents */

struct lks_engine_options {
    const struct lks_facts *facts;     /* outlive the engine, as does the store */
    const struct lks_key *key;         /* signs heads */
    const char *version;               /* of this program */
    char journal[LKS_JOURNAL_ID_SIZE]; /* for an empty store: chance, as 32 hexadecimal digits */
    uint64_t seed;                     /* for hashing names */
    bool follow;                       /* open it as one who follows; lks_engine_lead() ends that */
    const struct lks_judge *judge;     /* of a rehearsal, which outlives the engine; NULL: none */
    bool unchained; /* of one, too: rows go nowhere, and are neither hashed nor signed */
};

/* One commit. It owns its bytes. */
struct lks_engine_batch {
    struct lks_store_batch store;
    struct lks_row *rows;
    struct lks_store_blob *blobs;
    struct lks_buf bodies, blob_bytes; /* of the two above */
    struct lks_head head;
    bool sign;
    uint64_t last; /* its last row */
};

struct lks_engine;

enum lks_code lks_engine_open(struct lks_store *store, const struct lks_engine_options *options,
                              struct lks_now now, struct lks_engine **out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_engine_free(struct lks_engine *e);

/* The snapshot that it started with, and one that could not be used. */
const struct lks_journal_start *lks_engine_start(const struct lks_engine *e);

/* For rehearsals: go on from a state that was folded elsewhere. It becomes the engine's, also where
 * this fails. Of `store` the manifests are read that the state refers to; rows go nowhere. */
enum lks_code lks_engine_adopt(struct lks_state *state, struct lks_store *store,
                               const struct lks_engine_options *options, struct lks_now now,
                               struct lks_engine **out, struct lks_err *err) LKS_MUST_CHECK;

/* The same: the simulation knows that the node lives until `until` (mono), and need not send the
 * heartbeats that would say so. From then on it is as silent as it is. */
void lks_engine_vouch(struct lks_engine *e, uint32_t node, lks_ms until);

const struct lks_state *lks_engine_state(const struct lks_engine *e);
const struct lks_book *lks_engine_book(const struct lks_engine *e);

/* The time on the journal's clock, which decisions go by: what is to expire is counted from here.
 * It is the wall's unless that was set back. */
struct lks_now lks_engine_now(const struct lks_engine *e, struct lks_now now);

/* Of the lease by which it leads; 0: there is none, the store has no other writer. */
uint64_t lks_engine_epoch(const struct lks_engine *e);

/* Take note of a heartbeat and, where there is something to decide, make a turn of it. */
enum lks_code lks_engine_hear(struct lks_engine *e, struct lks_now now, uint32_t node,
                              const struct lks_beat *beat, struct lks_err *err) LKS_MUST_CHECK;

/* `blob`, which may be NULL, becomes durable with the records. `d`, initialised, gets the decision;
 * a refusal is in d->refused and is not a failure. `needs` is the row that must be durable before
 * the answer leaves: also for a refusal, which may rest on rows that are not durable yet. After a
 * FLEET event the engine has the new manifest. IO ends the process: the state is no longer good. */
enum lks_code lks_engine_turn(struct lks_engine *e, struct lks_now now,
                              const struct lks_event *event, const struct lks_store_blob *blob,
                              struct lks_decision *d, uint64_t *needs,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Decide only: what would come of it. */
enum lks_code lks_engine_try(const struct lks_engine *e, struct lks_now now,
                             const struct lks_event *event, struct lks_decision *d,
                             struct lks_err *err) LKS_MUST_CHECK;

/* When the next tick, and after it _take, is due (mono); never while turns are refused for what
 * waits to be written: ask again after _take and _durable. */
lks_ms lks_engine_next(const struct lks_engine *e);

/* The last row there is, durable or not: what a read needs before its answer leaves. */
uint64_t lks_engine_seq(const struct lks_engine *e);
uint64_t lks_engine_durable_seq(const struct lks_engine *e);

/* False when there is nothing to commit, or a batch is in progress. The caller owes _batch_fini. */
bool lks_engine_take(struct lks_engine *e, struct lks_now now, struct lks_engine_batch *out);
enum lks_code lks_engine_commit(const struct lks_engine_options *options, struct lks_store *store,
                                struct lks_engine_batch *batch, struct lks_err *err) LKS_MUST_CHECK;
void lks_engine_batch_fini(struct lks_engine_batch *batch);

/* The batch is durable, with its head. */
void lks_engine_durable(struct lks_engine *e, const struct lks_engine_batch *batch);

/* It was not written and will be tried again: until it is, turns are refused with UNAVAILABLE. */
void lks_engine_stall(struct lks_engine *e, const struct lks_err *why);
bool lks_engine_stalled(const struct lks_engine *e, struct lks_err *why);

/* How far a follower has read: the last row with its hash, and the last head that no commit
 * replaces any more. */
struct lks_engine_place {
    uint64_t seq, head;
    struct lks_head newest; /* that was read and verified; it may still be replaced */
    bool is_signed;         /* every commit is signed by now */
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
};
struct lks_engine_place lks_engine_place(const struct lks_engine *e);

/* A manifest that rows refer to, read. */
struct lks_engine_page {
    bool fleet;                   /* the fleet's; else a published stack's */
    char digest[LKS_DIGEST_SIZE]; /* of that stack */
    struct lks_manifest *manifest;
};

/* What others wrote behind a place. It owns its bytes. */
#define LKS_ENGINE_NEWS_ROWS_MAX  4096
#define LKS_ENGINE_NEWS_BYTES_MAX ((size_t)64 << 20)
struct lks_engine_news {
    struct lks_engine_batch batch; /* rows, all durable; its head: the newest, where `sign` */
    struct lks_head *heads;        /* rising */
    size_t head_count, head_room;
    struct lks_engine_page *pages;
    size_t page_count, page_room;
    bool more; /* the store has further rows: look again */
};

/* Read what is behind `place`, which moves on. Of `options` facts and key are used. REFUSED where
 * the store does not have the place in it any more: it lost rows that we have seen, or has others
 * in their stead; INVALID with the first fault of the chain. The caller owes _news_fini. */
enum lks_code lks_engine_look(const struct lks_engine_options *options, struct lks_store *store,
                              struct lks_engine_place *place, struct lks_engine_news *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_engine_news_fini(struct lks_engine_news *news);

/* The same question alone: whether the store still has the place in it, or a record of a repair
 * that set it aside later. */
enum lks_code lks_engine_place_check(struct lks_store *store, const struct lks_engine_place *place,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* News in the order they were read. What they hold of manifests goes to the engine. A failure is
 * IO, and ends the process. */
enum lks_code lks_engine_follow(struct lks_engine *e, struct lks_now now,
                                struct lks_engine_news *news, struct lks_err *err) LKS_MUST_CHECK;
bool lks_engine_follows(const struct lks_engine *e);

/* The lease of `epoch` is ours and everything there is was followed: lead. Journaled liveness
 * stands and deadlines count anew, and the first record says who leads. */
enum lks_code lks_engine_lead(struct lks_engine *e, struct lks_now now, uint64_t epoch,
                              struct lks_str name, struct lks_str url,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The newest head that is durable; seq 0: none yet. */
const struct lks_head *lks_engine_head(const struct lks_engine *e);
/* The newest that agents are told: one a second, of those that stay in the store. A turn moves it
 * on, and lks_engine_next() says when one is due for that. */
const struct lks_head *lks_engine_told(const struct lks_engine *e);

/* A snapshot of the state as it is, to be stored with its seq once that is durable. */
enum lks_code lks_engine_snapshot(const struct lks_engine *e, struct lks_buf *out, uint64_t *seq,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
