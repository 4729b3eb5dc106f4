#include "base/vec.h"
#include "core/campaign/state_apply.h"
#include "engine/chain_walk.h"
#include "engine/engine_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Looking ----------------------------------------------------------------------------------- */

struct look {
    const struct lks_engine_options *options;
    struct lks_store *store;
    struct lks_engine_news *news;
    struct lks_chain_walk walk;
    size_t row_room;
    uint64_t until; /* the last row to read: a signed head names it; UINT64_MAX: all */
    bool is_signed; /* every commit is, from here on or before */
    const struct lks_head *newest; /* that was verified */
    struct lks_err *err;           /* of a failure inside a walk over rows */
    enum lks_code failed;
};

struct lks_engine_place lks_engine_place(const struct lks_engine *e)
{
    struct lks_engine_place place = {
        .seq = e->seq,
        .head = e->head.seq,
        .newest = e->head,
        .is_signed = e->state.signed_from != 0,
        .time = e->state.clock,
    };
    memcpy(place.hash, e->hash, sizeof(place.hash));
    return place;
}

static enum lks_code add_page(struct look *l, bool fleet, struct lks_str digest,
                              struct lks_str bytes)
{
    struct lks_engine_news *n = l->news;
    if (LKS_VEC_RESERVE(n->pages, n->page_room, n->page_count + 1, l->err) != LKS_OK)
        return l->err->code;
    struct lks_engine_page page = {.fleet = fleet, .manifest = calloc(1, sizeof(*page.manifest))};
    if (page.manifest == NULL)
        return lks_fail_nomem(l->err);
    if (digest.len > 0 && digest.len < sizeof(page.digest))
        memcpy(page.digest, digest.ptr, digest.len);
    enum lks_code code =
        lks_engine_manifest(l->store, l->options->facts, fleet ? "the fleet's manifest" : "a stack",
                            bytes, page.manifest, l->err);
    if (code == LKS_OK)
        n->pages[n->page_count++] = page;
    else
        free(page.manifest);
    return code;
}

/* Records are read once more on the state thread: those here are read for what they refer to. */
static enum lks_code read_page(struct look *l, const struct lks_row *row)
{
    struct lks_record r;
    bool wanted = row->kind == LKS_RECORD_FLEET || row->kind == LKS_RECORD_PUBLISHED;
    if (!wanted || lks_record_unpack(row->kind, row->version, row->body, &r, l->err) != LKS_OK)
        return wanted ? l->err->code : LKS_OK;
    if (row->kind == LKS_RECORD_FLEET)
        return add_page(l, true, (struct lks_str){0}, r.fleet.manifest);
    return add_page(l, false, r.published.digest, r.published.manifest);
}

/* False where the news are full: the rest comes with the next. */
static bool keep_row(struct look *l, const struct lks_row *row)
{
    struct lks_engine_batch *b = &l->news->batch;
    l->failed = LKS_VEC_RESERVE(b->rows, l->row_room, b->store.row_count + 1, l->err);
    if (l->failed != LKS_OK)
        return false;
    lks_buf_add(&b->bodies, row->body);
    l->failed = lks_buf_check(&b->bodies, l->err);
    if (l->failed != LKS_OK)
        return false;
    b->rows[b->store.row_count++] = *row;
    lks_chain_walk_step(&l->walk, row);
    return true;
}

static bool look_at_row(void *ctx, const struct lks_row *row)
{
    struct look *l = ctx;
    struct lks_engine_batch *b = &l->news->batch;
    struct lks_record ignored;
    if (row->seq > l->until || b->store.row_count == LKS_ENGINE_NEWS_ROWS_MAX ||
        b->bodies.len >= LKS_ENGINE_NEWS_BYTES_MAX)
        return false;
    l->is_signed = l->is_signed || row->kind == LKS_RECORD_SIGNED;
    l->failed = lks_chain_walk_look(&l->walk, row, &ignored, l->err);
    if (l->failed == LKS_OK && l->walk.fault != LKS_FAULT_NONE)
        l->failed = lks_chain_walk_fail(&l->walk, l->err);
    return l->failed == LKS_OK && keep_row(l, row);
}

/* The newest one is read again and again while nothing is committed. */
static bool is_verified(const struct look *l, const struct lks_head *head)
{
    const struct lks_head *n = l->newest;
    struct lks_public_key key = lks_key_public(l->options->key);
    bool same = head->seq == n->seq && head->time == n->time &&
                strcmp(head->journal, n->journal) == 0 &&
                memcmp(head->hash, n->hash, sizeof(n->hash)) == 0 &&
                memcmp(head->signature, n->signature, sizeof(n->signature)) == 0;
    return same || lks_chain_head_verify(&key, head);
}

static bool keep_head(void *ctx, const struct lks_head *head)
{
    struct look *l = ctx;
    struct lks_engine_news *n = l->news;
    l->failed = LKS_VEC_RESERVE(n->heads, n->head_room, n->head_count + 1, l->err);
    if (l->failed != LKS_OK)
        return false;
    n->heads[n->head_count++] = *head;
    if (!is_verified(l, head))
        l->failed = lks_fail(l->err, LKS_E_INVALID,
                             "journal: the head at row %" PRIu64 " is not signed with this key; do "
                             "all controllers share one?",
                             head->seq);
    return l->failed == LKS_OK;
}

/* A head stands for the row that it names. */
static enum lks_code check_head(const struct look *l, const struct lks_engine_place *place,
                                const struct lks_head *head)
{
    const struct lks_engine_batch *b = &l->news->batch;
    uint64_t first = b->store.row_count > 0 ? b->rows[0].seq : UINT64_MAX;
    const uint8_t *hash = head->seq == place->seq ? place->hash : NULL;
    if (head->seq >= first)
        hash = b->rows[head->seq - first].hash;
    if (hash == NULL || memcmp(hash, head->hash, sizeof(head->hash)) == 0)
        return LKS_OK;
    return lks_fail(l->err, LKS_E_INVALID,
                    "journal: the head at row %" PRIu64 " is of another chain; run "
                    "`lockstep journal verify`",
                    head->seq);
}

/* Bytes no longer move: rows point to them. */
static void point(struct lks_engine_batch *b)
{
    const char *at = b->bodies.ptr;
    for (size_t i = 0; i < b->store.row_count; at += b->rows[i++].body.len)
        b->rows[i].body.ptr = at;
}

static enum lks_code look_at_rows(struct look *l, const struct lks_engine_place *place)
{
    struct lks_engine_news *n = l->news;
    if (l->store->ops->rows(l->store->self, place->seq + 1, look_at_row, l, l->err) != LKS_OK)
        return l->err->code;
    if (l->failed != LKS_OK)
        return l->failed;
    point(&n->batch);
    for (size_t i = 0; i < n->batch.store.row_count; i++)
        if (read_page(l, &n->batch.rows[i]) != LKS_OK)
            return l->err->code;
    return LKS_OK;
}

/* Heads are read before rows: in a journal whose commits are all signed, the newest of them is at
 * least where the last commit ended a moment ago, and the rows up to it are there. */
static enum lks_code look_at_heads(struct look *l, struct lks_engine_place *place,
                                   const struct lks_store_tail *tail)
{
    const struct lks_engine_news *n = l->news;
    if (l->store->ops->heads(l->store->self, place->head + 1, keep_head, l, l->err) != LKS_OK)
        return l->err->code;
    if (l->failed != LKS_OK)
        return l->failed;
    if (n->head_count > 0 && n->heads[n->head_count - 1].seq > place->newest.seq)
        place->newest = n->heads[n->head_count - 1];
    l->until = place->is_signed ? place->newest.seq : UINT64_MAX;
    if (!place->is_signed || place->newest.seq >= tail->seq)
        return LKS_OK;
    return lks_fail(l->err, LKS_E_INVALID,
                    "journal: rows %" PRIu64 " to %" PRIu64 " have no signed head, and every "
                    "commit has one: lockstepd did not write them; run `lockstep journal "
                    "verify`",
                    place->newest.seq + 1, tail->seq);
}

/* Those of rows that were read are compared with them; the others come with their rows. */
static enum lks_code compare_heads(struct look *l, const struct lks_engine_place *place)
{
    struct lks_engine_news *n = l->news;
    while (n->head_count > 0 && n->heads[n->head_count - 1].seq > l->walk.seq)
        n->head_count--;
    for (size_t i = 0; i < n->head_count; i++)
        if (check_head(l, place, &n->heads[i]) != LKS_OK)
            return l->err->code;
    n->batch.sign = n->head_count > 0;
    if (n->batch.sign)
        n->batch.head = n->heads[n->head_count - 1];
    return LKS_OK;
}

static enum lks_code fail_lost(uint64_t has, uint64_t seen, struct lks_err *err)
{
    return lks_fail(err, LKS_E_REFUSED,
                    "the store ends with row %" PRIu64 ", and row %" PRIu64 " was seen in it: it "
                    "lost what was acknowledged; bring back the one that has it",
                    has, seen);
}

static enum lks_code fail_other(uint64_t seq, struct lks_err *err)
{
    return lks_fail(err, LKS_E_REFUSED,
                    "row %" PRIu64 " of the store is not the one that was seen in it: it has "
                    "another history; bring back the one it had",
                    seq);
}

struct seen_row {
    const struct lks_engine_place *place;
    bool there, same, repaired;
};

static bool compare_row(void *ctx, const struct lks_row *row)
{
    struct seen_row *s = ctx;
    s->there = row->seq == s->place->seq;
    s->same = memcmp(row->hash, s->place->hash, sizeof(row->hash)) == 0;
    return false;
}

/* A repair that was recorded since set the row aside. */
static bool find_repair(void *ctx, const struct lks_row *row)
{
    struct seen_row *s = ctx;
    struct lks_record r;
    struct lks_err ignored = {0};
    s->repaired = row->kind == LKS_RECORD_REPAIRED && row->time >= s->place->time &&
                  lks_record_unpack(row->kind, row->version, row->body, &r, &ignored) == LKS_OK &&
                  r.repaired.from <= s->place->seq;
    return !s->repaired;
}

enum lks_code lks_engine_place_check(struct lks_store *store, const struct lks_engine_place *place,
                                     struct lks_err *err)
{
    struct lks_store_tail tail = {0};
    struct seen_row seen = {.place = place};
    if (place->seq == 0)
        return LKS_OK;
    if (store->ops->tail(store->self, &tail, err) != LKS_OK)
        return err->code;
    if (tail.first > place->seq)
        return LKS_OK; /* it was trimmed since, by a controller that verified it */
    if (store->ops->rows(store->self, place->seq, compare_row, &seen, err) != LKS_OK)
        return err->code;
    if (seen.there && seen.same)
        return LKS_OK;
    if (store->ops->rows(store->self, tail.first, find_repair, &seen, err) != LKS_OK)
        return err->code;
    if (seen.repaired)
        return LKS_OK;
    return tail.seq < place->seq ? fail_lost(tail.seq, place->seq, err)
                                 : fail_other(place->seq, err);
}

static enum lks_code look(struct look *l, struct lks_engine_place *place)
{
    struct lks_store_tail tail = {0};
    if (l->store->ops->tail(l->store->self, &tail, l->err) != LKS_OK)
        return l->err->code;
    if (tail.seq < place->seq)
        return fail_lost(tail.seq, place->seq, l->err);
    if (tail.seq == place->seq && memcmp(tail.hash, place->hash, sizeof(tail.hash)) != 0)
        return fail_other(place->seq, l->err);
    if (look_at_heads(l, place, &tail) != LKS_OK || look_at_rows(l, place) != LKS_OK ||
        compare_heads(l, place) != LKS_OK)
        return l->err->code;
    uint64_t end = place->is_signed ? place->newest.seq : tail.seq;
    if (l->news->batch.store.row_count == 0 && l->walk.seq < end)
        return lks_fail(l->err, LKS_E_INVALID,
                        "journal: row %" PRIu64 " was committed and is not there; run "
                        "`lockstep journal verify`",
                        l->walk.seq + 1);
    l->news->batch.last = l->walk.seq;
    l->news->more = l->walk.seq < end;
    return LKS_OK;
}

/* The newest head may still be replaced, and is read again; those before it stay. */
static void move_on(struct lks_engine_place *place, const struct look *l)
{
    const struct lks_engine_news *n = l->news;
    if (n->head_count > 1)
        place->head = n->heads[n->head_count - 2].seq;
    place->seq = l->walk.seq;
    place->time = l->walk.time;
    place->is_signed = place->is_signed || l->is_signed;
    memcpy(place->hash, l->walk.hash, sizeof(place->hash));
}

enum lks_code lks_engine_look(const struct lks_engine_options *options, struct lks_store *store,
                              struct lks_engine_place *place, struct lks_engine_news *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_engine_news_fini) struct lks_engine_news news = {0};
    struct look l = {.options = options, .store = store, .news = &news, .err = err};
    struct lks_engine_place to = *place;
    l.newest = &place->newest;
    lks_buf_init(&news.batch.bodies, LKS_ENGINE_NEWS_BYTES_MAX + LKS_RECORD_BODY_MAX);
    enum lks_code code = lks_chain_walk_init(&l.walk, place->seq, place->hash, err);
    l.walk.time = place->time;
    if (code == LKS_OK)
        code = look(&l, &to);
    if (code == LKS_OK) {
        move_on(&to, &l);
        *place = to;
        *out = LKS_MOVE(news);
    }
    lks_chain_walk_fini(&l.walk);
    return code;
}

void lks_engine_news_fini(struct lks_engine_news *news)
{
    for (size_t i = 0; i < news->page_count; i++) {
        if (news->pages[i].manifest != NULL)
            lks_manifest_fini(news->pages[i].manifest);
        free(news->pages[i].manifest);
    }
    free(news->pages);
    free(news->heads);
    lks_engine_batch_fini(&news->batch);
    *news = (struct lks_engine_news){0};
}

/* Following --------------------------------------------------------------------------------- */

static enum lks_code apply_rows(struct lks_engine *e, const struct lks_engine_batch *b,
                                struct lks_err *err)
{
    for (size_t i = 0; i < b->store.row_count; i++) {
        const struct lks_row *row = &b->rows[i];
        struct lks_record record;
        LKS_ASSERT(row->seq == e->seq + 1);
        if (lks_record_unpack(row->kind, row->version, row->body, &record, err) != LKS_OK ||
            lks_state_apply(&e->state, row->seq, row->time, &record, err) != LKS_OK) {
            err->code = LKS_E_IO; /* it is true in part */
            e->broken = true;
            (void)!lks_wrap(err, "journal row %" PRIu64, row->seq);
            e->why = *err;
            return LKS_E_IO;
        }
        e->seq = e->durable = row->seq;
        memcpy(e->hash, row->hash, sizeof(e->hash));
    }
    return LKS_OK;
}

/* The last of the fleet's is the fleet's; stacks go to the registry store. */
static enum lks_code take_pages(struct lks_engine *e, struct lks_engine_news *news,
                                struct lks_err *err)
{
    for (size_t i = 0; i < news->page_count; i++) {
        struct lks_engine_page *page = &news->pages[i];
        if (!page->fleet) {
            if (lks_engine_shelve(e, lks_str_from(page->digest), page->manifest, err) != LKS_OK)
                return err->code;
            continue;
        }
        lks_manifest_fini(&e->manifest);
        e->manifest = LKS_MOVE(*page->manifest);
        e->book.manifest = &e->manifest;
    }
    return LKS_OK;
}

enum lks_code lks_engine_follow(struct lks_engine *e, struct lks_now now,
                                struct lks_engine_news *news, struct lks_err *err)
{
    LKS_ASSERT(lks_engine_is_following(e));
    if (e->broken)
        return lks_fail(err, LKS_E_IO, "nothing more can be followed: %s", e->why.msg);
    if (take_pages(e, news, err) != LKS_OK || apply_rows(e, &news->batch, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i + 1 < news->head_count; i++)
        lks_heartbeat_publish(&e->state, &news->heads[i]); /* the newest may still be replaced */
    if (news->batch.sign)
        e->head = news->batch.head;
    e->state.seen = lks_engine_now(e, now);
    return LKS_OK;
}

bool lks_engine_follows(const struct lks_engine *e)
{
    return lks_engine_is_following(e);
}

/* Leading ----------------------------------------------------------------------------------- */

enum lks_code lks_engine_lead(struct lks_engine *e, struct lks_now now, uint64_t epoch,
                              struct lks_str name, struct lks_str url, struct lks_err *err)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event = {.kind = LKS_EVENT_LEAD, .lead = {epoch, name, url}};
    uint64_t needs = 0;
    LKS_ASSERT(epoch > 0);
    LKS_MACHINE_MOVE(&lks_lease_moves, e->lease, LKS_LEASE_TAKEN);
    lks_decision_init(&d);
    LKS_MACHINE_MOVE(&lks_lease_moves, e->lease, LKS_LEASE_LEADS);
    e->epoch = epoch;
    lks_engine_tell(e); /* the last leader's heads stay as they are */
    /* How long its rows took, only the last leader knew. */
    lks_node_status_slow(&e->state, 0, lks_engine_now(e, now).wall);
    if (lks_heartbeat_restart(&e->state, lks_engine_now(e, now), err) != LKS_OK ||
        lks_engine_turn(e, now, &event, NULL, &d, &needs, err) != LKS_OK)
        return err->code;
    if (d.refused.code != LKS_OK)
        *err = d.refused;
    return d.refused.code == LKS_OK ? lks_engine_sign_from_here(e, now, err) : d.refused.code;
}
