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

static enum lks_code load_nodes(struct lks_slurm *s, bool *fresh, struct lks_err *err)
{
    node_info_msg_t *got = NULL;
    time_t since = s->node_msg != NULL ? s->node_msg->last_update : 0;
    int failed = slurm_load_node(since, &got, SHOW_ALL | SHOW_DETAIL);
    if (loaded(failed, "cannot read the nodes", fresh, err) != LKS_OK || !*fresh)
        return err->code;
    slurm_free_node_info_msg(s->node_msg);
    s->node_msg = got;
    return LKS_OK;
}

static enum lks_code load_jobs(struct lks_slurm *s, bool *fresh, struct lks_err *err)
{
    job_info_msg_t *jobs = NULL;
    reserve_info_msg_t *reservations = NULL;
    bool fresh_jobs = false, fresh_reservations = false;
    time_t since = s->job_msg != NULL ? s->job_msg->last_update : 0;
    int failed = slurm_load_jobs(since, &jobs, SHOW_ALL);
    if (loaded(failed, "cannot read the jobs", &fresh_jobs, err) != LKS_OK)
        return err->code;
    if (fresh_jobs) {
        slurm_free_job_info_msg(s->job_msg);
        s->job_msg = jobs;
    }
    since = s->reservation_msg != NULL ? s->reservation_msg->last_update : 0;
    failed = slurm_load_reservations(since, &reservations);
    enum lks_code code = loaded(failed, "cannot read the reservations", &fresh_reservations, err);
    if (fresh_reservations) {
        slurm_free_reservation_info_msg(s->reservation_msg);
        s->reservation_msg = reservations;
    }
    s->stale = s->stale || fresh_jobs || fresh_reservations; /* also where the second failed */
    if (code != LKS_OK || !s->stale)
        return code;
    *fresh = true;
    code = lks_slurm_index(s, err);
    s->stale = code != LKS_OK; /* the next call makes the index of what is here already */
    return code;
}

enum lks_code lks_slurm_read(struct lks_slurm *s, struct lks_bridge_reading *out, bool *changed,
                             struct lks_err *err)
{
    bool nodes = false, jobs = false;
    if (load_nodes(s, &nodes, err) != LKS_OK)
        return err->code;
    s->unread = s->unread || nodes; /* also where the jobs fail: these nodes are not sent again */
    if (load_jobs(s, &jobs, err) != LKS_OK)
        return err->code;
    s->unread = s->unread || jobs;
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

enum lks_code lks_slurm_read_node(struct lks_slurm *s, const char *name,
                                  struct lks_bridge_reading *out, struct lks_err *err)
{
    LKS_CLEANUP(free_nodes) node_info_msg_t *got = NULL;
    bool jobs = false;
    char *asked = strdup(name); /* the library wants one that it could change */
    if (asked == NULL)
        return lks_fail_nomem(err);
    int failed = slurm_load_node_single(&got, asked, SHOW_ALL | SHOW_DETAIL);
    free(asked);
    if (failed != 0)
        return lks_slurm_fail(errno, "cannot read the node", err);
    if (load_jobs(s, &jobs, err) != LKS_OK)
        return err->code;
    s->unread = s->unread || jobs;
    for (uint32_t i = 0; i < got->record_count; i++) {
        const node_info_t *node = &got->node_array[i];
        if (node->name != NULL && strcmp(node->name, name) == 0)
            return lks_slurm_index_add(s, node, out, err);
    }
    return lks_fail(err, LKS_E_NOT_FOUND, "Slurm has no node '%s'", name);
}

static void free_jobs(job_info_msg_t **msg)
{
    slurm_free_job_info_msg(*msg);
}

/* All tasks of an array and all parts of a heterogeneous job come with the first number of an id.
 */
enum lks_code lks_slurm_read_run(const char *job, lks_ms *started, struct lks_err *err)
{
    LKS_CLEANUP(free_jobs) job_info_msg_t *got = NULL;
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = RUN_MAX};
    if (slurm_load_job(&got, (uint32_t)strtoul(job, NULL, 10), SHOW_ALL) != 0)
        return lks_slurm_fail(errno, "cannot read the job", err);
    for (uint32_t i = 0; i < got->record_count; i++) {
        const slurm_job_info_t *one = &got->job_array[i];
        if (lks_str_is(lks_slurm_convert_id(&arena, one), job)) {
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
