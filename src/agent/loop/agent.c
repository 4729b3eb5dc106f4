#include "agent/loop/agent.h"

#include "agent/loop/memory.h"
#include "probe/root/clock.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    POLL_MAX_MS = 60 * 1000,
    STEP_MS = 1000,  /* a clock that jumped farther was set */
    THRIFT_MS = 300, /* a rest that is worth giving memory back for: to get it again takes time */
    AWAIT_MS = 1000, /* between looks for a file of the enrolment */
};

lks_ms lks_agent_now(void)
{
    return (lks_ms)lks_clock_ms();
}

int64_t lks_agent_wall(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void lks_agent_note(struct lks_agent *a, enum lks_level level, const char *msg, const char *key,
                    const char *value)
{
    struct lks_log_field fields[] = {{key, lks_str_from(key != NULL ? value : "")}};
    lks_log_event(&a->log, level, msg, fields, key != NULL);
}

void lks_agent_health(struct lks_agent *a, uint64_t bit, bool on)
{
    a->health = on ? a->health | bit : a->health & ~bit;
}

void lks_agent_spooled(struct lks_agent *a)
{
    a->link.spooled = (uint32_t)a->spool.count + (a->notices.pending ? 1 : 0);
}

/* Starting ----------------------------------------------------------------------------------- */

static enum lks_code load_controller(struct lks_agent *a, bool *known, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    enum lks_code code =
        lks_statedir_read(&a->dir, LKS_AGENT_CONTROLLER_FILE, LKS_ANSWER_MAX, &text, err);
    *known = code != LKS_E_NOT_FOUND;
    if (!*known)
        return LKS_OK;
    if (code != LKS_OK)
        return code;
    if (lks_answer_controller_parse(lks_buf_view(&text), &a->controller, err) != LKS_OK)
        return lks_wrap(err, "%s/" LKS_AGENT_CONTROLLER_FILE, a->dir.path);
    if (a->options->node != NULL && strcmp(a->options->node, a->controller.node) != 0)
        return lks_fail(err, LKS_E_REFUSED, "--node %s: this state is of node %s", a->options->node,
                        a->controller.node);
    if (a->options->agents != NULL)
        snprintf(a->controller.agents, sizeof(a->controller.agents), "%s", a->options->agents);
    return LKS_OK;
}

static enum lks_code tell_unknown(void *ctx, const struct lks_at_most_once_entry *entry,
                                  struct lks_err *err)
{
    return lks_agent_command_result(ctx, entry, err);
}

/* All that an enrolled node has. */
static enum lks_code settle(struct lks_agent *a, struct lks_err *err)
{
    if (lks_identity_load(&a->dir, &a->identity, err) != LKS_OK ||
        lks_heads_open(&a->dir, &a->controller.journal_key, a->controller.journal, &a->heads,
                       err) != LKS_OK ||
        lks_agent_reading_load(a, err) != LKS_OK)
        return err->code;
    lks_at_most_once_fini(&a->once);
    if (lks_ledger_load(&a->dir, tell_unknown, a, &a->once, err) != LKS_OK)
        return err->code;
    int64_t wall = lks_agent_wall();
    const struct lks_x509_about *about =
        a->identity.renewed ? &a->identity.about_new : &a->identity.about;
    lks_ms at = lks_link_renew_at((lks_ms)about->not_before * LKS_SECOND,
                                  (lks_ms)about->not_after * LKS_SECOND, &a->rng);
    lks_ms now = lks_agent_now();
    a->link.heartbeat = a->controller.heartbeat;
    a->link.renew_at = at > (lks_ms)wall ? now + (at - (lks_ms)wall) : now;
    lks_agent_spooled(a);
    a->inventory_at = now;
    lks_agent_health(a, LKS_HEALTH_WITNESS, a->heads.contradicted);
    if (a->options->token_file != NULL && unlink(a->options->token_file) == 0)
        lks_agent_note(a, LKS_LEVEL_INFO, "enrolled: the token's file was removed", NULL, NULL);
    return LKS_OK;
}

static enum lks_code watch_signals(struct lks_agent *a, struct lks_err *err)
{
    sigset_t set;
    (void)sigemptyset(&set);
    const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    for (size_t i = 0; i < LKS_COUNT(numbers); i++)
        (void)sigaddset(&set, numbers[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return lks_fail(err, LKS_E_IO, "cannot block signals: %s", strerror(errno));
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return lks_fail(err, LKS_E_IO, "cannot wait for signals: %s", strerror(errno));
    a->signals = fd;
    return LKS_OK;
}

static enum lks_code open_agent(struct lks_agent *a, struct lks_err *err)
{
    char path[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    bool known = false;
    lks_program_find(&a->program);
    if (getrandom(&a->rng.state, sizeof(a->rng.state), 0) != sizeof(a->rng.state))
        return lks_fail(err, LKS_E_IO, "no random numbers: %s", strerror(errno));
    if (lks_statedir_open(a->options->state, true, &a->dir, err) != LKS_OK ||
        lks_spool_open(lks_statedir_path(&a->dir, "spool", path), LKS_AGENT_SPOOL_FILES,
                       LKS_AGENT_SPOOL_BYTES, &a->log, &a->spool, err) != LKS_OK ||
        load_controller(a, &known, err) != LKS_OK)
        return err->code;
    if (!known && (a->options->controller == NULL || a->options->ca == NULL ||
                   a->options->token_file == NULL))
        return lks_fail(err, LKS_E_USAGE,
                        "%s: this node is not enrolled yet; the first start needs --controller, "
                        "--ca and --token-file (lockstep node enroll NAME gives a token)",
                        a->dir.path);
    lks_ms beat = known ? a->controller.heartbeat : 10 * LKS_SECOND;
    lks_link_init(&a->link, lks_agent_now(), beat, known, &a->rng);
    a->clock_gap = lks_agent_wall() - lks_clock_ms();
    if (watch_signals(a, err) != LKS_OK || lks_agent_command_booted(a, err) != LKS_OK)
        return err->code;
    lks_agent_notices_open(a);
    return known ? settle(a, err) : LKS_OK;
}

static void close_agent(struct lks_agent *a)
{
    lks_subtask_fini(&a->errand);
    lks_fetch_fini(&a->fetch);
    lks_agent_events_fini(&a->events);
    lks_subtask_fini(&a->load.errand);
    lks_agent_notices_close(a);
    lks_client_free(a->client);
    lks_at_most_once_fini(&a->once);
    lks_spool_close(&a->spool);
    lks_statedir_close(&a->dir);
    if (a->signals > 0)
        (void)close(a->signals);
    lks_log_fini(&a->log);
}

/* The loop ----------------------------------------------------------------------------------- */

static void hear_signals(struct lks_agent *a)
{
    struct signalfd_siginfo info;
    while (read(a->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            a->ended = true;
        if (info.ssi_signo == SIGHUP)
            a->inventory_at = lks_agent_now();
    }
}

static void errand_over(struct lks_agent *a)
{
    if (a->errand_kind == LKS_SUBTASK_READS)
        lks_agent_reading_over(a);
    else
        lks_agent_command_over(a);
    (void)malloc_trim(0);
}

/* A package with another version of ours was installed: go on as that one. Work in progress ends
 * first; everything that matters is in files. */
static void renew(struct lks_agent *a)
{
    bool busy = a->errand.active || a->fetch.errand.active || a->command != 0;
    if (a->options->argv == NULL || busy || !lks_program_replaced(&a->program))
        return;
    lks_agent_note(a, LKS_LEVEL_INFO, "our program was replaced: starting anew", "program",
                   a->program.path);
    lks_program_run(&a->program, a->options->argv);
    lks_agent_note(a, LKS_LEVEL_ERROR, "the new program does not start", "program",
                   a->program.path);
    lks_program_find(&a->program); /* another one may */
}

/* A step of the wall clock since we last looked stays said until a heartbeat was heard. */
static void watch_clock(struct lks_agent *a)
{
    int64_t gap = lks_agent_wall() - lks_clock_ms();
    if (llabs(gap - a->clock_gap) > STEP_MS) {
        lks_agent_health(a, LKS_HEALTH_CLOCK_STEPPED, true);
        lks_agent_note(a, LKS_LEVEL_WARNING, "the clock was set", NULL, NULL);
    }
    a->clock_gap = gap;
}

/* In an image the agent starts before its token is written. A file that is empty is being written.
 */
static bool is_awaited(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISREG(st.st_mode) && st.st_size == 0 : errno == ENOENT;
}

static bool await_files(struct lks_agent *a)
{
    const char *const paths[] = {a->options->token_file, a->options->ca};
    for (size_t i = 0; i < LKS_COUNT(paths); i++) {
        if (!is_awaited(paths[i]))
            continue;
        if (!a->awaits)
            lks_agent_note(a, LKS_LEVEL_WARNING,
                           "not enrolled: waiting for a file; lockstep node enroll NAME prints "
                           "the token",
                           "file", paths[i]);
        a->awaits = true;
        a->link.not_before = lks_agent_now() + AWAIT_MS;
        return true;
    }
    return false;
}

static enum lks_code enroll(struct lks_agent *a, struct lks_err *err)
{
    if (await_files(a))
        return LKS_OK;
    enum lks_code code = lks_agent_enroll(a, err);
    if (code != LKS_OK && lks_err_code_info(code)->transient) {
        lks_agent_note(a, LKS_LEVEL_WARNING, "cannot enrol yet", "why", err->msg);
        lks_link_failed(&a->link, lks_agent_now(), LKS_LINK_ENROLL, false, &a->rng);
        return LKS_OK;
    }
    if (code != LKS_OK)
        return code;
    lks_link_done(&a->link, lks_agent_now(), LKS_LINK_ENROLL, &a->rng);
    lks_agent_note(a, LKS_LEVEL_INFO, "enrolled", "node", a->controller.node);
    return settle(a, err);
}

/* Do what is due; only what makes going on pointless is a failure. */
static enum lks_code act(struct lks_agent *a, enum lks_link_act what, struct lks_err *err)
{
    if (what == LKS_LINK_ENROLL)
        return enroll(a, err);
    bool was_away = a->link.failures > 0;
    enum lks_code code = lks_agent_exchange_act(a, what, err);
    if (code == LKS_OK) {
        if (what == LKS_LINK_BEAT && was_away)
            lks_agent_note(a, LKS_LEVEL_INFO, "the controller is back", NULL, NULL);
        lks_link_done(&a->link, lks_agent_now(), what, &a->rng);
        lks_link_pace(&a->link, lks_agent_now(), a->controller.heartbeat, &a->rng);
        lks_ms due = lks_agent_notices_due(a);
        a->link.next_beat = due < a->link.next_beat ? due : a->link.next_beat;
    } else {
        if (!was_away || what != LKS_LINK_BEAT)
            lks_agent_note(a, LKS_LEVEL_WARNING, "the controller did not take it", "why", err->msg);
        lks_link_failed(&a->link, lks_agent_now(), what, code == LKS_E_DENIED, &a->rng);
    }
    lks_agent_spooled(a);
    return LKS_OK;
}

static void rest(struct lks_agent *a, lks_ms at)
{
    lks_ms now = lks_agent_now();
    if (a->link.enrolled && !a->errand.active && a->inventory_at < at)
        at = a->inventory_at;
    lks_ms load = lks_load_due(a);
    at = load < at ? load : at;
    const struct lks_subtask *errands[] = {&a->errand, &a->fetch.errand};
    for (size_t i = 0; i < LKS_COUNT(errands); i++) {
        if (errands[i]->active && (lks_ms)errands[i]->ends < at)
            at = (lks_ms)errands[i]->ends;
    }
    lks_ms wait = at > now ? at - now : 0;
    if (wait >= THRIFT_MS)
        lks_agent_memory_trim();
    struct pollfd fds[] = {
        {.fd = a->signals, .events = POLLIN},
        {.fd = a->errand.active ? a->errand.fd : -1, .events = POLLIN},
        {.fd = a->fetch.errand.active ? a->fetch.errand.fd : -1, .events = POLLIN},
        {.fd = a->load.errand.active && !a->load.deaf ? a->load.errand.fd : -1, .events = POLLIN},
        {.fd = a->notices.fd > 0 ? a->notices.fd : -1, .events = POLLIN}};
    (void)poll(fds, LKS_COUNT(fds), wait < POLL_MAX_MS ? (int)wait : POLL_MAX_MS);
    hear_signals(a);
    if (a->errand.active && lks_subtask_hear(&a->errand))
        errand_over(a);
    if (a->fetch.errand.active && lks_subtask_hear(&a->fetch.errand))
        lks_agent_fetch_over(a);
    if (a->load.errand.active)
        lks_load_hear(a);
    if (a->notices.fd > 0)
        lks_agent_notices_hear(a);
}

static enum lks_code loop(struct lks_agent *a, struct lks_err *err)
{
    while (!a->ended) {
        lks_ms at = 0, now = lks_agent_now();
        watch_clock(a);
        renew(a);
        if (a->link.enrolled && !a->errand.active && a->inventory_at <= now)
            lks_agent_reading_start(a);
        enum lks_link_act what = lks_link_next(&a->link, now, &at);
        if (what != LKS_LINK_WAIT && act(a, what, err) != LKS_OK)
            return err->code;
        lks_load_step(a);
        lks_agent_notices_publish(a);
        rest(a, at);
    }
    return LKS_OK;
}

enum lks_code lks_agent_run(const struct lks_agent_options *options, FILE *log, struct lks_err *err)
{
    LKS_CLEANUP(close_agent) struct lks_agent a = {.options = options};
    lks_log_init(&a.log, log, options->level, LKS_LOG_LOGFMT, lks_agent_wall);
    if (open_agent(&a, err) != LKS_OK || loop(&a, err) != LKS_OK)
        return err->code;
    lks_agent_note(&a, LKS_LEVEL_INFO, "ended as asked", NULL, NULL);
    return LKS_OK;
}
