/*
 * A controller that tells anything about the jobs of its schedulers, for a rehearsal.
 *
 * Whatever is told: what is taken is whole, each job has a site whose list is used, and how long it
 * goes on and what is drawn behind it is bounded, and the same for the same seed.
 */
#include "lab/rehearse/listed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CENTURY ((lks_ms)100 * 365 * 86400 * LKS_SECOND)

static void check_draws(const struct lks_listed_job *job)
{
    struct lks_rng rng = {.state = 1}, again = {.state = 1};
    lks_ms limit = 0, same = 0, ran = 0, left = 0;
    lks_ms goes_on = lks_listed_left(job, &rng, &limit);
    LKS_ASSERT(goes_on <= CENTURY && limit > 0 && limit <= CENTURY);
    LKS_ASSERT(job->left == UINT64_MAX || goes_on <= job->left);
    LKS_ASSERT(lks_listed_left(job, &again, &same) == goes_on && same == limit);
    LKS_ASSERT(lks_listed_run(limit, &rng) <= limit);
    lks_listed_met(limit, &rng, &ran, &left);
    LKS_ASSERT(left > 0 && ran + left <= limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_listed_fini) struct lks_listed l = {0};
    struct lks_err err = {0};
    uint32_t counted = 0;
    if (lks_listed_read((struct lks_str){(const char *)data, size}, &l, &err) != LKS_OK) {
        LKS_ASSERT(l.site_count == 0 && l.job_count == 0);
        return 0;
    }
    for (uint32_t i = 0; i < l.site_count; i++) {
        LKS_ASSERT(lks_str_printable(l.sites[i].site) && lks_str_printable(l.sites[i].missing));
        LKS_ASSERT(l.sites[i].missing.len > 0 || l.sites[i].age <= LKS_LISTED_STALE);
        counted += l.sites[i].jobs;
    }
    LKS_ASSERT(counted == l.job_count);
    for (uint32_t i = 0; i < l.job_count; i++) {
        LKS_ASSERT(l.jobs[i].site < l.site_count && l.sites[l.jobs[i].site].missing.len == 0);
        LKS_ASSERT(lks_str_printable(l.jobs[i].id) && lks_str_printable(l.jobs[i].user));
        check_draws(&l.jobs[i]);
    }
    return 0;
}
