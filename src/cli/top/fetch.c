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
    PAGE = 1000,      /* rows, as many as lockstepd gives */
    RETRY_MS = 1000,  /* after a request without an answer */
    LEAVE_MS = 200,   /* that a request gets to end when the program does */
    LONG_LIST = 2000, /* rows of a list that is asked for less often, */
    LONG_EVERY = 5,   /* by this factor */
    BODY_BYTES = 4096,
};

struct item {
    struct lks_top_want want;
    lks_ms due;
};

struct lks_top_fetch {
    struct lks_remote remote; /* the thread's */
    lks_ms interval;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    struct item items[LKS_TOP_WANTS_MAX];
    size_t item_count;
    uint64_t pause; /* the change to pause; 0: none */
    char reason[LKS_TOP_TEXT_MAX];
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
static void push(struct lks_top_fetch *f, enum lks_top_event_kind kind,
                 struct lks_top_answer *answer, const char *text)
{
    struct lks_top_event *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        if (answer != NULL)
            lks_top_model_answer_fini(answer);
        return;
    }
    e->kind = kind;
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
        (void)snprintf(limit, sizeof(limit), "%" PRIu64, left < PAGE ? left : PAGE);
        lks_remote_path_query(&path, "limit", lks_str_from(limit));
    }
    if (cursor->len > 0)
        lks_remote_path_query(&path, "after", lks_buf_view(cursor));
    if (lks_remote_call(&f->remote, "GET", &path, NULL, LKS_STR(""), out, err) != LKS_OK)
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
        push(f, LKS_TOP_EVENT_LOST, NULL, err.msg);
        return;
    }
    if (code != LKS_OK)
        (void)snprintf(a.failure, sizeof(a.failure), "%.*s", LKS_TOP_TEXT_MAX - 1, err.msg);
    if (f->lost)
        all_due(f, 0, false);
    f->lost = false;
    push(f, LKS_TOP_EVENT_ANSWER, &a, "");
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
    return lks_remote_call(&f->remote, "POST", &path, "application/json", lks_buf_view(&json), &a,
                           err);
}

static void do_pause(struct lks_top_fetch *f)
{
    char reason[LKS_TOP_TEXT_MAX], text[2 * LKS_TOP_TEXT_MAX];
    uint64_t change = f->pause;
    struct lks_err err = {0};
    f->pause = 0;
    memcpy(reason, f->reason, sizeof(reason));
    pthread_mutex_unlock(&f->lock);
    bool done = send_pause(f, change, reason, &err) == LKS_OK;
    if (done)
        (void)snprintf(text, sizeof(text),
                       "change %" PRIu64 " is paused; go on with: lockstep change resume %" PRIu64
                       " --reason TEXT",
                       change, change);
    else
        (void)snprintf(text, sizeof(text), "not paused: %.*s", LKS_TOP_TEXT_MAX, err.msg);
    pthread_mutex_lock(&f->lock);
    push(f, done ? LKS_TOP_EVENT_DONE : LKS_TOP_EVENT_REFUSED, NULL, text);
    all_due(f, 0, false);
}

static void *run(void *arg)
{
    struct lks_top_fetch *f = arg;
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        lks_ms when, now = clock_ms();
        struct item *item = due_item(f, &when);
        if (f->pause != 0) {
            do_pause(f);
        } else if (item != NULL && when <= now) {
            ask(f, item);
        } else if (item == NULL) {
            pthread_cond_wait(&f->changed, &f->lock);
        } else {
            const struct timespec until = {.tv_sec = (time_t)(when / LKS_SECOND),
                                           .tv_nsec = (long)(when % LKS_SECOND) * 1000000};
            (void)pthread_cond_timedwait(&f->changed, &f->lock, &until);
        }
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
    f->pause = change;
    (void)snprintf(f->reason, sizeof(f->reason), "%s", reason);
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Start and end ----------------------------------------------------------------------------- */

static void release(struct lks_top_fetch *f)
{
    struct lks_top_event *e;
    while ((e = f->first) != NULL) {
        f->first = e->next;
        lks_top_fetch_event_free(&e);
    }
    if (f->fd >= 0)
        (void)close(f->fd);
    lks_remote_fini(&f->remote);
    (void)pthread_cond_destroy(&f->changed);
    (void)pthread_mutex_destroy(&f->lock);
    free(f);
}

enum lks_code lks_top_fetch_start(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                  struct lks_top_fetch **out, struct lks_err *err)
{
    struct lks_top_fetch *f = calloc(1, sizeof(*f));
    pthread_condattr_t attr;
    if (f == NULL)
        return lks_fail_nomem(err);
    f->interval = interval;
    f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&f->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    enum lks_code code = lks_remote_open(cli, args, &f->remote, err);
    if (code == LKS_OK && (f->fd < 0 || pthread_create(&f->thread, NULL, run, f) != 0))
        code = lks_fail(err, LKS_E_UNAVAILABLE, "cannot start a thread: %s", strerror(errno));
    if (code != LKS_OK)
        release(f);
    else
        *out = f;
    return code;
}

void lks_top_fetch_stop(struct lks_top_fetch **f)
{
    struct timespec until;
    if (*f == NULL)
        return;
    pthread_mutex_lock(&(*f)->lock);
    (*f)->stop = true;
    pthread_cond_signal(&(*f)->changed);
    pthread_mutex_unlock(&(*f)->lock);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)LEAVE_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_timedjoin_np((*f)->thread, NULL, &until) == 0)
        release(*f);
    else
        (void)pthread_detach((*f)->thread); /* it still uses what it has */
    *f = NULL;
}
