/* Rules about time, people and what a site says: life times, edges, advisories, policies. */
#include "base/buf.h"
#include "base/near.h"
#include "core/advisory.h"
#include "core/check_rules.h"

#include <stdio.h>

#define S(s) LKS_STR_ARG(s)

/* Edges ------------------------------------------------------------------------------------- */

/* What an edge speaks of, as the stack has it: a component's version or a setting's value. */
struct value {
    struct lks_str text;
    bool setting;
    char number[24];
};

static bool setting_value(const struct lks_checking *c, struct lks_str path, struct value *out)
{
    char name[64];
    if (path.len >= sizeof(name))
        return false;
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    const struct lks_doc *doc = lks_stack_setting(c->stack, name);
    out->setting = true;
    if (doc == NULL || doc->kind == LKS_DOC_MAP || doc->kind == LKS_DOC_LIST)
        return false;
    if (doc->kind == LKS_DOC_BOOL)
        out->text = doc->truth ? LKS_STR("true") : LKS_STR("false");
    else if (doc->kind == LKS_DOC_TEXT)
        out->text = doc->text;
    else {
        snprintf(out->number, sizeof(out->number), "%lld", (long long)doc->number);
        out->text = lks_str_from(out->number);
    }
    return true;
}

/* Firmware by its class alone. */
static struct lks_str bare_name(struct lks_str name)
{
    size_t skip = lks_str_starts(name, "firmware/") ? strlen("firmware/") : 0;
    return (struct lks_str){name.ptr + skip, name.len - skip};
}

/* The next value called `name`, from `*at` on, which starts at 0: firmware may be pinned for
 * several parts and sides, and an edge holds for each of them. */
static bool next_value(const struct lks_checking *c, struct lks_str name, size_t *at,
                       struct value *out)
{
    *out = (struct value){0};
    if (lks_str_starts(name, "settings.")) {
        size_t prefix = strlen("settings.");
        return (*at)++ == 0 &&
               setting_value(c, (struct lks_str){name.ptr + prefix, name.len - prefix}, out);
    }
    while (*at < c->stack->component_count) {
        const struct lks_component *component = &c->stack->components[(*at)++];
        bool same =
            lks_str_eq(component->name, name) || lks_str_eq(bare_name(component->name), name);
        if (component->version.len > 0 && same) {
            out->text = component->version;
            return true;
        }
    }
    return false;
}

/* A setting is compared as text ("cdmm", "!=true"), a version by its component's order. */
static bool inside(const struct lks_checking *c, struct lks_str name, const struct value *value,
                   struct lks_str range_text)
{
    if (range_text.len == 0)
        return true;
    if (value->setting) {
        bool not_equal = lks_str_starts(range_text, "!=");
        size_t skip = not_equal ? 2 : lks_str_starts(range_text, "=") ? 1 : 0;
        struct lks_str wanted = {range_text.ptr + skip, range_text.len - skip};
        return lks_str_eq(value->text, wanted) != not_equal;
    }
    enum lks_version_scheme scheme = lks_facts_scheme(c->facts, name);
    struct lks_range range;
    struct lks_err ignored = {0};
    return lks_range_parse(range_text, scheme, &range, &ignored) == LKS_OK &&
           lks_range_has(&range, value->text, scheme);
}

static bool edge_applies(const struct lks_checking *c, const struct lks_edge *edge)
{
    bool board = edge->gpus.len == 0;
    for (size_t i = 0; i < c->board_count; i++)
        board = board || lks_board_in_families(c->boards[i], edge->gpus);
    if (!board || edge->component.len == 0)
        return board;
    struct value value;
    for (size_t at = 0; next_value(c, edge->component, &at, &value);) {
        if (inside(c, edge->component, &value, edge->range))
            return true;
    }
    return false;
}

/* "container-toolkit >=1.19.1 requires containerd >=1.7.16; the stack has 1.6.0 (ctk-containerd)"
 */
static void note_edge(struct lks_checking *c, const struct lks_edge *edge,
                      const struct value *other)
{
    struct lks_str who = edge->component.len > 0 ? edge->component : edge->gpus;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, 4096);
    lks_buf_addf(&text,
                 "%" LKS_STR_FMT "%s%" LKS_STR_FMT " %s %" LKS_STR_FMT " %" LKS_STR_FMT
                 "; the stack has %" LKS_STR_FMT,
                 S(who), edge->range.len > 0 ? " " : "", S(edge->range),
                 edge->kind == LKS_CONFLICTS ? "conflicts with" : "requires", S(edge->other),
                 S(edge->other_range), S(other->text));
    if (edge->condition.len > 0)
        lks_buf_addf(&text, "; this matters where %" LKS_STR_FMT, S(edge->condition));
    if (edge->fact.note.len > 0)
        lks_buf_addf(&text, "; %" LKS_STR_FMT, S(edge->fact.note));
    struct lks_str view = lks_buf_view(&text);
    /* A condition nobody can see here, of a fact that is not sure either, is worth a mention. */
    enum lks_severity severity = edge->condition.len == 0             ? LKS_ERROR
                                 : edge->fact.status == LKS_CONFIRMED ? LKS_WARNING
                                                                      : LKS_INFO;
    LKS_NOTE_FINDING(c, severity, edge->other, &edge->fact, "%" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                     S(view), S(edge->id));
}

enum lks_code lks_rule_edges(struct lks_checking *c)
{
    for (size_t i = 0; i < c->facts->edges.count; i++) {
        const struct lks_edge *edge = &c->facts->edges.rows[i];
        struct value other;
        if (!edge_applies(c, edge))
            continue;
        for (size_t at = 0; next_value(c, edge->other, &at, &other);) {
            if (inside(c, edge->other, &other, edge->other_range) == (edge->kind == LKS_CONFLICTS))
                note_edge(c, edge, &other);
        }
    }
    return LKS_OK;
}

/* Life times -------------------------------------------------------------------------------- */

enum lks_code lks_rule_lifecycle(struct lks_checking *c)
{
    struct lks_str driver = lks_stack_version(c->stack, "driver");
    const struct lks_branch *branch =
        driver.len > 0 ? lks_facts_branch(c->facts, lks_version_major(driver)) : NULL;
    if (branch == NULL)
        return LKS_OK;
    if (branch->eol == LKS_DAY_NONE) {
        LKS_NOTE_FINDING(c, LKS_INFO, LKS_STR("driver"), &branch->fact,
                         "no end of support is published for R%d", branch->number);
        return LKS_OK;
    }
    int32_t left = branch->eol - c->in->today;
    if (left > LKS_CHECK_EOL_DAYS)
        return LKS_OK;
    char end[LKS_DAY_TEXT_SIZE], other[LKS_DAY_TEXT_SIZE] = "";
    bool disagree = branch->eol_other != LKS_DAY_NONE && branch->eol_other != branch->eol;
    if (disagree)
        lks_day_text(branch->eol_other, other);
    LKS_NOTE_FINDING(c, LKS_WARNING, LKS_STR("driver"), &branch->fact,
                     "support of branch R%d %s %s (%d days %s)%s%s", branch->number,
                     left < 0 ? "ended on" : "ends on", lks_day_text(branch->eol, end),
                     left < 0 ? -left : left, left < 0 ? "ago" : "left",
                     disagree ? "; another source says " : "", other);
    lks_report_remedy(c->out, "plan the move to a branch that lives: lockstep lifecycle");
    return LKS_OK;
}

enum lks_code lks_rule_last_branch(struct lks_checking *c)
{
    for (size_t i = 0; i < c->board_count; i++) {
        const struct lks_gpu *gpu = c->boards[i];
        const struct lks_branch *last =
            gpu->max_driver_branch > 0 ? lks_facts_branch(c->facts, gpu->max_driver_branch) : NULL;
        char end[LKS_DAY_TEXT_SIZE];
        if (last == NULL || last->eol == LKS_DAY_NONE)
            continue;
        LKS_NOTE_FINDING(c, LKS_WARNING, gpu->product, &gpu->fact,
                         "%" LKS_STR_FMT " can never leave R%d, whose support ends on %s: that is "
                         "the end of the hardware's support",
                         S(gpu->architecture), gpu->max_driver_branch,
                         lks_day_text(last->eol, end));
    }
    return LKS_OK;
}

/* People and habits ------------------------------------------------------------------------- */

enum lks_code lks_rule_unattended(struct lks_checking *c)
{
    const struct lks_doc *setting = lks_stack_setting(c->stack, "unattended_upgrades");
    if (setting != NULL && setting->kind == LKS_DOC_BOOL && !setting->truth)
        return LKS_OK;
    LKS_NOTE_FINDING(c, LKS_WARNING, LKS_STR("settings.unattended_upgrades"), NULL,
                     "%s: a package manager may replace kernel or driver under a running job",
                     setting != NULL ? "is true" : "is not set");
    lks_report_remedy(c->out, "set unattended_upgrades: false");
    return LKS_OK;
}

enum lks_code lks_rule_one_way(struct lks_checking *c)
{
    for (size_t i = 0; i < c->stack->component_count; i++) {
        const struct lks_component *component = &c->stack->components[i];
        if (lks_str_is(component->revert, "one-way"))
            LKS_NOTE_FINDING(c, LKS_INFO, component->label, NULL,
                             "%" LKS_STR_FMT
                             " cannot be taken back: it goes last, soaks longer, and its way back "
                             "is a spare",
                             S(component->version));
    }
    return LKS_OK;
}

static void note_spelling(struct lks_checking *c, const struct lks_component *component)
{
    struct lks_str bare = bare_name(component->name);
    enum lks_component_sort sort = bare.len < component->name.len ? LKS_FIRMWARE : LKS_SOFTWARE;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(bare);
    for (size_t i = 0; i < c->facts->components.count; i++) {
        if (c->facts->components.rows[i].sort == sort)
            lks_near_try(&near, c->facts->components.rows[i].name);
    }
    if (near.best.len > 0)
        LKS_NOTE_FINDING(c, LKS_WARNING, component->label, NULL, "nobody knows this component%s",
                         lks_near_hint(&near, hint));
}

enum lks_code lks_rule_spelling(struct lks_checking *c)
{
    for (size_t i = 0; i < c->stack->component_count; i++) {
        if (lks_facts_component(c->facts, c->stack->components[i].name) == NULL)
            note_spelling(c, &c->stack->components[i]);
    }
    return LKS_OK;
}

enum lks_code lks_rule_advisories(struct lks_checking *c)
{
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list list = {0};
    if (lks_advisories_of(c->facts, c->stack, &list, c->err) != LKS_OK)
        return c->err->code;
    size_t exposed = 0, unsure = 0;
    for (size_t i = 0; i < list.count; i++) {
        exposed += list.open[i].exposure == LKS_EXPOSED;
        unsure += list.open[i].exposure != LKS_EXPOSED;
    }
    if (exposed > 0) {
        const struct lks_advisory *worst = list.open[0].advisory;
        LKS_NOTE_FINDING(c, LKS_WARNING, list.open[0].component->name, &worst->fact,
                         "%zu known flaw%s open; the worst is %" LKS_STR_FMT " (%" LKS_STR_FMT
                         ", %" LKS_STR_FMT ")",
                         exposed, exposed == 1 ? " is" : "s are", S(worst->id), S(worst->cvss),
                         S(worst->summary));
        lks_report_remedy(c->out, "lockstep advisories FILE lists what closes each");
    }
    if (unsure > 0)
        LKS_NOTE_FINDING(c, LKS_INFO, list.open[list.count - 1].component->name, NULL,
                         "%zu known flaw%s to be checked by hand: lockstep advisories FILE", unsure,
                         unsure == 1 ? " has" : "s have");
    return LKS_OK;
}

/* Version policies -------------------------------------------------------------------------- */

static void check_branch_type(struct lks_checking *c, const struct lks_pool *pool,
                              const struct lks_branch *branch)
{
    for (size_t i = 0; i < pool->policy.branch_count; i++) {
        if (lks_str_eq(pool->policy.branches[i], branch->type))
            return;
    }
    if (pool->policy.branch_count > 0)
        LKS_NOTE_FINDING(c, LKS_ERROR, pool->name, &branch->fact,
                         "branch R%d is of type %" LKS_STR_FMT ", which the pool does not accept",
                         branch->number,
                         S(branch->type.len > 0 ? branch->type : LKS_STR("unknown")));
}

static void check_age(struct lks_checking *c, const struct lks_pool *pool, struct lks_str version)
{
    const struct lks_driver *driver = lks_facts_driver(c->facts, version);
    if (pool->policy.min_age_days == 0)
        return;
    if (driver == NULL || driver->date == LKS_DAY_NONE) {
        LKS_NOTE_FINDING(c, LKS_WARNING, pool->name, NULL,
                         "nobody says how old driver %" LKS_STR_FMT
                         " is, and the pool wants %lld days",
                         S(version), (long long)pool->policy.min_age_days);
        return;
    }
    int64_t age = (int64_t)c->in->today - driver->date;
    if (age < pool->policy.min_age_days)
        LKS_NOTE_FINDING(c, LKS_ERROR, pool->name, &driver->fact,
                         "driver %" LKS_STR_FMT " is %lld days old, and the pool wants %lld",
                         S(version), (long long)age, (long long)pool->policy.min_age_days);
}

static void check_reason(struct lks_checking *c, const struct lks_pool *pool)
{
    struct lks_compat_question q = {
        .driver = lks_stack_version(c->stack, "driver"),
        .toolkit = lks_stack_version(c->stack, "cuda"),
        .compat_package = lks_stack_version(c->stack, "cuda-compat"),
    };
    for (size_t i = 0; i < c->board_count && q.driver.len > 0 && q.toolkit.len > 0; i++) {
        enum lks_reason reason = lks_compat_judge(c->facts, &q, c->boards[i], NULL);
        bool refused = (reason == LKS_MINOR && !pool->policy.minor) ||
                       (reason == LKS_FORWARD && !pool->policy.forward);
        if (refused)
            LKS_NOTE_FINDING(c, LKS_ERROR, pool->name, NULL,
                             "%" LKS_STR_FMT " runs as %s, which the pool does not accept",
                             S(c->boards[i]->product), lks_reason_name(reason));
    }
}

enum lks_code lks_rule_policy(struct lks_checking *c)
{
    size_t pools = c->in->fleet != NULL ? c->in->fleet->pool_count : 0;
    for (size_t i = 0; i < pools; i++) {
        const struct lks_pool *pool = &c->in->fleet->pools[i];
        struct lks_str driver = lks_stack_version(c->stack, "driver");
        const struct lks_branch *branch =
            driver.len > 0 ? lks_facts_branch(c->facts, lks_version_major(driver)) : NULL;
        if (!lks_str_eq(pool->stack, c->stack->name))
            continue;
        if (branch != NULL)
            check_branch_type(c, pool, branch);
        if (driver.len > 0)
            check_age(c, pool, driver);
        check_reason(c, pool);
    }
    return LKS_OK;
}
