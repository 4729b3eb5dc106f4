#include "core/actions/sched_sites.h"

#include "base/vec.h"
#include "core/actions/job_acts.h"
#include "core/admission/admit_policy.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/runs.h"
#include "core/state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX     ((size_t)1 << 20)
#define DOUBLINGS_MAX 4                  /* of what is waited after failures */
#define ASKED_MAX     (300 * LKS_SECOND) /* longer than a conversation lasts */

void lks_sched_sites_fini(struct lks_sched_sites *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct lks_sched_site *site = b->items[i];
        for (struct lks_sched_order *o = site->orders, *next; o != NULL; o = next) {
            next = o->next;
            free(o);
        }
        lks_sched_jobs_fini(&site->jobs);
        lks_sched_reservations_fini(&site->reserved);
        free(site);
    }
    free(b->items);
    free(b->policies);
    lks_intern_fini(&b->texts);
    *b = (struct lks_sched_sites){0};
}

struct lks_sched_site *lks_sched_sites_get(const struct lks_sched_sites *b, struct lks_str site,
                                           struct lks_str sched)
{
    struct lks_sched_site **at = LKS_VEC_FIND(
        b->items, b->count, it, lks_str_eq((*it)->site, site) && lks_str_eq((*it)->sched, sched));
    return at != NULL ? *at : NULL;
}

const struct lks_sched_site *lks_sched_sites_find(const struct lks_sched_sites *b,
                                                  struct lks_str site, struct lks_str sched)
{
    return lks_sched_sites_get(b, site, sched);
}

const struct lks_sched_jobs *lks_sched_sites_jobs(const struct lks_sched_sites *b,
                                                  struct lks_str site, struct lks_str sched)
{
    const struct lks_sched_site *at = lks_sched_sites_get(b, site, sched);
    return at != NULL && at->jobs.listed > 0 ? &at->jobs : NULL;
}

bool lks_sched_sites_known(const struct lks_state *s, struct lks_str site)
{
    bool any = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (n->placed && lks_str_eq(lks_state_text(s, n->site), site))
            return true;
        any = any || n->placed;
    }
    return !any || lks_str_is(site, "*");
}

uint64_t lks_sched_sites_behind(const struct lks_sched_sites *b)
{
    uint64_t behind = 0;
    for (uint32_t i = 0; i < b->count; i++)
        behind += b->items[i]->behind;
    return behind;
}

uint64_t lks_sched_sites_reserved(const struct lks_sched_sites *b, uint64_t *wanted)
{
    uint64_t reserved = 0;
    *wanted = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        reserved += b->items[i]->reserved.count;
        *wanted += b->items[i]->reserve_wanted;
    }
    return reserved;
}

static enum lks_code keep(struct lks_sched_sites *b, struct lks_str text, struct lks_str *out,
                          struct lks_err *err)
{
    uint32_t id = 0;
    if (b->texts.bytes.max == 0)
        lks_intern_init(&b->texts, TEXTS_MAX);
    if (lks_intern_id(&b->texts, text, &id, err) != LKS_OK)
        return err->code;
    *out = lks_intern_text(&b->texts, id);
    return LKS_OK;
}

static enum lks_code get(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                         struct lks_sched_site **out, struct lks_err *err)
{
    *out = lks_sched_sites_get(b, site, sched);
    if (*out != NULL)
        return LKS_OK;
    struct lks_sched_site *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return lks_fail_nomem(err);
    made->last = &made->orders;
    if (keep(b, site, &made->site, err) != LKS_OK || keep(b, sched, &made->sched, err) != LKS_OK ||
        LKS_VEC_ADD(b->items, b->room, b->count, LKS_SCHED_SITES_MAX, made, err) != LKS_OK) {
        free(made);
        return err->code;
    }
    *out = made;
    return LKS_OK;
}

/* What is asked ----------------------------------------------------------------------------- */

enum lks_code lks_sched_sites_ask(struct lks_sched_sites *b, struct lks_str site,
                                  struct lks_str sched, lks_ms mono, struct lks_err *err)
{
    struct lks_sched_site *at;
    if (get(b, site, sched, &at, err) != LKS_OK)
        return err->code;
    at->asked_for = mono + LKS_SCHED_SITES_ASKED;
    return LKS_OK;
}

static struct lks_str put(char **to, struct lks_str text)
{
    struct lks_str kept = {*to, text.len};
    if (text.len > 0)
        memcpy(*to, text.ptr, text.len);
    *to += text.len + 1; /* memory is zero: it is terminated */
    return kept;
}

static bool is_ordered(const struct lks_sched_site *at, const struct lks_sched_site_wish *wish)
{
    for (const struct lks_sched_order *o = at->orders; o != NULL; o = o->next) {
        if (o->wish.verb == wish->verb && o->wish.tag == wish->tag &&
            lks_str_eq(o->wish.job, wish->job))
            return true;
    }
    return false;
}

enum lks_code lks_sched_sites_order(struct lks_sched_sites *b, struct lks_str site,
                                    struct lks_str sched, const struct lks_sched_site_wish *wish,
                                    struct lks_err *err)
{
    struct lks_sched_site *at;
    LKS_ASSERT(wish->verb != LKS_SCHED_SITE_JOBS);
    if (get(b, site, sched, &at, err) != LKS_OK)
        return err->code;
    if (is_ordered(at, wish))
        return LKS_OK; /* it waits for its turn: sent twice, it would hit the job's next run */
    if (at->order_count == LKS_SCHED_SITES_ORDERS)
        return lks_fail(err, LKS_E_LIMIT, "%d requests wait for the scheduler of site '%s' already",
                        LKS_SCHED_SITES_ORDERS, at->site.ptr);
    size_t room = wish->job.len + wish->node.len + wish->signal.len + 3;
    struct lks_sched_order *o = calloc(1, sizeof(*o) + room);
    if (o == NULL)
        return lks_fail_nomem(err);
    char *texts = (char *)(o + 1);
    o->wish = *wish;
    o->wish.job = put(&texts, wish->job);
    o->wish.node = put(&texts, wish->node);
    o->wish.signal = put(&texts, wish->signal);
    *at->last = o;
    at->last = &o->next;
    at->order_count++;
    return LKS_OK;
}

/* The site of that scheduler; NULL: there are too many. Neighbours in the state are of the same
 * site mostly. */
static enum lks_code get_next(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                              struct lks_sched_site **at, struct lks_err *err)
{
    if (*at != NULL && lks_str_eq((*at)->site, site) && lks_str_eq((*at)->sched, sched))
        return LKS_OK;
    *at = NULL;
    enum lks_code code = get(b, site, sched, at, err);
    if (code != LKS_E_LIMIT)
        return code;
    *err = (struct lks_err){0}; /* its nodes drain all the same; it has no list of jobs */
    return LKS_OK;
}

/* A node that is drained has its jobs listed. The list of Kubernetes is long, of all pods: only
 * evictions need it, and people who ask. */
static bool wants_list(const struct lks_state *s, uint32_t node,
                       const struct lks_drain_named *sched)
{
    return s->nodes[node].drained_by != 0 && (sched->offers & LKS_DRAIN_LISTS) != 0 &&
           ((sched->offers & LKS_DRAIN_SIGNALS) != 0 || lks_job_acts_wanted(s, node));
}

/* Which sites there are, and which are wanted. */
static enum lks_code scan(struct lks_sched_sites *b, const struct lks_state *s, struct lks_err *err)
{
    struct lks_sched_site *at[LKS_SCHED_PARTS_MAX] = {0};
    for (uint32_t i = 0; i < b->count; i++)
        b->items[i]->wanted = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
            continue;
        struct lks_str rest = lks_state_text(s, s->pools[n->pool].sched);
        const struct lks_drain_named *sched;
        for (size_t k = 0; k < LKS_COUNT(at) && (sched = lks_drain_sched_next(&rest, 0)) != NULL;
             k++) {
            bool wanted = wants_list(s, i, sched);
            if (get_next(b, lks_state_text(s, n->site), lks_str_from(sched->name), &at[k], err) !=
                LKS_OK)
                return err->code;
            if (at[k] != NULL)
                at[k]->wanted = at[k]->wanted || wanted;
        }
    }
    return LKS_OK;
}

static bool wants_jobs(const struct lks_sched_site *at, lks_ms mono)
{
    return (at->wanted || mono < at->asked_for) && mono >= at->due && mono >= at->asked_until;
}

bool lks_sched_sites_unlisted(const struct lks_sched_site *site, lks_ms mono)
{
    return site->failures > 0 && (site->wanted || mono < site->asked_for);
}

/* The next request of the site; false: there is none. */
static bool next(const struct lks_sched_sites *b, struct lks_sched_site *at, lks_ms mono,
                 struct lks_arena *arena, struct lks_sched_site_wish *out)
{
    struct lks_sched_order *o = at->orders;
    if (wants_jobs(at, mono)) {
        at->asked_until = mono + ASKED_MAX;
        at->search = b->searches;
        *out = (struct lks_sched_site_wish){.verb = LKS_SCHED_SITE_JOBS};
        return true;
    }
    if (o == NULL)
        return false;
    *out = o->wish;
    out->job = lks_arena_copy(arena, o->wish.job);
    out->node = lks_arena_copy(arena, o->wish.node);
    out->signal = lks_arena_copy(arena, o->wish.signal);
    at->orders = o->next;
    if (at->orders == NULL)
        at->last = &at->orders;
    at->order_count--;
    free(o);
    return true;
}

enum lks_code lks_sched_sites_due(struct lks_sched_sites *b, const struct lks_state *s, lks_ms mono,
                                  uint32_t max, struct lks_arena *arena,
                                  struct lks_sched_site_due *out, uint32_t *count,
                                  struct lks_err *err)
{
    *count = 0;
    if (mono >= b->scan) {
        b->scan = mono + LKS_SCHED_SITES_SCAN;
        if (scan(b, s, err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        struct lks_sched_site *at = b->items[i];
        struct lks_sched_site_wish wish = {0};
        while (*count < max && next(b, at, mono, arena, &wish)) {
            out[(*count)++] = (struct lks_sched_site_due){.site = lks_arena_copy(arena, at->site),
                                                          .sched = lks_arena_copy(arena, at->sched),
                                                          .turn = at->turn,
                                                          .wish = wish};
            b->asked++;
        }
    }
    return LKS_OK;
}

/* What came of it --------------------------------------------------------------------------- */

void lks_sched_sites_unasked(struct lks_sched_sites *b, uint64_t search)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct lks_sched_site *at = b->items[i];
        if (at->search == search)
            at->asked_until = 0;
        if (at->runs_search == search)
            at->runs_asked_until = 0;
        if (at->publish_search == search)
            at->publishing_until = at->publishing = 0;
        if (at->reserve_search == search)
            at->reserving = 0;
    }
    for (uint32_t i = 0; i < b->policy_count; i++) {
        if (b->policies[i].search == search)
            b->policies[i].until = 0;
    }
}

void lks_sched_sites_listed(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                            struct lks_sched_jobs *jobs, struct lks_now now, uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(b, site, sched);
    if (at == NULL)
        return;
    lks_sched_jobs_fini(&at->jobs);
    at->jobs = LKS_MOVE(*jobs);
    lks_sched_jobs_came(&at->jobs, now.wall);
    at->asked_until = 0;
    at->failures = 0;
    at->failing_since = 0;
    at->trouble[0] = '\0';
    at->due = now.mono + LKS_SCHED_SITES_LIST / speed;
}

void lks_sched_sites_failed(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                            const char *why, struct lks_now now, uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(b, site, sched);
    b->failed++;
    if (at == NULL)
        return;
    lks_ms pause = LKS_SCHED_SITES_LIST
                   << (at->failures < DOUBLINGS_MAX ? at->failures : DOUBLINGS_MAX);
    at->asked_until = 0;
    at->failures++;
    at->turn++;
    at->failing_since = at->failing_since != 0 ? at->failing_since : now.wall;
    at->due =
        now.mono + (pause < LKS_SCHED_SITES_RETRY_MAX ? pause : LKS_SCHED_SITES_RETRY_MAX) / speed;
    snprintf(at->trouble, sizeof(at->trouble), "%s", why);
}

/* Runs that ended ---------------------------------------------------------------------------- */

enum lks_code lks_sched_sites_runs_due(struct lks_sched_sites *b, const struct lks_state *s,
                                       lks_ms mono, uint32_t max, struct lks_arena *arena,
                                       struct lks_sched_site_due *out, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < b->count && *count < max; i++) {
        struct lks_sched_site *at = b->items[i];
        struct lks_str sched = at->sched;
        if (mono < at->runs_due || mono < at->runs_asked_until ||
            lks_drain_sched_next(&sched, LKS_DRAIN_RUNS) == NULL)
            continue;
        const struct lks_runs_place *place = lks_runs_place(s, at->site, at->sched);
        struct lks_sched_site_due *due = &out[(*count)++];
        *due = (struct lks_sched_site_due){.site = lks_arena_copy(arena, at->site),
                                           .sched = lks_arena_copy(arena, at->sched),
                                           .turn = at->runs_turn,
                                           .wish = {.verb = LKS_SCHED_SITE_RUNS}};
        if (place != NULL) {
            due->wish.after.at = place->at;
            due->wish.after.id = lks_arena_copy(arena, lks_state_text(s, place->job));
        }
        at->runs_asked_until = mono + ASKED_MAX;
        at->runs_search = b->searches;
        b->asked++;
    }
    return arena->out_of_memory ? LKS_E_NOMEM : LKS_OK;
}

bool lks_sched_sites_runs_told(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                               const struct lks_err *why, bool more, struct lks_now now,
                               uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(b, site, sched);
    if (at == NULL)
        return false;
    bool failed = why->code != LKS_OK, failed_before = at->runs_failures > 0;
    uint32_t doublings = at->runs_failures < DOUBLINGS_MAX ? at->runs_failures : DOUBLINGS_MAX;
    lks_ms pause = failed ? LKS_SCHED_SITES_RUNS << doublings : LKS_SCHED_SITES_RUNS;
    at->runs_asked_until = 0;
    at->runs_due = more && !failed ? 0 : now.mono + pause / speed;
    at->runs_failures = failed ? at->runs_failures + 1 : 0;
    at->runs_turn += failed;
    if (!failed)
        at->runs_failing_since = 0;
    else if (at->runs_failing_since == 0)
        at->runs_failing_since = now.wall;
    snprintf(at->runs_trouble, sizeof(at->runs_trouble), "%.*s", LKS_SCHED_REASON_MAX,
             failed ? why->msg : "");
    b->failed += failed;
    return failed != failed_before;
}

/* The policy of submissions ------------------------------------------------------------------ */

static struct lks_sched_sites_policy *find_policy(const struct lks_sched_sites *b,
                                                  const struct lks_sched_sites_bridge *bridge)
{
    return LKS_VEC_FIND(b->policies, b->policy_count, it,
                        lks_str_eq(it->bridge.url, bridge->url) &&
                            lks_str_eq(it->bridge.site, bridge->site) &&
                            lks_str_eq(it->bridge.sched, bridge->sched));
}

const struct lks_sched_sites_policy *
lks_sched_sites_policy_find(const struct lks_sched_sites *b,
                            const struct lks_sched_sites_bridge *bridge)
{
    return find_policy(b, bridge);
}

static struct lks_sched_sites_policy *get_policy(struct lks_sched_sites *b,
                                                 const struct lks_sched_sites_bridge *bridge)
{
    struct lks_sched_sites_policy *found = find_policy(b, bridge), made = {0};
    struct lks_err ignored = {0};
    if (found != NULL)
        return found;
    if (keep(b, bridge->site, &made.bridge.site, &ignored) != LKS_OK ||
        keep(b, bridge->sched, &made.bridge.sched, &ignored) != LKS_OK ||
        keep(b, bridge->url, &made.bridge.url, &ignored) != LKS_OK ||
        LKS_VEC_ADD(b->policies, b->policy_room, b->policy_count, LKS_SCHED_SITES_POLICIES, made,
                    &ignored) != LKS_OK)
        return NULL;
    return &b->policies[b->policy_count - 1];
}

/* An older bridge has no such request. */
static bool takes_policy(const struct lks_sched_sites *b,
                         const struct lks_sched_sites_bridge *bridge)
{
    return LKS_VEC_FIND(b->items, b->count, it,
                        (*it)->takes_policy && lks_str_eq((*it)->sched, bridge->sched) &&
                            (lks_str_is(bridge->site, "*") ||
                             lks_str_eq((*it)->site, bridge->site))) != NULL;
}

static enum lks_code write_text(const struct lks_state *s,
                                const struct lks_sched_sites_policy_look *look,
                                struct lks_arena *arena, struct lks_sched_sites_policy_text *t)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_ADMIT_POLICY_BYTES_MAX);
    enum lks_code code =
        lks_admit_policy_write(s, look->book, t->site, t->sched, look->how, &body, &t->why);
    if (code == LKS_E_LIMIT)
        return lks_fail(&t->why, code,
                        "the policy of submissions was not sent: pools and nodes of the site take "
                        "more than %zu bytes; name nodes in ranges such as gpu[001-512], or split "
                        "the site",
                        LKS_ADMIT_POLICY_BYTES_MAX);
    if (code != LKS_OK)
        return lks_wrap(&t->why, "the policy of submissions was not sent");
    t->body = lks_arena_copy(arena, lks_buf_view(&body));
    return t->body.ptr != NULL ? LKS_OK : lks_arena_fail(arena, &t->why);
}

/* The text for bridges of that site and scheduler; NULL: the look has no place for another one. */
static const struct lks_sched_sites_policy_text *
find_text(const struct lks_state *s, struct lks_sched_sites_policy_look *look,
          const struct lks_sched_sites_bridge *bridge, struct lks_arena *arena)
{
    struct lks_sched_sites_policy_text *t =
        LKS_VEC_FIND(look->texts, look->count, it,
                     lks_str_eq(it->site, bridge->site) && lks_str_eq(it->sched, bridge->sched));
    if (t != NULL || look->count == LKS_COUNT(look->texts))
        return t;
    t = &look->texts[look->count++];
    *t = (struct lks_sched_sites_policy_text){.site = lks_arena_copy(arena, bridge->site),
                                              .sched = lks_arena_copy(arena, bridge->sched)};
    if (t->site.ptr == NULL || t->sched.ptr == NULL)
        (void)!lks_arena_fail(arena, &t->why);
    else
        (void)!write_text(s, look, arena, t);
    return t;
}

bool lks_sched_sites_policy_due(struct lks_sched_sites *b, const struct lks_state *s,
                                struct lks_sched_sites_policy_look *look,
                                const struct lks_sched_sites_bridge *bridge,
                                struct lks_arena *arena, struct lks_sched_site_due *out)
{
    struct lks_sched_sites_policy *p = takes_policy(b, bridge) ? get_policy(b, bridge) : NULL;
    if (p == NULL || look->mono < p->due || look->mono < p->until)
        return false;
    const struct lks_sched_sites_policy_text *t = find_text(s, look, bridge, arena);
    if (t == NULL)
        return false;
    struct lks_str url = lks_arena_copy(arena, bridge->url);
    if (t->why.code != LKS_OK || url.ptr == NULL) {
        p->due = look->mono + LKS_SCHED_SITES_POLICY / look->speed;
        snprintf(p->trouble, sizeof(p->trouble), "%.*s", LKS_SCHED_REASON_MAX,
                 url.ptr != NULL ? t->why.msg : "memory ran out");
        return false;
    }
    p->until = look->mono + ASKED_MAX;
    p->search = b->searches;
    b->asked++;
    *out = (struct lks_sched_site_due){.site = t->site,
                                       .sched = t->sched,
                                       .url = url,
                                       .wish = {.verb = LKS_SCHED_SITE_POLICY, .policy = t->body}};
    return true;
}

void lks_sched_sites_policy_told(struct lks_sched_sites *b,
                                 const struct lks_sched_sites_bridge *bridge,
                                 const struct lks_err *why, bool written, struct lks_now now,
                                 uint64_t speed)
{
    struct lks_sched_sites_policy *p = find_policy(b, bridge);
    if (p == NULL)
        return;
    bool failed = why->code != LKS_OK;
    p->until = 0;
    p->due = now.mono + LKS_SCHED_SITES_POLICY / speed;
    p->fileless = !failed && !written;
    p->written = failed ? p->written : written ? now.wall : 0;
    b->failed += failed;
    snprintf(p->trouble, sizeof(p->trouble), "%.*s", LKS_SCHED_REASON_MAX, failed ? why->msg : "");
}
