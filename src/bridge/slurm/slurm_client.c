#include "bridge/slurm/slurm_client.h"

#include "bridge/slurm/slurm_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX ((size_t)64 << 20)
#define RUN_MAX   ((size_t)64 << 20) /* ids of the tasks of an array */

enum lks_code lks_slurm_fail(int number, const char *what, struct lks_err *err)
{
    static const struct {
        int number;
        enum lks_code code;
    } codes[] = {
        {ESLURM_INVALID_NODE_NAME, LKS_E_NOT_FOUND},
        {ESLURM_INVALID_JOB_ID, LKS_E_NOT_FOUND},
        {ESLURM_ACCESS_DENIED, LKS_E_DENIED},
        {ESLURM_USER_ID_MISSING, LKS_E_DENIED},
    };
    /* slurmctld's own errors are answers; those of the connection, of the protocol and of the
     * system say nothing about the outcome. A backup that does not lead has done nothing either,
     * and the primary may answer next. */
    bool answered = number >= ESLURM_INVALID_PARTITION_NAME && number < ESPANK_ERROR &&
                    number != ESLURM_IN_STANDBY_MODE && number != ESLURM_IN_STANDBY_USE_BACKUP;
    enum lks_code code = answered ? LKS_E_REFUSED : LKS_E_UNAVAILABLE;
    for (size_t i = 0; i < LKS_COUNT(codes); i++) {
        if (codes[i].number == number)
            code = codes[i].code;
    }
    return lks_fail(err, code, "%s: %s", what, slurm_strerror(number));
}

enum lks_code lks_slurm_new(uid_t own, struct lks_slurm **out, struct lks_err *err)
{
    struct lks_slurm *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return lks_fail_nomem(err);
    slurm_init(NULL);
    s->own = own;
    lks_intern_init(&s->names, NAMES_MAX);
    lks_intern_init(&s->users, NAMES_MAX);
    *out = s;
    return LKS_OK;
}

void lks_slurm_free(struct lks_slurm *s)
{
    if (s == NULL)
        return;
    slurm_free_node_info_msg(s->node_msg);
    slurm_free_job_info_msg(s->job_msg);
    slurm_free_reservation_info_msg(s->reservation_msg);
    lks_arena_fini(&s->arena);
    lks_intern_fini(&s->names);
    lks_intern_fini(&s->users);
    free(s->user_names);
    free(s->places);
    free(s->links);
    free(s);
    slurm_fini();
}

/* Reading ----------------------------------------------------------------------------------- */

/* What a call that was given the time of the last data came to: new data, the old data, or none. */
static enum lks_code loaded(int failed, const char *what, bool *fresh, struct lks_err *err)
{
    *fresh = failed == 0;
    if (failed != 0 && errno != SLURM_NO_CHANGE_IN_DATA)
        return lks_slurm_fail(errno, what, err);
    return LKS_OK;
}

static time_t since(const struct lks_slurm *s, enum lks_bridge_since_what what, lks_ms now)
{
    return (time_t)lks_bridge_since_ask(&s->since, what, now);
}

/* A clock that was set back hides a start of slurmctld and a new configuration as well. */
static void got(struct lks_slurm *s, enum lks_bridge_since_what what, bool whole, time_t clock,
                lks_ms now)
{
    if (lks_bridge_since_got(&s->since, what, whole, clock, now))
        return;
    s->conf_time = 0;
    s->set_back = true;
}

static enum lks_code load_nodes(struct lks_slurm *s, lks_ms now, bool *fresh, struct lks_err *err)
{
    node_info_msg_t *nodes = NULL;
    int failed =
        slurm_load_node(since(s, LKS_BRIDGE_SINCE_NODES, now), &nodes, SHOW_ALL | SHOW_DETAIL);
    if (loaded(failed, "cannot read the nodes", fresh, err) != LKS_OK || !*fresh)
        return err->code;
    got(s, LKS_BRIDGE_SINCE_NODES, true, nodes->last_update, now);
    slurm_free_node_info_msg(s->node_msg);
    s->node_msg = nodes;
    return LKS_OK;
}

static enum lks_code load_jobs(struct lks_slurm *s, lks_ms now, struct lks_err *err)
{
    job_info_msg_t *jobs = NULL;
    bool fresh = false;
    int failed = slurm_load_jobs(since(s, LKS_BRIDGE_SINCE_JOBS, now), &jobs, SHOW_ALL);
    if (loaded(failed, "cannot read the jobs", &fresh, err) != LKS_OK || !fresh)
        return err->code;
    got(s, LKS_BRIDGE_SINCE_JOBS, true, jobs->last_update, now);
    slurm_free_job_info_msg(s->job_msg);
    s->job_msg = jobs;
    s->stale = true;
    s->runs_fresh = true;
    return LKS_OK;
}

static enum lks_code load_reservations(struct lks_slurm *s, lks_ms now, struct lks_err *err)
{
    reserve_info_msg_t *reservations = NULL;
    bool fresh = false;
    int failed =
        slurm_load_reservations(since(s, LKS_BRIDGE_SINCE_RESERVATIONS, now), &reservations);
    if (loaded(failed, "cannot read the reservations", &fresh, err) != LKS_OK || !fresh)
        return err->code;
    got(s, LKS_BRIDGE_SINCE_RESERVATIONS, true, reservations->last_update, now);
    slurm_free_reservation_info_msg(s->reservation_msg);
    s->reservation_msg = reservations;
    s->stale = true;
    return LKS_OK;
}

/* Jobs and reservations, and what is made of them. An index that failed is made by the next call.
 */
static enum lks_code load_work(struct lks_slurm *s, lks_ms now, struct lks_err *err)
{
    if (load_jobs(s, now, err) != LKS_OK || load_reservations(s, now, err) != LKS_OK)
        return err->code;
    if (!s->stale)
        return LKS_OK;
    s->unread = true;
    enum lks_code code = lks_slurm_index(s, err);
    s->stale = code != LKS_OK;
    return code;
}

static enum lks_code load_all(struct lks_slurm *s, lks_ms now, struct lks_err *err)
{
    bool nodes = false;
    if (load_nodes(s, now, &nodes, err) != LKS_OK)
        return err->code;
    s->unread = s->unread || nodes; /* also where the jobs fail: these nodes are not sent again */
    return load_work(s, now, err);
}

void lks_slurm_doubt(struct lks_slurm *s)
{
    lks_bridge_since_lost(&s->since);
}

/* What was called unchanged before an answer showed that the clock was set back is read
 * again. */
static enum lks_code load_true(struct lks_slurm *s, lks_ms now, struct lks_err *err)
{
    s->set_back = false;
    enum lks_code code = load_all(s, now, err);
    if (code == LKS_OK && s->set_back)
        code = load_all(s, now, err);
    if (code != LKS_OK)
        lks_slurm_doubt(s);
    return code;
}

enum lks_code lks_slurm_read(struct lks_slurm *s, lks_ms now, struct lks_bridge_reading *out,
                             bool *changed, struct lks_err *err)
{
    if (load_true(s, now, err) != LKS_OK)
        return err->code;
    *changed = s->unread;
    if (!s->unread)
        return LKS_OK;
    out->all_nodes = true;
    for (uint32_t i = 0; i < s->node_msg->record_count; i++) {
        const node_info_t *node = &s->node_msg->node_array[i];
        if (node->name == NULL || node->name[0] == '\0')
            continue; /* a place that a node had */
        if (lks_slurm_index_add(s, node, out, err) != LKS_OK)
            return err->code;
    }
    if (lks_bridge_reading_jobs(out, s->jobs, s->job_count, s->reservations, s->reservation_count,
                                err) != LKS_OK)
        return err->code;
    s->unread = false;
    return LKS_OK;
}

void lks_slurm_read_lost(struct lks_slurm *s)
{
    s->unread = true;
}

static void free_nodes(node_info_msg_t **msg)
{
    slurm_free_node_info_msg(*msg);
}

/* One node, and then what runs there. */
static enum lks_code load_one(struct lks_slurm *s, char *name, lks_ms now, node_info_msg_t **out,
                              struct lks_err *err)
{
    if (slurm_load_node_single(out, name, SHOW_ALL | SHOW_DETAIL) != 0)
        return lks_slurm_fail(errno, "cannot read the node", err);
    got(s, LKS_BRIDGE_SINCE_NODES, false, (*out)->last_update, now);
    return load_work(s, now, err);
}

enum lks_code lks_slurm_read_node(struct lks_slurm *s, const char *name, lks_ms now,
                                  struct lks_bridge_reading *out, struct lks_err *err)
{
    LKS_CLEANUP(free_nodes) node_info_msg_t *one = NULL;
    char *asked = strdup(name); /* the library wants one that it could change */
    if (asked == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = load_one(s, asked, now, &one, err);
    free(asked);
    if (code == LKS_E_UNAVAILABLE)
        lks_slurm_doubt(s);
    if (code != LKS_OK)
        return code;
    for (uint32_t i = 0; i < one->record_count; i++) {
        const node_info_t *node = &one->node_array[i];
        if (node->name != NULL && strcmp(node->name, name) == 0)
            return lks_slurm_index_add(s, node, out, err);
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "Slurm has no node '%s'", name);
}

static void free_jobs(job_info_msg_t **msg)
{
    slurm_free_job_info_msg(*msg);
}

/* A heterogeneous job as a whole started when its first component did. */
static bool is_meant(struct lks_str id, const char *job)
{
    struct lks_str whole, part;
    return lks_str_is(id, job) ||
           (lks_str_cut(id, '+', &whole, &part) && lks_str_is(part, "0") && lks_str_is(whole, job));
}

/* All tasks of an array and all components of a heterogeneous job come with the first number of an
 * id.
 */
enum lks_code lks_slurm_read_run(const char *job, lks_ms *started, struct lks_err *err)
{
    LKS_CLEANUP(free_jobs) job_info_msg_t *got = NULL;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = RUN_MAX};
    if (slurm_load_job(&got, (uint32_t)strtoul(job, NULL, 10), SHOW_ALL) != 0)
        return lks_slurm_fail(errno, "cannot read the job", err);
    for (uint32_t i = 0; i < got->record_count; i++) {
        const slurm_job_info_t *one = &got->job_array[i];
        if (is_meant(lks_slurm_convert_id(&arena, one), job)) {
            *started = lks_slurm_convert_started(one);
            return LKS_OK;
        }
    }
    if (arena.out_of_memory)
        return lks_arena_fail(&arena, err);
    return lks_fail(err, LKS_E_NOT_FOUND, "Slurm has no job '%s'", job);
}

enum lks_code lks_slurm_about(struct lks_slurm *s, struct lks_slurm_about *out, bool *changed,
                              struct lks_err *err)
{
    slurm_conf_t *conf = NULL;
    int failed = slurm_load_ctl_conf(s->conf_time, &conf);
    if (loaded(failed, "cannot read the configuration", changed, err) != LKS_OK)
        return err->code;
    if (!*changed)
        return LKS_OK;
    s->min_job_age = conf->min_job_age;
    s->conf_known = true;
    s->conf_time = conf->last_update; /* when it was sent, by slurmctld's clock */
    *out = (struct lks_slurm_about){.controllers = conf->control_cnt};
    snprintf(out->cluster, sizeof(out->cluster), "%s", lks_slurm_text(conf->cluster_name));
    snprintf(out->version, sizeof(out->version), "%s", lks_slurm_text(conf->version));
    slurm_free_ctl_conf(conf);
    return LKS_OK;
}

bool lks_slurm_ping(unsigned controller)
{
    return slurm_ping((int)controller) == 0;
}
