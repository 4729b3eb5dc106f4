/*
 * What the API server of Kubernetes is asked about a whole site. Each part has some of the verbs
 * and a conversation of its own; its value begins with what is here. sched_kubernetes.c finds the
 * part of a verb.
 */
#ifndef LKS_DRIVERS_SCHED_KUBERNETES_SITE_H
#define LKS_DRIVERS_SCHED_KUBERNETES_SITE_H

#include "port/sched.h"

#define LKS_SCHED_KUBERNETES_SITE_MAX 32768 /* bytes of the value of a part */

struct lks_sched_kubernetes_site {
    struct lks_conversation head;
    enum lks_sched_site_verb verb;
};

struct lks_sched_kubernetes_part {
    lks_ms (*ask)(const void *value, struct lks_http_request *out);
    void (*hear)(void *value, lks_ms now, const struct lks_http_response *answer);
    enum lks_code (*begin)(void *value, const struct lks_sched_site_wish *wish,
                           struct lks_err *err);
};

/* Lists of pods, and evictions (sched_kubernetes_jobs.c). */
extern const struct lks_sched_kubernetes_part lks_sched_kubernetes_jobs;

/* Verdicts of nodes (sched_kubernetes_truth.c). */
extern const struct lks_sched_kubernetes_part lks_sched_kubernetes_truth;

#endif
