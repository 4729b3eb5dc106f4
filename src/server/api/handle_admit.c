/* Admission: the question, overrides, the log of decisions, what observing pools would refuse. */
#include "base/vec.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/rows.h"
#include "server/base/daemon.h"
#include "server/form/views.h"
#include "trust/dsse.h"

#include <stdlib.h>

enum { OBSERVE_MS = 60 * 1000, IMAGES_TEXT_MAX = 256 << 10 };

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

static void count_bar(struct lks_authz *authz, uint32_t pool, enum lks_bar bar, bool refused)
{
    struct lks_authz_observed *o = &authz->observed[pool];
    if (o->question != authz->questions || (o->bars >> bar & 1) != 0)
        return;
    o->bars |= UINT32_C(1) << bar;
    o->refused[bar]++;
    struct lks_metrics_pool *m = &authz->metrics.pools[pool];
    if (refused)
        m->refused[bar]++;
    else
        m->would[bar]++;
}

/* A reason without a pool is one of all the job's pools. */
static void count_list(struct lks_authz *authz, const struct lks_admit *a,
                       const struct lks_admit_list *list, bool refused)
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
            count_bar(authz, pool, no->bar, refused);
        for (uint32_t p = 0; no->pool.len == 0 && p < a->pool_count; p++)
            count_bar(authz, a->pools[p], no->bar, refused);
    }
}

static void count_answer(struct lks_authz *authz, const struct lks_call *call,
                         const struct lks_admit *a)
{
    authz->metrics.admissions[a->overridden ? LKS_ANSWER_OVERRIDDEN
                              : a->yes      ? LKS_ANSWER_YES
                                            : LKS_ANSWER_NO]++;
    lks_decisions_note(&authz->decisions, LKS_ASKED(call, lks_ask_admit)->job, a);
    if (!make_room(authz))
        return;
    count_asked(authz, a);
    count_list(authz, a, &a->refused, !a->yes);
    count_list(authz, a, &a->warned, false);
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
    struct lks_event event = {
        .kind = LKS_EVENT_OBSERVED, .observed_count = count, .observed = list};
    lks_decision_init(&d);
    enum lks_code code =
        count == 0 ? LKS_E_NOT_FOUND
                   : lks_engine_turn(authz->engine, authz->now, &event, NULL, &d, &needs, &err);
    free(list);
    if (code == LKS_E_IO)
        lks_daemon_die(authz->daemon, "the journal is in an unknown state", &err);
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
    count_answer(authz, call, &a);
    if (!a.yes || !start || begin_job(authz, call, &ask, &a))
        write_answer(authz, call, &ask, &a);
    lks_metrics_histogram_add(&authz->metrics.admission, (uv_hrtime() - began) / 1000);
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

static void put_observed(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                         const struct lks_observed *o)
{
    char day[LKS_DAY_TEXT_SIZE];
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "pool", lks_state_text(s, s->pools[pool].name));
    lks_view_text(w, "enforce", lks_state_text(s, s->pools[pool].enforce));
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

void lks_handle_observed(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    uint64_t today = lks_engine_now(authz->engine, authz->now).wall / DAY_MS;
    struct lks_json_writer w = lks_call_list(call);
    for (uint32_t p = 0; p < s->pool_count; p++) {
        struct lks_scope scope = {.pool = lks_state_text(s, s->pools[p].name)};
        if (!s->pools[p].known || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        for (uint64_t back = 0; back < LKS_STATE_DAYS && back <= today; back++) {
            struct lks_observed o = day_of(authz, p, today - back, back == 0);
            if (o.asked != 0)
                put_observed(&w, s, p, &o);
        }
    }
    lks_call_list_end(&w, 0);
}
