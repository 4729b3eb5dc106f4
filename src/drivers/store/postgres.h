/*
 * The journal in a PostgreSQL database, which several controllers share: one of them leads.
 *
 * What is promised, and how. Every write is one transaction that locks the lease and the tail first
 * and is refused where the lead changed hands since (port/store.h). A server that goes away before
 * COMMIT was sent has written nothing: UNAVAILABLE, and the next call connects anew, to whichever
 * of the hosts takes writes by then. One that goes away after it leaves a commit that may or may
 * not have happened: IO, and the store answers nothing more. A commit that the server acknowledged
 * without having waited for its standby, which it says in a warning, counts as such too. Nothing
 * waits for ever: each call has a time by which the server answered, or it is taken for lost.
 * Nothing is read from a server before its synchronous standby, where it is to have one, has all
 * that can be seen there: an old primary that comes back is passed over.
 *
 * It all lives in the schema "lockstep" of the database, which is made with LKS_STORE_CREATE.
 */
#ifndef LKS_DRIVERS_STORE_POSTGRES_H
#define LKS_DRIVERS_STORE_POSTGRES_H

#include "port/store.h"

/* As libpq reads it: "host=a,b dbname=lockstep passfile=/etc/lockstep/pgpass", or a URL. Where it
 * does not say otherwise, the host that takes writes is looked for; a reader takes any. */
enum lks_code lks_store_postgres_open(const char *conninfo, enum lks_store_mode mode,
                                      struct lks_store *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether it can be read, without connecting. A password is refused: it belongs into a file that
 * passfile= names. Nothing of `conninfo` is in the message. */
enum lks_code lks_store_postgres_check(const char *conninfo, struct lks_err *err) LKS_MUST_CHECK;

/* Whether the files that it names are there and can be read, without connecting; and that only its
 * owner can read the one with the password, which libpq would ignore silently. The message has the
 * word and the path. */
enum lks_code lks_store_postgres_files(const char *conninfo, struct lks_err *err) LKS_MUST_CHECK;

#endif
