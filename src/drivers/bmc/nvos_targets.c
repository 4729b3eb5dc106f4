/* The components of a switch tray that are to be updated, and what they have. */
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/nvos_update.h"

static bool is_wanted(const struct lks_nvos_update *u, const char *version)
{
    return lks_bmc_version_same(lks_str_from(version), lks_str_from(u->version));
}

size_t lks_nvos_agreeing(const struct lks_nvos_update *u)
{
    size_t count = 0;
    for (size_t i = 0; i < u->target_count; i++)
        count += is_wanted(u, u->targets[i].version);
    return count;
}

bool lks_nvos_runs_it(const struct lks_nvos_update *u, size_t at)
{
    return at < u->target_count && is_wanted(u, u->targets[at].version);
}

bool lks_nvos_has_it(const struct lks_nvos_update *u, size_t at)
{
    return lks_nvos_runs_it(u, at) || (at < u->target_count && u->targets[at].staged);
}

bool lks_nvos_is_partial(const struct lks_nvos_update *u)
{
    return u->at >= u->target_count || u->target_count < u->expected;
}

bool lks_nvos_all_installed(const struct lks_nvos_update *u)
{
    for (size_t i = 0; i < u->target_count; i++) {
        if (!lks_nvos_has_it(u, i))
            return false;
    }
    return u->target_count >= u->expected && u->target_count > 0;
}

const char *lks_nvos_found(const struct lks_nvos_update *u)
{
    for (size_t i = 0; i < u->target_count; i++) {
        if (!is_wanted(u, u->targets[i].version))
            return u->targets[i].version[0] != '\0' ? u->targets[i].version : "no version";
    }
    return u->target_count > 0 ? u->targets[0].version : "nothing";
}

const char *lks_nvos_newer(const struct lks_nvos_update *u)
{
    enum lks_version_scheme scheme = lks_facts_scheme(u->facts, lks_str_from(u->kind));
    for (size_t i = 0; i < u->target_count; i++) {
        if (lks_bmc_version_older(lks_str_from(u->version), lks_str_from(u->targets[i].version),
                                  scheme))
            return u->targets[i].version;
    }
    return NULL;
}

/* For a component, at its place. */
static struct lks_nvos_target *make_room(struct lks_nvos_update *u, struct lks_str id)
{
    size_t at = u->target_count++;
    for (; at > 0 && lks_str_cmp(id, lks_str_from(u->targets[at - 1].id)) < 0; at--)
        u->targets[at] = u->targets[at - 1];
    return &u->targets[at];
}

static void take_entry(struct lks_nvos_update *u, const struct lks_doc *doc)
{
    struct lks_nvos_entry e;
    lks_nvos_entry(u->facts, doc, &e);
    struct lks_str component = lks_str_from(u->component);
    if (!lks_str_eq(e.id, component) && (e.class.len == 0 || !lks_str_eq(e.class, component)))
        return;
    if (u->target_count == LKS_NVOS_TARGETS_MAX || e.id.len >= sizeof(u->targets[0].id)) {
        u->left_out++;
        return;
    }
    struct lks_nvos_target *t = make_room(u, e.id);
    lks_redfish_keep(t->id, sizeof(t->id), e.id);
    lks_redfish_keep(t->version, sizeof(t->version), e.version);
    t->staged = lks_bmc_version_same(e.staged, lks_str_from(u->version));
    lks_redfish_keep(u->kind, sizeof(u->kind), e.class);
}

void lks_nvos_read_targets(struct lks_nvos_update *u, const struct lks_doc *list)
{
    u->target_count = u->left_out = 0;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        if (one->kind == LKS_DOC_MAP)
            take_entry(u, one);
    }
    for (u->at = 0; u->at < u->target_count && strcmp(u->targets[u->at].id, u->turn) != 0; u->at++)
        ;
}
