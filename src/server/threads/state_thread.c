#include "core/gate/gate.h"
#include "core/rows/command.h"
#include "core/state/state.h"
#include "server/api/routes.h"
#include "server/threads/admit_socket.h"
#include "server/threads/flashes.h"
#include "server/threads/lead.h"
#include "server/threads/seen.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    JUMP_MS = 5000,       /* a wall clock that is off by more than this jumped */
    STALL_WAIT_MS = 2000, /* answers wait so long for a journal that cannot be written */
    STALL_LOOK_MS = 250,
    TICKS_MAX = 64, /* slices of one tick, before messages are looked at again */
    PATH_BYTES_MAX = 4096,
};

/* Time ---------------------------------------------------------------------------------------- */

static void fatal(struct lks_state_thread *t, enum lks_code code, const struct lks_err *err)
{
    if (code == LKS_E_IO || code == LKS_E_NOMEM)
        lks_daemon_die(t->daemon, "the state is no longer good", err);
}

/* A turn without a call. */
static bool own_turn(struct lks_state_thread *t, const struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    lks_decision_init(&d);
    enum lks_code code =
        lks_engine_turn(t->authz.engine, t->authz.now, event, NULL, &d, &needs, &err);
    fatal(t, code, &err);
    if (code == LKS_OK)
        lks_flashes_over(t, &d);
    return code == LKS_OK && d.more;
}

/* Both clocks, and whether the wall's went another way than time. */
static void look_at_clocks(struct lks_state_thread *t)
{
    struct lks_now now = lks_daemon_now();
    lks_ms expected = t->authz.wall + (now.mono - t->mono);
    uint64_t forward = now.wall > expected ? now.wall - expected : 0;
    uint64_t back = now.wall < expected ? expected - now.wall : 0;
    bool first = t->mono == 0;
    t->authz.wall = now.wall;
    t->mono = now.mono;
    t->authz.now.mono = now.mono;
    lks_lead_check(t->daemon);
    t->authz.behind = t->authz.following ? lks_lead_clock() - t->confirmed : 0;
    if (now.wall > t->authz.now.wall)
        t->authz.now.wall = now.wall;
    if (first || (forward <= JUMP_MS && back <= JUMP_MS))
        return;
    struct lks_event event = {.kind = LKS_EVENT_CLOCK, .clock = {forward, back}};
    lks_daemon_log(t->daemon, LKS_LEVEL_WARNING, "the wall clock jumped", NULL, 0);
    own_turn(t, &event);
}

/* Answers ------------------------------------------------------------------------------------- */

static void finish(struct lks_state_thread *t, struct lks_call *call)
{
    call->mail.kind = LKS_MAIL_CALL;
    if (call->at_store != NULL) {
        lks_mailbox_post(&t->daemon->store->box, &call->mail);
        return;
    }
    if (call->asker != NULL) {
        lks_lead_check(t->daemon); /* the last look at the clock before it leaves */
        lks_admit_socket_answer(call);
        return;
    }
    if (call->own != NULL && !call->to_prepare && call->work == NULL) {
        lks_client_post(t->daemon->client, &call->mail);
        return;
    }
    if (t->authz.following && (!call->unread || call->status != 0))
        lks_call_header(call, "Lockstep-Behind-Ms: %llu", (unsigned long long)t->authz.behind);
    call->mail.kind = LKS_MAIL_CALL;
    lks_mailbox_post(&t->daemon->server->box, &call->mail);
}

static struct lks_call *next_of(struct lks_call *call)
{
    return (struct lks_call *)call->mail.next;
}

static void push(struct lks_call **first, struct lks_call ***end, struct lks_call *call)
{
    call->mail.next = NULL;
    if (*first == NULL)
        *end = first;
    **end = call;
    *end = (struct lks_call **)(void *)&call->mail.next;
}

/* Rows count up, so an earlier call waits for no later row than the next one. */
static void await(struct lks_state_thread *t, struct lks_call *call)
{
    call->since = t->authz.now.mono;
    bool durable = call->needs <= lks_engine_durable_seq(t->authz.engine);
    if (call->needs == 0 || (durable && t->waiting == NULL))
        finish(t, call);
    else
        push(&t->waiting, &t->waiting_end, call);
}

static void release(struct lks_state_thread *t)
{
    uint64_t durable = lks_engine_durable_seq(t->authz.engine);
    while (t->waiting != NULL && t->waiting->needs <= durable) {
        struct lks_call *call = t->waiting;
        t->waiting = next_of(call);
        finish(t, call);
    }
}

/* While the journal cannot be written nothing is acknowledged, and no call waits for long. */
static void give_up_waiting(struct lks_state_thread *t)
{
    struct lks_err why = {0};
    if (!lks_engine_stalled(t->authz.engine, &why))
        return;
    while (t->waiting != NULL && t->waiting->since + STALL_WAIT_MS <= t->authz.now.mono) {
        struct lks_call *call = t->waiting;
        t->waiting = next_of(call);
        lks_call_problem(call, LKS_E_UNAVAILABLE,
                         call->wrote ? "the journal cannot be written: %s; whether this takes "
                                       "effect shows when it can"
                                     : "the journal cannot be written (%s): what is asked rests on "
                                       "records that are not durable yet; try again",
                         why.msg);
        call->at_store = NULL;
        finish(t, call);
    }
}

/* Mail for agents ----------------------------------------------------------------------------- */

static void send_post(struct lks_state_thread *t)
{
    if (t->post == NULL)
        return;
    lks_mailbox_post(&t->daemon->server->box, &t->post->mail);
    t->post = NULL;
}

static bool is_barred(const struct lks_state *s, uint32_t node, lks_ms wall)
{
    return lks_node_status_step(s, node, wall, NULL) != LKS_BAR_COUNT;
}

static void touch(struct lks_state_thread *t, uint32_t node)
{
    const struct lks_state *s = t->authz.state;
    if (node >= t->told_room) {
        t->told = lks_daemon_grow(t->daemon, t->told, &t->told_room, s->node_count);
    }
    uint8_t told = (uint8_t)((lks_gate_mail(s, node) ? LKS_TOLD_MAIL : 0) |
                             (s->nodes[node].changing != 0 ? LKS_TOLD_CHANGING : 0) |
                             (is_barred(s, node, t->authz.now.wall) ? LKS_TOLD_BARRED : 0));
    if (t->told[node] == told)
        return;
    t->told[node] = told;
    if (t->post == NULL)
        t->post = (struct lks_post *)lks_mail_new(LKS_MAIL_POST);
    t->post->items[t->post->count].node = node;
    t->post->items[t->post->count++].told = told;
    if (t->post->count == LKS_BEATS_MAX)
        send_post(t);
}

/* A node with a command that was not its own request learns of it with its next heartbeat, and not
 * with the one after. */
static void touch_commanded(struct lks_state_thread *t)
{
    const struct lks_state *s = t->authz.state;
    for (uint32_t i = s->command_count; i > 0 && s->commands[i - 1].id >= t->command_told; i--)
        touch(t, s->commands[i - 1].node);
    t->command_told = s->next_command;
}

/* Calls and heartbeats ------------------------------------------------------------------------ */

static void hear(struct lks_state_thread *t, const struct lks_beats *beats)
{
    struct lks_err err = {0};
    for (size_t i = 0; i < beats->count; i++) {
        uint32_t node = beats->items[i].node;
        enum lks_code code = lks_authz_hear(&t->authz, node, &beats->items[i].beat, &err);
        fatal(t, code, &err);
        touch(t, node);
    }
    t->authz.metrics.beats += beats->count;
}

static void take_call(struct lks_state_thread *t, struct lks_call *call)
{
    if (!lks_authz_decide(&t->authz, call)) {
        push(&t->sliced, &t->sliced_end, call);
        return;
    }
    if (call->node != LKS_NO_NODE)
        touch(t, call->node);
    await(t, call);
}

/* The store ----------------------------------------------------------------------------------- */

static void hand_over(struct lks_state_thread *t)
{
    struct lks_engine_batch batch;
    if (!lks_engine_take(t->authz.engine, t->authz.now, &batch))
        return;
    struct lks_batch *m = (struct lks_batch *)lks_mail_new(LKS_MAIL_BATCH);
    m->batch = batch;
    m->handed = t->authz.now.mono;
    lks_mailbox_post(&t->daemon->store->box, &m->mail);
}

/* Rows that are durable go on to the server thread, with the head that agents are told. */
static void tell_server(struct lks_state_thread *t, struct lks_batch *m)
{
    const struct lks_head *head = lks_engine_told(t->authz.engine);
    if (head->seq != t->head_told) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_HEAD_TEXT_MAX - 1);
        lks_row_head_text(head, &line);
        if (line.failed == LKS_OK)
            memcpy(m->head, line.ptr, line.len);
        t->head_told = head->seq;
    }
    m->heartbeat = t->authz.state->limits.heartbeat;
    lks_mailbox_post(&t->daemon->server->box, &m->mail);
}

/* The second of a head is over, and nothing was committed since. */
static void tell_head(struct lks_state_thread *t)
{
    if (lks_engine_told(t->authz.engine)->seq == t->head_told)
        return;
    struct lks_batch *m = (struct lks_batch *)lks_mail_new(LKS_MAIL_BATCH);
    m->batch.last = lks_engine_durable_seq(t->authz.engine);
    tell_server(t, m);
}

static void on_durable(struct lks_state_thread *t, struct lks_batch *m)
{
    bool stalled = lks_engine_stalled(t->authz.engine, NULL);
    lks_engine_durable(t->authz.engine, &m->batch);
    if (stalled)
        lks_daemon_log(t->daemon, LKS_LEVEL_INFO, "the journal is written again", NULL, 0);
    lks_metrics_histogram_add(&t->authz.metrics.store, m->us);
    lks_metrics_histogram_add(&t->authz.metrics.commit, m->whole_us);
    tell_server(t, m);
    release(t);
}

static void on_stalled(struct lks_state_thread *t, const struct lks_stalled *m)
{
    lks_engine_stall(t->authz.engine, &m->why);
    t->authz.metrics.stalls++;
    struct lks_log_field field = {"cause", lks_str_from(m->why.msg)};
    lks_daemon_log(t->daemon, LKS_LEVEL_ERROR, "the journal cannot be written", &field, 1);
}

/* Following and leading ----------------------------------------------------------------------- */

static void say_started(struct lks_state_thread *t);

/* Everything there is was followed, and the lease is ours. */
static void lead(struct lks_state_thread *t, uint64_t epoch)
{
    struct lks_err err = {0};
    char number[32];
    struct lks_str name = lks_str_from(lks_daemon_name(t->daemon));
    struct lks_str url = lks_str_from(lks_daemon_url(t->daemon));
    if (lks_engine_lead(t->authz.engine, t->authz.now, epoch, name, url, &err) != LKS_OK)
        lks_daemon_die(t->daemon, "cannot lead", &err);
    t->authz.following = false;
    t->authz.behind = 0;
    snprintf(number, sizeof(number), "%llu", (unsigned long long)epoch);
    struct lks_log_field field = {"epoch", lks_str_from(number)};
    lks_daemon_log(t->daemon, LKS_LEVEL_INFO, "leads", &field, 1);
    say_started(t);
}

static void on_news(struct lks_state_thread *t, struct lks_news *m)
{
    struct lks_err err = {0};
    if (lks_engine_follow(t->authz.engine, t->authz.now, &m->lease.news, &err) != LKS_OK)
        lks_daemon_die(t->daemon, "the journal could not be followed", &err);
    if (m->lease.confirmed > t->confirmed)
        t->confirmed = m->lease.confirmed;
    if (m->lease.news.batch.store.row_count > 0) {
        struct lks_batch *rows = (struct lks_batch *)lks_mail_new(LKS_MAIL_BATCH);
        rows->batch = LKS_MOVE(m->lease.news.batch);
        tell_server(t, rows);
    }
    if (m->lease.epoch != 0)
        lead(t, m->lease.epoch);
}

/* Snapshots ----------------------------------------------------------------------------------- */

/* In the child, which has one open file beside the standard ones: the end of it, and why. */
enum { TELLS = STDERR_FILENO + 1 };

static _Noreturn void give_up(const char *what, const char *why)
{
    char text[LKS_ERR_MSG_MAX];
    int len = snprintf(text, sizeof(text), "%s: %s", what, why);
    if (len > 0)
        (void)!write(TELLS, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
    _exit(1);
}

/* In the child: it has the state as it was, and nothing else of it is used. */
static _Noreturn void write_snapshot(const struct lks_engine *engine, const char *path,
                                     pid_t daemon, int tells)
{
    struct lks_buf bytes;
    struct lks_err err = {0};
    uint64_t seq;
    /* Should the daemon be killed now, the next one must not find the claim on the journal and the
     * ports taken, nor another child that writes to this path. */
    (void)dup2(tells, TELLS);
    close_range(TELLS + 1, ~0U, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != daemon)
        _exit(1);
    lks_buf_init(&bytes, LKS_STORE_SNAPSHOT_MAX);
    if (lks_engine_snapshot(engine, &bytes, &seq, &err) != LKS_OK)
        give_up("state", err.msg);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (size_t at = 0; fd >= 0 && at < bytes.len;) {
        ssize_t n = write(fd, bytes.ptr + at, bytes.len - at);
        if (n <= 0)
            give_up(path, strerror(errno));
        at += (size_t)n;
    }
    if (fd < 0)
        give_up(path, strerror(errno));
    _exit(0);
}

static void name_snapshot(const struct lks_state_thread *t, uint64_t seq, char *out, size_t size)
{
    snprintf(out, size, "%s/snapshot-%" PRIu64 ".tmp", lks_daemon_config(t->daemon)->data.ptr, seq);
}

static void log_failed_snapshot(const struct lks_state_thread *t, uint64_t seq, const char *cause)
{
    char row[24];
    snprintf(row, sizeof(row), "%" PRIu64, seq);
    const struct lks_log_field fields[] = {{"row", lks_str_from(row)},
                                           {"cause", lks_str_from(cause)}};
    lks_daemon_log(t->daemon, LKS_LEVEL_WARNING, "a snapshot could not be written", fields,
                   LKS_COUNT(fields));
}

static void begin_snapshot(struct lks_state_thread *t)
{
    uint64_t seq = lks_engine_seq(t->authz.engine);
    const struct lks_config *config = lks_daemon_config(t->daemon);
    if (t->authz.following || t->snapshotting != 0 || t->snapshot_ready != 0 || t->stopping ||
        seq < t->snapshot_seq + config->snapshot_rows)
        return;
    char path[PATH_BYTES_MAX];
    name_snapshot(t, seq, path, sizeof(path));
    t->snapshot_seq = seq;
    pid_t daemon = getpid();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        log_failed_snapshot(t, seq, strerror(errno));
        return;
    }
    t->snapshotting = fork();
    if (t->snapshotting == 0)
        write_snapshot(t->authz.engine, path, daemon, ends[1]);
    if (t->snapshotting < 0)
        log_failed_snapshot(t, seq, strerror(errno));
    (void)close(ends[1]);
    if (t->snapshotting > 0) {
        t->snapshot_tells = ends[0];
        return;
    }
    (void)close(ends[0]);
    t->snapshotting = 0;
}

/* What the child wrote last, or how it ended. */
static void read_cause(int tells, int status, char *out, size_t size)
{
    ssize_t len = read(tells, out, size - 1);
    if (len > 0)
        out[len] = '\0';
    else if (WIFSIGNALED(status))
        snprintf(out, size, "the snapshot process was killed by signal %d", WTERMSIG(status));
    else
        snprintf(out, size, "the snapshot process exited without a message");
}

static void on_child(uv_signal_t *signal, int number)
{
    (void)number;
    struct lks_state_thread *t = signal->data;
    int status;
    if (t->snapshotting == 0 || waitpid(t->snapshotting, &status, WNOHANG) != t->snapshotting)
        return;
    t->snapshotting = 0;
    char cause[LKS_ERR_MSG_MAX];
    read_cause(t->snapshot_tells, status, cause, sizeof(cause));
    (void)close(t->snapshot_tells);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        t->snapshot_ready = t->snapshot_seq;
        return;
    }
    char path[PATH_BYTES_MAX];
    name_snapshot(t, t->snapshot_seq, path, sizeof(path));
    (void)unlink(path); /* a part of it would hold space that may be all there was */
    log_failed_snapshot(t, t->snapshot_seq, cause);
}

/* It is kept once the rows it stands for are. */
static void keep_snapshot(struct lks_state_thread *t)
{
    if (t->snapshot_ready == 0 || lks_engine_durable_seq(t->authz.engine) < t->snapshot_ready)
        return;
    struct lks_snapshot *m = (struct lks_snapshot *)lks_mail_new(LKS_MAIL_SNAPSHOT);
    m->seq = t->snapshot_ready;
    name_snapshot(t, m->seq, m->path, sizeof(m->path));
    t->snapshot_ready = 0;
    t->authz.metrics.snapshots++;
    lks_mailbox_post(&t->daemon->store->box, &m->mail);
}

/* The loop ------------------------------------------------------------------------------------ */

static struct lks_limits limits_of(const struct lks_config *c)
{
    return (struct lks_limits){
        .heartbeat = c->heartbeat_ms,
        .late = c->late_ms,
        .lost = c->lost_ms,
        .mass_window = c->mass_window_ms,
        .skew = c->skew_ms,
        .mass_floor = c->mass_floor,
        .mass_percent = c->mass_percent,
        .call_nodes = c->call_nodes,
        .validity = c->validity_ms,
        .staleness = c->staleness_ms,
        .outband_age = c->outband_age_ms,
        .proposal_age = c->proposal_age_ms,
    };
}

static void take_config(struct lks_state_thread *t)
{
    const struct lks_config *c = lks_daemon_config(t->daemon);
    lks_authz_rates_set(&t->authz, c);
    struct lks_event event = {.kind = LKS_EVENT_LIMITS, .limits = limits_of(c)};
    own_turn(t, &event);
}

static void on_timer(uv_timer_t *timer);

/* Nothing is left to do, or there is no more time for it. */
static bool is_done(const struct lks_state_thread *t)
{
    bool stalled = lks_engine_stalled(t->authz.engine, NULL);
    bool quiet = lks_engine_seq(t->authz.engine) == lks_engine_durable_seq(t->authz.engine);
    return t->stopping && t->sliced == NULL && (stalled || (quiet && t->waiting == NULL));
}

/* Those that wait for what cannot be written are told so, and not left without an answer. */
static void answer_rest(struct lks_state_thread *t, struct lks_call *call)
{
    for (struct lks_call *next; call != NULL; call = next) {
        next = next_of(call);
        lks_call_problem(call, LKS_E_UNAVAILABLE, "lockstepd ends; %s",
                         call->wrote ? "whether this took effect shows when it runs again"
                                     : "try again when it runs again");
        call->at_store = NULL; /* it would not come back from there */
        finish(t, call);
    }
}

static void end_loop(struct lks_state_thread *t)
{
    answer_rest(t, t->waiting);
    answer_rest(t, t->sliced);
    t->waiting = t->sliced = NULL;
    lks_mailbox_post(&t->daemon->store->box, lks_mail_new(LKS_MAIL_STOP));
    lks_mailbox_post(&t->daemon->server->box, lks_mail_new(LKS_MAIL_STOPPED));
    uv_close((uv_handle_t *)&t->timer, NULL);
    uv_close((uv_handle_t *)&t->child, NULL);
    lks_admit_socket_close(t->admit);
    lks_decision_writer_close(&t->decisions);
    lks_mailbox_close(&t->box, lks_mail_drop);
}

/* After each run of messages: what gathered leaves, and the timer is set. */
static void after(void *ctx)
{
    struct lks_state_thread *t = ctx;
    if (uv_is_closing((uv_handle_t *)&t->timer))
        return;
    hand_over(t);
    tell_head(t);
    begin_snapshot(t);
    keep_snapshot(t);
    give_up_waiting(t);
    touch_commanded(t);
    send_post(t);
    lks_flashes_tell(t);
    if (is_done(t)) {
        end_loop(t);
        return;
    }
    lks_ms next = lks_engine_next(t->authz.engine), wait = STALL_LOOK_MS;
    bool stalled = lks_engine_stalled(t->authz.engine, NULL);
    if (t->sliced != NULL)
        wait = 0;
    else if (!stalled && !t->stopping)
        wait = next <= t->authz.now.mono ? 0 : next - t->authz.now.mono;
    if (wait > LKS_SECOND)
        wait = LKS_SECOND; /* the clocks are compared at least so often */
    uv_timer_start(&t->timer, on_timer, wait, 0);
}

/* Before changes are looked at: no step starts on a node whose scheduler is silent, also not right
 * after the start of this controller. */
static void hear_silence(struct lks_state_thread *t)
{
    struct lks_event event;
    uint32_t at = 0;
    while (!t->authz.following && !lks_engine_stalled(t->authz.engine, NULL) &&
           lks_sched_book_old(&t->authz.sched, t->authz.state, t->authz.now, &at, &event))
        (void)own_turn(t, &event);
}

static void on_timer(uv_timer_t *timer)
{
    struct lks_state_thread *t = timer->data;
    look_at_clocks(t);
    hear_silence(t);
    struct lks_event tick = {.kind = LKS_EVENT_TICK};
    for (size_t i = 0; i < TICKS_MAX && !lks_engine_stalled(t->authz.engine, NULL); i++) {
        if (lks_engine_next(t->authz.engine) > t->authz.now.mono || !own_turn(t, &tick))
            break;
    }
    lks_handle_admit_observe(&t->authz, false);
    struct lks_call *call = t->sliced;
    if (call != NULL) {
        t->sliced = next_of(call);
        take_call(t, call);
    }
    after(t);
}

/* The leader writes; what others were asked is in their own audit logs. */
static void on_audited(struct lks_state_thread *t, const struct lks_audited_mail *m)
{
    struct lks_event event = {.kind = LKS_EVENT_AUDITED, .audited = m->record};
    if (!t->authz.following && !t->stopping)
        (void)own_turn(t, &event);
}

static void deliver(void *ctx, struct lks_mail *mail)
{
    struct lks_state_thread *t = ctx;
    look_at_clocks(t);
    switch ((enum lks_mail_kind)mail->kind) {
    case LKS_MAIL_CALL:
        take_call(t, (struct lks_call *)mail);
        return;
    case LKS_MAIL_BATCH:
        on_durable(t, (struct lks_batch *)mail);
        return;
    case LKS_MAIL_BEATS:
        hear(t, (const struct lks_beats *)mail);
        break;
    case LKS_MAIL_STALLED:
        on_stalled(t, (const struct lks_stalled *)mail);
        break;
    case LKS_MAIL_NEWS:
        on_news(t, (struct lks_news *)mail);
        break;
    case LKS_MAIL_AUDITED:
        on_audited(t, (const struct lks_audited_mail *)mail);
        break;
    case LKS_MAIL_RELOAD:
        take_config(t);
        break;
    case LKS_MAIL_STOP:
        t->stopping = t->authz.draining = true;
        lks_handle_admit_observe(&t->authz, true);
        break;
    case LKS_MAIL_FLASH:
    case LKS_MAIL_FOLLOW:
    case LKS_MAIL_SNAPSHOT:
    case LKS_MAIL_POST:
    case LKS_MAIL_STOPPED:
        break;
    }
    lks_mail_drop(mail);
}

/* A question on the socket that this thread serves itself. */
static void take_question(void *ctx, struct lks_call *call)
{
    struct lks_state_thread *t = ctx;
    look_at_clocks(t);
    if (t->stopping) { /* else those who go on asking would keep us */
        lks_call_problem(call, LKS_E_UNAVAILABLE, "lockstepd is about to end");
        finish(t, call);
        return;
    }
    take_call(t, call);
    after(t);
}

static void run(void *arg)
{
    struct lks_state_thread *t = arg;
    uv_run(&t->loop, UV_RUN_DEFAULT);
    lks_engine_free(t->authz.engine);
    lks_authz_fini(&t->authz);
    free(t->told);
    free(t->post);
    uv_loop_close(&t->loop);
}

/* The content of the lost rows is not known: holds, open orders, updates in progress. */
static void freeze(struct lks_state_thread *t)
{
    struct lks_event event = {
        .kind = LKS_EVENT_FREEZE,
        .reason =
            LKS_STR("started with --accept-lost-rows: the content of the lost rows is not known"),
        .freeze = {.on = true},
    };
    own_turn(t, &event);
    t->daemon->seen.lost = false; /* once */
}

static void say_started(struct lks_state_thread *t)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    struct lks_event event = {
        .kind = LKS_EVENT_STARTED,
        .started = {lks_str_from(LKS_VERSION), lks_str_from(host)},
    };
    own_turn(t, &event);
    take_config(t);
    if (t->daemon->seen.lost)
        freeze(t);
}

/* Rows are counted from the snapshot that was used and not from the start, or a daemon that is
 * often restarted would never write one. One that could not be used does not count, whatever row it
 * claims to be of: the next one takes its place. */
static void note_snapshot(struct lks_state_thread *t)
{
    const struct lks_journal_start *start = lks_engine_start(t->authz.engine);
    char row[24];
    t->snapshot_seq = start->used;
    if (start->why.code == LKS_OK)
        return;
    t->authz.metrics.snapshots_unused++;
    snprintf(row, sizeof(row), "%" PRIu64, start->passed_over);
    const struct lks_log_field fields[] = {{"row", lks_str_from(row)},
                                           {"cause", lks_str_from(start->why.msg)}};
    lks_daemon_log(t->daemon, LKS_LEVEL_WARNING,
                   "the snapshot was not used: all rows were read instead", fields,
                   LKS_COUNT(fields));
}

static enum lks_code open_engine(struct lks_state_thread *t, struct lks_err *err)
{
    struct lks_daemon *d = t->daemon;
    const struct lks_config *config = lks_daemon_config(d);
    struct lks_store *store = &d->store->store;
    struct lks_store_tail tail = {0};
    t->confirmed = lks_lead_clock();
    t->authz.following = d->options.follow;
    if (lks_engine_open(store, &d->options, lks_daemon_now(), &t->authz.engine, err) != LKS_OK ||
        store->ops->tail(store->self, &tail, err) != LKS_OK)
        return lks_wrap(err, "%s", config->data.ptr);
    /* Behind the fold: that a row is damaged says more than that it is another one. */
    if (lks_seen_check(d, store, err) != LKS_OK ||
        lks_seen_check_file(d, t->authz.engine, store, err) != LKS_OK)
        return err->code;
    t->authz.first_row = tail.first;
    t->authz.daemon = d;
    t->authz.state = lks_engine_state(t->authz.engine);
    note_snapshot(t);
    return lks_authz_init(&t->authz, config, d->options.seed, err);
}

/* The store thread goes on from where the engine is. */
static void begin_to_follow(struct lks_state_thread *t)
{
    struct lks_follow *m = (struct lks_follow *)lks_mail_new(LKS_MAIL_FOLLOW);
    m->place = lks_engine_place(t->authz.engine);
    lks_mailbox_post(&t->daemon->store->box, &m->mail);
}

enum lks_code lks_state_thread_start(struct lks_state_thread *t, struct lks_daemon *daemon,
                                     struct lks_err *err)
{
    t->daemon = daemon;
    if (open_engine(t, err) != LKS_OK)
        return err->code;
    if (uv_loop_init(&t->loop) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a loop");
    if (lks_mailbox_init(&t->box, &t->loop, deliver, after, t, err) != LKS_OK)
        return err->code;
    uv_timer_init(&t->loop, &t->timer);
    uv_signal_init(&t->loop, &t->child);
    t->timer.data = t->child.data = t;
    uv_signal_start(&t->child, on_child, SIGCHLD);
    uv_timer_start(&t->timer, on_timer, 0, 0);
    look_at_clocks(t);
    if (lks_admit_socket_new(daemon, &t->loop, take_question, t, &t->admit, err) != LKS_OK ||
        lks_decision_writer_open(&t->decisions, daemon, &t->authz.decisions, &t->loop, err) !=
            LKS_OK)
        return err->code;
    if (t->authz.following)
        begin_to_follow(t);
    else
        say_started(t);
    if (uv_thread_create(&t->thread, run, t) != 0)
        return lks_fail(err, LKS_E_IO, "cannot start the state thread");
    return LKS_OK;
}
