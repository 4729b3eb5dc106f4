/* Bridges, what they read and take, and whether what lockstepd does rests on what they answered. */
#include "bridge/view/hidden.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BRIDGE_DRAW
#define BRIDGE_DRAW 25 /* percent of seeds with a scheduler, and none of campaign_slurm.c */
#endif
#define SALT       UINT64_C(0x6272696467657301)
#define STEADY     LKS_SECOND /* of bridges, so that no reading is at 0 */
#define READ       LKS_SECOND /* a bridge reads Slurm so often */
#define SILENT_MAX (45 * 60)  /* seconds */
#define STUCK_MAX  (10 * 60)
#define GONE       (5 * CAM_HOUR) /* longer than a step may take */

enum { DONE = 200, MISSING = 404, CONFLICT = 409, UNSENT = 503 };

struct cam_bridge_node *cam_bridge_node(const struct cam *w, const struct cam_machine *m)
{
    return w->bridges.on ? &w->bridges.nodes[m - w->machines] : NULL;
}

bool cam_bridge_percent(struct cam *w, unsigned percent)
{
    return lks_rng_percent(&w->bridges.rng, percent);
}

lks_ms cam_bridge_within(struct cam *w, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&w->bridges.rng, high - low + 1);
}

void cam_bridge_later(struct cam *w, enum cam_bridge_event event, uint32_t i, lks_ms in)
{
    cam_post(w, (struct lks_message){.kind = CAM_BRIDGE, .number = (uint64_t)event, .node = i}, in);
}

void cam_bridge_draw(struct cam *w)
{
    struct cam_bridges *b = &w->bridges;
    b->rng = (struct lks_rng){.state = w->seed ^ SALT};
    b->aside = (struct lks_rng){.state = ~w->seed};
    bool some = false;
    for (unsigned p = CAM_POOLS - w->pools; p < CAM_POOLS; p++)
        some = some || w->scheduled[p];
    b->on = some && cam_bridge_percent(w, BRIDGE_DRAW) && !w->slurm.on && !w->kind &&
            w->nodes < CAM_FLEET_LARGE;
    if (!b->on)
        return;
    b->nodes = calloc(w->count, sizeof(b->nodes[0]));
    LKS_ASSERT(b->nodes != NULL);
    for (unsigned s = 0; s < CAM_BRIDGE_SITES; s++)
        for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++) {
            lks_bridge_book_init(&b->sites[s].bridges[k].book, 0);
            b->sites[s].bridges[k].seen = calloc(w->count, sizeof(struct cam_seen));
            LKS_ASSERT(b->sites[s].bridges[k].seen != NULL);
        }
    for (unsigned p = 0; p < CAM_POOLS; p++) {
        w->requeues[p] = w->scheduled[p] && cam_bridge_percent(w, 60);
        b->reserves[p] = w->scheduled[p] && cam_bridge_percent(w, 70);
        b->holds[p] = w->scheduled[p] && cam_bridge_percent(w, 25);
    }
    w->weather.jobs += (unsigned)lks_rng_below(&b->rng, 40);
    w->weather.endless += (unsigned)lks_rng_below(&b->rng, 30);
}

void cam_bridge_fini(struct cam *w)
{
    struct cam_bridges *b = &w->bridges;
    cam_asks_forget(w);
    for (unsigned s = 0; s < CAM_BRIDGE_SITES && b->on; s++)
        for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++) {
            lks_bridge_book_fini(&b->sites[s].bridges[k].book);
            free(b->sites[s].bridges[k].seen);
        }
    free(b->nodes);
    free(b->asks);
    *b = (struct cam_bridges){0};
}

/* What goes wrong ---------------------------------------------------------------------------- */

void cam_bridge_plan(struct cam *w, lks_ms storm)
{
    if (!w->bridges.on)
        return;
    for (uint32_t k = 0; k < CAM_BRIDGE_SITES * CAM_BRIDGE_PAIR && !w->bridges.twin; k++) {
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 5); n > 0; n--)
            cam_bridge_later(w, CAM_BRIDGE_SILENT, k, cam_bridge_within(w, 1, storm));
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 6); n > 0; n--)
            cam_bridge_later(w, CAM_BRIDGE_STUCK, k, cam_bridge_within(w, 1, storm));
    }
    for (uint64_t n = lks_rng_below(&w->bridges.rng, 12); n > 0; n--)
        cam_bridge_later(w, CAM_BRIDGE_ENDS, 0, cam_bridge_within(w, 1, storm));
    for (uint32_t i = 0; i < w->nodes; i++)
        for (uint64_t n = lks_rng_below(&w->bridges.rng, 3); n > 0; n--)
            if (w->scheduled[w->machines[i].pool])
                cam_bridge_later(w, CAM_BRIDGE_REBOOTS, i, cam_bridge_within(w, 1, storm));
    if (w->bridges.twin == CAM_NO_TWIN && cam_bridge_percent(w, 25))
        cam_bridge_later(w, CAM_BRIDGE_GOES, (uint32_t)lks_rng_below(&w->bridges.rng, w->sites),
                         cam_bridge_within(w, storm / 4, storm));
    cam_site_plan(w, storm);
}

bool cam_bridge_silent(const struct cam *w, unsigned site, unsigned turn)
{
    return w->now < w->sched_down ||
           w->now < w->bridges.sites[site].bridges[turn % CAM_BRIDGE_PAIR].silent;
}

bool cam_bridge_gone(const struct cam *w)
{
    for (unsigned s = 0; s < w->sites && w->bridges.on; s++)
        if (cam_bridge_silent(w, s, 0) && cam_bridge_silent(w, s, 1))
            return true;
    return false;
}

/* One of a site fails more often than both. */
static void fail(struct cam *w, uint32_t k, bool stuck)
{
    struct cam_bridge_site *site = &w->bridges.sites[k / CAM_BRIDGE_PAIR % CAM_BRIDGE_SITES];
    lks_ms seconds = cam_bridge_percent(w, 50) ? 120 : stuck ? STUCK_MAX : SILENT_MAX;
    lks_ms until = w->now + cam_bridge_within(w, 5, seconds) * LKS_SECOND;
    bool both = cam_bridge_percent(w, 40);
    for (unsigned b = 0; b < CAM_BRIDGE_PAIR; b++) {
        lks_ms *to = stuck ? &site->bridges[b].stuck : &site->bridges[b].silent;
        if (!both && b != k % CAM_BRIDGE_PAIR)
            continue;
        if (stuck)
            (void)cam_bridge_read(w, (unsigned)(site - w->bridges.sites), &site->bridges[b]);
        *to = until > site->gone ? until : site->gone;
    }
    w->bridges.silences++;
    cam_say(w, "bridge %" PRIu32 "%s %s for %" PRIu64 " s", k, both ? " and its twin" : "",
            stuck ? "shows what it read" : "answers nothing", (until - w->now) / LKS_SECOND);
}

/* A person ends a drain. Now and then one bridge of each site shows what it read before, and the
 * other fails once it showed the loss: the first one then still reports a drain. */
static void end_drain(struct cam *w)
{
    bool split = cam_bridge_percent(w, 50) && !w->bridges.twin;
    unsigned old = (unsigned)lks_rng_below(&w->bridges.rng, CAM_BRIDGE_PAIR);
    for (unsigned s = 0; s < w->sites && split; s++) {
        struct cam_bridge *b = &w->bridges.sites[s].bridges[old];
        (void)cam_bridge_read(w, s, b);
        b->stuck = w->now + 3 * CAM_MINUTE;
        w->bridges.split = CAM_BRIDGE_PAIR - old;
    }
    cam_sched_undrain(w);
}

/* Slurm reboots a node as soon as nothing runs there, also where others drained it. */
static void reboot(struct cam *w, uint32_t i, bool begins)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_bridge_node *n = &w->bridges.nodes[i];
    if (begins && (n->reboots != 0 || m->sched_missing || m->busy))
        return;
    if (begins) {
        cam_say(w, "%s: Slurm is to reboot it", m->name);
        n->reboots = w->now;
        if (cam_sched_is_ours(m))
            cam_sched_ended(w, m); /* it counts no more */
    }
    if (n->reboots == 0)
        return;
    if (m->job != 0 || !m->up) {
        cam_bridge_later(w, CAM_BRIDGE_EMPTY, i, 20 * LKS_SECOND);
        return;
    }
    if (begins) { /* it is asked for now, and slurmctld sends it a moment later */
        cam_bridge_later(w, CAM_BRIDGE_EMPTY, i, cam_bridge_within(w, 1, 10 * LKS_SECOND));
        return;
    }
    w->bridges.reboots++;
    cam_machine_down(w, i, "is rebooted by Slurm");
    cam_bridge_later(w, CAM_BRIDGE_RESUMES, i, cam_bridge_within(w, CAM_MINUTE, 15 * CAM_MINUTE));
}

/* nextstate=resume: it ends every drain. */
static void resume(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    w->bridges.nodes[i].reboots = 0;
    cam_say(w, "%s: is back in Slurm, and resumed", m->name);
    if (cam_sched_is_ours(m))
        cam_sched_ended(w, m);
    cam_sched_set(w, m, LKS_STR(""));
}

/* Both bridges of a site are away for hours, also when the weather is calm. */
static void go_away(struct cam *w, uint32_t site)
{
    w->bridges.sites[site].gone = w->now + GONE;
    for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++)
        w->bridges.sites[site].bridges[k].silent = w->now + GONE;
    cam_bridge_later(w, CAM_BRIDGE_GONE, site, GONE - CAM_MINUTE);
    cam_say(w, "bridges of %s are away", cam_site_name(site));
}

/* Bridges gave no answer for hours: a node that is past its drain went back to it, or is held. */
static void check_gone(struct cam *w, uint32_t site)
{
    for (size_t k = 0; k < w->change_count; k++) {
        const struct cam_change *c = &w->changes[k];
        bool goes_on = c->state < LKS_CHANGE_OVER && c->state != LKS_CHANGE_HALTED;
        for (uint32_t i = 0; i < w->nodes && goes_on; i++) {
            const struct cam_machine *m = &w->machines[i];
            const struct cam_member *member = &c->members[i];
            if (m->site != site || !w->scheduled[m->pool] || !m->drained || !m->changing ||
                !cam_member_under_way(c, i))
                continue;
            enum lks_step_kind kind = c->recipes[member->recipe].kinds[member->step];
            cam_require(w, kind == LKS_DO_LEAVE || kind == LKS_DO_RETURN, "promise 11",
                        "%s waits at step %" PRIu32 " of change %" PRIu64
                        " for a scheduler that is silent for hours",
                        m->name, member->step, c->id);
        }
    }
}

void cam_bridge_event(struct cam *w, const struct lks_message *msg)
{
    switch ((enum cam_bridge_event)msg->number) {
    case CAM_BRIDGE_SILENT:
    case CAM_BRIDGE_STUCK:
        if (!w->calm)
            fail(w, msg->node, msg->number == CAM_BRIDGE_STUCK);
        break;
    case CAM_BRIDGE_ENDS:
        if (!w->calm)
            end_drain(w);
        break;
    case CAM_BRIDGE_REBOOTS:
        if (!w->calm)
            reboot(w, msg->node, true);
        break;
    case CAM_BRIDGE_EMPTY:
        reboot(w, msg->node, false);
        break;
    case CAM_BRIDGE_RESUMES:
        resume(w, msg->node);
        break;
    case CAM_BRIDGE_GOES:
        go_away(w, msg->node);
        break;
    case CAM_BRIDGE_GONE:
        check_gone(w, msg->node);
        break;
    case CAM_BRIDGE_FORGETS:
    case CAM_BRIDGE_FEATURED:
    case CAM_BRIDGE_RESERVES:
        cam_site_event(w, msg);
        break;
    }
}

void cam_bridge_calm(struct cam *w)
{
    for (unsigned s = 0; s < CAM_BRIDGE_SITES && w->bridges.on; s++)
        for (unsigned k = 0; k < CAM_BRIDGE_PAIR; k++) {
            struct cam_bridge *b = &w->bridges.sites[s].bridges[k];
            b->silent = w->bridges.sites[s].gone;
            b->stuck = b->failing = 0;
        }
    w->bridges.good = w->now;
}

/* Reading Slurm ------------------------------------------------------------------------------ */

static void read_node(const struct cam *w, const struct cam_machine *m,
                      struct lks_bridge_reading *out, struct cam_seen *seen)
{
    const struct cam_bridge_node *n = cam_bridge_node(w, m);
    const struct lks_bridge_job *jobs[1];
    struct lks_bridge_load load = {.jobs = jobs};
    struct lks_err err = {0};
    char id[CAM_JOB_ID_SIZE], reason[LKS_SCHED_OWNER_MAX + 32];
    bool ours = cam_sched_is_ours(m), drained = m->sched_owner[0] != '\0';
    struct lks_bridge_job job = {
        .id = LKS_STR("?"), .user = LKS_STR("ada"), .node_count = 1, .runs = true, .gpus = 8};
    if (m->job != 0) {
        const struct cam_job *of = &w->jobs[m->job - 1];
        if (of->odd == CAM_READABLE)
            job.id = cam_requeue_part(of, 0, id);
        jobs[load.job_count++] = &job;
    } else {
        const struct lks_bridge_hidden hidden = {.reboots = n->reboots != 0};
        jobs[0] = lks_bridge_hidden_job(&hidden);
        load.job_count = jobs[0] != NULL;
    }
    (void)snprintf(reason, sizeof(reason), "%s%s as simulated", ours ? LKS_DRAIN_REASON_MARK : "",
                   ours ? m->sched_owner : "fan");
    const struct lks_bridge_node node = {
        .name = lks_str_from(m->name),
        .state = drained ? LKS_STR("idle+drain") : LKS_STR("idle"),
        .reason = drained ? lks_str_from(reason) : LKS_STR(""),
        .user = lks_str_from(ours ? CAM_BRIDGE_USER : m->sched_owner),
        .own = ours,
        .drained = drained,
        .responding = true,
        .accepts = !drained,
        .since = drained ? CAM_WALL : 0,
        .features = lks_str_from(n->features),
        .active = lks_str_from(n->features),
        .extra = lks_str_from(n->extra),
        .comment = lks_str_from(n->comment),
    };
    LKS_ASSERT(lks_bridge_reading_add(out, &node, &load, &err) == LKS_OK);
    *seen = (struct cam_seen){.at = w->now, .drained = ours && m->job == 0 && n->reboots == 0};
}

static void enter(struct cam *w, struct cam_bridge *b, const struct lks_bridge_reading *r)
{
    const struct lks_bridge_when when = {.wall = cam_now(w).wall, .steady = w->now + STEADY};
    struct lks_err err = {0};
    uint64_t now_us = cam_now(w).wall * 1000, ceiling = 0;
    if (!lks_bridge_revision_ready(&b->book.revision, now_us, lks_bridge_book_changes(&b->book, r),
                                   &ceiling))
        lks_bridge_revision_allow(&b->book.revision, ceiling);
    LKS_ASSERT(lks_bridge_book_enter(&b->book, r, &when, now_us, &err) == LKS_OK);
}

/* One node, or all of them. */
static void read_slurm(struct cam *w, unsigned site, struct cam_bridge *b, const char *only)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    lks_bridge_reading_init(&r);
    for (uint32_t i = 0; i < w->nodes; i++) {
        const struct cam_machine *m = &w->machines[i];
        if (w->scheduled[m->pool] && m->site == site && !m->sched_missing &&
            (only == NULL || strcmp(only, m->name) == 0))
            read_node(w, m, &r, &b->seen[i]);
    }
    r.all_nodes = r.all_jobs = only == NULL;
    if (only == NULL)
        cam_site_list(w, site, &r);
    else if (r.count == 0)
        lks_bridge_book_remove(&b->book, lks_str_from(only));
    enter(w, b, &r);
}

/* False: slurmctld does not answer it. */
bool cam_bridge_read(struct cam *w, unsigned site, struct cam_bridge *b)
{
    if (w->now < b->stuck)
        return false;
    if (b->book.read.steady == 0 || w->now + STEADY >= b->book.read.steady + READ)
        read_slurm(w, site, b, NULL);
    return true;
}

/* Requests ----------------------------------------------------------------------------------- */

void cam_site_say(struct lks_buf *body, const char *error)
{
    struct lks_json_writer j = {.out = body};
    lks_buf_truncate(body, 0);
    lks_json_write(&j, "{'error': '%s'}", error);
}

static int answer_node(struct cam *w, const struct cam_bridge *b, const char *name,
                       struct lks_buf *body, struct cam_seen *seen)
{
    struct lks_str text = lks_str_from(name);
    const struct lks_bridge_entry *e = lks_bridge_book_find(&b->book, text);
    if (e == NULL) {
        cam_site_say(body, "Slurm has no node of this name");
        *seen = (struct cam_seen){.at = w->now};
        return MISSING;
    }
    lks_bridge_book_node(&b->book, text, e, w->now + STEADY, body);
    *seen = b->seen[cam_machine(w, text)];
    return DONE;
}

static int refuse(struct lks_buf *body, const char *error, uint64_t revision)
{
    lks_buf_addf(body, "{\"error\":\"%s\",\"revision\":%" PRIu64 "}", error, revision);
    return CONFLICT;
}

/* As the worker of the bridge decides: bridge/serve/worker_write.c. */
static int write_node(struct cam *w, unsigned site, struct cam_bridge *b, lks_ms began,
                      const struct lks_bridge_request *r, struct lks_buf *body,
                      struct cam_seen *seen)
{
    read_slurm(w, site, b, r->name);
    const struct lks_bridge_entry *e = lks_bridge_book_find(&b->book, lks_str_from(r->name));
    if (e == NULL)
        return answer_node(w, b, r->name, body, seen);
    bool drain = r->verb == LKS_BRIDGE_DRAIN, ours = e->drained && lks_str_is(e->owner, r->owner);
    bool takes_over = e->drained && r->from[0] != '\0' && lks_str_is(e->owner, r->from);
    if (e->revision != r->revision)
        return refuse(body, "the node is at another revision", e->revision);
    if (drain && ours)
        return answer_node(w, b, r->name, body, seen);
    if (drain ? e->drained && !takes_over : !ours)
        return refuse(body, "the node is drained by another, or not", e->revision);
    const size_t mark = sizeof(LKS_DRAIN_REASON_MARK) - 1;
    const struct lks_sched_wish wish = {
        .verb = drain ? LKS_SCHED_DRAIN : LKS_SCHED_RELEASE,
        .owner = lks_str_from(r->owner + mark),
        .from = lks_str_from(r->from[0] != '\0' ? r->from + mark : ""),
    };
    cam_sched_carry_out(w, &w->machines[cam_machine(w, lks_str_from(r->name))], &wish, began);
    read_slurm(w, site, b, r->name);
    return answer_node(w, b, r->name, body, seen);
}

/* The value of a header, in `space`; NULL: there is none. */
static const char *header(const struct lks_http_request *request, const char *name, char *space,
                          size_t size)
{
    struct lks_str head = lks_buf_view(&request->head), line, key, value;
    while (lks_str_cut(head, '\n', &line, &head) || line.len > 0) {
        if (lks_str_cut(line, ':', &key, &value) && lks_str_is(key, name)) {
            (void)snprintf(space, size, "%" LKS_STR_FMT, LKS_STR_ARG(lks_str_trim(value)));
            return space;
        }
        line = LKS_STR("");
    }
    return NULL;
}

static int read_request(const struct lks_http_request *request, struct lks_bridge_request *out,
                        struct lks_buf *body)
{
    char match[64], epoch[64];
    struct lks_err err = {0};
    const struct lks_bridge_raw raw = {
        .method = request->method,
        .path = request->path.ptr,
        .if_match = header(request, "If-Match", match, sizeof(match)),
        .epoch = header(request, "Lockstep-Epoch", epoch, sizeof(epoch)),
        .body = lks_buf_view(&request->body),
    };
    enum lks_code code = lks_bridge_request_read(&raw, out, &err);
    if (code == LKS_OK)
        return DONE;
    cam_site_say(body, err.msg);
    return lks_err_code_info(code)->http;
}

int cam_bridge_take(struct cam *w, unsigned site, unsigned turn, lks_ms began,
                    const struct lks_http_request *request, struct lks_buf *body,
                    struct cam_seen *seen)
{
    LKS_CLEANUP(lks_bridge_request_fini) struct lks_bridge_request r = {0};
    struct cam_bridge *b = &w->bridges.sites[site].bridges[turn % CAM_BRIDGE_PAIR];
    int status = read_request(request, &r, body);
    cam_require(w, status == DONE, "the driver", "a bridge does not take %s %s", request->method,
                request->path.ptr);
    if (status != DONE)
        return status;
    bool reads = cam_bridge_read(w, site, b), fails = w->now < b->failing;
    if (fails || (!reads && lks_bridge_request_writes(r.verb)) || b->book.read.steady == 0) {
        cam_site_say(body, "slurmctld does not answer, as simulated");
        return UNSENT;
    }
    if (r.verb == LKS_BRIDGE_NODE)
        return answer_node(w, b, r.name, body, seen);
    if (r.verb == LKS_BRIDGE_DRAIN || r.verb == LKS_BRIDGE_RELEASE)
        return write_node(w, site, b, began, &r, body, seen);
    if (r.verb == LKS_BRIDGE_JOBS)
        lks_bridge_book_jobs(&b->book, w->now + STEADY, body);
    else if (r.verb == LKS_BRIDGE_RESERVATIONS)
        lks_bridge_book_reservations(&b->book, w->now + STEADY, body);
    else
        status = cam_site_take(w, site, &r, body);
    return status;
}

/* What rests on answers ---------------------------------------------------------------------- */

/* The reading followed the end of the drain, also within one millisecond. */
bool cam_bridge_shows(const struct cam_machine *m, const struct cam_seen *seen)
{
    return seen->at > m->sched_ended || (seen->at == m->sched_ended && !seen->drained);
}

void cam_bridge_told(struct cam *w, const struct cam_machine *m, const struct cam_seen *seen)
{
    struct cam_bridge_node *n = cam_bridge_node(w, m);
    if (w->bridges.split > 0 && !w->calm && m->sched_unheard && cam_bridge_shows(m, seen)) {
        w->bridges.sites[m->site].bridges[w->bridges.split - 1].failing = w->now + 2 * CAM_MINUTE;
        w->bridges.split = 0;
    }
    if (n->taken_life != w->life || seen->at > n->taken)
        n->taken = seen->at;
    n->taken_life = w->life;
}

/* Readings never go back, but for what a bridge read within a second. */
void cam_bridge_heard(struct cam *w, struct cam_machine *m, const struct cam_seen *seen)
{
    struct cam_bridge_node *n = cam_bridge_node(w, m);
    cam_require(w, n->taken_life != w->life || seen->at + READ >= n->taken, "promise 1",
                "a reading of %s is believed that is %" PRIu64 " s older than one that came before",
                m->name, (n->taken - seen->at) / LKS_SECOND);
    n->heard[n->heard_next++ % CAM_BRIDGE_HEARD] =
        (struct cam_heard){.seen = *seen, .came = w->now};
}

/* What lockstepd was answered of a node until then: the latest reading. */
static struct cam_seen heard_by(const struct cam *w, const struct cam_machine *m, lks_ms asked)
{
    const struct cam_bridge_node *n = cam_bridge_node(w, m);
    struct cam_seen last = {0};
    for (unsigned k = 0; k < CAM_BRIDGE_HEARD; k++) {
        const struct cam_heard *h = &n->heard[k];
        if (CAM_WALL + h->came <= asked && h->came != 0 && h->seen.at >= last.at)
            last = h->seen;
    }
    return last;
}

/* Promise 1: nothing is ordered on a drain that was seen too long ago, or was not there. */
static void check_fresh(struct cam *w, const struct cam_machine *m, const char *what, lks_ms asked)
{
    struct cam_seen last = heard_by(w, m, asked);
    cam_require(w, last.drained, "promise 1",
                "%s is ordered, and the scheduler's last answer about %s was no drain", what,
                m->name);
    cam_require(w, !last.drained || asked <= CAM_WALL + last.at + CAM_BRIDGE_COUNTS, "promise 1",
                "%s is ordered, and the drain of %s was read %" PRIu64 " s ago", what, m->name,
                (asked - CAM_WALL - last.at) / LKS_SECOND);
}

void cam_bridge_command(struct cam *w, const struct cam_command *c)
{
    const struct cam_machine *m = &w->machines[c->node];
    bool acts = c->kind == CAM_DO_ORDER || c->kind == CAM_DO_REBOOT || c->kind == CAM_DO_ACCEPT;
    if (w->bridges.on && acts && !c->by_hand && m->type == CAM_NODE && w->scheduled[m->pool] &&
        m->drained && m->changing)
        check_fresh(w, m, c->executor, c->asked);
}

void cam_bridge_flash(struct cam *w, const struct cam_flash *f)
{
    const struct cam_machine *m = &w->machines[f->node];
    if (!w->bridges.on || f->act == LKS_BMC_STAGE || f->act == LKS_BMC_ABORT || f->by_hand)
        return;
    if (m->type == CAM_NODE) {
        if (w->scheduled[m->pool] && m->drained && m->changing)
            check_fresh(w, m, "an update", f->asked);
        return;
    }
    for (uint32_t k = 0; k < w->nodes; k++) {
        const struct cam_machine *o = &w->machines[k];
        if (o->domain == m->domain && m->domain > 0 && w->scheduled[o->pool] && o->drained &&
            o->changing && !o->excused)
            check_fresh(w, o, "an update of its domain", f->asked);
    }
}
