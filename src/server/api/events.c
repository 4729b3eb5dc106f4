#include "server/api/events.h"

#include "server/auth/reads.h"
#include "server/base/daemon.h"

#include <stdlib.h>

enum {
    ALIVE_MS = 15000,
    /* Then the reader comes again, and is asked anew who it is: a token may be over by then. */
    LIFE_MS = 3600 * 1000,
};

/* A piece is half of this and one row, and fits into what a reader may be behind. */
#define PIECE_BYTES_MAX (LKS_EVENTS_BACKLOG * 3 / 4)

struct lks_reader {
    struct lks_reader *next_reader;
    struct lks_events *events;
    struct lks_httpd_stream *stream; /* NULL: over */
    uint64_t next;                   /* the row it gets next */
    lks_ms written, since;           /* mono, by the ticks */
    /* Of the catch-up in progress. */
    uv_work_t job;
    bool working;
    struct lks_buf bytes;
    uint64_t last, after;
    struct lks_err err;
};

void lks_events_init(struct lks_events *e, const struct lks_daemon *daemon, uv_loop_t *loop)
{
    *e = (struct lks_events){.daemon = daemon, .loop = loop, .first = 1, .next = 1};
}

static void forget(struct lks_events *e, uint64_t seq)
{
    lks_buf_fini(&e->ring[seq % LKS_EVENTS_RING]);
}

void lks_events_fini(struct lks_events *e)
{
    for (; e->first < e->next; e->first++)
        forget(e, e->first);
}

static void unlink_reader(struct lks_reader *r)
{
    for (struct lks_reader **at = &r->events->readers; *at != NULL; at = &(*at)->next_reader) {
        if (*at != r)
            continue;
        *at = r->next_reader;
        r->events->count--;
        break;
    }
    lks_buf_fini(&r->bytes);
    free(r);
}

static void on_ended(void *ctx, struct lks_httpd_stream *s)
{
    (void)s;
    struct lks_reader *r = ctx;
    r->stream = NULL;
    if (!r->working)
        unlink_reader(r);
}

/* From our side, which is not reported. */
static void end_reader(struct lks_reader *r)
{
    lks_httpd_stream_close(r->stream);
    on_ended(r, NULL);
}

static void pump(struct lks_reader *r);

static void read_piece(uv_work_t *job)
{
    struct lks_reader *r = job->data;
    lks_buf_init(&r->bytes, PIECE_BYTES_MAX);
    if (lks_read_events(r->events->daemon, r->next, r->last, LKS_EVENTS_PIECE, &r->bytes, &r->after,
                        &r->err) != LKS_OK)
        r->after = r->next;
}

static void piece_read(uv_work_t *job, int status)
{
    (void)status;
    struct lks_reader *r = job->data;
    r->working = false;
    r->events->working--;
    if (r->stream == NULL) {
        unlink_reader(r);
        return;
    }
    /* What cannot be read will not be readable by waiting: the reader comes again. */
    if (r->after == r->next) {
        end_reader(r);
        return;
    }
    r->next = r->after;
    bool alive = lks_httpd_stream_write(r->stream, lks_buf_view(&r->bytes));
    if (!alive)
        return;
    lks_buf_fini(&r->bytes);
    pump(r);
}

/* Bring the reader as far as possible without waiting for it. */
static void pump(struct lks_reader *r)
{
    struct lks_events *e = r->events;
    if (r->working || r->next > e->durable)
        return;
    if (r->next >= e->first && r->next < e->next) {
        while (r->next < e->next) {
            struct lks_str text = lks_buf_view(&e->ring[r->next % LKS_EVENTS_RING]);
            r->next++;
            if (!lks_httpd_stream_write(r->stream, text))
                return;
        }
        return;
    }
    if (lks_httpd_stream_backlog(r->stream) > LKS_EVENTS_BACKLOG / 4)
        return; /* the next tick looks again */
    r->working = true;
    r->last = e->durable;
    r->job.data = r;
    e->working++;
    uv_queue_work(e->loop, &r->job, read_piece, piece_read);
}

bool lks_events_join(struct lks_events *e, struct lks_httpd_exchange *x, uint64_t from, bool root)
{
    struct lks_reader *r = NULL;
    uint64_t most = lks_daemon_config(e->daemon)->event_readers + (root ? LKS_EVENTS_KEPT : 0);
    if (!e->closing && e->count < most)
        r = calloc(1, sizeof(*r));
    if (r == NULL)
        return false;
    r->events = e;
    r->next = from;
    r->next_reader = e->readers;
    e->readers = r;
    e->count++;
    r->stream = lks_httpd_stream_new(x, "text/event-stream", LKS_EVENTS_BACKLOG, on_ended, r);
    if (r->stream == NULL) {
        unlink_reader(r);
        return true; /* there is no memory, and the exchange is gone */
    }
    if (lks_httpd_stream_write(r->stream, LKS_STR(": lockstep\n\n")))
        pump(r);
    return true;
}

static void keep_row(struct lks_events *e, const struct lks_row *row)
{
    struct lks_buf text;
    struct lks_err err = {0};
    lks_buf_init(&text, LKS_RECORD_BODY_MAX * 8);
    if (lks_read_event_text(row, &text, &err) != LKS_OK) {
        lks_buf_fini(&text);
        lks_events_fini(e);
        e->first = e->next = row->seq + 1;
        return;
    }
    if (e->next - e->first == LKS_EVENTS_RING)
        forget(e, e->first++);
    e->ring[row->seq % LKS_EVENTS_RING] = LKS_MOVE(text);
    e->next = row->seq + 1;
}

static void end_all(struct lks_events *e)
{
    for (struct lks_reader *r = e->readers, *next; r != NULL; r = next) {
        next = r->next_reader;
        if (r->stream != NULL)
            end_reader(r);
    }
}

/* Whether a role or credential was revoked. */
static bool takes_access(const struct lks_engine_batch *batch)
{
    for (size_t i = 0; i < batch->store.row_count; i++) {
        uint64_t kind = batch->rows[i].kind;
        if (kind == LKS_RECORD_UNGRANTED || kind == LKS_RECORD_API_TOKEN_GONE ||
            kind == LKS_RECORD_PERSON_REVOKED ||
            kind == LKS_RECORD_TOKEN_RENEWED /* a logout is one, too */)
            return true;
    }
    return false;
}

/* Readers were let in once. When that may no longer be right all of them come again, from where
 * they were. */
void lks_events_add(struct lks_events *e, const struct lks_engine_batch *batch)
{
    e->durable = batch->last;
    if (takes_access(batch))
        end_all(e);
    if (e->count == 0 || batch->store.row_count == 0 || e->next != batch->rows[0].seq) {
        lks_events_fini(e);
        e->first = e->next = batch->last + 1;
    }
    for (size_t i = 0; e->count > 0 && i < batch->store.row_count; i++) {
        if (e->first == e->next && e->next != batch->rows[i].seq)
            e->first = e->next = batch->rows[i].seq;
        keep_row(e, &batch->rows[i]);
    }
    for (struct lks_reader *r = e->readers, *next; r != NULL; r = next) {
        next = r->next_reader;
        pump(r);
    }
}

void lks_events_tick(struct lks_events *e, lks_ms mono)
{
    for (struct lks_reader *r = e->readers, *next; r != NULL; r = next) {
        next = r->next_reader;
        if (r->stream == NULL)
            continue;
        r->since = r->since == 0 ? mono : r->since;
        if (mono - r->since >= LIFE_MS) {
            end_reader(r);
            continue;
        }
        if (mono - r->written >= ALIVE_MS) {
            r->written = mono;
            if (!lks_httpd_stream_write(r->stream, LKS_STR(":\n\n")))
                continue;
        }
        pump(r);
    }
}

void lks_events_close(struct lks_events *e)
{
    e->closing = true;
    end_all(e);
}
