#include "drivers/http/talks.h"

#include "base/heap.h"
#include "base/vec.h"

#include <stdlib.h>
#include <time.h>

enum {
    ALL_MAX = 256,
    SITE_MAX = 64,
    WIDE_MAX = 256, /* exchanges at a time with all peers that take several */
    BUCKETS = 16384,
    BACKOFF_STEPS = 6, /* doublings until the longest */
};

/* Who waits for what, in the order of coming. */
struct queue {
    struct lks_dialog *first, *last;
};

/* So many may pass at a time. A dialog goes through three before it sends: its peer's, its site's
 * and that of all, in this order, so that no two can wait for each other. One with a peer that
 * takes several requests goes through two: slow devices do not delay it, nor it them. */
struct gate {
    unsigned used, max;
    struct queue waiting;
};
enum { GATES = 3, GATES_WIDE = 2 };

struct peer {
    struct peer *next; /* of its bucket */
    char *url;
    char *token; /* of a session that was left open, or NULL */
    struct gate gate;
    unsigned dialogs, failures, round; /* exchanges of one round fail together: once */
    lks_ms rest_until;                 /* not asked before */
};

enum state {
    ADDED,   /* its owner is still preparing it */
    READY,   /* in the queue of those to go on */
    QUEUED,  /* at a gate */
    WAITING, /* in the heap */
    SAVING,  /* its owner writes */
    SENDING, /* an exchange is in progress */
};

struct lks_dialog {
    struct lks_talks *talks;
    struct lks_dialog *next, *previous; /* in `queue` */
    struct queue *queue;
    uint32_t slot; /* its place in the list and its id in the heap */
    enum state state;
    struct peer *peer;
    uint32_t site;
    char *ca, *fingerprint, *certificate, *key;
    bool plain, impatient, wide;
    const struct lks_conversation_ops *ops;
    void *value;
    void *ctx;
    unsigned held;  /* gates passed */
    unsigned round; /* the peer's, when the exchange began */
    bool durable;   /* what it says now was saved */
    bool heard;     /* the peer answered at all */
    struct lks_talk talk;
    uint64_t length; /* of the body in progress */
    struct lks_curl_exchange *exchange;
    struct lks_err trouble;
};

struct lks_talks {
    struct lks_talks_options options;
    struct lks_curl *curl;
    struct lks_dialog **dialogs; /* by slot; NULL: free */
    uint32_t *free_slots;
    uint32_t slots, free_count, count;
    struct lks_heap timers;
    struct queue ready;
    struct gate all, wide;
    struct gate *sites; /* LKS_TALKS_SITES_MAX */
    struct peer *peers[BUCKETS];
    lks_ms wall, since; /* a moment on both clocks */
};

/* Time -------------------------------------------------------------------------------------- */

static lks_ms read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

/* The wall's time as it was at the start, and what passed since: a change of the clock does not
 * affect that. */
lks_ms lks_talks_now(struct lks_talks *t)
{
    if (t->options.clock != NULL)
        return t->options.clock(t->options.clock_ctx);
    return t->wall + (read_clock(CLOCK_MONOTONIC) - t->since);
}

/* Queues and gates -------------------------------------------------------------------------- */

static void queue_add(struct queue *q, struct lks_dialog *d)
{
    LKS_ASSERT(d->queue == NULL);
    d->queue = q;
    d->next = NULL;
    d->previous = q->last;
    if (q->last != NULL)
        q->last->next = d;
    else
        q->first = d;
    q->last = d;
}

static void queue_remove(struct lks_dialog *d)
{
    struct queue *q = d->queue;
    if (q == NULL)
        return;
    *(d->previous != NULL ? &d->previous->next : &q->first) = d->next;
    *(d->next != NULL ? &d->next->previous : &q->last) = d->previous;
    d->queue = NULL;
}

static void make_ready(struct lks_dialog *d)
{
    d->state = READY;
    queue_add(&d->talks->ready, d);
}

static struct gate *gate_of(struct lks_dialog *d, unsigned i)
{
    struct lks_talks *t = d->talks;
    struct gate *const gates[GATES] = {&d->peer->gate, d->wide ? &t->wide : &t->sites[d->site],
                                       &t->all};
    return gates[i];
}

/* A peer that failed is tried by one conversation until it answers. */
static unsigned limit_of(struct lks_dialog *d, unsigned i)
{
    return i == 0 && d->peer->failures > 0 ? 1 : gate_of(d, i)->max;
}

/* Through all gates, or it waits at the first that is full. */
static bool pass_gates(struct lks_dialog *d)
{
    for (; d->held < (d->wide ? GATES_WIDE : GATES); d->held++) {
        struct gate *g = gate_of(d, d->held);
        if (g->used >= limit_of(d, d->held)) {
            d->state = QUEUED;
            queue_add(&g->waiting, d);
            return false;
        }
        g->used++;
    }
    return true;
}

/* The place that was counted goes to the dialog that waited longest for it. */
static void let_in(struct gate *g)
{
    struct lks_dialog *waiting = g->waiting.first;
    queue_remove(waiting);
    waiting->held++;
    make_ready(waiting);
}

static void leave_gates(struct lks_dialog *d)
{
    while (d->held > 0) {
        struct gate *g = gate_of(d, --d->held);
        if (g->waiting.first != NULL && g->used <= limit_of(d, d->held))
            let_in(g);
        else
            g->used--;
    }
}

/* Peers ------------------------------------------------------------------------------------- */

static struct peer **find_place(const struct lks_talks *t, const char *url)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *c = url; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    struct peer **place = (struct peer **)&t->peers[(hash ^ hash >> 32) % BUCKETS];
    while (*place != NULL && strcmp((*place)->url, url) != 0)
        place = &(*place)->next;
    return place;
}

static struct peer *get_peer(struct lks_talks *t, const char *url)
{
    struct peer **place = find_place(t, url);
    if (*place != NULL)
        return *place;
    struct peer *p = calloc(1, sizeof(*p));
    char *copy = strdup(url);
    if (p == NULL || copy == NULL) {
        free(p);
        free(copy);
        return NULL;
    }
    p->url = copy;
    p->gate.max = 1;
    *place = p;
    return p;
}

static void free_token(struct peer *p)
{
    if (p->token != NULL)
        explicit_bzero(p->token, strlen(p->token));
    free(p->token);
    p->token = NULL;
}

/* Gone, unless something of it is still worth knowing. */
static void put_peer(struct lks_talks *t, struct peer *p)
{
    if (p->dialogs > 0 || p->token != NULL || p->failures > 0)
        return;
    *find_place(t, p->url) = p->next;
    free(p->url);
    free(p);
}

const char *lks_talks_token(const struct lks_talks *t, const char *url)
{
    const struct peer *p = *find_place(t, url);
    return p != NULL && p->token != NULL ? p->token : "";
}

void lks_talks_keep(struct lks_talks *t, const char *url, const char *token)
{
    struct peer *p = get_peer(t, url);
    if (p == NULL) /* no memory: the next one logs in again */
        return;
    char *copy = token[0] != '\0' ? strdup(token) : NULL;
    free_token(p);
    p->token = copy;
    put_peer(t, p);
}

/* It did not answer: the next one waits, twice as long each time. */
static void back_off(struct peer *p, lks_ms now)
{
    lks_ms rest = LKS_SECOND << (p->failures < BACKOFF_STEPS ? p->failures : BACKOFF_STEPS);
    p->failures++;
    p->round++;
    p->rest_until = now + (rest < LKS_TALKS_BACKOFF_MAX ? rest : LKS_TALKS_BACKOFF_MAX);
}

/* It answered: all that its limit allows may ask again. */
static void recover(struct peer *p)
{
    p->failures = 0;
    p->rest_until = 0;
    for (struct gate *g = &p->gate; g->waiting.first != NULL && g->used < g->max; g->used++)
        let_in(g);
}

/* Dialogs ----------------------------------------------------------------------------------- */

static void free_dialog(struct lks_dialog *d)
{
    struct lks_talks *t = d->talks;
    queue_remove(d);
    (void)lks_heap_remove(&t->timers, d->slot);
    if (d->exchange != NULL)
        lks_curl_cancel(t->curl, d->exchange);
    if (d->peer != NULL) {
        leave_gates(d);
        d->peer->dialogs--;
        put_peer(t, d->peer);
    }
    t->dialogs[d->slot] = NULL;
    t->free_slots[t->free_count++] = d->slot;
    t->count--;
    if (d->value != NULL)
        explicit_bzero(d->value, d->ops->size); /* it holds the secrets it was begun with */
    free(d->value);
    lks_conversation_talk_fini(&d->talk);
    free(d->ca);
    free(d->fingerprint);
    free(d->certificate);
    free(d->key);
    free(d);
}

/* Room for one more; the next free place is the last of the list. */
static enum lks_code make_room(struct lks_talks *t, struct lks_err *err)
{
    if (t->count >= LKS_TALKS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%d conversations are in progress already",
                        LKS_TALKS_MAX);
    if (t->free_count > 0)
        return LKS_OK;
    uint32_t before = t->slots, free_room = before; /* the arrays grow together */
    if (LKS_VEC_RESERVE(t->free_slots, free_room, before + 1, err) != LKS_OK ||
        LKS_VEC_RESERVE(t->dialogs, t->slots, before + 1, err) != LKS_OK)
        return err->code;
    for (uint32_t i = t->slots; i-- > before;)
        t->free_slots[t->free_count++] = i;
    return LKS_OK;
}

static bool copy_text(const char *from, char **out)
{
    *out = from != NULL ? strdup(from) : NULL;
    return from == NULL || *out != NULL;
}

/* Conversations of two kinds with one peer have the lower limit. */
static void join_peer(struct peer *p, unsigned lanes)
{
    unsigned max = lanes > 0 ? lanes : 1;
    if (p->dialogs++ == 0 || max < p->gate.max)
        p->gate.max = max;
}

enum lks_code lks_talks_add(struct lks_talks *t, const struct lks_dialog_options *options,
                            struct lks_dialog **out, struct lks_err *err)
{
    LKS_ASSERT(options->site < LKS_TALKS_SITES_MAX && options->lanes <= LKS_TALKS_LANES_MAX);
    if (lks_curl_url_check(options->peer.url, options->peer.plain, err) != LKS_OK ||
        make_room(t, err) != LKS_OK)
        return err->code;
    struct lks_dialog *d = calloc(1, sizeof(*d));
    if (d == NULL)
        return lks_fail_nomem(err);
    *d = (struct lks_dialog){.talks = t,
                             .slot = t->free_slots[--t->free_count],
                             .site = options->site,
                             .plain = options->peer.plain,
                             .impatient = options->impatient,
                             .wide = options->lanes > 1,
                             .ops = options->ops,
                             .ctx = options->ctx};
    lks_conversation_talk_init(&d->talk);
    t->dialogs[d->slot] = d;
    t->count++;
    d->peer = get_peer(t, options->peer.url);
    if (d->peer != NULL)
        join_peer(d->peer, options->lanes);
    d->value = calloc(1, options->ops->size);
    if (d->peer == NULL || d->value == NULL || !copy_text(options->peer.ca, &d->ca) ||
        !copy_text(options->peer.fingerprint, &d->fingerprint) ||
        !copy_text(options->peer.certificate, &d->certificate) ||
        !copy_text(options->peer.key, &d->key)) {
        free_dialog(d);
        return lks_fail_nomem(err);
    }
    *out = d;
    return LKS_OK;
}

void *lks_talks_value(struct lks_dialog *d)
{
    return d->value;
}

void *lks_talks_ctx(const struct lks_dialog *d)
{
    return d->ctx;
}

void lks_talks_sent(const struct lks_dialog *d, uint64_t *sent, uint64_t *total)
{
    *sent = d->exchange != NULL ? lks_curl_sent(d->exchange) : 0;
    *total = d->exchange != NULL ? d->length : 0;
}

const struct lks_err *lks_talks_trouble(const struct lks_dialog *d)
{
    return &d->trouble;
}

void lks_talks_cancel(struct lks_talks *t, struct lks_dialog *d)
{
    LKS_ASSERT(d->talks == t);
    free_dialog(d);
}

size_t lks_talks_count(const struct lks_talks *t)
{
    return t->count;
}

void lks_talks_wake(struct lks_talks *t)
{
    lks_curl_wake(t->curl);
}

/* Going on ---------------------------------------------------------------------------------- */

static void feed(struct lks_dialog *d, const struct lks_http_response *answer)
{
    struct lks_talks *t = d->talks;
    d->durable = false;
    lks_conversation_feed(d->ops, d->value, lks_talks_now(t), answer);
    make_ready(d);
}

void lks_talks_start(struct lks_talks *t, struct lks_dialog *d, bool restored)
{
    const struct lks_conversation *c = d->value;
    LKS_ASSERT(d->state == ADDED && d->talks == t);
    if (restored && !c->ended)
        feed(d, NULL);
    else
        make_ready(d);
}

void lks_talks_resume(struct lks_talks *t, struct lks_dialog *d)
{
    LKS_ASSERT(d->state == SAVING && d->talks == t);
    d->durable = true;
    make_ready(d);
}

/* The last thing its owner hears. Others may go on meanwhile. */
static void end(struct lks_dialog *d, const struct lks_err *why)
{
    struct lks_talks *t = d->talks;
    struct lks_err err = *why;
    leave_gates(d);
    if (err.code != LKS_OK && d->trouble.code != LKS_OK && why != &d->trouble)
        (void)!lks_fail(&err, err.code, "%s; %s", why->msg, d->trouble.msg);
    t->options.ended(t->options.ctx, d, &err);
    free_dialog(d);
}

static void save(struct lks_dialog *d)
{
    struct lks_talks *t = d->talks;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_CONVERSATION_SAVED_MAX);
    struct lks_err err = {0};
    d->ops->save(d->value, &saved);
    if (lks_buf_check(&saved, &err) != LKS_OK) {
        (void)!lks_wrap(&err, "what has to be saved");
        end(d, &err);
        return;
    }
    d->state = SAVING;
    t->options.checkpoint(t->options.ctx, d, lks_buf_view(&saved));
}

static void wait_until(struct lks_dialog *d, lks_ms until)
{
    struct lks_err err = {0};
    leave_gates(d);
    d->state = WAITING;
    if (lks_heap_set(&d->talks->timers, d->slot, until, &err) != LKS_OK)
        end(d, &err);
}

/* There is no answer. Where nothing was heard yet it makes no sense to try again if the peer cannot
 * be the right one, if something is wrong here, or if a caller waits for it. */
static void miss(struct lks_dialog *d, const struct lks_err *why)
{
    bool transient = lks_err_code_info(why->code)->transient;
    d->trouble = *why;
    if (transient && d->round == d->peer->round)
        back_off(d->peer, lks_talks_now(d->talks));
    if (!d->heard && (!transient || d->impatient))
        end(d, &d->trouble);
    else
        feed(d, NULL);
}

static void on_done(void *ctx, const struct lks_http_response *answer, const struct lks_err *err)
{
    struct lks_dialog *d = ctx;
    struct lks_talks *t = d->talks;
    d->exchange = NULL;
    leave_gates(d);
    if (answer == NULL) {
        miss(d, err);
        return;
    }
    d->heard = true;
    d->trouble = (struct lks_err){0};
    recover(d->peer);
    feed(d, answer);
    if (t->options.heard != NULL)
        t->options.heard(t->options.ctx, d);
}

static void send_request(struct lks_dialog *d, lks_ms now)
{
    struct lks_err err = {0};
    const struct lks_curl_peer peer = {.url = d->peer->url,
                                       .ca = d->ca,
                                       .fingerprint = d->fingerprint,
                                       .certificate = d->certificate,
                                       .key = d->key,
                                       .plain = d->plain,
                                       .wide = d->wide};
    lks_ms timeout = d->talk.until > now ? d->talk.until - now : 1;
    d->length = lks_http_request_length(&d->talk.request);
    d->round = d->peer->round;
    d->state = SENDING;
    if (lks_curl_begin(d->talks->curl, &peer, &d->talk.request, timeout, on_done, d, &d->exchange,
                       &err) == LKS_OK)
        return;
    leave_gates(d);
    miss(d, &err);
}

static void go_on(struct lks_dialog *d)
{
    lks_ms now = lks_talks_now(d->talks);
    lks_conversation_next(d->ops, d->value, now, &d->talk);
    enum lks_talk_kind kind = d->talk.kind;
    if (kind == LKS_TALK_DONE || kind == LKS_TALK_FAIL)
        end(d, &d->talk.err);
    else if (d->talk.checkpoint && !d->durable && d->ops->save != NULL)
        save(d);
    else if (kind == LKS_TALK_WAIT)
        wait_until(d, d->talk.until);
    else if (d->peer->rest_until > now)
        wait_until(d, d->peer->rest_until);
    else if (pass_gates(d))
        send_request(d, now);
}

/* All that can go on without waiting. */
static void run_ready(struct lks_talks *t)
{
    uint32_t slot;
    for (lks_ms now = lks_talks_now(t), at;
         lks_heap_peek(&t->timers, &at, &slot) && at <= now && lks_heap_remove(&t->timers, slot);)
        make_ready(t->dialogs[slot]);
    while (t->ready.first != NULL) {
        struct lks_dialog *d = t->ready.first;
        queue_remove(d);
        go_on(d);
    }
}

enum lks_code lks_talks_turn(struct lks_talks *t, lks_ms wait, struct lks_err *err)
{
    lks_ms at;
    uint32_t slot;
    run_ready(t);
    if (lks_heap_peek(&t->timers, &at, &slot)) {
        lks_ms now = lks_talks_now(t), left = at > now ? at - now : 0;
        wait = left < wait ? left : wait;
    }
    if (lks_curl_turn(t->curl, wait, err) != LKS_OK)
        return err->code;
    run_ready(t);
    return LKS_OK;
}

/* All of them ------------------------------------------------------------------------------- */

enum lks_code lks_talks_new(const struct lks_talks_options *options, struct lks_talks **out,
                            struct lks_err *err)
{
    struct lks_talks *t = calloc(1, sizeof(*t));
    if (t == NULL)
        return lks_fail_nomem(err);
    t->options = *options;
    t->wall = read_clock(CLOCK_REALTIME);
    t->since = read_clock(CLOCK_MONOTONIC);
    t->all.max = options->all_max > 0 ? options->all_max : ALL_MAX;
    t->wide.max = WIDE_MAX;
    t->sites = calloc(LKS_TALKS_SITES_MAX, sizeof(struct gate));
    for (size_t i = 0; t->sites != NULL && i < LKS_TALKS_SITES_MAX; i++)
        t->sites[i].max = options->site_max > 0 ? options->site_max : SITE_MAX;
    lks_heap_init(&t->timers, LKS_TALKS_MAX);
    struct lks_curl_options curl = options->curl;
    if (curl.kept == 0)
        curl.kept = t->all.max;
    enum lks_code code =
        t->sites != NULL ? lks_curl_new(&curl, &t->curl, err) : lks_fail_nomem(err);
    if (code != LKS_OK) {
        lks_talks_free(t);
        return code;
    }
    *out = t;
    return LKS_OK;
}

void lks_talks_free(struct lks_talks *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->slots; i++) {
        if (t->dialogs[i] != NULL)
            free_dialog(t->dialogs[i]);
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct peer *p = t->peers[i], *next; p != NULL; p = next) {
            next = p->next;
            free_token(p);
            free(p->url);
            free(p);
        }
    }
    lks_curl_free(t->curl);
    lks_heap_fini(&t->timers);
    free(t->dialogs);
    free(t->free_slots);
    free(t->sites);
    free(t);
}
