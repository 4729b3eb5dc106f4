/*
 * Where schedulers are asked, as the configuration has it: for each scheduler a list of addresses,
 * by site.
 */
#ifndef LKS_SERVER_BASE_BRIDGES_H
#define LKS_SERVER_BASE_BRIDGES_H

#include "server/base/config.h"

enum { LKS_BRIDGES_LISTS = 3, LKS_BRIDGES_MAX = LKS_BRIDGES_LISTS * LKS_CONFIG_NAMES_MAX };

/* Texts are views of the configuration; that of an item is terminated, and `url` is its end. */
struct lks_bridge {
    const char *sched;
    const char *key; /* of the list: "slurm.bridges" */
    struct lks_str item, site, url;
};

struct lks_bridges_at {
    size_t list, item;
};

/* The next one; `*at` is zero before the first. False: that was all. */
bool lks_bridges_next(const struct lks_config *c, struct lks_bridges_at *at,
                      struct lks_bridge *out);

/* Whether it is one of this scheduler for this site: of its own name, or of "*". */
bool lks_bridges_serves(const struct lks_bridge *b, struct lks_str sched, struct lks_str site);

/* The files of TLS with the schedulers of this name; the path is empty where there is none. */
struct lks_bridges_tls {
    struct lks_str ca, certificate, key;
};
struct lks_bridges_tls lks_bridges_tls(const struct lks_config *c, struct lks_str sched);

/* Schedulers that are to show no verdicts, joined by '+' (core/actions/sched_truth.h). */
struct lks_str lks_bridges_hidden(const struct lks_config *c);

#endif
