/* doctor: the checks that ask a running controller. */
#include "cli/control/doctor.h"
#include "cli/shared/context.h"
#include "cli/shared/controller.h"
#include "cli/shared/render.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
    ANSWER_MS = 5000,
    APART_S = 3, /* clocks: the header has whole seconds */
    BEHIND_MS = 5000,
    REPORT_OLD_S = 86400,
    CERTIFICATE_SOON_DAYS = 30,
};

#define GOOD LKS_DOCTOR_GOOD
#define NOTE LKS_DOCTOR_NOTE
#define BAD  LKS_DOCTOR_BAD

/* The controller ------------------------------------------------------------------------------ */

static enum lks_code open_controller(struct lks_doctor *d, struct lks_err *err)
{
    if (d->dir == NULL) {
        const char *given = lks_args_get(d->args, "--server");
        snprintf(d->server, sizeof(d->server), "%s", given != NULL ? given : d->cli->server);
        return lks_remote_open(d->cli, d->args, &d->remote, err);
    }
    struct lks_client_options options = {.server = d->server, .timeout_ms = ANSWER_MS};
    return lks_client_new(&options, &d->remote.client, err);
}

static enum lks_code ask(struct lks_doctor *d, const char *path, struct lks_http_answer *answer,
                         struct lks_err *err)
{
    return lks_client_exchange(d->remote.client, "GET", path, NULL, LKS_STR(""), "", answer, err);
}

/* Whether lockstepd should run is for the caller to know; that it runs and
 * cannot work is bad. */
void lks_doctor_socket(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    if (d->dir == NULL && lks_context_apply(d->cli, d->args, &err) != LKS_OK) {
        lks_doctor_say(d, "socket", BAD, "%s", err.msg);
        return;
    }
    bool named = lks_args_has(d->args, "--server") || d->cli->server != NULL;
    if (d->dir == NULL ? !named : lks_controller_server(d->dir, d->server, &err) != LKS_OK)
        return; /* no controller is asked for, or its configuration was complained
                   of */
    if (open_controller(d, &err) != LKS_OK) {
        lks_doctor_say(d, "socket", BAD, "%s", err.msg);
        return;
    }
    bool ready = ask(d, "/v1/ready", &answer, &err) == LKS_OK;
    if (ready && answer.status < 400) {
        lks_doctor_say(d, "socket", GOOD, "lockstepd answers at %s", d->server);
        if (ask(d, "/metrics", &d->metrics, &err) != LKS_OK || d->metrics.status != 200)
            lks_http_answer_fini(&d->metrics);
        return;
    }
    lks_doctor_fix(d, ready ? "journalctl -u lockstepd -n 50" : "systemctl start lockstepd");
    if (ready)
        lks_doctor_say(d, "socket", BAD, "lockstepd is not ready: /v1/ready answers with status %d",
                       answer.status);
    else
        lks_doctor_say(d, "socket", d->dir != NULL ? NOTE : BAD, "lockstepd does not run: %s",
                       err.msg);
    lks_remote_fini(&d->remote);
}

/* Its clock, from the header of an answer; of a controller on this machine it
 * is ours. */
void lks_doctor_clock(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    struct tm tm = {0};
    char date[64];
    if (d->remote.client == NULL || strncmp(d->server, "https:", 6) != 0)
        return;
    int64_t before = (int64_t)time(NULL);
    if (ask(d, "/v1/health", &answer, &err) != LKS_OK)
        return;
    int64_t after = (int64_t)time(NULL);
    snprintf(date, sizeof(date), "%" LKS_STR_FMT,
             LKS_STR_ARG(lks_http_answer_header(&answer, "date")));
    if (strptime(date, "%a, %d %b %Y %H:%M:%S", &tm) == NULL)
        return;
    int64_t its = (int64_t)timegm(&tm), apart = its < before ? before - its : its - after;
    if (apart <= APART_S) {
        lks_doctor_say(d, "controller clock", GOOD, "as this machine's, to %d s", APART_S);
        return;
    }
    lks_doctor_fix(d, "timedatectl set-ntp true");
    lks_doctor_say(d, "controller clock", BAD,
                   "%" PRId64 " s %s this machine's: one of them is wrong, and certificates and "
                   "logins rely on both",
                   apart, its < before ? "behind" : "ahead of");
}

/* Metrics ------------------------------------------------------------------------------------- */

/* The next line of `*rest` that starts with `name`, without it. */
static bool next_line(struct lks_str *rest, const char *name, struct lks_str *out)
{
    struct lks_str line;
    while (rest->len > 0) {
        (void)lks_str_cut(*rest, '\n', &line, rest);
        if (!lks_str_starts(line, name))
            continue;
        *out = (struct lks_str){line.ptr + strlen(name), line.len - strlen(name)};
        return true;
    }
    return false;
}

/* A metric without labels; false: there is none. */
static bool metric(const struct lks_doctor *d, const char *name, uint64_t *out)
{
    struct lks_str rest = lks_buf_view(&d->metrics.body), value, whole, part;
    if (!next_line(&rest, name, &value))
        return false;
    (void)lks_str_cut(value, '.', &whole, &part);
    return lks_str_number(whole, UINT64_MAX, out);
}

/* "calls 12, bodies 3" of the limits that turned anything away. */
static void list_limits(struct lks_str rest, struct lks_buf *out)
{
    struct lks_str line, limit, count;
    uint64_t number = 0;
    while (next_line(&rest, "lockstep_http_limited_total{limit=\"", &line)) {
        if (lks_str_cut(line, '"', &limit, &line) && lks_str_cut(line, ' ', &line, &count) &&
            lks_str_number(count, UINT64_MAX, &number) && number > 0)
            lks_buf_addf(out, "%s%" LKS_STR_FMT " %" PRIu64, out->len > 0 ? ", " : "",
                         LKS_STR_ARG(limit), number);
    }
}

/* Requests that a limit of callers turned away: one caller that asks too much,
 * or a limit that is too low. */
void lks_doctor_limits(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf met = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2);
    if (d->metrics.body.len == 0)
        return;
    list_limits(lks_buf_view(&d->metrics.body), &met);
    if (met.len > 0)
        lks_doctor_say(d, "limits", NOTE,
                       "requests turned away since lockstepd started, by limit: %s; "
                       "docs/controller.md, \"Limits of callers\", has the key of each",
                       met.ptr);
    else
        lks_doctor_say(d, "limits", GOOD, "no request was turned away by a limit of callers");
}

void lks_doctor_snapshot(struct lks_doctor *d)
{
    uint64_t unused = 0;
    if (!metric(d, "lockstep_snapshots_unused_total ", &unused))
        return;
    if (unused == 0) {
        lks_doctor_say(d, "snapshot", GOOD, "lockstepd rejected no snapshot when it started");
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstepd -g 'the snapshot was not used'");
    lks_doctor_say(d, "snapshot", NOTE,
                   "lockstepd rejected the stored snapshot when it started, and read all "
                   "rows; see "
                   "'the snapshot was not used' in its log for the cause; the next snapshot "
                   "replaces it");
}

/* Whether people can log in. Where no provider is configured there is no such
 * metric. */
void lks_doctor_login(struct lks_doctor *d)
{
    uint64_t seconds = 0;
    if (!metric(d, "lockstep_oidc_failing_seconds ", &seconds))
        return;
    if (seconds == 0) {
        lks_doctor_say(d, "login", GOOD, "the OpenID provider answered when it was last asked");
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstepd -n 50");
    lks_doctor_say(d, "login", BAD,
                   "the OpenID provider has not answered for %" PRIu64 " s: no login can start, "
                   "and open ones continue; lockstepd's log has the cause",
                   seconds);
}

/* lockstepd renews a certificate of its own CA in its last 60 days. Below 30 days that failed, or
 * the certificate is of another CA. */
void lks_doctor_served(struct lks_doctor *d)
{
    uint64_t days = 0;
    if (!metric(d, "lockstep_server_certificate_days ", &days))
        return;
    if (days >= CERTIFICATE_SOON_DAYS) {
        lks_doctor_say(d, "served cert", GOOD,
                       "the certificate that lockstepd serves ends in %" PRIu64 " days", days);
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstepd -g server.crt");
    lks_doctor_say(d, "served cert", days > 0 ? NOTE : BAD,
                   "the certificate that lockstepd serves ends in %" PRIu64
                   " days; lockstepd renews "
                   "certificates of its built-in CA, and its log says why it did not; replace a "
                   "certificate of another CA and run 'systemctl reload lockstepd'",
                   days);
}

/* API servers of Kubernetes. Without their listener there are no such metrics. */
void lks_doctor_webhook(struct lks_doctor *d)
{
    uint64_t asked = 0, refused = 0, days = CERTIFICATE_SOON_DAYS;
    if (!metric(d, "lockstep_http_requests_total{listener=\"webhook\"} ", &asked))
        return;
    (void)metric(d, "lockstep_http_refused_total{listener=\"webhook\",cause=\"tls\"} ", &refused);
    (void)metric(d, "lockstep_webhook_client_days ", &days);
    if (asked == 0) {
        lks_doctor_fix(d, "kubectl get validatingwebhookconfigurations lockstep -o yaml");
        lks_doctor_say(d, "webhook", NOTE,
                       "no API server has asked about a pod since lockstepd started; refused "
                       "connections: %" PRIu64 " (docs/kubernetes.md, \"Admission by webhook\")",
                       refused);
    } else if (days < CERTIFICATE_SOON_DAYS) {
        lks_doctor_fix(d, "openssl x509 -enddate -noout -in /etc/kubernetes/lockstep-webhook.crt");
        lks_doctor_say(d, "webhook", days > 0 ? NOTE : BAD,
                       "the certificate that an API server shows to webhook.listen ends in "
                       "%" PRIu64 " days; renew it on each control plane node, or the "
                       "failurePolicy of the webhooks decides about pods",
                       days);
    } else {
        lks_doctor_say(d, "webhook", GOOD,
                       "API servers sent %" PRIu64 " requests since lockstepd started", asked);
    }
}

/* A follower that is behind answers no admission. */
void lks_doctor_followers(struct lks_doctor *d)
{
    uint64_t leads = 0, behind = 0;
    if (!metric(d, "lockstep_leader ", &leads))
        return;
    (void)metric(d, "lockstep_behind_ms ", &behind);
    if (leads > 0) {
        lks_doctor_say(d, "followers", GOOD, "this controller leads");
        return;
    }
    if (behind > BEHIND_MS)
        lks_doctor_fix(d, "journalctl -u lockstepd -n 50");
    lks_doctor_say(d, "followers", behind > BEHIND_MS ? BAD : GOOD,
                   "this controller follows, and is %" PRIu64 " ms behind", behind);
}

/* How old the oldest report of an agent is. */
void lks_doctor_readings(struct lks_doctor *d)
{
    struct lks_str rest = lks_buf_view(&d->metrics.body), line, age, part;
    uint64_t oldest = 0, seconds = 0;
    bool any = false;
    while (next_line(&rest, "lockstep_reading_age_seconds{", &line)) {
        long at = lks_str_find(line, LKS_STR("} "));
        if (at < 0 || lks_str_find(line, LKS_STR("band=\"in\"")) < 0)
            continue;
        age = (struct lks_str){line.ptr + at + 2, line.len - (size_t)at - 2};
        (void)lks_str_cut(age, '.', &age, &part);
        any = lks_str_number(age, UINT64_MAX, &seconds) || any;
        oldest = seconds > oldest ? seconds : oldest;
    }
    if (!any)
        return;
    char span[LKS_SPAN_TEXT_SIZE];
    (void)lks_time_span_text(oldest * LKS_SECOND, span);
    if (oldest > REPORT_OLD_S)
        lks_doctor_fix(d, "lockstep node ls --liveness lost");
    lks_doctor_say(d, "readings", oldest > REPORT_OLD_S ? NOTE : GOOD,
                   "the oldest report of an agent is %s old", span);
}
