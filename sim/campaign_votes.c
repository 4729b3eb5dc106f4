/* Approvers, what they say, and promise 10: approvals follow the class, nobody approves their own
 * change, and what begins without approvals is the canary alone, alarmed, and reviewed. */
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

/* Who may, and in which pool; CAM_POOLS: everywhere. Assets are of no pool. */
static const struct {
    const char *name;
    unsigned pool;
} approvers[CAM_APPROVERS] = {
    {"user:ann", CAM_POOLS},
    {"user:lee", CAM_POOLS},
    {"user:joe", CAM_POOLS},
    {"user:pat", CAM_POOLS - 1},
};

/* What classes of change ask for, said again and not looked up. */
static const struct {
    const char *class;
    unsigned quorum;
} classes[] = {{"standard", 0}, {"routine", 2}, {"emergency", 1}, {"power-fabric", 3}};

static bool ask(struct cam *w, struct lks_event event, struct lks_str by)
{
    event.by = by;
    event.reason = CAM_SAID;
    return cam_turn(w, &event, NULL);
}

/* People ------------------------------------------------------------------------------------ */

/* Whoever proposes may approve, too: what others propose. */
void cam_votes_setup(struct cam *w)
{
    cam_person(w, &(struct lks_event){.kind = LKS_EVENT_GRANT,
                                      .by = CAM_BY,
                                      .grant = {.identity = CAM_BY,
                                                .role = LKS_ROLE_APPROVER,
                                                .site = LKS_STR(""),
                                                .pool = LKS_STR("")}});
    for (unsigned i = 0; i < CAM_APPROVERS; i++) {
        bool all = approvers[i].pool == CAM_POOLS;
        cam_person(
            w, &(struct lks_event){
                   .kind = LKS_EVENT_GRANT,
                   .by = CAM_BY,
                   .grant = {.identity = lks_str_from(approvers[i].name),
                             .role = LKS_ROLE_APPROVER,
                             .site = LKS_STR(""),
                             .pool = lks_str_from(all ? "" : cam_pool_name(approvers[i].pool))}});
    }
}

void cam_votes_give(struct cam *w, uint64_t change)
{
    struct lks_event vote = {.kind = LKS_EVENT_VOTE, .vote = {.change = change, .yes = true}};
    bool own = ask(w, vote, CAM_BY);
    cam_require(w, !own || w->broken, "promise 10", "a proposer approves its own change");
    for (unsigned i = 0; i < CAM_APPROVERS && w->engine != NULL && !w->broken; i++)
        if (w->calm || lks_rng_percent(&w->rng, 60))
            (void)ask(w, vote, lks_str_from(approvers[i].name));
}

/* Somebody changes their mind, looks at what began without them, or says no. */
void cam_votes_meddle(struct cam *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    struct lks_str who = lks_str_from(approvers[lks_rng_below(&w->rng, CAM_APPROVERS)].name);
    uint64_t roll = lks_rng_below(&w->rng, 10);
    if (s->change_count == 0)
        return;
    uint64_t change = s->changes[lks_rng_below(&w->rng, s->change_count)].id;
    if (roll < 5)
        (void)ask(w, (struct lks_event){.kind = LKS_EVENT_REVIEW, .review = change},
                  lks_rng_percent(&w->rng, 20) ? CAM_BY : who);
    else
        (void)ask(w,
                  (struct lks_event){.kind = LKS_EVENT_VOTE,
                                     .vote = {.change = change, .withdrawn = roll < 9}},
                  who);
}

/* Rows -------------------------------------------------------------------------------------- */

static unsigned bit_of(struct lks_str who)
{
    for (unsigned i = 0; i < CAM_APPROVERS; i++)
        if (lks_str_is(who, approvers[i].name))
            return 1U << i;
    return 0;
}

static void on_class(struct cam *w, struct cam_change *c, struct lks_str class)
{
    size_t i = 0;
    while (i < LKS_COUNT(classes) && !lks_str_is(class, classes[i].class))
        i++;
    cam_require(w, i < LKS_COUNT(classes), "promise 10", "a change of class '%" LKS_STR_FMT "'",
                LKS_STR_ARG(class));
    if (w->broken)
        return;
    c->votes.quorum = classes[i].quorum;
    c->votes.standard = lks_str_is(class, "standard");
    c->votes.strict = lks_str_is(class, "power-fabric");
}

static void on_glass(struct cam_change *c, const struct lks_rec_glass_broken *r)
{
    c->votes.glass = true;
    (void)snprintf(c->votes.glass_by, sizeof(c->votes.glass_by), "%" LKS_STR_FMT,
                   LKS_STR_ARG(r->by));
}

static void on_reviewed(struct cam *w, struct cam_change *c, const struct lks_rec_reviewed *r)
{
    bool other = !lks_str_is(r->by, c->votes.glass_by) && !lks_str_is(r->by, c->by);
    cam_require(w, other, "promise 10", "change %" PRIu64 " is reviewed by who began it", c->id);
    c->votes.reviewed = true;
}

static void on_alarm(struct cam *w, const struct lks_rec_alarm *r)
{
    for (size_t k = 0; k < w->change_count && r->kind == LKS_ALARM_GLASS; k++) {
        char subject[32];
        (void)snprintf(subject, sizeof(subject), "change:%" PRIu64, w->changes[k].id);
        if (!lks_str_is(r->subject, subject))
            continue;
        w->changes[k].votes.alarmed = true;
        w->changes[k].votes.alarm = r->id;
    }
}

static void on_released(struct cam *w, uint64_t alarm)
{
    for (size_t k = 0; k < w->change_count; k++)
        cam_require(w, w->changes[k].votes.alarm != alarm || w->changes[k].votes.reviewed,
                    "promise 10",
                    "nobody is told any more of change %" PRIu64
                    ", which began without approvals, and nobody reviewed it",
                    w->changes[k].id);
}

void cam_votes_row(struct cam *w, const struct lks_record *r)
{
    struct cam_change *c;
    if (r->kind == LKS_RECORD_CHANGE) {
        on_class(w, cam_change(w, r->change.id), r->change.class);
    } else if (r->kind == LKS_RECORD_CHANGE_VOTED) {
        c = cam_change(w, r->change_voted.change);
        unsigned bit = lks_str_is(r->change_voted.by, c->by) ? 0 : bit_of(r->change_voted.by);
        c->votes.yes = r->change_voted.yes ? c->votes.yes | bit : c->votes.yes & ~bit;
    } else if (r->kind == LKS_RECORD_VOTE_WITHDRAWN) {
        c = cam_change(w, r->vote_withdrawn.change);
        c->votes.yes &= ~bit_of(r->vote_withdrawn.by);
    } else if (r->kind == LKS_RECORD_GLASS_BROKEN) {
        on_glass(cam_change(w, r->glass_broken.change), &r->glass_broken);
    } else if (r->kind == LKS_RECORD_REVIEWED) {
        on_reviewed(w, cam_change(w, r->reviewed.change), &r->reviewed);
    } else if (r->kind == LKS_RECORD_ALARM) {
        on_alarm(w, &r->alarm);
    } else if (r->kind == LKS_RECORD_ALARM_RELEASED) {
        on_released(w, r->alarm_released.id);
    }
}

void cam_votes_step(struct cam_change *c, const struct lks_rec_plan_step *r)
{
    bool flash = r->kind == LKS_DO_FLASH || r->kind == LKS_DO_ACTIVATE;
    static const char *const plant[] = {"nvswitch", "nvos",           "psu", "bbu", "power-shelf",
                                        "cdu",      "rack-controller"};
    c->votes.firmware |= flash;
    for (size_t i = 0; i < LKS_COUNT(plant); i++)
        c->votes.plant |= flash && lks_str_ends(r->component, plant[i]);
}

/* Promise 10 -------------------------------------------------------------------------------- */

static bool has_voice(const struct cam_machine *m, unsigned approver)
{
    return approvers[approver].pool == CAM_POOLS ||
           (m->type == CAM_NODE && m->pool == approvers[approver].pool);
}

/* The fewest of them that stand behind it, over all of its machines. */
static unsigned voices(const struct cam *w, const struct cam_change *c)
{
    unsigned fewest = CAM_APPROVERS;
    for (uint32_t i = 0; i < w->count; i++) {
        unsigned count = 0;
        if (!c->members[i].in || !w->machines[i].placed)
            continue;
        for (unsigned a = 0; a < CAM_APPROVERS; a++)
            count += (c->votes.yes >> a & 1) != 0 && has_voice(&w->machines[i], a);
        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

void cam_votes_begin(struct cam *w, struct cam_change *c)
{
    cam_require(w, !c->votes.plant || c->votes.strict, "promise 10",
                "change %" PRIu64 " touches power or fabric, and is not of that class", c->id);
    cam_require(w, !c->votes.firmware || !c->votes.standard, "promise 10",
                "change %" PRIu64 " flashes firmware, and is approved beforehand", c->id);
    if (c->votes.approved || (c->votes.glass && c->votes.alarmed))
        return; /* it goes on */
    cam_require(w, !c->votes.glass, "promise 10",
                "change %" PRIu64 " began without approvals, and nobody was told", c->id);
    cam_require(w, voices(w, c) >= c->votes.quorum, "promise 10",
                "change %" PRIu64 " runs with %u of %u approvals", c->id, voices(w, c),
                c->votes.quorum);
    c->votes.approved = true;
}

void cam_votes_ring(struct cam *w, const struct cam_change *c, const char *name)
{
    if (!c->votes.approved)
        cam_require(w, voices(w, c) >= c->votes.quorum, "promise 10",
                    "%s begins in a ring of change %" PRIu64
                    ", which began without approvals and has %u of %u",
                    name, c->id, voices(w, c), c->votes.quorum);
}
