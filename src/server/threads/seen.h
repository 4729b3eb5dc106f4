/*
 * What was last seen durable of the journal, in DATA/seen-head (drivers/store/seen.h): a
 * store that lost rows, or an older copy of one, is recognised at the next start.
 *
 * It is written after a commit, at most once a second, so that it is at most a second behind. A
 * start on a store that does not have that row is refused; with --accept-lost-rows it goes on, and
 * freezes the fleet when it leads.
 */
#ifndef LKS_SERVER_SEEN_H
#define LKS_SERVER_SEEN_H

#include "server/threads/threads.h"

/* Whether the store still has what was last seen in it. Before anything is written there. */
enum lks_code lks_seen_check(struct lks_daemon *d, struct lks_store *store,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Once the journal was folded: where every commit of it is signed, a controller has a sealed file.
 */
enum lks_code lks_seen_check_file(struct lks_daemon *d, const struct lks_engine *engine,
                                  struct lks_store *store, struct lks_err *err) LKS_MUST_CHECK;

/* On the store thread. */
void lks_seen_begin(struct lks_store_thread *t);
void lks_seen_note(struct lks_store_thread *t, const struct lks_engine_place *place);
void lks_seen_end(struct lks_store_thread *t);

#endif
