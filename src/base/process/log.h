/*
 * The log: one event, one line, for people and for programs.
 *
 *     ts=2026-11-15T03:37:38.123Z level=info msg="node drained" node=gpu-17 owner="campaign 7"
 *     {"ts":"2026-11-15T03:37:38.123Z","level":"info","msg":"node drained","node":"gpu-17"}
 *
 * Values come from outside. Whatever is in them, an event stays one line and a field stays one
 * field: what is not printable is escaped, as \n or \x1b in the first form and as \u001b in the
 * second, where bytes that are not UTF-8 become U+FFFD. A value under a key that speaks of a
 * password, token, secret or credential is never written.
 */
#ifndef LKS_BASE_LOG_H
#define LKS_BASE_LOG_H

#include "base/buf.h"

#include <stdio.h>

/* A longer value is cut and ends in "...". */
#define LKS_LOG_VALUE_MAX  1024
#define LKS_LOG_FIELDS_MAX 32

enum lks_level { LKS_LEVEL_DEBUG, LKS_LEVEL_INFO, LKS_LEVEL_WARNING, LKS_LEVEL_ERROR };

enum lks_log_format { LKS_LOG_LOGFMT, LKS_LOG_JSON };

struct lks_log_field {
    const char *key; /* ours: letters, digits and '_', but none of ts, level, msg */
    struct lks_str value;
};

struct lks_log {
    FILE *out; /* borrowed; NULL is a log that keeps nothing */
    enum lks_level least;
    enum lks_log_format format;
    int64_t (*now)(void); /* milliseconds since 1970 */
    struct lks_buf line;
};

/* Events below `least` are not written. On a later lks_log_fini() `out` stays open. */
void lks_log_init(struct lks_log *log, FILE *out, enum lks_level least, enum lks_log_format format,
                  int64_t (*now)(void));
void lks_log_fini(struct lks_log *log);

/* A log that cannot be written must not stop a rollout: there is no failure to report. */
void lks_log_event(struct lks_log *log, enum lks_level level, const char *msg,
                   const struct lks_log_field *fields, size_t count);

#endif
