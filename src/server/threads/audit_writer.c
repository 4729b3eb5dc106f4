/* Lines of the audit log on their way to files and to syslog: in the thread pool, so that no call
 * waits for a disk. */
#include "server/auth/audit.h"

#include "server/base/daemon.h"
#include "server/threads/threads.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    FLUSH_MS = 1000,
    PATH_BYTES_MAX = 4096,
    PRIORITY = 10 * 8 + 5, /* authpriv, notice: RFC 5424, 6.2.1 */
    MESSAGE_MAX = 4096,
};

static void flush(struct lks_audit *a);

/* Syslog ------------------------------------------------------------------------------------ */

static void leave_syslog(struct lks_audit *a)
{
    if (a->syslog >= 0)
        close(a->syslog);
    a->syslog = -1;
}

static bool reach_syslog(struct lks_audit *a, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (a->syslog >= 0)
        return true;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    a->syslog = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (a->syslog >= 0 && connect(a->syslog, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return true;
    leave_syslog(a);
    return false;
}

/* The form that every syslog takes on its local socket. One that takes nothing is not waited for.
 */
static void tell_syslog(struct lks_audit *a, const char *path, struct lks_str line)
{
    char text[MESSAGE_MAX], when[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm) != NULL)
        (void)strftime(when, sizeof(when), "%b %e %H:%M:%S", &tm);
    int len = snprintf(text, sizeof(text), "<%d>%s lockstepd[%d]: %" LKS_STR_FMT, PRIORITY, when,
                       (int)getpid(), LKS_STR_ARG(line));
    size_t size = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
    for (int tries = 0; tries < 2; tries++) { /* it may have been started again */
        if (reach_syslog(a, path) && send(a->syslog, text, size, MSG_NOSIGNAL) == (ssize_t)size)
            return;
        if (a->syslog >= 0 && (errno == EAGAIN || errno == ENOBUFS))
            break;
        leave_syslog(a);
    }
    a->unsent++;
}

/* Files ------------------------------------------------------------------------------------- */

/* The directory is looked at when there is something to write, and again until it can be used. */
static enum lks_code write_files(struct lks_audit *a, struct lks_str lines, struct lks_err *err)
{
    const struct lks_config *c = lks_daemon_config(a->daemon);
    char dir[PATH_BYTES_MAX];
    snprintf(dir, sizeof(dir), "%s/audit", c->data.ptr);
    if (a->files.dir[0] == '\0' &&
        lks_decision_files_open(&a->files, dir, c->audit_bytes, c->audit_files, err) != LKS_OK)
        return err->code;
    return lks_decision_files_add(&a->files, lines, err);
}

static void work(uv_work_t *job)
{
    struct lks_audit *a = job->data;
    struct lks_str path = lks_daemon_config(a->daemon)->audit_syslog, line;
    struct lks_str rest = lks_buf_view(&a->text);
    a->err = (struct lks_err){0};
    a->unsent = 0;
    a->err.code = write_files(a, rest, &a->err);
    while (path.len > 0 && rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        tell_syslog(a, path.ptr, line);
    }
}

/* A log that cannot be written stops nothing; the failure is logged once. */
static void worked(uv_work_t *job, int status)
{
    (void)status;
    struct lks_audit *a = job->data;
    bool failed = a->err.code != LKS_OK || a->unsent > 0;
    if (a->err.code == LKS_OK && a->unsent > 0)
        (void)!lks_fail(&a->err, LKS_E_IO, "syslog does not take them");
    struct lks_log_field field = {"cause", lks_str_from(a->err.msg)};
    lks_buf_fini(&a->text);
    a->busy = false;
    a->lost += failed;
    if (failed && !a->said)
        lks_daemon_log(a->daemon, LKS_LEVEL_ERROR, "audit lines were not written", &field, 1);
    a->said = failed;
    if (a->closing)
        flush(a);
}

static void flush(struct lks_audit *a)
{
    if (a->busy || a->lines.len == 0)
        return;
    a->busy = true;
    a->text = a->lines;
    lks_buf_init(&a->lines, LKS_AUDIT_LINES_MAX);
    a->work.data = a;
    uv_queue_work(a->timer.loop, &a->work, work, worked);
}

/* The journal has one record of a minute with failures in it, however many they were. */
void lks_audit_summarise(struct lks_audit *a)
{
    struct lks_rec_audited record;
    if (!a->open || !lks_audit_minute(a, lks_daemon_now().wall, &record))
        return;
    struct lks_audited_mail *m = (struct lks_audited_mail *)lks_mail_new(LKS_MAIL_AUDITED);
    m->record = record;
    lks_mailbox_post(&a->daemon->state->box, &m->mail);
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_audit *a = timer->data;
    if (lks_audit_due(a, lks_daemon_now().wall))
        lks_audit_summarise(a);
    flush(a);
}

void lks_audit_open(struct lks_audit *a, struct lks_daemon *daemon, uv_loop_t *loop)
{
    uint64_t seed = 0;
    struct lks_err err = {0};
    if (lks_secrets_chance(&seed, sizeof(seed), &err) != LKS_OK ||
        lks_audit_init(a, seed, &err) != LKS_OK)
        lks_daemon_die(daemon, "the audit log", &err);
    a->daemon = daemon;
    a->minute = lks_daemon_now().wall;
    uv_timer_init(loop, &a->timer);
    a->timer.data = a;
    a->open = true;
    uv_timer_start(&a->timer, on_timer, FLUSH_MS, FLUSH_MS);
}

void lks_audit_close(struct lks_audit *a)
{
    if (!a->open || a->closing)
        return;
    a->closing = true;
    uv_close((uv_handle_t *)&a->timer, NULL);
    flush(a);
}
