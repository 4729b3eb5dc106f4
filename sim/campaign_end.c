/* Everything settles: the weather is calm, and what is left is explained. */
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "engine/journal.h"
#include "sim/campaign.h"

#include <inttypes.h>

/* Who is in the way of its end. */
static enum lks_code name_change(const struct lks_state *s, const struct lks_state_change *c,
                                 struct lks_err *why)
{
    for (uint32_t k = 0; k < c->member_count; k++) {
        const struct lks_member *m = &c->members[k];
        if (m->state > LKS_MEMBER_PENDING && m->state < LKS_MEMBER_OVER)
            return lks_fail(why, LKS_E_REFUSED,
                            "change %" PRIu64 " is %s; %s is %s at step %" PRIu32 "%s: %s", c->id,
                            lks_change_state_words[c->state], lks_state_name(s, m->node).ptr,
                            lks_member_state_words[m->state], m->step,
                            m->back ? " on its way back" : "", lks_state_text(s, m->text).ptr);
    }
    return lks_fail(why, LKS_E_REFUSED, "change %" PRIu64 " is %s", c->id,
                    lks_change_state_words[c->state]);
}

/* What does not fit between admission and a pool that drains what admission refuses; NULL: nothing.
 * Nothing is drained where so many are refused that a person decides, or where it is frozen. */
static const char *refused_odd(const struct cam *w, const struct lks_state *s, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    uint32_t n = lks_state_node(s, lks_str_from(m->name));
    if (n == LKS_NO_NODE || m->type != CAM_NODE || s->nodes[n].pool >= s->pool_count)
        return NULL;
    const struct lks_state_pool *pool = &s->pools[s->nodes[n].pool];
    bool drains = cam_drains_refused(w, m->pool);
    bool ours = m->drained && strcmp(m->owner, LKS_NODE_STATUS_REFUSED) == 0;
    bool waits = s->frozen || pool->frozen || lks_state_acts_wait(s, s->nodes[n].pool);
    bool refused = lks_node_status_refused(s, n, s->clock, NULL) != LKS_BAR_COUNT;
    if (ours && !drains)
        return "drained as refused, which its pool does not do";
    if (ours && !refused)
        return "drained as refused, and admission would take it";
    if (drains && refused && !m->drained && !m->held && !m->changing && !waits)
        return "refused by admission, and not drained";
    return NULL;
}

/* Whether nothing is under way any more; `why` says what still is. */
bool cam_is_settled(struct cam *w, struct lks_err *why)
{
    if (w->engine == NULL || lks_engine_seq(w->engine) != lks_engine_durable_seq(w->engine))
        return lks_fail(why, LKS_E_REFUSED, "the controller is at work") == LKS_OK;
    const struct lks_state *s = lks_engine_state(w->engine);
    for (uint32_t i = 0; i < s->change_count; i++)
        if (!lks_change_over(&s->changes[i]))
            return name_change(s, &s->changes[i], why) == LKS_OK;
    if (s->commands_open > 0 || s->flashes_open > 0)
        return lks_fail(why, LKS_E_REFUSED, "%" PRIu32 " commands and %" PRIu32 " updates are open",
                        s->commands_open, s->flashes_open) == LKS_OK;
    for (uint32_t i = 0; i < w->count; i++)
        if (refused_odd(w, s, i) != NULL)
            return lks_fail(why, LKS_E_REFUSED, "%s is %s", w->machines[i].name,
                            refused_odd(w, s, i)) == LKS_OK;
    for (uint32_t i = 0; i < w->count; i++)
        if (!cam_is_drained_right(w, &w->machines[i]))
            return lks_fail(why, LKS_E_REFUSED, "%s is %s in its scheduler, by '%s'",
                            w->machines[i].name,
                            w->machines[i].held ? "on hold and open" : "still drained",
                            w->machines[i].sched_owner) == LKS_OK;
    const char *rest = cam_site_rest(w);
    return rest == NULL || lks_fail(why, LKS_E_REFUSED, "the scheduler shows '%s'", rest) == LKS_OK;
}

/* Promise 11: whoever is out of use has a cause that a person can read. */
static void check_cause(struct cam *w, const struct lks_state *s, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    uint32_t place = lks_state_node(s, lks_str_from(m->name));
    if (place == LKS_NO_NODE)
        return;
    const struct lks_node *n = &s->nodes[place];
    const struct cam_change *c = cam_owner(w, lks_str_from(m->owner));
    cam_require(w, (n->drained_by != 0) == m->drained && (n->changing != 0) == m->changing,
                "promise 8", "%s: what the rows say of it is what the state says", m->name);
    if (!m->changing && (!m->drained || c == NULL))
        return;
    const struct lks_member *member = NULL;
    for (uint32_t k = s->change_count; k-- > 0 && member == NULL;) {
        const struct lks_member *x = lks_state_change_member(&s->changes[k], place);
        if (x != NULL && (x->state == LKS_MEMBER_FENCED || x->state == LKS_MEMBER_HANDS ||
                          x->state == LKS_MEMBER_UNKNOWN))
            member = x;
    }
    cam_require(w, member != NULL && member->text != 0, "promise 11",
                "%s is out of use, and nobody says why", m->name);
}

/* What a change says of its members is what machines run. */
static void check_member(struct cam *w, const struct cam_change *c, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    const struct cam_member *member = &c->members[i];
    if (!member->in || m->last_change != c->id || m->released || c->stack >= CAM_STACKS ||
        !m->placed)
        return;
    if (member->state == LKS_MEMBER_DONE)
        cam_require(w, cam_is_stack(w, m, c->stack), "promise 4",
                    "%s is done with change %" PRIu64 " and runs something else", m->name, c->id);
    if (member->state == LKS_MEMBER_REVERTED && member->from < CAM_STACKS)
        cam_require(w, cam_is_stack(w, m, member->from) || m->truth == member->began, "promise 4",
                    "%s is back from change %" PRIu64 " and runs something else", m->name, c->id);
}

static void check_journal(struct cam *w)
{
    struct lks_verify found = {0};
    struct lks_err err = {0};
    struct lks_public_key key = lks_key_public(&w->key);
    struct lks_verify_options options = {.key = w->seed % 16 == 0 ? &key : NULL};
    enum lks_code code = lks_journal_verify(&w->store, &options, &found, &err);
    cam_require(w, code == LKS_OK, "promise 12", "%s", err.msg);
    cam_require(w, found.fault == LKS_FAULT_NONE, "promise 12", "%s", found.text);
}

/* Where nothing ever went wrong, every change is done; but for one whose nodes are too few for the
 * evidence, of which a person decides. */
static void check_kind(struct cam *w)
{
    for (size_t k = 0; k < w->change_count && w->kind; k++)
        cam_require(w, w->changes[k].state == LKS_CHANGE_DONE || w->changes[k].unsure,
                    "kind weather", "change %" PRIu64 " is %s", w->changes[k].id,
                    lks_change_state_words[w->changes[k].state]);
    cam_require(w, !w->kind || w->change_count > 0, "kind weather", "a change was proposed");
}

void cam_check_end(struct cam *w)
{
    struct lks_err why = {0};
    if (w->broken)
        return;
    cam_require(w, cam_is_settled(w, &why), "promise 11", "everything settles: %s", why.msg);
    if (w->broken)
        return;
    const struct lks_state *s = lks_engine_state(w->engine);
    for (uint32_t i = 0; i < w->count && !w->broken; i++) {
        check_cause(w, s, i);
        for (size_t k = 0; k < w->change_count; k++)
            check_member(w, &w->changes[k], i);
    }
    check_kind(w);
    cam_check_all(w);
    cam_rows_equal(w);
    cam_site_end(w);
    if (w->nodes < CAM_FLEET_LARGE && w->seed % 4 == 0 && !w->broken)
        check_journal(w);
}
