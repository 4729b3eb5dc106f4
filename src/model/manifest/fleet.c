#include "model/manifest/fleet.h"

#include "base/buf.h"
#include "base/intern.h"
#include "base/near.h"
#include "codec/time/windows.h"
#include "model/schema/tables.h"

#include <stdlib.h>

/* The table of a fleet ---------------------------------------------------------------------- */

static const struct lks_field site_fields[] = {
    {"timezone", LKS_OF(TEXT), 0, "UTC", "zone in which its maintenance windows are written"},
    {"power_budget_kw", LKS_NUMBERS(1, 10000000), 0, NULL, "power of the whole site"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_form site_form = {
    .name = "site", .about = "one place with machines", LKS_FIELDS(site_fields)};

static const struct lks_field zone_fields[] = {
    {"site", LKS_OF(NAME), LKS_REQUIRED, NULL, "site it belongs to"},
    {"budget_kw", LKS_NUMBERS(1, 10000000), 0, NULL, "power that may be drawn in it"},
    {"ramp_kw", LKS_NUMBERS(1, 10000000), 0, NULL,
     "power that may come back at once, after nodes in it restart; absent: any"},
};
static const struct lks_form zone_form = {
    .name = "power zone", .about = "what one feed supplies", LKS_FIELDS(zone_fields)};

static const struct lks_field policy_fields[] = {
    {"branches", LKS_LIST_FROM_TO(1, 4, LKS_ONE_OF("LTSB", "PB", "NFB", "dev")), LKS_SET, NULL,
     "types of driver branch a stack may use here"},
    {"min_age_days", LKS_NUMBERS(0, 3650), 0, NULL, "days a driver must have been out"},
    {"minor", LKS_OF(BOOL), 0, "true", "whether minor-version compatibility is acceptable"},
    {"forward", LKS_OF(BOOL), 0, "false", "whether a cuda-compat package is acceptable"},
};
static const struct lks_form policy_form = {
    .name = "version policy", .about = "what a pool accepts", LKS_FIELDS(policy_fields)};

static const char *const scheds[] = {"none", "slurm", "kubernetes", NULL};
static const struct lks_field pool_fields[] = {
    {"posture", LKS_OF(NAME), LKS_REQUIRED, NULL,
     "class of workload, a row of postures.csv, which decides how tightly it pins. In `dev`, "
     "commands "
     "by hand need neither a drained node nor an approval"},
    {"criticality", LKS_NUMBERS(0, 100), 0, NULL, "pools change in rising order"},
    {"enforce", LKS_ONE_OF("observe", "warn", "on"), 0, "observe",
     "with `on`, jobs are refused on nodes that do not conform; with `observe` and `warn` they are "
     "admitted, and it is counted what would have been refused"},
    {"sched", LKS_ONE_OR_MORE_OF(scheds), LKS_SET, "none",
     "scheduler that starts jobs in the pool, or the list of all that do: a node is drained when "
     "it is drained in each. With `none` lockstep drains nodes by admission and "
     "the processes on their GPUs alone: never leave out a scheduler of a pool that has one"},
    {"on_resume", LKS_ONE_OF("drain", "hold"), 0, "drain",
     "what a change does when an administrator ends or takes over the drain of a node that it "
     "works "
     "on: drain it again, once, or hold it out of service for a person. Both raise an alarm"},
    {"reserve", LKS_OF(BOOL), 0, "false",
     "whether the scheduler reserves nodes for the windows of changes, so that no job starts that "
     "would run into one; needs `slurm` in `sched` and a bridge"},
    {"stack", LKS_OF(NAME), 0, NULL, "stack the pool is pinned to"},
    {"version_policy", LKS_FORM(policy_form), 0, NULL, "what versions it accepts"},
    {"on_drift", LKS_LIST_FROM_TO(1, 3, LKS_ONE_OF("alarm", "drain", "propose")), LKS_SET, NULL,
     "what is done about a node that drifts, beside counting: alarm from `enforce: warn` on, drain "
     "and propose (a change that brings it back) with `enforce: on`"},
    {"drain_refused", LKS_OF(BOOL), 0, "false",
     "whether a node that admission refuses is drained until admission takes it again, with "
     "`enforce: on`: one that is lost, unmeasured, unhealthy, unattested or unchecked, drifts, "
     "is in intake, or runs a refused deviation"},
    {"deviations", LKS_ONE_OF("allow", "refuse"), 0, "allow",
     "whether jobs start on nodes that run a recorded deviation"},
    {"attested", LKS_OF(BOOL), 0, "false", "whether nodes must be attested to take jobs"},
    {"check_hours", LKS_NUMBERS(1, 8760), 0, NULL,
     "how old the last active check of a node may be; absent: it is not asked"},
    {"sweep_hours", LKS_NUMBERS(1, 8760), 0, NULL,
     "how often management endpoints are read; absent: every 24 hours"},
    {"headroom", LKS_NUMBERS(1, LKS_FLEET_HOSTS_MAX), 0, NULL,
     "nodes that a change may take out of service at once; absent: a tenth of the pool"},
    {"min_capacity_percent", LKS_NUMBERS(1, 100), 0, NULL,
     "share of its nodes that stays in service during changes; absent: what headroom leaves"},
    {"min_gang", LKS_NUMBERS(1, LKS_FLEET_HOSTS_MAX), 0, NULL,
     "nodes of the largest job that should be able to start on one stack while a change goes on"},
    {"windows", LKS_OF(TEXT), 0, NULL,
     "when changes may start on its nodes, in the time of their site: 'Mon-Fri 22:00-04:00, Sat "
     "00:00-24:00'; absent: always"},
    {"drain_minutes", LKS_NUMBERS(1, 43200), 0, NULL,
     "how long a node may take to drain; absent: as its posture states"},
    {"drain_jobs", LKS_ONE_OF("wait", "requeue"), 0, NULL,
     "what a change may do to jobs on a node that drains: wait for their end, or signal and then "
     "requeue those that their scheduler may requeue (pods: evict); absent: as its posture states"},
    {"drain_signal", LKS_ONE_OF("USR1", "USR2", "HUP", "TERM"), 0, NULL,
     "with drain_jobs requeue, the signal that a job gets first; absent: as its posture, or USR1"},
    {"drain_grace_minutes", LKS_NUMBERS(1, LKS_DRAIN_GRACE_MAX), 0, NULL,
     "with drain_jobs requeue, how long a job has after the signal; absent: as its posture, or 10"},
    {"cadence_days", LKS_NUMBERS(0, 3650), 0, NULL,
     "days that it may be behind the released stack that supersedes its own, before there is an "
     "alarm and a drafted change; absent: as its posture"},
    {"node_power_w", LKS_NUMBERS(1, 1000000), 0, NULL,
     "what one of its nodes draws under load; needed where a power zone has limits"},
    {"gate", LKS_FORM(lks_gate_form), 0, NULL,
     "what is measured of nodes that a change brought further, before others follow; absent: "
     "nothing is"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_form pool_form = {
    .name = "pool", .about = "nodes of one workload class", LKS_FIELDS(pool_fields)};

static const struct lks_field domain_fields[] = {
    {"site", LKS_OF(NAME), 0, NULL, "site in which it is"},
    {"spares", LKS_NUMBERS(0, 1024), 0, NULL, "nodes it can lose and still serve"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_form domain_form = {
    .name = "domain", .about = "what changes together", LKS_FIELDS(domain_fields)};

static const struct lks_field bmc_fields[] = {
    {"url", LKS_OF(URL), LKS_REQUIRED, NULL, "https://bmc-{host}.example, {host} being the name"},
    {"trust", LKS_OF(TEXT), 0, "fingerprint",
     "file:/CA.pem, or fingerprint (recorded by bmc trust)"},
    {"credentials", LKS_OF(SECRET), LKS_REQUIRED, NULL, "file:/PATH or exec:/PROGRAM"},
    {"driver", LKS_ONE_OF("redfish", "nvos"), 0, NULL,
     "how it is spoken to; else nvos for a switch tray, redfish for all others"},
};
static const struct lks_form bmc_form = {
    .name = "bmc", .about = "the management endpoint", LKS_FIELDS(bmc_fields)};

#define PLACE_FIELDS                                                                               \
    {"hosts", LKS_OF(HOSTS), LKS_REQUIRED, NULL, "names, such as gpu[001-512]"},                   \
        {"site", LKS_OF(NAME), 0, NULL, "site in which they are"},                                 \
        {"domain", LKS_OF(NAME), 0, NULL, "domain they change with"},                              \
        {"rack", LKS_OF(TEXT), 0, NULL, "rack in which they are"},                                 \
        {"power_zone", LKS_OF(NAME), 0, NULL, "feed that supplies them"},                          \
        {"cooling_loop", LKS_OF(TEXT), 0, NULL, "loop that cools them"},                           \
        {"hardware_revision", LKS_OF(TEXT), 0, NULL, "revision of the board or tray"},             \
        {"supplier", LKS_OF(TEXT), 0, NULL, "who built them"},                                     \
        {"side", LKS_ONE_OF("a", "b"), 0, NULL, "side of a redundant pair"},                       \
    {                                                                                              \
        "bmc", LKS_FORM(bmc_form), 0, NULL, "management endpoint"                                  \
    }

static const struct lks_field node_fields[] = {
    PLACE_FIELDS,
    {"pool", LKS_OF(NAME), LKS_REQUIRED, NULL, "pool they belong to"},
    {"class", LKS_OF(NAME), LKS_REQUIRED, NULL, "hardware class"},
};
static const struct lks_form node_form = {
    .name = "node group", .about = "nodes written down together", LKS_FIELDS(node_fields)};

static const struct lks_field asset_fields[] = {
    PLACE_FIELDS,
    {"class",
     LKS_ONE_OF("switch-tray", "power-shelf", "bbu", "cdu", "rack-controller", "dpu", "switch",
                "other"),
     LKS_REQUIRED, NULL, "what it is"},
};
static const struct lks_form asset_form = {
    .name = "asset group", .about = "assets written down together", LKS_FIELDS(asset_fields)};

static const struct lks_field outage_fields[] = {
    {"hosts", LKS_OF(HOSTS), LKS_REQUIRED, NULL, "nodes that will be out of service"},
    {"from", LKS_OF(TEXT), LKS_REQUIRED, NULL, "when it starts: '2026-11-15T22:00:00+01:00'"},
    {"until", LKS_OF(TEXT), LKS_REQUIRED, NULL, "when it ends"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_form outage_form = {
    .name = "outage", .about = "a stop that is planned anyway", LKS_FIELDS(outage_fields)};

static const struct lks_field quiet_fields[] = {
    {"from", LKS_OF(DATE), LKS_REQUIRED, NULL, "the first day, by the clocks of each site"},
    {"until", LKS_OF(DATE), LKS_REQUIRED, NULL, "the first day that is none any more"},
    {"pools", LKS_LIST(LKS_OF(NAME)), 0, NULL, "only these; absent: all"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_form quiet_form = {.name = "freeze",
                                           .about = "days on which the change of no node starts",
                                           LKS_FIELDS(quiet_fields)};

static const struct lks_field fleet_fields[] = {
    LKS_ENVELOPE("Fleet"),
    {"sites", LKS_DICT(NAME, LKS_FLEET_NAMES_MAX, LKS_FORM(site_form)), 0, NULL,
     "places with machines"},
    {"power_zones", LKS_DICT(NAME, LKS_FLEET_NAMES_MAX, LKS_FORM(zone_form)), 0, NULL,
     "feeds and their budgets"},
    {"pools", LKS_DICT(NAME, LKS_FLEET_NAMES_MAX, LKS_FORM(pool_form)), LKS_REQUIRED, NULL,
     "nodes by workload"},
    {"domains", LKS_DICT(NAME, LKS_FLEET_NAMES_MAX, LKS_FORM(domain_form)), 0, NULL,
     "what changes together"},
    {"nodes", LKS_LIST_FROM_TO(1, LKS_FLEET_GROUPS_MAX, LKS_FORM(node_form)), LKS_REQUIRED, NULL,
     "nodes by host list"},
    {"assets", LKS_LIST_FROM_TO(0, LKS_FLEET_GROUPS_MAX, LKS_FORM(asset_form)), 0, NULL,
     "what has firmware and is no node"},
    {"spares", LKS_DICT(NAME, LKS_FLEET_NAMES_MAX, LKS_NUMBERS(0, 1000000)), 0, NULL,
     "spare parts in stock, by class of firmware (psu) or of hardware (a whole node): they cover "
     "steps that are irreversible"},
    {"outages", LKS_LIST_FROM_TO(0, LKS_FLEET_OUTAGES_MAX, LKS_FORM(outage_form)), 0, NULL,
     "stops that are planned anyway: changes take these nodes first"},
    {"freezes", LKS_LIST_FROM_TO(0, LKS_FLEET_QUIETS_MAX, LKS_FORM(quiet_form)), 0, NULL,
     "days on which the change of no node starts, but for one that closes an advisory"},
};
const struct lks_form lks_fleet_form = {
    .name = "Fleet",
    .about = "Sites, pools, nodes, assets and the domains that change together.",
    LKS_FIELDS(fleet_fields)};

/* Reading ----------------------------------------------------------------------------------- */

enum { NAME_BYTES_MAX = 256 * 1024 * 1024 };

/* The maps of a fleet whose names its groups refer to. */
enum map { SITES, POWER_ZONES, POOLS, DOMAINS, MAPS };
static const char *const map_names[MAPS] = {"sites", "power_zones", "pools", "domains"};

/* What one domain holds, summed up group by group. */
struct domain_sum {
    int64_t gpus;
    int64_t wanted; /* 0 while no class of it spans nodes */
};

struct reader {
    struct lks_docs *docs;
    const struct lks_doc *doc;
    const struct lks_class_lookup *lookup;
    struct lks_fleet *fleet;
    struct lks_intern hosts;
    struct lks_intern addresses;   /* of endpoints that are one host's alone */
    struct lks_intern names[MAPS]; /* of each map, in its order */
    struct domain_sum *domains;    /* by the number of their names */
    struct lks_err *err;
};

static void reader_fini(struct reader *r)
{
    lks_intern_fini(&r->hosts);
    lks_intern_fini(&r->addresses);
    for (size_t i = 0; i < MAPS; i++)
        lks_intern_fini(&r->names[i]);
}

#define FAIL(r, at, ...) lks_doc_fail((r)->docs, (at), (r)->err, __VA_ARGS__)
#define RULE(r, at, ...) LKS_DOC_RULE((r)->docs, (at), (r)->err, __VA_ARGS__)

/* Whether it is good, or its failure was noted. */
#define TRY(r, call) ((call) == LKS_OK || lks_doc_goes_on((r)->docs, (r)->err))

static enum lks_code read_names(struct reader *r)
{
    lks_intern_init(&r->hosts, NAME_BYTES_MAX);
    lks_intern_init(&r->addresses, NAME_BYTES_MAX);
    for (size_t i = 0; i < MAPS; i++) {
        lks_intern_init(&r->names[i], NAME_BYTES_MAX);
        const struct lks_doc *map = lks_doc_member(r->doc, map_names[i]);
        const struct lks_doc *first = map != NULL ? map->first : NULL;
        for (const struct lks_doc *item = first; item != NULL; item = item->next) {
            uint32_t id;
            if (lks_intern_id(&r->names[i], item->key, &id, r->err) != LKS_OK)
                return r->err->code;
        }
    }
    r->domains = lks_arena_array(&r->docs->arena, lks_intern_count(&r->names[DOMAINS]) + 1,
                                 sizeof(*r->domains));
    return r->domains != NULL ? LKS_OK : lks_arena_fail(&r->docs->arena, r->err);
}

/* The member `key` of `group`, if it is there, names something in `map`: which one, into `out`. */
static enum lks_code find_reference(const struct reader *r, const struct lks_doc *group,
                                    const char *key, enum map map, uint32_t *out)
{
    const struct lks_doc *at = lks_doc_member(group, key);
    if (at == NULL || lks_intern_find(&r->names[map], at->text, out))
        return LKS_OK;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(at->text);
    for (uint32_t id = 0; id < lks_intern_count(&r->names[map]); id++)
        lks_near_try(&near, lks_intern_text(&r->names[map], id));
    return FAIL(r, at, "no '%" LKS_STR_FMT "' under %s%s", LKS_STR_ARG(at->text), map_names[map],
                lks_near_hint(&near, hint));
}

static int64_t number_or_zero(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *member = lks_doc_member(map, key);
    return member != NULL ? member->number : 0;
}

static void read_policy(const struct lks_doc *doc, struct lks_version_policy *out)
{
    *out = (struct lks_version_policy){
        .min_age_days = number_or_zero(doc, "min_age_days"),
        .minor = lks_schema_truth(doc, &policy_form, "minor"),
        .forward = lks_schema_truth(doc, &policy_form, "forward"),
    };
    const struct lks_doc *branches = lks_doc_member(doc, "branches");
    const struct lks_doc *first = branches != NULL ? branches->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next)
        out->branches[out->branch_count++] = item->text;
}

static enum lks_code check_posture(const struct reader *r, const struct lks_doc *pool)
{
    const struct lks_facts *facts = r->lookup->facts;
    const struct lks_doc *at = lks_doc_member(pool, "posture");
    LKS_CLEANUP(lks_buf_fini) struct lks_buf known = LKS_BUF(LKS_ERR_MSG_MAX);
    for (size_t i = 0; i < facts->postures.count; i++) {
        if (lks_str_eq(facts->postures.rows[i].name, at->text))
            return LKS_OK;
        lks_buf_addf(&known, "%s%" LKS_STR_FMT, i > 0 ? ", " : "",
                     LKS_STR_ARG(facts->postures.rows[i].name));
    }
    struct lks_str shown = lks_buf_view(&known);
    return FAIL(r, at, "no posture '%" LKS_STR_FMT "'; there are %" LKS_STR_FMT,
                LKS_STR_ARG(at->text), LKS_STR_ARG(shown));
}

/* A zone that nothing is written in may be called as one likes. */
static enum lks_code check_timezones(const struct reader *r)
{
    const struct lks_doc *sites = lks_doc_member(r->doc, map_names[SITES]);
    const struct lks_doc *first = sites != NULL ? sites->first : NULL;
    for (const struct lks_doc *site = first; site != NULL; site = site->next) {
        const struct lks_doc *zone = lks_doc_member(site, "timezone");
        struct lks_tz ignored;
        struct lks_err inner = {0};
        if (zone != NULL && lks_tz_parse(zone->text, &ignored, &inner) != LKS_OK)
            return FAIL(r, zone, "%s", inner.msg);
    }
    return LKS_OK;
}

/* What is asked of its nodes, and what is done about those that differ. */
static void read_care(const struct lks_doc *item, struct lks_pool *pool)
{
    const struct lks_doc *acts = lks_doc_member(item, "on_drift");
    int64_t sweep = number_or_zero(item, "sweep_hours");
    for (const struct lks_doc *act = acts == NULL ? NULL : acts->first; act != NULL;
         act = act->next) {
        pool->alarm |= lks_str_is(act->text, "alarm");
        pool->drain |= lks_str_is(act->text, "drain");
        pool->propose |= lks_str_is(act->text, "propose");
    }
    pool->deviations = lks_str_is(lks_schema_text(item, &pool_form, "deviations"), "allow");
    pool->resume_holds = lks_str_is(lks_schema_text(item, &pool_form, "on_resume"), "hold");
    pool->attested = lks_schema_truth(item, &pool_form, "attested");
    pool->drain_refused = lks_schema_truth(item, &pool_form, "drain_refused");
    pool->check_hours = number_or_zero(item, "check_hours");
    pool->sweep_hours = sweep == 0 ? LKS_FLEET_SWEEP_HOURS : sweep;
}

/* Whether the pool names this scheduler, alone or in its list. */
static bool names_sched(const struct lks_doc *item, const char *sched)
{
    const struct lks_doc *list = lks_doc_member(item, "sched");
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return lks_str_is(lks_schema_text(item, &pool_form, "sched"), sched);
    for (const struct lks_doc *i = list->first; i != NULL; i = i->next) {
        if (lks_str_is(i->text, sched))
            return true;
    }
    return false;
}

/* The schedulers of the pool as one text, in the order of the table: "slurm+kubernetes". */
static enum lks_code read_sched(const struct reader *r, const struct lks_doc *item,
                                struct lks_str *out)
{
    struct lks_arena *arena = &r->docs->arena;
    *out = LKS_STR("");
    for (size_t i = 0; scheds[i] != NULL; i++) {
        if (names_sched(item, scheds[i]))
            *out = lks_arena_format(arena, "%" LKS_STR_FMT "%s%s", LKS_STR_ARG(*out),
                                    out->len > 0 ? "+" : "", scheds[i]);
    }
    return arena->out_of_memory ? lks_arena_fail(arena, r->err) : LKS_OK;
}

/* A signal that no job would get is a mistake, and so are requeues without a scheduler. */
static enum lks_code check_drain(const struct reader *r, const struct lks_doc *item)
{
    static const char *const keys[] = {"drain_signal", "drain_grace_minutes"};
    const struct lks_doc *jobs = lks_doc_member(item, "drain_jobs");
    const struct lks_doc *reserve = lks_doc_member(item, "reserve");
    if (reserve != NULL && reserve->truth && !names_sched(item, "slurm"))
        return FAIL(r, reserve, "only Slurm reserves nodes: add 'sched: slurm', or remove reserve");
    if (jobs != NULL && lks_str_is(jobs->text, "requeue") && names_sched(item, "none"))
        return FAIL(r, jobs, "requeue needs 'sched: slurm' or 'sched: kubernetes', or set wait");
    bool pods = names_sched(item, "kubernetes") && !names_sched(item, "slurm");
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        const struct lks_doc *said = lks_doc_member(item, keys[i]);
        if (said != NULL && (pods || (jobs != NULL && lks_str_is(jobs->text, "wait"))))
            return FAIL(r, said, "%s needs %s", keys[i],
                        pods ? "Slurm: a pod has terminationGracePeriodSeconds of its own"
                             : "'drain_jobs: requeue': without it no job is signalled");
    }
    return LKS_OK;
}

/* How it is changed. Times are of the sites its nodes stand in, so these have to be known. */
static enum lks_code read_change(const struct reader *r, const struct lks_doc *item,
                                 struct lks_pool *pool)
{
    const struct lks_doc *windows = lks_doc_member(item, "windows");
    struct lks_windows ignored;
    struct lks_err inner = {0};
    pool->headroom = number_or_zero(item, "headroom");
    pool->min_capacity_percent = number_or_zero(item, "min_capacity_percent");
    pool->min_gang = number_or_zero(item, "min_gang");
    pool->drain_minutes = number_or_zero(item, "drain_minutes");
    pool->drain_jobs = lks_doc_text(item, "drain_jobs");
    pool->drain_signal = lks_doc_text(item, "drain_signal");
    pool->drain_grace_minutes = number_or_zero(item, "drain_grace_minutes");
    pool->node_power_w = number_or_zero(item, "node_power_w");
    pool->cadence_days =
        lks_doc_member(item, "cadence_days") == NULL ? -1 : number_or_zero(item, "cadence_days");
    pool->windows = lks_doc_text(item, "windows");
    pool->reserve = lks_schema_truth(item, &pool_form, "reserve");
    if (windows != NULL && lks_windows_parse(windows->text, &ignored, &inner) != LKS_OK &&
        !TRY(r, FAIL(r, windows, "%s", inner.msg)))
        return r->err->code;
    return windows != NULL ? check_timezones(r) : LKS_OK;
}

static enum lks_code read_gate(const struct reader *r, const struct lks_doc *item,
                               struct lks_pool *pool)
{
    const struct lks_doc *doc = lks_doc_member(item, "gate");
    if (doc == NULL)
        return LKS_OK;
    struct lks_pool_gate_wish *gate = lks_arena_array(&r->docs->arena, 1, sizeof(*gate));
    if (gate == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    if (lks_fleet_gate_parse(r->docs, doc, r->lookup->facts, gate, r->err) != LKS_OK)
        return r->err->code;
    pool->gate = gate;
    return LKS_OK;
}

static enum lks_code read_pools(struct reader *r)
{
    const struct lks_doc *pools = lks_doc_member(r->doc, "pools");
    r->fleet->pools = lks_arena_array(&r->docs->arena, pools->count + 1, sizeof(struct lks_pool));
    if (r->fleet->pools == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    for (const struct lks_doc *item = pools->first; item != NULL; item = item->next) {
        struct lks_pool *pool = &r->fleet->pools[r->fleet->pool_count++];
        if (!TRY(r, check_posture(r, item)))
            return r->err->code;
        *pool = (struct lks_pool){
            .name = item->key,
            .posture = lks_doc_text(item, "posture"),
            .enforce = lks_schema_text(item, &pool_form, "enforce"),
            .stack = lks_doc_text(item, "stack"),
            .criticality = number_or_zero(item, "criticality"),
            .doc = item,
        };
        read_policy(lks_doc_member(item, "version_policy"), &pool->policy);
        read_care(item, pool);
        if (!TRY(r, read_sched(r, item, &pool->sched)) || !TRY(r, check_drain(r, item)) ||
            !TRY(r, read_change(r, item, pool)) || !TRY(r, read_gate(r, item, pool)))
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code read_hosts(struct reader *r, const struct lks_doc *doc,
                                struct lks_hostlist *out)
{
    const struct lks_doc *at = lks_doc_member(doc, "hosts");
    struct lks_err inner = {0};
    size_t count = 0;
    if (lks_hostlist_count(at->text, &count, &inner) != LKS_OK)
        return FAIL(r, at, "%s", inner.msg);
    if (count > LKS_FLEET_HOSTS_MAX - lks_intern_count(&r->hosts))
        return FAIL(r, at, "a fleet has at most %d nodes and assets", LKS_FLEET_HOSTS_MAX);
    if (lks_hostlist_parse(at->text, &r->docs->arena, out, &inner) != LKS_OK)
        return FAIL(r, at, "%s", inner.msg);
    for (size_t i = 0; i < out->count; i++) {
        uint32_t id;
        if (lks_intern_find(&r->hosts, out->names[i], &id))
            return FAIL(r, at, "host '%" LKS_STR_FMT "' is already named in this fleet",
                        LKS_STR_ARG(out->names[i]));
        if (lks_intern_id(&r->hosts, out->names[i], &id, r->err) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

/* Several hosts behind one address would be several nodes that are one. */
static enum lks_code check_address(struct reader *r, const struct lks_doc *url, size_t hosts)
{
    uint32_t id;
    if (hosts > 1)
        return RULE(r, url, "%zu hosts share this address; put {host} where their names go", hosts);
    if (lks_intern_find(&r->addresses, url->text, &id))
        return RULE(r, url, "another host of this fleet has this address");
    return lks_intern_id(&r->addresses, url->text, &id, r->err);
}

static enum lks_code check_bmc(struct reader *r, const struct lks_doc *bmc, size_t hosts)
{
    if (bmc == NULL)
        return LKS_OK;
    const struct lks_doc *url = lks_doc_member(bmc, "url");
    struct lks_str trust = lks_schema_text(bmc, &bmc_form, "trust"), rest = url->text, ignored;
    bool named = lks_str_find(url->text, LKS_STR("{host}")) >= 0;
    if (!named && check_address(r, url, hosts) != LKS_OK)
        return r->err->code;
    while (lks_str_cut(rest, '{', &ignored, &rest)) {
        if (!lks_str_starts(rest, "host}"))
            return FAIL(r, url, "only {host} can be in braces");
    }
    if (!lks_str_is(trust, "fingerprint") && !lks_str_starts(trust, "file:/"))
        return FAIL(r, lks_doc_member(bmc, "trust"), "trust is file:/CA.pem or fingerprint");
    return LKS_OK;
}

static enum lks_code read_place(struct reader *r, const struct lks_doc *doc, struct lks_group *out)
{
    uint32_t ignored;
    if (!TRY(r, find_reference(r, doc, "site", SITES, &ignored)) ||
        !TRY(r, find_reference(r, doc, "domain", DOMAINS, &ignored)) ||
        !TRY(r, find_reference(r, doc, "power_zone", POWER_ZONES, &ignored)))
        return r->err->code;
    *out = (struct lks_group){
        .site = lks_doc_text(doc, "site"),
        .domain = lks_doc_text(doc, "domain"),
        .rack = lks_doc_text(doc, "rack"),
        .power_zone = lks_doc_text(doc, "power_zone"),
        .cooling_loop = lks_doc_text(doc, "cooling_loop"),
        .hardware_revision = lks_doc_text(doc, "hardware_revision"),
        .supplier = lks_doc_text(doc, "supplier"),
        .side = lks_doc_text(doc, "side"),
        .bmc = lks_doc_member(doc, "bmc") != NULL,
        .doc = doc,
    };
    if (!TRY(r, read_hosts(r, doc, &out->hosts)))
        return r->err->code;
    return check_bmc(r, lks_doc_member(doc, "bmc"), out->hosts.count);
}

static void add_to_domain(struct reader *r, const struct lks_group *group)
{
    uint32_t id;
    if (!lks_intern_find(&r->names[DOMAINS], group->domain, &id))
        return;
    r->domains[id].gpus += group->class->gpus * (int64_t)group->hosts.count;
    if (group->class->nvlink_domain > group->class->gpus)
        r->domains[id].wanted = group->class->nvlink_domain;
}

static enum lks_code read_node_group(struct reader *r, const struct lks_doc *doc)
{
    struct lks_group *group = &r->fleet->nodes[r->fleet->node_groups++];
    uint32_t pool = 0; /* required, so it is found or refused */
    if (!TRY(r, read_place(r, doc, group)) || !TRY(r, find_reference(r, doc, "pool", POOLS, &pool)))
        return r->err->code;
    group->pool = &r->fleet->pools[pool];
    const struct lks_doc *class = lks_doc_member(doc, "class");
    group->class = lks_stack_class_find(r->lookup, class->text);
    if (group->class == NULL)
        return lks_stack_class_fail(r->lookup, r->docs, class, r->err);
    r->fleet->node_count += group->hosts.count;
    add_to_domain(r, group);
    return LKS_OK;
}

static enum lks_code read_asset_group(struct reader *r, const struct lks_doc *doc)
{
    struct lks_group *group = &r->fleet->assets[r->fleet->asset_groups++];
    if (read_place(r, doc, group) != LKS_OK)
        return r->err->code;
    group->asset_class = lks_doc_text(doc, "class");
    r->fleet->asset_count += group->hosts.count;
    return LKS_OK;
}

static enum lks_code read_groups(struct reader *r, const char *key, struct lks_group **out,
                                 enum lks_code (*take)(struct reader *r, const struct lks_doc *doc))
{
    const struct lks_doc *groups = lks_doc_member(r->doc, key);
    if (groups == NULL)
        return LKS_OK;
    *out = lks_arena_array(&r->docs->arena, groups->count + 1, sizeof(**out));
    if (*out == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    for (const struct lks_doc *item = groups->first; item != NULL; item = item->next) {
        if (!TRY(r, take(r, item)))
            return r->err->code;
    }
    return LKS_OK;
}

/* A domain holds as many nodes of a class as that class's NVLink domain takes: a rack with a tray
 * too few or too many is a mistake of the list, not a rack. */
static enum lks_code check_domains(const struct reader *r)
{
    uint32_t id = 0, ignored;
    bool whole = !lks_doc_is_faulty(r->docs); /* else groups are missing that could not be read */
    const struct lks_doc *domains = lks_doc_member(r->doc, map_names[DOMAINS]);
    const struct lks_doc *first = domains != NULL ? domains->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next, id++) {
        const struct domain_sum *sum = &r->domains[id];
        if (!TRY(r, find_reference(r, item, "site", SITES, &ignored)))
            return r->err->code;
        if (sum->wanted > 0 && sum->gpus != sum->wanted && whole &&
            !TRY(r, RULE(r, item, "its nodes hold %lld GPUs, and one NVLink domain holds %lld",
                         (long long)sum->gpus, (long long)sum->wanted)))
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code check_zones(const struct reader *r)
{
    uint32_t ignored;
    const struct lks_doc *zones = lks_doc_member(r->doc, map_names[POWER_ZONES]);
    const struct lks_doc *first = zones != NULL ? zones->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (!TRY(r, find_reference(r, item, "site", SITES, &ignored)))
            return r->err->code;
    }
    return LKS_OK;
}

/* Outages ----------------------------------------------------------------------------------- */

static enum lks_code read_moment(const struct reader *r, const struct lks_doc *item,
                                 const char *key, lks_ms *out)
{
    const struct lks_doc *at = lks_doc_member(item, key);
    if (lks_time_parse(at->text, out))
        return LKS_OK;
    return FAIL(r, at, "'%" LKS_STR_FMT "' is no moment; one is '2026-11-15T22:00:00+01:00'",
                LKS_STR_ARG(at->text));
}

/* Hosts that the fleet does not have any more do no harm. */
static enum lks_code read_outage(struct reader *r, const struct lks_doc *item)
{
    struct lks_outage *out = &r->fleet->outages[r->fleet->outage_count++];
    const struct lks_doc *hosts = lks_doc_member(item, "hosts");
    struct lks_err inner = {0};
    if (read_moment(r, item, "from", &out->from) != LKS_OK ||
        read_moment(r, item, "until", &out->until) != LKS_OK)
        return r->err->code;
    if (out->until <= out->from && RULE(r, item, "it ends before it starts") != LKS_OK)
        return r->err->code;
    if (lks_hostlist_parse(hosts->text, &r->docs->arena, &out->hosts, &inner) != LKS_OK)
        return FAIL(r, hosts, "%s", inner.msg);
    return LKS_OK;
}

/* Freezes ----------------------------------------------------------------------------------- */

bool lks_fleet_quiet_is_of(const struct lks_quiet *quiet, struct lks_str pool)
{
    const struct lks_doc *name = quiet->pools != NULL ? quiet->pools->first : NULL;
    while (name != NULL && !lks_str_eq(name->text, pool))
        name = name->next;
    return quiet->pools == NULL || name != NULL;
}

static enum lks_code read_quiet(struct reader *r, const struct lks_doc *item)
{
    struct lks_quiet *out = &r->fleet->quiets[r->fleet->quiet_count++];
    bool good = lks_time_day_parse(lks_doc_text(item, "from"), &out->from) &&
                lks_time_day_parse(lks_doc_text(item, "until"), &out->until);
    if (!good)
        return FAIL(r, item, "it is from a day until a day, such as 2026-12-24");
    if (out->until <= out->from && !TRY(r, RULE(r, item, "it ends before it starts")))
        return r->err->code;
    out->pools = lks_doc_member(item, "pools");
    const struct lks_doc *name = out->pools != NULL ? out->pools->first : NULL;
    for (; name != NULL; name = name->next) {
        if (lks_fleet_find_pool(r->fleet, name->text) == NULL &&
            !TRY(r, RULE(r, name, "there is no pool '%" LKS_STR_FMT "'", LKS_STR_ARG(name->text))))
            return r->err->code;
    }
    return LKS_OK;
}

/* Each item of a list that may be missing. */
static enum lks_code read_items(struct reader *r, const struct lks_doc *list,
                                enum lks_code (*take)(struct reader *r, const struct lks_doc *item))
{
    const struct lks_doc *item = list != NULL ? list->first : NULL;
    while (item != NULL && TRY(r, take(r, item)))
        item = item->next;
    return item == NULL ? LKS_OK : r->err->code;
}

static enum lks_code read_calendar(struct reader *r)
{
    const struct lks_doc *outages = lks_doc_member(r->doc, "outages"),
                         *quiets = lks_doc_member(r->doc, "freezes");
    struct lks_fleet *f = r->fleet;
    struct lks_arena *arena = &r->docs->arena;
    if (outages != NULL)
        f->outages = lks_arena_array(arena, outages->count + 1, sizeof(*f->outages));
    if (quiets != NULL)
        f->quiets = lks_arena_array(arena, quiets->count + 1, sizeof(*f->quiets));
    if ((outages != NULL && f->outages == NULL) || (quiets != NULL && f->quiets == NULL))
        return lks_arena_fail(arena, r->err);
    if (read_items(r, outages, read_outage) != LKS_OK)
        return r->err->code;
    return read_items(r, quiets, read_quiet);
}

/* Hosts by name ------------------------------------------------------------------------------ */

static int by_name(const void *left, const void *right)
{
    const struct lks_fleet_host *a = left, *b = right;
    return lks_str_cmp(a->name, b->name);
}

static size_t list_hosts(const struct lks_group *groups, size_t count, struct lks_fleet_host *out)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t h = 0; h < groups[i].hosts.count; h++)
            out[listed++] = (struct lks_fleet_host){groups[i].hosts.names[h], &groups[i]};
    return listed;
}

static enum lks_code sort_hosts(struct reader *r)
{
    struct lks_fleet *f = r->fleet;
    f->hosts =
        lks_arena_array(&r->docs->arena, f->node_count + f->asset_count + 1, sizeof(f->hosts[0]));
    if (f->hosts == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    size_t nodes = list_hosts(f->nodes, f->node_groups, f->hosts);
    size_t assets = list_hosts(f->assets, f->asset_groups, f->hosts + nodes);
    qsort(f->hosts, nodes + assets, sizeof(f->hosts[0]), by_name);
    return LKS_OK;
}

const struct lks_group *lks_fleet_group(const struct lks_fleet *fleet, struct lks_str host)
{
    size_t count = fleet->node_count + fleet->asset_count;
    struct lks_fleet_host wanted = {.name = host};
    const struct lks_fleet_host *found =
        count > 0 ? bsearch(&wanted, fleet->hosts, count, sizeof(wanted), by_name) : NULL;
    return found != NULL ? found->group : NULL;
}

enum lks_code lks_fleet_parse(struct lks_docs *docs, const struct lks_doc *doc,
                              const struct lks_class_lookup *lookup, struct lks_fleet *out,
                              struct lks_err *err)
{
    struct lks_fleet fleet = {.name = lks_doc_text(doc, "name"), .doc = doc};
    LKS_CLEANUP(reader_fini)
    struct reader r = {.docs = docs, .doc = doc, .lookup = lookup, .fleet = &fleet, .err = err};
    if (read_names(&r) != LKS_OK || read_pools(&r) != LKS_OK ||
        read_groups(&r, "nodes", &fleet.nodes, read_node_group) != LKS_OK ||
        read_groups(&r, "assets", &fleet.assets, read_asset_group) != LKS_OK ||
        check_domains(&r) != LKS_OK || check_zones(&r) != LKS_OK || read_calendar(&r) != LKS_OK)
        return err->code;
    if (lks_doc_is_faulty(docs)) /* not all hosts were counted */
        return LKS_OK;
    if (sort_hosts(&r) != LKS_OK)
        return err->code;
    *out = fleet;
    return LKS_OK;
}

/* Looking things up ------------------------------------------------------------------------- */

const struct lks_pool *lks_fleet_find_pool(const struct lks_fleet *fleet, struct lks_str name)
{
    for (size_t i = 0; i < fleet->pool_count; i++) {
        if (lks_str_eq(fleet->pools[i].name, name))
            return &fleet->pools[i];
    }
    return NULL;
}

static const struct lks_doc *entry(const struct lks_fleet *fleet, const char *map,
                                   struct lks_str name)
{
    const struct lks_doc *doc = lks_doc_member(fleet->doc, map);
    return doc != NULL ? lks_doc_find(doc, name) : NULL;
}

struct lks_str lks_fleet_timezone(const struct lks_fleet *fleet, struct lks_str site)
{
    const struct lks_doc *doc = entry(fleet, "sites", site);
    return doc != NULL ? lks_schema_text(doc, &site_form, "timezone") : LKS_STR("UTC");
}

struct lks_power lks_fleet_power(const struct lks_fleet *fleet, struct lks_str zone)
{
    const struct lks_doc *doc = entry(fleet, "power_zones", zone);
    return (struct lks_power){number_or_zero(doc, "budget_kw"), number_or_zero(doc, "ramp_kw")};
}

int64_t lks_fleet_spares(const struct lks_fleet *fleet, struct lks_str class)
{
    const struct lks_doc *count = entry(fleet, "spares", class);
    return count != NULL ? count->number : 0;
}
