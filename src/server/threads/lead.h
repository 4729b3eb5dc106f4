/*
 * One of several controllers leads: the store thread's part in it, which gives engine/lease.h its
 * store, its clock and its turns, and the state thread what was read.
 *
 * A controller leads only while its lease holds by CLOCK_BOOTTIME, which goes on while a process is
 * stopped or a machine sleeps, counted from before the store was asked for it. Code that is about
 * to send an answer calls lks_lead_check(). A leader whose lease has expired, or whose commit the
 * store refuses, ends; its supervisor starts it again, and it follows.
 */
#ifndef LKS_SERVER_LEAD_H
#define LKS_SERVER_LEAD_H

#include "server/threads/threads.h"

/* Milliseconds of CLOCK_BOOTTIME. */
lks_ms lks_lead_clock(void);

/* From any thread, before an answer leaves: ends the process where we led and no longer do. */
void lks_lead_check(const struct lks_daemon *d);
_Noreturn void lks_lead_lost(const struct lks_daemon *d, const char *why);

/* On the store thread: follow from `place` on, and lead when it is our turn. */
void lks_lead_begin(struct lks_store_thread *t, const struct lks_engine_place *place);
/* A batch of ours is durable, also where we are the only controller. */
void lks_lead_wrote(struct lks_store_thread *t, const struct lks_engine_batch *batch);
/* The end: another need not wait for the lease to run out. */
void lks_lead_end(struct lks_store_thread *t);

#endif
