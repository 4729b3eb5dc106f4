/* lockstepd asks schedulers through their bridges, as server/threads/sched_runner.c does. */
#include "core/actions/job_acts.h"
#include "core/actions/sched_truth.h"
#include "core/campaign/campaign.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "drivers/sched/sched_drivers.h"
#include "sim/campaign.h"
#include "tests/facts.h"

#include <stdlib.h>

enum { ASKS = 64, SITES = 16, ON_NODE = 8 };
enum phase { SEARCH, GO, ARRIVES, HEARD };
#define LOOK  (2 * LKS_SECOND) /* how often nodes that are due are looked for, */
#define AGAIN 200              /* or again where rows are not durable */
#define SCHED LKS_STR("simulated")

/* What requests of one search are views of. */
struct search {
    struct lks_arena arena;
    unsigned users;
};

struct cam_ask {
    bool on, whole, answered;
    bool read; /* a node: the answer has `seen` */
    uint64_t number;
    uint32_t node; /* machine */
    unsigned site, turn;
    lks_ms began;
    void *value; /* owned */
    struct search *search;
    struct lks_sched_site_due due; /* whole */
    struct lks_sched_jobs jobs;
    struct lks_sched_reservations listed;
    struct lks_talk talk;
    int status;
    struct lks_buf body;
    struct cam_seen seen;
};

static const struct lks_conversation_ops *ops_of(const struct cam_ask *a)
{
    return a->whole ? lks_sched_bridge.site_talk : lks_sched_bridge.talk;
}

static void later(struct cam *w, const struct cam_ask *a, enum phase phase, lks_ms in)
{
    cam_post(w,
             (struct lks_message){.kind = CAM_ASK,
                                  .node = a != NULL ? (uint32_t)(a - w->bridges.asks) : 0,
                                  .number = a != NULL ? a->number : 0,
                                  .value = (uint32_t)phase,
                                  .life = w->life},
             in);
}

static void leave(struct search *s)
{
    if (s == NULL || --s->users > 0)
        return;
    lks_arena_fini(&s->arena);
    free(s);
}

static void end(struct cam_ask *a)
{
    leave(a->search);
    free(a->value);
    lks_sched_jobs_fini(&a->jobs);
    lks_sched_reservations_fini(&a->listed);
    lks_conversation_talk_fini(&a->talk);
    lks_buf_fini(&a->body);
    *a = (struct cam_ask){0};
}

void cam_asks_begin(struct cam *w)
{
    if (!w->bridges.on)
        return;
    if (w->bridges.asks == NULL)
        w->bridges.asks = calloc(ASKS, sizeof(w->bridges.asks[0]));
    LKS_ASSERT(w->bridges.asks != NULL);
    w->bridges.good = w->now;
    later(w, NULL, SEARCH, AGAIN);
}

void cam_asks_forget(struct cam *w)
{
    for (unsigned k = 0; k < ASKS && w->bridges.asks != NULL; k++)
        if (w->bridges.asks[k].on)
            end(&w->bridges.asks[k]);
    lks_sched_book_fini(&w->bridges.book);
}

void cam_asks_silence(struct cam *w)
{
    struct lks_event event;
    uint32_t at = 0;
    while (w->bridges.on && w->engine != NULL && !w->broken &&
           !lks_engine_stalled(w->engine, NULL) &&
           lks_sched_book_old(&w->bridges.book, lks_engine_state(w->engine), cam_now(w), &at,
                              &event)) {
        w->bridges.unheard++;
        (void)cam_turn(w, &event, NULL);
    }
}

/* Answers ------------------------------------------------------------------------------------ */

static void hear_node(struct cam *w, struct cam_ask *a, const struct lks_err *why)
{
    struct lks_sched_book *book = &w->bridges.book;
    struct cam_machine *m = &w->machines[a->node];
    uint32_t place = cam_place(w, m);
    struct lks_sched_said said;
    struct lks_event event;
    bool failed = why->code != LKS_OK;
    lks_sched_bridge.said(a->value, &said);
    if (place == LKS_NO_NODE)
        return;
    lks_sched_book_after(book, place, SCHED, said.after);
    if (failed) {
        lks_sched_book_failed(book, place, SCHED, why, cam_now(w), 1);
    } else {
        cam_bridge_heard(w, m, &a->seen);
        lks_sched_book_heard(book, place, SCHED, &said, cam_now(w), 1);
        lks_sched_truth_configured(book, lks_engine_state(w->engine), place, SCHED,
                                   said.configured);
    }
    bool drained = m->drained && lks_sched_drained(&said) && strcmp(said.owner, m->owner) == 0;
    if (lks_sched_book_event(book, lks_engine_state(w->engine), place, w->now, &event)) {
        if (!cam_turn(w, &event, NULL))
            return;
        lks_sched_book_told(book, &event);
    }
    if (failed)
        return;
    m->sched_drained = m->drained && drained;
    if (m->sched_unheard && cam_bridge_shows(m, &a->seen)) {
        m->sched_unheard = false;
        m->sched_lost = cam_now(w).wall;
    }
    if (w->engine != NULL &&
        lks_sched_book_outage(book, lks_engine_state(w->engine), place, &event))
        (void)cam_turn(w, &event, NULL);
}

static void tell_acted(struct cam *w, const struct lks_job_due *due, bool refused, const char *text)
{
    (void)cam_turn(w,
                   &(struct lks_event){.kind = LKS_EVENT_JOB_ACTED,
                                       .acted = {.change = due->change,
                                                 .job = due->job,
                                                 .site = due->site,
                                                 .act = due->act,
                                                 .refused = refused,
                                                 .text = lks_str_from(text)}},
                   NULL);
}

static void order(struct cam *w, const struct lks_job_due *due)
{
    struct lks_err ignored = {0};
    const struct lks_sched_site_wish wish = {
        .verb = due->act == LKS_JOB_SIGNAL ? LKS_SCHED_SITE_SIGNAL : LKS_SCHED_SITE_REQUEUE,
        .job = due->job,
        .signal = due->act == LKS_JOB_SIGNAL ? due->signal : LKS_STR(""),
        .started = due->started,
        .tag = due->change,
    };
    if (lks_sched_sites_order(&w->bridges.book.sites, due->site, due->sched, &wish, &ignored) !=
        LKS_OK)
        lks_job_acts_ended(&w->bridges.book.acts, due, true, cam_now(w).wall);
}

static bool drains_for(const struct lks_state *s, const struct lks_job_due *due)
{
    uint32_t node = lks_state_node(s, due->node);
    return node != LKS_NO_NODE && s->nodes[node].change == due->change &&
           lks_campaign_jobs_wanted(s, node);
}

static void run_act(struct cam *w, const struct lks_job_due *due, enum lks_job_does does)
{
    struct lks_job_book *acts = &w->bridges.book.acts;
    if (does == LKS_JOB_SEND && !drains_for(lks_engine_state(w->engine), due)) {
        lks_job_acts_ended(acts, due, false, cam_now(w).wall);
        tell_acted(w, due, true, "its node does not drain for the change any more");
        return;
    }
    if (does == LKS_JOB_SEND)
        order(w, due);
    if (does == LKS_JOB_OVER)
        tell_acted(w, due, false, "it does not run any more");
    if (does == LKS_JOB_DENIED)
        tell_acted(w, due, true, lks_job_acts_why(acts, due));
    if (does == LKS_JOB_OVER || does == LKS_JOB_DENIED)
        lks_job_acts_ended(acts, due, false, cam_now(w).wall);
}

static void run_acts(struct cam *w, const struct lks_sched_site *site, bool fresh)
{
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    while (w->engine != NULL && lks_job_acts_next(lks_engine_state(w->engine), &at, &due)) {
        if (lks_str_eq(due.site, site->site) && lks_str_eq(due.sched, site->sched))
            run_act(w, &due,
                    lks_job_acts_does(&w->bridges.book.acts, &due, &site->jobs, fresh,
                                      cam_now(w).wall));
    }
}

static void tell_jobs(struct cam *w, const struct lks_sched_site *site)
{
    struct lks_event_job list[ON_NODE];
    for (uint32_t i = 0; w->engine != NULL && i < lks_engine_state(w->engine)->node_count; i++) {
        const struct lks_state *s = lks_engine_state(w->engine);
        const struct lks_node *n = &s->nodes[i];
        if (n->drained_by == 0 || !lks_str_eq(lks_state_text(s, n->site), site->site) ||
            n->pool >= s->pool_count ||
            !lks_str_eq(lks_state_text(s, s->pools[n->pool].sched), site->sched) ||
            !lks_campaign_jobs_wanted(s, i))
            continue;
        struct lks_event event = {.kind = LKS_EVENT_SCHED_JOBS, .node = i};
        event.sched_jobs.list = list;
        event.sched_jobs.count = lks_job_acts_on(&site->jobs, lks_state_name(s, i), list, ON_NODE);
        if (event.sched_jobs.count > 0)
            (void)cam_turn(w, &event, NULL);
    }
}

static void hear_jobs(struct cam *w, struct cam_ask *a, const struct lks_err *why)
{
    struct lks_sched_sites *sites = &w->bridges.book.sites;
    const struct lks_sched_site *site = lks_sched_sites_find(sites, a->due.site, a->due.sched);
    if (why->code != LKS_OK) {
        lks_sched_sites_failed(sites, a->due.site, a->due.sched, why->msg, cam_now(w), 1);
        return;
    }
    lks_sched_sites_listed(sites, a->due.site, a->due.sched, &a->jobs, cam_now(w), 1);
    if (site == NULL)
        return;
    run_acts(w, site, false);
    tell_jobs(w, site);
    run_acts(w, site, true);
}

static void hear_order(struct cam *w, struct cam_ask *a, const struct lks_err *why)
{
    const struct lks_sched_site_wish *wish = &a->due.wish;
    struct lks_job_book *acts = &w->bridges.book.acts;
    enum lks_job_act act = wish->verb == LKS_SCHED_SITE_SIGNAL ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE;
    bool refused =
        why->code == LKS_E_REFUSED || why->code == LKS_E_DENIED || why->code == LKS_E_INVALID;
    struct lks_job_due due;
    if (!lks_job_acts_find(lks_engine_state(w->engine), wish->tag, a->due.site, wish->job, act,
                           &due))
        return;
    if (why->code == LKS_E_NOT_FOUND) {
        lks_job_acts_missing(acts, &due, why->msg, cam_now(w).wall);
        return;
    }
    lks_job_acts_ended(acts, &due, why->code != LKS_OK && !refused, cam_now(w).wall);
    if (why->code == LKS_OK || refused)
        tell_acted(w, &due, refused, why->msg);
}

static void hear_site(struct cam *w, struct cam_ask *a, const struct lks_err *why)
{
    struct lks_sched_book *book = &w->bridges.book;
    switch (a->due.wish.verb) {
    case LKS_SCHED_SITE_JOBS:
        hear_jobs(w, a, why);
        break;
    case LKS_SCHED_SITE_SIGNAL:
    case LKS_SCHED_SITE_REQUEUE:
        hear_order(w, a, why);
        break;
    case LKS_SCHED_SITE_PUBLISH:
        lks_sched_truth_told(book, lks_engine_state(w->engine), a->due.site, a->due.sched,
                             &a->due.wish, why, cam_now(w), 1);
        break;
    case LKS_SCHED_SITE_RESERVATIONS:
    case LKS_SCHED_SITE_RESERVE:
    case LKS_SCHED_SITE_UNRESERVE:
        (void)lks_sched_reserve_told(book, a->due.site, a->due.sched, &a->due.wish, &a->listed, why,
                                     cam_now(w), 1);
        break;
    case LKS_SCHED_SITE_LEAD:
    case LKS_SCHED_SITE_RUNS:
    case LKS_SCHED_SITE_POLICY:
    case LKS_SCHED_SITE_VERB_COUNT:
        break;
    }
}

/* A conversation ----------------------------------------------------------------------------- */

/* Chance of their own for requests about reservations, and no loss beside a twin. */
static struct lks_rng *chance_of(struct cam *w, const struct cam_ask *a)
{
    enum lks_sched_site_verb verb = a->whole ? a->due.wish.verb : LKS_SCHED_SITE_JOBS;
    bool aside = verb == LKS_SCHED_SITE_RESERVATIONS || verb == LKS_SCHED_SITE_RESERVE ||
                 verb == LKS_SCHED_SITE_UNRESERVE;
    return aside ? &w->bridges.aside : &w->bridges.rng;
}

static bool is_lost(struct cam *w, const struct cam_ask *a)
{
    return !w->calm && w->bridges.twin == CAM_NO_TWIN &&
           lks_rng_percent(chance_of(w, a), w->weather.loss / 2);
}

static void arrive(struct cam *w, struct cam_ask *a)
{
    struct lks_rng *rng = chance_of(w, a);
    lks_buf_fini(&a->body);
    lks_buf_init(&a->body, LKS_HTTP_BODY_MAX);
    a->status =
        cam_bridge_take(w, a->site, a->turn, a->began, &a->talk.request, &a->body, &a->seen);
    a->answered = a->status != 0 && !is_lost(w, a);
    a->read = !a->whole && a->status == 200 && strcmp(a->talk.request.method, "GET") == 0;
    if (a->whole && !a->answered && a->due.wish.job.len > 0)
        cam_requeue_lost(w, a->due.wish.job);
    lks_ms back = 1 + lks_rng_below(rng, lks_rng_percent(rng, 5) ? 2 * LKS_SECOND : 100);
    lks_ms gives_up = a->talk.until > cam_now(w).wall ? a->talk.until - cam_now(w).wall : 1;
    later(w, a, HEARD, a->answered ? back : gives_up);
}

static void send(struct cam *w, struct cam_ask *a)
{
    struct lks_rng *rng = chance_of(w, a);
    if (cam_bridge_silent(w, a->site, a->turn) || is_lost(w, a)) {
        a->answered = false;
        later(w, a, HEARD, a->talk.until > cam_now(w).wall ? a->talk.until - cam_now(w).wall : 1);
    } else if (lks_rng_percent(rng, 10)) {
        later(w, a, ARRIVES, 1 + lks_rng_below(rng, LKS_SECOND));
    } else {
        arrive(w, a);
    }
}

static void go(struct cam *w, struct cam_ask *a)
{
    lks_conversation_talk_fini(&a->talk);
    lks_conversation_talk_init(&a->talk);
    lks_conversation_next(ops_of(a), a->value, cam_now(w).wall, &a->talk);
    if (a->talk.kind == LKS_TALK_SEND) {
        send(w, a);
        return;
    }
    if (a->talk.kind == LKS_TALK_WAIT) {
        later(w, a, GO, a->talk.until > cam_now(w).wall ? a->talk.until - cam_now(w).wall : 1);
        return;
    }
    const struct lks_err why = a->talk.kind == LKS_TALK_FAIL ? a->talk.err : (struct lks_err){0};
    uint32_t life = w->life;
    if (why.code != LKS_OK)
        cam_say(w, "%s: %s", a->whole ? "a site" : w->machines[a->node].name, why.msg);
    if (a->whole)
        hear_site(w, a, &why);
    else
        hear_node(w, a, &why);
    if (w->life == life)
        end(a);
}

static struct cam_ask *new_ask(struct cam *w, struct search *s, bool whole)
{
    for (unsigned k = 0; k < ASKS; k++) {
        struct cam_ask *a = &w->bridges.asks[k];
        if (a->on)
            continue;
        *a = (struct cam_ask){
            .on = true, .whole = whole, .number = ++w->bridges.asked, .began = w->now, .search = s};
        s->users++;
        a->value = calloc(1, ops_of(a)->size);
        LKS_ASSERT(a->value != NULL);
        return a;
    }
    return NULL;
}

static unsigned site_of(const struct cam *w, struct lks_str site)
{
    return w->sites > 1 && lks_str_is(site, cam_site_name(1)) ? 1 : 0;
}

static void ask_node(struct cam *w, struct search *s, struct lks_sched_due *due)
{
    const struct lks_state *state = lks_engine_state(w->engine);
    uint32_t i = cam_machine(w, lks_state_name(state, due->node));
    struct cam_ask *a = new_ask(w, s, false);
    struct lks_err err = {0};
    if (a == NULL)
        return; /* it is asked again later, as if no answer had come */
    a->node = i;
    a->site = w->machines[i].site;
    a->turn = due->turn;
    due->wish.now = cam_now(w).wall;
    due->wish.deadline = due->wish.now + LKS_SCHED_DEADLINE;
    enum lks_code code = lks_sched_bridge.begin(a->value, &due->wish, &err);
    cam_require(w, code == LKS_OK, "the driver", "%s", err.msg);
    go(w, a);
}

/* What is asked of a job may have ended since it was ordered. */
static bool is_meant(struct cam *w, const struct lks_sched_site_due *due)
{
    bool signals = due->wish.verb == LKS_SCHED_SITE_SIGNAL;
    struct lks_job_due act;
    if (!signals && due->wish.verb != LKS_SCHED_SITE_REQUEUE)
        return true;
    if (!lks_job_acts_find(lks_engine_state(w->engine), due->wish.tag, due->site, due->wish.job,
                           signals ? LKS_JOB_SIGNAL : LKS_JOB_REQUEUE, &act))
        return false;
    lks_job_acts_leaves(&w->bridges.book.acts, &act, cam_now(w).wall);
    return true;
}

static void ask_site(struct cam *w, struct search *s, const struct lks_sched_site_due *due)
{
    struct cam_ask *a = is_meant(w, due) ? new_ask(w, s, true) : NULL;
    struct lks_err err = {0};
    if (a == NULL)
        return;
    if (due->wish.verb == LKS_SCHED_SITE_RESERVE)
        cam_site_reserves(w, &due->wish.reservation);
    a->due = *due;
    a->site = site_of(w, due->site);
    a->turn = due->turn;
    a->due.wish.jobs = &a->jobs;
    a->due.wish.listed = &a->listed;
    a->due.wish.deadline = cam_now(w).wall + LKS_SCHED_DEADLINE;
    enum lks_code code = lks_sched_bridge.begin_site(a->value, &a->due.wish, &err);
    cam_require(w, code == LKS_OK, "the driver", "%s", err.msg);
    go(w, a);
}

/* What is due -------------------------------------------------------------------------------- */

static void close_acts(struct cam *w)
{
    struct lks_job_book *acts = &w->bridges.book.acts;
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    if (w->now < acts->look)
        return;
    acts->look = w->now + LKS_JOB_ACTS_LOOK;
    while (w->engine != NULL && lks_job_acts_open(lks_engine_state(w->engine), &at, &due)) {
        const char *why = lks_job_acts_old(acts, &due, cam_now(w).wall)
                              ? lks_campaign_jobs_closed(lks_engine_state(w->engine), &due)
                              : NULL;
        if (why != NULL)
            tell_acted(w, &due, true, why);
    }
    if (w->engine != NULL)
        lks_job_acts_sweep(acts, lks_engine_state(w->engine));
}

static void look_at_alarms(struct cam *w, struct lks_arena *arena)
{
    enum { ALARMS = 16 };
    const struct lks_sched_sites *sites = &w->bridges.book.sites;
    for (unsigned k = 0; k < ALARMS && w->engine != NULL; k++) {
        struct lks_event event = {.kind = LKS_EVENT_SCHED_ALARM};
        const struct lks_state *s = lks_engine_state(w->engine);
        struct lks_now now = lks_engine_now(w->engine, cam_now(w));
        if (!lks_sched_truth_alarm(sites, s, now, 1, arena, &event.sched_alarm) &&
            !lks_campaign_jobs_alarm(sites, s, now, 1, arena, &event.sched_alarm))
            return;
        (void)cam_turn(w, &event, NULL);
    }
}

static void ask_sites(struct cam *w, struct search *s)
{
    struct lks_sched_site_due due[SITES];
    struct lks_sched_book *book = &w->bridges.book;
    const struct lks_state *state = lks_engine_state(w->engine);
    struct lks_err err = {0};
    uint32_t count = 0;
    LKS_ASSERT(lks_sched_sites_due(&book->sites, state, w->now, SITES, &s->arena, due, &count,
                                   &err) == LKS_OK);
    for (uint32_t k = 0; k < count && w->engine != NULL; k++)
        ask_site(w, s, &due[k]);
    LKS_ASSERT(lks_sched_truth_due(book, state, LKS_STR(""), w->now, SITES, &s->arena, due, &count,
                                   &err) == LKS_OK);
    for (uint32_t k = 0; k < count && w->engine != NULL; k++)
        ask_site(w, s, &due[k]);
    LKS_ASSERT(lks_sched_reserve_due(book, state, lks_engine_book(w->engine),
                                     lks_engine_now(w->engine, cam_now(w)), SITES, &s->arena, due,
                                     &count, &err) == LKS_OK);
    for (uint32_t k = 0; k < count && w->engine != NULL; k++)
        ask_site(w, s, &due[k]);
}

static void ask_nodes(struct cam *w, struct search *s)
{
    struct lks_sched_due due[ASKS / 2];
    struct lks_err err = {0};
    uint32_t count = 0;
    LKS_ASSERT(lks_sched_book_due(&w->bridges.book, lks_engine_state(w->engine), lks_test_facts(),
                                  w->now, LKS_COUNT(due), due, &count, &err) == LKS_OK);
    for (uint32_t k = 0; k < count && w->engine != NULL; k++)
        ask_node(w, s, &due[k]);
}

/* Nothing leaves before what it rests on is durable. */
static bool is_durable(const struct cam *w)
{
    return w->engine != NULL && !lks_engine_stalled(w->engine, NULL) &&
           lks_engine_seq(w->engine) == lks_engine_durable_seq(w->engine);
}

static void give_slots(struct cam *w)
{
    struct lks_event event = {.kind = LKS_EVENT_SCHED_SLOT};
    uint32_t from = 0;
    while (w->engine != NULL &&
           lks_sched_truth_slot_due(&w->bridges.book, lks_engine_state(w->engine), &from,
                                    &event.slot)) {
        if (!cam_turn(w, &event, NULL))
            return;
    }
}

static void search(struct cam *w)
{
    struct search *s = calloc(1, sizeof(*s));
    LKS_ASSERT(s != NULL);
    s->users = 1;
    lks_arena_init(&s->arena, (size_t)64 << 20);
    uint32_t life = w->life;
    cam_asks_silence(w);
    close_acts(w);
    give_slots(w);
    if (w->engine != NULL)
        look_at_alarms(w, &s->arena);
    bool durable = w->life == life && is_durable(w);
    if (durable) {
        ask_nodes(w, s);
        ask_sites(w, s);
        cam_site_check(w);
    }
    leave(s);
    if (w->life == life && w->engine != NULL)
        later(w, NULL, SEARCH, durable ? LOOK : AGAIN);
}

void cam_asks_go(struct cam *w, const struct lks_message *msg)
{
    if (msg->value == SEARCH) {
        search(w);
        return;
    }
    struct cam_ask *a = &w->bridges.asks[msg->node];
    if (!a->on || a->number != msg->number)
        return;
    if (msg->value == ARRIVES) {
        arrive(w, a);
        return;
    }
    if (msg->value == HEARD) {
        const struct lks_http_response answer = {
            .status = a->status, .head = LKS_STR(""), .body = lks_buf_view(&a->body)};
        if (a->answered && a->read)
            cam_bridge_told(w, &w->machines[a->node], &a->seen);
        lks_conversation_feed(ops_of(a), a->value, cam_now(w).wall, a->answered ? &answer : NULL);
    }
    go(w, a);
}
