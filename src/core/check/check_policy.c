/* Rules about time, people and what a site says: life times, edges, advisories, policies. */
#include "base/buf.h"
#include "base/near.h"
#include "core/check/check_rules.h"
#include "core/compat/advisory.h"
#include "core/compat/lifecycle.h"
#include "core/compat/policy.h"

#include <stdio.h>

enum { EDGE_TEXT_MAX = 64 * 1024 };

/* Edges ------------------------------------------------------------------------------------- */

/* What an edge speaks of, as the stack has it: a component's version or a setting's value. */
struct value {
    struct lks_str text;
    bool setting;
    bool unread; /* it is there, as a list or a map, which nothing is compared with */
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
    out->unread = doc != NULL && (doc->kind == LKS_DOC_MAP || doc->kind == LKS_DOC_LIST);
    if (doc == NULL || out->unread)
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
        bool same = lks_str_eq(component->name, name) ||
                    lks_str_eq(lks_component_bare(component->name), name);
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
    return lks_version_range_parse(range_text, scheme, &range, &ignored) == LKS_OK &&
           lks_version_range_has(&range, value->text, scheme);
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

/* "container-toolkit >=1.19.1 requires containerd >=1.7.16; the stack has 1.6.0 (ctk-containerd)",
 * or what `state` says in the place of "the stack has 1.6.0". */
static void note_edge(struct lks_checking *c, const struct lks_edge *edge,
                      enum lks_severity severity, struct lks_str state)
{
    struct lks_str who = edge->component.len > 0 ? edge->component : edge->gpus;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(EDGE_TEXT_MAX);
    lks_buf_addf(
        &text,
        "%" LKS_STR_FMT "%s%" LKS_STR_FMT " %s %" LKS_STR_FMT "%s%" LKS_STR_FMT "; %" LKS_STR_FMT,
        LKS_STR_ARG(who), edge->range.len > 0 ? " " : "", LKS_STR_ARG(edge->range),
        edge->kind == LKS_CONFLICTS ? "conflicts with" : "requires", LKS_STR_ARG(edge->other),
        edge->other_range.len > 0 ? " " : "", LKS_STR_ARG(edge->other_range), LKS_STR_ARG(state));
    if (edge->condition.len > 0)
        lks_buf_addf(&text, "; this matters where %" LKS_STR_FMT, LKS_STR_ARG(edge->condition));
    if (edge->fact.note.len > 0)
        lks_buf_addf(&text, "; %" LKS_STR_FMT, LKS_STR_ARG(edge->fact.note));
    struct lks_str view = lks_buf_view(&text);
    LKS_NOTE_FINDING(c, severity, edge->other, &edge->fact, "%" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                     LKS_STR_ARG(view), LKS_STR_ARG(edge->id));
}

static void note_broken(struct lks_checking *c, const struct lks_edge *edge,
                        const struct value *other)
{
    /* A condition that cannot be evaluated here, of a fact that is not certain either, is worth a
     * mention. */
    enum lks_severity severity = edge->condition.len == 0             ? LKS_ERROR
                                 : edge->fact.status == LKS_CONFIRMED ? LKS_WARNING
                                                                      : LKS_INFO;
    note_edge(c, edge, severity,
              lks_report_text(c->out, "the stack has %" LKS_STR_FMT, LKS_STR_ARG(other->text)));
}

/* The built-in rows speak of software that a node may have or not (one container runtime of four,
 * say), and hold where both ends are there. A site that writes down that it requires something
 * means it to be pinned. */
static void note_missing(struct lks_checking *c, const struct lks_edge *edge)
{
    bool setting = lks_str_starts(edge->other, "settings.");
    if (edge->kind == LKS_REQUIRES && edge->site)
        note_edge(c, edge, edge->condition.len == 0 ? LKS_WARNING : LKS_INFO,
                  setting ? LKS_STR("the stack does not set it")
                          : LKS_STR("the stack does not pin it"));
}

enum lks_code lks_check_edges(struct lks_checking *c)
{
    for (size_t i = 0; i < c->facts->edges.count; i++) {
        const struct lks_edge *edge = &c->facts->edges.rows[i];
        struct value other;
        bool found = false;
        if (!edge_applies(c, edge))
            continue;
        for (size_t at = 0; next_value(c, edge->other, &at, &other); found = true) {
            if (inside(c, edge->other, &other, edge->other_range) == (edge->kind == LKS_CONFLICTS))
                note_broken(c, edge, &other);
        }
        if (!found && !other.unread)
            note_missing(c, edge);
    }
    return LKS_OK;
}

/* Life times -------------------------------------------------------------------------------- */

static const struct lks_branch *pinned_branch(const struct lks_checking *c)
{
    struct lks_str driver = lks_stack_version(c->stack, "driver");
    return driver.len > 0 ? lks_facts_branch(c->facts, lks_version_major(driver)) : NULL;
}

enum lks_code lks_check_lifecycle(struct lks_checking *c)
{
    const struct lks_branch *branch = pinned_branch(c);
    if (branch == NULL)
        return LKS_OK;
    lks_day end = lks_lifecycle_end(branch), other = lks_lifecycle_other_end(branch);
    if (end == LKS_DAY_NONE) {
        LKS_NOTE_FINDING(c, LKS_INFO, LKS_STR("driver"), &branch->fact,
                         "no end of support is published for R%d", branch->number);
        return LKS_OK;
    }
    int32_t left = end - c->in->today;
    if (left > LKS_CHECK_EOL_DAYS)
        return LKS_OK;
    char end_text[LKS_DAY_TEXT_SIZE], other_text[LKS_DAY_TEXT_SIZE] = "";
    if (other != LKS_DAY_NONE)
        lks_time_day_text(other, other_text);
    LKS_NOTE_FINDING(c, LKS_WARNING, LKS_STR("driver"), &branch->fact,
                     "support of branch R%d %s %s (%d days %s)%s%s", branch->number,
                     left < 0 ? "ended on" : "ends on", lks_time_day_text(end, end_text),
                     left < 0 ? -left : left, left < 0 ? "ago" : "left",
                     other != LKS_DAY_NONE ? "; another source says " : "", other_text);
    lks_report_remedy(c->out, "plan the move to a branch that lives: lockstep lifecycle");
    return LKS_OK;
}

enum lks_code lks_check_last_branch(struct lks_checking *c)
{
    for (size_t i = 0; i < c->board_count; i++) {
        const struct lks_gpu *gpu = c->boards[i];
        const struct lks_branch *last =
            gpu->max_driver_branch > 0 ? lks_facts_branch(c->facts, gpu->max_driver_branch) : NULL;
        char end[LKS_DAY_TEXT_SIZE];
        if (last == NULL || lks_lifecycle_end(last) == LKS_DAY_NONE)
            continue;
        LKS_NOTE_FINDING(c, LKS_WARNING, gpu->product, &gpu->fact,
                         "%" LKS_STR_FMT " can never leave R%d, whose support ends on %s: that is "
                         "the end of the hardware's support",
                         LKS_STR_ARG(gpu->architecture), gpu->max_driver_branch,
                         lks_time_day_text(lks_lifecycle_end(last), end));
    }
    return LKS_OK;
}

/* People and habits ------------------------------------------------------------------------- */

enum lks_code lks_check_unattended(struct lks_checking *c)
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

enum lks_code lks_check_one_way(struct lks_checking *c)
{
    for (size_t i = 0; i < c->stack->component_count; i++) {
        const struct lks_component *component = &c->stack->components[i];
        if (lks_str_is(component->revert, "one-way"))
            LKS_NOTE_FINDING(c, LKS_INFO, component->label, NULL,
                             "%" LKS_STR_FMT
                             " is irreversible: it comes last, soaks longer, and is covered by a "
                             "spare",
                             LKS_STR_ARG(component->version));
    }
    return LKS_OK;
}

enum lks_code lks_check_advisories(struct lks_checking *c)
{
    LKS_CLEANUP(lks_advisory_list_fini) struct lks_advisory_list list = {0};
    if (lks_advisory_list_of(c->facts, c->stack, &list, c->err) != LKS_OK)
        return c->err->code;
    size_t unsure = list.count - list.exposed;
    if (list.exposed > 0) {
        const struct lks_advisory *worst = list.open[0].advisory;
        LKS_NOTE_FINDING(c, LKS_WARNING, list.open[0].component->name, &worst->fact,
                         "%zu advisor%s open; the worst is %" LKS_STR_FMT " (%" LKS_STR_FMT
                         ", %" LKS_STR_FMT ")",
                         list.exposed, list.exposed == 1 ? "y is" : "ies are",
                         LKS_STR_ARG(worst->id), LKS_STR_ARG(worst->cvss),
                         LKS_STR_ARG(worst->summary));
        lks_report_remedy(c->out, "lockstep advisories FILE lists what closes each");
    }
    if (unsure > 0)
        LKS_NOTE_FINDING(c, LKS_INFO, list.open[list.count - 1].component->name, NULL,
                         "%zu advisor%s to be checked by hand: lockstep advisories FILE", unsure,
                         unsure == 1 ? "y has" : "ies have");
    return LKS_OK;
}

/* Version policies -------------------------------------------------------------------------- */

/* A pool that pins the stack, and how findings call it. */
struct policy {
    const struct lks_version_policy *rules;
    struct lks_str pool;
};

static void check_branch_type(struct lks_checking *c, const struct policy *policy)
{
    const struct lks_branch *branch = pinned_branch(c);
    if (!lks_policy_takes_branch(policy->rules, branch))
        LKS_NOTE_FINDING(c, LKS_ERROR, policy->pool, &branch->fact,
                         "branch R%d is of type %" LKS_STR_FMT ", which the pool does not accept",
                         branch->number,
                         LKS_STR_ARG(branch->type.len > 0 ? branch->type : LKS_STR("unknown")));
}

static void check_age(struct lks_checking *c, const struct policy *policy)
{
    struct lks_str version = lks_stack_version(c->stack, "driver");
    if (policy->rules->min_age_days == 0 || version.len == 0)
        return;
    const struct lks_driver *driver = lks_facts_driver(c->facts, version);
    if (driver == NULL || driver->date == LKS_DAY_NONE) {
        LKS_NOTE_FINDING(c, LKS_WARNING, policy->pool, NULL,
                         "no source gives the age of driver %" LKS_STR_FMT
                         " is, and the pool wants %lld days",
                         LKS_STR_ARG(version), (long long)policy->rules->min_age_days);
        return;
    }
    int64_t age = (int64_t)c->in->today - driver->date;
    if (!lks_policy_takes_age(policy->rules, driver, c->in->today))
        LKS_NOTE_FINDING(c, LKS_ERROR, policy->pool, &driver->fact,
                         "driver %" LKS_STR_FMT " is %lld days old, and the pool wants %lld",
                         LKS_STR_ARG(version), (long long)age,
                         (long long)policy->rules->min_age_days);
}

static void check_reason(struct lks_checking *c, const struct policy *policy)
{
    for (size_t i = 0; i < c->board_count; i++) {
        struct lks_compat_question q = lks_compat_of_stack(c->stack, c->boards[i]->product);
        if (q.driver.len == 0 || q.toolkit.len == 0)
            return;
        enum lks_reason reason = lks_compat_judge(c->facts, &q, c->boards[i], NULL);
        if (!lks_policy_takes_reason(policy->rules, reason))
            LKS_NOTE_FINDING(c, LKS_ERROR, policy->pool, NULL,
                             "%" LKS_STR_FMT " runs as %s, which the pool does not accept",
                             LKS_STR_ARG(c->boards[i]->product), lks_compat_reason_name(reason));
    }
}

/* Every fleet counts: a stack that some pool refuses is not one for all that pin it. */
enum lks_code lks_check_policy(struct lks_checking *c)
{
    for (size_t f = 0; f < c->in->fleet_count; f++) {
        const struct lks_fleet *fleet = &c->in->fleets[f];
        for (size_t i = 0; i < fleet->pool_count; i++) {
            const struct lks_pool *pool = &fleet->pools[i];
            if (!lks_str_eq(pool->stack, c->stack->name))
                continue;
            struct policy policy = {&pool->policy, pool->name};
            if (c->in->fleet_count > 1)
                policy.pool = lks_report_text(c->out, "%" LKS_STR_FMT "/%" LKS_STR_FMT,
                                              LKS_STR_ARG(fleet->name), LKS_STR_ARG(pool->name));
            check_branch_type(c, &policy);
            check_age(c, &policy);
            check_reason(c, &policy);
        }
    }
    return LKS_OK;
}
