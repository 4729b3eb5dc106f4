/* For server/http/depot*.c. */
#ifndef LKS_SERVER_DEPOT_PARTS_H
#define LKS_SERVER_DEPOT_PARTS_H

#include "server/base/progress.h"
#include "server/http/depot.h"
#include "server/threads/threads.h"

#include <sys/queue.h>

#define LKS_TRANSFER_PIECE ((size_t)256 << 10)

/* An artifact with a record and without a file here. */
struct lks_depot_wanted {
    char digest[LKS_DIGEST_SIZE];
    uint64_t size;
    bool hopeless; /* no other controller has it */
};

typedef void lks_transfer_step(struct lks_transfer *t);

struct lks_transfer {
    TAILQ_ENTRY(lks_transfer) all, queue;
    struct lks_depot_server *depot;
    struct lks_call *call; /* NULL: answered */
    enum lks_depot_act act;
    enum lks_side side;
    struct lks_account *account; /* that it counts in; NULL: none */
    char digest[LKS_DIGEST_SIZE];
    /* The step that is waited for: first in the thread pool, then here. */
    uv_work_t job;
    lks_transfer_step *work, *done;
    bool busy;
    struct lks_err err; /* of that step */
    /* GET */
    struct lks_httpd_stream *stream; /* NULL: not yet, or over */
    int fd;                          /* 0: not open */
    uint64_t at, end, size;
    struct lks_progress progress;
    /* PUT */
    struct lks_depot_part part;
    bool last, looked;
    bool whole; /* it is in its place */
    bool paced; /* the next piece waits for the rate */
    /* both: what was read, what is to be written */
    struct lks_buf piece;
    /* HAVE */
    uint64_t have;
    /* COLLECT */
    char (*spared)[LKS_DIGEST_SIZE];
    size_t spared_count;
    struct lks_depot_swept swept;
    /* COLLECT, LOOK */
    uint64_t missing;
    struct lks_depot_wanted *wanted; /* LOOK: which; owned */
};

TAILQ_HEAD(lks_transfers, lks_transfer);

struct lks_depot_server {
    struct lks_server *server;
    struct lks_depot files;
    struct lks_depot_peers *peers;
    struct lks_transfers transfers, jobs;
    unsigned count[LKS_SIDE_COUNT]; /* of transfers that move bytes */
    bool working;
    uv_timer_t timer;  /* while there are transfers */
    int64_t allowance; /* bytes that may be moved now; below 0: too many were */
    lks_ms refilled;
    lks_ms collected; /* when that was last begun, or we were */
    bool again;       /* it is not the first time */
    uint64_t bytes;   /* that artifacts take, when it was last looked */
    uint64_t missing; /* artifacts with a record and no file, then */
    uint64_t sent, received, refused, stalled;
};

/* Have `work` done in the pool, then `done` here. */
void lks_depot_transfer_step_start(struct lks_transfer *t, lks_transfer_step *work,
                                   lks_transfer_step *done);
/* Its call is answered, and it is gone. */
void lks_depot_transfer_answer(struct lks_transfer *t);
void lks_depot_transfer_drop(struct lks_transfer *t);

/* Take `size` bytes from what may be moved; false: not now. */
bool lks_depot_may(struct lks_depot_server *d, size_t size);

/* Whether a caller puts the artifact at the moment. */
bool lks_depot_puts(const struct lks_depot_server *d, const char *digest);

/* depot_put.c */
void lks_depot_transfer_put(struct lks_transfer *t);
void lks_depot_transfer_put_on(struct lks_transfer *t);

#endif
