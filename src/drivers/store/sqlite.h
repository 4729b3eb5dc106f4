/*
 * The journal in one SQLite file (WAL, synchronous FULL).
 *
 * The file is held by one process: a second one is refused for as long as the first lives, however
 * it was started. Its schema has a number; db/sqlite/NNN.sql bring an older one up to date, and a
 * newer one is refused. Readers (verify, export) open it without that claim and see the state of
 * one moment.
 */
#ifndef LKS_DRIVERS_STORE_SQLITE_H
#define LKS_DRIVERS_STORE_SQLITE_H

#include "port/store.h"

enum lks_code lks_store_sqlite_open(const char *path, enum lks_store_mode mode,
                                    struct lks_store *out, struct lks_err *err) LKS_MUST_CHECK;

/* How long the last append took, for the metrics: waiting for the disk included. */
uint64_t lks_store_sqlite_last_us(const struct lks_store *store);

#endif
