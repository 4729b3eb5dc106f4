/*
 * The fleet: sites, pools of one workload class each, nodes and assets by host list, and the
 * domains that change together. `kind: Fleet` in a manifest.
 *
 * A fleet that parses refers only to things it defines, names every host once, and holds no
 * credentials, only references to them.
 */
#ifndef LKS_MODEL_FLEET_H
#define LKS_MODEL_FLEET_H

#include "base/time.h"
#include "codec/notation/hostlist.h"
#include "model/manifest/fleet_gate.h"
#include "model/manifest/stack.h"

#define LKS_FLEET_NAMES_MAX   20000 /* sites, pools, domains and zones, of each */
#define LKS_FLEET_GROUPS_MAX  100000
#define LKS_FLEET_HOSTS_MAX   1000000
#define LKS_FLEET_OUTAGES_MAX 10000
#define LKS_FLEET_QUIETS_MAX  1000
#define LKS_FLEET_SWEEP_HOURS 24 /* between out-of-band readings, where a pool does not say */

struct lks_version_policy {
    struct lks_str branches[4]; /* allowed types of driver branch: LTSB, PB, NFB, dev */
    size_t branch_count;        /* 0: any */
    int64_t min_age_days;
    bool minor, forward; /* whether these verdicts are acceptable */
};

struct lks_pool {
    struct lks_str name, posture, enforce, stack;
    struct lks_str sched; /* "slurm"; several: "slurm+kubernetes", in the order of the table */
    int64_t criticality;
    struct lks_version_policy policy;
    bool alarm, drain, propose; /* about drift */
    bool deviations, attested, drain_refused;
    bool resume_holds;   /* a node whose drain another ended waits for a person */
    bool reserve;        /* its scheduler reserves nodes for the windows of changes */
    int64_t check_hours; /* 0: not asked */
    int64_t sweep_hours;
    /* How it is changed; 0 and empty: not said. */
    int64_t headroom, min_capacity_percent, min_gang, drain_minutes, node_power_w;
    int64_t cadence_days;                    /* behind what is released; -1: as its posture */
    struct lks_str drain_jobs, drain_signal; /* wait or requeue; USR1 ... */
    int64_t drain_grace_minutes;
    struct lks_str windows;                /* codec/time/windows.h */
    const struct lks_pool_gate_wish *gate; /* NULL: nothing is measured */
    const struct lks_doc *doc;
};

/* Nodes, or assets, that are written down together. */
struct lks_group {
    struct lks_hostlist hosts;
    const struct lks_pool *pool;   /* nodes */
    const struct lks_class *class; /* nodes */
    struct lks_str asset_class;    /* assets: switch-tray, power-shelf ... */
    struct lks_str site, domain, rack, power_zone, cooling_loop, hardware_revision, supplier, side;
    bool bmc; /* they have a management endpoint */
    const struct lks_doc *doc;
};

/* A stop that is planned anyway. */
struct lks_outage {
    struct lks_hostlist hosts;
    lks_ms from, until;
};

/* Days on which no node starts, by the clocks of each site. */
struct lks_quiet {
    lks_day from, until;         /* the first of them, and the first that is none any more */
    const struct lks_doc *pools; /* a list of names; NULL: all */
};

struct lks_fleet {
    struct lks_str name;
    struct lks_pool *pools; /* arrays live in the documents' arena */
    size_t pool_count;
    struct lks_group *nodes;
    size_t node_groups;
    struct lks_group *assets;
    size_t asset_groups;
    struct lks_outage *outages;
    size_t outage_count;
    struct lks_quiet *quiets;
    size_t quiet_count;
    size_t node_count, asset_count;
    struct lks_fleet_host { /* all of both, sorted */
        struct lks_str name;
        const struct lks_group *group;
    } * hosts;
    const struct lks_doc *doc;
};

extern const struct lks_form lks_fleet_form;

/* From a document that lks_schema_check() accepted for lks_fleet_form. */
enum lks_code lks_fleet_parse(struct lks_docs *docs, const struct lks_doc *doc,
                              const struct lks_class_lookup *lookup, struct lks_fleet *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The group that names this host; NULL: none does. */
const struct lks_group *lks_fleet_group(const struct lks_fleet *fleet, struct lks_str host);

/* NULL: it has no such pool. */
const struct lks_pool *lks_fleet_find_pool(const struct lks_fleet *fleet, struct lks_str name);

/* The zone in which the times of a site are written: codec/time/tz.h; UTC where it does not say. */
struct lks_str lks_fleet_timezone(const struct lks_fleet *fleet, struct lks_str site);

/* Whether it is of the pool, or of all; a node that is in none is of all alone. */
bool lks_fleet_quiet_is_of(const struct lks_quiet *quiet, struct lks_str pool);

/* What a power zone can take; 0: not said. */
struct lks_power {
    int64_t budget_kw, ramp_kw;
};
struct lks_power lks_fleet_power(const struct lks_fleet *fleet, struct lks_str zone);

/* Spare parts for a class of firmware or hardware. */
int64_t lks_fleet_spares(const struct lks_fleet *fleet, struct lks_str class);

#endif
