/*
 * Which class of change a plan is.
 *
 * It follows from what the plan does: anything to power or fabric, software alone inside the tested
 * windows under the usual gates, or anything else. Its proposer may ask for a stricter one, never
 * for less. One class is never found but asked for: it closes a published vulnerability, and names
 * it. What the class asks for is recorded with the change, so a later edition of the table changes
 * nothing about it.
 */
#include "base/near.h"
#include "core/governance/delta.h"
#include "core/governance/relaxed.h"
#include "core/plan/plan_work.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#define HOUR       (60 * LKS_PLAN_MINUTE)
#define DAY        (24 * HOUR)
#define USUAL_SOAK HOUR

/* Each difference of the layers, which are those that the plan carries out. */
void lks_plan_does(const struct lks_plan_cook *k)
{
    struct lks_plan_recipe *r = k->recipe;
    r->does = LKS_COVERS_WINDOW;
    r->because = LKS_STR("");
    for (size_t i = 0; i < k->layers.count; i++) {
        const struct lks_plan_work *work = &k->layers.list[i];
        for (size_t n = 0; n < work->count; n++) {
            const struct lks_difference *d = work->list[n];
            bool plant = lks_str_is(d->class, "power") || lks_str_is(d->class, "fabric");
            bool inside = d->tolerated && work->update == NULL && !work->one_way;
            enum lks_change_covers does = plant    ? LKS_COVERS_PLANT
                                          : inside ? LKS_COVERS_WINDOW
                                                   : LKS_COVERS_ALL;
            if (does <= r->does)
                continue;
            r->does = does;
            r->because = d->subject;
        }
    }
}

/* The recipe that decides. */
static struct lks_plan_recipe *most(const struct lks_planning *p)
{
    struct lks_plan_recipe *found = NULL;
    for (size_t i = 0; i < p->recipe_count; i++) {
        struct lks_plan_recipe *r = &p->recipes[i];
        if (r->count > 0 && (found == NULL || r->does > found->does))
            found = r;
    }
    return found;
}

static enum lks_code find_class(struct lks_planning *p, enum lks_change_covers does)
{
    const struct lks_facts *facts = p->book->facts;
    struct lks_near near = lks_near_to(p->wish.class);
    char hint[LKS_NEAR_HINT_SIZE];
    p->class = p->wish.class.len > 0 ? lks_facts_change_class(facts, p->wish.class)
                                     : lks_facts_change_covers(facts, does);
    if (p->class != NULL)
        return LKS_OK;
    for (size_t i = 0; i < facts->change_classes.count; i++)
        lks_near_try(&near, facts->change_classes.rows[i].name);
    return lks_fail(p->err, LKS_E_INVALID,
                    "class: there is no class of change '%" LKS_STR_FMT "'%s",
                    LKS_STR_ARG(p->wish.class), lks_near_hint(&near, hint));
}

/* The class that is only asked for. */
static enum lks_code check_advisory(struct lks_planning *p)
{
    bool asked = p->class->covers == LKS_COVERS_ADVISORY;
    if (asked && p->wish.advisory.len == 0)
        return lks_fail(p->err, LKS_E_INVALID,
                        "a change of class %" LKS_STR_FMT " closes a published advisory: name it "
                        "with --advisory (advisory in the API), such as CVE-2025-23266; 'lockstep "
                        "advisories' lists those that apply",
                        LKS_STR_ARG(p->class->name));
    if (!asked && p->wish.advisory.len > 0)
        return lks_fail(
            p->err, LKS_E_INVALID,
            "--advisory (advisory in the API) is for a change of class emergency, and this one "
            "is of class %" LKS_STR_FMT,
            LKS_STR_ARG(p->class->name));
    if (asked && !p->closes)
        return lks_fail(p->err, LKS_E_REFUSED,
                        "%" LKS_STR_FMT " does not close %" LKS_STR_FMT
                        " on any of these nodes, so this is not of class %" LKS_STR_FMT,
                        LKS_STR_ARG(p->out->change.name), LKS_STR_ARG(p->wish.advisory),
                        LKS_STR_ARG(p->class->name));
    return LKS_OK;
}

/* An emergency is none for power and fabric: there is no fast rollback. */
static enum lks_code check_least(struct lks_planning *p, const struct lks_plan_recipe *r)
{
    enum lks_change_covers asked =
        p->class->covers == LKS_COVERS_ADVISORY ? LKS_COVERS_ALL : p->class->covers;
    const struct lks_change_class *least = lks_facts_change_covers(p->book->facts, r->does);
    if (asked >= r->does)
        return LKS_OK;
    return lks_fail(p->err, LKS_E_REFUSED,
                    "class %" LKS_STR_FMT ": by what it does (%" LKS_STR_FMT " of %" LKS_STR_FMT
                    ") it is %" LKS_STR_FMT ", which may be raised and not lowered",
                    LKS_STR_ARG(p->class->name),
                    LKS_STR_ARG(r->because.len > 0 ? r->because : LKS_STR("the agent")),
                    LKS_STR_ARG(lks_state_text(p->state, r->kind.class)),
                    LKS_STR_ARG(least != NULL ? least->name : LKS_STR("more")));
}

static enum lks_code check_ways_back(struct lks_planning *p)
{
    for (size_t i = 0; i < p->recipe_count; i++) {
        const struct lks_plan_recipe *r = &p->recipes[i];
        if (r->one_way && lks_str_is(p->class->one_way, "refused"))
            return lks_fail(p->err, LKS_E_REFUSED,
                            "class %" LKS_STR_FMT
                            " has a revert for every step, and steps of %" LKS_STR_FMT " have none",
                            LKS_STR_ARG(p->class->name),
                            LKS_STR_ARG(lks_state_text(p->state, r->kind.class)));
    }
    return LKS_OK;
}

/* An approver of the change agrees to the lowered gates, so there must be one. */
static enum lks_code note_lowered(struct lks_planning *p, uint64_t *quorum)
{
    const struct lks_state *s = p->state;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < p->member_count; i++) {
        uint32_t pool = s->nodes[p->members[i].node].pool;
        if (pool == last || !lks_relaxed_pending(s, pool, p->wall))
            continue;
        last = pool;
        const struct lks_state_pool *its = &s->pools[pool];
        char at[LKS_TIME_TEXT_SIZE];
        *quorum = *quorum > 0 ? *quorum : 1;
        if (lks_plan_note(
                p, LKS_PLAN_WARNING,
                "pool %" LKS_STR_FMT " asks less of its changes by %" LKS_STR_FMT
                " since %s: %" LKS_STR_FMT "; the approver, another person, agrees to that",
                LKS_STR_ARG(lks_state_text(s, its->name)),
                LKS_STR_ARG(lks_state_text(s, its->lowered_by)), lks_time_text(its->lowered_at, at),
                LKS_STR_ARG(lks_state_text(s, its->lowered))) != LKS_OK)
            return p->err->code;
    }
    return LKS_OK;
}

/* All of the table's row that is needed later. */
static enum lks_code record_class(struct lks_planning *p)
{
    struct lks_rec_change *c = &p->out->change;
    const struct lks_change_class *k = p->class;
    c->class = k->name;
    c->advisory = lks_arena_copy(&p->out->memory, p->wish.advisory);
    c->quorum = (uint64_t)k->quorum;
    if (note_lowered(p, &c->quorum) != LKS_OK)
        return p->err->code;
    c->expires = p->wall + (uint64_t)k->proposal_days * DAY;
    c->approval_age = (uint64_t)k->approval_days * DAY;
    c->review_age = (uint64_t)k->review_hours * HOUR;
    c->standby = k->standby;
    if (p->wish.soak == 0)
        p->wish.soak = USUAL_SOAK * (uint64_t)k->canary_soak / 100;
    return c->advisory.ptr != NULL ? LKS_OK : lks_arena_fail(&p->out->memory, p->err);
}

/* A stack that production would run before its release is never approved in advance. */
static bool is_ahead(const struct lks_planning *p)
{
    struct lks_str stack = p->out->change.stack;
    if (stack.len == 0 || lks_delta_released(p->state, stack))
        return false;
    for (uint32_t i = 0; i < p->member_count; i++) {
        uint32_t pool = p->state->nodes[p->members[i].node].pool;
        if (pool < p->state->pool_count && !lks_delta_pins(p->state, p->book->facts, pool, stack))
            return true;
    }
    return false;
}

/* What the wish takes from the gates that the class has by itself; NULL: nothing. A change without
 * approvers would lower them without an approval. */
static const char *lowered(const struct lks_planning *p, enum lks_change_covers does)
{
    const struct lks_plan_wish *w = &p->wish;
    const struct lks_change_class *k = lks_facts_change_covers(p->book->facts, does);
    if (w->failures_max > 0)
        return "that nodes may fail";
    if (w->soak > 0 && k != NULL && w->soak < USUAL_SOAK * (uint64_t)k->canary_soak / 100)
        return "a shorter watch of the canary";
    if (w->canary_max > 0)
        return "a canary of at most so many";
    return w->strength < LKS_PLAN_STRENGTH ? "a canary with fewer combinations" : NULL;
}

/* Approved beforehand is only what others agreed to beforehand: a released stack under the usual
 * gates. */
static void ask_somebody(const struct lks_planning *p, struct lks_plan_recipe *decides)
{
    const char *why = is_ahead(p) ? "a stack that is not released" : lowered(p, decides->does);
    if (decides->does >= LKS_COVERS_ALL || why == NULL)
        return;
    decides->does = LKS_COVERS_ALL;
    decides->because = lks_str_from(why);
}

enum lks_code lks_plan_class_whole(struct lks_planning *p)
{
    struct lks_plan_recipe *decides = most(p);
    LKS_ASSERT(decides != NULL); /* some node changes */
    ask_somebody(p, decides);
    if (find_class(p, decides->does) != LKS_OK || check_advisory(p) != LKS_OK ||
        check_least(p, decides) != LKS_OK || check_ways_back(p) != LKS_OK)
        return p->err->code;
    return record_class(p);
}
