#include "cli/top/fetch.h"

#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    RETRY_MS = 1000, /* after a request without an answer */
    LEAVE_MS = 200,  /* that a request for data gets to end when the program does */
    PAUSES_MAX = 16, /* that wait for lockstepd */
    INTERRUPT_MS = 100,
    LONG_LIST = 2000, /* rows of a list that is asked for less often, */
    LONG_EVERY = 5,   /* by this factor */
    BODY_BYTES = 4096,
};

struct item {
    struct lks_top_want want;
    lks_ms due;
};

struct pause {
    uint64_t change;
    char reason[LKS_TOP_TEXT_MAX];
};

struct lks_top_fetch {
    struct lks_remote data, acts; /* each is one thread's */
    lks_ms interval;
    int fd;
    pthread_t reader, pauser;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed, queued, acknowledged;
    struct item items[LKS_TOP_WANTS_MAX];
    size_t item_count;
    struct pause pauses[PAUSES_MAX]; /* the first is sent, the others wait */
    size_t pause_count;
    struct lks_top_event *first, *last;
    bool stop, lost;
};

static lks_ms clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (lks_ms)now.tv_sec * LKS_SECOND + (lks_ms)now.tv_nsec / 1000000;
}

void lks_top_fetch_event_free(struct lks_top_event **e)
{
    if (*e != NULL)
        lks_top_model_answer_fini(&(*e)->answer);
    free(*e);
    *e = NULL;
}

/* Events ------------------------------------------------------------------------------------ */

/* With the lock held. What `answer` owns is the event's. */
static void push(struct lks_top_fetch *f, enum lks_top_event_kind kind, enum lks_code code,
                 struct lks_top_answer *answer, const char *text)
{
    struct lks_top_event *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        if (answer != NULL)
            lks_top_model_answer_fini(answer);
        return;
    }
    e->kind = kind;
    e->code = code;
    if (answer != NULL)
        e->answer = LKS_MOVE(*answer);
    (void)snprintf(e->text, sizeof(e->text), "%s", text);
    if (f->first == NULL)
        f->first = e;
    else
        f->last->next = e;
    f->last = e;
    (void)eventfd_write(f->fd, 1);
}

struct lks_top_event *lks_top_fetch_take(struct lks_top_fetch *f)
{
    eventfd_t count;
    pthread_mutex_lock(&f->lock);
    struct lks_top_event *e = f->first;
    if (e != NULL)
        f->first = e->next;
    else
        (void)eventfd_read(f->fd, &count);
    pthread_mutex_unlock(&f->lock);
    return e;
}

int lks_top_fetch_fd(const struct lks_top_fetch *f)
{
    return f->fd;
}

/* Requests ---------------------------------------------------------------------------------- */

static enum lks_code get_page(struct lks_top_fetch *f, const struct lks_top_want *want,
                              uint64_t have, const struct lks_buf *cursor,
                              struct lks_remote_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    char limit[32];
    uint64_t left = want->most > have ? want->most - have : 0;
    lks_remote_path_init(&path, want->path);
    path.has_query = strchr(want->path, '?') != NULL;
    if (want->most > 0) {
        (void)snprintf(limit, sizeof(limit), "%" PRIu64, left < LKS_TOP_PAGE ? left : LKS_TOP_PAGE);
        lks_remote_path_query(&path, "limit", lks_str_from(limit));
    }
    if (cursor->len > 0)
        lks_remote_path_query(&path, "after", lks_buf_view(cursor));
    if (lks_remote_call(&f->data, "GET", &path, NULL, LKS_STR(""), out, err) != LKS_OK)
        return err->code;
    return lks_remote_object(out, err);
}

/* All pages of a list that are in reach, or the one answer. */
static enum lks_code get_pages(struct lks_top_fetch *f, const struct lks_top_want *want,
                               struct lks_top_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cursor = LKS_BUF(LKS_REMOTE_PATH_MAX);
    for (uint64_t have = 0;;) {
        LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer a = {0};
        if (get_page(f, want, have, &cursor, &a, err) != LKS_OK)
            return err->code;
        const struct lks_doc *items = lks_doc_member(a.doc, "items");
        struct lks_str next = lks_doc_text(a.doc, "next");
        have += items != NULL ? items->count : 0;
        bool again = want->most > 0 && next.len > 0 && !lks_str_eq(next, lks_buf_view(&cursor));
        out->more = again;
        lks_buf_truncate(&cursor, 0);
        lks_buf_add(&cursor, next);
        if (lks_buf_check(&cursor, err) != LKS_OK ||
            LKS_VEC_ADD(out->pages, out->room, out->count, UINT32_MAX, a, err) != LKS_OK)
            return err->code;
        a = (struct lks_remote_answer){0};
        if (!again || have >= want->most)
            return LKS_OK;
    }
}

/* With the lock held: what is due next, or NULL. */
static struct item *due_item(struct lks_top_fetch *f, lks_ms *when)
{
    struct item *found = NULL;
    for (size_t i = 0; i < f->item_count; i++) {
        if (found == NULL || f->items[i].due < found->due)
            found = &f->items[i];
    }
    *when = found != NULL ? found->due : UINT64_MAX;
    return found;
}

static void all_due(struct lks_top_fetch *f, lks_ms when, bool later)
{
    for (size_t i = 0; i < f->item_count; i++) {
        if (!later || f->items[i].due < when)
            f->items[i].due = when;
    }
}

/* With the lock held, which is not while lockstepd is asked. */
static void ask(struct lks_top_fetch *f, struct item *item)
{
    LKS_CLEANUP(lks_top_model_answer_fini) struct lks_top_answer a = {0};
    const struct lks_top_want want = item->want;
    struct lks_err err = {0};
    bool is_long = want.most > LONG_LIST;
    item->due = clock_ms() + f->interval * want.every * (is_long ? LONG_EVERY : 1);
    pthread_mutex_unlock(&f->lock);
    (void)snprintf(a.path, sizeof(a.path), "%s", want.path);
    a.most = want.most;
    enum lks_code code = get_pages(f, &want, &a, &err);
    pthread_mutex_lock(&f->lock);
    if (code != LKS_OK && lks_err_code_info(code)->transient) {
        f->lost = true;
        all_due(f, clock_ms() + RETRY_MS, true);
        push(f, LKS_TOP_EVENT_LOST, code, NULL, err.msg);
        return;
    }
    if (code != LKS_OK)
        (void)snprintf(a.failure, sizeof(a.failure), "%.*s", LKS_TOP_TEXT_MAX - 1, err.msg);
    if (f->lost)
        all_due(f, 0, false);
    f->lost = false;
    push(f, LKS_TOP_EVENT_ANSWER, code, &a, "");
}

/* The same request as that of `change pause`. */
static enum lks_code send_pause(struct lks_top_fetch *f, uint64_t change, const char *reason,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BODY_BYTES);
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer a = {0};
    struct lks_json_writer w = {.out = &json};
    char id[32];
    (void)snprintf(id, sizeof(id), "%" PRIu64, change);
    lks_remote_path_init(&path, "/v1/changes");
    lks_remote_path_add(&path, lks_str_from(id));
    lks_remote_path_add(&path, LKS_STR("pause"));
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "reason", reason);
    lks_json_end(&w, '}');
    if (lks_buf_check(&json, err) != LKS_OK)
        return err->code;
    return lks_remote_call(&f->acts, "POST", &path, "application/json", lks_buf_view(&json), &a,
                           err);
}

/* With the lock held: how the pause of a change ended. */
static void push_pause(struct lks_top_fetch *f, uint64_t change, enum lks_code code,
                       const char *why)
{
    char text[2 * LKS_TOP_TEXT_MAX];
    bool done = code == LKS_OK;
    if (done)
        (void)snprintf(text, sizeof(text),
                       "change %" PRIu64 " is paused; go on with: lockstep change resume %" PRIu64
                       " --reason TEXT",
                       change, change);
    else
        (void)snprintf(text, sizeof(text), "change %" PRIu64 " was not paused: %.*s", change,
                       LKS_TOP_TEXT_MAX, why);
    push(f, done ? LKS_TOP_EVENT_DONE : LKS_TOP_EVENT_REFUSED, code, NULL, text);
}

/* With the lock held, which is not while lockstepd is asked. */
static void do_pause(struct lks_top_fetch *f)
{
    const struct pause p = f->pauses[0];
    struct lks_err err = {0};
    pthread_mutex_unlock(&f->lock);
    enum lks_code code = send_pause(f, p.change, p.reason, &err);
    pthread_mutex_lock(&f->lock);
    if (f->stop) /* it was given up, and reported so */
        return;
    LKS_VEC_REMOVE(f->pauses, f->pause_count, 0);
    push_pause(f, p.change, code, err.msg);
    all_due(f, 0, false);
    pthread_cond_signal(&f->changed);
    pthread_cond_signal(&f->acknowledged);
}

static void *run_pauses(void *arg)
{
    struct lks_top_fetch *f = arg;
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        if (f->pause_count > 0)
            do_pause(f);
        else
            pthread_cond_wait(&f->queued, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, lks_ms when)
{
    const struct timespec until = {.tv_sec = (time_t)(when / LKS_SECOND),
                                   .tv_nsec = (long)(when % LKS_SECOND) * 1000000};
    (void)pthread_cond_timedwait(cond, lock, &until);
}

static void *run_reads(void *arg)
{
    struct lks_top_fetch *f = arg;
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        lks_ms when, now = clock_ms();
        struct item *item = due_item(f, &when);
        if (item != NULL && when <= now)
            ask(f, item);
        else if (item == NULL)
            pthread_cond_wait(&f->changed, &f->lock);
        else
            wait_until(&f->changed, &f->lock, when);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* What the screen says ---------------------------------------------------------------------- */

void lks_top_fetch_want(struct lks_top_fetch *f, const struct lks_top_want *wants, size_t count,
                        bool now)
{
    struct item items[LKS_TOP_WANTS_MAX] = {0};
    bool news = now;
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < count; i++) {
        const struct item *old =
            LKS_VEC_FIND(f->items, f->item_count, it, strcmp(it->want.path, wants[i].path) == 0);
        items[i] = (struct item){.want = wants[i]};
        if (!now && old != NULL && old->want.most >= wants[i].most)
            items[i].due = old->due;
        news = news || items[i].due == 0;
    }
    memcpy(f->items, items, count * sizeof(items[0]));
    f->item_count = count;
    if (news)
        pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

void lks_top_fetch_pause(struct lks_top_fetch *f, uint64_t change, const char *reason)
{
    pthread_mutex_lock(&f->lock);
    if (LKS_VEC_FIND(f->pauses, f->pause_count, it, it->change == change) != NULL) {
        /* its answer is on the way */
    } else if (f->pause_count == PAUSES_MAX) {
        push_pause(f, change, LKS_E_LIMIT, "16 pauses wait for an answer; try again");
    } else {
        struct pause *p = &f->pauses[f->pause_count++];
        p->change = change;
        (void)snprintf(p->reason, sizeof(p->reason), "%s", reason);
        pthread_cond_signal(&f->queued);
    }
    pthread_mutex_unlock(&f->lock);
}

/* Start ------------------------------------------------------------------------------------- */

static void release(struct lks_top_fetch *f)
{
    struct lks_top_event *e;
    while ((e = f->first) != NULL) {
        f->first = e->next;
        lks_top_fetch_event_free(&e);
    }
    if (f->fd >= 0)
        (void)close(f->fd);
    lks_remote_fini(&f->data);
    lks_remote_fini(&f->acts);
    (void)pthread_cond_destroy(&f->changed);
    (void)pthread_cond_destroy(&f->queued);
    (void)pthread_cond_destroy(&f->acknowledged);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
}

/* With the lock held. */
static void stop_threads(struct lks_top_fetch *f)
{
    f->stop = true;
    pthread_cond_signal(&f->changed);
    pthread_cond_signal(&f->queued);
}

static enum lks_code start_threads(struct lks_top_fetch *f, struct lks_err *err)
{
    int failed = pthread_create(&f->reader, NULL, run_reads, f);
    if (failed != 0)
        return lks_fail(err, LKS_E_UNAVAILABLE, "cannot start a thread: %s", strerror(failed));
    failed = pthread_create(&f->pauser, NULL, run_pauses, f);
    if (failed == 0)
        return LKS_OK;
    pthread_mutex_lock(&f->lock);
    stop_threads(f);
    pthread_mutex_unlock(&f->lock);
    (void)pthread_join(f->reader, NULL);
    return lks_fail(err, LKS_E_UNAVAILABLE, "cannot start a thread: %s", strerror(failed));
}

static void init_locks(struct lks_top_fetch *f)
{
    pthread_condattr_t attr;
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&f->changed, &attr);
    (void)pthread_cond_init(&f->queued, &attr);
    (void)pthread_cond_init(&f->acknowledged, &attr);
    (void)pthread_condattr_destroy(&attr);
}

enum lks_code lks_top_fetch_start(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                  struct lks_top_fetch **out, struct lks_err *err)
{
    struct lks_top_fetch *f = calloc(1, sizeof(*f));
    if (f == NULL)
        return lks_fail_nomem(err);
    f->interval = interval;
    init_locks(f);
    f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum lks_code code = LKS_OK;
    if (f->fd < 0)
        code = lks_fail(err, LKS_E_IO, "eventfd: %s", strerror(errno));
    if (code == LKS_OK)
        code = lks_remote_open(cli, args, &f->data, err);
    if (code == LKS_OK)
        code = lks_remote_open(cli, args, &f->acts, err);
    if (code == LKS_OK)
        code = start_threads(f, err);
    if (code != LKS_OK)
        release(f);
    else
        *out = f;
    return code;
}

/* End --------------------------------------------------------------------------------------- */

/* With the lock held. Each pause gets the time that a request has. */
static void await_pauses(struct lks_top_fetch *f, struct lks_cli *cli,
                         const volatile sig_atomic_t *interrupted)
{
    for (size_t i = 0; i < f->pause_count; i++)
        fprintf(cli->err, "pausing change %" PRIu64 " ...\n", f->pauses[i].change);
    (void)fflush(cli->err);
    lks_ms until = clock_ms() + LKS_REMOTE_TIMEOUT_MS;
    for (size_t left = f->pause_count; f->pause_count > 0 && !*interrupted;) {
        lks_ms now = clock_ms();
        if (f->pause_count < left)
            until = now + LKS_REMOTE_TIMEOUT_MS;
        left = f->pause_count;
        if (now >= until)
            break;
        wait_until(&f->acknowledged, &f->lock, now + INTERRUPT_MS);
    }
    for (size_t i = 0; i < f->pause_count; i++)
        push_pause(f, f->pauses[i].change, LKS_E_TIMEOUT,
                   *interrupted ? "interrupted" : "no answer in time");
}

/* What no screen showed any more of how pauses ended. */
static enum lks_code report(struct lks_top_fetch *f, struct lks_cli *cli, struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    for (struct lks_top_event *e; (e = lks_top_fetch_take(f)) != NULL;
         lks_top_fetch_event_free(&e)) {
        if (e->kind == LKS_TOP_EVENT_DONE)
            fprintf(cli->err, "%s\n", e->text);
        if (e->kind != LKS_TOP_EVENT_REFUSED)
            continue;
        if (code != LKS_OK)
            fprintf(cli->err, "lockstep: %s\n", err->msg);
        code = lks_fail(err, e->code, "%s", e->text);
    }
    return code;
}

enum lks_code lks_top_fetch_stop(struct lks_top_fetch **fetch, struct lks_cli *cli,
                                 const volatile sig_atomic_t *interrupted, struct lks_err *err)
{
    struct lks_top_fetch *f = *fetch;
    struct timespec until;
    pthread_mutex_lock(&f->lock);
    await_pauses(f, cli, interrupted);
    stop_threads(f);
    pthread_mutex_unlock(&f->lock);
    enum lks_code code = report(f, cli, err);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)LEAVE_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    cli->at_once = pthread_timedjoin_np(f->reader, NULL, &until) != 0;
    cli->at_once = pthread_timedjoin_np(f->pauser, NULL, &until) != 0 || cli->at_once;
    if (!cli->at_once) /* else a thread still uses it */
        release(f);
    *fetch = NULL;
    return code;
}
