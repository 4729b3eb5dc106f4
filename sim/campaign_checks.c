/* The promises about what truly happens to machines. Each is named by its number. */
#include "sim/campaign.h"

#include <inttypes.h>

/* In use: by what is durable, work may come to it. */
static bool in_use(const struct cam_machine *m)
{
    return m->placed && !m->drained && !m->changing;
}

/* What can be known of it: of what only its endpoint reads, an endpoint that lies tells nothing. */
static cam_truth knowable(const struct cam_machine *m)
{
    cam_truth truth = m->truth;
    for (unsigned a = 0; a < CAM_AXES && m->bmc.liar; a++)
        if (cam_axes[a].outband && !cam_axes[a].inband)
            truth = cam_with(truth, (enum cam_axis)a, cam_version(m->bmc.claims, (enum cam_axis)a));
    return truth;
}

bool cam_is_stack(const struct cam *w, const struct cam_machine *m, unsigned stack)
{
    return stack < CAM_STACKS && knowable(m) == cam_of_type(w->stacks[stack], m->type);
}

/* Whether it runs one of the stacks, whole; which one. */
bool cam_conforms(const struct cam *w, const struct cam_machine *m, unsigned *stack)
{
    for (unsigned s = 0; s < CAM_STACKS; s++) {
        if (!cam_is_stack(w, m, s))
            continue;
        *stack = s;
        return true;
    }
    return false;
}

/* The change that is under way on it; NULL: none. */
static struct cam_change *change_on(struct cam *w, uint32_t i)
{
    for (size_t k = w->change_count; k-- > 0;)
        if (cam_member_under_way(&w->changes[k], i))
            return &w->changes[k];
    return NULL;
}

/* Another ended its drain in the scheduler, and when the act was ordered lockstepd could not know.
 */
/* Behind bridges, it has to know soon that it knows too little. */
bool cam_is_unheard(const struct cam *w, const struct cam_machine *m, lks_ms asked)
{
    if (w->bridges.on && asked > CAM_WALL + m->sched_ended + CAM_BRIDGE_COUNTS)
        return false;
    return m->sched_unheard || (m->sched_lost != 0 && asked <= m->sched_lost);
}

/* Promises 1, 2 and 6: before something is done to a machine. */
static void check_empty(struct cam *w, const struct cam_machine *m, const char *what, lks_ms asked)
{
    bool unheard = cam_is_unheard(w, m, asked);
    cam_require(w, m->job == 0 || unheard, "promise 1",
                "%s begins on %s while job %" PRIu32 " runs there", what, m->name, m->job - 1);
    cam_require(w, !m->stray, "promise 1", "%s begins on %s while a process uses its GPUs", what,
                m->name);
    cam_require(w, !w->enforce[m->pool] || w->now >= m->yes_until, "promise 2",
                "%s begins on %s before a yes that named it expired", what, m->name);
    cam_require(w, m->drained && m->changing, "promise 1", "%s begins on %s, which is in use", what,
                m->name);
    cam_require(w, !w->scheduled[m->pool] || m->sched_drained || unheard, "promise 1",
                "%s begins on %s, and its scheduler did not say that it is drained", what, m->name);
    cam_require(w, !w->scheduled[m->pool] || cam_sched_is_ours(m) || unheard, "promise 1",
                "%s begins on %s, which its scheduler has drained by '%s'", what, m->name,
                m->sched_owner);
    cam_second_check(w, m, what);
}

/* The same of what an asset carries: nodes of its domain, and its rack with the other side. An
 * endpoint may start an update long after it was ordered: a peer that is kept out of use since then
 * was in service when that was decided. */
static void check_around(struct cam *w, uint32_t i, uint32_t other, const char *what, lks_ms asked)
{
    const struct cam_machine *m = &w->machines[i], *o = &w->machines[other];
    if (o->type == CAM_NODE) {
        cam_require(w, o->job == 0 || cam_is_unheard(w, o, asked), "promise 1",
                    "%s begins on %s while a job runs on %s of its domain", what, m->name, o->name);
        cam_require(w, !in_use(o) || o->excused, "promise 1",
                    "%s begins on %s while %s of its domain is in service", what, m->name, o->name);
    } else if (o->type == m->type && m->type == CAM_POWER_SHELF) {
        cam_require(w, !o->busy, "promise 6", "%s begins on %s while %s, its other side, is down",
                    what, m->name, o->name);
        cam_require(w, !o->changing || change_on(w, other) != NULL || o->kept > asked, "promise 6",
                    "%s begins on %s while %s, its other side, is kept out of use", what, m->name,
                    o->name);
    }
}

void cam_check_disruption(struct cam *w, uint32_t i, const char *what, lks_ms asked)
{
    const struct cam_machine *m = &w->machines[i];
    if (m->type == CAM_NODE)
        check_empty(w, m, what, asked);
    cam_require(w, m->type != CAM_NODE || !m->busy, "promise 8", "%s begins on %s beside another",
                what, m->name);
    for (uint32_t k = 0; k < w->count && m->type != CAM_NODE && m->domain > 0; k++) {
        if (k != i && w->machines[k].domain == m->domain)
            check_around(w, i, k, what, asked);
    }
}

/* Promise 6: a domain serves one stack, without those that a person holds: who let one go as it is
 * was told to, and what becomes of it when they end that is theirs. */
static void check_domain(struct cam *w, unsigned domain)
{
    const struct cam_machine *first = NULL;
    uint32_t from = w->domain_nodes[domain].first, to = from + w->domain_nodes[domain].count;
    for (uint32_t k = from; k < to; k++) {
        const struct cam_machine *m = &w->machines[k];
        if (!in_use(m) || m->excused)
            continue;
        if (first == NULL)
            first = m;
        cam_require(w, knowable(m) == knowable(first), "promise 6", "%s and %s serve mixed",
                    first->name, m->name);
    }
}

/* Promise 5: the way back, by the truth; that of one-way steps is not asked for. */
static cam_truth revertible(cam_truth truth)
{
    return cam_with(truth, CAM_BOARD, 0);
}

static bool needs_proof(const struct cam_change *c, const struct cam_member *m)
{
    return m->from < CAM_STACKS && c->stack < CAM_STACKS && c->recipes[m->recipe].reverts;
}

static bool *way_back(struct cam *w, const struct cam_machine *m, unsigned from, unsigned to)
{
    return &w->back_gone[m->revision][from][to];
}

static void note_way_back(struct cam *w, uint32_t i, const struct cam_change *c)
{
    const struct cam_machine *m = &w->machines[i];
    const struct cam_member *member = &c->members[i];
    if (member->from < CAM_STACKS && c->stack < CAM_STACKS &&
        revertible(m->truth) == revertible(cam_of_type(w->stacks[member->from], m->type)))
        *way_back(w, m, member->from, c->stack) = true;
}

/* The truth of a machine changed. */
void cam_check_truth(struct cam *w, uint32_t i, cam_truth before)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_change *c = change_on(w, i);
    if (m->truth == before)
        return;
    cam_require(w, !in_use(m), "promise 1", "%s is changed while it is in use", m->name);
    check_domain(w, m->domain);
    if (c == NULL || m->type != CAM_NODE)
        return;
    const struct cam_member *member = &c->members[i];
    bool proof = needs_proof(c, member);
    if (member->back) {
        note_way_back(w, i, c);
        return;
    }
    cam_require(w,
                c->waves[member->wave].kind != LKS_WAVE_RING || !proof || member->proves ||
                    *way_back(w, m, member->from, c->stack),
                "promise 5", "%s changes in a ring, and the way back was not gone on revision %u",
                m->name, m->revision);
}

/* Promise 6: a shelf may not carry the rack while its update has not ended, or if the outcome is
 * unknown. */
static void check_pair(struct cam *w, const struct cam_flash *f)
{
    const struct cam_machine *m = &w->machines[f->node];
    for (uint32_t k = 0; k < w->count && m->type == CAM_POWER_SHELF; k++) {
        const struct cam_machine *o = &w->machines[k];
        if (o->type == m->type && o->domain == m->domain && o->side != m->side)
            cam_require(w, !o->unknown && o->flash_ends == 0, "promise 6",
                        "update %" PRIu64 " of %s follows one of %s, its other side, that %s",
                        f->id, m->name, o->name,
                        o->unknown ? "has an unknown outcome" : "has not ended");
    }
}

/* Promise 5: what has no way back comes last. */
void cam_check_flash(struct cam *w, const struct cam_flash *f)
{
    struct cam_machine *m = &w->machines[f->node];
    struct cam_change *c = change_on(w, f->node);
    cam_require(w, !m->unknown, "promise 8",
                "%s: update %" PRIu64 " follows one whose outcome is unknown", m->name, f->id);
    check_pair(w, f);
    if (c == NULL || f->axis != CAM_BOARD || c->members[f->node].back || c->stack >= CAM_STACKS)
        return;
    const struct cam_member *member = &c->members[f->node];
    if (!needs_proof(c, member) || c->recipes[member->recipe].stays_more)
        return;
    cam_require(w, *way_back(w, m, member->from, c->stack), "promise 5",
                "%s: a one-way step before the way back of the others was gone", m->name);
    cam_require(w, revertible(m->truth) == revertible(cam_of_type(w->stacks[c->stack], m->type)),
                "promise 5", "%s: a one-way step before the others are done", m->name);
}

/* Promises 4 and 6: a node is back in use, or about to be. */
void cam_check_return(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    unsigned stack = 0;
    if (!in_use(m))
        return;
    if (!m->released && m->touched != 0) {
        cam_require(w, cam_conforms(w, m, &stack), "promise 4",
                    "%s is back in use and runs no stack (%08" PRIx32 ")", m->name, m->truth);
        cam_require(w, m->type != CAM_NODE || m->accepted >= m->touched, "promise 4",
                    "%s is back in use and was not accepted since it was changed", m->name);
        cam_require(w, !m->busy, "promise 4", "%s is back in use while it is changed", m->name);
    }
    if (m->domain > 0 && m->type == CAM_NODE && m->touched != 0 && !m->released)
        w->returned[m->domain] = true; /* one that nobody touched returns as it was */
    m->touched = 0;
    check_domain(w, m->domain);
}

/* A change keeps it out of use, for it failed. */
static bool is_kept(const struct cam *w, uint32_t i)
{
    for (size_t k = 0; k < w->change_count; k++) {
        enum lks_member_state state = w->changes[k].members[i].state;
        if (state >= LKS_MEMBER_FENCED && state <= LKS_MEMBER_UNKNOWN)
            return true;
    }
    return false;
}

/* The node returned, and others of its domain are still at the change that it returned from. */
static bool is_alone(struct cam *w, const struct cam_machine *m)
{
    const struct cam_change *c = cam_change(w, m->last_change);
    uint32_t from = w->domain_nodes[m->domain].first, to = from + w->domain_nodes[m->domain].count;
    for (uint32_t k = from; k < to && c != NULL && in_use(m); k++)
        if (cam_member_under_way(c, k))
            return true;
    return false;
}

/* Promise 6: a domain that returned does so as a whole, but for the few it can do without. */
void cam_check_domains(struct cam *w)
{
    for (unsigned d = 1; d <= w->domains; d++) {
        unsigned out = 0, alone = 0, released = 0;
        uint32_t from = w->domain_nodes[d].first, to = from + w->domain_nodes[d].count;
        for (uint32_t k = from; k < to && w->returned[d]; k++) {
            const struct cam_machine *m = &w->machines[k];
            out += m->placed && !in_use(m) && is_kept(w, k);
            alone += is_alone(w, m);
            released += m->released || m->person;
        }
        cam_require(w, out <= w->spares || released > 0, "promise 6",
                    "domain d%u is back in use without %u of its nodes", d, out);
        cam_require(w, alone == 0 || released > 0, "promise 6",
                    "%u nodes of domain d%u are back in use before the others", alone, d);
        w->returned[d] = false;
    }
}

/* Promise 2. */
void cam_check_yes(struct cam *w, const uint32_t *nodes, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        const struct cam_machine *m = &w->machines[nodes[k]], *f = &w->machines[nodes[0]];
        unsigned stack = 0;
        if (!w->enforce[m->pool])
            return;
        cam_require(w, in_use(m), "promise 2", "a job is admitted to %s, which changes", m->name);
        cam_require(w, !m->busy, "promise 2", "a job is admitted to %s while it is changed",
                    m->name);
        cam_require(w, m->released || cam_conforms(w, m, &stack), "promise 2",
                    "a job is admitted to %s, which runs no stack", m->name);
        cam_require(w, m->pool != 2 || knowable(m) == knowable(f), "promise 2",
                    "a job is admitted to %s and %s, which differ", f->name, m->name);
    }
}

void cam_check_job(struct cam *w, const struct cam_job *job)
{
    for (unsigned k = 0; k < job->count; k++) {
        const struct cam_machine *m = &w->machines[job->nodes[k]];
        cam_require(w, !m->busy, "promise 2", "a job begins on %s while it is changed", m->name);
        cam_require(w, !m->emptied || m->sched_unheard || w->now <= m->yes_until, "promise 1",
                    "a job begins on %s, which is drained for a hold", m->name);
    }
}

/* Promise 1: a node on hold counts as drained only when its scheduler starts no job there and none
 * runs. */
void cam_check_emptied(struct cam *w, const struct cam_machine *m)
{
    cam_require(w, m->sched_unheard || (m->held && cam_sched_is_ours(m)), "promise 1",
                "%s counts as drained for a hold, and its scheduler has it drained by '%s'",
                m->name, m->sched_owner);
    bool forgotten = m->job != 0 && w->jobs[m->job - 1].unlisted;
    cam_require(w, m->sched_unheard || m->job == 0 || w->now <= m->yes_until || forgotten,
                "promise 1", "%s counts as drained for a hold while job %" PRIu32 " runs there",
                m->name, m->job - 1);
    cam_second_check(w, m, "an act by hand");
}

/* Promise 7: at the end lockstep drains what is wanted, and nothing else; a drain of another stays.
 */
bool cam_is_drained_right(const struct cam *w, const struct cam_machine *m)
{
    if (m->type != CAM_NODE || !w->scheduled[m->pool] || !m->placed || m->sched_missing)
        return true;
    if (!cam_second_is_right(w, m))
        return false;
    return m->drained || m->held ? m->sched_owner[0] != '\0' : !cam_sched_is_ours(m);
}

/* Everything at once ------------------------------------------------------------------------ */

static void sweep_change(struct cam *w, const struct cam_change *c)
{
    enum { WAVES = 64 };
    uint32_t open[WAVES] = {0};
    for (size_t u = 0; u < c->unit_count; u++)
        if (c->units[u].wave < WAVES && c->units[u].begun && c->units[u].over < c->units[u].count)
            open[c->units[u].wave]++;
    for (size_t k = 0; k < c->wave_count && k < WAVES; k++)
        cam_require(w, open[k] == c->waves[k].open, "promise 3",
                    "counting along equals counting all");
}

void cam_check_all(struct cam *w)
{
    for (unsigned d = 1; d <= w->domains; d++)
        check_domain(w, d);
    for (size_t k = 0; k < w->change_count && w->swept == 0; k++)
        sweep_change(w, &w->changes[k]);
    /* Of a large fleet each look is at a part, one after the other. */
    uint32_t many = w->count < CAM_FLEET_LARGE ? w->count : w->count / 32;
    for (uint32_t k = 0; k < many && w->swept + k < w->count && !w->broken; k++) {
        const struct cam_machine *m = &w->machines[w->swept + k];
        cam_require(w, !m->busy || !in_use(m), "promise 1", "%s is changed while it is in use",
                    m->name);
        cam_require(w, m->job == 0 || !m->busy, "promise 1", "%s is changed under a job", m->name);
    }
    w->swept = w->swept + many < w->count ? w->swept + many : 0;
    cam_rows_equal(w);
}
