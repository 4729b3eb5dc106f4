/* Unknown names and versions: they are most likely misspelled. */
#include "base/near.h"
#include "core/check/check_rules.h"

static void note_spelling(struct lks_checking *c, const struct lks_component *component)
{
    struct lks_str bare = lks_component_bare(component->name);
    enum lks_component_sort sort =
        lks_component_is_firmware(component->name) ? LKS_FIRMWARE : LKS_SOFTWARE;
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(bare);
    for (size_t i = 0; i < c->facts->components.count; i++) {
        if (c->facts->components.rows[i].sort == sort)
            lks_near_try(&near, c->facts->components.rows[i].name);
    }
    if (near.best.len > 0)
        LKS_NOTE_FINDING(c, LKS_WARNING, component->label, NULL, "unknown component%s",
                         lks_near_hint(&near, hint));
}

enum lks_code lks_check_spelling(struct lks_checking *c)
{
    for (size_t i = 0; i < c->stack->component_count; i++) {
        if (lks_facts_component(c->facts, c->stack->components[i].name) == NULL)
            note_spelling(c, &c->stack->components[i]);
    }
    return LKS_OK;
}

/* Versions --------------------------------------------------------------------------------------
 */

/* The tables that list every version of a component there was. */
enum list { DRIVERS, TOOLKITS, LISTS };
static const char *const listed[LISTS] = {[DRIVERS] = "driver", [TOOLKITS] = "cuda"};

static size_t list_count(const struct lks_facts *facts, enum list list)
{
    return list == DRIVERS ? facts->drivers.count : facts->toolkits.count;
}

static struct lks_str list_version(const struct lks_facts *facts, enum list list, size_t i)
{
    return list == DRIVERS ? facts->drivers.rows[i].version : facts->toolkits.rows[i].version;
}

/* The version that was most likely meant: one slip away in the same branch, else the newest of the
 * branch that is not newer, else the next one. Empty where the branch is unknown, too. */
static struct lks_str nearest(const struct lks_facts *facts, enum list list, struct lks_str version)
{
    struct lks_near near = lks_near_to(version);
    struct lks_str before = {0}, behind = {0};
    for (size_t i = 0; i < list_count(facts, list); i++) {
        struct lks_str known = list_version(facts, list, i);
        if (lks_version_major(known) != lks_version_major(version))
            continue;
        lks_near_try(&near, known);
        if (lks_version_cmp(known, version, LKS_VERSION_DOTTED) > 0)
            behind = behind.len == 0 || lks_version_cmp(known, behind, LKS_VERSION_DOTTED) < 0
                         ? known
                         : behind;
        else
            before = before.len == 0 || lks_version_cmp(known, before, LKS_VERSION_DOTTED) > 0
                         ? known
                         : before;
    }
    return near.best.len > 0 ? near.best : before.len > 0 ? before : behind;
}

/* "13.0" stands for each 13.0.x. */
static bool is_listed(const struct lks_facts *facts, enum list list, struct lks_str version)
{
    for (size_t i = 0; i < list_count(facts, list); i++) {
        struct lks_str known = list_version(facts, list, i);
        if (lks_str_eq(known, version) || lks_version_covers(version, known))
            return true;
    }
    return false;
}

enum lks_code lks_check_known_version(struct lks_checking *c)
{
    for (size_t i = 0; i < c->stack->component_count; i++) {
        const struct lks_component *component = &c->stack->components[i];
        for (enum list list = 0; list < LISTS; list++) {
            if (component->version.len == 0 || !lks_str_is(component->name, listed[list]) ||
                is_listed(c->facts, list, component->version))
                continue;
            struct lks_str near = nearest(c->facts, list, component->version);
            LKS_NOTE_FINDING(c, LKS_WARNING, component->label, NULL,
                             "%s %" LKS_STR_FMT " is in no table of versions; %s%" LKS_STR_FMT,
                             listed[list], LKS_STR_ARG(component->version),
                             near.len > 0 ? "the nearest is " : "nor is any of its branch",
                             LKS_STR_ARG(near));
        }
    }
    return LKS_OK;
}
