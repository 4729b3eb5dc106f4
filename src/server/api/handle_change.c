/* Changes as people follow and steer them; what is frozen; rollbacks that were exercised. */
#include "core/campaign/campaign.h"
#include "core/firmware/endpoint.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/auth/reach.h"
#include "server/form/views_change.h"

#include <stdlib.h>

enum {
    MEMBERS_LOOKED_MAX = 100000, /* at which others have their turn */
    WAITS_MAX = 100,             /* nodes that are waited for, of one change */
};

/* Its scope was looked at, so it is there. */
static const struct lks_state_change *change_of(const struct lks_authz *authz,
                                                const struct lks_call *call)
{
    const struct lks_state_change *c = lks_state_change(authz->state, lks_authz_id(call));
    LKS_ASSERT(c != NULL);
    return c;
}

/* Looking at them --------------------------------------------------------------------------- */

/* Newest first: `after` is the number of the last one of the page before. */
void lks_handle_changes(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_page page;
    uint64_t looked = 0;
    const struct lks_query_changes *ask = LKS_ASKED(call, lks_query_changes);
    if (!lks_authz_page_begin(call, &ask->page, &page))
        return;
    for (uint32_t i = s->change_count; i-- > 0 && page.next == 0;) {
        const struct lks_state_change *c = &s->changes[i];
        if (c->id >= page.after)
            continue;
        bool shown = (ask->open < 0 || lks_change_over(c) != ask->open) &&
                     (ask->state < 0 || c->state == (unsigned)ask->state) &&
                     lks_authz_may_change(authz, call, c);
        if (shown) {
            lks_json_begin(&page.w, NULL, '{');
            lks_view_change_row(&page.w, s, c);
            lks_json_end(&page.w, '}');
            page.left--;
        }
        looked += c->member_count;
        if ((page.left == 0 || looked >= MEMBERS_LOOKED_MAX) && i > 0)
            page.next = c->id;
    }
    lks_authz_page_end(&page);
}

/* Whether no member of it that has not started may start. */
static bool is_frozen(const struct lks_state *s, const struct lks_state_change *c)
{
    bool frozen = s->frozen;
    for (uint32_t i = 0; !frozen && i < s->pool_count; i++)
        frozen = s->pools[i].frozen;
    for (uint32_t i = 0; frozen && i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        bool back = c->state == LKS_CHANGE_ROLLING_BACK && m->state == LKS_MEMBER_DONE;
        if ((back || !lks_member_over(m)) && lks_state_frozen(s, m->node))
            return true;
    }
    return false;
}

/* Nodes that its waves wait for, with what for and until when. */
static void put_waits(struct lks_json_writer *w, const struct lks_authz *authz,
                      const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    uint32_t left = lks_change_over(c) ? 0 : WAITS_MAX;
    lks_decision_init(&space);
    lks_json_begin(w, "waits", '[');
    for (uint32_t i = 0; i < c->member_count && left > 0; i++) {
        const struct lks_member *m = &c->members[i];
        struct lks_wait wait = {0};
        if (!lks_campaign_wait(authz->state, lks_engine_book(authz->engine), authz->now, c, m,
                               &space, &wait))
            continue;
        const struct lks_step *step = lks_member_step(c, m);
        lks_json_begin(w, NULL, '{');
        lks_json_int(w, "wave", c->units[m->unit].wave);
        lks_json_text(w, "node", lks_state_name(authz->state, m->node));
        lks_json_cstr(w, "state", lks_member_state_words[m->state]);
        if (step != NULL && m->state != LKS_MEMBER_PENDING)
            lks_json_cstr(w, "doing", lks_step_kind_words[step->kind]);
        lks_view_text(w, "why", wait.why);
        lks_view_time(w, "until", wait.until);
        lks_json_end(w, '}');
        left--;
    }
    lks_json_end(w, ']');
}

/* Nodes that schedulers reserve for its windows, as the leader had it listed last. */
static void put_reserved(struct lks_json_writer *w, const struct lks_authz *authz,
                         const struct lks_state_change *c)
{
    const struct lks_sched_sites *sites = &authz->sched.sites;
    struct lks_str pool, site;
    uint64_t change = 0;
    bool any = false;
    for (uint32_t i = 0; i < sites->count && !authz->following; i++) {
        const struct lks_sched_reservations *all = &sites->items[i]->reserved;
        for (uint32_t k = 0; k < all->count; k++) {
            const struct lks_sched_reservation *r = &all->list[k];
            if (!lks_sched_reservations_of(r->name, &change, &pool, &site) || change != c->id ||
                !lks_str_eq(site, sites->items[i]->site))
                continue;
            if (!any)
                lks_json_begin(w, "reserved", '[');
            any = true;
            lks_json_begin(w, NULL, '{');
            lks_json_text(w, "name", r->name);
            lks_view_text(w, "site", site);
            lks_json_text(w, "pool", pool);
            lks_json_text(w, "nodes", r->nodes);
            lks_view_time(w, "from", r->from);
            lks_view_time(w, "until", r->until);
            lks_json_end(w, '}');
        }
    }
    if (any)
        lks_json_end(w, ']');
}

/* People read here why it cannot start, and not only once they try. */
static void put_barred(struct lks_json_writer *w, const struct lks_authz *authz,
                       const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    lks_decision_init(&space);
    struct lks_str why = lks_decide_change_barred(authz->state, lks_engine_book(authz->engine),
                                                  authz->now, c, &space);
    if (why.len > 0)
        lks_json_text(w, "cannot_start", why);
}

void lks_handle_change(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_view_change_sketch_fini) struct lks_change_sketch k = {0};
    const struct lks_state *s = authz->state;
    const struct lks_state_change *c = change_of(authz, call);
    struct lks_err err = {0};
    bool plan = LKS_ASKED(call, lks_query_change)->plan != 0;
    if (lks_view_change_sketch_of(s, lks_engine_book(authz->engine), c, plan, &k, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "id", (int64_t)c->id);
    lks_view_change_wish(&w, &k);
    lks_view_change_stands(&w, s, c);
    lks_view_change_size(&w, &k);
    if (is_frozen(s, c))
        lks_json_bool(&w, "frozen", true);
    put_barred(&w, authz, c);
    lks_view_change_approvals(&w, s, c);
    lks_reach_view(&w, authz, c);
    lks_view_change_votes(&w, s, c);
    lks_view_change_glass(&w, s, c);
    lks_view_change_forecast(&w, s, lks_engine_book(authz->engine), c);
    lks_view_change_waves(&w, s, &k, c);
    put_waits(&w, authz, c);
    put_reserved(&w, authz, c);
    lks_view_jobs_acted(&w, s, c);
    const struct lks_view_jobs jobs = {s, lks_engine_book(authz->engine), &authz->sched.sites,
                                       authz->now};
    lks_view_jobs_unlisted(&w, &jobs, c);
    if (c->state == LKS_CHANGE_PROPOSED || c->state == LKS_CHANGE_APPROVED)
        lks_view_jobs_now(&w, &jobs, NULL, c);
    if (plan)
        lks_view_change_plan(&w, &k);
    lks_json_end(&w, '}');
}

static struct lks_str waits_of(const struct lks_authz *authz, const struct lks_state_change *c,
                               const struct lks_member *m, struct lks_decision *space)
{
    return lks_campaign_waits(authz->state, lks_engine_book(authz->engine), authz->now, c, m,
                              space);
}

/* By their places: who joins later stands behind those that are there. */
void lks_handle_change_members(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    struct lks_authz_page page;
    const struct lks_query_members *ask = LKS_ASKED(call, lks_query_members);
    if (!lks_authz_page_begin(call, &ask->page, &page))
        return;
    uint32_t at = page.after < c->member_count ? (uint32_t)page.after
                  : page.after == UINT64_MAX   ? 0
                                               : c->member_count;
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    lks_decision_init(&space);
    for (uint32_t looked = 0; at < c->member_count && page.next == 0; at++) {
        const struct lks_member *m = &c->members[at];
        if ((ask->state < 0 || m->state == (unsigned)ask->state) &&
            (ask->wave == UINT64_MAX || c->units[m->unit].wave == ask->wave)) {
            lks_json_begin(&page.w, NULL, '{');
            lks_view_change_member(&page.w, authz->state, c, at, waits_of(authz, c, m, &space));
            lks_json_end(&page.w, '}');
            page.left--;
        }
        if ((page.left == 0 || ++looked == MEMBERS_LOOKED_MAX) && at + 1 < c->member_count)
            page.next = (uint64_t)at + 1;
    }
    lks_authz_page_end(&page);
}

/* Steering them ----------------------------------------------------------------------------- */

void lks_handle_change_act(struct lks_authz *authz, struct lks_call *call, uint64_t id,
                           struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    if (!lks_authz_turn(authz, call, event, NULL, &d))
        return;
    const struct lks_state_change *c = lks_state_change(authz->state, id);
    LKS_ASSERT(c != NULL);
    struct lks_change_size size =
        lks_size_of_change(authz->state, lks_engine_book(authz->engine), c);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_json_int(&w, "id", (int64_t)id);
    lks_json_cstr(&w, "state", lks_change_state_words[c->state]);
    lks_json_int(&w, "nodes", size.nodes);
    lks_json_int(&w, "gpus", size.gpus);
    lks_view_change_approvals(&w, authz->state, c);
    if (c->state == LKS_CHANGE_RUNNING && is_frozen(authz->state, c))
        lks_json_bool(&w, "frozen", true);
    lks_json_end(&w, '}');
}

void lks_handle_change_vote(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    struct lks_event event = {
        .kind = LKS_EVENT_VOTE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .vote = {.change = c->id,
                 .yes = lks_str_is(lks_call_verb(call), "approve"),
                 .withdrawn = lks_str_is(lks_call_verb(call), "withdraw")},
    };
    lks_handle_change_act(authz, call, c->id, &event);
}

void lks_handle_change_waive(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    const struct lks_ask_waive *ask = LKS_ASKED(call, lks_ask_waive);
    struct lks_event event = {
        .kind = LKS_EVENT_WAIVE,
        .reason = ask->reason,
        .waive = {.change = c->id, .gate = ask->gate, .pool = ask->pool, .until = ask->until},
    };
    lks_handle_change_act(authz, call, c->id, &event);
}

void lks_handle_change_review(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    struct lks_event event = {
        .kind = LKS_EVENT_REVIEW,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .review = c->id,
    };
    lks_handle_change_act(authz, call, c->id, &event);
}

void lks_handle_change_forecast(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    struct lks_event event = {
        .kind = LKS_EVENT_FORECAST,
        .forecast = *LKS_ASKED(call, lks_rec_forecast),
    };
    event.forecast.change = c->id;
    lks_handle_change_act(authz, call, c->id, &event);
}

/* The person who starts a change repeats its size. */
static bool is_confirmed(const struct lks_authz *authz, struct lks_call *call,
                         const struct lks_ask_start *ask, const struct lks_state_change *c)
{
    struct lks_change_size size =
        lks_size_of_change(authz->state, lks_engine_book(authz->engine), c);
    char count[LKS_COUNT_TEXT_SIZE], cards[LKS_COUNT_TEXT_SIZE], said[LKS_COUNT_TEXT_SIZE];
    bool good = ask->nodes == size.nodes;
    if (good && ask->gpus == size.gpus)
        return true;
    uint64_t number = good ? ask->gpus : ask->nodes;
    lks_call_problem(
        call, LKS_E_REFUSED, "change %llu is for %s with %s, and %s %s confirmed; read it again",
        (unsigned long long)c->id, lks_str_count_text(size.nodes, "node", count),
        lks_str_count_text(size.gpus, "GPU", cards),
        lks_str_count_text(number, good ? "GPU" : "node", said), number == 1 ? "was" : "were");
    return false;
}

void lks_handle_change_move(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_change *c = change_of(authz, call);
    uint64_t order = LKS_ORDERED_COUNT;
    bool known = lks_record_word_find(lks_change_order_words, lks_call_verb(call), &order);
    LKS_ASSERT(known); /* by the table of routes */
    const struct lks_ask_start *start =
        order == LKS_ORDERED_START ? LKS_ASKED(call, lks_ask_start) : NULL;
    if (start != NULL && !is_confirmed(authz, call, start, c))
        return;
    struct lks_event event = {
        .kind = LKS_EVENT_CHANGE_MOVE,
        .reason = start != NULL ? start->reason : LKS_ASKED(call, lks_ask_reason)->reason,
        .move = {.change = c->id,
                 .order = (enum lks_change_order_word)order,
                 .glass = start != NULL && start->break_glass,
                 .standby = start != NULL ? start->standby : LKS_STR("")},
    };
    lks_handle_change_act(authz, call, c->id, &event);
}

/* Of some nodes of a change. */
static void move_members(struct lks_authz *authz, struct lks_call *call, enum lks_event_kind kind)
{
    const struct lks_state_change *c = change_of(authz, call);
    const struct lks_ask_members *ask = LKS_ASKED(call, lks_ask_members);
    struct lks_event event = {
        .kind = kind,
        .name = ask->nodes,
        .reason = ask->reason,
        .member = {.change = c->id, .again = ask->act == LKS_ACT_AGAIN},
    };
    lks_handle_change_act(authz, call, c->id, &event);
}

void lks_handle_member_move(struct lks_authz *authz, struct lks_call *call)
{
    move_members(authz, call, LKS_EVENT_MEMBER_MOVE);
}

void lks_handle_member_skip(struct lks_authz *authz, struct lks_call *call)
{
    move_members(authz, call, LKS_EVENT_MEMBER_SKIP);
}

/* Freezing ---------------------------------------------------------------------------------- */

/* The freeze that there is, of the pool or of the fleet. */
static void put_freeze(struct lks_json_writer *w, const struct lks_state *s, struct lks_str pool)
{
    const struct lks_state_pool *p = pool.len > 0 ? &s->pools[lks_state_pool(s, pool)] : NULL;
    lks_json_bool(w, "already", true);
    lks_view_by(w, s, p != NULL ? p->frozen_by : s->frozen_by,
                p != NULL ? p->frozen_reason : s->frozen_reason);
    lks_view_time(w, "since", p != NULL ? p->frozen_since : s->frozen_since);
}

static bool has_freeze(const struct lks_state *s, struct lks_str pool)
{
    uint32_t p = lks_state_pool(s, pool);
    return pool.len > 0 ? p < s->pool_count && s->pools[p].known && s->pools[p].frozen : s->frozen;
}

void lks_handle_freeze(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_ask_freeze *ask = LKS_ASKED(call, lks_ask_freeze);
    struct lks_event event = {
        .kind = LKS_EVENT_FREEZE,
        .reason = ask->reason,
        .freeze = {.pool = ask->where.pool, .on = lks_str_is(lks_call_verb(call), "freeze")},
    };
    bool already = event.freeze.on && has_freeze(authz->state, ask->where.pool);
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    if (already)
        put_freeze(&w, authz->state, ask->where.pool);
    lks_json_end(&w, '}');
}

/* Whether one of its pools, or all, is the caller's to look at. */
static bool may_see_days(const struct lks_authz *authz, const struct lks_call *call,
                         const struct lks_quiet *q)
{
    const struct lks_doc *name = q->pools != NULL ? q->pools->first : NULL;
    bool may = q->pools == NULL;
    for (; name != NULL && !may; name = name->next)
        may = lks_authz_may(authz, call, LKS_MAY_READ, (struct lks_scope){.pool = name->text});
    return may;
}

static void view_days(struct lks_json_writer *w, const struct lks_quiet *q,
                      const struct lks_doc *item, lks_day today)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "from", lks_doc_text(item, "from"));
    lks_json_text(w, "until", lks_doc_text(item, "until"));
    lks_json_bool(w, "now", q->from <= today);
    if (q->pools != NULL) {
        lks_json_begin(w, "pools", '[');
        for (const struct lks_doc *name = q->pools->first; name != NULL; name = name->next)
            lks_json_text(w, NULL, name->text);
        lks_json_end(w, ']');
    }
    lks_view_text(w, "description", lks_doc_text(item, "description"));
    lks_json_end(w, '}');
}

/* Those that are over are left out; an hour too early or late at most sites is not told. */
static void view_calendar(struct lks_json_writer *w, const struct lks_authz *authz,
                          const struct lks_call *call)
{
    enum { DAY_MS = 86400 * 1000 };
    const struct lks_fleet *fleet = lks_book_fleet(lks_engine_book(authz->engine));
    const struct lks_doc *list = fleet != NULL ? lks_doc_member(fleet->doc, "freezes") : NULL;
    const struct lks_doc *item = list != NULL ? list->first : NULL;
    lks_day today = (lks_day)(authz->now.wall / DAY_MS);
    lks_json_begin(w, "days", '[');
    for (size_t i = 0; item != NULL && i < fleet->quiet_count; i++, item = item->next) {
        const struct lks_quiet *q = &fleet->quiets[i];
        if (today < q->until && may_see_days(authz, call, q))
            view_days(w, q, item, today);
    }
    lks_json_end(w, ']');
}

/* That the whole fleet is frozen concerns everyone. */
void lks_handle_frozen(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "frozen", s->frozen);
    if (s->frozen) {
        lks_view_by(&w, s, s->frozen_by, s->frozen_reason);
        lks_view_time(&w, "since", s->frozen_since);
    }
    lks_json_begin(&w, "pools", '[');
    for (uint32_t i = 0; i < s->pool_count; i++) {
        const struct lks_state_pool *p = &s->pools[i];
        struct lks_scope scope = {.pool = lks_state_text(s, p->name)};
        if (!p->frozen || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        lks_json_begin(&w, NULL, '{');
        lks_json_text(&w, "pool", scope.pool);
        lks_view_by(&w, s, p->frozen_by, p->frozen_reason);
        lks_view_time(&w, "since", p->frozen_since);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    view_calendar(&w, authz, call);
    lks_json_end(&w, '}');
}

/* Rollbacks that were exercised ------------------------------------------------------------- */

void lks_handle_proven(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_authz_page page;
    if (!lks_authz_page_begin(call, &LKS_ASKED(call, lks_query_page)->page, &page))
        return;
    struct lks_json_writer *w = &page.w;
    uint64_t from = page.after == UINT64_MAX ? 0 : page.after;
    for (uint64_t i = from; i < s->proven_count && page.next == 0; i++) {
        const struct lks_proven *p = &s->proven[i];
        uint32_t node = lks_state_node(s, lks_state_text(s, p->node));
        if (node == LKS_NO_NODE ? !sight.all : !lks_authz_sees(&sight, node))
            continue;
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "class", lks_state_text(s, p->class));
        lks_json_text(w, "from", lks_state_text(s, p->from));
        lks_json_text(w, "to", lks_state_text(s, p->to));
        lks_json_text(w, "node", lks_state_text(s, p->node));
        lks_json_int(w, "change", (int64_t)p->change);
        lks_json_int(w, "took_ms", (int64_t)p->took);
        lks_view_time(w, "at", p->at);
        lks_json_end(w, '}');
        if (--page.left == 0 && i + 1 < s->proven_count)
            page.next = i + 1;
    }
    lks_authz_page_end(&page);
}
