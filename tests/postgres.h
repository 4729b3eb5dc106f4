/* Real PostgreSQL servers for tests, in a temporary directory and on Unix sockets alone: one, or a
 * primary with a synchronous standby; killed, frozen, promoted, and brought back. Whatever is
 * started here ends with the test program. initdb refuses root, who becomes `postgres` for it, or
 * `nobody`. */
#ifndef LKS_TESTS_POSTGRES_H
#define LKS_TESTS_POSTGRES_H

#include "tests/tree.h"

#include <sys/types.h>

#define PG_CONNINFO_SIZE 256

enum pg_place { PG_A, PG_B };

struct pg {
    struct lks_tree tree;
    pid_t pids[2];         /* 0: it does not run */
    enum pg_place primary; /* the one that takes writes, as far as we made it so */
};

/* One server (A), a synchronous standby (B) for it, or both at once; false, with a failed check,
 * when one does not come up. Either way pg_free() follows. */
bool pg_start_one(struct pg *pg);
bool pg_add_standby(struct pg *pg);
bool pg_start_pair(struct pg *pg);
void pg_free(struct pg *pg);

/* How to reach database `name` of the primary, whichever of the two it is; and of one of the two
 * alone. */
const char *pg_conninfo(const struct pg *pg, const char *name, char out[PG_CONNINFO_SIZE]);
const char *pg_conninfo_of(const struct pg *pg, enum pg_place place, const char *name,
                           char out[PG_CONNINFO_SIZE]);

/* kill -9 of the primary with all of its processes, at once. */
void pg_kill_primary(struct pg *pg);
/* Either, likewise. */
void pg_kill(struct pg *pg, enum pg_place place);

/* Stop the primary's processes where they are, and let them go on. */
void pg_freeze(const struct pg *pg, enum pg_place place);
void pg_thaw(const struct pg *pg, enum pg_place place);

/* The standby becomes the primary. Until the other one is its standby no commit is acknowledged. */
bool pg_promote(struct pg *pg);

/* Start what was killed, with the data it has: an old primary still takes itself for one. */
bool pg_revive(struct pg *pg, enum pg_place place);

/* The one that is not the primary is killed where it runs, copied anew from the primary, and its
 * synchronous standby from then on. */
bool pg_rejoin_old(struct pg *pg);

/* Whether the primary's commits wait for a standby from now on. */
bool pg_synchronous(const struct pg *pg, bool on);

/* Run statements in database `name` of the primary, or of one of the two; false when one fails. */
bool pg_sql(const struct pg *pg, const char *name, const char *statements);
bool pg_sql_of(const struct pg *pg, enum pg_place place, const char *name, const char *statements);

#endif
