/*
 * A second site, domains whose nodes are in several pools and at both sites, firmware that is
 * staged while a node serves, and people who freeze one of these pools at the moment at which it
 * matters; and administrators who end drains of ours in their scheduler.
 *
 * Chance of its own decides all of that, so that what other seeds draw stays as it was. The salt is
 * one by which no seed that sim_campaign.c remembers is among them.
 */
#include "sim/campaign.h"

#define SALT        UINT64_C(0x74776f736974653e)
#define SPREAD_DRAW 35 /* percent of seeds */
#define STAGES_DRAW 70 /* percent of those */

#define RESUMES_MAX    60 /* percent of what people do to schedulers, at most */
#define SCHED_DOWN_MAX 20

static const char *const names[CAM_SITES] = {"east", "west"};

const char *cam_site_name(unsigned site)
{
    return names[site];
}

void cam_spread_draw(struct cam *w)
{
    struct lks_rng *rng = &w->chance;
    *rng = (struct lks_rng){.state = w->seed ^ SALT};
    w->sites = w->nodes < CAM_FLEET_LARGE && lks_rng_percent(rng, SPREAD_DRAW) ? CAM_SITES : 1;
    bool pools = w->pools > 1 && lks_rng_percent(rng, 70), sites = lks_rng_percent(rng, 70);
    for (uint32_t i = 0; i < w->count && w->sites > 1; i++) {
        struct cam_machine *m = &w->machines[i];
        m->site = m->domain > 0 ? m->domain % CAM_SITES : i * CAM_SITES / w->nodes;
        if (m->domain > 0 && sites && lks_rng_percent(rng, 40))
            m->site = CAM_SITES - 1 - m->site;
        if (m->domain > 0 && m->type == CAM_NODE && pools && lks_rng_percent(rng, 40))
            m->pool = CAM_POOLS - w->pools + (unsigned)lks_rng_below(rng, w->pools - 1);
    }
    w->stages = w->sites > 1 && lks_rng_percent(rng, STAGES_DRAW);
    for (unsigned s = 1; s < CAM_STACKS && w->stages; s++) {
        unsigned before = cam_version(w->stacks[s - 1], CAM_HMC);
        w->stacks[s] = cam_with(w->stacks[s], CAM_HMC, lks_rng_percent(rng, 80) ? s : before);
    }
    if (w->kind)
        return;
    w->weather.resumes = (unsigned)lks_rng_below(rng, RESUMES_MAX);
    w->weather.sched_down = (unsigned)lks_rng_below(rng, SCHED_DOWN_MAX);
}

/* Freezes ----------------------------------------------------------------------------------- */

static void come_back(struct cam *w, unsigned pool, bool thaws, lks_ms within)
{
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_PERSON, .number = CAM_PERSON_FREEZES, .node = pool, .value = thaws},
             CAM_MINUTE + lks_rng_below(&w->chance, within));
}

/* A domain starts: a person freezes the pool of one of its nodes, before it drains or not. */
void cam_spread_begun(struct cam *w, uint32_t i)
{
    unsigned domain = w->machines[i].domain;
    if (w->sites == 1 || w->calm || w->kind || domain == 0 ||
        !lks_rng_percent(&w->chance, w->stages ? 50 : 25))
        return;
    uint32_t of = w->domain_nodes[domain].first +
                  (uint32_t)lks_rng_below(&w->chance, w->domain_nodes[domain].count);
    come_back(w, w->machines[of].pool, false, 6 * CAM_MINUTE);
}

void cam_spread_freezes(struct cam *w, unsigned pool, bool thaws)
{
    if (w->engine == NULL || w->calm)
        return;
    cam_person_freezes(w, pool, !thaws);
    if (!thaws)
        come_back(w, pool, true, 20 * CAM_MINUTE);
}
