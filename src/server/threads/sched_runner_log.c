/* What the log says of requests about sites: the first failure, and the end of failures. */
#include "core/actions/sched_sites.h"
#include "server/auth/authz.h"
#include "server/threads/client_parts.h"

/* A list that does not come is logged once, and once more when one does. */
void lks_sched_runner_log_list(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    const struct lks_sched_site *site =
        lks_sched_sites_find(&authz->sched.sites, w->site, w->sched);
    bool failed = own->site.why.code != LKS_OK, failed_before = site != NULL && site->failures > 0;
    const struct lks_log_field fields[] = {{"site", w->site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    if (own->site.why.code == LKS_E_NOT_FOUND)
        return; /* no bridge is configured, or it is one of before */
    if (failed && !failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "the jobs of a site cannot be listed",
                       fields, 2);
    else if (!failed && failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "the jobs of a site can be listed again",
                       fields, 1);
}

/* Requests that fail are logged once, and once more when one succeeds. */
void lks_sched_runner_log_published(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    const struct lks_sched_site *site =
        lks_sched_sites_find(&authz->sched.sites, w->site, w->sched);
    bool failed = own->site.why.code != LKS_OK;
    bool failed_before = site != NULL && site->publish_failures > 0;
    const struct lks_log_field fields[] = {{"site", w->site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    if (failed && !failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "verdicts cannot be shown in a scheduler",
                       fields, 2);
    else if (!failed && failed_before)
        lks_daemon_log(authz->daemon, LKS_LEVEL_INFO, "verdicts are shown in a scheduler again",
                       fields, 1);
}

/* The caller knows that it is news. */
void lks_sched_runner_log_reserve(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_log_field fields[] = {{"site", own->site.wish.site},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING,
                   "nodes cannot be reserved in a scheduler for the window of a change", fields, 2);
}

/* The caller knows that it is news. */
void lks_sched_runner_log_lead(const struct lks_authz *authz, const struct lks_internal *own)
{
    bool failed = own->site.why.code != LKS_OK;
    const struct lks_log_field fields[] = {{"site", own->site.wish.site},
                                           {"url", own->site.wish.url},
                                           {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, failed ? LKS_LEVEL_WARNING : LKS_LEVEL_INFO,
                   failed ? "a bridge does not confirm the epoch of this leader"
                          : "a bridge confirms the epoch of this leader now",
                   fields, failed ? 3 : 2);
}

void lks_sched_runner_log_order(const struct lks_authz *authz, const struct lks_internal *own)
{
    const struct lks_internal_wish *w = &own->site.wish;
    bool failed = own->site.why.code != LKS_OK;
    const struct lks_log_field fields[] = {
        {"request", lks_str_from(lks_sched_site_verb_words[w->site_wish.verb])},
        {"site", w->site},
        {"job", w->site_wish.job},
        {"cause", lks_str_from(own->site.why.msg)}};
    lks_daemon_log(authz->daemon, failed ? LKS_LEVEL_WARNING : LKS_LEVEL_INFO,
                   failed ? "a request about a job failed"
                          : "a request about a job was carried out",
                   fields, failed ? 4 : 3);
}
