/*
 * lockstepd: four threads and what they share.
 *
 *     server   two TLS listeners and the Unix socket on one loop; the thread pool works for it
 *     state    the engine: every decision, one after the other
 *     store    commits, one batch at a time
 *     client   conversations with management endpoints
 *
 * Each has a mailbox, and the thread that has a message owns it. What is shared beyond that never
 * changes after the start, is an atomic number, or is the log behind its lock.
 */
#ifndef LKS_SERVER_DAEMON_H
#define LKS_SERVER_DAEMON_H

#include "base/process/log.h"
#include "engine/engine.h"
#include "server/base/config.h"
#include "server/base/mailbox.h"
#include "server/base/secrets.h"

struct lks_call;
struct lks_daemon;
struct lks_oidc;

/* Run until SIGTERM or SIGINT; `path` is read again at SIGHUP. With `accept_lost` also on a journal
 * that lost rows which were seen in it (server/threads/seen.h). */
enum lks_code lks_run_daemon(const char *path, bool accept_lost,
                             struct lks_err *err) LKS_MUST_CHECK;

/* What never changes. */
const struct lks_facts *lks_daemon_facts(const struct lks_daemon *d);
const struct lks_secrets *lks_daemon_secrets(const struct lks_daemon *d);
const struct lks_engine_options *lks_daemon_engine_options(const struct lks_daemon *d);

/* As it is now: a reload puts another in its place, and those before stay readable. */
const struct lks_config *lks_daemon_config(const struct lks_daemon *d);

/* What this controller is called, and where others reach it. */
const char *lks_daemon_name(const struct lks_daemon *d);
const char *lks_daemon_url(const struct lks_daemon *d);

/* The store of the journal: as its owner, or to read it beside. */
enum lks_code lks_daemon_store(const struct lks_daemon *d, bool own, struct lks_store *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* "https://HOST:PORT" that agents report to; of several controllers, separated by blanks. */
const char *lks_daemon_agents_url(const struct lks_daemon *d);

/* Counts up when certificates may have ended; read by the server thread. */
uint64_t lks_daemon_epoch(const struct lks_daemon *d);
void lks_daemon_epoch_set(struct lks_daemon *d, uint64_t epoch);

/* What is known of the OpenID provider; it has a lock of its own. */
struct lks_oidc *lks_daemon_oidc(const struct lks_daemon *d);

/* What the client thread counted. */
struct lks_metrics_bmc {
    uint64_t requests, read, failed;
};
struct lks_metrics_bmc lks_daemon_bmc(const struct lks_daemon *d);

/* From any thread. */
void lks_daemon_log(const struct lks_daemon *d, enum lks_level level, const char *msg,
                    const struct lks_log_field *fields, size_t count);
/* Log and end the process at once, without saying goodbye to anyone. */
_Noreturn void lks_daemon_die(const struct lks_daemon *d, const char *msg,
                              const struct lks_err *err);

/* Now, on both clocks. */
struct lks_now lks_daemon_now(void);

#endif
