/* doctor: the checks that ask a running controller. */
#include "cli/control/doctor.h"
#include "cli/shared/context.h"
#include "cli/shared/controller.h"
#include "cli/shared/render.h"
#include "codec/format/digest.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    ANSWER_MS = 5000,
    NAMED_MOST = 5,   /* nodes or files that a finding names */
    DIGEST_TOLD = 19, /* "sha256:" and twelve digits */
    APART_S = 3,      /* clocks: the header has whole seconds */
    BEHIND_MS = 5000,
    REPORT_OLD_S = 86400,
    CERTIFICATE_SOON_DAYS = 30,
};

#define GOOD LKS_DOCTOR_GOOD
#define NOTE LKS_DOCTOR_NOTE
#define BAD  LKS_DOCTOR_BAD

/* The controller
 * ----------------------------------------------------------------------------
 */

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

/* Metrics
 * -----------------------------------------------------------------------------------
 */

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

/* Lists
 * -------------------------------------------------------------------------------------
 */

/* Rows of a list that are worth a finding, and the names of the first. */
struct look {
    struct lks_doctor *d;
    uint64_t all, found;
    uint64_t unfenced; /* nodes whose scheduler refuses no old controller */
    struct lks_buf names;
    const char *first; /* a form, of the command for the first */
    char fix[LKS_DOCTOR_FIX_MAX];
};

static void name_row(struct look *l, const struct lks_doc *item, const char *form)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf fix = LKS_BUF(LKS_DOCTOR_FIX_MAX - 1);
    if (l->found++ < NAMED_MOST) {
        lks_buf_addf(&l->names, "%s", l->found > 1 ? ", " : "");
        lks_render(&l->names, form, &(struct lks_render){.doc = item});
    }
    if (l->found > 1 || l->first == NULL)
        return;
    lks_render(&fix, l->first, &(struct lks_render){.doc = item});
    snprintf(l->fix, sizeof(l->fix), "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&fix)));
}

static bool walk(struct look *l, const char *where, lks_remote_item *fn, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    lks_buf_init(&l->names, LKS_DOCTOR_TEXT_MAX / 2);
    lks_remote_path_init(&path, where);
    return lks_remote_list(&l->d->remote, &path, "after", 0, fn, l, err) == LKS_OK;
}

static void look_fini(struct look *l)
{
    lks_buf_fini(&l->names);
}

static const char *more(const struct look *l)
{
    return l->found > NAMED_MOST ? ", ..." : "";
}

static enum lks_code look_at_sched(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    l->unfenced += lks_render_number(item, "unfenced");
    if (lks_render_number(item, "failing") > 0)
        name_row(l, item, "{pool} ({failing#node}: {text})");
    if (lks_render_number(item, "missing") > 0)
        name_row(l, item, "{pool} ({missing#node} unknown there)");
    return LKS_OK;
}

enum { GRES_PERCENT = 2, PERCENT = 100 };

/* One node is drift as any other; many at once are a line of slurm.conf. */
static enum lks_code look_at_gres(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    uint64_t differ = lks_render_number(item, "gres_differ"), all = lks_render_number(item, "gres");
    (void)err;
    l->all += all;
    if (differ > 1 && differ * PERCENT > all * GRES_PERCENT)
        name_row(l, item, "{pool} ({gres_differ#node} of {gres})");
    return LKS_OK;
}

void lks_doctor_gres(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {
        .d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2), .first = "lockstep drift --pool {pool}"};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_gres, &err) || l.all == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "gres", GOOD, "schedulers advertise the GPUs that stacks pin");
        return;
    }
    lks_doctor_fix(d, "%s", l.fix);
    lks_doctor_say(d, "gres", NOTE,
                   "schedulers advertise other GPUs than stacks pin; compare Gres in slurm.conf: "
                   "%s%s",
                   l.names.ptr, more(&l));
}

/* Only nodes that are behind for a while: each new verdict takes seconds to be published. */
static enum lks_code look_at_verdicts(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all += lks_render_number(item, "published") + lks_render_number(item, "behind");
    if (lks_render_number(item, "late") > 0)
        name_row(l, item,
                 "{pool} ({late#node}: [{late_text}|requests succeed, and the nodes do not keep "
                 "what they set])");
    return LKS_OK;
}

void lks_doctor_verdicts(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_verdicts, &err) ||
        l.all == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "verdicts", GOOD, "no scheduler shows an old verdict on a node");
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host");
    lks_doctor_say(d, "verdicts", BAD,
                   "schedulers have shown another verdict or stack than lockstep's for more than "
                   "10 minutes, and place jobs by it: %s%s",
                   l.names.ptr, more(&l));
}

static enum lks_code look_at_reserved(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all += lks_render_number(item, "reserved");
    if (lks_render_truth(item, "unreserved"))
        name_row(l, item, "{pool} ({unreserved})");
    return LKS_OK;
}

/* A change does not wait for a reservation: jobs do. */
void lks_doctor_reservations(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_reserved, &err) ||
        l.all + l.found == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "reservations", GOOD, "schedulers reserve nodes for windows of changes");
        return;
    }
    lks_doctor_fix(d, "lockstep scheduler ls");
    lks_doctor_say(d, "reservations", NOTE,
                   "schedulers do not reserve nodes for windows of changes, so jobs may run into "
                   "a window: %s%s",
                   l.names.ptr, more(&l));
}

static enum lks_code look_at_list(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    if (lks_doc_text(item, "unlisted").len > 0)
        name_row(l, item, "{pool} (since {unlisted}: {unlisted_text})");
    return LKS_OK;
}

void lks_doctor_job_lists(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_list, &err) || l.all == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "job lists", GOOD, "every list of jobs that is asked for comes");
        return;
    }
    lks_doctor_fix(d, "journalctl -u lockstep-slurm-bridge -n 50    # on the bridge's host");
    lks_doctor_say(d, "job lists", BAD,
                   "schedulers do not list their jobs, so plans show old lists and no job of a "
                   "draining node is requeued: %s%s",
                   l.names.ptr, more(&l));
}

void lks_doctor_schedulers(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/schedulers", look_at_sched, &err) || l.all == 0)
        return;
    if (l.found == 0 && l.unfenced > 0) {
        lks_doctor_fix(d, "run lockstep-slurm-bridge; docs/slurm.md, \"slurmrestd\"");
        lks_doctor_say(d, "schedulers", NOTE,
                       "no scheduler fails to answer; slurmrestd drains nodes without epochs: a "
                       "controller that lost its lease is not refused");
        return;
    }
    if (l.found == 0) {
        lks_doctor_say(d, "schedulers", GOOD, "all schedulers answer and know the nodes");
        return;
    }
    lks_doctor_fix(d, "lockstep scheduler ls");
    lks_doctor_say(d, "schedulers", BAD,
                   "schedulers do not answer for these nodes or do not know them, so they are "
                   "neither drained nor returned to service: %s%s",
                   l.names.ptr, more(&l));
}

/* What may be found of bridges. */
enum { REFUSES, SILENT, UNKNOWN_SITE, BRIDGE_FINDINGS };

static const struct {
    enum lks_doctor_state state;
    const char *name; /* forms: of a row, */
    const char *fix;  /* and of the command for the first */
    const char *text;
} bridge_findings[BRIDGE_FINDINGS] = {
    [REFUSES] = {BAD, "{url} ({text})", "docs/slurm.md, \"Epochs\"",
                 "refuse the epoch of this leader, so nothing of it is written through them"},
    [SILENT] = {BAD, "{url} ({text})",
                "systemctl restart lockstep-slurm-bridge    # on the host of {url}",
                "do not confirm the epoch of this leader, so an earlier leader can still write "
                "through them"},
    [UNKNOWN_SITE] = {NOTE, "{site}={url}",
                      "lockstep node ls --columns node,site    # then slurm.bridges",
                      "are for sites at which the fleet has no node"},
};

static enum lks_code look_at_bridge(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *looks = ctx;
    struct lks_str epoch = lks_doc_text(item, "epoch");
    (void)err;
    looks[0].all++;
    if (lks_str_is(epoch, "refused"))
        name_row(&looks[REFUSES], item, bridge_findings[REFUSES].name);
    if (lks_str_is(epoch, "failing"))
        name_row(&looks[SILENT], item, bridge_findings[SILENT].name);
    if (!lks_render_truth(item, "known"))
        name_row(&looks[UNKNOWN_SITE], item, bridge_findings[UNKNOWN_SITE].name);
    return LKS_OK;
}

static void say_bridges(struct lks_doctor *d, const struct look *looks)
{
    uint64_t found = 0;
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++) {
        const struct look *l = &looks[i];
        found += l->found;
        if (l->found == 0)
            continue;
        lks_doctor_fix(d, "%s", l->fix);
        lks_doctor_say(d, "bridges", bridge_findings[i].state,
                       "%" PRIu64 " of %" PRIu64 " bridges in slurm.bridges %s: %s%s", l->found,
                       looks[0].all, bridge_findings[i].text, l->names.ptr, more(l));
    }
    if (looks[0].all > 0 && found == 0)
        lks_doctor_say(d, "bridges", GOOD,
                       "no bridge refuses the epoch of this leader, and the fleet has nodes at "
                       "their sites");
}

void lks_doctor_bridges(struct lks_doctor *d)
{
    struct look looks[BRIDGE_FINDINGS] = {0};
    struct lks_err err = {0};
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++) {
        looks[i] = (struct look){.d = d, .first = bridge_findings[i].fix};
        lks_buf_init(&looks[i].names, LKS_DOCTOR_TEXT_MAX / 2);
    }
    if (d->remote.client != NULL && walk(looks, "/v1/schedulers/bridges", look_at_bridge, &err))
        say_bridges(d, looks);
    for (size_t i = 0; i < BRIDGE_FINDINGS; i++)
        look_fini(&looks[i]);
}

static enum lks_code look_at_sweep(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    (void)err;
    l->all++;
    if (lks_render_number(item, "never") > 0 ||
        lks_render_number(item, "oldest_ms") > 2 * lks_render_number(item, "every"))
        name_row(l, item, "{pool} [{never?}{never#endpoint} never read|oldest {oldest_ms~}]");
    return LKS_OK;
}

void lks_doctor_sweeps(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL || !walk(&l, "/v1/sweeps", look_at_sweep, &err) || l.all == 0)
        return;
    if (l.found == 0) {
        lks_doctor_say(d, "sweeps", GOOD, "management endpoints are read as often as they should");
        return;
    }
    lks_doctor_fix(d, "lockstep endpoint ls");
    lks_doctor_say(d, "sweeps", NOTE, "management endpoints are read too seldom, by pool: %s%s",
                   l.names.ptr, more(&l));
}

/* An endpoint that shows another key than the recorded one is another device,
 * or an attack. */
static bool is_other(const struct lks_doc *item)
{
    return lks_str_find(lks_doc_text(item, "failure"), LKS_STR("another key")) >= 0;
}

static bool is_unpinned(const struct lks_doc *item)
{
    return lks_str_is(lks_doc_text(item, "trust"), "fingerprint") &&
           lks_doc_text(item, "fingerprint").len == 0;
}

/* What may be found of endpoints. */
enum { OTHER, FAILED, UNPINNED, FINDINGS };

static const struct {
    enum lks_doctor_state state;
    const char *name; /* forms: of a row, */
    const char *fix;  /* and of the command for the first */
    const char *text;
} findings[FINDINGS] = {
    [OTHER] = {BAD, "{node}",
               "lockstep bmc trust {url} --json && lockstep endpoint trust "
               "{node} FINGERPRINT "
               "--reason replaced",
               "show another key than the recorded one, and nothing is sent to "
               "them: compare the "
               "key with the device, then trust it"},
    [FAILED] = {NOTE, "{node} ({failure})", "lockstep endpoint ls --node {node}",
                "could not be read"},
    [UNPINNED] = {NOTE, "{node}",
                  "lockstep bmc trust {url} --json && lockstep endpoint trust "
                  "{node} FINGERPRINT "
                  "--reason 'first seen'",
                  "have no recorded key yet"},
};

static enum lks_code look_at_endpoint(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *looks = ctx;
    (void)err;
    looks[0].all++;
    if (is_other(item))
        name_row(&looks[OTHER], item, findings[OTHER].name);
    else if (lks_doc_text(item, "failed").len > 0)
        name_row(&looks[FAILED], item, findings[FAILED].name);
    if (is_unpinned(item))
        name_row(&looks[UNPINNED], item, findings[UNPINNED].name);
    return LKS_OK;
}

static void say_endpoints(struct lks_doctor *d, const struct look *looks)
{
    uint64_t all = looks[0].all, found = 0;
    for (size_t i = 0; i < FINDINGS; i++) {
        const struct look *l = &looks[i];
        found += l->found;
        if (l->found == 0)
            continue;
        lks_doctor_fix(d, "%s", l->fix);
        lks_doctor_say(d, "endpoints", findings[i].state,
                       "%" PRIu64 " of %" PRIu64 " management endpoints %s: %s%s", l->found, all,
                       findings[i].text, l->names.ptr, more(l));
    }
    if (all > 0 && found == 0)
        lks_doctor_say(d, "endpoints", GOOD,
                       "all %" PRIu64 " management endpoints answer, and are known by their key",
                       all);
}

void lks_doctor_endpoints(struct lks_doctor *d)
{
    struct look looks[FINDINGS] = {0};
    struct lks_err err = {0};
    for (size_t i = 0; i < FINDINGS; i++) {
        looks[i] = (struct look){.d = d, .first = findings[i].fix};
        lks_buf_init(&looks[i].names, LKS_DOCTOR_TEXT_MAX / 2);
    }
    if (d->remote.client != NULL && walk(looks, "/v1/endpoints", look_at_endpoint, &err))
        say_endpoints(d, looks);
    for (size_t i = 0; i < FINDINGS; i++)
        look_fini(&looks[i]);
}

void lks_doctor_alarms(struct lks_doctor *d)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer answer = {0};
    struct lks_err err = {0};
    char count[LKS_COUNT_TEXT_SIZE];
    if (d->remote.client == NULL ||
        lks_remote_get(&d->remote, "/v1/fleet", &answer, &err) != LKS_OK)
        return;
    uint64_t open = lks_render_number(answer.doc, "alarms_open");
    if (open > 0)
        lks_doctor_fix(d, "lockstep alarm ls");
    lks_doctor_say(d, "alarms", open > 0 ? NOTE : GOOD, "%s open",
                   open > 0 ? lks_str_count_text(open, "alarm", count) : "no alarm is");
}

/* The depot
 * -----------------------------------------------------------------------------------
 */

static bool is_held(const char *dir, struct lks_str digest, int64_t size)
{
    const size_t skip = strlen("sha256:");
    char path[PATH_MAX];
    struct stat st;
    if (!lks_digest_valid(digest))
        return false;
    int len = snprintf(path, sizeof(path), "%s/depot/sha256/%.2s/%.62s", dir, digest.ptr + skip,
                       digest.ptr + skip + 2);
    return len > 0 && (size_t)len < sizeof(path) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_size == size;
}

static enum lks_code look_at_artifact(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct look *l = ctx;
    const struct lks_doc *size = lks_doc_member(item, "size");
    struct lks_str digest = lks_doc_text(item, "digest"), name = lks_doc_text(item, "name");
    (void)err;
    l->all++;
    if (is_held(l->d->dir, digest, size != NULL ? size->number : 0))
        return LKS_OK;
    if (l->found++ < NAMED_MOST)
        lks_buf_addf(&l->names, "%s%" LKS_STR_FMT "%s%.*s", l->found > 1 ? ", " : "",
                     LKS_STR_ARG(name), name.len > 0 ? " " : "",
                     (int)(digest.len < DIGEST_TOLD ? digest.len : DIGEST_TOLD), digest.ptr);
    return LKS_OK;
}

/* What the journal of the running lockstepd has, compared with the files of
 * this controller. What nothing needs is collected every day, so the rest may
 * be needed at any time. */
void lks_doctor_depot(struct lks_doctor *d)
{
    LKS_CLEANUP(look_fini)
    struct look l = {.d = d, .names = LKS_BUF(LKS_DOCTOR_TEXT_MAX / 2)};
    struct lks_err err = {0};
    if (d->remote.client == NULL) {
        lks_doctor_say(d, "depot", NOTE, "not compared with the journal: lockstepd does not run");
    } else if (!walk(&l, "/v1/artifacts", look_at_artifact, &err)) {
        lks_doctor_say(d, "depot", NOTE, "not compared with the journal: %s", err.msg);
    } else if (l.found > 0) {
        lks_doctor_fix(d, "lockstep bundle push DIR");
        lks_doctor_say(d, "depot", BAD,
                       "%" PRIu64 " of %" PRIu64 " artifacts are missing here: %s%s; they are "
                       "fetched from the controllers of controller.agents: put "
                       "those again that "
                       "none of them has",
                       l.found, l.all, l.names.ptr, more(&l));
    } else {
        lks_doctor_say(d, "depot", GOOD, "all %" PRIu64 " artifacts of the journal are here",
                       l.all);
    }
}
