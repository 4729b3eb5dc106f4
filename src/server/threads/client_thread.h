/*
 * The client thread: conversations with management endpoints (drivers/http/talks.h), thousands
 * at a time. Updates come from the state thread once their records are durable, and what has to
 * survive returns there before anything else is sent; readings are its own to begin (sweeper.h),
 * and so are measuring (metrics_poller.h), checking the cadence of pools (change_drafter.h) and
 * notifying a ticket system (ticket_notifier.h). What it wants of the state it asks by calls
 * (internal.h).
 *
 * After a start, or when this controller leads, every open update is told to it anew with what was
 * saved last: a restart is an answer that did not come.
 */
#ifndef LKS_SERVER_CLIENT_THREAD_H
#define LKS_SERVER_CLIENT_THREAD_H

#include "drivers/depot/depot_files.h"
#include "port/bmc.h"
#include "server/call/internal.h"
#include "server/threads/change_drafter.h"
#include "server/threads/metrics_poller.h"
#include "server/threads/pulls.h"
#include "server/threads/sched_runner.h"
#include "server/threads/sweeper.h"
#include "server/threads/ticket_notifier.h"

#include <stdatomic.h>

struct lks_client_job;
struct lks_talks;

/* An update that is to be run, or not any more: state to client. Texts live in the arena. */
struct lks_flash_mail {
    struct lks_mail mail;
    struct lks_arena arena;
    uint64_t id;
    bool over; /* it was ended: the rest is empty */
    lks_ms begun;
    struct lks_internal_endpoint at;
    struct lks_bmc_intent intent;
    struct lks_str saved; /* empty: nothing was sent yet */
};

struct lks_client_thread {
    struct lks_daemon *daemon;
    uv_thread_t thread;
    bool started;
    struct lks_mail_queue queue;
    uv_cond_t come;          /* something was posted */
    struct lks_talks *talks; /* NULL: there is none, for `broken` */
    struct lks_err broken;
    struct lks_depot depot;
    struct lks_now since; /* when the clock of conversations was set, */
    uint64_t speed;       /* and how fast it goes; mostly 1 */
    struct lks_client_job *jobs;
    uint64_t next_job;
    struct lks_sweeper sweeper;
    struct lks_metrics_poller poller;
    struct lks_sched_runner sched;
    struct lks_change_drafter drafter;
    struct lks_ticket_notifier notifier;
    struct lks_pulls pulls;
    bool stopping;
};

/* Before other threads run, so that they may post; and then let it run. */
enum lks_code lks_client_thread_init(struct lks_client_thread *c, struct lks_daemon *daemon,
                                     struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_client_thread_start(struct lks_client_thread *c,
                                      struct lks_err *err) LKS_MUST_CHECK;
/* After it was told to stop. */
void lks_client_thread_join(struct lks_client_thread *c);

/* From any thread: LKS_MAIL_CALL of its own, LKS_MAIL_FLASH, LKS_MAIL_STOP. */
void lks_client_post(struct lks_client_thread *c, struct lks_mail *mail);

#endif
