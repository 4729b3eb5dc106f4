/* What a site's Slurm has beside nodes, as bridges list and change it: jobs, what lockstep says of
 * nodes, and reservations. */
#include "bridge/view/truth.h"
#include "codec/notation/hostlist.h"
#include "core/actions/sched_truth.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

#define CONFIGURED "gpu,h200" /* features in slurm.conf */
#define LATE       (35 * CAM_MINUTE)
#define LEFT_BY    (35 * CAM_MINUTE)
#define LEFTOVER   900 /* changes of a controller that had another store */

enum { DONE = 200, CONFLICT = 409, DENIED = 403 };

/* Jobs --------------------------------------------------------------------------------------- */

struct listed {
    struct lks_bridge_job jobs[CAM_JOBS_MAX * CAM_GANG_MAX];
    char ids[CAM_JOBS_MAX * CAM_GANG_MAX][CAM_JOB_ID_SIZE];
    char nodes[CAM_JOBS_MAX * CAM_GANG_MAX][CAM_GANG_MAX * 16];
    size_t count;
};

static void list_part(const struct cam *w, const struct cam_job *job, unsigned k,
                      struct listed *out)
{
    size_t at = out->count++;
    struct lks_str id = cam_requeue_part(job, k, out->ids[at]);
    (void)snprintf(out->nodes[at], sizeof(out->nodes[at]), "%s%s", w->machines[job->nodes[k]].name,
                   job->odd == CAM_ODD_NODES ? "[1-" : "");
    out->jobs[at] = (struct lks_bridge_job){
        .id = job->odd == CAM_ODD_ID ? LKS_STR("") : id,
        .user = LKS_STR("ada"),
        .partition = LKS_STR("p"),
        .state = LKS_STR("running"),
        .nodes = lks_str_from(out->nodes[at]),
        .node_count = 1,
        .started = job->odd == CAM_ODD_START ? 0 : job->started,
        .runs = true,
        .requeue = job->requeue,
        .gpus = 8,
    };
}

void cam_site_list(const struct cam *w, unsigned site, struct lks_bridge_reading *out)
{
    static struct listed l;
    struct lks_bridge_reservation reserved[CAM_BRIDGE_RESERVED];
    struct lks_err err = {0};
    size_t count = 0;
    l.count = 0;
    for (uint32_t j = 0; j < CAM_JOBS_MAX; j++) {
        const struct cam_job *job = &w->jobs[j];
        for (unsigned k = 0; k < job->count && job->there && job->begun; k++)
            if (w->machines[job->nodes[k]].site == site &&
                w->scheduled[w->machines[job->nodes[k]].pool])
                list_part(w, job, k, &l);
    }
    for (unsigned k = 0; k < CAM_BRIDGE_RESERVED; k++) {
        const struct cam_reserved *r = &w->bridges.sites[site].reserved[k];
        if (r->there)
            reserved[count++] = cam_site_reservation(r);
    }
    LKS_ASSERT(lks_bridge_reading_jobs(out, l.jobs, l.count, reserved, count, &err) == LKS_OK);
}

/* Verdicts ----------------------------------------------------------------------------------- */

static void keep(char *to, size_t size, struct lks_str from)
{
    (void)snprintf(to, size, "%" LKS_STR_FMT, LKS_STR_ARG(from));
}

static void show(struct cam_bridge_node *n, const struct lks_bridge_truth_row *row)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf merged = LKS_BUF(CAM_BRIDGE_FEATURES);
    char digest[sizeof(n->extra)];
    lks_bridge_truth_merge(lks_str_from(n->features), row->features, &merged);
    keep(n->features, sizeof(n->features), lks_buf_view(&merged));
    (void)snprintf(digest, sizeof(digest), LKS_DRAIN_REASON_MARK "%" LKS_STR_FMT,
                   LKS_STR_ARG(row->digest));
    enum lks_bridge_truth_place place =
        lks_bridge_truth_place(lks_str_from(n->extra), lks_str_from(n->comment));
    if (place == LKS_BRIDGE_TRUTH_EXTRA)
        keep(n->extra, sizeof(n->extra), lks_str_from(digest));
    if (place == LKS_BRIDGE_TRUTH_COMMENT)
        keep(n->comment, sizeof(n->comment), lks_str_from(digest));
}

/* Before it is read again, or seconds after that. */
static lks_ms undone_in(struct cam *w)
{
    return cam_bridge_percent(w, 30) ? 1 : cam_bridge_within(w, 1, 20 * LKS_SECOND);
}

/* Some of the nodes fail, and one that another program undoes does not show it for long. */
static int publish(struct cam *w, const struct lks_bridge_truth *truth, struct lks_buf *body)
{
    struct lks_json_writer j = {.out = body};
    lks_json_begin(&j, NULL, '{');
    lks_json_begin(&j, "failed", '[');
    for (uint32_t k = 0; k < truth->count; k++) {
        uint32_t i = cam_machine(w, truth->rows[k].node);
        struct cam_bridge_node *n = &w->bridges.nodes[i];
        bool fails = !w->calm && cam_bridge_percent(w, 10);
        if (!fails)
            show(n, &truth->rows[k]);
        if (fails)
            lks_json_write(&j, "{'node': '%s', 'error': 'as simulated'}", w->machines[i].name);
        else if (n->undone > 0)
            cam_bridge_later(w, CAM_BRIDGE_FEATURED, i, undone_in(w));
        n->undone -= n->undone > 0 && !fails;
    }
    lks_json_end(&j, ']');
    lks_json_end(&j, '}');
    return DONE;
}

/* Another program sets features of its own, and those of lockstep as it likes. */
static void change_features(struct cam *w, uint32_t i)
{
    struct cam_bridge_node *n = &w->bridges.nodes[i];
    if (w->calm || !w->scheduled[w->machines[i].pool])
        return;
    if (n->undone == 0 && cam_bridge_percent(w, 30))
        n->undone = (unsigned)lks_rng_below(&w->bridges.rng, 300);
    unsigned other = (unsigned)lks_rng_below(&w->bridges.rng, CAM_STACKS);
    if (cam_bridge_percent(w, 30))
        (void)snprintf(n->features, sizeof(n->features), CONFIGURED);
    else
        (void)snprintf(n->features, sizeof(n->features), "site-%u,lks-%.12s,lks-conform", other,
                       w->stack_digests[other] + strlen("sha256:"));
    if (cam_bridge_percent(w, 20))
        (void)snprintf(n->extra, sizeof(n->extra), "another program's");
    w->bridges.undone++;
}

/* slurmctld reads its configuration again: features are those of slurm.conf. */
static void forget_features(struct cam *w, unsigned site)
{
    if (w->calm)
        return;
    cam_say(w, "slurmctld of %s reads its configuration", cam_site_name(site));
    for (uint32_t i = 0; i < w->nodes; i++)
        if (w->machines[i].site == site)
            keep(w->bridges.nodes[i].features, CAM_BRIDGE_FEATURES, LKS_STR(CONFIGURED));
    for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++)
        w->bridges.sites[site].bridges[k].book.configured = cam_now(w).wall;
}

/* `out`: what it should show. */
static bool is_shown(const struct cam *w, uint32_t i, struct lks_sched_truth *out)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct cam_machine *m = &w->machines[i];
    const struct cam_bridge_node *n = &w->bridges.nodes[i];
    uint32_t place = lks_state_node(s, lks_str_from(m->name));
    *out = (struct lks_sched_truth){0};
    if (m->type != CAM_NODE || !w->scheduled[m->pool] || !m->placed || m->sched_missing ||
        place == LKS_NO_NODE)
        return true;
    lks_sched_truth_of(s, place, true, true, out);
    return lks_bridge_truth_is(lks_str_from(n->features), lks_str_from(out->features));
}

/* It keeps what it should show: deaf, no request about it ends well. */
static bool keeps(const struct cam *w, uint32_t i)
{
    struct cam_bridge_node *n = &w->bridges.nodes[i];
    struct lks_sched_truth truth;
    bool shown = is_shown(w, i, &truth);
    bool same = strcmp(n->wanted, truth.features) == 0;
    (void)snprintf(n->wanted, sizeof(n->wanted), "%s", truth.features);
    n->shown = !shown || !same ? w->now : n->shown;
    n->differs = same && !(shown && w->now >= n->shown + LKS_SCHED_TRUTH_KEPT) ? n->differs : 0;
    return shown || w->machines[i].deaf;
}

/* A node that shows something else for long, or again and again: an alarm is open. */
static void check_shown(struct cam *w, uint32_t i)
{
    struct cam_bridge_node *n = &w->bridges.nodes[i];
    if (keeps(w, i)) {
        n->differs = w->machines[i].deaf ? 0 : n->differs;
        return;
    }
    n->differs = n->differs != 0 ? n->differs : w->now;
    lks_ms since = n->differs > w->bridges.good ? n->differs : w->bridges.good;
    cam_require(w, w->now < since + LATE || w->bridges.verdicts > 0, "verdicts",
                "%s shows '%s' for %" PRIu64 " min, and there is no alarm", w->machines[i].name,
                n->features, (w->now - since) / CAM_MINUTE);
}

void cam_site_alarm(struct cam *w, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_ALARM && r->alarm.kind == LKS_ALARM_VERDICTS)
        w->bridges.verdicts |= r->alarm.id < 64 ? UINT64_C(1) << r->alarm.id : 0;
    else if (r->kind == LKS_RECORD_ALARM_RELEASED && r->alarm_released.id < 64)
        w->bridges.verdicts &= ~(UINT64_C(1) << r->alarm_released.id);
}

/* The verdict in words: what runs there is the stack that it shows. */
static void check_digest(struct cam *w, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    const char *features = w->bridges.nodes[i].features;
    for (unsigned s = 0; s < CAM_STACKS; s++) {
        char word[32];
        (void)snprintf(word, sizeof(word), "lks-%.12s", w->stack_digests[s] + strlen("sha256:"));
        if (strstr(features, word) != NULL && strstr(features, "lks-conform") != NULL)
            cam_require(w, cam_is_stack(w, m, s) || m->read != m->truth || m->bmc.liar, "verdicts",
                        "%s shows that it conforms to stack %u, and does not run it", m->name, s);
    }
}

/* Reservations ------------------------------------------------------------------------------- */

struct lks_bridge_reservation cam_site_reservation(const struct cam_reserved *r)
{
    struct lks_bridge_reservation it = {.name = lks_str_from(r->name),
                                        .nodes = lks_str_from(r->nodes),
                                        .users = lks_str_from(r->user),
                                        .from = r->from,
                                        .until = r->until,
                                        .maint = r->maint};
    it.own = lks_bridge_reservation_is_own(&it, LKS_STR(CAM_BRIDGE_USER));
    return it;
}

static struct cam_reserved *find(struct cam_bridge_site *site, const char *name)
{
    for (unsigned k = 0; k < CAM_BRIDGE_RESERVED; k++)
        if (site->reserved[k].there && strcmp(site->reserved[k].name, name) == 0)
            return &site->reserved[k];
    return NULL;
}

static void put(struct cam_bridge_site *site, const char *name, const char *user,
                const struct lks_bridge_reserve *wanted)
{
    struct cam_reserved *r = find(site, name);
    for (unsigned k = 0; k < CAM_BRIDGE_RESERVED && r == NULL; k++)
        r = !site->reserved[k].there ? &site->reserved[k] : NULL;
    if (r == NULL)
        return;
    *r = (struct cam_reserved){
        .there = true, .maint = true, .from = wanted->from, .until = wanted->until};
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    (void)snprintf(r->user, sizeof(r->user), "%s", user);
    keep(r->nodes, sizeof(r->nodes), wanted->nodes);
}

/* As the worker of the bridge decides: bridge/serve/worker_reserve.c. */
static int reserve(struct cam *w, unsigned site, const struct lks_bridge_request *r,
                   struct lks_buf *body)
{
    struct cam_bridge_site *s = &w->bridges.sites[site];
    struct cam_reserved *is = find(s, r->name);
    const struct lks_bridge_reservation listed =
        is != NULL ? cam_site_reservation(is) : (struct lks_bridge_reservation){0};
    const struct lks_bridge_reserve *wanted = r->verb == LKS_BRIDGE_RESERVE ? &r->reserve : NULL;
    enum lks_bridge_reservation_act act =
        lks_bridge_reservation_act(is != NULL ? &listed : NULL, wanted, cam_now(w).wall);
    if (w->now < s->refuses || w->bridges.twin == CAM_TWIN_REFUSES ||
        act == LKS_BRIDGE_RESERVATION_REFUSE) {
        cam_site_say(body, "refused, as simulated");
        return act == LKS_BRIDGE_RESERVATION_REFUSE ? CONFLICT : DENIED;
    }
    cam_require(w, is == NULL || strcmp(is->user, CAM_BRIDGE_USER) == 0, "promise 7",
                "the reservation %s of %s is changed", r->name, is != NULL ? is->user : "");
    if (wanted == NULL && is != NULL)
        is->there = false;
    else if (wanted != NULL)
        put(s, r->name, CAM_BRIDGE_USER, wanted);
    w->bridges.reserved += wanted != NULL;
    lks_buf_addf(body, "{\"reservations\":[]}");
    return DONE;
}

/* It keeps no more nodes from jobs than its change may start on now, or next. */
void cam_site_reserves(struct cam *w, const struct lks_sched_reservation *wish)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 20};
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    struct lks_str pool, site;
    uint64_t id = 0, units = 0;
    bool ours = lks_sched_reservations_of(wish->name, &id, &pool, &site) && id < LEFTOVER;
    struct cam_change *c = ours ? cam_change(w, id) : NULL;
    LKS_ASSERT(lks_hostlist_parse(wish->nodes, &arena, &hosts, &err) == LKS_OK);
    cam_require(w, c != NULL && (c->state == LKS_CHANGE_APPROVED || c->state == LKS_CHANGE_RUNNING),
                "reservations", "%" LKS_STR_FMT " is reserved, and its change is not in progress",
                LKS_STR_ARG(wish->name));
    size_t now = 0;
    while (c != NULL && now < c->wave_count && c->waves[now].state == LKS_WAVE_PASSED)
        now++;
    for (size_t k = 0; k < hosts.count && c != NULL && !w->broken; k++) {
        uint32_t i = cam_machine(w, hosts.names[k]);
        const struct cam_machine *m = &w->machines[i];
        const struct cam_member *member = &c->members[i];
        bool next = now < c->wave_count && c->waves[now].state == LKS_WAVE_SOAKS;
        cam_require(w,
                    member->in && lks_str_is(pool, cam_pool_name(m->pool)) &&
                        w->bridges.reserves[m->pool] &&
                        (w->sites == 1 || lks_str_is(site, cam_site_name(m->site))),
                    "reservations", "%s is reserved for change %" PRIu64 ", which is elsewhere",
                    m->name, id);
        cam_require(
            w, member->state < LKS_MEMBER_OVER && member->wave == now + next, "reservations",
            "%s is reserved for change %" PRIu64 ", which does not start there next", m->name, id);
        bool seen = false;
        for (size_t o = 0; o < k; o++)
            seen = seen || c->members[cam_machine(w, hosts.names[o])].unit == member->unit;
        units += !seen;
        uint64_t width = c->waves[member->wave].width;
        cam_require(w, units <= (width > 0 ? width : 1), "reservations",
                    "%" PRIu64 " units of change %" PRIu64 " are reserved at once", units, id);
    }
}

/* People, and a controller with another store. */
static void meddle(struct cam *w, unsigned site)
{
    struct cam_bridge_site *s = &w->bridges.sites[site];
    struct cam_reserved *r = &s->reserved[lks_rng_below(&w->bridges.rng, CAM_BRIDGE_RESERVED)];
    lks_ms now = cam_now(w).wall / LKS_SECOND * LKS_SECOND;
    const struct lks_bridge_reserve wanted = {
        .nodes = LKS_STR("n000001"), .from = now, .until = now + 20 * CAM_HOUR};
    char name[64];
    if (w->calm)
        return;
    for (unsigned k = 0; k < CAM_BRIDGE_RESERVED && !r->there; k++)
        r = s->reserved[k].there ? &s->reserved[k] : r;
    unsigned p = CAM_POOLS - w->pools + (unsigned)lks_rng_below(&w->bridges.rng, w->pools);
    uint64_t change = 1 + lks_rng_below(&w->bridges.rng, 4);
    bool over = cam_bridge_percent(w, 50);
    (void)snprintf(name, sizeof(name), "lockstep_change_%" PRIu64 "+%s%s%s",
                   over ? LEFTOVER + change : change, cam_pool_name(p), w->sites > 1 ? "+" : "",
                   w->sites > 1 ? cam_site_name(site) : "");
    if (cam_bridge_percent(w, 30))
        s->refuses = w->now + cam_bridge_within(w, CAM_MINUTE, 20 * CAM_MINUTE);
    else if (r->there && cam_bridge_percent(w, 60) && strcmp(r->user, CAM_BRIDGE_USER) == 0)
        r->there = false;
    else if (find(s, name) == NULL)
        put(s, name, over ? CAM_BRIDGE_USER : "root", &wanted);
}

/* None of a change that does not start nodes is left for long. */
static void check_left(struct cam *w, struct cam_reserved *r)
{
    struct lks_str pool, site;
    uint64_t id = 0;
    if (!r->there || strcmp(r->user, CAM_BRIDGE_USER) != 0)
        return;
    bool ours = lks_sched_reservations_of(lks_str_from(r->name), &id, &pool, &site);
    const struct cam_change *c = ours && id < LEFTOVER ? cam_change(w, id) : NULL;
    if (c != NULL && (c->state == LKS_CHANGE_APPROVED || c->state == LKS_CHANGE_RUNNING)) {
        r->left = 0;
        return;
    }
    r->left = r->left != 0 ? r->left : w->now;
    lks_ms since = r->left > w->bridges.good ? r->left : w->bridges.good;
    cam_require(w, w->now < since + LEFT_BY, "reservations",
                "%s is left over for %" PRIu64 " min after its change", r->name,
                (w->now - since) / CAM_MINUTE);
}

/* ------------------------------------------------------------------------------------------- */

int cam_site_take(struct cam *w, unsigned site, struct lks_bridge_request *r, struct lks_buf *body)
{
    if (r->verb == LKS_BRIDGE_SIGNAL || r->verb == LKS_BRIDGE_REQUEUE)
        return cam_requeue_take(w, r, body);
    if (r->verb == LKS_BRIDGE_RESERVE || r->verb == LKS_BRIDGE_UNRESERVE)
        return reserve(w, site, r, body);
    LKS_ASSERT(r->verb == LKS_BRIDGE_TRUTH);
    return publish(w, &r->truth, body);
}

void cam_site_event(struct cam *w, const struct lks_message *msg)
{
    if (msg->number == CAM_BRIDGE_FORGETS)
        forget_features(w, msg->node);
    else if (msg->number == CAM_BRIDGE_FEATURED)
        change_features(w, msg->node);
    else
        meddle(w, msg->node);
}

/* lockstepd asks where it has nodes. */
static bool has_nodes(const struct cam *w, unsigned site)
{
    for (uint32_t i = 0; i < w->nodes; i++)
        if (w->machines[i].site == site && w->scheduled[w->machines[i].pool])
            return true;
    return false;
}

void cam_site_plan(struct cam *w, lks_ms storm)
{
    for (unsigned s = 0; s < w->sites; s++) {
        if (!has_nodes(w, s))
            continue;
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 4); n > 0; n--)
            cam_bridge_later(w, CAM_BRIDGE_FORGETS, s, cam_bridge_within(w, 1, storm));
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 8); n > 0 && !w->bridges.twin; n--)
            cam_bridge_later(w, CAM_BRIDGE_RESERVES, s, cam_bridge_within(w, 1, storm));
    }
    for (uint32_t i = 0; i < w->nodes; i++)
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 3); n > 0; n--)
            cam_bridge_later(w, CAM_BRIDGE_FEATURED, i, cam_bridge_within(w, 1, storm));
}

static bool goes_wrong(const struct cam *w)
{
    bool wrong = w->disk_full || w->now < w->sched_down;
    for (unsigned s = 0; s < CAM_BRIDGE_SITES; s++) {
        const struct cam_bridge_site *site = &w->bridges.sites[s];
        wrong = wrong || w->now < site->refuses;
        for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++)
            wrong = wrong || w->now < site->bridges[k].silent || w->now < site->bridges[k].stuck ||
                    w->now < site->bridges[k].failing;
    }
    return wrong;
}

void cam_site_check(struct cam *w)
{
    if (goes_wrong(w))
        w->bridges.good = w->now;
    for (uint32_t i = 0; i < w->nodes && w->engine != NULL; i++)
        check_shown(w, i);
    for (unsigned s = 0; s < CAM_BRIDGE_SITES; s++)
        for (unsigned k = 0; k < CAM_BRIDGE_RESERVED; k++)
            check_left(w, &w->bridges.sites[s].reserved[k]);
}

/* NULL: everything is as it should be. */
const char *cam_site_rest(const struct cam *w)
{
    struct lks_sched_truth truth;
    for (uint32_t i = 0; i < w->nodes && w->bridges.on; i++)
        if (!is_shown(w, i, &truth))
            return w->bridges.nodes[i].features;
    for (unsigned s = 0; s < CAM_BRIDGE_SITES && w->bridges.on; s++)
        for (unsigned k = 0; k < CAM_BRIDGE_RESERVED; k++)
            if (w->bridges.sites[s].reserved[k].there &&
                strcmp(w->bridges.sites[s].reserved[k].user, CAM_BRIDGE_USER) == 0)
                return w->bridges.sites[s].reserved[k].name;
    return NULL;
}

void cam_site_end(struct cam *w)
{
    for (uint32_t i = 0; i < w->nodes && w->bridges.on; i++)
        if (w->machines[i].placed && w->scheduled[w->machines[i].pool])
            check_digest(w, i);
}
