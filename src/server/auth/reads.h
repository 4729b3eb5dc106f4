/* What has to be read from the journal's file: work in the thread pool, on a store opened for
 * reading beside the one that writes. */
#ifndef LKS_SERVER_READS_H
#define LKS_SERVER_READS_H

#include "server/call/call.h"

lks_call_work lks_read_blob, lks_read_history, lks_read_at, lks_read_past, lks_read_journal,
    lks_read_backup, lks_read_state;

/* Answer with the blob of this digest, once the call is in the thread pool. */
void lks_read_from_store(struct lks_call *call, struct lks_str digest);

/* Rows from `from` on as server-sent events, up to `most` of them and not beyond `last`, into
 * `out`; `next` is where to go on. */
enum lks_code lks_read_events(const struct lks_daemon *d, uint64_t from, uint64_t last, size_t most,
                              struct lks_buf *out, uint64_t *next,
                              struct lks_err *err) LKS_MUST_CHECK;

/* One row as a server-sent event. */
enum lks_code lks_read_event_text(const struct lks_row *row, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
