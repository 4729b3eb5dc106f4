/* Admission: the question, overrides, the log of decisions, what observing pools would refuse. */
#include "base/vec.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/rows/refusal.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/rows.h"
#include "server/base/daemon.h"
#include "server/form/forms.h"
#include "server/form/views.h"
#include "trust/dsse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OBSERVE_MS = 60 * 1000,
    IMAGES_TEXT_MAX = 256 << 10,
    UNANSWERED_COUNTED = 10000, /* jobs of one report */
};

#define DAY_MS ((lks_ms)86400 * LKS_SECOND)

/* What is counted ---------------------------------------------------------------------------- */

/* A place for each pool there is; false when memory ran out, and then nothing is counted. */
static bool make_room(struct lks_authz *authz)
{
    uint32_t pools = authz->state->pool_count;
    return lks_metrics_pools(&authz->metrics, pools) &&
           LKS_VEC_RESERVE(authz->observed, authz->observed_room, pools, NULL) == LKS_OK;
}

/* The job asked once in each pool of its nodes. */
static void count_asked(struct lks_authz *authz, const struct lks_admit *a)
{
    authz->questions++;
    for (uint32_t i = 0; i < a->pool_count; i++) {
        struct lks_authz_observed *o = &authz->observed[a->pools[i]];
        o->question = authz->questions;
        o->bars = 0;
        o->asked++;
    }
}

/* A job counts once for each of its nodes, and once for its user and image: for the image of the
 * first reason of a kind, or, where that names none, for the job's first. */
static void count_bar(struct lks_authz *authz, const struct lks_authz_asked *asked, uint32_t pool,
                      const struct lks_admit_no *no, bool refused)
{
    struct lks_authz_observed *o = &authz->observed[pool];
    enum lks_bar bar = no->bar;
    struct lks_rec_refusal of = {
        .pool = lks_state_text(authz->state, authz->state->pools[pool].name),
        .bar = bar,
        .node = no->node,
    };
    if (o->question != authz->questions)
        return;
    if (no->node.len > 0)
        lks_refused_add(&authz->refused, authz->questions, &of);
    if ((o->bars >> bar & 1) != 0)
        return;
    of.node = LKS_STR("");
    of.user = asked->user;
    of.image = no->image.len > 0 || asked->image_count == 0 ? no->image : asked->images[0].ref;
    lks_refused_add(&authz->refused, authz->questions, &of);
    o->bars |= UINT32_C(1) << bar;
    o->refused[bar]++;
    struct lks_metrics_pool *m = &authz->metrics.pools[pool];
    if (refused)
        m->refused[bar]++;
    else
        m->would[bar]++;
}

/* A reason without a pool is one of all the job's pools. */
static void count_list(struct lks_authz *authz, const struct lks_authz_asked *asked,
                       const struct lks_admit *a, const struct lks_admit_list *list, bool refused)
{
    const struct lks_state *s = authz->state;
    struct lks_str last = {0};
    uint32_t pool = UINT32_MAX;
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_admit_no *no = &list->items[i];
        if (no->pool.len > 0 && !lks_str_eq(no->pool, last)) {
            pool = lks_state_pool(s, no->pool);
            last = no->pool;
        }
        if (no->pool.len > 0 && pool < s->pool_count)
            count_bar(authz, asked, pool, no, refused);
        for (uint32_t p = 0; no->pool.len == 0 && p < a->pool_count; p++)
            count_bar(authz, asked, a->pools[p], no, refused);
    }
}

void lks_handle_admit_count(struct lks_authz *authz, const struct lks_authz_asked *asked,
                            const struct lks_admit *a)
{
    authz->metrics.admissions[a->overridden ? LKS_ANSWER_OVERRIDDEN
                              : a->yes      ? LKS_ANSWER_YES
                                            : LKS_ANSWER_NO]++;
    lks_decisions_note(&authz->decisions, asked->job, asked->user, a);
    if (!make_room(authz))
        return;
    count_asked(authz, a);
    count_list(authz, asked, a, &a->refused, !a->yes);
    count_list(authz, asked, a, &a->warned, false);
}

/* As records of one pool: the first of them says how many jobs asked. */
static size_t list_pool(const struct lks_authz *authz, uint32_t pool, struct lks_rec_observed *out)
{
    const struct lks_authz_observed *o = &authz->observed[pool];
    struct lks_str name = lks_state_text(authz->state, authz->state->pools[pool].name);
    size_t count = 0;
    if (o->asked == 0)
        return 0;
    for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++) {
        if (o->refused[bar] != 0)
            out[count++] =
                (struct lks_rec_observed){.pool = name, .bar = bar, .refused = o->refused[bar]};
    }
    if (count == 0)
        out[count++] = (struct lks_rec_observed){.pool = name};
    out[0].asked = o->asked;
    return count;
}

void lks_handle_admit_observe(struct lks_authz *authz, bool now)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    size_t count = 0;
    bool due = now || authz->now.mono >= authz->observed_at + OBSERVE_MS;
    if (!due || authz->observed == NULL || authz->following ||
        lks_engine_stalled(authz->engine, NULL))
        return;
    authz->observed_at = authz->now.mono;
    uint32_t pools = authz->state->pool_count < authz->observed_room ? authz->state->pool_count
                                                                     : authz->observed_room;
    struct lks_rec_observed *list = calloc((size_t)pools * LKS_BAR_COUNT + 1, sizeof(*list));
    for (uint32_t p = 0; list != NULL && p < pools; p++)
        count += list_pool(authz, p, list + count);
    struct lks_event event = {.kind = LKS_EVENT_OBSERVED,
                              .observed_count = count,
                              .observed = list,
                              .refusal_count = authz->refused.count,
                              .refusals = authz->refused.rows};
    lks_decision_init(&d);
    enum lks_code code =
        count == 0 ? LKS_E_NOT_FOUND
                   : lks_engine_turn(authz->engine, authz->now, &event, NULL, &d, &needs, &err);
    free(list);
    if (code == LKS_E_IO)
        lks_daemon_die(authz->daemon, "the journal is in an unknown state", &err);
    if (code == LKS_OK)
        lks_refused_fini(&authz->refused);
    for (uint32_t p = 0; code == LKS_OK && p < pools; p++) {
        authz->observed[p].asked = 0;
        memset(authz->observed[p].refused, 0, sizeof(authz->observed[p].refused));
    }
}

/* The question ------------------------------------------------------------------------------ */

static struct lks_admit_ask read_ask(const struct lks_authz *authz, const struct lks_call *call)
{
    const struct lks_ask_admit *asked = LKS_ASKED(call, lks_ask_admit);
    bool has_criticality = asked->criticality != UINT64_MAX;
    return (struct lks_admit_ask){
        .job = asked->job,
        .names = call->hosts.names,
        .count = call->hosts.count,
        .stack = asked->stack,
        .images = asked->images.items,
        .image_count = asked->images.count,
        .nccl = asked->nccl,
        .canary_ok = asked->canary_ok,
        .has_criticality = has_criticality,
        .criticality = has_criticality ? (uint32_t)asked->criticality : 0,
        .behind = authz->behind,
    };
}

/* It may start and does: the journal says where, on what, and why although it should not. */
static bool begin_job(struct lks_authz *authz, struct lks_call *call,
                      const struct lks_admit_ask *ask, const struct lks_admit *a)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf images = LKS_BUF(IMAGES_TEXT_MAX);
    for (size_t i = 0; i < ask->image_count; i++)
        lks_buf_addf(&images, "%s%" LKS_STR_FMT, i > 0 ? " " : "", LKS_STR_ARG(ask->images[i].ref));
    struct lks_event event = {
        .kind = LKS_EVENT_JOB,
        .job = {.job = ask->job,
                .hosts = LKS_ASKED(call, lks_ask_admit)->where.nodes,
                .digest = a->digest,
                .images = lks_buf_view(&images),
                .override = a->override},
    };
    return lks_authz_turn(authz, call, &event, NULL, &d);
}

/* The journal's clock runs ahead after this machine's was ahead. The reader of the answer goes by
 * the true time, and a yes is good for no longer in that. */
static void tell_true_time(const struct lks_authz *authz, struct lks_admit *a)
{
    lks_ms until = authz->wall + authz->state->limits.validity;
    if (a->asked > authz->wall)
        a->asked = authz->wall;
    if (a->yes && a->valid_until > until)
        a->valid_until = until;
}

static void write_answer(struct lks_authz *authz, struct lks_call *call,
                         const struct lks_admit_ask *ask, const struct lks_admit *a)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf envelope = {0};
    struct lks_err err = {0};
    struct lks_json_writer w = lks_call_json(call);
    lks_admit_json(a, ask, &w);
    if (LKS_ASKED(call, lks_ask_admit)->sign) {
        lks_buf_init(&payload, LKS_DSSE_MAX);
        lks_buf_init(&envelope, LKS_DSSE_MAX);
        lks_buf_add(&payload, lks_buf_view(&call->out));
        lks_buf_addc(&payload, '}');
        if (lks_buf_check(&payload, &err) != LKS_OK ||
            lks_dsse_sign(&lks_daemon_secrets(authz->daemon)->journal, LKS_ADMISSION_TYPE,
                          lks_buf_view(&payload), &envelope, &err) != LKS_OK) {
            lks_call_problem(call, err.code, "too much to be signed (%s); ask about fewer nodes",
                             err.msg);
            return;
        }
        lks_json_text(&w, "envelope", lks_buf_view(&envelope));
    }
    lks_json_end(&w, '}');
}

void lks_handle_admit(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_admit_fini) struct lks_admit a = {0};
    struct lks_err err = {0};
    uint64_t began = uv_hrtime();
    bool start = LKS_ASKED(call, lks_ask_admit)->start;
    if (start && !lks_authz_may_hosts(authz, call, LKS_MAY_OPERATE)) {
        lks_call_problem(call, LKS_E_DENIED, "%s may not %s here, and `start` needs that",
                         call->identity, lks_permission_words[LKS_MAY_OPERATE]);
        return;
    }
    struct lks_admit_ask ask = read_ask(authz, call);
    if (lks_admit(authz->state, lks_engine_book(authz->engine),
                  lks_engine_now(authz->engine, authz->now), &ask, &a, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    tell_true_time(authz, &a);
    lks_handle_admit_count(authz,
                           &(struct lks_authz_asked){ask.job, LKS_ASKED(call, lks_ask_admit)->user,
                                                     ask.images, ask.image_count},
                           &a);
    if (!a.yes || !start || begin_job(authz, call, &ask, &a))
        write_answer(authz, call, &ask, &a);
    lks_metrics_histogram_add(&authz->metrics.admission, (uv_hrtime() - began) / 1000);
}

/* The journal keeps it over a restart. Later reports are only counted while the alarm is open. */
static bool raise_unanswered(struct lks_authz *authz, struct lks_call *call, uint64_t jobs,
                             bool more)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    char text[LKS_REASON_MAX], count[LKS_COUNT_TEXT_SIZE];
    snprintf(text, sizeof(text),
             "%s%s started without an answer from lockstepd, by the first report of %s since its "
             "last alarm was closed; lockstep_admissions_without_answer_total counts later ones; "
             "is slurm-prolog's token valid, and does lockstepd answer it in time?",
             more ? "at least " : "", lks_str_count_text(jobs, "job", count), call->identity);
    struct lks_event event = {
        .kind = LKS_EVENT_SCHED_ALARM,
        .sched_alarm = {.kind = LKS_ALARM_UNANSWERED,
                        .subject = lks_str_from(call->identity),
                        .text = lks_str_from(text)},
    };
    return lks_authz_turn(authz, call, &event, NULL, &d);
}

/* Jobs that a scheduler started while nothing answered. Any viewer of the fleet can report, so each
 * identity may do it once a minute, and a report counts a limited number of jobs. */
void lks_handle_unanswered(struct lks_authz *authz, struct lks_call *call)
{
    char count[32];
    uint64_t said = LKS_ASKED(call, lks_ask_unanswered)->count;
    uint64_t jobs = said < UNANSWERED_COUNTED ? said : UNANSWERED_COUNTED;
    if (!lks_authz_charge_minute(authz, call, &authz->starts) ||
        !raise_unanswered(authz, call, jobs, said > jobs))
        return;
    struct lks_log_field fields[] = {{"jobs", LKS_STR("")}, {"by", lks_str_from(call->identity)}};
    snprintf(count, sizeof(count), "%" PRIu64, said);
    fields[0].value = lks_str_from(count);
    lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "jobs started without an answer", fields,
                   LKS_COUNT(fields));
    authz->metrics.unanswered += jobs;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "done", true);
    lks_json_end(&w, '}');
}

/* Overrides --------------------------------------------------------------------------------- */

void lks_handle_override(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_override *ask = LKS_ASKED(call, lks_ask_override);
    struct lks_event event = {
        .kind = LKS_EVENT_OVERRIDE,
        .reason = ask->reason,
        .override = {.job = ask->job,
                     .hosts = ask->where.nodes,
                     .reason = ask->reason,
                     .until = ask->until},
    };
    if (lks_authz_end(authz, call, "until", ask->until))
        lks_authz_record(authz, call, &event);
}

/* Older ones leave, so a page may show one again. */
void lks_handle_overrides(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows overrides = {.view = &lks_view_overrides};
    lks_rows_page(authz, call, &overrides);
}

/* The log ----------------------------------------------------------------------------------- */

void lks_handle_admissions(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_decided **list =
        lks_arena_array(&call->asked.arena, LKS_DECISIONS_MAX, sizeof(*list));
    struct lks_authz_page page;
    const struct lks_query_admissions *ask = LKS_ASKED(call, lks_query_admissions);
    if (list == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return;
    }
    if (!lks_authz_page_begin(call, &ask->page, &page))
        return;
    size_t count = lks_decisions_list(&authz->decisions, page.after, list), i = 0;
    for (; i < count && page.left > 0; i++) {
        struct lks_scope scope = {.pool = lks_str_from(list[i]->pool)};
        if ((ask->job.len > 0 && !lks_str_is(ask->job, list[i]->job)) ||
            (ask->reason >= 0 && list[i]->bar != (unsigned)ask->reason) ||
            !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        lks_json_begin(&page.w, NULL, '{');
        lks_decisions_json(&page.w, list[i]);
        lks_json_end(&page.w, '}');
        page.left--;
    }
    page.next = i < count ? list[i - 1]->id : 0;
    lks_authz_page_end(&page);
}

/* What was observed ------------------------------------------------------------------------- */

/* Refusals of a pool in a week that have the same user, image, reason or node. */
struct refusal_key {
    uint32_t pool;
    struct lks_str key;      /* the user, image, reason or node */
    struct lks_observed sum; /* `asked` is the sum of all reasons; `day` the last one */
    uint64_t first;
};

static void put_observed(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                         const struct lks_observed *o, const struct refusal_key *of, const char *by)
{
    char day[LKS_DAY_TEXT_SIZE];
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "pool", lks_state_text(s, s->pools[pool].name));
    lks_view_text(w, "enforce", lks_state_text(s, s->pools[pool].enforce));
    if (of != NULL) {
        lks_json_some(w, by, of->key);
        lks_json_cstr(w, "since", lks_time_day_text((lks_day)of->first, day));
    }
    lks_json_cstr(w, "day", lks_time_day_text((lks_day)o->day, day));
    lks_json_int(w, "asked", (int64_t)o->asked);
    lks_json_begin(w, "refused", '{');
    for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++) {
        if (o->refused[bar] != 0)
            lks_json_int(w, lks_bar_words[bar], (int64_t)o->refused[bar]);
    }
    lks_json_end(w, '}');
    lks_json_end(w, '}');
}

/* A day of a pool, with what is not recorded yet. */
static struct lks_observed day_of(const struct lks_authz *authz, uint32_t pool, uint64_t day,
                                  bool today)
{
    struct lks_observed o = authz->state->pools[pool].observed[day % LKS_STATE_DAYS];
    if (o.day != day)
        o = (struct lks_observed){.day = day};
    if (!today || pool >= authz->observed_room)
        return o;
    o.asked += authz->observed[pool].asked;
    for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++)
        o.refused[bar] += authz->observed[pool].refused[bar];
    return o;
}

/* By user, image, reason or node ------------------------------------------------------------- */

struct report {
    const struct lks_state *s;
    int by;
    struct refusal_key *keys;
    size_t count;
};

static void add_refusal(struct report *r, uint64_t day, const struct lks_rec_refusal *row)
{
    const struct lks_str keys[] = {row->user, row->image, lks_str_from(lks_bar_words[row->bar]),
                                   row->node};
    uint32_t pool = lks_state_pool(r->s, row->pool);
    if (pool == UINT32_MAX || (row->node.len > 0) != (r->by == LKS_OBSERVED_BY_NODE))
        return;
    r->keys[r->count] = (struct refusal_key){
        .pool = pool, .key = keys[r->by], .sum = {.day = day, .asked = row->count}, .first = day};
    r->keys[r->count++].sum.refused[row->bar] = row->count;
}

static int by_key(const void *left, const void *right)
{
    const struct refusal_key *a = left, *b = right;
    int order = (a->pool > b->pool) - (a->pool < b->pool);
    return order != 0 ? order : lks_str_cmp(a->key, b->key);
}

/* Within a pool, the one with the most refusals first. */
static int by_sum(const void *left, const void *right)
{
    const struct refusal_key *a = left, *b = right;
    int order = (a->pool > b->pool) - (a->pool < b->pool);
    if (order == 0)
        order = (a->sum.asked < b->sum.asked) - (a->sum.asked > b->sum.asked);
    return order != 0 ? order : lks_str_cmp(a->key, b->key);
}

/* One for each pool and key, of all rows with these. */
static void merge(struct report *r)
{
    size_t count = 0;
    qsort(r->keys, r->count, sizeof(r->keys[0]), by_key);
    for (size_t i = 0; i < r->count; i++) {
        struct refusal_key *from = &r->keys[i];
        struct refusal_key *to = count > 0 ? &r->keys[count - 1] : NULL;
        if (to == NULL || by_key(to, from) != 0) {
            r->keys[count++] = *from;
            continue;
        }
        to->first = from->first < to->first ? from->first : to->first;
        to->sum.day = from->sum.day > to->sum.day ? from->sum.day : to->sum.day;
        to->sum.asked += from->sum.asked;
        for (size_t bar = 0; bar < LKS_BAR_COUNT; bar++)
            to->sum.refused[bar] += from->sum.refused[bar];
    }
    r->count = count;
    qsort(r->keys, r->count, sizeof(r->keys[0]), by_sum);
}

/* Rows of the state, and what is not recorded yet. */
static bool collect(const struct lks_authz *authz, struct lks_arena *arena, uint64_t today,
                    struct report *r)
{
    const struct lks_state *s = r->s;
    size_t room = (size_t)s->refusals.count + authz->refused.count + 1;
    r->keys = lks_arena_array(arena, room, sizeof(r->keys[0]));
    if (r->keys == NULL)
        return false;
    for (uint32_t i = 0; i < s->refusals.count; i++) {
        const struct lks_refusal *row = &s->refusals.list[i];
        const struct lks_rec_refusal seen = {.pool = lks_state_text(s, row->pool),
                                             .bar = row->bar,
                                             .user = lks_state_text(s, row->user),
                                             .image = lks_state_text(s, row->image),
                                             .node = lks_state_text(s, row->node),
                                             .count = row->count};
        if (row->day + LKS_STATE_DAYS > today)
            add_refusal(r, row->day, &seen);
    }
    for (uint32_t i = 0; i < authz->refused.count; i++)
        add_refusal(r, today, &authz->refused.rows[i]);
    merge(r);
    return true;
}

static void report_by(struct lks_authz *authz, struct lks_call *call, int by, uint64_t today)
{
    struct report r = {.s = authz->state, .by = by};
    if (!collect(authz, &call->asked.arena, today, &r)) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return;
    }
    struct lks_json_writer w = lks_call_list(call);
    for (size_t i = 0; i < r.count; i++) {
        struct refusal_key *k = &r.keys[i];
        struct lks_scope scope = {.pool = lks_state_text(r.s, r.s->pools[k->pool].name)};
        if (!r.s->pools[k->pool].known || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        k->sum.asked = 0;
        for (uint64_t back = 0; back < LKS_STATE_DAYS && back <= today; back++)
            k->sum.asked += day_of(authz, k->pool, today - back, back == 0).asked;
        put_observed(&w, r.s, k->pool, &k->sum, k, lks_observed_by_words[by]);
    }
    lks_call_list_end(&w, 0);
}

void lks_handle_observed(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    uint64_t today = lks_engine_now(authz->engine, authz->now).wall / DAY_MS;
    int by = LKS_ASKED(call, lks_query_observed)->by;
    if (by >= 0) {
        report_by(authz, call, by, today);
        return;
    }
    struct lks_json_writer w = lks_call_list(call);
    for (uint32_t p = 0; p < s->pool_count; p++) {
        struct lks_scope scope = {.pool = lks_state_text(s, s->pools[p].name)};
        if (!s->pools[p].known || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        for (uint64_t back = 0; back < LKS_STATE_DAYS && back <= today; back++) {
            struct lks_observed o = day_of(authz, p, today - back, back == 0);
            if (o.asked != 0)
                put_observed(&w, s, p, &o, NULL, NULL);
        }
    }
    lks_call_list_end(&w, 0);
}
