#include "core/actions/sched_sites.h"

#include "base/vec.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
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
    struct lks_sched_order *o = calloc(1, sizeof(*o) + wish->job.len + wish->signal.len + 2);
    if (o == NULL)
        return lks_fail_nomem(err);
    char *texts = (char *)(o + 1);
    o->wish = *wish;
    o->wish.job = put(&texts, wish->job);
    o->wish.signal = put(&texts, wish->signal);
    *at->last = o;
    at->last = &o->next;
    at->order_count++;
    return LKS_OK;
}

/* Which sites there are, and which are wanted: those with a node that is drained by lockstep.
 * Neighbours in the state are of the same site mostly. */
static enum lks_code scan(struct lks_sched_sites *b, const struct lks_state *s, struct lks_err *err)
{
    struct lks_sched_site *at = NULL;
    lks_text site = 0;
    uint32_t pool = UINT32_MAX;
    for (uint32_t i = 0; i < b->count; i++)
        b->items[i]->wanted = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
            continue;
        struct lks_str sched = lks_state_text(s, s->pools[n->pool].sched);
        if (lks_drain_sched(sched) != LKS_DRAIN_DRIVEN)
            continue;
        if ((at == NULL || n->site != site || n->pool != pool) &&
            get(b, lks_state_text(s, n->site), sched, &at, err) != LKS_OK) {
            if (err->code != LKS_E_LIMIT)
                return err->code;
            *err = (struct lks_err){0}; /* its nodes drain all the same; it has no list of jobs */
            at = NULL;
            continue;
        }
        site = n->site;
        pool = n->pool;
        at->wanted = at->wanted || n->drained_by != 0;
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
        while (*count < max && next(b, at, mono, arena, &out[*count].wish)) {
            out[*count].site = lks_arena_copy(arena, at->site);
            out[*count].sched = lks_arena_copy(arena, at->sched);
            out[(*count)++].turn = at->turn;
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
        if (at->publish_search == search)
            at->publishing_until = 0;
        if (at->reserve_search == search)
            at->reserving = 0;
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
