#include "model/fleet.h"

#include "base/intern.h"
#include "base/near.h"
#include "model/tables.h"

/* The table of a fleet ---------------------------------------------------------------------- */

static const struct lks_field site_fields[] = {
    {"timezone", LKS_OF(TEXT), 0, "UTC", "zone in which its maintenance windows are written"},
    {"power_budget_kw", LKS_NUMBERS(1, 10000000), 0, NULL, "power of the whole site"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_record site_record = {
    .name = "site", .about = "one place with machines", LKS_FIELDS(site_fields)};

static const struct lks_field zone_fields[] = {
    {"site", LKS_OF(NAME), LKS_REQUIRED, NULL, "site it belongs to"},
    {"budget_kw", LKS_NUMBERS(1, 10000000), 0, NULL, "power that may be drawn in it"},
};
static const struct lks_record zone_record = {
    .name = "power zone", .about = "what one feed supplies", LKS_FIELDS(zone_fields)};

static const struct lks_field policy_fields[] = {
    {"branches", LKS_LIST_FROM_TO(1, 4, LKS_ONE_OF("LTSB", "PB", "NFB", "dev")), LKS_SET, NULL,
     "types of driver branch a stack may use here"},
    {"min_age_days", LKS_NUMBERS(0, 3650), 0, NULL, "days a driver must have been out"},
    {"minor", LKS_OF(BOOL), 0, "true", "whether minor-version compatibility is acceptable"},
    {"forward", LKS_OF(BOOL), 0, "false", "whether a cuda-compat package is acceptable"},
};
static const struct lks_record policy_record = {
    .name = "version policy", .about = "what a pool accepts", LKS_FIELDS(policy_fields)};

static const struct lks_field pool_fields[] = {
    {"posture", LKS_ONE_OF("pre-training", "post-training", "online-inference", "batch", "dev"),
     LKS_REQUIRED, NULL, "class of workload, which decides how tightly it pins"},
    {"criticality", LKS_NUMBERS(0, 100), 0, NULL, "pools change in rising order"},
    {"enforce", LKS_ONE_OF("observe", "warn", "on"), 0, "observe",
     "whether jobs are refused, or it is only counted what would have been"},
    {"sched", LKS_ONE_OF("none", "slurm", "kubernetes"), 0, "none", "scheduler of the pool"},
    {"stack", LKS_OF(NAME), 0, NULL, "stack the pool is pinned to"},
    {"version_policy", LKS_RECORD(policy_record), 0, NULL, "what versions it accepts"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_record pool_record = {
    .name = "pool", .about = "nodes of one workload class", LKS_FIELDS(pool_fields)};

static const struct lks_field domain_fields[] = {
    {"site", LKS_OF(NAME), 0, NULL, "site it stands in"},
    {"spares", LKS_NUMBERS(0, 1024), 0, NULL, "nodes it can lose and still serve"},
    {"description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"},
};
static const struct lks_record domain_record = {
    .name = "domain", .about = "what changes together", LKS_FIELDS(domain_fields)};

static const struct lks_field bmc_fields[] = {
    {"url", LKS_OF(URL), LKS_REQUIRED, NULL, "https://bmc-{host}.example, {host} being the name"},
    {"trust", LKS_OF(TEXT), 0, NULL, "file:/CA.pem, or fingerprint (recorded by bmc trust)"},
    {"credentials", LKS_OF(SECRET), LKS_REQUIRED, NULL, "file:/PATH or exec:/PROGRAM"},
};
static const struct lks_record bmc_record = {
    .name = "bmc", .about = "the management endpoint", LKS_FIELDS(bmc_fields)};

#define PLACE_FIELDS                                                                               \
    {"hosts", LKS_OF(HOSTS), LKS_REQUIRED, NULL, "names, such as gpu[001-512]"},                   \
        {"site", LKS_OF(NAME), 0, NULL, "site they stand in"},                                     \
        {"domain", LKS_OF(NAME), 0, NULL, "domain they change with"},                              \
        {"rack", LKS_OF(TEXT), 0, NULL, "rack they stand in"},                                     \
        {"power_zone", LKS_OF(NAME), 0, NULL, "feed that supplies them"},                          \
        {"cooling_loop", LKS_OF(TEXT), 0, NULL, "loop that cools them"},                           \
        {"hardware_revision", LKS_OF(TEXT), 0, NULL, "revision of the board or tray"},             \
        {"supplier", LKS_OF(TEXT), 0, NULL, "who built them"},                                     \
        {"side", LKS_ONE_OF("a", "b"), 0, NULL, "side of a redundant pair"},                       \
    {                                                                                              \
        "bmc", LKS_RECORD(bmc_record), 0, NULL, "management endpoint"                              \
    }

static const struct lks_field node_fields[] = {
    PLACE_FIELDS,
    {"pool", LKS_OF(NAME), LKS_REQUIRED, NULL, "pool they belong to"},
    {"class", LKS_OF(NAME), LKS_REQUIRED, NULL, "hardware class"},
};
static const struct lks_record node_record = {
    .name = "node group", .about = "nodes written down together", LKS_FIELDS(node_fields)};

static const struct lks_field asset_fields[] = {
    PLACE_FIELDS,
    {"class",
     LKS_ONE_OF("switch-tray", "power-shelf", "bbu", "cdu", "rack-controller", "dpu", "switch",
                "other"),
     LKS_REQUIRED, NULL, "what it is"},
};
static const struct lks_record asset_record = {
    .name = "asset group", .about = "assets written down together", LKS_FIELDS(asset_fields)};

static const struct lks_field fleet_fields[] = {
    LKS_ENVELOPE("Fleet"),
    {"sites", LKS_DICT(LKS_RECORD(site_record)), 0, NULL, "places with machines"},
    {"power_zones", LKS_DICT(LKS_RECORD(zone_record)), 0, NULL, "feeds and their budgets"},
    {"pools", LKS_DICT(LKS_RECORD(pool_record)), LKS_REQUIRED, NULL, "nodes by workload"},
    {"domains", LKS_DICT(LKS_RECORD(domain_record)), 0, NULL, "what changes together"},
    {"nodes", LKS_LIST_FROM_TO(1, 100000, LKS_RECORD(node_record)), LKS_REQUIRED, NULL,
     "nodes by host list"},
    {"assets", LKS_LIST(LKS_RECORD(asset_record)), 0, NULL, "what has firmware and is no node"},
};
const struct lks_record lks_fleet_record = {
    .name = "Fleet",
    .about = "Sites, pools, nodes, assets and the domains that change together.",
    LKS_FIELDS(fleet_fields)};

/* Reading ----------------------------------------------------------------------------------- */

enum { HOST_BYTES_MAX = 256 * 1024 * 1024 };

struct reader {
    struct lks_docs *docs;
    const struct lks_doc *doc;
    const struct lks_class_lookup *lookup;
    struct lks_fleet *fleet;
    struct lks_intern *hosts;
    struct lks_err *err;
};

#define FAIL(r, at, ...) lks_doc_fail((r)->docs, (at), (r)->err, __VA_ARGS__)

static bool truth_or(const struct lks_doc *map, const char *key, bool absent)
{
    const struct lks_doc *member = lks_doc_member(map, key);
    return member != NULL ? member->truth : absent;
}

static int64_t number_or(const struct lks_doc *map, const char *key, int64_t absent)
{
    const struct lks_doc *member = lks_doc_member(map, key);
    return member != NULL ? member->number : absent;
}

static struct lks_str text_or(const struct lks_doc *map, const char *key, const char *absent)
{
    struct lks_str text = lks_doc_text(map, key);
    return text.len > 0 ? text : lks_str_from(absent);
}

static void read_policy(const struct lks_doc *doc, struct lks_version_policy *out)
{
    *out = (struct lks_version_policy){
        .min_age_days = number_or(doc, "min_age_days", 0),
        .minor = truth_or(doc, "minor", true),
        .forward = truth_or(doc, "forward", false),
    };
    const struct lks_doc *branches = lks_doc_member(doc, "branches");
    const struct lks_doc *first = branches != NULL ? branches->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next)
        out->branches[out->branch_count++] = item->text;
}

static enum lks_code read_pools(struct reader *r)
{
    const struct lks_doc *pools = lks_doc_member(r->doc, "pools");
    r->fleet->pools = lks_arena_array(&r->docs->arena, pools->count + 1, sizeof(struct lks_pool));
    if (r->fleet->pools == NULL)
        return lks_arena_fail(&r->docs->arena, r->err);
    for (const struct lks_doc *item = pools->first; item != NULL; item = item->next) {
        struct lks_pool *pool = &r->fleet->pools[r->fleet->pool_count++];
        *pool = (struct lks_pool){
            .name = item->key,
            .posture = lks_doc_text(item, "posture"),
            .enforce = text_or(item, "enforce", "observe"),
            .sched = text_or(item, "sched", "none"),
            .stack = lks_doc_text(item, "stack"),
            .criticality = number_or(item, "criticality", 0),
            .doc = item,
        };
        read_policy(lks_doc_member(item, "version_policy"), &pool->policy);
    }
    return LKS_OK;
}

/* `at` may name a member of the fleet's map `map_name`; what it names must be there. */
static enum lks_code check_reference(const struct reader *r, const struct lks_doc *group,
                                     const char *key, const char *map_name)
{
    const struct lks_doc *at = lks_doc_member(group, key);
    const struct lks_doc *map = lks_doc_member(r->doc, map_name);
    if (at == NULL)
        return LKS_OK;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(at->text);
    const struct lks_doc *first = map != NULL ? map->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (lks_str_eq(item->key, at->text))
            return LKS_OK;
        lks_near_try(&near, item->key);
    }
    return FAIL(r, at, "no '%" LKS_STR_FMT "' under %s%s", LKS_STR_ARG(at->text), map_name,
                lks_near_hint(&near, hint));
}

static enum lks_code read_hosts(struct reader *r, const struct lks_doc *doc,
                                struct lks_hostlist *out)
{
    const struct lks_doc *at = lks_doc_member(doc, "hosts");
    if (lks_hostlist_parse(at->text, &r->docs->arena, out, r->err) != LKS_OK)
        return lks_wrap(r->err, "%" LKS_STR_FMT ":%u", LKS_STR_ARG(r->docs->source), at->line);
    for (size_t i = 0; i < out->count; i++) {
        uint32_t id;
        if (lks_intern_find(r->hosts, out->names[i], &id))
            return FAIL(r, at, "host '%" LKS_STR_FMT "' is already named in this fleet",
                        LKS_STR_ARG(out->names[i]));
        if (lks_intern_id(r->hosts, out->names[i], &id, r->err) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

static enum lks_code read_place(struct reader *r, const struct lks_doc *doc, struct lks_group *out)
{
    static const struct {
        const char *key, *map;
    } references[] = {{"site", "sites"}, {"domain", "domains"}, {"power_zone", "power_zones"}};
    for (size_t i = 0; i < LKS_COUNT(references); i++) {
        if (check_reference(r, doc, references[i].key, references[i].map) != LKS_OK)
            return r->err->code;
    }
    *out = (struct lks_group){
        .site = lks_doc_text(doc, "site"),
        .domain = lks_doc_text(doc, "domain"),
        .rack = lks_doc_text(doc, "rack"),
        .power_zone = lks_doc_text(doc, "power_zone"),
        .cooling_loop = lks_doc_text(doc, "cooling_loop"),
        .hardware_revision = lks_doc_text(doc, "hardware_revision"),
        .supplier = lks_doc_text(doc, "supplier"),
        .side = lks_doc_text(doc, "side"),
        .doc = doc,
    };
    return read_hosts(r, doc, &out->hosts);
}

static enum lks_code read_node_group(struct reader *r, const struct lks_doc *doc)
{
    struct lks_group *group = &r->fleet->nodes[r->fleet->node_groups++];
    if (read_place(r, doc, group) != LKS_OK || check_reference(r, doc, "pool", "pools") != LKS_OK)
        return r->err->code;
    for (size_t i = 0; i < r->fleet->pool_count; i++) {
        if (lks_str_eq(r->fleet->pools[i].name, lks_doc_text(doc, "pool")))
            group->pool = &r->fleet->pools[i];
    }
    const struct lks_doc *class = lks_doc_member(doc, "class");
    group->class = lks_class_find(r->lookup, class->text);
    if (group->class == NULL)
        return lks_class_fail(r->lookup, r->docs, class, r->err);
    r->fleet->node_count += group->hosts.count;
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
        if (take(r, item) != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

/* A domain holds as many nodes of a class as that class's NVLink domain takes: a rack with a tray
 * too few or too many is a mistake of the list, not a rack. */
static enum lks_code check_domain(const struct reader *r, const struct lks_doc *domain)
{
    int64_t gpus = 0, wanted = 0;
    for (size_t i = 0; i < r->fleet->node_groups; i++) {
        const struct lks_group *g = &r->fleet->nodes[i];
        if (!lks_str_eq(g->domain, domain->key))
            continue;
        gpus += g->class->gpus * (int64_t)g->hosts.count;
        if (g->class->nvlink_domain > g->class->gpus)
            wanted = g->class->nvlink_domain;
    }
    if (wanted > 0 && gpus != wanted)
        return FAIL(r, domain, "its nodes hold %lld GPUs, and one NVLink domain holds %lld",
                    (long long)gpus, (long long)wanted);
    return LKS_OK;
}

static enum lks_code check_domains(const struct reader *r)
{
    const struct lks_doc *domains = lks_doc_member(r->doc, "domains");
    const struct lks_doc *first = domains != NULL ? domains->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (check_reference(r, item, "site", "sites") != LKS_OK || check_domain(r, item) != LKS_OK)
            return r->err->code;
    }
    const struct lks_doc *zones = lks_doc_member(r->doc, "power_zones");
    first = zones != NULL ? zones->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        if (check_reference(r, item, "site", "sites") != LKS_OK)
            return r->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_fleet_parse(struct lks_docs *docs, const struct lks_doc *doc,
                              const struct lks_class_lookup *lookup, struct lks_fleet *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_intern_fini) struct lks_intern hosts = {0};
    lks_intern_init(&hosts, HOST_BYTES_MAX);
    struct lks_fleet fleet = {.name = lks_doc_text(doc, "name"), .doc = doc};
    struct reader r = {docs, doc, lookup, &fleet, &hosts, err};
    if (read_pools(&r) != LKS_OK ||
        read_groups(&r, "nodes", &fleet.nodes, read_node_group) != LKS_OK ||
        read_groups(&r, "assets", &fleet.assets, read_asset_group) != LKS_OK ||
        check_domains(&r) != LKS_OK)
        return err->code;
    *out = fleet;
    return LKS_OK;
}
