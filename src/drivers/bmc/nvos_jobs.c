/* The jobs of a switch tray: which were there before an installation, and which are new. */
#include "drivers/bmc/nvos_update.h"

static uint64_t hash_of(struct lks_str name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_old_job(const struct lks_nvos_update *u, struct lks_str name)
{
    for (size_t i = 0; i < u->job_count; i++) {
        if (u->jobs[i] == hash_of(name))
            return true;
    }
    return false;
}

void lks_nvos_add_job(struct lks_nvos_update *u, struct lks_str name)
{
    if (is_old_job(u, name))
        return;
    if (u->job_count == LKS_NVOS_JOBS_MAX)
        u->jobs_known = false;
    else
        u->jobs[u->job_count++] = hash_of(name);
}

/* What says nothing of an end goes on. */
enum lks_nvos_job lks_nvos_state_of(const struct lks_doc *job)
{
    static const char *const bad[] = {"error", "fail", "canceled", "cancelled"};
    struct lks_str state = lks_bmc_json_text(job, "state");
    if (lks_str_find(state, LKS_STR("success")) >= 0)
        return LKS_NVOS_DONE;
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        if (lks_str_find(state, lks_str_from(bad[i])) >= 0)
            return LKS_NVOS_FAILED;
    }
    return LKS_NVOS_RUNS;
}

/* It says so itself. */
static bool is_running(const struct lks_doc *job)
{
    return lks_bmc_json_text(job, "state").len > 0 && lks_nvos_state_of(job) == LKS_NVOS_RUNS;
}

void lks_nvos_see_jobs(struct lks_nvos_update *u, const struct lks_doc *list)
{
    u->busy = false;
    u->blank = list == NULL;
    for (const struct lks_doc *one = list != NULL ? list->first : NULL; one != NULL;
         one = one->next) {
        u->busy = u->busy || is_running(one);
        u->blank = u->blank || lks_bmc_json_text(one, "state").len == 0;
    }
}

/* With the job that fetched among them: a list without it lags, and is no proof. */
void lks_nvos_know_jobs(struct lks_nvos_update *u, const struct lks_doc *list)
{
    bool listed = false;
    u->job_count = 0;
    u->jobs_known = list != NULL;
    lks_nvos_add_job(u, lks_str_from(u->job));
    for (const struct lks_doc *one = list != NULL ? list->first : NULL; one != NULL;
         one = one->next) {
        listed = listed || lks_str_is(one->key, u->job);
        lks_nvos_add_job(u, one->key);
    }
    if (!listed)
        lks_nvos_add_job(u, LKS_STR("")); /* which no list will show */
}

/* One that runs goes before one that has ended. None ran when they were learnt: one that does now
 * is new, whatever its name. */
void lks_nvos_find_jobs(struct lks_nvos_update *u, const struct lks_doc *list)
{
    u->fresh[0] = '\0';
    u->fresh_runs = false;
    u->old_seen = 0;
    for (const struct lks_doc *one = list != NULL ? list->first : NULL; one != NULL;
         one = one->next) {
        bool old = is_old_job(u, one->key);
        u->old_seen += old;
        if (old && !is_running(one))
            continue;
        bool first = lks_nvos_state_of(one) == LKS_NVOS_RUNS && !u->fresh_runs;
        u->fresh_runs = u->fresh_runs || first;
        if (u->jobs_known && (first || u->fresh[0] == '\0'))
            lks_redfish_keep(u->fresh, sizeof(u->fresh), one->key);
    }
}
