/* Approvers, what they say, and promise 10: approvals follow the class, nobody approves their own
 * change, and what begins without approvals is the canary alone, alarmed, and reviewed. */
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

/* Who may, in which pool, and at which site; CAM_POOLS and CAM_SITES: everywhere. Assets are of no
 * pool. Where there is one site, joe is at it, and there is no eli. */
static const struct {
    const char *name;
    unsigned pool, site;
} approvers[CAM_APPROVERS] = {
    {"user:ann", CAM_POOLS, CAM_SITES},
    {"user:lee", CAM_POOLS, CAM_SITES},
    {"user:joe", CAM_POOLS, 0},
    {"user:pat", CAM_POOLS - 1, CAM_SITES},
    {"user:eli", CAM_POOLS, CAM_SITES - 1},
};

static unsigned approver_count(const struct cam *w)
{
    return w->sites > 1 ? CAM_APPROVERS : CAM_APPROVERS - 1;
}

static bool is_everywhere(const struct cam *w, unsigned approver)
{
    return w->sites == 1 || approvers[approver].site == CAM_SITES;
}

/* What classes of change ask for, said again and not looked up. */
static const struct {
    const char *class;
    unsigned quorum;
} classes[] = {{"standard", 0}, {"routine", 2}, {"emergency", 1}, {"power-fabric", 3}};

/* People, by who they are: the approvers in their order, and behind them two admins. One proposes
 * the changes, the other does not; both make credentials in the names of others, and use them. */
enum { PROPOSER = CAM_APPROVERS, OTHER, STRANGER };

/* Who holds a credential, by how this file names them: nobody looks at what was recorded of it. */
static const struct {
    const char *prefix;
    unsigned holder;
} holders[] = {
    {"token:kim", PROPOSER}, {"token:bad-", PROPOSER},  {"token:far-", PROPOSER},
    {"token:adm", PROPOSER}, {"token:late-", PROPOSER}, {"token:dan", PROPOSER},
    {"token:eve", OTHER},    {"token:two-", OTHER},
};

unsigned cam_votes_holder(struct lks_str credential)
{
    uint64_t own = 0;
    for (size_t i = 0; i < LKS_COUNT(holders); i++)
        if (lks_str_starts(credential, holders[i].prefix))
            return holders[i].holder;
    return lks_str_starts(credential, "token:own-") &&
                   lks_str_number(lks_str_last(credential, '-'), CAM_APPROVERS - 1, &own)
               ? (unsigned)own
               : STRANGER;
}

const char *cam_votes_credential(const char *name, bool own, char out[CAM_CREDENTIAL])
{
    unsigned i = 0;
    while (i < CAM_APPROVERS && strcmp(approvers[i].name, name) != 0)
        i++;
    if (i < CAM_APPROVERS)
        (void)snprintf(out, CAM_CREDENTIAL, "token:%s%u", own ? "own-" : "bad-", i);
    else
        (void)snprintf(out, CAM_CREDENTIAL, "token:kim");
    return out;
}

/* By the token `prefix`, or `prefix`N. */
static bool ask(struct cam *w, struct lks_event event, struct lks_str by, const char *prefix,
                unsigned n)
{
    char credential[CAM_CREDENTIAL];
    size_t len = strlen(prefix);
    (void)snprintf(credential, sizeof(credential),
                   prefix[len - 1] == '-' ? "token:%s%u" : "token:%s", prefix, n);
    event.by = by;
    event.credential = lks_str_from(credential);
    event.reason = CAM_SAID;
    return cam_turn(w, &event, NULL);
}

void cam_votes_propose(struct cam *w, struct lks_event event)
{
    bool other = lks_rng_percent(&w->rng, 25);
    (void)ask(w, event, other ? LKS_STR("user:dan") : CAM_BY, other ? "dan" : "kim", 0);
}

/* People ------------------------------------------------------------------------------------ */

/* A token PREFIX or PREFIXN for somebody, made by root or by another token; false: it was not. */
static bool mint(struct cam *w, const char *maker, const char *prefix, unsigned n, const char *who)
{
    char id[CAM_CREDENTIAL], credential[CAM_CREDENTIAL] = "unix:0";
    size_t len = strlen(prefix);
    (void)snprintf(id, sizeof(id), prefix[len - 1] == '-' ? "%s%u" : "%s", prefix, n);
    if (maker != NULL)
        (void)snprintf(credential, sizeof(credential), "token:%s", maker);
    const char *by = maker == NULL               ? "unix:0"
                     : strcmp(maker, "kim") == 0 ? "user:kim"
                     : strcmp(maker, "eve") == 0 ? "user:eve"
                                                 : "user:adm";
    const struct lks_event event = {.kind = LKS_EVENT_API_TOKEN,
                                    .by = lks_str_from(by),
                                    .credential = lks_str_from(credential),
                                    .root = maker == NULL,
                                    .api_token = {.id = lks_str_from(id),
                                                  .identity = lks_str_from(who),
                                                  .hash = LKS_STR("sha256:1")}};
    return cam_turn(w, &event, NULL);
}

/* Each has a token of their own from root; each has others that they do not hold, made before
 * anything was proposed: by the proposer, by way of another admin, and by an admin who proposes
 * nothing. */
static void mint_all(struct cam *w)
{
    bool fine = mint(w, NULL, "kim", 0, "user:kim") && mint(w, NULL, "eve", 0, "user:eve") &&
                mint(w, "kim", "adm", 0, "user:adm") && mint(w, "kim", "dan", 0, "user:dan");
    for (unsigned i = 0; i < approver_count(w) && fine; i++)
        fine = mint(w, NULL, "own-", i, approvers[i].name) &&
               mint(w, "kim", "bad-", i, approvers[i].name) &&
               mint(w, "adm", "far-", i, approvers[i].name) &&
               mint(w, "eve", "two-", i, approvers[i].name);
    cam_require(w, fine, "setup", "tokens of people");
}

/* Whoever proposes may approve, too: what others propose. */
void cam_votes_setup(struct cam *w)
{
    cam_person(w, &(struct lks_event){.kind = LKS_EVENT_GRANT,
                                      .by = CAM_BY,
                                      .grant = {.identity = CAM_BY,
                                                .role = LKS_ROLE_APPROVER,
                                                .site = LKS_STR(""),
                                                .pool = LKS_STR("")}});
    for (unsigned i = 0; i < approver_count(w); i++) {
        bool all = approvers[i].pool == CAM_POOLS;
        cam_person(
            w, &(struct lks_event){
                   .kind = LKS_EVENT_GRANT,
                   .by = CAM_BY,
                   .grant = {.identity = lks_str_from(approvers[i].name),
                             .role = LKS_ROLE_APPROVER,
                             .site = lks_str_from(
                                 is_everywhere(w, i) ? "" : cam_site_name(approvers[i].site)),
                             .pool = lks_str_from(all ? "" : cam_pool_name(approvers[i].pool))}});
    }
    mint_all(w);
}

/* The proposer votes in others' names, by tokens made before and after; the other admin does, too,
 * which is one person's vote. */
static void vote_for_others(struct cam *w, struct lks_event vote)
{
    static const char *const theirs[] = {"bad-", "far-", "late-"};
    for (unsigned i = 0; i < approver_count(w) && w->engine != NULL && !w->broken; i++) {
        struct lks_str name = lks_str_from(approvers[i].name);
        const char *prefix = theirs[lks_rng_below(&w->rng, LKS_COUNT(theirs))];
        if (lks_rng_percent(&w->rng, 20))
            (void)mint(w, "kim", "late-", i, approvers[i].name);
        if (lks_rng_percent(&w->rng, 30))
            (void)ask(w, vote, name, prefix, i);
        if (lks_rng_percent(&w->rng, 30))
            (void)ask(w, vote, name, "two-", i);
    }
}

void cam_votes_give(struct cam *w, uint64_t change)
{
    struct lks_event vote = {.kind = LKS_EVENT_VOTE, .vote = {.change = change, .yes = true}};
    (void)ask(w, vote, CAM_BY, "kim", 0);
    if (!w->calm)
        vote_for_others(w, vote);
    for (unsigned i = 0; i < approver_count(w) && w->engine != NULL && !w->broken; i++)
        if (w->calm || lks_rng_percent(&w->rng, 60))
            (void)ask(w, vote, lks_str_from(approvers[i].name), "own-", i);
}

/* Somebody changes their mind, looks at what began without them, or says no. */
void cam_votes_meddle(struct cam *w)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    unsigned n = (unsigned)lks_rng_below(&w->rng, approver_count(w));
    struct lks_str who = lks_str_from(approvers[n].name);
    uint64_t roll = lks_rng_below(&w->rng, 10);
    if (s->change_count == 0)
        return;
    uint64_t change = s->changes[lks_rng_below(&w->rng, s->change_count)].id;
    const struct lks_event review = {.kind = LKS_EVENT_REVIEW, .review = change};
    if (roll < 1)
        (void)ask(w, review, CAM_BY, "kim", 0);
    else if (roll < 2)
        (void)ask(w, review, who, "bad-", n);
    else if (roll < 5)
        (void)ask(w, review, who, "own-", n);
    else
        (void)ask(w,
                  (struct lks_event){.kind = LKS_EVENT_VOTE,
                                     .vote = {.change = change, .withdrawn = roll < 9}},
                  who, "own-", n);
}

/* Rows -------------------------------------------------------------------------------------- */

/* The approver of that name; CAM_APPROVERS: none. */
static unsigned place_of(struct lks_str who)
{
    unsigned i = 0;
    while (i < CAM_APPROVERS && !lks_str_is(who, approvers[i].name))
        i++;
    return i;
}

/* Whoever holds the credential speaks, in whatever name. */
static void on_voted(struct cam *w, struct cam_change *c, const struct lks_rec_change_voted *r)
{
    unsigned place = place_of(r->by), holder = cam_votes_holder(r->credential);
    cam_require(w, holder != PROPOSER, "promise 10", "a proposer approves its own change");
    if (place < CAM_APPROVERS)
        c->votes.yes[place] = r->yes ? 1U << holder : 0;
}

static void on_withdrawn(struct cam_change *c, struct lks_str by)
{
    if (place_of(by) < CAM_APPROVERS)
        c->votes.yes[place_of(by)] = 0;
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

static void on_reviewed(struct cam *w, struct cam_change *c, const struct lks_rec_reviewed *r)
{
    cam_require(w, cam_votes_holder(r->credential) != PROPOSER, "promise 10",
                "change %" PRIu64 " is reviewed by who began it", c->id);
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
    if (r->kind == LKS_RECORD_CHANGE) {
        on_class(w, cam_change(w, r->change.id), r->change.class);
    } else if (r->kind == LKS_RECORD_CHANGE_VOTED) {
        on_voted(w, cam_change(w, r->change_voted.change), &r->change_voted);
    } else if (r->kind == LKS_RECORD_VOTE_WITHDRAWN) {
        on_withdrawn(cam_change(w, r->vote_withdrawn.change), r->vote_withdrawn.by);
    } else if (r->kind == LKS_RECORD_GLASS_BROKEN) {
        cam_change(w, r->glass_broken.change)->votes.glass = true;
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

static bool has_voice(const struct cam *w, const struct cam_machine *m, unsigned approver)
{
    return (is_everywhere(w, approver) || m->site == approvers[approver].site) &&
           (approvers[approver].pool == CAM_POOLS ||
            (m->type == CAM_NODE && m->pool == approvers[approver].pool));
}

/* The fewest people who stand behind it, over all of its machines. */
static unsigned voices(const struct cam *w, const struct cam_change *c)
{
    unsigned fewest = CAM_APPROVERS;
    for (uint32_t i = 0; i < w->count; i++) {
        unsigned people = 0;
        if (!c->members[i].in || !w->machines[i].placed)
            continue;
        for (unsigned a = 0; a < CAM_APPROVERS; a++)
            people |= has_voice(w, &w->machines[i], a) ? c->votes.yes[a] : 0;
        unsigned count = (unsigned)__builtin_popcount(people);
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
