/* Many runs at once. A world is made once; each run is a child that has it as it was, tells what
 * came of it through a pipe, and ends. */
#include "base/term/progress.h"
#include "base/vec.h"
#include "cli/change/cmd_rehearse.h"
#include "lab/rehearse/eta.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 256, POLL_MS = 200 };

/* What a child says: how it ended, and if that is well, the run. */
struct said {
    struct lks_err err;
    struct lks_rehearsed run;
};

struct child {
    pid_t pid; /* 0: none */
    int pipe;
    size_t got;
    uint64_t seed;
    lks_ms begun;
    struct said *said; /* owned */
};

struct many {
    struct child children[JOBS_MAX];
    unsigned jobs, running;
    uint64_t next, end; /* seeds */
    struct lks_world *world;
    const struct lks_rehearse_faults *faults;
    struct lks_rehearse_runs *out;
    struct lks_eta remains;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static lks_ms now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

/* The child's side ---------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t wrote = write(fd, at, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        at += wrote;
        len -= (size_t)wrote;
    }
    return true;
}

_Noreturn static void be_child(struct many *m, uint64_t seed, int fd)
{
    struct said *said = calloc(1, sizeof(*said));
    (void)signal(SIGINT, SIG_IGN); /* the parent ends us */
    if (said == NULL)
        _exit(EXIT_FAILURE);
    enum lks_code code = lks_world_run(m->world, seed, m->faults, NULL, &said->run, &said->err);
    said->err.code = code;
    _exit(write_all(fd, said, sizeof(*said)) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The parent's -------------------------------------------------------------------------------- */

static enum lks_code start(struct many *m, struct child *c, struct lks_err *err)
{
    int ends[2];
    if (c->said == NULL)
        c->said = calloc(1, sizeof(*c->said));
    if (c->said == NULL)
        return lks_fail_nomem(err);
    if (pipe(ends) != 0)
        return lks_fail(err, LKS_E_IO, "rehearse: no pipe: %s", strerror(errno));
    uint64_t seed = m->next++;
    m->remains.kinds[lks_rehearse_bad(m->faults, seed)].waiting--;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        be_child(m, seed, ends[1]);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return lks_fail(err, LKS_E_IO, "rehearse: no process: %s", strerror(errno));
    }
    c->pid = pid;
    c->pipe = ends[0];
    c->got = 0;
    c->seed = seed;
    c->begun = now_ms();
    m->running++;
    return LKS_OK;
}

static void reap(struct many *m, struct child *c)
{
    int status;
    (void)close(c->pipe);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    c->pid = 0;
    m->running--;
}

static enum lks_code keep(struct many *m, const struct child *c, struct lks_err *err)
{
    struct lks_rehearse_runs *out = m->out;
    if (c->got != sizeof(*c->said))
        return lks_fail(err, LKS_E_IO, "rehearse: a run ended without a word");
    if (c->said->err.code != LKS_OK) {
        *err = c->said->err;
        return err->code;
    }
    if (LKS_VEC_RESERVE(out->list, out->room, out->count + 1, err) != LKS_OK)
        return err->code;
    struct lks_eta_kind *kind = &m->remains.kinds[lks_rehearse_bad(m->faults, c->seed)];
    kind->done++;
    kind->took += now_ms() - c->begun;
    out->list[out->count++] = c->said->run;
    return LKS_OK;
}

/* What came through the pipe; at its end the run is over. */
static enum lks_code hear(struct many *m, struct child *c, struct lks_err *err)
{
    ssize_t got = read(c->pipe, (char *)c->said + c->got, sizeof(*c->said) - c->got);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN
                   ? LKS_OK
                   : lks_fail(err, LKS_E_IO, "rehearse: %s", strerror(errno));
    c->got += (size_t)got;
    if (got > 0 && c->got < sizeof(*c->said))
        return LKS_OK;
    reap(m, c);
    return keep(m, c, err);
}

static enum lks_code wait_some(struct many *m, struct lks_err *err)
{
    struct pollfd polls[JOBS_MAX];
    nfds_t count = 0;
    for (unsigned i = 0; i < m->jobs; i++)
        if (m->children[i].pid != 0)
            polls[count++] = (struct pollfd){.fd = m->children[i].pipe, .events = POLLIN};
    if (poll(polls, count, POLL_MS) < 0 && errno != EINTR)
        return lks_fail(err, LKS_E_IO, "rehearse: %s", strerror(errno));
    for (unsigned i = 0, at = 0; i < m->jobs; i++) {
        if (m->children[i].pid == 0)
            continue;
        bool ready = (polls[at++].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
        if (ready && hear(m, &m->children[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static lks_ms left(const struct many *m, lks_ms now)
{
    struct lks_eta_run running[JOBS_MAX];
    size_t count = 0;
    for (unsigned i = 0; i < m->jobs; i++) {
        const struct child *c = &m->children[i];
        if (c->pid != 0)
            running[count++] =
                (struct lks_eta_run){lks_rehearse_bad(m->faults, c->seed), now - c->begun};
    }
    return lks_eta(&m->remains, running, count);
}

static enum lks_code go(struct many *m, struct lks_progress *progress, struct lks_err *err)
{
    while (!stopped && (m->next < m->end || m->running > 0)) {
        for (unsigned i = 0; i < m->jobs && m->next < m->end; i++)
            if (m->children[i].pid == 0 && start(m, &m->children[i], err) != LKS_OK)
                return err->code;
        if (wait_some(m, err) != LKS_OK)
            return err->code;
        lks_ms now = now_ms();
        progress->left = left(m, now);
        lks_progress_at(progress, m->out->count, now);
    }
    return LKS_OK;
}

static void clean_up(struct many *m)
{
    for (unsigned i = 0; i < m->jobs; i++) {
        if (m->children[i].pid != 0) {
            (void)kill(m->children[i].pid, SIGKILL);
            reap(m, &m->children[i]);
        }
        free(m->children[i].said);
    }
}

static int by_seed(const void *left, const void *right)
{
    const struct lks_rehearsed *a = left, *b = right;
    return (a->seed > b->seed) - (a->seed < b->seed);
}

enum lks_code lks_rehearse_many(struct lks_cli *cli, struct lks_world *w, uint64_t first,
                                uint64_t count, unsigned jobs,
                                const struct lks_rehearse_faults *faults,
                                struct lks_rehearse_runs *out, struct lks_err *err)
{
    long there = sysconf(_SC_NPROCESSORS_ONLN);
    struct lks_progress progress;
    struct sigaction before, stop = {.sa_handler = on_signal};
    struct many m = {.jobs = jobs > 0    ? jobs
                             : there > 0 ? (unsigned)there
                                         : 1,
                     .next = first,
                     .end = first + count,
                     .world = w,
                     .faults = faults,
                     .out = out};
    m.jobs = m.jobs < JOBS_MAX ? m.jobs : JOBS_MAX;
    m.remains.jobs = m.jobs;
    for (uint64_t seed = m.next; seed < m.end; seed++)
        m.remains.kinds[lks_rehearse_bad(faults, seed)].waiting++;
    stopped = 0;
    sigaction(SIGINT, &stop, &before);
    lks_progress_init(&progress, cli->err, &cli->term, "rehearsing", count);
    lks_progress_at(&progress, 0, now_ms());
    (void)fflush(cli->out);
    enum lks_code code = go(&m, &progress, err);
    clean_up(&m);
    lks_progress_end(&progress, now_ms());
    sigaction(SIGINT, &before, NULL);
    if (code == LKS_OK && out->count == 0)
        code = lks_fail(err, LKS_E_UNAVAILABLE, "rehearse: ended before the first run finished");
    if (out->count > 0)
        qsort(out->list, out->count, sizeof(out->list[0]), by_seed);
    return code;
}
