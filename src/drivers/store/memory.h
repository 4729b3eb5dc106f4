/*
 * The journal in memory, for the simulator and for tests of what a crash leaves behind.
 *
 * A disk outlives its stores: make one, open a store on it, let it crash, open another. A crash can
 * be told to fall after any number of statements; what was not committed by then is gone, and every
 * later call on that store fails with IO. A commit may also happen although its caller never hears
 * of it, as it is with real disks.
 */
#ifndef LKS_DRIVERS_STORE_MEMORY_H
#define LKS_DRIVERS_STORE_MEMORY_H

#include "port/store.h"

struct lks_memory_disk;

enum lks_memory_crash {
    LKS_MEMORY_NO_CRASH,
    LKS_MEMORY_CRASH_BEFORE, /* nothing of the batch stays */
    LKS_MEMORY_CRASH_AFTER,  /* all of it stays, and the caller gets IO */
    LKS_MEMORY_FULL,         /* nothing stays, UNAVAILABLE, and the store lives on */
};

struct lks_memory_disk *lks_memory_disk_new(void); /* NULL when memory runs out */
void lks_memory_disk_free(struct lks_memory_disk *disk);

/* The next writes end as `how` says, after `statements` more statements (rows, blobs, commit) went
 * well; a snapshot, a trim and a cut are one statement and a commit, with what a cut appends
 * besides. FULL lasts until it is told otherwise. */
void lks_memory_disk_fail(struct lks_memory_disk *disk, enum lks_memory_crash how,
                          uint64_t statements);

/* REFUSED while another store has the disk and did not crash. */
enum lks_code lks_store_memory_open(struct lks_memory_disk *disk, struct lks_store *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* One of several stores on the disk, as controllers have one database: with a lease, and all that
 * the port says of it. The others see a commit at once. */
enum lks_code lks_store_memory_share(struct lks_memory_disk *disk, struct lks_store *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* What time it is by the disk's clock, by which leases end. It starts at 0 and stands still. */
void lks_memory_disk_clock(struct lks_memory_disk *disk, lks_ms now);
lks_ms lks_memory_disk_now(const struct lks_memory_disk *disk);

/* The lease as the disk has it, whatever any controller makes of it. */
struct lks_store_lease lks_memory_disk_lease(const struct lks_memory_disk *disk);

/* A slow database: the answers of tail() and lead() are of the moment they are called, and the
 * clock has moved on by so much when they return. */
void lks_memory_disk_late(struct lks_memory_disk *disk, lks_ms tail, lks_ms lead);

/* For tests: change a byte of a row, drop it, swap two, as a disk or a person might. NULL where
 * there is no such row. Its body may be set to any bytes that outlive the disk. */
struct lks_row *lks_memory_disk_row(struct lks_memory_disk *disk, uint64_t seq);
void lks_memory_disk_drop(struct lks_memory_disk *disk, uint64_t seq);

/* How many rows were cut from the journal and set aside. */
size_t lks_memory_disk_aside(const struct lks_memory_disk *disk);

/* The disk that a store's copy() to `path` made, owned by this one; NULL where there is none. */
struct lks_memory_disk *lks_memory_disk_file(struct lks_memory_disk *disk, const char *path);

#endif
