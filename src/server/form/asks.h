/*
 * The structs that requests decode into: one for each form of forms.h, whose fields name its
 * members. A handler gets it from LKS_ASKED(call, lks_ask_release). Times are in milliseconds and
 * spans in the unit that the name states. An `int` is the index of an enum name of its form, or 0
 * or 1 for a boolean, and -1 if the request leaves it out; other members are then empty, false, 0
 * or the default of the form.
 */
#ifndef LKS_SERVER_ASKS_H
#define LKS_SERVER_ASKS_H

#include "base/time.h"
#include "model/schema/schema.h"

/* A part of a list. */
struct lks_ask_page {
    uint64_t limit;
    struct lks_str after; /* the `next` of the page before; empty: from the start */
    struct lks_str sort;  /* a column of the list's view, or '-' and one; empty: its own order */
};
struct lks_query_page {
    struct lks_ask_page page;
};

/* Places that a body names, for the scopes of server/auth/authz_permit.c; the first member of each
 * struct that has one. */
struct lks_ask_where {
    struct lks_str node, nodes, pool;
};

/* Nodes and the fleet. */
struct lks_query_apply {
    bool dry_run, accept;
    uint64_t nodes, gpus;
    struct lks_str reason;
    struct lks_str from; /* empty: whatever the fleet is */
};
struct lks_query_review {
    struct lks_str timeout;
};
struct lks_query_nodes {
    struct lks_ask_page page;
    struct lks_str component, version;
    int judged;
};
struct lks_query_history {
    uint64_t limit, before;
};
struct lks_query_at {
    lks_ms time;
};
struct lks_ask_reason {
    struct lks_str reason;
};
struct lks_ask_enroll_node {
    struct lks_str reason;
    uint64_t ttl_seconds;
};
struct lks_ask_release {
    struct lks_str reason;
    bool force;
};
struct lks_ask_set {
    struct lks_str reason, value;
    int column; /* of lks_settable_node_words */
};
struct lks_ask_command {
    struct lks_str reason, executor, digests;
    uint64_t ttl_seconds;
};
struct lks_query_alarms {
    struct lks_ask_page page;
    int open;
};

struct lks_query_jobs {
    struct lks_ask_page page;
    struct lks_str id, user, account, partition, pool, site, node, stack, component, version;
    lks_ms since, until;
    int interrupted;
};
struct lks_query_can {
    struct lks_str act, name, pool, site, identity;
};

/* The journal. */
struct lks_query_past {
    lks_ms time;
    struct lks_str nodes, pool;
    bool readings;
};
struct lks_query_journal {
    uint64_t from, limit;
    lks_ms since, until;
    struct lks_str by, kind, node;
};
struct lks_query_events {
    uint64_t from;
};

/* Access. */
struct lks_ask_binding {
    struct lks_str reason, identity, site, pool;
    int role;
};
struct lks_ask_token {
    struct lks_str reason, id, identity;
    uint64_t ttl_seconds;
};
struct lks_ask_certificate {
    struct lks_str reason, name, request;
    uint64_t ttl_seconds;
};
struct lks_ask_certify {
    struct lks_str request;
};
struct lks_ask_login_poll {
    struct lks_str code;
};
struct lks_query_login {
    struct lks_str code, state, error;
};

/* Agents. */
struct lks_ask_enroll {
    struct lks_str token, request;
};
struct lks_ask_result {
    uint64_t id;
    int outcome;
    struct lks_str text;
};

struct lks_ask_check {
    bool passed;
    struct lks_str text;
};

/* Drift, deviations, conditions, readings of management endpoints. */
struct lks_query_drift {
    struct lks_ask_page page;
    struct lks_str pool, node;
    int cause, judged;
};
struct lks_query_deviations {
    struct lks_ask_page page;
    struct lks_str pool;
    int open;
};
struct lks_ask_deviation {
    struct lks_ask_where where; /* nodes */
    struct lks_str reason, subject, value, owner, approver;
    lks_ms expires;
};
struct lks_ask_condition {
    struct lks_str stack, text;
    lks_ms until;
    int condition;
    bool on;
};
struct lks_query_holder {
    struct lks_str holder;
};
struct lks_ask_lease {
    struct lks_str holder;
    uint64_t max, seconds;
};
struct lks_ask_sweep_failed {
    struct lks_str holder, text;
};

/* Admission. */
struct lks_query_admissions {
    struct lks_ask_page page;
    struct lks_str job;
    int reason;
};
enum lks_observed_by {
    LKS_OBSERVED_BY_USER,
    LKS_OBSERVED_BY_IMAGE,
    LKS_OBSERVED_BY_REASON,
    LKS_OBSERVED_BY_NODE
};
struct lks_query_observed {
    int by;
};
struct lks_ask_admit {
    struct lks_ask_where where; /* nodes */
    struct lks_str job, user, stack, nccl;
    struct lks_items images; /* struct lks_admit_image */
    uint64_t criticality;    /* UINT64_MAX: not given */
    bool canary_ok, start, sign;
};
struct lks_ask_unanswered {
    uint64_t count;
};
struct lks_ask_override {
    struct lks_ask_where where; /* nodes */
    struct lks_str reason, job;
    lks_ms until;
};

/* The registry: stacks, images (struct lks_rec_image), exposure, bundles, keys, artifacts. */
struct lks_query_stacks {
    struct lks_ask_page page;
    struct lks_str name;
};
struct lks_query_publish {
    struct lks_str stack, reason;
};
struct lks_ask_promote {
    int to; /* a retirement does not say it */
    struct lks_str evidence;
};
struct lks_query_image {
    struct lks_str reason, ref;
};
struct lks_ask_cve {
    struct lks_str cve;
};
struct lks_ask_bundle {
    struct lks_str reason, manifest, signature;
};
struct lks_ask_key {
    struct lks_str reason, name, key;
};
struct lks_query_part {
    uint64_t part;
};
struct lks_query_artifact {
    struct lks_str name;
};

/* Changes; a forecast decodes into struct lks_rec_forecast. */
struct lks_query_changes {
    struct lks_ask_page page;
    int open, state;
};
struct lks_query_change {
    int plan;
};
struct lks_query_procedure {
    struct lks_str gpu_hour;
};
struct lks_query_members {
    struct lks_ask_page page;
    int state;
    uint64_t wave; /* UINT64_MAX: all */
};
struct lks_ask_change {
    struct lks_ask_where where; /* nodes, pool */
    struct lks_str reason, stack, hook, windows, class, advisory;
    uint64_t strength, failure_share, confidence_share, canary_max, failures_max, soak_seconds;
    lks_ms not_before, not_after;
    int kind;
    bool rolls_back, one_way, dry_run;
};
struct lks_ask_start {
    struct lks_str reason, standby;
    uint64_t nodes, gpus;
    bool break_glass;
};
struct lks_ask_waive {
    struct lks_str reason, gate, pool;
    lks_ms until;
};
enum { LKS_DECISION_APPROVE, LKS_DECISION_REJECT };
struct lks_ask_ticket {
    struct lks_str reason, event, who, ticket, plan;
    uint64_t change, nodes;
    int decision;
};
enum { LKS_ACT_RELEASE, LKS_ACT_AGAIN };
struct lks_ask_members {
    struct lks_str reason, nodes;
    int act; /* a skip does not say it */
};
struct lks_ask_freeze {
    struct lks_ask_where where; /* pool */
    struct lks_str reason;
};

/* Updates and endpoints. */
struct lks_query_flashes {
    struct lks_ask_page page;
    struct lks_str node;
    int open;
};
struct lks_ask_flash {
    struct lks_ask_where where; /* node */
    struct lks_str reason, component, version, bundle, image, apply_time;
    uint64_t minutes;
    int act;
    bool force, one_way;
};
struct lks_query_endpoints {
    struct lks_ask_page page;
    struct lks_str node, url;
};
struct lks_ask_endpoint {
    struct lks_str reason, fingerprint;
};

#endif
