/* Runs of jobs that ended, as records. */
#include "core/rules/decide_runs.h"

#include "base/vec.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/rules/decide_rules.h"
#include "core/sched/jobs.h"
#include "core/state/runs.h"
#include "core/state/state.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_MS   (3600 * LKS_SECOND)
#define HOSTS_MAX ((size_t)64 << 20)

#define GPU_MS_MAX ((uint64_t)INT64_MAX) /* JSON has no number beyond that */

enum { STACKS_MAX = 4, HOSTS_BYTES_MAX = 64 << 10 };

struct lks_sched_runs_place lks_decide_runs_after(const struct lks_state *s, struct lks_str site,
                                                  struct lks_str sched)
{
    const struct lks_runs_place *place = lks_runs_place(s, site, sched);
    if (place == NULL)
        return (struct lks_sched_runs_place){0};
    return (struct lks_sched_runs_place){place->at, lks_state_text(s, place->job)};
}

/* A run ------------------------------------------------------------------------------------- */

/* The nodes of the fleet that it ran on: pool, number, and their stacks. False: none. */
static bool find_nodes(struct lks_deciding *d, const struct lks_sched_run *run,
                       struct lks_rec_job_ended *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    const struct lks_state *s = d->state;
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    lks_text stacks[STACKS_MAX];
    size_t stack_count = 0;
    uint32_t pool = UINT32_MAX;
    if (run->nodes.len == 0 || run->nodes.len > HOSTS_BYTES_MAX ||
        lks_hostlist_parse(run->nodes, &arena, &hosts, &err) != LKS_OK)
        return false;
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(s, hosts.names[i]);
        if (node == LKS_NO_NODE || !s->nodes[node].placed || s->nodes[node].asset != 0 ||
            !lks_str_eq(lks_state_text(s, s->nodes[node].site), d->event->runs.site))
            continue;
        if (pool >= s->pool_count)
            pool = s->nodes[node].pool;
        const struct lks_state_verdict *v = lks_state_verdict(s, node);
        lks_text stack = v != NULL ? v->stack : 0;
        size_t k = 0;
        while (k < stack_count && stacks[k] != stack)
            k++;
        if (stack != 0 && k == stack_count && k < STACKS_MAX)
            stacks[stack_count++] = stack;
    }
    if (pool >= s->pool_count)
        return false;
    out->pool = lks_state_text(s, s->pools[pool].name);
    out->nodes = hosts.count;
    for (size_t i = 0; i < stack_count; i++)
        out->digest =
            lks_decision_text(d, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(out->digest),
                              i > 0 ? " " : "", LKS_STR_ARG(lks_state_text(s, stacks[i])));
    return true;
}

/* Changes that acted on runs ------------------------------------------------------------------ */

/* For an answer: made when the first run asks, as most answers have none that does. */
struct acts {
    bool made;
    uint64_t *changes; /* by run of the answer; 0: none */
};

struct wanted {
    lks_ms started;
    struct lks_str whole;
    uint32_t run;
};

static int compare_wanted(const struct wanted *a, const struct wanted *b)
{
    if (a->started != b->started)
        return a->started < b->started ? -1 : 1;
    return lks_str_cmp(a->whole, b->whole);
}

static int by_start(const void *a, const void *b)
{
    return compare_wanted(a, b);
}

/* The runs that the act signalled or requeued. */
static void mark_act(const struct lks_deciding *d, const struct lks_job_acted *act, uint64_t change,
                     const struct wanted *list, uint64_t *changes)
{
    const struct lks_event_runs *e = &d->event->runs;
    struct lks_str job = lks_state_text(d->state, act->job);
    struct wanted key = {.started = act->started, .whole = lks_sched_jobs_whole(job)};
    uint32_t i = 0, count = e->runs->count;
    if (act->state == LKS_JOB_REFUSED || !lks_str_eq(lks_state_text(d->state, act->site), e->site))
        return;
    LKS_VEC_PLACE(i, count, compare_wanted(&list[i], &key) < 0);
    for (; i < count && compare_wanted(&list[i], &key) == 0; i++) {
        struct lks_str id = e->runs->items[list[i].run].place.id;
        if (changes[list[i].run] == 0 && (lks_str_eq(job, id) || lks_str_eq(job, key.whole)))
            changes[list[i].run] = change;
    }
}

/* The newest change that acted on a run wins. */
static void make_acts(struct lks_deciding *d, struct acts *acts)
{
    const struct lks_state *s = d->state;
    const struct lks_sched_runs *runs = d->event->runs.runs;
    struct wanted *list = lks_arena_array(&d->out->arena, runs->count, sizeof(*list));
    uint64_t *changes = lks_arena_array(&d->out->arena, runs->count, sizeof(*changes));
    acts->made = true;
    if (list == NULL || changes == NULL)
        return; /* the decision fails */
    for (uint32_t i = 0; i < runs->count; i++)
        list[i] = (struct wanted){.started = runs->items[i].started,
                                  .whole = lks_sched_jobs_whole(runs->items[i].place.id),
                                  .run = i};
    qsort(list, runs->count, sizeof(*list), by_start);
    for (uint32_t i = s->change_count; i-- > 0;) {
        const struct lks_state_change *c = &s->changes[i];
        for (uint32_t k = 0; k < c->job_count; k++)
            mark_act(d, &c->jobs[k], c->id, list, changes);
    }
    acts->changes = changes;
}

/* The change that signalled or requeued this run; 0: none did. */
static uint64_t find_change(struct lks_deciding *d, struct acts *acts,
                            const struct lks_sched_run *run)
{
    if (!acts->made)
        make_acts(d, acts);
    return acts->changes != NULL ? acts->changes[run - d->event->runs.runs->items] : 0;
}

/* The record of a run -------------------------------------------------------------------------- */

static enum lks_run_cause cause_of(const struct lks_sched_run *run)
{
    static const enum lks_run_cause causes[LKS_RUN_STATE_COUNT] = {
        [LKS_RUN_CANCELLED] = LKS_RUN_BY_CANCEL,     [LKS_RUN_TIMEOUT] = LKS_RUN_BY_LIMIT,
        [LKS_RUN_NODE_FAIL] = LKS_RUN_BY_NODE,       [LKS_RUN_PREEMPTED] = LKS_RUN_BY_PREEMPTION,
        [LKS_RUN_OUT_OF_MEMORY] = LKS_RUN_BY_MEMORY, [LKS_RUN_BOOT_FAIL] = LKS_RUN_BY_NODE,
        [LKS_RUN_DEADLINE] = LKS_RUN_BY_LIMIT,       [LKS_RUN_REQUEUED] = LKS_RUN_BY_REQUEUE,
    };
    bool open = run->state == LKS_RUN_FAILED || run->state == LKS_RUN_REQUEUED ||
                run->state == LKS_RUN_UNKNOWN;
    return open && run->down.len > 0 ? LKS_RUN_BY_NODE : causes[run->state];
}

/* A job that completed after a signal was not interrupted. */
static void find_cause(struct lks_deciding *d, struct acts *acts, const struct lks_sched_run *run,
                       struct lks_rec_job_ended *out)
{
    enum lks_run_cause cause = cause_of(run);
    bool any = run->state != LKS_RUN_COMPLETED && run->state != LKS_RUN_TIMEOUT;
    uint64_t change = any && cause != LKS_RUN_BY_NODE ? find_change(d, acts, run) : 0;
    if (change != 0) {
        cause = LKS_RUN_BY_LOCKSTEP;
        out->by = lks_decision_text(d, "change:%llu", (unsigned long long)change);
    } else if (cause == LKS_RUN_BY_NODE) {
        out->by = run->down;
    }
    out->cause = cause;
}

/* A bridge chooses the numbers: products and sums end at the most that a record can tell. */
static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t out;
    return __builtin_mul_overflow(a, b, &out) || out > GPU_MS_MAX ? GPU_MS_MAX : out;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > GPU_MS_MAX - b ? GPU_MS_MAX : a + b;
}

static struct lks_rec_job_ended describe(const struct lks_deciding *d,
                                         const struct lks_sched_run *run)
{
    return (struct lks_rec_job_ended){
        .job = run->place.id,
        .site = d->event->runs.site,
        .sched = d->event->runs.sched,
        .user = run->user,
        .account = run->account,
        .partition = run->partition,
        .name = run->name,
        .hosts = run->nodes,
        .gpus = run->gpus,
        .started = run->started,
        .ended = run->ended,
        .state = run->state,
        .exit = run->exit,
        .restarts = run->restarts,
        .gpu_ms = product(run->gpus, run->ended - run->started),
        .reason = run->reason,
    };
}

static bool is_worth(const struct lks_rec_job_ended *r)
{
    return r->ended - r->started >= LKS_RUNS_OWN_MS || r->gpu_ms >= LKS_RUNS_OWN_GPUS ||
           lks_runs_interrupted((enum lks_run_cause)r->cause);
}

/* Those that are counted together ---------------------------------------------------------------
 */

struct taking {
    struct lks_deciding *d;
    struct acts acts;
    struct lks_rec_job_batch groups[LKS_RUNS_GROUPS];
    uint32_t count;
};

/* The array that a task is of: "17_3" is of "17". */
static struct lks_str array_of(struct lks_str job)
{
    struct lks_str array, task;
    return lks_str_cut(job, '_', &array, &task) ? array : LKS_STR("");
}

static struct lks_rec_job_batch *find_group(struct taking *t, const struct lks_rec_job_batch *key)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct lks_rec_job_batch *g = &t->groups[i];
        if (g->state == key->state && g->cause == key->cause && lks_str_eq(g->job, key->job) &&
            lks_str_eq(g->user, key->user) && lks_str_eq(g->pool, key->pool) &&
            lks_str_eq(g->digest, key->digest))
            return g;
    }
    return NULL;
}

/* The pairs of a state and a cause: one for each state, LKS_RUN_BY_NODE for the three states that
 * leave the cause open, and LKS_RUN_BY_LOCKSTEP for the seven that a change can bring about. */
enum { PAIRS = LKS_RUN_STATE_COUNT + 3 + 7 };

/* Half of the groups are for runs whose array, user and stack are told apart, and the next ones for
 * those of a pool. The last ones are for runs whose pool is not named: one for each pair. */
static struct lks_rec_job_batch *make_group(struct taking *t, struct lks_rec_job_batch key)
{
    static const uint32_t room[] = {LKS_RUNS_GROUPS / 2, LKS_RUNS_GROUPS - PAIRS, LKS_RUNS_GROUPS};
    for (size_t i = 0; i < LKS_COUNT(room); i++) {
        if (i > 0)
            key.job = key.user = key.digest = LKS_STR("");
        if (i > 1)
            key.pool = LKS_STR("");
        struct lks_rec_job_batch *g = find_group(t, &key);
        if (g != NULL)
            return g;
        if (t->count < room[i]) {
            t->groups[t->count] = key;
            return &t->groups[t->count++];
        }
    }
    LKS_ASSERT(false); /* there is a group for each pair */
    return &t->groups[0];
}

static void add_to_group(struct taking *t, const struct lks_rec_job_ended *r)
{
    struct lks_rec_job_batch *g = make_group(t, (struct lks_rec_job_batch){
                                                    .job = array_of(r->job),
                                                    .site = r->site,
                                                    .sched = r->sched,
                                                    .user = r->user,
                                                    .pool = r->pool,
                                                    .digest = r->digest,
                                                    .state = r->state,
                                                    .cause = r->cause,
                                                    .started = r->started,
                                                    .ended = r->ended,
                                                });
    g->count++;
    g->gpu_ms = sum(g->gpu_ms, r->gpu_ms);
    g->started = r->started < g->started ? r->started : g->started;
    g->ended = r->ended > g->ended ? r->ended : g->ended;
}

/* An answer --------------------------------------------------------------------------------- */

/* Rows of their own that runs of the pool have had in the last hour, and by this decision. */
static uint32_t own_rows(const struct lks_deciding *d, struct lks_str pool)
{
    const struct lks_state *s = d->state;
    uint32_t count = 0;
    for (uint32_t i = s->runs.count; i-- > 0;) {
        const struct lks_run *run = &s->runs.list[i];
        if (run->recorded + HOUR_MS <= d->now.wall)
            break;
        count += run->hosts != 0 && lks_str_eq(lks_state_text(s, run->pool), pool);
    }
    for (size_t i = 0; i < d->out->count; i++) {
        const struct lks_record *r = &d->out->records[i];
        count += r->kind == LKS_RECORD_JOB_ENDED && lks_str_eq(r->job_ended.pool, pool);
    }
    return count;
}

static void take_run(struct taking *t, const struct lks_sched_run *run)
{
    struct lks_deciding *d = t->d;
    struct lks_rec_job_ended made = describe(d, run);
    if (!find_nodes(d, run, &made) ||
        lks_runs_find(d->state, made.site, made.job, made.started) != NULL)
        return; /* of no pool here, or counted: a requeue that two bridges noticed */
    find_cause(d, &t->acts, run, &made);
    if (is_worth(&made) && own_rows(d, made.pool) < LKS_RUNS_OWN_HOUR)
        lks_decision_add(d, LKS_RECORD_JOB_ENDED)->job_ended = made;
    else
        add_to_group(t, &made);
}

/* Whether the answer is to be taken: there are many runs, or they have waited. */
static bool is_due(const struct taking *t, const struct lks_runs_place *place)
{
    const struct lks_sched_runs *runs = t->d->event->runs.runs;
    lks_ms first = runs->count > 0 ? runs->items[0].place.at : runs->until;
    return place == NULL || runs->more || runs->until >= first + LKS_RUNS_WAIT ||
           runs->until >= place->at + LKS_RUNS_IDLE ||
           lks_runs_ahead(t->d->state, place) + t->d->out->count >= LKS_RUNS_AHEAD;
}

/* The place behind what the answer has. It never falls: runs would be counted again. */
static struct lks_sched_runs_place place_behind(const struct lks_deciding *d,
                                                struct lks_sched_runs_place before)
{
    const struct lks_sched_runs *runs = d->event->runs.runs;
    struct lks_sched_runs_place all = {.at = runs->until};
    struct lks_sched_runs_place last =
        runs->more || lks_sched_runs_compare(all, runs->last) < 0 ? runs->last : all;
    return lks_sched_runs_compare(last, before) < 0 ? before : last;
}

static void add_place(struct lks_deciding *d, const struct lks_runs_place *place)
{
    const struct lks_event_runs *e = &d->event->runs;
    struct lks_sched_runs_place last = place_behind(d, e->after);
    struct lks_rec_runs_read made = {
        .site = e->site, .sched = e->sched, .at = last.at, .job = last.id};
    if (place != NULL && e->runs->from > place->at) {
        made.missing_from = place->at;
        made.missing_until = e->runs->from;
    }
    lks_decision_add(d, LKS_RECORD_RUNS_READ)->runs_read = made;
}

/* The scheduler's clock was set back, and its bridge has started since: what ends before the clock
 * is where it was cannot be told from what was counted. */
static bool is_set_back(struct lks_deciding *d, const struct lks_runs_place *place)
{
    const struct lks_event_runs *e = &d->event->runs;
    if (place == NULL || e->runs->until + LKS_RUNS_BACK >= place->at)
        return false;
    lks_decision_add(d, LKS_RECORD_RUNS_READ)->runs_read =
        (struct lks_rec_runs_read){.site = e->site,
                                   .sched = e->sched,
                                   .at = e->runs->until,
                                   .missing_from = e->runs->until,
                                   .missing_until = place->at};
    return true;
}

void lks_decide_runs(struct lks_deciding *d)
{
    const struct lks_event_runs *e = &d->event->runs;
    const struct lks_runs_place *place = lks_runs_place(d->state, e->site, e->sched);
    struct taking t = {.d = d};
    if (lks_sched_runs_compare(e->after, lks_decide_runs_after(d->state, e->site, e->sched)) != 0 ||
        is_set_back(d, place))
        return;
    for (uint32_t i = 0; i < e->runs->count; i++)
        take_run(&t, &e->runs->items[i]);
    if (!is_due(&t, place))
        return; /* rows of their own, if any: the others wait */
    for (uint32_t i = 0; i < t.count; i++)
        lks_decision_add(d, LKS_RECORD_JOB_BATCH)->job_batch = t.groups[i];
    add_place(d, place);
}
