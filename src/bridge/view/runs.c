#include "bridge/view/runs.h"

#include "base/vec.h"
#include "codec/notation/hostlist.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIVE_BYTES_MAX ((size_t)1 << 30) /* texts of one reading */
#define HOSTS_MAX      ((size_t)64 << 20)
#define JSON_MAX       ((size_t)256 << 10) /* of one run */

enum { DROPPED_PART = 4 }; /* of the runs there are, when there are too many */

void lks_bridge_runs_fini(struct lks_bridge_runs *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->items[i].json);
    free(r->items);
    lks_arena_fini(&r->arena);
    *r = (struct lks_bridge_runs){0};
}

/* Places ------------------------------------------------------------------------------------ */

static int compare_places(const struct lks_bridge_runs_place *a,
                          const struct lks_bridge_runs_place *b)
{
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return strcmp(a->id, b->id);
}

static int by_place(const void *a, const void *b)
{
    const struct lks_bridge_runs_item *left = a, *right = b;
    return compare_places(&left->place, &right->place);
}

static int by_id(const void *a, const void *b)
{
    const struct lks_bridge_runs_live *left = a, *right = b;
    return lks_str_cmp(left->run.id, right->run.id);
}

static int by_name(const void *a, const void *b)
{
    return lks_str_cmp(*(const struct lks_str *)a, *(const struct lks_str *)b);
}

/* A run that ended ---------------------------------------------------------------------------- */

/* Users choose some texts: what cannot be printed becomes '?', and long ones are cut. */
static void put_text(struct lks_json_writer *w, const char *key, struct lks_str text)
{
    char copy[LKS_BRIDGE_RUNS_TEXT + 1];
    size_t len = text.len < sizeof(copy) ? text.len : sizeof(copy) - 1;
    if (len == 0)
        return;
    memcpy(copy, text.ptr, len);
    copy[len] = '\0';
    lks_str_make_printable(copy);
    lks_json_cstr(w, key, copy);
}

/* The first of its nodes that is down: most likely the cause. */
static void put_down(struct lks_json_writer *w, const struct lks_bridge_run *run,
                     const struct lks_bridge_runs_reading *reading)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    if (reading->down_count == 0 || lks_str_is(run->state, "completed") ||
        run->nodes.len > LKS_BRIDGE_RUNS_NODES ||
        lks_hostlist_parse(run->nodes, &arena, &hosts, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < hosts.count; i++) {
        if (bsearch(&hosts.names[i], reading->down, reading->down_count, sizeof(hosts.names[i]),
                    by_name) != NULL) {
            put_text(w, "down", hosts.names[i]);
            return;
        }
    }
}

static void put_number(struct lks_json_writer *w, const char *key, bool known, int64_t number)
{
    if (known)
        lks_json_int(w, key, number);
    else
        lks_json_null(w, key);
}

static void write_run(const struct lks_bridge_run *run,
                      const struct lks_bridge_runs_reading *reading, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    bool listed = run->nodes.len <= LKS_BRIDGE_RUNS_NODES && lks_str_printable(run->nodes);
    lks_json_begin(&w, NULL, '{');
    put_text(&w, "id", run->id);
    put_text(&w, "name", run->name);
    put_text(&w, "user", run->user);
    put_text(&w, "account", run->account);
    put_text(&w, "partition", run->partition);
    lks_json_text(&w, "nodes", listed ? run->nodes : LKS_STR(""));
    put_number(&w, "gpus", run->gpus != LKS_BRIDGE_UNKNOWN, run->gpus);
    lks_json_int(&w, "started", (int64_t)run->started);
    lks_json_int(&w, "ended", (int64_t)run->ended);
    put_text(&w, "state", run->state);
    put_text(&w, "reason", run->reason);
    put_down(&w, run, reading);
    put_number(&w, "exit", run->exit >= 0, run->exit);
    put_number(&w, "signal", run->signal >= 0, run->signal);
    lks_json_int(&w, "restarts", run->restarts);
    lks_json_end(&w, '}');
}

/* What a reading brings ------------------------------------------------------------------------ */

struct taking {
    const struct lks_bridge_runs *r;
    const struct lks_bridge_runs_reading *reading;
    struct lks_bridge_runs_news *news;
    struct lks_err *err;
};

void lks_bridge_runs_news_fini(struct lks_bridge_runs_news *news)
{
    for (uint32_t i = 0; i < news->count; i++)
        free(news->items[i].json);
    free(news->items);
    lks_arena_fini(&news->arena);
    *news = (struct lks_bridge_runs_news){0};
}

static enum lks_code tell(struct taking *t, const struct lks_bridge_run *run)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(JSON_MAX);
    struct lks_bridge_runs_item item = {.place = {.at = run->ended}};
    if (run->id.len > LKS_BRIDGE_RUNS_ID || !lks_str_printable(run->id))
        return LKS_OK; /* no id of Slurm's */
    memcpy(item.place.id, run->id.ptr, run->id.len);
    write_run(run, t->reading, &json);
    if (lks_buf_check(&json, t->err) != LKS_OK)
        return t->err->code;
    item.json = malloc(json.len);
    if (item.json == NULL)
        return lks_fail_nomem(t->err);
    memcpy(item.json, json.ptr, json.len);
    item.json_len = json.len;
    struct lks_bridge_runs_news *news = t->news;
    if (LKS_VEC_ADD(news->items, news->room, news->count, (size_t)LKS_BRIDGE_RUNS_LIVE * 2, item,
                    t->err) == LKS_OK)
        return LKS_OK;
    free(item.json);
    return t->err->code;
}

/* Slurm keeps no end of such a run: it was before this reading. */
static lks_ms noticed(const struct taking *t, const struct lks_bridge_run *run)
{
    lks_ms before = t->reading->at > LKS_SECOND ? t->reading->at - LKS_SECOND : 0;
    return before > run->started ? before : run->started;
}

/* A run that another one follows, or none: slurmctld says nothing more of it. */
static enum lks_code tell_gone(struct taking *t, const struct lks_bridge_runs_live *was,
                               const char *state, lks_ms ended)
{
    struct lks_bridge_run run = was->run;
    if (run.phase != LKS_BRIDGE_RUN_ENDED) {
        run.state = lks_str_from(state);
        run.exit = run.signal = -1;
        run.ended = ended >= run.started && ended <= t->reading->at ? ended : noticed(t, &run);
        run.reason = LKS_STR("");
    }
    return tell(t, &run);
}

static bool is_open(const struct lks_bridge_runs_live *was)
{
    return was->run.phase != LKS_BRIDGE_RUN_WAITS && !was->told;
}

/* A run that slurmctld shows as ended. In the second of its end others may still end, and before
 * the first reading its end may be one that the clock has not reached again. */
static enum lks_code take_ended(struct taking *t, struct lks_bridge_runs_live *now)
{
    bool ahead = t->r->until == 0 && now->run.ended > t->reading->at;
    if (now->told || (now->run.ended >= t->reading->at && !ahead))
        return LKS_OK;
    now->told = true;
    return ahead ? LKS_OK : tell(t, &now->run);
}

/* `was` is the same job in the reading before, or NULL. */
static enum lks_code take_job(struct taking *t, const struct lks_bridge_runs_live *was,
                              struct lks_bridge_runs_live *now)
{
    bool same =
        was != NULL && was->run.started == now->run.started && was->run.phase <= now->run.phase;
    if (was != NULL && !same && is_open(was) &&
        tell_gone(t, was, "requeued", now->run.started == was->run.started ? now->run.ended : 0) !=
            LKS_OK)
        return t->err->code;
    if (same && was->run.nodes.len > now->run.nodes.len)
        now->run.nodes = lks_arena_copy(&t->news->arena, was->run.nodes);
    now->told = same && was->told;
    if (now->run.phase != LKS_BRIDGE_RUN_ENDED)
        return LKS_OK;
    if (now->run.started == 0 || now->run.ended < now->run.started || now->run.nodes.len == 0) {
        now->told = true; /* it never ran */
        return LKS_OK;
    }
    return take_ended(t, now);
}

/* Both readings are in the order of ids. */
static enum lks_code compare(struct taking *t)
{
    const struct lks_bridge_runs *r = t->r;
    size_t old = 0;
    for (size_t i = 0; i < t->reading->count; i++) {
        int order = -1;
        while (old < r->live_count &&
               (order = lks_str_cmp(r->live[old].run.id, t->news->live[i].run.id)) < 0) {
            if (is_open(&r->live[old]) && tell_gone(t, &r->live[old], "unknown", 0) != LKS_OK)
                return t->err->code;
            old++;
        }
        const struct lks_bridge_runs_live *was =
            old < r->live_count && order == 0 ? &r->live[old++] : NULL;
        if (take_job(t, was, &t->news->live[i]) != LKS_OK)
            return t->err->code;
    }
    for (; old < r->live_count; old++) {
        if (is_open(&r->live[old]) && tell_gone(t, &r->live[old], "unknown", 0) != LKS_OK)
            return t->err->code;
    }
    return LKS_OK;
}

/* The reading as the bridge's own, sorted. */
static enum lks_code copy_reading(struct taking *t)
{
    size_t count = t->reading->count;
    if (count > LKS_BRIDGE_RUNS_LIVE)
        return lks_fail(t->err, LKS_E_LIMIT, "slurmctld has more than %" PRIu32 " jobs",
                        LKS_BRIDGE_RUNS_LIVE);
    t->news->live = lks_arena_array(&t->news->arena, count + 1, sizeof(*t->news->live));
    for (size_t i = 0; t->news->live != NULL && i < count; i++) {
        struct lks_bridge_run *run = &t->news->live[i].run;
        struct lks_str *const texts[] = {&run->id,        &run->name,  &run->user,   &run->account,
                                         &run->partition, &run->state, &run->reason, &run->nodes};
        *run = t->reading->runs[i];
        for (size_t k = 0; k < LKS_COUNT(texts); k++)
            *texts[k] = lks_arena_copy(&t->news->arena, *texts[k]);
    }
    if (t->news->live == NULL || t->news->arena.out_of_memory)
        return lks_arena_fail(&t->news->arena, t->err);
    qsort(t->news->live, count, sizeof(*t->news->live), by_id);
    return LKS_OK;
}

/* Remembering ---------------------------------------------------------------------------------- */

static void drop_oldest(struct lks_bridge_runs *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        r->bytes -= r->items[i].json_len;
        r->from = r->items[i].place.at + 1;
        free(r->items[i].json);
    }
    memmove(r->items, r->items + count, (r->count - count) * sizeof(*r->items));
    r->count -= count;
}

/* Behind the last one, also where slurmctld's clock was set back. A reader may have gone on to
 * `shown`, which earlier readings told as the end: nothing is placed before it. */
static void append(struct lks_bridge_runs *r, lks_ms shown, struct lks_bridge_runs_item *item)
{
    LKS_ASSERT(r->items != NULL); /* the caller made room */
    const struct lks_bridge_runs_item *last = r->count > 0 ? &r->items[r->count - 1] : NULL;
    if (item->place.at < shown)
        item->place.at = shown;
    if (last != NULL && compare_places(&item->place, &last->place) <= 0)
        item->place.at = last->place.at + 1;
    if (item->place.at >= r->until)
        r->until = item->place.at + 1;
    r->bytes += item->json_len;
    r->items[r->count++] = LKS_MOVE(*item);
}

static void drop_too_many(struct lks_bridge_runs *r)
{
    while (r->count > LKS_BRIDGE_RUNS_MAX || r->bytes > LKS_BRIDGE_RUNS_BYTES)
        drop_oldest(r, (r->count + DROPPED_PART - 1) / DROPPED_PART);
}

enum lks_code lks_bridge_runs_prepare(const struct lks_bridge_runs *r,
                                      const struct lks_bridge_runs_reading *reading,
                                      struct lks_bridge_runs_news *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_bridge_runs_news_fini)
    struct lks_bridge_runs_news made = {
        .at = reading->at, .kept = reading->kept, .live_count = reading->count};
    struct taking t = {.r = r, .reading = reading, .news = &made, .err = err};
    lks_arena_init(&made.arena, LIVE_BYTES_MAX);
    if (copy_reading(&t) != LKS_OK || compare(&t) != LKS_OK)
        return err->code;
    if (made.arena.out_of_memory)
        return lks_arena_fail(&made.arena, err);
    if (made.count > 0)
        qsort(made.items, made.count, sizeof(*made.items), by_place);
    *out = LKS_MOVE(made);
    return LKS_OK;
}

enum lks_code lks_bridge_runs_take(struct lks_bridge_runs *r, struct lks_bridge_runs_news *news,
                                   struct lks_err *err)
{
    struct lks_arena before = r->arena;
    lks_ms shown = r->until;
    if (LKS_VEC_RESERVE(r->items, r->room, (size_t)r->count + news->count, err) != LKS_OK)
        return err->code;
    if (r->until == 0)
        r->from = news->at - (news->kept < news->at ? news->kept : news->at);
    if (news->at > r->until)
        r->until = news->at;
    for (uint32_t i = 0; i < news->count; i++)
        append(r, shown, &news->items[i]);
    news->count = 0;
    drop_too_many(r);
    r->arena = news->arena;
    r->live = news->live;
    r->live_count = news->live_count;
    news->arena = before;
    return LKS_OK;
}

/* The answer ------------------------------------------------------------------------------------
 */

enum lks_code lks_bridge_runs_ask_read(const char *after, const char *id, const char *max,
                                       struct lks_bridge_runs_ask *out, struct lks_err *err)
{
    struct lks_bridge_runs_ask made = {.max = LKS_BRIDGE_RUNS_PAGE};
    struct lks_str place = lks_str_from(id != NULL ? id : "");
    uint64_t number = 0;
    if (after != NULL && !lks_str_number(lks_str_from(after), LKS_TIME_MAX, &made.after.at))
        return lks_fail(err, LKS_E_INVALID, "after: milliseconds since 1970");
    if (place.len > LKS_BRIDGE_RUNS_ID || !lks_str_printable(place))
        return lks_fail(err, LKS_E_INVALID, "id: the id of a job");
    memcpy(made.after.id, place.ptr, place.len);
    if (max != NULL &&
        (!lks_str_number(lks_str_from(max), LKS_BRIDGE_RUNS_PAGE, &number) || number == 0))
        return lks_fail(err, LKS_E_INVALID, "max: 1 to %d", LKS_BRIDGE_RUNS_PAGE);
    made.max = max != NULL ? (uint32_t)number : made.max;
    *out = made;
    return LKS_OK;
}

void lks_bridge_runs_json(const struct lks_bridge_runs *r, const struct lks_bridge_runs_ask *ask,
                          lks_ms age, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    uint32_t first = 0, end;
    LKS_VEC_PLACE(first, r->count, compare_places(&r->items[first].place, &ask->after) <= 0);
    end = r->count - first > ask->max ? first + ask->max : r->count;
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "age", (int64_t)age);
    lks_json_int(&w, "from", (int64_t)r->from);
    lks_json_int(&w, "until", (int64_t)r->until);
    lks_json_bool(&w, "more", end < r->count);
    lks_json_begin(&w, "runs", '[');
    for (uint32_t i = first; i < end; i++) {
        const struct lks_bridge_runs_item *item = &r->items[i];
        lks_json_begin(&w, NULL, '{');
        lks_json_int(&w, "at", (int64_t)item->place.at);
        lks_json_raw(&w, "run", (struct lks_str){item->json, item->json_len});
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}
