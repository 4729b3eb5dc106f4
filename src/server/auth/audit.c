#include "server/auth/audit.h"

#include "codec/format/json.h"
#include "server/base/daemon.h"
#include "server/call/call.h"
#include "server/call/route.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LINES_PER_S = 1,     /* of one identity or address ... */
    LINES_BURST = 60,    /* ... and so many at once */
    STRANGERS_PER_S = 1, /* the same of all callers without an identity */
    STRANGERS_BURST = 240,
    VALUE_MAX = 256, /* bytes of one value; a longer one is cut */
    MINUTE_MS = 60 * 1000,
};

const char *const lks_audit_words[LKS_AUDIT_EVENTS + 1] = {"login", "denied", "read", NULL};

enum lks_code lks_audit_init(struct lks_audit *a, uint64_t seed, struct lks_err *err)
{
    *a = (struct lks_audit){.syslog = -1};
    lks_buf_init(&a->lines, LKS_AUDIT_LINES_MAX);
    if (lks_rate_init(&a->rate, LINES_PER_S, LINES_BURST, seed, err) != LKS_OK)
        return err->code;
    return lks_rate_init(&a->strangers, STRANGERS_PER_S, STRANGERS_BURST, seed, err);
}

void lks_audit_fini(struct lks_audit *a)
{
    if (a->open && a->syslog >= 0)
        close(a->syslog);
    lks_rate_fini(&a->rate);
    lks_rate_fini(&a->strangers);
    lks_buf_fini(&a->lines);
    lks_buf_fini(&a->text);
}

/* What is known of the caller decides whose lines these are: a stranger has no name to be counted
 * by, and addresses are cheap. */
static bool has_line(struct lks_audit *a, const struct lks_audit_line *line, lks_ms mono)
{
    lks_ms wait = 0;
    bool known = line->identity.len > 0;
    return lks_rate_take(&a->rate, known ? line->identity : line->address, mono, &wait) &&
           (known || lks_rate_take(&a->strangers, LKS_STR(""), mono, &wait));
}

static void put_value(struct lks_json_writer *w, const char *key, struct lks_str value)
{
    lks_json_text(w, key,
                  (struct lks_str){value.ptr, value.len < VALUE_MAX ? value.len : VALUE_MAX});
}

/* False: it does not fit, as the disk is slow or gone; what waits stays whole lines. */
static bool end_line(struct lks_audit *a, struct lks_json_writer *w, size_t start)
{
    lks_json_end(w, '}');
    lks_buf_addc(&a->lines, '\n');
    if (a->lines.failed == LKS_OK)
        return true;
    a->lines.failed = LKS_OK;
    lks_buf_truncate(&a->lines, start);
    return false;
}

void lks_audit_add(struct lks_audit *a, const struct lks_audit_line *line, lks_ms mono)
{
    char time[LKS_TIME_TEXT_SIZE];
    a->counts[line->event]++;
    if (!has_line(a, line, mono)) {
        a->withheld++;
        return;
    }
    size_t start = a->lines.len;
    struct lks_json_writer w = {.out = &a->lines};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "time", lks_time_text(line->time, time));
    lks_json_cstr(&w, "event", lks_audit_words[line->event]);
    put_value(&w, "identity", line->identity);
    put_value(&w, "route", line->route);
    put_value(&w, "method", line->method);
    put_value(&w, "object", line->object);
    put_value(&w, "address", line->address);
    lks_json_int(&w, "status", line->status);
    a->withheld += !end_line(a, &w, start);
}

bool lks_audit_due(const struct lks_audit *a, lks_ms now)
{
    return now < a->minute || now - a->minute >= MINUTE_MS;
}

bool lks_audit_minute(struct lks_audit *a, lks_ms now, struct lks_rec_audited *out)
{
    char time[LKS_TIME_TEXT_SIZE];
    uint64_t *const counts[LKS_AUDIT_EVENTS] = {&out->logins, &out->denied, &out->reads};
    *out =
        (struct lks_rec_audited){.since = a->minute, .withheld = a->withheld - a->withheld_before};
    for (size_t i = 0; i < LKS_AUDIT_EVENTS; i++) {
        *counts[i] = a->counts[i] - a->before[i];
        a->before[i] = a->counts[i];
    }
    a->withheld_before = a->withheld;
    a->minute = now;
    if (out->withheld > 0) {
        size_t start = a->lines.len;
        struct lks_json_writer w = {.out = &a->lines};
        lks_json_begin(&w, NULL, '{');
        lks_json_cstr(&w, "time", lks_time_text(now, time));
        lks_json_cstr(&w, "event", "withheld");
        lks_json_int(&w, "count", (int64_t)out->withheld);
        (void)end_line(a, &w, start); /* the journal has the count */
    }
    return out->logins > 0 || out->denied > 0;
}

/* Calls ------------------------------------------------------------------------------------- */

/* Heartbeats and what schedulers ask for each job are counted elsewhere. */
static bool is_audited(const struct lks_call *call, bool reads, enum lks_audit_event *out)
{
    const struct lks_route *r = call->route;
    unsigned flags = r != NULL ? r->flags : 0;
    bool read = r != NULL && strcmp(r->method, "GET") == 0 && r->permission != LKS_MAY_NOTHING &&
                r->permission != LKS_MAY_REPORT;
    bool fine = call->stream || call->status < 400;
    if (call->status == 401)
        *out = LKS_AUDIT_LOGIN;
    else if (call->status == 403)
        *out = LKS_AUDIT_DENIED;
    else if (fine && ((flags & LKS_ROUTE_SENSITIVE) != 0 || (read && reads)))
        *out = LKS_AUDIT_READ;
    else
        return false;
    return true;
}

void lks_audit_note(struct lks_audit *a, const struct lks_call *call)
{
    enum lks_audit_event event;
    const struct lks_config *c = lks_daemon_config(call->daemon);
    if (!a->open || !is_audited(call, c->audit_reads == 1, &event))
        return;
    struct lks_now now = lks_daemon_now();
    struct lks_audit_line line = {
        .time = now.wall,
        .event = event,
        .identity = lks_str_from(call->identity),
        .route = lks_str_from(call->route != NULL ? call->route->id : ""),
        .method = lks_str_from(call->route != NULL ? call->route->method : ""),
        .object = call->named,
        .address = lks_str_from(call->address),
        .status = call->stream ? 200 : call->status,
    };
    lks_audit_add(a, &line, now.mono);
}

void lks_audit_metrics(const struct lks_audit *a, struct lks_buf *out)
{
    lks_buf_addf(out, "# TYPE lockstep_audit counter\n"
                      "# HELP lockstep_audit Failed logins, denied calls and audited reads.\n");
    for (size_t i = 0; i < LKS_AUDIT_EVENTS; i++)
        lks_buf_addf(out, "lockstep_audit_total{event=\"%s\"} %llu\n", lks_audit_words[i],
                     (unsigned long long)a->counts[i]);
    lks_buf_addf(out,
                 "# TYPE lockstep_audit_withheld counter\n"
                 "# HELP lockstep_audit_withheld Audited calls without a line: too many at once.\n"
                 "lockstep_audit_withheld_total %llu\n"
                 "# TYPE lockstep_audit_lost counter\n"
                 "# HELP lockstep_audit_lost Times that audit lines could not be written.\n"
                 "lockstep_audit_lost_total %llu\n",
                 (unsigned long long)a->withheld, (unsigned long long)a->lost);
}
