/* Conversations with an API server about a whole site: one kind for each verb, in a file of its
 * own, behind the one type that the port knows (sched_kubernetes.c). */
#ifndef LKS_DRIVERS_KUBERNETES_SITE_H
#define LKS_DRIVERS_KUBERNETES_SITE_H

#include "port/sched.h"

#define LKS_KUBERNETES_SITE_SIZE ((size_t)32 << 10) /* of a value, at most */

/* Each begins with it. */
struct lks_kubernetes_site {
    struct lks_conversation head;
    enum lks_sched_site_verb verb;
};

/* Whether it is what RFC 6750 lets a token have. INVALID: nothing of it is repeated. */
enum lks_code lks_sched_kubernetes_token(struct lks_str token, struct lks_err *err) LKS_MUST_CHECK;

/* PUBLISH (sched_kubernetes_truth.c). */
extern const struct lks_conversation_ops lks_sched_kubernetes_truth_talk;
enum lks_code lks_sched_kubernetes_truth_begin(void *value, const struct lks_sched_site_wish *wish,
                                               struct lks_err *err) LKS_MUST_CHECK;

#endif
