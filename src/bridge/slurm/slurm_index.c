/* Which jobs and which reservations a node has: from lists of hosts to lists of a node. */
#include "bridge/slurm/slurm_parts.h"

#include "base/vec.h"
#include "bridge/view/hidden.h"
#include "codec/notation/hostlist.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ARENA_MAX ((size_t)1 << 30)
#define HOSTS_MAX ((size_t)256 << 20)
#define LINKS_MAX ((uint32_t)20000000)

enum { ON_NODE_MAX = 4096 }; /* jobs of one node that are listed */

/* NULL: `err` says why. */
static struct lks_slurm_place *place(struct lks_slurm *s, struct lks_str name, struct lks_err *err)
{
    uint32_t id = 0, before = lks_intern_count(&s->names);
    if (LKS_VEC_RESERVE(s->places, s->place_room, before + (size_t)1, err) != LKS_OK ||
        lks_intern_id(&s->names, name, &id, err) != LKS_OK)
        return NULL;
    if (id == before)
        s->places[id] = (struct lks_slurm_place){0};
    return &s->places[id];
}

static enum lks_code put(struct lks_slurm *s, uint32_t *first, uint32_t which, struct lks_err *err)
{
    struct lks_slurm_link link = {.which = which, .next = *first};
    if (LKS_VEC_ADD(s->links, s->link_room, s->link_count, LINKS_MAX, link, err) != LKS_OK)
        return err->code;
    *first = s->link_count;
    return LKS_OK;
}

/* A list that cannot be read concerns one job or one reservation, and must not hide all others. The
 * first warning stays. */
static void warn(struct lks_slurm *s, const char *what, struct lks_str name, const char *so,
                 const struct lks_err *why)
{
    if (s->warning[0] == '\0')
        snprintf(s->warning, sizeof(s->warning),
                 "the nodes of %s %" LKS_STR_FMT " cannot be read, and %s: %.300s", what,
                 LKS_STR_ARG(name), so, why->msg);
}

static enum lks_code place_job(struct lks_slurm *s, uint32_t which, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    const struct lks_bridge_job *job = &s->jobs[which];
    struct lks_hostlist hosts = {0};
    struct lks_err why = {0};
    enum lks_code code = lks_hostlist_parse(job->nodes, &arena, &hosts, &why);
    if (code == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    if (code != LKS_OK) {
        warn(s, "job", job->id, "every node counts as busy with it", &why);
        s->unplaced[s->unplaced_count++] = which;
    }
    for (size_t i = 0; i < hosts.count; i++) {
        struct lks_slurm_place *at = place(s, hosts.names[i], err);
        if (at == NULL || put(s, &at->jobs, which, err) != LKS_OK)
            return lks_wrap(err, "nodes of job %" LKS_STR_FMT, LKS_STR_ARG(job->id));
    }
    return LKS_OK;
}

static enum lks_code place_reservation(struct lks_slurm *s, uint32_t which, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MAX};
    const struct lks_bridge_reservation *r = &s->reservations[which];
    struct lks_hostlist hosts = {0};
    struct lks_err why = {0};
    enum lks_code code = lks_hostlist_parse(r->nodes, &arena, &hosts, &why);
    if (code == LKS_E_NOMEM)
        return lks_fail_nomem(err);
    if (code != LKS_OK)
        warn(s, "reservation", r->name, "it is not shown", &why);
    for (size_t i = 0; i < hosts.count; i++) {
        struct lks_slurm_place *at = place(s, hosts.names[i], err);
        if (at == NULL || put(s, &at->reservations, which, err) != LKS_OK)
            return lks_wrap(err, "nodes of reservation %" LKS_STR_FMT, LKS_STR_ARG(r->name));
    }
    return LKS_OK;
}

static bool is_open(const slurm_job_info_t *job)
{
    return (job->job_state & JOB_STATE_BASE) < JOB_COMPLETE ||
           (job->job_state & JOB_COMPLETING) != 0;
}

static enum lks_code convert(struct lks_slurm *s, struct lks_err *err)
{
    uint32_t jobs = s->job_msg != NULL ? s->job_msg->record_count : 0;
    uint32_t reservations = s->reservation_msg != NULL ? s->reservation_msg->record_count : 0;
    lks_arena_fini(&s->arena);
    lks_arena_init(&s->arena, ARENA_MAX);
    s->job_count = s->reservation_count = s->unplaced_count = 0;
    s->unplaced = lks_arena_array(&s->arena, jobs + (size_t)1, sizeof(*s->unplaced));
    s->jobs = lks_arena_array(&s->arena, jobs + (size_t)1, sizeof(*s->jobs));
    s->reservations =
        lks_arena_array(&s->arena, reservations + (size_t)1, sizeof(*s->reservations));
    if (s->jobs == NULL || s->reservations == NULL || s->unplaced == NULL)
        return lks_arena_fail(&s->arena, err);
    for (uint32_t i = 0; i < jobs; i++) {
        if (is_open(&s->job_msg->job_array[i]))
            lks_slurm_convert_job(s, &s->job_msg->job_array[i], &s->jobs[s->job_count++]);
    }
    for (uint32_t i = 0; i < reservations; i++)
        lks_slurm_convert_reservation(s, &s->reservation_msg->reservation_array[i],
                                      &s->reservations[s->reservation_count++]);
    return LKS_OK;
}

enum lks_code lks_slurm_index(struct lks_slurm *s, struct lks_err *err)
{
    s->link_count = 0;
    s->warning[0] = '\0';
    if (s->places != NULL)
        memset(s->places, 0, lks_intern_count(&s->names) * sizeof(*s->places));
    if (convert(s, err) != LKS_OK)
        return err->code;
    for (uint32_t i = s->job_count; i-- > 0;) { /* so that the lists are in Slurm's order */
        if (s->jobs[i].runs && place_job(s, i, err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = s->reservation_count; i-- > 0;) {
        if (place_reservation(s, i, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

const char *lks_slurm_index_warning(const struct lks_slurm *s)
{
    return s->warning;
}

/* The job that is shown for it; NULL: what Slurm lists is all. */
static const struct lks_bridge_job *hidden(uint32_t state)
{
    const uint32_t base = state & NODE_STATE_BASE;
    const uint32_t reboots = NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED;
    const uint32_t powers_down =
        NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN | NODE_STATE_POWERING_DOWN;
    return lks_bridge_hidden_job(&(struct lks_bridge_hidden){
        .reboots = (state & reboots) != 0,
        .powered_down = (state & NODE_STATE_POWERED_DOWN) != 0,
        .powers_down = (state & powers_down) != 0,
        .unregistered = base == NODE_STATE_UNKNOWN,
        .given_away = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
                      (state & NODE_STATE_COMPLETING) != 0,
    });
}

/* A node may be in several reservations. The one of others that keeps jobs away now comes first:
 * behind lockstep's own, an outage would not be seen. */
static unsigned rank(const struct lks_bridge_reservation *r, lks_ms now)
{
    bool keeps_away = r->maint && r->from <= now && now < r->until;
    return !keeps_away ? 0 : r->own ? 1 : 2;
}

/* Of one rank, the one that has the node first. NULL: there is none. */
static const struct lks_bridge_reservation *
shown_of(const struct lks_slurm *s, const struct lks_slurm_place *place, lks_ms now)
{
    const struct lks_bridge_reservation *best = NULL;
    for (uint32_t at = place->reservations; at > 0; at = s->links[at - 1].next) {
        const struct lks_bridge_reservation *r = &s->reservations[s->links[at - 1].which];
        if (best == NULL || rank(r, now) > rank(best, now) ||
            (rank(r, now) == rank(best, now) && r->from < best->from))
            best = r;
    }
    return best;
}

enum lks_code lks_slurm_index_add(struct lks_slurm *s, const node_info_t *node,
                                  struct lks_bridge_reading *out, struct lks_err *err)
{
    const struct lks_bridge_job *jobs[ON_NODE_MAX];
    char state[LKS_SLURM_STATE_MAX];
    struct lks_bridge_node made;
    const struct lks_bridge_reservation *reservation = NULL;
    uint32_t id = 0;
    size_t count = 0;
    lks_slurm_convert_node(s, node, state, &made);
    if (lks_intern_find(&s->names, made.name, &id)) {
        const struct lks_slurm_place *here = &s->places[id];
        for (uint32_t at = here->jobs; at > 0 && count < ON_NODE_MAX; at = s->links[at - 1].next)
            jobs[count++] = &s->jobs[s->links[at - 1].which];
        reservation = shown_of(s, here, (lks_ms)time(NULL) * LKS_SECOND);
    }
    /* A job whose nodes cannot be read may run here: no node is shown as empty while there is one.
     */
    for (uint32_t i = 0; i < s->unplaced_count && count < ON_NODE_MAX; i++)
        jobs[count++] = &s->jobs[s->unplaced[i]];
    const struct lks_bridge_job *more = hidden(node->node_state);
    if (count == 0 && more != NULL)
        jobs[count++] = more;
    const struct lks_bridge_load load = {
        .jobs = jobs, .job_count = count, .reservation = reservation};
    return lks_bridge_reading_add(out, &made, &load, err);
}
