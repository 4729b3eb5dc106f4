#include "server/http/depot_peers.h"

#include "drivers/http/artifact.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/forward.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    EXCHANGE_MS = 5000, /* of one range: an end of the daemon waits for it */
    PACE_MS = 50,       /* until the rate is looked at again */
    RANGE = 1 << 20,    /* bytes asked for at once */
    PEERS_MAX = 16,
    URL_SIZE = 512,
    DAY_MS = 24 * 3600 * 1000,
};

enum stage { RANGES, LOOKS, ENDS }; /* of one artifact */

struct lks_depot_peers {
    struct lks_depot_server *depot;
    bool asked;                      /* what is missing */
    lks_ms due;                      /* mono: when to ask again */
    struct lks_depot_wanted *wanted; /* what is missing; owned */
    size_t count, at;                /* the one at hand; `count`: none */
    char urls[PEERS_MAX][URL_SIZE];
    size_t url_count, url; /* the one that is asked */
    size_t without;        /* of the others, those that do not have it */
    uv_timer_t pace;
    bool active; /* the one at hand is being fetched */
    /* The step in progress, in the thread pool. */
    uv_work_t job;
    bool busy;
    enum stage stage;
    struct lks_client *client; /* NULL: not connected */
    struct lks_depot_part part;
    bool inherited; /* the part has bytes that this peer did not send */
    bool whole, looked;
    bool ours; /* `err` is about this disk, and not about the peer */
    size_t moved;
    struct lks_err err;
    char said[LKS_ERR_MSG_MAX]; /* the last trouble that was logged */
    uint64_t fetched, lied;
};

/* Looking ------------------------------------------------------------------------------------ */

struct dropping {
    const struct lks_transfer *t;
    lks_ms before;
    uint64_t bytes;
};

static int by_digest(const void *left, const void *right)
{
    const struct lks_depot_recorded *recorded = right;
    return strcmp(left, recorded->digest);
}

static bool drop_old(void *ctx, const char *digest, uint64_t size, lks_ms used)
{
    struct dropping *d = ctx;
    const struct lks_depot_ask *ask = d->t->call->depot;
    struct lks_err ignored = {0};
    bool known = ask->recorded_count > 0 && bsearch(digest, ask->recorded, ask->recorded_count,
                                                    sizeof(ask->recorded[0]), by_digest) != NULL;
    if (!known && used < d->before &&
        lks_depot_remove(&d->t->depot->files, digest, &ignored) == LKS_OK)
        d->bytes += size;
    return true;
}

/* The leader collects; a controller that follows removes what has no record any more. A record may
 * be younger than what it knows, so files of the last day stay. */
static void drop(struct lks_transfer *t)
{
    lks_ms wall = lks_daemon_now().wall;
    struct dropping d = {.t = t, .before = wall > DAY_MS ? wall - DAY_MS : 0};
    struct lks_err ignored = {0};
    (void)!lks_depot_list(&t->depot->files, drop_old, &d, &ignored);
    t->have = d.bytes;
}

static void find_missing(struct lks_transfer *t)
{
    const struct lks_depot_ask *ask = t->call->depot;
    t->wanted = calloc(ask->recorded_count + 1, sizeof(*t->wanted));
    for (size_t i = 0; t->wanted != NULL && i < ask->recorded_count; i++) {
        const struct lks_depot_recorded *r = &ask->recorded[i];
        struct lks_err err = {0};
        uint64_t size;
        int fd = 0;
        if (lks_depot_find(&t->depot->files, r->digest, &fd, &size, &err) == LKS_OK) {
            (void)close(fd);
        } else if (err.code == LKS_E_NOT_FOUND) {
            struct lks_depot_wanted *w = &t->wanted[t->missing++];
            w->size = r->size;
            memcpy(w->digest, r->digest, sizeof(w->digest));
        }
    }
    if (ask->following)
        drop(t);
}

static void fetch_next(struct lks_depot_peers *p);

static void found_missing(struct lks_transfer *t)
{
    struct lks_depot_server *d = t->depot;
    struct lks_depot_peers *p = d->peers;
    d->bytes -= t->have < d->bytes ? t->have : d->bytes;
    p->asked = false;
    if (t->wanted != NULL) {
        free(p->wanted);
        p->wanted = t->wanted;
        p->count = (size_t)t->missing;
        p->at = 0;
        d->missing = t->missing;
        t->wanted = NULL;
    }
    lks_depot_transfer_answer(t);
    fetch_next(p);
}

void lks_depot_transfer_look(struct lks_transfer *t)
{
    lks_depot_transfer_step_start(t, find_missing, found_missing);
}

static void ask_state(struct lks_depot_peers *p)
{
    static const struct lks_route look = {
        .method = "POST", .path = "/own/look", .handle = lks_handle_look};
    struct lks_server *server = p->depot->server;
    struct lks_call *call = lks_call_new(server->daemon);
    struct lks_depot_ask *ask = calloc(1, sizeof(*ask));
    if (call == NULL || ask == NULL) {
        lks_call_free(call);
        free(ask);
        return;
    }
    call->route = &look;
    call->depot = ask;
    call->cursor = 1; /* it is allowed already */
    snprintf(call->identity, sizeof(call->identity), "lockstep:depot");
    p->asked = true;
    server->calls_open++;
    lks_server_decide(server, call);
}

/* Of the configuration. Our own address among them is one that does not have it. */
static void read_urls(struct lks_depot_peers *p)
{
    struct lks_str rest = lks_daemon_config(p->depot->server->daemon)->controller_agents, word;
    if (p->active)
        return;
    p->url_count = 0;
    while (p->url_count < PEERS_MAX && lks_str_word(&rest, &word)) {
        if (word.len < URL_SIZE)
            snprintf(p->urls[p->url_count++], URL_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(word));
    }
}

/* Fetching ------------------------------------------------------------------------------------ */

static const char *digest_of(const struct lks_depot_peers *p)
{
    return p->wanted[p->at].digest;
}

static bool is_ending(const struct lks_depot_peers *p)
{
    return p->depot->server->drain_until != 0;
}

static void disconnect(struct lks_depot_peers *p)
{
    lks_client_free(p->client);
    p->client = NULL;
}

/* Where to go on; a part of another size than the artifact has is none. */
static uint64_t start_of(const struct lks_depot_peers *p)
{
    const struct lks_depot_wanted *w = &p->wanted[p->at];
    uint64_t have = p->part.fd > 0 ? p->part.size : lks_depot_have(&p->depot->files, w->digest);
    return have < w->size ? have : 0;
}

static enum lks_code ask_range(struct lks_depot_peers *p, uint64_t from,
                               struct lks_http_answer *answer, struct lks_err *err)
{
    const struct lks_depot_wanted *w = &p->wanted[p->at];
    const char *url = p->urls[p->url];
    struct lks_byterange range;
    uint64_t size = 0;
    if (p->client == NULL && lks_forward_client(p->depot->server->daemon, url, EXCHANGE_MS, RANGE,
                                                &p->client, err) != LKS_OK)
        return err->code;
    if (lks_artifact_range(p->client, url, w->digest, from, RANGE, answer, &range, &size, err) !=
        LKS_OK)
        return err->code;
    if (size != w->size || range.from != from)
        return lks_fail(err, LKS_E_INVALID, "%s sends another artifact than it was asked for", url);
    return LKS_OK;
}

/* In the thread pool: one range more. A part is there from its first bytes on: there may be only so
 * many. */
static enum lks_code get_range(struct lks_depot_peers *p, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    const struct lks_depot_wanted *w = &p->wanted[p->at];
    uint64_t from = start_of(p);
    uint64_t spare = lks_daemon_config(p->depot->server->daemon)->depot_spare;
    p->ours = false;
    p->inherited |= p->part.fd <= 0 && from > 0;
    if (ask_range(p, from, &answer, err) != LKS_OK)
        return err->code;
    p->ours = true;
    if (p->part.fd <= 0 && lks_depot_part_open(&p->depot->files, w->digest, from, w->size - from,
                                               spare, &p->part, err) != LKS_OK)
        return err->code;
    if (lks_depot_part_add(&p->part, lks_buf_view(&answer.body), err) != LKS_OK)
        return err->code;
    p->moved = answer.body.len;
    p->whole = p->part.size == w->size;
    return p->whole ? lks_depot_part_keep(&p->depot->files, &p->part, err) : LKS_OK;
}

static void work(uv_work_t *job)
{
    struct lks_depot_peers *p = job->data;
    p->err = (struct lks_err){0};
    p->moved = 0;
    if (p->stage == RANGES) {
        (void)!get_range(p, &p->err);
    } else if (p->stage == LOOKS) {
        p->ours = true;
        (void)!lks_depot_part_look(&p->part, &p->looked, &p->err);
    } else {
        p->ours = false; /* another digest is the peer's fault */
        (void)!lks_depot_part_finish(&p->depot->files, &p->part, &p->err);
    }
    if (p->err.code == LKS_E_INVALID && !p->ours) { /* what there is cannot be believed */
        lks_depot_part_fini(&p->part);
        lks_depot_forget(&p->depot->files, digest_of(p));
    }
}

static void log_it(const struct lks_depot_peers *p, enum lks_level level, const char *text,
                   const char *cause)
{
    struct lks_log_field fields[] = {
        {"digest", lks_str_from(digest_of(p))},
        {"server", lks_str_from(p->urls[p->url])},
        {"cause", lks_str_from(cause)},
    };
    lks_daemon_log(p->depot->server->daemon, level, text, fields, cause[0] != '\0' ? 3 : 2);
}

/* What is the same as the last time is not said again. */
static void say_trouble(struct lks_depot_peers *p)
{
    if (strcmp(p->said, p->err.msg) == 0)
        return;
    snprintf(p->said, sizeof(p->said), "%s", p->err.msg);
    log_it(p, LKS_LEVEL_WARNING, "an artifact that the journal has cannot be fetched", p->err.msg);
}

/* No more of the one at hand for now: what there is of it stays, and can be gone on with. */
static void leave(struct lks_depot_peers *p)
{
    lks_depot_part_fini(&p->part);
    disconnect(p);
    p->active = false;
}

static void step(struct lks_depot_peers *p);

static void on_pace(uv_timer_t *timer)
{
    struct lks_depot_peers *p = timer->data;
    if (is_ending(p))
        leave(p);
    else
        step(p);
}

static void worked(uv_work_t *job, int status);

static void step(struct lks_depot_peers *p)
{
    struct lks_depot_server *d = p->depot;
    if (p->stage == RANGES && !lks_depot_may(d, RANGE)) {
        uv_timer_start(&p->pace, on_pace, PACE_MS, 0);
        return;
    }
    p->busy = true;
    p->job.data = p;
    uv_queue_work(&d->server->loop, &p->job, work, worked);
}

/* From the peer that is to be asked now. */
static void begin(struct lks_depot_peers *p)
{
    p->stage = RANGES;
    p->whole = p->looked = false;
    step(p);
}

static void fetch_next(struct lks_depot_peers *p)
{
    while (p->at < p->count && lks_depot_puts(p->depot, digest_of(p)))
        p->at++; /* it comes by another way */
    if (p->at >= p->count || p->url_count == 0 || is_ending(p))
        return;
    p->active = true;
    p->url = p->without = 0;
    p->inherited = false;
    begin(p);
}

static void done(struct lks_depot_peers *p)
{
    struct lks_depot_server *d = p->depot;
    p->fetched++;
    d->bytes += p->wanted[p->at].size;
    d->missing -= d->missing > 0;
    p->said[0] = '\0';
    log_it(p, LKS_LEVEL_INFO, "an artifact was fetched from another controller", "");
    leave(p);
    p->at++;
    fetch_next(p);
}

/* A peer that sent all of a wrong artifact is blamed; where another one sent a part of it, all of
 * it is asked for once more first. True: the same peer is asked again. */
static bool judge(struct lks_depot_peers *p)
{
    bool wrong = p->err.code == LKS_E_INVALID, again = wrong && p->inherited;
    p->without += p->err.code == LKS_E_NOT_FOUND;
    if (wrong && !again) {
        p->lied++;
        log_it(p, LKS_LEVEL_WARNING, "a controller sent another artifact than it was asked for",
               p->err.msg);
    }
    return again;
}

static void fail(struct lks_depot_peers *p)
{
    if (p->ours) { /* a full disk: the next one would not fit either */
        say_trouble(p);
        leave(p);
        p->at = p->count;
        return;
    }
    bool again = judge(p);
    p->inherited = p->part.size > 0;
    if (!again) {
        disconnect(p);
        if (++p->url == p->url_count) {
            p->url--; /* of which the log tells */
            p->wanted[p->at].hopeless = p->without == p->url_count;
            say_trouble(p);
            leave(p);
            p->at++;
            fetch_next(p);
            return;
        }
    }
    begin(p);
}

static void worked(uv_work_t *job, int status)
{
    struct lks_depot_peers *p = job->data;
    (void)status;
    p->busy = false;
    p->depot->received += p->moved;
    if (is_ending(p)) {
        leave(p);
    } else if (p->err.code != LKS_OK) {
        fail(p);
    } else if (p->stage == ENDS) {
        done(p);
    } else {
        if (p->stage == RANGES && p->whole)
            p->stage = LOOKS;
        else if (p->stage == LOOKS && p->looked)
            p->stage = ENDS;
        step(p);
    }
}

/* Others ----------------------------------------------------------------------------------------
 */

bool lks_depot_peers_fetches(const struct lks_depot_peers *p, const char *digest)
{
    return p->active && strcmp(digest_of(p), digest) == 0;
}

/* The wish goes behind the one at hand. */
bool lks_depot_peers_ask(struct lks_depot_peers *p, const char *digest)
{
    size_t next = p->at + p->active;
    read_urls(p);
    if (p->url_count == 0)
        return false;
    for (size_t i = 0; i < p->count; i++) {
        struct lks_depot_wanted *w = &p->wanted[i];
        if (strcmp(w->digest, digest) != 0)
            continue;
        if (i > next) {
            struct lks_depot_wanted moved = *w;
            memmove(&p->wanted[next + 1], &p->wanted[next], (i - next) * sizeof(*w));
            p->wanted[next] = moved;
        }
        return !w->hopeless;
    }
    p->due = 0;
    return true;
}

static bool is_idle(const struct lks_depot_peers *p)
{
    return !p->asked && !p->active;
}

/* What is missing is asked for anew only once the last answer was gone through. */
void lks_depot_peers_tick(struct lks_depot_peers *p, lks_ms now)
{
    if (now < p->due || !is_idle(p) || is_ending(p))
        return;
    p->due = now + lks_daemon_config(p->depot->server->daemon)->depot_look_s * LKS_SECOND;
    read_urls(p);
    ask_state(p);
}

struct lks_depot_peers *lks_depot_peers_new(struct lks_depot_server *d)
{
    struct lks_depot_peers *p = calloc(1, sizeof(*p));
    if (p == NULL)
        return NULL;
    p->depot = d;
    uv_timer_init(&d->server->loop, &p->pace);
    p->pace.data = p;
    return p;
}

void lks_depot_peers_stop(struct lks_depot_peers *p)
{
    uv_close((uv_handle_t *)&p->pace, NULL);
}

void lks_depot_peers_free(struct lks_depot_peers *p)
{
    lks_depot_part_fini(&p->part);
    disconnect(p);
    free(p->wanted);
    free(p);
}

void lks_depot_peers_counts(const struct lks_depot_peers *p, uint64_t *fetched, uint64_t *lied)
{
    *fetched = p->fetched;
    *lied = p->lied;
}
