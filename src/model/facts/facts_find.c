/* Looking rows up. */
#include "base/vec.h"
#include "model/facts/class.h"

#include <string.h>

/* The first row of a table of `facts` for which `test` of `row` holds. */
#define FIND(table, test) LKS_VEC_FIND(facts->table.rows, facts->table.count, row, test)

/* A component may be called as stacks call firmware. */
static struct lks_str plain(struct lks_str name)
{
    size_t prefix = strlen("firmware/");
    if (!lks_str_starts(name, "firmware/"))
        return name;
    return (struct lks_str){name.ptr + prefix, name.len - prefix};
}

const struct lks_branch *lks_facts_branch(const struct lks_facts *facts, int number)
{
    return FIND(branches, row->number == number);
}

const struct lks_driver *lks_facts_driver(const struct lks_facts *facts, struct lks_str version)
{
    return FIND(drivers, lks_version_cmp(row->version, version, LKS_VERSION_DOTTED) == 0);
}

const struct lks_advisory *lks_facts_advisory(const struct lks_facts *facts, struct lks_str id)
{
    return FIND(advisories, lks_str_eq_nocase(row->id, id));
}

const struct lks_component_kind *lks_facts_component(const struct lks_facts *facts,
                                                     struct lks_str name)
{
    name = plain(name);
    return FIND(components, lks_str_eq(row->name, name));
}

const struct lks_component_kind *lks_facts_component_alias(const struct lks_facts *facts,
                                                           struct lks_str alias)
{
    return FIND(components, lks_facts_words_have(row->aliases, alias));
}

const struct lks_setting_kind *lks_facts_setting(const struct lks_facts *facts, struct lks_str name)
{
    return FIND(settings, lks_str_eq(row->name, name));
}

const struct lks_change_class *lks_facts_change_class(const struct lks_facts *facts,
                                                      struct lks_str name)
{
    return FIND(change_classes, lks_str_eq(row->name, name));
}

const struct lks_change_class *lks_facts_change_covers(const struct lks_facts *facts,
                                                       enum lks_change_covers covers)
{
    return FIND(change_classes, row->covers == covers);
}

const struct lks_update_class *lks_facts_update_class(const struct lks_facts *facts,
                                                      struct lks_str name)
{
    return FIND(update_classes, lks_str_eq(row->name, name));
}

const struct lks_firmware_update *lks_facts_firmware(const struct lks_facts *facts,
                                                     struct lks_str component)
{
    component = plain(component);
    return FIND(firmware_updates, lks_str_eq(row->component, component));
}

const struct lks_gate_preset *lks_facts_gate_preset(const struct lks_facts *facts,
                                                    struct lks_str name)
{
    return FIND(gate_presets, lks_str_eq(row->name, name));
}

const struct lks_class *lks_facts_class(const struct lks_facts *facts, struct lks_str name)
{
    return FIND(classes, lks_str_eq(row->name, name));
}

enum lks_version_scheme lks_facts_scheme(const struct lks_facts *facts, struct lks_str component)
{
    const struct lks_component_kind *kind = lks_facts_component(facts, component);
    return kind != NULL ? kind->scheme : LKS_VERSION_FIRMWARE;
}
