#include "core/actions/sched.h"

#include "core/decision/event.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

const char *const lks_sched_verb_words[] = {"drain", "look", "release", NULL};

bool lks_sched_drained(const struct lks_sched_said *said)
{
    return said->known && said->closed && !said->rotation && said->jobs == 0 && said->requests == 0;
}

/* Asking ------------------------------------------------------------------------------------ */

/* The pool of a node whose scheduler can be asked; NULL: there is none. */
static const struct lks_state_pool *driven(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    const struct lks_state_pool *pool = &s->pools[n->pool];
    return lks_drain_sched(lks_state_text(s, pool->sched)) == LKS_DRAIN_DRIVEN ? pool : NULL;
}

/* A drain of ours that is not wanted any more, such as one that arrived after it was given up. */
static bool left_over(const struct lks_sched_said *last, struct lks_str wanted)
{
    return last->closed && last->lockstep && !lks_str_is(wanted, last->owner);
}

bool lks_sched_next(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                    const struct lks_sched_said *last, struct lks_sched_wish *out)
{
    const struct lks_state_pool *pool = driven(s, node);
    const struct lks_node *n = &s->nodes[node];
    if (pool == NULL)
        return false;
    struct lks_str wanted = lks_state_text(s, n->drained_by);
    *out = (struct lks_sched_wish){
        .verb = LKS_SCHED_LOOK,
        .node = lks_state_name(s, node),
        .owner = wanted,
        .reason = lks_state_text(s, n->drained_reason),
        .checkpoint = lks_drain_rule(facts, lks_state_text(s, pool->posture)).way == LKS_DRAIN_JOB,
        .revision = last != NULL ? last->revision : 0,
    };
    if (last == NULL || !last->known)
        return last == NULL || wanted.len > 0;
    if (left_over(last, wanted)) {
        out->verb = LKS_SCHED_RELEASE;
        out->owner = lks_str_from(last->owner);
    } else if (wanted.len > 0 && !(last->closed && last->lockstep)) {
        out->verb = LKS_SCHED_DRAIN;
    }
    return out->verb != LKS_SCHED_LOOK || wanted.len > 0;
}

/* Telling ----------------------------------------------------------------------------------- */

void lks_sched_event(uint32_t node, const struct lks_sched_said *said, struct lks_event *out)
{
    *out = (struct lks_event){
        .kind = LKS_EVENT_SCHED,
        .node = node,
        .sched = {.drained = lks_sched_drained(said),
                  .jobs = said->jobs + said->requests,
                  .owner = lks_str_from(said->lockstep ? said->owner : ""),
                  .text = lks_str_from(said->text)},
    };
}
