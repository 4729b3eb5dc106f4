/*
 * The audit log: failed logins, denied calls, reads of routes that show secrets of the fleet, and
 * all reads where that is configured. One line of JSON each:
 *
 *     {"time":"2026-11-15T03:37:38.123Z","event":"denied","identity":"user:kim","route":"grant",
 *      "method":"POST","object":"","address":"10.0.0.7","status":403}
 *
 * Lines go to files of the data directory, of which the oldest goes, and to the machine's syslog.
 * Who asks without end gets few of them: each identity, each address and all strangers together
 * have so many a second, and the rest is counted, in metrics and in one line a minute. Nothing here
 * waits for a disk, and none of it stops the daemon. The server thread's own.
 */
#ifndef LKS_SERVER_AUDIT_H
#define LKS_SERVER_AUDIT_H

#include "model/record/record.h"
#include "server/auth/decisions.h"
#include "server/base/rate.h"

#include <uv.h>

#define LKS_AUDIT_LINES_MAX ((size_t)256 << 10) /* bytes that wait to be written */

struct lks_call;
struct lks_daemon;

enum lks_audit_event { LKS_AUDIT_LOGIN, LKS_AUDIT_DENIED, LKS_AUDIT_READ, LKS_AUDIT_EVENTS };
extern const char *const lks_audit_words[LKS_AUDIT_EVENTS + 1];

/* What is written in a line. Texts are views. */
struct lks_audit_line {
    lks_ms time;
    enum lks_audit_event event;
    struct lks_str identity, route, method, object, address;
    int status;
};

struct lks_audit {
    struct lks_daemon *daemon;
    struct lks_rate rate, strangers;
    struct lks_buf lines;               /* that wait */
    uint64_t counts[LKS_AUDIT_EVENTS];  /* since the start */
    uint64_t before[LKS_AUDIT_EVENTS];  /* of them, those of minutes that are over */
    uint64_t withheld, withheld_before; /* had no line: too many */
    uint64_t lost;                      /* lines that could not be written */
    lks_ms minute;                      /* wall; when the one that runs began */
    uv_timer_t timer;
    uv_work_t work;
    struct lks_decision_files files; /* of the work, while it is `busy` */
    struct lks_buf text;             /* the same */
    struct lks_err err;              /* the same: what came of it */
    uint64_t unsent;                 /* the same: lines that syslog did not take */
    int syslog;                      /* the same; -1: not connected */
    bool busy, closing, open;
    bool said; /* that it could not be written */
};

/* Files and rates, without a loop; for tests, too. */
enum lks_code lks_audit_init(struct lks_audit *a, uint64_t seed,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_audit_fini(struct lks_audit *a);

/* One more of these; a line of it waits, unless there are too many. */
void lks_audit_add(struct lks_audit *a, const struct lks_audit_line *line, lks_ms mono);

/* Whether a minute passed since the last record, or the clock was put back. */
bool lks_audit_due(const struct lks_audit *a, lks_ms now);

/* A minute is over: a line where some had none, and what the journal is to have. False: nothing
 * that it has to. */
bool lks_audit_minute(struct lks_audit *a, lks_ms now, struct lks_rec_audited *out);

/* Of the daemon: open, write now and then, and close; the last of it is written while the loop runs
 * to its end. A directory that cannot be used is logged, and stops nothing. */
void lks_audit_open(struct lks_audit *a, struct lks_daemon *daemon, uv_loop_t *loop);
/* The minute ends now: the state thread, which is about to end, has its record. */
void lks_audit_summarise(struct lks_audit *a);
void lks_audit_close(struct lks_audit *a);

/* A call is answered. */
void lks_audit_note(struct lks_audit *a, const struct lks_call *call);

/* For the metrics. */
void lks_audit_metrics(const struct lks_audit *a, struct lks_buf *out);

#endif
