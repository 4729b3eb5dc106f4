#include "agent/loop/notices.h"

#include "agent/hooks/node_stack.h"
#include "agent/loop/agent.h"
#include "codec/format/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOTICES_EACH = 64, BODY_MAX = 4096, NUMBER_SIZE = 24 };

/* The state is written before a program can connect: the file may be that of an agent that was
 * killed while the node was in service. */
static enum lks_code open_socket(struct lks_agent *a, struct lks_err *err)
{
    struct lks_notices *n = &a->notices;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" LKS_NOTICE_SOCKET,
             n->dir.fd);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "cannot make a socket: %s", strerror(errno));
    n->fd = fd;
    if (unlinkat(n->dir.fd, LKS_NOTICE_SOCKET, 0) != 0 && errno != ENOENT)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_NOTICE_SOCKET ": %s", n->dir.path,
                        strerror(errno));
    lks_agent_notices_publish(a);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        fchmodat(n->dir.fd, LKS_NOTICE_SOCKET, S_IRUSR | S_IWUSR, 0) != 0)
        return lks_fail(err, LKS_E_IO, "%s/" LKS_NOTICE_SOCKET ": %s", n->dir.path,
                        strerror(errno));
    return LKS_OK;
}

/* The folder's descriptor, for a signal that ends the agent in the middle of an exchange. */
static volatile sig_atomic_t folder; /* 0: there is none */

void lks_agent_notices_remove(void)
{
    static const char *const names[] = {LKS_NOTICE_SOCKET, LKS_NOTICE_STATE, LKS_NODE_STACK_FILE};
    int dir = folder;
    for (size_t i = 0; dir > 0 && i < LKS_COUNT(names); i++)
        (void)unlinkat(dir, names[i], 0);
}

void lks_agent_notices_open(struct lks_agent *a)
{
    struct lks_notices *n = &a->notices;
    struct lks_err err = {0};
    if (a->options->run == NULL)
        return;
    if (lks_statedir_open(a->options->run, false, &n->dir, &err) == LKS_OK) {
        folder = n->dir.fd;
        if (open_socket(a, &err) == LKS_OK)
            return;
    }
    lks_agent_note(a, LKS_LEVEL_WARNING, "programs of this node cannot report", "why", err.msg);
    lks_agent_notices_close(a);
}

void lks_agent_notices_close(struct lks_agent *a)
{
    struct lks_notices *n = &a->notices;
    lks_agent_notices_remove();
    folder = 0;
    if (n->fd > 0)
        (void)close(n->fd);
    lks_statedir_close(&n->dir);
    *n = (struct lks_notices){0};
}

/* One that cannot be written is tried again in the next step of the loop. */
void lks_agent_notices_publish(struct lks_agent *a)
{
    struct lks_notices *n = &a->notices;
    struct lks_err err = {0};
    const char *state = !n->heard                        ? LKS_NOTICE_UNKNOWN
                        : n->changing || a->command != 0 ? LKS_NOTICE_CHANGING
                                                         : LKS_NOTICE_IN_SERVICE;
    if (n->fd == 0 || state == n->published)
        return;
    enum lks_code code = lks_statedir_write(&n->dir, LKS_NOTICE_STATE, lks_str_from(state), &err);
    if (code == LKS_OK)
        n->published = state;
    else if (!n->failed)
        lks_agent_note(a, LKS_LEVEL_WARNING, "the state for programs of this node was not written",
                       "why", err.msg);
    n->failed = code != LKS_OK;
}

void lks_agent_notices_beat(struct lks_agent *a, bool changing)
{
    struct lks_notices *n = &a->notices;
    if (n->changing && !changing)
        n->sent = false; /* what failed meanwhile did not count */
    n->heard = true;
    n->changing = changing;
    if (!changing)
        n->haste = 0;
}

lks_ms lks_agent_notices_due(const struct lks_agent *a)
{
    lks_ms now = lks_agent_now();
    return now < a->notices.haste ? now + LKS_NOTICES_BEAT_MS : UINT64_MAX;
}

static void take_ended(struct lks_agent *a, const struct lks_notice *notice)
{
    char job[NUMBER_SIZE];
    snprintf(job, sizeof(job), "%" PRIu64, notice->job);
    lks_agent_note(a, LKS_LEVEL_DEBUG, "a job ended", "job", job);
    if (!a->notices.changing)
        return;
    a->notices.haste = lks_agent_now() + LKS_NOTICES_HASTE_MS;
    if (a->link.failures == 0)
        a->link.next_beat = lks_agent_now();
}

static void take(struct lks_agent *a, const struct lks_notice *notice)
{
    struct lks_notices *n = &a->notices;
    if (notice->kind == LKS_NOTICE_ENDED) {
        take_ended(a, notice);
        return;
    }
    lks_ms again =
        notice->kind == LKS_NOTICE_FAILED ? LKS_NOTICES_FAILED_MS : LKS_NOTICES_PASSED_MS;
    bool news = !n->sent || n->sent_kind != notice->kind;
    if (!news && !n->pending && lks_agent_now() < n->sent_at + again)
        return;
    if (news && notice->kind == LKS_NOTICE_FAILED && !n->pending)
        lks_agent_note(a, LKS_LEVEL_WARNING, "the health check failed", "why", notice->text);
    n->last = *notice;
    n->pending = true;
    lks_agent_spooled(a);
}

void lks_agent_notices_hear(struct lks_agent *a)
{
    char bytes[LKS_NOTICE_BYTES_MAX + 1];
    for (int i = 0; i < NOTICES_EACH; i++) {
        struct lks_notice notice;
        struct lks_err err = {0};
        ssize_t len = recv(a->notices.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (len < 0)
            return;
        if (lks_notice_parse((struct lks_str){bytes, (size_t)len}, &notice, &err) == LKS_OK)
            take(a, &notice);
        else
            lks_agent_note(a, LKS_LEVEL_WARNING, "a notice was dropped", "why", err.msg);
    }
}

static enum lks_code send_check(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    const struct lks_notice *n = &a->notices.last;
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_bool(&w, "passed", n->kind == LKS_NOTICE_PASSED);
    if (n->kind == LKS_NOTICE_FAILED)
        lks_json_cstr(&w, "text", n->text);
    lks_json_end(&w, '}');
    if (lks_buf_check(&body, err) != LKS_OK)
        return err->code;
    return lks_agent_exchange(a, "POST", "/v1/agent/check", "application/json", lks_buf_view(&body),
                              &answer, err);
}

enum lks_code lks_agent_notices_push(struct lks_agent *a, struct lks_err *err)
{
    struct lks_notices *n = &a->notices;
    enum lks_code code = send_check(a, err);
    if (code == LKS_E_REFUSED) {
        lks_agent_note(a, LKS_LEVEL_ERROR, "the controller refuses the result of the health check",
                       "why", err->msg);
        code = LKS_OK;
    }
    if (code != LKS_OK)
        return code;
    n->pending = false;
    n->sent = true;
    n->sent_kind = n->last.kind;
    n->sent_at = lks_agent_now();
    return LKS_OK;
}
